"""Files of other profilers in the place of a recording. perf.data of real programs: shares are those
of `perf report`, function by function. What monarc exports it reads back with the same figures."""

import csv
import gzip
import io
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from harness import ROOT, main, monarc, monarc_json, monarc_path
import seeds
import sequential
from parts import in_both, load_tests, share, slow
from test_recording import whole_run

CORPUS = ROOT / "tests/corpus"
sys.path.append(str(CORPUS))
from make_perf_data_seeds import CHAIN, CONTEXT_USER, IDENTIFIER, IP, PERIOD, TID, TIME, File  # noqa: E402

READ, GROUP_BY_ID = 0x10, 0xc  # of sample_type and of read_format
PROGRAMS = {
    "plain": ("c", """
#include <stdlib.h>
#include <stdio.h>
static volatile unsigned long sink;
__attribute__((noipa)) static unsigned long leaf(unsigned long n)
{ for (unsigned long i = 0; i < n; i++) sink += i * sink; return sink; }
__attribute__((noipa)) static unsigned long work(unsigned long n)
{ unsigned long r = leaf(n); for (unsigned long i = 0; i < n / 3; i++) sink ^= i; return r + sink; }
__attribute__((noinline)) static unsigned long fib(int n)
{ return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{ for (int i = 0; i < 12; i++) { work(6000000); sink += fib(26); }
  char *b = malloc(1 << 22); FILE *f = fopen("/dev/zero", "r");
  for (int i = 0; i < 40; i++) sink += fread(b, 1, 1 << 22, f);
  fclose(f); free(b); return 0; }
"""),
    "templates": ("cc", """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Spin { static __attribute__((noinline)) long run(long n)
{ volatile long s = 0; for (long i = 0; i < n; i++) s += i % (N + 3); return s + Spin<N - 1>::run(n / 2); } };
template <> struct Spin<0> { static long run(long n) { return n; } };
template <class T> __attribute__((noinline)) long fill(std::map<T, std::vector<T>> &m, int n)
{ for (int i = 0; i < n; i++) m["k" + std::to_string(i * 7919 % 997)].push_back(std::to_string(i));
  return m.size(); }
int main()
{ std::map<std::string, std::vector<std::string>> m; long n = fill(m, 200000) + Spin<4>::run(20000000);
  std::vector<std::string> v; for (int i = 0; i < 100000; i++) v.push_back(std::to_string(i * 2654435761u));
  std::sort(v.begin(), v.end()); return n + v.size() == 7; }
"""),
    "threads": ("c", """
#include <pthread.h>
static volatile unsigned long sinks[8 * 8];
__attribute__((noinline)) static void odd(volatile unsigned long *s)
{ for (unsigned long i = 0; i < 9000000; i++) *s = *s * i + 7; }
__attribute__((noinline)) static void even(volatile unsigned long *s)
{ for (unsigned long i = 0; i < 3000000; i++) *s ^= *s / (i + 1) + i; }
static void *thread(void *p)
{ long n = (long)p; for (int i = 0; i < 5; i++) (n & 1 ? odd : even)(&sinks[n * 8]); return 0; }
int main(void)
{ pthread_t t[6]; for (long i = 0; i < 6; i++) pthread_create(&t[i], 0, thread, (void *)i);
  for (int i = 0; i < 6; i++) pthread_join(t[i], 0); return 0; }
"""),
}


