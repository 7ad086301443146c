"""parts.py: which cases of a script ./test.sh runs, and which it leaves to .ci/run.

MONARC_PART says it: `quick` is all but what is marked as slow, `slow` is that alone; where it is not
set, as when a script is started by hand, both. A case is in one of the two parts, never in neither;
one that tries hundreds of inputs may be in both, with some inputs in each.
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


def in_both(test):
    """Marks a test of which each part has some of the inputs: those that share() gives it."""
    test.is_in_both = True
    return test


def share(inputs, one_of):
    """Of the inputs of a test in_both: one of so many in the quick part, the first among them, the others in the slow one."""
    return [thing for i, thing in enumerate(inputs) if is_wanted(i % one_of)]


def is_slow(test):
    method = getattr(test, test._testMethodName, None)
    return bool(getattr(method, "is_slow", False) or vars(type(test)).get("is_slow", False))


def load_tests(loader, tests, pattern):
    """For a module that imports it: unittest asks this for the cases."""
    chosen = unittest.TestSuite()
    for of_class in tests:
        wanted = [test for test in of_class if is_wanted(is_slow(test)) or
                  hasattr(getattr(test, test._testMethodName, None), "is_in_both")]
        if wanted:
            chosen.addTest(unittest.TestSuite(wanted))
    return chosen
