#!/usr/bin/env python3
"""test_library.py: libmonarc as it is installed: what is there, what it exports, and the examples,
compiled against it as C and as C++, with its shared and with its static library.

It refuses to look into the build folder: everything comes from a DESTDIR.
"""

import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from parts import in_both, load_tests, share, slow  # noqa: E402,F401

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MONARC_BUILD", ROOT / "build"))
MONARC = os.environ.get("MONARC", str(BUILD / "monarc"))
CC = os.environ.get("CC", "cc").split()
CXX = os.environ.get("CXX", "c++").split()
EXAMPLES = ROOT / "examples/library"
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1"]
C = [*CC, "-std=c99"]
CPLUSPLUS = [*CXX, "-std=c++11", "-x", "c++"]


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True,
                          **more).stdout


class Installed(unittest.TestCase):
    root = None  # one for all classes

    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="monarc-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        if not Installed.root:
            Installed.root = Path(tempfile.mkdtemp(prefix="monarc-installed-"))
            unittest.addModuleCleanup(shutil.rmtree, Installed.root)
            run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
                env={**os.environ, "DESTDIR": str(Installed.root)})
        cls.pc = next(cls.root.rglob("monarc.pc"))
        cls.libdir = cls.pc.parent.parent
        cls.include = next(cls.root.rglob("monarc/error.h")).parent.parent
        cls.prefix = cls.include.parent

    def flags(self, *wanted, package="monarc"):
        environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(self.root),
                       "PKG_CONFIG_PATH": str(self.pc.parent)}
        return run("pkg-config", *wanted, package, env=environment).split()

    def built(self, compiler, source, name, is_static=False):
        program = self.work / name
        if program.exists():
            return program
        libraries = ([f"-I{self.include}", "-x", "none", self.libdir / "libmonarc.a", "-lz"]
                     if is_static else ["-x", "none", *self.flags("--cflags", "--libs")])
        run(*compiler, *WARNINGS, source, *libraries, "-o", program)
        return program

    def environment(self):
        return {**os.environ, "LD_LIBRARY_PATH": str(self.libdir),
                "LIBMONARC": str(self.libdir / "libmonarc.so.1")}


