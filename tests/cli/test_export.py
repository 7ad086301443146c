"""monarc export: every format is read by a reader that is not monarc's, and its totals, inclusive figures
and calls are those of `monarc flat` and `graph`. Readers that are not installed are left out, except for
those written here."""

import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

from exported import Otlp, cpuprofile_paths, firefox_stacks, folded_paths
from harness import ROOT, gmon, main, monarc, monarc_json
import seeds
import parquet_file
from parts import in_both, load_tests, share, slow
from protobuf_file import fields, packed
from test_recording import ALPHA, DEMO, FACT, MAIN, PING, PONG, WORK, Run, whole_run
from run_file import FILE, PERIOD, WAIT

FORMATS = ("callgrind", "cpuprofile", "dot", "firefox", "folded", "otlp", "parquet", "parquet-calls", "parquet-functions",
           "pprof", "speedscope")
MODULES = Path(os.environ.get("MONARC_NODE_MODULES", ROOT / "build/npm/node_modules"))
TICK = 10**7  # nanoseconds of a sample of demo.gmon


class Pprof:
    """What pprof would show: self, inclusive and calls by name."""

    def __init__(self, data):
        self.raw = gzip.decompress(data)
        top = fields(self.raw)
        texts = [t.decode() for t in top[6]]
        functions = {fields(f)[1][0]: texts[fields(f)[2][0]] for f in top[5]}
        names = {}
        for location in map(fields, top[4]):
            names[location[1][0]] = functions[fields(location[4][0])[1][0]]
        self.types = [tuple(texts[fields(t)[k][0]] for k in (1, 2)) for t in top[1]]
        self.files = [texts[fields(m)[5][0]] for m in top[3]]
        self.self, self.total, self.calls = defaultdict(int), defaultdict(int), defaultdict(int)
        self.threads = defaultdict(int)
        for sample in map(fields, top[2]):
            stack = [names[i] for i in packed(sample[1][0])]
            values = packed(sample[2][0])
            assert len(values) == len(self.types)
            self.self[stack[0]] += values[0]
            for name in set(stack):
                self.total[name] += values[0]
            labels = {texts[label[1][0]]: texts[label[2][0]] for label in map(fields, sample[3])}
            self.threads[tuple(labels.get(k) for k in ("process_id", "thread_id", "thread"))] += values[0]
            if len(values) > 1 and values[1]:
                self.calls[stack[1], stack[0]] += values[1]


def sums_of_paths(paths):
    own, total = defaultdict(int), defaultdict(int)
    for stack, weight in paths:
        own[stack[-1]] += weight
        for name in set(stack):
            total[name] += weight
    return own, total


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def export(self, name, *arguments):
        path = self.dir / f"out.{name}"
        done = monarc("export", "--format", name, "-o", path, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), rf"^{re.escape(str(path))}, [0-9.]+ (bytes|[kM]B)\n$")
        again = monarc("export", "--format", name, *arguments)
        self.assertEqual(again.stdout, path.read_bytes())
        return path

    def folded(self, *arguments):
        return folded_paths(self.export("folded", *arguments).read_text())

    def speedscope(self, *arguments):
        """The paths of its only profile, and that."""
        page = json.loads(self.export("speedscope", *arguments).read_text())
        profile, = page["profiles"]
        self.assertEqual(profile["endValue"] - profile["startValue"], sum(profile["weights"]))
        names = [f["name"] for f in page["shared"]["frames"]]
        return [([names[i] for i in s], w) for s, w in zip(profile["samples"], profile["weights"])], profile

    def firefox(self, *arguments):
        """[(thread, [(path or None, ms, weight)])], and the whole. Columns are as long as they say,
        and every index is in its table."""
        whole = json.loads(self.export("firefox", *arguments).read_text())
        found = []
        for thread in whole["threads"]:
            for name in "frameTable", "funcTable", "stackTable", "resourceTable", "samples", "markers":
                table = thread[name]
                for key, column in table.items():
                    if key not in ("length", "weightType"):
                        self.assertEqual(len(column), table["length"], (name, key))
            texts, paths = thread["stringArray"], firefox_stacks(thread)
            for resource, lib in zip(thread["resourceTable"]["name"], thread["resourceTable"]["lib"]):
                self.assertEqual(Path(whole["libs"][lib]["path"]).name, texts[resource])
            self.assertLessEqual(max(thread["stackTable"]["category"]), len(whole["meta"]["categories"]))
            samples = thread["samples"]
            self.assertEqual(samples["time"], sorted(samples["time"]))
            found.append((thread, [(None if s is None else paths[s], at, w) for s, at, w in
                                   zip(samples["stack"], samples["time"], samples["weight"])]))
        return found, whole

    def flat(self, *arguments):
        table = monarc_json("flat", "--all", *arguments)
        return {f["name"]: f for f in table["functions"]}, table["summary"]

    def check(self, found, rows, key, unit):
        for name, row in rows.items():
            if row[key]:
                self.assertAlmostEqual(found[name], row[key] * unit, delta=1, msg=(key, name))

    def annotated(self, path, inclusive):
        """callgrind_annotate's figures by function, and its total."""
        done = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no",
                               f"--inclusive={'yes' if inclusive else 'no'}", path], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "")
        found = {}
        for count, what in re.findall(r"^ *([0-9,]+) +(\S.*)$", done.stdout, re.M):
            name = re.sub(r" \[[^[]*(\[.*\])?\]$", "", what.split(":", 1)[-1])
            found[name] = int(count.replace(",", ""))
        return found


