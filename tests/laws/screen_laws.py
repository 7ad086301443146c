"""screen_laws.py: what the terminal and the page show is what reports say."""

import collections
import os
import re
import subprocess

from harness import rounded, sure, sure_share
from laws import NOTHING
from same_laws import page_blocks
from table import SINGLE, law

ALL = "plain", "inlined", "threads", "lossy", "twins", "several", "waits", "labels", "events"
SCREENS = os.environ.get("SCREENS") or "/nowhere"


def screens(subject, *keys):
    """The lines of the screen after each line of keys."""
    done = subprocess.run([SCREENS, "90", "220", "r.monarc"], cwd=subject.folder, input="".join(f"{k}\n" for k in keys),
                          capture_output=True, text=True, timeout=600, env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    subject.holds(done.returncode == 0, done.stderr[-400:])
    return [screen.splitlines()[1:91] for screen in done.stdout.split("=== ")[1:]]


@law(*ALL)
def screen_columns_are_flat(subject):
    """The terminal's columns of times and totals are those of flat, with the digits that are sure."""
    if not os.path.exists(SCREENS):
        return NOTHING
    shown = [line.split() for line in screens(subject, "")[0][2:] if re.match(r" *[0-9]+\.[0-9]+ ", line)]
    table = subject.json("flat", "--all", "r.monarc")
    whole = table["summary"]["samples"]
    found, wanted = collections.Counter(), collections.Counter()
    for cells in shown:
        if not float(cells[3]) and not float(cells[4]):
            continue
        found[tuple(cells[:5])] += 1
    if not shown or "total_share_low" not in table["functions"][0] or len(shown) > 80:
        return NOTHING
    decimals = max(len(cells[2].partition(".")[2]) for cells in shown)
    unit = whole / table["summary"]["samples_per_unit"] if table["summary"]["samples_per_unit"] else whole
    for row in table["functions"]:
        half = (row["self_share_high"] - row["self_share_low"]) / 2
        total = (row["total_share_high"] - row["total_share_low"]) / 2
        cells = (sure_share(row["self_share"], half), sure_share(half, half), sure(row["self_time"], half * unit, decimals),
                 sure_share(row["total_samples"] / whole, total), sure(row["total_time"], total * unit, decimals))
        if float(cells[3]) or float(cells[4]):
            wanted[cells] += 1  # the screen leaves out what is hardly there, or not at all
    subject.equal(found, wanted, "self%, +-, self s, total%, total s")
    return None


def parts(subject):
    """What the terminal lists to choose from: (kind, number, name, share), but everything."""
    found = []
    for line in screens(subject, "", "5")[-1]:
        row = re.match(r" *([0-9.]+) +(\w+) +(\d*) (\S.*?) *$", line)
        if row and row[2] in ("process", "thread", "object", "label", "phase", "program", "rank"):
            found.append((row[2], row[3], row[4], row[1]))
    return found


def same_shares(subject, found, wanted, what):
    """Both with the most first; what is shown may end in rows of nothing."""
    shown = found[:len(wanted)]
    subject.equal(shown, [rounded(100 * share, text) for share, text in zip(wanted, shown)], what)
    subject.equal([text for text in found[len(wanted):] if float(text)], [], f"{what}: more rows")
    subject.equal([share for share in wanted[len(found):] if share >= 0.00005], [], f"{what}: rows that are not shown")


@law("threads", "inlined", "lossy", "twins", "several", "waits")
def screen_parts_are_flat(subject):
    """Processes, threads and objects that the terminal lists have the shares of flat."""
    if not os.path.exists(SCREENS):
        return NOTHING
    shown = parts(subject)
    for kind, number in ("process", "pid"), ("thread", "thread"), ("object", None):
        sums = collections.Counter()  # merged recordings may have a number twice
        for i, row in enumerate(subject.json("flat", f"--by-{kind}", "r.monarc")["rows"]):
            sums[(row["pid"], row[number]) if number else i] += row["self_share"]
        found = sorted((share for of, _, _, share in shown if of == kind), key=float, reverse=True)
        wanted = sorted((share for share in sums.values() if share > 0), reverse=True)
        if len(wanted) > 1 or any(map(float, found)):
            same_shares(subject, found, wanted, f"shares by {kind}")
    return None


@law("threads", "inlined", "waits", "labels")
def screen_part_is_flat(subject):
    """A process or thread that is chosen on the terminal has the functions that flat shows of it."""
    if not os.path.exists(SCREENS):
        return NOTHING
    shown = parts(subject)
    choices = [i for i, row in enumerate(shown) if row[0] in ("process", "thread")]
    if not choices:
        return NOTHING
    row = subject.random.choice(choices)
    kind, number, _, _ = shown[row]
    lines = screens(subject, "5", "^" + "v" * (row + 1) + "\\r", "1")[-1]
    found = sorted((line.split()[0] for line in lines[2:] if re.match(r" *[0-9]+\.[0-9]+ ", line)), key=float, reverse=True)
    wanted = subject.json("flat", "--all", f"--{kind}", number, "r.monarc")["functions"]
    same_shares(subject, found, sorted((f["self_share"] for f in wanted if f["self_share"] > 0), reverse=True), f"{kind} {number}")
    return None


def plain(name):
    """As pages shorten it."""
    return name if name.startswith("[") else re.sub(r"^void |\(.*", "", name)


@law(*SINGLE, "several")
def page_totals_are_flat(subject):
    """Of each function the page has the self time and the total of flat."""
    subject.run("html", "-o", "x.html", "r.monarc")
    rows = page_blocks(subject.folder / "x.html")["data"]["profile"]["functions"]
    found = sorted([s, t] for s, t in zip(rows["self"], rows["total"]) if s or t)
    wanted = sorted([f["self_samples"], f["total_samples"]] for f in subject.json("flat", "--all", "r.monarc")["functions"]
                    if f["total_samples"])
    subject.equal(found, wanted, "self and total")


@law(*SINGLE, "several")
def page_calls_are_graph(subject):
    """Of each two functions the page has the times of the call that the graph has."""
    subject.run("html", "-o", "x.html", "r.monarc")
    blocks = page_blocks(subject.folder / "x.html")
    if "calls" not in blocks:
        return NOTHING
    names, calls = blocks["data"]["profile"]["functions"]["name"], blocks["calls"]
    columns = zip(*(calls[k] for k in ("caller", "callee", "self", "children")))
    found = sorted([plain(names[a]), plain(names[b]), round(s, 6), round(c, 6)] for a, b, s, c in columns if s + c and a != b)
    wanted = []
    for entry in subject.json("graph", "--entries", "r.monarc")["entries"]:
        for arc in entry.get("callees", ()) if entry["kind"] == "function" else ():
            times = [round(arc[k + "_samples"], 6) for k in ("self", "callees") if k + "_samples" in arc]
            if arc["kind"] == "arc" and sum(times):
                wanted.append([plain(entry["name"]), plain(arc["name"]), *times])
    subject.equal(found, sorted(wanted), "calls")
    return None


@law(*SINGLE, "several")
def page_paths_are_the_tree(subject):
    """Paths of the page have the times of the tree, each once."""
    subject.run("html", "-o", "x.html", "r.monarc")
    profile = page_blocks(subject.folder / "x.html")["data"]["profile"]
    paths, names, found, of = profile["paths"], profile["functions"]["name"], collections.Counter(), []
    for up, function, own in zip(paths["up"], paths["function"], paths["self"]):
        of.append((*of[len(of) - up], names[function]) if function >= 0 else ())
        if own:
            found[of[-1]] += own
    wanted, path = collections.Counter(), []
    for row in subject.json("graph", "--tree", "--min-percent=0", "--limit=100000", "r.monarc")["trees"][0]["rows"]:
        path[row["depth"]:] = [row["name"]]
        if row["self_samples"]:
            wanted[tuple(path)] += row["self_samples"]
    short = collections.Counter()
    for names, own in wanted.items():
        short[tuple(map(plain, names))] += own
    subject.equal(dict(found), dict(short), "paths")
