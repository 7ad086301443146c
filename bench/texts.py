#!/usr/bin/env python3
"""Measure how text profiles are read: CPU time and memory of `monarc flat` and `merge`.

    texts.py [--monarc PATH] [--runs N] [--megabytes N] [CACHE]

The files are made in CACHE (default build/bench), 112 MB each: folded stacks of which most repeat, one line
a sample, as they come; folded stacks of walks through a call graph of 20,000 functions, of which no two are
alike, as they come, sorted, and with names of up to five letters; and the samples of such walks as `perf script`
prints them. The budget is 1 s of CPU time and three times the file's size of memory. Prints a Markdown table.
"""

import argparse
import random
from pathlib import Path

from pictures import ROOT, memory_of, measured

BUDGET_SECONDS, BUDGET_MEMORY = 1, 3
FUNCTIONS, SEED = 20_000, 17


class Walks:
    """Stacks of a program: each function calls up to five others."""

    def __init__(self, name="function_number_{0}_of_module_{1}"):
        self.random = random.Random(SEED)
        self.names = [name.format(i, i % 97) for i in range(FUNCTIONS)]
        self.callees = [self.random.sample(range(FUNCTIONS), self.random.randint(1, 5)) for _ in self.names]

    def stack(self):
        path = [self.random.randrange(20)]
        for _ in range(self.random.randint(3, 29)):
            path.append(self.random.choice(self.callees[path[-1]]))
        return path

    def folded(self, path):
        return ";".join(self.names[i] for i in path) + f" {self.random.randint(1, 9)}\n"

    def printed(self, path, number):
        frames = [f"\t{0x55d0c0000000 + 4096 * i + 16 * self.random.randrange(64):16x} {self.names[i]}+0x10 (/usr/bin/prog)"
                  for i in reversed(path)]
        return "\n".join([f"prog {4000 + number % 4} {1000 + number / 1000:.6f}:     250000 cpu-clock:ppp: ", *frames, "", ""])


def fill(path, size, lines):
    if path.exists() and path.stat().st_size >= size:
        return path
    with path.open("w") as out:
        while out.tell() < size:
            out.write(next(lines))
    return path


def files(cache, size):
    walks = Walks()
    some = [walks.folded(walks.stack()) for _ in range(2000)]
    yield "folded, 2,000 stacks repeated", fill(cache / "repeated.folded", size, iter(lambda: walks.random.choice(some), None))
    apart = fill(cache / "apart.folded", size, iter(lambda: walks.folded(walks.stack()), None))
    yield "folded, none alike", apart
    ordered = cache / "ordered.folded"
    if not ordered.exists() or ordered.stat().st_size != apart.stat().st_size:
        ordered.write_bytes(b"".join(sorted(apart.read_bytes().splitlines(keepends=True))))
    yield "the same, sorted", ordered
    short = Walks("f{0:x}")
    yield "none alike, short names", fill(cache / "short.folded", size, iter(lambda: short.folded(short.stack()), None))
    numbers = iter(range(10**9))
    yield "`perf script`", fill(cache / "script.txt", size, iter(lambda: walks.printed(walks.stack(), next(numbers)), None))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=Path, default=ROOT / "build/monarc")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=112)
    parser.add_argument("cache", nargs="?", type=Path, default=ROOT / "build/bench")
    o = parser.parse_args()
    o.cache.mkdir(parents=True, exist_ok=True)
    print("| text | command | CPU | elapsed | memory | budget |\n|---|---|--:|--:|--:|---|")
    for what, path in files(o.cache, o.megabytes * 1000000):
        for name, command in ("flat", ["flat", "--all", path]), ("merge", ["merge", "-o", o.cache / "texts.monarc", path]):
            fresh = ["sh", "-c", f"rm -rf {o.cache / 'texts.monarc'}; exec \"$@\"", "sh", o.monarc, *command]
            cpu, elapsed, _ = measured(fresh, o.runs)
            memory = memory_of(fresh)
            is_met = cpu < BUDGET_SECONDS and memory * 1.048576 < BUDGET_MEMORY * o.megabytes
            print(f"| {what} | `{name}` | {cpu:.2f} s | {elapsed:.2f} s | {memory:.0f} MB | {'met' if is_met else 'missed'} |", flush=True)


if __name__ == "__main__":
    main()
