#!/usr/bin/env python3
"""fleet.py: how long the queries of docs/fleet.md take over a dataset made of real recordings.

usage: fleet.py --build BUILD [--rows N] [--chdb NODE_MODULES]

Compilers are recorded ('monarc run gcc'), and each recording is exported as that of 24 machines. The files are
copied under other builds and days until there are as many rows as wanted. One build, v2, gets a function `planted` besides, with a tenth of its
time: the question about releases must find it, and nothing else. Beside it are the datasets of calls, and of coverage. Then DuckDB, and ClickHouse if it is there, answer each
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
            both = []
            for form, dataset in (("parquet", "made"), ("parquet-calls", "made-calls")):
                done = subprocess.run([a.build / "monarc", "export", "--format", form, "--dataset", folder / dataset,
                                       "--service", "search", "--host", f"h{host}", recording],
                                      check=True, capture_output=True, text=True)
                both.append(folder / done.stdout.strip())
            if recording not in a.rows_of:
                a.rows_of[recording] = count(a, both[0])
            exported.append((both, a.rows_of[recording]))
    made, rows = 0, 0
    while rows < a.rows:
        both, more = exported[made % len(exported)]
        date = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * (1 + made % 364)))
        for path, dataset in zip(both, ("fleet", "fleet-calls")):
            to = folder / f"{dataset}/service=search/build=v{made % 40}/date={date}"
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to / f"{made}-{path.name}")
        rows += more
        made += 1
    plant(a, folder)
    return made, rows


def plant(a, folder):
    """A ninth of the time of build v2 in a function of its own, and coverage of the builds."""
    date = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400))
    total = ask(a, DUCKDB, a.modules, ["SELECT sum(self)::BIGINT AS n FROM read_parquet('fleet/*/build=v2/**/*.parquet')"], folder)[0][3]["n"]
    (folder / "planted.folded").write_text(f"main;planted {total // 9000000}\n")
    subprocess.run([a.build / "monarc", "export", "--format", "parquet", "--dataset", folder / "planted", "--service", "search",
                    "--build", "v2", "--date", date, folder / "planted.folded"], check=True, capture_output=True)
    # Samples of a profile of another program have no unit: they become those of the others.
    to = folder / f"fleet/service=search/build=v2/date={date}"
    to.mkdir(parents=True, exist_ok=True)
    source = next((folder / "planted").rglob("*.parquet"))
    ask(a, DUCKDB, a.modules, [f"COPY (SELECT * REPLACE ('cpu' AS event, 'nanoseconds' AS unit, self * 1000000 AS self) "
                               f"FROM read_parquet('{source}', hive_partitioning = false)) TO '{to}/planted.parquet' (FORMAT parquet)"], folder)
    lines = "".join(f"FN:{10 * i + 1},{10 * i + 9},f{i}\nFNDA:{i % 2},f{i}\n" + "".join(f"DA:{10 * i + k},{i % 2}\n" for k in range(1, 10))
                    for i in range(2000))
    (folder / "t.info").write_text("SF:/src/a.c\n" + lines + "end_of_record\n")
    for build in range(40):
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * (1 + 9 * build)))
        to = folder / f"coverage/service=search/build=v{build}/date={day}"
        to.mkdir(parents=True)
        subprocess.run([a.build / "monarc", "cover", folder / "t.info", "--quiet", "--format", f"parquet={to}/h.parquet"], check=True)


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
                if "AS after" in query and (length != 1 or first["function"] != "planted" or abs(first["after"] - 0.1) > 1e-3):
                    sys.exit(f"{name}: the planted regression was not found: {length} rows, {first}")
                print(f"{name:10} {wall:6.2f} s wall {cpu:6.2f} s CPU {length:5} rows  {title}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
