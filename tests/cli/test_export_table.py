"""All exports say the same of who spent what: one table of self times by function, of a recording in which
functions are inlined, beside `monarc flat`. With inlined functions by name, and without them."""

import json
import os
import re
import shlex
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from harness import main, monarc, monarc_json
from parts import load_tests, slow
import parquet_file
from test_export import FORMATS, Case, Otlp, Pprof, cpuprofile_paths, sums_of_paths

CC = shlex.split(os.environ.get("CC", "cc"))
PROGRAM = """
static volatile long sum;
static inline __attribute__((always_inline)) void folded_in(void) { for (int i = 0; i < 40000000; i++) sum += i; }
static inline __attribute__((always_inline)) void deeper(void) { for (int i = 0; i < 20000000; i++) sum ^= i; }
static inline __attribute__((always_inline)) void between(void) { deeper(); for (int i = 0; i < 20000000; i++) sum += 2; }
__attribute__((noinline)) void host(void) { folded_in(); for (int i = 0; i < 30000000; i++) sum -= i; between(); }
__attribute__((noinline)) void plain(void) { for (int i = 0; i < 30000000; i++) sum += 3; }
int main(void) { host(); plain(); return 0; }
"""
NANOSECONDS = 10**9


def plain_name(name):
    """Without what a format puts behind the names of inlined functions."""
    return re.sub(r" (\[inlined\]|\(inlined\))$", "", name)


def callgrind_self(text):
    """Costs that stand below fn= and not below calls=."""
    own, names, function, is_call = defaultdict(int), {}, None, False
    for line in text.splitlines():
        named = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
        if named:
            if named[3]:
                names[named[2]] = named[3]
            if named[1] == "fn":
                function = names[named[2]]
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[+\-*\d]", line) and function:
            if not is_call:
                own[plain_name(function)] += int(line.split()[-1])
            is_call = False
    return own


class Table(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        Path(folder.name, "p.c").write_text(PROGRAM)
        subprocess.run([*CC, "-O1", "-g", "-fno-sanitize=all", "-o", "p", "p.c"], cwd=folder.name, check=True)
        done = monarc("run", "--no-report", "-o", "p.monarc", "./p", cwd=folder.name)
        assert done.returncode == 0, done.stderr
        cls.recording = Path(folder.name, "p.monarc")

    def own(self, name, *options):
        """Nanoseconds of self time by function, as a reader of the format finds them; None: it has none."""
        path = self.export(name, *options, self.recording)
        if name == "pprof":
            return Pprof(path.read_bytes()).self
        if name == "callgrind":
            return callgrind_self(path.read_text())
        if name == "parquet-functions":
            found = defaultdict(int)
            for row in parquet_file.read(path.read_bytes())[0]:
                found[row["function"]] += row["self"]
            return found
        if name in ("dot", "parquet-calls"):
            return None
        paths = {"folded": lambda: self.folded(*options, self.recording),
                 "otlp": lambda: Otlp(path.read_bytes()).paths,
                 "cpuprofile": lambda: cpuprofile_paths(json.loads(path.read_text())),
                 "parquet": lambda: [(row["stack"].split(";"), row["self"]) for row in parquet_file.read(path.read_bytes())[0]],
                 "firefox": lambda: [(stack, weight * 1e6) for _, samples in self.firefox(*options, self.recording)[0]
                                     for stack, _, weight in samples if stack],
                 "speedscope": lambda: self.speedscope_paths(path)}[name]()
        return sums_of_paths(paths)[0]

    def speedscope_paths(self, path):
        page = json.loads(path.read_text())
        names = [frame["name"] for frame in page["shared"]["frames"]]
        return [([names[i] for i in stack], weight) for profile in page["profiles"]
                for stack, weight in zip(profile["samples"], profile["weights"]) if stack]

    def compare(self, *options):
        """Every format against flat, to the rounding: a nanosecond a path, and what a format's unit is."""
        flat = monarc_json("flat", "--all", *options, self.recording)
        expected = defaultdict(float)
        for row in flat["functions"]:
            expected[row["name"]] += row["self_time"] * NANOSECONDS
        for name in FORMATS:
            own = self.own(name, *options)
            if own is None:
                continue
            found = defaultdict(float)
            for function, amount in own.items():
                found[plain_name(function)] += amount
            for function, amount in expected.items():
                self.assertAlmostEqual(found[function], amount, delta=10000, msg=f"{name}: {function}")
            self.assertAlmostEqual(sum(found.values()), sum(expected.values()), delta=50000, msg=name)
        return expected

    @slow
    def test_with_inlined_functions(self):
        own = self.compare()
        for function in "folded_in", "deeper", "between", "host", "plain":
            self.assertGreater(own[function], 0, function)

    @slow
    def test_without_them(self):
        own, whole = self.compare("--no-inlines"), self.compare()
        self.assertFalse({"folded_in", "deeper", "between"} & {name for name, amount in own.items() if amount})
        self.assertAlmostEqual(own["host"], sum(whole[name] for name in ("folded_in", "deeper", "between", "host")), delta=10)
        self.assertAlmostEqual(own["plain"], whole["plain"], delta=1)

    def test_who_is_inlined_where(self):
        """Formats of calls have them, though nothing is called."""
        calls = {(row["caller"], row["callee"]) for row in parquet_file.read(self.export("parquet-calls", self.recording).read_bytes())[0]}
        self.assertLessEqual({("host", "folded_in"), ("host", "between"), ("between", "deeper"), ("main", "host")}, calls)
        text = self.export("callgrind", self.recording).read_text()
        self.assertIn("folded_in [inlined]", text)
        dot = self.export("dot", self.recording).read_text()
        share = 100 * next(row for row in monarc_json("flat", self.recording)["functions"] if row["name"] == "folded_in")["self_share"]
        self.assertRegex(dot, rf"folded_in[^;]*{share:.2f}")


if __name__ == "__main__":
    main()
