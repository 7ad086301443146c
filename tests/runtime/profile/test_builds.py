"""Every way to get the recorder into a program, and every compiler hook it answers."""
import bisect
import glob
import os
import re
import shutil
import subprocess
import unittest

from recorder import HERE, INCLUDE, PROGRAMS, RT_A, RT_SO, Recording, RecorderTest
from archive import hidden_names
from parts import in_both, load_tests, share, slow

RUNTIME = os.path.join(HERE, "..", "..", "..", "runtime")
PLATFORM = os.uname().machine
FREESTANDING = ["-O2", "-fno-builtin", "-fno-tree-loop-distribute-patterns",
                "-fno-stack-protector", "-fvisibility=hidden", "-fno-strict-aliasing",
                "-ftls-model=initial-exec", "-D_GNU_SOURCE", "-std=gnu11", "-Wall", "-Wextra",
                "-Werror", "-I", INCLUDE]
MACHINE_FLAGS = {"aarch64-linux-gnu": ["-mno-outline-atomics", "-mgeneral-regs-only"],
                 "arm-linux-gnueabihf": ["-D__NO_INLINE__", "-mgeneral-regs-only"]}


def kernel_headers(folder):
    """The kernel's headers apart from glibc's, which lie in the same folders."""
    machine = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    for name, places in (("linux", ["/usr/include/linux"]), ("asm-generic", ["/usr/include/asm-generic"]),
                         ("asm", ["/usr/include/%s/asm" % machine, "/usr/include/asm"])):
        os.symlink(next(place for place in places if os.path.isdir(place)), os.path.join(folder, name))


