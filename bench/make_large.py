#!/usr/bin/env python3
"""Make the large benchmark program: a real linked ELF with DWARF line tables.

    make_large.py [--functions N] [--units N] [--rows N] [--jobs N] [--force] [CACHE]

The result, kept in CACHE (default build/bench) until a parameter changes:

    CACHE/large          x86-64 ELF executable, non-PIE; its main returns 0
    CACHE/large-nodebug  the same with its debug sections stripped
    CACHE/src/*.c        the sources its line tables name, line for line
    CACHE/large.stamp    the parameters it was made with

By default 100,000 functions in 500 compilation units with about nine million
line-table rows: each function has 60 to 120 rows (--rows is the mean).  One
function in eight is static.  Every function calls up to two later ones, one
in its own unit and one anywhere, so the text holds real call instructions.

Compiling nine million lines of C takes far too long, so each unit is written
twice, as C and as the assembly a simple compiler would make of it, and only
the assembly is built.  It has `.loc` directives for .debug_line, and a DWARF 5
.debug_info with one DW_TAG_subprogram per function, its parameter and its
types, .debug_abbrev, .debug_str and .debug_aranges.  The C is valid too.

Needs Python 3, a C compiler driver (cc) and GNU binutils.  Output is the same
for the same parameters and CACHE path (the path is the DWARF comp_dir).
"""

import argparse
import hashlib
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

VERBS = ("parse read write find make open close sort merge scan visit emit "
         "fold check count copy join split").split()
NOUNS = ("node table line symbol arc block unit range entry list page frame "
         "header token record path index").split()

# A statement of the C source, and the two-byte instruction it becomes.
STATEMENTS = [
    ("x++;", "inc %eax"), ("x--;", "dec %eax"), ("x = -x;", "neg %eax"),
    ("x = ~x;", "not %eax"), ("x += x;", "add %eax,%eax"),
    ("x <<= 1;", "shl %eax"), ("x >>= 1;", "sar %eax"),
]

ABBREV = """\
\t.section .debug_abbrev,"",@progbits
.Labbrev:
\t.uleb128 1,0x11\n\t.byte 1                 # compile_unit: producer, language,
\t.uleb128 0x25,0x0e,0x13,0x0b,0x03,0x0e   # name, comp_dir, low_pc, high_pc,
\t.uleb128 0x1b,0x0e,0x11,0x01,0x12,0x07   # stmt_list
\t.uleb128 0x10,0x17,0,0
\t.uleb128 2,0x2e\n\t.byte 1                 # subprogram: external, name, file,
\t.uleb128 0x3f,0x19,0x03,0x0e,0x3a,0x0b   # line, column, prototyped, type,
\t.uleb128 0x3b,0x0f,0x39,0x0b,0x27,0x19   # low_pc, high_pc, frame_base
\t.uleb128 0x49,0x13,0x11,0x01,0x12,0x07
\t.uleb128 0x40,0x18,0,0
\t.uleb128 3,0x2e\n\t.byte 1                 # the same without external
\t.uleb128 0x03,0x0e,0x3a,0x0b
\t.uleb128 0x3b,0x0f,0x39,0x0b,0x27,0x19
\t.uleb128 0x49,0x13,0x11,0x01,0x12,0x07
\t.uleb128 0x40,0x18,0,0
\t.uleb128 4,0x05\n\t.byte 0                 # formal_parameter: name, file,
\t.uleb128 0x03,0x08,0x3a,0x0b,0x3b,0x0f   # line, column, type, location
\t.uleb128 0x39,0x0b,0x49,0x13,0x02,0x18,0,0
\t.uleb128 5,0x24\n\t.byte 0                 # base_type: size, encoding, name
\t.uleb128 0x0b,0x0b,0x3e,0x0b,0x03,0x08,0,0
\t.byte 0
"""


def function_name(i):
    return (f"{VERBS[i % len(VERBS)]}_{NOUNS[i // 7 % len(NOUNS)]}_{i}")


