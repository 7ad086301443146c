#!/usr/bin/env python3
"""test_screens.py: every view of monarc tui, drawn without a terminal (screens.c) and held against goldens,
character by character and style by style: which columns there are, their figures, what keys do, what is said.
A golden has the first screen whole, and of each further one the rows that the keys changed, with their numbers.

The program is assembled from what stands here, so that addresses, lines and jumps are known and no compiler's version
matters; profiles, tracefiles and the recording are made by hand. MONARC_UPDATE=1 writes the goldens anew."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))

from harness import gmon  # noqa: E402,F401
from run_file import CUT, FILE, KERNEL, PERIOD, WAIT, Run  # noqa: E402

SCREENS = os.environ.get("SCREENS") or str(ROOT / "build/tests/tui/screens")
GOLDENS = ROOT / "tests/golden/tui"
MADE = 1_700_000_000  # when the sources were written; profiles are an hour younger

SOURCE = """\
/* A program of three functions. */
#include "part.h"

int helper(int x)
{
\tif (x > 2 && x < 9)
\t\treturn x + 1;
\treturn 0;
}

int never(void)
{
    return 7;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += helper(i) + part(i);
    return sum == 0 ? never() : 0; /* a line that is so long that it does not fit beside the figures */
}
"""
PART = "static inline int part(int x)\n{\n    return x * 3;\n}\n"

# (name, line of the function, ((line, instruction), ...)); lines below 0 are of part.h. Instructions are 4 bytes long.
NOP = "addq $1, %rax"
FUNCTIONS = [
    ("main", 16, [(17, NOP), (18, NOP), (19, NOP), (20, NOP), (-3, NOP), (-3, NOP), (20, "call helper\n.byte 0x90, 0x90, 0x90"),
                  (19, "jne main\n.byte 0x90, 0x90"), (21, "call *%rax\n.byte 0x90, 0x90"), (21, "jmp *%rax\n.byte 0x90, 0x90")]),
    ("helper", 4, [(5, NOP), (6, NOP), (6, "je 1f\n.byte 0x90, 0x90"), (7, NOP), (7, NOP), (7, "jmp 2f\n.byte 0x90, 0x90"),
                   (8, "1: " + NOP), (9, "2: ret\n.byte 0x90, 0x90, 0x90")]),
    ("never", 11, [(12, NOP), (13, NOP), (14, "ret\n.byte 0x90, 0x90, 0x90")]),
]
SAMPLES = {("main", 0): 2, ("main", 3): 10, ("main", 4): 40, ("main", 5): 38, ("main", 7): 110, ("helper", 1): 300,
           ("helper", 2): 60, ("helper", 3): 21, ("helper", 6): 9}


def assembly(folder, functions=FUNCTIONS):
    """The program's text, with line numbers and the places of its functions."""
    text = ['.file 0 "%s" "calc.c"' % folder, '.file 1 "calc.c"', '.file 2 "part.h"', ".text", ".globl _start"]
    entries = []
    for name, line, code in functions:
        text += [".p2align 4, 0x90", f".globl {name}", f".type {name}, @function", f"{name}:"]
        text += ["_start:"] if name == "main" else []
        for at, (of, instruction) in enumerate(code):
            text += [f".loc {2 if of < 0 else 1} {abs(of)}", f".L{name}{at}:", *instruction.split("\n")]
        text += [f".L{name}_end:", f".size {name}, . - {name}"]
        entries += [".uleb128 2", f'.asciz "{name}"', ".byte 1", f".byte {line}", f".quad {name}", f".quad .L{name}_end - {name}"]
    abbreviations = [  # code, tag, has children, (attribute, form)...
        (1, 0x11, 1, (0x03, 8), (0x1b, 8), (0x10, 0x17), (0x13, 0x0b), (0x11, 1), (0x12, 7)),
        (2, 0x2e, 0, (0x03, 8), (0x3a, 0x0b), (0x3b, 0x0b), (0x11, 1), (0x12, 7))]
    text += [".Lend:", '.section .debug_abbrev,"",@progbits', ".Labbrev:"]
    for code, tag, children, *pairs in abbreviations:
        text += [f".uleb128 {code}", f".uleb128 {tag}", f".byte {children}"]
        text += [f".uleb128 {a}\n.uleb128 {f}" for a, f in (*pairs, (0, 0))]
    text += [".byte 0", '.section .debug_line,"",@progbits', ".Llines:", '.section .debug_info,"",@progbits',
             ".long .Linfo_end - .Linfo", ".Linfo:", ".value 4", ".long .Labbrev", ".byte 8", ".uleb128 1",
             '.asciz "calc.c"', f'.asciz "{folder}"', ".long .Llines", ".byte 12", ".quad main", ".quad .Lend - main",
             *entries, ".byte 0", ".Linfo_end:"]
    return "\n".join(text) + "\n"


