#!/usr/bin/env python3
"""known_truth.py: how far reports on waits, wall time, files and labels are from what programs of known truth did.

Each case is recorded N times (50 by default), and each time what the report says is compared with what the program
had: by construction, or by its own clock. Prints the tables of docs/wall-time.md, docs/waits.md and docs/labels.md:
the mean of the differences, how much they scatter, the worst, and of how many runs the truth was within the interval
that the report prints. Other work on the machine counts, except for cases whose truth holds only while there are two
CPUs: these run with real-time priority, as root. --undisturbed: all do, and no CPU time is kept for others.

    bench/wall-time/known_truth.py [--undisturbed] [--runs N] [--only PART] [build/monarc]
"""
import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../tests/record/programs")
KEPT = "/proc/sys/kernel/sched_rt_runtime_us"


def given():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--undisturbed", action="store_true", help="every case with real-time priority")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--only", default="", metavar="PART", help="cases with this in their names")
    parser.add_argument("monarc", nargs="?", default=os.path.join(HERE, "../../build/monarc"))
    return parser.parse_args()


OPTIONS = given()
MONARC = os.path.abspath(OPTIONS.monarc)
ROUNDS = OPTIONS.runs


@contextlib.contextmanager
def all_cpu_time():
    """By default the kernel keeps 5 % of each CPU from threads with real-time priority."""
    with open(KEPT, encoding="ascii") as file:
        before = file.read()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with open(KEPT, "w", encoding="ascii") as file:
            file.write("-1")
        yield
    finally:
        with open(KEPT, "w", encoding="ascii") as file:
            file.write(before)


