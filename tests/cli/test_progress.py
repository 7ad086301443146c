"""How far a long command is: said on a terminal, after a second; not elsewhere, and not before."""

import os
import pty
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness import PROGRAMS, main, monarc_path

PROFILE = (PROGRAMS / "demo.gmon").read_bytes()
LONGEST = 30


def late_profile(path, seconds, content=PROFILE):
    """A profile that arrives so late."""
    def feed():
        with open(path, "wb") as fifo:
            time.sleep(seconds)
            fifo.write(content)
    os.mkfifo(path)
    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    return thread


def on_terminal(*arguments, term="xterm"):
    """Standard error of a run whose standard error is its terminal, its standard output, its status."""
    read, write = os.pipe()
    pid, terminal = pty.fork()
    if not pid:
        os.dup2(write, 1)
        os.environ["TERM"] = term
        os.execv(monarc_path(), [monarc_path(), *map(str, arguments)])
    os.close(write)
    said = []

    def gather():
        try:
            while block := os.read(terminal, 4096):
                said.append(block)
        except OSError:
            pass  # the terminal's other side is closed
    reader = threading.Thread(target=gather, daemon=True)
    reader.start()
    with open(read, "rb") as out:
        printed = out.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    reader.join(LONGEST)
    os.close(terminal)
    return b"".join(said), printed, status


class Progress(unittest.TestCase):
    def run_late(self, seconds, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "late.gmon")
            feeder = late_profile(path, seconds)
            said = on_terminal("flat", "--csv", PROGRAMS / "demo", path, **more)
            feeder.join(LONGEST)
        return said

    def test_said_after_a_second_and_taken_away(self):
        said, printed, status = self.run_late(1.7)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, rb"^\rmonarc: reading profiles \([1-9]\d* s\)")
        lines = said.split(b"\r")
        self.assertEqual((lines[-1], lines[-2].strip()), (b"", b""))
        self.assertGreaterEqual(len(lines[-2]), len(b"monarc: reading profiles (1 s)"))
        self.assertIn(b"name", printed.split(b"\n")[0])

    def test_counts_what_is_done(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "late.gmon")
            feeder = late_profile(path, 1.5)
            said, _, status = on_terminal("merge", "-o", f"{folder}/sum", PROGRAMS / "demo.gmon", path)
            feeder.join(LONGEST)
            self.assertTrue(Path(folder, "sum").stat().st_size)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, rb"\rmonarc: reading profiles: 1 of 2, 50 % \([1-9]\d* s\)")

    def test_every_command_that_reads_profiles(self):
        """At once, as each waits for its own input."""
        demo, profile = PROGRAMS / "demo", PROGRAMS / "demo.gmon"
        commands = {"diff": [demo, profile], "check": ["--baseline", profile, demo], "export": ["--format", "folded", "-o", "out", demo],
                    "flame": ["-o", "out", demo], "optimize": ["--for", "lld", "-o", "out", demo], "graph": ["--dot", "-o", "out", demo],
                    "doctor": [demo]}
        answers = {}

        def run(name, arguments):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "late.gmon")
                feeder = late_profile(path, 1.6)
                answers[name] = on_terminal(name, *[Path(folder, a) if a == "out" else a for a in arguments], path)
                feeder.join(LONGEST)
        threads = [threading.Thread(target=run, args=command) for command in commands.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in commands:
            said, _, status = answers[name]
            with self.subTest(command=name):
                self.assertIn(status, (0, 1), said)
                self.assertRegex(said, rb"\rmonarc: (reading profiles|examining the profile)[^\r]* \([1-9]\d* s\)")
                self.assertEqual(said.split(b"\r")[-2].strip(), b"")

    def test_silent_where_it_is_fast(self):
        said, _, status = on_terminal("flat", "--csv", PROGRAMS / "demo", PROGRAMS / "demo.gmon")
        self.assertEqual((said, status), (b"", 0))

    def test_silent_on_a_dumb_terminal(self):
        said, _, status = self.run_late(1.3, term="dumb")
        self.assertEqual((said, status), (b"", 0))

    def test_silent_without_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "late.gmon")
            feeder = late_profile(path, 1.3)
            answer = subprocess.run([monarc_path(), "flat", PROGRAMS / "demo", path], capture_output=True, check=False)
            feeder.join(LONGEST)
        self.assertEqual((answer.stderr, answer.returncode), (b"", 0))

    def test_errors_stand_on_a_line_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "late.gmon")
            feeder = late_profile(path, 1.5, b"gmon, but not one")
            said, _, status = on_terminal("flat", "--csv", PROGRAMS / "demo", path)
            feeder.join(LONGEST)
        self.assertEqual(status, 2)
        self.assertRegex(said, rb"\r *\rmonarc: [^\r]*\r\n$")


if __name__ == "__main__":
    main()
