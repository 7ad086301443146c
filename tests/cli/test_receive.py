"""monarc receive: every way in, refusals, what is kept for later; and what the doctor says of it."""

import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest
from pathlib import Path

from harness import DEMO, ROOT, check_schema, gmon, main, monarc, monarc_json, monarc_path, wait_for

sys.path.append(str(ROOT / "tests/embedded"))
import images  # noqa: E402

LOW, HIGH = 0x401000, 0x401240     # of demo
BINS = (HIGH - LOW) // 16
ARCS = [(LOW + 0x20, LOW + 0x40, 5), (LOW + 0x60, LOW + 0x40, 2**32)]


def text_of(program, low, high):
    """The bytes of its text, by its section headers."""
    data = Path(program).read_bytes()
    at, size, count = (struct.unpack_from("<Q", data, 0x28)[0],
                       *struct.unpack_from("<HH", data, 0x3a))
    text = bytearray(high - low)
    for i in range(count):
        kind, _, address, offset, length = struct.unpack_from("<IQQQQ", data, at + i * size + 4)
        if kind == 1 and low <= address < high:
            piece = data[offset:offset + min(length, high - address)]
            text[address - low:address - low + len(piece)] = piece
    return bytes(text)


def of_demo(**more):
    known = {"word": 8, "windows": ((LOW, HIGH),), "bins": [9] * BINS, "arcs": ARCS,
             "text": (LOW, HIGH)}
    return images.image(**{**known, **more})


