#!/usr/bin/env python3
"""deviations.py: each way in which `monarc gprof` means to differ from GNU gprof 2.40.

The ids are those of docs/compat.md; a row without a case here, or a case without a row, is a failure.
GNU gprof is not run: what it does in these cases rests on memory it must not read, or is an error.
What must be the same is tested by tests/oracle. MONARC is the program, CC a compiler for x86-64.
"""

import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "checks"), str(ROOT / "tests" / "oracle")]
import profiles  # noqa: E402
import tap  # noqa: E402

MONARC = os.path.abspath(os.environ.get("MONARC", ROOT / "build" / "monarc"))
CC = shlex.split(os.environ.get("CC", "cc"))

# The string table follows the order of the symbols: `other.isra.1` comes after `inner.constprop.0`.
# Without .data the linker's _end would be the last symbol of .text.
PROGRAM = """
        .text
        .macro function name
        .type "\\name", @function
"\\name": .fill 64, 1, 0x90
        .endm
        .globl _start, last
        function _start
        function inner.constprop.0
        function other.isra.1
        function last
        .data
        .quad 1
        .section .note.GNU-stack,"",@progbits
"""


class Bench:
    """A folder with a program of four functions, and profiles of it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "program.s").write_text(PROGRAM)
        subprocess.run([*CC, "-nostdlib", "-static", "-no-pie", "program.s", "-o", "program"],
                       cwd=folder, check=True, stdin=subprocess.DEVNULL)
        self.image = profiles.Image(self.folder / "program", lines=False)
        self.low = self.image.addr("_start")

    def profile(self, name, **fields):
        made = profiles.Profile(self.image)
        hits = {self.low + 8: 5, self.low + 64 + 8: 3, self.low + 192 + 8: 7}
        made.histogram(self.low, self.low + 256, 64, hits, **fields)
        made.arc("_start", "last", 4)
        (self.folder / name).write_bytes(made.gnu())
        return name

    def gprof(self, *arguments, stdout=subprocess.PIPE):
        return subprocess.run([MONARC, "gprof", *arguments], cwd=self.folder, check=False,
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              text=True, env={**os.environ, "LC_ALL": "C"}, timeout=600)


def seconds_of(report):
    """Self seconds by function, of a flat profile."""
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +([\d.]+) .*?(\S+)$", report, re.M)
    return {name: seconds for seconds, name in rows}


def last_symbol(b):
    found = seconds_of(b.gprof("-b", "-p", "program", b.profile("a.gmon")).stdout)
    return [] if found.get("last") == "0.07" else [f"{found}"]


def dot_groups(b):
    found = seconds_of(b.gprof("-b", "-p", "program", b.profile("a.gmon")).stdout)
    kept = found.get("inner.constprop.0") == "0.03" and "other.isra.1" not in found
    return [] if kept else [f"{found}"]


def per_call_unit(b):
    done = b.gprof("-b", "-p", "program", b.profile("rate.gmon", rate=0))
    units = re.findall(r"(\S*)/call", done.stdout)
    good = done.returncode == 0 and len(units) == 2 and set(units) <= {"s", "ms", "us", "ns", "ps",
                                                                       "fs", "as"}
    return [] if good else [done.stdout]


def own_words(b):
    help_text, version = b.gprof("-h"), b.gprof("--version")
    full = b.gprof("program", b.profile("a.gmon")).stdout
    brief = b.gprof("-b", "program", "a.gmon").stdout
    found = []
    if help_text.returncode or "--flat-profile" not in help_text.stdout or help_text.stderr:
        found.append("-h")
    if version.returncode or "monarc" not in version.stdout:
        found.append("--version")
    if len(full) <= len(brief) or not full.startswith(brief[:brief.index("last")]):
        found.append("explanations")
    return found


def one_line(b):
    done = b.gprof("-b", "program", b.profile("a.gmon"),
                   b.profile("other.gmon", dimension=b"cycles", abbrev=b"c"))
    good = done.returncode == 1 and done.stderr.count("\n") == 1 and "cycles" in done.stderr
    return [] if good else [done.stderr]


def write_errors(b):
    b.profile("a.gmon")
    with open("/dev/full", "w") as full:
        done = b.gprof("-b", "program", "a.gmon", stdout=full)
    good = done.returncode != 0 and "No space left on device" in done.stderr
    return [] if good else [f"status {done.returncode}: {done.stderr}"]


def deep_chains(b):
    """A call chain 300,000 functions deep. The names come from a symbol map (-S), whose last one
    ends with .text, before it starts: it gets no calls."""
    number = 300_000
    names = "".join(f"{0x1000 + 16 * i:016x} T f{i}\n" for i in range(number))
    (b.folder / "map").write_text(names)
    arcs = b"".join(struct.pack("<BQQI", 1, 0x1000 + 16 * i + 4, 0x1000 + 16 * (i + 1), 1)
                    for i in range(number - 1))
    (b.folder / "deep.gmon").write_bytes(b"gmon" + struct.pack("<I12x", 1) + arcs)
    done = b.gprof("-b", "-q", "-S", "map", "program", "deep.gmon")
    good = done.returncode == 0 and done.stdout.count(f"f{number - 2} ") == 2
    return [] if good else [f"status {done.returncode}: {done.stderr[:200]} {done.stdout[:200]}"]


def directory_profile(b):
    done = b.gprof("-b", "program", ".")
    return [] if (done.returncode, done.stderr) == (1, ".: Is a directory\n") else [done.stderr]


# What looks like a call of `last` is half of a number; the real call is that of `inner`.
CALL_BYTES = """
        .globl _start
        .type _start, @function
        .type inner, @function
        .type last, @function
