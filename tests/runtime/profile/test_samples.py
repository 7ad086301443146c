"""Samples: their number, their places, their stacks, on every clock; beside programs that use
signals, descriptors and filters of their own."""
import os
import signal
import subprocess
import time
import unittest

from recorder import CC, RecorderTest
from parts import in_both, load_tests, share, slow  # noqa: F401
import sequential

FLAGS = ("-O2", "-pg", "-pthread")


def takes(flag):
    words = [CC, "-Werror", flag, "-E", "-x", "c", "/dev/null"]
    return subprocess.run(words, capture_output=True).returncode == 0


class Samples(RecorderTest):
    def busy(self, *arguments, flags=FLAGS, **env):
        program = self.build("busy.c", *flags)
        begun = time.monotonic()
        r = self.run_program([program, *map(str, arguments)], **env)
        self.elapsed = time.monotonic() - begun
        self.said = r.stderr
        if "EVENT" not in env:
            self.assertEqual(r.stderr, "")
        recording = self.recording(program)
        return recording, float(r.stdout.split()[-1])

    def assert_roughly(self, found, expected):
        with sequential.scattering():
            self.assertGreater(found, expected / 3)
            self.assertLess(found, expected * 3)

    def stacks(self, recording):
        """Hits by call path, outermost first, as names."""
        nodes, paths = recording.side.nodes, {}
        for node, (parent, address, hits) in nodes.items():
            if not hits:
                continue
            path, at = [], node
            while at != 1:
                parent, address, _ = nodes[at]
                o = recording.side.object_at(address)
                name = recording.names(o).at(address - o["bias"] - (at != node)) if o else "?"
                path.append(name)
                at = parent
            paths[tuple(reversed(path))] = paths.get(tuple(reversed(path)), 0) + hits
        return paths

    def check(self, recording, cpu, rate, scatter=1):
        """Laws hold exactly. The number of samples is held to a factor of 3: on a loaded machine clocks are late, and
        the recorder is not to blame for that. A timer's signal stands for all periods that passed since the last
        one, so that there may be fewer where others had the processor for half of the time. What a sample
        stands for is known all the same: together they are the CPU time."""
        side = recording.side
        self.assertEqual(recording.lost(), 0)
        if side.process["clock"] == 1 or cpu > self.elapsed / 2:
            self.assert_roughly(side.process["samples"] / rate, cpu)
        with sequential.scattering():
            self.assertGreater(side.process["samples"], 10)
            self.assertAlmostEqual(side.process["samples"] / (side.process["millihertz"] / 1000), cpu, delta=0.1 * cpu)
        gmon = recording.gmon()
        self.assertEqual(gmon.dimension, "seconds")
        self.assertAlmostEqual(gmon.rate, side.process["millihertz"] / 1000, delta=1)
        self.assertEqual(sum(gmon.samples.values()),
                         sum(hits for _, address, hits in side.nodes.values()
                             if side.object_at(address) is side.objects[1]))
        names = {}
        for address, hits in gmon.samples.items():
            name = recording.names(side.objects[1]).at(address)
            names[name] = names.get(name, 0) + hits
        with sequential.scattering():
            self.assertGreater(names["spin"], 0.8 * sum(names.values()))
        paths = self.stacks(recording)
        self.assertEqual(sum(paths.values()), side.process["samples"])
        below = {f: sum(n for path, n in paths.items() if f in path) for f in ("left", "right")}
        # Three quarters, within five standard deviations of so few samples, if they are drawn one by one.
        n = below["left"] + below["right"]
        inside = sum(n for path, n in paths.items() if "work" in path)
        with sequential.scattering():
            self.assertAlmostEqual(below["left"] / n, 0.75, delta=5 * scatter * (0.75 * 0.25 / n) ** 0.5 + 0.03)
            self.assertGreater(inside, 0.9 * side.process["samples"])

    @sequential.decided
    def test_perf(self):
        recording, cpu = self.busy(0.6)
        if recording.side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        self.check(recording, cpu, 1000)

    @slow
    @sequential.decided
    def test_ten_kilohertz(self):
        recording, cpu = self.busy(0.5, RATE=10000)
        if recording.side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        self.check(recording, cpu, 10000)
        self.assertEqual(recording.side.process["rate"], 10000)

    @slow
    def test_deep_stacks(self):
        """Beyond the 127 frames that the kernel follows: all but the first few samples reach main."""
        self.all_deep_stacks(900)

    @slow
    def test_stacks_of_other_depths(self):
        self.all_deep_stacks(20, 125, 400)

    def all_deep_stacks(self, *depths):
        for frames in depths:
            with self.subTest(frames=frames):
                sequential.measure(f"{frames} frames", lambda frames=frames: self.deep_stacks(frames))

    def deep_stacks(self, frames):
        self.setUp()
        program = self.build("deep.c", *FLAGS)
        self.run_program([program, str(frames), "0.4"])
        paths = self.stacks(self.recording(program))
        whole = sum(n for path, n in paths.items() if "outermost" in path and "burn" in path)
        with sequential.scattering():
            self.assertGreater(whole, 0.7 * sum(paths.values()))
        longest = max(paths, key=len)
        self.assertEqual(longest.count("down"), frames + 1)

    @slow
    def test_no_descriptor_stays_open(self):
        # Threads whose stacks are of what they entered (-mfentry) have one: they are sampled without a ring.
        mcount = ["-mno-fentry"] if os.uname().machine == "x86_64" and takes("-mno-fentry") else []
        program = self.build("deep.c", *FLAGS, *mcount)
        plain = self.run_program([program, "5", "0.05"], preload=False).stdout
        recorded = self.run_program([program, "5", "0.05"])
        self.assertEqual(recorded.stdout, plain)

    @slow
    @sequential.decided
    def test_timer(self):
        recording, cpu = self.busy(1.2, CLOCK="timer", RATE=100)
        self.assertEqual(recording.side.process["clock"], 2)
        self.check(recording, cpu, 100)

    @slow
    @sequential.decided
    def test_process_timer(self):
        recording, cpu = self.busy(1.2, CLOCK="itimer", RATE=100)
        self.assertEqual(recording.side.process["clock"], 3)
        self.check(recording, cpu, 100)

    @slow
    def test_program_in_step_with_the_clock(self):
        """30 % and 70 % of each period of the clock: one that kept its period would see 0 % or 100 %.
        The limit is five standard deviations of samples drawn at random, one and a half times."""
        self.all_in_step(("perf", 5000, 200, 0.6))

    @slow
    def test_program_in_step_with_other_clocks(self):
        self.all_in_step(("perf", 1000, 1000, 1.5), ("perf", 1000, 500, 1.5), ("perf", 1000, 2000, 1.5),
                         ("timer", 50, 20000, 3), ("itimer", 50, 20000, 3))

    def all_in_step(self, *clocks):
        for clock, rate, period_us, seconds in clocks:
            with self.subTest(clock=clock, period=period_us):
                sequential.measure(f"{period_us} us by {clock}", lambda clock=clock, rate=rate, period_us=period_us,
                                   seconds=seconds: self.in_step(clock, rate, period_us, seconds))

    def in_step(self, clock, rate, period_us, seconds):
        self.setUp()
        program = self.build("lockstep.c", *FLAGS)
        r = self.run_program([program, str(period_us), str(seconds)], CLOCK=clock, RATE=rate)
        side = (recording := self.recording(program)).side
        if clock == "perf" and side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        self.assertEqual(recording.lost(), 0)
        truth, paths = float(r.stdout), self.stacks(recording)
        fa, fb = (sum(n for path, n in paths.items() if f in path) for f in ("fa", "fb"))
        limit = 7.5 * (truth * (1 - truth) / (fa + fb)) ** 0.5
        with sequential.scattering():
            self.assertAlmostEqual(fa / (fa + fb), truth, delta=limit)

    @slow
    @sequential.decided
    def test_threads(self):
        recording, cpu = self.busy(0.5, 3)
        # Each thread keeps a period, and meets the loop of 0.17 ms at few places: 40 runs scattered 2.2 times as
        # much as samples that are drawn.
        self.check(recording, cpu, recording.side.process["millihertz"] / 1000, scatter=2.5)
        each = [t["samples"] for t in recording.side.threads]
        self.assertEqual(len(each), 3)
        self.assertEqual(sum(each), recording.side.process["samples"])
        with sequential.scattering():
            self.assertGreater(min(each), 0)
        for t in recording.side.threads:
            self.assert_roughly(t["cpu"] / 1e9, 0.5)
        if recording.side.process["clock"] == 1:  # none has more samples a second than the others
            rates = [t["samples"] / t["cpu"] for t in recording.side.threads]
            with sequential.scattering():
                self.assertGreater(min(rates), 0.8 * max(rates))

    @in_both
    def test_time_that_is_not_sampled(self):
        """While the recording is written or does not go on, no sample is kept: what samples stand for is the rest."""
        program = self.build("writes.c", *FLAGS)
        for how, rate in share((("writes", 1000), ("writes", 10000), ("stops", 1000)), 3):
            with self.subTest(how=how, rate=rate):
                sequential.measure(f"{how} at {rate} Hz", lambda how=how, rate=rate: self.not_sampled(program, how, rate))

    def not_sampled(self, program, how, rate):
        self.setUp()
        r = self.run_program([program, how], RATE=rate)
        side, cpu = self.recording(program).side, float(r.stdout.split()[-1])
        if side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        with sequential.scattering():
            self.assertAlmostEqual(side.process["samples"] / (side.process["millihertz"] / 1000), cpu, delta=0.1 * cpu)

    def test_without_stacks(self):
        recording, _ = self.busy(0.3, STACKS=0)
        self.assertTrue(all(parent == 1 for parent, _, _ in recording.side.nodes.values()))

    def test_none(self):
        recording, _ = self.busy(0.1, RATE=0)
        self.assertEqual(recording.side.process["samples"], 0)
        self.assertEqual(recording.gmon().samples, {})

    @sequential.decided
    def test_wall_clock(self):
        program = self.build("sleepy.c", *FLAGS)
        self.run_program([program], EVENT="wall", RATE=200)
        recording = self.recording(program)
        paths = self.stacks(recording)
        asleep = sum(n for path, n in paths.items() if "asleep" in path)
        with sequential.scattering():
            self.assertGreater(asleep, 0)

    def test_page_faults(self):
        program = self.build("faults.c", *FLAGS)
        self.run_program([program], EVENT="page-faults")
        recording = self.recording(program)
        if recording.side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        gmon = recording.gmon()
        self.assertEqual((gmon.dimension, gmon.rate), ("page faults", 1))
        names = {}
        for address, hits in gmon.samples.items():
            name = recording.names(recording.side.objects[1]).at(address)
            names[name] = names.get(name, 0) + hits
        self.assertGreaterEqual(names["touch"], 1900)
        own = [o for o in recording.side.objects.values() if "libmonarc_rt" in o["path"]]
        found = [hits for _, address, hits in recording.side.nodes.values()
                 if recording.side.object_at(address) in own]
        self.assertLess(sum(found), 100)  # writing the files is not what was to be measured

    @sequential.decided
    def test_context_switches(self):
        program = self.build("sleepy.c", *FLAGS)
        self.run_program([program], EVENT="context-switches")
        recording = self.recording(program)
        side, gmon = recording.side, recording.gmon()
        if side.process["clock"] != 1:
            self.skipTest("no perf_event_open here")
        self.assertEqual((gmon.dimension, gmon.rate, side.process["event"]), ("switches", 1, 3))
        self.assertIn(("dimension", "switches"), side.text)
        paths = self.stacks(recording)
        with sequential.scattering():
            self.assertGreater(sum(n for path, n in paths.items() if "asleep" in path), 0)

    @slow
    def test_counters_or_what_there_is(self):
        for event, number, dimension in ("cycles", 4, "cycles"), \
                ("instructions", 5, "instructions"), ("cache-misses", 6, "cache misses"), \
                ("branch-misses", 7, "branch misses"):
            with self.subTest(event=event):
                self.setUp()
                recording, _ = self.busy(0.2, EVENT=event)
                side, gmon = recording.side, recording.gmon()
                said = f"libmonarc_rt: MONARC_EVENT={event} is not available here: CPU time is sampled"
                self.assertEqual(said in self.said, side.process["event"] != number)
                if side.process["event"] == number:
                    self.assertEqual((gmon.dimension, gmon.rate), (dimension, 1))
                else:  # no counters in this machine: said, and CPU time instead
                    self.assertIn(14, side.lost)
                    self.assertEqual((side.process["event"], gmon.dimension), (0, "seconds"))
                    self.assertIn(("event", "cpu"), side.text)
                    self.assertGreater(side.process["samples"], 0)

    @slow
    def test_an_event_that_nobody_knows(self):
        recording, _ = self.busy(0.2, EVENT="cpu-cycle")
        self.assertEqual(self.said, "libmonarc_rt: MONARC_EVENT=cpu-cycle is no event that the recorder "
                                    "knows: CPU time is sampled\n")
        self.assertEqual(recording.gmon().dimension, "seconds")
        self.busy(0.1, EVENT="cpu")
        self.assertEqual(self.said, "")

    @slow
    @sequential.decided
    def test_gprof_reads_time(self):
        recording, cpu = self.busy(0.5)
        report = subprocess.run(["gprof", "-b", "-p", self.build("busy.c", *FLAGS),
                                 os.path.join(recording.folder, "gmon.out")],
                                capture_output=True, text=True)
        self.assertEqual(report.stderr, "")
        spin = [line.split() for line in report.stdout.splitlines() if line.endswith("spin")][0]
        self.assert_roughly(float(spin[2]), cpu)

    @slow
    def test_program_that_arranges_all_signals(self):
        """It finds what it set, gets what it is sent, and no tick."""
        program, plain = (self.build("monitored.c", "-O2", *flags, "-pthread", "-ldl")
                          for flags in (("-pg",), ()))
        for how, code in ("", 0), ("dies", -signal.SIGSTKFLT):
            with self.subTest(how=how):
                self.setUp()
                without = self.run_program([plain, "arranges", how], check=False, preload=False)
                r = self.run_program([program, "arranges", how], check=False, RATE=5000)
                self.assertEqual((without.returncode, r.returncode), (code, code))
                self.assertEqual(r.stdout, without.stdout)
                if not how:
                    samples = self.recording(program).side.process["samples"]
                    self.assertGreater(samples, 20)

    @slow
    @sequential.decided
    def test_program_with_sigprof_of_its_own(self):
        """Its ticks are its own: as many as without the recorder, unless others want the processor, when
        the kernel delivers fewer of them."""
        program = self.build("sigprof.c", *FLAGS)
        plain = self.run_program([self.build("sigprof.c", "-O2")], preload=False).stdout
        recorded = self.run_program([program]).stdout
        self.assertEqual(recorded.replace("wrong", "right"), plain.replace("wrong", "right"))
        with sequential.scattering():
            self.assertEqual(recorded, plain)
        self.assertGreater(self.recording(program).side.process["samples"], 0)


if __name__ == "__main__":
    unittest.main()