def record(folder, program, words, options):
    is_real_time = (OPTIONS.undisturbed or "real-time" in options) and os.geteuid() == 0
    how, inner = (["chrt", "-f", "30"], ["chrt", "-f", "20"]) if is_real_time else ([], [])
    options = [option for option in options if option != "real-time"]
    done = subprocess.run([*how, MONARC, "run", "--no-report", "-o", folder, *options, "--", *inner, program, *words],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    return done.stdout


def told_by(said):
    return {line.split()[0]: float(line.split()[1]) for line in said.splitlines()}


def report(name, folder, *options):
    """Reports are not measured: they need not wait for a CPU."""
    how = ["chrt", "-f", "10"] if os.geteuid() == 0 else []
    done = subprocess.run([*how, MONARC, name, "--json", *options, folder], check=True, stdout=subprocess.PIPE)
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
    """What holders did so, in ms, and half the printed interval."""
    row = next(row for row in report("waits", folder)["rows"] if row["name"] == lock)
    rows = [h for h in row["holders"]
            if h["depth"] == depth and h["doing"] == doing and (not function or function in h["stack"])]
    return 1000 * sum(h["seconds"] for h in rows), 1000 * math.hypot(*(h["seconds_error"] for h in rows))


def held_asleep(folder, said):
    told, width = held(folder, "g_cache_lock", "waits", "hold_asleep")
    return told, 1000 * told_by(said)["slept"], width


def held_busy(folder, said):
    told, width = held(folder, "g_cache_lock", "runs", None)
    return told, 1000 * told_by(said)["worked"], width


def chain_outer(folder, said):
    told, width = held(folder, "g_outer", "waits", "chain_inner", depth=1)
    return told, 1000 * told_by(said)["slept"], width


def kinds(folder, said):
    """Of a PI mutex, a robust one, and a lock for readers and a writer at which two readers wait."""
    told = [held(folder, name, "waits", "hold_asleep") for name in ("g_pi", "g_robust", "g_table")]
    slept = told_by(said)
    truth = slept["PI"] + slept["robust"] + slept["table"]
    return sum(seconds for seconds, _ in told), 1000 * truth, math.hypot(*(width for _, width in told))


def signalled(folder, said):
    """The consumer waits for as long as the producer sleeps before it signals, then for the semaphore."""
    rows = {row["name"]: row["seconds"] for row in report("waits", folder)["rows"]}
    return 1000 * (rows["g_ready"] + rows["g_items"]), 1000 * (told_by(said)["slept"] + told_by(said)["worked"])


def of_latency(function):
    """A function's share, with what it calls, of that of all that do the work."""
    def judge(folder, said):
        truth = told_by(said)
        rows = {row["name"]: row for row in report("flat", folder, "--latency")["functions"] if row["name"] in truth}
        all_time, row = sum(row["total_time"] for row in rows.values()), rows[function]
        share = row["total_time"] / all_time
        printed = row["total_time"] / ((row["total_share_low"] + row["total_share_high"]) / 2)
        width = (row["total_share_high"] - row["total_share_low"]) / 2 * printed / all_time
        return 100 * share, 100 * truth[function], 100 * width
    return judge


def ready(folder, said):
    rows = [row for row in report("flat", folder)["functions"] if row["name"] == "[ready to run]"]
    return 1000 * sum(row["total_time"] for row in rows), 1000 * told_by(said)["ready"]


def on_path(folder, said):
    rows = {row["name"]: row["path_time"] for row in report("path", folder)["functions"]}
    return 100 * rows["first"] / (rows["first"] + rows.get("second", 0)), 100 * told_by(said)["first"]


def slack_of_make(folder, _said):
    """`make -j2` of two jobs, which sleep: the shorter one could take as much longer as it ended earlier."""
    rows = [row for row in report("path", folder)["threads"] if row["name"] == "sleep"]
    if len(rows) < 2:  # that one went on as another program was lost: the machine is too busy
        return None
    shorter, longer = sorted(rows, key=lambda row: row["lasted"])[-2:]
    ends = [row["start_time"] + row["lasted"] for row in (shorter, longer)]
    return 1000 * shorter["slack_time"], 1000 * (ends[1] - ends[0])


def transferred(folder, said):
    """By name of the file: the row, and what the program counted itself."""
    rows = {os.path.basename(row["name"] or ""): row for row in report("waits", folder, "--files")["rows"]}
    truth = {line.split()[1]: int(line.split()[2]) for line in said.splitlines() if line.startswith("read ")}
    return rows, truth


def share_of_a(folder, said):
    rows, truth = transferred(folder, said)
    if not {"a", "b"} <= rows.keys():  # they were closed before the recorder had a CPU, and have no names
        return None
    both, all_bytes = sum(rows[name]["read_bytes"] for name in "ab"), truth["a"] + truth["b"]
    return (100 * rows["a"]["read_bytes"] / both, 100 * truth["a"] / all_bytes,
            100 * rows["a"]["read_bytes_error"] / both)


def bytes_of_a(folder, said):
    rows, truth = transferred(folder, said)
    if not {"a", "b"} <= rows.keys():  # they were closed before the recorder had a CPU, and have no names
        return None
    return rows["a"]["read_bytes"] / 1e6, truth["a"] / 1e6, rows["a"]["read_bytes_error"] / 1e6


def all_bytes(folder, said):
    """What the program counted, the two files of 16 MiB that it makes, and some kB of libraries that its start reads."""
    total = report("waits", folder, "--files")["transferred"]
    truth = sum(int(line.split()[2]) for line in said.splitlines()) + 2 * (16 << 20)
    return (total["read_bytes"] + total["written_bytes"]) / 1e6, truth / 1e6


def waited_for(kind):
    def judge(folder, said):
        rows = [row for row in report("waits", folder, "--files")["rows"] if row["kind"] == kind]
        return 1000 * sum(row["seconds"] for row in rows), 1000 * told_by(said)[kind]
    return judge


def in_fsync(folder, said):
    rows = {row["name"]: row["self_time"] for row in report("flat", folder)["functions"]}
    return 1000 * rows["[waiting] fsync"], 1000 * told_by(said)["fsync"]


def saved(folder, said):
    """What path --if says that a change saves: a range is printed."""
    told = report("path", folder, "--if", "left=4x")["wall"]
    low, high = (1000 * (told["before"] - told[key]) for key in ("high", "low"))
    return (low + high) / 2, 1000 * told_by(said)["saved"], (high - low) / 2


CASES = [
    ("locks", "holder asleep, ms (of 750)", ["share"], ["--off-cpu"], held_asleep),
    ("locks", "holder busy, ms (of 250)", ["share"], ["--off-cpu"], held_busy),
    ("locks", "third of a chain asleep, ms (of 600)", ["chain"], ["--off-cpu"], chain_outer),
    ("locks", "holders of PI, robust, rwlock, ms (of 1,600)", ["kinds"], ["--off-cpu"], kinds),
    ("locks", "producer and consumer, ms (of 600)", ["signalled"], ["--off-cpu"], signalled),
    ("known_truth", "ready to run, ms", ["ready"], ["--off-cpu"], ready),
    ("known_truth", "latency of alone, points", ["beside"], ["--off-cpu", "real-time"], of_latency("alone")),
    ("known_truth", "latency of left, points", ["beside"], ["--off-cpu", "real-time"], of_latency("left")),
    ("known_truth", "OpenMP's heavy thread, points", ["openmp"], ["--off-cpu", "real-time"],
     of_latency("heavy")),
    ("known_truth", "pipeline: first stage on the path, points (of 98.4)", ["stages"], ["--off-cpu", "real-time"],
     on_path),
    ("make", "make -j2: slack of the shorter job, ms (of 200)", ["-f", "MAKEFILE", "-j2"], ["--off-cpu"], slack_of_make),
    ("known_truth", "path --if: saved, one thread, ms (of 225)", ["alone"], ["--off-cpu", "real-time"], saved),
    ("known_truth", "path --if: saved, two threads, ms (of 100)", ["joined"], ["--off-cpu", "real-time"], saved),
    ("transfers", "files: share of one of two files, points (of 75)", ["two", "FOLDER"], ["--off-cpu"], share_of_a),
    ("transfers", "files: bytes of that file, MB", ["two", "FOLDER"], ["--off-cpu"], bytes_of_a),
    ("transfers", "files: all bytes, MB", ["two", "FOLDER"], ["--off-cpu"], all_bytes),
    ("known_truth", "waiting in fsync, ms", ["syncs", "FOLDER"], ["--off-cpu"], in_fsync),
    ("known_truth", "files: waiting for a pipe, ms (of 600)", ["piped"], ["--off-cpu"], waited_for("pipe")),
    ("labels", "requests of 20 ms, /a", ["swap", "2", "20000", "400"], [], label_share),
    ("labels", "requests of 20 ms, in its function", ["swap", "2", "20000", "400"], [], label_purity),
    ("labels", "requests of 2 ms, /a", ["swap", "2", "2000", "400"], [], label_share),
    ("labels", "requests of 2 ms, in its function", ["swap", "2", "2000", "400"], [], label_purity),
    ("labels", "requests of 0.4 ms, ptrace, /a", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_share),
    ("labels", "requests of 0.4 ms, ptrace, in its function", ["inplace", "2", "400", "400"], ["--method", "ptrace"], label_purity),
]


def programs(where):
    for name in "labels", "locks", "transfers", "known_truth":
        source = os.path.join(PROGRAMS if name in ("labels", "locks", "transfers") else HERE, f"{name}.c")
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-fopenmp", "-rdynamic", "-o", os.path.join(where, name), source],
                       check=True)
    makefile = os.path.join(where, "makefile")
    with open(makefile, "w", encoding="ascii") as file:
        file.write("all: a b\na:\n\t@exec sleep 0.4\nb:\n\t@exec sleep 0.2\n")
    return {"MAKEFILE": makefile, "FOLDER": where}


