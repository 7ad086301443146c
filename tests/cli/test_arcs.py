"""info, convert and merge on files of arc profiling: what they become is what it was, to GNU gcov too."""

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

FILES = harness.ROOT / "tests/data/arc-files"
NOTES = sorted(FILES.glob("*/*.gcno"))
COUNTERS = sorted(FILES.glob("*/*.gcda"))
USED = """int printf(const char *, ...);
static int hot(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i % 7 ? i : -2;
    return s;
}
int main(int argc, char **argv)
{
    int t = 0;
    for (int i = 0; i < 1000; i++)
        t += hot(i + argc);
    return t == 7;
}
"""
THREADS = """#include <pthread.h>
static void *work(void *p)
{
    for (int i = 0; i < 300000; i++)
        if (i % 3)
            *(volatile int *)p += i % 5 ? 1 : 2;
    return p;
}
int main(void)
{
    pthread_t t[4];
    int x[4] = {0};
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, &x[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
}
"""


def gcov_version():
    gnu = shutil.which("gcov")
    out = subprocess.run([gnu, "--version"], capture_output=True, text=True).stdout if gnu else ""
    found = re.search(r" (\d+)\.\d+\.\d+$", out.splitlines()[0]) if out else None
    return int(found[1]) if found else 0


def counts(text):
    """(line, count) of a .gcov file; `*` marks and the words for never are one."""
    found = re.findall(r"^ *([-#=\d]+)\*?: *(\d+):", text, re.M)
    return [(line, 0 if count[0] in "#=" else count) for count, line in reversed(found)
            if line != "0"]  # the first of each line, which has the sum, comes last


def proposal_alone(data):
    """A bbg or da without the records that are not the proposal's, as others write it."""
    kept, at = data[:8], 8
    while at < len(data):
        tag, length = struct.unpack_from("<II", data, at)
        if tag <= 7:
            kept += data[at:at + 8 + length]
        at += 8 + length
    return kept


# Templates with two instances, classes whose constructors and destructors the compiler makes,
# exceptions, a lambda, lines of which only some blocks ran.
PAIRED = """#include <stdexcept>
#include <cstdio>
#include <vector>
struct Guard { int *n; explicit Guard(int *n) : n(n) { ++*n; } ~Guard() { --*n; } };
template <class T> struct Stack {
    std::vector<T> v;
    void push(T t) { v.push_back(t); }
    T pop()
    {
        if (v.empty())
            throw std::runtime_error("empty");
        T t = v.back();
        v.pop_back();
        return t;
    }
};
template <class T> T twice(T t) { return t > 0 ? t + t : -t; }
static int live;
int thrower(int i) { Guard g(&live); if (i % 3 == 0) throw i; return i; }
struct Base { virtual ~Base() {} virtual int f() { return 1; } };
struct Derived : Base { int f() override { return 2; } };
int main(int argc, char **argv)
{
    Stack<int> a;
    Stack<double> b;
    int s = 0;
    for (int i = 0; i < 6; i++) {
        try { Guard g(&live); s += thrower(i); } catch (int e) { s -= e; }
        a.push(i); b.push(i);
    }
    try { for (;;) s += a.pop(); } catch (std::exception &e) { s++; }
    Base *p = argc > 1 ? new Base : new Derived;
    s += p->f(); delete p;
    if (argc > 2 && argv[1][0] == 'x') s += 100; else s += twice(3) + (int)twice(2.5);
    auto l = [&](int x) { return x ? s : 0; };
    return printf("%d\\n", l(1)) < 0;
}
"""


