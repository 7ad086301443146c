#!/usr/bin/env python3
"""The rows of tests/letter.md name tests that are there.

A row is `| what is said | FILE: TEST |`, where TEST is Class.method of a script, a function of the oracle,
a line of its options, or the name of a function of a C program that its list of tests has. Each statement stands once. A table without rows, and a row of
any other form, are findings, so that none is passed over.
"""

import re

import tap

PAGE = "tests/letter.md"
ROW = re.compile(r"^\| (?!what is said|---)(.*?) \| (.*?) \|$", re.M)


def has_test(path, name):
    text = path.read_text()
    if path.suffix == ".c":
        return bool(re.search(rf"(?:^CASE\w*|cmocka_unit_test\w*)\({re.escape(name)}\b", text, re.M))
    if path.suffix == ".txt":
        return name in text.splitlines()
    if "." not in name:
        return bool(re.search(rf"^def {re.escape(name)}\(", text, re.M))
    owner, _, method = name.partition(".")
    body = re.search(rf"^class {re.escape(owner)}\b.*?(?=^\S|\Z)", text, re.M | re.S)
    return bool(body and re.search(rf"^    def {re.escape(method)}\(self", body[0], re.M))


def rows(top):
    findings, seen = [], set()
    text = (top / PAGE).read_text()
    lines = [l for l in text.splitlines() if l.startswith("| ") and not l.startswith(("| what is said", "| ---"))]
    found = ROW.findall(text)
    if len(found) != len(lines) or not found:
        findings.append(f"{len(lines)} lines of tables, {len(found)} rows")
    for said, shown in found:
        file, _, name = shown.partition(": ")
        if said in seen:
            findings.append(f"'{said}' stands twice")
        seen.add(said)
        if not (top / file).is_file():
            findings.append(f"'{said}': there is no {file}")
        elif not has_test(top / file, name):
            findings.append(f"'{said}': {file} has no {name}")
    return findings


GOOD = {PAGE: "| what is said | shown by |\n|---|---|\n| one | tests/a.py: A.test_one |\n| two | tests/b.c: test_two |\n"
        "| three | tests/d.txt: -p -q |\n| four | tests/e.py: cases |\n", "tests/d.txt": "-p\n-p -q\n", "tests/e.py": "def cases():\n",
        "tests/a.py": "class A(B):\n    def test_one(self):\n        pass\n\n\nclass C:\n    def test_c(self):\n        pass\n",
        "tests/b.c": "CASE(test_two)\n{\n"}
BROKEN = (
    ({"tests/a.py": "class A(B):\n    def test_other(self):\n        pass\n"}, ["tests/a.py has no A.test_one"]),
    ({PAGE: GOOD[PAGE].replace("A.test_one", "A.test_c")}, ["tests/a.py has no A.test_c"]),
    ({"tests/b.c": "static void test_two(void **state)\n"}, ["tests/b.c has no test_two"]),
    ({PAGE: GOOD[PAGE].replace("b.c", "c.c")}, ["there is no tests/c.c"]),
    ({PAGE: GOOD[PAGE].replace("two", "one", 1)}, ["stands twice"]),
    ({"tests/d.txt": "-p -q -z\n"}, ["tests/d.txt has no -p -q"]),
    ({"tests/e.py": "def other():\n"}, ["tests/e.py has no cases"]),
    ({PAGE: GOOD[PAGE] + "| five |\n"}, ["5 lines of tables, 4 rows"]),
)


def main():
    t = tap.Tap()
    t.clean("nothing to be found in a tree that is right", tap.found_in(rows, GOOD))
    for files, expected in BROKEN:
        t.found(expected[0], tap.found_in(rows, {**GOOD, **files}), expected)
    t.clean("each statement of tests/letter.md has its test", rows(tap.ROOT))
    t.end()


if __name__ == "__main__":
    main()
