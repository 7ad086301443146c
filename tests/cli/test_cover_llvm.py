#!/usr/bin/env python3
"""test_cover_llvm.py: coverage of clang's and rustc's own kind: files of all versions made byte by byte,
programs that count their own lines, and every clang and rustc that is installed against its llvm-cov."""

import collections
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

import harness
import seeds
import test_html
from harness import ROOT, monarc
from parts import in_both, load_tests, share, slow

sys.path.append(str(ROOT / "tests/corpus"))
import make_llvm_seeds as made

FLAGS = ["-w", "-fprofile-instr-generate", "-fcoverage-mapping"]


def has_tools(version):
    """clang, its runtime, which is in a package of its own, and what reads its profiles."""
    names = f"clang-{version}", f"clang++-{version}", f"llvm-cov-{version}", f"llvm-profdata-{version}"
    return all(map(shutil.which, names)) and not subprocess.run(
        [names[0], *FLAGS, "-xc", "-", "-o", "/dev/null"], input=b"int main(void) { return 0; }", capture_output=True).returncode


VERSIONS = [v for v in range(13, 40) if has_tools(v)]

C = """\
#include <stdio.h>
#define CHECK(x) do { if (!(x)) return -1; } while (0)
#define BOTH(a, b) ((a) && (b))
#define OUTER(a, b) (BOTH(a, b) || (a) > (b))
static int never(int a)
{
    return a * 2;
}
static int helper(int a, int b, int c)
{
    if (a && (b || c))
        return 1;
    return 0;
}
int classify(int n)
{
    switch (n) {
    case 0:
        return 0;
    case 1:
    case 2:
        return 1;
    default:
        break;
    }
    for (int i = 0; i < n; i++) {
        if (i == 3)
            continue;
        if (OUTER(i, n))
            n += 0;
        while (i > 100) { i++; break; }
    }
#if 0
    skipped();
#endif
    return n > 4 ? n : -n;
}
int check(int x)
{
    CHECK(x > 0);
    CHECK(x < 100);
    return x;
}
int other(int n);
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 7; i++)
        sum += classify(i);
    sum += helper(0, 1, 1) + helper(1, 0, 0) + helper(1, 1, 0) + other(argc);
    sum += check(5) + check(-1);
    if (argc > 5)
        sum += never(sum);
    printf("%d\\n", sum);
    return 0;
}
"""
OTHER_C = """\
static int helper(int a, int b)
{
    while (a && b--)
        a--;
    return a;
}
int other(int n)
{
    return helper(n, 3);
}
"""
WINDOWS = """\
static int never(int a) { return a + 1; }
int f(int a)
{
    if (a > 1)
        return never(a);
    return a && a < 5;
}
int main(void)
{
    return f(0) + f(1) != 1;
}
"""
CPP = """\
#include <stdexcept>
#include <string>
#include <vector>
#include <cstdio>
template <typename T> T larger(T a, T b)
{
    if (a > b)
        return a;
    return b;
}
template <typename T> struct Box {
    T v;
    Box(T x) : v(x) {}
    T get(bool twice) const {
        return twice ? v + v : v;
    }
    ~Box() { if (v < T(0)) std::puts("neg"); }
};
inline int shared(int a) { return a ? a : -1; }
int other(int);
struct A { virtual ~A() {} virtual int f() { return 1; } };
struct B : A { int f() override { return 2; } };
int main(int argc, char **)
{
    std::vector<std::string> all;
    auto l = [&](int x) { return x > 2 || x < -2; };
    try {
        all.push_back(std::string(argc, 'x'));
        if (argc > 0)
            throw std::runtime_error("many");
    } catch (const std::exception &e) {
        std::puts(e.what());
    }
    int n = larger(1, 2) + (int)larger(2.0, 1.0) + Box<int>(3).get(true) + (int)Box<double>(2).get(false);
    for (auto &s : all) n += s.size();
    A *b = new B; n += b->f(); delete b;
    n += l(3) + l(0) + shared(0) + other(n);
    switch (n) { case 1: return 2; case 5: n++; [[fallthrough]]; default: n--; }
    goto end;
    n = 7;
end:
    return n > 1000;
}
"""
OTHER_CPP = """\
inline int shared(int a) { return a ? a : -1; }
static int helper(int a, int b) { return a && b ? 1 : 2; }
template <typename T> T larger(T a, T b)
{
    if (a > b)
        return a;
    return b;
}
int other(int n) { return shared(n) + helper(n, 0) + larger('a', 'b') + larger(4, 3); }
"""
RUST = """\
use std::fmt::Display;
fn pick<T: PartialOrd + Display>(a: T, b: T) -> T { if a > b { a } else { b } }
enum E { A, B(i32) }
fn m(e: &E) -> Result<i32, String> {
    match e {
        E::A => Ok(1),
        E::B(n) if *n > 3 => Err(format!("{}", n)),
        E::B(n) => Ok(*n),
    }
}
fn never() -> i32 {
    let x = 4;
    x * 2
}
fn q() -> Result<i32, String> { let a = m(&E::A)?; let b = m(&E::B(7))?; Ok(a + b) }
fn main() {
    println!("{} {}", pick(1, 2), pick("b", "a"));
    let v: Vec<i32> = (0..5).map(|x| x * 2).filter(|x| x % 4 == 0).collect();
    println!("{:?} {:?}", v, q());
    if v.len() > 100 { never(); }
    for i in &v { if *i > 2 { continue; } print!("{}", i); }
    let _ = m(&E::B(2));
}
"""
VARIANTS = """\
int f(int n)
{
#ifdef ONE
    n++;
    n *= 2;
#else
    n--;
    if (n == 1)
        n = 3;
#endif
#ifdef SMALL
    int m = n;
    n = m;
#endif
#ifdef GNU
    n += 5;
#endif
    return n;
}
int main(int argc, char **argv)
{
    return f(argc) > 100;
}
"""
KILLED = """\
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <pthread.h>
static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
static void *thread(void *p)
{
    work(7);
    return p;
}
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t t;
    work(10);
    if (!strcmp(how, "_exit"))
        _exit(3);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "kill")) {
        usleep(900000);
        kill(getpid(), SIGKILL);
    }
    if (!strcmp(how, "fork") && !fork()) {
        work(5);
        _exit(0);
    }
    if (!strcmp(how, "vfork") && !vfork())
        execl(argv[0], argv[0], "_exit", NULL);
    if (!strcmp(how, "thread")) {
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
    }
    if (!strcmp(how, "exec"))
        execl(argv[0], argv[0], "_exit", NULL);
    char *other[] = {argv[0], "_exit", NULL};
    if (!strcmp(how, "raw_exec"))
        syscall(SYS_execve, argv[0], other, environ);
    while (wait(NULL) > 0)
        ;
    return work(1);
}
"""
INSTANCES = """\
template <typename T> int larger(T a, T b)
{
    if (a > b)
        return 1;
    if (a < b || a != b)
        return 2;
    return 3;
}
#define BOTH(a) do { \\
        v += (a); } while (0)
static int helper(int v) { BOTH(1); return v; }
static int other(int v) { BOTH(2); BOTH(3); return v; }
int main()
{
    return larger(2, 1) + larger(3, 1) + larger(1.0, 2.0) + larger('a', 'a') + helper(1) + other(1) > 100;
}
"""
CONDITIONS = """\
template <typename T> int both(T a, T b)
{
    if (a && b)
        return 1;
    return 0;
}
int main()
{
    int n = both(1, 1) + both(0, 1) + both(1L, 1L) + both(1L, 0L);
    for (char i = 0; i < 4; i++)
        n += both((char)(i & 1), (char)(i >> 1));
    return n > 100;
}
"""
# A workspace without crates from elsewhere: unit tests, a test program, a binary that is not run.
WORKSPACE = {
    "Cargo.toml": """\
[workspace]
members = ["lib", "app"]
resolver = "2"
""",
    "lib/Cargo.toml": """\
[package]
name = "shapes"
version = "0.1.0"
edition = "2021"
""",
    "lib/src/lib.rs": """\
/// Area.
pub fn area(w: u32, h: u32) -> u32 {
    if w == 0 || h == 0 {
        return 0;
    }
    w * h
}
pub fn largest<T: PartialOrd + Copy>(all: &[T]) -> Option<T> {
    let mut best = *all.first()?;
    for &one in all {
        if one > best {
            best = one;
        }
    }
    Some(best)
}
pub fn never() -> u32 {
    7
}
#[cfg(test)]
mod tests {
    #[test]
    fn of_nothing() {
        assert_eq!(super::area(0, 4), 0);
    }
    #[test]
    fn largest_of_ints() {
        assert_eq!(super::largest(&[1, 3, 2]), Some(3));
    }
}
""",
    "lib/tests/outside.rs": """\
#[test]
fn area_of_some() {
    assert_eq!(shapes::area(2, 3), 6);
}
#[test]
fn largest_of_floats() {
    assert_eq!(shapes::largest(&[2.0, 1.0]), Some(2.0));
}
""",
    "app/Cargo.toml": """\
[package]
name = "app"
version = "0.1.0"
edition = "2021"
[dependencies]
shapes = { path = "../lib" }
""",
    "app/src/main.rs": """\
fn twice(n: u32) -> u32 {
    n * 2
}
fn main() {
    println!("{}", twice(shapes::area(2, 2)));
}
#[test]
fn twice_of_two() {
    assert_eq!(twice(2), 4);
}
""",
}
# Counts its own lines: what stands behind N runs as often as N is counted.
TRUTH = """\
#include <stdio.h>
static unsigned n[100];
#define N (n[__LINE__]++)
static int collatz(unsigned x)
{
    int steps = 0;
    while (x != 1) {
        N; if (x % 2)
            (void)N, x = 3 * x + 1;
        else
            (void)N, x /= 2;
        steps++;
    }
    if (steps > 1000)
        (void)N;
    return steps;
}
int main(void)
{
    int longest = 0;
    for (unsigned i = 1; i < 200; i++) {
        N; int steps = collatz(i);
        if (steps > longest)
            (void)N, longest = steps;
    }
    for (int i = 0; i < 100; i++)
        if (n[i])
            fprintf(stderr, "%d %u\\n", i, n[i]);
    return 0;
}
"""


