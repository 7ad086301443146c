"""monarc run --repeat and --compare: what is run, what is kept of it, and what the reports say."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import check_schema, main, monarc, monarc_json, monarc_path
from parts import load_tests, slow
from run_file import KERNEL, PERIOD, UNPLACED, Run
from sequential import decided, figure

sys.dont_write_bytecode = True
CC = os.environ.get("CC", "gcc").split()
# Each run adds a line to the file `log`: bytes of the environment, bytes on standard input.
SOURCE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
__attribute__((noinline)) static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void step(void) { for (volatile int i = 0; i < 2000; i++); }
__attribute__((noinline)) static void spin(double until) { while (used() < until) step(); }
__attribute__((noinline)) static void counted(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    size_t bytes = 0, input = 0, runs = 1;
    char path[4096];
    for (char **e = environ; *e; e++) bytes += strlen(*e) + 1;
    while (getchar() != EOF) input++;
    FILE *log = fopen("log", "a+");
    rewind(log);
    for (int c; (c = getc(log)) != EOF;) runs += c == '\n';
    fprintf(log, "%zu %zu\n", bytes, input);
    fclose(log);
    puts("a result");
    for (int i = 0; i < 7; i++) counted();
    spin(atof(argv[1]));
    if (argc > 3 && runs == (size_t)atoi(argv[3])) {
        if (!strcmp(argv[2], "fail")) return 3;
        close(creat("hangs", 0600));
        pause();
    }
    return 0;
}
"""


