"""Who woke whom: one thread works and then wakes another that all wait for, in each way there is. By construction its
work is on the critical path, and with half of it the program takes that much less: bounds hold that, and what is
not known is not the waiter's work."""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth
from test_time import Time
import sequential
from parts import load_tests, slow

# Of each way, whether who woke whom is known as it is reported: by a flag it is not, nor who has set a timer, nor what
# the kernel itself passes on.
WAYS = {"kill": True, "eventfd": True, "pipe": True, "flag": False, "condition": True, "semaphore": True,
        "sigwait": True, "timed": True, "timerfd": False, "short": False, "limit": True, "spin": False, "yield": False}
MORE = {"signalfd": True, "fifo": True, "socketpair": True, "tcp": False, "udp": False, "terminal": False,
        "epoll": True, "select": True, "inotify": True, "barrier": True, "futex": True, "mutex": True, "rwlock": True,
        "flock": True, "fcntl": True, "semop": True, "message": True, "queue": True}
BY_PTRACE = "semaphore", "pipe"  # which sees waits go on, and infers who ended them


class Wakes(Time, unittest.TestCase):
    method = "perf"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = os.path.join(Time.workshop.build("wakes.c"), "wakes")

    def run_as(self, recorder, *words):
        """As root, or as a user who has no tracepoints."""
        if recorder == "perf":
            return self.run_it(*words)
        try:
            before = truth.become(truth.RECORDERS[recorder], Time.workshop)
        except truth.Unavailable as e:
            self.skipTest(str(e))
        os.chmod(os.path.dirname(self.recording), 0o777)
        options = [word for word in words if word.startswith("--")]
        subprocess.run([*before, truth.MONARC_FOR_ALL, "run", "--no-report", *options, "-o", self.recording, "--",
                        *[word for word in words if not word.startswith("--")]], check=True, env=self.environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=truth.HANGS_S)
        return None

    def check(self, way, *options, kind=None, method="perf", recorder="perf"):
        self.method = method
        self.run_as(recorder, *options, self.program, way, *([kind] if kind else []))
        truths = self.truths()
        path = json.loads(self.monarc("path", "--json", self.recording))
        wall = json.loads(self.monarc("path", "--json", self.recording, "--if", "work=2x"))["wall"]
        worker = next(t for t in path["threads"] if t["name"] == "worker")
        told = worker["path_time"] + path["path"]["unknown_time"] + path["path"]["polled_time"]
        waited, worked = truths["wait", "all"], truths["self", "work"]
        said = [tuple(step.values()) for step in path["steps"]], path["path"]
        with sequential.scattering():
            # Who naps needs a CPU for that, too.
            self.assertGreater(told, (0.6 if way == "short" else 0.95) * waited - 0.02, said)
            self.assertLess(wall["low"], wall["before"] - 0.5 * worked + 0.02 * waited)
            self.assertGreater(wall["high"], wall["before"] - 0.5 * worked - 0.02 * waited)
        is_reported = recorder == "perf" and path["path"]["wakers_recorded"] and {**WAYS, **MORE}[way]
        if not options or kind == "goes-on" and not is_reported:
            return
        causes = [step["cause"] for step in path["steps"]]
        if is_reported:
            with sequential.scattering():  # who woke it is known, and what is not on the way was not ready for long
                self.assertIn("recorded", causes)
        elif "inferred" not in causes:
            return
        with sequential.scattering():
            ready = path["path"]["ready_time"] + path["path"]["rest_time"]
            self.assertGreater(worker["path_time"], 0.95 * waited - 0.05)
            self.assertLess(wall["high"] - wall["low"], 0.1 * waited + ready)


def case(way, *options, **more):
    return sequential.decided(lambda self: self.check(way, *options, **more))


class Inferred(Wakes):
    """Most wakers are found as nobody reports them: of those that stop when they have woken another."""

    def check_most(self, *kind, part=0.3):  # on an idle machine nearly all
        """Of ways in which a thread of the job wakes the other."""
        ways = [way for way in {**WAYS, **MORE} if way not in ("flag", "short", "spin", "yield", "timed", "terminal")]
        found = 0
        for way in ways:
            self.run_as("user", "--off-cpu", self.program, way, *kind)
            path = json.loads(self.monarc("path", "--json", self.recording))
            found += any(step["cause"] == "inferred" for step in path["steps"])
        with sequential.scattering():
            self.assertGreaterEqual(found, part * len(ways))


for name in [name for name in dir(Time) if name.startswith("test_")]:
    setattr(Wakes, name, None)
for way in WAYS:
    setattr(Wakes, "test_" + way, case(way, "--off-cpu"))
    setattr(Wakes, f"test_{way}_of_a_user", slow(case(way, "--off-cpu", recorder="user")))
for way in MORE:
    setattr(Wakes, "test_" + way, slow(case(way, "--off-cpu")))
    setattr(Wakes, f"test_{way}_of_a_user", slow(case(way, "--off-cpu", recorder="user")))
for way in {**WAYS, **MORE}:
    setattr(Wakes, f"test_{way}_of_processes", slow(case(way, "--off-cpu", kind="processes")))
    setattr(Wakes, f"test_{way}_that_goes_on", slow(case(way, "--off-cpu", kind="goes-on")))
    setattr(Wakes, f"test_{way}_that_goes_on_of_a_user", slow(case(way, "--off-cpu", kind="goes-on", recorder="user")))
    setattr(Wakes, f"test_{way}_of_processes_of_a_user",
            slow(case(way, "--off-cpu", kind="processes", recorder="user")))
    by_ptrace = case(way, "--off-cpu", method="ptrace")
    setattr(Wakes, f"test_by_ptrace_{way}", by_ptrace if way in BY_PTRACE else slow(by_ptrace))
setattr(Wakes, "test_shared", case("semaphore", "--off-cpu", kind="processes"))
setattr(Wakes, "test_by_ptrace_shared", case("semaphore", "--off-cpu", kind="processes", method="ptrace"))
setattr(Wakes, "test_without_waits", case("eventfd"))
for name in [name for name in dir(Wakes) if name.startswith("test_")]:
    setattr(Inferred, name, None)
for kind in "threads", "processes":
    setattr(Inferred, f"test_{kind}_of_a_user", slow(sequential.decided(lambda self, kind=kind: self.check_most(kind))))

if __name__ == "__main__":
    unittest.main()
