#!/usr/bin/env python3
"""run.py: the embedded recorder on machines without an operating system, under qemu.

usage: run.py [--monarc build/monarc] [--table] [MACHINE...]

programs/known.c knows its calls and the shares of its loops. It leaves its machine as gmon.out and
memory image by semihosting, and as framed text between other output on a serial line; all three
must be the same to the byte, monarc and the cross gprof must read the truth out of them, and the
counts of --coverage must be those of gcov on this machine. Costs are instructions under -icount;
--table prints them and sizes as rows for bench/README.md. A machine without tools is skipped.
"""

import argparse
import json
import math
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

EXAMPLE = tap.ROOT / "examples/embedded"
RECORDER = tap.ROOT / "runtime/embedded"
PARTS = ["profile", "calls", "sample", "gmon", "frames", "coverage", "semihosting", "instrument",
         "stub_arm", "stub_call", "stub_x86", "ecos"]
STRICT = ["-std=c99", "-Os", "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror",
          "-ffreestanding", "-ffunction-sections"]
PROGRAM = ["-O2", "-g", "-falign-functions=16", "-fno-optimize-sibling-calls", "-ffreestanding",
           "-Wall", "-Wextra", "-Werror"]
COVERAGE = ["--coverage", "-fprofile-info-section=monarc_coverage"]
CODE_BYTES, CALL_ON, CALL_OFF, SAMPLE = 1536, 30, 10, 25  # budgets, on the Cortex-M3

ONE_FILE = ("cortex-m4f", "riscv64")  # take the recorder as one file, the others as its parts

CORTEX_M = "-M mps2-an385 -nic none"
VIRT = "-M virt -bios none -nic none"
RISCV = "riscv64-unknown-elf-"


class Machine:
    """name; prefix of the tools; options of the machine; folder and linker script of its board;
    emulator; how calls are counted; further options."""

    def __init__(self, name, prefix, cpu, board, script, qemu, instrument="-pg", more=""):
        self.name, self.prefix, self.cpu = name, prefix, cpu.split()
        self.board, self.script, self.qemu = board, script, qemu.split()
        self.instrument, self.more = instrument.split(), more.split()


MACHINES = [
    Machine("cortex-m3", "arm-none-eabi-", "-mcpu=cortex-m3 -mthumb", "cortex-m", "mps2-an385.ld",
            f"qemu-system-arm {CORTEX_M}", more="-DWITH_STACK -DWITH_FAST"),
    Machine("cortex-m4f", "arm-none-eabi-", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard", "cortex-m",
            "mps2-an385.ld", "qemu-system-arm -M mps2-an386 -nic none"),
    Machine("cortex-m0", "arm-none-eabi-", "-mcpu=cortex-m0 -mthumb", "cortex-m", "microbit.ld",
            "qemu-system-arm -M microbit",
            more="-DBOARD_MICROBIT -DMONARC_MEMORY_BYTES=8192 -DLOOPS=1600000u"),
    Machine("instrument-functions", "arm-none-eabi-", "-mcpu=cortex-m3 -mthumb", "cortex-m",
            "mps2-an385.ld", f"qemu-system-arm {CORTEX_M}", "-finstrument-functions"),
    Machine("riscv32", RISCV, "-march=rv32imac -mabi=ilp32 -mcmodel=medany", "riscv", "virt.ld",
            f"qemu-system-riscv32 {VIRT}", more="-DWITH_STACK"),
    Machine("riscv32-no-a", RISCV, "-march=rv32imc -mabi=ilp32 -mcmodel=medany", "riscv", "virt.ld",
            f"qemu-system-riscv32 {VIRT}"),
    Machine("riscv64", RISCV, "-march=rv64imac -mabi=lp64 -mcmodel=medany", "riscv", "virt.ld",
            f"qemu-system-riscv64 {VIRT}"),
    Machine("aarch64", "aarch64-linux-gnu-", "-mgeneral-regs-only -mstrict-align -fno-pic",
            "aarch64", "virt.ld", "qemu-system-aarch64 -M virt -cpu cortex-a53 -nic none",
            more="-DWITH_STACK"),
]

