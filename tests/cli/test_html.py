"""monarc html: what is in the page, without a browser: its policy, its data, its tables, and that no
name gets out of them. tests/page has what the page does with it."""

import base64
import hashlib
import html.parser
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

from harness import NM, gmon, main, monarc, monarc_json
from parts import in_both, load_tests, share, slow

CC = shlex.split(os.environ.get("CC", "cc"))
BLOCK = re.compile(r'<script type="text/plain" id="(\w+)">([A-Za-z0-9+/=]*)</script>')

# Names that would do something if they were markup, a query or a key of an object.
HOSTILE = {
    "f1": "</script><script>document.title='broken'</script>",
    "f2": "\"><img src=x onerror=\"document.title='broken'\">",
    "f3": "tab\tand;semicolon",
    "f4": "constructor",
    "f5": "__proto__",
    "f6": "<!--",
    "f7": "\u202etfel ot thgir",
    "f8": "a" * 100000,
}
PROGRAM = "".join(f"int {name}(int x) {{ return x * {i + 2}; }}\n" for i, name in enumerate(HOSTILE)) + """
int main(int argc, char **argv)
{
    (void)argv;
    return """ + " + ".join(f"{name}(argc)" for name in HOSTILE) + """ == 1;
}
"""

DETAILED = """static inline __attribute__((always_inline)) double sum(double x)
{
    double s = 0;
    for (int i = 0; i < 20; i++)
        s += x / (i + 1);
    return s;
}
__attribute__((noinline)) double work(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += sum(i);
    return s;
}
int main(int argc, char **argv)
{
    if (argc > 5) /* LCOV_EXCL_LINE */
        return (int)work(3);
    return work(argc) < 0 || !argv;
}
"""

BEFORE = """#include <stdio.h>
int used(int x)
{
    return x + 1;
}
int left(int x)
{
    return x + 2;
}
int gone(int x)
{
    return x * 3;
}
int main(int argc, char **argv)
{
    int n = argc > 4;
    if (argc > 1)
        n += left(argc);
    n += gone(used(argc));
    printf("%d\\n", n);
    return argv == NULL;
}
"""
AFTER = (BEFORE.replace("int gone(int x)\n{\n    return x * 3;\n}\n", "")
         .replace('    printf("%d\\n", n);\n', '    /* LCOV_EXCL_START */\n    printf("%d\\n", n);\n    /* LCOV_EXCL_STOP */\n')
         .replace("    n += gone(used(argc));\n", "    if (n > 100)\n        n = used(n);\n    n += left(n);\n"))


# Two functions that stand elsewhere in the second version; one of them has a line more there.
MOVED = """{more}__attribute__((noinline)) int same(int x)
{{
    return x * 3;
}}
__attribute__((noinline)) int longer(int x)
{{
{within}    return x * 5;
}}
int main(int argc, char **argv)
{{
    return same(argc) + longer(argc) == (argv == 0);
}}
"""

TEMPLATE = """template <typename T> T least(T x, T y)
{
    return x < y ? x : y;
}
int main(int argc, char **)
{
    return least(argc, 7) + least<long>(2, argc) + (argc > 9 ? (int)least(1.0, 2.0) : 0) > 9;
}
"""