class Model(Case):
    """A gmon.out: calls between pairs, and what the model makes of them."""
    ARGUMENTS = "demo", "demo.gmon"

    def setUp(self):
        super().setUp()
        self.rows, self.summary = self.flat(*self.ARGUMENTS)
        self.whole = self.summary["samples"] * TICK

    def arcs(self):
        return {(line["name"], entry["name"]): line["calls"]
                for entry in monarc_json("graph", "--all", *self.ARGUMENTS)["entries"] if entry["kind"] == "function"
                for line in entry["callers"] if line["kind"] in ("arc", "internal") and line["calls"]} | {
            (name, name): row["recursive_calls"] for name, row in self.rows.items() if row["recursive_calls"]}

    def test_paths(self):
        folded = [(stack[1:], weight) for stack, weight in self.folded(*self.ARGUMENTS)
                  if stack[0] == "[paths by call counts]"]
        scoped, profile = self.speedscope(*self.ARGUMENTS)
        self.assertEqual(folded, scoped)
        self.assertIn("estimated by call counts", profile["name"])
        self.assertEqual(profile["unit"], "nanoseconds")
        self.assertEqual(sum(w for _, w in folded), self.whole)
        own, total = sums_of_paths(folded)
        self.check(own, self.rows, "self_samples", TICK)
        for name in "main", "alpha", "work.isra.0":  # not of a cycle, whose members' times are one
            self.assertAlmostEqual(total[name], self.rows[name]["total_samples"] * TICK, delta=1)

    def test_cpuprofile(self):
        page = json.loads(self.export("cpuprofile", *self.ARGUMENTS).read_text())
        self.assertEqual(cpuprofile_paths(page), self.folded(*self.ARGUMENTS))

    def test_selected(self):
        folded = [(path, n) for path, n in self.folded(*self.ARGUMENTS) if "alpha" in path]
        mark = "[paths by call counts]"
        found = [([*([] if path[0] == mark else [mark]), *path], n)
                 for path, n in self.folded("--function", "alpha", *self.ARGUMENTS)]
        self.assertEqual(found, folded)
        dot = self.export("dot", "--function", "fact", "demo", "demo-arcs.gmon").read_text()
        self.assertEqual(set(re.findall(r'tooltip="(.*?)"', dot)), {"fact"} | {
            caller for caller, callee in self.arcs() if callee == "fact"} | {
            callee for caller, callee in self.arcs() if caller == "fact"})

    def test_pprof(self):
        profile = Pprof(self.export("pprof", *self.ARGUMENTS).read_bytes())
        self.assertEqual(profile.types, [("cpu", "nanoseconds"), ("calls", "count")])
        self.assertEqual(sum(profile.self.values()), self.whole)
        self.check(profile.self, self.rows, "self_samples", TICK)
        self.assertEqual(profile.calls, self.arcs())
        self.assertIn(b"paths are estimated by call counts", profile.raw)

    def test_callgrind(self):
        text = self.export("callgrind", *self.ARGUMENTS).read_text()
        self.assertTrue(text.startswith("# callgrind format\nversion: 1\n"))
        self.assertTrue(text.endswith(f"\ntotals: {int(self.whole)}\n"))
        self.assertIn("desc: Left out: 1 calls from outside", text)

    def test_no_escape_code_reaches_callgrind_annotate(self):
        (self.dir / "stacks.txt").write_text("main;a\x1b[31m\tb 5\n")
        text = self.export("callgrind", self.dir / "stacks.txt").read_text()
        self.assertIn(" a?[31m?b\n", text)
        self.assertNotIn("\x1b", text)

    @unittest.skipUnless(shutil.which("callgrind_annotate"), "no callgrind_annotate")
    def test_callgrind_annotate(self):
        path = self.export("callgrind", *self.ARGUMENTS)
        own, total = self.annotated(path, False), self.annotated(path, True)
        self.assertEqual(own["PROGRAM TOTALS"], self.whole)
        self.check(own, self.rows, "self_samples", TICK)
        alone = {n: r for n, r in self.rows.items() if n not in ("ping", "pong", "fact")}
        self.check(total, alone, "total_samples", TICK)
        # What calls into a cycle cost is the cycle's, whose members share it.
        cycle, = (e for e in monarc_json("graph", *self.ARGUMENTS)["entries"] if e["kind"] == "cycle")
        self.assertEqual(total["ping"], (cycle["self_samples"] + cycle["callees_samples"]) * TICK)

    def test_dot(self):
        text = self.export("dot", *self.ARGUMENTS).read_text()
        nodes = dict(re.findall(r'^  (f\d+) \[label="([^"\\]*)', text, re.M))
        arcs = {(nodes[a], nodes[b]): int(n) for a, b, n in
                re.findall(r'^  (f\d+) -> (f\d+) \[label="[^"]*?(\d+)×"', text, re.M)}
        shown = {pair: n for pair, n in self.arcs().items() if set(pair) <= set(nodes.values())}
        self.assertEqual(arcs, shown)
        self.assertIn("main", nodes.values())
        share = 100 * self.rows["main"]["total_samples"] / self.summary["samples"]
        self.assertIn(f'"main\\n{share:.2f} %\\n', text)

    @unittest.skipUnless(shutil.which("dot"), "no Graphviz")
    def test_graphviz(self):
        text = self.export("dot", *self.ARGUMENTS).read_text()
        done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        for kind, pattern in ("node ", r"^  f\d+ \["), ("edge ", " -> "):
            self.assertEqual(sum(l.startswith(kind) for l in done.stdout.splitlines()),
                             len(re.findall(pattern, text, re.M)))

    @unittest.skipUnless(shutil.which("protoc"), "no protoc")
    def test_protoc(self):
        data = gzip.decompress(self.export("pprof", *self.ARGUMENTS).read_bytes())
        done = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True)
        counts = defaultdict(int)
        for number in re.findall(rb"^(\d+)[: ]", done.stdout, re.M):
            counts[int(number)] += 1
        self.assertEqual(counts, {number: len(values) for number, values in fields(data).items() if values})

    @slow
    @unittest.skipUnless(shutil.which("go"), "no Go (package golang-go)")
    def test_go_tool_pprof(self):
        path = self.export("pprof", *self.ARGUMENTS)
        done = subprocess.run(["go", "tool", "pprof", "-top", "-unit=ns", "-nodecount=1000", "-nodefraction=0", path],
                              capture_output=True, text=True, check=True)
        found = {name: (int(own), int(total)) for own, total, name in re.findall(
            r"^ *(\d+)(?:ns)? +\S+ +\S+ +(\d+)(?:ns)? +\S+ +(.*)$", done.stdout, re.M)}
        for name, row in self.rows.items():
            if row["self_samples"]:
                self.assertEqual(found[name][0], row["self_samples"] * TICK, name)
        self.assertEqual(found["main"][1], self.rows["main"]["total_samples"] * TICK)

    def test_calls_alone(self):
        for name in "cpuprofile", "folded", "speedscope":
            done = monarc("export", "--format", name, "demo", "demo-arcs.gmon")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"no place for calls alone", done.stderr)
        profile = Pprof(self.export("pprof", "demo", "demo-arcs.gmon").read_bytes())
        rows, _ = self.flat("demo", "demo-arcs.gmon")
        self.assertEqual(sum(n for (_, to), n in profile.calls.items() if to == "fact"), rows["fact"]["calls"])
        self.assertIn("×", self.export("dot", "demo", "demo-arcs.gmon").read_text())
        self.assertIn("\ntotals: 0\n", self.export("callgrind", "demo", "demo-arcs.gmon").read_text())


