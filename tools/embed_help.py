#!/usr/bin/env python3
"""embed_help.py: a C file with the texts of assets/help, by the names of their commands.

usage: embed_help.py OUTPUT.c TEXT.txt...

One array: name, NUL, text, NUL, ..., and an empty name at the end. A line `@NAME` stands for the lines of
shared/NAME.txt beside the texts: what several commands have in common is written once. It refuses lines
that are wider than a terminal, since nothing breaks an example later.
"""

import pathlib
import re
import sys

WIDTH = 100


def as_c(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "\n".join(f'    "{line}\\n"' for line in quoted.splitlines())


def main():
    output, *paths = sys.argv[1:]
    parts = []
    for path in map(pathlib.Path, sorted(paths)):
        text = re.sub(r"(?m)^@([\w-]+)\n", lambda name: (path.parent / f"shared/{name[1]}.txt").read_text(),
                      path.read_text())
        head = ("Common:", "Next:")
        if wide := [line for line in text.splitlines()
                    if len(line) > WIDTH and not line.startswith(head)]:
            sys.exit(f"embed_help.py: {path}: too wide: {wide[0]}")
        parts.append(f'    "{path.stem}\\0"\n{as_c(text)}\n    "\\0"')
    body = "\n".join(parts)
    pathlib.Path(output).write_text("/* Made by tools/embed_help.py out of assets/help. */\n"
                                    '#include "command/command.h"\n\n'
                                    f"const char help_texts[] =\n{body};\n")


main()
