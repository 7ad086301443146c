#!/usr/bin/env python3
"""Compare monarc with GNU gprof in one run, on the large benchmark program.

    run.py [--monarc PATH] [--gprof PATH] [--only ROW]... [--runs N] [--check]
           [CACHE]

Makes what is missing in CACHE (default build/bench; see make_large.py and
make_profile.py; 1.2 GB), then for each row runs our command, gprof's and a
floor in turn (A B C A B C ...) and prints a Markdown table of median wall
times, peak resident sets, their ratios and the budgets.  Before the timed
runs each of our commands runs once untimed, which warms the page cache; in
rows whose outputs are compared so does gprof's.  Timed reports go to
/dev/null.  Each single measurement goes to standard error as it is made.

The floor is a C program (meter.c) that reads once the bytes the row cannot do
without (the profile, the program's .symtab and .strtab; for a merge only the
profiles) and writes as many bytes as our command wrote, so `x floor` tells
how far the row is from what is possible at all.

A second table runs ours alone with 20,000, 40,000 and 80,000 children of one
parent.  In linear time the time per added child stays the same.

If PATH of monarc does not exist only gprof is measured.  Nothing is a pass or
a failure unless --check is given: then the exit status is 1 if a budget is
missed, an output differs or a command fails.

`gprof -s` implies --line, so gprof reads the line table of the whole program
for a merge, and without line tables (large-nodebug) it searches the symbol
table for each address.  Both are what its user waits for and are in its times.
"""

import argparse
import filecmp
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import make_large
import make_profile

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Row:
    """One comparison.  Commands are words; {x} and FILES are put in."""
    name: str
    ours: str
    peer: str
    inputs: str                         # what the floor reads
    time_budget: Fraction | None = None     # of gprof's
    memory_budget: Fraction | None = None
    runs: int = 5
    compare: bool = False               # are both outputs to be the same?
    output: str | None = None           # a file ours writes instead of stdout


ROWS = [
    Row("flat + graph",
        "{monarc} gprof -b {large} {cache}/large.gmon",
        "{gprof} -b {large} {cache}/large.gmon",
        "{symbols} {cache}/large.gmon",
        Fraction(1, 20), Fraction(1, 10), compare=True),
    Row("flat, native",
        "{monarc} flat {large} {cache}/large.gmon",
        "{gprof} -b -p {large} {cache}/large.gmon",
        "{symbols} {cache}/large.gmon"),
    Row("graph, native",
        "{monarc} graph {large} {cache}/large.gmon",
        "{gprof} -b -q {large} {cache}/large.gmon",
        "{symbols} {cache}/large.gmon"),
    Row("fan 40,000 children",
        "{monarc} gprof -b -q {large} {cache}/fan-40000.gmon",
        "{gprof} -b -q {large} {cache}/fan-40000.gmon",
        "{symbols} {cache}/fan-40000.gmon", runs=3, compare=True),
    Row("flat + graph, no line tables",
        "{monarc} gprof -b {large}-nodebug {cache}/large.gmon",
        "{gprof} -b {large}-nodebug {cache}/large.gmon",
        "{symbols} {cache}/large.gmon", runs=1, compare=True),
    Row("annotated source",
        "{monarc} gprof -b -A {large} {cache}/large.gmon",
        "{gprof} -b -A {large} {cache}/large.gmon",
        "SOURCES SOURCES", runs=3, compare=True),
    Row("annotate, native",
        "{monarc} annotate {large} {cache}/large.gmon",
        "{gprof} -b -l -p {large} {cache}/large.gmon",
        "SOURCES SOURCES", runs=1),
    Row("merge 200 x 5 MB",
        "{monarc} merge -o merged FILES",
        "{gprof} -s {large} FILES",
        "FILES", Fraction(1, 40), runs=3, output="merged"),
]


@dataclass(frozen=True)
class Measurement:
    seconds: float
    megabytes: float
    status: int