class Arcs(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.dir = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def convert(self, source, target, *options):
        done = harness.monarc("convert", *options, "-o", target, source, cwd=self.dir)
        self.assertEqual(done.stderr.decode(), "")
        self.assertEqual(done.returncode, 0)

    def gcov(self, pair, name):
        """Line counts of prog.c that GNU gcov 12 reads from this pair."""
        shutil.copy(FILES / "src" / name, self.dir / name)
        for other in ("inc.h", "prog.c"):
            shutil.copy(FILES / "src" / other, self.dir / other)
        for source in self.dir.glob("*.[chc]*"):
            os.utime(source, (0, 0))  # older than notes, or gcov says so
        done = subprocess.run(["gcov", "-b", "-c", pair], cwd=self.dir, capture_output=True, text=True)
        wrong = [line for line in done.stderr.splitlines() if not line.startswith("Cannot open so")]
        self.assertEqual(wrong, [], pair)
        return counts(re.sub(r"^ .*-block.*\n", "", (self.dir / f"{name}.gcov").read_text(),
                             flags=re.M))

    @slow
    @unittest.skipUnless(gcov_version() == 12, "needs gcov 12")
    def test_gnu_reads_converted_files(self):
        tried = 0
        for counters in COUNTERS:
            oracle = counters.parent / "oracle"
            is_cc = "_cc" in counters.name
            name = "prog.cc" if is_cc else "prog.c"
            text = oracle / f"oracle-{'cc' if is_cc else 'c'}-{name}.gcov"
            if not text.exists() or "clang" in str(oracle):
                continue
            if is_cc and counters.parent.name in ("gcc-4.7", "gcc-4.9", "gcc-5"):
                continue  # those gcovs add up the lines of several functions in another way
            expected = counts(text.read_text())
            notes = counters.with_suffix(".gcno")
            self.convert(notes, "p.gcno", "--gcc", "12.2")
            self.convert(counters, "p.gcda", "--gcc", "12.2", "--arcs-only")
            self.assertEqual(dict(expected).items() - dict(self.gcov("p.gcda", name)).items(), set(),
                             counters)
            self.convert(notes, "x.gcno", "--gcc", "12.2")
            self.convert(counters, "x.gcda", "--arcs-only")
            self.convert(notes, "y.bbg", "--to", "bbg")
            self.convert("x.gcda", "y.da", "--to", "da", "--notes", notes)
            self.convert("y.bbg", "p.gcno", "--to", "gcno", "--gcc", "12")
            self.convert("y.da", "p.gcda", "--to", "gcda", "--gcc", "12")
            self.assertEqual(dict(expected).items() - dict(self.gcov("p.gcda", name)).items(), set(),
                             counters)
            tried += 1
        self.assertGreater(tried, 10)

    @unittest.skipUnless(gcov_version() == 12, "needs gcov 12")
    def test_a_major_version_is_its_release(self):
        """--gcc 12 is what gcov 12.2 takes for its own: gcov() lets no complaint pass."""
        for suffix in ("gcno", "gcda"):
            self.convert(FILES / f"gcc-9/prog_c.{suffix}", f"p.{suffix}", "--gcc", "12",
                         *(["--arcs-only"] if suffix == "gcda" else []))
            self.assertEqual((self.dir / f"p.{suffix}").read_bytes()[4:8], b"*22B")
        self.assertGreater(len(self.gcov("p.gcda", "prog.c")), 10)

    def run_program(self, *options):
        """t.c's notes and counters of a run, in self.dir."""
        (self.dir / "t.c").write_text(USED)
        subprocess.run(["gcc-12", *options, "--coverage", "-c", "t.c"], cwd=self.dir, check=True)
        subprocess.run(["gcc-12", "--coverage", "t.o", "-o", "t"], cwd=self.dir, check=True)
        subprocess.run(["./t"], cwd=self.dir, check=True)
        os.utime(self.dir / "t.c", (1, 1))

    def covered(self, operand, folder):
        return json.loads(harness.monarc("cover", "--json", "-", operand, cwd=folder).stdout)

    def shown(self, *names):
        """What cover and gcov show of these files alone: counts, and text without its heading."""
        with tempfile.TemporaryDirectory() as folder:
            for name in (*names, "t.c"):
                shutil.copy(self.dir / name, folder)
            os.utime(Path(folder) / "t.c", (1, 1))
            covered = self.covered(".", folder)
            self.assertEqual(covered["problems"], [])
            text = harness.monarc("gcov", "-b", "-c", "-t", "t.c", cwd=folder)
            self.assertEqual((text.returncode, text.stderr), (0, b""))
            lines = [line for line in text.stdout.decode().splitlines() if ":    0:" not in line]
            source, = covered["sources"]
            return ([(line["line"], line["count"]) for line in source["lines"]],
                    covered["totals"], lines)

    @slow
    @unittest.skipUnless(shutil.which("gcc-12"), "needs gcc 12 (package gcc-12)")
    def test_the_proposals_files_show_what_gccs_do(self):
        """cover and gcov of bbg and da, and of da with gcno, are those of the gcno and gcda."""
        self.run_program("-O0")
        self.convert("t.gcno", "t.bbg", "--to", "bbg")
        self.convert("t.gcda", "t.da", "--to", "da")
        expected = self.shown("t.gcno", "t.gcda")
        self.assertGreater(len(expected[0]), 8)
        self.assertEqual(self.shown("t.bbg", "t.da"), expected)
        self.assertEqual(self.shown("t.gcno", "t.da"), expected)
        self.assertEqual(self.shown("t.gcno", "t.bbg", "t.da"), expected)
        for name in "t.da", "t.bbg", "t.gcno":  # each brings the rest along
            covered = self.covered(name, self.dir)
            self.assertEqual(covered["totals"], expected[1], name)
        for beside in "t.bbg", "":  # da of a gcda that is there is the same run
            both = self.covered(".", self.dir)
            self.assertEqual(both["totals"], expected[1])
            self.assertEqual([(line["line"], line["count"]) for line in both["sources"][0]["lines"]],
                             expected[0])
            self.assertIn("t.da: left out, as a gcda of that name lies", both["problems"][0]["text"])
            if beside:
                (self.dir / "t.bbg").rename(self.dir / "kept")
        (self.dir / "kept").rename(self.dir / "t.bbg")
        damaged = bytearray((self.dir / "t.da").read_bytes())
        damaged[6:7] = b"9"
        (self.dir / "t.da").write_bytes(damaged)
        done = harness.monarc("cover", "t.bbg", cwd=self.dir)
        self.assertIn(b"t.da: is of version C09r, t.bbg of C02r", done.stderr + done.stdout)
        done = harness.monarc("gcov", "t.bbg", cwd=self.dir)
        self.assertIn(b"t.da:version 'C09r' does not go with 'C02r' of the notes file", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_counts_have_63_bits(self):
        """2^63 - 1 is a count; 2^64 - 1 is damage of its function, and no sum is below its parts."""
        def da(count):
            name = struct.pack("<I4sI", 1, b"f\0\0\0", 0x1234)
            summary = struct.pack("<IQQ", 2, 2**63 - 1, 2**63 - 1)
            return (b"gcov304e" + struct.pack("<II", 1, 12) + name +
                    struct.pack("<IIQQ", 5, 16, count, 3) + struct.pack("<II", 6, 20) + summary +
                    struct.pack("<II", 7, 20) + summary)
        for count, is_fine in (2**63 - 1, True), (2**63, False), (2**64 - 1, False):
            (self.dir / "x.da").write_bytes(da(count))
            found = harness.monarc_json("info", self.dir / "x.da")["files"][0]
            arcs, = found["counters"]
            self.assertEqual((arcs["sum"], arcs["largest"]), (2**63 - 1, 2**63 - 1))
            text = harness.monarc("info", "x.da", cwd=self.dir)
            self.assertEqual(b"a count is larger than 2^63 - 1" in text.stdout, not is_fine)
            done = harness.monarc("merge", "x.da", "x.da", "-o", "sum.da", cwd=self.dir)
            self.assertEqual(done.returncode, 0 if is_fine else 2)
            self.assertEqual(b"function 'f' are damaged: a count is larger" in done.stderr, not is_fine)

    def test_info_of_da_has_what_the_format_has(self):
        counters = harness.ROOT / "tests/corpus/da/gcc-12-c"
        text = harness.monarc("info", counters).stdout.decode()
        self.assertRegex(text, r"summary: \d+ counters, sum \d+, largest \d+\n")
        summary = harness.monarc_json("info", counters)["files"][0]["summaries"][0]
        self.assertEqual(set(summary), {"counters", "sum", "largest"})

    def test_checksum_conflicts_name_functions(self):
        path = harness.ROOT / "tests/corpus/da/gcc-12-c"
        data = bytearray(path.read_bytes())
        at = data.index(b"main\0") + 8
        data[at] ^= 1
        (self.dir / "other").write_bytes(data)
        done = harness.monarc("merge", "-o", "sum", path, "other", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the function 'main' was built from other code", done.stderr)

    def test_versions_are_kept(self):
        """What a compiler named itself is what its files name, through bbg and da and back."""
        for folder, named, word in (("gcc-9", b"903r", b"*39A"), ("gcc-14", b"E02r", b"*42B"),
                                    ("gcc-10", b"A02r", b"*20B")):
            notes = next((FILES / folder).glob("prog_c[.-]*gcno"))
            counters = notes.with_suffix(".gcda")
            self.convert(notes, "x.bbg", "--to", "bbg")
            self.convert(counters, "x.da", "--to", "da", "--arcs-only", "--notes", notes)
            self.convert("x.bbg", "y.gcno", "--to", "gcno")
            self.convert("x.da", "y.gcda", "--to", "gcda")
            for name, expected in (("x.bbg", named), ("x.da", named), ("y.gcno", notes),
                                   ("y.gcda", notes)):
                if isinstance(expected, Path):
                    expected = expected.read_bytes()[4:8]
                self.assertEqual((self.dir / name).read_bytes()[4:8], expected, name)
        self.convert(FILES / "gcc-12/prog_c-prog.gcno", "x", "--gcc", "9.2")
        self.assertEqual((self.dir / "x").read_bytes()[4:8], b"*29A")

    def test_other_versions_of_the_proposal(self):
        """Files of two versions are not summed, converted or solved together."""
        corpus = harness.ROOT / "tests/corpus"
        notes, counters = corpus / "bbg/gcc-12-c", corpus / "da/gcc-12-c"
        other = bytearray(counters.read_bytes())
        other[6:7] = b"5"
        (self.dir / "other.da").write_bytes(other)
        shutil.copy(notes, self.dir / "other.bbg")
        done = harness.monarc("merge", "-o", "sum", counters, "other.da", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"305e", done.stderr)
        self.assertFalse((self.dir / "sum").exists())
        (self.dir / "prog.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["cc", "-g", "prog.c", "-o", "prog"], cwd=self.dir, check=True)
        done = harness.monarc("convert", "--to", "gmon", "--program", "prog", "-o", "x",
                              "other.da", cwd=self.dir)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"is of version 305e, other.bbg of 304e", done.stderr)

    @slow
    @unittest.skipUnless(shutil.which("gcc-12"), "needs gcc 12 (package gcc-12)")
    def test_identities_come_from_real_notes(self):
        """da made into gcda beside its gcno is a profile that gcc takes for its own."""
        (self.dir / "t.c").write_text(USED)
        compiler = ["gcc-12", "-O2", "-c", "t.c", "-o", "t.o"]
        subprocess.run([*compiler, "--coverage"], cwd=self.dir, check=True)
        subprocess.run(["gcc-12", "--coverage", "t.o", "-o", "t"], cwd=self.dir, check=True)
        subprocess.run(["./t"], cwd=self.dir, check=True)
        use = [*compiler, "-fprofile-use", "-Wmissing-profile", "-Wcoverage-mismatch", "-Werror"]
        original = (self.dir / "t.gcda").read_bytes()
        self.convert("t.gcda", "t.da", "--to", "da")
        self.convert("t.da", "t.gcda", "--to", "gcda")
        made = (self.dir / "t.gcda").read_bytes()
        self.assertEqual(made, original)
        subprocess.run(use, cwd=self.dir, check=True)
        (self.dir / "t.gcno").rename(self.dir / "other.gcno")
        self.convert("t.da", "t.gcda", "--to", "gcda")  # a record of the da says who they are
        self.assertEqual((self.dir / "t.gcda").read_bytes(), original)
        (self.dir / "t.da").write_bytes(proposal_alone((self.dir / "t.da").read_bytes()))
        self.convert("t.da", "t.gcda", "--to", "gcda")  # nothing says who they are
        self.assertNotEqual(subprocess.run(use, cwd=self.dir, capture_output=True).returncode, 0)
        self.convert("t.da", "t.gcda", "--to", "gcda", "--notes", "other.gcno")
        subprocess.run(use, cwd=self.dir, check=True)
        done = harness.monarc("convert", "--to", "gcda", "-o", "x", "t.da", "--notes",
                              FILES / "gcc-8/prog_c.gcno", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"do not have the function 'main' with this control flow", done.stderr)

    def both(self, *command, name):
        """What a command prints of the native pair and of the one that is bbg and da."""
        told = []
        for folder, suffix, notes in ("native", "gcda", "gcno"), ("proposal", "da", "bbg"):
            done = harness.monarc(*command, f"{name}.{suffix}", cwd=self.dir / folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = re.sub(rb'timestamp="\d+"', b"", done.stdout)
            told.append(text.replace(f"{name}.{suffix}".encode(), b"COUNTERS")
                        .replace(f"{name}.{notes}".encode(), b"NOTES")
                        .replace(b"/native", b"/FOLDER").replace(b"/proposal", b"/FOLDER"))
        return told

    @unittest.skipUnless(gcov_version() == 12 and all(map(shutil.which, ("g++-12", "gcov-12"))),
                         "needs gcc 12 (packages gcc-12, g++-12)")
    @in_both
    def test_converted_pairs_equal_native_ones(self):
        """Byte for byte: the text and JSON of gcov, cover in its formats, the files themselves when
        they are converted back, and the code that -fprofile-use makes of them."""
        (self.dir / "t.cc").write_text(PAIRED)
        for level in share(("-O0", "-O2"), 2):
            texts = []
            for folder in "native", "proposal", "back":
                shutil.rmtree(self.dir / folder, ignore_errors=True)
                (self.dir / folder).mkdir()
            native, proposal, back = (self.dir / f for f in ("native", "proposal", "back"))
            compiler = ["g++-12", level, "../t.cc", "-c", "-o", "t.o"]
            subprocess.run([*compiler, "--coverage"], cwd=native, check=True)
            subprocess.run(["g++-12", "--coverage", "t.o", "-o", "t"], cwd=native, check=True)
            for args in (), ("a",), ("x", "y"):
                subprocess.run(["./t", *args], cwd=native, check=True, stdout=subprocess.DEVNULL)
            self.convert("native/t.gcno", "proposal/t.bbg", "--to", "bbg")
            self.convert("native/t.gcda", "proposal/t.da", "--to", "da")
            for command in (("gcov", "-t"), ("gcov", "-t", "-a", "-b", "-c", "-f", "-m", "-u"),
                            ("gcov", "-t", "-j", "-b"), ("cover", "--format", "json"),
                            ("cover", "--lcov", "-"), ("cover", "--format", "cobertura"),
                            ("cover", "--missing")):
                ours, theirs = self.both(*command, name="t")
                self.assertGreater(len(ours), 200)
                self.assertEqual(ours, theirs, (level, command))
            ours = subprocess.run(["gcov-12", "-t", "-a", "-b", "-c", "t.gcda"], cwd=native, check=True,
                                  capture_output=True).stdout
            self.assertIn(b"*:", ours)
            self.assertEqual(ours.replace(b"t.gcda", b"COUNTERS").replace(b"t.gcno", b"NOTES"),
                             self.both("gcov", "-t", "-a", "-b", "-c", name="t")[1])
            self.convert("proposal/t.bbg", "back/t.gcno", "--to", "gcno")
            self.convert("proposal/t.da", "back/t.gcda", "--to", "gcda")
            self.convert("native/t.gcda", "back/t.da", "--to", "da", "--notes", "proposal/t.bbg")
            for a, b in (("native/t.gcno", "back/t.gcno"), ("native/t.gcda", "back/t.gcda"),
                         ("proposal/t.da", "back/t.da")):
                self.assertEqual((self.dir / a).read_bytes(), (self.dir / b).read_bytes(), (level, b))
            for folder in (native, back) if level != "-O0" else ():
                subprocess.run([*compiler, "-fprofile-use", "-Werror=missing-profile"], cwd=folder,
                               check=True)
                code = subprocess.run(["objdump", "-dr", "t.o"], cwd=folder, check=True,
                                      capture_output=True).stdout
                self.assertIn(b".text.unlikely", code)
                texts.append(code)
            self.assertEqual(len(set(texts)), len(texts) // 2)
            for folder, suffix in ("native", "gcda"), ("proposal", "da"):  # runs and largest add
                run = harness.monarc("merge", "-o", f"sum.{suffix}", f"{folder}/t.{suffix}",
                                     f"{folder}/t.{suffix}", cwd=self.dir)
                self.assertEqual(run.returncode, 0, run.stderr)
            self.convert("sum.da", "sum-back.gcda", "--to", "gcda")
            self.assertEqual((self.dir / "sum-back.gcda").read_bytes(),
                             (self.dir / "sum.gcda").read_bytes())

    def test_notes_of_others_become_gcno(self):
        """Checksums of a bbg are its writer's: the gcno made of it and the gcda made of its da fit,
        whichever is made first; and a bbg can be named as the notes."""
        corpus = harness.ROOT / "tests/corpus"
        text = {}
        for kind in "bbg", "da":
            data = bytearray(proposal_alone((corpus / kind / "gcc-12-c").read_bytes()))
            at = 8
            while at < len(data):
                tag, length = struct.unpack_from("<II", data, at)
                if tag == 1:
                    data[at + 8 + length - 4] ^= 0x55
                at += 8 + length
            text[kind] = bytes(data)
        shown = set()
        for order in ("bbg", "da"), ("da", "bbg"), ("da",):
            for path in self.dir.glob("o.*"):
                path.unlink()
            for kind in "bbg", "da":
                (self.dir / f"o.{kind}").write_bytes(text[kind])
            for kind in order:
                target = "gcno" if kind == "bbg" else "gcda"
                self.convert(f"o.{kind}", f"o.{target}", "--to", target,
                             *(["--notes", "o.bbg"] if order == ("da",) else []))
            if len(order) > 1:
                done = harness.monarc("cover", "--lcov", "-", "o.gcda", cwd=self.dir)
                self.assertEqual((done.returncode, b"DA:" in done.stdout), (0, True), done.stderr)
            shown.add((self.dir / "o.gcda").read_bytes())
        self.assertEqual(len(shown), 1)
        done = harness.monarc("convert", "--to", "gcda", "-o", "x", "o.da", "--notes", "o.da",
                              cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"o.da: is not a gcno or bbg file", done.stderr)

    @in_both
    def test_there_and_back(self):
        for path in share(NOTES + COUNTERS, 5):
            self.convert(path, "same")
            self.assertEqual((self.dir / "same").read_bytes(), path.read_bytes(), path)
            self.convert(path, "big", "--to-endian", "big")
            self.convert("big", "little", "--to-endian", "little")
            self.convert("little", "back", "--to-endian",
                         "big" if path.read_bytes()[:3] == b"gcd" else "little")
            self.assertEqual((self.dir / "back").read_bytes(), path.read_bytes(), path)

    def test_info(self):
        paths = [*NOTES, *COUNTERS, *sorted((harness.ROOT / "tests/corpus/bbg").iterdir()),
                 *sorted((harness.ROOT / "tests/corpus/da").iterdir())]
        found = harness.monarc_json("info", *paths)
        try:
            import jsonschema
            jsonschema.validate(found, harness.schema("info"))
        except ImportError:
            pass  # the members that matter are compared below
        self.assertEqual(len(found["files"]), len(paths))
        for path, file in zip(paths, found["files"]):
            self.assertIsNone(file["error"])
            self.assertEqual(file["damaged"], [])
            if path.parent.name.startswith("gcc-"):
                number = [int(n) for n in re.findall(r"\d+", path.parent.name)[:2]]
                self.assertEqual(file["version_number"] // 100, number[0], path)
                self.assertEqual(file["byte_order"],
                                 "big" if "m68k" in str(path) and path.suffix == ".gcda"
                                 else "little")
            self.assertEqual(file.get("is_clang"), "clang" in str(path))
        text = harness.monarc("info", *paths).stdout.decode()
        self.assertEqual(text.count("\n\n"), len(paths) - 1)
        self.assertIn("(gcc 12.2), big-endian, lengths in bytes", text)

    def test_info_of_damage(self):
        path = FILES / "gcc-12/prog_c-prog.gcno"
        (self.dir / "cut").write_bytes(path.read_bytes()[:2000])
        done = harness.monarc("info", "cut", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"broken: ", done.stdout)
        self.assertIn(b"the file ends within the function", done.stdout)

    def test_lines_of_no_file(self):
        """Told apart from other damage, and not written back as something else."""
        notes = harness.ROOT / "tests/corpus/gcno/lines-of-no-file"
        self.assertIn(b"it has lines of no source file", harness.monarc("info", notes).stdout)
        done = harness.monarc("convert", "--to", "gcno", "-o", "x", notes, cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"it has lines of no source file", done.stderr)
        self.assertFalse((self.dir / "x").exists())

    @in_both
    def test_merge(self):
        for path in share(COUNTERS, 5):
            self.assertEqual(harness.monarc("merge", "-o", "sum", path, path, path,
                                            cwd=self.dir).stderr, b"")
            one, three = (harness.monarc_json("info", p, cwd=self.dir)["files"][0]
                          for p in (path, "sum"))
            for kind, tripled in zip(one["counters"], three["counters"]):
                self.assertEqual(kind["values"], tripled["values"])
                if kind["kind"] == "arcs":
                    self.assertEqual(3 * kind["sum"], tripled["sum"])
                    self.assertEqual(3 * kind["largest"], tripled["largest"])
            for key in "version", "byte_order", "stamp", "checksum", "length_unit":
                self.assertEqual(one[key], three[key])
        done = harness.monarc("merge", "-o", "sum", COUNTERS[0], NOTES[0], cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_refusals(self):
        notes, counters = FILES / "gcc-14/prog_c-prog.gcno", FILES / "gcc-14/prog_c-prog.gcda"
        for arguments, says in (
                (["--to", "gcda", notes], "the one has notes, the other counters"),
                (["--gcc", "12.2", counters], "the target format cannot hold conditions counters"),
                (["--gcc", "2.95", counters], "takes a version such as 4.9 or 12.2"),
                (["--to", "da", "--arcs-only", "--notes", FILES / "gcc-8/prog_c.gcno", counters],
                 "the notes do not have function"),
                (["--to", "gcno", FILES / "README.md"], "is not a gcno, gcda, bbg or da file"),
                (["--repair", notes], "only gcda files can be repaired")):
            done = harness.monarc("convert", "-o", "x", *arguments, cwd=self.dir)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr.decode())
            self.assertFalse((self.dir / "x").exists())

    def test_repair(self):
        """Counters of gcc-12's program, with an impossible one put in."""
        notes, counters = FILES / "gcc-12/prog_c-prog.gcno", FILES / "gcc-12/prog_c-prog.gcda"
        self.convert(counters, "same", "--repair")
        self.assertEqual((self.dir / "same").read_bytes(), counters.read_bytes())
        data = bytearray(counters.read_bytes())
        first = 0x3c  # main's: 2 2 13 13 ...; the loop's body runs, its end not once too many
        data[first + 16:first + 24] = struct.pack("<Q", 5)
        (self.dir / "lost.gcda").write_bytes(data)
        self.convert("lost.gcda", "fixed.gcda", "--repair", "--notes", notes)
        fixed = (self.dir / "fixed.gcda").read_bytes()
        self.assertEqual(len(fixed), len(data))
        shutil.copy(notes, self.dir / "fixed.gcno")
        self.convert("fixed.gcda", "again.gcda", "--repair", "--notes", notes)
        self.assertEqual((self.dir / "again.gcda").read_bytes(), fixed)

    @unittest.skipUnless(gcov_version() == 12 and shutil.which("gcc-12"), "needs gcc 12 (package gcc-12)")
    def test_repair_of_threads(self):
        (self.dir / "t.c").write_text(THREADS)
        subprocess.run(["gcc-12", "--coverage", "-fprofile-update=single", "-pthread", "t.c", "-o",
                        "t"], cwd=self.dir, check=True)
        for _ in range(3):
            subprocess.run(["./t"], cwd=self.dir, check=True)
        self.convert("t.gcda", "fixed.gcda", "--repair", "--notes", "t.gcno")
        shutil.copy(self.dir / "t.gcno", self.dir / "fixed.gcno")
        text = subprocess.run(["gcov", "-t", "-b", "-c", "fixed.gcda"], cwd=self.dir,
                              capture_output=True, text=True).stdout
        self.assertNotRegex(text, r"^ *-\d+|taken -\d|returned -\d")


if __name__ == "__main__":
    harness.main()