def lcov(text):
    """By source: counts of lines, of functions by name, and of branches by line."""
    sources = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        part = value.split(",")
        if key == "SF":
            here = sources.setdefault(str(Path(value).resolve()),
                                      {"DA": {}, "FN": collections.Counter(), "BR": collections.Counter()})
        elif key == "DA":
            here["DA"][int(part[0])] = int(part[1])
        elif key == "FNDA":
            here["FN"][re.sub(r"^[^;:]*\.[a-z]+[:;]", "", value.split(",", 1)[1])] += int(part[0])
        elif key == "BRDA":
            here["BR"][int(part[0]), 0 if part[3] == "-" else int(part[3])] += 1
    return sources


def cover(folder, *arguments):
    done = monarc("cover", "--system", "--all-branches", "--no-markers", "--lcov", "-", *arguments, cwd=folder)
    return lcov(done.stdout.decode()), done


def cover_json(folder, *arguments):
    value = json.loads(monarc("cover", "--quiet", "--json", "-", *arguments, cwd=folder).stdout)
    if jsonschema:
        jsonschema.validate(value, harness.schema("cover"))
    return value


def tree(numbers, names):
    """A random decision of these conditions: a name, or (operator, left, right)."""
    if len(names) == 1:
        return names[0]
    cut = numbers.randrange(1, len(names))
    return numbers.choice("&|"), tree(numbers, names[:cut]), tree(numbers, names[cut:])


def text_of(decision):
    if isinstance(decision, str):
        return decision
    return f"({text_of(decision[1])} {2 * decision[0]} {text_of(decision[2])})"


def way(decision, values):
    """What is evaluated, as sorted (name, value), and the outcome."""
    if isinstance(decision, str):
        return ((decision, values[decision]),), values[decision]
    left, outcome = way(decision[1], values)
    if outcome == (decision[0] == "|"):
        return left, outcome
    right, outcome = way(decision[2], values)
    return tuple(sorted(left + right)), outcome


def is_shown(some, others, name):
    """Whether a way of either differ in the condition alone, of those that both evaluate, and in the outcome."""
    for a, b in itertools.product(some, others):
        x, y = dict(a[0]), dict(b[0])
        if a[1] != b[1] and {n for n in x.keys() & y.keys() if x[n] != y[n]} == {name}:
            return True
    return False


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="monarc-llvm-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def run_in(self, *command, **more):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, **more)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done


