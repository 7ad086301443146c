#!/usr/bin/env python3
"""test_tui_lines.py: monarc tui, one line of a source with all that is known of it, a source beside a base, and columns
to choose. Figures are those of annotate."""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))

from harness import SKIPPED, monarc, monarc_json, rounded  # noqa: E402
from parts import load_tests, slow  # noqa: E402
from screen import missing  # noqa: E402
from test_tui import WIDE, Case, columns  # noqa: E402

PROGRAM = """volatile long sink;
static inline long square(long v) { return v * v + sink; }
__attribute__((noinline)) static void left(long n)
{
    for (long i = 0; i < n; i++)
        sink ^= square(i);
}
__attribute__((noinline)) static void right(long n)
{
    for (long i = 0; i < n; i++)
        sink += square(i);
}
int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < ROUNDS; i++) {
        left(argc > 1 ? 1000000 : 9000000);
        right(argc > 1 ? 9000000 : 1000000);
    }
    if (argc > 1)
        sink = 1;
    else
        sink = 2;
    return 0;
}
"""


def build(folder, name, *options, rounds=100):
    subprocess.run(["cc", "-g", f"-DROUNDS={rounds}", *options, "-o", name, "inlined.c"], cwd=folder, check=True)


def profile(folder, name, *arguments):
    subprocess.run([folder / name, *arguments], cwd=folder, check=True)
    (folder / "gmon.out").rename(folder / f"{name}.gmon")


def change(source, text):
    """The source as it is now; whatever was measured is older."""
    source.write_text(text)
    later = time.time() + 3600
    os.utime(source, (later, later))


