"""monarc run where recording is refused: the program runs all the same, with its own status, its
output as it would be, and one line that says why and what would help."""

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import main, monarc_path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
CC = os.environ.get("CC", "gcc").split()
NUMBERS = {"x86_64": (298, 101), "aarch64": (241, 117), "riscv64": (241, 117)}
EPERM, ENOSYS = 1, 38
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SOURCE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
    struct rlimit l;
    sigset_t blocked;
    getrlimit(RLIMIT_NOFILE, &l);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("%d %d %d %d\n", (int)l.rlim_cur, (int)l.rlim_max, sigismember(&blocked, SIGINT),
           waitpid(-1, NULL, 0));
    fflush(stdout);
    if (argc > 2) raise(SIGTERM);
    return atoi(argv[1]);
}
"""


@unittest.skipUnless(platform.machine() in NUMBERS, "numbers of system calls are not known")
class Unrecorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-refused-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        cls.built.chmod(0o755)
        (cls.built / "p.c").write_text(SOURCE)
        for source, name in ((HERE / "refuse.c", "refuse"), (cls.built / "p.c", "p")):
            subprocess.run([*CC, "-O1", source, "-o", cls.built / name], check=True)
        probe = subprocess.run([cls.built / "refuse", "0", "0", "true"], capture_output=True)
        cls.has_filters = probe.returncode != 125

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.dir.chmod(0o777)
        self.program = self.built / "p"

    def refusing(self, calls, error):
        if not self.has_filters:
            self.skipTest("no seccomp filters here")
        return [self.built / "refuse", ",".join(map(str, calls)), str(error)]

    def run_it(self, arguments, status, before=(), **more):
        command = [*before, monarc_path(), "run", *arguments]
        done = subprocess.run(list(map(str, command)), cwd=self.dir, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def alone(self, *arguments, **more):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True,
                              **more).stdout

    def assert_unrecorded(self, done, why, **more):
        self.assertEqual(done.stdout, self.alone("0", **more))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("runs unrecorded: ", done.stderr)
        self.assertRegex(done.stderr, why)
        self.assertEqual(os.listdir(self.dir), [])

    def test_both_refused(self):
        perf, ptrace = NUMBERS[platform.machine()]
        for error in EPERM, ENOSYS:
            before = self.refusing((perf, ptrace), error)
            for status in 0, 5:
                done = self.run_it([self.program, status], status, before)
                self.assert_unrecorded(done, "perf events are refused .* so is ptrace, by a "
                                             "seccomp filter.*--cap-add")
        done = self.run_it([self.program, "0", "ends by a signal"], -15, before)
        self.assertIn("runs unrecorded", done.stderr)

    def test_series(self):
        perf, ptrace = NUMBERS[platform.machine()]
        before = self.refusing((perf, ptrace), EPERM)
        for options in (["--repeat", "3", self.program, "4"],
                        ["--compare", f"{self.program} 4", f"{self.program} 4"]):
            self.assert_unrecorded(self.run_it(options, 4, before), "refused")

    def test_who_insists(self):
        """Asked for one way to record, monarc takes no other, and does not go without."""
        perf, ptrace = NUMBERS[platform.machine()]
        before = self.refusing((perf, ptrace), EPERM)
        for options in (["--method", "ptrace"], ["--method", "perf"]):
            done = self.run_it([*options, self.program, "0"], 126, before)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
        self.assertEqual(os.listdir(self.dir), [])

    def test_one_refused(self):
        """ptrace where perf events are refused, and the other way round."""
        perf, ptrace = NUMBERS[platform.machine()]
        if subprocess.run([monarc_path(), "run", "--method", "perf", "--no-report", "-o", self.dir / "tried.monarc", "true"],
                          cwd=self.dir, capture_output=True, check=False).returncode == 126:
            self.skipTest("perf events are refused here")
        for calls in (perf,), (ptrace,):
            done = self.run_it(["--no-report", self.program, "3"], 3, self.refusing(calls, EPERM))
            self.assertNotIn("unrecorded", done.stderr)
            self.assertTrue((self.dir / "p.monarc/monarc.side").exists())

    def test_few_descriptors(self):
        def limit(): resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
        done = self.run_it([self.program, "0"], 0, preexec_fn=limit)
        self.assert_unrecorded(done, r"too few descriptors .*ulimit -n", preexec_fn=limit)

    def test_what_has_no_remedy_here(self):
        done = self.run_it(["./nowhere"], 127)
        self.assertEqual(done.stderr.count("\n"), 1)
        (self.dir / "text").write_text("no program")
        self.run_it(["./text"], 126)

    def test_folder_that_cannot_be_written(self):
        if os.geteuid() or not shutil.which("setpriv"):
            self.skipTest("only root can become somebody else")
        if subprocess.run([*NOBODY, "env", monarc_path(), "--version"], capture_output=True).returncode:
            self.skipTest("others may not run this monarc")
        closed = self.dir / "closed"
        closed.mkdir(mode=0o755)
        place = self.dir / "open"
        place.mkdir()
        place.chmod(0o777)
        command = [*NOBODY, "env", f"TMPDIR={place}", monarc_path(), "run", self.program, "0"]
        done = subprocess.run(command, cwd=closed, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, rf"cannot be written here: .*; try -o {place}/p.monarc\n$")
        # And it does.
        command[-2:-2] = ["--no-report", "-o", f"{place}/p.monarc"]
        done = subprocess.run(command, cwd=closed, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((place / "p.monarc/monarc.side").exists())


if __name__ == "__main__":
    main()
