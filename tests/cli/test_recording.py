"""Reports on recordings of whole runs, whose figures are known because they are made here."""

import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import DEMO, NM, ROOT, check_schema, gmon, main, monarc, monarc_json, monarc_limited, schema, validate
from parts import load_tests, slow
import seeds
import sequential

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/corpus"))
from make import leb, sidecar_file, signed  # noqa: E402
from run_file import (CUT, DEEP, FAULT, FILE, GENERATED, KERNEL, KERNEL_UNSEEN, NO_TABLE, PERIOD,  # noqa: E402
                      RECORDS, THROTTLED, UNKNOWN, UNPLACED, UNSEEN, VDSO, WAIT, Run)

MAIN, ALPHA, WORK, OPEN, PING, PONG, FACT = (0x401000, 0x401040, 0x401080, 0x4010e0, 0x401120, 0x401160,
                                            0x4011a0)


def whole_run(**facts):
    """One second of demo: half in user code, a quarter in the kernel, a quarter elsewhere."""
    run = Run("./demo", "a b", user=700 * PERIOD, system=300 * PERIOD, stacks=1000, whole=900, **facts)
    demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
    kernel, wait, cut = run.object(KERNEL), run.object(WAIT), run.object(CUT)
    code = run.object(GENERATED, low=0x7f0000000000, high=0x7f0000001000, process=0)
    vdso = run.object(VDSO, high=0x2000)
    gone = run.object(FILE, "/nonexistent/libgone.so.1", low=0x1000, high=0x3000)
    run.symbols += [(code, 0x7f0000000100, 16, "Builtin:Add"), (vdso, 0x50, 16, "__vdso_time")]
    run.process(7, 1, demo, "demo", user=700 * PERIOD, system=300 * PERIOD, status=3 << 8)
    run.thread(0, 7, "demo", 1000 * PERIOD)
    path = (demo, MAIN + 8), (demo, ALPHA + 8)
    run.sample([*path, (demo, WORK)], 300)
    run.sample([*path, (demo, FACT), (demo, FACT), (demo, FACT)], 200)
    run.sample([*path, (kernel, 0)], 100)
    run.sample([(demo, MAIN), (kernel, FAULT)], 100)
    run.sample([(demo, MAIN), (kernel, UNKNOWN)], 50)
    run.sample([(cut, DEEP), (gone, 0x1234)], 60)
    run.sample([(cut, NO_TABLE), (gone, 0x1234)], 40)
    run.sample([(demo, MAIN), (code, 0x7f0000000108)], 30)
    run.sample([(demo, MAIN), (code, 0x7f0000000200)], 20)
    run.sample([(demo, MAIN), (vdso, 0x58)], 10)
    run.sample([(demo, MAIN), (wait, 7)], 50)
    run.sample([(demo, MAIN), (wait, 2**32)], 30)
    run.sample([(demo, 0x401300)], 7)   # behind the last symbol
    run.sample([(cut, DEEP)], 3)
    return run


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def write(self, run, name="r"):
        return run.write(self.dir / name)

    def flat(self, *arguments):
        table = monarc_json("flat", "--force", *arguments, cwd=self.dir)
        check_schema(self, "flat", table)
        return {f["name"]: f for f in table["functions"]}, table["summary"]

    def text(self, *arguments, status=0):
        done = monarc(*arguments, "--no-pager", cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def refusal(self, *arguments):
        done = monarc(*arguments, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stdout)
        return done.stderr.decode()


class Flat(Case):
    def test_self_of_every_kind(self):
        rows, summary = self.flat(self.write(whole_run()))
        expected = {"work.isra.0": 300, "fact": 200, "[kernel] read": 100, "[kernel] faults and interrupts": 100,
                    "[kernel]": 50, "[no symbol] (libgone.so.1)": 100, "Builtin:Add": 30,
                    "[generated code]": 20, "__vdso_time": 10, "[waiting] poll": 50,
                    "[ready to run]": 30, "[no symbol] (demo)": 7}
        self.assertEqual({n: r["self_samples"] for n, r in rows.items() if r["self_samples"]}, expected)
        self.assertEqual(summary["samples"], 1000)
        self.assertEqual(summary["unattributed_samples"], 3)
        self.assertAlmostEqual(summary["samples"] / summary["samples_per_unit"], 1.0, places=12)
        self.assertAlmostEqual(rows["fact"]["self_time"], 0.2, places=12)

    def test_totals_are_true_stacks(self):
        rows, _ = self.flat(self.write(whole_run()))
        self.assertEqual(rows["fact"]["total_samples"], 200)     # recursion counts once
        self.assertEqual(rows["alpha"]["total_samples"], 600)
        self.assertEqual(rows["main"]["total_samples"], 890)
        self.assertEqual(rows["main"]["self_samples"], 0)

    def test_cut_stacks(self):
        rows, _ = self.flat(self.write(whole_run()))
        cut = rows["[stack cut: deeper than what was copied]"]
        self.assertEqual((cut["self_samples"], cut["total_samples"]), (0, 63))
        self.assertEqual(rows["[no symbol] (libgone.so.1)"]["unknown_callers"],
                         {"too_deep": 60, "no_unwind_table": 40})
        self.assertEqual(rows["main"]["unknown_callers"], {})
        graph = self.text("graph", "--entries", "--wide", "--force", self.write(whole_run()))
        self.assertRegex(graph, r"0\.06\d* .*\[stack cut: deeper than what was copied\]")

    def test_weights_are_the_samples_own(self):
        run = whole_run()
        run.sample([(0, MAIN)], weight=250 * PERIOD)
        run.sample([(0, MAIN)], 3, weight=1)
        rows, summary = self.flat(self.write(run))
        self.assertAlmostEqual(summary["samples"], 1250, places=5)
        self.assertAlmostEqual(rows["main"]["self_samples"], 250, places=5)
        self.assertEqual(summary["recording"]["samples_taken"], 924)  # the rest are waits

    def test_uneven_weights_are_less_certain(self):
        run = Run("x")
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.process(7, 1, demo, "demo")
        run.thread(0, 7)
        run.sample([(demo, MAIN)], 500)
        run.sample([(demo, ALPHA)], 500)
        even, _ = self.flat(self.write(run))
        run.sample([(demo, MAIN)], 1, weight=500 * PERIOD)
        run.sample([(demo, ALPHA)], 1, weight=500 * PERIOD)
        uneven, _ = self.flat(self.write(run))
        width = [t["main"]["self_share_high"] - t["main"]["self_share_low"] for t in (even, uneven)]
        self.assertEqual(even["main"]["self_share"], uneven["main"]["self_share"])
        self.assertGreater(width[1], 5 * width[0])

    def test_counting_is_no_part_of_the_program(self):
        run = whole_run()
        run.sample([(0, MAIN), (0, 0x401220)], 100)                 # mcount
        run.sample([(0, MAIN), (0, 0x401220), (1, FAULT)], 50)
        folder = self.write(run)
        rows, summary = self.flat(folder)
        self.assertEqual((summary["samples"], summary["profiler_samples"]), (1000, 150))
        self.assertEqual(rows["main"]["total_samples"], 890)
        self.assertNotIn("mcount", rows)
        self.assertIn("150 more in the recorder inside the program (-pg or libmonarc_rt), not included",
                      self.text("flat", "--force", "-v", folder))

    def test_rows_fit(self):
        """Rows have COLUMNS columns, 120 in a pipe without it; names are shortened, columns without data are none."""
        run = whole_run()
        folder = self.write(run)
        shown = {}
        for columns, room in ("", 120), ("100", 100), ("79", 80), ("no number", 120), ("-5", 120), ("99999999999", 10000):
            text = monarc("flat", "--all", "--force", folder, env={"COLUMNS": columns}).stdout.decode()
            shown[columns] = max(map(len, text.partition("\n\n")[2].split("\n\n")[0].splitlines()))
            self.assertLessEqual(shown[columns], room, columns)
        self.assertGreaterEqual(shown["100"], shown["79"])
        for report in ("flat",), ("flat", "--by-object"), ("graph", "--entries"), ("graph", "--tree"):
            rows = self.text(*report, "--force", folder).partition("\n\n")[2].splitlines()
            self.assertFalse([row for row in rows if len(row) > 80], report)
            self.assertNotIn("calls ", rows[0])
        narrow, wide = (self.text("flat", "--all", *more, "--force", folder, "--base", folder)
                        for more in ((), ("--wide",)))
        self.assertIn("cumulative", wide.partition("\n\n")[2].splitlines()[0])
        self.assertIn("[stack cut: deeper than what was copied]", wide)
        self.assertNotIn("[stack cut: deeper than what was copied]", narrow)

    def test_rows_without_time_of_their_own(self):
        """They are left out and counted, unless they are asked for in any way."""
        folder = self.write(whole_run())
        brief = self.text("flat", "--force", folder)
        everything = self.text("flat", "--sort", "total", "--force", folder)
        idle = [row for row in everything.partition("\n\n")[2].splitlines()
                if re.match(r" *0(\.0+)? +(\S+ +)?0(\.0+)? ", row) and "[unattributed]" not in row]
        self.assertTrue(idle)
        self.assertRegex(brief, rf"\[{len(idle)} more functions?, not shown: --all\]")
        self.assertNotIn("[stack cut", brief.partition("\n\n")[2])
        self.assertIn("[stack cut", everything)
        for option in (("--all",), ("--function", "/stack cut/")):
            self.assertIn("[stack cut", self.text("flat", *option, "--force", folder), option)
        limited = self.text("flat", "--limit", "1", "--force", folder)
        self.assertRegex(limited, r"more functions, not shown\]")

    def test_stacks_without_calls_are_a_tree(self):
        folder = self.write(whole_run())
        self.assertEqual(self.text("graph", "--force", folder),
                         self.text("graph", "--tree", "--force", folder))
        self.assertIn("index", self.text("graph", "--entries", "--force", folder))

    def test_nothing_is_left_of_samples_of_the_profiler_alone(self):
        """Their weights are added up in two orders, which differ in the last bit."""
        run = Run("./p")
        program = run.object(FILE, "/app/p", b"\7" * 20, low=0x1000, high=0x9000)
        run.symbols.append((program, 0x1000, 0x1000, "mcount"))
        run.process(7, 1, program, "p")
        run.thread(0, 7, "p")
        for weight, address in ((503555, 4104), (779859, 4120), (434440, 4104), (384958, 4112), (90668, 4120),
                                (696001, 4096), (816257, 4104)):
            run.sample([(program, address)], 1, weight=weight)
        self.assertEqual(monarc_json("flat", self.write(run))["summary"]["samples"], 0)

    def test_head_is_short(self):
        """What is above the table: the answer, what it is of, caveats. The rest on request."""
        folder = self.write(whole_run(cost=20 * PERIOD))
        for report in ("flat", "graph"):
            self.assertRegex(self.text(report, "--force", "-v", folder), r"\nSamples .*(\n.*)*\nCost ")
            self.assertNotRegex(self.text(report, "--force", folder), r"\n(Samples|Cost) ")
            self.assertLessEqual(self.text(report, "--force", folder).split("\n\n")[0].count("\n"), 8)

    def test_head(self):
        run = whole_run(cost=20 * PERIOD)
        run.losses.append((KERNEL_UNSEEN, 0, 80 * PERIOD, "the kernel may not be seen"))
        text = self.text("flat", "--force", "--verbose", self.write(run))
        self.assertRegex(text, r"^0\.920 s of CPU and 0\.080 s off it \(all threads\) in 1\.000 s: "
                               r"of the CPU, 33( \+- \d)? % in work\.isra\.0, called by alpha; off it, 6[23] % waiting in poll, "
                               r"called by main\n")
        self.assertRegex(text, r"(?m)^Program  \./demo a b$")
        self.assertRegex(text, r"(?m)^Profile  .*r, recorded 2026-09-2\d \d\d:\d\d:\d\d, 1\.000 s long$")
        self.assertRegex(text, r"(?m)^Samples  1000 of 0\.001 seconds each: 1\.000 seconds$")
        self.assertIn("0.920 s of 1.000 s CPU time accounted for (92.0 %)", text)
        self.assertIn("0.080 s (8.0 %): the kernel may not be seen", text)
        self.assertIn("89.7 % are complete, by time", text)
        self.assertIn("sampling took about 0.020 s", text)
        self.assertNotIn("Programs", text)

    def test_head_tells_work_and_waiting_apart(self):
        """Threads that idle do not hide what the others do."""
        run = Run("server", cpu=400 * PERIOD, user=400 * PERIOD)
        demo, wait = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(WAIT)
        run.events[0] = ("wall", *run.events[0][1:])
        run.process(7, 1, demo, "server")
        run.thread(0, 7)
        for frames, count in ([(demo, MAIN), (demo, ALPHA)], 100), ([(demo, MAIN), (demo, WORK)], 300), \
                ([(demo, MAIN), (wait, 202)], 3000), ([(demo, MAIN), (wait, 232)], 600):
            run.sample(frames, count)
        self.assertRegex(self.text("flat", self.write(run)),
                         r"^0\.400 s of CPU and 3\.600 s off it \(all threads\) in 1\.000 s: of the CPU, "
                         r"75( \+- \d+)? % in work\.isra\.0[^;]*; off it, 83 % waiting in futex")

    def test_head_says_who_works(self):
        """A driver that waits for its compiler leads in no sum of CPU time."""
        run = Run("make", cpu=500 * PERIOD, user=500 * PERIOD)
        make, cc, wait = run.object(FILE, "/b/make", b"\1" * 20), run.object(FILE, "/b/cc", b"\2" * 20), run.object(WAIT)
        run.symbols += [(make, 0x1000, 0x1000, "main"), (cc, 0x1000, 0x1000, "parse")]
        run.events[0] = ("wall", *run.events[0][1:])
        for number, (pid, file, name) in enumerate(((7, make, "make"), (8, cc, "cc"))):
            run.process(pid, pid - 1, file, name)
            run.thread(number, pid)
        run.sample([(make, 0x1000), (wait, 61)], 900)
        run.sample([(make, 0x1000)], 25)
        run.sample([(cc, 0x1000)], 475, thread=1)
        text = self.text("flat", self.write(run))
        self.assertRegex(text, r"^0\.500 s of CPU and 0\.900 s off it \(all threads\) in 1\.000 s: of the CPU, "
                               r"95 % by cc, 95 % in parse[^;]*; off it, 100 % waiting in wait4")
        self.assertIn("\nPrograms cc 95 %, make 5 %\n", text)

    def test_nothing_is_no_table(self):
        run = Run("sleep")
        run.process(7, 1, run.object(FILE, "/bin/sleep", b"\1" * 20), "sleep")
        run.thread(0, 7)
        text = self.text("flat", self.write(run))
        self.assertRegex(text, r"^less than 1 ms of CPU in 1\.000 s, and no samples")
        self.assertNotIn("self%", text)

    def test_errors_of_uneven_weights_are_their_scatter(self):
        """Strata of few samples, with weights as distances between random looks have: over some recordings, the
        standard error that is printed is that of drawing each sample. Its square is 0 to 15 % more, as the lesser
        of two estimates is taken."""
        draw = seeds.generator("errors of uneven weights")
        sequential.measure("errors of uneven weights", lambda: self.errors_of_uneven_weights(draw))

    def errors_of_uneven_weights(self, draw):
        printed, known = 0, 0
        for _ in range(12):
            run = Run("x")
            demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
            run.process(7, 1, demo, "demo")
            run.thread(0, 7)
            weights = [int(draw.expovariate(1) * PERIOD) + 1 for _ in range(400)]
            for i, weight in enumerate(weights):
                run.sample([(demo, MAIN if draw.random() < 0.4 else ALPHA)], 1, slice=i, weight=weight)
            rows, _ = self.flat(self.write(run))
            printed += ((rows["main"]["self_share_high"] - rows["main"]["self_share_low"]) / 2 / 1.96) ** 2
            known += 0.4 * 0.6 * sum(w * w for w in weights) / sum(weights) ** 2
        with sequential.scattering():
            self.assertGreater(printed / known, 0.93)
            self.assertLess(printed / known, 1.22)

    def test_intervals_have_room_for_time_without_a_place(self):
        def intervals(*losses):
            run = whole_run()
            run.losses.append((KERNEL_UNSEEN, 0, 80 * PERIOD, "the kernel may not be seen"))  # the rest
            run.losses += losses
            rows = monarc_json("flat", "--force", self.write(run))["functions"]
            return {f["name"]: [f[key] for key in ("self_share_low", "self_share_high", "total_share_low",
                                                   "total_share_high")] for f in rows}
        known, part = intervals(), intervals((UNPLACED, 0, 250 * PERIOD, "while they left a CPU"))
        for name, (low, high, total_low, total_high) in known.items():
            wanted = [0.8 * low, 0.8 * high + 0.2, 0.8 * total_low, 0.8 * total_high + 0.2]
            for is_there, should in zip(part[name], wanted):
                self.assertAlmostEqual(is_there, should, delta=2e-5, msg=name)
        self.assertEqual(intervals((RECORDS, 9, 250 * PERIOD, "the buffer was full")), part)

    def test_few_and_no_samples(self):
        run = Run("x", user=10**8)
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.process(7, 1, demo, "demo")
        run.thread(0, 7)
        self.assertIn("no samples were taken: run it for longer", self.text("flat", self.write(run)))
        run.sample([(demo, MAIN)], 29)
        self.assertIn("29 samples say little", self.text("flat", self.write(run)))
        run.sample([(demo, MAIN)], 1)
        self.assertNotIn("say little", self.text("flat", self.write(run)))

    def test_no_sample_of_a_program_that_waits(self):
        """A clock that nothing kept from running says that there was no CPU time."""
        def text(losses=(), **facts):
            run = Run("x", **facts)
            demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
            run.process(7, 1, demo, "demo")
            run.thread(0, 7)
            run.losses.extend(losses)
            return self.text("flat", self.write(run))
        self.assertRegex(text(), r"^less than 1 ms of CPU in 1\.000 s, and no samples: it waited\n")
        self.assertIn("no samples were taken: record with --off-cpu to see what it waited for", text())
        self.assertIn("no samples were taken: run it for longer", text(length=10**9 - 1))
        self.assertIn("no samples were taken: run it for longer", text([(KERNEL_UNSEEN, 0, PERIOD, "not seen")]))

    def test_work_and_waits_stand_apart(self):
        """Work comes first however long the program waited, with shares of the CPU time; of a limit, waits get a third."""
        run = Run("x")
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        wait = run.object(WAIT)
        run.process(7, 1, demo, "demo")
        run.thread(0, 7)
        run.sample([(demo, MAIN), (demo, ALPHA)], 750)
        run.sample([(demo, MAIN)], 200)
        run.sample([(demo, MAIN), (demo, PING)], 50)
        for i, weight in enumerate((2000, 500, 300, 200)):
            run.sample([(demo, MAIN), (demo, ALPHA), (wait, i)], weight)
        folder = self.write(run)
        work, waits = self.tables(self.text("flat", "--force", folder))
        self.assertEqual(work[0].split()[-3:], ["on", "the", "CPU"])
        self.assertEqual([row.split() for row in work[1:]],
                         [["75.0", "0.750", "75.0", "0.750", "alpha"], ["20.0", "2.5", "0.200", "100.00", "1.000", "main"],
                          ["5.0", "1.4", "0.050", "5.0", "0.050", "ping"]])
        self.assertEqual(waits[0].split(), ["self%", "+-", "self", "s", "off", "the", "CPU"])
        self.assertEqual([row.split()[:2] for row in waits[1:]],
                         [["66.67", "2.000"], ["16.67", "0.500"], ["10.00", "0.300"], ["6.67", "0.200"]])
        for limit, on, off in (1, 1, 0), (2, 1, 1), (3, 2, 1), (4, 3, 1), (5, 3, 2), (6, 3, 3):
            parts = self.tables(self.text("flat", "--force", "-n", str(limit), folder))
            found = [sum("[waiting]" in row for row in part) for part in parts]
            self.assertEqual((len(parts[0]) - 1 - sum("more" in row for row in parts[0]), sum(found)), (on, off), parts)
        # JSON and CSV stay one list, with shares of all and the waits in totals.
        rows, _ = self.flat(folder)
        self.assertEqual((rows["alpha"]["self_share"], rows["main"]["total_samples"]), (0.1875, 4000))
        # What has one kind alone has one table.
        self.assertEqual(len(self.tables(self.text("flat", "--force", "-f", "/waiting/", folder))), 1)

    @staticmethod
    def tables(text):
        """The rows of each table below a head with self%, heads included."""
        parts = [part.splitlines() for part in text.split("\n\n")]
        return [part for part in parts if part[0].lstrip().startswith("self%")]

    def test_few_samples_of_a_program_that_waits(self):
        """It is not advised to run for longer; from a tenth of a CPU on, it is, and where waits were recorded."""
        def text(*frames, **facts):
            run = Run("x", **facts)
            demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
            run.process(7, 1, demo, "demo")
            run.thread(0, 7)
            run.sample([(demo, MAIN), *((run.object(WAIT, "w"), address) for address in frames)], 7)
            return self.text("flat", self.write(run)) + self.text("doctor", self.write(run), status=1)
        advice = "7 samples say little: 0.099 s of CPU in 1.0 s; record with --off-cpu to see what it waited for"
        waiting = text(user=99 * 10**6)
        self.assertIn(advice, waiting)
        self.assertIn("remedy  0.099 s of CPU in 1.0 s; record with --off-cpu", waiting)
        self.assertRegex(waiting, r"^0\.\d+ s of CPU in 1\.000 s, and it waited for the rest: ")
        self.assertNotIn("run it for longer", waiting)
        for other in (text(user=10**8), text(user=0), text(user=99 * 10**6, length=10**9 - 1)):
            self.assertIn("say little: run it for longer", other)
        self.assertNotIn("--off-cpu", text(7, user=99 * 10**6))
    def test_by_object(self):
        table = monarc_json("flat", "--by-object", "--force", self.write(whole_run()))
        check_schema(self, "shares", table)
        rows = {r["name"]: r["self_samples"] for r in table["rows"]}
        self.assertEqual(rows, {str(DEMO): 507, "[kernel]": 250, "[waiting]": 80, "[vdso]": 10,
                                "[generated code]": 50, "/nonexistent/libgone.so.1": 100})
        self.assertEqual(table["unattributed_samples"], 3)

    def test_other_reports(self):
        folder = self.write(whole_run())
        graph = monarc_json("graph", "--force", folder)
        check_schema(self, "graph", graph)

    def test_objects_of_arcs(self):
        text = self.text("graph", "--entries", "--csv", "--force", self.write(whole_run()))
        arcs = list(csv.DictReader(io.StringIO(text)))
        [gone] = {a["callee_object"] for a in arcs if "libgone" in a["callee"]}
        self.assertEqual(gone, "libgone.so.1")
        self.assertLessEqual({"", "kernel"}, {a["callee_object"] for a in arcs})

    def test_addresses_are_linked_ones(self):
        """In every form: those of `nm`, wherever the program was loaded."""
        folder = self.write(whole_run())
        flat = {f["name"]: f["address"] for f in monarc_json("flat", "--all", "--force", folder)["functions"]}
        arcs = csv.DictReader(io.StringIO(self.text("graph", "--entries", "--csv", "--force", folder)))
        found = {a[end]: a[end + "_address"] for a in arcs for end in ("caller", "callee") if a[end]}
        self.assertGreater(len(found), 3)
        self.assertEqual(found, {name: flat[name] for name in found})


class Trees(Case):
    """Several processes and programs."""

    def make(self):
        run = Run("make", "-j2", user=1000 * PERIOD)
        self.make_, self.cc = (run.object(FILE, f"/nonexistent/{n}", low=0x1000, high=0x2000)
                               for n in ("make", "cc1"))
        run.process(10, 1, self.make_, "make", user=100 * PERIOD, status=0)
        for i in range(3):
            run.process(11 + i, 10, self.cc, "cc1", user=300 * PERIOD, status=9 if i == 2 else 0,
                        why="cut short" if i == 2 else None)
        for i in range(4):
            run.thread(i, 10 + i, f"t{i}", 300 * PERIOD)
        run.sample([(self.make_, 0x1000)], 100)
        for i in range(3):
            run.sample([(self.cc, 0x1000)], 300, thread=1 + i, slice=10 + 30 * i)
        return run

    def test_programs(self):
        folder = self.write(self.make())
        self.assertRegex(self.text("flat", "--force", folder), r"(?m)^Programs cc1 90 %, make 10 %$")
        rows, summary = self.flat("--program", "make", folder)
        self.assertEqual(summary["samples"], 100)
        self.assertEqual(summary["recording"]["part"], "program make")
        rows, summary = self.flat("--process", "12", folder)
        self.assertEqual([r["self_samples"] for r in rows.values()], [300])
        self.assertIn("ran 'ld'", self.refusal("flat", "--force", "--program", "ld", folder))
        self.assertIn("no process 99", self.refusal("flat", "--force", "--process", "99", folder))

    def test_index(self):
        folder = self.write(self.make())
        table = monarc_json("flat", "--force", "--by-process", folder)
        check_schema(self, "shares", table)
        self.assertEqual([(r["pid"], r["parent_pid"], r["name"], r["self_samples"], r["exit_status"],
                           r["signal"], r["user_ns"]) for r in table["rows"]],
                         [(10, 1, "make", 100, 0, None, 100 * PERIOD),
                          (11, 10, "cc1", 300, 0, None, 300 * PERIOD),
                          (12, 10, "cc1", 300, 0, None, 300 * PERIOD),
                          (13, 10, "cc1", 300, None, 9, 300 * PERIOD)])
        text = self.text("flat", "--force", "--by-process", folder)
        self.assertRegex(text, r"13 +10 +SIGKILL +cc1  \(cut short\)")

    def test_how_processes_ended(self):
        run = self.make()
        ends = {20: ("?", dict(status=None)), 21: ("runs", dict(status=None, end=0)), 22: ("3", dict(status=3 << 8)),
                23: ("SIGTERM", dict(status=15)), 24: ("SIGSEGV", dict(status=11 | 128)), 25: ("0", dict(status=0))}
        for pid, (_, more) in ends.items():
            run.thread(run.process(pid, 1, self.cc, "p", **more), pid, "t", PERIOD)
            run.sample([(self.cc, 0x1000)], 10, thread=len(run.threads) - 1)
        text = self.text("flat", "--force", "--by-process", self.write(run))
        shown = {int(pid): end for pid, end in re.findall(r"(?m) (\d+) +1 +(\S+) +cc1$", text)}
        self.assertEqual(shown, {pid: end for pid, (end, _) in ends.items()}, text)

    def test_throttled(self):
        """Where the kernel throttled sampling, no advice is to sample more often."""
        run = Run("x")
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.process(1, 0, demo, "demo")
        run.thread(0, 1, "demo")
        run.sample([(demo, MAIN)], 7)
        folder = self.write(run)
        self.assertIn("say little: run it for longer, or with a higher --rate", self.text("flat", "--force", folder))
        run.losses += [(THROTTLED, 3, 0, "the kernel throttled sampling"), (UNPLACED, 0, 9 * PERIOD, "CPU time unseen")]
        self.write(run, "throttled")
        text = self.text("flat", "--force", "throttled") + self.text("doctor", "throttled", status=1)
        self.assertIn("say little: run it for longer", text)
        self.assertNotIn("higher --rate", text)

    @slow
    def test_many_processes(self):
        """Time grows with their number, not with its square."""
        run, many = Run("x"), 100000
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        for i in range(many):
            run.process(i + 1, 0, None, f"a process of some name, {i:06}")
        run.thread(0, 1, "demo")
        run.sample([(demo, MAIN)], 10)
        done = monarc_limited("flat", "--force", "--by-process", self.write(run), cwd=self.dir, seconds=10)
        self.assertEqual((done.returncode, done.stdout.count(b"a process of")), (0, many), done.stderr)

    @slow
    def test_many_functions_without_build_ids(self):
        """Whether two files of one path are the same build is found in time that grows with their functions."""
        many = 100000
        names = [f"f{i}".encode() for i in range(many)]
        excerpt = (leb(1, 62, 0, 3, 1 | 4 | 16, 1, 12345, signed(1790000000), 0, 0, many)
                   + b"".join(leb(len(name)) + name for name in names) + leb(many)
                   + b"".join(leb(16, 15, i + 1) + leb(signed(1), 16, 0) for i in range(many)) + leb(0, 0))
        for name in "ab":
            run = Run("x")
            one = run.object(FILE, "/gone/prog", high=2**30)
            run.process(1, 0, one, "prog")
            run.thread(0, 1, "prog")
            run.sample([(one, 20)], 10)
            run.excerpts.append((one, excerpt))
            run.write(self.dir / name)
        done = monarc_limited("merge", "-o", "both", "a", "b", cwd=self.dir, seconds=10)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("f0", self.text("flat", "--force", "both"))

    def test_times_of_processes(self):
        """Of one that still runs there is no elapsed time, and of one CPU time that nobody knows."""
        run = Run("x")
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        ends = {20: (3 << 8, 10**9, "3"), 21: (9, 10**9, "SIGKILL"), 22: (None, 10**9, "?"), 23: (None, 0, "runs"),
                24: (0, 10**9, "0"), 25: (11 | 0x80, 10**9, "SIGSEGV"), 26: (40, 10**9, "SIG40")}
        for i, (pid, (status, end, _)) in enumerate(ends.items()):
            run.process(pid, 1, demo, "demo", status=status, end=end, start=10**8)
            run.thread(i, pid, "demo", None if pid == 24 else 10 * PERIOD)
            run.sample([(demo, MAIN)], 10 - i, thread=i)
        text = self.text("flat", "--force", "--by-process", self.write(run))
        rows = {int(row[5]): row for row in (line.split() for line in text.splitlines()) if len(row) == 9 and row[5].isdigit()}
        self.assertEqual({pid: row[7] for pid, row in rows.items()}, {pid: shown for pid, (_, _, shown) in ends.items()}, text)
        self.assertEqual({pid: row[3:5] for pid, row in rows.items()},
                         {pid: ["?" if pid == 24 else "0.010", "0.000" if pid == 23 else "0.900"] for pid in ends}, text)

    def test_threads(self):
        table = monarc_json("flat", "--force", "--by-thread", self.write(self.make()))
        check_schema(self, "shares", table)
        self.assertEqual({(r["pid"], r["thread"], r["name"], r["self_samples"]) for r in table["rows"]},
                         {(10 + i, 10 + i, f"t{i}", 300 if i else 100) for i in range(4)})

    def test_time(self):
        folder = self.write(self.make())   # slices of 10 ms: 0, 10, 40, 70
        for limits, samples in ((["--to", "0.1"], 100), (["--from", "0.1", "--to", "0.5"], 600),
                                (["--from", "0.405"], 600), (["--from", "0.4051"], 300)):
            self.assertEqual(self.flat(*limits, folder)[1]["samples"], samples, limits)

    def test_contradictions(self):
        folder = self.write(self.make())
        for options, said in ((("--from", "5", "--to", "1"), "--from 5 is later than --to 1"),
                              (("--process", "1", "--process", "2"), "given once"),
                              (("--thread", "a", "--thread", "b"), "given once")):
            self.assertIn(said, self.refusal("flat", "--force", *options, folder))

    def test_phases(self):
        run = self.make()
        run.marks += [(0, 0, 0, 10, "load"), (300 * PERIOD, 1, 2, 12, "solve"),
                      (350 * PERIOD, 1, 2, 12, "solve"), (500 * PERIOD, 2, 2, 12, "solve"),
                      (900 * PERIOD, 0, 0, 10, "save")]
        folder = self.write(run)
        self.assertEqual(self.flat("--phase", "load", folder)[1]["samples"], 100)
        self.assertEqual(self.flat("--phase", "solve", folder)[1]["samples"], 300)
        self.assertIn("'rest'", self.refusal("flat", "--force", "--phase", "rest", folder))

    def test_what_stacks_are_shown_without(self):
        """Functions and objects that are left out give their time to their callers."""
        folder = self.write(whole_run())
        def rows(*options):
            answer = monarc_json("graph", "--tree", "--min-percent", "0", *options, "--force", folder)
            tree = answer["trees"][0]["rows"]
            names = [row["name"] for row in tree]
            return names, sum(row["total_samples"] for row in tree if row["depth"] == 0)
        names, whole = rows()
        self.assertGreater(names.count("fact"), 1)
        folded, total = rows("--fold-recursion")
        self.assertLess(folded.count("fact"), names.count("fact"))
        self.assertAlmostEqual(total, whole)
        without, total = rows("--drop-function", "fact")
        self.assertNotIn("fact", without)
        self.assertAlmostEqual(total, whole)
        without, _ = rows("--drop-object", "libgone.so.1")
        self.assertFalse([name for name in without if "libgone" in name])
        for options, message in ((("--drop-function", "nope"), "has no function 'nope'"),
                                 (("--function", "fakt"), "has no function 'fakt'; did you mean 'fact'?"),
                                 (("--drop-object", "nope.so"), "has no object 'nope.so'"),
                                 (("--entries", "--fold-recursion"), "go with trees of recorded stacks")):
            answer = monarc("graph", *options, "--force", folder)
            self.assertEqual((answer.returncode, answer.stdout), (2, b""))
            self.assertIn(message, answer.stderr.decode())

    @slow
    def test_functions_have_the_same_names_in_every_command(self):
        """What people type for a function is one thing: the table has a row for each way to say it."""
        run = whole_run()
        run.sample([(0, MAIN + 8), (0, OPEN)], 50)
        folder = self.write(run)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.assertEqual(monarc("store", "add", "--commit", "a", "--force", folder, cwd=scratch.name).returncode, 0)
        Path(scratch.name, "named.c").write_text(
            "void open(int) __asm__(\"_ZN3box4openEi\");\nvoid open(int x) { __asm__ volatile(\"nop\"); }\n"
            "void work(void) __asm__(\"work.isra.0\");\nvoid work(void) { __asm__ volatile(\"nop\"); }\n"
            "void alpha(void) {}\nvoid _start(void) { alpha(), open(1), work(); for (;;) continue; }\n")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O0", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie",
                        "-fno-sanitize=all", "-fno-stack-protector", "-o", "named", "named.c"],
                       cwd=scratch.name, check=True)
        symbols = [line.split() for line in subprocess.run([*NM, "named"], cwd=scratch.name, check=True,
                                                           capture_output=True, text=True).stdout.splitlines()]
        low = min(int(at, 16) for at, kind, *_ in symbols if kind in "tT") & ~1
        Path(scratch.name, "gmon.out").write_bytes(gmon([(low, low + 128, [2] * 64)]))
        operands = {"path": (folder,), "store": (), "diff": (folder, folder), "check": (folder, "--baseline", folder),
                    "lines": ("named", "gmon.out"), "annotate": ("named", "gmon.out")}
        commands = [
            ("flat", "--function", "{}"), ("flat", "--ignore", "{}"), ("graph", "--tree", "--function", "{}"),
            ("graph", "--entries", "--function", "{}"), ("graph", "--callers", "{}"), ("graph", "--callees", "{}"),
            ("graph", "--tree", "--drop-function", "{}"), ("lines", "--function", "{}"),
            ("annotate", "--function", "{}"), ("export", "--format", "folded", "--function", "{}"),
            ("flame", "-o", "-", "--function", "{}"), ("html", "-o", "-", "--function", "{}"),
            ("diff", "--function", "{}"), ("path", "--if", "{}=2x"),
            ("check", "--max-share-growth", "{}=50"), ("store", "trend", "{}")]
        # box::open(int) has parameters, work a suffix of a clone.
        names = {"_ZN3box4openEi": ["box::open", "open", "::box::open", "box::open(int)", "/^box::op/"],
                 "work.isra.0": ["work", "/work/"]}
        for command in commands:
            def figures(answer, name):  # without what repeats the name as typed
                text = answer.stdout.decode()
                return text.replace(f"{name}=2x", "").replace(f"{name} of ", "")

            def said(name):
                words = [word.format(name) for word in command]
                force = () if command[0] == "store" else ("--force",)
                return monarc(*words, *force, *operands.get(command[0], (folder,)), cwd=scratch.name)
            for linkage, forms in names.items():
                wanted = said(linkage)
                self.assertIn(wanted.returncode, (0, 1), (command, wanted.stderr))
                for name in forms:
                    answer = said(name)
                    self.assertEqual((answer.returncode, figures(answer, name)),
                                     (wanted.returncode, figures(wanted, linkage)), (command, name, answer.stderr))
            if command[0] != "check":
                self.assertNotEqual(*(figures(said(name), name) for name in names), command)
            if command[:2] not in (("flat", "--ignore"), ("check", "--max-share-growth")):
                answer = said("alhpa")
                self.assertEqual((answer.returncode, answer.stdout), (2, b""), command)
                self.assertIn("has no function 'alhpa'; did you mean 'alpha'?", answer.stderr.decode(), command)
            answer = said("/(/")
            self.assertEqual((answer.returncode, answer.stdout), (2, b""), command)
            self.assertIn("'(' is not a regular expression", answer.stderr.decode(), command)

    def test_tree_of_the_stacks_through_a_function(self):
        folder = self.write(whole_run())
        def rows(*options):
            return monarc_json("graph", "--tree", "--min-percent", "0", *options, "--force", folder)["trees"][0]["rows"]
        of_fact = monarc_json("graph", "--callees", "fact", "--force", folder)["trees"][0]["rows"][0]["total_samples"]
        every, some = rows(), rows("--function", "fact")
        self.assertLess(len(some), len(every))
        self.assertAlmostEqual(sum(row["total_samples"] for row in some if row["depth"] == 0), of_fact)
        self.assertLess(of_fact, sum(row["total_samples"] for row in every if row["depth"] == 0))
        self.assertEqual(rows("--function", "/./"), every)
        text = monarc("graph", "--function", "fact", "--force", folder).stdout.decode()
        self.assertIn("total%", text)
        self.assertIn("\n>: the only path on; (+N more): too deep, or each below 0.5 % of all samples\n", text)

    def test_choices_need_a_recording(self):
        self.assertIn("name one", self.refusal("flat", "--process", "7", DEMO, "gmon.out"))

    def test_a_recording_is_named_without_its_program(self):
        said = self.refusal("flat", DEMO, self.write(whole_run()))
        self.assertIn(f"leave '{DEMO}' out", said)


