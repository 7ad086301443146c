"""Recordings of version 2, made from docs/formats/recording.md and not with monarc's writer.

A Run has the lists of the page. Frames are (object, address); stacks go from the outermost frame to
the innermost one. It refuses nothing: lies are for tests.
"""

import struct
import sys

from harness import ROOT

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/corpus"))
from make import leb, run_checksum, run_list, run_record, signed  # noqa: E402

FILE, VDSO, KERNEL, GENERATED, WAIT, CUT = range(6)
FAULT, UNKNOWN = 2**32, 2**32 + 1
DEEP, NO_TABLE, NO_FRAME, BROKEN, TOO_MANY, NO_STACK = range(6)
RECORDS, THROTTLED, UNPLACED, KERNEL_UNSEEN, UNSEEN, STOPPED, OTHER = range(7)
PERIOD = 1000000
X86_64 = 62


class Run:
    def __init__(self, *command, **facts):
        self.facts = dict(machine=X86_64, method=1, rate=1000, cpus=2, start=1790000000 * 10**9,
                          length=10**9, slice=10**7, user=0, system=0, cpu=0, monitor=0, cost=0,
                          stacks=0, whole=0) | facts
        self.texts = [("argument", word) for word in command]
        self.objects, self.symbols, self.processes, self.threads = [], [], [], []
        self.excerpts = []  # (object, bytes)
        self.events, self.marks, self.losses = [("cpu", 0, PERIOD, 0)], [], []
        self.parts = []
        # (slice, thread, ran, shared), (slice, threads, ns), (thread, from, length, node), (thread, creator)
        self.turns, self.parallel, self.waits, self.creators = [], [], [], []
        self.reports_wakes = False  # also where no wake is known
        self.ranks = []  # (process, rank, size, local rank or None, launcher, host)
        self.resources, self.links = [], []  # (kind, process, address, name); see wait()
        # (thread, resource, node, is_write, calls, bytes, bytes of disks), six sums
        self.transfers, self.transferred = [], []
        self.link_errors, self.transfer_errors = [], []  # of each: (variance, squares), squares
        self.nodes, self.samples, self.known, self.strings = [], [], {}, {}

    def add(self, items, *item):
        items.append(item)
        return len(items) - 1

    def object(self, kind, path=None, build_id=b"", low=0, high=2**40, process=None, bits=2):
        return self.add(self.objects, kind, path, build_id, low, high, process, bits)

    def process(self, pid, parent, program, name, **more):
        self.processes.append(dict(pid=pid, parent=parent, program=program, start=0, end=10**9,
                                   user=None, system=0, status=None, name=name, why=None) | more)
        return len(self.processes) - 1

    def thread(self, process, tid, name="", cpu=None, start=0, end=10**9):
        return self.add(self.threads, process, tid, name, cpu, start, end)

    def node(self, *frames):
        parent = 0
        for frame in frames:
            key = parent, *frame
            if key not in self.known:
                self.nodes.append(key)
                self.known[key] = len(self.nodes)
            parent = self.known[key]
        return parent

    def sample(self, frames, count=1, thread=0, slice=0, event=0, weight=None):
        self.samples.append((self.node(*frames), count, thread, slice, event,
                             count * self.events[event][2] if weight is None else weight))

    def wait(self, frames, resource=None, parent=None, thread=0, doing=0, waits=0, ns=0):
        return self.add(self.links, parent, thread, self.node(*frames), resource, doing, waits, ns)

    def text(self, text):
        if text is None:
            return leb(0)
        return leb(self.strings.setdefault(text.encode(), len(self.strings)) + 1)

    def index(self, index):
        return leb(0 if index is None else index + 1)

    def put_process(self, p):
        bits = (p["user"] is not None) | (p["status"] is not None) << 1
        return (leb(p["pid"], p["parent"]) + self.index(p["program"])
                + leb(p["start"], p["end"], p["user"] or 0, p["system"], bits, signed(p["status"] or 0))
                + self.text(p["name"]) + self.text(p["why"]))

    def put_object(self, o):
        kind, path, build_id, low, high, process, bits = o
        return (leb(kind, bits) + self.text(path) + self.index(process)
                + leb(low, high - low, len(build_id)) + build_id)

    def put_symbols(self):
        before = 0, 0
        for number, start, size, name in sorted(self.symbols):
            step = number - before[0]
            yield leb(step, start - (0 if step else before[1]), size) + self.text(name)
            before = number, start

    def put_thread(self, t):
        process, tid, name, cpu, start, end = t
        return leb(process, tid, start, end, cpu is not None, cpu or 0) + self.text(name)

    def put_nodes(self):
        last = {}
        for i, (parent, number, address) in enumerate(self.nodes):
            step = address - last.get(number, 0)
            step = (step + 2**63) % 2**64 - 2**63
            yield leb((i - parent) << 1 | 1, number, signed(step))
            last[number] = address

    def put_samples(self):
        old = 0, 0, 0, 0
        for node, count, thread, slice, event, weight in self.samples:
            usual = count * self.events[event][2]
            moved = (thread, slice, event) != old[1:]
            data = leb(signed(node - old[0]) << 3 | moved | (weight != usual) << 1 | (count != 1) << 2)
            if moved:
                data += leb(signed(slice - old[2]), signed(thread - old[1]), event)
            data += leb(count) if count != 1 else b""
            yield data + (leb(signed(weight - usual)) if weight != usual else b"")
            old = node, thread, slice, event

    def put_times(self):
        old = 0, 0
        turns, parallel, waits, wakers, creators = [], [], [], [], []
        for slice, thread, ran, shared in self.turns:
            turns.append(leb(signed(slice - old[0]), signed(thread - old[1]), ran, shared))
            old = slice, thread
        before = 0
        for slice, threads, ns in self.parallel:
            parallel.append(leb(signed(slice - before), threads, ns))
            before = slice
        old = 0, 0
        for thread, start, length, node, *woken in sorted(self.waits, key=lambda w: w[:2]):
            wakers.append(leb(*(woken or (0,))))
            waits.append(leb(signed(thread - old[0]), signed(start - old[1]), length) + self.index(node))
            old = thread, start
        before = 0
        for thread, creator in sorted(self.creators):
            creators.append(leb(thread - before, signed(creator - thread)))
            before = thread
        if not self.reports_wakes and not any(len(w) > 4 for w in self.waits):
            wakers = []
        for tag, items in (30, turns), (31, parallel), (32, waits), (34, wakers), (33, creators):
            if items:
                yield run_list(tag, *items)

    def lists(self):
        yield run_record(2, leb(*self.facts.values()))
        yield run_list(3, *(self.text(key) + self.text(value) for key, value in self.texts))
        yield run_list(7, *map(self.put_process, self.processes))
        commands = [(i, p["command"]) for i, p in enumerate(self.processes) if p.get("command")]
        if commands:
            yield run_list(22, *(leb(i) + self.text(command) for i, command in commands))
        yield run_list(4, *map(self.put_object, self.objects))
        yield run_list(5, *self.put_symbols())
        yield run_list(8, *map(self.put_thread, self.threads))
        yield run_list(9, *(self.text(name) + leb(*rest) for name, *rest in self.events))
        yield run_list(11, *(leb(at, kind) + self.index(process) + leb(tid) + self.text(name)
                             for at, kind, process, tid, name in self.marks))
        yield run_list(12, *(leb(kind, count, ns) + self.text(words)
                             for kind, count, ns, words in self.losses))
        if self.excerpts:
            yield run_list(15, *(leb(number, len(data)) + data for number, data in self.excerpts))
        if self.parts:
            yield run_list(21, *(leb(process, number, signed(status), *rest)
                                 for process, number, status, *rest in self.parts))
        if self.ranks:
            yield run_list(50, *(leb(process, rank, size) + self.index(local) + self.text(launcher)
                                 + self.text(host)
                                 for process, rank, size, local, launcher, host in self.ranks))
        yield run_list(6, *self.put_nodes())
        if self.resources:
            yield run_list(40, *(leb(kind) + self.index(process) + leb(address) + self.text(name)
                                 for kind, process, address, name in self.resources))
        if self.links:
            yield run_list(41, *(self.index(parent) + self.index(thread) + leb(node)
                                 + self.index(resource) + leb(doing, waits, ns)
                                 for parent, thread, node, resource, doing, waits, ns in self.links))
        if self.link_errors:
            yield run_list(44, *(leb(*errors) for errors in self.link_errors))
        if self.transfers:
            yield run_list(52, *(leb(thread) + self.index(resource) + leb(*rest)
                                 for thread, resource, *rest in self.transfers))
        if self.transfer_errors:
            yield run_list(54, *(leb(squares) for squares in self.transfer_errors))
        if self.transferred:
            yield run_list(53, *(leb(*sums) for sums in self.transferred))
        yield run_list(10, *self.put_samples())
        yield from self.put_times()

    def bytes(self):
        lists = b"".join(self.lists())
        strings = run_list(1, *(leb(len(s)) + s for s in self.strings))
        data = struct.pack("<III", 0x4453524d, 2, 0x01020304) + strings + lists
        return data + run_record(0, struct.pack("<Q", run_checksum(data)))

    def write(self, folder):
        folder.mkdir(exist_ok=True)
        (folder / "monarc.side").write_bytes(self.bytes())
        return folder
