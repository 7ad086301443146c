#!/usr/bin/env python3
"""corners.py LIBRARY [REPETITIONS [OLDER_LIBRARY]]: the corners of the call recorder beside the bare
program: CPU time (user and system, children too), largest resident memory, what is left on disk.

Rows: bare is built without -pg and runs alone; glibc is -pg alone; each library is preloaded into the -pg
build, calls only: under a monitor's control file if it knows that, else with MONARC_RATE=0. Runs are
interleaved; medians; the older library runs once."""
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(HERE, "..", "..", "tests", "runtime", "profile", "programs", "plugin.c")
MODES = ("resets", "libraries", "threads", "recursion")
CAPACITY, RECORD, HEADER = 2048, 512, 4096


def build(folder, flags, name):
    program = os.path.join(folder, name)
    subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", *flags,
                    os.path.join(HERE, "corners.c"), "-o", program, "-pthread", "-ldl"], check=True)
    libraries = []
    for plugin in "first", "second":
        libraries.append("%s-%s.so" % (program, plugin))
        subprocess.run(["gcc", "-O2", *flags, "-fPIC", "-shared", "-DNAME=" + plugin, PLUGIN, "-o",
                        libraries[-1]], check=True)
    return program, libraries


def control(path):
    with open(path, "wb") as f:
        f.write(struct.pack("<IIII", 0x4C43524D, 1, CAPACITY, RECORD))
        f.truncate(HEADER + CAPACITY * RECORD)


def environment(library, work):
    env = dict(os.environ, LC_ALL="C")
    if library:
        control(work + "/control")
        os.mkdir(work + "/out")
        env.update(LD_PRELOAD=library, MONARC_OUT=work + "/out", MONARC_RATE="0",
                   MONARC_CONTROL=work + "/control")
    return env


def disk(folder):
    return sum(os.stat(os.path.join(where, name)).st_blocks * 512
               for where, _, names in os.walk(folder) for name in names)


def measure(program, libraries, mode, library):
    """(CPU seconds, resident kB, kB on disk)"""
    work = tempfile.mkdtemp(prefix="monarc-corners-")
    try:
        command = [program, mode, *(libraries if mode == "libraries" else [])]
        env = environment(library, work)
        process = subprocess.Popen(command, cwd=work, env=env, stdout=subprocess.PIPE,
                                   text=True)
        resident = int(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if status:
            sys.exit("%s: status %d" % (command, status))
        return usage.ru_utime + usage.ru_stime, resident, disk(work + "/out") // 1024
    finally:
        shutil.rmtree(work)


def main():
    library = os.path.abspath(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="monarc-corners-build-") as folder:
        bare, counted = build(folder, [], "bare"), build(folder, ["-pg"], "counted")
        rows = {"bare": (bare, None), "glibc -pg": (counted, None), "monarc": (counted, library)}
        if len(sys.argv) > 3:
            rows["monarc before"] = (counted, os.path.abspath(sys.argv[3]))
        for mode in MODES:
            runs = {name: [] for name in rows}
            for _ in range(repetitions):
                for name, ((program, libraries), preload) in rows.items():
                    if runs[name] and name == "monarc before":
                        continue  # it takes minutes
                    runs[name].append(measure(program, libraries, mode, preload))
            base = statistics.median(r[0] for r in runs["bare"])
            for name in rows:
                cpu, resident, kept = (statistics.median(r[i] for r in runs[name]) for i in range(3))
                print("| %s | %s | %.3f | %.2f | %d | %d |" % (mode, name, cpu, cpu / base, resident,
                                                               kept), flush=True)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
main()
