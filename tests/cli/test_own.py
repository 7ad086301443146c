"""The project's own code in front: what counts as own, `flat`'s table of it, and --mine in all reports."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import NM, main, monarc, monarc_json

sys.dont_write_bytecode = True
from run_file import FAULT, FILE, KERNEL, PERIOD, Run  # noqa: E402
from test_html import blocks, page  # noqa: E402

# Functions of other folders than the project's, as far as debug information knows.
SOURCE = """#define APART __attribute__((noinline, noipa))
# 1 "/usr/include/copy.h"
APART int copy(int x) { return x * 3; }
# 1 "/rustc/0123/library/core/src/slice.rs"
APART int slice(int x) { return copy(x) + 2; }
# 1 "/opt/go/pkg/mod/example.com/m@v1/m.go"
APART int module(int x) { return x + 4; }
# 10 "prog.c"
APART int render(int x) { return slice(x) + 1; }
APART int load(int x) { return module(x) + 1; }
int main(int argc, char **argv) { (void)argv; return render(argc) + load(argc); }
"""
# Two that are inlined, each with code of a line and before it code of none, which the compiler made.
INLINED = """static inline __attribute__((always_inline)) void own(void)
{
    __asm__ volatile("own_none: nop");
    __asm__ volatile("own_line: nop");
}
# 1 "/rustc/0123/library/core/src/option.rs"
static inline __attribute__((always_inline)) void unwrap(void)
{
    __asm__ volatile("unwrap_none: nop");
    __asm__ volatile("unwrap_line: nop");
}
# 20 "inlined.c"
int main(void)
{
    own();
    unwrap();
    return 0;
}
"""
OWN = {"main", "render", "load"}
STACKS = [(["main", "render", "slice", "copy"], 60), (["main", "render"], 10), (["main", "load", "module"], 25), (["main"], 5)]


class Own(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = Path(cls.scratch.name)
        (cls.dir / "prog.c").write_text(SOURCE)
        subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id=none", "prog.c", "-o", "prog"], cwd=cls.dir, check=True)
        text = subprocess.run([*NM, "prog"], cwd=cls.dir, capture_output=True, text=True, check=True).stdout
        cls.at = {words[2]: int(words[0], 16) for words in map(str.split, text.splitlines()) if len(words) == 3}
        cls.recording = cls.record("r", STACKS)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def record(cls, name, stacks, in_kernel=0, event=None):
        count = sum(n for _, n in stacks)
        run = Run("prog", stacks=count, whole=count, user=count * PERIOD)
        run.events = [event] if event else run.events
        file = run.object(FILE, str(cls.dir / "prog"), high=0x100000)
        run.process(7, 1, file, "prog", user=count * PERIOD)
        run.thread(0, 7, "prog", count * PERIOD)
        for stack, samples in stacks:
            run.sample([(file, cls.at[function] + 1) for function in stack], samples)
        if in_kernel:
            run.sample([(file, cls.at["main"] + 1), (run.object(KERNEL), FAULT)], in_kernel)
        return run.write(cls.dir / name)

    def text(self, *arguments):
        answer = monarc(*arguments, "--force", cwd=self.dir)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.decode()

    def test_a_share_that_may_be_anything_is_no_answer(self):
        few = self.text("flat", self.record("few", [(["main", "render"], 3), (["main", "load"], 2), (["main"], 2)]))
        self.assertRegex(few, r"^0\.007 s of CPU in 1\.000 s[^;:]*; too few samples to tell: 3 of 7 in render \(prog\.c:10\)\n")
        more = self.text("flat", self.record("more", [(["main", "render"], 12), (["main", "load"], 1), (["main"], 7)]))
        self.assertRegex(more, r"^0\.020 s of CPU in 1\.000 s[^;:]*: 60 \+- \d\d % in render [^;]*; 35 \+- \d\d % in main [^;]*\n")

    def test_own_functions_stand_in_front(self):
        text = self.text("flat", self.recording)
        table = text.split("your functions by total\n")[1].split("\n\n")[0]
        self.assertEqual([line.split() for line in table.splitlines()],
                         [["70.0", "0.070", "render"], ["25.0", "0.025", "load"]])  # all went through main()
        self.assertLess(text.index("your functions"), text.index("self%"))
        for options in ["--mine"], ["--function", "copy"], ["--sort", "total"]:
            self.assertNotIn("your functions", self.text("flat", *options, self.recording), options)
        led = self.record("led", [(["main", "render"], 60), (["main", "render", "slice", "copy"], 20)])
        self.assertNotIn("your functions", self.text("flat", led))

    def test_own_functions_have_the_unit_of_the_table(self):
        for event, unit, answer in ((("page-faults", 1, 1, 0), "f", "100 page faults: "), (("heap", 2, 1, 0), "B", "100 bytes of heap: "),
                                    (("locks", 1, 1, 0), "#", "100 locks: ")):
            text = self.text("flat", self.record(event[0], STACKS, event=event))
            self.assertIn(f"\ntotal%  total {unit}  your functions by total\n", text)
            self.assertRegex(text, rf"\n self% .* self {unit}  total% +total {unit}  function")
            self.assertTrue(text.startswith(answer), text)

    @unittest.skipUnless(shutil.which("clang"), "no clang (package clang)")
    def test_code_of_no_line_is_its_functions(self):
        """Where the first sample of an inlined function has no line, others say where it is from; until then, it is nobody's."""
        (self.dir / "inlined.c").write_text(INLINED)
        subprocess.run(["gcc", "-O1", "-g", "-gdwarf-4", "-gno-variable-location-views", "-S", "inlined.c"], cwd=self.dir, check=True)
        text = (self.dir / "inlined.s").read_text()
        text, changed = re.subn(r"(\.loc \d+) 3 (.*(?:\n(?!\s*\.loc).*)*_none: nop)", r"\1 0 \2", text)
        self.assertEqual(changed, 2, text)
        (self.dir / "inlined.s").write_text(text)
        subprocess.run(["clang", "-c", "inlined.s"], cwd=self.dir, check=True)  # GNU's assembler has no line 0
        subprocess.run(["gcc", "-Wl,--build-id=none", "inlined.o", "-o", "inlined"], cwd=self.dir, check=True)
        words = map(str.split, subprocess.run([*NM, "inlined"], cwd=self.dir, capture_output=True, text=True, check=True).stdout.splitlines())
        at = {word[2]: int(word[0], 16) for word in words if len(word) == 3 and re.search("_(none|line)$", word[2])}
        subprocess.run(["strip", *(f"--strip-symbol={name}" for name in at), "inlined"], cwd=self.dir, check=True)

        def flat(name, *places):
            run = Run("inlined", stacks=100, whole=100)
            file = run.object(FILE, str(self.dir / "inlined"), high=0x100000)
            run.process(7, 1, file, "inlined")
            run.thread(0, 7)
            for place in places:
                run.sample([(file, at[place])], 50)
            rows = [line.split() for line in self.text("flat", "--wide", run.write(self.dir / name)).splitlines()]
            mine = {f["name"] for f in monarc_json("flat", "--mine", "--force", self.dir / name, cwd=self.dir)["functions"]}
            return {row[row.index("(inlined)") - 1]: row[-1] for row in rows if "(inlined)" in row}, mine
        self.assertEqual(flat("both", "unwrap_none", "own_none", "unwrap_line", "own_line"),
                         ({"own": "inlined.c:4", "unwrap": "option.rs:4"}, {"main", "own"}))
        self.assertEqual(flat("none", "unwrap_none")[1], {"main"})

    def test_a_program_of_the_system_is_own_code_too(self):
        """bash exports its functions, so that they have names without debug information."""
        done = monarc("run", "--no-report", "-o", "sh", "bash", "-c", "for ((i = 0; i < 60000; i++)); do :; done", cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        functions = monarc_json("flat", "--mine", self.dir / "sh")["functions"]
        self.assertIn("execute_command_internal", [f["name"] for f in functions])

    def test_code_of_the_kernel_names_it_once(self):
        faulty = self.record("faulty", [(["main"], 10)], in_kernel=10)
        for report in ["flat"], ["lines"], ["graph"], ["graph", "--entries"]:
            text = self.text(*report, "--wide", faulty)
            self.assertRegex(text, r"\[kernel\] faults and interrupts *(\[\d+\])?\n", report)

    def test_lines_of_own_sources(self):
        def files(*options):
            answer = monarc_json("annotate", "--all", *options, "--force", self.recording, cwd=self.dir)
            return {Path(f["path"] or f["recorded"]).name: f["self_samples"] for f in answer["files"]}
        every, own = files(), files("--mine")
        self.assertEqual(set(every), {"prog.c", "copy.h", "slice.rs", "m.go"})
        self.assertEqual(own, {"prog.c": every["prog.c"]})

    def test_the_page_knows_what_is_own(self):
        functions = blocks(page("--force", self.recording, cwd=self.dir))["data"]["profile"]["functions"]
        own = {name for name, is_own in zip(functions["name"], functions["own"]) if is_own and name}
        self.assertEqual(own, OWN)

    def test_the_answer_names_an_own_caller(self):
        """copy() was called by slice(), which Rust brought."""
        self.assertRegex(self.text("flat", self.recording).splitlines()[0], r" % in copy( \(\S+\))?, called by render;")

    def test_flat_and_lines_of_own_code(self):
        functions = monarc_json("flat", "--mine", "--force", self.recording, cwd=self.dir)["functions"]
        self.assertEqual([f["name"] for f in functions], ["main", "render", "load"])  # by total
        self.assertEqual([f["total_samples"] for f in functions], [100, 70, 25])
        lines = monarc_json("lines", "--mine", "--force", self.recording, cwd=self.dir)["lines"]
        self.assertEqual({line["file"].split("/")[-1] for line in lines}, {"prog.c"})
        self.assertEqual({line["name"] for line in lines}, OWN)

    def test_trees_of_own_code(self):
        rows = monarc_json("graph", "--mine", "--tree", "--force", self.recording, cwd=self.dir)["trees"][0]["rows"]
        self.assertEqual([(r["name"], r["depth"], r["total_samples"], r["self_samples"]) for r in rows],
                         [("main", 0, 100, 5), ("render", 1, 70, 70), ("load", 1, 25, 25)])
        picture = self.text("flame", "--mine", "-o", "-", self.recording)
        for function in OWN:
            self.assertIn(f">{function}", picture)
        for function in "copy", "slice", "module":
            self.assertNotIn(f">{function}", picture)


if __name__ == "__main__":
    main()
