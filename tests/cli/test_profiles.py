#!/usr/bin/env python3
"""monarc info, merge and convert from the outside: goldens, exactness, bad input, memory.

Run by Meson with MONARC (the program) and MONARC_SOURCE (the tree) in the environment.
MONARC_UPDATE_GOLDEN=1 rewrites the goldens instead of comparing with them.
"""

import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from collections import Counter
from pathlib import Path

MONARC = os.environ["MONARC"]
SOURCE = Path(os.environ["MONARC_SOURCE"])
CORPUS = SOURCE / "tests/corpus"
FORMATS = "gmon", "gmon0", "sprof", "bsd44", "bsd"

sys.path.insert(0, str(CORPUS))
sys.dont_write_bytecode = True
import make  # noqa: E402  (tests/corpus/make.py)
import run_file  # noqa: E402
from harness import is_sanitized  # noqa: E402
from parts import in_both, load_tests, share, slow


def monarc(*arguments, status=0, **options):
    done = subprocess.run([MONARC, *map(str, arguments)], capture_output=True, **options)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def info(path):
    return json.loads(monarc("info", "--json", path).stdout)["files"][0]


def read_gmon(data):
    """(histograms, arcs) of a little-endian 64-bit gmon file, summed, by this test's own reader."""
    histograms, arcs, at = {}, Counter(), 20
    while at < len(data):
        tag, at = data[at], at + 1
        if tag == 0:
            low, high, n, rate, unit = struct.unpack_from("<QQII16s", data, at)
            bins = struct.unpack_from(f"<{n}H", data, at + 40)
            at += 40 + 2 * n
            key = low, high, rate, unit
            histograms[key] = [a + b for a, b in zip(histograms.get(key, [0] * n), bins)]
        else:
            caller, callee, count = struct.unpack_from("<QQI", data, at)
            at += 20
            arcs[caller, callee] += count
    return histograms, arcs


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def gmon(self, name, arcs=(), bins=(), low=make.LOW, **histogram):
        t = make.Target("le64")
        data = make.header(t, 1)
        if bins:
            data += b"\0" + make.histogram(t, bins, low=low, **histogram)
        data += b"".join(struct.pack("<BQQI", 1, *arc) for arc in arcs)
        (self.dir / name).write_bytes(data)
        return self.dir / name

    def refused(self, *arguments, says, **options):
        """Exit status 2 and exactly one line of complaint."""
        done = monarc(*arguments, status=2, **options)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(says, done.stderr.decode())
        return done


class Goldens(Case):
    def compare(self, golden, got):
        """JSON with each innermost object in one line."""
        if golden.suffix == ".json":
            got = re.sub(rb"\{[^{}]*\}", lambda found: b" ".join(found[0].split()), got)
        if os.environ.get("MONARC_UPDATE_GOLDEN"):
            golden.write_bytes(got)
        self.assertEqual(got.decode(errors="replace"), golden.read_bytes().decode(errors="replace"))

    def test_info(self):
        for name in FORMATS:
            files = sorted(p.relative_to(SOURCE) for p in (CORPUS / name).iterdir())
            golden = SOURCE / "tests/golden/info"
            for extra, suffix in ([], ".txt"), (["--json"], ".json"):
                done = subprocess.run([MONARC, "info", *extra, *files], cwd=SOURCE,
                                      capture_output=True)
                self.assertEqual(done.returncode, 2 if done.stderr else 0, done.stderr)
                self.compare(golden / (name + suffix), done.stdout)

    @slow
    def test_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema")
        schema = json.loads((SOURCE / "docs/schema/info.schema.json").read_text())
        for name in FORMATS:
            golden = SOURCE / f"tests/golden/info/{name}.json"
            jsonschema.validate(json.loads(golden.read_text()), schema)

    def test_corpus_is_what_make_makes(self):
        for name in *FORMATS, "sidecar", "live":
            seeds = dict(getattr(make, name)())
            self.assertEqual(seeds, {p.name: p.read_bytes() for p in (CORPUS / name).iterdir()})


