"""cover --by-test: which test ran what, by folders of counters and by tracefiles; patches."""

import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, main, monarc

CC = shlex.split(os.environ.get("CC", "cc"))
SOURCE = """#include <string.h>
int limit = 3;
int add(int x)
{
    return x + limit;
}
int subtract(int x)
{
    if (x > 100)
        return 0;
    return x - limit;
}
int multiply(int x)
{
    return x * limit;
}
int main(int count, char **names)
{
    int sum = 0;
    for (int i = 1; i < count; i++) {
        if (!strcmp(names[i], "add"))
            sum += add(i);
        if (!strcmp(names[i], "subtract"))
            sum += subtract(i);
        if (!strcmp(names[i], "multiply"))
            sum += multiply(i);
    }
    return sum == 12345;
}
"""
TESTS = {"t-add": ["add"], "t-both": ["add", "subtract"], "t-mul": ["multiply", "multiply"],
         "t-sub": ["subtract"]}


def line_of(text):
    return next(i for i, l in enumerate(SOURCE.splitlines(), 1) if text in l)


class ByTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.build = cls.folder / "build"
        cls.build.mkdir()
        (cls.build / "calc.c").write_text(SOURCE)
        subprocess.run([*CC, "--coverage", "-O0", "-o", "calc", "calc.c"], cwd=cls.build,
                       check=True)
        for test, arguments in TESTS.items():
            subprocess.run([cls.build / "calc", *arguments], cwd=cls.build, check=True,
                           env={**os.environ, "GCOV_PREFIX": str(cls.folder / "runs" / test),
                                "GCOV_PREFIX_STRIP": "99"})

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def cover(self, *options, build=True, status=0, **more):
        done = monarc("cover", *([self.build, "--runs", self.folder / "runs"] if build else []),
                      *options, cwd=self.folder, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def json(self, *options, **more):
        result = json.loads(self.cover(*options, "--json", "-", **more))
        check_schema(self, "cover_tests", result)
        return result

    def names(self, *options, **more):
        return self.cover(*options, "--quiet", **more).split()

    def test_list(self):
        rows = {r["name"]: r for r in self.json("--by-test")["tests"]}
        self.assertEqual(set(rows), set(TESTS))
        self.assertEqual({n for n, r in rows.items() if r["adds_nothing"]}, {"t-add", "t-sub"})
        self.assertEqual(rows["t-mul"]["alone"], 3)
        self.assertEqual(rows["t-both"]["alone"], 0)

    def test_tests_of(self):
        def of(text):
            return {t["name"]: t["count"] for t in
                    self.json("--tests-of", f"calc.c:{line_of(text)}")["tests"]}
        self.assertEqual(of("return x + limit"), {"t-add": 1, "t-both": 1})
        self.assertEqual(of("return x * limit"), {"t-mul": 2})
        self.assertEqual(of("return 0;"), {})

    def test_place_without_code(self):
        self.cover("--tests-of", "calc.c:2", status=2)
        self.cover("--tests-of", "other.c:2", status=2)
        self.cover("--tests-of", "calc.c", status=2)

    def patch(self, edit):
        old, new = self.folder / "a", self.folder / "b"
        for folder, text in ((old, SOURCE), (new, edit(SOURCE))):
            folder.mkdir(exist_ok=True)
            (folder / "calc.c").write_text(text)
        path = self.folder / "patch"
        path.write_bytes(subprocess.run(["diff", "-u", "a/calc.c", "b/calc.c"], cwd=self.folder,
                                        capture_output=True).stdout)
        return path

    def test_patch_of_a_line(self):
        patch = self.patch(lambda s: s.replace("return x + limit", "return limit + x"))
        self.assertEqual(self.names("--tests-for", patch), ["t-add", "t-both"])

    def test_patch_of_a_line_that_never_ran(self):
        """What ran the function has to run again: the line's condition may be what is wrong."""
        patch = self.patch(lambda s: s.replace("return 0;", "return 1;"))
        tests = self.json("--tests-for", patch)["tests"]
        self.assertEqual([(t["name"], t["reason"]) for t in tests],
                         [("t-both", "function"), ("t-sub", "function")])

    def test_patch_that_puts_lines_into_a_function(self):
        patch = self.patch(lambda s: s.replace("    return x * limit",
                                               "    x++;\n    return x * limit"))
        self.assertEqual(self.names("--tests-for", patch), ["t-mul"])

    def test_patch_between_functions(self):
        """A new function that an old one calls: the call's line is what is run."""
        patch = self.patch(lambda s: s.replace("int multiply", "int fresh(void) { return 2; }\nint "
                                               "multiply").replace("x * limit", "x * fresh()"))
        tests = self.json("--tests-for", patch)["tests"]
        self.assertEqual((tests[0]["name"], tests[0]["reason"]), ("t-mul", "line"))

    def test_patch_outside_of_functions(self):
        patch = self.patch(lambda s: s.replace("limit = 3", "limit = 4"))
        tests = self.json("--tests-for", patch)["tests"]
        self.assertEqual({t["reason"] for t in tests}, {"source"})
        self.assertEqual({t["name"] for t in tests}, set(TESTS))

    def test_patch_of_another_project(self):
        patch = self.folder / "other.patch"
        patch.write_text("--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n")
        result = self.json("--tests-for", patch)
        self.assertEqual((result["tests"], result["unknown_files"]), ([], 1))

    def test_named_tests_fail_when_the_line_is_broken(self):
        """The point of it: whatever changes its result is among the named."""
        for text, broken in (("x + limit", "x - limit"), ("x - limit", "x + limit"),
                             ("x * limit", "x - limit")):
            named = set(self.names("--tests-for", self.patch(
                lambda s, t=text, b=broken: s.replace(t, b))))
            runs = {}
            for name in ("calc", "other"):
                source = SOURCE.replace(text, broken) if name == "other" else SOURCE
                source = source.replace("return sum == 12345", "return sum")
                (self.folder / f"{name}.c").write_text(source)
                subprocess.run([*CC, "-o", name, f"{name}.c"], cwd=self.folder, check=True)
                runs[name] = {t: subprocess.run([f"./{name}", *a], cwd=self.folder).returncode
                              for t, a in TESTS.items()}
            differ = {t for t in TESTS if runs["calc"][t] != runs["other"][t]}
            self.assertEqual(named, differ)

    def test_tracefile_by_test_and_back(self):
        trace = self.folder / "all.info"
        self.cover("--by-test", "--lcov", trace, "--quiet")
        text = trace.read_text()
        self.assertEqual([l for l in text.splitlines() if l.startswith("TN:")],
                         [f"TN:{t}" for t in sorted(TESTS)])
        again = json.loads(self.cover(trace, "--by-test", "--json", "-", build=False))
        self.assertEqual(again["tests"], self.json("--by-test")["tests"])
        back = self.folder / "back.info"
        self.cover(trace, "--by-test", "--lcov", back, "--quiet", build=False)
        records = [[l for l in f.read_text().splitlines() if l[:2] in ("TN", "DA", "FN", "LH")]
                   for f in (trace, back)]
        self.assertEqual(*records)

    def test_sums_are_those_of_all(self):
        trace = self.folder / "by-test.info"
        whole = self.folder / "whole.info"
        self.cover("--by-test", "--lcov", trace, "--quiet")
        self.cover("--lcov", whole, "--quiet")
        sums = {}
        for line in trace.read_text().splitlines():
            if line.startswith("DA:"):
                number, count = map(int, line[3:].split(","))
                sums[number] = sums.get(number, 0) + count
        expected = dict(map(int, l[3:].split(",")) for l in whole.read_text().splitlines()
                        if l.startswith("DA:"))
        self.assertEqual(sums, expected)

    def test_refusals(self):
        self.cover("--by-test", "--cobertura", "-", status=2)
        self.cover("--tests-of", "calc.c:5", "--tests-for", "x", status=2)
        done = monarc("cover", self.build, "--by-test", cwd=self.folder)
        self.assertEqual(done.returncode, 2)


class LeftOut(unittest.TestCase):
    def test_what_was_left_out_is_said(self):
        """As in a report without tests, word for word: what the rows are of."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "t.c").write_text("int t;\n")
            (folder / "x.info").write_text(f"TN:a\nSF:/nowhere/x.c\nDA:1,1\nend_of_record\n"
                                           f"TN:b\nSF:{folder}/t.c\nDA:1,1\nDA:20,0\nend_of_record\n")
            plain = monarc("cover", "x.info", cwd=folder).stdout.decode()
            notes = [line for line in plain.splitlines() if line.startswith("  ")]
            self.assertEqual(len(notes), 4, plain)
            for question in (["--by-test"], ["--tests-of", "t.c:1"]):
                text = monarc("cover", *question, "x.info", cwd=folder).stdout.decode()
                self.assertEqual(text.splitlines()[-4:], notes)
            whole = json.loads(monarc("cover", "--json", "-", "x.info", cwd=folder).stdout)
            tests = json.loads(monarc("cover", "--by-test", "--json", "-", "x.info", cwd=folder).stdout)
            check_schema(self, "cover_tests", tests)
            for member in ("left_out", "problems"):
                self.assertEqual(tests[member], whole[member])
            self.assertEqual(monarc("cover", "--by-test", "--quiet", "x.info", cwd=folder).stdout, b"a\nb\n")


if __name__ == "__main__":
    main()
