#!/usr/bin/env python3
"""One allocation or one system call of a command fails, each in turn: nothing good is lost by it.

usage: test_faults.py [-v] [LINE...]    lines of command_lines.py; FAIL_NTH_SO and FAIL_CALL name the tools

A command may fail, and must say so: it never crashes, never ends with its usual status but other bytes
on standard output or in a file, never leaves a file that it writes other than as it was or as it
shall be, and leaves nothing else behind. The quick part draws a few places of ten command lines, the slow
one those and more of each line, and all of command lines that are named.
"""

import concurrent.futures
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import command_lines

sys.path.append(str(Path(__file__).resolve().parents[1]))
import parts  # noqa: E402

MONARC = os.environ.get("MONARC") or str(command_lines.HERE.parents[1] / "build/monarc")
BUILD = Path(MONARC).parent / "tests/faults"
FAIL_NTH = os.environ.get("FAIL_NTH_SO") or str(BUILD / "fail_nth.so")
FAIL_CALL = os.environ.get("FAIL_CALL") or str(BUILD / "fail_call")
QUICK_PLACES = 3
SLOW_PLACES = 13  # of those that a command has of a kind, the quick ones among them: some have thousands
CHANGES = re.compile(rb'timestamp="\d+"|"created": *"?[^",]*')  # from run to run

# What is failed: arguments of fail_call, or None for allocations.
KINDS = {
    "allocation": None,
    "call EIO": ["-e", "EIO"],
    "open EMFILE": ["-e", "EMFILE", "-o", "openat"],
    "open EACCES": ["-e", "EACCES", "-o", "openat"],
    "full disk": ["-e", "ENOSPC", "-a", "-o", "write,pwrite64,writev,ftruncate,fallocate,linkat,mkdir"],
}

GNU = ("gcov", "gprof")  # theirs is how they take a file that may not be read: as missing
PARTIAL_KINDS = ("call EIO", "open EMFILE")


class Result:
    def __init__(self, status, out, files, others, err):
        self.status, self.out, self.files, self.others, self.err = status, out, files, others, err


class Bench:
    """A folder of inputs, in which one command line is run again and again."""

    def __init__(self, folder, line):
        self.folder = folder
        self.name, self.arguments, outputs = line
        self.inputs = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        self.outputs = [str(next(folder.glob(name)).relative_to(folder)) if "*" in name else name
                        for name in outputs]
        self.reset()
        self.before = {name: self.content(folder / name) for name in self.outputs}

    def reset(self):
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self.inputs:
                path.unlink()
        for name in self.outputs:
            path = self.folder / name
            if path in self.inputs or not name.endswith(".db"):
                path.write_bytes(self.inputs.get(path, command_lines.OLD))
            else:
                path.unlink(missing_ok=True)  # a new history

    def run(self, prefix, environment):
        self.reset()
        done = subprocess.run([*prefix, MONARC, *self.arguments], cwd=self.folder, timeout=600,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, "LC_ALL": "C", **environment})
        files = {name: self.content(self.folder / name) for name in self.outputs}
        known = set(self.inputs) | {self.folder / name for name in self.outputs}
        known |= {self.folder / f"{name}-journal" for name in self.outputs if name.endswith(".db")}  # SQLite's
        others = [str(p.relative_to(self.folder)) for p in self.folder.rglob("*")
                  if p.is_file() and p not in known]
        others += [str(p) for p, was in self.inputs.items()
                   if p.name not in "".join(self.outputs) and p.read_bytes() != was]
        return Result(done.returncode, CHANGES.sub(b"", done.stdout), files, others, done.stderr)

    @staticmethod
    def content(path):
        """Of a history what it has for the next that opens it: a journal may take the last changes back."""
        if path.suffix == ".db" and path.exists():
            with contextlib.closing(sqlite3.connect(path)) as history:
                dump = "\n".join(history.iterdump()).encode()
            return dump if b"CREATE" in dump else None
        return CHANGES.sub(b"", path.read_bytes()) if path.exists() else None

    def count(self, kind):
        """How many there are to fail."""
        record = self.folder.with_name(self.folder.name + ".count")
        record.unlink(missing_ok=True)
        if KINDS[kind] is None:
            self.run([], {"LD_PRELOAD": FAIL_NTH, "FAIL_COUNT": str(record)})
            return int(record.read_text().split()[1])
        self.run([FAIL_CALL, "-m", "-c", str(record), *KINDS[kind], "env", f"LD_PRELOAD={FAIL_NTH}"],
                 {})
        return int(record.read_text().split()[1])

    def fail(self, kind, number):
        if KINDS[kind] is None:
            return self.run([], {"LD_PRELOAD": FAIL_NTH, "FAIL_NTH": str(number)})
        return self.run([FAIL_CALL, "-m", "-n", str(number), *KINDS[kind], "env",
                         f"LD_PRELOAD={FAIL_NTH}"], {})

    def complaint(self, kind, good, got):
        """What is wrong with a run in which something failed, or None."""
        if got.status < 0 or got.status >= 124:
            return f"ended with status {got.status}: {got.err[-200:]!r}"
        if got.others:
            return f"left {got.others}"
        # What takes many inputs reports what it could read, with a status that says so.
        # The coverage of a single object is all or nothing: a good report stays.
        # What may not be read by this user will not be readable the next time either: a report of
        # the rest replaces the old one, with a status that says so.
        is_partial = got.status not in (0, good.status) and (
            kind == "open EACCES" or (self.name.startswith("gcov") and kind in PARTIAL_KINDS))
        checked = {} if is_partial else got.files
        for name, now in checked.items():
            if now not in (self.before[name], good.files[name]):
                return f"{name} is neither as it was nor as it shall be: {now and now[:80]!r}"
        if got.status == good.status and (got.out, got.files) != (good.out, good.files):
            return f"status {got.status}, but other bytes: {got.err[-200:]!r}"
        return None