class Merge(Case):
    def test_exact(self):
        a = self.gmon("a", [(1, 2, 2**32 - 1), (3, 4, 5)], [65535, 1])
        b = self.gmon("b", [(9, 9, 1), (1, 2, 2**32 - 1), (1, 2, 2)], [65535, 0])
        monarc("merge", "-o", self.dir / "sum", a, b, a)
        histograms, arcs = read_gmon((self.dir / "sum").read_bytes())
        self.assertEqual(list(histograms.values()), [[3 * 65535, 2]])
        self.assertEqual(arcs, {(1, 2): 3 * 2**32 - 1, (3, 4): 10, (9, 9): 1})
        self.assertEqual(list(arcs), [(1, 2), (3, 4), (9, 9)])

    def test_threads_change_nothing(self):
        paths = []
        for f in range(23):
            arcs = [(16 * k, 32 * (k % 50), k + f) for k in range(f, 600 + 3 * f)
                    if (k * 7 + f) % 11]
            paths.append(self.gmon(f"f{f}", arcs, [f] * 100, low=0x1000 * (1 + f % 3)))
        one = {min(os.sched_getaffinity(0))}
        monarc("merge", "-o", self.dir / "many", *paths)
        monarc("merge", "-o", self.dir / "one", *paths,
               preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual((self.dir / "many").read_bytes(), (self.dir / "one").read_bytes())
        want = Counter()
        for path in paths:
            want += read_gmon(path.read_bytes())[1]
        self.assertEqual(+read_gmon((self.dir / "one").read_bytes())[1], want)

    def test_first_error_is_named(self):
        paths = [self.gmon(f"f{f}", [(1, 2, 3)], [1] * 8) for f in range(12)]
        paths[7].write_bytes(paths[7].read_bytes()[:-3])
        paths[11].write_bytes(b"")
        self.refused("merge", "-o", self.dir / "sum", *paths,
                     says=f"{paths[7]}: at offset 77: the file ends within an arc")
        paths[2] = self.gmon("other", bins=[1] * 8, rate=99)
        self.refused("merge", "-o", self.dir / "sum", *paths,
                     says=f"{paths[2]}: one histogram has a rate of 99, another of 100")
        self.assertFalse((self.dir / "sum").exists())

    def test_conflict_between_halves(self):
        paths = [self.gmon(f"f{f}", bins=[1] * 8, low=0x1000 + 4 * (f > 8)) for f in range(12)]
        self.refused("merge", "-o", self.dir / "sum", *paths, says=f"{paths[9]}: histogram 0x1000")

    def test_output_may_be_input(self):
        a = self.gmon("a", [(1, 2, 3)])
        for _ in range(3):
            monarc("merge", "-o", a, a, a)
        self.assertEqual(read_gmon(a.read_bytes())[1], {(1, 2): 24})
        self.assertEqual([p.name for p in self.dir.iterdir()], ["a"])

    def test_private_inputs_make_private_files(self):
        """Whoever may not read all inputs may not read what they become, folders and parts of them included."""
        own, open_to_all = (self.gmon(name, [(1, 2, 3)], [1, 2]) for name in ("own", "open"))
        open_to_all.chmod(0o644)
        for mode, wanted in (0o600, 0o600), (0o640, 0o640), (0o644, 0o644):
            own.chmod(mode)
            for command in ("merge", open_to_all, own), ("convert", "--to", "gmon0", own):
                made = self.dir / "made"
                monarc(*command, "-o", made, umask=0o022)
                self.assertEqual(made.stat().st_mode & 0o777, wanted, command)
                made.unlink()
        run = run_file.Run()
        run.write(self.dir / "r")
        (self.dir / "r").chmod(0o700)
        monarc("merge", "-o", self.dir / "sum", self.dir / "r", self.dir / "r", umask=0o022)
        self.assertEqual((self.dir / "sum").stat().st_mode & 0o777, 0o700)
        self.assertEqual((self.dir / "sum/monarc.side").stat().st_mode & 0o777, 0o600)

    def test_streams(self):
        a = self.gmon("a", [(1, 2, 3)])
        done = monarc("merge", "-o", "-", a, "-", a, input=a.read_bytes())
        self.assertEqual(read_gmon(done.stdout)[1], {(1, 2): 9})
        fifo = self.dir / "fifo"
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda: fifo.write_bytes(a.read_bytes()))
        writer.start()
        done = monarc("merge", "-o", "-", a, fifo, a, a, a)
        writer.join()
        self.assertEqual(read_gmon(done.stdout)[1], {(1, 2): 15})

    def test_one_of_several_dimensions(self):
        """Time and cache misses in one file: --dimension says which."""
        t = make.Target("le64")
        path = self.dir / "two"
        path.write_bytes(make.header(t, 1) + b"\0" + make.histogram(t, [1, 2, 3]) +
                         b"\0" + make.histogram(t, [40, 50], dimension=b"cache-misses", letter=b"m",
                                               rate=1))
        found = {h["dimension"] for h in info(path)["histograms"]}
        self.assertEqual(found, {"seconds", "cache-misses"})
        for dimension, samples, rate in ("seconds", [1, 2, 3], 100), ("cache-misses", [40, 50], 1):
            for command in "merge", "convert":
                monarc(command, "--dimension", dimension, "-o", self.dir / "one", path)
                histograms, _ = read_gmon((self.dir / "one").read_bytes())
                (key, counters), = histograms.items()
                self.assertEqual((key[2], counters), (rate, samples))
        self.refused("merge", "--dimension", "branches", "-o", self.dir / "x", path,
                     says="no histogram is of the dimension 'branches'; there are 'seconds', "
                          "'cache-misses'")
        monarc("merge", "-o", self.dir / "all", path, path)
        histograms, _ = read_gmon((self.dir / "all").read_bytes())
        self.assertEqual(sorted(histograms.values()), [[2, 4, 6], [80, 100]])

    def test_formats_mix(self):
        files = [CORPUS / "gmon/le64", CORPUS / "gmon0/le64"]
        monarc("merge", "-o", self.dir / "sum", *files)
        got = info(self.dir / "sum")
        self.assertEqual(got["arcs"]["calls"], sum(info(f)["arcs"]["calls"] for f in files))
        self.assertEqual(got["blocks"]["executions"], 1001 + 78)
        self.refused("merge", "-o", self.dir / "x", CORPUS / "gmon/le64", CORPUS / "gmon/be32",
                     says="one profile is from a 64-bit little-endian machine")
        # A file without records fits anything.
        monarc("merge", "-o", self.dir / "x", CORPUS / "gmon/header-only", CORPUS / "gmon/be32")
        self.assertEqual(info(self.dir / "x")["byte_order"], "big")

    def test_same_format_unless_told(self):
        for name in FORMATS:
            monarc("merge", "-o", self.dir / name, *[CORPUS / name / "be32"] * 3)
            got, want = info(self.dir / name), info(CORPUS / name / "be32")
            self.assertEqual((got["format"], got["word_bits"]), (name, 32))
            self.assertEqual(got["arcs"]["calls"], 3 * want["arcs"]["calls"])
        big = self.gmon("big", bins=[65535] * 8)
        monarc("merge", "--to", "bsd44", "-o", self.dir / "wide", big, big)
        self.assertEqual(info(self.dir / "wide")["histograms"][0]["samples"], 16 * 65535)
        self.refused("merge", "--to", "bsd", "-o", self.dir / "no", big, big,
                     says="old BSD format holds 65535 samples a bin")

    def test_gnu_reads_what_we_write(self):
        """GNU gprof sums the repeated records."""
        try:
            subprocess.run(["gprof", "--version"], capture_output=True, check=True)
            subprocess.run(["gcc", "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no gprof or gcc")
        (self.dir / "p.s").write_text(".globl main\n.type main,@function\nmain: .fill 400,1,0x90\n"
                                      ".size main,.-main\n")
        program = self.dir / "p"
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-Ttext=0x401000,-e,main", "-o",
                        program, self.dir / "p.s"], check=True)
        a = self.gmon("a", [(0x401010, 0x401000, 2**31)], [0] * 8 + [65535] * 4 + [0] * 88)
        monarc("merge", "-o", self.dir / "sum", *[a] * 5)
        text = subprocess.run(["gprof", "-b", "-p", program, self.dir / "sum"], check=True,
                              capture_output=True, env={**os.environ, "LC_ALL": "C"}).stdout
        seconds = 5 * 4 * 65535 / 100
        self.assertIn(f"{seconds:.2f}", text.decode())


