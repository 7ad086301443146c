#!/usr/bin/env python3
"""test_cross_builds.py: the recorders alone (-Danalyser=disabled), built by Meson for other machines
with cross files: nothing of what the analyser needs is to be found. Installed, run, uninstalled.
None of libc's functions that may use vector registers is called where a call is counted. And monarc
itself as one static file for aarch64, with Debian's packages for that machine, unpacked into a folder.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MONARC = os.environ.get("MONARC", str(ROOT / "build/monarc"))
CROSS = """\
[binaries]
c = {compiler}
ar = '{triplet}-ar'
strip = '{triplet}-strip'
objcopy = '{triplet}-objcopy'
pkg-config = 'false'
exe_wrapper = {wrapper}

[host_machine]
system = 'linux'
cpu_family = '{family}'
cpu = '{family}'
endian = 'little'
"""
# Compiler, triplet of binutils, Meson's family, what runs programs: of 32-bit x86, not every
# 64-bit kernel does.
MACHINES = {
    "aarch64-clang": (["clang", "--target=aarch64-linux-gnu"], "aarch64-linux-gnu", "aarch64",
                      ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "armv7": (["arm-linux-gnueabihf-gcc"], "arm-linux-gnueabihf", "arm",
              ["qemu-arm", "-L", "/usr/arm-linux-gnueabihf"]),
    "i386": (["i686-linux-gnu-gcc"], "i686-linux-gnu", "x86",
             ["qemu-i386", "-L", "/usr/i686-linux-gnu"]),
}
PROGRAM = """\
#include <stdio.h>
__attribute__((noinline)) int twice(int x) { return 2 * x; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += twice(i);
    printf("%d\\n", sum);
    return 0;
}
"""
# Each function's first call takes the recorder's long way; its arguments must survive that.
ARGUMENTS = """\
#include <stdio.h>
#define FUNCTION(n) __attribute__((noinline)) static double \\
    mix##n(double a, float b, int c, int d, double e) { return n + a * b + c - d + e; }
