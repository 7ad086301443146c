#!/usr/bin/env python3
"""Measure `monarc html`: how long a page takes to make, its size, and how long a browser takes with it.

    page.py [--monarc PATH] [CACHE]

Takes the large benchmark program and its profile in CACHE (default build/bench; make_large.py and
make_profile.py make them) and prints a Markdown table. The budgets are of 100,000 functions: made in
2 s, shown in 1 s, each click in 100 ms. Chromium and the modules of tools/setup.sh's need_browser are
needed for the second half; without them it is left out, and said so.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "build/npm/node_modules"


def made(monarc, arguments, page):
    begun = time.monotonic()
    subprocess.run([monarc, "html", "--force", "-o", page, *arguments], check=True)
    seconds = time.monotonic() - begun
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def clicks(page):
    if not shutil.which("chromium") or not MODULES.is_dir():
        print("page.py: no Chromium or no build/npm: nothing is clicked", file=sys.stderr)
        return {}
    said = subprocess.run(["node", ROOT / "bench/page_clicks.mjs", page, MODULES, shutil.which("chromium")],
                          check=True, capture_output=True, text=True)
    return json.loads(said.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    print("| program | made | memory | size | what | ms |\n|---|---|---|---|---|---|")
    for program in ("large-nodebug", "large"):
        page = options.cache / f"{program}.html"
        seconds, megabytes = made(options.monarc, [options.cache / program, options.cache / "large.gmon"], page)
        print(f"| {program} | {seconds:.2f} s | {megabytes:.0f} MB | {page.stat().st_size / 1e6:.1f} MB | | |")
        for what, milliseconds in clicks(page).items():
            print(f"| | | | | {what} | {milliseconds} |")


main()