class Events(Case):
    def make(self):
        run = whole_run()
        run.events.append(("cache-misses", 1, 0, 1))
        run.sample([(0, PING)], 2, event=1, weight=900)
        run.sample([(0, WORK)], 1, event=1, weight=100)
        return run

    def test_side_by_side(self):
        folder = self.write(self.make())
        rows, _ = self.flat(folder)
        self.assertEqual(rows["ping"]["events"],
                         [{"name": "cache-misses", "self_share": 0.9, "self_samples": 900 / 333}])
        self.assertEqual(rows["ping"]["self_samples"], 0)
        text = self.text("flat", "--force", folder)
        self.assertRegex(text, r"(?m)^ *self% .* cache-misses%  on the CPU$")
        self.assertRegex(text, r"(?m) 32\.6 .* 10\.0 +work\.isra\.0$")
        table = list(csv.DictReader(io.StringIO(self.text("flat", "--force", "--csv", folder))))
        self.assertEqual([r["self_share of cache-misses"] for r in table if r["name"] == "ping"], ["0.9"])

    def test_one_event(self):
        folder = self.write(self.make())
        rows, summary = self.flat("--event", "cache-misses", folder)
        self.assertEqual(summary["dimension"], "cache misses")
        self.assertAlmostEqual(summary["samples"] / summary["samples_per_unit"], 1000)
        self.assertAlmostEqual(rows["ping"]["self_time"], 900)
        self.assertNotIn("events", rows["ping"])
        self.assertIn("there is cpu, cache-misses",
                      self.refusal("flat", "--force", "--event", "cycles", folder))


