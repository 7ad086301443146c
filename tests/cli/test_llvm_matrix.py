#!/usr/bin/env python3
"""test_llvm_matrix.py [--table]: every clang and rustc that is found in PATH (clang-13, …; rustc, rustc-1.63) times kinds of
programs, each against the llvm-cov and llvm-profdata of the same version.

    lcov     lines, functions and their counts: equal to `llvm-cov export -format=lcov`
    json     functions, regions, branches, decisions: equal to `llvm-cov export`, put together by the rules of
             docs/coverage.md: instances of a template are one, a macro's branches and decisions stand where it is used
    sums     of several runs, in any order: equal to `llvm-profdata merge -text`, to the byte
    files    raw, indexed and text, written for every release that is found: its llvm-profdata reads the same

`--table` runs all of them and prints the table of docs/coverage.md: a cell without a text is one that the compiler does
not have. What a rule makes different is not skipped, but computed here from llvm-cov's own JSON."""

import collections
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from harness import can_run, monarc
from parts import load_tests, slow
from test_cover_llvm import C, CPP, FLAGS, OTHER_C, OTHER_CPP, RUST, Folder, cover, cover_json, has_tools, lcov

CLANGS = [v for v in range(11, 23) if has_tools(v)]
CHECKS = ("lcov", "json", "sums", "files")

MACROS = """\
#include "macros.h"
#define INNER(x) ((x) > 2 ? (x) : -(x))
#define MIDDLE(x, y) (INNER(x) > 1 && INNER(y) < 9)
#define OUTER(x, y) do { if (MIDDLE(x, y) || IN_HEADER(x)) n++; else n--; } while (0)
#define FUNCTION(name) static int name(int a) { return a ? a + 1 : 2; }
FUNCTION(first)
FUNCTION(second)
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < 5; i++) {
        OUTER(i, n); OUTER(n, argc);
        if (IN_HEADER(i)) n += first(i);
    }
    return second(n) + LOOP(n) > 1000;
}
"""
MACROS_H = """\
#define IN_HEADER(x) (x == 3 || DEEPER(x))
#define DEEPER(x) ((x) > 100 && (x) < 200)
#define LOOP(n) ({ int k = n; while (k > 3) k--; k; })
"""
STATICS = ["""\
static int helper(int a) { if (a > 1) return 1; return 0; }
static int value(void) { return 1; }
int NAME(int a) { return helper(a) + value(); }
""", """\
int one(int), two(int), three(int);
static int helper(int a) { return a ? 7 : 8; }
int main(int argc, char **argv)
{
    int n = helper(argc);
    for (int i = 0; i < 4; i++)
        n += one(i) + (i > 1 ? two(i) : 0);
    return n + (argc > 90 ? three(2) : 0) > 1000;
}
"""]
CONDITIONS = """\
#define EITHER(a, b) ((a) || (b))
static int f(int a, int b, int c, int d)
{
    if (a && (b || c) && !d)
        return 1;
    if (EITHER(a, b && c) || (c && d))
        return 2;
    return a && b ? 3 : 4;
}
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < 11; i++)
        n += f(i & 1, i & 2, i & 4, i & 8);
    while (n > 3 && argc) { n /= 2; if (n == 4 || n == 7) n--; }
    return n > 1000;
}
"""
# name: sources, of which the first ends say the language; what it takes; the first version that has it
PROGRAMS = {
    "C": ({"a.c": C, "o.c": OTHER_C}, [], 0),
    "C -O2": ({"a.c": C, "o.c": OTHER_C}, ["-O2"], 0),
    "C++ templates": ({"t.cpp": CPP, "o.cpp": OTHER_CPP}, [], 0),
    "C++ -O2": ({"t.cpp": CPP, "o.cpp": OTHER_CPP}, ["-O2"], 0),
    "nested macros": ({"m.c": MACROS, "macros.h": MACROS_H}, [], 0),
    "equal statics": ({"x/s.c": STATICS[0].replace("NAME", "one"), "y/s.c": STATICS[0].replace("NAME", "two"),
                       "z.c": STATICS[0].replace("NAME", "three"), "main.c": STATICS[1]}, [], 0),
    "MC/DC": ({"d.c": CONDITIONS, "a.c": C.replace("main(", "main_of_a("), "o.c": OTHER_C}, ["-fcoverage-mcdc"], 19),
    "single-byte": ({"t.cpp": CPP, "o.cpp": OTHER_CPP}, ["-mllvm", "-enable-single-byte-coverage=1"], 17),
    "libraries": ({"a.c": C, "o.c": OTHER_C}, ["-fPIC"], 0),
    "pool %4m": ({"a.c": C, "o.c": OTHER_C}, [], 0),
    "-m32": ({"a.c": C.replace("#include <stdio.h>", "int printf(const char *, ...);"), "o.c": OTHER_C}, ["-m32"], 0),
    "joined files": ({"a.c": C, "o.c": OTHER_C}, [], 0),
    "build-id": ({"a.c": C, "o.c": OTHER_C}, ["-Wl,--build-id=sha1"], 0),
    "temporal": ({"a.c": C, "o.c": OTHER_C}, ["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"], 17),
}
WITHOUT_INSTANCES = {"C", "C -O2", "MC/DC", "libraries", "pool %4m", "-m32", "joined files", "build-id"}
RUSTS = {"Rust": [], "Rust -O": ["-O"]}
# A rustc that was built without a runtime takes that of the clang of its LLVM.
BORROWED = ["-Zno-profiler-runtime", "-Clink-arg=-u__llvm_profile_runtime", "-Clink-arg=-Wl,--no-as-needed"]


