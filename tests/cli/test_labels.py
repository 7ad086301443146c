"""Labels that programs publish as OTEP 4719 and OTEP 4947 say, read from outside by both ways of
recording; reports and exports by label.

The program publishes by the specification's own layouts, with no code of monarc's, and prints the CPU
time that it spent with each label: by the same clock as samples, so that a busy machine changes nothing
but the number of samples by ptrace. What is compared may differ by four standard errors. Samples by ptrace
come at exponential distances and weigh what their thread has run since the last one, so that the variance
of a share is twice that of as many equal ones. perf's labels are those of the nearest reading: a sample at
the end of a request may have those of the next. How many may be wrong for that is said, and grows with
what else wants the CPUs: no more than these may be wrong, but for a few.
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from harness import ROOT, check_schema, is_sanitized, main, monarc, monarc_json
from parts import load_tests, slow
from protobuf_file import packed, pairs
from sequential import Outside, decided, figure

sys.dont_write_bytecode = True
SCRATCH = tempfile.TemporaryDirectory()
SOURCE = ROOT / "tests/record/programs/labels.c"
COMPILER = os.environ.get("CC", "gcc").split()


def build(name, *flags, compiler=COMPILER):
    path = Path(SCRATCH.name) / name
    subprocess.run([*compiler, "-g", "-O1", "-pthread", SOURCE, "-o", path, *flags], check=True)
    return path


def setUpModule():
    Case.program = build("labels", "-rdynamic")


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def record(self, *command, options=(), program=None):
        """The folder, and what the program printed: seconds by service and route."""
        folder = self.dir / "r.monarc"
        done = monarc("run", "--no-report", *options, "-o", folder, program or self.program, *command)
        if done.returncode == 126 and b"perf events: " in done.stderr and "perf" in options:
            self.skipTest("perf events are refused here")
        self.assertEqual(done.returncode, 0, done.stderr)
        truth = {}
        for line in done.stdout.decode().splitlines():
            service, route, seconds = line.split()
            truth[service, route] = float(seconds)
        return folder, truth

    def record_enough(self, *command, least=60, **more):
        """Of at least so many samples, and how many they are. On a machine with no CPU to spare, ptrace sees
        hardly anything of a program, so that it runs longer; its last argument says how long."""
        for longer in 1, 4, 16:
            folder, truth = self.record(*command[:-1], str(longer * int(command[-1])), **more)
            taken = self.taken(folder)
            if taken >= least:
                return folder, truth, taken
        raise Outside(f"only {taken} samples were taken")

    def taken(self, folder):
        return monarc_json("flat", folder)["summary"]["recording"]["samples_taken"]

    def slack(self, method, share, taken):
        return max(0.06, 4 * (share * (1 - share) * 2 / taken) ** 0.5) if method == "ptrace" else 0.06

    def table(self, folder, key, *arguments):
        table = monarc_json("flat", "--by-label", key, *arguments, folder)
        check_schema(self, "shares", table)
        self.assertEqual((table["report"], table["label"]), ("labels", key))
        self.assertAlmostEqual(sum(row["self_samples"] for row in table["rows"]),
                               table["summary"]["samples"] - table["summary"]["unattributed_samples"]
                               + table["summary"]["profiler_samples"], places=3)
        return table

    def shares(self, folder, key, *arguments):
        """Of the samples that have the label."""
        rows = {row["name"]: row for row in self.table(folder, key, *arguments)["rows"]}
        whole = sum(row["self_samples"] for name, row in rows.items() if name)
        self.assertGreater(whole, 0, rows)
        for name, row in rows.items():
            row["share"] = row["self_samples"] / whole if name else 0
        return rows, whole

    def of(self, row, *functions):
        """Samples of the row in one of the functions."""
        return sum(f["self_samples"] for f in row["functions"]
                   if re.sub(r"\..*", "", f["name"]) in functions)

    def check(self, folder, truth, labelled=0.7, pure=0.97, slack=0.06):
        """`pure`: of the samples whose labels the recording says nothing of."""
        rows, whole = self.shares(folder, "http.route")
        total = sum(row["self_samples"] for row in rows.values())
        figure(self).assertGreater(whole / total, labelled, rows)
        spent = sum(truth.values())
        for route in "/a", "/b":
            want = sum(s for (_, r), s in truth.items() if r == route) / spent
            figure(self).assertAlmostEqual(rows[route]["share"], want, delta=slack)
        losses = monarc_json("flat", folder)["summary"]["recording"]["losses"]
        unsure = sum(loss["count"] for loss in losses if "between two readings" in loss["text"])
        wrong = self.of(rows["/a"], "serve_b") + self.of(rows["/b"], "serve_a")
        served = sum(self.of(rows[route], "serve_a", "serve_b") for route in ("/a", "/b"))
        figure(self).assertLess(wrong, (1 - pure) * served + unsure, (wrong, served, unsure))
        figure(self).assertLess(wrong, max(0.2, 1 - pure) * served)  # by chance it would be 3/8
        return rows


@decided
class Truth(Case):
    """A request of route /a takes three times as long as one of /b, each in a function of its own."""

    @slow
    def test_records_that_are_exchanged(self):
        folder, truth = self.record("swap", "3", "20000", "300")
        self.check(folder, truth)

    @slow
    def test_records_that_are_changed_in_place(self):
        folder, truth = self.record("inplace", "2", "20000", "400")
        self.check(folder, truth)

    @slow
    def test_stopped_threads(self):
        """They are read while they are stopped, so that each sample has its own label, however short
        the requests are."""
        for mode in "swap", "inplace":
            folder, truth, taken = self.record_enough(mode, "2", "400", "400", options=["--method", "ptrace"])
            self.check(folder, truth, pure=0.97, slack=self.slack("ptrace", 3 / 4, taken))

    @slow
    def test_torn_records_do_not_count(self):
        """Half of each request the record is being changed."""
        folder, truth, taken = self.record_enough("torn", "1", "20000", "600", options=["--method", "ptrace"])
        rows, whole = self.shares(folder, "http.route")
        total = sum(row["self_samples"] for row in rows.values())
        figure(self).assertAlmostEqual(whole / total, 2 / 3, delta=self.slack("ptrace", 2 / 3, taken))  # (1) of (0.5 + 1)
        figure(self).assertGreater(self.of(rows["/a"], "serve_a"), 20 * self.of(rows["/a"], "serve_b"))
        figure(self).assertGreater(rows[None]["self_samples"], 0)

    @slow
    def test_libraries(self):
        """The variable is in a library that is loaded at run time, in both forms of access."""
        for flags in [], ["-mtls-dialect=gnu2"]:  # which clang has from 18 on
            library = build("libctx.so", "-fPIC", "-shared", "-DIN_LIBRARY", *flags, compiler=["gcc"] if flags else COMPILER)
            program = build("labels_lib", f'-DLIBRARY="{library}"')
            folder, truth = self.record("swap", "2", "20000", "300", program=program)
            self.check(folder, truth)

    @slow
    def test_what_comes_late(self):
        """A library that is loaded, or a thread that is ready, after the context was published."""
        library = build("libctx.so", "-fPIC", "-shared", "-DIN_LIBRARY")
        program = build("labels_lib", f'-DLIBRARY="{library}"')
        for of in program, self.program:
            folder, truth = self.record("late", "1", "20000", "700", program=of)
            self.check(folder, truth, labelled=0.5, pure=0.8)  # before, they have none

    @slow
    def test_several_processes(self):
        folder, truth = self.record("children", "2", "20000", "200")
        rows, _ = self.shares(folder, "service.name")
        spent = sum(truth.values())
        for service in "first", "second":
            want = sum(s for (of, _), s in truth.items() if of == service) / spent
            figure(self).assertAlmostEqual(rows[service]["share"], want, delta=0.05)
        self.assertEqual({row["name"] for row in self.table(folder, "service.version")["rows"]} - {None}, {"1.2"})

    @slow
    def test_keys_that_come_later(self):
        folder, _ = self.record("grows", "1", "20000", "800")
        rows, whole = self.shares(folder, "tenant")
        total = sum(row["self_samples"] for row in rows.values())
        self.assertEqual(set(rows) - {None}, {"me"})
        figure(self).assertAlmostEqual(whole / total, 0.5, delta=0.15)

    @slow
    def test_contexts_that_change_all_the_time(self):
        """Of what the process says, changes count up to a limit, and a note says how many do not; the
        labels of its threads are right."""
        folder, truth = self.record("changes", "1", "4000", "1200")
        self.check(folder, truth, pure=0.5)  # the requests are short
        recording = monarc_json("flat", folder)["summary"]["recording"]
        lost = sum(loss["count"] for loss in recording["losses"] if "more than 64 times" in loss["text"])
        self.assertGreater(lost, 0, recording["losses"])
        versions = {row["name"] for row in self.table(folder, "service.version")["rows"]} - {None}
        self.assertEqual(len(versions), 1)

    @slow
    def test_another_program(self):
        """After an exec, a process has none of the labels that it had before."""
        for options in [], ["--method", "ptrace"]:
            folder, _, _ = self.record_enough("exec", "1", "20000", "400", options=options)
            rows = {row["name"]: row for row in monarc_json("flat", "--by-label", "http.route", folder)["rows"]}
            published = sum(rows[route]["self_samples"] for route in ("/a", "/b"))
            figure(self).assertGreater(published, self.of(rows[None], "serve_a", "serve_b") / 4)
            figure(self).assertGreater(self.of(rows[None], "serve_b"), published / 8)

    @slow
    def test_waits(self):
        """Off the CPU, a thread is looked at in its wait: the label is that of the wait."""
        for options in [], ["--method", "ptrace"]:
            folder, _ = self.record("waits", "2", "40000", "1500", options=["--off-cpu", *options])
            rows, whole = self.shares(folder, "http.route")
            # Three of four parts; of short waits more are over before they are looked at.
            figure(self).assertTrue(0.6 < rows["/a"]["share"] < 0.97, rows["/a"])
            self.assertTrue(any(f["name"].startswith("nap") and f["total_samples"] > 0
                                for f in rows["/a"]["functions"]))


@decided
class Damage(Case):
    """Whatever is damaged: samples are all there, and one note says what is not. Another may say of the thread that is not
    damaged that it was sampled once more after the last reading. Switches of context are no contexts of labels."""

    def one(self, kind, method):
        folder, truth, _ = self.record_enough("bad", kind, "2", "10000", "150", options=["--method", method], least=30)
        table = monarc_json("flat", folder)
        losses = [loss for loss in table["summary"]["recording"]["losses"]
                  if re.search("label|context(?! switch)", loss["text"]) and "after they were last read" not in loss["text"]]
        self.assertLessEqual(len(losses), 1, losses)
        run = sum(truth.values())
        rows = {row["name"]: row["total_samples"] for row in table["functions"]}
        served = sum(n for name, n in rows.items() if re.match(r"serve_[ab]$", name))
        figure(self).assertGreater(served / table["summary"]["samples"], 0.8, (run, rows))
        return losses, monarc("flat", "--by-label", "http.route", folder)

    @slow
    def test_records(self):
        for method in "perf", "ptrace":
            for kind in "pointer", "length":
                losses, done = self.one(kind, method)
                self.assertEqual(len(losses), 1, kind)
                self.assertIn("could not be read", losses[0]["text"])
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"has no label 'http.route'; it has service.name, service.version", done.stderr)

    @slow
    def test_entries(self):
        """What stands before the damage counts."""
        losses, done = self.one("entry", "ptrace")
        self.assertEqual((len(losses), done.returncode), (1, 0), done.stderr)
        self.assertIn(b"/a", done.stdout)

    @slow
    def test_contexts(self):
        for kind, notes in ("payload", 1), ("version", 0), ("endless", 1), ("stamp", 0):
            losses, done = self.one(kind, "perf")
            self.assertEqual(len(losses), notes, (kind, losses))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"label", done.stderr)


@unittest.skipIf(is_sanitized(), "the recorder's library is not loaded into such a program")
@decided
class OwnCalls(Case):
    """monarc_rt_label() and regions publish records that are read as all others are."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = Path(SCRATCH.name) / "labelled"
        subprocess.run([*COMPILER, "-g", "-O1", "-pthread", ROOT / "tests/runtime/profile/programs/labelled.c",
                        f"-I{ROOT}/include", "-o", cls.program], check=True)

    @slow
    def test_labels_and_regions(self):
        for method in "perf", "ptrace":
            folder, truth = self.record(options=["--method", method])
            taken = self.taken(folder)
            figure(self).assertGreaterEqual(taken, 60)
            rows, whole = self.shares(folder, "http.route")
            figure(self).assertAlmostEqual(rows["/a"]["share"], truth["-", "/a"] / sum(truth.values()),
                                   delta=self.slack(method, 3 / 5, taken))
            regions = {row["name"]: row for row in self.table(folder, "monarc.region")["rows"]}
            self.assertEqual(set(regions) - {"outer"}, {"parse", None})
            if "outer" in regions:  # it has hardly any time of its own
                figure(self).assertLess(regions["outer"]["self_samples"] / whole, 0.05)
            figure(self).assertAlmostEqual(regions["parse"]["self_samples"] / whole, 2 / 5,  # 10 of 25 ms
                                   delta=self.slack(method, 2 / 5, taken) + 0.03)
            total = sum(f["total_samples"] for f in regions["parse"]["functions"] if f["name"] == "parse")
            figure(self).assertGreater(total / regions["parse"]["self_samples"], 0.85)

    @slow
    def test_forked_threads_have_records_of_their_own(self):
        done = monarc("run", "--no-report", "-o", self.dir / "r.monarc", self.program, "fork")
        self.assertEqual((done.returncode, done.stdout), (0, b"has 0\n"), done.stderr)

    def test_another_publisher_is_left_alone(self):
        done = monarc("run", "--no-report", "-o", self.dir / "r.monarc", self.program, "other")
        self.assertEqual((done.returncode, done.stdout), (0, b"other -1\n"), done.stderr)


