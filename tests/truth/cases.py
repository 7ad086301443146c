"""The programs of tests/truth and what is asked about each: one row a case."""
import dataclasses

LIBRARIES = (("lib_a.so", ("-DPLUGIN=in_a",)), ("lib_b.so", ("-DPLUGIN=in_b",)))
STRIPPED = (("lib_a.so", ("-DPLUGIN=in_a", "-s")),)
EVERY = ("O0", "O2", "frames", "static", "nonpie")
PERF = ("perf", "user")
ALL = ("perf", "user", "refused", "refused-user")


@dataclasses.dataclass
class Case:
    name: str
    source: str
    arguments: tuple = ()
    asks: tuple = ("self", "total", "kernel", "path", "calls")
    builds: tuple = ("O2",)          # in which `run.py` asks it
    recorders: tuple = ALL
    extra: tuple = ()                # flags
    libraries: tuple = ()
    options: tuple = ()              # of `monarc run`
    flat: tuple = ()                 # options of `monarc flat`
    status: int = 0
    is_cut: object = False           # stacks need not be whole, if the report says so; or: by whom
    cut: float = 0.01                # part of stacks that may be cut
    weight: float = 1                # of a sample, in periods: about two where clocks are young
    note: str = ""                   # a loss has to say it; without it, none may of names
    rename: tuple = ()               # (function, name of its row), ...; @f: the address of f

    @property
    def build(self):
        """The one that a quick run takes: as Debian's packages are built, where that is asked."""
        return "O2" if "O2" in self.builds else self.builds[-1]


