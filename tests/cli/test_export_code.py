"""monarc export --format callgrind --asm: figures are on the instructions they are made on, and add up to
those without it. And lines of both: none is 0 in a file that has a name."""

import re
import shutil
import subprocess
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

from harness import NM, gmon, main, monarc
from parts import in_both, load_tests, share, slow
from run_file import FILE, KERNEL, PERIOD, Run

TICK = 10**7  # nanoseconds of a sample at 100 a second
TOOLS = all(map(shutil.which, ("gcc", "objdump", "nm", "callgrind_annotate")))

SOURCE = """
static inline __attribute__((always_inline)) int mix(int x)
{
    return x * 1664525 + 1013904223;
}
__attribute__((noinline)) int leaf(int x)
{
    volatile int sum = mix(x);
    return sum + 1;
}
int bare(int x);
__attribute__((noinline)) int twice(int x)
{
    int a = leaf(x) + 1;
    return a + leaf(a) + bare(a);
}
int main(void)
{
    return twice(3) + leaf(5) & 1;
}
"""
BARE = "__attribute__((noinline)) int bare(int x) { volatile int y = x * 3; return y + 1; }\n"


class Program:
    """What nm and objdump say: functions with their ends, instructions, and calls by their address."""

    def __init__(self, path):
        self.path, self.functions, self.calls = path, {}, []
        text = subprocess.run([*NM, "-S", path], capture_output=True, text=True, check=True).stdout
        for start, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", text, re.M):
            self.functions[name] = range(int(start, 16), int(start, 16) + int(size, 16))
        text = subprocess.run(["objdump", "-d", path], capture_output=True, text=True, check=True).stdout
        self.code = {}  # instruction -> its end
        for at, bytes_, what in re.findall(r"^ +(\w+):\t((?:\w\w )+) *\t?(.*)$", text, re.M):
            at, size = int(at, 16), len(bytes_.split())
            if not what:  # the rest of a long one
                at = max(self.code)
                size += self.code[at] - at
            self.code[at] = at + size
            called = re.match(r"call +\w+ <(\w+)>", what)
            if called:
                self.calls.append((at, called.group(1)))

    def starts(self, name):
        return [at for at in self.code if at in self.functions[name]]

    def sites(self, caller, callee):
        return [at for at, name in self.calls if at in self.functions[caller] and name == callee]


class Callgrind:
    """A file by the format's manual: costs by function, address and line, and calls."""

    def __init__(self, text):
        self.text, self.names = text, {}
        self.own, self.calls = [], []  # (function, file, address, line, cost); and callee, count, target
        self.objects = {}
        head, body = text.split("\nevents: Cost\n")
        self.has_code = "\npositions: instr line\n" in head
        place, called = {}, None
        for line in body.splitlines():
            key, equal, value = line.partition("=")
            if line.startswith("totals: "):
                self.total = int(line[8:])
            elif equal and key == "calls":
                count, *position = value.split()
                called = dict(place), int(count), self.position(position)
            elif equal:
                place[key] = self.name(key, value)
                if key == "fn":
                    self.objects[place["fn"]] = place["ob"]
            elif line:
                *position, cost = line.split()
                row = (place["fn"], place["fl"], *self.position(position), int(cost))
                if called:
                    self.calls.append((*row, called[0]["cfn"], called[0]["cfi"], called[1], *called[2]))
                    called = None
                else:
                    self.own.append(row)

    def position(self, words):
        assert len(words) == 1 + self.has_code, words
        return int(words[0], 16) if self.has_code else None, int(words[-1])

    def name(self, key, value):
        number, _, name = re.match(r"\((\d+)\)( (.*))?$", value).groups()
        kind = {"cob": "ob", "cfi": "fl", "cfn": "fn"}.get(key, key)
        return self.names.setdefault((kind, number), name)

    def costs(self):
        found = defaultdict(int)
        for function, _, address, _, cost in self.own:
            found[function, address] += cost
        return {key: cost for key, cost in found.items() if cost}


