#!/usr/bin/env python3
"""test_tui.py: monarc tui, typed on and read under tmux. Its figures are those of --json."""

import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))

from harness import DEMO, PROGRAMS, SKIPPED, monarc, monarc_json, monarc_path, rounded, sure, sure_share  # noqa: E402
from parts import load_tests, slow  # noqa: E402
from test_cover_llvm import VERSIONS  # noqa: E402
from screen import PATIENCE_SECONDS, PROMPT, Screen, missing  # noqa: E402
from test_html import HOSTILE, hostile_program  # noqa: E402

DEMO_GMON = PROGRAMS / "demo.gmon"
WIDE = {"columns": 160, "rows": 60}


def build_calc(folder):
    """The example calc, with a profile and, in calc-coverage, its counts; and pipeline."""
    for name in "calc", "libwords.so", "pipeline":
        subprocess.run([ROOT / "examples/build.sh", folder, "-pg", "-g", "-O0", "--coverage"], check=True,
                       capture_output=True, env={**os.environ, "ONLY": name})
    subprocess.run(["./calc"], cwd=folder, check=True, capture_output=True)
    (folder / "gmon.out").rename(folder / "calc.gmon")
    coverage = folder / "calc-coverage"
    coverage.mkdir()
    for file in [*folder.glob("calc-*.gc*")]:
        file.rename(coverage / file.name)


def columns(head, row):
    """The figures of a row by the heads of their columns, which both end at the same place."""
    found, start = {}, 0
    for match in re.finditer(r"\S+(?: s)?(?= |$)", head):
        found[match[0]] = row[start:match.end()].strip()
        start = match.end()
    return found


class Case(unittest.TestCase):
    def screen(self, *arguments, until="function", folder=PROGRAMS, **more):
        screen = Screen(folder, **more)
        self.addCleanup(screen.close)
        screen.run(monarc_path(), "tui", *arguments, until=until)
        return screen