def is_static(i):
    return i % 8 == 3


def callees(i, last, functions):
    """The functions that function i calls: one in its unit, one anywhere."""
    found = []
    if i + 1 < last:
        found.append(i + 1 + i * 7 % min(16, last - i - 1))
    far = i + 1 + i * 7919 % (functions - i) if i + 1 < functions else functions
    if far < functions and not is_static(far) and far not in found:
        found.append(far)
    return found


def make_unit(unit, first, last, functions, rows, source_dir):
    """Write one unit's C file and return its assembly."""
    rng = random.Random(f"unit {unit}")
    file_name = f"unit_{unit:04d}.c"
    c = [f"/* Unit {unit} of the benchmark program. */"]
    called = {j for i in range(first, last) for j in callees(i, last, functions)}
    c += [f"{'static ' if is_static(j) else ''}int {function_name(j)}(int);"
          for j in sorted(called)]
    text = [f'\t.file "{file_name}"\n\t.text\n.Ltext0:',
            f'\t.file 0 "{source_dir}" "{file_name}"\n\t.file 1 "{file_name}"']
    info, strings = [], []

    for i in range(first, last):
        name, static = function_name(i), is_static(i)
        c.append("")
        line = len(c) + 1
        c += [f"{'static ' if static else ''}int {name}(int x)", "{"]
        column = 12 if static else 5
        if not static:
            text.append(f"\t.globl {name}")
        text.append(f"\t.type {name},@function\n{name}:\n\t.loc 1 {line} {column}\n"
                    "\tpush %rbp\n\tmov %rsp,%rbp\n\tmov %edi,%eax")
        # Four rows are the frame's, two are each call's.
        targets = callees(i, last, functions)
        count = rng.randint(rows * 2 // 3, rows * 4 // 3) - 4
        places = set(rng.sample(range(count - 2 * len(targets)), len(targets)))
        body = rng.choices(STATEMENTS, k=count - 2 * len(targets))
        text.append(f"\t.loc 1 {line + 1} 1\n\tnop")
        here = line + 2
        for place, (statement, instruction) in enumerate(body):
            if place in places:
                callee = function_name(targets.pop())
                c.append(f"    x = {callee}(x);")
                text.append(f"\t.loc 1 {here} 9\n\tmov %eax,%edi\n\tcall {callee}\n"
                            f"\t.loc 1 {here} 7\n\tmov %eax,%eax")
                here += 1
            c.append("    " + statement)
            text.append(f"\t.loc 1 {here} 5\n\t{instruction}")
            here += 1
        c += ["    return x;", "}"]
        text.append(f"\t.loc 1 {here} 12\n\tnop\n\t.loc 1 {here + 1} 1\n"
                    f"\tpop %rbp\n\tret\n.Le{i}:\n\t.size {name},.Le{i}-{name}")
        strings.append(f'.Ls{i}:\t.string "{name}"')
        info.append(f"\t.uleb128 {3 if static else 2}\n\t.long .Ls{i}\n\t.byte 1\n"
                    f"\t.uleb128 {line}\n\t.byte {column}\n\t.long .Lint-.Linfo\n"
                    f"\t.quad {name},.Le{i}-{name}\n\t.byte 1,0x9c\n"
                    f'\t.uleb128 4\n\t.string "x"\n\t.byte 1\n\t.uleb128 {line}\n'
                    f"\t.byte {column + len(name) + 5}\n\t.long .Lint-.Linfo\n"
                    "\t.byte 1,0x50,0")

    if unit == 0:
        c += ["", "int main(void)", "{", "    return 0;", "}"]
        line = len(c) - 3
        text.append("\t.globl main\n\t.type main,@function\nmain:\n"
                    f"\t.loc 1 {line} 5\n\tpush %rbp\n\tmov %rsp,%rbp\n"
                    f"\t.loc 1 {line + 2} 12\n\txor %eax,%eax\n"
                    f"\t.loc 1 {line + 3} 1\n\tpop %rbp\n\tret\n"
                    ".Lem:\n\t.size main,.Lem-main")
    Path(source_dir, file_name).write_text("\n".join(c) + "\n")

    text.append(".Letext0:")
    head = ('\t.section .debug_info,"",@progbits\n.Linfo:\n'
            "\t.long .Lend-.Lversion\n.Lversion:\n\t.short 5\n\t.byte 1,8\n"
            "\t.long .Labbrev\n\t.uleb128 1\n\t.long .Lproducer\n\t.byte 0x1d\n"
            "\t.long .Lname,.Ldir\n\t.quad .Ltext0,.Letext0-.Ltext0\n"
            '\t.long .Lline\n.Lint:\t.uleb128 5\n\t.byte 4,5\n\t.string "int"')
    tail = ("\t.byte 0\n.Lend:\n"
            '\t.section .debug_aranges,"",@progbits\n'
            "\t.long 44\n\t.short 2\n\t.long .Linfo\n\t.byte 8,0\n\t.zero 4\n"
            "\t.quad .Ltext0,.Letext0-.Ltext0,0,0\n"
            '\t.section .debug_str,"MS",@progbits,1\n'
            '.Lproducer:\t.string "monarc benchmark generator"\n'
            f'.Lname:\t.string "{file_name}"\n.Ldir:\t.string "{source_dir}"')
    return "\n".join(text + [head] + info + [tail] + strings) + (
        '\n\t.section .debug_line,"",@progbits\n.Lline:\n' + ABBREV +
        '\t.section .note.GNU-stack,"",@progbits\n')


def build_unit(task):
    unit, first, last, functions, rows, source_dir, object_file = task
    assembly = make_unit(unit, first, last, functions, rows, source_dir)
    subprocess.run(["as", "--64", "-o", object_file, "-"], check=True,
                   input=assembly.encode())
    return object_file


def build(cache, functions=100_000, units=500, rows=90, jobs=2, force=False):
    """Make CACHE/large unless it is there already; return its path."""
    cache = Path(cache).resolve()
    program, stamp = cache / "large", cache / "large.stamp"
    wanted = (f"functions={functions} units={units} rows={rows} cache={cache} "
              f"maker={hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}\n")
    if (not force and program.exists() and stamp.exists()
            and stamp.read_text() == wanted):
        return program
    stamp.unlink(missing_ok=True)
    source_dir, object_dir = cache / "src", cache / "obj"
    for folder in (source_dir, object_dir):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("unit_*"):
            old.unlink()
    tasks = [(u, functions * u // units, functions * (u + 1) // units, functions,
              rows, str(source_dir), str(object_dir / f"unit_{u:04d}.o"))
             for u in range(units)]
    with ProcessPoolExecutor(jobs) as pool:
        objects = list(pool.map(build_unit, tasks))
    response = object_dir / "objects.rsp"
    response.write_text("\n".join(objects) + "\n")
    subprocess.run(["cc", "-no-pie", "-o", str(program), f"@{response}"], check=True)
    subprocess.run(["objcopy", "--strip-debug", str(program),
                    str(cache / "large-nodebug")], check=True)
    for old in [*objects, response]:
        Path(old).unlink()
    object_dir.rmdir()
    stamp.write_text(wanted)
    return program


def main():
    parser = argparse.ArgumentParser(description="Make the large benchmark program.")
    parser.add_argument("cache", nargs="?", default=ROOT / "build" / "bench")
    parser.add_argument("--functions", type=int, default=100_000)
    parser.add_argument("--units", type=int, default=500)
    parser.add_argument("--rows", type=int, default=90,
                        help="mean line-table rows of a function")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--force", action="store_true", help="rebuild in any case")
    args = parser.parse_args()
    if args.rows < 45 or not 1 <= args.units <= args.functions:
        parser.error("want --rows >= 45 and 1 <= --units <= --functions")
    print(build(args.cache, args.functions, args.units, args.rows, args.jobs,
                args.force))


if __name__ == "__main__":
    sys.exit(main())
