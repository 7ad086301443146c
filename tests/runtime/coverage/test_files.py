"""What happens to the files: many processes at once, kill -9, full disks, old files that do not fit."""
import errno
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

from covered import CoverTest, Gcda, slurp, spill
import seeds
from parts import in_both, load_tests, share, slow  # noqa: F401

DESTRUCTOR = 1000


def is_slow_place(at):
    """Fifteen of sixteen words of a file, and of the bytes."""
    return at // 4 % 16 != at % 4


class FilesTest(CoverTest):
    def finish(self, running):
        while running:
            p = running.pop()
            self.assertEqual(p.communicate()[1], b"")
            self.assertEqual(p.returncode, 0)

    def fault(self):
        if not os.path.exists(self.path("fault.so")):
            self.compile("fault.c", "-O1", "-fPIC")
            subprocess.run(["gcc", "-shared", "fault.o", "-o", "fault.so"], cwd=self.dir, check=True)
        return {"LD_PRELOAD": self.path("fault.so")}


class Races:
    """Many processes at once; `times` says how many."""

    @slow
    def test_threads_and_processes(self):
        for how in "so", "a", "static":
            program = self.built_program(how)
            running = []
            for i in range(24 * self.times):
                running.append(subprocess.Popen([program, "threads", "8", "50"], cwd=self.dir,
                                                stderr=subprocess.PIPE))
                if len(running) == 32:
                    self.finish(running)
            self.finish(running)
            self.assertEqual(self.counted(), 24 * self.times * (8 * 50 + DESTRUCTOR))
            self.assertEqual(self.calls()["counting_thread"], 24 * self.times * 8)
            self.assertEqual(Gcda(self.path("life.gcda")).runs, 24 * self.times)
            self.assertEqual(self.leftovers(), [])

    def test_processes_in_place(self):
        program = self.built_program("so")
        running = [subprocess.Popen([program, "threads", "2", "50"], cwd=self.dir,
                                    env=dict(os.environ, MONARC_COVER_IN_PLACE="1" if i % 3 else "0"),
                                    stderr=subprocess.PIPE) for i in range(15 * self.times)]
        self.finish(running)
        self.assertEqual(self.counted(), 15 * self.times * (2 * 50 + DESTRUCTOR))
        self.assertEqual(self.leftovers(), [])

    @slow
    def test_merging_beside_programs(self):
        """`monarc merge` into the file that programs are adding to: every count of both, whether
        the programs rename or rewrite."""
        monarc = os.environ["MONARC"]
        program = self.built_program("so")
        self.run_program([program, "plain", "1"])
        one = self.counted()
        shutil.copy(self.path("life.gcda"), self.path("other.gcda"))
        for in_place in "0", "1":
            os.unlink(self.path("life.gcda"))
            self.run_program([program, "plain", "1"])
            running, merged = [], 0
            for i in range(16 * self.times):
                running.append(subprocess.Popen([program, "threads", "2", "50"], cwd=self.dir,
                                                env=dict(os.environ, MONARC_COVER_IN_PLACE=in_place),
                                                stderr=subprocess.PIPE))
                if i % 2:
                    running.append(subprocess.Popen(
                        [monarc, "merge", "-o", "life.gcda", "life.gcda", "other.gcda"],
                        cwd=self.dir, stderr=subprocess.PIPE))
                    merged += 1
            self.finish(running)
            self.assertEqual(self.counted(), one + 16 * self.times * (2 * 50 + DESTRUCTOR) + merged * one)
            self.assertEqual(self.leftovers(), [])

    @slow
    def test_merging_beside_libgcovs_programs(self):
        """libgcov adds to the file that it opened before it waited for the lock."""
        self.built_program("so", "life.c", "--coverage", "-O0")
        program = self.link("gcov", [self.path("life.o")], "-Wl,--defsym=monarc_cover_dump=0", name="theirs")
        self.run_program([program, "plain", "1"])
        one = self.counted()
        shutil.copy(self.path("life.gcda"), self.path("other.gcda"))
        merge = [os.environ["MONARC"], "merge", "-o", "life.gcda", "life.gcda", "other.gcda"]
        running = []
        for i in range(30 * self.times):
            running.append(subprocess.Popen(merge if i % 3 == 0 else [program, "plain", "1"], cwd=self.dir,
                                            stderr=subprocess.PIPE))
        self.finish(running)
        self.assertEqual(self.counted(), (30 * self.times + 1) * one)
        self.assertEqual(Gcda(self.path("life.gcda")).runs, 30 * self.times + 1)

    @slow
    def test_kill_9_at_any_time(self):
        program = self.built_program("so")
        chance = seeds.generator("kill 9 at any time")
        for _ in range(15 * self.times):
            p = subprocess.Popen([program, "loop", "100"], cwd=self.dir, stderr=subprocess.PIPE)
            time.sleep(0.002 + chance.random() * 0.02)
            p.kill()
            self.assertEqual(p.communicate()[1], b"")
            if os.path.exists(self.path("life.gcda")):
                Gcda(self.path("life.gcda"))
                self.assertEqual(self.counted() % 100, 0)
        self.run_program([program, "plain", "1"])
        self.assertEqual(self.counted() % 100, 1)
        self.assertEqual(self.leftovers(), [])

    def test_without_locks(self):
        """Three dumps a process, four processes at a time, on file systems that lack more and more."""
        program = self.built_program("so")
        for no in "l", "le", "lh", "lhe":
            with self.subTest(no=no):
                self.built_program("so")
                env = dict(os.environ, FAULT_NO=no, **self.fault())
                for _ in range(5 * self.times):
                    self.finish([subprocess.Popen([program, "rounds", "3", "5"], cwd=self.dir, env=env,
                                                  stderr=subprocess.PIPE) for _ in range(4)])
                self.assertEqual(self.counted(), 20 * self.times * (3 * 5 + DESTRUCTOR))
                self.assertEqual(self.leftovers(), [])