def shares_in_chrome(page):
    """Self shares by function as Chrome and VS Code have them: a sample lasts until the next one."""
    names = {node["id"]: node["callFrame"]["functionName"] for node in page["nodes"]}
    spent = defaultdict(float)
    for node, delta in zip(page["samples"], page["timeDeltas"][1:]):
        spent[names[node]] += delta
    return {name: amount / sum(spent.values()) for name, amount in spent.items()}


def shares_in_firefox(page):
    """(self shares by function, samples) by the rule of Firefox' profiler: a sample is one, however
    long it lasts, and is left out if half a millisecond has not passed since the one before."""
    names = {node["id"]: node["callFrame"]["functionName"] for node in page["nodes"]}
    taken, now, last = defaultdict(int), page["startTime"] / 1000, 0
    assert len(page["samples"]) == len(page["timeDeltas"])
    for node, delta in zip(page["samples"], page["timeDeltas"]):
        now += delta / 1000
        if now - last >= 0.5:
            taken[names[node]] += 1
            last = now
    all_taken = sum(taken.values())
    return {name: n / all_taken for name, n in taken.items()}, all_taken


class CpuprofileShares(Case):
    """Both kinds of readers show the shares that the samples' weights have, and files stay small."""

    def check_shares(self, weights):
        lines = [f"main;{name} {n}" for name, n in weights.items()]
        (self.dir / "weights.folded").write_text("\n".join(lines) + "\n")
        path = self.export("cpuprofile", self.dir / "weights.folded")
        page, whole = json.loads(path.read_text()), sum(weights.values())
        chrome, (firefox, taken) = shares_in_chrome(page), shares_in_firefox(page)
        self.assertLessEqual(len(page["samples"]), 100001)
        self.assertLess(path.stat().st_size, 2 << 20)
        self.assertGreaterEqual(taken, 1000)
        for name, weight in weights.items():
            # A sample too many or too few by rounding, and one that is idle.
            self.assertAlmostEqual(firefox.get(name, 0), weight / whole, delta=2 / taken, msg=name)
            self.assertAlmostEqual(chrome.get(name, 0), weight / whole, delta=1 / 50000, msg=name)

    def test_a_few_samples(self):
        self.check_shares({"lib": 617, "own": 307, "rest": 76})
        self.check_shares({"first": 1, "second": 1})
        self.check_shares({"alone": 1})

    def test_many_samples(self):
        self.check_shares({"lib": 617_000_009, "own": 307_000_001, "rest": 76_000_003, "hardly": 11})

    def test_weights_far_apart(self):
        self.check_shares({f"f{i}": 3 ** i + 1 for i in range(30)})


