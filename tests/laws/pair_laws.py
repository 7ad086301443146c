"""pair_laws.py: X against X changes nothing, merging adds up, a series is a mean, renaming changes no figure."""

import collections
import csv
import io
import json
import re

import made
from laws import NOTHING
from same_laws import page_blocks
from table import PERIOD, SINGLE, flat, functions, law

ALL = SINGLE + ("several", "series")


def columns(text, *names):
    """Numbers below the headings of a table in text, row by row; None where a field is empty. Blanks stand for digits that
    are not known: a point and three of them at most."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.lstrip().startswith("self%"))
    ends = [re.search(rf"(?<!\S){re.escape(name)}(?!\S)", lines[at]).end() for name in names]
    for line in lines[at + 1:lines.index("", at)]:
        cells = [line[:end].rstrip().rpartition(" ")[2] if line[max(end - 5, 0):end].strip() else "" for end in ends]
        yield [float(c) if c else None for c in cells]


@law(*ALL)
def base_of_itself(subject):
    """flat --base X X shows of each function its own shares, and no change."""
    base = "flat", "--all", "--base", "r.monarc", "r.monarc"
    for row in subject.json(*base)["functions"]:
        if row["self_samples"]:
            subject.holds(row.get("base"), f"{row['name']}: not in the base")
            subject.equal(row["base"]["self_share"], row["self_share"], f"{row['name']}: self% before")
    for share, was, change in columns(subject.text(*base, "--wide", "--no-pager"), "self%", "was%", "change"):
        subject.holds(abs((was or 0) - (share or 0)) <= 0.5 and not change, f"was and change in text: {was}, {share}, {change}")


@law(*ALL)
def diff_with_itself(subject):
    """diff X X has the figures of flat on both sides, and no change in any column."""
    table = subject.json("diff", "--all", "r.monarc", "r.monarc")
    for total in table["totals"]:
        subject.equal(total["change"] or 0, 0, total["name"])
        subject.holds(not total["is_found"], total["name"])
    for row in table["functions"]:
        subject.equal(row["kind"], "kept", row["name"])
        for of in "self_time", "total_time", "self_share", "total_share":
            cell = row.get(of)
            if cell:
                subject.equal([cell["change"], cell["new"]], [0, cell["old"]], f"{row['name']} {of}")
    found = sorted(row["self_time"]["old"] for row in table["functions"] if row["self_time"]["old"])
    wanted = sorted(f["self_time"] for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["self_time"])
    subject.equal(found, wanted, "self times of diff and flat")


@law(*ALL)
def diff_text_is_json(subject):
    """No column of diff's text has a number that no table can have."""
    for line in subject.text("diff", "--all", "--no-pager", "r.monarc", "r.monarc").splitlines():
        subject.holds(not re.search(r"(?<!\S)(-1000\.0|-?nan|[+-]?inf)(?!\S)", line), line)


@law(*SINGLE)
def check_of_itself(subject):
    """check with itself as its baseline finds nothing."""
    done = subject.run("check", "--baseline", "r.monarc", "r.monarc", status=(0, 2))
    if done.returncode == 2:
        subject.holds(b"not judged" in done.stdout + done.stderr or b"judge" in done.stdout + done.stderr,
                      (done.stdout + done.stderr).decode())


@law(*SINGLE)
def store_diff_of_itself(subject):
    """store diff of two commits with one recording finds no change, however often one of them was added."""
    for commit in ("c1", "c2", "c2"):
        subject.run("store", "add", "--file", "d.db", "--commit", commit, "r.monarc")
    for row in subject.json("store", "diff", "--file", "d.db", "c1", "c2")["rows"]:
        subject.equal([row["change"], row["new"]], [0, row["old"]], row["name"])
        subject.holds(not row["is_real"], row["name"])


@law(*SINGLE)
def name_of_folder(subject):
    """Another name of the folder changes no figure."""
    far = subject.folder / ("a-longer-name-" * subject.random.randint(1, 3))
    far.mkdir()
    (far / "r.monarc").mkdir()
    data = (subject.folder / "r.monarc/monarc.side").read_bytes()
    (far / "r.monarc/monarc.side").write_bytes(data)
    here = subject.text("flat", "--csv", "--all", "r.monarc")
    subject.equal(subject.text("flat", "--csv", "--all", f"{far.name}/r.monarc"), here, "flat --csv")


