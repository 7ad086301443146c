#!/usr/bin/env python3
"""coverage.py: laws of coverage (frame: laws.py; programs: coverage_programs.py; formats: coverage_formats.py).

Inputs are programs in C, C++ and Rust, compiled by gcc, clang and rustc in each of their ways to count, which count their
own statements, and tracefiles that are made up."""

import json
import random
import shutil

import laws

import coverage_formats
from coverage_programs import Built, Program, Written

TABLE = laws.Table("coverage", __file__, inputs=5)
DRIVERS = {"gcc": "g++", "clang": "clang++", "clang-gcov": "clang++", "rustc": "rustc"}


def has(compiler):
    return shutil.which(DRIVERS[compiler]) is not None


# ---- inputs

def build(subject, language, compiler, extras=()):
    subject.compiler = compiler
    subject.program = Program(subject.random, language, extras)
    subject.tests = [subject.random.randrange(1, 60) for _ in range(subject.random.randint(1, 3))]
    subject.built = Built(subject.folder / "a", write(subject), compiler, subject.tests)
    subject.operands = [f"a/{name}" for name in subject.built.operands()]
    subject.options = ("--root", "a")


def write(subject, **how):
    return Written(subject.program, has_one_mapping=subject.compiler == "clang", **how)


def compiled(name, language, compiler, *extras):
    """A kind, where its compiler is here."""
    if has(compiler):
        def kind(subject):
            build(subject, language, compiler, extras)
        kind.__name__ = name
        TABLE.kind(kind)


compiled("c_gcc", "c", "gcc")
compiled("cpp_gcc", "c++", "gcc")
compiled("openmp_gcc", "c", "gcc", "parallel")
compiled("coroutine_gcc", "c++", "gcc", "coroutine")
compiled("c_clang", "c", "clang")
compiled("cpp_clang", "c++", "clang")
compiled("cpp_clang_gcov", "c++", "clang-gcov")
compiled("rust", "rust", "rustc")
COMPILED = list(TABLE.kinds)


def draw_trace(code, draw, sources, rate):
    """A tracefile. What is code comes from `code`, the same for all runs, what ran from `draw`."""
    text = []
    for path, length in sources:
        text += ["TN:", f"SF:{path}"]
        functions, first = [], 1
        while first < length:
            last = min(length, first + code.randint(2, 12))
            functions.append((first, last, draw.choice((1, 3, 2**40)) if draw.random() < rate else 0))
            first = last + code.randint(1, 3)
        for first, last, count in functions:
            text += [f"FN:{first},{last},f{first}", f"FNDA:{count},f{first}"]
        for first, last, count in functions:
            for line in range(first, last + 1):
                if code.random() > .7:
                    continue
                hits = draw.choice((0, 1, 2, 7, 2**33)) if count else 0
                text.append(f"DA:{line},{hits}")
                for block in range(code.choice((0, 0, 0, 1, 2))):
                    text += [f"BRDA:{line},{block},{branch},{draw.choice((0, hits)) if hits else '-'}" for branch in range(2)]
        text.append("end_of_record")
    return "\n".join(text) + "\n"


def made(name, names=("one/util.c", "two/util.c", "main.c"), longest=60, runs=(1, 3), rate=.7):
    """A kind: tracefiles of sources that are there."""
    def kind(subject):
        draw = subject.random
        subject.compiler = None
        subject.options = ("--root", "a")
        shape = [(n, draw.randint(5, longest)) for n in names[:draw.randint(1, len(names))]]
        for n, length in shape:
            path = subject.folder / "a" / n
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"call({i});\n" for i in range(length)))
        (subject.folder / "a/.git").mkdir()
        count = draw.randint(*runs)
        code = draw.getrandbits(32)
        for i in range(count):
            text = draw_trace(random.Random(code), draw, [(subject.folder / "a" / n, length) for n, length in shape], rate)
            (subject.folder / f"a/t{i}.info").write_text(text)
        subject.operands = [f"a/t{i}.info" for i in range(count)]
    kind.__name__ = name
    TABLE.kind(kind)


