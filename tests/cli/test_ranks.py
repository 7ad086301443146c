"""monarc run as a rank of a parallel job, and 'monarc ranks', which compares them. Ranks are made
by a launcher of our own, which sets the variables that mpirun sets; where Open MPI is installed, by
mpirun, too."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import ROOT, check_schema, check_schema_by_library, main, monarc, monarc_json, monarc_path
import seeds
import sequential
from parts import load_tests, slow
from run_file import FILE, Run

sys.dont_write_bytecode = True
CC = os.environ.get("CC", "gcc").split()
FUNCTIONS = ["main", "smooth", "log_it", "poll", "PMPI_Allreduce", "MPI_Send", "mpi_allreduce_",
             "mpi_allreduce__", "MPI_ALLREDUCE", "pmpi_allreduce_", "mpich", "MPIR_Wait", "MPI_my",
             "compute_MPI_Send"]
RANK = "OMPI_COMM_WORLD_RANK"
SOURCE = r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void step(void) { for (volatile int i = 0; i < 20000; i++); }
__attribute__((noinline)) static void smooth(double s)
{
    for (double end = used() + s; used() < end;) step();
    __asm__ volatile("");
}
int main(int argc, char **argv)
{
    smooth(atof(argv[1]));
    if (argc > 2) execvp(argv[2], argv + 2);
    return 0;
}
"""


