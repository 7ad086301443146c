#!/usr/bin/env python3
"""peers.py: inclusive shares of `monarc run` against `perf record --call-graph dwarf`.

    python3 bench/recording/peers.py [--rounds N] [--only NAME] [MONARC]

Runs the programs of cost.py under one and the other in turn, sums each function's samples with its
callees over the rounds, and prints the largest differences in points. perf sees user code by its
own unwinder, with 32 kB of stack. Names are compared without versions and parameters; functions that
only one of the two has a name for are left out, and said.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cost


def plain(name):
    name = re.sub(r"@.*", "", name)
    return re.sub(r"\(.*", "", name).strip()


def by_perf(command, folder):
    """function -> samples with it anywhere on the stack; and all samples."""
    data = os.path.join(folder, "perf.data")
    subprocess.run(["perf", "record", "-q", "-o", data, "-e", "task-clock", "-c", "1000000",
                    "--call-graph", "dwarf,32768", "--", *command], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], capture_output=True,
                            text=True, check=False).stdout
    found, samples = collections.Counter(), 0
    for stack in script.split("\n\n"):
        names = {plain(line.split(None, 1)[1]) for line in stack.splitlines() if len(line.split(None, 1)) > 1}
        samples += bool(stack.strip())
        found.update(names)
    return found, samples


def by_monarc(monarc, command, folder):
    rec = os.path.join(folder, "rec")
    subprocess.run([monarc, "run", "--no-report", "-o", rec, "--", *command], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    table = json.loads(subprocess.run([monarc, "flat", "--json", rec], capture_output=True,
                                      check=True).stdout)
    found = collections.Counter()
    for row in table["functions"]:
        found[plain(row["name"])] = max(found[plain(row["name"])], row["total_samples"])
    return found, table["summary"]["samples"]


def compare(options, name, command, folder):
    sums = {"perf": [collections.Counter(), 0], "monarc": [collections.Counter(), 0]}
    for _ in range(options.rounds):
        for way, (found, samples) in (("perf", by_perf(command, folder)),
                                      ("monarc", by_monarc(options.monarc, command, folder))):
            sums[way][0].update(found)
            sums[way][1] += samples
    shares = {way: {n: 100 * c / max(all_of, 1) for n, c in counts.items()}
              for way, (counts, all_of) in sums.items()}
    both = [n for n in shares["perf"] if n in shares["monarc"] and not n.startswith("[")]
    off = sorted(((abs(shares["perf"][n] - shares["monarc"][n]), n) for n in both), reverse=True)[:3]
    print(f"{name:10s} {len(both):5d} functions; " +
          ", ".join(f"{n} {shares['perf'][n]:.1f} / {shares['monarc'][n]:.1f}" for _, n in off), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("monarc", nargs="?", default=os.path.join(cost.ROOT, "build/monarc"))
    options = parser.parse_args()
    if not shutil.which("perf"):
        print("there is no perf here")
        return 1
    print("largest differences: function, % by perf / % by monarc")
    with tempfile.TemporaryDirectory(prefix="monarc-peers-") as folder:
        for name, command in cost.programs(folder).items():
            if shutil.which(command[0]) and options.only in (None, name):
                compare(options, name, command, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
