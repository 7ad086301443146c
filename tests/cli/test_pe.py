"""Programs of Windows: the same code as ELF and as PE is reported the same, and as GNU gprof does."""

import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from parts import load_tests, slow

CODE = """
static int add(int a, int b) { return a + b; }
int twice(int a) { int s = 0; for (int i = 0; i < a; i++) s = add(s, 2); return s; }
void start(void) { twice(5); for (;;) {} }
"""
MAIN = "int twice(int);\nint main(void) { return twice(3); }\n"
MINGW = "x86_64-w64-mingw32-gcc"


def can_make(target):
    info = subprocess.run(["objcopy", "--info"], capture_output=True, text=True).stdout
    return target in info.split()


@unittest.skipUnless(os.uname().machine == "x86_64", "makes x86 programs")
class Pe(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "p.c").write_text(CODE)

    def run_tool(self, *command):
        return subprocess.run(command, cwd=self.dir, check=True, capture_output=True, text=True)

    def build(self, target, *flags):
        if not can_make(target):
            self.skipTest(f"objcopy does not know {target}")
        self.run_tool("gcc", "-g", "-O0", "-ffreestanding", "-static", "-nostdlib", "-no-pie",
                      "-fno-pie", "-fcf-protection=none", "-Wl,-estart", *flags, "p.c", "-o",
                      "p.elf")
        self.run_tool("objcopy", "-O", target, "p.elf", "p.exe")
        word = 4 if "i386" in target else 8
        self.profile("p.elf", word)

    def addresses(self, program):
        rows = [line.split() for line in self.run_tool("nm", program).stdout.splitlines()]
        return {row[2].lstrip("_"): int(row[0], 16) for row in rows if len(row) == 3}

    def profile(self, program, word):
        at = self.addresses(program)
        low = min(at["add"], at["twice"]) & ~15
        bins = [0] * 64
        bins[(at["add"] - low) // 4 + 2] = 5
        bins[(at["twice"] - low) // 4 + 2] = 9
        data = harness.gmon([(low, low + 256, bins)], [(at["twice"] + 20, at["add"], 77)], word)
        (self.dir / "gmon.out").write_bytes(data)

    def shown(self, command, program):
        done = harness.monarc(command, "--json", program, "gmon.out", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().replace(f'"{program}"', '"p"').replace(program, "p")

    def check(self):
        for command in "flat", "graph", "lines", "annotate":
            expected = self.shown(command, "p.elf")
            self.assertIn("twice", expected)
            self.assertEqual(self.shown(command, "p.exe"), expected, command)
        for options in ["-p"], ["-q"], ["-l", "-p"]:
            command = ["-b", *options, "p.exe", "gmon.out"]
            theirs = subprocess.run(["gprof", *command], cwd=self.dir, capture_output=True,
                                    env={**os.environ, "LC_ALL": "C"})
            ours = harness.monarc("gprof", *command, cwd=self.dir)
            if b"add" in theirs.stdout and b" 77 " not in theirs.stdout:
                continue  # gprof 2.47 finds no calls in such programs: docs/compat.md
            self.assertEqual((ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout))

    @slow
    def test_64_bits(self):
        self.build("pei-x86-64")
        self.check()

    @slow
    def test_32_bits(self):
        try:
            self.build("pei-i386", "-m32")
        except subprocess.CalledProcessError:
            self.skipTest("gcc makes no 32-bit programs")
        for command in "flat", "lines":
            self.assertEqual(self.shown(command, "p.exe"), self.shown(command, "p.elf"))

    @slow
    @unittest.skipUnless(shutil.which(MINGW), "needs mingw-w64")
    def test_of_mingw(self):
        (self.dir / "main.c").write_text(MAIN)
        self.run_tool(MINGW, "-g", "-O0", "p.c", "main.c", "-o", "p.exe")
        self.profile("p.exe", 8)
        rows = harness.monarc_json("lines", "p.exe", "gmon.out", cwd=self.dir)["lines"]
        self.assertLessEqual({("add", 2), ("twice", 3)},
                             {(row["name"], row["line"]) for row in rows})

    @slow
    def test_damage(self):
        """Cut short anywhere, or with a byte changed: an answer or an error."""
        self.build("pei-x86-64")
        whole = (self.dir / "p.exe").read_bytes()
        for length in [*range(2, 1024, 9), *range(1024, len(whole), 211)]:
            (self.dir / "cut.exe").write_bytes(whole[:length])
            done = harness.monarc("flat", "cut.exe", "gmon.out", cwd=self.dir)
            self.assertIn(done.returncode, (0, 2), length)
            self.assertTrue(done.returncode == 0 or b"cut.exe" in done.stderr)
        for place in range(0, 1024, 5):
            data = bytearray(whole)
            data[place] ^= 0xff
            (self.dir / "bad.exe").write_bytes(data)
            self.assertIn(harness.monarc("flat", "bad.exe", "gmon.out", cwd=self.dir).returncode,
                          (0, 2), place)

    def test_what_is_none_is_named(self):
        (self.dir / "gmon.out").write_bytes(harness.gmon([(0x1000, 0x1010, [1] * 4)]))
        for data, says in ((b"!<arch>\n" + bytes(60), b"an archive, not an ELF object"),
                           (b"MZ" + bytes(100), b"a DOS program, not an ELF object"),
                           (b"\xcf\xfa\xed\xfe" + bytes(60), b"a Mach-O file, not an ELF object"),
                           (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0\x66\x01" +
                            bytes(18) + b"\x0b\x02" + bytes(200), b"unknown machine")):
            (self.dir / "p").write_bytes(data)
            done = harness.monarc("flat", "p", "gmon.out", cwd=self.dir)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    harness.main()
