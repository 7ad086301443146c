#!/usr/bin/env python3
"""design.py: reads the page's style sheet for what docs/page-design.md says of sizes, distances and contrasts."""

import re
import sys

import tap

SIZES = {"small", "code", "text", "head", "lead", "figure"}
# Text, and what it stands on.
PAIRS = [(text, ground) for text in ("ink", "dim", "accent", "missed") for ground in ("paper", "soft")] + [
    ("paper", "accent"), ("hit", "paper"), ("hit", "hit-soft"), ("ink", "heat-soft")] + [
    (text, ground) for text in ("ink", "dim", "accent") for ground in ("hit-soft", "missed-soft", "unknown-soft")]


def luminance(colour):
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """As WCAG 2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def odd_sizes(style):
    """Declarations of text outside large screens and paper whose size is no name of the design's."""
    screen = style[:style.index("@media (min-width: 2600px)")]
    found = []
    for name, value in re.findall(r"[{;\s](font|font-size):\s*([^;}]+)", screen):
        size = re.search(r"var\(--([a-z]+)\)", value)
        if value != "inherit" and not (size and size[1] in SIZES):
            found.append(f"{name}: {value}")
    return found


def odd_distances(style):
    """Margins, paddings and gaps that are none of the design's: 0, auto, a hair of up to 5px, or a step of the scale."""
    found = []
    for name, value in re.findall(r"[{;\s]((?:margin|padding|gap)(?:-[a-z]+)?):\s*([^;}]+)", style):
        if any(not re.fullmatch(r"0|auto|[1-5]px|var\(--s[1-6]\)", part) for part in value.split()):
            found.append(f"{name}: {value}")
    return found


def poor_contrasts(style):
    found = []
    for theme, block in zip(("day", "night"), re.findall(r":root \{(.*?)\n\s*\}", style, re.S)):
        colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", block))
        found += [f"{theme}: --{text} on --{ground}: {contrast(colours[text], colours[ground]):.2f}" for text, ground in PAIRS
                  if text in colours and ground in colours and contrast(colours[text], colours[ground]) < 4.5]
    return found


def main():
    t = tap.Tap()
    style = re.sub(r"/\*.*?\*/", "", (tap.ROOT / "assets/page/style.css").read_text(), flags=re.S)
    design = (tap.ROOT / "docs/page-design.md").read_text()
    t.found("sizes without a name", odd_sizes("a { font-size: 9px; } b { font: inherit; }@media (min-width: 2600px) { }"), ["9px"])
    t.found("distances without a name", odd_distances("a { margin: 0 3rem; padding: var(--s1) 0; }"), ["3rem"])
    t.found("poor contrasts", poor_contrasts(":root {--ink: #777; --paper: #999;\n}"), ["ink on --paper"])
    drawn = re.sub(r"svg\.graph text[^}]*\}", "", style)  # pictures have a scale of their own
    t.clean("sizes of text are the design's", odd_sizes(drawn))
    t.clean("distances are the design's", odd_distances(style))
    t.clean("text has a contrast of 4.5 by day and by night", poor_contrasts(style))
    t.clean("docs/page-design.md names what is there",
            [name for name in set(re.findall(r"--([a-z-]+)`", design)) if f"--{name}:" not in style])
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
