#!/usr/bin/env python3
"""run_all.py: runs the tests that a build folder knows and adds up their cases.

usage: run_all.py [--build build] [--suite NAME]... [--without NAME]... [--all] [-k TEXT]... [-j 2]
                  [--slower 1] [--seconds N] [--seed S] [--list] [SCRIPT...]
       run_all.py --again NAME [--seed S] [--rounds 1] [--load K] [SCRIPT...]

The tests are those of `meson introspect --tests`, and any SCRIPTs. Those of the suite `slow` are left
to .ci/run: they run with `--suite slow`, which is them alone, or with --all. The longest start first,
by Meson's priorities, after what must have the machine for itself, one after the other. A program's cases are counted
from what it prints: TAP, or Python's unittest, or a last line `N passed, N failed[, N skipped]`;
a program that prints none of these is one case. Each skipped case is printed with its reason. After the
seconds that passed comes the CPU time. The last line is the sum; before it stands all that failing
cases printed, with the command that repeats each. It refuses to build anything, to read a terminal,
to call a program passed that ended with an error, and to run one again that failed. After --seconds
nothing begins any more; what is left out then counts as skipped, each program once.

Every program gets the seed S of its draws (seeds.py) as MONARC_SEED: a new one each time, unless it
is given. --again runs the programs named NAME, or if there are none, those named like it, --rounds
times, the first time with S, beside K busy processes for each processor: a line a round, then the sum.
A failing case that is expected to (TAP's `not ok # TODO`) is neither passed nor failed, and has
failed if it passes. A figure that was outside of its bound and was measured again (sequential.py) is
shown, whatever was decided. Each program runs in a world of its own (world.py).
"""

import argparse
import atexit
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # however this file was loaded
import seeds  # noqa: E402
import world  # noqa: E402

SHOWN_LINES = 4000  # of a program that failed

TAP_LINE = re.compile(r"^(not )?ok\b\s*(\d*)[\s-]*([^#]*)(?:#\s*(\w+)\s*(.*))?$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\S*\s*(.*))?$", re.I)
UNITTEST_END = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_RESULT = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.M)
UNITTEST_SKIP = re.compile(  # the second line is the case's docstring, if it has one
    r"^\s*(\w+) \(.*\)(?:\n.*)? \.\.\. skipped ['\"](.*)['\"]$", re.M)
MEASURED_AGAIN = "# measured again: "  # of sequential.py
SEED_LINE = re.compile(r"^# seed \d+$")  # of seeds.py
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SUMMARY_SKIP = re.compile(r"^(\S.*?)\s+skipped: (.*)$", re.M)


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)  # (case, reason)
    expected: list = dataclasses.field(default_factory=list)  # (case that fails as it is known to, reason)
    notes: list = dataclasses.field(default_factory=list)  # what the runner itself found wrong

    def fail(self, note):
        self.failed += 1
        self.notes.append(note)


