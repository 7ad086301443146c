"""monarc run as a rank of a parallel job, and 'monarc ranks', which compares them. Ranks are made
by a launcher of our own, which sets the variables that mpirun sets; where Open MPI is installed, by
mpirun, too."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import ROOT, check_schema, main, monarc, monarc_json, monarc_path

sys.dont_write_bytecode = True
CC = os.environ.get("CC", "gcc").split()
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
        launcher = [p["pid"] for p in info["processes"] if p["name"] == "launch"]
        self.assertFalse(set(launcher) & {r["pid"] for r in info["ranks"]})
        # Merged, and written again, they are the same.
        self.assertEqual(monarc("merge", "-o", "sum", "one", "one", cwd=self.dir).returncode, 0)
        twice = monarc_json("info", "sum", cwd=self.dir)["files"][0]["ranks"]
        self.assertEqual(twice, info["ranks"] * 2)

    def test_reports_fit_their_schema(self):
        self.as_rank(1, 2, "-o", "r", self.built / "p", "0.03")
        check_schema(self, "flat", monarc_json("flat", "r", cwd=self.dir))
        try:
            import jsonschema
        except ImportError:
            return
        schema = json.loads((ROOT / "docs/schema/info.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(monarc_json("info", "r", cwd=self.dir))


if __name__ == "__main__":
    main()
