#!/usr/bin/env python3
"""texts.py: prints every text that a user can see, with its place, for whoever reads them as an editor does.

usage: texts.py [WORD...]     with WORDs, regular expressions, only the texts in which one is found

    src/cli/path.c:107: Estimate how much faster a program gets when some of its functions do

These are the string literals of the program, of the recorders and of the page's scripts that have two words or
more, those that follow each other as one text; the sentences of docs/ and of README.md; and what man/ adds to
the help. tests/checks/text.py has the phrases that none of them may have.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ("src/**/*.c", "src/**/*.h", "runtime/**/*.c", "src/**/*.js", "src/**/*.html", "man/*.in", "man/*.py")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
PIECES = {  # what to pass over first, then literals, with macros like PRIu64 between them
    ".c": re.compile(rf"/\*.*?\*/|//[^\n]*|#include[^\n]*|'(?:[^'\\\n]|\\.)+'|"
                     rf"({LITERAL}(?:\s*\\?\s*(?:PRI\w+\s*)*\\?\s*{LITERAL})*)", re.S),
    ".js": re.compile(rf"/\*.*?\*/|(?<!:)//[^\n]*|({LITERAL}|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)", re.S),
    ".html": re.compile(r"<script>.*?</script>|<style>.*?</style>|(?<=>)([^<>]+)(?=<)", re.S),
}
PIECES[".h"] = PIECES[".c"]
PIECES[".py"] = PIECES[".in"] = re.compile(r"(?m)^(.+)$")
WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? +[A-Za-z(]{2,}")


def of_source(path, text):
    """(line, text) of each literal that has words."""
    for match in PIECES[path.suffix].finditer(text):
        if match[1]:
            whole = "".join(part[1:-1] if part[0] in "\"'`" else f"%{part}" for part in re.findall(
                rf"{LITERAL}|PRI\w+", match[1])) if path.suffix in (".c", ".h") else match[1].strip("\"'`")
            if WORDS.search(whole):
                yield text.count("\n", 0, match.start(1)) + 1, " ".join(whole.replace("\\n", " ").split())


def of_document(text):
    """(line, sentence), without examples."""
    text = re.sub(r"(?ms)^```.*?^```|^    .*?$", lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for match in re.finditer(r"[^.!?|\n][^.!?|]*?(?:[.!?](?=\s|$)|\||\n\n|$)", text):
        if WORDS.search(match[0]):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())


def texts(top=ROOT):
    """(path, line, text) of all."""
    for pattern in SOURCES:
        for path in sorted(top.glob(pattern)):
            for line, text in of_source(path, path.read_text(errors="replace")):
                yield path.relative_to(top), line, text
    for path in [*sorted(top.glob("docs/**/*.md")), top / "README.md"]:
        for line, text in of_document(path.read_text()):
            yield path.relative_to(top), line, text


def main():
    wanted = [re.compile(word) for word in sys.argv[1:]]
    for path, line, text in texts():
        if not wanted or any(word.search(text) for word in wanted):
            print(f"{path}:{line}: {text}")


if __name__ == "__main__":
    main()
