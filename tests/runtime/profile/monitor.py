"""A monitor as small as can be: makes the control file, runs the program, reads the ring, completes what
the program left behind. It knows only docs/formats/control.md."""
import mmap
import os
import struct
import subprocess

from recorder import MONARC, RT_SO, Recording

HEADER, RECORD, CAPACITY = 4096, 512, 2048
KINDS = (None, "phase", "begin", "end", "stopped", "resumed", "dump", "reset", "calls", "not counted")


class Monitor:
    def __init__(self, folder, capacity=CAPACITY):
        self.out, self.control = os.path.join(folder, "out"), os.path.join(folder, "control")
        self.capacity, self.read = capacity, 0
        os.mkdir(self.out)
        with open(self.control, "wb") as f:
            f.write(struct.pack("<IIII", 0x4C43524D, 1, capacity, RECORD))
            f.truncate(HEADER + capacity * RECORD)
        with open(self.control, "r+b") as f:
            self.ring = mmap.mmap(f.fileno(), 0)

    def environment(self, **more):
        return dict(os.environ, LC_ALL="C", LD_PRELOAD=RT_SO, MONARC_OUT=self.out,
                    MONARC_CONTROL=self.control, MONARC_RATE="0", **more)

    def run(self, command, cwd, **more):
        return subprocess.run(command, cwd=cwd, env=self.environment(**more), capture_output=True,
                              text=True, timeout=600)

    def told(self):
        """(kind, text, pid, thread id, time) of each record since the last time."""
        found = []
        end = struct.unpack_from("<Q", self.ring, 64)[0]
        for number in range(self.read, end):
            at = HEADER + number % self.capacity * RECORD
            state, kind, time, pid, tid = struct.unpack_from("<IIQII", self.ring, at)
            assert state == 1, "record %d has state %d" % (number, state)
            text = self.ring[at + 24:at + RECORD].split(b"\0")[0].decode()
            found.append((KINDS[kind], text, pid, tid, time))
            struct.pack_into("<I", self.ring, at, 0)
        self.read = end
        struct.pack_into("<Q", self.ring, 128, end)
        return found

    def dropped(self):
        return struct.unpack_from("<Q", self.ring, 192)[0]

    def folders(self):
        return sorted(os.listdir(self.out))

    def recordings(self):
        """Completes all; what a process left is its live file and nothing else."""
        found = {}
        for name in self.folders():
            folder = os.path.join(self.out, name)
            left = [n for n in os.listdir(folder) if not os.path.isdir(os.path.join(folder, n))]
            assert left == ["monarc.live"], left
            subprocess.run([MONARC, "recover", folder], check=True, capture_output=True)
            found[name] = Recording(folder)
        return found
