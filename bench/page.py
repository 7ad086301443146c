#!/usr/bin/env python3
"""Measure pages: how long `monarc html` takes, what it writes, and what a browser needs for it, beside other viewers.

    page.py [--monarc PATH] [--quick] [--runs N] [--only profile|flame|coverage] [CACHE]

Three inputs, made in CACHE (default build/bench) when they are not there:

    profile   100,000 functions and 400,000 calls (make_large.py, make_profile.py), with line numbers and without
    flame     1,000,000 different stacks, as a recording
    coverage  a tracefile of 4,000 sources of 100 lines each (page_cover.py)

Peers get the same data: pprof's and speedscope's files are what `monarc export` writes of it, genhtml takes the
tracefile, gcovr what `monarc cover` makes of that. Of pprof it is the time until its server has answered, for which it has two minutes.
Prints one Markdown table: medians of N runs (default 3), all tools in turn; peers of more than ten seconds run once.
--quick leaves peers out and runs once. Chromium and the modules of tools/setup.sh's need_browser are needed for the
last column, and go for pprof; what is not there is left out, and said so.
"""

import argparse
import base64
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
import page_cover  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
MODULES = Path(os.environ.get("MONARC_NODE_MODULES", ROOT / "build/npm/node_modules"))
PATIENCE = 10  # seconds; what takes longer runs once
LONGEST = 120  # seconds that a peer is given for an answer


def missing(what):
    print(f"page.py: no {what}: left out", file=sys.stderr)


# --- inputs ----------------------------------------------------------------------------------------


def make_profile(cache):
    for script in ("make_large.py", "make_profile.py"):
        more = ["--only", "large"] if script == "make_profile.py" else []
        subprocess.run([sys.executable, BENCH / script, *more, cache], check=True, stdout=subprocess.DEVNULL)


def make_stacks(monarc, cache, stacks):
    """A recording of different call paths: each goes on from a part of an earlier one, up to 40 deep, as programs' do."""
    recording = cache / f"stacks-{stacks}.monarc"
    if recording.exists():
        return recording
    dice = random.Random(15)
    paths, known = [("main",)], {("main",)}
    while len(paths) < stacks:
        path = paths[dice.randrange(len(paths))]
        if len(path) > 37:
            continue
        path += tuple(f"layer{len(path) + i}_function_{dice.randrange(200)}" for i in range(dice.randint(1, 3)))
        if path not in known:
            known.add(path)
            paths.append(path)
    with tempfile.NamedTemporaryFile("w", suffix=".folded", dir=cache) as folded:
        folded.writelines(f"{';'.join(path)} {dice.randint(1, 20)}\n" for path in sorted(paths))
        folded.flush()
        subprocess.run([monarc, "merge", "-o", recording, folded.name], check=True)
    return recording


# --- running ---------------------------------------------------------------------------------------


class Tool:
    """One row: a command, and what it leaves behind."""

    def __init__(self, work, name, command, target, budget="", look=None):
        self.work, self.name, self.command, self.target = work, name, [str(c) for c in command], Path(target)
        self.budget, self.look, self.times = budget, look, []
        self.seen, self.remark = None, ""

    def is_there(self):
        return shutil.which(self.command[0]) is not None

    def run(self):
        for old in self.target, self.target.with_name(self.target.stem + "-sources"):
            shutil.rmtree(old, ignore_errors=True)
        if not self.target.suffix:
            self.target.mkdir()
        begun = time.monotonic()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.times.append((used.ru_utime + used.ru_stime, time.monotonic() - begun))
        if process.returncode:
            print(f"page.py: {self.command[0]} says {process.returncode}", file=sys.stderr)

    def written(self):
        return page_cover.written(self.target) if self.target.exists() else (0, 0)


