"""made.py: recordings that are made up, with what is true of them.

A World is drawn from a Random: objects with functions (some of one name, some inlined, some with lines),
processes that fork, threads of which some share a name, stacks with recursion, samples of several events.
It writes recordings of all of its samples or of some, and says what reports have to find: `samples` have
a chain of places from the outermost to the innermost function, each (function's key, file, line), where a
key is (object, function): two functions of one name have two keys.
"""

import collections
import dataclasses
import hashlib

from make import leb, run_list, signed
from run_file import CUT, FAULT, FILE, KERNEL, PERIOD, Run, WAIT

READY_WAIT, STOPPED_WAIT = 2**32, 2**32 + 3  # could run, but no CPU was free; a signal stopped it
SLICE = 10**7
UNIT_NS, UNIT_COUNT, UNIT_BYTES = range(3)
PHASE, BEGINS, ENDS = range(3)
FUTEX, READ, NANOSLEEP = 202, 0, 35
# (kind, address, name): two locks in one array, two static ones, two files of one name in two folders.
RESOURCES = [(1, 0x405000, "locks"), (1, 0x405028, "locks"), (1, 0x406040, "lock"), (1, 0x4060c0, "lock"),
             (1, 0x407000, "g_cache"), (6, 9, "/data/log"), (6, 9, "/other/log")]
LOCKS, FILES = range(5), range(5, 7)
NAMES = ["work", "step", "parse", "emit", "hash", "leaf", "visit", "main_loop", "_ZN3box4openEi", "_Z4sortIiEvPT_"]
PLACE = 8  # bytes of code of one line


@dataclasses.dataclass
class Function:
    name: str
    start: int
    size: int
    file: str
    line: int
    is_local: bool = False
    inlined: "list" = dataclasses.field(default_factory=list)  # Scope of each place
    unit: int = 0


@dataclasses.dataclass
class Scope:
    """A function in one place of inlining; without a parent: the function itself."""
    function: str
    file: str
    line: int
    parent: "Scope | None" = None
    call_line: int = 0


@dataclasses.dataclass
class Object:
    path: str
    build_id: bytes
    functions: "list"
    has_lines: bool
    number: int = 0


@dataclasses.dataclass
class Sample:
    thread: int
    slice: int
    event: int
    count: int
    weight: int
    stack: tuple  # frames, outermost first: (object, address); objects are numbers of the recording
    labels: tuple = ()
    resource: "int | None" = None  # of World.resources, that it waited for, `waits` times
    waits: int = 0


class Labelled(Run):
    """A Run with labels: sets of (key, value), and for each sample the number of its set from 1, or 0."""

    def __init__(self, *command, **facts):
        super().__init__(*command, **facts)
        self.sets, self.set_of = [], []

    def put_times(self):
        yield from super().put_times()
        if not self.sets:
            return
        yield run_list(42, *(leb(len(one)) + b"".join(self.text(t) for pair in one for t in pair) + leb(0)
                             for one in self.sets))
        stretches, passed = [], 0
        for number in self.set_of:
            if number:
                stretches.append(leb(passed, 1, number))
                passed = 0
            else:
                passed += 1
        yield run_list(43, *stretches)


