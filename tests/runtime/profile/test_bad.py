"""Bad conditions: the program runs as it would without the recorder, prints what it would print, and
the recording says in one counted reason what it is less."""
import glob
import os
import re
import shutil
import stat
import subprocess
import unittest

from recorder import MONARC, RT_SO, Gmon, Recording, RecorderTest, Side
from parts import in_both, load_tests, share, slow  # noqa: F401

FLAGS = ("-O2", "-pg", "-pthread")
(LOST_CALLS, LOST_SAMPLES, LOST_EARLY, LOST_FOLDER, LOST_LIVE, LOST_DISK_FULL, LOST_WRITE,
 LOST_PERF, LOST_SECCOMP, LOST_TIMER, LOST_SIGNAL, LOST_DESCRIPTOR, LOST_RACE, LOST_NOTES,
 LOST_EVENT, LOST_RING, LOST_CLOCKS, LOST_SANDBOX, LOST_CUT) = range(19)
PERF = 1  # a sample clock


class Bad(RecorderTest):
    def bad(self, mode, *reasons, exact=True, **env):
        program = self.build("bad.c", *FLAGS)
        plain = self.build("bad.c", "-O2", "-pthread")
        r = self.run_program([program, mode], **env)
        self.assertEqual(r.stderr, "")
        self.said = r.stdout
        here = os.path.join(self.dir, "unrecorded")
        os.mkdir(here)
        without = subprocess.run([plain, mode], cwd=here, capture_output=True, text=True)
        self.assertEqual((r.stdout, r.returncode), (without.stdout, without.returncode))
        shutil.rmtree(here)
        if exact:
            recording = self.recording(program)
            self.assert_exact(recording, self.expected(r.stdout))
            for reason in reasons:
                self.assertIn(reason, recording.side.lost)
            return recording
        return None

    def test_program_that_closes_all_descriptors(self):
        recording = self.bad("closes")
        if recording.side.process["clock"] == 1:
            self.assertGreater(recording.side.process["samples"] + 1, 0)

    def test_program_that_changes_directory(self):
        self.bad("chdir")
        self.assertFalse(os.path.exists(self.dir + "/elsewhere/bad.monarc"))

    def test_no_file_may_grow(self):
        self.bad("fsize", exact=False)
        self.assertEqual(os.listdir(self.dir + "/bad.monarc"), ["monarc.live"])
        self.assertEqual(set(self.losses_in_live_file()), {LOST_WRITE})

    @slow
    def test_live_file_cut_short(self):
        """By another program: this one runs on, later calls are all there, and the loss is named."""
        program = self.build("bad.c", *FLAGS)
        for mode in "cut", "cut-half", "bus", "bus-first":
            for rate in 0, 5000:
                with self.subTest(mode=mode, rate=rate):
                    self.setUp()
                    self.bad(mode, exact=False, RATE=rate)
                    recording = self.recording(program)
                    self.assertGreater(recording.side.lost[LOST_CUT][0], 0)
                    calls = recording.calls()
                    for name, n in self.expected(self.said).items():
                        if name != "own":
                            self.assertTrue(n <= calls[name] <= n + 1000, (name, calls[name]))

    def test_something_in_the_way(self):
        """Of what is to be written, and of what it is to be written as first."""
        program = self.build("threads.c", *FLAGS)
        script = ("mkfifo gmon.out.$$.part; ln precious gmon.out.$$.part 2>/dev/null;"
                  "MONARC_CLASSIC=1 LD_PRELOAD=%s exec %s" % (RT_SO, program))
        for first in "mkfifo", "ln precious", "ln -s precious":
            with self.subTest(first=first):
                self.setUp()
                with open(self.dir + "/precious", "w") as f:
                    f.write("as before")
                subprocess.run(["sh", "-c", script.replace("mkfifo", first, 1)], cwd=self.dir,
                               check=True, timeout=600, capture_output=True)
                names = os.listdir(self.dir)
                self.assertEqual(len(names), 3, names)
                Gmon(self.dir + "/gmon.out")
                with open(self.dir + "/precious") as f:
                    self.assertEqual(f.read(), "as before")
        self.setUp()
        os.mkfifo(self.dir + "/gmon.out")
        self.run_program([program], CLASSIC=1, timeout=600)
        self.assertEqual(os.listdir(self.dir), ["gmon.out"])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.dir + "/gmon.out").st_mode))

    def losses_in_live_file(self):
        live = Side.read_live(self.dir + "/bad.monarc/monarc.live")
        return {reason: n for reason, (n, _) in live.lost.items() if n}

    def test_no_memory(self):
        self.bad("as")

    def test_no_descriptors(self):
        # Nothing can be opened at the end either: what is left is the live file.
        program = self.build("bad.c", *FLAGS)
        r = self.run_program([program, "nofile"])
        self.assertEqual(r.stderr, "")
        self.assertEqual(os.listdir(self.dir + "/bad.monarc"), ["monarc.live"])
        self.assertEqual(set(self.losses_in_live_file()), {LOST_WRITE})

    def made(self, *once):
        """Calls of the starving program."""
        return int(re.search(r"^made (\d+)", self.said, re.M).group(1)) + 1000 + len(once)

    def test_no_memory_for_another_table(self):
        """Calls are lost then, and each of them is counted."""
        program = self.build("bad.c", *FLAGS)
        for live in 1, 0:
            with self.subTest(live=live):
                self.setUp()
                self.bad("starves", exact=False, LIVE=live)
                recording = self.recording(program)
                made = self.made("main", "starves", "starves_to_the_end", "calls", "expect")
                self.assertEqual(sum(recording.calls().values()) + recording.lost(), made)
                self.assertEqual(recording.calls()["plain"], 1000)
                self.assertTrue(0 < recording.lost() < made / 2)

    def test_no_memory_for_the_files(self):
        """The live file stays, with the number of lost calls; the last resort's are not in it."""
        self.bad("starving", exact=False, RATE=0)
        live = Side.read_live(self.dir + "/bad.monarc/monarc.live")
        made = self.made("main", "starves_to_the_end", "calls", "expect")
        losses = self.losses_in_live_file()
        self.assertEqual(set(losses), {LOST_CALLS, LOST_LIVE, LOST_WRITE})
        kept = sum(live.all_arcs.values()) + losses[LOST_CALLS]
        self.assertTrue(made / 2 < kept <= made, (made, kept))

    @in_both
    def test_sampled_on_tiny_stacks(self):
        for mode, clock in share((("small", "perf"), ("altbusy", "timer"), ("small", "timer"), ("altbusy", "perf"),
                                  ("small", "itimer"), ("altbusy", "itimer")), 3):
            with self.subTest(mode=mode, clock=clock):
                self.setUp()
                recording = self.bad(mode, RATE=10000, CLOCK=clock)
                self.assertGreater(recording.side.process["samples"], 0)

    @slow
    def test_two_thousand_threads_on_small_stacks(self):
        recording = self.bad("crowd")
        without_perf = {LOST_PERF, LOST_SECCOMP} & set(recording.side.lost)
        reasons = without_perf or {LOST_CLOCKS}
        self.assertEqual(set(recording.side.lost), {LOST_CALLS} | reasons)

    @slow
    def test_alternate_signal_stack(self):
        self.bad("altstack")

    def test_longjmp_over_ten_thousand_frames(self):
        self.bad("longjmp")

    def test_seccomp_filter(self):
        """The program's own: nothing is sampled or written from then on, and every call is there."""
        program = self.build("bad.c", *FLAGS)
        self.bad("seccomp", exact=False)
        self.assertEqual(set(self.losses_in_live_file()), {LOST_SANDBOX})
        folder = self.dir + "/bad.monarc"
        subprocess.run([MONARC, "recover", folder], check=True, capture_output=True)
        self.assert_exact(self.recording(program), self.expected(self.said))

    def filtered(self, how, **env):
        """The filter is there from the program's first instruction on."""
        program, filtered = self.build("busy.c", *FLAGS), self.build("filtered.c", "-O2")
        r = self.run_program([program, "0.3"], wrapper=(filtered, how, "/usr/bin/env"), **env)
        self.assertEqual(r.stderr, "")
        return self.recording(program).side

    @slow
    def test_filter_that_kills_from_the_start(self):
        side = self.filtered("kill")
        self.assertIn(LOST_SECCOMP, side.lost)
        self.assertEqual(side.process["clock"], 2)
        self.assertGreater(side.process["samples"], 2)  # by jiffies, and few if others run

    @slow
    def test_no_perf_access(self):
        side = self.filtered("refuse", CLOCK="perf")
        self.assertIn(LOST_PERF, side.lost)
        self.assertEqual(side.process["clock"], 2)
        self.assertGreater(side.process["samples"], 2)  # by jiffies, and few if others run
        self.setUp()
        self.assertEqual(self.filtered("refuse").process["clock"], 2)

    @slow
    def test_library_unloaded_under_another_threads_table(self):
        libraries = [self.build("plugin.c", "-O2", "-pg", "-fPIC", "-shared", "-DNAME=" + name,
                                name=name + ".so") for name in ("first", "second")]
        program = self.build("unload.c", *FLAGS, "-ldl")
        for rate in 0, 10000:
            self.setUp()
            r = self.run_program([program, *libraries, "20"], RATE=rate)
            self.assertEqual(r.stderr, "")
            self.assertGreater(int(r.stdout.split()[1]), 10)
            self.assert_exact(self.recording(program), self.expected(r.stdout))

    @slow
    def test_all_signals_blocked(self):
        self.bad("mask")

    def test_registers_and_errno(self):
        self.bad("registers")

    def test_read_only_folder(self):
        program = self.build("threads.c", *FLAGS)
        expected = self.run_program([program], OUT="/proc/nowhere").stdout
        self.assertEqual(expected, self.run_program([program], preload=False).stdout)
        self.assertEqual(glob.glob(self.dir + "/*.monarc"), [])

    def test_reason_without_a_folder(self):
        """What could not be had is in what the program writes elsewhere."""
        program = self.build("steer.c", "-O2", "-pg", RT_SO,
                             "-Wl,-rpath," + os.path.dirname(RT_SO))
        r = self.run_program([program], check=False, preload=False, OUT="/proc/nowhere")
        self.assertEqual((r.stderr, r.returncode), ("", 1))  # what it asked to be written was not
        aside = Recording(self.dir + "/aside")
        self.assertEqual(aside.side.lost[LOST_FOLDER][0], 1)
        self.assertEqual(aside.calls()["counted"], 120)

    def test_file_system_for_reading_only(self):
        if os.geteuid() != 0:
            self.skipTest("needs a file system of its own")
        place = self.dir + "/readonly"
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place],
                          capture_output=True).returncode:
            self.skipTest("cannot mount")
        try:
            program, plain = self.build("bad.c", *FLAGS), self.build("bad.c", "-O2", "-pthread")
            r = subprocess.run([program, "longjmp"], cwd=place, capture_output=True, text=True,
                               env=dict(os.environ, LD_PRELOAD=RT_SO))
            expected = subprocess.run([plain, "longjmp"], cwd=place, capture_output=True, text=True)
            self.assertEqual((r.stdout, r.stderr, r.returncode),
                             (expected.stdout, "", expected.returncode))
        finally:
            subprocess.run(["umount", "-l", place])

    def test_nothing_may_be_written_here(self):
        """As in a read-only folder: /proc takes no folder, whoever asks."""
        program = self.build("threads.c", *FLAGS)
        plain = subprocess.run([program], cwd="/proc", capture_output=True, text=True,
                               env=dict(os.environ, GMON_OUT_PREFIX=self.dir + "/plain"))
        r = subprocess.run([program], cwd="/proc", capture_output=True, text=True,
                           env=dict(os.environ, LD_PRELOAD=RT_SO))
        self.assertEqual((r.stdout, r.stderr, r.returncode), (plain.stdout, "", plain.returncode))

    def test_full_disk(self):
        if os.geteuid() != 0:
            self.skipTest("needs a file system of its own")
        small = self.dir + "/small"
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small],
                          capture_output=True).returncode:
            self.skipTest("cannot mount")
        try:
            program = self.build("threads.c", *FLAGS)
            r = self.run_program([program, "4"], OUT=small + "/out", RATE=0)
            self.assertEqual(r.stderr, "")
            self.assertEqual(r.stdout, self.run_program([program, "4"], preload=False).stdout)
            recording = Recording(small + "/out")
            self.assert_exact(recording, self.expected(r.stdout))
            self.assertIn(LOST_DISK_FULL, recording.side.lost)
            self.assertIn(LOST_LIVE, recording.side.lost)
            # Nothing fits at all, perhaps not even the file that fills the rest.
            try:
                with open(small + "/filler", "wb") as f:
                    f.write(b"x" * 65536)
            except OSError:
                pass
            shutil.rmtree(small + "/out", True)
            r = self.run_program([program, "2"], OUT=small + "/out", RATE=0)
            self.assertEqual(r.stderr, "")
            self.assertEqual(glob.glob(small + "/out/*.part"), [])
        finally:
            subprocess.run(["umount", "-l", small])

    def test_setuid_program_is_left_alone(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make a set-user-ID program")
        library = shutil.copy(RT_SO, self.dir + "/libmonarc_rt.so.1")  # where others may read it
        program = self.build("threads.c", *FLAGS, library, "-Wl,-rpath," + self.dir)
        copy = self.dir + "/threads"
        shutil.copy(program, copy)
        os.chmod(self.dir, 0o777)
        os.chown(copy, 65534, 65534)
        os.chmod(copy, 0o6755)
        self.run_program([copy], preload=False)
        self.assertEqual(glob.glob(self.dir + "/*.monarc"), [])

    def test_classic_file(self):
        program = self.build("threads.c", *FLAGS)
        self.run_program([program], CLASSIC=1)
        self.assertEqual(sorted(os.listdir(self.dir)), ["gmon.out"])
        self.setUp()
        self.run_program([program], GMON_OUT_PREFIX="run")
        names = os.listdir(self.dir)
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^run\.\d+$")

    def test_switched_off(self):
        program = self.build("threads.c", *FLAGS)
        self.run_program([program], OFF=1)
        self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    unittest.main()
