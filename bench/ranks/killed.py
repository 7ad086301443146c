#!/usr/bin/env python3
"""killed.py: jobs whose ranks are killed or delayed, under libmonarc_mpi: is anything lost, or there
twice?

usage: killed.py --build BUILD [--library openmpi|mpich] [--runs N] [--ranks N] [--seconds N]

Each run is a job of tests/runtime/mpi/job.c, whose ranks make a known number of calls. In turn nothing
happens to it, one rank kills itself between its calls and MPI_Finalize, one rank is stopped for a
while, all of it is killed at a random moment around MPI_Finalize, or all of it with the folders of
ranks kept beside the sum. Then `monarc recover` and `monarc flat` count the calls. All of them must be
there if all ranks had made theirs (a file of each rank says so); never more than were made. The moments
are drawn from a seed, which is printed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["whole", "dies", "delayed", "killed", "killed, folders kept"]


def expected(ranks):
    return {"even": sum(1000 + r for r in range(0, ranks, 2)), "odd": sum(1000 + r for r in range(1, ranks, 2)),
            "third": sum(10 * r for r in range(0, ranks, 3))}


def start(a, program, folder, kind):
    flags = ["--oversubscribe", "--allow-run-as-root"] if a.library == "openmpi" else []
    library = next((a.build / "runtime/mpi").glob(f"libmonarc_mpi_{a.library}.so.1.0.0"))
    variables = {"MONARC_OUT": folder / "out",
                 "LD_PRELOAD": f"{a.build / 'runtime/profile/libmonarc_rt.so.1.0.0'}:{library}"}
    if kind.endswith("kept"):
        variables["MONARC_MPI"] = "keep"
    dying = [str(a.ranks // 2)] if kind == "dies" else []
    return subprocess.Popen([f"mpirun.{a.library}", *flags, "-n", str(a.ranks), "env",
                             *(f"{k}={v}" for k, v in variables.items()), program, *dying],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def ranks_of(folder):
    """Processes of the job: those that run the program with this folder in their environment."""
    found, mark = [], f"MONARC_OUT={folder / 'out'}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "job\n" and \
                    mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except (OSError, ProcessLookupError):
            pass
    return found


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def disturb(job, folder, kind, draw):
    """Around the end of the calls, which take about a tenth of a second or more."""
    deadline = time.monotonic() + 30
    if kind in ("whole", "dies"):
        return
    while not ranks_of(folder) and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(draw.uniform(0, 1))
    pids = ranks_of(folder)
    if kind == "delayed" and pids:
        one = [draw.choice(pids)]
        signal_all(one, signal.SIGSTOP)
        time.sleep(draw.uniform(0.1, 0.6))
        signal_all(one, signal.SIGCONT)
    elif kind != "delayed":
        signal_all(pids, signal.SIGKILL)


def calls(a, folder):
    """Of what is there: (calls, whether a sum was written), after recovering the rest."""
    out = folder / "out"
    has_sum = (out / "monarc.side").exists()
    if not out.exists() or not list(out.iterdir()):
        return {}, False
    monarc = a.build / "monarc"
    subprocess.run([monarc, "recover", out], check=False, capture_output=True)
    done = subprocess.run([monarc, "flat", "--json", "--limit", "0", out], capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip()}, has_sum
    rows = json.loads(done.stdout)["functions"]
    return {r["name"]: r["calls"] for r in rows if r["name"] in ("even", "odd", "third")}, has_sum


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--library", default="mpich")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=3600, help="begin no run after that time")
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))
    a = parser.parse_args()
    a.build = a.build.resolve()
    draw = random.Random(a.seed)
    built = Path(tempfile.mkdtemp(prefix="monarc-killed-"))
    subprocess.run([f"mpicc.{a.library}", "-g", "-O1", "-pg", ROOT / "tests/runtime/mpi/job.c", "-o", built / "job"],
                   check=True)
    wanted, tally, bad = expected(a.ranks), {}, 0
    end = time.monotonic() + a.seconds
    for run in range(a.runs):
        if time.monotonic() > end:
            break
        kind = KINDS[run % len(KINDS)]
        folder = built / "run"
        folder.mkdir()
        job = start(a, built / "job", folder, kind)
        disturb(job, folder, kind, draw)
        try:
            job.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        signal_all(ranks_of(folder), signal.SIGKILL)
        found, has_sum = calls(a, folder)
        # A job that was killed early has not made all its calls.
        must_be_whole = has_sum or kind in ("whole", "dies", "delayed")
        is_right = "error" not in found and all(found.get(f, 0) <= n for f, n in wanted.items()) and \
            (not must_be_whole or found == wanted)
        what = "all calls" if found == wanted else "part of them, as it was killed" if is_right else "WRONG"
        tally[kind, what, "one file" if has_sum else "folders"] = tally.get(
            (kind, what, "one file" if has_sum else "folders"), 0) + 1
        if not is_right:
            bad += 1
            print(f"run {run}, {kind}: {found}, expected {wanted}", file=sys.stderr)
        shutil.rmtree(folder)
    shutil.rmtree(built)
    print(f"{sum(tally.values())} runs of {a.ranks} ranks under {a.library}, seed {a.seed}: {bad} wrong")
    for (kind, what, left), n in sorted(tally.items()):
        print(f"{n:6}  {kind:22} {left:9} {what}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
