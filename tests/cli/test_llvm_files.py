#!/usr/bin/env python3
"""test_llvm_files.py: merge, convert and info of clang's and rustc's profiles: every container and version made byte
by byte, and sums and files of every installed clang against its llvm-profdata."""

import itertools
import random
import re
import shutil
import unittest

import harness
import test_cover_llvm
from harness import monarc
from parts import load_tests
from test_cover_llvm import CPP, OTHER_C, OTHER_CPP, VERSIONS, C, Folder, made

RELEASES = {11: (5, 6), 12: (5, 7), 13: (7, 7), 14: (8, 7), 15: (8, 8), 16: (8, 9), 17: (8, 10), 18: (9, 11),
            19: (10, 12), 20: (10, 12), 21: (10, 12), 22: (10, 13), 23: (11, 13)}
FUNCTIONS = [(b"f", 0x18, [10, 4, 6, 2**64 - 5]), (b"f", 0x19, [7]), (b"f.c:never", 0, [0, 1]), (b"g" * 300, 5, [1])]
BITS = [(b"f", 0x18, [10, 4, 6, 3], b"\x0f\xa0\x01"), (b"g", 2, [0], b""), (b"h", 2, [0], b"\x01")]


def text_of(functions):
    """As llvm-profdata writes it."""
    out = made.text(sorted(functions, key=lambda f: f[:2]), head="").decode()
    return re.sub(r"((?:0x[0-9a-f]+\n)+)", r"\1\n", out).encode()


