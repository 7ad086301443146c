#!/usr/bin/env python3
"""Files that never end, unpack to gigabytes, or hold control bytes in their names; full disks.

Each is refused at once and with a word, or its report is harmless to terminals and tables. What the
commands do when a single call of the system fails is tests/faults.
"""

import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

import harness
from parts import load_tests, slow

CC = os.environ.get("CC", "cc").split()
SOURCE = "int fffff(int x) { return x > 2 ? x : 2; }\nint main(void) { return fffff(3) == 1; }\n"


class InFolder(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.folder = Path(top.name)

    def compile(self, source, *options, output="prog"):
        (self.folder / "prog.c").write_text(source)
        subprocess.run([*CC, "-g", "-O0", "-no-pie", *options, "prog.c", "-o", output], check=True,
                       cwd=self.folder, capture_output=True)
        return self.folder / output

    def profile(self):
        """Samples over all of the program's code."""
        names = subprocess.run(["nm", "prog"], cwd=self.folder, check=True, capture_output=True,
                               text=True).stdout
        low = next(int(row.split()[0], 16) for row in names.splitlines() if row.endswith(" fffff"))
        data = harness.gmon([(low, low + 64, [5] * 16)])
        (self.folder / "gmon.out").write_bytes(data)
        return data


class Endless(InFolder):
    @slow
    def test_sources_that_are_no_files(self):
        os.mkfifo(self.folder / "pipe.c")
        for name in ("/dev/zero", "pipe.c"):
            with self.subTest(name):
                self.compile(f'#line 1 "{name}"\n' + SOURCE, "--coverage")
                subprocess.run(["./prog"], cwd=self.folder, check=True)
                self.profile()
                notes = next(self.folder.glob("*.gcno")).name
                done = harness.monarc_limited("gcov", notes, cwd=self.folder)
                self.assertEqual(done.returncode, 0)
                self.assertIn(b"Cannot open source file " + name.encode(), done.stderr)
                for command in (["annotate", "prog", "gmon.out"], ["gprof", "-A", "prog", "gmon.out"],
                                ["cover", "-m", "--all-sources", notes], ["cover", "-m", notes]):
                    harness.monarc_limited(*command, cwd=self.folder)  # it ends
                for trace in self.folder.glob("*.gcda"):
                    trace.unlink()

    @slow
    def test_profiles_that_never_end(self):
        self.compile(SOURCE)
        os.mkfifo(self.folder / "fifo")
        with open(self.folder / "sparse", "wb") as sparse:
            sparse.truncate(1 << 32)
        for name in ("/dev/zero", "fifo", "sparse"):
            commands = [["flat", "prog"], ["gprof", "prog"], ["info"], ["merge", "-o", "sum"],
                        ["cover"], ["gcov-dump"], ["convert", "--to", "gcda", "-o", "sum"],
                        ["convert", "--to", "bsd", "-o", "sum"]]
            for command in commands[:2] if name == "fifo" else commands:  # which take a second
                with self.subTest(name=name, command=command[0]):
                    done = harness.monarc_limited(*command, name, cwd=self.folder)
                    if command[0] != "gcov-dump":
                        self.assertNotEqual(done.returncode, 0)
                    self.assertTrue(done.stderr or b"not a gcov file" in done.stdout)
                    self.assertNotIn(b"out of memory", done.stderr)
                    self.assertFalse((self.folder / "sum").exists())

    @slow
    def test_pipes_with_profiles(self):
        self.compile(SOURCE)
        data = self.profile()
        def flat(name, **more):  # a table that does not name the profile
            return harness.monarc_limited("flat", "--csv", "prog", name, cwd=self.folder, **more).stdout
        usual = flat("gmon.out")
        for name in ("-", "/dev/stdin"):
            self.assertEqual(flat(name, input=data), usual)
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)

        def write():
            with open(fifo, "wb") as pipe:
                pipe.write(data[:10])
                pipe.flush()
                time.sleep(0.3)
                pipe.write(data[10:])
        writer = threading.Thread(target=write)
        writer.start()
        self.assertEqual(flat("fifo"), usual)
        writer.join()


