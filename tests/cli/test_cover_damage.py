#!/usr/bin/env python3
"""test_cover_damage.py: every record of notes and counters given every bad length, left out, doubled
and put out of order; arcs to blocks that are not there, trees that are cycles, blocks by the
million. monarc cover and monarc gcov never crash, and no count is ever another one without a word."""

import json
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from parts import in_both, load_tests, share, slow

FILES = harness.ROOT / "tests/data/arc-files"
FUNCTION, BLOCKS, ARCS = 0x01000000, 0x01410000, 0x01430000
LENGTHS = (0, 1, 0x7fffffff, 0xffffffff, 0x80000000, 0xfffffff8)
# (compiler, bytes that a record's length counts)
LAYOUTS = (("gcc-12", 1), ("gcc-8", 4), ("gcc-4.7", 4), ("clang-14", 4))


class File:
    """Words of a file, and where its records are."""

    def __init__(self, path, unit):
        self.path, self.unit, self.whole = path, unit, path.read_bytes()
        self.order = "<" if self.whole[:4] in (b"oncg", b"adcg") else ">"
        self.records = []
        at = self.first()
        while at + 8 <= len(self.whole) and self.word(at):
            length = self.word(at + 4)
            length = 0 if length >= 1 << 31 else length * unit
            self.records.append((at, at + 8 + length))
            at += 8 + length

    def word(self, at):
        return struct.unpack_from(self.order + "I", self.whole, at)[0]

    def first(self):
        """Notes may have a directory and a flag before the first record."""
        for at in range(12, 400, 4):
            if at + 4 <= len(self.whole) and self.word(at) in (FUNCTION, 0xa1000000, 0xa3000000):
                return at
        raise AssertionError(self.path)

    def changed(self, at, value):
        return self.whole[:at] + struct.pack(self.order + "I", value) + self.whole[at + 4:]

    def damaged(self):
        """(what was done, bytes)"""
        whole = self.whole
        for number, (start, end) in enumerate(self.records):
            for length in LENGTHS:
                if length != self.word(start + 4):
                    yield f"length {length:#x} at {start}", self.changed(start + 4, length)
            yield f"without {start}", whole[:start] + whole[end:]
            yield f"twice {start}", whole[:end] + whole[start:]
            if number + 1 < len(self.records):
                after = self.records[number + 1][1]
                yield f"swapped at {start}", whole[:start] + whole[end:after] + whole[start:end] + whole[after:]
            if self.word(start) == ARCS and end - start >= 20:
                yield f"target at {start}", self.changed(start + 12, 0x7fffffff)
                yield f"source at {start}", self.changed(start + 8, 99999)
            if self.word(start) == BLOCKS:
                yield f"million blocks at {start}", self.changed(start + 8, 1000000)
        for flag in (1, 0):
            changed = self
            for start, end in self.records:
                for at in range(start + 12, end if self.word(start) == ARCS else start, 8):
                    changed = Changed(changed, at + 4, self.word(at + 4) & ~1 | flag)
            yield f"all arcs {'on' if flag else 'off'} the tree", changed.whole


class Changed:
    def __init__(self, other, at, value):
        self.whole = other.whole[:at] + struct.pack("<I", value) + other.whole[at + 4:]