class EveryVersion(Folder):
    """Files made from the format page."""

    def program(self, version, name="program", sections=None, **more):
        units, functions, names = sections or made.mapping(*made.sample(version), version, **more)
        self.write("empty.c", "int x;\n")
        self.write("units", units), self.write("functions", functions), self.write("names", names)
        self.run_in("gcc", "-c", "-o", "empty.o", "empty.c")
        added = [f"--add-section=__llvm_covmap={self.folder}/units",
                 f"--add-section=__llvm_prf_names={self.folder}/names"]
        if functions:
            added.append(f"--add-section=__llvm_covfun={self.folder}/functions")
        self.run_in("objcopy", *added, "empty.o", name)

    def check(self, profile, has_conditions=False):
        got, done = cover(self.folder, "program", profile)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        self.assertEqual(got["/src/f.c"]["DA"], made.LINES)
        self.assertEqual(got["/src/f.c"]["FN"], {"f": 10, "never": 0})
        # Six in the lines of f(), one in a macro that it uses on line 4, and the whole of never(), which did not run.
        regions = cover_json(self.folder, "program", profile)["totals"]["regions"]
        self.assertEqual(regions, {"all": 8, "hit": 7, "unknown": 0})

    @slow
    def test_names_of_rust_and_swift(self):
        """Mangled by rustc in both ways, and by swiftc, whose names begin as the bitmap does in text."""
        names = {b"_ZN6shapes4area17h0123456789abcdefE": "shapes::area", b"_RNvCsabc_7mycrate3foo": "mycrate::foo",
                 b"$s4main3fooyyF": "$s4main3fooyyF", b"$s4main3baryyF": "$s4main3baryyF"}
        functions = [(name, i + 7, [1], [], [[made.code(made.count(0), 4 * i + 1, 1, 4 * i + 3, 2)]])
                     for i, name in enumerate(names)]
        counts = [(name, i + 7, [i + 1]) for i, name in enumerate(names)]
        with_zero = re.sub(r"(?<=Values:\n)(\d+)\n", r"\1\n# Num Bitmap Bytes:\n$0\n", made.text(counts).decode())
        self.write("all", b"\n" * 20)  # what is not here is left out
        for version in (5, 6, 7):
            units, code, blob = made.mapping(functions, [b"/src", b"all"] if version > 5 else [b"x", b"/src/all"], version)
            self.program(version, sections=(units, code, blob))
            for name, data in (("p.profraw", made.raw(counts, 8)), ("p.profdata", made.indexed(counts, 8)),
                               ("p.proftext", made.text(counts)), ("zero.proftext", with_zero)):
                self.write(name, data)
                value = cover_json(self.folder, "--system", f"--path-map=/src={self.folder}", "program", name)
                found = {f["linkage_name"]: (f["name"], f["count"]) for s in value["sources"] for f in s["functions"]}
                self.assertEqual(found, {name.decode(): (shown, i + 1) for i, (name, shown) in enumerate(names.items())}, name)

    @slow
    def test_every_version_of_the_mapping(self):
        for version in made.MAPPING_VERSIONS:
            with self.subTest(version):
                self.program(version, packs=version % 2 == 0)
                self.write("p.profraw", made.raw(made.without_bitmap(made.COUNTS), 8)
                           if version < 7 else made.raw(made.COUNTS, 10))
                self.check("p.profraw")

    @in_both
    def test_every_version_of_a_profile(self):
        self.program(6)
        counts = made.without_bitmap(made.COUNTS)
        for version, word, order in share(itertools.product(made.RAW_VERSIONS, (4, 8), "<>"), 5):
            with self.subTest(raw=version, word=word, order=order):
                self.write("p.profraw", made.raw(counts, version, word, order))
                self.check("p.profraw")
        for version in share(made.INDEXED_VERSIONS, 3):
            with self.subTest(indexed=version):
                self.write("p.profdata", made.indexed(counts, version))
                self.check("p.profdata")
        self.write("p.proftext", made.text(counts))
        self.check("p.proftext")

    def test_a_version_that_is_not_known_is_refused_by_its_number(self):
        self.program(7)
        for name, data, what in (
                ("p.profraw", made.raw(made.COUNTS, 10).replace(struct.pack("<Q", 10), struct.pack("<Q", 12), 1),
                 b"raw profile of version 12; versions 5 to 11 are known"),
                ("p.profdata", made.indexed(made.COUNTS, 13).replace(struct.pack("<Q", 13), struct.pack("<Q", 14), 1),
                 b"indexed profile of version 14; versions 4 to 13 are known")):
            self.write(name, data)
            done = monarc("cover", "program", name, cwd=self.folder)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(what, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_info(self):
        functions = made.COUNTS
        for name, data, said in (
                ("p.profraw", made.raw(functions, 9, 4, ">", ids=[b"\xab\xcd"]),
                 "raw profile of LLVM, 280 bytes\n  version 9, big-endian, pointers of 4 bytes\n  build-id abcd\n"),
                ("p.profdata", made.indexed(functions, 11), "indexed profile of LLVM, 392 bytes\n  version 11\n"),
                ("p.proftext", made.text(functions), "text profile of LLVM, 181 bytes\n")):
            self.write(name, data)
            done = monarc("info", name, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = re.sub(r"\d+ bytes\n", f"{len(data)} bytes\n", said, count=1)
            self.assertEqual(done.stdout.decode(), f"{name}: {said}  functions: 2, 1 of them ran\n"
                             "  counters: 5, 4 of them above 0; sum 23, largest 10\n  MC/DC: 1 bytes\n")
            value = harness.monarc_json("info", name, cwd=self.folder)
            if jsonschema:
                jsonschema.validate(value, harness.schema("info"))
            self.assertEqual(value["files"][0]["functions"], {"all": 2, "ran": 1})
        two = made.raw(functions, 10) + bytes(8) + made.raw(functions, 10)
        self.write("p.profraw", two + made.raw(functions, 10)[:100])
        done = monarc("info", "p.profraw", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"2 profiles, one after the other", done.stdout)
        self.assertIn(b"sum 46, largest 20", done.stdout)
        self.assertIn(b"error: p.profraw: at offset", done.stdout)

    def test_conditions(self):
        self.program(7)
        vectors = {0x0f: 6, 0x07: 4, 0x01: 0, 0x0c: 2, 0x03: 2, 0x00: 0}
        # Vectors by number: 0 is a false; 1 a and b; 2 a, not b, not c; 3 a, not b, c.
        for bits, seen in vectors.items():
            with self.subTest(bits=bits):
                counts = [(b"f", 0x18, [10, 4, 6, 3], bytes([bits])), made.COUNTS[1]]
                self.write("p.profraw", made.raw(counts, 10))
                done = monarc("cover", "--system", "--format", "lcov", "--lcov-version", "2", "program",
                              "p.profraw", cwd=self.folder)
                self.assertIn(b"MCF:6\nMCH:%d\n" % seen, done.stdout)
                done = monarc("cover", "--system", "--conditions", "program", "p.profraw", cwd=self.folder)
                said = {0x07: b"2 of 3 conditions decide (unique cause), 2 by masking\n    seen: condition 1 false; "
                              b"condition 1 true, condition 2 false, condition 3 false; condition 1 true, condition 2 "
                              b"true\n    condition 3 needs a run with condition 1 true, condition 2 false, condition "
                              b"3 true\n", 0x0f: b"", 0x00: b"    seen: nothing\n    condition 1 needs two runs: one with "}
                self.assertIn(said.get(bits, b"needs a run with"), done.stdout)

    @slow
    def test_files_that_break_off(self):
        """A file cut anywhere is refused, or, cut behind its counters, is whole."""
        self.program(6)
        whole = made.raw(made.without_bitmap(made.COUNTS), 8)
        for size in range(0, len(whole), 11):
            self.write("p.profraw", whole[:size])
            got, done = cover(self.folder, "program", "p.profraw")
            self.assertEqual(done.returncode, 1, (size, done.stderr))
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_functions_that_are_damaged_are_named(self):
        self.program(6)
        data = (self.folder / "program").read_bytes()
        code = made.regions(*made.sample(6)[0][0][2:])
        self.assertEqual(data.count(code), 1)
        (self.folder / "program").write_bytes(data.replace(code, b"\x7f" * len(code)))
        self.write("p.profraw", made.raw(made.without_bitmap(made.COUNTS), 8))
        got, done = cover(self.folder, "program", "p.profraw")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"program: left out: function f: its list of files is damaged", done.stderr)
        self.assertEqual(got["/src/f.c"]["DA"], {6: 0, 7: 0})

    def test_counters_of_another_build(self):
        self.program(6)
        self.write("p.profraw", made.raw([(b"f", 0x19, [10, 4, 6, 3]), (b"f.c:never", 0, [2])], 8))
        got, done = cover(self.folder, "program", "p.profraw")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"program: left out: function f: its counters are of another build (hash mismatch)",
                      done.stderr)
        self.assertEqual(got["/src/f.c"]["DA"], {6: 0, 7: 0})


