"""Compiles programs with --coverage, links them with libmonarc_cover or with libgcov, reads what they
leave. The reader here shares no code with monarc: it knows the gcda of gcc 12 to 16, and gcov-dump
checks it."""
import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.append(os.path.join(ROOT, "tests"))  # parts.py
INCLUDE = os.path.join(ROOT, "include")
SO = os.environ.get("MONARC_COVER_SO", "")
ARCHIVE = os.environ.get("MONARC_COVER_A", "")
CC = os.environ.get("MONARC_CC", "gcc")

# How a program is linked: what follows its objects.
LINKS = {
    "gcov": ["-lgcov"],
    "so": [SO, "-Wl,-rpath," + os.path.dirname(SO)],
    "a": [ARCHIVE],
    "static": ["-static", ARCHIVE],
}
OURS = ("so", "a", "static")


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


def spill(path, data):
    with open(path, "wb") as f:
        f.write(data)


class Gcda:
    """A gcda of gcc 12 or later: runs, sum_max and the arc counts of each function, by ident."""

    def __init__(self, path):
        data = slurp(path)
        self.words = struct.unpack_from("<4I", data)
        # B2 to B9 are gcc 12 to 19, C0 is 20.
        assert self.words[0] == 0x67636461 and 0x42323000 < self.words[1] < 0x43000000, (path, self.words)
        at, self.arcs, self.runs, self.sum_max = 16, {}, None, None
        while True:
            tag, = struct.unpack_from("<I", data, at)
            at += 4
            if tag == 0:
                break
            n, = struct.unpack_from("<i", data, at)
            at += 4
            if tag == 0xA1000000:
                self.runs, self.sum_max = struct.unpack_from("<II", data, at)
            elif tag == 0x01000000 and n:
                ident, = struct.unpack_from("<I", data, at)
            elif tag == 0x01A10000:
                self.arcs[ident] = ([0] * (-n // 8) if n < 0 else
                                    list(struct.unpack_from("<%dQ" % (n // 8), data, at)))
            at += max(n, 0)
        assert at == len(data), "%s: %d bytes follow the end" % (path, len(data) - at)


class CoverTest(unittest.TestCase):
    """A temporary folder a test. Notes and counters are where a program was compiled."""
    built = {}

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="monarc-cover-")
        self.addCleanup(shutil.rmtree, self.dir, True)

    def compile(self, source, *flags, cc=CC, name=None):
        """Compiles in the test's folder, so that notes and counters are there."""
        name = name or os.path.splitext(os.path.basename(source))[0]
        source = source if "/" in source else os.path.join(PROGRAMS, source)
        flags = flags or ("--coverage", "-O0", "-fprofile-update=atomic")
        subprocess.run([cc, "-g", "-w", "-D_GNU_SOURCE", *flags, "-I", INCLUDE, "-c", source, "-o", name + ".o"],
                       cwd=self.dir, check=True)
        return name + ".o"

    def link(self, how, objects, *flags, cc=CC, name="program"):
        path = os.path.join(self.dir, name)
        subprocess.run([cc, *objects, "-o", path, "-pthread", *LINKS[how], *flags], cwd=self.dir,
                       check=True)
        return path

    def program(self, how, source="life.c", *flags):
        return self.link(how, [self.compile(source, *flags)])

    def built_program(self, how, source="life.c", *flags):
        """Compiles once a process; the test moves to that folder, where no counters are then."""
        key = (how, source, flags)
        if key not in self.built:
            folder = tempfile.TemporaryDirectory(prefix="monarc-cover-")
            self.dir = folder.name
            self.built[key] = folder, self.program(how, source, *flags)
        self.dir = self.built[key][0].name
        for name in os.listdir(self.dir):
            if ".gcda" in name or name.endswith(".gcov"):
                os.unlink(self.path(name))
        return self.built[key][1]

    def run_program(self, command, code=0, quiet=True, cwd=None, timeout=600, **env):
        r = subprocess.run(command, cwd=cwd or self.dir, capture_output=True, text=True,
                           timeout=timeout, env=dict(os.environ, LC_ALL="C", **env))
        self.assertEqual(r.returncode, code, "%s\n%s%s" % (command, r.stdout, r.stderr))
        if quiet:
            self.assertEqual(r.stderr, "")
        return r

    def path(self, name):
        return os.path.join(self.dir, name)

    def gcov(self, name):
        """Execution counts by function, and the annotated source, as gcov prints them."""
        subprocess.run(["gcov", "-b", "-c", "-f", name], cwd=self.dir, check=True,
                       capture_output=True)
        return {os.path.basename(p): slurp(p) for p in glob.glob(self.dir + "/*.gcov")}

    def calls(self, name="life", gcda=None):
        """How often each function ran."""
        import json
        r = subprocess.run(["gcov", "--json-format", "--stdout", gcda or name + ".gcda"],
                           cwd=self.dir, check=True, capture_output=True)
        return {f["name"]: f["execution_count"] for unit in r.stdout.decode().splitlines()
                for file in json.loads(unit)["files"] for f in file["functions"]}

    def counted(self):
        return self.calls()["counted"]

    def leftovers(self):
        return sorted(os.path.basename(p) for pattern in ("*.part", "*.lock*", "*.damaged-*", "*.other-*")
                      for p in glob.glob(os.path.join(self.dir, pattern)))
