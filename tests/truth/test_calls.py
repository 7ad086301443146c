"""System calls of every kind return under `monarc run` what they return without, where perf events
are refused and threads are stopped to be looked at.

Two programs make each kind of call over and over and count what is wrong: fewer bytes than were
asked for, EINTR that no handler has caused, a wait that ends early. One round stops few of them in
the kernel, so there are signals that the program ignores, too: they wake traced threads alone, and
what the calls then return is repaired in the same way. The slow part makes twenty rounds."""
import concurrent.futures
import errno
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth
from parts import load_tests, slow

FREESTANDING_32 = ["-m32", "-nostdlib", "-static", "-O1", "-fno-stack-protector", "-fno-pic", "-no-pie",
                   "-mgeneral-regs-only"]


class Calls(unittest.TestCase):
    recorder = "refused-user"
    extra = ()

    @classmethod
    def setUpClass(cls):
        try:
            cls.workshop = truth.Workshop()
            cls.programs = {name: os.path.join(cls.workshop.build(name + ".c", extra=["-lutil", *cls.extra]), name)
                            for name in ("calls", "calls_that_wait")}
            cls.before = truth.become(truth.RECORDERS[cls.recorder], cls.workshop)
        except truth.Unavailable as why:
            raise unittest.SkipTest(str(why))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="monarc-calls-")
        os.chmod(folder.name, 0o777)
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def wrong(self, program, *arguments, bare=False):
        argv = [self.programs[program], *arguments]
        if not bare:
            recording = tempfile.mkdtemp(prefix="rec-", dir=self.dir) + "/rec"
            os.chmod(os.path.dirname(recording), 0o777)
            argv = [truth.MONARC_FOR_ALL, "run", "--no-report", "--rate", "10000", "-o", recording, "--", *argv]
        r = subprocess.run([*self.before, *argv], cwd=self.dir, stdin=subprocess.DEVNULL, text=True,
                           capture_output=True, timeout=truth.HANGS_S)
        self.assertEqual(r.returncode, 0, r.stderr)
        kinds = re.findall(r"^(\S+ wrong (\d+) of (\d+).*)$", r.stdout, re.M)
        self.assertGreater(len(kinds), 12, r.stdout + r.stderr)
        self.assertTrue(all(int(all_) > 0 for _, _, all_ in kinds), r.stdout)
        return [line for line, count, _ in kinds if count != "0"]

    def rounds(self, n, seconds):
        """Two programs at a time: most of the time they wait, and company makes it no easier."""
        kinds = [(i, program, signals) for i in range(n) for program in self.programs
                 for signals in ([], ["-s"])]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [pool.submit(self.wrong, program, seconds, *signals)
                     for _, program, signals in kinds]
            for (i, program, signals), wrong in zip(kinds, found):
                with self.subTest(round=i, program=program, signals=bool(signals)):
                    self.assertEqual(wrong.result(), [])

    @slow
    def test_without_monarc(self):
        """The programs expect what the kernel does."""
        for program in self.programs:
            self.assertEqual(self.wrong(program, "0.02", "-s", bare=True), [])

    def test_one_round(self):
        self.rounds(1, "0.06")

    @slow
    def test_filter(self):
        """A program that may not make the call by which the kernel goes on with a wait."""
        self.assertEqual(self.wrong("calls_that_wait", "0.1", "-f"), [])

    def test_32_bit(self):
        program = os.path.join(self.dir, "calls_32")
        try:
            self.workshop.compile("calls_32.c", program, FREESTANDING_32)
        except truth.Unavailable as why:
            self.skipTest(str(why))
        try:
            subprocess.run([program], cwd=self.dir, timeout=truth.HANGS_S)
        except OSError as why:
            if why.errno != errno.ENOEXEC:
                raise
            self.skipTest("this kernel runs no 32-bit programs")
        argv = [truth.MONARC_FOR_ALL, "run", "--no-report", "--rate", "10000", "-o",
                os.path.join(self.dir, "rec"), "--", program]
        for words in argv[-1:], argv, argv:
            r = subprocess.run([*self.before, *words], cwd=self.dir, timeout=truth.HANGS_S, text=True,
                               stderr=subprocess.PIPE)
            self.assertEqual(r.returncode, 0, "check of that number failed; " + r.stderr)

    @slow
    def test_twenty_rounds(self):
        self.rounds(20, "0.06")


@slow
class CallsOfDeepStacks(Calls):
    """By perf events, threads are looked at where their stacks are deeper than what is copied of them."""
    recorder = "perf"
    extra = (os.path.join(truth.PROGRAMS, "deep_main.c"), "-Wl,--wrap=main")

    def test_is_looked_at(self):
        """Stacks are whole, which only looks make them."""
        recording = os.path.join(self.dir, "whole")
        subprocess.run([truth.MONARC_FOR_ALL, "run", "--no-report", "-o", recording, "--", self.programs["calls"], "1"],
                       cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True,
                       timeout=truth.HANGS_S)
        report = truth.Report(recording, [truth.MONARC])
        self.assertGreater(report.total_s("__wrap_main"), 0)


if __name__ == "__main__":
    unittest.main()
