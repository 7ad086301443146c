#!/usr/bin/env python3
"""embed_page.py: puts the HTML report together: a C file with the page's pieces.

usage: embed_page.py OUTPUT.c page.html style.css SCRIPT.js...

The scripts become one, in the order given, inside one function; style and script are named by their
hashes in the page's policy. Nothing is made smaller: what a reader of the page sees is what stands in
assets/page. It refuses a script that could end its own element.
"""

import base64
import hashlib
import pathlib
import sys

MARKS = ["@MORE@", "@TITLE@", "@PLAIN@", "@DATA@", "@BLOCKS@"]


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def script_of(paths):
    parts = [pathlib.Path(path).read_text() for path in paths]
    text = "\n(function () {\n\"use strict\";\n\n" + "\n".join(parts) + "})();\n"
    if "</script" in text or "<!--" in text:
        sys.exit("embed_page.py: a script holds what would end its element")
    return text


def as_c(text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    lines = quoted.split("\n")
    body = [f'    "{line}\\n"' for line in lines[:-1]] + [f'    "{lines[-1]}"']
    return "\n".join(body)


def main():
    output, page, style, *scripts = sys.argv[1:]
    css = "\n" + pathlib.Path(style).read_text()
    script = script_of(scripts)
    html = pathlib.Path(page).read_text()
    html = html.replace("@STYLE_HASH@", digest(css)).replace("@SCRIPT_HASH@", digest(script))
    pieces = []
    for mark in MARKS:
        piece, html = html.split(mark)
        pieces.append(piece)
    pieces.append(html)
    pieces = [piece.replace("@STYLE@", css).replace("@SCRIPT@", script) for piece in pieces]
    text = ["/* Made by tools/embed_page.py out of assets/page. */", '#include "page/page_private.h"', ""]
    text += [f"static const char PIECE_{i}[] =\n{as_c(piece)};\n" for i, piece in enumerate(pieces)]
    text.append("const struct page_shell page_shell[PAGE_PIECES] = {")
    text += [f"    {{PIECE_{i}, sizeof PIECE_{i} - 1}}," for i in range(len(pieces))]
    text.append("};\n")
    pathlib.Path(output).write_text("\n".join(text))


main()
