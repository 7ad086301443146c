#!/usr/bin/env python3
"""Cost of writing counter files at exit: libmonarc_cover against libgcov.

    python3 bench/cover/run.py BUILD/runtime/coverage [--objects N] [--processes N] [--runs N]

Makes a program of N covered objects of 20 functions each that does nothing, links it without coverage,
with libgcov and with both kinds of libmonarc_cover, and measures: one process after the other, the files
being there already (CPU and wall time a process, medians), and a number of processes at once on the same
files (wall time for all of them). The floor is a program that reads each file and writes its bytes to
another that it renames, without a lock and without looking at them."""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

UNIT = """
static volatile int sink;
%s
int unit_%d(int n) { int t = 0; %s return t; }
"""
FUNCTION = """static int f%d(int n) {
    for (int i = 0; i < n; i++) { if (i %% 3) sink += i; else if (i & 4) sink -= n; else sink ^= i; }
    return n > 2 ? sink : n;
}
"""
FLOOR = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int n, char **files) {
    static char bytes[1 << 20], beside[4096];
    for (int i = 1; i < n; i++) {
        int fd = open(files[i], O_RDONLY);
        ssize_t size = read(fd, bytes, sizeof bytes);
        close(fd);
        snprintf(beside, sizeof beside, "%s.copy", files[i]);
        fd = open(beside, O_WRONLY | O_CREAT, 0666);
        if (write(fd, bytes, (size_t)size) != size) return 1;
        close(fd);
        rename(beside, files[i]);
    }
    return 0;
}
"""


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def compile_all(folder, objects):
    functions = "".join(FUNCTION % i for i in range(20))
    calls = " ".join("t += f%d(n);" % i for i in range(20))
    names = []
    for i in range(objects):
        write("%s/u%d.c" % (folder, i), UNIT % (functions, i, calls))
        names.append("u%d" % i)
    write(folder + "/main.c", "".join("int unit_%d(int);\n" % i for i in range(objects)) +
          "int main(int n, char **v) { (void)v; int t = 0; %s return t == 12345; }\n"
          % " ".join("t += unit_%d(n);" % i for i in range(objects)))
    write(folder + "/floor.c", FLOOR)
    names.append("main")
    for flags, suffix in (["--coverage"], ".o"), ([], ".plain.o"):
        for n in names:
            subprocess.run(["gcc", "-O1", *flags, "-c", n + ".c", "-o", n + suffix], cwd=folder,
                           check=True)
    subprocess.run(["gcc", "-O2", "floor.c", "-o", "floor"], cwd=folder, check=True)
    return names


def one(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def together(command, folder, n, at_once=32):
    start, running = time.perf_counter(), []
    for _ in range(n):
        if len(running) == at_once:
            running.pop(0).wait()
        running.append(subprocess.Popen(command, cwd=folder))
    for p in running:
        p.wait()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--objects", type=int, default=152)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--runs", type=int, default=15)
    a = parser.parse_args()
    so, archive = (os.path.join(os.path.abspath(a.build), "libmonarc_cover" + e) for e in (".so.1", ".a"))
    with tempfile.TemporaryDirectory() as folder:
        names = compile_all(folder, a.objects)
        links = {"no coverage": (".plain.o", []), "libgcov": (".o", ["-lgcov"]),
                 "libmonarc_cover.a": (".o", [archive]),
                 "libmonarc_cover.so": (".o", [so, "-Wl,-rpath," + os.path.dirname(so)])}
        for name, (suffix, flags) in links.items():
            subprocess.run(["gcc", *[n + suffix for n in names], "-o", name, *flags], cwd=folder,
                           check=True)
        # Each its own files: who unlinks a file that another has just written waits for the disk.
        commands = {name: ["env", "GCOV_PREFIX=" + folder + "/for-" + name, "./" + name]
                    for name in links}
        commands["libmonarc_cover.so, in place"] = [
            "env", "MONARC_COVER_IN_PLACE=1", "GCOV_PREFIX=" + folder + "/for-place",
            "./libmonarc_cover.so"]
        subprocess.run(["./libgcov"], cwd=folder, check=True)
        files = [n + ".gcda" for n in names]
        commands["floor"] = ["env", "./floor", *files]
        for command in commands.values():
            subprocess.run(command, cwd=folder, check=True)
        print("%d objects, %d bytes of counters" % (len(names), sum(
            os.path.getsize(os.path.join(folder, f)) for f in files)))
        times = {name: [] for name in commands}
        for _ in range(a.runs):
            for name, command in commands.items():
                times[name].append(one(command, folder))
        print("\n| | wall, ms | CPU, ms | %d processes, 32 at a time, s |\n|---|---|---|---|"
              % a.processes)
        for name, command in commands.items():
            wall, cpu = (1000 * statistics.median(t[k] for t in times[name]) for k in (0, 1))
            many = "–"
            if name != "floor":
                many = "%.2f" % together(command, folder, a.processes)
            print("| %s | %.1f | %.1f | %s |" % (name, wall, cpu, many))


if __name__ == "__main__":
    main()