class RunAsRank(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-ranks-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        (cls.built / "p.c").write_text(SOURCE)
        subprocess.run([*CC, "-O1", "-g", cls.built / "p.c", "-o", cls.built / "p"], check=True)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def as_rank(self, rank, size, *arguments, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "SLURM_"))}
        if rank is not None:
            env |= {RANK: str(rank), "OMPI_COMM_WORLD_SIZE": str(size),
                    "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}
        done = subprocess.run([monarc_path(), "run", *map(str, arguments)], cwd=self.dir,
                              env=env | variables, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_names_have_the_rank(self):
        for rank in range(3):
            done = self.as_rank(rank, 3, "-o", "out/deep/%r", self.built / "p", "0.03")
            self.assertEqual(done.stdout, "")  # no report a rank
            self.assertEqual("compares them" in done.stderr, rank == 0, done.stderr)
        self.assertEqual(sorted(p.name for p in (self.dir / "out/deep").iterdir()), ["0", "1", "2"])
        ranks = monarc_json("info", "out/deep/2", cwd=self.dir)["files"][0]["ranks"]
        self.assertEqual([(r["rank"], r["size"], r["local_rank"], r["launcher"], r["host"])
                          for r in ranks], [(2, 3, 2, "Open MPI", os.uname().nodename)])
        text = monarc("flat", "out/deep/2", cwd=self.dir).stdout.decode()
        self.assertIn("Ranks    rank 2 of 3 on " + os.uname().nodename, text)

    @slow
    def test_default_names_differ_by_rank(self):
        for rank in range(2):
            self.as_rank(rank, 2, self.built / "p", "0.02")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["p.0.monarc", "p.1.monarc"])

    def test_a_name_has_host_process_and_percent(self):
        self.as_rank(1, 2, "-o", "%h-%p-100%%-%r-%x", self.built / "p", "0.02")
        name, = [p.name for p in self.dir.iterdir()]
        host, rest = name[:len(os.uname().nodename)], name[len(os.uname().nodename):]
        self.assertEqual(host, os.uname().nodename)
        self.assertRegex(rest, r"^-\d+-100%-1-%x$")

    def test_without_a_rank_the_process_stands_for_it(self):
        done = self.as_rank(None, None, "--no-report", "-o", "out/%r", self.built / "p", "0.02")
        self.assertIn("no launcher's variable", done.stderr)
        name, = [p.name for p in (self.dir / "out").iterdir()]
        self.assertRegex(name, r"^pid-\d+$")

    def test_alone_in_its_job_it_reports(self):
        done = self.as_rank(0, 1, self.built / "p", "0.03")
        self.assertIn("step", done.stderr)
        self.assertTrue((self.dir / "p.monarc").is_dir())

    def test_what_a_launcher_kills(self):
        """The group of processes at once, our first process alone, or that by a signal that it passes on:
        the program ends, and its recording is complete."""
        for kill, expected in ((lambda p: os.killpg(p.pid, signal.SIGKILL), signal.SIGKILL),
                               (lambda p: p.kill(), signal.SIGTERM), (lambda p: p.terminate(), signal.SIGTERM)):
            with self.subTest(expected=expected):
                name = self.dir / f"{len(list(self.dir.iterdir()))}.rec"
                env = {**os.environ, RANK: "1", "OMPI_COMM_WORLD_SIZE": "2"}
                read, write = os.pipe()
                job = subprocess.Popen([monarc_path(), "run", "-o", name, "sh", "-c",
                                        f"echo ready >&{write}; exec {self.built}/p 1000"],
                                       env=env, start_new_session=True, pass_fds=[write])
                os.close(write)
                self.assertEqual(os.read(read, 6), b"ready\n")
                kill(job)
                status = job.wait()
                self.assertIn(status, (-signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM))
                self.assertEqual(os.read(read, 1), b"")  # nobody is left who would write
                os.close(read)
                deadline = time.monotonic() + 120
                while not name.exists() and time.monotonic() < deadline:
                    time.sleep(0.01)
                info = monarc_json("info", name)["files"][0]
                self.assertEqual(info["ranks"][0]["rank"], 1)
                # Of the shell before its exec no end is known, if it is there at all.
                self.assertEqual([p["wait_status"] for p in info["processes"] if p["wait_status"] is not None], [expected],
                                 info["processes"])

    @slow
    def test_ranks_of_one_recording_stay_apart(self):
        """A launcher of three ranks, each of which executes another program: it is of the rank,
        too. The launcher itself is none."""
        (self.dir / "launch").write_text(
            "#!/bin/sh\nfor i in 0 1 2; do OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=3 "
            f"{self.built}/p 0.05 {self.built}/p 0.05 & done; wait\n")
        (self.dir / "launch").chmod(0o755)
        self.as_rank(None, None, "--no-report", "-o", "one", "./launch")
        info = monarc_json("info", "one", cwd=self.dir)["files"][0]
        self.assertEqual(sorted({r["rank"] for r in info["ranks"]}), [0, 1, 2])
        launcher = info["processes"][0]
        self.assertEqual(launcher["name"], "launch")
        self.assertNotIn(launcher["pid"], {r["pid"] for r in info["ranks"]})
        # Merged, and written again, they are the same, each once.
        self.assertEqual(monarc("merge", "-o", "sum", "one", "one", cwd=self.dir).returncode, 0)
        self.assertEqual(monarc_json("info", "sum", cwd=self.dir)["files"][0]["ranks"], info["ranks"])

    def test_reports_fit_their_schema(self):
        self.as_rank(1, 2, "-o", "r", self.built / "p", "0.03")
        check_schema(self, "flat", monarc_json("flat", "r", cwd=self.dir))
        check_schema_by_library("info", monarc_json("info", "r", cwd=self.dir))


class Compare(unittest.TestCase):
    """Recordings whose samples are laid down here, so that every figure is known."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def rank(self, rank, size, *times, host="n0", start=0, status=0, name=None, end=10**9):
        """`times`: (function, samples of 1 ms); of a tuple of functions the last one is innermost."""
        run = Run("job", start=1790000000 * 10**9 + start)
        program = run.object(FILE, "/bin/job", b"\7" * 20, bits=4)
        names = sorted({f for frames, _ in times for f in ([frames] if isinstance(frames, str) else frames)})
        for i, function in enumerate(FUNCTIONS):
            run.symbols.append((program, 4096 * (i + 1), 4096, function))
        assert set(names) <= set(FUNCTIONS)
        run.process(100 + rank, 1, program, "job", status=status, end=end)
        run.thread(0, 100 + rank, "job")
        for frames, samples in times:
            frames = [frames] if isinstance(frames, str) else frames
            if samples:
                run.sample([(program, 4096 * (FUNCTIONS.index(f) + 1) + 16) for f in frames], samples)
        if rank is not None and size:
            run.ranks = [(0, rank, size, rank % 4, "Open MPI", host)]
        return run.write(self.dir / (name or str(rank))).name

    def ranks(self, *arguments):
        document = monarc_json("ranks", *arguments, cwd=self.dir)
        check_schema(self, "ranks", document)
        return document

    def text(self, *arguments, status=0):
        done = monarc("ranks", *arguments, cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def job(self, size=8, slow=5, **more):
        return [self.rank(r, size, ("smooth", 900 if r == slow else 300),
                          (("main", "PMPI_Allreduce", "poll"), 0 if r == slow else 600),
                          ("log_it", 100 if r == 0 else 0), host=f"n{r // 4}", **more)
                for r in range(size)]

    def test_figures(self):
        names = self.job()
        found = self.ranks(*names)
        rows = {r["name"]: r for r in found["rows"]}
        smooth, call = rows["smooth"], rows["MPI_Allreduce"]
        self.assertAlmostEqual(smooth["mean_time"], (7 * 0.3 + 0.9) / 8, 6)
        self.assertAlmostEqual(smooth["max_time"], 0.9, 6)
        self.assertAlmostEqual(smooth["cost_time"], 0.9 - 3.0 / 8, 6)
        self.assertAlmostEqual(smooth["median_time"], 0.3, 6)
        self.assertAlmostEqual(smooth["deviation_time"], 0.6 / 8**0.5, 6)
        self.assertEqual((smooth["max_rank"], smooth["ranks"], smooth["is_partial"]), (5, 8, False))
        self.assertEqual((call["kind"], call["min_rank"], call["min_time"], call["ranks"]),
                         ("mpi", 5, 0, 7))
        self.assertNotIn("poll", rows)  # it runs in a call of MPI
        self.assertTrue(rows["log_it"]["is_partial"])
        self.assertEqual(rows["log_it"]["ranks"], 1)
        useful = (7 * 0.3 + 0.9 + 0.1) / 8
        self.assertAlmostEqual(found["efficiency"]["load_balance"], useful / 0.9, 6)
        self.assertAlmostEqual(found["efficiency"]["communication"], 0.9, 6)
        self.assertAlmostEqual(found["efficiency"]["parallel"], useful, 6)
        self.assertEqual((found["ranks_measured"], found["job_size"], found["machines"]), (8, 8, 2))

    def test_the_slow_rank_stands_out(self):
        found = self.ranks(*self.job())
        self.assertEqual({(o["rank"], o["name"]) for o in found["outliers"]} - {(0, "log_it")},
                         {(5, "smooth"), (5, "MPI_Allreduce"), (5, "[outside of MPI]")})
        self.assertEqual([g["ranks"] for g in found["groups"]], [[1, 2, 3, 4, 6, 7], [0], [5]])
        text = self.text(*map(str, range(8)))
        self.assertIn("Imbalance  0.512 s: rank 5 on n1 works 0.900 s outside of MPI", text)
        self.assertRegex(text, r"5 +0\.000 +0\.600 +-0\.600  MPI_Allreduce  \(the others wait longer\)")
        self.assertIn("log_it  (not on all ranks)", text)

    @slow
    def test_noise_is_no_outlier(self):
        """64 ranks whose samples scatter as Poisson's law has it: hardly one stands out."""
        draw = seeds.generator("noise is no outlier")
        sequential.measure("noise is no outlier", lambda: self.noise_is_no_outlier(draw))

    def noise_is_no_outlier(self, draw):
        false = 0
        for _ in range(6):
            names = [self.rank(r, 64, ("smooth", max(0, round(draw.gauss(300, 300**0.5)))),
                               ("log_it", max(0, round(draw.gauss(30, 30**0.5)))))
                     for r in range(64)]
            found = self.ranks(*names)
            false += len(found["outliers"])
            self.assertEqual(len(found["groups"]), 1)
        with sequential.scattering():
            self.assertLessEqual(false, 1)

    def test_total_times(self):
        self.rank(0, 2, (("main", "smooth", "smooth"), 100), (("main", "MPI_Send", "poll"), 50))
        self.rank(1, 2, (("main", "smooth"), 100))
        rows = {r["name"]: r for r in self.ranks("--by", "total", "0", "1")["rows"]}
        self.assertAlmostEqual(rows["main"]["max_time"], 0.15, 6)
        self.assertAlmostEqual(rows["smooth"]["max_time"], 0.1, 6)  # recursion counts once
        self.assertNotIn("poll", rows)

    def test_fortran_and_profiling_names(self):
        """One call by each of its names; what only looks like one is a function."""
        self.rank(0, 1, *((f, 10) for f in ("mpi_allreduce_", "mpi_allreduce__", "MPI_ALLREDUCE",
                                            "PMPI_Allreduce", "pmpi_allreduce_", "mpich", "MPIR_Wait",
                                            "MPI_my", "compute_MPI_Send")))
        rows = {r["name"]: r["kind"] for r in self.ranks("0")["rows"][1:]}
        self.assertEqual({n for n, k in rows.items() if k == "mpi"}, {"MPI_Allreduce"})
        self.assertEqual({n for n, k in rows.items() if k == "function"},
                         {"mpich", "MPIR_Wait", "MPI_my", "compute_MPI_Send"})

    def test_libraries_of_mpi(self):
        """Whose call is not known, because the stack ends there; what is known goes to the call."""
        run = Run("job")
        program = run.object(FILE, "/bin/job", b"\7" * 20, bits=4)
        library = run.object(FILE, "/usr/lib/libopen-pal.so.40", bits=4)
        other = run.object(FILE, "/usr/lib/libmpeg.so", bits=4)
        run.symbols = [(program, 4096, 4096, "main"), (program, 8192, 4096, "MPI_Barrier"),
                       (library, 4096, 4096, "opal_progress"), (other, 4096, 4096, "decode")]
        run.process(100, 1, program, "job")
        run.thread(0, 100, "job")
        run.sample([(program, 4100), (program, 8200), (library, 4100)], 10)
        run.sample([(program, 4100), (library, 4100)], 20)
        run.sample([(library, 4200)], 5)
        run.sample([(other, 4200)], 7)
        run.ranks = [(0, 0, 1, 0, "Open MPI", "n0")]
        run.write(self.dir / "0")
        rows = {r["name"]: (r["kind"], round(r["max_time"], 3)) for r in self.ranks("0")["rows"][1:]}
        self.assertEqual(rows, {"MPI_Barrier": ("mpi", 0.01), "[MPI's libraries]": ("mpi", 0.025),
                                "decode": ("function", 0.007)})

    def test_ends_that_are_not_known(self):
        """A killed rank that was recovered: of the job no runtime is known, and no efficiency."""
        self.rank(0, 2, ("smooth", 300))
        run = Run("job", start=1790000000 * 10**9, length=0)
        run.process(101, 1, run.object(FILE, "/bin/job", b"\7" * 20, bits=4), "job", end=0)
        run.thread(0, 101, "job")
        run.sample([(0, 4096)], 200)
        run.ranks = [(0, 1, 2, 1, "Open MPI", "n0")]
        run.write(self.dir / "1")
        self.assertIsNone(self.ranks("0", "1")["efficiency"]["parallel"])
        self.assertNotIn("POP", self.text("0", "1"))

    def test_ranks_that_are_not_finished(self):
        """One command completes all of a job, so one is named, whatever reads the job."""
        (self.dir / "job").mkdir()
        self.rank(0, 3, ("smooth", 300), name="job/rank.0")
        for number, left in (1, "rank of 2"), (2, "ranks of 3"):
            (self.dir / f"job/rank.{number}").mkdir()
            (self.dir / f"job/rank.{number}/monarc.live").touch()
            for command in "ranks", "flat":
                done = monarc(command, "job", cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertRegex(done.stderr.decode(), rf"^monarc: job: holds {number} unfinished {left}: .*; then "
                                                       r"'monarc recover job' completes (it|them)\n$")

    def test_one_rank_against_another(self):
        names = self.job()
        for other, smooth in (("median", 0.3), ("3", 0.3)):
            found = self.ranks("--rank", "5", "--against", other, *names)["differences"]
            by = {d["name"]: d for d in found}
            self.assertAlmostEqual(by["smooth"]["time"], 0.9, 6)
            self.assertAlmostEqual(by["smooth"]["other_time"], smooth, 6)
            self.assertTrue(by["smooth"]["is_real"])
        self.assertRegex(self.text("--rank", "5", *names), r"0\.900 +0\.300 +\+0\.600 \*smooth")
        done = monarc("ranks", "--rank", "99", *names, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"monarc: rank 99 is in none of the recordings\n"))

    def test_what_happened(self):
        """Failed ranks by time, one that starts late, one that is missing, what cannot be read."""
        for r in range(8):
            self.rank(r, 9, ("smooth", 100), start=3 * 10**8 if r == 2 else 0,
                      status={6: 9, 1: 15}.get(r, 0), end=5 * 10**8 if r == 6 else 10**9)
        (self.dir / "8.new-x").mkdir()
        done = monarc("ranks", *map(str, range(8)), "8.new-x", cwd=self.dir)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"8.new-x: is a folder without a recording", done.stderr)
        self.assertRegex(text, r"Rank 6 +failed first, by SIGKILL, 0\.5 s after its start on n0|"
                               r"Rank 6 +failed first, by SIGKILL, 0\.5 s after its start")
        self.assertRegex(text, r"Rank 1 +failed, by SIGTERM")
        self.assertRegex(text, r"Rank 2 +started 0\.30 s after the others")
        self.assertIn("Missing    1 of 9 ranks are in no recording: 8", text)

    def test_what_is_missing_of_a_large_job(self):
        """A thousand are listed; the rest is told, not left to be guessed."""
        text = self.text(self.rank(3, 5000, ("smooth", 100)))
        self.assertIn("Missing    4999 of 5000 ranks are in no recording: 0-2, 4-1000 and 3999 more\n", text)
        text = self.text(*(self.rank(r, 5000, ("smooth", 100)) for r in range(0, 40, 2)))
        self.assertIn("1, 3, 5, 7, 9, 11, 13, 15 and 4972 more\n", text)

    def test_equal_ranks_have_no_imbalance(self):
        """Values are kept in four bytes, and sums in eight: the difference is none."""
        names = [self.rank(r, 2, ("smooth", 10), ("log_it", 7)) for r in range(2)]
        self.assertTrue(all(row["cost_time"] >= 0 for row in self.ranks(*names)["rows"]))
        self.assertNotIn("-0.000", self.text(*names))

    def test_a_launcher_may_be_called_anything(self):
        run = Run("job")
        run.process(100, 1, run.object(FILE, "/bin/job", bits=4), "job")
        run.thread(0, 100, "job")
        run.sample([(0, 4096)], 10)
        run.ranks = [(0, 0, 2, 0, "\x1b[31m\nmpirun", "n0")]
        done = monarc("flat", "--force", run.write(self.dir / "r").name, cwd=self.dir)
        self.assertIn("rank 0 of 2 on n0 (?[31m?mpirun)\n", done.stdout.decode())

    def test_without_ranks_recordings_are_numbered(self):
        a = self.rank(0, 0, ("smooth", 100), name="a")
        b = self.rank(1, 0, ("smooth", 200), name="b")
        found = self.ranks(a, b)
        self.assertEqual([(r["rank"], r["recording"]) for r in found["ranks"]], [(0, "a"), (1, "b")])

    def test_two_jobs_are_refused(self):
        self.rank(3, 4, ("smooth", 100), name="a")
        self.rank(3, 4, ("smooth", 100), name="b")
        done = monarc("ranks", "a", "b", cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"monarc: b: rank 3 is in a already: name the recordings of one job\n"))

    def built(self, rank, id, at, *, programs=("job",), **functions):
        """A rank of objects /PLACE/NAME, of which each has the functions at `at`, and so on: samples by name."""
        run = Run("job", start=1790000000 * 10**9)
        run.process(100 + rank, 1, 0, "job")
        run.thread(0, 100 + rank, "job")
        for i, name in enumerate(programs):
            one = run.object(FILE, f"/{i}/{name}", bytes([id + i]) * 20, bits=4)
            for k, (function, samples) in enumerate(functions.items()):
                run.symbols.append((one, at + 4096 * k, 4096, function.strip("_")))
                run.sample([(one, at + 4096 * k + 16)], samples[i] if isinstance(samples, tuple) else samples)
        run.ranks = [(0, rank, 2, rank, "Open MPI", "n0")]
        return run.write(self.dir / str(rank)).name

    def rows(self, *names):
        found = [[r["name"], r.get("object"), round(r["min_time"], 6), round(r["max_time"], 6)]
                 for r in self.ranks("--limit", "0", *names)["rows"] if r["kind"] == "function"]
        return sorted(found, key=str)

    def test_functions_of_other_builds_and_of_one_name(self):
        """A function is one row whatever build a rank runs; two of one name are two, in one object and in two."""
        two = self.built(0, 7, 4096, work=10, work_=20, step=5), self.built(1, 9, 8192, work=10, work_=20, step=6)
        self.assertEqual(self.rows(*two), [["step", None, .005, .006], ["work", None, .01, .01], ["work", None, .02, .02]])
        both = [self.built(rank, 7, 4096, programs=("job", "same.so", "same.so"), work=(1, 20, 30 + rank)) for rank in range(2)]
        self.assertEqual(self.rows(*both), [["work", "same.so", .02, .02], ["work", "same.so", .03, .031], ["work", None, .001, .001]])

    def test_programs_of_a_job_have_functions_of_their_own(self):
        ranks = self.built(0, 7, 4096, programs=("ocean",), main=10), self.built(1, 8, 4096, programs=("ice",), main=20)
        for names in ranks, ranks[::-1]:
            self.assertEqual(self.rows(*names), [["main", "ice", 0, .02], ["main", "ocean", 0, .01]])

    def test_csv_has_a_row_a_region(self):
        lines = self.text("--csv", *self.job()).splitlines()
        self.assertTrue(lines[0].startswith("kind,name,object,ranks,cost_time,mean_time,"))
        self.assertEqual(len(lines), 5)


