"""graph --tree, --callers and --callees of recordings: paths that ran and no others, sums that meet,
inlined functions, stacks that are cut, and names as people and as programs want them."""

import csv
import io
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, main, monarc, monarc_json
from parts import load_tests, slow

CC = os.environ.get("CC", "gcc").split()

# left and right call one hub, which calls one leaf for each of them; burn is inlined in both. Each
# round of burn waits for the one before, in a register: it takes as long wherever it is inlined.
PATHS = """
#include <stdlib.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void burn(unsigned long n)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < n; i++) {
        x = x * 6364136223846793005ul + 1;
        __asm__ volatile("" : "+r"(x));
    }
    sum += x;
}
#define NO_INLINE __attribute__((noinline))
NO_INLINE void leaf_left(unsigned long n) { burn(n); sum++; }
NO_INLINE void leaf_right(unsigned long n) { burn(n); sum++; }
NO_INLINE void hub(int is_left, unsigned long n)
{
    if (is_left)
        leaf_left(n);
    else
        leaf_right(n);
    sum++;
}
NO_INLINE void left(unsigned long n) { hub(1, n); sum++; }
NO_INLINE void right(unsigned long n) { hub(0, n); sum++; }
NO_INLINE void down(int depth, unsigned long n);
NO_INLINE void and_down(int depth, unsigned long n) { down(depth, n); sum++; }
NO_INLINE void down(int depth, unsigned long n)
{
    if (depth)
        and_down(depth - 1, n);
    else
        burn(n);
    sum++;
}
int main(void)
{
    for (int i = 0; i < 20; i++) {
        left(6000000);
        right(2000000);
        down(40, 4000000);
    }
    return 0;
}
"""

# Without unwind tables and frame pointers nobody knows who called.
HIDDEN = """
extern volatile unsigned long sum;
__attribute__((noinline)) void hidden(unsigned long n)
{
    volatile unsigned long room[64] = {n};
    for (unsigned long i = 0; i < n; i++)
        sum += room[0] + i;
    room[1] = sum;
}
"""
CALLS_HIDDEN = """
volatile unsigned long sum;
void hidden(unsigned long n);
int main(void)
{
    for (int i = 0; i < 20; i++)
        hidden(5000000);
    return 0;
}
"""

# Two functions of one name; the one that is first in the program runs a fifth as long, in a thread of its own.
TWINS = """
#define _GNU_SOURCE
#include <pthread.h>
volatile unsigned long sum;
#define BURN(n) for (unsigned long i = 0; i < (n) * 20000000ul; i++) sum += i
void small(void) __asm__("small.twin");
void large(void) __asm__("large.twin");
__attribute__((noinline)) void small(void) { BURN(6); }
__attribute__((noinline)) void large(void) { BURN(30); }
void *run_small(void *unused) { pthread_setname_np(pthread_self(), "small"); small(); return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_small, NULL);
    large();
    return pthread_join(thread, NULL);
}
"""

CPLUSPLUS = """
#include <map>
#include <string>
#include <vector>
struct shelf {
    std::map<std::string, std::vector<int>> of;
    __attribute__((noinline)) void put(const std::string &name, int n) { of[name].push_back(n); }
};
__attribute__((noinline)) void fill(shelf &s, int n) { s.put(std::to_string(n % 1000), n); }
__attribute__((noinline)) void fill(shelf &s, const char *name) { s.put(name, 1); }
int main()
{
    shelf s;
    for (int i = 0; i < 2000000; i++) {
        fill(s, i);
        fill(s, "one");
    }
    return s.of.size() == 0;
}
"""


