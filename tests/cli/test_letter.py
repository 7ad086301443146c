"""What the founding documents say, sentence by sentence: glibc's gmon_out.h, the description of gprof's data
files, and the proposal of 2002. Files are written here from those texts, byte by byte, and read by monarc.
tests/letter.md has a row for each sentence; a check requires that its test is there."""

import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import DEMO, gmon, main, monarc, monarc_json, monarc_path
from parts import in_both, load_tests, share

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

    def test_a_sum_may_be_one_of_its_files(self):
        for name in "gmon.sum", "gmon.out":
            (self.dir / name).write_bytes(gmon([(0x401000, 0x401010, [1, 2, 3, 4])], [(0x401004, 0x401008, 5)]))
        for times in 2, 3:
            done = monarc("gprof", "-s", DEMO, "gmon.sum", "gmon.out", cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = self.info((self.dir / "gmon.sum").read_bytes())
            self.assertEqual((found["arcs"]["calls"], found["histograms"][0]["samples"]), (5 * times, 10 * times))

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

    def test_header_comes_first(self):
        data = gmon([self.HIST], [(0x401004, 0x401008, 5)])
        for odd in data[20:] + data[:20], b"\0" * 4 + data, data[:19]:
            done = monarc("info", "-", input=odd)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    def test_any_other_file_is_told_apart(self):
        for other in b"#!/bin/sh\nexit 0\n", b"\x7fELF" + bytes(60), b"gmom" + gmon([self.HIST])[4:], bytes(100):
            done = monarc("info", "-", input=other)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))

    @in_both
    def test_an_end_within_a_record_is_an_error(self):
        data = gmon([self.HIST], [(0x401004, 0x401008, 5)])
        ends = {20, 20 + 41 + 8, len(data)}
        for length in share(range(20, len(data) + 1), 6):
            found = self.info(data[:length])
            self.assertEqual(found["error"] is None and not found.get("trailing_bytes"), length in ends, length)

    def test_bins_are_equal_parts(self):
        """A thousand bytes and ten bins: a hundred bytes each."""
        found = self.info(gmon([(0x401000, 0x401000 + 1000, list(range(10)))]))["histograms"][0]
        self.assertEqual((found["bins"], found["bytes_per_bin"], found["peak_address"]),
                         (10, 100, hex(0x401000 + 900)))

    def flat(self, data):
        (self.dir / "g").write_bytes(data)
        return monarc_json("flat", DEMO, self.dir / "g")

    def demo(self):
        return {f["name"]: int(f["address"], 16) for f in monarc_json("flat", "--all", DEMO, "demo.gmon")["functions"]}

    def test_bins_scaled_by_the_rate_are_the_dimension(self):
        """500 samples of a clock of 250 a second are two seconds; at a rate of 1, a count is itself."""
        main_at = self.demo()["main"]
        seconds = self.flat(gmon([(main_at, main_at + 2, [500], 250)]))["functions"][0]
        self.assertEqual((seconds["name"], seconds["self_samples"], seconds["self_time"]), ("main", 500, 2))
        (self.dir / "g").write_bytes(gmon([(main_at, main_at + 2, [500], 1, b"i-cache misses")]))
        text = monarc("flat", "-v", DEMO, self.dir / "g").stdout.decode()
        self.assertRegex(text, r"^500 i-cache misses: 100 % in main\n")
        self.assertRegex(text, r"(?m)^Samples +500 of .*i-cache misses")
        self.assertRegex(text, r"(?m)^ *100\.00 .* 500\.0 .*main$")

    def test_arcs_of_one_pair_are_summed(self):
        at = self.demo()
        arcs = [(at["main"] + offset, at["fact"], count) for offset, count in ((9, 3), (9, 4), (12, 5))]
        (self.dir / "g").write_bytes(gmon([(at["main"], at["main"] + 2, [1])], arcs))
        entry = next(e for e in monarc_json("graph", DEMO, self.dir / "g")["entries"] if e["name"] == "fact")
        self.assertEqual([(c["name"], c["calls"]) for c in entry["callers"]], [("main", 12)])

    def test_addresses_may_be_anywhere_within_the_functions(self):
        at = self.demo()
        for back, on in (1, 0), (2, 1), (3, 2):
            (self.dir / "g").write_bytes(gmon([(at["main"], at["main"] + 2, [1])],
                                              [(at["main"] + back, at["fact"] + on, 5)]))
            entry = next(e for e in monarc_json("graph", DEMO, self.dir / "g")["entries"] if e["name"] == "fact")
            self.assertEqual([(c["name"], c["calls"]) for c in entry["callers"]], [("main", 5)])

    def test_blocks_are_summed(self):
        """The union of records of blocks is the sum of the counts of each."""
        one = b"\x02" + word(2) + struct.pack("<4Q", 0x401000, 7, 0x401008, 9)
        two = b"\x02" + word(1) + struct.pack("<2Q", 0x401008, 5)
        (self.dir / "g").write_bytes(gmon() + one + two)
        self.assertEqual(monarc("merge", "-o", "sum", "g", "g", cwd=self.dir).returncode, 0)
        found = self.info((self.dir / "sum").read_bytes())["blocks"]
        self.assertEqual((found["number"], found["executions"], found["largest_count"]), (2, 42, 28))

    def test_a_list_of_blocks_may_be_empty(self):
        found = self.info(gmon() + b"\x02" + word(0))
        self.assertEqual((found["error"], found["blocks"]["number"]), (None, 0))

    def test_a_sum_has_the_records_of_gnu_gprof(self):
        """A list of blocks stays one, though it names none of the program; a rate of 0 is 100 a second."""
        if not shutil.which("gprof"):
            self.skipTest("no GNU gprof")
        for blocks in b"\x02" + word(0), b"\x02" + word(1) + struct.pack("<2Q", 1, 7):
            (self.dir / "g").write_bytes(gmon([self.HIST]) + blocks)
            sums = []
            for command in ["gprof"], [monarc_path(), "gprof"]:
                subprocess.run([*command, "-s", DEMO, "g"], cwd=self.dir, check=True)
                sums.append((self.dir / "gmon.sum").read_bytes()[20:])
            self.assertEqual(*sums)
        (self.dir / "old").write_bytes(struct.pack("<QQiiii12x", 0x401000, 0x401010, 40 + 8, 0x51879, 0, 16) +
                                       struct.pack("<4H", 1, 2, 3, 4))
        self.assertEqual(monarc_json("info", self.dir / "old")["files"][0]["histograms"][0]["rate"], 100)

    def test_records_that_do_not_fit_are_no_union(self):
        """Histograms that overlap otherwise than wholly: of one kind of record, but not compatible."""
        odd = gmon([(0x401000, 0x401010, [1] * 4), (0x401008, 0x401018, [1] * 4)])
        (self.dir / "odd").write_bytes(odd)
        done = monarc("merge", "-o", "sum", "odd", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)
        self.assertFalse((self.dir / "sum").exists())

    def old(self, low, high, bins, arcs, size=8):
        """As BSD wrote it: the number of bytes includes the header."""
        p = "<Q" if size == 8 else "<I"
        head = struct.pack(p, low) + struct.pack(p, high)
        return (head + word(len(head) + 4 + 2 * len(bins)) + struct.pack(f"<{len(bins)}H", *bins) +
                b"".join(struct.pack(p, n) for arc in arcs for n in arc))

    def test_the_old_format_is_read(self):
        """Neither magic nor version; the size of the histogram includes the header; arcs follow."""
        for size in 4, 8:
            found = self.info(self.old(0x401000, 0x401010, [1, 2, 3, 4], [(0x401004, 0x401008, 5)], size))
            self.assertEqual((found["format"], found["word_bits"]), ("bsd", 8 * size))
            self.assertEqual((found["histograms"][0]["bins"], found["histograms"][0]["samples"]), (4, 10))
            self.assertEqual(found["arcs"]["calls"], 5)

    def test_the_old_format_has_no_blocks(self):
        (self.dir / "g").write_bytes(gmon([self.HIST]) + b"\x02" + word(1) + struct.pack("<2Q", 0x401008, 5))
        done = monarc("convert", "--to", "bsd", "-o", "b", "g", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1))
        self.assertIn(b"block", done.stderr)
        self.assertFalse((self.dir / "b").exists())

    def test_arcs_are_those_of_the_old_format(self):
        """With pointers of four bytes, the same bytes."""
        (self.dir / "g").write_bytes(gmon([self.HIST], [(0x401004, 0x401008, 5), (0x401005, 0x401009, 6)], 4))
        self.assertEqual(monarc("convert", "--to", "bsd", "-o", "b", "g", cwd=self.dir).returncode, 0)
        payloads = struct.pack("<6I", 0x401004, 0x401008, 5, 0x401005, 0x401009, 6)
        self.assertEqual((self.dir / "b").read_bytes()[-24:], payloads)
        self.assertTrue((self.dir / "g").read_bytes().endswith(b"\1" + payloads[:12] + b"\1" + payloads[12:]))

    def test_sums_are_profiles(self):
        """What -s leaves in gmon.sum is one more profile to add to."""
        main_at = self.demo()["main"]
        (self.dir / "a").write_bytes(gmon([(main_at, main_at + 4, [3, 4])], [(main_at + 1, main_at, 5)]))
        for inputs, times in ((["a", "a"], 2), (["gmon.sum", "a"], 3)):
            done = monarc("gprof", "-s", DEMO, *inputs, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = self.info((self.dir / "gmon.sum").read_bytes())
            self.assertEqual((found["histograms"][0]["samples"], found["arcs"]["calls"]), (7 * times, 5 * times))

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

    def test_lengths_do_not_count_tag_and_length(self):
        self.assertEqual(len(record(ARCS, word(1, 0))), 8 + 8)
        short = bbg().replace(record(ARCS, word(1, 0)), word(ARCS, 16) + word(1, 0))
        self.assertNotEqual(self.info(short)["damaged"] or self.info(short)["error"], [])

    def test_arcs_lead_to_blocks(self):
        self.assertNotEqual(self.info(bbg().replace(record(ARCS, word(2, 1)), record(ARCS, word(3, 1))))["damaged"], [])

    def test_lines_change_the_file_and_back(self):
        (self.dir / "b.h").write_text("\n" * 9)
        lines = record(LINES) + record(LINES, word(0), string("a.c"), word(7), word(0), string("b.h"), word(3),
                                       word(0), string("a.c"), word(8)) + record(LINES)
        self.assertEqual(self.counts(bbg(lines=lines), da(group(5))), {"a.c": {7: 5, 8: 5}, "b.h": {3: 5}})

    def test_large_counts(self):
        """64 bits, of which a signed number is read elsewhere."""
        self.assertEqual(self.counts(bbg(), da(group(2**63 - 1))), {"a.c": {7: 2**63 - 1}})
        self.assertEqual(self.counts(bbg(), da(group(2**32 + 3))), {"a.c": {7: 2**32 + 3}})

    def test_a_function_that_never_ran(self):
        self.assertEqual(self.counts(bbg(), da(group(0))), {"a.c": {7: 0}})

    @in_both
    def test_cut_files_are_errors(self):
        for whole in bbg(), da(group(5)):
            for length in share(range(9, len(whole)), 16):
                found = self.info(whole[:length])
                self.assertTrue(found["error"] or found["damaged"] or length in self.ends(whole), length)

    @staticmethod
    def ends(data):
        at, ends = 8, set()
        while at < len(data):
            at += 8 + U.unpack_from(data, at + 4)[0]
            ends.add(at)
        return ends

    def test_suffixes(self):
        """.bbg and .da: a folder is looked through for them."""
        (self.dir / "x.bbg").write_bytes(bbg())
        (self.dir / "x.da").write_bytes(da(group(5)))
        done = monarc("cover", "-q", "--lcov", "-", ".", cwd=self.dir)
        self.assertEqual((done.returncode, b"DA:7,5\n" in done.stdout), (0, True))

    def test_several_functions(self):
        """Each with its records behind it, in the same order in both files or in another."""
        notes = bbg() + bbg(name="g", lines=record(LINES) + record(LINES, word(0), string("a.c"), word(9)) +
                            record(LINES))[8:]
        f = record(FUNCTION, string("f"), word(CHECKSUM)) + record(ARC_COUNTS, Q.pack(5))
        g = record(FUNCTION, string("g"), word(CHECKSUM)) + record(ARC_COUNTS, Q.pack(6))
        sums = word(2) + Q.pack(11) + Q.pack(6)
        tail = record(OBJECT_SUMMARY, sums) + record(PROGRAM_SUMMARY, sums)
        for body in f + g, g + f:
            self.assertEqual(self.counts(notes, da(body + tail)), {"a.c": {7: 5, 9: 6}})

    def test_several_runs(self):
        """Concatenated with and without their heads, or merged."""
        for counters in da(group(5), group(6)), da(group(5)) + da(group(6)), da(group(11)):
            self.assertEqual(self.counts(bbg(), counters), {"a.c": {7: 11}})
        (self.dir / "x.da").write_bytes(da(group(5), group(6)))
        self.assertEqual(monarc("merge", "-o", "sum", "x.da", cwd=self.dir).returncode, 0)
        merged = (self.dir / "sum").read_bytes()
        self.assertEqual(self.info(merged)["groups"], 1)
        self.assertEqual(self.info(merged)["counters"][0]["sum"], 11)


@unittest.skipUnless(shutil.which("gcc") and shutil.which("g++"), "gcc makes the files that are converted")
class Written(Case):
    """bbg and da as monarc writes them, read here by the text of the proposal alone; records of tags that
    it does not have are passed over."""

    SOURCE = ("int one(int x)\n{\n    if (x > 2)\n        return 1;\n    return x;\n}\n"
              "int main(void)\n{\n    int s = 0;\n    for (int i = 0; i < 7; i++)\n        s += one(i);\n"
              "    return s == 99;\n}\n")
    counted = {}  # notes and counters, by name

    def setUp(self):
        super().setUp()
        (self.dir / "p.cc").write_text(self.SOURCE)
        if not self.counted:
            for words in ["g++", "--coverage", "-O0", "-o", "p", "p.cc"], ["./p"]:
                subprocess.run(words, cwd=self.dir, check=True)
            self.counted.update({path.name: path.read_bytes() for path in self.dir.glob("*.gc??")})
        for name, data in self.counted.items():
            (self.dir / name).write_bytes(data)
        stem = next(self.dir.glob("*.gcno")).stem
        for kind, out in ("bbg", f"{stem}.gcno"), ("da", f"{stem}.gcda"):
            done = monarc("convert", "--to", kind, "-o", f"w.{kind}", "--notes", f"{stem}.gcno", out, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.notes, self.counters = ((self.dir / f"w.{kind}").read_bytes() for kind in ("bbg", "da"))

    @staticmethod
    def records(data):
        at, found = 8, []
        while at < len(data):
            tag, length = struct.unpack_from("<II", data, at)
            assert at + 8 + length <= len(data)
            if FUNCTION <= tag <= PROGRAM_SUMMARY:
                found.append((tag, data[at + 8:at + 8 + length]))
            at += 8 + length
        return found

    @staticmethod
    def head(data):
        """Name and checksum of a FUNCTION record."""
        length = U.unpack_from(data)[0]
        padded = 4 + (length + 4 & ~3)
        assert len(data) == padded + 4 and not data[4 + length:padded].strip(b"\0")
        return data[4:4 + length].decode(), U.unpack_from(data, padded)[0]

    def test_order_of_notes(self):
        """FUNCTION, BLOCKS, then ARCS for each block, then LINES for each block, and the next function."""
        self.assertEqual(self.notes[:4], b"gbbg")
        tags, found = [tag for tag, _ in self.records(self.notes)], self.records(self.notes)
        expected = []
        for tag, data in found:
            if tag == BLOCKS:
                blocks = len(data) // 4
                expected += [FUNCTION, BLOCKS] + [ARCS] * blocks + [LINES] * blocks
        self.assertEqual(tags, expected)
        self.assertEqual(tags.count(FUNCTION), 2)

    def test_block_flags_are_none(self):
        for tag, data in self.records(self.notes):
            if tag == BLOCKS:
                self.assertEqual(data, bytes(len(data)))

    def test_arcs_and_flags(self):
        """Each is two numbers: a block of the function, and flags of which two are defined."""
        blocks = 0
        for tag, data in self.records(self.notes):
            blocks = len(data) // 4 if tag == BLOCKS else blocks if tag != FUNCTION else 0
            if tag == ARCS:
                self.assertEqual(len(data) % 8, 0)
                for to, flags in struct.iter_unpack("<II", data):
                    self.assertLess(to, blocks)
                    self.assertEqual(flags & ~31, 0)  # 4, 8 and 16 are what gcc added

    def test_names_are_mangled(self):
        names = [self.head(data)[0] for tag, data in self.records(self.notes) if tag == FUNCTION]
        self.assertEqual(sorted(names), ["_Z3onei", "main"])

    def test_functions_of_both_files(self):
        heads = [[self.head(data) for tag, data in self.records(file) if tag == FUNCTION]
                 for file in (self.notes, self.counters)]
        self.assertEqual(heads[0], heads[1])

    def test_order_of_counters(self):
        """FUNCTION and ARC_COUNTS for each, then the summaries of object and program."""
        self.assertEqual(self.counters[:4], b"gcov")
        self.assertEqual([tag for tag, _ in self.records(self.counters)],
                         [FUNCTION, ARC_COUNTS] * 2 + [OBJECT_SUMMARY, PROGRAM_SUMMARY])

    def test_a_count_for_each_arc_off_the_tree(self):
        wanted, counted = [], []
        for tag, data in self.records(self.notes):
            wanted += [0] if tag == FUNCTION else []
            if tag == ARCS:
                wanted[-1] += sum(not flags & 1 for _, flags in struct.iter_unpack("<II", data))
        counted = [len(data) // 8 for tag, data in self.records(self.counters) if tag == ARC_COUNTS]
        self.assertEqual(wanted, counted)

    def test_summaries_are_those_of_the_counts(self):
        counts = [n for tag, data in self.records(self.counters) if tag == ARC_COUNTS
                  for n, in struct.iter_unpack("<Q", data)]
        summaries = [data for tag, data in self.records(self.counters) if tag >= OBJECT_SUMMARY]
        self.assertEqual(summaries, [struct.pack("<IQQ", len(counts), sum(counts), max(counts))] * 2)

    def test_lines_have_numbers_and_names(self):
        lines, file = set(), None
        for tag, data in self.records(self.notes):
            file = None if tag == FUNCTION else file
            at = 0
            while tag == LINES and at < len(data):
                line, at = U.unpack_from(data, at)[0], at + 4
                if line:
                    lines.add((file, line))
                    continue
                length = U.unpack_from(data, at)[0]
                file, at = data[at + 4:at + 4 + length].decode(), at + 4 + (length + 4 & ~3)
        self.assertLessEqual({("p.cc", 3), ("p.cc", 4), ("p.cc", 5), ("p.cc", 10)}, lines)

    def test_versions_are_equal(self):
        self.assertEqual(self.notes[4:8], self.counters[4:8])
        self.assertRegex(self.notes[4:8], rb"^[0-9A-Z][0-9][0-9][epr]$")

    def test_the_same_lines_as_before(self):
        stem = next(self.dir.glob("*.gcno")).stem
        texts = [re.sub(r"(?m)^TN:.*\n", "", monarc("cover", "-q", "--lcov", "-", name, cwd=self.dir).stdout.decode())
                 for name in (f"{stem}.gcno", "w.bbg")]
        self.assertEqual(*texts)
        self.assertIn("DA:3,7\n", texts[0])


if __name__ == "__main__":
    main()
