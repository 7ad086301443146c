"""convert --to gmon --program: counters of arcs as block counts of a program.

The oracle is GNU gcov on the same files: where a line has a count in both, it is the same, at any
optimisation. GNU gprof and monarc gprof must read what was written alike.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from parts import in_both, load_tests, share, slow

GCC = shutil.which("gcc")
GXX = shutil.which("g++")
GCOV = shutil.which("gcov")
GPROF = shutil.which("gprof")
TESTS = harness.ROOT / "tests"
GCOV_PROGRAMS = TESTS / "oracle_gcov/programs"

SPIN = """#include <stdio.h>
static unsigned step(unsigned x)
{
    return x * 1664525u + 1013904223u;
}

static int never(int a)
{
    return a * 2;
}

int main(int argc, char **argv)
{
    unsigned x = 1;
    int odd = 0;
    for (int i = 0; i < 20000000; i++) {
        x = step(x);
        if (x >> 31 && x & 1)
            odd++;
    }
    if (argc > 5)
        odd = never(odd);
    printf("%d\\n", odd);
    return 0;
}
"""
LOOP = SPIN.replace("20000000", "1000")
# Where calls are few, so that samples cannot all be in mcount.
LONG = SPIN.replace("    if (argc > 5)", "    for (volatile int k = 0; k < 300000000; k++);\n    if (argc > 5)")


def run(*command, cwd, status=0):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    assert status is None or done.returncode == status, (command, done.stdout, done.stderr)
    return done


def gcov_counts(folder):
    """Of all counters in a folder at once: {(file, line): count}, and the lines where functions begin."""
    counts, starts = {}, set()
    done = run(GCOV, "-j", "-t", *sorted(folder.glob("*.gcda")), cwd=folder)
    for text in done.stdout.splitlines():
        found = json.loads(text)
        for file in found["files"]:
            path = os.path.normpath(os.path.join(found["current_working_directory"], file["file"]))
            for line in file["lines"]:
                place = path, line["line_number"]
                counts[place] = counts.get(place, 0) + line["count"]
            starts |= {(path, f["start_line"]) for f in file["functions"]}
    return counts, starts


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not GCC or not GCOV:
            raise unittest.SkipTest("no gcc with gcov")

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.dir = Path(temporary.name).resolve()

    def build(self, text, *options, folder=".", name="prog"):
        where = self.dir / folder
        where.mkdir(exist_ok=True)
        (where / "prog.c").write_text(text)
        run(GCC, "-g", *options, "prog.c", "-o", name, cwd=where)
        run(f"./{name}", cwd=where)
        return where

    def convert(self, *arguments, status=0, says=""):
        done = harness.monarc("convert", "--to", "gmon", *arguments, cwd=self.dir)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, status, error)
        self.assertIn(says, error)
        self.assertLessEqual(error.count("\n"), 1)
        if not says:
            self.assertEqual(error, "")
        return error

    def counts(self, program, *profiles, cwd=None):
        """{(file, line): row} of monarc lines --counts."""
        found = harness.monarc_json("lines", "--counts", program, *profiles, cwd=cwd or self.dir)
        return {(os.path.normpath(row["file"]), row["line"]): row for row in found["lines"]}


class Counts(Case):
    def compare(self, compiler, sources, *options, at_least):
        folder = self.dir / "-".join(["build", *options]).replace("/", "_")
        folder.mkdir()
        run(compiler, "-g", "--coverage", *options, *sources, "-o", "prog", "-lpthread", cwd=folder)
        run("./prog", cwd=folder, status=None)
        expected, starts = gcov_counts(folder)
        done = harness.monarc("convert", "--to", "gmon", "--program", "prog", "-o", "blocks", ".",
                              cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.counts("prog", "blocks", cwd=folder)
        equal = 0
        for place, count in expected.items():
            row = rows.get(place)
            if row:
                self.assertFalse(row["is_inferred"], place)
                self.assertEqual(row["executions"], count, place)
                equal += 1
        self.assertGreaterEqual(equal, at_least * len(expected), (equal, len(expected)))
        # What is not there begins a function whose brace is on a line of its own, or was said.
        lacking = [place for place in expected if place not in rows and place not in starts]
        self.assertTrue(not lacking or b"have no code" in done.stderr, lacking)

    @in_both
    def test_c_counts_are_gcovs(self):
        kinds = [(source, *how) for source in (GCOV_PROGRAMS / "basic.c", TESTS / "blocks/turns.c")
                 for how in (("-O0", 0.8), ("-O1", 0.6), ("-O2", 0.4))]
        for source, option, least in share(kinds, 5):
            with self.subTest(source=source.name, option=option):
                shutil.rmtree(self.dir / f"build-{option}", ignore_errors=True)
                self.compare(GCC, [source], option, at_least=least)

    @slow
    @unittest.skipUnless(GXX, "no g++")
    def test_cxx_counts_are_gcovs(self):
        self.compare(GXX, [GCOV_PROGRAMS / "things.cc"], "-O0", at_least=0.95)

    @slow
    @unittest.skipUnless(GXX, "no g++")
    def test_optimised_cxx_counts_are_gcovs(self):
        for options, least in ([["-O1"], 0.3], [["-O2"], 0.2], [["-O3"], 0.2]):
            with self.subTest(options=options):
                self.compare(GXX, [GCOV_PROGRAMS / "things.cc"], *options, at_least=least)

    @slow
    @unittest.skipUnless(GXX, "no g++")
    def test_units_that_share_headers(self):
        self.compare(GXX, [GCOV_PROGRAMS / "east.cc", GCOV_PROGRAMS / "west.cc"], at_least=0.95)
        self.compare(GCC, [GCOV_PROGRAMS / "left.c", GCOV_PROGRAMS / "right.c"], "-O0",
                     at_least=0.6)

    def test_entries_of_a_line_stand_at_rows_of_their_own(self):
        self.build(LOOP, "-O0", "--coverage")
        self.convert("--program", "prog", "-o", "blocks", ".")
        rows = {line: row for (_, line), row in self.counts("prog", "blocks").items()}
        number = 1 + LOOP.splitlines().index("    for (int i = 0; i < 1000; i++) {")
        self.assertEqual([rows[number][key] for key in ("executions", "blocks", "least", "most")],
                         [1001, 2, 1, 1000])
        # A part of the line that never ran shows as 0; the line did run.
        number = 1 + LOOP.splitlines().index("        odd = never(odd);")
        self.assertEqual(rows[number]["executions"], 0)
        found = harness.monarc_json("lines", "--counts", "--blocks", "prog", "blocks", cwd=self.dir)
        self.assertEqual(len({b["address"] for b in found["blocks"]}), len(found["blocks"]))

    def test_start_and_end_of_a_function(self):
        self.build(LOOP, "-O0", "--coverage")
        self.convert("--program", "prog", "-o", "blocks", ".")
        rows = {line: row for (_, line), row in self.counts("prog", "blocks").items()}
        self.assertEqual([rows[line]["executions"] for line in (3, 4, 5)], [1000, 1000, 1000])
        self.assertFalse(rows[3]["is_inferred"] or rows[5]["is_inferred"])


class OneRun(Case):
    """A program with -pg and --coverage: time, calls and counts on one line."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name).resolve()
        (cls.folder / "prog.c").write_text(LONG)
        run(GCC, "-g", "-O0", "-pg", "--coverage", "prog.c", "-o", "prog", cwd=cls.folder)
        run("./prog", cwd=cls.folder)
        done = harness.monarc("convert", "--to", "gmon", "--program", "prog", "-o", "blocks",
                              *cls.folder.glob("*.gcda"), cwd=cls.folder)
        assert done.returncode == 0 and not done.stderr, done.stderr
        done = harness.monarc("merge", "-o", "both", "gmon.out", "blocks", cwd=cls.folder)
        assert done.returncode == 0 and not done.stderr, done.stderr

    def test_annotate_has_all_three(self):
        found = harness.monarc_json("annotate", "--all", "prog", "both", cwd=self.folder)
        rows = {row["line"]: row for row in found["files"][0]["lines"]}
        self.assertEqual(rows[3]["calls"], 20000000)
        self.assertEqual(rows[3]["executions"], 20000000)
        self.assertEqual(rows[16]["executions"], 20000001)
        self.assertEqual(rows[9]["executions"], 0)
        self.assertGreater(sum(row["self_samples"] or 0 for row in rows.values()
                               if row.get("self_samples") is not None), 0)
        text = harness.monarc("annotate", "--all", "prog", "both", cwd=self.folder).stdout.decode()
        self.assertRegex(text, r"(?m)^[ \d.]* 20000000 +20000000 +3  \{$")
        self.assertRegex(text, r"(?m)^ *[\d.]+ +[\d.]+ +\d+(?: +2)? +(4|16|17|18|21)  ")

    def test_two_files_are_as_one(self):
        one = harness.monarc_json("annotate", "prog", "both", cwd=self.folder)
        two = harness.monarc_json("annotate", "prog", "gmon.out", "blocks", cwd=self.folder)
        self.assertEqual(one["files"], two["files"])

    @unittest.skipUnless(GPROF, "no GNU gprof")
    def test_gnu_gprof_shows_them(self):
        counts = run(GPROF, "-l", "-C", "prog", "both", cwd=self.folder).stdout
        found = re.findall(r"prog\.c:(\d+): \(\w+:0x[0-9a-f]+\) (\d+) executions", counts)
        self.assertIn(("4", "20000000"), found)
        self.assertEqual(sum(int(count) for line, count in found if line == "16"), 20000001)
        text = run(GPROF, "-l", "-A", "-z", "prog", "both", cwd=self.folder).stdout
        self.assertRegex(text, r"(?m)^20000000,2000000\{$")  # it cuts columns off
        self.assertRegex(text, r"(?m)^ +1,20000000 -> +for \(int i")
        self.assertRegex(text, r"(?m)^ +##### -> +odd = never")

    @unittest.skipUnless(GPROF, "no GNU gprof")
    def test_monarc_gprof_prints_the_same(self):
        for options in ["-C"], ["-A"], ["-A", "-z"], ["-A", "-x"]:
            gnu = run(GPROF, "-l", *options, "prog", "both", cwd=self.folder).stdout
            ours = run(harness.monarc_path(), "gprof", "-l", *options, "prog", "both",
                       cwd=self.folder).stdout
            self.assertEqual(gnu, ours, options)


