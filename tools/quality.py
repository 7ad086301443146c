#!/usr/bin/env python3
"""quality.py: measures what the tests reach and notice, and writes docs/quality.md.

usage: quality.py [--seconds N] [--count 1000] [--seed 1] [-j 2] [--work build-quality]
                  [--logs FILE...] [--runs FILE...] [STEP...]

Steps, in this order; without one, all of them:

    coverage   builds monarc with counters (clang 18 or newer, which has MC/DC, or gcc) and runs the suites
               unit, cli and compat
    mutants    draws --count changes from all rooms of src, and asks the tests of their rooms, then those of
               the commands, whether they notice (tools/mutate.py)
    fuzz       runs each fuzz target for an equal share of --seconds; --logs adds logs of libFuzzer
    laws       runs the suite laws
    truth      asks each program of tests/truth once
    runs       counts runs of tests/run_all.py in build/runs.jsonl; --runs adds such files
    page       writes docs/quality.md of what is known, which every call does last

Each step keeps what it found as JSON in the work folder, and the page is made of what is there: a part
that was not measured is said to be not measured. --seconds bounds a step, which then says how much of
it was done; coverage and fuzz do not count building. `mutants` and `fuzz` go on where they
stopped. `mutants` begins anew when a source below src/ has changed. It needs a build (build/), and for fuzzing clang.
The status is 1 if a step could not run.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import mutate  # noqa: E402

STEPS = ("coverage", "mutants", "fuzz", "laws", "truth", "runs", "page")
SUITES = ("unit", "cli", "compat")
KINDS = {"lines": "lines", "branches": "branches", "conditions": "MC/DC"}
COUNTERS = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"]
# What reads bytes of others.
READERS = re.compile(r"src/(?:objfile|coverage/format|coverage/import|profile/format|profile/import)/|"
                     r"src/base/(?:bytes|json_read|xml_read)\.c")
DEEP = ("profile", "coverage", "gnu", "record", "tui")  # rooms of these are a level below


class CannotRun(Exception):
    """One sentence."""


def room_of(path):
    """The room of a source below src/: the first folder, or two where that is a house of rooms."""
    parts = path.split("/")[1:-1]
    return "/".join(parts[:2] if parts[0] in DEEP else parts[:1])


def call(words, log, **more):
    """Runs a command with its output in a file; its status."""
    with open(log, "w", encoding="utf-8") as out:
        return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, check=False, cwd=ROOT, **more).returncode


class Work:
    """The folder that has what the steps found."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, step):
        path = self.folder / f"{step}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def write(self, step, found):
        fresh = self.folder / f"{step}.json.new"
        fresh.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.folder / f"{step}.json")