def times(table):
    return sorted([f["linkage_name"], f["self_time"], f["total_time"]] for f in table["functions"]
                  if f["self_samples"] and not f["linkage_name"].startswith("["))


@law("several")
def merging_adds_up(subject):
    """Several recordings, named together or merged in any order, have the samples of each function added up."""
    world = subject.world
    wanted = world.own(world.of_event())
    subject.equal(flat(subject), wanted, "merged")
    subject.equal(functions(subject.json("flat", "--all", *subject.parts)), wanted, "as operands")
    back = subject.parts[::-1]
    subject.equal(functions(subject.json("flat", "--all", *back)), wanted, "as operands, the other way round")
    subject.run("merge", "-o", "back.monarc", *back)
    subject.equal(functions(subject.json("flat", "--all", "back.monarc")), wanted, "merged the other way round")
    if len(subject.parts) > 2:
        subject.run("merge", "-o", "two.monarc", *subject.parts[:2])
        subject.run("merge", "-o", "three.monarc", "two.monarc", *subject.parts[2:])
        subject.equal(functions(subject.json("flat", "--all", "three.monarc")), wanted, "merged twice")


@law("several")
def merged_parts_add_up(subject):
    """Threads, processes and objects of what was merged are those of its parts."""
    for by in "--by-thread", "--by-process", "--by-object":
        sums = []
        for name in subject.parts:
            sums += [[r["name"], r["self_samples"]] for r in subject.json("flat", by, name)["rows"] if r["self_samples"]]
        whole = subject.json("flat", by, "r.monarc")["rows"]
        found, wanted = collections.Counter(), collections.Counter()
        for name, weight in ((r["name"], r["self_samples"]) for r in whole):
            found[name] += weight
        for name, weight in sums:
            wanted[name] += weight
        subject.equal({k: v for k, v in found.items() if v}, dict(wanted), by)


