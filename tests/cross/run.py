#!/usr/bin/env python3
"""run.py: real profiles of other machines, read on this one.

usage: run.py [--monarc build/monarc] [ARCHITECTURE...]

Programs are cross-compiled with -pg and run under qemu-user, in temporary folders. What monarc says
of their gmon.out is compared with what the program says it did, and byte for byte with the gprof of
that machine's binutils. A machine without compiler, qemu or gprof is skipped. It refuses to say
anything about times: an emulator's clock is nobody's.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "checks"))
import tap  # noqa: E402

# prefix of the tools, qemu's name, pointer bits, byte order
MACHINES = [
    ("aarch64", "aarch64", 64, "little"),
    ("powerpc64", "ppc64", 64, "big"),
    ("s390x", "s390x", 64, "big"),
    ("riscv64", "riscv64", 64, "little"),
    ("i686", "i386", 32, "little"),
]

OPTION_SETS = [
    "", "-p", "-q", "-z", "-z -q", "-T", "-T -z", "-a -z", "-D -z", "-L", "-i -p", "-pfib -qeven",
    "-Qfib", "-Pmain", "-f even", "-e fib", "-E odd", "-F fib", "-k main/fib", "-n fib", "-N odd",
    "-w 30 -q",
]

# -c, on a program whose calls all lead to higher addresses: GNU gprof finds no others.
STATIC_SETS = ["-c -q", "-c", "-c -T", "-c -q -e second", "-c -F second", "-c -k first/second"]

# The gprof of 64-bit big-endian PowerPC takes names from function descriptors: it puts a dot before
# each, and never sees static functions, whose calls it gives to the one before. See docs/compat.md.
DESCRIPTORS = "powerpc64"
DOTTED = re.compile(r"(?<![\w.])\.(?=[A-Za-z_])")

PRIMARY = re.compile(r"^\[\d+\] +[\d.]+ +[\d.]+ +[\d.]+ +(\d+)(?:\+(\d+))? +(\S+)", re.M)


class Machine:
    def __init__(self, row, monarc, folder):
        self.arch, qemu, self.bits, self.order = row
        self.cc = f"{self.arch}-linux-gnu-gcc"
        self.gprof = f"{self.arch}-linux-gnu-gprof"
        self.qemu = f"qemu-{qemu}"
        self.monarc, self.folder = monarc, folder

    def missing(self):
        return [tool for tool in (self.cc, self.gprof, self.qemu) if not shutil.which(tool)]

    def say(self, *argv):
        """What a command prints; a failure is an exception with its last words."""
        environment = {**os.environ, "LC_ALL": "C", "QEMU_LD_PREFIX": f"/usr/{self.arch}-linux-gnu"}
        done = subprocess.run([str(word) for word in argv], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                              check=False)
        if done.returncode:
            last_words = (done.stdout + done.stderr).decode("utf-8", "replace")[-500:]
            raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {last_words}")
        return done.stdout.decode()

    def build(self, program, *flags):
        self.say(self.cc, "-pg", "-g", "-O0", *flags, HERE / "calls.c", "-o", program)

    def profile(self, program, name, *arguments):
        """Runs the program; its gmon.out becomes `name`. Returns the calls that it expects."""
        said = self.say(self.qemu, f"./{program}", *arguments)
        (self.folder / "gmon.out").rename(self.folder / name)
        return {name: int(n) for name, n in re.findall(r"^expect (\w+) (\d+)$", said, re.M)}

    def reports(self, *argv):
        """The same report by gprof and by monarc."""
        return self.say(self.gprof, *argv), self.say(self.monarc, "gprof", *argv)


def calls_of(graph):
    """Calls by function, those of itself included, from the graph's primary lines."""
    return {name: int(calls) + int(own or 0) for calls, own, name in PRIMARY.findall(graph)}


def wrong_calls(expected, graph):
    found = calls_of(graph)
    return [f"{name}: {expected[name]} expected, {found.get(name, 0)} found"
            for name in expected if found.get(name, 0) != expected[name]]


def difference(expected, actual):
    """The first lines that differ."""
    if expected == actual:
        return []
    pairs = zip(expected.splitlines() + ["(end)"] * 3, actual.splitlines() + ["(end)"] * 3)
    return [f"gprof {a!r}, monarc {b!r}" for a, b in pairs if a != b][:4] or ["lengths differ"]


def without_dots(text):
    return [line.split() for line in DOTTED.sub("", text).splitlines()]