# Under emulators of programs: tools, options, emulator, how calls are counted. The first three are
# big-endian.
HOSTED = [
    ("armeb", "arm-none-eabi-", "-mbig-endian -march=armv7-a -marm -mfloat-abi=soft", "qemu-armeb",
     ["-pg"]),
    ("powerpc64", "powerpc64-linux-gnu-", "", "qemu-ppc64", ["-finstrument-functions"]),
    ("s390x", "s390x-linux-gnu-", "", "qemu-s390x", ["-finstrument-functions"]),
    ("x86_64", "", "-m64", "env", ["-pg", "-mfentry"]),
    ("i686", "i686-linux-gnu-", "-fno-pie", "qemu-i386", ["-pg", "-mfentry"]),
]


def one_file(folder):
    parts = [RECORDER / f"{part}.c" for part in PARTS]
    subprocess.run([sys.executable, RECORDER / "amalgamate.py", tap.ROOT / "include",
                    pathlib.Path(folder) / "monarc_embedded.c",
                    pathlib.Path(folder) / "monarc_embedded.h", *parts], check=True)


class Run:
    """One program in a temporary folder."""

    def __init__(self, args, machine, folder):
        self.monarc, self.m, self.folder = args.monarc, machine, pathlib.Path(folder)

    def say(self, *argv, cwd=None, allowed=(0,)):
        done = subprocess.run([str(word) for word in argv], cwd=cwd or self.folder,
                              env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600, check=False)
        if done.returncode not in allowed:
            said = (done.stdout + done.stderr).decode("utf-8", "replace")[-1500:]
            raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {said}")
        return done.stdout.decode("utf-8", "replace")

    def tool(self, name, *argv):
        return self.say(self.m.prefix + name, *argv)

    def compile(self, source, to, *flags):
        self.tool("gcc", *self.m.cpu, *self.m.more, *flags, f"-I{tap.ROOT / 'include'}", "-c",
                  source, "-o", to)

    def recorder(self, *flags):
        """Its object files, from its parts or from the one file."""
        if self.m.name in ONE_FILE:
            one_file(self.folder)
            self.compile("monarc_embedded.c", "monarc.o", *STRICT, *flags)
            return ["monarc.o"]
        for part in PARTS:
            self.compile(RECORDER / f"{part}.c", f"monarc_{part}.o", *STRICT, *flags)
        return [f"monarc_{part}.o" for part in PARTS]

    def build(self, source, program, *flags, instrument=None, objects=()):
        board = EXAMPLE / self.m.board
        self.compile(board / "start.c", "start.o", "-Os", "-ffreestanding", "-Wall", "-Werror")
        self.compile(source, f"{program}.o", *PROGRAM,
                     *(self.m.instrument if instrument is None else instrument), *flags)
        self.tool("gcc", *self.m.cpu, "-nostdlib", "-static", "-Wl,--gc-sections",
                  "-Wl,--no-warn-rwx-segments", f"-L{board}", "-T", self.m.script,
                  f"{program}.o", *objects, "start.o", *self.recorder(), "-lgcc", "-o", f"{program}.elf")

    def emulate(self, program, shift=6):
        counted = ["-icount", f"shift={shift}"] if shift is not None else []
        self.say(*self.m.qemu, *counted, "-display", "none", "-monitor", "none",
                 "-serial", "file:uart.txt", "-semihosting-config", "enable=on,target=native",
                 "-kernel", f"{program}.elf")
        return (self.folder / "uart.txt").read_text(errors="replace")

    def receive(self, source, folder, program="known.elf"):
        return self.say(self.monarc, "receive", "--from", source, "--elf", program, "-o", folder)

    def json(self, *argv):
        return json.loads(self.say(self.monarc, *argv, "--json"))


def expected(said, what):
    return {name: int(n) for name, n in re.findall(rf"^{what} (\w+) (\d+)$", said, re.M)}


def wrong_calls(run, calls, gmon):
    rows = {row["name"]: row["calls"]
            for row in run.json("flat", "known.elf", gmon)["functions"]}
    return [f"{name}: {n} made, {rows.get(name, 0)} found" for name, n in calls.items()
            if rows.get(name, 0) != n]


def wrong_shares(run, shares, gmon):
    """Of the samples in these loops, within three standard errors."""
    rows = {row["name"]: row["self_samples"]
            for row in run.json("flat", "known.elf", gmon)["functions"]}
    found = {name: rows.get(name, 0) for name in shares}
    all_found, all_shares = sum(found.values()), sum(shares.values())
    if all_found < 40:
        return [f"only {all_found} samples"]
    wrong = []
    for name, share in shares.items():
        p = share / all_shares
        error = math.sqrt(p * (1 - p) / all_found)
        if abs(found[name] / all_found - p) > 3 * error:
            wrong.append(f"{name}: {found[name]} of {all_found}, expected {p:.3f} +- {error:.4f}")
    return wrong