class Lines(Case):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        source = cls.folder / "inlined.c"
        source.write_text(PROGRAM)
        build(cls.folder, "old", "-O2", "-pg")
        profile(cls.folder, "old")
        change(source, "/* a line more */\n" + PROGRAM)
        build(cls.folder, "new", "-O2", "-pg")
        profile(cls.folder, "new", "x")

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def annotated(self, name):
        """The lines of the source as annotate has them, by their numbers."""
        report = monarc_json("annotate", "--asm", "--all", "--file", "inlined.c", name, f"{name}.gmon", cwd=self.folder)
        return {line["line"]: line for line in report["files"][0]["lines"] if line["has_code"]}

    def at_line(self, text, *arguments):
        screen = self.screen(*arguments, folder=self.folder, **WIDE)
        screen.press("4", "Enter")
        screen.wait("source$")
        screen.press("g")
        screen.wait(" 1/[0-9]+$")
        screen.type("/" + text)
        screen.press("Enter")
        screen.wait(" (?!1/)[0-9]+/[0-9]+$")
        return screen

    def test_code(self):
        """A line that was inlined into two functions: each copy under its place, with the shares that annotate has."""
        screen = self.at_line("return v", "new", "new.gmon")
        screen.press("Enter")
        text = screen.wait(r"into left  inlined\.c:7")
        self.assertRegex(text, r"into right  inlined\.c:12")
        rows, line = text.split("\n")[2:-2], self.annotated("new")[3]
        found = filter(None, (re.match(r" *([\d.]+)? +([0-9a-f]{4,})  ", row) for row in rows))
        shown = {int(m[2], 16): m[1] or "" for m in found}
        wanted = {int(i["address"], 16): rounded(100 * i["self_share"], shown.get(int(i["address"], 16), "")) if i["self_share"] else ""
                  for i in line["instructions"]}
        self.assertEqual({**shown, **wanted}, shown)
        self.assertEqual({share for address, share in shown.items() if address not in wanted} - {""}, set())
        copies = [float(r.split()[0]) for r in rows if re.search(r"^ *\d.*code of square, inlined$", r)]
        self.assertEqual(copies, sorted(copies, reverse=True))
        self.assertAlmostEqual(sum(copies), 100 * line["self_share"], delta=0.051 * len(copies))

    def test_where_jumps_and_calls_go(self):
        """Of a loop: the name and offset that annotate has, and none where it has none."""
        screen = self.at_line("for .long", "new", "new.gmon")
        screen.resize(120, 90)  # room for all of the line's instructions
        screen.press("Enter")
        rows = screen.wait("code in left").split("\n")
        shown = {int(m[1], 16): m[2] for m in (re.match(r" *(?:[\d.]+)? +([0-9a-f]{4,})  (.*?) *$", r) for r in rows) if m}
        line = next(int(m[1]) for m in (re.search(r"line (\d+) of inlined\.c", r) for r in rows) if m)
        there = [i for i in self.annotated("new")[line]["instructions"] if int(i["address"], 16) in shown]
        self.assertTrue(any(i.get("target_offset") for i in there), rows)
        for i in there:
            target = f"  <{i['target']}" + (f"+{i['target_offset']:#x}>" if i["target_offset"] else ">") if i.get("target") else None
            text = shown[int(i["address"], 16)]
            self.assertTrue(target in text if target else "  <" not in text, (i, text))

    def test_narrow(self):
        """The share and the number of a line are there in 40 columns, too."""
        screen = self.at_line("return v", "new", "new.gmon")
        screen.resize(40, 10)
        self.assertRegex(screen.wait(r"^ *[\d.]+ +3 static inline long"), "(?m)^ *self% +line ")

    def test_ways_out(self):
        screen = self.at_line("return v", "new", "new.gmon")
        screen.press("Enter")
        screen.wait(r"line 3 of .*inlined\.c")
        screen.type("/into left")
        screen.press("Enter", "Enter")
        screen.wait(" 7/26$")
        screen.press("BSpace")
        screen.wait("line 3 of")
        screen.type("/code of")
        screen.press("Enter", "Enter")
        screen.wait("calls$")
        screen.press("BSpace", "BSpace", "BSpace")
        screen.wait("files$")
        screen.press("6")
        screen.wait("Choose a line of a source")

    def test_source_beside_a_base(self):
        """All lines stand one further down by now: each has the share that its line had."""
        screen = self.at_line("volatile", "new", "new.gmon", "--base", "old", "--base", "old.gmon")
        head, *rows = screen.wait(" 2/26$").split("\n")[1:-2]
        now, then = self.annotated("new"), self.annotated("old")
        stars = 0
        for row in filter(str.strip, rows):
            shown = columns(head, row)
            number = int(shown["line"])
            share = 100 * now.get(number, {}).get("self_share", 0)
            before = 100 * then.get(number - 1, {}).get("self_share", 0)
            self.assertEqual(shown["base%"], rounded(before, shown["base%"]) if share or before else "", row)
            if share or before:
                self.assertAlmostEqual(float(shown["change"].rstrip("*")), share - before,
                                       delta=0.6 * 10 ** -len(shown["change"].rstrip("*").partition(".")[2]))
            stars += shown["change"].endswith("*")
        self.assertGreaterEqual(stars, 2)
        screen.press("g", "d")
        screen.wait(r" ([2-9]|1\d)/26$")

    @slow
    def test_function_that_looks_otherwise(self):
        """With a line more within, it is not sure which of its lines was which: there is no base of them."""
        changed = self.folder / "changed"
        changed.mkdir()
        change(changed / "inlined.c", PROGRAM.replace("right(long n)\n{\n", "right(long n)\n{\n    sink++;\n"))
        build(changed, "prog", "-O2", "-pg")
        profile(changed, "prog", "x")
        screen = self.screen("prog", "prog.gmon", "--base", "../old", "--base", "../old.gmon", folder=changed, **WIDE)
        screen.press("4", "Enter")
        screen.wait("source$")
        screen.press("g")
        head, *rows = screen.wait(" 1/26$").split("\n")[1:-2]
        shown = {int(r["line"]): r["base%"] for r in (columns(head, row) for row in rows if row.strip())}
        self.assertEqual({shown[n] for n in range(8, 14)}, {""})

    def base_of(self, screen, *lines):
        """The older share, and what it is now, of lines of the source that is shown."""
        screen.press("g")
        head, *rows = screen.wait(r" 1/\d+$").split("\n")[1:-2]
        shown = {int(r["line"]): r for r in (columns(head, row) for row in rows if row.strip())}
        return [(float(shown[n]["base%"] or 0), float(shown[n]["self%"] or 0)) for n in lines]

    @slow
    def test_program_that_is_older_than_its_measurement(self):
        """Built, the source changed, built anew, and both measured then: the source is not the base's."""
        folder = self.folder / "both"
        folder.mkdir()
        at = time.time() - 100
        (folder / "inlined.c").write_text(PROGRAM)
        build(folder, "old", "-O2", "-pg")
        os.utime(folder / "old", (at, at))
        (folder / "inlined.c").write_text("/* a line more */\n" + PROGRAM)
        os.utime(folder / "inlined.c", (at + 50, at + 50))
        build(folder, "new", "-O2", "-pg")
        profile(folder, "old")
        profile(folder, "new")
        arguments = ("new", "new.gmon", "--base", "old", "--base", "old.gmon")
        screen = self.screen(*arguments, folder=folder, **WIDE)
        screen.press("4", "Enter")
        self.assertNotIn("CHANGED", screen.wait("source$"))
        (before, now), = self.base_of(screen, 3)  # square(): a sixth of the time or more, and 0 where its line is not found
        self.assertGreater(min(before, now), 5)
        change(folder / "inlined.c", "/* a line more */\n" + PROGRAM)
        os.utime(folder / "inlined.c", (at + 150, at + 150))
        os.utime(folder / "new.gmon", (at + 200, at + 200))
        screen = self.screen(*arguments, folder=folder, **WIDE)
        screen.press("4", "Enter")
        screen.wait("CHANGED since it was compiled")

    @slow
    def test_two_files_of_one_name(self):
        """With functions of one name: each line has the share of its own file."""
        folder = self.folder / "twins"
        for name, rounds in ("a", 100), ("b", 300):
            (folder / name).mkdir(parents=True)
            (folder / name / "util.c").write_text(f"""static volatile long sink;
__attribute__((noinline)) static void helper(void)
{{
    for (long i = 0; i < 80000000; i++)
        sink += i;
}}
void run_{name}(void) {{ for (int i = 0; i < {rounds} / 100; i++) helper(); }}
""")
        (folder / "main.c").write_text("void run_a(void), run_b(void); int main(void) { run_a(); run_b(); return 0; }\n")
        def compile_as(name, *options):
            subprocess.run(["cc", "-g", "-O1", "-pg", *options, "-o", name, "a/util.c", "b/util.c", "main.c"],
                           cwd=folder, check=True)
        compile_as("old")
        profile(folder, "old")
        for name in "ab":
            change(folder / name / "util.c", "/* a line more */\n" + (folder / name / "util.c").read_text())
        compile_as("new", "--coverage")
        profile(folder, "new")
        monarc("cover", "--lcov", "now.info", ".", cwd=folder)
        text = self.screen("new", "new.gmon", "now.info", folder=folder, **WIDE).wait("helper")
        runs = re.findall(r"(?m) (\d+) +helper *$", text)
        self.assertEqual(runs, ["3", "1"], text)  # by self time
        screen = self.screen("new", "new.gmon", "--base", "old", "--base", "old.gmon", folder=folder, **WIDE)
        screen.press("4")
        screen.wait("files$")
        screen.type("/a/util")
        screen.press("Enter", "Enter")
        screen.wait("source$")
        rows = self.base_of(screen, 5, 6)
        before, now = (sum(side) for side in zip(*rows))
        self.assertTrue(5 < now < 45 and 5 < before < 45, rows)  # a quarter; both files have all of it

    def test_columns(self):
        """Columns that are hidden stay so; others take their room."""
        screen = self.screen("new", "new.gmon", "--base", "old", "--base", "old.gmon", until="self%", folder=self.folder)
        self.assertIn("columns if wider", screen.text())
        screen.press("c")
        self.assertIn("(not measured)", screen.wait("how often it ran, as coverage has it"))
        screen.press("Down", "Enter", "Down", "Space")
        self.assertRegex(screen.wait(r"\[ \] base%"), r"\[ \] \+-")
        screen.press("c")
        head = screen.wait("^ *self%.*function").split("\n")[1]
        self.assertNotRegex(head, r" \+- | base% ")
        screen.press("c", "Down", "Down", "Enter", "c")
        screen.wait(" base% ")
        screen.press("2")
        screen.wait("calls$")
        screen.press("c")
        screen.wait("have columns to choose")