def records(*command):
    """Whether perf may record here at all, and finds samples."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["perf", "record", "-q", "-o", folder + "/data", *command],
                              capture_output=True)
        return done.returncode == 0


HAS_PERF = shutil.which("perf") is not None and records("true")


def flat(path, *options):
    done = monarc("flat", "--csv", "--all", *options, path, cwd=Path(path).parent)
    assert done.returncode in (0, 1), done.stderr
    rows = [r for r in csv.DictReader(io.StringIO(done.stdout.decode())) if r["kind"] == "function"]
    return rows, sum(float(r["self_samples"]) for r in rows)


def shares_of_monarc(path, column):
    rows, total = flat(path, "--no-inlines")
    shares = defaultdict(float)
    for row in rows:
        shares[row["name"].replace(" ", "")] += 100 * float(row[column]) / total
    return shares


def shares_of_perf(path, with_children):
    command = ["perf", "report", "--stdio", "-g", "none", "--no-inline", "-i", path, "-w", "0,400",
               "--sort", "dso,sym", "--children" if with_children else "--no-children"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shares = defaultdict(float)
    own = r"\s+[\d.]+%" if with_children else ""
    for line in text.splitlines():
        match = re.match(rf"\s+([\d.]+)%{own}\s+\S+\s+\[.\]\s+(.*\S)", line)
        if match:
            shares[match[2].replace(" ", "")] += float(match[1])
    return shares


def share_that_perf_cuts(path):
    """Of samples whose stacks do not reach where threads begin: perf 6.1 gives up now and then."""
    text = subprocess.run(["perf", "script", "-F", "ip,sym", "-i", path], capture_output=True, text=True,
                          check=True).stdout
    stacks = [stack.split() for stack in text.split("\n\n") if stack.strip()]
    return 100 * sum(stack[-1] not in ("_start", "clone3", "__clone3") for stack in stacks) / len(stacks)


def without_parameters(name):
    """perf prints parameters and results of templates, or not, by where a name came from."""
    return re.sub(r"^\w+(?=std::)", "", re.sub(r"\((?!anonymous).*", "", name))


def by_plain_name(shares):
    """Added up where names differ in parameters or in underscores before them alone."""
    sums = Counter()
    for name, of_all in shares.items():
        sums[without_parameters(name).lstrip("_")] += of_all
    return sums


# Files made by hand, as old and odd as people have them: what each sums up to, by event, and what is
# said of those that are refused. The generators are in tests/corpus; truths follow from their numbers.
TOTALS = {
    "perf_data": {
        "little": {"cpu-clock": 5 + 7 + 5}, "big": {"cpu-clock": 17}, "packed": {"cpu-clock": 17}, "pipe": {"cpu-clock": 17},
        "pipe-and-message": {"cpu-clock": 17}, "perf-2.6.36": {"cpu-clock": 7 + 5}, "perf-3.2": {"cpu-clock": 12},
        "deferred": {"cpu-clock": 3 + 4 + 5 + 11 + 13}, "events": {"cpu-clock": 5, "instructions": 6},
        "stacks": {"cpu-clock": 5}, "branches": {"cycles": 5}, "branches-big": {"cycles": 5},
        "branches-first": {"cycles": 5}},  # the first of a process that is not known
    "pprof": {"bare": {"cpu": 5000, "samples": 6}, "packed": {"cpu": 5000, "samples": 6},
              "types_of_one_name": {"": 3001 + 2 + 1 + 2002}},
    "gperftools": {
        **{name: {"cpu": 11 * 10**7} for name in ("cpu", "cpu-big", "cpu-32", "cpu-32-big")},
        "cpu-cut": "at offset 144: a stack extends beyond the file", "cpu-java": "a CPU profile of Java",
        "java-heap": "a profile of Java", "threads": "a list of threads", "go-text": "a Go profile as text",
        **{name: {"inuse_space": 1024 + 256, "inuse_objects": 2 + 1, "alloc_space": 3840 + 256, "alloc_objects": 8 + 1}
           for name in ("heap", "heap-odd")},
        "growth": {"inuse_space": 1280, "inuse_objects": 3},
        "heap-sampled": {"inuse_space": 1573504, "inuse_objects": 4097, "alloc_space": 4720640, "alloc_objects": 10790},
        "jemalloc": {"inuse_space": 1573504, "inuse_objects": 4097},
        "contention": {"delay": (4000 + 1000) * 100 // 2, "contentions": (3 + 1) * 100},
        "mutex": {"delay": 10, "contentions": 2}},
    "folded": {"plain": {"samples": 12 + 3 + 7 + 5}, "large": {"samples": 2**64 - 1}},
    "perf_script": {"plain": {"cpu-clock:ppp": 1003009, "cycles": 1}, "nul": "unrecognised|known format|NUL"},
    "callgrind": {"plain": {"Ir": 1000, "Dr": 8}, "no_names": "line 14: is not a line of costs"},
}


class Totals(unittest.TestCase):
    @in_both
    def test_every_file(self):
        for kind, files in TOTALS.items():
            self.assertEqual(set(files), {path.name for path in (CORPUS / kind).iterdir()}, kind)
            for name, expected in share(files.items(), 6):
                with self.subTest(f"{kind}/{name}"):
                    done = monarc("info", "--json", CORPUS / kind / name)
                    if isinstance(expected, str):
                        self.assertEqual(done.returncode, 2)
                        self.assertRegex(done.stderr.decode(), expected)
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)
                    told, = json.loads(done.stdout)["files"]
                    self.assertEqual({e["name"]: e["weight"] for e in told["events"]}, expected)
                    for event, weight in expected.items():
                        if weight >= 2**63: # beyond what paths are added up in
                            continue
                        folded = monarc("export", "--format", "folded", "--event", event, CORPUS / kind / name).stdout
                        self.assertEqual(sum(int(line.rsplit(b" ", 1)[1]) for line in folded.splitlines()), weight)

    def test_scaled_allocations(self):
        """The numbers of heap-sampled, by the formula itself."""
        def scaled(number, size):
            return number / (1 - math.exp(-size / 524288))

        expected = TOTALS["gperftools"]["heap-sampled"]
        self.assertEqual(expected["inuse_space"], int(scaled(1024, 512)) + int(scaled(256, 256)))
        self.assertEqual(expected["alloc_objects"], int(scaled(8, 480)) + int(scaled(1, 256)))

    def test_addresses_have_names(self):
        """A CPU profile of a program that is there: its functions and lines, callers at their calls."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "prog"
            program.with_suffix(".c").write_text(
                "int leaf(int x)\n{\n    return x * 3;\n}\nint main(void)\n{\n    return leaf(1) + 1;\n}\n")
            subprocess.run(["gcc", "-g", "-O0", "-no-pie", "-o", program, program.with_suffix(".c")], check=True)
            code = subprocess.run(["objdump", "-d", program], capture_output=True, text=True, check=True).stdout
            leaf = int(re.search(r"(?m)^0*([0-9a-f]+) <leaf>:", code)[1], 16)
            call = int(re.search(r"(?m)^ *([0-9a-f]+):.*call.*<leaf>\n *([0-9a-f]+):", code)[2], 16)
            words = [0, 3, 0, 10000, 0, 7, 2, leaf + 4, call, 0, 1, 0]
            page = leaf & ~0xfff
            maps = f"{page:08x}-{page + 4096:08x} r-xp {page - 0x400000:08x} 08:01 11   {program}\n"
            path = Path(folder) / "prof"
            path.write_bytes(struct.pack(f"<{len(words)}Q", *words) + maps.encode())
            rows, _ = flat(path)
            self.assertEqual([(r["name"], float(r["self_time"]), float(r["total_time"])) for r in rows
                              if float(r["total_time"])],
                             [("leaf", 0.07, 0.07), ("main", 0, 0.07)])
            self.assertEqual(monarc("export", "--format", "folded", path).stdout, b"main;leaf 70000000\n")
            self.assertIn(b"prog.c:2", monarc("lines", path).stdout)


