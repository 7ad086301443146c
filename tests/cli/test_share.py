"""'mpirun -n N monarc merge' and 'cover': ranks share the inputs, through files alone, and the output is that of
one process, whichever rank dies or comes late. Ranks are made by the variables that launchers set;
where Open MPI is installed, one merge is started by mpirun."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import is_sanitized, main, monarc, monarc_path
from run_file import FILE, Run

sys.dont_write_bytecode = True
CC = os.environ.get("CC", "gcc").split()
SOURCE = r"""
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void one(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void other(void) { one(3); }
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    for (int i = 0; i < n; i++)
        one(200);
    if (n % 2)
        other();
    return 0;
}
"""
FILES = 11


class Ranks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def start(self, rank, size, *arguments):
        variables = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size)}
        return subprocess.Popen([monarc_path(), *map(str, arguments)], cwd=self.dir,
                                env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def end(self, processes, status=0):
        for process in processes:
            error = process.communicate()[1]
            self.assertEqual(process.returncode, status, error)
        return error

    def tearDown(self):
        self.assertEqual(list(self.dir.glob("*.sharing-*")), [])


class Merge(Ranks):
    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-share-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        (cls.built / "p.c").write_text(SOURCE)
        subprocess.run([*CC, "-pg", "--coverage", "p.c", "-o", "p"], cwd=cls.built, check=True,
                       stderr=subprocess.DEVNULL)
        clang = shutil.which("clang")
        if clang:
            subprocess.run([clang, "-fprofile-instr-generate", "-fcoverage-mapping", "p.c", "-o", "c"],
                           cwd=cls.built, stderr=subprocess.DEVNULL)
        for n in range(FILES):
            subprocess.run(["./p", str(500 * n)], cwd=cls.built, check=True)
            (cls.built / "gmon.out").rename(cls.built / f"{n}.gmon")
            for counters in cls.built.glob("*.gcda"):
                counters.rename(cls.built / f"{n}.gcda.run")
            if (cls.built / "c").exists():
                subprocess.run(["./c", str(n)], cwd=cls.built, check=True,
                               env={**os.environ, "LLVM_PROFILE_FILE": f"{n}.profraw"})
            run = Run("./app")
            run.object(FILE, "/app")
            run.process(100 + n, 1, 0, "app")
            run.thread(0, 100 + n)
            for k in range(20):
                run.sample([(0, 0x1000 + k * (n + 1))], slice=k, count=n + 1)
            run.ranks.append((0, n, FILES, None, "Open MPI", "n0"))
            run.write(cls.built / f"{n}.rec")

    def inputs(self, kind):
        found = sorted(self.built.glob(f"*.{kind}"), key=lambda p: int(p.name.split(".")[0]))
        if not found:
            self.skipTest(f"there are no inputs of kind {kind}")
        return found

    def check_same(self, kind, name, *options, size=3, ranks=None):
        inputs = self.inputs(kind)
        done = monarc("merge", *options, "-o", "one-" + name, *inputs, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.end([self.start(rank, size, "merge", *options, "-o", name, *inputs)
                  for rank in (range(size) if ranks is None else ranks)])
        inside = "monarc.side" if (self.dir / name).is_dir() else ""
        self.assertEqual((self.dir / name / inside).read_bytes(),
                         (self.dir / ("one-" + name) / inside).read_bytes())
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), sorted([name, "one-" + name]))
        shutil.rmtree(self.dir / name, ignore_errors=True)
        for path in self.dir.iterdir():
            path.unlink() if path.is_file() else shutil.rmtree(path)

    def test_every_kind(self):
        for kind, name, *options in (("gmon", "sum"), ("gmon", "sum.out", "--to", "bsd44"),
                                     ("gcda.run", "sum.gcda"), ("rec", "sum.rec")):
            with self.subTest(kind=kind, options=options):
                self.check_same(kind, name, *options)

    def test_llvm(self):
        for name, *options in (("sum.profdata",), ("sum.proftext",), ("sum.profraw",), ("sum",)):
            with self.subTest(name=name):
                self.check_same("profraw", name, *options)

    def test_more_ranks_than_inputs(self):
        self.check_same("gmon", "sum", size=FILES + 3)

    def test_the_first_rank_never_comes(self):
        self.check_same("gmon", "sum", ranks=(1, 2))

    def test_a_rank_is_killed(self):
        inputs = self.inputs("gmon")
        monarc("merge", "-o", "one", *inputs, cwd=self.dir)
        ranks = [self.start(rank, 3, "merge", "-o", "sum", *inputs) for rank in (1, 2)]
        deadline = time.monotonic() + 60
        while not list(self.dir.glob("sum.sharing-*/alive-2")) and time.monotonic() < deadline:
            time.sleep(0.01)
        ranks[1].send_signal(signal.SIGKILL)
        ranks[1].communicate()
        ranks[1] = self.start(0, 3, "merge", "-o", "sum", *inputs)
        self.end(ranks)
        self.assertEqual((self.dir / "sum").read_bytes(), (self.dir / "one").read_bytes())

    def test_parts_of_an_earlier_command_are_not_taken(self):
        inputs = self.inputs("gmon")
        monarc("merge", "-o", "one", *inputs, cwd=self.dir)
        stopped = self.start(1, 2, "merge", "-o", "sum", *inputs)
        deadline = time.monotonic() + 60
        while not list(self.dir.glob("sum.sharing-*/part-1")) and time.monotonic() < deadline:
            time.sleep(0.01)
        stopped.kill()
        stopped.communicate()
        folder = next(self.dir.glob("sum.sharing-*"))
        shutil.copy(inputs[0], folder / "part-1")
        (folder / "alive-1").write_bytes(b"1000000000 5".ljust(64, b"\0"))  # of 2001
        self.end([self.start(0, 2, "merge", "-o", "sum", *inputs)])
        self.assertEqual((self.dir / "sum").read_bytes(), (self.dir / "one").read_bytes())

    def test_ranks_may_merge_files_of_their_own(self):
        inputs = self.inputs("gmon")
        self.end([self.start(rank, 2, "merge", "-o", f"sum-{rank}", *inputs[rank:rank + 2])
                  for rank in range(2)])
        for rank in range(2):
            monarc("merge", "-o", "one", *inputs[rank:rank + 2], cwd=self.dir)
            self.assertEqual((self.dir / f"sum-{rank}").read_bytes(), (self.dir / "one").read_bytes())

    def test_bad_inputs(self):
        (self.dir / "bad").write_text("no profile")
        inputs = self.inputs("gmon")
        ranks = [self.start(rank, 2, "merge", "-o", "sum", *inputs, "bad") for rank in range(2)]
        self.assertIn("bad: ", self.end(ranks, status=2))
        self.assertEqual([p.name for p in self.dir.iterdir()], ["bad"])

    def test_an_output_that_is_an_input(self):
        shutil.copy(self.inputs("gmon")[0], self.dir / "sum")
        error = self.end([self.start(0, 2, "merge", "-o", "sum", "sum", self.inputs("gmon")[1])], 2)
        self.assertIn("sum: is an input, too", error)

    def test_a_job_of_any_size(self):
        """The number of ranks is the environment's: memory is not in proportion to a senseless one."""
        inputs = self.inputs("gmon")
        monarc("merge", "-o", "one", *inputs, cwd=self.dir)
        variables = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4294967295"}
        limit = "" if is_sanitized() else "ulimit -v 4000000; "  # a sanitizer reserves terabytes
        done = subprocess.run(["sh", "-c", limit + 'exec "$0" "$@"', monarc_path(), "merge", "-o", "sum", *inputs],
                              cwd=self.dir, env={**os.environ, **variables}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "sum").read_bytes(), (self.dir / "one").read_bytes())

    @unittest.skipUnless(shutil.which("mpirun"), "MPI is not installed")
    def test_mpirun(self):
        help_ = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
        flags = ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in help_ or "OpenRTE" in help_ else []
        inputs = self.inputs("gmon")
        monarc("merge", "-o", "one", *inputs, cwd=self.dir)
        subprocess.run(["mpirun", *flags, "-n", "3", monarc_path(), "merge", "-o", "sum", *inputs],
                       cwd=self.dir, check=True)
        self.assertEqual((self.dir / "sum").read_bytes(), (self.dir / "one").read_bytes())


