"""parts.py: which cases of a script ./test.sh runs, and which it leaves to .ci/run.

MONARC_PART says it: `quick` is all but what is marked as slow, `slow` is that alone; where it is not
set, as when a script is started by hand, both. A case is in one of the two parts, never in neither.
"""
import os
import unittest

PART = os.environ.get("MONARC_PART", "all")


def is_wanted(is_slow):
    return PART == "all" or (PART == "slow") == bool(is_slow)


def slow(thing):
    """Marks a test, or a class of them (not those derived from it)."""
    thing.is_slow = True
    return thing


def is_slow(test):
    method = getattr(test, test._testMethodName, None)
    return bool(getattr(method, "is_slow", False) or vars(type(test)).get("is_slow", False))


def load_tests(loader, tests, pattern):
    """For a module that imports it: unittest asks this for the cases."""
    chosen = unittest.TestSuite()
    for of_class in tests:
        wanted = [test for test in of_class if is_wanted(is_slow(test))]
        if wanted:
            chosen.addTest(unittest.TestSuite(wanted))
    return chosen
