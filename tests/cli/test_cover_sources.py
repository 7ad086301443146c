#!/usr/bin/env python3
"""test_cover_sources.py: coverage of what is not in the sources that are here: lines behind their ends, sources
that are nowhere, and sources that were changed since; in every format, and in gates."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import test_html
from harness import monarc
from parts import load_tests, slow

FORMATS = ("lcov", "cobertura", "json", "markdown", "codecov", "sonarqube", "jacoco", "clover", "coveralls", "gcovr",
           "gcovr@0.15", "parquet")
SOURCE = "int f(int a)\n{\n    if (a)\n        return 1;\n    return 2;\n}\n"


class Unseen(unittest.TestCase):
    """A tracefile of a.c, whose lines 8 to 10 are not there, and of b.c and c.c, of which c.c is nowhere."""

    def setUp(self):
        self.top = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        (self.top / ".git").mkdir()
        for name in "a.c", "b.c":
            (self.top / name).write_text(SOURCE)
        self.trace("all.info", a=(1, 3, 4, 5, 8, 9, 10), b=(1, 3), gone=(1, 2, 3))

    def trace(self, name, **sources):
        """Of each source the first line missed, the others hit, with a function on the first and last line."""
        text = ""
        for source, lines in sources.items():
            path = self.top / f"{source}.c"
            text += f"TN:\nSF:{path}\n" + "".join(f"FN:{n},{source}{n}\nFNDA:1,{source}{n}\n" for n in (lines[0], lines[-1]))
            text += "".join(f"BRDA:{n},0,0,1\nBRDA:{n},0,1,0\nDA:{n},{int(n > 1)}\n" for n in lines) + "end_of_record\n"
        (self.top / name).write_text(text)

    def cover(self, *arguments, **more):
        return monarc("cover", "--all-branches", *arguments, cwd=self.top, **more)

    def lines(self, *arguments):
        report = json.loads(self.cover("--json", "-", *arguments).stdout)
        return report, {s["path"]: [line["line"] for line in s["lines"]] for s in report["sources"]}

    def test_left_out_and_named(self):
        report, lines = self.lines("all.info")
        self.assertEqual(lines, {"a.c": [1, 3, 4, 5], "b.c": [1, 3]})
        left = report["left_out"]
        self.assertEqual((left["absent_sources"], left["absent_lines"], left["lines_behind"]), (1, 3, 3))
        totals = report["totals"]
        self.assertEqual([totals[k]["all"] for k in ("lines", "functions", "branches")], [6, 3, 12])
        text = self.cover("all.info").stdout.decode()
        self.assertIn("  left out: 3 lines of 1 source that is not here (gates count them as missed)\n"
                      "  left out: 3 lines beyond the ends of their sources\n", text)
        self.assertIn("  a.c: left out: 3 lines after line 6, its last\n", text)
        self.assertIn("  gone.c: is not here; left out: 3 lines (--source-dir, --path-map)\n", text)

    @slow
    def test_every_format(self):
        """No format has a line that is not there, nor the source; and all agree with a tracefile without them."""
        self.trace("right.info", a=(1, 3, 4, 5, 8), b=(1, 3))
        text = (self.top / "right.info").read_text()
        for line in ("FN:8,a8\n", "FNDA:1,a8\n", "BRDA:8,0,0,1\n", "BRDA:8,0,1,0\n", "DA:8,1\n"):
            self.assertIn(line, text)
            text = text.replace(line, "")
        (self.top / "right.info").write_text(text)
        environment = {"SOURCE_DATE_EPOCH": "1"}
        for name in set(FORMATS) - {"json", "markdown"}:
            found, right = (self.cover("--format", name, "-q", file, env=environment).stdout for file in ("all.info", "right.info"))
            self.assertNotIn(b"gone", found, name)
            self.assertEqual(found, right, name)
        page = json.dumps(test_html.blocks(test_html.page("--all-branches", "all.info", cwd=self.top)))
        self.assertEqual((page.count("gone.c"), page.count("gone.c: is not here")), (1, 1))

    def test_every_import(self):
        """What other tools write of the same is left out likewise."""
        (self.top / "gone.c").write_text(SOURCE)
        (self.top / "a.c").write_text(SOURCE + "\n" * 4)
        for name, suffix in (("cobertura", "xml"), ("gcovr", "json"), ("lcov", "info")):
            self.cover("-q", "--format", f"{name}=made.{suffix}", "all.info")
        (self.top / "gone.c").unlink()
        (self.top / "a.c").write_text(SOURCE)
        os.utime(self.top / "a.c", (1, 1))
        for name in "made.xml", "made.json", "made.info":
            self.assertEqual(self.lines(name)[1], {"a.c": [1, 3, 4, 5], "b.c": [1, 3]}, name)

    def test_sources_elsewhere_are_counted(self):
        """Where no source is here at all, nothing is known of what they do not have."""
        for name in "a.c", "b.c":
            (self.top / name).unlink()
        report, lines = self.lines("all.info")
        self.assertEqual(lines, {"a.c": [1, 3, 4, 5, 8, 9, 10], "b.c": [1, 3], "gone.c": [1, 2, 3]})
        self.assertEqual(report["left_out"]["absent_sources"], 0)

    def test_gates_count_them_as_missed(self):
        """4 of 6 lines ran; of all 12, the same 4."""
        for limit, status in ((33, 0), (34, 1), (66, 1)):
            self.assertEqual(self.cover("--fail-under-line", limit, "all.info").returncode, status, limit)
            self.assertEqual(monarc("check", "all.info", "--fail-under-line", limit, cwd=self.top).returncode, status, limit)
            self.assertEqual(monarc("check", "--baseline", "all.info", "all.info", "--fail-under-line", limit, cwd=self.top).returncode,
                             status, limit)
        self.assertEqual(self.cover("--exclude", "*gone.c", "--fail-under-line", 44, "all.info").returncode, 0)
        self.assertEqual(self.cover("--exclude", "*gone.c", "--fail-under-line", 45, "all.info").returncode, 1)
        self.assertEqual(self.cover("--by-test", "--fail-under-line", 34, "all.info").returncode, 1)

    def test_comparisons_take_both_sides_as_they_are(self):
        """Of two states one at most is here: a source that was removed since is gone, not unknown."""
        self.trace("new.info", a=(1, 3, 4, 5), b=(1, 3))
        same = monarc("diff", "all.info", "all.info", cwd=self.top)
        self.assertEqual(same.returncode, 0, same.stdout)
        gone = monarc("diff", "all.info", "new.info", cwd=self.top).stdout.decode()
        self.assertRegex(gone, r"gone\.c.*gone|gone.*gone\.c")

    def test_by_test(self):
        tests = self.cover("--by-test", "all.info").stdout.decode()
        self.assertRegex(tests, r"(?m)^ +4 ")

    @slow
    def test_a_newer_source(self):
        """Of notes, of programs and of tracefiles: only the source that was changed since is named."""
        os.utime(self.top / "all.info", (2000, 2000))
        os.utime(self.top / "a.c", (1999, 1999))
        os.utime(self.top / "b.c", (2001, 2001))
        text = self.cover("all.info").stdout.decode()
        self.assertIn("  b.c: is newer than what was compiled: its lines may be others\n", text)
        self.assertNotIn("a.c: is newer", text)
        for flags in (["gcc", "--coverage"], ["clang", "-fprofile-instr-generate", "-fcoverage-mapping"]):
            if not shutil.which(flags[0]):
                continue
            with tempfile.TemporaryDirectory() as folder:
                top = Path(folder)
                (top / "a.c").write_text(SOURCE + "int main(void)\n{\n    return f(1) - 1;\n}\n")
                subprocess.run([*flags, "a.c", "-o", "a"], cwd=top, check=True)
                subprocess.run(["./a"], cwd=top, check=True)
                self.assertNotIn("newer", monarc("cover", ".", cwd=top).stdout.decode())
                os.utime(top / "a.c", (2 ** 31, 2 ** 31))
                self.assertIn("a.c: is newer", monarc("cover", ".", cwd=top).stdout.decode())



class Mapped(unittest.TestCase):
    """Builds that map the project's folder to `.`: names are relative to it, not to where the compiler ran."""

    def setUp(self):
        self.top = Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.top)
        for name in (".git", "src/a", "build"):
            (self.top / name).mkdir(parents=True)
        (self.top / "src/a/x.c").write_text("int main(void)\n{\n    return 0; // LCOV_EXCL_LINE\n}\n")

    def found(self, *names):
        report = json.loads(monarc("cover", "--json", "-", *names, cwd=self.top).stdout)
        return [(s["path"], [line["line"] for line in s["lines"]]) for s in report["sources"]]

    def test_gcc(self):
        for flag in ("-fprofile-prefix-map", "-ffile-prefix-map"):
            subprocess.run(f"rm -f *.gc??; gcc --coverage {flag}={self.top}=. -o p {self.top}/src/a/x.c && ./p", shell=True, check=True,
                           cwd=self.top / "build")
            self.assertEqual(self.found("build"), [("src/a/x.c", [1])], flag)

    @slow
    def test_clang(self):
        if not shutil.which("clang"):
            self.skipTest("clang is not installed")
        subprocess.run(f"clang -fprofile-instr-generate -fcoverage-mapping -fcoverage-prefix-map={self.top}=. -o p "
                       f"{self.top}/src/a/x.c && LLVM_PROFILE_FILE=p.profraw ./p", shell=True, check=True, cwd=self.top / "build")
        self.assertEqual(self.found("build/p", "build/p.profraw"), [("src/a/x.c", [2, 4])])

    def test_a_source_that_is_there_is_the_one(self):
        """A name that is found where the compiler ran is sought nowhere else."""
        (self.top / "build/src/a").mkdir(parents=True)
        (self.top / "build/src/a/x.c").write_text("int main(void)\n{\n    return 0;\n}\n")
        subprocess.run("gcc --coverage -o p ./src/a/x.c && ./p", shell=True, check=True, cwd=self.top / "build")
        self.assertEqual(self.found("build"), [("build/src/a/x.c", [1, 3])])


if __name__ == "__main__":
    unittest.main()
