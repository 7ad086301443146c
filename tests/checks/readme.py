#!/usr/bin/env python3
"""readme.py: tests/README.md names what is there, and what it names is there: folders, suites, the
steps of .ci/run; every test file is registered with Meson; and the pages that newcomers read stay short.

Names are what stands in backticks in the first column of the README's table, suites are the words of
the second. It refuses to judge what the sentences say.
"""

import re

import tap

README = "tests/README.md"
ROW = re.compile(r"^\| (`.*`) \| (.*?) \|", re.M)
SUITE = re.compile(r"suite: *(\[.*?\]|'\w+')")
STEPS = re.compile(r"^steps=\$\{\*:-(.*)\}$", re.M)
IGNORED = {"__pycache__"}
LONGEST = {README: 100, "bench/README.md": 150}  # lines


def rows(top):
    """(folders, suites) of each row of the first table."""
    table = (top / README).read_text().partition("\n## ")[0]
    return [(re.findall(r"`([\w/]+)`", folders), set(re.findall(r"\w+", suites)))
            for folders, suites in ROW.findall(table)]


def folders(top):
    named = {name for names, _ in rows(top) for name in names}
    there = {path.name for path in (top / "tests").iterdir() if path.is_dir()} - IGNORED
    return [f"tests/{name} is in no row" for name in sorted(there - named)] + [
        f"there is no tests/{name}" for name in sorted(named - there)]


def mirrors(top):
    """Unit tests stand in a folder named as the room that they are about."""
    findings = []
    for names, suites in rows(top):
        for path in (path for name in names for path in (top / "tests" / name).rglob("test_*.c")
                     if "unit" in suites):
            room = path.parent.relative_to(top / "tests")
            if not any((top / side / room).is_dir() for side in ("src", "runtime")):
                findings.append(f"{path.relative_to(top)} is of no room: there is no src/{room}")
    return sorted(findings)


def suites(top):
    named = set().union(*(suites for _, suites in rows(top)))
    text = "".join(path.read_text() for path in sorted((top / "tests").rglob("meson.build")))
    there = {word for match in SUITE.findall(text) for word in re.findall(r"'(\w+)'", match)}
    explained = set(re.findall(r"`(\w+)`", (top / README).read_text()))
    return [f"suite {name} is not named" for name in sorted(there - named - explained)] + [
        f"there is no suite {name}" for name in sorted(named - there)]


def steps(top):
    text = (top / README).read_text().partition("## .ci/run")[2]
    found = STEPS.search((top / ".ci/run").read_text())
    return [f"step {name} of .ci/run is not named" for name in (found[1] if found else "?").split()
            if f"`{name}`" not in text]


def registered(top):
    """Meson lists the files of a folder there; of scripts often only what follows `test_`."""
    findings = []
    for path in sorted((top / "tests").rglob("test_*")):
        if path.suffix not in (".c", ".py"):
            continue
        listing = path.parent / "meson.build"
        text = listing.read_text() if listing.exists() else ""
        subject = path.stem.removeprefix("test_")
        if f"'{path.name}'" not in text and not (path.suffix == ".py" and f"'{subject}'" in text):
            findings.append(f"{path.relative_to(top)} is not in {listing.relative_to(top)}")
    return findings


def lengths(top):
    there = {page: (top / page).read_text().count("\n") for page in LONGEST if (top / page).exists()}
    return [f"{page} has {lines} lines, {LONGEST[page]} at most" for page, lines in there.items() if lines > LONGEST[page]]


CHECKS = (folders, mirrors, suites, steps, registered, lengths)

GOOD = {README: "| folder | suite | what |\n|---|---|---|\n| `base`, `fuzz` | unit, corpus | x |\n"
                "\n`slow` is left out.\n\n## .ci/run\n\n`tests` and `fuzz`\n",
        ".ci/run": "steps=${*:-tests fuzz}\n", "src/base/a.c": "", "tests/base/test_a.c": "",
        "tests/base/test_b.py": "", "tests/fuzz/meson.build": "suite: ['corpus'] + more",
        "tests/base/meson.build": "files('test_a.c')\nforeach t : ['b']\nsuite: 'unit'\n"}
BROKEN = (
    (folders, {"tests/more/x": ""}, ["tests/more is in no row"]),
    (folders, {README: GOOD[README].replace("fuzz`", "fuzz`, `gone`")}, ["there is no tests/gone"]),
    (mirrors, {"tests/base/deep/test_c.c": ""}, ["there is no src/base/deep"]),
    (suites, {"tests/base/meson.build": GOOD["tests/base/meson.build"] + "suite: ['unit', 'odd']"},
     ["suite odd is not named"]),
    (suites, {"tests/fuzz/meson.build": ""}, ["there is no suite corpus"]),
    (steps, {".ci/run": "steps=${*:-tests fuzz more}\n"}, ["step more"]),
    (lengths, {"bench/README.md": "x\n" * 151}, ["bench/README.md has 151 lines"]),
    (registered, {"tests/base/test_z.c": "", "tests/base/test_y.py": ""}, ["test_y.py", "test_z.c"]),
)


def main():
    t = tap.Tap()
    t.clean("nothing to be found in a tree that is right",
            [line for check in CHECKS for line in tap.found_in(check, GOOD)])
    for check, files, expected in BROKEN:
        t.found(expected[0], tap.found_in(check, {**GOOD, **files}), expected)
    for check in CHECKS:
        t.clean(f"tests/README.md: {check.__name__}", check(tap.ROOT))
    t.end()


if __name__ == "__main__":
    main()