#define EACH(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13)
EACH(FUNCTION)
#define CALL(n) sum += mix##n(i, .5f, 3, 1, 10);
__attribute__((noinline)) int outer(int n)
{
    __attribute__((noinline)) int inner(int k) { return k * n; }
    return inner(3) + inner(4);
}
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        EACH(CALL)
        sum += outer(i);
    }
    printf("%.1f\\n", sum);
    for (volatile int i = 0; i < 20000000; i++)
        ;
    return 0;
}
"""


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class CrossBuilds(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="monarc-cross-"))
        self.addCleanup(shutil.rmtree, self.work)

    def build(self, name):
        compiler, triplet, family, wrapper = MACHINES[name]
        if not all(map(shutil.which, (compiler[0], triplet + "-ar", triplet + "-gcc", wrapper[0]))):
            self.skipTest(f"nothing that builds for {name}")
        cross = self.work / "cross.ini"
        cross.write_text(CROSS.format(compiler=compiler, triplet=triplet, family=family,
                                      wrapper=wrapper))
        environment = {k: v for k, v in os.environ.items() if k not in ("CC", "CFLAGS", "LDFLAGS")}
        build = self.work / "build"
        run("meson", "setup", build, ROOT, "--cross-file", cross, "-Danalyser=disabled",
            "-Dwerror=true", env=environment)
        run("ninja", "-C", build)
        return build

    def files(self):
        return sorted(p.relative_to(self.work) for p in (self.work / "root").rglob("*")
                      if not p.is_dir())

    def compiled(self, name, *words):
        _, triplet, _, _ = MACHINES[name]
        (self.work / "p.c").write_text(PROGRAM)
        run(triplet + "-gcc", "-O1", "-static", *words, "-lpthread", "-o", "p", cwd=self.work)
        return self.work / "p"

    def check_profile(self, name):
        """The calls of a static program are counted, and those of a dynamic one."""
        root = self.work / "root"
        archive, library = (next(root.rglob(n)) for n in ("libmonarc_rt.a", "libmonarc_rt.so.1.0.0"))
        _, triplet, _, wrapper = MACHINES[name]
        for words in (["-static", archive, "-lpthread"], [library, f"-Wl,-rpath,{self.work}"],
                      [library, f"-Wl,-rpath,{self.work}", "-no-pie", "-O2"]):
            (self.work / "p.c").write_text(PROGRAM)
            shutil.copy(library, self.work / "libmonarc_rt.so.1")
            run(triplet + "-gcc", "-O1", "-pg", "p.c", *words, "-o", "p", cwd=self.work)
            out = self.work / "out"
            run(*wrapper, self.work / "p", cwd=self.work, env={**os.environ, "MONARC_OUT": str(out)})
            info = json.loads(run(MONARC, "info", "--json", out / "gmon.out"))["files"][0]
            self.assertEqual(info["arcs"]["calls"] - info["arcs"]["calls"] % 1000, 1000, words)
            shutil.rmtree(out)
        self.check_arguments(name, archive, library)

    def check_arguments(self, name, archive, library):
        """A function's arguments are what they were, in whatever register."""
        _, triplet, _, wrapper = MACHINES[name]
        (self.work / "a.c").write_text(ARGUMENTS)
        needed = run(triplet + "-nm", "-D", "--undefined-only", library)
        self.assertNotRegex(needed, r" (mem|str)[a-z]+")
        calls = 100 * (13 + 3)
        # qemu-i386 forgets what stands on the x87's stack when a signal comes: every fifth one spoils a
        # sum like this in a program without recorder, too. One a second comes too late.
        rate = {"MONARC_RATE": "1"} if name == "i386" else {}
        for words in [archive, "-static", "-lpthread"], [library, f"-Wl,-rpath,{self.work}"]:
            for flags in ["-O0"], ["-O2"], *([["-O2", "-marm"]] if name == "armv7" else []):
                run(triplet + "-gcc", *flags, "-pg", "a.c", *words, "-o", "a", cwd=self.work)
                out = self.work / "out"
                said = run(*wrapper, self.work / "a", cwd=self.work,
                           env={**os.environ, **rate, "MONARC_OUT": str(out)})
                self.assertEqual(float(said), self.sum_of_arguments(), (words, flags))
                info = json.loads(run(MONARC, "info", "--json", out / "gmon.out"))["files"][0]
                self.assertIn(info["arcs"]["calls"] - calls, (0, 1), (words, flags))
                said = run(MONARC, "flat", out)
                self.assertEqual("takes no stacks on 32-bit Arm" in said, name == "armv7", said)
                self.assertNotIn("calls were not counted", said)
                shutil.rmtree(out)

    @staticmethod
    def sum_of_arguments():
        return sum(sum(n + i * .5 + 3 - 1 + 10 for n in range(1, 14)) + 7 * i for i in range(100))

    def check_coverage(self, name):
        """So is what ran of it: as many lines as gcov's own runtime would have shown."""
        archive = next((self.work / "root").rglob("libmonarc_cover.a"))
        self.compiled(name, "--coverage", "-nodefaultlibs", "p.c", archive, "-lc", "-lgcc",
                      "-lgcc_eh", "-lc")
        run(*MACHINES[name][3], self.work / "p", cwd=self.work)
        source, = json.loads(run(MONARC, "cover", "--json", "-", ".", cwd=self.work))["sources"]
        counts = {line["line"]: line["count"] for line in source["lines"]}
        self.assertEqual((counts[2], counts[7]), (1000, 1000))

    def check(self, name):
        build = self.build(name)
        environment = {**os.environ, "DESTDIR": str(self.work / "root")}
        run("meson", "install", "-C", build, "--no-rebuild", env=environment)
        names = {p.name for p in self.files()}
        self.assertLessEqual({"libmonarc_cover.so.1.0.0", "libmonarc_cover.a", "cover.h",
                              "libmonarc_rt.so.1.0.0", "libmonarc_rt.a", "runtime.h"}, names)
        self.assertNotIn("monarc", names)
        self.check_coverage(name)
        self.check_profile(name)
        run("ninja", "-C", build, "uninstall", env=environment)
        self.assertEqual(self.files(), [])

    def test_aarch64_with_clang(self):
        self.check("aarch64-clang")

    def test_armv7(self):
        self.check("armv7")

    def test_i386(self):
        self.check("i386")


