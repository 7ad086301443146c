"""monarc flame: a picture that is well-formed XML, names no other file, and has the figures of
graph --tree --json; names that try to leave their place stay in it."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from exported import SVG, frames
from harness import DEMO, PROGRAMS, main, monarc, monarc_json
from run_file import FILE, Run
from test_html import hostile_program
from test_trees import PATHS

CC = shlex.split(os.environ.get("CC", "cc"))


def picture(*arguments, **more):
    answer = monarc("flame", "-o", "-", *arguments, **more)
    if answer.returncode:
        raise AssertionError(answer.stderr.decode())
    return answer.stdout


class Flame(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = Path(cls.folder.name)
        (cls.dir / "paths.c").write_text(PATHS)
        subprocess.run([*CC, "-O2", "-g", "-fno-optimize-sibling-calls", cls.dir / "paths.c", "-o",
                        cls.dir / "paths"], check=True)
        cls.recording = cls.dir / "paths.monarc"
        done = monarc("run", "--no-report", "-o", cls.recording, "--", cls.dir / "paths")
        assert done.returncode == 0, done.stderr

    def check_self_contained(self, text):
        """One inline script, and nothing that would load or open anything."""
        root = xml.fromstring(text)
        self.assertEqual(len(list(root.iter(SVG + "script"))), 1)
        for element in root.iter():
            self.assertIn(element.tag.removeprefix(SVG),
                          {"svg", "title", "style", "defs", "pattern", "line", "rect", "text", "g", "script"})
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on") or "href" in name or name == "src", name)
                self.assertNotRegex(value, r"(?i)javascript:|https?:|url\((?!#)")
        self.assertNotIn(b"@import", text)
        self.assertEqual(re.findall(rb"https?://[^\"]+", text), [b"http://www.w3.org/2000/svg"])

    def test_figures_are_those_of_the_tree(self):
        text = picture("--chains", "--min-percent=0", "--full-names", self.recording)
        self.check_self_contained(text)
        found = frames(text)
        tree = monarc_json("graph", "--tree", "--min-percent=0", "--limit=100000", self.recording)
        rows = tree["trees"][0]["rows"]
        self.assertEqual(found[0].total, tree["trees"][0]["samples"])
        self.assertEqual([(f.total, f.self) for f in found[1:]],
                         [(r["total_samples"], r["self_samples"]) for r in rows])
        self.assertEqual([f.name for f in found[1:]],
                         [r["name"] + " (inlined)" * r["is_inlined"] for r in rows])
        self.assertIn("hub", [f.label for f in found])

    def test_frames_stand_on_their_callers(self):
        found = frames(picture("--min-percent=0", self.recording))
        above = []
        for frame in found:
            while above and above[-1].y >= frame.y:
                above.pop()
            if above:
                self.assertGreaterEqual(frame.x, above[-1].x - 0.02)
                self.assertLessEqual(frame.x + frame.width, above[-1].x + above[-1].width + 0.02)
            above.append(frame)
        self.assertFalse([f for f in found if f.is_hatched])

    def test_up(self):
        down, up = frames(picture("--min-percent=0", self.recording)), frames(picture("--min-percent=0", "--up", self.recording))
        self.assertEqual([(f.name, f.x, f.width) for f in down], [(f.name, f.x, f.width) for f in up])
        self.assertLess(down[0].y, down[1].y)
        self.assertGreater(up[0].y, up[1].y)

    def test_colours_are_those_of_the_page(self):
        """By kind of code, in shades that both have, and by share with --by-share."""
        style = (Path(__file__).resolve().parents[2] / "assets/page/style.css").read_text().split("@media")[0]
        shades = {kind: colours.split() for kind, colours in re.findall(r"--(\w+)-frame: ([^;]*);", style)}
        steps = re.search(r"--share: ([^;]*);", style)[1].split()
        for frame in frames(picture("--chains", "--min-percent=0", self.recording))[1:]:
            kind = "kernel" if frame.name.startswith("[kernel]") else "program" if frame.name in ("hub", "main") else None
            self.assertIn(frame.fill, shades[kind] if kind else sum(shades.values(), []), frame.name)
        text = picture("--chains", "--min-percent=0", "--by-share", self.recording)
        self.assertLessEqual({frame.fill for frame in frames(text)[1:]}, set(steps))
        self.assertTrue(all(step.encode() in text for step in steps))

    def test_chains_are_one_box(self):
        """Frames that nothing branches off, as the tree of text has them; nothing else moves sideways or changes."""
        run = Run("./prog")
        prog = run.object(FILE, "/nonexistent/prog", b"\1" * 20)
        names = [*(f"step_{i}" for i in range(7)), "left", "right", "deep"]
        for i, name in enumerate(names):
            run.symbols.append((prog, 0x1000 + 0x10 * i, 0x10, name))
        run.thread(run.process(1, 0, prog, "prog"), 1)
        stack = [(prog, 0x1000 + 0x10 * i) for i in range(7)]
        run.sample([*stack, (prog, 0x1070)], 500)
        run.sample([*stack, (prog, 0x1080)], 300)
        run.sample([*stack, (prog, 0x1080), (prog, 0x1090)], 200)
        recording = run.write(self.dir / "chain.monarc")
        whole, folded = frames(picture("--chains", recording)), frames(picture(recording))
        chain = "(5 frames without a branch: " + ", ".join(names[1:6]) + ")"
        self.assertEqual([f.name for f in whole], ["all", *names[:7], "left", "right", "deep"])
        self.assertEqual([f.name for f in folded], ["all", "step_0", chain, "step_6", "left", "right", "deep"])
        at = {f.name: f for f in whole}
        for f in folded:
            same = at.get(f.name, at["step_1"])
            self.assertEqual((f.x, f.width, f.total, f.self), (same.x, same.width, same.total, same.self), f.name)
        self.assertEqual([round((f.y - folded[0].y) / 18) for f in folded], [0, 1, 2, 3, 4, 4, 5])

    def test_small_ones_are_put_together(self):
        found = frames(picture("--min-percent=30", self.recording))
        folded = [f for f in found if re.fullmatch(r"\(\+\d+ more\)", f.name)]
        self.assertTrue(folded)
        self.assertAlmostEqual(sum(f.self for f in found), found[0].total, places=6)

    def test_profile_of_arcs_is_marked_as_estimated(self):
        text = picture(DEMO, PROGRAMS / "demo.gmon")
        self.check_self_contained(text)
        found = frames(text)
        by_name = {}
        for frame in found:
            by_name.setdefault(frame.name, []).append(frame)
        self.assertEqual({f.is_hatched for f in by_name["work.isra.0"]}, {True})
        self.assertEqual({f.is_hatched for f in by_name["main"]}, {False})
        for row in monarc_json("flat", "--all", DEMO, PROGRAMS / "demo.gmon")["functions"]:
            name = row["name"].split("(")[0]
            if row["self_samples"] and name in by_name:
                self.assertAlmostEqual(sum(f.self for f in by_name[name]), row["self_samples"], places=6)
        self.assertIn("estimated from call counts", by_name["work.isra.0"][0].tip)
        self.assertIn(b"2.44 % is in no function", text)

    def test_hostile_names(self):
        program, profile = hostile_program(self.dir / "hostile")
        text = picture("--force", "--no-demangle", program, profile)
        self.check_self_contained(text)
        self.assertLess(len(text), 100000)
        names = [f.name for f in frames(text)]
        self.assertIn("</script><script>document.title='broken'</script>", names)
        self.assertIn("tab?and;semicolon", names)
        self.assertTrue([n for n in names if n.startswith("aaaa") and len(n) <= 500])

    def test_bytes_that_are_no_characters(self):
        program, profile = hostile_program(self.dir / "bytes")
        image = program.read_bytes().replace(b"constructor", b"\xff\x01]]>\xef\xbf\xbf\xc3<&")
        program.write_bytes(image)
        text = picture("--force", program, profile, "--title", "]]>\"'\x02")
        self.check_self_contained(text)
        self.assertIn("\ufffd?]]>\ufffd\ufffd<&", [f.name for f in frames(text)])

    def test_output(self):
        out = self.dir / "x.svg"
        self.assertEqual(monarc("flame", "-o", out, self.recording).returncode, 0)
        self.assertEqual(out.read_bytes(), picture(self.recording))
        self.assertEqual(monarc("flame", self.recording, cwd=self.dir).returncode, 0)
        self.assertEqual((self.dir / "flame.svg").read_bytes(), out.read_bytes())
        lost = monarc("flame", "-o", self.dir / "none" / "x.svg", self.recording)
        self.assertEqual((lost.returncode, lost.stderr.count(b"\n")), (2, 1))

    def test_in_the_dark(self):
        text = picture(self.recording)
        self.assertRegex(text, rb"@media \(prefers-color-scheme:dark\)\{\.paper\{fill:#1")
        self.assertIn(b'<rect class="paper" width="100%" height="100%"/>', text)

    def test_nothing_to_draw(self):
        text = picture(DEMO, PROGRAMS / "demo-arcs.gmon")
        self.check_self_contained(text)
        self.assertIn(b"no samples", text)
        self.assertEqual(frames(text), [])

    def test_calls_on_stacks_are_solid_in_the_graph(self):
        text = monarc("graph", "--dot", self.recording).stdout.decode()
        self.assertRegex(text, r'label="leaf_left')
        self.assertNotIn("dotted", text)
        self.assertNotIn("estimated", text)

    def test_depth_of_a_profile_without_stacks(self):
        answer = monarc("flame", "-o", "-", "--depth=2", DEMO, PROGRAMS / "demo.gmon")
        self.assertEqual((answer.returncode, answer.stdout), (2, b""))
        self.assertIn(b"recorded stacks", answer.stderr)


class Graph(unittest.TestCase):
    """monarc graph --dot, and what Graphviz makes of it."""

    NODE = re.compile(r'^  (n\d+) \[label="(.*?)(?:\\n([\d.]+) %, self ([\d.]+) %)?", fillcolor=', re.M)
    ARC = re.compile(r'^  (n\d+) -> (n\d+) \[label=" +(?:([\d.]+) %)?(?:\\n +)?(?:(\d+)x)?"', re.M)
    DEMO = (DEMO, PROGRAMS / "demo.gmon")

    def dot(self, *arguments):
        answer = monarc("graph", "--dot", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.decode()

    def test_figures_are_those_of_the_entries(self):
        text = self.dot("--full-names", *self.DEMO)
        entries = monarc_json("graph", *self.DEMO)
        functions = {e["name"]: e for e in entries["entries"] if e["kind"] == "function"}
        nodes = {node: name for node, name, *_ in self.NODE.findall(text)}
        self.assertEqual(sorted(nodes.values()), sorted(functions))
        for _, name, total, own in self.NODE.findall(text):
            self.assertEqual(total, f"{100 * functions[name]['total_share']:.2f}")
            share = functions[name]["self_samples"] / entries["summary"]["samples"]
            self.assertEqual(own, f"{100 * share:.2f}")
        arcs = {(nodes[a], nodes[b]): int(calls or 0) for a, b, _, calls in self.ARC.findall(text)}
        wanted = {(name, line["name"]): line["calls"] for name, e in functions.items()
                  for line in e["callees"] if line["kind"] in ("arc", "internal")}
        wanted |= {(n, n): e["recursive_calls"] for n, e in functions.items() if (n, n) in arcs}
        self.assertEqual(arcs["fact", "fact"], 8000000000)
        self.assertEqual(arcs, wanted)
        self.assertRegex(text, r'label="cycle 1: 14.47 %"; tooltip="cycle 1: [^"]*"; n\d+; n\d+; }')
        self.assertIn("estimated from call counts", text)

    def test_limit_says_what_is_left_out(self):
        text = self.dot("--limit=3", *self.DEMO)
        self.assertLessEqual(len(self.NODE.findall(text)), 3)
        self.assertRegex(text, r"\d+ more are left out")

    def test_members_of_a_cycle_that_are_left_out(self):
        """One box stands for them, and calls from outside and to the outside keep their times and counts."""
        whole = self.dot(*self.DEMO)
        names = {name: node for node, name, *_ in self.NODE.findall(whole)}
        self.assertNotIn("more function", whole)
        text = self.dot("--limit=7", *self.DEMO)
        rest, = re.findall(r'(n\d+) \[label="1 more function"', text)
        self.assertNotIn(names["pong"], [node for node, *_ in self.NODE.findall(text)])
        arcs = {(a, b): (share, calls) for a, b, share, calls in self.ARC.findall(text)}
        self.assertEqual(arcs[names["main"], names["ping"]], ("14.47", "3"))
        self.assertNotIn((names["ping"], rest), arcs)
        more = self.dot("--limit=8", "--ignore=pong", *self.DEMO)
        self.assertIn("1 more function", more)
        arcs = {(a, b): (share, calls) for a, b, share, calls in self.ARC.findall(more)}
        self.assertEqual(arcs[rest, names["fact"]], ("1.46", "12"))

    def test_tips(self):
        text = self.dot(*self.DEMO)
        self.assertIn('tooltip="main calls ping\\n14.47 %, 3x", labeltooltip="main calls ping\\n14.47 %, 3x"', text)
        self.assertIn('tooltip="ping calls pong\\n7000x"', text)

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not here")
    def test_hostile_names(self):
        with tempfile.TemporaryDirectory() as folder:
            program, profile = hostile_program(Path(folder) / "hostile")
            text = self.dot("--force", "--no-demangle", program, profile)
        drawn = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
        texts = [t.text for t in xml.fromstring(drawn.stdout).iter(SVG + "text")]
        self.assertIn("tab?and;semicolon", texts)
        self.assertTrue([t for t in texts if t.startswith("</script><script>")])

    def picture(self, folder, name, **environment):
        out = Path(folder, "graph." + name)
        out.write_bytes(b"old")
        # Graphviz and fontconfig keep memory to the end.
        return monarc("graph", "--" + name, "-o", out, *self.DEMO,
                      env={"ASAN_OPTIONS": "detect_leaks=0", **environment}), out

    def test_no_picture_without_graphviz(self):
        """Where its library cannot be loaded, or monarc was built without."""
        with tempfile.TemporaryDirectory() as folder:
            for version in range(5, 12):
                Path(folder, f"libgvc.so.{version}").write_text("no library")
            answer, out = self.picture(folder, "svg", LD_LIBRARY_PATH=folder)
            self.assertRegex(answer.stderr, rb"^monarc: .*Graphviz.*--dot.*\n$")
            self.assertEqual((answer.returncode, out.read_bytes()), (2, b"old"))

    def test_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, magic in ("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"):
                answer, out = self.picture(folder, name)
                if answer.returncode:
                    self.skipTest("no picture is tested, as this monarc has no Graphviz: " + answer.stderr.decode().strip())
                self.assertTrue(out.read_bytes().startswith(magic))
                if name == "svg":
                    self.assertNotIn(b"<!DOCTYPE", out.read_bytes())
                    self.assertRegex(out.read_bytes(), rb"^[^<]*<\?xml[^>]*>\n<svg[^>]*>\n<style>\.edge [^<]*@media \(prefers-color-scheme:dark")
                    self.assertIn("box::open", [t.text for t in xml.fromstring(out.read_bytes()).iter(SVG + "text")])

    def test_plugins_that_are_not_listed(self):
        """As where Debian's library of Graphviz is installed without its programs."""
        with tempfile.TemporaryDirectory() as empty:
            answer = monarc("graph", "--svg", "demo", "demo.gmon", env={"GVBINDIR": empty})
        self.assertEqual((answer.returncode, answer.stdout), (2, b""))
        self.assertRegex(answer.stderr, rb"package graphviz|built without Graphviz|is not installed")

    def test_what_does_not_go_together(self):
        for options in ("--tree", "--svg"), ("-o", "x"):
            self.assertEqual(monarc("graph", *options, *self.DEMO).returncode, 2)


if __name__ == "__main__":
    main()