@unittest.skipUnless(HAS_PERF, "perf may not record here")
class PerfData(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, name):
        suffix, text = PROGRAMS[name]
        source = Path(self.folder.name) / f"{name}.{suffix}"
        if not source.exists():
            source.write_text(text)
            subprocess.run(["g++" if suffix == "cc" else "gcc", "-O2", "-g", "-fno-omit-frame-pointer", "-pthread", "-o",
                            source.with_suffix(""), source], check=True)
        return source.with_suffix("")

    def record(self, name, *options):
        data = self.program(name).with_suffix(".data")
        subprocess.run(["perf", "record", "-q", "-o", data, *options, data.with_suffix("")],
                       check=True, capture_output=True)
        return data

    def compare(self, data, cut=0):
        """Aliases of libc's functions are several names of one address: what has a name on one side
        alone is left out (munmap and __munmap are one), as long as that is little of the program's own time. So is _start:
        in the dynamic linker, perf calls its second half _dl_start_user. `cut`: how much of a caller's time perf may
        not have come to."""
        for column, with_children in (("self_samples", False), ("total_samples", True)):
            ours = shares_of_monarc(data, column)
            theirs = shares_of_perf(data, with_children)
            ours, theirs = by_plain_name(ours), by_plain_name(theirs)
            common = [n for n in ours if n in theirs and ours[n] and theirs[n] and n != "start"]
            self.assertGreaterEqual(len(common), 2, f"{ours.most_common(5)} {theirs.most_common(5)}")
            for name in common:
                self.assertGreater(ours[name], theirs[name] - 0.0151, name)
                self.assertLess(ours[name], theirs[name] + (cut if with_children else 0) + 0.0151, name)
            if not with_children:
                self.assertGreater(sum(ours[n] for n in common), 60,
                                   f"{ours.most_common(5)} {theirs.most_common(5)}")

    @slow
    def test_frame_pointers(self):
        self.compare(self.record("plain", "-F", "999", "-g"))

    @slow
    def test_frame_pointers_of_other_programs(self):
        for name in sorted(set(PROGRAMS) - {"plain"}):
            with self.subTest(name):
                self.compare(self.record(name, "-F", "999", "-g"))

    @slow
    def test_copied_stacks(self):
        self.compare_copied_stacks("plain")

    @slow
    def test_copied_stacks_of_other_programs(self):
        for name in sorted(set(PROGRAMS) - {"plain"}):
            with self.subTest(name):
                self.compare_copied_stacks(name)

    def compare_copied_stacks(self, name):
        """Under load perf loses much of so large records, now and then: then it is asked again."""
        def once():
            data = self.record(name, "-F", "499", "--call-graph", "dwarf")
            with sequential.scattering():
                cut = share_that_perf_cuts(data)
                self.assertLess(cut, 10)
                self.compare(data, cut)
        sequential.measure(name, once)

    @slow
    def test_packed_records(self):
        self.compare(self.record("plain", "-F", "999", "-g", "-z"))

    @slow
    def test_folder(self):
        """perf record --threads: a folder with a file for each of perf's threads."""
        for packed in [], ["-z"]:
            data = self.record("threads", "-F", "999", "-g", "--threads", *packed)
            self.assertTrue((data / "data.1").exists() or len(os.sched_getaffinity(0)) == 1)
            self.compare(data)
            alone = monarc("flat", data / "data").stdout
            self.assertIn(b"one file of a folder of 'perf record --threads'", alone)
            self.assertEqual(monarc_json("info", data)["files"][0]["events"][0]["samples"],
                             sum(1 for _ in self.perf_samples(data)))
            (data / "data.0").rename(data / "data.7")
            done = monarc("flat", data)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"data.0: No such file", done.stderr)
            shutil.rmtree(data)

    def perf_samples(self, data):
        done = subprocess.run(["perf", "script", "-i", data, "-F", "ip", "-G"], capture_output=True, check=True)
        return done.stdout.splitlines()

    @slow
    @sequential.decided
    def test_pipe(self):
        program = self.program("plain")
        data = subprocess.run(["perf", "record", "-q", "-F", "999", "-g", "-o", "-", program],
                              capture_output=True, check=True).stdout
        path = Path(self.folder.name) / "piped"
        path.write_bytes(data)
        rows, total = flat(path)
        names = {r["name"]: float(r["self_samples"]) / total for r in rows}
        sequential.figure(self).assertGreater(names["leaf"], 0.2)
        piped = monarc("flat", "--csv", "-", input=data)
        self.assertEqual(piped.stdout, monarc("flat", "--csv", path).stdout)

    @slow
    def test_threads_and_events(self):
        data = self.record("threads", "-F", "999", "-e", "cpu-clock,page-faults")
        info = monarc_json("info", data)["files"][0]
        self.assertEqual([e["name"] for e in info["events"]], ["cpu-clock", "page-faults"])
        self.assertGreaterEqual(len(info["threads"]), 7)

    @slow
    def test_lines(self):
        data = self.record("plain", "-F", "999", "-g")
        lines = monarc("lines", data).stdout.decode()
        self.assertIn("plain.c:", lines)

    @slow
    def test_every_report(self):
        data = self.record("plain", "-F", "999", "-g")
        for command in ("flat", "graph", "lines", "info", "doctor"):
            done = monarc(command, data)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertIn(b"leaf" if command not in ("info", "doctor") else b"plain", done.stdout)
        picture = Path(self.folder.name) / "flame.svg"
        self.assertEqual(monarc("flame", "-o", picture, data).returncode, 0)
        self.assertIn(b"leaf", picture.read_bytes())
        page = Path(self.folder.name) / "page.html"
        self.assertEqual(monarc("html", "-o", page, data).returncode, 0)
        self.assertIn(b"leaf", page.read_bytes())
        merged = Path(self.folder.name) / "merged"
        self.assertEqual(monarc("merge", "-o", merged, data, data).returncode, 0)
        rows, total = flat(merged)
        self.assertEqual(total, 2 * flat(data)[1])


