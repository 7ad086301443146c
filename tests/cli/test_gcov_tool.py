"""monarc gcov-tool: the same files as gcov-tool 12 over a table of options, and what GNU's cannot do."""

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
PLAIN = """#include <stdlib.h>
static int never(int a) { return a * 3; }
int hot(int a) { int s = 0; for (int i = 0; i < a; i++) s += i % 3; return s; }
int main(int c, char **v)
{
    int n = c > 1 ? atoi(v[1]) : 5;
    return n > 100000000 ? never(n) : hot(n) & 1;
}
"""
VALUES = """#include <stdlib.h>
#include <string.h>
char from[200];
int main(int c, char **v)
{
    char to[200] = {0};
    int low = atoi(v[1]), high = atoi(v[2]);
    for (int i = low; i < high; i++)
        memcpy(to, from, i);
    return to[0];
}
"""


def gnu_version():
    gnu = shutil.which("gcov-tool")
    out = subprocess.run([gnu, "--version"], capture_output=True, text=True).stdout if gnu else ""
    found = re.search(r" (\d+)\.\d+\.\d+$", out.splitlines()[0]) if out else None
    return int(found[1]) if found else 0


HAS_GNU = gnu_version() == 12 and shutil.which("gcc-12")


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Bench(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def tool(self, *arguments):
        return harness.monarc("gcov-tool", *arguments, cwd=self.folder)

    def dump(self, path):
        return harness.monarc("gcov-dump", "-lr", path, cwd=self.folder).stdout.decode()

    def copy(self, source, target):
        target = self.folder / target
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


@unittest.skipUnless(shutil.which("gcc-12"), "needs gcc 12 (package gcc-12)")
class OfTheProposal(Bench):
    """Folders of da give what the same folders of gcda give."""

    @slow
    def test_da(self):
        (self.folder / "p.c").write_text(PLAIN)
        subprocess.run(["gcc-12", "--coverage", "-c", "p.c", "-o", "p.o"], cwd=self.folder, check=True)
        subprocess.run(["gcc-12", "--coverage", "p.o", "-o", "p"], cwd=self.folder, check=True)
        for name, argument in ("one", "100"), ("two", "7"):
            for kind in "gcda", "da":
                (self.folder / kind / name / "sub").mkdir(parents=True)
            subprocess.run(["./p", argument], cwd=self.folder)
            (self.folder / "p.gcda").rename(self.folder / f"gcda/{name}/sub/p.gcda")
            self.to_da(f"gcda/{name}/sub/p.gcda", f"da/{name}/sub/p.da")
        for command in (("merge", "{}/one", "{}/two"), ("merge", "-w", "3,2", "{}/one", "{}/two"),
                        ("rewrite", "-s", "1/3", "{}/one"), ("rewrite", "-n", "1000", "{}/one")):
            for kind in "gcda", "da":
                told = self.tool(command[0], "-o", f"out-{kind}",
                                 *(c.format(kind) for c in command[1:]))
                self.assertEqual((told.returncode, told.stderr), (0, b""))
            self.run_monarc("convert", "--to", "gcda", "out-da/sub/p.da", "-o", "back.gcda")
            self.assertEqual((self.folder / "back.gcda").read_bytes(),
                             (self.folder / "out-gcda/sub/p.gcda").read_bytes(), command)
            info = harness.monarc("info", "--json", "out-da/sub/p.da", cwd=self.folder)
            found = json.loads(info.stdout)["files"][0]
            self.assertEqual({s["sum"] for s in found["summaries"]},
                             {found["counters"][0]["sum"]}, command)
        told = [self.tool("overlap", *(c.format(kind) for c in ("{}/one", "{}/two"))).stdout
                for kind in ("gcda", "da")]
        self.assertIn(b"overlap", told[0].lower())
        self.assertEqual(*told)

    def run_monarc(self, *arguments):
        done = harness.monarc(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def to_da(self, counters, target):
        self.run_monarc("convert", "--to", "da", "--notes", "p.gcno", counters, "-o", target)


@unittest.skipUnless(HAS_GNU, "needs gcov-tool and gcc 12")
class LikeGnu(Bench):
    def record(self, name, text, flags, runs):
        """Compiles `text`; each run is (folder, arguments...), cumulative within a folder."""
        (self.folder / f"{name}.c").write_text(text)
        subprocess.run(["gcc-12", *flags, f"{name}.c", "-o", name], cwd=self.folder, check=True)
        for target, *arguments in runs:
            left = self.folder / f"{name}.gcda"
            left.unlink(missing_ok=True)
            for words in arguments:
                subprocess.run([f"./{name}", *words.split()], cwd=self.folder)
            self.copy(left, target)

    def compare(self, *arguments):
        results = []
        for program in ["gcov-tool"], [os.environ["MONARC"], "gcov-tool"]:
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = subprocess.run([*program, *arguments, "-o", "out"], cwd=self.folder,
                                  capture_output=True)
            results.append((done.returncode, done.stdout, files(self.folder / "out")))
        self.assertEqual(*results, arguments)

    @in_both
    def test_counts(self):
        self.record("p", PLAIN, ["--coverage"],
                    [("a/p.gcda", "5"), ("a/sub/only.gcda", "3"), ("b/p.gcda", "7", "200000000"),
                     ("b/deep/er/q.gcda", "1"), ("big/p.gcda", "16777219"), ("d/p.gcda", "10")])
        for weights in share((None, "1,1", "2,3", "2,3.5", "3", "1.5,2", "0,1", "2:3", "7,1", "x"), 3):
            for pair in ("a", "b"), ("b", "a"), ("d", "big"), ("b", "b"):
                self.compare("merge", *pair, *(["-w", weights] if weights else []))
        for scale in ("0.5", "3", "1/3", "2/0", "1.7", "abc", "0.333", "1e1", "3/2", "1/ 3", "0.7",
                      "1.5/2", "3/-1", "1/3x", ".5", "0", "-1"):
            for folder in share(("a", "b", "big"), 3):
                self.compare("rewrite", folder, "-s", scale)
        self.compare("rewrite", "a")
        self.compare("merge", "-v", "a", "b")

    @in_both
    def test_values(self):
        self.record("w", VALUES, ["-O2", "-w", "-fprofile-generate", "-fprofile-update=single"],
                    [("a/w.gcda", "1 6"), ("b/w.gcda", "4 9"), ("c/w.gcda", "20 70"),
                     ("d/w.gcda", "1 6", "4 9", "50 90"), ("e/w.gcda", "3 3")])
        for first in share("abce", 3):  # GNU forgets that a list as first operand had lost values (d)
            for second in "abcde":
                self.compare("merge", first, second)


class Own(Bench):
    @in_both
    def test_every_version_is_kept(self):
        for path in sorted(FILES.glob("*/*.gcda")):
            name = f"{path.parent.name}.{path.name}"
            self.copy(path, f"a/{name}")
            self.copy(path, f"b/{name}")
        self.assertEqual(self.tool("rewrite", "a").returncode, 0)
        self.assertEqual(files(self.folder / "rewrite_profile"), files(self.folder / "a"))
        self.assertEqual(self.tool("merge", "a", "b").returncode, 0)
        self.assertEqual(self.tool("rewrite", "a", "-o", "twice", "-s", "2").returncode, 0)
        merged, twice = (files(self.folder / f) for f in ("merged_profile", "twice"))
        self.assertEqual(len(merged), len(list(FILES.glob("*/*.gcda"))))
        for name, data in share(sorted(merged.items()), 5):
            self.assertEqual(data[:12], (self.folder / "a" / name).read_bytes()[:12])
            lines = [[line for line in self.dump(f"{folder}/{name}").split("\n")
                      if "COUNTERS arcs" in line] for folder in ("merged_profile", "twice")]
            lines = [[line.split(":", 1)[1] for line in half] for half in lines]
            self.assertEqual(*lines, name)
        self.assertEqual(len(twice), len(merged))

    def test_other_build(self):
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/x.gcda")
        self.copy(FILES / "gcc-12/prog_cc-prog.gcda", "b/x.gcda")
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/y.gcda")
        data = bytearray((FILES / "gcc-12/prog_c-prog.gcda").read_bytes())
        data[0x2c] ^= 1  # the checksum of main's control flow
        (self.folder / "b/y.gcda").write_bytes(data)
        done = self.tool("merge", "a", "b")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(b"other code"), 2)  # both have a main
        self.assertFalse((self.folder / "merged_profile").exists())

    def test_damaged(self):
        whole = (FILES / "gcc-12/prog_c-prog.gcda").read_bytes()
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/x.gcda")
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/y.gcda")
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "b/y.gcda")
        for content in whole[:100], b"hello", b"":
            (self.folder / "b/x.gcda").write_bytes(content)
            shutil.rmtree(self.folder / "merged_profile", ignore_errors=True)
            done = self.tool("merge", "a", "b")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertEqual(list(files(self.folder / "merged_profile")), ["y.gcda"])
        for arguments in (["merge", "a"], ["merge", "a", "nowhere"], ["rewrite", "nowhere"], ["x"],
                          [], ["rewrite", "-n", "0", "a"], ["merge", "-w", "-1,2", "a", "b"]):
            done = self.tool(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertNotEqual(done.stderr, b"")

    def test_normalize(self):
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/x.gcda")
        self.assertEqual(self.tool("rewrite", "-n", "1300", "a").returncode, 0)
        self.assertIn("12 counts: 200 200 1300 1300 1000 1000 0 200 200 0 0 200",
                      self.dump("rewrite_profile/x.gcda"))

    def test_lists_of_values(self):
        """Scaled and weighed, and what was lost stays lost."""
        self.copy(harness.ROOT / "tests/corpus/gcda/values", "a/x.gcda")
        self.assertIn("topn 66 counts: -55 32 5 1 21 1", self.dump("a/x.gcda"))
        self.assertEqual(self.tool("rewrite", "-s", "2", "a").returncode, 0)
        self.assertIn("topn 66 counts: -110 32 5 2 21 2", self.dump("rewrite_profile/x.gcda"))
        self.assertEqual(self.tool("merge", "-w", "2,1", "a", "a").returncode, 0)
        self.assertIn("topn 66 counts: -165 32 5 3 21 3", self.dump("merged_profile/x.gcda"))

    def test_weight_zero(self):
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/x.gcda")
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "b/z.gcda")
        self.assertEqual(self.tool("merge", "-w", "1,0", "a", "b").returncode, 0)
        self.assertIn("12 counts (all zero)", self.dump("merged_profile/z.gcda"))

    def test_zeros_that_are_spelled_out(self):
        """Sums of them are written as gcc writes what never ran: by a length alone."""
        data = (FILES / "gcc-12/prog_c-prog.gcda").read_bytes()
        for size in 8, 16:
            short, long = struct.pack("<Ii", 0x01a10000, -size), struct.pack("<Ii", 0x01a10000, size) + bytes(size)
            self.assertIn(short, data)
            data = data.replace(short, long)
        for folder in "a", "b":
            (self.folder / folder).mkdir()
            (self.folder / folder / "x.gcda").write_bytes(data)
        self.assertNotIn("all zero", self.dump("a/x.gcda"))
        self.assertEqual(self.tool("merge", "a", "b").returncode, 0)
        self.assertEqual(self.dump("merged_profile/x.gcda").count("all zero"), 2)
        name = b"streamed.gcda\0"
        (self.folder / "stream").write_bytes((struct.pack("<III", 0x6763666e, 0x4233322a, len(name)) + name + data) * 2)
        self.assertEqual(self.tool("merge-stream", "stream").returncode, 0)
        self.assertEqual(self.dump("streamed.gcda").count("all zero"), 2)
        self.assertEqual(harness.monarc("merge", "-o", "sum.gcda", "a/x.gcda", "b/x.gcda", cwd=self.folder).returncode, 0)
        self.assertEqual(self.dump("sum.gcda").count("all zero"), 2)

    def test_overlap(self):
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "a/x.gcda")
        self.copy(FILES / "gcc-12/prog_c-prog.gcda", "b/x.gcda")
        self.copy(FILES / "gcc-12/prog_cc-prog.gcda", "b/y.gcda")
        same = self.tool("overlap", "-o", "a", "a")
        self.assertEqual(same.returncode, 0)
        self.assertIn(b"SUM:" + b" " * 36 + b"  overlap = 100.00% (100.00% 100.00%)", same.stdout)
        other = self.tool("overlap", "-o", "-f", "-F", "a", "b").stdout.decode()
        total = re.search(r"SUM: +overlap = ([ \d.]+)% \(100.00% 100.00%\)", other)
        self.assertTrue(0 < float(total[1]) < 100)
        self.assertRegex(other, r"gcda files: +1\t +2\t +1\n +unique files: +0\t +1\n")
        self.assertRegex(other, r"processing +./y.gcda:")
        self.assertNotIn("func_id", self.tool("overlap", "-f", "-h", "-t", "2", "a", "b").stdout
                         .decode())

    def test_stream(self):
        data = (FILES / "gcc-12/prog_c-prog.gcda").read_bytes()
        name = b"new/folder/x.gcda\0"
        head = struct.pack("<III", 0x6763666e, 0x4233322a, len(name)) + name
        stream = (head + data) * 2
        (self.folder / "stream").write_bytes(stream)
        self.assertEqual(self.tool("merge-stream", "-v", "stream").returncode, 0)
        self.assertIn("12 counts: 4 4 26 26", self.dump("new/folder/x.gcda"))
        self.assertEqual(self.tool("merge-stream", "-w", "1,3", "stream").returncode, 0)
        self.assertIn("12 counts: 16 16", self.dump("new/folder/x.gcda"))
        for size in 3, 10, len(head) - 1, len(head) + 50, len(stream) - 1:
            (self.folder / "cut").write_bytes(stream[:size])
            done = self.tool("merge-stream", "cut")
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))


if __name__ == "__main__":
    harness.main()
