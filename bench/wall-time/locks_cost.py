#!/usr/bin/env python3
"""locks_cost.py: what --off-cpu costs the recorder, and how much of it is for looking at holders of locks.

So many threads wait for some seconds, for a mutex, whose holder is looked at again and again, and for a semaphore,
which nobody holds: their waits are as many and as long, and each is looked at once. Runs take turns; medians of the
recorder's CPU time, in percent of a CPU. Prints a table of docs/waits.md.

    bench/wall-time/locks_cost.py [--rounds N] [--seconds S] [build/monarc]
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = (2, 30, 300)
WAYS = (("crowd", ["--off-cpu"]), ("herd", ["--off-cpu"]), ("crowd", []))


def share(monarc, folder, program, how, threads, options):
    """Of a CPU, from the program's start to its end."""
    subprocess.run([monarc, "run", "--no-report", "-o", folder, *options.arguments, "--", program, how, str(threads),
                    str(options.seconds)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = subprocess.run([monarc, "flat", "--json", "--limit", "1", folder], check=True, stdout=subprocess.PIPE)
    facts = json.loads(done.stdout)["summary"]["recording"]
    return 100 * facts["recorder_time"] / (facts["length_ns"] / 1e9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("monarc", nargs="?", default=os.path.join(HERE, "../../build/monarc"))
    options = parser.parse_args()
    monarc = os.path.abspath(options.monarc)
    with tempfile.TemporaryDirectory() as where:
        program, folder = os.path.join(where, "locks"), os.path.join(where, "r")
        subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", program,
                        os.path.join(HERE, "../../tests/record/programs/locks.c")], check=True)
        print("| threads | with a holder | without one | difference | without `--off-cpu` |\n|---|---|---|---|---|")
        for threads in THREADS:
            found = [[] for _ in WAYS]
            for _ in range(options.rounds):
                for i, (how, options.arguments) in enumerate(WAYS):
                    found[i].append(share(monarc, folder, program, how, threads, options))
            held, unheld, bare = (statistics.median(one) for one in found)
            print(f"| {threads} | {held:.1f} % | {unheld:.1f} % | {held - unheld:+.1f} points | {bare:.1f} % |", flush=True)


main()