class Kinds(Case):
    """The table of kinds of files: every row has a page and is recognised, described, summed and converted."""
    SEEDS = {  # a file, and a member of info's JSON that no other kind has
        "source-profiles": ("afdo/version1", "positions"), "gcda": ("gcda/gcc-12-c", "version_number"),
        "llvm-coverage": ("llvm_profile/indexed11", "variants"), "lcov": ("lcov/lcov1.info", "tests"),
        "gmon": ("gmon/be32", "word_bits"), "recording": (None, "slice_ns"),
        "bb": (None, None),  # test_before_34.py has gcc write one
    }

    def test_walk(self):
        table = re.search(r"(?s)FILE_KINDS\[\] = \{\n(.*?)\n\};", (SOURCE / "src/cli/files.c").read_text())[1]
        rows = [row.replace("\n", " ").replace('"', "").split(", ") for row in re.findall(r"(?s)\{(.*?)\}", table)]
        self.assertEqual({row[0] for row in rows}, self.SEEDS.keys())
        pages = (SOURCE / "docs/formats/README.md").read_text()
        shown = {}
        for page, _, _, is_at, *_ in rows:
            self.assertIn(f"({page}.md)", pages)
            seed, member = self.SEEDS[page]
            if not member:
                continue
            with self.subTest(page):
                path = CORPUS / seed if seed else run_file.Run().write(self.dir / "r")
                shown[page] = info(path)
                self.assertIn(member, shown[page])
                out = self.dir / f"{page}.out"
                takes = 0 if is_at.strip() != "NULL" or page == "gmon" else 2  # profiles are the last row
                monarc("merge", "-o", out, path, path, status=takes)
                if takes == 0:
                    self.assertIn(member, info(out))
                takes = takes or (2 if page == "recording" else 0)
                monarc("convert", "-o", self.dir / f"{page}.copy", path, status=takes)
                if takes == 0:
                    self.assertIn(member, info(self.dir / f"{page}.copy"))
        for page, found in shown.items():
            others = [p for p in shown if p != page and self.SEEDS[page][1] in shown[p]]
            self.assertEqual(others, [], page)


