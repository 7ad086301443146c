#!/usr/bin/env python3
"""run_all.py: runs the tests that a build folder knows and adds up their cases.

usage: run_all.py [--build build] [--suite NAME]... [--without NAME]... [--all] [-k TEXT]... [-j 2]
                  [--slower 1] [--seconds N] [--list] [SCRIPT...]

The tests are those of `meson introspect --tests`, and any SCRIPTs. Those of the suite `slow` are left
to .ci/run: they run with `--suite slow`, which is them alone, or with --all. The longest start first,
by Meson's priorities; what must have the machine for itself comes last, one after the other. A program's cases are counted
from what it prints: TAP, or Python's unittest, or a last line `N passed, N failed[, N skipped]`;
a program that prints none of these is one case. Each skipped case is printed with its reason, and
whatever a failing program printed is shown, and the failing cases once more at the end. Behind the
seconds that passed stands the CPU time. The last line is the sum. It refuses to build anything, to
read a terminal, to call a program passed that ended with an error, and to run one again that failed.
After --seconds nothing begins any more; what is left out then counts as skipped, each program once.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHOWN_LINES = 150

TAP_LINE = re.compile(r"^(not )?ok\b\s*(\d*)[\s-]*([^#]*)(?:#\s*(\w+)\s*(.*))?$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\S*\s*(.*))?$", re.I)
UNITTEST_END = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_RESULT = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.M)
UNITTEST_SKIP = re.compile(  # the second line is the case's docstring, if it has one
    r"^\s*(\w+) \(.*\)(?:\n.*)? \.\.\. skipped ['\"](.*)['\"]$", re.M)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SUMMARY_SKIP = re.compile(r"^(\S.*?)\s+skipped: (.*)$", re.M)


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)  # (case, reason)
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
            elif case[1] and directive != "TODO":
                tally.failed += 1
            else:
                tally.passed += 1
            remark = ""
        elif line.startswith("Bail out!"):
            tally.fail(line)
        elif line.startswith("#"):
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
    # Failing subtests are counted each, cases once: never below zero.
    return Tally(max(int(end[1]) - failed - skipped, 0), failed, skips)


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
        os._exit(128 + number)


GROUPS = Groups()


def wait_for(child, timeout_seconds):
    """(what it printed, whether it was stopped, CPU seconds)"""
    def stop():
        stopped.append(True)
        os.killpg(child.pid, signal.SIGKILL)

    stopped = []
    timer = threading.Timer(timeout_seconds, stop) if timeout_seconds else None
    if timer:
        timer.start()
    with child.stdout:
        text = child.stdout.read().decode("utf-8", "replace")
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    if timer:
        timer.cancel()
    with GROUPS.lock:  # before its number may be another's
        GROUPS.leaders.discard(child.pid)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return text, bool(stopped), used.ru_utime + used.ru_stime


def run(program):
    started = time.monotonic()
    environment = {"MALLOC_PERTURB_": "165", **os.environ, **program.environment}
    try:
        child = GROUPS.start(program.argv, cwd=program.folder, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    except OSError as error:
        return Outcome(Tally(0, 1, [], [str(error)]))
    text, was_stopped, cpu_seconds = wait_for(child, program.timeout_seconds)
    tally = count(text, 0 if was_stopped else child.returncode)
    if was_stopped:
        tally.fail(f"stopped after {program.timeout_seconds:.0f} s")
    return Outcome(tally, text, time.monotonic() - started, cpu_seconds)


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
    return Program(path, [os.path.abspath(path)], [], {}, None, None, False)


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
    parser.add_argument("--list", action="store_true", help="print the programs and stop")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    return parser.parse_args()


def choose(args):
    has_slow = args.all or "slow" in args.suite
    found = programs_of(args.build, args.slower) + [script_program(s) for s in args.scripts]
    return [p for p in found
            if (not args.suite or set(args.suite) & set(p.suites) or not p.suites)
            and (has_slow or "slow" not in p.suites)
            and not set(args.without) & set(p.suites)
            and (not args.names or any(name in p.name for name in args.names))]


def is_failure(line):
    return line.startswith(("not ok", "FAIL:", "ERROR:", "AssertionError"))


def failing_lines(outcome, before=8, after=3):
    """What an outcome's program printed about its failing cases, and what the runner found wrong."""
    lines = outcome.text.splitlines()
    told = sorted({k for i, line in enumerate(lines) if is_failure(line)
                   for k in range(max(i - before, 0), i + after) if k < len(lines)})
    return [lines[k][:2000] for k in told] + outcome.tally.notes


def show(program, outcome, width):
    tally = outcome.tally
    parts = [f"{tally.passed:5} passed", f"{tally.failed} failed" if tally.failed else "",
             f"{len(tally.skips)} skipped" if tally.skips else "",
             f"{outcome.seconds:.1f} s, CPU {outcome.cpu_seconds:.1f} s" if outcome.seconds >= 1 else ""]
    print(f"{program.name:{width}}  {', '.join(part for part in parts if part)}", flush=True)
    for case, reason in tally.skips:
        print(f"    skipped {case}: {reason}")
    if tally.failed:
        lines = outcome.text.splitlines()
        if len(lines) > SHOWN_LINES:
            told = failing_lines(Outcome(Tally(), "\n".join(lines[:-SHOWN_LINES])))
            lines = [f"... {len(lines) - SHOWN_LINES} lines before, of which:", *told, "...",
                     *lines[-SHOWN_LINES:]]
        print(*(f"    | {line}" for line in lines + tally.notes), sep="\n", flush=True)


def recall(outcomes):
    """The failing cases once more, where nobody has to look for them."""
    for program, outcome in outcomes:
        print(f"failed: {program.name}")
        lines = failing_lines(outcome) or outcome.text.splitlines()[-20:]
        print(*(f"    | {line}" for line in lines[:SHOWN_LINES]), sep="\n")


def answer_signals():
    """Tests have sessions of their own, which no ^C reaches: they are ended with all that they started,
    `monarc run` and its program for one. Nor do they inherit from nohup or a shell's `&` that signals are
    ignored, since they send them."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
        signal.signal(number, GROUPS.end)


def main():
    answer_signals()
    args = parse_arguments()
    programs = choose(args)
    if args.list:
        print(*(program.name for program in programs), sep="\n")
        return 0
    width = max((len(program.name) for program in programs), default=0)
    outcomes, started = [], time.monotonic()

    def account(program, outcome):
        show(program, outcome, width)
        outcomes.append((program, outcome))

    def run_in_time(program):
        if args.seconds is not None and time.monotonic() - started > args.seconds:
            return Outcome(Tally(skips=[("all", f"it was not begun within {args.seconds:.0f} s")]))
        return run(program)

    together = [program for program in programs if program.is_parallel]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        ends = {pool.submit(run_in_time, program): program for program in
                sorted(together, key=lambda program: -program.priority)}
        for end in concurrent.futures.as_completed(ends):
            account(ends[end], end.result())
    for program in programs:
        if not program.is_parallel:
            account(program, run_in_time(program))
    recall([entry for entry in outcomes if entry[1].tally.failed])
    total, cpu_seconds = Tally(), 0
    for _, outcome in outcomes:
        total.passed += outcome.tally.passed
        total.failed += outcome.tally.failed
        total.skips += outcome.tally.skips
        cpu_seconds += outcome.cpu_seconds
    if not programs:
        total.failed += 1
        print("no test was chosen")
    print(f"{time.monotonic() - started:.0f} s, CPU {cpu_seconds:.0f} s")
    skipped = f", {len(total.skips)} skipped" if total.skips else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
