#!/usr/bin/env python3
"""programs.py: laws of profiles with exact counts (frame: laws.py; programs: coverage_programs.py).

Programs that count their own statements are compiled with -pg, run, and recorded by --cover-blocks: calls and arcs
are those that the programs counted, in every report, and what cannot matter changes none of them."""

import collections
import re
import shutil

import laws
from coverage_programs import Built, Program, Written, statements

TABLE = laws.Table("profiles of programs", __file__, inputs=2, share=1)
law = TABLE.law


def build(subject, language, compiler, flags=()):
    subject.program = Program(subject.random, language)
    subject.compiler, subject.flags = compiler, flags
    subject.tests = [subject.random.randrange(1, 60) for _ in range(subject.random.randint(1, 2))]
    subject.built = Built(subject.folder / "a", Written(subject.program), compiler, subject.tests, flags)


def compiled(name, language, compiler, *flags):
    if shutil.which({"pg": "gcc", "clang-pg": "clang"}[compiler]):
        def kind(subject):
            build(subject, language, compiler, flags)
        kind.__name__ = name
        TABLE.kind(kind)


compiled("c", "c", "pg")
compiled("cpp", "c++", "pg")
compiled("c_clang", "c", "clang-pg")
compiled("c_static", "c", "pg", "-static")


def bare(name):
    """A function's name without what it takes, and without the number of a copy; of what is inside of a function, none."""
    return "" if "::" in name else re.sub(r"<.*|\(.*|\.[0-9]+$| \[.*", "", re.sub(r"^(int|void) ", "", name))


def profiles(folder):
    return sorted(f"{path.relative_to(folder.parent)}" for path in (folder / "runs").glob("t*/gmon*"))


def operands(built):
    return [f"{built.folder.name}/prog", *profiles(built.folder)]


def names_of(program):
    return {f.name for f in program.functions if f.kind != "coroutine"} | {"main"} | {n for p in program.pairs for n in p.names}


def by_name(rows, of, prefix=""):
    """Sums of the program's own functions: a function of a header has a copy in each file that calls it."""
    sums = collections.Counter()
    for name, count in rows:
        if bare(name).removeprefix(prefix) in of:
            sums[bare(name).removeprefix(prefix)] += count
    return {name: n for name, n in sums.items() if n}


def flat_calls(subject, built, prefix=""):
    rows = subject.json("flat", "--all", *operands(built))["functions"]
    return by_name(((f["name"], f["calls"] or 0) for f in rows), names_of(subject.program), prefix)


def graph_arcs(subject, built, prefix=""):
    """{(caller, callee): calls}, of the program's own functions."""
    sums, of = collections.Counter(), names_of(subject.program)
    for entry in subject.json("graph", "--entries", "--all", *operands(built))["entries"]:
        for arc in entry.get("callees", ()) if entry["kind"] == "function" else ():
            two = tuple(bare(side["name"]).removeprefix(prefix) for side in (entry, arc) if side.get("name"))
            if arc["kind"] == "arc" and len(two) == 2 and set(two) <= of:
                sums[two] += arc["calls"]
    return {two: n for two, n in sums.items() if n}


def true_calls(subject, built):
    truth, sums = built.total(), collections.Counter()
    for (_, name), key in built.written.entries.items():
        sums[name.removeprefix(built.written.prefix)] += truth[key]
    return {name: n for name, n in sums.items() if n and name != "main"}


def true_arcs(subject, built):
    """Of calls that are statements; the two functions of a macro are called by main()."""
    truth, sums, program = built.total(), collections.Counter(), subject.program
    for name, body in [("main", program.main), *((f.name, f.body) for f in program.functions)]:
        for s in statements(body):
            if s.kind == "call":
                sums[name, s.callee.name] += truth[s.key]
    for pair in program.pairs:
        for name, keys in zip(pair.names, pair.keys):
            sums["main", name] += truth[keys[0]]
    return {two: n for two, n in sums.items() if n}


def without_main(calls):
    return {name: n for name, n in calls.items() if name != "main"}


@law()
def calls_are_the_programs_own(subject):
    """Each function has the calls that the program counted in all its runs, in flat and in monarc gprof; two of one name
    have a row each."""
    wanted = true_calls(subject, subject.built)
    subject.equal(without_main(flat_calls(subject, subject.built)), wanted, "flat")
    rows = []
    for line in subject.text("gprof", "-b", "-p", "-z", *operands(subject.built)).splitlines():
        cells = line.split(None, 6)
        if len(cells) == 7 and cells[3].isdigit():
            rows.append((cells[6], int(cells[3])))
    subject.equal(without_main(by_name(rows, names_of(subject.program))), wanted, "gprof")
    truth = subject.built.total()
    twins = sorted(truth[f.body[0].key] for f in subject.program.functions if f.kind == "twin")
    table = subject.json("flat", "--all", *operands(subject.built))["functions"]
    subject.equal(sorted(f["calls"] for f in table if bare(f["name"]) == "helper" and f["calls"]), [n for n in twins if n],
                  "functions of one name")


