#!/usr/bin/env python3
"""test_llvm_files.py: merge, convert and info of clang's and rustc's profiles: every container and version made byte
by byte, and sums and files of every installed clang against its llvm-profdata."""

import itertools
import re
import unittest

import harness
import seeds
import test_cover_llvm
from harness import monarc
from parts import in_both, load_tests, share, slow
from test_cover_llvm import CPP, OTHER_C, OTHER_CPP, VERSIONS, C, Folder, made

RELEASES = {11: (5, 6), 12: (5, 7), 13: (7, 7), 14: (8, 7), 15: (8, 8), 16: (8, 9), 17: (8, 10), 18: (9, 11),
            19: (10, 12), 20: (10, 12), 21: (10, 12), 22: (10, 13), 23: (11, 13)}
FUNCTIONS = [(b"f", 0x18, [10, 4, 6, 2**64 - 5]), (b"f", 0x19, [7]), (b"f.c:never", 0, [0, 1]), (b"g" * 300, 5, [1])]
BITS = [(b"f", 0x18, [10, 4, 6, 3], b"\x0f\xa0\x01"), (b"g", 2, [0], b""), (b"h", 2, [0], b"\x01")]


VALUES = """:ir
a:b
# Func Hash:
1
# Num Counters:
1
# Counter Values:
9

call
# Func Hash:
2
# Num Counters:
1
# Counter Values:
19
# Num Value Kinds:
1
# ValueKind = IPVK_IndirectCallTarget:
0
# NumValueSites:
2
3
a:b:9
call:8
** External Symbol **:2
0

copy
# Func Hash:
3
# Num Counters:
1
# Counter Values:
43
# Num Value Kinds:
1
# ValueKind = IPVK_MemOPSize:
1
# NumValueSites:
1
2
64:40
0:3

""".replace(":ir", "# IR level Instrumentation Flag\n:ir", 1)

# Calls through a pointer, and copies: what is called and how large is known from the argument.
CALLS = """\
#include <stdlib.h>
#include <string.h>
static int one(int x) { return x + 1; }
int two(int x) { return x * 2; }
int three(int x) { return x - 3; }
int (*volatile table[4])(int) = {one, two, three, abs};
char a[4096], b[4096];
__attribute__((noinline)) int call(int i, int x) { return table[i & 3](x); }
__attribute__((noinline)) void copy(size_t n) { memcpy(a, b, n); }
int main(int argc, char **argv)
{
    int s = 0, n = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < n; i++) {
        s += call(i % 3 ? i : i / 3, i);
        copy((size_t)(i * 7 % 300));
    }
    return s == 42;
}
"""


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
        self.said = done.stderr.decode()
        return (self.folder / target).read_bytes() if status < 2 else self.said


