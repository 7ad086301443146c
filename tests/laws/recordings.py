"""Laws of recordings: what flat, lines, graph, tree, diff, store and the exports say of one recording
has to agree, and to agree with what is true of it. made.py makes the recordings."""

import laws
from laws import NOTHING

TABLE = laws.Table("recordings", __file__)
import made  # noqa: E402


def write(subject, **features):
    subject.world = made.World(subject.random, subject.folder, **features)
    subject.world.recording().write(subject.folder / "r.monarc")
    subject.recording = "r.monarc"


@TABLE.kind
def plain(subject):
    write(subject, threads=1)


@TABLE.kind
def inlined(subject):
    write(subject, inlines=True, threads=3)


@TABLE.law()
def flat_is_the_whole(subject):
    """Rows of flat and what they leave out are the whole, and so is what stands in the samples."""
    table = subject.json("flat", "--all", subject.recording)
    rows = sum(row["self_samples"] for row in table["functions"])
    whole = table["summary"]["samples"]
    subject.equal(rows + table["summary"]["unattributed_samples"], whole, "rows")
    truth = sum(s.weight for s in subject.world.of_event()) / made.PERIOD
    subject.equal(whole, truth, "samples of the whole")

@TABLE.law()
def functions_have_their_own(subject):
    """Self times by name are those of the samples."""
    table = subject.json("flat", "--all", subject.recording)
    found = {}
    for row in table["functions"]:
        if row["self_samples"]:
            found[row["linkage_name"]] = found.get(row["linkage_name"], 0) + row["self_samples"]
    truth = {}
    world = subject.world
    for name, weight in world.own(world.of_event()).items():
        truth[name] = truth.get(name, 0) + weight / made.PERIOD
    subject.equal({k: v for k, v in found.items() if not k.startswith("[")}, {k: v for k, v in truth.items() if not k.startswith("[")}, "self")

if __name__ == "__main__":
    TABLE.main()
