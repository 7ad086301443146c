"""monarc diff of profiles for compilers: how much of a profile for a compiler still fits a program, against counts and
edits that are known."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, main, monarc
from run_file import FILE, PERIOD, Run

GCC = shutil.which("gcc")

SOURCE = """#include <stdlib.h>
static inline __attribute__((always_inline)) int clamp(int x)
{
    return x > 200 ? x - 200 : x * 3;
}
__attribute__((noinline)) int work(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += clamp((s ^ i) & 0xff);
    return s / 7;
}
__attribute__((noinline)) int spare(int n) { return n * 3; }
int main(int argc, char **argv) { return work(argc) + spare(atoi(argv[0])); }
"""
# By line below the declaration: line 3 of work is the loop, 4 the call of clamp.
PROFILE = ("work:1000:1\n 2: 10\n 3: 500\n 5: 90\n 4: clamp:400\n  2: 400\n"
           "spare:100:1\n 0: 100\nmain:0:0\n 0: 0\n")


@unittest.skipUnless(GCC, "needs gcc")
class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-sources-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "p.prof").write_text(PROFILE)

    def fits(self, source, status=0, options=()):
        (self.folder / "t.c").write_text(source)
        subprocess.run(["gcc", "-O2", "-g", "-o", "t", "t.c"], cwd=self.folder, check=True)
        done = monarc("diff", *options, "./t", "p.prof", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        found = json.loads(done.stdout)
        check_schema(self, "diff_source_fit", found)
        self.assertEqual(found["counts"], 1100)
        return found, {f["name"]: f for f in found["functions"]}

    def test_the_sources_that_were_measured(self):
        found, functions = self.fits(SOURCE)
        self.assertEqual((found["counts_lost"], found["fits"]), (0, 1))
        self.assertEqual({f["state"] for f in functions.values()}, {"fits"})

    def test_functions_that_moved_as_a_whole(self):
        found, _ = self.fits("/* one */\n/* two */\n" + SOURCE.replace("int main", "\n\nint main"))
        self.assertEqual(found["counts_lost"], 0)

    def test_an_inlined_call_at_another_line(self):
        """Line 4 of work still has code, but of the loop."""
        found, functions = self.fits(SOURCE.replace("    int s = 0;\n", "    int s = n;\n    s++;\n"))
        self.assertEqual((functions["work"]["state"], functions["work"]["at_another_line"]),
                         ("changed", 400))
        self.assertEqual(found["functions_changed"], 1)

    def test_lines_without_code_and_functions_that_are_gone(self):
        found, functions = self.fits(
            SOURCE.replace("spare", "extra").replace("    return s / 7;", "    return s;"),
            options=["--fail-below", "95"], status=1)
        self.assertEqual((functions["spare"]["state"], functions["spare"]["count"]), ("gone", 100))
        self.assertEqual(found["functions_gone"], 1)
        self.assertAlmostEqual(found["fits"], 1 - found["counts_lost"] / 1100)
        self.assertEqual([f["name"] for f in found["functions"]][0], "spare")
        text = monarc("diff", "./t", "p.prof", cwd=self.folder).stdout.decode()
        self.assertRegex(text, r"9\.09 %  100\.00 %  spare  \(gone\)")

    def test_two_profiles(self):
        (self.folder / "q.prof").write_text("work:1:1\n 3: 1\n")
        done = monarc("diff", "p.prof", "q.prof", cwd=self.folder)
        self.assertIn(b"45.45 % of the counts are at the same places", done.stdout)
        for least, status in (45, 0), (46, 1):
            done = monarc("diff", "--fail-below", least, "p.prof", "q.prof", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (status, b""))
        self.assertEqual(monarc("diff", "--fail-below", 101, "p.prof", "q.prof", cwd=self.folder).returncode, 2)

    def test_many_functions(self):
        for name in "p.prof", "q.prof":
            (self.folder / name).write_text("".join(f"f{i}:{i}:1\n 1: {i}\n" for i in range(1, 31)))
        for options, shown in ([], 20), (["--limit", 3], 3), (["--all"], 30):
            text = monarc("diff", *options, "p.prof", "q.prof", cwd=self.folder).stdout.decode()
            self.assertEqual(len(re.findall(r"(?m) % +f\d+$", text)), shown)
            self.assertEqual(f"[{30 - shown} more functions, not shown: --all]" in text, shown < 30)

    def test_equal_profiles_share_all(self):
        """Ten tenths, which as doubles do not add up to 1."""
        (self.folder / "q.prof").write_text("work:1000:1\n" + "".join(f" {i}: 100\n" for i in range(1, 11)))
        done = monarc("diff", "--fail-below", 100, "q.prof", "q.prof", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_what_cannot_be_compared(self):
        self.fits(SOURCE)
        subprocess.run(["strip", "-o", "bare", "t"], cwd=self.folder, check=True)
        for words, says in ((["t.c", "p.prof"], b"is neither an AutoFDO"), (["bare", "p.prof"], b"-g"),
                            (["--csv", "./t", "p.prof"], b"text or JSON"),
                            (["--fail-below", 5, "./t", "t.c"], b"'--fail-below' is for profiles for compilers"),
                            (["none", "p.prof"], b"none")):
            done = monarc("diff", *words, cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_a_recording_is_none(self):
        """What was measured is what such a profile is made of: the command that makes it is named."""
        self.fits(SOURCE)
        run = Run("./t", stacks=1, whole=1)
        run.thread(run.process(7, 1, run.object(FILE, "./t"), "t"), 7, "t", PERIOD)
        run.sample([(0, 4096)])
        run.write(self.folder / "r.monarc")
        for words in ["r.monarc", "p.prof"], ["p.prof", "r.monarc"]:
            done = monarc("diff", *words, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr),
                             (2, b"monarc: r.monarc: is a recording, not a profile for a compiler; 'monarc "
                                 b"optimize --for gcc|clang -o FILE r.monarc' makes one of it\n"))


if __name__ == "__main__":
    main()