made("made")
made("made_large", ("large.c", "small.c"), 4000)
made("made_tiny", longest=6)
made("made_many_runs", runs=(4, 9))
made("made_unrun", rate=0)
made("made_many_sources", tuple(f"{folder}/{n}.c" for folder in ("a", "b", "a/b") for n in ("x", "y", "z", "main")), 12)
MADE = [kind for kind in TABLE.kinds if kind not in COMPILED]


# ---- what laws ask

def cover(subject, *arguments, operands=None, status=(0, 1)):
    """The JSON of a report."""
    return cover_json(subject, *subject.options, *arguments, *(subject.operands if operands is None else operands), status=status)


def cover_json(subject, *arguments, status=(0, 1)):
    return json.loads(subject.text("cover", "--json", "-", *arguments, status=status))


def lines_of(report):
    """{(source, line): count}; None is unknown."""
    return {(s["path"], line["line"]): line["count"] for s in report["sources"] for line in s["lines"]}


def hits(lines):
    return sorted(place for place, count in lines.items() if count)


def hits_of(report):
    return hits(lines_of(report))


def summable(subject, lines):
    """Lines whose count is a sum. That of a line with several of clang's regions is the highest of them: of those,
    the ones that hold a statement alone."""
    if subject.compiler not in ("clang", "rustc"):
        return lines
    written = subject.built.written
    exact = {written.place[key] for key in written.exact}
    return {place: count for place, count in lines.items() if place in exact}


def branches_of(report):
    return {(s["path"], line["line"]): sorted(b["count"] or 0 for b in line["branches"])
            for s in report["sources"] for line in s["lines"] if line.get("branches")}


def functions_of(report):
    return {(s["path"], f["linkage_name"]): f["count"] for s in report["sources"] for f in s["functions"]}


# ---- laws: the program's own counts

@TABLE.law(*COMPILED)
def counts_are_the_programs_own(subject):
    """A line that a program counts has that count, and no line that it counts is missing."""
    found, truth, written = lines_of(cover(subject)), subject.built.total(), subject.built.written
    subject.equal({k: found.get(written.place[k]) for k in sorted(written.exact)},
                  {k: truth[k] for k in sorted(written.exact)}, "counts by statement")


@TABLE.law(*COMPILED)
def branches_are_the_programs_own(subject):
    """Both ways of a decision have been taken as often as the program counted in its arms."""
    found, truth, written = branches_of(cover(subject)), subject.built.total(), subject.built.written
    wanted, seen = {}, {}
    for key, then in written.decisions.items():
        wanted[key] = sorted((truth[then], truth[key] - truth[then]))
        seen[key] = found.get(written.place[key], wanted[key] if subject.compiler == "rustc" else None)
    for i, pair in enumerate(subject.program.pairs):
        place = written.place[pair.keys[0][0]]
        if subject.compiler == "gcc" or (subject.compiler == "clang" and i % 2):
            wanted[pair.names[0]] = sorted(truth[k] for keys in pair.keys for k in keys[1:])
            seen[pair.names[0]] = found.get(place)
    subject.equal(seen, wanted, "branches by statement")


@TABLE.law("c_gcc", "openmp_gcc", "c_clang")
def functions_are_the_programs_own(subject):
    """Each function has the calls that the program counted, two of one name apart."""
    truth, written = subject.built.total(), subject.built.written
    found = functions_of(cover(subject))
    wanted = {}
    for (file, name), key in written.entries.items():
        wanted[file, name] = truth[key]
    # Of clang's, static functions of one name have the file's name before theirs.
    seen = {(path, name.rpartition(":")[2]): count for (path, name), count in found.items()}
    subject.equal({k: seen.get(k) for k in wanted}, wanted, "calls")


# ---- laws: formats

@TABLE.law()
def formats_agree(subject):
    """Totals of lines, functions and branches are the same in every format."""
    wanted = coverage_formats.of_json(subject.text("cover", *subject.options, "--json", "-", *subject.operands))
    names = [n for n in coverage_formats.READERS if n != "json"]
    subject.run("cover", *subject.options, *(f"--format={n}=out.{n}" for n in names), *subject.operands, status=(0, 1))
    for name in names:
        data = (subject.folder / f"out.{name}").read_bytes()
        try:
            found = coverage_formats.read(name, data)
        except AssertionError as why:
            raise laws.Broken(f"{name}: {why}") from None
        all_lines = found.pop("all lines", wanted["lines"][1])
        subject.equal(all_lines, wanted["lines"][1], f"{name}: number of lines")
        subject.equal(found, {what: wanted[what] for what in found}, name)