class Stencil:
    """A stencil under mpirun, with one slow rank and one that starts its work late; and one in which
    a rank dies: named each time."""

    library = None
    flags = ()

    @classmethod
    def setUpClass(cls):
        if not shutil.which(f"mpirun.{cls.library}") or not shutil.which(f"mpicc.{cls.library}"):
            raise unittest.SkipTest(f"{cls.library} is not installed")
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-stencil-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        done = subprocess.run([f"mpicc.{cls.library}", "-O1", "-g", ROOT / "tests/cli/stencil.c", "-o",
                               cls.built / "stencil"], capture_output=True)
        if done.returncode:
            raise unittest.SkipTest("mpicc compiles no program here")

    def mpirun(self, *command, ranks=6):
        return [f"mpirun.{self.library}", *self.flags, "-n", str(ranks), *map(str, command)]

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def check_slow_and_late(self, *recordings, ranks=6):
        found = monarc_json("ranks", *recordings, cwd=self.dir)
        self.assertEqual(found["ranks_measured"], ranks)
        useful = {r["rank"]: r["useful_time"] for r in found["ranks"]}
        others = [useful[r] for r in range(ranks) if r not in (2, 3)]
        figure = sequential.figure(self)  # on a busy machine the others may differ as much
        figure.assertGreater(useful[2] / (sum(others) / len(others)), 2)  # three times as much work a step
        figure.assertEqual(found["rows"][0]["max_rank"], 2)
        outliers = {o["rank"] for o in found["outliers"] if o["name"] == "[outside of MPI]"}
        figure.assertTrue(outliers & {2, 3}, found["outliers"])
        self.assertTrue({r["name"] for r in found["rows"] if r["kind"] == "mpi"} &
                        {"MPI_Sendrecv", "MPI_Allreduce"})
        return found

    @slow
    @sequential.decided
    def test_one_recording_of_all(self):
        done = monarc("run", "--no-report", "-o", "all", *self.mpirun(self.built / "stencil", 2, 3, -1, ranks=6),
                      cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_slow_and_late("all", ranks=6)

    @slow
    @sequential.decided
    def test_a_recording_of_each_rank(self):
        done = subprocess.run(self.mpirun(monarc_path(), "run", "-o", "out/%r", self.built / "stencil",
                                          2, 3, -1, ranks=6), cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [f"out/{r}" for r in range(6)]
        apart = self.check_slow_and_late(*names, ranks=6)
        # Merged, the job is the same: times, runtime and efficiencies.
        self.assertEqual(monarc("merge", "-o", "all", *names, cwd=self.dir).returncode, 0)
        merged = self.check_slow_and_late("all", ranks=6)
        times = [{r["name"]: round(r["max_time"], 6) for r in found["rows"]
                  if r["name"] == "spin" or r["kind"] == "mpi"} for found in (apart, merged)]
        self.assertEqual(*times)
        for name, value in apart["efficiency"].items():
            self.assertAlmostEqual(merged["efficiency"][name], value, 6)

    @slow
    def test_recordings_of_each_rank_when_one_dies(self):
        """The launcher kills the other ranks. Recordings are complete, some perhaps after it has ended."""
        done = subprocess.run(self.mpirun(monarc_path(), "run", "-o", "out/%r", self.built / "stencil",
                                          -1, -1, 4, ranks=6), cwd=self.dir, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        deadline = time.monotonic() + 120
        while list(self.dir.glob("out/*.new-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        found = monarc_json("ranks", *[f"out/{r}" for r in range(6)], cwd=self.dir)
        self.assertEqual(found["ranks_measured"], 6)
        ended = {r["rank"]: r["end_ns"] for r in found["ranks"]}
        self.assertEqual(min(ended, key=ended.get), 4)
        self.assertTrue(all(r["useful_time"] > 0 for r in found["ranks"]), found["ranks"])

    @slow
    def test_a_rank_that_dies(self):
        monarc("run", "--no-report", "-o", "all", *self.mpirun(self.built / "stencil", -1, -1, 4, ranks=6),
               cwd=self.dir)
        found = monarc_json("ranks", "all", cwd=self.dir)
        ended = {r["rank"]: r["end_ns"] for r in found["ranks"]}
        self.assertEqual(min(ended, key=ended.get), 4)

    @slow
    @sequential.decided
    def test_sixteen_ranks(self):
        """More ranks than CPUs: the slow one and the late one have most work, and nothing is lost between two reports."""
        done = monarc("run", "--no-report", "-o", "all", *self.mpirun(self.built / "stencil", 5, 9, -1, ranks=16), cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = monarc_json("ranks", "all", cwd=self.dir)
        self.assertEqual(found["ranks_measured"], 16)
        by_work = sorted(found["ranks"], key=lambda r: -r["useful_time"])
        figure = sequential.figure(self)
        figure.assertEqual([r["rank"] for r in by_work[:2]], [5, 9])  # three times and twice the work of the others
        figure.assertEqual(found["rows"][0]["max_rank"], 5)
        figure.assertIn(5, {o["rank"] for o in found["outliers"]})  # nine is one only where others differ less
        # What ranks have adds up to what the whole recording has, and calls of MPI to the time in MPI.
        flat = monarc_json("flat", "all", cwd=self.dir)
        total = sum(r["total_time"] for r in found["ranks"]) + found["outside_time"]
        self.assertAlmostEqual(total, flat["summary"]["recording"]["accounted_time"], 6)
        spin = next(r for r in found["rows"] if r["name"] == "spin")
        self.assertEqual(spin["ranks"], 16)
        self.assertAlmostEqual(16 * spin["mean_time"], next(f for f in flat["functions"] if f["name"] == "spin")["self_time"], 6)
        calls = {r["name"]: 16 * r["mean_time"] for r in found["rows"] if r["kind"] == "mpi"}
        self.assertAlmostEqual(sum(calls.values()), sum(r["mpi_time"] for r in found["ranks"]), 6)
        self.assertTrue(calls.keys() & {"MPI_Sendrecv", "MPI_Allreduce"}, calls)

    @slow
    def test_one_of_sixteen_ranks_dies(self):
        monarc("run", "--no-report", "-o", "all", *self.mpirun(self.built / "stencil", -1, -1, 7, ranks=16), cwd=self.dir)
        found = monarc_json("ranks", "all", cwd=self.dir)
        self.assertEqual(found["ranks_measured"], 16)
        self.assertEqual(min(found["ranks"], key=lambda r: r["end_ns"])["rank"], 7)


class StencilOpenMpi(Stencil, unittest.TestCase):
    library = "openmpi"
    flags = ("--oversubscribe", "--allow-run-as-root")


class StencilMpich(Stencil, unittest.TestCase):
    library = "mpich"

    @slow
    def test_a_rank_that_dies(self):
        super().test_a_rank_that_dies()


if __name__ == "__main__":
    main()