class Convert(Case):
    @in_both
    def test_every_way(self):
        for source in FORMATS:
            for target in share(FORMATS[FORMATS.index(source):] + FORMATS[:FORMATS.index(source)], 4):
                if "bsd" in source and target == "bsd" and source != "bsd":
                    continue  # another rate
                there, back = self.dir / "there", self.dir / "back"
                seed = CORPUS / source / ("arcs-first" if source == "gmon" else "le64")
                if source in ("gmon", "gmon0") and target not in ("gmon", "gmon0"):
                    seed = CORPUS / "sprof/le64"  # one histogram, no blocks
                monarc("convert", "--to", target, "--to-word", 32, "--to-endian", "big", "-o",
                       there, seed)
                got, want = info(there), info(seed)
                self.assertEqual((got["format"], got["word_bits"], got["byte_order"]),
                                 (target, 32, "big"))
                monarc("convert", "--to", source, "--to-word", 64, "--to-endian", "little", "-o",
                       back, there)
                for key in "histograms", "arcs", "blocks":
                    got = info(back)
                    got["arcs"]["number"] = want["arcs"]["number"]
                    self.assertEqual(got[key], want[key], (source, target))

    def test_limits(self):
        self.refused("convert", "--to", "bsd", "-o", self.dir / "x", CORPUS / "gmon/le64",
                     says="cannot be written as bsd: the old BSD format holds exactly one")
        self.refused("convert", "-o", self.dir / "x", says="convert needs -o FILE and one input")
        self.refused("convert", "--to", "gif", "-o", self.dir / "x", CORPUS / "gmon/le64",
                     says="'--to' takes one of gmon, gmon0, sprof, bsd44, bsd, gcno, gcda, bbg, da, profraw, profdata, proftext, afdo, llvm-sample, llvm-sample-binary, "
                          "not 'gif'")
        self.assertFalse((self.dir / "x").exists())

    def test_kinds_of_to(self):
        """Each name of the help is one that --to takes, and refusals list these. merge writes no arcs."""
        said = {}
        for command in "convert", "merge":
            text = " ".join(monarc(command, "--help-all").stdout.decode().split())
            said[command] = re.findall(r"[\w-]+", re.search(r" write (gmon, .*?) \(default: as", text)[1])
            refused = monarc(command, "--to", "gif", "-o", self.dir / "x", "/dev/null", status=2).stderr.decode()
            self.assertEqual(re.findall(r"[\w-]+", re.search(r"takes one of (.*), not", refused)[1]), said[command])
            for name in said[command]:
                answer = monarc(command, "--to", name, "-o", self.dir / "x", "/dev/null", status=2).stderr
                self.assertNotIn(b"takes one of", answer, name)
        self.assertEqual([name for name in said["convert"] if name not in said["merge"]], ["gcno", "gcda", "bbg", "da"])
        self.refused("merge", "--to", "gcda", "-o", self.dir / "x", "/dev/null", says="takes one of")


