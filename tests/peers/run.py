#!/usr/bin/env python3
"""run.py: runs the test suites of other projects with monarc in place of the program they test.

usage: run.py [--monarc build/monarc] [--source build/peers/source] [--work build/peers/run] [SUITE...]

SUITE is gcc, lcov or llvm; all of them if none is named. fetch.sh gets the suites; gcc needs runtest
(Debian's dejagnu), lcov needs lcov, llvm needs llvm-cov-14 (Debian's llvm-14). A line a suite says how
many of its cases passed; what failed comes before it. The exit status is 0 if all pass, 1 if not, 2 if
a suite or a program is not there. It fetches and installs nothing.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}


class Missing(Exception):
    """A suite or program that is not there."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def folder_of(source, name):
    if not (source / name).is_dir():
        raise Missing(f"{source / name} is not there; run tests/peers/fetch.sh")
    return source / name


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def as_tool(monarc, folder, name):
    """monarc under another program's name."""
    tool = folder / name
    tool.unlink(missing_ok=True)
    tool.symlink_to(monarc)
    return tool


# GCC: DejaGnu looks for gcov beside the compiler that it is told to test.

SITE = """set rootme "{work}"
set srcdir "{suite}"
set tmpdir "{work}"
set host_triplet {triplet}
set build_triplet {triplet}
set target_triplet {triplet}
set target_alias {triplet}
set CFLAGS ""
set CXXFLAGS ""
set HOSTCC "gcc"
set HOSTCFLAGS ""
set TESTING_IN_BUILD_TREE 1
set GCC_UNDER_TEST "{tools}/gcc"
set GXX_UNDER_TEST "{tools}/g++"
"""


def run_dejagnu(tool, suite, work, tools):
    triplet = subprocess.check_output(["gcc", "-dumpmachine"], text=True).strip()
    (work / "site.exp").write_text(
        SITE.format(work=work, suite=suite, tools=tools, triplet=triplet), encoding="utf-8")
    done = subprocess.run(["runtest", "--tool", tool, "--srcdir", suite, "gcov.exp"], cwd=work,
                          env=SYSTEM, capture_output=True, text=True, check=False)
    figures = dict(re.findall(r"^# of (.*?)\s+(\d+)$", done.stdout, re.M))
    failed = re.findall(r"^(?:FAIL|ERROR|UNRESOLVED|XPASS): .*$", done.stdout, re.M)
    return int(figures.get("expected passes", 0)), failed