class Damage(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def monarc(self, *words):
        done = subprocess.run([harness.monarc_path(), *words], cwd=self.folder, capture_output=True,
                              check=False, timeout=600)
        self.assertIn(done.returncode, range(7), done.stderr)
        self.assertNotIn(b"Sanitizer", done.stderr)
        return done

    def counts(self, status=None):
        done = self.monarc("cover", "-q", "--no-markers", "--json", "-")
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        if done.returncode == 2:
            self.assertTrue(done.stderr)
            return done, {}
        value = json.loads(done.stdout)
        if done.returncode:
            self.assertTrue(value["problems"])
        return done, {(s["path"], l["line"]): l["count"] for s in value["sources"] for l in s["lines"]}

    def check(self, suffix):
        for compiler, unit in LAYOUTS:
            pair = sorted((FILES / compiler).glob("prog_c[.-]*gc[dn][ao]"))
            for path in pair:
                shutil.copy(path, self.folder)
            counters = next(self.folder.glob("*.gcda"))
            _, good = self.counts(0)
            target = counters.with_suffix(suffix)
            for what, data in share(File(target, unit).damaged(), 24 if suffix == ".gcda" else 1000):
                target.write_bytes(data)
                with self.subTest(compiler=compiler, damage=what):
                    done, found = self.counts()
                    if suffix == ".gcda":
                        self.not_silent(done, found, good)
                    self.monarc("gcov", "-b", "-t", counters.name)
            for path in pair:
                (self.folder / path.name).unlink()

    def not_silent(self, done, found, good):
        """Counts are the known ones, unknown, or of functions that the file says nothing about."""
        for line, count in found.items():
            if count is not None and count != good.get(line):
                self.assertEqual(done.returncode, 1, (line, count, good.get(line)))

    @in_both
    def test_counters(self):
        self.check(".gcda")

    @in_both
    def test_notes(self):
        self.check(".gcno")

    @slow
    def test_rest_of_an_older_file(self):
        """libgcov does not truncate: behind the end mark may stand the end of a longer file, from a
        run in which another object did not hold this function."""
        for path in sorted((FILES / "gcc-4.9").glob("prog_cc.gc*")):
            shutil.copy(path, self.folder)
        counters = self.folder / "prog_cc.gcda"
        older = File(counters, 4)
        functions = [start for start, _ in older.records if older.word(start) == FUNCTION]
        self.assertGreater(len(functions), 10)
        for start, end in zip(functions, [*functions[1:], len(older.whole) - 4]):
            absent = older.whole[:start] + struct.pack("<II", FUNCTION, 0) + older.whole[end:]
            with self.subTest(function=start):
                counters.write_bytes(absent)
                _, found = self.counts(0)
                reports = self.monarc("gcov", "-t", "-b", counters.name).stdout
                counters.write_bytes(absent + older.whole[len(absent):])
                self.assertEqual(self.counts(0)[1], found)
                done = self.monarc("gcov", "-t", "-b", counters.name)
                self.assertEqual((done.returncode, done.stdout), (0, reports))

    def test_a_part_is_not_compared_in_silence(self):
        """Half of the counters look like lines that no longer run: diff, check, store add and --cross say
        so, and their status is that of a command that could not do what was asked."""
        for path in sorted((FILES / "gcc-12").glob("prog_c[.-]*gc[dn][ao]")):
            shutil.copy(path, self.folder)
        counters = next(self.folder.glob("*.gcda"))
        notes = counters.with_suffix(".gcno").name
        harness.monarc("cover", "--lcov", "whole.info", notes, cwd=self.folder)
        commands = (["diff", "whole.info", notes], ["check", "--baseline", "whole.info", notes],
                    ["cover", "--cross", "whole.info", notes],
                    ["store", "add", "--commit", "a", "--file", "h.db", notes])
        for command in commands:
            done = harness.monarc(*command, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        (self.folder / "h.db").unlink()
        counters.write_bytes(counters.read_bytes()[:-40])
        for command in commands:
            done = harness.monarc(*command, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), (command, done))
            self.assertIn(counters.name.encode(), done.stderr)
        self.assertFalse((self.folder / "h.db").exists())

    def test_two_objects_share_a_counter_file(self):
        for name in "ab":
            (self.folder / f"{name}.c").write_text(
                f"int {name}(int x)\n{{\n    if (x > {ord(name)})\n        return 1;\n    return x;\n}}\n"
                + ("int b(int);\nint main(void)\n{\n    return a(1) + b(2) == 4;\n}\n" if name == "a"
                   else ""))
            subprocess.run(["gcc", "--coverage", "-c", f"{name}.c", "-o", "x.o"], cwd=self.folder,
                           check=True)
            (self.folder / "x.o").rename(self.folder / f"{name}.o")
        subprocess.run(["gcc", "--coverage", "a.o", "b.o", "-o", "prog"], cwd=self.folder, check=True)
        subprocess.run(["./prog"], cwd=self.folder, check=False, capture_output=True)
        done, found = self.counts()
        self.assertEqual({path for path, _ in found}, {"b.c"})
        if done.returncode == 0:  # the object that the notes are of wrote last
            self.assertEqual(found["b.c", 1], 1)
        else:
            self.assertIn(None, found.values())
            self.assertTrue(done.stderr)


if __name__ == "__main__":
    harness.main()
