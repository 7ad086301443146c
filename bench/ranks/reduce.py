#!/usr/bin/env python3
"""reduce.py: what libmonarc_mpi costs in MPI_Finalize: time, and memory of a rank.

usage: reduce.py --build BUILD [--library openmpi|mpich] [--ranks N] [--functions N]

The job is one of N functions (default 100,000), each called from a place of its own, with names of 30
letters; it is written in assembly (x86-64), since a compiler takes minutes for it. It runs with 1, 2, 4 ...
ranks, and each rank says how long it was in MPI_Finalize, what CPU time that took, and how much memory the
process had at most before and behind it. The sum must be what `monarc merge` makes of the ranks' folders, to
the byte.

Ranks that have no CPU of their own wait for each other's work, so a rank's CPU time is what to look at: rank
0 receives and merges once for each doubling. From that the time of --computed ranks (default 1,000) is
computed, on as many CPUs.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
extern void call_all(void);
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
    int rank;
    struct rusage before, after;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3 + rank; i++)
        call_all();
    MPI_Barrier(MPI_COMM_WORLD);
    getrusage(RUSAGE_SELF, &before);
    double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    MPI_Finalize();
    wall = now(CLOCK_MONOTONIC) - wall, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    getrusage(RUSAGE_SELF, &after);
    printf("rank %d wall %.3f cpu %.3f before %ld after %ld\n", rank, wall, cpu, before.ru_maxrss, after.ru_maxrss);
    return 0;
}
"""
BODY = "push %rbp\nmov %rsp,%rbp\ncall *mcount@GOTPCREL(%rip)\n"


def build(a, folder):
    def function(name, body):
        return f".globl {name}\n.type {name},@function\n{name}:\n{BODY}{body}pop %rbp\nret\n.size {name},.-{name}\n"
    names = [f"function_of_the_job_number_{i}" for i in range(a.functions)]
    (folder / "all.s").write_text(".text\n" + "".join(function(n, "") for n in names) +
                                  function("call_all", "".join(f"call {n}\n" for n in names)) +
                                  '.section .note.GNU-stack,"",@progbits\n')
    (folder / "job.c").write_text(SOURCE)
    subprocess.run([f"mpicc.{a.library}", "-O1", "-g", "-pg", "-no-pie", "job.c", "all.s", "-o", "job"], cwd=folder, check=True)


def run(a, folder, ranks, keeps):
    out = folder / f"out-{ranks}"
    library = next((a.build / "runtime/mpi").glob(f"libmonarc_mpi_{a.library}.so.1.0.0"))
    flags = ["--oversubscribe", "--allow-run-as-root"] if a.library == "openmpi" else []
    variables = [f"MONARC_OUT={out}", f"MONARC_MPI={'keep' if keeps else ''}",
                 f"LD_PRELOAD={a.build / 'runtime/profile/libmonarc_rt.so.1.0.0'}:{library}"]
    done = subprocess.run([f"mpirun.{a.library}", *flags, "-n", str(ranks), "env", *variables, folder / "job"],
                          capture_output=True, text=True, check=True)
    rows = [[float(x) for x in m] for m in re.findall(
        r"rank (\d+) wall ([\d.]+) cpu ([\d.]+) before (\d+) after (\d+)", done.stdout)]
    if len(rows) != ranks or not (out / "monarc.side").exists():
        sys.exit(f"{ranks} ranks: {done.stdout}{done.stderr}")
    return out, sorted(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--library", default="mpich")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--functions", type=int, default=100000)
    parser.add_argument("--computed", type=int, default=1000)
    a = parser.parse_args()
    a.build = a.build.resolve()
    folder = Path(tempfile.mkdtemp(prefix="monarc-reduce-"))
    try:
        build(a, folder)
        print(f"{a.functions} functions under {a.library}, {os.cpu_count()} CPUs")
        print("ranks   wall s  rank 0's CPU s  others', most   MB before  MB at most")
        cpu, sizes = {}, [2 ** i for i in range(int(math.log2(a.ranks)) + 1)]
        for ranks in sizes:
            out, rows = run(a, folder, ranks, ranks == sizes[-1])
            cpu[ranks] = rows[0][2]
            print(f"{ranks:5} {max(r[1] for r in rows):8.2f} {rows[0][2]:15.2f} {max(r[2] for r in rows):14.2f} "
                  f"{max(r[3] for r in rows) / 1024:11.0f} {max(r[4] for r in rows) / 1024:11.0f}")
        own = sum(f.stat().st_size for f in (out / "rank.0").iterdir())
        merged = folder / "merged"
        subprocess.run([a.build / "monarc", "merge", "-o", merged, *(out / f"rank.{r}" for r in range(sizes[-1]))], check=True)
        same = (merged / "monarc.side").read_bytes() == (out / "monarc.side").read_bytes()
        print(f"a rank's files {own / 1e6:.1f} MB, the sum {(out / 'monarc.side').stat().st_size / 1e6:.1f} MB, "
              f"{'the bytes of a merge of the folders' if same else 'NOT WHAT A MERGE MAKES'}")
        levels, wanted = math.log2(sizes[-1]), math.ceil(math.log2(a.computed))
        a_level = (cpu[sizes[-1]] - cpu[1]) / levels
        print(f"computed: {a.computed} ranks are {wanted} levels of {a_level:.2f} s: {cpu[1] + wanted * a_level:.1f} s")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