def changes(text):
    """Of screens one after the other, the first whole and what is different in the others: `row|text` of the screen and
    `row: styles`, `N:-` where there are none any more. What else is printed is there each time. With another number of
    rows a screen is whole again."""
    told, before, before_rows = [], {}, 0
    for screen in re.split(r"(?m)^(?==== )", text):
        head, *lines = screen.rstrip("\n").split("\n")
        if not head.startswith("==="):  # said before the first screen
            told += [head, *lines] if head else []
            continue
        behind = (i for i, line in enumerate(lines) if re.match(r"\d+: \d+-\d+ \d|cursor \d|edit /|over$|\(Reading", line))
        rows = next(behind, len(lines))
        now, others = {f"{i}|": line for i, line in enumerate(lines[:rows])}, []
        for line in lines[rows:]:
            styles = re.match(r"(\d+:)(.*)", line)
            if styles:
                now[styles[1]] = styles[2]
            else:
                others.append(line)
        if rows != before_rows:
            before, before_rows, head = {}, rows, f"{head} ({rows} rows)"
        told += [head, *(key + line for key, line in now.items() if before.get(key, "") != line),
                 *(f"{key}-" for key in before if key not in now), *others]
        before = now
    return "\n".join(told) + "\n"


def addresses(program):
    names = {}
    for line in subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines():
        at, kind, name = line.split()
        if kind in "Tt":
            names[name] = int(at, 16)
    return names


