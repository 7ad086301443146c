"""cover: which notes counters are of. Paths tell it first, and the stamps in the files have the last word, whoever
reads them and when; a file counts once, whatever names it has."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import main, monarc, monarc_path
from parts import load_tests, slow

CC = ["gcc"]  # clang has one stamp for both builds of the source
NO_NOTES = "has no notes: no .gcno of that name and stamp"


class Pairs(unittest.TestCase):
    """Two builds of a source of the same name, `one` and `two`, whose loops go round three and five times."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.built = Path(scratch.name)
        for name, rounds in ("one", 3), ("two", 5):
            folder = cls.built / name
            folder.mkdir()
            (folder / "a.c").write_text(f"int {name};\nint main(void)\n{{\n    for (int i = 0; i < {rounds}; i++)\n"
                                        f"        {name}++;\n    return 0;\n}}\n")
            subprocess.run([*CC, "--coverage", "-c", "a.c", "-o", "a.o"], cwd=folder, check=True)
            subprocess.run([*CC, "--coverage", "a.o", "-o", "a"], cwd=folder, check=True)
            subprocess.run(["./a"], cwd=folder, check=True)
            (folder / "a.gcda").rename(folder / "kept")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def build(self, *names):
        for name in names:
            (self.dir / name).mkdir()
            for file in "a.c", "a.gcno":
                shutil.copy(self.built / name / file, self.dir / name)

    def run_of(self, name, place):
        """Counters of a run of that build, somewhere."""
        path = self.dir / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.built / name / "kept", path)
        return path

    def cover(self, *operands, status=0):
        """Counts of the lines within the loops, by source, and what is said. Ranks leave the same bytes."""
        arguments = ["cover", *(operands or ["."]), "--system", "--root", self.dir, "--json", "sum.json"]
        done = monarc(*arguments, cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        whole = (self.dir / "sum.json").read_bytes()
        for size in 2, 3:
            (self.dir / "sum.json").unlink()
            ranks = [subprocess.Popen([monarc_path(), *map(str, arguments)], cwd=self.dir, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL,
                                      env={**os.environ, "LC_ALL": "C", "OMPI_COMM_WORLD_RANK": str(rank),
                                           "OMPI_COMM_WORLD_SIZE": str(size)}) for rank in range(size)]
            self.assertEqual(max(rank.wait() for rank in ranks), status)
            self.assertEqual((self.dir / "sum.json").read_bytes(), whole)
        value = json.loads(whole)
        counts = {Path(s["path"]).parent.name: line["count"] for s in value["sources"] for line in s["lines"]
                  if line["line"] == 5}
        return counts, [p["text"] for p in value["problems"]]

    def test_by_path_alone(self):
        self.build("one", "two")
        for run in range(4):
            self.run_of("one", f"runs/{run}/one/a.gcda")
            self.run_of("two", f"runs/{run}/two/a.gcda")
        self.assertEqual(self.cover(), ({"one": 12, "two": 20}, []))

    def test_as_near_to_both(self):
        self.build("one", "two")
        for run in range(3):
            self.run_of("one", f"runs/{run}/a.gcda")
        self.run_of("two", "runs/9/a.gcda")
        self.assertEqual(self.cover(), ({"one": 9, "two": 5}, []))

    def test_the_nearest_has_another_stamp(self):
        self.build("one", "two")
        self.run_of("one", "runs/1/one/a.gcda")
        for run in range(2, 5):
            self.run_of("two", f"runs/{run}/one/a.gcda")
        self.assertEqual(self.cover(), ({"one": 3, "two": 15}, []))

    def test_only_another_build_is_there(self):
        self.build("one")
        self.run_of("two", "runs/1/a.gcda")
        done = monarc("cover", ".", "--json", "-", cwd=self.dir)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([p["text"] for p in json.loads(done.stdout)["problems"]],
                         [f"runs/1/a.gcda: {NO_NOTES}", "one/a.gcno: has no counters"])
        self.run_of("one", "runs/2/a.gcda")
        self.run_of("two", "runs/3/a.gcda")
        counts, said = self.cover(status=1)
        self.assertEqual(counts, {"one": 3})
        self.assertEqual(said, [f"runs/{run}/a.gcda: {NO_NOTES}" for run in (1, 3)])

    def test_counters_without_a_whole_stamp(self):
        self.build("one")
        self.run_of("one", "runs/1/a.gcda")
        whole = self.run_of("one", "runs/2/a.gcda").read_bytes()
        (self.dir / "runs/2/a.gcda").write_bytes(whole[:10])
        counts, said = self.cover(status=1)
        self.assertEqual((counts, said), ({"one": 3}, [f"runs/2/a.gcda: {NO_NOTES}"]))
        (self.dir / "runs/2/a.gcda").write_bytes(whole[:len(whole) - 30])  # which are of this build, and damaged
        said = self.cover(status=1)[1]
        self.assertTrue(said)
        self.assertNotIn(NO_NOTES, "".join(said))

    def test_notes_that_cannot_be_read(self):
        self.build("one", "two")
        self.run_of("one", "runs/1/one/a.gcda")
        self.run_of("two", "runs/2/one/a.gcda")
        whole = (self.dir / "one/a.gcno").read_bytes()
        (self.dir / "one/a.gcno").write_bytes(whole[:14])  # the stamp is whole
        counts, said = self.cover(status=1)
        self.assertEqual(counts, {"two": 5})
        self.assertTrue(said[0].startswith("one/a.gcno: "), said)

    @slow
    def test_names_of_one_file(self):
        """Hard links, symbolic links, and what was named beside its folder, in any order."""
        self.build("one")
        first = self.run_of("one", "runs/1/a.gcda")
        for number, link in (2, os.link), (3, os.symlink), (4, os.link):
            (self.dir / f"runs/{number}").mkdir()
            link(first, self.dir / f"runs/{number}/a.gcda")
        self.run_of("one", "runs/5/a.gcda")
        for operands in (), ("one", "runs/1/a.gcda", "runs"), ("one", "runs", "runs/4/a.gcda"), \
                ("one", "runs/1", "runs/2", "runs/3", "runs/5"), ("runs/3/a.gcda", "one", "runs"), ("runs", ".", "."):
            with self.subTest(operands=operands):
                self.assertEqual(self.cover(*operands), ({"one": 6}, []))


if __name__ == "__main__":
    main()