class Figures(Case):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        build_calc(cls.folder)
        cls.flat = monarc_json("flat", "calc", "calc.gmon", cwd=cls.folder)
        cls.cover = json.loads(monarc("cover", "--json", "-", "calc-coverage", cwd=cls.folder).stdout)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def test_functions(self):
        """Every row of the flat profile, with all its columns."""
        flat = monarc_json("flat", "demo", "demo.gmon")
        text = self.screen("demo", "demo.gmon", until="^ *48.8", **WIDE).text().split("\n")
        self.assertEqual(len([row for row in text[2:-2] if row]), len(flat["functions"]))
        rate = flat["summary"]["samples_per_unit"]
        for row, f in zip(text[2:], flat["functions"]):
            half = (f["self_share_high"] - f["self_share_low"]) / 2
            error = half * flat["summary"]["samples"] / rate
            found = row.split()
            share, time = f["total_samples"] / flat["summary"]["samples"], f["total_samples"] / rate
            shown = [sure_share(f["self_share"], half), sure_share(half, half), sure(f["self_samples"] / rate, error, 3),
                     rounded(100 * share, found[3]), rounded(time, found[4]), *([str(f["calls"])] if f["calls"] else [])]
            self.assertEqual(found[:len(shown)], shown, row)

    def test_calls(self):
        """Each caller and callee of a function, in gprof's order."""
        graph = monarc_json("graph", "demo", "demo.gmon")
        entry = next(e for e in graph["entries"] if e["name"] == "alpha")
        screen = self.screen("demo", "demo.gmon", until="^ *48.8", **WIDE)
        screen.type("/alpha")
        screen.press("Enter", "Enter")
        rows = [r for r in screen.wait("callers 1").split("\n")[2:-2] if r]
        lines = [*entry["callers"], None, *entry["callees"]]
        self.assertEqual(len(rows), len(lines))
        rate = graph["summary"]["samples_per_unit"]
        for row, line in zip(rows, lines):
            source = line or entry
            for key in ("self_samples", "callees_samples"):
                self.assertTrue(any(rounded(source[key] / rate, word) == word for word in row.split()), row)
            if line:
                self.assertEqual(row.split()[3:5], [str(line["calls"]), str(line["of_calls"])])
                self.assertTrue(line["name"].startswith(row.split()[5]), row)  # shown without parameters

    def test_source(self):
        """Time and counts of each line of a file with both."""
        source = next(s for s in self.cover["sources"] if s["path"].endswith("functions.c"))
        annotated = monarc_json("annotate", "--all", "--file", "functions.c", "calc", "calc.gmon", cwd=self.folder)
        samples = {line["line"]: line for line in annotated["files"][0]["lines"]}
        screen = self.screen("calc", "calc.gmon", "calc-coverage", until="fibonacci", folder=self.folder,
                             columns=160, rows=100)
        screen.type("/fibonacci")
        screen.press("Enter", "a")
        screen.wait(r"functions\.c")
        screen.press("g")
        text = screen.wait(r"^ +1 /\*")
        head, *rows = text.split("\n")[1:-2]
        counts = {line["line"]: line for line in source["lines"]}
        seen = 0
        for row in filter(None, rows):
            shown = columns(head, row)
            line = counts.get(int(shown["line"]))
            seen += line is not None
            wanted = "" if not line else str(line["count"] or "#####")
            self.assertEqual(shown["ran"], wanted, row)
            branches = (line or {}).get("branches", [])
            self.assertEqual(shown["branch"], f"{sum(b['count'] > 0 for b in branches)}/{len(branches)}"
                             if branches else "", row)
            share = samples.get(int(shown["line"]), {}).get("self_share", 0)
            self.assertEqual(shown["self%"], rounded(100 * share, shown["self%"]) if share else "", row)
        self.assertEqual(seen, len(counts))

    def test_conditions(self):
        """Outcomes that decided a condition, of two for each term; `t` stops where one is missing."""
        lines = ["int f(int a, int b)", "{", "    if (a && b)", "        return 1;", "    return a || b;", "}", ""]
        terms = {3: [(1, 1), (1, 1)], 5: [(1, 0), (1, 1)]}
        Path(self.folder, "cond.c").write_text("\n".join(lines))
        records = [f"MCDC:{line},{len(seen)},{sense},{seen[term][at]},{term},x" for line, seen in terms.items()
                   for term in range(len(seen)) for at, sense in enumerate("tf")]
        Path(self.folder, "cond.info").write_text("\n".join(
            ["SF:cond.c", *records, *(f"DA:{line},7" for line in (1, 3, 4, 5)), "end_of_record", ""]))
        screen = self.screen("cond.info", until=r"cond\.c", folder=self.folder)
        screen.press("Enter")
        head, *rows = screen.wait(r"5 .*return a").split("\n")[1:-2]
        shown = {int(row["line"]): row["cond"] for row in (columns(head, row) for row in rows if row.strip())}
        self.assertEqual(shown, {1: "", 2: "", 3: "4/4", 4: "", 5: "3/4", 6: ""})
        screen.press("g", "t")
        screen.wait(r"5/6$")

    def test_files(self):
        screen = self.screen("calc-coverage", until="parser.c", folder=self.folder, **WIDE)
        rows = {r.split()[-1]: r.split() for r in screen.rows()[2:] if r.endswith(".c")}
        self.assertEqual(sorted(rows), sorted(s["path"] for s in self.cover["sources"]))
        for s in self.cover["sources"]:
            lines, branches, functions = (s["totals"][k] for k in ("lines", "branches", "functions"))
            self.assertEqual(rows[s["path"]][:-1], [
                f"{100 * lines['hit'] / lines['all']:.2f}", str(lines["all"] - lines["hit"]), str(lines["all"]),
                f"{100 * branches['hit'] / branches['all']:.2f}",
                f"{100 * functions['hit'] / functions['all']:.2f}"])

    @slow
    @unittest.skipUnless(VERSIONS, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
    def test_program_and_profile_of_clang(self):
        """Figures are those of cover; the counts of lines stand beside the source."""
        folder = self.folder / "clang"
        folder.mkdir()
        (folder / "p.c").write_text("int f(int n)\n{\n    return n > 2 && n != 5 ? n : 7;\n}\n"
                                    "int never(void)\n{\n    return 1;\n}\n"
                                    "int main(void)\n{\n    int sum = 0;\n    for (int i = 0; i < 8; i++)\n"
                                    "        sum += f(i);\n    return sum < 0;\n}\n")
        subprocess.run([f"clang-{VERSIONS[-1]}", "-fprofile-instr-generate", "-fcoverage-mapping", "-g", "-o", "prog", "p.c"],
                       cwd=folder, check=True)
        subprocess.run(["./prog"], cwd=folder, check=True, env={"LLVM_PROFILE_FILE": "a.profraw"})
        screen = self.screen("prog", "a.profraw", until=r"p\.c", folder=folder, **WIDE)
        [row] = [r.split() for r in screen.rows() if r.endswith("p.c")]
        [source] = json.loads(monarc("cover", "--json", "-", "prog", "a.profraw", cwd=folder).stdout)["sources"]
        lines, branches, functions = (source["totals"][k] for k in ("lines", "branches", "functions"))
        self.assertEqual(row[:-1], [f"{100 * lines['hit'] / lines['all']:.2f}", str(lines["all"] - lines["hit"]),
                                    str(lines["all"]), f"{100 * branches['hit'] / branches['all']:.2f}",
                                    f"{100 * functions['hit'] / functions['all']:.2f}"])
        screen.press("Enter")
        shown = screen.wait(r"return n > 2")
        counts = {int(m[2]): int(m[1]) for m in re.finditer(r"^ *(\d+) +(?:\S+ +)?(\d+) [ !]", shown, re.M)}
        self.assertEqual({n: counts.get(n) for n in (3, 13)}, {3: 8, 13: 8}, shown)

    def test_both(self):
        """A function's calls by its profile and its runs by its coverage stand in one row; functions
        that never ran are there."""
        runs = {f["name"]: f["count"] for s in self.cover["sources"] for f in s["functions"]}
        screen = self.screen("calc", "calc.gmon", "calc-coverage", until="fibonacci", folder=self.folder, **WIDE)
        rows = {r.split()[-1]: r.split() for r in screen.rows()[2:] if r}
        for name in ("fibonacci", "one_round", "root"):
            self.assertEqual(rows[name][6], str(runs[name]))
        never = next(name for name, count in runs.items() if count == 0)
        self.assertEqual(rows[never][-2:], ["0", never])

    def test_comparison(self):
        """With itself nothing changes; with a profile without the hottest function, what does is what chance does not
        explain, and both shares are those of flat."""
        screen = self.screen("demo", "demo.gmon", "--base", "demo.gmon", until="base%", **WIDE)
        for row, f in zip(screen.rows()[2:], monarc_json("flat", "demo", "demo.gmon")["functions"]):
            found = row.split()
            self.assertEqual([found[0], found[2], float(found[3])],
                             [rounded(100 * f["self_share"], found[0]), rounded(100 * f["self_share"], found[2]), 0])
        old = self.folder / "old.gmon"
        data = bytearray(DEMO_GMON.read_bytes())
        hottest = int(monarc_json("flat", "demo", "demo.gmon")["functions"][0]["address"], 16)
        low, high, bins = struct.unpack_from("<QQI", data, 21)
        first = (hottest - low) * bins // (high - low)
        data[61 + 2 * first:61 + 2 * first + 64] = bytes(64)
        old.write_bytes(data)
        now, then = (monarc_json("flat", "demo", f) for f in ("demo.gmon", old))
        before = {f["name"]: f["self_share"] for f in then["functions"]}
        screen = self.screen("demo", "demo.gmon", "--base", old, until="base%", **WIDE)
        self.assertGreater(self.judged_as_diff(screen, [old], ["demo.gmon"]), 0)
        for row, f in zip(screen.rows()[2:], now["functions"]):
            change = 100 * f["self_share"] - 100 * before.get(f["name"], 0)
            was, grown = row.split()[2:4]
            self.assertEqual(was, rounded(100 * before[f["name"]], was))
            self.assertEqual(float(grown.rstrip("*")), float(rounded(change, grown)))

    def judged_as_diff(self, screen, old, new):
        """The sentence below and the stars are those of `monarc diff`. How many stars there are."""
        sides = [w for side, files in (("--old", old), ("--new", new)) for f in files for w in (side, f)]
        rows = monarc_json("diff", "--all", *sides, "demo")["functions"]
        meant = {f["name"].split("(")[0]: f["self_time"]["is_meant"] for f in rows}
        rows = [r.split() for r in screen.rows() if re.match(" *[0-9.]+ ", r)]
        self.assertEqual({r[-1]: r[3].endswith("*") for r in rows}, {r[-1]: meant[r[-1]] for r in rows})
        self.assertIn(monarc("diff", *sides, "demo").stdout.decode().split("\n")[0], screen.text())
        return sum(r[3].endswith("*") for r in rows)

    def test_comparison_of_several_runs(self):
        """How much runs differ is measured: what would be a change of one run is none of two that differ by more."""
        data = DEMO_GMON.read_bytes()
        bins = struct.unpack_from("<I", data, 37)[0]
        counts = struct.unpack_from(f"<{bins}H", data, 61)
        files = [self.folder / f"run-{factor}.gmon" for factor in (1, 6, 3, 9)]
        for file, factor in zip(files, (1, 6, 3, 9)):
            scaled = [c * factor if i % 7 else c for i, c in enumerate(counts)]
            file.write_bytes(data[:61] + struct.pack(f"<{bins}H", *scaled) + data[61 + 2 * bins:])
        screen = self.screen("demo", files[2], "--base", files[0], until="base%", **WIDE)
        self.assertGreater(self.judged_as_diff(screen, files[:1], files[2:3]), 0)
        base = [word for name in ("demo", *files[:2]) for word in ("--base", name)]
        screen = self.screen("demo", *files[2:], *base, until="base%", **WIDE)
        self.assertEqual(self.judged_as_diff(screen, files[:2], files[2:]), 0)

    @slow
    def test_part_of_a_recording(self):
        """A thread alone has what flat --by-thread lists for it."""
        made = monarc("run", "--no-report", "-o", "pipeline.monarc", "./pipeline", cwd=self.folder)
        if made.returncode:
            self.skipTest(f"nothing can be recorded here: {made.stderr.decode().strip()}")
        threads = monarc_json("flat", "--by-thread", "pipeline.monarc", cwd=self.folder)["rows"]
        whole = monarc_json("flat", "pipeline.monarc", cwd=self.folder)["summary"]
        screen = self.screen("pipeline.monarc", until="count_words", folder=self.folder, **WIDE)
        screen.press("5")
        text = screen.wait("everything")
        busiest = max(threads, key=lambda t: t["self_samples"])
        row = next(r for r in text.split("\n") if r.split()[1:3] == ["thread", str(busiest["thread"])])
        self.assertEqual(row.split()[0], rounded(100 * busiest["self_samples"] / whole["samples"], row.split()[0]))
        index = [r.split()[1:3] for r in screen.rows()[2:]].index(["thread", str(busiest["thread"])])
        screen.press("g", *["Down"] * index, "Enter")
        text = screen.wait(rf"\[thread {busiest['name']} {busiest['thread']}\]")
        ours = [f for f in busiest["functions"] if f["self_samples"] > 0 and not f.get("object")]
        shown = {r.split()[-1]: r.split() for r in text.split("\n")[2:] if r}
        for f in ours:
            if f["name"] != "mcount":
                self.assertEqual(shown[f["name"]][2], f"{f['self_samples'] / whole['samples_per_unit']:.3f}")
        screen.press("z")
        screen.wait(r"\[thread", is_there=False)


class Keys(Case):
    def test_search(self):
        screen = self.screen("demo", "demo.gmon")
        screen.type("/^p")
        screen.press("Enter")
        screen.wait(" 4/9$")
        screen.press("n")
        screen.wait(" 6/9$")
        screen.press("n")
        screen.wait(" 4/9$")
        screen.press("N")
        screen.wait(" 6/9$")
        screen.type("/nowhere")
        screen.press("Enter")
        screen.wait("^Not found")
        screen.type("/[")
        screen.press("Enter")
        screen.wait("'.' is not a regular expression")

    def test_filter(self):
        screen = self.screen("demo", "demo.gmon")
        screen.type("f^[mp]")
        screen.press("Enter")
        text = screen.wait("5 filtered")
        self.assertEqual([r.split()[-1] for r in text.split("\n")[2:-2] if r], ["mcount", "ping", "pong", "main"])
        screen.press("f", "C-u")
        screen.type("!^[mp]")
        screen.press("Enter")
        screen.wait("4 filtered")
        screen.press("f", "C-u")
        screen.type("(")
        screen.press("Enter")
        screen.wait(r"^.*\(")
        screen.press("f", "C-u", "Enter")
        screen.wait(" 1/9$")

    def test_sort(self):
        screen = self.screen("demo", "demo.gmon")
        screen.wait(r"\A.*\n.*\n.* work\.isra\.0$")
        for name in ("main", "fact", "alpha", "work.isra.0"):  # total, calls, name, and around
            screen.press("s")
            screen.wait(rf"\A.*\n.*\n.* {re.escape(name)}$")
        screen.press("S")
        screen.wait(r"\A.*\n.*\n.* alpha$")

    def test_back_and_forward(self):
        screen = self.screen("demo", "demo.gmon")
        screen.type("/main")
        screen.press("Enter", "Enter")
        screen.wait("callers 1, callees 3")
        screen.press("Down", "Enter")
        screen.wait("callees 2") # of another function
        before = screen.settled()
        screen.press("BSpace")
        screen.wait("<unknown caller>")
        screen.press("BSpace")
        screen.wait("functions$")
        screen.press("BSpace")
        screen.wait("^This is where you began")
        screen.press(">", ">")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while screen.text() != before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(screen.text(), before)

    def test_pages(self):
        screen = self.screen("demo", "demo.gmon")
        screen.press("?")
        screen.wait("^Keys")
        screen.press("BSpace", "i")
        screen.wait("^ Samples    615")
        screen.press("BSpace", "5")
        screen.wait("Only a recording has parts")
        screen.press("4")
        screen.wait("no line numbers")
        screen.press("X")
        screen.wait("does nothing here")
        screen.press("q")
        screen.wait(PROMPT)

    def test_nothing_to_show(self):
        """A profile without samples; a filter that nothing passes."""
        screen = self.screen("demo", "demo-arcs.gmon", until="no samples")
        self.assertNotIn("self%", screen.text())
        screen.type("fnowhere")
        screen.press("Enter")
        screen.wait("No function passes")


class Terminal(Case):
    """Whatever ends it, the terminal is as it was."""

    def start(self, *arguments, **more):
        self.shell = Screen(PROGRAMS, **more)
        self.addCleanup(self.shell.close)
        self.modes = self.shell.shell("stty -a")
        self.shell.run(monarc_path(), "tui", *(arguments or ("demo", "demo.gmon")), until="self%")
        self.assertEqual(self.shell.ask("alternate_on"), "1")
        return self.shell

    def is_restored(self):
        self.shell.wait(PROMPT)
        self.assertEqual(self.shell.ask("alternate_on"), "0")
        self.assertEqual(self.shell.ask("cursor_flag"), "1")
        self.assertEqual(self.shell.ask("keypad_flag"), "0")
        self.assertEqual(self.shell.shell("stty -a"), self.modes)

    def wait_for_end(self):
        """Both processes are gone. If the waiting one went first, bash's prompt is on the other screen."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.shell.ask("alternate_on") == "1" and time.monotonic() < end:
            time.sleep(0.05)
        self.shell.press("Enter")

    def processes(self):
        """The process that waits, and the one that has the screen."""
        shell = self.shell.ask("pane_pid")

        def child(pid):
            found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
            return int(found[0])
        waits = child(shell)
        return waits, child(waits)

    def test_quit(self):
        self.start().press("q")
        self.is_restored()

    def test_interrupt(self):
        self.start().press("C-c")
        self.is_restored()

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, signal.SIGSEGV,
                       signal.SIGABRT):
            for which in (0, 1):
                with self.subTest(signal=number, process=("waiting", "screen")[which]):
                    self.start()
                    os.kill(self.processes()[which], number)
                    self.wait_for_end()
                    self.is_restored()
                    self.shell.close()

    def test_what_killed_it_is_said(self):
        self.start()
        os.kill(self.processes()[1], signal.SIGKILL)
        self.shell.wait("^monarc: the screen was ended by signal 9")

    def test_suspend(self):
        screen = self.start()
        before = screen.text()
        screen.press("Down")
        screen.wait(" 2/9$") # the terminal forgets what is typed before C-z and not read yet
        screen.press("C-z")
        screen.wait("Stopped")
        self.assertEqual(screen.ask("alternate_on"), "0")
        self.assertEqual(screen.shell("stty -a"), self.modes)
        screen.type("fg")
        screen.press("Enter")
        screen.wait(" 2/9$")
        screen.press("Up")
        screen.wait(" 1/9$")
        self.assertEqual(screen.text(), before)
        screen.press("q")
        self.is_restored()

    def test_stopped_from_outside(self):
        """SIGSTOP leaves the screen no time to put the terminal back: the other process does."""
        screen = self.start()
        os.kill(self.processes()[1], signal.SIGSTOP)
        screen.wait("Stopped")
        self.assertEqual(screen.ask("alternate_on"), "0")
        self.assertEqual(screen.shell("stty -a"), self.modes)
        screen.type("fg")
        screen.press("Enter")
        screen.wait(" 1/9$")
        screen.press("Down")
        screen.wait(" 2/9$")
        screen.press("q")
        self.is_restored()

    def test_resize(self):
        screen = self.start()
        screen.press("Down")
        for columns, rows in ((120, 40), (40, 10), (24, 5), (10, 3), (1, 1), (200, 50), (80, 24)):
            screen.resize(columns, rows)
            if columns >= 40:
                screen.wait(r"demo .*functions$" if columns > 50 else "demo ")
        text = screen.wait(" 2/9$")
        self.assertIn("48.8   3.9", text)
        screen.press("q")
        self.is_restored()

    def test_narrow(self):
        """Columns are left out whole, and the head says so."""
        screen = self.start(columns=40, rows=12)
        self.assertIn("self%", screen.text())
        self.assertRegex(screen.text(), r"\+\d+ columns")
        self.assertLessEqual(max(map(len, screen.rows())), 40)

    def test_editor(self):
        with tempfile.TemporaryDirectory() as kept:
            folder = Path(kept)
            (folder / "editor").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/arguments\n"
                                           f"stty -a > {folder}/modes\necho EDITING\nread answer\n")
            (folder / "editor").chmod(0o755)
            (folder / "a b.c").write_text("int main(void)\n{\n    return 0;\n}\n")
            subprocess.run(["cc", "-g", "--coverage", "-o", "prog", "a b.c"], cwd=folder, check=True)
            subprocess.run(["./prog"], cwd=folder, check=True)
            self.shell = Screen(folder, VISUAL=f"{folder}/editor", EDITOR="false")
            self.addCleanup(self.shell.close)
            self.modes = self.shell.shell("stty -a")
            screen = self.shell
            screen.run(monarc_path(), "tui", ".", until="a b.c")
            screen.press("Enter")
            screen.wait("source$")
            screen.press("g", "Down", "Down", "e")
            screen.wait("^EDITING")
            os.kill(self.processes()[1], signal.SIGINT)  # as its ^C, which reaches all of the group
            screen.resize(60, 20)
            screen.press("Enter")
            self.assertTrue(screen.wait(" 3/4$").split("\n")[19].endswith(" 3/4"))  # drawn for the other size
            self.assertEqual((folder / "arguments").read_text().split("\n")[:2], ["+3", f"{folder.resolve()}/a b.c"])
            self.assertEqual((folder / "modes").read_text().split(), self.modes.split())
            screen.resize(80, 24)
            screen.wait("q quit")
            screen.press("q")
            self.is_restored()

    def test_editor_that_is_not_there(self):
        with tempfile.TemporaryDirectory() as kept:
            Path(kept, "a.c").write_text("int a;\n")
            Path(kept, "a.info").write_text("SF:a.c\nDA:1,7\nend_of_record\n")
            self.shell = screen = Screen(kept, VISUAL="no-such-editor", EDITOR="false")
            self.addCleanup(screen.close)
            screen.run(monarc_path(), "tui", "a.info", until="a.c")
            screen.press("Enter")
            screen.wait("source$")
            screen.press("e")
            screen.wait("^editor 'no-such-editor' not found")
            screen.press("Down", "q")
            screen.wait(PROMPT)

    def test_refused(self):
        for term, why in (("dumb", "cannot move its cursor"), ("", "TERM is not set"),
                          ("no-such-terminal", "has no description of the terminal")):
            screen = Screen(PROGRAMS)
            self.addCleanup(screen.close)
            text = screen.shell(f"TERM={term} {monarc_path()} tui demo demo.gmon")
            self.assertRegex(text, rf"^monarc: .*{why}")
            self.assertEqual(text.count("\n"), text.rstrip("\n").count("\n"))
            screen.close()

    def test_no_terminal(self):
        answer = monarc("tui", "demo", "demo.gmon", stdin=subprocess.DEVNULL)
        self.assertEqual(answer.returncode, 2)
        self.assertEqual(answer.stdout, b"")
        self.assertEqual(answer.stderr.count(b"\n"), 1)
        self.assertIn(b"not a terminal", answer.stderr)
        self.assertEqual(monarc("tui").returncode, 2)

    def test_wrong_operands_before_the_screen(self):
        """Errors are printed as by every command, and the screen never appears."""
        screen = Screen(PROGRAMS)
        self.addCleanup(screen.close)
        text = screen.shell(f"{monarc_path()} tui demo nix")
        self.assertIn("monarc: nix: No such file", text)


class Hangup(unittest.TestCase):
    def test_without_a_signal(self):
        """Under nohup(1) only the terminal itself says that it is gone."""
        pid, screen = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.chdir(PROGRAMS)
            os.environ["TERM"] = "xterm"
            os.execv(monarc_path(), [monarc_path(), "tui", "demo", "demo.gmon"])
        got = b""
        while b"functions" not in got:
            got += os.read(screen, 65536)
        os.close(screen)
        end = time.monotonic() + PATIENCE_SECONDS
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                self.fail("it still runs")
            time.sleep(0.02)


def output_of(arguments, keys, folder, **environment):
    """All bytes that a terminal of 80 columns gets, while keys are typed."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "LINES": "24", "COLUMNS": "80",
                           **environment})
        os.execv(monarc_path(), [monarc_path(), "tui", *map(str, arguments)])
    sent, got, last = list(keys), b"", time.monotonic()
    os.set_blocking(screen, False)
    while time.monotonic() - last < PATIENCE_SECONDS:
        try:
            piece = os.read(screen, 65536)
            if not piece:
                break
            got, last = got + piece, time.monotonic()
        except BlockingIOError:
            if got and time.monotonic() - last > 0.5 and sent:
                os.write(screen, sent.pop(0).encode())
                last = time.monotonic()
            time.sleep(0.02)
        except OSError:
            break
    _, status = os.waitpid(pid, 0)
    os.close(screen)
    return got, os.waitstatus_to_exitcode(status)


