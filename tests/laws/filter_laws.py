"""filter_laws.py: a function that is asked for, left out or followed has the figures that it has among all."""

import collections
import json
import re

from laws import NOTHING
from table import PERIOD, law

FEW = ("plain", "inlined", "threads", "events", "waits", "lossy", "twins", "several")
FIGURES = ("self_samples", "self_share", "self_share_low", "self_share_high", "total_samples", "total_share_low",
           "total_share_high")


def rows(subject, *options):
    return subject.json("flat", "--all", *options, "r.monarc")["functions"]


def known(row):
    return row["name"], row["address"], row["is_inlined"], row.get("object")


def figures(table):
    return sorted([[*map(str, known(f))], [f.get(k) for k in FIGURES]] for f in table)


def any_name(subject):
    names = sorted({f["name"] for f in rows(subject) if not f["name"].startswith("[")})
    return subject.random.choice(names) if names else None


@law(*FEW)
def filters_leave_figures(subject):
    """A row of flat that a filter leaves has the figures that it has without, and what it does not leave is counted."""
    every = rows(subject)
    name = any_name(subject)
    if not name:
        return NOTHING
    for options, keeps in ((["--function", name], lambda f: f["name"] == name),
                           (["--ignore", name], lambda f: f["name"] != name)):
        table = subject.json("flat", "--all", *options, "r.monarc")
        subject.equal(figures(table["functions"]), figures([f for f in every if keeps(f)]), options[0])
        subject.equal(table["omitted"]["self_samples"], sum(f["self_samples"] for f in every if not keeps(f)),
                      f"omitted by {options[0]}")
    mine = subject.json("flat", "--all", "--mine", "r.monarc")
    names = {known(f) for f in mine["functions"]}
    subject.equal(figures(mine["functions"]), figures([f for f in every if known(f) in names]), "--mine")
    subject.equal(mine["omitted"]["self_samples"], sum(f["self_samples"] for f in every if known(f) not in names),
                  "omitted by --mine")
    return None


@law(*FEW)
def lines_of_a_function_are_its_own(subject):
    """`lines --function` and `annotate --function` have the time of the function that flat has."""
    if subject.run("lines", "--json", "--all", "r.monarc", status=(0, 2)).returncode:
        return NOTHING
    name = any_name(subject)
    wanted = sum(f["self_samples"] for f in rows(subject) if f["name"] == name)
    table = subject.json("lines", "--all", "--function", name, "r.monarc")
    subject.equal(sum(f["self_samples"] for f in table["lines"]), wanted, f"lines of {name}")
    whole = sum(f["self_samples"] for f in rows(subject))
    subject.equal(sum(f["self_samples"] for f in table["lines"]) + table["omitted"]["self_samples"]
                  + table.get("unattributed_samples", 0), whole, f"lines of {name}, and others")
    return None


def check_tree(subject, tree, what):
    """Each node has what its children have, and at least that."""
    path = []  # of each node on the way: what it has, and its children
    for row in tree["rows"]:
        del path[row["depth"]:]
        path.append([row["total_samples"], 0])
        if len(path) > 1:
            path[-2][1] += row["total_samples"]
            subject.holds(path[-2][1] <= path[-2][0] * (1 + 1e-9) + 1e-9, f"{what}: children of {path}")


@law(*FEW)
def trees_of_a_function_are_flat(subject):
    """`graph --callers` and `--callees` begin with the total that flat has, and no node's children have more than it."""
    name = any_name(subject)
    if not name:
        return NOTHING
    wanted = sorted(f["total_samples"] for f in rows(subject) if f["name"] == name and f["total_samples"])
    for way in "--callers", "--callees":
        done = subject.run("graph", way, name, "--json", "--all", "r.monarc", status=(0, 2))
        table = json.loads(done.stdout) if done.stdout else {"trees": []}
        subject.equal(sorted(t["samples"] for t in table["trees"] if t["samples"]), wanted, f"{way} {name}")
        for tree in table["trees"]:
            check_tree(subject, tree, way)
    return None


def folded(subject, *options):
    sums = collections.Counter()
    for line in subject.text("export", "--format", "folded", *options, "r.monarc").splitlines():
        path, _, count = line.rpartition(" ")
        sums[path] += int(count) / PERIOD
    return sums


