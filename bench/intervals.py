#!/usr/bin/env python3
"""The table of intervals: how many of the 95 % intervals that monarc gives hold the truth?

    python3 bench/intervals.py [--runs 25] [--methods perf,ptrace] [--loaded] [--only PATTERN] build/monarc

40 programs (intervals.c) that know by their own threads' clocks what share of their time one function
has, each recorded so many times. Of N intervals, between 93 and 97 % should hold the truth. Prints a
Markdown table; its last line has the sums. `bias` is the mean of what was seen less what is true, `scatter`
the standard deviation of that, `printed` the mean half width of the interval over 1.96, all in points."""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PERIODS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1, 1.3, 1.5, 2, 3, 4, 5, 7, 8, 10, 12, 16, 20, 25, 32, 40, 50)
PROGRAMS = [("periodic", 0.3, period) for period in PERIODS]
PROGRAMS += [("random", share, 1.7) for share in (0.005, 0.02, 0.05, 0.9)]
PROGRAMS += [("random", 0.4, period) for period in (0.2, 1, 5)]
PROGRAMS += [("nested", 0.4, 1.1), ("recursive", 0.4, 1.1), ("threads2", 0.3, 1.0), ("threads4", 0.6, 2.3),
             ("forks2", 0.3, 1.0), ("forks4", 0.6, 2.3), ("kernel", 0.3, 3.1), ("faults", 0.3, 3.1),
             ("io", 0.3, 1.9), ("waits", 0.5, 21)]
assert len(PROGRAMS) == 40


def record(monarc, method, program, seconds, folder):
    out = os.path.join(folder, "recording")
    options = ["--off-cpu"] if program[0] == "waits" else []
    command = [monarc, "run", "--no-report", "--method", method, *options, "-o", out, "--",
               os.path.join(folder, "intervals"), *map(str, program), str(seconds)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
    # What a thread that was woken is ready for a CPU is part of its wait by perf, and not by ptrace.
    truth = float(said[method == "ptrace"])
    flat = json.loads(subprocess.check_output([monarc, "flat", "--json", out]))
    row = next((f for f in flat["functions"] if f["name"] == "fa"), None)
    samples = flat["summary"]["samples"]
    if not row:
        return truth, 0, 0, 3.7 / max(samples, 3.7)
    return truth, row["total_samples"] / samples, row["total_share_low"], row["total_share_high"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("monarc")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--methods", default="perf,ptrace")
    parser.add_argument("--only", default="", help="a pattern of the names of programs")
    parser.add_argument("--loaded", action="store_true", help="with a busy process for each CPU beside it")
    o = parser.parse_args()
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(os.cpu_count() if o.loaded else 0)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcc", "-O1", "-g", "-o", os.path.join(folder, "intervals"),
                            os.path.join(HERE, "intervals.c"), "-lm", "-lpthread"], check=True)
            for method in o.methods.split(","):
                table(o, method, folder)
    finally:
        for process in load:
            process.kill()


def table(o, method, folder):
    print("| %s%s | share | hold | bias | scatter | printed |\n|---|---|---|---|---|---|"
          % (method, ", loaded" if o.loaded else ""))
    held = of = 0
    for program in PROGRAMS:
        name = "%s, %g ms" % (program[0], program[2])
        if not re.search(o.only, name):
            continue
        seen = [record(o.monarc, method, program, o.seconds, folder) for _ in range(o.runs)]
        errors = [100 * (share - truth) for truth, share, _, _ in seen]
        # A wait's interval has no width; the program cannot time to the last call what it does itself.
        exact = 0.006 if program[0] == "waits" else 1e-4
        hold = sum(low - exact <= truth <= high + exact for truth, _, low, high in seen)
        held, of = held + hold, of + len(seen)
        half = statistics.mean(100 * (high - low) / 2 / 1.96 for _, _, low, high in seen)
        print("| %s | %.1f %% | %d of %d | %+.2f | %.2f | %.2f |"
              % (name, 100 * statistics.mean(s[0] for s in seen), hold, len(seen), statistics.mean(errors),
                 statistics.stdev(errors) if len(errors) > 1 else math.nan, half), flush=True)
    print("| **all** | | **%d of %d (%.1f %%)** | | | |\n" % (held, of, 100 * held / max(of, 1)), flush=True)


if __name__ == "__main__":
    main()
