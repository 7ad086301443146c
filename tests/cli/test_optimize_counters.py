"""monarc optimize --for gcda: what gcc -fprofile-use makes of our counters is what it makes of its
own, after edits too."""

import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import check_schema, main, monarc, monarc_limited
from parts import load_tests, slow
import seeds

GCC = shutil.which("gcc")
RUNS = "1000", "3333", "100007"

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static int up(int x) { return x + 1; }
static int down(int x) { return x - 1; }
__attribute__((noinline)) int work(int n, int (*f)(int))
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3)
            s = f(s);
        else
            s += 2;
    }
    return s;
}
__attribute__((noinline)) static int other(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        if (i & 1)
            s ^= i;
    return s;
}
__attribute__((noinline)) static int last(int n) { return n / 7; }
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    printf("%d %d %d\\n", work(n, n % 2 ? up : down), other(n), last(n));
    return 0;
}
"""
MOVED = "/* A comment\n * of two lines. */\n" + SOURCE.replace("int main", "\n\nint main")
EDITED = MOVED.replace("s ^= i;", "s ^= i;\n        else if (i % 5 == 0)\n            s++;").replace(
    "last", "final")


@unittest.skipUnless(GCC, "needs gcc")
class Counters(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-use-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def call(self, *words, **more):
        return subprocess.run(list(map(str, words)), cwd=more.pop("cwd", self.folder), check=True,
                              capture_output=True, text=True).stdout

    def optimize(self, *words, status=0):
        done = monarc("optimize", "--for", "gcda", *words, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stderr if status else done.stdout).decode()

    def build(self, source=SOURCE):
        """Notes and an instrumented program in the folder `build`, where all builds are: the name of
        the object is part of the numbers of static functions."""
        folder = self.folder / "build"
        folder.mkdir(exist_ok=True)
        (folder / "u.c").write_text(source)
        (folder / "u.gcda").unlink(missing_ok=True)
        self.call("gcc", "-O2", "-fprofile-generate", "-ftest-coverage", "-c", "u.c", cwd=folder)
        self.call("gcc", "-fprofile-generate", "-o", "u", "u.o", cwd=folder)
        return folder

    def counted(self, source=SOURCE, name="old"):
        """Notes and counters of three runs, set aside; and what each run alone counted."""
        folder = self.build(source)
        aside = self.folder / name
        aside.mkdir()
        for i, n in enumerate(RUNS):
            self.call("./u", n, cwd=folder)
            shutil.move(folder / "u.gcda", aside / f"run{i}.gcda")
        for n in RUNS:
            self.call("./u", n, cwd=folder)
        shutil.move(folder / "u.gcda", aside)
        shutil.copy(folder / "u.gcno", aside)
        return aside

    def assembly(self, folder_or_file):
        """What gcc makes of the source that was built last with these counters."""
        build = self.folder / "build"
        (build / "u.gcda").unlink(missing_ok=True)
        option = f"-fprofile-use={folder_or_file}"
        if Path(folder_or_file).is_file():
            shutil.copy(folder_or_file, build / "u.gcda")
            option = "-fprofile-use"
        self.call("gcc", "-O2", "-S", option, "-Wno-missing-profile", "u.c", cwd=build)
        (build / "u.gcda").unlink(missing_ok=True)
        return (build / "u.s").read_text()

    def test_runs_of_one_build_are_gccs_own(self):
        old = self.counted()
        native = self.assembly(old / "u.gcda")
        self.assertNotEqual(native, self.assembly(self.folder / "none"))
        text = self.optimize("old/u.gcda", "-o", "x.gcda")
        self.assertIn("1 object, 6 functions, 3 runs", text)
        self.assertEqual((self.folder / "x.gcda").read_bytes(), (old / "u.gcda").read_bytes())
        # Into a folder under the name that gcc looks for there.
        self.optimize("old/u.gcda", "--against", "build", "-o", "use")
        self.assertTrue((self.folder / "use" / (str((self.folder / "build/u.gcda").resolve())
                                                .replace("/", "#"))).exists())
        self.assertEqual(self.assembly(self.folder / "use"), native)
        # An object with an absolute name is looked for elsewhere.
        build = (self.folder / "build").resolve()
        done = subprocess.run(["gcc", "-O2", "-c", f"-fprofile-use={self.folder}/use", "u.c", "-o", build / "u.o"],
                              cwd=build, capture_output=True, text=True)
        self.assertNotIn("profile count data file not found", done.stderr)

    @slow
    def test_da_of_several_runs(self):
        """Runs, and the sum of their largest counts, by which gcc tells hot from cold: of da with
        all that gcda has, and of bare ones of the proposal."""
        old = self.counted()
        whole, bare = b"", b""
        for i in range(len(RUNS)):
            done = monarc("convert", "--to", "da", "--arcs-only", "--notes", "u.gcno", f"run{i}.gcda", "-o",
                          "one.da", cwd=old)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = (old / "one.da").read_bytes()
            whole, bare = whole + data, bare + data[:8]
            at = 8
            while at < len(data):
                tag, size = struct.unpack_from("<II", data, at)
                bare += data[at:at + 8 + size] if tag != 0x61646367 else b""
                at += 8 + size
        self.assertLess(len(bare), len(whole))
        (old / "u.gcda").unlink()
        for data in whole, bare:
            (old / "u.da").write_bytes(data)
            self.assertRegex(self.optimize("old/u.da", "--against", "build", "-o", "use"), "3 runs")
            [made] = (self.folder / "use").glob("#*")
            summary = [line for line in self.call("gcov-dump", made).splitlines() if "SUMMARY" in line]
            self.assertRegex(summary[0], "runs=3, sum_max=104340")
            shutil.rmtree(self.folder / "use")

    @slow
    def test_what_only_moved_keeps_its_counters(self):
        """gcc's own are lost, as numbers of static functions are made of their lines; ours are as if
        the new source had been measured, targets of calls through pointers included."""
        self.counted()
        fresh = self.counted(MOVED, "fresh")
        text = self.optimize("old/u.gcda", "--against", "build", "-o", "use")
        self.assertIn("6 functions moved, and kept their counters", text)
        self.assertNotIn("lost", text)
        self.assertFalse((self.folder / "use/drifted.afdo").exists())
        truth = self.assembly(fresh / "u.gcda")
        self.assertEqual(self.assembly(self.folder / "use"), truth)
        with self.assertRaises(subprocess.CalledProcessError):
            self.assembly(self.folder / "old/u.gcda")  # an error: -Wcoverage-mismatch

    @slow
    def test_what_changed_is_said_and_becomes_a_profile_by_line(self):
        self.counted()
        self.build(EDITED)
        text = self.optimize("old/u.gcda", "--against", "build", "-o", "use", "--explain")
        self.assertRegex(text, r"2 functions lost their counters, [0-9.]+ % of all counts")
        self.assertRegex(text, r"%  other  \(changed\)  u\.c:16\n")
        self.assertRegex(text, r"%  last  \(gone\)  u\.c:24\n")
        self.assertRegex(text, r"%  work  \(moved\)  u\.c:5, now :7\n")
        self.call("gcc", "-O2", "-S", "-fauto-profile=" + str(self.folder / "use/drifted.afdo"), "u.c",
                  cwd=self.folder / "build")
        shown = monarc("convert", "--to", "llvm-sample", "-o", "-", "use/drifted.afdo", cwd=self.folder)
        self.assertIn("other:", shown.stdout.decode())
        found = json.loads(monarc("optimize", "--for", "gcda", "old/u.gcda", "--against", "build", "--json",
                                  cwd=self.folder).stdout)
        check_schema(self, "optimize_counters", found)
        self.assertEqual((found["functions"], found["functions_changed"], found["functions_gone"]),
                         (4, 1, 1))
        total = sum(f["count"] for f in found["drift"])
        self.assertEqual(total, found["counts"])
        self.assertLess(found["counts_lost"], found["counts"])

    @slow
    def test_a_removed_file_does_not_take_anothers_notes(self):
        """b/u.c is gone, a/u.c is not: its counters stay, whichever is found first."""
        for gone, kept in ("b", "a"), ("a", "b"):
            old, new, use = (self.folder / f"{name}{gone}" for name in ("old", "new", "use"))
            for name in "ab":
                (old / name).mkdir(parents=True)
                (old / name / "u.c").write_text(f"int f{name}(int n) {{ return n > 9 ? n : 2 * n; }}\n")
                self.call("gcc", "-fprofile-generate", "-ftest-coverage", "-c", "u.c", cwd=old / name)
            (old / "m.c").write_text("int fa(int), fb(int);\nint main(void) { return fa(1) + fb(2) != 6; }\n")
            self.call("gcc", "-fprofile-generate", "-o", "m", "m.c", "a/u.o", "b/u.o", cwd=old)
            self.call("./m", cwd=old)
            (old / "m-m.gcda").unlink(missing_ok=True)
            (new / kept).mkdir(parents=True)
            shutil.copy(old / kept / "u.gcno", new / kept)
            text = self.optimize(old, "--against", new, "-o", use)
            self.assertIn("counters of 1 object, 1 function,", text)
            self.assertRegex(text, rf"1 object is left out: .* has no notes of .*{gone}/u\.gcno")
            self.assertNotIn("lost", text)
            for made in use.rglob("*u.gcda"):
                self.assertIn("FUNCTION", self.call("gcov-dump", made))

    @staticmethod
    def notes_and_counters(functions):
        """Of gcc 4.8, made by hand: (name, line, checksum of its source, of its graph) for each function, which
        counted its number."""
        def text(name):
            data = name.encode() + b"\0" * (4 - len(name) % 4)
            return struct.pack("<I", len(data) // 4) + data

        def record(tag, *words):
            data = b"".join(w if isinstance(w, bytes) else struct.pack("<I", w) for w in words)
            return struct.pack("<II", tag, len(data) // 4) + data

        body = (record(0x1410000, 0, 0, 0) + record(0x1430000, 0, 1, 0) + record(0x1430000, 1, 2, 1) +
                record(0x1450000, 1, 0, text("u.c"), 1, 0, 0))
        notes = b"".join(record(0x1000000, i + 1, source, graph, text(name), text("u.c"), line) + body
                         for i, (name, line, source, graph) in enumerate(functions))
        counters = b"".join(record(0x1000000, i + 1, source, graph) + record(0x1a10000, i + 1, 0)
                            for i, (_, _, source, graph) in enumerate(functions))
        return b"oncg*804same" + notes, b"adcg*804same" + counters + bytes(4)

    def moves(self, old, new):
        """{line of an old function: line of the new one} as optimize tells them; functions are numbered apart."""
        for folder, (notes, counters) in ("old", self.notes_and_counters(old)), ("new", self.notes_and_counters(new)):
            (self.folder / folder).mkdir(exist_ok=True)
            (self.folder / folder / "u.gcno").write_bytes(notes)
            (self.folder / folder / "u.gcda").write_bytes(counters)
        (self.folder / "new/u.gcda").unlink()
        text = self.optimize("old/u.gcda", "--against", "new", "--explain")
        return {(name, int(line)): int(now or line) if state == "moved" else None for name, state, line, now in
                re.findall(r"(?m)%  (\w+)  \((\w+)\)  u\.c:(\d+)(?:, now :(\d+))?$", text)}

    @slow
    def test_of_equal_functions_the_nearest_is_the_same(self):
        """Of one name and graph, and without a checksum of the graph of one source; of equally near ones the first."""
        draw = seeds.generator("of equal functions the nearest is the same")
        for _ in range(20):
            def some(number, first):
                lines = draw.sample(range(1, 60), number)
                return first + [(draw.choice("fg"), line, draw.choice((7, 8)), draw.choice((0, 5))) for line in lines]

            old, new = some(12, []), some(14, [("other", 100 + i, 1, 1) for i in range(20)])
            expected = {}
            for name, line, source, graph in old:
                there = [f for f in new if (f[0], f[3]) == (name, graph) and (graph or f[2] == source)]
                expected[name, line] = min(there, key=lambda f: abs(f[1] - line))[1] if there else None
            self.assertEqual(self.moves(old, new), expected)

    @slow
    def test_any_number_of_equal_functions(self):
        """Notes may have as many as their size allows: none is compared with all the others."""
        number = 200_000
        notes, counters = self.notes_and_counters([("f", i + 1, 7, 5) for i in range(number)])
        for folder in "old", "new":
            (self.folder / folder).mkdir()
            (self.folder / folder / "u.gcno").write_bytes(notes)
        (self.folder / "old/u.gcda").write_bytes(counters)
        done = monarc_limited("optimize", "--for", "gcda", "--json", "old/u.gcda", "--against", "new", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["functions"], number)

    @slow
    def test_what_cannot_be_used(self):
        old = self.counted()
        (old / "u.gcno").rename(old / "kept")
        self.assertIn("has no notes (gcno)", self.optimize("old/u.gcda", "-o", "use", status=2))
        self.assertIn("no counters (gcda, da)", self.optimize("build", "-o", "use", status=2))
        (old / "kept").rename(old / "u.gcno")
        (self.folder / "empty").mkdir()
        self.assertIn("-ftest-coverage", self.optimize("old/u.gcda", "--against", "empty", "-o", "use",
                                                       status=2))
        notes = bytearray((old / "u.gcno").read_bytes())
        notes[4:8] = b"*32B"
        (self.folder / "empty" / "u.gcno").write_bytes(notes)
        self.assertIn("another compiler's", self.optimize("old/u.gcda", "--against", "empty", "-o", "use",
                                                          status=2))
        shutil.copytree(old, self.folder / "again")
        self.assertIn("is one file, but 2 objects", self.optimize("old/u.gcda", "again/u.gcda", "-o",
                                                                  "x.gcda", status=2))
        self.assertFalse((self.folder / "use").exists())
        done = monarc("optimize", "--for", "gcc", "--against", "x", "y", "-o", "z", cwd=self.folder)
        self.assertIn(b"--against works only with --for gcda", done.stderr)

    @slow
    @unittest.skipUnless(shutil.which("clang"), "needs clang")
    def test_clang_takes_no_gcda(self):
        (self.folder / "u.c").write_text(SOURCE)
        self.call("clang", "--coverage", "-c", "u.c")
        self.call("clang", "--coverage", "-o", "u", "u.o")
        self.call("./u", "100")
        self.assertIn("is of clang", self.optimize("u.gcda", "-o", "use", status=2))


if __name__ == "__main__":
    main()