def leb(value):
    """Varint."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(key, value):
    """A field of Protocol Buffers: a number, or bytes."""
    return leb(key << 3) + leb(value) if isinstance(value, int) else leb(key << 3 | 2) + leb(len(value)) + value


class Names(unittest.TestCase):
    def self_and_total(self, path, *options):
        rows, _ = flat(path, *options)
        return ({r["name"]: round(float(r["self_samples"])) for r in rows if float(r["self_samples"])},
                {r["name"]: round(float(r["total_samples"])) for r in rows})

    def test_own_exports_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = Path(folder) / "run.monarc"
            recording.mkdir()
            (recording / "monarc.side").write_bytes(whole_run().bytes())
            before = monarc("export", "--format", "folded", recording).stdout
            for format_ in "folded", "pprof":
                path = Path(folder) / format_
                exported = monarc("export", "--format", format_, recording)
                self.assertEqual(exported.returncode, 0, exported.stderr)
                path.write_bytes(exported.stdout)
                again = monarc("export", "--format", "folded", path)
                self.assertEqual(sorted(again.stdout.splitlines()), sorted(before.splitlines()),
                                 again.stderr)

    def test_perf_data_of_old(self):
        """A kernel at the same place is not this one: its functions have no names."""
        for name in "perf-3.2", "perf-2.6.36":
            rows, _ = flat(CORPUS / "perf_data" / name)
            self.assertEqual({r["name"]: float(r["self_share"]) for r in rows if float(r["self_samples"])},
                             {"[no symbol] ([kernel.kallsyms])": 7 / 12, "[no symbol] (main)": 5 / 12})

    def test_callgrind(self):
        rows, total = flat(CORPUS / "callgrind/plain")
        found = {r["name"]: (float(r["self_samples"]), int(r["calls"])) for r in rows
                 if not r["name"].startswith("[stack cut")}
        self.assertEqual(total, 1000)
        self.assertEqual(found, {"main": (100, 1), "work": (600, 3), "helper": (300, 6)})
        second = monarc("flat", "--csv", "--event", "Dr", CORPUS / "callgrind/plain").stdout.decode()
        self.assertIn("main", second.splitlines()[1])

    def test_callgrind_by_line(self):
        """Costs stand on their lines, those of inlined code in its file, and calls where they are made; a function has the
        sum. Numbers of lines are relative or not, with addresses in front or not; ??? and 0 are no lines."""
        text = (b"positions: line\nevents: Ir\nob=/p\nfl=(1) a.c\nfn=(1) f\n10 1\n+2 2\nfi=(2) h.h\n-9 4\n* 8\nfe=(1)\n12 16\n"
                b"cfn=(2) g\ncalls=3 30\n+1 99\nfl=(2)\nfn=(2)\n0 32\nob=???\nfl=(3) ???\nfn=(3) h\n7 64\nob=/p\nfl=(1)\nfn=(1)\n10 128\n")
        addresses = (b"positions: instr line\nevents: Ir\nob=/p\nfl=(1) a.c\nfn=(1) f\n0x1 10 129\n+4 +2 18\nfi=(2) h.h\n+1 3 12\n"
                     b"fe=(1)\ncfn=(2) g\ncalls=3 0x9 30\n* 13 99\nfl=(2)\nfn=(2)\n0x9 0 32\nfl=(3) ???\nfn=(3) h\n0x20 7 64\n")
        with tempfile.TemporaryDirectory() as folder:
            for i, one in enumerate((text, addresses)):
                path = Path(folder, f"{i}.out")
                path.write_bytes(one)
                table = monarc_json("lines", "--all", path)
                found = {(r["name"], r["file"], r["line"]): (r["self_samples"], r["calls"]) for r in table["lines"]}
                self.assertEqual(found, {("f", "a.c", 10): (129, 0), ("f", "a.c", 12): (18, 0), ("f", "h.h", 3): (12, 0),
                                         ("f", "a.c", 13): (0, 3), ("g", None, None): (32, 0), ("h", None, None): (64, 0)})
                self.assertEqual({r["name"]: r["self_samples"] for r in monarc_json("flat", "--all", path)["functions"]
                                  if r["self_samples"]}, {"f": 159, "g": 32, "h": 64})
                both = monarc_json("lines", "--all", path, path)
                self.assertEqual({(r["name"], r["file"], r["line"]): (r["self_samples"] / 2, r["calls"] / 2) for r in both["lines"]},
                                 found)
            self.assertNotIn("compile it", monarc("lines", path).stdout.decode())
            self.assertIn("the profile has no machine code", monarc("annotate", "--asm", path).stderr.decode())
            Path(folder, "bad.out").write_bytes(text.replace(b"-9 4", b"-x 4"))
            self.assertIn("line 9: is not a line of costs", monarc("flat", Path(folder, "bad.out")).stderr.decode())

    def test_functions_of_one_name(self):
        """Static functions of several files are several, in callgrind's files by their numbers, in pprof's by their files; a
        function without a file, or of a name that is always spelled out, is one. Lines come along."""
        callgrind = (b"events: Ir\nfl=(1) a.c\nfn=(1) work\n1 4\nfi=(9) h.h\n3 1\nfn=(2) main\n5 8\ncfi=(2) b.c\ncfn=(3) work\n"
                     b"calls=7 1\n6 9\ncfn=(1)\ncalls=2 1\n6 9\nfl=(2)\nfn=(3)\n1 16\nfl=c.c\nfn=other\n1 32\nfl=d.c\nfn=other\n1 64\n")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x")
            path.write_bytes(callgrind)
            rows = monarc_json("flat", "--all", path)["functions"]
            self.assertEqual(sorted((r["name"], r["self_samples"], r["calls"]) for r in rows if r["self_samples"]),
                             [("main", 8, 0), ("other", 96, 0), ("work", 5, 2), ("work", 16, 7)])
            lines = monarc_json("lines", "--all", path)["lines"]
            self.assertEqual(sorted((r["name"], r["file"], r["line"], r["self_samples"]) for r in lines if r["self_samples"]),
                             [("main", "a.c", 5, 8), ("other", "c.c", 1, 32), ("other", "d.c", 1, 64), ("work", "a.c", 1, 4),
                              ("work", "b.c", 1, 16), ("work", "h.h", 3, 1)])
            texts = ["", "cpu", "nanoseconds", "work", "a.c", "b.c", "main"]
            functions = ((1, 3, 4), (2, 3, 5), (3, 6, 4), (4, 3, 4), (5, 3, 0))
            locations = ((1, 1, 10), (2, 2, 10), (3, 3, 20), (4, 4, 11), (5, 5, 9))
            message = field(1, field(1, 1) + field(2, 2))
            for stack, value in (((1, 3), 4), ((2, 3), 8), ((4, 1, 3), 16), ((5,), 32)):
                message += field(2, b"".join(field(1, one) for one in stack) + field(2, value))
            message += b"".join(field(4, field(1, i) + field(4, field(1, f) + field(2, line))) for i, f, line in locations)
            message += b"".join(field(5, field(1, i) + field(2, name) + field(4, file)) for i, name, file in functions)
            path.write_bytes(message + b"".join(field(6, t.encode()) for t in texts))
            rows = monarc_json("flat", "--all", path)["functions"]
            sample = sum(r["self_samples"] for r in rows) / 60
            self.assertEqual(sorted((r["name"], round(r["self_samples"] / sample), round(r["total_samples"] / sample))
                                    for r in rows if r["total_samples"] > 0),
                             [("main", 0, 28), ("work", 8, 8), ("work", 20, 20), ("work", 32, 32)])
            lines = monarc_json("lines", "--all", path)["lines"]
            self.assertEqual(sorted((r["name"], r["file"] or "", r["line"] or 0, round(r["self_samples"] / sample),
                                     round(r["total_samples"] / sample)) for r in lines if not r["name"].startswith("[")),
                             [("main", "a.c", 20, 0, 28), ("work", "", 0, 32, 32), ("work", "a.c", 10, 4, 20),
                              ("work", "a.c", 11, 16, 16), ("work", "b.c", 10, 8, 8)])

    def test_perf_script(self):
        rows, total = flat(CORPUS / "perf_script/plain")
        self.assertEqual(total, 1)
        self.assertIn("leaf(int, std::vector<int> >)", [r["name"] for r in rows])
        folded = monarc("export", "--format", "folded", CORPUS / "perf_script/plain").stdout
        self.assertEqual(folded, b"[no symbol] ([kernel.kallsyms]);main;inner;"
                         b"leaf(int, std::vector<int> >) 1003009\n")

    def test_folded_a_line_a_sample(self):
        """A line a sample, as programs print them: most stacks come again, some with empty frames."""
        dice, truth = seeds.generator("folded a line a sample"), Counter()
        stacks = [";".join(dice.choices("abcdefgh", k=dice.randint(1, 9))) for _ in range(300)] + ["a;;b", "a;b;"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stacks"
            with path.open("w") as out:
                for stack in dice.choices(stacks, k=5000):
                    number = dice.randint(1, 9)
                    out.write(f"{stack} {number}\n")
                    truth[";".join(frame for frame in stack.split(";") if frame)] += number
            lines = monarc("export", "--format", "folded", path).stdout.decode().splitlines()
        self.assertEqual({stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in lines)}, dict(truth))

    def test_pprof(self):
        self_, total = self.self_and_total(CORPUS / "pprof/packed")
        self.assertEqual(self_, {"main": 2, "inlined": 3})
        self.assertEqual(total["leaf(int)"], 3)
        head = monarc("flat", CORPUS / "pprof/packed").stdout
        self.assertIn(b"labels of samples (1)", head)
        self.assertIn(b"below zero", head)
        bare = monarc("flat", "--csv", CORPUS / "pprof/bare").stdout
        self.assertEqual(bare, monarc("flat", "--csv", CORPUS / "pprof/packed").stdout)
        with tempfile.TemporaryDirectory() as folder:
            pieces = Path(folder) / "pieces"
            data = (CORPUS / "pprof/bare").read_bytes()
            pieces.write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))
            self.assertEqual(bare, monarc("flat", "--csv", pieces).stdout)

    def test_folded_in_any_order(self):
        """Stacks that begin alike, end within each other, or are each other's parts are told apart."""
        stacks = {"a": 1, "a;b": 2, "a;b;c": 4, "a;b;cd": 8, "a;bc": 16, "a;bc;d": 32, "b": 64, "b;a;b;c": 128, "ab": 256, "a;b;c;d": 512}
        lines = [f"{stack} {count}\n" for stack, count in stacks.items()]
        orders = [lines, lines[::-1], sorted(lines), lines[1::2] + lines[::2], lines[5:] + [";;a;;b;c 1000\n"] + lines[:5]]
        with tempfile.TemporaryDirectory() as folder:
            for i, order in enumerate(orders):
                path = Path(folder) / f"{i}.folded"
                path.write_text("".join(order))
                found = dict(line.rsplit(" ", 1) for line in monarc("export", "--format", "folded", path).stdout.decode().splitlines())
                expected = {**stacks, **({"a;b;c": 1004} if i == 4 else {})}
                self.assertEqual({stack: int(count) for stack, count in found.items()}, expected)

    @slow
    def test_folded_in_pieces(self):
        """Files are read in pieces of 256 KiB by as many threads as there are processors: neither is to be seen."""
        dice, truth, lines, stack = seeds.generator("folded in pieces"), Counter(), [], []
        names = [f"name {i} of ({'x' * (i % 19)})" for i in range(2500)]
        while sum(map(len, lines)) < 900_000:
            kind = dice.random()
            if kind < 0.7 or not lines: # begins as the one before, and also has names that came long ago
                stack = stack[:dice.randint(0, 8)] + dice.choices(names, k=dice.randint(1, 9))
            elif kind < 0.75:
                lines.append(dice.choice(["# main;work 1", "", "main;work", "\r"]) + "\n")
            elif kind > 0.95:
                lines.append(dice.choice(lines)) # is that stack once more
            if lines and kind > 0.95 or 0.7 <= kind < 0.75:
                continue
            lines.append(";".join(stack) + f" {dice.randint(1, 9)}" + dice.choice(["\n", "\r\n"]))
        long = ";".join(dice.choices(names, k=20_000))
        lines.insert(len(lines) // 2, f"{long} 3\n")
        late = lines + ["main;late 0.25"]
        for line in lines:
            stack, _, number = line.rstrip().rpartition(" ")
            if number.isdigit() and not line.startswith("#"):
                truth[stack] += int(number)
        processors = os.sched_getaffinity(0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.folded"
            told = {}
            for many in True, False:
                try:
                    os.sched_setaffinity(0, processors if many else {min(processors)})
                    for name, text in ("whole", lines), ("late", late):
                        path.write_text("".join(text), newline="")
                        told[name, many] = [monarc(*command, path).stdout for command in
                                            (("export", "--format", "folded"), ("flat", "--all", "--json"), ("info",))]
                finally:
                    os.sched_setaffinity(0, processors)
            self.assertEqual(told["whole", True], told["whole", False])
            self.assertEqual(told["late", True], told["late", False])
            found = [line.rpartition(" ") for line in told["whole", True][0].decode().splitlines()]
            self.assertEqual({stack: int(number) for stack, _, number in found}, dict(truth))
            found = [line.rpartition(" ") for line in told["late", True][0].decode().splitlines()]
            truth = Counter({stack: number * 1_000_000 for stack, number in truth.items()}) + Counter({"main;late": 250_000})
            self.assertEqual({stack: int(number) for stack, _, number in found}, dict(truth))
            odd = sum(line == "main;work\n" for line in lines)
            self.assertIn(f"{odd} times, 0.000 s: lines that are not a stack", told["whole", True][2].decode())
            path.write_text("".join(lines[:-100] + ["main;work 18446744073709551615\n"] + lines[-100:]))
            done = monarc("flat", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"the numbers are too large to be added up", done.stderr)

    def test_order_makes_no_other_tree(self):
        """Most frames are found behind their caller and not in the table: the tree has the same frames."""
        stacks = ["a", "a;b", "a;b(x);c", "a;b c;d;e", "a;b;c;d", "a;b;c;e", "a;b;d", "a;bc;c;d", "\xe9;a;b", "\xe9;\xe9;b"]
        by_bytes = sorted(stacks, key=str.encode)
        orders = {"sorted": by_bytes, "with numbers": sorted(stacks, key=lambda s: f"{s} 1".encode()),
                  "twice": by_bytes * 2, "each twice": [s for s in by_bytes for _ in "12"],
                  "one late": by_bytes[:3] + by_bytes[4:] + by_bytes[3:4], "backwards": by_bytes[::-1],
                  "odd": by_bytes[1::2] + by_bytes[::2], "empty": by_bytes[:5] + ["a;;b;c;d"] + by_bytes[5:] + ["a;b;c;d;e"]}
        frames = {"/".join(s.split(";")[:k + 1]) for s in stacks for k in range(s.count(";") + 1)}
        with tempfile.TemporaryDirectory() as folder:
            for name, order in orders.items():
                with self.subTest(name):
                    path = Path(folder) / "x.folded"
                    path.write_text("".join(f"{stack} 1\n" for stack in order))
                    told = monarc("info", path).stdout.decode()
                    self.assertIn(f" stacks: {len(frames) + (name == 'empty')} frames in context", told)

    def imported(self, name, text):
        """Rows by name, the head, and the export as folded stacks, of a file with this text."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text)
            done = monarc("flat", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = monarc("flat", "--csv", path).stdout.decode()
            shares = {row["name"]: round(100 * float(row["self_share"]), 6)
                      for row in csv.DictReader(io.StringIO(rows)) if float(row["self_share"] or 0)}
            return shares, done.stdout.decode()

    @slow
    def test_pprof_as_others_write_it(self):
        """Every unit of time; tables in any order, behind a period type; no bomb of zeros."""
        texts = ["", "cpu", "UNIT", "main", "leaf"]
        for unit, seconds in ("nanoseconds", 3e-6), ("microseconds", 3e-3), ("ms", 3), ("seconds", 3e3):
            type_ = field(1, 1) + field(2, 2)
            message = field(11, type_) + field(12, 1000)
            for id_, name in (1, 3), (2, 4):
                message += field(4, field(1, id_) + field(4, field(1, id_)))
                message += field(5, field(1, id_) + field(2, name))
            message += field(2, field(1, 2) + field(1, 1) + field(2, 3000)) + field(1, type_)
            for text in texts:
                message += field(6, text.replace("UNIT", unit).encode())
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "pprof"
                path.write_bytes(message)
                rows = csv.DictReader(io.StringIO(monarc("flat", "--csv", path).stdout.decode()))
                leaf, = [row for row in rows if row["name"] == "leaf"]
                self.assertAlmostEqual(float(leaf["self_time"]), seconds, places=9, msg=unit)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pprof"
            path.write_bytes(gzip.compress(message + field(6, bytes(100 << 20))))
            done = monarc("flat", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"the gzip data unpacks to more than 200 times its size", done.stderr)

    def pprof(self, types, values, period=None, behind=False):
        """A profile of one stack, main and leaf, with these values; `behind`: types come last."""
        texts = ["", "main", "leaf"]

        def text(what):
            texts.extend([] if what in texts else [what])
            return texts.index(what)

        def type_(name, unit):
            return field(1, text(name)) + field(2, text(unit))

        told = b"".join(field(1, type_(*t)) for t in types)
        stack = b"".join(field(4, field(1, i) + field(4, field(1, i))) + field(5, field(1, i) + field(2, i))
                         for i in (1, 2))
        sample = field(1, 2) + field(1, 1) + b"".join(field(2, v) for v in values)
        message = (b"" if behind else told) + field(2, sample) + stack
        if period:
            message += field(11, type_(*period[:2])) + field(12, period[2])
        message += b"".join(field(6, t.encode()) for t in texts)
        return message + (field(2, sample) * 9999 + told if behind else b"")

    def test_notes_are_about_the_file(self):
        """What a file has not is said of that file: nothing is to be compiled or recorded anew as monarc does."""
        text = monarc("flat", CORPUS / "callgrind/plain").stdout.decode()
        self.assertIn("the file has no stacks: callers are those of the calls it counts", text)
        doctor = monarc("doctor", CORPUS / "callgrind/plain").stdout.decode()
        for command in "lines", "annotate":
            said = monarc(command, CORPUS / "folded/plain").stderr.decode()
            self.assertIn("knows functions only by name", said)
        self.assertIn("Note     import: costs of calls", text)
        self.assertIn("docs/import.md", doctor)
        for text in text, doctor:
            self.assertNotRegex(text, "record with stacks|compile|--no-stacks|no longer exists|incomplete|recorder|--rate")

    def test_names_of_javascript(self):
        """V8 tells kind, tier and place with a name; text has the name and the file, and both are found."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "js"
            path.write_text("main;JS:*serve /usr/my app/app.js:9:1;JS:*render /usr/my app/app.js:2:16 500\n")
            text = monarc("flat", path).stdout.decode()
            self.assertRegex(text, r"(?m)  render app.js:2:16$")
            self.assertIn("serve app.js:9:1", monarc("graph", "--callers", "render", path).stdout.decode())
            self.assertEqual(monarc_json("flat", path)["functions"][0]["name"], "JS:*render /usr/my app/app.js:2:16")

    def test_pprof_without_functions(self):
        """Addresses and mappings alone, as jemalloc and agents write it: names are those of the files, by build-id, and
        where they are gone those of a folder."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = Path(scratch.name)
        (folder / "s.c").write_text("__attribute__((noipa)) int deep_one(int a)\n{\n    return a + 1;\n}\n"
                                    "int main(void)\n{\n    return deep_one(-1);\n}\n")
        subprocess.run(["gcc", "-g", "-O1", "-pie", "-fPIE", "-Wl,--build-id", "s.c", "-o", "s"], cwd=folder, check=True)
        said = subprocess.run(["readelf", "-lsnW", "s"], cwd=folder, check=True, capture_output=True, text=True).stdout
        at = {name: int(re.search(rf": (\w+) .* {name}$", said, re.M)[1], 16) for name in ("deep_one", "main")}
        offset, start, size = (int(n, 16) for n in re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) R E", said).groups())
        build_id, base = re.search(r"Build ID: (\w+)", said)[1], 0x555555554000

        def number(n):
            return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + number(n >> 7)

        def field(of, value):
            return (number(of << 3) + number(value) if isinstance(value, int) else
                    number(of << 3 | 2) + number(len(value)) + value)

        def profile(path, build_id):
            texts = ["", "cpu", "nanoseconds", "samples", "count", str(path), build_id]
            p = field(1, field(1, 3) + field(2, 4)) + field(1, field(1, 1) + field(2, 2))
            p += field(2, field(1, b"\1\2") + field(2, number(7) + number(70000000)))
            p += field(2, field(1, b"\2") + field(2, number(3) + number(30000000)))
            p += field(3, field(1, 1) + field(2, base + start) + field(3, base + start + size) + field(4, offset) +
                       field(5, 5) + field(6, 6))
            p += field(4, field(1, 1) + field(2, 1) + field(3, base + at["deep_one"] + 1))
            p += field(4, field(1, 2) + field(2, 1) + field(3, base + at["main"] + 8))
            p += b"".join(field(6, text.encode()) for text in texts) + field(11, field(1, 1) + field(2, 2)) + field(12, 10000000)
            (folder / "p.pb").write_bytes(p)
            return folder / "p.pb"

        for path, told, options in ((folder / "s", build_id, ()), (folder / "s", "", ()), (folder / "s", "a/go-b", ()),
                                    ("/gone/s", build_id, ("--symbols", folder))):
            table = monarc_json("flat", *options, profile(path, told))
            found = {f["name"]: (f["self_samples"], f["total_samples"]) for f in table["functions"]}
            self.assertEqual((found["deep_one"], found["main"]), ((7, 7), (3, 10)), table)
            self.assertEqual(table["summary"]["recording"]["event"], "cpu")
        found = monarc_json("flat", profile(folder / "s", "00" * 20))["functions"]
        self.assertNotIn("deep_one", [f["name"] for f in found])

    def test_pprof_counts_samples_by_the_period(self):
        """A stack stands once, however often it was sampled; without a period it is one sample."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pprof"
            cpu = [("cpu", "nanoseconds")]
            for types, values, period, count in ((cpu, [70 * 10**6], ("cpu", "nanoseconds", 10**7), 7),
                                                 (cpu, [70 * 10**6], ("cpu", "milliseconds", 10), 7),
                                                 (cpu, [70 * 10**6], ("wall", "nanoseconds", 10**7), 1),
                                                 (cpu, [10**6], ("cpu", "nanoseconds", 10**7), 1), (cpu, [5], None, 1),
                                                 ([("samples", "count"), *cpu], [3, 70 * 10**6], ("cpu", "nanoseconds", 10**7), 3)):
                path.write_bytes(self.pprof(types, values, period))
                self.assertEqual(monarc_json("flat", path)["summary"]["recording"]["samples_taken"], count, (values, period))

    @slow
    def test_pprof_units(self):
        """Weights are in nanoseconds, bytes or numbers, whatever a type is called; exports say so."""
        cases = (("cpu", "count", 3, 3, "count"), ("cpu", "microseconds", 3, 3000, "ns"), ("t", "hours", 2, 7200 * 10**9, "ns"),
                 ("t", "\N{GREEK SMALL LETTER MU}s", 5, 5000, "ns"), ("inuse_space", "bytes", 7, 7, "bytes"),
                 ("m", "MB", 3, 3 << 20, "bytes"), ("m", "kilobytes", 3, 3072, "bytes"), ("gcu", "gcu", 6, 6, "count"),
                 ("goroutine", "", 4, 4, "count"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pprof"
            for name, unit, value, weight, kind in cases:
                path.write_bytes(self.pprof([(name, unit)], [value]))
                event, = monarc_json("info", path)["files"][0]["events"]
                self.assertEqual((event["name"], event["weight"], event["unit"]), (name, weight, kind))
                exported = gzip.decompress(monarc("export", "--format", "pprof", path).stdout)
                self.assertIn({"ns": b"nanoseconds", "count": b"\x05count", "bytes": b"\x05bytes"}[kind], exported)
                path.write_bytes(exported)
                again, = monarc_json("info", path)["files"][0]["events"]
                self.assertEqual((again["weight"], again["unit"]), (weight, kind))
            path.write_bytes(self.pprof([("cpu", "count")], [3]))
            self.assertRegex(monarc("flat", path).stdout, b"^3 cpu: ")
            path.write_bytes(self.pprof([("contentions", "count"), ("delay", "nanoseconds")], [3, 77],
                                        ("contentions", "count", 2)))
            events = monarc_json("info", path)["files"][0]["events"]
            self.assertEqual([(e["name"], e["period"]) for e in events], [("delay", 0), ("contentions", 2)])
            path.write_bytes(self.pprof([("cpu", "count")], [3], behind=True))
            event, = monarc_json("info", path)["files"][0]["events"]
            self.assertEqual(event["weight"], 30000)

    def test_folded_as_others_write_it(self):
        """Fractions keep their shares; comments are nothing; odd lines are said."""
        shares, _ = self.imported("parts", "# made by hand\nmain;a 2.5\nmain;b 0.25\n\nmain;c 7.25\n")
        self.assertEqual(shares, {"a": 25, "b": 2.5, "c": 72.5})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.folded"
            path.write_text("main;a 2.5\nmain;b 3\n")
            event, = monarc_json("info", path)["files"][0]["events"]
            self.assertEqual((event["name"], event["weight"]), ("millionths", 5500000))
            path.write_text("main;a 2\nmain;b 3\n")
            event, = monarc_json("info", path)["files"][0]["events"]
            self.assertEqual((event["name"], event["weight"]), ("samples", 5))
        shares, head = self.imported("odd", "main;a 3\nmain;b one\nmain;b 1\nmain\n" + "main;a 0\n" * 5)
        self.assertEqual(shares, {"a": 75, "b": 25})
        self.assertIn("lines that are not a stack followed by a number (2)", head)
        shares, _ = self.imported("powers", "main;a 1e3\nmain;b 1000\nmain;c 0.5e3\nmain;d +5\nproc 12;thread-3 4 1500\n")
        self.assertEqual(shares, {"a": 25, "b": 25, "c": 12.5, "thread-3 4": 37.5})
        shares, _ = self.imported("marked", "\ufeffmain;a 3\nmain;b 1\nmain 4\n")  # as tools of Windows write UTF-8
        self.assertEqual(shares, {"a": 37.5, "b": 12.5, "main": 50})
        with tempfile.TemporaryDirectory() as folder:  # of two runs, as difffolded.pl writes them
            path = Path(folder) / "x.folded"
            path.write_text("main;a 10 12\nmain;b 5 3\n")
            done = monarc("flat", path)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
            self.assertIn(b"two counts in each line", done.stderr)

    def test_perf_script_as_others_print_it(self):
        """Without times; with a blank line behind the event; with a line that is none."""
        stack = "\t    55d0 inner+0x10 (/bin/p)\n\t    55e0 main+0x1 (/bin/p)\n\n"
        other = "\t    55f0 other+0x4 (/bin/p)\n\t    55e0 main+0x1 (/bin/p)\n\n"
        for first in "p 12/13     3000 cycles:u: \n", "p 12/13 [001]     3000 cycles:u: \n", "p  12  1.5:  3000 cycles:u: \n\n":
            second = first.replace("3000", "1000")
            shares, _ = self.imported("script", first + stack + second + other)
            self.assertEqual(shares, {"inner": 75, "other": 25}, first)
        shares, head = self.imported("odd", first + stack + "what is this?\n" + second + other)
        self.assertEqual(shares, {"inner": 75, "other": 25})
        self.assertIn("lines that are neither a sample nor a frame (1)", head)
        shares, head = self.imported("cut", first + stack + "\t 55d0 cut (\n\t 55d0 (\n\t 55d0 cut (x))\n\t 55d0 )\n" + second + other)
        self.assertEqual(shares, {"inner": 75, "other": 25})
        self.assertIn("lines that are neither a sample nor a frame (4)", head)
        first = "p 12/13     3000 cycles:u: \n"
        for name in "/tv service/lib api.so", "/a (deleted)", "[JIT app cache]", "/b(1)/c", "//anon", "(x)":
            shares, _ = self.imported("objects", f"{first}\t  55d0 in(int (*)(char)) const+0x10 ({name})\n\t  55e0 main ({name})\n\n")
            self.assertEqual(shares, {"in(int (*)(char)) const": 100}, name)

    def test_perf_script_of_any_thread(self):
        """Threads without a name; fields that were added or left out; records among the samples; a thread's program."""
        stack = "\t    55d0 {}+0x10 (/bin/p)\n\t    55e0 main+0x1 (/usr/lib/libc.so.6)\n\n"
        record = "p  12 1.4: PERF_RECORD_{}\n"
        records = "".join(map(record.format, ("MMAP2 12/12: [0x55(0x1000) @ 0 fe:01 12 0]: r-xp /bin/p",
                                              "COMM exec: p:12/12", "COMM: p:12/12", "LOST lost 7",
                                              "EXIT(12:12):(12:12)")))
        for first in (" 12 1.5:     {} cycles: \n", "p 12 K     1.5:  {} cycles: \n",
                      "p 12 [003] .N.. 1.5: {} cycles: \n", "12 1.5: {} cycles: \n", " 12    {} cycles: \n",
                      "a b (c) 7 12 1.5: {} cycles: \n"):
            text = records + first.format(3000) + stack.format("inner") + records + first.format(1000) + stack.format("other")
            shares, head = self.imported("any", text)
            self.assertEqual(shares, {"inner": 75, "other": 25}, first)
            self.assertIn("records that the kernel had no room for (14)", head)
            self.assertRegex(head, r"Program +/bin/p\n")

    def test_counts_of_a_group(self):
        """`perf record -e '{a,b}:S'`: b has no samples, its counts are read with each of a. Of threads that inherit
        them, each has its own."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = Path(scratch.name)
        for order, inherits in ("<", False), (">", True):
            f = File(order, IDENTIFIER | IP | TID | TIME | PERIOD | READ | CHAIN, flags=(18, 1) if inherits else (18,))

            def attribute(config, period):
                return (plain := f.attribute(1, config, period))[:32] + f.pack("Q", GROUP_BY_ID) + plain[40:]

            def sample(tid, ip, when, faults):
                body = f.pack("QQIIQQ", 11, ip, 7, tid, when, 10**6) + f.pack("QQQQQ", 2, when, 11, faults, 12)
                return f.record(9, 2, body + f.pack("QQQ", 2, CONTEXT_USER, ip))

            records = f.name(7, b"main", 100)
            records += f.mapping(7, 0x400000, 0x1000, 0, b"/nowhere/a") + f.mapping(7, 0x500000, 0x1000, 0, b"/nowhere/b")
            records += sample(7, 0x400010, 200, 5) + sample(7, 0x500010, 300, 5)
            records += sample(8, 0x500010, 350, 3 if inherits else 8) + sample(7, 0x400010, 400, 12 if inherits else 15)
            data = folder / f"group.{'big' if inherits else 'little'}"
            data.write_bytes(f.whole([attribute(0, 10**6), attribute(2, 0)], [[11], [12]], records))
            table = monarc_json("flat", "--all", "--event", "page-faults", data)
            found = {row["name"]: round(row["self_time"]) for row in table["functions"]}
            self.assertEqual((found["[no symbol] (a)"], found["[no symbol] (b)"]), (12, 3), table)

    def test_damage_is_one_line(self):
        whole = {"pprof": gzip.decompress((CORPUS / "pprof/packed").read_bytes())[:-30],
                 "perf_data": (CORPUS / "perf_data/little").read_bytes()[:600],
                 "folded": b"a;b 18446744073709551615\n" * 2,
                 "callgrind": b"events: Ir\nfn=main\n1 x\n"}
        with tempfile.TemporaryDirectory() as folder:
            for name, data in whole.items():
                path = Path(folder) / name
                path.write_bytes(data)
                done = monarc("flat", path)
                self.assertEqual(done.returncode, 2, name)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(str(path).encode(), done.stderr)

    def test_file_that_shrinks(self):
        """A mapped file that becomes shorter raises SIGBUS: one line, and status 2."""
        with subprocess.Popen([monarc_path(), "flat", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as waiting:
            waiting.stdin.write(b"a;b 1\n")
            waiting.stdin.flush()
            while not Path(f"/proc/{waiting.pid}/syscall").read_text().split()[1:2] == ["0x0"]:
                time.sleep(0.01)
            waiting.send_signal(signal.SIGBUS)
            out, errors = waiting.communicate()
        self.assertEqual((waiting.returncode, out), (2, b""))
        self.assertEqual(errors, b"monarc: a file became shorter, or unreadable, while it was read\n")

    def test_recordings_only(self):
        """A file of another profiler has its program in it: no other operand fits."""
        done = monarc("flat", CORPUS / "folded/plain", "gmon.out")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is a recording", done.stderr)


if __name__ == "__main__":
    main()