def profile(names, samples, calls):
    low = min(names[name] for name, *_ in FUNCTIONS)
    bins = [0] * 64
    for (name, at), count in samples.items():
        bins[(names[name] - low) // 4 + at] += count
    arcs = [(names[caller] + within if caller else 0, names[callee], count) for caller, within, callee, count in calls]
    return gmon([(low, low + 256, bins)], arcs)


TRACE = """\
SF:calc.c
FN:4,9,helper
FN:11,14,never
FN:16,22,main
FNDA:{helper},helper
FNDA:0,never
FNDA:1,main
DA:4,{helper}
DA:6,{helper}
BRDA:6,0,0,6
BRDA:6,0,1,4
BRDA:6,1,0,{taken}
BRDA:6,1,1,0
MCDC:6,2,t,6,0,x > 2
MCDC:6,2,f,4,0,x > 2
MCDC:6,2,t,6,1,x < 9
MCDC:6,2,f,{taken},1,x < 9
DA:7,{then}
DA:8,4
DA:11,0
DA:13,0
DA:16,1
DA:18,1
DA:19,11
BRDA:19,2,0,10
BRDA:19,2,1,1
DA:20,10
DA:21,{last}
end_of_record
SF:part.h
FN:1,4,part
FNDA:123456,part
DA:1,123456
DA:3,123456
end_of_record
SF:other.c
""" + "".join(f"DA:{line},5\n" for line in range(1, 41)) + "end_of_record\nSF:zz.c\n" + "".join(
    f"DA:{line},{line // 6}\n" for line in range(1, 7)) + "end_of_record\n"


@unittest.skipUnless(shutil.which("as") and shutil.which("ld"), "binutils are not installed")
class Screens(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        cls.folder = folder = Path(kept.name).resolve()
        (folder / "calc.c").write_text(SOURCE)
        (folder / "part.h").write_text(PART)
        for name, lines in ("other.c", 40), ("zz.c", 6):
            (folder / name).write_text("".join(f"line {line};\n" for line in range(1, lines + 1)))
        names = cls.build(folder)
        calls = [(None, 0, "main", 1), ("main", 24, "helper", 10), ("main", 36, "helper", 3)]
        (folder / "now.gmon").write_bytes(profile(names, SAMPLES, calls))
        before = {**SAMPLES, ("helper", 1): 120, ("never", 1): 50, ("main", 7): 111}
        (folder / "old.gmon").write_bytes(profile(names, before, [*calls, ("main", 40, "never", 2)]))
        # The growth of main() would be meant if it were asked about alone: of two functions it is not.
        (folder / "near.gmon").write_bytes(profile(names, {**SAMPLES, ("main", 7): 90}, calls))
        (folder / "calls.gmon").write_bytes(profile(names, {}, calls))
        (folder / "now.info").write_text(TRACE.format(helper=10, then=6, last=1, taken=6))
        (folder / "old.info").write_text(TRACE.format(helper=9, then=0, last=0, taken=0).replace("DA:8,4", "DA:8,0")
                                         .replace("DA:3,123456\n", ""))
        # An older build, whose lines stood two further down; never() had a line more, and main() no second piece of line 19.
        older = [(name, line + 2, [(of + 2 if of > 0 else of, text) for i, (of, text) in enumerate(code) if (name, i) != ("main", 7)])
                 for name, line, code in FUNCTIONS]
        older[2][2].insert(1, (14, NOP))
        (folder / "older").mkdir()
        (folder / "older/calc.c").write_text("\n\n" + SOURCE)
        before = {("main", 3): 30, ("helper", 1): 100, ("helper", 3): 200, ("never", 2): 70}
        (folder / "older.gmon").write_bytes(profile(cls.build(folder / "older", older), before, calls[:1]))
        cls.recording(folder, names)
        (folder / "folded").write_text("main;work 500\nmain;idle 100\n")
        for at in folder.iterdir():
            os.utime(at, (MADE, MADE))
        for at in folder.glob("*.gmon"):
            os.utime(at, (MADE + 3600, MADE + 3600))

    @staticmethod
    def build(folder, functions=FUNCTIONS):
        (folder / "calc.s").write_text(assembly(folder, functions))
        subprocess.run(["as", "--64", "-o", "calc.o", "calc.s"], cwd=folder, check=True)
        subprocess.run(["ld", "-Ttext=0x401000", "-o", "calc", "calc.o"], cwd=folder, check=True)
        return addresses(folder / "calc")

    @staticmethod
    def recording(folder, names):
        run = Run("./calc", user=900 * PERIOD, system=100 * PERIOD, stacks=1000, whole=990, start=(MADE + 3600) * 10**9)
        calc = run.object(FILE, str(folder / "calc"), low=0x401000, high=0x402000)
        kernel, wait, cut = run.object(KERNEL), run.object(WAIT), run.object(CUT)
        gone = run.object(FILE, "/nonexistent/libgone.so.1", low=0x1000, high=0x3000)
        shutil.copy(folder / "calc", folder / "plugin.so")
        plugin = run.object(FILE, str(folder / "plugin.so"), low=0x401000, high=0x402000)
        run.process(7, 1, calc, "calc", user=700 * PERIOD, system=100 * PERIOD, status=3 << 8)
        run.process(9, 7, calc, "calc", user=200 * PERIOD, status=0)
        run.process(11, 7, None, "sh", status=9)
        for process, tid, name, cpu in (0, 7, "calc", 600), (0, 8, "worker", 200), (1, 9, "calc", 200), (2, 11, "sh", 1):
            run.thread(process, tid, name, cpu * PERIOD)
        main, helper = names["main"], names["helper"]
        run.sample([(calc, main + 28), (calc, helper + 4)], 400)
        run.sample([(calc, main + 16)], 150)
        run.sample([(calc, main + 28), (kernel, 0)], 50)
        run.sample([(calc, main + 28), (calc, helper + 8)], 200, thread=1)
        run.sample([(calc, main + 12)], 120, thread=2)
        run.sample([(cut, 0), (gone, 0x1234)], 60, thread=2)
        run.sample([(calc, main), (wait, 7)], 19, thread=2)
        run.sample([(plugin, helper + 4)], 1, thread=3)
        run.write(folder / "run.monarc")

    def screens(self, golden, operands, keys, rows=20, columns=100):
        """Keys typed line by line, and the screen after each, are as in the golden."""
        done = subprocess.run([SCREENS, str(rows), str(columns), *operands], cwd=self.folder, input="\n".join(keys) + "\n",
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = changes(done.stdout.replace(str(self.folder), "FOLDER"))
        path = GOLDENS / f"{golden}.txt"
        if os.environ.get("MONARC_UPDATE"):
            path.write_text(text)
        self.assertEqual(text.split("\n"), path.read_text().split("\n"))

    def test_file_of_another_profiler(self):
        """What has no lines whatever the program was compiled with is not to be compiled anew."""
        self.screens("imported", ["folded"], ["", "3", "4"])

    def test_functions(self):
        """Orders there and back, columns that are hidden, chosen and left out, a search and a filter."""
        self.screens("functions", ["calc", "now.gmon"],
                     ["", "s", "s", "s", "S", "c", "v v", "c", "=20x50", "=8x40", "=20x100", "/ma", "\\r", "n", "N", "f!he", "\\r",
                      "f", "~\\r", "f(\\r", "/(\\r", "/zz\\r", "x", "]", "[", "$", "@", "i", "?", "{", "}", "v", "^", "q"])

    def test_calls(self):
        """Callers above, callees below, and the way there and back."""
        self.screens("calls", ["calc", "now.gmon"], ["2", "v", "\\r", "^\\r", "<", "<", ">", "^^^\\r", "2", "/main\\r", "a", "<", "1", "5",
                                                     "z", "n"])

    def test_calls_alone(self):
        self.screens("calls-alone", ["calc", "calls.gmon"], ["", "s", "2", "a", "4"])

    def test_source(self):
        """A source with time and calls; jumps to what is hot, and the code and places of lines."""
        self.screens("source", ["calc", "now.gmon"],
                     ["a", "m", "m", "M", "p", "P", "u", "t", "d", "]", "[", "[", "6", "vv", "\\r", "<", "$", "4", "s", "s", "\\r", "m",
                      "\\r", "e", "c", " ", "c", "/sum .=\\r", "6", "vv", "<", "/int i\\r", "6", "<", "/return x\\r", "6", "<", "/return 0\\r", "6",
                      "<", "/return sum\\r", "6", "=9x48", "$", "@6", "f", "s", "<", "=20x100", "@/int\\r",
                      "n", "n", "N", "N", "h", "l"])

    def test_source_that_changed(self):
        os.utime(self.folder / "part.h", (MADE + 7200, MADE + 7200))
        (self.folder / "calc.c").rename(self.folder / "moved.c")
        try:
            self.screens("source-changed", ["calc", "now.gmon"], ["4", "\\r", "<", "v\\r", "e"])
        finally:
            (self.folder / "moved.c").rename(self.folder / "calc.c")
            os.utime(self.folder / "part.h", (MADE, MADE))

    def test_base(self):
        self.screens("base", ["calc", "now.gmon", "--", "calc", "old.gmon"],
                     ["", "s", "s", "S", "vvv2", "<", "@a", "d", "d", "D", "6", "4", "i", "=20x60", "1"])

    def test_base_within_chance(self):
        self.screens("base-chance", ["calc", "now.gmon", "--", "calc", "near.gmon"], [""])

    def test_base_of_another_build(self):
        """Lines of a function that looks as it did are compared wherever it stands; those of others are not."""
        os.utime(self.folder / "older.gmon", (MADE - 3600, MADE - 3600))
        self.screens("base-older", ["calc", "now.gmon", "--", "older/calc", "older.gmon"],
                     ["", "@a", "v" * 12, "d", "d", "D", "4"])

    def test_coverage(self):
        """Files and sources of coverage alone; what never ran, what was not taken."""
        self.screens("coverage", ["now.info"],
                     ["", "s", "s", "S", "\\r", "u", "u", "U", "t", "T", "p", "m", "6", "1", "s", "a", "2", "=20x52", "4", "f^part\\r", "c",
                      "vv ", "c", "i", "z"])

    def test_what_cannot_be_read(self):
        """Nothing is shown where coverage, or that of the base, is not there."""
        for operands in (["gone.info"], ["now.info", "--", "gone.info"], ["calc", "now.gmon", "gone.info"]):
            done = subprocess.run([SCREENS, "20", "100", *operands], cwd=self.folder, input="\n", capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, operands)
            self.assertIn("gone.info", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_what_was_left_out(self):
        """The page of notes has the sentences of the report, so that a share is not taken for that of all lines."""
        (self.folder / "left.info").write_text(
            (self.folder / "now.info").read_text() + "TN:\nSF:/nonexistent/gone.c\nDA:1,1\nDA:2,0\nend_of_record\n")
        done = subprocess.run([SCREENS, "20", "100", "left.info"], cwd=self.folder, input="i\n", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("left out: 2 lines of 1 source that is not here (gates count them as missed)", done.stdout)

    def test_coverage_beside_a_base(self):
        self.screens("coverage-base", ["now.info", "--", "old.info"], ["", "$\\r", "<", "@\\r", "d", "d", "D", "c", "4"])

    def test_coverage_that_was_lost(self):
        self.screens("coverage-lost", ["old.info", "--", "now.info"], ["@\\r", "d", "d"], rows=12)

    def test_lines_of_one_number(self):
        """The way back from a line leads to that of the other source, and forward again."""
        self.screens("lines", ["calc", "now.gmon"], ["a@vv6", "4$\\r@vv6", "<", "<", "<", ">", ">", ">"], rows=8)

    def test_narrow(self):
        """An object's name goes where that of the function would have less room than it."""
        self.screens("narrow", ["run.monarc"], ["=10x66", "=10x60", "=10x59", "=10x32"])

    def test_both(self):
        self.screens("both", ["calc", "now.gmon", "now.info", "--", "calc", "old.gmon", "old.info"],
                     ["", "s", "s", "s", "s", "$", "@", "a", "4", "\\r", "=20x160", "1", "4", "1fhel|part\\r", "f~!part\\r",
                      "f~^x\\r"])

    def test_parts(self):
        """Programs, processes, threads and objects of a recording; figures are then of the part alone."""
        self.screens("parts", ["run.monarc"],
                     ["", "5", "v\\r", "i", "5vv\\r", "5vvv\\r", "z", "5/worker\\r", "\\r", "s", "2", "5$\\r", "a", "4", "i", "z", "z"],
                     rows=24)


if __name__ == "__main__":
    unittest.main(verbosity=2)