class Files(Folder):
    def convert(self, source, target, *options, status=0):
        done = monarc("convert", "-o", target, *options, source, cwd=self.folder)
        self.assertEqual(done.returncode, status, (source, options, done.stderr))
        return (self.folder / target).read_bytes() if not status else done.stderr.decode()

    def merge(self, target, *operands, status=0):
        done = monarc("merge", "-o", target, *operands, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return (self.folder / target).read_bytes() if status < 2 else done.stderr.decode()


class EveryVersion(Files):
    def test_each_to_each(self):
        """What is read of any version is what any other version holds."""
        sources = {"p.proftext": made.text(FUNCTIONS)}
        for version, word, order in itertools.product(made.RAW_VERSIONS, (4, 8), "<>"):
            sources[f"{version}{word}{'lb'[order == '>']}.profraw"] = made.raw(FUNCTIONS, version, word, order)
        sources |= {f"{version}.profdata": made.indexed(FUNCTIONS, version) for version in made.INDEXED_VERSIONS}
        for name, data in sources.items():
            self.write(name, data)
            self.assertEqual(self.convert(name, "out", "--to", "proftext"), text_of(FUNCTIONS), name)
        for name in ("p.proftext", "84b.profraw", "12.profdata"):
            for release, (raw, indexed) in RELEASES.items():
                for word, order in itertools.product((32, 64), ("little", "big")):
                    data = self.convert(name, "x.profraw", "--llvm", release, "--to-word", word, "--to-endian", order)
                    self.assertEqual(int.from_bytes(data[8:16], order), raw)
                    self.assertEqual(self.convert("x.profraw", "out", "--to", "proftext"), text_of(FUNCTIONS))
                    self.assertEqual(data[:8][::1 if order == "big" else -1][6:7], b"R" if word == 32 else b"r")
                data = self.convert(name, "x", "--to", "profdata", "--llvm", release)
                self.assertEqual(data[8], indexed)
                self.assertEqual(self.convert("x", "out", "--to", "proftext"), text_of(FUNCTIONS))

    def test_defaults_keep_to_the_release(self):
        self.write("8.profraw", made.raw(FUNCTIONS, 8, 4, ">"))
        self.write("7.profdata", made.indexed(FUNCTIONS, 7))
        self.write("p.proftext", made.text(FUNCTIONS))
        self.assertEqual(self.convert("8.profraw", "x.profdata")[8], 7)
        self.assertEqual(self.convert("7.profdata", "x.profraw")[8], 8)
        self.assertEqual(self.convert("8.profraw", "x")[:16], b"\xfflprofR\x81" + bytes(7) + b"\x08")
        self.assertEqual(self.convert("p.proftext", "x.profdata")[8], 7)

    def test_bits(self):
        for name, data in (("10.profraw", made.raw(BITS, 10)), ("13.profdata", made.indexed(BITS, 13)),
                           ("p.proftext", made.text(BITS))):
            self.write(name, data)
            for release, suffix in itertools.product((19, 22, 23), ("profraw", "profdata")):
                self.convert(name, f"x.{suffix}", "--llvm", release)
                self.assertEqual(self.convert(f"x.{suffix}", "out", "--to", "proftext"), text_of(BITS))
            for suffix in ("profraw", "profdata"):
                self.assertIn("conditions (MC/DC), which only LLVM 18 and later have",
                              self.convert(name, f"x.{suffix}", "--llvm", 17, status=2))
                self.assertIn("LLVM 18 has a way of its own", self.convert(name, f"x.{suffix}", "--llvm", 18, status=2))
        self.write("9.profraw", made.raw(BITS, 9))
        self.assertEqual(self.convert("9.profraw", "x.profdata")[8], 11)
        self.assertIn("numbered as LLVM 18 does it", self.convert("9.profraw", "x", "--llvm", 19, status=2))
        self.assertIn("numbered another way than those of", self.merge("x", "9.profraw", "10.profraw", status=2))

    def test_single_bytes(self):
        functions = [(b"f", 1, [1, 0, 1])]
        self.write("s.profraw", made.raw(functions, 10, bits=made.SINGLE_BYTE))
        self.write("p.profraw", made.raw(functions, 10))
        self.assertEqual(self.convert("s.profraw", "x.profraw")[128 + 64:][:8], b"\0\xff\0" + bytes(5))
        self.assertEqual(self.convert("x.profraw", "y.profraw"), self.convert("s.profraw", "x.profraw"))
        self.assertIn("its counters are those of coverage, those of s.profraw are single bytes: they do not add up",
                      self.merge("x", "s.profraw", "p.profraw", status=2))
        self.write("i.profraw", made.raw(functions, 10, bits=made.IR_LEVEL))
        self.assertIn("do not add up", self.merge("x", "i.profraw", "p.profraw", status=2))
        self.assertIn(b":ir\n", self.convert("i.profraw", "x.proftext"))

    def test_sums_do_not_depend_on_order(self):
        numbers = random.Random(24)
        parts = []
        for i in range(12):
            functions = [(b"f%d" % k, 1, [numbers.randrange(9) for _ in range(k + 1)]) for k in range(6)
                         if numbers.random() < .8]
            data = made.raw(functions, 8, ids=[bytes([i % 3])]) if i % 2 else made.indexed(functions, 7)
            self.write(f"{i}", data)
            parts.append(functions)
        total = {}
        for name, cfg, counts in itertools.chain(*parts):
            old = total.get((name, cfg), [0] * len(counts))
            total[name, cfg] = [a + b for a, b in zip(old, counts)]
        want = text_of([(*key, counts) for key, counts in total.items()])
        raws = set()
        for _ in range(5):
            names = list(range(12))
            numbers.shuffle(names)
            self.assertEqual(self.merge("x.proftext", *names), want)
            raws.add(self.merge("x.profraw", "--llvm", "14", *sorted(names, key=lambda i: i != 1)))
            self.assertEqual(self.convert("x.profraw", "y.proftext"), want)
        self.assertEqual(len(raws), 1)
        self.assertEqual(raws.pop().count(b"\x81rforpl\xff"), 3 + 1)  # by build-id, and what names none

    def test_saturation(self):
        for name, data in (("a", made.text([(b"f", 1, [2**64 - 5, 1])])), ("b.proftext", made.text([(b"f", 1, [9, 2])]))):
            self.write(name, data)
        self.assertEqual(self.merge("x.proftext", "a", "b.proftext"), text_of([(b"f", 1, [2**64 - 1, 3])]))

    def test_what_cannot_be_used(self):
        self.write("a.profraw", made.raw(FUNCTIONS, 8))
        self.write("b.profraw", made.raw(FUNCTIONS, 8)[:-20])
        self.write("old", b"kept")
        self.write("g.out", harness.gmon([(0x1000, 0x1010, [1, 2])]))
        self.write("other.proftext", made.text([(b"f", 0x18, [1, 2])]))
        self.assertIn("b.profraw: at offset", self.merge("old", "a.profraw", "b.profraw", "g.out", status=2))
        self.assertEqual((self.folder / "old").read_bytes(), b"kept")
        self.assertIn("g.out: at offset 0: is no profile of LLVM", self.merge("old", "a.profraw", "g.out", status=2))
        self.assertIn("is no profile of LLVM", self.merge("old", "--to", "profdata", "g.out", status=2))
        self.assertIn("from 11 to 23, not 10", self.merge("old", "--llvm", "10", "a.profraw", status=2))
        self.assertIn("need --program", self.convert("a.profraw", "old", "--to", "gmon", status=2))
        self.assertIn("does not become a file of gcc's", self.convert("a.profraw", "old", "--to", "gcda", status=2))
        # The function with more counters stays, whichever file comes first or is read first.
        for order in itertools.permutations(("a.profraw", "other.proftext", "other.proftext")):
            done = monarc("merge", "-o", "x.proftext", *order, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.decode()), (1, "monarc: left out: counters of 1 functions "
                             "that other files have with another number of counters\n"))
            self.assertEqual((self.folder / "x.proftext").read_bytes(), text_of(FUNCTIONS))
        data = bytearray(made.raw(FUNCTIONS, 8))
        sites = 88 + 44  # of the first record
        data[sites] = 1
        self.write("v.profraw", bytes(data) + (16).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(8))
        self.assertIn("1 functions have profiles of values", self.convert("v.profraw", "x", status=2))


