#!/usr/bin/env python3
"""test_ptrace.py: what the ptrace source tells about programs that measure themselves, and what
these notice of it.

Shares are compared within four standard errors of as many samples as there are. It refuses to
compare wall times: the machine may be busy.
"""
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "checks")]

import parts
import recording_log
import sequential
import tap

NOBODY = 65534
FOLDER = tempfile.TemporaryDirectory(prefix="monarc-ptrace-")


def share_findings(log, symbols, expected, slack=0.02):
    """Shares of functions of all samples against the program's own measures, both in user code."""
    by, findings = log.by_function(symbols), []
    mine = sum(by[name] for name in expected)
    total = sum(expected.values())
    n = max(len(log.samples), 1)
    for name, seconds in expected.items():
        share, truth = by[name] / (mine or 1), seconds / total
        error = math.sqrt(truth * (1 - truth) / n)
        if abs(share - truth) > 4 * error + slack:
            findings.append(f"{name}: {share:.3f} for {truth:.3f}, {n} samples")
    return findings


def sum_findings(log, slack=0.04):
    """Samples and what is lost make up the CPU time; neither is more than that."""
    placed, total = log.weight(), log.total()
    findings = []
    if abs(placed + log.lost() - log.cpu()) > slack * total + 0.01:
        findings.append(f"{placed:.3f} s placed, {log.lost():.3f} s lost, {log.cpu():.3f} s had")
    # What the kernel still does for a thread once it has ended is in the system's figure alone: 40 us of a
    # process on a fast machine, 600 on a slow one.
    ends = 0.001 * sum(1 for _ in log.of("cpu"))
    if not -0.01 - 0.15 * total - ends < log.cpu() - total < 0.15 * total + 0.01:
        findings.append(f"threads had {log.cpu():.3f} s, the system says {total:.3f} s")
    if log.cpu() < 0.98 * sum(log.truth.values()):
        findings.append(f"threads had {log.cpu():.3f} s, they counted {sum(log.truth.values()):.3f} s")
    return findings


# (mode, number, whether it is left to the slow part)
MODES = (("user-kernel", .5, False), ("user-kernel", 2, True), ("short-calls", 4, True), ("threads", 3, True),
         ("children", 3, True), ("bursts", 1, True), ("rare-bursts", .5, True),
         ("short-threads", 300, False), ("short-threads", 700, True), ("short-threads", 2000, True), ("short-children", 2000, True),
         ("short-and-long", 1000, True), ("crowd", 2, True), ("exec-chain", 5, True))


def shares(t, work, symbols):
    for mode, number, is_slow in MODES:
        if parts.is_wanted(is_slow):
            one_share(t, work, symbols, mode, number)


def one_share(t, work, symbols, mode, number):
    """Some hundred looks scatter by some hundredths."""
    def once():
        log = recording_log.record(work, mode, number)
        return findings_of_share(log, symbols, mode) + sum_findings(log)
    t.clean(f"{mode}: shares and sum", sequential.findings(mode, once))


def findings_of_share(log, symbols, mode):
    expected = {{"user": "burn_a"}.get(k, k): v for k, v in log.truth.items()}
    if mode == "short-calls":  # the user part is burn_a and burn_b
        by = log.by_function(symbols)
        users = by["burn_a"] + by["burn_b"]
        seen, truth = users / (users + by["kernel"]), log.truth["user"] / sum(log.truth.values())
        return [f"{seen:.3f} for {truth:.3f}"] * (abs(seen - truth) > 0.12)
    # Of 1,200 threads, those that work a little have few samples, and much after the last.
    return share_findings(log, symbols, expected, 0.2 if mode == "crowd" else 0.02)


def shares_of_a_user(t, work, symbols):
    wrap = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    if os.geteuid() == 0:
        def once():
            log = recording_log.record(work, "children", 1, wrap=wrap)
            return share_findings(log, symbols, log.truth) + sum_findings(log)
        t.clean("an ordinary user: shares and sum", sequential.findings("an ordinary user", once))
    else:
        t.skip("an ordinary user", "is who runs this")


def undisturbed(t, folder):
    signals = recording_log.build("signals.c", folder)
    for mode, is_slow in (("queue", True), ("traps", True), ("job", True), ("group", True), ("descriptor", True),
                          ("quiet-children", False), ("exec-by-thread", False), ("spawns", True), ("ends", True),
                          ("eintr", False), ("die", False)):
        if not parts.is_wanted(is_slow):
            continue
        bare = subprocess.run([signals, mode], capture_output=True, text=True, check=False)
        status = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        log = recording_log.record(signals, mode)
        findings = [f"{a!r} for {b!r}" for a, b in ((log.output, bare.stdout), (log.status, status))
                    if a != b]
        t.clean(f"{mode}: the same output and status", findings)
    if not parts.is_wanted(is_slow=False):
        return
    waits = recording_log.build("waits.c", folder)
    log = recording_log.record(waits, 4)
    lines = [line.split() for line in log.output.splitlines()]
    early = [" ".join(x) for x in lines if int(x[2])]
    t.clean("no waiting call comes back early", early + ["no output"] * (len(lines) != 8))
    t.clean("and there were samples", ["none"] * (not log.samples))