class Hostile(Case):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.kept.name)
        names = {"ruled": "\x1b]0;pwned\x07\x1b[31mred", "tabbed": "a\tb\nc\rd", "wide": "\u6f22\u5b57",
                 "mirrored": "\u202eabc\u05d0\u05d1", "latin": "caf\u00e9", "marked": "e\u0301\u200d"}
        cls.names = names
        text = "".join(f"void {n}(void) {{ /* {names[n]} */ }}\n" for n in names)
        text += "int main(void) { " + "".join(f"{n}(); " for n in names) + "}\n"
        (cls.folder / "evil.c").write_text(text)
        saved = dict(HOSTILE)
        try:
            HOSTILE.clear()
            HOSTILE.update({n: os.fsdecode(names[n].encode()) for n in names})
            import test_html
            plain = test_html.PROGRAM
            test_html.PROGRAM = text
            cls.program, cls.profile = hostile_program(cls.folder)
        finally:
            test_html.PROGRAM = plain
            HOSTILE.clear()
            HOSTILE.update(saved)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def shown(self, **environment):
        return output_of(["--force", self.program, self.profile], ["\r", "a", "4", "\r", "i", "q"], self.folder,
                         **environment)

    def test_names_do_not_rule(self):
        got, status = self.shown()
        self.assertEqual(status, 0)
        self.assertNotIn(b"\x1b]0;pwned", got)
        self.assertNotIn(b"\x07", got)
        self.assertIn(b"?]0;pwned??[31mred", got)
        self.assertIn(b"a?b?c?d", got)
        self.assertIn("\u6f22\u5b57".encode(), got)
        self.assertIn("caf\u00e9".encode(), got)
        for c in "\u202e\u05d0\u05d1\u0301\u200d":
            self.assertNotIn(c.encode(), got)

    def test_ascii_locale(self):
        got, status = self.shown(LC_ALL="C")
        self.assertEqual(status, 0)
        self.assertEqual([b for b in got if b >= 0x80], [])
        self.assertIn(b"caf?", got)

    def test_monochrome(self):
        coloured = rb"\x1b\[[0-9;]*3[0-7][;m]"
        arguments, keys = ["demo", "demo.gmon"], ["q"]
        got, _ = output_of(arguments, keys, PROGRAMS)
        self.assertRegex(got, coloured)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "vt100"}):
            got, status = output_of(arguments, keys, PROGRAMS, **environment)
            self.assertEqual(status, 0)
            self.assertNotRegex(got, coloured)
            self.assertIn(b"work.isra.0", got)


if __name__ == "__main__":
    assert DEMO.exists()
    if missing():
        print(f"skipped: {missing()}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
