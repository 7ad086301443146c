"""seeds.py: what a test draws comes from one number, so that a failure can be repeated.

MONARC_SEED says it: run_all.py sets it for each program, and prints it with the command that repeats a
failure. Where it is not set, as when a script is started by hand, one is drawn, printed and put into
the environment, so that what the script starts draws from it as well. Each purpose has a generator
of its own: what one case draws does not depend on which others run.
seeds.h is the same for programs in C, with other numbers.
"""

import os
import random
import sys

VARIABLE = "MONARC_SEED"
LARGEST = 2**64 - 1


def parse(text):
    """The seed in a text; ValueError if there is none."""
    number = int(text)
    if not 0 <= number <= LARGEST:
        raise ValueError(f"a seed is a number from 0 to {LARGEST}, not {text}")
    return number


def draw():
    """A new seed, short enough to be typed."""
    return random.SystemRandom().getrandbits(32)


def seed():
    """This program's seed. The first time, it is printed: to stderr, which nobody reads a report from."""
    text = os.environ.get(VARIABLE)
    number = draw() if text is None else parse(text)
    if not _printed:
        _printed.append(number)
        os.environ[VARIABLE] = str(number)
        print(f"# seed {number}", file=sys.stderr, flush=True)
    return number


def generator(what, of=None):
    """A random.Random of this seed, or of another one, and purpose."""
    return random.Random(f"{seed() if of is None else of} {what}")


_printed = []
