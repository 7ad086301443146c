"""errors.py: command lines and inputs that gprof refuses, or that are odd enough to be refused.

make_inputs writes broken files beside the images of the town program; error_cases lists the cases
as fields of cases.Case. Both leave out what makes GNU gprof read past arrays or eat all memory:
no bins, a range that ends before it starts, counts of bins that no file can hold. (Bytes that are
no profile at all may pass for an old BSD header with a billion bins.)
"""

import json
import shlex
import shutil
import struct
import subprocess

from profiles import Profile

# Command lines in town's folder. The files are those of make_inputs and of scenes.py.
IMAGES = """
missing gmon.out
missing missing
image missing
source.c base.gmon
empty base.gmon
. base.gmon
stripped base.gmon
main.o header.gmon
main.o arcs.gmon
image.a base.gmon
short-elf base.gmon
base.gmon image
base.gmon base.gmon
/dev/null base.gmon
image /dev/null
image .
image empty
image source.c
image image
image/ base.gmon
image base.gmon missing
-i image base.gmon missing
-i image base.gmon badtag3.gmon
-p image arcs.gmon
-q image hist.gmon
-q image header.gmon
-p image header.gmon
-p -q image header.gmon
-p -q image arcs.gmon
-p -q image hist.gmon
-P image arcs.gmon
-P image hist.gmon
-Q image arcs.gmon
-Q image hist.gmon
-T image header.gmon
-p -P image arcs.gmon
-i image header.gmon
-i image blocks.gmon
-i -z image base.bsd
-i image base.bsd44
-a -D stripped base.gmon
-Op image base.gmon
-Op missing base.gmon
-Op image missing
-S missing image base.gmon
-S empty image base.gmon
-S badtable image base.gmon
-S . image base.gmon
-S source.c image base.gmon
"""
BROKEN = """
short version2 version131071 unlike bsd-short bsd-odd bsd-long bsd-backwards badtag3
badtag7 badtag255 overlap inside scales dimension abbrev dimension-prefix bins-missing arc-short
no-bins-arcs emptyrange trailing twice-header
""".split()
WRONG_OPTIONS = """
-g
-G
-X
-1
-?
-bX
--nonsense
--nonsense=1
--no
--f
--fi
--file
--d
--t
--i
--e
--brief=3
--print-path=x
--width
--time
--min-count
-e
-f
-E
-F
-k
-m
-n
-N
-O
-S
-w
-t
-I
-R
-p -z -w
--demangle=foo
--demangle=
--demangle=GNU-V3
--file-format=
--file-format
-Oz
-O zebra
-r -R source.c image base.gmon
--function-ordering --file-ordering source.c image base.gmon
-J image base.gmon -g
image base.gmon -g
-- -g
-p walk
-q walk
-Q walk/fetch image base.gmon
-p image base.gmon -- -q
@missing image base.gmon
@nested.rsp image base.gmon
@quoted.rsp image base.gmon
@empty image base.gmon
@wrong.rsp image base.gmon
--=walk image base.gmon
--= image base.gmon
-e '' image base.gmon
-k / image base.gmon
-k walk/ image base.gmon
-k /fetch image base.gmon
-k walk/fetch/store image base.gmon
-p: image base.gmon
-pmain.c:28:3 image base.gmon
-q/ image base.gmon
-qwalk/ image base.gmon
-q/fetch image base.gmon
-Q/fetch image base.gmon
-p99999 image base.gmon
-p28x image base.gmon
--flat-profile= image base.gmon
--graph= image base.gmon
-w -3 image base.gmon
-w -1 -q image base.gmon
-w 99999999999 -p image base.gmon
-w 0x40 -q image base.gmon
-m -3 image base.gmon
--width= -q image base.gmon
"""
STATUS_ONLY = """
-h
--help
-v
--version
-vh
-hv
-v --nonsense
-v -p missing
-p -v missing
--vers
--he
--help --width
"""


def small(image):
    """A profile of one record of each kind, small enough to be cut at every byte."""
    low = image.addr("walk") & ~3
    profile = Profile(image).histogram(low, low + 16, 4, {low: 3, low + 8: 1000})
    return profile.arc("main", "walk", 5).arc("walk", "fetch", 6)


def broken_profiles(image):
    """(name, bytes) of each file in BROKEN."""
    low = image.addr("walk") & ~3
    good = small(image).gnu()
    arc = Profile(image).arc("main", "walk", 5).gnu()[20:]

    def pair(*second, **fields):
        profile = Profile(image).histogram(low, low + 64, 16, {low: 9})
        return profile.histogram(*second, {low + 40: 7}, **fields).gnu()

    yield "short", good[:19]
    yield "version2", Profile(image).header(2) + good[20:]
    yield "version131071", Profile(image).header(131071) + good[20:]
    bins = b"\x01\x00" * 16
    yield "unlike", struct.pack("<QQI", 7 << 60, 5 << 56, 0x12345) + bins
    yield "bsd-short", struct.pack("<QQI", low, low + 64, 20) + bins[:19]
    yield "bsd-odd", struct.pack("<QQI", low, low + 64, 20 + 31) + bins
    yield "bsd-long", struct.pack("<QQI", low, low + 64, 20 + 3200) + bins
    yield "bsd-backwards", struct.pack("<QQI", low + 64, low, 20 + 32) + bins
    for tag in (3, 7, 255):
        yield f"badtag{tag}", good + bytes([tag]) + arc
    yield "overlap", pair(low + 32, low + 96, 16)
    yield "inside", pair(low + 16, low + 32, 4)
    yield "scales", pair(low + 64, low + 128, 8)
    yield "dimension", pair(low + 64, low + 128, 16, dimension=b"cachemiss")
    yield "abbrev", pair(low + 64, low + 128, 16, abbrev=b"m")
    yield "dimension-prefix", pair(low + 64, low + 128, 16, dimension=b"second")
    yield "bins-missing", Profile(image).histogram(low, low + 64, 16).gnu()[:-7]
    yield "arc-short", good[:-3]
    yield "no-bins-arcs", Profile(image).header() + arc + b"\x01"
    yield "emptyrange", Profile(image).histogram(low, low, 4).gnu() + arc
    yield "trailing", good + b"\x00"
    yield "twice-header", good + good


