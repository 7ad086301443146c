"""coverage_programs.py: small programs, drawn, that count their own statements, and that can be written in
several ways which cannot matter.

A program is a tree of statements, each with a key. Written down, a statement that counts is a line of its own,
which begins with N(key); run, the program appends to $TRUTH how often each key was counted. `Written.place` says
on which line of which file a key stands, so that what a compiler's counters say of the line can be compared, however
the program was written: without what never ran, functions in another order and under other names, loops that do two
things as two loops, in another folder.

The same statements are C, C++ and Rust: expressions are of the part that all of them share.
"""

import dataclasses
import os
import subprocess

# clang keeps one mapping of static functions of one name in files of one name: there, names of files differ.
FILES = {"c": ("main.c", "one/util.c", "two/util.c", "deep/part.h"),
         "c++": ("main.cc", "one/util.cc", "two/util.cc", "deep/part.h"),
         "rust": ("main.rs", "one/util.rs", "two/util.rs", "deep/part.rs")}
MODULES = ("", "one", "two", "part")


@dataclasses.dataclass
class Statement:
    """`kind`: do, if, loop, split, switch, call, leave, and those of one language: parallel, lambda, object."""
    kind: str
    key: int
    text: str = ""
    arms: list = dataclasses.field(default_factory=list)
    callee: object = None


@dataclasses.dataclass
class Function:
    """`kind`: plain, twin (static; of the same name in two files), inline (in the header), template, coroutine."""
    kind: str
    name: str
    file: int
    body: list


@dataclasses.dataclass
class Pair:
    """Two functions that one macro makes, so that they share line and column; keys of each: entry, then, else."""
    names: tuple
    keys: tuple


def statements(body):
    for s in body:
        yield s
        for arm in s.arms:
            yield from statements(arm)


class Program:
    def __init__(self, draw, language, extras=()):
        self.draw, self.language, self.extras = draw, language, extras
        self.keys, self.functions, self.pairs, self.initialisers = 0, [], [], []
        number = draw.randint(3, 6)
        for i in range(number):
            kind = "plain"
            file = draw.randrange(3)
            if draw.random() < .25:
                kind, file = "inline", 3
            if language == "c++" and draw.random() < .25:
                kind, file = "template", 3
            if "coroutine" in extras and i == 0:
                kind, file = "coroutine", 0
            self.functions.append(Function(kind, f"work_{i}", file, self.body(2)))
        for file in (1, 2):
            self.functions.append(Function("twin", "helper", file, self.body(1)))
            # Somebody in the file calls it, or it would not be there.
            self.functions.append(Function("plain", f"uses_{file}", file,
                                           [self.do(), self.call(self.functions[-1]), *self.body(1)]))
        if language != "rust":
            for i in range(draw.randrange(2)):
                self.pairs.append(Pair((f"up_{i}", f"down_{i}"), tuple(tuple(self.key() for _ in range(3)) for _ in "ab")))
        if language == "c++" and draw.random() < .6:
            self.initialisers.append(tuple(self.key() for _ in range(3)))
        self.main = self.main_body()

    def key(self):
        self.keys += 1
        return self.keys - 1

    # What is drawn.

    def number(self, low=1, high=9):
        return self.draw.randint(low, high)

    def expression(self):
        a, b = self.draw.sample(("x", "y"), 2)
        return self.draw.choice((f"({a} * {self.number(2)} + {b}) % 101", f"({a} + {self.number()}) % 97",
                                 f"{b} % {self.number(2)} + {a}", f"({a} - {b}) % 89"))

    def condition(self):
        return f"{self.draw.choice('xy')} % {self.number(2, 5)} {self.draw.choice(('==', '>', '<', '!='))} {self.number(0, 3)}"

    def do(self, variable=None):
        return Statement("do", self.key(), f"{variable or self.draw.choice('xy')} = {self.expression()};")

    def call(self, callee):
        return Statement("call", self.key(), callee=callee)

    def body(self, depth):
        """It begins with a statement that counts: an arm's first says how often the arm was taken."""
        body = [self.do()]
        for _ in range(self.draw.randint(1, 3)):
            body.append(self.statement(depth))
        return body

    def statement(self, depth):
        kinds = ["do", "do"]
        if depth:
            kinds += ["if", "if", "if", "loop", "split", "switch"]
            earlier = [f for f in self.functions if f.kind in ("plain", "inline", "template")]
            kinds += ["call"] * (2 if earlier else 0)
            if self.language == "c++":
                kinds += ["lambda", "object"]
            if "parallel" in self.extras and depth == 2:
                kinds += ["parallel"] * 3
        kind = self.draw.choice(kinds)
        key = self.key()
        inside = depth - 1
        if kind == "if":
            other = self.body(inside) if self.draw.random() < .5 else []
            then = self.body(inside)
            if self.draw.random() < .2:
                then.append(Statement("leave", self.key()))
            return Statement("if", key, self.condition(), [then, other])
        if kind == "loop":
            return Statement("loop", key, str(self.number(0, 4)), [self.body(inside)])
        if kind == "split":
            return Statement("split", key, str(self.number(1, 4)),
                             [[Statement("do", self.key(), f"x = (x * {self.number(2)} + 1) % 101;")],
                              [Statement("do", self.key(), f"y = (y + {self.number(2)}) % 97;")]])
        if kind == "switch":
            return Statement("switch", key, f"{self.draw.choice('xy')} % 4", [self.body(inside) for _ in range(3)])
        if kind == "call":
            return Statement("call", key, callee=self.draw.choice(earlier))
        if kind == "parallel":
            return Statement("parallel", key, str(self.number(4)),
                             [[Statement("count", self.key())], [Statement("count", self.key())],
                              [Statement("count", self.key())]])
        if kind == "lambda":
            return Statement("lambda", key, str(self.number(0, 2)), [[self.do("x")]])
        if kind == "object":
            return Statement("object", key, str(self.number()), [[Statement("count", self.key())]])
        return Statement("do", key, f"{self.draw.choice('xy')} = {self.expression()};")

    def main_body(self):
        body = [self.do()]
        for f in self.functions:
            if f.kind == "twin":
                continue
            call = self.call(f)
            if self.draw.random() < .4 and f.kind != "coroutine":
                body.append(Statement("if", self.key(), self.condition(), [[self.do(), call], []]))
            else:
                body.append(call)
        return body

    def all_statements(self):
        for body in (self.main, *(f.body for f in self.functions)):
            yield from statements(body)


