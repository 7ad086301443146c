"""`monarc gcov` on the files of other compilers, on damaged files, and under lcov and gcovr.

What gcov 12 itself prints is compared live by tests/oracle_gcov. Here are the files of versions that
are not installed, with what their own gcov made of them (tests/data/arc-files/*/oracle).
"""

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from parts import in_both, load_tests, share, slow

FILES = harness.ROOT / "tests/data/arc-files"
SANITIZED = 99  # exit status that no gcov has


def gcov(folder, *arguments, **more):
    program = Path(folder) / "gcov"
    if not program.exists():
        program.symlink_to(harness.monarc_path())
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, check=False,
                          env={**os.environ, "LC_ALL": "C",
                               "ASAN_OPTIONS": f"exitcode={SANITIZED}:detect_leaks=0",
                               "UBSAN_OPTIONS": f"exitcode={SANITIZED}:halt_on_error=1"}, **more)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def take(self, compiler):
        for path in [*(FILES / compiler).glob("prog*"), *(FILES / "src").iterdir()]:
            shutil.copy(path, self.folder)
            os.utime(self.folder / path.name, (1, 1))
        return sorted(path.name for path in self.folder.glob("*.gcda"))


class ToTheLetter(Folder):
    def test_odd_files_as_gcov_12_shows_them(self):
        """Colours of blocks that did not run; hotness beside counts of 2^32 and more; a share of nothing in
        a negative count; a record within a function that is no part of one."""
        version = subprocess.run(["gcov", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        if not version.split()[-1].startswith("12."):
            self.skipTest("the machine's gcov is not that of gcc 12")
        for name, words in (("colour-blocks", ["-t", "-k", "-a", "a.gcda"]), ("hotness-4G", ["-t", "-q", "a.gcda"]),
                            ("minus-zero", ["-t", "-b", "a.gcda"]), ("unknown-tag", ["-n", "-b", "f.gcno"]),
                            ("unknown-tag", ["-t", "-b", "f.gcno"])):
            folder = self.folder / name
            shutil.copytree(FILES.parent / "gcov-letter" / name, folder, dirs_exist_ok=True)
            with self.subTest(case=name, words=words):
                gnu = subprocess.run(["gcov", *words], cwd=folder, capture_output=True)
                ours = gcov(folder, *words)
                self.assertEqual((gnu.stdout, gnu.returncode), (ours.stdout, ours.returncode))


class OtherVersions(Folder):
    def compilers(self):
        for oracle in sorted(FILES.glob("*/oracle")):
            with self.subTest(compiler=oracle.parent.name):
                for counters in self.take(oracle.parent.name):
                    yield oracle, counters, "cc" if "_cc" in counters else "c"
                for path in self.folder.iterdir():
                    path.unlink()

    @slow
    def test_text_is_that_of_each_versions_own_gcov(self):
        compared = 0
        for oracle, counters, language in self.compilers():
            more = {"gcc-14": ["--conditions"], "gcc-16": ["--conditions", "--prime-paths"]}.get(
                oracle.parent.name, [])
            done = gcov(self.folder, "-b", "-c", *more, counters)
            summary = oracle / (counters + ".stdout.txt")
            self.assertEqual(summary.read_text(), done.stdout.decode(), oracle.parent.name)
            for path in oracle.glob(f"oracle-{language}-*.gcov"):
                made = self.folder / path.name.replace(f"oracle-{language}-", "")
                theirs, ours = (p.read_text(errors="replace").splitlines() for p in (path, made))
                self.assertEqual(theirs, ours, f"{oracle.parent.name} {path.name}")
                compared += 1
        self.assertGreater(compared, 30)

    def test_json_is_that_of_gcov_9_to_16(self):
        for oracle, counters, language in self.compilers():
            expected = oracle / f"oracle-{language}.json"
            if not expected.exists():
                continue
            ours = json.loads(gcov(self.folder, "-bgejt", counters).stdout)
            theirs = json.loads(expected.read_text())
            for file in theirs["files"]:
                for function in file["functions"]:
                    # which paths they are is not said: docs/compat.md, gcov-paths
                    function.pop("prime_path_coverage", None)
            self.assertEqual(ours.pop("gcc_version").split(".")[0],
                             theirs.pop("gcc_version").split(".")[0])
            self.assertEqual(ours, theirs, f"{oracle.parent.name} {counters}")

    def test_files_that_no_one_else_reads_together(self):
        self.take("gcc-12-m68k")
        done = gcov(self.folder, "-t", "prog_c-prog.gcda")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"\n +5:    9:int cond")

    def test_notes_of_gcc_3_4(self):
        self.take("gcc-3.4-h8300")
        done = gcov(self.folder, "-t", "prog.gcno")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"cannot open data file, assuming not executed", done.stderr)
        self.assertRegex(done.stdout, rb"\n    #####:    9:int cond")