class Receive(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.here = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def receive(self, data, *arguments, status=0, folder="out"):
        (self.here / "in").write_bytes(data)
        done = monarc("receive", "--from", "in", "-o", folder, *arguments, cwd=self.here)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stdout + done.stderr).decode()

    def gmon(self, folder="out"):
        return (self.here / folder / "gmon.out").read_bytes()

    def test_all_ways_are_the_same(self):
        data = of_demo()
        said = self.receive(data)
        self.assertIn("324 samples, 4294967301 calls along 2 arcs", said)
        lines = images.frames(data)
        noise = b"".join(b"I (12) wifi: ~ state\r\n> " + line.replace(b"\n", b"\r\n")
                         for line in lines)
        for name, sent in {"frames": b"".join(lines), "noise": noise,
                           "dump": b"\0" * 4096 + images.MAGIC + b"code" * 40 + data + b"\xff" * 999,
                           "gmon": self.gmon()}.items():
            self.receive(sent, folder=name)
            self.assertEqual(self.gmon(name), self.gmon(), name)
        piped = monarc("receive", "-o", "piped", cwd=self.here, input=noise)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertEqual(self.gmon("piped"), self.gmon())

    def test_machines(self):
        for order, word in (("<", 4), (">", 4), ("<", 8), (">", 8)):
            self.receive(images.image(order, word, arcs=[(0x1010, 0x1040, 3)], bins=[7] * 16))
            facts = monarc_json("info", "out/gmon.out", cwd=self.here)["files"][0]
            self.assertEqual(facts["word_bits"], 8 * word)
            self.assertEqual(facts["byte_order"], {"<": "little", ">": "big"}[order])
            self.assertEqual(facts["arcs"]["calls"], 3)

    def test_cores_are_summed(self):
        self.receive(of_demo(core=0, cores=2) + of_demo(core=1, cores=2))
        facts = monarc_json("info", "out/gmon.out", cwd=self.here)["files"][0]
        self.assertEqual(facts["arcs"]["calls"], 2 * (2**32 + 5))
        said = self.receive(of_demo(core=0, cores=2), status=2, folder="half")
        self.assertIn("expected a memory image", said)
        self.assertFalse((self.here / "half").exists())

    def test_another_firmware(self):
        right = images.text_sum(text_of(DEMO, LOW, HIGH))
        for total, status in ((right, 0), (right ^ 1, 2)):
            data = of_demo(flags=images.HAS_TEXT_SUM, sum_of_text=total)
            said = self.receive(data, "--elf", DEMO, status=status, folder=f"f{status}")
        self.assertIn("is not the program that was recorded", said)
        self.assertFalse((self.here / "f2").exists())
        self.receive(data, "--elf", DEMO, "--force")
        self.assertIn("took no checksum", self.receive(of_demo(), "--elf", DEMO))
        self.assertIn("another machine", self.receive(images.image(), "--elf", DEMO, status=2))
        doctor = monarc_json("doctor", DEMO, "f0/gmon.out", cwd=self.here)
        self.assertNotIn("other-firmware", [f["name"] for f in doctor["findings"]])

    def test_a_gap_is_named_and_filled(self):
        lines = images.frames(of_demo())
        said = self.receive(b"".join(lines[:3] + lines[5:]), status=2)
        self.assertIn("lacks frames 3 to 4 (bytes 144 to 239)", said)
        self.assertEqual(os.listdir(self.here / "out"), ["frames.partial"])
        self.receive(b"noise\n" + lines[3] + lines[4])
        self.assertEqual(sorted(os.listdir(self.here / "out")), ["gmon.out", "monarc.memory"])
        self.receive(of_demo(), folder="whole")
        self.assertEqual(self.gmon(), self.gmon("whole"))

    def test_cut_within_a_line(self):
        data = b"".join(images.frames(of_demo()))
        for cut in (10, 200, len(data) // 2, len(data) - 20):
            self.assertIn("lacks" if cut > 100 else "nothing of the embedded recorder",
                          self.receive(data[:cut], status=2, folder=f"cut{cut}"))
            self.receive(data, folder=f"cut{cut}")

    def test_damage(self):
        lines = images.frames(of_demo())
        bad = lines[2].replace(b"A", b"B", 1) if b"A" in lines[2] else lines[2][::-1]
        said = self.receive(b"".join(lines[:2] + [bad] + lines[3:]), status=2)
        self.assertIn("lacks frame 2 (bytes 96 to 143); 1 lines are damaged, the first is line 3",
                      said)
        head = bytearray(of_demo())
        head[60] ^= 1
        self.assertIn("its checksum is wrong", self.receive(bytes(head), status=2, folder="head"))
        self.assertFalse((self.here / "head").exists())
        self.assertIn("remain", self.receive(of_demo()[:-1], status=2, folder="short"))
        wrong_end = lines[:-1] + [images.line("E", int(lines[0][4:12], 16), len(lines) - 1,
                                              len(of_demo()), b"00000000")]
        self.assertIn("do not add up", self.receive(b"".join(wrong_end), status=2, folder="end"))

    def test_several_sendings(self):
        first, second = of_demo(), of_demo(bins=[1] * BINS)
        both = b"".join(images.frames(first) + images.frames(second))
        said = self.receive(both)
        self.assertIn("36 samples", said)
        self.assertIn("2 sendings were seen", said)
        stream = images.frames(first)[0][4:12].decode()
        self.assertIn("324 samples", self.receive(both, "--stream", stream))
        self.assertIn("no stream", self.receive(both, "--stream", "12345678", status=2))

    def test_a_serial_line(self):
        ours, theirs = pty.openpty()
        name = os.ttyname(theirs)
        job = subprocess.Popen([monarc_path(), "receive", "--from", name, "-o", "line",
                                "--timeout", "20"], cwd=self.here, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        data = b"boot\r\n" + b"".join(images.frames(of_demo())) + b"more\r\n"

        def send():
            for at in range(0, len(data), 100):
                os.write(ours, data[at:at + 100])
        wait_for(lambda: not termios.tcgetattr(theirs)[3] & termios.ICANON, "a raw line")
        sender = threading.Thread(target=send)
        sender.start()
        said, complaint = job.communicate(timeout=600)
        sender.join()
        self.assertEqual(job.returncode, 0, complaint)
        self.assertIn(b"324 samples", said)
        silent = monarc("receive", "--from", name, "-o", "silent", "--timeout", "1", cwd=self.here)
        self.assertEqual(silent.returncode, 2)
        os.close(ours)
        os.close(theirs)

    def test_coverage(self):
        stream = (ROOT / "tests/corpus/gcfn/two").read_bytes()
        self.assertIn("coverage of 2 objects", self.receive(stream))
        found = list((self.here / "out").rglob("*.gcda"))
        self.assertEqual(len(found), 2)
        self.receive(of_demo() + stream, folder="both")
        self.assertTrue((self.here / "both/gmon.out").exists())
        self.assertEqual(len(list((self.here / "both").rglob("*.gcda"))), 2)
        self.receive(stream[:-9], status=2, folder="cut")
        self.assertFalse((self.here / "cut").exists())

    def test_coverage_on_a_console(self):
        """As Zephyr writes it, with log lines, prefixes and blanks between; what is torn at any byte is left out."""
        for name, text in ("f", "int f(int a) { return a; }\n"), ("t", "int f(int); int main(void) { return f(0); }\n"):
            (self.here / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "--coverage", "f.c", "t.c", "-o", "t", "-dumpbase", ""], cwd=self.here, check=True)
        subprocess.run(["./t"], cwd=self.here, check=True)
        files = {path: path.read_bytes() for path in sorted(self.here.glob("*.gcda"))}
        self.assertEqual(len(files), 2)

        def console(cut=None, join="", prefix="", dumps=1):
            lines = ["*** Booting Zephyr OS build v4.4.0 ***", "GCOV_COVERAGE_DUMP_START"]
            for i, (path, data) in enumerate([*files.items()] * dumps):
                path.unlink(missing_ok=True)
                lines += [f"*{path}<{data[:cut if not i else None].hex(join) if join else data[:cut if not i else None].hex()}",
                          "[00:00:01.230,000] <inf> app: hello"]
            return "".join(f"{prefix}{line}\r\n" for line in [*lines, "GCOV_COVERAGE_DUMP_END"]).encode()

        def received(data, **more):
            text = self.receive(data, **more)
            found = {Path("/") / path.relative_to(self.here / "out"): path.read_bytes()
                     for path in (self.here / "out").rglob("*.gcda")}
            subprocess.run(["rm", "-r", self.here / "out"], check=True)
            return text, found

        for how in {}, {"join": " "}, {"prefix": "[qemu] "}, {"dumps": 2}:
            text, found = received(console(**how))
            self.assertEqual(found, files)
            self.assertIn("coverage of 2 objects", text)
        first, second = files
        for cut in range(0, len(files[first]) - 4, 5):
            text, found = received(console(cut=cut))
            self.assertEqual(found, {second: files[second]})
            self.assertRegex(text, f"left out: .*{first.name}")
        self.assertIn("leads out of the folder", self.receive(b"*/../x.gcda<" + files[first].hex().encode(), status=2))

    def test_usage(self):
        self.assertEqual(monarc("receive", cwd=self.here).returncode, 2)
        self.assertIn("nothing of the embedded recorder", self.receive(b"hello", status=2))
        self.assertIn("nothing of the embedded recorder", self.receive(b"", status=2))
        missing = monarc("receive", "--from", "nix", "-o", "x", cwd=self.here)
        self.assertEqual(missing.returncode, 2)


class Doctor(unittest.TestCase):
    """What it says of a recording, by what is wrong with it."""

    setUp, tearDown, receive = Receive.setUp, Receive.tearDown, Receive.receive

    def names(self, **more):
        self.receive(of_demo(**{"arcs": ARCS[:1], **more}))
        result = monarc_json("doctor", DEMO, "out/gmon.out", cwd=self.here)
        check_schema(self, "doctor", result)
        self.findings = {f["name"]: f for f in result["findings"]}
        return set(self.findings) - {"older-than-program", "few-samples", "samples-outside"}

    def test_nothing_wrong(self):
        self.assertEqual(self.names(), set())

    def test_no_timer_interrupt(self):
        self.assertEqual(self.names(bins=[0] * BINS), {"no-timer-interrupt"})

    def test_no_calls(self):
        self.assertEqual(self.names(arcs=[]), {"no-calls"})

    def test_no_rate(self):
        self.assertEqual(self.names(rate=0), {"no-rate"})

    def test_outside(self):
        self.assertEqual(self.names(lost=(0, 0, 5000, 0, 0, 0)), {"samples-outside-windows"})

    def test_full_bins(self):
        self.assertIn("full-bins", self.names(lost=(0, 0, 0, 7, 0, 0)))

    def test_nmi(self):
        self.assertEqual(self.names(lost=(0, 4, 0, 0, 0, 0)), {"calls-in-nmi"})

    def test_table_too_small(self):
        self.assertEqual(self.names(lost=(6, 0, 0, 0, 0, 0), slots=1), {"arc-table-full"})
        self.assertIn("2 slots", self.findings["arc-table-full"]["remedy"])
        self.assertIn("monarc doctor", self.receive(of_demo(lost=(6, 0, 0, 0, 0, 0))))

    def test_another_profile_in_the_folder(self):
        self.assertEqual(self.names(rate=0, lost=(6, 0, 0, 0, 0, 0)), {"no-rate", "arc-table-full"})
        (self.here / "out/gmon.out").write_bytes(gmon([(LOW, HIGH, [5] * BINS)], ARCS[:1]))
        result = monarc_json("doctor", DEMO, "out/gmon.out", cwd=self.here)
        self.assertFalse({"no-rate", "arc-table-full"} & {f["name"] for f in result["findings"]})

    def test_another_firmware(self):
        self.assertIn("other-firmware", self.names(flags=images.HAS_TEXT_SUM, sum_of_text=1))


main()
