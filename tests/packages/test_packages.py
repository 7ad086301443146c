#!/usr/bin/env python3
"""test_packages.py: the Debian packages, built from a copy of the tree. What is in them, what lintian
says of them (nothing), and that they work where they are installed: in a folder of their own, and in
a system of their own if debootstrap can make one.

It refuses to install anything on this system.
"""

import json
import os
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
                                   "/monarc/runtime.h")}.items():
            for name in names:
                self.assertTrue(any(path.endswith(name) for path in self.files(package)), name)

    def test_libraries_that_are_loaded_late(self):
        """Their packages are those that the headers are of, under whatever name this release has them."""
        for field, libraries in ("Recommends", ("libcapstone", "libncursesw")), ("Suggests", ("libgvc",)):
            named = run("dpkg-deb", "-f", self.packages["monarc"], field).strip().split(", ")
            for library in libraries:
                package, = [name for name in named if re.fullmatch(library + r"\d+(t64)?", name)]
                self.assertEqual(run("dpkg-query", "-W", "-f", "${db:Status-Status} ", package)[:9], "installed")

    def test_lintian_has_nothing_to_say(self):
        changes, = self.work.glob("*.changes")
        told = subprocess.run(["lintian", "--allow-root", "-EI", "--pedantic", "--fail-on",
                               "error,warning,info,pedantic,experimental", changes],
                              capture_output=True, text=True)
        self.assertEqual((told.stdout, told.returncode), ("", 0))

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


class Standalone(unittest.TestCase):
    """One static file: nothing else is in the folder that is its whole system."""
    def test_in_an_empty_system(self):
        with tempfile.TemporaryDirectory(prefix="monarc-standalone-") as folder:
            build, system = Path(folder) / "build", Path(folder) / "system"
            run("meson", "setup", build, "-Dprefer_static=true", "-Dstandalone=true", "-Dtests=disabled",
                "-Dbuildtype=plain", "-Doptimization=0", cwd=ROOT)
            run("ninja", "-C", build, "monarc")
            self.assertNotIn("INTERP", run("readelf", "-lW", build / "monarc"))
            self.assertNotIn("NEEDED", run("readelf", "-dW", build / "monarc"))
            system.mkdir()
            shutil.copy(build / "monarc", system)
            (system / "busy.c").write_text(PROGRAM)
            run("gcc", "-g", "-O1", "-pg", "-static", "busy.c", "-o", "busy", cwd=system)
            run("./busy", cwd=system)
            inside, at = ("chroot", system), "/"
            if os.geteuid():
                inside, at = (), f"{system}/"
            told = run(*inside, f"{at}monarc", "flat", "--json", f"{at}busy", f"{at}gmon.out")
            self.assertEqual(json.loads(told)["functions"][0]["name"], "work")
            refused = subprocess.run([*inside, f"{at}monarc", "graph", "--svg", f"{at}busy", f"{at}gmon.out"],
                                     capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertRegex(refused.stderr, r"^monarc: .* cannot be loaded into this monarc, which is one static "
                                             r"file; --dot writes what it would draw\n$|built without Graphviz")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
