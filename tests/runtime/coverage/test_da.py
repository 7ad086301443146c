"""The 2002 proposal's da file: drawn byte by byte, summed, set aside."""
import itertools
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

from covered import CC, OURS, ROOT, CoverTest, slurp, spill
from parts import in_both, load_tests, share, slow  # noqa: F401


def record(tag, *items):
    data = b"".join(items)
    return struct.pack("<II", tag, len(data)) + data


def function(name, checksum, counts):
    padded = name + b"\0" * (4 - len(name) % 4)
    return (record(1, struct.pack("<I", len(name)), padded, struct.pack("<I", checksum)) +
            record(5, struct.pack("<%dQ" % len(counts), *counts)))


def summary(tag, arcs, total, most):
    return record(tag, struct.pack("<IQQ", arcs, total, most))


def header(version=b"304e"):
    return b"gcov" + version


def group(runs, most=6, functions=None):
    """What `runs` runs of registers.c that counted once leave."""
    parts = functions or [function(b"main", 0x1234, [runs, 2 * runs]),
                          function(b"same", 0x77, [3 * runs]),
                          function(b"same", 0x77, [4 * runs, 5 * runs, 6 * runs])]
    return b"".join(parts) + summary(6, 6, 21 * runs, most) + summary(7, 6, 21 * runs, most)


class Da(CoverTest):
    def registers(self, how="so", *flags):
        program = self.built_program(how, "registers.c", "-O1", *flags)
        self.file = self.path("registers.da")
        for name in os.listdir(self.dir):
            if ".da" in name:
                os.unlink(self.path(name))
        return program

    def check(self, expected):
        self.assertEqual(slurp(self.file).hex(" ", 4), expected.hex(" ", 4))

    @slow
    def test_bytes(self):
        for how in OURS:
            program = self.registers(how)
            self.run_program([program])
            self.assertEqual(slurp(self.file)[:40], bytes.fromhex(
                "67636f76 33303465"           # gcov 304e
                "01000000 10000000"           # FUNCTION, 16 bytes
                "04000000 6d61696e 00000000"  # 4 bytes: main, NUL, padding
                "34120000"                    # checksum
                "05000000 10000000"))         # ARC_COUNTS, 16 bytes
            self.check(header() + group(1))

    def test_runs_are_summed(self):
        program = self.registers()
        for runs in range(1, 4):
            self.run_program([program])
            self.check(header() + group(runs))

    def test_largest_is_that_of_a_run(self):
        program = self.registers()
        self.run_program([program, "5"])
        self.run_program([program, "2"])
        self.check(header() + group(7, most=30))

    def test_ends(self):
        program = self.registers()
        self.run_program([program, "1", "_exit"])
        self.run_program([program, "1", "abort"], code=-signal.SIGABRT)
        self.run_program([program, "1", "twice"])
        self.check(header() + group(4, most=12))

    def test_counts_saturate(self):
        program = self.registers()
        for _ in range(3):
            self.run_program([program, "1", "large"])
        self.assertIn(struct.pack("<Q", 2**63 - 1), slurp(self.file))

    @slow
    def test_functions_that_claim_more_than_there_is(self):
        """What lies behind the array is not the object's: nothing is written, and it is said."""
        for how in OURS:
            program = self.registers(how, "-DCOUNTS=5")
            r = self.run_program([program], quiet=False)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
            self.assertIn("registers.da: its functions claim more counts than the object has", r.stderr)
            self.assertFalse(os.path.exists(self.file))

    @slow
    def test_numbers_below_zero(self):
        """The proposal's structures have signed ones."""
        for of in "-DCOUNTS=-1", "-DFUNCTIONS=-1", "-DFIRST=-2":
            r = self.run_program([self.registers(OURS[0], of)], quiet=False)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
            self.assertIn("registers.da: its functions claim more" if "COUNTS" in of else
                          "registers.da: it has a negative number of functions or counts", r.stderr)
            self.assertFalse(os.path.exists(self.file))

    def test_groups_and_files_in_a_row(self):
        program = self.registers()
        unknown = record(99, b"what is this")
        for old in (group(1) + group(2), group(1) + header() + group(2), unknown + group(3),
                    group(1) + unknown + group(2)):
            spill(self.file, header() + old)
            self.run_program([program])
            self.check(header() + group(4))

    def test_order_of_functions(self):
        """By name, checksum and place among the like."""
        program = self.registers()
        spill(self.file, header() + group(1, functions=[
            function(b"same", 0x77, [3]), function(b"main", 0x1234, [1, 2]),
            function(b"same", 0x77, [4, 5, 6])]))
        self.run_program([program])
        self.check(header() + group(2))

    def check_aside(self, program, old, kind):
        spill(self.file, old)
        r = self.run_program([program], quiet=False)
        self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
        self.assertEqual(slurp(self.file + kind), old)
        os.unlink(self.file + kind)
        self.check(header() + group(1))

    @in_both
    def test_damaged_at_every_truncation(self):
        program = self.registers()
        whole = header() + group(1)
        for n in share(range(1, len(whole)), 5):
            self.check_aside(program, whole[:n], ".damaged-1")

    def test_other_files(self):
        program = self.registers()
        for old in (header(b"303r") + group(1),
                    header() + group(1, functions=[function(b"main", 0x1234, [1, 2])]),
                    header() + group(1).replace(b"main", b"niam"),
                    header() + group(1, functions=[function(b"main", 0x1234, [1]),
                                                   function(b"same", 0x77, [3]),
                                                   function(b"same", 0x77, [4, 5, 6])])):
            self.check_aside(program, old, ".other-1")
        self.check_aside(program, b"vocg" + b"e403" + group(1), ".damaged-1")

    @in_both
    def test_every_word_changed(self):
        program = self.registers()
        whole = header() + group(1)
        for at in share(range(0, len(whole), 4), 5):
            for word in b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x03\0\0\0", b"\0\0\0\x80":
                spill(self.file, whole[:at] + word + whole[at + 4:])
                self.run_program([program], quiet=False)
                for name in os.listdir(self.dir):
                    if ".da." in name:
                        os.unlink(self.path(name))

    @slow
    def test_many_processes(self):
        program = self.registers("a")
        running = [subprocess.Popen([program], cwd=self.dir) for _ in range(60)]
        self.assertEqual({p.wait() for p in running}, {0})
        self.check(header() + group(60))

    def test_monarc_reads_and_merges(self):
        monarc = os.environ.get("MONARC", "")
        program = self.registers()
        self.run_program([program, "2"])
        self.run_program([program, "3", "_exit"])
        r = subprocess.run([monarc, "info", self.file], capture_output=True, text=True)
        if "known format" in r.stderr:
            self.skipTest("this monarc does not read da files")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertIn("3 functions", r.stdout)
        self.assertIn("6 values, 0 of them 0; sum 105, largest 30", r.stdout)
        # What monarc writes, the program adds to.
        self.run_program([monarc, "merge", "-o", "sum.da", self.file, self.file])
        self.check_sum(program, 11)
        # A literal concatenation of two files.
        spill(self.path("sum.da"), slurp(self.file) * 2)
        self.check_sum(program, 23)

    def check_sum(self, program, runs):
        os.replace(self.path("sum.da"), self.file)
        self.run_program([program])
        self.check(header() + group(runs, most=18))

    def test_example_of_the_manual(self):
        """The C program in docs/cover-runtime.md, as it stands there."""
        page = slurp(os.path.join(ROOT, "docs", "cover-runtime.md")).decode()
        code = page.split("```c\n")[1].split("```")[0]
        spill(self.path("example.c"), code.encode())
        program = self.link("so", [self.compile(self.path("example.c"), "-O1")])
        self.run_program([program, "x"])
        self.run_program([program])
        self.assertEqual(slurp(self.path("example.da")), header() +
                         function(b"main", 0x5EED, [2, 1]) + summary(6, 2, 3, 1) + summary(7, 2, 3, 1))