def compare_with_gprof(t, m):
    """Every option set, byte for byte."""
    if m.arch == DESCRIPTORS:
        m.build("visible", "-Dstatic=")
        m.profile("visible", "visible.gmon")
        for options in ("-p", "-q"):
            theirs, ours = m.reports("-b", options, "visible", "visible.gmon")
            t.clean(f"{m.arch}: gprof -b {options} prints the same but for the dots",
                    [] if without_dots(theirs) == without_dots(ours) else difference(theirs, ours))
        return
    for options in OPTION_SETS:
        theirs, ours = m.reports("-b", *options.split(), "calls", "one.gmon")
        t.clean(f"{m.arch}: gprof -b {options} prints the same", difference(theirs, ours))
    # The helper that position-independent code of i686 calls stands before all of it.
    m.say(m.cc, "-pg", "-O0", "-fno-pie", "-no-pie", HERE / "onward.c", "-o", "onward")
    m.profile("onward", "onward.gmon")
    for options in STATIC_SETS:
        theirs, ours = m.reports("-b", *options.split(), "onward", "onward.gmon")
        t.clean(f"{m.arch}: gprof -b {options} prints the same", difference(theirs, ours))
    theirs, ours = m.reports("-b", "calls", "one.gmon", "two.gmon")
    t.clean(f"{m.arch}: gprof -b prints the same for two profiles", difference(theirs, ours))
    m.build("alone", "-static")
    m.profile("alone", "alone.gmon")
    theirs, ours = m.reports("-b", "-p", "alone", "alone.gmon")
    t.clean(f"{m.arch}: gprof -b -p prints the same for a static program", difference(theirs, ours))


def check_files(t, m, one, two):
    """What monarc's own commands make of the files."""
    facts = json.loads(m.say(m.monarc, "info", "--json", "one.gmon"))["files"][0]
    t.clean(f"{m.arch}: info tells pointer size and byte order",
            [] if (facts["word_bits"], facts["byte_order"]) == (m.bits, m.order) else [str(facts)])
    t.clean(f"{m.arch}: info counts the calls",
            [] if facts["arcs"]["calls"] == sum(one.values()) else
            [f"{facts['arcs']['calls']} found, {sum(one.values())} made"])

    m.say(m.monarc, "merge", "-o", "sum.gmon", "one.gmon", "two.gmon")
    both = {name: one[name] + two[name] for name in one}
    t.clean(f"{m.arch}: merged counts are exact",
            wrong_calls(both, m.say(m.monarc, "gprof", "-b", "-q", "calls", "sum.gmon")))
    if m.arch != DESCRIPTORS:
        apart = m.say(m.gprof, "-b", "-q", "calls", "one.gmon", "two.gmon")
        together = m.say(m.gprof, "-b", "-q", "calls", "sum.gmon")
        t.clean(f"{m.arch}: gprof reads what merge wrote", difference(apart, together))

    other = "big" if m.order == "little" else "little"
    m.say(m.monarc, "convert", "--to-endian", other, "-o", "turned.gmon", "one.gmon")
    m.say(m.monarc, "convert", "--to-endian", m.order, "-o", "back.gmon", "turned.gmon")
    same = (m.folder / "back.gmon").read_bytes() == (m.folder / "one.gmon").read_bytes()
    t.clean(f"{m.arch}: converted to the other byte order and back, it is the same file",
            [] if same else ["it is not"])
    m.say(m.monarc, "convert", "--to", "bsd44", "-o", "bsd.gmon", "one.gmon")
    theirs = m.say(m.gprof, "-b", "-q", "calls", "one.gmon")
    t.clean(f"{m.arch}: gprof reads the 4.4BSD file that convert wrote",
            difference(theirs, m.say(m.gprof, "-O4", "-b", "-q", "calls", "bsd.gmon")))


def test_machine(t, m):
    m.build("calls")
    one = m.profile("calls", "one.gmon")
    two = m.profile("calls", "two.gmon", "11")
    t.clean(f"{m.arch}: monarc counts every call",
            wrong_calls(one, m.say(m.monarc, "gprof", "-b", "-q", "calls", "one.gmon")))
    compare_with_gprof(t, m)
    check_files(t, m, one, two)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=str(tap.ROOT / "build" / "monarc"))
    parser.add_argument("machines", nargs="*", metavar="ARCHITECTURE")
    args = parser.parse_args()
    t = tap.Tap()
    for row in MACHINES:
        if args.machines and row[0] not in args.machines:
            continue
        with tempfile.TemporaryDirectory(prefix="monarc-cross-") as folder:
            machine = Machine(row, os.path.abspath(args.monarc), pathlib.Path(folder))
            if machine.missing():
                t.skip(f"{machine.arch}", f"not installed: {', '.join(machine.missing())}")
                continue
            try:
                test_machine(t, machine)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                t.clean(f"{machine.arch}: every command works", [str(error)])
    t.end()


main()
