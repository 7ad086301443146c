"""The same objects linked with libgcov and with libmonarc_cover leave the same files, byte for byte, and
gcov prints the same."""
import functools
import glob
import os
import shutil
import struct
import subprocess
import tempfile
import unittest

from covered import ARCHIVE, PROGRAMS, ROOT, SO, CoverTest, slurp, spill
from parts import in_both, load_tests, share, slow  # noqa: F401

EXAMPLES = os.path.join(ROOT, "examples")
ARC = 0x01A10000


@functools.cache
def has_clang():
    """With its own runtime, which Debian packs apart."""
    if not shutil.which("clang"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run(["clang", "--coverage", "-x", "c", "-", "-o", "program"], cwd=folder,
                           input=b"int main(void) { return 0; }", capture_output=True)
    return r.returncode == 0


def sources(pattern):
    return sorted(os.path.realpath(p) for p in glob.glob(os.path.join(ROOT, pattern), recursive=True))


def library_objects(folder, cc, *flags):
    """libmonarc_cover from its sources; files of its two folders may share a name."""
    made = []
    for room in "common", "coverage":
        for source in sources("runtime/%s/*.c" % room):
            made.append(os.path.join(folder, room + "-" + os.path.basename(source) + ".o"))
            subprocess.run([cc, *flags, "-D_GNU_SOURCE", "-std=gnu11", "-w", "-DMONARC_STATIC",
                            "-DSYS_THROUGH_LIBC", "-fvisibility=hidden", "-I",
                            os.path.realpath(os.path.join(ROOT, "include")), "-c", source, "-o",
                            made[-1]], check=True)
    return made


class Peers(CoverTest):
    def objects(self, paths, *flags, cc="gcc"):
        """Compiles two at a time."""
        made, running = [], []
        for path in paths:
            name = path[len(os.path.realpath(ROOT)) + 1:].replace("/", "-").replace(".", "-")
            made.append(name + ".o")
            running.append(subprocess.Popen([cc, "-g", "-w", *flags, "-c", path, "-o", made[-1]],
                                            cwd=self.dir))
            if len(running) == 2:
                self.assertEqual(running.pop(0).wait(), 0)
        self.assertEqual([p.wait() for p in running], [0] * len(running))
        return made

    def files(self):
        return {name: slurp(self.path(name)) for name in os.listdir(self.dir)
                if name.endswith(".gcda")}

    def texts(self):
        names = sorted(self.files())
        r = subprocess.run(["gcov", "-b", "-c", "-f", "-l", "-p", *names], cwd=self.dir, check=True,
                           capture_output=True)
        dump = subprocess.run(["gcov-dump", "-l", *names], cwd=self.dir, check=True,
                              capture_output=True)
        return r.stdout, dump.stdout, {os.path.basename(p): slurp(p)
                                       for p in glob.glob(self.dir + "/*.gcov")}

    def compare(self, objects, runs, *flags, cc="gcc", ways=("so", "a"), read=True, stdin=None):
        expected = {}
        for how in ("gcov",) + ways:
            program = self.link(how, objects, *flags, cc=cc)
            for arguments in runs:
                # Addresses that a program hashes have to be the same.
                subprocess.run(["setarch", "-R", program, *arguments], cwd=self.dir, check=False,
                               capture_output=True, input=stdin)
            files, texts = self.files(), self.texts() if read else None
            self.assertTrue(files)
            if how == "gcov":
                expected = files, texts
            self.assertEqual(sorted(files), sorted(expected[0]))
            for name, data in files.items():
                self.assertEqual(data, expected[0][name], "%s with %s" % (name, how))
                os.unlink(self.path(name))
            self.assertEqual(texts, expected[1])

    def example(self, *flags, runs, paths, cc="gcc", link=(), stdin=None, levels=("-O0", "-O2")):
        for level in levels:
            with self.subTest(example=paths[0], flags=(level, *flags)):
                self.setUp()
                self.compare(self.objects(paths, level, *flags, cc=cc), runs, *link, cc=cc,
                             stdin=stdin)

    @in_both
    def test_example_of_c(self):
        expressions = b"x = 3\nsqrt(x^2) + 4 * (5 - 1)\n1 / 0\n"
        self.example("--coverage", paths=sources("examples/calc/*.c"), runs=[[], ["1"]], link=["-lm"],
                     stdin=expressions, levels=share(("-O2", "-O0"), 2))

    @slow
    def test_examples_of_assembly_and_cxx(self):
        self.example("--coverage", paths=sources("examples/mandel/*.c") +
                     sources("examples/mandel/*.S"), runs=[[], []], link=["-lm"])
        self.example("--coverage", "-std=c++17", paths=sources("examples/shapes/*.cpp"), cc="g++",
                     runs=[[], [], []])

    @slow
    def test_real_program(self):
        """monarc itself: more than two hundred objects."""
        libraries = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "libelf", "libdw", "zlib", "jansson", "capstone"],
            capture_output=True, text=True).stdout.split()
        # What the build makes of scripts and pages is source as well.
        made = glob.glob(os.path.join(os.path.dirname(SO), "../../src/**/*.c"), recursive=True)
        ours = [path for path in sources("src/**/*.c") if "/src/lib/" not in path]
        options = ["-D_GNU_SOURCE", "-std=gnu11", "-I" + os.path.realpath(os.path.join(ROOT, "src")),
                   "-I" + os.path.realpath(os.path.join(ROOT, "include")),
                   '-DMONARC_VERSION="0"', '-DMONARC_LIBDIR="/"',
                   *[f for f in libraries if f.startswith("-I")]]
        # The allocator counts nothing: libgcov calls it too, and would count its own work.
        allocators = [path for path in ours if path.endswith("/allocate.c")]
        self.assertEqual(len(allocators), 1)
        counted = [path for path in ours if path not in allocators]
        objects = self.objects(counted + sorted(map(os.path.realpath, made)), "--coverage", *options)
        objects += self.objects(allocators, *options)
        self.assertGreater(len(objects), 200)
        seed = sorted(p for p in glob.glob(os.path.join(ROOT, "tests/corpus/gmon/*"))
                      if os.path.isfile(p))[0]
        self.compare(objects, [["--help"], ["info", seed], ["flat", "--help"], ["gprof", "/nowhere"], ["nothing"]],
                     *[f for f in libraries if f.startswith("-l")], "-liberty", "-lm",
                     *(["-llzma"] if os.path.exists("/usr/include/lzma.h") else []))

    @in_both
    def test_value_profiles(self):
        for cc, flags in share([(cc, flags) for cc in ("gcc", "gcc-11") if shutil.which(cc) for flags in
                                (("-fprofile-update=atomic",), (), ("-fprofile-partial-training",))], 3):
            with self.subTest(flags=flags, cc=cc):
                self.setUp()
                objects = [self.compile("values.c", "-O2", "-fprofile-generate", *flags, cc=cc)]
                self.compare(objects, [["1000"], ["500"], ["7"], []], cc=cc, read=False)

    @slow
    def test_profile_use(self):
        """gcc takes our files without a word, and makes the code that it makes of libgcov's."""
        code = []
        for how in "gcov", "so", "a":
            for name in "values", :
                self.compile(name + ".c", "-O2", "-fprofile-generate")
                program = self.link(how, [name + ".o"])
                for n in "1000", "500":
                    self.run_program([program, n])
                r = subprocess.run(["gcc", "-O2", "-fprofile-use", "-Wall", "-Wextra",
                                    "-Werror=coverage-mismatch", "-Wmissing-profile", "-S",
                                    os.path.join(PROGRAMS, name + ".c"), "-o", name + ".s"],
                                   cwd=self.dir, capture_output=True, text=True)
                self.assertEqual((r.returncode, r.stderr), (0, ""))
                code.append(slurp(self.path(name + ".s")))
                os.unlink(self.path(name + ".gcda"))
        self.assertEqual(code[0], code[1])
        self.assertEqual(code[0], code[2])

    @slow
    def test_link_line_of_gcc(self):
        """gcc --coverage at the link adds -lgcov behind ours, which then adds nothing."""
        for how in "so", "a":
            self.setUp()
            program = self.link(how, [self.compile("life.c", "--coverage")], "--coverage")
            self.run_program([program, "_exit", "7"], code=3)
            self.assertEqual(self.counted(), 7)

    @slow
    def test_lto(self):
        self.compare(self.objects(sources("examples/average/*.c"), "--coverage", "-O2", "-flto"), [["1"], ["2"]],
                     "-flto", "-lm")

    @slow
    def test_lto_and_cxx(self):
        paths = sources("examples/shapes/*.cpp")
        objects = self.objects(paths, "--coverage", "-O2", "-flto", cc="g++")
        self.compare(objects, [[], []], "-flto", cc="g++")

    def test_stream(self):
        objects = [self.compile("stream.c", "-O1")]
        objects += [self.compile("plugin.c", "--coverage", "-fprofile-info-section=covered",
                                 "-DPART=%d" % part, name="part%d" % part) for part in (1, 2, 3)]
        out = {}
        for how in "gcov", "so", "a":
            out[how] = subprocess.run([self.link(how, objects)], capture_output=True,
                                      check=True).stdout
        self.assertEqual(out["so"], out["gcov"])
        self.assertEqual(out["a"], out["gcov"])
        self.assertGreater(len(out["so"]), 100)

    @slow
    @unittest.skipUnless(has_clang(), "no clang with its runtime")
    def test_clang(self):
        self.compare_clang(())

    @slow
    @unittest.skipUnless(has_clang(), "no clang with its runtime")
    def test_clang_of_other_versions(self):
        self.compare_clang(("-Xclang", "-coverage-version=402*"), ("-Xclang", "-coverage-version=B11*"))

    def compare_clang(self, *versions):
        """clang's objects, next to clang's own runtime."""
        paths = sources("examples/average/*.c")
        for flags in versions:
            with self.subTest(flags=flags):
                self.setUp()
                objects = self.objects(paths, "--coverage", *flags, cc="clang")
                expected = None
                for link in ["--coverage"], [SO, "-Wl,-rpath," + os.path.dirname(SO)], [ARCHIVE]:
                    subprocess.run(["clang", *objects, "-o", "program", "-lm", *link], cwd=self.dir,
                                   check=True)
                    for rounds in "123":
                        self.run_program([self.path("program"), rounds])
                    files = self.files()
                    self.assertEqual(len(files), len(objects))
                    expected = expected or files
                    self.assertEqual(files, expected)
                    for name in files:
                        os.unlink(self.path(name))

    @slow
    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_clang_old_files(self):
        for how in "so", "a":
            self.setUp()
            program = self.link(how, [self.compile("life.c", "--coverage", cc="clang")], cc="clang")
            file = self.path("life.gcda")
            self.run_program([program, "_exit", "7"], code=3)
            whole = slurp(file)
            for n in list(range(1, len(whole), 13)) + list(range(len(whole) - 40, len(whole))):
                spill(file, whole[:n])
                r = self.run_program([program, "_exit", "7"], code=3, quiet=False)
                self.assertEqual((slurp(file), r.stderr.count("\n")), (whole, 1), (n, r.stderr))
                self.assertEqual(slurp(file + ".damaged-1"), whole[:n])
                os.unlink(file + ".damaged-1")
            spill(file, whole[:8] + b"abcd" + whole[12:])
            self.run_program([program, "_exit", "7"], code=3, quiet=False)
            self.assertEqual((slurp(file), self.leftovers()), (whole, ["life.gcda.other-1"]))

    # Version word, kinds of counters, checksum, length unit, summary.
    VERSIONS = [
        (b"407*", 8, 0, 4, 9), (b"408*", 8, 0, 4, 17), (b"409*", 9, 0, 4, 17),
        (b"503*", 10, 0, 4, 17), (b"605*", 10, 0, 4, 17), (b"A75*", 9, 0, 4, 17),
        (b"A84*", 9, 0, 4, 17), (b"A93*", 9, 0, 4, 2), (b"B02*", 8, 0, 4, 2), (b"B14*", 8, 0, 4, 2),
        (b"B22*", 8, 1, 1, 2), (b"B33*", 8, 1, 1, 2), (b"B42*", 9, 1, 1, 2), (b"B53*", 10, 1, 1, 2),
        (b"B62*", 10, 1, 1, 2),
    ]

    def expected(self, version, checksum, unit, summary, runs, program):
        def words(*w):
            return struct.pack("<%dI" % len(w), *w)
        word, = struct.unpack(">I", version)
        data = words(0x67636461, word, 0x11223344, *([0x55667788] if checksum else []))
        if summary == 2:
            data += words(0xA1000000, 8 // unit, runs, 5 * runs)
        else:
            data += words(0xA3000000, summary, program, 5, runs, 6 * runs, 0, 5, 0, 5 * runs, 0)
            data += b"\0" * 4 * (summary - 9)
        zeros = version >= b"B1"
        data += words(0x01000000, 12 // unit, 11, 12, 13, ARC, 24 // unit)
        data += struct.pack("<3Q", 5 * runs, 0, runs)
        data += words(0x01000000, 12 // unit, 21, 22, 23, ARC)
        data += words(-(16 // unit) & 0xFFFFFFFF) if zeros else words(16 // unit, 0, 0, 0, 0)
        return data + words(0x01000000, 0, 0)

    @in_both
    def test_layouts_of_all_versions(self):
        self.layouts_of_all_versions("so", share(self.VERSIONS, 3))  # the first of them have all shapes

    @slow
    def test_layouts_of_all_versions_by_the_archive(self):
        self.layouts_of_all_versions("a", self.VERSIONS)

    def layouts_of_all_versions(self, how, versions):
        for version, counters, checksum, unit, summary in versions:
            flags = ["-DVERSION=0x%s" % version.hex(), "-DCOUNTERS=%d" % counters]
            with self.subTest(version=version, link=how):
                self.setUp()
                program = self.link(how, [self.compile(
                    "handmade.c", "-O1", *flags, *(["-DWITH_CHECKSUM"] if checksum else []))])
                for runs in 1, 2, 3:
                    self.run_program([program])
                    data = slurp(self.path("handmade.gcda"))
                    own = struct.unpack_from("<I", data, 20)[0]
                    self.assertEqual(data.hex(" ", 4), self.expected(
                        version, checksum, unit, summary, runs, own).hex(" ", 4))

    def test_version_of_the_future(self):
        program = self.link("so", [self.compile("handmade.c", "-O1", "-DVERSION=0x43303063",
                                                "-DCOUNTERS=12", "-DWITH_CHECKSUM")])
        r = self.run_program([program], quiet=False)
        self.assertIn("unknown version of gcc", r.stderr)


class Architectures(CoverTest):
    """Other machines: both byte orders, both word sizes, under qemu-user."""
    MACHINES = {"aarch64-linux-gnu": "aarch64", "arm-linux-gnueabihf": "arm", "i686-linux-gnu": "i386",
                "powerpc64-linux-gnu": "ppc64", "riscv64-linux-gnu": "riscv64",
                "s390x-linux-gnu": "s390x"}

    def run_emulated(self, emulator, compiler, name, link):
        subprocess.run([compiler, "-static", name + ".o", "-o", "program", *link], cwd=self.dir,
                       check=True)
        for _ in range(2):
            subprocess.run([emulator, "./program", "5"], cwd=self.dir, check=True, capture_output=True)

    def check_machine(self, machine):
        emulator, cc = "qemu-" + self.MACHINES[machine], machine + "-gcc"
        ours = [self.path("ours.a")]
        subprocess.run(["ar", "rcs", *ours, *library_objects(self.dir, cc, "-O1")], check=True)
        self.compile("values.c", "-O2", "-fprofile-generate", cc=cc)
        self.compile("registers.c", "-O1", cc=cc)
        self.run_emulated(emulator, cc, "values", ["-lgcov"])
        expected = slurp(self.path("values.gcda"))
        os.unlink(self.path("values.gcda"))
        self.run_emulated(emulator, cc, "values", ours)
        self.assertEqual(slurp(self.path("values.gcda")).hex(" ", 4), expected.hex(" ", 4))
        self.run_emulated(emulator, cc, "registers", ours)
        return slurp(self.path("registers.da"))

    @slow
    def test_machines(self):
        found = {}
        for machine, emulator in self.MACHINES.items():
            if shutil.which(machine + "-gcc") and shutil.which("qemu-" + emulator):
                with self.subTest(machine=machine):
                    self.setUp()
                    found[machine] = self.check_machine(machine)
        if not found:
            self.skipTest("no cross compiler with its qemu-user")
        # A da file is the same whatever made it.
        self.assertEqual(len(set(found.values())), 1)


@slow
class Sanitizers(CoverTest):
    """The library itself under ASan and UBSan, compiled with them and linked into covered programs."""
    FLAGS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.objects = library_objects(cls.folder.name, "gcc", *cls.FLAGS)

    def build(self, source, *flags):
        self.compile(source, *flags)
        name = os.path.splitext(source)[0]
        program = self.path("program")
        subprocess.run(["gcc", "-fsanitize=address,undefined", name + ".o", *self.objects, "-o", program,
                        "-pthread", "-ldl"], cwd=self.dir, check=True)
        return program

    def test_programs(self):
        program = self.build("life.c", "--coverage", "-fprofile-update=atomic")
        for arguments in (["plain", "7"], ["_exit", "7"], ["forks", "6"], ["dump", "7"],
                          ["threads", "8", "100"], ["dump-reset", "3"], ["exec", "execv"],
                          ["vfork", "exec"], ["fork-threads", "5"]):
            with self.subTest(arguments=arguments):
                r = subprocess.run([program, *arguments], cwd=self.dir, capture_output=True, text=True)
                self.assertEqual(r.stderr, "")
        self.assertGreater(self.counted(), 7)

    def test_old_files(self):
        """Every byte of an old file changed, and cut at every byte."""
        for source, name, flags in (("values.c", "values.gcda", ("-O2", "-fprofile-generate")),
                                    ("registers.c", "registers.da", ("-O1",))):
            program = self.build(source, *flags)
            self.run_program([program, "40"])
            whole = slurp(self.path(name))
            step = max(1, len(whole) // 120)
            for at in range(0, len(whole), step):
                for old in (whole[:at], whole[:at] + b"\xff" + whole[at + 1:],
                            whole[:at] + b"\0\0\0\x80" + whole[at + 4:]):
                    spill(self.path(name), old)
                    r = self.run_program([program, "1"], quiet=False)
                    self.assertNotIn("runtime error", r.stderr)
                    for aside in glob.glob(self.path(name) + ".*"):
                        os.unlink(aside)

    def test_covered_program_under_a_sanitizer(self):
        """The program's own sanitizer ends it; its counts are written."""
        source = self.path("bad.c")
        spill(source, b"#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); free(p);"
              b"return p[n]; }\n")
        for how in "so", "a":
            self.compile(source, "--coverage", "-fsanitize=address")
            program = self.link(how, ["bad.o"], "-fsanitize=address")
            r = subprocess.run([program], cwd=self.dir, capture_output=True, text=True)
            self.assertIn("heap-use-after-free", r.stderr)
            self.assertEqual(self.calls("bad")["main"], 1)
            os.unlink(self.path("bad.gcda"))


if __name__ == "__main__":
    unittest.main()
