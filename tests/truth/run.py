#!/usr/bin/env python3
"""run.py: records programs that know their own shares, and asks whether the report says so.

usage: run.py [--rounds N] [--case NAME]... [--build NAME]... [--recorder NAME]... [--verbose] [--bare]
              [--fast] [--list]

Each case of cases.py is built in its builds, recorded by its recorders, N times. A line a
combination says in how many rounds every figure was true; what was not is shown. --fast takes each
case once, in its first build, by perf. --bare runs the programs alone and compares what they say
they used with what the kernel says. The last line is `N passed, N failed, N skipped`."""
import argparse
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases
import truth


CANNOT = 77  # exit status


def ask(workshop, case, build, recorder):
    """The findings of one round; raises AssertionError where there is nothing to compare."""
    folder = workshop.build(case.source, build, case.extra, case.libraries)
    copy = tempfile.mkdtemp(dir=workshop.folder.name)
    try:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        os.chmod(copy, 0o777)
        program = os.path.join(copy, os.path.splitext(case.source)[0])
        said, recording, r = truth.record(copy, program, case.arguments, recorder, workshop,
                                          case.options)
        if r.returncode == CANNOT:
            raise truth.Unavailable("the program may not do here what it is to show")
        if r.returncode != case.status:
            raise AssertionError("exit status %d, expected %d: %s" % (r.returncode, case.status,
                                                                      r.stderr.strip()))
        report = truth.Report(recording, [truth.MONARC], case.flat)
        is_cut = case.is_cut if isinstance(case.is_cut, bool) else recorder.name in case.is_cut
        return truth.notes(report, case.note) + truth.compare(
            truth.Truth(said), report, case.asks, truth.renamed(case.rename, copy),
            recorder.method, is_cut, case.weight, case.cut)
    finally:
        shutil.rmtree(copy, True)


def ask_bare(workshop, case, build):
    """Whether a program's own figures agree with the kernel's, and leave nothing out."""
    folder = workshop.build(case.source, build, case.extra, case.libraries)
    copy = tempfile.mkdtemp(dir=workshop.folder.name)
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    said, used_s = truth.bare(copy, os.path.join(copy, os.path.splitext(case.source)[0]),
                              case.arguments)
    if "daemon" in case.name:
        time.sleep(0.8)
        used_s += 0.45
    t = truth.Truth(said)
    if not t.cpu_s:
        raise AssertionError("the program said nothing at its end")
    shutil.rmtree(copy, True)
    return [truth.Finding("CPU time", used_s, t.cpu_s, truth.HUNDREDTH * used_s + truth.OUTSIDE_S,
                          "s"),
            truth.Finding("clock reads", 0, t.error_s / t.cpu_s, truth.HUNDREDTH)]


def combinations(args):
    for case in cases.CASES:
        if args.case and case.name not in args.case:
            continue
        builds = [b for b in case.builds if not args.build or b in args.build]
        ways = [w for w in case.recorders if not args.recorder or w in args.recorder]
        if args.fast:
            builds, ways = [b for b in builds if b == case.build], ways[:1]
        if args.bare:
            ways = ["bare"]
        for build in builds:
            for way in ways:
                yield case, build, way


def rounds_of(workshop, args, case, build, way):
    """(rounds that were right, findings of those that were not)"""
    right, wrong = 0, []
    for _ in range(args.rounds):
        try:
            found = (ask_bare(workshop, case, build) if way == "bare" else
                     ask(workshop, case, build, truth.RECORDERS[way]))
        except AssertionError as error:
            wrong.append(str(error)[:600])
            continue
        if args.verbose:
            print(*("    %s" % f for f in found), sep="\n", flush=True)
        bad = [str(f) for f in found if not f.is_true]
        right += not bad
        wrong += bad
    return right, wrong


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    for name in "case", "build", "recorder":
        parser.add_argument("--" + name, action="append", default=[])
    for name in "verbose", "bare", "fast", "list":
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args()


def main():
    args = parse_arguments()
    workshop = truth.Workshop()
    passed = failed = skipped = 0
    for case, build, way in combinations(args):
        name = "%s %s %s" % (case.name, build, way)
        if args.list:
            print(name)
            continue
        try:
            right, wrong = rounds_of(workshop, args, case, build, way)
        except truth.Unavailable as why:
            print("%-40s skipped: %s" % (name, why), flush=True)
            skipped += 1
            continue
        print("%-40s %d of %d" % (name, right, args.rounds), flush=True)
        print(*("    %s\n" % line for line in wrong), sep="", end="", flush=True)
        passed += right == args.rounds
        failed += right != args.rounds
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
