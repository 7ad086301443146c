"""history_laws.py: histories of builds and their turns, ranks of a job, profiles for compilers."""

import collections
import statistics

from laws import NOTHING
from table import PERIOD, law

ROUNDING = 5e-6  # a history keeps whole microseconds; a name may be in some ten objects


def add(subject, file, commits):
    for commit in commits:
        subject.run("store", "add", "--file", file, "--commit", commit, "--date", f"2026-03-{int(commit[1:]) + 1:02}", commit)


def store(subject, *arguments, file="h.db"):
    if not (subject.folder / file).exists():
        add(subject, file, subject.commits)
    return subject.json("store", arguments[0], "--file", file, *arguments[1:])


def times(subject, commit):
    """Seconds of each name."""
    sums = collections.Counter()
    for row in subject.json("flat", "--all", commit)["functions"]:
        if not row["name"].startswith("["):
            sums[row["name"]] += row["self_time"]
    return sums


@law("history")
def trend_is_flat(subject):
    """A trend has a point for each commit, in the order of their dates, with the time that flat has of it."""
    name = subject.random.choice(sorted(n for n, t in times(subject, "c0").items() if t) or ["--total"])
    points = store(subject, "trend", name)["points"]
    subject.equal([p["commit"] for p in points], subject.commits, "commits")
    for p in points if name != "--total" else ():
        subject.holds(abs(p["value"] - times(subject, p["commit"])[name]) <= ROUNDING, f"{name} of {p['commit']}: {p['value']}")
    total = store(subject, "trend", "--total")["points"]
    wanted = [subject.json("flat", "--all", c)["summary"]["recording"]["cpu_time"] for c in subject.commits]
    subject.equal([p["value"] for p in total], wanted, "--total")


@law("history")
def trend_changes_are_its_values(subject):
    """The change of a point is that of its value, and store diff of two commits has the values of both, either way round."""
    points = store(subject, "trend", "--total")["points"]
    for before, after in zip(points, points[1:]):
        subject.equal(after["change"], after["value"] / before["value"] - 1, after["commit"])
    old, new = (points[i] for i in sorted(subject.random.sample(range(len(points)), 2)))
    one, other = (store(subject, "diff", *two) for two in ((old["commit"], new["commit"]), (new["commit"], old["commit"])))
    row = next(r for r in one["rows"] if r["name"] == "[total]")
    subject.equal([row["old"], row["new"]], [old["value"], new["value"]], "diff of the total")
    sides = [sorted([r["name"], r["old"], r["new"], r["change"], r["error"], r["is_real"]] for r in one["rows"]),
             sorted([r["name"], r["new"], r["old"], -r["change"], r["error"], r["is_real"]] for r in other["rows"])]
    subject.equal(sides[1], sides[0], "the other way round")


@law("history")
def blame_names_the_commit(subject):
    """blame names the commit at which a function turned, and its change, and of others, or where nothing changed, none."""
    before, after = times(subject, subject.commits[subject.turn - 1]), times(subject, subject.commits[subject.turn])
    changed = {name: after[name] / before[name] - 1 for name in before if before[name] and abs(after[name] / before[name] - 1) > 1e-9}
    if any(abs(c) < 0.2 for c in changed.values()):
        return NOTHING  # two of one name, of which one hardly counts
    found = store(subject, "blame")["series"]
    for s in found:
        if s["name"].startswith("["):
            continue
        turns = [[t["commit"], t["first"], t["last"]] for t in s["turns"]]
        wanted = [[subject.commits[subject.turn]] * 3] if s["name"] in changed else []
        if turns != wanted and len([1 for other in found if other["name"] == s["name"]]) > 1:
            continue  # a name in two objects: of which the other one turned
        subject.equal(turns, wanted, f"turns of {s['name']}")
        for t in s["turns"]:
            subject.holds(abs((1 + t["change"]) / (1 + changed[s["name"]]) - 1) < 0.003, f"change {t['change']}, not {changed}")
            subject.equal(t["change"], t["after"] / t["before"] - 1, "change")
    if changed:
        subject.holds(any(s["turns"] for s in found if s["name"] in changed), f"no turn of {changed}")
    return None


@law("history")
def blame_is_trend(subject):
    """Points that a trend marks as turns are the commits that blame names."""
    for s in store(subject, "blame")["series"]:
        names = [other["name"] for other in store(subject, "blame")["series"]]
        if names.count(s["name"]) == 1 and not s["name"].startswith("["):
            points = store(subject, "trend", s["name"])["points"]
            subject.equal([p["commit"] for p in points if p["is_turn"]], [t["commit"] for t in s["turns"]], s["name"])


@law("history")
def order_of_adding(subject):
    """The order in which commits were added to a history, and that one was added twice, changes no turn and no point."""
    order = list(subject.commits)
    subject.random.shuffle(order)
    add(subject, "other.db", [*order, order[0]])
    one, other = (store(subject, "blame", file=file)["series"] for file in ("h.db", "other.db"))
    turns = [sorted([s["name"], [[t["commit"], t["before"], t["after"]] for t in s["turns"]]] for s in side) for side in (one, other)]
    subject.equal(turns[1], turns[0], "turns")
    points = [[[p["commit"], p["value"]] for p in store(subject, "trend", "--total", file=file)["points"]]
              for file in ("h.db", "other.db")]
    subject.equal(points[1], points[0], "points")


# Ranks.

def known_as(row):
    return row["name"], row.get("object"), row["is_inlined"]


