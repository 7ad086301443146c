#!/usr/bin/env python3
"""fleet.py: how long the queries of docs/fleet.md take over a dataset made of real recordings.

usage: fleet.py --build BUILD [--rows N] [--chdb NODE_MODULES]

Compilers are recorded ('monarc run gcc'), and each recording is exported as that of 24 machines. The files are
copied under other builds and days until there are as many rows as wanted. Then DuckDB, and ClickHouse if it is there, answer each
query of the page twice, of which the second counts: its file cache is warm. Wall and CPU seconds are
printed; with several CPUs the CPU time is larger.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DUCKDB = """
import {{ DuckDBInstance }} from '{modules}/@duckdb/node-api/lib/index.js';
const c = await (await DuckDBInstance.create(':memory:')).connect();
const ask = async q => (await c.runAndReadAll(q)).getRowObjectsJson();
"""
CLICKHOUSE = """
import {{ createRequire }} from 'node:module';
const {{ query }} = createRequire('{modules}/')('chdb');
const ask = async q => query(q.replace(/;\\s*$/, ''), 'JSONEachRow').split('\\n').filter(l => l).map(l => JSON.parse(l));
"""
MACHINES = 24
TIMED = """
for (const q of {queries})
    for (const turn of [0, 1]) {{
        const start = performance.now(), cpu = process.cpuUsage(), rows = await ask(q);
        const used = process.cpuUsage(cpu);
        if (turn)
            console.log(JSON.stringify([(performance.now() - start) / 1e3, (used.user + used.system) / 1e6, rows.length, rows[0]]));
    }}
"""


def make(a, folder):
    """The dataset; its rows are counted by the first query."""
    source = folder / "many.c"
    source.write_text("".join(f"int f{i}(int a, int *b) {{ for (int k = 0; k < a; k++) b[k] += a * k + {i}; return b[{i} % 7]; }}\n"
                              for i in range(1500)))
    recordings = []
    for level in ("-O0", "-O1", "-O2", "-O3"):
        recordings.append(folder / f"gcc{level}.monarc")
        subprocess.run([a.build / "monarc", "run", "--no-report", "--slice", "5ms", "-o", recordings[-1],
                        "gcc", level, "-g", "-c", source, "-o", folder / "many.o"], check=True, capture_output=True)
    exported = []
    for host in range(MACHINES):
        for recording in recordings:
            done = subprocess.run([a.build / "monarc", "export", "--format", "parquet", "--dataset", folder / "made",
                                   "--service", "search", "--host", f"h{host}", recording],
                                  check=True, capture_output=True, text=True)
            path = folder / done.stdout.strip()
            if recording not in a.rows_of:
                a.rows_of[recording] = count(a, path)
            exported.append((path, a.rows_of[recording]))
    made, rows = 0, 0
    while rows < a.rows:
        path, more = exported[made % len(exported)]
        date = time.strftime("%Y-%m-%d", time.gmtime(1767225600 + 86400 * (made % 365)))
        to = folder / f"fleet/service=search/build=v{made % 40}/date={date}"
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to / f"{made}-{path.name}")
        rows += more
        made += 1
    return made, rows


def count(a, path):
    return ask(a, DUCKDB, a.modules, [f"SELECT count(*) AS n FROM read_parquet('{path}')"])[0][3]["n"] * 1


def ask(a, engine, modules, queries, cwd="."):
    with tempfile.NamedTemporaryFile("w", suffix=".mjs", delete=False) as script:
        script.write(engine.format(modules=Path(modules).resolve()) + TIMED.format(queries=json.dumps(queries)))
    done = subprocess.run(["node", script.name], cwd=cwd, capture_output=True, text=True)
    os.unlink(script.name)
    if done.returncode:
        sys.exit(done.stderr)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for row in found:
        row[3] = {k: int(v) if isinstance(v, str) and v.isdigit() else v for k, v in (row[3] or {}).items()}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--chdb", type=Path)
    a = parser.parse_args()
    a.build, a.rows_of = a.build.resolve(), {}
    a.modules = a.build / "npm/node_modules"
    a.chdb = a.chdb or a.modules
    folder = Path(tempfile.mkdtemp(prefix="monarc-fleet-"))
    try:
        files, rows = make(a, folder)
        size = sum(p.stat().st_size for p in (folder / "fleet").rglob("*.parquet"))
        print(f"{rows} rows in {files} files, {size / 1e6:.0f} MB")
        page = (ROOT / "docs/fleet.md").read_text()
        for name, engine, modules, fence in (("DuckDB", DUCKDB, a.modules, "sql"),
                                             ("ClickHouse", CLICKHOUSE, a.chdb, "clickhouse")):
            if not (modules / ("@duckdb" if fence == "sql" else "chdb")).is_dir():
                continue
            queries = re.findall(rf"```{fence}\n(.*?)```", page, re.S)
            for query, (wall, cpu, length, first) in zip(queries, ask(a, engine, modules, queries, folder)):
                title = " ".join(query.split())[:60]
                print(f"{name:10} {wall:6.2f} s wall {cpu:6.2f} s CPU {length:5} rows  {title}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
