#!/usr/bin/env python3
"""mutate.py: breaks functions on purpose, one small change at a time, and reports which of the changes
no test notices.

usage: mutate.py [--build build] [--count 20] [--sample N] [--seed 1] [--wide] [--tests NAME,...]
                 [--again FILE] [-v] FILE...

FILE is a source below src/, or a folder of them. The changes are drawn at random, `count` of each file,
or with --sample N of all files together: a comparison, an operator, a constant or a condition becomes
another, two arguments change places, or a statement goes. Each changed file is compiled into a library
that the programs load in front of the real one, so that nothing in the tree or the build changes. It is judged by the unit tests of
the file's room (tests/ROOM/test_*.c) and, with --wide, by the commands' tests in WIDE and those that have a
word of the file's name in theirs, too; --tests names others, as `meson test` knows them. The quick ones and those that noticed most so far come first. A
change after which the compiler makes the same code is none and not counted. --again judges only what
FILE, an earlier output, calls survivors. The exit status is 0 if every change was
noticed, 1 if some were not, 2 if it could not run. It needs a build (meson setup build && ninja -C
build) and never says that a survivor is a hole: it may be equivalent in ways no compiler sees.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS = 600  # of a test as it is; a change that makes it ten times slower is noticed

# What the commands' tests see of a room, besides its unit tests; the first match counts.
WIDE = {
    "gnu/gcov_tool": ["cli-gcov_tool", "cli-gcov_dump"], "gnu/gcov": ["cli-gcov"],
    "gnu/gprof": ["oracle"], "gnu/sprof": ["cli-sprof"], "coverage": ["cli-cover", "cli-arcs", "cli-gcov"],
    "bridge": ["cli-one_system"], "objfile": ["test_lines", "test_split", "cli-lines", "cli-doctor"],
    "profile/analysis/recording": ["cli-recording", "cli-trees"],
    "profile/export": ["cli-export", "cli-flame"],
    "profile": ["cli-views", "profiles", "cli-recording", "cli-trees", "cli-annotate"],
    "session/coverage": ["cli-cover", "cli-cover_llvm", "cli-cover_tests", "cli-cover_imports", "cli-cross"],
    "session/arcs": ["cli-arcs", "cli-cover", "cli-annotate", "cli-one_system", "cli-gcov_tool"],
    "session/embedded": ["cli-receive"], "session/llvm_file": ["cli-llvm_files"],
    "session/rank": ["cli-ranks", "cli-fleet"], "session/source_profiles": ["cli-optimize"],
    "session/symbol_files": ["cli-symbols", "cli-recording"],
    "session": ["cli-views", "profiles", "cli-recording", "cli-doctor", "cli-select", "cli-series",
                "cli-compare", "cli-symbols", "cli-annotate", "cli-trees", "cli-static", "cli-pe", "cli-lines",
                "cli-run", "cli-import", "cli-export", "cli-hostile"],
    "record/ranks": ["cli-ranks"], "record/cover_blocks": ["cli-cover_blocks"],
    "record/follow": ["cli-cover_blocks", "cli-gcc_counters"], "record/gcc_counters": ["cli-gcc_counters"],
    "record/live_counters": ["cli-cover_llvm"],
    "record/waits": ["cli-latency", "cli-waits", "cli-path", "cli-run", "cli-recording"],
    "record/ptrace": ["record-ptrace", "cli-run", "cli-unrecorded"],
    "record": ["cli-run", "cli-recording", "cli-series", "cli-latency", "cli-waits", "cli-path",
               "cli-unrecorded", "record-ptrace", "truth-undisturbed"],
    "verdict": ["cli-compare", "cli-cover_tests", "cli-cover"], "tui": ["tui-screens", "tui", "tui-lines"],
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
                    r"\b(?:break|continue);|(?<=\w\()[\w.>-]+, [\w.>-]+(?=[,)])", re.M)


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
            elif re.fullmatch(r"\S+, \S+", word):
                found.append((m.start(), m.end(), ", ".join(reversed(word.split(", ")))))
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
        targets = json.loads((folder / "meson-info/intro-targets.json").read_text(encoding="utf-8"))
        self.programs_of_build = {name: os.path.relpath(name, folder) for t in targets
                                  if t["type"] == "executable" for name in t["filename"]}
        self.programs, self.took_seconds = {}, 0
        self.make_shared()

    def object_of(self, source, text, name):
        """The object that a text compiles to in the place of a source; None if it does not."""
        changed, out = self.work / f"{name}.c", self.work / f"{name}.o"
        changed.write_text(text, encoding="utf-8")
        words = shlex.split(self.compile[str(source)])
        words = words[1:] if words[0] == "ccache" else words
        cut = words.index("-MD")
        words = [word for word in words[:cut] if not word.startswith("-O")]
        # -O1 tells most changes that are none, in half of the time.
        words = [*words, "-O1", "-w", "-iquote", source.parent, f"-ffile-prefix-map={changed}=x",
                 "-o", out, "-c", changed]
        done = subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True,
                              check=False)
        return out if done.returncode == 0 else None

    def link_words(self, target):
        """The command that links a program, as words, and where in it the libraries begin."""
        lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", target], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        words = shlex.split(lines[-1])
        return words, words.index("-Wl,--start-group") + 1

    def make_shared(self):
        """The library once more, as one that is loaded, so that programs need not be linked for each change."""
        words, at = self.link_words("monarc")
        core = next(word for word in words[at:] if word.endswith("libmonarc_core.a"))
        others = [word for word in words[at:] if not word.endswith(".a")]
        subprocess.run(["gcc", "-shared", "-o", self.work / "libwhole.so", "-Wl,-soname,libwhole.so", "-Wl,--whole-archive",
                        core, "-Wl,--no-whole-archive", "-Wl,--start-group", *others], cwd=self.folder, check=True)
        self.change(None)

    def change(self, changed):
        """From now on programs take what this object defines from it; None: nothing."""
        made = self.work / "made.so"
        subprocess.run(["gcc", "-shared", "-o", made, "-Wl,-soname,libchanged.so", *([changed] if changed else [])], check=True)
        made.replace(self.work / "libchanged.so")

    def program(self, target):
        """A program of the build that loads what is changed, and then the library."""
        if target not in self.programs:
            words, at = self.link_words(target)
            out = self.work / pathlib.Path(target).name
            words[words.index("-o") + 1] = str(out)
            words = [word for word in words if word not in ("-Wl,--as-needed", "-Wl,--no-undefined")]
            at = words.index("-Wl,--start-group") + 1
            ours = ["-Wl,--no-as-needed", str(self.work / "libchanged.so"), str(self.work / "libwhole.so"), f"-Wl,-rpath,{self.work}"]
            rest = [word for word in words[at:] if not re.search(r"libmonarc_(core|files)\.a$", word)]
            subprocess.run(words[:at] + ours + rest, cwd=self.folder, check=True)
            self.programs[target] = str(out)
        return self.programs[target]

    def judges(self, name, seconds=TIMEOUT_SECONDS):
        """Whether a test passes in time with what is changed."""
        test = self.tests[name]
        words, environment = list(test["cmd"]), {**os.environ, **test["env"]}
        for real, target in self.programs_of_build.items():  # that it is, or that it or its environment names
            if real in (*words, *environment.values()):
                ours = self.program(target)
                words = [ours if word == real else word for word in words]
                environment = {k: ours if v == real else v for k, v in environment.items()}
        begin = time.monotonic()
        with subprocess.Popen(words, env=environment, cwd=self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True) as process:
            try:
                text, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return False
        self.took_seconds = time.monotonic() - begin
        return process.returncode == 0 and b"\nnot ok" not in text


class Judges:
    """The tests that judge changes: how long each may take, and what it noticed so far."""

    def __init__(self, build, options):
        self.build, self.options = build, options
        self.seconds = {}  # of a test as it is; None: it fails as it is
        self.noticed = collections.Counter()

    def of(self, source):
        """Names of tests that pass as it is."""
        if self.options.tests:
            names = self.options.tests.split(",")
        else:
            room = source.relative_to(ROOT / "src")
            folder = next(folder for folder in (ROOT / "tests" / room).parents if folder.is_dir())
            names = [path.stem for path in sorted(folder.glob("test_*.c"))] if folder != ROOT / "tests" else []
            if self.options.wide or not names:
                names += next(wide for prefix, wide in WIDE.items() if str(room).startswith(prefix))
                names += self.namesakes(source)
        names = [name for name in dict.fromkeys(names) if name in self.build.tests]
        for name in names:
            if name not in self.seconds:
                self.build.change(None)
                passes = self.build.judges(name)
                self.seconds[name] = self.build.took_seconds if passes else None
                if not passes:
                    print(f"mutate.py: {name} fails as it is and judges nothing", file=sys.stderr)
        names = [name for name in names if self.seconds[name] is not None]
        if not names:
            raise SystemExit(f"mutate.py: no test of {source} passes as it is")
        return names

    def namesakes(self, source):
        """Tests of commands that have a word of the file's name in theirs: path.c, cli-path."""
        words = [word for word in source.stem.split("_") if len(word) > 3]
        return [name for name in self.build.tests if name.startswith(("cli-", "compat-", "lib")) and
                not name.endswith("-slow") and any(word in name for word in words)]

    def notices(self, source, changed):
        """The name of a test that notices the change; None: all pass."""
        room = source.parent
        rank = {name: self.seconds[name] / (1 + self.noticed[room, name]) for name in self.of(source)}
        self.build.change(changed)
        for name in sorted(rank, key=rank.get):
            if not self.build.judges(name, 5 + 10 * self.seconds[name]):
                self.noticed[room, name] += 1
                return name
        return None


