#!/usr/bin/env python3
"""many_counters.py: `monarc cover` of the counters of many runs of a program of many objects.

usage: many_counters.py [--objects N] [--runs N] [--ranks N] [--rounds N] [--folder DIR] [--monarc FILE]

Compiles N objects, runs the program once, and copies its counters, so that each count has to be that
of one run times their number, which is checked. The folder should be in memory: 1,000,000 files take
4 GB there. Prints CPU time, elapsed time and memory.

With --ranks, as many processes with one thread each share the work as ranks of a job do, and the CPU time
of the busiest stands against that of one process alone: on as many free CPUs these are elapsed times. One and
all run in turn, --rounds times, and medians are compared.
"""

import argparse
import concurrent.futures
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = 8


def source(number):
    parts = [f"static int g{k}(int x)\n{{\n    int s = 0;\n    for (int i = 0; i < x; i++)\n"
             f"        if (i % {k + 2} == 0)\n            s += i;\n        else if (s > {number + k})\n"
             "            s -= 3;\n    return s;\n}\n" for k in range(PARTS)]
    calls = " + ".join(f"g{k}(x + {k})" for k in range(PARTS))
    return "\n".join(parts) + f"\nint f{number}(int x)\n{{\n    return {calls};\n}}\n"


def build(folder, objects):
    (folder / "objects").mkdir()
    names = [f"f{i}" for i in range(objects)]
    for i, name in enumerate(names):
        (folder / f"{name}.c").write_text(source(i))
    (folder / "main.c").write_text(
        "".join(f"int {name}(int);\n" for name in names) + "int main(void)\n{\n    int s = 0;\n" +
        "".join(f"    s += {name}(5);\n" for name in names) + "    return s == 7;\n}\n")

    def compile_one(name):
        subprocess.run(["gcc", "-O0", "--coverage", "-c", f"{name}.c", "-o", f"objects/{name}.o"],
                       cwd=folder, check=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, names))
    subprocess.run(["gcc", "-O0", "-c", "main.c"], cwd=folder, check=True)
    subprocess.run(["gcc", "--coverage", "-o", "program", "main.o",
                    *[f"objects/{name}.o" for name in names]], cwd=folder, check=True)
    subprocess.run([folder / "program"], cwd=folder, check=True)


def collect(folder, runs):
    first = folder / "runs/1"
    first.mkdir(parents=True)
    for file in (folder / "objects").glob("*.gcda"):
        file.rename(first / file.name)
    for number in range(2, runs + 1):
        shutil.copytree(first, folder / f"runs/{number}")


def counts(monarc, folder, runs):
    done = subprocess.run([monarc, "cover", "--json", "-", "objects", runs], cwd=folder, check=True,
                          capture_output=True)
    return {(s["path"], line["line"]): line["count"]
            for s in json.loads(done.stdout)["sources"] for line in s["lines"]}


def as_ranks(monarc, folder, ranks):
    """The CPU time of each rank, and the bytes that they leave together."""
    left = folder / f"of-{ranks}.json"
    jobs = [subprocess.Popen([monarc, "cover", "--threads", "1", "--json", left, "objects", "runs"], cwd=folder,
                             stdout=subprocess.DEVNULL,
                             env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks)})
            for rank in range(ranks)]
    used = [os.wait4(job.pid, 0)[2] for job in jobs]
    return [u.ru_utime + u.ru_stime for u in used], left.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--monarc", default=ROOT / "build/monarc", type=os.path.abspath)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="monarc-counters-") as name:
        folder = Path(name)
        build(folder, args.objects)
        collect(folder, args.runs)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        everything = counts(args.monarc, folder, "runs")
        elapsed, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{args.objects * args.runs} files of {args.objects} objects: {cpu:.1f} s CPU, "
              f"{elapsed:.1f} s, {after.ru_maxrss / 1024:.0f} MB (the largest of all that was started)")
        if args.ranks:
            rounds = [(as_ranks(args.monarc, folder, 1), as_ranks(args.monarc, folder, args.ranks))
                      for _ in range(args.rounds)]
            alone = statistics.median(used for ((used,), _), _ in rounds)
            busiest = statistics.median(max(used) for _, (used, _) in rounds)
            same = all(one == of_all for (_, one), (_, of_all) in rounds)
            print(f"{args.ranks} ranks: {busiest:.2f} s CPU of the busiest, {alone:.2f} s of one process: "
                  f"{alone / busiest:.2f} times as fast; {'the same bytes' if same else 'OTHER BYTES'}")
        once = counts(args.monarc, folder, "runs/1")
        wrong = [key for key, count in once.items() if everything.get(key) != args.runs * count]
        print(f"{len(once)} lines, {len(wrong)} of them wrong")


if __name__ == "__main__":
    main()