class Several(Case):
    def test_two_recordings(self):
        first, second = self.write(whole_run(), "a"), self.write(whole_run(), "b")
        rows, summary = self.flat(first, second)
        once, _ = self.flat(first)
        self.assertEqual(summary["samples"], 2000)
        self.assertEqual({n: r["self_samples"] for n, r in rows.items()},
                         {n: 2 * r["self_samples"] for n, r in once.items()})
        self.assertEqual({n: r["total_samples"] for n, r in rows.items()},
                         {n: 2 * r["total_samples"] for n, r in once.items()})
        self.assertEqual(self.flat("--from", "1", first, second)[1]["samples"], 1000)
        self.assertIn("other recordings only", self.refusal("flat", first, DEMO))

    def test_merge(self):
        first, second = self.write(whole_run(), "a"), self.write(whole_run(), "b")
        self.assertEqual(self.text("flat", "--force", first, second).splitlines()[3:],
                         self.merged("a", "b"))
        self.assertIn("holds a recording already", self.refusal("merge", "-o", "sum", "a", "b"))
        (self.dir / "gmon.out").write_bytes(gmon([(0x401000, 0x401010, [1])]))
        self.assertIn("is not a recording", self.refusal("merge", "-o", "sum2", "a", "gmon.out"))
        self.assertFalse((self.dir / "sum2").exists())

    def merged(self, *inputs):
        self.assertEqual(monarc("merge", "-o", "sum", *inputs, cwd=self.dir).stderr, b"")
        return self.text("flat", "--force", "sum").splitlines()[3:]

    def test_calls_of_processes(self):
        """Folders of processes add exact calls, and none of their samples."""
        run = Run("./p")
        p = run.object(FILE, "/bin/p", bytes(range(20)), low=0x1000, high=0x2000)
        run.process(7, 1, p, "p")
        run.thread(0, 7)
        run.sample([(p, 0x1010)], 5)
        folder = self.write(run)
        before, summary = self.flat(folder)
        self.assertEqual(summary["calls"], 0)
        for name in "7", "7.2":
            (folder / name).mkdir()
            (folder / name / "monarc.side").write_bytes(sidecar_file("le64"))
        (folder / "notes").mkdir()
        after, summary = self.flat(folder)
        self.assertEqual(summary["samples"], 5)
        self.assertEqual(summary["calls"], 2002)
        self.assertEqual(after["[no symbol] (q)"]["calls"], 2000)
        self.assertEqual(self.flat(folder, folder)[1]["calls"], 4004)
        monarc("merge", "-o", "sum", folder, cwd=self.dir)
        self.assertEqual(self.flat("sum")[1]["calls"], 2002)

    def test_calls_that_are_missing(self):
        """What a killed process left takes its own calls away, and says so."""
        folder = self.write(whole_run())
        for name in "7", "8":
            (folder / name).mkdir()
        (folder / "7/monarc.side").write_bytes(sidecar_file("le64")[:-9])
        (folder / "8/monarc.live").write_bytes(bytes(4096))
        _, summary = self.flat(folder)
        self.assertEqual((summary["samples"], summary["calls"]), (1000, 0))
        notes = "\n".join(summary["notes"])
        self.assertIn("calls of the process in folder 7 are missing", notes)
        self.assertRegex(notes, r"folder 8 are missing: .*'monarc recover .*/8' completes it")


