"""What the truth tests share: building programs, recording them, and comparing what the report says
with what the programs say of themselves.

Nothing is tuned to pass: a share may be off by three standard errors of a binomial share of so many
samples, and by what reading the clocks took of the program, which it measures itself. A time may be
off by a hundredth and by what a process uses before and after it can look at its clock.

It shares no code with monarc and reads `--json` alone."""
import atexit
import dataclasses
import glob
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests"))  # parts.py


MONARC = os.path.abspath(os.environ.get("MONARC") or os.path.join(ROOT, "build", "monarc"))


def monarc_for_all():
    """monarc, or a copy where a folder above it is closed to the other users that some tests become. The copy
    has no library beside it that counts calls."""
    path = pathlib.Path(MONARC).resolve()
    if os.geteuid() or all(folder.stat().st_mode & 0o1 for folder in path.parents) or not path.exists():
        return str(path)
    folder = tempfile.mkdtemp(prefix="monarc-truth-program-")
    atexit.register(shutil.rmtree, folder, True)
    os.chmod(folder, 0o755)
    return shutil.copy(path, folder)


MONARC_FOR_ALL = monarc_for_all()
NOBODY = 65534
ERRORS = 3            # standard errors that a share may be off
HUNDREDTH = 0.01      # of a total
WHOLE = 0.01          # of all stacks may be cut
OUTSIDE_S = 0.004     # of a process: loading it, and ending it, beyond what it can measure
USER_CODE = "perf in user code"
RATE = {"ptrace": 250}  # samples a second, unless told: else 1000
SWITCH_S = 0.001      # to leave a CPU and be back, around each wait
WAIT_S = {"ptrace": 0.010}  # of a wait, where it is not switches that are recorded
TICKS_PER_S = 250     # at least: how often the kernel decides between user and system time
MOST_CLOCK = 0.05     # of a program, where it is left a CPU for others as often as it reads its clock
HANGS_S = 600         # a program takes seconds; a busy machine may give it a hundredth of a CPU

# How each build is compiled. -O2 has no frame pointers on the machines we have.
BUILDS = {
    "O0": ["-O0"],
    "O2": ["-O2"],
    "frames": ["-O2", "-fno-omit-frame-pointer"],
    "static": ["-O2", "-static"],
    "nonpie": ["-O2", "-no-pie"],
    "stripped": ["-O2", "-s"],
    "musl": ["-O2"],         # its library has no unwind tables
    "musl-static": ["-O2", "-static"],
}
MUSL = "musl-gcc"
COMPILERS = {".c": "gcc", ".cc": "g++", ".f90": "gfortran", ".rs": "/usr/bin/rustc"}


class Unavailable(Exception):
    """The case cannot be asked on this machine; says why."""


@dataclasses.dataclass
class Recorder:
    """A way to run monarc, and how the recording must have come about."""
    name: str
    is_root: bool = True
    is_refused: bool = False
    rate: int = 0         # 0: monarc's own
    method: str = ""      # as the report names it; "": not asked


RECORDERS = {r.name: r for r in [
    Recorder("perf", method="perf"),
    Recorder("user", is_root=False, method=USER_CODE),
    Recorder("refused", is_refused=True, method="ptrace"),
    Recorder("refused-user", is_root=False, is_refused=True, method="ptrace"),
]}


# --- building -------------------------------------------------------------------------------------

NAMES_IN_MAPS = {"three", "one_part", "never_called", "first", "second"}


def forget_old_maps():
    """Numbers of processes come again, and a map that root left is in the way of another user's."""
    for path in glob.glob("/tmp/perf-*.map"):
        try:
            process = path[len("/tmp/perf-"):-len(".map")]
            with open(path, errors="replace") as f:
                names = {line.split()[2] for line in f if len(line.split()) > 2}
            if not os.path.exists("/proc/" + process) and names <= NAMES_IN_MAPS and \
                    os.stat(path).st_mtime < time.time() - 60:
                os.unlink(path)
        except OSError:
            pass