def places(count, is_slow):
    """Spread evenly; of the slow part, also the last ones, where results are written."""
    most = SLOW_PLACES if is_slow else QUICK_PLACES
    if count <= most or (is_slow and CHOSEN):
        return range(1, count + 1)
    ends = range(count - most // 4, count + 1) if is_slow else ()
    return sorted({1 + (count - 1) * i // (most - 1) for i in range(most)} | set(ends))


def try_line(pristine, line, is_all):
    """(runs, complaints) of one command line."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "work"
        shutil.copytree(pristine, folder)
        bench = Bench(folder, line)
        good, again = bench.run([], {}), bench.run([], {})
        if (good.status, good.out, good.files) != (again.status, again.out, again.files):
            return 0, [f"{bench.name}: differs from run to run"]
        if good.status > 1:
            return 0, [f"{bench.name}: does not work at all: {good.err!r}"]
        runs, complaints = 0, []
        for kind in KINDS:
            if kind == "open EACCES" and bench.name.startswith(GNU):
                continue
            for number in places(bench.count(kind), is_all):
                runs += 1
                complaint = bench.complaint(kind, good, bench.fail(kind, number))
                if complaint:
                    complaints.append(f"{bench.name}: {kind} {number}: {complaint}")
        return runs, complaints


class Faults(unittest.TestCase):
    def try_all(self, is_all):
        names = CHOSEN or ([line[0] for line in command_lines.LINES] if is_all else command_lines.QUICK)
        chosen = [line for line in command_lines.LINES if line[0] in names]
        self.assertEqual(len(chosen), len(names))
        with tempfile.TemporaryDirectory() as folder, \
                concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            pristine = Path(folder)
            command_lines.prepare(pristine, MONARC)
            done = list(pool.map(lambda line: try_line(pristine, line, is_all), chosen))
        print(f"# {len(chosen)} command lines, {sum(runs for runs, _ in done)} runs")
        self.assertEqual([], [c for _, complaints in done for c in complaints])

    def test_a_few_places(self):
        self.try_all(False)

    @parts.slow
    def test_many_places(self):
        self.try_all(True)


load_tests = parts.load_tests
CHOSEN = [word for word in sys.argv[1:] if not word.startswith("-")]

if __name__ == "__main__":
    Faults.maxDiff = None
    unittest.main(argv=[word for word in sys.argv if word not in CHOSEN])
