"""lines: what it books on each line, against addr2line byte by byte; forms, options, refusals.

The profile has one sample a byte of code, so that self of a row is the number of its bytes.
"""

import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from harness import NM, check_schema, gmon, main, monarc, monarc_json
from parts import in_both, load_tests, share, slow

CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = ["-O2", "-gdwarf-4", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-sanitize=all",
         "-fno-stack-protector", "-w"]
HEADER = """
static inline __attribute__((always_inline)) int twice(int x)
{
    __asm__ volatile("nop");
    return x * 2;
}
static inline __attribute__((always_inline)) int deep(int x)
{
    int y = twice(x);
    __asm__ volatile("nop; nop");
    return twice(y) + 1;
}
"""
ONE = """
#include "inline.h"
int other(int);
__attribute__((noinline)) int work(int x)
{
    __asm__ volatile("nop");
    x = deep(x);
    return x + other(x);
}
__attribute__((noinline)) int unused(int x) { return deep(x) - 7; }
void _start(void)
{
    work(1);
    for (;;) __asm__ volatile("");
}
"""
TWO = """
#include "../inline.h"
__attribute__((noinline)) int other(int x)
{
    __asm__ volatile("nop");
    return twice(x) + 3;
}
"""
ASSEMBLY = """
        .text
        .globl bare
        .type bare, @function
bare:   nop
        nop
        ret
        .size bare, . - bare
        .balign 4, 0xcc
        .section .note.GNU-stack,"",@progbits
"""


def sections(path):
    listing = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                             check=True).stdout
    return {m[1]: (int(m[2], 16), int(m[3], 16)) for m in re.finditer(
        r"\] (\S+) +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", listing)}


