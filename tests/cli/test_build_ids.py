"""Build-ids of every length, ending in zeros or not, cut and filled as perf keeps them: the file that ran is found by
each, also elsewhere, and another one never is. The recordings are made here; the programs' own come from
`-Wl,--build-id=0x...`."""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import ROOT, main, monarc, monarc_json
from parts import in_both, load_tests, share
from run_file import FILE, Run

sys.path.append(str(ROOT / "tests/corpus"))
from make_perf_data_seeds import CHAIN, CONTEXT_USER, IP, PERIOD, TID, TIME, USER, File  # noqa: E402

BYTES = bytes(range(0x11, 0x11 + 40))
# (bytes, how many of them are zeros at the end)
KINDS = (8, 0), (8, 1), (16, 0), (16, 1), (20, 0), (20, 1), (20, 4), (20, 12), (32, 0), (32, 13), (40, 0), (0, 0)
IDS = [BYTES[:length - zeros] + bytes(zeros) for length, zeros in KINDS]
PERF, OWN = 20, 32  # what a recording keeps of one
HAS_LENGTH, IN_MAPPING = 0x8000, 0x4000
SOURCE = """
static volatile unsigned long sink;
__attribute__((noipa)) void hot(void) { for (int i = 0; i < 1000; i++) sink += i; }
int main(int count, char **names)
{ (void)names; for (int i = 0; i < (count > 1 ? 200000 : 2); i++) hot(); return 0; }
"""


def record_of_table(f, path, build_id, has_length):
    """A row of perf's table of build-ids, and the record of a pipe."""
    kept = build_id[:PERF]
    body = f.pack("I", 0xffffffff) + kept.ljust(PERF, b"\0") + bytes([len(kept) if has_length else 0, 0, 0, 0])
    return f.record(67, (HAS_LENGTH if has_length else 0) | USER, body + path + b"\0")