@functools.cache
def rustcs():
    """(command, release, LLVM's release) of each whose llvm-cov is here."""
    found = []
    for name in ("rustc", *(f"rustc-1.{minor}" for minor in range(60, 120))):
        if shutil.which(name):
            said = subprocess.run([name, "-vV"], capture_output=True, text=True).stdout
            llvm = int((re.search(r"LLVM version: (\d+)", said) or [0, 0])[1])
            release = re.search(r"release: (\d+\.\d+)", said)
            if llvm in CLANGS and release:
                found.append((name, release[1], llvm))
    return found


def joined(sources, value, key):
    return sources.setdefault(value, {}).setdefault(key, collections.Counter())


def outermost(function, region):
    """The region of the main file that a macro's stands in; itself, if it is there."""
    *_, file, _, _ = region
    uses = {r[6]: r for r in function["regions"] if r[7] == 1}
    for _ in range(len(function["filenames"])):
        if file not in uses:
            break
        region, file = uses[file], uses[file][5]
    return region, function["filenames"][file]


def by_rules(exported):
    """What llvm-cov's JSON says, by place: {source: {functions, regions, branches, decisions}}."""
    out = {}
    for function in exported["functions"]:
        name = re.sub(r"^[^;:]*\.[a-z]+[:;]", "", function["name"])
        main = next(r for r in function["regions"] if r[7] in (0, 3) and outermost(function, r)[0] is r)
        joined(out, function["filenames"][main[5]], "functions")[name, main[0]] += function["count"]
        times = collections.Counter()
        for region in function["regions"]:
            use, source = outermost(function, region)
            if region[7] == 0:
                place = (*use[:4], *region[:4]) if use is not region else tuple(region[:4])
                joined(out, source, "regions")[place, times[place]] += region[4]
                times[place] += 1
        for *at, if_true, if_false, file, expanded, kind in function["branches"]:
            use, source = outermost(function, [*at, 0, file, expanded, kind])
            key = (use[0], *(use[:4] if use[5] != file else (0,) * 4), *at)
            for side, count in enumerate((if_true, if_false)):
                joined(out, source, "branches")[(*key, side)] += count
        for at in function.get("mcdc_records", []):
            if len(at) < 11:  # 19 does not say in which macro it is
                joined(out, function["filenames"][main[5]], "decisions")[0, *at[:4], tuple(at[-1])] += 1
                continue
            use, source = outermost(function, [*at[:4], 0, *at[6:9]])
            joined(out, source, "decisions")[use[0], *use[:4], *at[:4], tuple(at[-2])] += 1
    return out


