"""same_laws.py: one quantity is the same number wherever it is printed."""

import base64
import collections
import json
import os
import re
import shutil
import subprocess
import zlib

import laws
import made
from harness import sure_share
from laws import NOTHING
from table import PERIOD, SINGLE, flat, functions, law

ALL = SINGLE + ("several",)


def own(rows, name="linkage_name"):
    """(name, samples) as functions() has them, of rows of another report."""
    return functions({"functions": [{**row, "linkage_name": row[name] or ""} for row in rows]})


@law(*SINGLE)
def info_has_all(subject):
    """Samples and weights of info are those that were recorded, of each event."""
    world = subject.world
    table = subject.json("info", "r.monarc")["files"][0]
    subject.equal([[e["samples"], e["weight"]] for e in table["events"]],
                  [[sum(s.count for s in world.of_event(i)), sum(s.weight for s in world.of_event(i))]
                   for i in range(len(world.events))], "events")
    subject.equal([t["name"] for t in table["threads"]], [t[2] for t in world.threads], "threads")


@law(*ALL)
def graph_is_flat(subject):
    """Entries of the graph have the self times and totals of flat."""
    table = subject.json("graph", "--entries", "r.monarc")
    entries = [e for e in table["entries"] if e["kind"] == "function"]
    subject.equal(own(entries), flat(subject), "self")
    if any(e["cycle"] for e in entries):
        return
    totals = [[e["linkage_name"], e["self_samples"] + e["callees_samples"]] for e in entries]
    wanted = [[f["linkage_name"], f["total_samples"]] for f in subject.json("flat", "--all", "r.monarc")["functions"]]
    subject.equal(sorted(t for t in totals if t[1] and not t[0].startswith("[")),
                  sorted(t for t in wanted if t[1] and not t[0].startswith("[")), "totals")


@law(*ALL)
def tree_is_flat(subject):
    """Nodes of the tree have the self times of flat, and each node is what it has itself and its children."""
    table = subject.json("graph", "--tree", "r.monarc")
    rows = [row for tree in table["trees"] for row in tree["rows"]]
    sums = collections.Counter()
    for row in rows:
        sums[row["linkage_name"], row["address"] if not row["is_inlined"] else "", row.get("object")] += row["self_samples"]
    subject.equal(functions({"functions": [{"linkage_name": key[0], "self_samples": s} for key, s in sums.items()]}),
                  flat(subject), "self")
    for tree in table["trees"]:
        open_rows = []
        for row in [*tree["rows"], {"depth": -1}]:
            while open_rows and open_rows[-1][0]["depth"] >= row["depth"]:
                top, left = open_rows.pop()
                subject.equal(left, 0, f"what {top['name']} has beside its own and its callees")
            if row["depth"] >= 0:
                if open_rows and open_rows[-1][0]["depth"] == row["depth"] - 1:
                    open_rows[-1][1] -= row["total_samples"]
                open_rows.append([row, row["total_samples"] - row["self_samples"]])
    subject.equal(sum(row["self_samples"] for row in rows), sum(s for _, s in flat(subject)), "the whole")


@law(*SINGLE)
def lines_are_flat(subject):
    """The lines of a function have its samples together."""
    done = subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2))
    if done.returncode:
        return NOTHING
    lines = subject.json("lines", "--all", "r.monarc")["lines"]
    sums, of = collections.Counter(), collections.defaultdict(list)
    for row in lines:
        sums[row["linkage_name"]] += row["self_samples"]
        of[row["linkage_name"]].append(row)
    wanted = collections.Counter()
    table = subject.json("flat", "--all", "r.monarc")["functions"]
    for row in table:
        wanted[row["linkage_name"]] += row["self_samples"]
    subject.equal({k: v for k, v in sums.items() if v}, {k: v for k, v in wanted.items() if v}, "samples")
    return None


