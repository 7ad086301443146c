"""How processes begin and end: fork, exec, signals, kill -9, threads by the thousand, libraries that
come and go. The number of calls is exact throughout."""
import glob
import json
import os
import re
import resource
import signal
import struct
import subprocess
import time
import unittest

from recorder import MONARC, RT_SO, Recording, RecorderTest, Side, Symbols
from parts import load_tests, slow

FLAGS = ("-O2", "-pg", "-pthread")


def await_cpu_s(pid, seconds):
    """However busy the machine is: until the process has used so much."""
    used = 0
    while used < seconds:
        time.sleep(0.01)
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Life(RecorderTest):
    def life(self, *mode, code=0, exact=True, **env):
        program = self.build("life.c", *FLAGS)
        r = self.run_program([program, *map(str, mode)], check=False, **env)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        self.assertEqual(r.stderr, "")
        if exact:
            self.assert_exact(self.recording(program), self.expected(r.stdout))
        self.assertEqual(glob.glob(self.dir + "/life.monarc/*.part"), [])
        return r

    def check_children(self, output):
        children = re.findall(r"^child (\d+) (\d+)$", output, re.M)
        self.assertTrue(children)
        for pid, n in children:
            child = Recording(os.path.join(self.dir, "life.monarc", pid))
            calls = child.calls()
            self.assertEqual(calls.get("in_child"), int(n))
            self.assertNotIn("before", calls)
            self.assertNotIn("in_parent", calls)
            self.assertEqual(child.lost(), 0)

    @slow
    def test_arguments_without_secrets(self):
        """No file that the recorder leaves holds a value that probably is one; others may not look."""
        program = self.build("life.c", *FLAGS)
        words = ["forks", "--password=hunter2", "--api-key", "hunter2", "db://me:hunter2@host", "plain"]
        umask = os.umask(0)
        self.addCleanup(os.umask, umask)
        for name, env in ("life.monarc", {}), ("bare", {"ARGUMENTS": 0, "OUT": self.dir + "/bare"}):
            self.run_program([program, *words], **env)
            self.assertEqual(os.stat(os.path.join(self.dir, name)).st_mode & 0o777, 0o700)
            files = [f for f in glob.glob(f"{self.dir}/{name}/**", recursive=True) if os.path.isfile(f)]
            content = b"".join(open(f, "rb").read() for f in files)
            self.assertNotIn(b"hunter2", content)
            found = [word for word in (b"--password=***\0", b"--api-key\0", b"db://me:***@host\0", b"plain\0")
                     if word in content]
            self.assertEqual(len(found), 0 if env else 4, found)
            self.assertIn(b"/life", content)
        process = subprocess.Popen([program, "killed", *words[1:]], cwd=self.dir, stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, LD_PRELOAD=RT_SO, MONARC_OUT=self.dir + "/killed"))
        live = self.dir + "/killed/monarc.live"
        while not os.path.exists(live) or b"plain\0" not in open(live, "rb").read():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.kill()
        process.wait()
        self.assertEqual(os.stat(live).st_mode & 0o777, 0o600)
        self.assertNotIn(b"hunter2", open(live, "rb").read())

    @slow
    def test_fork(self):
        self.check_children(self.life("forks").stdout)

    @slow
    def test_fork_of_threads(self):
        self.life("fork-threads")
        children = glob.glob(self.dir + "/life.monarc/[0-9]*")
        self.assertEqual(len(children), 20)
        for child in children:
            self.assertEqual(Recording(child).calls().get("in_child"), 50)

    @slow
    def test_fork_of_threads_again(self):
        for _ in range(4):
            self.setUp()
            self.test_fork_of_threads()

    @slow
    def test_bare_fork(self):
        self.check_children(self.life("bare-fork").stdout)

    def test_children_not_followed(self):
        self.life("forks", FOLLOW_FORK=0)
        self.assertEqual(glob.glob(self.dir + "/life.monarc/[0-9]*"), [])

    def test_vfork_and_spawn(self):
        self.life("vforks")

    @slow
    def test_exec(self):
        r = self.life("execs")
        self.assertIn("executed", r.stdout)
        # The new program records into a folder of its own.
        self.assertEqual(self.recording("life").side.process["written"], 2)
        self.assertTrue(os.path.exists(self.dir + "/echo.monarc/monarc.side"))

    def test_what_ran_in_the_process_before_is_not_its_own(self):
        """An exec keeps the CPU clocks of the process."""
        program = self.build("life.c", *FLAGS)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec "$@"'
        self.run_program([program, "exits"], check=False, wrapper=["sh", "-c", burn, "sh"])
        burnt = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        done = subprocess.run([MONARC, "info", "--json", self.dir + "/life.monarc"], check=True, capture_output=True)
        recording = json.loads(done.stdout)["files"][0]
        for row in recording["processes"][0]["cpu_ns"], recording["threads"][0]["cpu_ns"]:
            self.assertLess(row, burnt * 1e9 / 2)

    def test_exec_with_process_timer(self):
        r = self.life("execs", CLOCK="itimer")
        self.assertIn("executed", r.stdout)

    def test_exit_without_handlers(self):
        self.life("exits", code=3)
        self.setUp()
        self.life("quick", code=4)

    @slow
    def test_fatal_signals(self):
        for number in signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV, signal.SIGINT, signal.SIGFPE:
            with self.subTest(signal=number):
                self.setUp()
                self.life("signal", int(number), code=-number, FATAL=1)
                self.assertEqual(self.recording("life").side.process["written"], 256 + number)

    def test_fatal_signals_are_the_programs(self):
        """A preloaded recorder has no handler for them; every call is in the live file."""
        for number in signal.SIGTERM, signal.SIGSEGV:
            with self.subTest(signal=number):
                self.setUp()
                self.life("signal", int(number), code=-number, exact=False)
                folder = self.dir + "/life.monarc"
                self.assertEqual(os.listdir(folder), ["monarc.live"])
                subprocess.run([MONARC, "recover", folder], check=True, capture_output=True)
                self.assertEqual(Recording(folder).calls()["before"], 55)

    def test_fatal_signals_of_a_linked_program(self):
        program = self.build("life.c", *FLAGS, RT_SO, "-Wl,-rpath," + os.path.dirname(RT_SO))
        r = self.run_program([program, "signal", "15"], check=False, preload=False)
        self.assertEqual(r.returncode, -15)
        self.assert_exact(self.recording(program), self.expected(r.stdout))

    def test_destructors(self):
        self.life("destructors")

    @slow
    def test_many_threads(self):
        self.life("many-threads")
        side = self.recording("life").side
        self.assertEqual(len(side.threads), 3001)

    def test_shared_tls(self):
        for _ in range(3):
            self.setUp()
            self.life("clones")

    @slow
    def test_kill_9(self):
        program = self.build("life.c", *FLAGS)
        for n in range(5):
            self.setUp()
            process = subprocess.Popen([program, "killed"], cwd=self.dir,
                                       env=dict(os.environ, LD_PRELOAD=RT_SO))
            await_cpu_s(process.pid, 0.1 + 0.02 * n)
            process.kill()
            process.wait()
            live = Side.read_live(self.dir + "/life.monarc/monarc.live")
            with open(self.dir + "/counter", "rb") as f:
                made = struct.unpack("<q", f.read(8))[0]
            symbols, bias = Symbols(program), live.objects[1]["bias"]
            recorded = sum(n for (_, pc), n in live.all_arcs.items()
                           if symbols.at(pc - bias) == "in_thread")
            self.assertGreater(made, 1000)
            self.assertIn(recorded - made, (0, 1))
            self.assertFalse(os.path.exists(self.dir + "/life.monarc/monarc.side"))
            self.assertTrue(live.nodes)

    @slow
    def test_libraries_that_take_each_others_place(self):
        plugins = [self.build("plugin.c", "-O2", "-pg", "-fPIC", "-shared", "-DNAME=" + name,
                              name=name + ".so") for name in ("first", "second")]
        program = self.build("plugins.c", "-O2", "-pg", "-ldl")
        for rounds in 1, 2, 40:
            self.setUp()
            r = self.run_program([program, *plugins, str(rounds)])
            recording = self.recording(program)
            self.assert_exact(recording, self.expected(r.stdout))
            self.assertGreater(int(re.search(r"reused (\d+)", r.stdout).group(1)), 0)
            # Calls inside a library are in its own gmon.out, whichever load they belong to.
            for name, each in ("first", 10), ("second", 1000):
                gmon = recording.gmon(name + ".so.gmon")
                symbols = Symbols(plugins[name == "second"])
                self.assertEqual(sum(n for (_, pc), n in gmon.arcs.items()
                                     if symbols.at(pc) == name + "_inner"),
                                 each * rounds + rounds * (rounds - 1) // 2)

    @slow
    def test_second_process_keeps_the_first(self):
        program = self.build("threads.c", *FLAGS)
        for _ in range(3):
            self.run_program([program])
        folders = glob.glob(self.dir + "/threads*.monarc")
        self.assertEqual(len(folders), 3)
        self.setUp()
        for _ in range(3):
            self.run_program([program], OUT="results")
        self.assertEqual(len(glob.glob(self.dir + "/results/**/gmon.out", recursive=True)), 3)


if __name__ == "__main__":
    unittest.main()
