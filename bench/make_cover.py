"""make_cover.py: the two programs of cover.py, compiled with --coverage and run once.

`c` is 60,000 lines of random control flow in 26 files, `cxx` 12 units full of the C++ library's
templates, of types of their own and of shared ones, so that nearly all of its notes are headers'.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/oracle_gcov"))
sys.dont_write_bytecode = True
import generate  # noqa: E402

HEAD = ("#include <stdlib.h>\nstatic int count;\n"
        "static int tick(void) { static int t; return ++t % 3; }\n"
        "static int other(int x) { return x > 50 ? x / 3 : x + 1; }\n")

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
#include <variant>
#include <vector>
struct item_{u} {{ std::string name; int value; bool operator<(const item_{u} &o) const
    {{ return value < o.value; }} }};
{types}
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
    return std::accumulate(items.begin(), items.end(), {u}, add) + (int)ordered.size(){calls};
}}
"""

TYPE = """
struct T{u}_{i} {{ int v; bool operator<(const T{u}_{i} &o) const {{ return v < o.v; }} }};
static int f{i}()
{{
    std::map<T{u}_{i}, std::vector<T{u}_{i}>> m;
    for (int k = 0; k < 9; k++)
        m[{{k % 4}}].push_back({{k}});
    std::vector<T{u}_{i}> v;
    for (auto &p : m)
        v.insert(v.end(), p.second.begin(), p.second.end());
    std::sort(v.begin(), v.end());
    std::function<int(T{u}_{i})> g = [](T{u}_{i} t) {{ return t.v; }};
    return g(v[0]);
}}
"""


def c_sources(lines=60000, functions=60):
    units, made = {}, 0
    while made < lines:
        unit = len(units)
        maker = generate.Maker(unit)
        bodies = [maker.function(i).replace("static int f", f"static int u{unit}_")
                  for i in range(functions)]
        calls = "".join(f"    for (int i = 0; i < {3 + i % 9}; i++)\n        count += u{unit}_{i}(i);\n"
                        for i in range(functions))
        text = (HEAD + "\n".join(bodies).replace("; ", ";\n").replace("{ ", "{\n")
                + f"\nint run{unit}(void)\n{{\n{calls}    return 0;\n}}\n")
        units[f"u{unit}.c"] = text
        made += text.count("\n")
    numbers = range(len(units))
    units["main.c"] = ("".join(f"int run{i}(void);\n" for i in numbers) + "int main(void)\n{\n"
                       + "".join(f"    run{i}();\n" for i in numbers) + "    return 0;\n}\n")
    return units


def cxx_sources(units=12, types=10):
    sources = {}
    for u in range(units):
        sources[f"unit{u}.cc"] = UNIT.format(
            u=u, types="".join(TYPE.format(u=u, i=i) for i in range(types)),
            calls="".join(f" + f{i}()" for i in range(types)))
    sources["main.cc"] = ("".join(f"int unit_{u}(int n);\n" for u in range(units))
                          + "int main()\n{\n    int sum = 0;\n"
                          + "".join(f"    sum += unit_{u}({u});\n" for u in range(units))
                          + "    return sum == 1;\n}\n")
    return sources


def make(folder, compiler, sources):
    """Nothing is done if the folder is complete."""
    if (folder / "made").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in sources.items():
        (folder / name).write_text(text)
    names, running = list(sources), []
    while names or running:
        while names and len(running) < (os.cpu_count() or 1):
            running.append(subprocess.Popen([compiler, "--coverage", "-w", "-c", names.pop()],
                                            cwd=folder))
        if running.pop(0).wait():
            sys.exit("make_cover.py: cannot compile")
    objects = [str(Path(name).with_suffix(".o")) for name in sources]
    subprocess.run([compiler, "--coverage", *objects, "-o", "program"], cwd=folder, check=True)
    subprocess.run(["./program"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / "made").touch()


def make_both(cache):
    """{name: folder}"""
    folders = {"c": cache / "c", "cxx": cache / "cxx"}
    make(folders["c"], "gcc", c_sources())
    make(folders["cxx"], "g++", cxx_sources())
    return folders
