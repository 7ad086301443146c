#!/usr/bin/env python3
"""format.py: every C and C++ file is as clang-format leaves it.

It refuses to change a file; `ninja -C build clang-format` does that. Without clang-format its cases
are skipped.
"""

import re
import shutil
import subprocess

import tap

FOLDERS = ("src", "runtime", "include", "tests", "bench", "examples")
ERROR = re.compile(r"^(.*?):(\d+):\d+: error: code should be clang-formatted")


def findings(top):
    """The first misformatted line of each file, and how many there are."""
    paths = tap.c_files(top, *FOLDERS) + sorted((top / "examples").rglob("*.cpp"))
    paths = [str(path.relative_to(top)) for path in paths]
    if not paths:
        return []
    checked = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=0", *paths],
                             cwd=top, capture_output=True, text=True, check=False)
    lines = {}
    for match in filter(None, map(ERROR.match, checked.stderr.splitlines())):
        lines.setdefault(match[1], []).append(match[2])
    if checked.returncode and not lines:
        return [f"clang-format failed: {checked.stderr.strip()}"]
    return [f"{path}:{numbers[0]}: {len(numbers)} places are not as clang-format leaves them"
            for path, numbers in sorted(lines.items())]


def main():
    t = tap.Tap()
    if not shutil.which("clang-format"):
        t.skip("C files are formatted", "clang-format is not installed")
        t.end()
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    if " 14." not in version:  # others break lines at other places
        t.skip("C files are formatted", "the files are as clang-format 14 leaves them; here is " + version.strip())
        t.end()
    style = (tap.ROOT / ".clang-format").read_text()
    broken = {".clang-format": style, "src/a.c": "int f(void) {\n  return 1; }\n",
              "src/b.c": "int f(void)\n{\n    return 1;\n}\n"}
    t.found("a misformatted file", tap.found_in(findings, broken), ["src/a.c:1"])
    t.clean("C files are formatted", findings(tap.ROOT))
    t.end()


main()
