#!/usr/bin/env python3
"""path --if against the truth: 20 programs are recorded, a change of one function is predicted, and the change is
made: does the changed program's time lie within the bounds?

As root, everything runs with real-time priority, monarc's above the programs', so that other work on the
machine does not count. Both sides are recorded, so that both pay for sampling; before and
after are medians of five runs, taken in turn. Prints a table for docs/wall-time.md.

    bench/wall-time/what_if.py [build/monarc]
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MONARC = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../build/monarc"))
ROUNDS = 5
# shape, units of f and g, the change, and what f and g really become
CASES = [
    ("alone", 20, 10, "f=2x", 10, 10), ("alone", 20, 10, "g=2x", 20, 5), ("alone", 8, 24, "f=0", 0, 24),
    ("alone", 8, 24, "g=4x", 8, 6), ("sleeps", 10, 10, "f=2x", 5, 10), ("sleeps", 16, 4, "f=4x", 4, 4),
    ("joined", 20, 10, "f=2x", 10, 10), ("joined", 20, 10, "g=2x", 20, 5), ("joined", 10, 20, "f=2x", 5, 20),
    ("joined", 20, 16, "f=4x", 5, 16), ("children", 20, 10, "f=2x", 10, 10), ("children", 20, 10, "g=2x", 20, 5),
    ("children", 20, 16, "f=4x", 5, 16), ("pipe", 20, 8, "f=2x", 10, 8), ("pipe", 8, 20, "g=2x", 8, 10),
    ("pipe", 20, 8, "g=2x", 20, 4), ("queue", 20, 8, "f=2x", 10, 8), ("queue", 8, 20, "f=2x", 4, 20),
    ("lock", 12, 4, "f=2x", 6, 4), ("lock", 12, 4, "g=2x", 12, 2),
]


def run(folder, program, shape, f, g):
    words = [MONARC, "run", "--off-cpu", "--no-report", "-o", folder, "--"]
    if os.geteuid() == 0:
        words = ["chrt", "-f", "30", *words, "chrt", "-f", "20"]
    subprocess.run([*words, program, shape, str(f), str(g)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def what_if(folder, change):
    done = subprocess.run([MONARC, "path", "--json", folder, "--if", change], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def length(folder):
    done = subprocess.run([MONARC, "path", "--json", folder], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["path"]["length"]


with tempfile.TemporaryDirectory() as where:
    program, old, new = (os.path.join(where, name) for name in ("what_if", "old", "new"))
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", program, os.path.join(HERE, "what_if.c")], check=True)
    right = 0
    print("| program | change | before | predicted | changed | |\n|---|---|---|---|---|---|")
    for shape, f, g, change, new_f, new_g in CASES:
        told, before, after = [], [], []
        for _ in range(ROUNDS):
            run(old, program, shape, f, g)
            run(new, program, shape, new_f, new_g)
            told.append(what_if(old, change)["wall"])
            before.append(told[-1]["before"])
            after.append(length(new))
        was, truth = statistics.median(before), statistics.median(after)
        # A run that was slow by chance predicts slow ones: bounds are parts of its own length.
        low, high = (statistics.median(t[k] / t["before"] for t in told) * was for k in ("low", "high"))
        is_right = low <= truth <= high
        right += is_right
        print("| %s %d %d | %s | %.3f | %.3f to %.3f | %.3f | %s |" % (
            shape, f, g, change, was, low, high, truth, "" if is_right else "outside"), flush=True)
    print("\n%d of %d are within the bounds" % (right, len(CASES)))
