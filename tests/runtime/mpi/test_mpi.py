"""libmonarc_mpi: the recordings of a job's ranks become one in MPI_Finalize, which is what a merge of
their folders gives, to the byte, under each MPI library that it was built for. Calls are known by
construction, so that nothing may be lost or counted twice, whatever dies."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))  # parts.py
from parts import load_tests, slow  # noqa: E402,F401

MONARC = os.environ["MONARC"]
RECORDER = os.environ["MONARC_RT_SO"]
RANKS = 3  # ranks that wait for others keep a processor busy
SOME_RANKS = 5  # no power of two, of which halves are no halves
MANY_RANKS = 16


def job_calls(ranks=RANKS):
    calls = {"even": sum(1000 + r for r in range(0, ranks, 2)), "odd": sum(1000 + r for r in range(1, ranks, 2)),
             "third": sum(10 * r for r in range(0, ranks, 3))}
    return {name: n for name, n in calls.items() if n}.items()


def monarc(*arguments, status=0, **more):
    done = subprocess.run([MONARC, *map(str, arguments)], capture_output=True, text=True, **more)
    assert done.returncode == status, done.stderr
    return done.stdout


def calls_of(*recordings, **more):
    """Calls of each function."""
    found = json.loads(monarc("flat", "--json", "--limit", "0", *recordings, **more))
    return {row["name"]: row["calls"] for row in found["functions"] if row.get("calls")}


class Job:
    """One MPI library; its classes are made below."""

    library = name = ranks = None

    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-mpi-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        cls.compile("mpicc", HERE / "job.c", "job")

    @classmethod
    def compile(cls, compiler, source, name):
        tool = shutil.which(f"{compiler}.{cls.name}") or shutil.which(compiler)
        if not tool:
            raise unittest.SkipTest(f"no {compiler} of {cls.name}")
        done = subprocess.run([tool, "-g", "-O1", "-pg", source, "-o", cls.built / name],
                              capture_output=True, text=True)
        if done.returncode:
            raise unittest.SkipTest(f"{compiler} compiles no program here: {done.stderr}")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def run_job(self, *program, ranks=RANKS, status=0, **environment):
        launcher = shutil.which(f"mpirun.{self.name}") or shutil.which("mpirun")
        flags = ["--oversubscribe", "--allow-run-as-root"] if self.name == "openmpi" else []
        variables = {"MONARC_OUT": "out", "LD_PRELOAD": f"{RECORDER}:{self.library}", **environment}
        command = [launcher, *flags, "-n", str(ranks), "env",
                   *(f"{key}={value}" for key, value in variables.items()), *map(str, program)]
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True)
        if not status:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def folders(self):
        found = [p.name for p in (self.dir / "out").iterdir() if p.name.startswith("rank.")]
        return [f"out/{name}" for name in sorted(found, key=lambda n: int(n.split(".")[1]))]

    def check_law(self, ranks):
        self.assertEqual(len(self.folders()), ranks)
        monarc("merge", "-o", "all", *self.folders(), cwd=self.dir)
        self.assertEqual((self.dir / "all/monarc.side").read_bytes(),
                         (self.dir / "out/monarc.side").read_bytes())

    @slow
    def test_reduced_is_merged(self):
        self.reduce_and_merge(self.ranks)

    @slow
    def test_many_reduced_are_merged(self):
        self.reduce_and_merge(MANY_RANKS)

    def reduce_and_merge(self, ranks):
        self.run_job(self.built / "job", ranks=ranks, MONARC_MPI="keep")
        self.check_law(ranks)
        self.assertLessEqual(job_calls(ranks), calls_of("all", cwd=self.dir).items())
        # In halves, and these in the other order of arguments: of a sum that is a matter of rows.
        monarc("merge", "-o", "low", *self.folders()[:ranks // 2], cwd=self.dir)
        monarc("merge", "-o", "high", *self.folders()[ranks // 2:], cwd=self.dir)
        monarc("merge", "-o", "both", "low", "high", cwd=self.dir)
        self.assertEqual((self.dir / "all/monarc.side").read_bytes(),
                         (self.dir / "both/monarc.side").read_bytes())
        # The sum and its parts beside it are not twice as much.
        self.assertLessEqual(job_calls(ranks), calls_of("out", cwd=self.dir).items())
        found = json.loads(monarc("ranks", "--json", "out", cwd=self.dir))
        self.assertEqual([r["rank"] for r in found["ranks"]], list(range(ranks)))

    def test_one_file_is_left(self):
        self.run_job(self.built / "job")
        self.assertEqual([p.name for p in (self.dir / "out").iterdir()], ["monarc.side"])
        self.assertLessEqual(job_calls(), calls_of("out", cwd=self.dir).items())

    def test_one_rank(self):
        self.any_number_of_ranks(1)

    @slow
    def test_any_number_of_ranks(self):
        self.any_number_of_ranks(3, 6, 7)

    def any_number_of_ranks(self, *numbers):
        for ranks in numbers:
            self.run_job(self.built / "job", ranks=ranks, MONARC_MPI="keep")
            self.check_law(ranks)
            shutil.rmtree(self.dir / "out")
            shutil.rmtree(self.dir / "all")

    @slow
    def test_a_rank_dies(self):
        self.lose_a_rank(RANKS, 2)

    @slow
    def test_one_of_many_ranks_dies(self):
        self.lose_a_rank(MANY_RANKS, 5)

    def lose_a_rank(self, ranks, lost):
        self.run_job(self.built / "job", lost, ranks=ranks, status=1)
        self.assertFalse((self.dir / "out/monarc.side").exists())
        self.assertEqual(len(self.folders()), ranks)
        unread = subprocess.run([MONARC, "flat", "out"], cwd=self.dir, capture_output=True, text=True)
        self.assertIn("monarc recover", unread.stderr)
        monarc("recover", "out", cwd=self.dir)
        self.assertLessEqual(job_calls(ranks), calls_of("out", cwd=self.dir).items())
        found = json.loads(monarc("ranks", "--json", "out", cwd=self.dir))
        self.assertEqual([r["rank"] for r in found["ranks"]], list(range(ranks)))

    @slow
    def test_another_job_in_the_folder_stays(self):
        self.run_job(self.built / "job", ranks=2)
        first = (self.dir / "out/monarc.side").read_bytes()
        done = self.run_job(self.built / "job", ranks=2)
        self.assertIn("another job's recording is there already", done.stderr)
        self.assertEqual((self.dir / "out/monarc.side").read_bytes(), first)
        self.assertEqual(self.folders(), ["out/rank.0", "out/rank.1"])

    def test_a_program_without_mpi(self):
        subprocess.run(["sh", "-c", "true"], check=True,
                       env={**os.environ, "LD_PRELOAD": f"{RECORDER}:{self.library}", "MONARC_OUT":
                            str(self.dir / "out")})

    @slow
    def test_fortran(self):
        self.fortran(("mpi", "mpi_finalize(e)"), ranks=2)

    @slow
    def test_modern_fortran(self):
        self.fortran(("mpi", "mpi_finalize(e)"), ("mpi_f08", "MPI_Finalize()"), ranks=5)

    def fortran(self, *modules, ranks):
        for module, finalize in modules:
            text = (HERE / "job.f90").read_text().replace("MODULE", module).replace("FINALIZE", finalize)
            (self.built / "job.f90").write_text(text)
            self.compile("mpifort", self.built / "job.f90", "fortran")
            self.run_job(self.built / "fortran", ranks=ranks, MONARC_MPI="keep")
            self.check_law(ranks)
            calls = calls_of("out", cwd=self.dir)
            self.assertEqual(calls.get("work_", calls.get("work")), sum(100 + r for r in range(ranks)))
            shutil.rmtree(self.dir / "out")
            shutil.rmtree(self.dir / "all")


for number, path in enumerate(filter(None, os.environ["MONARC_MPI_SO"].split(":"))):
    name = Path(path).name.removeprefix("libmonarc_mpi_").split(".")[0]
    title = {"openmpi": "OpenMpi", "mpich": "Mpich"}.get(name, "Mpi")
    made = type(title, (Job, unittest.TestCase),
                {"library": path, "name": name, "ranks": RANKS if number else SOME_RANKS})
    globals()[title] = slow(made) if number else made  # every further library


if __name__ == "__main__":
    unittest.main()
