"""monarc run: what a user does with it, and what it leaves. Whether its figures are true is the
business of tests/truth."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from harness import ROOT, check_schema, cpu_seconds, is_running, main, monarc, monarc_json, monarc_path, wait_for
from parts import load_tests, slow
from sequential import decided, figure

sys.dont_write_bytecode = True
PROGRAMS = ROOT / "tests/runtime/profile/programs"
FLAGS = ("-O2", "-g", "-pg", "-fno-inline", "-fno-optimize-sibling-calls", "-pthread")
CC = os.environ.get("CC", "gcc").split()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = Path(tempfile.mkdtemp(prefix="monarc-run-"))
        cls.addClassCleanup(shutil.rmtree, cls.built)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def build(self, source, *flags, name=None, text=None):
        out = self.built / (name or source.split(".")[0])
        path = PROGRAMS / source
        if text:
            path = self.built / source
            path.write_text(text)
        if not out.exists():
            subprocess.run([*CC, "-I", ROOT / "include", "-I", PROGRAMS, path, "-o", out,
                            *(flags or FLAGS)], check=True)
        return out

    def run_it(self, *arguments, status=0, **more):
        done = monarc("run", *arguments, cwd=self.dir, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def record(self, program, *arguments, options=(), **more):
        self.run_it("--no-report", "-o", "r", *options, "--", program, *arguments, **more)
        return self.dir / "r"

    def flat(self, folder, *options):
        table = monarc_json("flat", *options, folder)
        check_schema(self, "flat", table)
        return {f["name"]: f for f in table["functions"]}, table["summary"]


OLD_NAMES = shutil.which("gcc") and int(subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True,
                                                       check=True).stdout.split(".")[0]) < 11


class Coverage(Case):
    """A program that counts its own lines: its counts stay, or it is said why they do not."""

    def program(self, name, ending, *flags):
        text = f"#include <unistd.h>\nint main(void) {{ {ending} }}\n"
        return self.build(name + ".c", "--coverage", *flags, text=text)

    def said(self, program, **more):
        for file in self.built.glob("*.gcda"):
            file.unlink()
        return self.run_it("--no-report", "-o", "r", program, **more).stderr.decode()

    @slow
    @unittest.skipIf(OLD_NAMES, "gcc before 11 calls counter files by the source, in the folder of the compiler")
    def test_kept(self):
        program = self.program("returns", "return 0;")
        self.assertNotIn("counter files", self.said(program))
        self.assertEqual(len(list(self.built.glob("*.gcda"))), 1)
        program = self.program("leaves", "_exit(0);")
        said = self.said(program)
        self.assertIn("1 of 1 counter files were not written", said)
        self.assertIn("-lmonarc_cover", said)

    @slow
    @unittest.skipIf(OLD_NAMES, "gcc before 11 calls counter files by the source, in the folder of the compiler")
    def test_constants_in_front_of_the_name(self):
        """A number's bytes may stand there, and be printable or no text at all."""
        for i, number in enumerate((r"\xf0?", "ab/c", r"/\xf0?")):
            name = f"number{i}"
            path = self.built / f"prog{i}-{name}.gcda" # as gcc calls it
            text = f'__attribute__((used)) static const char fake[] = "{number}" "{path}";\nint main(void) {{ return 0; }}\n'
            program = self.build(f"{name}.c", "--coverage", text=text, name=f"prog{i}")
            self.assertNotIn("counter files", self.said(program), number)
            self.assertTrue(path.exists())

    @slow
    def test_older_counts_are_not_this_runs(self):
        program = self.program("sometimes", "if (access(\"stop\", 0)) return 0; _exit(0);")
        self.assertNotIn("counter files", self.said(program))
        (self.dir / "stop").touch()
        done = self.run_it("--no-report", "-o", "r2", program)
        self.assertIn(b"1 of 1 counter files", done.stderr)

    @slow
    def test_killed(self):
        program = self.program("killed", "kill(getpid(), 9);", "-include", "signal.h")
        self.assertIn("1 of 1 counter files", self.said(program, status=137))


