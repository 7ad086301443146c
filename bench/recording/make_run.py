#!/usr/bin/env python3
"""make_run.py: a recording of known size, to time how fast it is read and reported.

usage: make_run.py FOLDER [--samples 1000000] [--stacks 100000] [--depth 30] [--program FILE]

The stacks are random paths through the functions of FILE (default: build/monarc), each with an end of
its own; every sample is an entry of its own, with a weight of its own. The numbers are the same each
time. It refuses programs without symbols.
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from run_file import FILE, KERNEL, PERIOD, Run  # noqa: E402


def functions(program):
    """(address, size) of every function that has a size."""
    for options in ["-S"], ["-SD"]:
        out = subprocess.run(["nm", *options, program], capture_output=True, text=True).stdout
        rows = [line.split() for line in out.splitlines()]
        found = [(int(r[0], 16), int(r[1], 16)) for r in rows if len(r) == 4 and r[2] in "tT"]
        if found:
            return sorted(found)
    raise SystemExit(f"{program}: has no symbols")


def build_id(program):
    out = subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout
    ids = [line.split()[-1] for line in out.splitlines() if "Build ID" in line]
    return bytes.fromhex(ids[0]) if ids else b""


def grow(run, code, o, program, kernel):
    """Innermost nodes of distinct stacks, made as children of nodes that there are."""
    inner, open_ = [], [(run.node((program, code[0][0] + 1)), 1)]
    while len(inner) < o.stacks:
        parent, depth = open_[random.randrange(len(open_))]
        while depth < o.depth:
            start, size = random.choice(code)
            key = parent, program, start + random.randrange(max(size, 1))
            parent = run.known.setdefault(key, len(run.nodes) + 1)
            if parent > len(run.nodes):
                run.nodes.append(key)
            depth += 1
            open_.append((parent, depth))
            if random.random() < 0.3:
                break
        if random.random() < 0.1:
            key = parent, kernel, random.randrange(300)
            parent = run.known.setdefault(key, len(run.nodes) + 1)
            if parent > len(run.nodes):
                run.nodes.append(key)
        inner.append(parent)
    return inner


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=1000000)
    parser.add_argument("--stacks", type=int, default=100000)
    parser.add_argument("--depth", type=int, default=30)
    parser.add_argument("--program", default=str(ROOT / "build/monarc"))
    o = parser.parse_args()
    random.seed(1)
    code = functions(o.program)
    run = Run(o.program, user=o.samples * PERIOD, stacks=o.samples, whole=o.samples)
    program = run.object(FILE, o.program, build_id(o.program), low=code[0][0],
                         high=code[-1][0] + code[-1][1])
    kernel = run.object(KERNEL)
    run.process(7, 1, program, "bench", user=o.samples * PERIOD, status=0)
    for i in range(4):
        run.thread(0, 7 + i, f"worker {i}", o.samples * PERIOD // 4)
    inner = grow(run, code, o, program, kernel)
    for i in range(o.samples):
        node = inner[i] if i < len(inner) else random.choice(inner)
        run.samples.append((node, 1, i % 4, i * 100 // o.samples, 0, PERIOD + random.randrange(20000)))
    run.write(o.folder)
    size = (o.folder / "monarc.side").stat().st_size
    print(f"{len(run.samples)} samples, {len(set(inner))} stacks, {len(run.nodes)} nodes, {size} bytes")


main()