class World:
    def __init__(self, random, folder, inlines=False, twins=False, processes=1, threads=2, events=1, slices=40,
                 labels=False, phases=False, waits=False, losses=False, build_ids=True, samples=60):
        self.random, self.folder = random, folder
        self.inlines, self.twins, self.build_ids = inlines, twins, build_ids
        self.slices = slices
        self.objects = []
        self.has_kernel, self.has_waits, self.has_cuts = random.random() < .4, waits, losses
        for number in range(2 if twins else random.randint(1, 3)):
            self.objects.append(self.make_object(number))
        self.processes, self.threads = [], []
        self.make_processes(processes, threads)
        self.events = [("cpu", UNIT_NS, PERIOD, 0)]
        for name in random.sample(["cycles", "cache-misses/period=100,name=x/", "page-faults", "wall"], events - 1):
            self.events.append((name, UNIT_NS, PERIOD, 0) if name == "wall" else (name, UNIT_COUNT, 100, 0))
        self.marks = self.make_marks() if phases else []
        self.label_values = ["alpha", "be,ta", "=gamma"] if labels else []
        self.losses = self.make_losses() if losses else []
        self.samples = self.make_samples(samples)

    # What the program is.

    def make_object(self, number):
        random = self.random
        base = "prog" if number == 0 else "libsame.so" if self.twins else f"lib{number}.so"
        path = f"{self.folder}/{number}/{base}"
        functions, at, used = [], 0x1000, set()
        has_lines = self.inlines or random.random() < .5
        for i in range(random.randint(3, 7)):
            name = "main" if number == 0 and i == 0 else random.choice(NAMES)
            if name in used and not self.twins:
                continue
            size = PLACE * random.randint(2, 6)
            file = f"{self.folder}/src{number}/{random.choice('ab')}.c"
            is_local = name in used or random.random() < .3
            one = Function(name, at, size, file, 10 + 20 * i, is_local, unit=1 if file[-3] == "a" else 2)
            one.inlined = self.make_scopes(one)
            functions.append(one)
            used.add(name)
            at += size + PLACE * random.randint(0, 2)
        identity = hashlib.sha1(f"{random.random()}".encode()).digest() if self.build_ids else b""
        return Object(path, identity, functions, has_lines, number)

    def make_scopes(self, function):
        """The scope of each place of the code."""
        random = self.random
        own = Scope(function.name, function.file, function.line)
        scopes = [own]
        if self.inlines and random.random() < .7:
            header = f"{self.folder}/src/h.h"
            for i in range(random.randint(1, 3)):
                name = random.choice([f"inlined_{i}", "leaf", "tiny"])
                scopes.append(Scope(name, header, 100 + 10 * i, random.choice(scopes), function.line + 1 + i))
        return [(random.choice(scopes) if i else random.choice(scopes[:1] + scopes[-1:]), i)
                for i in range(function.size // PLACE)]

    def make_processes(self, processes, threads):
        random = self.random
        for i in range(processes):
            parent = random.randrange(i) if i else None
            self.processes.append(dict(pid=100 + 7 * i, parent=1 if parent is None else 100 + 7 * parent,
                                       name=random.choice(["prog", f"child{i}"]) if i else "prog"))
            for j in range(random.randint(1, threads)):
                name = "prog" if j == 0 else random.choice(["worker", f"w{j}"])
                self.threads.append((i, 100 + 7 * i + j, name))

    def make_marks(self):
        """Phases one after the other, regions that nest in themselves and in others, at ends of slices."""
        random, marks = self.random, []
        for at in sorted(random.sample(range(1, self.slices), random.randint(1, 3))):
            marks.append((at * SLICE, PHASE, 0, self.threads[0][1], random.choice(["load", "store"])))
        for process, tid, _ in self.threads[:2]:
            at, open_regions = 0, []
            for _ in range(random.randint(1, 3) * 2):
                at += random.randint(1, 5)
                if open_regions and random.random() < .5:
                    marks.append((at * SLICE, ENDS, process, tid, open_regions.pop()))
                else:
                    open_regions.append(random.choice(["parse", "solve"]))
                    marks.append((at * SLICE, BEGINS, process, tid, open_regions[-1]))
            while open_regions:
                at += random.randint(1, 5)
                marks.append((at * SLICE, ENDS, process, tid, open_regions.pop()))
        return sorted(marks, key=lambda m: m[0])

    def make_losses(self):
        kinds = [(0, 17, 0, "the kernel's buffer was full"), (2, 3, 5 * PERIOD, "no sample says where"),
                 (4, 1, 7 * PERIOD, "processes that were not recorded")]
        return self.random.sample(kinds, self.random.randint(1, 3))

    # What was measured.

    def frame(self, number=None):
        random = self.random
        one = self.objects[random.randrange(len(self.objects)) if number is None else number]
        function = random.choice(one.functions)
        return one.number, function.start + PLACE * random.randrange(function.size // PLACE) + random.randrange(PLACE)

    def make_stacks(self):
        """From main() outwards in; some recurse, some end in the kernel or in a wait, some are cut."""
        random, stacks = self.random, []
        for _ in range(random.randint(4, 10)):
            main = self.objects[0].functions[0]
            frames = [(0, main.start + random.randrange(main.size))]
            frames += [self.frame() for _ in range(random.randint(0, 4))]
            if random.random() < .3:
                frames += frames[-1:] * random.randint(1, 3)
            if self.has_kernel and random.random() < .3:
                frames.append(("kernel", random.choice([0, 1, FAULT])))
            if self.has_waits and random.random() < .4:
                no_call = STOPPED_WAIT if len(stacks) % 2 else READY_WAIT
                frames.append(("wait", random.choice([FUTEX, READ, NANOSLEEP, no_call])))
            if self.has_cuts and random.random() < .4:
                frames = [("cut", random.randrange(5))] + (frames[1:] or frames)
            stacks.append(tuple(frames))
        return stacks

    def make_samples(self, count):
        random, samples = self.random, []
        stacks = self.make_stacks()
        for _ in range(random.randint(count // 2, count)):
            event = random.choices(range(len(self.events)), [3] + [1] * (len(self.events) - 1))[0]
            times, period = random.choice([1, 1, 1, 2, 5]), self.events[event][2]
            weight = times * period + (random.randrange(period) if random.random() < .2 else 0)
            labels = tuple((key, random.choice(self.label_values)) for key in ("load", "user")
                           if self.label_values and random.random() < .6)
            one = Sample(random.randrange(len(self.threads)), random.randrange(self.slices), event,
                         times, weight, random.choice(stacks), labels)
            if one.stack[-1] in (("wait", FUTEX), ("wait", READ)) and random.random() < .8:
                one.resource = random.choice(LOCKS if one.stack[-1][1] == FUTEX else FILES)
                one.waits = random.randint(1, times)
            samples.append(one)
        return sorted(samples, key=lambda s: (s.slice, s.thread, s.event))

    # What is true.

    def chain(self, frame):
        """Functions of a frame, outermost first: (key, name, file, line)."""
        number, address = frame
        if isinstance(number, str):
            return [((number, address), f"[{number}]", None, 0)]
        for index, one in enumerate(self.objects[number].functions):
            if one.start <= address < one.start + one.size:
                break
        else:
            return [((number, None), None, None, 0)]
        has_lines = self.objects[number].has_lines
        scope, place = one.inlined[(address - one.start) // PLACE]
        if not has_lines:
            return [((number, index), one.name, None, 0)]
        chain, line = [], scope.line + place
        while scope:
            key = (number, index) if not scope.parent else (number, "inlined", scope.function)
            chain.insert(0, (key, scope.function, scope.file, line))
            line, scope = scope.call_line, scope.parent
        return chain

    def of_event(self, event=0, samples=None):
        return [s for s in (self.samples if samples is None else samples) if s.event == event]

    def weight(self, samples, event=0):
        """In the unit of reports: samples of the event's period."""
        return sum(s.weight for s in samples) / self.events[event][2]

    def own(self, samples):
        """(name, weight) of each function that has samples of its own, sorted: functions of one name stand each
        for itself. What is no function, as code of the kernel, is one row without a name."""
        sums, names = collections.Counter(), {}
        for s in samples:
            key, name, _, _ = self.chain(s.stack[-1])[-1]
            key = "" if name.startswith("[") else key
            sums[key] += s.weight
            names[key] = "" if key == "" else name
        return sorted([names[key], weight / PERIOD] for key, weight in sums.items() if weight)

    def with_callees(self, samples):
        """The same of samples in whose stack a function is, functions alone."""
        sums, names = collections.Counter(), {}
        for s in samples:
            for key, name in {(key, name) for frame in s.stack for key, name, _, _ in self.chain(frame)}:
                sums[key] += s.weight
                names[key] = name
        return sorted([names[key], weight / PERIOD] for key, weight in sums.items()
                      if weight and not names[key].startswith("["))

    def own_lines(self, samples):
        """(file, line, weight), sorted; (None, 0) for what has no line."""
        sums = collections.Counter()
        for s in samples:
            sums[self.chain(s.stack[-1])[-1][2:]] += s.weight
        return sorted([file or "", line, weight / PERIOD] for (file, line), weight in sums.items() if weight)

    def line_totals(self, samples):
        """(function's name, file, line, weight) of what has the line on its stack, each sample once; (.., "", 0) for code
        without a line."""
        sums, names = collections.Counter(), {}
        for s in samples:
            for key, name, file, line in {place for frame in s.stack for place in self.chain(frame)}:
                own = (key[0], name, file, line) if file else (key, file, line)
                names[own] = name
                sums[own] += s.weight
        return sorted([names[own], own[-2] or "", own[-1], weight / PERIOD] for own, weight in sums.items()
                      if weight and names[own] and not names[own].startswith("["))

    # What is written.

    def excerpt(self, one):
        texts = {}

        def text(words):
            return leb(texts.setdefault(words, len(texts) + 1)) if words is not None else leb(0)
        named = collections.Counter(f.name for f in one.functions)
        functions, end, before = [], 0, 0
        for i, f in enumerate(one.functions):
            bits = f.is_local | 4 * (named[f.name] > 1) | 16
            functions.append(leb(f.start - end, f.size - 1) + text(f.name) + leb(signed(i + 1 - before), bits, f.unit))
            end, before = f.start + f.size, i + 1
        numbers, scopes, places, at, old = {}, [], [], 0, [0, None, 0]

        def number(scope):
            key = id(scope)
            if key not in numbers:
                parent = number(scope.parent) if scope.parent else 0
                numbers[key] = len(numbers) + 1
                own = numbers[key]
                scopes.append(text(scope.function) + leb(own - parent if parent else 0)
                              + (text(scope.parent.file) + leb(scope.call_line) if parent else b""))
            return numbers[key]
        for f in one.functions:
            for i, (scope, place) in enumerate(f.inlined):
                start, mine, line = f.start + PLACE * i, number(scope), scope.line + place
                data = (leb(PLACE << 3 | (start != at) | (mine != old[0]) << 1 | (scope.file != old[1]) << 2)
                        + (leb(start - at) if start != at else b"")
                        + (leb(signed(mine - old[0])) if mine != old[0] else b"")
                        + (text(scope.file) if scope.file != old[1] else b"") + leb(signed(line - old[2])))
                places.append(data)
                at, old = start + PLACE, [mine, scope.file, line]
        listed = sorted(texts, key=texts.get)
        return (leb(1, 62, 0, 3, 1 | 4 | 16, 1, 12345, signed(1790000000), 0, 0)
                + leb(len(listed)) + b"".join(leb(len(t.encode())) + t.encode() for t in listed)
                + leb(len(functions)) + b"".join(functions) + leb(len(scopes)) + b"".join(scopes)
                + leb(len(places)) + b"".join(places))

    def recording(self, samples=None, without=(), **facts):
        """A Run of these samples, or of all; it knows nothing of the objects `without`."""
        samples = self.samples if samples is None else samples
        cpu = sum(s.weight for s in samples if s.event == 0 and self.is_busy(s))
        taken = sum(s.count for s in samples)
        whole = sum(s.count for s in samples if s.stack[0][0] != "cut")
        run = Labelled("prog", "a b", **dict(dict(stacks=taken, whole=whole, user=cpu, slice=SLICE,
                                                  length=self.slices * SLICE) | facts))
        run.events = list(self.events)
        numbers = {}
        for one in self.objects:
            numbers[one.number] = run.object(FILE, one.path, one.build_id, high=0x100000, bits=2 | 8 | 4 * (not one.has_lines and one.number not in without))
            if one.number in without:
                continue
            if one.has_lines:
                run.excerpts.append((numbers[one.number], self.excerpt(one)))
            else:
                run.symbols += [(numbers[one.number], f.start, f.size, f.name) for f in one.functions]
        for name, kind in ("kernel", KERNEL), ("wait", WAIT), ("cut", CUT):
            if any(frame[0] == name for s in samples for frame in s.stack):
                numbers[name] = run.object(kind)
        for i, p in enumerate(self.processes):
            used = sum(s.weight for s in samples
                       if s.event == 0 and self.threads[s.thread][0] == i and self.is_busy(s))
            run.process(p["pid"], p["parent"], numbers[0], p["name"], user=used, status=0, end=self.slices * SLICE)
        for i, (process, tid, name) in enumerate(self.threads):
            used = sum(s.weight for s in samples if s.event == 0 and s.thread == i and self.is_busy(s))
            run.thread(process, tid, name, used, end=self.slices * SLICE)
        run.marks, run.losses = list(self.marks), list(self.losses)
        sets = sorted({s.labels for s in samples} - {()})
        run.sets = sets
        for s in samples:
            run.sample([(numbers[number], address) for number, address in s.stack], s.count, s.thread, s.slice,
                       s.event, s.weight)
            run.set_of.append(sets.index(s.labels) + 1 if s.labels else 0)
        self.put_waits(run, numbers, samples)
        return run

    def put_waits(self, run, numbers, samples):
        """What was waited for, and bytes that came of files: 100 a sample."""
        known, read = {}, 0
        for s in samples:
            if s.resource is None:
                continue
            kind, address, name = RESOURCES[s.resource]
            process = self.threads[s.thread][0] if s.resource in LOCKS else None
            key = process, s.resource
            if key not in known:
                known[key] = run.add(run.resources, kind, process, address, name)
            frames = [(numbers[number], at) for number, at in s.stack]
            run.wait(frames, known[key], thread=s.thread, waits=s.waits, ns=s.weight)
            if s.resource in FILES:
                run.transfers.append((s.thread, known[key], run.node(*frames), 0, 1, 100, 0))
                read += 100
        if run.transfers:
            run.transferred.append((read + 50, 0, len(run.transfers) + 1, 0, 0, 0))

    @staticmethod
    def is_busy(sample):
        return sample.stack[-1][0] != "wait"
