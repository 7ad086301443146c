"""Names and lines inside of recordings: reports are the same to the last byte while the program is
there and after it was built anew, stripped, moved and deleted; what 'monarc symbols' finds where;
and excerpts that are damaged, lie or are missing.

Recordings are made here, of a program that is compiled here, so that what is measured does not depend
on the machine."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from harness import NM, ROOT, main, monarc, monarc_json, schema, validate
from parts import in_both, load_tests, share, slow

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/corpus"))
from make import leb, run_excerpt, signed  # noqa: E402
from run_file import CUT, DEEP, FILE, KERNEL, PERIOD, WAIT, Run  # noqa: E402

SOURCE = """
#include "mix.h"
static __attribute__((noinline)) unsigned helper(unsigned n) { unsigned s = 1; while (n--) s += mix(s + n); return s; }
__attribute__((noinline)) unsigned alpha(unsigned n)
{
    unsigned s = 1;
    for (unsigned i = 0; i < n; i++)
        s += mix(s + i)
             EXTRA;
    return s + helper(n);
}
__attribute__((noinline)) unsigned beta(unsigned n) { return alpha(n) * 3 + mix(n); }
__attribute__((noinline)) unsigned never(unsigned n) { return mix(n) / 7; }
int main(int argc, char **argv) { return (beta(argc * 1000) + (argv ? 0 : never(argc))) & 1; }
"""
HEADER = """static inline __attribute__((always_inline)) unsigned rotate(unsigned x)
{
    return x << 13 | x >> 19;
}
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
    x ^= rotate(x);
    return x * 2654435761u;
}
"""

# Every report; @ is the recording. The quick part asks for each seventh.
REPORTS = [line.split() for line in """
flat @
flat @ --json
flat @ --csv
flat @ --linkage-names --wide
flat @ --select main.c:alpha
flat @ --by-thread
flat @ --by-process
graph @
graph @ --json
graph @ --csv
graph @ --tree
graph @ --callers helper
graph @ --callees beta
lines @
lines @ --json
lines @ --csv
lines @ --inlines
lines @ --inlines --json
annotate @
annotate @ --json
annotate @ --function alpha
flame @ -o -
html @ -o -
html --inlines @ -o -
doctor @
doctor @ --json
diff @ @
diff @ @ --lines
diff @ @ --json
check --baseline @ @
export --format callgrind @
export --format cpuprofile @
export --format dot @
export --format folded @
export --format otlp @
export --format pprof @
export --format speedscope @
""".strip().splitlines()]


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name).resolve()
        (self.dir / "src").mkdir()
        (self.dir / "src/main.c").write_text(SOURCE)
        (self.dir / "src/mix.h").write_text(HEADER)
        self.program = self.dir / "prog"

    def build(self, *flags, to=None, extra=""):
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", f"-DEXTRA={extra}", *flags, "src/main.c",
                        "-o", to or self.program], cwd=self.dir, check=True)

    def read(self, *command):
        return subprocess.run(command, check=True, capture_output=True).stdout.decode()

    def build_id(self, program=None):
        return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)",
                                       self.read("readelf", "-n", program or self.program))[1])

    def recording(self, name="r", samples=(("lea", 400), (5, 300), ("imul", 90)), build_id=None):
        """Of the program as it is: half a second in alpha, the rest in helper, beta and the kernel."""
        at = {}
        for line in self.read(*NM, "-S", self.program).splitlines():
            fields = line.split()
            if len(fields) == 4:
                at[fields[3]] = int(fields[0], 16)
        # Where the loop has what was inlined into it, and where its call returns to.
        alpha = re.search(r"<alpha>:\n((?:.+\n)*)", self.read("objdump", "-d", "--no-show-raw-insn", self.program))[1]
        code = {}
        for line, behind in zip(alpha.splitlines(), alpha.splitlines()[1:]):
            address, instruction = line.split(":")
            code.setdefault(instruction.split()[0], int(address, 16) - at["alpha"])
            if instruction.split()[0] == "call":
                code.setdefault("return", int(behind.split(":")[0], 16) - at["alpha"])
        run = Run("./prog", user=900 * PERIOD, system=100 * PERIOD, stacks=1000, whole=1000)
        prog = run.object(FILE, str(self.program), build_id or self.build_id(), low=0x1000, high=0x3000)
        kernel, wait, cut = run.object(KERNEL), run.object(WAIT), run.object(CUT)
        run.process(7, 1, prog, "prog", user=900 * PERIOD, system=100 * PERIOD, status=0)
        run.thread(0, 7, "prog", 1000 * PERIOD)
        stack = [(prog, at["main"] + 9), (prog, at["beta"] + 6)]
        for offset, count in samples:
            run.sample([*stack, (prog, at["alpha"] + code.get(offset, offset))], count)
        run.sample([*stack, (prog, at["alpha"] + code["return"]), (prog, at["helper"] + 4)], 100)
        run.sample([*stack, (kernel, 0)], 60)
        run.sample([(prog, at["main"] + 9), (wait, 7)], 30)
        run.sample([(cut, DEEP), (prog, at["beta"] + 2)], 20)
        run.write(self.dir / name)
        return run

    def complete(self, *arguments, name="r", status=0, **more):
        done = monarc("symbols", *arguments, self.dir / name, cwd=self.dir, **more)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done.stdout.decode()

    def report(self, command, name="r"):
        done = monarc(*(name if word == "@" else word for word in command), cwd=self.dir)
        return done.returncode, done.stdout, done.stderr

    def reports(self, name="r"):
        return {" ".join(command): self.report(command, name) for command in share(REPORTS, 7)}

    def names(self, *arguments, name="r"):
        return {f["name"]: f["self_samples"]
                for f in monarc_json("flat", *arguments, name, cwd=self.dir)["functions"] if f["self_samples"]}


class Alone(Case):
    def assert_same(self, now, then, what):
        for command, result in now.items():
            self.assertEqual(result, then[command], f"{command}: {what}")

    @in_both
    def test_every_report_without_the_program(self):
        self.build()
        self.recording()
        outside = self.reports()  # out of the file
        self.assertIn("symbols of 1 of 1 objects added", self.complete())
        inside = self.reports()
        for command, result in outside.items():
            self.assertIn(result[0], (0, 1), f"{command}: {result[2]}")
        self.assert_same(inside, outside, "out of the recording as out of the file")
        self.assertIn(b"alpha", self.report(["flat", "@"])[1])
        self.assertIn(b"mix.h:", self.report(["lines", "@"])[1])
        self.build(extra="^ (s / 7) ^ (s % 11)")
        self.assert_same(self.reports(), inside, "built anew with other code")
        self.build()
        subprocess.run(["strip", self.program], check=True)
        self.assert_same(self.reports(), inside, "stripped")
        self.program.rename(self.dir / "moved")
        self.assert_same(self.reports(), inside, "moved")
        (self.dir / "moved").unlink()
        self.assert_same(self.reports(), inside, "deleted")

    @in_both
    def test_without_symbols(self):
        """Of a stripped program, the ranges of its unwind tables are inside."""
        self.build("-fasynchronous-unwind-tables")
        self.recording()
        subprocess.run(["strip", self.program], check=True)
        outside = self.reports()
        self.assertIn("1 still have none: prog", self.complete(status=1))
        self.assert_same(self.reports(), outside, "out of the recording as out of the file")
        self.assertRegex(self.report(["flat", "@"])[1].decode(), r"\[0x[0-9a-f]+\] \(prog\)")
        self.program.unlink()
        self.assert_same(self.reports(), outside, "deleted")

    @in_both
    def test_no_file_is_opened(self):
        """With the objects' names in the recording, nothing asks for the files."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.build()
        self.recording()
        self.complete()
        for command in share(REPORTS, 7):
            trace = self.dir / "trace"
            words = ["r" if word == "@" else word for word in command]
            subprocess.run(["strace", "-f", "-e", "trace=open,openat,execve", "-o", trace,
                            os.environ.get("MONARC", str(ROOT / "build/monarc")), *words], cwd=self.dir,
                           capture_output=True)
            self.assertNotIn(f'"{self.program}"', trace.read_text(), command)

    @slow
    def test_comparison_after_the_rebuild(self):
        self.build()
        self.recording("old")
        self.complete(name="old")
        self.build(extra="^ (s / 7)")
        self.recording("new", samples=(("lea", 700), (5, 300)))
        self.complete(name="new")
        for command in ("diff", "old", "new", "--all"), ("check", "--baseline", "old", "new"):
            done = monarc(*command, cwd=self.dir)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertNotIn(b"no symbol", done.stdout)
            self.assertIn(b"alpha", done.stdout)

    @slow
    def test_machine_code(self):
        self.build()
        self.recording()
        before = monarc("annotate", "--asm", "r", cwd=self.dir).stdout
        self.complete()
        self.assertEqual(monarc("annotate", "--asm", "r", cwd=self.dir).stdout, before)
        self.assertIn(b"imul", before)
        self.build(extra="^ (s / 7)")
        done = monarc("flat", "r", cwd=self.dir)
        self.assertNotIn(b"Note", done.stdout)
        done = monarc("annotate", "--asm", "r", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"imul", done.stdout)
        self.assertIn(b"no machine code of", done.stdout)