class FewRaces(Races, FilesTest):
    times = 1


@slow
class ManyRaces(Races, FilesTest):
    times = 8


class Files(FilesTest):
    def one_run(self, how="so", n="7"):
        """A program, and its file after one run."""
        program = self.built_program(how)
        self.run_program([program, "plain", n])
        self.file = self.path("life.gcda")
        return program

    @slow
    def test_processes_of_both_libraries(self):
        """Ours and libgcov's in turn; at the same time a rename and a rewrite in place cannot agree."""
        ours = self.built_program("so", "life.c", "--coverage", "-O0")
        theirs = self.link("gcov", [self.path("life.o")], "-Wl,--defsym=monarc_cover_dump=0",
                           name="theirs")
        for program in (ours, theirs) * 5:
            self.run_program([program, "plain", "7"])
        self.assertEqual(self.counted(), 10 * (7 + DESTRUCTOR))
        self.assertEqual(Gcda(self.path("life.gcda")).runs, 10)

    def fault_calls(self, program):
        tell = self.path("calls")
        self.run_program([program, "plain", "7"], FAULT_TELL=tell, **self.fault())
        return len(slurp(tell))

    @in_both
    def test_kill_9_in_every_call(self):
        program = self.one_run()
        calls = self.fault_calls(program)
        self.assertGreater(calls, 8)
        for exists in True, False:
            for at in share(range(1, calls + 1), 4):
                before = 0
                if os.path.exists(self.file):
                    os.unlink(self.file)
                if exists:
                    self.run_program([program, "plain", "7"])
                    before = self.counted()
                done = subprocess.run([program, "plain", "7"], cwd=self.dir, capture_output=True,
                                      env=dict(os.environ, FAULT_AT=str(at), FAULT_ERRNO="0",
                                               FAULT_SHORT="1", **self.fault()))
                self.assertIn(done.returncode, (-signal.SIGKILL, 0))
                if os.path.exists(self.file):
                    Gcda(self.file)
                    before = self.counted()
                    self.assertIn(before, (7 + DESTRUCTOR, 2 * (7 + DESTRUCTOR)))
                else:
                    self.assertFalse(exists)
                self.run_program([program, "plain", "1"])
                self.assertEqual(self.counted(), before + 1 + DESTRUCTOR)
                self.assertEqual(self.leftovers(), [])

    @slow
    def test_error_in_every_call(self):
        self.errors_in_every_call(errno.ENOSPC)

    @slow
    def test_other_error_in_every_call(self):
        self.errors_in_every_call(errno.EIO, errno.EMFILE, errno.EROFS, errno.EDQUOT, errno.ENOMEM)

    def errors_in_every_call(self, *errors):
        program = self.one_run()
        calls = self.fault_calls(program)
        for error in errors:
            for at in range(1, calls + 1):
                for name in os.listdir(self.dir):
                    if ".gcda" in name:
                        os.unlink(self.path(name))
                self.run_program([program, "plain", "7"])
                r = self.run_program([program, "plain", "7"], quiet=False, FAULT_AT=str(at),
                                     FAULT_ERRNO=str(error), FAULT_SHORT="1", **self.fault())
                with self.subTest(error=error, at=at, stderr=r.stderr):
                    self.assertLessEqual(r.stderr.count("\n"), 1)
                    times = 1 if "lost" in r.stderr else 2
                    self.assertEqual(self.counted(), times * (7 + DESTRUCTOR))
                    self.assertIn(self.leftovers(), ([], ["life.gcda.part"]))
                    self.run_program([program, "plain", "7"])
                    self.assertEqual(self.counted(), (times + 1) * (7 + DESTRUCTOR))
                    self.assertEqual(self.leftovers(), [])

    def test_without_locks_and_links(self):
        """Nothing to lock with: files stay whole, and the message says what may be lost."""
        program = self.built_program("so")
        env = {"FAULT_NO": "ls", **self.fault()}
        self.run_program([program, "plain", "7"], **env)  # no other file: nothing to lock
        r = self.run_program([program, "plain", "7"], quiet=False, **env)
        self.assertEqual(self.counted(), 2 * (7 + DESTRUCTOR))
        self.assertIn("neither locks nor symbolic links", r.stderr)
        self.assertEqual(r.stderr.count("\n"), 1)

    @in_both
    def test_kill_9_without_locks(self):
        """What a killed process locked is free for the next one, which counts."""
        program = self.one_run()
        env = dict(self.fault(), FAULT_NO="l")
        tell = self.path("calls")
        self.run_program([program, "plain", "7"], FAULT_TELL=tell, **env)
        left = 0
        for at in share(range(1, len(slurp(tell)) + 1), 3):
            before = self.counted()
            subprocess.run([program, "plain", "7"], cwd=self.dir, capture_output=True,
                           env=dict(os.environ, FAULT_AT=str(at), FAULT_ERRNO="0", **env))
            Gcda(self.file)
            now = self.counted()
            self.assertIn(now - before, (0, 7 + DESTRUCTOR))
            left += len(self.leftovers())
            self.run_program([program, "plain", "1"], **env)
            self.assertEqual(self.counted(), now + 1 + DESTRUCTOR, at)
            self.assertEqual(self.leftovers(), [])
        self.assertGreater(left, 3)

    def test_lock_of_another_boot_waits(self):
        """Nobody here knows whether its owner lives: it is waited for, and never written past."""
        program = self.one_run()
        os.symlink("another/pid:[1] 1 1", self.file + ".lock")
        env = dict(os.environ, FAULT_NO="l", **self.fault())
        p = subprocess.Popen([program, "plain", "7"], cwd=self.dir, env=env, stderr=subprocess.PIPE)
        time.sleep(0.3)
        self.assertIsNone(p.poll())
        self.assertEqual(self.counted(), 7 + DESTRUCTOR)
        os.unlink(self.file + ".lock")
        self.finish([p])
        self.assertEqual(self.counted(), 2 * (7 + DESTRUCTOR))

    def test_something_in_the_way(self):
        """A FIFO, a socket, a folder, a file with another name where the new file is to be written."""
        program = self.one_run()
        part, other, times = self.file + ".part", self.path("other"), 1
        spill(other, b"precious")

        def bind():
            with socket.socket(socket.AF_UNIX) as s:
                s.bind(os.path.relpath(part))

        for make in (lambda: os.mkfifo(part), bind, lambda: os.link(other, part),
                     lambda: os.symlink("other", part), lambda: os.mkdir(part)):
            for exists in True, False:
                here = os.getcwd()
                os.chdir(self.dir)
                make()
                os.chdir(here)
                kind = os.lstat(part).st_mode
                if not exists:
                    os.unlink(self.file)
                    times = 0
                self.run_program([program, "plain", "7"], timeout=600)
                times += 1
                self.assertEqual(self.counted(), times * (7 + DESTRUCTOR))
                self.assertEqual(os.lstat(part).st_mode, kind)
                self.assertEqual(slurp(other), b"precious")
                self.assertEqual(self.leftovers(), ["life.gcda.part"])
                os.rmdir(part) if os.path.isdir(part) else os.unlink(part)

    def test_messages_that_cannot_be_written(self):
        """Neither a closed pipe nor a file at its limit ends the program for our own line."""
        program = self.one_run()
        os.mkfifo(self.path("fifo"))
        self.addCleanup(os.unlink, self.path("fifo"))
        for limit, error_file in ((None, {}), (0, {}), (None, {"GCOV_ERROR_FILE": self.path("fifo")})):
            spill(self.file, b"adcg")
            out, into = os.pipe()
            os.close(out)
            if limit is not None:
                into = os.open(self.path("log"), os.O_WRONLY | os.O_CREAT)
            p = subprocess.run([program, "plain", "7"], cwd=self.dir, stderr=into, timeout=600,
                               env=dict(os.environ, **error_file), preexec_fn=lambda limit=limit: (
                                   signal.signal(signal.SIGPIPE, signal.SIG_DFL),
                                   limit is None or resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                       (limit, limit))))
            os.close(into)
            self.assertEqual(p.returncode, 0)

    @slow
    def test_full_disk(self):
        """A real one, where the test may mount it."""
        for how in "so", "a":
            program = self.one_run(how)
            disk = self.path("disk")
            os.makedirs(disk, exist_ok=True)
            where = disk + os.path.dirname(self.file)
            script = ("mount -t tmpfs -o size=32k none %s && mkdir -p %s && cp %s %s/ &&"
                      "cp %s/life.gcda before && (dd if=/dev/zero of=%s/fill bs=1k 2>/dev/null;"
                      "GCOV_PREFIX=%s %s plain 7; cmp before %s/life.gcda && ls %s)"
                      % (disk, where, self.file, where, where, disk, disk, program, where, where))
            r = subprocess.run(["unshare", "-m", *(["-r"] if os.getuid() else []), "sh", "-c", script],
                               cwd=self.dir, capture_output=True, text=True)
            if "mount:" in r.stderr or "unshare:" in r.stderr:
                self.skipTest("may not mount a file system: " + r.stderr.strip())
            self.assertEqual(r.stdout, "life.gcda\n", r.stderr)
            self.assertIn("no space left on the disk; the counts of this run are lost", r.stderr)
            self.assertEqual(r.stderr.count("\n"), 1)

    def test_file_size_limit(self):
        program = self.one_run()
        before = slurp(self.file)
        for size in 0, 100, len(before) - 1:
            r = subprocess.run([program, "plain", "7"], cwd=self.dir, capture_output=True, text=True,
                               preexec_fn=lambda size=size: resource.setrlimit(
                                   resource.RLIMIT_FSIZE, (size, size)))
            self.assertEqual(r.returncode, 0)
            self.assertEqual(slurp(self.file), before)

    @slow
    def test_damaged_at_some_truncations(self):
        self.cut_at(lambda at: not is_slow_place(at))

    @slow
    def test_damaged_at_all_other_truncations(self):
        self.cut_at(is_slow_place)

    def cut_at(self, is_place):
        for how, flags in ("so", ()), ("a", ("-O2", "-fprofile-generate")):
            program = self.built_program(how, "life.c", *flags)
            self.run_program([program, "plain", "7"])
            whole, file = slurp(self.path("life.gcda")), self.path("life.gcda")
            for n in filter(is_place, range(1, len(whole))):
                spill(file, whole[:n])
                r = self.run_program([program, "plain", "7"], quiet=False)
                self.assertEqual(slurp(file + ".damaged-1"), whole[:n], n)
                self.assertEqual(slurp(file), whole, n)
                self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
                self.assertIn("damaged, set aside", r.stderr)
                os.unlink(file + ".damaged-1")
                self.assertEqual(self.leftovers(), [])
            # An empty file holds nothing.
            spill(file, b"")
            self.run_program([program, "plain", "7"])
            self.assertEqual(slurp(file), whole)

    @slow
    def test_some_damaged_words(self):
        self.damage_words(lambda at: not is_slow_place(at))

    @slow
    def test_all_other_damaged_words(self):
        self.damage_words(is_slow_place)

    def damage_words(self, is_place):
        """Every word of the old file changed: merged, set aside, but never a crash or two files less."""
        program = self.built_program("so", "life.c", "-O2", "-fprofile-generate")
        self.run_program([program, "plain", "7"])
        file = self.path("life.gcda")
        whole = slurp(file)
        for at in filter(is_place, range(0, len(whole), 4)):
            for word in b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\x01\0\0\0":
                spill(file, whole[:at] + word + whole[at + 4:])
                self.run_program([program, "plain", "7"], quiet=False)
                aside = self.leftovers()
                self.assertLessEqual(len(aside), 1)
                Gcda(file)
                for name in aside:
                    self.assertEqual(slurp(file), whole)
                    os.unlink(self.path(name))

    def test_numbers_of_damaged_files(self):
        program = self.one_run()
        for n in range(1, 4):
            spill(self.file, b"adcg")
            self.run_program([program, "plain", "7"], quiet=False)
            self.assertTrue(os.path.exists(self.file + ".damaged-%d" % n))

    def test_another_build(self):
        program = self.one_run()
        whole = slurp(self.file)
        changes = {"version": (4, b"\x2a\x31\x33\x42"), "checksum": (12, b"abcd"),
                   "function": (40, b"abcd")}
        for name, (at, word) in changes.items():
            with self.subTest(changed=name):
                other = whole[:at] + word + whole[at + 4:]
                spill(self.file, other)
                r = self.run_program([program, "plain", "7"], quiet=False)
                self.assertEqual(slurp(self.file + ".other-1"), other)
                self.assertEqual(slurp(self.file), whole)
                self.assertEqual(r.stderr.count("\n"), 1)
                os.unlink(self.file + ".other-1")
        # As for libgcov from GCC 12 on, another stamp alone is the same code built again.
        spill(self.file, whole[:8] + b"abcd" + whole[12:])
        self.run_program([program, "plain", "7"])
        self.assertEqual(self.counted(), 2 * (7 + DESTRUCTOR))

    def test_other_byte_order(self):
        program = self.one_run()
        whole = slurp(self.file)
        swapped = b"".join(whole[i:i + 4][::-1] for i in range(0, len(whole), 4))
        spill(self.file, swapped)
        self.run_program([program, "plain", "7"], quiet=False)
        self.assertEqual(slurp(self.file + ".damaged-1"), swapped)

    @unittest.skipIf(os.getuid() == 0 and not shutil.which("setpriv"), "root may write everywhere")
    def test_read_only(self):
        program = self.one_run("a")  # the library may lie where only root reads
        before = slurp(self.file)
        command = [program, "plain", "7"]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=65534", "--clear-groups", *command]
        os.chmod(self.dir, 0o555)
        self.addCleanup(os.chmod, self.dir, 0o755)
        os.chmod(self.file, 0o444)
        r = self.run_program(command, quiet=False)
        self.assertIn("permission denied; the counts of this run are lost", r.stderr)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertEqual(slurp(self.file), before)
        # A file that may be written in a folder that may not.
        os.chmod(self.file, 0o666)
        self.run_program(command)
        self.assertEqual(self.counted(), 2 * (7 + DESTRUCTOR))

    @slow
    def test_one_line_for_many_files(self):
        objects = [self.compile("plugin.c", "--coverage", "-DPART=%d" % n, name="part%d" % n)
                   for n in (1, 2, 3)]
        objects.append(self.compile("loader.c", "--coverage", "-DLINKED"))
        program = self.link("so", objects)
        blocked = self.path("blocked")
        spill(blocked, b"")
        r = self.run_program([program], quiet=False, GCOV_PREFIX=blocked)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertIn("and 3 more files", r.stderr)

    def test_modes_and_links(self):
        program = self.one_run()
        os.chmod(self.file, 0o664)
        self.run_program([program, "plain", "7"])
        self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o664)
        # A symbolic link stays one.
        real = self.path("elsewhere.gcda")
        os.rename(self.file, real)
        os.symlink("elsewhere.gcda", self.file)
        self.run_program([program, "plain", "7"])
        self.assertTrue(os.path.islink(self.file))
        self.assertEqual(Gcda(real).runs, 3)
        os.unlink(self.file)
        os.unlink(real)
        os.symlink(self.path("elsewhere.gcda"), self.file)  # dangling
        self.run_program([program, "plain", "7"])
        self.assertEqual(Gcda(real).runs, 1)
        # Neither is a FIFO or a folder a counter file. (No device: root's would be at stake.)
        os.mkfifo(self.path("fifo"))
        self.addCleanup(os.unlink, self.path("fifo"))
        for make in (lambda: os.symlink("fifo", self.file), lambda: os.mkdir(self.file)):
            os.unlink(self.file)
            make()
            r = self.run_program([program, "plain", "7"], quiet=False)
            self.assertEqual(r.stderr.count("\n"), 1)
        os.rmdir(self.file)

    def prefixes(self, link, **env):
        self.run_program([link, "plain", "7"], cwd=self.path("here"), **env)
        found = sorted(os.path.relpath(os.path.join(d, f), self.dir)
                       for d, _, files in os.walk(self.dir) for f in files if f.endswith(".gcda"))
        for name in found:
            os.unlink(self.path(name))
        return found

    @slow
    def test_prefix_as_in_libgcov(self):
        ours = self.program("so", "life.c", "--coverage")
        theirs = self.link("gcov", [self.path("life.o")], "-Wl,--defsym=monarc_cover_dump=0",
                           name="theirs")
        os.mkdir(self.path("here"))
        for env in ({}, {"GCOV_PREFIX": self.path("a")}, {"GCOV_PREFIX": self.path("a//")},
                    {"GCOV_PREFIX": "b", "GCOV_PREFIX_STRIP": "1"}, {"GCOV_PREFIX_STRIP": "2"},
                    {"GCOV_PREFIX_STRIP": "99"}, {"GCOV_PREFIX": "", "GCOV_PREFIX_STRIP": "1"},
                    {"GCOV_PREFIX": "/", "GCOV_PREFIX_STRIP": "1"}, {"GCOV_PREFIX": ""},
                    {"GCOV_PREFIX": "b", "GCOV_PREFIX_STRIP": "0"}):
            with self.subTest(env=env):
                found = self.prefixes(theirs, **env)
                self.assertEqual(len(found), 1)
                self.assertEqual(self.prefixes(ours, **env), found)

    @slow
    def test_names_with_variables(self):
        for how in "so", "gcov":
            self.setUp()
            flags = ["-Wl,--defsym=monarc_cover_dump=0"] if how == "gcov" else []
            program = self.link(how, [self.compile("life.c", "--coverage",
                                                   "-fprofile-dir=" + self.dir + "/%q{WHO}/x%p/")],
                                *flags)
            self.run_program([program, "plain", "7"], WHO="me")
            below = os.listdir(self.path("me"))
            self.assertRegex(below[0], r"^x\d+$")
            self.assertEqual(len(os.listdir(self.path("me/" + below[0]))), 1)

    def test_error_file(self):
        program = self.one_run()
        for n in 1, 2:
            spill(self.file, b"adcg")
            self.run_program([program, "plain", "7"], GCOV_ERROR_FILE=self.path("errors"))
            self.assertEqual(slurp(self.path("errors")).count(b"\n"), n)
        os.unlink(self.path("errors"))

    def test_exit_at_error(self):
        program = self.one_run()
        spill(self.path("blocked"), b"")
        for code, env in (0, {}), (1, {"GCOV_EXIT_AT_ERROR": "1"}):
            self.run_program([program, "plain", "7"], code=code, quiet=False,
                             GCOV_PREFIX=self.path("blocked"), **env)

    def test_descriptors_are_closed(self):
        program = self.one_run()
        r = subprocess.run(["strace", "-e", "trace=openat,close", program, "dump", "7"],
                           cwd=self.dir, capture_output=True, text=True) \
            if shutil.which("strace") else None
        if not r or r.returncode:
            self.skipTest("no strace")
        self.assertEqual(r.stderr.count(" = 3\n"), r.stderr.count("close(3)"))


if __name__ == "__main__":
    unittest.main()
