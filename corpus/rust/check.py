#!/usr/bin/env python3
"""Explores the tests of popular crates, unmodified, and prints a table.

Usage: check.py CARGO_RADDLE [--seconds N] [CRATE...]      only these crates; N seconds for each test [default: 20]

The sources come from the registry that cargo uses. For each crate the table has the number of tests that pass, that fail, and that were
not explored to their end, with the most frequent reasons.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

# Name, version requirement, further arguments. Tests that run for minutes on a machine are not left out.
CRATES = [
    ("try-lock", "0.2", []),
    ("lazy_static", "1", []),
    ("atomic_refcell", "0.1", []),
    ("spinning_top", "0.3", []),
    ("once_cell", "1", []),
    ("rtrb", "0.3", []),
    ("crossbeam-queue", "0.3", []),
    ("crossbeam-utils", "0.8", []),
    ("crossbeam-epoch", "0.9", ["--lib"]),
    ("crossbeam-deque", "0.8", []),
    ("parking_lot", "0.12", []),
    ("bytes", "1", ["--lib"]),
    ("triomphe", "0.1", ["--lib"]),
    ("parking", "2", []),
]


def fetch(directory, name, version):
    """The sources of a crate."""
    root = directory / "fetch" / name
    (root / "src").mkdir(parents=True)
    (root / "src/lib.rs").write_text("")
    manifest = f'[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\n{name} = "{version}"\n[workspace]\n'
    (root / "Cargo.toml").write_text(manifest)
    subprocess.run(["cargo", "vendor", "--quiet", "--versioned-dirs", "vendor"], cwd=root, check=True, capture_output=True)
    [source] = (root / "vendor").glob(f"{name}-[0-9]*")
    return source.rename(directory / source.name)


def reason(answer):
    """Why a test was not explored to its end."""
    if "error" in answer:
        text = answer["error"]["message"].splitlines()[0]
    else:
        text = answer.get("bug", {}).get("message") or answer.get("bound") or "unknown"
    # Numbers and names of threads differ between tests.
    return re.sub(r"^thread \S+ ", "", text)[:100]


def check(raddle, package, seconds, args):
    command = [raddle, "raddle", "test", "--json", "--timeout", str(seconds), "--target-dir", "target", *args]
    # Warnings of newer compilers are errors in some crates.
    environment = {**os.environ, "RUSTFLAGS": "--cap-lints=warn"}
    done = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)
    if not done.stdout.strip() and done.returncode not in (0, 3):
        return None, done.stderr.strip().splitlines()[-1:]
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    (package / "answers.json").write_text(json.dumps(answers, indent=1))
    return answers, None


def verdict(answer):
    if "error" in answer or answer.get("verdict") == "incomplete":
        return "incomplete"
    return {"clean": "passed", "bug": "failed"}[answer["verdict"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("raddle")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("crates", nargs="*")
    given = parser.parse_intermixed_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="raddle-crates-"))
    print(f"in {directory}\n\n| crate | passed | failed | incomplete | reasons |\n|---|---|---|---|---|", flush=True)
    for name, version, args in CRATES:
        if given.crates and name not in given.crates:
            continue
        package = fetch(directory, name, version)
        answers, error = check(given.raddle, package, given.seconds, args)
        if answers is None:
            print(f"| {package.name} | | | | {error} |", flush=True)
            continue
        counts = collections.Counter(verdict(answer) for answer in answers)
        reasons = collections.Counter(reason(answer) for answer in answers if verdict(answer) != "passed")
        told = "; ".join(f"{count}: {text}" for text, count in reasons.most_common(4))
        print(f"| {package.name} | {counts['passed']} | {counts['failed']} | {counts['incomplete']} | {told} |", flush=True)


if __name__ == "__main__":
    main()