def left_alone(t, folder, work):
    traceme = recording_log.build("traceme.c", folder)
    log = recording_log.record(traceme, work, "user-kernel", 0.1)
    t.clean("a program that has itself traced works", [log.output] * (
        not log.output.startswith("stopped 1\n") or "exited 0" not in log.output))
    t.clean("and is reported", ["no"] * (not any(x[1] == "4" for x in log.of("lose"))))


def with_ptrace_in_its_code(t, folder):
    """Such a program is recorded until it uses the call; then what it wants to trace is let go."""
    attach = recording_log.build("attach.c", folder)
    if parts.is_wanted(is_slow=False):
        that_only_contains_it(t, attach)
    for is_slow, how, *steps in (False, "child"), (True, "parent"), (True, "child", 1000), (True, "parent", 1000):
        if parts.is_wanted(is_slow):
            log = recording_log.record(attach, how, 0.3, *steps)
            t.clean(f"one that traces its {how} works" + ", making many calls" * len(steps), [log.output] * (log.output != "traced\n"))
            t.clean("and is reported", ["no"] * (not any(x[1] == "4" for x in log.of("lose"))))


def that_only_contains_it(t, attach):
    def once():
        nonlocal log
        log = recording_log.record(attach, "never", 0.3)
        spun, lost = log.by_function(recording_log.Symbols(attach))["spin"], log.lost()
        pids = {s.pid for s in log.samples}
        # On a busy machine, much may come after a process's last sample, which is told; and a look that comes late
        # finds the thread stopped at its next system call, which gets the time then.
        is_there = len(pids) == 2 and 0.4 * (0.6 - lost) < spun < 0.75
        return sum_findings(log) + [f"{spun} s of 0.6 in {len(pids)} processes, {lost} s lost"] * (not is_there)
    log = None
    t.clean("a program that only contains ptrace() is recorded, with its child",
            sequential.findings("a program that only contains ptrace()", once))
    t.clean("and what that cost is told", ["no"] * (not any(x[1] == "6" for x in log.of("lose"))))


def processes(t, work):
    log = recording_log.record(work, "exec-chain", 3)
    names = [x[3] for x in log.of("exec")]
    t.clean("each exec is told, with mappings", [] if len(names) == 4 and len(log.of("maps")) >= 4
            else [f"{names} {len(log.of('maps'))}"])
    log = recording_log.record(work, "children", 0.2)
    threads = [tuple(x[1:3]) for x in log.of("name")]
    t.clean("each name once", [f"{threads}"] * (len(set(threads)) != len(threads)))
    t.clean("each fork and each end", [] if len(log.of("fork")) == 3 and len(log.of("exit")) == 3
            else [f"{log.of('fork')} {log.of('exit')}"])
    log = recording_log.record(work, "children", 0.5, options=("-n",))
    pids = {s.pid for s in log.samples}
    t.clean("no others where only one is wanted", [f"{pids}"] * (len(log.of("fork")) != 1))


def attaching(t, work, symbols):
    program = subprocess.Popen([work, "threads", "1.5"], stdout=subprocess.PIPE, text=True)
    while len(os.listdir(f"/proc/{program.pid}/task")) < 2:  # it began its threads
        time.sleep(0.01)
    log = recording_log.record(options=("-p", str(program.pid), "-c", "0.5"))
    output = program.communicate()[0]
    by = log.by_function(symbols)
    t.clean("attached: samples of all threads", [] if by["burn_a"] and by["burn_b"] else [f"{by}"])
    t.clean("attached: it ends as ever", [output] * (program.returncode != 0 or
                                                     output.count("truth") != 2))
    log = recording_log.record(options=("-p", "999999999", "-t", "1"))
    t.clean("attached: to nothing", [f"{log.status}"] * (log.status != 2))


def main():
    t, folder = tap.Tap(), FOLDER.name
    os.chmod(folder, 0o755)
    work = recording_log.build("work.c", folder)
    symbols = recording_log.Symbols(work)
    shares(t, work, symbols)
    undisturbed(t, folder)
    if parts.is_wanted(is_slow=True):
        shares_of_a_user(t, work, symbols)
    if parts.is_wanted(is_slow=False):
        left_alone(t, folder, work)
    with_ptrace_in_its_code(t, folder)
    if parts.is_wanted(is_slow=False):
        processes(t, work)
        attaching(t, work, symbols)
    t.end()


if __name__ == "__main__":
    main()