@unittest.skipUnless(all(map(shutil.which, ("aarch64-linux-gnu-gcc", "qemu-aarch64", "apt-get", "dpkg-deb"))),
                     "needs Debian, its compiler for aarch64, and qemu")
class StandaloneOnArm(unittest.TestCase):
    """monarc runs under qemu, which has no perf events: recording is refused by that name."""
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="monarc-arm64-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.monarc = os.environ.get("MONARC_STANDALONE_ARM64")  # one that is built already
        if not cls.monarc:
            cls.monarc = cls.work / "build/monarc"
            done = subprocess.run([ROOT / "tools/standalone.sh", "aarch64", cls.monarc.parent, "-Dbuildtype=plain",
                                   "-Doptimization=0"], capture_output=True, text=True)
            if done.returncode == 77:
                raise unittest.SkipTest("no packages for arm64 to be had: " + done.stderr[-200:])
            if done.returncode:
                raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])

        (cls.work / "p.c").write_text(PROGRAM.replace("1000", "3000000"))  # long enough for samples
        run("aarch64-linux-gnu-gcc", "-g", "-O1", "-static", "-pg", "--coverage", "p.c", "-o", "p", cwd=cls.work)
        run("qemu-aarch64", "./p", cwd=cls.work)

    def test_same_bytes_as_on_this_machine(self):
        for arguments in ("flat p gmon.out", "flat --json p gmon.out", "graph p gmon.out", "lines p gmon.out",
                          "annotate --asm p gmon.out", "gprof p gmon.out", "cover .", "cover --json - .",
                          "export --format pprof -o - p gmon.out", "html -o - p gmon.out"):
            with self.subTest(arguments):
                here, there = (subprocess.run([*words, *arguments.split()], cwd=self.work, capture_output=True)
                               for words in ([MONARC], ["qemu-aarch64", self.monarc]))
                self.assertEqual((there.returncode, there.stderr), (0, here.stderr))
                self.assertEqual(there.stdout, here.stdout)
                self.assertGreater(len(here.stdout), 100)

    def test_in_an_empty_folder(self):
        said = run("aarch64-linux-gnu-readelf", "-hlW", self.monarc)
        self.assertIn("AArch64", said)
        self.assertNotIn("INTERP", said)
        for arguments, status, expected in (
                ("flat --all p gmon.out", 0, r" twice( |\n)"), ("graph p gmon.out", 0, r"twice"),
                ("annotate p gmon.out", 0, r"3000000 .*int twice"), ("lines --all p gmon.out", 0, r"p\.c"),
                ("annotate --asm p gmon.out", 0, r"\b(ret|ldr|str|add)\b"), ("cover .", 0, r"100\.0 .*p\.c"),
                ("html -o page.html p gmon.out", 0, r"^"), ("tui p gmon.out", 2, "not a terminal"),
                ("graph --svg p gmon.out", 2, "one static file; --dot writes|built without Graphviz"),
                ("run /bin/true", 0, "unrecorded: perf events: Function not implemented")):
            with self.subTest(arguments):
                done = subprocess.run(["qemu-aarch64", str(self.monarc), *arguments.split()], cwd=self.work,
                                      capture_output=True, text=True)
                self.assertRegex(done.stdout + done.stderr, expected)
                self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