class Library(Installed):
    def test_exports_are_those_of_the_list(self):
        """A symbol that goes or changes its name breaks programs; one that comes is to be meant."""
        listing = run("nm", "--target=elf64-little", "-D", "--defined-only", self.libdir / "libmonarc.so.1")
        exported = sorted(re.findall(r" T (\S+)@@LIBMONARC_1$", listing, re.M))
        expected = (ROOT / "tests/lib/symbols.txt").read_text().split()
        if os.environ.get("MONARC_UPDATE"):
            (ROOT / "tests/lib/symbols.txt").write_text("\n".join(exported) + "\n")
            expected = exported
        self.assertEqual(exported, expected)
        self.assertEqual([line for line in listing.splitlines()
                          if "monarc_" not in line and " A LIBMONARC_1" not in line], [])

    def test_soname(self):
        dynamic = run("readelf", "-d", self.libdir / "libmonarc.so")
        self.assertIn("soname: [libmonarc.so.1]", dynamic)
        needed = set(re.findall(r"Shared library: \[(\w+)", dynamic))
        self.assertLessEqual(needed, {"libc", "libz", "ld"})

    def test_archive_shows_nothing_else(self):
        listing = run("nm", "--target=elf64-little", "--extern-only", "--defined-only", self.libdir / "libmonarc.a")
        names = re.findall(r"^[0-9a-f]+ \w (\S+)$", listing, re.M)
        self.assertEqual([n for n in names if not n.startswith("monarc_")], [])
        self.assertEqual(sorted(names), (ROOT / "tests/lib/symbols.txt").read_text().split())

    @in_both
    def test_headers_live_together(self):
        """Each alone, and all of them in one file in either order: C99 and C++11."""
        headers = sorted(h.name for h in (self.include / "monarc").glob("*.h"))
        self.assertEqual(headers, sorted(h.name for h in (ROOT / "include/monarc").glob("*.h")))
        orders = share([headers, headers[::-1], *([h] for h in headers)], 4)
        for compiler, ending in (C, "c"), (CPLUSPLUS, "cc"):
            for i, some in enumerate(orders):
                source = self.work / f"together{i}.{ending}"
                source.write_text("".join(f"#include <monarc/{h}>\n" for h in some))
            sources = [self.work / f"together{i}.{ending}" for i in range(len(orders))]
            run(*compiler, *WARNINGS, f"-I{self.include}", "-fsyntax-only", *sources)

    HEADERS = ("error", "formats", "profile", "recording", "coverage")

    def test_headers_declare_what_is_exported(self):
        declared = set()
        for header in self.HEADERS:
            text = (self.include / "monarc" / f"{header}.h").read_text()
            text = re.sub(r"static inline.*?\n}|/\*.*?\*/", "", text, flags=re.S)
            declared |= set(re.findall(r"\b(monarc_\w+)\(", text))
        self.assertEqual(sorted(declared), (ROOT / "tests/lib/symbols.txt").read_text().split())

    def test_manual_page_names_every_function(self):
        page = next(self.root.rglob("libmonarc.3*"))
        text = re.sub(r"[\\\"]", "", page.read_text())
        self.assertEqual([name for name in (ROOT / "tests/lib/symbols.txt").read_text().split()
                          if f"{name} (" not in text and f"{name}(" not in text], [])
        self.assertIn("merge and convert profiles", run("man", "-l", "-Tascii", page))

    def test_manual_page_shows_prototypes(self):
        """As the headers have them."""
        page = re.sub(r"\\-", "-", next(self.root.rglob("libmonarc.3*")).read_text())
        shown = re.sub(r"\s+", " ", page)
        for header in (*self.HEADERS, "report"):
            text = (self.include / "monarc" / f"{header}.h").read_text()
            text = re.sub(r"static inline.*?\n}|/\*.*?\*/|struct \w+ {.*?\n};", "", text, flags=re.S)
            for found in re.findall(r"^[\w* ]+\bmonarc_\w+\([^;]*\);", text, re.M):
                self.assertIn(re.sub(r"\s+", " ", found), shown)

    def test_sizes_are_size_t(self):
        """Lengths and positions of calls, that is; numbers in files keep the width of the file."""
        found = 0
        for header in (*self.HEADERS, "report"):
            text = (self.include / "monarc" / f"{header}.h").read_text()
            text = re.sub(r"static inline.*?\n}|/\*.*?\*/|struct \w+ {.*?\n};", "", text, flags=re.S)
            sizes = re.findall(r"(\w+) \**((?:\w+_)?(?:len|first|room|size)\b|monarc_\w+_get_"
                               r"(?:len|counts|values|stack|findings)\()", text)
            self.assertEqual([size for size in sizes if size[0] != "size_t"], [], header)
            found += len(sizes)
        self.assertGreater(found, 15)

    def test_reports_export_their_functions_alone(self):
        listing = run("nm", "--target=elf64-little", "-D", "--defined-only", self.libdir / "libmonarc_report.so.1")
        exported = sorted(re.findall(r" T (\S+)@@LIBMONARC_1$", listing, re.M))
        text = (self.include / "monarc/report.h").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.assertEqual(exported, sorted(set(re.findall(r"\b(monarc_\w+)\(", text))))

    def test_documents_are_installed(self):
        documents = self.prefix / "share/doc/monarc"
        for name in ("library.md", "formats/gmon.md", "schema/flat.schema.json",
                     "examples/library/print_gmon.c"):
            self.assertTrue((documents / name).is_file(), name)

    def test_it_neither_prints_nor_ends_the_process(self):
        needed = run("nm", "--target=elf64-little", "-D", "--undefined-only", self.libdir / "libmonarc.so.1")
        names = set(re.findall(r" U (\w+)", needed))
        self.assertEqual(names & {"exit", "_exit", "quick_exit", "printf", "puts", "fprintf",
                                  "stderr", "stdout", "perror", "fopen", "umask", "signal",
                                  "setlocale", "chdir", "setenv"}, set())

    def test_the_only_state_is_the_running_call(self):
        listing = run("objdump", "-t", self.libdir / "libmonarc.a")
        state = re.findall(r"^[0-9a-f]+ .{7} (\.(?:data|bss|tdata|tbss)(?!\.rel)\S*)\s+[0-9a-f]+ "
                           r"(?:\.hidden )?([^.\s]\S*)$", listing, re.M)
        self.assertEqual([name for _, name in state], ["running"])
        self.assertTrue(state[0][0].startswith(".tbss"))


