#!/usr/bin/env python3
"""How small a slowdown of one function `monarc diff` finds, and how often it finds one that is not there.

A program of six functions is compiled to assembly, and a filter puts a loop of known length at the
entry of one of them, `target`, which has about a fifth of the time: so it becomes slower by a known
part in machine code, and nothing else changes (the method of "Divining Profiler Accuracy", OOPSLA
2025, doi 10.1145/3763180). How much slower is measured by the program itself, with its thread's CPU
clock, over all its runs.

Each build is run a number of times (POOL), once by `monarc run` and, where there is perf, by `perf
record`, builds in turn, so that what the machine does besides falls on all of them alike.
Comparisons of 1, 3, 5 and 10 runs a side are drawn from these pools: runs of one comparison are
different ones, runs of two comparisons may be the same. Counted as found:

  monarc, function   `target` has become slower (self time, 99 % for all rows together)
  monarc, whole      CPU time has grown (99 %)
  perf diff          the share of `target` is a point larger, mean of the runs: perf has no verdict,
                     and this is how its column is read
  mean +- s.d.       elapsed times, as hyperfine prints them, do not overlap

An alarm is any finding between runs of one build: any function, the whole, or for perf any share.
The result is bench/accuracy/slowdowns.csv, and the section of docs/accuracy.md.

usage: slowdowns.py [--monarc PATH] [--pool N] [--draws N] [--lock FILE]
"""

import argparse
import contextlib
import fcntl
import json
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

SLOWER = (0, 5, 10, 20, 50, 100)  # percent of target's own time
SIDES = (1, 3, 5, 10)
FUNCTIONS = {"first": 33, "second": 22, "target": 20, "fourth": 12, "fifth": 8, "sixth": 5}
STEPS = 1000  # of a function's loop, for each percent it has
ROUNDS = 2800
SOURCE = """
#include <stdio.h>
#include <time.h>
#define KEEP __attribute__((noinline, noclone))
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
%s
int main(void)
{
    unsigned s = 1;
    double of_target = 0, start = now();
    for (int i = 0; i < %d; i++) {
%s
    }
    fprintf(stderr, "%%.6f %%.6f\\n", of_target, now() - start);
    return s == 17;
}
"""


def source():
    bodies = "\n".join(
        f"KEEP unsigned {name}(unsigned s) {{ for (int i = 0; i < {STEPS * part}; i++) "
        f"s = s * 1103515245u + {number}u; return s; }}"
        for number, (name, part) in enumerate(FUNCTIONS.items(), 1))
    calls = "\n".join(f"        double t = now(); s = {name}(s); of_target += now() - t;"
                      if name == "target" else f"        s = {name}(s);" for name in FUNCTIONS)
    return SOURCE % (bodies, ROUNDS, calls)


def slowed(assembly, loops):
    """The assembly with a loop of so many turns at the entry of target; flags and registers are free there but %rdi."""
    if not loops:
        return assembly
    delay = f"\tmovl\t${loops}, %eax\n.Ldelay:\n\tdecl\t%eax\n\tjnz\t.Ldelay\n"
    out, count = re.subn(r"(?m)^target:\n((?:\.LF\w+:\n|\t\.cfi_startproc\n|\tendbr64\n)*)",
                         lambda m: m[0] + delay, assembly)
    assert count == 1, "target has no entry"
    return out


def build(folder, percent, loops_per_percent):
    folder.mkdir()
    (folder / "prog.c").write_text(source())
    subprocess.run(["gcc", "-O2", "-g", "-S", "-o", "prog.s", "prog.c"], cwd=folder, check=True)
    assembly = (folder / "prog.s").read_text()
    (folder / "prog.s").write_text(slowed(assembly, round(percent * loops_per_percent)))
    subprocess.run(["gcc", "-static", "-o", "prog", "prog.s"], cwd=folder, check=True)
    return folder / "prog"


def times(program):
    return [float(x) for x in subprocess.run([program], check=True, capture_output=True,
                                             text=True).stderr.split()[-2:]]


def calibrate(top):
    """Turns of the loop that take as long as a percent of target does: by a first guess, and what it came to."""
    guess = 1000.0
    plain = build(top / "plain", 0, guess)
    tried = build(top / "tried", 100, guess)
    pairs = [(times(plain)[0], times(tried)[0]) for _ in range(9)]
    before = statistics.median(p for p, _ in pairs)
    return guess * before / (statistics.median(t for _, t in pairs) - before)


class Run:
    """One run of a build: the recording, its elapsed time, target's own time, and perf's shares."""


