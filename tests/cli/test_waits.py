"""monarc waits: what programs of known truth waited for, and the reports on a recording that is
made here.

Shares are compared with tolerances that hold on a busy machine: who holds a lock sleeps and works by
the wall clock."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import DEMO, ROOT, check_schema, main, monarc, monarc_json, monarc_limited
from parts import load_tests, slow
from run_file import FILE, PERIOD, UNKNOWN, WAIT, Run
from sequential import decided, figure

sys.dont_write_bytecode = True

MAIN, ALPHA, WORK, OPEN = 0x401000, 0x401040, 0x401080, 0x4010e0
FUTEX, FSYNC, READ, NANOSLEEP = 202, 74, 0, 230
READY = 1 << 32
FUTEX_WORD, MUTEX, RWLOCK, FILE_RESOURCE = 0, 1, 2, 6
WAITS, RUNS, ENDED, CIRCLE = 0, 1, 3, 5
MS = 10**6
SCRATCH = tempfile.TemporaryDirectory()


def setUpModule():
    Case.program, Transfers.program = (Path(SCRATCH.name) / name for name in ("locks", "transfers"))
    compiler = os.environ.get("CC", "gcc").split()
    for program in Case.program, Transfers.program:
        subprocess.run([*compiler, "-g", "-O1", "-pthread", ROOT / f"tests/record/programs/{program.name}.c",
                        "-o", program], check=True)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def table(self, name, folder, *arguments):
        table = monarc_json(name, folder, *arguments)
        check_schema(self, "waits", table)
        is_of_files = "--files" in (folder, *arguments)
        self.assertEqual(table["report"], "waits_files" if is_of_files else "waits")
        for row in table["rows"]:  # the laws
            self.assertAlmostEqual(sum(w["seconds"] for w in row["waiters"]), row["seconds"])
            self.assertEqual(sum(w["waits"] for w in row["waiters"]), row["waits"])
            self.assertAlmostEqual(sum(h["seconds"] for h in row["holders"] if not h["depth"]),
                                   row["held_seconds"])
            for written, of in (False, "read_bytes"), (True, "written_bytes"):
                self.assertEqual(sum(t["bytes"] for t in row.get("transfers", []) if t["is_write"] == written),
                                 row.get(of, 0))
        if "transferred" in table and is_of_files:
            for of in "read_bytes", "written_bytes":
                placed = table["transferred"][f"placed_{of}"]
                self.assertEqual(sum(row[of] for row in table["rows"]), placed)
                self.assertLessEqual(placed, table["transferred"][of])
        self.assertAlmostEqual(sum(row["seconds"] for row in table["rows"]), table["seen_seconds"])
        self.assertLessEqual(table["seen_seconds"],
                             (table["waited_seconds"] + table["ready_seconds"]) * 1.000001)
        return table

    def record(self, *command, options=()):
        folder = self.dir / "r.monarc"
        done = monarc("run", "--off-cpu", "--no-report", *options, "-o", folder, self.program, *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def rows(self, *command, report=("waits",), options=()):
        rows = self.table(*report, self.record(*command, options=options))["rows"]
        return {row["name"] or row["kind"]: row for row in reversed(rows)}  # the first one has most time

    def share(self, row, of, doing="waits", depth=0):
        """Of the row's time, in which a holder at that depth had the function on its stack."""
        return sum(h["share"] for h in row["holders"]
                   if h["depth"] == depth and h["doing"] == doing and of in h["stack"])


