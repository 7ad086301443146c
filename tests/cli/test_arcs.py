"""info, convert and merge on files of arc profiling: what they become is what it was, to GNU gcov too."""

import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness

FILES = harness.ROOT / "tests/data/arc-files"
NOTES = sorted(FILES.glob("*/*.gcno"))
COUNTERS = sorted(FILES.glob("*/*.gcda"))
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
            self.convert(notes, "x.bbg", "--to", "bbg")
            self.convert("x.gcda", "x.da", "--to", "da", "--notes", notes)
            self.convert("x.bbg", "p.gcno", "--to", "gcno")
            self.convert("x.da", "p.gcda", "--to", "gcda")
            if not is_cc:  # templates are told apart by columns, which bbg has not
                self.assertEqual(
                    dict(expected).items() - dict(self.gcov("p.gcda", name)).items(), set(),
                    counters)
            tried += 1
        self.assertGreater(tried, 10)

    def test_there_and_back(self):
        for path in NOTES + COUNTERS:
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

    def test_merge(self):
        for path in COUNTERS:
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
                (["--gcc", "12.2", counters], "no place for conditions counters"),
                (["--gcc", "2.95", counters], "takes a version such as 4.9 or 12.2"),
                (["--to", "da", "--arcs-only", "--notes", FILES / "gcc-8/prog_c.gcno", counters],
                 "the notes do not have function"),
                (["--to", "gcno", FILES / "README.md"], "is no gcno, gcda, bbg or da file"),
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

    @unittest.skipUnless(gcov_version() == 12 and shutil.which("gcc-12"), "needs gcc 12")
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
