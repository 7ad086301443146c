"""deviations.py: where monarc means to differ from GNU gprof, each with a reason and a test.

A row belongs here only if GNU's output rests on memory that it must not read, on an overflow, on
uninitialised bytes or on a misread number; everything else is compared byte for byte. run.py takes a listed case out of
the comparison, fails it unless check accepts what monarc printed, and fails it as well once both
programs agree, for then the row is stale. It runs nothing itself.

The rows mirror docs/compat.md. A case that no group generates can be added to EXTRA; town's
rate0.gmon and last-symbol.gmon wait for that.
"""

import dataclasses
import re
import typing


@dataclasses.dataclass
class Deviation:
    id: str  # short, as in docs/compat.md
    why: str  # one sentence
    case: str  # the case's id
    check: typing.Callable[[bytes, int], typing.Optional[str]]  # stdout, status -> what is wrong, or None


def lacks_backward_call(out, status):
    """right_step calls the helper before it, which no profile has."""
    if status:
        return f"status {status}"
    entry = re.search(rb"\n\[\d+\] [^\n]* right_step [^\n]*\n(.*?)\n---", out, re.S)
    if not entry or not re.search(rb"(?m)^ .* 0/0 +helper \[", entry[1]):
        return "right_step does not call helper"
    return None


def has_lines(out, status):
    if status:
        return f"status {status}"
    return None if re.search(rb" \(shapes\.cpp:\d+ @ [0-9a-f]+\)\n", out) else "no lines"


def lacks_blocks(out, status):
    """Whether all blocks of the profile are there: more lines than functions were called."""
    lines = re.findall(rb"(?m)^.*:\d+: \(\w+:0x[0-9a-f]+\) \d+ executions$", out)
    return None if status == 0 and len(lines) > 60 else f"status {status}, {len(lines)} counts"


NUMBER = "it turns the number of blocks around twice, so that it reads one of another byte order"
BACKWARD = "it takes the displacement for a number without a sign, so no call leads back"
BACKWARD_PROGRAMS = ("town", "town-i386")

# Fields of cases.Case, for cases that exist for a deviation alone.
EXTRA: list[dict] = [
    {"group": "deviations", "program": program, "argv": ["-b", "-c", "-q", "image", "cycles.gmon"]}
    for program in BACKWARD_PROGRAMS
] + [
    {"group": "deviations", "program": "miscounted", "argv": ["-b", "-l", "image", "real.gmon"]},
    {"group": "deviations", "program": "lines-town-s390x",
     "argv": ["-b", "-l", "-C", "image", "blocks.gmon"]},
]

DEVIATIONS: list[Deviation] = [
    Deviation("backward-calls", BACKWARD, f"deviations/{program}: -b -c -q image cycles.gmon",
              lacks_backward_call)
    for program in BACKWARD_PROGRAMS
] + [
    Deviation("line-miscount", "it finds fewer lines the second time, when it knows more names",
              "deviations/miscounted: -b -l image real.gmon", has_lines)
] + [
    Deviation("block-number", NUMBER,
              "deviations/lines-town-s390x: -b -l -C image blocks.gmon", lacks_blocks)
]