class BadInput(Case):
    def test_what_is_no_file(self):
        self.refused("info", self.dir, says="is a folder without a recording")
        self.refused("info", self.dir / "none", says="No such file")
        self.refused("info", "/dev/null", says="0 bytes are too few for a profile")
        self.refused("info", "/proc/version", says="unrecognised profile format")
        self.refused("info", "-", says="(standard input): 3 bytes are too few", input=b"abc")

    def test_names_cannot_break_the_line(self):
        path = self.dir / "two\nlines\x1b[1m"
        path.write_bytes(b"x" * 40)
        self.assertNotIn(b"\x1b", self.refused("info", path, says="two?lines?[1m").stdout)

    def test_output_that_cannot_be_written(self):
        a = self.gmon("a", [(1, 2, 3)])
        self.refused("merge", "-o", self.dir / "no/such", a, says="No such file")
        self.refused("merge", "-o", "/dev/full", a, says="No space left")

    def test_usage(self):
        a = self.gmon("a", [(1, 2, 3)])
        self.refused("merge", a, says="merge needs -o FILE")
        self.refused("info", "--word", 16, a, says="'--word' takes 32 or 64, not '16'")
        self.refused("info", "--endian", "middle", a, says="takes little or big")
        self.refused("info", "-O", "bsd44", a, says="is not 4.4BSD's")
        for command in "info", "merge", "convert":
            self.assertIn(b"Usage: monarc", monarc(command, "--help").stdout)

    def test_hints_are_obeyed(self):
        path = CORPUS / "gmon/le64"
        self.refused("info", "--endian", "big", path, says="unknown or in the other byte order")
        self.refused("info", "--word", 32, path, says=f"{path}: at offset")
        self.assertEqual(info(path)["word_bits"], 64)


@unittest.skipIf(is_sanitized(), "a sanitizer's memory is its own")
class Memory(Case):
    """Within 16 times the input, and a little for the program itself."""

    BASE_BYTES = 8 << 20

    def runs_within(self, limit, *arguments):
        monarc(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA,
                                                                 (limit, limit)))

    def check(self, data):
        path = self.dir / "input"
        path.write_bytes(data)
        limit = self.BASE_BYTES + 16 * len(data)
        for command in (["info"], ["info", "--json"], ["merge", "-o", self.dir / "out"]):
            self.runs_within(limit, *command, path)

    @slow
    def test_many_small_records(self):
        t = make.Target("le32")
        header = make.header(t, 1)
        n = 300_000
        self.check(header + b"".join(struct.pack("<BIII", 1, 16 * i, i, 1) for i in range(n)))
        self.check(header + b"".join(b"\0" + make.histogram(t, [], low=i, high=i + 1)
                                     for i in range(n // 2)))
        self.check(header + struct.pack("<BI", 2, n)
                   + b"".join(struct.pack("<II", i, 1) for i in range(n)))
        self.check(header + struct.pack("<BI", 2, 0) * n)

    @slow
    def test_does_not_grow_with_files(self):
        arcs = [(16 * k, k, 1) for k in range(50_000)]
        a = self.gmon("a", arcs, [1] * 500_000)  # 2 MB
        self.runs_within(48 << 20, "merge", "-o", self.dir / "out", *[a] * 200)


if __name__ == "__main__":
    unittest.main()
