"""monarc gcov-dump: byte for byte what each version's own gcov-dump printed, and what the installed
one (of gcc 12) prints on files of gcc 12, over the table of options."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness

FILES = harness.ROOT / "tests/data/arc-files"
OPTIONS = ([], ["-l"], ["-p"], ["-r"], ["-l", "-p"], ["-lr"], ["-l", "-p", "-r"],
           ["--long", "-p"], ["-r", "--lo"], ["-q"])
PROGRAM = """#include <string.h>
#include <stdlib.h>
int one(int a) { return a + 1; }
int two(int a) { return a * 2; }
int (*table[])(int) = {one, two};
int main(int argc, char **argv)
{
    char a[100] = {0}, b[100];
    int sum = 0, times = argc > 1 ? atoi(argv[1]) : 50;
    for (int i = 0; i < times; i++)
        switch (sum += table[i & 1](i) / (i % 3 + 1), i % 9) {
        case 0: sum++; break;
        case 1: sum--; break;
        case 2: sum += 2; break;
        case 3: memcpy(b, a, i % 90); break;
        case 5: sum -= argc; break;
        case 8: sum += argc; break;
        }
    return sum == b[7] + 1000000;
}
"""


def gnu_version():
    gnu = shutil.which("gcov-dump")
    out = subprocess.run([gnu, "--version"], capture_output=True, text=True).stdout if gnu else ""
    found = re.search(r" (\d+)\.\d+\.\d+$", out.splitlines()[0]) if out else None
    return int(found[1]) if found else 0


class GcovDump(unittest.TestCase):
    def test_own_dumps(self):
        dumps = sorted(FILES.glob("*/*.dump"))
        self.assertGreater(len(dumps), 15)
        for dump in dumps:
            mine = harness.monarc("gcov-dump", "-l", dump.stem, cwd=dump.parent)
            self.assertEqual(mine.stdout, dump.read_bytes(), dump)
            self.assertEqual(mine.returncode, 0)

    def compare(self, paths, cwd):
        for options in OPTIONS:
            arguments = [*options, *paths]
            gnu = subprocess.run(["gcov-dump", *arguments], cwd=cwd, capture_output=True)
            mine = harness.monarc("gcov-dump", *arguments, cwd=cwd)
            for field in "stdout", "stderr", "returncode":
                self.assertEqual(getattr(mine, field), getattr(gnu, field), arguments)

    @unittest.skipUnless(gnu_version() == 12, "needs gcov-dump 12")
    def test_like_gnu(self):
        for folder in FILES.glob("gcc-12*"):
            self.compare(sorted(p.name for p in folder.glob("*.gc??")), folder)
        self.compare(["nothing-here", "."], FILES)

    @unittest.skipUnless(gnu_version() == 12 and shutil.which("gcc-12"), "needs gcc 12 (package gcc-12)")
    def test_live(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.c").write_text(PROGRAM)
            for flags in ["-fprofile-generate", "-O2"], ["--coverage"], ["--coverage", "-O2"]:
                for old in Path(folder).glob("*.gc??"):
                    old.unlink()
                subprocess.run(["gcc-12", "-w", *flags, "a.c", "-o", "a"], cwd=folder, check=True)
                for times in "20", "70":
                    subprocess.run(["./a", times], cwd=folder, check=True)
                self.compare(sorted(p.name for p in Path(folder).glob("*.gc??")), folder)

    def test_proposal(self):
        """The files that docs/formats/bbg.md and da.md draw, and one with an unknown record."""
        function = bytes.fromhex("01000000 0c000000 01000000 66000000 78563412")
        notes = (b"gbbg304e" + function + bytes.fromhex(
            "02000000 0c000000 000000000000000000000000"
            "03000000 08000000 01000000 00000000 03000000 08000000 02000000 01000000"
            "03000000 00000000 04000000 00000000"
            "04000000 10000000 00000000 03000000 612e6300 07000000 04000000 00000000"))
        counters = (b"gcov304e" + function + bytes.fromhex("05000000 08000000 0500000000000000") +
                    b"".join(bytes.fromhex(f"{tag} 14000000 01000000") + 2 * bytes.fromhex(
                        "0500000000000000") for tag in ("06000000", "07000000")) +
                    bytes.fromhex("63000000 01000000 00"))
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("n", notes), ("c", counters), ("cut", counters[:40])):
                (Path(folder) / name).write_bytes(data)
            text = harness.monarc("gcov-dump", "-l", "-p", "n", "c", cwd=folder).stdout.decode()
            cut = harness.monarc("gcov-dump", "cut", cwd=folder)
        lines = [re.sub(r"  +", " ", line) for line in text.splitlines()]
        self.assertEqual(lines, [
            "n:note:magic `gbbg':version `304e'",
            "n: 8: 00000001: 12:FUNCTION `f', checksum=0x12345678",
            "n: 28: 00000002: 12:BLOCKS 3 blocks", "n: 36: 0: 0000 0000 0000",
            "n: 48: 00000003: 8:ARCS 1 arcs", "n: 56: 0: 1:0000",
            "n: 64: 00000003: 8:ARCS 1 arcs", "n: 72: 1: 2:0001",
            "n: 80: 00000003: 0:ARCS 0 arcs", "n: 88: 00000004: 0:LINES",
            "n: 96: 00000004: 16:LINES", "n: 104: 1: `a.c':7", "n: 120: 00000004: 0:LINES",
            "c:data:magic `gcov':version `304e'",
            "c: 8: 00000001: 12:FUNCTION `f', checksum=0x12345678",
            "c: 28: 00000005: 8:ARC_COUNTS 1 counts", "c: 36: 0: 5",
            "c: 44: 00000006: 20:OBJECT_SUMMARY counters=1, sum=5, largest=5",
            "c: 72: 00000007: 20:PROGRAM_SUMMARY counters=1, sum=5, largest=5",
            "c: 100: 00000063: 1:unknown"])
        self.assertEqual(cut.returncode, 1)
        self.assertIn(b"claims 8 bytes, 4 remain", cut.stderr)

    def test_broken(self):
        whole = (FILES / "gcc-12/prog_c-prog.gcda").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cut.gcda"
            for size in 16, 33, 60, len(whole) // 2, len(whole) - 5:
                path.write_bytes(whole[:size])
                mine = harness.monarc("gcov-dump", "-l", path)
                self.assertEqual(mine.stderr.count(b"\n"), 1)
                self.assertEqual(mine.returncode, 1)


    def test_long_names(self):
        for short, spelled in ("-p", "--positions"), ("-lr", "--long --raw"):
            mine = [harness.monarc("gcov-dump", *options.split(), "prog_c-prog.gcda",
                                   cwd=FILES / "gcc-12").stdout for options in (short, spelled)]
            self.assertEqual(*mine)


if __name__ == "__main__":
    harness.main()