def same_files(run, folders):
    """Every way out, the same gmon.out to the byte."""
    contents = {name: (run.folder / name / "gmon.out").read_bytes() for name in folders}
    return [f"{name} differs from {folders[0]}" for name in folders
            if contents[name] != contents[folders[0]]]


def differences(theirs, ours):
    return [] if theirs == ours else [
        f"gprof {a!r}, monarc {b!r}" for a, b in zip(theirs.splitlines(), ours.splitlines())
        if a != b][:4] or ["lengths differ"]


MAY_BE_MISSING = {"__start_monarc_coverage", "__stop_monarc_coverage", "hal_enable_profile_timer"}


def test_stands_alone(t, run):
    """No C library, no compiler's helpers: no floats, no division, no memset."""
    objects = [name for name in run.recorder() if "ecos" not in name]  # which divides
    rows = [line.split() for line in run.tool("nm", *objects).splitlines()]
    defined = {row[-1] for row in rows if len(row) == 3}
    wanted = {row[-1] for row in rows if len(row) == 2 and not row[0].endswith(":")}
    t.clean(f"{run.m.name}: the recorder needs nobody", sorted(wanted - defined - MAY_BE_MISSING))


def test_ways(t, run, said):
    run.receive("memory.bin", "memory")
    run.receive("uart.txt", "uart")
    run.receive("gmon.out", "file")
    name = run.m.name
    t.clean(f"{name}: semihosting, serial line and memory give the same",
            same_files(run, ["memory", "uart", "file"]))
    t.clean(f"{name}: calls are what they were",
            wrong_calls(run, expected(said, "expect"), "uart/gmon.out"))
    t.clean(f"{name}: samples are where the time went",
            wrong_shares(run, expected(said, "share"), "uart/gmon.out"))
    gmon = "uart/gmon.out"
    for options in ("-b", "-b -p", "-b -q", "-b -T"):
        theirs = run.tool("gprof", *options.split(), "known.elf", gmon)
        ours = run.say(run.monarc, "gprof", *options.split(), "known.elf", gmon)
        t.clean(f"{name}: gprof {options} prints the same", differences(theirs, ours))
    doctor = run.json("doctor", "known.elf", gmon)
    # The recorder itself is compiled for size: its few samples may share bins, which is a note.
    t.clean(f"{name}: nothing is wrong with it",
            [f"{f['name']}: {f['evidence']}" for f in doctor["findings"]
             if (f["name"], f["severity"]) != ("shared-bins", "note")])


def test_stack(t, run):
    rows = run.json("flat", "known.elf", "uart/gmon.stack.out")
    said = run.receive("memory.bin", "memory")
    deepest = int(re.search(r"at most (\d+) bytes of stack", said)[1])
    mean = sum(row["self_time"] for row in rows["functions"])
    wrong = [] if 16 <= deepest <= 4096 else [f"deepest {deepest}"]
    wrong += [] if 0 < mean <= deepest else [f"mean {mean}, deepest {deepest}"]
    t.clean(f"{run.m.name}: stack depths are below the deepest", wrong)


def lines_of(gcov):
    """(line, count) of a .gcov file's executable lines."""
    return [(int(n), count.strip().rstrip("*")) for count, n in
            re.findall(r"^ *([\d#=]+\*?): *(\d+):", gcov, re.M)]


