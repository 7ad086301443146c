"""cases.py: the list of the oracle's cases: which command line runs where, and what is compared.

It generates option sets on every profile, sums of profiles, mixed options, input errors (errors.py)
and profiles cut short. It runs nothing; run.py does.
"""

import dataclasses
import itertools
import pathlib
import random
import re
import shlex
import zlib

import errors
import programs

HERE = pathlib.Path(__file__).resolve().parent
LETTER = set(re.findall(r"tests/oracle/options\.txt: (.*) \|$", (HERE.parent / "letter.md").read_text(), re.M))
LETTER_PROFILES = {("town", "base.gmon"), ("lines-town", "line0.gmon"), ("lines-town", "blocks.gmon")}
LEVELS = ["few", "core", "full"]
SOURCE_PROFILES = ["base.gmon", "real.gmon", "cycles.gmon", "blocks.gmon"]
# How many cases of a group go for one in the quick part, of its programs (programs.QUICK); 30 of the others.
RATES = {"twins": 16, "clones": 16, "mangled": 16, "debug": 8, "broken": 8, "wrong options": 8, "inputs": 4,
         "blurbs": 3, "status": 2, "invocation": 1, "deviations": 1}
NESTED = {level: LEVELS[:i + 1] for i, level in enumerate(LEVELS)} | {
    "lines": ["some-lines", "lines"]}


@dataclasses.dataclass
class Case:
    group: str
    program: str  # the folder below work/data in which it runs
    argv: list  # without the program's name
    stdin: "str | None" = None  # a file of that folder
    env: dict = dataclasses.field(default_factory=dict)
    check: str = "bytes"  # or "status" alone, or "blurbs": the lines of the -b output in order
    writes: bool = False  # it leaves files, which are compared as well
    told: "list | None" = None  # what GNU gprof is given instead of argv
    is_letter: bool = False  # it shows what a sentence of gprof's manual says (letter.md): always asked

    @property
    def is_slow(self):
        """Left to the slow part of a run: programs of which there are others of their kind, most
        cases of the groups with hundreds, and a text that GNU gprof takes for 269 million bins."""
        rate = RATES.get(self.group, 90)
        is_rare = zlib.crc32(self.id.encode()) % rate != 0
        is_long = self.argv == ["-b", "image", "source.c"]
        return not self.is_letter and (self.program not in programs.QUICK or is_rare or is_long)

    @property
    def id(self):
        extra = "".join(f" {k}={v}" for k, v in self.env.items())
        extra += f" <{self.stdin}" if self.stdin else ""
        return f"{self.group}/{self.program}: {shlex.join(self.argv)}{extra}"


def read_options(path=HERE / "options.txt"):
    """Section -> list of option templates."""
    sections = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append("" if line == "(none)" else line)
    return sections


def fill(template, values):
    """The words of a template, or None if the program lacks one of its values."""
    keys = re.findall(r"{(\w+)}", template)
    if any(key not in values for key in keys):
        return None
    return [re.sub(r"{(\w+)}", lambda m: values[m[1]], word) for word in shlex.split(template)]


def with_options(group, program, built, profile, templates, **fields):
    values = built["values"] | {"image": "image", "profile": profile}
    for given in templates:
        template = given if "{image}" in given else given + " {image} {profile}"
        words = fill(template, values)
        if words is not None:
            is_letter = given in LETTER and (program, profile) in LETTER_PROFILES
            yield Case(group, program, ["-b", *words], is_letter=is_letter, **fields)


def group_of(program):
    """Programs that differ in little share a group: town-s390x and town-i386 are `towns`."""
    if program.startswith("lines-"):
        return "lines"
    return "towns" if program.startswith("town-") else program


def counts_executions(profile, template):
    """Without samples and calls, -z lists execution counts, which is a source-level report."""
    return profile == "header.gmon" and re.search(r"-\w*z|^--dis", template)


def option_cases(manifest, options):
    for program, built in manifest.items():
        for profile, level in built.get("levels", {}).items():
            templates = [t for name in NESTED.get(level, [level]) for t in options[name]
                         if not counts_executions(profile, t)]
            yield from with_options(group_of(program), program, built, profile, templates)


def source_cases(manifest, options):
    """Annotated source and execution counts. What they write is compared as well."""
    templates = [t for name in LEVELS for t in options[name]
                 if counts_executions("header.gmon", t)]
    yield from with_options("source", "town", manifest["town"], "header.gmon", templates)
    for program, built in manifest.items():
        if program.startswith("lines-") and not program.endswith(("-O1", "-O2")):
            continue
        for profile in SOURCE_PROFILES[:None if program == "town" else 2]:
            if profile in built.get("levels", {}) or profile == "blocks.gmon":
                yield from with_options("source", program, built, profile, options["source"],
                                        writes=True)
    for program, built in manifest.items():
        for profile in ("line0.gmon", "real.gmon", "blocks.gmon"):
            if program.startswith("lines-") and profile in built.get("levels", {}):
                templates = [t for t in options["source-lines"]
                             if profile != "blocks.gmon" or "-S" not in t]
                if not re.fullmatch(r"lines-\w+(-O[12])?", program):
                    templates = templates[::3]
                yield from with_options("source", program, built, profile, templates, writes=True)
    for odd in manifest["town-moved"].get("odd", []):
        for words in (["-A"], ["-A", "-x", "-z"], ["-A", "-y"], ["-l", "-A", "-x", "-L"]):
            yield Case("source", "town-moved",
                       ["-b", *words, "-I", f"odd/{odd}", "image", "base.gmon"], writes=True)
    for path in ("{sources}", ":{sources}", "/nowhere:{sources}"):
        for program in "town-moved", "town-relative":
            values = manifest[program].get("values", {})
            if values:
                yield Case("source", program, ["-b", "-A", "-I", "/", "image", "base.gmon"],
                           env={"GPROF_PATH": path.format(**values)})