@law(*ALL)
def line_totals_are_true(subject):
    """A line's total is of the samples that have it on their stacks, each once, in lines and in annotate; it is between the
    line's self time and the total of its function."""
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    rows = subject.json("lines", "--all", "r.monarc")["lines"]
    if not any("total_samples" in row for row in rows):
        return NOTHING
    found = [[row["linkage_name"], row["file"] or "", row["line"] or 0, row["total_samples"]] for row in rows]
    wanted = subject.world.line_totals(subject.world.of_event())
    subject.equal(sorted(f for f in found if f[3] and not f[0].startswith("[")), wanted, "lines")
    totals = collections.Counter()
    for f in subject.json("flat", "--all", "r.monarc")["functions"]:
        totals[f["linkage_name"]] += f["total_samples"]
    for row in rows:
        subject.holds(row["self_samples"] - 1e-9 <= row["total_samples"] <= totals[row["linkage_name"]] + 1e-9,
                      f"{row['name']} {row['line']}: {row['total_samples']}")
    by_line, seen = collections.Counter(), collections.defaultdict(set)
    for number, s in enumerate(subject.world.of_event()):
        for _, _, file, line in {place for frame in s.stack for place in subject.world.chain(frame)}:
            if file and number not in seen[file, line]:
                seen[file, line].add(number)
                by_line[file, line] += s.weight / PERIOD
    shown = {(f["recorded"], line["line"]): line["total_samples"]
             for f in subject.json("annotate", "--all", "r.monarc")["files"] for line in f["lines"] if line.get("total_samples")}
    subject.equal({str(k): v for k, v in shown.items()}, {str(k): v for k, v in by_line.items()}, "annotate")
    return None


@law(*SINGLE)
def intervals_are_equal(subject):
    """A function with one line has the interval of that line in flat and in lines."""
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    of, judged = collections.defaultdict(list), False
    for row in subject.json("lines", "--all", "r.monarc")["lines"]:
        of[row["linkage_name"]].append(row)
    names = collections.Counter(f["linkage_name"] for f in subject.json("flat", "--all", "r.monarc")["functions"])
    for f in subject.json("flat", "--all", "r.monarc")["functions"]:
        rows = of[f["linkage_name"]]
        if len(rows) == 1 and names[f["linkage_name"]] == 1 and f["self_samples"]:
            judged = True
            for side in "self_share_low", "self_share_high":
                subject.equal(rows[0][side], f[side], f"{f['name']} {side}")
    return None if judged else NOTHING


@law("inlined", "threads", "labels", "twins")
def annotate_is_lines(subject):
    """Lines of annotate have the samples of lines."""
    world = subject.world
    paths = {f.file for o in world.objects if o.has_lines for f in o.functions} | {f"{subject.folder}/src/h.h"}
    for path in paths:
        file = subject.folder / path
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_text("".join(f"line {i}\n" for i in range(1, 200)))
            subject.forget()
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    wanted = collections.Counter()
    for row in subject.json("lines", "--all", "r.monarc")["lines"]:
        if row["file"] and row["self_samples"]:
            wanted[row["file"], row["line"]] += row["self_samples"]
    if not wanted:
        return NOTHING
    found = collections.Counter()
    for file in subject.json("annotate", "--all", "r.monarc")["files"]:
        for line in file["lines"]:
            if line.get("samples") or line.get("self_samples"):
                found[file.get("path") or file.get("file") or file.get("name"), line.get("line") or line.get("number")] += \
                    line.get("self_samples", line.get("samples"))
    subject.equal(dict(found), dict(wanted), "annotate")
    return None


@law(*ALL)
def folded_is_flat(subject):
    """Folded stacks end in the functions of flat, with their samples, and monarc reads them as it wrote them."""
    sums = collections.Counter()
    for line in subject.text("export", "--format", "folded", "r.monarc").splitlines():
        path, _, count = line.rpartition(" ")
        sums[path.rpartition(";")[2]] += int(count) / PERIOD
    wanted = collections.Counter()
    for row in subject.json("flat", "--all", "r.monarc")["functions"]:
        wanted[row["name"]] += row["self_samples"]
    other = {k: v for k, v in sums.items() if not k.startswith("[")}
    subject.equal(sum(sums.values()), sum(wanted.values()), "the whole")
    subject.equal(len(other), len({k for k, v in wanted.items() if v and not k.startswith("[")}), "functions")
    subject.equal(sorted(other.values()), sorted(v for k, v in wanted.items() if v and not k.startswith("[")), "functions")


def read_back(subject, form, unit):
    name = f"x.{form}"
    subject.run("export", "--format", form, "-o", name, "r.monarc")
    table = subject.json("flat", "--all", name)
    found, wanted = collections.Counter(), collections.Counter()
    for row in table["functions"]:
        found[row["name"]] += row["self_samples"] / unit
    for row in subject.json("flat", "--all", "r.monarc")["functions"]:
        wanted[row["name"]] += row["self_samples"]
    subject.equal(sum(found.values()), sum(wanted.values()), f"the whole, by {form}")
    subject.equal({k: v for k, v in found.items() if v and not k.startswith("[")},
                  {k: v for k, v in wanted.items() if v and not k.startswith("[")}, f"functions, by {form}")


