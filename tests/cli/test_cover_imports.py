"""cover on files of other tools: gcovr's JSON, llvm-cov's JSON and Cobertura XML say what their
makers say, line by line; html, diff and check take them; a broken one is one line and a status."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import ROOT, main, monarc, monarc_json, monarc_limited, schema
from parts import load_tests, slow

try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE = """#include "part.h"
#define BIG(x) ((x) > 2 ? (x) : 2)
static int used(int n)
{
    return n > 2 && n < 7 ? twice(n) : -n;
}
static int never(int n)
{
    if (n)
        return 1;
    return 2;
}
int main(int count, char **names)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += used(i) + BIG(i);
    auto add = [](int x) { return x + 1; };
    if (count > 5)
        return never(sum);

    return add(sum) == (int)twice(7L);
}
"""
PART = """template <class T> T twice(T n)
{
    if (n > 6)
        return n + n;
    return n;
}
"""
EVERYTHING = ("--system", "--all-branches", "--no-markers", "-q")
HAS_LLVM = all(map(shutil.which, ("clang++", "llvm-cov", "llvm-profdata")))  # of one version, as Debian's defaults are


def run(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, **how).stdout


def summed(lines):
    """gcovr 8 has a line of a template once for each instance."""
    counts = {}
    for number, count in lines:
        counts[number] = counts.get(number, 0) + count
    return counts


def has_repeats(numbers):
    """Then its totals count these lines more than once, too."""
    return len(set(numbers)) < len(numbers)


class Imports(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.top = Path(self.temporary.name).resolve()
        (self.top / "a.cc").write_text(SOURCE)
        (self.top / "part.h").write_text(PART)

    def gcov(self):
        run("g++", "--coverage", "-O0", "-o", "prog", "a.cc", cwd=self.top)
        run("./prog", cwd=self.top)

    def read(self, name, *options, status=0):
        done = monarc("cover", name, *EVERYTHING, "--json", "out.json", *options, cwd=self.top)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.top / "out.json").read_bytes())

    def lines(self, report):
        return {s["path"]: {l["line"]: l["count"] for l in s["lines"] if l["count"] is not None}
                for s in report["sources"]}

    def sums(self, report, *names):
        return {n: (report["totals"][n]["all"], report["totals"][n]["hit"]) for n in names}

    @slow
    @unittest.skipUnless(shutil.which("gcovr"), "gcovr is not installed")
    def test_gcovr(self):
        self.gcov()
        run("gcovr", "--json", "g.json", ".", cwd=self.top)
        summary = json.loads(run("gcovr", "--json-summary", cwd=self.top))
        theirs = json.loads((self.top / "g.json").read_text())["files"]
        ours = self.read("g.json")
        self.assertEqual(self.lines(ours),
                         {f["file"]: summed((l["line_number"], l["count"]) for l in f["lines"]
                                            if not l.get("gcovr/noncode")) for f in theirs})
        if not any(has_repeats([l["line_number"] for l in f["lines"]]) for f in theirs):
            self.assertEqual(self.sums(ours, "lines", "branches"),
                             {"lines": (summary["line_total"], summary["line_covered"]),
                              "branches": (summary["branch_total"], summary["branch_covered"])})
        names = {f["name"]: f["execution_count"] for file in theirs for f in file["functions"]}
        self.assertEqual({f["linkage_name"]: f["count"] for s in ours["sources"] for f in s["functions"]},
                         names)

    @slow
    @unittest.skipUnless(shutil.which("gcovr"), "gcovr is not installed")
    def test_cobertura(self):
        self.gcov()
        run("gcovr", "--cobertura", "c.xml", ".", cwd=self.top)
        top = ElementTree.parse(self.top / "c.xml").getroot()
        ours = self.read("c.xml")
        self.assertEqual(self.lines(ours),
                         {c.get("filename"): summed((int(l.get("number")), int(l.get("hits")))
                                                    for l in c.find("lines")) for c in top.iter("class")})
        if not any(has_repeats([l.get("number") for l in c.find("lines")]) for c in top.iter("class")):
            self.assertEqual(self.sums(ours, "lines", "branches"),
                             {n: (int(top.get(n + "-valid")), int(top.get(n + "-covered")))
                              for n in ("lines", "branches")})
        self.assertIn("counts of branches", json.dumps(ours["problems"]))

    @slow
    def test_a_rate_of_1_is_all(self):
        """One missed line of two million: a class of Cobertura has no numbers of lines beside its rate."""
        lines = "".join(f"DA:{line},{int(line != 5)}\n" for line in range(1, 2000001))
        (self.top / "large.info").write_text(f"SF:/x/a.c\n{lines}end_of_record\n")
        self.assertEqual(monarc("cover", "-q", "--cobertura", "large.xml", "large.info", cwd=self.top).returncode, 0)
        rates = re.findall(r'line-rate="([^"]*)"', (self.top / "large.xml").read_text())
        self.assertEqual((len(rates), "1" in rates), (3, False))

    def test_cobertura_with_other_markup(self):
        """CDATA, comments and instructions are passed over to their own ends, whatever is in them."""
        line = '<line number="{}" hits="{}"/>'
        (self.top / "c.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE coverage SYSTEM "a>b"><coverage line-rate="1"><packages><package name="">'
            '<classes><class name="a" filename="a.cc"><lines>' + line.format(4, 7) + "<![CDATA[" + line.format(5, 9)
            + " ]> " + line.format(7, 9) + "]] > ]>]]>" + line.format(6, 1) + "<!-- " + line.format(8, 9) + " -->" + "<?x " + line.format(9, 9)
            + "?>" + line.format(10, 0) + "</lines></class></classes></package></packages></coverage>")
        lines = {n: c for source in self.lines(self.read("c.xml")).values() for n, c in source.items()}
        self.assertEqual(lines, {4: 7, 6: 1, 10: 0})
        (self.top / "c.xml").write_text('<coverage line-rate="1"><![CDATA[ ]] ></coverage>')
        self.assertNotEqual(monarc("cover", "c.xml", cwd=self.top).returncode, 0)

    @slow
    @unittest.skipUnless(HAS_LLVM, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
    def test_llvm_cov(self):
        run("clang++", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "prog", "a.cc", cwd=self.top)
        run("./prog", cwd=self.top, env=dict(os.environ, LLVM_PROFILE_FILE="p.raw"))
        run("llvm-profdata", "merge", "-o", "p.data", "p.raw", cwd=self.top)
        export = ("llvm-cov", "export", "./prog", "-instr-profile=p.data")
        (self.top / "l.json").write_bytes(run(*export, cwd=self.top))
        (self.top / "l.info").write_bytes(run(*export, "-format=lcov", cwd=self.top))
        ours, lcov = self.read("l.json"), self.read("l.info")
        self.assertEqual(self.lines(ours), self.lines(lcov))
        totals = json.loads((self.top / "l.json").read_text())["data"][0]["totals"]
        # one instance of the template takes one way, one the other: llvm-cov counts one of them
        self.assertEqual(self.sums(ours, "lines", "functions", "branches"),
                         {"lines": (totals["lines"]["count"], totals["lines"]["covered"] + 1),
                          "functions": (totals["instantiations"]["count"],
                                        totals["instantiations"]["covered"]),
                          "branches": (totals["branches"]["count"], totals["branches"]["covered"] + 1)})
        self.assertIn("_ZL4usedi", {f["linkage_name"] for s in ours["sources"] for f in s["functions"]})
        self.assertRegex(json.dumps(ours["problems"]), "left out: [0-9]+ regions")

    def test_own_files_come_back(self):
        self.gcov()
        ours = self.read(".")
        for name in ("gcovr", "cobertura"):
            monarc("cover", *EVERYTHING, "--format", name + "=own." + name, ".", cwd=self.top)
            back = self.read("own." + name)
            self.assertEqual(self.lines(back), self.lines(ours), name)
            self.assertEqual(back["totals"]["lines"], ours["totals"]["lines"])
            self.assertEqual(self.sums(back, "branches"), self.sums(ours, "branches"))

    def test_other_commands_and_tests(self):
        line = '{"gcovr/x": 1, "files": [{"file": "a.cc", "lines": [{"line_number": 5, "count": %d}]}]}'
        runs = self.top / "runs"
        runs.mkdir()
        (runs / "one.json").write_text(line % 1)
        (runs / "two.xml").write_text(
            "<coverage line-rate='1'><class filename='a.cc'><lines><line number='9' hits='2'/>"
            "</lines></class></coverage>")
        (self.top / "none.json").write_text(line % 0)
        done = monarc("cover", "--by-test", "--system", "--runs", "runs", "none.json", cwd=self.top)
        self.assertRegex(done.stdout.decode(), r"(?s)\bone\b.*\btwo\b")
        done = monarc("diff", "none.json", "runs/one.json", cwd=self.top)
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        done = monarc("check", "--baseline", "runs/one.json", "none.json", cwd=self.top)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        done = monarc("html", "-o", "page.html", "runs/one.json", "runs/two.xml", cwd=self.top)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = monarc("cover", "-", "--system", cwd=self.top, input=(line % 3).encode())
        self.assertIn("100.0", done.stdout.decode())

    def test_info(self):
        corpus = ROOT / "tests/corpus"
        paths = [p for name in ("lcov", "gcovr", "llvm_cov", "cobertura") for p in sorted((corpus / name).iterdir())]
        found = monarc_json("info", corpus / "lcov/lcov2.info", corpus / "gcovr/v011.json",
                            corpus / "llvm_cov/small.json", corpus / "cobertura/gcovr.xml")
        if jsonschema:
            jsonschema.validate(found, schema("info"))
        self.assertEqual([f["format"] for f in found["files"]], ["lcov", "gcovr", "llvm_cov", "cobertura"])
        for path in paths:
            done = monarc("info", path)
            said = done.stdout.decode(errors="replace")
            self.assertEqual("error: " in said, done.returncode != 0, said)
            if path.name != "names-with-c1.info":  # the fuzzer's: it does not begin as a tracefile does
                self.assertNotIn("unrecognised", said)
        (self.top / "t.info").write_text("TN:a\nSF:/x.c\nFN:1,f\nFNDA:2,f\nDA:1,2\nDA:2,0\nBRDA:1,0,0,-\n"
                                         "BRDA:1,0,1,3\nend_of_record\nTN:b\nSF:/x.c\nDA:2,-1\nend_of_record\n")
        self.assertEqual(monarc("info", "t.info", cwd=self.top).stdout.decode(),
                         f"t.info: lcov tracefile, {(self.top / 't.info').stat().st_size} bytes\n"
                         "  1 source, 2 named tests\n"
                         "  functions: 1, 1 of them ran\n  lines: 3, 1 of them ran\n"
                         "  branches: 2, 1 of them ran\n  1 counts below 0, taken as 0\n")
        (self.top / "cut.json").write_text('{"gcovr/x": 1, "files": [{"file": "a"')
        done = monarc("info", "--json", "cut.json", cwd=self.top)
        self.assertEqual(done.returncode, 2)
        self.assertIn("at offset 37", json.loads(done.stdout)["files"][0]["error"])

    def test_bad_input(self):
        for name, text, message in (
                ("x.json", '{"x": 1}', "is neither notes"),
                ("x.json", '{"gcovr/x": 1, "files": [{"file": "a"', "x.json: at offset 37: expected"),
                ("x.xml", "<coverage line-rate='1'><class filename='a'>", "a tag is still open"),
                ("x.json", '{"data": [{"files": [{"filename": "a", "segments": '
                           '[[1,1,1,true,true],[4294967295,1,0,false,false]]}]}]}', "more lines")):
            (self.top / name).write_text(text)
            done = monarc_limited("cover", name, cwd=self.top, megabytes=512)
            said = (done.stdout + done.stderr).decode()
            self.assertIn(message, said)
            self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    main()