SUMS = [
    "base.gmon base.gmon", "base.gmon base.gmon base.gmon", "base.gmon fraction.gmon",
    "base.gmon rate1000.gmon", "rate1000.gmon base.gmon", "arcs.gmon hist.gmon",
    "hist.gmon arcs.gmon", "cycles.gmon base.gmon", "base.gmon cycles.gmon",
    "disjoint.gmon disjoint.gmon", "disjoint.gmon gap.gmon", "gap.gmon disjoint.gmon",
    "base.gmon base-v0.gmon", "base.gmon base.bsd", "base.bsd base.gmon", "base.bsd base.bsd",
    "base.bsd44 base.bsd44", "base.bsd44 other.bsd44", "base.bsd base.bsd44",
    "base.bsd44 base.bsd", "base.bsd other.bsd", "huge.gmon huge.gmon", "header.gmon base.gmon",
    "base.gmon header.gmon", "base.gmon cachemiss.gmon", "fullbins.gmon fullbins.gmon",
    "blocks.gmon blocks.gmon", "zero.gmon base.gmon", "late.gmon repeat.gmon",
    "early.gmon hist.gmon",
]
SUM_OPTIONS = ["", "-p", "-q -z", "-T", "-i", "-i -p -q", "-k {a}/{b}", "-p{a} -q{b} -z"]


def static_cases(manifest, options):
    """-c, against GNU gprof without it, but told of the same calls: told.gmon has them as arcs that
    were taken 0 times. GNU gprof itself finds only some of them."""
    for program, built in manifest.items():
        for profile in built.get("told", []):
            for template in options["everywhere"]:
                words = [fill(f"{template} {{image}} {name}", built["values"] | {"image": "image"})
                         for name in (profile, f"told-{profile}")]
                if None not in words:
                    yield Case("told", program, ["-b", "-c", *words[0]], told=["-b", *words[1]])


def order_cases(manifest, options):
    """-r and -R. The profiles differ in how often functions are called, for that is what counts."""
    chosen = [("town", f"{name}.gmon") for name in "base cycles arcs hist header outside".split()]
    chosen += [("town-nodebug", "base.gmon"), ("town-i386", "base.gmon"),
               ("town-s390x", "cycles.gmon")]
    chosen += [(name, "real.gmon") for name in ("calc", "shapes", "heat", "mandel")]
    chosen += [(name, profile) for name in ("crowd", "many")
               for profile in list(manifest.get(name, {}).get("levels", []))[:6]]
    for program, profile in chosen:
        built = manifest.get(program, {"skip": "not asked for"})
        if "skip" in built:
            continue
        for case in with_options("order", program, built, profile, options["order"]):
            if program != "many" or "-l" not in case.argv:  # GNU gprof takes minutes
                yield case


def debug_cases(manifest, options):
    for profile in ("base.gmon", "cycles.gmon", "arcs.gmon", "hist.gmon", "missing"):
        yield from with_options("debug", "town", manifest["town"], profile, options["debug"])


def sum_cases(manifest):
    """Several profiles on one command line, of one format or of two."""
    for profiles in SUMS:
        templates = [f"{options} {{image}} {profiles}" for options in SUM_OPTIONS]
        yield from with_options("sums", "town", manifest["town"], "", templates)


WRITTEN = [(program, profile) for program in ("town", "lines-town", "lines-calc-O2", "lines-heat")
           for profile in ("base.gmon", "cycles.gmon", "disjoint.gmon", "gap.gmon", "header.gmon",
                           "arcs.gmon", "hist.gmon", "repeat.gmon", "outside.gmon", "zero.gmon",
                           "blocks.gmon", "rate1000.gmon", "base-v0.gmon", "cachemiss.gmon",
                           "line0.gmon", "line1.gmon", "line2.gmon", "real.gmon")]
WRITTEN += [("town-i386", "base.gmon"), ("town-s390x", "base.gmon"), ("town-s390", "cycles.gmon")]


