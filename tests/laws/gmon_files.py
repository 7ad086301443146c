"""gmon_files.py: laws of gmon.out and its relatives: histograms, calls and block counts, in every dialect and byte
order, alone and added up."""

import collections
import shutil
import struct

import laws
from harness import DEMO, gmon
from laws import NOTHING

TABLE = laws.Table("gmon.out", __file__, inputs=6)
law, kind = TABLE.law, TABLE.kind

# Where the functions of the program are; they stand without gaps but one.
FUNCTIONS = {"main": (0x401000, 0x40), "alpha": (0x401040, 0x40), "work": (0x401080, 0x60), "box::open(int)": (0x4010e0, 0x40),
             "ping": (0x401120, 0x40), "pong": (0x401160, 0x40), "fact": (0x4011a0, 0x20), "handler": (0x4011c0, 0x20),
             "mcount": (0x401220, 0x40), "idle": (0x401260, 0x20)}
LOW, HIGH = 0x401000, 0x401280
MEASURED = [name for name in FUNCTIONS if name != "mcount"]


def draw(subject, histograms=1, most_arcs=12, most=50):
    """A histogram is (low, high, bins, width); bins stand at functions, 2, 4 or 8 bytes wide."""
    random = subject.random
    cuts = sorted(random.sample(range(LOW + 0x20, HIGH, 0x20), histograms - 1))
    made, width = [], None
    for low, high in zip([LOW, *cuts], [*cuts, HIGH]):
        width = width or random.choice([2, 4, 8])  # GNU's reports want one of all
        made.append((low, high, [random.choice([0, 0, random.randrange(most)]) for _ in range((high - low) // width)]))
    arcs = collections.Counter()
    for _ in range(random.randrange(most_arcs)):
        caller, callee = random.choice(MEASURED), random.choice(MEASURED)
        start, size = FUNCTIONS[caller]
        arcs[start + random.randrange(size), FUNCTIONS[callee][0]] += random.choice([1, 2, 1000])
    return made, [(*places, count) for places, count in arcs.items()]


def data_of(subject, made, arcs):
    subject.word, subject.order = getattr(subject, "word", 8), getattr(subject, "order", "<")
    return gmon(made, arcs, subject.word, subject.order)


def write(subject, name, made, arcs):
    (subject.folder / name).write_bytes(data_of(subject, made, arcs))


def blocks(order, word, counts):
    return b"\2" + struct.pack(order + "I", len(counts)) + b"".join(
        struct.pack(order + {4: "II", 8: "QQ"}[word], at, count) for at, count in counts)


def begin(subject, **more):
    shutil.copy(DEMO / "demo" if DEMO.is_dir() else DEMO, subject.folder / "demo")
    subject.made, subject.arcs = draw(subject, **more)
    write(subject, "gmon.out", subject.made, subject.arcs)


@kind
def one(subject):
    begin(subject)


@kind
def ranges(subject):
    """Several histograms."""
    begin(subject, histograms=subject.random.randint(2, 4))


@kind
def foreign(subject):
    """Of another byte order or word size; the program of the other size is not here, and need not be."""
    subject.word, subject.order = 8, subject.random.choice("<>")
    begin(subject, histograms=subject.random.randint(1, 2))


@kind
def counted(subject):
    """With block counts."""
    begin(subject)
    at = [(start, subject.random.randrange(1000)) for start, _ in FUNCTIONS.values()]
    with open(subject.folder / "gmon.out", "ab") as file:
        file.write(blocks(subject.order, subject.word, at))


@kind
def parts(subject):
    """Two or three files of one program, whose histograms have the same bins."""
    begin(subject)
    subject.files = ["gmon.out"]
    for i in range(subject.random.randint(1, 2)):
        made, arcs = draw(subject)
        made = [(low, high, [subject.random.randrange(9) for _ in bins]) for low, high, bins in subject.made]
        write(subject, f"gmon.{i}", made, arcs)
        subject.files.append(f"gmon.{i}")
        subject.made = subject.made + made
        subject.arcs = subject.arcs + arcs
    subject.run("merge", "-o", "sum.out", *subject.files)


def name_of(subject):
    return "sum.out" if subject.kind == "parts" else "gmon.out"


def flat(subject, *files):
    return subject.json("flat", "--all", "--force", "demo", *(files or [name_of(subject)]))


def own(table):
    return {f["name"]: f["self_samples"] for f in table["functions"] if f["self_samples"]}


def calls(table):
    return {f["name"]: f["calls"] for f in table["functions"] if f["calls"]}


def truth(subject):
    """Samples of each function, and those in none."""
    sums, outside = collections.Counter(), 0
    for low, high, bins in subject.made:
        width = (high - low) // len(bins)
        for i, count in enumerate(bins):
            of = [n for n, (start, size) in FUNCTIONS.items() if start <= low + i * width < start + size]
            if of:
                sums[of[0]] += count
            else:
                outside += count
    return {k: v for k, v in sums.items() if v}, outside


@law()
def bins_are_the_whole(subject):
    """Functions and what is in none have all samples of all histograms."""
    table = flat(subject)
    wanted, outside = truth(subject)
    profiler = wanted.pop("mcount", 0)
    summary = table["summary"]
    found = own(table)
    found.pop("mcount", 0)
    whole = sum(wanted.values()) + outside + profiler
    subject.equal(summary["samples"], whole, "samples")
    subject.equal(sum(found.values()), sum(wanted.values()), "in functions")


@law()
def functions_have_their_bins(subject):
    """A function has the samples of its bins."""
    wanted, _ = truth(subject)
    found = own(flat(subject))
    for name in "mcount", "idle", "handler":  # beside code that is in no function
        wanted.pop(name, 0), found.pop(name, 0)
    subject.equal({k.split(".")[0]: v for k, v in found.items()}, wanted, "self")


@law()
def calls_are_arcs(subject):
    """Calls of a function are those of the arcs that lead to it, in flat and in the graph."""
    wanted = collections.Counter()
    starts = {start: name for name, (start, _) in FUNCTIONS.items()}
    for _, to, count in subject.arcs:
        wanted[starts[to]] += count
    subject.equal({k.split(".")[0]: v for k, v in calls(flat(subject)).items()}, dict(wanted), "flat")
    table = subject.json("graph", "--all", "--force", "demo", name_of(subject))
    found = {e["name"].split(".")[0]: e["calls"] + e["recursive_calls"] for e in table["entries"]
             if e["kind"] == "function" and e["calls"] + e["recursive_calls"]}
    subject.equal(found, dict(wanted), "graph")


@law()
def graph_is_flat(subject):
    """Entries of the graph have the self times of flat."""
    table = subject.json("graph", "--all", "--force", "demo", name_of(subject))
    found = {e["name"]: e["self_samples"] for e in table["entries"] if e["kind"] == "function" and e["self_samples"]}
    subject.equal(found, own(flat(subject)), "graph")


@law()
def in_is_out(subject):
    """Calls of an arc are the same number beside its caller and beside its callee."""
    table = subject.json("graph", "--all", "--force", "demo", name_of(subject))
    down, up = collections.Counter(), collections.Counter()
    for e in table["entries"]:
        for arc in e.get("callees", ()):
            if arc["kind"] == "arc" and "name" in arc and "name" in e:
                down[e["name"], arc["name"]] += arc["calls"]
        for arc in e.get("callers", ()):
            if arc["kind"] == "arc" and "name" in arc:
                if "name" in e:
                    up[arc["name"], e["name"]] += arc["calls"]
    subject.equal(dict(down), dict(up), "arcs")


@law()
def base_of_itself(subject):
    """flat --base X X shows of each function its own shares and calls, and diff no change."""
    name = name_of(subject)
    for f in subject.json("flat", "--all", "--force", "--base", name, "demo", name)["functions"]:
        if f["self_samples"] and f.get("base"):
            subject.equal([f["base"]["self_share"], f["base"]["calls"]], [f["self_share"], f["calls"]], f["name"])
    table = subject.json("diff", "--all", "--force", "demo", name, name)
    for row in table["functions"]:
        for of in "self_time", "total_time", "self_share", "calls":
            if row.get(of) and row[of].get("old") is not None:
                subject.equal(row[of]["new"], row[of]["old"], f"{row['name']} {of}")


@law()
def other_order(subject):
    """Written with the other byte order, another pointer size, or both, it has the same figures."""
    wanted = flat(subject)
    to = subject.random.choice([("--to-endian", "big"), ("--to-endian", "little"), ("--to-endian", "big", "--to-word", "32")])
    subject.run("convert", *to, "-o", "other.out", name_of(subject))
    found = flat(subject, "other.out")
    subject.equal([own(found), calls(found), found["summary"]["samples"]],
                  [own(wanted), calls(wanted), wanted["summary"]["samples"]], " ".join(to))


@law("one", "parts", "foreign")
def other_dialect(subject):
    """Written in another dialect, it has the same figures as far as the dialect has them."""
    wanted = flat(subject)
    form = subject.random.choice(["gmon0", "bsd44"])
    done = subject.run("convert", "--to", form, "-o", "other.out", name_of(subject), status=(0, 2))
    if done.returncode:
        subject.holds(done.stderr, "refused without a word")
        return NOTHING
    found = flat(subject, "other.out")
    subject.equal([own(found), calls(found)], [own(wanted), calls(wanted)], form)
    return None


@law("parts")
def merging_adds_up(subject):
    """Files named together or merged, in any order, one by one or at once, are their sum."""
    wanted = [own(flat(subject)), calls(flat(subject))]
    table = flat(subject, *subject.files)
    subject.equal([own(table), calls(table)], wanted, "as operands")
    back = subject.files[::-1]
    table = flat(subject, *back)
    subject.equal([own(table), calls(table)], wanted, "the other way round")
    subject.run("merge", "-o", "back.out", *back)
    subject.equal(sorted((subject.folder / "back.out").read_bytes()), sorted((subject.folder / "sum.out").read_bytes()), "bytes")
    subject.run("merge", "-o", "some.out", *subject.files[:2])
    subject.run("merge", "-o", "all.out", "some.out", *subject.files[2:])
    table = flat(subject, "all.out")
    subject.equal([own(table), calls(table)], wanted, "one by one")


@law()
def callgrind_is_read_back(subject):
    """Of a callgrind file that was exported, flat has the samples and calls of functions."""
    subject.run("export", "--format", "callgrind", "-o", "x.callgrind", "--force", "demo", name_of(subject))
    done = subject.run("flat", "--all", "--json", "x.callgrind", status=(0, 2))
    if done.returncode:
        subject.holds(not own(flat(subject)) and not calls(flat(subject)), done.stderr.decode())
        return NOTHING
    found, wanted = subject.json("flat", "--all", "x.callgrind"), flat(subject)
    subject.equal(calls(found), calls(wanted), "calls")
    rows, of = ({k: v for k, v in own(t).items() if not k.startswith("[") and k != "mcount"} for t in (found, wanted))
    whole = sum(rows.values()) / sum(of.values()) if of else 1  # costs are nanoseconds
    subject.equal({k: v / whole for k, v in rows.items()}, of, "shares")
    return None


@law("one", "ranges", "counted", "parts")
def gnu_agrees(subject):
    """monarc gprof counts what flat counts: calls of each function to the last one."""
    text = subject.text("gprof", "-b", "-p", "demo", name_of(subject))
    found = {}
    for line in text.splitlines():
        cells = line.split(None, 6)
        if len(cells) == 7 and cells[3].isdigit():
            found[cells[6].split(".")[0]] = int(cells[3])
    wanted = {f["name"].split(".")[0]: f["calls"] - f["recursive_calls"] for f in flat(subject)["functions"]
              if f["calls"] > f["recursive_calls"]}
    subject.equal({k: v for k, v in found.items() if v}, {k: v for k, v in wanted.items() if k in found}, "calls")


for _kind, _number in ("one", 3547653370), ("foreign", 4244518527), ("counted", 1618050830), ("ranges", 2268617446), ("parts", 989893607):
    TABLE.keep("callgrind_is_read_back", _kind, _number)


if __name__ == "__main__":
    TABLE.main()
