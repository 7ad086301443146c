"""Each program of cases.py once by perf, and some by the other recorders: does the report say what is
so? `run.py --rounds 20` asks all of it, in all builds."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases
import run
import truth
import sequential
from parts import load_tests, slow

# By the other recorders only what each sees in a way of its own.
BY_OTHERS = {
    "user": ("user", "kernel", "asked", "faults", "waits", "paths", "generated-named", "child-fork"),
    "refused": ("kernel",),
    "refused-user": ("user", "kernel", "paths", "unequal", "child-fork"),
}

# What ./test.sh asks. test_calls.py, test_time.py and tests/record have the other recorder there.
QUICK = {"perf": ("unequal",)}


class Shares(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workshop = truth.Workshop()

    def ask(self, name, recorder):
        """Of some 200 figures one or the other is beyond three standard errors by chance, or because
        the machine was busy with something else. What may not be off at all is not asked again."""
        case = cases.BY_NAME[name]

        def once():
            try:
                found = run.ask(self.workshop, case, case.build, truth.RECORDERS[recorder])
            except truth.Unavailable as why:
                self.skipTest(str(why))
            self.assertTrue(found)
            wrong = [f for f in found if not f.is_true]
            self.assertFalse([f for f in wrong if not f.allowed], "\n" + "\n".join(map(str, found)))
            if wrong:
                raise sequential.Outside("\n" + "\n".join(map(str, wrong)))
        sequential.measure(f"{name} by {recorder}", once)


def add_tests():
    """One method a case and recorder, so that each is counted."""
    pairs = [(case.name, "perf") for case in cases.CASES]
    pairs += [(name, recorder) for recorder, names in BY_OTHERS.items() for name in names]
    for name, recorder in pairs:
        def test(self, name=name, recorder=recorder):
            self.ask(name, recorder)
        named = test if name in QUICK.get(recorder, ()) else slow(test)
        setattr(Shares, "test_%s_by_%s" % (name.replace("-", "_"), recorder), named)


class Comparing(unittest.TestCase):
    """The comparison itself: it fails where it must."""

    def test_a_share_that_is_off(self):
        # One of 1,000 samples has a standard error of 1.37 points at 25 %.
        self.assertAlmostEqual(truth.standard_error(0.25, 1000), 0.0137, 4)
        finding = truth.Finding("x", 0.25, 0.30, truth.ERRORS * truth.standard_error(0.25, 1000))
        self.assertFalse(finding.is_true)
        self.assertIn("WRONG", str(finding))
        self.assertTrue(truth.Finding("x", 0.25, 0.29, finding.allowed).is_true)

    def test_nothing_seen_is_no_share_of_one(self):
        self.assertLess(3 * truth.standard_error(1.0, 500), 0.01)
        self.assertLess(3 * truth.standard_error(0.0, 500), 0.01)

    def test_paths(self):
        def row(depth, name, samples):
            return {"depth": depth, "name": name, "total_samples": samples}
        tree = [row(0, "a", 10), row(1, "m(int)", 6), row(2, "a", 4), row(3, "m", 3), row(3, "x", 1),
                row(2, "x", 2), row(1, "n", 4), row(2, "x", 4)]
        self.assertEqual(truth.samples_of_path(tree, ["a", "m", "x"]), 3)
        self.assertEqual(truth.samples_of_path(tree, ["a", "m"]), 6)
        self.assertEqual(truth.samples_of_path(tree, ["a", "x"]), 7)
        self.assertEqual(truth.samples_of_path(tree, ["a", "y"]), 0)

    def test_names(self):
        self.assertEqual(truth.without_parameters("s::w<int, 1>::run(unsigned int)"),
                         "s::w<int, 1>::run")
        self.assertEqual(truth.without_parameters("[no symbol] (libz.so.1)"),
                         "[no symbol] (libz.so.1)")


add_tests()

if __name__ == "__main__":
    unittest.main()
