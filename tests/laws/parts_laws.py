"""parts_laws.py: parts add up to the whole, in each report by which one can cut a recording."""

import collections
import csv
import io
import re

import made
from laws import NOTHING
from table import PERIOD, SINGLE, SLICE, flat, functions, law, rounded


OFF_CPU = "[waiting]", "[ready to run]", "[stopped]"


@law(*SINGLE)
def whole_is_all_samples(subject):
    """Rows of flat and what has no function are all samples that were recorded."""
    table = subject.json("flat", "--all", "r.monarc")
    whole = subject.world.weight(subject.world.of_event())
    subject.equal(table["summary"]["samples"], whole, "the head")
    rows = sum(f["self_samples"] for f in table["functions"])
    subject.equal(rows + table["summary"]["unattributed_samples"], whole, "rows")
    subject.equal(sum(f["self_share"] for f in table["functions"]), rows / whole, "shares")


@law(*SINGLE)
def functions_have_their_own(subject):
    """A function has the samples that hit it, and two of one name have a row each."""
    subject.equal(flat(subject), subject.world.own(subject.world.of_event()), "flat")


@law(*SINGLE)
def totals_are_of_stacks(subject):
    """A function's total is all samples in whose stacks it is, each once."""
    table = subject.json("flat", "--all", "r.monarc")
    found = sorted([f["linkage_name"], f["total_samples"]] for f in table["functions"]
                   if f["total_samples"] and not f["linkage_name"].startswith("["))
    subject.equal(found, subject.world.with_callees(subject.world.of_event()), "totals")


@law(*SINGLE)
def limit_leaves_out(subject):
    """What --limit and --function leave out is the difference to the whole."""
    whole = subject.json("flat", "--all", "r.monarc")
    table = subject.json("flat", "--all", "--limit", subject.random.randint(1, 3), "r.monarc")
    for of in "self_samples", "calls":
        rows = sum(f[of] for f in table["functions"])
        subject.equal(rows + table["omitted"][of], sum(f[of] for f in whole["functions"]), of)


@law(*SINGLE)
def objects_add_up(subject):
    """Objects' rows are all samples, and each has those of its functions; two of one name have a row each."""
    world, sums = subject.world, {}
    for s in world.of_event():
        number = s.stack[-1][0]
        path = world.objects[number].path if isinstance(number, int) else ""
        sums[path] = sums.get(path, 0) + s.weight / PERIOD
    table = subject.json("flat", "--by-object", "r.monarc")
    rows = {r["name"]: r["self_samples"] for r in table["rows"] if r["self_samples"] and not r["name"].startswith("[")}
    other = sum(r["self_samples"] for r in table["rows"] if r["name"].startswith("["))
    subject.equal({**rows, **({"": other} if other else {})}, sums, "objects")


def check_groups(subject, rows, whole, of_one, what):
    """Rows with functions below: their sums are the whole, and one drawn at random is as if it were chosen."""
    subject.equal(sum(r["self_samples"] for r in rows), whole, what)
    chosen = subject.random.choice([r for r in rows if r["self_samples"]])
    wanted = functions(subject.json("flat", "--all", *of_one(chosen), "r.monarc"))
    subject.equal(sum(s for _, s in wanted), chosen["self_samples"], f"{what}, {chosen['name']} alone")
    subject.equal(functions(chosen), wanted, f"functions of {what}, {chosen['name']}")


@law("threads", "inlined", "events", "waits", "lossy", "twins")
def threads_add_up(subject):
    """Threads' rows are all samples, and the functions below a thread are those that --thread shows."""
    world = subject.world
    rows = subject.json("flat", "--by-thread", "r.monarc")["rows"]
    truth = {}
    for s in world.of_event():
        truth[world.threads[s.thread][1]] = truth.get(world.threads[s.thread][1], 0) + s.weight / PERIOD
    subject.equal({r["thread"]: r["self_samples"] for r in rows if r["self_samples"]}, truth, "threads")
    check_groups(subject, rows, world.weight(world.of_event()), lambda r: ("--thread", r["thread"]), "threads")


@law("threads", "waits")
def processes_add_up(subject):
    """Processes' rows are all samples, and --process shows the same of one."""
    world, truth = subject.world, {}
    for s in world.of_event():
        pid = world.processes[world.threads[s.thread][0]]["pid"]
        truth[pid] = truth.get(pid, 0) + s.weight / PERIOD
    rows = subject.json("flat", "--by-process", "r.monarc")["rows"]
    subject.equal({r["pid"]: r["self_samples"] for r in rows if r["self_samples"]}, truth, "processes")
    pid = subject.random.choice(list(truth))
    own = [s for s in world.of_event() if world.processes[world.threads[s.thread][0]]["pid"] == pid]
    subject.equal(flat(subject, "--process", pid), world.own(own), f"--process {pid}")


