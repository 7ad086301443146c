"""monarc optimize: what compilers are told, against counts known by construction, and whether gcc,
clang, BOLT and llvm-profdata take the files."""

import json
import platform
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc, monarc_json, monarc_limited
from parts import load_tests, slow

GCC = shutil.which("gcc")
CLANG = shutil.which("clang")
PROFDATA = shutil.which("llvm-profdata")

BOLT = shutil.which("llvm-bolt-22") or shutil.which("llvm-bolt")
PERF2BOLT = shutil.which("perf2bolt-22") or shutil.which("perf2bolt")

# One condition holds in nine of ten rounds; `clamp` is inlined; two functions are called by pointer.
CALLED = """static inline __attribute__((always_inline)) int clamp(int x, int hi)
{
    if (x > hi)
        x -= hi;
    return x * 3;
}
__attribute__((noinline)) static long often(long x) { return x + 1; }
__attribute__((noinline)) static long rarely(long x) { return x * 2; }
static long (*volatile table[2])(long) = {often, rarely};
"""
ROUND = """        if (i % 10)
            s += clamp(s & 0xff, 200);
        else
            s = s / 7 + i;
        s += table[i % 4 == 0](s);
"""
SOURCE = """#include <stdio.h>
#include <stdlib.h>
""" + CALLED + """__attribute__((noinline)) long work(int n)
{
    long s = 0;
    for (int i = 0; i < n; i++) {
""" + ROUND + """    }
    return s;
}
int main(int argc, char **argv)
{
    printf("%ld\\n", work(argc > 1 ? atoi(argv[1]) : 100));
    return 0;
}
"""


COPIES = """static int third(int x)
{
    return x / 3;
}
__attribute__((noinline)) int often(int n) { int s = 0;
    for (int i = 0; i < n; i++) {
        s ^= i;
        s += third(s);
    }
    return s;
}
__attribute__((noinline)) int rarely(int n) { int s = 0;
    for (int i = 0; i < n; i++) {
        s ^= i;
        s -= third(s);
    }
    return s;
}
int main(int argc, char **argv) { return argc > 5 ? argv[0][0] : (often(3000) + rarely(1000)) & 1 & argc; }
"""

ANONYMOUS = """namespace {
struct walker {
    int sum;
    int step(int i) { return (sum + i) * 7 % 31; }
};
}
__attribute__((noinline)) int run(int n)
{
    walker w = {n};
    for (int i = 0; i < n; i++)
        w.sum ^= w.step(i);
    return w.sum;
}
int main() { return run(5000) < -1; }
"""

# Behind each jump stand nops, as assemblers align labels; the code does not say where it leads.
PADDED = """__attribute__((noinline)) int work(int n)
{
    int s = 0;
    __asm__ volatile("lea 1f(%%rip), %%rax\\n jmp *%%rax\\n .nops 7, 7\\n1:" ::: "rax");
    s += n;
    __asm__ volatile("lea 2f(%%rip), %%rax\\n jmp *%%rax\\n .nops 9, 1\\n2:" ::: "rax");
    return s * n;
}
int main(int argc, char **argv) { return work(argc); }
"""


def read_text(text):
    """Functions of a sample profile: {name: (head, {path: count})}, a path being the places from the
    function inwards, with the names of what is inlined there."""
    found, path = {}, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        if not depth:
            name, _, head = line.rsplit(":", 2)
            found[name] = (int(head), {})
            path = [name]
            continue
        place, rest = line.strip().split(": ", 1)
        path = path[:depth]
        if rest[0].isdigit():
            found[path[0]][1][(*path[1:], place)] = int(rest.split()[0])
        else:
            path.append(place + " " + rest.rsplit(":", 1)[0])
    return found