def written_cases(manifest, work, options):
    """-s: what it prints and the file that it leaves."""
    for program, profile in WRITTEN:
        if program in manifest and (work / "data" / program / profile).exists():
            many_blocks = program.startswith("lines-") and profile == "blocks.gmon"
            templates = [t for t in options["written"] if not (many_blocks and "-S" in t)
                         and (not re.search("O4", t) or profile not in (
                             "header.gmon", "arcs.gmon", "cachemiss.gmon", "disjoint.gmon",
                             "gap.gmon"))]
            yield from with_options("written", program, manifest[program], profile, templates,
                                    writes=True)
    templates = [f"{options} {{image}} {profiles}" for options in ("-s", "-s -O4", "-s -Ob", "-s -q")
                 for profiles in SUMS if not re.search("huge|full|cachemiss|late|disj|gap", profiles)
                 and (options[3:5] != "-O" or profiles.count(".bsd") > 1)]
    yield from with_options("written", "town", manifest["town"], "", templates, writes=True)


def format_cases(manifest):
    """-O with every name on every format."""
    names = "auto magic bsd 4.4bsd prof a m b 4 p z Auto gmon 44bsd".split()
    files = "base.gmon base-v0.gmon base.bsd base.bsd44 header.gmon".split()
    for program in ("town", "town-i386", "town-s390x"):
        if "skip" in manifest[program]:
            continue
        for name, file in itertools.product(names, files):
            if name[0] == "b" and not file.startswith("base.bsd"):
                continue  # it would be taken for a histogram of a nonsensical size
            yield Case("formats", program, ["-b", f"-O{name}", "image", file])
        yield Case("formats", program, ["-b", "-p", "--file-format=4.4bsd", "image", "base.bsd44"])
        yield Case("formats", program, ["-b", "-p", "--file-f", "bsd", "image", "base.bsd"])


def mixed_cases(manifest, options, count=300):
    """Option sets drawn from a seed: two to five lines of options.txt in one command."""
    plain = [t for name in LEVELS for t in options[name] if "{image}" not in t and t]
    profiles = ["base.gmon", "cycles.gmon", "disjoint.gmon", "outside.gmon", "fraction.gmon"]
    for seed in range(count):
        draw = random.Random(seed)
        template = " ".join(draw.sample(plain, draw.randint(2, 5)))
        yield from with_options("mixed", "town", manifest["town"], draw.choice(profiles),
                                [template])


SOURCE_PARTS = """-A|-C|-A -C|-J|-Z|-A{a}|-A{file}|-A{file}:{line}|-J{a}|-J{file}|-C{b}|-C{file}|-Z{a}
    -A -x|-A -y|-A -C -x""".replace("\n", "|").split("|")
OTHER_PARTS = """-x|-y|-z|-t 2|-t 0|-m 3|-m 100|-L|-a|-D|-p|-q|-P|-Q|-T|-i|-r|-r -z|-R {order}|-s|-s|-S {map}
    --inline-file-names|--inline-file-names|-I {sources}|-I /nowhere:|-n{a}|-N{b}|-k {a}/{b}|-e {a}
    -E {b}|-f {b}|-F {a} -z|-q{a}|-Q{b}|-p{file}|-P{a}|-p:{inside}|-w 40|--no-demangle|-d0
    -x -z""".replace("\n", "|").split("|")


def drawn_cases(manifest, count=60):
    """Reports on sources together with every other option, drawn from a seed, on each program with
    lines. -S and blocks do not go together: GNU gprof then reads what it never set."""
    for program, built in manifest.items():
        if not program.startswith("lines-") or "skip" in built:
            continue
        profiles = [name for name in ("line0.gmon", "line1.gmon", "real.gmon", "base.gmon",
                                      "cycles.gmon", "blocks.gmon")
                    if name in built.get("levels", {}) or name == "blocks.gmon"]
        for seed in range(count):
            draw = random.Random(f"{program} {seed}")
            parts = ["-l"] * (draw.random() < 0.7) + draw.sample(SOURCE_PARTS, draw.randint(1, 2))
            parts += draw.sample(OTHER_PARTS, draw.randint(1, 4))
            profile = draw.choice(profiles)
            template = " ".join(part.strip() for part in parts)
            if profile == "blocks.gmon" and ("-S" in template or "s390" in program):
                continue  # s390x: block-number in docs/compat.md
            yield from with_options("drawn", program, built, profile, [template], writes=True)


def blurb_cases(manifest):
    """Without -b: the same tables, with explanations between them in words of our own."""
    for profile in ("base.gmon", "arcs.gmon", "hist.gmon"):
        for options in ([], ["-p"], ["-q"], ["-T"], ["-z", "-w", "50"], ["-P"]):
            if profile == "arcs.gmon" and "-p" in options or profile == "hist.gmon" and (
                    "-q" in options or "-P" in options):
                continue
            yield Case("blurbs", "town", [*options, "image", profile], check="blurbs")


def all_cases(manifest, work):
    options = read_options()
    yield from option_cases(manifest, options)
    yield from source_cases(manifest, options)
    yield from static_cases(manifest, options)
    yield from order_cases(manifest, options)
    yield from debug_cases(manifest, options)
    yield from sum_cases(manifest)
    yield from written_cases(manifest, work, options)
    yield from format_cases(manifest)
    yield from mixed_cases(manifest, options)
    yield from drawn_cases(manifest)
    yield from blurb_cases(manifest)
    for fields in errors.error_cases(work):
        yield Case(**fields)
