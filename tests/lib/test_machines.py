"""libmonarc on other machines, and with musl: compiled for each whose compiler is here, run under
qemu (not every kernel for x86-64 runs programs of 32 bits); it reads what this machine reads, and prints the same."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MONARC_BUILD", ROOT / "build"))
SHOW = ROOT / "examples/library/print_gmon.c"
SEEDS = [ROOT / "tests/corpus" / seed for seed in (
    "gmon/le64", "gmon/be32", "bsd44/be64", "sprof/le32")]
# Compiler, and what runs its programs. musl is another C library of this machine.
MACHINES = {"i686-linux-gnu-gcc": ["qemu-i386"], "arm-linux-gnueabihf-gcc": ["qemu-arm"],
            "aarch64-linux-gnu-gcc": ["qemu-aarch64"], "musl-gcc": []}
PARTS = ("libmonarc_files.a.p", "libmonarc_lib.a.p")


def sources():
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    return sorted({(BUILD / c["file"]).resolve() for c in commands
                   if any(part in c["output"] for part in PARTS)})


class Machines(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        header = self.dir / "include"  # zlib's, which are no machine's
        header.mkdir()
        for folder in "/usr/include", "/usr/include/x86_64-linux-gnu":
            for name in "zlib.h", "zconf.h":
                if (Path(folder) / name).exists():
                    shutil.copy(Path(folder) / name, header)

    def built(self, name):
        compiler = [name, "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
                    '-DMONARC_VERSION="0"', "-Wall", "-Werror", "-Wno-missing-field-initializers",
                    f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", f"-I{self.dir / 'include'}"]
        files = [*sources(), SHOW, ROOT / "tests/lib/seeds/crc32.c"]

        def compile_one(numbered):
            done = subprocess.run([*compiler, "-c", numbered[1], "-o",
                                   self.dir / f"{name}{numbered[0]}.o"], capture_output=True)
            return done.stderr.decode()

        with ThreadPoolExecutor(2) as pool:
            said = [text for text in pool.map(compile_one, enumerate(files)) if text]
        self.assertEqual(said, [], name)
        program = self.dir / f"{name}-show"
        objects = [self.dir / f"{name}{i}.o" for i in range(len(files))]
        subprocess.run([name, "-static", *objects, "-o", program, "-lpthread"], check=True,
                       stderr=subprocess.DEVNULL)
        return program

    def test_machines(self):
        there = {name: how for name, how in MACHINES.items()
                 if shutil.which(name) and all(map(shutil.which, how))}
        if os.uname().machine != "x86_64" or not there:
            self.skipTest("no compiler for another machine")
        native = self.built("gcc")
        expected = [subprocess.run([native, seed], check=True, capture_output=True).stdout
                    for seed in SEEDS]
        for name, how in there.items():
            with self.subTest(name):
                program = self.built(name)
                for seed, text in zip(SEEDS, expected):
                    done = subprocess.run([*how, program, seed], capture_output=True)
                    self.assertEqual((done.returncode, done.stdout), (0, text), seed)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