@TABLE.law()
def page_agrees(subject):
    """The page's totals, those of its files and the states of its lines are those of `cover`."""
    subject.run("html", *subject.options, "-o", "page.html", *subject.operands, status=(0, 1))
    wanted = coverage_formats.of_json(subject.text("cover", *subject.options, "--json", "-", *subject.operands))
    try:
        found = coverage_formats.of_page((subject.folder / "page.html").read_text())
    except AssertionError as why:
        raise laws.Broken(f"page: {why}") from None
    subject.equal(found, wanted, "page")


# ---- laws: sums

def parts(subject):
    """Operands of each test or tracefile."""
    if subject.compiler:
        return [[f"a/{n}" for n in subject.built.operands([i])] for i in range(len(subject.tests))]
    return [[name] for name in subject.operands]


@TABLE.law()
def parts_add_up(subject):
    """The count of a line is the sum of its counts in the tests, which are covered in the whole."""
    whole = lines_of(cover(subject))
    total = {}
    for part in parts(subject):
        for place, count in lines_of(cover(subject, operands=part)).items():
            total[place] = total.get(place, 0) + count
    subject.equal(hits(whole), hits(total), "lines that ran")
    subject.equal(summable(subject, whole), summable(subject, total), "counts of lines")


@TABLE.law()
def union_is_order_free(subject):
    """Adding up is commutative, associative and, in what is covered, idempotent."""
    names = []
    for i, part in enumerate(parts(subject)):
        names.append(f"part{i}.info")
        subject.run("cover", *subject.options, "-q", "--lcov", names[-1], *part, status=(0, 1))
    whole = cover(subject, operands=names)
    subject.equal(summable(subject, lines_of(whole)), summable(subject, lines_of(cover(subject))),
                  "tracefiles of the parts, and the parts")
    subject.equal(branches_of(whole), branches_of(cover(subject)), "branches of tracefiles of the parts, and of the parts")
    for other, what in ((names[::-1], "backwards"), ([*names[1:], names[0]], "rotated")):
        again = cover(subject, operands=other)
        subject.equal((again["totals"], lines_of(again)), (whole["totals"], lines_of(whole)), what)
    subject.run("cover", *subject.options, "-q", "--lcov", "some.info", *names[1:], status=(0, 1)) if names[1:] else None
    if names[1:]:
        again = cover(subject, operands=[names[0], "some.info"])
        subject.equal((again["totals"], lines_of(again)), (whole["totals"], lines_of(whole)), "in two steps")
    twice = cover(subject, operands=[*names, *names])
    subject.equal(twice["totals"], whole["totals"], "twice")
    subject.equal(lines_of(twice), {k: 2 * v for k, v in lines_of(whole).items()}, "twice")


@TABLE.law(*COMPILED)
def tests_are_kept_apart(subject):
    """By test, each has run as many lines as it ran alone."""
    if len(subject.tests) < 2:
        return laws.NOTHING
    found = cover_json(subject, *subject.options, "--by-test", "--runs", "a/runs", subject.operands[0])
    wanted = {f"t{i}": len(hits_of(cover(subject, operands=part))) for i, part in enumerate(parts(subject))}
    subject.equal({t["name"]: t["lines"] for t in found["tests"]}, wanted, "lines by test")


@TABLE.law()
def same_against_same(subject):
    """Compared with itself, nothing has changed, and a gate that allows no fall holds."""
    subject.run("cover", *subject.options, "-q", "--lcov", "old.info", *subject.operands, status=(0, 1))
    found = subject.json("diff", "old.info", "old.info")
    changed = [s for s in found["sources"] if s.get("lost") or s.get("gained")]
    subject.equal(changed, [], "sources that changed")
    subject.run("check", "--baseline", "old.info", "--max-coverage-fall", "0", "old.info")


# ---- laws: gates

