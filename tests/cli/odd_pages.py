"""Programs, profiles and sources that a page must show without harm: for test_html_odd.py, which looks at the data,
and tests/page, which opens them in a browser."""

import os
import subprocess
from pathlib import Path

from harness import NM, gmon

LINES, LONGEST = 500_000, 5_000_000
MARKUP = "<img src=x onerror=\"document.title='broken'\">"

# A function a source. What becomes of the source once it is compiled is in odd_sources().
SOURCES = {
    "gone": "int gone(int x) { return x + 1; }\n",
    "changed": "int changed(int x) { return x + 2; }\n",
    "latin": f"/* Gr\xf6\xdfe {MARKUP} */\nint latin(int x) {{ return x + 3; }}\n",
    "lines": "\n" * (LINES - 1) + "int lines(int x) { return x + 4; }\n",
    "wide": f"int wide(int x) {{ return x + 5; }} /* {'<b>' * (LONGEST // 3)} */\n",
    "binary": "/*\0\1\2\x7f\xff\xfe*/ int binary(int x) { return x + 6; }\n",
}
MAIN = "".join(f"int {name}(int);\n" for name in SOURCES) + "int main(int n, char **v)\n{\n    (void)v;\n    return " + \
    " + ".join(f"{name}(n)" for name in SOURCES) + " == 0;\n}\n"


def compile_all(folder, compiler):
    """`program` out of the sources, and where its functions are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**SOURCES, "main": MAIN}.items():
        Path(folder, f"{name}.c").write_bytes(text.encode("latin-1"))
    subprocess.run([*compiler, "-g", "-O0", "-w", "-o", "program", *[f"{name}.c" for name in [*SOURCES, "main"]]],
                   cwd=folder, check=True)
    said = subprocess.run([*NM, "program"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return {name: int(address, 16) for address, _, name in
            (line.split() for line in said.splitlines() if len(line.split()) == 3)}


def profile_of(at, samples, calls=1):
    """Samples on each function of SOURCES, and calls from main to each."""
    names = [*SOURCES, "main"]
    low = min(at[name] for name in names) & ~15
    bins = [0] * ((max(at[name] for name in names) + 64 - low) // 2)
    for name, count in samples.items():
        bins[(at[name] + 4 - low) // 2] = count
    arcs = [(at["main"] + 20, at[name], calls) for name in SOURCES] if calls else []
    return gmon([(low, low + 2 * len(bins), bins)] if samples is not None else [], arcs)


def odd_sources(folder, compiler):
    """A program with a source of each kind; returns the arguments of `monarc html`."""
    at = compile_all(folder, compiler)
    profile = Path(folder, "odd.gmon")
    profile.write_bytes(profile_of(at, {name: 10 + i for i, name in enumerate(SOURCES)}))
    os.utime(profile, (1_600_000_000, 1_600_000_000))
    for name in [*SOURCES, "main"]:
        if name != "changed":
            os.utime(Path(folder, f"{name}.c"), (1_500_000_000, 1_500_000_000))
    Path(folder, "gone.c").unlink()
    Path(folder, "changed.c").write_text("// another line\n" + SOURCES["changed"])
    return ["--force", "program", "odd.gmon"]


def odd_profiles(folder, compiler):
    """Name -> arguments: profiles in which hardly anything is."""
    at = compile_all(folder, compiler)
    made = {"no samples": profile_of(at, {}), "one sample": profile_of(at, {"wide": 1}, 0)}
    only_arcs = gmon([], [(at["main"] + 20, at[name], 3) for name in SOURCES])
    made["arcs alone"] = only_arcs
    made["nothing at all"] = profile_of(at, {}, 0)
    arguments = {}
    for name, content in made.items():
        file = name.replace(" ", "-") + ".gmon"
        Path(folder, file).write_bytes(content)
        arguments[name] = ["--force", "program", file]
    return arguments