def record(monarc, perf, program, out):
    run = Run()
    run.folder = out.with_suffix(".monarc")
    done = subprocess.run([monarc, "run", "-o", run.folder, program], check=True,
                          capture_output=True, text=True)
    run.cpu = float(re.search(r"(?m)^\d+\.\d{6} (\d+\.\d{6})$", done.stderr)[1])
    run.own = float(re.search(r"(?m)^(\d+\.\d{6}) \d+\.\d{6}$", done.stderr)[1])
    start = time.perf_counter()
    times(program)
    run.elapsed = time.perf_counter() - start
    if perf:
        data = out.with_suffix(".data")
        subprocess.run([perf, "record", "-q", "-F", "1000", "-o", data, program], check=True,
                       capture_output=True)
        run.perf = data
    return run


def perf_shares(perf, data):
    """As `perf diff` has them: the share of each symbol."""
    text = subprocess.run([perf, "report", "--stdio", "-q", "--sort", "symbol", "-i", data],
                          check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"(?m)^ *([\d.]+)% +\[.\] (\S+)", text)
    assert "target" in {name for _, name in rows}, text
    return {name: float(share) for share, name in rows}


def monarc_diff(monarc, old, new):
    names = [x for option, runs in (("--old", old), ("--new", new)) for run in runs
             for x in (option, run.folder)]
    done = subprocess.run([monarc, "diff", "--json", *names], capture_output=True, check=False)
    table = json.loads(done.stdout)
    totals = {t["name"]: t for t in table["totals"]}
    rows = [r["name"] for r in table["functions"]
            if r["self_time"]["is_meant"] and r["self_time"]["change"] > 0]
    return ("target" in rows, totals["cpu_time"]["is_found"] and totals["cpu_time"]["change"] > 0,
            table["summary"]["self_changed"] > 0, totals["cpu_time"]["is_found"])


def perf_diff(old, new):
    names = {name for run in (*old, *new) for name in run.shares}
    mean = {name: statistics.mean(r.shares.get(name, 0) for r in new) -
            statistics.mean(r.shares.get(name, 0) for r in old) for name in names}
    return mean.get("target", 0) >= 1, any(abs(change) >= 1 for change in mean.values())


def hyperfine(old, new):
    if len(old) < 2:
        return None, None
    (a, s), (b, t) = ((statistics.mean(x), statistics.stdev(x)) for x in
                      ([r.elapsed for r in old], [r.elapsed for r in new]))
    return a + s < b - t, a + s < b - t or b + t < a - s


def compare(options, perf, pools, percent, side, draw):
    """Shares of the comparisons in which each finds something: target, whole, perf, elapsed."""
    found = [[], [], [], []]
    for _ in range(options.draws if percent else options.alarms):
        if percent:
            old, new = draw.sample(pools[0], side), draw.sample(pools[percent], side)
        else:
            runs = draw.sample(pools[0], 2 * side)
            old, new = runs[:side], runs[side:]
        target, whole, any_row, any_whole = monarc_diff(options.monarc, old, new)
        found[0].append(target if percent else any_row)
        found[1].append(whole if percent else any_whole)
        found[2].append(perf_diff(old, new)[not percent] if perf else None)
        found[3].append(hyperfine(old, new)[not percent])
    return ["-" if None in each else f"{100 * sum(each) / len(each):.0f} %" if percent else
            f"{sum(each)} of {len(each)}" for each in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=Path(__file__).resolve().parent.parent / "build/monarc")
    parser.add_argument("--pool", type=int, default=40, help="runs of the unchanged build; half as many of others")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--alarms", type=int, default=200)
    parser.add_argument("--lock", help="a file to lock while programs are measured")
    options = parser.parse_args()
    perf, draw = shutil.which("perf"), random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        pools = {percent: [] for percent in SLOWER}
        with contextlib.ExitStack() as stack:
            if options.lock:
                lock = stack.enter_context(open(options.lock, "a", encoding="ascii"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            unit = calibrate(top)
            programs = {percent: build(top / str(percent), percent, unit) for percent in SLOWER}
            for i in range(options.pool):
                for percent, program in programs.items():
                    if percent == 0 or i % 2 == 0:
                        pools[percent].append(record(options.monarc, perf, program,
                                                     top / str(percent) / str(i)))
        if perf:
            for run in (run for pool in pools.values() for run in pool):
                run.shares = perf_shares(perf, run.perf)
        base = statistics.median(r.own for r in pools[0])
        for what in "cpu", "elapsed":
            spread = [getattr(r, what) for r in pools[0]]
            print(f"{what}: {len(spread)} runs of {statistics.mean(spread):.3f} s, s.d. "
                  f"{100 * statistics.stdev(spread) / statistics.mean(spread):.1f} %")
        print()
        print("| target slower by (measured) | runs a side | monarc: function | monarc: whole | "
              "perf diff: a point | mean ± s.d. |\n|---|--:|--:|--:|--:|--:|")
        for percent in SLOWER:
            truth = 100 * (statistics.median(r.own for r in pools[percent]) / base - 1)
            for side in SIDES:
                cells = compare(options, perf, pools, percent, side, draw)
                label = f"{percent} % ({truth:.1f} %)" if percent else "0 (alarms)"
                print(f"| {label} | {side} | {' | '.join(cells)} |", flush=True)


main()