@unittest.skipUnless(VERSIONS, "no clang with its llvm-cov and llvm-profdata is installed")
class Live(Files):
    def profiles(self, version, *options):
        """Of two programs, three runs each."""
        for name, text in (("a.c", C), ("o.c", OTHER_C), ("t.cpp", CPP), ("o.cpp", OTHER_CPP)):
            self.write(name, text)
        flags = [*test_cover_llvm.FLAGS, *options]
        self.run_in(f"clang-{version}", *flags, "-o", "c", "a.c", "o.c")
        self.run_in(f"clang++-{version}", *flags, "-o", "cpp", "t.cpp", "o.cpp")
        for name, i in itertools.product(("c", "cpp"), range(3)):
            self.run_in(f"./{name}", *["x"] * i, env={"LLVM_PROFILE_FILE": f"{name}{i}.profraw"})
        return [f"{name}{i}.profraw" for i, name in itertools.product(range(3), ("cpp", "c"))]

    def theirs(self, version, *operands, name="theirs.proftext"):
        self.run_in(f"llvm-profdata-{version}", "merge", "-text", "-o", name, *operands)
        return (self.folder / name).read_bytes()

    def show(self, version, name):
        done = self.run_in(f"llvm-profdata-{version}", "show", "--all-functions", "--counts", "--detailed-summary",
                           *(["--binary-ids"] if version > 14 else []), name)
        parts = re.split(r"\n(?=  \S)", done.stdout.decode())
        return sorted(parts[:-1]), parts[-1]

    def test_sums_are_those_of_llvm_profdata(self):
        for version in VERSIONS:
            for options in ([], ["-fcoverage-mcdc"])[:1 + (version > 18)]:
                with self.subTest(version, options=options):
                    files = self.profiles(version, *options)
                    want = self.theirs(version, *files)
                    self.run_in(f"llvm-profdata-{version}", "merge", "-o", "theirs.profdata", *files)
                    for order in (files, files[::-1], files[3:] + files[:3]):
                        self.assertEqual(self.merge("ours.proftext", *order), want)
                    for container in ("profdata", "profraw", "proftext"):
                        self.merge(f"ours.{container}", "--llvm", version, *files)
                        self.assertEqual(self.theirs(version, f"ours.{container}"), want)
                    self.assertEqual(self.show(version, "ours.profdata"), self.show(version, "theirs.profdata"))
                    self.assertEqual(self.convert("theirs.profdata", "x.proftext"), want)
                    self.assertEqual(self.convert("theirs.proftext", "x.proftext"), want)
                    # Merging sums again: twice the same is double of it.
                    self.assertEqual(self.merge("x.proftext", "ours.profdata", "theirs.profdata"),
                                     self.theirs(version, "theirs.profdata", "theirs.profdata", name="twice"))

    @unittest.skipUnless(len(VERSIONS) > 1, "one LLVM alone")
    def test_from_one_release_to_another(self):
        for a, b in itertools.permutations(VERSIONS, 2):
            with self.subTest(made_by=a, read_by=b):
                files = self.profiles(a)
                want = self.theirs(a, *files)
                self.merge("x.profraw", "--llvm", b, *files)
                self.merge("x.profdata", "--llvm", b, *files)
                for name in ("x.profraw", "x.profdata"):
                    self.assertEqual(self.theirs(b, name), want)
                self.convert("x.profraw", "y.profraw", "--to-word", "32", "--to-endian", "big")
                self.assertEqual(self.theirs(b, "y.profraw"), want)

    def test_single_bytes(self):
        for version in [v for v in VERSIONS if v >= 19]:
            files = self.profiles(version, "-mllvm", "-enable-single-byte-coverage=1")
            self.assertEqual(self.merge("x.proftext", files[0]), self.theirs(version, files[0]))
            self.merge("x.profdata", "--llvm", version, files[0])
            self.assertEqual(self.theirs(version, "x.profdata"), self.theirs(version, files[0]))

    def test_merged_raw_profiles_still_tell_programs_apart(self):
        files = self.profiles(VERSIONS[-1])
        self.merge("all.profraw", *files)
        before, _ = test_cover_llvm.cover(self.folder, "c", "cpp", *files)
        after, done = test_cover_llvm.cover(self.folder, "c", "cpp", "all.profraw")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main(verbosity=2)
