#!/usr/bin/env python3
"""scripts.py: shell scripts parse, run under a shell without extensions, and say what they do; names
in Python scripts are defined, in those cases too that only the slow part runs.

What says #!/bin/sh is given to dash. It refuses to run them.
"""

import re
import shutil
import subprocess

import tap

SHEBANG = re.compile(r"^#!\s*/(?:usr/)?bin/(?:env )?(sh|bash|dash)\b")
SOURCED = ("tools/setup.sh",)
SEEDS = "tests/corpus/"  # of fuzz targets: text that only looks like a script


def scripts(top):
    """(path, shell) of every shell script, by its first line."""
    for path in sorted(top.rglob("*")):
        is_data = "corpus" in path.parts
        if path.is_file() and not path.is_symlink() and not is_data and not tap.is_built(path, top):
            match = SHEBANG.match(path.read_bytes()[:80].decode("utf-8", "replace"))
            name = str(path.relative_to(top))
            if (match or name in SOURCED) and not name.startswith(SEEDS):
                yield name, match[1] if match else "sh"


def broken_syntax(top):
    for name, shell in scripts(top):
        program = "bash" if shell == "bash" else shutil.which("dash") or "sh"
        checked = subprocess.run([program, "-n", name], cwd=top, capture_output=True, text=True,
                                 check=False)
        if checked.returncode:
            yield f"{name}: {checked.stderr.strip()}"


def unexplained(top):
    for name, _ in scripts(top):
        lines = (top / name).read_text().splitlines()
        opening = [line for line in lines[:3] if not line.startswith("#!")][:1]
        if not opening or not opening[0].startswith("# "):
            yield f"{name}: no comment says what it does"


def lint(top):
    found = []
    for name, shell in scripts(top):
        dialect = "bash" if shell == "bash" else "dash"
        checked = subprocess.run(["shellcheck", "--severity=warning", "--external-sources",
                                  f"--shell={dialect}", "--format=gcc", name], cwd=top,
                                 capture_output=True, text=True, check=False)
        found += checked.stdout.splitlines()
    return found


def misnamed(top):
    """What pyflakes says of Python scripts, but for imports of which unittest or a table knows."""
    files = [str(path.relative_to(top)) for path in sorted(top.rglob("*.py")) if not tap.is_built(path, top)]
    checked = subprocess.run(["pyflakes3", *files], cwd=top, capture_output=True, text=True, check=False)
    for line in checked.stdout.splitlines():
        path, number = line.split(":")[:2]
        if "'parts.load_tests' imported" in line:
            continue
        if not (" imported but unused" in line and "# noqa: F401" in (top / path).read_text().splitlines()[int(number) - 1]):
            yield line


def main():
    t = tap.Tap()
    t.found("a script that does not parse", tap.found_in(lambda top: list(broken_syntax(top)), {
        "a": "#!/bin/sh\nif true\n", "b.sh": "#!/bin/sh\nx=(1 2)\n", "c": "#!/bin/bash\nx=(1 2)\n"}),
        ["a: ", "b.sh: "])
    t.found("a script without a word", tap.found_in(lambda top: list(unexplained(top)), {
        "a": "#!/bin/sh\necho\n", "b": "#!/bin/sh\n# b: prints.\n"}), ["a: no comment"])
    t.clean("shell scripts parse", broken_syntax(tap.ROOT))
    t.clean("shell scripts say what they do", unexplained(tap.ROOT))
    if shutil.which("shellcheck"):
        t.found("a careless script", tap.found_in(lint, {"a": "#!/bin/sh\n# a\ncd y\n"}),
                ["a:3"])
        t.clean("shellcheck finds nothing", lint(tap.ROOT))
    else:
        t.skip("shellcheck finds nothing", "shellcheck is not installed; .ci/run has it")
    if shutil.which("pyflakes3"):
        t.found("names that are not defined or not used", tap.found_in(lambda top: list(misnamed(top)), {
            "a.py": "import os\nimport re  # noqa: F401\ndef f():\n    return told\n",
            "b.py": "from parts import load_tests, slow\n"}),
            ["a.py:1", "a.py:4", "b.py:1"])
        t.clean("names in Python scripts are defined and used", misnamed(tap.ROOT))
    else:
        t.skip("names in Python scripts are defined and used", "package pyflakes3 is not installed")
    t.end()


main()
