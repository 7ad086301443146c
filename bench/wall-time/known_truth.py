#!/usr/bin/env python3
"""known_truth.py: how far reports on waits, wall time and labels are from what programs of known truth did, run by run.

Each case is recorded N times (50 by default), and each time what the report says is compared with what the program
had: by construction, or by its own clock. Prints the tables of docs/wall-time.md and docs/labels.md: the mean of the
differences, how much they scatter, and the worst. Other work on the machine counts, except for cases whose truth
holds only while there are two CPUs: these run with real-time priority, as root.

    bench/wall-time/known_truth.py [build/monarc [N [ONLY]]]        ONLY: a part of the cases' names
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
ONLY = sys.argv[3] if len(sys.argv) > 3 else ""


def record(folder, program, words, options):
    is_real_time = "real-time" in options and os.geteuid() == 0
    how, inner = (["chrt", "-f", "30"], ["chrt", "-f", "20"]) if is_real_time else ([], [])
    options = [option for option in options if option != "real-time"]
    done = subprocess.run([*how, MONARC, "run", "--no-report", "-o", folder, *options, "--", *inner, program, *words],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return done.stdout


def told_by(said):
    return {line.split()[0]: float(line.split()[1]) for line in said.splitlines()}


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


def held(folder, lock, doing, function, depth=0):
    row = next(row for row in report("locks", folder)["rows"] if row["name"] == lock)
    return sum(h["seconds"] for h in row["holders"]
               if h["depth"] == depth and h["doing"] == doing and (not function or function in h["stack"]))


def held_asleep(folder, said):
    return 1000 * held(folder, "g_cache_lock", "waits", "hold_asleep"), 1000 * told_by(said)["slept"]


def held_busy(folder, said):
    return 1000 * held(folder, "g_cache_lock", "runs", None), 1000 * told_by(said)["worked"]


def chain_outer(folder, said):
    return 1000 * held(folder, "g_outer", "waits", "chain_inner", depth=1), 1000 * told_by(said)["slept"]


def kinds(folder, said):
    """Of a PI mutex, a robust one, and a lock for readers and a writer at which two readers wait."""
    locks = sum(held(folder, name, "waits", "hold_asleep") for name in ("g_pi", "g_robust"))
    return 1000 * (locks + held(folder, "g_table", "waits", "hold_asleep")), 1000 * told_by(said)["slept"] * 4 / 3


def signalled(folder, said):
    """The consumer waits for as long as the producer sleeps before it signals, then for the semaphore."""
    rows = {row["name"]: row["seconds"] for row in report("locks", folder)["rows"]}
    return 1000 * (rows["g_ready"] + rows["g_items"]), 1000 * told_by(said)["slept"]


def of_latency(function):
    """A function's share, with what it calls, of that of all that do the work. The recorder's threads take a CPU now
    and then, and what runs beside is alone for that time: that is in the differences."""
    def judge(folder, said):
        truth = told_by(said)
        rows = {row["name"]: row for row in report("flat", folder, "--latency")["functions"] if row["name"] in truth}
        return 100 * rows[function]["total_time"] / sum(row["total_time"] for row in rows.values()), 100 * truth[function]
    return judge


def ready(folder, said):
    rows = [row for row in report("flat", folder)["functions"] if row["name"] == "[ready to run]"]
    return 1000 * sum(row["total_time"] for row in rows), 1000 * told_by(said)["ready"]


def on_path(folder, said):
    rows = {row["name"]: row["path_time"] for row in report("path", folder)["functions"]}
    return 100 * rows["left"] / (rows["left"] + rows.get("right", 0)), 100 * told_by(said)["left"]


def slack_of_make(folder, _said):
    """`make -j2` of two jobs, which sleep: the shorter one could take as much longer as it ended earlier."""
    jobs = {row["command"]: row for row in report("path", folder)["threads"] if row["name"] == "sleep"}
    ends = {name: row["start_time"] + row["lasted"] for name, row in jobs.items()}
    return 1000 * jobs["sleep 0.2"]["slack_time"], 1000 * (ends["sleep 0.4"] - ends["sleep 0.2"])


CASES = [
    ("labels", "requests of 20 ms, /a", ["swap", "2", "20000", "400"], [], label_share),
    ("labels", "the same, in its function", ["swap", "2", "20000", "400"], [], label_purity),
    ("labels", "requests of 2 ms, /a", ["swap", "2", "2000", "400"], [], label_share),
    ("labels", "the same, in its function", ["swap", "2", "2000", "400"], [], label_purity),
    ("labels", "requests of 0.4 ms, ptrace, /a", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_share),
    ("labels", "the same, in its function", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_purity),
    ("locks", "holder asleep, ms (of 750)", ["share"], ["--off-cpu"], held_asleep),
    ("locks", "holder busy, ms (of 250)", ["share"], ["--off-cpu"], held_busy),
    ("locks", "third of a chain asleep, ms (of 600)", ["chain"], ["--off-cpu"], chain_outer),
    ("locks", "holders of PI, robust, rwlock, ms (of 1,600)", ["kinds"], ["--off-cpu"], kinds),
    ("locks", "producer and consumer, ms (of 600)", ["signalled"], ["--off-cpu"], signalled),
    ("known_truth", "ready to run, ms", ["ready"], ["--off-cpu"], ready),
    ("known_truth", "latency of alone, points (of 50)", ["beside"], ["--off-cpu", "real-time"], of_latency("alone")),
    ("known_truth", "latency of left, points (of 25)", ["beside"], ["--off-cpu", "real-time"], of_latency("left")),
    ("known_truth", "OpenMP's heavy thread, points (of 83.3)", ["openmp"], ["--off-cpu", "real-time"],
     of_latency("heavy")),
    ("known_truth", "pipeline: first stage on the path, points (of 98.4)", ["stages"], ["--off-cpu", "real-time"],
     on_path),
    ("make", "make -j2: slack of the shorter job, ms (of 200)", ["-f", "MAKEFILE", "-j2"], ["--off-cpu"], slack_of_make),
]

with tempfile.TemporaryDirectory() as where:
    for name in "labels", "locks", "known_truth":
        source = os.path.join(HERE if name == "known_truth" else PROGRAMS, f"{name}.c")
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-fopenmp", "-rdynamic", "-o", os.path.join(where, name), source],
                       check=True)
    makefile = os.path.join(where, "makefile")
    with open(makefile, "w", encoding="ascii") as file:
        file.write("all: a b\na:\n\t@exec sleep 0.4\nb:\n\t@exec sleep 0.2\n")
    print(f"| case ({ROUNDS} runs) | mean truth | mean difference | standard deviation | worst |\n|---|---|---|---|---|")
    for name, title, words, options, judge in CASES:
        if ONLY not in title:
            continue
        differences, truths = [], []
        for _ in range(ROUNDS):
            program = name if name == "make" else os.path.join(where, name)
            said = record(os.path.join(where, "r"), program, [makefile if w == "MAKEFILE" else w for w in words], options)
            told, truth = judge(os.path.join(where, "r"), said)
            differences.append(told - truth)
            truths.append(truth)
        print("| %s | %.1f | %+.2f | %.2f | %+.2f |" % (
            title, statistics.mean(truths), statistics.mean(differences), statistics.stdev(differences),
            max(differences, key=abs)), flush=True)
