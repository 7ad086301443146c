"""monarc html of odd sources and of profiles with hardly anything in them: every page is whole, its figures
are those of flat --json, and it says what is amiss."""

import os
import shlex
import tempfile
import unittest
from pathlib import Path

from harness import main, monarc_json
from odd_pages import LINES, LONGEST, SOURCES, odd_profiles, odd_sources
from parts import load_tests, slow
from test_html import Elements, blocks, page

CC = shlex.split(os.environ.get("CC", "cc"))


class OddSources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.text = page(*odd_sources(Path(cls.folder.name), CC), cwd=cls.folder.name)
        cls.blocks = blocks(cls.text)
        cls.files = cls.blocks["data"]["files"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def source(self, name):
        return self.blocks[f"s{next(i for i, file in enumerate(self.files['name']) if file.endswith(name + '.c'))}"]

    def test_is_whole(self):
        e = Elements(self.text)
        self.assertEqual(e.names.count("html"), 1)
        self.assertNotIn("img", e.names)
        self.assertNotIn("b", e.names)

    def test_gone(self):
        source = self.source("gone")
        self.assertNotIn("text", source)
        self.assertIn("not where it was", source["missing"])
        self.assertEqual((source["time"]["line"], source["time"]["self"]), ([1], [10]))

    def test_changed_is_said(self):
        self.assertTrue(self.source("changed")["changed"])
        self.assertFalse(self.source("latin")["changed"])

    def test_what_is_no_utf8_is_marked(self):
        self.assertIn("Gr\ufffd\ufffde <img", self.source("latin")["text"])
        self.assertTrue(self.source("binary")["text"].startswith("/*\0\x01\x02\x7f\ufffd\ufffd*/"))

    def test_many_lines(self):
        source = self.source("lines")
        self.assertEqual(source["text"].count("\n"), LINES - 1)
        self.assertEqual(source["time"]["line"], [LINES])

    def test_a_long_line_is_cut_and_said_to_be(self):
        source = self.source("wide")
        self.assertEqual(source["cut"], [1])
        self.assertLess(len(source["text"]), 3000)
        self.assertLess(len(self.text), LONGEST)

    def test_time_adds_up(self):
        total = sum(sum(self.source(name)["time"]["self"]) for name in SOURCES)
        self.assertEqual(total, self.blocks["data"]["profile"]["summary"]["samples"])


class OddProfiles(unittest.TestCase):
    @slow
    def test_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in odd_profiles(Path(folder), CC).items():
                with self.subTest(name):
                    text = page(*arguments, cwd=folder)
                    flat = monarc_json("flat", *arguments, cwd=folder)
                    all_blocks = blocks(text)
                    data = all_blocks["data"]["profile"]
                    self.assertEqual(data["summary"]["samples"], flat["summary"]["samples"])
                    self.assertEqual(data["summary"]["has_samples"], flat["summary"]["has_samples"])
                    self.assertEqual(sum(data["functions"]["calls"]), sum(row["calls"] for row in flat["functions"]))
                    self.assertEqual(len(all_blocks["calls"]["caller"]), data["arcs"]["all"])
                    self.assertEqual(Elements(text).names.count("noscript"), 1)


if __name__ == "__main__":
    main()
