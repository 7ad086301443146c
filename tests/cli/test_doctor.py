"""Each finding of the doctor, provoked."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from harness import DEMO, NM, PROGRAMS, check_schema, gmon, main, monarc, monarc_json
from parts import load_tests, slow

LOW, HIGH = 0x401000, 0x401240     # of demo
BINS = (HIGH - LOW) // 4
SOURCE = "int main(void) { return 0; }\n"


class Doctor(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.here = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def names(self, program, profile="gmon.out", status=None):
        result = monarc_json("doctor", program, profile, cwd=self.here)
        check_schema(self, "doctor", result)
        text = monarc("doctor", program, profile, cwd=self.here)
        severities = {f["severity"] for f in result["findings"]}
        expected = 2 if "error" in severities else 1 if "warning" in severities else 0
        self.assertEqual(text.returncode, expected)
        for finding in result["findings"]:
            self.assertIn(f"[{finding['name']}]", text.stdout.decode())
            self.assertTrue(finding["remedy"])
        self.findings = {f["name"]: f for f in result["findings"]}
        return set(self.findings)

    def of_demo(self, data):
        (self.here / "gmon.out").write_bytes(data)
        os.utime(self.here / "gmon.out", (time.time() + 9, time.time() + 9))
        return self.names(DEMO)

    def build(self, *flags, source=SOURCE):
        compiler = os.environ.get("CC", "cc").split()
        (self.here / "prog.c").write_text(source)
        built = subprocess.run([*compiler, "prog.c", "-o", "prog", *flags], cwd=self.here,
                               capture_output=True)
        if built.returncode:
            self.skipTest("the compiler does not do " + " ".join(flags))
        return self.here / "prog"

    def test_nothing_wrong(self):
        self.assertEqual(self.of_demo(gmon([(LOW, HIGH, [9] * BINS)])) - {"samples-outside"}, set())

    # the program

    def test_split_debug_information(self):
        many = "".join(f"int f{i}(int x) {{ return x + {i}; }}\n" for i in range(99))
        program = self.build("-g", "-gsplit-dwarf", "-c", "-gdwarf-5", source=SOURCE + many)
        subprocess.run(["mv", program, "prog.o"], cwd=self.here, check=True)
        program = self.build("prog.o", source="")
        self.assertFalse({"split-missing", "debug-refused"} & self.names(program))
        [split] = self.here.glob("*.dwo")
        whole = split.read_bytes()
        split.unlink()
        self.assertIn("split-missing", self.names(program))
        self.assertIn(f"1 of 1 units, the first in {split.name}",
                      self.findings["split-missing"]["evidence"])
        split.write_bytes(whole)
        packed = subprocess.run(["objcopy", "--compress-debug-sections=zlib", split],
                                capture_output=True, check=False)
        if packed.returncode:
            self.skipTest("objcopy cannot pack")
        self.assertFalse({"split-missing", "debug-refused"} & self.names(program))
        damaged = bytearray(split.read_bytes())
        for at in range(len(damaged) - 4):
            if damaged[at] == 0x78 and damaged[at + 1] in (0x5e, 0x9c, 0xda):
                damaged[at + 2] ^= 0xff
        split.write_bytes(damaged)
        self.assertIn("debug-refused", self.names(program))
        self.assertIn(split.name, self.findings["debug-refused"]["evidence"])

    def test_program_unreadable(self):
        self.assertIn("program-unreadable", self.names("nix"))
        (self.here / "script").write_text("#!/bin/sh\n")
        self.assertIn("program-unreadable", self.names("script"))

    def test_not_instrumented(self):
        self.assertIn("not-instrumented", self.names(self.build()))

    def test_compiled_for_coverage(self):
        names = self.names(self.build("--coverage"))
        self.assertIn("compiled-for-coverage", names)
        self.assertFalse(names & {"not-instrumented", "profile-missing"})
        self.assertNotIn("-pg", str([f["remedy"] for f in self.findings.values()]))

    def test_newest_is_meant(self):
        """Without PROFILE it examines what the reports show."""
        program = self.build()
        (self.here / "gmon.out").write_bytes(b"old")
        os.utime(self.here / "gmon.out", (1, 1))
        monarc("run", "--no-report", program, cwd=self.here)
        text = monarc("doctor", program, cwd=self.here).stdout.decode()
        self.assertIn("prog.monarc", text)

    def test_not_linked_with_pg(self):
        self.build("-pg", "-c", "-o", "prog.o")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "prog.o", "-o", "prog"], cwd=self.here, check=True)
        self.assertIn("not-linked-with-pg", self.names(self.here / "prog"))

    def test_not_compiled_with_pg(self):
        self.build("-c", "-o", "prog.o")
        compiler = os.environ.get("CC", "cc").split()
        if subprocess.run([*compiler, "-pg", "prog.o", "-o", "prog"], cwd=self.here).returncode:
            self.skipTest("no -pg")
        self.assertIn("not-compiled-with-pg", self.names(self.here / "prog"))

    @slow
    def test_stripped(self):
        self.assertIn("stripped", self.names(self.build("-s", "-static")))
        self.assertEqual(self.findings["stripped"]["severity"], "warning")
        self.assertIn("have addresses for names", self.findings["stripped"]["finding"])
        self.assertIn("stripped", self.names(self.build("-s", "-rdynamic")))
        self.assertEqual(self.findings["stripped"]["severity"], "warning")

    def test_no_section_headers(self):
        program = self.build("-Wl,--no-eh-frame-hdr")
        image = bytearray(program.read_bytes())
        image[40:48], image[58:64] = bytes(8), bytes(6)
        program.write_bytes(image)
        self.assertIn("stripped", self.names(program))
        self.assertIn("no section headers", self.findings["stripped"]["evidence"])
        (self.here / "gmon.out").write_bytes(gmon([(LOW, HIGH, [9] * BINS)]))
        self.assertIn("has no section headers", monarc("flat", program, "gmon.out",
                                                       cwd=self.here).stderr.decode())

    def test_shared_objects_and_threads(self):
        source = "#include <pthread.h>\nint main(void) { return pthread_create(0, 0, 0, 0); }\n"
        program = self.build("-Wl,--no-as-needed", "-lm", "-w", source=source)
        self.assertLessEqual({"shared-objects", "threads"}, self.names(program))
        self.assertIn("libm", self.findings["shared-objects"]["evidence"])

    # the file

    def test_missing(self):
        self.assertIn("profile-missing", self.names(DEMO))
        (self.here / "gmon.out.77").write_bytes(b"")
        (self.here / "demo.9.monarc").mkdir()
        self.names(DEMO)
        self.assertIn("gmon.out.77", self.findings["profile-missing"]["evidence"])
        self.assertIn("demo.9.monarc", self.findings["profile-missing"]["evidence"])

    def test_folder_without_recording(self):
        (self.here / "empty").mkdir()
        result = monarc_json("doctor", "empty", cwd=self.here)
        check_schema(self, "doctor", result)
        finding, = result["findings"]
        self.assertEqual(finding["name"], "recording-unreadable")
        self.assertIn("it has no monarc.side", finding["evidence"])

    def test_coverage_is_no_profile(self):
        """Who asks for a profile of files of coverage, or of the folder that has them, is told of monarc cover."""
        (self.here / "build/src").mkdir(parents=True)
        names = [f"build/src/a.{suffix}" for suffix in ("gcno", "gcda", "profraw", "profdata", "info")]
        for name in names:
            (self.here / name).write_bytes(b"any")
        for command in ("doctor", "flat", "graph"):
            for name in [*names, "build", "build/src"]:
                done = monarc(command, name, cwd=self.here)
                self.assertEqual((done.returncode, done.stdout, done.stderr.decode()),
                                 (2, b"", f"monarc: {name}: holds coverage, not a profile: "
                                          f"'monarc cover {name}' reports on it\n"))

    def test_truncated(self):
        whole = (PROGRAMS / "demo.gmon").read_bytes()
        self.assertIn("truncated", self.of_demo(whole[:-7]))
        self.assertIn("615 samples", self.findings["truncated"]["evidence"])
        self.assertIn("truncated", self.of_demo(whole[:200]))

    def test_not_a_profile(self):
        self.assertIn("not-a-profile", self.of_demo(b"#include <stdio.h>\nint main(void)\n"))
        self.assertIn("not-a-profile", self.of_demo(b""))

    def test_older_than_program(self):
        (self.here / "gmon.out").write_bytes((PROGRAMS / "demo.gmon").read_bytes())
        os.utime(self.here / "gmon.out", (1000, 1000))
        self.assertIn("older-than-program", self.names(DEMO))

    # what was measured

    def test_empty(self):
        self.assertIn("empty", self.of_demo(gmon()))

    def test_no_histogram(self):
        self.assertIn("no-histogram", self.of_demo((PROGRAMS / "demo-arcs.gmon").read_bytes()))

    def test_clock_stopped(self):
        self.assertIn("clock-stopped", self.of_demo(gmon([(LOW, HIGH, [0] * BINS)],
                                                         [(LOW + 20, LOW + 73, 5)])))

    def test_no_samples(self):
        self.assertIn("no-samples", self.of_demo(gmon([(LOW, HIGH, [0] * BINS)])))

    def test_no_rate(self):
        self.assertIn("no-rate", self.of_demo(gmon([(LOW, HIGH, [9] * BINS, 0)])))

    def test_full_bins(self):
        full = gmon([(LOW, HIGH, [1] * (BINS - 1) + [65535])])
        self.assertIn("full-bins", self.of_demo(full))
        self.assertIn("1 counter of 16 bits is full", self.notes("gmon.out"))
        self.assertIn("2 counters of 16 bits are full", self.notes("gmon.out", "gmon.out"))
        monarc("merge", "-o", "sum", "gmon.out", "gmon.out", cwd=self.here)
        self.assertNotIn(" full", self.notes("sum"))  # counters of a merge do not end

    def notes(self, *profiles):
        return " ".join(monarc("flat", DEMO, *profiles, cwd=self.here).stdout.decode().split())

    def test_one_bin(self):
        self.assertIn("one-bin", self.of_demo(gmon([(LOW, HIGH, [500] + [0] * (BINS - 1))])))

    def test_wrapped_bins(self):
        self.assertIn("wrapped-bins", self.of_demo(gmon([(LOW, HIGH, [1] * BINS)],
                                                        [(LOW + 20, LOW + 73, 4_000_000_000)])))

    def test_samples_outside(self):
        bins = [0] * BINS
        bins[(0x4011e0 - LOW) // 4 + 2] = 500   # code without a symbol
        self.assertIn("samples-outside", self.of_demo(gmon([(LOW, HIGH, bins)])))

    def test_few_samples(self):
        self.assertIn("few-samples", self.of_demo(gmon([(LOW, HIGH, [5] * 8 + [0] * (BINS - 8))])))
        self.assertIn("between 91.2 and 100.0 %", self.findings["few-samples"]["evidence"])

    def test_overhead(self):
        self.assertIn("profiling-overhead", self.of_demo((PROGRAMS / "demo.gmon").read_bytes()))
        self.assertIn("hidden-overhead", self.of_demo(gmon([(LOW, HIGH, [9] * 16 + [0] * (BINS - 16))],
                                                           [(LOW + 20, LOW + 73, 100_000_000)])))

    def test_trailing_bytes(self):
        self.assertTrue(self.of_demo((PROGRAMS / "demo.gmon").read_bytes() + b"\0\1")
                        & {"truncated", "trailing-bytes"})

    # both

    def test_other_program(self):
        self.assertIn("other-program", self.of_demo(gmon([(0x8000000, 0x8001000, [3] * 1024)])))

    def test_other_end(self):
        program = self.build("-pg", "-no-pie", "-static")
        (self.here / "gmon.out").write_bytes(gmon([(0x401000, 0x401800, [3] * 512)]))
        self.assertIn("other-program", self.names(program))

    @slow
    def test_a_part_of_the_text(self):
        """A program that calls monstartup() for one of its functions: gprof reports, so do we."""
        for flags in ["-pg"], ["-pg", "-no-pie"]:
            program = self.build(*flags, source="int work(int x) { return 7 * x; }\n" + SOURCE)
            symbols = subprocess.run([*NM, program], capture_output=True, text=True, check=True).stdout
            work = int(next(l for l in symbols.splitlines() if l.endswith(" T work")).split()[0], 16)
            (self.here / "gmon.out").write_bytes(gmon([(work, work + 16, [3] * 4)], [(work + 100, work, 5)]))
            self.assertNotIn("other-program", self.names(program))
            rows = monarc_json("flat", program, "gmon.out", cwd=self.here)["functions"]
            self.assertEqual([(r["name"], r["self_samples"]) for r in rows][:1], [("work", 12)])

    @slow
    @unittest.skipUnless(shutil.which("arm-none-eabi-gcc"), "no compiler for Cortex-M (package gcc-arm-none-eabi)")
    def test_without_an_operating_system(self):
        """A Cortex-M program is not told to be recorded with 'monarc run'."""
        recorder = "void __attribute__((no_instrument_function)) monarc_embedded_on(void) { }\n"
        hook = recorder.replace("monarc_embedded_on", "__gnu_mcount_nc")
        for source, flags, expected, remedy in (
                ("", [], {"not-instrumented", "profile-missing"}, "docs/embedded.md"),
                (recorder, [], {"not-compiled-with-pg", "profile-missing"}, "-pg to the commands that compile the program"),
                (recorder + hook, ["-pg"], {"profile-missing"}, "")):
            (self.here / "bare.c").write_text(source + "int main(void) { return 0; }\n")
            subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-nostdlib", "-ffreestanding", "-Wl,-e,main", *flags,
                            "-o", "bare", "bare.c"], cwd=self.here, check=True, capture_output=True)
            self.assertEqual(self.names("bare") - {"no-debug-info"}, expected)
            remedies = " ".join(f["remedy"] for f in self.findings.values())
            self.assertIn(remedy, remedies)
            self.assertIn("monarc receive", remedies)
            self.assertNotIn("monarc run", remedies)

    def test_load_bias(self):
        program = self.build("-pg", "-fPIE", "-pie")
        header = program.read_bytes()[:64]
        entry = int.from_bytes(header[24:32], "little")
        low = 0x555555554000 + entry // 4 * 4
        (self.here / "gmon.out").write_bytes(gmon([(low, low + 256, [3] * 64)]))
        self.assertIn("load-bias", self.names(program))
        self.assertIn("0x555555554000", self.findings["load-bias"]["evidence"])
        result = monarc("flat", program, "gmon.out", cwd=self.here)
        self.assertEqual(result.returncode, 2)

    @slow
    @unittest.skipIf(os.environ.get("QUICK"), "runs a program")
    def test_the_right_program_passes(self):
        source = ("volatile long x; __attribute__((noinline)) void f(void) { x++; }\n"
                  "int main(void) { for (int i = 0; i < 30000000; i++) f(); return 0; }\n")
        for flags in ["-pg"], ["-pg", "-no-pie"], ["-pg", "-static"], ["-pg", "-O2"]:
            program = self.build(*flags, source=source)
            if subprocess.run([program], cwd=self.here).returncode:
                self.skipTest("the program does not run here")
            self.assertFalse(self.names(program) & {"other-program", "load-bias", "not-instrumented",
                                                    "not-linked-with-pg", "truncated"})
            self.assertEqual(monarc("graph", program, cwd=self.here).returncode, 0)


main()
