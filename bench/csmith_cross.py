#!/usr/bin/env python3
"""csmith_cross.py [--programs N] [--first SEED] [--clang V] [--gcc COMMAND] [--keep FILE] [FOLDER]: programs that csmith makes, by
gcc and clang, through `monarc cover --cross`.

Each program is compiled by both without optimisation and run, for at most 0.3 s of CPU each (they end at once, or never);
those that take longer, or print another checksum, are left out and counted. Lines that differ are given a reason: the law that one side breaks, as
monarc says it, or what the text of the line says of the compilers' rules (`REASONS`). What has neither is printed whole, and
the status is 1. --keep writes all lines that differ, with the lines around them, as JSON, one a line.
"""

import argparse
import collections
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 0.3

def is_label(text, at, gcc, clang):
    return re.fullmatch(r"\s*\w+:\s*", text[at])


def has_several_parts(text, at, gcc, clang):
    return re.search(r"&&|\|\||\?", text[at]) and gcc > clang


def is_jump(text, at, gcc, clang):
    return re.search(r"\b(return|continue|break|goto)\b", text[at]) and gcc > clang


def is_brace(text, at, gcc, clang):
    return re.fullmatch(r"\s*\{\s*(/\*.*\*/)?\s*", text[at])


# Tried in this order on the line and both counts; docs/coverage.md has the same list.
REASONS = (("a label alone on its line: gcc counts the jumps to it", is_label),
           ("several parts (&&, ||, ?:): gcc counts each way in from another line", has_several_parts),
           ("a jump (return, continue, ...): gcc gives the line of one to the way out that several share", is_jump),
           ("a { alone on its line: gcc counts ways out of the block", is_brace))


def limited():
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def build_and_run(folder, gcc, clang):
    """None: it fails, or takes too long; else what both printed."""
    said = set()
    for name, command in (("gcc", [gcc, "--coverage"]),
                          ("clang", [f"clang-{clang}", "-fprofile-instr-generate", "-fcoverage-mapping"])):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        subprocess.run([*command, "-w", "-O0", "-g", "-I/usr/include/csmith", "-o", "prog", "../p.c"], cwd=folder / name,
                       check=True, capture_output=True)
        done = subprocess.run(["./prog"], cwd=folder / name, env={"LLVM_PROFILE_FILE": "p.profraw"}, capture_output=True,
                              timeout=300, preexec_fn=limited)
        if done.returncode:
            return None
        said.add(done.stdout)
    return said


def reason_of(line, text):
    law = next(((side, b["law"]) for side, b in zip(("gcc", "clang"), line["breaches"]) if b), None)
    if law:
        return f"{law[0]} breaks a law: {law[1]}"
    at = line["line"] - 1
    for reason, holds in REASONS:
        if holds(text, at, *line["counts"]):
            return reason
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--clang", default="22")
    parser.add_argument("--gcc", default="gcc")
    parser.add_argument("--monarc", default=str(ROOT / "build/monarc"))
    parser.add_argument("--keep")
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    tally, totals, unexplained = collections.Counter(), collections.Counter(), 0
    keep = open(arguments.keep, "w", encoding="utf-8") if arguments.keep else None
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        seed = arguments.first
        while totals["programs"] < arguments.programs:
            subprocess.run(["csmith", "--seed", str(seed), "--max-funcs", "3", "--max-block-depth", "4", "-o", "p.c"], cwd=folder, check=True)
            seed += 1
            said = build_and_run(folder, arguments.gcc, arguments.clang)
            if not said or len(said) > 1:
                totals["too long" if not said else "other checksum"] += 1
                continue
            done = subprocess.run([arguments.monarc, "cover", "--quiet", "--cross", "--json", "-", "gcc", "clang"], cwd=folder,
                                  capture_output=True)
            found = json.loads(done.stdout)
            totals["programs"] += 1
            totals["lines"] += found["summary"]["lines"]
            totals["differ"] += found["summary"]["differ"]
            totals["in gcc alone"] += found["summary"]["alone"][0]
            totals["in clang alone"] += found["summary"]["alone"][1]
            text = (folder / "p.c").read_text().splitlines()
            for line in found["lines"]:
                reason = reason_of(line, text)
                tally[reason] += 1
                at = line["line"]
                around = [f"{n + 1:5} {text[n]}" for n in range(max(0, at - 4), min(len(text), at + 3))]
                if keep:
                    print(json.dumps({"seed": seed - 1, "reason": reason, **line, "text": around}), file=keep, flush=True)
                if not reason:
                    unexplained += 1
                    print(f"seed {seed - 1}, line {at}: {line['counts']}", *around, sep="\n", flush=True)
            if totals["programs"] % 25 == 0:
                print(dict(totals), dict(tally), file=sys.stderr, flush=True)
    print(", ".join(f"{what}: {n}" for what, n in totals.items()))
    for reason, n in tally.most_common():
        print(f"{n:6}  {reason or 'no reason'}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
