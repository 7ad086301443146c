"""Reports on recordings that a program made of itself, with the recorder loaded into it: every
figure is compared with what the program says of itself, or with what the recorder's files say when
read by the tests' own reader."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

from harness import ROOT, check_schema, cpu_seconds, main, monarc, monarc_json, wait_for
from parts import load_tests, slow

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/runtime/profile"))
from recorder import Recording, Side  # noqa: E402
from test_run import CC, FLAGS, Case  # noqa: E402


class Reports(Case):
    def record(self, program, *arguments, options=()):
        """The options are pairs of the recorder's variables and their values."""
        environment = dict(os.environ, LD_PRELOAD=os.environ["MONARC_RT_SO"], MONARC_OUT="r",
                           **dict(options))
        subprocess.run([program, *map(str, arguments)], cwd=self.dir, env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        return self.dir / "r"

    @slow
    def test_calls_are_exact(self):
        """Of the executable and of a library, and between the two."""
        library = self.build("lib.c", *FLAGS, "-fPIC", "-shared", name="libcalled.so", text="""
            __attribute__((noipa)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
            int called(int i) { return inner(i) + inner(i); }
        """)
        program = self.build("prog.c", *FLAGS, str(library), name="prog", text="""
            int called(int);
            int main(void) { for (int i = 0; i < 1000; i++) called(i); return 0; }
        """)
        folder = self.record(program)
        rows, summary = self.flat(folder)
        self.assertEqual({n: rows[n]["calls"] for n in ("main", "called", "inner")},
                         {"main": 1, "called": 1000, "inner": 2000})
        self.assertEqual(rows["called"]["object"], "libcalled.so")
        self.assertNotIn("object", rows["main"])
        self.assertEqual(summary["calls"], 3001)
        graph = monarc_json("graph", folder)
        check_schema(self, "graph", graph)
        entry = next(e for e in graph["entries"] if e.get("name") == "called")
        self.assertEqual([(c["name"], c["calls"]) for c in entry["callers"]], [("main", 1000)])

    FENTRY = """
        #include <pthread.h>
        #include <setjmp.h>
        #include <stdlib.h>
        static volatile int sink;
        static jmp_buf back;
        #define APART __attribute__((noipa)) static
        APART void busy(int n) { for (int i = 0; i < n; i++) sink += i; }
        APART void left(void) { busy(300000); __asm__ volatile(""); }
        APART void right(void) { busy(100000); __asm__ volatile(""); }
        APART int compare(const void *a, const void *b) { busy(300); return *(const int *)a - *(const int *)b; }
        APART void sorts(void)
        {
            int v[150];
            for (int i = 0; i < 150; i++)
                v[i] = i * 7919 % 150;
            qsort(v, 150, sizeof *v, compare);
            __asm__ volatile("");
        }
        APART int deep(int n)
        {
            if (n)
                return deep(n - 1) + 1;
            busy(100000);
            return 0;
        }
        APART void jumps(void) { busy(1000); longjmp(back, 1); }
        APART void lands(void) { if (!setjmp(back)) jumps(); busy(100000); __asm__ volatile(""); }
        APART void *other(void *unused)
        {
            for (int i = 0; i < 1000; i++)
                left();
            return unused;
        }
        int main(void)
        {
            pthread_t thread;
            pthread_create(&thread, 0, other, 0);
            for (int i = 0; i < 1000; i++) {
                left();
                right();
                sorts();
                deep(20);
                lands();
            }
            return pthread_join(thread, 0);
        }
    """

    @slow
    def test_fentry_has_stacks(self):
        """-pg -mfentry, gcc 16's default, keeps no frame pointers: stacks are of what was entered. Times go
        along the calls that were made, also behind libc's functions, longjmp and recursion."""
        if os.uname().machine != "x86_64":
            self.skipTest("-mfentry is of x86")
        for number, flags in enumerate((("-O2",), ("-O2", "-fno-omit-frame-pointer"), ("-O0",))):
            program = self.build(f"f{number}.c", *flags, "-g", "-pg", "-mfentry", "-pthread", *FLAGS[2:],
                                 "-fno-optimize-sibling-calls", name=f"f{number}", text=self.FENTRY)
            folder = self.record(program)
            rows, summary = self.flat(folder)
            samples = sum(row["self_samples"] for row in rows.values()
                          if row["name"] in ("busy", "left", "right", "compare", "sorts", "deep"))
            self.assertEqual({n: rows[n]["calls"] for n in ("left", "right", "sorts", "lands", "jumps", "busy")},
                             {"left": 2000, "right": 1000, "sorts": 1000, "lands": 1000, "jumps": 1000,
                              "busy": 6000 + rows["compare"]["calls"]})
            self.assertGreater(samples, 50)
            whole = rows["busy"]["self_samples"]
            work = {"left": 2000 * 300, "right": 1000 * 100, "deep": 1000 * 100, "lands": 1000 * 101,
                    "compare": rows["compare"]["calls"] * 0.3}
            for name, units in work.items():
                self.assertAlmostEqual(rows[name]["total_samples"] / whole, units / sum(work.values()), delta=0.15,
                                       msg=(flags, name))
            self.assertGreater(rows["main"]["total_samples"] + rows["other"]["total_samples"], 0.95 * samples)
            self.assertGreater(rows["sorts"]["total_samples"], 0.9 * rows["compare"]["total_samples"])
            tree = monarc("graph", "--tree", "--chains", "--depth", "40", folder).stdout.decode()
            for row in r" 1 > main\n", r" 2 +deep\n", r" 22 +> deep\n.* 23 +> busy\n", r" 2 +lands\n.* 3 +>? *busy\n":
                self.assertRegex(tree, row)
            self.assertNotIn("callers are unknown", tree)
            shutil.rmtree(folder)

    @slow
    def test_lines_of_two_objects(self):
        """Calls from lines to lines, across a library's border; samples add up."""
        library = self.build("busy.c", *FLAGS, "-fPIC", "-shared", name="libbusy.so", text="""
            static volatile int sink;
            __attribute__((noipa)) void busy(int n)
            {
                for (int i = 0; i < n; i++)
                    sink += i;
            }
        """)
        program = self.build("idler.c", *FLAGS, str(library), name="idler", text="""
            void busy(int);
            int main(void)
            {
                for (int i = 0; i < 200; i++)
                    busy(300000);
                return 0;
            }
        """)
        folder = self.record(program)
        table = monarc_json("lines", folder)
        check_schema(self, "lines", table)
        rows = {(row["name"], row["line"]): row for row in table["lines"]}
        self.assertEqual(rows["main", 6]["calls"], 200)
        entry = next(row for row in table["lines"] if row["name"] == "busy" and row["entered"])
        self.assertEqual((entry["entered"], entry["object"]), (200, "libbusy.so"))
        self.assertTrue(entry["file"].endswith("busy.c"))
        total = sum(row["self_samples"] for row in table["lines"])
        self.assertAlmostEqual(total + table["summary"]["unattributed_samples"],
                               table["summary"]["samples"])
        hot = max(table["lines"], key=lambda row: row["self_samples"])
        self.assertIn((hot["name"], hot["line"]), [("busy", 5), ("busy", 6)])

    @slow
    def test_same_calls_as_the_files_say(self):
        program = self.build("threads.c")
        folder = self.record(program)
        rows, _ = self.flat(folder)
        for name, calls in Recording(folder).calls().items():
            if name in rows:
                self.assertEqual(rows[name]["calls"], calls, name)

    @slow
    def test_libraries_loaded_again(self):
        plugins = [self.build("plugin.c", *FLAGS, "-fPIC", "-shared", "-DNAME=" + name,
                              name=name + ".so") for name in ("first", "second")]
        program = self.build("plugins.c", *FLAGS, "-ldl")
        rounds = 10
        rows, _ = self.flat(self.record(program, *plugins, rounds))
        for name, each in ("first", 10), ("second", 1000):
            self.assertEqual(rows[name + "_inner"]["calls"],
                             each * rounds + rounds * (rounds - 1) // 2)

    @slow
    def test_totals_are_measured(self):
        """Three quarters of spin() are below left(); by call counts it would be one half."""
        folder = self.record(self.build("busy.c"), "0.5")
        rows, summary = self.flat(folder)
        samples = summary["samples"]
        self.assertAlmostEqual(rows["left"]["total_samples"] / samples, 0.75, delta=0.15)
        self.assertAlmostEqual(rows["right"]["total_samples"] / samples, 0.25, delta=0.15)
        self.assertAlmostEqual(rows["left"]["model_total_samples"] / samples, 0.5, delta=0.1)
        self.assertGreater(rows["work"]["total_samples"], 0.9 * samples)
        text = monarc("flat", "--model", "--wide", folder).stdout.decode()
        self.assertRegex(text, r"total s +model s +off by")

    @slow
    def test_annotate(self):
        """Lines of the program and of what it loaded; every sample is somewhere."""
        source = "spin.c"
        text = ("volatile unsigned long x;\nint main(void)\n{\n"
                "    for (unsigned long i = 0; i < 400000000; i++)\n        x += i;\n"
                "    return 0;\n}\n")
        folder = self.record(self.build(source, "-g", "-O1", text=text))
        found = monarc_json("annotate", "--all", folder)
        check_schema(self, "annotate", found)
        lines = {line["line"]: line for f in found["files"] if f["recorded"].endswith(source)
                 for line in f["lines"]}
        total = sum(line.get("self_samples", 0) for f in found["files"] for line in f["lines"])
        rest = found["omitted"]
        total += rest["self_samples"] + rest["no_line_samples"] + rest["other_samples"]
        self.assertAlmostEqual(total + found["summary"]["unattributed_samples"],
                               found["summary"]["samples"], places=6)
        self.assertGreater(sum(lines[n]["self_samples"] for n in (4, 5)),
                           0.8 * found["summary"]["samples"])
        self.assertEqual(lines[5]["text"], "        x += i;")

    def line(self, graph, name, key, other):
        entry = next(e for e in graph["entries"] if e.get("name") == name)
        found = [x for x in entry[key] if x.get("name") == other]
        return found[0]["self_samples"] + found[0]["callees_samples"] if found else 0

    @slow
    def test_graph_is_measured(self):
        """spin() belongs to left() by three quarters; by call counts it would be one half."""
        folder = self.record(self.build("busy.c"), "0.5")
        graph = monarc_json("graph", folder)
        check_schema(self, "graph", graph)
        self.assertTrue(graph["measured"])
        of_left, of_right = (self.line(graph, "spin", "callers", n) for n in ("left", "right"))
        self.assertAlmostEqual(of_left / (of_left + of_right), 0.75, delta=0.15)
        self.assertEqual(self.line(graph, "work", "callees", "left"),
                         self.line(graph, "left", "callers", "work"))
        flat = self.flat(folder)[0]
        for entry in graph["entries"]:
            self.assertAlmostEqual(entry["self_samples"] + entry["callees_samples"],
                                   flat[entry["name"]]["total_samples"], delta=0.01)
        model = monarc_json("graph", "--model", folder)
        check_schema(self, "graph", model)
        self.assertFalse(model["measured"])
        of_left, of_right = (self.line(model, "spin", "callers", n) for n in ("left", "right"))
        self.assertAlmostEqual(of_left / (of_left + of_right), 0.5, delta=0.1)
        self.assertIn(b"\nTimes ", monarc("graph", folder).stdout)
        self.assertIn(b"\nModel ", monarc("graph", "--model", folder).stdout)
        tree = monarc("graph", "--callers", "spin", folder).stdout
        self.assertLess(tree.index(b"left"), tree.index(b"right"))

    @slow
    def test_recursion_is_measured_once(self):
        folder = self.record(self.build("deep.c"), "50", "0.3")
        graph = monarc_json("graph", folder)
        samples = graph["summary"]["samples"]
        for name, caller in ("down", "outermost"), ("burn", "down"):
            of_caller = self.line(graph, name, "callers", caller)
            self.assertGreater(of_caller, 0.8 * samples)
            self.assertLessEqual(of_caller, samples)

    @slow
    def test_average_example(self):
        """gprof's answer is wrong by a factor of nine; ours is right."""
        program = self.built / "average"
        subprocess.run([*CC, "-pg", "-g", "-O0", ROOT / "examples/average/average.c", "-o",
                        program], check=True)
        rows, summary = self.flat(self.record(program, 30))
        total = summary["samples"]
        self.assertAlmostEqual(rows["poster"]["total_samples"] / total, 0.9, delta=0.1)
        self.assertAlmostEqual(rows["poster"]["model_total_samples"] / total, 0.1, delta=0.05)
        self.assertEqual((rows["draw"]["calls"], rows["poster"]["calls"]), (300, 30))

    @slow
    def test_pipeline_example(self):
        """Threads, and calls from one object to the other: exact."""
        where, rounds = ROOT / "examples/pipeline", 5
        library = self.dir / "libwords.so"
        subprocess.run([*CC, "-pg", "-g", "-O0", "-fPIC", "-shared", "-Wl,-soname,libwords.so",
                        where / "words.c", "-o", library], check=True)
        subprocess.run([*CC, "-pg", "-g", "-O0", "-pthread", where / "pipeline.c", library, "-o",
                        self.dir / "pipeline", f"-Wl,-rpath,{self.dir}"], check=True)
        folder = self.record("./pipeline", rounds)
        rows, _ = self.flat(folder)
        words = 20000 * rounds
        self.assertEqual({n: rows[n]["calls"] for n in ("word_make", "next_random", "word_hash",
                                                        "count_words", "counter", "sort_counts")},
                         {"word_make": words, "next_random": 6 * words, "word_hash": 8 * words,
                          "count_words": 2 * rounds, "counter": 2, "sort_counts": rounds})
        self.assertEqual(rows["word_hash"]["object"], "libwords.so")
        names = {row["name"] for row in monarc_json("flat", "--by-thread", folder)["rows"]}
        self.assertLessEqual({"maker", "counter", "sorter"}, names)

    @slow
    def test_totals_by_the_stacks(self):
        """Against the tests' own sums over the tree of stacks."""
        program = self.build("busy.c")
        folder = self.record(program, "0.3")
        recording = Recording(folder)
        nodes, totals = recording.side.nodes, {}
        children = {parent for parent, _, _ in nodes.values()}
        for node, (_, _, hits) in nodes.items():
            names, at = set(), node
            while hits and at != 1:
                parent, address, _ = nodes[at]
                o = recording.side.object_at(address - (at in children))
                if o and o["flags"] & 1:
                    names.add(recording.names(o).at(address - o["bias"] - (at in children)))
                at = parent
            for name in names:
                totals[name] = totals.get(name, 0) + hits
        rows, summary = self.flat(folder)
        self.assertEqual(summary["stack_samples"], recording.side.process["samples"])
        for name in "main", "work", "left", "right", "spin":
            self.assertEqual(rows[name]["total_samples"], totals[name], name)

    @slow
    def test_announcements_that_are_lost_are_said(self):
        """Of phases and regions that come faster than the monitor reads, the head says how many are missing."""
        library = os.environ["MONARC_RT_SO"]
        program = self.build("hasty.c", "-O1", "-pthread", f"-I{ROOT}/include", library,
                             f"-Wl,-rpath,{os.path.dirname(library)}", name="hasty", text="""
            #include <monarc/runtime.h>
            #include <pthread.h>
            #include <stdlib.h>
            static int times;
            static void *go(void *a)
            {
                for (int i = 0; i < times; i++) {
                    monarc_rt_region_begin("r");
                    monarc_rt_region_end("r");
                }
                return a;
            }
            int main(int argc, char **argv)
            {
                pthread_t thread;
                times = atoi(argv[argc - 1]);
                pthread_create(&thread, NULL, go, NULL);
                go(NULL);
                return pthread_join(thread, NULL);
            }
        """)
        for times, is_lost in (10, False), (1000000, True):
            done = monarc("run", "-o", self.dir / f"r{times}", program, times)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"times by phase and region are incomplete (" in done.stderr, is_lost, done.stderr)

    @slow
    def test_other_build(self):
        program = self.dir / "busy"
        shutil.copy(self.build("busy.c"), program)
        folder = self.record(program, "0.1")
        shutil.copy(self.build("busy.c", *FLAGS, "-DOTHER=1", "-O0", name="busy0"), program)
        for option in (), ("--force",): # a file with another build-id is never taken
            done = monarc("flat", *option, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"the file is not the one that was recorded", done.stdout)
            self.assertIn(b"[no symbol] (busy)", done.stdout)
        program.unlink()
        done = monarc("flat", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"No such file", done.stdout)
        self.assertIn(b"[no symbol] (busy)", done.stdout)

    @slow
    def test_recorder_of_another_build(self):
        """An upgrade of monarc changes its library; the recordings of before stay readable."""
        library = self.dir / "libmonarc_rt.so"
        shutil.copy(os.environ["MONARC_RT_SO"], library)
        program = self.build("counts.c", name="counts", text="""
            #include <time.h>
            __attribute__((noipa)) void counted(void) { __asm__ volatile(""); }
            int main(void)
            {
                while (clock() < CLOCKS_PER_SEC / 2)
                    for (int i = 0; i < 100000; i++)
                        counted();
            }
        """)
        subprocess.run([program], cwd=self.dir, check=True, capture_output=True,
                       env=dict(os.environ, LD_PRELOAD=str(library), MONARC_OUT="r"))
        before = monarc_json("flat", "--by-object", self.dir / "r")
        side = Recording(self.dir / "r").side
        build_id = bytes.fromhex(next(o["build_id"] for o in side.objects.values()
                                      if o["path"] == str(library)))
        library.write_bytes(library.read_bytes().replace(build_id, bytes(len(build_id))))
        after = monarc_json("flat", "--by-object", self.dir / "r")
        self.assertIn(str(library), [row["name"] for row in before["rows"] if row["self_samples"]])
        self.assertEqual(before, after)
        self.assertEqual(monarc("graph", self.dir / "r").returncode, 0)

    @slow
    def test_by_object_and_thread(self):
        folder = self.record(self.build("busy.c"), "0.2", "3")
        side = Recording(folder).side
        table = monarc_json("flat", "--by-thread", folder)
        check_schema(self, "shares", table)
        self.assertEqual(sorted((r["thread"], r["self_samples"]) for r in table["rows"]),
                         sorted((t["tid"], t["samples"]) for t in side.threads))
        for row in table["rows"]:
            functions = {f["name"]: f for f in row["functions"]}
            self.assertAlmostEqual(sum(f["self_samples"] for f in row["functions"]),
                                   row["self_samples"], delta=0.1 * row["self_samples"])
            self.assertGreater(functions["work"]["total_samples"], 0.9 * row["self_samples"])
            self.assertGreater(functions["spin"]["self_samples"],
                               functions["work"]["self_samples"])
        text = monarc("flat", "--by-thread", "--limit", "1", folder).stdout.decode()
        self.assertEqual(text.count(" spin\n"), 3)
        table = monarc_json("flat", "--by-object", folder)
        check_schema(self, "shares", table)
        hits = {}
        for _, address, n in side.nodes.values():
            path = (side.object_at(address) or {"path": None})["path"]
            hits[path] = hits.get(path, 0) + n
        self.assertEqual({r["name"]: r["self_samples"] for r in table["rows"]
                          if r["self_samples"]}, {p: n for p, n in hits.items() if n})
        for option in "--by-object", "--by-thread":
            rows = monarc_json("flat", option, folder)["rows"]
            self.assertEqual(monarc("flat", "--csv", option, folder).stdout.count(b"\r\n"),
                             1 + sum(1 + len(r.get("functions", [])) for r in rows))
            self.assertIn(b"busy", monarc("flat", option, folder).stdout)

    @slow
    def test_order(self):
        """Calls as counted, or else as seen on stacks; functions of the program alone, or of the
        shared object that was asked for."""
        counted = self.record(self.build("busy.c"), "0.3")
        table = monarc_json("optimize", "--for", "lld", counted)
        check_schema(self, "optimize_order", table)
        names = [f["linkage_name"] for f in table["functions"]]
        self.assertEqual(table["calls_are"], "counted")
        self.assertLessEqual({"spin", "left", "right", "work", "main"}, set(names))
        self.assertNotIn("clock_gettime", names)
        self.assertEqual(monarc("optimize", "--for", "lld", "--object", "none.so", counted).returncode, 2)
        shutil.rmtree(counted)
        plain = self.record(self.build("busy.c", "-O2", "-g", "-fno-omit-frame-pointer", "-pthread",
                                       "-fno-optimize-sibling-calls", name="busy-plain"), "0.3")
        table = monarc_json("optimize", "--for", "lld", plain)
        check_schema(self, "optimize_order", table)
        names = [f["linkage_name"] for f in table["functions"]]
        self.assertEqual(table["calls_are"], "stack_samples")
        self.assertEqual(names.index("left") + 1, names.index("spin"))  # its best caller

    def test_info(self):
        folder = self.record(self.build("busy.c"), "0.1")
        side = Recording(folder).side
        found = monarc_json("info", folder)["files"][0]
        self.assertEqual(found["processes"][0]["pid"], side.process["pid"])
        texts = [(t["key"], t["value"]) for t in found["texts"]]
        self.assertEqual([value for key, value in texts if key == "argument"][1:], ["0.1"])
        self.assertIn(("written", "exit"), texts)
        self.assertIn(dict(texts)["clock"], ("perf", "timer", "itimer"))
        files = [o for o in found["objects"] if o["kind"] in ("file", "vdso")]
        self.assertEqual(sorted(o["build_id"] for o in files),
                         sorted(o["build_id"] for o in side.objects.values()))
        self.assertIn(f"  event cpu: {side.process['samples']} samples of ",
                      monarc("info", folder).stdout.decode())

    def killed(self, program, *arguments, seconds=0.5, state=None):
        """Which has worked for so long, or is in a state and has written what it was told to."""
        process = subprocess.Popen([program, *arguments], cwd=self.dir, stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, LD_PRELOAD=os.environ["MONARC_RT_SO"],
                                            MONARC_OUT="r"))
        def has_worked():
            if not (self.dir / "r/monarc.live").exists():
                return False
            if not state:
                return cpu_seconds(process.pid) >= seconds
            stat = Path(f"/proc/{process.pid}/stat").read_text()
            return bool(list(self.dir.glob("written/gmon.out"))) and stat.rpartition(")")[2].split()[0] == state
        wait_for(has_worked, "the program's work")
        return process

    @slow
    def test_recover(self):
        """To the call: the program counts its calls in a file of its own."""
        program = self.build("life.c")
        process = self.killed(program, "killed")
        done = monarc("recover", self.dir / "r")
        self.assertIn(b"still runs", done.stderr)
        process.kill()
        process.wait()
        self.assertIn(b"'monarc recover", monarc("flat", self.dir / "r").stderr)
        live = Side.read_live(self.dir / "r/monarc.live")
        made = struct.unpack("<q", (self.dir / "counter").read_bytes()[:8])[0]
        self.assertEqual(monarc("recover", self.dir / "r").returncode, 0)
        self.assertFalse((self.dir / "r/monarc.live").exists())
        recording = Recording(self.dir / "r")
        self.assertIn(recording.calls()["in_thread"] - made, (0, 1))
        rows, summary = self.flat(self.dir / "r")
        self.assertEqual(rows["in_thread"]["calls"], recording.calls()["in_thread"])
        self.assertEqual(summary["calls"], sum(live.all_arcs.values()))
        self.assertEqual(recording.side.nodes, live.nodes)
        self.assertEqual(summary["stack_samples"], sum(n for _, _, n in live.nodes.values()))
        found = monarc_json("info", self.dir / "r")
        self.assertIn({"key": "written", "value": "recovery"}, found["files"][0]["texts"])

    def test_recover_without_tables(self):
        """Nothing was counted there: that is not a recording with no calls."""
        process = self.killed(self.build("life.c"), "killed", seconds=0.1)
        process.kill()
        process.wait()
        os.truncate(self.dir / "r/monarc.live", 4096)
        done = monarc("recover", self.dir / "r")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"holds no table", done.stderr)
        self.assertEqual(os.listdir(self.dir / "r"), ["monarc.live"])

    @slow
    def test_recover_from_a_file_cut_short(self):
        process = self.killed(self.build("life.c"), "killed", seconds=0.1)
        process.kill()
        process.wait()
        os.truncate(self.dir / "r/monarc.live", 7 * 4096)  # notes take four pages
        self.assertEqual(monarc("recover", self.dir / "r").returncode, 0)
        self.assertIn(b"the live file ends inside a table", monarc("info", self.dir / "r").stdout)

    def test_recover_gives_the_same_files(self):
        """A recording on request, and what is recovered from the tables beside it."""
        program = self.build("wait.c", name="wait", text="""
            #include <unistd.h>
            __attribute__((noipa)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
            int monarc_rt_dump(const char *) __attribute__((weak));
            int main(void)
            {
                for (int i = 0; i < 100000; i++)
                    inner(i);
                monarc_rt_dump("written");
                pause();
            }
        """)
        process = self.killed(program, state="S")  # in pause()
        process.kill()
        process.wait()
        self.assertEqual(monarc("recover", self.dir / "r").returncode, 0)
        ours, theirs = Recording(self.dir / "r"), Recording(self.dir / "written")
        self.assertEqual(ours.calls()["inner"], 100000)
        mine, want = ours.gmon(), theirs.gmon()
        self.assertEqual((mine.arcs, mine.samples, mine.hists, mine.dimension),
                         (want.arcs, want.samples, want.hists, want.dimension))
        self.assertEqual(ours.side.arcs, theirs.side.arcs)
        self.assertEqual(ours.side.objects, theirs.side.objects)

    @slow
    def test_recover_tells_what_was_lost(self):
        """The program forbids itself to write files; what is left has the reason."""
        self.record(self.build("bad.c"), "fsize")
        self.assertEqual(monarc("recover", self.dir / "r").returncode, 0)
        again = monarc("recover", self.dir / "r")
        self.assertEqual((again.returncode, again.stdout), (0, f"{self.dir / 'r'}: is complete\n".encode()))
        found = monarc_json("info", self.dir / "r")["files"][0]
        self.assertIn({"key": "written", "value": "recovery"}, found["texts"])
        self.assertEqual([n["text"] for n in found["losses"]],
                         ["an output file could not be written"])
        text = monarc("info", self.dir / "r").stdout.decode()
        self.assertIn(" an output file could not be written\n", text)
        self.assertIn(b"an output file could not be written", monarc("doctor", self.dir / "r").stdout)

    def test_recover_refuses(self):
        self.assertIn(b"No such file", monarc("recover", self.dir).stderr)
        self.assertEqual(monarc("recover").returncode, 2)
        (self.dir / "monarc.live").write_bytes(bytes(8192))
        self.assertIn(b"not a recorder's live file", monarc("recover", self.dir).stderr)

    @slow
    def test_doctor(self):
        program = self.dir / "busy"
        shutil.copy(self.build("busy.c"), program)
        folder = self.record(program, "0.1")
        found = monarc_json("doctor", folder)
        check_schema(self, "doctor", found)
        self.assertFalse([f for f in found["findings"] if f["severity"] == "error"])
        self.assertEqual(monarc_json("info", folder)["files"][0]["losses"], [])
        shutil.copy(self.build("busy.c", *FLAGS, "-DOTHER=1", "-O0", name="busy0"), program)
        found = monarc_json("doctor", folder)["findings"]
        self.assertIn("other-build", [f["name"] for f in found])

    @slow
    def test_doctor_knows_of_libraries(self):
        """Next to no sample hits the executable: all time is in a library, which is no fault."""
        library = self.build("time.c", *FLAGS, "-fPIC", "-shared", name="libtime.so", text="""
            #include <time.h>
            void spend(void)
            {
                while (clock() < CLOCKS_PER_SEC / 2)
                    for (volatile long i = 0; i < 1000000; i++);
            }
        """)
        program = self.build("none.c", *FLAGS, str(library), name="none", text="""
            void spend(void);
            int main(void) { for (volatile long i = 0; i < 20000000; i++); spend(); return 0; }
        """)
        folder = self.record(program, options=[("MONARC_RATE", "5000")])
        found = monarc_json("doctor", folder)["findings"]
        self.assertFalse([f for f in found
                          if f["name"] in ("clock-stopped", "no-samples", "few-samples")])
        samples = Recording(folder).side.process["samples"]
        self.assertIn(f"Samples  {samples} of", monarc("doctor", folder).stdout.decode())

    @slow
    def test_folders_that_are_none(self):
        self.assertIn(b"a folder without a recording", monarc("flat", self.dir).stderr)
        folder = self.record(self.build("busy.c"), "0.05")
        side = folder / "monarc.side"
        whole = side.read_bytes()
        for damaged in whole[:-1], whole[:100], b"", whole[:200] + b"\xff" + whole[201:]:
            side.write_bytes(damaged)
            done = monarc("flat", folder)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
            self.assertIn(b"monarc.side: at offset", done.stderr)
        side.write_bytes(whole)
        self.assertIn(b"name it with other recordings only", monarc("flat", folder, "gmon.out").stderr)


if __name__ == "__main__":
    main()
