"""monarc gprof --compat VERSION against what that version printed, where no machine at hand has it."""

import re
import unittest

import harness

DATA = harness.ROOT / "tests/data"


class Versions(unittest.TestCase):
    def test_answers(self):
        folders = sorted(DATA.glob("gprof-*"))
        self.assertGreaterEqual(len(folders), 1)
        for folder in folders:
            answers = re.split(r"^== (.*): (.*)\n", (folder / "answers.txt").read_text(), flags=re.M)[1:]
            cases = list(zip(answers[::3], answers[1::3], answers[2::3]))
            self.assertEqual({name for name, _, _ in cases}, {p.stem for p in folder.glob("*.gmon")})
            for name, options, expected in cases:
                with self.subTest(folder.name, profile=name, options=options):
                    done = harness.monarc("gprof", "--compat", folder.name.removeprefix("gprof-"), *options.split(),
                                          "image", f"{name}.gmon", cwd=folder)
                    self.assertEqual((done.returncode, done.stdout.decode()), (0, expected))

    def test_older_ones_have_all_lines(self):
        """The row of 2.47 is what makes the difference."""
        folder = DATA / "gprof-2.47"
        rows = [len(harness.monarc("gprof", "--compat", version, "-b", "-l", "-C", "-z", "image", "middle.gmon",
                                   cwd=folder).stdout.splitlines()) for version in ("2.40", "2.44", "2.46", "2.47")]
        self.assertEqual(rows[:3], [15] * 3)
        self.assertLess(rows[3], 15)


if __name__ == "__main__":
    harness.main()
