#!/usr/bin/env python3
"""Measure the pictures of `monarc flame` and `monarc graph`: CPU time, memory, size of what is written.

    pictures.py [--monarc PATH] [--runs N] [--stacks N] [CACHE]

What is drawn is made here, in CACHE (default build/bench): stacks.folded, a million lines, no two alike,
and calls.folded, 300 functions in 12 layers with some 900 arrows, and cycles among them. Where the large benchmark program
and its profile are in CACHE (make_large.py, make_profile.py), its largest 300 functions are drawn as well.
Prints a Markdown table.
The budgets are 3 s for an SVG of 300 nodes, and 3 s for a flame of a million stacks, of CPU time: all work on one.

Peers take the same data: Graphviz' own `dot` what `monarc graph --dot` writes, and flamegraph.pl or
inferno-flamegraph, where they are in PATH, the folded stacks.
"""

import argparse
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET_SECONDS = 3
SEED = 15


def make_stacks(path, stacks):
    """Distinct stacks: the six digits of a number are six decisions, between them run chains without one."""
    if path.exists() and sum(1 for _ in path.open()) == stacks:
        return
    numbers = random.Random(SEED)
    chains = [[f"{verb}_{level}_{i}" for i, verb in enumerate(("read", "check", "visit", "fold")[:numbers.randrange(1, 5)])]
              for level in range(6)]
    with path.open("w") as out:
        for number in range(stacks):
            names = ["main"]
            for level, digit in enumerate(f"{number:06d}"):
                names += [*chains[level], f"step_{level}_{digit}"]
            out.write(";".join(names) + f" {numbers.randrange(1, 20)}\n")


def make_calls(path):
    """Paths from main down through the layers; one call in ten goes up again, which makes cycles."""
    numbers = random.Random(SEED)
    layers = [[f"layer{level}_function_{i}" for i in range(25)] for level in range(12)]
    below = {}
    for level, names in enumerate(layers):
        for name in names:
            reachable = layers[min(level + 1, 11)] + layers[min(level + 2, 11)]
            below[name] = [numbers.choice(reachable) for _ in range(3)]
            if numbers.random() < 0.1:
                below[name].append(numbers.choice(layers[max(level - 1, 0)]))
    with path.open("w") as out:
        for _ in range(60_000):
            stack = ["main", numbers.choice(layers[0])]
            while len(stack) < 16 and numbers.random() < 0.95:
                stack.append(numbers.choice(below[stack[-1]]))
            out.write(";".join(stack) + " 1\n")


def measured(command, runs, **more):
    """Medians of CPU and elapsed seconds, the most memory in MB, and how many MB were written."""
    cpu, wall, size = [], [], 0
    for _ in range(runs):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append(time.monotonic() - begun)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        size = len(done.stdout)
    return statistics.median(cpu), statistics.median(wall), size / 1e6


def memory_of(command, **more):
    """The most memory in MB, told by a process that has no other child."""
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
              "stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    said = subprocess.run([sys.executable, "-c", script, *map(str, command)], check=True, stdout=subprocess.PIPE, **more)
    return int(said.stdout) / 1024


def row(what, command, runs, budget=None, **more):
    cpu, wall, size = measured(command, runs, **more)
    verdict = f"{budget} s, {'met' if cpu < budget else 'missed'}" if budget else ""
    print(f"| {what} | {cpu:.2f} s | {wall:.2f} s | {memory_of(command, **more):.0f} MB | {size:.2f} MB | {verdict} |",
          flush=True)


def graphs(o):
    calls = o.cache / "calls.folded"
    make_calls(calls)
    for nodes in (30, 300):
        graph = [o.monarc, "graph", "--limit", str(nodes), calls]
        for kind in ("svg", "png", "pdf"):
            row(f"`monarc graph --{kind}`, {nodes} nodes", [*graph, f"--{kind}"], o.runs,
                BUDGET_SECONDS if kind == "svg" else None)
    dot = o.cache / "calls.dot"
    dot.write_bytes(subprocess.run([*graph, "--dot"], check=True, stdout=subprocess.PIPE).stdout)
    if shutil.which("dot"):
        row("`dot -Tsvg` of `monarc graph --dot`, 300 nodes", ["dot", "-Tsvg", dot], o.runs)
    large = [o.cache / "large", o.cache / "large.gmon"]
    if all(file.exists() for file in large):
        row("`monarc graph --svg`, 300 of 100,000 functions", [o.monarc, "graph", "--svg", "--limit", "300", *large],
            o.runs, BUDGET_SECONDS)


def flames(o):
    folded = o.cache / "stacks.folded"
    make_stacks(folded, o.stacks)
    flame = [o.monarc, "flame", "-o", "-"]
    row(f"`monarc flame`, {o.stacks:,} stacks", [*flame, folded], o.runs, BUDGET_SECONDS)
    row("the same, no box left out (`-m 0`)", [*flame, "-m", "0", folded], 1)
    for peer in ("flamegraph.pl", "inferno-flamegraph"):
        if shutil.which(peer):
            row(f"`{peer}`", [peer, folded], 1)
        else:
            print(f"pictures.py: no {peer} in PATH", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--stacks", type=int, default=1_000_000)
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench")
    o = parser.parse_args()
    o.cache.mkdir(parents=True, exist_ok=True)
    print("| picture | CPU | elapsed | memory | size | budget |\n|---|--:|--:|--:|--:|---|")
    graphs(o)
    flames(o)


if __name__ == "__main__":
    main()