@law(*ALL)
def pprof_is_read_back(subject):
    """Of a pprof profile that was exported, flat says what it says of the recording."""
    read_back(subject, "pprof", 1)


@law(*ALL)
def folded_is_read_back(subject):
    """Of folded stacks that were exported, flat says what it says of the recording; without a caller in them they are
    no more than words with numbers."""
    if b";" not in subject.run("export", "--format", "folded", "r.monarc").stdout:
        return NOTHING
    read_back(subject, "folded", PERIOD)
    return None


@law(*ALL)
def callgrind_is_read_back(subject):
    """Of a callgrind file that was exported, flat says what it says of the recording."""
    read_back(subject, "callgrind", PERIOD)


@law(*ALL)
def callgrind_totals_are_flat(subject):
    """In a callgrind file, what callers give to a function is its total in flat; of one that is never called, what it has
    itself and what it gives."""
    subject.run("export", "--format", "callgrind", "-o", "x.callgrind", "r.monarc")
    names, given, own_and_given = {}, collections.Counter(), collections.Counter()
    function, callee = None, None

    def named(text):
        number, _, name = text.partition(" ")
        names.setdefault(number, name)
        return number

    for line in (subject.folder / "x.callgrind").read_text(errors="replace").splitlines():
        if line.startswith("fn="):
            function = named(line[3:])
        elif line.startswith("cfn="):
            callee = named(line[4:])
        elif line[:1].isdigit():
            cost = int(line.split()[1]) / PERIOD
            own_and_given[function] += cost
            if callee:
                given[callee] += cost
            callee = None
    found = sorted(given.get(number, own_and_given[number])
                   for number, name in names.items() if name != "[outside]")
    wanted = [f["total_samples"] for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["total_samples"]]
    subject.equal(found, sorted(wanted), "totals")


@law(*ALL)
def speedscope_is_flat(subject):
    """The stacks of speedscope end in the functions of flat, with their samples."""
    data = json.loads(subject.run("export", "--format", "speedscope", "r.monarc").stdout)
    sums, frames = collections.Counter(), data["shared"]["frames"]
    for profile in data["profiles"]:
        if profile["name"].endswith(", cpu"):
            for stack, weight in zip(profile["samples"], profile["weights"]):
                if stack:
                    sums[frames[stack[-1]]["name"]] += weight / PERIOD
    wanted = collections.Counter()
    for row in subject.json("flat", "--all", "r.monarc")["functions"]:
        wanted[row["name"]] += row["self_samples"]
    subject.equal({k: v for k, v in sums.items() if not k.startswith("[")},
                  {k: v for k, v in wanted.items() if v and not k.startswith("[")}, "functions")


@law("plain", "inlined", "threads", "events", "waits", "lossy", "twins", "several")
def page_is_flat(subject):
    """The data of the page has the self times and totals of flat."""
    subject.run("html", "-o", "x.html", "r.monarc")
    profile = page_blocks(subject.folder / "x.html")["data"]["profile"]
    rows = profile["functions"]
    found = sorted([s for s in rows["self"] if s])
    wanted = sorted(f["self_samples"] for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["self_samples"])
    subject.equal(found, wanted, "self")


@law("plain", "inlined", "threads", "lossy", "twins", "several")
def page_sources_are_lines(subject):
    """Lines of the page's sources have the self times of `lines`, and the totals of `annotate`."""
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    subject.run("html", "--all-sources", "-o", "x.html", "r.monarc")
    blocks = page_blocks(subject.folder / "x.html")
    found, wanted, totals = collections.Counter(), collections.Counter(), collections.Counter()
    for name, block in blocks.items():
        if isinstance(block, dict) and block.get("time"):
            for line, own_samples in zip(block["time"]["line"], block["time"]["self"]):
                found[name, line] += own_samples
            for line, samples in zip(block["time"]["line"], block["time"].get("total", ())):
                totals[name, line] += samples
    for row in subject.json("lines", "--all", "r.monarc")["lines"]:
        if row["file"]:
            wanted[row["file"], row["line"]] += row["self_samples"]
    subject.equal(sorted(v for v in found.values() if v), sorted(v for v in wanted.values() if v), "self")
    lines = [line for f in subject.json("annotate", "--all", "r.monarc")["files"] for line in f["lines"]]
    subject.equal(sorted(v for v in totals.values() if v),
                  sorted(line["total_samples"] for line in lines if line.get("total_samples")), "total")
    return None


