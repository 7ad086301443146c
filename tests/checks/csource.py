"""csource.py: as much of C as the checks need: comments and texts told from code, functions with
their lengths and depth, and how often each name is mentioned.

It relies on clang-format, which the check `format` holds: a function's braces stand in column one,
and a statement's indentation is its depth. It refuses to preprocess: both sides of an #if count.
"""

import collections
import functools
import re

TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
                     |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
                     |(?P<word>[A-Za-z_]\w*)
                     |(?P<other>.)""", re.S | re.X)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)\s*(?=\w)|^(?:[A-Z_]+\([^()]*\)|[A-Z_]{4,})\s+", re.S | re.M)
HEADING = re.compile(r"(\w+)\s*\(")
CONTROL = re.compile(r"(?:\} )?(?:if|else|for|while|do|switch)\b")
INDENT = 4

Function = collections.namedtuple("Function", "name line lines depth is_static calls")


class Source:
    """One file: `lines`, `comment_lines` (how many hold nothing but comment), `functions`."""

    def __init__(self, text):
        self.lines = text.splitlines()
        code, is_code, words = [], set(), []
        line = 0
        for match in TOKEN.finditer(text):
            token = match[0]
            if match["comment"]:
                code.append("\n" * token.count("\n") or " ")
            else:
                code.append('""' if match["text"] else token)
                if not token.isspace():
                    is_code.add(line)
                if match["word"]:
                    words.append((token, match.end()))
            line += token.count("\n")
        self.comment_lines = sum(1 for number, text_line in enumerate(self.lines)
                                 if text_line.strip() and number not in is_code)
        self.code = "".join(code)
        self.mentions = collections.Counter(word for word, _ in words)
        self.calls = collections.Counter(
            word for word, end in words if text[end:end + 1] == "(")
        self.functions = list(self._functions())

    def _functions(self):
        lines, opened = self.code.split("\n"), None
        for number, line in enumerate(lines):
            if line == "{":
                opened = number
            elif line.startswith("}") and opened is not None:
                heading, first = self._heading(lines, opened)
                found = HEADING.search(ATTRIBUTE.sub("", heading))
                if found:
                    yield Function(found[1], first + 1, number - first + 1,
                                   depth_of(lines[opened + 1:number]),
                                   bool(re.search(r"\bstatic\b", heading)), self.calls[found[1]])
                opened = None

    @staticmethod
    def _heading(lines, brace):
        """The lines from a function's type to its brace, and the number of the first."""
        start = brace
        while start and lines[start - 1].strip() and not lines[start - 1].startswith(("}", "#")) \
                and not lines[start - 1].rstrip().endswith(";"):
            start -= 1
        return "\n".join(lines[start:brace]), start

    def called_once(self, function):
        """Whether a static function has one mention besides its heading, and that is a call."""
        name = function.name
        return function.is_static and self.mentions[name] == 2 and self.calls[name] == 2


def depth_of(body):
    """How many statements stand around the innermost of these lines."""
    deepest, is_start, is_control, parens = 0, True, False, 0
    for line in body:
        text = line.strip()
        if not text or line.startswith("#"):
            continue
        if is_start:
            is_control = bool(CONTROL.match(text))
            if not text.startswith("}"):
                deepest = max(deepest, (len(line) - len(line.lstrip())) // INDENT - 1)
        parens += text.count("(") - text.count(")")
        is_start = parens == 0 and (text.endswith((";", "}", ":", ") {", "else {", "do {"))
                                    or is_control and text.endswith((")", "else", "do")))
    return deepest


@functools.lru_cache(maxsize=None)
def read(path):
    return Source(path.read_text(errors="replace"))