CLANGS = [str(v) for v in range(13, 23) if shutil.which(f"clang++-{v}") and shutil.which(f"llvm-cov-{v}")]


def links(version):
    """Whether its runtime, which is in a package of its own, is here: one links what all have compiled."""
    with tempfile.TemporaryDirectory() as folder:
        return not subprocess.run([f"clang++-{version}", "--coverage", "-xc++", "-", "-o", "prog"], cwd=folder,
                                  input=b"int main() { return 0; }", capture_output=True).returncode


LINKS = next(filter(links, CLANGS), None)


@unittest.skipUnless(LINKS, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
class Clang(Folder):
    """Files of clang are counted as clang's own tool counts them, live: each version of it that is
    installed. From 19 on, it shows sources without the `..` that the notes have."""

    SOURCES = harness.ROOT / "tests/oracle_gcov/programs"

    def texts(self, tool, options, counters):
        for path in self.folder.glob("*.gcov"):
            path.unlink()
        subprocess.run([*tool, *options, counters], cwd=self.folder, capture_output=True,
                       check=True)
        return {path.name: re.sub(r"(0:Source:).*\.\./", r"\1/usr/", path.read_text(errors="replace"))
                for path in self.folder.glob("*.gcov")}

    def built(self, version, source, option):
        for path in self.folder.iterdir():
            path.unlink()
        for path in (source, *self.SOURCES.glob("*.h")):
            shutil.copy(path, self.folder)
            os.utime(self.folder / path.name, (1, 1))
        for words in ([f"clang++-{version}", option, "-fPIE", "-c", source.name, "-o", "prog.o"],
                      [f"clang++-{LINKS}", "prog.o", "-o", "prog"]):
            subprocess.run([words[0], "--coverage", *words[1:]], cwd=self.folder, capture_output=True, check=True)
        subprocess.run(["./prog"], cwd=self.folder, stdout=subprocess.DEVNULL, check=False)

    def compare(self, version, source, option):
        self.built(version, source, option)
        compared = 0
        for options in ("-b", "-c"), ("-b",), ("-a",), ("-a", "-b", "-u"):
            theirs = self.texts([f"llvm-cov-{version}", "gcov"], options, "prog.gcda")
            ours = self.texts([harness.monarc_path(), "gcov"], options, "prog.gcda")
            self.assertEqual(ours.keys(), theirs.keys())
            for name, text in theirs.items():
                self.assertEqual(ours[name].splitlines(), text.splitlines(),
                                 f"{name} {option} {options} {version}")
            compared += len(theirs)
        return compared

    def compare_version(self, version, sources=(SOURCES / "things.cc", FILES / "src/prog.cc"), least=160):
        compared = sum(self.compare(version, source, option)
                       for source in sources for option in ("-O0", "-O2"))
        self.assertGreater(compared, least)

    @slow
    def test_text_is_that_of_llvm_cov(self):
        self.compare_version(LINKS, [FILES / "src/prog.cc"], 7)

    @slow
    def test_text_is_that_of_every_llvm_cov(self):
        for version in CLANGS:
            with self.subTest(version):
                self.compare_version(version)


class Damaged(Folder):
    """Never a crash; what was cut off is said, and the status is not 0."""

    def cut_everywhere(self, compiler, name, step):
        counters = [x for x in self.take(compiler) if "_cc" not in x][0]
        target = self.folder / (counters if name == "gcda" else counters[:-4] + "gcno")
        whole = target.read_bytes()
        for length in share(range(0, len(whole), step), 96):
            target.write_bytes(whole[:length])
            done = gcov(self.folder, "-b", "-t", counters, timeout=600)
            self.assertIn(done.returncode, range(0, 7), f"{compiler} {name} {length}")
            # notes that end between two functions are whole notes of fewer functions
            if name == "gcda" or done.returncode:
                self.assertNotEqual(done.returncode, 0, f"{compiler} {name} {length}")
                self.assertNotEqual(done.stderr, b"")

    @in_both
    def test_counters_cut(self):
        for compiler, step in (("gcc-12", 1), ("gcc-8", 7), ("clang-14", 7)):
            self.cut_everywhere(compiler, "gcda", step)

    @in_both
    def test_notes_cut(self):
        for compiler, step in (("gcc-12", 1), ("gcc-4.7", 31), ("clang-19", 31)):
            self.cut_everywhere(compiler, "gcno", step)

    @in_both
    def test_changed_bytes(self):
        counters = self.take("gcc-12")[0]
        for suffix in ("gcda", "gcno"):
            target = self.folder / (counters[:-4] + suffix)
            whole = target.read_bytes()
            for offset in share(range(4, len(whole), 23), 48):
                for value in (0, 0xff):
                    changed = bytearray(whole)
                    changed[offset] = value
                    target.write_bytes(changed)
                    done = gcov(self.folder, "-a", "-b", "-t", counters, timeout=600)
                    self.assertIn(done.returncode, range(0, 7), f"{suffix} {offset} {value}")
            target.write_bytes(whole)

    def test_whole_functions_of_a_cut_file_keep_their_counts(self):
        counters = self.take("gcc-12")[0]
        target = self.folder / counters
        target.write_bytes(target.read_bytes()[:-60])
        done = gcov(self.folder, "-t", counters)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"assuming not executed", done.stderr)
        self.assertRegex(done.stdout, rb"\n +\d+\*?: +24:int main")


