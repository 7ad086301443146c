"""The command lines that the faults are tried on, and the folder in which they run.

Each is a name, arguments and the files it writes (or the pattern of one); these exist before, with
old bytes or those that prepare() gives them. QUICK names one for each way of reading or writing: the
quick part has no time for more. prepare() makes a
program that counts calls (-pg), the same one with coverage, their profiles, and folders of gcda files;
two recordings of a program that has a library and a separate debug file, as `bare` and `bare2` without
symbols, so that reports read the files; recordings with waits and of ranks, a history, a dataset,
clang's coverage; and files of other profilers.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
sys.path.append(str(CORPUS))
import make_llvm_seeds as made  # noqa: E402

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
    ("order", ["optimize", "--for", "lld", "-o", "out", "prog", "gmon.out"], ["out"]),
    ("doctor", ["doctor", "prog", "gmon.out"], []),
    ("info", ["info", "gmon.out"], []),
    ("info-gcno", ["info", "cov.gcno"], []),
    ("info-gcda", ["info", "cov.gcda"], []),
    ("merge", ["merge", "-o", "out", "gmon.out", "gmon.out"], ["out"]),
    ("merge-gcda", ["merge", "-o", "out", "cov.gcda", "cov.gcda"], ["out"]),
    ("merge-gcda-own", ["merge", "-o", "one/cov.gcda", "one/cov.gcda", "two/cov.gcda"], ["one/cov.gcda"]),
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
    ("cover-parquet", ["cover", "--format", "parquet=out", "cov.gcno"], ["out"]),
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
    # Recordings, with symbols in them and without.
    ("rec-flat", ["flat", "rec"], []),
    ("rec-flat-asked", ["flat", "--symbols", "debug", "rec"], []),
    ("rec-graph-tree", ["graph", "--tree", "rec"], []),
    ("rec-lines", ["lines", "rec"], []),
    ("rec-annotate", ["annotate", "rec"], []),
    ("rec-annotate-asm", ["annotate", "--asm", "rec"], []),
    ("rec-html", ["html", "-o", "out", "rec"], ["out"]),
    ("rec-info", ["info", "rec"], []),
    ("rec-doctor", ["doctor", "rec"], []),
    ("bare-flat", ["flat", "bare"], []),
    ("bare-flat-json", ["flat", "--json", "bare"], []),
    ("bare-flat-runs", ["flat", "bare", "bare2"], []),
    ("bare-graph", ["graph", "bare"], []),
    ("bare-graph-tree", ["graph", "--tree", "bare"], []),
    ("bare-graph-csv", ["graph", "--csv", "bare"], []),
    ("bare-callers", ["graph", "--callers", "inner", "bare"], []),
    ("bare-lines", ["lines", "bare"], []),
    ("bare-lines-json", ["lines", "--json", "bare"], []),
    ("bare-annotate", ["annotate", "bare"], []),
    ("bare-annotate-asm", ["annotate", "--asm", "bare"], []),
    ("bare-export-pprof", ["export", "--format", "pprof", "-o", "out", "bare"], ["out"]),
    ("bare-export-callgrind", ["export", "--format", "callgrind", "-o", "out", "bare"], ["out"]),
    ("bare-export-folded", ["export", "--format", "folded", "bare"], []),
    ("bare-export-speedscope", ["export", "--format", "speedscope", "-o", "out", "bare"], ["out"]),
    ("bare-flame", ["flame", "-o", "out", "bare"], ["out"]),
    ("bare-html", ["html", "-o", "out", "bare"], ["out"]),
    ("bare-order", ["optimize", "--for", "lld", "-o", "out", "bare"], ["out"]),
    ("bare-info", ["info", "bare"], []),
    ("bare-doctor", ["doctor", "bare"], []),
    ("bare-diff", ["diff", "bare", "bare2"], []),
    ("bare-diff-share", ["diff", "--by", "share", "--all", "bare", "bare2"], []),
    ("bare-diff-csv", ["diff", "--csv", "bare", "bare2"], []),
    ("bare-check", ["check", "--baseline", "bare", "bare2"], []),
    ("side-flat", ["flat", "inside"], []),
    # What others wrote.
    ("folded-flat", ["flat", "a.folded"], []),
    ("folded-diff", ["diff", "a.folded", "b.folded"], []),
    ("folded-html", ["html", "-o", "out", "a.folded"], ["out"]),
    ("pprof-flat", ["flat", "bare.pb.gz"], []),
    ("pprof-tree", ["graph", "--tree", "bare.pb.gz"], []),
    ("callgrind-flat", ["flat", "callgrind.out.x"], []),
    ("script-flat", ["flat", "perf.script"], []),
    ("script-export", ["export", "--format", "pprof", "-o", "out", "perf.script"], ["out"]),
    # Profiles and coverage in files that compare and show.
    ("diff", ["diff", "prog", "gmon.out", "gmon.out"], []),
    ("html", ["html", "-o", "out", "prog", "gmon.out"], ["out"]),
    ("html-coverage", ["html", "-o", "out", "cov.gcno"], ["out"]),
    ("html-trace", ["html", "-o", "out", "cov.info"], ["out"]),
    ("diff-coverage", ["diff", "cov.info", "cov.gcno"], []),
    ("flame", ["flame", "-o", "out", "prog", "gmon.out"], ["out"]),
    ("export-callgrind", ["export", "--format", "callgrind", "-o", "out", "prog", "gmon.out"], ["out"]),
    ("split-lines", ["lines", "split", "split.out"], []),
    # Waits, and what they lengthened.
    ("waits", ["waits", "waits"], []),
    ("waits-json", ["waits", "--json", "waits"], []),
    ("waits-files", ["waits", "--files", "waits"], []),
    ("waits-path", ["path", "--steps", "waits"], []),
    ("waits-path-bare", ["path", "bare-waits"], []),
    ("waits-path-if", ["path", "--if", "own=2x", "waits"], []),
    ("waits-path-if-bare", ["path", "--if", "own=2x", "--json", "bare-waits"], []),
    ("waits-latency", ["flat", "--latency", "waits"], []),
    ("waits-latency-bare", ["flat", "--latency", "--csv", "bare-waits"], []),
    ("waits-doctor", ["doctor", "bare-waits"], []),
    # Jobs, fleets, histories.
    ("ranks", ["ranks", "rank0", "rank1", "rank2"], []),
    ("ranks-csv", ["ranks", "--csv", "--by", "total", "rank0", "rank1", "rank2"], []),
    ("ranks-bare", ["ranks", "--rank", "1", "rank0", "rank1", "rank2"], []),
    ("dataset", ["export", "--format", "parquet", "--dataset", "set", "bare"], ["set/*/*/*/*.parquet"]),
    ("parquet", ["export", "--format", "parquet", "-o", "out", "bare"], ["out"]),
    ("symbols", ["symbols", "bare", "--from", "debug"], ["bare/monarc.side"]),
    ("store-new", ["store", "add", "--commit", "a", "--date", "1", "--file", "new.db", "bare"], ["new.db"]),
    ("store-add", ["store", "add", "--commit", "c", "--date", "3", "--file", "h.db", "bare"], ["h.db"]),
    ("store-add-coverage", ["store", "add", "--commit", "c", "--date", "3", "--file", "h.db", "cov.info"], ["h.db"]),
    ("store-trend", ["store", "trend", "--file", "h.db", "own"], []),
    ("store-trend-json", ["store", "trend", "--total", "--json", "--file", "h.db"], []),
    ("store-diff", ["store", "diff", "--file", "h.db", "a", "b"], []),
    ("store-blame", ["store", "blame", "--file", "h.db"], []),
    # Profiles for compilers.
    ("optimize-gcc", ["optimize", "--for", "gcc", "bare", "-o", "out"], ["out"]),
    ("optimize-clang", ["optimize", "--for", "clang", "--binary", "bare", "-o", "out"], ["out"]),
    ("optimize-explain", ["optimize", "--for", "clang", "--explain", "prog", "gmon.out", "-o", "out"], ["out"]),
    ("optimize-bolt", ["optimize", "--for", "bolt", "bare", "-o", "out"], ["out"]),
    ("optimize-lld", ["optimize", "--for", "lld", "bare", "-o", "out"], ["out"]),
    ("optimize-gcda", ["optimize", "--for", "gcc", "covered", "cov.gcda", "-o", "out"], ["out"]),
    ("afdo-info", ["info", "a.afdo"], []),
    ("afdo-merge", ["merge", "a.afdo", "a.afdo", "-o", "out"], ["out"]),
    # clang's and rustc's coverage.
    ("llvm-cover", ["cover", "--system", "mapped", "a.profraw"], []),
    ("llvm-cover-conditions", ["cover", "--system", "--conditions", "mapped", "a.profraw"], []),
    ("llvm-cover-lcov", ["cover", "--system", "--lcov", "out", "mapped", "a.profraw"], ["out"]),
    ("llvm-cover-folder", ["cover", "--system", "llvm"], []),
    ("llvm-cross", ["cover", "--cross", "cov.info", "cov.gcno"], []),
    ("llvm-html", ["html", "-o", "out", "mapped", "a.profraw"], ["out"]),
    ("llvm-info", ["info", "a.profraw"], []),
    ("llvm-merge", ["merge", "a.profraw", "a.profraw", "-o", "out"], ["out"]),
    ("llvm-convert", ["convert", "--to", "proftext", "-o", "out", "a.profraw"], ["out"]),
    ("perf-flat", ["flat", "perf.data"], []),
    ("perf-info", ["info", "perf.data"], []),
]
QUICK = ["graph", "merge-gcda-own", "rec-html"]

LIBRARY = """static __attribute__((noinline)) long inner(long n) { volatile long s = 0; while (n--) s += n; return s; }
long of_library(long n) { return inner(n) & 1; }
"""
WITH_WAITS = """#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) long own(long n) { volatile long s = 0; while (n--) s += n; return s; }
static void *hold(void *unused)
{
    pthread_mutex_lock(&table);
    own(20000000);
    usleep(60000);
    pthread_mutex_unlock(&table);
    return unused;
}
int main(void)
{
    int ends[2];
    char c;
    pthread_t thread;
    if (pipe(ends)) return 1;
    if (!fork()) { own(20000000); usleep(150000); return write(ends[1], "x", 1) != 1; }
    pthread_create(&thread, NULL, hold, NULL);
    usleep(10000);
    pthread_mutex_lock(&table);
    pthread_mutex_unlock(&table);
    return read(ends[0], &c, 1) != 1 || pthread_join(thread, NULL);
}
"""
WITH_LIBRARY = """long of_library(long n);
static __attribute__((noinline)) long own(long n) { volatile long s = 0; while (n--) s += n; return s; }
int main(void) { return (int)(own(30000000) + of_library(30000000)) == 7; }
"""
SCRIPT = """prog 10/10 1.000000: 1000000 cpu-clock:
\t        1139 f+0x9 (/nowhere/prog)
\t        1150 main+0x10 (/nowhere/prog)

