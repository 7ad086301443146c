"""Time in which a thread could run but had no CPU, told from sleeping: against the kernel's own account, which
the program reads at its end. How much it is depends on what else the machine does, so others compete for it."""
import json
import subprocess
import sys
import os
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth
import sequential
from parts import load_tests, slow
from test_time import Time


class Ready(Time, unittest.TestCase):
    method = "perf"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.program = os.path.join(Time.workshop.build("naps.c"), "naps")
        except truth.Unavailable as why:
            raise unittest.SkipTest(str(why))

    def setUp(self):
        super().setUp()
        for cpu in 2 * list(os.sched_getaffinity(0)):
            rival = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(rival.wait)
            self.addCleanup(rival.kill)
            os.sched_setaffinity(rival.pid, {cpu})  # wherever the program is, it has company

    def record(self, nap, *options):
        """What the program says of itself, having waited for a CPU: on a machine that is idle but for its rivals,
        the kernel lets it on at once unless it ranks below them; on a busy one, it would starve if it did."""
        for nicer in "0", "5", "10", "15", "19":
            self.run_it(*options, self.program, nap, nicer)
            truths = self.truths()
            if truths["wait", "ready"] > 0.1:
                return truths
        raise sequential.Outside("it never had to wait for a CPU")

    def check(self, nap):
        truths = self.record(nap, "--off-cpu")
        rows, _ = self.flat()
        told, known = rows.get("[ready to run]", {"self_time": 0})["self_time"], truths["wait", "ready"]
        slept = rows["[waiting] clock_nanosleep"]["self_time"]
        # The end of its life is not in the account that it reads, nor is the last piece always read.
        with sequential.scattering():
            self.assertGreater(told, 0.75 * known - 0.05)
            self.assertLess(told, 1.1 * known + 0.1)
            self.assertGreater(slept, 0.9 * truths["wait", "sleep"])

    @sequential.decided
    def test_short_naps(self):
        self.check("0.001")

    @slow
    @sequential.decided
    def test_long_naps(self):
        self.check("0.02")

    def compare(self, old, new):
        """How often it could nap, and so how much it worked, is up to its rivals: a difference is no failure."""
        done = subprocess.run([truth.MONARC, "diff", "--json", "--all", old, new], text=True, capture_output=True,
                              env=self.environment, timeout=truth.HANGS_S)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    @slow
    @sequential.decided
    def test_comparisons_leave_it_out(self):
        """It is up to what else the machine did: it has a row, and no part in any other; nor is it judged."""
        old, new = self.recording + "-1", self.recording + "-2"
        self.record("0.001", "--off-cpu")
        os.rename(self.recording, old)
        self.record("0.001", "--off-cpu")
        os.rename(self.recording, new)
        self.record("0.001")
        seen = self.compare(old, new)
        rows = {row["name"]: row for row in seen["functions"]}
        ran_and_slept = sum(row["self_time"]["new"] for name, row in rows.items() if name != "[ready to run]")
        with sequential.scattering():
            self.assertAlmostEqual(rows["main"]["total_time"]["new"], ran_and_slept, delta=0.1 * ran_and_slept)
        self.assertIsNone(rows["[ready to run]"]["self_time"]["chance"])
        # Of two sides of which one has no waits, only what ran is compared.
        seen = self.compare(self.recording, new)
        for row in seen["functions"]:
            self.assertIsNone(row["total_time"]["chance"], row)
            if row["name"].startswith(("[waiting", "[ready", "[stopped")):
                self.assertIsNone(row["self_time"]["chance"], row)
        self.assertIn("one side alone has waits", "".join(seen["summary"]["notes"]))


for name in [name for name in dir(Time) if name.startswith("test_")]:
    setattr(Ready, name, None)

if __name__ == "__main__":
    unittest.main()
