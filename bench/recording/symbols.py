#!/usr/bin/env python3
"""What the names inside a recording cost, and what they save.

    symbols.py [--runs N] [MONARC] [-- COMMAND...]

Records COMMAND (default: clang compiling a source of monarc, whose library of 110 MB has 300,000 symbols) with its
names inside and with --no-symbols, and opens both: `flat`, `graph --tree` and `lines`. Medians of N interleaved
rounds; CPU time, as the elapsed time of a busy machine says little. What `flat` of the first says must not depend on
the files, which `tests/cli/test_recording.py` shows.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REPORTS = ("flat",), ("graph", "--tree"), ("lines",)


def cpu_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def folder_kb(folder):
    return sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file()) / 1000


def main():
    own, command = sys.argv[1:], None
    if "--" in own:
        own, command = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("monarc", nargs="?", default=ROOT / "build" / "monarc", type=Path)
    args = parser.parse_args(own)
    monarc = args.monarc.resolve()
    with tempfile.TemporaryDirectory() as folder:
        command = command or ["clang", "-O2", "-g", "-c", "-I", ROOT / "src", "-I", ROOT / "include", "-D_GNU_SOURCE",
                              '-DMONARC_VERSION="0"', ROOT / "src" / "gnu" / "gcov" / "gcov.c", "-o", "gcov.o"]
        ways = {"bare": list(command),
                "names inside": [monarc, "run", "--no-report", "-o", "with.monarc", *command],
                "--no-symbols": [monarc, "run", "--no-report", "-o", "without.monarc", "--no-symbols", *command]}
        times = {}
        for _ in range(args.runs):
            for name, way in ways.items():
                times.setdefault(name, []).append(cpu_seconds(way, folder))
            for report in REPORTS:
                for recording in "with", "without":
                    times.setdefault((*report, recording), []).append(
                        cpu_seconds([monarc, *report, recording + ".monarc"], folder))
        median = {name: statistics.median(values) for name, values in times.items()}
        print("| CPU time, s | names inside | --no-symbols |\n|---|--:|--:|")
        print(f"| recorded (bare: {median['bare']:.3f}) | {median['names inside']:.3f} | {median['--no-symbols']:.3f} |")
        for report in REPORTS:
            inside, without = median[(*report, "with")], median[(*report, "without")]
            print(f"| `{' '.join(report)}` | {inside:.3f} | {without:.3f}: {without / inside:.0f} times |")
        print(f"| recording | {folder_kb(folder + '/with.monarc'):.0f} kB | {folder_kb(folder + '/without.monarc'):.0f} kB |")


main()