prog 10/10 1.001000: 1000000 cpu-clock:
\t        1150 main+0x10 (/nowhere/prog)

"""


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
    prepare_recordings(folder, monarc, cc)


def prepare_recordings(folder, monarc, cc):
    """rec, bare, bare2, inside, and files of other profilers."""
    (folder / "lib.c").write_text(LIBRARY)
    (folder / "own.c").write_text(WITH_LIBRARY)
    run_quiet(*cc, "-g", "-O1", "-fPIC", "-shared", "lib.c", "-o", "lib.so", cwd=folder)
    run_quiet(*cc, "-g", "-O1", "own.c", "./lib.so", "-o", "own", cwd=folder)
    (folder / "debug").mkdir()
    shutil.copy(folder / "own", folder / "debug/own.debug")
    run_quiet("strip", "-g", "--strip-unneeded", "own", cwd=folder)
    run_quiet("objcopy", "--add-gnu-debuglink=debug/own.debug", "own", cwd=folder)
    (folder / ".debug").mkdir()
    shutil.copy(folder / "debug/own.debug", folder / ".debug/own.debug")
    for name, option in ("rec", []), ("bare", ["--no-symbols"]), ("bare2", ["--no-symbols"]):
        run_quiet(monarc, "run", "--no-report", *option, "-o", name, "./own", cwd=folder)
    subprocess.run(["./prog"], cwd=folder, check=True,
                   env={**os.environ, "LD_PRELOAD": os.environ["MONARC_RT_SO"], "MONARC_OUT": "inside"})
    (folder / "a.folded").write_text("main;f;g 10\nmain;f 20\nmain;h 5\n")
    (folder / "b.folded").write_text("main;f;g 30\nmain;f 20\nmain;h 5\n")
    run_quiet(monarc, "export", "--format", "pprof", "-o", "bare.pb.gz", "bare", cwd=folder)
    run_quiet(monarc, "export", "--format", "callgrind", "-o", "callgrind.out.x", "bare", cwd=folder)
    (folder / "perf.script").write_text(SCRIPT)
    prepare_others(folder, monarc, cc)
    run_quiet(*cc, "-g", "-gsplit-dwarf", "-pg", "-no-pie", "prog.c", "-o", "split", cwd=folder)
    (folder / "gmon.out").rename(folder / "gmon.kept")
    run_quiet("./split", cwd=folder)
    (folder / "gmon.out").rename(folder / "split.out")
    (folder / "gmon.kept").rename(folder / "gmon.out")


def prepare_others(folder, monarc, cc):
    """waits, bare-waits, rank0 to rank2, h.db, set, a.afdo, and a program with its profile as clang
    makes them."""
    (folder / "waits.c").write_text(WITH_WAITS)
    run_quiet(*cc, "-g", "-O1", "waits.c", "-o", "waiting", "-pthread", cwd=folder)
    for name, option in ("waits", []), ("bare-waits", ["--no-symbols"]):
        run_quiet(monarc, "run", "--no-report", "--off-cpu", *option, "-o", name, "./waiting", cwd=folder)
    for rank in range(3):
        subprocess.run([monarc, "run", "--no-report", "--no-symbols", "-o", f"rank{rank}", "./own"], cwd=folder,
                       check=True, capture_output=True,
                       env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "3"})
    for number, commit, recording in (1, "a", "bare"), (2, "b", "bare2"):
        run_quiet(monarc, "store", "add", "--commit", commit, "--date", str(number), "--file", "h.db",
                  recording, cwd=folder)
    run_quiet(monarc, "export", "--format", "parquet", "--dataset", "set", "bare", cwd=folder)
    for written in folder.glob("set/*/*/*/*.parquet"):
        written.write_bytes(OLD)
    run_quiet(monarc, "optimize", "--for", "gcc", "bare", "-o", "a.afdo", cwd=folder)
    shutil.copy(CORPUS / "perf_data/little", folder / "perf.data")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    run_quiet(*cc, "empty.c", "-o", "empty", cwd=folder)
    units, functions, names = made.mapping(*made.sample(7), 7)
    for section, content in ("covmap", units), ("covfun", functions), ("prf_names", names):
        (folder / section).write_bytes(content)
    run_quiet("objcopy", *[f"--add-section=__llvm_{section}={section}" for section in
                           ("covmap", "covfun", "prf_names")], "empty", "mapped", cwd=folder)
    (folder / "a.profraw").write_bytes(made.raw(made.COUNTS, 10))
    (folder / "llvm").mkdir()
    for name in "mapped", "a.profraw":
        shutil.copy(folder / name, folder / "llvm")
