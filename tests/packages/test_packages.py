#!/usr/bin/env python3
"""test_packages.py: the Debian packages, built from a copy of the tree. What is in them, what lintian
says of them (nothing), and that they work where they are installed: in a folder of their own, and in
a system of their own if debootstrap can make one.

It refuses to install anything on this system.
"""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
static volatile unsigned long sum;
void work(void) { for (unsigned i = 0; i < 400000000; i++) sum += i; }
int main(void) { work(); return 0; }
"""


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def copy_tree(to):
    """What git has, or all but what was built."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns("build*", ".git"), symlinks=True)
        return
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)


@unittest.skipUnless(all(map(shutil.which, ("dpkg-buildpackage", "dh", "lintian"))),
                     "needs dpkg-dev, debhelper and lintian")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="monarc-packages-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        copy_tree(cls.work / "monarc")
        run("dpkg-buildpackage", "-us", "-uc", cwd=cls.work / "monarc",
            env={k: v for k, v in os.environ.items() if k not in ("CC", "CFLAGS", "LDFLAGS")}
            | {"DEB_BUILD_OPTIONS": "parallel=2"})
        cls.packages = {re.match("[^_]*", p.name)[0]: p for p in cls.work.glob("*.deb")
                        if "-dbgsym" not in p.name}
        cls.root = cls.work / "root"
        for package in cls.packages.values():
            run("dpkg-deb", "-x", package, cls.root)

    def files(self, package):
        return [line.split()[5] for line in
                run("dpkg-deb", "-c", self.packages[package]).splitlines()]

    def test_what_they_have(self):
        self.assertEqual(sorted(self.packages),
                         ["libmonarc-dev", "libmonarc-report1", "libmonarc1", "monarc", "monarc-runtime"])
        for package, names in {
                "monarc": ("/usr/bin/monarc", "/usr/share/doc/monarc/schema/flat.schema.json",
                           "/usr/share/man/man1/monarc-flat.1.gz"),
                "libmonarc1": ("/libmonarc.so.1.0.0",),
                "libmonarc-report1": ("/libmonarc_report.so.1.0.0",),
                "libmonarc-dev": ("/libmonarc.a", "/monarc.pc", "/monarc/recording.h",
                                  "/man3/libmonarc.3.gz"),
                "monarc-runtime": ("/libmonarc_rt.so.1.0.0", "/libmonarc_cover.so.1.0.0",
                                   "/libmonarc_mpi_mpich.so.1.0.0", "/libmonarc_mpi_openmpi.so.1.0.0",
                                   "/monarc/runtime.h")}.items():
            for name in names:
                self.assertTrue(any(path.endswith(name) for path in self.files(package)), name)

    def test_libraries_that_are_loaded_late(self):
        """Their packages are those that the headers are of, under whatever name this release has them."""
        for field, libraries in ("Recommends", ("libcapstone", "libncursesw", "libsqlite3")), ("Suggests", ("libgvc",)):
            named = run("dpkg-deb", "-f", self.packages["monarc"], field).strip().split(", ")
            for library in libraries:
                package, = [name for name in named if re.fullmatch(library + r"-?\d+(t64)?", name)]
                self.assertEqual(run("dpkg-query", "-W", "-f", "${db:Status-Status} ", package)[:9], "installed")

    def test_lintian_has_nothing_to_say(self):
        """But spelling in binaries: machine code happens to read as misspelled words. See the next case."""
        changes, = self.work.glob("*.changes")
        told = subprocess.run(["lintian", "--allow-root", "-EI", "--pedantic",
                               "--suppress-tags", "spelling-error-in-binary", "--fail-on",
                               "error,warning,info,pedantic,experimental", changes],
                              capture_output=True, text=True)
        self.assertEqual((told.stdout, told.returncode), ("", 0))

    def test_spelling_of_texts(self):
        """What lintian would look for in binaries, in the texts themselves. Usages repeat words on purpose."""
        texts = self.work / "texts"
        texts.write_text(run(sys.executable, ROOT / "tools/texts.py"))
        self.assertEqual([line for line in run("spellintian", texts).splitlines()
                          if "(duplicate word)" not in line], [])

    def test_in_a_folder_of_their_own(self):
        libraries = next(self.root.rglob("libmonarc.so.1")).parent
        shutil.copy(ROOT / "examples/library/print_gmon.c", self.work)
        run("cc", "print_gmon.c", f"-I{self.root}/usr/include", f"-L{libraries}", "-lmonarc", "-o",
            "print_gmon", cwd=self.work)
        told = run(self.work / "print_gmon", ROOT / "tests/corpus/gmon/le64",
                   env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
        self.assertTrue(told.startswith("GNU gmon.out, version 1, 8-byte pointers"), told)
        self.assertIn("monarc", run(self.root / "usr/bin/monarc", "--version"))

    @unittest.skipUnless(shutil.which("debootstrap") and os.geteuid() == 0, "needs debootstrap and root")
    def test_in_a_system_of_their_own(self):
        """Installed by apt with what they depend on; a program is compiled there, and profiled."""
        system = self.work / "system"
        made = subprocess.run(["debootstrap", "--variant=minbase", "--include=gcc,libc6-dev",
                               "bookworm", system], capture_output=True, text=True)
        if made.returncode:
            self.skipTest("debootstrap cannot make a system: " + made.stdout.strip()[-200:])
        for package in self.packages.values():
            shutil.copy(package, system / "tmp")
        (system / "tmp/busy.c").write_text(PROGRAM)
        inside = ("chroot", system, "env", "-i", "PATH=/usr/bin:/bin:/usr/sbin:/sbin",
                  "DEBIAN_FRONTEND=noninteractive", "sh", "-ec")
        run(*inside, "apt-get install -qq -y --no-install-recommends /tmp/*.deb")
        run(*inside, "cd /tmp; gcc -g -O1 -pg busy.c -o busy; ./busy; monarc flat --json busy >flat;"
                     "monarc run -o rec ./busy; monarc flat --json rec >ran;"
                     "gcc --coverage busy.c -o covered; ./covered; monarc cover --json cover .")
        for name in "flat", "ran":
            rows = json.loads((system / "tmp" / name).read_text())["functions"]
            self.assertEqual(rows[0]["name"], "work", name)
        covered = json.loads((system / "tmp/cover").read_text())
        self.assertEqual(covered["sources"][0]["path"].rpartition("/")[2], "busy.c")
        run(*inside, "apt-get remove -qq -y monarc monarc-runtime libmonarc1; ! command -v monarc")


# What the one static file says in a system that has nothing but it: arguments, status, what is printed.
# `busy` was compiled with -pg, `plain` without; /proc is not mounted.
ANSWERS = [
    ("--version", 0, r"monarc \d"),
    ("flat busy gmon.out", 0, r" work +busy\.c:2\n"),
    ("graph busy gmon.out", 0, r"work \[\d+\]"),
    ("annotate busy gmon.out", 0, r"busy\.c"),
    ("annotate --asm busy gmon.out", 0, r"<work\+0x"),
    ("html -o page.html busy gmon.out", 0, r"^"),
    ("doctor busy gmon.out", 1, r"busy"),
    ("gprof -b -p busy gmon.out", 0, r" work\n"),
    ("cover .", 0, r"100\.0 .*busy\.c"),
    ("graph --dot busy gmon.out", 0, r"digraph"),
    ("graph --svg busy gmon.out", 2, "Graphviz' library: .*, which is one static file; --dot writes what it would draw"
                                     "|built without Graphviz"),
    ("tui busy gmon.out", 2, "standard output is not a terminal"),
    ("store add --commit a --file h.db busy gmon.out", 2, "a history needs SQLite's library: .*one static file"),
    ("symbols --debuginfod busy gmon.out", 2, "debuginfod"),
]
RECORDING = [
    ("run --no-report -o rec ./plain", 0, r"^"),
    ("flat rec", 0, r" work +busy\.c:2\n"),
    ("graph --tree rec", 0, r"work"),
    ("run --no-report --off-cpu -o waits ./plain", 0, r"^"),
    ("path waits", 0, r"Path "),
    ("run --cover-blocks ./plain", 2, "through /proc, which is not mounted here"),
]


def on_terminal(*command, cwd):
    """What appears on a terminal, and the exit status."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvp(command[0], [str(word) for word in command])
    shown = b""
    while True:
        try:
            piece = os.read(screen, 65536)
        except OSError:  # its last process has ended
            piece = b""
        if not piece:
            break
        shown += piece
    os.close(screen)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Standalone(unittest.TestCase):
    """One static file, in an empty folder as in other releases of Debian (those that tests/in_debian.sh
    has made): a report is there, or what it would take is named."""
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="monarc-standalone-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.monarc = os.environ.get("MONARC_STANDALONE_FILE")  # one that is built already
        if not cls.monarc:
            cls.monarc = cls.work / "build/monarc"
            run("meson", "setup", cls.monarc.parent, "-Dprefer_static=true", "-Dstandalone=true",
                "-Dtests=disabled", "-Dbuildtype=plain", "-Doptimization=0", cwd=ROOT)
            run("ninja", "-C", cls.monarc.parent, "monarc")

    def test_needs_no_library(self):
        self.assertNotIn("INTERP", run("readelf", "-lW", self.monarc))
        self.assertNotIn("NEEDED", run("readelf", "-dW", self.monarc))

    def fill(self, system, static="-static"):
        shutil.copy(self.monarc, system / "monarc")
        (system / "busy.c").write_text(PROGRAM)
        for program, words in ("busy", ["-pg", "--coverage"]), ("plain", []):
            run("gcc", "-g", "-O1", *words, *static.split(), "busy.c", "-o", program, cwd=system)
        run("./busy", cwd=system)

    def check(self, system, answers):
        inside = ("chroot", system, "/") if not os.geteuid() else ("", "", f"{system}/")
        for arguments, status, said in answers:
            with self.subTest(arguments, system=system.name):
                done = subprocess.run([*filter(None, inside[:2]), inside[2] + "monarc", *arguments.split()], cwd=system,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertRegex(done.stderr if status == 2 else done.stdout, said)
        self.assertIn("<body", (system / "page.html").read_text())
        shown, status = on_terminal(*filter(None, inside[:2]), inside[2] + "monarc", "tui", "busy", "gmon.out", cwd=system)
        self.assertRegex(shown, "ncursesw.*, which is one static file|built without ncurses")
        self.assertEqual(status, 2, shown)

    def test_in_an_empty_system(self):
        system = self.work / "empty"
        system.mkdir()
        self.fill(system)
        self.check(system, ANSWERS if os.geteuid() else ANSWERS + RECORDING)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_in_other_releases(self):
        """Also with a program that runs by the C library there."""
        systems = sorted(p.parent for p in Path(os.environ.get("MONARC_SYSTEMS", ROOT / "build-systems"))
                         .glob("*/.complete"))
        if not systems:
            self.skipTest("tests/in_debian.sh has made no other release")
        for system in systems:
            here = system / "monarc-standalone"
            here.mkdir(exist_ok=True)
            self.addCleanup(shutil.rmtree, here)
            self.fill(here)
            for arguments, status, said in ANSWERS + RECORDING[:-1]:
                with self.subTest(arguments, system=system.name):
                    done = subprocess.run(["chroot", system, "sh", "-c", f"cd /monarc-standalone && exec ./monarc {arguments}"],
                                          capture_output=True, text=True)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertRegex(done.stderr if status == 2 else done.stdout, said)
            shown, status = on_terminal("chroot", system, "sh", "-c", "cd /monarc-standalone && exec ./monarc tui busy gmon.out",
                                        cwd=here)
            self.assertIn("ncursesw", shown)
            self.assertEqual(status, 2, shown)
            self.assertIn("<body", (here / "page.html").read_text())
            loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
            ran = run("chroot", system, "sh", "-c", "cd /monarc-standalone && ./monarc run --no-report -o of /bin/sh -c "
                      f"'{loop}' && ./monarc flat --by-object of")
            self.assertRegex(ran, r"/(da|ba)?sh\n")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
