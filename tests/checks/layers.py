#!/usr/bin/env python3
"""layers.py: enforces who may include whom, by reading the #include lines.

The table is that of docs/architecture.md. It refuses to run a preprocessor: what is between #if and
#endif counts as well.
"""

import re

import tap

PROFILE = ["profile/model", "profile/format", "profile/analysis", "profile/report",
           "profile/export"]
COVERAGE = ["coverage/model", "coverage/format", "coverage/analysis", "coverage/report"]
BELOW_SESSION = ["base", "command", "output", "objfile", "source", *PROFILE, *COVERAGE, "bridge"]

# room of src/ -> the rooms it may include, besides itself. A folder inside a room is of that room.
ROOMS = {
    "base": [],
    "command": ["base", "output"],
    "arch": ["base"],
    "objfile": ["base", "arch"],
    "source": ["base"],
    "unwind": ["base", "arch"],
    "output": ["base"],
    "profile/model": ["base"],
    "profile/format": ["base", "profile/model"],
    "profile/analysis": ["base", "arch", "objfile", "source", "profile/model"],
    "profile/report": ["base", "output", "profile/model", "profile/analysis"],
    "profile/export": ["base", "output", "profile/model", "profile/analysis"],
    "profile/import": ["base", "output", "arch", "objfile", "unwind", "profile/model", "record"],
    "coverage/model": ["base"],
    "coverage/format": ["base", "coverage/model"],
    "coverage/import": ["base", "coverage/model", "coverage/format"],
    "coverage/analysis": ["base", "objfile", "source", "coverage/model"],
    "coverage/report": ["base", "output", "coverage/model", "coverage/analysis"],
    "bridge": ["base", "objfile", "source", "profile/model", "profile/analysis",
               "coverage/model", "coverage/analysis"],
    "session": BELOW_SESSION + ["profile/import", "coverage/import"],
    "verdict": ["base", "output", "profile/model", "profile/analysis", "coverage/model",
                "coverage/analysis", "source", "objfile"],
    "store": ["base", "output", "profile/model", "profile/analysis"],
    "record": ["base", "output", "arch", "objfile", "unwind", "profile/model", "profile/format",
               "coverage/model", "coverage/format"],
    "gnu": BELOW_SESSION + ["session"],
    "page": ["base", "output", "objfile", "source", "profile/model", "profile/analysis",
             "coverage/model", "coverage/analysis", "bridge"],
    "lib": ["base", "profile/model", "profile/format", "coverage/model", "coverage/format",
            "coverage/analysis"],
    "lib/report": BELOW_SESSION + ["session"],
    "tui/model": BELOW_SESSION + ["session"],
    "tui/draw": BELOW_SESSION + ["session", "tui/model"],
    "tui": BELOW_SESSION + ["session", "tui/model", "tui/draw"],
    "cli": BELOW_SESSION + ["session", "verdict", "gnu", "record", "store", "page", "tui", "tui/model"],
}

# Libraries that live in src/objfile alone, capstone in src/arch: <header> prefixes.
OBJECT_LIBRARIES = ("libelf.h", "gelf.h", "nlist.h", "elfutils/", "dwarf.h", "libdwarf", "capstone",
                    "libiberty", "demangle.h", "bfd.h")
EXCEPTIONS = {
    ("src/gnu/gnu_compat.c", "libiberty/libiberty.h"),  # expandargv: @FILE on the command line
}

# Libraries of one room each. zlib is not among them: checksums and debug sections take it as well.
ROOM_LIBRARIES = {"libdeflate.h": ("output", "objfile"), "graphviz/gvc.h": ("output",), "sqlite3.h": ("store",), "curses.h": ("tui",),
                  "term.h": ("tui",)}

# What the recorders and src agree on is in include/wire, and, where users need it as well, in these public headers; the
# others are the recorders' own.
LIBRARY_HEADERS = ("monarc/coverage.h", "monarc/error.h", "monarc/formats.h", "monarc/profile.h",
                   "monarc/recording.h", "monarc/report.h")
