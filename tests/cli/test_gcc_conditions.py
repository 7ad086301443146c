#!/usr/bin/env python3
"""test_gcc_conditions.py: conditions (MC/DC) of gcc 14 and later, live: what `monarc cover` counts and lists, and what
`monarc gcov --conditions` prints, against the gcov of the same version.

The truth is in the program as well: for each condition it says which terms a run has shown to decide."""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import monarc, monarc_path
import seeds
from parts import load_tests

GCCS = [v for v in range(14, 30) if shutil.which(f"gcc-{v}") and shutil.which(f"gcov-{v}")]

C = """\
int atoi(const char *);
#define BOTH(x, y) ((x) && (y))
static int many(int a, int b, int c, int d)
{
    int n = 0;
    if (a && (b || c) && !d)
        n++;
    while (n < 3 && (a || b)) n++;
    for (int i = 0; i < 4 && !(c && i > 2); i++)
        n += a ? b && c : b || d;
    if (BOTH(a, b) || BOTH(c, d)) n--; else if (a == b) n += 2;
    n += (a && b) + (c || d);
    do n++; while (n < 8 && d);
    return (a & 1) && (b ^ c) ? n : -n;
}
static int never(int a, int b) { return a && b; }
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        int bits = atoi(argv[i]);
        n += many(bits & 1, bits & 2, bits & 4, bits & 8);
    }
    return argc > 100 ? never(n, argc) : n == 12345;
}
"""
CPP = """\
extern "C" int atoi(const char *);
template <typename T> int between(T a, T b, T c) { return a < b && b < c; }
struct box { int v; bool has(int x, int y) const { return v && (x > v || y > v); } };
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        int k = atoi(argv[i]);
        auto odd = [&](int x) { return (x & 1) && n < 1000; };
        n += between(k, 5, 9) + between<double>(k, 2, k + 1.0) + box{k}.has(3, n) + odd(k);
    }
    return n == 12345;
}
"""
# One decision; its terms' values come from the command line, so the test knows which were shown to decide.
TRUTH = """\
int atoi(const char *);
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int bits = atoi(argv[i]), a = bits & 1, b = bits & 2, c = bits & 4;
        if (a && (b || c)) argc = argc;
    }
    return 0;
}
"""


@unittest.skipUnless(GCCS, "no gcc of version 14 or later is installed with its gcov")
class Conditions(unittest.TestCase):
    def build(self, version, text, name, *options):
        folder = Path(tempfile.mkdtemp(prefix="monarc-conditions-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / name).write_text(text)
        command = f"g++-{version}" if name.endswith("cc") else f"gcc-{version}"
        if not shutil.which(command):
            self.skipTest(f"{command} is not installed")
        subprocess.run([command, "--coverage", "-fcondition-coverage", "-w", *options, "-c", name, "-o", "prog.o"], cwd=folder, check=True)
        subprocess.run([command, "--coverage", "prog.o", "-o", "prog"], cwd=folder, check=True)
        return folder

    def theirs(self, version, folder):
        """By line: (terms, outcomes that were not seen), for each condition of each function."""
        out = subprocess.run([f"gcov-{version}", "--conditions", "--json-format", "--stdout", "prog.gcda"], cwd=folder, check=True,
                             capture_output=True).stdout
        found = {}
        for line in json.loads(out)["files"][0]["lines"]:
            for c in line.get("conditions", []):
                missed = sorted([(t, True) for t in c["not_covered_true"]] + [(t, False) for t in c["not_covered_false"]])
                self.assertEqual(c["count"] - c["covered"], len(missed))
                found.setdefault(line["line_number"], []).append((c["count"] // 2, missed))
        return {line: sorted(c) for line, c in found.items()}

    def ours(self, folder, name, *more):
        done = monarc("cover", "--json", "-", "--root", folder, "--all-branches", "--no-markers", *more, folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        value, found = json.loads(done.stdout), {}
        source = next(s for s in value["sources"] if s["path"] == name)
        for line in source["lines"]:
            for c in line.get("conditions", []):
                missed = sorted((t, sense) for t, seen in enumerate(c["outcomes"]) for sense, has in zip((True, False), seen) if not has)
                self.assertEqual(c["hit"], 2 * c["terms"] - len(missed))
                found.setdefault(line["line"], []).append((c["terms"], missed))
        totals = source["totals"]["conditions"]
        self.assertEqual(totals["all"], sum(2 * terms for conditions in found.values() for terms, _ in conditions))
        self.assertEqual(totals["all"] - totals["hit"], sum(len(missed) for conditions in found.values() for _, missed in conditions))
        return {line: sorted(c) for line, c in found.items()}

    def table(self, folder):
        """What --conditions lists: by line how many outcomes were seen, of how many."""
        done = monarc("cover", "--conditions", "--root", folder, "--all-branches", "--no-markers", "--instances", "each", folder)
        rows = re.findall(r"line (\d+): (\d+) of (\d+) outcomes of conditions seen", done.stdout.decode())
        return sorted(tuple(map(int, row)) for row in rows)

    def test_counts_and_tables_are_gcovs(self):
        numbers = seeds.generator("counts and tables are gcovs")
        for version in GCCS:
            for name, text, options in (("a.c", C, []), ("a.c", C, ["-O2"]), ("a.cc", CPP, []), ("a.cc", CPP, ["-O1"])):
                folder = self.build(version, text, name, *options)
                for turn in range(5):
                    subprocess.run(["./prog", *(str(numbers.randrange(16)) for _ in range(turn))], cwd=folder, check=False)
                    with self.subTest(version=version, name=name, options=options, turn=turn):
                        want = self.theirs(version, folder)
                        self.assertTrue(want)
                        self.assertEqual(self.ours(folder, name, "--instances", "each"), want)
                        rows = sorted((line, 2 * terms - len(missed), 2 * terms) for line, conditions in want.items()
                                      for terms, missed in conditions if missed)
                        self.assertEqual(self.table(folder), rows)
                        self.assertEqual(*(subprocess.run([*command, "--conditions", "--stdout", "prog.gcda"], cwd=folder, check=True,
                                                          capture_output=True).stdout
                                           for command in ([f"gcov-{version}"], [monarc_path(), "gcov"])))

    def test_what_was_shown_to_decide(self):
        """Masking MC/DC: a term is seen true (false) if, in a run in which it was so, its change alone could have changed the
        outcome, whatever terms that were not evaluated would have been."""
        def outcome(a, b, c):
            return a and (b or c)
        for version in GCCS:
            folder = self.build(version, TRUTH, "a.c")
            seen = set()
            for bits in (0, 2, 5, 3, 7, 1):
                subprocess.run(["./prog", str(bits)], cwd=folder, check=True)
                terms = [bool(bits & 1), bool(bits & 2), bool(bits & 4)]
                evaluated = [True, terms[0], terms[0] and not terms[1]]
                for t in filter(evaluated.__getitem__, range(3)):
                    for rest in itertools.product((False, True), repeat=3):
                        one = [terms[k] if evaluated[k] else rest[k] for k in range(3)]
                        other = [value != (k == t) for k, value in enumerate(one)]
                        if outcome(*one) != outcome(*other):
                            seen.add((t, terms[t]))
                (terms_len, missed), = self.ours(folder, "a.c")[6]
                self.assertEqual(terms_len, 3)
                self.assertEqual(set(missed), {(t, s) for t in range(3) for s in (True, False)} - seen, bits)


if __name__ == "__main__":
    unittest.main(verbosity=2)