class Newest(Case):
    def test_newest_is_taken(self):
        shutil.copy(DEMO, self.dir / "demo")
        side = self.write(whole_run(), "demo.monarc") / "monarc.side"
        text = self.text("flat", "--force", "./demo")
        self.assertIn("Profile  demo.monarc, recorded", text)
        self.assertNotIn("newer", text)
        (self.dir / "gmon.out").write_bytes(gmon([(0x401000, 0x401240, [3] * 144)]))
        os.utime(self.dir / "gmon.out", (1e9, 1e9))
        self.assertRegex(self.text("flat", "--force", "./demo"),
                         r"the recording is newer than gmon.out of 2001-09-09 \d\d:46:40")
        os.utime(side, (1e9 - 60, 1e9 - 60))
        text = self.text("flat", "./demo")
        self.assertIn("Profile  gmon.out\n", text)
        self.assertRegex(text, r"gmon.out is newer than the recording of 2001-09-09 \d\d:45:40")
        self.assertNotIn("newer", self.text("flat", "./demo", "gmon.out"))

    def test_without_operands(self):
        """The newest recording in the folder, by the time of its file; a.out if gmon.out is newer."""
        for command in "flat", "graph", "lines", "annotate", "flame", "html", "tui", "doctor", "export":
            more = ["--format", "folded"] if command == "export" else []
            said = self.refusal(command, *more)
            self.assertIn(f"{command} needs a PROGRAM or a RECORDING, and none is in this folder", said)
        for name, at in ("b.monarc", 2e9), ("a.monarc", 1e9), ("c.monarc", 1.5e9):
            os.utime(self.write(whole_run(), name) / "monarc.side", (at, at))
        (self.dir / "d.monarc").mkdir()  # one that failed
        (self.dir / "e.monarc").write_bytes(b"")
        for command in "flat", "graph":
            self.assertIn("b.monarc", self.text(command, "--force"), command)
        self.assertIn(b"b.monarc", monarc("doctor", cwd=self.dir).stdout)
        self.assertEqual(monarc("html", "--force", "-o", "page.html", cwd=self.dir).returncode, 0)
        self.assertTrue((self.dir / "page.html").stat().st_size)
        (self.dir / "gmon.out").write_bytes(gmon([(0x401000, 0x401240, [3] * 144)]))
        self.assertIn("b.monarc", self.text("flat", "--force"))
        os.utime(self.dir / "gmon.out", (2e9 + 1, 2e9 + 1))
        self.assertIn("gmon.out is the newest profile here, and names no program", self.refusal("flat"))
        shutil.copy(DEMO, self.dir / "a.out")
        self.assertIn("Profile  gmon.out\n", self.text("flat"))


