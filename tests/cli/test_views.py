"""flat and graph: goldens of all forms, the laws, agreement of the forms, and refusals.

MONARC_UPDATE=1 writes the goldens anew; say in the commit why they changed.
"""

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.dom.minidom
import zlib
from pathlib import Path

import parquet_file
from test_export import fields, packed
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
    "flat-focus.txt": ["flat", "-f", "/^p/", "-f", "/box/", "-i", "pong", "--linkage-names", "demo",
                       "demo.gmon"],
    "flat-full.txt": ["flat", "--full-names", "-f", "/box/", "demo", "demo.gmon"],
    "flat-mangled.txt": ["flat", "--no-demangle", "--color=always", "demo", "demo.gmon"],
    "flat-wide.txt": ["flat", "--wide", "demo", "demo.gmon"],
    "graph.txt": ["graph", "demo", "demo.gmon"],
    "graph.json": ["graph", "--json", "demo", "demo.gmon"],
    "graph.csv": ["graph", "--csv", "demo", "demo.gmon"],
    "graph-arcs.txt": ["graph", "demo", "demo-arcs.gmon"],
    "graph-focus.txt": ["graph", "--function", "ping", "demo", "demo.gmon"],
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
        self.assertRegex(text, r"(?m)^ 75\.0 .* 18\.8   fact$")
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
        self.assertRegex(text, r"(?m)^\[1\] +100\.00 .* 25\.0   main \[1\]$")

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
        for command in "lines", "annotate":
            refused = monarc(command, DEMO, self.both)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(b"several dimensions; --dimension chooses one", refused.stderr)
        for name in "cpuprofile", "firefox", "folded":
            refused = monarc("export", "--format", name, DEMO, self.both)
            self.assertEqual((refused.returncode, refused.stdout), (2, b""))
            self.assertIn(f"holds samples of 2 dimensions, and {name} has room for 1; --dimension "
                          "chooses one".encode(), refused.stderr)
        refused = monarc("export", "--format", "callgrind", "--asm", DEMO, self.both)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"callgrind --asm has room for 1;", refused.stderr)

    def test_too_many_to_export(self):
        """What a file may hold of dimensions is not bounded; what a table has of columns is."""
        all = self.dir / "all"
        for count, status in (16, 0), (17, 2):
            all.write_bytes(gmon([self.hits(self.main, 1, 1, b"dim%d" % i) for i in range(count)]))
            done = monarc("export", "--format", "parquet-functions", "-o", self.dir / "t", DEMO, all)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(b"holds samples of 17 dimensions, and parquet-functions has room for 16;",
                      done.stderr)

    def export(self, name, *more):
        done = monarc("export", "--format", name, *more, DEMO, self.both)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def test_pprof_has_values(self):
        top = fields(gzip.decompress(self.export("pprof")))
        texts = [t.decode() for t in top[6]]
        self.assertEqual([tuple(texts[fields(t)[k][0]] for k in (1, 2)) for t in top[1]],
                         [("cpu", "nanoseconds"), ("cache-misses", "count"), ("calls", "count")])
        names = {fields(f)[1][0]: texts[fields(f)[2][0]] for f in top[5]}
        self.assertEqual({tuple(names[i] for i in packed(sample[1][0])): packed(sample[2][0])
                          for sample in map(fields, top[2]) if packed(sample[2][0])[2] == 0},
                         {("main",): [10**8, 5, 0], ("fact", "main"): [3 * 10**8, 15, 0],
                          ("ping",): [0, 60, 0]})

    def test_callgrind_has_events(self):
        path = self.dir / "callgrind.out"
        path.write_bytes(self.export("callgrind"))
        text = path.read_text()
        self.assertIn("event: Cost : cpu, nanoseconds\nevent: Cost2 : cache-misses, count\n"
                      "events: Cost Cost2\n", text)
        self.assertRegex(text, r"calls=7 \d+\n\d+ 300000000 15\n")
        self.assertRegex(text, r"\ntotals: 400000000 80\n$")
        if not shutil.which("callgrind_annotate"):
            self.skipTest("callgrind_annotate is not installed")
        done = subprocess.run(["callgrind_annotate", "--threshold=100", "--sort=Cost2", path],
                              capture_output=True, text=True, check=True)
        rows = re.findall(r"(?m)^ *([\d,.]+) .*? ([\d,]+) \(.*:(\w+)", done.stdout)
        self.assertEqual({name: (cost.replace(",", ""), other) for cost, other, name in rows},
                         {"main": ("100000000", "5"), "fact": ("300000000", "15"),
                          "ping": (".", "60") if (".", "60", "ping") in rows else ("0", "60")})

    def test_tables_have_columns(self):
        rows, _ = parquet_file.read(self.export("parquet-functions"))
        self.assertEqual({r["function"]: (r["self"], r["total"], r["self of cache-misses"],
                                          r["total of cache-misses"]) for r in rows},
                         {"main": (10**8, 4 * 10**8, 5, 20), "fact": (3 * 10**8, 3 * 10**8, 15, 15),
                          "ping": (0, 0, 60, 60)})
        rows, _ = parquet_file.read(self.export("parquet"))
        self.assertEqual({r["stack"]: (r["self"], r["self of cache-misses"]) for r in rows},
                         {"main": (10**8, 5), "main;fact": (3 * 10**8, 15), "ping": (0, 60)})
        rows, _ = parquet_file.read(self.export("parquet-calls"))
        self.assertEqual([(r["caller"], r["callee"], r["calls"], r["cost"], r["cost of cache-misses"])
                          for r in rows], [("main", "fact", 7, 3 * 10**8, 15)])

    def test_profiles_stand_beside(self):
        """Speedscope and OpenTelemetry have a profile for each."""
        page = json.loads(self.export("speedscope"))
        names = [f["name"] for f in page["shared"]["frames"]]
        self.assertEqual([(p["name"].rsplit(", ", 1)[1], p["unit"],
                           {tuple(names[i] for i in s): w for s, w in zip(p["samples"], p["weights"])})
                          for p in page["profiles"]],
                         [("cpu", "nanoseconds", {("main",): 10**8, ("main", "fact"): 3 * 10**8}),
                          ("cache-misses", "none", {("main",): 5, ("main", "fact"): 15, ("ping",): 60})])
        data = self.export("otlp")
        self.assertIn(b"cache-misses", data)
        resource, = fields(data)[1]
        scope, = fields(resource)[2]
        values = [[v for s in fields(p)[2] for v in packed(fields(s)[4][0])] for p in fields(scope)[2]]
        self.assertEqual(values, [[10**8, 3 * 10**8], [5, 15, 60]])

    def test_focus_holds_for_each(self):
        rows, _ = parquet_file.read(self.export("parquet", "--function", "fact"))
        self.assertEqual({r["stack"]: (r["self"], r["self of cache-misses"]) for r in rows},
                         {"main;fact": (3 * 10**8, 15)})

    def test_dot_names_each(self):
        text = self.export("dot").decode()
        self.assertIn(r'"ping\n0.00 %\n(self 0.00 %)\ncache-misses 75.00 %\n(self 75.00 %)"', text)
        self.assertIn(r'[label="75.00 %\ncache-misses 18.75 %\n7×"', text)

    def test_paths_of_one_are_those_of_all(self):
        """What is too small to stand alone in all dimensions is summed in each; no sample is lost."""
        functions = [f for f in monarc_json("flat", "--all", DEMO, "demo.gmon")["functions"]]
        at = {f["name"]: int(f["address"], 16) for f in functions}
        names = ["main", "fact", "ping", "pong"]
        arcs = [(at[a] + 4, at[b], i + 3) for a in names for i, b in enumerate(names) if a < b]
        path = self.dir / "all"
        path.write_bytes(gmon([self.hits(at[n], 10 ** i) for i, n in enumerate(names)] +
                              [self.hits(at[n], 40000 // 7 ** i, 1, b"misses") for i, n in enumerate(names)],
                              arcs))
        rows, _ = parquet_file.read(monarc("export", "--format", "parquet", DEMO, path).stdout)
        for dimension, column in ("seconds", "self"), ("misses", "self of misses"):
            alone, _ = parquet_file.read(
                monarc("export", "--format", "parquet", "--dimension", dimension, DEMO, path).stdout)
            self.assertEqual(sum(r[column] for r in rows), sum(r["self"] for r in alone))
            mine, theirs = ({r["stack"]: r[c] for r in t if r[c] > 10} for t, c in ((rows, column), (alone, "self")))
            self.assertEqual(mine.keys(), theirs.keys())
            for stack in mine:
                self.assertAlmostEqual(mine[stack], theirs[stack], delta=max(2, 1e-6 * theirs[stack]))

    def test_flame_has_a_picture_for_each(self):
        text = monarc("flame", "-o", "-", DEMO, self.both).stdout.decode()
        first, second = text.split('<g data-samples="80" data-name="cache-misses">')
        frame = re.compile(r'data-total="([\d.]+)" data-self="([\d.]+)"><title>(\w+)\n')
        self.assertEqual({n: (t, s) for t, s, n in frame.findall(first)},
                         {"all": ("40", "0"), "main": ("40", "10"), "fact": ("30", "30")})
        self.assertEqual({n: (t, s) for t, s, n in frame.findall(second)},
                         {"all": ("80", "0"), "main": ("20", "5"), "fact": ("15", "15"), "ping": ("60", "60")})
        self.assertIn("\ntotal 75.00 %, 60 cache-misses\n", second)
        height = float(re.search(r'<svg [^>]* height="(\d+)"', text)[1])
        self.assertTrue(all(float(y) + 18 < height for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', text)))
        xml.dom.minidom.parseString(text)
        alone = monarc("flame", "-o", "-", "--dimension", "cache-misses", DEMO, self.both).stdout.decode()
        self.assertNotIn('<g data-samples', alone)

    def test_order_says_what_it_brings_for_each(self):
        found = monarc_json("optimize", "--for", "lld", "-o", self.dir / "order", DEMO, self.both)
        check_schema(self, "optimize_order", found)
        other, = found["events"]
        self.assertEqual((other["name"], other["ordered_share"]), ("cache-misses", 0.25))
        self.assertEqual((other["before"]["pages_100"], other["after"]["pages_100"]), (1, 1))
        self.assertEqual(found["functions"], monarc_json("optimize", "--for", "lld", "-o", self.dir / "order", DEMO, self.time)["functions"])
        text = monarc("optimize", "--for", "lld", "-o", self.dir / "order", DEMO, self.both).stdout.decode()
        self.assertIn("\ncache-misses: 25.00 % in these functions\npages of 4 KiB with 50 % of it", text)
        self.assertIn("\n# cache-misses: 25.00 % in these functions\n", (self.dir / "order").read_text())

    def test_no_name_ends_a_linkers_comment(self):
        self.both.write_bytes(gmon([self.hits(self.main, 10), self.hits(self.main, 1, 1, b"*/ ENTRY(x)")]))
        script = monarc("optimize", "--for", "ld", DEMO, self.both).stdout.decode()
        self.assertIn("dimension 2: 100.00 %", script)
        self.assertNotIn("ENTRY", script)

    def test_page_has_columns(self):
        done = monarc("html", "-o", "-", DEMO, self.both)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        packs = re.findall(rb'<script type="text/plain" id="(\w+)">([A-Za-z0-9+/=]*)</script>', done.stdout)
        profile = json.loads(zlib.decompress(base64.b64decode(dict(packs)[b"data"]), -15))["profile"]
        self.assertEqual(profile["summary"]["others"], [{"name": "cache-misses", "samples": 80}])
        f = profile["functions"]
        other, = f["others"]
        self.assertEqual({n: (own, s, t) for n, own, s, t in zip(f["name"], f["self"], other["self"], other["total"])},
                         {"main": (10, 5, 20), "fact": (30, 15, 15), "ping": (0, 60, 60)})
        base = monarc("html", "-o", "-", "--base", self.time, DEMO, self.both)
        self.assertEqual((base.returncode, base.stderr), (0, b""))

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
            text = monarc(report, "--function", "/nosuch/", "demo", "demo.gmon").stdout.decode()
            self.assertIn("passes --function", text, report)

    def test_functions_by_what_people_type(self):
        def error(*arguments):
            answer = monarc(*arguments, "demo", "demo.gmon")
            self.assertEqual((answer.returncode, answer.stdout), (2, b""), arguments)
            return answer.stderr.decode()

        def shown(name):
            functions = monarc_json("flat", "--all", "--function", name, "demo", "demo.gmon")["functions"]
            return {function["name"] for function in functions}
        self.assertEqual(shown("work"), {"work.isra.0"})
        self.assertEqual(shown("box::open"), shown("open"))
        self.assertEqual(len(shown("open")), 1)
        self.assertEqual(shown("::alpha"), {"alpha"})
        self.assertEqual(shown("/^(al|pi)/"), {"alpha", "ping"})
        for command in ["flat", "--function"], ["graph", "--function"], ["graph", "--callers"]:
            said = error(*command, "alhpa")
            self.assertEqual(said, "monarc: demo: has no function 'alhpa'; did you mean 'alpha'?\n", command)
            self.assertIn("has no function 'nothing_like_it'\n", error(*command, "nothing_like_it"))
        self.assertIn("is not a regular expression", error("flat", "--function", "/(/"))

    def test_nothing_is_no_amount_with_two_blanks(self):
        self.assertNotIn("0  s", monarc("flat", "demo", "demo.gmon", "-a").stdout.decode())


class Laws(unittest.TestCase):
    def test_flat_is_complete(self):
        for extra in [], ["-n3"], ["-m6"], ["-f", "/p/"], ["-i", "/work/"], ["--all"]:
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
        self.refused("regular expression", "flat", "-f", "/(/", "demo", "demo.gmon")
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
