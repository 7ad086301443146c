#!/usr/bin/env python3
"""What ran is described by the file that the recorder had open: whatever has become of its path, and in whatever
file system the path leads to it. Names and lines of other files of that path, or none, would be wrong or missing."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import is_sanitized, monarc
from parts import load_tests, slow

# Ends after so much CPU time, however busy the machine is. The function and its loop are where `name` and `line` say.
BURN = """{before}
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static unsigned {name}(unsigned x)
{{
    while (clock() < CLOCKS_PER_SEC * 3 / 10)
        for (int i = 0; i < 100000; i++)
            x = x * 3 + 1;
    return x;
}}
int main(int count, char **argument)
{{
    if (count > 1 && rename(argument[1], argument[0]))
        return 9;
    return {name}((unsigned)count) == 77;
}}
"""
METHODS = ("perf", "ptrace")


def may_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class HeldFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="monarc-held-")
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)

    def build(self, source, name, before=0, strip=False, options=()):
        """A program whose function has that name, its loop in line 9 + `before`."""
        (self.at / f"{source}.c").write_text(BURN.format(name=name, before="\n" * before))
        subprocess.run(["gcc", "-g", "-O1", *options, f"{source}.c", "-o", source], cwd=self.at, check=True)
        return self.at / source

    def record(self, method, recording, *command):
        done = monarc("run", "--method", method, "--no-report", "-o", recording, *command, cwd=self.at)
        if b"perf events" in done.stderr and done.returncode:
            self.skipTest("perf events are refused here")
        self.assertEqual(done.returncode, 0, done.stderr)

    def function_and_lines(self, recording):
        """The name that has most of the time, and the source lines that have any."""
        flat = monarc("flat", "--csv", recording, cwd=self.at).stdout.decode()
        lines = monarc("lines", recording, cwd=self.at).stdout.decode()
        return flat, set(map(int, re.findall(r"\bran\.c:(\d+)", lines)))

    def check(self, recording, name, lines, other=None):
        flat, found = self.function_and_lines(recording)
        self.assertIn(name, flat)
        self.assertTrue(found & lines, f"{sorted(found)} has none of {sorted(lines)}")
        if other:
            self.assertNotIn(other, flat)

    @slow
    def test_replaced_while_it_ran(self):
        """By another build, in which the same addresses are another function's, with and without build-ids."""
        for method in METHODS:
            for options in (), ("-Wl,--build-id=none",):
                with self.subTest(method=method, options=options):
                    self.build("ran", "old_name", options=options)
                    other = self.at / "other"
                    (self.at / "other.c").write_text("int filler(int a) { return a * 7; }\n" +
                                                     BURN.format(name="new_name", before="\n" * 30))
                    subprocess.run(["gcc", "-g", "-O1", *options, "other.c", "-o", other], cwd=self.at, check=True)
                    recording = self.at / f"r-{method}-{len(options)}"
                    self.record(method, recording, self.at / "ran", other)
                    self.check(recording, "old_name", set(range(6, 13)), "new_name")

    @slow
    def test_file_system_of_a_container(self):
        if not may_mount():
            self.skipTest("this user may not mount")
        program = self.build("ran", "inside")
        for method in METHODS:
            with self.subTest(method=method):
                where = self.at / f"mounted-{method}"
                where.mkdir()
                script = f"mount --make-rprivate / && mount -t tmpfs none {where} && cp {program} {where}/ran && exec {where}/ran"
                self.record(method, self.at / f"c-{method}", "unshare", "-m", "sh", "-c", script)
                self.assertFalse((where / "ran").exists())
                self.check(self.at / f"c-{method}", "inside", set(range(6, 13)))

    def test_what_perf_keeps(self):
        """~/.debug has files by build-id, as `perf archive` does when it is unpacked: names and lines."""
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        program, home = self.build("ran", "kept_name"), self.at / "home"
        environment = {"HOME": str(home)}
        done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-o", "perf.data", program], cwd=self.at,
                              env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True)
        if done.returncode:
            self.skipTest("perf does not record here")
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        kept = home / ".debug/.build-id" / build_id[:2] / build_id[2:]  # where perf itself puts it, unless told not to
        kept.mkdir(parents=True, exist_ok=True)
        program.rename(kept / "elf")
        lines = monarc("lines", "perf.data", cwd=self.at, env=environment).stdout.decode()
        self.assertIn("kept_name", lines)
        self.assertRegex(lines, r"ran\.c:(?:[7-9]|1[0-2])\b")
        nothing = monarc("flat", "perf.data", cwd=self.at, env={"HOME": str(self.at / "none")}).stdout.decode()
        self.assertNotIn("kept_name", nothing)


if __name__ == "__main__":
    if is_sanitized():
        print("1..0 # SKIP recording under sanitizers is tested by others")
    else:
        unittest.main()
