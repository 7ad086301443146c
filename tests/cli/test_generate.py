"""Manual pages, completions and help: well formed, complete, and in step with the option tables."""

import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness
from harness import ROOT, main
from parts import in_both, load_tests, share, slow

sys.path.insert(0, str(ROOT / "tools"))
from describe_columns import row_properties


@functools.cache
def monarc(*words):
    """What is said about commands, once each: it is the same every time."""
    return harness.monarc(*words)


COMMANDS = monarc("--generate", "commands").stdout.decode().split()


LOOKALIKES = ("gprof", "gcov", "gcov-tool", "gcov-dump", "sprof")
NATIVE = [c for c in COMMANDS if c not in LOOKALIKES]


def help_of(command):
    return monarc(command, "--help-all" if command in NATIVE else "--help").stdout.decode()


def options_of(command):
    """The options of a command, from the lines of its help that begin with one."""
    text = help_of(command) if command in NATIVE else monarc("help", command).stdout.decode()
    return re.findall(r"^  (?:-\w, |    )--([a-z0-9-]+)", text, re.M)


class Pages(unittest.TestCase):
    def test_build_knows_all_commands(self):
        listed = re.search(r"page_commands = \[(.*?)\]", (ROOT / "man/meson.build").read_text(),
                           re.S).group(1)
        self.assertEqual(sorted(re.findall(r"'([\w-]+)'", listed)), sorted(COMMANDS))

    @slow
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

    @in_both
    def test_groff(self):
        tool = shutil.which("groff")
        if not tool:
            self.skipTest("groff is not installed")
        for command in share([None, *COMMANDS], 6):
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


class Columns(unittest.TestCase):
    """What a column means stands in one table, from which the manual and the schemas have it."""

    def tables(self):
        for line in monarc("--generate", "columns").stdout.decode().splitlines():
            command, schema, rows, name, heading, meaning = line.split("\t")
            self.assertTrue(meaning, f"{command}: {name or heading} has no meaning")
            yield command, schema, rows, name, heading, meaning

    def test_schemas_have_the_meanings(self):
        wrong = []
        for _, schema, rows, name, _, meaning in self.tables():
            path = ROOT / f"docs/schema/{schema}.schema.json"
            for properties in row_properties(json.loads(path.read_text()), rows):
                if name in properties and properties[name].get("description") != meaning:
                    wrong.append(f"{path.name}: {rows}: {name}: {meaning}")
        self.assertEqual(wrong, [], "tools/describe_columns.py writes them")

    def test_manual_has_them(self):
        for command, _, _, name, heading, _ in self.tables():
            page = monarc("--generate", "man", command).stdout.decode().replace("\\-", "-")
            self.assertIn(heading or name, page[page.index(".SH COLUMNS"):])

    def test_help_explains_what_text_shows(self):
        first = {}
        for command, schema, rows, name, heading, meaning in self.tables():
            every = " ".join(monarc(command, "--help-all").stdout.decode().split())
            self.assertIn(" ".join(meaning.split()), every, command)
            if heading and first.setdefault(command, (schema, rows)) == (schema, rows):
                usual = " ".join(monarc(command, "--help").stdout.decode().split())
                self.assertIn(f"{heading} {' '.join(meaning.split())}", usual, command)


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
        self.assertEqual(self.complete("monarc", "fl"), ["flat", "flame"])
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


# One thing under two names: gprof's name and that of gcov's users.
ALIKE = {"directory-path": "source-dir"}