def instructions(program, function):
    """Addresses of the instructions of a function."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", program],
                          check=True, capture_output=True, text=True).stdout
    return [(int(at, 16), what) for at, what in re.findall(r"^ +([0-9a-f]+):\t(.*)$", text, re.M)]


class Case(unittest.TestCase):
    built = {}  # programs and what they wrote, by how they were compiled

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-optimize-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "t.c").write_text(SOURCE)

    def call(self, *words):
        return subprocess.run(list(map(str, words)), cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout

    def monarc(self, *words, status=0):
        done = monarc(*words, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stderr if status else done.stdout).decode()

    def sampled(self, compiler="gcc", flags="", hits=None):
        """A program and a gmon.out with `hits` of each instruction of work."""
        how = (compiler, flags)
        if how not in self.built:
            self.call(compiler, "-O2", "-g", "-no-pie", *flags.split(), "-o", "t", "t.c")
            self.built[how] = (self.folder / "t").read_bytes()
        (self.folder / "t").write_bytes(self.built[how])
        (self.folder / "t").chmod(0o755)
        code = instructions(self.folder / "t", "work")
        low, high = code[0][0], code[-1][0] + 16
        bins = [0] * (high - low)
        for i, (at, what) in enumerate(code):
            bins[at - low] = hits(i, what) if hits else 10
        (self.folder / "gmon.out").write_bytes(gmon([(low, high, bins)]))
        return code


@unittest.skipUnless(GCC and shutil.which("objdump"), "needs gcc and objdump")
class Samples(Case):
    def test_a_block_that_runs_evenly_has_one_count(self):
        self.sampled()
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        head, counts = read_text(text)["work"]
        self.assertEqual(head, 10000)
        self.assertEqual(set(counts.values()), {10000})
        inlined = [path for path in counts if len(path) == 2]
        self.assertTrue(all(path[0].split()[1] == "clamp" for path in inlined) and inlined, counts)

    @unittest.skipUnless(platform.machine() == "x86_64", "needs x86-64")
    def test_padding_before_a_label_is_no_part_of_its_block(self):
        """Exact counts of instructions are exact counts of lines: no block is thinned out by the
        nops between a jump and it, which never run."""
        (self.folder / "t.c").write_text(PADDED)
        self.call("gcc", "-O1", "-g", "-no-pie", "-o", "t", "t.c")
        code = instructions(self.folder / "t", "work")
        self.assertGreaterEqual([what.split()[0] for _, what in code].count("nop"), 3)
        low, high = code[0][0], code[-1][0] + 16
        bins = [0] * (high - low)
        for at, what in code:
            bins[at - low] = 0 if what.startswith("nop") else 10
        (self.folder / "gmon.out").write_bytes(gmon([(low, high, bins)]))
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        self.assertEqual(set(read_text(text)["work"][1].values()), {10000})

    def test_code_without_a_symbol_is_no_target(self):
        """Calls through the PLT of a program have a name of ours, which no compiler knows."""
        self.call("gcc", "-O1", "-g", "-no-pie", "-o", "t", "t.c")
        code = self.call("objdump", "-d", "t")
        [call] = re.findall(r"^ +([0-9a-f]+):.*call.*<printf@plt>", code, re.M)[:1]
        [plt] = re.findall(r"^([0-9a-f]+) <printf@plt>:", code, re.M)
        main_code = instructions(self.folder / "t", "main")
        low, high = main_code[0][0], main_code[-1][0] + 16
        (self.folder / "gmon.out").write_bytes(gmon([(low, high, [10] * (high - low))],
                                                    [(int(call, 16) + 5, int(plt, 16), 100)]))
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        self.assertIn("main:", text)
        self.assertNotIn("[", text)

    @slow
    def test_noise_within_a_block_is_evened_out(self):
        """All samples of a block on its last instruction, as skid has it, are as good as spread."""
        self.sampled()
        even = read_text(self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-"))
        state = {"n": 0}

        def skidding(_, what):
            state["n"] += 10
            if not re.match(r"j|ret", what):
                return 0
            held, state["n"] = state["n"], 0
            return held
        self.sampled(hits=skidding)
        skid = read_text(self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-"))
        total = [sum(p["work"][1].values()) for p in (even, skid)]
        self.assertLess(abs(total[0] - total[1]) / total[0], 0.6)
        self.assertEqual(even["work"][1].keys() & skid["work"][1].keys(), skid["work"][1].keys())

    def test_discriminators_are_those_of_the_line_table(self):
        self.sampled()
        listed = set()
        addresses = [hex(at) for at, _ in instructions(self.folder / "t", "work")]
        for said in self.call("addr2line", "-e", "t", *addresses).splitlines():
            line = re.search(r":(\d+)", said)
            number = re.search(r"discriminator (\d+)", said)
            if number and line:
                listed.add(int(number[1]))
        told = self.monarc("optimize", "--for", "gcc", "t", "gmon.out", "-o", "t.afdo")
        self.assertIn("AutoFDO profile, version", told)
        data = (self.folder / "t.afdo").read_bytes()
        found = set()
        text = self.monarc("convert", "--to", "llvm-sample", "-o", "-", "t.afdo")
        for _, counts in read_text(text).values():
            found |= {int(path[-1].split(".")[1]) for path in counts if "." in path[-1]}
        self.assertTrue(found and found <= listed, (found, listed))
        self.assertEqual(data[:4], b"adcg")

    @slow
    def test_every_kind_of_debug_information_says_the_same(self):
        found = set()
        for flags in "-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz", "-gsplit-dwarf", "-gsplit-dwarf -gdwarf-4":
            self.sampled(flags=flags)
            found.add(self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-"))
        self.assertEqual(len(found), 1, found)
        self.sampled(flags="-flto")
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        self.assertEqual(read_text(text)["work"], read_text(found.pop())["work"])

    def test_counts_of_several_inputs_add_up(self):
        self.sampled()
        shutil.copy(self.folder / "gmon.out", self.folder / "second.out")
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "second.out", "-o", "-")
        self.assertEqual(set(read_text(text)["work"][1].values()), {20000})

    def test_explain_names_what_has_no_place(self):
        self.sampled()
        found = monarc_json("optimize", "--for", "clang", "--explain", "t", "gmon.out", cwd=self.folder)
        check_schema(self, "optimize", found)
        self.assertEqual(found["samples"], found["samples_mapped"])
        self.assertEqual(found["measured_functions"][0]["name"], "work")
        self.assertAlmostEqual(sum(line["samples"] for line in found["measured_lines"]),
                               found["samples"])
        text = self.monarc("optimize", "--for", "clang", "--explain", "t", "gmon.out")
        self.assertIn("100.00 % of all samples", text)
        for head, row in re.findall(r"(?m)^( +share +\w+  \w+)\n(.*)", text):
            for end in [word.end() for word in re.finditer(r"\w+", head)][:2]:
                self.assertRegex(row[end - 1:], r"^\S  ", text)  # each column ends where its heading does
        self.call("strip", "-g", "t")
        self.assertIn("compile it with -g",
                      self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "x", status=2))
        self.assertFalse((self.folder / "x").exists())

    def test_the_version_is_that_of_the_programs_gcc(self):
        self.sampled()
        release = int(self.call("gcc", "-dumpversion").split(".")[0])
        wanted = 3 if release >= 16 else 2 if release >= 12 else 1
        self.monarc("optimize", "--for", "gcc", "t", "gmon.out", "-o", "t.afdo")
        self.assertEqual(struct.unpack_from("<I", (self.folder / "t.afdo").read_bytes(), 4), (wanted,))
        for asked, version in (5, 1), (11, 1), (12, 2), (15, 2), (16, 3), (17, 3):
            self.monarc("optimize", "--for", "gcc", "--gcc", asked, "t", "gmon.out", "-o", "t.afdo")
            data = (self.folder / "t.afdo").read_bytes()
            self.assertEqual(struct.unpack_from("<I", data, 4), (version,))

    @slow
    def test_dump_gcov_reads_version_1(self):
        if not shutil.which("dump_gcov"):
            self.skipTest("needs dump_gcov (Debian package autofdo)")
        self.sampled()
        self.monarc("optimize", "--for", "gcc", "--gcc", 11, "t", "gmon.out", "-o", "t.afdo")
        text = self.call("dump_gcov", "--gcov_version=1", "t.afdo")
        self.assertRegex(text, r"(?m)^work total:\d+ head:10000$")
        self.assertRegex(text, r"(?m)^ +\d+(\.\d+)?: clamp total:\d+$")

    @slow
    @unittest.skipUnless(CLANG, "needs clang")
    def test_the_other_compilers_discriminators_are_left_out(self):
        self.sampled()
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        self.assertFalse(any("." in place for _, counts in read_text(text).values()
                             for path in counts for place in path if " " not in place))
        self.sampled("clang", "-fdebug-info-for-profiling")
        text = self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")
        self.assertTrue(any("." in path[-1] for _, counts in read_text(text).values()
                            for path in counts))
        said = self.monarc("optimize", "--for", "gcc", "t", "gmon.out", "-o", "x", status=2)
        self.assertIn("--gcc RELEASE", said)


@unittest.skipUnless(GCC and shutil.which("objdump"), "needs gcc and objdump")
class Bolt(Case):
    TWIN = "__attribute__((noinline)) static long often(long x) { return x - 1; }\n" \
           "long twin(long x) { return often(x) * 3; }\n"

    def measured(self):
        """The second static function of that name, with one sample at its start."""
        (self.folder / "twin.c").write_text(self.TWIN)
        self.call("gcc", "-O2", "-g", "-no-pie", "-Wl,-q", "-o", "t", "t.c", "twin.c")
        at = [int(line.split()[0], 16) for line in self.call(*NM, "-n", "t").splitlines()
              if line.endswith(" t often")]
        (self.folder / "gmon.out").write_bytes(gmon([(at[1], at[1] + 2, [4])]))
        self.monarc("optimize", "--for", "bolt", "t", "gmon.out", "-o", "t.fdata")
        return at[1]

    def test_static_functions_are_numbered(self):
        self.measured()
        lines = (self.folder / "t.fdata").read_text().splitlines()
        self.assertEqual(lines[0], "no_lbr cpu")
        self.assertEqual({line.split()[1] for line in lines[1:]}, {"often/2"})
        self.assertEqual(sum(int(line.split()[3]) for line in lines[1:]), 4)

    @slow
    @unittest.skipUnless(BOLT and PERF2BOLT, "needs llvm-bolt and perf2bolt (package bolt-22)")
    def test_bolt_finds_the_functions(self):
        at = self.measured()
        (self.folder / "samples").write_text(f"E cpu\nS {at:x} 2\nS {at + 1:x} 2\n")
        self.call(PERF2BOLT, "t", "-p", "samples", "--pa", "-nl", "-o", "theirs")
        self.assertEqual((self.folder / "theirs").read_text().split()[:4],
                         (self.folder / "t.fdata").read_text().split()[:4])
        done = subprocess.run([BOLT, "t", "-o", "t.bolt", "-data=t.fdata"], cwd=self.folder, check=True,
                              capture_output=True, text=True)
        self.assertRegex(done.stdout + done.stderr, r"1 out of \d+ functions .* have non-empty")
        self.assertEqual(self.call("./t.bolt", "1000"), self.call("./t", "1000"))


# With a profile it does a tenth of the work, or, with SLOW, ten times of it.
BUILD = """case "{flags}" in *-fauto-profile=*) X=-DWITH;; esac
gcc {flags} $X %s -o t loop.c"""
LOOP = """#include <stdlib.h>
#if defined WITH && defined SLOW
enum { ROUNDS = 10 };
#elif defined WITH || defined SLOW
enum { ROUNDS = 1 };
#else
enum { ROUNDS = 10 };
#endif
__attribute__((noinline)) static void spin(long n)
{
    for (volatile long i = 0; i < n; i++)
        ;
}
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < ROUNDS; i++)
        spin(atol(argv[1]));
    return 0;
}
"""


@unittest.skipUnless(GCC and shutil.which("objdump"), "needs gcc and objdump")
class Odd(Case):
    """What programs and profiles have that is not as usual."""

    def counted(self, *functions):
        """gmon.out with ten samples of each instruction of these functions of ./t."""
        bins = {at: 10 for f in functions for at, _ in instructions(self.folder / "t", f)}
        low, high = min(bins), max(bins) + 16
        (self.folder / "gmon.out").write_bytes(gmon([(low, high, [bins.get(a, 0) for a in range(low, high)])]))
        return self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "-")

    @slow
    def test_units_of_several_versions_of_dwarf(self):
        for version in 2, 3, 4, 5:
            (self.folder / f"u{version}.c").write_text(
                f"__attribute__((noinline)) int f{version}(int n)\n{{\n    return n * {version} + 1;\n}}\n")
            self.call("gcc", "-O1", f"-gdwarf-{version}", "-c", f"u{version}.c")
        (self.folder / "main.c").write_text(
            "int f2(int), f3(int), f4(int), f5(int);\nint main(int c, char **v)\n"
            "{ return f2(c) + f3(c) + f4(c) + f5(c) + !v; }\n")
        self.call("gcc", "-O1", "-no-pie", "-o", "t", "main.c", *(f"u{v}.o" for v in (2, 3, 4, 5)))
        found = read_text(self.counted("f2", "f3", "f4", "f5"))
        self.assertEqual(set(found), {"f2", "f3", "f4", "f5"})
        for head, counts in found.values():
            self.assertEqual((head, set(counts.values())), (10000, {10000}))

    @slow
    def test_one_name_in_several_files(self):
        """Up to version 2 they are one function; from 3 on each name has a file."""
        for name in "a", "b":
            (self.folder / f"{name}.c").write_text(
                "__attribute__((noinline)) static int same(int n)\n{\n    return n * 3;\n}\n"
                f"__attribute__((noinline)) int {name}(int n) {{ return same(n) + 1; }}\n")
        (self.folder / "main.c").write_text("int a(int), b(int);\nint main(int c, char **v)\n"
                                            "{ return a(c) + b(c) + !v; }\n")
        self.call("gcc", "-O1", "-g", "-no-pie", "-o", "t", "main.c", "a.c", "b.c")
        code = re.findall(r"^([0-9a-f]+) <same>:", self.call("objdump", "-d", "t"), re.M)
        self.assertEqual(len(code), 2)
        low, high = sorted(int(at, 16) for at in code)
        (self.folder / "gmon.out").write_bytes(gmon([(low, low + 8, [10] * 8), (high, high + 8, [30] * 8)]))
        self.monarc("optimize", "--for", "gcc", "t", "gmon.out", "-o", "t.afdo")
        text = self.monarc("convert", "--to", "llvm-sample", "-o", "-", "t.afdo")
        self.assertEqual(len(re.findall(r"^same:", text, re.M)), 1)
        self.call("gcc", "-O2", "-fauto-profile=t.afdo", "-c", "a.c")

    @slow
    def test_lines_before_and_far_behind_the_declaration(self):
        """Both are looked up modulo 65536, and said."""
        (self.folder / "t.c").write_text(
            "#line 500\n__attribute__((noinline)) int work(int n)\n{\n#line 3\n    n = n * 7 / 3;\n"
            "#line 70000\n    n ^= n / 5;\n    return n;\n}\n"
            "int main(int c, char **v) { return work(c) + !v; }\n")
        self.call("gcc", "-O1", "-g", "-no-pie", "-o", "t", "t.c")
        head, counts = read_text(self.counted("work"))["work"]
        self.assertEqual(head, 10000)
        places = {int(place.split(".")[0]) for (place,) in counts}
        self.assertLessEqual({3 - 500 & 0xFFFF, 70000 - 500 & 0xFFFF}, places)
        text = self.monarc("optimize", "--for", "clang", "--explain", "t", "gmon.out")
        self.assertRegex(text, r"\d places are before the function's declaration or 65536 lines")
        self.monarc("optimize", "--for", "gcc", "t", "gmon.out", "-o", "t.afdo")
        self.call("gcc", "-O2", "-fauto-profile=t.afdo", "-c", "t.c")

    def test_counts_beyond_what_gcc_holds(self):
        """gcc's counters are signed: 2^63 would be less than nothing. Sums do not wrap."""
        (self.folder / "a.prof").write_text(f"work:1:{2 ** 64 - 1}\n 1: {2 ** 64 - 1} rarely:{2 ** 63}\n 2: 5\n")
        self.monarc("merge", "-o", "sum", "a.prof", "a.prof")
        self.assertEqual(read_text((self.folder / "sum").read_text())["work"],
                         (2 ** 64 - 1, {("1",): 2 ** 64 - 1, ("2",): 10}))
        for release in 11, 12, 16:
            self.monarc("convert", "--to", "afdo", "--gcc", release, "-o", "a.afdo", "a.prof")
            back = self.monarc("convert", "--to", "llvm-sample", "-o", "-", "a.afdo")
            self.assertIn(f" 1: {2 ** 63 - 1} rarely:{2 ** 63 - 1}\n", back)
            self.assertEqual(read_text(back)["work"][0], 2 ** 63 - 1)

    @slow
    def test_split_debug_information_that_is_gone(self):
        """What is left of a program whose .dwo files are not all there; and of one without any."""
        (self.folder / "a.c").write_text("__attribute__((noinline)) int a(int n)\n{\n    return n * 3;\n}\n")
        (self.folder / "m.c").write_text("int a(int);\n__attribute__((noinline)) int b(int n)\n{\n    return n * 5;\n}\n"
                                         "int main(int c, char **v) { return a(c) + b(c) + !v; }\n")
        for name in "a", "m":
            self.call("gcc", "-O1", "-g", "-gsplit-dwarf", "-c", f"{name}.c")
        self.call("gcc", "-no-pie", "-o", "t", "m.o", "a.o")
        (self.folder / "a.dwo").unlink()
        self.assertEqual(set(read_text(self.counted("a", "b"))), {"b"})
        text = self.monarc("optimize", "--for", "clang", "--explain", "t", "gmon.out")
        self.assertRegex(text, r"of 2 files of debug information that was split off, 1 are not there, such as a\.dwo")
        (self.folder / "m.dwo").unlink()
        self.assertRegex(self.monarc("optimize", "--for", "clang", "--explain", "t", "gmon.out", status=2),
                         r"^monarc: the debug information of t was split off, and [am]\.dwo is not there: put .*\n$")

    def test_code_without_declarations(self):
        """Only line numbers: compilers could not find the functions again."""
        (self.folder / "s.s").write_text(".globl spin\n.type spin, @function\nspin:\n nop\n ret\n.size spin, .-spin\n"
                                         ".globl main\n.type main, @function\nmain:\n nop\n ret\n.size main, .-main\n")
        self.call("gcc", "-g", "-no-pie", "-o", "t", "s.s")
        code = instructions(self.folder / "t", "spin")
        (self.folder / "gmon.out").write_bytes(gmon([(code[0][0], code[0][0] + 8, [5] * 8)]))
        self.assertIn("has a place in its sources: no declaration in the debug information",
                      self.monarc("optimize", "--for", "clang", "t", "gmon.out", "-o", "x", status=2))

    @slow
    def test_samples_of_another_build(self):
        self.call("gcc", "-O2", "-g", "-o", "t", "t.c")
        self.monarc("run", "--no-report", "-o", "r", "./t", "5000000")
        self.call("gcc", "-O1", "-g", "-DX", "-o", "t", "t.c")
        self.assertIn("another build of t (its build-id differs)",
                      self.monarc("optimize", "--for", "gcc", "t", "r", "-o", "x", status=2))
        shutil.copy(self.folder / "t", self.folder / "u")
        self.assertRegex(self.monarc("optimize", "--for", "gcc", "u", "r", "-o", "x", status=2),
                         r"^monarc: r: has nothing of u; /\S*/t ran\n$")
        self.call("strip", "t")
        self.assertIn("has no line numbers", self.monarc("optimize", "--for", "gcc", "t", "r", "--force",
                                                         "-o", "x", status=2))
        self.assertFalse((self.folder / "x").exists())


