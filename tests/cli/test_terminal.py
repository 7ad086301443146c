"""Colour, pager and folded sentences only on a terminal; outputs that cannot be written."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

import run_file
from harness import PROGRAMS, main, monarc, monarc_path

FLAT = ["flat", "demo", "demo.gmon"]


def on_terminal(arguments, columns=0, cwd=PROGRAMS, rows=24, **env):
    """What appears on the screen, and the exit status."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        for name in "NO_COLOR", "PAGER", "MONARC_PAGER", "TERM", "COLUMNS":
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **env})
        os.execv(monarc_path(), [monarc_path(), *arguments])
    shown = b""
    while True:
        try:
            piece = os.read(screen, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    _, status = os.waitpid(pid, 0)
    os.close(screen)
    return shown.replace(b"\r\n", b"\n"), os.waitstatus_to_exitcode(status)


class Terminal(unittest.TestCase):
    def test_no_colour_elsewhere(self):
        self.assertNotIn(b"\033", monarc(*FLAT).stdout)
        self.assertIn(b"\033[1;31m", monarc(*FLAT, "--color=always").stdout)
        self.assertIn(b"\033[1;31m", monarc(*FLAT, "--color").stdout)

    def test_colour(self):
        self.assertIn(b"\033[1;31m", on_terminal(FLAT, PAGER="cat")[0])
        for arguments, env in ((FLAT + ["--color=never"], {}), (FLAT, {"NO_COLOR": "1"}),
                               (FLAT, {"TERM": "dumb"})):
            env = {"PAGER": "", **env}
            self.assertNotIn(b"\033", on_terminal(arguments, **env)[0])
        self.assertNotIn(b"\033", on_terminal(FLAT + ["--json"])[0])

    def test_pager(self):
        shown, status = on_terminal(FLAT, MONARC_PAGER="sed s/^/page:/", PAGER="false")
        self.assertEqual(status, 0)
        self.assertTrue(shown.startswith(b"page:6.150 s: "))
        self.assertEqual(shown.count(b"page:"), shown.count(b"\n"))
        for arguments in (["--no-pager"], ["--json"], ["--csv"]):
            shown, _ = on_terminal(FLAT + arguments, MONARC_PAGER="sed s/^/page:/")
            self.assertNotIn(b"page:", shown)

    def test_pager_left_early(self):
        shown, status = on_terminal(FLAT, MONARC_PAGER="head -n 1")
        self.assertRegex(shown, rb"^6\.150 s: [^\n]*\n$")
        self.assertEqual(status, 0)
        self.assertEqual(on_terminal(FLAT, MONARC_PAGER="true"), (b"", 0))

    def test_errors_are_not_paged(self):
        shown, status = on_terminal(["flat", "demo", "nix"], MONARC_PAGER="sed s/^/page:/")
        self.assertEqual(status, 2)
        self.assertNotIn(b"page:", shown)

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([monarc_path(), *FLAT], cwd=PROGRAMS, stdout=full,
                                    stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"No space left", result.stderr)

    def test_closed_pipe_is_quiet(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([monarc_path(), *FLAT], cwd=PROGRAMS, stdout=writer,
                                stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual(result.stderr, b"")
        self.assertNotEqual(result.returncode, 0)


class Width(unittest.TestCase):
    """Sentences fold at the width of the terminal; a pipe gets each as a line."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        run = run_file.Run("./prog", "--with", "a", "command", "line", "of", "many", "short", "words", "in", "it", "all",
                           cpu=10**9, user=10**9)
        prog = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20)
        for i, name in enumerate(("main", "compute_the_first_part", "compute_the_second_part")):
            run.symbols.append((prog, 0x1000 + 0x10 * i, 0x10, name))
        run.thread(run.process(1, 0, prog, "prog", user=10**9), 1, cpu=10**9)
        for count, leaf in (500, 0x1010), (300, 0x1020):
            run.sample([(prog, 0x1000), (prog, leaf)], count)
        run.write(self.dir / "r.monarc")

    def head(self, shown):
        """The lines above the first empty one."""
        return shown.decode().partition("\n\n")[0].split("\n")

    def test_heads_fold(self):
        for command in ["graph", "--verbose"], ["flat", "--verbose"], ["doctor"]:
            arguments = [*command, "r.monarc"]
            plain = self.head(monarc(*arguments, cwd=self.dir).stdout)
            self.assertGreater(max(map(len, plain)), 80)
            for columns in 40, 60, 80, 120:
                with self.subTest(command=command, columns=columns):
                    head = self.head(on_terminal(arguments, columns, self.dir, PAGER="cat", TERM="dumb")[0])
                    self.assertLessEqual(max(map(len, head)), columns)
                    self.assertEqual(" ".join(head).split(), " ".join(plain).split())  # no word is cut or lost
                    self.assertEqual(len(head) > len(plain), columns < max(map(len, plain)))
                    through = on_terminal(arguments, columns, self.dir, MONARC_PAGER="exec cat", TERM="dumb")[0]
                    self.assertEqual(self.head(through), head)

    def test_a_caveat_is_one_line(self):
        """On a terminal it ends with a clause, and what is more than one is counted; a pipe and --verbose have all."""
        run = run_file.Run("./prog", cpu=10**9, user=10**9)
        prog = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20)
        run.symbols.append((prog, 0x1000, 0x10, "main"))
        run.thread(run.process(1, 0, prog, "prog", user=10**9), 1, cpu=10**9)
        run.sample([(prog, 0x1000), (prog, 0x1000)], 800)
        run.losses.append((run_file.RECORDS, 9, 200 * run_file.PERIOD, "samples did not fit into the buffers, because of this and of that"))
        for i in range(3):
            run.losses.append((run_file.OTHER, 1, 0, f"reason {i}: 8,000 things were lost, because the machine was busy with other things"))
        run.write(self.dir / "lossy.monarc")
        plain = self.head(monarc("flat", "lossy.monarc", cwd=self.dir).stdout)
        self.assertEqual(sum(line.startswith("Note ") for line in plain), 4)
        head = self.head(on_terminal(["flat", "lossy.monarc"], 80, self.dir, PAGER="cat", TERM="dumb")[0])
        self.assertEqual(head[-2], "CPU      20 % of 1.000 s missing: samples did not fit into the buffers")
        self.assertEqual(head[-1], "Note     no lines or inlined functions of /nonexistent/prog (3 more: doctor)")
        narrow = self.head(on_terminal(["flat", "lossy.monarc"], 60, self.dir, PAGER="cat", TERM="dumb")[0])
        self.assertTrue(all(len(line) <= 60 for line in narrow), narrow)

    def test_the_first_sentence_has_two_lines(self):
        """On a terminal it ends where a third would begin: with its first function at least."""
        run = run_file.Run("./prog", cpu=10**9, user=10**9)
        prog = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20)
        for i in range(3):
            run.symbols.append((prog, 0x1000 + 0x10 * i, 0x10, f"function_{i}_" + "with_a_long_name" * 3))
        run.thread(run.process(1, 0, prog, "prog", user=10**9), 1, cpu=10**9)
        for i in 1, 2:
            run.sample([(prog, 0x1000), (prog, 0x1000 + 0x10 * i)], 500)
        run.write(self.dir / "long.monarc")
        plain = self.head(monarc("flat", "long.monarc", cwd=self.dir).stdout)
        shown = self.head(on_terminal(["flat", "long.monarc"], 80, self.dir, PAGER="cat", TERM="dumb")[0])
        self.assertRegex(plain[0], r": 50 % in function_1_\w+; 50 % in function_2_")
        self.assertEqual(" ".join(shown[:2]).split(), plain[0].partition("; ")[0].split())
        self.assertRegex(shown[2], "^Program ")

    def test_what_is_empty_says_so(self):
        """A name of 2,000 characters leaves room for the sentence; no samples, no lines with code: the first line says it."""
        long = "name_" * 400
        run = run_file.Run("./prog", cpu=10**9, user=10**9)
        prog = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20)
        run.symbols.append((prog, 0x1000, 0x10, long))
        run.thread(run.process(1, 0, prog, "prog", user=10**9), 1, cpu=10**9)
        run.sample([(prog, 0x1000)], 1000)
        run.write(self.dir / "long.monarc")
        first = self.head(monarc("flat", "long.monarc", cwd=self.dir).stdout)[0]
        self.assertRegex(first, r": 100 % in (name_)+\.\.\.(name_)+$")
        self.assertLess(len(first), 150)
        none = run_file.Run("./prog", cpu=0, user=0)
        none.process(1, 0, none.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20), "prog")
        none.write(self.dir / "none.monarc")
        self.assertEqual(self.head(monarc("diff", "none.monarc", "none.monarc", cwd=self.dir).stdout)[0],
                         "Nothing to compare: neither side has samples")
        (self.dir / "none.info").write_text("TN:\n")
        self.assertEqual(self.head(monarc("cover", "none.info", cwd=self.dir).stdout)[0], "no lines with code")
        shown = on_terminal(["run", "-o", "short.monarc", "true"], 80, self.dir, TERM="dumb")[0].decode()
        self.assertEqual("monarc graph" in shown, "self%" in shown, shown)  # what has no samples has no calls to show
        self.assertIn("monarc doctor short.monarc", shown)

    def test_columns_count_more_than_the_terminal(self):
        shown = on_terminal(["flat", "r.monarc"], 120, self.dir, PAGER="cat", TERM="dumb", COLUMNS="40")[0]
        self.assertLessEqual(max(map(len, self.head(shown))), 40)

    def test_rest_folds(self):
        """Legends, findings and remedies stand below the head."""
        for arguments in ["flat", "demo", "demo.gmon"], ["doctor", "demo", "demo.gmon"]:
            shown = on_terminal(arguments, 40, PAGER="cat", TERM="dumb")[0].decode()
            prose = [line for line in shown.split("\n") if not re.match(r" *[\d.]+ | self%", line)]
            self.assertLessEqual(max(map(len, prose)), 40, shown)

    def test_a_comparison_folds(self):
        """Verdicts are cells of a table, and go on below themselves."""
        shown = on_terminal(["diff", "r.monarc", "r.monarc"], 80, self.dir, PAGER="cat", TERM="dumb")[0].decode()
        plain = monarc("diff", "r.monarc", "r.monarc", cwd=self.dir).stdout.decode()
        self.assertGreater(max(map(len, plain.split("\n"))), 80)
        self.assertLessEqual(max(map(len, shown.split("\n"))), 80, shown)
        self.assertEqual(shown.split(), plain.split())
        self.assertRegex(shown, r"\n {55}\S")

    def test_the_table_of_a_comparison(self):
        """Names have room, and no digit is shown that its margin makes unsure; what a side lacks is a dash."""
        run = run_file.Run("./prog", cpu=10**9, user=10**9)
        prog = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20)
        names = "main", "compute_the_first_part", "a_function_with_a_name_of_forty_letters_"
        for i, name in enumerate(names):
            run.symbols.append((prog, 0x1000 + 0x10 * i, 0x10, name))
        run.thread(run.process(1, 0, prog, "prog", user=10**9), 1, cpu=10**9)
        for count, leaf in (100, 0x1010), (700, 0x1020):
            run.sample([(prog, 0x1000), (prog, leaf)], count)
        run.write(self.dir / "new.monarc")
        arguments = ["diff", "r.monarc", "new.monarc"]
        plain = monarc(*arguments, cwd=self.dir).stdout.decode()
        self.assertRegex(plain, r"(?m)^ +0\.50 +0\.10 +-0\.40\* +0\.07 .* compute_the_first_part$")
        for columns in 80, 100, 120:
            shown = on_terminal(arguments, columns, self.dir, PAGER="cat", TERM="dumb")[0].decode()
            self.assertLessEqual(max(map(len, shown.split("\n"))), columns, shown)
            self.assertRegex(shown, r"(?m)^ +- +0\.70 .* a_f\S*_letters_$")
            self.assertRegex(shown, r"(?m)^ +0\.300 +- .* compu\S*_part$")
            self.assertEqual("self%" in shown, columns >= 100)
            self.assertNotIn("no samples in", shown)

    def test_lines_of_many_libraries(self):
        """What has no lines is one sentence; names of libraries' functions leave room for the library's."""
        run = run_file.Run("./demo", cpu=10**9, user=10**9)
        (self.dir / "main.c").write_text("int main(void) { return 0; }\n")
        subprocess.run([*os.environ.get("CC", "gcc").split(), "-g", "-Wl,--build-id=none", "-o", "main", "main.c"],
                       cwd=self.dir, check=True)
        symbols = subprocess.run(["nm", "main"], cwd=self.dir, check=True, capture_output=True, text=True).stdout
        main = int(re.search(r"(?m)^(\w+) T main$", symbols)[1], 16)
        demo = run.object(run_file.FILE, str(self.dir / "main"), high=0x1000000)
        run.thread(run.process(1, 0, demo, "demo", user=10**9), 1, cpu=10**9)
        run.sample([(demo, main)], 300)
        for i in range(7):
            library = run.object(run_file.FILE, f"/nonexistent/lib/libnumber_{i}.so.6", b"\1" * 20)
            run.symbols.append((library, 0x1000, 0x10, f"a_function_of_library_number_{i}"))
            run.sample([(demo, main), (library, 0x1000)], 100)
        run.write(self.dir / "l.monarc")
        shown = on_terminal(["lines", "--force", "l.monarc"], 80, self.dir, PAGER="cat", TERM="dumb")[0].decode()
        self.assertLessEqual(max(map(len, shown.split("\n"))), 80, shown)
        self.assertIn("\n\nno line numbers: libnumber_0.so.6 and 6 more (compile with -g, or --debug-dir)\n", shown)
        self.assertEqual(len(re.findall(r"(?m)  a_func\S+_\d$", shown)), 7, shown)
        self.assertNotIn("total s", shown)
        wide = monarc("lines", "--force", "--wide", "l.monarc", cwd=self.dir).stdout.decode()
        self.assertIn(", /nonexistent/lib/libnumber_6.so.6 (compile with -g, or --debug-dir)\n", wide)
        self.assertIn("total s", wide)

    def test_paths_of_a_coverage_table(self):
        """They lose their beginnings on a terminal alone."""
        source = self.dir / ("a_folder_of_a_long_name/" * 4) / "name.c"
        source.parent.mkdir(parents=True)
        source.write_text("int a;\n")
        path = source.relative_to(self.dir)
        (self.dir / "all.info").write_text(f"SF:{path}\nFN:1,f\nFNDA:1,f\nDA:1,1\nend_of_record\n")
        shown = on_terminal(["cover", "all.info"], 80, self.dir, PAGER="cat", TERM="dumb")[0].decode()
        row = re.search(r"(?m)^.*/name\.c$", shown)[0]
        self.assertEqual(len(row), 80, shown)
        self.assertIn("  ...", row)
        self.assertIn(f"  {path}\n", monarc("cover", "all.info", cwd=self.dir).stdout.decode())

    def test_waits_and_paths_fold(self):
        """Headings, what holders did and legends; names of threads are cut, numbers never."""
        second, long = 10**9, "a_name_of_this_length"
        run = run_file.Run("./prog", length=4 * second)
        prog, wait = run.object(run_file.FILE, "/nonexistent/prog", b"\1" * 20), run.object(run_file.WAIT)
        run.symbols += [(prog, 0x1000, 0x10, "main"), (prog, 0x1010, 0x10, long)]
        run.process(1, 0, prog, "prog-with-a-long-name", end=4 * second, user=second)
        for tid in 1, 1234567:
            run.thread(0, tid, "fifteen-letters", cpu=second)
        run.resources.append((1, 0, 0x5000, "g_the_lock_of_the_cache"))
        stack = [(prog, 0x1000), (prog, 0x1010), (wait, 202)]
        first = run.wait(stack, 0, waits=4)
        run.wait(stack[:2], None, first, thread=1, doing=1, ns=2 * second)
        run.sample(stack, 1, weight=2 * second)
        run.sample(stack[:2], 1, thread=1, weight=second)
        run.write(self.dir / "w.monarc")
        for command in "waits", "path":
            plain = monarc(command, "w.monarc", cwd=self.dir).stdout.decode()
            self.assertGreater(max(map(len, plain.split("\n"))), 80)
            shown = on_terminal([command, "w.monarc"], 80, self.dir, PAGER="cat", TERM="dumb")[0].decode()
            self.assertLessEqual(max(map(len, shown.split("\n"))), 80, shown)
            self.assertIn("1234567)", shown)
            if command == "waits":
                files = "Program  ./prog\nProfile  w.monarc\n"  # one line where it fits
                self.assertIn(files, plain)
                self.assertEqual(shown.split(), plain.replace(files, "Profile  w.monarc of ./prog\n").split())

    def test_the_report_of_a_run_fits_on_the_screen(self):
        """Its first line is still to be seen at the end, and no row is left empty for want of functions."""
        work = "import re\nfor i in range(2000): re.compile('(a%d|b[c-e]+)*?x{2,5}' % i)"
        (self.dir / "work.py").write_text(work)
        run = ["run", "--no-stacks", "-o", "run.monarc", "python3", "work.py"]
        for rows in 24, 30:
            shown = on_terminal(run, 80, self.dir, rows, TERM="dumb")[0].decode()
            report = shown[shown.index(" s of CPU"):]
            self.assertEqual(report.count("\n"), rows - 1, report)
            self.assertIn("more functions", report)

    def test_wide_folds_nothing(self):
        arguments = ["flat", "--wide", "r.monarc"]
        shown = on_terminal(arguments, 40, self.dir, PAGER="cat", TERM="dumb")[0]
        self.assertEqual(self.head(shown), self.head(monarc(*arguments, cwd=self.dir).stdout))


if __name__ == "__main__":
    main()
