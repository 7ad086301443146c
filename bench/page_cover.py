#!/usr/bin/env python3
"""Measure pages of coverage: `monarc html` beside genhtml and gcovr --html-details, where they are installed.

    page_cover.py [--monarc PATH] [--sources N] [CACHE]

Two inputs, made in CACHE (default build/bench-cover) when they are not there: the C program of make_cover.py, and a
tracefile of N sources (default 4,000) of 100 lines each, which are on disk, too. genhtml gets what `monarc cover --lcov`
writes, or the tracefile. Prints a Markdown table: CPU and wall seconds of one run, and what was written, in files and MB.
The budget is 4,000 sources in 5 s.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import make_cover  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LINES = 100


def make_trace(folder, sources):
    """`all.info` and the sources it is about; nothing is done if it is complete."""
    trace = folder / "all.info"
    if trace.exists() and trace.read_text().count("SF:") == sources:
        return trace
    shutil.rmtree(folder, ignore_errors=True)
    records = []
    for i in range(sources):
        source = folder / f"part{i // 100}" / f"source{i}.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f"    sum{i} += values[{n}] * {n * i % 97}; /* line {n} */\n" for n in range(LINES)))
        counts = "".join(f"DA:{n + 1},{(n * 7 + i) % 5}\n" for n in range(LINES))
        records.append(f"TN:\nSF:{source}\nFN:1,f{i}\nFNDA:{i % 3},f{i}\nFNF:1\nFNH:{int(i % 3 > 0)}\n{counts}"
                       f"LF:{LINES}\nLH:{sum((n * 7 + i) % 5 > 0 for n in range(LINES))}\nend_of_record\n")
    trace.write_text("".join(records))
    return trace


def written(target):
    files = [target] if target.is_file() else [file for file in target.rglob("*") if file.is_file()]
    beside = target.with_name(target.stem + "-sources")
    files += list(beside.iterdir()) if beside.is_dir() else []
    return len(files), sum(file.stat().st_size for file in files) / 1e6


def measured(title, name, command, folder, target):
    if not shutil.which(str(command[0])):
        print(f"page_cover.py: no {command[0]}: left out", file=sys.stderr)
        return
    for old in target, target.with_name(target.stem + "-sources"):
        shutil.rmtree(old, ignore_errors=True)
    if not target.suffix:
        target.mkdir()
    begun = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    files, megabytes = written(target) if target.exists() else (0, 0)
    print(f"| {title} | {name} | {used.ru_utime + used.ru_stime:.2f} s | {wall:.2f} s | {files} | {megabytes:.1f} MB |"
          + (f" exit status {process.returncode}" if process.returncode else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("--sources", type=int, default=4000)
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench-cover")
    options = parser.parse_args()
    cache, monarc = options.cache.resolve(), options.monarc.resolve()
    trace = make_trace(cache / "trace", options.sources)
    program = make_cover.make_both(cache)["c"]
    info = program / "program.info"
    subprocess.run([monarc, "cover", "--quiet", "--lcov", info, program], check=True, capture_output=True)
    print("| input | page of | CPU | wall | files | size |\n|---|---|--:|--:|--:|--:|")
    for title, folder, operand, tracefile in (("C, 60,000 lines", program, program, info),
                                              (f"{options.sources:,} sources", cache, trace, trace)):
        measured(title, "monarc html", [monarc, "html", "-o", cache / "monarc.html", operand], folder, cache / "monarc.html")
        measured(title, "genhtml", ["genhtml", "--quiet", "-o", cache / "genhtml", tracefile], folder, cache / "genhtml")
        if operand is program:
            measured(title, "gcovr --html-details", ["gcovr", "--html-details", cache / "gcovr/index.html"], folder, cache / "gcovr")


if __name__ == "__main__":
    main()
