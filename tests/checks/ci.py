#!/usr/bin/env python3
"""ci.py: .ci/run tells what ran, whatever happens: on a small tree, in which what it calls is replaced by scripts that
pass, fail, refuse, or take too long."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import tap

sys.path.append(str(tap.ROOT / "tests"))
import parts  # noqa: E402

SETUP = """
packages_of() { echo "$1"; }
need_packages() { echo "packages $*" >>calls; case " $* " in *" ${NOT_HERE:-none} "*) return 1 ;; esac; }
need_browser() { return 0; }
need_clickhouse() { return 0; }
build_monarc() { echo built >>calls; mkdir -p build; cp monarc build/; touch build/build.ninja; return "${BUILD_STATUS:-0}"; }
"""
IN_DEBIAN = """#!/bin/sh
while case $1 in --systems) systems=$2 ;; --*) ;; *) false ;; esac; do shift 2; done
release=$1; shift
[ "${NO_SYSTEM:-}" != yes ] || { echo "in_debian: no $release here: it takes root"; exit 77; }
case $* in *apt-get*|true) exit 0 ;; esac
echo "$release $1" >>calls
case $1 in
./demo.sh)
    mkdir -p "$systems/$release$PWD/build" && cp monarc "$systems/$release$PWD/build/" && touch "$systems/$release$PWD/build/build.ninja"
    exit "${DEMO_STATUS:-0}" ;;
sh) shift; echo "$*" | grep -q run_all.py && echo "7 passed, 0 failed, 1 skipped" ;;
*) sleep "${TEST_SECONDS:-0}"; echo "50 passed, 0 failed" ;;
esac
exit 0
"""
TEST_SH = """#!/bin/sh
echo "here ./test.sh" >>calls
echo "60 passed, 0 failed"
"""
RUN_ALL = r"""#!/usr/bin/env python3
import os, sys
with open("calls", "a") as calls:
    print("run_all", *sys.argv[1:], file=calls)
if "--list" in sys.argv:
    print(*(f"cli/{n}-slow" for n in "abcdefghijklmnopqrstuvwxyz"), "truth/truth-time-slow", sep="\n")
    sys.exit()
if "build-ci/clang" in sys.argv and os.environ.get("FINDING"):
    print("cli/x  1 failed\nfailed: cli/x\n    | not ok 1 - all of it\n    again: tests/run_all.py --again cli/x --seed 5")
    print("3 s, CPU 3 s\n9 passed, 1 failed")
    sys.exit(1)
print("10 passed, 0 failed")
"""
MESON = """#!/bin/sh
echo "meson $*" >>calls
[ "$1" != introspect ] || cat <<END
[{"type": "executable", "name": "fuzz_a", "filename": ["./fuzzer"]}, {"type": "executable", "name": "fuzz_b", "filename": ["./fuzzer"]}]
END
"""
FUZZER = """#!/bin/sh
case $* in *found/fuzz_b*) [ -z "${CRASH:-}" ] || { echo crash; exit 1; } ;; esac
echo "stat::number_of_executed_units: 12"
"""
STUB = """def make(folder, *_):
    folder.mkdir(exist_ok=True)