class Cell(Folder):
    """One compiler and one program."""
    compiler, version, program = None, 0, None

    def build(self):
        """Leaves self.objects and three or more runs of another length each, self.raws."""
        if self.compiler.startswith("rustc"):
            self.write("r.rs", RUST)
            command = [self.compiler, "-g", "-Cinstrument-coverage", *RUSTS[self.program], "-o", "program", "r.rs"]
            made = subprocess.run(command, cwd=self.folder, capture_output=True)
            if b"profiler runtime" in made.stderr:
                runtime = self.run_in(f"clang-{self.version}", "--rtlib=compiler-rt", "-print-file-name=libclang_rt.profile-"
                                      f"{os.uname().machine}.a").stdout.decode().strip()
                made = subprocess.run([*command, *BORROWED, f"-Clink-arg={runtime}", "-Clink-arg=-lc"], cwd=self.folder, capture_output=True,
                                      env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
            if made.returncode:
                self.skipTest("rustc has no profiler runtime, and clang's does not link")
            self.objects = ["program"]
        else:
            sources, more, _ = PROGRAMS[self.program]
            for name, text in sources.items():
                (self.folder / name).parent.mkdir(exist_ok=True)
                self.write(name, text)
            names = [n for n in sources if not n.endswith(".h")]
            options = [*(FLAGS if self.program != "temporal" else ["-w"]), *more]
            command = [f"clang++-{self.version}" if names[0].endswith("pp") else f"clang-{self.version}", *options]
            self.objects = ["program"]
            if self.program == "libraries":
                for i, name in enumerate(names):
                    text = sources[name].replace("main(", "main_of_a(")
                    self.write(name, text)
                    self.run_in(*command, "-shared", "-o", f"lib{i}.so", name)
                self.write("main.c", "int main_of_a(int, char **);\nint main(int c, char **v) { return main_of_a(c, v); }\n")
                names = ["main.c", "./lib0.so", "./lib1.so"]
                self.objects += ["lib0.so", "lib1.so"]
            made = subprocess.run([*command, "-o", "program", *names], cwd=self.folder, capture_output=True)
            if made.returncode and self.program == "-m32":
                self.skipTest("no runtime of 32 bits is installed")
            self.assertEqual(made.returncode, 0, made.stderr.decode())
            if self.program == "-m32" and not can_run(self.folder / "program"):
                self.skipTest("this kernel runs no 32-bit programs")
        self.raws = [f"{i}.profraw" for i in range(3)]
        for i, name in enumerate(self.raws):
            pattern = "pool-%4m.profraw" if self.program == "pool %4m" else name
            for _ in range(5 if self.program == "pool %4m" else 1):
                self.run_in("./program", *["x"] * 3 * i, env={"LLVM_PROFILE_FILE": pattern})
        if self.program == "pool %4m":
            self.raws = sorted(p.name for p in self.folder.glob("pool-*.profraw"))
        if self.program == "joined files":
            self.write("all.profraw", b"".join((self.folder / name).read_bytes() for name in self.raws[:2]))
            self.raws = ["all.profraw", self.raws[2]]
        self.peers = self.raws
        if self.program == "libraries" and self.version < 14:
            # llvm-profdata 13 refuses what three objects left in one file: it gets a file of each.
            for i in range(3):
                self.run_in("./program", *["x"] * 3 * i, env={"LLVM_PROFILE_FILE": f"{i}-%m.profraw"})
            self.peers = sorted((p.name for p in self.folder.glob("?-*.profraw")), key=lambda name: name[0])

    def theirs(self, *operands, version=None, name="theirs.proftext"):
        self.run_in(f"llvm-profdata-{version or self.version}", "merge", "-text", "-o", name, *operands)
        return re.sub(rb"(?s):temporal_prof_traces\n.*?\n\n", b"", (self.folder / name).read_bytes())

    def check_said(self, done, what=None):
        """Traces of first calls are `order`'s business: left out of sums, and said so."""
        said = b"monarc: left out: the order in which functions were first called\n"
        self.assertEqual((done.returncode, done.stderr.replace(said, b"") if self.program == "temporal" else done.stderr),
                         (0, b""), what)

    def exported(self, form):
        return self.run_in(f"llvm-cov-{self.version}", "export", f"-format={form}", "-instr-profile", "theirs.profdata",
                           self.objects[0], *itertools.chain(*(("-object", o) for o in self.objects[1:]))).stdout.decode()

    def is_sloppy(self):
        return self.program == "single-byte"

    def check_lcov(self):
        want = lcov(self.exported("lcov"))
        for operands in (self.raws, ["theirs.profdata"], ["theirs.proftext"]):
            got, done = cover(self.folder, *self.objects, *operands)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(set(got), set(want))
            for source, of_source in want.items():
                for key in ("DA", "FN"):
                    counts, wanted = got[source][key], of_source[key]
                    if self.is_sloppy():
                        counts, wanted = ({k: min(n, 1) for k, n in c.items()} for c in (counts, wanted))
                    self.assertEqual(counts, wanted, (source, key))

    def check_json(self):
        """Ours has no columns of branches: a line's counts are compared, in the order of their places. Conditions that
        macros are part of come in another order."""
        exported = json.loads(self.exported("text"))["data"][0]
        want = by_rules(exported)
        got = cover_json(self.folder, "--system", "--all-branches", "--no-markers", *self.objects, *self.raws)
        root = got["root"]
        sources = {f"{root}/{s['path']}" if s["path"][0] != "/" else s["path"]: s for s in got["sources"]}
        low = (lambda n: min(n, 1)) if self.is_sloppy() else (lambda n: n)
        if self.program in WITHOUT_INSTANCES:  # then no rule differs from llvm-cov's own
            theirs = exported["totals"]["regions"]
            self.assertEqual(got["totals"]["regions"], {"all": theirs["count"], "hit": theirs["covered"], "unknown": 0})
        for source, of_source in want.items():
            if source not in sources:
                self.assertEqual(set(of_source) - {"regions"}, set(), source)
                continue
            ours = sources[source]
            functions = collections.Counter()
            for f in ours["functions"]:
                functions[f["linkage_name"], f["start_line"]] += low(f["count"])
            wanted = collections.Counter()
            for key, n in of_source.get("functions", {}).items():
                wanted[key] += low(n)
            self.assertEqual(functions, wanted, source)
            self.compare_branches(ours, of_source.get("branches", {}))
            self.compare_regions(ours, of_source.get("regions", {}))
            decisions = collections.Counter()
            for line in ours["lines"]:
                for c in line.get("conditions", []):
                    decisions[line["line"], tuple(sorted(on for on, _ in c["outcomes"]))] += 1
            wanted = collections.Counter()
            for key in of_source.get("decisions", {}):
                wanted[key[0], tuple(sorted(key[-1]))] += 1
            if self.version < 20:
                decisions = collections.Counter(shown for _, shown in decisions.elements())
                wanted = collections.Counter(shown for _, shown in wanted.elements())
            self.assertEqual(decisions, wanted, source)

    def compare_branches(self, ours, branches):
        """A side that the compiler knows never to happen has 0 at llvm-cov, and is none at ours."""
        got, wanted = collections.defaultdict(list), collections.defaultdict(list)
        for line in ours["lines"]:
            for b in line.get("branches", []):
                got[line["line"]].append(b["count"])
        for key in sorted(branches):
            wanted[key[0]].append(branches[key])
        for line in set(got) | set(wanted):
            left = list(got[line])
            for n in wanted[line]:
                if left and left[0] == n:
                    left.pop(0)
                else:
                    self.assertEqual(n, 0, (line, got[line], wanted[line]))
            self.assertEqual(left, [], (line, got[line], wanted[line]))

    def compare_regions(self, ours, regions):
        got = ours["totals"]["regions"]
        self.assertEqual(got, {"all": len(regions), "hit": sum(n > 0 for n in regions.values()), "unknown": 0}, ours["path"])
        for name, key in ("all", "regions"), ("hit", "regions_hit"):
            self.assertEqual(got[name], sum(line.get(key, 0) for line in ours["lines"]))

    def check_sums(self):
        want = self.theirs(*self.peers)
        for i, order in enumerate(itertools.islice(itertools.permutations(self.raws), 6)):
            done = monarc("merge", "-o", f"ours{i}.proftext", *order, cwd=self.folder)
            self.check_said(done)
            self.assertEqual((self.folder / f"ours{i}.proftext").read_bytes(), want, order)

    def check_files(self):
        """Condition bits have other numbers in LLVM 18, and none before: those are refused (test_llvm_files.py). Raw
        single bytes hold no sums."""
        want = self.theirs(*self.peers)
        one = self.theirs(*self.peers[:len(self.peers) // len(self.raws)], name="one.proftext")
        for version in CLANGS:
            if version < (19 if self.program == "MC/DC" else 17 if self.is_sloppy() else 0):
                continue
            for source, of_source in ((self.raws[0], one), ("theirs.profdata", want), ("theirs.proftext", want)):
                for target in ("x.profraw", "x.profdata")[self.is_sloppy() and of_source != one:]:
                    done = monarc("convert", "--llvm", version, "-o", target, source, cwd=self.folder)
                    self.check_said(done, (version, source, target))
                    self.assertEqual(self.theirs(target, version=version), of_source, (version, source, target))

    def run_checks(self):
        """What is wrong, by check."""
        self.build()
        self.run_in(f"llvm-profdata-{self.version}", "merge", "-o", "theirs.profdata", *self.peers)
        self.theirs(*self.peers)
        for check in CHECKS:
            if self.program == "temporal" and check in ("lcov", "json"):
                continue
            if self.program == "build-id" and check == "files":
                shown = self.run_in(f"llvm-profdata-{self.version}", "show", *["--binary-ids"] * (self.version > 13),
                                    self.raws[0]).stdout.decode()
                told = monarc("info", self.raws[0], cwd=self.folder).stdout.decode()
                self.assertEqual(re.findall(r"build-id (\w+)", told), re.findall(r"^([0-9a-f]{40})$", shown, re.M))
            with self.subTest(check):
                getattr(self, f"check_{check}")()


def cells():
    for version in CLANGS:
        for program, (_, _, since) in PROGRAMS.items():
            if version >= since:
                yield f"clang {version}", f"clang-{version}", version, program
    for command, release, llvm in rustcs():
        for program in RUSTS:
            yield f"rustc {release}", command, llvm, program


def load_cells():
    """A class for each cell, so that each is a case of its own."""
    for title, command, version, program in cells():
        name = re.sub(r"\W+", "_", f"{title} {program}")
        of_cell = type(name, (Cell,), {"compiler": command, "version": version, "program": program, "title": title,
                                       "test_all": slow(lambda self: self.run_checks())})
        globals()[name] = of_cell
        yield of_cell


ALL = list(load_cells())
ALL_NAMES = [c.__name__ for c in ALL]


def print_table():
    rows = collections.defaultdict(dict)
    for of_cell in ALL:
        case = of_cell("test_all")
        result = unittest.TestResult()
        case.run(result)
        failed = [re.search(r"\[(\w+)\]", str(t)) for t, _ in result.failures + result.errors]
        said = "equal" if result.wasSuccessful() and not result.skipped else ", ".join(
            f[1] if f else "all" for f in failed) or "–"
        rows[of_cell.program][of_cell.title] = said
        print(of_cell.title, of_cell.program, said, file=sys.stderr, flush=True)
        for _, trace in result.failures + result.errors:
            print(trace[-1500:], file=sys.stderr, flush=True)
    titles = list(dict.fromkeys(c.title for c in ALL))
    print(f"| | {' | '.join(titles)} |\n|{'---|' * (len(titles) + 1)}")
    for program, of_program in rows.items():
        print(f"| {program} | {' | '.join(of_program.get(t, '') for t in titles)} |")


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_table()
    else:
        unittest.main(verbosity=2)
