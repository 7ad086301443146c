"""scenes.py: what gcov and monarc are given: programs, how they were compiled, what happened to their
files since, and the command lines that go with each."""

import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import threading
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))  # parts.py
import generate  # noqa: E402
import parts  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
QUICK_SEEDS = 2
OPTIONS = [shlex.split(line) for line in (HERE / "options.txt").read_text().splitlines()
           if not line.startswith("#")]
SOME_OPTIONS = [[], ["-b", "-c"], ["-a", "-b"], ["-j", "-b"], ["-j", "-t"], ["-f"]]
WHOLE = {"basic -O0", "things -O0", "names"}  # of these the quick part asks any options, of others SOME_OPTIONS
SLOW = {"basic -O1", "basic -Os -g", "basic -O0 -fno-exceptions", "things -O0 -fprofile-abs-path", "things -O1 -flto",
        "basic -O2 -flto", "things -O2", "shared O2", "absolute", "up", "up gone", "made 0 -O2", "made 1 -O0"}
LOCKS, LOCKS_LOCK = {}, threading.Lock()
CRASHED = {b"-11", b"-6", b"-9", b"timeout"}


class Scene:
    """A folder with sources, notes and counters. `arguments`: lists of files to ask for."""

    def __init__(self, work, name, sources, flags="-O0", runs=((),), arguments=None, after=None,
                 options=None, text=None):
        self.name, self.folder = name, pathlib.Path(work) / name.replace(" ", "_")
        self.sources, self.flags, self.runs = sources, shlex.split(flags), runs
        self.arguments = arguments or [[pathlib.Path(sources[0]).stem + ".gcda"]]
        self.after, self.options, self.text = after, options or OPTIONS, text
        self.is_slow = name in SLOW

    def build(self):
        """Compiled and run once for all scenes that only differ in what happens to the files afterwards."""
        key = repr((self.sources, self.flags, self.runs, self.text))
        with LOCKS_LOCK:
            lock = LOCKS.setdefault(key, threading.Lock())
        built = self.folder.with_name("built " + hashlib.sha256(key.encode()).hexdigest()[:16])
        with lock:
            if not built.exists():
                self.compile(built)
        shutil.copytree(built, self.folder)
        if self.after:
            self.after(self.folder)

    def compile(self, folder):
        def shell(*words, check=True):
            subprocess.run(words, cwd=folder, check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL, timeout=600)

        shutil.copytree(HERE / "programs", folder)
        for name, text in (self.text or {}).items():
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_text(text)
        objects = [str(pathlib.Path(source).with_suffix(".o")) for source in self.sources]
        compilers = ["g++" if source.endswith(".cc") else "gcc" for source in self.sources]
        for compiler, source, made in zip(compilers, self.sources, objects):
            shell(compiler, "--coverage", *self.flags, "-c", source, "-o", made)
        shell(max(compilers), "--coverage", *self.flags, *objects, "-o", "program")
        for words in self.runs:
            shell("./program", *words, check=False)

    def command_lines(self):
        """Of the wanted part: the quick one has each sixth, in each scene another."""
        lines = [(options, files) for files in self.arguments for options in self.options]
        first = zlib.crc32(self.name.encode())
        return [[*options, *files] for i, (options, files) in enumerate(lines, first) if parts.is_wanted(
            self.is_slow or i % 6 or not (self.name in WHOLE or options in SOME_OPTIONS or self.options is not OPTIONS))]

    def is_undefined(self, gnu):
        """Where gcov crashes there is nothing to be equal to."""
        return gnu["status"] in CRASHED


def remove(*names):
    def act(folder):
        for name in names:
            (folder / name).unlink()
    return act


def overwrite(name, data, offset=0):
    def act(folder):
        with open(folder / name, "r+b") as file:
            file.seek(offset)
            file.write(data)
            if offset == 0 and not data:
                file.truncate()
    return act


def make_newer(*names):
    def act(folder):
        for name in names:
            newer = (folder / name).stat().st_mtime + 1000
            os.utime(folder / name, (newer, newer))
    return act


def rewrite(name, change):
    def act(folder):
        status = (folder / name).stat()
        (folder / name).write_bytes(change((folder / name).read_bytes()))
        os.utime(folder / name, (status.st_mtime, status.st_mtime))
    return act


def several(work):
    """Objects that share headers, given together and apart."""
    both = [["left.gcda"], ["left.gcda", "right.gcda"], ["right.gcno", "left.o"],
            ["left.gcda", "left.gcda"], ["left.gcda", "missing.c"], ["missing.gcda", "right.c"]]
    twice = [(), ("1", "2")]
    yield Scene(work, "shared", ["left.c", "right.c"], runs=twice, arguments=both)
    yield Scene(work, "shared O2", ["left.c", "right.c"], "-O2", arguments=both[:2])
    yield Scene(work, "comdat", ["east.cc", "west.cc"],
                arguments=[["east.gcda"], ["west.gcda"], ["east.gcda", "west.gcda"]])
    yield Scene(work, "absolute", ["left.c", "right.c"], "-fprofile-abs-path",
                arguments=both[1:2])


