"""What the founding documents say, sentence by sentence: glibc's gmon_out.h, the description of gprof's data
files, and the proposal of 2002. Files are written here from those texts, byte by byte, and read by monarc.
tests/letter.md has a row for each sentence; a check requires that its test is there."""

import json
import struct
import tempfile
import unittest
from pathlib import Path

from harness import DEMO, gmon, main, monarc, monarc_json

Q, U = struct.Struct("<Q"), struct.Struct("<I")


def word(*values):
    return b"".join(map(U.pack, values))


def string(text):
    """A length without the NUL, the characters, NULs up to a multiple of four."""
    data = text.encode() + b"\0"
    return word(len(text)) + data + b"\0" * (-len(data) % 4)


def record(tag, *items):
    data = b"".join(items)
    return word(tag, len(data)) + data


FUNCTION, BLOCKS, ARCS, LINES, ARC_COUNTS, OBJECT_SUMMARY, PROGRAM_SUMMARY = range(1, 8)
CHECKSUM = 0x12345678


def bbg(*extra, lines=None, name="f", version=b"304e"):
    """A function of three blocks, 0 to 1 to 2: the first arc is counted, the second on the tree."""
    return (b"gbbg" + version + record(FUNCTION, string(name), word(CHECKSUM)) + record(BLOCKS, word(0, 0, 0)) +
            record(ARCS, word(1, 0)) + record(ARCS, word(2, 1)) + record(ARCS) +
            (lines or record(LINES) + record(LINES, word(0), string("a.c"), word(7)) + record(LINES)) +
            b"".join(extra))


def group(count, name="f", checksum=CHECKSUM):
    sums = word(1) + Q.pack(count) + Q.pack(count)
    return (record(FUNCTION, string(name), word(checksum)) + record(ARC_COUNTS, Q.pack(count)) +
            record(OBJECT_SUMMARY, sums) + record(PROGRAM_SUMMARY, sums))


def da(*groups, version=b"304e"):
    return b"gcov" + version + b"".join(groups)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name).resolve()
        (self.dir / "a.c").write_text("\n" * 6 + "int f(void) { return 0; }\n" + "\n" * 5)

    def info(self, data):
        (self.dir / "file").write_bytes(data)
        done = monarc("info", "--json", "file", cwd=self.dir)
        return json.loads(done.stdout)["files"][0]

    def counts(self, notes, counters):
        """Counts of lines by source, by the two files of the proposal."""
        (self.dir / "x.bbg").write_bytes(notes)
        (self.dir / "x.da").write_bytes(counters)
        done = monarc("cover", "--json", "out.json", "-q", "x.bbg", "x.da", cwd=self.dir)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads((self.dir / "out.json").read_text())
        return {s["path"]: {l["line"]: l["count"] for l in s["lines"]} for s in report["sources"]}


class Gmon(Case):
    """glibc's <sys/gmon_out.h> and "Profiling Data File Format" of gprof's manual."""

    HIST = 0x401000, 0x401010, [1, 2, 3, 65535]

    def test_header(self):
        data = gmon([self.HIST])
        self.assertEqual((data[:4], data[4:8], len(data[:20])), (b"gmon", word(1), 20))
        found = self.info(data)
        self.assertEqual((found["format"], found["title"]), ("gmon", "GNU gmon.out, version 1"))
        spare = self.info(data[:8] + bytes(range(12)) + data[20:])
        self.assertEqual(spare["histograms"], found["histograms"])

    def test_other_versions_are_refused(self):
        done = monarc("info", "-", input=b"gmon" + word(7) + bytes(12))
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_records_of_any_number_and_order(self):
        arcs, hist = gmon([], [(0x401004, 0x401008, 5)])[20:], gmon([self.HIST])[20:]
        head = gmon()
        for body in arcs + hist + arcs, hist + arcs + arcs, arcs + arcs + hist:
            found = self.info(head + body)
            self.assertEqual((found["arcs"]["calls"], found["histograms"][0]["samples"]), (10, 65541))
        self.assertEqual(self.info(head)["histograms"], [])

    def test_unknown_tag_is_an_error(self):
        done = monarc("info", "-", input=gmon() + b"\x07")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_histogram(self):
        found = self.info(gmon([(*self.HIST, 250, b"fifteen letters")]))["histograms"][0]
        self.assertEqual((int(found["low"], 16), int(found["high"], 16), found["bins"], found["rate"]),
                         (0x401000, 0x401010, 4, 250))
        self.assertEqual((found["dimension"], found["abbreviation"]), ("fifteen letters", "f"))
        self.assertEqual((found["samples"], found["peak_samples"], found["counter_bits"]), (65541, 65535, 16))

    def test_histograms_of_one_range_are_summed(self):
        found = self.info(gmon([self.HIST, self.HIST]))
        (self.dir / "gmon.out").write_bytes(gmon([self.HIST, self.HIST]))
        monarc("merge", "-o", "sum", "gmon.out", cwd=self.dir)
        for shown in found, self.info((self.dir / "sum").read_bytes()):
            self.assertEqual(sum(h["samples"] for h in shown["histograms"]), 2 * 65541)

    def test_arc(self):
        at = {f["name"]: int(f["address"], 16) for f in monarc_json("flat", "--all", DEMO, "demo.gmon")["functions"]}
        (self.dir / "g").write_bytes(gmon([(at["main"], at["main"] + 2, [1])],
                                          [(at["main"] + 9, at["fact"] + 1, 2**32 - 1)]))
        entries = monarc_json("graph", DEMO, self.dir / "g")["entries"]
        entry = next(e for e in entries if e["name"] == "fact")
        self.assertEqual([(c["name"], c["calls"]) for c in entry["callers"]], [("main", 2**32 - 1)])

    def test_blocks(self):
        data = gmon() + b"\x02" + word(2) + struct.pack("<4Q", 0x401000, 7, 0x401008, 9)
        self.assertEqual(self.info(data)["blocks"]["executions"], 16)

    def test_native_formats(self):
        """Both byte orders and pointer sizes, told by the file alone."""
        for order in "<>":
            for size in 4, 8:
                found = self.info(gmon([self.HIST], [(0x401004, 0x401008, 5)], size, order))
                self.assertEqual((found["byte_order"], found["word_bits"]),
                                 ({"<": "little", ">": "big"}[order], size * 8))
                self.assertEqual((found["arcs"]["calls"], found["histograms"][0]["samples"]), (5, 65541))


