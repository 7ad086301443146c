"""Time that is easily told wrongly: of threads that wait while monarc attaches and ever after, before an
exec, of children for which no process waited, between the start of a wait and its end; and counts that the
kernel knows better than samples do."""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth
import sequential
from parts import load_tests, slow


class Time:
    """The tests; the two classes below say by which method."""
    method = None

    @classmethod
    def setUpClass(cls):
        if os.geteuid():
            raise unittest.SkipTest("not root")
        try:
            Time.workshop = getattr(Time, "workshop", None) or truth.Workshop()
            cls.program = os.path.join(Time.workshop.build("lives.c"), "lives")
        except truth.Unavailable as why:
            raise unittest.SkipTest(str(why))

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="monarc-time-")
        self.addCleanup(folder.cleanup)
        self.recording = os.path.join(folder.name, "rec")
        self.said = os.path.join(folder.name, "truth")
        self.environment = dict(os.environ, TRUTH=self.said, LC_ALL="C")

    def monarc(self, *words):
        return subprocess.run([truth.MONARC, *words], check=words[0] != "doctor", text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.environment, timeout=truth.HANGS_S).stdout

    def run_it(self, *words):
        options = [word for word in words if word.startswith("--")]
        rest = [word for word in words if not word.startswith("--")]
        self.monarc("run", "--no-report", "--method", self.method, *options, "-o", self.recording, "--", *rest)

    def attach(self, child, *options):
        return subprocess.Popen([truth.MONARC, "run", "--no-report", "--method", self.method, *options,
                                 "-o", self.recording, "--pid", str(child.pid)], env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self, what, program=None):
        child = subprocess.Popen([program or self.program, what], env=self.environment, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(child.wait)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stdin.close)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def await_that(self, condition):
        """However busy the machine is."""
        end = time.monotonic() + truth.HANGS_S
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def await_attached(self, recorder, child):
        """Until the kernel says that it is traced, or that the recorder has events."""
        def is_attached():
            with open(f"/proc/{child.pid}/status", encoding="utf-8") as file:
                if "TracerPid:\t0\n" not in file.read():
                    return True
            folder = f"/proc/{recorder.pid}/fd"
            return any("perf_event" in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)
                       if os.path.islink(os.path.join(folder, fd)))
        self.await_that(is_attached)
        time.sleep(0.5)  # to be done with all threads

    def flat(self, *options):
        report = json.loads(self.monarc("flat", "--json", *options, self.recording))
        return {row["name"]: row for row in report["functions"]}, report["summary"]

    def truths(self):
        with open(self.said, encoding="utf-8") as file:
            return {(kind, name): float(value) for kind, name, value in map(str.split, file)}

    @sequential.decided
    def test_threads_that_wait_throughout(self):
        self.see_threads_wait(self.program)

    @sequential.decided
    def test_threads_that_wait_with_frame_pointers(self):
        """Which nobody knows of a thread that waits, unless it is stopped."""
        built = os.path.join(Time.workshop.build("lives.c", "O0"), "lives")
        self.see_threads_wait(built)
        self.run_it("--off-cpu", built, "sleeps")
        rows, _ = self.flat()
        with sequential.scattering():
            self.assertGreater(rows["main"]["total_time"], 0.3)  # and it was ready to run, with no place
        self.assertFalse([name for name in rows if name.startswith("[stack cut: stack and")])

    @sequential.decided
    def test_waits_with_frame_pointers_have_their_callers(self):
        """Those, too, whose call does not say what it calls; and no others."""
        for build in "O0", "frames":
            self.run_it("--off-cpu", os.path.join(Time.workshop.build("lives.c", build), "lives"), "called")
            seen = collections.Counter()
            for line in self.monarc("export", "--format", "folded", self.recording).splitlines():
                path, ns = line.rsplit(" ", 1)
                frames = path.split(";")
                at = [i for i, name in enumerate(frames) if name.startswith("waits_") and "main" in path]
                if at:
                    caller = "by_entry" if frames[at[0]] == "waits_behind_entry" else "by_pointer"
                    self.assertEqual(frames[at[0] - 2:at[0]], ["main", caller], path)
                    seen[frames[at[0]]] += int(ns) / 1e9
                self.assertFalse("waits_" in path and "main" not in path, path)
            for name in "waits_called", "waits_with_room", "waits_behind_entry":
                with sequential.scattering():
                    self.assertGreater(seen[name], 0.15, build)

    def see_threads_wait(self, program):
        child = self.start("waits", program)
        def waits():
            states = []
            for task in glob.glob(f"/proc/{child.pid}/task/*/stat"):
                with open(task, encoding="utf-8") as file:
                    states.append(file.read().rpartition(")")[2].split()[0])
            return states == ["S"] * 3
        self.await_that(waits)
        self.assertEqual(self.attach(child, "--off-cpu", "--seconds=2").wait(truth.HANGS_S), 0)
        rows, summary = self.flat()
        length = summary["recording"]["length_ns"] / 1e9
        with sequential.scattering():
            for name in "waits_in_read", "waits_in_poll", "main":
                self.assertAlmostEqual(rows[name]["total_time"], length, delta=0.05 * length, msg=name)
            self.assertAlmostEqual(sum(r["self_time"] for r in rows.values()), 3 * length, delta=0.1 * length)

    @slow
    @sequential.decided
    def test_what_was_before_an_exec_counts_once(self):
        child = self.start("execs")
        recorder = self.attach(child)
        self.await_attached(recorder, child)
        child.stdin.write("x")
        child.stdin.flush()
        self.assertEqual(recorder.wait(truth.HANGS_S), 0)
        child.wait()
        known, (rows, summary) = self.truths(), self.flat()
        work = known["self", "before_exec"] + known["self", "after_exec"]
        with sequential.scattering():
            self.assertAlmostEqual(summary["recording"]["cpu_time"], work, delta=0.1 * work + 0.02)
        self.assertIn("before_exec", rows)
        self.assertIn("after_exec", rows)

    @slow
    @sequential.decided
    def test_programs_of_one_process_have_their_own(self):
        """The system counts a process, whatever it executes: its clock tells the programs apart."""
        self.run_it(self.program, "execs")
        known = self.truths()
        rows = json.loads(self.monarc("flat", "--by-process", "--json", self.recording))["rows"]
        self.assertEqual(len(rows), 2, rows)
        for row, name in zip(sorted(rows, key=lambda row: row["start_ns"]), ("before_exec", "after_exec")):
            with sequential.scattering():
                used = (row["user_ns"] + row["system_ns"]) / 1e9
                self.assertAlmostEqual(used, known["self", name], delta=0.02 + 0.05 * used, msg=name)

    @slow
    @sequential.decided
    def test_a_process_has_its_own_without_its_children(self):
        """Though it has waited for them, after which the system counts them as its own."""
        self.run_it(self.program, "family")
        own = self.truths()["self", "before_exec"]
        rows = json.loads(self.monarc("flat", "--by-process", "--json", self.recording))["rows"]
        first = min(rows, key=lambda row: row["start_ns"])
        with sequential.scattering():
            self.assertAlmostEqual((first["user_ns"] + first["system_ns"]) / 1e9, own, delta=0.04)
        self.run_it("--no-follow", self.program, "family")
        own = self.truths()["self", "before_exec"]
        with sequential.scattering():
            self.assertAlmostEqual(self.flat()[1]["recording"]["cpu_time"], own, delta=0.04)

    @slow
    def test_a_program_is_one_process(self):
        """Before its exec it is none of its own, and has nothing."""
        self.run_it(self.program, "executed")
        self.assertIn("processes: 1\n", self.monarc("info", self.recording))

    @sequential.decided
    def test_children_for_which_nobody_waited(self):
        self.run_it(self.program, "children")
        known, (_, summary) = self.truths(), self.flat()
        recording = summary["recording"]
        work = known["self", "before_exec"] + known["self", "in_child"]
        self.assertLessEqual(recording["accounted_time"], recording["cpu_time"])
        with sequential.scattering():
            self.assertAlmostEqual(recording["cpu_time"], work, delta=0.1 * work + 0.02)
        doctor = self.monarc("doctor", self.recording)
        self.assertIn("for which no process waited", doctor)
        self.assertNotIn("Nothing is wrong", doctor)

    @slow
    @sequential.decided
    def test_brief_children_for_which_nobody_waited(self):
        """What the samples of short processes stand for is not scaled to accounts that lack them."""
        if self.method != "perf":
            self.skipTest("ptrace does not meet processes that are so short")
        self.run_it(self.program, "brief")
        rows, summary = self.flat()
        known, seen = 60 * 0.005, rows["in_child"]["self_time"]
        # A busy machine loses samples, and says so.
        lost = sum(loss["ns"] for loss in summary["recording"]["losses"] if loss["kind"] == "records") / 1e9
        with sequential.scattering():
            self.assertLess(seen, known + 0.1)
            self.assertGreater(seen + lost, known - 0.1)

    def of_other_rights(self, program):
        """A copy that runs as root whoever starts it."""
        folder = os.path.dirname(self.recording)
        if os.statvfs(folder).f_flag & os.ST_NOSUID or not shutil.which("setpriv"):
            self.skipTest("no program has other rights here")
        os.chmod(folder, 0o777)
        copy = shutil.copy(program, os.path.join(folder, "other"))
        os.chmod(copy, 0o4755)
        return copy

    def unseen(self, script):
        """By text, what a recording of a script by an ordinary user says of processes that it did not see, in seconds."""
        nobody = ["setpriv", f"--reuid={truth.NOBODY}", f"--regid={truth.NOBODY}", "--clear-groups"]
        subprocess.run([*nobody, truth.MONARC_FOR_ALL, "run", "--no-report", "--method", self.method, "-o",
                        self.recording, "--", "sh", "-c", script], check=True,
                       timeout=truth.HANGS_S,
                       env=dict(self.environment, TRUTH="/dev/null"), stderr=subprocess.DEVNULL)
        recording = self.flat()[1]["recording"]
        unseen = {loss["text"]: loss["ns"] / 1e9 for loss in recording["losses"] if loss["kind"] == "unseen"}
        self.assertLessEqual(recording["accounted_time"] + sum(unseen.values()), recording["cpu_time"] * 1.01)
        return unseen

    @slow
    @sequential.decided
    def test_programs_of_other_rights(self):
        """Nobody may watch them, and nothing else is to be blamed for their time."""
        other = self.of_other_rights(self.program)
        (text, seconds), = self.unseen(f"{other} executed; {self.program} executed").items()
        self.assertIn("other privileges", text)
        # What the rest of the CPU time is, also what they used after ptrace looked at them last.
        with sequential.scattering():
            self.assertAlmostEqual(seconds, 0.3, delta=0.1)

    @slow
    @sequential.decided
    def test_what_programs_of_other_rights_start(self):
        """Nobody looks at that, neither: it is known from the account of who waited for it alone."""
        other = self.of_other_rights(shutil.which("timeout"))
        (text, seconds), = self.unseen(f"{other} {truth.HANGS_S} {self.program} executed").items()
        self.assertIn("other privileges", text)
        with sequential.scattering():
            self.assertAlmostEqual(seconds, 0.3, delta=0.1)

    @sequential.decided
    def test_what_is_left_alone_for_two_reasons(self):
        """What nobody looked at is of either."""
        if self.method != "ptrace":
            self.skipTest("perf events see programs with a leak checker")
        other = self.of_other_rights(shutil.which("timeout"))
        leaks = os.path.join(os.path.dirname(self.recording), "leaks")
        if subprocess.run(["gcc", "-O1", "-fsanitize=leak", "-pthread", "-o", leaks,
                           os.path.join(truth.PROGRAMS, "lives.c")], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("this compiler has no leak checker")
        unseen = self.unseen(f"{other} {truth.HANGS_S} {self.program} executed; {leaks} executed")
        self.assertEqual([sum(word in text for text in unseen) for word in
                          ("other privileges", "leak checker", "known in sum only")], [1, 1, 1])
        with sequential.scattering():
            self.assertAlmostEqual(sum(unseen.values()), 0.6, delta=0.15)
            self.assertGreater(next(unseen[text] for text in unseen if "known in sum only" in text), 0.2)

    @sequential.decided
    def test_a_wait_is_where_it_was(self):
        self.run_it("--off-cpu", "sleep", "2")
        rows, _ = self.flat("--from", "0.5", "--to", "1")
        with sequential.scattering():
            self.assertAlmostEqual(sum(r["self_time"] for r in rows.values()), 0.5, delta=0.02)
        rows, _ = self.flat()
        sleep = rows["[waiting] clock_nanosleep"]
        with sequential.scattering():
            self.assertLess(sleep["self_share_high"] - sleep["self_share_low"], 0.01)
        self.assertNotIn("samples say little", self.monarc("flat", self.recording))


class ByPerf(Time, unittest.TestCase):
    method = "perf"

    def test_time_begins_with_the_program(self):
        """Not with the recorder, however long opening its events takes."""
        slowly, opened = (os.path.join(os.path.dirname(self.recording), name) for name in ("slowly.so", "opened"))
        Time.workshop.compile("opens_slowly.c", slowly, ["-O1", "-shared", "-fPIC"])
        self.environment.update(LD_PRELOAD=slowly, OPENED=opened)
        self.run_it("sleep", "0.1")
        del self.environment["LD_PRELOAD"]
        recording = self.flat()[1]["recording"]
        with open(opened, encoding="utf-8") as file:
            # Within what the two clocks of the system may differ by.
            self.assertGreater(recording["start_ns"] / 1e9, float(file.read()) - 0.01)

    @slow
    def test_counters_have_the_last_word(self):
        for pages in 160, 6000:
            self.run_it("--event=page-faults", self.program, "faults", str(pages))
            known = self.truths()
            os.unlink(self.said)
            rows, _ = self.flat()
            seen = sum(row["self_time"] for row in rows.values())
            # Those of the process before its exec are in its own account alone, and nobody knows
            # how many of those before main() they are.
            self.assertGreaterEqual(seen, known["faults", "main"])
            self.assertLessEqual(seen, known["faults", "all"])


class ByPtrace(Time, unittest.TestCase):
    method = "ptrace"


def leave_to_slow(of_class, *names):
    """By one of the methods alone, which the quick part asks less of."""
    for name in names:
        def test(self, name=name):
            getattr(Time, name)(self)
        test.__doc__ = getattr(Time, name).__doc__
        setattr(of_class, name, slow(test))


leave_to_slow(ByPerf, "test_waits_with_frame_pointers_have_their_callers", "test_what_programs_of_other_rights_start",
              "test_threads_that_wait_with_frame_pointers")
leave_to_slow(ByPtrace, "test_waits_with_frame_pointers_have_their_callers", "test_threads_that_wait_with_frame_pointers",
              "test_programs_of_other_rights", "test_what_is_left_alone_for_two_reasons",
              "test_what_was_before_an_exec_counts_once", "test_children_for_which_nobody_waited", "test_a_wait_is_where_it_was")


if __name__ == "__main__":
    unittest.main()