class EveryVersion(Files):
    @in_both
    def test_each_to_each(self):
        """What is read of any version is what any other version holds."""
        sources = {"p.proftext": made.text(FUNCTIONS)}
        for version, word, order in itertools.product(made.RAW_VERSIONS, (4, 8), "<>"):
            sources[f"{version}{word}{'lb'[order == '>']}.profraw"] = made.raw(FUNCTIONS, version, word, order)
        sources |= {f"{version}.profdata": made.indexed(FUNCTIONS, version) for version in made.INDEXED_VERSIONS}
        for name, data in share(sources.items(), 5):
            self.write(name, data)
            self.assertEqual(self.convert(name, "out", "--to", "proftext"), text_of(FUNCTIONS), name)
        names = "p.proftext", "84b.profraw", "12.profdata"
        for name in names:
            self.write(name, sources[name])
        kinds = itertools.product(names, RELEASES.items(), (32, 64), ("little", "big"))
        for name, (release, (raw, _)), word, order in share(kinds, 11):
            data = self.convert(name, "x.profraw", "--llvm", release, "--to-word", word, "--to-endian", order)
            self.assertEqual(int.from_bytes(data[8:16], order), raw)
            self.assertEqual(self.convert("x.profraw", "out", "--to", "proftext"), text_of(FUNCTIONS))
            self.assertEqual(data[:8][::1 if order == "big" else -1][6:7], b"R" if word == 32 else b"r")
        for name, (release, (_, indexed)) in share(itertools.product(names, RELEASES.items()), 10):
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

    @slow
    def test_names_that_do_not_look_like_text(self):
        """Where one is in front, text needs a header to be known as such, by llvm-profdata too."""
        for name in ("übung".encode(), b"\xfflprofR\x81", b"\xfflprofi\x81", b"eightasc\xc3\xbc", b"\x01"):
            functions = [(name, 0x18, [10, 4]), (b"\xff\xff", 2, [3])]
            self.write("x.profdata", made.indexed(functions, 8))
            text = self.convert("x.profdata", "x.proftext")
            self.assertEqual(text.startswith(b"# Front-end level instrumentation\n:fe\n"), name[:4] != b"eigh")
            self.assertEqual(self.convert("x.proftext", "again.proftext"), text)
            for version in VERSIONS:
                self.run_in(f"llvm-profdata-{version}", "merge", "-text", "-o", "theirs", "x.proftext")
                self.assertEqual((self.folder / "theirs").read_bytes(), text.split(b":fe\n")[-1])

    @in_both
    def test_bits(self):
        for name, data in (("10.profraw", made.raw(BITS, 10)), ("13.profdata", made.indexed(BITS, 13)),
                           ("p.proftext", made.text(BITS))):
            self.write(name, data)
            for release, suffix in share(itertools.product((19, 22, 23), ("profraw", "profdata")), 3):
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
        said = self.merge("x", "s.profraw", "p.profraw", status=2)  # either may be added to the other: they are read at once
        self.assertIn(said, ("monarc: p.profraw: its counters are those of coverage, those of s.profraw are single bytes: "
                             "they do not add up\n", "monarc: s.profraw: its counters are single bytes, those of "
                             "p.profraw are those of coverage: they do not add up\n"))
        self.write("i.profraw", made.raw(functions, 10, bits=made.IR_LEVEL))
        self.assertIn("do not add up", self.merge("x", "i.profraw", "p.profraw", status=2))
        self.assertIn(b":ir\n", self.convert("i.profraw", "x.proftext"))

    def test_sums_do_not_depend_on_order(self):
        numbers = seeds.generator("sums do not depend on order")
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

    def test_a_folder_is_the_profiles_in_it(self):
        """Each file once, whatever links lead to it, and not the sum of the last time."""
        self.write("a", made.raw([(b"f", 1, [1])], 8))  # no name that says what it is: only if it is named
        for i, name in enumerate(("runs/a.profraw", "runs/deeper/b.profraw", "runs/sums/c.proftext", "runs/sums/d.profdata")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            functions = [(b"f", 1, [10 ** i])]
            self.write(name, made.text(functions) if i == 2 else made.raw(functions, 8) if i < 2 else made.indexed(functions, 7))
        self.write("runs/other.txt", "none")
        (self.folder / "runs/again.profraw").symlink_to("a.profraw")
        (self.folder / "runs/deeper/again.profraw").hardlink_to(self.folder / "runs/a.profraw")
        want = text_of([(b"f", 1, [1111])])
        self.assertEqual(self.merge("x.proftext", "runs"), want)
        self.assertEqual(self.merge("x.proftext", "runs", "runs/deeper"), want)
        self.assertEqual(self.merge("x.proftext", "runs", "a"), text_of([(b"f", 1, [1112])]))
        for _ in range(2):
            self.assertEqual(self.merge("runs/sum.proftext", "runs"), want)
        (self.folder / "runs/sum.proftext").unlink()
        # What may be the sum of the raw ones beside it counts if it is named, and only then.
        for name, data in (("last.profdata", made.indexed([(b"f", 1, [10000])], 7)), ("last.proftext", want)):
            self.write(f"runs/{name}", data)
            self.assertEqual(self.merge("x.proftext", "runs"), want)
            self.assertIn(f"runs/{name}: left out, as raw profiles lie next to it", self.said)
            (self.folder / f"runs/{name}").rename(self.folder / name)
        self.assertEqual(self.merge("x.proftext", "runs", "last.profdata"), text_of([(b"f", 1, [11111])]))
        (self.folder / "none").mkdir()
        self.assertIn("none: ", self.merge("x.proftext", "none", status=2))
        self.assertIn("is the only profile", self.merge("one/sum.proftext", "one", status=2)
                      if (self.folder / "one").mkdir() or self.write("one/sum.proftext", want) else "")

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
        self.assertIn("is not a profile of LLVM", self.merge("old", "--to", "profdata", "g.out", status=2))
        self.assertIn("from 11 to 23, not 10", self.merge("old", "--llvm", "10", "a.profraw", status=2))
        self.assertIn("need --program", self.convert("a.profraw", "old", "--to", "gmon", status=2))
        self.assertIn("does not become a file of gcc's", self.convert("a.profraw", "old", "--to", "gcda", status=2))
        # The function with more counters stays, whichever file comes first or is read first.
        for order in itertools.permutations(("a.profraw", "other.proftext", "other.proftext")):
            done = monarc("merge", "-o", "x.proftext", *order, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.decode()), (1, "monarc: left out: counters of 1 functions "
                             "that other files have with another number of counters\n"))
            self.assertEqual((self.folder / "x.proftext").read_bytes(), text_of(FUNCTIONS))
        self.write("v.proftext", VALUES.replace("IPVK_MemOPSize:\n1", "IPVK_VTableTarget:\n2"))
        self.assertIn("it has profiles of vtables, which are not kept", self.convert("v.proftext", "x", status=2))

    @slow
    def test_names_that_unpack_to_a_lot(self):
        """A name of 300 MB in 300 KB: refused, before there is memory for it."""
        self.write("a.profraw", made.raw([(b"f" * (300 << 20), 5, [1])], packs=True))
        done = harness.monarc_limited("info", "a.profraw", cwd=self.folder, megabytes=200)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)
        self.assertNotIn(b"memory", done.stderr)

    @in_both
    def test_values(self):
        """Values come through every container and version; what is shown is what is in the file."""
        self.write("v.proftext", VALUES)
        for release, (word, order) in share(itertools.product(RELEASES, ((32, "big"), (64, "little"))), 7):
            self.convert("v.proftext", "x.profraw", "--llvm", release, "--to-word", word, "--to-endian", order)
            self.assertEqual(self.convert("x.profraw", "y.proftext").decode(), VALUES, release)
            self.convert("v.proftext", "x.profdata", "--llvm", release)
            self.assertEqual(self.convert("x.profdata", "y.proftext").decode(), VALUES, release)
        self.assertEqual(self.merge("y.proftext", "x.profraw", "x.profraw", "x.profdata").decode(),
                         re.sub(r"(?m)(?<=:)\d+$", lambda n: str(3 * int(n[0])),
                                re.sub(r"(?m)(?<=Values:\n)\d+", lambda n: str(3 * int(n[0])), VALUES)))
        shown = monarc("info", "x.profraw", cwd=self.folder).stdout.decode()
        self.assertIn("  values: 2 calls through pointers with 3 functions\n  values: 1 memory operation with 2 sizes\n"
                      "    call, call 0: 9 x a:b, 8 x call, 2 x another\n    copy, size 0: 40 x 64, 3 x 0\n", shown)
        value = harness.monarc_json("info", "x.profdata", cwd=self.folder)["files"][0]
        self.assertEqual(value["functions_with_values"], 2)
        self.assertEqual(next(v for v in value["values"] if v["function"] == "call"), {"function": "call", "kind": "indirect_calls", "site": 0, "values": [
            {"name": "a:b", "count": 9}, {"name": "call", "count": 8}, {"name": None, "count": 2}]})

    def test_builds_with_other_places_for_values(self):
        """Kinds of both stay; of one with another number of places the larger one, and that is said."""
        def text(*kinds):
            return ":ir\nf\n1\n1\n5\n" + (f"{len(kinds)}\n" if kinds else "") + "".join(
                f"{kind}\n{len(sites)}\n" + "".join(f"1\n{value}:{count}\n" for value, count in sites)
                for kind, sites in kinds)
        sizes, calls = (1, [(64, 3), (8, 1)]), (0, [("f", 7)])
        self.write("none.proftext", text())
        self.write("sizes.proftext", text(sizes))
        self.write("calls.proftext", text(calls))
        self.write("both.proftext", text(calls, sizes))
        self.write("more.proftext", text((1, [(64, 3), (8, 1), (4, 9)])))
        want = self.merge("want.proftext", "none.proftext", "both.proftext")
        for names in itertools.permutations(("sizes.proftext", "calls.proftext")):
            self.assertEqual(self.merge("x.proftext", *names), want)
        for names in itertools.permutations(("sizes.proftext", "more.proftext", "calls.proftext")):
            self.merge("x.proftext", *names, status=1)
            done = monarc("merge", "-o", "x.proftext", *names, cwd=self.folder)
            self.assertIn(b"left out: values of 1 functions", done.stderr)
            found = harness.monarc_json("info", "x.proftext", cwd=self.folder)["files"][0]["values"]
            self.assertEqual([v["count"] for site in found for v in site["values"]], [7, 3, 1, 9])

    def test_values_that_only_later_files_have(self):
        """Sums of values depend on the order of files; with several threads it is theirs all the same."""
        numbers, names = seeds.generator("values that only later files have"), ["0.proftext"]
        self.write("0.proftext", ":ir\nf\n1\n1\n5\n")
        for i in range(1, 6):
            values = "".join(f"{v}:{numbers.randrange(1, 9)}\n" for v in numbers.sample(range(1000), 255))
            self.write(f"{i}.proftext", f":ir\nf\n1\n1\n5\n1\n1\n1\n255\n{values}")
            names.append(f"{i}.proftext")
        want = self.merge("first.proftext", *names[1:2], *names[2:], names[0])
        for _ in range(5):
            self.assertEqual(self.merge("x.proftext", *names), want)

    @in_both
    def test_damaged_values(self):
        """Cut off anywhere or with any byte changed: an error, or a whole file; never a crash."""
        self.write("v.proftext", VALUES)
        data = self.convert("v.proftext", "x.profraw", "--llvm", 14)
        values = len(data) - 8 * 16
        for end in share(range(values, len(data)), 8):
            self.write("cut.profraw", data[:end])
            done = monarc("convert", "-o", "y.proftext", "cut.profraw", cwd=self.folder)
            self.assertEqual(done.returncode, 2, end)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        for at in share(range(values, len(data)), 8):
            self.write("odd.profraw", data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
            self.assertIn(monarc("convert", "-o", "y.proftext", "odd.profraw", cwd=self.folder).returncode, (0, 2), at)


@unittest.skipUnless(VERSIONS, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
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

    @slow
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

    @slow
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

    @slow
    def test_single_bytes(self):
        for version in [v for v in VERSIONS if v >= 19]:
            files = self.profiles(version, "-mllvm", "-enable-single-byte-coverage=1")
            self.assertEqual(self.merge("x.proftext", files[0]), self.theirs(version, files[0]))
            self.merge("x.profdata", "--llvm", version, files[0])
            self.assertEqual(self.theirs(version, "x.profdata"), self.theirs(version, files[0]))

    @slow
    def test_merged_raw_profiles_still_tell_programs_apart(self):
        files = self.profiles(VERSIONS[-1])
        self.merge("all.profraw", *files)
        before, _ = test_cover_llvm.cover(self.folder, "c", "cpp", *files)
        after, done = test_cover_llvm.cover(self.folder, "c", "cpp", "all.profraw")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(before, after)


@unittest.skipUnless(VERSIONS, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
class Values(Files):
    """Profiles of values, for the optimiser."""

    def theirs(self, version, name, *operands):
        self.run_in(f"llvm-profdata-{version}", "merge", "-num-threads=1", *(["-text"] if name.endswith("text") else []),
                    "-o", name, *operands)
        return (self.folder / name).read_bytes()

    def show(self, version, name):
        done = self.run_in(f"llvm-profdata-{version}", "show", "--all-functions", "--ic-targets", "--memop-sizes", name)
        parts = re.split(r"\n(?=  \S)", done.stdout.decode())
        return sorted(parts[:-1]), parts[-1]

    @slow
    def test_sums_are_those_of_llvm_profdata(self):
        self.write("v.c", CALLS)
        for version in VERSIONS:
            with self.subTest(version):
                self.run_in(f"clang-{version}", "-O1", "-fprofile-generate", "v.c", "-o", "v")
                runs = {f"{n}.profraw": n for n in (5, 300, 40, 1)}
                for name, n in runs.items():
                    self.run_in("./v", n, env={"LLVM_PROFILE_FILE": name})
                one, *more = [[name] for name in runs]
                for names in (one, *more[:2], list(runs), *more[2:], list(runs)[::-1]):  # all of them last
                    want = self.theirs(version, "theirs.proftext", *names)
                    self.assertEqual(self.merge("ours.proftext", *names), want, names)
                    self.theirs(version, "theirs.profdata", *names)
                    for container in ("profdata", "profraw"):
                        self.merge(f"ours.{container}", "--llvm", version, *names)
                        self.assertEqual(self.theirs(version, "again.proftext", f"ours.{container}"), want)
                    self.assertEqual(self.show(version, "ours.profdata"), self.show(version, "theirs.profdata"))
                # The truth: what was called how often.
                called = [0] * 4
                for n in runs.values():
                    for i in range(n):
                        called[(i if i % 3 else i // 3) & 3] += 1
                value = harness.monarc_json("info", "ours.profdata", cwd=self.folder)["files"][0]
                found = {v["name"] and re.split("[:;]", v["name"])[-1]: v["count"]
                         for site in value["values"] if site["function"] == "call" for v in site["values"]}
                self.assertEqual(found, dict(zip(("one", "two", "three", None), called)))

    @slow
    def test_values_without_counterpart(self):
        """They are in the order of LLVM's merging, whichever side has none."""
        for name, values in ("some", ("9:5", "3:5", "6:7")), ("none", ()):
            self.write(f"{name}.proftext", f":ir\nof\n2\n1\n5\n1\n1\n1\n{len(values)}\n" + "".join(f"{v}\n" for v in values))
        for version, files in itertools.product(VERSIONS, (("some", "none"), ("none", "some"), ("some",))):
            files = [f"{name}.proftext" for name in files]
            self.assertEqual(self.merge("ours.proftext", *files), self.theirs(version, "theirs.proftext", *files), files)

    @slow
    def test_long_lists_are_cut_off_alike(self):
        """Random values, several unknown ones in a site, and more than the 255 that a site keeps."""
        numbers = seeds.generator("long lists are cut off alike")
        names = [f"f{i}" for i in range(300)]
        for turn in range(3):
            files = []
            for i in range(4):
                text = ":ir\n" + "".join(f"{name}\n1\n1\n5\n\n" for name in names)
                for kind in range(2):
                    sites = []
                    for site in range(3):
                        kept = numbers.sample(names, numbers.choice((0, 40, 200, 255) if site else (0, 1, 2)))
                        kept = [f"{name if not kind else name[1:]}:{numbers.randrange(1, 9)}" for name in kept]
                        # LLVM sorts equal values of long lists in any order: two unknown ones are in the short one.
                        unknown = (1 if site else 2) if not kind and len(kept) < 254 else 0
                        kept[1:1] = [f"** External Symbol **:{numbers.randrange(1, 9)}" for _ in range(unknown)]
                        sites.append(f"{len(kept)}\n" + "".join(f"{value}\n" for value in kept))
                    text += f"of{kind}\n2\n1\n5\n1\n{kind}\n3\n{''.join(sites)}\n"
                self.write(f"{i}.proftext", text)
                files.append(f"{i}.proftext")
            for version in VERSIONS:
                self.assertEqual(self.merge("ours.proftext", *files), self.theirs(version, "theirs.proftext", *files))


if __name__ == "__main__":
    unittest.main(verbosity=2)
