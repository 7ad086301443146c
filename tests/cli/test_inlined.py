"""Inlined functions and pieces of functions: one rule in all reports of a recording. Each sample's chain of
functions is asked of addr2line; figures are made here."""

import collections
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import NM, gmon, main, monarc, monarc_json

sys.dont_write_bytecode = True
import exported  # noqa: E402
from run_file import FILE, PERIOD, Run  # noqa: E402

SOURCE = """
#define INSIDE static inline __attribute__((always_inline))
#define STEP(m) for (unsigned long i = 0; i < k; i++) { x = x * m + 3; __asm__ volatile("" : "+r"(x)); }
INSIDE unsigned long inner(unsigned long x, unsigned long k) { STEP(7) return x; }
INSIDE unsigned long middle(unsigned long x, unsigned long k) { x = inner(x, k); STEP(11) return x; }
__attribute__((noinline)) unsigned long host_a(unsigned long k)
{
    unsigned long x = middle(1, k);
    STEP(13)
    return x;
}
__attribute__((noinline)) unsigned long host_b(unsigned long k) { return inner(3, k) + 1; }
void stop(void) __attribute__((cold, noinline));
void stop(void) { __asm__ volatile(""); }
__attribute__((noinline)) int colder(int x, unsigned long k)
{ if (__builtin_expect(x > 9, 0)) { STEP(5) stop(); return (int)x; } return x + 1; }
int main(int argc, char **argv)
{ (void)argv; return (int)(host_a((unsigned long)argc) + host_b(3)) + colder(argc, 4); }
"""