class TwoRuns(Case):
    @slow
    def test_another_build_of_the_same_sources(self):
        cover = self.build(LOOP, "-O0", "--coverage", folder="cover")
        timed = self.build(LOOP, "-O0", "-pg", folder="timed")
        error = self.convert("--program", timed / "prog", "-o", "blocks", cover, status=2,
                             says="1 source is not in")
        self.assertIn(f"it has {timed / 'prog.c'}: --path-map?", error)
        self.assertFalse((self.dir / "blocks").exists())
        self.convert("--program", timed / "prog", "-o", "blocks", "--path-map", f"{cover}={timed}", cover)
        expected, _ = gcov_counts(cover)
        rows = self.counts(timed / "prog", timed / "gmon.out", "blocks")
        for (_, line), count in expected.items():
            row = rows.get((str(timed / "prog.c"), line))
            self.assertTrue(row or line in (2, 7, 12), line)
            if row:
                self.assertEqual(row["executions"], count, line)
        # The map goes the other way as well.
        self.convert("--program", timed / "prog", "-o", "other", "--path-map", f"{timed}={cover}", cover)
        self.assertEqual((self.dir / "other").read_bytes(), (self.dir / "blocks").read_bytes())

    def test_optimised_program_with_counts_of_another(self):
        cover = self.build(LOOP, "-O0", "--coverage", folder="cover")
        timed = self.build(LOOP, "-O2", "-pg", folder="timed")
        self.convert("--program", timed / "prog", "-o", "blocks", "--path-map", f"{cover}={timed}", cover,
                     says="lines have no code")
        expected, _ = gcov_counts(cover)
        rows = self.counts(timed / "prog", "blocks")
        found = {line: row["executions"] for (_, line), row in rows.items() if not row["is_inferred"]}
        self.assertGreater(len(found), 4)
        for (_, line), count in expected.items():
            self.assertEqual(found.get(line, count), count)

    @slow
    def test_relative_names(self):
        (self.dir / "src").mkdir()
        (self.dir / "src/prog.c").write_text(LOOP)
        for folder, options in ("cover", ["--coverage"]), ("timed", ["-pg"]):
            (self.dir / folder).mkdir()
            run(GCC, "-g", *options, "../src/prog.c", "-o", "prog", cwd=self.dir / folder)
            run("./prog", cwd=self.dir / folder)
        self.convert("--program", "timed/prog", "-o", "blocks", "cover")
        self.assertIn((str(self.dir / "src/prog.c"), 4), self.counts("timed/prog", "blocks"))

    def test_runs_add_up(self):
        cover = self.build(LOOP, "-O0", "--coverage", folder="cover")
        self.convert("--program", "cover/prog", "-o", "once", "cover")
        run("./prog", cwd=cover)
        self.convert("--program", "cover/prog", "-o", "twice", "cover")
        harness.monarc("merge", "-o", "sum", "once", "once", cwd=self.dir)
        self.assertEqual((self.dir / "sum").read_bytes(), (self.dir / "twice").read_bytes())


