"""said_laws.py: what a report cannot know it says."""

import re

from laws import NOTHING
from table import SINGLE, SLICE, law

REPORTS = ("flat",), ("graph",), ("graph", "--tree"), ("lines",)


@law("lossy")
def losses_are_said(subject):
    """Each loss stands in flat's whole head and in JSON, and in every head those of which the account shows nothing."""
    world = subject.world
    facts = subject.json("flat", "r.monarc")["summary"]["recording"]
    is_brief = facts["accounted_time"] >= 0.95 * facts["cpu_time"]
    for command in *REPORTS, ("flat", "--verbose"):
        done = subject.run(*command, "--no-pager", "r.monarc", status=(0, 2))
        if done.returncode == 0:
            for _, _, ns, text in world.losses:
                subject.holds((ns and is_brief and "--verbose" not in command) or text[:20] in done.stdout.decode(), f"{' '.join(command)} does not say: {text}")
    found = subject.json("flat", "--all", "r.monarc")["summary"]["recording"]["losses"]
    subject.equal(sorted((x["count"], x["ns"]) for x in found), sorted((count, ns) for _, count, ns, _ in world.losses), "JSON")


@law(*SINGLE)
def cut_stacks_are_said(subject):
    """The share of stacks that are whole is that of the samples, and where one is cut the head says so."""
    world = subject.world
    taken = sum(s.count for s in world.samples)
    whole = sum(s.count for s in world.samples if s.stack[0][0] != "cut")
    for command in ("flat",), ("graph",):
        found = subject.json(*command, "r.monarc")["summary"]["recording"]["whole_stacks"]
        subject.equal(found, whole / taken, " ".join(command))
        said = "complete" in subject.text(*command, "--no-pager", "r.monarc")
        subject.holds(said == (whole < taken), f"{' '.join(command)}: {whole} of {taken}, the head says {said}")


@law(*SINGLE)
def empty_parts_are_said(subject):
    """A part that has no samples is called that, and nothing is advised on recording: others are there."""
    if not subject.world.of_event():
        return NOTHING
    after = f"{subject.world.slices * SLICE / 1e9 + 1}"
    for command in REPORTS:
        done = subject.run(*command, "--no-pager", "--from", after, "r.monarc", status=(0, 2))
        text = done.stdout.decode()
        if not done.returncode:
            subject.holds("no samples in the chosen part" in text and not re.search("were taken|record with stacks", text),
                          f"{' '.join(command)}: {text}")
    return None


@law("missing")
def missing_files_are_said(subject):
    """A file that is not there is named in the head or a note of every report, and its time is in no function."""
    for command in REPORTS:
        done = subject.run(*command, "--no-pager", "r.monarc", status=(0, 2))
        text = (done.stdout + done.stderr).decode()
        if command == ("lines",) and re.search("no line(s| numbers)", text) and done.returncode:
            continue
        subject.holds(re.search(r"no symbols of .*: No such file", text), f"{' '.join(command)} says nothing of {subject.lost}")


@law("missing")
def missing_names_are_nobodys(subject):
    """What a missing file had is in rows of its own, and the rest is as it was."""
    world, lost = subject.world, subject.lost
    number = next(o.number for o in world.objects if o.path == lost)
    keep = [s for s in world.of_event() if s.stack[-1][0] != number]
    wanted = [row for row in world.own(keep) if row[0]]
    table = subject.json("flat", "--all", "r.monarc")
    found = sorted([f["linkage_name"], f["self_samples"]] for f in table["functions"]
                   if f["self_samples"] and not f["linkage_name"].startswith("[") and not f["linkage_name"].startswith("0x"))
    subject.equal(found, wanted, "functions that have names")
    rows = sum(f["self_samples"] for f in table["functions"]) + table["summary"]["unattributed_samples"]
    subject.equal(rows, world.weight(world.of_event()), "the whole")


@law("missing")
def doctor_names_what_is_missing(subject):
    """doctor names the file that is not there."""
    done = subject.run("doctor", "r.monarc", status=(0, 1, 2))
    subject.holds(subject.lost.rpartition("/")[2] in done.stdout.decode(), done.stdout.decode()[:400])
