"""monarc optimize with branch records: perf.data made of a run whose every instruction is known, as
few machines of tests have a CPU that notes branches. A program is stepped through; its jumps are the
records, and how often each instruction ran is the truth that counts are compared with."""

import importlib.util
import platform
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import NM, ROOT, check_schema, main, monarc, monarc_json
from parts import load_tests, slow
from test_optimize import CALLED, ROUND, SOURCE as COMMON, instructions, read_text

BOLT = shutil.which("llvm-bolt-22") or shutil.which("llvm-bolt")
MERGE = shutil.which("merge-fdata-22") or shutil.which("merge-fdata")
PERF2BOLT = shutil.which("perf2bolt-22") or shutil.which("perf2bolt")

_spec = importlib.util.spec_from_file_location("seeds", ROOT / "tests/corpus/make_perf_data_seeds.py")
seeds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(seeds)

# No libc: few instructions to step through, all of them ours. `rarely` and `often` are reached by
# pointer, and `down` calls itself.
SOURCE = "\n" + CALLED + """__attribute__((noinline)) static long down(long n)
{
    return n ? (down(n - 1) ^ n) / 3 + 1 : 0;
}
__attribute__((noinline)) long work(int n)
{
    long s = 0;
    for (int i = 0; i < n; i++) {
""" + ROUND + """        if (i % 100 == 0)
            s += down(5);
    }
    return s;
}
__attribute__((noinline)) void _start(void)
{
    long s = work(2000);
    __asm__ volatile("syscall" ::"a"(60), "D"(s & 1) : "memory");
    __builtin_unreachable();
}
"""

STEPPER = """#include <stdio.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argc;
    struct user_regs_struct r;
    int status;
    pid_t pid = fork();
    if (!pid) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (ptrace(PTRACE_GETREGS, pid, 0, &r))
            return 1;
        uint64_t pc = r.rip;
        fwrite(&pc, sizeof pc, 1, stdout);
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0))
            return 1;
    }
    return 0;
}
"""


@unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("gcc") and shutil.which("objdump"),
                     "needs x86-64, gcc and objdump")
