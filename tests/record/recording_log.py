"""recording_log.py: runs a program under ptrace_driver and reads what the source has told.

Refuses to unwind: a sample's place is the function its pc is in.
"""
import bisect
import collections
import os
import pathlib
import subprocess
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
DRIVER = os.environ.get("PTRACE_DRIVER", "ptrace_driver")
IN_USER, IN_KERNEL, WAITING = 0, 1, 2

Sample = collections.namedtuple("Sample", "pid tid at weight where syscall pc stack")


def build(source, folder, *flags):
    """Compiles a program for known addresses; its path."""
    out = os.path.join(folder, source.removesuffix(".c"))
    subprocess.run(["gcc", "-O1", "-g", "-static", "-no-pie", "-pthread", "-D_GNU_SOURCE", *flags,
                    "-o", out, str(PROGRAMS / source)], check=True)
    return out


class Symbols:
    def __init__(self, program):
        # A plugin named: without, nm loads those of all compilers, which takes longer than its work.
        lines = subprocess.run(["nm", "--plugin", "/dev/null", program], check=True,
                               capture_output=True, text=True).stdout
        found = sorted((int(line[:16], 16), line[19:]) for line in lines.splitlines()
                       if line[17:18] in "tTwWi")
        self.starts, self.names = [s for s, _ in found], [n for _, n in found]

    def at(self, pc):
        i = bisect.bisect_right(self.starts, pc)
        return self.names[i - 1] if i else "?"


class Log:
    """What was told, and what the program printed."""

    def __init__(self, text, output="", status=0):
        self.output, self.status = output, status
        self.lines = [line.split() for line in text.splitlines()]
        self.samples = [Sample(int(x[1]), int(x[2]), int(x[3]), int(x[4]), int(x[5]), int(x[6]),
                               int(x[7], 16), int(x[8])) for x in self.of("sample")]
        self.truth = collections.Counter()
        for line in output.splitlines():
            if line.startswith("truth "):
                self.truth[line.split()[1]] += float(line.split()[2])

    def of(self, kind):
        return [line for line in self.lines if line[0] == kind]

    def weight(self, where=None):
        return sum(s.weight for s in self.samples if where in (None, s.where)) / 1e9

    def by_function(self, symbols):
        sums = collections.Counter()
        for s in self.samples:
            sums["kernel" if s.where == IN_KERNEL else symbols.at(s.pc)] += s.weight / 1e9
        return sums

    def cpu(self):
        """Exact CPU time of the threads."""
        return sum(int(x[3]) for x in self.of("cpu")) / 1e9

    def lost(self, kind=None):
        return sum(int(x[3]) for x in self.of("lose") if kind in (None, int(x[1]))) / 1e9

    def total(self):
        return int(self.of("total")[0][1]) / 1e9

    def monitor(self):
        return int(self.of("monitor")[0][1]) / 1e9


def record(*argv, options=(), wrap=(), timeout=600, **keywords):
    with tempfile.NamedTemporaryFile("r", prefix="monarc-log-") as out:
        os.chmod(out.name, 0o666)
        r = subprocess.run([*wrap, DRIVER, out.name, *options, *(("--",) if argv else ()), *map(str, argv)],
                           capture_output=True, text=True, timeout=timeout, check=False, **keywords)
        return Log(out.read(), r.stdout, r.returncode)