class Stacks(Case):
    """A recording: paths that ran, recursion among them."""

    def setUp(self):
        super().setUp()
        run = whole_run()
        main, ping, pong = (0, MAIN), (0, PING), (0, PONG)
        run.sample([main, ping, pong, ping, pong, ping], 11)   # around, and around again
        run.sample([main, pong, ping, ping, (0, FACT)], 13)
        run.sample([main, ping, (0, ALPHA), ping, (0, ALPHA), pong], 17)
        run.sample([pong, main, pong], 19)                     # outermost here, called elsewhere
        self.arguments = "--force", run.write(self.dir / "r")
        self.rows, self.summary = self.flat(*self.arguments)

    def test_paths(self):
        folded = self.folded(*self.arguments)
        scoped, profile = self.speedscope(*self.arguments)
        self.assertEqual(folded, scoped)
        self.assertNotIn("estimated", profile["name"])
        own, total = sums_of_paths(folded)
        self.assertEqual(sum(own.values()), self.summary["samples"] * PERIOD)
        self.check(own, self.rows, "self_samples", PERIOD)
        self.check(total, self.rows, "total_samples", PERIOD)
        self.assertIn((["main", "ping", "pong", "ping", "pong", "ping"], 11 * PERIOD), folded)

    def test_pprof(self):
        profile = Pprof(self.export("pprof", *self.arguments).read_bytes())
        self.assertEqual(profile.types, [("cpu", "nanoseconds")])
        self.assertEqual(sum(profile.self.values()), self.summary["samples"] * PERIOD)
        self.check(profile.total, self.rows, "total_samples", PERIOD)
        self.assertEqual(profile.files[0], str(DEMO))
        self.assertNotIn(b"estimated", profile.raw)

    def threaded(self):
        """Three threads on one path, of which two have one name, and one alone on another."""
        run = whole_run()
        for tid, name in ((8, "worker"), (9, "worker")):
            run.thread(0, tid, name, 0)
        path = [(0, MAIN), (0, ALPHA)]
        for thread, count in ((0, 7), (1, 11), (2, 13)):
            run.sample(path, count, thread)
        run.sample([(0, MAIN), (0, PING)], 5, 2)
        return "--force", run.write(self.dir / "threaded")

    def test_pprof_threads(self):
        arguments = self.threaded()
        path = self.export("pprof", *arguments)
        threads = Pprof(path.read_bytes()).threads
        flat = monarc_json("flat", "--by-thread", *arguments)
        samples = {("7", "7", "demo"): 1007, ("7", "8", "worker"): 11, ("7", "9", "worker"): 18}
        self.assertEqual(threads, {key: count * PERIOD for key, count in samples.items()})
        self.assertEqual({(str(t["pid"]), str(t["thread"]), t["name"]): t["self_samples"]
                          for t in flat["rows"]}, samples)
        back = monarc_json("flat", "--by-thread", path)
        self.assertEqual([(t["pid"], t["thread"], t["self_samples"]) for t in back["rows"]],
                         [(t["pid"], t["thread"], t["self_samples"]) for t in flat["rows"]])
        self.assertEqual(back["program"], str(DEMO))
        part = Pprof(self.export("pprof", "--function", "ping", *arguments).read_bytes())
        self.assertEqual(part.threads, {("7", "9", "worker"): 5 * PERIOD})

    @slow
    @unittest.skipUnless(shutil.which("go"), "no Go (package golang-go)")
    def test_go_tool_pprof_threads(self):
        path = self.export("pprof", *self.threaded())
        done = subprocess.run(["go", "tool", "pprof", "-tags", path], capture_output=True, text=True, check=True)
        for line in (r"thread: Total", r"\): worker\n", r"thread_id: Total", r"\): 9\n"):
            self.assertRegex(done.stdout, line)
        self.assertIn(f"File: {DEMO.name}", subprocess.run(
            ["go", "tool", "pprof", "-top", path], capture_output=True, text=True, check=True).stdout)

    def test_otlp(self):
        data = self.export("otlp", *self.arguments).read_bytes()
        profile = Otlp(data)
        self.assertEqual(profile.kind, ("cpu", "nanoseconds"))
        self.assertEqual((len(profile.id), profile.estimates), (16, 0))
        self.assertEqual(profile.paths, self.folded(*self.arguments))

    @unittest.skipUnless(shutil.which("protoc"), "no protoc")
    def test_otlp_protoc(self):
        data = self.export("otlp", *self.arguments).read_bytes()
        messages = ["profiles.ProfilesData", "--proto_path", ROOT / "tests/data", "otlp_profiles.proto"]
        done = subprocess.run(["protoc", "--decode=" + messages[0], *messages[1:]], input=data,
                              capture_output=True, check=True)
        self.assertIn(b'string_table: "nanoseconds"', done.stdout)
        self.assertNotRegex(done.stdout, rb"(?m)^ *\d+:")  # a field that the messages do not have
        back = subprocess.run(["protoc", "--encode=" + messages[0], *messages[1:]], input=done.stdout,
                              capture_output=True, check=True)
        self.assertEqual(Otlp(back.stdout).paths, Otlp(data).paths)

    def test_parquet(self):
        paths, groups = parquet_file.read(self.export("parquet", *self.arguments).read_bytes())
        self.assertEqual(groups, 1)
        self.assertEqual([(r["stack"].split(";"), r["self"]) for r in paths], self.folded(*self.arguments))
        self.assertTrue(all(r["function"] == r["stack"].split(";")[-1] for r in paths))
        functions, _ = parquet_file.read(self.export("parquet-functions", *self.arguments).read_bytes())
        self.check({r["function"]: r["self"] for r in functions}, self.rows, "self_samples", PERIOD)
        self.check({r["function"]: r["total"] for r in functions}, self.rows, "total_samples", PERIOD)
        calls, _ = parquet_file.read(self.export("parquet-calls", *self.arguments).read_bytes())
        self.assertIn(("main", "ping"), {(r["caller"], r["callee"]) for r in calls})

    @slow
    def test_parquet_in_groups(self):
        """A table of more than one group, of a profile that is an import."""
        stacks = self.dir / "many.folded"
        stacks.write_text("".join(f"main;{'deep;' * (i % 40)}work_{i % 5000};{'x' * 100}{i} {i + 1}\n"
                                  for i in range(60000)))
        rows, groups = parquet_file.read(self.export("parquet", stacks).read_bytes())
        self.assertGreater(groups, 1)
        self.assertEqual((len(rows), sum(r["self"] for r in rows)), (60000, 60000 * 60001 // 2))

    @in_both
    def test_parquet_values_that_repeat(self):
        """Indices are written as runs and in groups of eight: runs of every length behind literals of
        every number, and dictionaries of one value, of two, and around a power of two."""
        for different in share((1, 2, 3, 256, 255, 257), 3):
            lines = [f"main;f{run % different};g{run}_{i} {run + 1}" for run in range(300) for i in range(run % 23 + 1)]
            stacks = self.dir / "runs.folded"
            stacks.write_text("\n".join(lines) + "\n")
            rows, _ = parquet_file.read(self.export("parquet", stacks).read_bytes())
            self.assertEqual(sorted(f"{r['stack']} {r['self']}" for r in rows), sorted(lines))
        self.assertLess(len(self.export("parquet", stacks).read_bytes()) / len(rows), 90)

    def test_parquet_lists(self):
        """Of a dataset, whose stacks are lists."""
        stacks = self.dir / "s.folded"
        stacks.write_text("".join(f"main;{'deep;' * (i % 9)}f{i % 17} {i + 1}\n" for i in range(200)))
        done = monarc("export", "--format", "parquet", "--dataset", self.dir / "d", stacks)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, _ = parquet_file.read(next((self.dir / "d").rglob("*.parquet")).read_bytes())
        wanted = {}
        for i in range(200):
            stack = ("main", *["deep"] * (i % 9), f"f{i % 17}")
            wanted[stack] = wanted.get(stack, 0) + i + 1
        self.assertEqual({tuple(r["stack"]): r["self"] for r in rows}, wanted)

    @unittest.skipUnless((MODULES / "@duckdb").is_dir(), "no DuckDB among the modules of Node.js")
    def test_duckdb(self):
        path = self.export("parquet", *self.arguments)
        script = self.dir / "ask.mjs"
        script.write_text(
            f"import {{ DuckDBInstance }} from '{MODULES.resolve()}/@duckdb/node-api/lib/index.js';\n"
            "const c = await (await DuckDBInstance.create(':memory:')).connect();\n"
            f"const r = await c.runAndReadAll(`select \"function\", sum(self) from read_parquet('{path}') "
            "group by 1`);\n"
            "for (const row of r.getRows()) console.log(row[1] + ' ' + row[0]);\n")
        done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
        found = {name: int(own) for own, name in (l.split(" ", 1) for l in done.stdout.splitlines())}
        self.check(found, self.rows, "self_samples", PERIOD)

    def shown_by_speedscope(self, path):
        """The table of functions that speedscope shows: name -> (total, self) in nanoseconds."""
        done = subprocess.run(["node", ROOT / "tests/page/speedscope.mjs", path, MODULES.resolve(),
                               shutil.which("chromium")], capture_output=True, text=True, check=True)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["said"], [])
        units = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}

        def nanoseconds(text):
            number, unit = re.match(r"([\d.]+)(\S+) \(", text).groups()
            return float(number) * units[unit]

        return {row[2]: tuple(map(nanoseconds, row[:2])) for row in filter(None, shown["rows"])}

    def test_stacks_without(self):
        """Functions and recursion are left out as in 'graph --tree'; their time is their callers'."""
        whole = sum(n for _, n in self.folded(*self.arguments))
        for more in ["--drop-function", "ping"], ["--fold-recursion"], ["--drop-function", "/^p/", "--fold-recursion"]:
            paths = self.folded(*more, *self.arguments)
            self.assertEqual(sum(n for _, n in paths), whole)
            for path, _ in paths:
                if "--fold-recursion" in more:
                    self.assertEqual(len(set(path)), len(path))
                if "--drop-function" in more:
                    self.assertFalse([name for name in path if re.search(more[1], name)], path)
            tree = monarc_json("graph", "--tree", "--min-percent=0", *more, *self.arguments)["trees"][0]["rows"]
            own = defaultdict(float)
            for row in tree:
                own[row["name"]] += row["self_samples"] * PERIOD
            found, _ = sums_of_paths(paths)
            self.assertEqual({n: round(v) for n, v in own.items() if v}, dict(found))
            pprof = Pprof(self.export("pprof", *more, *self.arguments).read_bytes())
            self.assertEqual({n: v for n, v in pprof.self.items() if v}, dict(found))
        for wrong, said in ((["--drop-function", "zzz"], b"has no function 'zzz'"),
                            (["--fold-recursion", "--model"], b"are of recorded stacks")):
            done = monarc("export", "--format", "folded", *wrong, *self.arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done = monarc("export", "--format", "callgrind", "--asm", "--fold-recursion", *self.arguments)
        self.assertIn(b"without --model and --asm", done.stderr)

    def timed(self):
        """Two threads: one works, is idle for 30 slices and works elsewhere; one waits longer than a
        slice lasts, in between. Slices are 10 ms."""
        run = Run("./demo", start=1790000000 * 10**9)
        demo, wait = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(WAIT)
        run.process(7, 1, demo, "demo", status=3 << 8)
        run.thread(0, 7, "demo")
        run.thread(0, 8, "worker")
        for piece in range(10):
            run.sample([(demo, MAIN), (demo, ALPHA)], 10, slice=piece)
            run.sample([(demo, MAIN), (demo, PING)], 10, slice=40 + piece)
        run.sample([(demo, MAIN), (wait, 7)], 1, thread=1, slice=20, weight=25 * PERIOD)
        run.sample([(demo, MAIN), (demo, WORK)], 4, thread=1, slice=21)
        run.marks += [(5 * PERIOD, 0, 0, 7, "load"), (405 * PERIOD, 0, 0, 7, "store"),
                      (50 * PERIOD, 1, 0, 8, "lock"), (60 * PERIOD, 2, 0, 8, "lock")]
        return "--force", run.write(self.dir / "timed")

    def test_order_of_time(self):
        """Speedscope and Firefox get what each thread did when; idle stretches are empty; what lasts
        longer than its slice moves the next. Figures are those of flat."""
        arguments = self.timed()
        page = json.loads(self.export("speedscope", *arguments).read_text())
        names = [f["name"] for f in page["shared"]["frames"]]
        found = [(p["name"], p["startValue"], p["endValue"],
                  [(names[s[-1]] if s else None, w) for s, w in zip(p["samples"], p["weights"])])
                 for p in page["profiles"]]
        ms = PERIOD
        self.assertEqual(found, [
            ("demo (7), cpu", 0, 500 * ms, [("alpha", 100 * ms), (None, 300 * ms), ("ping", 100 * ms)]),
            ("demo (7), worker (8), cpu", 200 * ms, 229 * ms, [("[waiting] poll", 25 * ms), ("work.isra.0", 4 * ms)]),
        ])
        self.assertEqual(page["activeProfileIndex"], 0)
        threads, whole = self.firefox(*arguments)
        self.assertEqual([(t["name"], t["pid"], t["tid"], t["isMainThread"],
                           [(path and path[-1], at, weight) for path, at, weight in samples])
                          for t, samples in threads], [
            ("demo", "7", 7, True, [("alpha", 0, 100), (None, 100, 0), ("ping", 400, 100), (None, 500, 0)]),
            ("worker", "7", 8, False, [("[waiting] poll", 200, 25), ("work.isra.0", 225, 4), (None, 229, 0)]),
        ])
        self.assertEqual([t["samples"]["threadCPUDelta"] for t, _ in threads],
                         [[0, 100000, 0, 100000], [0, 0, 4000]])
        kinds = [c["name"] for c in whole["meta"]["categories"]]
        worker = threads[1][0]
        self.assertEqual({kinds[c] for c in worker["frameTable"]["category"]}, {"Program", "Waiting"})
        first = threads[0][0]["markers"]
        self.assertEqual([(threads[0][0]["stringArray"][n], phase, at, end) for n, phase, at, end in
                          zip(first["name"], first["phase"], first["startTime"], first["endTime"])],
                         [("load", 1, 5, 405), ("store", 1, 405, 1000), ("lock", 2, 50, None),
                          ("lock", 3, None, 60), ("exited with status 3", 0, 1000, None)])
        self.assertEqual(worker["markers"]["length"], 0)
        self.assertEqual(whole["meta"]["startTime"], 1790000000 * 1000)

    def test_times_are_those_of_flat(self):
        """Of many threads, slices and stacks, by either format; with a part chosen as well."""
        arguments = self.threaded()
        for more in [], ["--thread", "worker"]:
            rows, _ = self.flat(*more, *arguments)
            threads, _ = self.firefox(*more, *arguments)
            own = defaultdict(float)
            for _, samples in threads:
                for path, _, weight in samples:
                    if path:
                        own[path[-1]] += weight * 1e6
            self.check(own, rows, "self_samples", PERIOD)
        page = json.loads(self.export("speedscope", *arguments).read_text())
        self.assertEqual([p["name"] for p in page["profiles"]],
                         ["demo (7), cpu", "demo (7), worker (8), cpu", "demo (7), worker (9), cpu"])

    def test_firefox_without_times(self):
        """Of a gmon.out: one thread, all paths, in the order of the tree."""
        threads, whole = self.firefox("demo", "demo.gmon")
        rows, summary = self.flat("demo", "demo.gmon")
        (thread, samples), = threads
        self.assertEqual(thread["name"], "demo (paths estimated by call counts)")
        own, _ = sums_of_paths([(p, w * 1e6) for p, _, w in samples if p])
        self.check(own, rows, "self_samples", TICK)

    @unittest.skipUnless((MODULES / "speedscope").is_dir() and shutil.which("chromium"),
                         "no Chromium, or no speedscope among the modules of Node.js")
    @slow
    def test_speedscope_itself(self):
        """It shows our figures, to the digits that it shows, of its own format and of Chrome's."""
        for name in "speedscope", "cpuprofile":
            shown = self.shown_by_speedscope(self.export(name, *self.arguments))
            self.assertEqual(set(shown), {n for n, r in self.rows.items() if r["total_samples"]})
            for function, found in shown.items():
                row = self.rows[function]
                if function.startswith("[stack cut"):
                    continue
                for amount, key in zip(found, ("total_samples", "self_samples")):
                    self.assertAlmostEqual(amount, row[key] * PERIOD, delta=row[key] * PERIOD / 100,
                                           msg=(name, function))

    def test_cpuprofile(self):
        page = json.loads(self.export("cpuprofile", *self.arguments).read_text())
        self.assertEqual(cpuprofile_paths(page), self.folded(*self.arguments))
        self.assertEqual(page["endTime"] - page["startTime"], sum(page["timeDeltas"]))

    @unittest.skipUnless(shutil.which("callgrind_annotate"), "no callgrind_annotate")
    def test_callgrind_annotate(self):
        """Calls add up to the inclusive figure, though functions call each other around."""
        path = self.export("callgrind", *self.arguments)
        own, total = self.annotated(path, False), self.annotated(path, True)
        self.assertEqual(own["PROGRAM TOTALS"], self.summary["samples"] * PERIOD)
        self.check(own, self.rows, "self_samples", PERIOD)
        self.check(total, self.rows, "total_samples", PERIOD)
        self.assertIn("those that were seen on stacks and not counted stand as 1", path.read_text())
        self.assertNotIn("calls=0", path.read_text())

    def test_model(self):
        self.assertNotEqual(self.folded(*self.arguments), self.folded("--model", *self.arguments))

    def test_a_part(self):
        self.assertEqual(sum(w for _, w in self.folded("--program", "demo", *self.arguments)),
                         self.summary["samples"] * PERIOD)

    @slow
    def test_selected(self):
        """Paths through what is named, and no others; calls of functions by them and of them."""
        folded = self.folded(*self.arguments)
        for options, wanted in ((["--function", "alpha"], {"alpha"}), (["--function", "/fact|alpha/"], {"fact", "alpha"}),
                                (["-f", "alpha", "-f", "pong"], {"alpha", "pong"})):
            chosen = [(path, n) for path, n in folded if wanted & set(path)]
            self.assertLess(len(chosen), len(folded))
            self.assertEqual(self.folded(*options, *self.arguments), chosen)
            path = self.export("callgrind", *options, *self.arguments)
            own, total = sums_of_paths(chosen)
            found = self.annotated(path, True)
            self.assertEqual(found["PROGRAM TOTALS"], sum(own.values()))
            for name in total:
                if not name.startswith("["):
                    self.assertEqual(found[name], total[name], (options, name))
        done = monarc("export", "--format", "folded", "--function", "/nobody/", *self.arguments)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"nothing that --function and --select name", done.stderr)

    def test_names_that_mean_something_to_formats(self):
        run = Run("./x")
        code = run.object(3, low=0x1000, high=0x2000, process=0)
        program = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.symbols.append((code, 0x1000, 16, 'a;b "c\\d\ne'))
        run.process(7, 1, program, "demo")
        run.thread(0, 7, "demo", PERIOD)
        run.sample([(code, 0x1001)], 5)
        folder = run.write(self.dir / "names")
        self.assertEqual(self.folded("--force", folder), [(['a:b "c\\d?e'], 5 * PERIOD)])
        self.assertIn(r'label="a;b \"c\\d?e\n', self.export("dot", "--force", folder).read_text())
        self.assertIn(') a;b "c\\d?e\n', self.export("callgrind", "--force", folder).read_text())
        self.assertEqual(Pprof(self.export("pprof", "--force", folder).read_bytes()).self,
                         {'a;b "c\\d\ne': 5 * PERIOD})