def moved_program(folder, name, more, within, same=10):
    """MOVED with 10 samples (or so many) on `same` and 30 on `longer`, and a profile of the first ones alone."""
    Path(folder, name).mkdir()
    Path(folder, name, "p.c").write_text(MOVED.format(more=more, within=within))
    subprocess.run([*CC, "-g", "-O0", "-o", f"../{name}.program", "p.c"], cwd=Path(folder, name), check=True)
    found = subprocess.run([*NM, "-S", f"{name}.program"], cwd=folder, check=True, capture_output=True, text=True).stdout
    where = {fields[3]: int(fields[0], 16) for fields in map(str.split, found.splitlines()) if len(fields) == 4}
    low = min(where["same"], where["longer"])
    bins = [0] * (abs(where["same"] - where["longer"]) // 2 + 1)
    bins[(where["same"] - low) // 2], bins[(where["longer"] - low) // 2] = same, 30
    Path(folder, f"{name}.gmon").write_bytes(gmon([(low, low + 2 * len(bins), bins)]))
    bins[(where["longer"] - low) // 2] = 0
    Path(folder, f"{name}.same.gmon").write_bytes(gmon([(low, low + 2 * len(bins), bins)]))


def before_and_after(folder):
    """A tracefile of BEFORE, a patch, and notes and counters of AFTER; false where coverage does not work."""
    old, new = folder / "old.c", folder / "p.c"
    for text, program in (BEFORE, "then"), (AFTER, "now"):
        new.write_text(text)
        subprocess.run([*CC, "--coverage", "-O0", "-o", program, "p.c"], cwd=folder, check=True)
        if subprocess.run([f"./{program}"], cwd=folder, capture_output=True).returncode or not list(folder.glob("*.gcda")):
            return False
        if program == "then":
            monarc("cover", "--lcov", "then.info", cwd=folder)
            for file in folder.glob("*.gc*"):
                file.unlink()
    old.write_text(BEFORE)
    patch = subprocess.run(["diff", "-u", "--label", "a/p.c", "--label", "b/p.c", "old.c", "p.c"], cwd=folder,
                           capture_output=True, check=False).stdout
    (folder / "p.patch").write_bytes(patch)
    return True


def commit_both(folder):
    """BEFORE by Ada, years ago, and AFTER by somebody with an odd name, now; false where there is no git."""
    if not shutil.which("git"):
        return False
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True, env=environment, capture_output=True)
    for text, author, date in (BEFORE, "Ada", "2001-01-01T00:00:00Z"), (AFTER, "Bob &amp; Co", None):
        (folder / "p.c").write_text(text)
        subprocess.run(["git", "add", "p.c"], cwd=folder, check=True, env=environment)
        who = {f"GIT_{side}_{key}": value for side in ("AUTHOR", "COMMITTER")
               for key, value in (("NAME", author), ("EMAIL", "a@example.org"), ("DATE", date)) if value}
        subprocess.run(["git", "commit", "-q", "-m", "one"], cwd=folder, check=True, env={**environment, **who})
    return True


def unpack(packed):
    return json.loads(zlib.decompress(base64.b64decode(packed), -15))


def blocks(text):
    return {name: unpack(packed) for name, packed in BLOCK.findall(text)}


def page(*arguments, **more):
    answer = monarc("html", "-o", "-", *arguments, **more)
    if answer.returncode:
        raise AssertionError(answer.stderr.decode())
    return answer.stdout.decode()


class Elements(html.parser.HTMLParser):
    """What a browser would make of the page: its elements, and the text of some."""

    def __init__(self, text):
        super().__init__()
        self.names, self.scripts, self.metas, self.styles, self.attributes = [], [], [], [], []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.inside = tag
        if tag == "meta":
            self.metas.append(dict(attrs))
        if tag == "script":
            self.scripts.append((dict(attrs), []))
        if tag == "style":
            self.styles.append([])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1][1].append(data)
        if self.inside == "style":
            self.styles[-1].append(data)


def digest(parts):
    return base64.b64encode(hashlib.sha256("".join(parts).encode()).digest()).decode()


def hostile_program(folder):
    """A program with those names, and a profile of it: a call of each, and samples."""
    plain, program, profile = folder / "plain", folder / "program", folder / "gmon.out"
    source = folder / "</script><b>.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(PROGRAM)
    subprocess.run([*CC, "-g", "-O0", "-o", plain, source], check=True)
    renames = [f"--redefine-sym={name}={hostile}" for name, hostile in HOSTILE.items()]
    subprocess.run(["objcopy", *renames, plain, program], check=True)
    symbols = {}
    for line in subprocess.run([*NM, plain], check=True, capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if fields[-1] in HOSTILE or fields[-1] == "main":
            symbols[fields[-1]] = int(fields[0], 16)
    low = min(symbols.values()) & ~15
    bins = [0] * ((max(symbols.values()) + 64 - low) // 2)
    for i, name in enumerate(sorted(symbols)):
        bins[(symbols[name] - low) // 2] = 10 + i
    arcs = [(symbols["main"] + 20, symbols[name], 5 + i) for i, name in enumerate(HOSTILE)]
    profile.write_bytes(gmon([(low, low + 2 * len(bins), bins)], arcs))
    return program, profile


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.program, cls.profile = hostile_program(Path(cls.folder.name))
        cls.hostile = page("--force", cls.program, cls.profile, cwd=cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_policy_names_the_one_script(self):
        e = Elements(self.hostile)
        policy = next(m["content"] for m in e.metas if m.get("http-equiv") == "Content-Security-Policy")
        run = [text for attributes, text in e.scripts if "type" not in attributes]
        self.assertEqual(len(run), 1)
        self.assertIn("default-src 'none'", policy)
        self.assertIn(f"script-src 'sha256-{digest(run[0])}';", policy)
        self.assertIn(f"style-src 'sha256-{digest(e.styles[0])}'", policy)
        self.assertNotIn("unsafe", policy)

    def test_names_are_no_markup(self):
        e = Elements(self.hostile)
        self.assertNotIn("img", e.names)
        self.assertNotIn("b", e.names)
        self.assertFalse([name for name in e.attributes if name.startswith("on")])
        self.assertEqual({attributes.get("type") for attributes, _ in e.scripts}, {None, "text/plain"})
        self.assertEqual({name: len([n for n in e.names if n == name]) for name in ("html", "head", "body", "noscript")},
                         dict.fromkeys(("html", "head", "body", "noscript"), 1))

    def test_hostile_names_arrive(self):
        functions = blocks(self.hostile)["data"]["profile"]["functions"]
        linkage = {name or functions["name"][i] for i, name in enumerate(functions["linkage"])}
        self.assertLessEqual(set(HOSTILE.values()), linkage | set(functions["name"]))

    def test_figures_are_those_of_json(self):
        flat = monarc_json("flat", "--force", "--all", self.program, self.profile)
        data = blocks(self.hostile)["data"]["profile"]
        f = data["functions"]
        for row in flat["functions"]:
            if not row["self_samples"] and not row["calls"]:
                continue
            names = [n or f["name"][i] for i, n in enumerate(f["linkage"])]
            i = names.index(row["linkage_name"])
            self.assertEqual(f["self"][i], row["self_samples"])
            self.assertEqual(f["total"][i], row["total_samples"])
            self.assertEqual(f["calls"][i], row["calls"])
            self.assertEqual(f["low"][i], row["self_share_low"])
        self.assertEqual(data["summary"]["samples"], flat["summary"]["samples"])
        self.assertEqual(data["summary"]["unattributed"], flat["summary"]["unattributed_samples"])

    def test_paths_hold_to_the_last_sample(self):
        data = blocks(self.hostile)["data"]["profile"]
        paths = data["paths"]
        attributed = data["summary"]["samples"] - data["summary"]["unattributed"]
        self.assertAlmostEqual(sum(paths["self"]), attributed, places=6)
        self_of = {}
        self.assertEqual(paths["up"][0], 0)
        for i in range(1, len(paths["up"])):
            self.assertTrue(0 < paths["up"][i] <= i)
            self_of[paths["function"][i]] = self_of.get(paths["function"][i], 0) + paths["self"][i]
        for function, samples in self_of.items():
            self.assertAlmostEqual(samples, data["functions"]["self"][function], places=6)

    def test_sources(self):
        all_blocks = blocks(self.hostile)
        names = all_blocks["data"]["files"]["name"]
        number = next(i for i, name in enumerate(names) if name.endswith("<b>.c"))
        block = all_blocks[f"s{number}"]
        self.assertEqual(block["text"] + "\n", PROGRAM)
        self.assertEqual(sum(block["time"]["self"]), all_blocks["data"]["files"]["self"][number])

    def test_coverage_is_that_of_json(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "p.c").write_text("int f(int x)\n{\n    if (x > 1)\n        return 7;\n    return 2;\n}\n"
                                           "int main(int n, char **v) { return f(n) + (v == 0) - 2; }\n")
            subprocess.run([*CC, "--coverage", "-O0", "-o", "p", "p.c"], cwd=folder, check=True)
            if subprocess.run(["./p"], cwd=folder).returncode or not list(Path(folder).glob("*.gcda")):
                self.skipTest("the compiler's coverage runtime does not work here")
            said = json.loads(monarc("cover", "--json", "-", cwd=folder).stdout)
            all_blocks = blocks(page(".", cwd=folder))
        self.assertIsNone(all_blocks["data"]["profile"])
        totals = all_blocks["data"]["coverage"]["totals"]
        for key, ratio in totals.items():
            self.assertEqual(ratio, said["totals"][key])
        lines = all_blocks["s0"]["coverage"]
        expected = {row["line"]: row["count"] for row in said["sources"][0]["lines"]}
        self.assertEqual(dict(zip(lines["line"], lines["count"])), expected)

    @slow
    def test_proposals_files_are_shown_as_the_compilers(self):
        """bbg and da, one by one, in a folder, and da with gcno: the page has the same lines."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "p.c").write_text("int f(int x) { return x > 1 ? 7 : 2; }\n"
                                           "int main(int n, char **v)\n{\n    return f(n) + !v - 2;\n}\n")
            for command in ([*CC, "--coverage", "-O0", "-c", "p.c"], [*CC, "--coverage", "p.o", "-o", "p"]):
                subprocess.run(command, cwd=folder, check=True)
            if subprocess.run(["./p"], cwd=folder).returncode or not Path(folder, "p.gcda").exists():
                self.skipTest("the compiler's coverage runtime does not work here")
            expected = blocks(page("p.gcda", cwd=folder))
            for name, parts in (("rfc", ["bbg", "da"]), ("mixed", ["gcno", "da"])):
                Path(folder, name).mkdir()
                for part in parts:
                    source = "p.gcda" if part == "da" else "p.gcno"
                    monarc("convert", "--to", part, "-o", f"{name}/p.{part}", source, cwd=folder)
                for operand in name, f"{name}/p.da", f"{name}/p.{parts[0]}":
                    shown = blocks(page(operand, cwd=folder))
                    self.assertEqual(shown["s0"]["coverage"]["count"], expected["s0"]["coverage"]["count"])
                    self.assertEqual(shown["data"]["coverage"]["totals"]["lines"],
                                     expected["data"]["coverage"]["totals"]["lines"])
                    self.assertTrue(any(shown["s0"]["coverage"]["count"]))

    def test_file_and_size_are_said(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = monarc("html", "--force", "-o", "page.html", self.program, self.profile, cwd=folder)
            self.assertEqual((answer.returncode, answer.stderr), (0, b""))
            size = Path(folder, "page.html").stat().st_size
            self.assertIn(f"page.html, {size / 1000:.0f} kB\n", answer.stdout.decode())
            piped = monarc("html", "--force", "-o", "-", self.program, self.profile, cwd=folder)
            self.assertNotIn(b" kB\n", piped.stdout)

    def test_begins_with_a_function(self):
        def data(*options):
            return blocks(page("--force", *options, self.program, self.profile))["data"]["profile"]["functions"]
        functions = data()
        self.assertNotIn("begin", functions)
        for row in 0, 1:
            self.assertEqual(data("--function", functions["name"][row])["begin"], row)
        self.assertEqual(data("--function", "/./")["begin"], max(
            range(functions["measured"]), key=lambda i: functions["total"][i]))

    def test_open(self):
        def opened(**environment):
            answer = monarc("html", "--force", "--open", "-o", page, self.program, self.profile, cwd=folder,
                            env={"DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": "", **environment})
            return answer.returncode, answer.stdout.decode().splitlines()[-1:], answer.stderr.decode()
        with tempfile.TemporaryDirectory() as folder:
            page = "a page.html"
            path = f"{os.path.realpath(folder)}/{page}"
            self.assertEqual(opened(BROWSER="echo see"), (0, [f"see {path}"], ""))
            self.assertEqual(opened(BROWSER="false:echo %s now:echo other"), (0, [f"{path} now"], ""))
            Path(folder, "xdg-open").write_text('#!/bin/sh\necho "xdg $1"\n')
            Path(folder, "xdg-open").chmod(0o755)
            self.assertEqual(opened(DISPLAY=":9", PATH=f"{folder}:{os.environ['PATH']}"), (0, [f"xdg {path}"], ""))
            status, _, error = opened(BROWSER="false")
            self.assertEqual((status, error), (2, "monarc: a page.html was not opened: BROWSER failed\n"))
            Path(folder, page).unlink()
            status, _, error = opened()
            self.assertEqual((status, error), (2, "monarc: a page.html cannot be opened: there is no display, and "
                                                  "BROWSER names no browser\n"))
            self.assertTrue(Path(folder, page).exists())
            page = "-"
            self.assertEqual(opened(BROWSER="echo see"), (2, [], "monarc: --open needs a file, not standard output\n"))

    def test_sources_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = monarc("html", "--force", "--folder", "-o", "page.html", self.program, self.profile, cwd=folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            text = Path(folder, "page.html").read_text()
            self.assertEqual(list(blocks(text)), ["data", "calls"])
            files = list(Path(folder, "page-sources").iterdir())
            self.assertEqual(len(files), len(blocks(text)["data"]["files"]["name"]))
            said = re.fullmatch(r'monarc_block\("(\w+)", "([A-Za-z0-9+/=]*)"\);\n', files[0].read_text())
            self.assertIn("text", unpack(said[2]))

    def test_what_is_not_there(self):
        self.assertEqual(monarc("html").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            answer = monarc("html", "-o", "p.html", folder + "/none", cwd=folder)
            self.assertEqual(answer.returncode, 2)
            self.assertFalse(Path(folder, "p.html").exists())

    def test_base(self):
        """A profile against one with other samples, in which a function was not called and one only."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([*CC, "-O0", "-x", "c", "-o", "p", "-"], cwd=folder, check=True,
                           input=b"int f(int x) { return x; }\nint g(int x) { return x; }\nint h(int x) { return x; }\n"
                                 b"int main(int n, char **v) { return f(n) + g(n) + h(v == 0); }\n")
            where = {name: int(address, 16) for address, _, name in
                     (line.split() for line in subprocess.run([*NM, "--defined-only", "p"], cwd=folder, check=True,
                                                              capture_output=True, text=True).stdout.splitlines())}
            call = where["main"] + 20
            now, then = Path(folder, "now.gmon"), Path(folder, "then.gmon")
            now.write_bytes(gmon([(where["f"], where["f"] + 2, [30])], [(call, where["f"], 7), (call, where["g"], 2)]))
            then.write_bytes(gmon([(where["f"], where["f"] + 2, [10])], [(call, where["f"], 5), (call, where["h"], 3)]))
            data = blocks(page("--force", "p", "now.gmon", "--base", "then.gmon", cwd=folder))["data"]["profile"]
            diff = monarc_json("diff", "--all", "--force", "p", "then.gmon", "now.gmon", cwd=folder)
        base, names = data["base"], data["functions"]["name"]
        rows = {row["name"]: row for row in (dict(zip(base["rows"], values)) for values in zip(*base["rows"].values()))}
        self.assertEqual(base["samples"], 10)
        self.assertEqual([rows[name]["row"] for name in "fgh"], [names.index("f"), names.index("g"), -1])
        self.assertEqual([(rows[name]["calls_old"], rows[name]["calls"]) for name in "fgh"], [(5, 7), (0, 2), (3, 0)])
        self.assertEqual([rows[name]["remark"] for name in "fgh"], [""] * 3)  # of one build
        self.assertEqual([(row["name"], row["self_time"]["old"], row["self_time"]["new"]) for row in diff["functions"]],
                         list(zip(base["rows"]["name"], base["rows"]["self_old"], base["rows"]["self"])))

    @slow
    def test_time_of_lines_in_the_base(self):
        """Lines follow their functions, as long as those have as many lines as before."""
        with tempfile.TemporaryDirectory() as folder:
            moved_program(folder, "old", "", "")
            moved_program(folder, "new", "/* one\n * two */\n", "    x += 1;\n")
            both = ["new.program", "new.gmon", "--force", "--base", "old.program", "--base", "old.gmon"]
            found = blocks(page(*both, cwd=folder))
            alone = blocks(page("old.program", "old.gmon", "--force", cwd=folder))
            unmoved = blocks(page("old.program", "old.gmon", "--force", "--base", "old.gmon", cwd=folder))
            idle = {name: blocks(page(f"{name}.program", f"{name}.same.gmon", "--force", "--base", "old.program", "--base",
                                      "old.gmon", cwd=folder))["s0"]["before"] for name in ("old", "new")}
        before, then = found["s0"]["before"], alone["s0"]["time"]
        expected = {line + 2: samples for line, samples in zip(then["line"], then["self"]) if samples and line < 5}
        self.assertEqual({line: self_ for line, self_ in zip(before["line"], before["self"]) if self_}, expected)
        self.assertEqual((sum(expected.values()), before["elsewhere"]), (10, 30))
        same = unmoved["s0"]["before"]
        self.assertEqual((sum(same["self"]), same["elsewhere"], sum(same["meant"])), (40, 0, 0))
        self.assertEqual(idle["old"], {**same, "meant": [0, 1]})
        self.assertEqual((sum(idle["new"]["self"]), idle["new"]["elsewhere"]), (10, 30))
        self.assertIsNone(alone["s0"]["before"])

    def test_instantiations(self):
        """Branches of a template say which instantiation they are of, and the list of functions has all of them."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "t.cpp").write_text(TEMPLATE)
            if not shutil.which("c++"):
                self.skipTest("no C++ compiler")
            subprocess.run(["c++", "--coverage", "-O0", "-o", "t", "t.cpp"], cwd=folder, check=True)
            if subprocess.run(["./t"], cwd=folder).returncode or not list(Path(folder).glob("*.gcda")):
                self.skipTest("the compiler's coverage runtime does not work here")
            found = blocks(page("--instances", "each", ".", cwd=folder))
            said = json.loads(monarc("cover", "--json", "-", cwd=folder).stdout)
        coverage, functions = found["s0"]["coverage"], found["s0"]["coverage"]["functions"]
        branches = coverage["branches"][coverage["line"].index(3)]
        taken = {}
        for _, count, _, was_reached, function in zip(*[iter(branches)] * 5):
            taken.setdefault(functions["name"][function], []).append(count if was_reached else None)
        self.assertEqual({name.split("(")[0]: sorted(counts, key=str) for name, counts in taken.items()},
                         {"int least<int>": [0, 1], "long least<long>": [0, 1], "double least<double>": [None, None]})
        listed, expected = found["covered"], said["sources"][0]["functions"]
        self.assertEqual(sorted(zip(listed["name"], listed["line"], listed["count"])),
                         sorted((f["name"], f["start_line"], f["count"]) for f in expected))
        lines = dict(zip(listed["name"], zip(listed["all"], listed["hit"])))
        self.assertEqual((lines["main"], lines["double least<double>(double, double)"]), ((2, 2), (2, 0)))

    @slow
    def test_lines_since_the_base(self):
        """Classes of lines between a tracefile and now, with the patch between the sources, and without."""
        with tempfile.TemporaryDirectory() as folder:
            if not before_and_after(Path(folder)):
                self.skipTest("the compiler's coverage runtime does not work here")
            patched = blocks(page(".", "--base", "then.info", "--diff", "p.patch", cwd=folder))
            same = blocks(page(".", "--base", "then.info", cwd=folder))
        counts = {key: sum(column) for key, column in patched["data"]["files"]["changes"].items()}
        self.assertEqual(counts, {"still_runs": 4, "still_missed": 1, "gained": 2, "lost": 2, "new_runs": 2,
                                  "new_missed": 1, "dropped_ran": 1, "deleted_ran": 3})
        base = patched["s0"]["coverage"]["base"]
        self.assertEqual(dict(zip(base["line"], base["change"])),
                         {2: "lost", 4: "lost", 6: "gained", 8: "gained", 15: "new_runs", 16: "new_missed",
                          17: "new_runs", 19: "dropped_ran"})
        self.assertFalse([key for key in same["data"]["files"]["changes"] if key.startswith(("new", "deleted"))])

    @slow
    def test_blame(self):
        with tempfile.TemporaryDirectory() as folder:
            if not before_and_after(Path(folder)):
                self.skipTest("the compiler's coverage runtime does not work here")
            shown = blocks(page(".", "--blame", cwd=folder))["data"]
            self.assertEqual(shown["title"], f"Coverage of {Path(folder).resolve().name}")
            unknown = shown["coverage"]["blame"]
            if not commit_both(Path(folder)):
                self.skipTest("git is not here: nobody is blamed")
            found = blocks(page(".", "--blame", cwd=folder))
        self.assertEqual((unknown["authors"], unknown["ages"]), ([], []))
        sums = found["data"]["coverage"]["blame"]
        self.assertEqual([(a["name"], a["all"], a["hit"]) for a in sums["authors"]], [("Ada", 9, 6), ("Bob &amp; Co", 3, 2)])
        self.assertEqual([(a["name"], a["all"]) for a in sums["ages"]], [("up to 7 days", 3), ("more than a year", 9)])
        self.assertEqual((sums["unknown"], unknown["unknown"]), (0, 12))
        blame = found["s0"]["coverage"]["blame"]
        self.assertEqual((blame["line"], blame["authors"]), ([1, 15, 19, 20, 21], ["Ada", "Bob &amp; Co"]))

    def test_blame_of_lines_that_moved(self):
        """Of the file as it is: a line that no commit has is nobody's, and those behind it keep their author."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            if not commit_both(path):
                self.skipTest("git is not here: nobody is blamed")
            (path / "p.c").write_text("/* new */\n" + (path / "p.c").read_text())
            lines = len((path / "p.c").read_text().splitlines())
            (path / "t.info").write_text(f"SF:{path}/p.c\n" + "".join(f"DA:{n},1\n" for n in range(1, lines + 1)) +
                                         "end_of_record\n")
            found = blocks(page("t.info", "--blame", cwd=folder))
        self.assertEqual(found["data"]["coverage"]["blame"]["unknown"], 1)
        blame = found["s0"]["coverage"]["blame"]
        self.assertEqual((blame["line"], blame["author"][0]), ([1, 2, 16, 20, 21, 22], -1))
        self.assertEqual({blame["authors"][i] for i in blame["author"][1:]}, {"Ada", "Bob &amp; Co"})

    @in_both
    def test_blame_runs_nothing_of_the_repository(self):
        """A repository is data that came from elsewhere: its configuration may name programs, of which none runs."""
        if not shutil.which("git"):
            self.skipTest("git is not here: nobody is blamed")
        attributes = {"textconv": "diff", "clean": "filter", "smudge": "filter", "process": "filter"}
        kinds = ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "gpg.program", "alias.blame",
                 "partial", *attributes)
        for kind in share(kinds, 4):
            with self.subTest(kind=kind), tempfile.TemporaryDirectory() as folder:
                path, mark = Path(folder), Path(folder, "ran")
                commit_both(path)

                def git(*words):
                    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout

                program = f"sh -c 'touch {mark}; cat' --"
                if kind in attributes:
                    (path / ".git/info/attributes").write_text(f"*.c {attributes[kind]}=evil\n")
                    git("config", f"{attributes[kind]}.evil.{kind}", program)
                elif kind == "partial":  # the oldest blob is to be fetched, by a program
                    name = git("rev-parse", "HEAD~1:p.c").strip()
                    (path / ".git/objects" / name[:2] / name[2:]).unlink()
                    for key, value in (("core.repositoryformatversion", "1"), ("extensions.partialClone", "origin"),
                                       ("remote.origin.url", folder), ("remote.origin.promisor", "true"),
                                       ("remote.origin.uploadpack", f"touch {mark}; false")):
                        git("config", key, value)
                else:
                    git("config", kind, f"!{program}" if kind.startswith("alias") else program)
                (path / "t.info").write_text(f"SF:{path}/p.c\nDA:1,1\nend_of_record\n")
                page("t.info", "--blame", cwd=folder)
                self.assertFalse(mark.exists())

    def test_details_of_lines(self):
        """Machine code, inlined calls, left-out lines and instantiations, of lines whose samples are known."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "p.c").write_text(DETAILED)
            subprocess.run([*CC, "-g", "-O1", "--coverage", "-o", "p", "p.c"], cwd=folder, check=True)
            if subprocess.run(["./p"], cwd=folder).returncode or not list(Path(folder).glob("*.gcda")):
                self.skipTest("the compiler's coverage runtime does not work here")
            said = subprocess.run([*NM, "-S", "p"], cwd=folder, check=True, capture_output=True, text=True).stdout
            start, size = next((int(l.split()[0], 16), int(l.split()[1], 16)) for l in said.splitlines() if l.endswith(" work"))
            Path(folder, "p.gmon").write_bytes(gmon([(start, start + size // 2 * 2, [1] * (size // 2))]))
            plain = blocks(page("p", "p.gmon", ".", "--force", cwd=folder))["s0"]
            found = blocks(page("--asm=intel", "--inlines", "p", "p.gmon", ".", "--force", cwd=folder))["s0"]
        self.assertEqual((plain["code"], plain["inlined"]), (None, []))
        of_line = {}
        for line, samples in zip(found["code"]["line"], found["code"]["self"]):
            of_line[line] = of_line.get(line, 0) + samples
        for line, samples in zip(found["time"]["line"], found["time"]["self"]):
            self.assertAlmostEqual(of_line.get(line, 0), samples, places=4)
        self.assertTrue(any(text.startswith("ret") for text in found["code"]["text"]))
        chains = {(chain[0], *chain[2:5]) for chain in found["inlined"]}
        self.assertIn((5, "work", "p.c", 12), chains)
        self.assertEqual(found["left_out"], [17, 17, 1])

    def test_shell_is_small(self):
        shell = BLOCK.sub("", self.hostile)
        shell = re.sub(r"<noscript>.*?</noscript>", "", shell, flags=re.S)
        self.assertLess(len(zlib.compress(shell.encode(), 9)), 84_000)
        names = set(re.findall(r"https?://[^\s\"']*", shell))
        self.assertLessEqual(names, {"http://www.w3.org/2000/svg"})  # a namespace; nothing is loaded


class Outside(unittest.TestCase):
    """Which files a page publishes is not decided by what is measured: a tracefile names any."""

    SECRET = "int secret_of_mine;"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        for name in "project", "project/inner", "elsewhere":
            (self.dir / name).mkdir()
        for name in "project/own.c", "elsewhere/other.c":
            (self.dir / name).write_text(f"// {name}\n{self.SECRET}\n")
        (self.dir / "project/link.c").symlink_to(self.dir / "elsewhere/other.c")

    def sources(self, *arguments, named, cwd=None):
        """For each name in a tracefile, whether its text is in the page; and what was said."""
        (self.dir / "project/t.info").write_text(
            "".join(f"SF:{name}\nDA:1,1\nend_of_record\n" for name in named))
        done = monarc("html", "-o", self.dir / "page.html", *arguments, self.dir / "project/t.info",
                      cwd=cwd or self.dir / "project")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        for name, packed in BLOCK.findall((self.dir / "page.html").read_text()):
            if re.fullmatch("s[0-9]+", name):
                block = json.loads(zlib.decompress(base64.b64decode(packed), -15))
                found[block.get("path") or f"missing {len(found)}"] = block
        return [self.SECRET in b.get("text", "") for b in found.values()], done.stdout, found

    def test_a_tracefile_names_any_file(self):
        own, other = str(self.dir / "project/own.c"), str(self.dir / "elsewhere/other.c")
        shown, said, blocks = self.sources(named=[own, other])
        self.assertEqual(sorted(shown), [False, True])
        self.assertIn(b"The text of 1 source outside the project is not in the page", said)
        self.assertIn("--all-sources", next(b for b in blocks.values() if "missing" in b)["missing"])
        found, said = self.sources("--all-sources", named=[own, other])[:2]
        self.assertEqual(found, [True, True])
        self.assertRegex(said, rb"^\S*page.html, [0-9]+ kB\n$")
        self.assertEqual(self.sources("--source-dir", self.dir / "elsewhere",
                                      named=[own, other])[0], [True, True])
        self.assertEqual(self.sources("--path-map", f"/gone={self.dir}/elsewhere",
                                      named=[own, "/gone/other.c"])[0], [True, True])

    def test_dots_and_links_lead_out(self):
        for name in "../elsewhere/other.c", "link.c", str(self.dir / "project/../elsewhere/other.c"):
            with self.subTest(name):
                self.assertEqual(self.sources(named=[name])[0], [False])

    def test_the_folder_of_the_operand_is_enough(self):
        own = str(self.dir / "project/own.c")
        self.assertEqual(self.sources(named=[own], cwd="/")[0], [True])
        self.assertEqual(self.sources(named=[str(self.dir / "elsewhere/other.c")], cwd="/")[0], [False])
        (self.dir / ".git").mkdir()
        self.assertEqual(self.sources(named=[str(self.dir / "elsewhere/other.c")])[0], [True])

    def test_hidden_files_of_a_home(self):
        (self.dir / "project/.ssh").mkdir()
        (self.dir / "project/.ssh/key").write_text(self.SECRET)
        home = dict(os.environ, HOME=str(self.dir / "project"))
        old, os.environ["HOME"] = os.environ.get("HOME"), home["HOME"]
        try:
            self.assertEqual(self.sources(named=[".ssh/key", "own.c"])[0], [False, True])
        finally:
            os.environ["HOME"] = old

    def test_a_line_directive_names_any_file(self):
        other = self.dir / "elsewhere/other.c"
        source = self.dir / "project/p.c"
        source.write_text(f'#define OUT __attribute__((noinline))\nOUT int own(int x) {{ return x + 1; }}\n'
                          f'#line 2 "{other}"\nOUT int far(int x) {{ return x + 2; }}\n'
                          f'#line 5 "{source}"\n'
                          'int main(int c, char **v) { return own(c) + far(c) == !v; }\n')
        subprocess.run([*CC, "-g", "-O1", "-pg", "-no-pie", "p.c", "-o", "p"], check=True,
                       cwd=self.dir / "project")
        subprocess.run(["./p"], cwd=self.dir / "project", check=True)
        for extra, secret in ((), False), (("--all-sources",), True):
            shown = page(*extra, "p", "gmon.out", cwd=self.dir / "project")
            text = "".join(zlib.decompress(base64.b64decode(packed), -15).decode()
                           for _, packed in BLOCK.findall(shown))
            self.assertIn("own(int x)", text)
            self.assertEqual(self.SECRET in text, secret)


if __name__ == "__main__":
    main()