@law(*FEW)
def exports_of_a_function_are_its_total(subject):
    """An export of the paths through a function has its total."""
    name = any_name(subject)
    every = [f for f in rows(subject) if f["name"] == name]
    if not name or len(every) != 1 or not every[0]["total_samples"]:
        return NOTHING
    subject.equal(sum(folded(subject, "--function", name).values()), every[0]["total_samples"], name)
    return None


def own(tree):
    """What functions have themselves, in all places of the tree."""
    sums = collections.Counter()
    for row in tree:
        sums[row["name"], row["address"], row.get("object")] += row["self_samples"]
    return {str(key): value for key, value in sums.items() if value}


@law(*FEW)
def drops_keep_the_whole(subject):
    """Without a function or an object, or with recursion folded, an export has all the time; so has the tree, but for
    stacks of which nothing is left."""
    name = any_name(subject)
    if not name:
        return NOTHING
    every = rows(subject)
    whole = sum(f["self_samples"] for f in every)

    def tree(*options):
        table = subject.json("graph", "--tree", "--all", *options, "r.monarc")
        return [row for t in table["trees"] for row in t["rows"]]
    libraries = sorted({f["object"] for f in every if f.get("object", "").startswith("lib")})
    for options in (["--drop-function", name], ["--fold-recursion"], *(["--drop-object", o] for o in libraries)):
        paths, done = folded(subject, *options), tree(*options)
        subject.equal(sum(paths.values()), whole, f"an export, {options}")
        rest = paths["[left out]"]
        subject.equal(sum(r["self_samples"] for r in done), whole - rest, f"the tree, {options}")
        if rest > whole * 1e-3:
            text = subject.text("graph", "--tree", "--all", *options, "r.monarc")
            said = re.search(r"^(\d+(?:\.(\d+))?) % of the samples have no frames but those left out$", text, re.M)
            subject.holds(said and said[1] == f"{100 * rest / whole:.{len(said[2] or '')}f}", text)
    subject.holds(all(r["name"] != name for r in tree("--drop-function", name)), "it is still there")
    subject.equal(own(tree("--fold-recursion")), own(tree()), "own")
    return None


@law(*FEW)
def parts_of_exports_are_flat(subject):
    """What an export has of a thread, a process or a window is what flat has of it."""
    world = subject.world
    process, tid, name = subject.random.choice(world.threads)
    first = subject.random.randrange(world.slices)
    for options in (["--thread", str(tid)], ["--thread", name], ["--process", str(world.processes[process]["pid"])],
                    ["--from", f"{first * .01:.2f}"], ["--to", f"{first * .01 + .01:.2f}"]):
        done = subject.run("flat", "--json", "--all", *options, "r.monarc", status=(0, 1, 2))
        export = subject.run("export", "--format", "folded", *options, "r.monarc", status=(0, 1, 2))
        wanted = sum(f["self_samples"] for f in json.loads(done.stdout)["functions"]) if done.stdout else 0
        found = sum(int(line.rpartition(" ")[2]) for line in export.stdout.decode().splitlines()) / PERIOD
        subject.equal(found, wanted, f"{options}")
    return None


def printed_tree(subject, *options):
    """Rows of the tree in text: total and self in seconds, depth, name. Rows of what is left out have no self."""
    rows = []
    for line in subject.text("graph", "--tree", "--no-pager", "--wide", *options, "r.monarc").splitlines():
        found = re.match(r" *[\d.]+ +([\d.]+) +([\d.]+ )? *(\d+) +(?:> )?(.*)", line)
        if found:
            rows.append((float(found[1]), float(found[2] or 0), int(found[3]), found[4]))
    return rows


@law(*FEW)
def folded_chains_are_their_frames(subject):
    """A row for a chain of frames stands for as many rows of --chains, has the total of the first and the self time of all;
    all other rows are the same."""
    whole, chains = printed_tree(subject, "--chains"), 0
    at = 0
    for total, own, depth, name in printed_tree(subject):
        chain = re.match(r"\((\d+) frames without a branch", name)
        frames = whole[at:at + int(chain[1])] if chain else whole[at:at + 1]
        subject.equal((total, depth), (frames[0][0], frames[0][2]), name)
        subject.holds(abs(own - sum(frame[1] for frame in frames)) <= 0.0006 * len(frames), f"self of {name}: {own}, {frames}")
        subject.holds(chain or name == frames[0][3], f"{name}: {frames[0]}")
        at += len(frames)
        chains += bool(chain)
    subject.equal(at, len(whole), "rows")
    return None if chains else NOTHING
