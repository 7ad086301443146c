#!/usr/bin/env python3
"""test_cover.py: monarc cover as users run it: real files of many compilers, programs compiled a moment
ago, damage, merging, gates, patches; and lcov's and gcovr's opinion where they are installed."""

import atexit
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import harness
import seeds
from harness import ROOT, lcov_branches, monarc
from parts import in_both, load_tests, share, slow

ARCS = ROOT / "tests/data/arc-files"
DTD = ROOT / "tests/data/grammars/cobertura.dtd"

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int pick(int a, int b)
{
    if (a > b && a > 3)
        return a;
    return b;
}
static int never(int a)
{
    a++;
    return a * 2;
}
int excluded(int a) /* GCOVR_EXCL_FUNCTION */
{
    return a > 1 ? 2 : 3;
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += pick(i, argc);
    if (argc > 5)
        puts("many"); /* LCOV_EXCL_LINE */
    /* LCOV_EXCL_START */
    if (argc > 6)
        puts("more");
    /* LCOV_EXCL_STOP */
    if (argc > 1 && atoi(argv[1])) /* LCOV_EXCL_BR_LINE */
        sum = never(sum);
    printf("%d\\n", sum);
    return 0;
}
"""

TEMPLATES = """\
#include <stdexcept>
#include <string>
#include <vector>
template <typename T> T larger(T a, T b)
{
    if (a > b)
        return a;
    return b;
}
inline int shared(int a)
{
    return a ? a : -1;
}
int other(int);
int main(int argc, char **)
{
    std::vector<std::string> all;
    try {
        all.push_back(std::string(argc, 'x'));
        if (argc > 3)
            throw std::runtime_error("many");
    } catch (const std::exception &) {
        return 1;
    }
    return larger(argc, 0) + (int)larger(1.0, 2.0) + shared(0) + other(argc) > 100;
}
"""
OTHER = """\
inline int shared(int a)
{
    return a ? a : -1;
}
int other(int a)
{
    return shared(a);
}
"""


def run(*command, cwd, **more):
    return subprocess.run([str(c) for c in command], cwd=cwd, check=True, capture_output=True, **more)


def tracefile(text):
    """By source: lines, functions, and the counts of branches by line."""
    found = {}
    for record in text.splitlines():
        key, _, value = record.partition(":")
        if key == "SF":
            here = found.setdefault(value, (collections.Counter(), collections.Counter(),
                                            collections.defaultdict(list)))
        elif key == "DA":
            line, count = value.split(",")[:2]
            here[0][int(line)] += int(count)
        elif key == "FNDA":
            count, name = value.split(",", 1)
            here[1][name] += int(count)
        elif key == "FNA":  # lcov 2.2
            _, count, name = value.split(",", 2)
            here[1][name] += int(count)
        elif key == "BRDA":
            line, _, _, count = value.split(",")
            here[2][int(line)].append(int(count.replace("-", "0")))
    return found


KEPT = Path(tempfile.mkdtemp(prefix="monarc-cover-")).resolve()
atexit.register(shutil.rmtree, KEPT, ignore_errors=True)


class Case(unittest.TestCase):
    """In a folder of one name for all, since notes have it: what one compiled is there for the others."""

    built = {}

    def setUp(self):
        self.top = KEPT / "work"
        self.top.mkdir()

    def tearDown(self):
        shutil.rmtree(self.top)

    def cover(self, *arguments, status=0, cwd=None, **more):
        done = monarc("cover", *arguments, cwd=cwd or self.top, **more)
        self.assertEqual(done.returncode, status, done.stderr.decode() + done.stdout.decode()[:2000])
        return done.stdout.decode(errors="surrogateescape")

    def json(self, *arguments, **more):
        value = json.loads(self.cover("--json", "-", *arguments, **more))
        harness.check_schema(self, "cover", value)
        return value

    def build(self, compiler="gcc", *, name="prog.c", text=PROGRAM, flags=(), runs=((),)):
        (self.top / name).write_text(text)
        key = compiler, name, text, *flags
        if key not in self.built:
            before = {*self.top.iterdir()}
            run(compiler, "--coverage", "-O0", *flags, "-o", "prog", name, cwd=self.top)
            self.built[key] = Path(tempfile.mkdtemp(dir=KEPT))
            for path in {*self.top.iterdir()} - before:
                shutil.copy2(path, self.built[key])
        shutil.copytree(self.built[key], self.top, dirs_exist_ok=True, copy_function=shutil.copy)  # newer than the source
        for arguments in runs:
            subprocess.run(["./prog", *arguments], cwd=self.top, capture_output=True, check=True)

    def counts(self, value, path):
        source = next(s for s in value["sources"] if s["path"] == path)
        return {line["line"]: line["count"] for line in source["lines"]}


class RealFiles(Case):
    """Every version's own gcov, line by line."""

    def oracle(self, path):
        lines = {}
        for record in path.read_text(errors="replace").splitlines():
            match = re.match(r" *([0-9]+|#####|=====|-)\*?: *([0-9]+):", record)
            if match and match[2] != "0" and match[1] != "-":
                count = 0 if match[1][0] in "#=" else int(match[1])
                lines.setdefault(int(match[2]), count)
        return lines

    @in_both
    def test_lines_of_every_version(self):
        compared = 0
        for folder in sorted(ARCS.glob("*/oracle")):
            for gcov in share(sorted(folder.glob("oracle-*.gcov")), 4):
                kind, name = re.fullmatch(r"oracle-(cc?)-(.*)\.gcov", gcov.name).groups()
                notes = next(p for p in sorted(folder.parent.glob("*.gcno"))
                             if p.name.startswith(f"prog_{kind}.") or
                             p.name.startswith(f"prog_{kind}-"))
                value = self.json(notes)
                sources = [s for s in value["sources"] if Path(s["path"]).name == name]
                self.assertEqual(len(sources), 1, gcov)
                found = {line["line"]: line["count"] for line in sources[0]["lines"]}
                expected = self.oracle(gcov)
                self.assertEqual(found, expected, gcov)
                compared += 1
        self.assertGreater(compared, 8)

    def test_all_versions_at_once(self):
        value = self.json(ARCS, "--root", "/")
        self.assertEqual(value["problems"], [
            {"kind": "note", "text": f"{ARCS}/gcc-3.4-h8300/prog.gcno: has no counters"}])
        self.assertGreater(value["inputs"]["counters"], 20)
        self.assertGreater(value["totals"]["conditions"]["hit"], 0)
        self.assertEqual(value["totals"]["lines"]["unknown"], 0)

    def same_with_threads(self, *arguments):
        forms = [("--json", "-"), ("--lcov", "-"), ("--lcov", "-", "--lcov-version", 2),
                 ("--cobertura", "-"), ("--markdown", "-"),
                 ("--functions", "--missing", "--branches", "--conditions")]
        for form in forms:
            outputs = [self.cover(*form, "--threads", threads, *arguments,
                                  env={"SOURCE_DATE_EPOCH": "1"})
                       for threads in (1, 2, 3, 8)]
            self.assertGreater(len(outputs[0]), 500)
            for output in outputs[1:]:
                self.assertEqual(output, outputs[0], form)

    @slow
    def test_threads_change_nothing(self):
        self.same_with_threads(ARCS)

    @slow
    def test_threads_change_nothing_of_templates_and_tracefiles(self):
        for i in range(5):
            (self.top / f"other{i}.cc").write_text(OTHER.replace("other", f"other{i}"))
            (self.top / f"t{i}.cc").write_text(
                TEMPLATES.replace("main", "main" if not i else f"main{i}").replace("other", f"other{i}"))
        run("g++", "--coverage", "-O0", "-o", "prog", *sorted(self.top.glob("*.cc")), cwd=self.top)
        run("./prog", cwd=self.top)
        for name in ("night", "day", "dawn"):
            self.cover("--lcov", f"{name}.info", "--test-name", name, "--system")
        traces = sorted(self.top.glob("*.info"))
        self.same_with_threads("--system", ".", *traces)
        self.same_with_threads("--all-branches", "--no-markers", ".", *traces[:2])

    def test_names_longer_than_a_buffer(self):
        name = "f" * 40000
        (self.top / "long.info").write_text(
            f"TN:\nSF:/a.c\nFN:1,{name}\x01\nFNDA:3,{name}\x01\nDA:1,3\nend_of_record\n")
        self.assertIn(f" {name}?  /a.c:1\n", self.cover("--functions", "long.info"))

    def test_conditions(self):
        text = self.cover("--conditions", ARCS / "gcc-14")
        self.assertRegex(text, r"line \d+: \d+ of \d+ outcomes of conditions seen; missing: term")
        self.assertIn("MCDC:", self.cover("--lcov", "-", "--lcov-version", 2, ARCS / "gcc-14"))