def page_blocks(path):
    """The page's data, by name."""
    return {name: json.loads(zlib.decompress(base64.b64decode(block), -15))
            for name, block in re.findall(r'<script type="text/plain" id="(\w+)">([^<]*)', path.read_text())}


@law("plain", "inlined", "threads", "lossy", "twins", "several")
def screen_is_flat(subject):
    """The terminal's list of functions has the figures of flat, rounded alike."""
    screens = os.environ.get("SCREENS") or "/nowhere"
    if not os.path.exists(screens):
        return NOTHING
    text = subprocess.run([screens, "60", "200", "r.monarc"], cwd=subject.folder, input=b"\n", capture_output=True,
                          timeout=600).stdout.decode()
    shown = [line.split()[0] for line in text.splitlines() if re.match(r" *\d+\.\d+ ", line)]
    wanted = [sure_share(f["self_share"], (f["self_share_high"] - f["self_share_low"]) / 2)
              for f in subject.json("flat", "--all", "r.monarc")["functions"]]
    subject.equal([share for share in shown if float(share)], [share for share in wanted if float(share)], "self%")
    return None


@law("plain", "inlined", "threads", "lossy", "twins")
def store_is_flat(subject):
    """The history has the time of each function, by name the sum of all of that name, and of the whole."""
    subject.run("store", "add", "--file", "h.db", "--commit", "c1", "r.monarc")
    table = subject.json("flat", "--all", "r.monarc")
    total = subject.json("store", "trend", "--file", "h.db", "--total")["points"][0]["value"]
    subject.equal(total, table["summary"]["recording"]["cpu_time"], "--total")
    sums = collections.Counter()
    for row in table["functions"]:
        if not row["name"].startswith("["):
            sums[row["name"]] += row["self_time"]
    names = sorted(n for n, v in sums.items() if v)
    if not names:
        return NOTHING
    name = subject.random.choice(names)
    value = subject.json("store", "trend", "--file", "h.db", name)["points"][0]["value"]
    subject.holds(abs(value - sums[name]) <= 5e-6, f"{name}: {value}, not {sums[name]}")  # whole microseconds, of some objects
    return None


@law("series")
def commit_is_the_mean_of_its_runs(subject):
    """What a commit has in the history is the mean of all its runs, in trend and in diff, a series counting as its runs."""
    times = [subject.json("flat", f"r.monarc/run-{i + 1}")["summary"]["recording"]["cpu_time"]
             for i in range(len(subject.heaps))]
    if None in times:  # nothing but waits: what has no CPU time has another total
        return NOTHING
    for name in "r.monarc", "r.monarc/run-1":
        subject.run("store", "add", "--file", "h.db", "--commit", "c1", name)
    point = subject.json("store", "trend", "--file", "h.db", "--total")["points"][0]
    table = subject.json("store", "diff", "--file", "h.db", "c1", "c1")
    row = next(r for r in table["rows"] if r["name"] == "[total]")
    subject.equal([point["runs"], table["old_runs"], table["new_runs"]], [len(subject.heaps) + 1] * 3, "runs")
    subject.equal([point["value"], row["old"], row["new"]], [(sum(times) + times[0]) / (len(times) + 1)] * 3, "total")
    return None


@law("inlined", "labels", "lossy", "twins")
def page_window_is_flat(subject):
    """A stretch of time that is chosen on the page has the self times that flat has of it."""
    if not shutil.which("node"):
        return NOTHING
    world = subject.world
    first = subject.random.randrange(world.slices // 2)
    last = subject.random.randint(first + 1, world.slices)
    part = [f"{at * made.SLICE / 1e9:.3f}" for at in (first, last)]
    wanted = sorted(s for _, s in flat(subject, "--from", part[0], "--to", part[1]))
    if not wanted:
        return NOTHING
    subject.run("html", "-o", "x.html", "r.monarc")
    done = subprocess.run(["node", laws.ROOT / "tests/laws/page_window.js", "x.html", *part], cwd=subject.folder,
                          capture_output=True, text=True, timeout=600)
    subject.holds(done.returncode == 0, done.stderr[-400:])
    rows = [[name, self] for name, self, _ in json.loads(done.stdout) if self]
    other = sum(s for name, s in rows if name.startswith("["))
    found = sorted([s for name, s in rows if not name.startswith("[")] + ([other] if other else []))
    subject.equal(found, wanted, f"from {part[0]} to {part[1]}")
    return None
