#!/usr/bin/env python3
"""cover.py: monarc gcov against GNU gcov, monarc cover against lcov and gcovr, in one run.

usage: cover.py [--monarc build/monarc] [--runs N] [--only c|cxx] [--gcov-only] [CACHE]

make_cover.py makes the programs in CACHE (default build/bench-cover). Each row of the first table
runs gcov and monarc in turn, each of the second monarc and all peers; one run before does not
count. Printed are medians of CPU time, the kernel's included, which other work on the machine
changes least; wall time where threads matter. Peers that are not installed are left out.

All counters files are in one command line, and reports replace those of the run before.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from time import monotonic

sys.dont_write_bytecode = True
import make_cover  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TITLES = {"c": "C, 60,000 lines", "cxx": "C++ headers"}
GCOV_ROWS = [("text", "-b -c", 5), ("no files", "-n -b", 5), ("JSON to standard output", "-j -b -t", 10),
             ("JSON files", "-j -b", 10)]


class Taken:
    """What the runs of one command took."""

    def __init__(self):
        self.cpu, self.wall, self.peak = [], [], []

    def add(self, command, executable, folder):
        start = monotonic()
        process = subprocess.Popen(command, executable=executable, cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{command[:6]}: exit status {process.returncode}")
        self.wall.append((monotonic() - start) * 1000)
        self.cpu.append((used.ru_utime + used.ru_stime) * 1000)
        self.peak.append(used.ru_maxrss / 1024)

    def medians(self):
        return [statistics.median(found[1:]) for found in (self.cpu, self.wall, self.peak)]


def in_turn(commands, folder, runs):
    """{key: medians} of {key: (command, executable)}. What takes seconds is run twice."""
    taken = {key: Taken() for key in commands}
    for _ in range(runs + 1):
        for key, (command, executable) in commands.items():
            if len(taken[key].cpu) < 2 or taken[key].cpu[0] < 3000:
                taken[key].add(command, executable, folder)
    return {key: found.medians() for key, found in taken.items()}


def verdict(peer, ours, budget):
    if not budget:
        return ""
    return f"1/{budget}, {'met' if peer / ours >= budget else 'missed'}"


def gcov_table(options, folders):
    print("| work | monarc | gcov | time | budget | memory |\n|---|--:|--:|--:|---|--:|")
    for name, folder in folders.items():
        counters = sorted(path.name for path in folder.glob("*.gcda"))
        for title, words, budget in GCOV_ROWS:
            command = ["gcov", *words.split(), *counters]
            found = in_turn({"gnu": (command, shutil.which(options.gcov)),
                             "ours": (command, options.monarc)}, folder, options.runs)
            (gnu, _, gnu_peak), (ours, _, our_peak) = found["gnu"], found["ours"]
            print(f"| {TITLES[name]}, {title} (`{words}`) | {ours:.0f} ms | {gnu:.0f} ms | "
                  f"1/{gnu / ours:.1f} | {verdict(gnu, ours, budget)} | "
                  f"{our_peak:.0f} of {gnu_peak:.0f} MB |", flush=True)


def shell(line):
    return (["sh", "-c", line], None)


def cover_table(options, folders):
    ours = f"exec {options.monarc} cover -q --no-markers --threads"
    every = "--system --all-branches --lcov ours.info ."
    print("| program | row | CPU | wall | memory | CPU, times ours | budget |\n"
          "|---|---|--:|--:|--:|--:|---|")
    for name, folder in folders.items():
        rows = {"monarc, as lcov captures": shell(f"{ours} 1 {every}"),
                "the same, two threads": shell(f"{ours} 2 {every}"),
                "monarc, as gcovr counts": shell(f"{ours} 1 --all-branches --lcov ours.info ."),
                "reading the bytes": shell("cat *.gcno *.gcda"),
                "gcov -b -c": shell("gcov -b -c *.gcda")}
        if shutil.which("lcov"):
            rows["lcov --capture"] = shell("lcov -c -d . -o l.info --rc lcov_branch_coverage=1")
        if shutil.which("gcovr"):
            rows["gcovr"] = shell("gcovr -s .")
        found = in_turn(rows, folder, options.runs)
        for row, (cpu, wall, peak) in found.items():
            mine = found["monarc, as gcovr counts" if row == "gcovr" else "monarc, as lcov captures"][0]
            budget = 50 if row in ("gcovr", "lcov --capture") else None
            print(f"| {TITLES[name]} | {row} | {cpu:.0f} ms | {wall:.0f} ms | {peak:.0f} MB | "
                  f"{cpu / mine:.1f} | {verdict(cpu, mine, budget)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=str(ROOT / "build/monarc"), type=os.path.abspath)
    parser.add_argument("--gcov", default="gcov")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=["c", "cxx"])
    parser.add_argument("--gcov-only", action="store_true")
    parser.add_argument("cache", nargs="?", default=ROOT / "build/bench-cover", type=Path)
    options = parser.parse_args()
    folders = make_cover.make_both(options.cache.resolve())
    if options.only:
        folders = {options.only: folders[options.only]}
    gcov_table(options, folders)
    if not options.gcov_only:
        print()
        cover_table(options, folders)


if __name__ == "__main__":
    main()