class Cover(Ranks):
    """Ranks add up slices of the counters of many runs; one of them has the report."""

    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-share-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        names = ["a", "b", "c"]
        for i, name in enumerate(names):
            (cls.built / f"{name}.c").write_text(
                f"int {name}(int x)\n{{\n    int s = 0;\n    for (int i = 0; i < x; i++)\n"
                f"        if (i % {i + 2})\n            s += i;\n    return s;\n}}\n")
        (cls.built / "main.c").write_text(
            "#include <stdlib.h>\nint a(int), b(int), c(int);\nint main(int argc, char **argv)\n{\n"
            "    int n = atoi(argv[1]), s = a(n) + b(n * 2);\n    if (n % 2)\n        s += c(n);\n"
            "    return s == -1;\n}\n")
        subprocess.run([*CC, "--coverage", "-c", "main.c", *(f"{n}.c" for n in names)], cwd=cls.built, check=True)
        subprocess.run([*CC, "--coverage", "main.o", *(f"{n}.o" for n in names), "-o", "p"], cwd=cls.built, check=True)
        for n in range(FILES):
            subprocess.run(["./p", str(n)], cwd=cls.built, check=True,
                           env={**os.environ, "GCOV_PREFIX": str(cls.built / "runs" / str(n)), "GCOV_PREFIX_STRIP": "99"})

    def cover(self, size, ranks=None, runs=None, status=0):
        """The bytes that a job of `size` ranks leaves, and that one process does."""
        arguments = ["cover", self.built, *([runs] if runs else []), "--json", "sum.json", "--lcov", "sum.info"]
        done = monarc(*arguments, cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        one = [(self.dir / name).read_bytes() for name in ("sum.json", "sum.info")]
        for name in "sum.json", "sum.info":
            (self.dir / name).unlink()
        job = [self.start(rank, size, *arguments) for rank in (range(size) if ranks is None else ranks)]
        texts = []
        for process in job:
            text, error = process.communicate()
            self.assertIn(process.returncode, (0, status), error)
            texts.append(text)
        self.assertEqual([(self.dir / name).read_bytes() for name in ("sum.json", "sum.info")], one)
        self.assertEqual([text for text in texts if text], [done.stdout.decode()])  # one rank reports
        self.assertEqual(len(list(self.dir.glob("sum.*"))), 2)

    def test_cover(self):
        for size in 2, 3, 7, 4 * FILES + 3:
            with self.subTest(size=size):
                self.cover(size)

    def test_cover_when_the_first_rank_never_comes(self):
        self.cover(3, ranks=(1, 2))

    def test_cover_of_damaged_counters(self):
        """What is wrong with a file is said as one process says it."""
        shutil.copytree(self.built / "runs", self.dir / "runs")
        whole = (self.dir / "runs/3/b.gcda").read_bytes()
        (self.dir / "runs/3/b.gcda").write_bytes(whole[:40])
        self.cover(3, runs="runs", status=1)

    def test_sums_are_in_files_between_the_ranks(self):
        """Each rank reads its slice alone: the others' counters may have gone when all are put together."""
        shutil.copytree(self.built / "runs", self.dir / "runs")
        for path in self.built.glob("*.gcno"):
            shutil.copy(path, self.dir)
        arguments = ["cover", ".", "--lcov", "sum.info"]
        monarc(*arguments, cwd=self.dir)
        one = (self.dir / "sum.info").read_bytes()
        (self.dir / "sum.info").unlink()
        first = self.start(1, 2, *arguments)
        deadline = time.monotonic() + 60
        while not list(self.dir.glob("sum.info.sharing-*/part-1*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        found = next(self.dir.glob("sum.info.sharing-*/part-1*")).read_bytes()
        self.assertIn(b"main.gcno", found)
        self.end([first, self.start(0, 2, *arguments)])
        self.assertEqual((self.dir / "sum.info").read_bytes(), one)


if __name__ == "__main__":
    main()