SOURCES = os.path.join(ROOT, "tests", "data", "arc-files", "src")


LLVM_COV = shutil.which("llvm-cov")


class Noted(CoverTest):
    """Programs compiled with --coverage that leave da, whose names come from the notes."""

    def build(self, source, how="so", *more, clang=False):
        shutil.copy(os.path.join(SOURCES, source), self.dir)
        shutil.copy(os.path.join(SOURCES, "inc.h"), self.dir)
        os.utime(self.path(source), (1, 1))
        c, cxx = ("clang", "clang++") if clang else (CC, "g++")
        cc = cxx if source.endswith("cc") else c
        flags = ("--coverage", "-O0", *more)
        return self.link(how, [self.compile(source, *flags, cc=cc, name="prog")], cc=cc)

    def compile(self, source, *flags, **more):
        return super().compile(self.path(source), *flags, **more)

    def shown(self, command, name):
        """Counts of lines with their marks, and calls of functions, as a gcov says, in order."""
        r = subprocess.run([*command, "-t", "-b", "-c", name], cwd=self.dir, check=True,
                           capture_output=True, text=True)
        text = r.stdout.replace("prog.bbg", "prog.gcno").replace("prog.da", "prog.gcda")
        return text.splitlines()

    # Programs in C and C++, and how they are linked: some in the quick part.
    LINKED = tuple(itertools.product(("prog.c", "prog.cc"), OURS))
    QUICK = (("prog.c", "so"), ("prog.cc", "a"))

    def test_what_gcov_shows(self):
        self.what_gcov_shows(self.QUICK)

    @slow
    def test_what_gcov_shows_of_others(self):
        self.what_gcov_shows(set(self.LINKED) - set(self.QUICK))

    def what_gcov_shows(self, linked):
        monarc = os.environ["MONARC"]
        for source, how in linked:
            with self.subTest(source=source, how=how):
                program = self.build(source, how)
                for _ in range(3):
                    self.run_program([program])
                    self.run_program([program], MONARC_COVER_FORMAT="da")
                self.run_program([monarc, "convert", "--to", "bbg", "prog.gcno", "-o", "prog.bbg"])
                expected = self.shown(["gcov"], "prog.gcda")
                self.assertGreater(len(expected), 50)
                self.assertEqual(self.shown([monarc, "gcov"], "prog.da"), expected)
                self.run_program([monarc, "convert", "--to", "gcda", "prog.da", "-o", "back.gcda"])
                self.assertEqual(slurp(self.path("back.gcda")), slurp(self.path("prog.gcda")))
                os.unlink(self.path("prog.da"))
                os.unlink(self.path("prog.gcda"))

    def run_in_both_forms(self, program):
        self.run_program([program], MONARC_COVER_FORMAT="da")
        self.run_program([program])

    def check_is_what_convert_makes(self):
        own = slurp(self.path("prog.da"))
        self.run_program([os.environ["MONARC"], "convert", "--to", "da", "prog.gcda", "-o", "prog.da"])
        self.assertEqual(slurp(self.path("prog.da")), own)

    def test_it_is_what_convert_makes(self):
        self.run_in_both_forms(self.build("prog.c"))
        self.check_is_what_convert_makes()

    @slow
    @unittest.skipUnless(shutil.which("clang++") and LLVM_COV, "needs clang and llvm-cov")
    def test_clang(self):
        self.clang_in_layouts(("prog.c", None, "so"), ("prog.cc", "B11*", "so"))

    @slow
    @unittest.skipUnless(shutil.which("clang++") and LLVM_COV, "needs clang and llvm-cov")
    def test_clang_otherwise(self):
        self.clang_in_layouts(*((source, version, how) for source in ("prog.c", "prog.cc") for version, how in
                                ((None, "a"), (None, "static"), ("402*", "so"))),
                              ("prog.cc", None, "so"), ("prog.c", "B11*", "so"))

    def clang_in_layouts(self, *kinds):
        """In each of its layouts: what convert makes, and with bbg the text of llvm-cov gcov."""
        monarc = os.environ["MONARC"]
        for source, version, how in kinds:
            flags = ("-Xclang", "-coverage-version=" + version) if version else ()
            with self.subTest(source=source, version=version, how=how):
                self.run_in_both_forms(self.build(source, how, *flags, clang=True))
                self.run_program([monarc, "convert", "--to", "bbg", "prog.gcno", "-o", "prog.bbg"])
                shown = self.text([monarc, "gcov"], "prog.da")
                self.assertEqual(shown, self.text([monarc, "gcov"], "prog.gcda"))
                if source == "prog.c" or version != "B11*":  # which shows instances apart
                    self.assertEqual(shown, self.text([LLVM_COV, "gcov"], "prog.gcda"))
                self.check_is_what_convert_makes()
                for name in "prog.da", "prog.gcda", "prog.bbg":
                    os.unlink(self.path(name))

    def text(self, command, name):
        """Counts of lines, in order."""
        r = subprocess.run([*command, "-t", name], cwd=self.dir, check=True, capture_output=True, text=True)
        lines = [line for line in r.stdout.splitlines() if ":    0:" not in line]
        self.assertGreater(sum(bool(re.match(r" *[1-9]", line)) for line in lines), 5)
        return lines

    @slow
    def test_clang_without_notes_stays_gcda(self):
        if not shutil.which("clang"):
            self.skipTest("no clang")
        self.check_stays_gcda(self.build("prog.c", clang=True))

    def test_without_notes_it_stays_gcda(self):
        self.check_stays_gcda(self.build("prog.c"))

    def check_stays_gcda(self, program):
        notes = slurp(self.path("prog.gcno"))
        other = bytearray(notes)
        other[8] ^= 1  # the stamp
        for data in None, bytes(other), notes[:len(notes) // 2], b"":
            os.unlink(self.path("prog.gcno"))
            if data is not None:
                spill(self.path("prog.gcno"), data)
            r = self.run_program([program], quiet=False, MONARC_COVER_FORMAT="da")
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
            self.assertIn("writing gcda instead", r.stderr)
            self.assertTrue(os.path.exists(self.path("prog.gcda")))
            self.assertFalse(os.path.exists(self.path("prog.da")))
            os.unlink(self.path("prog.gcda"))
            spill(self.path("prog.gcno"), notes)


if __name__ == "__main__":
    unittest.main()
