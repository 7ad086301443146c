#!/usr/bin/env python3
"""How many instructions each command takes, and which take more than they did.

    instructions.py [--monarc PATH] [--only ROW]... [--save TABLE | --against TABLE [--messages FILE]] [CACHE]

Times on a shared machine differ by a fifth from run to run; the instructions of a program do not, so
that a loss of three percent is seen at once. The inputs are small and the same each time: a program of
10,000 functions and its profile (make_large.py, make_profile.py), 50,000 different stacks
(pictures.py), and a C program of 6,000 lines with coverage (make_cover.py). They are made in CACHE
(default build/bench-instructions), with the compiler that is there.

valgrind counts (callgrind, one thread at a time). --save writes the table, one row a line; --against
compares with such a table and names the rows that grew by more than 3 %: then the exit status is 1,
unless each has a line in FILE, the messages of the commits since, that says why: "Instructions: ROW: why".
Counts depend on the compiler, the C library and the CPU that this library sees, so a table is
compared on the machine that made it, with the program of the commit before.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import make_cover  # noqa: E402
import make_large  # noqa: E402
import make_profile  # noqa: E402
import pictures  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1.03

ROWS = {
    "version": "--version",
    "gprof": "gprof -b {large} {profile}",
    "gprof -l -p": "gprof -b -l -p {large} {profile}",
    "gprof -A": "gprof -b -A {large} {profile}",
    "gcov": "gcov -b -c {counters}",
    "gcov --json": "gcov -j -b -t {counters}",
    "flat": "flat {large} {profile}",
    "flat --json": "flat --json {large} {profile}",
    "graph": "graph {large} {profile}",
    "lines": "lines {large} {profile}",
    "annotate": "annotate {large} {profile}",
    "info": "info {profile}",
    "merge": "merge -o merged {profile} {profile}",
    "convert": "convert --to gmon -o converted {profile}",
    "diff": "diff {large} {profile} {profile}",
    "flat, stacks": "flat {stacks}",
    "graph, stacks": "graph {stacks}",
    "flame": "flame -o flame.svg {stacks}",
    "html": "html -o page.html {stacks}",
    "export folded": "export --format folded {stacks}",
    "export pprof": "export --format pprof -o pprof.gz {stacks}",
    "merge, stacks": "merge -o merged.monarc {stacks}",
    "cover": "cover {program}",
    "cover --lcov": "cover --lcov cover.info {program}",
}


def inputs(cache):
    """The words that stand in ROWS."""
    cache.mkdir(parents=True, exist_ok=True)
    program = make_large.build(cache, functions=10_000, units=50, rows=30)
    make_profile.write_all(cache, only="large")
    stacks = cache / "stacks.folded"
    pictures.make_stacks(stacks, 50_000)
    make_cover.make(cache / "cover", "gcc", make_cover.c_sources(6000, 20))
    return {"large": program, "profile": cache / "large.gmon", "stacks": stacks, "program": cache / "cover",
            "counters": " ".join(map(str, sorted((cache / "cover").glob("*.gcda"))))}


def count(monarc, words, folder, program):
    """None: the command failed. gcov finds sources where they were compiled."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", monarc, *words],
                          cwd=program if words[0] == "gcov" else folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          env={**os.environ, "LC_ALL": "C", "TERM": "dumb"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found and done.returncode in (0, 1) else None


def read_table(path):
    rows = (line.rsplit(None, 1) for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: int(number) for name, number in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("--only", action="append", metavar="ROW", help="rows with this in their name")
    parser.add_argument("--save", type=Path, metavar="TABLE")
    parser.add_argument("--against", type=Path, metavar="TABLE")
    parser.add_argument("--messages", type=Path, metavar="FILE")
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench-instructions")
    o = parser.parse_args()
    words = inputs(o.cache.resolve())
    before = read_table(o.against) if o.against else {}
    messages = o.messages.read_text() if o.messages else ""
    reasons = dict(re.findall(r"^Instructions: ([^:\n]+): *(\S.*)$", messages, re.M))
    folder = o.cache.resolve() / "work"
    counts, grown, failed = {}, [], []
    for name, row in ROWS.items():
        if o.only and not any(part in name for part in o.only):
            continue
        found = count(o.monarc.resolve(), row.format(**words).split(), folder, words["program"])
        if found is None:
            failed.append(name)
            continue
        counts[name] = found
        change = f"{100 * (found / before[name] - 1):+8.2f} %" if name in before else ""
        print(f"{name:16s} {found:15,d} {change}", flush=True)
        if found > TOLERANCE * before.get(name, found):
            grown.append(name)
    if o.save:
        o.save.write_text("".join(f"{name} {number}\n" for name, number in counts.items()))
    for name in failed:
        print(f"instructions.py: {name} failed", file=sys.stderr)
    for name in grown:
        print(f"instructions.py: {name} takes more than 3 % more instructions: {reasons.get(name, 'nothing says why')}",
              file=sys.stderr)
    return int(bool(failed) or any(name not in reasons for name in grown))


if __name__ == "__main__":
    sys.exit(main())
