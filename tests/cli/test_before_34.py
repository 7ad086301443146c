"""bbg, bb and da of gcc before 3.4 show what the same notes and counters show as bbg and da of the
proposal. No such compiler runs here: the files are made of real ones by the layout's description."""

import shutil
import tempfile
import unittest
from pathlib import Path

import before_34
import harness

CORPUS = harness.ROOT / "tests/corpus"
SOURCES = harness.ROOT / "tests/data/arc-files/src"


class Before34(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.bbg = (CORPUS / "bbg/gcc-12-c").read_bytes()
        self.da = (CORPUS / "da/gcc-12-c").read_bytes()
        self.make("new", self.bbg, None, self.da)
        for is_33, name in (True, "v33"), (False, "v32"):
            self.make(name, before_34.graph(self.bbg, is_33), before_34.lines(self.bbg),
                      before_34.counters(self.da, self.bbg, is_33))

    def tearDown(self):
        shutil.rmtree(self.dir)

    def test_info_knows_bb(self):
        for version in "v32", "v33":
            status, text, _ = self.shown(version, "info", "t.bb")
            self.assertEqual(status, 0)
            self.assertIn(b"t.bb: bb, ", text)
            self.assertEqual(text.partition(b"\n")[2],
                             self.shown(version, "info", "t.bbg")[1].partition(b"\n")[2])
        (self.dir / "v33/t.bbg").unlink()
        status, text, error = self.shown("v33", "info", "t.bb")
        self.assertEqual(status, 2)
        self.assertIn(b"t.bbg: No such file", error)

    def make(self, name, bbg, bb, da):
        shutil.copytree(SOURCES, self.dir / name)
        for suffix, data in ("bbg", bbg), ("bb", bb), ("da", da):
            if data is not None:
                (self.dir / name / f"t.{suffix}").write_bytes(data)

    def shown(self, name, *command):
        done = harness.monarc(*command, cwd=self.dir / name)
        return (done.returncode, done.stdout.replace(f"/{name}/".encode(), b"/new/"), done.stderr)

    def test_the_same_is_shown(self):
        for command in (("gcov", "-t", "-b", "-c", "t.bbg"), ("gcov", "-t", "t.da"),
                        ("cover", "--lcov", "-", "."), ("cover", "t.da"),
                        ("cover", "--json", "t.bbg")):
            expected = self.shown("new", *command)
            self.assertIn(b"prog", expected[1])
            for name in "v33", "v32":
                self.assertEqual(self.shown(name, *command), expected, (name, command))

    def test_they_become_files_of_the_proposal(self):
        for name in "v33", "v32":
            for suffix in "bbg", "da":
                done = harness.monarc("convert", "--to", suffix, f"t.{suffix}", "-o",
                                      f"../{name}.{suffix}", cwd=self.dir / name)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
            done = harness.monarc("cover", "--lcov", "-", f"{name}.bbg", cwd=self.dir)
            expected = self.shown("new", "cover", "--lcov", "-", ".")[1]
            self.assertEqual((done.returncode, done.stdout),
                             (0, expected.replace(b"/new/", b"/")))

    def test_merge(self):
        for name in "v33", "v32":
            done = harness.monarc("merge", "t.da", "t.da", "-o", "../sum.da", cwd=self.dir / name)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            text = harness.monarc("info", "sum.da", cwd=self.dir).stdout.decode()
            one = harness.monarc("info", self.dir / "new/t.da").stdout.decode()
            total = int(one.split("; sum ")[1].split(",")[0])
            self.assertIn(f"; sum {2 * total},", text)

    def test_info_says_who_left_it(self):
        for name, says in ("v33", b"left by gcc 3.3"), ("v32", b"left by gcc before 3.3"):
            for suffix in "bbg", "da":
                done = harness.monarc("info", f"t.{suffix}", cwd=self.dir / name)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(says, done.stdout)

    def test_what_does_not_fit_is_said(self):
        shutil.copy(self.dir / "v33/t.da", self.dir / "v32/t.da")
        self.assertIn(b"t.da: is of version 303r, t.bbg of 302r",
                      self.shown("v32", "cover", "t.bbg")[2])
        data = (self.dir / "v33/t.bb").read_bytes()
        (self.dir / "v33/t.bb").write_bytes(data.replace(b"main", b"niam"))
        self.assertIn(b"names 'niam' where the graph beside it has 'main'",
                      self.shown("v33", "cover", "t.bbg")[2])
        (self.dir / "v33/t.bb").unlink()
        self.assertIn(b"t.bb: No such file", self.shown("v33", "cover", "t.bbg")[2])
        row = before_34.counters(self.da, self.bbg, False)
        (self.dir / "v32/t.da").write_bytes(before_34.number(len(row) // 8 - 2, 8) + row[16:])
        self.assertIn(b"counted arcs in the notes", self.shown("v32", "cover", "t.bbg")[2])

    def test_truncation(self):
        """An error, or all is there: only an end mark, which gcc before 3.3 need not write, is not
        missed."""
        for name in "v33", "v32":
            expected = self.shown(name, "cover", "--lcov", "-", "t.bbg")
            for suffix in "bbg", "bb", "da":
                path = self.dir / name / f"t.{suffix}"
                whole = path.read_bytes()
                for length in range(0, len(whole), 7):
                    path.write_bytes(whole[:length])
                    done = self.shown(name, "cover", "--lcov", "-", "t.bbg")
                    self.assertIn(done[0], (0, 1, 2))
                    self.assertTrue(done[0] or done[2] or done == expected,
                                    (name, suffix, length))
                path.write_bytes(whole)


if __name__ == "__main__":
    harness.main()
