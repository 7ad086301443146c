"""path_laws.py: stacks are what was recorded, in every file that another tool opens, and in the picture."""

import collections
import json
import re

import exported
import parquet_file
from laws import NOTHING
from table import PERIOD, SINGLE, law

ALL = SINGLE + ("several",)
SHOWN = {"_ZN3box4openEi": "box::open(int)", "_Z4sortIiEvPT_": "void sort<int>(int*)"}


def shown(path):
    """What is no function is one: where it was."""
    return tuple("[]" if name.startswith("[") else SHOWN.get(name, name) for name in path)


def recorded(subject):
    """Nanoseconds of each path, outermost first."""
    world, sums = subject.world, collections.Counter()
    for s in world.of_event():
        sums[shown(name for frame in s.stack for _, name, _, _ in world.chain(frame))] += s.weight
    return dict(sums)


def export(subject, form, *more):
    return subject.run("export", "--format", form, *more, "r.monarc").stdout


def added(paths, unit=1):
    sums = collections.Counter()
    for path, weight in paths:
        if weight:
            sums[shown(path)] += weight * unit
    return dict(sums)


@law(*ALL)
def folded_has_the_stacks(subject):
    """Folded stacks are those that were recorded, to the nanosecond."""
    subject.equal(added(exported.folded_paths(export(subject, "folded").decode())), recorded(subject), "folded")


@law(*ALL)
def speedscope_has_the_stacks(subject):
    """Stacks of speedscope, all threads together, are those that were recorded, to the nanosecond."""
    page = json.loads(export(subject, "speedscope"))
    page["profiles"] = [p for p in page["profiles"] if p["name"].endswith(", cpu") or len(page["profiles"]) == 1]
    subject.equal(added(exported.speedscope_paths(page)), recorded(subject), "speedscope")


@law(*ALL)
def firefox_has_the_stacks(subject):
    """Stacks of Firefox' profiler, all threads together, are those that were recorded, to the nanosecond."""
    found = added(exported.firefox_paths(json.loads(export(subject, "firefox"))), 1e6)
    subject.equal(found, recorded(subject), "firefox")


@law(*ALL)
def cpuprofile_has_the_stacks(subject):
    """Stacks of Chrome's profiles are those that were recorded, each within the length of a sample, and all of them."""
    page, wanted = json.loads(export(subject, "cpuprofile")), recorded(subject)
    found = added(exported.cpuprofile_paths(page))
    step = page["timeDeltas"][0] * 1000
    for path in {**found, **wanted}:
        off = abs(found.get(path, 0) - wanted.get(path, 0))
        subject.holds(off <= 2 * step, f"{path}: {found.get(path)}, not {wanted.get(path)}, of samples of {step} ns")


@law(*ALL)
def otlp_has_the_stacks(subject):
    """Stacks of OpenTelemetry's profiles are those that were recorded, to the nanosecond."""
    subject.equal(added(exported.Otlp(export(subject, "otlp")).paths), recorded(subject), "otlp")


@law(*ALL)
def exports_have_the_lines(subject):
    """On each line of a function callgrind, pprof, OpenTelemetry and Firefox have what lines has: the nanoseconds of samples
    there, and of those that have it on their stacks. A function's first line has what stands in other files, too."""
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    wanted, whole = collections.Counter(), collections.Counter()
    of = exported.pprof_files(export(subject, "pprof"))
    names = collections.Counter(f["name"] for f in subject.json("flat", "--all", "r.monarc")["functions"])
    judged, rows = set(), subject.json("lines", "--all", "r.monarc")["lines"]
    for row in rows:
        place = row["name"], row["line"] or 0
        wanted[place] += round(row["self_samples"] * PERIOD)
        if "total_samples" not in row:      # without stacks there are functions alone
            return NOTHING
        whole[place] += round(row["total_samples"] * PERIOD)
        file, first = of.get(row["name"], ("", 0))
        if names[row["name"]] == 1 and row["file"] == file and row["line"] not in (0, None, first):
            judged.add(place)
    found = exported.callgrind_own(export(subject, "callgrind").decode())
    if "\ndesc: Calls: " in export(subject, "callgrind").decode():     # with counted calls it has functions alone
        subject.equal({k: found[k] for k in judged if found[k]}, {k: wanted[k] for k in judged if wanted[k]}, "callgrind")
    for form, read in exported.LINES.items():
        own, total = collections.Counter(), collections.Counter()
        for stack, amount in read(export(subject, form)):
            own[stack[0]] += amount
            for line in set(stack):
                total[line] += amount
        subject.equal({k: own[k] for k in judged if own[k]}, {k: wanted[k] for k in judged if wanted[k]}, form)
        subject.equal({k: total[k] for k in judged if total[k]}, {k: whole[k] for k in judged if whole[k]}, f"{form}, total")
    return None if judged else NOTHING


