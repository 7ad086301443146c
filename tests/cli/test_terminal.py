"""Colour and pager only on a terminal; outputs that cannot be written."""

import os
import pty
import subprocess
import unittest

from harness import PROGRAMS, main, monarc, monarc_path

FLAT = ["flat", "demo", "demo.gmon"]


def on_terminal(arguments, **env):
    """What appears on the screen, and the exit status."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(PROGRAMS)
        for name in "NO_COLOR", "PAGER", "MONARC_PAGER", "TERM":
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **env})
        os.execv(monarc_path(), [monarc_path(), *arguments])
    shown = b""
    while True:
        try:
            piece = os.read(screen, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    _, status = os.waitpid(pid, 0)
    os.close(screen)
    return shown.replace(b"\r\n", b"\n"), os.waitstatus_to_exitcode(status)


class Terminal(unittest.TestCase):
    def test_no_colour_elsewhere(self):
        self.assertNotIn(b"\033", monarc(*FLAT).stdout)
        self.assertIn(b"\033[1;31m", monarc(*FLAT, "--color=always").stdout)
        self.assertIn(b"\033[1;31m", monarc(*FLAT, "--color").stdout)

    def test_colour(self):
        self.assertIn(b"\033[1;31m", on_terminal(FLAT, PAGER="cat")[0])
        for arguments, env in ((FLAT + ["--color=never"], {}), (FLAT, {"NO_COLOR": "1"}),
                               (FLAT, {"TERM": "dumb"})):
            env = {"PAGER": "", **env}
            self.assertNotIn(b"\033", on_terminal(arguments, **env)[0])
        self.assertNotIn(b"\033", on_terminal(FLAT + ["--json"])[0])

    def test_pager(self):
        shown, status = on_terminal(FLAT, MONARC_PAGER="sed s/^/page:/", PAGER="false")
        self.assertEqual(status, 0)
        self.assertTrue(shown.startswith(b"page:6.150 s: "))
        self.assertEqual(shown.count(b"page:"), shown.count(b"\n"))
        for arguments in (["--no-pager"], ["--json"], ["--csv"]):
            shown, _ = on_terminal(FLAT + arguments, MONARC_PAGER="sed s/^/page:/")
            self.assertNotIn(b"page:", shown)

    def test_pager_left_early(self):
        shown, status = on_terminal(FLAT, MONARC_PAGER="head -n 1")
        self.assertRegex(shown, rb"^6\.150 s: [^\n]*\n$")
        self.assertEqual(status, 0)
        self.assertEqual(on_terminal(FLAT, MONARC_PAGER="true"), (b"", 0))

    def test_errors_are_not_paged(self):
        shown, status = on_terminal(["flat", "demo", "nix"], MONARC_PAGER="sed s/^/page:/")
        self.assertEqual(status, 2)
        self.assertNotIn(b"page:", shown)

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([monarc_path(), *FLAT], cwd=PROGRAMS, stdout=full,
                                    stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)

    def test_closed_pipe_is_quiet(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([monarc_path(), *FLAT], cwd=PROGRAMS, stdout=writer,
                                stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(result.stderr, b"")
        self.assertNotEqual(result.returncode, 0)


main()
