#!/usr/bin/env python3
"""test_llvm_truth.py: programs in C, C++ and Rust that count their own lines, by every clang and rustc in PATH, with and
without optimisation: with loops, threads, longjmp, exceptions, panics, and libraries that come and go.

What stands behind N runs as often as N was counted, in memory that a file backs, which outlives the process however it
ends. Run by themselves, programs leave a profile at exit(). Under `monarc run --coverage` they may end by _exit, abort or
SIGKILL, and children of fork, too: counts must be exact in each case. What no compiler of this kind counts right is here
as well: a line marked AFTER stands behind a call that did not return, and has the count of its block. (quit() is there as
clang knows that _exit() does not return: what is behind an `if` that ends in it is what is before less what is in it,
which a fork() in it makes wrong.)"""

import os
import re
import struct
import subprocess
import unittest

from harness import monarc_path
from parts import load_tests, slow
from test_cover_llvm import VERSIONS, Folder, cover
from test_llvm_matrix import BORROWED, rustcs

LINES = 300
SHARED = """\
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <dlfcn.h>
static unsigned long *n;
#define N ((void)__atomic_fetch_add(&n[__LINE__], 1, __ATOMIC_RELAXED))
static int collatz(unsigned x)
{
    int steps = 0;
    while (x != 1) {
        N; if (x % 2) {
            N; x = 3 * x + 1;
        } else {
            N; x /= 2;
        }
        steps++;
    }
    N; return steps > 100 && x ? 1 : 0;
}
static void *thread(void *p)
{
    for (unsigned i = 1; i < 40; i++) {
        N; collatz(i);
    }
    return p;
}
static void open_count(const char *path)
{
    n = (unsigned long *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 0);
}
static void quit(int status)
{
    N; _exit(status);
}
static int leave(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "abort"))
        abort();
    for (int i = 0; i < 3 && !strcmp(how, "fork"); i++)
        if (!fork()) {
            N; collatz(9 + i);
            quit(0);
        }
    while (wait(NULL) > 0) {
        N; collatz(3);
    }
    for (int i = 0; i < 3 && !strcmp(how, "plugin"); i++) {
        void *library = dlopen("./plugin.so", RTLD_NOW);
        void (*work)(unsigned long *, int) = (void (*)(unsigned long *, int))dlsym(library, "work");
        N; work(n, i + 1);
        dlclose(library);
    }
    N; if (!strcmp(how, "kill")) {
        sleep(3);
        kill(getpid(), SIGKILL);
    }
    return 0;
}
"""
C = SHARED + """\
static jmp_buf back;
static void down(int depth)
{
    N; if (depth == 0)
        longjmp(back, 1);
    N; down(depth - 1);
    collatz(1); /* AFTER */
}
static void jumps(volatile int times)
{
    while (times-- > 0) {
        switch (setjmp(back)) {
        case 0:
            N; down(times);
            collatz(2); /* AFTER */
            break;
        default:
            N; collatz(5);
        }
    }
}
int main(int argc, char **argv)
{
    pthread_t threads[8];
    open_count(argv[2]);
    N; jumps(5);
    for (int i = 0; i < 8; i++) {
        N; pthread_create(&threads[i], NULL, thread, NULL);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return leave(argv[1]);
}
"""
CPP = SHARED + """\
#include <stdexcept>
#include <vector>
struct Guard {
    int &left;
    ~Guard() { N; left++; }
};
template <typename T> T thrower(T depth)
{
    int left = 0;
    Guard guard{left};
    N; if (depth <= 0)
        throw std::runtime_error("down");
    N; T more = thrower<T>(depth - 1);
    return more + 1; /* AFTER */
}
static int caught(int times)
{
    int all = 0;
    for (int i = 0; i < times; i++) {
        try {
            N; all += thrower<int>(i) + (int)thrower<long>(i);
            all++; /* AFTER */
        } catch (const std::runtime_error &) {
            N; all += 2;
        } catch (...) {
            N; all += 100;
        }
    }
    N; return all;
}
int main(int argc, char **argv)
{
    pthread_t threads[8];
    open_count(argv[2]);
    N; if (caught(6) > 99) {
        N; return 3;
    }
    auto each = [](unsigned i) {
        N; return collatz(i);
    };
    for (unsigned i : std::vector<unsigned>{3, 7, 9}) {
        N; each(i);
    }
    for (int i = 0; i < 8; i++) {
        N; pthread_create(&threads[i], NULL, thread, NULL);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return leave(argv[1]);
}
"""
PLUGIN = """\
void work(unsigned long *n, int times)
{
    for (int i = 0; i < times; i++) {
        __atomic_fetch_add(&n[%d + __LINE__], 1, __ATOMIC_RELAXED);
        if (i > 1)
            __atomic_fetch_add(&n[%d + __LINE__], 1, __ATOMIC_RELAXED);
    }
}
"""
RUST = """\
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
extern "C" {
    fn mmap(at: *mut u8, len: usize, rights: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn _exit(status: i32) -> !;
    fn abort() -> !;
}
static mut AT: *const AtomicU64 = std::ptr::null();
fn count(line: u32) { unsafe { (*AT.add(line as usize)).fetch_add(1, Relaxed); } }
macro_rules! n { () => { count(line!()) } }
fn collatz<T: Into<u64>>(from: T) -> u32 {
    let mut x: u64 = from.into();
    let mut steps = 0;
    while x != 1 {
        n!(); if x % 2 == 1 {
            n!(); x = 3 * x + 1;
        } else {
            n!(); x /= 2;
        }
        steps += 1;
    }
    n!(); steps
}
fn may_fail(i: i32) -> Result<i32, String> {
    n!(); if i == 3 {
        n!(); return Err("three".to_string());
    }
    n!(); Ok(i)
}
fn sum(to: i32) -> Result<i32, String> {
    let mut all = 0;
    for i in 0..to {
        n!(); all += may_fail(i)?;
    }
    n!(); Ok(all)
}
fn main() {
    use std::os::unix::io::AsRawFd;
    let arguments: Vec<String> = std::env::args().collect();
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&arguments[2]).unwrap();
    unsafe { AT = mmap(std::ptr::null_mut(), 4096, 3, 1, file.as_raw_fd(), 0) as *const AtomicU64; }
    std::panic::set_hook(Box::new(|_| {}));
    for i in 0..6 {
        n!(); let _ = std::panic::catch_unwind(move || {
            n!(); if i % 2 == 0 {
                n!(); panic!("even");
            }
            n!(); collatz(7u8)
        });
    }
    let _ = (sum(3), sum(5));
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| {
        for i in 1..40u32 {
            n!(); collatz(i);
        }
    })).collect();
    for t in threads {
        n!(); t.join().unwrap();
    }
    match arguments[1].as_str() {
        "_exit" => {
            n!(); unsafe { _exit(0) }
        }
        "abort" => {
            n!(); unsafe { abort() }
        }
        _ => {
            n!(); collatz(1u8);
        }
    }
}
"""
LANGUAGES = {"c": C, "cpp": CPP}
STATUS = {"abort": 134, "kill": 137}