class Coverage(Case):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        (cls.folder / "inlined.c").write_text(PROGRAM)
        build(cls.folder, "prog", "--coverage", rounds=1)
        for arguments, name in (([], "then.info"), (["x"], "now.info")):
            subprocess.run([cls.folder / "prog", *arguments], cwd=cls.folder, check=True)
            monarc("cover", "--lcov", name, ".", cwd=cls.folder)
            for counters in cls.folder.glob("*.gcda"):
                counters.unlink()

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def opened(self, *arguments):
        screen = self.screen(*arguments, until="inlined.c", folder=self.folder, **WIDE)
        screen.press("Enter")
        screen.wait("source$")
        screen.press("g")
        screen.wait(" 1/25$")
        return screen

    def test_branches(self):
        """Each branch of a line by itself."""
        screen = self.opened("now.info")
        screen.type("/if .argc")
        screen.press("Enter", "Enter")
        text = screen.wait(r"line 20 of inlined\.c")
        self.assertRegex(text, "(?m)^ran 1 times$")
        self.assertEqual(sorted(r.split(": ")[1] for r in text.split("\n") if r.startswith("branch ")),
                         ["NEVER TAKEN", "taken 1"])

    def test_beside_a_base(self):
        screen = self.opened("now.info", "--base", "then.info")
        head, *rows = screen.text().split("\n")[1:-2]
        found = {int(r["line"]): r["since"] for r in (columns(head, row) for row in rows if row.strip())}
        self.assertEqual({n: word for n, word in found.items() if word}, {21: "gained", 23: "lost"})
        for key, line in (("d", 21), ("d", 23), ("D", 21)):
            screen.press(key)
            screen.wait(f" {line}/25$")


if __name__ == "__main__":
    if missing():
        print(f"skipped: {missing()}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