def by_rank(subject, column):
    """{what a row is called: {address: seconds on each rank}}, of functions."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: [0] * len(subject.parts)))
    for rank, part in enumerate(subject.parts):
        for row in subject.json("flat", "--all", part)["functions"]:
            if row["name"][0] != "[":
                found[known_as(row)]["" if row["is_inlined"] else row["address"]][rank] += row[column] or 0
    return found


@law("job")
def ranks_are_flat(subject):
    """Functions of ranks are those of flat, two of one name two, and means, extremes, deviations and costs those of what
    flat says of each rank."""
    kinds = "mean", "min", "max", "cost", "deviation", "median"
    for by, column in ("self", "self_time"), ("total", "total_time"):
        rows, wanted = collections.defaultdict(list), by_rank(subject, column)
        for row in subject.json("ranks", "--by", by, "--limit", "0", *subject.parts)["rows"]:
            if row["kind"] == "function" and row["name"][0] != "[":
                rows[known_as(row)].append(row)
        of_flat = {key: [v for v in twins.values() if any(v)] for key, twins in wanted.items()}
        subject.equal({str(k): len(v) for k, v in rows.items()}, {str(k): len(v) for k, v in of_flat.items() if v}, f"--by {by}: rows")
        for key, twins in rows.items():
            order = (lambda values: [round(v, 6) for v in (statistics.fmean(values), min(values), max(values))])
            twins.sort(key=lambda row: [round(row[k + "_time"], 6) for k in ("mean", "min", "max")])
            for row, values in zip(twins, sorted(of_flat[key], key=order)):
                low, high, mean = min(values), max(values), statistics.fmean(values)
                truth = [mean, low, high, high - mean, statistics.stdev(values), statistics.median(values)]
                for of, a, b in zip(kinds, [row[k + "_time"] for k in kinds], truth):
                    subject.holds(abs(a - b) < 2e-9 + 1e-7 * high, f"--by {by} {key}: {of} {a!r}, not {b!r} of {values}")
                if len(twins) == 1:
                    for side in "min", "max":
                        subject.holds(abs(values[row[side + "_rank"]] - row[side + "_time"]) < 2e-9 + 1e-7 * high, f"{key}: {side} rank")
                subject.equal(row["ranks"], sum(v > 0 for v in values), f"--by {by} {key}: ranks")


@law("job")
def ranks_add_up(subject):
    """The time of each rank is that of its recording, and that of all functions."""
    table = subject.json("ranks", *subject.parts)
    for row in table["ranks"]:
        whole = subject.json("flat", "--all", row["recording"])["summary"]["samples"] * PERIOD / 1e9
        subject.equal([row["total_time"], row["useful_time"] + row["mpi_time"]], [whole] * 2, f"rank {row['rank']}")
    subject.equal([r["recording"] for r in table["ranks"]], subject.parts, "ranks")


@law("job")
def order_of_ranks(subject):
    """The order in which ranks are named changes nothing, and a rank against itself does not differ."""
    one, other = (subject.json("ranks", "--limit", "0", *parts) for parts in (subject.parts, subject.parts[::-1]))
    key = (lambda row: [row["kind"], row["name"], row.get("object") or "", row["max_time"]])
    for table in one, other:
        table["rows"].sort(key=key)
        table["ranks"].sort(key=lambda row: row["rank"])
    subject.equal(other, one, "the other way round")
    rank = subject.random.randrange(len(subject.parts))
    for row in subject.json("ranks", "--rank", rank, "--against", rank, *subject.parts)["differences"]:
        subject.holds(row["time"] == row["other_time"] and not row["is_real"], f"{row['name']} of rank {rank} against itself")


# Profiles for compilers.

def draw_profile(random):
    """{(function, line, discriminator): count} and the text of it."""
    counts, text = {}, []
    for name in random.sample(["main", "work", "spare", "leaf", "step"], random.randint(1, 4)):
        lines = {line: random.choice([0, 1, 7, 90, 500, 2**33]) for line in random.sample(range(30), random.randint(1, 5))}
        text.append(f"{name}:{sum(lines.values())}:{random.randint(0, 5)}")
        for line, count in sorted(lines.items()):
            text.append(f" {line}: {count}")
            counts[name, line] = count
    return counts, "\n".join(text) + "\n"


@law("plain", "job", "history")
def overlap_is_shared(subject):
    """What two profiles share is the sum of the smaller shares, the same either way round; all of one that is compared
    with itself."""
    sides = []
    for name in "a.prof", "b.prof":
        counts, text = draw_profile(subject.random)
        (subject.folder / name).write_text(text)
        sides.append(counts)
    a, b = sides
    if not sum(a.values()) or not sum(b.values()):
        return NOTHING
    subject.equal(subject.json("diff", "a.prof", "a.prof")["common"], 1, "with itself")
    one, other = (subject.json("diff", "--all", *two) for two in (("a.prof", "b.prof"), ("b.prof", "a.prof")))
    wanted = sum(min(a.get(k, 0) / sum(a.values()), b.get(k, 0) / sum(b.values())) for k in {**a, **b})
    subject.equal([one["common"], other["common"]], [wanted] * 2, "in common")
    for row in one["functions"]:
        of = row["name"]
        subject.equal([row["old_share"], row["new_share"]],
                      [sum(n for (name, _), n in side.items() if name == of) / sum(side.values()) for side in sides], of)
    subject.equal(sum(row["common"] for row in one["functions"]), one["common"], "functions")
    return None
