"""Programs whose blocks are counted by the compiler's calls (recorder.c) leave block records in
gmon.out; what monarc makes of them is what gcov counts.

gcov counts how often a line is entered from other lines. So does the count of a line with one block, or
with none of its own; several blocks on one line count more than that together.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
MONARC = os.environ["MONARC"]

# What GCC compiles to no block of its own, though a jump leads there.
WITHOUT_CALL = {"default: break;"}


def run(*command, cwd, **more):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}, **more)
    assert done.returncode == 0, (command, done.stderr.decode())
    return done.stdout.decode()


class Blocks:
    """One compiler's way to call the recorder."""

    source = HERE / "turns.c"

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.compiler):
            raise unittest.SkipTest(f"no {cls.compiler}")
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc-blocks-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(cls.compiler, "-O2", "-c", HERE / "recorder.c", "-o", "recorder.o", cwd=cls.folder)
        run(cls.compiler, "-g", "-O0", cls.flags, cls.source, "recorder.o", "-o", "program",
            cwd=cls.folder)
        run("./program", cwd=cls.folder)
        cls.text = cls.source.read_text().splitlines()
        cls.gcov = cls.count_by_gcov()

    @classmethod
    def count_by_gcov(cls):
        where = cls.folder / "gcov"
        where.mkdir()
        run("gcc", "-g", "-O0", "--coverage", cls.source, "-o", "program", cwd=where)
        run("./program", cwd=where)
        run("gcov", *where.glob("*.gcda"), cwd=where)
        counts = {}
        for line in (where / f"{cls.source.name}.gcov").read_text().splitlines():
            count, number, _ = line.split(":", 2)
            if count.strip() != "-":
                counts[int(number)] = int(count.strip(" *").replace("#####", "0"))
        return counts

    def lines(self):
        found = json.loads(run(MONARC, "annotate", "--all", "--json", "program", cwd=self.folder))
        rows = next(f for f in found["files"] if f["recorded"].endswith(self.source.name))["lines"]
        return {row["line"]: row for row in rows if row.get("executions") is not None}

    def test_annotate_counts_what_gcov_counts(self):
        compared = {True: 0, False: 0}
        for number, row in self.lines().items():
            text = self.text[number - 1].strip()
            if number not in self.gcov or row["blocks"] > 1:
                continue
            if row["is_inferred"] and text in WITHOUT_CALL:
                continue
            self.assertEqual(row["executions"], self.gcov[number], f"line {number}: {text}")
            compared[row["is_inferred"]] += 1
        self.assertGreater(compared[False], 25)
        self.assertGreater(compared[False] + compared[True], 38)

    def test_several_blocks_of_a_line(self):
        for number, row in self.lines().items():
            if row["blocks"] > 1 and number in self.gcov and self.compiler == "gcc":
                self.assertLessEqual(self.gcov[number], row["executions"], number)

    def test_never_executed(self):
        text = run(MONARC, "lines", "--counts", "--never", "program", cwd=self.folder)
        ranges = re.search(r"turns\.c: (.*)", text)[1].split(", ")
        never = set()
        for part in ranges:
            first, _, last = part.partition("-")
            never |= set(range(int(first), int(last or first) + 1))
        for number, count in self.gcov.items():
            row = self.lines().get(number)
            if row and row["blocks"] <= 1 and self.text[number - 1].strip() not in WITHOUT_CALL:
                self.assertEqual(number in never, count == 0, number)

    def test_sums_of_profiles(self):
        one = json.loads(run(MONARC, "lines", "--counts", "--json", "program", "gmon.out", cwd=self.folder))
        two = json.loads(run(MONARC, "lines", "--counts", "--json", "program", "gmon.out", "gmon.out",
                             cwd=self.folder))
        self.assertEqual([2 * row["executions"] for row in one["lines"]],
                         [row["executions"] for row in two["lines"]])

    def test_as_gprof(self):
        """-l -C lists every block; -l -A -z has the same counts in its margin as gcov."""
        listed = run(MONARC, "gprof", "-b", "-l", "-C", "program", cwd=self.folder)
        found = {}
        for number, count in re.findall(r"turns\.c:(\d+): \(\w+:0x[0-9a-f]+\) (\d+) exec", listed):
            found.setdefault(int(number), []).append(int(count))
        annotated = run(MONARC, "gprof", "-b", "-l", "-A", "-z", "program", cwd=self.folder)
        lines = annotated.split("turns.c:\n", 1)[1].splitlines()
        compared = 0
        for number, counts in found.items():
            row = self.lines().get(number)
            if len(counts) == 1 and row["blocks"] == 1 and number in self.gcov:
                self.assertEqual(counts, [self.gcov[number]], number)
                margin = lines[number - 1][:16].strip()
                if margin:  # GNU gprof shows the blocks of a line's first stretch of code alone
                    self.assertEqual(margin, f"{counts[0]} ->", number)
                    compared += 1
        self.assertGreater(compared, 20)


class Gcc(Blocks, unittest.TestCase):
    compiler = "gcc"
    flags = "-fsanitize-coverage=trace-pc"


class Clang(Blocks, unittest.TestCase):
    compiler = "clang"
    flags = "-fsanitize-coverage=trace-pc-guard,pc-table,no-prune"


if __name__ == "__main__":
    unittest.main(verbosity=2)