@law("labels")
def labels_add_up(subject):
    """Values of a label, and none, are all samples; the functions below one are those that --label shows."""
    world = subject.world
    rows = subject.json("flat", "--by-label", "load", "r.monarc")["rows"]
    truth = {}
    for s in world.of_event():
        value = dict(s.labels).get("load")
        truth[value] = truth.get(value, 0) + s.weight / PERIOD
    subject.equal({r["name"]: r["self_samples"] for r in rows if r["self_samples"]}, truth, "values")
    labelled = [r for r in rows if r["name"] is not None]
    if labelled:
        check_groups(subject, labelled, sum(w for v, w in truth.items() if v is not None),
                     lambda r: ("--label", f"load={r['name']}"), "labels")


@law(*SINGLE)
def windows_add_up(subject):
    """Before and after a moment between two slices are the whole, function by function."""
    world = subject.world
    if world.slices < 2:
        return NOTHING
    at = subject.random.randint(1, world.slices - 1)
    for option, samples in (("--to", [s for s in world.of_event() if s.slice < at]),
                            ("--from", [s for s in world.of_event() if s.slice >= at])):
        if samples:
            subject.equal(flat(subject, option, f"{at * SLICE / 1e9:.3f}"), world.own(samples), f"{option} {at} slices")
    return None