class Reports(Installed):
    """Names and lines: the second library, and the solver of the first."""

    SOURCE = """#include <time.h>
__attribute__((noipa)) static int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 3 ? i : 1;
    return sum;
}
int main(int argc, char **argv)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 5;
    int calls = 0, sum = 0;
    while (calls < 1000 || clock() < end) {
        sum += work(1000);
        if (++calls == 1000 && argc > 1)
            return 0;
    }
    return !sum;
}
"""

    def reporting(self, name):
        """Both ways of the example, as functions of their arguments."""
        for way, compiler in share((("c", C), ("c++", CPLUSPLUS)), 2):
            program = self.work / f"{name}-{way}"
            if not program.exists():
                run(*compiler, *WARNINGS, EXAMPLES / f"{name}.c", "-x", "none",
                    *self.flags("--cflags", "--libs", package="monarc-report"), "-o", program)
            yield lambda *arguments: run(program, *arguments, env=self.environment())

    def profiled(self):
        source, program = self.work / "timed.c", self.work / "timed"
        if not program.exists():
            source.write_text(self.SOURCE)
            run(*CC, "-O0", "-g", "-pg", "-no-pie", source, "-o", program)
            run(program, cwd=self.work)
        return program, self.work / "gmon.out"

    @in_both
    def test_flat_profile(self):
        program, profile = self.profiled()
        shown = json.loads(run(MONARC, "flat", "--json", program, profile))["functions"]
        for report in self.reporting("flat_profile"):
            rows = [line.split(None, 3) for line in report(program, profile).splitlines()]
            self.assertEqual([(int(calls), name) for _, _, calls, name in rows],
                             [(f["calls"], f["name"]) for f in shown])
            for row, f in zip(rows, shown):
                self.assertAlmostEqual(float(row[0]), f["self_samples"] / 100, delta=0.002)
            self.assertIn("work", [row[3] for row in rows])

    @in_both
    def test_lines(self):
        program, profile = self.profiled()
        for report in self.reporting("hot_lines"):
            places = re.findall(r"timed\.c:(\d+) (\w+)$", report(program, profile), re.M)
            self.assertIn(("work"), [name for _, name in places])
            self.assertTrue(all(1 <= int(line) <= 20 for line, _ in places))

    @in_both
    def test_call_tree(self):
        folder = self.work / "tree.monarc"
        folder.mkdir()
        program = self.built(C, ROOT / "tests/lib/seeds/recordings.c", "recordings-tree")
        run(program, "build", folder / "monarc.side", self.work / "tree.gmon",
            env=self.environment())
        for report in self.reporting("call_tree"):
            names = [line.split(None, 1)[1] for line in report(folder).splitlines()]
            self.assertEqual(names[:2], ["main", "work"])

    def test_reports_say_what_is_wrong(self):
        program, profile = self.profiled()
        example = self.work / "call_tree-c"
        for _ in self.reporting("call_tree"):
            pass
        told = subprocess.run([example, profile], env=self.environment(), capture_output=True,
                              text=True)
        self.assertEqual((told.returncode, told.stdout, told.stderr.count("\n")), (1, "", 1))
        (self.work / "none").write_bytes(b"nothing")
        told = subprocess.run([self.work / "flat_profile-c", program, self.work / "none"],
                              env=self.environment(), capture_output=True, text=True)
        if told.returncode != 127:
            self.assertEqual((told.returncode, told.stdout), (1, ""))

    def test_out_of_memory_is_an_error(self):
        """Within any limit of addresses the call returns: a report, or a status."""
        program, profile = self.profiled()
        next(self.reporting("flat_profile"))
        example = self.work / "flat_profile-c"
        for megabytes in 8, 10, 12, 16, 24, 40:
            told = subprocess.run(["sh", "-c", f"ulimit -v {megabytes * 1024}; exec $0 $@", example,
                                   program, profile], env=self.environment(), capture_output=True,
                                  text=True)
            self.assertIn(told.returncode, (0, 1, 126, 127), (megabytes, told.stderr))

    @in_both
    def test_covered_lines(self):
        """Each line and branch as `monarc cover` has them."""
        source, program = self.work / "ran.c", self.work / "ran"
        source.write_text(self.SOURCE)
        run(*CC, "-O0", "--coverage", "-c", source, "-o", self.work / "ran.o", cwd=self.work)
        run(*CC, "--coverage", self.work / "ran.o", "-o", program, cwd=self.work)
        run(program, "once", cwd=self.work)
        pair = self.work / "ran.gcno", self.work / "ran.gcda"
        tracefile = run(MONARC, "cover", "--lcov", "-", pair[1], cwd=self.work)
        lines = {(int(line), int(count))
                 for line, count in re.findall(r"^DA:(\d+),(\d+)", tracefile, re.M)}
        branches = sorted((int(line), int(count.replace("-", "0"))) for line, count in re.findall(
            r"^BRDA:(\d+),e?\d+,\d+,(\d+|-)", tracefile, re.M))
        self.assertTrue(lines and branches)
        for ways in share((("c", C), ("c++", CPLUSPLUS)), 2):
            solve = self.built(ways[1], EXAMPLES / "covered_lines.c", f"covered_lines-{ways[0]}")
            told = run(solve, *pair, env=self.environment())
            self.assertEqual({(int(line), int(count)) for line, count in re.findall(
                r"ran\.c:(\d+) (\d+)$", told, re.M)}, lines)
            self.assertEqual(sorted((int(line), int(count)) for line, count in re.findall(
                r"ran\.c:(\d+) branch \d+: (\d+)$", told, re.M)), branches)


