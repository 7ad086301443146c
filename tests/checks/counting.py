#!/usr/bin/env python3
"""counting.py: run_all.py counts what programs print, and never calls a broken one passed."""

import ctypes
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tap

spec = importlib.util.spec_from_file_location("run_all", tap.ROOT / "tests" / "run_all.py")
run_all = importlib.util.module_from_spec(spec)
sys.modules["run_all"] = run_all
spec.loader.exec_module(run_all)
os.environ["MONARC_WORLD"] = "plain"  # of the programs that are run here

UNITTEST = """test_a (x.T) ... ok
test_b (x.T) ... skipped 'no gdb here'
test_c (x.T) ... FAIL
----------------------------------------------------------------------
Ran 3 tests in 0.010s

FAILED (failures=1, skipped=1)
"""

# what it shows, output, exit status, (passed, failed), skips
CASES = [
    ("TAP", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no /dev/full\n# not ok - tests\n", 1,
     (1, 1), [("3", "no /dev/full")]),
    ("TAP with its plan last", "ok 1 - a\nok 2 - b\n1..2\n", 0, (2, 0), []),
    ("the remark before a skip", "1..1\n# runs as root\nok 1 - may not read # SKIP\n", 0, (0, 0),
     [("may not read", "runs as root")]),
    ("cmocka's skip", "1..1\n# skipped: clang is not installed\nok 1 # SKIP test_clang\n", 0, (0, 0),
     [("test_clang", "clang is not installed")]),
    ("a TODO", "1..1\nnot ok 1 - later # TODO not yet\n", 0, (0, 0), []),
    ("a TODO that is done", "1..1\nok 1 - later # TODO not yet\n", 0, (0, 1), []),
    ("the seed, which is no reason", "1..1\n# seed 12\nok 1 - a # SKIP\n", 0, (0, 0), [("a", "no reason given")]),
    ("unittest's expected failures", "Ran 3 tests in 1.0s\n\nOK (expected failures=1)\n", 0, (2, 0), []),
    ("a TAP stream that ends early", "1..3\nok 1 - a\n", 0, (1, 1), []),
    ("a TAP stream without plan", "ok 1 - a\n", 0, (1, 1), []),
    ("a crash after the last case", "1..1\nok 1 - a\n", -11, (1, 1), []),
    ("a program that skips itself", "1..0 # SKIP no compiler\n", 0, (0, 0),
     [("all", "no compiler")]),
    ("unittest", UNITTEST, 1, (1, 1), [("test_b", "no gdb here")]),
    ("unittest, all well", "Ran 12 tests in 1.0s\n\nOK\n", 0, (12, 0), []),
    ("a summary", "huge  skipped: needs 4 GB\n7 passed, 2 failed, 1 skipped\n", 1, (7, 2),
     [("huge", "needs 4 GB")]),
    ("a summary that lies", "7 passed, 0 failed\n", 2, (7, 1), []),
    ("a silent program", "", 0, (1, 0), []),
    ("a silent failure", "", 3, (0, 1), []),
    ("Automake's skip", "no server\n", 77, (0, 0), [("all", "no server")]),
]


BROKEN = """#!/bin/sh
echo "# why it broke"
echo "not ok 1 - a"
echo 1..1
exit 1
"""


def written(folder, **texts):
    """Scripts, of the given names, in a folder in which meson(1) knows no tests."""
    paths = []
    for name, text in {"meson": "#!/bin/sh\necho '[]'\n", **texts}.items():
        paths.append(Path(folder) / name)
        paths[-1].write_text(text)
        paths[-1].chmod(0o755)
    return paths[1:]


