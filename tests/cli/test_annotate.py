"""annotate and lines --counts: a small program with an invented profile, its sources present, moved, missing,
cut short and odd; the laws; the forms; refusals."""

import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import NM, SKIPPED, check_schema, gmon, main, monarc

CC = ["gcc"]  # whose blocks and lines the cases know
SOURCE = """\
static inline __attribute__((always_inline)) int twice(int x)
{
    return x + x;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
\tfor (int i = 0; i < n; i++)
        sum += twice(i);
    return sum;
}

int idle(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    return work(argc) + idle();
}
"""


def blocks(pairs):
    return b"\2" + struct.pack("<I", len(pairs)) + b"".join(struct.pack("<QQ", *p) for p in pairs)


class Program(unittest.TestCase):
    """A program in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc annotate\n"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "src dir").mkdir()
        (cls.folder / "src dir/prog.c").write_text(SOURCE)
        subprocess.run([*CC, "-g", "-O0", "-fno-pie", "-no-pie", "src dir/../src dir/prog.c", "-o",
                        "prog"], cwd=cls.folder, check=True, stdin=subprocess.DEVNULL)
        names = subprocess.run([*NM, "prog"], cwd=cls.folder, check=True, capture_output=True,
                               text=True).stdout
        cls.at = {name: int(at, 16) for at, name in re.findall(r"(\w+) [Tt] (\w+)", names)}
        lines = subprocess.run(["objdump", "--dwarf=decodedline", "prog"], cwd=cls.folder,
                               check=True, capture_output=True, text=True).stdout
        cls.line_at = {}
        for line, at in re.findall(r"prog\.c +(\d+) +(0x[0-9a-f]+)", lines, re.M):
            cls.line_at.setdefault(int(line), int(at, 16))
        low, high = cls.at["work"] & ~3, (cls.at["main"] + 64) & ~3
        bins = [0] * (high - low)  # one a byte
        for line, count in (3, 60), (10, 30), (8, 9), (15, 1):
            bins[cls.line_at[line] - low] += count
        arcs = [(cls.at["main"] + 8, cls.at["work"], 7), (cls.at["main"] + 12, cls.at["idle"], 5)]
        (cls.folder / "gmon.out").write_bytes(gmon([(low, high, bins)], arcs))
        counts = [(cls.line_at[8], 7), (cls.line_at[9], 0), (cls.line_at[10], 21),
                  (cls.line_at[10] + 1, 4), (cls.line_at[15], 0)]
        (cls.folder / "blocks.gmon").write_bytes(gmon([], arcs) + blocks(counts))

    def run_monarc(self, *arguments, status=0, **more):
        done = monarc(*arguments, cwd=self.folder, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() if not status else done.stderr.decode()

    def annotate(self, *arguments, **more):
        return self.run_monarc("annotate", *arguments, **more)

    def annotated(self, *arguments):
        found = json.loads(self.annotate("--json", *arguments))
        check_schema(self, "annotate", found)
        return found


class Annotate(Program):
    def test_text(self):
        text = self.annotate("prog")
        self.assertRegex(text, r"src dir/prog\.c  100\.0 % of all samples")
        self.assertRegex(text, r" 60\.0 +0\.60 +3      return x \+ x;\n")
        self.assertRegex(text, r" 30\.0 +0\.30 +10          sum \+= twice\(i\);\n")
        self.assertRegex(text, r"\n +7 +7  \{\n")
        self.assertRegex(text, r"\n +9          for \(int i")  # the tab
        self.assertNotIn("argv", text)
        self.assertNotIn("monarc annotate\n", text)  # the folder's newline

    def test_all_and_context(self):
        text = self.annotate("--all", "prog")
        for number, line in enumerate(SOURCE.splitlines(), 1):
            self.assertRegex(text, rf" {number}(  |\n|$)", line)
        short = self.annotate("--context=0", "-m50", "prog")
        self.assertEqual(re.findall(r" (\d+)  \S* *[a-z{]", short.split("line\n")[1]), ["3"])

    def test_law(self):
        for extra in [], ["--all"], ["-m40"], ["--function", "work"], ["--file", "prog.c"]:
            found = self.annotated(*extra, "prog")
            shown = sum(line.get("self_samples", 0) for f in found["files"] for line in f["lines"])
            rest = found["omitted"]
            total = shown + rest["self_samples"] + rest["no_line_samples"] + rest["other_samples"]
            self.assertAlmostEqual(total + found["summary"]["unattributed_samples"],
                                   found["summary"]["samples"], places=9, msg=extra)

    def test_selected(self):
        self.assertEqual(self.annotate("--select", "prog.c:idle", "prog"),
                         self.annotate("--file", "prog.c", "--function", "idle", "prog"))
        self.assertEqual(self.annotate("--select", "prog.c", "prog"),
                         self.annotate("--file", "prog.c", "prog"))
        for place, why in ("prog.c:3", "not a line"), ("", "is not a place"), ("prog.c:nobody", "nobody"):
            done = monarc("annotate", "--select", place, "prog", cwd=self.folder)
            self.assertEqual(done.returncode, 2, place)
            self.assertIn(why, done.stderr.decode())

    def test_function(self):
        text = self.annotate("--function", "idle", "prog")
        self.assertRegex(text, r" 1\.0 .*15  \{")
        self.assertNotIn("sum += twice", text)
        self.assertIn("99.0 % of all samples in other code", text)
        work = self.annotated("--function", "work", "prog")
        lines = {line["line"]: line for line in work["files"][0]["lines"]}
        self.assertEqual(lines[3]["self_samples"], 60)  # inlined into it
        self.assertEqual(lines[3]["function"], "twice")
        twice = self.annotated("--function", "twice", "prog")
        self.assertEqual([round(f["self_samples"]) for f in twice["files"]], [60])
        self.assertIn("has no function 'nobody'",
                      self.annotate("--function", "nobody", "prog", status=2))

    def test_file(self):
        for name in "prog.c", "src dir/prog.c", str(self.folder / "src dir/prog.c"):
            self.assertIn("return x + x", self.annotate("-F", name, "prog"))
        for name in "rog.c", "other.c", "dir/prog.c":
            self.assertIn("nothing was measured in a file", self.annotate("-F", name, "prog",
                                                                          status=2))

    def test_code(self):
        text = self.annotate("--asm", "--function", "work", "prog")
        self.assertRegex(text, r"30\.0 +0\.30 .* [0-9a-f]+:  \S+")
        found = self.annotated("--asm=intel", "prog")
        lines = {line["line"]: line for line in found["files"][0]["lines"]}
        addresses = [int(i["address"], 16) for i in lines[10]["instructions"]]
        self.assertIn(self.line_at[10], addresses)
        self.assertEqual(addresses, sorted(addresses))
        self.assertAlmostEqual(sum(i["self_samples"] for i in lines[3]["instructions"]), 60)
        self.assertIn("--asm", self.annotate("--asm=masm", "prog", status=2))

    def test_code_without_capstone(self):
        """A library that is loaded late is named when it is missing: here a file that is none hides it."""
        hidden = self.folder / "hidden"
        hidden.mkdir()
        for version in range(3, 10):
            (hidden / f"libcapstone.so.{version}").write_bytes(b"")
        text = monarc("annotate", "--asm", "--function", "work", "prog", cwd=self.folder,
                      env={**os.environ, "LD_LIBRARY_PATH": str(hidden)}).stdout.decode()
        self.assertRegex(text, r"\nSome code is not shown: libcapstone\.so\.\d is not installed\n")
        self.assertNotIn("Some code is not shown", self.annotate("--asm", "--function", "work", "prog"))

    def test_counts_beside_lines(self):
        lines = {line["line"]: line
                 for line in self.annotated("--all", "prog", "blocks.gmon")["files"][0]["lines"]}
        self.assertEqual((lines[8]["executions"], lines[8]["blocks"]), (7, 1))
        self.assertEqual((lines[10]["executions"], lines[10]["blocks"]), (25, 2))
        self.assertEqual((lines[9]["executions"], lines[9]["is_inferred"]), (0, False))
        self.assertTrue(lines[7]["is_inferred"])
        self.assertNotIn("executions", lines[1])
        text = self.annotate("--all", "prog", "blocks.gmon")
        self.assertRegex(text, r" 25 +2 +10  ")
        self.assertRegex(text, r" ~7 +7  ")

    def test_colour(self):
        plain = self.annotate("prog")
        self.assertNotIn("\033", plain)
        colour = self.annotate("--color=always", "prog")
        self.assertIn("\033[1;31m", colour)
        self.assertEqual(re.sub("\033\\[[0-9;]*m", "", colour), plain)


class Sources(Program):
    """Sources that are not where they were, or not what they were."""

    def moved(self):
        shutil.move(self.folder / "src dir", self.folder / "elsewhere")
        self.addCleanup(lambda: shutil.move(self.folder / "elsewhere", self.folder / "src dir"))

    def test_missing(self):
        self.moved()
        text = self.annotate("prog")
        self.assertRegex(text, r"no source: not found; name where it is with -I FOLDER or --path-map")
        self.assertRegex(text, r"60 .* 3  \(in twice\)")
        found = self.annotated("prog")["files"][0]
        self.assertIsNone(found["path"])
        self.assertEqual(found["problem"], "not found")

    def test_found_again(self):
        self.moved()
        there = self.folder / "elsewhere"
        for options, env in ((["-I", there], {}), (["-I", f"/nowhere:{there}"], {}),
                             (["--path-map", f"{self.folder}/src dir={there}"], {}),
                             (["--path-map", f"{self.folder}/src dir/={there}/"], {}),
                             ([], {"GPROF_PATH": str(there)})):
            text = self.annotate(*options, "prog", env=env)
            self.assertIn("return x + x;", text)
            self.assertIn("recorded as", text)
        self.assertIn("FROM=TO", self.annotate("--path-map", "nonsense", "prog", status=2))

    def rewritten(self, data):
        path = self.folder / "src dir/prog.c"
        path.write_bytes(data)
        self.addCleanup(path.write_text, SOURCE)

    def test_shorter(self):
        self.rewritten(b"one\ntwo\nthree")
        text = self.annotate("prog")
        self.assertRegex(text, r"has 3 lines, the program knows of line \d+: not the file")
        self.assertRegex(text, r" 3  three\n")
        self.assertRegex(text, r" 10  \(past the end of the file; in work\)")

    def test_empty_and_junk(self):
        self.rewritten(b"")
        self.assertIn("past the end of the file", self.annotate("prog"))
        self.rewritten(b"\0\1\x1b[31m\xff\n" * 30)
        text = monarc("annotate", "--all", "prog", cwd=self.folder).stdout
        self.assertNotIn(b"\x1b", text)
        self.assertNotIn(b"\0", text)
        json.loads(monarc("annotate", "--json", "prog", cwd=self.folder).stdout)

    def test_long_lines(self):
        self.rewritten(b"\n\n" + b"x" * (10 << 20) + b"\n" * 20)
        text = self.annotate("prog")
        self.assertLess(len(text), 10000)
        self.assertRegex(text, r" 3  x{400} \[\d+ more bytes\]")

    def test_newer(self):
        os.utime(self.folder / "prog", (1, 1))
        self.assertIn("newer than the program", self.annotate("prog"))
        os.utime(self.folder / "prog")
        os.utime(self.folder / "src dir/prog.c", (1, 1))
        self.assertNotIn("newer than the program", self.annotate("prog"))

    def test_not_a_file(self):
        self.moved()
        (self.folder / "src dir").mkdir()
        os.mkfifo(self.folder / "src dir/prog.c")
        self.addCleanup(lambda: shutil.rmtree(self.folder / "src dir"))
        self.assertIn("no source", self.annotate("prog", timeout=600))


class Generated(Program):
    """What a generator wrote: lines of two other files, one of them without end."""

    def test_line_directives(self):
        (self.folder / "gram.y").write_text("%%\nexpr: 'x' { hits++; }\n")
        (self.folder / "gram.c").write_text(
            'int hits;\nint main(void)\n{\n#line 2 "gram.y"\n    hits++;\n'
            '#line 4294967 "no such file.y"\n    hits--;\n#line 90 "gram.c"\n    return hits;\n}\n')
        subprocess.run([*CC, "-g", "-O0", "-fno-pie", "-no-pie", "gram.c", "-o", "gram"],
                       cwd=self.folder, check=True, stdin=subprocess.DEVNULL)
        names = subprocess.run([*NM, "gram"], cwd=self.folder, check=True, capture_output=True,
                               text=True).stdout
        low = int(re.search(r"(\w+) T main", names)[1], 16)
        (self.folder / "gram.gmon").write_bytes(gmon([(low, low + 16, [1] * 16),
                                                      (low + 16, low + 48, [1] * 32)]))
        found = {f["recorded"].rpartition("/")[2]: f
                 for f in self.annotated("gram", "gram.gmon")["files"]}
        self.assertEqual(set(found), {"gram.y", "no such file.y", "gram.c"})
        self.assertIn("expr: 'x' { hits++; }", [row["text"] for row in found["gram.y"]["lines"]])
        self.assertTrue(found["gram.c"]["is_short"])
        self.assertEqual(found["no such file.y"]["lines"][0]["line"], 4294967)


class Counts(Program):
    def counts(self, *arguments, **more):
        return self.run_monarc("lines", "--counts", *arguments, "prog", "blocks.gmon", **more)

    def test_text(self):
        text = self.counts()
        self.assertIn("Blocks   5 in 2 functions: 3 executed (60.00 %), 2 never\n", text)
        self.assertIn("         32 executions in all\n", text)
        self.assertRegex(text, r"\n +25 +2 +4 +21  .*prog\.c:10  work\n")
        self.assertRegex(text, r"prog\.c: 3, 9, 15-17\n")
        self.assertRegex(self.counts("--blocks"), rf"\n +21 +{self.line_at[10]:#x}  .*:10  work\n")
        self.assertNotIn(":10", self.counts("--never"))
        self.assertIn("more lines, not shown: --all]", self.counts("-n1"))
        self.assertNotIn("more lines", self.counts("--all"))

    def test_forms_agree(self):
        found = json.loads(self.counts("--json", "--blocks"))
        check_schema(self, "lines_counts", found)
        rows = list(csv.DictReader(io.StringIO(self.counts("--csv"))))
        self.assertEqual([(r["line"], r["executions"], r["blocks"]) for r in rows],
                         [(str(r["line"]), str(r["executions"]), str(r["blocks"]))
                          for r in found["lines"]])
        rows = list(csv.DictReader(io.StringIO(self.counts("--csv", "--blocks"))))
        self.assertEqual([(r["address"], r["executions"]) for r in rows],
                         [(b["address"], str(b["executions"])) for b in found["blocks"]])
        self.assertEqual(sum(b["executions"] for b in found["blocks"]),
                         found["totals"]["executions"])
        place = json.loads(self.counts("--json", "--sort", "name"))["lines"]
        self.assertEqual([r["line"] for r in place], sorted(r["line"] for r in place))

    def test_filters(self):
        for options in ["--function", "idle"], ["--select", "prog.c:idle"], ["--select", "prog.c", "--function", "idle"]:
            text = self.counts(*options)
            self.assertNotIn("work", text)
            self.assertIn(":15", text)
        self.assertEqual(self.counts("--select", "prog.c"), self.counts())

    def test_refusals(self):
        self.assertIn("has no counts of lines or blocks", self.run_monarc("lines", "--counts", "prog", status=2))
        for options, says in ((["--sort=self"], "'--sort' takes calls (executions) or name"), (["--function=x", "--function=y"],
                                                                                       "'--function' may be given once"),
                              (["--select=a.c", "--select=b.c"], "may be given once"), (["--inlines"], "'--inlines' cannot be"),
                              (["--select=prog.c:10"], "not a line"), (["--select=nosuch.c"], "'nosuch.c'")):
            self.assertIn(says, self.counts(*options, status=2))
        for option in ["--never"], ["--blocks"]:
            self.assertIn(f"'{option[0]}' needs --counts", self.run_monarc("lines", *option, "prog", "blocks.gmon", status=2))
        subprocess.run(["strip", "-g", "prog", "-o", "bare"], cwd=self.folder, check=True)
        for command in ["lines", "--counts"], ["annotate"]:
            self.assertIn("has no line numbers; compile it with -g",
                          self.run_monarc(*command, "bare", "blocks.gmon", status=2))


if __name__ == "__main__":
    if os.uname().machine != "x86_64":
        print("the addresses are those of x86-64")
        raise SystemExit(SKIPPED)
    main()
