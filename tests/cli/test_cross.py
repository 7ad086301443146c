#!/usr/bin/env python3
"""test_cross.py: `monarc cover --cross A B`: counts of two compilers side by side, and the laws that one of them breaks.

Tracefiles with counts that are wrong on purpose, a program by gcc and clang, and programs that csmith makes."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, monarc
from parts import load_tests, slow
from test_cover_llvm import VERSIONS

SOURCE = """\
int f(int n)
{
    int a = n;
    a = a + 1;
    g(a);
    a = a * 2;
    if (a)
        a = 3;
    a = 4;
    return a;
    a = 5;
l:
    a = 6; /* a label is before */
    /* nothing */

    a = 7;
    return a;
}
"""
RIGHT = {2: 5, 3: 5, 4: 5, 5: 5, 6: 5, 7: 5, 8: 2, 9: 5, 10: 5, 11: 0, 13: 0, 16: 0, 17: 0}
CLANG = max(VERSIONS, default=None)


class Cross(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-cross-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def trace(self, name, lines):
        path = self.folder / "s.c"
        path.write_text(SOURCE)
        (self.folder / name).write_text(f"SF:{path}\n" + "".join(f"DA:{k},{v}\n" for k, v in lines.items()) +
                                        "end_of_record\n")

    def cross(self, *operands):
        return monarc("cover", "--cross", *operands, cwd=self.folder)

    def test_equal_counts(self):
        self.trace("a.info", RIGHT)
        self.trace("b.info", {k: v for k, v in RIGHT.items() if k != 2} | {18: 5, 12: 5})
        done = self.cross("a.info", "b.info")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode(), "Sources  1 compared: 12 lines have code in both, 0 counts differ\n"
                         "         1 lines have code in a.info alone, 2 in b.info alone\n")

    @slow
    def test_each_law(self):
        """Who is wrong, and by which law; a count that no law is about is a difference alone."""
        said = {
            (4, 4): "lines 3 and 4 are one block, 5 and 4", (6, 6): "lines 5 and 6 follow each other, 5 and 6",
            (11, 1): "lines 10 and 11 follow each other, the first is a jump, 5 and 1", (8, 1): None, (13, 1): None,
            (16, 1): "lines 16 and 17 are one block, 1 and 0", (5, 4): "lines 4 and 5 are one block, 5 and 4",
            (7, 6): "lines 6 and 7 are one block, 5 and 6", (9, 4): "lines 9 and 10 are one block, 4 and 5"}
        self.trace("a.info", RIGHT)
        for (line, count), law in said.items():
            self.trace("b.info", RIGHT | {line: count})
            for names in ("a.info", "b.info"), ("b.info", "a.info"):
                with self.subTest(line=line, names=names):
                    done = self.cross(*names)
                    self.assertEqual((done.returncode, done.stderr), (1, b""))
                    rows = [row for row in done.stdout.decode().splitlines() if "s.c:" in row]
                    self.assertEqual(len(rows), 1)
                    self.assertIn(f"s.c:{line}" + (f"  b.info breaks a law: {law}" if law else ""), rows[0])
                    self.assertEqual(rows[0].count("breaks"), bool(law))
        self.trace("b.info", RIGHT | {6: 4})  # less behind a call is no breach, but more before an `if` is
        self.assertIn(b"lines 6 and 7 are one block, 4 and 5", self.cross("a.info", "b.info").stdout)

    def test_json(self):
        """Says what the text says."""
        self.trace("a.info", RIGHT)
        self.trace("b.info", RIGHT | {4: 4, 8: 1, 18: 5})
        done = self.cross("--json", "-", "a.info", "b.info")
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        found = json.loads(done.stdout)
        check_schema(self, "cross", found)
        self.assertEqual(found["sides"], ["a.info", "b.info"])
        self.assertEqual(found["summary"],
                         {"sources": 1, "lines": 13, "differ": 2, "alone": [0, 1], "unread_sources": 0})
        law = {"law": "block", "lines": [3, 4], "counts": [5, 4]}
        self.assertEqual([(line["line"], line["counts"], line["breaches"]) for line in found["lines"]],
                         [(4, [5, 4], [None, law]), (8, [2, 1], [None, None])])
        self.assertEqual(self.cross("--json", "x.json", "--quiet", "a.info", "b.info").stdout, b"")
        self.assertEqual(json.loads((self.folder / "x.json").read_bytes()), found)
        done = self.cross("--lcov", "x.info", "a.info", "b.info")
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"monarc: what two compilers count is written as text and json, not as lcov\n"))

    def test_what_cannot_be_compared(self):
        self.trace("a.info", RIGHT)
        (self.folder / "b.info").write_text("SF:/other.c\nDA:1,1\nend_of_record\n")
        done = self.cross("a.info", "b.info")
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"monarc: a.info and b.info have no source in common\n"))
        self.assertEqual(self.cross("a.info").returncode, 2)
        (self.folder / "b.info").write_text("SF:/x\nDA:what\nend_of_record\n")
        self.assertEqual(self.cross("a.info", "b.info").returncode, 2)

    def build(self, source, *options):
        for name, command in (("gcc", ["gcc", "--coverage"]),
                              ("clang", [f"clang-{CLANG}", "-fprofile-instr-generate", "-fcoverage-mapping"])):
            (self.folder / name).mkdir(exist_ok=True)
            subprocess.run([*command, "-w", "-O0", "-g", *options, "-o", "prog", source], cwd=self.folder / name,
                           check=True, capture_output=True)
            subprocess.run(["prlimit", "--cpu=5", "./prog"], cwd=self.folder / name,  # some of csmith never end
                           env={"LLVM_PROFILE_FILE": "p.profraw", "PATH": os.environ["PATH"]}, capture_output=True,
                           check=True)

    @slow
    @unittest.skipUnless(CLANG, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
    def test_gcc_and_clang(self):
        (self.folder / "p.c").write_text("""\
