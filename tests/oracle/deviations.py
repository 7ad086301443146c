"""deviations.py: where monarc means to differ from GNU gprof, each with a reason and a test.

A row belongs here only if GNU's output rests on memory that it must not read, on an overflow or on
uninitialised bytes; everything else is compared byte for byte. run.py takes a listed case out of
the comparison, fails it unless check accepts what monarc printed, and fails it as well once both
programs agree, for then the row is stale. It runs nothing itself.

The rows mirror docs/compat.md. A case that no group generates can be added to EXTRA; town's
rate0.gmon and last-symbol.gmon wait for that.
"""

import dataclasses
import typing


@dataclasses.dataclass
class Deviation:
    id: str  # short, as in docs/compat.md
    why: str  # one sentence
    case: str  # the case's id
    check: typing.Callable[[bytes, int], str | None]  # stdout, status -> what is wrong, or None


# Fields of cases.Case, for cases that exist for a deviation alone.
EXTRA: list[dict] = []

DEVIATIONS: list[Deviation] = []
