#!/usr/bin/env python3
"""Checks client programs of concurrency libraries, and prints a table, as in RESULTS.md.

Usage: check.py RADDLE [WORD...]      only clients whose names contain a word

The headers come from Debian's packages liburcu-dev, libck-dev, libboost-dev, libtbb-dev and libdpdk-dev. Each client has a right program and,
where that is meaningful, a broken variant. A result is right if the program is clean or the variant has an error; wrong, if a variant is
clean; an error, if a right program has one, which tells a wrong result from a wrong client; refused, if Raddle does not model
something; or incomplete, if 60 seconds or another bound were not enough.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
SECONDS = 60
LOCKS = ["FAS", "CAS", "DEC", "TICKET", "MCS", "CLH", "ANDERSON", "RW", "PF", "TF", "SW"]
CONTAINERS = ["RING", "STACK", "FIFO_SPSC", "SEQUENCE", "STACK_MPNC"]
RECLAIM = ["HAZARD", "EPOCH", "BARRIER", "RING_MPMC", "FIFO_MPMC", "BITMAP"]
URCU = ["WFCQUEUE", "WFSTACK", "LFSTACK", "LIST", "COUNTER"]
DPDK = ["SPIN", "TICKET", "MCS", "RW", "PF", "SEQLOCK", "RING_SPSC", "RING_MPMC", "QSBR"]
DPDK_FLAGS = ["-I/usr/include/dpdk", "-I/usr/include/x86_64-linux-gnu/dpdk", "-include", "rte_config.h", "-march=corei7"]
TBB = ["spin_rw_mutex", "queuing_mutex", "queuing_rw_mutex", "hash_map", "priority_queue", "unordered_map"]

# Name, file, model, flags, whether there is a broken variant.
CLIENTS = [
    *[(f"ck {lock.lower()} lock", "ck_locks.c", "tso", [f"-DLOCK={lock}"], lock == "FAS") for lock in LOCKS],
    *[
        (f"ck {name.lower()}", "ck_containers.c", "tso", [f"-DCLIENT={name}"], name in ("RING", "SEQUENCE"))
        for name in CONTAINERS
    ],
    *[
        (f"boost {name}", "boost_lockfree.cpp", "c20", [f"-DCLIENT={number}"], True)
        for number, name in enumerate(["spsc_queue", "stack", "queue"])
    ],
    *[
        (f"tbb {name}", "tbb.cpp", "tso", [f"-DCLIENT={number}", "-ltbb"], True)
        for number, name in enumerate(["spin_mutex", "concurrent_queue", "concurrent_vector"])
    ],
    ("urcu mb", "urcu.c", "tso", ["-lurcu-mb", "-lurcu-common"], True),
    *[(f"ck {name.lower()}", "ck_reclaim.c", "tso", [f"-DCLIENT={name}", "-lck"], True) for name in RECLAIM],
    *[
        (f"urcu {name.lower()}", "urcu_containers.c", "tso", [f"-DCLIENT={name}", "-lurcu-common"], True)
        for name in URCU
    ],
    *[(f"dpdk {name.lower()}", "dpdk.c", "tso", [f"-DCLIENT={name}", *DPDK_FLAGS], True) for name in DPDK],
    *[(f"tbb {name}", "tbb_locks.cpp", "tso", [f"-DCLIENT={number}", "-ltbb"], True) for number, name in enumerate(TBB)],
]


def check(raddle, file, model, flags):
    command = [raddle, "check", str(HERE / file), "--model", model, "--json", "--timeout", str(SECONDS), "--", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        return json.loads(line)
    return {"verdict": "incomplete", "error": {"message": done.stderr.strip()}}


def judge(answer, is_broken):
    """The column of an answer, and what to say about it."""
    if "error" in answer:
        return "refused", answer["error"]["message"].splitlines()[0]
    bug = answer.get("bug")
    text = f"{answer['classes']}+{answer['blocked']} classes, {answer['seconds']:.1f} s"
    if answer["verdict"] == "incomplete":
        return ("refused", bug["message"]) if bug else ("incomplete", answer.get("bound", ""))
    if answer["verdict"] == "clean":
        return ("wrong" if is_broken else "right"), text
    return ("right" if is_broken else "error"), f"{bug['message']} at {bug['place']} ({text})"


def main():
    raddle, *words = sys.argv[1:]
    totals = {}
    print("| client | model | result | |\n|---|---|---|---|")
    for name, file, model, flags, has_broken in CLIENTS:
        if words and not any(word in name for word in words):
            continue
        for is_broken in [False, True] if has_broken else [False]:
            variant = [*flags, "-DBROKEN"] if is_broken else flags
            column, text = judge(check(raddle, file, model, variant), is_broken)
            totals[column] = totals.get(column, 0) + 1
            text = text.replace(f"{HERE}/", "").replace("|", "or")
            print(f"| {name}{' (broken)' if is_broken else ''} | {model} | {column} | {text[:200]} |", flush=True)
    print("\n" + ", ".join(f"{count} {column}" for column, count in totals.items()))


if __name__ == "__main__":
    main()