def suite_gcc(options):
    need("runtest", "gcc", "g++")
    suite = folder_of(options.source, "gcc") / "gcc/testsuite"
    tools = fresh(options.work / "gcc-tools")
    for name in ("gcc", "g++"):
        (tools / name).write_text(f'#!/bin/sh\nexec /usr/bin/{name} "$@"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    as_tool(options.monarc, tools, "gcov")
    passed, failed = 0, []
    for tool, name in ("gcc", "gcc-c"), ("g++", "gcc-c++"):
        count, bad = run_dejagnu(tool, suite, fresh(options.work / name), tools)
        passed += count
        failed += bad
    return passed, failed


# lcov: its example captured over both gcovs; its made-up tracefiles added up by both programs.

def records(text, kinds):
    """{(source, kind): sorted values}. Numbers of blocks are names only, so branches go by line."""
    found, source = defaultdict(list), ""
    for line in text.splitlines():
        kind, _, value = line.partition(":")
        if kind == "SF":
            source = os.path.relpath(value, "/")
        elif kind == "BRDA":
            words = value.split(",")
            value = f"{words[0]},{words[3]}"
        if kind in kinds:
            found[source, kind].append(value)
    return {key: sorted(values) for key, values in found.items()}


def compare_records(theirs, ours):
    kinds = ("DA", "FN", "FNDA", "BRDA", "LF", "LH", "FNF", "FNH", "BRF", "BRH")
    theirs, ours = records(theirs, kinds), records(ours, kinds)
    failed = [f"{source}: {kind} differs" for source, kind in sorted(theirs.keys() | ours.keys())
              if theirs.get((source, kind)) != ours.get((source, kind))]
    return len(theirs.keys() & ours.keys()) - len(failed), failed


def lcov(*words, cwd):
    subprocess.run(["lcov", "-q", "--rc", "lcov_branch_coverage=1", *map(str, words)], cwd=cwd,
                   env=SYSTEM, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def captured(options, suite):
    work = options.work / "lcov-example"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(suite / "example", work)
    subprocess.run(["make", "example"], cwd=work, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    for words in [], ["2", "2000"]:
        subprocess.run(["./example", *words], cwd=work, check=True, stdout=subprocess.DEVNULL)
    gcov = as_tool(options.monarc, work, "gcov")
    lcov("--capture", "--directory", ".", "-o", "theirs.info", cwd=work)
    lcov("--capture", "--directory", ".", "-o", "ours.info", "--gcov-tool", gcov, cwd=work)
    return compare_records(*((work / f"{name}.info").read_text() for name in ("theirs", "ours")))


def added(options, suite, profile):
    work = fresh(options.work / f"lcov-{profile}")
    subprocess.run(["perl", suite / "tests/bin/mkinfo", suite / "tests/profiles" / profile, "-o",
                    "src", "--seed", "7"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    names = ("part1.info", "target.info", "part2.info")
    for name in names:  # lcov keeps tests apart, monarc adds them up
        text = (work / name).read_text()
        (work / name).write_text(re.sub(r"^TN:.*$", "TN:one", text, flags=re.M))
    lcov(*(word for name in names for word in ("-a", name)), "-o", "theirs.info", cwd=work)
    subprocess.run([options.monarc, "cover", *names, "-q", "--lcov", "ours.info", "--system",
                    "--all-branches", "--no-markers"], cwd=work, check=True)
    return compare_records(*((work / f"{name}.info").read_text() for name in ("theirs", "ours")))


def suite_lcov(options):
    need("lcov", "make", "perl")
    suite = folder_of(options.source, "lcov")
    results = [captured(options, suite), added(options, suite, "small"),
               added(options, suite, "medium")]
    return sum(count for count, _ in results), [bad for _, failed in results for bad in failed]


# LLVM: what llvm-cov gcov prints of the notes and counters in its own tests.

def listing(tool, name, work):
    done = subprocess.run([name, "-t", work.name + ".gcno"], executable=tool, cwd=work, env=SYSTEM,
                          capture_output=True, text=True, check=False)
    return re.sub(r"(Source:)\./", r"\1", done.stdout)  # gcov itself drops the ./


def listing_of_llvm(work):
    done = subprocess.run(["llvm-cov-14", "gcov", "-t", work.name + ".gcno"], cwd=work, env=SYSTEM,
                          capture_output=True, text=True, check=False)
    return re.sub(r"(Source:)\./", r"\1", done.stdout)


def suite_llvm(options):
    need("llvm-cov-14")
    suite = folder_of(options.source, "llvm") / "llvm/test/tools/llvm-cov"
    passed, failed = 0, []
    for notes in sorted(suite.rglob("*.gcno")):
        work = fresh(options.work / "llvm" / notes.stem)
        for file in [*notes.parent.glob(notes.stem + ".gc*"), *suite.glob("gcov/*.c"),
                     *suite.glob("gcov/Inputs/*.cpp"), *suite.glob("gcov/Inputs/*.h"),
                     *suite.glob("*.cpp")]:
            shutil.copy(file, work)
        if listing_of_llvm(work) == listing(options.monarc, "gcov", work):
            passed += 1
        else:
            failed.append(f"{notes.relative_to(suite)}: other lines than llvm-cov's")
    return passed, failed


SUITES = {"gcc": suite_gcc, "lcov": suite_lcov, "llvm": suite_llvm}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=pathlib.Path, default=ROOT / "build/monarc")
    parser.add_argument("--source", type=pathlib.Path, default=ROOT / "build/peers/source")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/peers/run")
    parser.add_argument("suites", nargs="*", metavar="SUITE", choices=[*SUITES, []])
    options = parser.parse_args()
    for name in ("monarc", "source", "work"):
        setattr(options, name, getattr(options, name).resolve())
    status = 0
    for name in options.suites or SUITES:
        try:
            passed, failed = SUITES[name](options)
        except Missing as reason:
            print(f"{name}: not run: {reason}")
            status = 2
            continue
        for line in failed:
            print(f"{name}: {line}")
        print(f"{name}: {passed} of {passed + len(failed)}")
        status = status or int(bool(failed) or not passed)
    return status


if __name__ == "__main__":
    sys.exit(main())
