"""flat and graph: goldens of all forms, the laws, agreement of the forms, and refusals.

MONARC_UPDATE=1 writes the goldens anew; say in the commit why they changed.
"""

import csv
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

from harness import (DEMO, PROGRAMS, ROOT, check_schema, gmon, main, monarc, monarc_json)

GOLDEN = ROOT / "tests/golden/views"
CASES = {
    "flat.txt": ["flat", "demo", "demo.gmon"],
    "flat.json": ["flat", "--json", "demo", "demo.gmon"],
    "flat.csv": ["flat", "--csv", "demo", "demo.gmon"],
    "flat-arcs.txt": ["flat", "demo", "demo-arcs.gmon"],
    "flat-sum.txt": ["flat", "demo", "demo.gmon", "demo.gmon"],
    "flat-limit.txt": ["flat", "-n2", "--sort", "total", "demo", "demo.gmon"],
    "flat-min.txt": ["flat", "-m5", "--sort", "name", "--all", "demo", "demo.gmon"],
    "flat-focus.txt": ["flat", "-f", "^p", "-f", "box", "-i", "pong", "--linkage-names", "demo",
                       "demo.gmon"],
    "flat-full.txt": ["flat", "--full-names", "-f", "box", "demo", "demo.gmon"],
    "flat-mangled.txt": ["flat", "--no-demangle", "--color=always", "demo", "demo.gmon"],
    "flat-wide.txt": ["flat", "--wide", "demo", "demo.gmon"],
    "graph.txt": ["graph", "demo", "demo.gmon"],
    "graph.json": ["graph", "--json", "demo", "demo.gmon"],
    "graph.csv": ["graph", "--csv", "demo", "demo.gmon"],
    "graph-arcs.txt": ["graph", "demo", "demo-arcs.gmon"],
    "graph-focus.txt": ["graph", "--focus", "ping", "demo", "demo.gmon"],
    "graph-sorted.txt": ["graph", "--sort", "calls", "-n3", "demo", "demo.gmon"],
    "callers.txt": ["graph", "--callers", "fact", "demo", "demo.gmon"],
    "callers-model.txt": ["graph", "--model", "--callers", "fact", "demo", "demo.gmon"],
    "callees.txt": ["graph", "--callees", "main", "-d1", "demo", "demo.gmon"],
    "callees.json": ["graph", "--callees", "main", "--json", "demo", "demo.gmon"],
    "callees.csv": ["graph", "--model", "--callees", "box::open", "--callees", "ping", "--csv", "demo",
                    "demo.gmon"],
    "doctor.txt": ["doctor", "demo", "demo.gmon"],
}


class Goldens(unittest.TestCase):
    def test_all(self):
        for name, arguments in CASES.items():
            with self.subTest(name):
                result = monarc(*arguments)
                self.assertEqual(result.stderr, b"")
                path = GOLDEN / name
                if os.environ.get("MONARC_UPDATE"):
                    path.write_bytes(result.stdout)
                self.assertEqual(result.stdout.decode(), path.read_bytes().decode())


