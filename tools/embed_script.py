#!/usr/bin/env python3
"""embed_script.py: a C file with scripts, one after the other, as a text, as they stand in assets.

usage: embed_script.py OUTPUT.c NAME SCRIPT.js...

It refuses a script that could end the CDATA section or the element in which it will stand.
"""

import pathlib
import sys


def as_c(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "\n".join(f'    "{line}\\n"' for line in quoted.rstrip("\n").split("\n"))


def main():
    output, name, *scripts = sys.argv[1:]
    text = "".join(pathlib.Path(script).read_text() for script in scripts)
    if "]]>" in text or "</script" in text:
        sys.exit(f"embed_script.py: {' '.join(scripts)} would end its element")
    pathlib.Path(output).write_text(
        f"/* Made by tools/embed_script.py. */\n"
        f"extern const char {name}[];\nconst char {name}[] =\n{as_c(text)};\n")


main()
