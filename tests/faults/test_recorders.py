#!/usr/bin/env python3
"""One allocation or one system call of a program under a recorder fails, each in turn.

usage: test_recorders.py [-v] [CASE...]    FAIL_NTH_SO, FAIL_CALL, MONARC_RT_SO, MONARC_COVER_SO name what is used

The program must end as it does without a recorder. A counter file is the old one, and a line says that
counts were lost, or the new one; a profile has every call, or says how many it has not, or is not there;
what was there before is never less. The next run, with nothing failing, counts as ever. The quick part
draws a few places of each run, the slow one takes all.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS), str(TESTS / "runtime/profile"), str(TESTS / "runtime/coverage")]
import parts  # noqa: E402
from covered import Gcda  # noqa: E402
from recorder import Gmon, Recording, Symbols  # noqa: E402

FAIL_NTH = os.environ.get("FAIL_NTH_SO", "")
FAIL_CALL = os.environ.get("FAIL_CALL", "")
MONARC = os.environ.get("MONARC", "")
QUICK_PLACES = 3
WRITES = "write,pwrite64,writev,ftruncate,fallocate,linkat,mkdirat"
FILES = ("openat,read,write,pwrite64,close,fstat,newfstatat,statx,ftruncate,fallocate,renameat2,linkat,"
         "unlinkat,mkdirat,lseek,getcwd,readlink,fchmod,fcntl")

# What is failed: arguments of fail_call, or None for allocations.
KINDS = {
    "allocation": None,
    "call EIO": ["-e", "EIO", "-o", FILES],
    "call ENOSPC": ["-e", "ENOSPC", "-o", FILES],
    "interrupted": ["-e", "EINTR", "-o", "openat,read,write,close,fcntl"],
    "open EMFILE": ["-a", "-e", "EMFILE", "-o", "openat"],
    "full disk": ["-a", "-e", "ENOSPC", "-o", WRITES],
    "mmap ENOMEM": ["-e", "ENOMEM", "-o", "mmap"],
    "no memory": ["-a", "-e", "ENOMEM", "-o", "mmap"],
    "no locks": ["-a", "-e", "ENOLCK", "-o", "fcntl"],
    "clock EPERM": ["-e", "EPERM", "-o", "perf_event_open,timer_create,prctl"],
}


def places(number):
    """Which of the calls 1 to number are failed here."""
    if parts.PART == "quick" and number > QUICK_PLACES:
        return sorted({1 + i * (number - 1) // (QUICK_PLACES - 1) for i in range(QUICK_PLACES)})
    return range(1, number + 1)


class Recorder(unittest.TestCase):
    """A program, run again and again in a folder that is as before each time."""
    library = ""

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="monarc-faults-"))
        self.addCleanup(shutil.rmtree, self.dir, True)

    def build(self, *flags):
        subprocess.run(["gcc", "-g", "-O0", "-w", "-c", HERE / "recorded.c", *flags], cwd=self.dir, check=True)
        subprocess.run(["gcc", "recorded.o", "-o", "recorded", "-pthread", *self.links], cwd=self.dir,
                       check=True)

    links = ["-pg"]

    def run_it(self, kind=None, at=0, count=None):
        """The program once, its at-th call of the kind failing; with `count`, how many there are."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("MONARC_", "FAIL_", "GCOV_"))}
        env.update(self.variables, FAIL_NTH="0")
        # The tracer itself must not be recorded.
        command = ["/usr/bin/env", "LD_PRELOAD=" + self.library + " " + FAIL_NTH, "./recorded"]
        if kind and KINDS[kind] is None:
            env["FAIL_NTH"] = str(at)
            if count:
                env["FAIL_COUNT"] = str(count)
        elif kind:
            command = [FAIL_CALL, "-n", str(at), "-m", *KINDS[kind], *(["-c", count] if count else []), *command]
        return subprocess.run(command, cwd=self.dir, env=env, capture_output=True, text=True, timeout=600)

    variables = {}

    def number(self, kind):
        """How many calls of the kind a run makes."""
        count = self.dir / "count"
        r = self.run_it(kind, 0, count)
        if r.returncode == 77 or "Operation not permitted" in r.stderr:
            self.skipTest("no tracing here: " + r.stdout + r.stderr)
        self.assertEqual(r.returncode, 0, r.stderr)
        found = re.search(r"(\d+)\s*$", count.read_text().split("\n")[0]) if count.exists() else None
        count.unlink(missing_ok=True)
        self.restore()
        return int(found[1]) if found else 0

    def try_all(self):
        for kind in KINDS:
            number = self.number(kind)
            for at in places(number):
                with self.subTest(kind=kind, at=at, of=number):
                    self.restore()
                    r = self.run_it(kind, at)
                    self.assertEqual(r.returncode, 0, r.stderr)
                    self.judge(r, can_be_told=kind != "full disk")  # which is standard error's too


