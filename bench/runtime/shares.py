"""Functions' shares of a recording beside those that perf record saw of the same run.

    perf record -e cpu-clock:u -F 1000 -o perf.data -- monarc run --no-report -o DIR -- PROGRAM ...
    python3 bench/runtime/shares.py BUILD/monarc DIR perf.data NAME

NAME is the program's, as perf calls it. What perf saw of the recorder when it wrote its files is left
out, because the recorder does not sample that; mcount is left in."""
import json
import re
import subprocess
import sys

MOST_ROWS = 12


def ours(monarc, folder):
    table = json.loads(subprocess.run([monarc, "flat", "--json", folder], check=True,
                                      capture_output=True).stdout)
    hits = {}
    for f in table["functions"]:
        name = f.get("linkage_name", f["name"])
        hits[name] = hits.get(name, 0) + f["self_samples"]
    return hits


def perfs(data, program):
    text = subprocess.run(["perf", "report", "-q", "-i", data, "--comm", program, "--stdio", "--sort",
                           "dso,sym", "-F", "sample,dso,sym"], check=True, capture_output=True,
                          text=True).stdout
    hits = {}
    for n, file, name in re.findall(r"^\s*(\d+)\s+(\S+)\s+\[.\]\s+(\S+)", text, re.M):
        if "libmonarc_rt" not in file or "mcount" in name or "__fentry__" in name:
            hits[name] = hits.get(name, 0) + int(n)
    return hits


def main():
    monarc, folder, data, program = sys.argv[1:]
    a, b = ours(monarc, folder), perfs(data, program)
    all_a, all_b = sum(a.values()), sum(b.values())
    rows = [(100 * a.get(f, 0) / all_a, 100 * b.get(f, 0) / all_b, f) for f in set(a) | set(b)]
    print("samples: monarc %d, perf %d" % (all_a, all_b))
    for x, y, name in sorted(rows, key=lambda r: max(r[:2]), reverse=True)[:MOST_ROWS]:
        print("%6.2f %6.2f %+6.2f  %s" % (x, y, x - y, name))
    x, y, name = max(rows, key=lambda r: abs(r[0] - r[1]))
    print("largest difference: %+.2f points, %s" % (x - y, name))
    print("samples that differ: %.2f %%" % (sum(abs(x - y) for x, y, _ in rows) / 2))


main()
