"""bbg, bb and da of gcc before 3.4 show what the same notes and counters show as bbg and da of the
proposal. No such compiler runs here: the files are made of real ones by the layout's description."""

import shutil
import tempfile
import unittest
from pathlib import Path

import before_34
import harness
from parts import in_both, load_tests, share

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
        self.assertIn(b"names 'niam' where its graph has 'main'",
                      self.shown("v33", "cover", "t.bbg")[2])
        (self.dir / "v33/t.bb").unlink()
        self.assertIn(b"t.bb: No such file", self.shown("v33", "cover", "t.bbg")[2])
        row = before_34.counters(self.da, self.bbg, False)
        (self.dir / "v32/t.da").write_bytes(before_34.number(len(row) // 8 - 2, 8) + row[16:])
        self.assertIn(b"counted arcs in the notes", self.shown("v32", "cover", "t.bbg")[2])

    def drawn(self, name=b"f", blocks=3, arcs=2, lists=((1, 0), (2, 1), ()), end=-1):
        """A graph of gcc 3.3: a function whose block i has the arcs lists[i], {target, flags} each."""
        n = before_34.number
        data = before_34.delimited(name, -1, True) + n(7) + n(blocks) + n(arcs)
        for block in lists:
            data += n(len(block) // 2) + b"".join(map(n, block))
        return data + n(end)

    def told(self, graph):
        """What is said of a graph beside lines of `f`, of which each block but the entry has one."""
        n = before_34.number
        for old in (self.dir / "v33").glob("t.da"):
            old.unlink()
        (self.dir / "v33/t.bbg").write_bytes(graph)
        (self.dir / "v33/t.bb").write_bytes(
            before_34.delimited(b"f", -2, False) + n(0) + before_34.delimited(b"prog.c", -1, False) + n(3) + n(0) + n(4))
        status, text, error = self.shown("v33", "info", "t.bbg")
        return status, (text + error).decode()

    def test_bounds_of_graphs(self):
        """Each number that a graph may not have, by itself."""
        status, text = self.told(self.drawn())
        self.assertEqual(status, 0, text)
        self.assertIn("1 functions, 3 blocks, 2 arcs (1 with counters)", text)
        for wrong in ({"lists": ((3, 0), (2, 1), ())},           # leads behind the last block
                      {"lists": ((1, -1), (2, 1), ())},          # a negative number for flags
                      {"lists": ((1, 0, 2, 0), (2, 1), ())},     # more arcs than the function has
                      {"arcs": 3}, {"arcs": 1},                  # more and fewer than its blocks have
                      {"arcs": 2**31 - 1}, {"blocks": 2**31 - 1},  # more than there are bytes
                      {"blocks": 0, "arcs": 0, "lists": ()}, {"end": 1}):
            status, text = self.told(self.drawn(**wrong))
            self.assertEqual(status, 2, (wrong, text))
            self.assertIn("incomplete function in a graph of gcc before 3.4", text, wrong)
        self.assertEqual(self.told(self.drawn(blocks=-3))[0], 2)

    def test_arc_that_closes_the_circle(self):
        """The one from the exit to the entry is none, unless it is counted: then its function is damaged."""
        closed = self.told(self.drawn(lists=((1, 0), (2, 1), (0, 1)), arcs=3))[1]
        self.assertIn("1 functions, 3 blocks, 2 arcs (1 with counters)", closed)
        counted = self.told(self.drawn(lists=((1, 0), (2, 1), (0, 0)), arcs=3))[1]
        self.assertNotIn("2 arcs (1 with counters)", counted)

    def test_blocks_of_lines_are_counted(self):
        """The numbers of both files are told."""
        status, text = self.told(self.drawn(blocks=4, arcs=3, lists=((1, 0), (2, 1), (3, 1), ())))
        self.assertEqual(status, 2)
        self.assertIn("t.bb: has 3 blocks of 'f', its graph has 4", text)

    def test_summaries_have_all_three_numbers(self):
        self.assertIn(b"summary: 27 counters, sum 115, largest 13\n", self.shown("v33", "info", "t.da")[1])

    @in_both
    def test_truncation(self):
        """An error, or all is there: only an end mark, which gcc before 3.3 need not write, is not
        missed."""
        for name in "v33", "v32":
            expected = self.shown(name, "cover", "--lcov", "-", "t.bbg")
            for suffix in "bbg", "bb", "da":
                path = self.dir / name / f"t.{suffix}"
                whole = path.read_bytes()
                for length in share(range(0, len(whole), 7), 12):
                    path.write_bytes(whole[:length])
                    done = self.shown(name, "cover", "--lcov", "-", "t.bbg")
                    self.assertIn(done[0], (0, 1, 2))
                    self.assertTrue(done[0] or done[2] or done == expected,
                                    (name, suffix, length))
                path.write_bytes(whole)


if __name__ == "__main__":
    harness.main()