class Programs(Case):
    def test_table_and_missing(self):
        self.build()
        text = self.cover("--missing", "--functions", "--branches")
        self.assertRegex(text, r"  75\.0 +4 +16 .* prog\.c")
        self.assertIn("prog.c: not run: 9-12, 30\n", text)
        self.assertIn("never called  never  prog.c:9", text)
        self.assertIn("left out by markers", text)
        self.assertNotIn("  excluded  prog.c", text)
        self.assertRegex(text, r"(?m)^ +11 !      a\+\+;")

    def test_what_is_missing_follows_order_and_limit(self):
        self.build()
        (self.top / "a.c").write_text("int a(void)\n{\n    return 1;\n}\n")
        run("gcc", "--coverage", "-c", "a.c", cwd=self.top)
        self.assertEqual(re.findall(r"(?m)^(\S+): not run", self.cover("--missing")), ["a.c", "prog.c"])
        self.assertEqual(re.findall(r"(?m)^(\S+): not run", self.cover("--missing", "--sort", "missed")),
                         ["prog.c", "a.c"])
        self.assertEqual(re.findall(r"(?m)^(\S+): not run",
                                    self.cover("--missing", "--sort", "missed", "--limit", 1)), ["prog.c"])

    def test_functions_follow_order_and_limit(self):
        self.build()
        (self.top / "a.c").write_text("int a(void)\n{\n    return 1;\n}\n")
        run("gcc", "--coverage", "-c", "a.c", cwd=self.top)
        for arguments, want in (((), ["a", "pick", "never", "main"]), (("--sort", "missed"), ["pick", "never", "main", "a"]),
                                (("--sort", "missed", "--limit", 1), ["pick", "never", "main"]), (("--limit", 1), ["a"])):
            text = self.cover("--functions", *arguments)
            self.assertEqual(re.findall(r"(?m)^ *(?:\d+|never called)  (\w+)  \S+:\d+$", text), want, arguments)
        self.assertIn("never called  a  a.c:1\n", text)
        text = self.cover("--never-called", "--sort", "missed")
        self.assertEqual(re.findall(r"(?m)^ *(\d+|never called)  (\w+)  \S+:\d+$", text),
                         [("never called", "never"), ("never called", "a")])

    def test_function(self):
        """Its lines alone; also of a tracefile, which says only where functions begin."""
        self.build()
        self.cover("--lcov", "all.info")
        for of in (".",), ("all.info",):
            text = self.cover("--function", "never", *of)
            self.assertTrue(text.startswith("0.0 % of the lines of 1 function ran, 0 of 3\n"), text)
            self.assertRegex(text, r"(?m)^   0\.0       3      3  never called  never  prog\.c:9$")
            self.assertRegex(text, r"(?m)^prog\.c: not run: 9-12$")
            self.assertRegex(text, r"(?m)^ +11 !      a\+\+;")
            text = self.cover("-f", "pick", "-f", "/^nev/", *of)
            self.assertTrue(text.startswith("57.1 % of the lines of 2 functions ran, 4 of 7\n"), text)
            self.assertEqual(re.findall(r"(?m)^ *[\d.]+ +\d+ +\d+ +(\d+|never called)  (\w+)  \S+$", text),
                             [("10", "pick"), ("never called", "never")])
            text = self.cover("-f", "pick", *of)
            self.assertNotIn("not run", text)
        done = monarc("cover", "-f", "nevr", cwd=self.top)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"monarc: .: has no function 'nevr'; did you mean 'never'?\n")
        for others in ("--json", "-"), ("--fail-under-line", "1"), ("--functions",), ("--limit", "1"), ("--by-test",):
            done = monarc("cover", "-f", "never", *others, cwd=self.top)
            self.assertEqual((done.returncode, done.stdout), (2, b""), others)
            self.assertIn(b"option '--function' cannot be combined with ", done.stderr)

    def test_colour_only_where_wanted(self):
        self.build()
        self.assertNotIn("\33", self.cover())
        self.assertIn("\33[", self.cover("--color=always"))

    def test_markers(self):
        self.build()
        with_them, without = self.json(), self.json("--no-markers")
        self.assertEqual(self.counts(with_them, "prog.c").keys() -
                         self.counts(without, "prog.c").keys(), set())
        gone = self.counts(without, "prog.c").keys() - self.counts(with_them, "prog.c").keys()
        self.assertEqual(gone, {14, 16, 24, 26, 27})
        line = {l["line"]: l for s in with_them["sources"] for l in s["lines"]}
        self.assertNotIn("branches", line[29])
        self.assertEqual(with_them["left_out"]["marked_functions"], 1)

    def test_unclosed_marker_is_named(self):
        self.build(text=PROGRAM.replace("LCOV_EXCL_STOP", ""))
        self.assertIn("prog.c:25: the exclusion that starts here is never ended", self.cover())

    def made_up(self, name, text, *flags, driver="gcc"):
        """{line: count} and {line: [branches]} of a program of one source, compiled and run once; None: no compiler."""
        if not shutil.which(driver):
            return None
        (self.top / name).write_text(text)
        subprocess.run([driver, "--coverage", "-O0", *flags, "-o", "prog", name], cwd=self.top, check=True)
        subprocess.run(["./prog"], cwd=self.top, check=True)
        self.report = json.loads(monarc("cover", "--json", "-", ".", cwd=self.top).stdout)
        lines = next(s["lines"] for s in self.report["sources"] if s["path"] == name)
        return {line["line"]: (line["count"], sorted(b["count"] for b in line.get("branches", []))) for line in lines}

    @slow
    def test_bodies_that_are_functions(self):
        """What the compiler made a function of is code of the function around it."""
        found = self.made_up("region.c", "int main(void)\n{\n    int s = 0;\n#pragma omp parallel for reduction(+ : s)\n"
                             "    for (int i = 0; i < 10; i++) {\n        if (i % 2)\n            s += i;\n"
                             "        if (i > 1000)\n            s = 7;\n    }\n    return s != 25;\n}\n",
                             "-fopenmp", "-fprofile-update=atomic")
        self.assertEqual([found.get(n) for n in (6, 7, 8, 9)], [(10, [5, 5]), (5, []), (10, [0, 10]), (0, [])])
        self.assertEqual([(f["name"], f["count"]) for f in self.report["sources"][0]["functions"]], [("main", 1)])
        branches = [b for line in self.report["sources"][0]["lines"] for b in line.get("branches", [])]
        self.assertEqual({b["function"] for b in branches}, {"main"})
        found = self.made_up("starts.cc", "static int zero;\nstatic int make(int a)\n{\n    return a + zero;\n}\n"
                             "static int one =\n    make(5) > 3\n        ? make(1)\n        : make(2);\n"
                             "int main()\n{\n    return one - 1;\n}\n", driver="g++")
        self.assertEqual([found.get(n) for n in (7, 9, 12, 13)], [(1, []), (0, []), (1, []), None])
        # gcc puts the comparison on the line of the `?`, which runs, in an initialiser as in a function.
        choice = "make(5) > 100\n    ? make(6)\n    : make(7);\n"
        found = self.made_up("twins.cc", "int zero;\nint make(int a)\n{\n    return a + zero;\n}\n"
                             f"int one = {choice}int main()\n{{\n    int two = {choice}    return one - two;\n}}\n",
                             driver="g++")
        self.assertEqual([found[n] for n in (7, 8)], [found[n] for n in (12, 13)])
        self.assertEqual(found[7], (1, [0, 1]))
        # gcc's code around the initialisers of variables of threads is on the last line, of a function that never ran.
        found = self.made_up("threads.cc", "struct part { int at; part(int a) : at(a) {} ~part() { at = 0; } };\nint zero;\n"
                             "thread_local part one(zero);\nint main()\n{\n    return one.at;\n}\nint never(int a)\n{\n"
                             "    part p(a);\n    return p.at;\n}\n", driver="g++")
        self.assertEqual([found[n][0] for n in (3, 6, 10, 11, 12)], [1, 1, 0, 0, 0])
        # The initialisers' function is declared at the end of the source, where one of them may be.
        found = self.made_up("ends.cc", "#include <cstdlib>\nstruct part { int at; part(int a) : at(a) {} ~part() { at = 0; } };\n"
                             "__attribute__((init_priority(300))) part early(atoi(\"3\"));\nint main()\n{\n    return 0;\n}\n"
                             "static part last(getenv(\"NO_SUCH_NAME\") ? 1 : atoi(\"2\"));\n", driver="g++")
        self.assertEqual((found[3][0] > 0, found.get(8)), (True, (1, [0, 1])))
        # A region that a macro has on one line: the line of its declaration is all of it.
        found = self.made_up("single.c", "static int s;\nint main(int argc, char **argv)\n{\n    (void)argv;\n    if (argc > 5) {\n"
                             "        _Pragma(\"omp parallel\") s = 3;\n    }\n    _Pragma(\"omp parallel\") if (argc > 5) s = 4;\n"
                             "    return s;\n}\n", "-fopenmp", "-fprofile-update=atomic")
        self.assertEqual(found.get(6), (0, []))
        self.assertEqual(found[8][1][0], 0)
        found = self.made_up("loops.f90", "program p\n  integer :: i, s\n  s = 0\n  !$omp parallel do reduction(+:s)\n"
                             "  do i = 1, 10\n    s = s + i\n    if (i > 100) then\n      s = 0\n    end if\n  end do\n"
                             "  if (s /= 55) stop 1\nend program\n", "-fopenmp", "-fprofile-update=atomic", driver="gfortran")
        if found:
            self.assertEqual([found.get(n, (None,))[0] for n in (6, 8)], [10, 0])

    @slow
    def test_one_source_by_many_links(self):
        """A header by three names is one row, whose counts are the sum; and Bazel's folder is none. Two equal files of which
        a tool made one are two."""
        (self.top / "src").mkdir()
        (self.top / "src/again").symlink_to(".")
        (self.top / "src/part.h").write_text("static inline int part(int a)\n{\n    return a + 1;\n}\n")
        os.link(self.top / "src/part.h", self.top / "copy.h")
        for name, header in (("one", "part.h"), ("two", "again/part.h"), ("three", "again/again/part.h"), ("four", "copy.h")):
            (self.top / f"{name}.c").write_text(f'#include "{header}"\nint {name}(void)\n{{\n    return part(1);\n}}\n')
        (self.top / "main.c").write_text("int one(void), two(void), three(void), four(void);\n"
                                         "int main(void)\n{\n    return one() + two() + three() + four() - 8;\n}\n")
        names = ["main.c", "one.c", "two.c", "three.c", "four.c"]
        for inside in ({}, {"PWD": "/proc/self/cwd"}):
            subprocess.run("rm -f *.gc??; gcc --coverage -O0 -Isrc -o prog " + " ".join(names), shell=True, cwd=self.top,
                           check=True, env={**os.environ, **inside})
            subprocess.run(["./prog"], cwd=self.top, check=True)
            found = {s["path"]: s["lines"] for s in json.loads(monarc("cover", "--json", "-", ".", cwd=self.top).stdout)["sources"]}
            self.assertEqual(sorted(found), sorted([*names, "src/part.h", "copy.h"]), inside)
            self.assertEqual([line["count"] for line in found["src/part.h"]], [3, 3], inside)
            self.assertEqual([line["count"] for line in found["copy.h"]], [1, 1], inside)

    def test_code_left_to_the_compiler(self):
        """Branches of what is defaulted are the compiler's."""
        text = ("struct part { int a = 1; part() {} part(const part &o) : a(o.a) {} };\nstruct whole {\n    part p[3];\n"
                "    whole() = default; // all of it\n    whole(const whole &) = default;\n};\n"
                "int main()\n{\n    whole a, b(a);\n    return b.p[0].a - 1;\n}\n")
        found = self.made_up("left.cc", text, driver="g++")
        self.assertEqual([found[n] for n in (4, 5)], [(4, []), (4, [])])
        self.assertEqual(self.report["left_out"]["compilers_branches"], 4)

    @slow
    def test_functions_of_a_macro(self):
        """They share line and column and are two all the same; instances of a template are one."""
        text = ("template <typename T> struct box { T v; bool more(T o) const { if (v > o) return true; return false; } };\n"
                "struct num { int v; };\n"
                "#define TWO(op) bool operator op(num a, num b) { if (a.v op b.v) return true; return false; } "
                "bool operator op##=(num a, num b) { if (a.v op##= b.v) return true; return false; }\n"
                "#define OVER bool odd(int a) { if (a & 1) return true; return false; } bool odd(long a) { if (a & 1) return true; return false; }\n"
                "TWO(<)\nOVER\n"
                "int main()\n{\n    num one{1}, two{2};\n    box<int> i{3};\n    box<long> l{3};\n"
                "    return !(one < two) + odd(2) + i.more(4) + !l.more(2);\n}\n")
        found = self.made_up("macro.cc", text, driver="g++")
        self.assertEqual([found[n][1] for n in (1, 5, 6)], [[1, 1], [0, 0, 0, 1], [0, 0, 0, 1]])

    def test_gates(self):
        self.build()
        self.cover("--fail-under-line", 75, "--fail-under-function", 60)
        for gate, name in (("line", "90"), ("branch", "99.5"), ("function", "67")):
            done = monarc("cover", f"--fail-under-{gate}", name, cwd=self.top)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"monarc: {gate} coverage is", done.stderr.decode())
        (self.top / "third.info").write_text("TN:\nSF:/a.c\nDA:1,1\nDA:2,1\nDA:3,0\nend_of_record\n")
        for limit, want in (("66.67", "is 66.667 %, required: 66.670 %"), ("66.66667", "is 66.666667 %, required: 66.666670 %"),
                            ("66.7", "is 66.67 %, required: 66.70 %")):
            self.assertIn(f"FAILED: line coverage {want}", self.cover("--fail-under-line", limit, "third.info", status=1))
        self.assertIn("passed: line coverage", self.cover("--fail-under-line", "66.666", "third.info"))
        self.cover("--fail-under-line", "nan", status=2)
        self.cover("--fail-under-line", "101", status=2)
        gates = self.json("--fail-under-line", 99, status=1)["gates"]
        self.assertTrue(gates[0]["has_failed"])
        for command in ("cover", "html"):
            done = monarc(command, "--fail-under-line", 90, "--fail-under-branch", 99, ".", cwd=self.top)
            self.assertEqual((done.returncode, done.stderr.decode()),
                             (1, "monarc: line coverage is 75.00 %, required: 90.00 %; "
                                 "branch coverage is 87.50 %, required: 99.00 %\n"))

    def test_gates_that_judge_nothing(self):
        """Nothing that could be judged is no pass: not of lines, not of a patch, by no command."""
        self.build()
        for options, why in ((("--include", "srcc/*", "--fail-under-line", 80), "no line was counted"),
                             (("--include", "srcc/*", "--fail-under-line", 0), "no line was counted"),
                             (("--fail-under-region", 80), "no region was counted"),
                             (("--diff", "/dev/null", "--fail-under-diff", 80), "no changed line holds code")):
            for command in ("cover", "html", "check"):
                done = monarc(command, *options, ".", cwd=self.top)
                self.assertEqual(done.returncode, 2, (command, options))
                self.assertIn(why, (done.stdout + done.stderr).decode())
        done = monarc("cover", "--include", "srcc/*", "--fail-under-line", 80, "--fail-under-region", 80, cwd=self.top)
        self.assertIn("--fail-under-line judged nothing: no line was counted; "
                      "--fail-under-region judged nothing: no region was counted", done.stderr.decode())
        gates = self.json("--fail-under-region", 1, status=2)["gates"]
        self.assertEqual((gates[0]["verdict"], gates[0]["has_failed"]), ("not judged", False))
        self.cover("--cross", "--fail-under-line", 1, status=2)

    def test_changed_lines_of_sources_that_are_not_here(self):
        """They are missed for the gate of a patch, as for the others; a source of the same end is another."""
        (self.top / "t.c").write_text("int t;\n")
        (self.top / "x.info").write_text("".join(f"TN:\nSF:{self.top}/{name}\n{lines}end_of_record\n" for name, lines in (
            ("t.c", "DA:1,1\n"), ("gone/t.c", "DA:1,1\nDA:2,0\nDA:9,1\n"))))
        here = ["--- a/t.c", "+++ b/t.c", "@@ -0,0 +1,1 @@", "+int t;"]
        gone = ["--- a/gone/t.c", "+++ b/gone/t.c", "@@ -0,0 +1,2 @@", "+one", "+two"]
        for lines, percent in ((here, 100), (here + gone, 100 / 3), (gone, 0)):
            patch = self.patch(*lines)
            for command in ("cover", "check", "html"):
                done = monarc(command, "--diff", patch, "--fail-under-diff", 80, "x.info", cwd=self.top)
                self.assertEqual(done.returncode, int(percent < 80), (command, lines, done.stderr))
                if percent < 80:
                    self.assertIn(f"diff coverage is {percent:.2f} %", done.stderr.decode())

    def patch(self, *lines):
        (self.top / "p.diff").write_text("".join(line + "\n" for line in lines))
        return "p.diff"

    def test_patch(self):
        self.build()
        patch = self.patch("diff --git a/prog.c b/prog.c", "--- a/prog.c", "+++ b/prog.c",
                           "@@ -4,3 +4,4 @@ int", " {", "+    if (a > b && a > 3)",
                           "         return a;", "     return b;", "@@ -9,2 +10,3 @@", " {",
                           "+    a++;", "     return a * 2;")
        value = self.json("--diff", patch)["diff"]
        self.assertEqual(value["lines"], {"all": 2, "hit": 1, "unknown": 0})
        self.assertEqual(value["files"][0]["missed"], [11])
        text = self.cover("--diff", patch, "--fail-under-diff", 50)
        self.assertIn("not run: 11", text)
        self.assertIn("passed: diff coverage", text)
        self.assertEqual(text.splitlines()[0], "passed: 50.0 % of the changed lines with code ran, 1 of 2")
        self.assertRegex(self.cover(), r"^[\d.]+ % of the lines ran, \d+ of \d+\n\n")
        self.assertRegex(self.cover("--diff", patch, "--fail-under-diff", 51, status=1), "^failed: 50.0 % of the changed")
        self.assertIn("changed lines", self.cover("--diff", patch, "--markdown", "-"))

    def test_what_is_missing_of_a_patch(self):
        """With a patch the lists are about its lines, in their context."""
        self.build()
        patch = self.patch("--- a/prog.c", "+++ b/prog.c", "@@ -10,0 +11 @@", "+    a++;", "@@ -19,0 +21 @@",
                           "+    for (int i = 0; i < 10; i++)")
        text = self.cover("--missing", "--branches", "--diff", patch, "--context", 1)
        self.assertIn("\nprog.c: not run: 11\n      10    {\n      11 !      a++;\n      12 !      return a * 2;\n\n", text)
        self.assertNotIn(" 30 ", text)
        self.assertNotIn("line 5:", text)
        covered = self.patch("--- a/prog.c", "+++ b/prog.c", "@@ -5,0 +6 @@", "+        return a;")
        self.assertNotIn("\nprog.c:", self.cover("--missing", "--diff", covered))

    def test_a_patch_of_another_state(self):
        """Its lines are elsewhere, or say something else: no gate passes without that being said."""
        self.build()
        lines = (self.top / "prog.c").read_text().splitlines()
        said = "is not what the patch says"
        for first, text, is_said in ((11, [lines[10]], False), (11, [lines[10] + "\r"], False), (11, lines[10:13], False),
                                     (10, [lines[10]], True), (11, [lines[10] + " "], True), (11, lines[10:12] + ["x"], True),
                                     (len(lines) + 9, ["x"], True)):
            patch = self.patch("--- a/prog.c", "+++ b/prog.c", f"@@ -{first},0 +{first},{len(text)} @@",
                               *("+" + line for line in text))
            problems = [p["text"] for p in self.json("--diff", patch)["problems"]]
            self.assertEqual([said in text for text in problems], [True] * is_said, (first, text))
        self.assertIn(f"prog.c: line {len(lines) + 9} {said}", self.cover("--diff", patch, "--fail-under-diff", 100, status=2))

    def test_patch_of_quilt(self):
        """Sides are folders of any name, which differ; what is below them is the same."""
        self.build()
        (self.top / "deep").mkdir()
        hunk = ["@@ -10,2 +10,3 @@", " {", "+    a++;", "     return a * 2;"]
        for old, new, missed in (("prog-1.orig/prog.c\tdate", "prog-1/prog.c\tdate", [11]),
                                 ("deep/prog.c", "deep/prog.c", []),
                                 ("x/deep/prog.c", "y/prog.c", []),
                                 ('"old/prog\\056c"', '"new/prog\\056c"', [11]),  # as git quotes names
                                 ('"a/prog\\056c"', "b/prog.c", [11]),
                                 ("b/prog.c", "a/prog.c", [11]),  # git diff -R
                                 ("b/old.c", "a/prog.c", [11]),
                                 ("./prog.c.orig", "./prog.c", [11]),  # diff -r old .
                                 ("../old/prog.c", ".././prog.c", [11]),
                                 ("b/prog.c", "b/prog.c", []),  # a folder of that name
                                 ("x/prog.cc", "y/prog.c", [])):
            value = self.json("--diff", self.patch("--- " + old, "+++ " + new, *hunk))["diff"]
            self.assertEqual(value["files"][0]["missed"], missed, new)

    def test_patch_that_is_none(self):
        self.build()
        self.cover("--diff", self.patch("hello", "world"), status=2)
        self.cover("--diff", self.patch("+++ b/prog.c", "@@ -1,9 +1,9 @@", " x"), status=2)
        self.cover("--diff", self.patch("+++ b/prog.c", "@@@ -1,9 +1,9 @@@", " x"), status=2)
        for lines in (("*** a/prog.c\tdate", "--- b/prog.c\tdate", "*" * 15, "*** 10,11 ****", "--- 10,11 ----", "! x"),
                      ("diff -r a/prog.c b/prog.c", "10c10", "< x", "---", "> y"),
                      ("diff a/prog.c b/prog.c", "9,10d8", "< x", "< y")):
            done = monarc("cover", "--diff", self.patch(*lines), cwd=self.top)
            self.assertEqual(done.returncode, 2, lines)
            self.assertIn("is not a unified diff; make one with", done.stderr.decode())
        self.cover("--fail-under-diff", 1, status=2)
        self.assertIn("not judged: no changed line holds code",
                      self.cover("--diff", self.patch(), "--fail-under-diff", 100, status=2))
        empty = self.json("--diff", self.patch())
        self.assertEqual(empty["diff"]["lines"]["all"], 0)

    def test_a_patch_of_one_of_two_sources(self):
        """A name that is the end of two sources' names means that which has the patch's lines; or neither."""
        self.build()
        for name in ("near", "far/away"):
            (self.top / name).mkdir(parents=True)
            (self.top / name / "part.c").write_text(
                f"int {name[0]}(int a)\n{{\n    if (a)\n        return 4;\n    return {len(name)};\n}}\n")
            run("gcc", "--coverage", "-c", "part.c", cwd=self.top / name)
        for line, text, want in ((1, "int f(int a)", "far/away/part.c"), (5, "    return 4;", "near/part.c"),
                                 (3, "    if (a)", "part.c"), (3, "    if (b)", "part.c")):
            patch = self.patch("--- part.c.orig", "+++ part.c", f"@@ -{line} +{line} @@", "-x", "+" + text)
            found = self.json("--diff", patch)
            self.assertEqual(found["diff"]["files"][0]["path"], want, text)
            self.assertEqual(any("part.c: may be any of 2 sources" in p["text"] for p in found["problems"]), want == "part.c")
        self.assertIn("not judged", self.cover("--diff", patch, "--fail-under-diff", 1, status=2))

    def test_patch_with_odd_names(self):
        self.build(name="pr\tog.c")
        patch = self.patch('--- "a/pr\\tog.c"', '+++ "b/pr\\tog.c"', "@@ -11 +11 @@", "-x",
                           "+    a++;")
        self.assertEqual(self.json("--diff", patch)["diff"]["files"][0]["missed"], [11])

    def test_cobertura_is_valid(self):
        if not shutil.which("xmllint"):
            self.skipTest("xmllint is not installed")
        self.build(name='pr"<&>og.c')
        self.cover("--cobertura", "c.xml", "-q", env={"SOURCE_DATE_EPOCH": "7"})
        done = subprocess.run(["xmllint", "--nonet", "--noout", "--dtdvalid", DTD, "c.xml"],
                              cwd=self.top, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn('timestamp="7"', (self.top / "c.xml").read_text())

    def test_tracefiles_come_back(self):
        self.build()
        for version in (1, 2):
            self.cover("-q", "--lcov", "a.info", "--lcov-version", version, "--test-name", "one")
            again = self.cover("--lcov", "-", "--lcov-version", version, "a.info")
            self.assertEqual(again, (self.top / "a.info").read_text())
            self.assertIn("TN:one\n", again)

    def test_files_that_begin_with_a_mark(self):
        """As tools of Windows write UTF-8: the report is that of the file without it."""
        self.build()
        self.cover("-q", "--lcov", "a.info", "--cobertura", "a.xml")
        for name in ("a.info", "a.xml"):
            (self.top / ("marked-" + name)).write_bytes(b"\xef\xbb\xbf" + (self.top / name).read_bytes())
            self.assertEqual(self.json(name)["totals"], self.json("marked-" + name)["totals"])
            self.assertIn("lines: 16, 12 of them ran", monarc("info", "marked-" + name, cwd=self.top).stdout.decode())

    def test_merging_adds_up_in_any_order(self):
        self.build()
        self.cover("-q", "--lcov", "once.info")
        subprocess.run(["./prog", "1"], cwd=self.top, capture_output=True, check=True)
        self.cover("-q", "--lcov", "twice.info")
        one = tracefile(self.cover("--lcov", "-", "once.info", "twice.info"))
        two = self.cover("--lcov", "-", "twice.info", "once.info")
        self.assertEqual(one, tracefile(two))
        self.assertEqual(one, tracefile(self.cover("--lcov", "-", ".", "once.info")))
        path = str(self.top / "prog.c")
        self.assertEqual(one[path][0][21], 3 * 11)
        self.assertEqual(len(one[path][2][5]), 4)

    def test_several_reports_at_once(self):
        self.build()
        self.cover("--lcov", "a.info", "--cobertura", "a.xml", "--json", "a.json", "--markdown",
                   "a.md")
        self.assertEqual(json.loads((self.top / "a.json").read_text())["totals"]["lines"]["all"], 16)
        self.cover("--lcov", "-", "--json", "-", status=2)

    def test_formats_by_name(self):
        self.build()
        for name in ("lcov", "json", "markdown", "text"):
            self.cover("--format", f"{name}=by-name")
            by_name = (self.top / "by-name").read_text()
            same = self.cover(*(() if name == "text" else (f"--{name}", "-")))
            self.assertEqual(by_name, same, name)
        self.assertEqual(self.cover("--format", "lcov"), self.cover("--lcov", "-"))
        for wrong in ("lcov=", "nothing=x", "nothing"):
            self.cover("--format", wrong, status=2)

    def lines_of(self):
        """Of each source and line: count, branches, branches taken; as the JSON has them."""
        return {source["path"]: {line["line"]: (line["count"], len(line.get("branches", [])),
                                                sum(b["count"] > 0 for b in line.get("branches", [])))
                                 for line in source["lines"] if line["count"] is not None}
                for source in self.json()["sources"]}

    def test_codecov(self):
        self.build(name='pr"\\<&>og.c')
        self.cover("--format", "codecov=c.json", "-q")
        found = json.loads((self.top / "c.json").read_text())["coverage"]
        self.assertEqual(found, {path: {str(n): f"{taken}/{all_}" if all_ and count else count
                                        for n, (count, all_, taken) in lines.items()}
                                 for path, lines in self.lines_of().items()})
        self.assertTrue(any("/" in str(v) for lines in found.values() for v in lines.values()))

    def test_sonarqube(self):
        self.build(name='pr"<&>og.c')
        self.cover("--format", "sonarqube=s.xml", "-q")
        top = xml.etree.ElementTree.parse(self.top / "s.xml").getroot()
        self.assertEqual((top.tag, top.attrib), ("coverage", {"version": "1"}))
        found = {file.get("path"): {int(l.get("lineNumber")): (l.get("covered"), int(l.get("branchesToCover", 0)),
                                                               int(l.get("coveredBranches", 0)))
                                    for l in file} for file in top}
        self.assertEqual(found, {path: {n: ("true" if count else "false", all_, taken)
                                        for n, (count, all_, taken) in lines.items()}
                                 for path, lines in self.lines_of().items()})

    def test_paths(self):
        self.build()
        self.assertEqual(self.json("--path-map", f"{self.top}=/elsewhere")["root"], "/elsewhere")
        self.cover("--exclude", "*.c")
        self.assertEqual(self.json("--exclude", "pro*")["sources"], [])
        self.assertEqual(len(self.json("--include", "prog.c")["sources"]), 1)
        self.assertEqual(self.json("--root", "/")["sources"][0]["path"],
                         str(self.top / "prog.c")[1:])

    def test_prefix_of_libgcov(self):
        self.build(runs=())
        places = {"GCOV_PREFIX": str(self.top / "moved"), "GCOV_PREFIX_STRIP": "2"}
        subprocess.run(["./prog"], cwd=self.top, env={**os.environ, **places}, capture_output=True,
                       check=True)
        self.assertTrue(list((self.top / "moved").rglob("*.gcda")))
        shutil.move(self.top / "moved", str(self.top) + ".moved")
        try:
            self.cover(status=1)
            places["GCOV_PREFIX"] = str(self.top) + ".moved"
            self.assertEqual(self.counts(self.json(env=places), "prog.c")[21], 11)
            both = self.json(".", str(self.top) + ".moved")
            self.assertEqual(self.counts(both, "prog.c")[21], 11)
        finally:
            shutil.rmtree(str(self.top) + ".moved")

    def test_names_that_gcc_mangles(self):
        """With -fprofile-dir the path of the object is the name of its counters: twins, and folders beside that of the build."""
        for name in "build/x", "build/y", "up", "cov":
            (self.top / name).mkdir(parents=True)
        for name in "x", "y":
            (self.top / f"{name}.c").write_text(f"int {name}(void)\n{{\n    return 1;\n}}\n")
            run("gcc", "--coverage", f"-fprofile-dir={self.top}/cov", "-c", f"../{name}.c", "-o", f"{name}/a.o", cwd=self.top / "build")
        (self.top / "m.c").write_text("int x(void), y(void);\nint main(void)\n{\n    return x() + y() - 2;\n}\n")
        run("gcc", "--coverage", f"-fprofile-dir={self.top}/cov", "-c", "../m.c", "-o", "../up/m.o", cwd=self.top / "build")
        run("gcc", "--coverage", "x/a.o", "y/a.o", "../up/m.o", "-o", "prog", cwd=self.top / "build")
        run("build/prog", cwd=self.top)
        found = sorted(path.name for path in (self.top / "cov").iterdir())
        self.assertTrue(len(found) == 3 and all(name.startswith("#") for name in found), found)
        for arguments in (), ("build", "up", "cov"):
            value = self.json(*arguments)
            got = {s["path"]: {*self.counts(value, s["path"]).values()} for s in value["sources"]}
            self.assertEqual(got, {"m.c": {1}, "x.c": {1}, "y.c": {1}}, arguments)
            self.assertEqual(value["problems"], [])

    def test_runs_are_added_up_as_the_program_adds_them(self):
        self.build(runs=())
        for place, times in ("one", 1), ("two", 2):
            for _ in range(times):
                subprocess.run(["./prog"], cwd=self.top, capture_output=True, check=True,
                               env={**os.environ, "GCOV_PREFIX": str(self.top / place),
                                    "GCOV_PREFIX_STRIP": "99"})
        apart = self.json()
        for place in "one", "two":
            os.rename(self.top / place, self.top / ("." + place))
        shutil.rmtree(self.top / ".one")
        shutil.rmtree(self.top / ".two")
        for _ in range(3):
            subprocess.run(["./prog"], cwd=self.top, capture_output=True, check=True)
        together = self.json()
        self.assertEqual(apart["inputs"]["counters"], 2)
        self.assertEqual((apart["sources"], apart["problems"]), (together["sources"], together["problems"]))

    def test_a_broken_run_among_others_is_named(self):
        self.build(runs=((), ()))
        whole = next(self.top.glob("*.gcda"))
        for place in "one", "two":
            (self.top / place).mkdir()
            shutil.copy(whole, self.top / place)
        self.assertEqual(self.counts(self.json(), "prog.c")[21], 66)
        broken = self.top / "two" / whole.name
        broken.write_bytes(whole.read_bytes()[:-20])
        cut = self.json(status=1)
        self.assertEqual(cut["inputs"]["counters"], 3)
        self.assertIn("two/" + whole.name, json.dumps(cut["problems"]))
        self.assertGreaterEqual(self.counts(cut, "prog.c")[21], 44)

    def test_templates_and_exceptions(self):
        (self.top / "other.cc").write_text(OTHER)
        (self.top / "t.cc").write_text(TEMPLATES)
        run("g++", "--coverage", "-O0", "-o", "prog", "t.cc", "other.cc", cwd=self.top)
        run("./prog", cwd=self.top)
        value = self.json()
        by_path = {s["path"]: s for s in value["sources"]}
        lines = {line["line"]: line for line in by_path["t.cc"]["lines"]}
        self.assertEqual(lines[6]["count"], 2)
        self.assertEqual(len(lines[6]["branches"]), 2)
        each = {s["path"]: s for s in self.json("--instances", "each")["sources"]}["t.cc"]["lines"]
        self.assertEqual(len({line["line"]: line for line in each}[6]["branches"]), 4)
        self.assertNotIn("branches", lines[19])
        self.assertGreater(value["left_out"]["exception_branches"], 4)
        everything = self.json("--all-branches", "--system")
        self.assertGreater(everything["totals"]["branches"]["all"],
                           value["totals"]["branches"]["all"] + 10)
        self.assertTrue(any(s["path"].startswith("/usr/") for s in everything["sources"]))
        self.assertIn("double larger<double>(double, double)", self.cover("--functions"))

    @slow
    def test_lines_far_beyond_the_others(self):
        text = """#include <stdio.h>
template <class T> T twice(T a)
{
    if (a > 1)
        a += a;
#line 1900000000
    if (a > 2)
        a += 1;
    return a;
}
int main()
{
    printf("%d\\n", twice(2) + (int)twice(0.5));
#line 2000000000
    return 0;
}
"""
        self.build("g++", name="far.cc", text=text)
        report = self.json()
        self.assertEqual(self.counts(report, "far.cc"), {2: 2, 4: 2, 5: 1})
        self.assertEqual(report["left_out"]["lines_behind"], 6)
        report = monarc("gcov", "-b", "-c", "prog-far.gcda", cwd=self.top)
        self.assertEqual(report.returncode, 0, report.stderr)
        # From gcc 14 on, lines of instances count as well.
        self.assertRegex(report.stdout, rb"Lines executed:(100.00% of 9|90.48% of 21)\n")
        compiler = int(run("gcc", "-dumpversion", cwd=self.top).stdout.split(b".")[0])
        self.assertIn(b"of 9\n" if compiler < 14 else b"of 21\n", report.stdout)

    @slow
    def test_thunks_are_no_damage(self):
        """They end in a jump to a function, which the notes have no arc for."""
        self.build("g++", name="t.cc", text="""struct A { virtual ~A() {} virtual int f() { return 1; } int a[4]; };
struct B { virtual ~B() {} virtual int g() { return 2; } };
struct C : A, B { int f() override { return 3; } int g() override { return 4; } };
int main()
{
    C c; B *b = &c; A *a = &c;
    return b->g() + a->f() - 7;
}
""")
        value = self.json("--fail-under-line", 100)
        self.assertEqual(value["problems"], [])
        self.assertEqual(value["totals"]["functions"]["unknown"], 0)

    def test_what_cmake_compiles_is_nobodys(self):
        folder = self.top / "build/CMakeFiles/3.25.1/CompilerIdC"
        folder.mkdir(parents=True)
        (folder / "CMakeCCompilerId.c").write_text("int main(void) { return 0; }\n")
        run("gcc", "--coverage", "-o", "a.out", "CMakeCCompilerId.c", cwd=folder)
        self.build()
        value = self.json()
        self.assertEqual([s["path"] for s in value["sources"]], ["prog.c"])
        self.assertEqual(value["problems"], [])

    @slow
    def test_the_root_is_no_project_of_the_systems_sources(self):
        self.build("g++", name="t.cc", text="#include <vector>\nint main() { std::vector<int> v(3); v.push_back(1); }\n")
        sources = [s["path"] for s in self.json("--root", "/")["sources"]]
        self.assertEqual(sources, [str(self.top / "t.cc")[1:]])
        inside = [s["path"] for s in self.json("--root", "/usr/include/c++")["sources"]]
        self.assertGreater(len(inside), 1)

    @slow
    def test_a_patch_shows_its_own_sources(self):
        (self.top / "other.cc").write_text(OTHER)
        (self.top / "t.cc").write_text(TEMPLATES)
        run("g++", "--coverage", "-O0", "-o", "prog", "t.cc", "other.cc", cwd=self.top)
        run("./prog", cwd=self.top)
        patch = self.patch("--- a/t.cc", "+++ b/t.cc", "@@ -6 +6 @@", "-    if (b < a)", "+    if (a > b)")
        text = self.cover("--diff", patch)
        table = text[:text.index("[all of 2 sources]")]
        self.assertIn("  t.cc\n[1 more source, not shown]\n", table)
        self.assertNotIn("other.cc", table)
        self.assertIn("  other.cc\n", self.cover("--diff", patch, "--limit", 5))

    def test_longjmp_is_no_damage(self):
        self.build(text="""#include <setjmp.h>
static jmp_buf back;
static void jump(int n) { if (n) longjmp(back, n); }
int main(void) { if (!setjmp(back)) jump(1); return 0; }
""")
        self.assertEqual(self.json()["totals"]["lines"]["unknown"], 0)


class Project(Case):
    """Which sources a report is about when nobody says so."""

    def setUp(self):
        super().setUp()
        self.here = self.top / "shop"
        for path in "shop/src", "shop/build/_deps/kit", "shop/build/gen", "kit":
            (self.top / path).mkdir(parents=True)
        for path, name in (("shop/src/a.c", "main"), ("shop/src/b.c", "b"), ("kit/k.c", "k"),
                           ("shop/build/_deps/kit/d.c", "d"), ("shop/build/gen/g.c", "g")):
            (self.top / path).write_text(f"int {name}(void) {{ return 0; }}\n")
        run("gcc", "--coverage", "-O0", "-o", "prog", "../src/a.c", "../src/b.c", "_deps/kit/d.c",
            "gen/g.c", self.top / "kit/k.c", cwd=self.here / "build")
        subprocess.run(["./prog"], cwd=self.here / "build", check=True)

    def sources(self, *arguments, cwd="shop"):
        value = self.json(*arguments, cwd=self.top / cwd)
        return [s["path"] for s in value["sources"]], value["left_out"]["outside_sources"]

    @slow
    def test_current_folder(self):
        self.assertEqual(self.sources(), (["build/gen/g.c", "src/a.c", "src/b.c"], 2))
        text = self.cover(cwd=self.here)
        self.assertIn(f"left out: 2 sources outside of {self.here}, such as ", text)

    @slow
    def test_working_copy(self):
        (self.here / ".git").write_text("gitdir: elsewhere\n")
        whole = (["build/gen/g.c", "src/a.c", "src/b.c"], 2)
        for cwd, arguments in ("shop", ()), ("shop/build", ()), ("shop/src", ("../build",)):
            self.assertEqual(self.sources(*arguments, cwd=cwd), whole, cwd)
        self.assertEqual(self.sources("shop/build", cwd="."), whole)

    @slow
    def test_build_folder(self):
        (self.here / "build/build.ninja").touch()
        shutil.rmtree(self.top / "kit")
        self.assertEqual(self.sources(cwd="shop/build")[0][-3:],
                         ["shop/build/gen/g.c", "shop/src/a.c", "shop/src/b.c"])

    @slow
    def test_said_otherwise(self):
        self.assertEqual(self.sources("--root", "src", "."), (["a.c", "b.c"], 3))
        self.assertEqual(len(self.sources("--system")[0]), 5)
        self.assertEqual([Path(p).name for p in self.sources("--include", "*/kit/*")[0]],
                         ["k.c", "d.c"])

    @slow
    def test_tracefiles_are_whole(self):
        (self.top / "x.c").write_text("int x;\n")
        (self.top / "t.info").write_text(f"SF:{self.top}/x.c\nDA:1,1\nend_of_record\n")
        self.assertEqual(len(self.sources("build", "../t.info")[0]), 6)


class Instances(Case):
    """Random templates and inlines: each instance's outcomes are known by evaluating them here."""

    TYPES = {"int": int, "long": int, "double": float, "unsigned char": int}

    def program(self, numbers):
        """Calls of pick<T>() and of clamp(), which is inlined into the callers; the truth by line, those of
        clamp() as 13 to 15."""
        (self.top / "c.h").write_text("static inline __attribute__((always_inline)) int clamp(int x)\n{\n"
                                      "    if (x < 2)\n        return 2;\n    return x;\n}\n")
        text = ["template <class T> int pick(T a, T b)", "{", "    if (a < b)", "        return 1;",
                "    for (T i = 0; i < b && i < 3; i++)", "        a++;", "    if (a > 4)", "        return 2;", "    return 3;", "}",
                '#include "c.h"', "int one(int x) { return clamp(x); }",
                "int two(int x) { return clamp(x); }", "int main()", "{"]
        truth = {}

        def count(name, line, way, n=1):
            of = truth.setdefault(name, {"lines": {}, "ways": {}})
            if way is None:
                of["lines"][line] = of["lines"].get(line, 0) + n
            else:
                of["ways"].setdefault(line, {})
                of["ways"][line][way] = of["ways"][line].get(way, 0) + n
        for name in self.TYPES:
            for _ in range(numbers.randrange(1, 4)):
                a, b = numbers.randrange(6), numbers.randrange(6)
                text.append(f"    pick<{name}>({a}, {b});")
                count(name, 3, None)
                count(name, 3, a < b)
                if a < b:
                    count(name, 4, None)
                    continue
                turns = min(b, 3)
                count(name, 6, None, turns)
                count(name, 7, None)
                count(name, 7, a + turns > 4)
                count(name, 8 if a + turns > 4 else 9, None)
        for name in "one", "two":
            for _ in range(numbers.randrange(1, 3)):
                x = numbers.randrange(4)
                text.append(f"    {name}({x});")
                count(name, 13, None)
                count(name, 13, x < 2)
                count(name, 14 if x < 2 else 15, None)
        return "\n".join([*text, "}", ""]), truth

    @slow
    def test_each_rule_counts_what_it_says(self):
        numbers = seeds.generator("each rule counts what it says")
        sums = {"union": sum, "worst": min}
        for turn in range(4):
            text, truth = self.program(numbers)
            (self.top / "i.cc").write_text(text)
            for old in self.top.glob("*.gc*"):
                old.unlink()
            run("g++", "--coverage", "-O0", "-o", "prog", "i.cc", cwd=self.top)
            run("./prog", cwd=self.top)
            groups = {line: list(self.TYPES) if line < 10 else ["one", "two"]
                      for line in (3, 4, 6, 7, 8, 9, 13, 14, 15)}
            for rule in "union", "worst", "each":
                value = self.json("--instances", rule)
                self.assertEqual(value["instances"], rule)
                lines = {line["line"] + (10 if source["path"] == "c.h" else 0): line
                         for source in reversed(value["sources"]) for line in source["lines"]}
                for line, names in groups.items():
                    counts = [truth[name]["lines"].get(line, 0) for name in names]
                    self.assertEqual(lines[line]["count"], sums.get(rule, sum)(counts), (rule, line, text))
                    if line not in (3, 7, 13):
                        continue
                    ways = [[truth[name]["ways"].get(line, {}).get(way, 0) for way in (True, False)] for name in names]
                    got = [branch["count"] for branch in lines[line].get("branches", [])]
                    if rule == "each":
                        want = [sorted(way) for way in ways]
                        got = [sorted(got[i:i + 2]) for i in range(0, len(got), 2)]
                    else:
                        want, got = [sums[rule](way) for way in zip(*ways)], got
                    self.assertEqual(sorted(got), sorted(want), (rule, line, text))
                said = self.cover("--instances", rule)
                self.assertIn(f"--instances {rule}: ", said)

    def test_gcovs_sections(self):
        """The sections that gcov has for each instance, put together by each rule."""
        text, _ = self.program(seeds.generator("gcovs sections"))
        (self.top / "i.cc").write_text(text)
        run("g++", "--coverage", "-O0", "-o", "prog", "i.cc", cwd=self.top)
        run("./prog", cwd=self.top)
        run("gcov", "--json-format", "-b", next(self.top.glob("*.gcda")).name, cwd=self.top)
        with gzip.open(next(self.top.glob("*.gcov.json.gz"))) as file:
            theirs = next(f for f in json.load(file)["files"] if f["file"] == "i.cc")["lines"]
        parts = {}
        for line in theirs:
            if "pick" in line.get("function_name", ""):
                parts.setdefault(line["line_number"], []).append(line)
        for rule, sums in ("union", sum), ("worst", min):
            ours = {line["line"]: line for line in self.json("--instances", rule)["sources"][-1]["lines"]}
            for number, lines in parts.items():
                self.assertEqual(ours[number]["count"], sums(line["count"] for line in lines), (rule, number))
                theirs = [sums(way) for way in zip(*[[b["count"] for b in line["branches"]] for line in lines])]
                got = [b["count"] for b in ours[number].get("branches", [])]
                self.assertEqual(got, theirs, (rule, number))


class Peers(Case):
    def is_lcov_2(self):
        return b" 1." not in run("lcov", "--version", cwd=self.top).stdout

    def compare(self, folder):
        run("lcov", "--capture", "-d", folder, "-o", "lcov.info", "--rc", lcov_branches(),
            cwd=self.top)
        theirs = tracefile((self.top / "lcov.info").read_text(errors="replace"))
        ours = tracefile(self.cover("--ran-only", "--system", "--all-branches", "--no-markers",
                                    "--lcov", "-", folder))
        self.assertEqual(ours.keys() - theirs.keys(), set())
        for path in ours:
            self.assertEqual(ours[path][0], theirs[path][0], path)
            self.assertEqual(ours[path][1], theirs[path][1], path)
            for line in ours[path][2].keys() | theirs[path][2].keys():
                # lcov keeps the branches of an inline function apart for each object
                self.assertEqual(sum(ours[path][2][line]), sum(theirs[path][2][line]), (path, line))
                if not self.is_lcov_2():  # which adds those of a template's instances up
                    self.assertLessEqual(len(ours[path][2][line]), len(theirs[path][2][line]))

    @slow
    @unittest.skipUnless(shutil.which("lcov"), "lcov is not installed")
    def test_lcov_in_c(self):
        self.build(text=re.sub(r"/\*.*?\*/", "", PROGRAM))
        self.compare(".")

    @unittest.skipUnless(shutil.which("lcov"), "lcov is not installed")
    @slow
    def test_lcov_in_cxx(self):
        (self.top / "other.cc").write_text(OTHER)
        (self.top / "t.cc").write_text(TEMPLATES)
        run("g++", "--coverage", "-O0", "-o", "prog", "t.cc", "other.cc", cwd=self.top)
        run("./prog", cwd=self.top)
        self.compare(".")

    @unittest.skipUnless(shutil.which("lcov"), "lcov is not installed")
    def test_lcov_reads_ours(self):
        self.build()
        self.cover("-q", "--lcov", "a.info")
        done = run("lcov", "--summary", "a.info", "--rc", lcov_branches(), cwd=self.top)
        self.assertIn(b"75.0% (12 of 16 lines)", done.stdout + done.stderr)

    @slow
    @unittest.skipUnless(shutil.which("gcovr"), "gcovr is not installed")
    def test_gcovr(self):
        self.build(text=re.sub(r"/\*.*?\*/", "", PROGRAM))
        run("gcovr", "--json", "g.json", ".", cwd=self.top)
        theirs = json.loads((self.top / "g.json").read_text())["files"]
        ours = self.json()
        self.assertEqual([f["file"] for f in theirs], [s["path"] for s in ours["sources"]])
        for file in theirs:
            lines = {l["line_number"]: l["count"] for l in file["lines"] if not l.get("gcovr/noncode")}
            self.assertEqual(self.counts(ours, file["file"]), lines)


class Damage(Case):
    def counters(self):
        return next(self.top.glob("*.gcda"))

    def test_nothing_there(self):
        self.assertIn("has no notes", monarc("cover", cwd=self.top).stderr.decode())
        self.cover(status=2)
        self.cover("missing", status=2)

    def test_not_run(self):
        self.build(runs=())
        text = self.cover(status=1)
        self.assertIn("1 of 1 object left no counters", text)

    def test_objects_without_functions_need_not_run(self):
        self.build()
        (self.top / "data.c").write_text("int table[4] = {1, 2, 3};\n")
        run("gcc", "--coverage", "-c", "data.c", cwd=self.top)
        self.assertTrue((self.top / "data.gcno").exists())
        self.assertNotIn("left no counters", self.cover())
        next(self.top.glob("*prog.gcno")).unlink()
        next(self.top.glob("*.gcda")).unlink()
        self.assertIn("there are no counters", monarc("cover", cwd=self.top).stderr.decode())

    @in_both
    def test_cut_counters_are_unknown_never_zero(self):
        self.build()
        whole = self.counters().read_bytes()
        known = self.counts(self.json(), "prog.c")
        for length in share(range(len(whole)), 16):
            self.counters().write_bytes(whole[:length])
            value = self.json(status=1)
            for line, count in self.counts(value, "prog.c").items():
                self.assertIn(count, (known[line], None), (length, line))
            self.assertTrue(value["problems"])

    @slow
    def test_cut_notes(self):
        self.build()
        notes = next(self.top.glob("*.gcno"))
        whole = notes.read_bytes()
        for length in range(len(whole)):
            notes.write_bytes(whole[:length])
            self.assertIn(monarc("cover", cwd=self.top).returncode, (0, 1, 2))
        notes.write_bytes(whole[:len(whole) // 2])
        self.assertTrue(self.json(status=1)["problems"])

    def test_unknown_lines_fail_a_gate(self):
        self.build()
        self.counters().write_bytes(b"")
        text = self.cover("--fail-under-line", 1, status=1)
        self.assertIn("unknown", text)
        self.assertIn("FAILED: line", text)
        self.assertRegex(text, r"^failed: ")
        self.assertNotIn("DA:", self.cover("--lcov", "-", status=1))

    def test_other_build(self):
        self.build()
        (self.top / "prog.c").write_text(PROGRAM.replace("a > b && a > 3", "a > b"))
        run("gcc", "--coverage", "-O0", "-o", "prog2", "-dumpbase", "prog", "prog.c", cwd=self.top)
        notes = [p for p in self.top.glob("*.gcno")]
        target = self.counters().with_suffix(".gcno")
        for path in notes:
            if path != target:
                shutil.move(path, target)
        text = self.cover(status=1)
        self.assertIn("was left by another build", text)
        self.assertIn("notes and counters are from different builds", text)

    def test_counters_of_another_program(self):
        self.build()
        shutil.copy(ARCS / "gcc-12/prog_cc-prog.gcda", self.counters())
        value = self.json(status=1)
        self.assertTrue(any("does not have" in p["text"] for p in value["problems"]))

    def test_counters_alone(self):
        self.build()
        next(self.top.glob("*.gcno")).unlink()
        self.assertIn("no notes", monarc("cover", cwd=self.top).stderr.decode())
        shutil.copy(ARCS / "gcc-12/prog_c-prog.gcno", self.top)
        text = self.cover(status=1)
        self.assertIn("has no notes: no .gcno of that name and stamp", text)

    def test_links_that_go_round(self):
        self.build()
        (self.top / "loop").symlink_to(".")
        (self.top / "deep").mkdir()
        (self.top / "deep/up").symlink_to("..")
        self.assertEqual(self.counts(self.json("--follow"), "prog.c")[21], 11)
        self.assertEqual(self.counts(self.json(".", "deep/..", "loop"), "prog.c")[21], 11)

    def test_names_with_line_ends(self):
        self.build(name="pr\nog.c")
        self.assertIn("pr?og.c", self.cover())
        self.assertNotIn("og.c\n", self.cover("--lcov", "-").replace("pr?og.c", ""))
        self.counters().write_bytes(b"")
        self.assertEqual(len(monarc("cover", cwd=self.top).stderr.splitlines()), 1)

    def test_broken_tracefiles(self):
        good = "TN:\nSF:/a.c\nDA:1,1\nDA:2,0\nend_of_record\n"
        for bad in ("DA:1,1\n", "SF:/b.c\nDA:x,1\n", "SF:/b.c\nDA:1,1\n", "end_of_record\n",
                    "SF:/b.c\nBRDA:1,0,0\n", "SF:/b.c\nFNA:0,1,f\n", "SF:\n",
                    "SF:/b.c\nMCDC:1,99,t,1,0,x\n"):
            (self.top / "a.info").write_text(good + bad)
            value = self.json("a.info", status=1)
            self.assertEqual([s["path"] for s in value["sources"]], ["/a.c"], bad)
            self.assertIn("a.info: line", value["problems"][0]["text"])
        (self.top / "a.info").write_text("hello\n")
        self.cover("a.info", status=2)

    def test_odd_tracefiles(self):
        (self.top / "a.info").write_text(
            "# made by hand\r\nTN:t\r\nSF:/a.c\r\nVER:x\r\nNEW:1\r\nDA:1,1e3,sum\r\nDA:2,2.0\r\n"
            "DA:3,-5\r\nDA:4,99999999999999999999\r\nFN:1,9,f,g\r\nFNDA:2,f,g\r\n"
            "BRDA:1,e0,a || b, c,1\r\nBRDA:1,0,(2),-\r\nend_of_record\r\n")
        value = self.json("a.info", status=1)
        self.assertEqual(self.counts(value, "/a.c"),
                         {1: 1000, 2: 2, 3: 0, 4: 18446744073709551615})
        self.assertIn("1 counts are negative", value["problems"][0]["text"])
        self.assertEqual(value["sources"][0]["functions"][0]["end_line"], 9)


if __name__ == "__main__":
    harness.main()
