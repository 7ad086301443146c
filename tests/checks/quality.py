#!/usr/bin/env python3
"""quality.py: what tools/quality.py makes of results: figures that were not measured are said to be none, sums are
sums, a draw of changes goes on where it stopped and never across a change of the sources, and logs count once.

It gives the tool made-up results and logs, and measures nothing itself. docs/quality.md must have the parts that the
tool makes, with a command each.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import tempfile

import tap

sys.path.insert(0, str(tap.ROOT / "tools"))
sys.path.insert(0, str(tap.ROOT / "tests"))
import run_all  # noqa: E402
import quality  # noqa: E402


def totals(*pairs):
    return {kind: {"hit": hit, "all": whole} for kind, (hit, whole) in zip(quality.KINDS, pairs)}


REPORT = {"sources": [
    {"path": "src/base/bytes.c", "totals": totals((9, 10), (3, 4), (1, 2))},
    {"path": "src/objfile/lines.c", "totals": totals((90, 100), (30, 40), (10, 20))},
    {"path": "src/profile/format/gmon.c", "totals": totals((8, 10), (2, 4), (0, 2))},
    {"path": "src/cli/run.c", "totals": totals((1, 10), (1, 4), (1, 2))},
    {"path": "tests/cli/x.c", "totals": totals((1, 10), (1, 4), (1, 2))},
    {"path": "/usr/include/src/base/x.h", "totals": totals((1, 10), (1, 4), (1, 2))}]}


def differences(expected, got):
    return [] if got == expected else [f"expected {expected!r}, got {got!r}"]


def lacks(text, *wanted):
    return [f"{want!r} is not in {text!r}" for want in wanted if want not in text]


def test_rooms(t):
    rooms = quality.by_room(REPORT)
    t.clean("rooms add up to all of src, and readers are those of files",
            differences({"lines": [108, 130], "branches": [36, 52], "conditions": [12, 26]}, rooms["all"])
            + differences([107, 120], rooms["readers"]["lines"])
            + differences({"base", "objfile", "profile/format", "cli", "all", "readers"}, set(rooms)))
    found = {"compiler": "clang 22", "suites": ["unit"], "programs": 3, "left_out": 2, "has_mcdc": True, "rooms": rooms}
    with_mcdc, without = quality.coverage_part(found), quality.coverage_part({**found, "has_mcdc": False, "left_out": 0})
    t.clean("coverage says what was left out, and MC/DC only where it was counted",
            lacks(with_mcdc, "2 were not run", "| `cli` | 10.0 % | 25.0 % | 50.0 % |", "| **readers of files** | 89.1 % |")
            + lacks(without, "MC/DC is not measured", "| `cli` | 10.0 % | 25.0 % |\n")
            + [f"{text!r} though it was not so" for text in ("were not run", "| 25.0 % | 50.0 % |") if text in without])
    t.clean("a share is never rounded up to all", differences(["99.9 %", "100.0 %", "0.0 %", "–"], [
        quality.share(*pair) for pair in ((99999, 100000), (7, 7), (0, 7), (0, 0))]))


class Judged:
    """In the place of a build and of its tests: a change of an even place is noticed."""

    def __init__(self, folder):
        self.work = folder
        self.compile = {str(path): "" for path in (folder / "src").rglob("*.c")}
        self.asked = []

    def object_of(self, source, text, name):
        out = self.work / name
        out.write_text(text, encoding="utf-8")
        return out


@contextlib.contextmanager
def small_tree():
    """A tree with one source; the tool takes it for its own."""
    body = "int f(int a)\n{\n    if (a == 1)\n        return a + 2;\n    return a < 3;\n}\n"
    with tap.tree({"src/base/a.c": body, "src/profile/model/b.c": body}) as folder:
        real = quality.ROOT, quality.mutate.ROOT, quality.SureJudges
        quality.ROOT = quality.mutate.ROOT = pathlib.Path(folder)
        try:
            yield pathlib.Path(folder)
        finally:
            quality.ROOT, quality.mutate.ROOT, quality.SureJudges = real


def test_draw(t):
    with small_tree() as top:
        build, shown = Judged(top), []

        class Judges:
            def __init__(self, *_):
                pass

            def notices(self, source, changed):
                shown.append((source.name, changed.read_text()))
                return "test_a" if len(shown) % 2 else None
        quality.SureJudges = Judges
        work, findings = quality.Work(top / "work"), []
        options = argparse.Namespace(seed=3, count=4, again=None)
        quality.judge_changes(quality.MutantState(work, options), options, build, None)
        first = work.read("mutants")
        findings += differences(4, sum(map(sum, first["rooms"].values()))) + differences(2, len(first["survived"]))
        options.count = 7
        quality.judge_changes(quality.MutantState(work, options), options, build, None)
        findings += differences(7, len(set(shown))) + differences(7, quality.MutantState(work, options).judged())
        findings += lacks(quality.mutants_part(work.read("mutants")), "7 of 7 changes were drawn", "| **all of `src`** | 7 | 4 | 57.1 % |")
        t.clean("a draw goes on where it stopped, each change once", findings)
        quality.judge_changes(quality.MutantState(work, options), options, build, -1)
        t.clean("a draw that has no time left draws nothing", differences(7, len(shown)))
        (top / "src/base/a.c").write_text("int f(void)\n{\n    return 1;\n}\n", encoding="utf-8")
        t.clean("a draw of other sources begins anew", differences(0, quality.MutantState(work, options).judged()))


def test_logs(t):
    texts = {"fuzz_gmon.log": "#12\tNEW\nstat::number_of_executed_units: 1200\n", "gmon-2.log": "#34\tREDUCE cov: 3\n",
             "da-1.log": "#5\tNEW\n==1==ERROR: libFuzzer: deadly signal\n"}
    with tap.tree(texts) as folder:
        counted = quality.count_logs(sorted(pathlib.Path(folder).glob("*.log")))
        t.clean("inputs of logs: of their end, or as far as they say", differences({"gmon": [1234, 0], "da": [5, 1]}, counted))
        t.clean("a finding is in the page", lacks(quality.fuzz_part({"targets": counted}), "1,239 inputs in 2 targets",
                                                  "1 run ended with a finding", "| `da` | 5 **found something** |"))
        work = quality.Work(pathlib.Path(folder) / "work")
        options = argparse.Namespace(logs=sorted(pathlib.Path(folder).glob("*.log")))
        quality.fuzz(options, work)
        quality.fuzz(options, work)
        t.clean("a log that is given twice counts once", differences({"gmon": [1234, 0], "da": [5, 1]}, work.read("fuzz")["targets"]))


def test_runs(t):
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        for failed in 0, 2, 0, 0:
            args = argparse.Namespace(again=None, names=[], without=[], scripts=[], seconds=None, all=False, suite=[], seed=1, build=folder)
            run_all.note_run(args, run_all.Outcome(run_all.Tally(10 - failed, failed)), 12.3)
        for how in {"names": ["x"]}, {"seconds": 5.0}, {"again": "x"}:
            run_all.note_run(argparse.Namespace(**{**vars(args), **how}), run_all.Outcome(run_all.Tally(0, 1)), 1)
        work = quality.Work(build / "work")
        quality.runs(argparse.Namespace(build=build, runs=[build / "runs.jsonl"]), work)
        t.clean("whole runs are noted, and count once", differences(
            {"./test.sh": {"runs": 4, "without_failure": 3, "since_failure": 2, "cases": 10}}, work.read("runs")["parts"]))
    with tempfile.TemporaryDirectory() as folder:
        try:
            quality.runs(argparse.Namespace(build=pathlib.Path(folder), runs=None), quality.Work(pathlib.Path(folder)))
            t.clean("no run is no figure", ["it made one"])
        except quality.CannotRun:
            t.clean("no run is no figure", [])


def test_page(t):
    nothing = quality.page_text(lambda step: None)
    t.clean("what was not measured is said to be not measured", [
        f"{step}" for step, _, _ in quality.PARTS if f"Not measured: `tools/quality.py {step}`." not in nothing])
    found = {"truth": {"hold": 41, "do_not": 1, "skipped": 2},
             "laws": {"programs": {"laws-x": quality.count_laws(
                 "# 3 laws, 30 inputs\nok 1 - a\nnot ok 2 - b # TODO later\nnot ok 3 - c\n1..3\n")}}}
    t.clean("laws and programs of known truth", lacks(
        quality.page_text(lambda step: json.loads(json.dumps(found)).get(step)),
        "41 of 42 programs", "2 could not be asked", "| `laws-x` | 3 | 30 | 1 | 1 |"))
    there = (tap.ROOT / "docs/quality.md").read_text(encoding="utf-8")
    t.clean("docs/quality.md is a page of the tool", lacks(there, *(f"\n## {title}\n" for _, title, _ in quality.PARTS)) + [
        f"{step} has no command" for step, _, _ in quality.PARTS if f"tools/quality.py {step}" not in there])


def main():
    t = tap.Tap()
    for test in test_rooms, test_draw, test_logs, test_runs, test_page:
        test(t)
    t.end()


main()