class Dimensions(unittest.TestCase):
    """Time and cache misses of main, of fact, which it calls, and of ping, in one file."""

    def setUp(self):
        dir = tempfile.TemporaryDirectory()
        self.addCleanup(dir.cleanup)
        self.dir = Path(dir.name)
        at = {s["name"]: int(s["address"], 16)
              for s in monarc_json("flat", "--all", DEMO, "demo.gmon")["functions"]}
        self.main, self.fact, self.ping = at["main"], at["fact"], at["ping"]
        times = [self.hits(self.main, 10), self.hits(self.fact, 30)]
        misses = [self.hits(self.main, 5, 1, b"cache-misses"),
                  self.hits(self.fact, 15, 1, b"cache-misses"),
                  self.hits(self.ping, 60, 1, b"cache-misses")]
        arcs = [(self.main + 4, self.fact, 7)]
        self.both, self.time, self.misses = (self.dir / n for n in ("both", "time", "misses"))
        self.both.write_bytes(gmon(times + misses, arcs))
        self.time.write_bytes(gmon(times, arcs))
        self.misses.write_bytes(gmon(misses))

    @staticmethod
    def hits(address, count, *unit):
        return address, address + 2, [count], *unit

    def test_flat_has_a_column(self):
        found = monarc_json("flat", DEMO, self.both)
        check_schema(self, "flat", found)
        self.assertEqual((found["summary"]["samples"], found["summary"]["dimension"]),
                         (40, "seconds"))
        rows = {f["name"]: (f["self_samples"], f["events"]) for f in found["functions"]}
        self.assertEqual({name: (own, other["self_samples"], other["self_share"])
                          for name, (own, (other,)) in rows.items()},
                         {"main": (10, 5, 5 / 80), "fact": (30, 15, 15 / 80),
                          "ping": (0, 60, 60 / 80)})
        text = monarc("flat", DEMO, self.both).stdout.decode()
        self.assertIn("Beside   cache-misses: 80 samples\n", text)
        self.assertRegex(text, r"cache-misses%  function")
        self.assertRegex(text, r"(?m)^ 75\.00 .* 18\.75  fact$")
        head, *lines = csv.reader(io.StringIO(monarc("flat", "--csv", DEMO, self.both).stdout.decode()))
        column = head.index("self_share of cache-misses")
        self.assertEqual({l[1]: float(l[column]) for l in lines if l[0] == "function"},
                         {"main": 5 / 80, "fact": 15 / 80, "ping": 60 / 80})

    def test_graph_has_totals(self):
        found = monarc_json("graph", DEMO, self.both)
        check_schema(self, "graph", found)
        totals = {e["name"]: (e["total_share"], e["events"][0]["total_samples"],
                              e["events"][0]["total_share"]) for e in found["entries"]}
        self.assertEqual(totals, {"main": (1, 20, 0.25), "fact": (0.75, 15, 15 / 80),
                                  "ping": (0, 60, 0.75)})
        text = monarc("graph", DEMO, self.both).stdout.decode()
        self.assertRegex(text, r"cache-misses%  function")
        self.assertRegex(text, r"(?m)^\[1\] +100\.00 .* 25\.00  main \[1\]$")

    def test_one_is_chosen(self):
        for report in "flat", "graph":
            alone = monarc_json(report, "--dimension", "cache-misses", DEMO, self.both)
            self.assertEqual(alone["summary"]["samples"], 80)
            self.assertNotIn("events", json.dumps(alone))

    def test_files_of_each_are_summed(self):
        """As two runs are: what one file lacks, the other has."""
        self.assertEqual(monarc_json("flat", DEMO, self.time, self.misses)["functions"],
                         monarc_json("flat", DEMO, self.both)["functions"])
        done = monarc("merge", "-o", self.dir / "sum", self.time, self.misses)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual((self.dir / "sum").read_bytes()[:20], self.both.read_bytes()[:20])
        self.assertEqual(monarc_json("graph", DEMO, self.dir / "sum")["entries"],
                         monarc_json("graph", DEMO, self.both)["entries"])

    def test_others_want_one(self):
        for command in "lines", "annotate", "order", "flame":
            refused = monarc(command, DEMO, self.both)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(b"several dimensions; --dimension chooses one", refused.stderr)
        chosen = monarc("flame", "--dimension", "cache-misses", "-o", self.dir / "x.svg", DEMO,
                        self.both)
        self.assertEqual((chosen.returncode, chosen.stderr), (0, b""))

    def test_doctor_looks_at_the_first(self):
        self.assertEqual(monarc("doctor", DEMO, self.both).stdout.replace(b"/both", b"/time"),
                         monarc("doctor", DEMO, self.time).stdout)


