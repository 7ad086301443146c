#!/usr/bin/env python3
"""test_cover_processes.py: `monarc run --coverage` of programs that make processes in every way there is. Each process
calls hot() as often as it was told to, so the count of its line is known beforehand: one that is smaller means that
a process was lost, one that is larger that one was counted twice. Kinds and their order are drawn from MONARC_SEED."""

import pathlib
import shutil
import sys
import unittest

from harness import monarc
from test_cover_llvm import Folder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from parts import load_tests, slow
import seeds  # noqa: E402

SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static volatile long sum;
static const char *self;
__attribute__((noinline)) static void hot(int n)
{
    for (int i = 0; i < n; i++)
        sum += i; /* HOT */
}
static char *text(int n)
{
    static char texts[4][16];
    static int next;
    char *to = texts[next++ & 3];
    snprintf(to, 16, "%d", n);
    return to;
}
static void leaf(const char *how, int n, int left)
{
    execl(self, self, how, text(n), text(left), (char *)0);
    _exit(99);
}
static void *executes(void *n)
{
    hot((int)(long)n);
    leaf("leaf", (int)(long)n, 0);
    return n;
}
static void *ends(void *n)
{
    usleep(1000);
    hot((int)(long)n);
    _exit(0);
}
static void *returns(void *n)
{
    usleep(1000);
    hot((int)(long)n);
    return n;
}
static void thread(void *(*go)(void *), int n)
{
    pthread_t t;
    pthread_create(&t, NULL, go, (void *)(long)n);
}
static int number;
static int cloned(void *u)
{
    (void)u;
    hot(number);
    return 0;
}
static void spawn(const char *how, int n)
{
    char *argv[] = {(char *)self, (char *)how, text(n), text(0), NULL};
    pid_t pid;
    posix_spawn(&pid, self, NULL, NULL, argv, environ);
}
static void child(char kind, int n)
{
    hot(n);
    switch (kind) {
    case 'x': exit(0);
    case 'k': kill(getpid(), SIGKILL); break;
    case 'a': abort();
    case 'e': leaf("chain", n, 3); break;
    case 't': thread(executes, n); for (;;) pause();
    case 'm': thread(ends, n); pthread_exit(NULL);
    case 'M': thread(returns, n); pthread_exit(NULL);
    case 'd': setsid(); if (!fork()) hot(n); break;
    case 'g': for (int i = 0; i < 3; i++) if (!fork()) hot(n), _exit(0);
    }
    _exit(0);
}
static void start(char kind, int n)
{
    static char stacks[64][32768];
    static int next;
    char *stack = stacks[next++ & 63] + 32768;
    pid_t pid;
    number = n;
    switch (kind) {
    case 'v':
        if (!vfork()) {
            hot(n);
            _exit(0);
        }
        break;
    case 'V':
        if (!vfork())
            execl(self, self, "leaf", text(n), text(0), (char *)0), _exit(99);
        break;
    case 'c':
        pid = clone(cloned, stack, CLONE_VM | SIGCHLD, NULL);
        waitpid(pid, NULL, 0);
        break;
    case 'C': clone(cloned, stack, SIGCHLD, NULL); break;
    case 'p': spawn("leaf", n); break;
    case 'P': spawn("exit", n); break;
    case 'F':
        if (!syscall(SYS_fork))
            child(kind, n);
        break;
    default:
        if (!fork())
            child(kind, n);
    }
}
int main(int argc, char **argv)
{
    self = argv[0];
    int n = atoi(argv[2]), left = argc > 3 ? atoi(argv[3]) : 0, running = 0;
    if (!strcmp(argv[1], "leaf") || !strcmp(argv[1], "exit") || !strcmp(argv[1], "chain")) {
        hot(n);
        if (!strcmp(argv[1], "chain") && left)
            leaf("chain", n, left - 1);
        if (!strcmp(argv[1], "exit"))
            exit(0);
        _exit(0);
    }
    for (const char *kind = argv[1]; *kind; kind++) {
        start(*kind, 1 + (int)(kind - argv[1]) % 7);
        if (++running > n)
            wait(NULL), running--;
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
"""
# How often hot() is called for a kind, and how many raw profiles it leaves beside the first process's.
KINDS = {"f": (1, 1), "F": (1, 1), "x": (1, 1), "v": (1, 0), "V": (1, 1), "c": (1, 0), "C": (1, 1), "p": (1, 1),
         "P": (1, 1), "e": (5, 5), "t": (3, 2), "k": (1, 1), "a": (1, 1), "d": (2, 2), "m": (2, 1), "M": (2, 1),
         "g": (4, 4)}
BUILDS = {"gcc": ["gcc", "-w", "-g", "-O0", "--coverage", "-pthread"],
          "clang": ["clang", "-w", "-g", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-pthread"]}
HOT = next(n for n, line in enumerate(SOURCE.splitlines(), 1) if "/* HOT */" in line)


class Processes(Folder):
    def setUp(self):
        super().setUp()
        self.seed = seeds.seed()
        self.random = seeds.generator(self.id())
        self.write("many.c", SOURCE)

    def build(self, compiler):
        if not shutil.which(BUILDS[compiler][0]):
            self.skipTest(f"{compiler} is not installed")
        self.run_in(*BUILDS[compiler], "-o", "many", "many.c")

    def clean(self):
        for pattern in ("*.gcda", "*.profraw"):
            for path in self.folder.glob(pattern):
                path.unlink()

    def check(self, compiler, kinds, beside):
        """`beside`: how many processes run at a time."""
        said = f"MONARC_SEED={self.seed} {compiler} {beside} {kinds}"
        self.clean()
        done = monarc("run", "--coverage=p", "./many", kinds, str(beside), cwd=self.folder)
        if b"ptrace is refused" in done.stderr:
            self.skipTest("ptrace is not permitted")
        self.assertEqual(done.returncode, 0, said + done.stderr.decode())
        want = sum(KINDS[kind][0] * (1 + i % 7) for i, kind in enumerate(kinds))
        profiles = sorted(path.name for path in self.folder.glob("*.profraw"))
        if compiler == "clang":
            self.assertEqual(len(profiles), 1 + sum(KINDS[kind][1] for kind in kinds), said + done.stderr.decode())
        names = ["many", *profiles] if compiler == "clang" else ["."]
        shown = monarc("cover", "--quiet", "--lcov", "x.info", *names, cwd=self.folder)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(f"DA:{HOT},{want}\n", (self.folder / "x.info").read_text(), said + done.stderr.decode())

    def each_kind(self, compiler):
        self.build(compiler)
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.check(compiler, kind * 3, 2)

    def many(self, compiler, count, rounds):
        self.build(compiler)
        for _ in range(rounds):
            kinds = "".join(self.random.choice("".join(KINDS)) for _ in range(count))
            self.check(compiler, kinds, self.random.choice((1, 4, 16)))

    def test_each_kind_gcc(self):
        self.each_kind("gcc")

    @slow
    def test_each_kind_clang(self):
        self.each_kind("clang")

    @slow
    def test_some_gcc(self):
        self.many("gcc", 60, 1)

    @slow
    def test_some_clang(self):
        self.many("clang", 60, 1)

    @slow
    def test_many_gcc(self):
        self.many("gcc", 700, 10)

    @slow
    def test_many_clang(self):
        self.many("clang", 700, 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
