"""time_laws.py: the critical path is as long as the run, its parts add up, and predictions of a change that changes
nothing, or of two changes in either order, are what they must be."""

from laws import NOTHING
from table import PERIOD, SLICE, law

WHOLE = "plain", "inlined", "threads", "labels", "phases", "waits", "twins", "events", "few"
NS = 1e-9


def near(left, right, most=2 * NS):
    return abs(left - right) <= most


@law(*WHOLE)
def path_is_whole(subject):
    """The path goes from start to end: its steps follow each other, and times, threads and steps add up to it."""
    path = subject.json("path", "--steps", "--limit=100000", "r.monarc")
    whole, steps, threads = path["path"], path["steps"], path["threads"]
    length = subject.world.slices * SLICE * NS
    subject.holds(near(whole["length"], length), f"{whole['length']} s of {length} s")
    subject.holds(near(steps[0]["from"], 0) and near(steps[-1]["to"], length), "from the start to the end")
    for one, other in zip(steps, steps[1:]):
        subject.holds(near(one["to"], other["from"]), f"{one} is followed by {other}")
    sums = [sum(whole[key] for key in ("cpu_time", "ready_time", "waiting_time", "rest_time")),
            sum(step["to"] - step["from"] for step in steps),
            sum(t["path_time"] + t["unknown_time"] + t["polled_time"] + t["stopped_time"] for t in threads)]
    for found in sums:
        subject.holds(near(found, length, 1e-6), f"{sums} s of {length} s")
    for key in "cpu_time", "ready_time", "waiting_time":
        subject.holds(near(sum(step[key] for step in steps), whole[key], 1e-6), f"{key} of steps")


@law(*WHOLE)
def path_has_the_time_of_threads(subject):
    """The CPU time of each thread is that of its samples, and functions have no more time on the path than at all."""
    path, world = subject.json("path", "--limit=100000", "r.monarc"), subject.world
    wanted = {}
    for s in world.of_event():
        process, tid, _ = world.threads[s.thread]
        key = world.processes[process]["pid"], tid
        wanted[key] = wanted.get(key, 0) + (s.weight if world.is_busy(s) else 0)
    for thread in path["threads"]:
        found, known = thread["cpu_time"], wanted.get((thread["pid"], thread["tid"]), 0) * NS
        subject.holds(near(found, known, 1e-6), f"{thread['pid']}/{thread['tid']}: {found} s of {known} s")
    own = {}
    for name, weight in world.own(world.of_event()):
        own[name] = max(own.get(name, 0), weight * PERIOD * NS)
    for f in path["functions"]:
        if f["name"] in own:
            subject.holds(f["path_time"] <= own[f["name"]] + 1e-6, f"{f} of {own[f['name']]} s")


def changed(subject, *changes):
    return subject.json("path", *(f"--if={change}" for change in changes), "r.monarc")


@law(*WHOLE)
def prediction_is_between(subject):
    """Half of the time of main() takes away half of its total, in no longer a run; twice the time makes it no shorter, and a
    change by nothing changes nothing."""
    world = subject.world
    flat = {f["address"]: f for f in subject.json("flat", "--all", "r.monarc")["functions"]
            if f["name"] == "main" and not f.get("object")}
    if len(flat) != 1:
        return NOTHING
    main, = flat.values()
    length, busy = world.slices * SLICE * NS, [s for s in world.of_event() if world.is_busy(s)]
    total = sum(s.weight for s in busy if any(name == "main" for frame in s.stack
                                              for _, name, _, _ in world.chain(frame))) * NS
    if not total:
        return NOTHING
    subject.holds(main["total_samples"] > 0, "main() has no time")
    half, none, double = changed(subject, "main=2x"), changed(subject, "main=1x"), changed(subject, "main=200%")
    for one in half, none, double:
        subject.holds(near(one["wall"]["before"], length), f"{one['wall']} of {length} s")
        subject.holds(one["wall"]["low"] <= one["wall"]["high"] + NS, f"{one['wall']}")
    left = half["cpu"]["before"] - total / 2
    subject.holds(half["cpu"]["low"] - 1e-6 <= left <= half["cpu"]["high"] + 1e-6, f"{half['cpu']}, main() {total} s")
    subject.equal([none["cpu"]["low"], none["cpu"]["high"]], [none["cpu"]["before"]] * 2, "CPU, no change")
    subject.holds(near(none["wall"]["low"], length) and near(none["wall"]["high"], length), f"no change: {none['wall']}")
    subject.holds(half["wall"]["high"] <= length + NS and half["wall"]["low"] >= 0, f"half: {half['wall']}")
    subject.holds(double["wall"]["low"] >= length - NS, f"double: {double['wall']}")
    return None


@law(*WHOLE)
def order_of_changes(subject):
    """Two changes in either order predict the same, and savings never more than there was."""
    names = sorted({f["name"] for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["self_samples"]
                    and f["name"].isidentifier()})
    if len(names) < 2:
        return NOTHING
    one, other = f"{names[0]}=2x", f"{names[1]}=50%"
    there, back = changed(subject, one, other), changed(subject, other, one)
    subject.equal([there["cpu"], there["wall"]], [back["cpu"], back["wall"]], "order")
    more, less = changed(subject, f"{names[0]}=4x", other), there
    for time in "cpu", "wall":
        for found in more[time], less[time]:
            subject.holds(found["low"] <= found["high"] <= found["before"] + NS, f"{time}: {found}")
    return None
