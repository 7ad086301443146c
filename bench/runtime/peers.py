"""What others add to a call: -finstrument-functions, gcov's counters, uftrace; beside glibc and monarc.

    python3 bench/runtime/peers.py BUILD/runtime/profile/libmonarc_rt.so.1 [REPETITIONS]

Interleaved runs of calls.c, medians, nanoseconds added to one call over the uninstrumented program.
uftrace's recorder process is not in its figure; neither does it count, it traces."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from run import HERE, once

KINDS = [("fib", 1), ("fib", 2), ("direct", 1), ("indirect", 1)]
HOOKS = """
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *c) {}
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *c) {}
"""


def main():
    runtime = os.path.abspath(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/hooks.c", "w", encoding="utf-8") as f:
            f.write(HOOKS)

        def build(name, *flags):
            subprocess.run(["gcc", "-O2", "-pthread", "-w", "-fno-optimize-sibling-calls",
                            "-fno-ipa-ra", HERE + "/calls.c", "-o", folder + "/" + name, *flags],
                           check=True, cwd=folder)
            return [folder + "/" + name]

        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", folder + "/hooks.c", "-o",
                        folder + "/libhooks.so"], check=True)
        pg, inst = build("pg", "-pg"), build("inst", "-finstrument-functions", folder +
                                             "/libhooks.so", "-Wl,-rpath," + folder)
        monarc = {"LD_PRELOAD": runtime, "MONARC_RATE": "0", "MONARC_OUT": folder + "/m"}
        variants = {
            "plain": (build("plain"), {}, 20),
            "glibc -pg": (pg, {}, 2),
            "monarc -pg": (pg, monarc, 20),
            "-finstrument-functions, empty": (inst, {}, 20),
            "-finstrument-functions, monarc": (inst, monarc, 20),
            "--coverage": (build("cov", "--coverage", "-fprofile-update=single"), {}, 20),
            "--coverage, atomic": (build("atomic", "--coverage", "-fprofile-update=atomic"), {}, 20),
        }
        if shutil.which("uftrace"):
            variants["uftrace record"] = (["uftrace", "record", "--no-event", "-d", folder + "/u",
                                           *pg], {}, 1)
        print("%-32s" % "added, ns" + "".join("%14s" % ("%s, %d" % k) for k in KINDS))
        table = {name: [] for name in variants}
        for kind, threads in KINDS:
            times = {name: [] for name in variants}
            for _ in range(repetitions):
                for name, (command, env, millions) in variants.items():
                    ns, _ = once(folder, command, kind, threads, max(2, millions), **env)
                    times[name].append(ns)
                    for left in "m", "u":
                        shutil.rmtree(folder + "/" + left, ignore_errors=True)
            for name, t in times.items():
                table[name].append(statistics.median(t))
        for name, row in table.items():
            base = [0] * len(row) if name == "plain" else table["plain"]
            print("%-32s" % name + "".join("%14.2f" % (a - b) for a, b in zip(row, base)))


if __name__ == "__main__":
    main()
