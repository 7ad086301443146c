"""Under a monitor: calls are exact however the process ends, and the program cannot tell."""
import os
import signal
import subprocess
import time
import unittest

from monitor import Monitor
from recorder import RT_SO, Recording, RecorderTest
from parts import load_tests, slow

FLAGS = ("-O2", "-pg", "-pthread", "-ldl")


class Monitored(RecorderTest):
    def program(self, *flags):
        return self.build("monitored.c", *(flags or FLAGS))

    def life(self, *flags):
        return self.build("life.c", *(flags or ("-O2", "-pg", "-pthread")))

    def watch(self, *command, code=0, folders=None, **env):
        """Runs it; all folders together have the calls that it says."""
        self.monitor = Monitor(self.dir)
        r = self.monitor.run(list(map(str, command)), self.dir, **env)
        self.assertEqual((r.returncode, r.stderr), (code, ""), r.stdout)
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(["control", "out", *self.beside]))
        self.found = self.monitor.recordings()
        if folders is not None:
            self.assertEqual(len(self.found), folders, self.found)
        total = {}
        for recording in self.found.values():
            self.assertEqual(recording.lost(), 0)
            for name, n in recording.calls().items():
                total[name] = total.get(name, 0) + n
        if "expect" in r.stdout:
            for name, n in self.expected(r.stdout).items():
                self.assertEqual(total.get(name, 0), n, "calls of " + name)
        self.total, self.told = total, self.monitor.told()
        return r

    beside = ()

    def again(self):
        self.setUp()

    def test_every_end(self):
        for how, code in (("exit", 3), ("raw", 3), ("abort", -signal.SIGABRT),
                          ("kill", -signal.SIGKILL), ("segv", -signal.SIGSEGV)):
            with self.subTest(how=how):
                self.again()
                self.watch(self.program(), "dies", how, code=code, folders=1)
                pid = int(next(iter(self.found)))
                self.assertEqual([t[:3] for t in self.told], [("calls", str(pid), pid)])

    @slow
    def test_fentry(self):
        self.watch(self.program("-O2", "-pg", "-mfentry", *FLAGS[2:]), "dies", "kill",
                   code=-signal.SIGKILL, folders=1)

    @slow
    def test_linked(self):
        program = self.program("-O2", "-pg", "-pthread", "-ldl", RT_SO,
                               "-Wl,-rpath," + os.path.dirname(RT_SO))
        self.watch(program, "dies", "segv", code=-signal.SIGSEGV, folders=1)

    def test_lives(self):
        for mode, code, folders in (("exits", 3, 1), ("quick", 4, 1), ("vforks", 0, 1),
                                    ("execs", 0, 1), ("destructors", 0, 1), ("clones", 0, 1),
                                    ("many-threads", 0, 1)):
            with self.subTest(mode=mode):
                self.again()
                self.watch(self.life(), mode, code=code, folders=folders)

    @slow
    def test_forks(self):
        for mode, children, each in (("forks", 20, None), ("bare-fork", 1, 100),
                                     ("fork-threads", 20, 50)):
            with self.subTest(mode=mode):
                self.again()
                self.watch(self.life(), mode, folders=children + 1)
                calls = [r.calls() for r in self.found.values()]
                self.assertEqual(sum("in_child" in c for c in calls), children)
                self.assertEqual(sum("before" in c or "in_thread" in c for c in calls), 1)
                if each:
                    self.assertEqual({c["in_child"] for c in calls if "in_child" in c}, {each})

    def test_exec_chain(self):
        self.watch(self.program(), "chain", 5, folders=6)
        pid = self.monitor.folders()[0]
        self.assertEqual(self.monitor.folders(), [pid] + ["%s.%d" % (pid, n) for n in range(2, 7)])
        self.assertEqual([t[1] for t in self.told], self.monitor.folders())

    @slow
    def test_children_that_count_nothing(self):
        self.watch(self.program(), "idle", 200, folders=1)

    @slow
    def test_children_left_out(self):
        self.monitor = Monitor(self.dir)
        self.monitor.run([self.life(), "forks"], self.dir, MONARC_FOLLOW_FORK="0")
        self.assertEqual(len(self.monitor.folders()), 1)

    def test_program_without_calls(self):
        r = self.watch("/bin/sh", "-c", "exec /bin/echo hello", folders=0)
        self.assertEqual(r.stdout, "hello\n")
        self.assertEqual(self.told, [])

    @slow
    def test_looks_as_without(self):
        plain = self.program("-O2", "-pthread", "-ldl")
        without = subprocess.run([plain, "looks"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(self.watch(self.program(), "looks", folders=1).stdout, without.stdout)

    @slow
    def test_sandboxes(self):
        for how, code in (("strict", 5), ("filter", 5), ("syscall", 5), ("threads", 0)):
            with self.subTest(how=how):
                self.again()
                self.watch(self.program(), "sandbox", how, code=code, folders=1)
                marked = [t[:2] for t in self.told if t[0] == "phase"]
                self.assertEqual(marked, [("phase", "sandboxed")] if code else [])

    @slow
    def test_child_of_a_sandbox(self):
        self.watch(self.program(), "sandbox", "child", folders=1)
        (why,) = [t for t in self.told if t[0] == "not counted"]
        self.assertIn("forked child", why[1])
        self.assertEqual(str(why[2]), self.monitor.folders()[0])

    def test_sandbox_that_is_refused(self):
        self.watch(self.program(), "refused", folders=2)

    def test_steering(self):
        program = self.program("-O2", "-pg", "-pthread", "-ldl", RT_SO,
                               "-Wl,-rpath," + os.path.dirname(RT_SO))
        self.beside = ("aside",)
        self.watch(program, "steers", folders=1)
        pid = self.monitor.folders()[0]
        out = self.monitor.out + "/" + pid
        self.assertEqual([t[:2] for t in self.told], [
            ("calls", pid), ("phase", "first"), ("begin", "loop"), ("end", "loop"), ("stopped", ""),
            ("resumed", ""), ("dump", os.path.realpath(self.dir) + "/aside"),
            ("dump", ""), ("dump", out + "/snap"), ("reset", "")])
        self.assertEqual({t[2] for t in self.told}, {int(pid)})
        self.assertEqual({t[3] for t in self.told}, {int(pid)})
        times = [t[4] for t in self.told]
        self.assertEqual(times, sorted(times))
        self.assertLess(0, time.monotonic_ns() - times[-1])
        self.assertLess(time.monotonic_ns() - times[0], 60e9)
        for folder in self.dir + "/aside", out + "/snap":
            calls = Recording(folder).calls()
            self.assertEqual((calls["before"], calls["after"], calls.get("in_child", 0)),
                             (100, 10, 0))

    def test_started_later(self):
        self.monitor = Monitor(self.dir)
        self.monitor.run([self.program(), "idle", "3"], self.dir, MONARC_START="0")
        self.assertEqual([t[0] for t in self.monitor.told()], ["stopped"])
        self.assertEqual(self.monitor.folders(), [])

    def test_marks_of_threads_and_children(self):
        program = self.program("-O2", "-pthread", "-ldl", RT_SO,
                               "-Wl,-rpath," + os.path.dirname(RT_SO))
        self.watch(program, "marks", folders=0)
        self.assertEqual(len(self.told), 401)
        threads = {(t[1], t[3]) for t in self.told}
        self.assertEqual(len(threads), 5)
        (child,) = [t for t in self.told if t[1] == "child"]
        self.assertNotEqual(child[2], self.told[0][2])
        self.assertEqual(child[2], child[3])

    @slow
    def test_full_ring(self):
        program = self.program("-O2", "-pthread", "-ldl", RT_SO,
                               "-Wl,-rpath," + os.path.dirname(RT_SO))
        monitor = Monitor(self.dir, capacity=16)
        monitor.run([program, "marks"], self.dir)
        self.assertEqual(monitor.dropped(), 401 - 16)
        self.assertEqual(len(monitor.told()), 16)

    def test_library_that_stays(self):
        """Nobody asks the loader at the end; its calls have their place all the same."""
        library = self.build("plugin.c", "-O2", "-pg", "-fPIC", "-shared", "-DNAME=first",
                             name="first.so")
        self.watch(self.program(), "plugin", library, code=-signal.SIGKILL, folders=1)
        (recording,) = self.found.values()
        self.assertEqual([o["path"] for o in recording.side.objects.values()].count(library), 1)

    def test_coverage_beside(self):
        """The runtime of coverage stands behind us in line for _exit, and keeps its handlers."""
        where = os.path.join(os.path.dirname(RT_SO), "..", "coverage")
        if not os.path.exists(where + "/libmonarc_cover.so.1"):
            self.skipTest("no runtime for coverage")
        source = self.dir + "/covered.c"
        with open(source, "w") as f:
            f.write("#include <signal.h>\n#include <unistd.h>\n"
                    "int main(int n, char **v) { if (n > 1) raise(SIGTERM); _exit(0); }\n")
        subprocess.run(["gcc", "--coverage", "-c", "covered.c"], cwd=self.dir, check=True)
        subprocess.run(["gcc", "covered.o", "-o", "covered", where + "/libmonarc_cover.so.1",
                        "-Wl,-rpath," + where], cwd=self.dir, check=True)
        monitor = Monitor(self.dir)
        for more, code in ([], 0), (["signal"], -signal.SIGTERM):
            r = monitor.run([self.dir + "/covered", *more], self.dir)
            self.assertEqual(r.returncode, code)
            os.unlink(self.dir + "/covered.gcda")

    @slow
    def test_libraries_that_come_and_go(self):
        """Exact, each library's own, and in tables and notes that do not grow."""
        plugins = [self.build("plugin.c", "-O2", "-pg", "-fPIC", "-shared", "-DNAME=" + name,
                              name=name + ".so") for name in ("first", "second")]
        program = self.build("plugins.c", "-O2", "-pg", "-ldl")
        for paths in plugins, [os.path.relpath(p, self.dir) for p in plugins]:
            with self.subTest(paths=paths):
                self.again()
                for plugin in plugins:
                    os.symlink(plugin, self.dir + "/" + os.path.basename(plugin))
                self.beside = tuple(os.path.basename(p) for p in plugins)
                if paths[0] not in plugins:
                    paths = ["./" + name for name in self.beside]
                monitor = Monitor(self.dir)
                r = monitor.run([program, *paths, "500"], self.dir)
                (name,) = monitor.folders()
                size = os.stat("%s/%s/monarc.live" % (monitor.out, name)).st_size
                self.assertLess(size, 300 << 10)
                (recording,) = monitor.recordings().values()
                self.assert_exact(recording, self.expected(r.stdout))
                self.assertLess(len(recording.side.objects), 12)
                libraries = {o["path"] for o in recording.side.objects.values()}
                self.assertLessEqual(set(plugins), libraries)

    def test_thousand_resets(self):
        program = self.program("-O2", "-pg", "-pthread", "-ldl", RT_SO,
                               "-Wl,-rpath," + os.path.dirname(RT_SO))
        monitor = Monitor(self.dir)
        r = monitor.run([program, "resets"], self.dir)
        (name,) = monitor.folders()
        self.assertLess(os.stat("%s/%s/monarc.live" % (monitor.out, name)).st_size, 300 << 10)
        (recording,) = monitor.recordings().values()
        self.assert_exact(recording, self.expected(r.stdout))
        self.assertEqual([t[0] for t in monitor.told()].count("reset"), 1000)

    def test_monitor_is_gone(self):
        monitor = Monitor(self.dir)
        os.unlink(monitor.control)
        r = monitor.run([self.program(), "dies", "exit"], self.dir)
        self.assertEqual((r.returncode, r.stderr), (3, ""))
        self.assertEqual(monitor.folders(), [])

    @slow
    def test_control_file_that_cannot_be_used(self):
        """Calls are counted, and nothing is told."""
        for damage in b"", b"\0" * 8192:
            with self.subTest(bytes=len(damage)):
                self.again()
                self.monitor = Monitor(self.dir)
                with open(self.monitor.control, "r+b") as f:
                    f.write(damage)
                    f.truncate(len(damage))
                r = self.monitor.run([self.program(), "dies", "exit"], self.dir)
                self.assertEqual((r.returncode, r.stderr), (3, ""))
                (recording,) = self.monitor.recordings().values()
                self.assertEqual(recording.calls()["before"], 300)

    def test_folder_that_is_not_there(self):
        monitor = Monitor(self.dir)
        os.rmdir(monitor.out)
        r = monitor.run([self.program(), "dies", "exit"], self.dir)
        self.assertEqual((r.returncode, r.stderr), (3, ""))
        self.assertEqual(os.listdir(self.dir), ["control"])


if __name__ == "__main__":
    unittest.main()