class Truth(Folder):
    def counted(self, how, *command, status=0):
        """Runs it with a fresh file of counts; {line: count} of those that are above 0."""
        path = self.write("counts", bytes(8 * LINES + 4096))
        done = subprocess.run([*command, "./program", how, "counts"], cwd=self.folder, capture_output=True,
                              env={**os.environ, "LLVM_PROFILE_FILE": "own.profraw"})
        if b"ptrace is refused" in done.stderr:
            self.skipTest("ptrace is not permitted")
        self.assertEqual(done.returncode, status, done.stderr.decode())
        counts = struct.unpack(f"<{LINES}Q", path.read_bytes()[:8 * LINES])
        return {line: count for line, count in enumerate(counts) if count}

    def check(self, source, text, truth, profiles, objects=("program",)):
        got, done = cover(self.folder, *objects, *profiles)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        lines = got[str(self.folder / source)]["DA"]
        wanted, after = {}, None
        for number, line in enumerate(text.splitlines(), 1):
            if "N; " in line or "n!(); " in line:
                wanted[number] = after = truth.get(number, 0)
            elif "AFTER" in line:
                wanted[number] = after
        self.assertEqual({number: lines.get(number) for number in wanted}, wanted)
        self.assertGreater(sum(count > 0 for count in wanted.values()), 10)
        return got

    def under_monarc(self, source, text, how):
        for old in self.folder.glob("of-*.profraw"):
            old.unlink()
        truth = self.counted(how, monarc_path(), "run", "--coverage=of-" + how,
                             "--coverage-interval", "50", status=STATUS.get(how, 0))
        objects = ["program", "plugin.so"][:1 + (how == "plugin")]
        got = self.check(source, text, truth, sorted(self.folder.glob("of-*.profraw")), objects)
        if how == "plugin":
            lines = got[str(self.folder / "plugin.c")]["DA"]
            self.assertEqual([lines[4], lines[6]], [truth[200 + 4], truth[200 + 6]])
            self.assertEqual([lines[4], lines[6]], [1 + 2 + 3, 1])

    def of_clang(self, version):
        flags = ["-w", "-pthread", "-fprofile-instr-generate", "-fcoverage-mapping", "-fprofile-update=atomic"]
        self.write("plugin.c", PLUGIN % (200, 200))
        for (suffix, text), level in ((pair, level) for pair in LANGUAGES.items() for level in ("-O0", "-O2")):
            source = f"p.{suffix}"
            self.write(source, text)
            clang = f"clang{'++' if suffix == 'cpp' else ''}-{version}"
            self.run_in(clang, *flags, level, "-o", "program", source, "-ldl")
            self.run_in(f"clang-{version}", *flags, level, "-shared", "-fPIC", "-o", "plugin.so", "plugin.c")
            with self.subTest(version, source=source, level=level, how="by itself"):
                self.check(source, text, self.counted("exit"), ["own.profraw"])
            for how in ("exit", "_exit", "abort", "fork", "plugin", *["kill"] * (level == "-O2")):
                with self.subTest(version, source=source, level=level, how=how):
                    self.under_monarc(source, text, how)

    def of_rustc(self, command, llvm):
        self.write("p.rs", RUST)
        for level in ("0", "2"):
            line = [command, "-g", "-Awarnings", f"-Copt-level={level}", "-Cinstrument-coverage",
                    "-Cllvm-args=-instrprof-atomic-counter-update-all", "-o", "program", "p.rs"]
            made = subprocess.run(line, cwd=self.folder, capture_output=True)
            if b"profiler runtime" in made.stderr:
                runtime = self.run_in(f"clang-{llvm}", "--rtlib=compiler-rt", "-print-file-name=libclang_rt.profile-"
                                      f"{os.uname().machine}.a").stdout.decode().strip()
                made = subprocess.run([*line, *BORROWED, f"-Clink-arg={runtime}", "-Clink-arg=-lc"], cwd=self.folder,
                                      capture_output=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
            if made.returncode:
                self.skipTest("rustc has no profiler runtime, and clang's does not link")
            with self.subTest(command, level=level, how="by itself"):
                self.check("p.rs", RUST, self.counted("exit"), ["own.profraw"])
            for how in ("exit", "_exit", "abort"):
                with self.subTest(command, level=level, how=how):
                    self.under_monarc("p.rs", RUST, how)


def load_compilers():
    for version in VERSIONS:
        setattr(Truth, f"test_clang_{version}", slow(lambda self, v=version: self.of_clang(v)))
    for command, release, llvm in rustcs():
        setattr(Truth, f"test_rustc_{re.sub(r'[^0-9]', '_', release)}",
                slow(lambda self, c=command, v=llvm: self.of_rustc(c, v)))


load_compilers()


if __name__ == "__main__":
    unittest.main(verbosity=2)
