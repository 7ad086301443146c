#!/usr/bin/env python3
"""text.py: the text of the tree names no machine: no folder of somebody's home, no host but those
that readers are meant to visit, and in the program's C no type that only machines of 64 bits have.

It reads every text file below 1 MB outside of build folders and refuses to ask git which files
count: what lies in the tree is checked before it is committed.
"""

import re
import sys

import tap

sys.path.append(str(tap.ROOT / "tools"))
import texts as readable  # noqa: E402

# Where documents and specifications live. A package registry is nothing to cite.
HOSTS = {
    "example.com", "www.w3.org", "www.gnu.org", "gcc.gnu.org", "sourceware.org", "dwarfstd.org",
    "llvm.org", "clang.llvm.org", "www.rfc-editor.org", "json-schema.org", "man7.org",
    "refspecs.linuxfoundation.org", "profiler.firefox.com", "www.speedscope.app", "perfetto.dev",
    "graphviz.org", "github.com", "cobertura.sourceforge.net", "www.debian.org", "deb.debian.org",
}

HOME = re.compile(r"(?<![\w.$}/])/(?:home|root|Users|work|workspace|mnt|srv)/[\w.]+")
URL = re.compile(r"\b(?:https?|ftp|git|ssh)://([\w.-]+)")
CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7}) .*")
LINK = re.compile(r"\]\(([^)#\s]+)")
# What no text for users may say: turns of phrase that an editor replaces, and dates of the text's own making.
PHRASES = re.compile(r"\bis told\b|\btold of\b|one behind the other|\bbehind (?:the|it|its|line)\b|\b(?:were|was|been) looked at\b|"
                     r"\bof before\b|two questions|\bgoe?s? together\b|\bgoes with --|\bstands? before\b|\bthere, too\b|"
                     r"as one wants|hangs on\b|November 2026")
WIDE = re.compile(r"(?<!\")\b__u?int128(?:_t)?\b")  # quoted, it is a name
LARGEST = 1 << 20


def texts(top):
    """(path, text) of every text file."""
    for path in sorted(top.rglob("*")):
        if tap.is_built(path, top) or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes() if path.stat().st_size < LARGEST else b"\0"
        if b"\0" not in data:
            yield path.relative_to(top), data.decode("utf-8", "replace")


def matches(top, pattern, is_fine=lambda match: False):
    return [f"{path}:{number}: {match[0]}" for path, text in texts(top)
            for number, line in enumerate(text.splitlines(), 1)
            for match in pattern.finditer(line) if not is_fine(match)]


def homes(top):
    return matches(top, HOME)


def hosts(top):
    return matches(top, URL, lambda match: match[1] in HOSTS)


def untidy(top):
    return [f"{path}: {what}" for path, text in texts(top)
            if path.suffix in (".c", ".h", ".S", ".py", ".sh", ".md", ".build", ".txt")
            for what, wrong in (("carriage returns", "\r" in text),
                                ("no newline at the end", text and not text.endswith("\n")))
            if wrong]


def wide_types(top):
    """In the program; the recorder's own are within what is one machine's alone, and compiled for others by a test."""
    return [found for found in matches(top, WIDE) if found.startswith("src/")]


def bare_skips(top):
    """Of unit tests. SKIPPED() of cases.h says why."""
    return [found for found in matches(top, re.compile(r"\bskip\(\)")) if re.match(r"tests/(?!cases\.h).*\.[ch]:", found)]


def phrases(top):
    return [f"{path}:{line}: {match[0]}" for path, line, text in readable.texts(top)
            for match in [PHRASES.search(text)] if match]


def conflicts(top):
    return matches(top, CONFLICT)


def dead_links(top):
    """Links of documents to files that are not there."""
    found = []
    for path, text in texts(top):
        for target in LINK.findall(text) if path.suffix == ".md" else []:
            if "://" not in target and not (top / path.parent / target).exists():
                found.append(f"{path}: {target}")
    return found


def main():
    t = tap.Tap()
    slash = "/"  # so that this file passes its own check
    t.found("folders of a home", tap.found_in(homes, {
        "docs/a.md": f"see {slash}home/ann/x\nand {slash}root/.profile and a/home/b\n",
        "build-x/b.md": f"{slash}home/ann\n"}), [f"{slash}home/ann", f"{slash}root/.profile"])
    t.found("hosts that are nothing to cite", tap.found_in(hosts, {
        "a.py": f"x = 'https:{slash}/registry.invalid/simple'\n# https:{slash}/www.gnu.org/x\n"}),
        ["registry.invalid"])
    t.found("files that end early", tap.found_in(untidy, {"a.c": "x", "b.c": "x\n", "c.md": "a\r\n"}),
            ["a.c: no newline", "c.md: carriage"])
    t.found("an unresolved merge", tap.found_in(conflicts, {
        "a.c": "<" * 7 + " HEAD\nint a;\n=======\nint b;\n" + ">" * 7 + " main\n"}),
        ["a.c:1", "a.c:5"])
    t.found("a link to nowhere", tap.found_in(dead_links, {
        "docs/a.md": "[b](b.md#x) [c](../c) [d](#here) [e](d.md)\n", "docs/b.md": "", "c/x": ""}),
        ["d.md"])
    t.found("a type that i386 does not have", tap.found_in(wide_types, {
        "src/a.c": "unsigned __int128 x;\n__uint128_t y;\nint __int128s;\nchar *name = \"__int128\";\n", "runtime/a.c": "__int128 x;\n"}),
        ["a.c:1", "a.c:2"])
    t.found("a skip that does not say why", tap.found_in(bare_skips, {
        "tests/a/b.c": "    skip(); /* no perf */\n", "tests/cases.h": "        skip();\n"}), ["b.c:1"])
    t.found("a phrase to replace", tap.found_in(phrases, {
        "src/a.c": 'char *a = "what " /* no text */ "was told of it";\n', "README.md": "It is of before.\n"}),
        ["a.c:1", "README.md:1"])
    t.clean("texts for users are plain English", phrases(tap.ROOT))
    t.clean("unit tests are skipped with a reason", bare_skips(tap.ROOT))
    t.clean("no folder of a home is named", homes(tap.ROOT))
    t.clean("no host is named but those to cite", hosts(tap.ROOT))
    t.clean("no type is one that 32-bit machines lack", wide_types(tap.ROOT))
    t.clean("no merge is unresolved", conflicts(tap.ROOT))
    t.clean("links of documents lead to files", dead_links(tap.ROOT))
    t.clean("text files end with a newline and have no carriage returns", untidy(tap.ROOT))
    t.end()


main()