class Inputs(Case):
    def test_files_of_the_proposal(self):
        self.build(LOOP, "-O0", "--coverage")
        notes, counters = next(self.dir.glob("*.gcno")), next(self.dir.glob("*.gcda"))
        harness.monarc("convert", "--to", "bbg", "-o", "old.bbg", notes, cwd=self.dir)
        harness.monarc("convert", "--to", "da", "-o", "old.da", counters, cwd=self.dir)
        self.convert("--program", "prog", "-o", "old", "old.da")
        self.convert("--program", "prog", "-o", "new", counters)
        old, new = self.counts("prog", "old"), self.counts("prog", "new")
        expected, _ = gcov_counts(self.dir)
        self.assertEqual({k: v["executions"] for k, v in old.items() if k in expected},
                         {k: v["executions"] for k, v in new.items() if k in expected})
        (self.dir / "elsewhere").mkdir()
        (self.dir / "old.bbg").rename(self.dir / "elsewhere/x")
        self.convert("--program", "prog", "-o", "named", "old.da", "--notes", "elsewhere/x")
        self.assertEqual((self.dir / "named").read_bytes(), (self.dir / "old").read_bytes())

    def test_calls_have_no_invented_callers(self):
        self.build(LOOP, "-O0", "--coverage")
        self.convert("--program", "prog", "-o", "blocks", "--calls", ".")
        data = (self.dir / "blocks").read_bytes()
        found = harness.monarc_json("flat", "prog", "blocks", cwd=self.dir)
        calls = {f["name"]: f["calls"] for f in found["functions"] if f["calls"]}
        self.assertEqual(calls, {"step": 1000, "main": 1})
        at, arcs = 20, []
        while at < len(data):
            if data[at] == 2:
                at += 5 + 16 * struct.unpack_from("<I", data, at + 1)[0]
                continue
            arcs.append(struct.unpack_from("<QQI", data, at + 1))
            at += 21
        self.assertEqual([caller for caller, _, _ in arcs], [0, 0])

    def test_notes_elsewhere(self):
        self.build(LOOP, "-O0", "--coverage")
        (self.dir / "notes").mkdir()
        notes, counters = next(self.dir.glob("*.gcno")), next(self.dir.glob("*.gcda"))
        self.convert("--program", "prog", "-o", "a", counters)
        notes.rename(self.dir / "notes" / notes.name)
        self.convert("--program", "prog", "-o", "b", counters, "--notes", "notes")
        self.convert("--program", "prog", "-o", "c", counters, "--notes", f"notes/{notes.name}")
        self.convert("--program", "prog", "-o", "d", counters, status=2, says="has no notes")
        for name in "bc":
            self.assertEqual((self.dir / name).read_bytes(), (self.dir / "a").read_bytes())

    def test_order_and_pointer_size(self):
        self.build(LOOP, "-O0", "--coverage")
        self.convert("--program", "prog", "-o", "a", ".")
        self.convert("--program", "prog", "-o", "b", "--to-word", "32", "--to-endian", "big", ".")
        back = harness.monarc("convert", "--to-word", "64", "--to-endian", "little", "-o", "c", "b",
                              cwd=self.dir)
        self.assertEqual(back.returncode, 0)
        self.assertEqual((self.dir / "a").read_bytes(), (self.dir / "c").read_bytes())
        text = harness.monarc("lines", "--counts", "prog", "-", cwd=self.dir,
                              input=(self.dir / "a").read_bytes())
        self.assertEqual(text.returncode, 0)