@unittest.skipUnless(GCC, "needs gcc")
class Build(Case):
    def build(self, define="", run="./t 20000000", **more):
        (self.folder / "loop.c").write_text(LOOP)
        (self.folder / "t.afdo").write_text("the old one")
        return self.monarc("optimize", "--for", "gcc", "--build", BUILD % define, "--run", run, "--repeat",
                           4, "-o", "t.afdo", **more)

    @slow
    def test_a_gain_is_kept(self):
        text = self.build()
        gain = re.search(r"each the mean of 4 runs\ngain ([0-9.]+) %, between ", text)
        self.assertGreater(float(gain[1]), 50, text)
        self.assertIn("kept: t.afdo", text)
        self.assertEqual((self.folder / "t.afdo").read_bytes()[:4], b"adcg")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["loop.c", "t", "t.afdo", "t.c"])
        self.assertEqual(self.call(*NM, "t").count(" main"), 1)

    @slow
    def test_a_loss_is_not(self):
        (self.folder / "loop.c").write_text(LOOP)
        done = monarc("optimize", "--for", "gcc", "--build", BUILD % "-DSLOW", "--run", "./t 40000000",
                      "--repeat", 4, "-o", "t.afdo", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse((self.folder / "t.afdo").exists())
        found = json.loads(done.stdout)
        check_schema(self, "optimize_build", found)
        self.assertFalse(found["is_kept"])
        self.assertLess(found["gain"], -1)
        (self.folder / "t.afdo").write_text("the old one")
        text = monarc("optimize", "--for", "gcc", "--build", BUILD % "-DSLOW", "--run", "./t 40000000",
                      "--repeat", 4, "-o", "t.afdo", cwd=self.folder).stdout.decode()
        self.assertNotIn("gain", text)
        slower = re.search(r"\nslower by ([0-9.]+) %, between (-?[0-9.]+) and ([0-9.]+) with 95 %", text)
        low, high = float(slower[2]), float(slower[3])
        self.assertTrue(0 <= low <= float(slower[1]) <= high, text)
        self.assertEqual((self.folder / "t.afdo").read_text(), "the old one")
        (self.folder / "t.afdo").unlink()
        plain = (self.folder / "t").read_bytes()
        self.call("gcc", "-O2", "-g", "-DSLOW", "-o", "again", "loop.c")
        self.assertEqual(plain, (self.folder / "again").read_bytes())

    def test_what_goes_wrong_leaves_the_old_profile(self):
        self.assertIn("the build failed", self.build("-DX=)", status=2))
        self.assertIn("is not a program that --build made", self.build(run="./loop.c 1", status=2))
        self.assertEqual((self.folder / "t.afdo").read_text(), "the old one")
        self.assertEqual([p for p in self.folder.iterdir() if "work" in p.name], [])
        for words, says in ((["--build", "make"], "needs --run"),
                            (["--build", "make", "--run", "./t"], "{flags}"),
                            (["--build", "make {flags}", "--run", "./t"], "-o FILE")):
            self.assertIn(says, self.monarc("optimize", "--for", "gcc", *words, status=2))


class Linkers(Case):
    def test_options_of_others_are_refused(self):
        self.call("gcc", "-O2", "-g", "-no-pie", "-ffunction-sections", "-o", "t", "t.c")
        code = instructions(self.folder / "t", "work")
        (self.folder / "gmon.out").write_bytes(gmon([(code[0][0], code[0][0] + 8, [7] * 8)]))
        for words, says in ((["--for", "lld", "--explain"], "--explain is for profiles of compilers"),
                            (["--for", "ld", "--gcc", "12"], "--gcc works only with --for gcc"),
                            (["--for", "gcc", "--object", "t", "-o", "x"], "--object works only with an order of functions"),
                            (["--for", "clang", "--cluster", "64", "-o", "x"], "--cluster works only with an order")):
            self.assertIn(says, self.monarc("optimize", *words, "t", "gmon.out", status=2))
        self.monarc("optimize", "--for", "lld", "t", "gmon.out", "-o", "t.order")
        self.assertIn("work", (self.folder / "t.order").read_text())


@unittest.skipUnless(GCC, "needs gcc")
class Counters(Case):
    def counted(self):
        source = (self.folder / "t.c").read_text()
        if source not in self.built:
            self.call("gcc", "--coverage", "-g", "-o", "counted", "t.c")
            self.call("./counted", "100000")
            self.call("gcc", "-O2", "-g", "-o", "t", "t.c")
            self.built[source] = {name: (self.folder / name).read_bytes() for name in
                                  ("counted", "counted-t.gcno", "counted-t.gcda", "t")}
        for name, data in self.built[source].items():
            (self.folder / name).write_bytes(data)

    def test_gcc_gets_the_exact_probabilities(self):
        self.counted()
        self.monarc("optimize", "--for", "gcc", "t", ".", "-o", "t.afdo")
        self.call("gcc", "-O2", "-g", "-fauto-profile=t.afdo", "-fdump-tree-optimized-blocks", "-c",
                  "t.c", "-o", "u.o")
        [dump] = self.folder.glob("*.optimized")
        [work] = re.findall(r"\nlong int work \(int n\)\n(.*?)\n\n\n", dump.read_text(), re.S)
        shares = {float(x) for x in re.findall(r"\[([0-9.]+)%\]", work)}
        self.assertTrue(any(abs(x - 90) < 1 for x in shares), shares)
        self.assertTrue(any(abs(x - 10) < 1 for x in shares), shares)

    @unittest.skipUnless(CLANG, "needs clang")
    def test_clang_gets_the_exact_weights(self):
        self.counted()
        for options in (), ("--binary",):
            self.monarc("optimize", "--for", "clang", *options, "t", ".", "-o", "t.prof")
            code = self.call("clang", "-O2", "-g", "-fprofile-sample-use=t.prof", "-S", "-emit-llvm",
                             "t.c", "-o", "-")
            weights = [tuple(map(int, w)) for w in
                       re.findall(r'"branch_weights", i32 (\d+), i32 (\d+)', code)]
            self.assertTrue(any({90000, 10000} == {round(a, -2), round(b, -2)} for a, b in weights),
                            weights)

    @slow
    @unittest.skipUnless(CLANG, "needs clang")
    def test_coverage_of_clang_begins_at_the_brace(self):
        """Lines count from the declaration, which stands in the program's debug information."""
        self.call("clang", "-g", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "counted", "t.c")
        self.call("env", "LLVM_PROFILE_FILE=t.profraw", "./counted", "100000")
        text = self.monarc("optimize", "--for", "clang", "counted", "t.profraw", "-o", "t.prof")
        _, counts = read_text((self.folder / "t.prof").read_text())["work"]
        self.assertEqual([counts[(str(i),)] for i in (4, 5, 7, 8)], [100000, 90000, 10000, 100000], text)
        code = self.call("clang", "-O2", "-g", "-fprofile-sample-use=t.prof", "-S", "-emit-llvm", "t.c", "-o", "-")
        weights = [tuple(map(int, w)) for w in re.findall(r'"branch_weights", i32 (\d+), i32 (\d+)', code)]
        self.assertTrue(any({90000, 10000} == {round(a, -2), round(b, -2)} for a, b in weights), weights)

    @slow
    @unittest.skipUnless(CLANG, "needs clang")
    def test_a_profile_of_another_program_in_the_folder(self):
        """clang's profile beside gcc's counters is passed over, and named; not if it was named."""
        self.counted()
        alone = self.monarc("optimize", "--for", "clang", "t", ".", "-o", "-")
        self.call("clang", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "other", "t.c")
        self.call("env", "LLVM_PROFILE_FILE=x.profraw", "./other", "10")
        text = self.monarc("optimize", "--for", "clang", "t", ".", "-o", "t.prof")
        self.assertIn("x.profraw is passed over", text)
        self.assertEqual((self.folder / "t.prof").read_text(), alone)
        self.assertIn("no coverage mapping", self.monarc("optimize", "--for", "clang", "t", ".", "x.profraw",
                                                         "-o", "t.prof", status=2))

    def test_counts_are_gcovs(self):
        self.counted()
        text = self.monarc("optimize", "--for", "clang", "t", ".", "-o", "-")
        head, counts = read_text(text)["work"]
        start = SOURCE[:SOURCE.index("long work")].count("\n") + 1
        self.assertEqual(head, 1)
        listed = self.monarc("gcov", "-t", "counted-t.gcda")
        for count, line in re.findall(r"^ *(\d+)\*?: *(\d+):", listed, re.M):
            offset = int(line) - start
            if 0 <= offset <= 10 and offset != 5:  # where clamp returns to: gcov counts it twice
                self.assertEqual(counts[(str(offset),)], int(count), line)
        self.assertEqual(counts[("5",)], 90000)
        self.assertEqual(read_text(text)["often"][0] + read_text(text)["rarely"][0], 100000)


    def test_inlined_functions_have_counts_where_they_are(self):
        """Compilers look inlined code up in the function that it is in. `clamp` was inlined when it
        was counted, too; `third` was not, and each of its copies has the calls that its line made."""
        self.counted()
        found = read_text(self.monarc("optimize", "--for", "clang", "t", ".", "-o", "-"))
        ran = {int(line): int(count) for count, line in re.findall(
            r"^ *(\d+)\*?: *(\d+):", self.monarc("gcov", "-t", "counted-t.gcda"), re.M)}
        start = SOURCE[:SOURCE.index("int clamp")].count("\n") + 1
        self.assertEqual(ran[start + 4], 90000)
        inlined = {int(path[1]): n for path, n in found["work"][1].items() if path[0] == "5 clamp"}
        self.assertTrue(inlined)  # which of its lines have code is the compiler's choice
        self.assertEqual(inlined, {offset: ran[start + offset] for offset in inlined})
        for path in self.folder.glob("*t.gc*"):
            path.unlink()
        (self.folder / "t.c").write_text(COPIES)
        self.counted()
        text = self.monarc("optimize", "--for", "clang", "t", ".", "-o", "-")
        found = read_text(text)
        self.assertEqual(found["often"][1][("3 third", "2")], 3000)
        self.assertEqual(found["rarely"][1][("3 third", "2")], 1000)

    @slow
    def test_inlined_functions_without_a_linkage_name(self):
        """In anonymous namespaces, debug information has `step` alone; compilers know the mangled name,
        which the counters have."""
        (self.folder / "t.cpp").write_text(ANONYMOUS)
        self.call("g++", "--coverage", "-g", "-c", "t.cpp", "-o", "counted.o")
        self.call("g++", "--coverage", "-o", "counted", "counted.o")
        self.call("./counted")
        self.call("g++", "-O2", "-g", "-o", "t", "t.cpp")
        self.assertNotRegex(self.call(*NM, "t"), "walker4step")
        found = read_text(self.monarc("optimize", "--for", "clang", "t", ".", "-o", "-"))
        [counts] = [of for name, (_, of) in found.items() if "run" in name]
        [path] = [p for p in counts if len(p) == 2]
        self.assertRegex(path[0], r" _ZN\w*walker4stepEi$")
        self.assertEqual(counts[path], 5000)


class Files(Case):
    TEXT = ("main:184019:2\n 4: 534\n 5: 1075\n 5.2: 7\n 9: 2064 bar:1471 foo:631\n"
            " 10: inline1:1000\n  1: 1000\n  3: deep:0\n   1: 0\nfoo:12:3\n 1: 12\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def canonical(self, name):
        return self.monarc("convert", "--to", "llvm-sample", "-o", "-", name)

    def test_all_forms_hold_the_same(self):
        self.write("a.prof", self.TEXT)
        once = self.canonical("a.prof")
        for form in "afdo", "llvm-sample-binary", "llvm-sample":
            self.monarc("convert", "--to", form, "-o", form, "a.prof",
                        *(["--gcc", "16"] if form == "afdo" else []))
            self.assertEqual(self.canonical(form), once, form)

    def test_merge_adds_and_commutes(self):
        self.write("a.prof", self.TEXT)
        self.write("b.prof", "foo:5:1\n 1: 4\n 2: 1\nother:1:1\n 1: 1\n")
        self.monarc("merge", "-o", "ab", "a.prof", "b.prof")
        self.monarc("merge", "-o", "ba", "b.prof", "a.prof")
        self.assertEqual(*((self.folder / name).read_bytes() for name in ("ab", "ba")))
        found = read_text((self.folder / "ab").read_text())
        self.assertEqual(found["foo"], (4, {("1",): 16, ("2",): 1}))
        if PROFDATA:
            self.call(PROFDATA, "merge", "--sample", "--text", "-o", "theirs", "a.prof", "b.prof")
            self.write("theirs2", (self.folder / "theirs").read_text())
            self.assertEqual(read_text(self.canonical("theirs2")), found)

    def test_diff_says_what_two_share(self):
        self.write("a.prof", "kept:80:1\n 1: 60\n 2: 20\ngone:20:1\n 1: 20\n")
        self.write("b.prof", "kept:8:1\n 1: 5\n 3: 3\nfresh:2:1\n 1: 2\n")
        found = monarc_json("diff", "a.prof", "b.prof", cwd=self.folder)
        check_schema(self, "diff_source_profiles", found)
        self.assertAlmostEqual(found["common"], 0.5)
        self.assertEqual([f["name"] for f in found["functions"]], ["kept", "gone", "fresh"])
        text = self.monarc("diff", "a.prof", "b.prof")
        self.assertIn("50.00 % of the counts", text)
        self.assertRegex(text, r"gone  \(lost\)\n.*fresh  \(new\)")
        if PROFDATA:
            theirs = self.call(PROFDATA, "overlap", "--sample", "a.prof", "b.prof")
            self.assertRegex(theirs, r"(?m)Whole program profile similarity: +50\.|overlap")
        self.assertIn("0 %", self.monarc("diff", "a.prof", "a.prof"))
        self.assertIn("text or JSON", self.monarc("diff", "--csv", "a.prof", "b.prof", status=2))

    @unittest.skipUnless(PROFDATA, "needs llvm-profdata")
    def test_llvm_reads_our_binary_and_we_read_theirs(self):
        self.write("a.prof", self.TEXT)
        self.monarc("convert", "--to", "llvm-sample-binary", "-o", "a.bin", "a.prof")
        theirs = self.call(PROFDATA, "merge", "--sample", "--text", "a.bin", "-o", "-")
        self.assertEqual(read_text(theirs), read_text(self.TEXT))
        for packed in (), ("--compress-all-sections",):
            self.call(PROFDATA, "merge", "--sample", "--extbinary", *packed, "a.prof", "-o", "b.bin")
            self.assertEqual(self.canonical("b.bin"), self.canonical("a.prof"))

    def test_info(self):
        self.write("a.prof", self.TEXT)
        text = self.monarc("info", "a.prof")
        self.assertIn("sample profile of LLVM, text", text)
        found = monarc_json("info", "a.prof", cwd=self.folder)
        [of] = found["files"]
        self.assertEqual((of["format"], of["functions"], of["inlined"], of["positions"]),
                         ("llvm-sample", 2, 2, 7))

    def test_lines_have_16_bits(self):
        """LLVM takes no others; cut to that, the count of line 70,000 would be line 4,464's."""
        self.write("a.prof", "foo:5:1\n 65535: 5\n")
        self.assertIn(" 65535: 5\n", self.canonical("a.prof"))
        for line in " 70000: 7", " 66000: bar:3\n  1: 3":
            self.write("a.prof", f"foo:12:3\n 1: 5\n{line}\n")
            said = self.monarc("convert", "--to", "llvm-sample-binary", "-o", "a.bin", "a.prof", status=2)
            self.assertIn("a.prof: line 3: expected a line below 65536", said)
            if PROFDATA:
                done = subprocess.run([PROFDATA, "merge", "--sample", "a.prof", "-o", "a.bin"],
                                      cwd=self.folder, capture_output=True)
                self.assertNotEqual(done.returncode, 0)

    def test_sections_that_lie_over_each_other(self):
        """Ten thousand times the same list of 300,000 names: 48 GB, if each was read."""
        self.write("a.prof", self.TEXT)
        self.monarc("convert", "--to", "llvm-sample-binary", "-o", "a.bin", "a.prof")
        sections, names = 10000, b"\xe0\xa7\x12" + b"f\0" * 300000
        head = (self.folder / "a.bin").read_bytes()[:10]
        at = len(head) + 8 + 32 * sections
        data = head + struct.pack("<Q", sections) + struct.pack("<4Q", 2, 0, at, len(names)) * sections
        (self.folder / "b.bin").write_bytes(data + names)
        done = monarc_limited("convert", "--to", "llvm-sample", "-o", "-", "b.bin", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr, rb"^monarc: b\.bin: .*section 1 lies over another.*\n$")

    @slow
    def test_a_section_that_unpacks_to_a_lot(self):
        """400 MB of zeros in 400 KB: refused, before there is memory for it."""
        self.write("a.prof", self.TEXT)
        self.monarc("convert", "--to", "llvm-sample-binary", "-o", "a.bin", "a.prof")
        head, size = (self.folder / "a.bin").read_bytes()[:10], 400 << 20
        pack = zlib.compressobj(9)
        packed = b"".join(pack.compress(bytes(1 << 20)) for _ in range(size >> 20)) + pack.flush()
        leb = lambda n: bytes([n & 127 | 128]) + leb(n >> 7) if n > 127 else bytes([n])
        body = leb(size) + leb(len(packed)) + packed
        (self.folder / "b.bin").write_bytes(head + struct.pack("<5Q", 1, 2, 1, len(head) + 40, len(body)) + body)
        done = monarc_limited("convert", "--to", "llvm-sample", "-o", "-", "b.bin", cwd=self.folder, megabytes=300)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr, rb"^monarc: b\.bin: .*a compressed section claims 419430400 bytes\n$")

    @slow
    def test_without_capstone(self):
        """Blocks that are guessed have other counts: nothing is written."""
        (self.folder / "none").mkdir()
        for number in range(4, 8):
            (self.folder / f"none/libcapstone.so.{number}").touch()
        (self.folder / "p.c").write_text("static __attribute__((noinline)) long own(long n)\n{\n"
                                      "    volatile long s = 0;\n    while (n--)\n        s += n;\n"
                                      "    return s;\n}\nint main(void) { return own(50000000) == 1; }\n")
        subprocess.run(["gcc", "-g", "-O1", "p.c", "-o", "p"], cwd=self.folder, check=True)
        self.assertEqual(monarc("run", "--no-report", "-o", "rec", "./p", cwd=self.folder).returncode, 0)
        (self.folder / "out").write_text("old")
        done = monarc("optimize", "--for", "gcc", "rec", "-o", "out", cwd=self.folder,
                      env={"LD_LIBRARY_PATH": str(self.folder / "none")})
        self.assertRegex(done.stderr.decode(), r"take.* instructions: libcapstone\.so\.\d is not installed\n$")
        self.assertEqual((done.returncode, (self.folder / "out").read_text()), (2, "old"))

    def test_damage_is_one_line(self):
        for text, says in (("main:1:1\n  4: 5\n", "below nothing"), ("main:1:1\n 4 5\n", "LINE"),
                           ("main:1:1\n 1: 99999999999999999999\n", "2^64"),
                           ("[main:1 @ f]:1:1\n 1: 1\n", "contexts")):
            self.write("bad.prof", text)
            said = self.monarc("merge", "-o", "x", "bad.prof", status=2)
            self.assertIn(says, said)
            self.assertEqual(said.count("\n"), 1)
        (self.folder / "bad.afdo").write_bytes(b"adcg" + struct.pack("<4I", 0x3430372A, 0, 0xAA << 24, 1))
        self.assertIn("--gcov_version=2", self.monarc("merge", "-o", "x", "bad.afdo", status=2))

    def test_misuse(self):
        for words, says in (([], "--for NAME"), (["--for", "gcc"], "needs a measurement"),
                            (["--for", "gcc", "x"], "-o FILE"),
                            (["--for", "gcc", "--binary", "x", "-o", "y"], "--binary"),
                            (["--for", "clang", "--gcc", "12", "x", "-o", "y"], "--gcc works only with")):
            self.assertIn(says, self.monarc("optimize", *words, status=2))


if __name__ == "__main__":
    main()
