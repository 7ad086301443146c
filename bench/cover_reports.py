#!/usr/bin/env python3
"""Compare monarc cover with lcov and gcovr in one run.

    cover_reports.py [--monarc PATH] [--runs N] [--only c|cxx] [CACHE]

Makes two programs in CACHE (default build/bench-cover) with gcc --coverage and runs each once: `c`,
60,000 lines of generated C in 60 files, and `cxx`, 16 units of C++ full of the standard library's
templates, most of whose notes are of headers. Then each row runs ours and the peer in turn and a
Markdown table of median wall and CPU times and peak resident sets is printed. On a busy machine the
CPU times are what to compare.

`read` is a program that reads the bytes of all notes and counters once (cat > /dev/null). Ours
writes everything the peer does: an lcov tracefile with branches, system headers included for lcov,
which captures them, too. Peers that are not installed are left out.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FUNCTION = """
int f_{f}_{i}(int a, int b)
{{
    int sum = {i};
    for (int i = 0; i < (a & 7); i++) {{
        if ((i + b) % 3 == 0 && a > i)
            sum += i * {i};
        else if (a < -1000)
            sum -= helper_{f}(sum);
        switch (sum & 3) {{
        case 0:
            sum++;
            break;
        case 1:
            sum += b;
            break;
        default:
            sum ^= a;
        }}
    }}
    while (sum > 1000)
        sum /= 2;
    return sum;
}}
"""

UNIT = """
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
struct item_{u} {{ std::string name; int value; bool operator<(const item_{u} &o) const
    {{ return value < o.value; }} }};
int unit_{u}(int n)
{{
    std::map<std::string, std::vector<item_{u}>> all;
    std::unordered_map<int, std::shared_ptr<item_{u}>> index;
    std::set<item_{u}> ordered;
    std::regex words("([a-z]+)([0-9]+)");
    for (int i = 0; i < n; i++) {{
        std::ostringstream out;
        out << "item" << i;
        std::smatch match;
        std::string text = out.str();
        if (std::regex_match(text, match, words))
            all[match[1]].push_back({{text, i}});
        index[i] = std::make_shared<item_{u}>(item_{u}{{text, -i}});
        ordered.insert(*index[i]);
    }}
    auto &items = all["item"];
    std::sort(items.begin(), items.end(), [](const auto &a, const auto &b) {{
        return b < a; }});
    std::function<int(int, const item_{u} &)> add = [](int s, const item_{u} &i) {{
        return s + i.value; }};
    return std::accumulate(items.begin(), items.end(), {u}, add) + (int)ordered.size();
}}
"""


def compile_all(folder, compiler, names):
    jobs = []
    for name in names:
        jobs.append(subprocess.Popen([compiler, "--coverage", "-O0", "-c", name], cwd=folder))
        if len(jobs) > (os.cpu_count() or 1):
            jobs.pop(0).wait()
    for job in jobs:
        job.wait()
    objects = [str(Path(name).with_suffix(".o")) for name in names]
    subprocess.run([compiler, "--coverage", "-o", "prog", *objects], cwd=folder, check=True)
    subprocess.run(["./prog"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def make_c(folder):
    names = []
    for f in range(60):
        text = f"static int helper_{f}(int a)\n{{\n    return a / 2;\n}}\n"
        text += "".join(FUNCTION.format(f=f, i=i) for i in range(40))
        text += f"int file_{f}(int n)\n{{\n    int sum = 0;\n"
        text += "".join(f"    sum += f_{f}_{i}(n, {i});\n" for i in range(0, 40, 2))
        text += "    return sum;\n}\n"
        (folder / f"file{f}.c").write_text(text)
        names.append(f"file{f}.c")
    text = "".join(f"int file_{f}(int n);\n" for f in range(60))
    text += "int main(void)\n{\n    int sum = 0;\n"
    text += "".join(f"    sum += file_{f}({f});\n" for f in range(60)) + "    return sum == 1;\n}\n"
    (folder / "main.c").write_text(text)
    compile_all(folder, "gcc", [*names, "main.c"])


def make_cxx(folder):
    names = []
    for u in range(16):
        (folder / f"unit{u}.cc").write_text(UNIT.format(u=u))
        names.append(f"unit{u}.cc")
    text = "".join(f"int unit_{u}(int n);\n" for u in range(16))
    text += "int main()\n{\n    int sum = 0;\n"
    text += "".join(f"    sum += unit_{u}({u});\n" for u in range(16)) + "    return sum == 1;\n}\n"
    (folder / "main.cc").write_text(text)
    compile_all(folder, "g++", [*names, "main.cc"])


def measure(command, folder):
    """Wall seconds, CPU seconds and peak kB of a command and its children."""
    start = time.monotonic()
    process = subprocess.Popen(["sh", "-c", command], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command}: exit status {process.returncode}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=ROOT / "build/monarc", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=["c", "cxx"])
    parser.add_argument("cache", nargs="?", default=ROOT / "build/bench-cover", type=Path)
    options = parser.parse_args()
    ours = f"{options.monarc.resolve()} cover -q --no-markers"
    print("| program | row | wall ms | times ours | CPU ms | times ours | MB |\n"
          "|---|---|--:|--:|--:|--:|--:|")
    for name, make in (("c", make_c), ("cxx", make_cxx)):
        if options.only and options.only != name:
            continue
        folder = options.cache.resolve() / name
        if not (folder / "prog").exists():
            folder.mkdir(parents=True, exist_ok=True)
            make(folder)
        rows = {"ours, 1 thread": f"{ours} --system --all-branches --threads 1 --lcov - .",
                "ours, 2 threads": f"{ours} --system --all-branches --threads 2 --lcov - .",
                "ours, as it is": "%s cover ." % options.monarc.resolve(),
                "read": "cat *.gcno *.gcda"}
        if shutil.which("gcov"):
            rows["gcov -b -c text"] = "mkdir -p t && cd t && gcov -b -c ../*.gcda"
        if shutil.which("lcov"):
            rows["lcov --capture"] = "lcov -c -d . -o l.info --rc lcov_branch_coverage=1"
        if shutil.which("gcovr"):
            rows["gcovr"] = "gcovr -s ."
        found = {row: [] for row in rows}
        for turn in range(options.runs + 1):
            for row, command in rows.items():
                if turn > 1 and found[row] and found[row][0][1] > 2:
                    continue
                taken = measure(command, folder)
                print(name, row, *taken, file=sys.stderr)
                if turn:
                    found[row].append(taken)
        base = [statistics.median(t[i] for t in found["ours, 1 thread"]) for i in (0, 1)]
        for row, taken in found.items():
            wall, cpu = (statistics.median(t[i] for t in taken) for i in (0, 1))
            print(f"| {name} | {row} | {wall * 1000:.0f} | {wall / base[0]:.1f} | "
                  f"{cpu * 1000:.0f} | {cpu / base[1]:.1f} | {max(t[2] for t in taken) / 1024:.0f} |",
                  flush=True)


if __name__ == "__main__":
    main()