@unittest.skipUnless(TOOLS, "no gcc, objdump, nm or callgrind_annotate")
class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.dir = Path(scratch.name).resolve()
        (cls.dir / "work.c").write_text(SOURCE)
        (cls.dir / "bare.c").write_text(BARE)
        aligned = "-falign-functions=16"  # no bin is of two functions
        build = [["-c", "-g", "-O1", aligned, "work.c"], ["-c", "-O1", aligned, "bare.c"],
                 ["-no-pie", "-o", "work", "work.o", "bare.o"], ["-pie", "-o", "pie", "work.o", "bare.o"]]
        # Recordings that are made here have no build-ids, and files with one would not be theirs.
        build = [arguments + ["-Wl,--build-id=none"] * ("-o" in arguments) for arguments in build]
        for arguments in build:
            subprocess.run(["gcc", *arguments], cwd=cls.dir, check=True)
        cls.program, cls.pie = Program(cls.dir / "work"), Program(cls.dir / "pie")

    def export(self, *arguments):
        done = monarc("export", "--format", "callgrind", *arguments, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def annotated(self, text, *more):
        """Figures by function, as callgrind_annotate adds them up."""
        (self.dir / "out").write_text(text)
        done = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", *more, self.dir / "out"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return sorted(re.findall(r"^ *([0-9,]+) +(.*?)(?: \[[^[]*\])?$", done.stdout, re.M))

    def flat(self, text):
        (self.dir / "out").write_text(text)
        return monarc("flat", "--csv", "--all", self.dir / "out").stdout

    def check_equal(self, *arguments):
        """Whatever adds up functions finds no difference; addresses are within them."""
        lines, code = self.export(*arguments), self.export("--asm", *arguments)
        for option in "--inclusive=no", "--inclusive=yes":
            self.assertEqual(self.annotated(code, "--auto=no", option), self.annotated(lines, "--auto=no", option))
        self.annotated(code, "--auto=yes")
        found, without = Callgrind(code), Callgrind(lines)
        self.assertEqual(sum(row[4] for row in found.own), found.total)
        self.assertEqual(found.total, without.total)
        self.check_lines(lines)
        self.check_lines(code)
        return found, code, lines

    def check_lines(self, text):
        """The law of lines: 0 where the file is not known, and there alone."""
        found = Callgrind(text)
        places = [(f[1], f[3]) for f in found.own + found.calls] + [(f[6], f[9]) for f in found.calls]
        for file, line in places:
            self.assertEqual(line == 0, file == "???", (file, line))

    def check_within(self, found, program):
        for function, _, address, _, *_ in found.own + found.calls:
            if function in program.functions:
                self.assertIn(address, program.functions[function], function)
                self.assertIn(address, program.code)
        for *_, callee, _, _, target, _ in found.calls:
            if callee in program.functions:
                self.assertEqual(target, program.functions[callee].start)


class Bins(Case):
    """A gmon.out, with samples and calls at addresses that objdump tells."""

    def histogram(self, width):
        """Another number of samples on each instruction, and what each bin's first one gets."""
        ranges = self.program.functions
        low = min(ranges[n].start for n in ("main", "leaf", "twice", "bare")) & -8
        high = max(ranges[n].stop for n in ("main", "leaf", "twice", "bare")) + 7 & -8
        bins, first, wanted = [0] * ((high - low) // width), {}, defaultdict(int)
        for name in "main", "leaf", "twice", "bare":
            for i, at in enumerate(self.program.starts(name)):
                number = (at - low) // width
                bins[number] += i + 3
                wanted[name, first.setdefault(number, at)] += (i + 3) * TICK
        return (low, high, bins), wanted

    def test_without_a_disassembler(self):
        """A library that is loaded late is named where it is missing, and the status says that the file
        has less than was asked for: here files that are none hide it."""
        hidden = self.dir / "hidden"
        hidden.mkdir()
        for version in range(3, 10):
            (hidden / f"libcapstone.so.{version}").write_bytes(b"")
        self.write(8)
        arguments = "export", "--format", "callgrind", "-o", "o", "work", "gmon"
        hide = {"cwd": self.dir, "env": {"LD_LIBRARY_PATH": str(hidden)}}
        done = monarc(*arguments, "--asm", **hide)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), r"^monarc: some instructions could not be told apart: "
                                               r"libcapstone\.so\.\d is not installed\n$")
        found = Callgrind((self.dir / "o").read_text())
        self.assertEqual(sum(row[4] for row in found.own), found.total)
        self.assertEqual(monarc(*arguments, **hide).returncode, 0)

    def arcs(self):
        counts = {}
        for i, (at, callee) in enumerate(self.program.calls):
            caller = [n for n, r in self.program.functions.items() if at in r and n in ("main", "twice")]
            if caller and callee in self.program.functions:
                counts[caller[0], at, callee] = 100 + i
        return counts

    def write(self, width):
        histogram, wanted = self.histogram(width)
        calls = self.arcs()
        arcs = [(self.program.code[at], self.program.functions[callee].start, count)
                for (_, at, callee), count in calls.items()]
        (self.dir / "gmon").write_bytes(gmon([histogram], arcs))
        return wanted, calls

    @in_both
    def test_bins(self):
        for width in share((1, 2, 4), 3):
            wanted, calls = self.write(width)
            found, code, lines = self.check_equal("work", "gmon")
            self.check_within(found, self.program)
            self.assertEqual(self.flat(code), self.flat(lines))
            self.assertEqual(found.objects["main"], str(self.program.path))
            self.assertEqual({(row[0], row[2], row[5]): row[7] for row in found.calls}, calls)
            self.assertEqual(found.costs(), wanted)

    def test_within_an_instruction(self):
        """No instruction begins in the bin: it is on the one that is there."""
        at = next(a for a, end in self.program.code.items() if end - a >= 5 and a in self.program.functions["twice"])
        (self.dir / "gmon").write_bytes(gmon([(at + 2, at + 4, [7])]))
        found, *_ = self.check_equal("work", "gmon")
        self.assertEqual(found.costs(), {("twice", at): 7 * TICK})

    def test_lines(self):
        """Inlined code is where it was inlined; calls are on their own lines."""
        self.write(1)
        found = Callgrind(self.export("--asm", "work", "gmon"))
        source = SOURCE.splitlines()
        by_line = {(row[0], source[row[3] - 1].strip()) for row in found.own if row[0] == "leaf" and row[4]}
        self.assertIn(("leaf", "volatile int sum = mix(x);"), by_line)
        self.assertNotIn(("leaf", "return x * 1664525 + 1013904223;"), by_line)
        for row in found.calls:
            self.assertIn(row[5] + "(", source[row[3] - 1])

    @slow
    def test_selected(self):
        self.write(1)
        for name in "leaf", "twice":
            found, *_ = self.check_equal("--function", f"/^{name}$/", "work", "gmon")
            self.check_within(found, self.program)

    def test_calls_alone(self):
        _, calls = self.write(1)
        arcs = [(self.program.code[at], self.program.functions[callee].start, count)
                for (_, at, callee), count in calls.items()]
        (self.dir / "gmon").write_bytes(gmon([], arcs))
        found = Callgrind(self.export("--asm", "work", "gmon"))
        self.assertEqual({(row[0], row[2], row[5]): row[7] for row in found.calls}, calls)


class Samples(Case):
    """A recording of two objects; the second one is laid out elsewhere than it was linked."""

    def setUp(self):
        run = Run("./work")
        objects = [run.object(FILE, str(p.path), low=0x1000 + (p is self.program) * 0x400000,
                              high=0x2000 + (p is self.program) * 0x400000) for p in (self.program, self.pie)]
        kernel = run.object(KERNEL)
        run.process(7, 1, objects[0], "work")
        run.thread(0, 7, "work", PERIOD)
        self.wanted, self.sites = defaultdict(int), defaultdict(int)
        for number, program in ((0, self.program), (1, self.pie)):
            (first, second), call, = program.sites("twice", "leaf"), program.sites("main", "twice")[0]
            outer = objects[number], call + 1
            for i, at in enumerate(program.starts("leaf")):
                for site, count in ((first, i + 1), (second, 2 * i + 5)):
                    run.sample([outer, (objects[number], site + 1), (objects[number], at)], count)
                    self.wanted["leaf", at] += count * PERIOD
                    self.sites[site] += count * PERIOD
            run.sample([outer, (objects[number], program.starts("twice")[1])], 9)
            self.wanted["twice", program.starts("twice")[1]] += 9 * PERIOD
        run.sample([(objects[0], self.program.starts("main")[2]), (kernel, 0)], 5)
        self.recording = run.write(self.dir / self.id())

    def arguments(self, *options):
        return *options, "--force", self.recording

    def test_native(self):
        found, code, _ = self.check_equal(*self.arguments("--no-inlines"))
        costs = {key: cost for key, cost in found.costs().items() if key[0] in self.program.functions}
        self.assertEqual(costs, self.wanted)
        sites = defaultdict(int)
        for row in found.calls:
            if row[0] == "twice":
                sites[row[2]] += row[4]
        self.assertEqual(sites, self.sites)
        self.assertIn("desc: Calls: those that were seen on stacks and not counted stand as 1 for each instruction", code)

    def test_inlined(self):
        """Inlined functions have the same instructions, by another name."""
        found, *_ = self.check_equal(*self.arguments())
        by_address = defaultdict(int)
        for (name, address), cost in found.costs().items():
            if not name.startswith("[kernel]"):
                by_address[address] += cost
        wanted = defaultdict(int)
        for (_, address), cost in self.wanted.items():
            wanted[address] += cost
        self.assertEqual(by_address, wanted)
        self.assertTrue(any(name == "mix [inlined]" for name, _ in found.costs()))

    def test_recursion(self):
        """A stack counts once: at the call that made the outermost frame of a function."""
        run = Run("./work")
        number = run.object(FILE, str(self.program.path), low=0x401000, high=0x402000)
        run.process(7, 1, number, "work")
        run.thread(0, 7, "work", PERIOD)
        first, second = self.program.sites("twice", "leaf")
        at = self.program.starts("leaf")[0]
        run.sample([(number, first + 1), (number, at)], 3)
        run.sample([(number, first + 1), (number, at), (number, second + 1), (number, at)], 5)
        run.write(self.dir / "recursion")
        found, *_ = self.check_equal("--no-inlines", "--force", "recursion")
        self.assertEqual({row[2]: row[4] for row in found.calls}, {first: 8 * PERIOD})

    @in_both
    def test_model_and_parts(self):
        for options in share((["--model"], ["--function", "leaf"], ["--function", "/mix/"], ["--program", "work"]), 3):
            self.check_equal(*self.arguments(*options))

    def test_read_back(self):
        """Figures alone: uncounted calls stand as 1 for each instruction."""
        _, code, lines = self.check_equal(*self.arguments())
        rows = [[line.split(b",")[:9] for line in self.flat(text).splitlines()] for text in (code, lines)]
        self.assertEqual(*rows)


class Refusals(unittest.TestCase):
    def test_other_formats(self):
        done = monarc("export", "--format", "pprof", "--asm", "demo", "demo.gmon")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"pprof cannot hold instructions; --asm needs --format callgrind", done.stderr)


if __name__ == "__main__":
    main()
