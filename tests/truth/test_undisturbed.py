"""A program under `monarc run` finds what it finds without, and does what it does without.

Each test runs the same command twice, bare and recorded, and compares what comes out, to the last
byte. It asks perf (nothing visible at all) and, where perf is refused, the way that is left, of
which one thing may be seen: who traces it."""
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth
from parts import load_tests, slow

PYTHON = "/usr/bin/python3"
# Packages gdb and gdb-multiarch; where there is neither, core files are counted and not read.
GDB = shutil.which("gdb") or shutil.which("gdb-multiarch")
ALL_STATUSES = os.environ.get("MONARC_FULL") == "1"


# Under nohup, or in the background of a shell, signals are ignored; the programs would inherit it.
for inherited in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
    if signal.getsignal(inherited) == signal.SIG_IGN:
        signal.signal(inherited, signal.SIG_DFL)


class Undisturbed:
    """The tests; the classes at the end say by which recorder."""
    recorder = None
    extra = ()
    workshop = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        try:
            Undisturbed.workshop = Undisturbed.workshop or truth.Workshop()
            cls.folder = cls.workshop.build("state.c", extra=cls.extra)
            cls.before = truth.become(truth.RECORDERS[cls.recorder], cls.workshop)
        except truth.Unavailable as why:
            raise unittest.SkipTest(str(why))

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="monarc-undisturbed-")
        os.chmod(self.dir, 0o777)
        self.addCleanup(shutil.rmtree, self.dir, True)

    @property
    def state(self):
        return os.path.join(self.folder, "state")

    def recorded(self, argv):
        return [truth.MONARC_FOR_ALL, "run", "--no-report", "-o", os.path.join(self.dir, "rec"), "--", *argv]

    def run_one(self, argv, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("env", dict(os.environ, LC_ALL="C"))
        return subprocess.run([*self.before, *argv], cwd=self.dir, timeout=truth.HANGS_S, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def both(self, argv, **more):
        return self.run_one(argv, **more), self.run_one(self.recorded(argv), **more)

    def comparable(self, text):
        """Where ptrace is the way, who traces is visible. Nothing else is."""
        if truth.RECORDERS[self.recorder].method == "ptrace":
            text = re.sub(r"TracerPid:\s+\d+", "TracerPid: any", text)
        return text

    def assert_same(self, argv, **more):
        bare, recorded = self.both(argv, **more)
        self.assertEqual(self.comparable(recorded.stdout), self.comparable(bare.stdout),
                         recorded.stderr)
        status = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
        self.assertEqual(recorded.returncode, status, recorded.stderr)
        return bare, recorded

    # --- circumstances -------------------------------------------------------------------------

    def test_state(self):
        bare, _ = self.assert_same([self.state, "state", "a b", ""])
        self.assertIn("TracerPid:\t0\n", bare.stdout)

    def test_state_that_was_changed(self):
        """Ignored and blocked signals, limits, priority, umask: handed on as they are."""
        def change():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
            resource.setrlimit(resource.RLIMIT_NOFILE, (24, 64))
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 4 << 20))
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.umask(0o27)
            os.nice(3)
        bare, _ = self.assert_same([self.state], preexec_fn=change, restore_signals=False)
        self.assertIn(f"nice {os.nice(0) + 3},", bare.stdout)

    @slow
    def test_no_environment(self):
        bare, _ = self.assert_same(["/usr/bin/env", "-i", self.state])
        self.assertNotIn("environment", bare.stdout)
        self.assert_same([self.state], env={})

    @slow
    def test_closed_descriptors(self):
        """With standard descriptors closed, what the program opens first gets their numbers."""
        for closed in "<&-", ">&-", "2>&-", "<&- >&- 2>&-":
            with self.subTest(closed=closed):
                seen = []
                for name, words in ("bare", lambda a: a), ("with", self.recorded):
                    out = os.path.join(self.dir, name)
                    r = self.run_one(["/bin/sh", "-c", '"$@" ' + closed, "sh",
                                      *words([self.state, "into", out])])
                    with open(out) as f:
                        seen.append((r.returncode, self.comparable(f.read().replace(out, "OUT"))))
                self.assertEqual(seen[0], seen[1])

    def test_descriptors_handed_on(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        bare, _ = self.assert_same([self.state], pass_fds=(reader, writer))
        self.assertIn("descriptor %d pipe" % writer, bare.stdout)

    def test_pending_signal_survives_exec(self):
        self.assert_same([self.state, "pending"])

    @slow
    def test_orphans_go_where_they_went(self):
        self.assert_same([self.state, "orphan"])

    # --- how it ends ---------------------------------------------------------------------------

    def see_statuses(self, statuses):
        for status in statuses:
            self.assertEqual(self.run_one(self.recorded([self.state, str(status)])).returncode, status)

    @slow
    def test_exit_statuses(self):
        self.see_statuses((0, 127, 255))

    @slow
    def test_all_exit_statuses(self):
        self.see_statuses(range(256) if ALL_STATUSES else (1, 2, 77, 125, 126, 128, 143))

    def test_signals_that_end_it(self):
        self.see_signals("INT KILL SEGV".split())

    @slow
    def test_other_signals_that_end_it(self):
        self.see_signals("HUP QUIT ABRT PIPE ALRM TERM USR1 SYS".split())

    def see_signals(self, names):
        for name in names:
            number = getattr(signal, "SIG" + name)
            with self.subTest(signal=name):
                self.assert_same([self.state, "signal", str(int(number))])

    @slow
    def test_core(self):
        """A core file as without: of the program, where it was, with what it died of."""
        with open("/proc/sys/kernel/core_pattern") as f:
            if f.read().strip() != "core":
                self.skipTest("core files go elsewhere")
        resource_limit = (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_CORE)[1])
        told = []
        for argv in [self.state, "crash"], self.recorded([self.state, "crash"]):
            self.run_one(argv, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, resource_limit))
            cores = [n for n in os.listdir(self.dir) if n.startswith("core")]
            said = ""
            if cores and GDB:
                said = subprocess.run([GDB, "-q", "-batch", "-ex", "bt 1", "-ex",
                                       "p $_siginfo.si_code", "-ex",
                                       "p $_siginfo._sifields._sigfault.si_addr", self.state,
                                       os.path.join(self.dir, cores[0])], capture_output=True,
                                      text=True).stdout
                said = re.findall(r"crash_here|\$\d+ = .*", said)
            told.append((len(cores), said))
            for name in cores:
                os.unlink(os.path.join(self.dir, name))
        self.assertEqual(told[0], told[1])

    def test_not_found(self):
        r = self.run_one(self.recorded(["./there-is-no-such-program"]))
        self.assertEqual(r.returncode, 127, r.stderr)
        r = self.run_one(self.recorded([self.dir]))
        self.assertEqual(r.returncode, 126, r.stderr)

    # --- what it does --------------------------------------------------------------------------

    @slow
    def test_waits(self):
        bare, _ = self.assert_same([self.state, "waits"])
        self.assertNotIn("early", bare.stdout)

    @slow
    def test_reads(self):
        """Whole, in a program that has ptrace() in its code: its calls are watched."""
        self.assertEqual(self.assert_same([self.state, "reads"])[0].stdout, "reads cut short: 0\n")

    @slow
    def test_first_signal(self):
        for how in "sigwait", "signalfd":
            self.assertEqual(self.assert_same([self.state, how])[0].stdout, "signal 14\n")

    @slow
    def test_clock_of_its_own(self):
        self.assert_same([self.state, "clock"])

    def test_input_and_output(self):
        bare, _ = self.assert_same(["/bin/cat"], stdin=None, input="one\ntwo\n")
        self.assertEqual(bare.stdout, "one\ntwo\n")
        r = self.run_one(["/bin/sh", "-c", '"$@" | head -n 1', "sh", *self.recorded(["/usr/bin/yes"])])
        self.assertEqual(r.stdout, "y\n")

    @slow
    def test_sanitizers(self):
        source = os.path.join(self.dir, "s.c")
        with open(source, "w") as f:
            f.write("#include <stdio.h>\n#include <stdlib.h>\n"
                    "int main(int n, char **v)\n{\n    char *volatile p = malloc(10);\n    p[3] = 1;\n"
                    "    for (volatile long i = 0; i < 30000000; i++)\n        ;\n"
                    "    if (n > 1)\n        p[atoi(v[1])] = 1;\n    free(p);\n"
                    "    puts(\"fine\");\n    return 0;\n}\n")
        for kind in "address", "thread", "undefined":
            with self.subTest(kind=kind):
                program = os.path.join(self.dir, kind)
                try:
                    self.workshop.compile(source, program, ["-fsanitize=" + kind])
                except truth.Unavailable as why:
                    self.skipTest(str(why))
                bare, _ = self.assert_same([program])
                self.assertEqual(bare.stdout, "fine\n", bare.stderr)
                if kind == "address":  # it says what it finds, too
                    _, recorded = self.assert_same([program, "10"])
                    self.assertIn("heap-buffer-overflow", recorded.stderr)

    @slow
    def test_traced_by_its_own(self):
        bare, _ = self.assert_same([self.state, "traced"])
        self.assertEqual(bare.stdout, "refused: 0\n")

    def test_set_user_id(self):
        """It has its rights, whatever of it is recorded. As root, who has them all, nothing is to see."""
        if not self.before or self.before[0] != "setpriv":
            return
        program = os.path.join(self.dir, "rise")
        shutil.copy(self.state, program)
        os.chown(program, 0, 0)
        os.chmod(program, 0o4755)
        bare, recorded = self.both([program])
        self.assertEqual(re.findall("Uid:.*", recorded.stdout), re.findall("Uid:.*", bare.stdout))
        self.assertEqual(recorded.returncode, 0, recorded.stderr)

    # --- keys ----------------------------------------------------------------------------------

    # Python 3.13 takes a signal at the end of a loop for one outside of the `try` around it.
    SCRIPT = ("import time\ndef work():\n    end = time.time() + 20\n    while time.time() < end: pass\n"
              "try:\n    print('ready', flush=True)\n    work()\n"
              "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
              "finally:\n    print('cleaned up', flush=True)\n")

    def terminal(self, argv):
        """Starts a command as a shell would, in a session with a terminal of its own."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execvp([*self.before, *argv][0], [*self.before, *argv])
        self.addCleanup(os.close, fd)
        return pid, fd

    def read_until(self, fd, text, seconds=truth.HANGS_S):
        seen, end = "", time.time() + seconds
        while text not in seen and time.time() < end:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    seen += os.read(fd, 4096).decode()
                except OSError:
                    break
        return seen

    def interrupted(self, argv, send):
        pid, fd = self.terminal(argv)
        seen = self.read_until(fd, "ready")
        time.sleep(0.2)
        send(pid, fd)
        seen += self.read_until(fd, "cleaned up")
        seen += self.read_until(fd, "\0", 0.5)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return re.sub(r"\^C|\r", "", seen), status

    @slow
    def test_interrupt_key(self):
        argv = [PYTHON, "-c", self.SCRIPT]
        expected = ("ready\ninterrupted\ncleaned up\n", 0)
        for words in argv, self.recorded(argv):
            self.assertEqual(self.interrupted(words, lambda pid, fd: os.write(fd, b"\3")), expected)

    @slow
    def test_interrupt_that_is_not_handled(self):
        argv = [PYTHON, "-c", "print('ready', flush=True)\nwhile True: pass"]
        for words in argv, self.recorded(argv):
            seen, status = self.interrupted(words, lambda pid, fd: os.write(fd, b"\3"))
            self.assertIn("KeyboardInterrupt", seen)
            self.assertIn(status, (-2, 130))

    @slow
    def test_signal_to_monarc_is_passed_on(self):
        argv = [PYTHON, "-c", self.SCRIPT]
        self.assertEqual(self.interrupted(self.recorded(argv), lambda pid, fd: os.kill(
            pid, signal.SIGINT)), ("ready\ninterrupted\ncleaned up\n", 0))

    @slow
    def test_stop_key(self):
        """Ctrl-Z stops all of it, SIGCONT lets it go on; the shell sees what it is used to."""
        argv = [PYTHON, "-c", "import time\nprint('ready', flush=True)\nt = time.process_time()\n"
                "while time.process_time() - t < 0.5: pass\nprint('done', flush=True)"]
        for words in argv, self.recorded(argv):
            shell = os.path.join(self.dir, "shell.py")
            with open(shell, "w") as f:
                f.write(JOB_SHELL)
            pid, fd = self.terminal([PYTHON, shell, *words])
            seen = self.read_until(fd, "ready")
            time.sleep(0.2)
            os.write(fd, b"\x1a")
            seen += self.read_until(fd, "that was all")
            os.waitpid(pid, 0)
            self.assertIn("job stopped, all of it: True", seen)
            self.assertIn("done", seen)
            self.assertIn("job ended 0", seen)


# A shell with job control, as small as can be: one job in a process group of its own.
JOB_SHELL = r"""
import os, signal, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    time.sleep(0.2)
    states = []
    for name in os.listdir("/proc"):
        try:
            fields = open("/proc/%s/stat" % name).read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if name.isdigit() and int(fields[2]) == job:
            states.append(fields[0])
    os.tcsetpgrp(0, os.getpgrp())
    print("job stopped, all of it:", all(s in "Tt" for s in states), flush=True)
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
print("job ended", os.waitstatus_to_exitcode(status), "and that was all", flush=True)
"""


class UnderPerf(Undisturbed, unittest.TestCase):
    recorder = "perf"


@slow
class UnderPerfWithADeepStack(Undisturbed, unittest.TestCase):
    """Threads are looked at where their stacks are deeper than what is copied of them."""
    recorder = "perf"
    extra = (os.path.join(truth.PROGRAMS, "deep_main.c"), "-Wl,--wrap=main")


@slow
class UnderPerfAsUser(Undisturbed, unittest.TestCase):
    recorder = "user"


@slow
class WherePerfIsRefused(Undisturbed, unittest.TestCase):
    recorder = "refused-user"


if __name__ == "__main__":
    unittest.main()