class Branches(unittest.TestCase):
    WINDOW = 1000  # branches before each sample; real CPUs have 16 or 32
    BUILD = "gcc -O2 -no-pie -nostdlib -static -fno-stack-protector -Wl,-q t.c".split()

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc-branches-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "t.c").write_text(SOURCE)
        (cls.folder / "stepper.c").write_text(STEPPER)
        cls.call("gcc", "-O1", "-o", "stepper", "stepper.c")
        cls.call(*cls.BUILD, "-g", "-o", "t")
        done = subprocess.run(["./stepper", "./t"], cwd=cls.folder, capture_output=True, check=False)
        if done.returncode or len(done.stdout) < 8 * 1000:
            raise unittest.SkipTest("programs cannot be stepped through here")
        cls.steps = struct.unpack(f"<{len(done.stdout) // 8}Q", done.stdout)
        code = re.findall(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", cls.call("objdump", "-d", "-w", "t"), re.M)
        length = {int(at, 16): len(some.split()) for at, some in code}
        cls.runs = {at: 0 for at in length}
        for pc in cls.steps:
            cls.runs[pc] += 1
        cls.branches = [(a, b) for a, b in zip(cls.steps, cls.steps[1:]) if b != a + length[a]]
        cls.write("t.data")

    @classmethod
    def call(cls, *words):
        return subprocess.run(list(map(str, words)), cwd=cls.folder, check=True, capture_output=True,
                              text=True).stdout

    @classmethod
    def write(cls, name, window=WINDOW, samples=None):
        """perf.data: the branches, cut into samples, each with the last one of the sample before, so
        that all code between two branches is in one of them."""
        f = seeds.File("<", seeds.IP | seeds.TID | seeds.TIME | seeds.PERIOD | seeds.BRANCHES)
        [(start, offset)] = [(int(w[2], 16), int(w[1], 16)) for w in (
            line.split() for line in cls.call("readelf", "-lW", "t").splitlines()
            if re.match(r" +LOAD .* R E ", line))]
        records = f.name(7, b"t", 100)
        records += f.mapping(7, start, 0x10000, offset, str(cls.folder / "t").encode())
        for n, at in enumerate(range(0, len(cls.branches), window - 1)):
            some = cls.branches[at:at + window]
            entries = [(a, b, i % 3 == 0) for i, (a, b) in enumerate(some)]
            if samples is None or n < samples:
                records += f.sample(some[-1][1], 200 + n, 1, branches=entries[::-1])
        (cls.folder / name).write_bytes(f.whole([f.attribute(0, 0, 1)], [[]], records, {6: f.text(b"x86_64")}))

    def monarc(self, *words, status=0):
        done = monarc(*words, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stderr if status else done.stdout).decode()

    def largest(self, function):
        """Per line, the most that an instruction of it ran, of the code of a function: from objdump's
        listing, the innermost line of each."""
        found = {}
        for at, _ in instructions(self.folder / "t", function):
            place = self.call("addr2line", "-e", "t", hex(at)).strip()
            line = int(re.search(r":(\d+)", place)[1])
            found[line] = max(found.get(line, 0), self.runs[at])
        return found

    @slow
    def test_counts_are_those_of_every_instruction(self):
        found = read_text(self.monarc("optimize", "--for", "clang", "t", "t.data", "-o", "-"))
        start = SOURCE[:SOURCE.index("long work")].count("\n") + 1
        inlined_start = SOURCE[:SOURCE.index("int clamp")].count("\n") + 1
        _, counts = found["work"]
        inlined = []
        for line, ran in self.largest("work").items():
            if not ran:
                continue
            if line < start:  # of clamp, which is inlined; which of its lines have code is the compiler's choice
                [count] = [n for path, n in counts.items()
                           if path[0].endswith(" clamp") and path[-1] == str(line - inlined_start)]
                inlined.append((ran, count))
            else:
                count = counts[(str(line - start),)]
            self.assertLess(abs(count - ran), 0.01 * ran + 1.5, line)
        ran, count = max(inlined)
        self.assertEqual(ran, 1800)
        self.assertLess(abs(count - 1800), 18)

    def test_heads_and_targets_are_the_calls(self):
        """Each branch is in two samples at the most; of a thousand one is."""
        found = read_text(self.monarc("optimize", "--for", "clang", "t", "t.data", "-o", "-"))
        [(down, _)] = instructions(self.folder / "t", "down")[:1]
        self.assertGreater(self.runs[down], 40)
        for name, calls in ("often", 1500), ("rarely", 500), ("down", self.runs[down]), ("work", 1):
            self.assertLess(abs(found[name][0] - calls), 0.01 * calls + 1.5, name)
        text = self.monarc("optimize", "--for", "clang", "t", "t.data", "-o", "-")
        [(many, few)] = re.findall(r"often:(\d+) rarely:(\d+)", text)
        self.assertLess(abs(int(many) - 1500), 17)
        self.assertLess(abs(int(few) - 500), 7)

    def test_short_records_are_as_good(self):
        """Those of real CPUs have 16 or 32: the same shares, as each stretch is in one of them."""
        self.write("short.data", window=32)
        long, short = (read_text(self.monarc("optimize", "--for", "clang", "t", name, "-o", "-"))["work"][1]
                       for name in ("t.data", "short.data"))
        self.assertEqual(long.keys(), short.keys())
        for place, count in long.items():
            self.assertLess(abs(count - short[place]), 0.05 * count + 1.5, place)

    def test_gcc_and_explain(self):
        text = self.monarc("optimize", "--for", "gcc", "--explain", "t", "t.data", "-o", "t.afdo")
        counted = int(re.search(r"branches that were noted: (\d+); counts are theirs", text)[1])
        self.assertLess(abs(counted - len(self.branches)), 0.002 * counted)
        found = monarc_json("optimize", "--for", "gcc", "t", "t.data", cwd=self.folder)
        check_schema(self, "optimize", found)
        self.assertEqual(found["branches"], counted)
        self.call("gcc", "-O2", "-g", "-fauto-profile=t.afdo", "-c", "t.c", "-o", "u.o")

    def test_recordings_keep_them(self):
        alone = self.monarc("optimize", "--for", "clang", "t", "t.data", "-o", "-")
        self.monarc("merge", "-o", "one", "t.data")
        self.assertRegex(self.monarc("info", "one"), r"\n  branches: \d+ recorded by the CPU, \d+ different ones\n")
        [of] = monarc_json("info", "one", cwd=self.folder)["files"]
        self.assertLess(abs(of["branches"] - len(self.branches)), 0.002 * len(self.branches))
        self.monarc("merge", "-o", "two", "t.data", "t.data")
        self.assertEqual(self.monarc("optimize", "--for", "clang", "t", "one", "-o", "-"), alone)
        once, twice = read_text(alone), read_text(self.monarc("optimize", "--for", "clang", "t", "two", "-o", "-"))
        for name, (head, counts) in once.items():
            self.assertEqual(twice[name], (2 * head, {place: 2 * count for place, count in counts.items()}))
        both = self.monarc("optimize", "--for", "clang", "t", "t.data", "one", "-o", "-")
        self.assertEqual(read_text(both), twice)

    def test_of_a_part_the_samples_count(self):
        """Branches are those of the whole recording."""
        text = self.monarc("optimize", "--for", "clang", "--explain", "t", "t.data", "--program", "t", "-o", "x")
        self.assertNotIn("branches that", text)

    def written(self):
        text = self.monarc("optimize", "--for", "bolt", "t", "t.data", "-o", "t.pre")
        self.assertIn("next: perf2bolt PROGRAM -o FDATA --pa -p t.pre\n", text)
        return [line.split() for line in (self.folder / "t.pre").read_text().splitlines()]

    def test_what_bolt_gets(self):
        lines = self.written()
        taken = {(int(w[1], 16), int(w[2], 16)): (int(w[3]), int(w[4])) for w in lines if w[0] == "B"}
        exact = {pair: self.branches.count(pair) for pair in set(self.branches)}
        self.assertEqual(taken.keys(), exact.keys())
        for pair, (count, missed) in taken.items():
            self.assertLess(abs(count - exact[pair]), 0.01 * count + 1.5)
            self.assertLessEqual(missed, count)
        ran = {}
        for (_, start), (end, _) in zip(self.branches, self.branches[1:]):
            ran[start, end] = ran.get((start, end), 0) + 1
        straight = {(int(w[1], 16), int(w[2], 16)): int(w[3]) for w in lines if w[0] == "F"}
        self.assertEqual(straight, ran)

    @slow
    @unittest.skipUnless(BOLT and PERF2BOLT, "needs llvm-bolt and perf2bolt (package bolt-22)")
    def test_bolt_takes_it(self):
        self.written()
        self.call(PERF2BOLT, "t", "--pa", "-p", "t.pre", "-o", "t.fdata")
        theirs = (self.folder / "t.fdata").read_text()
        calls = {name: int(n) for name, n in re.findall(
            r"^1 work [0-9a-f]+ 1 (\w+?)(?:/1)? 0 \d+ (\d+)$", theirs, re.M)}
        self.assertLess(abs(calls["often"] - 1500), 17, theirs)
        self.assertLess(abs(calls["rarely"] - 500), 7, theirs)
        self.call(BOLT, "t", "-o", "t.bolt", "-data=t.fdata", "-reorder-blocks=ext-tsp")
        self.assertEqual(subprocess.run(["./t.bolt"], cwd=self.folder, check=False).returncode,
                         subprocess.run(["./t"], cwd=self.folder, check=False).returncode)

    @slow
    @unittest.skipUnless(shutil.which("create_gcov") and shutil.which("dump_gcov"),
                         "needs create_gcov (package autofdo)")
    def test_create_gcov_says_the_same(self):
        """But for what it leaves out: functions in which no code between two branches is known. It wants
        addresses from the program's first byte, DWARF 4, and version 1."""
        lines = self.written()
        four = self.folder / "four"
        four.mkdir(exist_ok=True)
        self.call(*self.BUILD, "-gdwarf-4", "-o", four / "t")
        first = min(int(a, 16) for a in re.findall(r"^ +LOAD +\S+ (\S+)", self.call("readelf", "-lW", "t"), re.M))
        straight, taken = ([f"{int(w[1], 16) - first:x}{join}{int(w[2], 16) - first:x}:{w[3]}" for w in lines
                            if w[0] == kind] for kind, join in (("F", "-"), ("B", "->")))
        (self.folder / "t.text").write_text("\n".join([str(len(straight)), *straight, "0", str(len(taken)), *taken,
                                                       ""]))
        self.call("create_gcov", f"--binary={four}/t", "--profile=t.text", "--profiler=text", "--gcov_version=1",
                  "--gcov=theirs.afdo")
        self.monarc("optimize", "--for", "gcc", "--gcc", 11, "--force", four / "t", "t.data", "-o", "ours.afdo")
        theirs, ours = (self.call("dump_gcov", "--gcov_version=1", name) for name in ("theirs.afdo", "ours.afdo"))
        self.assertIn("  8: 2000  often:1500  rarely:500\n", theirs)
        ours = ours[:ours.index("_start total")].replace("head:1\n", "head:0\n")
        self.assertEqual(ours.strip(), theirs.strip())

    def test_without_capstone(self):
        """Branches say by themselves where code ran."""
        none = self.folder / "none"
        none.mkdir(exist_ok=True)
        for number in range(4, 8):
            (none / f"libcapstone.so.{number}").touch()
        done = monarc("optimize", "--for", "clang", "t", "t.data", "-o", "-", cwd=self.folder,
                      env={"LD_LIBRARY_PATH": str(none)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(read_text(done.stdout.decode())["often"][0], 1500, delta=17)

    @slow
    @unittest.skipUnless(BOLT, "needs llvm-bolt (package bolt-22)")
    def test_counts_of_an_instrumented_program(self):
        """llvm-bolt --instrument counts edges exactly, without compiling anything again."""
        (self.folder / "u.c").write_text(COMMON)
        self.call("gcc", "-O2", "-g", "-no-pie", "-Wl,-q", "-o", "u", "u.c")
        self.call(BOLT, "u", "-o", "u.counting", "--instrument", f"--instrumentation-file={self.folder}/u.fdata")
        self.call("./u.counting", "100000")
        found = read_text(self.monarc("optimize", "--for", "clang", "u", "u.fdata", "-o", "-"))
        start = COMMON[:COMMON.index("long work")].count("\n") + 1
        head, counts = found["work"]
        self.assertEqual(head, 1)
        for offset, count in (3, 100000), (5, 90000), (7, 10000), (8, 100000):
            self.assertEqual(counts[(str(offset),)], count, COMMON.splitlines()[start - 1 + offset])
        self.assertEqual([n for path, n in counts.items() if path[0] == "5 clamp"], [90000, 90000])
        self.assertEqual((found["often"][0], found["rarely"][0], found["main"][0]), (75000, 25000, 1))
        if MERGE:
            self.call(MERGE, "-o", "theirs", "u.fdata", "u.fdata")
            self.monarc("merge", "-o", "ours", "u.fdata", "u.fdata")
            self.assertEqual(*(sorted((self.folder / name).read_text().splitlines()) for name in ("ours", "theirs")))
        twice = read_text(self.monarc("optimize", "--for", "clang", "u", "u.fdata", "u.fdata", "-o", "-"))
        self.assertEqual(twice["work"][1][("5",)], 180000)


# No other file can call these, and nothing is left of them but copies in `main`.
INLINED_EVERYWHERE = """#include <cstdio>
namespace {
struct point { int x, y; };
int clamp(int v, const point &p)
{
    if (v % 10 == 0)
        return v * 7 % 13 + p.x;
    return v + p.y;
}
int often(int n)
{
    point p{n, 2};
    int s = 0;
    for (int i = 0; i < n; i++)
        s += clamp(i ^ s, p);
    return s;
}
}
static int twice(int v)
{
    if (v & 1)
        return v * 3;
    return v / 5;
}
int main(int argc, char **)
{
    unsigned s = 0;
    for (int i = 0; i < 3; i++)
        s += often(20 + argc) + twice(s);
    printf("%u\\n", s);
}
"""


# `inner` has code of its own, and stands in `outer` in the debug information.
NESTED = """static inline __attribute__((always_inline)) long twice(volatile long *x)
{ return *x * 2 + *x; }
__attribute__((noinline)) static long each(long (*f)(long), long n) { return n ? f(n) ^ each(f, n - 1) : 0; }
__attribute__((noinline)) long outer(volatile long *seen, long n)
{
    __attribute__((noinline)) long inner(long x)
    { *seen += twice(seen);
        return x / 7 + *seen; }
    return each(inner, n);
}
""" + "".join(f"long other{i}(long x) {{ return x % {i} ? x / {i} : other{i - 1}(x - 1) * x; }}\n"
              if i > 10 else "long other10(long x) { return x + 1; }\n" for i in range(10, 30)) + """
int main(int argc, char **argv)
{
    (void)argv;
    long seen = argc;
    return (outer(&seen, 9) + other29(argc)) & 1;
}
"""


class Fdata(unittest.TestCase):
    EDGES = "1 work 47 1 work 4a 3 90000\n1 work 5d 1 often/1 0 0 75\n"

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-fdata-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("a", self.EDGES)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def monarc(self, *words, status=0):
        done = monarc(*words, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stderr if status else done.stdout).decode()

    def test_sums_and_differences(self):
        self.write("b", "1 work 5d 1 often/1 0 1 25\n1 work 5d 1 rarely/1 0 0 7\n")
        for names in ("a", "b"), ("b", "a"):
            self.monarc("merge", "-o", "sum", *names)
            self.assertEqual((self.folder / "sum").read_text(),
                             "1 work 47 1 work 4a 3 90000\n1 work 5d 1 often/1 0 1 100\n1 work 5d 1 rarely/1 0 0 7\n")
        self.write("x", "1 f 1 1 f 9 0 3\n1 g 1 1 g 9 0 1\n")
        self.write("y", "1 f 1 1 f 9 0 30\n1 h 1 1 h 9 0 10\n")
        found = monarc_json("diff", "x", "y", cwd=self.folder)
        self.assertAlmostEqual(found["common"], 0.75)
        self.assertEqual({f["name"] for f in found["functions"]}, {"f", "g", "h"})
        self.assertIn("75.00 %", self.monarc("diff", "x", "y"))
        [of] = monarc_json("info", "a", cwd=self.folder)["files"]
        self.assertEqual((of["format"], of["positions"], of["targets"]), ("fdata", 2, 1))

    def test_samples_keep_their_events(self):
        self.write("s", "no_lbr cycles:u cpu\n1 work 23 7\n1 work 23 2\n1 a\\ b 0 1\n")
        self.monarc("merge", "-o", "sum", "s", "s")
        self.assertEqual((self.folder / "sum").read_text(), "no_lbr cycles:u cpu\n1 a\\ b 0 2\n1 work 23 18\n")
        self.assertIn("takes only one of them", self.monarc("merge", "-o", "sum", "s", "a", status=2))

    def test_what_it_is_not(self):
        self.write("p", "work:1:1\n 1: 1\n")
        (self.folder / "u.c").write_text("int main(void) { return 0; }\n")
        for words, says in ((["convert", "--to", "afdo", "-o", "x", "a"], "in PROGRAM"),
                            (["merge", "-o", "x", "p", "a"], "in PROGRAM"), (["merge", "-o", "x", "a", "p"], "no fdata profile"),
                            (["optimize", "--for", "gcc", "a", "-o", "x"], "name its PROGRAM first")):
            self.assertIn(says, self.monarc(*words, status=2))
        self.write("bad", "1 work 47 1 work 4a 3 90000\n1 work zz 1 work 0 0 1\n")
        self.assertIn("bad: line 2: expected KIND NAME OFFSET", self.monarc("merge", "-o", "x", "bad", status=2))
        self.assertFalse((self.folder / "x").exists())

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_functions_of_another_program(self):
        (self.folder / "u.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["gcc", "-O1", "-g", "-o", "u", "u.c"], cwd=self.folder, check=True)
        self.write("b", "1 main 0 1 main 0 0 1\n" + self.EDGES)
        found = monarc_json("optimize", "--for", "gcc", "u", "b", cwd=self.folder)
        check_schema(self, "optimize", found)
        self.assertEqual((found["branches"], found["branches_of_strangers"]), (1, 90075))
        self.assertIn("90075 branches or samples of fdata are in functions that u does not have",
                      self.monarc("optimize", "--for", "gcc", "--explain", "u", "b"))
        for words, says in ((["optimize", "--for", "bolt", "u", "b", "-o", "x"], "'monarc merge' adds up"),
                            (["diff", "u", "b"], "fit no other build")):
            self.assertIn(says, self.monarc(*words, status=2))
        self.write("c", "boltedcollection\n1 main 0 1 main 0 0 1\n")
        self.assertIn("a program that BOLT made", self.monarc("optimize", "--for", "gcc", "u", "c", "-o", "x", status=2))

    def test_by_address(self):
        """What perf2bolt reads is added up and compared, too."""
        self.write("p", "E cycles\nB 401156 40114e 9 1\nF 40114e 401156 8\nB X:0 401130 1 0\nB 401156 40114e 1 1\n")
        self.write("q", "F 40114e 401156 2\nT 401130 401140 401150 3\nS 401156 4\nB 1f3a:10 401130 1 0\n")
        for names in ("p", "q"), ("q", "p"):
            self.monarc("merge", "-o", "sum", *names)
            self.assertEqual((self.folder / "sum").read_text(),
                             "E cycles\nB X:0 401130 1 0\nB 1f3a:10 401130 1 0\nB 401156 40114e 10 2\n"
                             "F 40114e 401156 10\nS 401156 4\nT 401130 401140 401150 3\n")
        [of] = monarc_json("info", "p", cwd=self.folder)["files"]
        self.assertEqual((of["format"], of["positions"], of["sum"]), ("preaggregated", 3, 19))
        self.assertAlmostEqual(monarc_json("diff", "p", "p", cwd=self.folder)["common"], 1)
        self.write("x", "S 401156 3\nS 401158 1\n")
        self.write("y", "S 401156 30\nS 401160 10\n")
        self.assertIn("75.00 %", self.monarc("diff", "x", "y"))
        for words, says in ((["convert", "--to", "afdo", "-o", "z", "p"], "in PROGRAM"),
                            (["convert", "--to", "fdata", "-o", "z", "p"], "perf2bolt PROGRAM --pa -p p"),
                            (["convert", "--to", "preaggregated", "-o", "z", "a"], "by symbols"),
                            (["merge", "-o", "z", "p", "a"], "no pre-aggregated profile"),
                            (["optimize", "--for", "gcc", "p", "-o", "z"], "name its PROGRAM first")):
            self.assertIn(says, self.monarc(*words, status=2))
        self.write("bad", "S 401156 3\nB 401156 40114e 9\n")
        self.assertIn("bad: line 2: expected", self.monarc("merge", "-o", "z", "bad", status=2))
        self.assertFalse((self.folder / "z").exists())

    @unittest.skipUnless(shutil.which("gcc") and platform.machine() == "x86_64", "needs gcc")
    def test_branches_by_address_become_counts(self):
        """The same edges as fdata and by address give the same profile, and come out as they went in."""
        (self.folder / "t.c").write_text(COMMON)
        subprocess.run(["gcc", "-O1", "-g", "-no-pie", "-o", "t", "t.c"], cwd=self.folder, check=True)
        listed = subprocess.run([*NM, "t"], cwd=self.folder, check=True, capture_output=True, text=True).stdout
        at = {words[-1]: int(words[0], 16) for words in map(str.split, listed.splitlines()) if len(words) == 3}
        work, often = at["work"], at["often"]
        self.write("p", f"B {work + 9:x} {often:x} 75 0\nF {often:x} {often + 3:x} 75\n"
                        f"T {often + 3:x} {work + 12:x} {work + 20:x} 75\n")
        found = read_text(self.monarc("optimize", "--for", "clang", "t", "p", "-o", "-"))
        self.assertEqual(found["often"][0], 75)
        self.assertEqual(set(found["often"][1].values()), {75})
        self.assertEqual(set(found["work"][1].values()), {75})
        self.monarc("optimize", "--for", "bolt", "t", "p", "-o", "bolt")
        lines = (f"B {work + 9:x} {often:x} 75 0", f"B {often + 3:x} {work + 12:x} 75 0",
                 f"F {often:x} {often + 3:x} 75", f"F {work + 12:x} {work + 20:x} 75")
        self.assertEqual(sorted((self.folder / "bolt").read_text().splitlines()), sorted(lines))

    @slow
    @unittest.skipUnless(shutil.which("gcc") and platform.machine() == "x86_64", "needs gcc")
    def test_functions_within_functions_that_nothing_hit(self):
        """Of the debug information, functions without samples are passed over, but not what lies in
        them: the inner one gets the same counts, whether or not the outer one was hit."""
        (self.folder / "t.c").write_text(NESTED)
        for flags in ["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-gsplit-dwarf"]:
            subprocess.run(["gcc", "-O1", *flags, "-o", "t", "t.c"], cwd=self.folder, check=True)
            listed = subprocess.run([*NM, "-S", "t"], cwd=self.folder, check=True, capture_output=True, text=True)
            words = [line.split() for line in listed.stdout.splitlines()]
            at = {w[3].partition(".")[0]: [int(w[0], 16), int(w[1], 16)] for w in words if len(w) == 4}
            inner = "".join(f"S {a:x} 9\n" for a in range(at["inner"][0], sum(at["inner"])))
            self.write("alone", inner)
            self.write("both", inner + f"S {at['outer'][0]:x} 5\n")
            alone, both = (read_text(self.monarc("optimize", "--for", "clang", "t", name, "-o", "-"))
                           for name in ("alone", "both"))
            [name] = [n for n in alone if n.startswith("inner")]
            self.assertEqual(list(alone), [name], flags)
            self.assertEqual(alone[name], both[name], flags)
            # By lines below the declaration, also in what is inlined there.
            self.assertLessEqual({("1",), ("2",), ("1 twice", "1")}, set(alone[name][1]), flags)

    @slow
    @unittest.skipUnless(shutil.which("g++") and platform.machine() == "x86_64", "needs g++")
    def test_inlined_functions_that_debug_information_has_no_linkage_name_of(self):
        """They have their own name, without the namespace that they are in."""
        (self.folder / "t.cc").write_text(INLINED_EVERYWHERE)

        def call(*words):
            return subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout

        call("g++", "-O2", "-g", "-o", "t", "t.cc")
        [size] = [int(line.split()[1], 16) for line in call(*NM, "-S", "t").splitlines() if line.endswith(" main")]
        self.assertNotIn("often", call(*NM, "t"))
        self.write("few", "no_lbr cpu\n1 main 0 1999\n")
        self.assertIn("only 1999 samples:", self.monarc("optimize", "--for", "gcc", "t", "few", "-o", "t.afdo"))
        self.write("few", "no_lbr cpu\n1 main 0 2000\n")
        self.assertNotIn("only", self.monarc("optimize", "--for", "gcc", "t", "few", "-o", "t.afdo"))
        self.write("all", "no_lbr cpu\n" + "".join(f"1 main {at:x} 5\n" for at in range(size)))
        found = read_text(self.monarc("optimize", "--for", "clang", "t", "all", "-o", "-"))
        paths = {p for p in found["main"][1] if len(p) > 1}
        names = {part.partition(" ")[2] for p in paths for part in p[:-1]}
        self.assertEqual(names, {"often", "clamp", "twice"} & names)  # which is all that is known of them
        self.assertIn("often", names)


if __name__ == "__main__":
    main()