def test_coverage(t, run):
    """fib and its like count the same wherever they run: the lines in front of main's setup."""
    source = HERE / "programs/covered.c"
    run.compile(source, "covered.o", *PROGRAM[1:], "-O0", *COVERAGE)
    run.build(HERE / "programs/cover_main.c", "cover", instrument=[], objects=["covered.o"])
    run.emulate("cover")
    run.say(run.monarc, "receive", "--from", "uart.txt", "-o", "cover")
    counters = next((run.folder / "cover").rglob("covered.gcda"))
    run.tool("gcov", counters)
    theirs = (run.folder / "covered.c.gcov").read_text()
    with tempfile.TemporaryDirectory() as host:
        run.say("gcc", "-O0", "-g", "--coverage", "-DHOSTED", "-c", source, cwd=host)
        run.say("gcc", "--coverage", "covered.o", "-o", "covered", cwd=host)
        run.say("./covered", cwd=host)
        run.say("gcov", "covered.gcda", cwd=host)
        here = (pathlib.Path(host) / "covered.c.gcov").read_text()
    hosted_only = here[:here.index("#ifdef HOSTED")].count("\n") - 5  # lines of gcov's own in front
    expected_lines = [(n, c) for n, c in lines_of(here) if n < hosted_only]
    t.clean(f"{run.m.name}: coverage is that of this machine's gcov",
            [] if lines_of(theirs) == expected_lines and len(expected_lines) > 8
            else [f"{lines_of(theirs)} here {expected_lines}"])
    said = run.say(run.monarc, "cover", "cover")
    t.clean(f"{run.m.name}: monarc cover reads it",
            [] if re.search(r"^ *94.1 +1 +17 .* covered.c$", said, re.M) else said.splitlines())


def test_libgcov(t, run):
    """The toolchain's own walk writes the same stream."""
    streams = []
    for name, flags, library in (("ours", [], []), ("libgcov", ["-DMONARC_LIBGCOV"], ["-lgcov"])):
        run.compile(HERE / "programs/cover_main.c", "cover.o", "-O1", "-ffreestanding")
        run.tool("gcc", *run.m.cpu, "-nostdlib", "-static", "-Wl,--gc-sections",
                 f"-L{EXAMPLE / run.m.board}", "-T", run.m.script, "cover.o", "covered.o", "start.o",
                 *run.recorder(*flags), *library, "-lgcc", "-o", "cover.elf")
        run.emulate("cover")
        run.say(run.monarc, "receive", "--from", "uart.txt", "-o", name)
        streams.append(next((run.folder / name).rglob("covered.gcda")).read_bytes())
    t.clean(f"{run.m.name}: libgcov writes the same counters",
            [] if streams[0] == streams[1] else ["they differ"])


def test_debugger(t, run):
    """gdb stops the target, fetches its memory with the commands we ship, and asks for a reset."""
    if not shutil.which("gdb-multiarch"):
        t.skip(f"{run.m.name}: a debugger fetches the memory", "not installed: gdb-multiarch")
        return
    qemu = " ".join([*run.m.qemu, "-icount shift=6 -display none -monitor none -serial null",
                     "-semihosting-config enable=on,target=native -S -gdb stdio -kernel known.elf"])
    (run.folder / "commands").write_text(
        f"set confirm off\ntarget remote | {qemu}\nbreak monarc_embedded_stop\ncontinue\n"
        f"source {RECORDER / 'fetch.gdb'}\nmonarc_fetch\nmonarc_reset_wanted\n"
        "print/x *(unsigned int *) &monarc_control\nkill\nquit\n")
    said = run.say("gdb-multiarch", "-batch", "-x", "commands", "known.elf", allowed=(0, 1))
    run.receive("monarc.memory", "debugger")
    t.clean(f"{run.m.name}: what a debugger fetches is the same",
            same_files(run, ["memory", "debugger"]) +
            ([] if "0x52525252" in said else ["no reset was asked for"]))


def test_cores(t, run):
    """Two cores at once, for real: no -icount, which would have them take turns."""
    run.m.more += ["-DMONARC_CORES=2"]
    run.m.qemu += ["-smp", "2"]
    run.build(HERE / "programs/cores.c", "cores")
    run.emulate("cores", shift=None)
    run.receive("uart.txt", "cores", "cores.elf")
    rows = {row["name"]: row["calls"]
            for row in run.json("flat", "cores.elf", "cores/gmon.out")["functions"]}
    t.clean(f"{run.m.name}: two cores lose nothing",
            [] if rows.get("leaf") == 40000 and rows.get("work") == 2 else [str(rows)])


def test_machine(t, run):
    run.build(HERE / "programs/known.c", "known")
    said = run.emulate("known")
    test_stands_alone(t, run)
    test_ways(t, run, said)
    if "-DWITH_STACK" in run.m.more:
        test_stack(t, run)
    if "instrument" not in run.m.name:
        test_coverage(t, run)
    if run.m.name == "cortex-m3":
        test_debugger(t, run)
        test_libgcov(t, run)
    if run.m.name == "riscv32":
        test_cores(t, run)


# --- costs ------------------------------------------------------------------------------------------