class Documented(Case):
    def test_help_and_page_have_every_format(self):
        text = monarc("export", "--help-all").stdout.decode()
        page = (ROOT / "docs/export.md").read_text()
        self.assertIn("|".join(FORMATS), re.sub(r"\|\n +", "|", text))
        for name in FORMATS:
            self.assertRegex(text, f"(?m)^  {name} +\\S")
            self.assertIn(f"\n| {name} | ", page)


class Refusals(Case):
    def test_refusals(self):
        for arguments, words in ((["demo", "demo.gmon"], b"needs --format"),
                                 (["--format", "svg", "demo"], b"known are " + ", ".join(FORMATS).encode()),
                                 (["--format", "dot", "-o", "/nonexistent/x", "demo", "demo.gmon"], b"/nonexistent")):
            done = monarc("export", *arguments)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)

    def test_empty(self):
        (self.dir / "empty.gmon").write_bytes(gmon())
        for name in "callgrind", "dot", "parquet-calls", "parquet-functions", "pprof":
            self.export(name, "--force", DEMO, self.dir / "empty.gmon")

    def test_full_disk_keeps_the_old_file(self):
        path = self.dir / "old"
        path.write_text("old")
        done = monarc("export", "--format", "folded", "-o", path, "demo", "nothing.gmon")
        self.assertEqual((done.returncode, path.read_text()), (2, "old"))


