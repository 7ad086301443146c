"""The recorder's own interface: start, stop, reset, snapshots, phases, and files on request."""
import os
import signal
import subprocess
import time
import unittest

from recorder import INCLUDE, PROGRAMS, RT_SO, Recording, RecorderTest

LINK = (RT_SO, "-Wl,-rpath," + os.path.dirname(RT_SO))


class Steering(RecorderTest):
    def test_interface(self):
        program = self.build("steer.c", "-O2", "-pg", *LINK)
        r = self.run_program([program], preload=False)
        recording = self.recording(program)
        self.assert_exact(recording, self.expected(r.stdout))
        first = Recording(recording.folder + "/first").calls()
        self.assertEqual((first["counted"], first.get("not_counted", 0)), (1000, 0))
        self.assertEqual(Recording(self.dir + "/aside").calls()["counted"], 120)
        self.assertEqual(sorted(recording.side.marks), [(0, "middle"), (1, "loop"), (2, "loop")])

    def test_started_by_the_program(self):
        program = self.build("steer.c", "-O2", "-pg", *LINK)
        r = self.run_program([program, "paused"], preload=False, START=0)
        self.assert_exact(self.recording(program), self.expected(r.stdout.replace("123", "123")))

    def test_cplusplus_and_c99(self):
        program = self.dir + "/header"
        subprocess.run(["g++", "-O1", "-pg", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I",
                        INCLUDE, os.path.join(PROGRAMS, "header.cc"), "-o", program, *LINK],
                       check=True)
        self.run_program([program], preload=False)
        counts = {name: sum(n for f, n in Recording(self.dir + name).calls().items()
                            if "counted" in f)
                  for name in ("/header.monarc/first", "/aside", "/header.monarc")}
        self.assertEqual(list(counts.values()), [10, 20, 100])
        marks = [name for _, name in self.recording(program).side.marks]
        self.assertEqual(sorted(marks), ["c++", "loop", "loop"])
        subprocess.run(["gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE,
                        "-fsyntax-only", "-x", "c", INCLUDE + "/monarc/runtime.h"], check=True)

    def test_pkg_config(self):
        """What pkg-config says builds a program; the paths are those of an installation."""
        build = os.path.join(os.path.dirname(RT_SO), "..", "..")
        stage = self.dir + "/stage"
        done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", stage],
                              capture_output=True, text=True)
        if done.returncode:
            self.skipTest("meson install: " + done.stderr[-200:])
        found = [root for root, _, files in os.walk(stage) if "monarc-runtime.pc" in files]
        env = dict(os.environ, PKG_CONFIG_PATH=found[0], PKG_CONFIG_SYSROOT_DIR=stage)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "monarc-runtime"], env=env,
                               capture_output=True, text=True, check=True).stdout.split()
        program = self.dir + "/steer"
        subprocess.run(["gcc", "-O2", "-pg", os.path.join(PROGRAMS, "steer.c"), "-o", program,
                        *flags], check=True)
        where = [f[2:] for f in flags if f.startswith("-L")]
        env = dict(os.environ, LD_LIBRARY_PATH=":".join(where))
        r = subprocess.run([program], cwd=self.dir, env=env, capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(self.recording(program).calls()["counted"], 123)

    def test_signal_writes_files(self):
        program = self.build("waiting.c", "-O2", "-pg")
        env = dict(os.environ, LD_PRELOAD=RT_SO, MONARC_DUMP_SIGNAL=str(int(signal.SIGUSR2)))
        process = subprocess.Popen([program], cwd=self.dir, env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGUSR2)
        side = self.dir + "/waiting.monarc/monarc.side"
        for _ in range(30000):  # ten minutes, which are a hang
            if os.path.exists(side):
                break
            time.sleep(0.02)
        self.assertEqual(self.recording(program).calls()["counted"], 50)
        process.communicate("\n")
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.recording(program).calls()["counted"], 51)

    def test_sidecar_says_what_ran(self):
        program = self.build("threads.c", "-O2", "-pg", "-pthread")
        os.environ["PMI_RANK"] = "7"
        try:
            self.run_program([program, "2"])
        finally:
            del os.environ["PMI_RANK"]
        side = Recording(os.path.join(self.dir, "threads.monarc", "rank.7")).side
        self.assertIn(("host", os.uname().nodename), side.text)
        arguments = [v for k, v in side.text if k == "argument"]
        self.assertEqual(arguments, [program, "2"])
        self.assertIn(("environment", "PMI_RANK"), side.text)
        self.assertIn(("value", "7"), side.text)
        self.assertIn(("directory", os.path.realpath(self.dir)), side.text)
        main = side.objects[1]
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout
        self.assertIn(main["build_id"], notes)


if __name__ == "__main__":
    unittest.main()
