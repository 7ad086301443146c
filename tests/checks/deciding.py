#!/usr/bin/env python3
"""deciding.py: sequential.py passes what is right, fails what is wrong, as often as it says, and runs a case anew
for each measurement."""

import contextlib
import io
import sys
import unittest

import tap

sys.path.insert(0, str(tap.ROOT / "tests"))
import seeds  # noqa: E402
import sequential  # noqa: E402

ROUNDS = 2000


def decides(is_inside):
    """(whether it passed, after how many measurements)"""
    walk, n = sequential.Walk(), 0
    while not walk.is_decided:
        n += 1
        walk.count(None if is_inside() else "outside")
    return walk.has_passed, n


def chance_to_pass(inside):
    """Of a walk that goes up with this chance (Feller, An Introduction to Probability Theory, XIV.2)."""
    ratio, up, down = (1 - inside) / inside, sequential.PASSED, -sequential.FAILED
    if ratio == 1:
        return down / (up + down)
    return (ratio**down - 1) / (ratio**(up + down) - 1)


def test_rates(t):
    """What it says of its errors, by formula, and the walk by drawing."""
    t.clean("a right program fails with 10^-6 at most", [] if 1 - chance_to_pass(2 / 3) <= 1e-6 else ["more often"])
    t.clean("a program that is wrong two times of three passes by half at most",
            [] if chance_to_pass(1 / 3) <= 0.5 else ["more often"])
    draw = seeds.generator("walks")
    for inside in 0.9, 2 / 3, 1 / 2, 1 / 3, 0.1:
        passed = sum(decides(lambda: draw.random() < inside)[0] for _ in range(ROUNDS))
        expected = chance_to_pass(inside)
        # Chernoff's bound of ROUNDS draws: exceeded by 2 * 10^-9.
        off, allowed = abs(passed / ROUNDS - expected), (10 / ROUNDS) ** 0.5
        t.clean(f"walks with {inside:.2f} inside pass as often as they must", [] if off < allowed else
                [f"{passed} of {ROUNDS}, expected {expected:.3f}"])
    t.clean("what is always inside is measured once", [] if decides(lambda: True) == (True, 1) else ["not"])
    t.clean("what is always outside fails after 20", [] if decides(lambda: False) == (False, 20) else ["not"])


class Cases(unittest.TestCase):
    """Of which each is run alone."""
    figures, events = [], []

    def setUp(self):
        self.events.append("set up")
        self.addCleanup(self.events.append, "clean")

    @sequential.decided
    def test_figure(self):
        with sequential.scattering():
            self.assertLess(self.figures.pop(0), 10)

    @sequential.decided
    def test_fact(self):
        self.assertLess(self.figures.pop(0), 10)


def ran(name, figures):
    """(whether the case passed, how many figures it left, what it said)"""
    Cases.figures, Cases.events[:] = list(figures), []
    result, said = unittest.TestResult(), io.StringIO()
    with contextlib.redirect_stderr(said):
        Cases(name).run(result)
    return result.wasSuccessful(), len(Cases.figures), said.getvalue()


def test_cases(t):
    passed, left, said = ran("test_figure", [11, 5, 3, 2])
    t.clean("a figure that was outside once is measured until more were inside",
            [] if (passed, left) == (True, 1) else [f"{passed} {left}"])
    t.clean("each measurement has a case of its own", [] if Cases.events == 3 * ["set up", "clean"] else Cases.events)
    t.clean("a measurement outside is reported", [] if said.count("# measured again: Cases.test_figure") == 1 else [said])
    passed, left, _ = ran("test_figure", [11] * 30)
    t.clean("a figure that stays outside fails", [] if (passed, left) == (False, 10) else [f"{passed} {left}"])
    passed, left, said = ran("test_fact", [11, 5])
    t.clean("what does not scatter fails at once", [] if (passed, left, said) == (False, 1, "") else [f"{left} {said}"])


def main():
    t = tap.Tap()
    test_rates(t)
    test_cases(t)
    t.end()


main()