class Running(Case):
    @decided
    def test_reports_follow_the_output(self):
        """To standard error where the program wrote to standard output, or may have."""
        busy = self.build("busy.c")
        done = self.run_it(busy, "0.2")
        self.assertRegex(done.stdout.decode(), r"^cpu 0\.2")
        figure(self).assertRegex(done.stderr.decode(), r"\n *[0-9.]+ .* spin( +busy\.c:\d+)?\n")
        self.assertTrue((self.dir / "busy.monarc/monarc.side").exists())
        for command, where in (f"exec {busy} 0.2", "err"), (f"{busy} 0.2 >/dev/null", "out"):
            with open(self.dir / "out", "wb") as out, open(self.dir / "err", "wb") as err:
                subprocess.run([monarc_path(), "run", "sh", "-c", command], cwd=self.dir,
                               stdout=out, stderr=err, check=True)
            for name in "out", "err":
                self.assertEqual(b" spin" in (self.dir / name).read_bytes(), name == where)

    @slow
    def test_a_program_that_waits_leads_to_its_waits(self):
        """Its first report says so, counts warnings, and names the command that answers."""
        text = self.run_it("sleep", "1.2").stderr.decode()
        self.assertRegex(text, r"^(0\.0\d+ s|less than 1 ms) of CPU in 1\.\d+ s, and (it waited for the rest[:;] |no samples: it waited\n)")
        self.assertIn("\nNext: monarc run --off-cpu sleep ...    (what it waited for)\n", text)
        names = monarc("doctor", "sleep.monarc", cwd=self.dir).stdout.decode()
        names = ", ".join(re.findall(r"^(?:warning|error): .* \[(.+)\]$", names, re.M))
        self.assertRegex(text, rf"\n{names.count(',') + 1} warnings?: {names}\n" if names else r"\nNext: ")
        self.run_it("--off-cpu", "-o", "w", "sleep", "1.2")
        self.assertNotIn("it waited", monarc("flat", self.dir / "w").stdout.decode())

    @slow
    @unittest.skipUnless(os.access("/dev/shm", os.W_OK | os.X_OK), "no /dev/shm")
    def test_a_program_on_a_file_system_in_memory(self):
        """Programs and libraries lie in /dev/shm, too, not generated code alone."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            program = shutil.copy(self.build("busy.c"), folder)
            if subprocess.run([program, "0"], capture_output=True).returncode:
                self.skipTest("nothing may run there")
            functions, _ = self.flat(self.record(program, "0.2"))
        self.assertIn("spin", functions)
        self.assertNotIn("[generated code]", functions)

    @slow
    def test_status_is_passed_on(self):
        for code in 0, 3, 77:
            self.run_it("--no-report", "sh", "-c", f"exit {code}", status=code)
        self.run_it("--no-report", "sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)
        done = self.run_it("nonesuch", status=127)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertFalse((self.dir / "nonesuch.monarc").exists())
        self.run_it("-o", "r", "/", status=126)
        self.assertEqual([p.name for p in self.dir.iterdir()], ["sh.monarc", "sh.monarc.old"][:2]
                         if (self.dir / "sh.monarc.old").exists() else ["sh.monarc"])

    @slow
    def test_what_a_shell_used_before_it_became_monarc(self):
        """Accounts of a process and of the children that it waited for survive its exec."""
        burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
        for method in "perf", "ptrace":
            script = f'sh -c "{burn.replace("$", chr(92) + "$")}"; {burn}; exec "$0" run --method {method} --no-report -o r true'
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run(["sh", "-c", script, monarc_path()], cwd=self.dir, check=True)
            burnt = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            recording = monarc_json("info", self.dir / "r")["files"][0]
            self.assertLess(recording["user_ns"] + recording["system_ns"], burnt * 1e9 / 4, recording["method"])
            self.assertLess(recording["recorder_ns"], burnt * 1e9 / 2, recording["method"])

    def test_arguments_are_the_programs(self):
        done = self.run_it("--no-report", "echo", "--no-report", "-o", "--", "x")
        self.assertEqual(done.stdout, b"--no-report -o -- x\n")
        done = self.run_it("--no-report", "--", "echo", "-n", "y")
        self.assertEqual(done.stdout, b"y")

    def test_usage(self):
        self.run_it(status=2)
        self.run_it("--no-report", status=2)
        self.run_it("--", status=2)
        self.assertIn(b"heat", self.run_it("-e", "heat", "true", status=2).stderr)
        self.assertIn(b"--rate", self.run_it("-r", "often", "true", status=2).stderr)
        self.assertIn(b"up to 10000", self.run_it("-r", "10001", "true", status=2).stderr)
        for pids in "", "x", "0", "1,", "1,,2", "-1", "99999999999", "1 2":
            self.assertIn(b"process numbers such as", self.run_it("--pid", pids, status=2).stderr)
        self.assertIn(b"needs a name", self.run_it("-o", "", "true", status=2).stderr)
        self.assertEqual(list(self.dir.iterdir()), [])
        self.assertIn(b"--calls", self.run_it("--calls", "some", "true", status=2).stderr)
        self.assertIn(b"--method", self.run_it("--method", "magic", "true", status=2).stderr)
        self.assertIn(b"not both", self.run_it("-p", "1", "true", status=2).stderr)
        self.assertIn(b"not a folder", self.run_it("-o", "/dev/null", "true", status=2).stderr)
        (self.dir / "mine").mkdir()
        (self.dir / "mine/thesis").write_text("x")
        self.assertIn(b"something other than a recording",
                      self.run_it("-o", "mine", "true", status=2).stderr)
        self.assertEqual((self.dir / "mine/thesis").read_text(), "x")

    @slow
    def test_no_recording_is_lost(self):
        busy = self.build("busy.c")
        self.run_it("--no-report", busy, "0.05")
        (self.dir / "busy.monarc.old").mkdir()
        (self.dir / "busy.monarc.old/gmon.out").write_text("mine")
        (self.dir / "busy.monarc.old/mine").write_text("x")
        done = self.run_it("--no-report", busy, "0.05")
        self.assertRegex(done.stderr, rb"the recording is busy.2.monarc, not busy.monarc: .*holds")
        self.assertEqual((self.dir / "busy.monarc.old/gmon.out").read_text(), "mine")
        shutil.rmtree(self.dir / "busy.monarc.old")
        wait = "while [ ! -e go ]; do sleep 0.05; done"
        runs = [subprocess.Popen([monarc_path(), "run", "--no-report", "--no-symbols", "-o", "r", "sh", "-c", wait],
                                 cwd=self.dir, stderr=subprocess.PIPE) for _ in range(32)]
        while len(list(self.dir.glob("r.new-*"))) < 32:
            time.sleep(0.05)
        (self.dir / "go").touch()
        said = [run.communicate()[1] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 32, said)
        kept = sorted(p.name for p in self.dir.glob("r*"))
        self.assertEqual(len(kept), 32, kept)
        self.assertFalse([name for name in kept if ".new-" in name])
        for name in kept:
            self.assertTrue((self.dir / name / "monarc.side").exists(), name)

    @slow
    def test_what_killed_runs_left(self):
        busy = self.build("busy.c")
        (self.dir / "r.new-empty1").mkdir()
        (self.dir / "r.new-other").mkdir()
        (self.dir / "rr.new-empty2").mkdir()
        self.run_it("--no-report", "-o", "r", busy, "0.05")
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()),
                         ["r", "r.new-other", "rr.new-empty2"])
        (self.dir / "r").rename(self.dir / "r.new-whole1")
        done = self.run_it("--no-report", "-o", "r", busy, "0.05")
        self.assertIn(b"r.new-whole1 was left by a run that was killed; 'monarc recover r.new-whole1'",
                      done.stderr)
        done = monarc("recover", "r.new-whole1", cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout),
                         (0, b"r.new-whole1: was complete; it is called r.2 now\n"))
        self.assertTrue((self.dir / "r.2/monarc.side").exists())
        self.assertEqual(self.run_it("--no-report", "-o", "r", busy, "0.05").stderr, b"")

    @slow
    def test_calls_that_a_killed_run_counted(self):
        life = self.build("busy.c")
        run = subprocess.Popen([monarc_path(), "run", "--no-report", "-o", "r", life, "20"],
                               cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not list(self.dir.glob("r.new-*/*/monarc.live")):
            time.sleep(0.02)
        live, = self.dir.glob("r.new-*/*/monarc.live")
        folder = live.parent.parent.name
        done = self.run_it("--no-report", "-o", "r", "sh", "-c", "exit 0")
        self.assertEqual(done.stderr, b"", "a run that still records was not killed")
        done = monarc("recover", folder, cwd=self.dir)
        self.assertIn(b"is in use", done.stderr)
        self.assertEqual(done.returncode, 2)
        wait_for(lambda: cpu_seconds(live.parent.name) > 0.1, "calls")
        run.kill()
        run.wait()
        os.kill(int(live.parent.name), signal.SIGKILL)
        # Its launcher has the lock, too, until it sees that the monitor is gone.
        wait_for(lambda: not subprocess.run(["flock", "--nonblock", self.dir / folder, "true"], check=False).returncode,
                 "the folder's lock")
        while Path(f"/proc/{live.parent.name}/exe").exists():
            time.sleep(0.02)
        done = self.run_it("--no-report", "-o", "r", "sh", "-c", "exit 0")
        self.assertIn(f"monarc recover {folder}".encode(), done.stderr)
        done = monarc("recover", folder, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{folder}/{live.parent.name}: recovered".encode(), done.stdout)
        self.assertEqual(monarc("flat", live.parent, cwd=self.dir).returncode, 0)

    def test_a_folder_that_others_lock(self):
        done = subprocess.run(["flock", ".", monarc_path(), "run", "--no-report", "-o", "r", "true"],
                              cwd=self.dir, capture_output=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue((self.dir / "r/monarc.side").exists())

    @slow
    @decided
    def test_the_last_recording_is_kept_once(self):
        seconds = []
        for time_of in "0.05", "0.1", "0.2":
            self.run_it("--no-report", self.build("busy.c"), time_of)
        self.assertEqual(sorted(p.name for p in self.dir.glob("*")), ["busy.monarc",
                                                                     "busy.monarc.old"])
        for name in "busy.monarc", "busy.monarc.old":
            seconds.append(self.seconds(self.flat(self.dir / name)[1]))
        figure(self).assertGreater(seconds[0], 0.15)
        figure(self).assertLess(seconds[1], 0.15)

    @slow
    def test_runs_at_the_same_time(self):
        """Each reports its own figures; the name is the last one's, the one before is kept."""
        runs = [subprocess.Popen([monarc_path(), "run", "-o", "r", self.build("busy.c"), s],
                                 cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for s in ("0.1", "0.3", "0.5")]
        for process, least in zip(runs, (0.08, 0.25, 0.45)):
            text = process.communicate(timeout=600)[1].decode()
            self.assertEqual(process.returncode, 0, text)
        self.assertFalse(list(self.dir.glob("*.new-*")))

    def seconds(self, summary):
        return summary["samples"] / summary["samples_per_unit"]

    @slow
    def test_nothing_of_ours_is_in_the_program(self):
        """No preload, no variable, no descriptor; but for programs that count calls."""
        shown = "echo $LD_PRELOAD; env | grep MONARC; ls /proc/self/fd | wc -l"
        bare = subprocess.run(["sh", "-c", shown], cwd=self.dir, capture_output=True, check=True,
                              stdin=subprocess.DEVNULL)
        done = self.run_it("--no-report", "sh", "-c", shown, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout, bare.stdout)
        done = self.run_it("--no-report", "--calls", "always", "sh", "-c", "echo $LD_PRELOAD",
                           env={"LD_PRELOAD": os.environ["MONARC_RT_SO"].replace(".so", ".none")})
        self.assertRegex(done.stdout, rb"none[.0-9]*:.*libmonarc_rt\.so[.0-9]*\n")

    @slow
    def test_calls_are_exact(self):
        program = self.build("counted.c", text="""
            #include <signal.h>
            #include <string.h>
            #include <unistd.h>
            __attribute__((noinline)) void counted(void) { __asm__ volatile(""); }
            int main(int argc, char **argv)
            {
                for (int i = 0; i < 1000; i++)
                    counted();
                if (argc > 1 && !strcmp(argv[1], "kill"))
                    raise(SIGKILL);
                if (argc > 1 && !strcmp(argv[1], "exit"))
                    _exit(0);
                return 0;
            }
        """)
        for how, status in ("return", 0), ("exit", 0), ("kill", 128 + 9):
            folder = self.record(program, how, status=status)
            self.assertEqual(self.flat(folder)[0]["counted"]["calls"], 1000, how)
        folder = self.record(program, options=["--calls", "never"])
        self.assertNotIn("counted", self.flat(folder)[0])

    @slow
    def test_dump_that_fails(self):
        """One line on standard error; the status is the program's own where that is not 0."""
        program = self.build("dumps.c", name="dumps", text="""
            #include <stdlib.h>
            int monarc_rt_dump(const char *) __attribute__((weak));
            int main(int argc, char **argv)
            {
                if (monarc_rt_dump)
                    monarc_rt_dump(argv[1]);
                return argc > 2 ? atoi(argv[2]) : 0;
            }
        """)
        (self.dir / "file").write_text("in the way")
        for where in "file", "file/below", "missing/below":
            for own, status in (0, 2), (3, 3):
                done = self.run_it("--no-report", "-o", "r", "--", program, where, own,
                                   status=status)
                said = [line for line in done.stderr.decode().splitlines() if "dump" in line]
                self.assertEqual(len(said), 1, done.stderr)
                self.assertRegex(said[0], f"^monarc: monarc_rt_dump: .*/{where}.*: ")
                self.assertTrue((self.dir / "r/monarc.side").exists())
        done = self.run_it("--no-report", "-o", "r", "--", program, "fine")
        self.assertTrue((self.dir / "fine/monarc.side").exists(), done.stderr)

    @slow
    @decided
    def test_options_arrive(self):
        folder = self.record(self.build("busy.c"), "0.1", options=["-r", "0"])
        self.assertEqual(self.flat(folder)[1]["samples"], 0)
        folder = self.record(self.build("busy.c"), "0.3", options=["-r", "100"])
        figure(self).assertLess(self.flat(folder)[1]["samples"], 60)
        folder = self.record(self.build("busy.c"), "0.1", options=["--no-stacks", "--calls", "never"])
        rows, _ = self.flat(folder)
        self.assertEqual(rows["main"]["total_time"] if "main" in rows else 0, 0)
        figure(self).assertGreater(rows["spin"]["self_share"], 0.5)
        folder = self.record("sleep", "0.3", options=["--off-cpu"])
        rows, _ = self.flat(folder)
        waiting = [r for name, r in rows.items() if name.startswith("[waiting]")]
        figure(self).assertAlmostEqual(sum(r["self_time"] for r in waiting), 0.3, delta=0.05)

    @slow
    def test_slices_of_time(self):
        """--slice keeps moments apart that the usual slices would not; it takes times alone."""
        folder = self.record("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
                             options=["--slice", "500us"])
        self.assertEqual(monarc_json("info", folder)["files"][0]["slice_ns"], 500000)
        for wrong in "3", "ms", "0.1us", "11s", "1 ms", "-1ms", "nans", "":
            done = monarc("run", "--slice", wrong, "true")
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(b"--slice takes a time from 10us to 10s", done.stderr)

    @slow
    @decided
    def test_commands_of_processes(self):
        """Of each process its arguments, without secrets, with quotes where they have spaces."""
        inner = "sleep 0.3; sleep 0.31; :"
        folder = self.record("sh", "-c", f"sh -c '{inner}' --token hunter2; true")
        found = {p["command"] for p in monarc_json("info", folder)["files"][0]["processes"]}
        figure(self).assertLessEqual({"sleep 0.3", "sleep 0.31", f"sh -c '{inner}' --token ***"}, found)
        self.assertIn("\n            sleep 0.31\n", monarc("info", folder).stdout.decode())
        folder = self.record("sh", "-c", "sleep 0.2; true", options=["--no-arguments"])
        self.assertEqual({p["command"] for p in monarc_json("info", folder)["files"][0]["processes"]}, {None})
        long = ["first", *(f"argument-{i}" for i in range(500)), "last.c"]
        folder = self.record("sh", "-c", "sleep 0.2; true", *long)
        command = monarc_json("info", folder)["files"][0]["processes"][0]["command"]
        self.assertRegex(command, r"^sh -c 'sleep 0.2; true' first argument-0 .* \.\.\. .* last\.c$")
        self.assertLessEqual(len(command), 2048)

    @slow
    def test_secrets_stay_out(self):
        """Of the command line, and the recording away from other users."""
        secret = "hunter2hunter2"
        line = ["sh", "-c", ":", "--password", secret, f"API_TOKEN={secret}", f"redis://me:{secret}@host"]
        folder = self.record(*line)
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        told = monarc("info", folder).stdout.decode()
        self.assertIn("sh -c : --password *** API_TOKEN=*** redis://me:***@host", told)
        for file in folder.rglob("*"):
            self.assertFalse(file.is_file() and secret.encode() in file.read_bytes(), file)
        folder = self.record(*line, options=["--no-arguments"])
        self.assertRegex(monarc("info", folder).stdout.decode(), r"(?m)^ *command: sh$")

    @slow
    @decided
    def test_events(self):
        """An event that is not there is an error, never another one in its place."""
        done = self.run_it("--list-events")
        self.assertIn(b"page-faults", done.stdout)
        program = self.build("touch.c", "-O1", name="touch", text="""
            #include <stdlib.h>
            int main(void)
            {
                volatile char *p = malloc(4096 * 1000);
                for (int i = 0; i < 1000; i++)
                    p[4096 * i] = 1;
                return 0;
            }
        """)
        for period in 10, 100:
            folder = self.record(program, options=["-e", f"page-faults/period={period}/"])
            rows, summary = self.flat(folder)
            found = rows["main"]["total_samples"] / summary["samples_per_unit"]
            figure(self).assertAlmostEqual(found, 1000, delta=3 * period + 10)  # periods are drawn up to 2
        self.assertGreater(self.flat(self.record(program, options=["-e", "page-faults"]))[1]["samples"], 0)
        self.run_it("-e", "nosuch:event", "true", status=2)

    def interrupt(self, number, group):
        process = subprocess.Popen([monarc_path(), "run", self.build("busy.c"), "60"],
                                   cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # a shell's & ignores it
        def ran():
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            return any(is_running(pid, "busy") and cpu_seconds(pid) > 0.2 for pid in children)
        wait_for(ran, "the program")
        (os.killpg if group else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + number, err)
        figure(self).assertRegex(err.decode(), r"\n *[0-9.]+ .* spin( +busy\.c:\d+)?\n")

    @slow
    @decided
    def test_interrupted(self):
        self.interrupt(signal.SIGINT, False)

    @slow
    @decided
    def test_terminated_with_its_group(self):
        self.interrupt(signal.SIGTERM, True)

    @slow
    @decided
    def test_children(self):
        """All of them, unless --no-follow."""
        busy = self.build("busy.c")
        for options, least, most in ((), 0.35, 9), (("--no-follow",), -1, 0.2):
            folder = self.record("sh", "-c", f"{busy} 0.2; {busy} 0.2", options=options)
            figure(self).assertTrue(least < self.seconds(self.flat(folder)[1]) < most, options)

    @decided
    def test_those_that_outlive_the_program(self):
        busy = self.build("busy.c")
        folder = self.record("sh", "-c", f"{busy} 0.3 >/dev/null 2>&1 &",
                             options=["--follow-daemons", "20"])
        figure(self).assertGreater(self.seconds(self.flat(folder)[1]), 0.25)
        text = monarc("flat", folder).stdout.decode()
        # The shell has the samples of a millisecond: often one, and now and then none.
        self.assertRegex(text, r"^\S+ s of CPU in \S+ s(, \d+ % of it by busy)?: ")
        ran = float(re.search(r" s of CPU in ([0-9.]+) s", text)[1])
        own, outlived = re.search(r" ([0-9.]+) s long \(([0-9.]+) s with processes that outlived it\)", text).groups()
        self.assertEqual(ran, float(outlived), text)
        self.assertGreater(ran, float(own) + 0.2, text)

    @slow
    @decided
    def test_program_that_executes_another(self):
        done = self.run_it("sh", "-c", f"exec {self.build('busy.c')} 0.2")
        figure(self).assertRegex(done.stderr.decode(), r"\n *[0-9.]+ .* spin( \[busy\])?\n")

    @slow
    def test_many_processes_after_each_other(self):
        """Their clocks make tables grow while a sample is counted. Memory that is free holds other bytes at once."""
        program = self.build("after_each_other.c", "-O1", name="after_each_other", text="""
            #include <sys/wait.h>
            #include <time.h>
            #include <unistd.h>
            int main(void)
            {
                for (int i = 0; i < 80; i++)
                    if (!fork()) {
                        while (clock() < CLOCKS_PER_SEC * 0.03)
                            ;
                        _exit(0);
                    } else {
                        wait(0);
                    }
                return 0;
            }""")
        folder = self.record(program, env={"MALLOC_PERTURB_": "165"})
        self.assertGreater(self.flat(folder)[1]["samples"], 1000)

    @slow
    def test_few_descriptors(self):
        """That stacks have no ends for want of descriptors is said, or nothing is missing."""
        for most in range(12, 24, 2):
            done = subprocess.run([monarc_path(), "run", "-o", "few", self.build("busy.c"), "0.2"], cwd=self.dir, capture_output=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            text = (done.stdout + done.stderr).decode()
            self.assertEqual(done.returncode, 0, text)
            whole = re.search(r"(?m)^Stacks +([0-9.]+) % are whole", text)
            if "runs unrecorded" not in text and whole and float(whole[1]) < 50:
                self.assertIn("too few descriptors may be open", text)

    @slow
    @decided
    def test_attached(self):
        self.attach_by("perf")

    @slow
    @decided
    def test_attached_by_ptrace(self):
        self.attach_by("ptrace")

    def attach_by(self, method):
        named = self.dir / "server" # as redis-server is another name of redis-check-rdb
        named.symlink_to(self.build("busy.c"))
        process = subprocess.Popen([named, "60", "--password=secret"], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for(lambda: is_running(process.pid, "server") and cpu_seconds(process.pid) > 0.1, "the program")
        self.run_it("--no-report", "-o", "r", "--method", method, "--seconds", "3", "--pid", str(process.pid))
        rows, summary = self.flat(self.dir / "r")
        figure(self).assertGreater(rows["spin"]["self_share"], 0.5, method)
        figure(self).assertGreater(self.seconds(summary), 0) # a busy machine gives it a few ms of a second
        head = monarc("flat", self.dir / "r").stdout
        self.assertIn(f"\nProgram  {named} 60 --password=***\n".encode(), head)
        self.assertIsNone(process.poll())
        self.assertIn(b"there is no process 4194304", self.run_it("-p", "4194304", status=126).stderr)

    def test_what_comes_next(self):
        """Of a recording with waits, the reports that say what for; of one without samples, why."""
        for options, wanted in ([], ["graph", "lines", "doctor"]), (["--off-cpu"], ["waits", "path", "graph", "doctor"]):
            done = self.run_it(*options, "-o", "r", "sleep", "0.05")
            shown = (done.stdout + done.stderr).decode()
            self.assertEqual(re.findall(r"(?m)^(?:Next:|     ) monarc (\w+) r ", shown),
                             wanted if "self%" in shown else ["doctor"], shown)

    def test_the_report_fits_the_terminal(self):
        """Both tables are in sight, with the answer: of a program of bash, which is own code, that works and then sleeps."""
        from test_terminal import on_terminal
        script = "for ((i = 0; i < 150000; i++)); do :; done; exec sleep 0.5"
        shown = on_terminal(["run", "--off-cpu", "-o", "r", "bash", "-c", script], 80, self.dir, TERM="dumb")[0].decode()
        lines = shown.rstrip().splitlines()
        self.assertIn("on the CPU", shown)
        self.assertIn("off the CPU\n", shown)
        self.assertLessEqual(len(lines), 23, shown)
        self.assertRegex(lines[0], r"^0\.\d+ s of CPU and 0\.\d+ s off it")

    def test_the_report_opens_the_recording_once(self):
        """Warnings and what comes next are of the same session as the rows."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        subprocess.run(["strace", "-f", "-e", "trace=open,openat", "-o", "trace", monarc_path(), "run", "-o", "r",
                        "sleep", "0.05"], cwd=self.dir, check=True, capture_output=True)
        opened = re.findall(r'"[^"]*r/monarc\.side", O_RDONLY', (self.dir / "trace").read_text())
        self.assertEqual(len(opened), 1, opened)

    def test_attached_with_descendants(self):
        self.attach_to_several("perf")

    @slow
    def test_attached_with_descendants_by_ptrace(self):
        self.attach_to_several("ptrace")

    def attach_to_several(self, method):
        """The workers of a master that waits are recorded with it, and what they start; several can be named."""
        self.build("master.c", "-O1", "-g", text='''#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void burn(int times)
{
    while (times--)
        for (int i = 0; i < 100000; i++)
            sum += i;
}
int main(void)
{
    for (int i = 0; i < 2; i++)
        if (!fork())
            for (alarm(60);;)
                burn(1);
    for (alarm(60);;) {
        if (!fork()) {
            burn(30);
            _exit(0);
        }
        wait(0);
        usleep(50000);
    }
}
''')
        master = subprocess.Popen([self.built / "master"], process_group=0)
        self.addCleanup(master.wait)
        self.addCleanup(os.killpg, master.pid, signal.SIGKILL)
        wait_for(lambda: cpu_seconds(master.pid) > 0.1, "the workers")
        children = Path(f"/proc/{master.pid}/task/{master.pid}/children").read_text().split()[:2]

        def recorded(*options):
            """{pid: parent} of those that ran."""
            self.run_it("--no-report", "--method", method, "--seconds", "1", *options)
            name, = self.dir.glob("*.monarc")
            rows = monarc_json("flat", "--by-process", "--all", name)["rows"]
            shutil.rmtree(name)
            return name.name, {str(row["pid"]): row["parent_pid"] for row in rows}
        name, rows = recorded("--pid", master.pid)
        self.assertEqual(name, f"master.{master.pid}.monarc")
        self.assertLessEqual({str(master.pid), *children}, set(rows))
        self.assertGreater(len(rows), 3)  # those that began meanwhile
        self.assertEqual([rows[child] for child in children], [master.pid] * 2)
        self.assertEqual(set(recorded("--no-follow", "--pid", master.pid)[1]), {str(master.pid)})
        for options in (["--pid", ",".join(children)], ["--pid", children[0], "-p", children[1], "--no-follow"]):
            self.assertEqual(set(recorded(*options)[1]), set(children))
        self.assertIsNone(master.poll())

    @slow
    @decided
    def test_text_on_large_pages(self):
        """Copied to memory without a file, where it was: names stay, from the start and after attaching."""
        self.build("large.c", "-O1", "-g", text='''#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
__attribute__((noinline)) static void burn(double seconds)
{
    for (struct timespec t = {0}; t.tv_sec + t.tv_nsec / 1e9 < seconds;) {
        for (volatile int i = 0; i < 1000000; i++)
            ;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    }
}
int main(void)
{
    char line[512];
    unsigned long from, to;
    for (FILE *maps = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, maps);)
        if (strstr(line, " r-xp ") && strstr(line, "/large\\n") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            void *copy = mmap(NULL, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memcpy(copy, (void *)from, to - from);
            mprotect(copy, to - from, PROT_READ | PROT_EXEC);
            if (mremap(copy, to - from, to - from, MREMAP_MAYMOVE | MREMAP_FIXED, from) != (void *)from)
                return 9;
            burn(1);
            return 0;
        }
    return 8;
}
''')
        for method in "perf", "ptrace":
            self.run_it("--no-report", "-o", f"r.{method}", "--method", method, self.built / "large")
            process = subprocess.Popen([self.built / "large"])
            self.addCleanup(process.wait)
            time.sleep(0.3)
            self.run_it("--no-report", "-o", f"a.{method}", "--method", method, "--pid", str(process.pid))
            for name in f"r.{method}", f"a.{method}":
                rows, _ = self.flat(self.dir / name)
                figure(self).assertGreater(rows["burn"]["self_share"], 0.8, name)

    @slow
    @decided
    def test_the_first_thread_has_ended(self):
        """Before the recording, or in it: a process lives as long as any of its threads."""
        self.build("gone.c", "-O1", "-g", "-pthread", text='''#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void burn(double seconds)
{
    for (struct timespec t = {0}; t.tv_sec + t.tv_nsec / 1e9 < seconds;) {
        for (volatile int i = 0; i < 100000; i++)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    }
}
static void *work(void *seconds)
{
    burn(atof(seconds));
    exit(7);
}
int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argc;
    pthread_create(&thread, NULL, work, argv[1]);
    usleep((unsigned)(atof(argv[2]) * 1e6));
    pthread_exit(NULL);
}
''')
        for method, first in ("perf", "0"), ("perf", "0.5"), ("ptrace", "0"), ("ptrace", "0.5"):
            process = subprocess.Popen([self.built / "gone", "1", first])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_for(lambda: is_running(process.pid, "gone") and cpu_seconds(process.pid) > 0.1, "the program")
            name = f"r.{method}.{first}"
            self.run_it("--no-report", "-o", name, "--method", method, "--pid", str(process.pid))
            rows, _ = self.flat(self.dir / name)
            self.assertEqual(process.wait(), 7)
            figure(self).assertTrue(rows["burn"]["self_share"] > 0.5 and rows["burn"]["self_time"] > 0.5, name)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setcap") and shutil.which("setpriv"),
                         "needs root, setcap and setpriv")
    def test_right_to_sample_is_no_right_to_attach(self):
        """A monarc with cap_perfmon shows a user only processes that the user may trace."""
        self.dir.chmod(0o777)
        copy = self.dir / "monarc"
        shutil.copy(monarc_path(), copy)
        subprocess.run(["setcap", "cap_perfmon=ep", copy], check=True)
        def attach(user):
            process = subprocess.Popen([*user, "sleep", "60"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_for(lambda: is_running(process.pid, "sleep"), "sleep")
            return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "run",
                                   "--no-report", "-o", "r", "--seconds", "1", "-p", str(process.pid)],
                                  cwd=self.dir, capture_output=True, text=True)
        done = attach([])
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn("it is another user's", done.stderr)
        self.assertFalse((self.dir / "r").exists())
        done = attach(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_for_some_seconds(self):
        """The report comes then, and the program goes on: until it is told that the report has come."""
        self.addCleanup((self.dir / "come").touch)
        self.run_it("--no-report", "-o", "r", "--seconds", "1", "sh", "-c",
                    f"exec >/dev/null 2>&1; {self.build('busy.c')} 0.1; while [ ! -e come ]; do sleep 0.05; done; touch ended")
        self.assertFalse((self.dir / "ended").exists())
        (self.dir / "come").touch()
        wait_for((self.dir / "ended").exists, "the program")

    @slow
    @decided
    def test_without_perf(self):
        folder = self.record(self.build("busy.c"), "0.5", options=["--method", "ptrace"])
        said = monarc("doctor", folder, cwd=self.dir).stdout
        self.assertRegex(said, rb"\[coarse-method\][^[]*raise\s+kernel.perf_event_mlock_kb")
        rows, summary = self.flat(folder)
        figure(self).assertGreater(rows["left"]["total_share"] if "total_share" in rows["left"]
                           else rows["left"]["total_time"] / self.seconds(summary), 0.5)

    @slow
    @decided
    def test_static(self):
        program = self.build("busy.c", "-O1", "-g", "-pthread", "-static", name="static")
        figure(self).assertRegex(self.run_it(program, "0.2").stderr.decode(), r"\n *[0-9.]+ .* spin( +busy\.c:\d+)?\n")
        program = self.build("busy.c", *FLAGS, "-static", name="static-pg")
        said = self.run_it(program, "0.2").stderr.decode()
        self.assertRegex(said, r"calls were not counted: .* is statically linked")
        figure(self).assertRegex(said, r"\n *[0-9.]+ .* spin( +busy\.c:\d+)?\n")
        done = self.run_it("--calls", "always", program, "0.1", status=2)
        self.assertIn(b"is statically linked", done.stderr)
        self.assertEqual(done.stdout, b"")
        self.run_it("--calls", "never", "--no-report", program, "0.1")
        program = self.build("busy.c", *FLAGS, "-static", os.environ["MONARC_RT_A"], name="inside")
        figure(self).assertRegex(self.run_it(program, "0.2").stderr.decode(), r"\n *[0-9.]+ .* spin( +busy\.c:\d+)?\n")

    @slow
    def test_disk_without_room(self):
        """The program runs; what could not be written is said."""
        if os.geteuid():
            self.skipTest("only root can make a small disk")
        small = self.dir / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", small]).returncode:
            self.skipTest("no small disk can be made here")
        self.addCleanup(subprocess.run, ["umount", small])
        (small / "filler").write_bytes(b"x" * 12000)
        done = monarc("run", "-o", small / "r", self.build("busy.c"), "0.2", cwd=self.dir)
        self.assertRegex(done.stdout, rb"^cpu 0\.2")
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
        self.assertIn(b"No space left on device", done.stderr)


if __name__ == "__main__":
    main()