_start: .byte 0x48, 0xb8, 0, 0xe8
        .long last - . - 4
        .byte 0, 0
        call inner
        hlt
inner:  .fill 64, 1, 0x90
last:   .fill 64, 1, 0x90
        .data
        .quad 1
        .section .note.GNU-stack,"",@progbits
"""


def call_bytes(b):
    found = []
    (b.folder / "bytes.s").write_text(CALL_BYTES)
    for place in 0x400000, 0x7f00000000:
        subprocess.run([*CC, "-nostdlib", "-static", "-no-pie", f"-Wl,-Ttext={place:#x}", "bytes.s",
                        "-o", "bytes"], cwd=b.folder, check=True, stdin=subprocess.DEVNULL)
        image = profiles.Image(b.folder / "bytes", lines=False)
        made = profiles.Profile(image)
        made.histogram(place, place + 160, 40, {place: 1})
        made.arc("inner", "_start", 1)
        (b.folder / "bytes.gmon").write_bytes(made.gnu())
        done = b.gprof("-b", "-q", "-c", "bytes", "bytes.gmon")
        callees = re.findall(r"(?m)^ +0\.00 +0\.00 +0/0 +(\w+)|^ +0 +(\w+)", done.stdout)
        names = {name for pair in callees for name in pair if name}
        if done.returncode or "inner" not in names or "last" in names:
            found.append(f"at {place:#x}: {done.stderr}{done.stdout}")
    return found


def source_overwritten(b):
    """one.c-ann leads to one.c itself."""
    text = "int two(void);\nint main(void)\n{\n    return two();\n}\n"
    (b.folder / "one.c").write_text(text)
    (b.folder / "two.c").write_text("int two(void)\n{\n    return 0;\n}\n")
    (b.folder / "one.c-ann").symlink_to("one.c")
    subprocess.run([*CC, "-g", "-no-pie", "one.c", "two.c", "-o", "both"], cwd=b.folder,
                   check=True, stdin=subprocess.DEVNULL)
    made = profiles.Profile(profiles.Image(b.folder / "both", lines=False))
    made.arc("_start", "main", 7).arc("main", "two", 9)
    (b.folder / "both.gmon").write_bytes(made.gnu())
    done = b.gprof("-b", "-A", "-y", "both", "both.gmon")
    found = []
    if done.returncode != 1 or "one.c-ann: is a source file" not in done.stderr or done.stdout:
        found.append(f"status {done.returncode}: {done.stderr}")
    if (b.folder / "one.c").read_text() != text:
        found.append("one.c was overwritten")
    if "           9 -> {" not in (b.folder / "two.c-ann").read_text():
        found.append("two.c-ann was not written")
    return found


def map_without_function(b):
    """GNU gprof ends with SIGSEGV."""
    b.profile("a.gmon")
    found = []
    for text in "a.o:last\n", "a.o: last\nb.o:\n", "":
        (b.folder / "files.map").write_text(text)
        done = b.gprof("-b", "-R", "files.map", "program", "a.gmon")
        if done.returncode != 1 or done.stdout or "unable to parse mapping file" not in done.stderr:
            found.append(f"{text!r}: status {done.returncode}: {done.stdout}{done.stderr}")
    return found


def map_with_one_file_twice(b):
    """What GNU gprof prints changes with MALLOC_PERTURB_."""
    b.profile("a.gmon")
    (b.folder / "files.map").write_text("a.o: _start\na.o: inner.constprop.0\nb.o: last\n")
    done = b.gprof("-b", "-R", "files.map", "program", "a.gmon")
    return [] if (done.returncode, done.stdout) == (0, "a.o\nb.o\n") else [f"{done}"]


def graph_of(b, names, calls):
    """A symbol map and a profile of functions of 16 bytes each."""
    (b.folder / "map").write_text("".join(f"{0x1000 + 16 * i:016x} T {name}\n"
                                          for i, name in enumerate(names)))
    arcs = b"".join(struct.pack("<BQQI", 1, 0x1004 + 16 * caller, 0x1000 + 16 * callee, count)
                    for caller, callee, count in calls)
    (b.folder / "graph.gmon").write_bytes(b"gmon" + struct.pack("<I12x", 1) + arcs)
    return ["-S", "map", "program", "graph.gmon"]


def closed_chains(b):
    """Two functions of one name: GNU gprof links the ends of what their specs made, and prints on
    and on."""
    names = ["f0", "twin", "f1", "twin", "f2", "end"]
    done = b.gprof("-b", "-r", "-k", "f0/f1", "-k", "twin/f2", *graph_of(b, names, []))
    printed = done.stdout.split()
    good = done.returncode == 0 and printed[-6:] == names and len(printed) < 20
    return [] if good else [f"status {done.returncode}: {done.stdout[:300]}"]


def busy_arcs(b):
    """Four functions call each other and 320 others, which call them: GNU gprof sets the four
    aside, notes the arcs among them twice, and overruns its array."""
    busy, all_functions = range(4), range(324)
    calls = [(i, j, 9) for i in busy for j in all_functions if i != j]
    calls += [(j, i, 9) for i in busy for j in all_functions if j >= 4]
    done = b.gprof("-b", "-r", *graph_of(b, [f"f{i}" for i in range(325)], calls))
    names = done.stdout.split()
    good = done.returncode == 0 and len(names) == len(set(names)) and len(names) >= 324
    return [] if good else [f"status {done.returncode}, {len(names)} names: {done.stderr}"]


def traces(b):
    """-d says its level and nothing else that the report does not have without it."""
    plain = b.gprof("-b", "program", b.profile("a.gmon")).stdout
    found = []
    for option, level in ("-d", 0xffffffff), ("-d16", 17), ("--debug=4096", 4097):
        done = b.gprof("-b", option, "program", "a.gmon")
        if (done.returncode, done.stdout) != (0, f"[main] debug-level={level:#x}\n{plain}"):
            found.append(f"{option}: {done.stdout[:200]}{done.stderr}")
    return found


def summed(b, *arguments):
    """Status, and the bytes of gmon.sum."""
    done = b.gprof("-b", "-s", *arguments)
    return done.returncode, (b.folder / "gmon.sum").read_bytes()


def sum_wraps(b):
    made = profiles.Profile(b.image)
    made.histogram(b.low, b.low + 256, 64, {b.low + 8: 0xffff, b.low + 64 + 8: 3})
    made.arc("_start", "last", 0xffffffff)
    (b.folder / "full.gmon").write_bytes(made.gnu())
    (b.folder / "bsd.out").write_bytes(made.bsd())
    direct = b.gprof("-b", "-p", "-q", "program", "full.gmon", "full.gmon").stdout
    status, _ = summed(b, "program", "full.gmon", "full.gmon")
    again = b.gprof("-b", "-p", "-q", "program", "gmon.sum").stdout
    narrow = b.gprof("-b", "-s", "-Ob", "program", "bsd.out", "bsd.out")
    found = [] if status == 0 and again == direct and "1310.70" in again else [again]
    if "8589934590" not in again:
        found.append("calls wrap")
    if narrow.returncode != 1 or "65535 samples a bin" not in narrow.stderr:
        found.append(f"-Ob: status {narrow.returncode}: {narrow.stderr}")
    return found


def sum_spare(b):
    status, data = summed(b, "program", b.profile("a.gmon"))
    return [] if not status and data[:20] == b"gmon\1\0\0\0" + bytes(12) else [repr(data[:20])]


def sum_whole(b):
    """A sum that cannot be written leaves the old one."""
    status, data = summed(b, "program", b.profile("a.gmon"))
    found = [] if not status else ["the first sum"]
    done = b.gprof("-b", "-s", "-Ob", "program", b.profile("odd.gmon", dimension=b"cycles"))
    if done.returncode != 1 or (b.folder / "gmon.sum").read_bytes() != data:
        found.append(f"status {done.returncode}: {done.stderr}")
    if [path for path in b.folder.iterdir() if path.name.startswith("gmon.sum") and
            path.name != "gmon.sum"]:
        found.append("a temporary file was left")
    return found


def eleventh_block(b):
    """Twelve blocks in one function without lines, the last of them new in a second record."""
    start = b.image.addr("last")
    made = profiles.Profile(b.image)
    made.arc("_start", "last", 4)
    made.blocks([(start + i, 100 + i) for i in range(11)]).blocks([(start + 11, 5), (start, 7)])
    (b.folder / "blocks.gmon").write_bytes(made.gnu())
    done = b.gprof("-b", "-l", "-C", "program", "blocks.gmon")
    counts = [int(n) for n in re.findall(r"last:\S+ (\d+) executions", done.stdout)]
    wanted = [4, 107, *range(101, 111), 5]
    return [] if counts == wanted else [f"{counts} instead of {wanted}: {done.stderr}"]


CASES = {
    "last-symbol": last_symbol,
    "dot-groups": dot_groups,
    "per-call-unit": per_call_unit,
    "own-words": own_words,
    "one-line-messages": one_line,
    "write-errors": write_errors,
    "deep-chains": deep_chains,
    "directory-profile": directory_profile,
    "call-bytes": call_bytes,
    "source-overwritten": source_overwritten,
    "map-without-function": map_without_function,
    "map-with-one-file-twice": map_with_one_file_twice,
    "closed-chains": closed_chains,
    "busy-arcs": busy_arcs,
    "traces": traces,
    "sum-wraps": sum_wraps,
    "sum-spare": sum_spare,
    "sum-whole": sum_whole,
    "eleventh-block": eleventh_block,
}
ELSEWHERE = {"function-descriptors": "tests/cross/run.py",
             "block-number": "tests/oracle/deviations.py",
             "backward-calls": "tests/oracle/deviations.py",
             "line-miscount": "tests/oracle/deviations.py",
             **{name: "tests/cli/test_gcov_dump.py" for name in (
                 "other-versions", "dump-damage", "dump-proposal", "dump-long-names")},
             **{name: "tests/cli/test_gcov_tool.py" for name in (
                 "tool-values", "tool-lost-values", "tool-other-build", "tool-damage",
                 "tool-normalize", "tool-weight-zero", "tool-overlap", "tool-stream")},
             **dict.fromkeys(["gcov-versions", "gcov-cut-counters", "gcov-cut-notes",
                              "gcov-mismatch", "gcov-words", "gcov-nul", "gcov-paths",
                              "clang-lines", "gcov-conditions"], "tests/cli/test_gcov.py"),
             **dict.fromkeys(["gcov-full-disk", "gcov-no-file", "packed-debug"], "tests/cli/test_hostile.py"),
             **dict.fromkeys(["sprof-low", "sprof-times", "sprof-twins", "sprof-load",
                              "sprof-merged", "sprof-words"], "tests/cli/test_sprof.py"),
             "gcov-unread": "tests/faults/test_faults.py",
             "gcov-proposal": "tests/cli/test_arcs.py"}


def main():
    t = tap.Tap()
    text = (ROOT / "docs" / "compat.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M))
    tested = set(CASES) | set(ELSEWHERE)
    t.clean("docs/compat.md and the tests list the same deviations",
            [f"{name}: only in one of the two" for name in sorted(documented ^ tested)])
    if os.uname().machine != "x86_64":
        for name in CASES:
            t.skip(name, "the program is written in x86-64 assembly")
        t.end()
    folder = tempfile.mkdtemp(prefix="monarc-compat-")
    try:
        bench = Bench(folder)
        for name, case in CASES.items():
            t.clean(name, case(bench))
    finally:
        shutil.rmtree(folder)
    t.end()


main()