c_sources = build = write_all = make_stacks = lambda *words, **_: words[0]
"""
VALGRIND = """#!/bin/sh
case $* in *before/build*" flame "*) number=10000 ;; *" flame "*) number=${FLAME:-10300} ;; *) number=500 ;; esac
echo "==7== Collected : $number" >&2
"""
GIT = "#!/bin/sh\ncase $1 in archive) tar -c monarc ;; log) echo ${MESSAGE:-} ;; *) echo 0000000${COMMIT:-7} ;; esac\n"
TRUE = "#!/bin/sh\nexit 0\n"
MONARC = """#!/bin/sh
echo 'lines% 90 [all of it]'
echo 'passed: line coverage is 90.00 %, required: 78.00 %'
echo 'passed: branch coverage is 70.00 %, required: 66.00 %'
exit 1
"""
FILES = {"tools/setup.sh": SETUP, "tests/in_debian.sh": IN_DEBIAN, "test.sh": TEST_SH, "tests/run_all.py": RUN_ALL,
         "bin/meson": MESON, "bin/ninja": TRUE, "bin/clang": TRUE, "bin/run-clang-tidy": TRUE, "bin/git": GIT,
         "bench/instructions.py": (tap.ROOT / "bench/instructions.py").read_text(), "bin/valgrind": VALGRIND,
         "bench/make_cover.py": STUB, "bench/make_large.py": STUB,
         "bench/make_profile.py": STUB, "bench/pictures.py": STUB,
         "fuzzer": FUZZER, "monarc": MONARC}
STEPS = ["packages", "clang", "tidy", "debian12", "debian12-demo", "debian12-packages", "debian12-tests",
         "debian12-user", "debian13", "debian13-demo", "debian13-tests", "sanitizers", "coverage", "instructions", "fuzz",
         "cross", "slow"]


class Run:
    """What .ci/run says in such a tree: lines, status, seconds, what it called."""

    def __init__(self, *steps, before=(), **environment):
        with tap.tree(FILES | {".ci/run": (tap.ROOT / ".ci/run").read_text()}) as folder:
            top = pathlib.Path(folder)
            for name in FILES | {".ci/run": 0}:
                (top / name).chmod(0o755)
            variables = {name: value for name, value in os.environ.items() if not name.startswith("CI_")}
            variables |= {"PATH": f"{top}/bin:{os.environ['PATH']}"} | environment
            begun = time.monotonic()
            done = subprocess.run([*before, "bash", ".ci/run", *steps], cwd=top, env=variables, capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL)
            self.seconds, self.status = time.monotonic() - begun, done.returncode
            self.lines, self.errors = done.stdout.splitlines(), done.stderr
            calls = top / "calls"
            self.calls = calls.read_text().splitlines() if calls.exists() else []
            table = [line.split() for line in self.lines if line[20:21] == " " and line[:1].isalpha()]
            self.table = [words[0] for words in table if words[2:3] == ["s"] or words[1:3] == ["not", "begun"]]

    def findings(self, last, status, *texts, absent=()):
        text = "\n".join(self.lines)
        found = [] if self.lines[-1:] == [last] else [f"the last line is {self.lines[-1:]}, not {last}"]
        found += [] if self.status == status else [f"status {self.status}, not {status}"]
        found += [f"lacks {t!r}" for t in texts if t not in text] + [f"has {t!r}" for t in absent if t in text]
        if found:
            found += self.lines[-40:] + self.errors.splitlines()[-10:]
        return found


def test_all(t):
    run = Run()
    # 12 of one case each, and 50 + 7 + 7 + 10 + 10 + 10 + 2 fuzzers.
    t.clean("all pass, and the last line is the sum", run.findings("106 passed, 0 failed, 2 skipped", 0, "s in all"))
    t.clean("the table has each step, in order", [] if run.table == STEPS else [str(run.table)])
    order = [c for c in run.calls if c.startswith(("bookworm", "trixie", "here"))]
    t.clean("the systems run ./demo.sh, then tests; the machine runs no ./test.sh", [] if order == [
        "bookworm ./demo.sh", "bookworm sh", "bookworm env", "bookworm sh", "trixie ./demo.sh", "trixie sh"] else order)
    setups = [c for c in run.calls if c.startswith("meson setup") and c.endswith(" build")]
    t.clean("what the system has compiled is not compiled again", [] if setups == ["meson setup --reconfigure build"] else setups)


def test_no_system(t):
    run = Run("tests", "debian13", NO_SYSTEM="yes")
    t.clean("without a system, one skip says so, and ./test.sh runs on the machine",
            run.findings("61 passed, 0 failed, 2 skipped", 0, "no bookworm here: it takes root", "no trixie here")
            + [c for c in run.calls if "bookworm" in c] + ([] if "here ./test.sh" in run.calls else ["no ./test.sh"]))


def test_failures(t):
    run = Run("sanitizers", FINDING="1")
    at = [n for n, line in enumerate(run.lines) if "all of it" in line]
    table = next(n for n, line in enumerate(run.lines) if "s in all" in line)
    t.clean("what failed stands whole after the table", run.findings(
        "11 passed, 1 failed", 1, "build-ci/sanitizers.log: failed: cli/x", "again: tests/run_all.py --again cli/x")
        + ([] if at and at[-1] > table else ["not after it"]))
    run = Run("tests", DEMO_STATUS="3")
    t.clean("a demonstration that fails is a failure", run.findings(
        "60 passed, 1 failed, 1 skipped", 1, "debian12-demo failed with status 3"))
    run = Run("fuzz", CRASH="1")
    t.clean("so is an input that a fuzzer found", run.findings("2 passed, 1 failed", 1, "fuzz_b failed with -seed=1"))
    run = Run("warnings", BUILD_STATUS="1")
    t.clean("so is a build", run.findings("3 passed, 1 failed", 1, "gcc failed with status 1"))
    run = Run("instructions", FLAME="10301")
    t.clean("so is a command that takes more than 3 % more instructions", run.findings(
        "1 passed, 1 failed", 1, "flame takes more than 3 % more instructions: nothing says why", absent=["graph takes"]))
    run = Run("instructions", FLAME="20000", MESSAGE="Instructions: flame: it draws twice as much")
    t.clean("unless a commit says why", run.findings(
        "2 passed, 0 failed", 0, "flame takes more than 3 % more instructions: it draws twice as much"))
    run = Run("instructions", FLAME="20000", MESSAGE="Instructions: flame:")
    t.clean("in words", run.findings("1 passed, 1 failed", 1))
    run = Run("odd")
    t.clean("so is a step of no name", run.findings("1 passed, 1 failed", 1, "no step is called odd"))


def test_bad_machines(t):
    run = Run("tests", "fuzz", "slow", TEST_SECONDS="1237", CI_END="12", CI_STOP="14")
    ran = re.fullmatch(r"(\d) passed, 0 failed, (\d) skipped", "".join(run.lines[-1:]))
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    t.clean("on a slow machine, what ran is told, the rest is skipped, and nothing goes on", [] if (
        ran and int(ran[1]) + int(ran[2]) == 8 and run.status == 0 and "50 passed" not in "\n".join(run.lines)
        and "fuzz                 not begun" in run.lines and "sleep 1237" not in left) else run.lines + [run.errors, left])
    run = Run("cross", "slow", CI_END="0")
    t.clean("a machine on which nothing could run has not passed", run.findings("0 passed, 1 failed, 3 skipped", 1))
    run = Run("fuzz", CI_LIMIT="-1")
    t.clean("a run that takes longer than it should says so", run.findings("3 passed, 0 failed", 0, "it took longer than -1 s"))
    run = Run("cross", NOT_HERE="ci")
    t.clean("without network and packages of some steps, others run", run.findings("10 passed, 0 failed, 1 skipped", 0))
    run = Run("cross", NOT_HERE="build")
    t.clean("without those of the build, nothing does", run.findings("0 passed, 1 failed", 1, absent=["10 passed"]))
    if shutil.which("taskset"):
        cpu = min(os.sched_getaffinity(0))
        run = Run("sanitizers", before=["taskset", "-c", str(cpu)])
        t.clean("one processor", run.findings("12 passed, 0 failed", 0) + (
            [] if any("-j 2" in c for c in run.calls) else run.calls))
    full = ["unshare", "--mount", "sh", "-c",
            'mkdir build-ci && mount -t tmpfs -o size=16k none build-ci && { head -c 100000 /dev/zero >build-ci/x; exec "$@"; }', "sh"]
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        t.skip("a full disk", "mounting is not permitted")
    else:
        # What fills the disk is what an earlier run left, which is removed, or the cache, which stays.
        filled = [*full[:4], full[4].replace("build-ci/x", "build-ci/cache/x").replace("none build-ci &&", "none build-ci && mkdir build-ci/cache &&"), "sh"]
        run = Run("cross", before=filled)
        t.clean("a full disk", [] if run.lines and run.lines[-1].split()[1:2] == ["passed,"] else run.lines + [run.errors])


def test_tenths(t):
    """Of 26 programs in the order of their names."""
    for commit in 0, 9:
        run = Run("slow", COMMIT=str(commit))
        names = [w for c in run.calls if "--list" not in c for w in c.split() if w.endswith("-slow")]
        expected = [f"cli/{n}-slow" for n in "abcdefghijklmnopqrstuvwxyz"[commit::10]] + ["truth/truth-time-slow"]
        t.clean(f"a commit that ends in {commit} takes that tenth of `slow`, and what is valuable", run.findings(
            "11 passed, 0 failed", 0, f"tenth {commit} of 0 to 9") + ([] if names == expected else names))


def main():
    t = tap.Tap()
    for test, is_slow in ((test_all, False), (test_no_system, True), (test_failures, True), (test_bad_machines, True),
                          (test_tenths, True)):
        if parts.is_wanted(is_slow):
            test(t)
    t.end()


sys.exit(main())