class Reports(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = Path(SCRATCH.name) / "reports.monarc"
        done = monarc("run", "--no-report", "-o", cls.folder, cls.program, "swap", "2", "20000", "400")
        assert done.returncode == 0, done.stderr

    def test_only_one_value(self):
        whole, part = monarc_json("flat", self.folder), monarc_json("flat", "--label", "http.route=/a", self.folder)
        rows = {row["name"]: row["self_samples"] for row in self.table(self.folder, "http.route")["rows"]}
        self.assertAlmostEqual(part["summary"]["samples"], rows["/a"], places=3)
        self.assertLess(part["summary"]["samples"], whole["summary"]["samples"])
        self.assertEqual(part["summary"]["recording"]["part"], "http.route=/a")
        for command in (["graph"], ["graph", "--tree"], ["lines"], ["flame", "-o", self.dir / "f.svg"],
                        ["html", "-o", self.dir / "p.html"]):
            done = monarc(*command, "--label", "http.route=/a", "--label", "service.name=shop", self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        tree = monarc("graph", "--tree", "--label", "http.route=/a", self.folder).stdout
        self.assertIn(b"serve_a", tree)
        served = {row["name"]: row["self_samples"] for row in part["functions"]}
        self.assertLess(served.get("serve_b", 0), 0.1 * served["serve_a"])

    def test_values_as_frames(self):
        tree = monarc("graph", "--tree", "--by-label", "http.route", self.folder).stdout.decode()
        self.assertRegex(tree, r"http\.route=/a")
        folded = self.dir / "f.folded"
        done = monarc("export", "--format", "folded", "--by-label", "http.route", "-o", folded, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        outer, wrong = {}, 0
        for line in folded.read_text().splitlines():
            stack, number = line.rsplit(" ", 1)
            outer[stack.split(";")[0]] = outer.get(stack.split(";")[0], 0) + int(number)
            wrong += int(number) if stack.startswith("http.route=/a;") and ";serve_b" in stack else 0
        rows = {row["name"]: row["self_share"] for row in self.table(self.folder, "http.route")["rows"]}
        self.assertLess(wrong, 0.1 * outer["http.route=/a"])
        self.assertAlmostEqual(outer["http.route=/a"] / sum(outer.values()), rows["/a"], delta=0.01)
        done = monarc("diff", "--by-label", "http.route", self.folder, self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_text_and_csv(self):
        text = monarc("flat", "--by-label", "http.route", "--limit", "1", self.folder).stdout.decode()
        self.assertRegex(text, r"self% +samples +seconds +http\.route\n")
        self.assertRegex(text, r"\d +/a\n +\d+(\.\d+)? +\d+ +\d\.\d+ +serve_a")
        self.assertRegex(text, r"\(none\)")
        lines = monarc("flat", "--by-label", "http.route", "--csv", self.folder).stdout.decode().splitlines()
        self.assertEqual(lines[0], "name,self_share,self_samples,function,total_samples")

    def test_refusals(self):
        for arguments, why in ((["--label", "route"], b"takes KEY=VALUE"),
                               (["--label", "=x"], b"takes KEY=VALUE"),
                               (["--label", "no=x"], b"has no label 'no'; it has "),
                               (["--label", "http.route=/c"], b"no sample of the recording has the label"),
                               (["--by-label", "http.route", "--by-thread"], b"only one can be given"),
                               (["--by-object", "--by-process"], b"only one can be given"),
                               (["--by-label", "nothing"], b"has no label 'nothing'")):
            done = monarc("flat", *arguments, self.folder)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(why, done.stderr)

    def test_pprof(self):
        path = self.dir / "p.pb.gz"
        self.assertEqual(monarc("export", "--format", "pprof", "-o", path, self.folder).returncode, 0)
        fields = list(pairs(gzip.decompress(path.read_bytes())))
        texts = [value.decode() for number, value in fields if number == 6]
        sums, whole = {}, 0
        for number, sample in fields:
            if number != 2:
                continue
            value, labels = 0, {}
            for n, v in pairs(sample):
                if n == 2:
                    value = packed(v)[0]
                elif n == 3:
                    pair = dict(pairs(v))
                    labels[texts[pair[1]]] = texts[pair[2]]
            whole += value
            sums[labels.get("http.route")] = sums.get(labels.get("http.route"), 0) + value
            if labels.get("http.route"):
                self.assertEqual(labels["service.name"], "shop")
        rows = {row["name"]: row["self_share"] for row in self.table(self.folder, "http.route")["rows"]}
        for route, share in rows.items():
            self.assertAlmostEqual(sums[route] / whole, share, delta=0.01)

    def test_otlp(self):
        """Labels are attributes; the span is a link, whose ids the program made of the thread's number
        and of that of the request."""
        path = self.dir / "p.otlp"
        self.assertEqual(monarc("export", "--format", "otlp", "-o", path, self.folder).returncode, 0)
        top = list(pairs(path.read_bytes()))
        dictionary = list(pairs(next(value for number, value in top if number == 2)))
        texts = [value.decode() for number, value in dictionary if number == 5]
        links = [dict(pairs(value)) for number, value in dictionary if number == 4]
        attributes = [dict(pairs(value)) for number, value in dictionary if number == 6]
        stacks = [value for number, value in dictionary if number == 7]
        self.assertEqual(links[0], {})
        for link in links[1:]:
            self.assertIn(link[1], (b"\1" * 16, b"\2" * 16))
            self.assertEqual((len(link[2]), link[2][7]), (8, 1))
        resource = dict(pairs(next(value for number, value in top if number == 1)))
        profile = [v for n, v in pairs(resource[2]) if n == 2][0]
        sums, linked, whole = {}, 0, 0
        for number, sample in pairs(profile):
            if number != 2:
                continue
            fields = dict(pairs(sample))
            value = packed(fields[4])[0]
            whole += value
            self.assertLess(fields[1], len(stacks))
            labels = {}
            for i in packed(fields.get(2, b"")):
                labels[texts[attributes[i][1]]] = dict(pairs(attributes[i][2]))[1].decode()
            if fields.get(3):
                self.assertLess(fields[3], len(links))
                linked += value
            route = labels.get("http.route")
            sums[route] = sums.get(route, 0) + value
        rows = {row["name"]: row["self_share"] for row in self.table(self.folder, "http.route")["rows"]}
        for route, share in rows.items():
            self.assertAlmostEqual(sums[route] / whole, share, delta=0.01)
        self.assertGreater(linked / whole, 0.5)

    def test_merged(self):
        """Two recordings as one: each route has what it has in both."""
        one = {row["name"]: row["self_samples"] for row in self.table(self.folder, "http.route")["rows"]}
        table = monarc_json("flat", "--by-label", "http.route", self.folder, self.folder)
        both = {row["name"]: row["self_samples"] for row in table["rows"]}
        for route in "/a", "/b":
            self.assertAlmostEqual(both[route], 2 * one[route], places=3)


if __name__ == "__main__":
    main()
