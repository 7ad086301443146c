"""Manual pages, completions and help: well formed, complete, and in step with the option tables."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import ROOT, main, monarc

COMMANDS = monarc("--generate", "commands").stdout.decode().split()


def options_of(command):
    text = monarc("help", command).stdout.decode()
    listed = text[text.index("\nOptions:\n"):].split("\n\n")[0]
    return re.findall(r"^ .*?--([a-z0-9-]+)", listed, re.M)


class Pages(unittest.TestCase):
    def test_build_knows_all_commands(self):
        listed = re.search(r"page_commands = \[(.*?)\]", (ROOT / "man/meson.build").read_text(),
                           re.S).group(1)
        self.assertEqual(sorted(re.findall(r"'([\w-]+)'", listed)), sorted(COMMANDS))

    def test_lint(self):
        tool = shutil.which("mandoc")
        if not tool:
            self.skipTest("mandoc is not installed")
        for command in [None, *COMMANDS]:
            page = monarc("--generate", "man", *filter(None, [command])).stdout
            found = subprocess.run([tool, "-Tlint", "-Wwarning"], input=page,
                                   capture_output=True).stdout.decode().splitlines()
            # Pages carry no date: the same sources give the same bytes.
            self.assertEqual([f for f in found if "missing date" not in f], [], command)

    def test_groff(self):
        tool = shutil.which("groff")
        if not tool:
            self.skipTest("groff is not installed")
        for command in [None, *COMMANDS]:
            page = monarc("--generate", "man", *filter(None, [command])).stdout
            result = subprocess.run([tool, "-man", "-ww", "-Tascii"], input=page,
                                    capture_output=True)
            self.assertEqual(result.stderr, b"", command)

    def test_pages_list_all_options(self):
        for command in COMMANDS:
            page = monarc("--generate", "man", command).stdout.decode().replace("\\-", "-")
            for option in options_of(command):
                if option != "help":
                    self.assertIn(f"--{option}", page)


class Completions(unittest.TestCase):
    def syntax(self, shell):
        tool = shutil.which(shell)
        if not tool:
            self.skipTest(f"{shell} is not installed")
        with tempfile.TemporaryDirectory() as scratch:
            script = Path(scratch) / "script"
            script.write_bytes(monarc("--generate", shell).stdout)
            result = subprocess.run([tool, "-n", script], capture_output=True)
            self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_bash(self):
        self.syntax("bash")

    def test_zsh(self):
        self.syntax("zsh")

    def test_fish(self):
        self.syntax("fish")

    def complete(self, *words):
        tool = shutil.which("bash")
        if not tool:
            self.skipTest("bash is not installed")
        script = monarc("--generate", "bash").stdout.decode()
        script += 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _monarc; echo "${COMPREPLY[@]}"\n'
        result = subprocess.run([tool, "-c", script, "bash", *words], capture_output=True,
                                check=True)
        return result.stdout.decode().split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("monarc", "fl"), ["flat"])
        self.assertEqual(self.complete("monarc", "flat", "--js"), ["--json"])
        self.assertEqual(self.complete("monarc", "flat", "--sort", "t"), ["total"])
        self.assertEqual(self.complete("monarc", "flat", "--sort", "=", "c"), ["calls"])
        self.assertEqual(self.complete("monarc", "flat", "-s", ""),
                         ["self", "total", "calls", "name"])

    def test_all_options_in_all_shells(self):
        for shell in "bash", "zsh", "fish":
            script = monarc("--generate", shell).stdout.decode()
            for command in COMMANDS:
                self.assertIn(command, script)
                for option in options_of(command):
                    self.assertIn(option, script)


class Help(unittest.TestCase):
    def test_both_ways(self):
        for command in COMMANDS:
            text = monarc("help", command)
            self.assertEqual(text.returncode, 0)
            self.assertTrue(text.stdout.startswith(b"Usage: monarc " + command.encode()))
            if command != "gprof" and command != "gcov":
                self.assertEqual(monarc(command, "--help").stdout, text.stdout)
        self.assertEqual(monarc("help", "nix").returncode, 2)
        self.assertEqual(monarc("--generate", "nix").returncode, 2)


main()