class Pprof(Tool):
    """A server: until it has answered with the page of its flame."""

    def run(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        begun = time.monotonic()
        process = subprocess.Popen([self.command[0], f"-http={address}", "-no_browser", *self.command[1:]],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        url = f"http://{address}/ui/flamegraph"
        self.size = len(self.answer(url, begun + LONGEST))
        wall = time.monotonic() - begun
        if not self.size:
            self.remark = f"no answer within {LONGEST} s"
        elif not self.times:
            self.seen = browse("page_peer.mjs", url, "svg, canvas, #stack-chart")
        process.kill()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        self.times.append((used.ru_utime + used.ru_stime, wall))

    def answer(self, url, deadline):
        """Nothing if there is none in time; asks again only while nobody listens yet."""
        while (left := deadline - time.monotonic()) > 0:
            try:
                return urllib.request.urlopen(url, timeout=left).read()
            except ConnectionError:
                time.sleep(0.05)
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionError):
                    break
                time.sleep(0.05)
            except TimeoutError:
                break
        return b""

    def written(self):
        return 1, self.size / 1e6


class Speedscope(Tool):
    """A page that a browser loads the profile into: nothing is made, all is in the last column."""

    def is_there(self):
        return (MODULES / "speedscope").is_dir()

    def run(self):
        self.times.append((0, 0))

    def written(self):
        site = MODULES / "speedscope/dist/release"
        return 1, (self.target.stat().st_size + sum(f.stat().st_size for f in site.glob("*.js"))) / 1e6


def browse(script, *arguments):
    if not shutil.which("chromium") or not (MODULES / "playwright-core").is_dir():
        missing("Chromium, or no build/npm")
        return {}
    said = subprocess.run(["node", BENCH / script, MODULES, shutil.which("chromium"), *map(str, arguments)],
                          check=False, capture_output=True, text=True)
    if said.returncode:
        print(f"page.py: {said.stderr.strip()[-300:]}", file=sys.stderr)
        return {}
    return json.loads(said.stdout)


def look_at_page(tool):
    return browse("page_clicks.mjs", tool.target)


def look_at_speedscope(tool):
    """speedscope takes a profile as a script beside it."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "profile.js")
        script.write_text(f'speedscope.loadFileFromBase64("profile", "{base64.b64encode(tool.target.read_bytes()).decode()}")')
        return browse("page_peer.mjs", (MODULES / "speedscope/dist/release/index.html").as_uri() + f"#localProfilePath={script}",
                      "canvas", " - speedscope")


# --- the table -------------------------------------------------------------------------------------


def exported(monarc, name, suffix, cache, *operands):
    target = cache / f"page-peer.{suffix}"
    subprocess.run([monarc, "export", "--force", "--format", name, "-o", target, *operands], check=True)
    return target


def viewers(work, monarc, cache, label, *operands):
    """pprof and speedscope on one profile."""
    tools = []
    found = subprocess.run(["go", "env", "GOTOOLDIR"], check=False, capture_output=True, text=True) if shutil.which("go") else None
    if found and Path(found.stdout.strip(), "pprof").exists():
        tools.append(Pprof(work, "pprof -http", [Path(found.stdout.strip(), "pprof"),
                                                 exported(monarc, "pprof", f"{label}.pb.gz", cache, *operands)], cache / "none"))
    else:
        missing("go with pprof")
    if (MODULES / "speedscope").is_dir():
        file = exported(monarc, "speedscope", f"{label}.speedscope.json", cache, *operands)
        tools.append(Speedscope(work, "speedscope", ["true"], file, look=look_at_speedscope))
    else:
        missing("speedscope")
    return tools


def profile_tools(monarc, cache, is_quick):
    make_profile(cache)
    work = "100,000 functions, 400,000 calls"
    plain, lines = cache / "large-nodebug", cache / "large"

    def page(name, program, budget):
        target = cache / f"{program.name}.html"
        return Tool(name, "monarc html", [monarc, "html", "--force", "-o", target, program, cache / "large.gmon"],
                    target, budget, look_at_page)
    own = [page(work, plain, "made in 2 s, painted in 1 s, click 100 ms"),
           page(f"{work}, 9 million line rows, 500 sources", lines, "")]
    return own + ([] if is_quick else viewers(work, monarc, cache, "profile", plain, cache / "large.gmon"))


def flame_tools(monarc, cache, is_quick):
    stacks = 1_000_000
    recording, work, target = make_stacks(monarc, cache, stacks), f"{stacks:,} stacks", cache / "stacks.html"
    own = Tool(work, "monarc html", [monarc, "html", "-o", target, recording], target, "made in 3 s, pans at 30 a second", look_at_page)
    return [own, *([] if is_quick else viewers(work, monarc, cache, "stacks", recording))]


def coverage_tools(monarc, cache, is_quick):
    sources = 4000
    trace, work = page_cover.make_trace(cache / "trace", sources), f"coverage of {sources:,} sources"
    target = cache / "coverage.html"
    own = Tool(work, "monarc html", [monarc, "html", "-o", target, trace], target, "made in 5 s", look_at_page)
    if is_quick:
        return [own]
    subprocess.run([monarc, "cover", "--quiet", "--format", f"gcovr={cache / 'coverage.json'}", trace], check=True,
                   capture_output=True)
    return [own, Tool(work, "genhtml", ["genhtml", "--quiet", "-o", cache / "genhtml", trace], cache / "genhtml"),
            Tool(work, "gcovr --html-details", ["gcovr", "-r", cache / "trace", "-a", cache / "coverage.json", "--html-details",
                                                cache / "gcovr/index.html"], cache / "gcovr")]


def in_browser(tool):
    seen = tool.seen or (tool.look(tool) if tool.look else {})
    said = [tool.remark] if tool.remark else []
    said += [f"{key} {seen.pop(key) / 1000:.2f} s" for key in sorted(seen) if key.startswith("painted")]
    if "pans a second" in seen:
        said.append(f"{seen.pop('pans a second')} pans a second")
    if seen:
        slowest = max(seen, key=seen.get)
        said.append(f"slowest of {len(seen)} clicks: {slowest}, {seen[slowest]} ms")
    return "; ".join(said)


def run_all(tools, runs):
    for turn in range(runs):
        for tool in tools:
            if turn and tool.times and tool.times[0][1] > PATIENCE:
                continue
            tool.run()


def show(tools):
    for tool in tools:
        cpu, wall = (statistics.median(column) for column in zip(*tool.times))
        files, megabytes = tool.written()
        made = [f"{cpu:.2f} s", f"{wall:.2f} s"] if wall else ["", ""]
        print(f"| {tool.work} | {tool.name} | {' | '.join(made)} | {files:,} | {megabytes:.1f} MB | {in_browser(tool)} | {tool.budget} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("--quick", action="store_true", help="no peers, one run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=("profile", "flame", "coverage"))
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    cache, monarc = options.cache.resolve(), options.monarc.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    print("| work | tool | CPU | wall | files | size | in Chromium | budget |\n|---|---|--:|--:|--:|--:|---|---|")
    for name, tools_of in (("profile", profile_tools), ("flame", flame_tools), ("coverage", coverage_tools)):
        if options.only not in (None, name):
            continue
        tools = tools_of(monarc, cache, options.quick)
        for tool in tools:
            if not tool.is_there():
                missing(tool.name)
        tools = [tool for tool in tools if tool.is_there()]
        run_all(tools, 1 if options.quick else options.runs)
        show(tools)


main()