def judge_all(where):
    stands_for = programs(where)
    print(f"| case ({ROUNDS} runs) | mean truth | mean difference | standard deviation | worst | within the printed bounds |"
          "\n|---|---|---|---|---|---|")
    folder, made = os.path.join(where, "r"), {}
    for name, title, words, options, judge in CASES:
        if OPTIONS.only in title:
            made.setdefault((name, *words, *options), (name, words, options, []))[-1].append((title, judge))
    for name, words, options, judges in made.values():
        found = {title: [] for title, _ in judges}
        for _ in range(ROUNDS):
            program = name if name == "make" else os.path.join(where, name)
            said = record(folder, program, [stands_for.get(word, word) for word in words], options)
            for title, judge in judges:
                found[title].append(judge(folder, said))
        for title, runs in found.items():
            runs = [run for run in runs if run]
            title += f" ({ROUNDS - len(runs)} runs did not tell)" if len(runs) < ROUNDS else ""
            differences, within = [run[0] - run[1] for run in runs], [abs(run[0] - run[1]) <= run[2] for run in runs if run[2:]]
            print("| %s | %.1f | %+.2f | %.2f | %+.2f | %s |" % (
                title, statistics.mean(run[1] for run in runs), statistics.mean(differences), statistics.stdev(differences),
                max(differences, key=abs), sum(within) if within else "-"), flush=True)


with tempfile.TemporaryDirectory() as scratch, all_cpu_time() if OPTIONS.undisturbed else contextlib.nullcontext():
    judge_all(scratch)
