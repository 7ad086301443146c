#!/usr/bin/env python3
"""objects.py: reads the compiled rooms of src/ for state that lives as long as the program, and for
calls that end it or print on their own.

usage: objects.py LIBRARY COMPILER     the static library of src/, and cc for the self-test

Tables of constants may need relocating; they are in .data.rel.ro and are no state. src/cli/main.c
is not in the library: it is the one place that may do what is looked for here. It refuses to judge
instrumented libraries, whose compiler adds state of its own.
"""

import os
import re
import subprocess
import sys
import tempfile

import tap

MUTABLE = re.compile(r"^\.(data|bss|tdata|tbss|sdata|sbss|ldata|lbss)(\.|$)")
CONSTANT = re.compile(r"^\.data\.rel\.ro(\.|$)")

# Symbols that only main.c may need, with who else does and why.
FORBIDDEN = {
    "exit": [], "_exit": ["record_launch.c.o", "record_follow.c.o",  # in a forked child that could not exec
              "record_counter_files.c.o",  # in one that has written for another process
              "tui_screen.c.o"],  # in the forked child that has the screen
    "_Exit": [], "quick_exit": [],
    "abort": ["base_memory.c.o",  # the weak memory_exhausted, for programs without main.c
              "output_json.c.o"],  # a report that nests deeper than JSON_DEPTH is a bug of its own
    "perror": [], "stderr": [], "stdout": [], "err": [], "errx": [], "warn": [], "warnx": [],
    "error": [], "psignal": [], "syslog": [], "printf": [], "puts": [], "putchar": [],
    "__assert_fail": [], "__printf_chk": [],
    # Libraries that few commands use are not linked: their relocations would cost the start of all.
    "dlopen": ["base_late.c.o"], "stdscr": [], "newterm": [], "cs_open": [], "gvContext": [],
}

MEMBER = re.compile(r"^(\S+):\s+file format ")
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden |\.protected )?(.+)$")


def symbols(library):
    """(object file, flags, section, name) of each symbol."""
    listing = subprocess.run(["objdump", "-t", library], check=True, capture_output=True,
                             text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    member = "?"
    for line in listing.splitlines():
        heading, symbol = MEMBER.match(line), SYMBOL.match(line)
        if heading:
            member = os.path.basename(heading[1])
        elif symbol:
            yield member, symbol[1], symbol[2], symbol[3]


def state_findings(library):
    return [f"{member}: {name} is in {section}"
            for member, flags, section, name in symbols(library)
            if "d" not in flags and not name.startswith(".")
            and (section == "*COM*" or MUTABLE.match(section) and not CONSTANT.match(section))]


def call_findings(library):
    return [f"{member}: needs {name}" for member, _, section, name in symbols(library)
            if section == "*UND*" and name in FORBIDDEN and member not in FORBIDDEN[name]]


BROKEN_STATE = """
int initialised = 1; int zero; static int hidden; extern const char *names[]; _Thread_local int own;
const char *names[] = {"a"}; const char *const fine[] = {"b"}; static const int table[] = {1};
int count(void) { static int calls; hidden++; return ++calls + table[hidden & 0] + fine[0][0]; }
"""
BROKEN_CALLS = """
#include <stdio.h>
#include <stdlib.h>
void leave(int n) { if (n) exit(n); if (n < 0) abort(); fprintf(stderr, "%d", n); perror("x"); }
"""


def self_test(t, compiler):
    with tempfile.TemporaryDirectory(prefix="monarc-check-") as folder:
        def compiled(text, name):
            path = os.path.join(folder, name)
            subprocess.run([*compiler, "-fPIC", "-O0", "-U_FORTIFY_SOURCE", "-xc", "-", "-c", "-o",
                            path], input=text, text=True, check=True)
            return path

        broken = compiled(BROKEN_STATE, "broken.o")
        t.found("state in every section", state_findings(broken),
                ["initialised", "zero", "hidden", "own", "names", "calls"])
        broken = compiled(BROKEN_CALLS, "calls.o")
        t.found("calls that end the program or print", call_findings(broken),
                ["exit", "abort", "stderr", "perror"])
        broken = compiled("#include <stdlib.h>\nvoid f(void) { abort(); }", "base_memory.c.o")
        t.found("no harm in the exception", call_findings(broken), [])


def main():
    library, compiler = sys.argv[1], sys.argv[2:]
    t = tap.Tap()
    self_test(t, compiler)
    members = {member for member, *_ in symbols(library)}
    t.clean("the library has objects of its own", [] if len(members) > 5 else [f"only {members}"])
    t.clean("src keeps no mutable state", state_findings(library))
    t.clean("only main.c prints errors and ends the program", call_findings(library))
    t.end()


main()