def line_of(source, text, change):
    start, end, replacement = change
    number, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    before, after = text[start:end].strip(), replacement.strip() or "nothing"
    return (f"{source.relative_to(ROOT)}:{number}:{column}: {text.splitlines()[number - 1].strip()}   "
            f"[{before} -> {after}]")


def drawn(sources, options):
    """(source, change) in the order in which they are tried: file by file, or all shuffled."""
    everything = []
    for source in sources:
        changes = changes_of(source.read_text(encoding="utf-8"))
        random.Random(f"{options.seed} {source.name}").shuffle(changes)
        everything += [(source, change) for change in changes]
    if options.sample:
        random.Random(options.seed).shuffle(everything)
    if options.again:
        asked = set(re.findall(r"survived: (.*)", options.again.read_text(encoding="utf-8")))
        everything = [(source, change) for source, change in everything
                      if line_of(source, source.read_text(encoding="utf-8"), change) in asked]
    return everything


def mutate(build, sources, options):
    """{source: [noticed, survivors, changes that are none]}, told while it goes on."""
    judges, tally = Judges(build, options), {source: [0, 0, 0] for source in sources}
    same = {}  # {source: (text, code)}
    for source, change in drawn(sources, options):
        mine = tally[source]
        if sum(map(sum, (t[:2] for t in tally.values()))) == options.sample if options.sample else \
                sum(mine[:2]) == options.count and not options.again:
            if options.sample:
                break
            continue
        if source not in same:
            text = source.read_text(encoding="utf-8")
            out = build.object_of(source, text, "same")
            if not out:
                raise SystemExit(f"mutate.py: {source} does not compile")
            same[source] = text, out.read_bytes()
        text, code = same[source]
        start, end, replacement = change
        name = f"changed{sum(map(sum, tally.values()))}"
        changed = build.object_of(source, text[:start] + replacement + text[end:], name)
        if not changed or changed.read_bytes() == code:
            mine[2] += 1
            continue
        by = judges.notices(source, changed)
        changed.unlink()
        mine[0 if by else 1] += 1
        if not by:
            print(f"    survived: {line_of(source, text, change)}", flush=True)
        elif options.v:
            print(f"    {by}: {line_of(source, text, change)}", flush=True)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--tests")
    parser.add_argument("--again", type=pathlib.Path)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if not (options.build / "compile_commands.json").exists():
        raise SystemExit("mutate.py: no build there; run meson setup build && ninja -C build")
    sources = [source.resolve() for file in options.files
               for source in (sorted(file.rglob("*.c")) if file.is_dir() else [file])]
    with tempfile.TemporaryDirectory(prefix="monarc-mutate-") as folder:
        os.chmod(folder, 0o755)  # tests start programs as other users, too
        tally = mutate(Build(options.build.resolve(), pathlib.Path(folder)), sources, options)
    rooms = collections.defaultdict(lambda: [0, 0, 0])
    for source, mine in tally.items():
        room = source.parent if options.sample else source
        rooms[room] = [a + b for a, b in zip(rooms[room], mine)]
    for room, (noticed, lost, none) in rooms.items():
        print(f"{room.relative_to(ROOT)}: {noticed} of {noticed + lost} noticed; "
              f"{none} do not compile or are no change")
    total, lost = (sum(mine[i] for mine in tally.values()) for i in (0, 1))
    total += lost
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
