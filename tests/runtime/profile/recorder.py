"""Compiles a program, runs it under the recorder, reads back what was written.

The readers here know only docs/formats/sidecar.md and gmon.out; they share no code with monarc.
Addresses are turned into names with nm, as a check independent of any of it."""
import bisect
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
sys.path.append(os.path.join(HERE, "..", ".."))  # parts.py
INCLUDE = os.path.join(HERE, "..", "..", "..", "include")
RT_SO = os.environ.get("MONARC_RT_SO", "")
RT_A = os.environ.get("MONARC_RT_A", "")
MONARC = os.environ.get("MONARC", "")
CC = os.environ.get("MONARC_CC", "gcc")
WORD = 4 if CC.startswith(("i686-", "arm-")) else 8


# Under nohup, or in the background of a shell, signals are ignored; the programs under test would
# inherit that and not die of them.
for inherited in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
    if signal.getsignal(inherited) == signal.SIG_IGN:
        signal.signal(inherited, signal.SIG_DFL)


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


class Symbols:
    """Function names by link address."""

    def __init__(self, path, nm="nm"):
        self.table = []
        # Compilers' plugins, which nm loads unless it is told one, take longer than its own work.
        for line in subprocess.run([nm, "--plugin", "/dev/null", path], capture_output=True,
                                   text=True).stdout.splitlines():
            m = re.match(r"([0-9a-f]+) [tTwW] (.+)", line)
            if m:
                self.table.append((int(m.group(1), 16), m.group(2)))
        self.table.sort()

    def at(self, address):
        i = bisect.bisect_right(self.table, (address, "\x7f")) - 1
        return self.table[i][1] if i >= 0 else "?"


class Gmon:
    """One gmon.out: arcs, samples by link address, blocks."""

    def __init__(self, path, word=WORD):
        self.arcs, self.samples, self.blocks = {}, {}, {}
        self.rate, self.dimension, self.hists = None, None, 0
        data = slurp(path)
        assert data[:4] == b"gmon", path
        assert struct.unpack_from("<I", data, 4)[0] == 1
        at, w = 20, "<Q" if word == 8 else "<I"
        while at < len(data):
            tag, at = data[at], at + 1
            if tag == 0:
                low, high = (struct.unpack_from(w, data, at + k * word)[0] for k in (0, 1))
                n, self.rate = struct.unpack_from("<II", data, at + 2 * word)
                self.dimension = data[at + 2 * word + 8:at + 2 * word + 23].rstrip(b"\0").decode()
                at += 2 * word + 24
                bins = struct.unpack_from("<%dH" % n, data, at)
                at += 2 * n
                self.hists += 1
                for i, hits in enumerate(bins):
                    if hits:
                        where = low + i * 2
                        self.samples[where] = self.samples.get(where, 0) + hits
            elif tag == 1:
                a, b = (struct.unpack_from(w, data, at + k * word)[0] for k in (0, 1))
                n = struct.unpack_from("<I", data, at + 2 * word)[0]
                self.arcs[a, b] = self.arcs.get((a, b), 0) + n
                at += 2 * word + 4
            elif tag == 2:
                n = struct.unpack_from("<I", data, at)[0]
                at += 4
                for _ in range(n):
                    a, count = (struct.unpack_from(w, data, at + k * word)[0] for k in (0, 1))
                    self.blocks[a] = self.blocks.get(a, 0) + count
                    at += 2 * word
            else:
                raise AssertionError("tag %d at %d of %s" % (tag, at - 1, path))