class SharedBins(unittest.TestCase):
    """Bins of 128 bytes over main and alpha, of 64 bytes each: all samples are alpha's, and nobody can know."""
    LOW, HIGH = 0x401000, 0x401280

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def profile(self, name, width, hits):
        bins = [0] * ((self.HIGH - self.LOW) // width)
        for address, count in hits.items():
            bins[(address - self.LOW) // width] += count
        path = self.dir / name
        path.write_bytes(gmon([(self.LOW, self.HIGH, bins)]))
        return path

    def mixed(self, name, shared, alone):
        """One bin of 128 bytes over main and alpha, and bins of 2 bytes over the rest."""
        rest = [0] * ((self.HIGH - self.LOW - 128) // 2)
        rest[0] = alone
        path = self.dir / name
        path.write_bytes(gmon([(self.LOW, self.LOW + 128, [shared]), (self.LOW + 128, self.HIGH, rest)]))
        return path

    def rows(self, profile):
        table = monarc_json("flat", DEMO, profile)
        check_schema(self, "flat", table)
        return {f["name"]: f for f in table["functions"]}, table["summary"]

    def test_interval_holds_what_finer_bins_say(self):
        hits = {0x401044: 200, 0x401124: 800}
        fine, fine_summary = self.rows(self.profile("fine", 2, hits))
        coarse, summary = self.rows(self.profile("coarse", 128, hits))
        self.assertNotIn("main", fine)
        self.assertEqual(coarse["main"]["self_share"], 0.1)
        self.assertEqual(coarse["main"]["self_share_low"], 0)
        self.assertGreater(coarse["alpha"]["self_share_high"], 0.2)
        self.assertEqual(coarse["alpha"]["shared_samples"], 200)
        for name, row in fine.items():
            self.assertEqual(row["shared_samples"], 0)
            self.assertLessEqual(coarse[name]["self_share_low"], row["self_share_low"], name)
            self.assertGreaterEqual(coarse[name]["self_share_high"], row["self_share_high"], name)
        self.assertEqual((fine_summary["shared_samples"], fine_summary["separating_bin_bytes"]), (0, 0))
        # 0x4010e0, where _ZN3box4openEi begins, is in a bin with ping.
        self.assertEqual((summary["shared_samples"], summary["separating_bin_bytes"]), (1000, 32))
        separate, summary = self.rows(self.profile("separate", 32, hits))
        self.assertEqual(summary["shared_samples"], 0)
        self.assertEqual({n: f["self_samples"] for n, f in separate.items() if f["self_samples"]},
                         {n: f["self_samples"] for n, f in fine.items() if f["self_samples"]})

    def test_is_said(self):
        profile = self.mixed("coarse", 10, 990)
        for command in "flat", "graph":
            text = monarc(command, "--no-pager", DEMO, profile).stdout.decode()
            self.assertIn("Note     1 % of the samples are in bins of 128 bytes that lie over several functions; "
                          "bins of 64 bytes would", " ".join(text.split()).replace("Note ", "Note     "))
        few = self.mixed("few", 1, 999)
        self.assertNotIn("several functions", monarc("flat", "--no-pager", DEMO, few).stdout.decode())
        found = {s["name"]: s for s in monarc_json("doctor", DEMO, profile)["findings"]}
        self.assertEqual(found["shared-bins"]["severity"], "note")
        many = self.mixed("many", 500, 500)
        found = {s["name"]: s for s in monarc_json("doctor", DEMO, many)["findings"]}
        self.assertEqual(found["shared-bins"]["severity"], "warning")
        self.assertIn("bins of 64 bytes would tell", found["shared-bins"]["evidence"])

    def test_gprof_is_as_it_was(self):
        profile = self.profile("coarse", 128, {0x401044: 200})
        text = monarc("gprof", "-b", "-p", DEMO, profile).stdout.decode()
        self.assertRegex(text, r"(?m)^ *50\.00 .* main$")


class Words(unittest.TestCase):
    def test_nothing_matches(self):
        for report in "flat", "graph":
            text = monarc(report, "--focus", "nosuch", "demo", "demo.gmon").stdout.decode()
            self.assertIn("passes --focus", text, report)

    def test_nothing_is_no_amount_with_two_blanks(self):
        self.assertNotIn("0  s", monarc("flat", "demo", "demo.gmon", "-a").stdout.decode())


class Laws(unittest.TestCase):
    def test_flat_is_complete(self):
        for extra in [], ["-n3"], ["-m6"], ["-f", "p"], ["-i", "work"], ["--all"]:
            flat = monarc_json("flat", *extra, "demo", "demo.gmon")
            check_schema(self, "flat", flat)
            s, rows, rest = flat["summary"], flat["functions"], flat["omitted"]
            self.assertAlmostEqual(sum(r["self_samples"] for r in rows) + rest["self_samples"] +
                                   s["unattributed_samples"], s["samples"], places=9)
            self.assertEqual(sum(r["calls"] for r in rows) + rest["calls"] +
                             s["calls_to_unknown"], s["calls"])

    def test_graph_flows(self):
        graph = monarc_json("graph", "demo", "demo.gmon")
        check_schema(self, "graph", graph)
        for e in graph["entries"]:
            if e["kind"] == "function" and e["cycle"]:
                continue
            for what in "self_samples", "callees_samples":
                inward = sum(c[what] for c in e["callers"] if c["kind"] != "internal")
                self.assertAlmostEqual(inward, e[what], places=9, msg=e)
            self.assertEqual(sum(c["calls"] for c in e["callers"] if c["kind"] != "internal"),
                             e["calls"])

    def test_totals_of_roots_are_all_samples(self):
        graph = monarc_json("graph", "demo", "demo.gmon")
        roots = sum(c["self_samples"] + c["callees_samples"] for e in graph["entries"]
                    for c in e["callers"] if c["kind"] in ("spontaneous", "unknown"))
        s = graph["summary"]
        self.assertAlmostEqual(roots + s["unattributed_samples"], s["samples"], places=9)

    def test_trees_match_schema(self):
        for what in "--callers", "--callees":
            for function in "main", "ping", "fact", "mcount", "_ZN3box4openEi", "box::open(int)":
                tree = monarc_json("graph", what, function, "demo", "demo.gmon")
                check_schema(self, "graph", tree)

    def test_no_path_is_invented(self):
        """Arcs are pairs: nothing longer is printed, but on the user's word as an estimate."""
        for what in "--callers", "--callees":
            for function in "main", "fact", "box::open":
                def depth(*more):
                    tree = monarc_json("graph", *more, what, function, "demo", "demo.gmon")
                    return max(r["depth"] for r in tree["trees"][0]["rows"]), tree["estimates_paths"]
                self.assertLessEqual(depth(), (1, False))
                self.assertLessEqual(depth("--depth", "9"), (1, False))
                self.assertEqual(depth("--model")[1], True)
        self.assertGreater(max(r["depth"] for r in monarc_json(
            "graph", "--model", "--callers", "fact", "demo", "demo.gmon")["trees"][0]["rows"]), 1)
        text = monarc("graph", "--model", "--callers", "fact", "demo", "demo.gmon").stdout
        self.assertIn(b"as if every call took equally long", text)
        self.assertIn(b"longer than a pair are an estimate", text)

    def test_forms_agree(self):
        flat = monarc_json("flat", "demo", "demo.gmon")
        table = list(csv.DictReader(io.StringIO(
            monarc("flat", "--csv", "demo", "demo.gmon").stdout.decode(), newline="")))
        rows = [r for r in table if r["kind"] in ("function", "profiler")]
        self.assertEqual(len(rows), len(flat["functions"]))
        for row, function in zip(rows, flat["functions"]):
            for name, text in row.items():
                value = function.get(name, "") if name == "object" else function[name]
                self.assertEqual(text if isinstance(value, str) else json.loads(text), value)


class Inputs(unittest.TestCase):
    def refused(self, word, *arguments, **more):
        result = monarc(*arguments, **more)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(result.stderr.count(b"\n"), 1)
        self.assertIn(word, result.stderr.decode())

    def test_standard_input(self):
        data = (PROGRAMS / "demo.gmon").read_bytes()
        named = monarc("flat", "demo", "demo.gmon").stdout.replace(b"demo.gmon", b"-")
        self.assertEqual(monarc("flat", "demo", "-", input=data).stdout, named)

    def test_default_is_gmon_out(self):
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "gmon.out").write_bytes((PROGRAMS / "demo.gmon").read_bytes())
            self.assertEqual(monarc("flat", DEMO, cwd=scratch).returncode, 0)
            os.remove(f"{scratch}/gmon.out")
            self.refused("gmon.out", "flat", DEMO, cwd=scratch)

    def test_usage(self):
        self.refused("PROGRAM", "flat")
        self.refused("no function 'nix'", "graph", "--callers", "nix", "demo", "demo.gmon")
        self.refused("regular expression", "flat", "-f", "(", "demo", "demo.gmon")
        self.refused("--sort", "flat", "--sort", "age", "demo", "demo.gmon")
        self.refused("--min-percent", "flat", "-m", "many", "demo", "demo.gmon")
        self.refused("--color", "flat", "--color=blue", "demo", "demo.gmon")
        self.refused("unknown", "flat", "--nix", "demo", "demo.gmon")
        self.refused("demo.c", "flat", "demo.c", "demo.gmon")
        self.refused("offset", "flat", "demo", "-", input=gmon([(0x401000, 0x401240, [1] * 9)])[:-3])

    def mismatch(self, word, data):
        self.refused(word, "flat", "demo", "-", input=data)
        self.refused("--force", "graph", "demo", "-", input=data)
        forced = monarc_json("flat", "--force", "demo", "-", input=data)
        self.assertIn(word, forced["summary"]["mismatch"])

    def test_another_program(self):
        self.mismatch("samples were taken at", gmon([(0x8000000, 0x8001000, [3] * 99)]))
        self.mismatch("outside of code", gmon([(0x400000, 0x401010, [9] * 64)]))
        self.mismatch("start of a function", gmon(arcs=[(0x401010, 0x401010 + 16 * i, 1)
                                                        for i in range(12)]))

    def test_another_machine(self):
        bins = [(0x401000, 0x401240, [1] * 144)]
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "gmon.out"
            path.write_bytes(gmon(bins, word=4))
            self.refused("32-bit", "flat", DEMO, path)
            path.write_bytes(gmon(bins, order=">"))
            self.refused("big-endian", "flat", DEMO, path)

    def test_rate_zero_has_no_time(self):
        flat = monarc_json("flat", "demo", "-",
                           input=gmon([(0x401000, 0x401240, [1] * 144, 0)]))
        check_schema(self, "flat", flat)
        self.assertIsNone(flat["functions"][0]["self_time"])
        text = monarc("flat", "demo", "-", input=gmon([(0x401000, 0x401240, [1] * 144, 0)])).stdout
        self.assertNotIn(b"inf", text)
        self.assertNotIn(b"nan", text)

    def test_nothing_sampled(self):
        for view in "flat", "graph":
            data = gmon([(0x401000, 0x401240, [0] * 144)])
            self.assertEqual(monarc(view, "demo", "-", input=data).returncode, 0)
            check_schema(self, view, monarc_json(view, "demo", "-", input=data))


main()
