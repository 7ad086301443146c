#!/usr/bin/env python3
"""shape.py: holds sources to their shape. Everywhere: files up to 1,500 lines that open with a comment,
functions up to 100 lines, folders up to 30 sources. In the rooms of DONE also: few and deep files,
few helpers that are called once, comments, shallow nesting, as LIMITS says.

`shape.py --table [FOLDER...]` prints those figures for all of src and each room, or for folders of
any other project. A function is what stands between a `{` and a `}` in column one, as clang-format
leaves it. A longer one passes if the comment right above it says `Longer than 100 lines: ` and why.
It refuses to look into generated files, assembly and other languages.
"""

import argparse
import collections
import re
import statistics

import csource
import tap

FILE_LINES = 1500
FUNCTION_LINES = 100
FOLDER_FILES = 30
FOLDERS = ("src", "runtime", "include", "tests", "bench", "examples")
ROOMS = ("src",)
REASON = "Longer than 100 lines: "
HEADING = re.compile(r"(\w+)\s*\(")

# Rooms that have been made deep: held to LIMITS from then on, but for the figures named here, which
# a room has not reached yet and which must not get worse.
DONE = {
    "src": {},
    # One file a family of CPUs, however little is known of it.
    "src/arch": {"median lines of .c files": 60, "% of .c files below 60 lines": 60},
    "src/base": {"median lines of .c files": 134},
    "src/bridge": {"% of static functions called once": 52},
    "src/cli": {"% of static functions called once": 51},
    "src/command": {},
    "src/coverage/analysis": {"% of static functions called once": 52},
    "src/coverage/format": {"% of lines that are comment": 13},
    "src/coverage/model": {},
    "src/coverage/report": {},
    "src/gnu": {"% of static functions called once": 53},
    "src/lib": {"% of lines that are comment": 12},
    "src/objfile": {},
    "src/output": {},
    "src/page": {"% of static functions called once": 64},
    "src/profile/analysis": {"% of lines that are comment": 13},
    "src/profile/export": {"% of static functions called once": 51},
    "src/profile/format": {},
    # The table of imports is a file of its own.
    "src/profile/import": {"% of static functions called once": 53, "% of .c files below 60 lines": 10},
    "src/profile/model": {},
    "src/profile/report": {},
    "src/record": {"% of static functions called once": 53},
    "src/record/perf": {"% of static functions called once": 69},
    "src/record/ptrace": {},
    "src/record/waits": {},
    "src/session": {"% of static functions called once": 62},
    "src/source": {},
    "src/store": {},
    "src/tui": {},
    "src/unwind": {},
    "src/verdict": {},
}
# Of a room: at least so much (the first two), or at most. A room with one or two sources has no
# median worth the name and is held to the rest.
LIMITS = {
    "median lines of .c files": (220, None),
    "% of lines that are comment": (14, None),
    "% of .c files below 60 lines": (None, 8),
    "% of static functions called once": (None, 50),
    "lines of a function, median": (None, 20),
    "lines of a function, 90th percentile": (None, 60),
    "lines of a function, longest": (None, FUNCTION_LINES),
    "depth of statements": (None, 4),
}
FEW_SOURCES = 2
SHORT_SOURCE, SHORT_FILE, SHORT_FUNCTION = 60, 50, 12


def lines_of(path):
    return path.read_text(errors="replace").splitlines()


def long_files(top):
    return [f"{path.relative_to(top)}: {len(lines)} lines"
            for path in tap.c_files(top, *FOLDERS) if len(lines := lines_of(path)) > FILE_LINES]


def full_folders(top):
    """Folders that want to be two. A .c and its .h count once; a folder inside counts by itself."""
    sizes = collections.Counter(path.parent for path in tap.c_files(top, *ROOMS)
                                if path.suffix == ".c")
    return [f"{folder.relative_to(top)}: {size} sources"
            for folder, size in sorted(sizes.items()) if size > FOLDER_FILES]