@law()
def arcs_are_the_programs_own(subject):
    """Each two functions have the calls that the program counted, in the graph."""
    found = {two: n for two, n in graph_arcs(subject, subject.built).items() if two[1] != "main"}
    subject.equal(found, true_arcs(subject, subject.built), "arcs")


@law()
def runs_add_up(subject):
    """Calls of all runs are the sum of each run's, and what merge makes of them."""
    sums, built = collections.Counter(), subject.built
    for name in profiles(built.folder):
        rows = subject.json("flat", "--all", "a/prog", name)["functions"]
        sums.update(by_name(((f["name"], f["calls"] or 0) for f in rows), names_of(subject.program)))
    subject.equal(flat_calls(subject, built), dict(sums), "operands")
    subject.run("merge", "-o", "sum.out", *profiles(built.folder))
    rows = subject.json("flat", "--all", "a/prog", "sum.out")["functions"]
    subject.equal(by_name(((f["name"], f["calls"] or 0) for f in rows), names_of(subject.program)), dict(sums), "merged")


# What cannot matter.

def variant(subject):
    """Another way to write or to link the program."""
    if hasattr(subject, "other"):
        return subject.which, subject.other
    draw, truth = laws.random.Random(f"{subject.name}:variant"), subject.built.total()
    never = {s.key for s in subject.program.all_statements() if not truth[s.key]}
    which = draw.choice(("removed", "reversed", "renamed", "split", "moved", "static", "debug file"))
    how = {"removed": {"removed": never}, "reversed": {"reverse": True}, "renamed": {"prefix": "other_"}, "split": {"splits": True}}
    flags = (*subject.flags, *(("-static",) if which == "static" else ()))
    other = Built(subject.folder / "b", Written(subject.program, **how.get(which, {})), subject.compiler, subject.tests, flags,
                  sources="moved/here/" if which == "moved" else "")
    if which == "debug file":
        other.do(["objcopy", "--only-keep-debug", "prog", "prog.debug"])
        other.strip()
        other.do(["objcopy", "--add-gnu-debuglink=prog.debug", "prog"])
    subject.which, subject.other = which, other
    return which, other


@law()
def what_cannot_matter_to_calls(subject):
    """Without what never ran, in another order, of other names, with a loop in two, moved, linked statically, or stripped
    with a debug file, the program has the same calls of functions and of each two of them."""
    which, other = variant(subject)
    prefix = other.written.prefix
    subject.equal(without_main(flat_calls(subject, other, prefix)), without_main(flat_calls(subject, subject.built)), f"{which}: calls")
    mine, its = (({two: n for two, n in graph_arcs(subject, b, p).items() if two[1] != "main"})
                 for b, p in ((subject.built, ""), (other, prefix)))
    subject.equal(its, mine, f"{which}: arcs")


def blocks(subject, built):
    """{key: whether a line of it ran} by --cover-blocks, of the first run, and what the program counted then."""
    folder = built.folder
    info, truth = folder / "prog.info", folder / "block-truth"
    if not info.exists():
        done = laws.subprocess.run([laws.monarc_path(), "run", "--cover-blocks", "./prog", str(subject.tests[0])],
                                   cwd=folder, capture_output=True, text=True, stdin=laws.subprocess.DEVNULL, timeout=600,
                                   env={**laws.os.environ, "TRUTH": str(truth), "GMON_OUT_PREFIX": str(folder / "traced")})
        subject.holds(done.returncode == 0 and info.exists(), done.stderr[-600:])
    report = laws.json.loads(subject.text("cover", "--json", "-", "--root", f"{folder.name}/{built.sources}", f"{folder.name}/prog.info",
                                          status=(0, 1)))
    lines = {(s["path"], line["line"]): line["count"] for s in report["sources"] for line in s["lines"]}
    counted = [int(n) for n in truth.read_text().split()]
    exact = sorted(built.written.exact)
    return ({key: lines.get(built.written.place[key]) for key in exact}, {key: int(counted[key] > 0) for key in exact})


@law("c", "cpp", "c_clang")
def blocks_are_the_programs_own(subject):
    """--cover-blocks has each line that the program counted as run, and each other one as not run."""
    found, truth = blocks(subject, subject.built)
    subject.equal(found, truth, "lines")


@law("c", "cpp", "c_clang")
def what_cannot_matter_to_blocks(subject):
    """The same changes leave the lines that --cover-blocks says ran."""
    which, other = variant(subject)
    mine, its = (blocks(subject, b)[0] for b in (subject.built, other))
    keys = sorted(mine.keys() & its.keys())
    subject.equal({k: its[k] for k in keys}, {k: mine[k] for k in keys}, which)


# A header was a source of its own for each folder from which it was included.
TABLE.keep("blocks_are_the_programs_own", "c", 2903521438)

if __name__ == "__main__":
    TABLE.main()