def costs_of(run):
    run.build(HERE / "programs/cost.c", "cost", "-fno-inline")
    said = run.emulate("cost", shift=0)
    return {name: int(n) / 100 for name, n in re.findall(r"^([a-z ]+) (\d+)$", said, re.M)}


def code_bytes(run):
    """What the recorder adds to a program that records, and sends its memory by a writer."""
    run.compile(HERE / "programs/small.c", "small.o", "-Os", "-ffreestanding")
    board = EXAMPLE / run.m.board
    sizes = []
    for extra in ("-DNOTHING", "-DSMALL", "-DSMALL_AND_FRAMES"):
        run.compile(HERE / "programs/small.c", "small.o", "-Os", "-ffreestanding", extra)
        run.tool("gcc", *run.m.cpu, "-nostdlib", "-static", "-Wl,--gc-sections",
                 "-Wl,--no-warn-rwx-segments", f"-L{board}", "-T", run.m.script, "-Wl,-e,main",
                 "small.o", *run.recorder(), "-lgcc", "-o", "small.elf")
        sizes.append(int(run.tool("size", "small.elf").splitlines()[1].split()[0]))
    return sizes[1] - sizes[0], sizes[2] - sizes[0]


def test_costs(t, run, is_table):
    code, framed = code_bytes(run)
    costs = costs_of(run) if run.m.name.startswith("cortex-m3") else {}
    if is_table:
        print(f"# {run.m.name} | {code} | {framed} | {costs}")
    if run.m.name != "cortex-m3":
        return
    budgets = {"on": CALL_ON, "sites on": CALL_ON, "fib on": CALL_ON, "off": CALL_OFF, "fib off": CALL_OFF,
               "sample": SAMPLE}
    t.clean("cortex-m3: calls and samples cost what they may",
            [f"{name}: {costs.get(name)} instructions, {most} allowed"
             for name, most in budgets.items() if not 0 < costs.get(name, 0) <= most])
    t.clean("cortex-m3: the code is as small as it may be",
            [] if code <= CODE_BYTES else [f"{code} bytes, {CODE_BYTES} allowed"])


# --- programs of an operating system ----------------------------------------------------------------


def test_hosted(t, run, qemu):
    """Samples are taken by the loops themselves, so their shares are exact."""
    is_hosted = run.m.name != "armeb"
    board = HERE / "programs" / ("hosted_board.c" if is_hosted else "armeb_board.c")
    memory = "-DMONARC_MEMORY_BYTES=2097152" if is_hosted else "-DMONARC_MEMORY_BYTES=14336"
    parts = [part for part in PARTS if part != "ecos"]
    for part in parts:
        run.compile(RECORDER / f"{part}.c", f"monarc_{part}.o", *STRICT, memory)
    run.compile(board, "board.o", "-O2", memory)
    run.compile(HERE / "programs/known.c", "known.o", *PROGRAM, *run.m.instrument, memory,
                "-DWITHOUT_TIMER")
    low = "__executable_start" if is_hosted else "0x10000"
    link = ["-static", "-no-pie"] if is_hosted else ["-nostdlib", "-Wl,--be8", "-Ttext=0x10000"]
    run.tool("gcc", *run.m.cpu, *link, "known.o", "board.o", *[f"monarc_{p}.o" for p in parts],
             *[f"-Wl,--defsym=board_{name}={value}" for name, value in
               (("text_start", low), ("text_end", "etext"), ("stack_top", "0"))], "-o", "known.elf")
    said = run.say(qemu, "./known.elf")
    if is_hosted:
        (run.folder / "uart.txt").write_text(said)
    said = (run.folder / "uart.txt").read_text()
    run.receive("uart.txt", "uart")
    run.receive("memory.bin", "memory")
    t.clean(f"{run.m.name}: serial line and memory give the same",
            same_files(run, ["uart", "memory"]))
    t.clean(f"{run.m.name}: calls are what they were",
            wrong_calls(run, expected(said, "expect"), "uart/gmon.out"))
    t.clean(f"{run.m.name}: samples are where they were taken",
            wrong_shares(run, expected(said, "share"), "uart/gmon.out"))
    facts = run.json("info", "uart/gmon.out")["files"][0]
    order = "little" if "86" in run.m.name else "big"
    t.clean(f"{run.m.name}: the file is {order}-endian",
            [] if facts["byte_order"] == order else [facts["byte_order"]])
    if not is_hosted:
        theirs = run.tool("gprof", "-b", "known.elf", "uart/gmon.out")
        t.clean(f"{run.m.name}: gprof prints the same", differences(
            theirs, run.say(run.monarc, "gprof", "-b", "known.elf", "uart/gmon.out")))