class Coverage(Recorder):
    """Counter files."""
    library = os.environ.get("MONARC_COVER_SO", "")
    links = [library]

    def prepare(self, has_old):
        self.build("--coverage")
        self.file, self.has_old = self.dir / "recorded.gcda", has_old
        self.assertEqual(self.run_it().returncode, 0)
        self.once = Gcda(self.file).arcs
        self.old = self.file.read_bytes()
        self.restore()

    def restore(self):
        for path in self.dir.glob("recorded.gcda*"):
            path.unlink()
        if self.has_old:
            self.file.write_bytes(self.old)

    def times(self):
        """How often the program ran, by its counter file."""
        if not self.file.exists():
            return 0
        found = Gcda(self.file).arcs
        ratios = {new / old for f in self.once for new, old in zip(found[f], self.once[f]) if old}
        self.assertEqual(len(ratios), 1, ratios)
        return ratios.pop()

    def judge(self, r, can_be_told):
        before = 1 if self.has_old else 0
        self.assertIn(self.times(), (before, before + 1))
        if self.times() == before and can_be_told:
            self.assertIn("counts of this run are lost", r.stderr)
        self.assertFalse(list(self.dir.glob("recorded.gcda.[do]*")), "set aside")
        times = self.times()
        self.assertEqual(self.run_it().stderr, "")
        self.assertEqual(self.times(), times + 1)
        self.assertEqual([p.name for p in self.dir.glob("recorded.gcda*")], ["recorded.gcda"])

    @parts.in_both
    def test_first_counter_file(self):
        self.prepare(False)
        self.try_all()

    @parts.in_both
    def test_added_to_a_counter_file(self):
        self.prepare(True)
        self.try_all()


class Profile(Recorder):
    """Recordings, and the classic gmon.out."""
    library = os.environ.get("MONARC_RT_SO", "")
    links = ["-pg"]

    def prepare(self, **variables):
        self.variables = {"MONARC_" + k: v for k, v in variables.items()}
        self.build("-pg", "-DWITH_THREAD")

    def restore(self):
        for path in self.dir.glob("recorded.*monarc*"):
            shutil.rmtree(path)
        for path in self.dir.glob("gmon.out*"):
            path.unlink()
        if self.variables.get("MONARC_CLASSIC"):
            (self.dir / "gmon.out").write_bytes(b"as before")

    def assert_counted(self, counted, said):
        """`said`: calls that are named as lost, or as being in no object that is known."""
        self.assertLessEqual(counted, 200)
        self.assertGreaterEqual(counted + said, 200)

    def judge(self, r, can_be_told):
        self.assertEqual(r.stderr, "")
        self.assertLessEqual(len(list(self.dir.glob("*.part"))), 1)
        if self.variables.get("MONARC_CLASSIC"):
            self.judge_classic()
        else:
            for folder in self.dir.glob("recorded.*monarc"):
                self.judge_folder(folder)

    def judge_classic(self):
        file = self.dir / "gmon.out"
        if file.read_bytes() != b"as before":
            symbols = Symbols(self.dir / "recorded")
            self.assert_counted(sum(n for (_, callee), n in Gmon(file).arcs.items()
                                    if symbols.at(callee) == "counted"), 0)

    def judge_folder(self, folder):
        names = sorted(p.name for p in folder.iterdir())
        if "monarc.side" not in names and "monarc.live" in names:
            done = subprocess.run([MONARC, "recover", folder], capture_output=True, text=True)
            if done.returncode:  # refused with a reason: a figure that is not there is not wrong
                self.assertIn("monarc", done.stderr)
                return
        if (folder / "monarc.side").exists():
            recording = Recording(folder)
            calls = recording.calls()
            self.assert_counted(calls.get("counted", 0), calls.get("?", 0) + recording.lost())

    @parts.in_both
    def test_recording(self):
        self.prepare()
        self.try_all()

    @parts.slow
    def test_recording_of_calls_alone(self):
        self.prepare(RATE="0")
        self.try_all()

    @parts.in_both
    def test_classic_file(self):
        self.prepare(CLASSIC="1", RATE="0")
        self.try_all()


load_tests = parts.load_tests

if __name__ == "__main__":
    unittest.main()
