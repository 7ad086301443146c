"""monarc store: the history of builds, made of recordings whose samples are laid down here."""

import contextlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from harness import ROOT, check_schema, main, monarc, monarc_json, monarc_path
from parts import load_tests, slow
from run_file import FILE, Run

sys.dont_write_bytecode = True
CC = os.environ.get("CC", "gcc").split()
DAY = 86400
NEW_YEAR = 1767225600


def is_built_with_sqlite():
    with tempfile.TemporaryDirectory() as scratch:
        return b"built without SQLite" not in monarc("store", "trend", "--total", cwd=scratch).stderr


@unittest.skipUnless(is_built_with_sqlite(), "monarc was built without SQLite")
class Store(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def recording(self, name, **samples):
        """Functions with samples of 1 ms."""
        run = Run("prog")
        program = run.object(FILE, "/bin/prog", b"\7" * 20, bits=4)
        run.process(100, 1, program, "prog")
        run.thread(0, 100, "prog")
        for i, (function, count) in enumerate(samples.items()):
            run.symbols.append((program, 4096 * (i + 1), 4096, function))
            if count:
                run.sample([(program, 4096 * (i + 1) + 16)], count)
        return run.write(self.dir / name).name

    def store(self, *arguments, status=0):
        done = monarc("store", *arguments, cwd=self.dir)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode() if not status else done.stderr.decode()

    def json(self, verb, *arguments):
        document = monarc_json("store", verb, *arguments, cwd=self.dir)
        check_schema(self, {"diff": "store_diff"}.get(verb, verb), document)
        return document

    def rows(self, table):
        with sqlite3.connect(self.dir / "monarc-history.db") as database:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    def test_a_trend(self):
        for day, samples in enumerate((1000, 1000, 2000)):
            name = self.recording(f"r{day}", hot=samples, cold=100)
            text = self.store("add", "--commit", f"c{day}", "--date", str(NEW_YEAR + day * DAY), name)
            self.assertEqual(text, f"c{day}: {name}, {(samples + 100) / 1000:.3f} s in 2 functions\n")
        found = self.json("trend", "hot")
        self.assertEqual([(p["commit"], p["date"], p["runs"]) for p in found["points"]],
                         [(f"c{d}", f"2026-01-0{d + 1}T00:00:00Z", 1) for d in range(3)])
        for point, value in zip(found["points"], (1, 1, 2)):
            self.assertAlmostEqual(point["value"], value, places=9)
            rest = 0.1 / (value + 0.1)  # binomial
            self.assertAlmostEqual(point["error"], (value * rest / 1000)**0.5, delta=0.0001)
        self.assertAlmostEqual(found["points"][2]["change"], 1, delta=0.001)
        total = self.json("trend", "--total")["points"]
        self.assertEqual([round(p["value"], 6) for p in total], [1.1, 1.1, 2.1])
        self.assertIn("c2        2026-01-03       2.100", self.store("trend", "--total"))
        self.assertEqual(self.store("trend", "--total", "--csv").splitlines()[0],
                         "commit,date,value,error,change,runs,is_turn")

    def test_digits_are_those_that_the_error_allows(self):
        """In a column the surest row decides, of whose error two digits are shown."""
        for day, samples in enumerate((40000, 90)):
            name = self.recording(f"r{day}", hot=samples, cold=10)
            self.store("add", "--commit", f"c{day}", "--date", str(NEW_YEAR + day * DAY), name)
        points = self.json("trend", "cold", "--with-callees")["points"]
        self.assertAlmostEqual(points[0]["error"], 0.00316, delta=0.0002)
        text = self.store("trend", "cold", "--with-callees")
        self.assertRegex(text, r"c0 +2026-01-01 +0\.0100 +0\.0032 ")
        self.assertRegex(self.store("diff", "c0", "c1"), r"0\.01\d* +0\.01\d* .* cold")

    def test_order_is_that_of_dates(self):
        name = [self.recording(f"r{i}", hot=100 + i) for i in range(3)]
        for day in (2, 0, 1):
            self.store("add", "--commit", f"c{day}", "--date", f"2026-01-0{day + 1}", name[day])
        self.assertEqual([p["commit"] for p in self.json("trend", "hot")["points"]], ["c0", "c1", "c2"])

    def test_runs_of_a_commit_are_averaged_and_never_twice(self):
        one, two = self.recording("one", hot=1000), self.recording("two", hot=3000)
        self.store("add", "--commit", "c", one, two)
        self.assertIn("c has it already: one", self.store("add", "--commit", "c", one))
        self.store("add", "--commit", "d", one)  # of another commit it is another run
        points = self.json("trend", "hot")["points"]
        self.assertEqual([(p["commit"], p["runs"]) for p in points], [("c", 2), ("d", 1)])
        self.assertAlmostEqual(points[0]["value"], 2, delta=0.002)

    def test_a_function_that_is_not_there_is_zero(self):
        self.store("add", "--commit", "a", "--date", "1", self.recording("a", hot=100))
        self.store("add", "--commit", "b", "--date", "2", self.recording("b", hot=100, fresh=50))
        values = [p["value"] for p in self.json("trend", "fresh")["points"]]
        self.assertEqual(values[0], 0)
        self.assertAlmostEqual(values[1], 0.05, delta=0.001)
        self.assertIn("has no function 'nowhere'", self.store("trend", "nowhere", status=2))
        self.assertIn("did you mean 'fresh'?", self.store("blame", "frehs", status=2))

    def test_differences(self):
        self.store("add", "--commit", "a", self.recording("a", hot=10000, same=5000, gone=2000))
        self.store("add", "--commit", "b", self.recording("b", hot=12000, same=5010))
        found = self.json("diff", "a", "b")
        rows = {r["name"]: r for r in found["rows"]}
        self.assertEqual([r["name"] for r in found["rows"]][0], "[total]")
        self.assertAlmostEqual(rows["hot"]["change"], 2, delta=0.02)
        self.assertAlmostEqual(rows["hot"]["error"], 0.0876, delta=0.01)  # binomial
        self.assertEqual([rows[n]["is_real"] for n in ("hot", "same", "gone")], [True, False, True])
        self.assertIn("'prog' has no run of commit 'x'", self.store("diff", "a", "x", status=2))

    def test_coverage(self):
        (self.dir / "t.info").write_text("SF:/src/a.c\nDA:1,1\nDA:2,0\nDA:3,1\nDA:4,1\nend_of_record\n"
                                         "SF:/src/b.c\nDA:1,0\nend_of_record\n")
        (self.dir / "u.info").write_text("SF:/src/a.c\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,1\nend_of_record\n")
        self.store("add", "--commit", "a", "--date", "1", "t.info")
        text = self.store("add", "--commit", "b", "--date", "2", "u.info")
        self.assertEqual(text, "b: u.info, 4 of 4 lines, 1 source\n")
        self.assertEqual([p["value"] for p in self.json("trend", "a.c")["points"]], [75, 100])
        self.assertEqual([p["value"] for p in self.json("trend", "--total")["points"]], [60, 100])
        self.assertEqual(self.json("trend", "--total")["unit"], "%")

    @slow
    def test_writers_at_the_same_time_lose_nothing(self):
        names = [self.recording(f"r{i}", hot=100 + i, **{f"only_{i}": 10 + i}) for i in range(24)]
        running = [subprocess.Popen([monarc_path(), "store", "add", "--commit", f"c{i % 6}", name],
                                    cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for i, name in enumerate(names)]
        for process in running:
            self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))
        self.assertEqual([self.rows(t) for t in ("commits", "runs", "names")], [6, 24, 25])
        for i in (0, 11, 23):
            values = [p["value"] for p in self.json("trend", f"only_{i}")["points"]]
            self.assertAlmostEqual(sum(values) * 4, (10 + i) / 1000, delta=0.001)

    def test_behind_a_link_or_where_nothing_may_be_written(self):
        name = self.recording("r", hot=100)
        self.store("add", "--commit", "a", "--file", "h.db", name)
        (self.dir / "link.db").symlink_to("h.db")
        self.store("add", "--commit", "b", "--file", "link.db", name)
        self.assertTrue((self.dir / "link.db").is_symlink())
        (self.dir / "dangling.db").symlink_to("nowhere/h.db")
        whole = (self.dir / "h.db").read_bytes()
        self.store("add", "--commit", "c", "--file", "dangling.db", name, status=2)
        for option in "--file=/proc/h.db", "--file=/dev/full", f"--file={self.dir}":
            self.store("add", "--commit", "c", option, name, status=2)
        self.assertEqual((self.dir / "h.db").read_bytes(), whole)
        self.assertEqual([p["commit"] for p in self.json("trend", "hot", "--file", "h.db")["points"]], ["a", "b"])

    def test_a_failure_begins_no_history(self):
        self.assertIn("No such file", self.store("add", "--commit", "a", "nothere", status=2))
        self.assertFalse((self.dir / "monarc-history.db").exists())
        self.store("add", "--commit", "a", self.recording("r", hot=100))
        self.assertEqual(self.rows("runs"), 1)

    def test_what_is_no_history_stays_as_it_is(self):
        name = self.recording("r", **{f"function_{i}": 10 for i in range(500)})
        self.store("add", "--commit", "a", name)
        whole = (self.dir / "monarc-history.db").read_bytes()
        other = sqlite3.connect(self.dir / "other.db")
        other.execute("CREATE TABLE t(x)")
        other.commit()
        other.close()
        shutil.copy(self.dir / "monarc-history.db", self.dir / "newer.db")
        newer = sqlite3.connect(self.dir / "newer.db")
        newer.execute("PRAGMA user_version=9")
        newer.close()
        (self.dir / "text.db").write_text("not a database, but long enough to look at\n" * 9)
        cases = {"other.db": "but not a history", "newer.db": "tables of version 9",
                 "text.db": "is damaged"}
        for part in (1, 3):
            (self.dir / f"torn{part}.db").write_bytes(whole[:len(whole) * part // 4])
            cases[f"torn{part}.db"] = "is damaged|is torn"
        for file, words in cases.items():
            before = (self.dir / file).read_bytes()
            for verb in (["add", "--commit", "b", name], ["trend", "--total"]):
                error = self.store(*verb, "--file", file, status=2)
                self.assertRegex(error, f"^monarc: {file}: .*({words}).*\n$")
            self.assertEqual((self.dir / file).read_bytes(), before, file)

    def test_documented_queries_give_what_monarc_prints(self):
        """The SQL of docs/store.md."""
        names = [self.recording(f"r{i}", hot=ticks, cold=40) for i, ticks in enumerate((100, 300, 150))]
        for commit, date, files in ("b", "2", names[:2]), ("a", "1", names[2:]), ("c", "3", [self.recording("r", cold=40)]):
            self.store("add", "--commit", commit, "--date", date, *files)
        trend, objects = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/store.md").read_text(), re.DOTALL)
        found = dict(self.query(trend))
        wanted = {p["commit"]: p["value"] for p in self.json("trend", "hot")["points"]}
        self.assertEqual(list(found), ["a", "b", "c"])
        self.assertEqual({k: round(float(v), 6) for k, v in found.items()}, {k: round(v, 6) for k, v in wanted.items()})
        self.assertEqual([float(v) for v in found.values()], [0.15, 0.2, 0])
        self.assertEqual([tuple(row) for row in self.query(objects)],
                         [("a", "prog", "0.19"), ("b", "prog", "0.48"), ("c", "prog", "0.04")])
        rows = self.query("SELECT f.error, f.callees FROM functions f JOIN runs r ON r.id = f.run_id JOIN names n"
                          " ON n.id = f.name_id WHERE n.shown = 'hot' AND r.total = 190000")
        self.assertEqual(rows, [[str(round(self.json("trend", "hot")["points"][0]["error"] * 1e6)), "0"]])
        (self.dir / "t.info").write_text("SF:/src/a.c\nDA:1,1\nDA:2,0\nend_of_record\n")
        self.store("add", "--commit", "d", "t.info")
        self.assertEqual(self.query("SELECT name, s.lines, s.lines_hit FROM sources s JOIN names ON id = name_id"),
                         [["a.c", "2", "1"]])

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.dir / "monarc-history.db")) as database:
            return [[str(field) for field in row] for row in database.execute(sql)]

    def test_a_history_of_the_older_tables_is_refused(self):
        """Version 1 had blobs of 64 functions. None of it is read, or changed."""
        name = self.recording("r", hot=100)
        self.store("add", "--commit", "a", name)
        with contextlib.closing(sqlite3.connect(self.dir / "monarc-history.db")) as database, database:
            database.executescript("DROP TABLE functions; DROP TABLE sources; PRAGMA user_version=1;"
                                   "CREATE TABLE blocks(block INTEGER NOT NULL, run INTEGER NOT NULL, data BLOB NOT NULL,"
                                   " PRIMARY KEY(block, run)) WITHOUT ROWID; INSERT INTO blocks VALUES(0, 1, x'414a5f3c')")
        before = (self.dir / "monarc-history.db").read_bytes()
        for verb in (["add", "--commit", "b", name], ["trend", "hot"], ["trend", "--total"], ["blame"], ["diff", "a", "a"],
                     ["export", "fleet"]):
            self.assertEqual(self.store(*verb, status=2), "monarc: monarc-history.db: has tables of version 1; this "
                             "monarc reads version 2: --file NAME starts another history\n")
        self.assertEqual((self.dir / "monarc-history.db").read_bytes(), before)
        self.assertFalse((self.dir / "fleet").exists())

    def test_a_number_of_a_name_is_no_reason_for_memory(self):
        name = self.recording("r", main=10)
        for commit in "ab":
            self.store("add", "--commit", commit, name)
        with contextlib.closing(sqlite3.connect(self.dir / "monarc-history.db")) as database, database:
            database.execute("INSERT INTO names VALUES(1000000000000, 0, 'z', '', 'z')")
        for verb in (["diff", "a", "b"], ["blame"]):
            error = self.store(*verb, status=2)
            self.assertEqual(error, "monarc: monarc-history.db: is damaged: names are numbered with gaps\n")

    def test_runs_without_a_total_are_damage(self):
        name = self.recording("r", main=10)
        for commit in "ab":
            self.store("add", "--commit", commit, name)
        for change in "total = 9e999", "total_error = -9e999", "runs = 0, total_error = 9e999":
            with contextlib.closing(sqlite3.connect(self.dir / "monarc-history.db")) as database, database:
                database.execute(f"UPDATE runs SET {change}")
            for verb in (["trend", "--total"], ["diff", "a", "b"]):
                error = self.store(*verb, status=2)
                self.assertEqual(error, "monarc: monarc-history.db: is damaged: a run of 'a' has an amount that is not a number\n")

    def test_an_event_may_be_called_anything(self):
        """Its name is the unit of what is no time, and the recording's author chose it."""
        run = Run("prog")
        program = run.object(FILE, "/bin/prog", b"\7" * 20, bits=4)
        run.process(100, 1, program, "prog")
        run.thread(0, 100, "prog")
        run.symbols.append((program, 4096, 4096, "main"))
        run.events = [("\x1b[31m\nmisses", 1, 1000, 0)]
        run.sample([(program, 4112)], 10)
        name = run.write(self.dir / "r").name
        said = [self.store("add", "--commit", commit, name) for commit in "ab"]
        said += [self.store("trend", "main"), self.store("blame"), self.store("diff", "a", "b")]
        for text in said:
            self.assertIn("?[31m?misses", text)
            self.assertNotIn("\x1b", text)

    def test_what_cannot_be_opened_is_not_said_to_be_missing(self):
        (self.dir / "folder").mkdir()
        for file, words in ("none.db", "there is no such history"), ("folder", "unable to open"):
            error = self.store("trend", "--total", "--file", file, status=2)
            self.assertRegex(error, f"^monarc: {file}: {words}")

    def test_usage(self):
        for arguments, words in ((["add", "r"], "needs --commit"), ([], "takes add, export, trend"),
                                 (["prune"], "not 'prune'"), (["trend"], "takes one FUNCTION"),
                                 (["add", "--commit", "c", "--date", "soon", "r"], "--date takes"),
                                 (["add", "--commit", "c", "--date", "2026-02-31", "r"], "--date takes"),
                                 (["add", "--commit", "c", "--date", "2025-02-29T10:00:00", "r"], "--date takes"),
                                 (["add", "--commit", "c", "--file", "", "r"], "'--file' needs a name")):
            with self.subTest(arguments):
                if arguments[:1] == ["trend"]:
                    self.store("add", "--commit", "a", self.recording("r", hot=10))
                self.assertIn(words, self.store(*arguments, status=2))

    def test_blame_of_few_commits(self):
        for day, ticks in enumerate((100, 146, 146, 145, 147, 146)):
            if day in (1, 5):
                self.assertIn(f"{day} commit{' is' if day == 1 else 's are'} too few to tell a change from noise",
                              self.store("blame", "--total"))
            self.store("add", "--commit", f"c{day}", "--date", str(NEW_YEAR + day * DAY),
                       self.recording("r", hot=ticks))
        self.assertNotIn("too few", self.store("blame", "--total"))

    @slow
    def test_a_year_with_three_turns(self):
        self.see_three_turns(365, 90, "c270      2026-09-28", 100000)

    @slow
    def test_two_months_with_three_turns(self):
        self.see_three_turns(61, 15, "c45       2026-02-15", 250000)

    def see_three_turns(self, days, apart, told, even):
        """A commit a day; runs differ by half a percent. `hot` turns by 2, 5 and 20 percent; `even`
        does not."""
        draw = random.Random(5)
        level = 100000
        turns = {apart: 1.02, 2 * apart: 1.05, 3 * apart: 1.2}
        commits = [f"c{day}" for day in turns]
        for day in range(days):
            level *= turns.get(day, 1)
            name = self.recording("r", hot=round(level * draw.gauss(1, 0.005)),
                                  even=round(even * draw.gauss(1, 0.005)))
            self.store("add", "--commit", f"c{day}", "--date", str(NEW_YEAR + day * DAY), name)
        found = {s["name"]: s for s in self.json("blame")["series"]}
        hot = found["hot"]["turns"]
        self.assertEqual([t["commit"] for t in hot], commits)
        for turn, change in zip(hot, (0.02, 0.05, 0.2)):
            self.assertAlmostEqual(turn["change"], change, delta=0.003)
        self.assertEqual(found["even"]["turns"], [])
        # Two percent of a half or less are less than one of the whole.
        self.assertEqual([t["commit"] for t in found["[total]"]["turns"]], commits[1:])
        self.assertIn(told, self.store("blame", "hot"))
        self.assertEqual(self.store("trend", "hot").count("turned"), 3)
        self.assertIn("No change found", self.store("blame", "even"))
        # The page: a figure for each series, with a point a commit and the turns' names.
        self.assertRegex(self.store("blame", "--html", "year.html"), r"^year\.html, \d+ kB\n$")
        figures = {f.attrib["aria-label"].removeprefix("trend of "): f
                   for f in self.figures((self.dir / "year.html").read_text())}
        self.assertEqual(set(figures), {"[total]", "hot", "even"})
        names = {label: [t.text for t in f.iter("text") if t.attrib.get("class") == "name"]
                 for label, f in figures.items()}
        self.assertEqual([n.split()[0] for n in names["hot"]], commits)
        self.assertTrue(all(re.fullmatch(r"c\d+ \+[\d.]+ %", n) for n in names["hot"]), names)
        self.assertEqual(names["even"], [])
        for figure in figures.values():
            circles = list(figure.iter("circle"))
            self.assertEqual(len(circles), days)
            self.assertTrue(all(70 <= float(c.attrib["cx"]) <= 948 and 46 <= float(c.attrib["cy"]) <= 274 for c in circles))
        # Twenty percent more is higher by that on a scale that is in proportion to the values.
        ys = [float(c.attrib["cy"]) for c in figures["hot"].iter("circle")]
        self.assertLess(max(ys[3 * apart + 1:]), min(ys[:3 * apart - 1]))

    def figures(self, page):
        """Of a page, as XML; other markup is looked at as text."""
        self.assertNotIn("<script", page)
        return [xml.etree.ElementTree.fromstring(f) for f in re.findall(r"<svg.*?</svg>", page, re.S)]

    def test_a_page_of_odd_series(self):
        """One commit; nothing at all; equal values; names that are markup."""
        commit = "<b>&\"'"
        self.store("add", "--commit", commit, "--date", str(NEW_YEAR), self.recording("r", **{"a<b>&c": 10, "none": 0}))
        page = self.store("trend", "a<b>&c", "--html", "-")
        figure, = self.figures(page)
        self.assertEqual(len(list(figure.iter("circle"))), 1)
        self.assertIn(commit, "".join(t.text for t in figure.iter("title")))
        self.assertNotIn("<b>&", page)
        self.assertIn("a&lt;b&gt;&amp;c", page)
        for day in 1, 2:
            self.store("add", "--commit", f"c{day}", "--date", str(NEW_YEAR + day * DAY),
                       self.recording(f"r{day}", **{"a<b>&c": 10}))
        for name in "a<b>&c", "--total":
            figure, = self.figures(self.store("trend", name, "--html", "-"))
            numbers = [float(v) for e in figure.iter() for k, v in e.attrib.items() if k in ("cx", "cy", "x1", "y1", "x2", "y2")]
            self.assertTrue(all(0 <= n <= 960 for n in numbers), numbers)
        self.assertIn("--html needs trend or blame", self.store("diff", "c1", "c2", "--html", "x", status=2))


if __name__ == "__main__":
    main()
