"""cover --format jacoco, clover, coveralls, gcovr: their numbers are those of --json; gcovr reads
its own."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import main, monarc

CC = shlex.split(os.environ.get("CC", "cc"))
SOURCE = """#include "deep/part.h"
int f(int x)
{
    switch (x) {
    case 1: return 3;
    case 2: return 4;
    case 3: return 5;
    case 4: return 9;
    default: break;
    }
    if (x > 9 && x < 12)
        return 7;
    return part(x);
}
int unused(void)
{
    return 1;
}
int main(int count, char **names)
{
    return f(count) + f(2) == 99;
}
"""
PART = """static int part(int x)
{
    return x > 2 ? x : 2;
}
"""


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.top = Path(cls.temporary.name)
        (cls.top / "deep").mkdir()
        (cls.top / "pr<&>og.c").write_text(SOURCE)
        (cls.top / "deep/part.h").write_text(PART)
        subprocess.run([*CC, "--coverage", "-O0", "-o", "prog", "pr<&>og.c"], cwd=cls.top,
                       check=True)
        for arguments in ([], ["a"] * 9, ["a"] * 4):
            subprocess.run(["./prog", *arguments], cwd=cls.top, check=True)
        cls.json = json.loads(cls.written("json"))
        cls.lines = {s["path"]: {l["line"]: l for l in s["lines"] if l["count"] is not None}
                     for s in cls.json["sources"]}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def written(cls, name):
        done = monarc("cover", "--format", f"{name}=out", "-q", cwd=cls.top)
        assert done.returncode == 0, done.stderr
        return (cls.top / "out").read_bytes()

    def test_files_are_said_aside(self):
        def cover(*options):
            answer = monarc("cover", "--format", "lcov=x.info", "--format", "clover=x.xml", *options, cwd=self.top)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            return answer.stdout.decode(), answer.stderr.decode()
        table, said = cover()
        sizes = [(self.top / name).stat().st_size for name in ("x.info", "x.xml")]
        self.assertEqual(said, f"x.info, {sizes[0]} bytes\nx.xml, {sizes[1] / 1000:.1f} kB\n")
        self.assertNotIn("x.xml", table)
        self.assertEqual(cover("--quiet"), ("", ""))
        data, said_beside_data = cover("--json", "-")
        self.assertEqual((json.loads(data), said_beside_data), (self.json, said))

    def test_no_report_replaces_another(self):
        for options, words in ((["--lcov", "one", "--json", "./one"], b"two reports cannot go to one file: ./one"),
                               (["--lcov", "one", "--format", "lcov=one"], b"two reports cannot go to one file: one"),
                               (["--lcov", "-", "--json", "-"], b"only one report can go to standard output"),
                               (["--lcov", ""], b"'--lcov' needs a name")):
            done = monarc("cover", *options, cwd=self.top)
            self.assertEqual((done.returncode, (self.top / "one").exists()), (2, False))
            self.assertIn(words, done.stderr)
        done = monarc("check", "--fail-under-line", "1", "--format", "text=one", "--format", "junit=one", cwd=self.top)
        self.assertIn(b"two reports cannot go to one file: one", done.stderr)
        self.assertEqual(monarc("cover", "--lcov", "p", "--format", "lcov=q", cwd=self.top).returncode, 0)
        self.assertEqual((self.top / "p").read_bytes(), (self.top / "q").read_bytes())
        self.assertEqual(monarc("cover", "--lcov", "/dev/null", "--json", "/dev/null", cwd=self.top).returncode, 0)

    def test_jacoco(self):
        top = ElementTree.fromstring(self.written("jacoco"))
        found = {}
        for package in top.findall("package"):
            for source in package.findall("sourcefile"):
                path = "/".join(filter(None, (package.get("name"), source.get("name"))))
                found[path] = {int(l.get("nr")): tuple(int(l.get(k)) for k in ("ci", "cb", "mb"))
                               for l in source.findall("line")}
        expected = {}
        for path, lines in self.lines.items():
            expected[path] = {}
            for number, l in lines.items():
                taken = sum(b["count"] > 0 for b in l.get("branches", []))
                expected[path][number] = (int(l["count"] > 0), taken,
                                          len(l.get("branches", [])) - taken)
        self.assertEqual(found, expected)
        counters = {c.get("type"): (int(c.get("covered")), int(c.get("missed")))
                    for c in top.findall("counter")}
        all_lines = [l["count"] for lines in self.lines.values() for l in lines.values()]
        self.assertEqual(counters["LINE"], (sum(c > 0 for c in all_lines),
                                            sum(c == 0 for c in all_lines)))
        self.assertEqual(counters["METHOD"], (3, 1))
        names = {m.get("name") for m in top.iter("method")}
        self.assertEqual(names, {"f", "unused", "main", "part"})
        for method in top.iter("method"):  # the linkage name, of C the same
            self.assertEqual(method.get("desc"), method.get("name"))
            self.assertGreater(int(method.get("line")), 0)

    def test_jacoco_tells_overloads_apart(self):
        """By the linkage name, which stands where Java has a descriptor; names are as people write them."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.info").write_text("SF:a.cpp\nFN:1,_Z1fi\nFN:2,_Z1fd\nFNDA:1,_Z1fi\nFNDA:0,_Z1fd\nDA:1,1\nDA:2,0\nend_of_record\n")
            done = monarc("cover", "--format", "jacoco=-", "a.info", cwd=folder)
        found = {m.get("desc"): (m.get("name"), m.get("line"), m.find("counter").get("covered"))
                 for m in ElementTree.fromstring(done.stdout).iter("method")}
        self.assertEqual(found, {"_Z1fi": ("f(int)", "1", "1"), "_Z1fd": ("f(double)", "2", "0")})

    def test_clover(self):
        top = ElementTree.fromstring(self.written("clover"))
        for element in [top.find("project"), *top.iter("package"), *top.iter("file")]:
            lines = list(element.iter("line"))
            metrics = element.find("metrics")
            of = {t: [l for l in lines if l.get("type") == t] for t in ("stmt", "cond", "method")}
            self.assertEqual(int(metrics.get("statements")), len(of["stmt"]))
            self.assertEqual(int(metrics.get("coveredstatements")),
                             sum(int(l.get("count")) > 0 for l in of["stmt"]))
            self.assertEqual(int(metrics.get("methods")), len(of["method"]))
            self.assertEqual(int(metrics.get("conditionals")), 2 * len(of["cond"]))
            self.assertEqual(int(metrics.get("coveredconditionals")),
                             sum((int(l.get("truecount")) > 0) + (int(l.get("falsecount")) > 0)
                                 for l in of["cond"]))
            self.assertEqual(int(metrics.get("elements")), len(of["stmt"]) + len(of["method"]) +
                             2 * len(of["cond"]))
        counts = {os.path.relpath(f.get("path"), self.top.resolve()):
                  {int(l.get("num")): int(l.get("count")) for l in f.findall("line")
                   if l.get("type") == "stmt"} for f in top.iter("file")}
        self.assertEqual(counts, {p: {n: l["count"] for n, l in lines.items()}
                                  for p, lines in self.lines.items()})

    def test_coveralls(self):
        files = json.loads(self.written("coveralls"))["source_files"]
        for file in files:
            text = (self.top / file["name"]).read_bytes()
            self.assertEqual(file["source_digest"], hashlib.md5(text).hexdigest())
            self.assertEqual(len(file["coverage"]), len(text.splitlines()))
            counts = {n: c for n, c in enumerate(file["coverage"], 1) if c is not None}
            lines = self.lines[file["name"]]
            self.assertEqual(counts, {n: l["count"] for n, l in lines.items()})
            branches = file.get("branches", [])
            self.assertEqual(branches[3::4], [b["count"] for l in lines.values()
                                              for b in l.get("branches", [])])
        self.assertEqual(len(files), 2)

    def test_gcovr_8(self):
        """What gcovr 8.6 takes out of a file of its version without asking whether it is there."""
        report = json.loads(self.written("gcovr@0.15"))
        self.assertEqual(report["gcovr/format_version"], "0.15")
        for file in report["files"]:
            self.assertLessEqual({"file", "lines", "functions"}, file.keys())
            for function in file["functions"]:
                self.assertLessEqual({"lineno", "execution_count", "blocks_percent"},
                                     function.keys())
                self.assertTrue(0 <= function["blocks_percent"] <= 100)
                self.assertEqual(function["blocks_percent"] > 0, function["execution_count"] > 0)
                self.assertFalse("(" in function["name"] and "demangled_name" in function)
            lines = self.lines[file["file"]]
            self.assertEqual({l["line_number"]: (l["count"], len(l["branches"]))
                              for l in file["lines"]},
                             {n: (l["count"], len(l.get("branches", [])))
                              for n, l in lines.items()})
        self.assertEqual(json.loads(self.written("gcovr"))["gcovr/format_version"], "0.3")

    @unittest.skipUnless(shutil.which("gcovr"), "gcovr is not installed")
    def test_gcovr_reads_it(self):
        version = subprocess.run(["gcovr", "--version"], capture_output=True, check=True).stdout.split()[1]
        of = {b"5": "gcovr", b"8": "gcovr@0.15"}.get(version.split(b".")[0])
        if not of:
            self.skipTest(f"gcovr {version.decode()} reads a version of its format that is not written")
        (self.top / "g.json").write_bytes(self.written(of))
        done = subprocess.run(["gcovr", "-a", "g.json", "--json", "-r", "."], cwd=self.top,
                              capture_output=True, check=True)
        counts = {f["file"]: {l["line_number"]: (l["count"], len(l["branches"]))
                              for l in f["lines"]} for f in json.loads(done.stdout)["files"]}
        self.assertEqual(counts, {p: {n: (l["count"], len(l.get("branches", [])))
                                      for n, l in lines.items()}
                                  for p, lines in self.lines.items()})


if __name__ == "__main__":
    main()
