#!/usr/bin/env python3
"""run.py: gives the same command lines to GNU gcov and to monarc and compares what they do.

usage: run.py [--monarc build/monarc] [--gcov gcov] [--work build/oracle_gcov] [-k FILTER]
              [--failures N] [-v] [-j JOBS]

Programs are compiled by gcc --coverage and run; both tools are then started with argv[0] = "gcov" in
the same folder. Standard output, exit status and all files they leave must be equal byte for byte
(JSON is unpacked, and equal as a document); messages on standard error line by line, in any order. Nothing is
stored of what GNU gcov printed. The exit status is 0 if all is equal, 1 if not, 2 if it could not
run. gcov and gcc are the machine's, of whatever version. MONARC_PART=quick takes few of the programs
that are made at random, =slow the others (tests/parts.py).
"""

import argparse
import concurrent.futures
import difflib
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True

import scenes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TIMEOUT_SECONDS = 120  # gcov itself hangs on some damaged files


def files_of(folder):
    return {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}


def content(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def execute(tool, folder, words):
    """What a command line does in a folder, which is left as it was."""
    before = {name: path.stat().st_mtime_ns for name, path in files_of(folder).items()}
    try:
        done = subprocess.run(["gcov", *words], executable=tool, cwd=folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS, check=False,
                              env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = "timeout", b"", b""
    result = {"status": str(status).encode(), "out": out,
              "err": b"\n".join(sorted(err.splitlines()))}
    for name, path in files_of(folder).items():
        if before.get(name) != path.stat().st_mtime_ns:
            result[str(name)] = content(path)
            path.unlink()
    return result


def show_difference(gnu, ours, most=12):
    lines = []
    for key in sorted(set(gnu) | set(ours)):
        old, new = gnu.get(key), ours.get(key)
        if old == new:
            continue
        if old is None or new is None:
            lines.append(f"    {key}: only {'monarc' if old is None else 'gcov'} has it")
            continue
        lines.append(f"    {key}:")
        old, new = (x.decode(errors="replace").replace("}, {", "},\n{").splitlines()
                    for x in (old, new))
        lines += ["    " + x[:200] for x in list(difflib.unified_diff(old, new, "gcov", "monarc",
                                                                       lineterm="", n=1))[2:most]]
    return "\n".join(lines)


def is_equal(gnu, ours):
    """Byte for byte; JSON as documents, since the order of an object's keys differs from version to version."""
    def document(data):
        if data.startswith(b"{"):
            try:
                return [json.loads(line) for line in data.splitlines()]
            except ValueError:
                pass
        return data
    return gnu.keys() == ours.keys() and all(
        data == ours[name] or document(data) == document(ours[name])
        for name, data in gnu.items())


class Comparison:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.same, self.failed = 0, []

    def compare(self, scene, words):
        name = f"{scene.name}: {' '.join(words)}"
        if self.options.k and self.options.k not in name:
            return
        gnu = execute(self.options.gcov, scene.folder, words)
        if scene.is_undefined(gnu):
            return
        ours = execute(self.options.monarc, scene.folder, words)
        with self.lock:
            if is_equal(gnu, ours):
                self.same += 1
                if self.options.v:
                    print("same:", name)
                return
            self.failed.append(name)
            if len(self.failed) <= self.options.failures:
                print(f"not the same: {name}\n{show_difference(gnu, ours)}", flush=True)

    def play(self, scene):
        try:
            scene.build()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            with self.lock:
                print(f"# {scene.name} left out: {error}")
            return
        for words in scene.command_lines():
            self.compare(scene, words)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", type=os.path.abspath, default=ROOT / "build/monarc")
    parser.add_argument("--gcov", default=shutil.which("gcov"))
    parser.add_argument("--work", default=ROOT / "build/oracle_gcov", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("-k", default="", help="command lines whose name contains this")
    parser.add_argument("--failures", type=int, default=20)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    return parser.parse_args()


def main():
    options = parse()
    if not options.gcov or os.path.samefile(options.gcov, options.monarc):
        print("1..0 # SKIP GNU gcov is not installed")
        return 0
    said = subprocess.run([options.gcov, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"(\d+)\.\d+", said)
    if version and int(version[1]) < 11:
        print(f"1..0 # SKIP gcov {version[1]} lacks options of later ones, and its last line")
        return 0
    shutil.rmtree(options.work, ignore_errors=True)
    comparison = Comparison(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(comparison.play, scenes.wanted_scenes(options.work)))
    failed, total = len(comparison.failed), comparison.same + len(comparison.failed)
    print(f"1..1\n{'not ok' if failed or not total else 'ok'} 1 - {comparison.same} of {total} "
          "command lines do the same in gcov and monarc")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
