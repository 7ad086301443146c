#!/usr/bin/env python3
"""test_page.py: pages of real programs, and one that tries to break out, for browser.mjs to look at.

Needs Chromium and the node modules that tools/setup.sh's need_browser puts into build/npm. Without
them it skips, and says what is missing; with MONARC_BROWSER=required, as in .ci/run, that is a failure.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/cli"), str(ROOT / "tests")]

from harness import NM, gmon, monarc, monarc_json  # noqa: E402
from odd_pages import odd_profiles, odd_sources  # noqa: E402
from parts import is_wanted  # noqa: E402
from run_file import FILE, Run  # noqa: E402
from test_html import DETAILED, TEMPLATE, before_and_after, commit_both, hostile_program, moved_program  # noqa: E402

MODULES = Path(os.environ.get("MONARC_NODE_MODULES", ROOT / "build/npm/node_modules"))


def missing():
    for program in ("chromium", "node", "cc", "objcopy"):
        if not shutil.which(program):
            return f"{program} is not here"
    for module in ("playwright-core", "axe-core"):
        if not (MODULES / module).is_dir():
            return f"the node module {module} is not in build/npm (tools/setup.sh: need_browser)"
    return None


def entry(file, *arguments, cwd, **more):
    answer = monarc("html", "-o", file, *arguments, cwd=cwd)
    if answer.returncode > 1:
        raise SystemExit(answer.stderr.decode())
    return {"file": str(Path(cwd, file)), **more}


def profile_json(*arguments, cwd):
    return {"flat": monarc_json("flat", "--all", *arguments, cwd=cwd),
            "graph": monarc_json("graph", *arguments, cwd=cwd)}


def part(recording, start, end, folder):
    return {"from": start, "to": end,
            "flat": monarc_json("flat", "--from", start, "--to", end, recording, cwd=folder)}


def build(folder, flags):
    subprocess.run([ROOT / "examples/build.sh", folder, *flags], check=True, capture_output=True)


def run(program, folder):
    (folder / "gmon.out").unlink(missing_ok=True)
    subprocess.run([f"./{program}"], cwd=folder, check=True, capture_output=True)
    (folder / "gmon.out").rename(folder / f"{program}.gmon")


def details(folder):
    """Machine code and inlined calls, with samples on all of one function."""
    folder.mkdir()
    Path(folder, "p.c").write_text(DETAILED)
    subprocess.run(["cc", "-g", "-O1", "--coverage", "-o", "p", "p.c"], cwd=folder, check=True)
    subprocess.run(["./p"], cwd=folder, check=True)
    nm = subprocess.run([*NM, "-S", "p"], cwd=folder, check=True, capture_output=True, text=True).stdout
    start, size = next((int(line.split()[0], 16), int(line.split()[1], 16)) for line in nm.splitlines() if line.endswith(" work"))
    Path(folder, "p.gmon").write_bytes(gmon([(start, start + size // 2 * 2, [1] * (size // 2))]))
    return entry("p.html", "--force", "--asm", "--inlines", "p", "p.gmon", ".", cwd=folder,
                 details={"file": "p.c", "line": 5, "titles": ["Machine code", "Inlined into"]})


def moved(folder):
    """A line that has only moved has 300 samples instead of 10; 30 are in a function that has another line now, so that
    nobody knows which of its lines had them before."""
    folder.mkdir()
    moved_program(folder, "old", "", "")
    moved_program(folder, "new", "/* one\n * two */\n", "    x += 1;\n", 300)
    sides = ["new.program", "new.gmon", "--base", "old.program", "--base", "old.gmon"]
    return entry("moved.html", "--force", *sides, cwd=folder,
                 deltas={"file": "p.c", "cells": {"4": "+65.9\u2007", "8": ""}, "remark": "% of the base's time was on lines"})


def crowded(folder):
    """Thirty functions, each of which calls all that follow: more edges than are drawn at once."""
    folder.mkdir()
    names = [f"f{i:02}" for i in range(30)]
    Path(folder, "c.c").write_text("".join(f"void {name}(void) {{ }}\n" for name in names) + "int main(void) { return 0; }\n")
    subprocess.run(["cc", "-g", "-O0", "-o", "c", "c.c"], cwd=folder, check=True)
    nm = subprocess.run([*NM, "c"], cwd=folder, check=True, capture_output=True, text=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in nm.splitlines() if len(line.split()) == 3}
    low = at[names[0]] & ~15
    bins = [1] * ((at[names[-1]] + 16 - low) // 2)
    arcs = [(at[a] + 4, at[b], 1 + i) for i, a in enumerate(names) for b in names[i + 1:]]
    Path(folder, "c.gmon").write_bytes(gmon([(low, low + 2 * len(bins), bins)], arcs))
    return entry("c.html", "--force", "c", "c.gmon", cwd=folder, **profile_json("--force", "c", "c.gmon", cwd=folder))


def write_recording(file, names, stacks):
    """Of one thread, with so many samples of each stack."""
    run = Run(file.name)
    program = run.object(FILE, f"/bin/{file.name}", b"\7" * 20, bits=4)
    run.symbols = [(program, 4096 * (i + 1), 4096, name) for i, name in enumerate(names)]
    run.process(100, 1, program, file.name)
    run.thread(0, 100, file.name)
    for stack, samples in stacks:
        run.sample([(program, 4096 * (names.index(f) + 1) + 16) for f in stack], samples)
    run.write(file)


def far_below(folder):
    """A hot function ten calls below main(), past functions that are smaller than all that the graph shows at first."""
    folder.mkdir()
    large = [[f"large{chain}{i}" for i in range(6)] for chain in range(4)]
    names = ["main", "leaf", "hot", *sum(large, []), *(f"way{i}" for i in range(9))]
    stacks = [(["main", *chain[:1 + i]], 50) for chain in large for i in range(6)]
    stacks += [(["main", *chain, "leaf"], 100) for chain in large] + [(["main", *names[-9:], "hot"], 120)]
    write_recording(folder / "deep", names, stacks)
    return entry("deep.html", "--force", "deep", cwd=folder, flat=monarc_json("flat", "--all", "--force", "deep", cwd=folder),
                 way={"from": "main", "to": "hot", "through": 9})


def first_graph(stacks):
    """A page of these stacks, of which the graph that is shown at first must be one that can be read."""
    def make(folder):
        folder.mkdir()
        write_recording(folder / "stacks", sorted({fn for stack, _ in stacks for fn in stack}), stacks)
        return entry("stacks.html", "--force", "stacks", cwd=folder, flat=monarc_json("flat", "--all", "--force", "stacks", cwd=folder))
    return make


# 31 functions: 20 of them one behind the other, so that they are 11 boxes where these are an arrow, and 31 otherwise.
ONE_CHAIN = [(["main", *(f"step{i:02}" for i in range(20)), "hot"], 100), *((["main", f"other{i}"], 20) for i in range(9))]
# Large functions, of which none is called by a large one: with the ways to them, they are three times as many.
MANY_WAYS = [stack for i in range(17) for way in "ab" for stack in (
    (["main", *(f"way{i}{way}{step}" for step in range(4)), f"large{i}"], 50),
    (["main", *(f"way{i}{way}{step}" for step in range(2)), f"end{i}{way}"], 7))]


def parallel_job(folder):
    """Eight ranks, of which the fifth works three times as long and the others wait for it."""
    folder.mkdir()
    names = ["main", "spin", "PMPI_Allreduce", "poll", "log_it"]
    for rank in range(8):
        run = Run("job", start=1790000000 * 10**9 + rank * 10**6)
        program = run.object(FILE, "/bin/job", b"\7" * 20, bits=4)
        run.symbols = [(program, 4096 * (i + 1), 4096, name) for i, name in enumerate(names)]
        run.process(100 + rank, 1, program, "job")
        run.thread(0, 100 + rank, "job")
        for stack, samples in ((("main", "spin"), 900 if rank == 5 else 300), (("main", "log_it"), 20),
                               (("main", "PMPI_Allreduce", "poll"), 0 if rank == 5 else 600)):
            if samples:
                run.sample([(program, 4096 * (names.index(f) + 1) + 16) for f in stack], samples)
        run.ranks = [(0, rank, 8, rank % 4, "Open MPI", "n0")]
        run.write(folder / str(rank))
    recordings = [str(rank) for rank in range(8)]
    return entry("job.html", *recordings, cwd=folder, ranks=monarc_json("ranks", *recordings, cwd=folder),
                 flat=monarc_json("flat", "--all", *recordings, cwd=folder))


def long_source(folder):
    """A source of 400,000 lines, all of them counted."""
    folder.mkdir()
    lines = range(1, 400001)
    Path(folder, "long.c").write_text("".join(f"line{n};\n" for n in lines))
    counts = "".join(f"DA:{n},{n % 3}\n" for n in lines)
    Path(folder, "long.info").write_text(f"SF:{folder}/long.c\n{counts}end_of_record\n")
    return entry("long.html", "long.info", cwd=folder, lines={"long.c": 399999})


SPINNING = """
#include <stdlib.h>
#include <time.h>
static volatile long sum;
static __attribute__((noinline)) void grind(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end)
        for (int i = 0; i < 100000; i++)
            sum += i;
}
int main(int argc, char **argv) { grind(argc > 1 ? atof(argv[1]) : 0.1); return 0; }
"""
REQUESTS = """
#include <time.h>
static volatile long sum;
static __attribute__((noinline)) void parse(void) { for (int i = 0; i < 1000000; i++) sum += i; }
static __attribute__((noinline)) void ask_database(void) { nanosleep(&(struct timespec){0, 40000000}, 0); sum++; }
static __attribute__((noinline)) void handle_request(void) { parse(); ask_database(); sum++; }
int main(void) { for (int i = 0; i < 25; i++) handle_request(); return 0; }
"""


def slow_build(folder):
    """make that runs one program for 3 s of CPU time, and others for so little that they are short, but have samples."""
    folder.mkdir()
    Path(folder, "spin.c").write_text(SPINNING)
    for program in ("quick", "slow"):
        subprocess.run(["cc", "-g", "-O0", "-o", program, "spin.c"], cwd=folder, check=True)
    Path(folder, "Makefile").write_text("all: slow a b c d\nslow:\n\t./slow 3\n" + "".join(f"{name}:\n\t./quick 0.01\n" for name in "abcd") + ".PHONY: slow\n")
    if monarc("run", "--no-report", "-o", "make.monarc", "make", "-s", "-j2", cwd=folder).returncode:
        return None
    return entry("make.html", "make.monarc", cwd=folder, flat=monarc_json("flat", "--all", "make.monarc", cwd=folder),
                 task={"kind": "make", "answer": "grind"})


def waiting_requests(folder):
    folder.mkdir()
    Path(folder, "r.c").write_text(REQUESTS)
    subprocess.run(["cc", "-g", "-O0", "-o", "requests", "r.c"], cwd=folder, check=True)
    if monarc("run", "--no-report", "--off-cpu", "-o", "r.monarc", "./requests", cwd=folder).returncode:
        return None
    return entry("r.html", "r.monarc", cwd=folder, flat=monarc_json("flat", "--all", "r.monarc", cwd=folder),
                 waits=monarc_json("waits", "r.monarc", cwd=folder),
                 task={"kind": "wait", "of": "handle_request", "answer": "ask_database"})


def held_lock(folder):
    """The program of known truth: the holder sleeps three quarters of the time that it has the lock."""
    folder.mkdir()
    subprocess.run(["cc", "-g", "-O1", "-pthread", ROOT / "tests/record/programs/locks.c", "-o", "locks"], cwd=folder, check=True)
    if monarc("run", "--no-report", "--off-cpu", "-o", "l.monarc", "./locks", "share", cwd=folder).returncode:
        return None
    return entry("l.html", "l.monarc", cwd=folder, flat=monarc_json("flat", "--all", "l.monarc", cwd=folder),
                 task={"kind": "lock", "lock": "g_cache_lock", "answer": "hold_asleep", "waiter": "cache_get"})


def slower(folder):
    """Of three functions with 400 samples each, one has 900 now."""
    folder.mkdir()
    names = ["steady", "grew", "calm"]
    Path(folder, "c.c").write_text("".join(f"void {name}(void) {{ }}\n" for name in names) + "int main(void) { return 0; }\n")
    subprocess.run(["cc", "-g", "-O0", "-falign-functions=64", "-o", "c", "c.c"], cwd=folder, check=True)
    nm = subprocess.run([*NM, "c"], cwd=folder, check=True, capture_output=True, text=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in nm.splitlines() if len(line.split()) == 3}
    for profile, samples in ("old.gmon", 400), ("new.gmon", 900):
        bins = [(at[name], at[name] + 2, [samples if name == "grew" else 400]) for name in names]
        Path(folder, profile).write_bytes(gmon(bins))
    sides = ["c", "new.gmon", "--base", "c", "--base", "old.gmon"]
    return entry("c.html", "--force", *sides, cwd=folder, task={"kind": "slower", "answer": "grew"})


def templates(folder):
    folder.mkdir()
    Path(folder, "t.cpp").write_text(TEMPLATE)
    subprocess.run(["c++", "--coverage", "-O0", "-o", "t", "t.cpp"], cwd=folder, check=True)
    subprocess.run(["./t"], cwd=folder, check=True)
    cover = json.loads(monarc("cover", "--instances", "each", "--json", "-", cwd=folder).stdout)
    return entry("t.html", "--instances", "each", ".", cwd=folder, cover=cover,
                 branches={"file": "t.cpp", "line": 3, "summed": ["1 time | block 0 | straight on", "1 time | block 0 | away"],
                           "each": ["not reached | not reached | double least<double>(double, double)",
                                    "1 | never | int least<int>(int, int)", "never | 1 | long least<long>(long, long)"]})


def missed_by_patch(folder, cover):
    """Stretches of added lines that never ran: from the patch itself and the counts of lines."""
    added, line = set(), 0
    for text in Path(folder, "p.patch").read_text().splitlines()[2:]:
        if text.startswith("@@"):
            line = int(text.split("+")[1].split(",")[0].split(" ")[0]) - 1
        elif not text.startswith("-"):
            line += 1
            if text.startswith("+"):
                added.add(line)
    source = next(source for source in cover["sources"] if source["path"].endswith("p.c"))
    stretches = []
    for missed in sorted(line["line"] for line in source["lines"] if line["count"] == 0 and line["line"] in added):
        if stretches and stretches[-1][1] == missed - 1:
            stretches[-1][1] = missed
        else:
            stretches.append([missed, missed])
    return {"kind": "patch", "file": "p.c", "answer": stretches}


def examples(folder):
    """Profile and coverage of a program in C, and what `monarc run` recorded of another."""
    build(folder, ["-pg", "-g", "-O0", "--coverage"])
    run("calc", folder)
    coverage = folder / "calc-coverage"
    coverage.mkdir()
    for file in [*folder.glob("calc-*.gc*")]:
        file.rename(coverage / file.name)
    cover = json.loads(monarc("cover", "--json", "-", coverage, cwd=folder).stdout)
    yield "C, profile and coverage", entry("calc.html", "calc", "calc.gmon", coverage, cwd=folder, cover=cover,
                                           keyboard=True, **profile_json("calc", "calc.gmon", cwd=folder))
    if monarc("run", "--no-report", "-o", "average.monarc", "./average", cwd=folder).returncode == 0:
        yield "recording", entry("average.html", "average.monarc", cwd=folder,
                                 flat=monarc_json("flat", "--all", "average.monarc", cwd=folder),
                                 parts=[part("average.monarc", 0.05, 0.25, folder)])
    if is_wanted(is_slow=True):
        yield "coverage beside the page", entry("cover.html", "--folder", coverage, cwd=folder, cover=cover)
        for program in ("shapes", "heat"):
            if (folder / program).exists():
                run(program, folder)
                yield program, entry(f"{program}.html", program, f"{program}.gmon", cwd=folder,
                                     **profile_json(program, f"{program}.gmon", cwd=folder))
        if monarc("run", "--no-report", "-o", "pipeline.monarc", "./pipeline", cwd=folder).returncode == 0:
            yield "threads", entry("pipeline.html", "pipeline.monarc", cwd=folder,
                                   flat=monarc_json("flat", "--all", "pipeline.monarc", cwd=folder))


def changes_and_authors(folder):
    folder.mkdir()
    if not before_and_after(folder) or not commit_both(folder):
        return None
    cover = json.loads(monarc("cover", "--json", "-", "--diff", "p.patch", ".", cwd=folder).stdout)
    gates = ["--fail-under-diff", "99", "--fail-under-line", "99"]
    return entry("p.html", "--blame", "--base", "then.info", "--diff", "p.patch", *gates, ".", cwd=folder, task=missed_by_patch(folder, cover),
                 judged={"diff": cover["diff"], "files": cover["sources"], "total": cover["totals"], "limit": 99},
                 history={"file": "p.c", "line": 2, "text": "Since the base: lost. Written 2001-01-01 by Ada."})


def odd(folder):
    arguments = odd_sources(folder, ["cc"])
    return entry("odd.html", *arguments, cwd=folder, **profile_json(*arguments, cwd=folder),
                 lines={"gone.c": 1, "changed.c": 2, "latin.c": 2, "lines.c": 500000, "wide.c": 1, "binary.c": 1})


def hostile(folder):
    folder.mkdir()
    program, profile = hostile_program(folder)
    title = "</title><script>document.title='broken'</script>"
    return entry("hostile.html", "--force", "--title", title, program, profile, cwd=folder, title=title)


# Name, what makes it in a folder of its own, what that needs, whether it is left to the slow part. That has all pages:
# it opens each view anew, and asks axe about all of them.
PAGES = [
    ("details", details, "cc", True),
    ("lines that moved", moved, "cc", True),
    ("a slow build", slow_build, "make", True),
    ("requests that wait", waiting_requests, "cc", True),
    ("a held lock", held_lock, "cc", True),
    ("a slower function", slower, "cc", True),
    ("crowded", crowded, "cc", True),
    ("far below", far_below, "cc", True),
    ("one long chain", first_graph(ONE_CHAIN), "cc", True),
    ("many ways", first_graph(MANY_WAYS), "cc", True),
    ("a parallel job", parallel_job, "cc", True),
    ("a long source", long_source, "cc", True),
    ("templates", templates, "c++", True),
    ("changes and authors", changes_and_authors, "git", True),
    ("odd sources", odd, "cc", True),
    ("hostile names", hostile, "cc", False),
]


def pages(folder):
    found = dict(examples(folder))
    for name, make, program, is_slow in PAGES:
        page = make(folder / name.replace(" ", "-")) if (not is_slow or is_wanted(is_slow)) and shutil.which(program) else None
        if page:
            found[name] = page
    for name, arguments in odd_profiles(folder / "hardly", ["cc"]).items() if is_wanted(is_slow=True) else ():
        found[name] = entry(f"{name}.html", *arguments, cwd=folder / "hardly",
                            isEmpty=name == "nothing at all", **profile_json(*arguments, cwd=folder / "hardly"))
    return found


def main():
    reason = missing()
    if reason:
        if os.environ.get("MONARC_BROWSER") == "required":
            print(f"not ok 1 - browser\n# {reason}\n1..1")
            sys.exit(1)
        print(f"1..0 # SKIP {reason}")
        return
    with tempfile.TemporaryDirectory() as folder:
        specification = Path(folder, "pages.json")
        specification.write_text(json.dumps(pages(Path(folder))))
        sys.stdout.flush()
        sys.exit(subprocess.run(["node", ROOT / "tests/page/browser.mjs", specification, MODULES,
                                 shutil.which("chromium")], check=False).returncode)


main()
