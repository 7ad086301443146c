#!/usr/bin/env python3
"""test_cover_blocks.py: `monarc run --cover-blocks`: lines of programs that were not compiled for it, against what the
programs count themselves and what gcov counts of the same source; and programs that a breakpoint in the wrong place, or
one that is not taken back, would change."""

import itertools
import os
import re
import shutil
import subprocess
import unittest

from harness import can_run, monarc
from parts import in_both, load_tests, share, slow
from test_cover_llvm import Folder

# Every line with R says so itself.
COUNTS_ITSELF = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile char *ran;
#define R __extension__({ __asm__ volatile("movb $1, %0" : "=m"(ran[__LINE__])); 0; })
static jmp_buf back;
static __attribute__((noinline)) int choose(int n)
{
    switch (n) {
    case 0: R; break;
    case 1: R; break;
    case 2: R; break;
    case 3: R; break;
    case 4: R; break;
    case 5: R; break;
    default: R; break;
    }
    return n * 5 & 15;
}
static void leave(int n)
{
    if (n > 3)
        R, longjmp(back, 1);
    R;
}
static void handler(int number)
{
    if (number == SIGUSR1)
        R;
    else
        R;
}
static void *work(void *argument)
{
    long n = (long)argument, sum = 0;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (long i = 0; i < 200; i++) {
        if (i % 3 == n % 3)
            R, sum += i;
        else if (i % 5 == 1)
            R, sum ^= i;
        else if (i > 300)
            R, sum = 0;
        sum += choose((int)(i & 3));
    }
    pthread_sigmask(SIG_BLOCK, NULL, &all);
    if (!sigismember(&all, SIGTRAP))
        R, abort();
    return (void *)sum;
}
int main(int argc, char **argv)
{
    ran = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[12];
    long total = 0;
    signal(SIGUSR1, handler);
    for (long i = 0; i < 12; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < 12; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        total += (long)sum;
    }
    raise(SIGUSR1);
    if (!setjmp(back))
        R, leave(1), leave(5), R;
    else
        R;
    for (int i = 0; i < 9; i++) {
        pid_t child = fork();
        if (!child && i == 4)
            R, _exit(choose(4));
        if (!child)
            R, _exit(1);
        int status;
        waitpid(child, &status, 0);
        total += WEXITSTATUS(status);
    }
    pid_t child = vfork();
    if (!child)
        execl("/bin/echo", "echo", argv[0], (char *)NULL), _exit(3);
    waitpid(child, NULL, 0);
    if (argc > 1 && !strcmp(argv[1], "more"))
        R, total += choose(9);
    printf("%ld\n", total);
    FILE *out = fopen("ran", "w");
    for (int i = 1; i < 4096; i++)
        if (ran[i])
            fprintf(out, "%d\n", i);
    fclose(out);
    if (argc > 2)
        kill(getpid(), SIGKILL);
    return 9;
}
"""

# What stands between the instructions is no code, and is looked at. The lock prefix is jumped over.
DATA_IN_CODE = r"""
#include <stdio.h>
#include <string.h>
int own(int n);
__asm__(".text\n.globl own\n.type own, @function\nown:\n.cfi_startproc\n"
        "jmp 1f\n.Ldata: .byte 0x55, 0x48, 0x89, 0xe5, 0xc3, 0x74, 0x01, 0xe8\n1: lea .Ldata(%rip), %rax\n"
        "movslq %edi, %rdi\nmovzbl (%rax,%rdi), %eax\nret\n.quad 0x9090909090909090\n.cfi_endproc\n.size own, .-own\n");
__attribute__((noinline)) void skip(int *sum)
{
    __asm__ volatile("cmpl $0, %0\nje 1f\n.byte 0xf0\n1: incl %0" : "+m"(*sum) : : "cc");
}
int main(void)
{
    const unsigned char *data;
    const char *text;
    __asm__ volatile("jmp 1f\n2: .byte 0x55, 0x48, 0x89, 0xe5, 0xc3, 0x75, 0xfe, 0xcc\n1: lea 2b(%%rip), %0" : "=r"(data));
    printf("%02x %02x %02x\n", data[0], data[5], data[7]);
    __asm__ volatile("lea -256(%%rsp), %%rsp\ncall 1f\n.ascii \"PQRSTUVWXYZ\"\n1: pop %0\nlea 256(%%rsp), %%rsp" : "=r"(text));
    printf("%.11s\n", text);
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 3 + own(i);
    skip(&sum);
    return printf("%d\n", sum) < 0;
}
"""

PLUGIN = "int plug(int x)\n{\n    if (x > 0)\n        return 2 * x;\n    if (!x)\n        return 77;\n    return -x;\n}\n"
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("./plug.so", RTLD_NOW);
        int (*plug)(int) = (int (*)(int))dlsym(library, "plug");
        printf("%d\n", plug(i ? 4 : -4));
        dlclose(library);
    }
    return 0;
}
"""
# For gcov: functions of all shapes, loops and early ends.
SHAPES = r"""
#include <stdio.h>
#include <stdlib.h>
static int collatz(int n)
{
    int steps = 0;
    while (n != 1) {
        if (n % 2)
            n = 3 * n + 1;
        else
            n /= 2;
        steps++;
        if (steps > 10000) {
            steps = -1;
            break;
        }
    }
    return steps;
}
static int word(const char *s)
{
    switch (*s) {
    case 'a':
        return 1;
    case 'b':
        if (s[1] == 'c')
            return 2;
        goto end;
    case 'd':
    case 'e':
        return 3;
    case 'f':
        return 4;
    case 'g':
        return 5;
    }
end:
    return 0;
}
static void usage(void)
{
    puts("usage");
    exit(3);
}
int main(int argc, char **argv)
{
    int sum = 0, i;
    for (i = 1; i < 20; i++)
        sum += collatz(i);
    for (i = 1; i < argc; i++)
        sum += word(argv[i]) ? 10 : 20;
    do {
        sum--;
    } while (sum > 5 && sum % 7);
    if (argc > 4)
        usage();
    printf("%d\n", sum);
    return 0;
}
"""


