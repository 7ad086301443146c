#!/usr/bin/env python3
"""shape.py: holds sources to their size: files up to 800 lines that open with a comment, functions
up to 100 lines, folders up to 30 sources.

A function is what stands between a `{` and a `}` in column one, as clang-format leaves it. A longer
one passes if the comment right above it says `Longer than 100 lines: ` and why. It refuses to look
into generated files, assembly and other languages.
"""

import collections
import re

import tap

FILE_LINES = 800
FUNCTION_LINES = 100
FOLDER_FILES = 30
FOLDERS = ("src", "runtime", "include", "tests", "bench", "examples")
ROOMS = ("src",)
REASON = "Longer than 100 lines: "
HEADING = re.compile(r"(\w+)\s*\(")
PREFIX_LINES = 200
# What keeps to the rule of prefixes; grows until it is all of src.
PREFIXED = ("src/coverage/analysis", "src/coverage/report", "src/session/coverage_files.c",
            "src/session/coverage_read.c", "src/cli/cover/cover.c")
STATIC = re.compile(r"static (?:inline )?(?:__attribute__\(\(\w+\)\) )?(?:[\w ]+?[ *]+)(?!__attribute__)(\w+)\(")


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


def bare_statics(top):
    findings = []
    for path in tap.c_files(top, "src"):
        name, lines = str(path.relative_to(top)), lines_of(path)
        if path.suffix != ".c" or len(lines) <= PREFIX_LINES:
            continue
        for number, line in enumerate(lines, 1):
            found = STATIC.match(line)
            if found and found[1].split("_")[0] not in path.stem.split("_"):
                findings.append(f"{name}:{number}: {found[1]}")
    return findings


def self_test(t):
    def function(lines, comment=""):
        return f"/* a */\n\n{comment}static int f(int a,\n    int b)\n{{\n" + "    a++;\n" * lines + "}\n"

    t.found("a file of 801 lines", tap.found_in(long_files, {
        "src/base/a.c": "x\n" * 801, "src/base/b.c": "x\n" * 800}), ["a.c: 801"])
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
    long, body = "/* c */\n" * 200, "(void)\n{\n}\n"
    t.found("static functions without the file's prefix", tap.found_in(bare_statics, {
        "src/coverage/report/coverage_text.c": long + f"static void row{body}static int *text_row{body}"
                                                     f"static struct a *row_of{body}",
        "src/coverage/report/short.c": f"static void row{body}",
        "src/base/sort.c": long + f"static void sort_row{body}"}),
        ["coverage_text.c:201: row", "coverage_text.c:207: row_of"])


def main():
    t = tap.Tap()
    self_test(t)
    t.clean(f"files have at most {FILE_LINES} lines", long_files(tap.ROOT))
    t.clean(f"folders have at most {FOLDER_FILES} sources", full_folders(tap.ROOT))
    t.clean("files open with a comment", bare_files(tap.ROOT))
    t.clean(f"functions have at most {FUNCTION_LINES} lines", long_functions(tap.ROOT))
    t.clean("static functions of longer files carry the file's prefix", bare_statics(tap.ROOT))
    t.end()


main()
