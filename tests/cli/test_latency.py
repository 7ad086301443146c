"""Samples weighed by how many threads ran: of recordings whose threads run together at known times."""

import json
import sys

from harness import DEMO, check_schema, main, monarc, monarc_json, monarc_limited
from parts import load_tests, slow
from run_file import FILE, WAIT, Run
from test_recording import ALPHA, FACT, MAIN, WORK, Case

sys.dont_write_bytecode = True
MS = 10**6
SLICE = 10 * MS
READY = 2**32


class Latency(Case):
    def job(self, threads=3, **facts):
        """A second in slices of 10 ms; frames are functions of the demo."""
        self.run = Run("./demo", **facts)
        self.demo = self.run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        self.wait = self.run.object(WAIT)
        self.run.process(7, 1, self.demo, "demo")
        for tid in range(threads):
            self.run.thread(0, 7 + tid, "demo")
        return self.run

    def rows(self, *arguments):
        rows, summary = self.flat(self.write(self.run), "--latency", *arguments)
        times = {name.split(".")[0]: row["self_time"] for name, row in rows.items() if row["self_time"]}
        p = summary["recording"]["parallelism"]
        return times, {bar["threads"]: bar["time"] for bar in p["histogram"]}, p

    def test_alone_and_together(self):
        run = self.job()
        for slice in range(10):
            run.sample([(self.demo, WORK)], 10, slice=slice)
            if slice >= 5:
                run.sample([(self.demo, FACT)], 10, thread=1, slice=slice)
        times, numbers, p = self.rows()
        self.assertAlmostEqual(times["work"], 0.075)   # 50 ms alone, 50 ms with another
        self.assertAlmostEqual(times["fact"], 0.025)
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.9, 1: 0.05, 2: 0.05})
        self.assertFalse(p["measured"])
        self.assertAlmostEqual(p["busy_time"], 0.1)
        self.assertAlmostEqual(p["cpu_time"], 0.15)

    def test_the_cpu_time_stands_beside(self):
        run = self.job()
        run.sample([(self.demo, WORK)], 10)
        run.sample([(self.demo, FACT)], 10, thread=1)
        run.sample([(self.demo, WORK)], 10, slice=1)
        rows, _ = self.flat(self.write(run), "--latency")
        self.assertEqual([e["name"] for e in rows["work.isra.0"]["events"]], ["CPU"])
        self.assertAlmostEqual(rows["work.isra.0"]["events"][0]["self_share"], 2 / 3)
        self.assertAlmostEqual(rows["work.isra.0"]["self_share"], 3 / 4)
        text = self.text("flat", "--force", "--latency", str(self.dir / "r"))
        self.assertIn("Parallel 0.030 s of CPU time in 0.020 s with a thread running: 1.50 at a time", text)
        self.assertIn("threads at a time: 0 for 0.980 s (98.0 %), 1 for 0.010 s (1.0 %), 2 for 0.010 s", text)
        self.assertIn("CPU%", text)

    def test_a_sample_stands_for_the_time_before_it(self):
        run = self.job()
        run.sample([(self.demo, WORK)], 5, slice=0)     # its clock is late: 5 ms of the first slice
        run.sample([(self.demo, WORK)], 15, slice=1)    # are in the second
        run.sample([(self.demo, FACT)], 10, thread=1, slice=0)
        times, numbers, _ = self.rows()
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.98, 1: 0.01, 2: 0.01})
        self.assertAlmostEqual(times["fact"], 0.005)

    def test_half_of_the_time_is_taken_to_be_any_half(self):
        run = self.job()
        for slice in range(4):
            run.sample([(self.demo, WORK)], 5, slice=slice)
            run.sample([(self.demo, FACT)], 5, thread=1, slice=slice)
        times, numbers, _ = self.rows()
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.97, 1: 0.02, 2: 0.01})
        self.assertAlmostEqual(times["work"], 0.015)    # 20 ms: half alone, half with the other

    def test_threads_of_one_slice_that_never_met(self):
        run = self.job(threads=0)
        run.thread(0, 7, "a", end=6 * MS)
        run.thread(0, 8, "b", start=6 * MS)
        run.sample([(self.demo, WORK)], 6, thread=0)
        run.sample([(self.demo, FACT)], 4, thread=1)
        times, numbers, _ = self.rows()
        self.assertAlmostEqual(times["work"], 0.006)
        self.assertAlmostEqual(times["fact"], 0.004)
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.99, 1: 0.01})

    def test_no_more_run_than_there_are_cpus(self):
        run = self.job(threads=4)
        for thread in range(4):
            for slice in range(3):
                run.sample([(self.demo, WORK)], 5, thread=thread, slice=slice)
        times, numbers, _ = self.rows()
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.97, 2: 0.03})
        self.assertAlmostEqual(times["work"], 0.03)

    def test_many_threads(self):
        run = self.job(threads=40, cpus=64)
        for thread in range(40):
            run.sample([(self.demo, WORK)], 10, thread=thread)
        times, numbers, p = self.rows()
        self.assertAlmostEqual(times["work"], 0.01, places=5)
        self.assertAlmostEqual(numbers[40], 0.01, places=5)
        self.assertAlmostEqual(p["cpu_time"], 0.4, places=5)

    def test_as_switches_say(self):
        run = self.job()
        run.sample([(self.demo, WORK)], 4)
        run.sample([(self.demo, FACT)], 4, thread=1)
        run.sample([(self.demo, MAIN), (self.wait, 7)], 6)          # waits are no part of it
        run.sample([(self.demo, MAIN), (self.wait, READY)], 6, thread=1)
        run.sample([(self.demo, ALPHA)], 5, slice=3)
        run.turns = [(0, 0, 4 * MS, 3 * MS), (0, 1, 4 * MS, 3 * MS), (3, 0, 5 * MS, 5 * MS)]
        run.parallel = [(0, 1, 4 * MS), (0, 2, 2 * MS), (3, 1, 5 * MS)]
        times, numbers, p = self.rows()
        self.assertTrue(p["measured"])
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.989, 1: 0.009, 2: 0.002})
        self.assertEqual({n: round(s, 6) for n, s in times.items()}, {"work": 0.003, "fact": 0.003, "alpha": 0.005})
        times, numbers, _ = self.rows("--from", "0.02")
        self.assertEqual({n: round(s, 6) for n, s in times.items()}, {"alpha": 0.005})
        self.assertEqual({n: round(s, 6) for n, s in numbers.items()}, {0: 0.975, 1: 0.005})

    def test_more_slices_than_can_be_walked_over(self):
        """A length is a claim of the file: 2^62 slices, of which two have a sample."""
        run = self.job(slice=4, length=2**62)
        run.sample([(self.demo, WORK)], 1, slice=0, weight=4)
        run.sample([(self.demo, WORK)], 1, slice=5, weight=4)
        folder = self.write(run)
        done = monarc_limited("flat", "--force", "--latency", folder, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)

    @slow
    def test_claims_of_much_time_between_two_samples(self):
        """Of each thread a million slices could be filled: 40 GB of turns, from 30 KB."""
        run = self.job(threads=1000, slice=1, length=2**20)
        for thread in range(1000):
            run.sample([(self.demo, WORK)], 1, thread=thread, slice=0, weight=1)
            run.sample([(self.demo, WORK)], 1, thread=thread, slice=2**20 - 1, weight=2**40)
        folder = self.write(run)
        done = monarc_limited("flat", "--force", "--latency", folder, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)

    @slow
    def test_short_threads_in_great_number(self):
        """One behind the other in one slice: each was alone. Looking at all of them for each took minutes."""
        threads = 100000
        run = self.job(threads=0, slice=10**9)
        for tid in range(threads):
            run.thread(0, 7 + tid, "t", start=1 + tid * 10000, end=1 + tid * 10000 + 10000)
            run.sample([(self.demo, WORK)], 1, thread=tid, weight=5000)
        folder = self.write(run)
        done = monarc_limited("flat", "--force", "--latency", "--json", folder, cwd=self.dir)
        p = json.loads(done.stdout)["summary"]["recording"]["parallelism"]
        self.assertEqual([bar["threads"] for bar in p["histogram"] if bar["time"] > 1e-6], [0, 1])
        self.assertAlmostEqual(p["busy_time"], 0.5, places=4)

    def test_windows_that_overlap_count_once(self):
        run = self.job(slice=10 * MS, length=995 * MS)
        run.sample([(self.demo, WORK)], 10)
        run.sample([(self.demo, WORK)], 10, slice=99, weight=5 * MS)
        for at, kind in (0, 1), (40, 1), (50, 2), (60, 2), (980, 1), (1000, 2):   # the first ends at 60
            run.marks.append((at * MS, kind, 0, 7, "part"))
        _, numbers, _ = self.rows("--phase", "part")
        self.assertAlmostEqual(sum(numbers.values()), 0.075)

    def test_chosen_threads_ran_beside_all_others(self):
        run = self.job()
        run.sample([(self.demo, WORK)], 10)
        run.sample([(self.demo, FACT)], 10, thread=1)
        times, _, _ = self.rows("--thread", "7")
        self.assertEqual(times, {"work": 0.005})

    def test_trees_exports_and_runs_in_sum(self):
        run = self.job()
        run.sample([(self.demo, MAIN), (self.demo, WORK)], 10)
        run.sample([(self.demo, MAIN), (self.demo, FACT)], 10, thread=1)
        run.sample([(self.demo, MAIN), (self.demo, WORK)], 10, slice=1)
        self.write(run)
        text = self.text("graph", "--force", "--tree", "--latency", "r")
        self.assertRegex(text, r"75(\.\d)? .*work")
        done = monarc("export", "--format", "folded", "--latency", "r", cwd=self.dir)
        self.assertEqual(done.stderr, b"")
        weights = dict(line.rsplit(" ", 1) for line in done.stdout.decode().splitlines())
        work, fact = (float(next(n for path, n in weights.items() if name in path.split(";")[-1]))
                      for name in ("work", "fact"))
        self.assertAlmostEqual(work / fact, 3, delta=0.2)
        rows, summary = self.flat("--latency", "r", "r")
        self.assertAlmostEqual(rows["work.isra.0"]["self_time"], 0.03)
        self.assertAlmostEqual(summary["recording"]["parallelism"]["busy_time"], 0.04)

    def test_refusals(self):
        run = self.job()
        run.events.append(("page-faults", 1, 1, 0))
        run.sample([(self.demo, WORK)], 10)
        self.write(run)
        self.assertIn("needs samples of time, and 'page-faults' counts events",
                      self.refusal("flat", "--force", "--latency", "--event", "page-faults", "r"))
        self.assertIn("the event 'x' was not recorded", self.refusal("flat", "--force", "--latency", "--event", "x", "r"))


