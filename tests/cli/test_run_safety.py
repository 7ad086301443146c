#!/usr/bin/env python3
"""test_run_safety.py: what `monarc run` must never do, by whatever method and whatever it covers: take rights from a
program, write where the program may not, replace what is no counters file, swallow a signal, or end the program."""

import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

from harness import main, monarc, monarc_path, wait_for

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from parts import load_tests, slow  # noqa: E402

NOBODY = 65534
WAYS = (["--no-report", "-o", "r", "--method", "perf"], ["--no-report", "-o", "r", "--method", "ptrace"],
        ["--cover-blocks=b.info"], ["--coverage=c"])
LEAVES = "#include <unistd.h>\nint main(void)\n{\n    _exit(0);\n}\n"
# Gives up root's rights, then writes another name over that of its counters, as an attacker in it would.
RENAMES = r"""
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
static int rename_counters(char *low, char *high, const char *name)
{
    int changed = 0;
    for (char *at = low; at + 6 < high; at++) {
        char *begin = at;
        if (at[0] != '.' || at[1] != 'g' || at[2] != 'c' || at[3] != 'd' || at[4] != 'a' || at[5])
            continue;
        while (begin > low && begin[-1])
            begin--;
        if (*begin == '/' && strlen(begin) >= strlen(name)) {
            strcpy(begin, name);
            changed++;
        }
    }
    return changed;
}
int main(int argc, char **argv)
{
    char line[512], kind[8], path[400];
    unsigned long low[16], high[16];
    int parts = 0, changed = 0;
    if (argc < 2 || setgroups(0, NULL) || setgid(65534) || setuid(65534))
        return 9;
    prctl(PR_SET_DUMPABLE, 1);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && parts < 16 && fgets(line, sizeof line, maps)) {
        path[0] = 0;
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %399s", &low[parts], &high[parts], kind, path) >= 3 &&
            kind[0] == 'r' && kind[2] != 'x' && strstr(path, "/drop"))
            parts++;
    }
    for (int i = 0; i < parts; i++)
        if (!mprotect((void *)low[i], high[i] - low[i], PROT_READ | PROT_WRITE))
            changed += rename_counters((char *)low[i], (char *)high[i], argv[1]);
    printf("%d\n", changed);
    fflush(stdout);
    _exit(0);
}
"""
HANDLES = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t ends;
static void end(int number)
{
    ends = number;
}
int main(void)
{
    signal(SIGTERM, end);
    signal(SIGHUP, end);
    fclose(fopen("ready", "w"));
    for (int i = 0; i < 300 && !ends; i++)
        usleep(100000);
    fclose(fopen("cleaned", "w"));
    return ends ? 5 : 6;
}
"""


class Safety(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="monarc-safety-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def build(self, name, text, *flags, compiler="gcc"):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        (self.dir / f"{name}.c").write_text(text)
        subprocess.run([compiler, "-w", *flags, f"{name}.c", "-o", name], cwd=self.dir, check=True)
        return f"./{name}"

    def recorded(self, *words, status=0, **more):
        done = monarc("run", *words, cwd=self.dir, **more)
        if b"ptrace is refused" in done.stderr:
            self.skipTest("ptrace is not permitted")
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    # --- rights

    def as_user(self, *words):
        """What a command prints, and how it ends, of a user with few rights."""
        done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *map(str, words)],
                              cwd=self.dir / "out", capture_output=True, text=True, env={**os.environ, "HOME": "/tmp"})
        return (done.stdout, done.returncode), done.stderr

    def rising(self):
        """A program that is root's whoever starts it, where anybody can start it."""
        if os.geteuid() or not shutil.which("setpriv") or os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("no program has other rights here")
        self.dir.chmod(0o755)
        (self.dir / "out").mkdir()
        (self.dir / "out").chmod(0o777)
        shutil.copy(monarc_path(), self.dir / "monarc")
        self.build("rise", "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                           "int main(int count, char **words)\n{\n    for (int i = 0; i < count; i++)\n"
                           '        printf("%s ", words[i]);\n    printf("%d %s\\n", (int)geteuid(), getenv("RISE"));\n'
                           "    return geteuid() ? 5 : 7;\n}\n")
        (self.dir / "rise").chmod(0o4755)

    def test_set_user_id(self):
        """A set-user-ID program has its rights, words and environment by every method, and whoever executes it."""
        self.rising()
        for words in (["../rise", "a b", ""], ["env", "-u", "RISE", "../rise"], ["sh", "-c", "RISE=1 ../rise x; exit $?"]):
            plain, _ = self.as_user(*words)
            self.assertEqual(plain[1], 7, plain)
            for way in WAYS if os.uname().machine == "x86_64" else WAYS[:1]:
                shutil.rmtree(self.dir / "out/r", True)
                got, said = self.as_user(self.dir / "monarc", "run", *way, *words)
                if "perf events: " in said:
                    continue
                self.assertEqual(got, plain, (way, words, said))

    def test_rights_that_are_lost_are_said(self):
        """What its user may not read cannot be executed again: the report says that it had no rights of its file."""
        self.rising()
        (self.dir / "rise").chmod(0o4711)
        got, said = self.as_user(self.dir / "monarc", "run", "--method", "ptrace", "-o", "r", "../rise")
        self.assertEqual(got[1], 5, got)
        self.assertIn("it ran without them", said)

    def test_counters_are_written_with_the_programs_rights(self):
        """A program that has given up root's rights does not have a file of root's replaced."""
        if os.geteuid():
            self.skipTest("needs root")
        self.dir.chmod(0o755)
        folder = self.dir / "a-long-folder-so-that-the-name-is-long-enough"
        folder.mkdir()
        secret = self.dir / "v"
        secret.write_text("secret\n")
        secret.chmod(0o600)
        top, self.dir = self.dir, folder
        program = self.build("drop", RENAMES, "--coverage", "-O1")
        done = self.recorded("--coverage=c", program, secret, status=2)
        self.dir = top
        self.assertIn(b"Permission denied", done.stderr)
        self.assertNotEqual(done.stdout, b"0\n", "no name was changed, so this test says nothing")
        self.assertEqual(secret.read_text(), "secret\n")

    # --- files

    def test_what_is_no_counters_file_stays(self):
        program = self.build("leave", LEAVES, "--coverage")
        file = self.dir / "leave.gcda"
        for text in (b"precious\n", b"gc", b"x" * 5000):
            file.write_bytes(text)
            done = self.recorded("--coverage=c", program, status=2)
            self.assertEqual(file.read_bytes(), text)
            self.assertIn(b"leave.gcda: is not a counters file", done.stderr)

    def test_links_stay(self):
        """Neither they nor what they lead to is replaced."""
        program = self.build("leave", LEAVES, "--coverage")
        file, other = self.dir / "leave.gcda", self.dir / "other"
        for text in ("precious\n", None):
            other.unlink(missing_ok=True)
            if text:
                other.write_text(text)
            file.symlink_to("other")
            self.recorded("--coverage=c", program, status=2)
            self.assertEqual(os.readlink(file), "other")
            self.assertEqual(other.exists() and other.read_text(), text or False)
            file.unlink()

    def test_size_limit(self):
        """SIGXFSZ does not end monarc: the program's status stays, and half a file is not left."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        done = monarc("run", "--no-report", "-o", "r", "sh", "-c", "exit 7", cwd=self.dir, preexec_fn=limit)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.recorded("--no-report", "-o", "whole", "true")
        done = monarc("merge", "whole", "whole", "-o", "m", cwd=self.dir, preexec_fn=limit)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"File too large", done.stderr)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir() if "new-" in p.name), [])

    @slow
    def test_sections_that_claim_too_much(self):
        """A terabyte of clang's counters, as the file's head has it: the program runs as it does alone."""
        program = self.build("huge", '#include <stdio.h>\nint main(void)\n{\n    puts("end");\n    return 4;\n}\n',
                             "-fprofile-instr-generate", "-fcoverage-mapping", compiler="clang")
        file = self.dir / program
        data = bytearray(file.read_bytes())
        (at,), (count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 60)
        names_at, = struct.unpack_from("<Q", data, at + names * 64 + 24)
        found = 0
        for head in range(at, at + count * 64, 64):
            begin = names_at + struct.unpack_from("<I", data, head)[0]
            if data[begin:data.index(0, begin)] == b"__llvm_prf_cnts":
                struct.pack_into("<Q", data, head + 32, 1 << 40)
                found += 1
        self.assertEqual(found, 1)
        file.write_bytes(data)
        done = self.recorded("--coverage=c", program, status=4, env={**os.environ, "LLVM_PROFILE_FILE": "/dev/null"})
        self.assertEqual(done.stdout, b"end\n")

    # --- signals

    @slow
    def test_signals_are_passed_on(self):
        """SIGTERM and SIGHUP reach the program's handler; it cleans up, and its status is monarc's."""
        programs = {"s": ("gcc", "-g"), "sc": ("gcc", "--coverage"),
                    "sl": ("clang", "-fprofile-instr-generate", "-fcoverage-mapping")}
        for name, (compiler, *flags) in programs.items():
            if shutil.which(compiler):
                self.build(name, HANDLES, *flags, compiler=compiler)
        for words in (["--no-report", "-o", "r", "./s"], ["--cover-blocks=b.info", "./s"], ["--coverage=c", "./sc"],
                      ["--coverage=c", "./sl"]):
            if not (self.dir / words[-1]).exists():
                continue
            for number in (signal.SIGTERM, signal.SIGHUP):
                for left in ("ready", "cleaned"):
                    (self.dir / left).unlink(missing_ok=True)
                shutil.rmtree(self.dir / "r", True)
                process = subprocess.Popen([monarc_path(), "run", *words], cwd=self.dir, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                wait_for(lambda: (self.dir / "ready").exists() or process.poll() is not None, "the program")
                process.send_signal(number)
                self.assertEqual((process.wait(), (self.dir / "cleaned").exists()), (5, True), (words, number))


if __name__ == "__main__":
    main()
