#!/usr/bin/env python3
"""cost.py: what recording costs the program, and the recorder itself, beside perf record.

    python3 bench/recording/cost.py [--points P] [--minutes M] [--rate HZ] [--only NAME]... [--way NAME]... [MONARC]

Each round runs a program bare, under `perf record` without stacks, with frame pointers and with copied
stacks of 8 and 16 kB, and under `monarc run` by perf events and by ptrace, with and without stacks: one
after the other, and the next round begins one further on. Two times are compared with the bare one of the
same round:

    program   CPU time that the shell which started the program has for its children
    all       CPU time of all processes, the recorder's own until it ends included

Printed are medians with intervals of at least 95 % that order statistics give: they assume nothing
but that rounds are independent. A program is measured until all intervals of its own time are within
P points (default 0.5) or M minutes have passed (default 10). Nothing else should run meanwhile; what
other work takes is noise, not bias, as rounds are short.

The programs (cost.c; sqlite3 and redis where they are installed) take about a second each. What is not
installed or not permitted is left out. Files are in a temporary folder.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TIMED = '"$@" >/dev/null 2>&1; status=$?; times >"$TIMES"; exit $status'
FEWEST = 8  # rounds
SQL = ("create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n limit 500000) "
       "insert into t select i * 7919 % 65537, i from n; create index x on t(a); "
       "select count(*) from t join t u using (b) where t.a < 9000;")



def programs(folder):
    """name -> command: what is recorded."""
    cost = os.path.join(folder, "cost")
    subprocess.run(["cc", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-o", cost,
                    os.path.join(HERE, "cost.c")], check=True)
    found = {
        "loop": [cost, "loop", "2", "600000000"],
        "loop, 200 deep": [cost, "loop", "200", "600000000"],
        "8 threads": [cost, "threads", "8", "4000"],
        "200 processes": [cost, "processes", "200", cost, "short", "3000000"],
    }
    if shutil.which("sqlite3"):
        found["sqlite3"] = ["sqlite3", ":memory:", SQL]
    if shutil.which("redis-server") and shutil.which("redis-benchmark"):
        found["redis"] = ["redis"]
    return found


def recorders(monarc, folder, rate):
    """name -> what stands before the command."""
    data = os.path.join(folder, "perf.data")
    perf = ["perf", "record", "-q", "-o", data, "-e", "task-clock", "-c", str(10**9 // rate)]
    run = [monarc, "run", "--no-report", "-r", str(rate), "-o", os.path.join(folder, "rec")]
    return {
        "bare": [],
        "perf": perf,
        "perf -g": perf + ["-g"],
        "perf, 8 kB": perf + ["--call-graph", "dwarf,8192"],
        "perf, 16 kB": perf + ["--call-graph", "dwarf,16384"],
        "monarc": run + ["--method", "perf", "--"],
        "monarc, no stacks": run + ["--method", "perf", "--no-stacks", "--"],
        "ptrace": run + ["--method", "ptrace", "--"],
        "ptrace, no stacks": run + ["--method", "ptrace", "--no-stacks", "--"],
    }


def seconds(minutes):
    whole, rest = minutes.rstrip("s").split("m")
    return 60 * int(whole) + float(rest)


def cpu_times(before, command, folder):
    """The program's CPU time, and that of all."""
    times = os.path.join(folder, "times")
    timed = [*before, "bash", "-c", TIMED, "bash", *command]
    environment = {**os.environ, "TIMES": times}
    if command == ["redis"]:
        return server_times(before, folder, environment)
    child = subprocess.Popen(timed, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ended(child, times)


def ended(child, times):
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise OSError(f"{child.args[0]} ended with status {child.returncode}")
    with open(times, encoding="ascii") as lines:
        return sum(map(seconds, lines.readlines()[1].split())), used.ru_utime + used.ru_stime


def server_times(before, folder, environment):
    """The clients are not recorded, nor is their time counted."""
    socket = os.path.join(folder, "redis.sock")
    if os.path.exists(socket):
        os.unlink(socket)
    server = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"]
    child = subprocess.Popen([*before, "bash", "-c", TIMED, "bash", *server], env=environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(socket):
        time.sleep(0.01)
    subprocess.run(["redis-benchmark", "-s", socket, "-n", "60000", "-c", "20", "-q", "-t", "set,get,lpush"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["redis-cli", "-s", socket, "shutdown", "nosave"], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ended(child, environment["TIMES"])


def interval(numbers):
    """The median, and the order statistics around it between which it is with 95 %."""
    ordered, n = sorted(numbers), len(numbers)
    k, tail = 0, 0.0
    while True:
        tail += math.comb(n, k) / 2**n
        if tail > 0.025 or k >= n // 2:
            break
        k += 1
    low = max(k - 1, 0)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return middle, ordered[low], ordered[n - 1 - low]


def added(times, way, which):
    """In percent of the bare run of each round."""
    return [100 * (run[which] / bare[which] - 1) for run, bare in zip(times[way], times["bare"])]


def is_sure(times, points):
    if len(times["bare"]) < FEWEST:
        return False
    widest = 0.0
    for way in times:
        if way != "bare":
            _, low, high = interval(added(times, way, 0))
            widest = max(widest, (high - low) / 2)
    return widest <= points


def measure(name, command, ways, options, folder):
    times = {way: [] for way in ways}
    names, until, rounds = list(ways), time.monotonic() + 60 * options.minutes, 0
    while not is_sure(times, options.points):
        if rounds and time.monotonic() > until:
            break
        for at in range(len(names)):
            way = names[(at + rounds) % len(names)]
            times[way].append(cpu_times(ways[way], command, folder))
        rounds += 1
    bare = interval([run[0] for run in times["bare"]])[0]
    print(f"| {name}, bare | {bare:.3f} s | | | {rounds} rounds |", flush=True)
    for way in names:
        if way == "bare":
            continue
        own, all_of_it = interval(added(times, way, 0)), interval(added(times, way, 1))
        recorder = interval([run[1] - run[0] for run in times[way]])[0]
        print(f"| {name}, {way} | {own[0]:+.1f} % | {own[1]:+.1f} to {own[2]:+.1f} | "
              f"{all_of_it[0]:+.1f} % ({all_of_it[1]:+.1f} to {all_of_it[2]:+.1f}) | {recorder:.3f} s |", flush=True)


def is_permitted(before, folder):
    try:
        cpu_times(before, ["true"], folder)
    except OSError as why:
        print(f"cost.py: {why}: left out", file=sys.stderr)
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--points", type=float, default=0.5)
    parser.add_argument("--minutes", type=float, default=10, help="of one program, at most")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--way", action="append", dest="ways", metavar="NAME", help="bare is always among them")
    parser.add_argument("monarc", nargs="?", default=os.path.join(ROOT, "build/monarc"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="monarc-cost-") as folder:
        ways = recorders(os.path.abspath(options.monarc), folder, options.rate)
        if options.ways:
            ways = {way: before for way, before in ways.items() if way == "bare" or way in options.ways}
        ways = {way: before for way, before in ways.items()
                if not before or (shutil.which(before[0]) and is_permitted(before, folder))}
        print("| program | program's CPU | 95 % | CPU of all | recorder |\n|---|--:|---|--:|--:|", flush=True)
        for name, command in programs(folder).items():
            if not options.only or name in options.only:
                measure(name, command, ways, options, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