ADDRESSES = ".addresses"  # beside a stripped file: where its functions are, as nm has it


def renamed(rename, folder):
    """`rename` with addresses for names where the file was stripped: [@f] (lib.so)."""
    def at(match):
        with open(os.path.join(folder, match.group(2) + ADDRESSES)) as f:
            for line in f:
                address, name = line.split()[0], line.split()[-1]
                if name == match.group(1):
                    return "[0x%x] (%s)" % (int(address, 16), match.group(2))
        raise AssertionError("no function " + match.group(1))
    return [(name, re.sub(r"\[@(.*)\] \((.*)\)", at, row)) for name, row in rename]


class Workshop:
    """A folder of compiled programs, kept as long as the object."""

    def __init__(self):
        forget_old_maps()
        self.folder = tempfile.TemporaryDirectory(prefix="monarc-truth-")
        os.chmod(self.folder.name, 0o755)
        self.built = {}

    def compile(self, source, out, flags, compiler=""):
        extension = os.path.splitext(source)[1]
        name = compiler or COMPILERS[extension]
        compiler = shutil.which(name)
        if not compiler:
            raise Unavailable("no " + os.path.basename(name))
        command = [compiler, "-g"]
        if extension == ".rs":
            command = [compiler, "-g", "-O"]
            flags = []
        elif extension == ".f90":
            command += ["-J", os.path.dirname(out)]
        path = source if os.path.isabs(source) else os.path.join(PROGRAMS, source)
        is_stripped = "-s" in flags
        flags = [f for f in flags if f != "-s"]
        r = subprocess.run([*command, path, "-o", out, *flags], capture_output=True, text=True)
        if r.returncode:
            if "-fsanitize" in " ".join(flags) or "-static" in flags:
                raise Unavailable("cannot be linked: " + (r.stderr.splitlines() or ["?"])[-1])
            raise AssertionError(r.stderr)
        if is_stripped:
            with open(out + ADDRESSES, "w") as f:
                subprocess.run(["nm", "--target=elf64-little", out], check=True, stdout=f)
            subprocess.run(["strip", out], check=True)

    def build(self, source, build="O2", extra=(), libraries=()):
        """The folder with the program, called as its source, and with its libraries."""
        key = (source, build, tuple(extra), tuple(libraries))
        if key not in self.built:
            folder = tempfile.mkdtemp(dir=self.folder.name)
            os.chmod(folder, 0o777)
            for name, library in libraries:
                self.compile("plugin.c", os.path.join(folder, name),
                             ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", *library])
            out = os.path.join(folder, os.path.splitext(source)[0])
            threads = [] if source.endswith(".f90") else ["-pthread", "-ldl"]
            self.compile(source, out, [*BUILDS[build], *extra, *threads], MUSL if build.startswith("musl") else "")
            self.built[key] = folder
        return self.built[key]

    def refuser(self):
        if "refuser" not in self.built:
            out = os.path.join(self.folder.name, "refuse_perf")
            self.compile(os.path.join(HERE, "refuse_perf.c"), out, ["-O1"])
            self.built["refuser"] = out
        return self.built["refuser"]


# --- what the program says ------------------------------------------------------------------------

class Truth:
    """The lines of a program and its children, added up. Amounts are seconds."""

    def __init__(self, path):
        self.self, self.total, self.path, self.kernel = {}, {}, {}, {}
        self.calls, self.wait, self.cpu, self.error = {}, {}, {}, {}
        self.waits = {}  # how many
        with open(path) as f:
            for line in f:
                kind, rest = line.rstrip("\n").split(" ", 1)
                name, value = rest.rsplit(" ", 1)
                rows = getattr(self, kind)
                rows[name] = rows.get(name, 0) + float(value)
                self.waits[name] = self.waits.get(name, 0) + (kind == "wait")
        self.cpu_s = sum(self.cpu.values())
        self.error_s = sum(self.error.values())


# --- what monarc says -----------------------------------------------------------------------------

def without_parameters(name):
    """`f(int)` is f; `[no symbol] (libz.so.1)` stays."""
    return name if name.startswith("[") else re.sub(r"\(.*\)( const)?( \[clone .*\])?$", "", name)


class Report:
    """`monarc flat --json` of a recording."""

    def __init__(self, recording, command, options=()):
        self.recording, self.command = recording, command
        self.flat = self.json("flat", *options, recording)
        self.summary = self.flat["summary"]
        self.functions = self.flat["functions"]
        self.recorded = self.summary["recording"]
        per_s = self.summary["samples_per_unit"] or 1
        self.sampled_s = self.summary["samples"] / per_s
        self.own_s = self.summary["profiler_samples"] / per_s  # outside the 100 %

    def json(self, *arguments):
        r = subprocess.run([*self.command, *arguments, "--json"], capture_output=True, text=True)
        if r.returncode:
            raise AssertionError("monarc %s: %s" % (" ".join(arguments), r.stderr))
        return json.loads(r.stdout)

    def rows(self, name):
        return [f for f in self.functions
                if name in (f["name"], f["linkage_name"], without_parameters(f["name"]))]

    def self_s(self, name):
        return sum(f["self_time"] or 0 for f in self.rows(name))

    def total_s(self, name):
        return max((f["total_time"] or 0 for f in self.rows(name)), default=0)

    def calls(self, name):
        return sum(f["calls"] for f in self.rows(name))

    def kernel_s(self):
        return sum(f["self_time"] or 0 for f in self.functions if f["name"].startswith("[kernel"))

    def clock_s(self):
        """Reading a thread's clock is where the kernel looks whether its turn is over: on a busy machine
        programs leave their CPU there. What that takes is the next function's by the program's clock."""
        return max(self.total_s(name) for name in ("clock_gettime", "__clock_gettime", "__vdso_clock_gettime"))

    def cut_s(self):
        return sum(f["total_time"] or 0 for f in self.functions if f["name"].startswith("[stack cut"))

    def cut_share(self):
        return 1 - self.recorded["whole_stacks"]

    def samples(self):
        """How many times somebody looked, whatever each look weighs."""
        return self.recorded["samples_taken"]

    def lost_s(self):
        """What is named and stands in no row; the kernel's is in one, and so is what only the kernel's
        account of the program lacks."""
        return sum(loss["ns"] for loss in self.recorded["losses"]
                   if loss["kind"] != "kernel" and "no process waited" not in loss["text"]) / 1e9

    def missing_s(self, is_young):
        """Of that, what samples say that the kernel had no room for: it may be anybody's. So may be what
        young clocks do not see, where they are all that there is."""
        kinds = ("records", "unplaced") if is_young else ("records",)
        return sum(loss["ns"] for loss in self.recorded["losses"] if loss["kind"] in kinds) / 1e9

    def probes(self):
        """Of how many probes the places of time in the kernel are an estimate, where it is one."""
        return sum(loss["count"] for loss in self.recorded["losses"] if loss["kind"] == "kernel")

    def path_s(self, path):
        """Time of the stacks that have these functions in this order, others between or not."""
        names = path.split(";")
        if not self.rows(names[0]):
            return 0
        trees = self.json("graph", "--callees", names[0], "--limit=1000000", "--min-percent=0",
                          self.recording)["trees"]
        per_s = self.summary["samples_per_unit"] or 1
        return sum(samples_of_path(tree["rows"], names) for tree in trees) / per_s


def samples_of_path(rows, names):
    """Adds up the rows of a tree, depth first, at which the last name is reached for the first time
    below all the others."""
    total, reached = 0, []  # reached[d]: how many of the names lie on the way to depth d
    for row in rows:
        depth = row["depth"]
        before = reached[depth - 1] if depth else 0
        del reached[depth:]
        name = without_parameters(row.get("name", ""))
        is_next = before < len(names) and name == names[before]
        reached.append(before + is_next)
        if is_next and before + 1 == len(names):
            total += row["total_samples"]
    return total


# --- comparing ------------------------------------------------------------------------------------

@dataclasses.dataclass
class Finding:
    what: str
    expected: float
    seen: float
    allowed: float
    unit: str = "%"

    @property
    def is_true(self):
        return abs(self.expected - self.seen) <= self.allowed

    def __str__(self):
        scale = 100 if self.unit == "%" else 1
        return "%-44s expected %8.3f %s  seen %8.3f  off %+7.3f  allowed %6.3f%s" % (
            self.what, scale * self.expected, self.unit, scale * self.seen,
            scale * (self.seen - self.expected), scale * self.allowed,
            "" if self.is_true else "  <-- WRONG")


def standard_error(share, samples):
    """Of a binomial share. One that is 0 or 1 is known no better than to one sample."""
    spread = max(share * (1 - share), 1 / max(samples, 1))
    return math.sqrt(spread / max(samples, 1))


def compare_waits(truth, report, method):
    """Of a recording of time on and off the CPU, in seconds: how long each function was waiting."""
    found = [Finding("recorded by " + method, 1, report.recorded["method"] == method, 0, "")]
    for name, s in truth.wait.items():
        allowed = HUNDREDTH * s + truth.waits[name] * WAIT_S.get(method, SWITCH_S)
        seen = report.total_s(name)
        # Waits at which nobody looked have their length, and no place.
        most = seen if method == "perf" else seen + report.self_s("[waiting]")
        found.append(Finding("wait " + name, s, min(max(s, seen), most), allowed, "s"))
    for name, s in truth.self.items():
        allowed = ERRORS * s / math.sqrt(RATE.get(method, 1000) * s) + truth.error_s
        found.append(Finding("self " + name, s, report.self_s(name), allowed, "s"))
    return found


def compare(truth, report, asks, rename=(), method="", is_cut=False, weight=1, cut=WHOLE):
    """All findings. `asks` are the kinds of lines to compare; `rename` says under which other name
    rows stand; `is_cut`: that stacks are allowed to be cut, if the report says so; `cut`: else, how many;
    `weight`: how many periods a sample stands for, so that so many fewer would say as much."""
    n, cpu, seen_cpu = report.samples() / weight, truth.cpu_s, report.sampled_s
    if "wait" in asks:
        return compare_waits(truth, report, method)
    clock = max(truth.error_s / cpu, min(report.clock_s() / seen_cpu, MOST_CLOCK) if seen_cpu else 0)
    cut_s = report.cut_s()  # callers that are not known, and said to be
    unseen_s = max(cut_s - sum(truth.kernel.values()), 0) if method == USER_CODE else 0
    found = []
    if method:
        found.append(Finding("recorded by " + method, 1, report.recorded["method"] == method, 0, ""))
    if not is_cut:
        found.append(Finding("stacks that are not whole", 0, report.cut_share(), cut))

    def estimate(p):
        """Of a share `p`, how far off its part in the kernel may be: that is estimated by looks."""
        kernel, looks = report.kernel_s() / seen_cpu, report.probes()
        return kernel * standard_error(min(p / kernel, 1), looks) if looks and kernel else 0

    def share(kind, name, expected_s, seen_s, most_s=None, ticks=False):
        p = min(expected_s / cpu, 1)
        allowed = ERRORS * standard_error(p, n) + clock
        if ticks:  # what is the kernel's is known by the tick alone
            allowed += ERRORS * standard_error(p, cpu * TICKS_PER_S)
        if method == USER_CODE and kind != "self":
            allowed += ERRORS * estimate(p)
        missing_s = report.missing_s(weight > 1)
        all_s = seen_cpu + missing_s
        low, high = (s / all_s if all_s else 0 for s in (seen_s, (most_s or seen_s) + missing_s))
        found.append(Finding("%s %s" % (kind, name), p, min(max(p, low), high), allowed))

    found += account(truth, report)
    if "self" in asks:
        expected = {}
        for name, s in truth.self.items():
            name = dict(rename).get(name, name)
            expected[name] = expected.get(name, 0) + s
        for name, s in expected.items():
            # Interrupts of the machine are rows of the kernel's, below the function that they hit:
            # by its own clock they are its time. It calls nothing, so its total is that at most.
            # Where the kernel may not be seen they are in a row that is nobody's.
            share("self", name, s, report.self_s(name), report.total_s(name) + unseen_s)
    if "total" in asks:
        for name, s in truth.total.items():
            share("total", name, s, report.total_s(name), report.total_s(name) + cut_s)
    if "kernel" in asks and truth.kernel:
        share("self", "[kernel]", sum(truth.kernel.values()), report.kernel_s(), ticks=method == USER_CODE)
    if "path" in asks:
        for path, s in truth.path.items():
            seen_s = report.path_s(path)
            share("path", path, s, seen_s, seen_s + cut_s)
    if "calls" in asks:
        for name, number in truth.calls.items():
            found.append(Finding("calls " + name, number, report.calls(name), 0, "calls"))
    return found


def notes(report, expected):
    """Whether the recording says what it does not know of generated code, and nothing without need."""
    said = [loss["text"] for loss in report.recorded["losses"] if "generated code" in loss["text"]]
    found = bool(said) if not expected else any(expected in text for text in said)
    return [Finding("said of generated code", bool(expected), found, 0, "")]


def account(truth, report):
    """Whether all CPU time is there: as the program knows it, as the kernel's accounts have it, and
    as samples and named losses add up to it."""
    r, outside_s = report.recorded, OUTSIDE_S * max(1, report.recorded["processes"])
    return [Finding("CPU time of the program", truth.cpu_s, r["cpu_time"],
                    HUNDREDTH * truth.cpu_s + outside_s, "s"),
            Finding("CPU time accounted for, and lost", r["cpu_time"],
                    r["accounted_time"] + report.lost_s(),
                    HUNDREDTH * truth.cpu_s + outside_s, "s"),
            Finding("CPU time in rows", r["accounted_time"], report.sampled_s + report.own_s,
                    HUNDREDTH * truth.cpu_s + outside_s, "s")]


# --- running --------------------------------------------------------------------------------------

def become(recorder, workshop):
    """The words before a command that make it run as that recorder's user, refused or not."""
    words = []
    if not recorder.is_root and os.geteuid() == 0:
        if not shutil.which("setpriv"):
            raise Unavailable("no setpriv")
        words += ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups"]
    if recorder.is_root and os.geteuid() != 0:
        raise Unavailable("not root")
    if recorder.is_refused:
        words.append(workshop.refuser())
    return words


def record(case_folder, program, arguments, recorder, workshop, options=()):
    """Runs the program under `monarc run`; returns what it says, the recording and the result."""
    folder = tempfile.mkdtemp(dir=case_folder)
    os.chmod(folder, 0o777)
    said = os.path.join(folder, "truth")
    recording = os.path.join(folder, "rec")
    rate = ["--rate=%d" % recorder.rate] if recorder.rate else []
    monarc = MONARC if recorder.is_root else MONARC_FOR_ALL
    command = [*become(recorder, workshop), monarc, "run", "--no-report", "-o", recording, *rate,
               *options, "--", program, *arguments]
    environment = dict(os.environ, TRUTH=said, LC_ALL="C")
    environment.pop("LD_PRELOAD", None)
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                            timeout=HANGS_S, stdin=subprocess.DEVNULL)
    return said, recording, result


def bare(case_folder, program, arguments):
    """The same without monarc; returns what it says and the CPU time that its parent sees."""
    folder = tempfile.mkdtemp(dir=case_folder)
    said = os.path.join(folder, "truth")
    child = subprocess.Popen([program, *arguments], cwd=folder, env=dict(os.environ, TRUTH=said),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    return said, used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit("truth.py is a library; see run.py")