WIRE_HEADERS = ("monarc/embedded_blob.h", "monarc/gmon_out.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def room_of(name):
    """The room of src/ that a path under src/ is in, or None."""
    folder = name.rpartition("/")[0]
    while folder and folder not in ROOMS:
        folder = folder.rpartition("/")[0]
    return folder or None


def includes(path):
    """(line number, is quoted, name) of each include."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == '"', match[2]


def wrong_in_room(room, name, is_quoted, where):
    """What is wrong with a file of a room including this, or None."""
    if name.startswith("wire/"):
        return None
    if name.startswith("monarc/"):
        if room in ("lib", "lib/report") and name in LIBRARY_HEADERS:
            return None
        return None if name in WIRE_HEADERS else "of these, src takes the wire constants alone"
    if is_quoted:
        other = room_of(name)
        if other is None:
            return "quoted includes are written \"room/file.h\""
        if other != room and other not in ROOMS[room]:
            return f"{room} may not include {other}"
        return None
    home = "arch" if name.startswith("capstone") else "objfile"
    if name.startswith(OBJECT_LIBRARIES) and room != home and (where, name) not in EXCEPTIONS:
        if home == "arch":
            return "capstone lives in src/arch alone"
        return "object file libraries live in src/objfile alone"
    if room not in ROOM_LIBRARIES.get(name, (room,)):
        return f"this library lives in src/{' and src/'.join(ROOM_LIBRARIES[name])} alone"
    return None


def room_findings(top, room):
    findings = []
    for path in tap.c_files(top, f"src/{room}"):
        where = str(path.relative_to(top))
        if room_of(str(path.relative_to(top / "src"))) != room:
            continue  # a room within this one, with a row of its own
        for number, is_quoted, name in includes(path):
            wrong = wrong_in_room(room, name, is_quoted, where)
            if wrong:
                findings.append(f"{where}:{number}: {name}: {wrong}")
    return findings


def unknown_rooms(top):
    """Sources of src/ outside the rooms of the table."""
    return [f"{path.relative_to(top)} is in no room of the table"
            for path in tap.c_files(top, "src")
            if room_of(str(path.relative_to(top / "src"))) is None]


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
            elif name.startswith(OBJECT_LIBRARIES) or room_of(name):
                wrong = "runtime takes include/ and the system's headers alone"
            if wrong:
                findings.append(f"{path.relative_to(top)}:{number}: {name}: {wrong}")
    return findings


def public_findings(top):
    return [f"{path.relative_to(top)}:{number}: {name}: public headers stand alone"
            for path in tap.c_files(top, "include")
            for number, is_quoted, name in includes(path)
            if name.startswith(OBJECT_LIBRARIES) or room_of(name)]


def own_header_findings(top):
    """A source includes its own header first."""
    findings = []
    for path in tap.c_files(top, "src"):
        own = path.with_suffix(".h")
        if path.suffix == ".c" and own.exists():
            first = next((name for _, _, name in includes(path)), None)
            if first != str(own.relative_to(top / "src")):
                findings.append(f"{path.relative_to(top)}: includes {first} before its own header")
    return findings


PRIVATE = "_private"


def piece_of(path):
    """What a file is one half of: its .c and its .h together, and the .h of what is private to it."""
    whole = path.with_suffix("")
    owner = whole.with_name(whole.name.removesuffix(PRIVATE))
    is_owned = any(owner.with_suffix(suffix).exists() for suffix in (".c", ".h"))
    return owner if is_owned else whole


def included_pieces(top, folder):
    """piece -> the pieces of the folder that its files include by quoted includes."""
    inside = (top / folder).resolve()
    pieces = {}
    for path in tap.c_files(top, folder):
        here = path.resolve()
        to = pieces.setdefault(piece_of(here), set())
        for _, is_quoted, name in includes(path):
            for target in ((here.parent / name).resolve(), inside / name):
                if is_quoted and target.is_file() and piece_of(target) != piece_of(here):
                    to.add(piece_of(target))
                    break
    return pieces


def circles(edges):
    """Groups of nodes that all reach each other (Tarjan's components of more than one node)."""
    number, low, stack, found = {}, {}, [], []
    for start in sorted(edges):
        work = [(start, iter(sorted(edges[start])))] if start not in number else []
        while work:
            node, rest = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                stack.append(node)
            for to in rest:
                if to not in number:
                    work.append((to, iter(sorted(edges.get(to, ())))))
                    break
                if to in stack:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    found += [sorted(group)] if len(group) > 1 else []
    return found


def circle_findings(top, folder):
    """Files of the folder that include each other round and round."""
    inside = (top / folder).resolve()
    return ["include each other in a circle: "
            + ", ".join(str(piece.relative_to(inside)) for piece in group)
            for group in circles(included_pieces(top, folder))]


GCC_VERSION = re.compile(r"\b(number|version|since)\b[^;=!&|]*(>=|<=|<|>) *\d{3,4}\b")


def version_findings(top):
    """What depends on a version of GCC is a field of its row in include/wire/gcov_dialects.h."""
    return [f"{path.relative_to(top)}:{number}: a version of GCC is compared: {line.strip()}"
            for path in tap.c_files(top, "src/coverage", "src/gnu", "src/bridge", "src/session",
                                    "src/cli", "runtime/coverage")
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
            if GCC_VERSION.search(line)]


def self_test(t):
    def room(name, file, text):
        return tap.found_in(lambda top: room_findings(top, name), {file: text})

    t.found("a report that reads object files",
            room("profile/report", "src/profile/report/a.c", '#include "objfile/object.h"\n'), ["may not include"])
    t.found("a base that includes anything of ours",
            room("base", "src/base/a.h", '#  include "profile/model/profile.h"\n'), ["may not include"])
    t.found("an include without its room",
            room("profile/model", "src/profile/model/a.c", '#include "b.h"\n#include "../base/err.h"\n'),
            ["b.h: quoted", "err.h: quoted"])
    t.found("libelf outside objfile",
            room("cli", "src/cli/a.c", "#include <libelf.h>\n#include <elf.h>\n"), ["libelf.h"])
    t.found("libdeflate outside output",
            room("cli", "src/cli/a.c", "#include <libdeflate.h>\n#include <zlib.h>\n"),
            ["libdeflate.h"])
    t.found("no harm in libdeflate in output and objfile",
            room("output", "src/output/a.c", "#include <libdeflate.h>\n")
            + room("objfile", "src/objfile/a.c", "#include <libdeflate.h>\n"), [])
    t.found("libiberty outside objfile and its exception",
            room("cli", "src/cli/a.c", "#include <libiberty/libiberty.h>\n"), ["libiberty"])
    t.found("no harm in the exception",
            room("gnu", "src/gnu/gnu_compat.c", "#include <libiberty/libiberty.h>\n"), [])
    t.found("the recorder's interface in src",
            room("profile/model", "src/profile/model/a.c",
                 "#include <monarc/runtime.h>\n#include \"monarc/gmon_out.h\"\n"), ["runtime.h"])
    t.found("a room that is not in the table",
            tap.found_in(unknown_rooms, {"src/other/a.c": "", "src/stray.c": "", "src/base/a.c": ""}),
            ["other", "stray.c"])
    t.found("a recorder that uses src", tap.found_in(runtime_findings, {
        "runtime/profile/a.c": '#include "b.h"\n#include "base/err.h"\n#include <base/err.h>\n',
        "runtime/profile/b.h": "", "src/base/err.h": ""}), ['c:2: base/err.h', 'c:3: base/err.h'])
    t.found("a public header that uses src",
            tap.found_in(public_findings, {"include/monarc/a.h": '#include "base/err.h"\n'}),
            ["stand alone"])
    t.found("files that include each other in a circle", tap.found_in(
        lambda top: circle_findings(top, "src"), {
            "src/base/a.c": '#include "base/a.h"\n#include "base/b.h"\n', "src/base/a.h": "",
            "src/base/b.c": '#include "base/b.h"\n#include "c.h"\n', "src/base/b.h": "",
            "src/base/c.h": '#include "base/a.h"\n',
            "src/base/d.c": '#include "base/a.h"\n#include "base/e.h"\n', "src/base/e.h": ""}),
        ["circle: base/a, base/b, base/c"])
    t.found("a circle through what is private to a file", tap.found_in(
        lambda top: circle_findings(top, "src"), {
            "src/base/a.c": '#include "base/a.h"\n#include "base/a_private.h"\n',
            "src/base/a.h": "", "src/base/a_private.h": '#include "base/a.h"\n#include "base/b.h"\n',
            "src/base/b.c": '#include "base/b.h"\n#include "base/a_private.h"\n',
            "src/base/b.h": "",
            "src/base/c.c": '#include "base/a_private.h"\n'}),
        ["circle: base/a, base/b"])
    t.found("no harm in files that include each other downwards", tap.found_in(
        lambda top: circle_findings(top, "runtime"), {
            "runtime/a.c": '#include "a.h"\n#include "b.h"\n', "runtime/a.h": '#include "c.h"\n',
            "runtime/b.c": '#include "b.h"\n#include "c.h"\n', "runtime/b.h": "",
            "runtime/c.h": ""}), [])
    t.found("versions of GCC that are told apart by their number", tap.found_in(version_findings, {
        "src/coverage/a.c": "if (n->origin.number >= 1100)\nif (r->version < 800 && x)\n",
        "src/gnu/b.c": "if (options.version || number == 1000)\n",
        "src/objfile/c.c": "if (version >= 1200)\n"}), ["a.c:1", "a.c:2"])
    t.found("a source that includes its own header late", tap.found_in(own_header_findings, {
        "src/base/a.c": '#include <stdio.h>\n#include "base/a.h"\n', "src/base/a.h": ""}),
        ["own header"])


def main():
    t = tap.Tap()
    self_test(t)
    for room in ROOMS:
        if (tap.ROOT / "src" / room).is_dir():
            t.clean(f"src/{room} includes what the table allows", room_findings(tap.ROOT, room))
    t.clean("src has the rooms of the table", unknown_rooms(tap.ROOT))
    t.clean("runtime shares nothing with src", runtime_findings(tap.ROOT))
    t.clean("no files of runtime include each other in a circle",
            circle_findings(tap.ROOT, "runtime"))
    t.clean("versions of GCC are told apart in their table alone", version_findings(tap.ROOT))
    t.clean("public headers stand alone", public_findings(tap.ROOT))
    t.clean("no files of src include each other in a circle", circle_findings(tap.ROOT, "src"))
    t.clean("sources include their own header first", own_header_findings(tap.ROOT))
    t.end()


main()