class Inlined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = Path(cls.scratch.name)
        (cls.dir / "p.c").write_text(SOURCE)
        built = subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id=none", "p.c", "-o", "prog"], cwd=cls.dir, capture_output=True)
        if built.returncode:
            raise unittest.SkipTest("no gcc")
        text = subprocess.run([*NM, "-S", "prog"], cwd=cls.dir, capture_output=True, text=True, check=True).stdout
        cls.at = {w[3]: (int(w[0], 16), int(w[1], 16)) for w in map(str.split, text.splitlines()) if len(w) == 4}
        cls.samples = [(name, start + i, 1 + i % 5)
                       for name, (start, size) in cls.at.items()
                       if name in ("host_a", "host_b", "colder", "colder.cold") for i in range(size)]
        cls.recording = cls.record(cls.dir / "r")
        cls.own, cls.total = cls.expected()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def record(cls, path):
        count = sum(c for _, _, c in cls.samples)
        run = Run("prog", stacks=count, whole=count, user=count * PERIOD)
        file = run.object(FILE, str(cls.dir / "prog"), high=0x100000)
        run.process(7, 1, file, "prog", user=count * PERIOD)
        run.thread(0, 7, "prog", count * PERIOD)
        for _, address, samples in cls.samples:
            run.sample([(file, cls.at["main"][0]), (file, address)], samples)
        return run.write(path)

    @classmethod
    def chains(cls):
        """The chain of each sample by addr2line, innermost first: pairs of function and line."""
        asked = "".join("0x%x\n" % address for _, address, _ in cls.samples)
        done = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", "prog"], cwd=cls.dir, input=asked,
                              capture_output=True, text=True, check=True)
        chains = [chain.splitlines()[1:] for chain in ("\n" + done.stdout).split("\n0x")[1:]]
        assert len(chains) == len(cls.samples)
        return [[(name, place.split(" ")[0].rpartition(":")[2]) for name, place in zip(words[::2], words[1::2])]
                for words in chains]

    @staticmethod
    def of_stacks(stacks):
        """What each has itself, and of the stacks that it is in."""
        own, total = collections.Counter(), collections.Counter()
        for stack, amount in stacks:
            own[stack[0]] += amount
            for line in set(stack):
                total[line] += amount
        return own, total

    @classmethod
    def expected(cls):
        """By function: samples whose innermost function it is, and those that have it in their chain."""
        return cls.of_stacks(([name for name, _ in chain], count)
                             for chain, (_, _, count) in zip(cls.chains(), cls.samples))

    @classmethod
    def expected_lines(cls):
        """Likewise by function and line, in nanoseconds."""
        return cls.of_stacks(([(name, int(line)) for name, line in chain], count * PERIOD)
                             for chain, (_, _, count) in zip(cls.chains(), cls.samples))

    def test_exports_have_lines(self):
        """Those of the formats that have a place for them are where samples and calls were, not where functions
        begin."""
        own, total = self.expected_lines()
        found = exported.callgrind_own(monarc("export", "--format", "callgrind", self.recording).stdout.decode())
        self.assertEqual({line: amount for line, amount in found.items() if amount}, dict(own))
        self.assertGreater(len([line for line in own if line[0] == "host_a"]), 1)
        for name, read in exported.LINES.items():
            done = monarc("export", "--format", name, self.recording)
            found_own, found_total = self.of_stacks(read(done.stdout))
            found_total = {line: amount for line, amount in found_total.items() if line[0] != "main"}
            self.assertEqual(found_own, own, name)
            self.assertEqual(found_total, dict(total), name)
            merged = self.of_stacks(read(monarc("export", "--format", name, "--no-inlines", self.recording).stdout))[0]
            self.assertEqual({name for name, _ in merged}, {"host_a", "host_b", "colder"})
            self.assertEqual(sum(merged.values()), sum(own.values()), name)

    def rows(self, *options):
        rows = monarc_json("flat", *options, self.recording)["functions"]
        return {r["name"]: r for r in rows if r["self_samples"] > 0}

    def leaves(self, *options):
        done = monarc("export", "--format", "folded", *options, self.recording)
        leaves = collections.Counter()
        for line in done.stdout.decode().splitlines():
            path, _, count = line.rpartition(" ")
            leaves[path.split(";")[-1]] += int(count) / PERIOD
        return leaves

    def test_functions_have_their_own(self):
        rows = self.rows()
        self.assertIn("inner", rows)
        self.assertEqual({n: r["self_samples"] for n, r in rows.items()}, dict(self.own))
        for name, row in rows.items():
            self.assertEqual(row["total_samples"], self.total[name], name)
        self.assertEqual({n for n, r in rows.items() if r["is_inlined"]}, {"inner", "middle"})

    def test_reports_agree(self):
        self.assertEqual(self.leaves(), {n: r["self_samples"] for n, r in self.rows().items()})
        self.assertEqual(self.leaves("--no-inlines"),
                         {n: r["self_samples"] for n, r in self.rows("--no-inlines").items()})
        entries = monarc_json("graph", "--entries", self.recording)
        own = {e["name"]: e["self_samples"] for e in entries["entries"] if e["self_samples"] > 0}
        self.assertEqual(own, {n: r["self_samples"] for n, r in self.rows().items()})
        lines = collections.Counter()
        for line in monarc_json("lines", self.recording)["lines"]:
            lines[line["name"]] += line["self_samples"]
        self.assertEqual({n: s for n, s in lines.items() if s > 0},
                         {n: r["self_samples"] for n, r in self.rows().items()})

    def test_hosts(self):
        rows = self.rows("--no-inlines")
        of = collections.Counter()
        for name, _, count in self.samples:
            of[name.removesuffix(".cold")] += count
        self.assertEqual({n: r["self_samples"] for n, r in rows.items()}, dict(of))

    def test_head_says_which(self):
        def head(*options):
            return monarc(*options, self.recording, "--no-pager").stdout.decode()
        for command in ("flat",), ("graph", "--tree"), ("graph", "--entries"):
            self.assertIn("Inlines  2 inlined functions are named", head(*command, "--verbose"))
            self.assertIn("Inlines  part of the functions that they are in", head(*command, "--no-inlines"))
        self.assertIn("Inlines  part of", head("flat", "--model"))
        self.assertRegex(head("flat"), r"inner \(inlined\) +\w+\.c:\d+\n")
        summary = [monarc_json("flat", *o, self.recording)["summary"]["inlined"] for o in ([], ["--no-inlines"])]
        self.assertEqual(summary, ["named", "in_hosts"])

    def test_refusals(self):
        done = monarc("flat", "--inlines", "--model", self.recording)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"cannot be combined with", done.stderr)

    def test_cold_pieces(self):
        cold = sum(c for n, _, c in self.samples if n == "colder.cold")
        warm = sum(c for n, _, c in self.samples if n == "colder")
        if not cold:
            self.skipTest("this compiler moves nothing out")
        rows = self.rows("--no-inlines", "--pieces")
        self.assertEqual((rows["colder"]["self_samples"], rows["colder.cold"]["self_samples"]), (warm, cold))
        rows = self.rows("--no-inlines")
        self.assertEqual(rows["colder"]["self_samples"], warm + cold)
        self.assertEqual(rows["colder"]["total_samples"], warm + cold)
        self.assertNotIn("colder.cold", rows)
        self.assertNotIn("colder.cold", self.leaves())

    def test_comparison(self):
        done = monarc("diff", self.recording, self.recording, "--json")
        names = [r["name"] for r in monarc_json("diff", "--all", self.recording, self.recording)["functions"]]
        self.assertEqual(done.returncode, 0)
        self.assertIn("inner", names)
        names = [r["name"] for r in
                 monarc_json("diff", "--all", "--no-inlines", self.recording, self.recording)["functions"]]
        self.assertNotIn("inner", names)