# ---- written down

class Written:
    """A program as text. `removed`: keys of what is left out; `order`: of functions; `rename`: of all names."""

    def __init__(self, program, removed=(), reverse=False, prefix="", splits=False, has_one_mapping=False):
        self.program, self.removed = program, frozenset(removed)
        self.prefix, self.splits, self.has_one_mapping = prefix, splits, has_one_mapping
        self.place, self.exact, self.decisions, self.lines = {}, set(), {}, {}
        self.entries = {}  # (file, name): the key that counts its calls
        self.names = [n.replace("two/util", "two/tool") if has_one_mapping else n for n in FILES[program.language]]
        functions = [f for f in program.functions if f.body[0].key not in self.removed]
        # Expressions of the header are before those of the files, and a template before its use.
        if reverse:
            functions = functions[::-1]
        for file in range(4):
            self.file, self.text = file, []
            self.head(functions)
            for f in functions:
                if f.file == file:
                    self.function(f)
            if file == 0:
                self.rest()
            self.lines[self.names[file]] = self.text

    def is_rust(self):
        return self.program.language == "rust"

    def line(self, text, key=None, exact=True):
        self.text.append(text)
        if key is not None:
            self.place[key] = (self.names[self.file], len(self.text))
            if exact:
                self.exact.add(key)

    def named(self, name):
        return self.prefix + name

    def count(self, key):
        return f"N({key}); " if not self.is_rust() else f"hit({key}); "

    def prototype(self, f):
        name = self.named(f.name)
        if self.is_rust():
            return f"pub fn {name}(a: i64, b: i64) -> i64"
        static = {"twin": "static ", "inline": "static inline "}.get(f.kind, "")
        if f.kind == "template":
            return f"template <typename T> T {name}(T a, T b)"
        return f"{static}int {name}(int a, int b)"

    def head(self, functions):
        if self.is_rust():
            if self.file == 0:
                self.line("use std::sync::atomic::{AtomicU64, Ordering::Relaxed};")
                for name, module in zip(self.names[1:], MODULES[1:]):
                    self.line(f'#[path = "{name}"] mod {module};')
                self.line(f"static COUNTED: [AtomicU64; {self.program.keys}] = [const {{ AtomicU64::new(0) }}; {self.program.keys}];")
                self.line("pub fn hit(key: usize) { COUNTED[key].fetch_add(1, Relaxed); }")
            else:
                self.line("use crate::hit;")
            return
        if self.file == 3:
            self.line("#ifndef PART_H")
            self.line("#define PART_H")
            self.line("extern unsigned long counted[];")
            self.line("#define N(key) ((void)__atomic_fetch_add(&counted[key], 1, __ATOMIC_RELAXED))")
            self.prototypes([f for f in functions if f.kind == "plain"])
            self.prototypes([f for f in functions if f.file == 3])
            return
        self.line(f'#include "{"" if self.file == 0 else "../"}deep/part.h"')
        if self.file == 0:
            self.line(f'{self.extern()} int atoi(const char *), '
                      'creat(const char *, unsigned), dprintf(int, const char *, ...);')
            self.line(f'{self.extern()} char *getenv(const char *);')
            self.line(f"unsigned long counted[{self.program.keys}];")
            if "coroutine" in self.program.extras:
                self.text += COROUTINE.splitlines()
        self.prototypes([f for f in functions if f.file == self.file and f.kind == "twin"])

    def extern(self):
        return 'extern "C"' if self.program.language == "c++" else "extern"

    def prototypes(self, functions):
        for f in functions:
            self.line(self.prototype(f) + ";")

    def function(self, f):
        if f.kind == "coroutine":
            self.coroutine(f)
            return
        self.entries[self.names[f.file], self.named(f.name)] = f.body[0].key
        self.line(self.prototype(f))
        self.line("{")
        self.variables("a", "b")
        self.body(f.body, "    ")
        self.line("    return x + y % 3;")
        self.line("}")

    def coroutine(self, f):
        self.line(f"static task {self.named(f.name)}_steps(int a, int b)")
        self.line("{")
        self.variables("a", "b")
        self.body([s for s in f.body if s.kind != "leave"], "    ", leave="co_return;")
        self.line("    co_await std::suspend_always{};")
        self.line("    if (x > 1000) {")
        self.line("        x = 3;")
        self.line("    }")
        self.line("    last = x + y % 3;")
        self.line("}")
        self.line(f"static int {self.named(f.name)}(int a, int b)")
        self.line("{")
        self.line(f"    task t = {self.named(f.name)}_steps(a, b);")
        self.line("    while (!t.h.done())")
        self.line("        t.h.resume();")
        self.line("    t.h.destroy();")
        self.line("    return last;")
        self.line("}")

    def variables(self, a, b):
        if self.is_rust():
            self.line("    #![allow(unused)]")
            self.line(f"    let mut x: i64 = {a}; let mut y: i64 = {b};")
        else:
            self.line(f"    int x = {a}, y = {b};")

    def called(self, s):
        f = s.callee
        name = self.named(f.name)
        if self.is_rust() and f.file != self.file:
            name = f"crate::{MODULES[f.file]}::{name}" if f.file else f"crate::{name}"
        return f"x = (x + {name}(y % 7, x % 5)) % 101;"

    def body(self, body, indent, leave="return x;"):
        for s in body:
            if s.key not in self.removed:
                getattr(self, "put_" + s.kind)(s, indent, leave)

    def put_do(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}{s.text}", s.key)

    def put_count(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}", s.key)

    def put_call(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}{self.called(s)}", s.key)

    def put_leave(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}{leave}", s.key)

    def put_if(self, s, indent, leave):
        then, other = ([t for t in arm if t.key not in self.removed] for arm in s.arms)
        condition = s.text if self.is_rust() else f"({s.text})"
        self.line(f"{indent}{self.count(s.key)}if {condition} {{", s.key)
        if then and len(other) == len(s.arms[1]):
            self.decisions[s.key] = then[0].key
        self.body(s.arms[0], indent + "    ", leave)
        if s.arms[1]:
            self.line(indent + "} else {")
            self.body(s.arms[1], indent + "    ", leave)
        self.line(indent + "}")

    def loop(self, s, bodies, indent, leave, key):
        head = f"for _i in 0..{s.text}" if self.is_rust() else f"for (int i = 0; i < {s.text}; i++)"
        self.line(f"{indent}{self.count(s.key) if key is not None else ''}{head} {{", key, exact=False)
        for body in bodies:
            self.body(body, indent + "    ", leave)
        self.line(indent + "}")

    def put_loop(self, s, indent, leave):
        self.loop(s, s.arms, indent, leave, s.key)

    def put_split(self, s, indent, leave):
        if self.splits:
            self.loop(s, s.arms[:1], indent, leave, s.key)
            self.loop(s, s.arms[1:], indent, leave, None)
        else:
            self.loop(s, s.arms, indent, leave, s.key)

    def put_switch(self, s, indent, leave):
        rust = self.is_rust()
        self.line(f"{indent}{self.count(s.key)}{'match' if rust else 'switch'} {s.text if rust else f'({s.text})'} {{", s.key, exact=False)
        labels = ("0 => {", "1 => {", "_ => {") if rust else ("case 0: {", "case 1: {", "default: {")
        for label, arm in zip(labels, s.arms):
            self.line(indent + "    " + label)
            self.body(arm, indent + "        ", leave)
            self.line(indent + ("    }" if rust else "        break; }"))
        self.line(indent + "}")

    def put_parallel(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}x++;", s.key)
        self.line("#pragma omp parallel for num_threads(2)")
        self.line(f"{indent}for (int i = 0; i < {s.text}; i++) {{")
        for condition, arm in zip(("i % 3 == 1", "i % 3 == 0", "i > 1000"), s.arms):
            self.line(f"{indent}    if ({condition}) {{")
            self.body(arm, indent + "        ", leave)
            self.line(f"{indent}    }}")
        self.line(indent + "}")

    def put_lambda(self, s, indent, leave):
        self.line(f"{indent}{self.count(s.key)}auto add_{s.key} = [&x, &y](int z) {{", s.key, exact=False)
        self.body(s.arms[0], indent + "    ")
        self.line(f"{indent}    y += z % 2;")
        self.line(f"{indent}}};")
        self.line(f"{indent}for (int i = 0; i < {s.text}; i++)")
        self.line(f"{indent}    add_{s.key}(i);")

    def put_object(self, s, indent, leave):
        self.line(f"{indent}struct {self.named('guard')}_{s.key} {{")
        self.line(f"{indent}    int *z;")
        self.line(f"{indent}    ~{self.named('guard')}_{s.key}() {{")
        self.body(s.arms[0], indent + "        ")
        self.line(f"{indent}        ++*z;")
        self.line(f"{indent}    }}")
        self.line(f"{indent}}};")
        self.line(f"{indent}for (int i = 0; i < {s.text}; i++) {{")
        self.line(f"{indent}    int z = i; {self.named('guard')}_{s.key} g{{&z}};")
        self.line(f"{indent}    {self.count(s.key)}y += z % 2;", s.key)
        self.line(f"{indent}}}")

    def rest(self):
        """Pairs, initialisers and main."""
        p = self.program
        if p.pairs:
            self.line("#define MAKE(name, op, k, l, m) static int name(int a) { N(k); if (a op 3) { N(l); return 1; } N(m); return 0; }")
        for pair in p.pairs:
            up, down = (self.named(n) for n in pair.names)
            numbers = [", ".join(map(str, keys)) for keys in pair.keys]
            self.line(f"#define BOTH_{up} MAKE({up}, >, {numbers[0]}) MAKE({down}, <, {numbers[1]})")
            self.line(f"BOTH_{up}")
            place = self.names[self.file], len(self.text)
            for name, keys in zip((up, down), pair.keys):
                self.entries[self.names[self.file], name] = keys[0]
                self.place.update({keys[0]: place})
        for keys in p.initialisers:
            self.line(f"static int chosen = (N({keys[0]}), counted[{keys[0]}] > 100)", keys[0], exact=False)
            # clang has no mapping of what initialises a variable outside of functions.
            # gcc has the decision on the line of the `?`, which ran for that reason alone.
            self.line(f"    ? (N({keys[1]}), 3)", keys[1], exact=False)
            self.line(f"    : (N({keys[2]}), 4);", keys[2], exact=not self.has_one_mapping)
        self.entries[self.names[0], "main"] = p.main[0].key
        if self.is_rust():
            self.line("fn main() {")
            self.line("    let given: i64 = std::env::args().nth(1).unwrap().parse().unwrap();")
            self.line("    let mut x: i64 = given; let mut y: i64 = given / 3;")
        else:
            self.line("int main(int count, char **arguments)")
            self.line("{")
            self.line("    int x = atoi(arguments[count - 1]), y = x / 3;")
        self.body(p.main, "    ")
        for i, pair in enumerate(p.pairs):
            # The second of every other pair is never called.
            self.line(f"    y += {self.named(pair.names[0])}(x % 6);")
            if i % 2:
                self.line(f"    y += {self.named(pair.names[1])}(x % 6);")
        if p.initialisers:
            self.line("    y += chosen;")
        if self.is_rust():
            self.line('    let truth = COUNTED.iter().map(|n| n.load(Relaxed).to_string()).collect::<Vec<_>>().join("\\n");')
            self.line('    std::fs::write(std::env::var("TRUTH").unwrap(), truth).unwrap();')
            self.line("    std::process::exit((x + y < -1000) as i32);")
        else:
            self.line('    int truth = creat(getenv("TRUTH"), 0600);')
            self.line(f"    for (int i = 0; i < {p.keys}; i++)")
            self.line('        dprintf(truth, "%lu\\n", counted[i]);')
            self.line("    return x + y < -1000;")
        self.line("}")

    def put(self, folder):
        for name, lines in self.lines.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [*lines, *["#endif"] * name.endswith(".h")]
            path.write_text("\n".join(lines) + "\n")


