"""The command lines that the faults are tried on, and the folder in which they run.

Each is a name, arguments and the files it writes; these exist before, with old bytes. prepare() makes a
program that counts calls (-pg), the same one with coverage, their profiles, and folders of gcda files.
"""

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = """#include <stdio.h>
static int twice(int x) { return x > 2 ? x * 2 : x + x; }
static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += twice(i); return s; }
int main(int argc, char **argv) { (void)argv; return sum(1000 * argc) == 7; }
"""
OLD = b"what was there before\n"

LINES = [
    ("flat", ["flat", "prog", "gmon.out"], []),
    ("flat-csv", ["flat", "--csv", "prog", "gmon.out"], []),
    ("flat-json", ["flat", "--json", "prog", "gmon.out", "gmon.out"], []),
    ("graph", ["graph", "prog", "gmon.out"], []),
    ("lines", ["lines", "prog", "gmon.out"], []),
    ("annotate", ["annotate", "prog", "gmon.out"], []),
    ("order", ["order", "-o", "out", "prog", "gmon.out"], ["out"]),
    ("doctor", ["doctor", "prog", "gmon.out"], []),
    ("info", ["info", "gmon.out"], []),
    ("info-gcno", ["info", "cov.gcno"], []),
    ("info-gcda", ["info", "cov.gcda"], []),
    ("merge", ["merge", "-o", "out", "gmon.out", "gmon.out"], ["out"]),
    ("merge-gcda", ["merge", "-o", "out", "cov.gcda", "cov.gcda"], ["out"]),
    ("convert-bsd", ["convert", "--to", "bsd", "-o", "out", "gmon.out"], ["out"]),
    ("convert-gcda", ["convert", "--to", "gcda", "-o", "out", "cov.gcda"], ["out"]),
    ("convert-program", ["convert", "--to", "gmon", "--program", "covered", "-o", "out", "cov.gcda"], ["out"]),
    ("cover", ["cover", "--root", ".", "--missing", "cov.gcno"], []),
    ("cover-folder", ["cover", "."], []),
    ("cover-lcov", ["cover", "--lcov", "out", "cov.gcno"], ["out"]),
    ("cover-cobertura", ["cover", "--cobertura", "out", "cov.gcno"], ["out"]),
    ("cover-json", ["cover", "--json", "out", "cov.gcno"], ["out"]),
    ("cover-markdown", ["cover", "--markdown", "out", "cov.gcno"], ["out"]),
    ("cover-jacoco", ["cover", "--format", "jacoco=out", "cov.gcno"], ["out"]),
    ("cover-trace", ["cover", "cov.info"], []),
    ("gprof", ["gprof", "prog", "gmon.out"], []),
    ("gprof-lines", ["gprof", "-l", "-p", "prog", "gmon.out"], []),
    ("gprof-sum", ["gprof", "-s", "prog", "gmon.out"], ["gmon.sum"]),
    ("gprof-annotated", ["gprof", "-A", "-y", "prog", "gmon.out"], ["prog.c-ann"]),
    ("gcov", ["gcov", "-b", "cov.gcda"], ["cov.c.gcov"]),
    ("gcov-stdout", ["gcov", "-t", "cov.gcda"], []),
    ("gcov-json", ["gcov", "-j", "cov.gcda"], ["cov.gcov.json.gz"]),
    ("gcov-dump", ["gcov-dump", "-l", "cov.gcno"], []),
    ("gcov-tool-merge", ["gcov-tool", "merge", "-o", "merged", "one", "two"], ["merged/cov.gcda"]),
    ("gcov-tool-overlap", ["gcov-tool", "overlap", "one", "two"], []),
]


def run_quiet(*argv, cwd):
    return subprocess.run(argv, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL)


def prepare(folder, monarc):
    """The input files of all lines, in an empty folder."""
    cc = os.environ.get("CC", "gcc").split()
    for name in ("prog.c", "cov.c"):
        (folder / name).write_text(SOURCE)
    run_quiet(*cc, "-g", "-pg", "-no-pie", "prog.c", "-o", "prog", cwd=folder)
    run_quiet("./prog", cwd=folder)
    shutil.copy(HERE.parent / "golden/programs/demo.gmon", folder / "demo.gmon")
    run_quiet(*cc, "-g", "--coverage", "-c", "cov.c", "-o", "cov.o", cwd=folder)
    run_quiet(*cc, "--coverage", "cov.o", "-o", "covered", cwd=folder)
    run_quiet("./covered", cwd=folder)
    run_quiet(monarc, "cover", "--lcov", "cov.info", "cov.gcno", cwd=folder)
    for tree in ("one", "two", "merged"):
        (folder / tree).mkdir()
        shutil.copy(folder / "cov.gcda", folder / tree)