LAMBDAS = """
#define LOOP(m) for (unsigned long i = 0; i < k; i++) { x = x * m + 3; __asm__ volatile("" : "+r"(x)); }
#define INLINE __attribute__((always_inline))
namespace app {
template <class F> static INLINE inline unsigned long twice(F f, unsigned long x) { unsigned long k = x; LOOP(7) return f(f(x)); }
template <class T> struct Index { INLINE unsigned long add(T t) { unsigned long x = (unsigned long)t, k = x; LOOP(11) return x; } };
}
int main(int argc, char **)
{
    unsigned long k = (unsigned long)argc;
    auto first = [&](unsigned long x) INLINE { LOOP(13) return x; };
    auto second = [&](unsigned long x) INLINE { LOOP(17) return x + 1; };
    return (int)(app::twice(first, 1) + app::twice(second, 2) + app::Index<int>().add(argc) + app::Index<long>().add(argc + 1L));
}
"""


class Lambdas(unittest.TestCase):
    """gcc has no linkage name for a lambda in main, nor for an instance of a template for one."""

    def test_owners(self):
        dir = tempfile.TemporaryDirectory()
        self.addCleanup(dir.cleanup)
        dir = Path(dir.name)
        (dir / "p.cc").write_text(LAMBDAS)
        built = subprocess.run(["g++", "-O1", "-g", "-Wl,--build-id=none", "p.cc", "-o", "prog"], cwd=dir, capture_output=True)
        if built.returncode:
            self.skipTest("no g++")
        text = subprocess.run([*NM, "-S", "prog"], cwd=dir, capture_output=True, text=True, check=True).stdout
        start, size = next((int(w[0], 16), int(w[1], 16)) for w in map(str.split, text.splitlines()) if w[-1] == "main")
        run = Run("prog", stacks=size, whole=size, user=size * PERIOD)
        file = run.object(FILE, str(dir / "prog"), high=0x100000)
        run.process(7, 1, file, "prog", user=size * PERIOD)
        run.thread(0, 7, "prog", size * PERIOD)
        for address in range(start, start + size):
            run.sample([(file, address)])
        run.write(dir / "r")
        names = {row["name"] for row in monarc_json("flat", "--all", dir / "r")["functions"]}
        for name in "main::{lambda#1}::operator()", "main::{lambda#2}::operator()":
            self.assertIn(name, names)
        self.assertTrue(any(name.startswith("app::twice<main") for name in names), names)
        text = monarc("flat", "--all", dir / "r").stdout.decode()
        for name in "main::{lambda#1}", "Index<int>::add", "Index<long>::add":
            self.assertIn(name, text)


@unittest.skipUnless(shutil.which("as") and shutil.which("ld"), "binutils are not installed")
class PiecesOfAProfile(unittest.TestCase):
    def test_cold_pieces(self):
        """In a profile by address, too: 16, 32 and 48 samples in three stretches of code."""
        code = [".text", ".globl _start"]
        for name in "_start", "work", "work.cold":
            code += [f".type {name}, @function", f"{name}: .skip 64, 0x90", f".size {name}, 64"]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "p.s").write_text("\n".join(code) + "\n")
            subprocess.run(["as", "--64", "-o", "p.o", "p.s"], cwd=folder, check=True)
            subprocess.run(["ld", "-Ttext=0x401000", "-o", "p", "p.o"], cwd=folder, check=True)
            Path(folder, "gmon.out").write_bytes(gmon([(0x401000, 0x4010c0, [1] * 16 + [2] * 16 + [3] * 16)]))
            for options, wanted in ([], {"work": 80, "_start": 16}), (["--pieces"], {"work.cold": 48, "work": 32, "_start": 16}):
                table = monarc_json("flat", *options, "p", "gmon.out", cwd=folder)
                self.assertEqual({f["name"]: f["self_samples"] for f in table["functions"]}, wanted)


if __name__ == "__main__":
    main()