class Builds(RecorderTest):
    @slow
    @unittest.skipUnless(shutil.which("musl-gcc"), "no musl-gcc")
    def test_musl(self):
        """Both recorders compile and link against musl, without a warning."""
        headers = os.path.join(self.dir, "kernel")
        os.mkdir(headers)
        kernel_headers(headers)
        others = ["mcount_arm.S", "mcount_i386.S", "mcount.c" if PLATFORM == "x86_64" else "mcount_x86_64.S"]
        for name, more in (("profile", ["-fno-builtin", "-fno-tree-loop-distribute-patterns"]),
                           ("coverage", ["-DSYS_THROUGH_LIBC"])):
            sources = [path for folder in (name, "common")
                       for path in glob.glob(os.path.join(RUNTIME, folder, "**", "*.[cS]"), recursive=True)
                       if os.path.basename(path) not in others]
            self.assertGreater(len(sources), 20)
            r = subprocess.run(["musl-gcc", "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared",
                                "-fno-stack-protector", "-fvisibility=hidden", "-fno-strict-aliasing",
                                "-ftls-model=initial-exec", "-Wall", "-Werror", *more, "-I", INCLUDE,
                                "-idirafter", headers, *sources, "-o", self.dir + "/" + name + ".so"],
                               capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stderr), (0, ""), name)

    def exact(self, program, *arguments, **how):
        r = self.run_program([program, *arguments], **how)
        self.assert_exact(self.recording(program), self.expected(r.stdout))

    def test_static(self):
        self.all_static(["-static-pie", "-fPIE"])

    @slow
    def test_static_otherwise(self):
        self.all_static(["-static"], ["-static", "-mfentry"])

    def all_static(self, *kinds):
        for flags in kinds:
            for source, arguments in (("threads.c", ["4"]), ("signals.c", ["100"])):
                with self.subTest(flags=flags, source=source):
                    self.setUp()
                    program = self.build(source, "-O2", "-pg", "-pthread", *flags, RT_A)
                    self.exact(program, *arguments, preload=False)

    @in_both
    def test_static_life(self):
        program = self.build("life.c", "-O2", "-pg", "-pthread", "-static", RT_A)
        for mode, code in share((("forks", 0), ("exits", 3), ("quick", 4), ("many-threads", 0), ("destructors", 0),
                                 ("bare-fork", 0)), 2):
            with self.subTest(mode=mode):
                self.setUp()
                r = self.run_program([program, mode], check=False, preload=False)
                self.assertEqual(r.returncode, code)
                self.assert_exact(self.recording(program), self.expected(r.stdout))

    @slow
    def test_static_exec(self):
        """Before exec the files are written; failed ones change nothing."""
        program = self.build("life.c", "-O2", "-pg", "-pthread", "-static", RT_A)
        r = self.run_program([program, "execs"], preload=False)
        self.assertIn("executed", r.stdout)
        self.assert_exact(self.recording(program), self.expected(r.stdout))
        self.assertEqual(self.recording(program).side.process["written"], 2)
        self.setUp()
        self.exact(program, "vforks", preload=False)

    @slow
    def test_static_threads(self):
        """Sampled from their first instruction, whole stacks."""
        program = self.build("busy.c", "-O2", "-pg", "-pthread", "-static", RT_A)
        self.run_program([program, "0.2", "3"], preload=False)
        side = self.recording(program).side
        self.assertEqual(len(side.threads), 3)
        self.assertTrue(all(t["samples"] for t in side.threads))

    @slow
    def test_static_names(self):
        """A program may call its own functions as the recorder calls its own."""
        names = hidden_names(RT_A, "monarc_rt__")
        self.assertGreater(len(names), 100)
        source = os.path.join(self.dir, "names.c")
        with open(source, "w") as f:
            f.write("".join("int %s = 1;\n" % name for name in names))
        program = self.build("threads.c", "-O2", "-pg", "-pthread", "-static", source, RT_A)
        self.exact(program, "2", preload=False)

    def test_linked(self):
        program = self.build("threads.c", "-O2", "-pg", "-pthread", RT_SO,
                             "-Wl,-rpath," + os.path.dirname(RT_SO))
        self.exact(program, "3", preload=False)

    def test_objects_with_pg_linked_without(self):
        where = os.path.dirname(self.build("threads.c", "-O2", "-pg", "-pthread", "-c",
                                           name="threads.o"))
        program = where + "/threads"
        subprocess.run(["gcc", "-pthread", where + "/threads.o", "-o", program], check=True)
        self.exact(program, "2")

    @slow
    def test_instrument_functions(self):
        for cc in filter(shutil.which, ("gcc", "clang")):
            with self.subTest(cc=cc):
                self.setUp()
                program = self.build("threads.c", "-O2", "-finstrument-functions", "-pthread",
                                     RT_SO, "-Wl,-rpath," + os.path.dirname(RT_SO), cc=cc)
                self.exact(program, "4", preload=False)

    def block_counts(self, cc, *flags):
        # Linked without the flags: clang's driver would put its own hooks in front.
        compiled = self.build("blocks.c", "-O0", *flags, "-c", cc=cc, name="blocks.o")
        program = os.path.dirname(compiled) + "/blocks"
        subprocess.run([cc, compiled, "-o", program, RT_SO,
                        "-Wl,-rpath," + os.path.dirname(RT_SO)], check=True)
        self.run_program([program], preload=False)
        gmon = self.recording(program).gmon()
        report = subprocess.run(["gprof", "-b", "-l", "-C", "-z", program,
                                 self.dir + "/blocks.monarc/gmon.out"], capture_output=True,
                                text=True)
        self.assertNotIn("unexpected", report.stderr)
        lines = {}
        for line, n in re.findall(r"blocks\.c:(\d+): \(work:0x[0-9a-f]+\) (\d+) exec",
                                  report.stdout):
            if int(n):
                lines.setdefault(int(line), []).append(int(n))
        return gmon, lines

    def test_gcc_blocks(self):
        gmon, lines = self.block_counts("gcc", "-fsanitize-coverage=trace-pc")
        self.assertEqual(sorted(gmon.blocks.values())[-2:], [100, 101])
        self.assertEqual((lines[10], lines[12]), ([50], [50]))
        self.assertNotIn(14, lines)

    @slow
    def test_clang_blocks(self):
        if not shutil.which("clang"):
            self.skipTest("no clang")
        gmon, lines = self.block_counts(
            "clang", "-fsanitize-coverage=trace-pc-guard,pc-table,no-prune")
        self.assertEqual((lines[10], lines[12]), ([50], [50]))
        self.assertIn(0, gmon.blocks.values())  # the branch that is never taken is listed
        self.assertEqual(max(gmon.blocks.values()), 101)

    def lines_by_blocks(self, cc, *flags):
        """Counts of the blocks that each line has a part in."""
        compiled = self.build("branches.c", "-O0", *flags, "-c", cc=cc, name="branches.o")
        program = os.path.dirname(compiled) + "/branches"
        subprocess.run([cc, compiled, "-o", program, RT_SO,
                        "-Wl,-rpath," + os.path.dirname(RT_SO)], check=True)
        self.run_program([program], preload=False)
        blocks, lines = self.recording(program).gmon().blocks, {}
        starts = sorted(blocks)
        table = subprocess.run(["objdump", "--dwarf=decodedline", program], capture_output=True,
                               text=True).stdout
        rows = [(int(a, 16), int(line)) for line, a in
                re.findall(r"^\S*branches\.c +(\d+) +(0x[0-9a-f]+)", table, re.M)]
        for address, line in rows + [(start, None) for start in starts]:
            i = bisect.bisect_right(starts, address) - 1
            if line is None:  # a block's own line: that of the last row before its start
                line = max(row for row in rows if row[0] <= address)[1]
            if i >= 0 and blocks[starts[i]] not in lines.setdefault(line, []):
                lines[line].append(blocks[starts[i]])
        return lines

    def lines_by_gcov(self):
        program = self.dir + "/covered"
        subprocess.run(["gcc", "-O0", "--coverage", PROGRAMS + "/branches.c", "-o", program],
                       cwd=self.dir, check=True)
        subprocess.run([program], cwd=self.dir, check=True)
        text = subprocess.run(["gcov", "-t", *glob.glob(self.dir + "/*.gcda")], cwd=self.dir,
                              capture_output=True, text=True, check=True).stdout
        found = re.findall(r"^ *(#####|\d+)\*?: *(\d+):", text, re.M)
        return {int(line): 0 if n[0] == "#" else int(n) for n, line in found}

    @slow
    def test_block_counts_are_gcovs(self):
        """A line's count by gcov is that of a block with code of the line."""
        kinds = [("gcc", "-fsanitize-coverage=trace-pc")]
        if shutil.which("clang"):
            kinds.append(("clang", "-fsanitize-coverage=trace-pc-guard,pc-table,no-prune"))
        gcov = self.lines_by_gcov()
        for cc, flag in kinds:
            with self.subTest(cc=cc):
                self.setUp()
                lines = self.lines_by_blocks(cc, flag)
                # gcc has no list of blocks: of those that never ran nothing is known.
                both = [n for n in lines if n in gcov and (gcov[n] or cc == "clang")]
                self.assertGreater(len(both), 10)
                for line in both:
                    self.assertIn(gcov[line], lines[line], "%s, line %d" % (cc, line))

    def check_cross(self, triplet, qemu):
        cc = triplet + "-gcc"
        if not shutil.which(cc) or not shutil.which(qemu):
            self.skipTest("no %s or %s" % (cc, qemu))
        preloaded = [RUNTIME + "/profile/wrap/" + name
                     for name in ("exit.c", "real.c", "seccomp.c", "signals.c")]
        sources = [path for folder in ("common", "profile", "profile/sampling", "profile/wrap")
                   for path in sorted(glob.glob(RUNTIME + "/" + folder + "/*.c"))
                   if path not in preloaded]
        if triplet.startswith("arm"):
            sources.append(RUNTIME + "/profile/mcount_arm.S")
        flags = FREESTANDING + MACHINE_FLAGS.get(triplet, [])
        library, archive = self.dir + "/libmonarc_rt.so", self.dir + "/monarc_rt.o"
        subprocess.run([cc, *flags, "-fPIC", "-shared", "-o", library, "-Wl,-z,now", *sources,
                        *preloaded], check=True)
        subprocess.run([cc, *flags, "-DMONARC_STATIC", "-r", "-nostdlib", "-o", archive, *sources],
                       check=True)
        for name, arguments in ("threads", ["4"]), ("signals", ["60"]), ("life", ["forks"]), \
                ("life", ["many-threads"]), ("life", ["bare-fork"]):
            for static in [], ["-static", archive]:
                with self.subTest(program=name, arguments=arguments, static=bool(static)):
                    self.run_cross(cc, triplet, qemu, name, arguments, static, library)

    def run_cross(self, cc, triplet, qemu, name, arguments, static, library):
        program = self.dir + "/" + name
        subprocess.run([cc, "-g", "-O2", "-pg", "-pthread", "-fno-inline",
                        "-fno-optimize-sibling-calls", "-I", INCLUDE,
                        os.path.join(PROGRAMS, name + ".c"), "-o", program, *static], check=True)
        shutil.rmtree(self.dir + "/out", True)
        preload = [] if static else ["-E", "LD_PRELOAD=" + library]
        r = subprocess.run([qemu, "-L", "/usr/" + triplet, *preload, "-E",
                            "MONARC_OUT=" + self.dir + "/out", program, *arguments],
                           capture_output=True, text=True, cwd=self.dir, timeout=300)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assert_exact(Recording(self.dir + "/out"), self.expected(r.stdout))

    @slow
    def test_aarch64(self):
        self.check_cross("aarch64-linux-gnu", "qemu-aarch64")

    @slow
    def test_arm(self):
        self.check_cross("arm-linux-gnueabihf", "qemu-arm")

    @slow
    def test_riscv64(self):
        self.check_cross("riscv64-linux-gnu", "qemu-riscv64")


if __name__ == "__main__":
    unittest.main()
