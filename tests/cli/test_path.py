"""The critical path, slack, and predictions: of jobs whose threads wait for each other at known times, and of
programs that are run."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import DEMO, check_schema, main, monarc, monarc_json, monarc_limited
from parts import load_tests, slow
from run_file import FILE, WAIT, Run
from sequential import decided, figure
from test_recording import ALPHA, FACT, MAIN, WORK, Case

sys.dont_write_bytecode = True
MS = 10**6
POLL, FUTEX, READ, SLEEP, WAIT4, SIGWAIT, SEMTIMEDOP, FSYNC, READY = 7, 202, 0, 35, 61, 128, 220, 74, 2**32


class Job(Case):
    """A second, in slices of 10 ms; times are in milliseconds."""

    def setUp(self):
        super().setUp()
        self.job = Run("make")
        self.demo = self.job.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        self.wait = self.job.object(WAIT)

    def process(self, pid, parent, start, end, name="cc"):
        number = self.job.process(pid, parent, self.demo, name, start=start * MS, end=end * MS)
        return self.job.thread(number, pid, name, start=start * MS, end=end * MS)

    def thread(self, process, tid, start, end):
        return self.job.thread(process, tid, "t", start=start * MS, end=end * MS)

    def runs(self, thread, start, end, function=WORK):
        for at in range(start, end, 10):
            self.samples.append((at // 10, thread, function, min(10, end - at)))

    def waits(self, thread, start, end, call, *woken):
        node = None if call is None else self.job.node((self.demo, MAIN), (self.wait, call))
        self.job.waits.append((thread, start * MS, (end - start) * MS, node, *woken))

    samples = ()

    def finish(self):
        for slice, thread, function, count in sorted(self.samples):
            self.job.sample([(self.demo, MAIN), (self.demo, function)], count, thread=thread, slice=slice)
        self.write(self.job)

    def path(self):
        self.finish()
        report = monarc_json("path", "r", cwd=self.dir)
        check_schema(self, "path", report)
        most = max(t[part] for t in report["threads"] for part in ("path_time", "unknown_time", "polled_time", "stopped_time"))
        length = report["path"]["length"]
        self.assertRegex(monarc("path", "r", cwd=self.dir).stdout.decode(),
                         rf"^{length:.3f} s from start to end: {100 * most / length:.0f} % (by|unknown, while|polling, by|not recorded, of) ")
        self.threads = {t["tid"]: t for t in report["threads"]}
        parts = "path_time", "unknown_time", "polled_time", "stopped_time"
        self.assertAlmostEqual(sum(t[part] for t in report["threads"] for part in parts), report["path"]["length"])
        for part in parts[1:]:
            self.assertAlmostEqual(sum(t[part] for t in report["threads"]), report["path"][part])
        return [(s["tid"], round(1000 * s["from"]), round(1000 * s["to"]), s["cause"]) for s in report["steps"]
                if s["to"] - s["from"] > 1e-6], report

    def build(self, has_waits=True):
        """make: job 8 from 100 to 500, 9 from 100 to 300, then 10 from 500 to 900."""
        self.samples = []
        make = self.process(7, 1, 0, 1000, "make")
        for pid, start, end in (8, 100, 500), (9, 100, 300), (10, 500, 900):
            self.runs(self.process(pid, 7, start, end), start, end, FACT if pid == 9 else WORK)
        self.runs(make, 0, 100, ALPHA)
        self.runs(make, 900, 1000, ALPHA)
        if has_waits:
            self.waits(make, 100, 300, POLL)
            self.waits(make, 300, 500, WAIT4)
            self.waits(make, 500, 900, WAIT4)


class Path_(Job):
    def test_a_build(self):
        self.build()
        steps, report = self.path()
        self.assertEqual(steps, [(7, 0, 100, "none"), (8, 100, 500, "made"), (10, 500, 900, "made"),
                                 (7, 900, 1000, "ended")])
        self.assertEqual([round(self.threads[t]["slack_time"], 3) for t in (7, 8, 9, 10)], [0, 0, 0.2, 0])
        self.assertAlmostEqual(report["path"]["cpu_time"], 1)
        times = {f["name"]: round(f["path_time"], 3) for f in report["functions"]}
        self.assertEqual(times, {"work.isra.0": 0.8, "alpha": 0.2})
        text = self.text("path", "r")
        self.assertIn("\nPath     1.000 s CPU (100 %)\n", text)
        self.assertRegex(text, r"(?m)^   0\.400    0\.400    0\.000    0\.400  cc \(8\)$")
        self.assertRegex(text, r"(?m)^   0\.000    0\.200    0\.200    0\.200  cc \(9\)$")
        self.assertRegex(self.text("path", "--steps", "r"), r"waited for its end +make \(7\)")

    def test_a_build_whose_waits_are_not_recorded(self):
        self.build(has_waits=False)
        steps, report = self.path()
        self.assertEqual([step[0] for step in steps], [7, 8, 10, 7])
        self.assertFalse(report["path"]["waits_recorded"])
        self.assertIn("--off-cpu", self.text("path", "r"))

    def test_a_sample_that_stands_for_time_before_a_gap(self):
        """Its period began before the thread waited: what ended in the sample's own slice has ended the wait."""
        self.samples = []
        make, child = self.process(7, 1, 0, 1000, "make"), self.process(8, 7, 100, 906)
        self.runs(make, 0, 100, ALPHA)
        self.runs(child, 100, 906)
        self.finish()
        self.job.sample([(self.demo, MAIN), (self.demo, ALPHA)], 1, thread=make, slice=90, weight=45 * MS)
        steps, _ = self.path()
        self.assertEqual([step[0] for step in steps][:3], [7, 8, 7])

    def service(self, call, main_cpu=None):
        """Four threads that go on after the recording: one works and waits in turn, three idle from start to end."""
        self.samples = []
        number = self.job.process(7, 1, self.demo, "server", end=0)
        for tid in 7, 8, 9, 10:
            self.job.thread(number, tid, "t", cpu=main_cpu if tid == 7 else 3 if tid == 9 else None, end=0)
        for start in 0, 400, 900:
            self.runs(0 if main_cpu else 2, start, start + 90)
        for start, end in (90, 400), (490, 900), (990, 1000):
            self.waits(0 if main_cpu else 2, start, end, call)
        for idle in (1, 2, 3) if main_cpu else (0, 1, 3):
            self.waits(idle, 0, 1000, FUTEX)
        return self.path()

    def test_a_service(self):
        """Threads that idle last as long as those that work, and have woken nobody."""
        for call in POLL, FUTEX:
            self.setUp()
            steps, report = self.service(call, main_cpu=5)
            self.assertEqual({(tid, cause) for tid, _, _, cause in steps}, {(7, "none")})
            self.assertAlmostEqual(self.threads[7]["unknown_time"], 0.73)
            self.assertAlmostEqual(report["path"]["cpu_time"], 0.27)

    def test_a_service_whose_main_thread_waits(self):
        steps, _ = self.service(FUTEX)
        self.assertEqual({tid for tid, _, _, _ in steps}, {9})

    def test_commands_that_are_cut(self):
        self.build()
        long = " -quiet -imultiarch x86_64-linux-gnu -D A.B=1" + " -I include" * 9
        depends = " -MD o/inflate.c.d -MF o/inflate.c.d -MT o/x.c -D_GNU_SOURCE"
        for process, command in ((1, "/usr/lib/gcc/cc1" + long + depends + " src/inflate.c -dumpbase inflate.c -o /tmp/x.s"),
                                 (2, "/usr/bin/ld -plugin x.so" + long + " -o out/libz.so.1 crti.o a.o"),
                                 (3, "/usr/bin/ar" + long + " cr libz.a a.o")):
            self.job.processes[process]["command"] = command
        self.finish()
        text = self.text("path", "r")
        for label in "cc1 ... inflate.c (8)", "ld ... libz.so.1 (9)", "ar ... libz.a (10)":
            self.assertIn("  " + label + "\n", text)
        shares = self.text("flat", "--force", "--by-process", "r")
        for label in "demo ... inflate.c", "demo ... libz.so.1", "demo ... libz.a":
            self.assertIn("  " + label + "\n", shares)
        self.assertIn("-dumpbase inflate.c", self.text("path", "--wide", "r"))

    def test_no_cpu_and_sleep(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.runs(one, 0, 300)
        self.waits(one, 300, 500, SLEEP)
        self.waits(one, 500, 600, READY)
        self.runs(one, 600, 1000)
        _, report = self.path()
        self.assertEqual([round(report["path"][k], 3) for k in ("cpu_time", "waiting_time", "ready_time", "rest_time")],
                         [0.7, 0.2, 0.1, 0])
        self.assertEqual(report["steps"][0]["call"], "nanosleep")

    def test_threads_that_are_joined(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        two, three = self.thread(0, 8, 100, 600), self.thread(0, 9, 100, 400)
        self.job.creators = [(two, one), (three, two)]
        self.runs(one, 0, 200)
        self.waits(one, 200, 601, FUTEX)
        self.runs(one, 600, 1000)
        self.runs(two, 100, 600)
        self.runs(three, 100, 400)
        steps, _ = self.path()
        self.assertEqual(steps, [(7, 0, 100, "none"), (8, 100, 600, "made"), (7, 600, 1000, "ended")])
        self.assertAlmostEqual(self.threads[8]["slack_time"], 0)
        self.assertAlmostEqual(self.threads[9]["slack_time"], 0.2)   # two could join it at its own end

    def test_a_pipeline(self):
        """sh waits for a | b; b reads until a has written, at 400 and 700."""
        self.samples = []
        shell = self.process(7, 1, 0, 1000, "sh")
        a, b = self.process(8, 7, 10, 710, "a"), self.process(9, 7, 10, 900, "b")
        self.waits(shell, 20, 901, WAIT4)
        self.runs(a, 10, 710)
        self.waits(b, 20, 400, READ)
        self.runs(b, 400, 450, FACT)
        self.waits(b, 450, 700, READ)
        self.runs(b, 700, 900, FACT)
        steps, report = self.path()
        self.assertEqual(steps, [(7, 0, 10, "none"), (8, 10, 700, "made"), (9, 700, 900, "woken"),
                                 (7, 900, 1000, "ended")])
        self.assertIn("1 wake-up by the only thread that ran", self.text("path", "r"))

    def test_digits_end_where_figures_become_unsure(self):
        """Ten samples: 70 % of 0.3 s are sure to some 25 points. What no sample stands for has all digits."""
        one = self.process(7, 1, 0, 300)
        for i in range(10):
            function = WORK if i < 7 else FACT
            self.job.sample([(self.demo, MAIN), (self.demo, function)], 1, thread=one, slice=3 * i, weight=30 * MS)
        self.finish()
        text = self.text("path", "r")
        self.assertRegex(text, r"(?m)^   0\.300    0\.300    0\.000    0\.300  cc \(7\)$")
        self.assertRegex(text, r"(?m)^   0\.21    70\.0 %  work\.isra\.0$")

    def test_one_thread_has_no_causes(self):
        """Nor does it matter whether it is known who woke it."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.runs(one, 0, 300)
        self.waits(one, 300, 500, SLEEP)
        self.runs(one, 500, 1000)
        self.finish()
        text = self.text("path", "r")
        self.assertNotRegex(text, "Causes|Note|0 starts")

    def test_a_lock(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        holder = self.thread(0, 8, 50, 1000)
        self.runs(one, 0, 100)
        self.waits(one, 100, 500, FUTEX)
        self.runs(one, 500, 1000)
        self.runs(holder, 50, 510)
        self.waits(holder, 510, 1000, SLEEP)
        steps, _ = self.path()
        self.assertEqual(steps, [(7, 0, 50, "none"), (8, 50, 500, "made"), (7, 500, 1000, "woken")])

    def test_a_wait_whose_waker_is_unknown(self):
        """Nobody of the job ran when it ended: it is a row of its own, and no thread's."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.runs(one, 0, 100)
        self.waits(one, 100, 900, READ)
        self.runs(one, 900, 1000)
        steps, report = self.path()
        self.assertEqual(steps, [(7, 0, 100, "none"), (7, 100, 900, "none"), (7, 900, 1000, "none")])
        self.assertEqual([s["open"] for s in report["steps"]], [None, "unknown", None])
        self.assertAlmostEqual(self.threads[7]["path_time"], 0.2)
        text = self.text("path", "--steps", "r")
        self.assertIn("Known    20 %; 0.800 s in waits of unknown end (80 %)", text)
        self.assertRegex(text, r"(?m)^   0\.800        -        -        -  unknown, while cc \(7\) waited$")
        self.assertRegex(text, r"\(unknown\) +cc \(7\) in read")

    def test_an_end_that_came_later(self):
        """Waits are not recorded, and a thread ends in the slice after the one that waited: it did not end the wait."""
        self.samples = []
        one = self.process(7, 1, 0, 990)
        two = self.thread(0, 8, 0, 995)
        self.runs(one, 0, 100)
        self.runs(two, 0, 990, FACT)
        steps, report = self.path()
        self.assertEqual(steps[-1], (7, 100, 990, "none"))
        self.assertEqual(report["steps"][-1]["open"], "unknown")
        report = monarc_json("path", "r", "--if", "fact=2x", cwd=self.dir)
        self.assertLess(report["wall"]["low"], 0.6)

    def test_a_call_that_nobody_knows(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.waits(one, 100, 900, 999)
        self.assertAlmostEqual(self.path()[1]["path"]["unknown_time"], 0.8)

    def test_a_signal_of_the_own_process(self):
        """The thread that had run until then is the likeliest, as in a pipe to itself or eventfd."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        worker = self.thread(0, 8, 50, 950)
        self.runs(worker, 50, 950, FACT)
        self.waits(one, 100, 900, SIGWAIT)
        self.runs(one, 900, 1000)
        steps, _ = self.path()
        self.assertEqual(steps, [(7, 0, 50, "none"), (8, 50, 900, "made"), (7, 900, 1000, "guessed")])

    def told(self, call, *woken):
        """Three threads: one waits from 100 to 901, and who woke it was told; 8 and 9 run all the time."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        two, three = self.thread(0, 8, 0, 1000), self.thread(0, 9, 50, 1000)
        self.job.creators = [(two, one), (three, one)]
        self.waits(one, 100, 901, call, *woken)
        self.runs(one, 900, 1000)
        self.runs(two, 0, 1000, FACT)
        self.runs(three, 50, 1000)
        return self.path()

    def test_a_waker_that_was_told(self):
        steps, report = self.told(READ, 4, 2, 790 * MS)
        self.assertEqual(steps, [(7, 0, 50, "none"), (9, 50, 890, "made"), (7, 890, 1000, "recorded")])
        self.assertTrue(report["path"]["wakers_recorded"])
        self.assertAlmostEqual(report["path"]["ready_time"], 0.011)
        self.assertIn("1 wake-up recorded by the kernel", self.text("path", "r"))

    def test_wakers_that_are_no_threads(self):
        """By soft interrupt work: the thread that ran, as a guess; interrupts: a time, or a device; others: unknown."""
        for call, woken, cause, kind in ((READ, (3, 2, 800 * MS), "guessed", None), (FUTEX, (1, 800 * MS), "none", "timer"),
                                         (POLL, (1, 800 * MS), "none", "timer"), (READ, (1, 800 * MS), "none", "device"),
                                         (READ, (2, 800 * MS), "none", "unknown")):
            with self.subTest(call=call, woken=woken):
                self.setUp()
                steps, report = self.told(call, *woken)
                self.assertEqual(steps[-1][3], cause)
                for name in "timer", "device", "unknown":
                    self.assertAlmostEqual(report["path"][name + "_time"], 0.801 if name == kind else 0)

    def test_wakes_of_which_none_is_by_a_recorded_thread(self):
        """Where the kernel reported them, no thread of the job has ended the wait; else who ran then is taken."""
        for reports, cause in (False, "guessed"), (True, "none"):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
            self.job.creators = [(two, one)]
            self.job.reports_wakes = reports
            self.waits(one, 0, 900, POLL)
            self.runs(one, 900, 1000)
            self.runs(two, 0, 1000, FACT)
            steps, report = self.path()
            self.assertEqual(report["path"]["wakers_recorded"], reports)
            self.assertEqual("guessed" if "guessed" in [s[3] for s in steps] else "none", cause, steps)
            self.assertAlmostEqual(report["path"]["unknown_time"], 0.9 if reports else 0, delta=0.02)

    def test_a_timer_that_others_may_have_set(self):
        """A timerfd belongs to whoever has it: what an interrupt has ended is no time of the thread's own."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.runs(two, 0, 899, FACT)
        self.waits(one, 100, 900, READ, 1, 800 * MS)
        timer = self.job.add(self.job.resources, 6, None, 1, "anon_inode:[timerfd]")
        self.job.wait([(self.demo, MAIN), (self.wait, READ)], timer, thread=one, waits=1, ns=800 * MS)
        report = self.path()[1]
        self.assertEqual((report["path"]["device_time"], report["path"]["timer_time"]), (0, 0))
        self.assertAlmostEqual(report["path"]["unknown_time"], 0.8)

    def test_waits_that_are_too_short_to_be_kept(self):
        """By its switches a thread was on no CPU for most of the time, and why is not known."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.job.events = [("wall", 0, MS, 0)]
        self.runs(two, 0, 899, FACT)
        self.runs(one, 900, 1000)
        for slice in range(100):
            self.job.turns += [(slice, one, (1 if slice < 90 else 10) * MS, 0), (slice, two, 10 * MS, 0)]
        self.waits(one, 0, 20, SLEEP)
        self.path()
        self.assertAlmostEqual(self.threads[7]["unknown_time"], 0.78, delta=0.03)
        low, high = [monarc_json("path", "r", "--if", "fact=2x", cwd=self.dir)["wall"][b] for b in ("low", "high")]
        self.assertTrue(low < 0.6 and high >= 1, (low, high))

    def test_naps_where_waits_were_not_recorded(self):
        """A thread of which each slice has a little CPU time waits for the rest, and why is not known."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.runs(two, 0, 900, FACT)
        self.runs(one, 900, 1000)
        self.samples += [(slice, one, WORK, 1) for slice in range(90)]
        self.finish()
        report = monarc_json("path", "r", cwd=self.dir)
        self.assertAlmostEqual(report["path"]["unknown_time"], 0.81, delta=0.1)
        self.assertLess(monarc_json("path", "r", "--if", "fact=2x", cwd=self.dir)["wall"]["low"], 0.6)

    def test_records_that_are_missing(self):
        """A thread that waits or runs by no record is not taken to run: another did, and woke it."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.job.events = [("wall", 0, MS, 0)]
        self.waits(two, 900, 1000, SLEEP)
        self.runs(two, 0, 890, FACT)
        self.runs(one, 0, 100)
        self.runs(one, 900, 1000)
        for slice in range(100):
            self.job.turns += [(slice, thread, 10 * MS, 0) for thread in (one, two)
                               if thread == two and slice < 90 or thread == one and not 10 <= slice < 90]
        report = self.path()[1]
        self.assertAlmostEqual(self.threads[8]["path_time"], 0.9, delta=0.02)
        self.assertIn("guessed", [step["cause"] for step in report["steps"]])

    def test_spinning_is_no_work(self):
        """In libraries of OpenMP and MPI threads wait for others, and use a CPU for it."""
        for library in "/usr/lib/libgomp.so.1.0.0", "/usr/lib/libopen-pal.so.40":
            self.setUp()
            self.samples = []
            self.job.events = [("wall", 0, MS, 0)]
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
            self.runs(two, 0, 900, FACT)
            self.waits(two, 900, 1000, SLEEP)
            self.runs(one, 900, 1000)
            spins = self.job.object(FILE, library)
            self.finish()
            for slice in range(90):
                self.job.sample([(self.demo, MAIN), (spins, 1)], 10, thread=one, slice=slice)
            self.write(self.job)
            self.path()[1]
            self.assertAlmostEqual(self.threads[8]["path_time"], 0.9, delta=0.03, msg=library)
            low, high = [monarc_json("path", "r", "--if", "fact=2x", cwd=self.dir)["wall"][b] for b in ("low", "high")]
            self.assertTrue(low < 0.58 and high >= 1, (library, low, high))

    def test_a_lock_in_shared_memory(self):
        """A process of one thread waits for a lock: only another process can have released it."""
        self.samples = []
        shell, holder = self.process(7, 1, 0, 1000), self.process(8, 7, 50, 1000)
        self.waits(shell, 100, 900, FUTEX)
        self.runs(shell, 900, 1000)
        self.runs(holder, 50, 910, FACT)
        self.waits(holder, 910, 1000, SLEEP)
        steps, _ = self.path()
        self.assertEqual(steps[-2:], [(8, 50, 900, "made"), (7, 900, 1000, "guessed")])

    def test_a_child_that_was_killed(self):
        """Its end is the work of who killed it, and no reason for that to go on."""
        self.samples = []
        self.process(7, 1, 0, 1000)
        child = self.process(8, 7, 50, 905)
        self.job.processes[1]["status"] = 9
        self.runs(0, 0, 900)
        self.waits(child, 100, 905, SLEEP)
        self.waits(0, 900, 906, None)
        self.runs(0, 906, 1000)
        steps, _ = self.path()
        self.assertEqual({step[0] for step in steps}, {7})

    def test_a_sleep_that_a_signal_has_ended(self):
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.runs(two, 0, 900, FACT)
        self.waits(one, 0, 900, SLEEP, 4, 1, 900 * MS)
        self.runs(one, 900, 1000)
        steps, _ = self.path()
        self.assertEqual(steps[-2:], [(8, 0, 900, "made"), (7, 900, 1000, "recorded")])

    def polling(self, worker=(0, 995), polls=range(100, 900, 20), call=SLEEP, lasts=19):
        """One polls until 899 and then works; the worker has one stretch of work."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        if worker:
            self.runs(self.thread(0, 8, *worker), *worker, FACT)
        for at in polls:
            self.waits(one, at, at + lasts, call)
        self.runs(one, 900, 1000)

    def bounds(self, change="fact=2x"):
        wall = monarc_json("path", "r", "--if", change, cwd=self.dir)["wall"]
        return wall["low"], wall["high"]

    def test_polling(self):
        """Of a thread that goes on after it, nobody knows whether it was polled for."""
        self.polling()
        report = self.path()[1]
        self.assertAlmostEqual(report["path"]["polled_time"], 40 * 0.019)
        self.assertEqual(report["path"]["timer_time"], 0)
        self.assertRegex(self.text("path", "r"), r"(?m)^   0\.760        -        -        -  polling, by cc \(7\)$")
        self.setUp()
        self.polling(polls=range(100, 720, 206), lasts=205)
        self.assertAlmostEqual(self.path()[1]["path"]["polled_time"], 4 * 0.205)

    def test_what_was_polled_for(self):
        """A thread that ends between the last two polls was: the path goes on there, and the bounds are as wide as two polls."""
        self.polling(worker=(0, 890))
        steps, report = self.path()
        self.assertEqual(steps[-2:], [(8, 0, 890, "made"), (7, 890, 1000, "inferred")])
        self.assertEqual(report["path"]["polled_time"], 0)
        low, high = self.bounds()
        self.assertTrue(0.53 < low < 0.54 and 0.57 < high < 0.58, (low, high))

    def test_chance_is_no_evidence(self):
        """Threads that stop all the time stop between the last two polls as well; so does one, if there were few polls."""
        for ends, polls in (range(30, 900, 10), range(100, 900, 20)), ([890], range(820, 900, 20)):
            self.setUp()
            self.polling(worker=None, polls=polls)
            for tid, end in enumerate(ends, 8):
                self.runs(self.thread(0, tid, 0, end), 0, end, FACT)
            report = self.path()[1]
            self.assertGreater(report["path"]["polled_time"], 0.06)

    def test_threads_that_hardly_work_are_no_evidence(self):
        """How often one stops that wakes up for a moment says nothing about one that works until then."""
        self.polling(worker=(0, 890))
        other = self.thread(0, 9, 0, 1000)
        for at in range(100, 880, 40):
            self.waits(other, at, at + 39, READ, 2, 0)
        self.assertIn("inferred", [step[3] for step in self.path()[0]])

    def test_a_poll_after_something_was_found(self):
        """Who made a thread between two polls had found something, and polls for another thing."""
        self.polling(worker=(0, 690))
        late = self.thread(0, 9, 700, 880)
        self.job.creators = [(late, 0)]
        self.runs(late, 700, 880)
        steps, _ = self.path()
        self.assertIn((8, 0, 690, "made"), steps)

    def test_polls_by_a_thread_that_lacks_a_cpu(self):
        """It polls on all the same."""
        self.polling(worker=(0, 890), polls=range(100, 900, 40))
        for at in range(119, 900, 40):
            self.waits(0, at, at + 20, READY)
            self.waits(0, at + 20, at + 21, SLEEP)
        steps, report = self.path()
        self.assertEqual((8, 0, 890, "made"), steps[-2])
        self.assertEqual(report["path"]["polled_time"], 0)

    def test_time_limits_that_end_and_a_wake(self):
        """All of them have waited for the waker, also where the thread lacked a CPU in between; a limit that some have reached
        by the kernel's report is that of all."""
        for reported in True, False:
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 800)
            self.job.reports_wakes = True
            for tid, end in (9, 705), (10, 760):
                self.runs(self.thread(0, tid, 0, end), 0, end, FACT)
            for at in range(100, 800, 50):
                self.waits(one, at, at + 45, FUTEX, *((1, 45 * MS) if reported or at != 700 else ()))
                self.waits(one, at + 45, at + 50, READY)
            self.waits(one, 800, 820, FUTEX, 4, two, 0)
            self.runs(two, 0, 800, FACT)
            self.runs(one, 820, 1000)
            steps, _ = self.path()
            self.assertNotIn("inferred", [step[3] for step in steps])
            self.assertLess(self.bounds()[1], 0.7, (reported, steps))

    def test_time_limits_of_a_thread_that_wakes_others_in_between(self):
        """It had something to do then, at that time: what it waited for before was another thing."""
        self.samples = []
        one, two, three = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 800), self.thread(0, 9, 0, 1000)
        self.job.reports_wakes = True
        for at in range(100, 800, 50):
            self.waits(one, at, at + 50, FUTEX, 1, 50 * MS)
        self.waits(one, 800, 820, FUTEX, 4, two, 0)
        self.waits(three, 0, 750, FUTEX, 4, one, 750 * MS)
        self.runs(two, 0, 800, FACT)
        self.runs(three, 750, 990)
        self.runs(one, 820, 990)
        self.path()
        self.assertGreater(self.bounds()[1], 0.9)

    def test_limits_in_waits_for_threads_of_the_process(self):
        """What such a thread saw at last was done by another of them, which is sooner by as much as it is."""
        for call, high in (FUTEX, 0.87), (SLEEP, 1):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
            self.job.reports_wakes = True
            self.waits(one, 0, 400, READ, 4, two, 400 * MS)
            for at in range(400, 550, 50):
                self.waits(one, at, at + 50, call, 1, 50 * MS)
            self.runs(two, 0, 400, FACT)
            self.runs(two, 400, 1000)
            self.runs(one, 550, 1000)
            self.path()
            self.assertAlmostEqual(self.bounds()[1], high, delta=0.03)

    def test_what_a_system_call_waits(self):
        """For devices and times: that is on the path, and goes with the call; what others end does not."""
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.job.reports_wakes = True
        self.runs(one, 0, 300)
        self.waits(one, 300, 700, FSYNC, 1, 400 * MS)
        self.runs(one, 700, 800)
        self.waits(one, 800, 1000, SLEEP, 1, 200 * MS)
        report = self.path()[1]
        self.assertEqual([(w["name"], round(w["path_time"], 6)) for w in report["waits"]],
                         [("[waiting] fsync", 0.4), ("[waiting] nanosleep", 0.2)])
        self.assertRegex(self.text("path", "r"),
                         r"(?m)^ on path of waits  in\n   0\.400   66\.7 %  \[waiting\] fsync\n   0\.200   33\.3 %  \[waiting\] nanosleep$")
        for change, low, waits in ("fsync=0", 0.6, 0.4), ("[waiting] fsync=50%", 0.8, 0.4), ("nanosleep=0", 0.8, 0.2):
            told = monarc_json("path", "r", "--if", change, cwd=self.dir)
            check_schema(self, "path_if", told)
            self.assertAlmostEqual(told["changes"][0]["waiting_time"], waits)
            self.assertAlmostEqual(told["wall"]["high"], low, delta=0.02)
        self.assertIn("0.000 s of CPU time become 0.000 s, 0.400 s of waiting 0.000 s", self.text("path", "r", "--if", "fsync=0"))

    def test_waits_at_unknown_places_may_be_a_call_that_takes_less(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.job.reports_wakes = True
        self.waits(one, 0, 100, FSYNC, 1, 100 * MS)
        self.waits(one, 200, 500, None, 2, 0)
        self.runs(one, 100, 200)
        self.runs(one, 500, 1000)
        self.path()
        low, high = self.bounds("fsync=0")
        self.assertAlmostEqual(low, 0.6, delta=0.02)
        self.assertAlmostEqual(high, 1)
        self.assertGreater(self.bounds("work=50%")[0], 0.65)

    def test_soft_interrupts_in_the_thread_that_sent(self):
        """Of one that hardly runs, and is there each time, it is no chance; of one that runs all the time it may be, and so it is
        if interrupts are often elsewhere."""
        for works, elsewhere, cause in (2, 0, "inferred"), (19, 0, "guessed"), (2, 4, "guessed"):
            self.setUp()
            self.samples = []
            one, two, _ = [self.process(pid, 1, 0, 1020) for pid in (7, 8, 9)]
            self.job.reports_wakes = True
            for i, at in enumerate(range(0, 1000, 20)):
                self.waits(one, at, at + 20, READ, 3, 2 if i % 10 < elsewhere else two, 20 * MS)
                self.waits(two, at, at + 20 - works, FSYNC, 1, (20 - works) * MS)
            self.assertEqual(self.path()[0][-1][3], cause, (works, elsewhere))

    def test_calls_with_a_time_limit_poll(self):
        for call in SIGWAIT, SEMTIMEDOP:
            self.setUp()
            self.polling(call=call)
            self.job.waits = [(*wait, 1, 19 * MS) for wait in self.job.waits]
            self.assertAlmostEqual(self.path()[1]["path"]["polled_time"], 40 * 0.019)

    def test_a_wait_that_was_short_by_chance(self):
        """It may have been ended by something outside, but hardly so soon after it began."""
        for lasts, high in (2, 0.71), (20, 1):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 800)
            self.job.reports_wakes = True
            self.waits(one, 0, 800, FUTEX, 4, two, 800 * MS)
            self.waits(one, 800, 800 + lasts, READ, 2, 0)
            self.runs(two, 0, 800, FACT)
            self.runs(one, 800 + lasts, 1000)
            self.path()
            self.assertAlmostEqual(self.bounds()[1], high, delta=0.03)

    def test_sleeps_of_a_job_of_one_thread(self):
        self.polling(worker=None)
        report = self.path()[1]
        self.assertAlmostEqual(report["path"]["timer_time"], 40 * 0.019)
        self.assertAlmostEqual(report["path"]["polled_time"], 0)

    def test_lost_records(self):
        self.build()
        self.job.losses.append((0, 9, 5 * 10**8, "some records were lost"))
        steps, report = self.path()
        self.assertEqual([step[0] for step in steps], [7, 8, 10, 7])
        self.assertFalse(report["path"]["waits_recorded"])
        self.assertIn("Note     records of waits were lost", self.text("path", "r"))

    def test_samples_that_are_rarer_than_slices(self):
        """A thread that runs all the time has no gaps, whatever its period is."""
        self.samples = []
        self.job.events = [("cpu", 0, 40 * MS, 0)]
        one = self.process(7, 1, 0, 1000)
        self.finish()
        for at in range(0, 1000, 40):
            self.job.sample([(self.demo, MAIN), (self.demo, WORK)], 1, thread=one, slice=at // 10, weight=40 * MS)
        _, report = self.path()
        self.assertAlmostEqual(report["path"]["cpu_time"], 1, delta=0.05)
        self.assertEqual(report["path"]["unknown_time"], 0)

    def test_no_waits_are_not_waits_that_were_not_recorded(self):
        """Time off the CPU was recorded, and there was none."""
        self.samples = []
        self.job.events = [("wall", 0, MS, 0)]
        self.runs(self.process(7, 1, 0, 1000), 0, 1000)
        _, report = self.path()
        self.assertTrue(report["path"]["waits_recorded"])
        self.assertNotIn("waits were not recorded", self.text("path", "r"))
        self.assertIn("No thread was seen waiting for a lock.", self.text("waits", "r"))
        self.job.events = [("cpu", 0, MS, 0)]
        self.write(self.job)
        text = self.text("waits", "r").splitlines()
        self.assertEqual(text[0], "No waits were recorded: 'monarc run --off-cpu' records them")
        self.assertNotIn("0.000 s", "".join(text))

    def test_time_for_which_recording_was_off(self):
        """It is no wait and no work: of whichever event, with turns and without, in each thread of that process alone."""
        for event, has_turns in ("wall", False), ("wall", True), ("cpu", False):
            with self.subTest(event=event, has_turns=has_turns):
                self.setUp()
                self.samples = []
                self.job.events = [(event, 0, MS, 0)]
                one, other = self.process(7, 1, 0, 1000), self.process(9, 7, 0, 1000)
                self.thread(0, 8, 300, 700)  # it lives while recording is off
                self.job.marks = [(200 * MS, 3, 0, 7, ""), (800 * MS, 4, 0, 8, "")]
                for start in 0, 800:
                    self.runs(one, start, start + 200)
                self.runs(other, 0, 1000, FACT)
                for slice in range(100 * has_turns):
                    self.job.turns += [(slice, thread, 10 * MS, 0) for thread in (one, other)
                                       if thread == other or not 20 <= slice < 80]
                steps, report = self.path()
                path = report["path"]
                self.assertAlmostEqual(path["stopped_time"], 0.6)
                self.assertEqual((path["unknown_time"], path["waiting_time"]), (0, 0))
                self.assertAlmostEqual(path["rest_time"], 0.6, delta=0.011)
                self.assertAlmostEqual(self.threads[7]["stopped_time"], 0.6)
                self.assertEqual([self.threads[n]["stopped_time"] for n in (8, 9)], [0, 0])
                self.assertIn("stopped", [step["open"] for step in report["steps"]])
                text = self.text("path", "--steps", "r")
                for said in ("Path     0.400 s CPU (40 %), 0.600 s with recording off (60 %)\n", "60 % not recorded, of ",
                             "(not recorded)", "Known    40 %; 0.600 s with recording off (60 %)\n"):
                    self.assertIn(said, text)

    def test_samples_that_stand_for_the_time_since_the_last_one(self):
        """As ptrace takes them: long ones, however short the period is; what is beside them is a gap."""
        self.samples = []
        self.job.events = [("cpu", 0, 4 * MS, 0)]
        one = self.process(7, 1, 0, 1000)
        self.finish()
        for end, length in (200, 200), (250, 30), (600, 250), (1000, 390):
            self.job.sample([(self.demo, MAIN), (self.demo, WORK)], 1, thread=one, slice=end // 10 - 1,
                            weight=length * MS)
        _, report = self.path()
        self.assertAlmostEqual(report["path"]["cpu_time"], 0.87, delta=0.03)
        self.assertAlmostEqual(report["path"]["unknown_time"], 0.1, delta=0.03)

    def test_refusals(self):
        self.build()
        self.job.events = [("page-faults", 1, 1, 0)]
        self.finish()
        self.assertIn("needs a recording of time", self.refusal("path", "r"))
        (self.dir / "gmon.out").write_bytes(b"")
        self.assertIn("gmon.out", self.refusal("path", str(DEMO), "gmon.out"))


class WhatIf(Job):
    def what_if(self, *changes, options=()):
        words = [word for change in changes for word in ("--if", change)]
        report = monarc_json("path", "r", *options, *words, cwd=self.dir)
        check_schema(self, "path_if", report)
        return report, (report["wall"]["low"], report["wall"]["high"])

    def test_one_thread(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        self.runs(one, 0, 400, WORK)
        self.runs(one, 400, 700, FACT)
        self.waits(one, 700, 1000, SLEEP)
        self.finish()
        report, (low, high) = self.what_if("work=2x")
        self.assertTrue(report["one_thread"])
        self.assertAlmostEqual((low + high) / 2, 0.8)
        self.assertLess(high - low, 0.05)
        self.assertAlmostEqual((report["cpu"]["low"] + report["cpu"]["high"]) / 2, 0.5)
        self.assertAlmostEqual(sum(self.what_if("work=0")[1]) / 2, 0.6)
        self.assertAlmostEqual(sum(self.what_if("work=50%", "fact=0")[1]) / 2, 0.5)
        self.assertAlmostEqual(sum(self.what_if("work=50%", "main=2x")[1]) / 2, 0.55)    # of 0.2 + 0.3 s half
        self.assertAlmostEqual(sum(self.what_if("main=0", options=["--self"])[1]) / 2, 1)
        # What no function is called is a program: its code, and all that it calls.
        self.assertEqual(self.what_if(f"{DEMO.name}=2x")[1], self.what_if("main=2x")[1])
        self.assertEqual(self.what_if("cc=2x")[1], self.what_if("main=2x")[1])    # by its command
        text = self.text("path", "r", "--if", "work=2x")
        self.assertTrue(text.startswith("wall time 1.000 s -> 0."), text)
        self.assertIn("work=2x: 0.400 s of CPU time become 0.200 s", text)
        self.assertRegex(text, r"wall time 1\.000 s -> 0\.7\d+ to 0\.8\d+ s")

    def test_a_file_with_two_names(self):
        """Its code is no program's alone, as busybox's is not."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.process(8, 7, 100, 900, "as")
        self.runs(one, 0, 400, WORK)
        self.runs(two, 100, 200, FACT)
        self.finish()
        for name in "cc", "as":
            self.assertIn("no function, program or system call", self.refusal("path", "--if", name + "=2x", "r"))
        self.assertEqual(self.what_if(f"{DEMO.name}=2x")[1], self.what_if("main=2x")[1])

    def middle(self, *changes):
        _, (low, high) = self.what_if(*changes)
        return low, high

    def test_a_build(self):
        self.build()
        self.finish()
        low, high = self.what_if("fact=0")[1]     # job 9 is not on the path
        self.assertTrue(low <= 1 <= high and high - low < 0.1, (low, high))
        low, high = self.what_if("work=2x")[1]    # 8 and 10 are, and 9 ends at 300 as before
        self.assertTrue(low <= 0.6 <= high and high - low < 0.1, (low, high))
        low, high = self.what_if("work=0")[1]     # now 9 is: 0.1 + 0.2 + 0 + 0.1
        self.assertTrue(low <= 0.4 <= high and high - low < 0.15, (low, high))

    def test_bounds_of_a_lock(self):
        self.samples = []
        one = self.process(7, 1, 0, 1000)
        holder = self.thread(0, 8, 0, 1000)
        self.runs(one, 0, 100)
        self.waits(one, 100, 500, FUTEX)
        self.runs(one, 500, 1000)
        self.runs(holder, 0, 510, FACT)
        self.waits(holder, 510, 1000, SLEEP)
        self.finish()
        low, high = self.what_if("fact=2x")[1]
        self.assertAlmostEqual(low, 0.75, delta=0.05)
        self.assertAlmostEqual(high, 1, delta=0.05)

    def handed(self, *waits, stops=(), after=0.02, call=READ):
        """One waits in pieces until the ends of `waits`; two works from 0 to 500 and stops then, `after` ms before
        one goes on, and at other times for a while."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.runs(one, 0, 100)
        at = 100
        for end in waits:
            self.job.waits.append((one, round(at * MS), round((end - at - 0.02) * MS),
                                   self.job.node((self.demo, MAIN), (self.wait, call))))
            at = end
        self.runs(one, 500, 1000)
        self.runs(two, 0, 500, FACT)
        for stop in stops:
            self.job.waits.append((two, round(stop * MS), MS // 5, self.job.node((self.demo, FACT), (self.wait, FUTEX))))
        begin = round((500 - 0.02 - after) * MS)
        self.job.waits.append((two, begin, 1000 * MS - begin, self.job.node((self.demo, FACT), (self.wait, SLEEP))))
        steps, _ = self.path()
        self.assertEqual(steps[-1][0], 7)
        return steps[-1][3], self.what_if("fact=2x")[1]

    def test_a_thread_that_stops_as_another_goes_on(self):
        """Whatever the call: that is no chance, and as good as reported."""
        for call in READ, FUTEX, SIGWAIT, POLL, None:
            for after in 0.02, -0.03, -0.15, 0.25:
                self.setUp()
                cause, (low, high) = self.handed(500, after=after, call=call if call else READ)
                self.assertEqual(cause, "inferred", (call, after))
                self.assertTrue(0.7 <= low <= 0.75 <= high <= 0.8, (call, after, low, high))
        self.assertIn("1 wake-up inferred from what another thread did just then", self.text("path", "r"))

    def test_a_thread_that_often_stops(self):
        """Then it stops by chance when another goes on."""
        for stops in range(101, 500, 4), range(101, 480, 20):
            self.setUp()
            cause, (low, high) = self.handed(500, stops=stops, after=0.25)
            self.assertEqual(cause, "guessed")
            self.assertTrue(low <= 0.75 and high >= 0.98, (low, high))

    def test_a_thread_that_stopped_before(self):
        cause, (low, high) = self.handed(500, after=30)
        self.assertEqual(cause, "none")
        self.assertTrue(high >= 0.98, (low, high))

    def test_limits_of_time_that_nobody_reported(self):
        """Waits of 40 ms each until another thread stops: what ended the last would have ended the others."""
        cause, (low, high) = self.handed(*range(140, 480, 40), 500, call=POLL)
        self.assertEqual(cause, "inferred")
        self.assertTrue(low <= 0.75 <= high and high - low < 0.2, (low, high))
        self.setUp()
        cause, (low, high) = self.handed(*range(140, 480, 40), 500, call=POLL, after=-100)
        self.assertTrue(low <= 0.75 and high >= 0.98, (low, high))  # who ended the last is a guess

    def test_naps_that_ptrace_does_not_see(self):
        """The clock of a thread says that it hardly ran: it is no work, and what ended its naps is unknown."""
        for cpu, is_open in (2, True), (10, False):
            self.setUp()
            self.job.facts["method"] = 3
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 800)
            self.samples = [(slice, one, MAIN, cpu) for slice in range(80)]
            self.runs(two, 0, 800, FACT)
            self.waits(two, 799, 800, SLEEP)
            self.runs(one, 800, 1000)
            self.finish()
            low, high = self.what_if("fact=2x")[1]
            self.assertEqual((low < 0.65, high > 0.98), (is_open, True), (cpu, low, high))

    def test_a_thread_that_lacked_a_cpu_under_ptrace(self):
        """No switch is reported then, but samples say it: that is no wait whose end is unknown."""
        self.samples = []
        self.job.facts["method"] = 3
        one, two = self.process(7, 1, 0, 1000), self.process(8, 7, 100, 900)
        self.waits(one, 100, 900, WAIT4)
        for slice in (*range(10), *range(90, 100)):
            self.samples.append((slice, one, FACT, 10))
        for slice in range(10, 90):
            if slice % 4 == 0:
                self.samples.append((slice, two, WORK, 10))
            else:
                self.job.sample([(self.demo, MAIN), (self.wait, READY)], 10, thread=two, slice=slice)
        steps, report = self.path()
        self.assertEqual([step[0] for step in steps], [7, 8, 7])
        path = report["path"]
        self.assertAlmostEqual(path["ready_time"], 0.6, delta=0.02)
        self.assertLess(path["unknown_time"], 0.01)
        low, high = self.what_if("work=2x")[1]
        self.assertTrue(low <= 0.9 <= high, (low, high))     # as long without a CPU, or half of that

    def test_a_thread_whose_end_nobody_reported(self):
        """The kernel reports no wakes by threads that end. On a busy machine who joined one gets a CPU much later."""
        for late, cause in (4, "ended"), (100, "guessed"):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 500)
            self.runs(two, 0, 500, FACT)
            self.waits(one, 10, 500 + late, FUTEX)
            self.runs(one, 500 + late, 1000)
            self.job.reports_wakes = True
            steps, report = self.path()
            self.assertEqual((steps[-1][0], steps[-1][3]), (7, cause))
            self.assertAlmostEqual(self.threads[8]["path_time"], 0.5, delta=0.01)
            low, high = self.what_if("fact=2x")[1]
            self.assertTrue(low <= 0.75 <= high + 0.01, (late, low, high))

    def test_threads_that_idle_until_the_end(self):
        """Their timers do not hold up the process, whose end wakes and ends them."""
        def high(end):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, end)
            self.runs(one, 0, 1000, FACT)
            self.waits(two, 0, 899, SLEEP)
            self.waits(two, 900, 999, FUTEX, 3, one, 99 * MS)
            self.job.reports_wakes = True
            self.finish()
            return self.what_if("fact=2x")[1][1]
        self.assertLess(high(999), 0.56)
        self.assertGreater(high(2000), 0.9)  # it goes on, and the wake-up may have been of use

    def test_short_waits_of_unknown_cause(self):
        """A millisecond at no known place ends as soon after it began, more or less, and not at its old time."""
        def bounds(length):
            self.setUp()
            self.samples = []
            one = self.process(7, 1, 0, 1000)
            self.runs(one, 0, 1000, FACT)
            self.thread(0, 8, 0, 1000)
            self.job.waits.append((one, 600 * MS, length, None))
            self.finish()
            return self.what_if("fact=2x")[1]
        low, high = bounds(MS // 2)
        self.assertTrue(0.45 <= low <= 0.52 <= high <= 0.56, (low, high))
        low, high = bounds(40 * MS)
        self.assertTrue(low <= 0.52 and high >= 0.8, (low, high))

    def open(self, call, *lengths):
        """One waits until 900 and nobody knows for what; two works from 0 to 800 and sleeps."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.runs(two, 0, 800, FACT)
        self.waits(two, 800, 1000, SLEEP)
        self.runs(one, 0, 100)
        at = 100
        for length in lengths:
            self.waits(one, at, at + length - 1, call)
            at += length
        self.runs(one, 900, 1000)
        self.finish()

    def test_what_is_unknown_widens_the_bounds(self):
        for call, lengths in (READ, [800]), (999, [800]), (SLEEP, [20] * 40):
            self.setUp()
            self.open(call, *lengths)
            report, (low, high) = self.what_if("fact=2x")
            self.assertTrue(low <= 0.6 and high >= 1, (call, low, high))
            self.assertAlmostEqual(report["unknown_time"], 0.8, delta=0.05)
            self.assertRegex(self.text("path", "r", "--if", "fact=2x"),
                             r"0\.[78]\d\d s of the path end for unknown reasons: -4\d % to (0|\+\d) %\.\nSo wide a range says only that the change may matter\.\n")
            low, high = self.what_if("fact=200%")[1]
            self.assertTrue(low <= 1 and high >= 1.8, (call, low, high))

    def test_waits_with_a_time_limit(self):
        """What woke the thread at last would have done so in any turn before: bounds are narrow."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
        self.job.creators = [(two, one)]
        for at in range(0, 900, 50):
            self.waits(one, at, at + 50, FUTEX, *((1, 50 * MS) if at < 850 else (4, 1, 50 * MS)))
        self.runs(one, 900, 1000)
        self.runs(two, 0, 900, FACT)
        self.waits(two, 900, 1000, SLEEP)
        self.finish()
        low, high = self.what_if("fact=2x")[1]
        self.assertTrue(low <= 0.55 <= high and high - low < 0.15, (low, high))

    def test_time_limits_of_which_few_were_reported(self):
        """Polls that lasted as long as all that a time is known to have ended were ended by it, too."""
        for lengths, is_limit in ((50,) * 17, True), ((50, 40, 60) * 5 + (50, 50), False):
            self.setUp()
            self.samples = []
            one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 1000)
            self.job.creators = [(two, one)]
            at = 0
            for number, length in enumerate(lengths):
                self.waits(one, at, at + length, POLL, *((1, length * MS) if number % 5 < 2 else ()))
                at += length
            self.waits(one, at, 900, POLL, 4, 1, (900 - at) * MS)
            self.runs(one, 900, 1000)
            self.runs(two, 0, 900, FACT)
            self.waits(two, 900, 1000, SLEEP)
            self.finish()
            low, high = self.what_if("fact=2x")[1]
            self.assertTrue(low <= 0.55 <= high, (low, high))
            self.assertEqual(high - low < 0.15, is_limit, (low, high))

    def test_cpu_time_that_no_sample_has(self):
        """Any of it may have been in the function."""
        self.samples = []
        self.process(7, 1, 0, 1000)
        self.runs(0, 0, 600)
        self.job.facts.update(user=10**9)
        self.finish()
        low, high = self.what_if("work=2x")[1]
        self.assertTrue(low < 0.55 and 0.69 < high < 0.75, (low, high))
        low, high = self.what_if("work=200%")[1]
        self.assertTrue(1.55 < low < 1.62 and high > 1.95, (low, high))

    def test_the_last_turn_of_a_poll(self):
        """Who polls each 200 ms may notice a turn sooner or later than the work is less or more."""
        self.open(SLEEP, *[200] * 4)
        low, high = self.what_if("fact=200%")[1]
        self.assertGreater(high, 1.95)

    def test_a_waker_that_was_told(self):
        """The bounds are as narrow as sampling is; who wakes comes no sooner than the other waits."""
        for begins in 100, 600:
            self.setUp()
            self.samples = []
            one = self.process(7, 1, 0, 1000)
            two, three = self.thread(0, 8, 0, 1000), self.thread(0, 9, 0, 1000)
            self.job.creators = [(two, one), (three, one)]
            self.runs(one, 0, begins)
            self.waits(one, begins, 900, FUTEX, 4, 1, (900 - begins) * MS)
            self.runs(one, 900, 1000)
            self.runs(two, 0, 900, FACT)
            self.waits(two, 900, 1000, SLEEP)
            self.waits(three, 0, 1000, SLEEP)
            self.finish()
            low, high = self.what_if("fact=2x")[1]
            self.assertTrue(high - low < 0.15, (low, high))
            self.assertTrue(low <= max(0.55, begins / 1000 + 0.1) <= high, (low, high))

    def test_a_thread_that_is_kept_from_its_cpu(self):
        """Waits are not recorded, and a sample stands for more than its slice: what is saved is in the gaps."""
        self.samples = []
        one, two = self.process(7, 1, 0, 1000), self.thread(0, 8, 0, 990)
        self.runs(one, 900, 1000)
        self.finish()
        for at in range(0, 90, 20):
            self.job.sample([(self.demo, MAIN), (self.demo, FACT)], 1, thread=two, slice=at, weight=80 * MS)
        self.write(self.job)
        self.assertLess(self.what_if("fact=2x")[1][0], 0.85)

    def test_a_sleep_is_no_unknown(self):
        self.open(SLEEP, 800)
        report, (low, high) = self.what_if("fact=2x")
        self.assertTrue(0.95 <= low <= 1 <= high <= 1.05, (low, high))
        self.assertNotIn("unknown", self.text("path", "r", "--if", "fact=2x"))

    def test_refusals(self):
        self.build()
        self.finish()
        self.assertIn("no function, program or system call 'nosuch'", self.refusal("path", "r", "--if", "nosuch=2x"))
        for value in "work=fast", "work", "=2x", "":
            self.assertIn(f"'--if' takes NAME=2x (twice as fast), NAME=50% or NAME=0, not '{value}'",
                          self.refusal("path", "r", "--if", "work=2x", "--if", value))
        self.assertIn("32 times", self.refusal("path", "r", *["--if", "work=2x"] * 33))
        self.assertIn("'--self' needs --if", self.refusal("path", "r", "--self"))
        for option in ["--steps"], ["--limit", "3"]:
            self.assertIn(f"'{option[0]}' cannot be combined with --if", self.refusal("path", "r", *option, "--if", "work=2x"))


class Hostile(Job):
    @slow
    def test_a_maker_of_many_that_never_waits(self):
        """Where it may have looked at the end of each was searched for to its own end: minutes."""
        children = 300000
        self.job.facts |= dict(slice=10**9, length=children * MS)
        maker = self.process(7, 1, 0, children)
        for i in range(1, children):
            self.process(7 + i, 7, i, i + 1)
        for slice in range(children // 1000):
            self.job.sample([(self.demo, WORK)], 1, thread=maker, slice=slice, weight=9 * 10**8)
        folder = self.write(self.job)
        done = monarc_limited("path", "--no-pager", folder, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"(?m)^300\.000 s from start to end")

    def test_odd_times(self):
        """Waits outside of lives, overlaps, ends before starts, creators in circles: a path all the same."""
        self.samples = []
        one = self.process(7, 1, 100, 900)
        two = self.process(8, 7, 950, 960)
        three = self.process(9, 9, 0, 1000)
        for thread in one, two, three:
            for at in 0, 50, 100, 400:
                self.waits(thread, at, at + 300, [POLL, FUTEX, WAIT4, None][at // 50 % 4])
        self.job.creators = [(one, two), (two, one), (three, one)]
        self.runs(three, 0, 1000)
        self.path()

    def test_damaged_lists(self):
        for name, item in (("turns", (0, 9, 1, 1)), ("parallel", (0, 0, 1)), ("waits", (9, 0, 1, None)),
                           ("waits", (0, 2**63, 2**63, None)), ("waits", (0, 0, 1, None, 5, 0, 0)), ("waits", (0, 0, 1, None, 4, 9, 0)),
                           ("waits", (0, 0, 1, None, 1, 2)), ("creators", (0, 9))):
            with self.subTest(name):
                self.setUp()
                self.build()
                getattr(self.job, name).append(item)
                self.finish()
                self.refusal("path", "r")


SPIN = """
static volatile unsigned long sink;
#define WORK(name, by) __attribute__((noinline)) static void name(int units) \\
    { unsigned long x = by; for (long i = 0; i < units * 200000L; i++) x = x * by + i; sink += x; }
WORK(f, 69069)
WORK(g, 69621)
int main(int argc, char **argv)
{
    for (int i = 0; i < 100; i++)
        f(argc > 1 ? 10 : 20), g(10);
    return 0;
}
"""


@decided
class Recorded(unittest.TestCase):
    """Of real processes. They sleep, since a machine that does other work makes all else uncertain."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def path(self, *command, options=()):
        done = monarc("run", "--no-report", *options, "-o", "r", "--", *command, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = monarc_json("path", "r", cwd=self.dir)
        check_schema(self, "path", report)
        threads = {}
        for t in report["threads"]:
            if not report["path"]["waits_recorded"]:
                t["path_time"] += t["unknown_time"]    # nothing says that a sleep is one
            if t["lasted"] > 0.01:
                threads.setdefault(t["command"], t)
        sleeps = len([c for c in threads if c.startswith("sleep ")])
        if sleeps < (4 if command[0] == "make" else 3):
            self.skipTest(f"the arguments of {sleeps} processes alone were read before they ended")
        return threads, report

    def check_build(self, *options):
        (self.dir / "Makefile").write_text("lib: a b c; sleep 0.31\n\na: ; sleep 3.8\n\nb: ; sleep 0.21\n\nc: ; sleep 0.22\n")
        threads, report = self.path("make", "-j2", options=options)
        if report["summary"]["recording"]["method"] == "ptrace":
            return
        figure(self).assertGreater(threads["sleep 3.8"]["path_time"], 3.5)
        figure(self).assertGreater(threads["sleep 0.31"]["path_time"], 0.3)
        for other in "sleep 0.21", "sleep 0.22":
            figure(self).assertLess(threads[other]["path_time"], 0.02, other)
            figure(self).assertGreater(threads[other]["slack_time"], 0.02)
        # What starts and ends them takes tenths of seconds on a machine that is busy, and may cut a sleep in two.
        names = {t["tid"]: t["command"] for t in report["threads"] if t["command"].startswith("sleep ")}
        slept = [names[s["tid"]] for s in report["steps"] if s["to"] - s["from"] > 0.02 and s["tid"] in names]
        figure(self).assertEqual(list(dict.fromkeys(slept)), ["sleep 3.8", "sleep 0.31"])

    @slow
    @unittest.skipUnless(os.access("/usr/bin/make", os.X_OK), "no make")
    def test_make(self):
        self.check_build("--off-cpu")

    @unittest.skipUnless(os.access("/usr/bin/make", os.X_OK), "no make")
    def test_make_without_waits(self):
        self.check_build()

    def test_a_pipeline(self):
        threads, report = self.path("sh", "-c", "(sleep 0.5; echo; sleep 0.3) | { read x; sleep 1.31; }",
                                    options=["--off-cpu"])
        if not report["path"]["waits_recorded"]:
            self.skipTest("waits are not recorded here")
        figure(self).assertGreater(threads["sleep 1.31"]["path_time"], 1.2)
        # Who woke the reader is told from who ran then, which a busy machine leaves open.
        if not {"woken", "recorded"} & {s["cause"] for s in report["steps"]}:
            self.skipTest("the machine is too busy to tell who woke the reader")
        figure(self).assertGreater(threads["sleep 0.5"]["path_time"], 0.4)
        figure(self).assertLess(threads["sleep 0.3"]["path_time"], 0.05)
        figure(self).assertGreater(threads["sleep 0.3"]["slack_time"], 0.2)

    @slow
    def test_what_if_made_so(self):
        (self.dir / "x.c").write_text(SPIN)
        subprocess.run(["gcc", "-O1", "-g", "-o", "x", "x.c"], cwd=self.dir, check=True)
        used = []
        for arguments in (), ("half",):
            done = monarc("run", "--no-report", "-o", "r%d" % len(arguments), "--", "./x", *arguments, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            flat = monarc_json("flat", "r%d" % len(arguments), cwd=self.dir)
            used.append(sum(f["self_time"] for f in flat["functions"]))
        told = monarc_json("path", "r0", "--if", "f=2x", cwd=self.dir)
        check_schema(self, "path_if", told)
        middle = (told["cpu"]["low"] + told["cpu"]["high"]) / 2
        figure(self).assertAlmostEqual(middle / told["cpu"]["before"], 2 / 3, delta=0.06)
        figure(self).assertAlmostEqual(middle / used[1], 1, delta=0.4)   # the speed of CPUs varies; as it is, it would be 1.5
        self.assertTrue(told["one_thread"])


if __name__ == "__main__":
    main()