class Remedies(Case):
    @in_both
    def test_stripped_and_from(self):
        """A folder of debug files, and files of any name with the build-id."""
        self.build()
        (self.dir / "keep").mkdir()
        whole = self.dir / "keep/under another name"
        shutil.copy(self.program, whole)
        subprocess.run(["strip", self.program], check=True)
        stripped = Path(shutil.copy(self.program, self.dir / "stripped"))
        shutil.copy(whole, self.program)
        self.recording()
        shutil.copy(stripped, self.program)
        self.complete(status=0 if "alpha" in self.names() else 1)
        self.assertNotIn("alpha", self.names())
        doctor = monarc("doctor", "r", cwd=self.dir).stdout
        self.assertIn(b"monarc symbols", doctor)
        self.assertIn("alpha", self.names("--symbols", whole))
        self.assertIn("alpha", self.names("--symbols", self.dir / "keep"))
        self.assertNotIn("alpha", self.names())
        self.assertIn("symbols of 1 of 1 objects added", self.complete("--from", "keep"))
        self.assertEqual(self.names()["helper"], 100)
        before = self.reports()
        self.assertIn("nothing was added", self.complete("--from", "keep"))
        self.assertEqual(self.reports(), before)

    def test_a_fleet(self):
        """All recordings below a folder; a damaged one keeps none of the others without names."""
        self.build()
        (self.dir / "keep").mkdir()
        for name in ("fleet/b/2", "fleet/a", "fleet/b/1", "fleet/c"):
            (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
            self.recording(name)
        (self.dir / "fleet/c/monarc.side").write_bytes(b"no recording")
        (self.dir / "fleet/b/loop").symlink_to("..")
        self.program.rename(self.dir / "keep/prog")
        names = ("fleet/a", "fleet/b/1", "fleet/b/2")
        self.assertTrue(all("alpha" not in self.names(name=name) for name in names))
        done = monarc("symbols", "--from", "keep", "fleet", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"fleet/c", done.stderr)
        told = [line.split(b": ")[0].decode() for line in done.stdout.splitlines()]
        self.assertEqual(told, list(names))
        for name in names:
            self.assertEqual(self.names(name=name)["helper"], 100)

    @in_both
    def test_debug_file_by_build_id(self):
        self.build()
        self.recording()
        hexes = self.build_id().hex()
        folder = self.dir / "debug/.build-id" / hexes[:2]
        folder.mkdir(parents=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.program, folder / f"{hexes[2:]}.debug"],
                       check=True)
        expected = self.reports()
        self.program.unlink()
        self.complete("--from", self.dir / "debug")
        for command, result in self.reports().items():
            if "doctor" not in command:
                self.assertEqual(result, expected[command], command)

    @slow
    def test_another_build_is_never_taken(self):
        self.build()
        self.recording()
        self.build(extra="^ (s / 7)")
        done = monarc("flat", "r", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"the file is not the one that was recorded", done.stdout)
        self.assertNotIn(b"--force", done.stdout + done.stderr)
        self.assertNotIn("alpha", self.names("--force"))
        self.assertIn("nothing was added", self.complete("--from", self.dir, status=1))

    def test_refusals(self):
        self.build()
        (self.dir / "src" / "file").write_text("x")
        self.recording()
        for arguments, words in (([], b"needs a RECORDING"), (["--from", "nowhere", "r"], b"No such file"),
                                 (["src"], b"without a recording"),
                                 (["nowhere"], b"nowhere: No such file"),
                                 (["src/file"], b"src/file: is no recording"),
                                 (["--debuginfod", "r"], b"DEBUGINFOD_URLS")):
            done = monarc("symbols", *arguments, cwd=self.dir, env={"DEBUGINFOD_URLS": ""})
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), arguments)
            self.assertIn(words, done.stderr)

    def test_debuginfod(self):
        """A server on loopback; without --debuginfod nobody asks it."""
        if not shutil.which("debuginfod"):
            self.skipTest("debuginfod is not installed")
        self.build()
        (self.dir / "served").mkdir()
        self.recording()
        hexes = self.build_id().hex()
        shutil.move(self.program, self.dir / "served/prog")
        host = "127.0.0.1"
        with socket.socket() as free:
            free.bind((host, 0))
            port = free.getsockname()[1]
        log = open(self.dir / "log", "wb")
        self.addCleanup(log.close)
        server = subprocess.Popen(["debuginfod", "-vvv", "-F", "-p", str(port), "-d", self.dir / "index",
                                   self.dir / "served"], stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        url = f"http://{host}:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/buildid/{hexes}/debuginfo").read()
                break
            except (urllib.error.URLError, ConnectionError):
                self.assertIsNone(server.poll())
                time.sleep(0.1)
        else:
            self.fail("the server does not serve: " + (self.dir / "log").read_text(errors="replace")[-2000:])
        environment = {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": str(self.dir / "cache"),
                       "HOME": str(self.dir)}
        self.complete(status=1, env=environment)
        self.assertFalse((self.dir / "cache").exists())
        told = self.complete("--debuginfod", env=environment)
        if "libdebuginfod.so.1 is not installed" in told:
            self.skipTest("libdebuginfod1 is not installed")
        self.assertTrue((self.dir / "cache").exists())
        self.assertEqual(self.names()["helper"], 100)

    @in_both
    def test_merge(self):
        self.build()
        self.recording("a", samples=((0x11, 400),))
        self.recording("b", samples=((0x1d, 300),))
        monarc("merge", "-o", "plain", "a", "b", cwd=self.dir)
        expected = self.reports("plain")
        self.complete(name="a")
        self.complete(name="b")
        shutil.rmtree(self.dir / "plain")
        self.program.unlink()
        self.assertEqual(monarc("merge", "-o", "plain", "a", "b", cwd=self.dir).returncode, 0)
        self.assertEqual(self.reports("plain"), expected)
        table = monarc_json("info", "plain", cwd=self.dir)["files"][0]
        self.assertEqual(table["symbols_inside"]["objects"], 1)

    def test_info(self):
        self.build()
        self.recording()
        self.assertIn(b"symbols: none inside", monarc("info", "r", cwd=self.dir).stdout)
        self.complete()
        table = monarc_json("info", "r", cwd=self.dir)["files"][0]
        self.assertEqual(validate(table, schema("info")["$defs"]["whole_run"]), [])
        text = monarc("info", "r", cwd=self.dir).stdout.decode()
        functions, pieces, objects, size = map(int, re.search(
            r"symbols: (\d+) functions and (\d+) pieces of code with lines, of (\d+) objects, in (\d+) bytes",
            text).groups())
        self.assertEqual((functions, objects), (4, 1))
        self.assertTrue(pieces > 10 and size < 1000, text)