# --- docs/embedded.md -------------------------------------------------------------------------------


def steps_of_the_guide():
    """(language, file name or "", text) of its blocks up to the last step."""
    text = (tap.ROOT / "docs/embedded.md").read_text().split("## What it does to memory")[0]
    for match in re.finditer(r"^( *)```(\w+) ?(\S*)\n(.*?)^ *```", text, re.M | re.S):
        body = "".join(line.removeprefix(match[1]) for line in match[4].splitlines(True))
        yield match[2], match[3], body


def test_guide(t, run):
    """Its ten steps, literally, in an empty folder; but for where the recorder is installed."""
    share = run.folder / "share"
    work = run.folder / "work"
    share.mkdir()
    work.mkdir()
    one_file(share)
    (run.folder / "monarc").symlink_to(run.monarc)
    for language, name, body in steps_of_the_guide():
        if name:
            (work / name).write_text(body)
        elif language == "sh":
            commands = body.replace("$(pkg-config --variable=embedded monarc-runtime)", str(share))
            run.say("sh", "-ec", f"PATH={run.folder}:$PATH\n{commands}", cwd=work)
    flat = run.say(run.monarc, "flat", "app.elf", "out/gmon.out", cwd=work)
    cover = run.say(run.monarc, "cover", "cover", cwd=work)
    t.clean("the guide's first profile counts every call",
            [] if re.search(r" 21891 .* fib +main\.c:\d+$", flat, re.M) else flat.splitlines())
    t.clean("the guide's coverage is there",
            [] if re.search(r" main\.c$", cover, re.M) else cover.splitlines())


def test_example(t, run):
    """examples/embedded, as its Makefile runs it."""
    copy = run.folder / "examples/embedded"
    for folder in ("examples/embedded", "runtime/embedded", "include"):
        shutil.copytree(tap.ROOT / folder, run.folder / folder)
    for board in ("cortex-m", "cortex-m0", "riscv", "riscv64", "aarch64"):
        said = run.say("make", "-s", "report", f"BOARD={board}", f"MONARC={run.monarc}", cwd=copy)
        run.say("make", "-s", "clean", cwd=copy)
        t.clean(f"the example runs on {board}",
                [] if re.search(r" 24000 .* crc_byte +main\.c:\d+$", said, re.M) else said.splitlines())


def missing_of(machine, *emulators):
    return [tool for tool in (machine.prefix + "gcc", machine.prefix + "gprof", *emulators)
            if not shutil.which(tool)]


def each(t, machine, emulator, test, args):
    if args.machines and machine.name not in args.machines:
        return
    missing = missing_of(machine, emulator)
    if missing:
        t.skip(machine.name, f"not installed: {', '.join(missing)}")
        return
    with tempfile.TemporaryDirectory(prefix="monarc-embedded-") as folder:
        run = Run(args, machine, folder)
        try:
            test(run)
        except (RuntimeError, OSError, subprocess.TimeoutExpired, StopIteration, KeyError) as error:
            t.clean(f"{machine.name}: every command works", [repr(error)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=str(tap.ROOT / "build/monarc"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("machines", nargs="*", metavar="MACHINE")
    args = parser.parse_args()
    args.monarc = os.path.abspath(args.monarc)
    t = tap.Tap()
    for machine in MACHINES:
        def one(run):
            if not args.table:
                test_machine(t, run)
            if "instrument" not in run.m.name and (args.table or run.m.name == "cortex-m3"):
                test_costs(t, run, args.table)
        each(t, machine, machine.qemu[0], one, args)
    if not args.machines and not args.table:
        each(t, MACHINES[0], MACHINES[0].qemu[0], lambda run: test_guide(t, run), args)
        each(t, MACHINES[0], MACHINES[0].qemu[0], lambda run: test_example(t, run), args)
    for name, prefix, cpu, qemu, instrument in HOSTED:
        machine = Machine(name, prefix, cpu, "", "", "", " ".join(instrument))
        if not args.table:
            each(t, machine, qemu, lambda run, qemu=qemu: test_hosted(t, run, qemu), args)
    t.end()


main()
