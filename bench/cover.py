#!/usr/bin/env python3
"""cover.py: `monarc gcov` against GNU gcov on coverage of a C program and of C++ headers.

usage: cover.py [--monarc build/monarc] [--gcov gcov] [--runs N] [CACHE]

It makes a C program of 60,000 lines (25 files of random control flow) and C++ units full of template
instances, compiles and runs both once (they stay in CACHE, build/bench-cover), and prints medians of
interleaved runs. Both tools get all counters files in one command line, and write to a folder that
is emptied before.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/oracle_gcov"))
sys.dont_write_bytecode = True
import generate  # noqa: E402

ROWS = [("text", ["-b", "-c"], 5), ("no files", ["-n", "-b"], 5), ("JSON to a pipe", ["-j", "-b", "-t"], 10),
        ("JSON files", ["-j", "-b"], 10)]
HEAD = ("#include <stdlib.h>\nstatic int count;\n"
        "static int tick(void) { static int t; return ++t % 3; }\n"
        "static int other(int x) { return x > 50 ? x / 3 : x + 1; }\n")


def make_c(folder, lines=60000):
    units, made = [], 0
    while made < lines:
        unit = len(units)
        maker = generate.Maker(unit)
        functions = [maker.function(i).replace("static int f", f"static int u{unit}_")
                     for i in range(60)]
        calls = "".join(f"    for (int i = 0; i < {3 + i % 9}; i++)\n        count += u{unit}_{i}(i);\n"
                        for i in range(60))
        text = (HEAD + "\n".join(functions).replace("; ", ";\n").replace("{ ", "{\n")
                + f"\nint run{unit}(void)\n{{\n{calls}    return 0;\n}}\n")
        units.append((f"u{unit}.c", text))
        made += text.count("\n")
    units.append(("main.c", "".join(f"int run{i}(void);\n" for i in range(len(units)))
                  + "int main(void)\n{\n" + "".join(f"    run{i}();\n" for i in range(len(units)))
                  + "    return 0;\n}\n"))
    for name, text in units:
        (folder / name).write_text(text)
    return [name for name, _ in units]


def make_cxx(folder, units=8, types=24):
    for unit in range(units):
        text = ("#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n"
                "#include <string>\n#include <variant>\n#include <vector>\n")
        for i in range(types):
            text += (f"struct T{unit}_{i} {{ int v; bool operator<(const T{unit}_{i} &o) const "
                     "{ return v < o.v; } };\n"
                     f"static int f{i}() {{\n  std::map<T{unit}_{i}, std::vector<T{unit}_{i}>> m;\n"
                     f"  for (int k = 0; k < 9; k++) m[{{k % 4}}].push_back({{k}});\n"
                     f"  std::vector<T{unit}_{i}> v; for (auto &p : m) v.insert(v.end(), "
                     "p.second.begin(), p.second.end());\n  std::sort(v.begin(), v.end());\n"
                     f"  std::function<int(T{unit}_{i})> g = [](T{unit}_{i} t) {{ return t.v; }};\n"
                     "  return g(v[0]);\n}\n")
        name = "main" if unit == 0 else f"run{unit}"
        text += f"int {name}() {{ int n = 0;\n" + "".join(f"n += f{i}();\n" for i in range(types))
        if unit == 0:
            text += 'n += std::regex_match("abc", std::regex("a.c"));\n'
        (folder / f"x{unit}.cc").write_text(text + "return n == 12345; }\n")
    return [f"x{unit}.cc" for unit in range(units)]


def build(folder, make, compiler):
    if (folder / "done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = make(folder)
    for at in range(0, len(names), 2):
        jobs = [subprocess.Popen([compiler, "--coverage", "-w", "-c", name], cwd=folder)
                for name in names[at:at + 2]]
        if any(job.wait() for job in jobs):
            sys.exit("cover.py: cannot compile")
    objects = [str(pathlib.Path(name).with_suffix(".o")) for name in names]
    subprocess.run([compiler, "--coverage", *objects, "-o", "program"], cwd=folder, check=True)
    subprocess.run(["./program"], cwd=folder, check=True)
    (folder / "done").touch()


def once(tool, folder, options):
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    counters = sorted(f"../{path.name}" for path in folder.glob("*.gcda"))
    start = time.perf_counter()
    subprocess.run(["gcov", *options, *counters], executable=tool, cwd=out, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=str(ROOT / "build/monarc"))
    parser.add_argument("--gcov", default=shutil.which("gcov"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("cache", nargs="?", default=ROOT / "build/bench-cover", type=pathlib.Path)
    options = parser.parse_args()
    for label, make, compiler in (("C, 60,000 lines", make_c, "gcc"), ("C++ headers", make_cxx, "g++")):
        folder = options.cache / compiler
        build(folder, make, compiler)
        for row, words, budget in ROWS:
            times = {tool: [] for tool in (options.gcov, options.monarc)}
            for _ in range(options.runs):
                for tool, taken in times.items():
                    taken.append(once(tool, folder, words))
            gnu, ours = (statistics.median(times[tool]) for tool in (options.gcov, options.monarc))
            print(f"| {label}, {row} (`{' '.join(words)}`) | {ours * 1000:.0f} ms | "
                  f"{gnu * 1000:.0f} ms | 1/{gnu / ours:.1f} | 1/{budget}, "
                  f"{'met' if gnu / ours >= budget else 'missed'} |", flush=True)


if __name__ == "__main__":
    main()
