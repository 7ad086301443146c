"""monarc export --dataset: where files go, what is in them, and the queries of docs/fleet.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import ROOT, main, monarc
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

    def export(self, *arguments, status=0):
        done = monarc("export", "--format", "parquet", "--dataset", "fleet", *arguments, cwd=self.dir)
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
        self.assertIn(b"go with --dataset", done.stderr)
        done = monarc("export", "--format", "folded", "--dataset", "x", name, cwd=self.dir)
        self.assertIn(b"goes with --format parquet", done.stderr)

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
        top, worse, malloc, callers, hosts, folded = self.ask_clickhouse(*queries)
        self.check_fleet(top, worse, malloc, callers)
        self.assertEqual((hosts[0]["host"], int(hosts[0]["recordings"])), ("node2", 1))
        self.assertEqual([(r["line"], int(r["value"])) for r in folded],
                         [("main;parse", 3 * 10**8), ("main;parse;malloc", 5 * 10**8),
                          ("main;search", 18 * 10**8)])

    @unittest.skipUnless((MODULES / "@duckdb").is_dir() and shutil.which("node"),
                         "no DuckDB among the modules of Node.js")
    def test_queries_of_the_page(self):
        self.fleet()
        queries = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/fleet.md").read_text(), re.S)
        top, worse, malloc, callers, hosts = self.ask(*queries)
        self.check_fleet(top, worse, malloc, callers)
        self.assertEqual(hosts[0]["host"], "node2")


if __name__ == "__main__":
    main()