GATES = (("line", "lines"), ("branch", "branches"), ("function", "functions"))


def exact_percent(hit, whole):
    """The percentage in decimal, if its digits end; else cut and the next above: (holds, does not)."""
    scaled, rest = divmod(hit * 10**8, whole)
    text = [f"{n // 10**6}.{n % 10**6:06}" for n in (scaled, scaled + 1)]
    return text[0], text[1], rest == 0


@TABLE.law()
def gates_hold_at_equality(subject):
    """A gate at the very percentage holds, one a millionth above fails; of cover and of html, by test as well."""
    totals = cover(subject)["totals"]
    for gate, what in GATES:
        hit, whole = totals[what]["hit"], totals[what]["all"]
        if not whole or totals[what]["unknown"]:
            continue
        at, above, _ = exact_percent(hit, whole)
        for command in (["cover", "-q"], ["html", "-o", "gate.html"]):
            subject.run(*command, *subject.options, f"--fail-under-{gate}", at, *subject.operands, status=(0,))
            if hit < whole:
                subject.run(*command, *subject.options, f"--fail-under-{gate}", above, *subject.operands, status=(1,))
    lines = totals["lines"]
    if subject.compiler and lines["hit"] < lines["all"]:
        subject.run("cover", *subject.options, "--by-test", "--fail-under-line", "100", "--runs", "a/runs", subject.operands[0], status=(1,))


@TABLE.law()
def gates_judge_nothing_of_nothing(subject):
    """A gate that judged nothing did not pass: status 2, in cover and html."""
    nothing = "/dev/null"
    for command in (["cover", "-q"], ["html", "-o", "gate.html"]):
        subject.run(*command, *subject.options, "--diff", nothing, "--fail-under-diff", "80", *subject.operands, status=(2,))
        subject.run(*command, *subject.options, "--include", "no such source", "--fail-under-line", "0", *subject.operands, status=(2,))


@TABLE.law(*MADE)
def falls_hold_at_equality(subject):
    """A fall of exactly what is allowed is allowed, one of more is not."""
    draw = subject.random
    whole = draw.choice((10, 16, 20, 25, 30, 40, 60, 125))
    old = draw.randint(1, whole)
    new = draw.randint(0, old - 1)
    for name, hit in (("old", old), ("new", new)):
        (subject.folder / f"{name}.info").write_text(
            "TN:\nSF:/x/a.c\n" + "".join(f"DA:{i + 1},{int(i < hit)}\n" for i in range(whole)) + "end_of_record\n")
    at, above, is_exact = exact_percent(old - new, whole)
    limit = at if is_exact else above
    below = f"{int(at.replace('.', '')) - 1:07}"
    below = f"{below[:-6]}.{below[-6:]}"
    check = "check", "--baseline", "old.info", "--max-coverage-fall"
    subject.run(*check, limit, "new.info", status=(0,))
    subject.run(*check, below, "new.info", status=(1,))


# ---- laws: what cannot matter

def variants(subject):
    """Another way to write the program, and which keys it still has."""
    truth = subject.built.total()
    never = {s.key for s in subject.program.all_statements() if not truth[s.key]}
    which = subject.random.choice(("removed", "reversed", "renamed", "split", "moved", "optimised link"))
    how = {"removed": {"removed": never}, "reversed": {"reverse": True}, "renamed": {"prefix": "other_"},
           "split": {"splits": True}}
    return which, write(subject, **how.get(which, {}))