class Examples(Installed):
    WAYS = (("c", C, False), ("c++", CPLUSPLUS, False), ("static", C, True))

    def each_way(self, name):
        for way, compiler, is_static in share(self.WAYS, 2):
            with self.subTest(way):
                program = self.built(compiler, EXAMPLES / f"{name}.c", f"{name}-{way}", is_static)
                yield lambda *arguments: run(program, *arguments, env=self.environment())

    @in_both
    def test_write_rtos_and_print_gmon(self):
        out = self.work / "rtos.out"
        for write in self.each_way("write_rtos"):
            for order, more in (("little", []), ("big", ["big"])):
                write(out, *more)
                info = json.loads(run(MONARC, "info", "--json", out))["files"][0]
                self.assertEqual((info["word_bits"], info["byte_order"]), (32, order))
        for show in self.each_way("print_gmon"):
            self.assertEqual(show(out), """\
GNU gmon.out, version 1, 4-byte pointers, big-endian
histogram 0x8000000-0x8001000: 255 samples in 256 bins, 1000 a unit of seconds
arc 0x8000024 -> 0x8000100: 12
arc 0x8000024 -> 0x8000200: 100000
""")

    def test_print_gmon_says_what_is_wrong(self):
        program = self.built(C, EXAMPLES / "print_gmon.c", "print_gmon-c")
        bad = self.work / "bad.out"
        bad.write_bytes(b"gmon\1\0\0\0" + bytes(12) + b"\7")
        told = subprocess.run([program, bad], env=self.environment(), capture_output=True,
                              text=True)
        self.assertEqual(told.returncode, 1)
        self.assertIn("at offset 20: a record begins with tag 7", told.stderr)

    @in_both
    def test_print_recording(self):
        """The weights of a known recording, and every cut of it refused."""
        seed = ROOT / "tests/corpus/run/whole"
        for show in self.each_way("print_recording"):
            self.assertEqual(show(seed), """\
2 processes, 2 threads, 4 samples
process 7 p
process 8  (not recorded)
     1.000 ms self      4.000 ms total  /bin/p
     3.000 ms self      3.000 ms total  (no file)
     1.500 ms self      1.500 ms total  (no file)
     0.000 ms self      1.500 ms total  (no file)
""")
        program = self.built(C, EXAMPLES / "print_recording.c", "print_recording-c")
        cut = self.work / "cut.side"
        for length in share(range(0, seed.stat().st_size, 13), 4):
            cut.write_bytes(seed.read_bytes()[:length])
            told = subprocess.run([program, cut], env=self.environment(), capture_output=True,
                                  text=True)
            self.assertEqual((told.returncode, told.stdout), (1, ""), length)
            self.assertEqual(told.stderr.count("\n"), 1)

    def test_untagged(self):
        """Graph, lines and counters of gcc before 3.4, as `monarc convert` writes them."""
        sys.path.append(str(ROOT / "tests/cli"))
        import before_34
        bbg, da = ((ROOT / "tests/corpus" / kind / "gcc-12-c").read_bytes()
                   for kind in ("bbg", "da"))
        program = self.built(C, ROOT / "tests/lib/seeds/untagged.c", "untagged", False)
        parts = [self.work / name for name in ("t.bbg", "t.bb", "t.da", "own.bbg", "own.da")]
        for is_33 in True, False:
            parts[0].write_bytes(before_34.graph(bbg, is_33))
            parts[1].write_bytes(before_34.lines(bbg))
            parts[2].write_bytes(before_34.counters(da, bbg, is_33))
            run(program, *parts, env=self.environment())
            for kind in "bbg", "da":
                theirs = self.work / f"theirs.{kind}"
                run(MONARC, "convert", "--to", kind, self.work / f"t.{kind}", "-o", theirs)
                self.assertEqual((self.work / f"own.{kind}").read_bytes(), theirs.read_bytes())

    def test_recordings_add_up_as_in_merge(self):
        program = self.built(C, ROOT / "tests/lib/seeds/sums.c", "sums-c")
        seed = ROOT / "tests/corpus/run/whole"
        folders = [self.work / name for name in ("a.monarc", "b.monarc")]
        for folder in folders:
            folder.mkdir()
            shutil.copy(seed, folder / "monarc.side")
        run(MONARC, "merge", "-o", self.work / "sum.monarc", *folders)
        run(program, "recording", self.work / "own.side", seed, seed, env=self.environment())
        self.assertEqual((self.work / "own.side").read_bytes(),
                         (self.work / "sum.monarc/monarc.side").read_bytes())
        run(program, "recording", self.work / "own.side", seed, env=self.environment())
        shown = self.built(C, EXAMPLES / "print_recording.c", "print_recording-c")
        self.assertEqual(*(run(shown, path, env=self.environment())
                           for path in (self.work / "own.side", seed)))

    def test_pairs_are_checked(self):
        """What does not belong together is refused by name: other versions of the proposal, other
        checksums, another number of counters."""
        program = self.built(C, ROOT / "tests/lib/seeds/sums.c", "sums-c")
        notes = (ROOT / "tests/corpus/bbg/gcc-12-c").read_bytes()
        whole = (ROOT / "tests/corpus/da/gcc-12-c").read_bytes()
        name_len = int.from_bytes(whole[16:20], "little")
        name = whole[20:20 + name_len].decode()
        checksum = 20 + (name_len // 4 + 1) * 4
        version = whole[4:8].decode()
        other = whole[:6] + b"5" + whole[7:]
        renamed = whole[:20] + b"z" + whole[21:]
        clash = whole[:checksum] + bytes([whole[checksum] ^ 1]) + whole[checksum + 1:]
        (self.work / "n.bbg").write_bytes(notes)
        for bad, said in ((whole, ""),
                          (other, f"the counters are of version {other[4:8].decode()}, the notes of {version}\n"),
                          (clash, f"function '{name}' has other checksums than in the notes\n"),
                          (renamed, f"the notes do not have function 'z{name[1:]}' of the counters\n")):
            (self.work / "c.da").write_bytes(bad)
            done = subprocess.run([program, "check", self.work / "n.bbg", self.work / "c.da"],
                                  env=self.environment(), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (int(bool(said)), said))

    def test_streams_are_written(self):
        """Pair by pair, byte for byte what was read, in both byte orders: names of gcc 13 before
        counters of gcc 12 get the version of these."""
        program = self.built(C, ROOT / "tests/lib/seeds/sums.c", "sums-c")
        for seed in (ROOT / "tests/corpus/gcfn").iterdir():
            run(program, "stream", self.work / "own.gcfn", seed, env=self.environment())
            expected = re.sub(rb"nfcg\*23B|gcfnB32\*",
                              lambda m: m[0].replace(b"B32", b"B22").replace(b"23B", b"22B"),
                              seed.read_bytes())
            self.assertEqual((self.work / "own.gcfn").read_bytes(), expected)

    @in_both
    def test_recordings_are_built(self):
        """A made-up one, as C and as C++: `monarc flat` shows the shares it was given, and so does
        the gmon.out that is made of it."""
        folder = self.work / "built.monarc"
        folder.mkdir()
        for way, compiler in share((("c", C), ("c++", CPLUSPLUS)), 2):
            program = self.built(compiler, ROOT / "tests/lib/seeds/recordings.c", f"recordings-{way}")
            run(program, "build", folder / "monarc.side", self.work / "built.gmon",
                env=self.environment())
            flat = json.loads(run(MONARC, "flat", "--json", folder))
            self.assertEqual([(f["name"], f["self_samples"], f["calls"]) for f in flat["functions"]],
                             [("work", 7, 5), ("main", 3, 0)])
            info = json.loads(run(MONARC, "info", "--json", self.work / "built.gmon"))["files"][0]
            self.assertEqual((info["histograms"][0]["samples"], info["arcs"]["calls"],
                              info["blocks"]["executions"]), (10, 5, 5))

    def test_sidecars_are_read(self):
        """With the profiles beside them from a path; from memory their loss is said."""
        program = self.built(C, ROOT / "tests/lib/seeds/recordings.c", "recordings-c")
        folder = self.work / "process"
        folder.mkdir()
        for order in "le", "be":
            for word in "32", "64":
                shutil.copy(ROOT / f"tests/corpus/sidecar/{order}{word}", folder / "monarc.side")
                shutil.copy(ROOT / f"tests/corpus/gmon/{order}{word}", folder / "gmon.out")
                self.assertEqual(run(program, "read", folder / "monarc.side",
                                     env=self.environment()), """\
sidecar: 1 processes, 1 threads, 4 samples, 6 calls, 3 blocks
0 401010 -> 0 401040: 1
0 401058 -> 0 401060: 250
-1 0 -> 0 401040: 3
0 401010 -> 0 401040: 4294967295
0 401050 -> 1 1050: 1000
-1 0 -> 0 401044: 1
lost 3 calls
sidecar: 1 processes, 1 threads, 4 samples, 2 calls, 0 blocks
0 401050 -> 1 1050: 1000
-1 0 -> 0 401044: 1
lost 3 calls
lost 3 profiles of objects, which the sidecar only names
""", order + word)
        shutil.copy(ROOT / "tests/corpus/sidecar/cut", folder / "monarc.side")
        told = subprocess.run([program, "read", folder / "monarc.side"], env=self.environment(),
                              capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stdout, told.stderr.count("\n")), (1, "", 1))

    @in_both
    def test_tracefiles_are_written(self):
        """A section of its own, then those that were read, byte for byte and as often as read."""
        whole = ("TN:t\nSF:/a.c\nFN:1,f\nFNDA:5,f\nFN:7,8,g,2\nFNDA:0,g,2\nFNF:2\nFNH:1\n"
                 "BRDA:2,0,0,5\nBRDA:2,e0,1,0\nBRF:2\nBRH:1\nMCDC:2,2,t,1,0,0\nMCDC:2,2,f,0,1,1\n"
                 "MCF:2\nMCH:1\nDA:1,5\nDA:2,18446744073709551615\nLF:2\nLH:2\nend_of_record\n")
        own = ("TN:mine\nSF:own.c\nFN:3,9,main\nFNDA:1,main\nFNF:1\nFNH:1\nBRDA:4,e0,1,7\nBRF:1\n"
               "BRH:1\nDA:3,1\nDA:4,0\nLF:2\nLH:1\nend_of_record\n")
        trace, out = self.work / "in.info", self.work / "out.info"
        trace.write_text(whole)
        for way, compiler in share((("c", C), ("c++", CPLUSPLUS)), 2):
            program = self.built(compiler, ROOT / "tests/lib/seeds/sums.c", f"sums-{way}")
            run(program, "trace", out, trace, trace, env=self.environment())
            self.assertEqual(out.read_text(), own + 2 * whole)
        covered = json.loads(run(MONARC, "cover", "--json", "-", out))
        counts = {s["path"]: [l["count"] for l in s["lines"]] for s in covered["sources"]}
        self.assertEqual([counts[name] for name in sorted(counts)],
                         [[10, 18446744073709551615], [1, 0]])

    @in_both
    def test_sum_gcda(self):
        source = self.work / "turns.c"
        source.write_text("int never(void) { return 7; }\nint main(int c, char **v) { (void)v; int n = 0;\n"
                          "while (c < 9)\n n += c++;\n return n > 99; }\n")
        run(*CC, "--coverage", "-fprofile-update=single", "-o", "turns", "turns.c", cwd=self.work)
        parts = []
        for i, arguments in enumerate(((), ("a", "b"))):
            run(self.work / "turns", *arguments, cwd=self.work)
            parts.append(self.work / f"part{i}.gcda")
            next(self.work.glob("*turns.gcda")).rename(parts[-1])
        run(MONARC, "merge", "-o", self.work / "expected.gcda", *parts)
        # What never ran is a length alone, also of files in which its zeros are spelled out.
        marked = struct.pack("=Ii", 0x01a10000, -8)
        for part in parts:
            data = part.read_bytes()
            part.write_bytes(data.replace(marked, struct.pack("=Ii", 0x01a10000, 8) + bytes(8)))
        for add in self.each_way("sum_gcda"):
            add(self.work / "sum.gcda", *parts)
            self.assertEqual((self.work / "sum.gcda").read_bytes(),
                             (self.work / "expected.gcda").read_bytes())

    @in_both
    def test_make_da(self):
        notes, counters = self.work / "sign.bbg", self.work / "sign.da"
        for make in self.each_way("make_da"):
            make(notes, counters)
            for path in (notes, counters):
                self.assertTrue(json.loads(run(MONARC, "info", "--json", path))["files"])
            # Counters first: beside the notes of another checksum they would be refused.
            (self.work / "sign.gcno").unlink(missing_ok=True)
            run(MONARC, "convert", "--to", "gcda", "-o", self.work / "sign.gcda", counters)
            run(MONARC, "convert", "--to", "gcno", "-o", self.work / "sign.gcno", notes)
            (self.work / "sign.fun").write_text("fun sign(x)\n    if x < 0\n"
                                                "        return -1\n    return 1\n")
            # gcov itself refuses the files of another version.
            is_of_12 = " 12." in run("gcov", "--version").splitlines()[0]
            told = run(*(["gcov"] if is_of_12 else [MONARC, "gcov"]), "--stdout", "sign.gcno", cwd=self.work)
            self.assertEqual(re.findall(r"^ *(\d+): +(\d+):", told, re.M),
                             [("42", "2"), ("7", "3"), ("35", "4")])

    def test_python(self):
        profile = ROOT / "tests/corpus/gmon/arcs-first"
        told = run(sys.executable, EXAMPLES / "print_gmon.py", profile, env=self.environment())
        self.assertRegex(told, r"^GNU gmon.out, version 1: \d+ samples, \d+ calls over \d+ arcs\n")
        missing = subprocess.run([sys.executable, EXAMPLES / "print_gmon.py", "/nowhere"],
                                 env=self.environment(), capture_output=True, text=True)
        self.assertEqual((missing.returncode, missing.stderr),
                         (1, "/nowhere: No such file or directory\n"))


