"""Recorded equals made: threads, signal handlers, jumps; every way a compiler calls the recorder."""
import os
import platform
import re
import shutil
import subprocess
import unittest

from recorder import HERE, RT_A, Gmon, RecorderTest, Symbols
from archive import hidden_names
from parts import in_both, load_tests, share, slow  # noqa: F401


class Exact(RecorderTest):
    def check(self, source, *arguments, flags=("-O2", "-pg", "-pthread"), cc=None, **env):
        program = self.build(source, *flags, cc=cc)
        r = self.run_program([program, *map(str, arguments)], **env)
        self.assert_exact(self.recording(program), self.expected(r.stdout))
        return program

    @slow
    def test_threads(self):
        for n in 1, 2, 4, 8, 64:
            with self.subTest(threads=n):
                self.setUp()
                self.check("threads.c", n)

    @slow
    def test_anonymous_tables(self):
        self.check("threads.c", 4, LIVE=0)

    @in_both
    def test_compilers(self):
        builds = [(cc, flags) for cc in ("gcc", "clang") if shutil.which(cc) for flags in
                  (["-O0"], ["-O2"], ["-O2", "-no-pie", "-fno-pie"], ["-O2", "-mfentry"], ["-O2", "-Wl,-z,now"],
                   ["-O2", "-fno-plt"], ["-Os"])]
        for cc, flags in share(builds, 3):
            with self.subTest(cc=cc, flags=flags):
                self.setUp()
                self.check("threads.c", 2, flags=("-pg", "-pthread", *flags), cc=cc)

    @slow
    def test_signal_handlers(self):
        self.check("signals.c", 300)

    @slow
    @unittest.skipUnless(platform.machine() == "x86_64", "its functions are x86-64 assembly")
    def test_small_functions_called_from_one_place(self):
        program = self.build("dense.c", "-O2", "-pg")
        r = self.run_program([program])
        self.assert_exact(self.recording(program), self.expected(r.stdout))
        more_pages = int(re.search("more pages ([0-9]+)", r.stdout)[1])
        self.assertLess(more_pages * os.sysconf("SC_PAGESIZE"), 16 << 20)

    def build_with_recorder(self, source):
        """A program that calls functions of the recorder's which have other names outside of it."""
        hosted = os.path.join(HERE, "..", "..", "..", "runtime", "profile")
        with open(os.path.join(self.dir, "names.h"), "w") as f:
            for name in hidden_names(RT_A, "monarc_rt__"):
                f.write("#define %s monarc_rt__%s\n" % (name, name))
        return self.build(source, "-O2", "-D_GNU_SOURCE", "-iquote", hosted, "-include", f.name, RT_A)

    @slow
    def test_arcs_of_one_place(self):
        r = self.run_program([self.build_with_recorder("crowded.c")], preload=False)
        self.assertEqual(r.stdout, "all have cells, found again, in proportion\n")

    @slow
    def test_figures_beyond_the_format(self):
        program = self.build_with_recorder("wide.c")
        self.run_program([program], preload=False)
        gmon, names = Gmon(self.dir + "/wide.out"), Symbols(program)
        self.assertEqual(list(gmon.arcs.values()), [2**33 + 5])
        self.assertEqual({names.at(a): n for a, n in gmon.samples.items()},
                         {"target": 200000, "caller": 65535})
        report = subprocess.run(["gprof", "-b", "-p", program, self.dir + "/wide.out"],
                                capture_output=True, text=True)
        self.assertEqual(report.stderr, "")
        row = [line.split() for line in report.stdout.splitlines() if line.endswith("target")][0]
        self.assertEqual((row[2], row[3]), ("200.00", str(2**33 + 5)))

    def test_gprof_agrees(self):
        program = self.check("threads.c", 3)
        report = subprocess.run(["gprof", "-b", "-p", program, self.dir + "/threads.monarc/gmon.out"],
                                capture_output=True, text=True)
        self.assertEqual(report.stderr, "")
        rows = {line.split()[-1]: line.split() for line in report.stdout.splitlines() if line.strip()}
        self.assertIn("120000", rows["leaf"])
        self.assertIn("60000", rows["middle"])


if __name__ == "__main__":
    unittest.main()