def undefined_profiles(image):
    """(name, bytes): inputs on which GNU gprof reads past arrays; only deviations.py uses them."""
    last = image.addr("zz_last")
    low = last - 64 & ~3
    yield "rate0", Profile(image).histogram(low, low + 64, 16, {low: 9}, rate=0).arc(
        "main", image.symbols[-2].addr, 3).gnu()
    yield "last-symbol", Profile(image).histogram(low, low + 128, 32, {low: 9, last + 4: 7}).gnu()


def run(*command, cwd):
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)


def make_inputs(folder, image):
    """Writes the broken inputs of the town program into its folder."""
    for name, data in [*broken_profiles(image), *undefined_profiles(image)]:
        (folder / f"{name}.gmon").write_bytes(data)
    (folder / "source.c").write_text("int main(void)\n{\n    return 0;\n}\n")
    (folder / "empty").write_bytes(b"")
    (folder / "badtable").write_text(
        # An address without a digit would leave GNU gprof's uninitialised, so each has one.
        "1 a table\n0000 T\n401000xyz T walk\n\n0x401100 T b more\n401180 Tc\n"
        "401200 X d\n500000 t end\n")
    (folder / "nested.rsp").write_text("-z @options.rsp\n-p")
    (folder / "quoted.rsp").write_text("'-e' \"walk\" -f fe\\tch\n")
    (folder / "wrong.rsp").write_text("--nonsense\n")
    (folder / "short-elf").write_bytes((folder / "image").read_bytes()[:200])
    shutil.copy(folder / "image", folder / "stripped")
    run("strip", "stripped", cwd=folder)
    run("gcc", "-g0", "-c", "source.c", "-o", "main.o", cwd=folder)
    run("ar", "rcD", "image.a", "main.o", cwd=folder)
    cuts(folder, image)


def cuts(folder, image):
    """small() in each format, cut at every byte: cuts/FORMAT.N."""
    (folder / "cuts").mkdir()
    sizes = {}
    profile = small(image)
    formats = {"v1": profile.gnu(), "v0": profile.gnu(0), "bsd": profile.bsd(),
               "bsd44": profile.bsd44(),
               "blocks": profile.blocks([(image.addr("walk"), 1), (8, 9)]).gnu()}
    for name, data in formats.items():
        if folder.name != "town" and name in ("v0", "blocks"):
            continue
        start = len(formats["v1"]) if name == "blocks" else 0
        sizes[name] = (start, len(data))
        for size in range(start, len(data)):
            (folder / "cuts" / f"{name}.{size}").write_bytes(data[:size])
    (folder / "cuts.json").write_text(json.dumps(sizes))


def lines(text):
    return [shlex.split(line) for line in text.strip().splitlines()]


def error_cases(work):
    """Fields of every case, as dictionaries."""
    for words in lines(IMAGES):
        yield {"group": "inputs", "program": "town", "argv": ["-b", *words]}
    for name in BROKEN:
        for options in ([], ["-i"], ["-p"], ["-q"], ["-P"]):
            yield {"group": "broken", "program": "town",
                   "argv": ["-b", *options, "image", f"{name}.gmon"]}
        yield {"group": "broken", "program": "town",
               "argv": ["-b", "-i", "image", "base.gmon", f"{name}.gmon"]}
    for words in lines(WRONG_OPTIONS):
        yield {"group": "wrong options", "program": "town", "argv": ["-b", *words]}
    for words in lines(STATUS_ONLY):
        yield {"group": "status", "program": "town", "argv": words, "check": "status"}
    yield from invocation_cases()
    for program in ("town", "town-i386", "town-s390x"):
        path = work / "data" / program / "cuts.json"
        for kind, (start, end) in json.loads(path.read_text()).items() if path.exists() else ():
            for size in range(start, end):
                yield {"group": "cuts", "program": program,
                       "argv": ["-b", "image", f"cuts/{kind}.{size}"]}


def invocation_cases():
    """Defaults, standard input and the environment."""
    strict = {"POSIXLY_CORRECT": "1"}
    for words, stdin, env in (
            (["-b"], None, {}), (["-b", "-p"], None, {}), (["-b", "image"], None, {}),
            (["-b", "image", "-"], "base.gmon", {}), (["-b", "-p", "image", "-"], "base.bsd", {}),
            (["-b", "image", "-"], "base.bsd44", {}), (["-b", "image", "-"], "empty", {}),
            (["-b", "-i", "image", "base.gmon", "-"], "cycles.gmon", {}),
            (["-b", "image", "-", "-"], "base.gmon", {}), (["-b", "-"], "image", {}),
            (["-b", "image", "-p", "base.gmon"], None, strict),
            (["-b", "-p", "image", "base.gmon", "-q"], None, strict),
            (["-b", "-p", "image", "base.gmon"], None, strict),
            (["-b", "image", "base.gmon"], None, {"GPROF_PATH": "/nowhere"}),
            (["-b", "image", "base.gmon"], None, {"COLUMNS": "40"})):
        yield {"group": "invocation", "program": "town", "argv": words, "stdin": stdin,
               "env": env}