class Others(Case):
    def test_info(self):
        folder = self.write(whole_run())
        found = monarc_json("info", folder)
        wanted = schema("info")["$defs"]["whole_run"]
        self.assertEqual(validate(found["files"][0], wanted), [])
        file = found["files"][0]
        self.assertEqual((file["format"], file["frames"], file["stacks"], file["user_ns"]),
                         ("run", 20, 1000, 700 * PERIOD))
        self.assertEqual(file["events"][0]["samples"], 1000)
        text = monarc("info", folder).stdout.decode()
        self.assertIn("command: ./demo a b\n", text)
        self.assertIn("ended with status 3\n", text)

    def doctor(self, run):
        folder = self.write(run)
        found = monarc_json("doctor", folder)
        check_schema(self, "doctor", found)
        text = monarc("doctor", folder).stdout.decode()
        self.assertNotIn("record it with monarc", text)
        for finding in found["findings"]:
            self.assertIn(f"[{finding['name']}]", text)
        return {f["name"]: (f["severity"], f["evidence"]) for f in found["findings"]}

    def test_cut_stacks_count_by_what_they_weigh(self):
        """Half of the samples may have a tenth of the time: flat and doctor say how much the totals lack."""
        for event, said in (("cpu", 0, PERIOD, 0), "time"), (("page-faults", 1, PERIOD, 0), "count"):
            run = Run("demo", stacks=100, whole=50)
            run.events = [event]
            demo, cut = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(CUT)
            run.thread(run.process(7, 1, demo, "demo"), 7, "demo")
            run.sample([(demo, MAIN)], 50, weight=90 * PERIOD)
            run.sample([(cut, DEEP), (demo, WORK)], 50, weight=10 * PERIOD)
            found = self.doctor(run)
            self.assertTrue(found["incomplete-stacks"][1].startswith(f"90.0 % are complete, by {said}; "), found)
            text = monarc("flat", "--verbose", "r", cwd=self.dir).stdout.decode()
            self.assertIn(f"Stacks   90.0 % are complete, by {said}; ", text)
            self.assertEqual(monarc_json("flat", "r", cwd=self.dir)["summary"]["recording"]["whole_stacks"], 0.5)

    def test_doctor(self):
        run = whole_run()
        run.losses += [(RECORDS, 12, 0, "the buffer was full"), (UNSEEN, 1, 90 * PERIOD, "setuid")]
        run.processes[0]["why"] = "attached late"
        found = self.doctor(run)
        self.assertEqual(found["no-file"],
                         ("warning", "/nonexistent/libgone.so.1 has 10.0 % of the samples"))
        self.assertEqual(found["lost-records"][0], "warning")
        self.assertEqual(found["unseen-time"], ("warning", "0.090 s: setuid"))
        self.assertIn("attached late", str(found["unseen-processes"]))
        self.assertIn("89.7 % are complete, by time", found["incomplete-stacks"][1])
        self.assertIn("10.0 % end in /nonexistent/libgone.so.1", found["incomplete-stacks"][1])
        self.assertEqual(found["unaccounted"][1], "0.920 s of 1.000 s are accounted for")
        self.assertIn("generated-code", found)
        self.assertNotIn("kernel-heavy", found)

    def test_doctor_on_stacks_that_are_cut(self):
        """What helps depends on why: tables do nothing for a stack that is deeper than its copy."""
        for reason, remedy in (DEEP, "--method ptrace"), (NO_TABLE, "-fasynchronous-unwind-tables"):
            run = Run("x", user=1000 * PERIOD)
            demo, cut = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(CUT)
            run.process(7, 1, demo, "demo")
            run.thread(0, 7)
            run.sample([(cut, reason), (demo, WORK)], 900)
            run.sample([(demo, MAIN), (demo, WORK)], 100)
            self.assertIn("incomplete-stacks", self.doctor(run))
            found = {f["name"]: f["remedy"] for f in monarc_json("doctor", "r", cwd=self.dir)["findings"]}
            self.assertIn(remedy, found["incomplete-stacks"])

    def test_doctor_on_a_kernel_program(self):
        run = Run("x", user=PERIOD, system=899 * PERIOD)
        demo, kernel = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(KERNEL)
        run.process(7, 1, demo, "demo")
        run.thread(0, 7)
        run.sample([(demo, MAIN), (kernel, 1)], 600)
        run.sample([(demo, MAIN), (kernel, 0)], 300)
        found = self.doctor(run)
        self.assertEqual(set(found), {"kernel-heavy"})
        self.assertEqual(found["kernel-heavy"], ("note", "[kernel] write 66.7 %, [kernel] read 33.3 %"))

    def run_of_threads(self, steps, period, run_length=1, threads=2, method=1):
        """Threads that each take `steps` samples, of two functions in turn."""
        run = Run("x", user=threads * 900 * PERIOD, method=method)
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.process(7, 1, demo, "demo")
        for thread in range(threads):
            run.thread(0, 7 + thread)
        for step in range(steps):
            for thread in range(threads):
                place = WORK if step // run_length % 2 else ALPHA
                run.sample([(demo, MAIN), (demo, place)], thread=thread, slice=step, weight=period(thread))
        return run

    def test_doctor_on_clocks_that_keep_their_periods(self):
        kept = [PERIOD * 3 // 4, PERIOD]
        found = self.doctor(self.run_of_threads(900, lambda thread: kept[thread]))
        self.assertEqual(found["kept-periods"][0], "note")
        self.assertIn("2 threads with 100.0 % of the CPU time", found["kept-periods"][1])
        drawn = seeds.generator("doctor on clocks that keep their periods")
        for other in (self.run_of_threads(900, lambda thread: PERIOD * drawn.randint(250, 1750) // 1000),
                      self.run_of_threads(900, lambda thread: PERIOD, run_length=50),
                      self.run_of_threads(900, lambda thread: PERIOD, threads=1),
                      self.run_of_threads(100, lambda thread: PERIOD + thread, threads=20),
                      self.run_of_threads(900, lambda thread: PERIOD, method=4)):
            self.assertNotIn("kept-periods", self.doctor(other))

    def test_doctor_on_another_build(self):
        run = whole_run()
        run.objects[0] = (FILE, str(DEMO), b"\1" * 20, *run.objects[0][3:])
        self.assertEqual(self.doctor(run)["other-build"][0], "error")
        self.assertIn("the file is not the one that was recorded", self.text("flat", self.write(run)))
        self.assertNotRegex(self.text("flat", "--force", self.write(run)), r"  work\n")

    def test_another_library(self):
        """Its names would be wrong; all else is shown."""
        run = whole_run()
        shutil.copy(DEMO, self.dir / "libgone.so.1")
        run.objects[-1] = (FILE, str(self.dir / "libgone.so.1"), b"\1" * 20, 0x401000, 0x402000, None, 2)
        run.nodes = [(p, o, MAIN if a == 0x1234 else a) for p, o, a in run.nodes]
        rows = {f["name"]: f for f in monarc_json("flat", self.write(run))["functions"]}
        self.assertEqual(rows["[no symbol] (libgone.so.1)"]["self_samples"], 100)
        self.assertIn("is not the one that was recorded", self.text("flat", self.write(run)))
        forced = monarc_json("flat", "--force", self.write(run))["functions"]
        self.assertNotIn("main", [f["name"] for f in forced if f.get("object") == "libgone.so.1"])

    def test_doctor_on_damage(self):
        folder = self.write(whole_run())
        side = folder / "monarc.side"
        side.write_bytes(side.read_bytes()[:-9])
        found = monarc_json("doctor", folder)["findings"]
        self.assertEqual([f["name"] for f in found], ["recording-unreadable"])

    def test_foreign_byte_order(self):
        folder = self.write(whole_run())
        side = folder / "monarc.side"
        data = bytearray(side.read_bytes())
        data[:4], data[8:12] = data[3::-1], data[11:7:-1]
        side.write_bytes(data)
        self.assertTrue(re.search("at offset 0", self.refusal("flat", folder)))


if __name__ == "__main__":
    main()
