#!/usr/bin/env python3
"""perf_data.py: reports of a perf.data file by monarc and by perf report, in CPU time.

    bench/perf_data.py [--monarc PROGRAM] FILE...

perf looks into inlined functions only where it prints stacks, and unwinds copied stacks only then; so
each of monarc's reports stands beside the one of perf that does as much.
"""

import argparse
import resource
import subprocess

CASES = (
    ("by function, no stacks", ["flat", "--csv"],
     ["--no-inline", "--no-children", "-g", "none"]),
    ("by function, with callers' time", ["flat", "--csv"], ["--no-inline", "--children", "-g", "none"]),
    ("stacks with inlined functions", ["graph", "--tree"], ["--no-children"]),
    ("the same, with callers' time", ["graph", "--tree"], []),
)


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--monarc", default="build/monarc")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    print(f"{'file':30} {'report':34} {'perf':>8} {'monarc':>8} {'times':>6}")
    for file in options.files:
        for title, ours, theirs in CASES:
            perf = min(seconds(["perf", "report", "--stdio", "-i", file, *theirs]) for _ in range(3))
            own = min(seconds([options.monarc, *ours, file]) for _ in range(3))
            print(f"{file[-30:]:30} {title:34} {perf:8.3f} {own:8.3f} {perf / own:6.1f}")


main()
