"""table.py: the kinds of recordings, and what laws ask of reports on them."""

import dataclasses

import laws
import made

TABLE = laws.Table("recordings", laws.ROOT / "tests/laws/recordings.py", inputs=14, share=0.1)
law, kind = TABLE.law, TABLE.kind
PERIOD, SLICE = made.PERIOD, made.SLICE
SINGLE = "plain", "inlined", "threads", "events", "phases", "labels", "waits", "lossy", "twins", "few"


def write(subject, **features):
    """A recording of one run. Laws ask of `r.monarc`, and of `world` what is true."""
    subject.world = made.World(subject.random, subject.folder, **features)
    subject.world.recording().write(subject.folder / "r.monarc")


@kind
def plain(subject):
    write(subject, threads=1)


@kind
def inlined(subject):
    write(subject, inlines=True, threads=2)


@kind
def threads(subject):
    write(subject, processes=3, threads=3, inlines=subject.random.random() < .5)


@kind
def events(subject):
    write(subject, events=3, inlines=subject.random.random() < .5)


@kind
def phases(subject):
    write(subject, phases=True, threads=2)


@kind
def labels(subject):
    write(subject, labels=True, inlines=subject.random.random() < .5)


@kind
def waits(subject):
    write(subject, waits=True, processes=2)


@kind
def lossy(subject):
    write(subject, losses=True)


@kind
def twins(subject):
    """Two objects of one name, static functions of one name, no build-ids."""
    write(subject, twins=True, build_ids=subject.random.random() < .5, inlines=subject.random.random() < .3)


@kind
def few(subject):
    """Hardly any samples, in a short run."""
    random = subject.random
    write(subject, samples=random.choice([2, 2, 3, 5]), slices=random.choice([1, 1, 2, 5]),
          processes=random.randint(1, 2), threads=random.randint(1, 2), waits=random.random() < .5, losses=random.random() < .3)


@kind
def missing(subject):
    """An object of which nothing is left but its path."""
    subject.world = world = made.World(subject.random, subject.folder, threads=1)
    used = sorted({s.stack[-1][0] for s in world.of_event() if isinstance(s.stack[-1][0], int)})
    lost = world.objects[subject.random.choice(used)] if used else world.objects[0]
    subject.lost = lost.path
    run = world.recording(without={lost.number})
    run.write(subject.folder / "r.monarc")


def split(subject, world, parts):
    """Samples in that many heaps: by thread, by time, or one by one."""
    random = subject.random
    way = random.choice(["thread", "slice", "each"])
    heaps = [[] for _ in range(parts)]
    for s in world.samples:
        place = {"thread": s.thread, "slice": s.slice * parts // world.slices, "each": random.randrange(parts)}[way]
        heaps[place % parts].append(s)
    return heaps


@kind
def series(subject):
    """monarc run --repeat: a folder of runs of one program."""
    subject.world = made.World(subject.random, subject.folder, processes=2, threads=2,
                               inlines=subject.random.random() < .5, waits=subject.random.random() < .5)
    subject.heaps = split(subject, subject.world, subject.random.randint(2, 3))
    write_series(subject, "r.monarc")


def write_series(subject, name):
    folder = subject.folder / name
    folder.mkdir()
    for number, heap in enumerate(subject.heaps, 1):
        run = subject.world.recording(heap)
        run.parts = [(0, number, 0, 0, 0, run.facts["length"], run.facts["user"])]
        run.write(folder / f"run-{number}")


@kind
def several(subject):
    """Recordings that are added up: operands of one command, or what merge makes of them."""
    subject.world = made.World(subject.random, subject.folder, processes=2, threads=2,
                               inlines=subject.random.random() < .5, twins=subject.random.random() < .3)
    subject.heaps = split(subject, subject.world, subject.random.randint(2, 3))
    subject.parts = [f"{'abc'[i]}.monarc" for i in range(len(subject.heaps))]
    for name, heap in zip(subject.parts, subject.heaps):
        subject.world.recording(heap).write(subject.folder / name)
    subject.run("merge", "-o", "r.monarc", *subject.parts)


@kind
def job(subject):
    """Ranks of a parallel job; of every third one, static functions of one name."""
    inlines = subject.random.random() < .5
    subject.world = world = made.World(subject.random, subject.folder, inlines=inlines, twins=subject.number % 3 == 0)
    subject.heaps = split(subject, world, subject.random.randint(2, 5))
    for rank, heap in enumerate(subject.heaps):
        run = world.recording(heap)
        run.ranks = [(0, rank, len(subject.heaps), rank % 2, "Open MPI", f"n{rank // 2}")]
        run.write(subject.folder / f"{rank}.monarc")
    subject.parts = [f"{rank}.monarc" for rank in range(len(subject.heaps))]


def grown(samples, factor):
    return [dataclasses.replace(s, count=s.count * factor(s), weight=s.weight * factor(s)) for s in samples]


@kind
def history(subject):
    """Builds of a program, of which one, or none, made a function slower or faster by `factor`. Runs are as long as their
    scattering needs to stay small beside that."""
    subject.world = world = made.World(subject.random, subject.folder, threads=1)
    random = subject.random
    keys = [key for key, name in sorted({world.chain(s.stack[-1])[-1][:2] for s in world.samples}, key=str)
            if not name.startswith("[")]
    subject.slow = random.choice(keys) if keys else None
    subject.factor = random.choice([1, 2, 3, 4])
    subject.turn, size = random.randint(3, 6), random.randint(9, 11)
    subject.commits = [f"c{i}" for i in range(size)]
    is_faster = random.random() < .5
    for i, commit in enumerate(subject.commits):
        factor = subject.factor if (i >= subject.turn) != is_faster else 1
        heap = grown(world.samples, lambda s, factor=factor: 500 * (factor if world.chain(s.stack[-1])[-1][0] == subject.slow else 1))
        world.recording(heap).write(subject.folder / commit)


# What reports say.

def functions(table):
    """(name, samples of its own) of each function's row that has some, sorted; of the others their sum."""
    rows = [[f["linkage_name"], f["self_samples"]] for f in table["functions"] if f["self_samples"]]
    other = sum(s for name, s in rows if name.startswith("["))
    return sorted([row for row in rows if not row[0].startswith("[")] + ([["", other]] if other else []))


def flat(subject, *options):
    return functions(subject.json("flat", "--all", *options, "r.monarc"))


def has(subject, *kinds):
    return subject.kind in kinds


def rounded(text, value, what):
    """A number in text is that of JSON, rounded to the digits that it has."""
    digits = len(text.partition(".")[2])
    if abs(float(text) - value) > 0.5 * 10 ** -digits * (1 + 1e-6) + 1e-12:
        raise laws.Broken(f"{what}: text says {text}, JSON {value!r}")
