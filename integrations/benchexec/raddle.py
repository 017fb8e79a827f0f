"""Tool-info module for BenchExec: how to run Raddle on a task of SV-COMP, and what its output means.

Make this directory importable (PYTHONPATH) and use `tool="raddle"` in the benchmark definition; the executable
`raddle` must be in PATH or in the directory of `--tool-directory`. Programs are compiled for LP64, whatever the data model of a
task is; `raddle check TASK.yml` says so in its result.
"""

import json

import benchexec.result as result
import benchexec.tools.template

ERRORS = {
    "assertion": result.RESULT_FALSE_REACH,
    "race": result.RESULT_FALSE_DATARACE,
    "deadlock": result.RESULT_FALSE_DEADLOCK,
    "use-after-free": result.RESULT_FALSE_DEREF,
    "use-after-return": result.RESULT_FALSE_DEREF,
    "heap-overflow": result.RESULT_FALSE_DEREF,
    "stack-overflow": result.RESULT_FALSE_DEREF,
    "crash": result.RESULT_FALSE_DEREF,
    "double-free": result.RESULT_FALSE_FREE,
    "leak": result.RESULT_FALSE_MEMTRACK,
}


class Tool(benchexec.tools.template.BaseTool2):
    """Raddle, a stateless model checker."""

    def name(self):
        return "Raddle"

    def executable(self, tool_locator):
        return tool_locator.find_executable("raddle")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="raddle")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", "--json", *options]
        if task.property_file:
            command += ["--property", task.property_file]
        if rlimits.cputime and "--timeout" not in options:
            command += ["--timeout", str(rlimits.cputime)]
        return [*command, *task.input_files]

    def determine_result(self, run):
        """The verdict of the line with the result, whatever else is printed."""
        for line in run.output:
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if not isinstance(answer, dict) or answer.get("command") != "check":
                continue
            if "error" in answer:
                return f"{result.RESULT_ERROR} ({answer['error']['message']})"
            verdict, bug = answer.get("verdict"), answer.get("bug")
            if verdict == "clean":
                return result.RESULT_TRUE_PROP
            if verdict == "bug":
                return ERRORS.get(bug["kind"], result.RESULT_FALSE_PROP)
            if bug:
                return f"{result.RESULT_UNKNOWN} (unsupported)"
            return result.RESULT_UNKNOWN
        return result.RESULT_ERROR