def lines_of(path):
    """By source and line: whether it ran."""
    out = {}
    for line in path.read_text().splitlines():
        if line.startswith("SF:"):
            source = out.setdefault(os.path.basename(line[3:]), {})
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            source[int(number)] = int(count) > 0
    return out


class Blocks(Folder):
    def setUp(self):
        super().setUp()
        self.write("nothing.c", "int main(void)\n{\n    return 0;\n}\n")
        self.run_in("gcc", "-g", "-o", "nothing", "nothing.c")
        done = monarc("run", "--cover-blocks=x.info", "./nothing", cwd=self.folder)
        if b"ptrace is refused" in done.stderr:
            self.skipTest("ptrace is not permitted")
        if b"not there on this machine" in done.stderr:
            self.skipTest("this machine's code is not known")
        self.assertEqual(done.returncode, 0, done.stderr)

    def compile(self, source, *options, name="program", compiler="gcc"):
        self.write("p.c", source)
        self.run_in(compiler, "-w", "-g", "-o", name, "p.c", *options)

    @unittest.skipUnless(os.uname().machine == "x86_64", "capstone reads x86 alone here")
    def test_without_capstone(self):
        """Some of the code cannot be read then: no part of it is taken for all."""
        (self.folder / "none").mkdir()
        for number in range(4, 8):
            self.write(f"none/libcapstone.so.{number}", "")
        (self.folder / "x.info").unlink()
        done = monarc("run", "--cover-blocks=x.info", "./nothing", cwd=self.folder,
                      env={**os.environ, "LD_LIBRARY_PATH": str(self.folder / "none")})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), r"^monarc: \./nothing: libcapstone\.so\.\d is not installed\n$")
        self.assertFalse((self.folder / "x.info").exists())

    def covered(self, *command, status=0):
        """Runs the program alone and under monarc; both must behave alike."""
        alone = subprocess.run(list(command), cwd=self.folder, capture_output=True)
        done = monarc("run", "--cover-blocks=x.info", *command, cwd=self.folder)
        self.assertEqual(done.stdout, alone.stdout, done.stderr)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(alone.returncode if alone.returncode >= 0 else 128 - alone.returncode, status)
        return lines_of(self.folder / "x.info"), done.stderr.decode()

    @in_both
    def test_programs_that_count_their_lines(self):
        lines = {number for number, line in enumerate(COUNTS_ITSELF.splitlines(), 1)
                 if re.search(r"\bR[;,]", line)}
        self.assertEqual(len(lines), 20)
        ways = itertools.product(filter(shutil.which, ("gcc", "clang")), (
            ["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O1", "-static"]))
        for compiler, options in share(ways, 10):
            self.compile(COUNTS_ITSELF, *options, "-pthread", compiler=compiler)
            for arguments, status in ((), 9), (("more",), 9), (("more", "x"), 137):
                with self.subTest(compiler, options=options, arguments=arguments):
                    got, _ = self.covered("./program", *arguments, status=status)
                    truth = set(map(int, (self.folder / "ran").read_text().split()))
                    self.assertEqual({n for n in lines if got["p.c"].get(n)}, truth)
                    # What the compiler left out is in no list.
                    if options == ["-O0"]:
                        self.assertLessEqual(lines, set(got["p.c"]))

    @slow
    def test_what_is_no_code_stays_as_it_is(self):
        if os.uname().machine != "x86_64":
            self.skipTest("assembly of x86-64")
        for options in ([], ["-O2"], ["-gdwarf-4", "-Wa,-g"]):
            self.compile(DATA_IN_CODE, *options)
            got, said = self.covered("./program")
            self.assertTrue(all(got["p.c"][n] for n in (20, 22, 24, 25)), got)
            self.assertNotIn(14, got["p.c"])
            self.assertIn("1 functions are left out: not all in them is code", said)

    @slow
    def test_loaded_and_unloaded(self):
        self.write("plug.c", PLUGIN)
        self.run_in("gcc", "-g", "-shared", "-fPIC", "-o", "plug.so", "plug.c")
        self.compile(LOADER, "-ldl")
        got, _ = self.covered("./program")
        self.assertEqual(got["plug.c"], {2: True, 3: True, 4: True, 5: True, 6: False, 7: True, 8: True})

    @slow
    def test_lines_of_gcov(self):
        shutil.copy(self.write("p.c", SHAPES), self.folder / "q.c")
        self.run_in("gcc", "-O0", "--coverage", "-o", "counted", "p.c")
        for options in ([], ["-gdwarf-4"], ["-m32"]):
            try:
                self.compile(SHAPES, "-O0", *options)
            except AssertionError:  # no libraries for it
                self.assertEqual(options, ["-m32"])
                continue
            if not can_run(self.folder / "program"):
                continue
            for arguments, status in ((), 0), (("a", "bc"), 0), (("bx", "f", "z", "g"), 3):
                for path in self.folder.glob("*.gcda"):
                    path.unlink()
                subprocess.run(["./counted", *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, check=status == 0)
                got, _ = self.covered("./program", *arguments, status=status)
                done = monarc("cover", "--quiet", "--lcov", "g.info", ".", cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                want = lines_of(self.folder / "g.info")["p.c"]
                both = set(want) & set(got["p.c"])
                self.assertEqual({n: got["p.c"][n] for n in both}, {n: want[n] for n in both})
                self.assertGreaterEqual(len(both), 30)  # gcov has lines of labels, and braces elsewhere

    @slow
    def test_what_others_read(self):
        """The tracefile is one as any other."""
        self.compile(SHAPES)
        monarc("run", "--cover-blocks=a.info", "./program", "a", cwd=self.folder)
        monarc("run", "--cover-blocks", "-o", "b.info", "./program", "g", cwd=self.folder)
        a, b = lines_of(self.folder / "a.info")["p.c"], lines_of(self.folder / "b.info")["p.c"]
        done = monarc("cover", "--quiet", "--lcov", "ab.info", "a.info", "b.info", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(lines_of(self.folder / "ab.info")["p.c"], {n: a[n] or b[n] for n in a})
        self.assertEqual(monarc("cover", "--fail-under-line", "99", "ab.info", cwd=self.folder).returncode, 1)
        self.assertEqual(monarc("html", "-o", "x.html", "a.info", cwd=self.folder).returncode, 0)
        self.assertIn(b"usage", monarc("cover", "--functions", "a.info", cwd=self.folder).stdout)

    @slow
    def test_lines_in_a_file_beside(self):
        self.compile(SHAPES)
        want, _ = self.covered("./program")
        self.run_in("objcopy", "--only-keep-debug", "program", "program.debug")
        self.run_in("strip", "program")
        self.run_in("objcopy", "--add-gnu-debuglink=program.debug", "program")
        self.assertEqual(self.covered("./program")[0], want)
        (self.folder / "program.debug").unlink()
        done = monarc("run", "--cover-blocks", "./program", cwd=self.folder)
        self.assertEqual((done.returncode, b"no debug information" in done.stderr), (2, True), done.stderr)

    @slow
    def test_scripts_and_what_they_start(self):
        """Lines of each program that ran, of the system's only those of the first."""
        self.compile(SHAPES)
        self.write("run.sh", "#!/bin/sh\n./nothing && ./program a | cat\nexit 4\n").chmod(0o755)
        got, said = self.covered("./run.sh", status=4)
        self.assertEqual(sorted(got), ["nothing.c", "p.c"], said)
        self.assertTrue(got["nothing.c"][3])

    @slow
    def test_who_traces(self):
        """Only one can trace a process: what then does not work is said, or left alone."""
        self.compile("#include <sys/ptrace.h>\nint main(void)\n{\n    return ptrace(PTRACE_TRACEME, 0, 0, 0) ? 7 : 0;\n}\n")
        done = monarc("run", "--cover-blocks", "./program", cwd=self.folder)
        self.assertEqual((done.returncode, b"1 programs have ptrace() in their code" in done.stderr), (7, True), done.stderr)
        try:
            self.compile("int main(void)\n{\n    return 3;\n}\n", "-fsanitize=address")
        except AssertionError:
            return  # it is not installed
        done = monarc("run", "--cover-blocks", "./program", cwd=self.folder)
        self.assertEqual((done.returncode, b"left alone: it has a leak checker" in done.stderr), (3, True), done.stderr)

    def test_what_cannot_be(self):
        for command, status, said in ((["--cover-blocks", "./none"], 127, b"No such file"),
                                      (["--cover-blocks", "--coverage", "./nothing"], 2, b"cannot be combined"),
                                      (["--cover-blocks=y", "-o", "x", "./nothing"], 2, b"both say where"),
                                      (["--coverage=y", "-o", "x", "./nothing"], 2, b"both say where"),
                                      (["--cover-libraries", "./nothing"], 2, b"needs --cover-blocks"),
                                      (["--cover-blocks=/none/x", "./nothing"], 2, b"/none/x")):
            done = monarc("run", *command, cwd=self.folder)
            self.assertEqual((done.returncode, said in done.stderr), (status, True), done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
