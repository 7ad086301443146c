#!/usr/bin/env python3
"""mutate.py: breaks functions on purpose, one small change at a time, and reports which of the changes
no test notices.

usage: mutate.py [--build build] [--count 20] [--seed 1] [--wide] [--tests NAME,...] [-v] FILE...

FILE is a source below src/. The changes are drawn at random, `count` of each file: a comparison, an
operator, a constant or a condition becomes another, or a statement goes. Each changed file is compiled
and linked in front of the library, so that nothing in the tree or the build changes. It is judged by
the unit tests of the file's room (tests/ROOM/test_*.c) and, with --wide, if they notice nothing, by the
commands' tests in WIDE; --tests names others, as `meson test` knows them. A change after which the
compiler makes the same code is none and not counted. The exit status is 0 if every change was
noticed, 1 if some were not, 2 if it could not run. It needs a build (meson setup build && ninja -C
build) and never says that a survivor is a hole: it may be equivalent in ways no compiler sees.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS = 120  # of a test as it is; a change that makes it ten times slower is noticed

# What the commands' tests see of a room, besides its unit tests; the first match counts.
WIDE = {
    "gnu/gcov_tool": ["cli-gcov_tool", "cli-gcov_dump"], "gnu/gcov": ["cli-gcov"],
    "gnu/gprof": ["oracle"], "gnu/sprof": ["cli-sprof"], "coverage": ["cli-cover", "cli-arcs", "cli-gcov"],
    "bridge": ["cli-one-system"], "objfile": ["test_lines", "test_split", "cli-lines", "cli-doctor"],
    "profile/analysis/recording": ["cli-recording", "cli-trees"],
    "profile/export": ["cli-export", "cli-flame"],
    "profile": ["cli-views", "profiles", "cli-recording", "cli-trees", "cli-annotate"],
    "session": ["cli-views", "profiles", "cli-recording", "cli-cover", "cli-doctor"],
    "output": ["cli-views", "cli-export", "cli-html"], "page": ["cli-html"],
    "": ["cli-views", "profiles", "cli-recording"],
}

# Comments, texts and preprocessor lines are left alone.
QUIET = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
                   re.S | re.M)
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
             "||": "&&", " + ": " - ", " - ": " + ", " += ": " -= ", " -= ": " += ", "++": "--",
             " * ": " + ", " / ": " * ", " & ": " | ", " | ": " & ", "<<": ">>", ">>": "<<"}
TOKENS = re.compile(r"(?<=[\w)\]] )(?:<=|>=|==|!=|&&|\|\||<<|>>|<|>)(?= )|\+\+|"
                    r"(?<=[\w)\]]) (?:\+|-|\*|/|&|\||\+=|-=) (?=[\w(])|"
                    r"!(?=[\w(])|\b(?:true|false)\b|\b\d+\b(?![.\w])|"
                    r"\bif \((?=.)|^[ ]{4,}[\w>.\[\]-]+(?: [+|-]?= |\().*;$|"
                    r"\b(?:break|continue);", re.M)


def blanked(text):
    """The text with what is no code replaced by blanks, so that places stay the same."""
    return QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    return at


def functions(code):
    """Spans of function bodies: from a brace in the first column to the one that closes it."""
    return [(m.start(), m.end()) for m in re.finditer(r"^\{\n.*?^\}", code, re.S | re.M)]


def changes_of(text):
    """All (start, end, replacement) within functions."""
    code, found = blanked(text), []
    for start, end in functions(code):
        for m in TOKENS.finditer(code, start, end):
            word = m[0]
            if word in OPERATORS:
                found.append((m.start(), m.end(), OPERATORS[word]))
            elif word == "!":
                found.append((m.start(), m.end(), ""))
            elif word in ("true", "false"):
                found.append((m.start(), m.end(), {"true": "false", "false": "true"}[word]))
            elif word.isdigit():
                found.append((m.start(), m.end(), str(int(word) + 1)))
            elif word == "if (":
                last = closing(code, m.end() - 1)
                found += [(m.end(), last, value) for value in ("0", "1")]
            elif word in ("break;", "continue;"):
                found.append((m.start(), m.end(), ";"))
            else:  # a whole statement on a line of its own
                found.append((m.start() + len(word) - len(word.lstrip()), m.end(), ";"))
    return found


class Build:
    """The commands of an existing build, repeated beside it."""

    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        self.compile = {str((folder / c["file"]).resolve()): c["command"] for c in
                        json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))}
        tests = json.loads((folder / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
        self.tests = {t["name"]: t for t in tests}
        (work / "runtime").symlink_to(folder / "runtime")

    def object_of(self, source, text, name):
        """The object that a text compiles to in the place of a source; None if it does not."""
        changed, out = self.work / f"{name}.c", self.work / f"{name}.o"
        changed.write_text(text, encoding="utf-8")
        words = shlex.split(self.compile[str(source)])
        words = words[1:] if words[0] == "ccache" else words
        cut = words.index("-MD")
        words = [*words[:cut], "-w", "-iquote", source.parent, f"-ffile-prefix-map={changed}=x",
                 "-o", out, "-c", changed]
        done = subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True,
                              check=False)
        return out if done.returncode == 0 else None

    def link(self, target, objects, out):
        lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        words = shlex.split(lines[-1])
        words[words.index("-o") + 1] = str(out)
        at = words.index("-Wl,--start-group")
        subprocess.run(words[:at] + list(map(str, objects)) + words[at:], cwd=self.folder,
                       check=True, capture_output=True)

    def passes(self, name, objects, seconds=TIMEOUT_SECONDS):
        """Whether a test passes in time with these objects in front of the library."""
        test = self.tests[name]
        words, environment = list(test["cmd"]), {**os.environ, **test["env"]}
        if words[0].startswith(str(self.folder)):
            target = os.path.relpath(words[0], self.folder)
            words[0] = str(self.work / name)
            self.link(target, objects, words[0])
        else:
            monarc = str(self.work / "monarc")
            self.link("monarc", objects, monarc)
            real = str(self.folder / "monarc")
            words = [monarc if word == real else word for word in words]
            environment["MONARC"] = monarc
        try:
            done = subprocess.run(words, env=environment, cwd=self.work, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0 and b"\nnot ok" not in done.stdout


def patience(build, names, objects):
    """{name: seconds allowed} of the tests that pass as it is: ten times what they take."""
    allowed = {}
    for name in names:
        begin = time.monotonic()
        if build.passes(name, objects):
            allowed[name] = 5 + 10 * (time.monotonic() - begin)
    return allowed


def tests_of(build, source, options):
    """Names of tests, the quick ones first."""
    if options.tests:
        return options.tests.split(",")
    room = source.relative_to(ROOT / "src").parent
    mirrored = [path.stem for path in sorted((ROOT / "tests" / room).glob("test_*.c"))]
    wide = next(names for prefix, names in WIDE.items() if str(room).startswith(prefix))
    names = mirrored + (wide if options.wide or not mirrored else [])
    return [name for name in dict.fromkeys(names) if name in build.tests]


def line_of(text, change):
    start, end, replacement = change
    number, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    before, after = text[start:end].strip(), replacement.strip() or "nothing"
    return f"{number}:{column}: {text.splitlines()[number - 1].strip()}   [{before} -> {after}]"


def mutate(build, source, options):
    """(noticed, survivors) of one file."""
    text = source.read_text(encoding="utf-8")
    same = build.object_of(source, text, "same")
    if not same:
        raise SystemExit(f"mutate.py: {source} does not compile")
    allowed = patience(build, tests_of(build, source, options), [same])
    if not allowed:
        raise SystemExit(f"mutate.py: no test of {source} passes as it is")
    code = same.read_bytes()
    changes = changes_of(text)
    options.random.shuffle(changes)
    noticed, survivors = 0, []
    for change in changes:
        if noticed + len(survivors) == options.count:
            break
        start, end, replacement = change
        changed = build.object_of(source, text[:start] + replacement + text[end:], "changed")
        if not changed or changed.read_bytes() == code:
            continue
        if all(build.passes(name, [changed], allowed[name]) for name in allowed):
            survivors.append(line_of(text, change))
        else:
            noticed += 1
        if options.v:
            print("  ", line_of(text, change), flush=True)
    return noticed, survivors, list(allowed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--tests")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if not (options.build / "compile_commands.json").exists():
        raise SystemExit("mutate.py: no build there; run meson setup build && ninja -C build")
    total, lost = 0, 0
    with tempfile.TemporaryDirectory(prefix="monarc-mutate-") as folder:
        for number, file in enumerate(options.files):
            options.random = random.Random(f"{options.seed} {file.name}")
            work = pathlib.Path(folder) / str(number)
            work.mkdir()
            source = file.resolve()
            build = Build(options.build.resolve(), work)
            noticed, survivors, names = mutate(build, source, options)
            total += noticed + len(survivors)
            lost += len(survivors)
            print(f"{source.relative_to(ROOT)}: {noticed} of {noticed + len(survivors)} noticed "
                  f"by {', '.join(names)}")
            for survivor in survivors:
                print(f"    survived: {survivor}", flush=True)
    print(f"{total - lost} of {total} changes noticed, {100 * (total - lost) / max(total, 1):.0f} %")
    return 1 if lost else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            sys.exit(2)
        raise
