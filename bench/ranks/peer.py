#!/usr/bin/env python3
"""peer.py: overhead on an MPI job, and the time of a report, beside EZTrace, which Debian has (eztrace, otf2-tools).

usage: peer.py --build BUILD [--steps N] [--runs N] [--ranks N]

mpiP, Score-P, TAU and Extrae are not packaged. EZTrace writes an event for each call of MPI; its package has no
summary, so the time to read the trace is that of otf2-print. The job works as much each time, and calls MPI
twice a step. All variants run in turn under Open MPI; CPU time, of the job with whatever records it, is what to
compare where other programs run.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

SOURCE = r"""
#include <mpi.h>
#include <stdlib.h>
static double work(double x, int n) { for (int i = 0; i < n; i++) x = x * 1.0000001 + 1e-9; return x; }
int main(int argc, char **argv)
{
    int rank, ranks, steps = atoi(argv[1]);
    double mine, left, sum = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < steps; i++) {
        mine = work(sum, 5000);
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &left, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&left, &sum, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum == 77;
}
"""


def used(command, folder):
    """CPU and wall seconds of a command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    a = parser.parse_args()
    monarc = a.build.resolve() / "monarc"
    folder = Path(tempfile.mkdtemp(prefix="monarc-peer-"))
    try:
        (folder / "job.c").write_text(SOURCE)
        subprocess.run(["mpicc.openmpi", "-O1", "-g", "job.c", "-o", "job"], cwd=folder, check=True)
        variants = {"alone": [], "monarc run, each rank": [monarc, "run", "-o", "out/%r"],
                    "eztrace -t openmpi": ["eztrace", "-t", "openmpi", "-o", folder / "trace"]}
        if not shutil.which("eztrace"):
            del variants["eztrace -t openmpi"]
        found = {name: [] for name in variants}
        for _ in range(a.runs):
            for name, prefix in variants.items():
                for old in "out", "trace":
                    shutil.rmtree(folder / old, ignore_errors=True) if prefix else None
                found[name].append(used(["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n", str(a.ranks), *prefix,
                                         "./job", str(a.steps)], folder))
                if name.startswith("monarc"):
                    found.setdefault("  its report, monarc ranks", []).append(
                        used([monarc, "ranks", *(f"out/{r}" for r in range(a.ranks))], folder))
                    kept = sum(p.stat().st_size for p in (folder / "out").rglob("*") if p.is_file())
                    print(f"monarc left {kept / 1e6:.2f} MB")
                if name.startswith("eztrace"):
                    log = next((folder / "trace").rglob("*.otf2"))
                    kept = sum(p.stat().st_size for p in (folder / "trace").rglob("*") if p.is_file())
                    print(f"eztrace left {kept / 1e6:.2f} MB")
                    if shutil.which("otf2-print"):
                        found.setdefault("  its events, otf2-print", []).append(used(["otf2-print", log], folder))
        bare = statistics.median(cpu for cpu, _ in found["alone"])
        print(f"{a.ranks} ranks, {a.steps} steps, {2 * a.steps} calls of MPI a rank, {a.runs} runs; medians")
        for name, rows in found.items():
            cpu, wall = (statistics.median(r[i] for r in rows) for i in (0, 1))
            more = "" if name.startswith("  ") or name == "alone" else f"{100 * (cpu / bare - 1):+6.1f} %"
            print(f"{name:28} {cpu:7.2f} s CPU {more:9} {wall:7.2f} s wall")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
