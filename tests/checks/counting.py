#!/usr/bin/env python3
"""counting.py: run_all.py counts what programs print, and never calls a broken one passed."""

import importlib.util
import os
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
    ("a TODO", "1..1\nnot ok 1 - later # TODO not yet\n", 0, (1, 0), []),
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


def test_recall(t):
    """Of two programs, the one that fails is shown again at the end, with what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        broken, fine = written(folder, broken=BROKEN, fine="#!/bin/sh\n")
        done = subprocess.run([sys.executable, tap.ROOT / "tests" / "run_all.py", broken, fine],
                              env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                              text=True, capture_output=True, check=False)
        lines = done.stdout.splitlines()
        counts = (done.returncode, lines[-1]) == (1, "1 passed, 1 failed")
        t.clean("the failing program counts as failed", [] if counts else lines)
        recalled = lines[-6:-2] == [f"failed: {broken}", "    | # why it broke", "    | not ok 1 - a", "    | 1..1"]
        t.clean("it is shown at the end", [] if recalled else lines)


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


def test_end(t):
    """Told to end, the runner takes along what its programs have started."""
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        with tempfile.TemporaryDirectory() as folder:
            (lasting,), told = written(folder, lasting=LASTING), Path(folder) / "lasting.pid"
            runner = subprocess.Popen([sys.executable, tap.ROOT / "tests" / "run_all.py", lasting],
                                      env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
                                      stdout=subprocess.DEVNULL)
            while not told.exists():
                time.sleep(0.01)
            pid = int(told.read_text())
            before = has_ended(pid)
            runner.send_signal(number)
            status = runner.wait()
            end = time.monotonic() + 60
            while not has_ended(pid) and time.monotonic() < end:
                time.sleep(0.01)
            t.clean(f"{number.name} ends the runner and what its programs started",
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
        done = subprocess.run([sys.executable, tap.ROOT / "tests" / "run_all.py", "--seconds", "1", slow, late],
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
    test_end(t)
    test_end_at_start(t)
    test_time(t)
    t.end()


main()