def fnv1a(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


class Side:
    """The sidecar, or the notes and tables of a live file."""

    def __init__(self):
        self.process, self.text, self.objects, self.arcs = {}, [], {}, {}
        self.threads, self.nodes, self.lost, self.marks = [], {}, {}, []
        self.all_arcs, self.blocks = {}, {}

    def record(self, tag, p):
        if tag == 1:
            names = ("pid parent start_real start_mono end_mono cpu_ns samples sampled_ns "
                     "millihertz rate event clock written").split()
            self.process = dict(zip(names, struct.unpack_from("<IIQQQQQQQIIII", p)))
        elif tag == 2:
            key, value = p.split(b"\0")[:2]
            self.text.append((key.decode(), value.decode()))
        elif tag == 3:
            names = "id flags start end bias text_low text_high build_id_size".split()
            o = dict(zip(names, struct.unpack_from("<IIQQQQQI", p)))
            o["build_id"] = p[56:56 + o["build_id_size"]].hex()
            o["path"], o["gmon"] = (s.decode() for s in p[88:].split(b"\0")[:2])
            self.objects[o["id"]] = o
        elif tag == 4:
            for a, b, n in struct.iter_unpack("<QQQ", p):
                self.arcs[a, b] = self.arcs.get((a, b), 0) + n
        elif tag == 5:
            for note in struct.iter_unpack("<IIQQQQ16sQ", p):
                if note[1]:
                    self.threads.append(dict(zip("tid state start end cpu samples".split(), note),
                                             name=note[6].split(b"\0")[0].decode(), root=note[7]))
        elif tag == 6:
            for node, parent, address, hits in struct.iter_unpack("<QQQQ", p):
                self.nodes[node] = (parent, address, hits)
        elif tag == 7:
            reason, _, n = struct.unpack_from("<IIQ", p)
            self.lost[reason] = (n, p[16:].split(b"\0")[0].decode())
        elif tag == 8:
            f = struct.unpack_from("<QQQII64s", p)
            self.marks.append((f[3], f[5].split(b"\0")[0].decode()))

    def records(self, data, at, end):
        while at + 8 <= end:
            tag, n = struct.unpack_from("<II", data, at)
            if tag == 0:
                return at
            self.record(tag, data[at + 8:at + 8 + n])
            at += 8 + (n + 7) // 8 * 8
        return at

    @staticmethod
    def read(path):
        s, data = Side(), slurp(path)
        magic, version, order, s.word = struct.unpack_from("<IIII", data)
        assert (magic, version, order) == (0x4453524D, 1, 0x01020304)
        end = s.records(data, 16, len(data))
        tag, n, checksum = struct.unpack_from("<IIQ", data, end)
        assert (tag, n, end + 16) == (0, 8, len(data))
        assert checksum == fnv1a(data[:end]), "checksum of " + path
        s.join_threads()
        return s

    @staticmethod
    def read_live(path):
        s, data = Side(), slurp(path)
        magic, version, order, header = struct.unpack_from("<IIII", data)
        assert (magic, version, order, header) == (0x564C524D, 2, 0x01020304, 4096)
        assert struct.unpack_from("<Q", data, 56)[0] == fnv1a(data[:56]), "header checksum"
        at = header
        while at + 64 <= len(data):
            magic, kind, size, cells, first = struct.unpack_from("<IIQQQ", data, at)
            if magic != 0x5458524D or struct.unpack_from("<Q", data, at + 56)[0] != fnv1a(
                    data[at:at + 56]):
                at += 4096
                continue
            body = data[at + 64:at + size]
            if kind == 5:
                s.records(data, at + 64, at + size)
            elif kind == 4:
                s.record(5, body[:cells * 32])
            else:
                for i, (a, b, n, aside) in enumerate(struct.iter_unpack("<QQQQ",
                                                                        body[:cells * 32])):
                    net = n - (aside & ~(1 << 63))
                    if a and kind == 1:
                        s.all_arcs[a, b] = s.all_arcs.get((a, b), 0) + net
                    elif a and kind == 2:
                        s.nodes[first + i] = (a, b, n)
                    elif a and kind == 3:
                        s.blocks[b] = s.blocks.get(b, 0) + net
            at += size
        s.join_threads()
        return s

    def join_threads(self):
        """Gives all outermost frames the parent 1; which thread's they are stays in `thread_of`."""
        roots = {t["root"]: t["tid"] for t in self.threads if t["root"] > 1}
        self.thread_of = {node: roots.get(parent) for node, (parent, _, _) in self.nodes.items()
                          if parent == 1 or parent in roots}
        self.nodes = {node: (1 if parent in roots else parent, address, hits)
                      for node, (parent, address, hits) in self.nodes.items()}

    def object_at(self, address):
        for o in self.objects.values():
            if o["start"] <= address < o["end"]:
                return o
        return None


class Recording:
    """A finished folder."""

    def __init__(self, folder):
        self.folder = folder
        self.side = Side.read(os.path.join(folder, "monarc.side"))
        self.symbols = {}

    def gmon(self, name="gmon.out"):
        return Gmon(os.path.join(self.folder, name), self.side.word)

    def names(self, o):
        path = o["path"]
        if path not in self.symbols:
            self.symbols[path] = Symbols(path) if os.path.exists(path) else Symbols("/dev/null")
        return self.symbols[path]

    def calls(self):
        """Calls by function name, over all gmon.out files and the sidecar."""
        total, seen = {}, set()
        for o in self.side.objects.values():
            path = os.path.join(self.folder, o["gmon"])
            if path in seen or not os.path.exists(path):
                continue
            seen.add(path)
            for (_, self_pc), n in self.gmon(o["gmon"]).arcs.items():
                name = self.names(o).at(self_pc)
                total[name] = total.get(name, 0) + n
        for (_, self_pc), n in self.side.arcs.items():
            o = self.side.object_at(self_pc)
            name = self.names(o).at(self_pc - o["bias"]) if o else "?"
            total[name] = total.get(name, 0) + n
        return total

    def lost(self):
        return self.side.lost[0][0]


class RecorderTest(unittest.TestCase):
    """A temporary folder a test; programs are compiled once a process."""
    built = {}
    shared = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="monarc-rt-")
        self.addCleanup(shutil.rmtree, self.dir, True)

    @classmethod
    def build(cls, source, *flags, cc=None, kind="exe", name=None):
        """Compiles programs/<source> with the flags; returns the path."""
        if RecorderTest.shared is None:
            RecorderTest.shared = tempfile.TemporaryDirectory(prefix="monarc-rt-build-")
        key = (source, flags, cc, kind, name)
        if key not in cls.built:
            number = tempfile.mkdtemp(dir=RecorderTest.shared.name)
            out = os.path.join(number, name or os.path.splitext(source)[0])
            # Link options last, so that libraries follow what needs them.
            subprocess.run([cc or CC, "-g", "-fno-inline", "-fno-optimize-sibling-calls", "-I",
                            INCLUDE, os.path.join(PROGRAMS, source), "-o", out, *flags], check=True)
            cls.built[key] = out
        return cls.built[key]

    def run_program(self, command, check=True, preload=True, wrapper=(), timeout=600, **env):
        """Runs under the recorder in the test's folder; env keys are MONARC_ options."""
        full = dict(os.environ, LC_ALL="C")
        full.update({k if k.startswith(("GMON_", "LD_", "TSAN_")) else "MONARC_" + k: str(v)
                     for k, v in env.items()})
        if preload and RT_SO:
            full["LD_PRELOAD"] = RT_SO
        if wrapper:  # a wrapper must not be recorded itself
            del full["LD_PRELOAD"]
            command = [*wrapper, "env", "LD_PRELOAD=" + RT_SO, *command]
        r = subprocess.run(command, cwd=self.dir, env=full, capture_output=True, text=True,
                           timeout=timeout)
        if check:
            self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r

    def recording(self, program, suffix=""):
        return Recording(os.path.join(self.dir, os.path.basename(program) + suffix + ".monarc"))

    def expected(self, output):
        """Lines "expect NAME COUNT" of the program's output, added up."""
        total = {}
        for name, n in re.findall(r"^expect (\S+) (\d+)$", output, re.M):
            total[name] = total.get(name, 0) + int(n)
        self.assertTrue(total, output)
        return total

    def assert_exact(self, recording, expected):
        calls = recording.calls()
        for name, n in expected.items():
            self.assertEqual(calls.get(name, 0), n, "calls of %s" % name)
        self.assertEqual(recording.lost(), 0)
