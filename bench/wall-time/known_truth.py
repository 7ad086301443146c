#!/usr/bin/env python3
"""known_truth.py: how far reports on waits and labels are from what programs of known truth did, run by run.

Each case is recorded N times (50 by default), and each time the share that the report says is compared with the one
that the program had: by construction, or by its own clock. Prints a table for docs/labels.md and docs/locks.md: the
mean of the differences in points, how much they scatter, and the worst. As it is: other work on the machine counts.

    bench/wall-time/known_truth.py [build/monarc [N]]
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../tests/record/programs")
MONARC = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../build/monarc"))
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 50


def record(folder, program, words, options):
    done = subprocess.run([MONARC, "run", "--no-report", "-o", folder, *options, "--", program, *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout


def report(name, folder, *options):
    done = subprocess.run([MONARC, name, "--json", *options, folder], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def label_share(folder, said):
    """Of route /a among both, told and true, in points."""
    rows = {row["name"]: row["self_samples"] for row in report("flat", folder, "--by-label", "http.route")["rows"]}
    truth = {line.split()[1]: float(line.split()[2]) for line in said.splitlines()}
    return 100 * rows["/a"] / (rows["/a"] + rows["/b"]), 100 * truth["/a"] / sum(truth.values())


def label_purity(folder, _said):
    """Of the samples in the function that serves /a: those that have the label. All should."""
    right = wrong = 0
    for row in report("flat", folder, "--by-label", "http.route")["rows"]:
        n = sum(f["self_samples"] for f in row["functions"] if f["name"].startswith("serve_a"))
        if row["name"] == "/a":
            right = n
        elif row["name"]:
            wrong += n
    return 100 * right / (right + wrong), 100


def held_asleep(folder, _said):
    """The holder of g_cache_lock sleeps 0.75 s of each 1 s by the wall clock, as far as it gets a CPU."""
    row = next(row for row in report("locks", folder)["rows"] if row["name"] == "g_cache_lock")
    asleep = sum(h["seconds"] for h in row["holders"] if not h["depth"] and "hold_asleep" in h["stack"])
    return 100 * asleep / 0.75, 100


CASES = [
    ("labels", "requests of 20 ms, /a", ["swap", "2", "20000", "400"], [], label_share),
    ("labels", "the same, in its function", ["swap", "2", "20000", "400"], [], label_purity),
    ("labels", "requests of 2 ms, /a", ["swap", "2", "2000", "400"], [], label_share),
    ("labels", "the same, in its function", ["swap", "2", "2000", "400"], [], label_purity),
    ("labels", "requests of 0.4 ms, ptrace, /a", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_share),
    ("labels", "the same, in its function", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_purity),
    ("locks", "holder asleep (time, of 0.75 s)", ["share"], ["--off-cpu"], held_asleep),
]

with tempfile.TemporaryDirectory() as where:
    for name in sorted({case[0] for case in CASES}):
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-rdynamic", "-o", os.path.join(where, name),
                        os.path.join(PROGRAMS, f"{name}.c")], check=True)
    print(f"| case ({ROUNDS} runs) | mean difference, points | standard deviation | worst |\n|---|---|---|---|")
    for name, title, words, options, judge in CASES:
        differences = []
        for _ in range(ROUNDS):
            said = record(os.path.join(where, "r"), os.path.join(where, name), words, options)
            told, truth = judge(os.path.join(where, "r"), said)
            differences.append(told - truth)
        print("| %s | %+.2f | %.2f | %+.2f |" % (
            title, statistics.mean(differences), statistics.stdev(differences), max(differences, key=abs)), flush=True)