class Bench:
    def __init__(self, cache, monarc, gprof):
        self.cache = Path(cache).resolve()
        program = make_large.build(self.cache)
        make_profile.write_all(self.cache)
        self.meter = str(self.cache / "meter")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", self.meter,
                        str(Path(__file__).with_name("meter.c"))], check=True)
        found = shutil.which(monarc)
        self.monarc = found and str(Path(found).resolve())
        _, sections = make_profile.read_sections(program)
        self.symbols = " ".join(
            f"{program}:{offset}:{size}" for _, offset, size in
            (sections[".symtab"], sections[".strtab"]))
        self.words = dict(cache=self.cache, large=program, gprof=gprof,
                          monarc=self.monarc, symbols=self.symbols)
        self.files = sorted(map(str, (self.cache / "merge").glob("*.gmon")))
        self.sources = sorted(map(str, (self.cache / "src").glob("*.c")))
        self.folder = tempfile.TemporaryDirectory(dir=self.cache)

    def command(self, template):
        words = template.format(**self.words).split()
        lists = {"FILES": self.files, "SOURCES": self.sources}
        return [w for word in words for w in lists.get(word, [word])]

    def measure(self, label, command, output="/dev/null"):
        """Run a command in the temporary folder."""
        done = subprocess.run([self.meter, "run", output, *command], check=True,
                              cwd=self.folder.name, stdout=subprocess.PIPE)
        wall, kilobytes, status = map(int, done.stdout.split())
        result = Measurement(wall / 1e9, kilobytes / 1024, status)
        print(f"  {label}: {result.seconds:.4f} s, {result.megabytes:.1f} MB"
              + (f", exit status {status}" if status else ""),
              file=sys.stderr, flush=True)
        return result

    def floor(self, inputs, size, output="/dev/null"):
        return self.measure("floor", [self.meter, "floor", str(size),
                                      *self.command(inputs)], output)

    def row(self, row, runs):
        """Measure one row; return its table cells and whether it passed."""
        print(row.name, file=sys.stderr, flush=True)
        folder = Path(self.folder.name)
        ours = self.monarc and self.command(row.ours)
        peer = self.command(row.peer)
        passed, verdict, size = True, "", 0
        if ours:
            self.measure("ours, untimed", ours, "ours")
            written = folder / (row.output or "ours")
            size = written.stat().st_size if written.exists() else 0
            if row.compare:
                self.measure("gprof, untimed", peer, "peer")
                passed = filecmp.cmp(folder / "ours", folder / "peer", False)
                verdict = "identical" if passed else "DIFFERENT"
        a, b, c = [], [], []
        for _ in range(min(runs, row.runs)):
            if ours:
                a.append(self.measure("ours", ours))
            b.append(self.measure("gprof", peer))
            if ours:
                c.append(self.floor(row.inputs, size,
                                    "floor" if row.output else "/dev/null"))
        for left in folder.iterdir():
            left.unlink()

        time_b, memory_b = medians(b)
        if not ours:
            return [row.name, "", f"{time_b:.3f}", "", "", "",
                    f"{memory_b:.1f}", "", "", "", "", ""], True
        time_a, memory_a = medians(a)
        time_c, _ = medians(c)
        if any(m.status for m in a + b):
            passed, verdict = False, "FAILED"
        time_cells = budget(time_a / time_b, row.time_budget)
        memory_cells = budget(memory_a / memory_b, row.memory_budget)
        passed &= not any("missed" in cell for cell in time_cells + memory_cells)
        return [row.name, f"{time_a:.4f}", f"{time_b:.3f}", *time_cells,
                f"{memory_a:.1f}", f"{memory_b:.1f}", *memory_cells,
                f"{time_c:.4f}", f"{time_a / time_c:.1f}", verdict], passed

    def linearity(self, runs):
        """Ours alone on growing fans: table rows."""
        print("linearity", file=sys.stderr, flush=True)
        fans = make_profile.FANS
        commands = [self.command("{monarc} gprof -b -q {large} {cache}/"
                                 f"fan-{n}.gmon") for n in fans]
        for n, command in zip(fans, commands):
            self.measure(f"{n} children, untimed", command)
        results = [[] for _ in fans]
        for _ in range(runs):
            for n, command, result in zip(fans, commands, results):
                result.append(self.measure(f"{n} children", command))
        times = [medians(result)[0] for result in results]
        added = [""] + [f"{(times[i] - times[i - 1]) / (fans[i] - fans[i - 1]) * 1e9:.0f}"
                        for i in range(1, len(fans))]
        return [[f"{n:,}", f"{t:.4f}", f"{t / n * 1e9:.0f}", more]
                for n, t, more in zip(fans, times, added)]


def medians(measurements):
    return (statistics.median(m.seconds for m in measurements),
            statistics.median(m.megabytes for m in measurements))


def budget(ratio, wanted):
    """The cells of a ratio and its budget."""
    cell = f"1/{1 / ratio:.1f}" if ratio < 1 else f"{ratio:.2f}"
    if wanted is None:
        return [cell, ""]
    return [cell, f"{wanted} {'met' if ratio <= wanted else 'missed'}"]


def table(header, rows):
    widths = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * w for w in widths], *rows]
    for line in lines:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |")


def main():
    parser = argparse.ArgumentParser(
        description="Compare monarc with gprof on the large benchmark program.")
    parser.add_argument("cache", nargs="?", default=ROOT / "build" / "bench")
    parser.add_argument("--monarc", default=str(ROOT / "build" / "monarc"))
    parser.add_argument("--gprof", default="gprof")
    parser.add_argument("--only", action="append", metavar="ROW",
                        help="rows with this in their name (also: linearity)")
    parser.add_argument("--runs", type=int, default=5,
                        help="at most; slow rows have fewer")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a budget is missed or outputs differ")
    args = parser.parse_args()
    wanted = lambda name: not args.only or any(o in name for o in args.only)
    if args.runs < 1:
        parser.error("--runs must be at least 1")
    if not any(wanted(name) for name in [*(r.name for r in ROWS), "linearity"]):
        parser.error(f"no row is named {' or '.join(args.only)}")
    bench = Bench(args.cache, args.monarc, args.gprof)
    if not bench.monarc:
        print(f"{args.monarc} not found: measuring only {args.gprof}",
              file=sys.stderr)

    results = [bench.row(row, args.runs) for row in ROWS if wanted(row.name)]
    if results:
        table(["row", "ours s", "gprof s", "time", "budget", "ours MB",
               "gprof MB", "memory", "budget", "floor s", "x floor", "output"],
              [cells for cells, _ in results])
    if bench.monarc and wanted("linearity"):
        print()
        table(["children", "ours s", "ns per child", "ns per added child"],
              bench.linearity(args.runs))
    return int(args.check and not all(passed for _, passed in results))


if __name__ == "__main__":
    sys.exit(main())
