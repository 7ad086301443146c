#!/usr/bin/env python3
"""wakers_cost.py: what it costs a program that its waits and wakers are recorded.

Threads that wake each other as often as they can, a server with one client, and a build: each says itself how long it
took and how much CPU time, so that the recorders' starts and ends do not count. Bare, `monarc run --off-cpu`, `perf
sched record`, and perf with the same two tracepoints and stacks take turns; medians. `perf record --off-cpu` takes
part where perf was built with BPF. Prints a table of docs/wall-time.md.

    bench/wall-time/wakers_cost.py [--rounds N] [build/monarc]
"""
import argparse
import os
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PINGPONG = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int there[2], back[2];
static void *other(void *rounds)
{
    char c;
    for (long i = 0; i < (long)rounds; i++)
        if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
            abort();
    return NULL;
}
int main(int argc, char **argv)
{
    long rounds = atol(argv[argc - 1]);
    pthread_t t;
    char c = 0;
    if (pipe(there) || pipe(back) || pthread_create(&t, NULL, other, (void *)rounds))
        return 1;
    for (long i = 0; i < rounds; i++)
        if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
            abort();
    return pthread_join(t, NULL);
}
"""
SERVER = """redis-server --port 7399 --save "" --appendonly no > server.log & p=$!
until redis-cli -p 7399 ping 2> err.log | grep -q PONG; do sleep .02; done
"""
# What is timed, and what comes before and after it.
PROGRAMS = (("ping-pong on one processor, 100,000 rounds", "", "taskset -c 0 ./pingpong 100000", ""),
            ("redis, 20,000 requests of one client", SERVER, "redis-benchmark -p 7399 -n 20000 -c 1 -t set -q > b.log",
             "redis-cli -p 7399 shutdown nosave; wait $p"),
            ("build, 60 files by make -j2", "make -s clean", "make -s -j2", ""))
WAYS = (("bare", []), ("`monarc run --off-cpu`", None), ("`perf sched record`", ["perf", "sched", "record", "-o", "p.data", "--"]),
        ("perf, both tracepoints, `-g`", ["perf", "record", "-q", "-g", "-e", "sched:sched_switch,sched:sched_waking", "-o", "p.data", "--"]),
        ("`perf record --off-cpu -g`", ["perf", "record", "-q", "--off-cpu", "-g", "-o", "p.data", "--"]))


def prepare(where):
    with open(f"{where}/pingpong.c", "w") as file:
        file.write(PINGPONG)
    subprocess.run(["gcc", "-O2", "-pthread", "-o", "pingpong", "pingpong.c"], cwd=where, check=True)
    for i in range(60):
        with open(f"{where}/f{i}.c", "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
                f"int f{i}_{k}(int a) {{ for (int b = 0; b < a; b++) a ^= b * {k + 1}; return a; }}\n" for k in range(60)))
    with open(f"{where}/Makefile", "w") as file:
        names = " ".join(f"f{i}.o" for i in range(60))
        file.write(f"all: {names}\n%.o: %.c\n\tgcc -O2 -c $<\nclean:\n\trm -f *.o\n")
    for i, (_, before, work, after) in enumerate(PROGRAMS):
        with open(f"{where}/job{i}.sh", "w") as file:
            file.write(f"{before}\na=$(date +%s%N)\n{work}\necho $((($(date +%s%N) - a) / 1000)) > took\n{after}\n")


def took(where, job, way, monarc):
    arguments = [monarc, "run", "--off-cpu", "--no-report", "-o", "p.monarc", "--"] if way is None else way
    subprocess.run(["rm", "-rf", "p.monarc", "p.data", "took"], cwd=where, check=True)
    done = subprocess.run([*arguments, "sh", f"job{job}.sh"], cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    with open(f"{where}/took") as file:
        return None if "BUILD_BPF_SKEL" in done.stderr else int(file.read()) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("monarc", nargs="?", default=os.path.join(HERE, "../../build/monarc"))
    options = parser.parse_args()
    monarc = os.path.abspath(options.monarc)
    with tempfile.TemporaryDirectory() as where:
        prepare(where)
        print("| program | " + " | ".join(name for name, _ in WAYS) + " |\n|---|" + "--:|" * len(WAYS), flush=True)
        for job, (name, *_) in enumerate(PROGRAMS):
            times = [[took(where, job, way, monarc) for _, way in WAYS] for _ in range(options.rounds)]
            bare, *others = zip(*times)
            middle = statistics.median(bare)
            cells = [f"{middle:.2f} s"] + ["not in this perf" if None in way else
                                           f"{100 * (statistics.median(way) / middle - 1):+.0f} %" for way in others]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()