def count_tap(text):
    """Tally of a TAP stream, or None if it is none."""
    tally, planned, seen, remark = Tally(), None, 0, ""
    for line in text.splitlines():
        plan, case = TAP_PLAN.match(line), TAP_LINE.match(line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                tally.skips.append(("all", plan[2] or remark or "no reason given"))
        elif case:
            seen += 1
            directive = (case[4] or "").upper()
            if directive.startswith("SKIP"):
                name, reason = case[3].strip(), case[5]
                if not name:  # cmocka puts the name where the reason belongs, and has no reasons
                    name, reason = (reason, "") if " " not in reason else (case[2], reason)
                reason = reason or remark.removeprefix("skipped: ") or "no reason given"
                tally.skips.append((name, reason))
            elif directive == "TODO" and case[1]:
                tally.expected.append((case[3].strip(), case[5]))
            elif directive == "TODO":
                tally.fail(f"{case[3].strip()}: passes, and is listed as one that cannot ({case[5]}): "
                           "remove it from the list")
            elif case[1]:
                tally.failed += 1
            else:
                tally.passed += 1
            remark = ""
        elif line.startswith("Bail out!"):
            tally.fail(line)
        elif line.startswith("#") and not SEED_LINE.match(line):
            remark = line[1:].strip()
    if planned is None and not seen:
        return None
    if planned is None:
        tally.fail("it printed no plan, so it may have ended early")
    elif planned != seen:
        tally.fail(f"{planned} cases were planned, {seen} reported")
    return tally


def count_unittest(text):
    end = UNITTEST_END.search(text)
    if not end:
        return None
    result = UNITTEST_RESULT.search(text, end.end())
    kinds = dict(part.split("=") for part in (result[1] or "").split(", ") if part) if result else {}
    failed = sum(int(kinds.get(kind, 0)) for kind in ("failures", "errors", "unexpected successes"))
    skipped = int(kinds.get("skipped", 0))
    skips = UNITTEST_SKIP.findall(text)[:skipped]
    skips += [("a case", "no reason given")] * (skipped - len(skips))
    expected = [("a case", "unittest.expectedFailure")] * int(kinds.get("expected failures", 0))
    # Failing subtests are counted each, cases once: never below zero.
    return Tally(max(int(end[1]) - failed - skipped - len(expected), 0), failed, skips, expected)


def count_summary(text):
    lines = text.rstrip().splitlines()
    last = SUMMARY.match(lines[-1]) if lines else None
    if not last:
        return None
    skipped = int(last[3] or 0)
    skips = SUMMARY_SKIP.findall(text)[:skipped]
    skips += [("a case", "no reason given")] * (skipped - len(skips))
    return Tally(int(last[1]), int(last[2]), skips)


def count(text, status):
    # What else a case prints may look like TAP, a lone "ok" for one; nothing looks like unittest's end.
    tally = count_unittest(text) or count_tap(text) or count_summary(text)
    if tally is None:
        tally = Tally()
        if status == 77:  # the custom of Automake, kept by Meson
            tally.skips.append(("all", text.strip().splitlines()[-1] if text.strip() else
                                "no reason given"))
        elif status == 0:
            tally.passed = 1
    if status not in (0, 77) and not tally.failed:
        tally.fail(f"it ended with status {status}")
    return tally


@dataclasses.dataclass
class Program:
    name: str
    argv: list
    suites: list
    environment: dict
    folder: "str | None"
    timeout_seconds: "float | None"
    is_parallel: bool
    priority: int = 0


@dataclasses.dataclass
class Outcome:
    tally: Tally
    text: str = ""
    seconds: float = 0
    cpu_seconds: float = 0  # of the program and of all its children that it waited for
    world: str = ""  # that it ran in


class Groups:
    """The process groups of the programs that run now: they end with the runner, and with what they started."""

    def __init__(self):
        self.lock, self.leaders, self.number, self.is_starting = threading.RLock(), set(), 0, False

    def start(self, *arguments, **keywords):
        with self.lock:
            if self.number:
                raise OSError("the runner was told to end")
            self.is_starting = True
            try:
                child = subprocess.Popen(*arguments, start_new_session=True, **keywords)
                self.leaders.add(child.pid)
            finally:
                self.is_starting = False
            if self.number:  # since it began, in this thread
                self.end(self.number, None)
        return child

    def end(self, number, _frame):
        """A signal's handler: it may come in the midst of starting one, which is not among them yet."""
        with self.lock:
            self.number = number
            if self.is_starting:
                return
            for leader in self.leaders:
                with contextlib.suppress(OSError):
                    os.killpg(leader, signal.SIGKILL)
            world.end_all()
        os._exit(128 + number)


GROUPS = Groups()


def wait_for_end(child):
    """Its CPU seconds."""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with GROUPS.lock:  # before its number may be another's
        GROUPS.leaders.discard(child.pid)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def slowness():
    """How many times as long as alone a program may take here: for each processor that waits for none, one wants it."""
    return max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def wait_for(child, timeout_seconds):
    """(what it printed, whether it was stopped, CPU seconds). Limits are for what hangs: they are as much longer as
    the machine is busier."""
    def stop():
        if has_ended.is_set():
            return
        left = started + timeout_seconds * slowness() - time.monotonic()
        if left > 0:
            watch(left)
        else:
            stopped.append(True)
            os.killpg(child.pid, signal.SIGKILL)

    def watch(seconds):
        nonlocal timer
        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()

    stopped, timer, has_ended, started = [], None, threading.Event(), time.monotonic()
    if timeout_seconds:
        watch(timeout_seconds)
    with child.stdout:
        text = child.stdout.read().decode("utf-8", "replace")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    has_ended.set()
    if timer:
        timer.cancel()
    return text, bool(stopped), wait_for_end(child)


# Memory that is given back is overwritten, so that it is noticed if it is used; and stays with the process: programs
# that read thousands of small files otherwise spend their time in taking the same pages again.
ALLOCATOR = {"MALLOC_PERTURB_": "165", "MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


def run(program, seed):
    drawn = world.of(program.name, seed)
    drawn.wait()
    started = time.monotonic()
    environment = {**ALLOCATOR, **os.environ, **drawn.environment, **program.environment,
                   seeds.VARIABLE: str(seed)}
    try:
        child = GROUPS.start([*drawn.prefix, *program.argv], cwd=program.folder, env=environment,
                             umask=drawn.umask, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    except OSError as error:
        return Outcome(Tally(0, 1, [], [], [str(error)]))
    text, was_stopped, cpu_seconds = wait_for(child, program.timeout_seconds)
    drawn.end()
    tally = count(text, 0 if was_stopped else child.returncode)
    if was_stopped:
        tally.fail(f"stopped after {time.monotonic() - started:.0f} s")
    return Outcome(tally, text, time.monotonic() - started, cpu_seconds, str(drawn))


def is_unittest(argv):
    """Of those, only the verbose output has the reasons of skips."""
    script = pathlib.Path(argv[-1])
    return script.suffix == ".py" and "unittest.main(" in script.read_text()


def programs_of(build, slower):
    listing = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True,
                             capture_output=True, text=True)
    found = []
    for test in json.loads(listing.stdout):
        suites = [suite.split(":")[-1] for suite in test["suite"]]
        argv = test["cmd"] + (["-v"] if is_unittest(test["cmd"]) else [])
        timeout = test["timeout"] * slower if test["timeout"] > 0 else None
        found.append(Program(f"{suites[0]}/{test['name']}", argv, suites, test["env"],
                             test["workdir"] or str(build), timeout, test["is_parallel"],
                             test["priority"]))
    return found


def script_program(path):
    return Program(path, [os.path.abspath(path)], [], {}, None, None, True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"), help="the build folder (build)")
    parser.add_argument("--suite", action="append", default=[], help="only this suite")
    parser.add_argument("--without", action="append", default=[], help="all but this suite")
    parser.add_argument("--all", action="store_true", help="those of the suite `slow` as well")
    parser.add_argument("-k", dest="names", action="append", default=[], help="only programs named like this")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    parser.add_argument("--slower", type=float, default=1, help="times more patience")
    parser.add_argument("--seconds", type=float, help="begin nothing after so long")
    parser.add_argument("--seed", type=seeds.parse, help="of what the programs draw (a new one)")
    parser.add_argument("--again", metavar="NAME", help="repeat the programs named like this")
    parser.add_argument("--rounds", type=int, help="how often to repeat them (1)")
    parser.add_argument("--load", type=int, help="busy processes for each processor beside them (0)")
    parser.add_argument("--list", action="store_true", help="print the programs and stop")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    args = parser.parse_args()
    if args.again is None and (args.rounds is not None or args.load is not None):
        parser.error("--rounds and --load are for --again")
    args.seed = seeds.draw() if args.seed is None else args.seed
    return args


def choose(args):
    found = programs_of(args.build, args.slower) + [script_program(s) for s in args.scripts]
    if args.again is not None:
        return ([p for p in found if p.name == args.again]
                or [p for p in found if args.again in p.name])
    has_slow = args.all or "slow" in args.suite
    return [p for p in found
            if (not args.suite or set(args.suite) & set(p.suites) or not p.suites)
            and (has_slow or "slow" not in p.suites)
            and not set(args.without) & set(p.suites)
            and (not args.names or any(name in p.name for name in args.names))]


CASE_LINE = re.compile(r"^(?:(?:not )?ok\b|.* \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$)")
FAILING_LINE = re.compile(r"^(?!not ok\b.*# TODO)(?:not ok\b|.* \.\.\. (?:FAIL|ERROR|unexpected success)$)")
DETAILS_LINE = re.compile(r"^={70}$")  # of unittest: what comes from here on is about failures only


def failing_output(outcome):
    """All lines that an outcome's failing cases printed, and what the runner found wrong. If it cannot be
    said which lines are whose, it is everything."""
    lines, told, begun = outcome.text.splitlines(), [], 0
    for k, line in enumerate(lines):
        if DETAILS_LINE.match(line):
            told += range(k, len(lines))
            begun = len(lines)
            break
        if CASE_LINE.match(line):
            # What a case says comes before its line, but cmocka's failures come right after it.
            end = k + 1
            if FAILING_LINE.match(line):
                while end < len(lines) and lines[end].startswith("#"):
                    end += 1
                told += range(begun, end)
            begun = end
    if outcome.tally.notes:  # a crash, for one, which is in the case that has no line yet
        told += range(begun, len(lines))
    told = sorted(set(told)) or range(len(lines))
    return [*(lines[k] for k in told), *outcome.tally.notes]


def shortened(lines):
    """Of a program without end, the beginning and the end."""
    if len(lines) > SHOWN_LINES:
        half = SHOWN_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} lines ...", *lines[-half:]]
    return [line[:2000] for line in lines]


def counts_of(outcome):
    tally = outcome.tally
    parts = [f"{tally.passed:5} passed", f"{tally.failed} failed" if tally.failed else "",
             f"{len(tally.skips)} skipped" if tally.skips else "",
             f"{outcome.seconds:.1f} s, CPU {outcome.cpu_seconds:.1f} s" if outcome.seconds >= 1 else ""]
    return ", ".join(part for part in parts if part)


def show_measured_again(outcome):
    for line in outcome.text.splitlines():
        if line.startswith(MEASURED_AGAIN):
            print(f"    {line[2:]}", flush=True)


def show(program, outcome, width):
    tally = outcome.tally
    print(f"{program.name:{width}}  {counts_of(outcome)}", flush=True)
    for case, reason in tally.skips:
        print(f"    skipped {case}: {reason}")
    show_measured_again(outcome)
    for case, reason in tally.expected:
        print(f"    expected to fail {case}: {reason}")
    if tally.failed:
        lines = [line for line in outcome.text.splitlines() if FAILING_LINE.match(line)] + tally.notes
        print(*(f"    | {line}" for line in shortened(lines)), sep="\n", flush=True)


def command_again(args, program, seed):
    """What repeats a program's run."""
    build = [] if pathlib.Path(args.build) == ROOT / "build" else ["--build", args.build]
    slower = [] if args.slower == 1 else ["--slower", f"{args.slower:g}"]
    load = ["--load", str(args.load)] if args.load else []
    scripts = [] if program.suites else [program.name]
    return shlex.join(["tests/run_all.py", *build, *slower, "--again", program.name, "--seed", str(seed), *load,
                       *scripts])


def recall(args, outcomes):
    """All that failing cases printed, where nobody has to look for it, and how to see it again."""
    for program, outcome, seed in outcomes:
        if outcome.tally.failed:
            print(f"failed: {program.name}")
            print(*(f"    | {line}" for line in shortened(failing_output(outcome))), sep="\n")
            if outcome.world:
                print(f"    world: {outcome.world}")
            print(f"    again: {command_again(args, program, seed)}")


BUSY = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(10**6):
        pass
"""


@contextlib.contextmanager
def load(busy_per_processor):
    """Busy processes, which end with the runner however it ends."""
    count = busy_per_processor * len(os.sched_getaffinity(0))
    busy = [GROUPS.start([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for child in busy:
            child.kill()
            wait_for_end(child)


def answer_signals():
    """Tests have sessions of their own, which no ^C reaches: they are ended with all that they started,
    `monarc run` and its program for one. Nor do they inherit from nohup or a shell's `&` that signals are
    ignored, since they send them."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
        signal.signal(number, GROUPS.end)


def run_all(args, programs, seed, account):
    """Runs each program, and tells `account` of each as it ends."""
    started = time.monotonic()

    def run_in_time(program):
        if args.seconds is not None and time.monotonic() - started > args.seconds:
            return Outcome(Tally(skips=[("all", f"it was not begun within {args.seconds:.0f} s")]))
        return run(program, seed)

    for is_parallel in False, True:  # alone first, as what waits for the others might be left out
        some = [program for program in programs if program.is_parallel == is_parallel]
        with concurrent.futures.ThreadPoolExecutor(args.jobs if is_parallel else 1) as pool:
            ends = {pool.submit(run_in_time, program): program for program in
                    sorted(some, key=lambda program: -program.priority if is_parallel else 0)}
            waiting = set(ends)
            while waiting:
                # Python answers a signal here, but does not wake up for one that another thread took, or that came
                # just before the wait.
                ended, waiting = concurrent.futures.wait(waiting, 1, concurrent.futures.FIRST_COMPLETED)
                for end in ended:
                    account(ends[end], end.result())


def run_again(args, programs, outcomes):
    """Rounds, each with a seed of its own: the first has the one that was given."""
    draws = random.Random(args.seed)
    with load(args.load or 0):
        for number in range(1, (args.rounds or 1) + 1):
            seed = args.seed if number == 1 else draws.getrandbits(32)
            ended, started = [], time.monotonic()
            run_all(args, programs, seed, lambda program, outcome: ended.append((program, outcome, seed)))
            outcomes += ended
            total = total_of(ended)
            total.seconds = time.monotonic() - started
            failed = [program.name for program, outcome, _ in ended if outcome.tally.failed]
            print(f"round {number}, seed {seed}: {counts_of(total).lstrip()}", *failed, sep="  ", flush=True)
            for _, outcome, _ in ended:
                show_measured_again(outcome)


def total_of(outcomes):
    total = Outcome(Tally())
    for _, outcome, _ in outcomes:
        total.tally.passed += outcome.tally.passed
        total.tally.failed += outcome.tally.failed
        total.tally.skips += outcome.tally.skips
        total.cpu_seconds += outcome.cpu_seconds
    return total


def note_run(args, total, seconds):
    """A line for a run of all that ./test.sh, `--all` or a suite has; what was chosen or bounded otherwise is no whole run."""
    if args.again is not None or args.names or args.without or args.scripts or args.seconds is not None:
        return
    run = {"ended": time.time(), "part": "--all" if args.all else "./test.sh" if not args.suite else " ".join(sorted(args.suite)),
           "seed": args.seed, "passed": total.tally.passed, "failed": total.tally.failed, "skipped": len(total.tally.skips),
           "seconds": round(seconds), "cpu_seconds": round(total.cpu_seconds), "load": round(os.getloadavg()[0], 1)}
    with contextlib.suppress(OSError), open(pathlib.Path(args.build) / "runs.jsonl", "a", encoding="utf-8") as log:
        log.write(json.dumps(run) + "\n")


def main():
    answer_signals()
    atexit.register(world.end_all)
    args = parse_arguments()
    programs = choose(args)
    if args.list:
        print(*(program.name for program in programs), sep="\n")
        return 0
    width = max((len(program.name) for program in programs), default=0)
    outcomes, started = [], time.monotonic()

    def account(program, outcome):
        show(program, outcome, width)
        outcomes.append((program, outcome, args.seed))

    if args.again is None:
        print(f"seed {args.seed}", flush=True)
        run_all(args, programs, args.seed, account)
    else:
        run_again(args, programs, outcomes)
    recall(args, outcomes)
    total = total_of(outcomes)
    if not programs:
        total.tally.failed += 1
        print("no test was chosen")
    note_run(args, total, time.monotonic() - started)
    print(f"{time.monotonic() - started:.0f} s, CPU {total.cpu_seconds:.0f} s")
    skipped = f", {len(total.tally.skips)} skipped" if total.tally.skips else ""
    print(f"{total.tally.passed} passed, {total.tally.failed} failed{skipped}")
    return 1 if total.tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
