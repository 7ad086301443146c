"""sequential.py: decides about figures that scatter: times, samples and shares on a machine that has other work.

A figure has a bound, which is never widened. One measurement may be outside by chance, or because the
machine was busy; so it is measured until that is decided, by a sequential probability ratio test
(Wald, 1945) of "at least two of three measurements of a right program are inside, however busy the
machine is" against "at most one of three of a wrong one is". Each measurement counts one up or down:

    +1    passed. A program that is wrong in w of its measurements gets there with (1 - w) / w; one that always is,
          never. Nearly all right ones are there after one measurement.
    -20   failed. A right one gets there with less than 2^-20, below 10^-6.

So load makes a test slower and hardly ever wrong. What does not scatter (a name, a status, a number of
calls) does not belong here: it fails at once. Each measurement that was outside is printed, also if
the test passes, as `# measured again`, and run_all.py shows it: should that be frequent, it is a finding.

    @sequential.decided
    def test_share(self):
        report = self.record()                       # anew in each measurement
        self.assertIn("main", report)                # fails at once
        sequential.figure(self).assertAlmostEqual(report["main"], 0.5, delta=0.05)

sequential.h is the same for programs in C.
"""

import contextlib
import functools
import sys

PASSED, FAILED = 1, -20


class Outside(AssertionError):
    """A measurement is outside of its bound; says which."""


class Walk:
    """What the measurements of one thing say so far."""

    def __init__(self):
        self.position, self.outside = 0, []

    @property
    def is_decided(self):
        return self.position in (PASSED, FAILED)

    @property
    def has_passed(self):
        return self.position == PASSED

    def count(self, outside):
        """A measurement: what is outside in it, or nothing."""
        self.position += -1 if outside else 1
        if outside:
            self.outside.append(str(outside))

    def __str__(self):
        return f"outside in {len(self.outside)} measurements, at last: {self.outside[-1]}"


@contextlib.contextmanager
def scattering():
    """An assertion that fails in here is about this measurement only."""
    try:
        yield
    except AssertionError as error:
        raise Outside(str(error)) from None


def measure(what, once):
    """Calls `once`, which may raise Outside, until it is decided, and returns what the last call that was
    inside returned. AssertionError says that the thing is wrong."""
    walk, result = Walk(), None
    while not walk.is_decided:
        try:
            result = once()
            walk.count(None)
        except Outside as why:
            walk.count(why)
            print(f"# measured again: {what}: " + " ".join(str(why).split())[:300], file=sys.stderr, flush=True)
    if not walk.has_passed:
        raise AssertionError(f"{what}: {walk}")
    return result


class Figure:
    """The assertions of a case, about this measurement only: figure(self).assertLess(seconds, 2)."""

    def __init__(self, case):
        self.case = case

    def __getattr__(self, name):
        def check(*arguments, **keywords):
            with scattering():
                getattr(self.case, name)(*arguments, **keywords)
        return check


figure = Figure


def decided(test):
    """For a case of unittest, or all those of a class: measures in a case that is set up anew each time. Not for
    what is measured within subTest(), which takes what is outside for an error: see measure()."""
    if isinstance(test, type):
        for name, method in list(vars(test).items()):
            if name.startswith("test_"):
                setattr(test, name, decided(method))
        return test

    @functools.wraps(test)
    def decide(self, *arguments, **keywords):
        is_first = True

        def once():
            nonlocal is_first
            if not is_first:
                self.tearDown()
                self.doCleanups()
                self.setUp()
            is_first = False
            return test(self, *arguments, **keywords)
        return measure(self.id().removeprefix("__main__."), once)
    return decide


def findings(what, once):
    """Of `once`, which returns what is outside in one measurement: that of the last one, if it is wrong, or nothing."""
    last = []

    def measured():
        last[:] = once()
        if last:
            raise Outside("; ".join(last))
    try:
        measure(what, measured)
    except AssertionError:
        return last
    return []
