"""Who woke whom: one thread works and then wakes another that all wait for, in each way there is. By construction its
work is on the critical path, and with half of it the program takes that much less: bounds hold that, and what is
not known is not the waiter's work."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_time import Time
import sequential
from parts import load_tests

# Of each way, whether who woke whom is known: by a flag it is not, nor who has set a timer.
WAYS = {"kill": True, "eventfd": True, "pipe": True, "flag": False, "condition": True, "semaphore": True,
        "sigwait": True, "timed": True, "timerfd": False, "short": False, "shared": True,
        "limit": True, "spin": False, "yield": False}
BY_PTRACE = "semaphore", "shared", "pipe"  # which sees waits go on, and guesses who ended them


class Wakes(Time, unittest.TestCase):
    method = "perf"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = os.path.join(Time.workshop.build("wakes.c"), "wakes")

    def check(self, way, *options, method="perf"):
        self.method = method
        self.run_it(*options, self.program, way)
        truths = self.truths()
        path = json.loads(self.monarc("path", "--json", self.recording))
        wall = json.loads(self.monarc("path", "--json", self.recording, "--if", "work=2x"))["wall"]
        worker = next(t for t in path["threads"] if t["name"] == "worker")
        told = worker["path_time"] + path["path"]["unknown_time"] + path["path"]["polled_time"]
        waited, worked = truths["wait", "all"], truths["self", "work"]
        with sequential.scattering():
            # Who naps needs a CPU for that, too.
            self.assertGreater(told, (0.6 if way == "short" else 0.95) * waited - 0.02)
            self.assertLess(wall["low"], wall["before"] - 0.5 * worked + 0.02 * waited)
            self.assertGreater(wall["high"], wall["before"] - 0.5 * worked - 0.02 * waited)
        if WAYS[way] and options and path["path"]["wakers_recorded"]:
            with sequential.scattering():  # who woke it is known, and what is not on the way was not ready for long
                self.assertIn("recorded", [step["cause"] for step in path["steps"]])
                self.assertGreater(worker["path_time"], 0.95 * waited - 0.05)
                ready = path["path"]["ready_time"] + path["path"]["rest_time"]
                self.assertLess(wall["high"] - wall["low"], 0.1 * waited + ready)


def case(way, *options, **more):
    return sequential.decided(lambda self: self.check(way, *options, **more))


for name in [name for name in dir(Time) if name.startswith("test_")]:
    setattr(Wakes, name, None)
for way in WAYS:
    setattr(Wakes, "test_" + way, case(way, "--off-cpu"))
for way in BY_PTRACE:
    setattr(Wakes, "test_by_ptrace_" + way, case(way, "--off-cpu", method="ptrace"))
setattr(Wakes, "test_without_waits", case("eventfd"))

if __name__ == "__main__":
    unittest.main()