FEW_LOOKS = 0.2  # may be cut: a share that a busy machine does not reach
CASES = [
    Case("user", "shares.c", ("user",), builds=EVERY),
    Case("kernel", "shares.c", ("kernel",), builds=EVERY),
    Case("calls", "shares.c", ("calls",)),
    Case("asked", "asked.c", builds=("O2", "static")),
    Case("faults", "shares.c", ("faults",), builds=("O2", "static")),
    Case("blocked", "shares.c", ("blocked",)),
    Case("stripped", "shares.c", ("user",), builds=("stripped",), 
         rename=tuple((name, "[@%s] (shares)" % name) for name in ("half", "third", "sixth"))),
    Case("no-tables", "shares.c", ("user",), builds=("stripped",), is_cut=True,
         extra=("-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer"),
         rename=tuple((name, "[no symbol] (shares)") for name in ("half", "third", "sixth"))),
    Case("paths", "callers.c", ("paths",), builds=EVERY),
    Case("direct", "callers.c", ("direct",), builds=EVERY),
    Case("mutual", "callers.c", ("mutual",), builds=EVERY),
    # A copy of a stack has 63 kB at most; what no look has come to is cut: a percent or two on an idle machine, more
    # where looks must wait.
    Case("deep", "callers.c", ("900",), builds=("O0", "O2", "frames"), cut=FEW_LOOKS, weight=2),
    Case("shallow", "callers.c", ("30",)),
    Case("large", "callers.c", ("large",), builds=("O2", "frames"), cut=FEW_LOOKS, weight=2),
    *(Case("descend-" + name.replace(" ", "-"), "callers.c", ("descend", name), builds=builds, cut=FEW_LOOKS,
           weight=2)
      for name, builds in (("50 bytes x 4000", ("O2",)), ("200 bytes x 1000", ("O2", "frames")),
                           ("20 kB x 10", ("O0", "O2", "static")), ("64 kB", ("O2",)), ("1 MB", ("O2",)))),
    # A stack is known to be deep after the first look at it has been counted: of 0.2 s, some are over by then.
    Case("deep-kernel", "shares.c", ("deep-kernel",), cut=0.4, weight=2),
    Case("descend-100000", "callers.c", ("descend", "50 bytes x 100000"), is_cut=True),
    # musl has no unwind tables: the code is followed to where it returns.
    Case("musl", "sorts.c", builds=("musl", "musl-static"), asks=("self", "total", "path"), cut=0.02),
    Case("musl-descend", "callers.c", ("descend", "20 kB x 10"), builds=("musl", "musl-static"), cut=FEW_LOOKS, weight=2),
    Case("inlined", "inlined.c", builds=("O2", "frames", "nonpie")),
    Case("unequal", "threads.c", ("unequal",), builds=("O2", "static")),
    # clone3 of the C library has no unwind table at its system call.
    Case("many", "threads.c", ("many",), is_cut=True),
    Case("short", "threads.c", ("short",), is_cut=True, weight=2),
    Case("short-processes", "threads.c", ("processes",), is_cut=True, weight=2, recorders=("perf",)),
    Case("in-step", "rhythm.c", recorders=PERF),
    Case("moments", "rhythm.c", ("moments",), is_cut=True, recorders=PERF),
    Case("library", "libraries.c", ("once",), libraries=LIBRARIES, builds=("O2", "O0")),
    Case("library-turn", "libraries.c", ("turn",), libraries=LIBRARIES),
    Case("library-apart", "libraries.c", ("apart",), libraries=LIBRARIES),
    Case("library-relative", "libraries.c", ("relative",), libraries=LIBRARIES),
    # An ordinary user cannot read a file that was deleted before the first look at it.
    Case("library-deleted", "libraries.c", ("deleted",), libraries=LIBRARIES,
         recorders=("perf", "refused")),
    Case("library-stripped", "libraries.c", ("once",), libraries=STRIPPED,
         rename=(("in_a", "[@in_a] (lib_a.so)"),)),
    Case("generated-named", "generated.c", ("named",)),
    Case("generated-framed", "generated.c", ("framed",)),
    Case("generated-leaf", "generated.c", ("leaf",), is_cut=True),
    Case("jitted-map", "jitted.c", ("map",)),
    Case("jitted-dump", "jitted.c", ("dump",)),
    Case("jitted-forked", "jitted.c", ("forked",)),
    Case("jitted-executed", "jitted.c", ("executed",)),
    Case("jitted-apart", "jitted.c", ("apart",), recorders=("perf", "refused")),
    Case("jitted-killed", "jitted.c", ("killed",), status=128 + 9),
    Case("jitted-outlived", "jitted.c", ("outlived",)),
    Case("jitted-reused", "jitted.c", ("reused",), note="several functions"),
    Case("coroutines", "switched.c", ("coroutines",)),
    Case("handler", "switched.c", ("handler",), is_cut=True, builds=("O2", "static")),
    Case("language-c++", "language.cc", builds=("O0", "O2")),
    Case("language-fortran", "language.f90", extra=("-fno-inline",),
         rename=tuple((name, "__work_MOD_" + name) for name in ("three_parts", "one_part"))),
    # What a loop consists of in this language are inlined functions, which have rows of their own.
    Case("language-rust", "language.rs", flat=("--no-inlines",),
         rename=tuple((name, "language::" + name) for name in ("three_parts", "one_part"))),
    Case("waits", "waits.c", asks=("wait",), builds=("O0", "O2", "static"), options=("--off-cpu",)),
    Case("counted", "counted.c", extra=("-pg",)),
    Case("end-_exit", "ends.c", ("_exit",)),
    Case("end-kill", "ends.c", ("kill",), status=128 + 9),
    Case("end-term", "ends.c", ("term",), status=128 + 15),
    Case("end-abort", "ends.c", ("abort",), status=128 + 6),
    Case("sandbox", "ends.c", ("sandbox",), builds=("O2", "static")),
    Case("defaults", "ends.c", ("defaults",)),
    Case("deleted", "ends.c", ("deleted",)),
    Case("memory", "ends.c", ("memory",), builds=("O2", "static")),
    Case("child-fork", "children.c", ("fork",), builds=("O2", "static")),
    Case("child-many", "children.c", ("many",)),
    Case("child-vfork", "children.c", ("vfork",), builds=("O2", "static")),
    Case("child-spawn", "children.c", ("spawn",)),
    Case("child-shell", "children.c", ("shell",)),
    Case("child-exec", "children.c", ("exec",)),
    Case("child-killed", "children.c", ("killed",)),
    Case("child-daemon", "children.c", ("daemon",), options=("--follow-daemons=100",)),
]
BY_NAME = {case.name: case for case in CASES}