def figures(text):
    """Rows of CSV, sorted, with numbers as such. Addresses are left out: where an object stands is anybody's."""
    rows = [[float(c) if re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", c) else c for c in row if not c.startswith("0x")]
            for row in csv.reader(io.StringIO(text))]
    return sorted(rows, key=lambda row: [(isinstance(c, float), str(c)[:12]) for c in row])


@law("several")
def order_of_operands(subject):
    """The order of operands changes no row of any report."""
    for command in ("lines",), ("graph", "--tree"), ("flat", "--by-object"):
        one = subject.run(*command, "--csv", "--all", *subject.parts, status=(0, 2))
        other = subject.run(*command, "--csv", "--all", *subject.parts[::-1], status=(0, 2))
        subject.equal(one.returncode, other.returncode, command[0])
        subject.equal(figures(other.stdout.decode()), figures(one.stdout.decode()), " ".join(command))


# A series.

def per_run(subject, *options):
    """The mean of what is shown of each run alone: [name, self time, total time] of functions."""
    sums, runs = collections.Counter(), len(subject.heaps)
    for i in range(runs):
        run = subject.run("flat", "--all", *options, "--json", f"r.monarc/run-{i + 1}", status=(0, 2))
        if run.returncode:
            continue
        for row in json.loads(run.stdout)["functions"]:
            if row["self_samples"] and not row["linkage_name"].startswith("["):
                sums[row["linkage_name"]] += row["self_time"] / runs
    return dict(sums)


def of_series(subject, *options):
    sums = collections.Counter()
    for row in subject.json("flat", "--all", *options, "r.monarc")["functions"]:
        if row["self_samples"] and not row["linkage_name"].startswith("["):
            sums[row["linkage_name"]] += row["self_time"]
    return dict(sums)


@law("series")
def series_is_a_mean(subject):
    """A series' times are the mean of its runs', function by function."""
    subject.equal(of_series(subject), per_run(subject), "flat")


@law("series")
def series_window_is_a_mean(subject):
    """A window of a series is the mean of that window in its runs, and of their samples."""
    world, slices = subject.world, subject.random.randint(1, subject.world.slices - 1)
    at = f"{slices * made.SLICE / 1e9:.3f}"
    for option in "--from", "--to":
        found, truth = of_series(subject, option, at), collections.Counter()
        subject.equal(found, per_run(subject, option, at), f"{option} {at}")
        for name, weight in world.own([s for s in world.of_event() if (s.slice >= slices) == (option == "--from")]):
            truth[name] += weight * PERIOD / 1e9 / len(subject.heaps)
        subject.equal(sum(found.values()), sum(w for name, w in truth.items() if name), f"{option} {at}, all")


@law("series")
def series_process_is_a_mean(subject):
    """A process of a series is the mean of what has its number, or its name, in the runs."""
    subject.equal(of_series(subject, "--program", "prog"), per_run(subject, "--program", "prog"), "--program")
    pid = subject.world.processes[-1]["pid"]
    subject.equal(of_series(subject, "--process", pid), per_run(subject, "--process", pid), "--process")


@law("series")
def series_groups_are_means(subject):
    """Threads', processes' and objects' rows of a series are means, and their sum is that of flat."""
    whole = subject.json("flat", "--all", "r.monarc")["summary"]["samples"]
    for by in "--by-object", "--by-thread", "--by-process":
        table = subject.json("flat", by, "r.monarc")
        subject.equal(sum(r["self_samples"] for r in table["rows"]), whole, by)
        subject.equal(table["summary"]["samples"], whole, f"head of {by}")
        subject.equal(sum(r["self_share"] for r in table["rows"]), 1, f"shares of {by}")


@law("series")
def series_is_its_runs(subject):
    """The runs of a series, named one by one, merged, or as a folder, are judged alike by diff."""
    runs = [f"r.monarc/run-{i + 1}" for i in range(len(subject.heaps))]
    subject.run("merge", "-o", "m.monarc", *runs)
    table = json.loads(subject.run("diff", "--all", "--json", "r.monarc", "m.monarc", status=(0, 1)).stdout)
    for total in table["totals"]:
        if total["old"] is not None and total["new"] is not None:
            subject.equal(total["new"], total["old"], total["name"])
    for row in table["functions"]:
        subject.equal(row["self_time"]["new"], row["self_time"]["old"], row["name"])


@law("series")
def series_runs_compared(subject):
    """diff of two runs has each function of either once, in every form, and the times of flat on both sides."""
    old, new = "r.monarc/run-1", f"r.monarc/run-{len(subject.heaps)}"
    rows = json.loads(subject.run("diff", "--all", "--json", old, new, status=(0, 1)).stdout)["functions"]
    for form in "text", "csv", "markdown":
        subject.run("diff", "--all", "--no-pager", "--format", form, old, new, status=(0, 1))
    if any("self_time" not in r for r in rows):
        return NOTHING
    for side, run in ("old", old), ("new", new):
        wanted = sorted((f["self_time"], f.get("is_inlined", False)) for f in subject.json("flat", "--all", run)["functions"] if f["self_time"])
        found = [(r["self_time"][side], r[side]["is_inlined"]) for r in rows if r["self_time"][side]]
        subject.equal(sorted(found), wanted, f"self times of {side}, and which are inlined")
    subject.run("html", "-o", "x.html", "--base", old, new)
    shown = page_blocks(subject.folder / "x.html")["data"]["profile"]["base"]["rows"]
    subject.equal(sorted(zip(shown["name"], shown["self_old"], shown["self"])),
                  sorted((r["name"], r["self_time"]["old"], r["self_time"]["new"]) for r in rows), "rows of the page")
    return None


@law("series")
def series_lines_are_flat(subject):
    """Lines of a series have the times of its functions."""
    done = subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2))
    if done.returncode:
        return NOTHING
    lines = sum(r["self_time"] for r in subject.json("lines", "--all", "r.monarc")["lines"])
    subject.equal(lines, sum(f["self_time"] for f in subject.json("flat", "--all", "r.monarc")["functions"]), "lines")
    return None


@law("series")
def series_waits_are_sums(subject):
    """Locks and files of a series have the sums of its runs, and the head and JSON say of how many."""
    for command, of in (["waits"], made.LOCKS), (["waits", "--files"], made.FILES):
        samples = [s for s in subject.world.samples if s.resource in of]
        if not samples:
            continue
        table = subject.json(*command, "r.monarc")
        runs = len(subject.heaps)
        head = subject.text(*command, "--no-pager", "r.monarc")
        subject.equal(table["runs"], runs, "runs")
        subject.holds(f"{runs}; times, waits and bytes are sums" in head, head[:400])
        subject.equal(sum(r["seconds"] for r in table["rows"] if r["name"]),
                      sum(s.weight for s in samples) / 1e9, command)
