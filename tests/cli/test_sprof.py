"""monarc sprof on a file of known counts, and on one that this machine's loader leaves. glibc's own
sprof is compared where it works; on Debian 12 an assertion ends it."""

import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from parts import load_tests, slow

LIBRARY = """
__attribute__((noinline, aligned(64))) static int inner(int x)
{ volatile int s = 0; for (int i = 0; i < x; i++) s += i; return s; }
__attribute__((aligned(64))) int far(int x) { return inner(x) + 1; }
__attribute__((aligned(64))) int one(int x) { return far(x) + inner(x); }
int two(int x) { return x + 2; }
"""

MAIN = """
int one(int); int two(int);
int main(void) { for (int i = 0; i < 500; i++) one(1000);
    for (int i = 0; i < 7; i++) two(1); return 0; }
"""

# Symbols that share an address, lie within another, or follow each other without a gap; code that
# fills its page, so that the range ends where it does.
ODD = """
.macro function name, size=16, binding=globl, kind=@function
.\\binding \\name
.type \\name, \\kind
.size \\name, \\size
\\name:
.endm
.text
begin:
function weak_first, 16, weak
function strong_last
.skip 16
function strong_first
function weak_last, 16, weak
.skip 16
function _underlined
function plain
.skip 16
.p2align 5
.protected protected
function protected
function visible, 32
.skip 32
function twin_a
function twin_b
.skip 16
function data, 16, globl, @object
.skip 4096 - (. - begin)
"""

# A search for the address 24 bytes into `outer` asks `within` first.
NESTED = """
.text
.globl first, outer, within, last
.type first, @function; .size first, 32
.type outer, @function; .size outer, 32
.type within, @function; .size within, 8
.type last, @function; .size last, 16
first: .skip 32
outer: .skip 8
within: .skip 24
last: .skip 32
"""


