"""graph --static: calls that stand in the code and were never recorded."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc

SOURCE = """
#define ALONE __attribute__((noinline))
#ifdef __clang__
#define OPAQUE
#else
#define OPAQUE __attribute__((noipa))
#endif
int pong(int x);
ALONE OPAQUE int leaf(int x) { __asm__(""); return x * 3; }
ALONE OPAQUE int ping(int x) { __asm__(""); return pong(x - 1) + leaf(x); }
ALONE OPAQUE int pong(int x) { __asm__(""); return x ? ping(x - 1) + 1 : 0; }
ALONE OPAQUE int tail(int x) { __asm__(""); return leaf(x + 1); }
ALONE OPAQUE int never(int x) { __asm__(""); return tail(x) + 1; }
ALONE int main(void) { return ping(3) + leaf(2); }
void _start(void) { main(); for (;;); }
"""

# Calls that end their functions, and one with a byte behind it.
ENDS = """
.globl _start, last, inner, leaf, end
_start: nop; call last
last: call leaf
inner: call leaf; nop
leaf: nop; nop; nop; nop; nop; nop
end: nop; nop; nop; nop
"""


class Ends(unittest.TestCase):
    """-c of gprof 2.44 and later leaves out calls behind which no byte of their range is."""
    def callers(self, version, high):
        arc = [(self.at["_start"] + 2, self.at["last"], 1)]
        low = self.at["_start"]
        ranges = [(low, high), (high, high + (self.at["end"] - high) // 2 * 2)]
        (self.folder / "gmon.out").write_bytes(gmon([(low, high, [0] * ((high - low) // 2)) for low, high in ranges], arc))
        done = monarc("gprof", "--compat", version, "-b", "-q", "-c", "-z", "p", cwd=self.folder)
        self.assertEqual(done.stderr, b"")
        return set(re.findall(r"0/0 +(\w+)", done.stdout.decode())) - {"leaf"}

    def test_last_call(self):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            (self.folder / "p.s").write_text(ENDS)
            if os.uname().machine != "x86_64":
                self.skipTest("x86-64 code")
            for words in ["as", "-o", "p.o", "p.s"], ["ld", "-o", "p", "p.o"]:
                subprocess.run(words, cwd=folder, check=True)
            listing = subprocess.run([*NM, "p"], cwd=folder, check=True, capture_output=True, text=True).stdout
            self.at = {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}
            behind = self.at["leaf"] + 2
            for version, expected in ("2.40", {"_start", "last", "inner"}), ("2.44", {"inner"}), ("2.46", {"inner"}):
                self.assertEqual(self.callers(version, behind), expected)
            # Here a histogram ends behind the call of `inner`.
            self.assertEqual(self.callers("2.40", self.at["inner"] + 5), {"_start", "last", "inner"})
            self.assertEqual(self.callers("2.44", self.at["inner"] + 5), set())


class Static(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        (cls.folder / "p.c").write_text(SOURCE)
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-nostdlib", "-static",
                        "-fno-pie", "-no-pie", "-fno-sanitize=all", "-o", "p", "p.c"],
                       cwd=cls.folder, check=True, stderr=subprocess.DEVNULL)
        cls.at = {}
        for line in subprocess.run([*NM, "p"], cwd=cls.folder, check=True, capture_output=True,
                                   text=True).stdout.splitlines():
            address, _, name = line.split()
            cls.at[name] = int(address, 16)
        low = min(cls.at[name] for name in ("main", "leaf", "_start")) & ~15
        high = cls.at["_start"] + 8 & ~7
        arcs = [(cls.at[caller] + 1, cls.at[callee], count) for caller, callee, count in
                (("_start", "main", 1), ("main", "ping", 1), ("ping", "pong", 2))]
        bins = [3] * ((high - low) // 8)
        (cls.folder / "gmon.out").write_bytes(gmon([(low, high, bins)], arcs))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def graph(self, *options):
        done = monarc("graph", *options, "--json", "p", cwd=self.folder)
        self.assertEqual(done.stderr, b"")
        report = json.loads(done.stdout)
        check_schema(self, "graph", report)
        return report

    def entry(self, report, name):
        return next(e for e in report["entries"] if e.get("name") == name)

    def callees(self, report, name):
        return {c["name"]: (c["kind"], c["calls"], c["static"])
                for c in self.entry(report, name)["callees"]}

    def test_only_where_asked_for(self):
        self.assertEqual(self.callees(self.graph(), "main"), {"ping": ("arc", 1, False)})

    def test_arcs(self):
        report = self.graph("--static")
        self.assertEqual(self.callees(report, "main"),
                         {"ping": ("arc", 1, False), "leaf": ("arc", 0, True)})
        callers = {c["name"] for c in self.entry(report, "leaf")["callers"] if "name" in c}
        self.assertEqual(callers, {"main", "ping", "tail"})

    def test_cycle_is_closed(self):
        report = self.graph("--static")
        cycle = next(e for e in report["entries"] if e["kind"] == "cycle")
        self.assertEqual({m["name"] for m in cycle["members"]}, {"ping", "pong"})
        self.assertEqual((cycle["calls"], cycle["recursive_calls"]), (1, 2))
        self.assertEqual(self.callees(report, "pong"), {"ping": ("internal", 0, True)})

    def test_never_called(self):
        report = self.graph("--static", "--all")
        self.assertEqual(self.callees(report, "never"), {"tail": ("arc", 0, True)})
        self.assertEqual(self.callees(report, "tail"), {"leaf": ("arc", 0, True)})

    def test_times_are_the_same(self):
        def totals(report):
            return {e["name"]: e["self_samples"] for e in report["entries"] if "name" in e}
        self.assertEqual(totals(self.graph()), totals(self.graph("--static")))

    def test_tree(self):
        rows = self.graph("--static", "--callers", "leaf")["trees"][0]["rows"]
        self.assertEqual({r["name"] for r in rows if r["static"] and r["depth"] == 1
                          and r["kind"] == "function"}, {"main", "tail"})

    def test_text_and_csv(self):
        text = monarc("graph", "--static", "p", cwd=self.folder).stdout.decode()
        self.assertRegex(text, r"(?m)^ +0\.000 +0\.000 +static +leaf")
        table = csv.DictReader(io.StringIO(monarc("graph", "--static", "--csv", "p", cwd=self.folder)
                                           .stdout.decode(), newline=""))
        found = {(r["caller"], r["callee"]) for r in table if r["static"] == "1"}
        self.assertLessEqual({("main", "leaf"), ("pong", "ping"), ("ping", "leaf")}, found)

    @unittest.skipUnless(os.uname().machine == "x86_64", "capstone measures rare instructions of x86 alone")
    def test_without_a_disassembler(self):
        """Rare instructions take capstone; without it calls may be missing, which is said. Here files
        that are none hide it."""
        hidden = self.folder / "hidden"
        hidden.mkdir()
        for version in range(3, 10):
            (hidden / f"libcapstone.so.{version}").write_bytes(b"")
        (self.folder / "rare.c").write_text(
            "int leaf(int x) { return x * 3; }\n"
            "int never(int x) { __asm__ volatile(\"popq (%%rax)\" ::: \"memory\"); return leaf(x); }\n"
            "int main(int argc, char **argv) { (void)argv; return argc > 5 ? never(1) : leaf(0); }\n")
        for words in (["-no-pie", "-o", "rare"], ["--coverage", "-o", "counted"]):
            subprocess.run(["gcc", *words, "rare.c"], cwd=self.folder, check=True)
        subprocess.run(["./counted"], cwd=self.folder, check=True)
        listing = subprocess.run([*NM, "rare"], cwd=self.folder, check=True, capture_output=True, text=True).stdout
        at = {words[2]: int(words[0], 16) for words in map(str.split, listing.splitlines()) if len(words) == 3}
        (self.folder / "one.gmon").write_bytes(gmon([(at["leaf"], at["main"] + 8, [0] * ((at["main"] + 8 - at["leaf"]) // 4))],
                                                    [(at["main"] + 4, at["leaf"], 1)]))
        hide = {"cwd": self.folder, "env": {**os.environ, "LD_LIBRARY_PATH": str(hidden)}}
        why = r"libcapstone\.so\.\d is not installed"
        for arguments, said, status in (
                (("graph", "--static", "rare", "one.gmon"), "calls may be missing: " + why, 2),
                (("gprof", "-c", "-q", "rare", "one.gmon"), "-c passes over unusual instructions: " + why, 0),
                (("optimize", "--for", "lld", "-o", "out", "counted", "counted-rare.gcda"), "takes all of its instructions: " + why, 2)):
            with self.subTest(arguments):
                whole, part = monarc(*arguments, cwd=self.folder), monarc(*arguments, **hide)
                self.assertEqual((whole.returncode, whole.stderr), (0, b""))
                self.assertEqual(part.returncode, status)
                self.assertRegex(part.stderr.decode(), said)


main()