@law(*ALL)
def parquet_has_the_stacks(subject):
    """Rows of the table of stacks are those that were recorded, to the nanosecond."""
    rows = parquet_file.read(export(subject, "parquet"))[0]
    subject.equal(added((row["stack"].split(";"), row["self"]) for row in rows), recorded(subject), "parquet")


@law(*ALL)
def parquet_functions_are_flat(subject):
    """Rows of the table of functions are those of flat, self and total."""
    rows = parquet_file.read(export(subject, "parquet-functions"))[0]
    found = sorted([row["function"], row["self"] / PERIOD, row["total"] / PERIOD] for row in rows
                   if row["self"] or row["total"])
    wanted = sorted([f["name"], f["self_samples"], f["total_samples"]]
                    for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["total_samples"])
    subject.equal([row for row in found if not row[0].startswith("[")],
                  [row for row in wanted if not row[0].startswith("[")], "functions")
    subject.equal(sum(row[1] for row in found), sum(row[1] for row in wanted), "the whole")


@law(*ALL)
def parquet_calls_have_the_stacks(subject):
    """Rows of the table of calls have, of each two functions, the stacks in which one called the other, which
    was not in them before."""
    world, wanted = subject.world, collections.Counter()
    for s in world.of_event():
        chain, seen = [(key, name) for frame in s.stack for key, name, _, _ in world.chain(frame)], set()
        for (key, caller), (other, callee) in zip(chain, chain[1:]):
            seen.add(key)
            if other not in seen:
                wanted[shown((caller, callee))] += s.weight
    found = added(((row["caller"], row["callee"]), row["cost"])
                  for row in parquet_file.read(export(subject, "parquet-calls"))[0])
    subject.equal({k: v for k, v in found.items() if "[]" not in k},
                  {k: v for k, v in wanted.items() if v and "[]" not in k}, "calls")


@law(*ALL, "series")
def flame_is_the_tree(subject):
    """Boxes of the picture have the paths of the tree, with their figures, each below and as wide as its part of its caller."""
    frames = exported.frames(subject.run("flame", "-o", "-", "--chains", "--min-percent", "0", "--full-names", "r.monarc").stdout)
    tree = subject.json("graph", "--tree", "--min-percent=0", "--limit=100000", "r.monarc")["trees"][0]
    found = [[(f.y - frames[0].y) / 18 - 1, f.name.removesuffix(" (inlined)"), f.total, f.self] for f in frames[1:]]
    subject.equal(found, [[r["depth"], r["name"], r["total_samples"], r["self_samples"]] for r in tree["rows"]], "boxes")
    subject.equal([frames[0].total, sum(f.self for f in frames)], [tree["samples"]] * 2, "the whole")
    for f in frames:
        subject.holds(abs(f.width - frames[0].width * f.total / frames[0].total) <= 0.02, f"{f.name} is {f.width} wide")


@law(*ALL)
def flame_has_the_stacks(subject):
    """Paths of the picture are those that were recorded."""
    frames = exported.frames(subject.run("flame", "-o", "-", "--chains", "--min-percent", "0", "--full-names", "r.monarc").stdout)
    path, found = [], []
    for f in frames[1:]:
        path[round((f.y - frames[0].y) / 18 - 1):] = [f.name.removesuffix(" (inlined)")]
        found.append((tuple(path), f.self * PERIOD))
    subject.equal(added(found), recorded(subject), "flame")


@law(*ALL)
def dot_is_flat(subject):
    """Boxes of the graph have the shares of flat, rounded, and each function with half a percent of the time has one."""
    box = r'label="(.*?)(?: \[inlined\])?\\n([0-9.]+) %\\n\(self ([0-9.]+) %\)'
    found = collections.Counter(re.findall(box, export(subject, "dot").decode()))
    table = subject.json("flat", "--all", "r.monarc")
    rows, whole = [f for f in table["functions"] if not f["name"].startswith("[")], table["summary"]["samples"]
    wanted = collections.Counter((f["name"], f"{f['total_samples'] / whole * 100:.2f}", f"{f['self_share'] * 100:.2f}") for f in rows
                                 if f["total_samples"] >= 0.00501 * whole)
    if len(wanted) > 20:
        return NOTHING
    subject.equal({k: v for k, v in found.items() if not k[0].startswith("[")}, dict(wanted), "dot")
    return None