@TABLE.law(*COMPILED)
def what_cannot_matter_does_not(subject):
    """Without what never ran, with functions in another order or of other names, with a loop in two, moved, linked
    statically or stripped, the rest has the same counts and branches."""
    which, written = variants(subject)
    flags = ("-static",) if which == "optimised link" and subject.compiler == "gcc" else ()
    other = Built(subject.folder / "b", written, subject.compiler, subject.tests, flags,
                  sources="moved/here/" if which == "moved" else "")
    if which == "optimised link" and not other.is_gcov():
        other.strip()
    subject.equal(other.total() if which != "removed" else None, subject.built.total() if which != "removed" else None,
                  f"{which}: the programs themselves")
    report = cover_json(subject, "--root", "b/" + other.sources, *(f"b/{n}" for n in other.operands()), status=(0, 1))
    mine, written_before = cover(subject), subject.built.written
    lines, lines_before = lines_of(report), lines_of(mine)
    keys = sorted(written.exact & written_before.exact)
    subject.equal({k: lines.get(written.place[k]) for k in keys}, {k: lines_before.get(written_before.place[k]) for k in keys},
                  f"{which}: counts by statement")
    branches, branches_before = branches_of(report), branches_of(mine)
    keys = sorted(written.decisions.keys() & written_before.decisions.keys())
    subject.equal({k: branches.get(written.place[k]) for k in keys},
                  {k: branches_before.get(written_before.place[k]) for k in keys}, f"{which}: branches by statement")
    if which in ("reversed", "renamed", "moved"):
        subject.equal(report["totals"], mine["totals"], f"{which}: totals")


@TABLE.law()
def names_of_the_folder_do_not_matter(subject):
    """Reached by a link, or named in another way, the project has the same sources and figures."""
    (subject.folder / "link").symlink_to("a")
    mine = cover(subject)
    report = cover_json(subject, "--root", "link", *(o.replace("a/", "link/", 1) for o in subject.operands), status=(0, 1))
    (subject.folder / "link").unlink()
    for one in (mine, report):
        one.pop("root")
    subject.equal((report["totals"], lines_of(report)), (mine["totals"], lines_of(mine)), "by a link")


# ---- laws: patches

def draw_patch(draw, places):
    """A unified diff whose new side is what was covered: {source: lines that it adds}, and its text."""
    added, text = {}, []
    for path, length in places:
        lines = sorted(draw.sample(range(1, length + 1), min(length, draw.randint(0, 9))))
        added[path] = set(lines)
        if not lines:
            continue
        text += [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"]
        for i, line in enumerate(lines):
            text += [f"@@ -{line - i - 1},0 +{line},1 @@", "+x"]
    return added, "\n".join(text) + "\n"


@TABLE.law()
def patches_choose_lines(subject):
    """The lines of a patch are those of the report that it adds, in each file of it alone."""
    report = cover(subject)
    lines = lines_of(report)
    places = [(s["path"], max(line["line"] for line in s["lines"])) for s in report["sources"] if s["lines"]]
    added, text = draw_patch(subject.random, places)
    # A file that has no coverage: of the name of one that has.
    text += "diff --git a/util.c b/util.c\n--- a/util.c\n+++ b/util.c\n@@ -0,0 +1,90 @@\n" + "+x\n" * 90
    (subject.folder / "p.diff").write_text(text)
    found = cover(subject, "--diff", "p.diff")["diff"]
    wanted = [lines[path, n] for path, numbers in added.items() for n in numbers if lines.get((path, n)) is not None]
    if not any(added.get(path) for path in added if path.endswith("util.c")):
        return laws.NOTHING  # then the patch may have been made in one of the folders
    subject.equal((found["lines"]["hit"], found["lines"]["all"] - found["lines"]["unknown"]),
                  (sum(c > 0 for c in wanted), len(wanted)), "lines of the patch")


# ---- laws: what is unknown

@TABLE.law(*COMPILED)
def missing_files_are_named(subject):
    """Counters that are cut, or gone for an object that ran, are named, and the status is 1."""
    draw = subject.random
    copy = subject.folder / "lost"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(subject.folder / "a", copy)
    files = sorted(p for pattern in ("*.gcda", "*.profraw") for p in (copy / "runs").rglob(pattern))
    victim = draw.choice(files)
    data = victim.read_bytes()
    victim.write_bytes(data[:draw.randrange(len(data) // 4, len(data) * 3 // 4)])
    done = subject.run("cover", "--root", "lost", *(o.replace("a/", "lost/", 1) for o in subject.operands), status=None)
    subject.holds(done.returncode, f"status 0 with {victim.name} cut")
    subject.holds(victim.name.encode() in done.stdout + done.stderr, f"{victim.name} was cut, and is not named")


TABLE.expect("functions_are_the_programs_own", "c_clang",
             "one of two functions of a macro that nobody calls is taken for an instance of the other", 1)

if __name__ == "__main__":
    TABLE.main()
