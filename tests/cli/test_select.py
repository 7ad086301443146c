"""Selecting by place, threads of a recording, and static functions that share a name."""

import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc, monarc_json

CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-O1", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-sanitize=all",
         "-fno-stack-protector", "-fno-inline", "-w"]
HEAD = "#define KEEP __attribute__((noinline, noclone))\n"
ONE = HEAD + """KEEP static int helper(int x)
{
    __asm__ volatile("nop");
    return x + 1;
}
KEEP int parse(int x)
{
    __asm__ volatile("nop;nop");
    return helper(x) * 3;
}
int other(int x);
void _start(void) { parse(other(7)); for (;;) __asm__ volatile(""); }
"""
TWO = HEAD + """KEEP static int helper(int x)
{
    __asm__ volatile("nop;nop");
    return x + 2;
}
KEEP int other(int x)
{
    return helper(x) * 4;
}
"""


class Select(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.top = Path(cls.temporary.name)
        (cls.top / "deep").mkdir()
        (cls.top / "one.c").write_text(ONE)
        (cls.top / "deep/two.c").write_text(TWO)
        subprocess.run([*CC, *FLAGS, "-o", "prog", "one.c", "deep/two.c"], cwd=cls.top, check=True)
        symbols = [line.split() for line in subprocess.run(
            [*NM, "-S", "prog"], cwd=cls.top, check=True, capture_output=True,
            text=True).stdout.splitlines()]
        at = [(int(s[0], 16), int(s[1], 16)) for s in symbols if len(s) == 4 and s[2] in "tT"]
        low, high = min(a for a, _ in at) & ~1, (max(a + n for a, n in at) + 1) & ~1
        (cls.top / "gmon.out").write_bytes(gmon([(low, high, [2] * ((high - low) // 2))]))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def names(self, *options, command="flat", key="functions"):
        result = monarc_json(command, "prog", *options, cwd=self.top)
        check_schema(self, command, result)
        return [(r["name"], Path(r.get("source") or "").name) for r in result[key]]

    def test_static_functions_say_which_file(self):
        rows = self.names()
        self.assertEqual({r for r in rows if r[0] == "helper"},
                         {("helper", "one.c"), ("helper", "two.c")})
        self.assertEqual({r[1] for r in rows if r[0] != "helper"}, {""})
        text = monarc("flat", "prog", cwd=self.top).stdout.decode()
        self.assertRegex(text, r"helper \(one\.c\) +one\.c:\d+\n")
        self.assertRegex(text, r"helper \(two\.c\) +two\.c:\d+\n")
        self.assertRegex(text, r" parse +one\.c:\d+\n")
        graph = monarc("graph", "prog", cwd=self.top).stdout.decode()
        self.assertIn("helper (two.c)", graph)

    def test_file(self):
        self.assertEqual(sorted(self.names("--select", "two.c")),
                         [("helper", "two.c"), ("other", "")])
        self.assertEqual(self.names("--select", "deep/two.c"), self.names("--select", "two.c"))
        self.assertEqual(self.names("--select", "wo.c"), [])
        both = self.names("--select", "two.c", "--select", "one.c")
        self.assertEqual(sorted(both), sorted(self.names()))

    def test_function(self):
        self.assertEqual(self.names("--select", "one.c:helper"), [("helper", "one.c")])
        self.assertEqual(self.names("--select", "one.c:other"), [])

    def test_line(self):
        line = ONE.splitlines().index("    return helper(x) * 3;") + 1
        self.assertEqual(self.names("--select", f"one.c:{line}"), [("parse", "")])

    def test_lines(self):
        line = ONE.splitlines().index("    return helper(x) * 3;") + 1
        rows = monarc_json("lines", "prog", "--select", f"one.c:{line}", cwd=self.top)["lines"]
        self.assertEqual([(Path(r["file"]).name, r["line"]) for r in rows], [("one.c", line)])
        rows = monarc_json("lines", "prog", "--select", "two.c:helper", cwd=self.top)["lines"]
        self.assertEqual({(r["name"], Path(r["file"]).name) for r in rows},
                         {("helper", "two.c")})

    def test_export(self):
        """Functions on the paths that remain; calls were not counted, so each path is one function."""
        line = ONE.splitlines().index("    return helper(x) * 3;") + 1
        for place, expected in (("two.c", {"helper", "other"}), ("one.c:helper", {"helper"}),
                                (f"one.c:{line}", {"parse"})):
            done = monarc("export", "--format", "folded", "--select", place, "prog", cwd=self.top)
            paths = [text.split()[0] for text in done.stdout.decode().splitlines()]
            self.assertEqual((done.returncode, sorted(paths)), (0, sorted(expected)), place)
        done = monarc("export", "--format", "folded", "--select", "one.c:other", "prog", cwd=self.top)
        self.assertEqual(done.returncode, 2)

    def test_with_names(self):
        self.assertEqual(self.names("--select", "one.c", "--ignore", "/helper|_start/"),
                         [("parse", "")])

    def test_no_place(self):
        for place in ("", ":", "one.c:", "one.c:0"):
            self.assertEqual(monarc("flat", "prog", "--select", place, cwd=self.top).returncode, 2)

    def test_thread_needs_a_recording(self):
        done = monarc("flat", "prog", "gmon.out", "--thread", "1", cwd=self.top)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--thread", done.stderr)


if __name__ == "__main__":
    main()
