"""How processes end: exit, _exit, signals, exec, fork, dlclose. What ran is counted, once."""
import os
import signal
import subprocess
import unittest

from covered import ARCHIVE, LINKS, OURS, CoverTest, spill
from archive import hidden_names
from parts import in_both, load_tests, share, slow  # noqa: F401

DESTRUCTOR = 1000


class Life(CoverTest):
    def life(self, *arguments, code=0, ways=("so", "a"), counted=None, **env):
        for how in ways:
            with self.subTest(link=how, arguments=arguments):
                program = self.built_program(how)
                self.run_program([program, *map(str, arguments)], code=code, **env)
                if counted is not None:
                    self.assertEqual(self.counted(), counted)
                self.assertEqual(self.leftovers(), [])

    def test_exit(self):
        self.life("plain", 7, counted=7 + DESTRUCTOR, ways=OURS)
        self.life("atexit", 7, counted=107 + DESTRUCTOR, ways=OURS)

    @slow
    def test_names_of_the_program(self):
        """A program may call its own functions as the static library calls its own."""
        names = hidden_names(ARCHIVE, "monarc_cover__")
        self.assertGreater(len(names), 100)
        spill(self.path("names.c"), "".join("int %s = 1;\n" % name for name in names).encode())
        objects = [self.compile("life.c"), self.compile(self.path("names.c"))]
        for how in "a", "static":
            self.run_program([self.link(how, objects), "_exit", "7"], code=3)
        self.assertEqual(self.counted(), 14)

    def test_exits_without_handlers(self):
        for how in "_exit", "_Exit", "quick_exit":
            self.life(how, 7, code=3, counted=7, ways=OURS)

    def test_fatal_signals(self):
        self.life("abort", 7, code=-signal.SIGABRT, counted=7, ways=OURS)
        self.life("segv", code=-signal.SIGSEGV, counted=7, ways=OURS)
        self.life("overflow", code=-signal.SIGSEGV, counted=7, ways=OURS)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM,
                       signal.SIGUSR1, signal.SIGFPE, signal.SIGXCPU, signal.SIGPROF):
            self.life("signal", "default", int(number), code=-number, counted=7)

    @slow
    def test_handlers_of_the_program(self):
        term = int(signal.SIGTERM)
        self.life("signal", "handled", term, code=3, counted=107, ways=OURS)
        self.life("signal", "resets", term, code=-term, counted=107, ways=OURS)
        self.life("signal", "once", term, code=-term, counted=107, ways=OURS)
        self.life("signal", "back", term, code=-term, counted=7, ways=OURS)
        self.life("signal", "ignored", term, counted=7 + DESTRUCTOR, ways=OURS)
        self.life("returns", counted=200 + DESTRUCTOR, ways=OURS)

    def test_signals_left_alone(self):
        self.life("signal", "default", 15, code=-15, MONARC_COVER_FATAL="0")
        self.assertFalse(os.path.exists(self.path("life.gcda")))

    def test_signal_on_request(self):
        for value in "10", "USR1", "SIGUSR1":
            self.life("request", 10, counted=7, MONARC_COVER_SIGNAL=value, ways=OURS)

    def test_exec(self):
        new = 5 + DESTRUCTOR
        for how in "execl", "execle", "execv", "execvp", "execve", "execvpe", "fexecve":
            self.life("exec", how, counted=7 + new)
        self.life("exec", "execlp", counted=7)
        self.life("exec", "fails", counted=10 + DESTRUCTOR, ways=OURS)
        self.life("exec", "execv", counted=7 + new, ways=("static",))

    def test_vfork_and_spawn(self):
        new = 5 + DESTRUCTOR
        self.life("vfork", "exit", counted=11 + DESTRUCTOR)
        self.life("vfork", "exec", counted=10 + DESTRUCTOR + new)
        self.life("vfork", "spawn", counted=10 + DESTRUCTOR + new)
        self.life("vfork", "system", counted=10 + DESTRUCTOR)

    def test_fork(self):
        # Of 20 children 10 end with exit, which runs the destructor.
        self.life("forks", 20, counted=10 + 20 + 11 * DESTRUCTOR, ways=OURS)
        self.life("daemon", counted=10 + DESTRUCTOR)

    def test_fork_of_threads(self):
        for how in "so", "a":
            self.run_program([self.built_program(how), "fork-threads", "30"])
            # The children, which counted nothing, add nothing but their run.
            with_children = self.calls()
            self.assertEqual(with_children["endless_thread"], 4)
            self.assertEqual(self.gcda_runs(), 31)

    def gcda_runs(self):
        from covered import Gcda
        return Gcda(self.path("life.gcda")).runs

    @slow
    def test_bare_fork_is_not_doubled(self):
        for how in "so", "a":
            r = self.run_program([self.built_program(how), "bare-fork"], quiet=False)
            self.assertEqual(self.counted(), 7 + DESTRUCTOR)
            self.assertEqual(r.stderr.count("\n"), 1)
            self.assertIn("forked by a bare system call", r.stderr)

    @slow
    def test_dump_and_reset(self):
        self.life("dump", 7, counted=14, ways=OURS)
        self.assertEqual(self.gcda_runs(), 1)
        self.life("reset", 7, counted=DESTRUCTOR, ways=OURS)
        self.life("dump-reset", 7, counted=14 + DESTRUCTOR, ways=OURS)
        self.assertEqual(self.gcda_runs(), 1)

    @slow
    def test_dump_while_threads_count(self):
        for how in "so", "a":
            self.run_program([self.built_program(how), "dumps-under-threads", "200"])
            calls = self.calls()
            self.assertEqual(calls["endless_thread"], 4)
            self.assertGreater(calls["counted"], 1000)

    def plugin(self, name, how, *flags):
        """A covered library. -O2 has its destructors jump, not call."""
        flags = flags or ("-O0",)
        objects = [self.compile("plugin.c", "--coverage", "-fPIC", "-DPART=%d" % part, *flags,
                                name="%s%d" % (name, part)) for part in (1, 2, 3)]
        subprocess.run(["gcc", "-shared", *objects, "-o", name + ".so", *LINKS.get(how, [])],
                       cwd=self.dir, check=True)
        return self.path(name + ".so")

    def check_plugins(self, program_link, plugin_link, flags, rounds=5):
        self.setUp()
        program = self.program(program_link)
        plugins = [self.plugin(name, plugin_link, *flags) for name in ("first", "second")]
        self.run_program([program, "plugins", str(rounds), *plugins])
        for name in "first", "second":
            # Each close runs the library's destructor, which calls part 2 once more.
            self.assertEqual(self.calls(name + "1")["part1"], 10 * rounds)
            self.assertEqual(self.calls(name + "2")["part2"], 11 * rounds)
            self.assertEqual(self.calls(name + "3")["part3"], 10 * rounds)
        self.assertEqual(self.counted() if program_link != "none" else 0, DESTRUCTOR)

    @in_both
    def test_libraries_that_come_and_go(self):
        for flag, program_link, plugin_link in share((
                ("-O2", "so", "so"), ("-O2", "so", "none"), ("-O0", "so", "so"), ("-O2", "a", "a"), ("-O0", "so", "none"),
                ("-O0", "a", "a")), 3):
            with self.subTest(flag=flag, program=program_link, plugin=plugin_link):
                self.check_plugins(program_link, plugin_link, (flag,))

    @slow
    def test_library_of_a_program_that_is_not_covered(self):
        self.only_a_library("-O2")

    @slow
    def test_plain_library_of_a_program_that_is_not_covered(self):
        self.only_a_library("-O0")

    def only_a_library(self, flag):
        for how in "so", "a":
            with self.subTest(link=how):
                self.setUp()
                plugin = self.plugin("first", how, flag)
                program = self.link("gcov", [self.compile("loader.c", "-O0")], "-ldl")
                self.run_program([program, plugin, "5"])
                self.assertEqual(self.calls("first1")["part1"], 50)
                self.assertEqual(self.calls("first2")["part2"], 55)
                self.assertEqual(self.leftovers(), [])

    @in_both
    def test_library_that_stays(self):
        for flags in share((("-O2",), ("-O0",)), 2):
            self.setUp()
            plugin = self.plugin("first", "so", *flags)
            program = self.link("so", [self.compile("loader.c", "--coverage", "-DLINKED")], plugin,
                                "-Wl,-rpath," + self.dir)
            self.run_program([program])
            self.assertEqual(self.calls("first1")["part1"], 10)
            self.assertEqual(self.calls("first2")["part2"], 11)

    @slow
    def test_preloaded(self):
        """A library linked with neither runtime, under LD_PRELOAD."""
        plugin = self.plugin("first", "none")
        program = self.link("gcov", [self.compile("loader.c", "-O0")], "-ldl")
        from covered import SO
        self.run_program([program, plugin, "3"], LD_PRELOAD=SO)
        self.assertEqual(self.calls("first2")["part2"], 33)


if __name__ == "__main__":
    unittest.main()