def named(work):
    """How arguments, -o and folders name the files."""
    text = {"deep/a.b.c": "int main(void)\n{\n    return 0;\n}\n"}
    forms = [["deep/a.b.c"], ["deep/a.b"], ["deep/a.b.o"], ["-o", "deep", "a.b.c"],
             ["-o", "deep/", "x/y/a.b.gcda"], ["-o", "deep/a.b.o", "anything"],
             ["-o", "deep/a.b", "anything.c"], ["-o", "nowhere", "deep/a.b.c"], ["./deep//a.b.gcno"],
             ["-o", "", "deep/a.b.c"], ["deep/../deep/a.b.gcda"], ["nothing"], ["deep"], ["."],
             ["--", "deep/a.b.c"], ["deep/a.b.c", "-b"]]
    yield Scene(work, "names", ["deep/a.b.c"], text=text, arguments=forms,
                options=[[], ["-j"], ["-l"], ["-l", "-p"], ["-x"], ["-t", "-j"], ["-p", "-j"],
                         ["-x", "-j"], ["-l", "-j", "-x", "-p"]])
    up = {"deep/up.c": '#include "../inc/shared.h"\nint main(void) { return sum(3) - 3; }\n'}
    yield Scene(work, "up", ["deep/up.c"], text=up, arguments=[["deep/up.gcda"]])
    yield Scene(work, "up gone", ["deep/up.c"], text=up, arguments=[["deep/up.gcda"]],
                after=lambda folder: shutil.rmtree(folder / "inc"), options=SOME_OPTIONS + [["-p"]])


def changed(work):
    """Files that are missing, newer, damaged, or of another program."""
    def one(name, after, options=SOME_OPTIONS, arguments=None):
        return Scene(work, name, ["basic.c"], after=after, options=options, arguments=arguments)
    yield one("no source", remove("basic.c"))
    yield one("newer source", make_newer("basic.c"), OPTIONS)
    yield one("no counters", remove("basic.gcda"), OPTIONS)
    yield one("no notes", remove("basic.gcno"))
    yield one("nothing", remove("basic.gcno", "basic.gcda"))
    yield one("empty counters", overwrite("basic.gcda", b""))
    yield one("empty notes", overwrite("basic.gcno", b""))
    yield one("not counters", overwrite("basic.gcda", b"XXXX"))
    yield one("not notes", overwrite("basic.gcno", b"XXXX"))
    yield one("other stamp", overwrite("basic.gcda", b"XXXX", 8))
    yield one("short source", rewrite("basic.c", lambda b: b[:700]))
    yield one("no last newline", rewrite("basic.c", lambda b: b.rstrip()))
    yield one("longer source", rewrite("basic.c", lambda b: b + b"\n\nmore\n"))
    yield one("odd source", rewrite("basic.c", lambda b: b.replace(b"\n", b"\r\n", 9)
                                    .replace(b"e", b"\xe9", 5)))
    yield one("read-only folder", lambda folder: (folder / "basic.c.gcov").mkdir())


def written(work):
    for level in ("-O0", "-O1", "-O2", "-Os -g", "-O2 -flto", "-O0 -fno-exceptions"):
        runs = [(), ("14",), ("5", "x")]
        yield Scene(work, "basic " + level, ["basic.c"], level, runs,
                    options=OPTIONS if level in ("-O0", "-O2") else SOME_OPTIONS)
    for level in ("-O0", "-O2", "-O0 -fprofile-abs-path", "-O1 -flto"):
        yield Scene(work, "things " + level, ["things.cc"], level,
                    options=OPTIONS if level == "-O0" else SOME_OPTIONS)
    yield Scene(work, "never run", ["things.cc"], runs=(), options=SOME_OPTIONS)
    yield from several(work)
    yield from named(work)
    yield from changed(work)


def with_all_options(work):
    """Scenes of which some options are asked always."""
    yield Scene(work, "things -O2, all options", ["things.cc"], "-O2")
    yield Scene(work, "never run, all options", ["things.cc"], runs=())
    yield Scene(work, "comdat O2", ["east.cc", "west.cc"], "-O2 -fno-inline",
                arguments=[["east.gcda", "west.gcda"]])


def made_at_random(work, seeds):
    for seed in seeds:
        text = {"made.c": generate.program(seed)}
        for level in ("-O0", "-O2") if seed % 4 == 0 else ("-O0",):
            yield Scene(work, f"made {seed} {level}", ["made.c"], level, text=text,
                        options=[[], ["-a", "-b", "-c", "-u"], ["-j", "-t", "-b"]])


def wanted_scenes(work):
    """Those with command lines of the wanted part."""
    quick = [*written(work), *made_at_random(work, range(QUICK_SEEDS))]
    slow = [*with_all_options(work), *made_at_random(work, range(QUICK_SEEDS, 24))]
    for scene in slow:
        scene.is_slow = True
    return [scene for scene in quick + slow if scene.command_lines()]
