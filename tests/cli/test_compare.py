"""diff and check: what they find between two builds, what they do not, and what they refuse.

Profiles are written byte by byte for compiled programs, so that every number is known.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc, monarc_json
from parts import load_tests, slow
import seeds
import sequential

CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-O1", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-sanitize=all",
         "-fno-stack-protector", "-fno-inline", "-w"]
SOURCE = """
#define KEEP __attribute__((noinline, noclone))
KEEP static int helper(int x) { __asm__ volatile("nop"); return x + 1; }
KEEP int parse(int x) { __asm__ volatile("nop;nop"); return helper(x) * 3; }
KEEP int sort_items(int x) { __asm__ volatile("nop;nop;nop"); return helper(x) - 3; }
KEEP int print_all(int x) { __asm__ volatile("nop"); return parse(x) + sort_items(x); }
void _start(void) { print_all(7); for (;;) __asm__ volatile(""); }
"""


class Build:
    """A program, and profiles of it."""

    def __init__(self, folder, name, source):
        self.folder, self.program = folder, folder / name
        (folder / f"{name}.c").write_text(source)
        subprocess.run([*CC, *FLAGS, "-o", self.program, folder / f"{name}.c"], check=True)
        self.at, self.size = {}, {}
        for line in subprocess.run([*NM, "-S", self.program], check=True, capture_output=True,
                                   text=True).stdout.splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in "tT":
                self.at[parts[3]], self.size[parts[3]] = int(parts[0], 16), int(parts[1], 16)
        self.made = 0

    def profile(self, hits=(), calls=()):
        """hits: {function: samples}; calls: {(caller, callee): count}. The profile's path."""
        low = min(self.at.values()) & ~1
        high = (max(self.at[f] + self.size[f] for f in self.at) + 2) & ~1
        bins = [0] * ((high - low) // 2)
        for function, samples in dict(hits).items():
            bins[(self.at[function] + 2 - low) // 2] += samples
        arcs = [(self.at[a] + 1, self.at[b], n) for (a, b), n in dict(calls).items()]
        path = self.folder / f"{self.program.name}.{self.made}.gmon"
        self.made += 1
        path.write_bytes(gmon([(low, high, bins)] if hits else [], arcs))
        return path


CALLS = {("_start", "print_all"): 1, ("print_all", "parse"): 1000,
         ("print_all", "sort_items"): 1000, ("parse", "helper"): 5000}


class Lines(unittest.TestCase):
    """diff --lines: a line is the same wherever its function has moved to in the file."""
    BODY = """KEEP int wide(int x)
{
    __asm__ volatile(".rept 8; nop; .endr");
    x = helper(x);
    __asm__ volatile(".rept 40; nop; .endr");
    return x;
}
void _start(void) { wide(7); for (;;) __asm__ volatile(""); }
"""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        head = SOURCE.split("KEEP int parse")[0]
        self.builds = []
        for name, between in ("old", ""), ("new", "/* more\n   lines */\n"):
            folder = Path(scratch.name) / name
            folder.mkdir()
            build = Build(folder, "prog", head + between + self.BODY)
            build.at["end"] = build.at["wide"] + build.size["wide"] - 24
            build.size["end"] = 0
            self.builds.append(build)
        self.first = (head + self.BODY).splitlines().index("KEEP int wide(int x)") + 1

    def diff(self, *hits, calls=5):
        arcs = {("_start", "wide"): calls} if calls else {}
        names = [path for build, of in zip(self.builds, hits) for path in
                 (build.program, build.profile(of, arcs))]
        done = monarc("diff", "--lines", "--all", "--json", *names)
        table = json.loads(done.stdout)
        check_schema(self, "diff", table)
        self.assertEqual(table["summary"]["rows"], "line")
        text = monarc("diff", "--lines", "--all", "--wide", *names).stdout.decode()
        return done.returncode, {row["name"]: row for row in table["functions"]}, text

    def test_moved_function(self):
        status, rows, text = self.diff({"wide": 300, "end": 100}, {"wide": 300, "end": 500})
        self.assertEqual(status, 1)
        body, end = (f"prog.c:{self.first + 2 + at} wide" for at in (2, 4))
        self.assertEqual({row["kind"] for row in rows.values()}, {"kept"})
        # What took 300 samples before and does so now has not changed, though its share has halved.
        for name, growth, share in (body, 1, 0.5), (end, 5, 2.5):
            row = rows[name]
            self.assertAlmostEqual(row["self_time"]["new"], growth * row["self_time"]["old"])
            self.assertAlmostEqual(row["self_share"]["new"], share * row["self_share"]["old"])
            self.assertEqual(row["self_time"]["is_meant"], growth > 1)
            self.assertEqual(row["new"]["line"], row["old"]["line"] + 2)
        self.assertRegex(text, rf"1\.0 +5\.0 +\+4\.0\* .* {re.escape(end)}\n")
        start, = (row for name, row in rows.items() if name.endswith(" _start"))
        self.assertEqual((start["calls"]["old"], start["calls"]["new"]), (5, 5))

    @slow
    def test_functions_of_one_name(self):
        """Where one of two static functions of one name moves in its file, lines of the other one stay what they are."""
        sides = []
        for name, before in ("old", ""), ("new", "/* one\n   line\n   more */\n"):
            folder = self.builds[0].folder / name
            folder.mkdir()
            for file, above, nops in ("a", "", 8), ("b", before, 16):
                (folder / f"{file}.c").write_text(f"{above}__attribute__((noinline)) static int work(int x)\n{{\n    __asm__ volatile("
                                                  f"\".rept {nops}; nop; .endr\");\n    return x + {nops};\n}}\n"
                                                  f"int {file}(int x)\n{{\n    return work(x) + 1;\n}}\n")
            (folder / "m.c").write_text("int a(int), b(int); void _start(void) { a(1); b(2); for (;;) __asm__ volatile(\"\"); }\n")
            subprocess.run([*CC, *FLAGS, "-o", "prog", "m.c", "a.c", "b.c"], cwd=folder, check=True)
            at = sorted(int(line.split()[0], 16) for line in subprocess.run(
                [*NM, folder / "prog"], check=True, capture_output=True, text=True).stdout.splitlines() if line.endswith(" t work"))
            bins = [0] * 64
            for start, samples in zip(at, (300, 500)):
                bins[(start + 6 - at[0]) // 2] += samples
            (folder / "gmon").write_bytes(gmon([(at[0], at[0] + 128, bins)], []))
            sides += [folder / "prog", folder / "gmon"]
        rows = json.loads(monarc("diff", "--lines", "--all", "--json", *sides).stdout)["functions"]
        self.assertEqual(sorted([row["kind"], row["old"]["line"], row["new"]["line"], row["self_time"]["old"] - row["self_time"]["new"]]
                                for row in rows if row["name"].endswith(" work")), [["kept", 3, 3, 0], ["kept", 3, 6, 0]])
        for form in "text", "markdown":
            shown = monarc("diff", "--all", "--format", form, *sides).stdout.decode()
            self.assertEqual(sorted(re.findall(r"work \(..c\)", shown)), ["work (a.c)", "work (b.c)"], shown)
        for file in "ab":  # sources of one name have their folders
            (folder / file).mkdir()
            (folder / f"{file}.c").rename(folder / file / "w.c")
        subprocess.run([*CC, *FLAGS, "-o", "prog", "m.c", "a/w.c", "b/w.c"], cwd=folder, check=True)
        sides = sides[2:]
        for command in ("flat", "--force", *sides), ("diff", "--force", "--all", *sides, *sides):
            shown = monarc(*command).stdout.decode()
            self.assertEqual(sorted(set(re.findall(r"work \(.*?\.c\)", shown))), ["work (a/w.c)", "work (b/w.c)"], shown)

    def test_nothing_changed(self):
        status, rows, text = self.diff({"wide": 300, "end": 100}, {"wide": 300, "end": 100})
        self.assertEqual(status, 0)
        self.assertIn("Changed  0 of", text)
        self.assertIn(" lines: 0 in self time", text)
        self.assertRegex(text, r"CPU time +4\.000 s +4\.000 s .*no change larger than")

    def test_line_that_is_not_hit_any_more(self):
        _, rows, _ = self.diff({"wide": 300, "end": 100}, {"end": 500}, calls=0)
        self.assertEqual(rows[f"prog.c:{self.first + 2} wide"]["kind"], "gone")
        self.assertEqual(rows[f"prog.c:{self.first + 2 + 4} wide"]["kind"], "kept")

    def test_no_lines(self):
        build = self.builds[0]
        subprocess.run(["strip", "-g", build.program], check=True)
        path = build.profile({"wide": 3})
        done = monarc("diff", "--lines", build.program, path, build.program, path)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"has no line numbers", done.stderr)


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        (cls.folder / "a").mkdir()
        (cls.folder / "b").mkdir()
        cls.old = Build(cls.folder / "a", "prog", SOURCE)
        cls.new = Build(cls.folder / "b", "prog", SOURCE.replace("sort_items", "sort_elements")
                        .replace("KEEP int print_all",
                                 "KEEP int fresh(int x) { return x * 77; }\nKEEP int print_all")
                        .replace("parse(x) +", "fresh(x) + parse(x) +"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def same(self, **more):
        return self.old.profile({"parse": 500, "sort_items": 500}, {**CALLS, **more})

    def diff(self, old, new, *options, program=None):
        return monarc_json("diff", program or self.old.program, old, new, *options)

    def check(self, *arguments):
        return monarc("check", *arguments, cwd=self.folder)

    # diff

    def test_same(self):
        done = monarc("diff", self.old.program, self.same(), self.same())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"0 of 5 functions", done.stdout)

    def test_calls_are_exact(self):
        more = {("parse", "helper"): 5001}
        result = self.diff(self.same(), self.old.profile({"parse": 500, "sort_items": 500},
                                                         {**CALLS, **more}))
        check_schema(self, "diff", result)
        self.assertEqual([(r["name"], r["calls"]["old"], r["calls"]["new"], r["calls"]["differ"])
                          for r in result["functions"]], [("helper", 5000, 5001, True)])
        done = monarc("diff", self.old.program, self.same(),
                      self.old.profile({"parse": 500, "sort_items": 500}, {**CALLS, **more}))
        self.assertEqual(done.returncode, 1)

    @slow
    def test_static_functions_of_files_in_another_order(self):
        """Without line tables, files have no name: two functions of one name are known by their sizes."""
        for name, body in ("a", "s += i"), ("b", "s += i * 3; s ^= 5; s |= 9"):
            (self.folder / f"{name}.c").write_text(
                f"static volatile int s;\nstatic __attribute__((noinline)) void work(int i)\n{{ {body}; }}\n"
                f"void {name}(void) {{ work(1); }}\n")
        (self.folder / "m.c").write_text("void a(void), b(void);\nint main(void) { a(); b(); return 0; }\n")
        sides = []
        for order in "ab", "ba":
            program = self.folder / f"linked-{order}"
            subprocess.run([*CC, "-O1", "-o", program, "m.c", *(f"{name}.c" for name in order)], cwd=self.folder, check=True)
            sizes = [[int(word, 16) for word in line.split()[:2]] for line in
                     subprocess.run([*NM, "-S", program], check=True, capture_output=True, text=True).stdout.splitlines()
                     if line.endswith(" t work")]
            (small, _), (large, _) = sorted(sizes, key=lambda at: at[1])
            low, high = min(small, large) & ~1, max(small, large) + 64 & ~1
            bins = [0] * ((high - low) // 2)
            bins[(small + 2 - low) // 2], bins[(large + 2 - low) // 2] = 900, 100
            profile = self.folder / f"{order}.gmon"
            profile.write_bytes(gmon([(low, high, bins)]))
            sides += [program, profile]
        result = monarc_json("diff", "--all", *sides)
        self.assertEqual([f["self_time"]["old"] == f["self_time"]["new"] for f in result["functions"] if f["name"] == "work"],
                         [True, True])

    def test_renamed_and_new(self):
        calls = {("_start", "print_all"): 1, ("print_all", "parse"): 1000,
                 ("print_all", "sort_elements"): 1000, ("parse", "helper"): 5000,
                 ("print_all", "fresh"): 3}
        result = monarc_json("diff", self.old.program, self.same(), self.new.program,
                             self.new.profile({"parse": 500, "sort_elements": 500}, calls))
        check_schema(self, "diff", result)
        # Another name is no change of what the program does: it is counted, not shown.
        self.assertEqual({r["name"]: r["kind"] for r in result["functions"]}, {"fresh": "new"})
        self.assertEqual((result["summary"]["changed"], result["summary"]["renamed"]), (1, 1))
        result = monarc_json("diff", self.old.program, self.same(), self.new.program,
                             self.new.profile({"parse": 500, "sort_elements": 500}, calls), "--all")
        renamed = next(r for r in result["functions"] if r["kind"] == "renamed")
        self.assertEqual(renamed["old"]["linkage_name"], "sort_items")
        text = monarc("diff", self.old.program, self.same(), self.new.program,
                      self.new.profile({"parse": 500, "sort_elements": 500}, calls),
                      "--all").stdout
        self.assertIn(b"; besides 1 renamed\n", text)
        self.assertIn(b"sort_elements (was sort_items)", text)

    def test_gone_function(self):
        source = SOURCE.replace("KEEP static int helper(int x) { __asm__ volatile(\"nop\"); "
                                "return x + 1; }", "#define helper(x) (x)")
        (self.folder / "c").mkdir()
        third = Build(self.folder / "c", "prog", source)
        calls = {k: v for k, v in CALLS.items() if k[1] != "helper"}
        result = monarc_json("diff", self.old.program, self.same(), third.program,
                             third.profile({"parse": 500, "sort_items": 500}, calls))
        self.assertEqual([(r["name"], r["kind"], r["new"]) for r in result["functions"]],
                         [("helper", "gone", None)])

    def test_time_that_changed(self):
        new = self.old.profile({"parse": 700, "sort_items": 300}, CALLS)
        result = self.diff(self.same(), new)
        check_schema(self, "diff", result)
        rows = {r["name"]: r["self_time"] for r in result["functions"]}
        self.assertEqual(set(rows), {"parse", "sort_items"})
        self.assertTrue(all(s["is_meant"] and s["chance"] < 1e-4 for s in rows.values()))
        self.assertAlmostEqual(rows["parse"]["change"], 2)
        by_share = self.diff(self.same(), new, "--by", "share")
        self.assertEqual(by_share["summary"]["judged_by"], "share")
        rows = {r["name"]: r["self_share"] for r in by_share["functions"]}
        self.assertTrue(all(s["is_meant"] and s["chance"] < 1e-9 for s in rows.values()))
        self.assertAlmostEqual(rows["parse"]["change"], 0.2)

    def test_program_that_takes_twice_the_time(self):
        """All shares are the same, and so they say nothing."""
        new = self.old.profile({"parse": 1000, "sort_items": 1000}, CALLS)
        result = self.diff(self.same(), new)
        check_schema(self, "diff", result)
        cpu, = (t for t in result["totals"] if t["name"] == "cpu_time")
        self.assertEqual((cpu["old"], cpu["new"], cpu["verdict"]), (10, 20, "more"))
        self.assertEqual(result["summary"]["self_changed"], 2)
        text = monarc("diff", self.old.program, self.same(), new)
        self.assertEqual(text.returncode, 1)
        self.assertRegex(text.stdout.decode(), r"^New takes 2\.00 \+- 0\.\d\d times as long: 20\.000 s of CPU time instead of "
                         r"10\.000 s; most in parse, by \+5\.0 \+- \d\.\d s\n")
        back = monarc("diff", self.old.program, new, self.same()).stdout.decode()
        self.assertRegex(back, r"^New is 2\.0 \+- 0\.\d times as fast: 10\.000 s of CPU time instead of 20\.000 s; "
                         r"most in parse, by -5\.0 \+- \d\.\d s\n")
        # Of a side that is next to nothing no ratio is known but the least one: 10 s to 0.01 s, and what noise may hide.
        tiny = self.old.profile({"parse": 1}, CALLS)
        shrunk = monarc("diff", self.old.program, self.same(), tiny).stdout.decode()
        self.assertRegex(shrunk, r"^New is at least [4-9]\.\d times as fast: 0\.010 s of CPU time instead of 10\.000 s; ")
        same = monarc("diff", self.old.program, self.same(), self.same()).stdout.decode()
        self.assertRegex(same, r"^CPU time 10\.000 s, was 10\.000 s: ")
        self.assertRegex(text.stdout.decode(), r"CPU time +10\.000 s +20\.000 s +\+10\.000 s  "
                         r"slower by 100 % \+- \d+\n")
        self.assertEqual(monarc("diff", self.old.program, self.same(), new, "--by",
                                "share").returncode, 1)
        done = self.check("--baseline", self.same(), self.old.program, new)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"failed      max-cpu-growth: CPU time: 20.000 s, was 10.000 s: slower",
                      done.stdout)
        for limit, status in ("50%", 1), ("120%", 0), ("10%+4s", 1), ("10%+20s", 0):
            self.assertEqual(self.check("--baseline", self.same(), self.old.program, new,
                                        "--max-cpu-growth", limit).returncode, status, limit)

    def test_function_that_others_moved(self):
        """beta takes three times as long; alpha, as long as before, has a smaller share."""
        old = self.old.profile({"parse": 600, "sort_items": 300}, CALLS)
        new = self.old.profile({"parse": 600, "sort_items": 900}, CALLS)
        self.assertEqual([r["name"] for r in self.diff(old, new)["functions"]], ["sort_items"])
        by_share = self.diff(old, new, "--by", "share")
        self.assertEqual({r["name"] for r in by_share["functions"]}, {"parse", "sort_items"})
        done = self.check("--baseline", old, self.old.program, new, "--max-time-growth", "20%")
        self.assertIn(b"self time of sort_items grew by 6 s", done.stdout)
        self.assertNotIn(b"of parse", done.stdout)

    def test_small_function_that_grew(self):
        """From 0.6 to 5 % of the time: the whole hides it, check does not."""
        old = self.old.profile({"parse": 1000, "sort_items": 988, "helper": 12}, CALLS)
        new = self.old.profile({"parse": 1000, "sort_items": 988, "helper": 105}, CALLS)
        done = self.check("--baseline", old, self.old.program, new)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(b"not judged  max-cpu-growth", done.stdout)
        self.assertIn(b"self time of helper grew by", done.stdout)

    def test_sides_of_different_rates_and_without_samples(self):
        """A one-line reason each, and nothing is lost."""
        none = self.old.profile({}, CALLS)
        done = monarc("diff", self.old.program, self.same(), none)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"times are not compared: one side has no samples", done.stdout)
        done = self.check("--baseline", self.same(), self.old.program, none)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"not judged  max-cpu-growth", done.stdout)
        done = self.check("--baseline", self.same(), self.old.program, none, "--max-cpu-growth",
                          "5%")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stdout.decode().splitlines()[-1].startswith("not judged: "))

    def test_time_that_chance_explains(self):
        new = self.old.profile({"parse": 520, "sort_items": 480}, CALLS)
        result = self.diff(self.same(), new, "--all")
        rows = {r["name"]: r["self_share"] for r in result["functions"]}
        self.assertFalse(any(r["self_time"]["is_meant"] for r in result["functions"]))
        # by hand: z = 0.02 / sqrt(0.5 * 0.5 / 1000 + 0.52 * 0.48 / 1000) = 0.8948, two-sided
        # 0.3709, and twice that for two functions; --noise 0: sampling alone
        exact = self.diff(self.same(), new, "--all", "--by", "share", "--noise", "0")
        for row in exact["functions"]:
            if row["name"] == "parse":
                self.assertAlmostEqual(row["self_share"]["chance"], 0.742, places=3)
        self.assertGreater(rows["parse"]["chance"], 0.742)
        self.assertFalse(rows["parse"]["is_meant"])
        self.assertEqual(result["summary"]["changed"], 0)

    def test_spread_of_runs(self):
        """A change within what runs of one side differ by is none, however many samples."""
        def run(parse):
            return self.old.profile({"parse": parse, "sort_items": 10000 - parse}, CALLS)
        wide = [run(n) for n in (4000, 6000, 5000)], [run(n) for n in (5500, 6500, 4500)]
        close = [run(n) for n in (4990, 5010, 5000)], [run(n) for n in (5490, 5510, 5500)]
        for (old, new), expected in ((wide, 0), (close, 2)):
            result = monarc_json("diff", self.old.program,
                                 *(x for n in old for x in ("--old", n)),
                                 *(x for n in new for x in ("--new", n)))
            check_schema(self, "diff", result)
            self.assertEqual(result["old"]["runs"], 3)
            self.assertEqual(result["summary"]["self_changed"], expected)

    def test_three_runs_see_what_one_cannot(self):
        """A tenth more CPU time: one pair may differ so, runs that agree within half a percent not."""
        def run(samples):
            return self.old.profile({"parse": samples // 2, "sort_items": samples - samples // 2},
                                    CALLS)
        old, new = [run(n) for n in (1000, 1005, 995)], [run(n) for n in (1100, 1106, 1094)]
        for runs, verdict, status in (1, "no change seen", 2), (3, "more", 1):
            sides = [x for option, side in (("--old", old), ("--new", new))
                     for n in side[:runs] for x in (option, n)]
            result = monarc_json("diff", self.old.program, *sides)
            cpu, = (t for t in result["totals"] if t["name"] == "cpu_time")
            self.assertEqual((cpu["verdict"], cpu["is_found"]), (verdict, status == 1))
            self.assertEqual(result["summary"]["noise_is_assumed"], runs == 1)
            done = self.check(*(x for n in old[:runs] for x in ("--baseline", n)),
                              self.old.program, *new[:runs], "--max-cpu-growth", "5%")
            self.assertEqual(done.returncode, status, done.stdout)
        text = monarc("diff", self.old.program, *sides).stdout.decode()
        self.assertRegex(text, r"slower by 10\.0 % \+- [1-3]\.\d\n")

    def test_verdict_and_status_agree(self):
        """In each form, whether rules hold, do not, or have nothing to judge."""
        bare = self.old.profile({"parse": 500, "sort_items": 500})
        slow = self.old.profile({"parse": 1500, "sort_items": 500})
        for new, rule, limit, status, word in ((bare, "max-cpu-growth", 50, 0, "passed"),
                                               (slow, "max-cpu-growth", 50, 1, "failed"),
                                               (bare, "max-cpu-growth", 5, 2, "not judged"),
                                               (bare, "max-elapsed-growth", 50, 2, "not judged")):
            xml, markdown = self.folder / "v.xml", self.folder / "v.md"
            done = self.check("--baseline", bare, self.old.program, new, f"--{rule}", f"{limit}%",
                              "--format", "json=-", "--format", f"junit={xml}", "--format",
                              f"markdown={markdown}")
            verdict = json.loads(done.stdout)
            check_schema(self, "check", verdict)
            self.assertEqual((done.returncode, verdict["verdict"]), (status, word))
            if limit == 5:  # one run a side could hide so much
                self.assertRegex(verdict["cases"][0]["message"], "about [0-9]+ runs a side would show")
            self.assertIn(f"## monarc check: {word}\n", markdown.read_text())
            suite = ElementTree.parse(xml).getroot().find("testsuite")
            self.assertEqual((suite.get("failures"), suite.get("errors")),
                             (str(int(status == 1)), str(int(status == 2))))
            self.assertEqual(len(suite.findall("testcase/error")), int(status == 2))

    def test_calls_of_several_runs(self):
        def run(n):
            return self.old.profile({"parse": 500, "sort_items": 500},
                                    {**CALLS, ("parse", "helper"): n})
        names = [run(n) for n in (100, 200, 150, 300)]
        overlap = monarc("diff", self.old.program, "--old", names[0], "--old", names[1], "--new",
                         names[2], "--new", names[3])
        apart = monarc("diff", self.old.program, "--old", names[0], "--old", names[2], "--new",
                       names[1], "--new", names[3])
        self.assertEqual((overlap.returncode, apart.returncode), (0, 1))

    def test_forms_agree(self):
        new = self.old.profile({"parse": 700, "sort_items": 300}, CALLS)
        result = self.diff(self.same(), new)
        csv = monarc("diff", self.old.program, self.same(), new, "--csv").stdout.decode()
        markdown = monarc("diff", self.old.program, self.same(), new, "--markdown").stdout.decode()
        self.assertEqual(len(csv.splitlines()) - 1, len(result["functions"]))
        self.assertRegex(markdown, r"\| parse \| 5\.0 \| 7\.0 \| \*\*\+2\.0\*\* \u00b1 "
                         r"\d\.\d+ \| 50\.0 \| 70\.0 \|")
        self.assertIn("| CPU time | 10.000 s | 10.000 s | no change larger than", markdown)
        markdown = monarc("diff", self.old.program, self.same(), new, "--markdown", "--by",
                          "share").stdout.decode()
        self.assertIn("| parse | 50.00 | 70.00 | **+20.00** |", markdown)

    def test_bad_operands(self):
        for arguments in (["one"], [self.old.program], ["--old", "x"],
                          [self.old.program, self.same(), "missing.gmon"]):
            self.assertEqual(monarc("diff", *arguments).returncode, 2, arguments)

    # --base

    def test_flat_and_graph_beside_a_base(self):
        base = self.old.profile({"parse": 600, "sort_items": 400},
                                {**CALLS, ("parse", "helper"): 4000})
        calls = {("_start", "print_all"): 1, ("print_all", "parse"): 1000,
                 ("print_all", "sort_elements"): 1000, ("parse", "helper"): 5000,
                 ("print_all", "fresh"): 3}
        new = self.new.profile({"parse": 500, "sort_elements": 500}, calls)
        both = [self.new.program, new, "--base", self.old.program, "--base", base]
        flat = monarc_json("flat", *both)
        check_schema(self, "flat", flat)
        rows = {r["name"]: r["base"] for r in flat["functions"]}
        self.assertEqual(rows["fresh"], None)
        self.assertEqual((rows["helper"]["calls"], rows["parse"]["self_share"]), (4000, 0.6))
        self.assertEqual(rows["sort_elements"]["linkage_name"], "sort_items")
        self.assertEqual(rows["print_all"], {"linkage_name": "print_all", "self_share": 0,
                                             "total_share": 1, "calls": 1})
        text = monarc("flat", *both, "--wide").stdout.decode()
        self.assertRegex(text, r"60\.0 +-10\.0 +1000  parse +\w+\.c:\d+\n")
        csv = monarc("flat", *both, "--csv").stdout.decode().splitlines()
        self.assertEqual({len(line.split(",")) for line in csv}, {len(csv[0].split(","))})
        graph = monarc_json("graph", *both)
        check_schema(self, "graph", graph)
        entry = next(e for e in graph["entries"] if e["name"] == "parse")
        self.assertEqual({l["name"]: l["base_calls"] for l in entry["callees"]}, {"helper": 4000})
        entry = next(e for e in graph["entries"] if e["name"] == "print_all")
        self.assertEqual(entry["base"], {"linkage_name": "print_all", "total_share": 1, "calls": 1})
        self.assertRegex(monarc("graph", *both, "--wide").stdout.decode(),
                         r"5000/5000 +4000 +helper")

    # check

    def test_three_percent_of_calls_are_found(self):
        for base in (100, 1000, 12345, 10**9):
            old = self.old.profile(
                {"parse": 1}, {**CALLS, ("parse", "helper"): base})
            new = self.old.profile({"parse": 1},
                                   {**CALLS, ("parse", "helper"): base + -(-base * 3 // 100)})
            done = self.check("--baseline", old, self.old.program, new)
            self.assertEqual(done.returncode, 1, base)
            self.assertIn(b"calls of helper grew by 3.0", done.stdout)

    @slow
    def test_chance_raises_no_alarm(self):
        """40 repeated runs: the same shares, drawn anew."""
        draw = seeds.generator("chance raises no alarm")
        sequential.measure("chance raises no alarm", lambda: self.chance_raises_no_alarm(draw))

    def chance_raises_no_alarm(self, draw):
        base = None
        for run in range(41):
            hits = {"parse": 0, "sort_items": 0, "helper": 0, "print_all": 0}
            for function in draw.choices(list(hits), [50, 30, 15, 5], k=400):
                hits[function] += 1
            profile = self.old.profile(hits, CALLS)
            if run:
                done = self.check("--baseline", base, self.old.program, profile)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                with sequential.scattering():
                    self.assertEqual(done.returncode, 0, done.stdout)
            base = base or profile

    def test_seeded_regression_of_time(self):
        new = self.old.profile({"parse": 800, "sort_items": 200}, CALLS)
        done = self.check("--baseline", self.same(), self.old.program, new, "--json")

        verdict = json.loads(done.stdout)
        check_schema(self, "check", verdict)
        self.assertEqual(done.returncode, 1)
        failed = [c for c in verdict["cases"] if c["status"] == "failed"]
        self.assertEqual([(c["rule"], c["subject"], c["line"]) for c in failed],
                         [("max-time-growth", "parse", 4)])
        self.assertEqual(self.check("--baseline", self.same(), self.old.program, new,
                                    "--max-share-growth", "35").returncode, 0)

    def test_last_rule_counts(self):
        new = self.old.profile({"parse": 500, "sort_items": 500},
                               {**CALLS, ("parse", "helper"): 6000})
        base = ["--baseline", self.same(), self.old.program, new]
        self.assertEqual(self.check(*base, "--max-calls-growth", "10").returncode, 1)
        self.assertEqual(self.check(*base, "--max-calls-growth", "10", "--max-calls-growth",
                                    "helper=25").returncode, 0)
        rules = self.folder / "rules"
        rules.write_text("# comment\nmax-calls-growth 30\n  max-calls-growth /^hel/=19.9  \n")
        self.assertEqual(self.check(*base, "--rules", rules).returncode, 1)
        rules.write_text("max-calls-growth 30\nmax-colour 3\n")
        done = self.check(*base, "--rules", rules)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"line 2", done.stderr)

    def test_forms_of_one_verdict(self):
        new = self.old.profile({"parse": 500, "sort_items": 500},
                               {**CALLS, ("parse", "helper"): 6000})
        junit = self.folder / "check.xml"
        done = self.check("--baseline", self.same(), self.old.program, new, "--format",
                          f"junit={junit}", "--format", "github=-")
        suite = ElementTree.parse(junit).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"),
                          suite.get("errors"), suite.get("skipped")), ("5", "1", "0", "3"))
        failure = suite.find("testcase/failure")
        self.assertIn("calls of helper grew by 20.00 %", failure.get("message"))
        self.assertRegex(done.stdout.decode(),
                         r"::error file=a/prog\.c,line=3,title=max-calls-growth::"
                         r"calls of helper grew by 20.00 %25")

    def failed(self, *arguments):
        """The failed cases of parse with 800 of 1000 samples, where it had 500: 8 s against 5."""
        new = self.old.profile({"parse": 800, "sort_items": 200}, CALLS)
        done = self.check("--baseline", self.same(), self.old.program, new, "--json", *arguments)
        return [c for c in json.loads(done.stdout)["cases"] if c["status"] == "failed"]

    def test_words_and_figures_of_a_failure(self):
        time, = self.failed()
        self.assertEqual((time["old"], time["new"], time["limit"]), (5, 8, 10))
        self.assertRegex(time["message"], r"^self time of parse grew by 3 s \+- 1\.\d, from 5 to 8 "
                                          r"\(limit: 10%\+1%cpu\)$")
        self.assertTrue(0 < time["chance"] < 1e-4)
        share, = self.failed("--max-share-growth", "5")
        self.assertEqual((share["old"], share["new"], share["limit"]), (50, 80, 5))
        self.assertIn("grew by 30.00 points, from 50.00 to 80.00 %; 5 are allowed", share["message"])
        self.assertTrue(0 < share["chance"] < 1e-9)
        self.assertEqual({(c["file"], c["line"]) for c in (time, share)}, {("a/prog.c", 4)})

    def test_limits_that_are_just_reached(self):
        for growth, status in ("20", 0), ("19.999", 1):
            new = self.old.profile({"parse": 500, "sort_items": 500}, {**CALLS, ("parse", "helper"): 6000})
            done = self.check("--baseline", self.same(), self.old.program, new, "--max-calls-growth", growth)
            self.assertEqual(done.returncode, status, growth)

    def test_rules_by_linkage_names(self):
        folder = self.folder / "linkage"
        folder.mkdir()
        build = Build(folder, "prog", SOURCE.replace(
            "KEEP int parse(int x)", 'int parse(int) __asm__("_Z5parsei");\nKEEP int parse(int x)'))
        calls = {tuple(n.replace("parse", "_Z5parsei") for n in pair): c for pair, c in CALLS.items()}
        more = {**calls, ("print_all", "_Z5parsei"): 1500}
        old, new = (build.profile({"_Z5parsei": 500}, c) for c in (calls, more))
        for pattern, status in (("_Z5parsei", 0), ("parse(int)", 0), ("parse", 0), (r"/^parse\(int\)$/", 0),
                                ("/^_Z5parsei$/", 0), ("Z5parsei", 1), ("parse(long)", 1)):
            done = self.check("--baseline", old, build.program, new, "--max-calls-growth", "2",
                              "--max-calls-growth", f"{pattern}=60")
            self.assertEqual(done.returncode, status, (pattern, done.stdout))

    def test_rules_that_are_no_rules(self):
        for rule, word in (("--max-calls-growth=/(/=3", b"'(' is not a regular expression"),
                           ("--max-calls-growth=", b"at least 0, not ''"),
                           ("--max-calls-growth=-1", b"at least 0, not '-1'"),
                           ("--max-calls-growth=inf", b"at least 0, not 'inf'"),
                           ("--max-calls-growth=3x", b"does not take 'x' as a unit"),
                           ("--min-samples=4x", b"at least 0, not '4x'"), ("--noise=nan", b"not 'nan'"),
                           ("--confidence=100", b"needs less than 100, not '100'")):
            done = self.check("--baseline", self.same(), self.old.program, self.same(), rule)
            self.assertEqual(done.returncode, 2, rule)
            self.assertIn(word, done.stderr)
        self.assertEqual(self.check("--baseline", self.same(), self.old.program, self.same(),
                                    "--confidence=99.9").returncode, 0)

    def test_junit_counts_what_it_has(self):
        bare = self.old.profile({"parse": 500, "sort_items": 500})
        grown = self.old.profile({"parse": 800, "sort_items": 200})
        for new, rules in ((bare, ["--max-calls-growth", "2", "--max-share-growth", "5"]),
                           (grown, ["--max-calls-growth", "2", "--max-share-growth", "5"]), (grown, [])):
            done = self.check("--baseline", bare, self.old.program, new, *rules, "--format", "junit=-")
            root = ElementTree.fromstring(done.stdout)
            suite = root.find("testsuite")
            found = {name: len(suite.findall(f"testcase/{element}")) for name, element in
                     (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
            self.assertEqual({name: int(suite.get(name)) for name in found}, found)
            self.assertEqual(suite.get("tests"), str(len(suite.findall("testcase"))))
            if new is grown:
                self.assertEqual(suite.find("testcase/failure").text, "a/prog.c:4")

    def test_what_is_not_there_is_not_passed(self):
        bare = self.old.profile({"parse": 500, "sort_items": 500})
        done = self.check("--baseline", bare, self.old.program, bare, "--max-calls-growth", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"counted no calls", done.stderr)
        few = self.old.profile({"parse": 5}, CALLS)
        done = self.check("--baseline", few, self.old.program, few)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"not judged  max-time-growth", done.stdout)
        self.assertEqual(self.check(self.old.program, bare).returncode, 2)


COVERED = """int f(int x)
{
    if (x > 1)
        return 1;
    return 2;
}
int main(int count, char **names)
{
    return f(count) == 9;
}
"""


class Coverage(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def build(self, name, source, *runs):
        folder = self.folder / name
        folder.mkdir()
        (folder / "c.c").write_text(source)
        # gcc's notes say where a function ends, by which those that moved are found.
        subprocess.run(["gcc", "--coverage", "-O0", "-o", "c", "c.c"], cwd=folder, check=True)
        for arguments in runs:
            subprocess.run(["./c", *arguments], cwd=folder, check=False)
        return folder

    @slow
    def test_lines_that_moved(self):
        old = self.build("old", COVERED, [], ["a", "b"])
        new = self.build("new", "/* more */\n\n" + COVERED, [])
        result = monarc_json("diff", old, new)
        check_schema(self, "diff_coverage", result)
        source = result["sources"][0]
        self.assertEqual((source["no_longer_run"], source["run_now"]), ([6], []))
        self.assertEqual(monarc("diff", old, new).returncode, 1)
        self.assertEqual(monarc("diff", old, old).returncode, 0)
        back = monarc_json("diff", new, old)["sources"][0]
        self.assertEqual((back["no_longer_run"], back["run_now"]), ([], [4]))

    def test_function_that_changed_is_not_compared(self):
        old = self.build("old", COVERED, [], ["a", "b"])
        new = self.build("new", COVERED.replace("return 2;", "x++;\n    return 2;"), [])
        source = monarc_json("diff", old, new)["sources"][0]
        self.assertEqual(source["no_longer_run"], [])
        self.assertEqual(source["compared_lines"], 2)

    def test_rules(self):
        old = self.build("old", COVERED, [], ["a", "b"])
        new = self.build("new", COVERED, [])
        self.assertEqual(monarc("check", "--baseline", old, new).returncode, 1)
        self.assertEqual(monarc("check", "--baseline", new, old).returncode, 0)
        self.assertEqual(monarc("check", "--baseline", old, new, "--max-coverage-fall",
                                "20").returncode, 0)

    def test_a_fall_as_large_as_the_limit(self):
        for name, hit in ("old", 1), ("new", 0):
            (self.folder / f"{name}.info").write_text(
                f"SF:/nowhere/a.c\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,{hit}\nend_of_record\n")
        for limit, status in ("25", 0), ("24.99", 1):
            done = monarc("check", "--baseline", self.folder / "old.info", self.folder / "new.info",
                          "--max-coverage-fall", limit, "--json")
            self.assertEqual(done.returncode, status, (limit, done.stderr))
        case, = [c for c in json.loads(done.stdout)["cases"] if c["status"] == "failed"]
        self.assertEqual((case["old"], case["new"], case["limit"]), (100, 75, 24.99))

    def test_patch(self):
        new = self.build("new", COVERED, [])
        patch = self.folder / "p"
        patch.write_text("--- a/c.c\n+++ b/c.c\n@@ -3,3 +3,3 @@\n     if (x > 1)\n"
                         "-        return 0;\n+        return 1;\n     return 2;\n")
        done = monarc("check", new, "--diff", patch, "--fail-under-diff", "50")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"diff coverage is 0.00 %", done.stdout)


if __name__ == "__main__":
    main()