def in_region(world, name):
    """Slices of each process in which the region is open in one of its threads, to its outermost end."""
    inside, depth, begun = {}, {}, {}
    for at, kind, process, tid, region in world.marks:
        if region != name or kind == 0:
            continue
        key = process, tid
        depth[key] = depth.get(key, 0) + (1 if kind == 1 else -1)
        if kind == 1 and depth[key] == 1:
            begun[key] = at // SLICE
        elif kind == 2 and depth[key] == 0:
            inside.setdefault(process, set()).update(range(begun[key], at // SLICE))
    return inside


@law("phases")
def regions_are_whole(subject):
    """--phase of a region shows all of it, from its outermost begin to its outermost end, where it nests in itself."""
    world = subject.world
    names = sorted({m[4] for m in world.marks if m[1] == 1})
    name = subject.random.choice(names)
    inside = in_region(world, name)
    samples = [s for s in world.of_event() if s.slice in inside.get(world.threads[s.thread][0], ())]
    if not samples:
        return NOTHING
    subject.equal(flat(subject, "--phase", name), world.own(samples), f"--phase {name}")
    return None


@law("phases")
def phases_add_up(subject):
    """A phase goes from its mark to the next one, and phases of one name are added up."""
    world = subject.world
    marks = [m for m in world.marks if m[1] == 0]
    name = subject.random.choice(marks)[4]
    inside = set()
    for i, mark in enumerate(marks):
        end = marks[i + 1][0] // SLICE if i + 1 < len(marks) else world.slices
        if mark[4] == name:
            inside.update(range(mark[0] // SLICE, end))
    samples = [s for s in world.of_event() if s.slice in inside]
    if not samples:
        return NOTHING
    subject.equal(flat(subject, "--phase", name), world.own(samples), f"--phase {name}")
    return None


@law("events")
def events_are_themselves(subject):
    """The columns of other events are what --event shows of them, and each event's samples are those recorded."""
    world = subject.world
    table = subject.json("flat", "--all", "r.monarc")
    for number, (name, *_) in enumerate(world.events):
        samples = world.of_event(number)
        if not samples:
            continue
        chosen = subject.json("flat", "--all", "--event", name, "r.monarc")
        subject.equal(chosen["summary"]["samples"], world.weight(samples, number), name)
        if number:
            column = [{**f, "self_samples": e["self_samples"]} for f in table["functions"]
                      for e in f.get("events", ()) if e["name"] == name]
            subject.equal(functions({"functions": column}), functions(chosen), f"column {name}")
    info = subject.json("info", "r.monarc")["files"][0]["events"]
    subject.equal([[e["name"], e["weight"]] for e in info],
                  [[name, sum(s.weight for s in world.of_event(i))] for i, (name, *_) in enumerate(world.events)], "info")


@law(*SINGLE)
def lines_add_up(subject):
    """Lines, and what has none, are all samples; each has those that hit it."""
    done = subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2))
    if done.returncode == 2:
        subject.holds(re.search(rb"no line(s| numbers)", done.stderr), done.stderr.decode())
        return NOTHING
    table = subject.json("lines", "--all", "r.monarc")
    world, found = subject.world, {}
    for row in table["lines"]:
        key = row["file"] or "", row["line"] or 0
        if row["self_samples"]:
            found[key] = found.get(key, 0) + row["self_samples"]
    subject.equal(sorted([*key, s] for key, s in found.items()), world.own_lines(world.of_event()), "lines")
    subject.equal(table["without_line"]["self_samples"], found.get(("", 0), 0), "without line")
    return None


@law(*SINGLE)
def csv_is_json(subject):
    """CSV has the rows of JSON, a field for each column of its first line, and the same figures."""
    rows = list(csv.reader(io.StringIO(subject.text("flat", "--csv", "--all", "r.monarc"))))
    head, table = rows[0], subject.json("flat", "--all", "r.monarc")["functions"]
    subject.holds({len(r) for r in rows} == {len(head)}, f"fields {[len(r) for r in rows]} of {len(head)} columns")
    body = [dict(zip(head, r)) for r in rows[1:] if r[0] not in ("omitted", "unattributed", "profiler")]
    subject.equal(len(body), len(table), "rows")
    for line, row in zip(body, table):
        for name in "self_share", "self_samples", "self_time", "total_samples", "total_time", "calls":
            if row.get(name) is not None:
                subject.equal(float(line[name]), float(row[name]), f"{row['name']} {name}")
        subject.equal(line["address"], row["address"], "address")


@law(*SINGLE)
def text_is_json(subject):
    """The text of flat has the rows of JSON, in its order, and their figures rounded."""
    text = subject.text("flat", "--all", "--wide", "--no-pager", "r.monarc").splitlines()
    report = subject.json("flat", "--all", "r.monarc")
    rows = report["functions"]
    waits = [row for row in rows if row["name"].startswith(OFF_CPU)]
    works = [row for row in rows if row not in waits]
    heads = [i for i, line in enumerate(text) if line.lstrip().startswith("self%")]
    # Work and waits are two tables, each of 100 %, where there is both.
    is_split = len(heads) > 1
    subject.equal(is_split, all(sum(row["self_samples"] for row in part) > 0 for part in (works, waits)), "two tables")
    for at, table in zip(heads, (works, waits) if is_split else (rows,)):
        whole = sum(row["self_samples"] for row in waits)
        whole = whole if table is waits else report["summary"]["samples"] - whole
        head = re.split(r"  +| (?=\+-)", text[at].strip())
        subject.equal(text[at + 1:].index(""), len(table), "rows")
        for row, line in zip(table, text[at + 1:]):
            share = row["self_samples"] / whole if is_split else row["self_share"]
            values = {"self%": share * 100, "samples": row["self_samples"], "self s": row["self_time"]}
            for name, cell in zip(head, line.split()):
                if name in values:
                    rounded(cell, values[name], f"{row['name']} {name}")


def waited(subject, samples):
    """(name, waits, seconds) of each lock and file, sorted: two of one name stand each for itself."""
    sums = collections.defaultdict(lambda: [0, 0])
    for s in samples:
        if s.resource is not None:
            sums[s.resource][0] += s.waits
            sums[s.resource][1] += s.weight / 1e9
    return sorted([made.RESOURCES[r][2], *sum_] for r, sum_ in sums.items())


def resources(subject, command):
    return sorted([r["name"], r["waits"], r["seconds"]] for r in subject.json(*command, "r.monarc")["rows"] if r["name"])


@law("waits")
def waits_add_up(subject):
    """Rows of waits, of both kinds, are all that was seen, waiters and bytes are their rows, and rows what the head says."""
    for command in ["waits"], ["waits", "--files"]:
        table = subject.json(*command, "r.monarc")
        subject.equal(sum(r["seconds"] for r in table["rows"]), table["seen_seconds"], f"{command}: rows")
        for row in table["rows"]:
            subject.equal(sum(w["seconds"] for w in row["waiters"]), row["seconds"], f"{command}: {row['name']}")
            subject.equal(sum(w["waits"] for w in row["waiters"]), row["waits"], f"{command}: {row['name']}")
        if len(command) > 1 and "transferred" in table:
            subject.equal(sum(r["read_bytes"] for r in table["rows"]), table["transferred"]["placed_read_bytes"], "bytes")
            subject.equal(table["transferred"]["placed_read_bytes"],
                          100 * sum(s.resource in made.FILES for s in subject.world.samples if s.resource is not None),
                          "bytes that have a place")


@law("waits")
def resources_have_their_own(subject):
    """A lock or file has the waits for it, and two of one name have a row each."""
    samples = subject.world.samples
    for command, of in (["waits"], made.LOCKS), (["waits", "--files"], made.FILES):
        wanted = waited(subject, [s for s in samples if s.resource in of])
        if wanted:
            subject.equal(resources(subject, command), wanted, command)


@law("waits")
def waiting_is_in_flat(subject):
    """What waits calls waiting is the time of the rows that wait in flat."""
    table = subject.json("waits", "r.monarc")
    if not table["has_waits"]:
        return NOTHING
    waits = sum(s.weight for s in subject.world.of_event()
                if s.stack[-1][0] == "wait" and s.stack[-1][1] != made.READY_WAIT) / 1e9
    subject.equal(table["waited_seconds"], waits, "waited")
    return None
