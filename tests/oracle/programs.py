"""programs.py: builds the programs that the oracle's cases are about, once per work folder.

Each program gets a folder of its own with the image, its profiles (scenes.py) and the files that
options name. A program that can't be built or that this GNU gprof can't read is skipped with the
reason. It runs nothing but compilers, nm, the examples, and gprof once per program to see whether
it reads the image. What is built is listed in manifest.json and kept until a source changes.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import errors
import profiles
import scenes

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "programs"
EXAMPLES = HERE.parent.parent / "examples"

TOWN = ["town/main.c", "town/left.c", "town/right.c", "town/last.c"]
TOWN_FLAGS = ["-O0", "-g", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-builtin"]
TOWN_NAMES = {"a": "walk", "b": "fetch", "c": "helper", "s": "left_step", "idle": "idle"}
TWINS_NAMES = {"a": "global_one", "b": "three", "c": "four", "s": "nine_local_label",
               "idle": "ten"}
CLONES_NAMES = {"a": "work", "b": "aplain", "c": "bplain", "s": "inner.1234", "idle": "mplain"}
MANGLED_NAMES = {"a": "_ZN5plane7Polygon4edgeEm", "b": "_Z3addIiET_S0_S0_", "c": "_Zbad",
                 "s": "pkg__proc", "idle": "_ZZZ"}
ONWARD_NAMES = {"a": "two", "b": "four", "c": "six", "s": "seven_and_a_half", "idle": "three"}
MANY = 10050

# What the quick part asks: of each kind of image, and of debug information, one.
QUICK = {"town", "town-moved", "town-relative", "town-i386", "town-s390x", "twins", "mangled", "calc",
         "lines-calc", "lines-town-s390x"}

# Programs and profiles for -c with calls in all directions.
TOLD = {
    "town": ["base.gmon", "cycles.gmon", "disjoint.gmon", "arcs.gmon", "early.gmon"],
    "town-O2": ["cycles.gmon"], "town-pie": ["cycles.gmon"], "town-shared": ["cycles.gmon"],
    "town-x32": ["cycles.gmon"], "town-i386": ["base.gmon", "cycles.gmon"],
    "onward": ["circles.gmon"], "calc": ["real.gmon", "seed0.gmon", "seed3.gmon"],
    "shapes": ["real.gmon", "seed6.gmon"],
}

# name, GCC's target prefix, flags that make the variant
TOWNS = [
    ("town", "", []),
    ("town-nodebug", "", ["-g0"]),
    ("town-dwarf3", "", ["-gdwarf-3", "-gstrict-dwarf"]),
    ("town-dwarf4", "", ["-gdwarf-4"]),
    ("town-gz", "", ["-gz"]),
    ("town-O2", "", ["-O2", "-fno-inline", "-fno-ipa-icf", "-fno-toplevel-reorder"]),
    ("town-O1", "", ["-O1", "-fno-inline", "-fno-ipa-icf", "-fno-toplevel-reorder"]),
    ("town-moved", "", [f"-fdebug-prefix-map={SOURCES}=/nowhere/to be found"]),
    ("town-relative", "", [f"-fdebug-prefix-map={SOURCES}=."]),
    ("town-pie", "", ["-fpie", "-static-pie"]),
    ("town-shared", "", ["-fpic", "-shared", "-Wl,-Bsymbolic"]),
    ("town-x32", "", ["-mx32"]),
    ("town-i386", "i686-linux-gnu-", []),
    ("town-aarch64", "aarch64-linux-gnu-", []),
    ("town-riscv64", "riscv64-linux-gnu-", []),
    ("town-s390x", "s390x-linux-gnu-", []),
    ("town-s390", "s390x-linux-gnu-", ["-m31"]),
    ("town-ppc64", "powerpc64-linux-gnu-", ["-mabi=elfv2"]),
    ("town-ppc32", "powerpc64-linux-gnu-", ["-m32"]),
]

EXAMPLE_NAMES = {
    "calc": {"a": "expression", "b": "term", "c": "raised", "s": "accept", "idle": "is_odd"},
    "shapes": {"a": "_ZNK5plane7Polygon8containsERKNS_5PointE", "b": "_ZNK5plane7Polygon4edgeEm",
               "c": "_ZNKSt6vectorIN5plane5PointESaIS1_EE4sizeEv",
               "s": "_ZN5plane12_GLOBAL__N_13dotERKNS_5PointES3_", "idle": "_init"},
    "heat": {"a": "__grid_MOD_advance", "b": "__grid_MOD_spread_at", "c": "MAIN__",
             "s": "report.1", "idle": "_init"},
    "mandel": {"a": "cell", "b": "steps_at", "c": "escape_steps", "s": "shade", "idle": "_init"},
}


# Where GNU gprof inlines functions without linkage names, it miscounts its lines and gives up.
OPTIMISED = [("-O1",), ("-O2",), ("-O2", "-gdwarf-4"), ("-O1", "-gdwarf-2"), ("-O2", "-flto"),
             ("-O1", "-gz"), ("-O1", "-ffunction-sections", "-Wl,--gc-sections")]
NOT_INLINED = [("-O1", "-fno-inline"), ("-O2", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra")]
LINED = {"calc": [*OPTIMISED, ("-O1", "-gsplit-dwarf")], "mandel": OPTIMISED, "shapes": NOT_INLINED[:1],
         "heat": NOT_INLINED}
LESS_WORK = {"calc": ["10000"], "mandel": ["45"], "shapes": ["200000"]}  # 0.15 s, some 15 samples
LINED_TOWNS = {"town", "town-nodebug", "town-O2", "town-i386", "town-aarch64", "town-s390x"}
ALL_LINES = {"calc", "town", "heat", "shapes", "mandel-O1", "calc-O2", "town-nodebug"}


class Skip(Exception):
    """The reason why a program takes no part."""


def compile_with(command, where=SOURCES, environment=None):
    command = [str(word) for word in command]
    if not shutil.which(command[0]):
        raise Skip(f"no {command[0]}")
    result = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False,
                            env={**os.environ, **(environment or {})})
    if result.returncode:
        raise Skip(f"{command[0]} failed: {result.stderr.strip().splitlines()[:1]}")


def strtab_hazard(image):
    """The name that makes GNU gprof judge the string behind it in .strtab, or None.

    A local name that ends in a dot and digits does that; it matters if the next one is refused.
    """
    strings = subprocess.run(["readelf", "-p", ".strtab", str(image.path)], capture_output=True,
                             text=True, check=True).stdout
    names = re.findall(r"^  \[ *[0-9a-f]+\]  (.*)$", strings, re.M)
    local_text = {symbol.name for symbol in image.symbols if symbol.kind == "t"}
    accepted = re.compile(r"[^.$]*(\.(clone\.|constprop\.)?\d+)+")
    for place, name in enumerate(names):
        if name not in local_text or not accepted.fullmatch(name):
            continue
        following = iter([*names[place + 1:], "."])
        while accepted.fullmatch(after := next(following)):
            pass
        if re.search(r"[.$]", after):
            return name
    return None


def write_files(folder, image, names):
    """The files that options name, and the values of the placeholders in options.txt."""
    names = {key: name if image.has(name) else "main" for key, name in names.items()}
    values = {key: name.partition("#")[0] for key, name in names.items()}
    home = image.find(names["a"])
    static_home = image.find(names["s"])
    if home.file:
        values |= {"file": os.path.basename(home.file), "line": str(home.line),
                   "inside": str(home.line + 2)}
        values["static_file"] = os.path.basename(static_home.file or home.file)
    (folder / "table.map").write_text("".join(
        f"{s.addr:016x} {s.kind if s.kind in 'tT' else 'D'} {s.name}{'_too' * (s.kind == 't')}\n"
        for s in reversed(image.symbols)))
    (folder / "options.rsp").write_text("-z\n'-L' \"-w\" 60\n")
    # One function a file: with a second one, GNU gprof reads uninitialised memory.
    firsts = {os.path.basename(s.file): s.name for s in reversed(image.symbols) if s.file}
    order = "".join(f"{file}: {name}\n" for file, name in firsts.items())
    (folder / "order.map").write_text(order or "none.o: nobody\n")
    sources = EXAMPLES / folder.name.removeprefix("lines-").partition("-")[0]
    values["sources"] = str(sources if sources.exists() else SOURCES)
    return values | {"map": "table.map", "opts": "options.rsp", "order": "order.map"}


def odd_sources(folder):
    """main.c of town as nobody wants to find it, each in a folder of its own below odd/."""
    text = (SOURCES / "town/main.c").read_bytes()
    odd = {"empty": b"", "short": text[:400], "cut": text[:-30], "carriage": text.replace(
        b"\n", b"\r\n"), "junk": bytes(range(256)) * 40, "zeros": b"\0" * 5000,
           "long": b"\n\n" + b"x" * (1 << 20) + b"\n" * 60, "newlines\nand spaces": text}
    for name, data in odd.items():
        (folder / "odd" / name).mkdir(parents=True)
        (folder / "odd" / name / "main.c").write_bytes(data)
    (folder / "odd/folder/main.c").mkdir(parents=True)
    return sorted(odd) + ["folder"]


def town(prefix, flags):
    def build(folder):
        # last.c goes last: no profile may have samples in the last symbol of the program.
        compile_with([prefix + "gcc", *TOWN_FLAGS, *flags, *TOWN, "-o", folder / "image"])
    return build


def onward(prefix):
    def build(folder):
        compile_with([prefix + "gcc", *TOWN_FLAGS, "onward.c", "-o", folder / "image"])
    return build


def assembled(text_or_file):
    def build(folder):
        source = SOURCES / text_or_file if text_or_file.endswith(".s") else folder / "image.s"
        if source.parent == folder:
            source.write_text(text_or_file)
        compile_with(["gcc", "-nostdlib", "-static", "-fno-pie", "-no-pie", source, "-o",
                      folder / "image"])
    return build


def functions_text(names, align=4):
    """x86-64 assembly: a global function of each name, in that order."""
    lines = ["        .text"]
    for name in ["_start", *names, "zz_last"]:
        lines += [f"        .p2align {align}", f'        .globl "{name}"',
                  f'        .type "{name}", @function', f'"{name}": nop']
    return "\n".join(lines + [f"        .p2align {align}", ""])


def mangled_text():
    lines = (SOURCES / "mangled.txt").read_text().splitlines()
    return functions_text([line for line in lines if line and not line.startswith("#")])


def example(name, *flags, work=()):
    def build(folder):
        built = folder.parent / "".join(["examples", *flags])
        if not (built / name).exists():
            options = ["-pg", "-g", *flags] if flags else []
            compile_with(["sh", EXAMPLES / "build.sh", built, *options], EXAMPLES, {"ONLY": name})
        if not (built / name).exists():
            raise Skip("its compiler is missing")
        shutil.copy(built / name, folder / "image")
        subprocess.run(["./image", *work], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        if not (folder / "gmon.out").exists():
            raise Skip("this glibc had no room for its calls, and then writes no file")
        (folder / "gmon.out").rename(folder / "real.gmon")
    return build


def lined_programs():
    """Programs for -l: every language, optimisation and kind of debug information."""
    for name, names in EXAMPLE_NAMES.items():
        for flags in [("-O0",), *LINED[name]]:
            variant = "".join([name, *flags[flags == ("-O0",):]])
            level = "lines" if variant in ALL_LINES else "some-lines"
            build = example(name, *flags, work=LESS_WORK.get(name, ()))
            yield f"lines-{variant}", build, names, scenes.lined(level)
    yield "miscounted", example("shapes", "-O1"), EXAMPLE_NAMES["shapes"], lambda *_: {}
    for name, prefix, flags in TOWNS:
        if name in LINED_TOWNS:
            level = "lines" if name in ALL_LINES else "some-lines"
            yield f"lines-{name}", town(prefix, flags), TOWN_NAMES, scenes.lined(level)


def programs():
    """Every program: (name, how it is built, names for the placeholders, its profiles)."""
    for name, prefix, flags in TOWNS:
        foreign = bool(prefix) or "-mx32" in flags
        yield name, town(prefix, flags), TOWN_NAMES, scenes.town_scenes(name, foreign)
    for name, prefix in ("onward", ""), ("onward-i386", "i686-linux-gnu-"):
        yield name, onward(prefix), ONWARD_NAMES, scenes.onward
    yield "twins", assembled("twins.s"), TWINS_NAMES, scenes.every_symbol
    yield "clones", assembled("clones.s"), CLONES_NAMES, scenes.every_symbol
    yield "mangled", assembled(mangled_text()), MANGLED_NAMES, scenes.every_symbol
    crowd = functions_text([f"crowd{i:03}" for i in range(120)], 5)
    crowd_names = {"a": "crowd003", "b": "crowd004", "c": "crowd050", "s": "crowd077",
                   "idle": "zz_last"}
    yield "crowd", assembled(crowd), crowd_names, scenes.random_calls
    many = functions_text([f"f{i:05}" for i in range(MANY)])
    many_names = {"a": "f00000", "b": "f00001", "c": "f00002", "s": "f05000", "idle": "zz_last"}
    yield "many", assembled(many), many_names, scenes.many_functions
    for name, names in EXAMPLE_NAMES.items():
        yield name, example(name), names, scenes.real
    yield from lined_programs()


def build_program(folder, build, names, make_scenes, gprof):
    odd = []
    folder.mkdir()
    build(folder)
    # The same names everywhere, so that a case can leave them to their defaults.
    (folder / "a.out").symlink_to("image")
    image = profiles.Image(folder / "image", lines=folder.name != "many")
    hazard = strtab_hazard(image)
    if hazard:
        raise Skip(f"GNU gprof judges the string after {hazard}")
    levels = make_scenes(image, folder)
    if folder.name == "town":
        errors.make_inputs(folder, image)
    elif folder.name == "town-moved":
        odd = odd_sources(folder)
    elif folder.name in ("town-i386", "town-s390x"):
        errors.cuts(folder, image)
    (folder / "header.gmon").write_bytes(profiles.Profile(image).header())
    probe = subprocess.run([gprof, "-b", "image", "header.gmon"], cwd=folder, check=False,
                           capture_output=True, text=True)
    if probe.returncode:
        raise Skip(f"GNU gprof can't read the image: {probe.stderr.strip()}")
    told = scenes.tell(image, folder, TOLD.get(folder.name, []))
    return {"values": write_files(folder, image, names), "levels": levels, "told": told, "odd": odd}


def fingerprint(gprof):
    """Changes with anything that goes into the data folder."""
    total = hashlib.sha256()
    files = [*HERE.glob("*.py"), *SOURCES.rglob("*"), *EXAMPLES.rglob("*"),
             pathlib.Path(shutil.which(gprof) or gprof)]
    for path in sorted(p for p in files if p.is_file() and p.name != "run.py"):
        total.update(str(path).encode() + path.read_bytes())
    for prefix in sorted({prefix for _, prefix, _ in TOWNS}):
        total.update(f"{prefix}{shutil.which(prefix + 'gcc')}".encode())
    return total.hexdigest()


def build_all(work, gprof, is_wanted):
    """Builds what is missing below work/data of the wanted programs and returns what is known of these:
    program -> what it has."""
    manifest_path = work / "manifest.json"
    mark = fingerprint(gprof)
    data = work / "data"
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {}
    if manifest.get("fingerprint") != mark:
        manifest = {"fingerprint": mark, "programs": {}}
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
    built = manifest["programs"]
    wanted = [program for program in programs() if is_wanted(program[0])]
    missing = [program for program in wanted if program[0] not in built]
    for name, build, names, make_scenes in missing:
        try:
            shutil.rmtree(data / name, ignore_errors=True)
            built[name] = build_program(data / name, build, names, make_scenes, gprof)
        except Skip as reason:
            built[name] = {"skip": str(reason)}
    if missing:
        manifest_path.write_text(json.dumps(manifest, indent=1))
    return {name: built[name] for name, *_ in wanted}