int f(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3)
            continue;
        sum += i;
        sum++;
    }
    return sum;
}
int main(void)
{
    int n = f(10);
    n += f(3);
    return n > 1000;
}
""")
        self.build(self.folder / "p.c")
        for names in ("gcc", "clang"), ("gcc", "gcc", "clang/prog", "clang/p.profraw"):
            done = self.cross(*names)
            rows = [row for row in done.stdout.decode().splitlines() if "p.c:" in row]
            self.assertEqual([re.search(r":(\d+)", row)[1] for row in rows], [], done.stdout)
            self.assertIn(b"1 compared: ", done.stdout)

    @slow
    @unittest.skipUnless(CLANG and shutil.which("csmith") and Path("/usr/include/csmith/csmith.h").exists(),
                         "no clang, or no csmith (packages csmith, libcsmith-dev)")
    def test_programs_of_csmith(self):
        """Both agree on all lines but those whose reason docs/coverage.md lists, and neither breaks a law."""
        seen = lines = differ = 0
        for seed in range(1, 200):
            if seen == 20:
                break
            subprocess.run(["csmith", "--seed", str(seed), "--max-funcs", "4", "-o", "p.c"], cwd=self.folder, check=True)
            for name in ("gcc", "clang"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            try:
                self.build(self.folder / "p.c", "-I/usr/include/csmith")
            except subprocess.CalledProcessError:
                continue
            done = self.cross("gcc", "clang")
            self.assertEqual(done.stderr, b"")
            self.assertNotIn(b"breaks a law", done.stdout, f"seed {seed}")
            both, other = re.search(rb"compared: (\d+) lines have code in both, (\d+) counts", done.stdout).groups()
            seen, lines, differ = seen + 1, lines + int(both), differ + int(other)
        self.assertEqual(seen, 20)
        self.assertLess(differ, lines / 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
