"""The recorder itself under ASan, UBSan and TSan: it is compiled with them and linked into the tests.

Calls are still exact. TSan holds signals back until the program enters the kernel, so that the
programs about signals are left to the others; its own teardown counts as the last destructor round."""
import glob
import os
import subprocess
import unittest

from recorder import HERE, INCLUDE, PROGRAMS, RecorderTest

SOURCES = os.path.join(HERE, "..", "..", "..", "runtime")
FLAGS = ["-g", "-O1", "-std=gnu11", "-I", INCLUDE]
RUNTIME = ["-D_GNU_SOURCE", "-fno-builtin", "-fno-stack-protector", "-fvisibility=hidden", "-DMONARC_STATIC",
           "-ftls-model=initial-exec"]


class Sanitizers(RecorderTest):
    def check(self, sanitizer, cases):
        sanitize = "-fsanitize=" + sanitizer
        objects = []
        for source in [*glob.glob(SOURCES + "/common/*.c"), *glob.glob(SOURCES + "/profile/*.c"),
                       *glob.glob(SOURCES + "/profile/sampling/*.c"),
                       SOURCES + "/profile/mcount_x86_64.S"]:
            if os.path.basename(source) in ("exec.c", "mcount.c"):
                continue
            objects.append(os.path.join(self.dir, os.path.basename(source) + ".o"))
            subprocess.run(["gcc", *FLAGS, *RUNTIME, sanitize, "-c", source, "-o", objects[-1]],
                           check=True)
        for case in cases:
            name = case.split()[0]
            program = os.path.join(self.dir, name)
            # The programs' own counters race on purpose; only the recorder is under test.
            own = [] if sanitizer == "thread" else [sanitize]
            subprocess.run(["gcc", *FLAGS, "-pg", "-fno-inline", "-fno-optimize-sibling-calls", *own,
                            "-c", os.path.join(PROGRAMS, name + ".c"), "-o", program + ".o"],
                           check=True)
            subprocess.run(["gcc", sanitize, "-pg", "-pthread", program + ".o", *objects, "-o",
                            program], check=True)
            with self.subTest(case=case):
                subprocess.run(["rm", "-rf", program + ".monarc"])
                r = self.run_program([program, *case.split()[1:]], preload=False, timeout=600,
                                     RATE=5000)
                self.assertEqual(r.stderr, "")
                if name == "busy":
                    self.assertGreater(self.recording(program).side.process["samples"], 0)
                else:
                    self.assert_exact(self.recording(program), self.expected(r.stdout))

    CASES = ["threads 8", "life forks", "life many-threads", "bad altstack", "bad longjmp",
             "bad closes", "bad seccomp", "bad mask", "steer", "busy 0.3 3"]

    def test_address(self):
        self.check("address", ["signals 100", *self.CASES])

    def test_undefined(self):
        self.check("undefined", ["signals 100", *self.CASES])

    def test_thread(self):
        self.check("thread", ["threads 8", "life many-threads", "life fork-threads", "steer",
                               "busy 0.3 3"])


if os.uname().machine == "x86_64" and __name__ == "__main__":
    unittest.main()
