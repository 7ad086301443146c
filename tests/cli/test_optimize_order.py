"""monarc optimize for linkers: the order itself, its forms, what it promises, and whether linkers keep to it."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc, monarc_json
from parts import load_tests, slow

CC = shlex.split(os.environ.get("CC", "cc"))
CXX = shutil.which("g++")

ONE = """
#include <stdio.h>
#define ALONE __attribute__((noinline, noclone, aligned(16)))
int idle_first(int);
int far_away(int);
ALONE static int twin(int x) { __asm__ volatile(""); return x * 3; }
ALONE int idle1(int x) { __asm__ volatile(""); return x - 1; }
ALONE int hot(int x) { __asm__ volatile(""); return twin(x) + 1; }
extern int hot_alias(int) __attribute__((alias("hot")));
__attribute__((cold)) ALONE int rarely(int x) { __asm__ volatile(""); return x + 9; }
__attribute__((hot)) ALONE int burning(int x) { __asm__ volatile(""); return x + 7; }
ALONE int warm(int x) { __asm__ volatile(""); return hot(x) + burning(x) + rarely(x); }
ALONE int idle2(int x) { __asm__ volatile(""); return x + 1; }
ALONE int split(int x) {
    if (__builtin_expect(x == 12345, 0)) {
        printf("%d %d\\n", rarely(x), x);
        __builtin_abort();
    }
    return x + 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\\n", warm(argc) + far_away(argc) + split(argc) + (argc > 9 ? idle1(argc) + idle2(argc) : 0));
    return 0;
}
"""
TWO = """
#define ALONE __attribute__((noinline, noclone, aligned(16)))
ALONE static int twin(int x) { __asm__ volatile(""); return x * 5; }
ALONE int idle3(int x) { __asm__ volatile(""); return x - 3; }
ALONE int far_away(int x) { __asm__ volatile(""); return twin(x) + 2; }
"""
# Calls and samples; the functions are where nm says. The second `twin` is the one of TWO.
CALLS = [("main", "warm", 10), ("warm", "hot", 1000), ("hot", "twin", 1000), ("warm", "burning", 900),
         ("warm", "rarely", 5), ("main", "far_away", 3), ("far_away", "twin#2", 3),
         ("main", "split", 4)]
SAMPLES = {"hot": 400, "twin": 300, "burning": 500, "warm": 50, "rarely": 1, "main": 2,
           "far_away": 2, "split": 3}
IDLE = {"idle1", "idle2", "idle3"}


def symbols(program):
    """Names of functions by address; the second of a name is NAME#2."""
    found = {}
    for line in subprocess.run([*NM, "-n", program], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTW":
            name = words[2] if words[2] not in found else words[2] + "#2"
            found[name] = int(words[0], 16)
    return found


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc-order-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "one.c").write_text(ONE)
        (cls.folder / "two.c").write_text(TWO)
        cls.call(*CC, "-O2", "-ffunction-sections", "-fno-sanitize=all", "-c", "one.c", "two.c")
        cls.call(*CC, "-no-pie", "-fno-sanitize=all", "-o", "program", "one.o", "two.o")
        at = symbols(cls.folder / "program")
        low = min(at[name] for name in SAMPLES) & ~15
        high = max(at[name] for name in SAMPLES) + 64 & ~15
        bins = [0] * ((high - low) // 2)
        for name, hits in SAMPLES.items():
            bins[(at[name] - low) // 2] = hits
        arcs = [(at[caller], at[callee], count) for caller, callee, count in CALLS]
        (cls.folder / "gmon.out").write_bytes(gmon([(low, high, bins)], arcs))
        (cls.folder / "calls.out").write_bytes(gmon([], arcs))
        cls.at = at

    @classmethod
    def call(cls, *command):
        return subprocess.run(list(map(str, command)), cwd=cls.folder, check=True,
                              capture_output=True, text=True).stdout

    def order(self, *options, program="program", profile="gmon.out", status=0):
        target = [] if "--for" in options else ["--for", "lld"]
        done = monarc("optimize", *target, *options, program, profile, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() if not status else done.stderr.decode()

    def names(self, *options, **more):
        return self.order("--for", "names", *options, **more).split()


class Order(Case):
    def test_calls_decide_who_follows_whom(self):
        names = self.names()
        self.assertEqual(sorted(names), sorted(set(SAMPLES)))  # each once, idle ones not at all
        chain = [name for name in names if name in ("warm", "hot", "twin", "burning")]
        self.assertEqual(chain[0], "warm")  # its callees follow their best caller
        self.assertEqual(names.index("twin"), names.index("hot") + 1)
        self.assertEqual(names.index("main") + 1, names.index("warm"))

    def test_clusters_that_cannot_grow_stand_by_density(self):
        table = monarc_json("optimize", "--for", "lld", "--cluster", "1", "program", "gmon.out", cwd=self.folder)
        density = [f["heat"] / f["size_bytes"] for f in table["functions"] if f["is_named"]]
        twins = [f for f in table["functions"] if f["linkage_name"] == "twin"]
        whole = sum(f["heat"] for f in twins) / sum(f["size_bytes"] for f in twins)
        names = [f["linkage_name"] for f in table["functions"] if f["is_named"]]
        density[names.index("twin")] = whole
        self.assertEqual(density, sorted(density, reverse=True))
        self.assertEqual(table["clusters"], len(names))

    def test_functions_of_one_name_move_together(self):
        table = monarc_json("optimize", "--for", "lld", "program", "gmon.out", cwd=self.folder)
        twins = [(i, f) for i, f in enumerate(table["functions"]) if f["linkage_name"] == "twin"]
        self.assertEqual([f["is_named"] for _, f in twins], [True, False])
        self.assertEqual(twins[0][0] + 1, twins[1][0])
        self.assertIn("1 of them share their name", self.order("-o", "twins.order"))

    def test_json(self):
        table = monarc_json("optimize", "--for", "lld", "program", "gmon.out", cwd=self.folder)
        check_schema(self, "optimize_order", table)
        self.assertEqual([f["linkage_name"] for f in table["functions"] if f["is_named"]],
                         self.names())
        hot = next(f for f in table["functions"] if f["linkage_name"] == "hot")
        self.assertEqual(hot["aliases"], ["hot_alias"])
        self.assertEqual(int(hot["address"], 16), self.at["hot"])
        self.assertEqual(table["heat_is"], "samples")
        # All calls weigh as much as the square root of the samples.
        hits, calls = sum(SAMPLES.values()), 1 + sum(count for *_, count in CALLS)  # main's
        self.assertAlmostEqual(hot["heat"], SAMPLES["hot"] + hits ** 0.5 * 1000 / calls)
        end = 0
        for f in table["functions"]:
            start = int(f["expected_address"], 16)
            self.assertGreaterEqual(start, end)
            end = start + f["size_bytes"]

    def test_calls_alone(self):
        table = monarc_json("optimize", "--for", "lld", "program", "calls.out", cwd=self.folder)
        check_schema(self, "optimize_order", table)
        self.assertEqual(table["heat_is"], "calls")
        self.assertEqual({f["linkage_name"] for f in table["functions"]}, set(SAMPLES))

    def test_what_cannot_be_moved_is_said(self):
        low = self.at["_init"] & ~15
        (self.folder / "init.out").write_bytes(
            gmon([(low, low + 16, [5] * 8)], [(self.at["main"], self.at["warm"], 1)]))
        self.assertIn("1 more with", self.order("-o", "init.order", profile="init.out"))

    def test_calls_that_are_not_known(self):
        (self.folder / "alone").write_bytes(gmon([(self.at["hot"], self.at["hot"] + 8, [7] * 8)]))
        self.assertIn("lld's ordering needs calls",
                      self.order("--for", "calls", profile="alone", status=2))

    def test_errors(self):
        for arguments, said in (
                (["--for", "elf", "program", "gmon.out"], "lld, gold, ld, mold, calls or names"),
                (["--cluster", "x", "program", "gmon.out"], "--cluster"),
                (["--object", "libc.so.6", "program", "gmon.out"], "--object is for recordings"),
                ([], "names no program"), (["program", "nothing"], "nothing"),
                (["nothing", "gmon.out"], "nothing"), (["one.c", "gmon.out"], "one.c")):
            done = monarc("optimize", *([] if "--for" in arguments else ["--for", "lld"]), *arguments, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, b""), arguments)
            self.assertIn(said, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1)
        (self.folder / "empty.out").write_bytes(gmon())
        self.assertIn("no function that could be moved", self.order(profile="empty.out", status=2))


class Gain(unittest.TestCase):
    """Functions of 64 bytes, one a page, and idle ones between them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc-order-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        functions = "".join(f".globl {name}\n.type {name}, @function\n.size {name}, {size}\n"
                            f"{name}: .fill {size}, 1, 0x90\n"
                            for i in range(200) for name, size in ((f"f{i}", 64), (f"idle{i}", 4032)))
        (cls.folder / "p.s").write_text(f".text\n.globl _start\n_start:\n{functions}\n")
        subprocess.run([*CC, "-nostdlib", "-static", "-no-pie", "-fno-sanitize=all",
                        "-Wl,-Ttext=0x600000,--build-id=none", "-o", "p", "p.s"], cwd=cls.folder,
                       check=True)

    def gain(self, arcs):
        at = [0x600000 + 4096 * i for i in range(200)]
        (self.folder / "gmon.out").write_bytes(
            gmon([], [(at[caller] + 8, at[callee], count) for caller, callee, count in arcs]))
        table = monarc_json("optimize", "--for", "lld", "--force", "p", "gmon.out", cwd=self.folder)
        check_schema(self, "optimize_order", table)
        return table["before"], table["after"]

    def test_two_functions(self):
        before, after = self.gain([(0, 64, 10), (64, 0, 10)])
        self.assertEqual((before["pages_100"], after["pages_100"]), (2, 1))
        self.assertEqual((before["leaving_share"], after["leaving_share"]), (1, 0))
        self.assertEqual(before["distance_bytes"], 64 * 4096)  # from the middle of the caller
        self.assertEqual(after["distance_bytes"], 64)  # 32 there, 96 back
        self.assertEqual(before["itlb_misses_per_call"], 0)  # two pages fit
        self.assertEqual((before["faults"], after["faults"]), (2, 1))

    def test_one_function(self):
        self.gain([(0, 0, 10)])
        done = monarc("optimize", "--for", "lld", "--force", "-o", "one", "p", "gmon.out", cwd=self.folder)
        self.assertIn(b"\n1 function in 1 cluster of up to ", done.stdout)

    def test_faults_are_of_64_KiB(self):
        """Functions 0 to 15 lie on 16 pages and in one stretch; 14 and 17 in two."""
        before, after = self.gain([(i, i + 1, 5) for i in range(15)])
        self.assertEqual((before["pages_100"], before["faults"], after["faults"]), (16, 1, 1))
        self.assertEqual(self.gain([(14, 17, 5)])[0]["faults"], 2)

    def test_large_pages(self):
        before, after = self.gain([(3, 150, 7)])
        self.assertEqual((before["large_pages"], after["large_pages"]), (1, 1))

    def test_the_tlb_overflows(self):
        """A hundred pairs that call equally often: each page has 2 of 400 entries, so that one
        that keeps 64 of the 200 misses 68 % of the calls and as many of the returns."""
        before, after = self.gain([(i, 100 + i, 1000) for i in range(100)])
        self.assertEqual((before["pages_50"], before["pages_100"]), (51, 200))
        self.assertAlmostEqual(before["itlb_misses_per_call"], 2 * 136 / 200, 6)
        self.assertEqual(after["itlb_misses_per_call"], 0)
        self.assertEqual(after["pages_100"], 4)


class Files(Case):
    def test_sections(self):
        lines = [line for line in self.order("--for", "gold").splitlines() if line[0] != "#"]
        self.assertIn(".text.hot_alias", lines)
        self.assertIn(".text.hot.burning", lines)
        self.assertIn(".text.unlikely.rarely", lines)
        if "split.cold" in self.at:  # what is in .text.unlikely.split was never run
            self.assertIn(".text.split", lines)
            self.assertNotIn(".text.unlikely.split", lines)

    def test_remarks(self):
        for form, start in (("lld", "# "), ("gold", "# "), ("ld", "/* "), ("mold", "/* ")):
            text = self.order("--for", form)
            self.assertTrue(text.startswith(start))
            self.assertRegex(text, r"leave their page of 4 KiB, % +[0-9.]+ +[0-9.]+\n")
        self.assertNotIn("#", self.order("--for", "names"))

    def test_output_is_replaced_whole_or_not_at_all(self):
        path = self.folder / "kept.order"
        path.write_text("before\n")
        self.order("-o", "kept.order", profile="nothing", status=2)
        self.assertEqual(path.read_text(), "before\n")
        told = self.order("-o", "kept.order")
        self.assertEqual(path.read_text(), self.order())
        self.assertIn("kept.order", told)
        self.assertIn("pages of 4 KiB with 90 % of what ran", told)
        self.assertIn("Start-up hardly gains by this order: a page fault maps 64 KiB, and all of this code takes\n1 now and 1 in", told)
        self.assertEqual(self.order("-o", "-"), self.order())
        self.assertIn("no/such", self.order("-o", "no/such/file", status=2))
        self.assertIn('"functions"', self.order("--json", "-o", "kept.order", "--for", "names"))
        self.assertEqual(path.read_text().split(), self.names())


class Linking(Case):
    """The linker's part: functions stand as ordered, and the program still does what it did."""

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest(f"there is no {program}")

    def check(self, linked):
        expected = self.call("./program")
        self.assertEqual(self.call(f"./{linked}"), expected)
        at = symbols(self.folder / linked)
        wanted = [at[name] for name in self.names()]
        self.assertEqual(wanted, sorted(wanted), linked)
        first, last = wanted[0], wanted[-1]
        between = {name for name, address in at.items() if first <= address <= last}
        self.assertEqual(between - set(self.names()), {"twin#2", "hot_alias"}, linked)
        self.assertFalse(between & IDLE)

    def link(self, form, *flags, objects=("one.o", "two.o")):
        self.order("--for", form, "-o", f"{form}.order")
        self.call(*CC, "-fno-sanitize=all", "-no-pie", "-o", f"with-{form}", *objects, *flags)
        self.check(f"with-{form}")

    @slow
    @unittest.skipUnless(shutil.which("ld.lld"), "needs lld")
    def test_faults_of_a_start_up(self):
        """40 functions of 1,600, one in every 48 KiB: what the kernel counts is what is estimated."""
        folder = Path(tempfile.mkdtemp(prefix="monarc-faults-"))
        self.addCleanup(shutil.rmtree, folder)
        functions = "".join(f'__attribute__((noinline)) int f{i}(int x) {{ __asm__ volatile(".nops 1200, 9"); '
                            f'return x + {i}; }}\n' for i in range(1600))
        calls = "".join(f"s += f{i}(s);\n" for i in range(0, 1600, 40))
        (folder / "s.c").write_text(
            "#include <stdio.h>\n#include <sys/resource.h>\nstatic volatile int sink;\n" + functions +
            "int main(void)\n{\nstruct rusage a, b;\nint s = 0;\ngetrusage(RUSAGE_SELF, &a);\n" + calls +
            "getrusage(RUSAGE_SELF, &b);\nsink = s;\n"
            'printf("%ld\\n", b.ru_minflt - a.ru_minflt);\nreturn 0;\n}\n')
        plain = ["gcc", "-O1", "-ffunction-sections", "-no-pie", "s.c", "-o"]

        def run(*words):
            return subprocess.run(list(map(str, words)), cwd=folder, check=True, capture_output=True,
                                  text=True).stdout

        run(*plain, "counted", "-pg")
        run("./counted")
        run(*plain, "before")
        gain = monarc_json("optimize", "--for", "lld", "-o", "s.order", "counted", "gmon.out", cwd=folder)
        run(*plain, "after", "-fuse-ld=lld", "-Wl,--symbol-ordering-file=s.order")
        before, after = (min(int(run(f"./{name}")) for _ in range(3)) for name in ("before", "after"))
        estimated = gain["before"]["faults"] - gain["after"]["faults"]
        self.assertGreater(estimated, 20)
        told = monarc("optimize", "--for", "lld", "-o", "s.order", "counted", "gmon.out", cwd=folder).stdout.decode()
        self.assertNotIn("Start-up hardly gains", told)
        self.assertGreater(before - after, estimated // 2, (before, after))
        self.assertLess(before - after, 2 * estimated, (before, after))

    def test_lld(self):
        self.needs("ld.lld")
        self.link("lld", "-fuse-ld=lld", "-Wl,--symbol-ordering-file=lld.order,--fatal-warnings")

    def test_calls(self):
        """lld's own order of the same calls: what calls each other stands together."""
        self.needs("ld.lld")
        self.order("--for", "calls", "-o", "calls")
        lines = [line.split() for line in (self.folder / "calls").read_text().splitlines() if line[0] != "#"]
        self.assertEqual({(a, b): int(n) for a, b, n in lines}, {
            (a, b.replace("#2", "")): n for a, b, n in CALLS})
        self.call(*CC, "-fno-sanitize=all", "-no-pie", "-o", "with-calls", "one.o", "two.o", "-fuse-ld=lld",
                  "-Wl,--call-graph-ordering-file=calls,--fatal-warnings")
        at = symbols(self.folder / "with-calls")
        ordered = sorted((at[name], name) for name in at)
        names = [name for _, name in ordered]
        self.assertLess(abs(names.index("hot") - names.index("twin")), 3, names)

    @slow
    def test_gold(self):
        self.needs("ld.gold")
        self.link("gold", "-fuse-ld=gold", "-Wl,--section-ordering-file=gold.order")

    def test_gnu_ld(self):
        self.needs("ld.bfd")
        self.link("ld", "-fuse-ld=bfd", "-Wl,-T,ld.order")

    def test_mold(self):
        self.needs("mold")
        self.order("--for", "mold", "-o", "mold.order")
        self.call("ld", "-r", "--force-group-allocation", "-T", "mold.order", "-o", "all.o",
                  "one.o", "two.o")
        self.link("mold", "-fuse-ld=mold", objects=["all.o"])


CLASSES = """
#include <cstdio>
template <class T> struct Stack {
    T at[8]; int len = 0;
    __attribute__((noinline)) void push(T x) { at[len++ & 7] = x; }
    __attribute__((noinline)) T pop() { return at[--len & 7]; }
};
namespace {
__attribute__((noinline)) int helper(int x) { __asm__ volatile(""); return x + 1; }
}
struct Shape { Shape(); virtual ~Shape(); int sides; };
__attribute__((noinline)) Shape::Shape() : sides(3) { __asm__ volatile(""); }
__attribute__((noinline)) Shape::~Shape() { __asm__ volatile(""); }
__attribute__((noinline)) int idle() { __asm__ volatile(""); return 5; }
int main(int argc, char **)
{
    Stack<int> s; Stack<long> l; Shape shape;
    for (int i = 0; i < 50; i++) { s.push(helper(i)); l.push(s.pop()); }
    std::printf("%ld %d\\n", l.pop(), shape.sides + (argc > 5 ? idle() : 0));
}
"""


@unittest.skipUnless(CXX, "there is no g++")
class Cplusplus(Case):
    """Templates are in COMDAT groups, constructors have two names."""

    @slow
    def test_linked(self):
        (self.folder / "classes.cc").write_text(CLASSES)
        self.call(CXX, "-O1", "-ffunction-sections", "-c", "classes.cc")
        self.call(CXX, "-no-pie", "-o", "classes", "classes.o")
        at = symbols(self.folder / "classes")
        called = [name for name in at if re.search("push|pop|helper|Shape[CD]", name)
                  and not name.endswith("#2")]
        self.assertGreaterEqual(len(called), 7)
        (self.folder / "classes.out").write_bytes(gmon([], [
            (at["main"], at[name], 10 + i) for i, name in enumerate(called)]))
        arguments = {"program": "classes", "profile": "classes.out"}
        names = self.names(**arguments)
        self.assertNotIn("_Z4idlev", names)
        routes = {"lld": ["-fuse-ld=lld", "-Wl,--symbol-ordering-file=lld.c"],
                  "gold": ["-fuse-ld=gold", "-Wl,--section-ordering-file=gold.c"],
                  "ld": ["-Wl,-T,ld.c"], "mold": ["-fuse-ld=mold"]}
        for form, flags in routes.items():
            if form != "ld" and not shutil.which(f"ld.{form}"):
                continue
            self.order("--for", form, "-o", f"{form}.c", **arguments)
            objects = "classes.o"
            if form == "mold":
                objects = "grouped.o"
                self.call("ld", "-r", "--force-group-allocation", "-T", "mold.c", "-o", objects,
                          "classes.o")
            self.call(CXX, "-no-pie", "-o", "ordered", objects, *flags)
            self.assertEqual(self.call("./ordered"), self.call("./classes"))
            there = symbols(self.folder / "ordered")
            wanted = [there[name] for name in names]
            self.assertEqual(wanted, sorted(wanted), form)


COUNTED = """
#define ALONE __attribute__((noinline, noclone))
ALONE int leaf(int x) { __asm__ volatile(""); return x + 1; }
ALONE int seldom(int x) { __asm__ volatile(""); return leaf(x) + 2; }
ALONE int often(int x) { __asm__ volatile(""); return leaf(x) + 3; }
ALONE int idle(int x) { __asm__ volatile(""); return leaf(x) + 4; }
int main(int argc, char **argv)
{
    int s = argc > 9 ? idle(argc) : !argv;
    for (int i = 0; i < SELDOM; i++) s += seldom(i);
    for (int i = 0; i < OFTEN; i++) s += often(i);
    return s == 12345;
}
"""


class Counters(unittest.TestCase):
    """Counters of arcs in place of a profile; the program is another build of the sources."""

    def setUp(self):
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "a.c").write_text(COUNTED)
        self.call("gcc", "-O2", "-DSELDOM=3", "-DOFTEN=3", "a.c", "-o", "plain")

    def call(self, *command):
        subprocess.run(list(map(str, command)), cwd=self.folder, check=True, capture_output=True)

    def count(self, seldom, often, name="run"):
        self.call("mkdir", name)
        self.call("gcc", "--coverage", f"-DSELDOM={seldom}", f"-DOFTEN={often}", "-c", "a.c", "-o",
                  f"{name}/a.o")
        self.call("gcc", "--coverage", f"{name}/a.o", "-o", f"{name}/prog")
        self.call(f"{name}/prog")

    def names(self, *operands, program="plain"):
        done = monarc("optimize", "--for", "names", program, *operands, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().split()

    def convert(self, source, target, kind):
        done = monarc("convert", "--to", kind, "-o", target, source, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    @slow
    def test_a_function_follows_whom_ran_most_of_its_callers(self):
        self.count(5, 100, "one")
        self.count(100, 5, "two")
        one, two = self.names("one"), self.names("two")
        self.assertEqual(sorted(one), ["leaf", "main", "often", "seldom"])
        self.assertEqual(one.index("leaf"), one.index("often") + 1)
        self.assertEqual(two.index("leaf"), two.index("seldom") + 1)
        summary = monarc_json("optimize", "--for", "lld", "plain", "one", cwd=self.folder)["summary"]
        self.assertEqual((summary["calls"], summary["calls_from_unknown"]), (1 + 105 + 105, 1))
        self.assertEqual(self.names("one", program="one/prog"), one)

    @slow
    def test_every_form_says_the_same(self):
        self.count(5, 100)
        expected = self.names("run")
        self.convert("run/a.gcno", "run/b.bbg", "bbg")
        self.convert("run/a.gcda", "run/b.da", "da")
        (self.folder / "bbg").mkdir()
        for name in "b.bbg", "b.da":
            shutil.copy(self.folder / "run" / name, self.folder / "bbg")
        (self.folder / "mixed").mkdir()  # da with the compiler's notes
        shutil.copy(self.folder / "run/b.da", self.folder / "mixed/a.da")
        shutil.copy(self.folder / "run/a.gcno", self.folder / "mixed")
        for operand in "run/a.gcda", "run/a.gcno", "bbg", "bbg/b.bbg", "bbg/b.da", "mixed":
            self.assertEqual(self.names(operand), expected, operand)
        both = monarc_json("optimize", "--for", "lld", "plain", "run/a.gcda", "bbg", cwd=self.folder)
        self.assertEqual(both["summary"]["calls"], 2 * 211)  # runs add up

    @slow
    def test_refusals(self):
        self.count(5, 100)
        (self.folder / "gmon.out").write_bytes(gmon([], [(1, 2, 3)]))
        (self.folder / "empty").mkdir()
        data = (self.folder / "run/a.gcda").read_bytes()
        (self.folder / "other.c").write_text("int main(void) { return 0; }")
        self.call("gcc", "-nostartfiles", "-Wl,-emain", "-Dmain=other", "-shared", "other.c", "-o",
                  "other")
        for operands, says in ((["plain", "run", "gmon.out"], "cannot mix"),
                               (["plain", "empty"], "no counters"),
                               (["other", "run"], "has none of the functions that ran")):
            done = monarc("optimize", "--for", "lld", *operands, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(says, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1)
        (self.folder / "run/a.gcda").write_bytes(data[:len(data) // 2 // 4 * 4])
        done = monarc("optimize", "--for", "lld", "plain", "run", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--force continues without", done.stderr)


main()