class BuildIds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.top = Path(scratch.name).resolve()
        (cls.top / "p.c").write_text(SOURCE)
        cls.run_in("gcc", "-O1", "-g", "-c", "p.c")

    @classmethod
    def run_in(cls, *command):
        return subprocess.run(command, cwd=cls.top, check=True, capture_output=True, text=True).stdout

    @classmethod
    @functools.cache
    def link(cls, build_id):
        name = build_id.hex() or "none"
        cls.run_in("gcc", "-no-pie", "-Wl,--build-id=" + (f"0x{build_id.hex()}" if build_id else "none"), "p.o", "-o", name)
        return cls.top / name

    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(dir=self.top))

    @classmethod
    @functools.cache
    def code(cls, program):
        """Where hot() is; offset, address and size of the segment."""
        said = cls.run_in("readelf", "-lsW", program)
        hot = re.search(r": (\w+) .* GLOBAL .* hot$", said, re.M)
        segment = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E", said)
        return tuple(int(n, 16) for n in hot.groups() + segment.groups())

    def perf_data(self, program, build_id, how, path=None):
        """A sample in hot(). The build-id is told with the mapping, in the table, or there as older perfs wrote it."""
        hot, offset, start, size = self.code(program)
        f = File("<", IP | TID | TIME | PERIOD | CHAIN)
        path = str(path or program).encode()
        mapped = f.pack("IIQQQ", 7, 7, start, (size + 4095) & -4096, offset)
        in_mapping = how == "mapping" and 0 < len(build_id) <= PERF
        mapped += bytes([len(build_id), 0, 0, 0]) + build_id.ljust(PERF, b"\0") if in_mapping else bytes(24)
        mapped += f.pack("II", 5, 2) + path + b"\0"
        records = f.name(7, b"prog", 100) + f.other(10, USER | (IN_MAPPING if in_mapping else 0), mapped, 110)
        records += f.sample(hot + 4, 200, 5, (CONTEXT_USER, hot + 4))
        table = {2: record_of_table(f, path, build_id, how != "table of old")} if how != "mapping" and build_id else {}
        data = self.dir / f"{how.replace(' ', '-')}.data"
        data.write_bytes(f.whole([f.attribute(1, 0, 1000)], [[]], records, table | {6: f.text(b"x86_64")}))
        return data

    def names(self, *operands, status=0):
        done = monarc("flat", "--all", "--json", *operands, cwd=self.dir, env={"HOME": str(self.dir)})
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return re.findall(r'"name": ?"([^"]*)"', done.stdout.decode())

    def ids_of(self, recording):
        file, = monarc_json("info", recording, cwd=self.dir)["files"]
        return [bytes.fromhex(o["build_id"]) for o in file["objects"] if (o["path"] or "").startswith("/")]

    def linked(self, one_of=4):
        return [(build_id, self.link(build_id)) for build_id in share(IDS, one_of)]

    def each(self):
        kinds = [(build_id, how) for build_id in IDS for how in ("mapping", "table", "table of old") if build_id or how == "table"]
        return [(build_id, self.link(build_id), how) for build_id, how in share(kinds, 5)]

    @in_both
    def test_the_file_that_ran(self):
        for build_id, program, how in self.each():
            data = self.perf_data(program, build_id, how)
            self.assertIn("hot", self.names(data))
            self.assertEqual(self.ids_of(data), [build_id[:OWN]])

    @in_both
    def test_another_file(self):
        """Of an id that differs in the last byte that is told, or is longer or shorter than what is told."""
        for build_id, program, how in self.each():
            if not build_id:
                continue
            kept = build_id[:PERF] if how != "mapping" else build_id
            if len(kept) > PERF:  # told by no mapping
                continue
            others = {kept[:-1] + bytes([kept[-1] ^ 1])}
            if how != "table of old" and len(kept) < PERF:
                others |= {kept + b"\0", kept + b"\1", kept[:-1]}
            for other in others:
                done = monarc("flat", self.perf_data(program, other, how), cwd=self.dir)
                self.assertNotIn(b"hot", done.stdout, other.hex())

    @in_both
    def test_moved(self):
        """Reports and `symbols` find it in a folder; both kinds of recordings become one that has symbols."""
        for build_id, program, how in self.each():
            if not build_id or (how == "mapping" and len(build_id) > PERF):
                continue
            gone = self.dir / "gone"
            data = self.perf_data(program, build_id, how, gone)
            self.assertNotIn("hot", self.names(data))
            merged = self.dir / "merged"
            done = monarc("merge", "-o", merged, data, cwd=self.dir, env={"HOME": str(self.dir)})  # no ~/.debug
            self.assertEqual(done.returncode, 0, done.stderr)
            (self.dir / "found").mkdir(exist_ok=True)
            shutil.copy(program, self.dir / "found/other-name")
            self.assertIn("hot", self.names("--symbols", self.dir / "found", merged),
                          (build_id.hex(), how, self.said))
            done = monarc("symbols", "--from", self.dir / "found", merged, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("hot", self.names(merged))
            shutil.rmtree(merged)

    @in_both
    def test_kept_by_perf(self):
        """In ~/.debug, under the length that perf knew: its own one, or filled."""
        for build_id, program, how in self.each():
            kept = build_id[:PERF]
            if len(kept) < 2 or (how == "mapping" and len(build_id) > PERF):
                continue
            for name in {kept, kept.ljust(PERF, b"\0")} if how == "table of old" and len(kept) in (8, 16) else {kept}:
                folder = self.dir / ".debug/.build-id" / name.hex()[:2] / name.hex()[2:]
                folder.mkdir(parents=True)
                shutil.copy(program, folder / "elf")
                self.assertIn("hot", self.names(self.perf_data(program, build_id, how, self.dir / "gone")), name.hex())
                shutil.rmtree(self.dir / ".debug")

    @in_both
    def test_debug_file(self):
        for build_id, program in self.linked():
            if len(build_id) < 2:
                continue
            with self.subTest(build_id=build_id.hex()):
                stripped = self.dir / "prog"
                self.run_in("objcopy", "--strip-all", program, stripped)
                folder = self.dir / "debug/.build-id" / build_id.hex()[:2]
                folder.mkdir(parents=True, exist_ok=True)
                self.run_in("objcopy", "--only-keep-debug", program, folder / f"{build_id.hex()[2:]}.debug")
                run = Run("./prog")
                prog = run.object(FILE, str(stripped), build_id[:OWN])
                run.process(7, 1, prog, "prog")
                run.thread(0, 7, "prog")
                run.sample([(prog, self.code(program)[0] + 4)])
                run.write(self.dir / "r")
                self.assertNotIn("hot", self.names("r"))
                self.assertIn("hot", self.names("--debug-dir", self.dir / "debug", "r"))

    @in_both
    def test_merged_with_others(self):
        """Recordings of one run of a program that differ in what they keep of its build-id have one object, and the
        merged one keeps what says most; the order does not matter. No store of perf's says more (HOME)."""
        for build_id, program in self.linked():
            if not build_id or len(build_id) > PERF:
                continue
            with self.subTest(build_id=build_id.hex()):
                gone = self.dir / "gone"
                files = [self.perf_data(program, build_id, how, gone) for how in ("table", "table of old", "mapping")]
                for order in files, files[::-1], [files[1], files[0], files[2]]:
                    merged = Path(tempfile.mkdtemp(dir=self.dir)) / "all"
                    done = monarc("merge", "-o", merged, *order, cwd=self.dir, env={"HOME": str(self.dir)})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.ids_of(merged), [build_id])

    @in_both
    def test_merged_without_ids(self):
        """Two builds of one path are two, one that was built again is one: `first` lies where `second` does in the other."""
        program = self.dir / "prog"

        def record(name, *options):
            (self.dir / "t.c").write_text("""
static volatile unsigned long sink;
#ifdef PAD
__attribute__((noipa)) void second(void) { for (int i = 0; i < 100000000; i++) sink += i; }
#endif
__attribute__((noipa)) void first(void) { for (int i = 0; i < 100000000; i++) sink += i; }
int main(void) { first();
#ifdef PAD
second();
#endif
return 0; }
""")
            self.run_in("gcc", "-O1", "-g", "-Wl,--build-id=none", *options, self.dir / "t.c", "-o", program)
            done = monarc("run", "--no-report", "-o", name, program, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)

        def times(*operands):
            found = {}
            for f in monarc_json("flat", "--all", *operands, cwd=self.dir)["functions"]:
                if f["name"] in ("first", "second"):
                    found[f["name"]] = found.get(f["name"], 0) + f["self_time"]
            return found

        record("1.monarc")
        os.utime(program, (1, 1))
        record("again.monarc")
        record("2.monarc", "-DPAD")
        one, two = times("1.monarc"), times("2.monarc")
        monarc("merge", "-o", "sum.monarc", "1.monarc", "2.monarc", cwd=self.dir)
        for both in times("1.monarc", "2.monarc"), times("sum.monarc"):
            self.assertAlmostEqual(both["first"], one["first"] + two["first"], delta=0.001)
            self.assertAlmostEqual(both["second"], two["second"], delta=0.001)
        monarc("merge", "-o", "same.monarc", "1.monarc", "again.monarc", cwd=self.dir)
        self.assertEqual(len(self.programs("same.monarc", program)), 1)
        self.assertEqual(len(self.programs("sum.monarc", program)), 2)

    def programs(self, recording, path):
        file, = monarc_json("info", recording, cwd=self.dir)["files"]
        return [o for o in file["objects"] if o["path"] == str(path)]

    def test_exports(self):
        """pprof has the file's own id in hex."""
        for build_id, program, how in self.each():
            done = monarc("export", "--format", "pprof", "-o", "out", self.perf_data(program, build_id, how), cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            unpacked = subprocess.run(["gzip", "-dc"], stdin=open(self.dir / "out", "rb"), capture_output=True, check=True)
            if build_id:
                self.assertIn(build_id[:OWN].hex().encode(), unpacked.stdout)

    @in_both
    def test_recorded(self):
        """The kernel tells build-ids of up to 20 bytes, and of longer ones the inode."""
        for build_id, program in self.linked(12):
            with self.subTest(build_id=build_id.hex()):
                done = monarc("run", "--no-report", "-o", "r", program, "long", cwd=self.dir)
                if b"not recorded" in done.stderr:
                    self.skipTest("recording is not permitted")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(build_id[:OWN], self.ids_of("r"))
                self.assertIn("hot", self.names("r"))

    @in_both
    def test_perf_record(self):
        for build_id, program in self.linked(12):
            if len(build_id) % 4:
                continue  # longer for nothing new
            with self.subTest(build_id=build_id.hex()):
                done = subprocess.run(["perf", "record", "-q", "-o", self.dir / "data", program, "long"],
                                      capture_output=True, env={**os.environ, "HOME": str(self.dir)}) \
                    if shutil.which("perf") else None
                if not done or done.returncode:
                    self.skipTest("perf (package linux-perf) does not record here")
                self.assertIn("hot", self.names("data"))
                os.unlink(self.dir / "data")


if __name__ == "__main__":
    main()
