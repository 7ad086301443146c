"""What gprof's manual and its README say of the options, sentence by sentence, asked of `monarc gprof`. The
profile is made here for a program whose calls are known; no other program is asked what the right answer is.
tests/letter.md has a row for each sentence."""

import collections
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness import gmon, main, monarc

# Line by line: `first` is global and stands before the private `twice`; `never` is not called; `rest` calls `work` from
# two lines.
SOURCE = """int first(int n)
{
    return n + 1;
}
static int twice(int n)
{
    return n * 2;
}
int work(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += twice(i);
    return s;
}
int rest(int n)
{
    int s = work(n);
    s += work(n + 1);
    return s;
}
int never(int n)
{
    return rest(n);
}
int main(int argc, char **argv)
{
    (void)argv;
    return first(argc) + rest(argc) == 99 ? never(1) : 0;
}
"""
COMPILE = "gcc", "-g", "-O0", "-fno-pie", "-no-pie", "-o", "p"
SAMPLES = {"first": 100, "twice": 200, "work": 300, "rest": 400}
CALLS = (("main", "first", 1), ("main", "rest", 2), ("rest", "work", 4), ("work", "twice", 30))


@unittest.skipUnless(all(map(shutil.which, ("gcc", "nm", "addr2line"))), "gcc and binutils make the program")
class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.dir = Path(scratch.name).resolve()
        (cls.dir / "a.c").write_text(SOURCE)
        subprocess.run([*COMPILE, "a.c"], cwd=cls.dir, check=True)
        symbols = subprocess.run(["nm", "-n", "p"], cwd=cls.dir, check=True, capture_output=True, text=True).stdout
        cls.at = {name: int(at, 16) for at, name in re.findall(r"(?m)^(\w+) [tT] (\w+)$", symbols)}
        cls.low, cls.high = cls.at["first"], cls.at["main"] + 16
        (cls.dir / "gmon.out").write_bytes(cls.profile())

    @classmethod
    def profile(cls, samples=None, calls=CALLS, blocks=()):
        """Samples by function, calls by names or addresses, executions by address."""
        bins = [0] * ((cls.high - cls.low) // 2)
        for name, number in (SAMPLES if samples is None else samples).items():
            bins[((name if isinstance(name, int) else cls.at[name] + 4) - cls.low) // 2] += number
        arcs = [(cls.at.get(caller, caller) + (4 if caller in cls.at else 0), cls.at[callee], n) for caller, callee, n in calls]
        more = b"\2" + struct.pack("<I", len(blocks)) + b"".join(struct.pack("<2Q", *b) for b in blocks) if blocks else b""
        return gmon([(cls.low, cls.low + 2 * len(bins), bins)], arcs) + more

    def address_of_line(self, name, line):
        """The first address of a function that the line table says belongs to a line."""
        places = range(self.at[name], self.at[name] + 64)
        said = subprocess.run(["addr2line", "-e", "p", *map(hex, places)], cwd=self.dir, check=True, capture_output=True,
                              text=True).stdout
        lines = re.findall(r"(?m):(\d+)(?: \(.*)?$", said)
        return next(at for at, of in zip(places, lines) if int(of) == line)

    def gprof(self, *options, data=None, cwd=None, program=None, **more):
        if data is not None:
            (self.dir / "other").write_bytes(data)
        done = monarc("gprof", *options, program or self.dir / "p", self.dir / ("other" if data is not None else "gmon.out"),
                      cwd=cwd or self.dir, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def flat(self, *options, **more):
        """{name: (percent, self seconds, calls)} of a flat profile."""
        rows = {}
        for line in self.gprof("-b", "-p", *options, **more).splitlines():
            fields = re.match(r" *([\d.]+) +[\d.]+ +([\d.]+)(?: +(\d+) +[\d.]+ +[\d.]+)? +([A-Za-z_].*)$", line)
            if fields:
                rows[fields[4]] = float(fields[1]), float(fields[2]), int(fields[3] or 0)
        return rows

    @staticmethod
    def entries(text):
        """{name: (callers, its own line, callees)} of a call graph; callers and callees are {name: calls}."""
        found = {}
        for block in re.split(r"(?m)^-+$", text[text.index("index % time"):]):
            own = re.search(r"(?m)^\[\d+\].*$", block)
            if own:
                name = re.search(r"(\S+)(?: <cycle.*)? \[\d+\]$", own[0])[1]
                sides = [{m[2]: m[1] for m in re.finditer(r"(?m) (\d+(?:/\d+)?) +([A-Za-z_]\w*).*[\[(]\d+[\])]$", part)}
                         for part in (block[:own.start()], block[own.end():])]
                found[name] = sides[0], own[0], sides[1]
        return found

    def graph(self, *options, **more):
        return self.entries(self.gprof("-b", "-q", *options, **more))

    def tally(self, *options, **more):
        """{name: executions} of an execution count listing."""
        return {m[1]: int(m[2]) for m in re.finditer(r"(?m)^\S+:\d+: \((\w+):0x\w+\) (\d+) executions$",
                                                     self.gprof("-b", *options, **more))}

    def annotated(self, *options, **more):
        """The lines of annotated source, without what follows the source."""
        text = self.gprof("-b", *options, **more)
        return text[text.index("\n", text.index("*** File")) + 1:].split("\n\n\nTop", 1)[0].splitlines()

    # -- which reports there are

    def test_any_output_option_overrides_the_default(self):
        """The default is -p -q; any of these options alone is all that is printed."""
        titles = {"-p": "Flat profile:", "-q": "Call graph", "-C": "(work:0x", "-A": "*** File"}
        shown = {option: [t for o, t in titles.items() if t in self.gprof(*([option] if option else []))]
                 for option in (None, *titles)}
        self.assertEqual(shown, {None: [titles["-p"], titles["-q"]], **{o: [t] for o, t in titles.items()}})

    def test_brief(self):
        """Without the texts that explain the fields; all else stays."""
        brief, whole = self.gprof("-b"), self.gprof()
        without, explained = (collections.Counter(filter(None, text.splitlines())) for text in (brief, whole))
        self.assertEqual(set(without - explained), {"\t\t\tCall graph"})
        self.assertGreater(len(whole), len(brief) + 2000)
        self.assertTrue({"cumulative", "called", "self"} <= set(re.findall(r"\w+", "\n".join(explained - without))))

    def test_file_info(self):
        """The number of records of each kind is printed, and nothing else."""
        text = self.gprof("-i", data=self.profile(blocks=[(self.at["work"], 4), (self.at["rest"], 2)]))
        self.assertEqual(re.findall(r"(?m)^\s+(\d+) (histogram|call-graph|basic-block)", text),
                         [("1", "histogram"), ("4", "call-graph"), ("1", "basic-block")])
        self.assertNotIn("Flat", text)

    def test_version_and_usage_end_the_command(self):
        for option in "-v", "-h":
            text = self.gprof(option)
            self.assertRegex(text, {"-v": r"GNU gprof .*\d\.\d", "-h": r"(?i)usage:.*gprof"}[option])
            self.assertNotIn("Flat profile", text)

    # -- which symbols they are of

    def test_flat_profile_of_symbols(self):
        """Several options are a union."""
        self.assertEqual(set(self.flat("-pwork")), {"work"})
        self.assertEqual(set(self.flat("-pwork", "-prest")), {"work", "rest"})

    def test_no_flat_profile_of_symbols(self):
        """Without a symbol, no flat profile at all; with symbols, one without these."""
        self.assertNotIn("Flat profile:", self.gprof("-P"))
        text = self.gprof("-b", "-Pwork", "-Prest")
        self.assertIn("Flat profile:", text)
        self.assertEqual(re.findall(r"(?m)^ +[\d.]+ +[\d.]+ +[\d.]+ .* (\w+)$", text), ["twice", "first"])

    def test_the_positive_option_wins(self):
        """-P, -Q and -Z have a lower precedence than -p, -q and -C."""
        self.assertIn("work", self.flat("-pwork", "-Pwork"))
        self.assertIn("work", self.graph("-qwork", "-Qwork"))
        self.assertEqual(self.tally("-Cwork", "-Zwork"), {"work": 4})

    def test_graph_of_symbols(self):
        """Only of these and of what they call."""
        self.assertEqual(set(self.entries(self.gprof("-b", "-qwork", "-qfirst"))), {"work", "twice", "first"})

    def test_no_graph_of_symbols(self):
        self.assertNotIn("Call graph", self.gprof("-Q"))
        self.assertEqual(set(self.entries(self.gprof("-b", "-Qwork"))), {"main", "rest", "twice", "first"})

    def test_execution_counts(self):
        """A tally of functions and of the number of times each was called."""
        self.assertEqual(self.tally("-C"), {"first": 1, "twice": 30, "work": 4, "rest": 2})
        self.assertEqual(self.tally("-Cwork", "-Crest"), {"work": 4, "rest": 2})
        self.assertEqual(self.tally("-Zwork"), {"first": 1, "twice": 30, "rest": 2})

    def test_least_count(self):
        """In source, what is executed less often than asked has five hash marks instead of its count."""
        lines = self.annotated("-A", "-m", "4")
        self.assertEqual([lines[n - 1].split()[0] for n in (2, 6, 10, 17)], ["#####", "30", "4", "#####"])

    def test_block_counts_by_line(self):
        """With -l, -C tallies the basic blocks that the profile has counts of; any address of a block may name it."""
        line = self.address_of_line("work", 13)
        for inside in 0, 2:
            text = self.gprof("-b", "-l", "-C", data=self.profile(blocks=[(line + inside, 77)]))
            self.assertRegex(text, r"(?m)a\.c:13: \(work:0x\w+\) 77 executions$")

    # -- source

    def test_annotated_source_of_symbols(self):
        """The entire file is printed, and only the function itself has figures."""
        lines = self.annotated("-Awork")
        self.assertEqual([line[16:] for line in lines], SOURCE.splitlines())
        self.assertEqual([(n, line.split()[0]) for n, line in enumerate(lines, 1) if line[:16].strip()], [(10, "4")])

    def test_no_annotated_source_of_symbols(self):
        self.assertNotIn("*** File", self.gprof("-J"))
        lines = self.annotated("-Jwork")
        self.assertEqual([n for n, line in enumerate(lines, 1) if line[:16].strip() not in ("", "##### ->")], [2, 6, 17])

    def test_folders_of_source(self):
        """A list with colons, by -I and by GPROF_PATH, where the file is not where it was compiled; the first that has it."""
        folders = [self.dir / name for name in ("gone", "none", "some", "else")]
        for folder in folders:
            folder.mkdir()
            (folder / "a.c").write_text(SOURCE.replace("n + 1;\n}\nstatic", f"n + 1; /* {folder.name} */\n}}\nstatic"))
        subprocess.run([*COMPILE, "a.c"], cwd=folders[0], check=True)
        (folders[0] / "a.c").unlink()
        (folders[1] / "a.c").unlink()
        where = ":".join(map(str, folders[1:]))
        for options, environment in (["-I", where], {}), ([], {"GPROF_PATH": where}):
            lines = self.annotated("-A", *options, program=folders[0] / "p", env=environment)
            self.assertEqual(lines[2].strip(), "return n + 1; /* some */")

    def test_whole_paths(self):
        """Without -L, the path of a source file is not printed; it is relative to where the compiler ran."""
        for options, file in ((), "a.c"), (["-L"], str(self.dir / "a.c")):
            self.assertRegex(self.gprof("-b", "-l", "-p", *options), rf"(?m) work \({re.escape(file)}:10 @ \w+\)$")

    def test_table_of_lines(self):
        """The lines with the largest counts: ten, or as many as are asked for, or no table."""
        functions = range(12)
        (self.dir / "many.c").write_text("".join(f"int f{n}(void) {{ return {n}; }}\n" for n in functions) + "int main(void) {}\n")
        subprocess.run([*COMPILE[:-1], "many", "many.c"], cwd=self.dir, check=True)
        symbols = subprocess.run(["nm", "many"], cwd=self.dir, check=True, capture_output=True, text=True).stdout
        at = {name: int(where, 16) for where, name in re.findall(r"(?m)^(\w+) T (\w+)$", symbols)}
        data = gmon([(at["f0"], at["f0"] + 4, [1, 0])], [(at["main"], at[f"f{n}"], n + 1) for n in functions])

        def table(*options):
            text = self.gprof("-b", "-A", *options, program=self.dir / "many", data=data)
            return re.findall(r"(?m)^ +(\d+) +(\d+)$", text.partition("Top ")[2])

        hottest = [(str(n + 1), str(n + 1)) for n in reversed(functions)]
        for options, number in ((), 10), (("-t", "2"), 2), (("-t", "12"), 12), (("-t", "0"), 0):
            self.assertEqual(table(*options), hottest[:number], options)

    def test_separate_files(self):
        """Source is written to a file of the name with -ann in the folder of the command."""
        folder = self.dir / "here"
        folder.mkdir()
        text = self.gprof("-b", "-A", "-y", "-I", self.dir, cwd=folder)
        self.assertNotIn("int work", text)
        self.assertEqual([path.name for path in folder.iterdir()], ["a.c-ann"])
        self.assertRegex((folder / "a.c-ann").read_text(), r"(?m)^ +4 -> \{$")

    def test_every_line(self):
        """Only the first line of a block is annotated; with -x every one, by repeating it."""
        line = self.address_of_line("work", 13)
        blocks = self.profile(blocks=[(line, 77)])
        first, every = (self.annotated("-A", "-l", *options, data=blocks) for options in ([], ["-x"]))
        self.assertEqual([lines[12].split()[0] for lines in (first, every)], ["77", "77"])
        self.assertEqual([lines[13][:16].strip() for lines in (first, every)], ["", "77 ->"])

    # -- analysis

    def test_no_private_functions(self):
        """What private functions took belongs to the function before them, in both reports."""
        flat = self.flat("-a")
        self.assertEqual({name: row[1:] for name, row in flat.items()}, {"first": (3, 31), "work": (3, 4), "rest": (4, 2)})
        self.assertEqual(self.graph("-a")["work"][2], {"first": "30/31"})

    def test_static_call_graph(self):
        """Calls in the machine code that never happened have a count of 0."""
        graph = self.graph("-c", "-z")
        self.assertEqual((graph["never"][0], graph["never"][2]), ({}, {"rest": "0/2"}))
        self.assertEqual(graph["rest"][0], {"never": "0/2", "main": "2/2"})
        self.assertNotIn("never", self.graph("-z")["rest"][0])

    def test_arcs_are_deleted(self):
        graph = self.graph("-k", "work/twice")
        self.assertEqual((graph["work"][2], graph["rest"][2]), ({}, {"work": "4/4"}))

    def test_times_of_symbols(self):
        """Only times of these are propagated, and percentages are of them; the flat profile stays."""
        def share(name, *options):
            return float(self.graph(*options)[name][1].split()[1])

        self.assertEqual((share("work"), share("twice")), (50, 20))
        self.assertEqual((share("work", "-nwork"), share("twice", "-nwork")), (100, 40))
        self.assertEqual((share("work", "-Nrest"), share("twice", "-Nrest")), (83.3, 33.3))
        self.assertEqual(share("work", "-nwork", "-Nwork"), 100)
        self.assertEqual(self.flat("-nwork"), self.flat())

    def test_unused_functions(self):
        """Also those that never ran and took no time."""
        self.assertNotIn("never", self.flat())
        self.assertEqual(self.flat("-z")["never"], (0, 0, 0))

    def test_lines(self):
        """Samples belong to lines of source, named "function (file:line"."""
        data = self.profile(samples={self.address_of_line("work", 13): 30, self.address_of_line("rest", 19): 70})
        rows = self.flat("-l", data=data)
        self.assertEqual({re.sub(r" @ \w+", "", name): row[1] for name, row in rows.items()},
                         {"work (a.c:13)": 0.3, "rest (a.c:19)": 0.7, "first (a.c:2)": 0, "twice (a.c:6)": 0, "work (a.c:10)": 0,
                          "rest (a.c:17)": 0})

    def test_call_sites(self):
        """Addresses of calls close to the call say which line of source it is on."""
        sites = [(self.address_of_line("rest", line), "work", n) for line, n in ((18, 5), (19, 7))]
        text = self.gprof("-b", "-q", "-l", data=self.profile(samples={"work": 10}, calls=sites))
        entry = next(block for block in text.split("-" * 47) if re.search(r"(?m)^\[\d+\].* work ", block))
        self.assertEqual(sorted(re.findall(r"(\d+)/12 +rest \(a\.c:(\d+) ", entry)), [("5", "18"), ("7", "19")])

    # -- files

    def test_file_formats(self):
        """auto tries the magic and falls back to BSD's; a format that is named is taken."""
        bins, (caller, callee) = [5, 6], (self.at["main"] + 4, self.at["work"])
        low = self.at["work"]
        old = struct.pack("<2QI2H", low, low + 4, 20 + 4, *bins) + struct.pack("<3Q", caller, callee, 9)
        for options in ["-O", "auto"], ["-O", "bsd"], []:
            self.assertEqual(self.flat(*options, data=old)["work"], (100, 0.11, 9))
        self.assertEqual(self.flat("-O", "magic")["work"][2], 4)
        (self.dir / "old").write_bytes(old)
        for options in ["-O", "magic", "p", "old"], ["-O", "prof", "p", "gmon.out"]:
            self.assertEqual(monarc("gprof", *options, cwd=self.dir).returncode, 1, options)

    def test_a_sum_may_be_one_of_its_files(self):
        (self.dir / "gmon.sum").write_bytes(self.profile())
        for times in 2, 3:
            done = monarc("gprof", "-s", "p", "gmon.sum", "gmon.out", cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.flat(data=(self.dir / "gmon.sum").read_bytes())["work"], (30, 3 * times, 4 * times))

    # -- options of old

    def test_functions_that_are_not_printed(self):
        """Its entry is not there; those that call it still list it; every such option has one function."""
        graph_text = self.gprof("-b", "-q", "-e", "work", "-e", "first")
        self.assertEqual(set(self.entries(graph_text)), {"main", "rest", "twice"})
        self.assertEqual(len(re.findall(r"(?m) 4/4 +work \(\d+\)$", graph_text)), 1)
        self.assertRegex(graph_text, r"(?m) 1/1 +first \(\d+\)$")

    def test_functions_without_their_time(self):
        """-E is -e, but the time of the function is not part of all time."""
        def share(option):
            return float(self.graph(option, "first")["rest"][1].split()[1])

        self.assertEqual((share("-e"), share("-E")), (90, 100))

    def test_functions_and_what_they_call(self):
        """-f limits the graph to a function and its descendants; with -F, percentages are of their time."""
        for option, share in ("-f", 50), ("-F", 100):
            graph = self.graph(option, "work")
            self.assertEqual(set(graph), {"work", "twice"})
            self.assertEqual(float(graph["work"][1].split()[1]), share)
        self.assertEqual(set(self.graph("-f", "twice", "-f", "first")), {"twice", "first"})

    def test_one_of_both_wins(self):
        """-F overrides -E of the same function."""
        for options in ("-F", "work", "-E", "work"), ("-E", "work", "-F", "work"):
            self.assertEqual(self.graph(*options)["work"], self.graph("-F", "work")["work"])
        self.assertNotIn("work", self.graph("-E", "work"))

    # -- how it looks

    def test_width(self):
        """Only the index at the end is as wide as asked."""
        texts = [self.gprof("-b", "-q", "-w", width).partition("Index by function name") for width in (40, 80, 120)]
        self.assertEqual(len({before for before, _, _ in texts}), 1)
        places = [re.search(r"(?m)^.*(?=\[4\] twice)", index)[0] for _, _, index in texts]
        self.assertTrue(len(places[0]) < len(places[1]) < len(places[2]), places)

    def test_function_order(self):
        """A suggested order of functions: the hottest caller and callee are neighbours."""
        lines = re.findall(r"(?m)^(\w+)$", self.gprof("-r", "-b"))
        self.assertEqual(abs(lines.index("work") - lines.index("twice")), 1)

    def test_symbols_of_another_table(self):
        (self.dir / "symbols").write_text("".join(f"{at:016x} T other_{name}\n" for name, at in self.at.items()))
        self.assertIn("other_work", self.flat("-S", "symbols"))


if __name__ == "__main__":
    main()
