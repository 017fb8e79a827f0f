#!/usr/bin/env python3
"""Compares cargo raddle with loom on the data structures in `structures`, and prints a table.

Usage: beside_loom.py CARGO_RADDLE [--seconds N]      N seconds of wall-clock time for each test at most [default: 60]

Both check debug builds of the same code. Times are user CPU seconds of a process that checks one test, without building; those
of cargo raddle contain the start of cargo and of the processes that explore. Loom counts executions, cargo raddle classes.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent / "structures"
NAMES = sorted(path.stem for path in (HERE / "src").glob("*.rs") if path.stem not in ("lib", "sync"))


def run(command, seconds, **environment):
    """What a command prints, and the CPU time that it takes. `None` if it takes too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(
            command, cwd=HERE, env={**os.environ, **environment}, timeout=seconds, capture_output=True, text=True, check=False
        )
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        output = None
    return output, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def raddle(program, name, test, target, seconds):
    path = f"{name}::tests::{test}"
    command = [program, "raddle", "test", "--json", "--timeout", str(seconds), "--target-dir", target, "--", "--exact", path]
    output, time = run(command, seconds + 30)
    line = next((line for line in (output or "").splitlines() if line.startswith("{")), "{}")
    answer = json.loads(line)
    return f"{answer.get('verdict')}, {answer.get('classes')} classes, {time:.1f} s"


def loom(executable, name, test, seconds):
    command = [executable, "--exact", f"{name}::tests::{test}", "--nocapture"]
    output, time = run(command, seconds, LOOM_LOG="info")
    if output is None:
        return f"no answer, {time:.1f} s"
    rounds = re.findall(r"Iteration (\d+)|Completed in (\d+) iterations", output)
    count = max((int(a or b) for a, b in rounds), default=None)
    verdict = "clean" if "1 passed" in output else "bug"
    return f"{verdict}, {f'{count} executions, ' if count else ''}{time:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("raddle")
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    target = tempfile.mkdtemp(prefix="raddle-loom-")
    build = ["cargo", "test", "--no-run", "--message-format=json", "--target-dir", target]
    output = subprocess.run(build, cwd=HERE, env={**os.environ, "RUSTFLAGS": "--cfg loom"}, capture_output=True, text=True, check=True)
    messages = [json.loads(line) for line in output.stdout.splitlines()]
    executable = next(message["executable"] for message in messages if message.get("executable"))
    subprocess.run([given.raddle, "raddle", "test", "--no-run", "--target-dir", target], cwd=HERE, check=True, capture_output=True)
    print("| structure | cargo raddle | loom |\n|---|---|---|")
    for name in NAMES:
        for test in ["right", "broken"]:
            ours = raddle(given.raddle, name, test, target, given.seconds)
            print(f"| {name}, {test} | {ours} | {loom(executable, name, test, given.seconds)} |", flush=True)


if __name__ == "__main__":
    main()