class Deviations(Folder):
    """gcov-mismatch and gcov-nul of docs/compat.md; the others are in the classes around."""

    def test_other_checksum(self):
        counters = self.take("gcc-12")[0]
        target = self.folder / counters
        data = bytearray(target.read_bytes())
        at = data.index(bytes.fromhex("00000001 0c000000")) + 12  # the first function's checksum
        data[at] ^= 1
        target.write_bytes(data)
        done = gcov(self.folder, "-t", counters)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr.count(b"profile mismatch for"), 1)
        self.assertRegex(done.stdout, rb"\n +10:    9:int cond")

    def test_nul_in_source(self):
        counters = self.take("gcc-12")[0]
        source = self.folder / "prog.c"
        source.write_bytes(source.read_bytes().replace(b"int cond", b"int\0cond"))
        os.utime(source, (1, 1))
        done = gcov(self.folder, "-t", counters)
        self.assertRegex(done.stdout, rb"\n +10:    9:int\n +10:   10:int sw")


class Wrappers(Folder):
    def build(self):
        (self.folder / "h.h").write_text("static inline int twice(int x)\n{\n"
                                         "    return x > 2 ? 2 * x : x;\n}\n")
        for name, body in (("a.cc", "int b(int);\nint main(int c, char **)\n{\n    for (int i = 0; i"
                                    " < 9; i++) c += twice(i);\n    try { return b(c) == 0; }\n"
                                    "    catch (int) { return 0; }\n}\n"),
                           ("b.cc", "template <class T> T pick(T a) { if (a > 3) throw 1; return a; }"
                                    "\nint b(int c)\n{\n    return twice(c) + pick(1.5) + pick(c);\n"
                                    "}\n")):
            (self.folder / name).write_text('#include "h.h"\n' + body)
        subprocess.run(["g++", "--coverage", "-c", "a.cc", "b.cc"], cwd=self.folder, check=True)
        subprocess.run(["g++", "--coverage", "a.o", "b.o", "-o", "program"], cwd=self.folder,
                       check=True)
        subprocess.run(["./program"], cwd=self.folder, check=False)
        (self.folder / "gcov").symlink_to(harness.monarc_path())

    def need(self, tool):
        if not all(map(shutil.which, (tool, "gcov", "g++"))):
            self.skipTest(f"needs {tool}, g++ and gcov")
        self.build()

    def both(self, make):
        """What `make` leaves in `out` with gcov and with monarc."""
        results = []
        for program in (shutil.which("gcov"), str(self.folder / "gcov")):
            done = subprocess.run(make(program), cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append((self.folder / "out").read_text())
        self.assertGreater(len(results[0]), 200)
        return results

    @slow
    def test_lcov(self):
        self.need("lcov")
        theirs, ours = self.both(lambda program: [
            "lcov", "-q", "--rc", harness.lcov_branches(), "--gcov-tool", program, "-c", "-d", ".",
            "-o", "out"])
        # lcov lists files in the order of a hash
        self.assertEqual(*(sorted(x.replace("TN:\n", "").split("end_of_record\n"))
                           for x in (theirs, ours)))

    @slow
    def test_gcovr(self):
        self.need("gcovr")
        for form in ("--json", "--txt", "--sonarqube"):
            theirs, ours = self.both(lambda program, form=form: [
                "gcovr", "--gcov-executable", program, "-r", ".", form, "-o", "out"])
            self.assertEqual(theirs, ours)

    def test_what_fastcov_asks(self):
        """`gcov --json-format --stdout --branch-probabilities FILES`: a document a line."""
        self.need("gcov")
        words = ["-i", "-b", "-t", "a.gcda", "b.gcda"]
        theirs = subprocess.run(["gcov", *words], cwd=self.folder, capture_output=True, check=True)
        ours = gcov(self.folder, *words).stdout
        self.assertEqual(*([json.loads(line) for line in text.splitlines()] for text in (theirs.stdout, ours)))
        self.assertEqual(len(theirs.stdout.splitlines()), 2)


FORKS = """#include <sys/wait.h>
#include <unistd.h>
static void replace(void)
{
    execlp("true", "true", (char *)0);
    _exit(1);
}
int main(void)
{
    int status;
    if (fork() == 0)
        replace();
    if (fork() == 0)
        execlp("true", "true", (char *)0);
    wait(&status);
    for (int i = 0; i < 3; i++)
        wait(&status);
    return 0;
}
"""


def clang_builds(folder, name, *options):
    """Of an object, whose files have its name; those of a program compiled at once have another since clang 18."""
    commands = ["-c", f"{name}.c", *options], [f"{name}.o", "-o", name]
    return shutil.which("clang") and all(subprocess.run(["clang", "--coverage", *words], cwd=folder, check=False,
                                                        capture_output=True).returncode == 0 for words in commands)


class Forks(Folder):
    """clang splits blocks behind fork and exec when it has chosen its counters."""

    @slow
    def test_counts_are_those_of_entering_a_block(self):
        (self.folder / "forks.c").write_text(FORKS)
        if not clang_builds(self.folder, "forks"):
            self.skipTest("no clang with its runtime")
        subprocess.run(["./forks"], cwd=self.folder, check=True)
        counts = {}
        for line in gcov(self.folder, "-t", "forks.gcda").stdout.decode().splitlines():
            count, number, _ = line.split(":", 2)
            counts[int(number)] = count.strip()
        self.assertEqual({n: counts[n] for n in (3, 5, 6, 12, 14, 15, 17, 18)},
                         {3: "1", 5: "1", 6: "#####", 12: "1", 14: "1", 15: "1", 17: "3", 18: "1"})
        done = harness.monarc("cover", "--json", "-", cwd=self.folder)
        self.assertEqual(json.loads(done.stdout)["problems"], [], done.stderr)


class OldSummaries(Folder):
    @slow
    def test_runs_are_those_of_the_object(self):
        """clang up to 10, and gcc up to 4.6, write the object's summary before that of programs."""
        (self.folder / "one.c").write_text("int main(void)\n{\n    return 0;\n}\n")
        if not clang_builds(self.folder, "one", "-Xclang", "-coverage-version=402*"):
            self.skipTest("no clang with its runtime")
        subprocess.run(["./one"], cwd=self.folder, check=True)
        counters = self.folder / "one.gcda"
        written = counters.read_bytes()
        if written[4:8] != b"*204":
            self.skipTest("this clang writes no files of gcc 4.2")
        program = struct.pack("<I", 0xa3000000)
        at = written.index(program)
        length = struct.unpack_from("<I", written, at + 4)[0]
        summary = [struct.pack("<II", tag, length) + struct.pack(f"<{length}I", 0, 0, runs,
                                                                 *[0] * (length - 3))
                   for tag, runs in ((0xa1000000, 5), (0xa3000000, 2), (0xa3000000, 3))]
        counters.write_bytes(written[:at] + b"".join(summary) + bytes(8))
        lines = gcov(self.folder, "-t", "one.gcda").stdout.decode().splitlines()
        self.assertEqual([x.split(":", 2)[2] for x in lines[3:5]], ["Runs:5", "Programs:2"])


class CommandLine(Folder):
    def test_version_is_one_that_wrappers_understand(self):
        # Scripts take a version from the first line, or from any that has one: there is one. It is that
        # of the machine's program, which is read and not started, else the newest that is known.
        bare = {"PATH": str(self.folder)}
        for command, newest in (("gcov", "16.2.0"), ("gcov-dump", "16.2.0"), ("gcov-tool", "16.2.0"),
                                ("gprof", "2.47"), ("sprof", None)):
            number = newest or "2.36"
            for path in [bare] if newest else [{}]:
                text = harness.monarc(command, "--version", env=path).stdout.decode()
                self.assertEqual(re.findall(r"\d+(?:\.\d+)+", text), [number])
            if newest and shutil.which(command):
                own = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
                number = re.search(r" (\d+(?:\.\d+)+)", own.splitlines()[0])[1]
            text = harness.monarc(command, "--version").stdout.decode()
            self.assertEqual(re.findall(r"\d+(?:\.\d+)+", text), [number])
            self.assertTrue(text.splitlines()[0].endswith(f" {number}"))
            self.assertRegex(text.splitlines()[1], "monarc --version")
        self.assertEqual(gcov(self.folder, "--help").returncode, 0)

    def test_version_of_the_machine(self):
        """A file that has one in PATH, the first; what has none, and monarc itself, is passed over."""
        for folder in "first", "second", "third":
            (self.folder / folder).mkdir()
        (self.folder / "first/gcov").write_text("#!/bin/sh\nexec gcov-9.1.0\n")
        (self.folder / "first/gprof").symlink_to(harness.monarc_path())
        (self.folder / "second/gcov").write_bytes(b"\x7fELF 11.1.0\0\x001.2.13\0GCC: 9.9.9\0\x0013.2.0\0")
        (self.folder / "second/gprof").write_bytes(b"\0GNU gprof %s\n\0(GNU Binutils for Debian) 2.41.50\0")
        (self.folder / "third/gprof").write_bytes(b"\x7fELF\0libbfd-2.35.2-system.so\0")
        path = os.pathsep.join(str(self.folder / name) for name in ("missing", "first", "second", "third"))
        for command, folders, version in (("gcov", path, "13.2.0"), ("gprof", path, "2.41.50"),
                                          ("gprof", str(self.folder / "third"), "2.35.2"),
                                          ("gcov", str(self.folder / "first"), "16.2.0")):
            text = harness.monarc(command, "--version", env={"PATH": folders}).stdout.decode()
            self.assertEqual(text.splitlines()[0].split()[-1], version, (command, folders))

    def test_compat(self):
        """--compat VERSION decides for all files; each text is of the version that it names."""
        for words, version in ((["--compat", "12"], "12.1.0"), (["--compat=14.2"], "14.2.0"),
                               (["--compat", "9.3.1"], "9.3.1"), (["--compat=4.9"], "4.9.0")):
            text = gcov(self.folder, *words, "--version").stdout.decode()
            self.assertTrue(text.splitlines()[0].endswith(f" {version}"), text)
            # gcovr 8 asks for JSON where this line is.
            self.assertEqual("\nJSON format version: 2\n" in text, version == "14.2.0")
        for wrong in (["--compat"], ["--compat="], ["--compat", "new"], ["--compat=14."], ["--compat=1..2"],
                      ["--compat=140"]):
            for command in "gcov", "gprof":
                done = harness.monarc(command, *wrong)
                self.assertEqual((done.returncode, done.stdout), (1, b""), wrong)
                self.assertRegex(done.stderr.decode(), rf"^{command}: option '--compat' takes a version .*\n$")
        counters = self.take("gcc-12")[0]
        of = {version: gcov(self.folder, "-t", "-a", *version, counters).stdout
              for version in ((), ("--compat", "12"), ("--compat", "14"))}
        self.assertEqual(of[()], of["--compat", "12"])
        self.assertNotEqual(of[()], of["--compat", "14"])
        self.assertRegex(of["--compat", "14"], rb"-block \d\n")

    def test_wrong_usage(self):
        for words in ([], ["--no-such-option"], ["-o"]):
            done = gcov(self.folder, *words)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"Usage: gcov", done.stderr)

    def test_arguments_from_a_file(self):
        counters = self.take("gcc-12")[0]
        (self.folder / "words").write_text(f"-n -b {counters}")
        done = gcov(self.folder, "@words")
        self.assertIn(b"Branches executed:91.30% of 23", done.stdout)


if __name__ == "__main__":
    unittest.main()
