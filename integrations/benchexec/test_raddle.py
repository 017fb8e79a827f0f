"""Tests of the tool-info module by its interface: `python -m unittest` here, with benchexec installed.

With RADDLE set to the executable, the tasks of corpus/sv-comp are run as BenchExec would run them.
"""

import os
import pathlib
import subprocess
import unittest

import benchexec.result as result
from benchexec.tools.template import BaseTool2
from benchexec.util import ProcessExitCode

import raddle

CORPUS = pathlib.Path(__file__).parents[2] / "corpus" / "sv-comp"


def line(verdict, kind=None):
    bug = f', "bug": {{"kind": "{kind}"}}' if kind else ""
    return f'{{"command": "check", "verdict": "{verdict}"{bug}}}'


def determined(*lines):
    output = BaseTool2.RunOutput([text + "\n" for text in lines])
    run = BaseTool2.Run(["raddle"], ProcessExitCode.create(value=0), output, None)
    return raddle.Tool().determine_result(run)


def task(name, property_file):
    return BaseTool2.Task.with_files([str(CORPUS / name)], property_file=property_file)


def limits(**given):
    return BaseTool2.ResourceLimits(**given)


class ToolInfo(unittest.TestCase):
    def test_command_line(self):
        command = raddle.Tool().cmdline("raddle", ["--model", "sc"], task("a.c", "p.prp"), limits(cputime=9))
        files = [str(CORPUS / "a.c")]
        expected = ["raddle", "check", "--json", "--model", "sc", "--property", "p.prp", "--timeout", "9"]
        self.assertEqual(command, expected + files)
        command = raddle.Tool().cmdline("raddle", ["--timeout", "5"], task("a.c", None), limits(cputime=9))
        self.assertEqual(command, ["raddle", "check", "--json", "--timeout", "5"] + files)

    def test_results(self):
        self.assertEqual(determined(line("clean")), result.RESULT_TRUE_PROP)
        self.assertEqual(determined("noise", line("bug", "assertion")), result.RESULT_FALSE_REACH)
        self.assertEqual(determined(line("bug", "race")), result.RESULT_FALSE_DATARACE)
        self.assertEqual(determined(line("bug", "leak")), result.RESULT_FALSE_MEMTRACK)
        self.assertEqual(determined(line("incomplete")), result.RESULT_UNKNOWN)
        self.assertEqual(determined(line("incomplete", "unsupported")), "unknown (unsupported)")
        error = '{"command": "check", "error": {"message": "no"}}'
        self.assertEqual(determined(error), "ERROR (no)")
        self.assertEqual(determined("killed"), result.RESULT_ERROR)

    @unittest.skipUnless(os.environ.get("RADDLE"), "RADDLE is not set")
    def test_tasks(self):
        tool = raddle.Tool()
        for name, file, expected in [
            ("counter.c", "unreach-call.prp", result.RESULT_TRUE_PROP),
            ("counter-bad.c", "unreach-call.prp", result.RESULT_FALSE_REACH),
            ("counter-bad.c", "no-data-race.prp", result.RESULT_FALSE_DATARACE),
            ("two-locks-bad.c", "no-deadlock.prp", result.RESULT_FALSE_DEADLOCK),
        ]:
            properties = str(CORPUS / "properties" / file)
            command = tool.cmdline(os.environ["RADDLE"], [], task(name, properties), limits())
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(determined(*done.stdout.splitlines()), expected, name)


if __name__ == "__main__":
    unittest.main()