class Refusals(Case):
    def setUp(self):
        super().setUp()
        self.build(LOOP, "-O0", "--coverage")
        self.notes, self.counters = next(self.dir.glob("*.gcno")), next(self.dir.glob("*.gcda"))

    def test_without_a_program(self):
        self.convert("-o", "x", self.counters, status=2, says="--program")
        self.convert("-o", "x", "--program", "missing", self.counters, status=2, says="missing: No such")
        run("strip", "-o", "bare", "prog", cwd=self.dir)
        self.convert("-o", "x", "--program", "bare", self.counters, status=2, says="has no line numbers")
        self.convert("-o", "x", "--program", "prog.c", self.counters, status=2, says="prog.c")
        self.assertFalse((self.dir / "x").exists())

    def test_other_targets_and_options(self):
        self.convert("--to", "gcda", "-o", "x", "--program", "prog", ".", status=2, says="--to gmon")
        self.convert("--to", "bsd", "-o", "x", "--program", "prog", ".", status=2, says="bsd")
        self.convert("--gcc", "12", "-o", "x", "--program", "prog", ".", status=2, says="--gcc")
        self.convert("--word", "32", "-o", "x", "--program", "prog", ".", status=2, says="--to-word")
        self.convert("--calls", "-o", "x", self.counters, self.counters, status=2, says="one input")
        self.convert("--path-map", "a=b", "-o", "x", "prog.c", status=2, says="need --program")
        self.convert("--path-map", "ab", "-o", "x", "--program", "prog", ".", status=2, says="FROM=TO")

    def test_nothing_to_read(self):
        (self.dir / "empty").mkdir()
        self.convert("-o", "x", "--program", "prog", "empty", status=2, says="no counters (.gcda) were found")
        self.convert("-o", "x", "--program", "prog", "absent", status=2, says="absent: No such")
        self.convert("-o", "x", "--program", "prog", "prog.c", status=2, says="is neither counters")
        self.counters.unlink()
        self.convert("-o", "x", "--program", "prog", self.notes, status=2, says="no counters (.gcda) were found")

    @in_both
    def test_counters_cut_off(self):
        whole = self.counters.read_bytes()
        self.convert("--program", "prog", "-o", "whole", ".")
        for size in share(range(0, len(whole), 5), 8):
            self.counters.write_bytes(whole[:size])
            done = harness.monarc("convert", "--to", "gmon", "--program", "prog", "-o", "cut", ".",
                                  cwd=self.dir)
            self.assertIn(done.returncode, (1, 2) if size < len(whole) - 8 else (0, 1), size)
            self.assertEqual(done.stderr.count(b"\n"), 1 if done.returncode else 0, size)
            if done.returncode == 1:
                expected = self.counts("prog", "whole")
                for place, row in self.counts("prog", "cut").items():
                    if not row["is_inferred"]:
                        self.assertEqual(row["executions"], expected[place]["executions"])

    @in_both
    def test_notes_cut_off(self):
        whole = self.notes.read_bytes()
        for size in share(range(0, len(whole), 13), 8):
            self.notes.write_bytes(whole[:size])
            done = harness.monarc("convert", "--to", "gmon", "--program", "prog", "-o", "cut", ".",
                                  cwd=self.dir)
            self.assertIn(done.returncode, (1, 2), size)
            self.assertEqual(done.stderr.count(b"\n"), 1, size)

    @slow
    def test_notes_of_another_build(self):
        # (gcc gives static functions another identity in every build.)
        self.build(LOOP.replace("static ", ""), "-O0", "--coverage")
        (self.dir / "prog.c").write_text(LOOP.replace("static ", "").replace("argc > 5",
                                                                             "argc > 5 && odd"))
        (self.dir / "new").mkdir()
        run(GCC, "-g", "-O0", "--coverage", "-c", "prog.c", "-o", f"new/{self.notes.stem}.o",
            cwd=self.dir)
        self.convert("-o", "x", "--program", "prog", self.counters, "--notes", f"new/{self.notes.name}",
                     status=1, says="different builds")
        rows = {line: row["executions"] for (_, line), row in self.counts("prog", "x").items()}
        self.assertEqual(rows, {3: 1000, 4: 1000, 5: 1000, 8: 0, 9: 0, 10: 0})

    @slow
    def test_another_program(self):
        (self.dir / "other.c").write_text("int main(void)\n{\n    return 0;\n}\n")
        run(GCC, "-g", "other.c", "-o", "other", cwd=self.dir)
        self.convert("-o", "x", "--program", "other", ".", status=2, says="1 source is not in other")


if __name__ == "__main__":
    harness.main()
