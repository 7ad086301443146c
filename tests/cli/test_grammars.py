#!/usr/bin/env python3
"""The XML that others read is as their grammars have it (tests/data/grammars, in our words): coverage
as Cobertura, JaCoCo, Clover and SonarQube know it, verdicts as JUnit. Sums of what it says are
those of --json."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from harness import ROOT, monarc_path

MONARC = monarc_path()
CC = os.environ.get("CC", "gcc")
GRAMMARS = ROOT / "tests/data/grammars"
PLAIN = "int f(int x) { if (x > 1 && x < 9) return 2; return 3; }\nint main(void) { return f(2) - 2; }\n"
TEMPLATES = """\
template <class T> T more(T x) { if (x > 1) return x + 1; return x; }
struct odd { bool operator<(const odd &) const { return true; } };
int main() { odd a, b; return more(2) + more(2.5) > 6 && a < b ? 0 : 1; }
"""
PROGRAMS = {  # name of the source: text
    "plain.c": PLAIN,
    "pr\"<&>'og.c": PLAIN,
    "new\nline\x01.c": PLAIN,
    "b\udce4d.c": PLAIN,  # no UTF-8
    "templates.cpp": TEMPLATES,
}


@unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed")
class Grammars(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)

    def run_in(self, *words, status=0):
        done = subprocess.run([str(word) for word in words], cwd=self.top, capture_output=True)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done.stdout.decode(errors="replace")

    def validate(self, grammar, name):
        self.run_in("xmllint", "--nonet", "--noout", "--dtdvalid", GRAMMARS / (grammar + ".dtd"), name)
        return xml.etree.ElementTree.parse(self.top / name).getroot()

    def cover(self, source, text):
        (self.top / source).write_text(text)
        compiler = ["g++"] if source.endswith("pp") else CC.split()
        self.run_in(*compiler, "--coverage", "-O0", "-o", "prog", source)
        self.run_in(self.top / "prog")
        formats = [w for name in ("cobertura", "jacoco", "clover", "sonarqube")
                   for w in ("--format", f"{name}={name}.xml")]
        return json.loads(self.run_in(MONARC, "cover", "--json", "-", *formats, "."))["totals"]["lines"]

    def test_coverage(self):
        for source, text in PROGRAMS.items():
            with self.subTest(source=source):
                self.setUp()
                lines = self.cover(source, text)
                self.assertGreater(lines["hit"], 0)
                for name in "cobertura", "jacoco", "clover", "sonarqube":
                    root = self.validate(name, name + ".xml")
                    self.assertEqual(getattr(self, "lines_of_" + name)(root), lines["all"], name)

    def test_no_source_is_left(self):
        self.cover("plain.c", PLAIN)
        for name in "cobertura", "jacoco", "clover", "sonarqube":
            self.run_in(MONARC, "cover", "-q", "--exclude", "*", "--format", f"{name}={name}.xml", ".")
            root = self.validate(name, name + ".xml")
            self.assertEqual(getattr(self, "lines_of_" + name)(root), 0, name)

    def lines_of_cobertura(self, root):
        return int(root.get("lines-valid"))

    def lines_of_jacoco(self, root):
        return sum(int(counter.get(how)) for counter in root.findall("counter")
                   if counter.get("type") == "LINE" for how in ("missed", "covered"))

    def lines_of_clover(self, root):
        return int(root.find("project/metrics").get("statements"))

    def lines_of_sonarqube(self, root):
        return len(root.findall("file/lineToCover"))

    def test_verdicts(self):
        old, new = (self.top / name for name in ("old.info", "new.info"))
        record = "TN:\nSF:{0}\nDA:1,1\nDA:2,{1}\nend_of_record\n"
        for count, status in (1, 0), (0, 1):
            old.write_text(record.format("a<\"&>.c", 1))
            new.write_text(record.format("a<\"&>.c", count))
            self.run_in(MONARC, "check", "--baseline", old, new, "--max-coverage-fall", "/./=0",
                        "--format", "junit=check.xml", status=status)
            root = self.validate("junit", "check.xml")
            self.assertEqual(int(root.get("failures")), len(root.findall(".//failure")))
            self.assertEqual(bool(root.findall(".//failure")), bool(status))


if __name__ == "__main__":
    unittest.main()