class Ready(Case):
    """What doctor says of a job that was held back."""

    def found(self, run):
        table = monarc_json("doctor", self.write(run))
        check_schema(self, "doctor", table)
        return {f["name"]: f for f in table["findings"]}

    def run_of(self, ready):
        run = Run("./demo")
        demo, wait = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(WAIT)
        run.events = [("wall", 0, MS, 0)]
        run.process(7, 1, demo, "demo")
        run.thread(0, 7, "demo")
        run.sample([(demo, MAIN)], 1000)
        run.sample([(demo, MAIN), (wait, READY)], ready)
        return run

    def test_no_free_cpu(self):
        self.assertIn("20.0 % of the recorded time", self.found(self.run_of(250))["no-free-cpu"]["evidence"])
        self.assertNotIn("no-free-cpu", self.found(self.run_of(50)))

    def test_a_limit_of_cpu_time(self):
        run = self.run_of(0)
        self.assertNotIn("cpu-limit", self.found(run))
        phrase = "11 of 18 periods, 0.294 s over all CPUs; limit 20000/100000 us of CPU time; /sys/fs/cgroup/a"
        run.texts.append(("throttled", phrase))
        finding = self.found(run)["cpu-limit"]
        self.assertEqual((finding["severity"], finding["evidence"]), ("warning", phrase))
        run.texts[-1] = "throttled", phrase.replace("11", "1")
        self.assertEqual(self.found(run)["cpu-limit"]["severity"], "note")
        self.assertIn(b"throttled: 1 of 18 periods", monarc("info", "r", cwd=self.dir).stdout)

    def test_waits_beside_cpu_time_without_a_place(self):
        """A wait's length is exact, but its share is of a total of which 0.2 s of 1 s have no sample."""
        run = self.run_of(0)
        run.facts["user"] = 10**9
        run.samples.clear()
        run.sample([(0, MAIN)], 800)
        run.sample([(0, MAIN), (1, READY)], 1000)
        text = monarc("flat", "--force", self.write(run)).stdout.decode()
        self.assertIn("CPU      0.800 s of 1.000 s CPU time accounted for (80.0 %)", text)
        row = {f["name"]: f for f in monarc_json("flat", "--force", "r", cwd=self.dir)["functions"]}["[ready to run]"]
        self.assertAlmostEqual(row["self_share_low"], 0.5)
        self.assertAlmostEqual(row["self_share_high"], 0.6)

    def test_threads_that_spin(self):
        for library, name in ("libgomp.so.1.0.0", "openmp-spins"), ("libopen-pal.so.40.30.2", "mpi-polls"):
            for part, severity in (10, None), (50, "note"), (200, "warning"):
                with self.subTest(library, part=part):
                    run = self.run_of(0)
                    spins = run.object(FILE, "/usr/lib/" + library, b"\7" * 20, low=0x7f0000, high=0x7f9000)
                    run.sample([(0, MAIN), (spins, 0x7f1000)], part)
                    finding = self.found(run).get(name)
                    self.assertEqual(finding and finding["severity"], severity)
                    if finding:
                        share = 100 * part / (1000 + part)
                        self.assertEqual(finding["evidence"], f"{share:.1f} % of the samples are in /usr/lib/{library} itself")


if __name__ == "__main__":
    main()