def run_all_of(folder, *arguments):
    """The runner's status and lines, where meson(1) knows no tests."""
    done = subprocess.run([sys.executable, tap.ROOT / "tests" / "run_all.py", *arguments],
                          env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                          text=True, capture_output=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_recall(t):
    """Of two programs, all that the one that fails printed comes last, with the command that repeats it."""
    with tempfile.TemporaryDirectory() as folder:
        broken, fine = written(folder, broken=BROKEN, fine="#!/bin/sh\n")
        status, lines = run_all_of(folder, "--seed", "77", broken, fine)
        counts = (status, lines[0], lines[-1]) == (1, "seed 77", "1 passed, 1 failed")
        t.clean("the failing program counts as failed", [] if counts else lines)
        recalled = lines[-6:-2] == [f"failed: {broken}", "    | # why it broke", "    | not ok 1 - a",
                                    f"    again: tests/run_all.py --again {broken} --seed 77 {broken}"]
        t.clean("it is shown at the end", [] if recalled else lines)


# what it shows, output, status, what is shown of it
WHOLE = [
    ("a case of TAP", "ok 1 - a\n# of b\nmore\nnot ok 2 - b\n# b.c:3\n# of c\nok 3 - c\n1..3\n", 1,
     ["# of b", "more", "not ok 2 - b", "# b.c:3", "# of c"]),
    ("a crash", "1..2\n# of a\nok 1 - a\n# of b\nabout to\n", -11,
     ["# of b", "about to", "2 cases were planned, 1 reported"]),
    ("cases of unittest", "test_a (x.T) ... ok\nb: odd\ntest_b (x.T) ... FAIL\ntest_c (x.T) ... ok\n\n"
     + "=" * 70 + "\nFAIL: test_b\n" + "-" * 70 + "\nwhy\n\nRan 3 tests in 1.0s\n\nFAILED (failures=1)\n", 1,
     ["b: odd", "test_b (x.T) ... FAIL", "=" * 70, "FAIL: test_b", "-" * 70, "why", "", "Ran 3 tests in 1.0s", "",
      "FAILED (failures=1)"]),
    ("what has no cases", "first\n1 passed, 1 failed\n", 1, ["first", "1 passed, 1 failed"]),
    ("one that may fail beside one that may not", "not ok 1 - a # TODO x\n# of b\nnot ok 2 - b\n1..2\n", 1,
     ["# of b", "not ok 2 - b"]),
]


def test_whole_output(t):
    for name, text, status, expected in WHOLE:
        told = run_all.failing_output(run_all.Outcome(run_all.count(text, status), text))
        t.clean(f"shows all of {name}", [] if told == expected else told)


DRAWN = """#!/bin/sh
echo "$MONARC_SEED" >>"$0.drawn"
[ "$MONARC_SEED" = 77 ] || [ ! -e "$0.strict" ]
"""


def test_again(t):
    """Rounds have seeds of their own, which the first one's decides; each can be repeated alone."""
    with tempfile.TemporaryDirectory() as folder:
        (drawn, other), told = written(folder, drawn=DRAWN, other=DRAWN), Path(folder) / "drawn.drawn"
        options = ["--again", "drawn", "--seed", "77", "--load", "1", drawn, other]
        status, lines = run_all_of(folder, *options, "--rounds", "3")
        seen = told.read_text().split()
        rounds = [f"round {k + 1}, seed {seed}: 1 passed" for k, seed in enumerate(seen)]
        told_rounds = [re.sub(r", [0-9.]+ s, CPU .*", "", line) for line in lines[:3]]  # of a slow machine
        right = status == 0 and told_rounds == rounds and lines[-1] == "3 passed, 0 failed" and \
            seen[0] == "77" and len(set(seen)) == 3 and not (Path(folder) / "other.drawn").exists()
        t.clean("--again repeats what is named, with a seed a round", [] if right else [f"{seen}", *lines])
        (Path(folder) / "drawn.strict").touch()
        status, lines = run_all_of(folder, *options, "--rounds", "2")
        command = f"    again: tests/run_all.py --again {drawn} --seed {seen[1]} --load 1 {drawn}"
        right = status == 1 and lines[-1] == "1 passed, 1 failed" and command in lines and \
            told.read_text().split() == [*seen, *seen[:2]]
        t.clean("the same seed gives the same rounds, and the one that fails is named", [] if right else lines)
        told.unlink()
        run_all_of(folder, drawn)
        run_all_of(folder, drawn)
        t.clean("without --seed, one is drawn", [] if len(set(told.read_text().split())) == 2 else ["the same"])


SEEDED = """
import sys
sys.path.insert(0, sys.argv[1])
import seeds
first = seeds.generator("a").random()
print(first == seeds.generator("a").random(), first == seeds.generator("b").random(), first)
"""


def test_seeds(t):
    """The seed is printed once, and decides what each generator gives."""
    def drawn(**environment):
        kept = {name: value for name, value in os.environ.items() if name != "MONARC_SEED"}
        done = subprocess.run([sys.executable, "-c", SEEDED, tap.ROOT / "tests"], env=kept | environment,
                              text=True, capture_output=True, check=False)
        return done.stdout.split(), done.stderr

    given, again, new = drawn(MONARC_SEED="5"), drawn(MONARC_SEED="5"), drawn()
    right = given == again and given[1] == "# seed 5\n" and given[0][:2] == ["True", "False"]
    t.clean("a seed decides what is drawn", [] if right else [f"{given} {again}"])
    repeated = drawn(MONARC_SEED=new[1].split()[-1])
    t.clean("a seed that was drawn is printed, and repeats it",
            [] if repeated == new != given else [f"{new} {repeated}"])
    t.clean("what is no seed is refused", [] if "ValueError" in drawn(MONARC_SEED="-1")[1] else ["-1"])


LASTING = """#!/bin/sh
sleep 1000 &
echo $! >"$0.started"
mv "$0.started" "$0.pid"
wait
"""


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def tell_thread(pid, thread, number):
    calls = {"x86_64": 234}
    ctypes.CDLL(None).syscall(calls.get(os.uname().machine, 131), pid, thread, int(number))  # tgkill(2)


def test_end(t):
    """Told to end, the runner takes along what its programs have started, whichever of its threads is told."""
    for number, is_other in (signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGHUP, False), (signal.SIGTERM, True):
        with tempfile.TemporaryDirectory() as folder:
            (lasting,), told = written(folder, lasting=LASTING), Path(folder) / "lasting.pid"
            runner = subprocess.Popen([sys.executable, tap.ROOT / "tests" / "run_all.py", lasting],
                                      env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                                      stdout=subprocess.DEVNULL)
            while not told.exists():
                time.sleep(0.01)
            pid = int(told.read_text())
            before = has_ended(pid)
            others = [int(name) for name in os.listdir(f"/proc/{runner.pid}/task") if int(name) != runner.pid]
            if is_other:
                tell_thread(runner.pid, others[0], number)
            else:
                runner.send_signal(number)
            try:
                status = runner.wait(60)
            except subprocess.TimeoutExpired:
                runner.kill()
                status = "did not end"
            end = time.monotonic() + 60
            while not has_ended(pid) and time.monotonic() < end:
                time.sleep(0.01)
            t.clean(f"{number.name} to {'a thread of ' * is_other}the runner ends it and what its programs started",
                    [] if not before and has_ended(pid) and status == 128 + number else [f"{before} {status}"])


SIGNAL_AT_START = """
import importlib.util, os, signal, subprocess, sys
spec = importlib.util.spec_from_file_location("run_all", sys.argv[1])
run_all = importlib.util.module_from_spec(spec)
sys.modules["run_all"] = run_all
spec.loader.exec_module(run_all)
run_all.answer_signals()
start = subprocess.Popen
def started(*arguments, **keywords):
    child = start(*arguments, **keywords)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    return child
run_all.subprocess.Popen = started
run_all.GROUPS.start(["sleep", "1000"], stdout=subprocess.DEVNULL)
"""


def test_end_at_start(t):
    """Told to end while it starts a program, the runner takes that along as well."""
    done = subprocess.run([sys.executable, "-c", SIGNAL_AT_START, tap.ROOT / "tests" / "run_all.py"], text=True,
                          stdout=subprocess.PIPE, check=False)
    pid, end = int(done.stdout), time.monotonic() + 60
    while not has_ended(pid) and time.monotonic() < end:
        time.sleep(0.01)
    right = has_ended(pid) and done.returncode == 128 + signal.SIGTERM
    if not has_ended(pid):
        os.kill(pid, signal.SIGKILL)
    t.clean("a program that was just begun is taken along", [] if right else [f"{done.returncode}"])


def test_time(t):
    """When no time is left, nothing begins, and each program that is left out is a skip with its reason."""
    with tempfile.TemporaryDirectory() as folder:
        slow, late = written(folder, slow="#!/bin/sh\nsleep 1.5\n", late=BROKEN)
        done = subprocess.run([sys.executable, tap.ROOT / "tests" / "run_all.py", "-j", "1", "--seconds", "1",
                               slow, late],
                              env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                              text=True, capture_output=True, check=False)
        lines = done.stdout.splitlines()
        right = (done.returncode, lines[-1]) == (0, "1 passed, 0 failed, 1 skipped") and \
            "    skipped all: it was not begun within 1 s" in lines
        t.clean("what begins too late is skipped", [] if right else lines)


def main():
    t = tap.Tap()
    for name, text, status, (passed, failed), skips in CASES:
        tally = run_all.count(text, status)
        wrong = (tally.passed, tally.failed, tally.skips) != (passed, failed, skips)
        t.clean(f"counts {name}", [f"got {tally}"] if wrong else [])
    test_recall(t)
    test_whole_output(t)
    test_again(t)
    test_seeds(t)
    test_end(t)
    test_end_at_start(t)
    test_time(t)
    t.end()


main()