def symbols(path):
    text = subprocess.run(["nm", "-p", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines()
            if len(line.split()) == 3}


class Sprof(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def build(self, *flags):
        (self.dir / "lib.c").write_text(LIBRARY)
        # gcc's: clang's functions are 16 bytes apart, and glibc merges calls of none.
        subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-fno-optimize-sibling-calls", *flags,
                        "lib.c", "-o", "libt.so", "-Wl,-soname,libt.so"], cwd=self.dir, check=True)
        return symbols(self.dir / "libt.so")

    def assemble(self, text):
        (self.dir / "lib.s").write_text(text)
        subprocess.run(["gcc", "-nostdlib", "-shared", "-Wl,-z,separate-code", "lib.s", "-o",
                        "libt.so", "-Wl,-soname,libt.so"], cwd=self.dir, check=True)
        return symbols(self.dir / "libt.so")

    def flat(self):
        """{name: (seconds, calls)} of the flat profile's rows, in their order."""
        done = self.sprof("-p", "libt.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = done.stdout.decode().split("name\n")[1].splitlines()
        return {row.split()[-1]: (float(row[16:25]), int(row[25:34])) for row in rows}

    def sprof(self, *arguments):
        return harness.monarc("sprof", *arguments, cwd=self.dir)

    def code_range(self):
        text = subprocess.run(["readelf", "-lW", "libt.so"], cwd=self.dir, capture_output=True,
                              text=True, check=True).stdout
        rows = [line.split() for line in text.splitlines() if "LOAD" in line and " E " in line]
        start, size = int(rows[0][2], 16), int(rows[0][5], 16)
        return start & ~0xfff, (start + size + 0xfff) & ~0xfff

    def write(self, ticks, arcs):
        """A profile as the loader writes it: bins of 4 bytes, addresses from the range's start."""
        low, high = self.code_range()
        bins = [0] * ((high - low) // 4)
        for address, count in ticks:
            bins[(address - low) // 4] = count
        data = b"gmon" + struct.pack("<I12xI", 0x1ffff, 0)
        data += struct.pack("<QQII15sc", low, high, len(bins), 100, b"seconds", b"s")
        data += struct.pack(f"<{len(bins)}H", *bins) + struct.pack("<II", 1, len(arcs))
        for caller, callee, count in arcs:
            data += struct.pack("<QQI", caller - low if caller else 0, callee - low, count)
        (self.dir / "libt.so.profile").write_bytes(data + bytes(64))

    def profile(self, *flags):
        at = self.build(*flags)
        self.write([(at["inner"], 150), (at["inner"] + 8, 40), (at["far"] + 4, 10)],
                   [(0, at["one"], 507), (at["one"] + 8, at["far"], 500)])

    def test_layout(self):
        for flags in ("-Wl,-z,noseparate-code",), ("-Wl,-z,separate-code",):
            self.profile(*flags)
            done = self.sprof("-p", "libt.so")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode(), """\
Flat profile:

Each sample counts as 0.01 seconds.
  %   cumulative   self              self     total
 time   seconds   seconds    calls  us/call  us/call  name
 95.00      1.90     1.90        0     0.00           inner
  5.00      2.00     0.10      500   200.00           far
  0.00      2.00     0.00      507     0.00           one
""")
            self.assertEqual(self.sprof("--call-pairs", "libt.so").stdout.decode(), self.pairs())
            graph = self.sprof("-q", "libt.so", "libt.so.profile").stdout.decode()
            self.assertRegex(graph, r"""
index % time    self  children    called     name

                0.00    0.00      500/500         one \[(\d+)\]
\[(\d+)\]      5.0    0.10    0.00      500         far \[\2\]
-----------------------------------------------
                0.00    0.00      507/507         <UNKNOWN>
\[\1\]      0.0    0.00    0.00      507         one \[\1\]
                0.10    0.00      500/500         far \[\2\]
-----------------------------------------------
$""")
            both = self.sprof("libt.so").stdout.decode()
            self.assertEqual(both, self.sprof("-p", "libt.so").stdout.decode() + graph)

    def pairs(self):
        return (f"{'<UNKNOWN>':34} {'one':34} {507:9}\n" + f"{'one':34} {'far':34} {500:9}\n")

    @slow
    def test_merged_calls_are_said(self):
        self.profile()
        at = symbols(self.dir / "libt.so")
        if at["two"] // 32 != at["one"] // 32:
            self.skipTest("this compiler's functions are larger than what glibc merges")
        self.assertIn(b"glibc adds such calls of 'two' to those of 'one'",
                      self.sprof("-c", "libt.so").stderr)
        note = ("calls of two from outside may be counted as those of one: glibc's recorder does "
                "not tell functions apart that begin in the same 32 bytes (1 such function)")
        for report in "flat", "graph":
            reported = harness.monarc_json(report, "libt.so", "libt.so.profile", cwd=self.dir)
            self.assertIn(note, reported["summary"]["notes"])
            text = harness.monarc(report, "libt.so", "libt.so.profile", cwd=self.dir).stdout
            self.assertIn("Note     " + note, text.decode())
        self.assertEqual(self.doctor(),
                         ["1 function begins within 32 bytes of one that was called, the first two "
                          "beside one"])
        self.build("-falign-functions=64")
        at = symbols(self.dir / "libt.so")
        self.write([], [(0, at["one"], 500), (0, at["two"], 7)])
        self.assertEqual(self.sprof("-c", "libt.so").stderr, b"")
        self.assertEqual(self.doctor(), [])
        reported = harness.monarc_json("flat", "libt.so", "libt.so.profile", cwd=self.dir)
        self.assertNotIn("notes", reported["summary"])
        self.assertIn(b"\n  0.00      0.00     0.00      500     0.00           one\n",
                      self.sprof("-p", "libt.so").stdout)

    def doctor(self):
        """The evidence of merged calls."""
        found = harness.monarc_json("doctor", "libt.so", "libt.so.profile", cwd=self.dir)
        return [f["evidence"] for f in found["findings"] if f["name"] == "merged-calls"]

    def test_one_name_for_each_address(self):
        """A default name before a protected one, a plain one before _one, a strong one before a weak
        one, else the first; a bin at the end of one symbol is the next one's."""
        at = self.assemble(ODD)
        twin = next(name for name in at if name.startswith("twin"))
        names = ["strong_last", "strong_first", "plain", "visible", twin]
        ticks = [(at[name], 100 * i) for i, name in enumerate(names, 1)]
        self.write(ticks + [(at["data"], 900)], [(0, at["visible"], 3)])
        self.assertEqual(list(self.flat().items()),
                         [(name, (i, 3 if name == "visible" else 0))
                          for i, name in reversed(list(enumerate(names, 1)))])

    def test_symbols_within_others(self):
        """The first symbol that has an address in it is the one that was there."""
        at = self.assemble(NESTED)
        self.write([(at["within"], 100), (at["outer"] + 24, 200), (at["last"], 400)],
                   [(0, at["outer"] + 24, 7), (0, at["within"], 2), (0, at["last"], 1)])
        self.assertEqual(self.flat(), {"last": (4, 1), "outer": (3, 9)})

    def test_calls_of_what_has_no_symbol(self):
        at = self.assemble(NESTED)
        self.write([], [(at["first"] + 4, at["last"] + 32, 5), (at["first"] + 4, at["last"] + 64, 6)])
        self.assertEqual(self.flat(), {})
        done = self.sprof("-q", "libt.so")
        self.assertRegex(done.stdout.decode(), r"""
\[0\]      0.0    0.00    0.00        0         first \[0\]
                0.00    0.00        6/\?\?\?         <UNKNOWN>

                0.00    0.00        5/\?\?\?         <UNKNOWN>

-----------------------------------------------
$""")

    @slow
    def test_operands(self):
        self.profile()
        usage = self.sprof("--help")
        self.assertEqual(usage.returncode, 0)
        for operands in (), ("libt.so", "libt.so.profile", "more"):
            done = self.sprof(*operands)
            self.assertEqual((done.returncode, done.stdout), (1, usage.stdout))

    @slow
    def test_refusals(self):
        self.profile()
        for arguments, says in ((["none.so"], b"none.so"), (["libt.so", "none"], b"none"),
                                (["lib.c"], b"lib.c"), (["libt.so", "lib.c"], b"lib.c")):
            done = self.sprof(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(says, done.stderr)
        data = bytearray((self.dir / "libt.so.profile").read_bytes())
        data[26] = 0x77  # another range
        (self.dir / "other").write_bytes(data)
        self.assertIn(b"is no correct profile data file", self.sprof("libt.so", "other").stderr)

    @slow
    def test_a_profile_of_this_machine(self):
        at = self.build("-Wl,-z,noseparate-code", "-falign-functions=64")
        self.assertIn("two", at)
        (self.dir / "main.c").write_text(MAIN)
        subprocess.run(["gcc", "main.c", "-L.", "-lt", "-Wl,-rpath," + str(self.dir), "-o", "main"],
                       cwd=self.dir, check=True)
        subprocess.run(["./main"], cwd=self.dir, check=True,
                       env={**os.environ, "LD_PROFILE": "libt.so",
                            "LD_PROFILE_OUTPUT": str(self.dir)})
        if not (self.dir / "libt.so.profile").exists():
            self.skipTest("the loader leaves no profile")
        done = self.sprof("-c", "libt.so")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        pairs = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
        self.assertLessEqual({("<UNKNOWN>", "one", "500"), ("<UNKNOWN>", "two", "7"),
                              ("one", "far", "500")}, pairs)
        if not shutil.which("sprof"):  # of libc-devtools
            return
        own = subprocess.run(["sprof", "-p", "-q", "-c", "./libt.so", "./libt.so.profile"],
                             cwd=self.dir, capture_output=True)
        if own.returncode:
            return
        self.assertEqual(self.sprof("-p", "-q", "-c", "libt.so").stdout, own.stdout)


if __name__ == "__main__":
    harness.main()
