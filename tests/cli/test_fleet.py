"""monarc export --dataset: where files go, what is in them, and the queries of docs/fleet.md."""

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import parquet_file
from harness import ROOT, main, monarc
from parts import load_tests, slow
from run_file import FILE, Run

sys.dont_write_bytecode = True
MODULES = Path(os.environ.get("MONARC_NODE_MODULES", ROOT / "build/npm/node_modules"))
CHDB = Path(os.environ.get("MONARC_CHDB", MODULES))
FUNCTIONS = ["main", "parse", "malloc", "a;b", "search"]
DAY = 86400 * 10**9


class Fleet(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def recording(self, name, day, stacks, rank=None):
        """Stacks with samples of 1 ms, half of them in the first slice and half in the eleventh."""
        run = Run("search", start=1772409600 * 10**9 + day * DAY)  # 2026-03-02
        program = run.object(FILE, "/bin/search", b"\xab" * 20, bits=4)
        run.process(100 + day, 1, program, "search")
        run.thread(0, 200 + day, "search")
        for i, function in enumerate(FUNCTIONS):
            run.symbols.append((program, 4096 * (i + 1), 4096, function))
        for slice_ in 0, 10:
            for stack, count in stacks.items():
                run.sample([(program, 4096 * (FUNCTIONS.index(f) + 1) + 16) for f in stack],
                           count // 2, slice=slice_)
        if rank is not None:
            run.ranks = [(0, rank, 4, 0, "Open MPI", f"node{rank}")]
        return run.write(self.dir / name).name

    def export(self, *arguments, status=0, format="parquet", dataset="fleet"):
        done = monarc("export", "--format", format, "--dataset", dataset, *arguments, cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() if not status else done.stderr.decode()

    def ask(self, *queries):
        script = self.dir / "ask.mjs"
        script.write_text(
            f"import {{ DuckDBInstance }} from '{MODULES.resolve()}/@duckdb/node-api/lib/index.js';\n"
            "const c = await (await DuckDBInstance.create(':memory:')).connect();\n"
            f"for (const q of {json.dumps(queries)})\n"
            "    console.log(JSON.stringify((await c.runAndReadAll(q)).getRowObjectsJson()));\n")
        done = subprocess.run(["node", script], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ask_clickhouse(self, *queries):
        script = self.dir / "ask_clickhouse.mjs"
        script.write_text(
            "import { createRequire } from 'node:module';\n"
            f"const {{ query }} = createRequire('{CHDB.resolve()}/')('chdb');\n"
            f"for (const q of {json.dumps(queries)})\n"
            "    console.log(JSON.stringify(query(q.replace(/;\\s*$/, ''), 'JSONEachRow').trim()"
            ".split('\\n').map(l => JSON.parse(l))));\n")
        done = subprocess.run(["node", script], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_where_files_go(self):
        name = self.recording("r", 0, {("main", "parse"): 100}, rank=3)
        path = self.export("--service", "web/api", "--build", "v 1", name).strip()
        self.assertEqual(path, "fleet/service=web%2Fapi/build=v%201/date=2026-03-02/"
                               "node3-1772409600000000000-100.parquet")
        first = (self.dir / path).read_bytes()
        self.assertEqual(first[:4] + first[-4:], b"PAR1PAR1")
        self.export("--service", "web/api", "--build", "v 1", name)  # once more: the same file
        self.assertEqual([p for p in (self.dir / "fleet").rglob("*.parquet")], [self.dir / path])
        self.assertEqual((self.dir / path).read_bytes(), first)
        path = self.export("--date", "2020-01-01", "--host", "h", name).strip()
        self.assertEqual(path, "fleet/service=search/build=unknown/date=2020-01-01/"
                               "h-1772409600000000000-100.parquet")

    def test_usage(self):
        name = self.recording("r", 0, {("main",): 10})
        self.assertIn("names its files itself", self.export("-o", "x", name, status=2))
        done = monarc("export", "--format", "folded", "--service", "x", name, cwd=self.dir)
        self.assertIn(b"need --dataset DIR", done.stderr)
        done = monarc("export", "--format", "folded", "--dataset", "x", name, cwd=self.dir)
        self.assertIn(b"needs --format parquet", done.stderr)

    @unittest.skipUnless((MODULES / "@duckdb").is_dir() and shutil.which("node"),
                         "no DuckDB among the modules of Node.js")
    def test_rows(self):
        name = self.recording("r", 0, {("main", "a;b", "malloc"): 100, ("main",): 20}, rank=3)
        self.export(name)
        rows, = self.ask("SELECT * FROM read_parquet('fleet/**/*.parquet', hive_partitioning = true) "
                         "ORDER BY len(stack), time_ns")
        self.assertEqual(len(rows), 4)
        self.assertEqual([r["stack"] for r in rows], [["main"]] * 2 + [["main", "a;b", "malloc"]] * 2)
        self.assertEqual([int(r["self"]) for r in rows], [10**7, 10**7, 5 * 10**7, 5 * 10**7])
        self.assertEqual([int(r["time_ns"]) - 1772409600 * 10**9 for r in rows], [0, 10**8] * 2)
        row = rows[3]
        self.assertEqual((row["host"], int(row["process"]), int(row["thread"]), row["rank"]),
                         ("node3", 100, 200, "3"))
        self.assertEqual((row["event"], row["unit"], row["function"], row["object"], row["build_id"]),
                         ("cpu", "nanoseconds", "malloc", "/bin/search", "ab" * 20))
        self.assertEqual((row["service"], row["build"], str(row["date"])), ("search", "unknown", "2026-03-02"))

    def fleet(self):
        for day, (build, malloc) in enumerate((("v1", 100), ("v1", 100), ("v2", 300))):
            name = self.recording(f"r{day}", day, {("main", "search"): 600, ("main", "parse"): 100,
                                                   ("main", "parse", "malloc"): malloc}, rank=day)
            self.export("--service", "search", "--build", build, name)
            self.export("--service", "search", "--build", build, name, format="parquet-calls", dataset="fleet-calls")
        self.coverage()

    def coverage(self):
        """Builds of which one is older than a year. `dead` never ran; `revived` did in one build; `forgotten` did before
        the year began; `gone` is not in the newest build; `late` is new."""
        for build, days, functions in (("v0", 500, {"forgotten": (1, 1), "dead": (0, 0, 0)}),
                                       ("v1", 200, {"dead": (0, 0, 0), "revived": (0, 3), "gone": (0,), "forgotten": (0, 0)}),
                                       ("v2", 3, {"dead": (0, 0, 0), "revived": (0, 0), "forgotten": (0, 0), "late": (0,)})):
            date = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days)).date()
            folder = self.dir / f"coverage/service=search/build={build}/date={date}"
            folder.mkdir(parents=True)
            text, line = "SF:/src/a.c\n", 1
            for name, counts in functions.items():
                text += f"FN:{line},{line + len(counts) - 1},{name}\nFNDA:{counts[0]},{name}\n"
                text += "".join(f"DA:{line + i},{count}\n" for i, count in enumerate(counts))
                line += len(counts)
            (self.dir / "t.info").write_text(text + "end_of_record\n")
            done = monarc("cover", "t.info", "--quiet", "--format", f"parquet={folder}/host.parquet", cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)

    def check_coverage(self, rows):
        self.assertEqual([(r["file"], r["function"], int(r["lines"]), int(r["builds"])) for r in rows],
                         [("a.c", "dead", 3, 2), ("a.c", "forgotten", 3, 2), ("a.c", "late", 1, 1)])

    def test_coverage_by_line(self):
        (self.dir / "t.info").write_text("SF:/src/a.c\nFN:1,9,outer\nFN:3,4,inner\nFNDA:2,outer\nFNDA:0,inner\n"
                                         "DA:1,2\nDA:3,0\nDA:4,0\nDA:5,7\nDA:12,1\nend_of_record\n")
        done = monarc("cover", "t.info", "--quiet", "--format", "parquet=c.parquet", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, _ = parquet_file.read((self.dir / "c.parquet").read_bytes())
        self.assertEqual([(r["file"], r["line"], r["function"], r["state"], r["count"]) for r in rows],
                         [("a.c", 1, "outer", "hit", 2), ("a.c", 3, "inner", "missed", 0),
                          ("a.c", 4, "inner", "missed", 0), ("a.c", 5, "outer", "hit", 7),
                          ("a.c", 12, "", "hit", 1)])

    def test_calls(self):
        """Recursion counts once, and what no caller accounts for is in the row without one."""
        name = self.recording("r", 0, {("main", "parse", "malloc"): 100, ("main", "search", "parse", "search"): 40,
                                       ("main",): 20}, rank=3)
        path = self.export("--service", "s", "--build", "v", "--commit", "c", name, format="parquet-calls").strip()
        self.assertEqual(path, "fleet/service=s/build=v/date=2026-03-02/node3-1772409600000000000-100.parquet")
        rows, _ = parquet_file.read((self.dir / path).read_bytes())
        self.assertEqual({(r["host"], r["commit"], r["event"], r["unit"], r["object"]) for r in rows},
                         {("node3", "c", "cpu", "nanoseconds", "/bin/search")})
        total, own = {}, {}
        for r in rows:
            total[r["function"]] = total.get(r["function"], 0) + r["total"] / 1e6
            own[r["function"]] = own.get(r["function"], 0) + r["self"] / 1e6
        self.assertEqual(own, {"main": 20, "malloc": 100, "search": 40, "parse": 0})
        self.assertEqual(total, {"main": 160, "parse": 140, "malloc": 100, "search": 40})
        self.assertEqual([r["total"] / 1e6 for r in rows if not r["caller"] and r["function"] == "main"], [160])

    def check_fleet(self, top, worse, malloc, callers):
        """The answers about fleet(), by either engine."""
        self.assertEqual([(r["function"], round(r["seconds"], 6), int(r["builds"])) for r in top],
                         [("search", 1.8, 2), ("malloc", 0.5, 2), ("parse", 0.3, 2)])
        self.assertEqual([(r["function"], round(r["before"], 6), round(r["after"], 6)) for r in worse],
                         [("malloc", 0.125, 0.3)])
        self.assertEqual([round(r["share"], 6) for r in malloc], [0.125, 0.125, 0.3])
        self.assertEqual([(r["caller"], round(r["seconds"], 6)) for r in callers], [("parse", 0.5)])

    @unittest.skipUnless((CHDB / "chdb").is_dir() and shutil.which("node"),
                         "no ClickHouse among the modules of Node.js")
    def test_queries_for_clickhouse(self):
        self.fleet()
        queries = re.findall(r"```clickhouse\n(.*?)```", (ROOT / "docs/fleet.md").read_text(), re.S)
        top, worse, malloc, callers, hosts, reached, folded = self.ask_clickhouse(*queries)
        self.check_fleet(top, worse, malloc, callers)
        self.check_coverage(reached)
        self.assertEqual((hosts[0]["host"], int(hosts[0]["recordings"])), ("node2", 1))
        self.assertEqual([(r["line"], int(r["value"])) for r in folded],
                         [("main;parse", 3 * 10**8), ("main;parse;malloc", 5 * 10**8),
                          ("main;search", 18 * 10**8)])

    @unittest.skipUnless((MODULES / "@duckdb").is_dir() and shutil.which("node"),
                         "no DuckDB among the modules of Node.js")
    @slow
    def test_queries_of_the_page(self):
        self.fleet()
        queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/fleet.md").read_text(), re.S)
        top, worse, malloc, callers, hosts, reached = self.ask(*queries)
        self.check_fleet(top, worse, malloc, callers)
        self.check_coverage(reached)
        self.assertEqual(hosts[0]["host"], "node2")

    # --- into a history and back

    def store(self, *arguments, status=0):
        done = monarc("store", *arguments, cwd=self.dir)
        if b"built without SQLite" in done.stderr:
            self.skipTest("monarc was built without SQLite")
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() if not status else done.stderr.decode()

    def sums(self, folder):
        """Self times by build, commit, date and function, of all files, in ms."""
        found = {}
        for path in sorted((self.dir / folder).rglob("*.parquet")):
            build, date = (part.partition("=")[2] for part in path.parts[-3:-1])
            for row in parquet_file.read(path.read_bytes())[0]:
                key = build, row["commit"], date, row["function"]
                found[key] = found.get(key, 0) + row["self"] / 1e6
        return found

    def test_a_dataset_of_a_history_of_recordings(self):
        """Runs that were added as recordings have no build but the commit."""
        name = self.recording("r", 0, {("main",): 100, ("main", "parse"): 50})
        self.store("add", "--commit", "c/1", "--date", "2026-03-05T10:00:00", name)
        path, = self.store("export", "out").splitlines()
        self.assertRegex(path, r"^out/service=search/build=c%2F1/date=2026-03-05/run-[0-9a-f]{32}\.parquet$")
        rows = {r["function"]: r for r in parquet_file.read((self.dir / path).read_bytes())[0]}
        self.assertEqual({f: (r["stack"], round(r["self"] / 1e6), r["event"], r["unit"], r["commit"])
                          for f, r in rows.items()},
                         {"main": (["main"], 100, "cpu", "nanoseconds", "c/1"),
                          "parse": (["parse"], 50, "cpu", "nanoseconds", "c/1")})
        self.assertEqual(rows["main"]["time_ns"], 1772704800 * 10**9)  # the commit's time
        self.assertIn("takes one DIR", self.store("export", status=2))


if __name__ == "__main__":
    main()
