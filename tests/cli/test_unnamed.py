"""Functions of stripped programs: told apart by unwind tables, in every report; figures are made here."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import NM, gmon, main, monarc, monarc_json

sys.dont_write_bytecode = True
from run_file import FILE, PERIOD, Run  # noqa: E402

SOURCE = """
#define WORK(name, n) __attribute__((noinline)) int name(int x) \\
{ for (int i = 0; i < n; i++) { x = x * 31 + i; __asm__ volatile("" : "+r"(x)); } return x; }
WORK(first, 3) WORK(second, 5) WORK(third, 7)
#ifdef MORE
WORK(more, 9)
#endif
int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc) + third(argc); }
"""


class Unnamed(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.at, self.build_id = self.make("prog")

    def make(self, name, *flags):
        """A stripped program: where its functions were, and its build-id."""
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        (self.dir / "p.c").write_text(SOURCE)
        subprocess.run(["cc", "-O1", "-fasynchronous-unwind-tables", "-Wl,--build-id", "p.c", "-o", path, *flags],
                       cwd=self.dir, check=True)
        lines = subprocess.run([*NM, path], capture_output=True, text=True, check=True).stdout
        at = {line.split()[2]: int(line.split()[0], 16) for line in lines.splitlines() if len(line.split()) == 3}
        subprocess.run(["strip", path], check=True)
        notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
        return at, bytes.fromhex(notes.split("Build ID:")[1].split()[0])

    def record(self, name, program="prog", at=None, build_id=None, counts=(300, 200, 100)):
        at = at or self.at
        run = Run(program, stacks=sum(counts), whole=sum(counts), user=sum(counts) * PERIOD)
        file = run.object(FILE, str(self.dir / program), build_id=build_id or self.build_id, high=0x100000)
        run.process(7, 1, file, program, user=sum(counts) * PERIOD)
        run.thread(0, 7, program, sum(counts) * PERIOD)
        for function, count in zip(("first", "second", "third"), counts):
            run.sample([(file, at["main"] + 8), (file, at[function] + 4)], count)
        run.sample([(file, 0x90000)], 7)  # no code at all
        return run.write(self.dir / name)

    def row(self, function, at=None, program="prog"):
        return "[0x%x] (%s)" % ((at or self.at)[function], program)

    def test_one_row_a_function(self):
        rows = {f["name"]: f for f in monarc_json("flat", self.record("r"))["functions"]}
        self.assertEqual({name: rows[self.row(name)]["self_samples"] for name in ("first", "second", "third")},
                         {"first": 300, "second": 200, "third": 100})
        self.assertEqual(rows[self.row("main")]["total_samples"], 600)
        self.assertEqual(rows["[no symbol] (prog)"]["self_samples"], 7)
        self.assertEqual(int(str(rows[self.row("first")]["address"]), 0), self.at["first"])

    def test_trees_and_paths(self):
        recording = self.record("r")
        graph = monarc("graph", "--callers", self.row("second"), recording, "--no-pager").stdout.decode()
        self.assertRegex(graph, r"200 *0.200|0\.200")
        self.assertIn(self.row("main"), graph)
        folded = monarc("export", "--format", "folded", recording).stdout.decode().splitlines()
        self.assertIn("%s;%s 300000000" % (self.row("main"), self.row("first")), folded)

    def test_addresses_are_those_of_one_build(self):
        at, build_id = self.make("new/prog", "-DMORE")
        old, same = self.record("old"), self.record("same", counts=(100, 200, 300))
        new = self.record("new.monarc", "new/prog", at, build_id)
        changes = monarc_json("diff", old, same)["functions"]
        self.assertEqual({c["name"] for c in changes} & {self.row("first"), self.row("third")},
                         {self.row("first"), self.row("third")})
        self.assertTrue(all(c["kind"] not in ("new", "gone") for c in changes))
        changes = {(c["name"], c["kind"]) for c in monarc_json("diff", old, new)["functions"]}
        self.assertIn((self.row("third"), "gone"), changes)
        self.assertIn((self.row("third", at), "new"), changes)

    def test_profile_of_the_recorder_inside(self):
        at, _ = self.make("fixed", "-no-pie")
        low, high = at["first"], at["main"]
        bins = [0] * ((high - low) // 2)
        bins[(at["second"] - low) // 2] = 40
        (self.dir / "gmon.out").write_bytes(gmon([(low, high, bins)], arcs=[(at["main"] + 9, at["second"], 3)]))
        done = monarc("flat", "--no-pager", "fixed", "gmon.out", cwd=self.dir)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(text, r"100\.00 .* 3 .*\[0x%x\] \(fixed\)" % at["second"])
        self.assertIn("Note     100 % of the samples are in functions without a symbol", text)
        self.assertIn("[0x%x] (fixed)" % at["main"],
                      monarc("graph", "--no-pager", "fixed", "gmon.out", cwd=self.dir).stdout.decode())


if __name__ == "__main__":
    main()
