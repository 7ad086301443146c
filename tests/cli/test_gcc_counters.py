#!/usr/bin/env python3
"""test_gcc_counters.py: `monarc run --coverage` of programs that gcc compiled: counters that libgcov does not write are
read from outside. Files must be those that libgcov writes of the same run, byte by byte."""

import subprocess
import unittest

from harness import monarc
from test_cover_llvm import Folder

# Ends in a way that is chosen from outside, in a part without counters.
END = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void end(void)
{
    const char *how = getenv("HOW");
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        for (close(creat("there", 0666));;)
            pause();
    exit(0);
}
"""
C = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void end(void);
int other(int);
static int f(int n)
{
    return n < 2 ? n : f(n - 1) + f(n - 2);
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += other(i);
    if (argc > 1 && !fork()) {
        sum += f(8);
        _exit(0);
    }
    wait(NULL);
    f(10);
    if (sum >= 0)
        end();
    return 1;
}
"""
OTHER = "int other(int n)\n{\n    if (n % 7 == 3)\n        return 1;\n    return n & 1;\n}\n"
CPP = r"""
#include "t.h"
extern "C" void end();
int one();
int main()
{
    int sum = one();
    for (int i = 0; i < 10; i++)
        sum += twice(i) + twice(1.5);
    if (sum)
        end();
    return 2;
}
"""
HEADER = "template <class T> T twice(T v)\n{\n    return v > 3 ? v + v : 2 * v;\n}\n"


class GccCounters(Folder):
    def run_how(self, how, *arguments, by_monarc=True, status=0):
        command = ["./program", *arguments]
        if by_monarc:
            done = monarc("run", "--coverage", *command, cwd=self.folder, env={"HOW": how})
            if b"ptrace is refused" in done.stderr:
                self.skipTest("ptrace is not permitted")
            self.assertEqual(done.returncode, status, done.stderr)
        else:
            done = subprocess.run(command, cwd=self.folder, env={"HOW": how}, stderr=subprocess.PIPE, check=False)
        return done.stderr.decode()

    def files(self):
        """What was written, which is then removed."""
        out = {path.name: path.read_bytes() for path in self.folder.glob("*.gcda")}
        for name in out:
            (self.folder / name).unlink()
        return out

    def build(self, compiler, *sources, options=()):
        self.write("end.c", END), self.write("m.c", C), self.write("o.c", OTHER)
        self.write("t.cpp", CPP), self.write("u.cpp", '#include "t.h"\nint one()\n{\n    return twice(1);\n}\n')
        self.write("t.h", HEADER)
        self.run_in("gcc", "-c", "end.c")
        for source in sources:
            self.run_in(compiler, "--coverage", "-O0", *options, "-c", source)
        self.run_in(compiler, "--coverage", *options, "-o", "program", "end.o", *[s.split(".")[0] + ".o" for s in sources])

    def test_files_are_those_of_libgcov(self):
        for compiler, sources, options in (("gcc", ["m.c", "o.c"], []), ("gcc", ["m.c", "o.c"], ["-static"]),
                                           ("gcc", ["m.c", "o.c"], ["-fno-pie", "-no-pie", "-fprofile-update=atomic"]),
                                           ("g++", ["t.cpp", "u.cpp"], [])):
            self.build(compiler, *sources, options=options)
            self.run_how("exit", by_monarc=False)
            want = self.files()
            self.assertEqual(len(want), 2)
            for how, status in (("exit", 0), ("_exit", 0), ("abort", 134)):
                with self.subTest(options=options, sources=sources, how=how):
                    said = self.run_how(how, status=status)
                    self.assertEqual(self.files(), want)
                    self.assertIn("1 by libgcov" if how == "exit" else "2 counter files (.gcda) written", said)
            # Several runs add up, whoever writes.
            for _ in range(3):
                self.run_how("exit", by_monarc=False)
            want = self.files()
            self.run_how("_exit"), self.run_how("exit"), self.run_how("abort", status=134)
            self.assertEqual(self.files(), want)

    def test_children_and_kills(self):
        self.build("gcc", "m.c", "o.c")
        self.run_how("_exit", "fork")
        done = monarc("cover", "--lcov", "x.info", "--quiet", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "x.info").read_text()
        for line in ("DA:15,1000\n", "DA:17,1\n", "DA:20,1\n", "FNDA:244,f\n", "FNDA:1000,other\n"):
            self.assertIn(line, text)
        self.files()
        self.run_how("exit", by_monarc=False)
        want = self.files()
        script = "./program & while [ ! -e there ]; do sleep 0.05; done; sleep 2; kill -KILL $!; wait $!"
        done = monarc("run", "--coverage", "--coverage-interval=20", "sh", "-c", script, cwd=self.folder, env={"HOW": "kill"})
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertIn(b"may be missing", done.stderr)
        self.assertEqual(self.files(), want)

    def test_stripped(self):
        self.build("gcc", "m.c", "o.c")
        self.run_in("strip", "program")
        self.assertIn("is stripped of the symbol that says their version, or where they are",
                      self.run_how("_exit", status=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