COROUTINE = """\
#include <coroutine>
struct task {
    struct promise_type {
        task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> h;
};
static int last;
"""


# ---- compiled and run

COUNTING = {"gcc": ["--coverage"], "clang-gcov": ["--coverage"], "clang": ["-fprofile-instr-generate", "-fcoverage-mapping"],
            "pg": ["-g", "-pg"], "clang-pg": ["-g", "-pg"]}


class Built:
    """A program in a folder: compiled by `compiler`, run once for each number of `tests`. Counters of test i are
    in runs/t<i>; `truth[i]` is what it counted."""

    def __init__(self, folder, written, compiler, tests, flags=(), sources=""):
        self.folder, self.written, self.compiler = folder, written, compiler
        self.sources = sources
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        written.put(folder / sources)
        self.compile(flags)
        self.truth = [self.run(i, number) for i, number in enumerate(tests)]

    def is_gcov(self):
        return self.compiler in ("gcc", "clang-gcov")

    def compile(self, flags):
        language = self.written.program.language
        names = [self.sources + name for name in self.written.names if not name.endswith(".h")]
        if language == "rust":
            command = ["rustc", "-Cinstrument-coverage", "-Copt-level=0", "-Awarnings", "-o", "prog", names[0]]
        else:
            driver = ("clang", "clang++") if self.compiler.startswith("clang") else ("gcc", "g++")
            command = [driver[language == "c++"], "-O0", "-w", *flags]
            command += ["-std=c++20"] if "coroutine" in self.written.program.extras else []
            command += ["-fopenmp", "-fprofile-update=atomic"] if "parallel" in self.written.program.extras else []
            command += COUNTING[self.compiler]
            objects = [f"build/{name.rpartition('.')[0]}.o" for name in names]
            for name, output in zip(names, objects):
                (self.folder / output).parent.mkdir(parents=True, exist_ok=True)
                self.do([*command, "-c", "-o", output, name])
            command += ["-o", "prog", *objects]
        self.do(command)

    def do(self, command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert not done.returncode, f"{' '.join(command)}\n{done.stderr[:2000]}"

    def run(self, i, number):
        runs = self.folder / f"runs/t{i}"
        runs.mkdir(parents=True)
        environment = {**os.environ, "TRUTH": str(self.folder / f"truth{i}"), "GCOV_PREFIX": str(runs),
                       "LLVM_PROFILE_FILE": str(runs / "p.profraw"), "GMON_OUT_PREFIX": str(runs / "gmon")}
        subprocess.run(["./prog", str(number)], cwd=self.folder, env=environment, check=True, timeout=60)
        return [int(n) for n in (self.folder / f"truth{i}").read_text().split()]

    def strip(self):
        self.do(["strip", "prog"])

    def total(self):
        return [sum(column) for column in zip(*self.truth)]

    def operands(self, tests=None):
        """What to name for these tests; all, if None."""
        end = "" if self.is_gcov() else "/p.profraw"
        chosen = [f"runs/t{i}{end}" for i in (range(len(self.truth)) if tests is None else tests)]
        return ["build" if self.is_gcov() else "prog", *chosen]
