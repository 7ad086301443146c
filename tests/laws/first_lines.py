"""first_lines.py: the sentence that reports open with says what their tables have, and no report prints nan."""

import re

from table import SINGLE, law

ALL = SINGLE + ("several",)
NS = 1e-9
LEADER = re.compile(r"(\d+)( \+- \d+)? % (?:in |waiting in )?(.*?)(?:, called by .*)?$")
# Of what is on the CPU, what is off it, or both, each with shares of its own.
APART = re.compile(r"(?:: of the CPU, (?:\d+ % by .*?, )?(\d.*?))?(?:[:;] off it, (.*))?$")
TEXTS = ("flat", "flat --latency", "flat --verbose", "graph", "graph --tree", "lines", "annotate", "path",
         "path --steps", "path --if main=2x", "waits", "waits --files", "info", "doctor", "flat --wide --all", "optimize --explain",
         "diff r.monarc", "export --format folded", "export --format callgrind", "export --format dot")


@law(*ALL)
def first_line_is_the_table(subject):
    """The first line has the time on and off the CPU that was recorded, and the shares of the first rows of flat. It is
    the same whichever report opens with it."""
    world = subject.world
    line = subject.text("flat", "r.monarc").splitlines()[0]
    for report in "graph", "lines", "annotate", "doctor":
        opens = subject.text(report, "r.monarc", status=(0, 1, 2)).splitlines()[:1]
        if opens or report not in ("lines", "annotate"):  # which refuse what has no lines
            subject.equal(opens, [line], f"the first line of {report}")
    if subject.kind != "several":
        busy = sum(s.weight for s in world.of_event() if world.is_busy(s)) * NS
        idle = sum(s.weight for s in world.of_event() if not world.is_busy(s)) * NS
        cpu = re.match(r"([0-9.]+) s of CPU", line)
        off = re.search(r" and ([0-9.]+) s off it \(all", line)
        is_busy = cpu and abs(float(cpu[1]) - busy) <= 0.00051
        is_next_to_nothing = busy < 0.0005 and line.startswith("less than 1 ms of CPU")
        subject.holds(is_busy or is_next_to_nothing, f"{line!r}: {busy} s of CPU")
        subject.holds(abs((float(off[1]) if off else 0) - idle) <= 0.00051, f"{line!r}: {idle} s off the CPU")
        subject.holds(f" in {world.slices / 100:.3f} s" in line, f"{line!r}: {world.slices / 100} s")
    rows = sorted((f for f in subject.json("flat", "--all", "r.monarc")["functions"] if f["self_share"] > 0),
                  key=lambda f: -f["self_share"])
    whole = 1
    apart = APART.search(line)
    if apart and (apart[1] or apart[2]) and any(not is_wait(f) for f in rows) and any(is_wait(f) for f in rows):
        if apart[1] and apart[2]:
            for leader, is_off in (apart[1], False), (apart[2], True):
                part = [f for f in rows if is_wait(f) == is_off]
                whole = sum(f["self_share"] for f in part)
                equal = [f for f in part if abs(f["self_share"] - part[0]["self_share"]) < 1e-12]
                subject.holds(any(is_row(leader, one, whole) for one in equal), f"{leader!r} of {line!r}: {equal} of {whole}")
            return
        rows = [f for f in rows if is_wait(f) == bool(apart[2])]
        whole = sum(f["self_share"] for f in rows)
        line = ": " + (apart[1] or apart[2])
    leaders = line.split(": ", 1)[1].split("; ") if rows else []
    may_lead = [f for f in rows if len(rows) > 1 and f["self_share"] >= rows[1]["self_share"] - 1e-12]
    has_one = len(rows) > 1 and (rows[1]["self_share"] < 0.05 * whole or any(is_unsure(f) for f in may_lead))
    subject.holds(len(leaders) == min(2, len(rows)) or has_one, f"{line!r}: {len(rows)} rows")
    for leader, row in zip(leaders, rows):
        equal = [f for f in rows if abs(f["self_share"] - row["self_share"]) < 1e-12]  # any of them may lead
        subject.holds(any(is_row(leader, one, whole) for one in equal), f"{leader!r} of {line!r}: {equal}")


def is_unsure(row):
    """So that its share says nothing: half its interval is two thirds of it."""
    return 3 * (row["self_share_high"] - row["self_share_low"]) / 2 >= 2 * row["self_share"] - 1e-9


def is_wait(row):
    return row["name"].startswith("[waiting]") or row["name"] in ("[ready to run]", "[stopped]")


def names_row(text, row):
    """The first line leaves the type out that a template's instance returns."""
    return row["name"].startswith("[") or text.startswith((row["name"], row["name"].removeprefix("void ")))


def is_row(leader, row, whole=1):
    """`whole`: what the leader's share is of, as a share; intervals are those of shares of all."""
    vague = re.match(r"(\d+) (of|to) (\d+)( %)? (.*)", leader)
    if vague and is_unsure(row):
        low, high = (row["self_samples"], None) if vague[2] == "of" else (
            100 * row["self_share_low"] / whole, min(100, 100 * row["self_share_high"] / whole))
        return (abs(int(vague[1]) - low) <= 0.501 and (high is None or abs(int(vague[3]) - high) <= 0.501)
                and names_row(vague[5].removeprefix("in "), row))
    if vague:
        return False
    number, error, name = LEADER.match(leader).groups()
    share, half = 100 * row["self_share"] / whole, 50 * (row["self_share_high"] - row["self_share_low"])
    return (abs(int(number) - share) <= 0.501
            and (whole != 1 or bool(error) == (half > share / 10) or abs(half - share / 10) < 0.01)
            and (whole != 1 or not error or abs(int(error[4:]) - half) <= 0.501 or int(error[4:]) == 1)
            and names_row(name, row))


@law()
def numbers_are_numbers(subject):
    """Nothing that is printed is no number, or without bounds: a share of nothing is left out or said in words."""
    if not (subject.folder / "r.monarc").exists():
        return
    for command in TEXTS:
        done = subject.run(*command.split(), "r.monarc", status=None)
        subject.holds(done.returncode in (0, 1, 2), f"{command}: status {done.returncode}")
        found = re.search(rb"[^\n]*(?<![\w/.])-?(?:nan|inf)(?![\w/.])[^\n]*", done.stdout + done.stderr)
        subject.holds(not found, f"{command}: {found and found[0]}")
