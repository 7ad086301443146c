"""generate.py: random C programs whose control flow crowds few lines: loops in loops, jumps back and
forth, calls that do not return. The same seed gives the same program, which always ends."""

import random


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.labels = 0

    def space(self):
        return self.random.choice(["\n    ", " ", " ", " "])

    def condition(self):
        return self.random.choice(["x & 1", "x % 3 == 0", "x > 7", "(x & 2) && x < 40",
                                   "(x < 3 || x % 5 == 1)", "tick()"])

    def simple(self):
        return self.random.choice(["x++;", "x += 3;", "x ^= 5;", "x = other(x);", "count++;",
                                   "if (count > 100000) exit(0);", ";"])

    def statement(self, depth):
        kind = self.random.randrange(12 if depth else 3)
        body = lambda: "{" + self.space() + self.block(depth - 1) + self.space() + "}"
        if kind < 3:
            return self.simple()
        if kind < 6:
            other = " else " + body() if self.random.random() < 0.5 else ""
            return f"if ({self.condition()}) {body()}{other}"
        if kind == 6:
            return f"for (int i = 0; i < {self.random.randrange(5)}; i++) {body()}"
        if kind == 7:
            return f"while ({self.condition()} && fuel-- > 0) {body()}"
        if kind == 8:
            return f"do {body()} while ({self.condition()} && fuel-- > 0);"
        if kind == 9:
            cases = "".join(f"case {i}: {self.block(depth - 1)} {self.random.choice(['break;', ''])}"
                            + self.space() for i in range(self.random.randrange(1, 5)))
            return f"switch (x & 7) {{ {cases} default: {self.simple()} }}"
        if kind == 10:
            self.labels += 1
            label = f"l{self.labels}"
            return (f"{label}: {self.block(depth - 1)}{self.space()}"
                    f"if ({self.condition()} && fuel-- > 0) goto {label};")
        return f"if ({self.condition()}) return x;"

    def block(self, depth):
        return self.space().join(self.statement(depth)
                                 for _ in range(self.random.randrange(1, 4)))

    def function(self, number):
        where = self.random.choice(["\n", "\n", " "])
        return (f"{where}static int f{number}(int x){self.space()}{{ int fuel = 20;"
                f"{self.space()}{self.block(3)}{self.space()}return x; }}")


def program(seed, functions=7):
    maker = Maker(seed)
    made = "".join(maker.function(i) for i in range(functions))
    calls = "".join(f"    for (int i = 0; i < {3 + i}; i++) count += f{i}(i);\n"
                    for i in range(functions))
    return ("#include <stdlib.h>\nstatic int count;\n"
            "static int tick(void) { static int t; return ++t % 3; }\n"
            "static int other(int x) { return x > 50 ? x / 3 : x + 1; }\n"
            f"{made}\nint main(void)\n{{\n{calls}    return 0;\n}}\n")