def bare_files(top):
    return [f"{path.relative_to(top)} does not open with a comment"
            for path in tap.c_files(top, *FOLDERS)
            if not (lines_of(path) or [""])[0].startswith(("/*", "//"))]


def heading_of(lines, brace):
    """(name, comment above) of the function whose brace is in this line."""
    start = brace
    while start > 0 and lines[start - 1].strip() and not lines[start - 1].endswith(("}", ";")):
        start -= 1
    above = "\n".join(lines[start:brace])
    name = HEADING.search(above.split("*/")[-1])
    return name[1] if name else "?", above


def long_functions(top):
    findings = []
    for path in tap.c_files(top, *FOLDERS):
        lines, opened = lines_of(path), None
        for number, line in enumerate(lines):
            if line == "{":
                opened = number
            elif line.startswith("}") and opened is not None:
                name, above = heading_of(lines, opened)
                length = number - opened + 1
                if length > FUNCTION_LINES and REASON not in above:
                    findings.append(f"{path.relative_to(top)}:{opened}: {name}: {length} lines")
                opened = None
    return findings


def percent(part, whole):
    return 100 * part / whole if whole else 0


def median(numbers):
    return statistics.median(numbers) if numbers else 0


def figures(paths):
    """The figures of the table for these files, by name, in its order."""
    files = {path: csource.read(path) for path in paths}
    sources = [s for path, s in files.items() if path.suffix == ".c"]
    headers = [s for path, s in files.items() if path.suffix == ".h"]
    functions = [f for s in files.values() for f in s.functions]
    static = [(s, f) for s in sources for f in s.functions if f.is_static]
    once = [f for s, f in static if s.called_once(f)]
    short = [f for f in once if f.lines <= SHORT_FUNCTION]
    lengths = sorted(f.lines for f in functions) or [0]
    lines = sum(len(s.lines) for s in files.values())
    return {
        "files": len(files),
        "lines": lines,
        "median lines of .c files": median([len(s.lines) for s in sources]),
        "median lines of headers": median([len(s.lines) for s in headers]),
        "% of .c files below 60 lines": percent(
            sum(len(s.lines) < SHORT_SOURCE for s in sources), len(sources)),
        "% of files below 50 lines": percent(
            sum(len(s.lines) < SHORT_FILE for s in files.values()), len(files)),
        "% of static functions called once": percent(len(once), len(static)),
        "% of functions called once and short": percent(len(short), len(functions)),
        "% of lines that are comment": percent(
            sum(s.comment_lines for s in files.values()), lines),
        "functions": len(functions),
        "lines of a function, median": median(lengths),
        "lines of a function, 90th percentile": lengths[len(lengths) * 9 // 10],
        "lines of a function, longest": lengths[-1],
        "depth of statements": max((f.depth for f in functions), default=0),
    }


def shallow_rooms(top, done):
    """Figures of finished rooms that are beyond LIMITS, or beyond what the room still owes."""
    findings = []
    for room, owed in done.items():
        paths = tap.c_files(top, room)
        found = figures(paths)
        for name, (least, most) in LIMITS.items():
            value = found[name]
            least, most = (least and owed.get(name, least)), (most and owed.get(name, most))
            if name.startswith("median") and sum(p.suffix == ".c" for p in paths) <= FEW_SOURCES:
                continue
            if least is not None and round(value) < least:
                findings.append(f"{room}: {name}: {value:.0f}, at least {least} wanted")
            if most is not None and round(value) > most:
                findings.append(f"{room}: {name}: {value:.0f}, at most {most} allowed")
    return findings


def print_table(top, folders):
    """One row a folder; without folders all of src and each folder of it that has sources."""
    if not folders:
        folders = ["src"] + sorted({str(path.parent.relative_to(top))
                                    for path in tap.c_files(top, "src")})
    rows = [(folder, figures(tap.c_files(top, folder))) for folder in folders]
    names = list(rows[0][1])
    for number, name in enumerate(names, 1):
        print(f"{number:2} {name}")
    print(f"{'':30}" + "".join(f"{number:>7}" for number in range(1, len(names) + 1)))
    for folder, row in rows:
        print(f"{folder:30}" + "".join(f"{row[name]:7.0f}" for name in names))


def self_test(t):
    def function(lines, comment=""):
        return f"/* a */\n\n{comment}static int f(int a,\n    int b)\n{{\n" + "    a++;\n" * lines + "}\n"

    t.found("a file of 801 lines", tap.found_in(long_files, {
        "src/base/a.c": "x\n" * 1501, "src/base/b.c": "x\n" * 1500}), ["a.c: 1501"])
    t.found("a folder of 31 sources", tap.found_in(full_folders, {
        **{f"src/base/{i}.c": "" for i in range(31)}, "src/base/x.h": "",
        **{f"src/base/in/{i}.c": "" for i in range(30)}}), ["src/base: 31"])
    t.found("files without an opening comment", tap.found_in(bare_files, {
        "src/base/a.c": "#include <stdio.h>\n", "runtime/b.h": "", "tests/c.c": "/* c */\n"}),
        ["a.c", "b.h"])
    t.found("a function of 101 lines", tap.found_in(long_functions, {
        "src/base/a.c": function(99), "src/base/b.c": function(98)}), ["a.c:4: f: 101"])
    t.found("no harm in a reasoned function", tap.found_in(long_functions, {
        "src/base/a.c": function(200, f"/* {REASON}one table. */\n")}), [])
    once = "static int g(void)\n{\n    return 1;\n}\n\n"
    deep = "static int h(void)\n{\n" + "".join("    " * d + "if (1)\n" for d in range(1, 6)) + \
        "    " * 6 + "a++;\n}\n\n"
    t.found("a room of shreds", tap.found_in(lambda top: shallow_rooms(top, {"src/a": {}}), {
        **{f"src/a/{i}.c": "/* a */\n\n" + once + "int f(void)\n{\n    return g();\n}\n"
           for i in range(3)}}), ["median lines of .c", "are comment", "below 60 lines", "called once"])
    t.found("depth and want of comments", tap.found_in(
        lambda top: shallow_rooms(top, {"src/a": {}}), {"src/a/a.c": deep * 20}),
        ["comment: 0", "depth of statements: 5"])
    t.found("an owed figure that gets worse", tap.found_in(
        lambda top: shallow_rooms(top, {"src/a": {"% of lines that are comment": 9,
                                                  "depth of statements": 4}}),
        {"src/a/a.c": "/* a */\n" * 3 + deep * 20}), ["comment: 1, at least 9", "statements: 5"])
    whole = ("/* " + "a\n" * 60 + "*/\n") + (once + "int *p = g;\n") * 20
    t.found("no harm in a deep room", tap.found_in(
        lambda top: shallow_rooms(top, {"src/a": {}}), {"src/a/a.c": whole}), [])


def main():
    parser = argparse.ArgumentParser(description="Checks the shape of the sources.")
    parser.add_argument("--table", nargs="*", metavar="FOLDER", help="print figures instead")
    options = parser.parse_args()
    if options.table is not None:
        print_table(tap.ROOT, options.table)
        return
    t = tap.Tap()
    self_test(t)
    t.clean(f"files have at most {FILE_LINES} lines", long_files(tap.ROOT))
    t.clean(f"folders have at most {FOLDER_FILES} sources", full_folders(tap.ROOT))
    t.clean("files open with a comment", bare_files(tap.ROOT))
    t.clean(f"functions have at most {FUNCTION_LINES} lines", long_functions(tap.ROOT))
    t.clean("rooms that were made deep stay so", shallow_rooms(tap.ROOT, DONE))
    t.end()


main()