@decided
class Truth(Case):
    """A holder sleeps for a known time; how long it then waits for a CPU depends on the machine, so
    that times are compared, and not shares."""

    def held(self, row, of, **more):
        return self.share(row, of, **more) * row["seconds"]

    def test_holder_asleep_three_quarters(self):
        row = self.rows("share")["g_cache_lock"]
        self.assertEqual(row["kind"], "mutex")
        figure(self).assertTrue(3 <= row["waits"] <= 5 and row["seconds"] > 0.6, row)
        self.assertIn("cache_get", row["waiters"][0]["stack"])
        figure(self).assertTrue(0.3 < self.held(row, "hold_asleep") < 1.3, row)  # 0.75
        runs = [h for h in row["holders"] if h["doing"] == "runs"]
        figure(self).assertLess(0.03, sum(h["seconds"] for h in runs), row)  # 0.25, or more if a CPU is waited for
        self.assertTrue(any("hold_busy" in h["stack"] for h in runs), row)

    def test_the_first_thread_has_ended(self):
        for method in "perf", "ptrace":
            row = self.rows("share", "gone", options=["--method", method])["g_cache_lock"]
            self.assertEqual(row["kind"], "mutex")
            self.assertIn("cache_get", row["waiters"][0]["stack"])
            figure(self).assertTrue(0.2 < self.held(row, "hold_asleep") < 1.5, row)

    def test_ptrace_sees_holders_too(self):
        row = self.rows("share", options=["--method", "ptrace"])["g_cache_lock"]
        figure(self).assertTrue(0.2 < self.held(row, "hold_asleep") < 1.5, row)

    def test_chain_of_three(self):
        rows = self.rows("chain")
        outer = rows["g_outer"]
        figure(self).assertGreater(self.held(outer, "chain_middle"), 0.35, outer)  # 0.6
        figure(self).assertGreater(self.held(outer, "chain_inner", depth=1), 0.35, outer)
        self.assertEqual(outer["holders"][0]["waits_for"], "mutex g_cache_lock")
        self.assertEqual(outer["holders"][1]["call"], "clock_nanosleep")
        figure(self).assertGreater(self.held(rows["g_cache_lock"], "chain_inner"), 0.35)

    def test_kinds_of_locks(self):
        rows = self.rows("kinds")
        self.assertEqual(rows["g_pi"]["kind"], "PI mutex")
        self.assertEqual(rows["g_robust"]["kind"], "mutex")
        for name in ("g_pi", "g_robust"):
            figure(self).assertGreater(self.held(rows[name], "mutex_holder"), 0.2, rows[name])  # 0.4
            self.assertNotIn("circle", {h["doing"] for h in rows[name]["holders"]})
        table = rows["g_table"]
        self.assertEqual(table["kind"], "rwlock")
        figure(self).assertTrue(0.3 < self.held(table, "writer_holder") < 1.3, table)  # 2 x 0.4
        self.assertEqual({tuple(h["stack"])[-1:] for h in table["holders"] if h["stack"]},
                         {("writer_holder",)})
        self.assertIn("readers", table["why_unheld"])
        figure(self).assertGreater(self.held(rows["join"], "writer_holder"), 0.1, rows["join"])

    @slow
    def test_join_at_a_state(self):
        """As glibc waits from 2.43 on."""
        rows = self.table("waits", self.record("joined"))["rows"]
        row, = [row for row in rows if (row.get("function"), row["kind"]) == ("joins", "join")]
        figure(self).assertGreater(self.held(row, "is_joined"), 0.1, row)  # 0.4

    def test_what_nobody_holds(self):
        rows = self.rows("signalled")
        self.assertEqual(rows["g_ready"]["kind"], "condition variable")
        self.assertEqual(rows["g_items"]["kind"], "semaphore")
        for name in ("g_ready", "g_items"):
            self.assertEqual(rows[name]["holders"], [])
            self.assertIn("some thread will", rows[name]["why_unheld"])
            figure(self).assertGreater(rows[name]["seconds"], 0.2)
            for waker in rows[name]["wakers"][:1]:  # they are recorded for those who may
                self.assertEqual((waker["woken_by"], waker["function"], waker["threads"]), ("thread", "producer", 1))
                figure(self).assertGreater(waker["seconds"], 0.2)

    def test_locks_on_the_heap_are_one_row(self):
        row = self.rows("heap")["mutex"]
        self.assertEqual((row["function"], row["objects"]), ("mutex_waiter", 3))
        figure(self).assertGreater(self.held(row, "mutex_holder"), 0.6, row)  # 3 x 0.4

    def test_locks_of_one_variable_are_rows_each(self):
        rows = self.rows("pair")
        for name in "g_pair", "g_pair+0x28":
            figure(self).assertIn(name, rows)
            figure(self).assertGreater(self.held(rows[name], "mutex_holder"), 0.2, rows)  # 0.4

    @slow
    def test_words_of_other_libraries(self):
        rows = self.rows("words")
        figure(self).assertGreater(sum(h["seconds"] for h in rows["g_musl"]["holders"]), 0.2, rows["g_musl"])
        self.assertEqual(rows["g_musl"]["kind"], "mutex")
        for name in ("g_plain", "g_rust"):
            self.assertEqual((rows[name]["kind"], rows[name]["holders"]), ("futex", []))
            self.assertIn("names no owner", rows[name]["why_unheld"])

    @slow
    def test_hundreds_of_threads(self):
        rows = self.rows("crowd", "300", "1")
        figure(self).assertIn("g_queue", rows)  # else all were woken before the first look
        figure(self).assertGreater(self.held(rows["g_queue"], "wait_in_a_crowd"), 0.5, rows["g_queue"])

    @slow
    def test_thousands_of_threads(self):
        """All that they waited is there, by their own clock: at a place, as not looked at, or as lost in
        the storm in which they are woken."""
        folder = self.dir / "r.monarc"
        done = monarc("run", "--off-cpu", "--no-report", "-o", folder, self.program, "crowd", "3000", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        waited = float(done.stdout.split()[0])
        table = self.table("waits", folder)
        losses = monarc_json("flat", folder)["summary"]["recording"]["losses"]
        lost = sum(loss["ns"] / 1e9 for loss in losses if "when threads waited" in loss["text"])
        figure(self).assertGreater(table["waited_seconds"] + table["ready_seconds"] + lost, 0.97 * waited)
        for note in (loss for loss in losses if "2 ms and more" in loss["text"]):
            self.assertGreater(note["count"], 0)
            self.assertLessEqual(note["ns"] / 1e9, table["unseen_seconds"] * 1.000001)

    def test_sleep_is_told_apart(self):
        row = self.rows("signalled")["sleep"]
        self.assertEqual((row["function"], row["holders"]), ("hold_asleep", []))
        figure(self).assertGreater(row["seconds"], 0.5)

    def test_children_and_pipes(self):
        rows = self.rows("children")
        for kind in ("child process", "pipe"):
            figure(self).assertGreater(self.held(rows[kind], "hold_asleep"), 0.1, rows[kind])  # 0.3

    @slow
    def test_between_processes(self):
        shared = self.dir / "shared"
        rows = self.rows("processes", shared)
        memory = rows[f"{shared}+0x0"]
        self.assertTrue(memory["is_shared"])
        figure(self).assertGreater(self.held(memory, "hold_asleep"), 0.2, memory)  # 0.4
        figure(self).assertGreater(self.held(rows[str(shared)], "hold_asleep"), 0.2, rows)
        self.assertEqual(rows[str(shared)]["kind"], "file lock")

    @slow
    def test_holder_that_has_ended(self):
        row = self.rows("dead")["g_queue"]
        self.assertIn("ended", {h["doing"] for h in row["holders"]}, row)

    def test_deadlock(self):
        rows = self.rows("circle")
        for name in ("g_outer", "g_cache_lock"):
            self.assertIn("circle", {h["doing"] for h in rows[name]["holders"]}, rows)
        self.assertEqual({name: row.get("deadlock") for name, row in rows.items() if row["kind"] in ("mutex", "join")},
                         {"g_outer": 1, "g_cache_lock": 1, "join": None})
        text = monarc("doctor", self.dir / "r.monarc").stdout.decode()
        self.assertEqual(text.count("[deadlock]"), 1, text)
        self.assertNotIn("[lock-held-waiting]", text)
        self.assertRegex(text, r"  found   for (g_outer, g_cache_lock|g_cache_lock, g_outer)\n")
        text = monarc("waits", self.dir / "r.monarc").stdout.decode()
        self.assertRegex(text, r"^deadlock of g_\w+, g_\w+; \d\.\d+ s of waiting, all threads together: "
                               r"\d\.\d+ s for mutex g_")
        path = monarc("path", self.dir / "r.monarc").stdout.decode()
        self.assertRegex(path, r"^deadlock of g_\w+, g_\w+; \d\.\d+ s from start to end")
        self.assertRegex(text, r"(?m)^Deadlock mutex g_\w+, mutex g_\w+: their holders wait for each other$")
        text = monarc("flat", self.dir / "r.monarc").stdout.decode()
        self.assertRegex(text, r"^deadlock of (g_outer, g_cache_lock|g_cache_lock, g_outer); "
                               r"(0\.\d+ s|less than 1 ms) of CPU and ")


@decided
class Transfers(Case):
    """Bytes by file, which the program counts itself. Sums are the kernel's and exact; what of them belongs to
    which file follows from samples in the kernel, which not every user may take."""

    def run_mode(self, mode, options=()):
        """The table, its rows by file, and what the program says."""
        folder, files = self.dir / "t.monarc", self.dir / "files"
        files.mkdir(exist_ok=True)
        done = monarc("run", "--off-cpu", "--no-report", *options, "-o", folder, self.program, mode, files)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {}
        for line in done.stdout.decode().splitlines():
            direction, name, number = line.split()
            said[direction, name] = int(number)
        table = self.table("waits", "--files", folder)
        return table, {Path(row["name"]).name: row for row in table["rows"] if row["name"]}, said

    def check_total(self, table, said, made=2 * (16 << 20)):
        """Programs read some more when they start, libraries and /proc, and write what they say."""
        total = table["transferred"]
        read = sum(n for (direction, _), n in said.items() if direction == "read")
        self.assertTrue(read <= total["read_bytes"] < read + (1 << 20), (read, total))
        written = said["written", "c"] + made
        self.assertTrue(written <= total["written_bytes"] < written + (1 << 17), (written, total))
        return total

    def needs_places(self, table):
        taken = table["summary"]["recording"]["samples_taken"]
        if taken < 60:
            self.skipTest(f"only {taken} samples were taken: this machine is too busy for ptrace")
        if os.geteuid() and not table["transferred"]["placed_read_bytes"]:
            self.skipTest("this user may not sample the kernel")

    @slow
    def test_two_files(self):
        for options in [], ["--method", "ptrace"]:
            table, rows, said = self.run_mode("two", options)
            total = self.check_total(table, said)
            self.needs_places(table)
            a, b = rows["a"]["read_bytes"], rows["b"]["read_bytes"]
            figure(self).assertGreater(a + b, 0.5 * total["read_bytes"])
            if not options:
                figure(self).assertAlmostEqual(a / (a + b), 3 / 4, delta=0.15)
            for row, function in (rows["a"], "read_piece_of_a"), (rows["b"], "read_piece_of_b"):
                stacks = [t["stack"] for t in row["transfers"] if not t["is_write"] and t["stack"]]
                self.assertTrue(all(function in stack for stack in stacks), stacks)

    @slow
    def test_two_threads(self):
        table, rows, said = self.run_mode("threads")
        total = self.check_total(table, said)
        self.needs_places(table)
        figure(self).assertGreater(rows["a"]["read_bytes"], 0.5 * total["read_bytes"])
        figure(self).assertGreater(rows["c"]["written_bytes"], 0.5 * said["written", "c"])
        self.assertEqual(rows["c"]["read_bytes"], 0)

    @slow
    def test_child_that_ends_at_once(self):
        """Its account is gone when its end is told; that of its parent has it, too."""
        for mode in "children", "short":
            self.check_children(*self.run_mode(mode))

    def check_children(self, table, _rows, said):
        total = self.check_total(table, said)
        self.needs_places(table)
        figure(self).assertGreater(sum(row["read_bytes"] for row in table["rows"]), 0.5 * total["read_bytes"])
        figure(self).assertLess(sum(row["read_bytes"] for row in table["rows"] if row["kind"] == "pipe"), 100000)

    @slow
    def test_pipe(self):
        """Seen waiting, it is asked for more than there is: only if it was the thread's only call, that is known.
        Beside reading of files, which takes nearly all of the thread's time, it gets next to nothing: what one of
        some thirty samples stands for, or two where the machine is busy."""
        for mode in "pipe", "mixed":
            table, _, said = self.run_mode(mode)
            self.check_total(table, said, 2 * (16 << 20) + 40000)
            pipe = next(row for row in table["rows"] if row["kind"] == "pipe")
            if mode == "mixed":
                figure(self).assertLess(pipe["read_bytes"], 0.5 * table["transferred"]["read_bytes"])
            else:
                figure(self).assertLessEqual(pipe["read_bytes"], said["read", "pipe"] * 1.05, pipe)
            if mode == "pipe":
                figure(self).assertGreater(pipe["read_bytes"], 0)
                self.assertTrue(any("main" in t["stack"] for t in pipe["transfers"]))


def made_run():
    """Two threads: one waits for 3 s for a lock, for 2.7 s of it while the other one is in fsync."""
    run = Run("./demo", stacks=10, whole=10, length=4 * 10**9)
    demo, wait = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(WAIT)
    run.process(7, 1, demo, "demo", end=4 * 10**9)
    run.thread(0, 7, "demo")
    run.thread(0, 8, "evictor")
    run.resources += [(MUTEX, 0, 0x5000, "g_cache_lock"), (FILE_RESOURCE, None, 9, "/data/wal"),
                      (MUTEX, 0, 0x7000, None), (MUTEX, 0, 0x7100, None)]
    waiter, holder = [(demo, MAIN + 8), (demo, ALPHA + 8), (wait, FUTEX)], [(demo, WORK), (wait, FSYNC)]
    heap = [(demo, MAIN + 8), (demo, OPEN), (wait, FUTEX)]
    first = run.wait(waiter, 0, waits=4)
    run.wait(holder, 1, first, thread=1, ns=2700 * MS)
    run.wait([(demo, WORK)], None, first, thread=1, doing=RUNS, ns=300 * MS)
    run.wait(holder, 1, thread=1, waits=6, ns=1000 * MS)
    for lock in (2, 3):
        run.wait(heap, lock, waits=1, ns=100 * MS)
    run.sample(waiter, 1, weight=3000 * MS)
    run.sample(heap, 1, weight=200 * MS)
    run.sample(holder, 1, thread=1, weight=1000 * MS)
    run.sample([(demo, MAIN), (wait, UNKNOWN)], 1, weight=50 * MS)
    return run


class Recursion(Case):
    def test_folded(self):
        """Of one function, and of those that call each other, however often; what is there once is as it was."""
        run = made_run()
        demo, wait = 0, 1
        deep = [(demo, MAIN + 8)] + [(demo, WORK + 8)] * 30 + [(wait, FUTEX)]
        mutual = [(demo, MAIN + 8)] + [(demo, WORK + 8), (demo, ALPHA + 8)] * 12 + [(wait, FUTEX)]
        for stack in deep, mutual:
            run.wait(stack, 0, waits=3, ns=2000 * MS)
        run.sample(deep, 1, weight=2000 * MS)
        run.write(self.dir / "r")
        text = monarc("waits", self.dir / "r").stdout.decode()
        for stack in r"work\S* \(30x\)", r"\(alpha < work\S*\) \(12x\)", "alpha":
            self.assertRegex(text, rf"(?m)^ +\d\.000 s +\d  {stack} < main$")


class ShortWaits(Case):
    """What stacks waited beyond the waits that were looked at."""

    def made(self):
        run = Run("./demo", stacks=10, whole=10, length=4 * 10**9)
        demo, wait = run.object(FILE, str(DEMO), low=0x401000, high=0x402000), run.object(WAIT)
        run.process(7, 1, demo, "demo", end=4 * 10**9)
        run.thread(0, 7, "demo")
        run.resources += [(FILE_RESOURCE, None, 9, "/data/wal"), (MUTEX, 0, 0x5000, "g_lock")]
        sync, futex = [(demo, MAIN + 8), (demo, ALPHA + 8), (wait, FSYNC)], [(demo, MAIN + 8), (wait, FUTEX)]
        run.wait(sync, 0, waits=2, ns=300 * MS)
        run.wait(futex, 1, waits=1, ns=200 * MS)  # it lasted until the thread ran again: longer than its sample
        run.wait([(demo, MAIN + 8), (demo, WORK), (wait, FSYNC)], 0, waits=1, ns=100 * MS)  # without a sample
        run.sample([(demo, WORK), (wait, READY)], 1, weight=150 * MS)
        run.sample(sync, 1, weight=1000 * MS)
        run.sample(futex, 1, weight=150 * MS)
        run.sample([(demo, WORK), (wait, READ)], 1, weight=3 * MS)
        run.sample([(demo, OPEN), (wait, NANOSLEEP)], 1, weight=80 * MS)
        run.sample([(demo, OPEN), (wait, UNKNOWN)], 1, weight=40 * MS)
        return run.write(self.dir / "r.monarc")

    def short(self, *report):
        rows = self.table(*report)["rows"]
        return {r.get("function"): (round(r["seconds"], 3), [w["stack"] for w in r["waiters"]])
                for r in rows if r["kind"] == "short waits"}

    def test_rows(self):
        folder = self.made()
        self.assertEqual(self.short("waits", "--files", folder), {"alpha": (0.7, [["alpha", "main"]]), None: (0.003, [["work.isra.0"]])})
        self.assertEqual(self.short("waits", folder), {"box::open(int)": (0.08, [["box::open(int)"]])})

    def test_text(self):
        done = monarc("waits", "--files", self.made(), "--no-pager")
        self.assertIn("""
short waits in alpha: 0.700 s, not inspected
  waiting in
          0.700 s           fsync < alpha < main
""", done.stdout.decode())
        self.assertIn("short waits in all other functions: 0.003 s", done.stdout.decode())

    @decided
    def test_sum(self):
        """Of a program that only waits shortly, nothing that has a place is missing."""
        folder = self.record("naps")
        table = self.table("waits", folder)
        rows = [r for r in table["rows"] if r["function"] == "take_naps"]
        figure(self).assertGreater(sum(r["seconds"] for r in rows), 0.9 * (table["waited_seconds"] - table["unseen_seconds"]), table)
        figure(self).assertGreater(table["waited_seconds"], 0.2)


class Reports(Case):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.folder = made_run().write(self.dir / "r.monarc")

    def text(self, *arguments):
        done = monarc(*arguments, "--no-pager")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.answer, rest = re.split(r"^Program  .*\nProfile  .*\n", done.stdout.decode(), flags=re.M)
        return rest

    def test_answer(self):
        self.text("waits", self.folder)
        self.assertEqual(self.answer, "4.250 s of waiting, all threads together: 3.000 s for mutex g_cache_lock\n")

    def test_locks(self):
        self.assertEqual(self.text("waits", self.folder), """\
Waiting  4.250 s of all threads; 3.200 s of it below; 0.050 s in waits without a stack

Locks

mutex g_cache_lock: 3.000 s in 4 waits
  waiting in
          3.000 s        4  alpha < main
  while who held it
        90.0 %      2.700 s  waited for file /data/wal in fsync: work.isra.0  (thread evictor 8)
        10.0 %      0.300 s  ran: work.isra.0  (thread evictor 8)

mutex (2 of them) waited for in box::open: 0.200 s in 2 waits
  waiting in
          0.200 s        2  box::open < main
  no holder: it changed hands while it was inspected
""")

    def test_files(self):
        self.assertEqual(self.text("waits", "--files", self.folder), """\
Waiting  4.250 s of all threads; 1.000 s of it below; 0.050 s in waits without a stack

file /data/wal: 1.000 s in 6 waits
  waiting in
          1.000 s        6  fsync < work.isra.0
""")

    def test_bytes(self):
        run = made_run()
        reader, writer = run.node((0, WORK), (1, READ)), run.node((0, WORK), (1, FSYNC))
        run.transfers += [(1, 1, reader, 0, 7, 5_000_000, 1_000_000), (1, 1, writer, 1, 2, 2_500_000, 2_500_000),
                          (0, None, reader, 0, 1, 500_000, 0)]
        run.transferred.append((6_000_000, 2_500_000, 40, 10, 1_000_000, 2_500_000))
        folder = run.write(self.dir / "bytes.monarc")
        self.assertEqual(self.text("waits", "--files", folder), """\
Waiting  4.250 s of all threads; 1.000 s of it below; 0.050 s in waits without a stack
Bytes    6.000 MB read (1.000 MB from disk), 2.500 MB written in 50 calls; 94.1 % of them below

file /data/wal: 1.000 s in 6 waits; 5.000 MB read (1.000 MB from disk), 2.500 MB written
  waiting in
          1.000 s        6  fsync < work.isra.0
  reading and writing in
          5.000 MB    read  read < work.isra.0
          2.500 MB written  fsync < work.isra.0

file that was closed before it could be named, in work.isra.0: 0.500 MB read
  reading and writing in
          0.500 MB    read  read < work.isra.0
""")
        table = self.table("waits", "--files", folder)
        self.assertEqual(table["transferred"]["placed_read_bytes"], 5_500_000)
        self.assertEqual(len(self.table("waits", "--files", folder, "--thread", "evictor")["rows"]), 1)
        self.assertNotIn("read_bytes", self.table("waits", folder)["rows"][0])
        merged = monarc("merge", "-o", self.dir / "sum.monarc", folder, folder)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        twice = self.table("waits", "--files", self.dir / "sum.monarc")
        self.assertEqual((twice["transferred"]["read_bytes"], twice["rows"][0]["read_bytes"]), (12_000_000, 10_000_000))

    def test_bytes_of_many_small_files(self):
        """Each was seen once or twice, and stands for others: it is not told that it has all of their bytes."""
        run = made_run()
        reader = run.node((0, WORK), (1, READ))
        first = len(run.resources)
        run.resources += [(FILE_RESOURCE, None, 20 + i, f"/data/small{i}") for i in range(3)]
        run.transfers += [(1, first, reader, 0, 1, 400_000, 0), (1, first + 1, reader, 0, 2, 500_000, 0),
                          (1, first + 2, reader, 0, 4, 600_000, 0), (1, 1, reader, 0, 5, 100_000, 0)]
        run.transferred.append((1_600_000, 0, 900, 0, 0, 0))
        folder = run.write(self.dir / "small.monarc")
        self.assertIn("""
file (3 of them) of which few calls were seen, in work.isra.0: 1.500 MB read
  reading and writing in
          1.500 MB    read  read < work.isra.0
""", self.text("waits", "--files", folder))
        table = self.table("waits", "--files", folder)
        self.assertEqual({row["name"]: row["read_bytes"] for row in table["rows"]}, {None: 1_500_000, "/data/wal": 100_000})
        del run.transfers[1:3]
        self.assertIn("\nfile of which few calls were seen, in work.isra.0: 0.400 MB read\n",
                      self.text("waits", "--files", run.write(self.dir / "one.monarc")))

    def test_errors(self):
        """Threads that wait at a time share looks, so their errors are added up: 30 ms and 40 ms are 70 ms. A wait of
        one look was drawn as a whole: three of 1 s, one of which saw the one and two the other."""
        run = made_run()
        run.threads += run.threads[:1]
        waiter, asleep = [(0, MAIN + 8), (1, FUTEX)], [(0, WORK), (1, FSYNC)]
        run.resources.append((MUTEX, 0, 0x9000, "g_other"))
        lock = len(run.resources) - 1
        run.link_errors = [(0, 0)] * len(run.links)
        for thread, milliseconds in (0, 30), (2, 40):
            first = run.wait(waiter, lock, thread=thread, waits=9)
            run.wait(asleep, None, first, thread=1, ns=1000 * MS)
            run.link_errors += [(0, 0), ((milliseconds * 1000) ** 2, 0)]
        run.resources.append((MUTEX, 0, 0xa000, "g_drawn"))
        first = run.wait(waiter, lock + 1, waits=3)
        run.wait(asleep, None, first, thread=1, ns=1000 * MS)
        run.wait([(0, WORK)], None, first, thread=1, doing=RUNS, ns=2000 * MS)
        run.link_errors += [(0, 0), (0, 10 ** 12), (0, 2 * 10 ** 12)]
        run.sample(waiter, 1, weight=5000 * MS)
        folder = run.write(self.dir / "errors.monarc")
        rows = {row["name"]: row["holders"] for row in self.table("waits", folder)["rows"]}
        self.assertAlmostEqual(rows["g_other"][0]["seconds_error"], 1.96 * 0.07, 6)
        for holder in rows["g_drawn"]:  # 3 p (1 - p)
            self.assertAlmostEqual(holder["seconds_error"], 1.96 * (2 / 3) ** 0.5, 6)
        text = self.text("waits", folder)
        self.assertIn("       100.0 %      2.00  s +- 0.14   waited in fsync: work.isra.0", text)
        self.assertIn("        90.0 %      2.700 s  waited for file /data/wal", text)
        merged = monarc("merge", "-o", self.dir / "sum.monarc", folder, folder)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        twice = {row["name"]: row["holders"] for row in self.table("waits", self.dir / "sum.monarc")["rows"]}
        self.assertAlmostEqual(twice["g_other"][0]["seconds_error"], 1.96 * 0.14, 6)
        run.link_errors.append((0, 0))
        self.assertEqual(monarc("waits", run.write(self.dir / "many.monarc")).returncode, 2)

    def test_wakers(self):
        """Of the stack that waits for one thing alone; a mutex whose holder was seen has none."""
        run = made_run()
        run.threads += run.threads[:1]
        run.resources += [(FUTEX_WORD, 0, 0x9000, "g_word"), (FUTEX_WORD, 0, 0xa000, "g_one"), (FUTEX_WORD, 0, 0xb000, "g_other")]
        asleep, both = ([(0, MAIN + 8), (0, at), (1, FUTEX)] for at in (WORK, MAIN + 16))
        word = len(run.resources) - 3
        run.wait(asleep, word, waits=9, ns=900 * MS)
        for lock in word + 1, word + 2:
            run.wait(both, lock, waits=1, ns=10 * MS)
        run.sample(asleep, 1, weight=900 * MS)
        run.sample(both, 1, weight=20 * MS)
        held = [(0, MAIN + 8), (0, ALPHA + 8), (1, FUTEX)]
        at = 0
        for frames, length, *woken in ((asleep, 500, 4, 1, 0), (asleep, 100, 4, 1, 0), (asleep, 150, 4, 2, 0), (asleep, 80, 1, 0),
                                       (asleep, 40, 2, 0), (asleep, 20, 3, 1, 0), (asleep, 10, 0), (both, 7, 4, 1, 0),
                                       (held, 900, 4, 1, 0)):
            run.waits.append((0, at * MS, length * MS, run.node(*frames), *woken))
            at += length
        folder = run.write(self.dir / "woken.monarc")
        rows = {row["name"]: row for row in self.table("waits", folder)["rows"]}
        self.assertEqual([(w["woken_by"], w["function"], w["tid"], w["threads"], w["waits"], round(w["seconds"], 3))
                          for w in rows["g_word"]["wakers"]],
                         [("thread", "work.isra.0", 8, 1, 2, 0.6), ("thread", None, 7, 1, 1, 0.15), ("interrupt", None, None, 0, 1, 0.08),
                          ("outside", None, None, 0, 1, 0.04), ("soft", "work.isra.0", 8, 1, 1, 0.02), ("unknown", None, None, 0, 1, 0.01)])
        self.assertEqual([rows[name]["wakers"] for name in ("g_cache_lock", "g_one", "g_other")], [[], [], []])
        text = self.text("waits", folder)
        self.assertIn("""\
  woken by
          0.600 s        2  work.isra.0  (thread evictor 8)
          0.150 s        1  [stack not known]  (thread demo 7)
          0.080 s        1  a timer or a device
          0.040 s        1  a thread that was not recorded
          0.020 s        1  perhaps work.isra.0  (thread evictor 8)
      [1 more, not shown]
""", text)
        self.assertEqual(text.count("no holder"), 3)
        twice = monarc("merge", "-o", self.dir / "sum.monarc", folder, folder)
        self.assertEqual(twice.returncode, 0, twice.stderr)
        rows = {row["name"]: row for row in self.table("waits", self.dir / "sum.monarc")["rows"]}
        waker = rows["g_word"]["wakers"][0]
        self.assertEqual((waker["threads"], waker["tid"], waker["waits"], waker["seconds"]), (2, 8, 4, 1.2))
        self.assertIn("          1.200 s        4  work.isra.0  (2 threads)\n", self.text("waits", self.dir / "sum.monarc"))

    def test_deadlocks(self):
        """Two circles of two threads are two, also in a merge; who only waits for one of a circle is in none."""
        run = made_run()
        asleep = [(0, MAIN + 8), (1, FUTEX)]
        run.threads += run.threads[:1] * 4
        first = len(run.resources)
        run.resources += [(MUTEX, 0, 0x9000 + 64 * i, f"g_{name}") for i, name in enumerate("abcde")]
        threads = range(len(run.threads) - 4, len(run.threads))
        for waiter, holder, lock, other in (0, 1, 0, 1), (1, 0, 1, 0), (2, 3, 2, 3), (3, 2, 3, 2):
            link = run.wait(asleep, first + lock, thread=threads[waiter], waits=1)
            link = run.wait(asleep, first + other, link, thread=threads[holder])
            run.wait(asleep, first + lock, link, thread=threads[waiter], doing=CIRCLE, ns=MS)
        link = run.wait(asleep, first + 4, thread=0, waits=1)
        for waiter, lock, doing in (0, 0, WAITS), (1, 1, WAITS), (0, 0, CIRCLE):
            link = run.wait(asleep, first + lock, link, thread=threads[waiter], doing=doing, ns=MS if doing else 0)
        run.sample(asleep, 1, weight=5 * MS)
        folder = run.write(self.dir / "two.monarc")
        self.assertEqual(monarc("merge", "-o", self.dir / "sum.monarc", folder, folder).returncode, 0)
        for of in folder, self.dir / "sum.monarc":
            number = {row["name"]: row.get("deadlock") for row in self.table("waits", of)["rows"]}
            self.assertEqual((number["g_a"], number["g_c"], number["g_e"]), (number["g_b"], number["g_d"], None))
            self.assertEqual({number["g_a"], number["g_c"]}, {1, 2})
            text = self.text("waits", of)
            self.assertIn("\nDeadlock mutex g_a, mutex g_b: their holders wait for each other\n"
                          "Deadlock mutex g_c, mutex g_d: their holders wait for each other\n", text)
            text = monarc("doctor", of).stdout.decode()
            self.assertEqual(text.count("[deadlock]"), 2)
            self.assertIn("found   for g_a, g_b\n", text)

    def test_many_holders(self):
        """Of many, those below one percent share a line, which says how much they are."""
        run = made_run()
        run.resources.append((MUTEX, 0, 0x9000, "g_many"))
        first = run.wait([(0, MAIN + 8), (1, FUTEX)], len(run.resources) - 1, waits=1)
        run.wait([(0, WORK)], None, first, thread=1, doing=RUNS, ns=900 * MS)
        for i in range(20):
            run.wait([(0, WORK), (1, FSYNC + 1 + i)], None, first, thread=1, ns=5 * MS)
        run.sample([(0, MAIN + 8), (1, FUTEX)], 1, weight=1000 * MS)
        text = self.text("waits", run.write(self.dir / "many.monarc"))
        self.assertIn("        90.0 %      0.900 s  ran: work.isra.0  (thread evictor 8)\n"
                      "        10.0 %      0.100 s  [20 more, not shown]\n", text)

    def test_errors_of_bytes(self):
        """100 samples of 10 kB, of which a file has 36: 0.36 MB +- 1.96 sqrt(100 p (1 - p)) 10 kB, and one sample; and
        half as much again."""
        run = made_run()
        reader = run.node((0, WORK), (1, READ))
        other = run.add(run.resources, FILE_RESOURCE, None, 10, "/data/b")
        run.transfers += [(1, 1, reader, 0, 36, 360_000, 0), (1, other, reader, 0, 64, 640_000, 0)]
        run.transfer_errors = [3600, 6400]
        run.transferred.append((1_000_000, 0, 100, 0, 0, 0))
        folder = run.write(self.dir / "bytes.monarc")
        rows = {row["name"]: row for row in self.table("waits", "--files", folder)["rows"]}
        error = 1.5 * 1.96 * 10_000 * (100 * 0.36 * 0.64 + 1) ** 0.5
        for name in "/data/wal", "/data/b":
            self.assertAlmostEqual(rows[name]["read_bytes_error"], error, 3)
            self.assertEqual(rows[name]["written_bytes_error"], 0)
        self.assertIn("/data/b: 0.640 +- 0.144 MB read\n", self.text("waits", "--files", folder))
        run.transferred[0] = (900_000, 0, 100, 0, 0, 0)
        self.assertIn("in 100 calls; below is also what processes did for which nobody waited",
                      self.text("waits", "--files", run.write(self.dir / "more.monarc")))
        run.transfer_errors = [360_000, 640_000]  # as of one sample: no more than all bytes, no less than none
        self.assertIn("/data/b: 0.640 +- 0.640 MB read\n", self.text("waits", "--files", run.write(self.dir / "one.monarc")))
        run.transfer_errors.append(1)
        self.assertEqual(monarc("waits", "--files", run.write(self.dir / "many.monarc")).returncode, 2)

    def test_damaged_bytes(self):
        for head in (9, None, 0, 0), (0, 99, 0, 0), (0, None, 99, 0), (0, None, 0, 2):
            bad = (*head, 1, 1, 1)
            run = made_run()
            run.transfers.append(bad)
            done = monarc("waits", "--files", run.write(self.dir / "bad.monarc"))
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)

    def test_rust(self):
        """Its own libraries are left out of a wait's stack as C's are, in both manglings."""
        functions = ("_RNvNtNtCsaB1_3std3sys5futex10futex_wait", "_RNvMs0_NtCsaB1_3std4syncNtB5_5Mutex4lock",
                     "_ZN5words5count17h0123456789abcdefE", "_ZN4core3ops6FnOnce9call_once17h0123456789abcdefE",
                     "_RNvNtCs_6words4core6worker", "_RNvNtCsaB1_3std2rt10lang_start")
        run = Run("./words", stacks=1, whole=1)
        words, wait = run.object(FILE, "/app/words", b"\7" * 20, low=0x1000, high=0x9000), run.object(WAIT)
        run.process(7, 1, words, "words")
        run.thread(0, 7, "words")
        run.resources.append((MUTEX, 0, 0x5000, None))
        for i, name in enumerate(functions):
            run.symbols.append((words, 0x1000 * (i + 1), 0x1000, name))
        stack = [(words, 0x1008 + 0x1000 * i) for i in reversed(range(len(functions)))] + [(wait, FUTEX)]
        run.wait(stack, 0, waits=1, ns=100 * MS)
        run.sample(stack, 1, weight=100 * MS)
        text = self.text("waits", "--wide", run.write(self.dir / "rust.monarc"))
        self.assertIn("waited for in words::count: 0.100 s", text)
        self.assertRegex(text, r" 1  \S*Mutex\S*::lock < words::count < .*call_once < \S*worker\n")

    def test_limit_and_thread(self):
        self.assertIn("\n[1 more row, not shown: --limit 0]\n", self.text("waits", "--limit", "1", self.folder))
        self.assertIn("No thread was seen waiting for a lock",
                      self.text("waits", "--thread", "evictor", self.folder))

    def test_function(self):
        """Waits whose stack has the function, of its callees too; all sums are theirs."""
        for name, waits in ("main", 6), ("alpha", 4), ("/^box::/", 2), ("work", 0):
            table = self.table("waits", "--function", name, self.folder)
            self.assertEqual(sum(row["waits"] for row in table["rows"]), waits, name)
        table = self.table("waits", "-f", "alpha", "-f", "box::open", self.folder)
        self.assertEqual((table["waited_seconds"], table["unseen_seconds"]), (3.2, 0))
        self.assertEqual(self.table("waits", "-f", "main", self.folder)["unseen_seconds"], 0.05)
        run = made_run()
        run.transfers += [(1, 1, run.node((0, WORK), (1, READ)), 0, 7, 5_000_000, 0),
                          (1, 1, run.node((0, MAIN), (1, READ)), 0, 1, 1_000_000, 0)]
        table = self.table("waits", "--files", "-f", "work", run.write(self.dir / "bytes.monarc"))
        self.assertEqual([(row["waits"], row["read_bytes"]) for row in table["rows"]], [(6, 5_000_000)])
        run = made_run()
        first = run.wait([(0, MAIN), (1, FUTEX)], 0, waits=1)
        run.wait([(0, MAIN), (1, FUTEX)], 0, first, thread=0, doing=CIRCLE, ns=MS)
        text = self.text("waits", "-f", "main", run.write(self.dir / "circle.monarc"))
        self.assertIn("\nDeadlock mutex g_cache_lock: its holder waits in a circle\n", text)
        done = monarc("waits", "-f", "alpa", self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr.decode(), r"has no function 'alpa'; did you mean 'alpha'\?\n$")

    def test_json(self):
        rows = self.table("waits", self.folder)["rows"]
        self.assertEqual([r["objects"] for r in rows], [1, 2])
        self.assertEqual(rows[0]["holders"][0]["call"], "fsync")
        self.assertNotIn("why_unheld", rows[0])
        self.assertEqual(self.table("waits", "--files", self.folder)["rows"][0]["name"], "/data/wal")

    def test_two_runs_are_added_up(self):
        other = made_run().write(self.dir / "other.monarc")
        row = self.table("waits", self.folder, other)["rows"][0]
        self.assertEqual((row["waits"], round(row["seconds"], 6)), (8, 6))

    def test_merged(self):
        done = monarc("merge", "-o", self.dir / "sum.monarc", self.folder, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.table("waits", self.dir / "sum.monarc")["rows"][0]["waits"], 8)

    def test_doctor_names_the_lock(self):
        found = monarc("doctor", self.folder).stdout.decode()
        self.assertIn("[lock-held-waiting]", found)
        self.assertIn("90 % of waiting for g_cache_lock is while another thread is in fsync",
                      " ".join(found.split()))

    def test_doctor_adds_up_what_the_holder_waits_in(self):
        """Half of it in two calls, neither of which has half."""
        run = made_run()
        run.links = [link if link[-1] != 2700 * MS else (*link[:-1], 1100 * MS) for link in run.links]
        demo, wait = 0, 1
        run.wait([(demo, WORK), (wait, NANOSLEEP)], None, 0, thread=1, ns=1000 * MS)
        found = " ".join(monarc("doctor", run.write(self.dir / "two.monarc")).stdout.decode().split())
        self.assertIn("88 % of waiting for g_cache_lock is while the thread that has it waits, 46 % in fsync",
                      found)

    def test_ready_threads(self):
        run = made_run()
        run.sample([(0, MAIN), (1, READY)], 1, weight=400 * MS)
        folder = run.write(self.dir / "ready.monarc")
        self.assertIn("4.250 s of all threads, and 0.400 s for a CPU; 3.200 s of both below", self.text("waits", folder))
        self.assertEqual(self.table("waits", folder)["ready_seconds"], 0.4)

    def test_one_lock_is_one_row(self):
        """Also if it changed hands when it was looked at, and its word named nobody."""
        run = made_run()
        run.resources += [(FUTEX_WORD, 0, 0x5000, "g_cache_lock"), (RWLOCK, 0, 0x8000, "g_table"),
                          (FUTEX_WORD, 0, 0x800c, "g_table"), (FUTEX_WORD, 0, 0x9000, "g_other")]
        waiter = [(0, MAIN + 8), (0, ALPHA + 8), (1, FUTEX)]
        for resource in 4, 5, 6, 7:
            run.wait(waiter, resource, waits=1, ns=50 * MS)
        run.sample(waiter, 1, weight=200 * MS)
        rows = self.table("waits", run.write(self.dir / "one.monarc"))["rows"]
        found = {(row["kind"], row["name"]): (row["waits"], row["seconds"], row["objects"]) for row in rows}
        self.assertEqual(found, {("mutex", "g_cache_lock"): (5, 3.05, 1), ("mutex", None): (2, 0.2, 2),
                                 ("rwlock", "g_table"): (2, 0.1, 1), ("futex", "g_other"): (1, 0.05, 1)})

    def test_no_waiting(self):
        run = Run("./demo", stacks=1, whole=1)
        demo = run.object(FILE, str(DEMO), low=0x401000, high=0x402000)
        run.process(7, 1, demo, "demo")
        run.thread(0, 7, "demo", PERIOD)
        run.sample([(demo, MAIN)])
        self.assertEqual(self.text("waits", run.write(self.dir / "cpu.monarc")), "")
        self.assertEqual(self.answer, "No waits were recorded: 'monarc run --off-cpu' records them\n")

    @slow
    def test_deep_stacks_share_their_callers(self):
        """8,000 stacks of 4,000 functions and more: as lists they would take 500 MB."""
        deep, long = 4000, 12000
        run = Run("./p", stacks=1, whole=1)
        code, wait = run.object(FILE, "/nowhere/p"), run.object(WAIT)
        run.process(7, 1, code, "p")
        run.thread(0, 7, "p")
        run.resources = [(1, 0, 16, "lock")]
        parent = 0
        for i in range(long):
            run.nodes.append((parent, code, 4096 + i))
            parent = len(run.nodes)
            if i >= deep:
                run.nodes.append((parent, wait, UNKNOWN))
                run.links.append((None, 0, len(run.nodes), 0, 0, 1, 5))
        folder = run.write(self.dir / "deep.monarc")
        for options in (), ("--files",):
            done = monarc_limited("waits", *options, "--json", folder, cwd=self.dir, megabytes=400, seconds=600,
                                  stdout=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        done = monarc_limited("waits", folder, cwd=self.dir, megabytes=400, seconds=600)
        self.assertIn(b"mutex lock: 0.000 s in 8000 waits", done.stdout)

    def test_refusals(self):
        for arguments in ((DEMO,), (self.folder, "--from", "1"), (self.folder, "--limit", "x"),
                          (self.folder, "--latency")):
            done = monarc("waits", *arguments)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done)


if __name__ == "__main__":
    main()