class Recursion(Case):
    """Stacks of few functions, which call each other around and begin stacks as well."""

    STACKS = (("n;main;n;x 50\n", "n;main;y 30\n", "n;main;n 20\n"), ("a 1\n", "a;a;a 2\n"),
              ("a;b;a 4\n", "b;a;b 8\n", "a 16\n"), ("n;m;n;m;n 5\n", "n;m 7\n", "m;n 9\n"))

    @in_both
    @unittest.skipUnless(shutil.which("callgrind_annotate"), "no callgrind_annotate")
    def test_inclusive_figures_by_callgrind_annotate(self):
        draw = seeds.generator("inclusive figures by callgrind annotate")
        some = [tuple(";".join(draw.choices("abcd", k=draw.randint(1, 7))) + f" {draw.randint(1, 99)}\n"
                      for _ in range(12)) for _ in range(12)]
        for lines in share((*self.STACKS, *some), 6):
            source = self.dir / "stacks"
            source.write_text("".join(lines))
            own, total = sums_of_paths([(stack.split(";"), int(weight)) for stack, weight
                                        in (line.rsplit(" ", 1) for line in lines)])
            path = self.export("callgrind", source)
            found, found_total = self.annotated(path, False), self.annotated(path, True)
            self.assertEqual({n: found.get(n, 0) for n in total}, {n: own[n] for n in total}, lines)
            self.assertEqual({n: found_total[n] for n in total}, dict(total), lines)


if __name__ == "__main__":
    main()