class Options(unittest.TestCase):
    def test_one_letter_one_meaning(self):
        meanings = {}
        for command in NATIVE:
            for letter, name in re.findall(r"(?m)^  -(\w), --([\w-]+)", help_of(command)):
                meanings.setdefault(letter, set()).add(ALIKE.get(name, name))
        self.assertEqual({l: n for l, n in meanings.items() if len(n) > 1}, {})
        self.assertGreater(len(meanings), 10)

    def test_help_fits(self):
        for command in COMMANDS:
            if command in NATIVE:
                wide = [line for line in help_of(command).splitlines() if len(line) > 80]
                self.assertEqual(wide, [], command)

    @slow
    def test_short_help(self):
        """At most a screen of 60 lines: examples, then about ten options, all of which exist."""
        for command in NATIVE:
            short = monarc(command, "--help").stdout.decode()
            self.assertLessEqual(len(short.splitlines()), 60, command)
            self.assertEqual(monarc("help", command).stdout.decode(), short)
            self.assertIn("\nExamples:\n  ", short)
            listed = re.findall(r"^  (?:-\w, |    )--([a-z0-9-]+)", short, re.M)
            if "--help-all\n" in short:
                text = (ROOT / f"assets/help/{command}.txt").read_text()
                self.assertEqual(listed, text.splitlines()[0].removeprefix("Common: ").split())
                self.assertLessEqual(len(listed), 11, command)
                self.assertLess(short.index("\nExamples:"), short.index("\nOptions that"))

    def test_shared_options(self):
        """A command that looks at recordings takes any part of them, and names from elsewhere."""
        for command in NATIVE:
            options = options_of(command)
            self.assertEqual(len(options), len(set(options)), command)
            if "thread" in options:
                self.assertLessEqual({"event", "process", "program", "from", "to", "phase", "force",
                                      "debug-dir", "symbols", "profile-format"}, set(options))
        self.assertCountEqual([c for c in NATIVE if "thread" not in options_of(c)],
                         ["run", "cover", "path", "ranks", "store", "doctor", "info", "receive", "recover", "symbols", "merge",
                          "convert"])

    def test_next_step(self):
        for command in NATIVE:
            if command not in ("html", "export"):
                self.assertIn("\nNext: ", help_of(command), command)

    def test_texts_are_written_once(self):
        """What several commands say is in assets/help/shared, and in none of their own texts."""
        homes = {}
        for path in sorted((ROOT / "assets/help").rglob("*.txt")):
            for sentence in re.split(r"(?<=[.;])\s+|\n\n|^@.*", path.read_text(), flags=re.M):
                homes.setdefault(" ".join(sentence.split()), set()).add(path.stem)
        self.assertEqual({text: at for text, at in homes.items() if len(text) > 80 and len(at) > 1}, {})
        for path in (ROOT / "assets/help/shared").iterdir():
            uses = [p.stem for p in (ROOT / "assets/help").glob("*.txt") if f"@{path.stem}\n" in p.read_text()]
            self.assertGreater(len(uses), 1, path.stem)
            sentence = " ".join(path.read_text().split())[:60]
            for command in uses:
                self.assertIn(sentence, " ".join(help_of(command).split()))

    def test_first_screen(self):
        first = monarc().stdout.decode()
        self.assertLess(len(first.splitlines()), 24)
        self.assertEqual(len(re.findall(r"(?m)^  monarc (run|graph|lines|cover|doctor) ", first)), 5)
        overview = monarc("--help").stdout.decode()
        self.assertTrue(all(f"\n  {c}" in overview for c in COMMANDS))
        self.assertEqual(re.findall(r"(?m)^(\S.*):\n  (\w+) ", overview)[0], ("Record", "run"))
        self.assertEqual(len(re.findall(r"(?m)^\S.*:\n  \w", overview)), 8)


class Help(unittest.TestCase):
    @slow
    def test_both_ways(self):
        for command in COMMANDS:
            text = monarc("help", command)
            self.assertEqual(text.returncode, 0)
            self.assertTrue(text.stdout.startswith(b"Usage: monarc " + command.encode()))
            if command != "gprof" and command != "gcov":
                self.assertEqual(monarc(command, "--help").stdout, text.stdout)
        self.assertEqual(monarc("help", "nix").returncode, 2)

    def test_suggestions(self):
        for typed, meant in {"record": "run", "report": "flat", "top": "tui", "grpah": "graph",
                             "flaot": "flat", "gcovtool": "gcov-tool", "anotate": "annotate"}.items():
            done = monarc(typed)
            self.assertEqual((done.returncode, done.stderr.decode()),
                             (2, f"monarc: unknown command '{typed}'; did you mean '{meant}'? "
                                 "'monarc --help' lists all\n"))
        for typed in ("xyzzy", "", "x" * 300):
            self.assertNotIn("did you mean", monarc(typed).stderr.decode())
        self.assertEqual(monarc("--generate", "nix").returncode, 2)

    def test_replaced(self):
        """Every row of the tables of commands and of options that went names something that is there."""
        commands, options = (re.search(r"(?s)REPLACED\[\] = \{\n(.*?)\n    \};", (ROOT / file).read_text())[1]
                             for file in ("src/cli/commands.c", "src/command/options.c"))
        commands = re.findall(r'\{"([^"]+)", "([^"]+)"\}', commands)
        options = re.findall(r'\{"([^"]+)", "([^"]+)", "([^"]+)"\}', options)
        self.assertIn(("io", "waits --files"), commands)
        self.assertIn("focus", [gone for gone, _, _ in options])
        for typed, now in commands:
            for words in [typed, "r.monarc"], ["help", typed]:
                done = monarc(*words)
                self.assertEqual((done.returncode, done.stdout, done.stderr.decode()),
                                 (2, b"", f"monarc: unknown command '{typed}': it is 'monarc {now}'\n"))
                words = [word for word in now.split()[1:] if word.startswith("-")]
                self.assertLessEqual({word[2:] for word in words}, set(options_of(now.split()[0])))
        for gone, option, now in options:
            self.assertIn(f"--{option}", now)
            for command in NATIVE:
                has = options_of(command)
                self.assertNotIn(gone, has)
                said = f": it is {now}\n" if option in has else f"; see 'monarc {command} --help-all'\n"
                done = monarc(command, f"--{gone}=x")
                self.assertEqual((done.returncode, done.stdout, done.stderr.decode()),
                                 (2, b"", f"monarc: unknown option '--{gone}'{said}"))


main()