class Trees(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = Path(tempfile.mkdtemp(prefix="monarc-trees-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.paths = cls.record("paths", PATHS)

    @classmethod
    def record(cls, name, text, *flags, suffix=".c", compiler=None):
        source = cls.dir / (name + suffix)
        source.write_text(text)
        subprocess.run([*(compiler or CC), "-O2", "-g", "-fno-optimize-sibling-calls",
                        "-fno-ipa-cp", source, "-o", cls.dir / name, *flags], check=True)
        folder = cls.dir / (name + ".monarc")
        done = monarc("run", "--no-report", "-o", folder, "--", cls.dir / name)
        assert done.returncode == 0, done.stderr
        return folder

    def trees(self, *arguments, folder=None):
        found = monarc_json("graph", *arguments, folder or self.paths)
        check_schema(self, "call_tree", found)
        for tree in found["trees"]:
            self.check_sums(tree)
        return found

    def rows(self, *arguments, folder=None):
        return self.trees("--min-percent=0", *arguments, folder=folder)["trees"][0]["rows"]

    def check_sums(self, tree):
        self.assertFalse(tree["is_cut"])
        below = [0] * len(tree["rows"])
        above = []
        for i, row in enumerate(tree["rows"]):
            del above[row["depth"]:]
            if above:
                below[above[-1]] += row["total_samples"]
            above.append(i)
        for row, sum_below in zip(tree["rows"], below):
            self.assertAlmostEqual(row["self_samples"] + sum_below, row["total_samples"], places=6)
        self.assertAlmostEqual(sum(r["total_samples"] for r in tree["rows"] if not r["depth"]),
                               tree["samples"], places=6)

    @staticmethod
    def ways(rows):
        """Each row as the names on its way."""
        above, found = [], {}
        for row in rows:
            del above[row["depth"]:]
            above.append(row.get("name", "+"))
            found[tuple(above)] = row
        return found

    def inclusive(self, name, folder=None):
        rows = monarc_json("flat", "--all", folder or self.paths)["functions"]
        return sum(r["total_samples"] for r in rows if r["name"] == name)

    def test_paths_are_those_that_ran(self):
        whole = self.ways(self.rows("--tree"))
        ends = {way[-5:] for way in whole}
        self.assertIn(("main", "left", "hub", "leaf_left", "burn"), ends)
        self.assertIn(("main", "right", "hub", "leaf_right", "burn"), ends)
        for way in whole:
            self.assertFalse({"left", "leaf_right"} <= set(way) or {"right", "leaf_left"} <= set(way))
        outwards = self.ways(self.rows("--callers", "leaf_left"))
        self.assertIn(("leaf_left", "hub", "left", "main"), outwards)
        self.assertFalse([way for way in outwards if "right" in way])
        inwards = self.ways(self.rows("--callees", "left"))
        self.assertIn(("left", "hub", "leaf_left"), inwards)
        self.assertFalse([way for way in inwards if "leaf_right" in way])

    @slow
    def test_first_line_is_the_inclusive_time(self):
        for name in "left", "hub", "leaf_right", "down", "and_down", "main":
            for what in "--callers", "--callees":
                self.assertAlmostEqual(self.rows(what, name)[0]["total_samples"],
                                       self.inclusive(name), places=6)
        shares = [self.rows("--callees", name)[0]["share"] for name in ("left", "right", "down")]
        for share, truth in zip(shares, (1 / 2, 1 / 6, 1 / 3)):
            self.assertAlmostEqual(share, truth, delta=0.15)

    def test_recursion(self):
        ways = self.ways(self.rows("--callees", "down"))
        self.assertIn(("down", "and_down") * 40 + ("down",), ways)
        outwards = [r["name"] for r in self.rows("--callers", "down")]
        self.assertEqual(outwards[:2], ["down", "main"])  # the outermost call of each stack

    def test_inlined(self):
        ways = self.ways(self.rows("--callees", "leaf_left"))
        self.assertTrue(ways["leaf_left", "burn"]["is_inlined"])
        self.assertFalse(ways["leaf_left",]["is_inlined"])
        self.assertGreater(ways["leaf_left", "burn"]["total_samples"],
                           0.9 * ways["leaf_left",]["total_samples"])
        alone = self.rows("--no-inlines", "--callees", "leaf_left")
        self.assertEqual([r["name"] for r in alone if r["name"][0] != "["], ["leaf_left"])
        of_burn = self.rows("--callers", "burn")[0]
        self.assertGreater(of_burn["share"], 0.9)
        text = monarc("graph", "--callees", "leaf_left", self.paths).stdout.decode()
        self.assertRegex(text, r"(?m)> burn \(inlined\)$")

    def test_small_and_deep_ones_are_folded(self):
        for options in ("--min-percent=20",), ("--depth=2",), ("--min-percent=100",):
            found = self.trees("--tree", *options)["trees"][0]
            self.assertTrue([r for r in found["rows"] if r["kind"] == "folded"])
            self.assertAlmostEqual(found["samples"], self.trees("--tree")["stack_samples"], places=6)
        text = monarc("graph", "--tree", "--depth=4", self.paths).stdout.decode()
        self.assertRegex(text, r"(?m) \(\+\d more\)$")
        cut = monarc("graph", "--tree", "--limit=3", self.paths).stdout.decode()
        self.assertIn("cut off after 3 rows (--limit)", cut)

    def test_frames_without_branches_are_one_line(self):
        chain = r"(?m)^ *(\S+) +(\S+) +(\S+) +(\d+) +([><]) \((\d+) frames without a branch: --chains\)$"
        for options in ("--callees", "down"), ("--callers", "and_down"), ("--tree", "--callees", "down"):
            rows = self.rows(*options)
            text = monarc("graph", *options, self.paths).stdout.decode()
            for share, total, own, depth, sign, frames in re.findall(chain, text):
                hidden = [row for row in rows if int(depth) <= row["depth"] < int(depth) + int(frames)]
                self.assertGreaterEqual(len(hidden), 4)
                self.assertAlmostEqual(float(share), 100 * hidden[0]["share"],
                                       delta=0.51 / 10 ** len(share.partition(".")[2]))
                self.assertLess(sum(row["self_samples"] for row in hidden), 0.006 * rows[0]["total_samples"])
            whole = monarc("graph", "--chains", *options, self.paths).stdout.decode()
            self.assertNotRegex(whole, chain)
            self.assertIn(" ".join(whole.split()[-3:]), " ".join(text.split()))  # where it ends
        self.assertRegex(monarc("graph", "--callees", "down", self.paths).stdout.decode(), chain)

    def test_time_of_its_own_is_not_hidden(self):
        """Of a chain, whoever has more than what the tree leaves out stands in a line."""
        text = monarc("graph", "--callees", "left", self.paths).stdout.decode()
        self.assertRegex(text, r"> hub\n.*> leaf_left\n.*> burn \(inlined\)\n")

    def test_functions_of_one_name(self):
        """The largest tree first, and none of what was on no stack."""
        folder = self.record("twins", TWINS, "-pthread")
        both = self.trees("--callers", "twin", folder=folder)
        self.assertEqual(len(both["trees"]), 2)
        self.assertGreater(both["trees"][0]["samples"], 1.5 * both["trees"][1]["samples"])
        one, = self.trees("--callers", "twin", "--thread", "small", folder=folder)["trees"]
        self.assertEqual(one["address"], both["trees"][1]["address"])
        self.assertEqual(self.trees("--callers", "twin", "--to", "0", folder=folder)["trees"][0]["rows"], [])

    def test_only_branches_are_indented(self):
        text = monarc("graph", "--chains", "--callees", "down", self.paths).stdout.decode()
        names = [line[line.index(name):] for line in text.splitlines()
                 for name in ("> down", "> and_down") if name in line]
        columns = {line.index("> ") for line in text.splitlines() if "> " in line and "down" in line}
        self.assertGreater(len(names), 70)
        self.assertLessEqual(len(columns), 3)

    def test_csv_agrees(self):
        rows = self.rows("--tree")
        text = monarc("graph", "--tree", "--min-percent=0", "--csv", self.paths).stdout.decode()
        table = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual(len(table), len(rows))
        for line, row in zip(table, rows):
            self.assertEqual((line["name"], int(line["depth"]), float(line["total_samples"]),
                              float(line["self_samples"]), line["is_inlined"] == "1"),
                             (row["name"], row["depth"], row["total_samples"], row["self_samples"],
                              row["is_inlined"]))

    @slow
    def test_cut_stacks_say_so(self):
        hidden = self.dir / "hidden.o"
        (self.dir / "hidden.c").write_text(HIDDEN)
        subprocess.run([*CC, "-O2", "-c", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
                        "-fno-unwind-tables", self.dir / "hidden.c", "-o", hidden], check=True)
        folder = self.record("calls_hidden", CALLS_HIDDEN, hidden)
        rows = self.rows("--callers", "hidden", folder=folder)
        cut = sum(r["total_samples"] for r in rows if r["name"].startswith("[stack cut: "))
        known = sum(r["total_samples"] for r in rows if r["name"] == "main")
        self.assertAlmostEqual(cut + known, rows[0]["total_samples"], places=6)
        self.assertGreater(rows[0]["share"], 0.9)
        if known < 0.5 * rows[0]["total_samples"]:
            text = monarc("graph", "--callers", "hidden", folder).stdout.decode()
            self.assertIn("< [stack cut: ", text)

    @slow
    def test_names(self):
        compiler = shutil.which("g++") and ["g++"]
        if not compiler:
            self.skipTest("no g++")
        folder = self.record("shelf", CPLUSPLUS, suffix=".cpp", compiler=compiler)
        text = monarc("graph", "--tree", "--wide", folder).stdout.decode()
        self.assertIn(" shelf::put\n", text)
        self.assertIn("fill(shelf&, int)", text)  # another `fill` is in the tree
        self.assertIn(" std::map<std::string, std::vector<int>>::operator[]", text)
        self.assertNotIn("std::char_traits<char>, ", text)
        full = monarc("graph", "--tree", "--full-names", folder).stdout.decode()
        self.assertIn("shelf::put(std::__cxx11::basic_string<char, std::char_traits<char>", full)
        names = {r["name"] for r in self.rows("--tree", folder=folder)}
        self.assertIn("fill(shelf&, char const*)", names)
        linkage = "_ZN5shelf3putERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi"
        for name in "shelf::put", "fill(shelf&, int)", linkage:
            found = self.trees("--min-percent=0", "--callers", name, folder=folder)
            self.assertTrue(found["trees"][0]["rows"], (name, found, text))
        found = {t["name"] for t in self.trees("--callers", "fill", folder=folder)["trees"]}
        self.assertLessEqual({"fill(shelf&, int)", "fill(shelf&, char const*)"}, found)

    def test_refusals(self):
        for arguments, word in ((("--callers", "nix", self.paths), "no function 'nix'"),
                                (("--tree", "--model", self.paths), "--model")):
            result = monarc("graph", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(word, result.stderr.decode())

    def test_model_is_an_estimate(self):
        text = monarc("graph", "--model", "--callers", "hub", self.paths).stdout.decode()
        self.assertIn("longer than a pair are an estimate", text)


if __name__ == "__main__":
    main()