class Unpacking(InFolder):
    def pack(self, content):
        """.debug_line, packed as the standard has it, with a header that claims that size."""
        program = self.compile(SOURCE)
        data = bytearray(program.read_bytes())
        table, = struct.unpack_from("<Q", data, 40)
        number, names = struct.unpack_from("<HH", data, 60)
        strings, = struct.unpack_from("<Q", data, table + 64 * names + 24)
        for at in range(table, table + 64 * number, 64):
            name, = struct.unpack_from("<I", data, at)
            if data[strings + name:].startswith(b".debug_line\0"):
                flags, = struct.unpack_from("<Q", data, at + 8)
                data += bytes(-len(data) % 8)
                struct.pack_into("<Q", data, at + 8, flags | 0x800)
                struct.pack_into("<QQ", data, at + 24, len(data), len(content))
                data += content
        program.write_bytes(data)

    def check_refusal(self, words):
        self.profile()
        for command, status in (["lines"], 2), (["annotate"], 2), (["gprof", "-l"], 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = harness.monarc_limited(*command, "prog", "gmon.out", cwd=self.folder)
            self.assertEqual(done.returncode, status, command)
            self.assertIn(b"prog: debug information is not read: section .debug_line " + words,
                          done.stderr)
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before,
                            20 if harness.is_sanitized() else 1)

    @slow
    def test_a_section_of_gigabytes(self):
        bytes_claimed = 1 << 28
        packer, content = zlib.compressobj(9), b""
        for _ in range(256):
            content += packer.compress(bytes(bytes_claimed // 256))
        self.pack(struct.pack("<IIQQ", 1, 0, bytes_claimed, 1) + content + packer.flush())
        self.check_refusal(b"claims to unpack to more than a hundred times its size")

    @slow
    def test_a_size_that_lies(self):
        self.pack(struct.pack("<IIQQ", 1, 0, 5000, 1) + zlib.compress(bytes(1000)))
        self.check_refusal(b"is damaged")


class Statuses(InFolder):
    def test_doctor_on_a_full_device(self):
        self.compile(SOURCE)
        self.profile()
        with open("/dev/full", "wb") as full:
            done = subprocess.run([harness.monarc_path(), "doctor", "prog", "gmon.out"],
                                  cwd=self.folder, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left on device", done.stderr)

    def test_a_full_disk_keeps_the_good_report(self):
        if os.geteuid():
            self.skipTest("a small file system needs root")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", self.folder],
                          capture_output=True).returncode:
            self.skipTest("no tmpfs can be mounted")
        try:
            self.compile(SOURCE, "--coverage", "-c", output="prog.o")
            report = self.folder / "prog.c.gcov"
            self.assertEqual(harness.monarc("gcov", "prog.gcno", cwd=self.folder).returncode, 0)
            good = report.read_bytes()
            with open(self.folder / "ballast", "wb", buffering=0) as ballast:
                while True:
                    try:
                        ballast.write(bytes(512))
                    except OSError:
                        break
            (self.folder / "empty.c.gcov").touch()
            for report_before in (good, b""):
                if not report_before:
                    report.write_bytes(b"")
                done = harness.monarc("gcov", "prog.gcno", cwd=self.folder)
                if done.returncode == 0:  # the emptied report left its room
                    continue
                self.assertEqual(done.returncode, 6)
                self.assertEqual(report.read_bytes(), report_before)
            left = {path.name for path in self.folder.iterdir()}
            self.assertEqual(left, {"prog.c", "prog.o", "prog.gcno", "prog.c.gcov", "ballast",
                                    "empty.c.gcov"})
        finally:
            subprocess.run(["umount", "-l", self.folder], check=True)


class Names(InFolder):
    def test_csv(self):
        program = self.compile(SOURCE)
        self.profile()
        program.write_bytes(program.read_bytes().replace(b"fffff\0", b"a\n\x1b,b\0"))
        done = harness.monarc("flat", "--csv", "prog", "gmon.out", cwd=self.folder)
        self.assertIn(b'"a??,b"', done.stdout)
        self.assertEqual(set(done.stdout.translate(None, b"\r\n")) & set(range(32)), set())

    def test_lcov(self):
        self.compile(SOURCE, "--coverage", "-c", output="prog.o")
        notes = self.folder / "prog.gcno"
        notes.write_bytes(notes.read_bytes().replace(b"fffff\0", b"a\t\x1bb\x7f\0"))
        done = harness.monarc("cover", "--lcov", "-", "prog.gcno", cwd=self.folder)
        self.assertIn(b",a??b?\n", done.stdout)
        self.assertEqual(set(done.stdout.replace(b"\n", b"")) & set(range(32)), set())

    def assert_harmless(self, *arguments):
        """No control of ASCII or C1 but line ends, in what goes to a terminal."""
        done = harness.monarc(*arguments, cwd=self.folder)
        with self.subTest(command=arguments):
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.stdout)
            text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
            bad = {c for c in text if (c < " " and c not in "\n\r\t") or "\x7f" <= c <= "\x9f" or
                   "\udc80" <= c <= "\udc9f"}
            self.assertEqual(bad, set())

    def test_no_name_reaches_a_terminal_as_a_command(self):
        """Every text that commands and exports print by default, of names with escapes of both kinds."""
        names = [b"\x1b]0;pwned\x07x", b"\x9b31mraw", "\x9b1mletters".encode(), b"del\x7f", "\u202eback".encode()]
        for file, weight in ("old.folded", b"200"), ("new.folded", b"2000"):
            (self.folder / file).write_bytes(b"main;base 30000\n" + b"".join(
                b"main;" + name + b" " + weight + b"\n" for name in names))
        for command in (["flat"], ["flat", "--csv"], ["flat", "--json"], ["graph"], ["graph", "--tree"],
                        ["graph", "--callers", "base"], ["graph", "--svg"], ["info"], ["info", "--json"],
                        ["doctor"], ["flame", "-o", "-"], ["html", "-o", "-"]):
            self.assert_harmless(*command, "new.folded")
        for form in "folded", "callgrind", "dot", "speedscope", "cpuprofile", "firefox":
            self.assert_harmless("export", "--format", form, "new.folded")
        for command in (["diff"], ["diff", "--json"],
                        *(["check", "--max-share-growth", "/./=0.1", "--format", form, "--baseline"]
                          for form in ("text", "json", "junit", "github", "markdown"))):
            self.assert_harmless(*command, "old.folded", "new.folded")
        source = "".join(f"SF:{self.folder}/{name.decode('utf-8', 'surrogateescape')}.c\nFN:1,{name.decode('utf-8', 'surrogateescape')}\n"
                         f"FNDA:0,{name.decode('utf-8', 'surrogateescape')}\nDA:1,0\nend_of_record\n" for name in names)
        (self.folder / "t.info").write_bytes(source.encode("utf-8", "surrogateescape"))
        for form in ([], ["--missing"], ["--functions"], *(["--format", name + "=-"] for name in
                     ("json", "lcov", "cobertura", "jacoco", "sonarqube", "codecov", "coveralls", "clover", "gcovr", "markdown"))):
            self.assert_harmless("cover", *form, "t.info")


if __name__ == "__main__":
    if not shutil.which("nm"):
        print("1..0 # SKIP no nm")
        sys.exit(0)
    unittest.main()