class Go(Case):
    """Functions of Go programs have names and lines without symbols: those of the table that their runtime reads."""

    def names(self, program, addresses, low, high):
        """{address: name} of the functions there."""
        run = Run("x")
        one = run.object(FILE, str(program), low=low, high=high)
        run.process(1, 0, one, "x")
        run.thread(0, 1, "x")
        for at in addresses:
            run.sample([(one, at)], 10)
        run.write(self.dir / "r")
        rows = monarc_json("flat", "--force", "--all", "--no-inlines", "r", cwd=self.dir)["functions"]
        return {int(row["address"], 16): row["name"] for row in rows}

    def lines(self):
        """Samples of each line in the recording of names()."""
        rows = monarc_json("lines", "--force", "--all", "r", cwd=self.dir)["lines"]
        return {(row["file"], row["line"]): row["self_samples"] for row in rows}

    def test_each_layout(self):
        seeds_of_go = sorted((ROOT / "tests/corpus/object").glob("*-go1.*"))
        self.assertEqual(len(seeds_of_go), 6)
        for seed in seeds_of_go:
            with self.subTest(seed=seed.name):
                self.assertEqual(self.names(seed, [0x401004, 0x401010, 0x40103f], 0x401000, 0x402000),
                                 {0x401000: "main.main", 0x401020: "main.(*box).BurnIt"})
                self.assertEqual(self.lines(), {("/src/m.go", 5): 10, ("/src/m.go", 6): 10, ("/src/b.go", 9): 10})

    @in_both
    def test_a_damaged_table(self):
        """Each byte of the table in turn: names are those of the table or none, and nothing ends badly."""
        whole = (ROOT / "tests/corpus/object/x86_64-go1.20").read_bytes()
        start = whole.index(b"\xf1\xff\xff\xff")
        for at in share(range(start, whole.index(b".shstrtab") - 32), 40):
            for value in 0, 0xff:
                (self.dir / "bad").write_bytes(whole[:at] + bytes([value]) + whole[at + 1:])
                self.names(self.dir / "bad", [0x401004, 0x40103f], 0x401000, 0x402000)
                self.assertIn(monarc("lines", "--force", "r", cwd=self.dir).returncode, (0, 2))

    @slow
    def test_a_program(self):
        if not shutil.which("go"):
            self.skipTest("go is not installed: package golang-go")
        (self.dir / "m.go").write_text('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(1) }\n')
        for mode in "exe", "pie":
            for name, flags in ("full", ""), ("bare", "-s -w"):
                done = subprocess.run(["go", "build", f"-buildmode={mode}", f"-ldflags={flags}", "-o", name, "m.go"], cwd=self.dir,
                                      env={**os.environ, "HOME": str(self.dir), "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"},
                                      capture_output=True)
                if done.returncode:
                    self.skipTest(f"go does not build here: {done.stderr.decode()[:200]}")
            listed = [line.split(None, 2) for line in subprocess.run([*NM, "-n", self.dir / "full"], capture_output=True, text=True,
                                                                     check=True).stdout.splitlines()]
            code = {int(at, 16): name for at, kind, name in listed if kind in "tT" and name not in ("runtime.etext", "runtime.text")}
            some = sorted(code)[::max(1, len(code) // 200)]
            found = self.names(self.dir / "bare", some, min(code), max(code) + 4096)
            self.assertGreater(len(some), 150)
            # The runtime's table has neither type arguments nor the linker's names of calling conventions.
            wanted = {at: re.sub(r"\[.*\]", "[...]", code[at]).removesuffix(".abi0") for at in some}
            self.assertEqual({at: found.get(at) for at in some}, wanted)
            # Lines are those of debug information, but where that splits a place in two for a debugger.
            within = [at + 4 for at in some]
            self.names(self.dir / "bare", within, min(code), max(code) + 4096)
            told = self.lines()
            self.names(self.dir / "full", within, min(code), max(code) + 4096)
            of_debug = self.lines()
            self.assertGreater(sum(min(told.get(k, 0), n) for k, n in of_debug.items()), 0.9 * sum(of_debug.values()))


class Damage(Case):
    """Excerpts made by hand, from docs/formats/recording.md."""

    def flat_of(self, *excerpts):
        run = Run("./p", user=100 * PERIOD)
        prog = run.object(FILE, "/nonexistent/p", b"\1" * 20, low=0x1000, high=0x3000)
        run.process(7, 1, prog, "p")
        run.thread(0, 7)
        run.sample([(prog, 0x1008)], 60)
        run.sample([(prog, 0x1014)], 40)
        run.excerpts = [(prog, data) for data in excerpts]
        run.write(self.dir / "r")
        done = monarc("flat", "r", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    PLACE = leb(0x20 << 3 | 7, 0x1000, signed(1), 3, signed(8))

    def test_drawn_bytes(self):
        text = self.flat_of(run_excerpt(self.PLACE))
        self.assertRegex(text, r"100(\.\d)? .* main +a\.c:8\n")
        self.assertNotIn("Note     no symbols", text)
        lines = monarc("lines", "r", cwd=self.dir).stdout.decode()
        self.assertRegex(lines, r"100(\.\d)? .*a\.c:8 ")

    def test_inlined(self):
        inlined = leb(0x10 << 3 | 6, signed(1), 4, signed(-6))
        self.flat_of(run_excerpt(leb(0x10 << 3 | 7, 0x1000, signed(1), 3, signed(8)), inlined))
        lines = monarc("lines", "--inlines", "r", cwd=self.dir).stdout.decode()
        self.assertRegex(lines, r"40 .*a\.h:2 ")
        self.assertIn("a.c:9", lines)

    @in_both
    def test_cut_anywhere(self):
        whole = run_excerpt(self.PLACE)
        for cut in share(range(1, len(whole)), 6):
            text = self.flat_of(whole[:cut])
            self.assertIn("[no symbol] (p)", text, cut)
            self.assertRegex(text, "damaged|does not know")

    def test_lies(self):
        for lie in (run_excerpt(leb(0, signed(1))),                              # no code in it
                    run_excerpt(leb(8 << 3 | 7, 2**64 - 1, signed(1), 3, 0)),    # beyond all addresses
                    run_excerpt(leb(8 << 3 | 7, 0, signed(9), 3, 0)),            # no such scope
                    run_excerpt(leb(8 << 3 | 7, 0, signed(1), 99, 0)),           # no such text
                    run_excerpt(functions=[leb(2**64 - 1, 5, 1, 0, 0)]),         # ends before it starts
                    run_excerpt(functions=[leb(0x1000, 5, 0, 0, 0)]),            # without a name
                    run_excerpt(self.PLACE) + b"x", leb(2) + run_excerpt(self.PLACE)[1:]):
            self.assertIn("[no symbol] (p)", self.flat_of(lie))

    def test_an_object_that_is_no_file(self):
        run = Run("./p")
        kernel = run.object(KERNEL)
        run.process(7, 1, None, "p")
        run.thread(0, 7)
        run.sample([(kernel, 0)], 10)
        run.excerpts = [(kernel, run_excerpt())]
        run.write(self.dir / "r")
        done = monarc("flat", "r", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"excerpt 0 of the recording is not possible", done.stderr)

    def test_without_build_id(self):
        """There is nothing to tell files apart by: names are those of the recording."""
        self.build("-Wl,--build-id=none")
        self.recording(build_id=b"\0")  # replaced below
        run = self.recording(build_id=b"\0")
        run.objects[0] = (*run.objects[0][:2], b"", *run.objects[0][3:])
        run.write(self.dir / "r")
        self.complete()
        expected = self.names()
        self.assertIn("alpha", expected)
        self.program.unlink()
        self.assertEqual(self.names(), expected)


if __name__ == "__main__":
    main()