def functions(path):
    listing = subprocess.run([*NM, "-S", path], capture_output=True, text=True, check=True).stdout
    return {m[3]: (int(m[1], 16), int(m[2], 16)) for m in
            re.finditer(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)$", listing, re.M)}


def frames(path, addresses):
    """For each address the inline chain [(function, file, line)], by addr2line."""
    text = subprocess.run(["addr2line", "-afie", path], capture_output=True, text=True, check=True,
                          input="".join(f"{a:#x}\n" for a in addresses)).stdout
    chains = []
    for block in re.split(r"^0x[0-9a-f]+\n", text, flags=re.M)[1:]:
        lines = block.splitlines()
        chains.append([(name, os.path.normpath(place.rpartition(":")[0]),
                        place.rpartition(":")[2].split()[0])
                       for name, place in zip(lines[::2], lines[1::2])])
    return chains


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="monarc lines-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "sub").mkdir()
        (cls.folder / "inline.h").write_text(HEADER)
        (cls.folder / "same.c").write_text(ONE)
        (cls.folder / "sub/same.c").write_text(TWO)
        (cls.folder / "bare.s").write_text(ASSEMBLY)

    def build(self, name, *flags, sources=("same.c", "sub/same.c", "bare.s")):
        path = self.folder / name
        if not path.exists():
            subprocess.run([*CC, *FLAGS, *flags, "-o", path.name, *sources], cwd=self.folder,
                           check=True)
        return path

    def profile(self, path, arcs=()):
        """One sample a byte of .text, in bins of four bytes."""
        address, size = sections(path)[".text"]
        size -= size % 4
        out = path.with_suffix(".gmon")
        out.write_bytes(gmon([(address, address + size, [4] * (size // 4))], arcs))
        return out

    def lines(self, *arguments, **more):
        table = monarc_json("lines", *arguments, cwd=self.folder, **more)
        check_schema(self, "lines", table)
        total = sum(row["self_samples"] for row in table["lines"])
        total += table["omitted"]["self_samples"] + table["summary"]["unattributed_samples"]
        self.assertAlmostEqual(total, table["summary"]["samples"])
        return table

    def covered(self, path):
        address, size = sections(path)[".text"]
        inside = [range(start, start + length) for start, length in functions(path).values()]
        return [a for a in range(address, address + size - size % 4)
                if any(a in one for one in inside)]

    def compare(self, path):
        """Self and totals of every line, in bytes."""
        addresses = self.covered(path)
        own, inclusive = Counter(), Counter()
        for chain in frames(path, addresses):
            own[chain[0]] += 1
            inclusive.update(set(chain))
        table = self.lines("--inlines", path, self.profile(path))

        def place(row):
            return (row["linkage_name"], os.path.normpath(row["file"] or "??"),
                    str(row["line"] or "?"))

        self.assertGreater(len(own), 8)
        bins = {place(row): row for row in table["lines"]}
        # Bins are split among functions in them, so bytes at a function's ends may weigh more.
        for expected, key in (own, "self_samples"), (inclusive, "total_samples"):
            for where, count in expected.items():
                self.assertIn(where, bins)
                self.assertAlmostEqual(bins[where][key], count, delta=4, msg=f"{where} {key}")
        for row in table["lines"]:
            if row["self_samples"]:
                self.assertIn(place(row), own)
        return table


class AgainstAddr2line(Case):
    def test_plain(self):
        table = self.compare(self.build("plain"))
        chains = [c for row in table["lines"] if row["name"] == "twice" for c in row["chains"]]
        self.assertIn(["deep", "work"], [[f["name"] for f in c["inlined_into"]] for c in chains])
        self.assertTrue([row for row in table["lines"] if row["file"].endswith("bare.s")])

    @slow
    def test_variants(self):
        for name, flags in (("dwarf2", ["-gdwarf-2"]), ("dwarf3", ["-gdwarf-3"]),
                            ("O0", ["-O0"]), ("compressed", ["-gz"]),
                            ("sections", ["-ffunction-sections", "-Wl,--gc-sections"]),
                            ("lto", ["-flto"])):
            with self.subTest(name):
                self.compare(self.build(name, *flags))

    @in_both
    def test_zstd(self):
        path = self.build("zstd", "-g3")
        done = subprocess.run(["objcopy", "--compress-debug-sections=zstd", path.name],
                              cwd=self.folder, check=False)
        if done.returncode:
            self.skipTest("this objcopy cannot compress with zstd")
        self.compare(path)
        whole = path.read_bytes()
        at = whole.index(b"\x28\xb5\x2f\xfd")  # the first frame
        for cut in share(range(at, len(whole), 97), 10):  # spoilt in turn: less is known, nothing breaks
            path.write_bytes(whole[:cut] + bytes([whole[cut] ^ 0x55]) + whole[cut + 1:])
            done = monarc("lines", path, path.with_suffix(".gmon"))
            self.assertIn(done.returncode, (0, 2), done.stderr)

    @slow
    def test_split_dwarf(self):
        """addr2line does not look into .dwo files, so the whole program is what counts."""
        for name, flags in ("together", []), ("apart", ["-gsplit-dwarf"]):
            for number, source in enumerate(("same.c", "sub/same.c", "bare.s")):
                subprocess.run([*CC, *FLAGS, *flags, "-c", source, "-o", f"{name}{number}.o"],
                               cwd=self.folder, check=True)
            self.build(name, sources=[f"{name}{number}.o" for number in range(3)])
        self.assertTrue(list(self.folder.glob("apart*.dwo")))
        whole, split = (self.lines("--inlines", self.folder / name,
                                   self.profile(self.folder / name))["lines"]
                        for name in ("together", "apart"))
        self.assertTrue([row for row in whole if row["chains"]])
        self.assertEqual(split, whole)

    @slow
    def test_dwz(self):
        if not shutil.which("dwz"):
            self.skipTest("no dwz here")
        path = self.build("dwz")
        subprocess.run(["dwz", path.name], cwd=self.folder, capture_output=True, check=False)
        self.compare(path)

    @slow
    def test_discarded_code_has_no_rows(self):
        path = self.build("sections", "-ffunction-sections", "-Wl,--gc-sections")
        self.assertNotIn("unused", functions(path))
        table = self.lines(path, self.profile(path))
        self.assertFalse([row for row in table["lines"] if row["linkage_name"] == "unused"])


class WithoutUnits(Case):
    def test_line_tables_alone(self):
        path = self.build("unitless")
        whole = self.lines(path, self.profile(path))
        subprocess.run(["objcopy", "--remove-section=.debug_info",
                        "--remove-section=.debug_abbrev", path], check=True)
        bare = self.lines(path, self.profile(path))

        def by_line(table):
            found = Counter()
            for row in table["lines"]:
                if row["file"]:
                    found[Path(row["file"]).name, row["line"]] += row["self_samples"]
            return found

        self.assertEqual(by_line(whole), by_line(bare))
        names = {row["name"] for row in bare["lines"]}
        self.assertLessEqual({"work", "other", "bare"}, names)
        self.assertNotIn("twice", names)

    def test_no_lines_at_all(self):
        path = self.build("lineless", "-g0")
        done = monarc("lines", path, self.profile(path))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(done.stderr, rb"lineless: has no line numbers; compile it with -g")

    def test_a_unit_without_lines(self):
        (self.folder / "plainasm.s").write_text(ASSEMBLY.replace("bare", "plain"))
        subprocess.run([*CC, "-c", "-g0", "plainasm.s", "-o", "plainasm.o"], cwd=self.folder,
                       check=True)
        path = self.build("partly", sources=("same.c", "sub/same.c", "plainasm.o"))
        table = self.lines(path, self.profile(path))
        row = next(row for row in table["lines"] if row["name"] == "plain")
        self.assertEqual((row["file"], row["line"]), (None, None))
        self.assertAlmostEqual(table["without_line"]["self_samples"], row["self_samples"])
        self.assertEqual(table["without_line"]["objects"], [])
        self.assertIn(b"(no line)", monarc("lines", path, path.with_suffix(".gmon")).stdout)


class Calls(Case):
    def test_sites_and_entries(self):
        path = self.build("plain")
        placed = functions(path)
        work, other = placed["work"], placed["other"]
        code = subprocess.run(["objdump", "-d", path], capture_output=True, text=True,
                              check=True).stdout
        site = int(re.search(r"^ *([0-9a-f]+):\t.*call.* <other>$", code, re.M)[1], 16) + 5
        arcs = [(site, other[0] + 4, 5), (site, other[0], 2), (0, work[0], 1)]
        table = self.lines(path, self.profile(path, arcs))
        calls = {(row["name"], row["line"]): row["calls"] for row in table["lines"] if row["calls"]}
        self.assertEqual(calls, {("work", 8): 7})
        entered = {row["name"]: row["entered"] for row in table["lines"] if row["entered"]}
        self.assertEqual(entered, {"other": 7, "work": 1})


class Options(Case):
    def setUp(self):
        self.path = self.build("plain")
        self.gmon = self.profile(self.path)

    def text(self, *arguments):
        done = monarc("lines", *arguments, self.path, self.gmon)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_forms_agree(self):
        table = self.lines("--inlines", self.path, self.gmon)
        text = monarc("lines", "--inlines", "--csv", self.path, self.gmon).stdout.decode()
        rows = [row for row in csv.DictReader(io.StringIO(text, newline=""))
                if row["kind"] == "function"]
        self.assertEqual(len(rows), len(table["lines"]))
        for as_csv, as_json in zip(rows, table["lines"]):
            for key in "file", "line", "name", "self_samples", "total_samples", "calls", "entered":
                self.assertEqual(as_csv[key], str(as_json[key]).removesuffix(".0"), key)
        for row in table["lines"]:
            self.assertRegex(self.text("--inlines"), rf":{row['line']} +{row['name']}\n")

    def test_same_base_names_are_told_apart(self):
        narrow = self.text()
        self.assertIn("/sub/same.c:6 ", narrow)
        self.assertFalse([row for row in narrow.partition("\n\n")[2].splitlines() if len(row) > 80])
        text = self.text("--wide")
        self.assertIn(f"{self.folder}/same.c:6 ", text)
        self.assertIn(f"{self.folder}/sub/", text)
        self.assertIn(" inline.h:4 ", text)
        self.assertIn(f"{self.folder}/inline.h:4 ", self.text("--full-paths"))
        self.assertNotIn("..", text)

    def test_path_map(self):
        text = self.text("--full-paths", "--path-map", f"{self.folder}/=/else where/")
        self.assertIn("/else where/same.c:6 ", text)
        self.assertNotIn(str(self.folder), text.partition("\n\n")[2].partition("[un")[0])
        table = self.lines("--path-map", f"{self.folder.parent}=/a", "--path-map",
                           f"{self.folder}/sub=/b", self.path, self.gmon)
        self.assertIn("/b/same.c", {row["file"] for row in table["lines"]})
        for bad in "nothing", "=x":
            done = monarc("lines", "--path-map", bad, self.path, self.gmon)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"FROM=TO", done.stderr)

    def test_inlines_are_shown(self):
        self.assertRegex(self.text("--inlines"), r"inlined into deep at inline\.h:\d+, into work at")
        self.assertNotIn("inlined into", self.text())

    @slow
    def test_names_of_what_was_inlined_are_short(self):
        """As those of rows: of one folder of a chain of the standard library, a line took 3,000 columns."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "x.cc", Path(folder) / "x"
            source.write_text("#include <string>\n#include <vector>\nint main()\n{\n    std::vector<std::string> all;\n"
                              "    for (volatile int i = 0; i < 20000000; i = i + 1) {\n        all.push_back(\"a text of some length\");\n"
                              "        if (all.size() == 100)\n            all.clear();\n    }\n}\n")
            subprocess.run(["g++", "-O2", "-g", source, "-o", program], check=True)
            recording = Path(folder) / "r"
            self.assertEqual(monarc("run", "--no-report", "-o", recording, program).returncode, 0)
            text = monarc("lines", "--inlines", "--all", recording).stdout.decode()
            self.assertRegex(text, r"into std::vector<std::string>::\w+ at")
            self.assertNotIn("std::allocator<char> >", text)
            self.assertIn("std::allocator<char> >", monarc("lines", "--inlines", "--all", "--full-names", recording).stdout.decode())
            names = re.findall(r"(?m)^ *\.\.\.  in (.*)$", monarc("annotate", "-m0", "-C0", recording).stdout.decode())
            self.assertTrue([name for name in names if name.startswith("std::string::")], names)
            self.assertFalse([name for name in names if "std::allocator<char> >" in name or "basic_string<char" in name], names)
            self.assertIn("std::allocator<char> >", monarc("annotate", "-m0", "-C0", "--full-names", recording).stdout.decode())

    def test_what_is_left_out_is_counted(self):
        everything = self.lines(self.path, self.gmon)["lines"]
        for arguments, kept in ((["-n3"], 3), (["-m", "99"], 0), (["-f", "twice"], None),
                                (["-i", "/work/"], None)):
            table = self.lines(*arguments, self.path, self.gmon)
            self.assertEqual(len(table["lines"]) + table["omitted"]["lines"], len(everything))
            if kept is not None:
                self.assertEqual(len(table["lines"]), kept)
        focused = self.lines("-f", "twice", self.path, self.gmon)["lines"]
        self.assertEqual({row["name"] for row in focused}, {"twice"})
        self.assertIn("more lines, not shown]", self.text("-n1"))

    def test_text_has_the_first_forty(self):
        folder = Path(self.folder, "many")
        folder.mkdir()
        Path(folder, "many.c").write_text("".join(f"int f{i}(int x)\n{{ return x * {i}; }}\n" for i in range(50)) + "void _start(void) { }\n")
        subprocess.run([*CC, *FLAGS, "-o", "many", "many.c"], cwd=folder, check=True)
        nm = subprocess.run([*NM, "many"], cwd=folder, check=True, capture_output=True, text=True).stdout
        at = {line.split()[2]: int(line.split()[0], 16) for line in nm.splitlines() if len(line.split()) == 3}
        low, high = at["f0"] & ~1, at["_start"] & ~1
        Path(folder, "many.gmon").write_bytes(gmon([(low, high, [1] * ((high - low) // 2))]))

        def shown(*arguments):
            text = monarc("lines", *arguments, "many", "many.gmon", cwd=folder).stdout.decode()
            return len(re.findall(r" many\.c:\d+ ", text)), re.findall(r"\[(\d+ more lines.*)\]", text)

        whole = shown("--all")[0]
        self.assertGreater(whole, 45)
        self.assertEqual(shown(), (40, [f"{whole - 40} more lines, not shown: --all"]))
        self.assertEqual(shown("--limit", "42"), (42, [f"{whole - 42} more lines, not shown"]))
        self.assertEqual(shown("--sort", "name"), (whole, []))
        self.assertEqual(shown("--function", "/f/"), (whole, []))
        rows = monarc("lines", "--csv", "many", "many.gmon", cwd=folder).stdout.decode().splitlines()
        self.assertEqual(sum("many.c," in row for row in rows), whole)

    def test_orders(self):
        for order, key in ("self", "self_samples"), ("total", "total_samples"):
            rows = self.lines("--inlines", "--sort", order, self.path, self.gmon)["lines"]
            values = [row[key] for row in rows]
            self.assertEqual(values, sorted(values, reverse=True))
        names = [row["name"] for row in self.lines("--sort", "name", self.path, self.gmon)["lines"]]
        self.assertEqual(names, sorted(names))

    def test_agrees_with_flat(self):
        rows = self.lines("--inlines", self.path, self.gmon)["lines"]
        flat = monarc_json("flat", self.path, self.gmon)
        self.assertAlmostEqual(sum(row["self_samples"] for row in rows),
                               sum(row["self_samples"] for row in flat["functions"]))

    def test_a_foreign_profile_is_refused(self):
        other = self.folder / "other.gmon"
        other.write_bytes(gmon([(0x70000000, 0x70001000, [1] * 1024)]))
        self.assertEqual(monarc("lines", self.path, other).returncode, 2)


if __name__ == "__main__":
    main()
