"""laws.py: the frame of the laws between reports.

A law is a function of one input, named by the sentence in its docstring; an input is made of a kind
and a number, and whoever has both can make it again. A program of laws makes a Table, fills it with
kinds and laws, and calls its main():

    TABLE = laws.Table("recordings", __file__)

    @TABLE.kind
    def threads(subject): ...             # makes the input in subject.folder, with subject.random alone

    @TABLE.law("threads", "series")       # without kinds: of all
    def parts_add_up(subject):
        '''Rows and what is left out are the whole.'''
        subject.equal(sum(rows), whole, "by thread")   # raises Broken; return laws.NOTHING: nothing to judge

    TABLE.expect("parts_add_up", "series", "why the product does not keep it yet", 17, 23)
    TABLE.keep("parts_add_up", "threads", 3, 99)    # inputs of which the law failed once: they run in the slow part

MONARC_PART=quick draws a few inputs from MONARC_SEED, the same number of each kind as far as possible, and asks
each about some of the laws that are of many kinds; slow begins with those that are kept or listed as failing,
draws up to 2,000, other ones each time, and begins none after --seconds. MONARC_INPUTS=2000 makes the slow parts
draw so many together, however long that takes, but for what tests/run_all.py would stop. One line of TAP stands for a
law, and one for an expected failure, which is strict: one of the numbers that it lists has to fail,
and if none does it has to leave the list. A law that fails says which input, what it found, and the
command that repeats it.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/cli"), str(ROOT / "tests/corpus")]
import seeds  # noqa: E402

NOTHING = object()  # what a law returns of an input that says nothing about it
SLOW = 2000
PROGRAMS = 4  # of laws, which share MONARC_INPUTS
PATIENCE = 1400  # seconds; meson.build has a little more
SHOWN = 3  # failures of a law that are printed


class Broken(AssertionError):
    """The law does not hold of this input."""


def monarc_path():
    return os.environ.get("MONARC") or str(ROOT / "build/monarc")


class Subject:
    """An input, and what monarc says of it: each command line is run once, however many laws ask."""

    def __init__(self, kind, number, folder):
        self.kind, self.number, self.folder = kind, number, Path(folder)
        self.random = random.Random(f"{kind}:{number}")
        self.answers = {}

    @property
    def name(self):
        return f"{self.kind}:{self.number}"

    def run(self, *arguments, status=(0,)):
        """Its end; ends with another status break the law that asked."""
        key = tuple(map(str, arguments))
        if key not in self.answers:
            self.answers[key] = subprocess.run(
                [monarc_path(), *key], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=600, env={**os.environ, "LC_ALL": "C", "TZ": "UTC"})
        done = self.answers[key]
        if status and done.returncode not in status:
            raise Broken(f"monarc {' '.join(key)}: status {done.returncode}\n{done.stderr.decode()[:600]}")
        return done

    def text(self, *arguments, **more):
        return self.run(*arguments, **more).stdout.decode("utf-8", "replace")

    def json(self, *arguments, **more):
        return json.loads(self.run(*arguments, "--json", **more).stdout)

    def forget(self):
        """Answers about files that a law has changed."""
        self.answers.clear()

    def equal(self, found, wanted, what):
        """Numbers to the last digit that a sum of floating-point numbers has; all else exactly."""
        different = differences(found, wanted)
        if different:
            raise Broken(f"{what}: " + "; ".join(different[:4]))

    def holds(self, condition, what):
        if not condition:
            raise Broken(what)


def is_near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-12


def differences(found, wanted, where=""):
    """One line for each place in which two values differ: containers are compared item by item."""
    numbers = (int, float)
    if isinstance(found, bool) or isinstance(wanted, bool):
        return [] if found is wanted else [f"{where} {found!r}, not {wanted!r}"]
    if isinstance(found, numbers) and isinstance(wanted, numbers):
        return [] if is_near(found, wanted) else [f"{where} {found!r}, not {wanted!r}"]
    if isinstance(found, dict) and isinstance(wanted, dict):
        return [line for key in sorted({**found, **wanted}, key=str)
                for line in ([f"{where} {key}: only {'found' if key in found else 'expected'}: "
                              f"{found.get(key, wanted.get(key))!r}"]
                             if (key in found) != (key in wanted)
                             else differences(found[key], wanted[key], f"{where} {key}"))]
    if isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)):
        if len(found) != len(wanted):
            return [f"{where} {len(found)} items, not {len(wanted)}: {found!r} {wanted!r}"[:600]]
        return [line for i, pair in enumerate(zip(found, wanted))
                for line in differences(*pair, f"{where}[{i}]")]
    return [] if found == wanted else [f"{where} {found!r}, not {wanted!r}"[:600]]


class Law:
    def __init__(self, function, kinds):
        self.function, self.kinds = function, kinds
        self.name = function.__name__
        self.sentence = " ".join((function.__doc__ or "").split())
        assert self.sentence.endswith("."), f"{self.name}: a law's name is one sentence"
        self.judged, self.broken = 0, []  # inputs; (subject's name, why)

    def is_of(self, kind):
        return not self.kinds or kind in self.kinds


class Table:
    def __init__(self, what, script, inputs=12, share=0.35):
        """The quick part draws so many inputs, and asks each about this share of the laws of many kinds: of another input others."""
        self.what, self.script, self.quick, self.share = what, Path(script), inputs, share
        self.kinds, self.laws, self.expected, self.kept = {}, {}, [], []
        self.lock = threading.Lock()

    def kind(self, function):
        self.kinds[function.__name__] = function
        return function

    def law(self, *kinds):
        def add(function):
            self.laws[function.__name__] = Law(function, kinds)
            return function
        return add

    def expect(self, law, kinds, reason, *numbers):
        """Of each kind that it names, separated by spaces, the first of `numbers` fails, or another of them."""
        for kind in kinds.split():
            self.expected.append((law, kind, reason, numbers))

    def keep(self, law, kind, *numbers):
        self.kept.append((law, kind, numbers))

    def is_expected(self, law, kind):
        return any((law, kind) == entry[:2] for entry in self.expected)

    # What runs.

    def inputs(self, seed, count, has_listed):
        """Those that are listed, then as many drawn ones as `count` says."""
        seen = set()
        listed = [(kind, number) for _, kind, numbers in self.listed() for number in numbers] if has_listed else []
        for one in listed:
            if one not in seen:
                seen.add(one)
                yield one
        draw = random.Random(f"{self.what}:{seed}")
        kinds = list(self.kinds)
        for i in range(count):
            if i % len(kinds) == 0:
                draw.shuffle(kinds)
            yield kinds[i % len(kinds)], draw.getrandbits(32)

    def listed(self):
        """(law, kind, numbers) of inputs that are kept and of those that fail."""
        return self.kept + [(law, kind, numbers) for law, kind, _, numbers in self.expected]

    def chosen(self, seed, kind, number, share):
        """Names of the laws that an input is asked about: of one that is kept for a law, that one; None: all."""
        kept = {law for law, of, numbers in self.listed() if of == kind and number in numbers}
        if kept or share == 1:
            return kept or None
        draw = random.Random(f"{seed}:{kind}:{number}")
        return {law.name for law in self.laws.values() if 0 < len(law.kinds) <= 3 or draw.random() < share}

    def judge(self, kind, number, only=None, keep=None):
        folder = keep or tempfile.mkdtemp(prefix="monarc-laws-")
        try:
            subject = Subject(kind, number, folder)
            self.kinds[kind](subject)
            for law in self.laws.values():
                if law.is_of(kind) and (only is None or law.name in only):
                    why = self.broken(law, subject)
                    with self.lock:
                        law.judged += why is not NOTHING
                        if why and why is not NOTHING:
                            law.broken.append((kind, number, why))
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def broken(law, subject):
        try:
            # A law draws too, the same whatever ran before it.
            subject.random = random.Random(f"{subject.name}:{law.name}")
            return NOTHING if law.function(subject) is NOTHING else None
        except Broken as why:
            return str(why) or "broken"
        except Exception:  # pylint: disable=broad-except
            return traceback.format_exc(limit=-3)

    # What is printed.

    def again(self, kind, number, law):
        return f"{sys.executable} {self.script.resolve().relative_to(ROOT)} --seed {kind}:{number} --law {law.name}"

    def complain(self, law, broken):
        for kind, number, why in broken[:SHOWN]:
            print(f"#   {kind}:{number}: " + why.strip().replace("\n", "\n#     "))
            print(f"#     again: {self.again(kind, number, law)}")
        if len(broken) > SHOWN:
            print(f"#   and of {len(broken) - SHOWN} other inputs: "
                  + " ".join(f"{kind}:{number}" for kind, number, _ in broken[SHOWN:40]))

    def report(self, names, has_listed):
        """Prints TAP of these laws; whether all is as it should be."""
        number, good = 0, True
        for law in map(self.laws.get, names):
            number += 1
            unexpected = [b for b in law.broken if not self.is_expected(law.name, b[0])]
            self.complain(law, unexpected)
            good = good and not unexpected
            name = f"{law.name}: {law.sentence} ({law.judged} inputs)"
            skip = "" if law.judged else " # SKIP none of the inputs drawn has anything of the kind"
            print(f"{'not ' if unexpected else ''}ok {number} - {name}{skip}")
        for name, kind, reason, numbers in self.expected if has_listed else ():
            if name not in names:
                continue
            number += 1
            fails = [b for b in self.laws[name].broken if b[0] == kind and b[1] in numbers]
            if fails:
                print(f"not ok {number} - {name} of {kind} # TODO {reason}")
            else:
                good = False
                print(f"#   it holds of {kind}:{', '.join(map(str, numbers))}: take it from the expected failures")
                print(f"not ok {number} - {name} of {kind} holds: {reason}")
        print(f"1..{number}")
        return good

    def options(self):
        parser = argparse.ArgumentParser(description=f"Laws of {self.what}.")
        parser.add_argument("--seed", metavar="KIND:NUMBER", help="this input alone; with --keep its files stay")
        parser.add_argument("--law", action="append", help="this law alone (may be repeated)")
        parser.add_argument("--kind", help="inputs of this kind alone")
        parser.add_argument("--count", type=int, help="how many inputs to draw")
        parser.add_argument("--seconds", type=float, default=240, help="of the slow part: begin none after them")
        parser.add_argument("--keep", metavar="DIR", help="make the input there")
        parser.add_argument("--list", action="store_true", help="print laws and kinds")
        return parser.parse_args()

    def main(self):
        options = self.options()
        for name in options.law or ():
            if name not in self.laws:
                sys.exit(f"no law {name}; --list")
        if options.list:
            print("kinds:", *self.kinds)
            for law in self.laws.values():
                print(f"{law.name}: {law.sentence}" + (f" [{', '.join(law.kinds)}]" if law.kinds else ""))
            return
        if options.seed:
            sys.exit(self.one(options))
        seed, part = seeds.seed(), os.environ.get("MONARC_PART", "quick")
        is_slow = part == "slow"
        count = options.count if options.count is not None else SLOW if is_slow else self.quick
        if is_slow and os.environ.get("MONARC_INPUTS"):
            count, options.seconds = int(os.environ["MONARC_INPUTS"]) // PROGRAMS, PATIENCE
        ran = self.run(options, seed, count, is_slow)
        good = self.report(options.law or self.laws, is_slow)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = resource.getrusage(resource.RUSAGE_SELF)
        print(f"# {len(self.laws)} laws, {ran} inputs, "
              f"{used.ru_utime + used.ru_stime + own.ru_utime + own.ru_stime:.1f} s of CPU time")
        sys.exit(not good)

    def run(self, options, seed, count, is_slow):
        inputs = [one for one in self.inputs(seed, count, is_slow) if options.kind in (None, one[0])]
        end = time.monotonic() + options.seconds if is_slow else float("inf")

        def work(one):
            if time.monotonic() > end:
                return 0
            self.judge(*one, only=options.law or self.chosen(seed, *one, 1 if is_slow else self.share))
            return 1
        with concurrent.futures.ThreadPoolExecutor(2 if is_slow else 1) as pool:
            ran = sum(pool.map(work, inputs))
        if not is_slow:
            self.ask_all(options, inputs, seed)
        return ran

    def ask_all(self, options, inputs, seed):
        """Laws that the draw gave no input have the first one that fits; if none does, one more is drawn."""
        draw = random.Random(f"{seed}:more")
        for law in map(self.laws.get, options.law or self.laws):
            kinds = [kind for kind in self.kinds if law.is_of(kind) and options.kind in (None, kind)]
            more = [(draw.choice(kinds), draw.getrandbits(32))] if kinds else []
            for kind, number in [one for one in inputs if one[0] in kinds] or more:
                if not law.judged and not law.broken:
                    self.judge(kind, number, {law.name})

    def one(self, options):
        kind, _, number = options.seed.partition(":")
        if kind not in self.kinds or not re.fullmatch(r"\d+", number):
            sys.exit(f"--seed: KIND:NUMBER, where KIND is one of {' '.join(self.kinds)}")
        if options.keep:
            Path(options.keep).mkdir(parents=True, exist_ok=True)
        self.judge(kind, int(number), options.law, options.keep)
        for law in self.laws.values():
            for _, _, why in law.broken:
                print(f"not ok - {law.name}: {law.sentence}\n{why}")
        return any(law.broken for law in self.laws.values())