def sources_digest(top):
    """Of what is in src/ now."""
    digest = hashlib.sha256()
    for path in sorted((top / "src").rglob("*.[ch]")):
        digest.update(f"{path.relative_to(top)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


# Coverage of monarc's own code.


def mcdc_compiler():
    """The newest clang that counts MC/DC, and its version; (None, 0) if there is none."""
    found = []
    for folder in os.environ.get("PATH", "").split(":"):
        for path in pathlib.Path(folder or ".").glob("clang*"):
            if re.fullmatch(r"clang(-\d+)?", path.name) and os.access(path, os.X_OK):
                said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
                version = re.search(r"clang version (\d+)", said)
                found.append((int(version[1]) if version else 0, str(path)))
    version, path = max(found, default=(0, None))
    return (path, version) if version >= 18 else (None, 0)


def build_with_counters(folder):
    """A build that counts, and what counted; already there, it is brought up to date."""
    clang, version = mcdc_compiler()
    options = ["-Dbuildtype=plain", "-Doptimization=1", "-Dlibdeflate=disabled"]
    if clang:
        name, compiler = f"clang {version}", clang
        options += ["-Db_lundef=false", f"-Dc_args={' '.join(COUNTERS)}", f"-Dc_link_args={COUNTERS[0]}"]
    else:
        name, compiler = "gcc", "gcc"
        options += ["-Db_coverage=true"]
    if not (folder / "build.ninja").exists() and \
            call(["meson", "setup", folder, *options], folder.parent / "coverage-setup.log",
                 env={**os.environ, "CC": compiler}):
        raise CannotRun("meson could not set up the build that counts: coverage-setup.log")
    if call(["ninja", "-C", folder], folder.parent / "coverage-build.log"):
        raise CannotRun("the build that counts failed: coverage-build.log")
    return name, bool(clang)


def by_room(report):
    """{room: {kind: [hit, all]}} of the JSON of `monarc cover`, with `readers` and `all` of src."""
    rooms = collections.defaultdict(lambda: {kind: [0, 0] for kind in KINDS})
    for source in report["sources"]:
        if not source["path"].startswith("src/") or "/" not in source["path"][4:]:
            continue
        names = [room_of(source["path"]), "all"]
        names += ["readers"] if READERS.match(source["path"]) else []
        for name in names:
            for kind in KINDS:
                rooms[name][kind][0] += source["totals"][kind]["hit"]
                rooms[name][kind][1] += source["totals"][kind]["all"]
    return dict(rooms)


def coverage(options, work):
    folder, raw = work.folder / "coverage", work.folder / "raw"
    compiler, is_clang = build_with_counters(folder)
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir()
    raw.chmod(0o777)  # tests start programs as other users, too
    subprocess.run(["find", folder, "-name", "*.gcda", "-delete"], check=True)
    words = ["tests/run_all.py", "--build", folder, "-j", options.jobs, "--without", "long"]
    words += [word for suite in SUITES for word in ("--suite", suite)]
    words += ["--seconds", options.seconds] if options.seconds else []
    log = work.folder / "coverage-tests.log"
    # Pools of files into which processes add: one for each program would be a hundred thousand.
    call([sys.executable, *words], log, env={**os.environ, "LLVM_PROFILE_FILE": f"{raw}/%4m.profraw"})
    text = log.read_text(encoding="utf-8", errors="replace")
    programs = len(re.findall(r"^(?:unit|cli|compat)/\S+ .* (?:passed|skipped)", text, re.M))
    left_out = len(re.findall(r"skipped all: it was not begun", text))
    inputs = [folder]
    if is_clang:
        inputs = [raw, *(path for path in [folder / "monarc", *folder.glob("tests/test_*"), *folder.glob("tests/*/test_*")]
                         if path.is_file() and os.access(path, os.X_OK))]
    out = work.folder / "cover.json"
    if call([options.monarc, "cover", "--quiet", "--no-markers", "--include", "src/*", "--json", out, *inputs],
            work.folder / "cover.log"):
        raise CannotRun("monarc cover failed: cover.log")
    report = json.loads(out.read_text(encoding="utf-8"))
    work.write("coverage", {"compiler": compiler, "suites": SUITES, "programs": programs - left_out,
                            "left_out": left_out, "has_mcdc": is_clang, "rooms": by_room(report)})


# Changes that tests notice.


class MutantState:
    """How far the draw has come. It is one of the sources as they are."""

    def __init__(self, work, options):
        self.work = work
        found = work.read("mutants")
        mine = {"seed": options.seed, "sources": sources_digest(ROOT)}
        if not found or any(found[key] != mine[key] for key in mine):
            found = {**mine, "at": 0, "none": 0, "rooms": {}, "survived": []}
        self.found = {**found, "count": options.count}

    def judged(self):
        return sum(map(sum, self.found["rooms"].values()))

    def none(self):
        self.found["none"] += 1

    def add(self, source, line, by):
        """A change that was judged: by whom it was noticed, or None."""
        room = self.found["rooms"].setdefault(room_of(str(source.relative_to(ROOT))), [0, 0])
        room[0 if by else 1] += 1
        if not by:
            self.found["survived"].append(line)

    def went_on(self, at):
        self.found["at"] = at
        self.work.write("mutants", self.found)


class SureJudges(mutate.Judges):
    """A test of the commands may fail of itself when the machine is busy: what it notices counts if it
    passes without the change right afterwards and fails with it again."""

    def notices(self, source, changed):
        by = super().notices(source, changed)
        if not by or by.startswith("test_"):
            return by
        self.build.change(None)
        passes = self.build.judges(by, 5 + 10 * self.seconds[by])
        self.build.change(changed)
        return by if passes and not self.build.judges(by, 5 + 10 * self.seconds[by]) else None


def judge_changes(state, options, build, end):
    """Goes on with the draw until it is complete or the time is over."""
    sources = sorted((ROOT / "src").rglob("*.c"))
    how = argparse.Namespace(seed=options.seed, sample=options.count, again=None, tests=None, wide=True)
    judges, same = SureJudges(build, how), {}
    for at, (source, change) in enumerate(mutate.drawn(sources, how)):
        if at < state.found["at"]:
            continue
        if state.judged() >= options.count or end and time.monotonic() > end:
            return
        if source not in same:
            text = source.read_text(encoding="utf-8")
            compiled = str(source) in build.compile and build.object_of(source, text, "same")
            same[source] = text, compiled.read_bytes() if compiled else None
        text, code = same[source]
        start, stop, replacement = change
        changed = code and build.object_of(source, text[:start] + replacement + text[stop:], f"changed{at}")
        if not changed or changed.read_bytes() == code:
            state.none()
        else:
            state.add(source, mutate.line_of(source, text, change), judges.notices(source, changed))
            changed.unlink()
        state.went_on(at + 1)


def mutants(options, work):
    folder = options.build
    if not (folder / "compile_commands.json").exists():
        raise CannotRun(f"mutants need a build: there is none in {folder}")
    end = time.monotonic() + options.seconds if options.seconds else None
    state = MutantState(work, options)
    with tempfile.TemporaryDirectory(prefix="monarc-quality-") as beside:
        os.chmod(beside, 0o755)
        judge_changes(state, options, mutate.Build(folder, pathlib.Path(beside)), end)


# Fuzzing.


def fuzz_programs(folder):
    """(name, program) of each target that was built."""
    said = subprocess.run(["meson", "introspect", "--targets", folder], capture_output=True, text=True, check=True).stdout
    return sorted((target["name"].removeprefix("fuzz_"), target["filename"][0]) for target in json.loads(said)
                  if target["type"] == "executable" and target["name"].startswith("fuzz_"))


def executed(text):
    """Inputs that a log of libFuzzer says were run: its final statistics, or the last that it said on the way."""
    final = re.search(r"stat::number_of_executed_units: *(\d+)", text)
    on_the_way = re.findall(r"^#(\d+)\s", text, re.M)
    return int(final[1]) if final else int(on_the_way[-1]) if on_the_way else 0


def has_found(text):
    return bool(re.search(r"SUMMARY: |ERROR: libFuzzer|Test unit written to", text))


def count_logs(logs):
    """{target: [runs, findings]} of logs named TARGET.log, TARGET-more.log, with or without `fuzz_`."""
    targets = collections.defaultdict(lambda: [0, 0])
    for log in logs:
        text = log.read_text(encoding="utf-8", errors="replace")
        name = log.stem.removeprefix("fuzz_").split("-")[0]
        targets[name][0] += executed(text)
        targets[name][1] += has_found(text)
    return dict(targets)


def fuzz_seeds(name):
    """Folders from which a target starts."""
    corpus = ROOT / "tests/corpus"
    names = ([name] if name != "library" else
             ["library", "gmon", "sprof", "bsd44", "gcno", "gcda", "bbg", "da", "gcfn", "lcov", "run", "sidecar"])
    return [corpus / name for name in names if (corpus / name).is_dir()]


def run_fuzzers(options, work, logs):
    folder = work.folder / "fuzz"
    if not (folder / "build.ninja").exists() and \
            call(["meson", "setup", folder, "-Dfuzz=true", "-Dbuildtype=debugoptimized",
                  "-Db_sanitize=address,undefined", "-Db_lundef=false"], work.folder / "fuzz-setup.log",
                 env={**os.environ, "CC": "clang"}):
        raise CannotRun("meson could not set up the fuzzers (they need clang): fuzz-setup.log")
    if call(["ninja", "-C", folder, "fuzzers"], work.folder / "fuzz-build.log"):
        raise CannotRun("the fuzzers could not be built: fuzz-build.log")
    programs = fuzz_programs(folder)
    seconds = max(1, int(options.seconds or 60 * len(programs)) // max(len(programs), 1))
    for name, program in programs:
        grown = work.folder / "corpus" / name
        grown.mkdir(parents=True, exist_ok=True)
        log = logs / f"{name}-{time.time_ns()}.log"
        call([program, f"-max_total_time={seconds}", "-timeout=20", "-print_final_stats=1",
              f"-artifact_prefix={work.folder}/found-{name}-", grown, *fuzz_seeds(name)], log)
        print(f"    {name}: {executed(log.read_text(encoding='utf-8', errors='replace'))} inputs", flush=True)


def fuzz(options, work):
    logs = work.folder / "fuzz-logs"
    logs.mkdir(exist_ok=True)
    for log in options.logs or []:  # once, however often it is named
        name = log.stem.removeprefix("fuzz_").split("-")[0]
        shutil.copy(log, logs / f"{name}-{hashlib.sha256(log.read_bytes()).hexdigest()[:16]}.log")
    if not options.logs:
        run_fuzzers(options, work, logs)
    work.write("fuzz", {"targets": count_logs(sorted(logs.glob("*.log")))})


# Laws, known truth, and whole runs.


def run_suite(options, log, words):
    """The last line of run_all.py with these options, as (passed, failed, skipped)."""
    bound = ["--seconds", options.seconds] if options.seconds else []
    call([sys.executable, "tests/run_all.py", "--build", options.build, "-j", options.jobs, *bound, *words], log)
    return last_sum(log.read_text(encoding="utf-8", errors="replace"))


def last_sum(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", text, re.M)
    if not found:
        raise CannotRun("a run ended without a sum")
    return [int(number or 0) for number in found[-1]]


def laws(options, work):
    if not (ROOT / "tests/laws").is_dir():
        raise CannotRun("there are no laws: no tests/laws")
    log, programs = work.folder / "laws.log", {}
    listed = subprocess.run(["meson", "introspect", "--tests", options.build], capture_output=True, text=True, check=True)
    for test in json.loads(listed.stdout):
        suites = [suite.split(":")[-1] for suite in test["suite"]]
        if "laws" not in suites or "slow" in suites:
            continue
        environment = {**os.environ, **test["env"]}
        call(test["cmd"], log, env=environment)
        programs[test["name"]] = count_laws(log.read_text(encoding="utf-8", errors="replace"))
    if not programs:
        raise CannotRun("the build knows no laws: configure it again")
    work.write("laws", {"programs": programs})


def count_laws(text):
    """What a program of laws prints: a line of TAP for each law, and `# N laws, N inputs`."""
    head = re.search(r"^# (\d+) laws, (\d+) inputs", text, re.M)
    return {"laws": int(head[1]) if head else len(re.findall(r"^(?:not )?ok ", text, re.M)),
            "inputs": int(head[2]) if head else None,
            "expected": len(re.findall(r"^not ok .*# TODO", text, re.M)),
            "broken": len(re.findall(r"^not ok (?!.*# TODO)", text, re.M))}


def truth(options, work):
    log = work.folder / "truth.log"
    call([sys.executable, "tests/truth/run.py", "--fast"], log, env={**os.environ, "MONARC": str(options.monarc)})
    passed, failed, skipped = last_sum(log.read_text(encoding="utf-8", errors="replace"))
    work.write("truth", {"hold": passed, "do_not": failed, "skipped": skipped})


def read_runs(paths):
    """Runs as run_all.py notes them, oldest first, each once."""
    lines = dict.fromkeys(line for path in paths if path.exists()
                          for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return sorted((json.loads(line) for line in lines), key=lambda run: run["ended"])


def since_failure(entries):
    """How many of the last runs had no failure."""
    number = 0
    for run in reversed(entries):
        if run["failed"]:
            break
        number += 1
    return number


def runs(options, work):
    entries = read_runs([options.build / "runs.jsonl", *(options.runs or [])])
    parts = {}
    for part in sorted({run["part"] for run in entries}):
        mine = [run for run in entries if run["part"] == part]
        parts[part] = {"runs": len(mine), "without_failure": sum(not run["failed"] for run in mine),
                       "since_failure": since_failure(mine), "cases": mine[-1]["passed"] + mine[-1]["failed"]}
    if not parts:
        raise CannotRun(f"no run is noted in {options.build}/runs.jsonl")
    work.write("runs", {"parts": parts})


# The page.


def number(value):
    return f"{value:,}"


def share(hit, whole):
    """In percent, never rounded up to all of it."""
    return "–" if not whole else f"{int(1000 * hit / whole) / 10:.1f} %"


def not_measured(step):
    return f"Not measured: `tools/quality.py {step}`.\n"


def coverage_part(found):
    kinds = [kind for kind in KINDS if kind != "conditions" or found["has_mcdc"]]
    rows = [f"| room | {' | '.join(KINDS[kind] for kind in kinds)} |", "|---" + "|--:" * len(kinds) + "|"]
    names = sorted(name for name in found["rooms"] if name not in ("all", "readers"))
    for label, name in [("**all of `src`**", "all"), ("**readers of files**", "readers"), *((f"`{n}`", n) for n in names)]:
        if name in found["rooms"]:
            cells = [share(*found["rooms"][name][kind]) for kind in kinds]
            rows.append(f"| {label} | {' | '.join(cells)} |")
    whole = found["rooms"]["all"]
    sizes = ", ".join(f"{number(whole[kind][1])} {'outcomes of conditions' if kind == 'conditions' else kind}"
                      for kind in kinds)
    said = (f"Reached by the suites {', '.join(found['suites'])} ({found['programs']} programs"
            + (f"; {found['left_out']} were not run for lack of time" if found["left_out"] else "")
            + f"), counted by {found['compiler']} and `monarc cover`, of {sizes}."
            + ("" if found["has_mcdc"] else " MC/DC is not measured: it takes clang 18 or newer."))
    return said + " The readers are the rooms that take in bytes of others.\n\n" + "\n".join(rows) + "\n"


def mutants_part(found):
    noticed, lost = (sum(room[i] for room in found["rooms"].values()) for i in (0, 1))
    rows = ["| room | drawn | noticed | |", "|---|--:|--:|--:|",
            f"| **all of `src`** | {noticed + lost} | {noticed} | {share(noticed, noticed + lost)} |"]
    rows += [f"| `{name}` | {sum(room)} | {room[0]} | {share(room[0], sum(room))} |"
             for name, room in sorted(found["rooms"].items())]
    return (f"{number(noticed + lost)} of {number(found['count'])} changes were drawn at random from all of `src` (seed {found['seed']}) and shown to "
            f"the tests of their rooms and of the commands; {number(found['none'])} more did not compile or changed nothing. A change that no "
            "test notices may also be one that makes no visible difference.\n\n" + "\n".join(rows) + "\n")


def fuzz_part(found):
    total, wrong = (sum(target[i] for target in found["targets"].values()) for i in (0, 1))
    rows = ["| target | inputs |", "|---|--:|"]
    rows += [f"| `{name}` | {number(target[0])}{' **found something**' if target[1] else ''} |"
             for name, target in sorted(found["targets"].items())]
    plural = "run" if wrong == 1 else "runs"
    return (f"{number(total)} inputs in {len(found['targets'])} targets, with the address and undefined-behaviour sanitizers and "
            f"with laws that each target checks; {f'{wrong} {plural} ended with a finding' if wrong else 'nothing was found'}.\n\n"
            + "\n".join(rows) + "\n")


def laws_part(found):
    rows = ["| program | laws | inputs | expected failures | broken |", "|---|--:|--:|--:|--:|"]
    rows += [f"| `{name}` | {p['laws']} | {'–' if p['inputs'] is None else number(p['inputs'])} | {p['expected']} | {p['broken']} |"
             for name, p in sorted(found["programs"].items())]
    return "Laws that every report, filter and export keeps, on inputs drawn anew.\n\n" + "\n".join(rows) + "\n"


def truth_part(found):
    asked = found["hold"] + found["do_not"]
    skipped = f"; {found['skipped']} could not be asked on this machine" if found["skipped"] else ""
    return f"{found['hold']} of {asked} programs that know where their time goes find it in the report{skipped}.\n"


def runs_part(found):
    rows = ["| run | cases | runs | without a failure | since the last failure |", "|---|--:|--:|--:|--:|"]
    rows += [f"| {part} | {number(p['cases'])} | {p['runs']} | {p['without_failure']} | {p['since_failure']} |"
             for part, p in sorted(found["parts"].items())]
    return "\n".join(rows) + "\n"


PARTS = (
    ("coverage", "Coverage of its own code", coverage_part),
    ("mutants", "Changes noticed", mutants_part),
    ("fuzz", "Fuzzing", fuzz_part),
    ("laws", "Laws between reports", laws_part),
    ("truth", "Programs of known truth", truth_part),
    ("runs", "Whole runs", runs_part),
)


def page_text(read):
    """The page; `read` gives what a step found, or None."""
    parts = ["# Quality\n\nWhat the tests of this tree reach and notice. `tools/quality.py` makes this page; the command above each part measures it anew.\n"]
    for step, title, make in PARTS:
        found = read(step)
        body = make(found) if found else not_measured(step)
        command = f"    tools/quality.py {step}\n\n" if found else ""
        parts.append(f"## {title}\n\n{command}{body}")
    return "\n".join(parts)


def page(_options, work):
    (ROOT / "docs/quality.md").write_text(page_text(work.read), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="bound of each step")
    parser.add_argument("--count", type=int, default=1000, help="changes to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-quality")
    parser.add_argument("--logs", type=pathlib.Path, nargs="+", help="logs of fuzzing, instead of fuzzing")
    parser.add_argument("--runs", type=pathlib.Path, nargs="+", help="more notes of runs")
    parser.add_argument("steps", nargs="*", metavar="STEP")
    options = parser.parse_args()
    unknown = set(options.steps) - set(STEPS)
    if unknown:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    options.build = options.build.resolve()
    options.monarc = options.build / "monarc"
    work, status = Work(options.work.resolve()), 0
    for step in [step for step in STEPS[:-1] if step in (options.steps or STEPS)]:
        begun = time.monotonic()
        try:
            globals()[step](options, work)
            print(f"{step}: {time.monotonic() - begun:.0f} s", flush=True)
        except CannotRun as reason:
            print(f"quality.py: {step}: {reason}", file=sys.stderr)
            status = 1
    page(options, work)
    return status


if __name__ == "__main__":
    sys.exit(main())
