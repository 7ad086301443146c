"""graph --static: calls that stand in the code and were never recorded."""

import csv
import io
import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, gmon, main, monarc

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
        for line in subprocess.run(["nm", "p"], cwd=cls.folder, check=True, capture_output=True,
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


main()
