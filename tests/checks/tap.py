"""tap.py: what the checks of this folder share: printing TAP, and making small trees to fail on.

A check is a function from the top of a tree to a list of findings, one sentence each. Every script
here shows first that its checks find what is wrong in a tree that was broken on purpose, then
applies them to the real one. It refuses to write anything but temporary files.
"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHOWN = 30


class Tap:
    def __init__(self):
        self.cases = self.failed = 0

    def _line(self, ok, rest):
        self.cases += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.cases} - {rest}", flush=True)

    def clean(self, name, findings):
        """Passes if nothing was found."""
        findings = list(findings)
        for finding in findings[:SHOWN]:
            print(f"# {finding}")
        if len(findings) > SHOWN:
            print(f"# ... {len(findings) - SHOWN} more")
        self._line(not findings, name)

    def found(self, name, findings, expected):
        """Passes if each expected text is in a finding of its own, and there is no other finding."""
        findings = list(findings)
        missing = [text for text in expected if not any(text in line for line in findings)]
        if missing or len(findings) != len(expected):
            print(f"# expected findings with {expected}, got {findings}")
        self._line(not missing and len(findings) == len(expected), f"sees {name}")

    def skip(self, name, reason):
        self._line(True, f"{name} # SKIP {reason}")

    def end(self):
        print(f"1..{self.cases}")
        sys.exit(1 if self.failed else 0)


def tree(files):
    """A temporary tree with these files: path -> text. Keep the object as long as the tree."""
    folder = tempfile.TemporaryDirectory(prefix="monarc-check-")
    for path, text in files.items():
        file = pathlib.Path(folder.name) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def found_in(check, files):
    """What a check finds in a tree of these files."""
    with tree(files) as top:
        return check(pathlib.Path(top))


def is_built(path, top):
    """True for build folders and the like, which are nobody's text, and what others made for tests."""
    if path.relative_to(top).parts[:2] == ("tests", "data"):
        return True
    return any(part.startswith((".git", "build")) and part not in (".gitignore", "build.sh")
               or part == "__pycache__" for part in path.relative_to(top).parts)


def c_files(top, *folders):
    """The .c and .h files below these folders, sorted."""
    return sorted(path for folder in folders for path in (top / folder).rglob("*.[ch]")
                  if not is_built(path, top))
