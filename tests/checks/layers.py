#!/usr/bin/env python3
"""layers.py: enforces who may include whom, by reading the #include lines.

The table is that of docs/architecture.md. It refuses to run a preprocessor: what is between #if and
#endif counts as well.
"""

import re

import tap

# room of src/ -> the rooms it may include, besides itself
ROOMS = {
    "base": [],
    "objfile": ["base"],
    "source": ["base"],
    "unwind": ["base"],
    "model": ["base"],
    "record": ["base", "objfile", "unwind", "model", "format"],
    "format": ["base", "model"],
    "analysis": ["base", "objfile", "source", "model"],
    "report": ["base", "model", "analysis"],
    "tui": ["base", "model", "analysis"],
    "cli": ["base", "objfile", "source", "model", "format", "analysis", "report", "tui", "record"],
}

# Libraries that live in src/objfile alone: <header> prefixes.
OBJECT_LIBRARIES = ("libelf.h", "gelf.h", "nlist.h", "elfutils/", "dwarf.h", "libdwarf", "capstone",
                    "libiberty", "demangle.h", "bfd.h")
EXCEPTIONS = {
    ("src/cli/lookalike.c", "libiberty/libiberty.h"),  # expandargv: @FILE on the command line
}

# Libraries of one room each. zlib is not among them: checksums and debug sections take it as well.
ROOM_LIBRARIES = {"libdeflate.h": "base"}

# Public headers with nothing but wire constants; the others are the recorders' own.
WIRE_HEADERS = ("monarc/control.h", "monarc/gmon_out.h", "monarc/sidecar.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def includes(path):
    """(line number, is quoted, name) of each include."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == '"', match[2]


def wrong_in_room(room, name, is_quoted, where):
    """What is wrong with a file of a room including this, or None."""
    if name.startswith("monarc/"):
        return None if name in WIRE_HEADERS else "of these, src takes the wire constants alone"
    if is_quoted:
        head = name.split("/")[0]
        if "/" not in name or head not in ROOMS:
            return "quoted includes are written \"room/file.h\""
        if head != room and head not in ROOMS[room]:
            return f"{room} may not include {head}"
        return None
    if name.startswith(OBJECT_LIBRARIES) and room != "objfile" and (where, name) not in EXCEPTIONS:
        return "object file libraries live in src/objfile alone"
    if ROOM_LIBRARIES.get(name, room) != room:
        return f"this library lives in src/{ROOM_LIBRARIES[name]} alone"
    return None


def room_findings(top, room):
    findings = []
    for path in tap.c_files(top, f"src/{room}"):
        where = str(path.relative_to(top))
        for number, is_quoted, name in includes(path):
            wrong = wrong_in_room(room, name, is_quoted, where)
            if wrong:
                findings.append(f"{where}:{number}: {name}: {wrong}")
    return findings


def strangers(top):
    """Folders of src/ that the table does not have, and sources outside the rooms."""
    found = [path for path in sorted((top / "src").iterdir())
             if path.is_dir() and path.name not in ROOMS or path.suffix in (".c", ".h")]
    return [f"{path.relative_to(top)} is in no room of the table" for path in found]


def runtime_findings(top):
    findings = []
    inside = (top / "runtime").resolve()
    for path in tap.c_files(top, "runtime"):
        for number, is_quoted, name in includes(path):
            wrong = None
            if is_quoted:
                target = (path.parent / name).resolve()
                if not target.is_file() and (inside / name).is_file():
                    target = inside / name
                if not target.is_relative_to(inside) or not target.is_file():
                    wrong = "not a file of runtime/"
            elif name.startswith(OBJECT_LIBRARIES) or name.split("/")[0] in ROOMS:
                wrong = "runtime takes include/monarc and the system's headers alone"
            if wrong:
                findings.append(f"{path.relative_to(top)}:{number}: {name}: {wrong}")
    return findings


def public_findings(top):
    return [f"{path.relative_to(top)}:{number}: {name}: public headers stand alone"
            for path in tap.c_files(top, "include")
            for number, is_quoted, name in includes(path)
            if name.startswith(OBJECT_LIBRARIES) or name.split("/")[0] in ROOMS]


def own_header_findings(top):
    """A source includes its own header first."""
    findings = []
    for path in tap.c_files(top, "src"):
        own = path.with_suffix(".h")
        if path.suffix == ".c" and own.exists():
            first = next((name for _, _, name in includes(path)), None)
            if first != f"{path.parent.name}/{own.name}":
                findings.append(f"{path.relative_to(top)}: includes {first} before its own header")
    return findings


def self_test(t):
    def room(name, file, text):
        return tap.found_in(lambda top: room_findings(top, name), {file: text})

    t.found("a report that reads object files",
            room("report", "src/report/a.c", '#include "objfile/object.h"\n'), ["may not include"])
    t.found("a base that includes anything of ours",
            room("base", "src/base/a.h", '#  include "model/profile.h"\n'), ["may not include"])
    t.found("an include without its room",
            room("model", "src/model/a.c", '#include "b.h"\n#include "../base/err.h"\n'),
            ["b.h: quoted", "err.h: quoted"])
    t.found("libelf outside objfile",
            room("cli", "src/cli/a.c", "#include <libelf.h>\n#include <elf.h>\n"), ["libelf.h"])
    t.found("libdeflate outside base",
            room("report", "src/report/a.c", "#include <libdeflate.h>\n#include <zlib.h>\n"),
            ["libdeflate.h"])
    t.found("no harm in libdeflate in base",
            room("base", "src/base/a.c", "#include <libdeflate.h>\n"), [])
    t.found("libiberty in the wrong file of cli",
            room("cli", "src/cli/a.c", "#include <libiberty/libiberty.h>\n"), ["libiberty"])
    t.found("no harm in the exception",
            room("cli", "src/cli/lookalike.c", "#include <libiberty/libiberty.h>\n"), [])
    t.found("the recorder's interface in src",
            room("model", "src/model/a.c",
                 "#include <monarc/runtime.h>\n#include \"monarc/gmon_out.h\"\n"), ["runtime.h"])
    t.found("a room that is not in the table",
            tap.found_in(strangers, {"src/attic/a.c": "", "src/stray.c": "", "src/base/a.c": ""}),
            ["attic", "stray.c"])
    t.found("a recorder that uses src", tap.found_in(runtime_findings, {
        "runtime/hosted/a.c": '#include "b.h"\n#include "base/err.h"\n#include <base/err.h>\n',
        "runtime/hosted/b.h": "", "src/base/err.h": ""}), ['c:2: base/err.h', 'c:3: base/err.h'])
    t.found("a public header that uses src",
            tap.found_in(public_findings, {"include/monarc/a.h": '#include "base/err.h"\n'}),
            ["stand alone"])
    t.found("a source that includes its own header late", tap.found_in(own_header_findings, {
        "src/base/a.c": '#include <stdio.h>\n#include "base/a.h"\n', "src/base/a.h": ""}),
        ["own header"])


def main():
    t = tap.Tap()
    self_test(t)
    for room in ROOMS:
        if (tap.ROOT / "src" / room).is_dir():
            t.clean(f"src/{room} includes what the table allows", room_findings(tap.ROOT, room))
    t.clean("src has the rooms of the table", strangers(tap.ROOT))
    t.clean("runtime shares nothing with src", runtime_findings(tap.ROOT))
    t.clean("public headers stand alone", public_findings(tap.ROOT))
    t.clean("sources include their own header first", own_header_findings(tap.ROOT))
    t.end()


main()