@slow
class SeedsNames(Installed):
    """Programs that use the names of the originals, compiled against ours."""

    SEEDS = ROOT / "tests/lib/seeds"

    def compiled(self, compiler, source, name, *flags):
        program = self.work / name
        run(*compiler, *WARNINGS, *flags, f"-I{self.include}", self.SEEDS / source, "-o",
            program)
        return program

    def test_glibcs_header(self):
        profile = (ROOT / "tests/corpus/gmon/arcs-first").read_bytes()
        told = set()
        for i, header in enumerate(("<sys/gmon_out.h>", "<monarc/gmon_out.h>",
                                    "<monarc/gmon_out.h>\n#include <sys/gmon_out.h>")):
            wrapper = self.work / f"header{i}.h"
            wrapper.write_text(f"#include {header}\n")
            for compiler in (C, CPLUSPLUS):
                reader = self.compiled(compiler, "gmon_reader.c", "reader",
                                       f'-DGMON_HEADER="{wrapper}"')
                told.add(subprocess.run([reader], input=profile, check=True,
                                        capture_output=True).stdout)
        self.assertEqual(len(told), 1)
        self.assertIn(b"arc 4", told.pop())

    def test_ecoss_header(self):
        ecos = self.work / "ecos/cyg/infra"
        ecos.mkdir(parents=True)
        shutil.copy(ROOT / "tests/lib/seeds/cyg_type.h", ecos)
        for compiler, types in itertools.product((C, CPLUSPLUS), (["-DTYPES_FIRST"], ["-DTYPES_LAST"], [])):
            writer = self.compiled(compiler, "gmon_writer.c", "writer", f"-I{self.work / 'ecos'}", *types)
            out = self.work / "ecos.out"
            out.write_bytes(subprocess.run([writer], check=True, capture_output=True).stdout)
            info = json.loads(run(MONARC, "info", "--json", out))["files"][0]
            self.assertEqual((info["error"], info["arcs"]["calls"],
                              info["histograms"][0]["samples"]), (None, 7, 65538))
            reader = self.compiled(C, "gmon_reader.c", "reader",
                                   "-DGMON_HEADER=<monarc/gmon_out.h>")
            told = subprocess.run([reader], input=out.read_bytes(), check=True,
                                  capture_output=True).stdout
            self.assertEqual(told, b"histogram 1000 1040 4 100 seconds s: 65538\n"
                                   b"arc 1010 1020 7\n")

    def test_the_proposal(self):
        """A program in the names of its text compiles as it is, and writes what our readers read."""
        for compiler in (C, CPLUSPLUS):
            program = self.compiled(compiler, "proposal.c", "proposal")
            told = run(program, self.work / "halves")
            self.assertEqual(told, "half (4) 12345678\n  3\nwhole (5) 87654321\n  4\n")
            for suffix in ("bbg", "da"):
                told = run(MONARC, "info", "--json", self.work / f"halves.{suffix}")
                self.assertIsNone(json.loads(told)["files"][0]["error"])
            copy = self.work / "copy.da"
            run(MONARC, "convert", "--to", "da", "-o", copy, self.work / "halves.da")
            self.assertEqual(copy.read_bytes(), (self.work / "halves.da").read_bytes())

    def test_the_proposals_items_with_errors(self):
        """Cut within a string, a word or a count, and with padding that is not NUL: status 1."""
        run(self.compiled(C, "proposal.c", "proposal"), self.work / "halves")
        whole = (self.work / "halves.da").read_bytes()
        for compiler in (C, CPLUSPLUS):
            program = self.compiled(compiler, "arc_items.c", "items")
            told = run(program, self.work / "halves.da")
            self.assertEqual(told, "half 4 of 12 bytes\nwhole 5 of 12 bytes\n")
            for bad in (whole[:22], whole[:30], whole[:45], whole[:-6],
                        whole.replace(b"half\0\0\0\0", b"half\0\0x\0")):
                (self.work / "bad.da").write_bytes(bad)
                outcome = subprocess.run([program, self.work / "bad.da"], capture_output=True)
                self.assertEqual(outcome.returncode, 1, bad)


if __name__ == "__main__":
    unittest.main()