class Series(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-series-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)
        (cls.built / "p.c").write_text(SOURCE)
        for name, flags in (("p", []), ("q", []), ("counting", ["-pg"])):
            subprocess.run([*CC, "-O1", "-g", *flags, cls.built / "p.c", "-o", cls.built / name],
                           check=True)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.program = self.built / "p"

    def run_it(self, *arguments, status=0, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        done = monarc("run", *arguments, cwd=self.dir, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def log(self):
        return [tuple(map(int, line.split()))
                for line in (self.dir / "log").read_text().splitlines()]

    def runs(self, folder):
        info = monarc_json("info", self.dir / folder)
        return info["files"][0]["runs"]

    def flat(self, *operands):
        table = monarc_json("flat", *operands)
        check_schema(self, "flat", table)
        return {f["name"]: f for f in table["functions"]}, table["summary"]

    @decided
    def test_mean(self):
        said = self.run_it("--repeat", "3", "--warm-up=2", self.program, "0.1").stdout.decode()
        self.assertEqual(len(self.log()), 5)
        self.assertEqual(sorted(os.listdir(self.dir / "p.monarc")), ["run-1", "run-2", "run-3"])
        self.assertIn("mean of 3 runs", said)
        self.assertRegex(said, r"\nRuns +elapsed +[0-9.]+ m?s \+- [0-9.]+")
        self.assertNotIn("a result", said)
        runs = self.runs("p.monarc")
        self.assertEqual([r["number"] for r in runs], [1, 2, 3])
        rows, summary = self.flat(self.dir / "p.monarc")
        recording = summary["recording"]
        # The program stops its work by its own CPU clock: no run has less, and none three times it.
        for r in runs:
            self.assertGreaterEqual(r["cpu_time"], 0.1)
            figure(self).assertLess(r["cpu_time"], 0.2)
        mean = sum(r["cpu_time"] for r in runs) / 3
        self.assertAlmostEqual(recording["cpu"]["mean"], mean, 9)
        self.assertAlmostEqual(recording["elapsed"]["mean"],
                               sum(r["elapsed_time"] for r in runs) / 3, 9)
        deviation = (sum((r["cpu_time"] - mean) ** 2 for r in runs) / 2) ** 0.5
        self.assertAlmostEqual(recording["cpu"]["deviation"], deviation, 9)
        # Student's t of two degrees of freedom.
        self.assertAlmostEqual(recording["cpu"]["high"] - mean, 4.30265273 * deviation / 3 ** 0.5, 6)
        spin = rows["spin"]
        self.assertAlmostEqual(spin["total_time"],
                               spin["total_samples"] / summary["samples_per_unit"], 9)
        figure(self).assertGreater(spin["total_time"], 0.08)
        figure(self).assertLess(spin["total_time"], 0.2)

    def made(self, name, reads, writes, **more):
        """A series of runs of so many milliseconds in two calls; `more` is each run's own."""
        for i, (one, other) in enumerate(zip(reads, writes)):
            (self.dir / name).mkdir(exist_ok=True)
            run = Run("./made", length=10**9, slice=10**6, user=1, system=0)
            vars(run).update(more)
            run.facts["cpu"] = (one + other) * PERIOD + sum(ns for _, _, ns, _ in run.losses)
            kernel = run.object(KERNEL)
            run.process(7 + i, 1, None, "made")
            run.thread(0, 7 + i, "made")
            for k in range(one + other):  # of each kind in turn, as far as they go
                run.sample([(kernel, 0 if k * one // (one + other) != (k + 1) * one // (one + other)
                             else 1)], slice=k // 2)
            run.parts.append((0, i + 1, 0, 0, 0, 10**9, 10**9))
            run.write(self.dir / name / f"run-{i + 1}")

    def test_losses_of_runs(self):
        """What is not placed, a hundredth of each run, may all be one function's: a hundredth of the mean run."""
        few, many = [300, 340, 290, 330], [690, 650, 700, 660]
        self.made("whole", few, many)
        self.made("lossy", few, many, losses=[(UNPLACED, 1, 10 * PERIOD, "somewhere")])
        part = 40 / (40 + sum(few) + sum(many))
        whole, lossy = self.flat(self.dir / "whole")[0], self.flat(self.dir / "lossy")[0]
        for name in "[kernel] read", "[kernel] write":
            low, high = whole[name]["self_share_low"], whole[name]["self_share_high"]
            self.assertAlmostEqual(lossy[name]["self_share_low"], low * (1 - part), 6)
            self.assertAlmostEqual(lossy[name]["self_share_high"], high * (1 - part) + part, 6)

    def test_between_runs(self):
        """Intervals are those of the runs' differences, which are known here."""
        reads, writes = [300, 340, 290, 330], [700, 650, 720, 690]
        self.made("made", reads, writes)
        rows, summary = self.flat(self.dir / "made")
        self.assertEqual(summary["samples"], sum(reads) + sum(writes))
        t = 3.182446305284263  # Student's, of 3 degrees of freedom
        for name, of in ("[kernel] read", reads), ("[kernel] write", writes):
            row = rows[name]
            mean = sum(of) / 4
            half = t * (sum((x - mean) ** 2 for x in of) / 3 / 4) ** 0.5 / 1000
            self.assertAlmostEqual(row["self_time"], mean / 1000, 9)
            self.assertAlmostEqual(row["self_time_low"], mean / 1000 - half, 6)
            self.assertAlmostEqual(row["self_time_high"], mean / 1000 + half, 6)
            totals = [a + b for a, b in zip(reads, writes)]
            share = sum(of) / sum(totals)
            error = (sum((x - share * total) ** 2 for x, total in zip(of, totals)) * 4 / 3) ** 0.5
            half = t * error / sum(totals)
            # Wilson's form of it differs a little, and less than this.
            self.assertAlmostEqual((row["self_share_high"] - row["self_share_low"]) / 2, half,
                                   delta=half / 100)
        text = monarc("flat", self.dir / "made").stdout.decode()
        self.assertIn("spread of 4 runs", text)

    @slow
    def test_one_of_the_runs(self):
        self.run_it("--repeat", "2", "--no-report", self.program, "0.05")
        rows, summary = self.flat(self.dir / "p.monarc/run-2")
        self.assertEqual(len(summary["recording"]["runs"]), 1)
        self.assertNotIn("elapsed", summary["recording"])
        self.assertIn("spin", rows)
        # The program alone finds what was recorded of it.
        self.assertEqual(monarc_json("flat", self.program, cwd=self.dir)["profiles"], ["p.monarc"])

    @slow
    def test_losses(self):
        """What several runs miss for one reason is said once, however much each of them missed."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "n.c").write_text("#include <unistd.h>\nint main(void) { for (int i = 0; i < 4000; i++) usleep(1); }\n")
            subprocess.run([*CC, "-o", "n", "n.c"], cwd=folder, check=True)
            monarc("run", "--no-report", "--repeat", "3", "-o", "n.monarc", "./n", cwd=folder)
            reasons = [loss["text"] for loss in monarc_json("info", "n.monarc", cwd=folder)["files"][0]["losses"]]
            runs = [loss for i in (1, 2, 3) for loss in
                    monarc_json("info", f"n.monarc/run-{i}", cwd=folder)["files"][0]["losses"]]
            self.assertGreater(len(runs), 0)
            self.assertEqual(len(reasons), len({re.sub("[0-9]+", "N", text) for text in reasons}), reasons)

    @slow
    def test_every_report(self):
        self.run_it("--repeat", "2", "--no-report", self.program, "0.05")
        for command in (["flat"], ["graph"], ["graph", "--tree"], ["lines"], ["annotate"],
                        ["flame", "-o", "f.svg"], ["export", "--format", "folded"], ["doctor"],
                        ["html", "-o", "p.html"], ["info"], ["flat", "--by-process"],
                        ["merge", "-o", "sum"]):
            done = monarc(*command, "p.monarc", cwd=self.dir)
            self.assertIn(done.returncode, (0, 1) if command == ["doctor"] else (0,),
                          [command, done.stderr])
        done = monarc("symbols", "p.monarc", cwd=self.dir)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for folder in b"p.monarc/run-1: ", b"p.monarc/run-2: ":
            self.assertIn(folder, done.stdout)
        rows, summary = self.flat(self.dir / "p.monarc")
        merged, of_merged = self.flat(self.dir / "sum")
        self.assertEqual(merged["spin"]["total_time"], rows["spin"]["total_time"])
        self.assertEqual(of_merged["recording"]["runs"], summary["recording"]["runs"])

    @slow
    def test_calls_of_a_run(self):
        self.run_it("--repeat", "3", "--no-report", self.built / "counting", "0.05")
        rows, _ = self.flat(self.dir / "counting.monarc")
        self.assertEqual(rows["counted"]["calls"], 7)
        self.assertEqual(rows["main"]["calls"], 1)

    @slow
    def test_standard_input(self):
        (self.dir / "input").write_bytes(b"x" * 1234)
        with open(self.dir / "input", "rb") as file:
            os.lseek(file.fileno(), 34, os.SEEK_SET)
            self.run_it("--repeat", "2", "--warm-up", "--no-report", self.program, "0", stdin=file)
        self.assertEqual([line[1] for line in self.log()], [1200] * 3)
        (self.dir / "log").unlink()
        self.run_it("--repeat", "2", "--no-report", self.program, "0", stdin=None, input=b"once")
        self.assertEqual([line[1] for line in self.log()], [0, 0])

    @slow
    def test_output(self):
        done = self.run_it("--repeat", "3", "--show-output", "--no-report", self.program, "0")
        self.assertEqual(done.stdout, b"a result\n" * 3)
        done = self.run_it("--repeat", "3", "--no-report", self.program, "0")
        self.assertEqual(done.stdout, b"")

    @slow
    def test_failure(self):
        done = self.run_it("--repeat", "5", self.program, "0", "fail", "3", status=3)
        self.assertEqual(len(self.log()), 3)
        self.assertEqual(len(self.runs("p.monarc")), 2)
        self.assertRegex(done.stderr.decode(), r"run 3 of .* ended with status 3")
        self.assertIn("p.monarc: has the 2 of 5 runs", done.stderr.decode())
        (self.dir / "log").unlink()
        self.run_it("--repeat", "5", "--ignore-failure", "--no-report", self.program, "0", "fail", "3")
        self.assertEqual([r["wait_status"] for r in self.runs("p.monarc")], [0, 0, 3 << 8, 0, 0])
        (self.dir / "log").unlink()
        # Nothing was finished: the recording before stays.
        self.run_it("--repeat", "2", self.program, "0", "fail", "1", status=3)
        self.assertEqual(len(self.runs("p.monarc")), 5)
        self.assertEqual(sorted(os.listdir(self.dir)), ["log", "p.monarc", "p.monarc.old"])
        self.run_it("--repeat", "2", "./nowhere", status=127)
        self.assertFalse((self.dir / "nowhere.monarc").exists())

    def interrupted(self, how):
        monitor = subprocess.Popen([monarc_path(), "run", "--repeat", "9", self.program, "0.02",
                                    "hang", "3"], cwd=self.dir, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self.addCleanup(monitor.kill)
        while not (self.dir / "hangs").exists() and monitor.poll() is None:
            time.sleep(0.02)
        how(monitor.pid)
        shown, said = monitor.communicate(timeout=600)
        self.assertEqual(len(self.runs("p.monarc")), 2)
        self.assertIn(b"the finished 2 of 9 runs", said)
        self.assertIn(b"mean of 2 runs", shown)
        return monitor.returncode

    @slow
    def test_interrupted_from_the_terminal(self):
        self.assertEqual(self.interrupted(lambda pid: os.killpg(pid, signal.SIGINT)),
                         128 + signal.SIGINT)

    @slow
    def test_interrupted_alone(self):
        """A signal for monarc is passed on to the program."""
        self.assertEqual(self.interrupted(lambda pid: os.kill(pid, signal.SIGTERM)),
                         128 + signal.SIGTERM)

    @slow
    def test_varied(self):
        self.run_it("--repeat", "1", "--no-report", self.program, "0")
        plain = self.log()[0][0]
        seen = []
        for _ in range(2):
            (self.dir / "log").unlink()
            self.run_it("--repeat", "6", "--vary", "--seed", "42", "--no-report", self.program, "0")
            runs = self.runs("p.monarc")
            self.assertEqual({r["seed"] for r in runs}, {42})
            seen.append([r["environment_bytes_added"] for r in runs])
            # The program says what its environment was.
            self.assertEqual([line[0] - plain for line in self.log()],
                             [n if n > len("MONARC_PADDING=") else 0 for n in seen[-1]])
        self.assertEqual(seen[0], seen[1])
        self.assertGreater(len(set(seen[0])), 3)
        text = monarc("flat", "p.monarc", cwd=self.dir).stdout.decode()
        self.assertIn("varied from run to run (seed 42)", text)

    @slow
    def test_layout_at_random(self):
        """--vary places memory at random even where monarc is told not to."""
        if not shutil.which("setarch"):
            self.skipTest("no setarch")
        source = self.dir / "where.c"
        source.write_text('#include <stdio.h>\nint main(void) { int x; FILE *f = fopen("at", "a");'
                          ' fprintf(f, "%p\\n", (void *)&x); return 0; }\n')
        subprocess.run([*CC, source, "-o", self.dir / "where"], check=True)
        for options, places in (([], 1), (["--vary"], 4)):
            (self.dir / "at").unlink(missing_ok=True)
            done = subprocess.run(["setarch", "-R", monarc_path(), "run", "--repeat", "4",
                                   "--no-report", *options, "./where"], cwd=self.dir,
                                  capture_output=True)
            if b"setarch" in done.stderr:
                self.skipTest("memory cannot be placed always alike here")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(set((self.dir / "at").read_text().split())), places)

    @slow
    def test_prepared(self):
        done = self.run_it("--repeat", "2", "--warm-up", "--prepare", "echo said; rm -f log",
                           "--no-report", self.program, "0")
        self.assertEqual(done.stdout, b"")
        self.assertEqual(len(self.log()), 1)
        done = self.run_it("--repeat", "2", "--prepare", "exit 9", self.program, "0", status=9)
        self.assertIn(b"the command of --prepare ended with status 9", done.stderr)

    @slow
    @decided
    def test_compared(self):
        done = self.run_it("--compare", f"{self.built}/p '0.02'", f"{self.built}/q 0.0\"6\"",
                           "--repeat", "4", "--seed", "7", "-o", "both")
        self.assertEqual(len(self.log()), 8)
        self.assertEqual(sorted(os.listdir(self.dir)), ["both-new.monarc", "both-old.monarc", "log"])
        old, new = self.runs("both-old.monarc"), self.runs("both-new.monarc")
        self.assertEqual((len(old), len(new)), (4, 4))
        for o, n in zip(old, new):
            figure(self).assertLess(o["cpu_time"], n["cpu_time"])
        self.assertIn(b"both-old.monarc", done.stdout)
        # The suffix of recordings belongs to none of the two names.
        self.run_it("--compare", "true", "true", "--repeat", "1", "--no-report", "-o", "named.monarc")
        self.assertEqual(sorted(p.name for p in self.dir.glob("named*")), ["named-new.monarc", "named-old.monarc"])
        # A shell only where there is work for one.
        self.run_it("--compare", f"{self.built}/p $((0)) >seen", "true", "--repeat", "1",
                    "--no-report")
        self.assertEqual((self.dir / "seen").read_text(), "a result\n")
        self.assertTrue((self.dir / "compare-old.monarc/run-1").exists())

    @slow
    def test_all_runs_are_compared(self):
        for name in "one", "two":
            self.run_it("--repeat", "3", "--no-report", "-o", name, self.program, "0.05")
        table = json.loads(monarc("diff", "--json", "one", "two", cwd=self.dir).stdout)
        check_schema(self, "diff", table)
        for side in "old", "new":
            self.assertEqual(table[side]["runs"], 3)
        elapsed = [sum(r["elapsed_time"] for r in self.runs(name)) / 3 for name in ("one", "two")]
        total = next(t for t in table["totals"] if t["name"] == "elapsed_time")
        self.assertAlmostEqual(total["old"], elapsed[0], 6)
        self.assertAlmostEqual(total["new"], elapsed[1], 6)

    @slow
    def test_replaced(self):
        """A series takes the place of a recording, and the other way round; one is kept of each."""
        self.run_it("--no-report", self.program, "0")
        self.run_it("--repeat", "2", "--no-report", self.program, "0")
        self.assertTrue((self.dir / "p.monarc.old/monarc.side").exists())
        self.run_it("--repeat", "3", "--no-report", self.program, "0")
        self.assertEqual(len(self.runs("p.monarc.old")), 2)
        self.run_it("--no-report", self.program, "0")
        self.run_it("--no-report", self.program, "0")
        self.assertTrue((self.dir / "p.monarc/monarc.side").exists())
        self.assertEqual(sorted(os.listdir(self.dir)), ["log", "p.monarc", "p.monarc.old"])

    def test_usage(self):
        for arguments in (["--repeat", "0", "true"], ["--repeat", "x", "true"],
                          ["--warm-up", "true"], ["--vary", "true"], ["--compare", "true"],
                          ["--compare", "true", "true", "true"], ["--repeat", "2", "--pid", "1"],
                          ["--compare", "echo 'open", "true"], ["--compare", "", "true"],
                          ["--repeat", "2", "--seconds", "1", "true"]):
            done = self.run_it(*arguments, status=2)
            self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 1), done.stderr)
        self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    main()