class Proposal(Case):
    """The proposal of September 2002 for bbg and da files."""

    def test_pair(self):
        self.assertEqual(self.counts(bbg(), da(group(5))), {"a.c": {7: 5}})

    def test_magics_and_version(self):
        notes, counters = self.info(bbg()), self.info(da(group(5)))
        self.assertEqual((notes["format"], counters["format"]), ("bbg", "da"))
        self.assertEqual((bbg()[:8], da()[:8]), (b"\x67\x62\x62\x67\x33\x30\x34\x65", b"\x67\x63\x6f\x76\x33\x30\x34\x65"))
        self.assertEqual((notes["version"], counters["version_number"], U.unpack(b"304e")[0]), ("304e", 304, 0x65343033))

    def test_other_version_is_detected(self):
        (self.dir / "x.bbg").write_bytes(bbg())
        (self.dir / "x.da").write_bytes(da(group(5), version=b"305e"))
        done = monarc("cover", "-q", "--lcov", "-", "x.bbg", "x.da", cwd=self.dir)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode() + done.stderr.decode(), "304e.*305e|305e.*304e")

    def test_little_endian_always(self):
        swapped = b"".join(da(group(5))[i:i + 4][::-1] for i in range(0, len(da(group(5))), 4))
        done = monarc("info", "-", input=swapped)
        self.assertEqual(done.returncode, 2)

    def test_strings(self):
        """Of every length: characters, a NUL, and NULs up to a multiple of four."""
        for name in "", "f", "ab", "abc", "abcd", "a" * 100:
            self.assertEqual(len(string(name)) % 4, 0)
            self.assertEqual(self.info(bbg(name=name))["error"], None)
        for name in "f", "abcd", "abcde":
            (self.dir / "x.bbg").write_bytes(bbg(name=name))
            (self.dir / "x.da").write_bytes(da(group(3, name)))
            text = monarc("cover", "-q", "--lcov", "-", "x.bbg", "x.da", cwd=self.dir).stdout.decode()
            self.assertIn(f"FNDA:3,{name}\n", text)

    def test_padding_is_nul(self):
        self.assertNotEqual(self.info(bbg().replace(b"f\0\0\0", b"f\0x\0"))["damaged"], [])

    def test_unknown_records_are_skipped(self):
        unknown = record(0x7777, word(1, 2, 3))
        self.assertEqual(self.counts(bbg(unknown), da(unknown, group(5), unknown)), {"a.c": {7: 5}})
        self.assertEqual(self.info(da(unknown, group(5)))["unknown_records"], 1)

    def test_functions_agree(self):
        """Name and checksum stand in both files, and must be the same."""
        (self.dir / "x.bbg").write_bytes(bbg())
        for other in group(5, "g"), group(5, "f", 1):
            (self.dir / "x.da").write_bytes(da(other))
            done = monarc("cover", "-q", "--lcov", "-", "x.bbg", "x.da", cwd=self.dir)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn(b"DA:7,5", done.stdout)

    def test_blocks_are_as_many_as_flags(self):
        self.assertEqual(self.info(bbg())["blocks"], 3)

    def test_arcs(self):
        found = self.info(bbg())
        self.assertEqual((found["arcs"], found["instrumented_arcs"]), (2, 1))
        fake = self.info(bbg().replace(record(ARCS, word(2, 1)), record(ARCS, word(2, 1, 2, 3))))
        self.assertEqual((fake["arcs"], fake["instrumented_arcs"], fake["damaged"]), (3, 1, []))

    def test_file_is_remembered(self):
        """From block to block; a 0 and a name set it."""
        lines = record(LINES, word(0), string("a.c"), word(7)) + record(LINES, word(8)) + record(LINES, word(9))
        self.assertEqual(self.counts(bbg(lines=lines), da(group(5))), {"a.c": {7: 5, 8: 5, 9: 5}})

    def test_file_is_none_at_first(self):
        lines = record(LINES, word(7)) + record(LINES) + record(LINES)
        (self.dir / "x").write_bytes(bbg(lines=lines))
        done = monarc("convert", "--to", "gcno", "-o", "y", "x", cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"lines of no source file", done.stderr)

    def test_summaries(self):
        found = self.info(da(group(5)))
        self.assertEqual(found["summaries"], [{"counters": 1, "sum": 5, "largest": 5}] * 2)
        self.assertEqual(found["counters"][0]["sum"], 5)

    def test_several_runs(self):
        """Concatenated with and without their heads, or merged."""
        for counters in da(group(5), group(6)), da(group(5)) + da(group(6)), da(group(11)):
            self.assertEqual(self.counts(bbg(), counters), {"a.c": {7: 11}})
        (self.dir / "x.da").write_bytes(da(group(5), group(6)))
        self.assertEqual(monarc("merge", "-o", "sum", "x.da", cwd=self.dir).returncode, 0)
        merged = (self.dir / "sum").read_bytes()
        self.assertEqual(self.info(merged)["groups"], 1)
        self.assertEqual(self.info(merged)["counters"][0]["sum"], 11)


if __name__ == "__main__":
    main()