@unittest.skipUnless(VERSIONS, "no clang with its tools (packages clang, libclang-rt-dev, llvm)")
class Live(Folder):
    def compile(self, version, *arguments, cpp=False, name="program"):
        self.run_in(f"clang{'++' if cpp else ''}-{version}", *FLAGS, "-o", name, *arguments)

    def profile(self, version, program="program", name="p"):
        self.run_in(f"./{program}", env={"LLVM_PROFILE_FILE": f"{name}.profraw"})
        self.run_in(f"llvm-profdata-{version}", "merge", "-o", f"{name}.profdata", f"{name}.profraw")
        self.run_in(f"llvm-profdata-{version}", "merge", "-text", "-o", f"{name}.proftext", f"{name}.profraw")

    def peer(self, version, profdata="p.profdata", *objects):
        done = self.run_in(f"llvm-cov-{version}", "export", "-format=lcov", "-instr-profile", profdata,
                           *(objects or ["program"]))
        return lcov(done.stdout.decode())

    def compare(self, version, has_branches=True, want=None):
        want = want or self.peer(version)
        for name in ("p.profraw", "p.profdata", "p.proftext"):
            got, done = cover(self.folder, "program", name)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(set(got), set(want))
            for source in want:
                for key in ("DA", "FN") + ("BR",) * has_branches:
                    self.assertEqual(got[source][key], want[source][key], (version, name, source, key))

    def test_c(self):
        self.write("a.c", C)
        self.write("o.c", OTHER_C)
        for version in VERSIONS:
            with self.subTest(version):
                self.compile(version, "a.c", "o.c")
                self.profile(version)
                # From 20 on the tracefile lists branches of a macro twice, where it stands, too.
                self.compare(version, has_branches=version < 20)

    @slow
    def test_cpp_and_templates(self):
        self.write("t.cpp", CPP)
        self.write("o.cpp", OTHER_CPP)
        for version in VERSIONS:
            for more in ([], ["-O2"]):
                with self.subTest(version, more=more):
                    self.compile(version, *more, "t.cpp", "o.cpp", cpp=True)
                    self.profile(version)
                    # Before 20 each instance of a template lists its branches.
                    self.compare(version, has_branches=version > 20)

    @slow
    def test_single_byte_counters(self):
        self.write("t.cpp", CPP)
        self.write("o.cpp", OTHER_CPP)
        for version in [v for v in VERSIONS if v >= 19]:
            self.compile(version, "-mllvm", "-enable-single-byte-coverage=1", "t.cpp", "o.cpp", cpp=True)
            self.profile(version)
            want = self.peer(version)
            got, done = cover(self.folder, "program", "p.profraw")
            for source in want:
                self.assertEqual(got[source]["DA"],
                                 {line: min(n, 1) for line, n in want[source]["DA"].items()})

    @slow
    def test_instances(self):
        """The truth is by construction: larger<int> took one side, larger<double> the other, larger<char> none of
        `a == b`; helper() and other() share a macro, but are no instances of each other."""
        self.write("t.cpp", INSTANCES)
        lines = {"union": {3: 4, 4: 2, 5: 2, 6: 1}, "worst": {3: 1, 4: 0, 5: 0, 6: 0}}
        lines["each"] = lines["union"]
        branches = {"union": (6, 5), "each": (18, 6), "worst": (6, 0)}
        for version in VERSIONS:
            self.compile(version, "t.cpp", cpp=True)
            self.profile(version)
            for rule in ("union", "each", "worst"):
                with self.subTest(version, rule=rule):
                    got, done = cover(self.folder, "--instances", rule, "program", "p.profraw")
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    of_file = got[str(self.folder / "t.cpp")]
                    self.assertEqual({k: v for k, v in of_file["DA"].items() if k in lines[rule]}, lines[rule])
                    self.assertEqual(of_file["DA"][10], 3)  # the macro's users are no instances
                    counts = [n for (line, n), times in of_file["BR"].items() for _ in range(times) if line in (3, 5)]
                    self.assertEqual((len(counts), sum(n > 0 for n in counts)), branches[rule], of_file["BR"])
                    done = monarc("cover", "--instances", rule, "program", "p.profraw", cwd=self.folder)
                    self.assertEqual(f"--instances {rule}: ".encode() in done.stdout, rule != "union")
                    value = cover_json(self.folder, "--instances", rule, "program", "p.profraw")
                    self.assertEqual(value["instances"], rule)

    @slow
    def test_conditions_of_instances(self):
        """Of `a && b`, the instance of int shows a, that of long shows b, that of char both."""
        self.write("t.cpp", CONDITIONS)
        for version in [v for v in VERSIONS if v >= 18]:
            self.compile(version, "-fcoverage-mcdc", "t.cpp", cpp=True)
            self.profile(version)
            for rule, ratio in ("union", (4, 4)), ("each", (12, 8)), ("worst", (4, 0)):
                value = cover_json(self.folder, "--instances", rule, "program", "p.profraw")
                conditions = value["totals"]["conditions"]
                self.assertEqual((conditions["all"], conditions["hit"]), ratio, (version, rule))

    @slow
    def test_several_builds_of_one_source(self):
        """What one build skips by #ifdef does not hide what another one ran; counts of the truth add up."""
        self.write("v.c", VARIANTS)
        for version in VERSIONS:
            runs = {"one": ["-DONE"], "two": [], "small": ["-DONE", "-DSMALL"]}
            for name, options in runs.items():
                self.compile(version, "-g", *options, "v.c", name=name)
                self.run_in(f"./{name}", *["x"] * (name == "two"), env={"LLVM_PROFILE_FILE": f"{name}.profraw"})
            (self.folder / "gnu-v.gcda").unlink(missing_ok=True)
            self.run_in("gcc", "-w", "--coverage", "-DGNU", "-o", "gnu", "v.c")
            self.run_in("./gnu")
            truth = {"one": {4: 1, 5: 1, 18: 1}, "two": {7: 1, 8: 1, 9: 1, 18: 1},
                     "small": {4: 1, 5: 1, 13: 1, 18: 1}, "v-gnu": {7: 1, 8: 1, 16: 1, 18: 1}}
            truth["gnu-v.gcno"] = truth.pop("v-gnu")
            for names in ([n for n in runs], ["two", "one"], [*runs, "gnu-v.gcno"], ["gnu-v.gcno", "one"]):
                with self.subTest(version, names=names):
                    profiles = [f"{n}.profraw" for n in names if n in runs]
                    got, done = cover(self.folder, *names, *profiles)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    lines = got[str(self.folder / "v.c")]["DA"]
                    for line in (4, 5, 7, 8, 9, 13, 16, 18):
                        parts = [truth[n][line] for n in names if line in truth[n]]
                        if version > 13:
                            self.assertEqual(lines.get(line, 0), sum(parts), (line, lines))
                        else:  # profiles name no program, so f() of `one` and `small` has counts of both
                            self.assertEqual(lines.get(line, 0) > 0, sum(parts) > 0, (line, lines))
                    done = monarc("cover", "--by-build", "--json", "-", *names, *profiles, cwd=self.folder)
                    value = json.loads(done.stdout)
                    self.assertEqual({t["name"] for t in value["tests"]}, set(names))
                    self.assertEqual(value["rows"], "builds")
                    if jsonschema:
                        jsonschema.validate(value, harness.schema("cover_tests"))
            # gcov counts `{` on line 2 as well as main's; what is whose is asked of two lines.
            for line, who in (4, {"one", "small"}), (9, {"two"}), (13, {"small"}), (16, {"gnu-v.gcno"}):
                done = monarc("cover", "--by-build", "--tests-of", f"v.c:{line}", "--json", "-", *runs, "gnu-v.gcno",
                              *[f"{n}.profraw" for n in runs], cwd=self.folder)
                self.assertEqual({t["name"] for t in json.loads(done.stdout)["tests"]}, who, done.stderr)
            done = monarc("cover", "--by-build", *runs, *[f"{n}.profraw" for n in runs], cwd=self.folder)
            self.assertIn(b"Builds   3; 1 add nothing" if version > 13 else b"Builds   3\n", done.stdout)
            self.assertEqual(monarc("cover", "--by-build", "--by-test", "one", cwd=self.folder).returncode, 2)

    @slow
    def test_vectors_are_those_that_ran(self):
        """Random decisions: vectors, both measures and what is needed, against Python's own evaluation."""
        numbers = seeds.generator("vectors are those that ran")
        decisions = [tree(numbers, list("abcde")[:n]) for n in (2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5)]
        runs = [[[numbers.random() < .5 for _ in range(5)] for _ in range(numbers.randrange(6))] for _ in decisions]
        code = ""
        for i, decision in enumerate(decisions):
            code += f"int f{i}(int a, int b, int c, int d, int e)\n{{\n    return {text_of(decision)} ? 1 : 2;\n}}\n"
        code += "int main(void)\n{\n" + "".join(
            f"    f{i}({', '.join(str(int(v)) for v in values)});\n" for i, all_of in enumerate(runs)
            for values in all_of) + "    return 0;\n}\n"
        self.write("t.c", code)
        for version in [v for v in VERSIONS if v >= 19]:
            self.compile(version, "-fcoverage-mcdc", "t.c")
            self.run_in("./program", env={"LLVM_PROFILE_FILE": "p.profraw"})
            got = {d["line"]: d for d in cover_json(self.folder, "program", "p.profraw")["decisions"]}
            for i, decision in enumerate(decisions):
                seen = {way(decision, dict(zip("abcde", values))) for values in runs[i]}
                found = got[4 * i + 3]
                names = [n for n in text_of(decision) if n.isalpha()]
                self.assertEqual({(tuple(v["values"]), v["outcome"]) for v in found["vectors"]},
                                 {(tuple(v.get(n) for n in names), outcome) for v, outcome in
                                  ((dict(v), outcome) for v, outcome in seen)})
                every = {way(decision, dict(zip("abcde", values))) for values in
                         itertools.product((False, True), repeat=5)}
                for name, condition in zip(names, found["conditions"]):
                    self.assertEqual(condition["unique_cause"], is_shown(seen, seen, name), (i, name))
                    sides = {dict(v)[name] for v, outcome in seen if name in dict(v)
                             and is_shown({(v, outcome)}, every, name)}
                    self.assertEqual(condition["masking"], len(sides) == 2, (i, name))
                    needed = {(tuple((n, x) for n, x in zip(names, run) if x is not None)) for run in condition["needs"]}
                    more = {w for w in every if tuple((n, x) for n in names for m, x in w[0] if n == m) in needed}
                    self.assertEqual(len(more), len(needed))
                    self.assertTrue(is_shown(seen | more, seen | more, name))
                    self.assertEqual(bool(needed), not condition["unique_cause"])

    @slow
    def test_two_decisions_of_a_line(self):
        """Of as many conditions: neither hides the other."""
        self.write("t.c", "int f(int a, int b)\n{\n    return (a && b ? 1 : 2) + (a || b ? 3 : 4);\n}\n"
                   "int main(void)\n{\n    return f(1, 1) + f(0, 1) > 100;\n}\n")
        for version in [v for v in VERSIONS if v >= 19]:
            self.compile(version, "-fcoverage-mcdc", "t.c")
            self.run_in("./program", env={"LLVM_PROFILE_FILE": "p.profraw"})
            value = cover_json(self.folder, "program", "p.profraw")
            line = next(line for line in value["sources"][0]["lines"] if line["line"] == 3)
            self.assertEqual([c["outcomes"] for c in line["conditions"]], [[[True] * 2, [False] * 2], [[False] * 2] * 2])
            self.assertEqual(value["totals"]["conditions"], {"all": 8, "hit": 2, "unknown": 0})
            monarc("cover", "--lcov", "x.info", "--lcov-version", 2, "program", "p.profraw", cwd=self.folder)
            self.assertEqual(cover_json(self.folder, "x.info")["totals"]["conditions"], {"all": 8, "hit": 2, "unknown": 0})

    @slow
    def test_conditions_of_another_build(self):
        """They are there, and unknown: gates count them as not seen. What another build knows of them is known."""
        text = ("int f(int a, int b)\n{\n    return a && b ? 1 : 2;\n}\nint g(int a, int b)\n{\n    return a || b ? 1 : 2;\n}\n"
                "int main(void)\n{\n    return f(1, 1) + f(0, 1) + f(1, 0) > 100 || g(1, 0) + g(0, 0) + g(0, 1) > 100;\n}\n")
        for version in [v for v in VERSIONS if v >= 19]:
            self.write("t.c", text)
            self.compile(version, "-fcoverage-mcdc", "t.c")
            self.profile(version, name="old")
            known = cover_json(self.folder, "program", "old.profdata")["totals"]["conditions"]
            self.assertEqual(known, {"all": 12, "hit": 8, "unknown": 0})
            self.write("t.c", text.replace("a || b ? 1", "a || b || a > 5 ? 1"))
            self.compile(version, "-fcoverage-mcdc", "t.c")
            value = cover_json(self.folder, "program", "old.profdata")
            self.assertEqual(value["totals"]["conditions"], {"all": 14, "hit": 4, "unknown": 6})
            done = monarc("cover", "--conditions", "--fail-under-condition", 30, "program", "old.profdata", cwd=self.folder)
            self.assertIn(b"condition coverage is 28.57 %", done.stdout)
            self.assertNotIn(b"  line 7", done.stdout)
            self.profile(version, name="new")
            value = cover_json(self.folder, "program", "old.profdata", "new.profdata")
            self.assertEqual(value["totals"]["conditions"]["unknown"], 0)

    @slow
    def test_what_cmake_compiles_is_nobodys(self):
        self.write("t.c", "int main(void)\n{\n    return 0;\n}\n")
        for name in ("3.25.1/CompilerIdC/a.out", "3.25.1/CMakeDetermineCompilerABI_C.bin", "CheckTypeSize/SIZE.bin"):
            path = self.folder / "b/CMakeFiles" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self.compile(VERSIONS[-1], "t.c", name=path)
        self.compile(VERSIONS[-1], "t.c", name="b/prog")
        self.run_in("b/prog", env={"LLVM_PROFILE_FILE": "b/p.profraw"})
        value = cover_json(self.folder, "b")
        self.assertEqual((value["inputs"]["objects"], value["problems"]), (1, []))

    @slow
    def test_counters_read_from_outside(self):
        """work(10), then what the argument says; work(1) at the end: counts are exact however a process ends."""
        self.write("k.c", KILLED)
        loop = KILLED.splitlines().index("        sum += i;") + 1
        want = {"exit": (11, 0), "_exit": (10, 3), "abort": (10, 134), "segv": (10, 139), "kill": (10, 137),
                "fork": (11 + 5, 0), "vfork": (11 + 10, 0), "thread": (11 + 7, 0)}
        (self.folder / "of").mkdir()
        for version in (VERSIONS[0], VERSIONS[-1]):
            self.compile(version, "-pthread", "k.c")
            for how, (count, status) in want.items():
                with self.subTest(version, how=how):
                    done = monarc("run", f"--coverage=of/{how}", "./program", how, cwd=self.folder)
                    if b"ptrace" in done.stderr:
                        self.skipTest("ptrace is not permitted")
                    self.assertEqual(done.returncode, status, done.stderr)
                    files = sorted(self.folder.glob(f"of/{how}.*.profraw"))
                    self.assertEqual(len(files), 1 + ("fork" in how))
                    self.assertEqual(b"may be missing" in done.stderr, how == "kill")
                    got, shown = cover(self.folder, "program", *files)
                    self.assertEqual((shown.returncode, shown.stderr), (0, b""))
                    self.assertEqual(got[str(self.folder / "k.c")]["DA"][loop], count)
                    # llvm-profdata reads them, too.
                    self.run_in(f"llvm-profdata-{version}", "merge", "-o", "x.profdata", *files)
                    self.assertEqual(self.peer(version, "x.profdata")[str(self.folder / "k.c")]["DA"],
                                     got[str(self.folder / "k.c")]["DA"])
                    for path in files:
                        path.unlink()
            self.assertEqual([p.name for p in self.folder.glob("*.profraw")], [])  # nor does the program write
        # What was counted before an exec is read at the C library's call, unless the program makes it itself.
        done = monarc("run", "--coverage=of/exec", "./program", "exec", cwd=self.folder)
        self.assertNotIn(b"may be missing", done.stderr)
        files = sorted(self.folder.glob("of/exec.*.profraw"))
        self.assertEqual(len(files), 2)
        got, _ = cover(self.folder, "program", *files)
        self.assertEqual(got[str(self.folder / "k.c")]["DA"][loop], 20)
        done = monarc("run", "--coverage", "./program", "raw_exec", cwd=self.folder)
        self.assertIn(b"ran another program by exec: what it counted in the last 200 ms may be missing", done.stderr)
        # Programs without counters that start it, by exec or fork, have lost nothing.
        done = monarc("run", "--coverage", "sh", "-c", "sh -c 'kill -9 $$'; exec ./program _exit", cwd=self.folder)
        self.assertNotIn(b"may be missing", done.stderr)
        self.run_in("strip", "program")
        for program, status, said in (("./program", 2, b"is stripped of the symbol that says their version"),
                                      ("/bin/true", 2, b"has no counters that can be read from outside"),
                                      ("./nothing", 127, b"No such file")):
            done = monarc("run", "--coverage", program, cwd=self.folder)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(said, done.stderr)

    @slow
    def test_counters_of_a_shared_object_from_outside(self):
        version = VERSIONS[-1]
        self.write("o.c", OTHER_C)
        self.write("m.c", "#include <unistd.h>\nint other(int);\nint main(void)\n{\n    _exit(other(2) + other(1) > 9);\n}\n")
        conditions = ["-fcoverage-mcdc"] if version >= 18 else []
        self.run_in(f"clang-{version}", *FLAGS, *conditions, "-shared", "-fPIC", "-o", "libo.so", "o.c")
        self.compile(version, "m.c", "./libo.so")
        done = monarc("run", "--coverage", "./program", cwd=self.folder)
        if b"ptrace" in done.stderr:
            self.skipTest("ptrace is not permitted")
        self.assertEqual(done.returncode, 0, done.stderr)
        got, _ = cover(self.folder)
        self.assertEqual(got[str(self.folder / "o.c")]["FN"], {"helper": 2, "other": 2})
        self.assertEqual(got[str(self.folder / "m.c")]["FN"], {"main": 1})

    @slow
    def test_info_says_what_llvm_profdata_shows(self):
        self.write("t.cpp", CPP)
        self.write("o.cpp", OTHER_CPP)
        for version in VERSIONS:
            self.compile(version, "t.cpp", "o.cpp", cpp=True)
            self.profile(version)
            shown = self.run_in(f"llvm-profdata-{version}", "show", "-all-functions", "p.profdata").stdout.decode()
            value = harness.monarc_json("info", "p.profdata", cwd=self.folder)["files"][0]
            self.assertEqual(value["functions"]["all"], int(re.search(r"Total functions: (\d+)", shown)[1]))
            counters = sum(map(int, re.findall(r"Counters: (\d+)", shown)))
            self.assertEqual(value["counters"]["all"], counters)

    @slow
    def test_32_bits(self):
        self.write("a.c", C.replace("#include <stdio.h>", "int printf(const char *, ...);"))
        self.write("o.c", OTHER_C)
        for version in VERSIONS[-1:]:
            made_it = subprocess.run([f"clang-{version}", "-m32", *FLAGS, "-o", "program", "a.c", "o.c"],
                                     cwd=self.folder, capture_output=True)
            if made_it.returncode:
                self.skipTest("no runtime of 32 bits is installed")
            if not harness.can_run(self.folder / "program"):
                self.skipTest("this kernel runs no 32-bit programs")
            self.profile(version)
            self.compare(version, has_branches=version < 20)

    @slow
    def test_a_truth(self):
        self.write("t.c", TRUTH)
        for version in VERSIONS:
            with self.subTest(version):
                self.compile(version, "t.c")
                done = self.run_in("./program", env={"LLVM_PROFILE_FILE": "p.profraw"})
                truth = {int(a): int(b) for a, b in map(str.split, done.stderr.decode().splitlines())}
                got, _ = cover(self.folder, "program", "p.profraw")
                lines = got[str(self.folder / "t.c")]["DA"]
                self.assertGreater(len(truth), 4)
                for line, number in truth.items():
                    self.assertEqual(lines[line], number, line)
                self.assertEqual(lines[15], 0)

    @slow
    def test_many_runs_are_summed_without_merging(self):
        version = VERSIONS[-1]
        self.write("a.c", C)
        self.write("o.c", OTHER_C)
        self.compile(version, "a.c", "o.c")
        for i in range(6):
            self.run_in("./program", *["x"] * i, env={"LLVM_PROFILE_FILE": f"runs/{i}.profraw"})
        raws = sorted(self.folder.glob("runs/*.profraw"))
        self.run_in(f"llvm-profdata-{version}", "merge", "-o", "p.profdata", *raws)
        want = self.peer(version)[str(self.folder / "a.c")]
        for operands in ([*raws, "program"], [*reversed(raws)], ["."], []):
            if not operands or operands == ["."]:
                (self.folder / "p.profdata").unlink(missing_ok=True)
            got, done = cover(self.folder, *operands)
            self.assertEqual((done.returncode, done.stderr), (0, b""), operands)
            self.assertEqual(got[str(self.folder / "a.c")]["DA"], want["DA"])
            self.assertEqual(got[str(self.folder / "a.c")]["FN"], want["FN"])

    @slow
    def test_a_relocatable_file(self):
        """Of which each function has a section of its own; where no program is linked, as of a plug-in's parts."""
        version = VERSIONS[-1]
        self.write("a.c", C)
        self.write("o.c", OTHER_C)
        for name in "a", "o":
            self.run_in(f"clang-{version}", *FLAGS, "-ffunction-sections", "-c", f"{name}.c", "-o", f"{name}.o")
        self.compile(version, "a.c", "o.c")
        self.profile(version)
        want = self.peer(version)
        for operands in (["a.o", "o.o"], ["o.o", "a.o"]):
            got, done = cover(self.folder, *operands, "p.profraw")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(set(got), set(want))
            for source in want:
                self.assertEqual((got[source]["DA"], got[source]["FN"]), (want[source]["DA"], want[source]["FN"]))

    @slow
    @unittest.skipUnless(shutil.which("lld-link"), "lld-link is not installed")
    def test_a_program_of_windows(self):
        """Its sections have other names, and its list of functions begins with the zero byte of the runtime. The profile is
        that of the same source as a program of this system: names and control flow are the same."""
        version = VERSIONS[-1]
        self.write("a.c", WINDOWS)
        self.write("stub.c", '__attribute__((section(".lprfn$A"), used)) const char first = 0; int __llvm_profile_runtime = 0;\n')
        self.compile(version, "a.c")
        self.profile(version)
        made = ["--target=x86_64-pc-windows-msvc", "-c"]
        self.run_in(f"clang-{version}", *FLAGS, *made, "a.c", "-o", "a.obj")
        self.run_in(f"clang-{version}", *made, "stub.c", "-o", "stub.obj")
        self.run_in("lld-link", "/entry:main", "/nodefaultlib", "/subsystem:console", "/out:a.exe", "a.obj", "stub.obj")
        want = self.peer(version, "p.profdata", "a.exe")
        self.assertEqual(want, self.peer(version))
        (self.folder / "a.exe").chmod(0o644)
        (self.folder / "here").mkdir()
        for name in "a.exe", "p.profraw":
            shutil.copy(self.folder / name, self.folder / "here")
        for operands in (["a.exe", "p.profraw"], ["a.exe", "p.profdata"], ["here"]):
            got, done = cover(self.folder, *operands)
            self.assertEqual((done.returncode, done.stderr), (0, b""), operands)
            self.assertEqual(got, want)

    @slow
    def test_a_file_of_several_names_counts_once(self):
        version = VERSIONS[-1]
        self.write("a.c", "int main(void)\n{\n    return 0;\n}\n")
        self.compile(version, "a.c")
        for name in "one", "two":
            self.run_in("./program", env={"LLVM_PROFILE_FILE": f"runs/{name}.profraw"})
        (self.folder / "runs/link.profraw").symlink_to("one.profraw")
        (self.folder / "more").mkdir()
        (self.folder / "more/hard.profraw").hardlink_to(self.folder / "runs/one.profraw")
        for operands in ["runs"], ["more", "runs"], ["runs", "more", "runs"], ["runs/one.profraw", "runs"]:
            for threads in "1", "3":
                got, done = cover(self.folder, "program", "--threads", threads, *operands)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(got[str(self.folder / "a.c")]["DA"], {2: 2, 3: 2, 4: 2}, operands)

    @slow
    def test_functions_of_one_name_in_two_programs(self):
        """main() has the same control flow in both: merged profiles cannot tell them apart."""
        version = VERSIONS[-1]
        for name, times in ("one", 3), ("two", 1):
            self.write(f"{name}.c", f"int main(void)\n{{\n    return 0; /* {name} */\n}}\n")
            self.compile(version, f"{name}.c", name=name)
            for i in range(times):
                self.run_in(f"./{name}", env={"LLVM_PROFILE_FILE": f"{name}{i}.profraw"})
        got, done = cover(self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(got[str(self.folder / "one.c")]["DA"], {2: 3, 3: 3, 4: 3})
        self.assertEqual(got[str(self.folder / "two.c")]["DA"], {2: 1, 3: 1, 4: 1})

    @slow
    def test_two_shared_objects(self):
        version = VERSIONS[-1]
        self.write("o.c", OTHER_C)
        self.write("m.c", "int other(int);\nint main(void)\n{\n    return other(2) + other(1);\n}\n")
        self.run_in(f"clang-{version}", *FLAGS, "-shared", "-fPIC", "-o", "libo.so", "o.c")
        self.compile(version, "m.c", "./libo.so")
        self.profile(version)
        want = self.peer(version, "p.profdata", "program", "-object", "libo.so")
        got, done = cover(self.folder, "program", "libo.so", "p.profraw")
        self.assertEqual(done.returncode, 0, done.stderr)
        for source in want:
            self.assertEqual(got[source], want[source])

    @slow
    def test_raw_profiles_beside_their_sum(self):
        """A run counts once in a folder that has its raw profile and what llvm-profdata made of it; files that are named all count."""
        version = VERSIONS[-1]
        self.write("m.c", "int main(void)\n{\n    return 0;\n}\n")
        self.compile(version, "m.c")
        self.profile(version)
        for arguments in (), (".",), ("program", "."), ("--runs", "."):
            got, done = cover(self.folder, *arguments)
            self.assertEqual((done.returncode, got[str(self.folder / "m.c")]["DA"]), (0, {2: 1, 3: 1, 4: 1}), (arguments, done.stderr))
        said = monarc("cover", cwd=self.folder).stdout.decode()
        for name in "profdata", "proftext":
            self.assertIn(f"p.{name}: left out, as raw profiles lie next to it", said)
        got, done = cover(self.folder, "program", "p.profraw", "p.profdata")
        self.assertEqual(got[str(self.folder / "m.c")]["DA"], {2: 2, 3: 2, 4: 2})
        self.run_in("rm", "p.profraw", "p.proftext")
        got, done = cover(self.folder)
        self.assertEqual(got[str(self.folder / "m.c")]["DA"], {2: 1, 3: 1, 4: 1})

    @slow
    def test_counts_that_raced(self):
        """What is below 0 is unknown, in lines, regions and branches: the region around it says nothing of it."""
        self.write("t.c", "int f(int a)\n{\n    if (a > 0)\n        return 1;\n    return 2;\n}\n"
                   "int main(void)\n{\n    f(1);\n    f(1);\n    f(0);\n    return 0;\n}\n")
        for version in VERSIONS:
            self.compile(version, "t.c")
            self.profile(version)
            text = (self.folder / "p.proftext").read_text()
            raced = re.sub(r"(?s)(\bf\n.*?# Counter Values:\n)3\n", r"\g<1>1\n", text, count=1)
            self.assertNotEqual(text, raced)
            self.write("raced.proftext", raced)
            report = json.loads(monarc("cover", "--json", "-", "program", "raced.proftext", cwd=self.folder).stdout)
            lines = {line["line"]: line for line in report["sources"][0]["lines"]}
            self.assertEqual([lines[n]["count"] for n in (2, 3, 4, 5, 6)], [1, 1, 2, None, 1], version)
            self.assertEqual([b["count"] for b in lines[3].get("branches", [])], [2], version)
            self.assertEqual(report["totals"]["branches"], {"all": 2, "hit": 1, "unknown": 1}, version)
            got, _ = cover(self.folder, "program", "raced.proftext")
            self.assertNotIn(5, got[str(self.folder / "t.c")]["DA"])
            for limit, status in ((50, b"passed"), (51, b"FAILED")):
                self.assertIn(status + b": branch", monarc("cover", "--fail-under-branch", limit, "program", "raced.proftext",
                                                          cwd=self.folder).stdout)

    @slow
    def test_an_archive(self):
        """Objects of a library, with long names and odd lengths; what the program is that ran does not matter."""
        version = VERSIONS[-1]
        self.write("f.c", "int f(int a)\n{\n    return a;\n}\nint never(void)\n{\n    return 1;\n}\n")
        self.write("an_object_of_a_long_name.c", "int g(void)\n{\n    return 1;\n}\n")
        self.write("plain.c", "int plain(void)\n{\n    return 1;\n}\n")
        self.write("m.c", "int f(int), g(void);\nint main(void)\n{\n    return f(0) + g() - 1;\n}\n")
        self.run_in(f"clang-{version}", *FLAGS, "-c", "f.c", "an_object_of_a_long_name.c", "m.c")
        self.run_in(f"clang-{version}", "-c", "plain.c")
        self.write("odd", "x")
        self.run_in("ar", "rcs", "libf.a", "odd", "f.o", "plain.o", "an_object_of_a_long_name.o")
        self.run_in("ar", "rcs", "none.a", "plain.o")
        self.compile(version, "m.o", "libf.a")
        self.profile(version)
        want = {"f.c": {2: 1, 3: 1, 4: 1, 6: 0, 7: 0, 8: 0}, "an_object_of_a_long_name.c": {2: 1, 3: 1, 4: 1}}
        self.run_in("ar", "rcs", "libg.a", "f.o", "an_object_of_a_long_name.o")  # it takes no other members
        self.assertEqual({Path(p).name: lines["DA"] for p, lines in self.peer(version, "p.profdata", "libg.a").items()}, want)
        for names in ("libf.a", "p.profdata"), ("p.profraw", "libf.a"):
            got, done = cover(self.folder, *names)
            self.assertEqual((done.returncode, {Path(p).name: lines["DA"] for p, lines in got.items()}), (0, want), done.stderr)
        self.assertEqual(monarc("html", "libf.a", "p.profdata", "-o", "page.html", cwd=self.folder).returncode, 0)
        self.assertEqual(monarc("check", "--fail-under-line", 60, "libf.a", "p.profdata", cwd=self.folder).returncode, 0)
        self.assertIn(b"none.a: has no coverage mapping", monarc("cover", "none.a", "program", "p.profraw", cwd=self.folder).stderr)
        # A thin one names its members, from its own folder; one of them has gone.
        (self.folder / "lib").mkdir()
        self.run_in("ar", "rcsT", "lib/thin.a", "odd", "f.o", "plain.o", "an_object_of_a_long_name.o")
        got, done = cover(self.folder, "lib/thin.a", "p.profdata")
        self.assertEqual((done.returncode, {Path(p).name: lines["DA"] for p, lines in got.items()}), (0, want), done.stderr)
        (self.folder / "f.o").unlink()
        done = monarc("cover", "lib/thin.a", "p.profdata", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"lib/../f.o: No such file", done.stdout + done.stderr)
        whole = (self.folder / "libf.a").read_bytes()
        for cut in range(8, len(whole), 997):
            (self.folder / "cut.a").write_bytes(whole[:cut])
            done = monarc("cover", "cut.a", "p.profdata", cwd=self.folder)
            self.assertIn(done.returncode, (1, 2), cut)
            self.assertIn(b"cut.a", done.stderr, cut)

    @slow
    def test_a_merged_profile_that_names_one_of_its_programs(self):
        """llvm-profdata 15 and 16 keep one build-id: the functions that its program lacks are others'; main(), which
        it has, is its own."""
        version = VERSIONS[-1]
        self.write("o.c", OTHER_C)
        self.write("m.c", "int other(int);\nint main(void)\n{\n    return other(2) + other(1) > 99;\n}\n")
        self.write("unrun.c", "int main(void)\n{\n    return 0;\n}\n")
        self.run_in(f"clang-{version}", *FLAGS, "-shared", "-fPIC", "-Wl,--build-id=sha1", "-o", "libo.so", "o.c")
        self.compile(version, "m.c", "./libo.so", "-Wl,--build-id=0x1122")
        self.compile(version, "unrun.c", "-Wl,--build-id=0x3344", name="unrun")
        self.profile(version)
        counts = [(b"main", ref, [1]) for ref in self.hashes("main")] + [
            (name.encode(), ref, [2] * 4) for name in ("other", "o.c:helper") for ref in self.hashes(name)]
        self.write("one.profdata", made.indexed([c if c[0] != b"other" else (*c[:2], [2]) for c in counts], 9,
                                                ids=[b"\x11\x22"]))
        shutil.copy(self.folder / "program", self.folder / "copy")
        for copies in [], ["copy"]:  # what is others' is parted once
            got, done = cover(self.folder, "program", *copies, "libo.so", "unrun", "one.profdata")
            self.assertEqual(got[str(self.folder / "m.c")]["FN"], {"main": 1 + len(copies)})
            self.assertEqual(got[str(self.folder / "o.c")]["FN"], {"other": 2, "helper": 2})
            self.assertEqual(got[str(self.folder / "unrun.c")]["FN"], {"main": 0})

    def hashes(self, function):
        lines = (self.folder / "p.proftext").read_text().splitlines()
        return [int(lines[i + 2]) for i, line in enumerate(lines) if line == function]

    @slow
    def test_counts_beside_time(self):
        """annotate places them by lines, in the program that was covered or in another build; a raw profile is
        known by its first bytes, too."""
        self.write("t.c", TRUTH)
        self.run_in("gcc", "-g", "-pg", "-w", "-o", "timed", "t.c")
        self.run_in("./timed")
        for version in (VERSIONS[0], VERSIONS[-1]):
            self.compile(version, "-g", "t.c")
            done = self.run_in("./program", env={"LLVM_PROFILE_FILE": "p.profraw"})
            shutil.copy(self.folder / "p.profraw", self.folder / "no-suffix")
            truth = {int(a): int(b) for a, b in map(str.split, done.stderr.decode().splitlines())}
            for names in (["program", "p.profraw"], ["program", "no-suffix"], ["program", "program", "p.profraw"],
                          ["timed", "gmon.out", "program", "p.profraw"], ["timed", "p.profraw", "program", "gmon.out"]):
                with self.subTest(version, names=names):
                    value = harness.monarc_json("annotate", "--all", *names, cwd=self.folder)
                    lines = {line["line"]: line.get("executions") for line in value["files"][0]["lines"]}
                    self.assertEqual({line: lines[line] for line in truth}, truth)
                    self.assertEqual(lines[15], 0)
                    self.assertEqual(value["profiles"], [names[-1] if names[0] == "program" else "gmon.out"][:1]
                                     if len(names) != 3 else ["program", "p.profraw"])
            done = monarc("lines", "--counts", "--never", "program", "p.profraw", cwd=self.folder)
            self.assertIn(b"t.c: 15\n", done.stdout)
            self.run_in(harness.monarc_path(), "convert", "--to", "gmon", "--program", "program", "-o", "b.gmon",
                        "p.profraw")
            value = harness.monarc_json("annotate", "--all", "program", "b.gmon", cwd=self.folder)
            lines = {line["line"]: line.get("executions") for line in value["files"][0]["lines"]}
            self.assertEqual({line: lines[line] for line in truth}, truth)
            order = monarc("optimize", "--for", "lld", "program", "p.profraw", cwd=self.folder)
            self.assertEqual(order.returncode, 0, order.stderr)
            (self.folder / "p.profraw").write_bytes(b"\x81rforpl\xff" + bytes(80))
            done = monarc("annotate", "program", "p.profraw", cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"raw profile of version 0; versions 5 to 11 are known (--force continues", done.stderr)

    @slow
    def test_html_diff_and_check_take_names(self):
        version = VERSIONS[-1]
        self.write("a.c", C)
        self.write("o.c", OTHER_C)
        (self.folder / "b").mkdir()
        self.compile(version, "-g", "a.c", "o.c", name="b/program")
        for i in (0, 6):
            self.run_in("b/program", *["x"] * i, env={"LLVM_PROFILE_FILE": f"{i}.profraw"})
        names = [["0.profraw", "b/program"], ["b/program", "6.profraw"]]
        for sides in (["b/program", "0.profraw", "6.profraw"], [*names[0], *names[1]],
                      ["--old", "0.profraw", "--new", "6.profraw", "b/program"]):
            done = monarc("diff", *sides, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (1, b""), sides)
            self.assertIn(b"run now: 6-8, 53", done.stdout)
        done = monarc("check", "--baseline", "6.profraw", *names[0], cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"FAILED", done.stdout.upper())
        done = monarc("check", "--baseline", "0.profraw", *names[1], cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        self.run_in("gcc", "-g", "-pg", "-w", "-o", "timed", "a.c", "o.c")
        self.run_in("./timed")
        for more in ([], ["timed", "gmon.out"]):
            page = test_html.blocks(test_html.page(*more, *names[1], "--base", "0.profraw", cwd=self.folder))
            self.assertEqual(page["data"]["coverage"]["totals"]["lines"]["hit"], 54)
            self.assertEqual(bool(page["data"]["profile"]), bool(more), page["data"].keys())

    @slow
    def test_a_program_that_did_not_run_and_one_that_is_not_there(self):
        version = VERSIONS[-1]
        self.write("one.c", "int main(void)\n{\n    return 0;\n}\n")
        self.write("two.c", "int main(int n, char **v)\n{\n    return n > 7;\n}\n")
        self.compile(version, "one.c", name="one")
        self.compile(version, "two.c", name="two")
        self.run_in("./one", env={"LLVM_PROFILE_FILE": "one.profraw"})
        got, done = cover(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(got[str(self.folder / "two.c")]["DA"], {2: 0, 3: 0, 4: 0})
        (self.folder / "one").unlink()
        (self.folder / "two").unlink()
        done = monarc("cover", "one.profraw", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the program that left it is not here: name the one with build-id ", done.stderr)
        done = monarc("cover", "--system", monarc_path(), cwd=self.folder)
        self.assertIn(b"has no coverage mapping; was it compiled with", done.stderr)


def monarc_path():
    return harness.monarc_path()


@slow
@unittest.skipUnless(shutil.which("rustc") and 22 in VERSIONS, "no rustc with the llvm-cov of its LLVM (packages rustc-web, clang-22, llvm-22)")
class Rust(Live):
    def test_rust(self):
        self.write("r.rs", RUST)
        made_it = subprocess.run(["rustc", "-g", "-Cinstrument-coverage", "-o", "program", "r.rs"],
                                 cwd=self.folder, capture_output=True)
        if made_it.returncode:
            self.skipTest("rustc has no profiler runtime")
        self.profile(22)
        self.compare(22)
        done = monarc("cover", "--functions", "program", "p.profraw", cwd=self.folder)
        self.assertIn(b"r::pick::<i32>", done.stdout)


@slow
@unittest.skipUnless(shutil.which("rustc") and shutil.which("cargo"), "no cargo (packages rustc-web, cargo-web)")
class Workspace(Folder):
    def test_cargo_test(self):
        """`monarc cover` in the workspace finds target/debug/deps and the profiles; a generic is one function."""
        for name, text in WORKSPACE.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            self.write(name, text)
        (self.folder / ".git").mkdir()
        ran = subprocess.run(["cargo", "test", "--offline", "-q"], cwd=self.folder, capture_output=True, env={
            **os.environ, "RUSTFLAGS": "-Cinstrument-coverage", "LLVM_PROFILE_FILE": f"{self.folder}/target/%p-%m.profraw"})
        if b"profiler_builtins" in ran.stderr:
            self.skipTest("rustc has no profiler runtime")
        self.assertEqual(ran.returncode, 0, ran.stderr.decode())
        self.assertEqual(len(list(self.folder.glob("target/*.profraw"))), 3)
        totals = {}
        for rule, counts in (("union", {2: 2, 4: 1, 6: 1, 10: 5, 12: 1, 17: 0}), ("worst", {10: 2, 12: 0, 17: 0})):
            value = cover_json(self.folder, "--instances", rule)
            self.assertEqual({s["path"] for s in value["sources"]},
                             {"app/src/main.rs", "lib/src/lib.rs", "lib/tests/outside.rs"})
            lines = {line["line"]: line["count"] for s in value["sources"] if s["path"] == "lib/src/lib.rs"
                     for line in s["lines"]}
            self.assertEqual({line: lines[line] for line in counts}, counts, rule)
            totals[rule] = value["totals"]["lines"]
        self.assertEqual((totals["union"]["all"], totals["union"]["hit"]), (38, 32))
        names = [f["name"] for s in value["sources"] for f in s["functions"]]
        self.assertIn("shapes::largest::<i32>", names)
        self.assertIn("shapes::largest::<f64>", names)
        self.assertNotIn("shapes::largest::<_>", names)  # the crate itself has no instance
        self.assertEqual(names.count("shapes::area"), 1)  # of the crate as it is and as it is tested


for name in [n for n in dir(Live) if n.startswith("test_")]:
    setattr(Rust, name, None)  # they have run


if __name__ == "__main__":
    unittest.main(verbosity=2)
