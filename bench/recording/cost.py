#!/usr/bin/env python3
"""cost.py: what recording costs the program, and the recorder itself, on real programs.

    python3 bench/recording/cost.py [--rounds N] [--rate HZ] [--only NAME] [MONARC]

Each round runs every program bare, under a clock of the same rate whose samples have no stacks (the
floor: `perf record` without -g), under `monarc run`, and under `perf record` with frame pointers and
with copied stacks, one after the other. The program's CPU time is what the shell that started it has
for its children. Medians over the rounds. It refuses nothing and leaves its files in a temporary
folder. What is not installed is left out.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMED = '"$@" >/dev/null 2>&1; times >"$TIMES"'


def programs(folder):
    """name -> command; inputs are made here."""
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="ascii") as out:
        for i in range(400000):
            out.write(f"{i * 7919 % 1000003} {i} {i * i % 65537:x} words of a line\n")
    unit = os.path.join(folder, "unit.cc")
    with open(unit, "w", encoding="ascii") as out:
        out.write("#include <regex>\n#include <map>\n#include <iostream>\n"
                  "int main() { std::regex r(\"a(b|c)*\"); std::map<int, std::string> m;\n"
                  "m[1] = \"abc\"; std::cout << std::regex_match(m[1], r); }\n")
    script = "import json\nfor i in range(60): json.loads(json.dumps(list(range(60000))))\n"
    sql = ("create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n "
           "limit 600000) insert into t select i * 7919 % 65537, i from n; create index x on t(a); "
           "select count(*) from t join t u using (b) where t.a < 9000;")
    loop = "my %h; for my $i (1 .. 4000000) { $h{$i % 1000} += $i % 7 } print $h{5};"
    return {
        "xz": ["xz", "-2", "-c", text],
        "gzip": ["gzip", "-9", "-c", text],
        "zstd -T2": ["zstd", "-q", "-12", "-T2", "-c", text],
        "sort": ["sort", text],
        "python3": ["/usr/bin/python3", "-c", script],
        "perl": ["perl", "-e", loop],
        "sqlite3": ["sqlite3", ":memory:", sql],
        "git": ["git", "-C", ROOT, "log", "-p", "-600"],
        "g++": ["g++", "-O1", "-c", unit, "-o", os.path.join(folder, "unit.o")],
        "awk": ["awk", "{ s += length($0) % 7; n[$1 % 100]++ } END { print s }", text],
    }


def recorders(monarc, folder, rate):
    """name -> what stands before the command."""
    data = os.path.join(folder, "perf.data")
    perf = ["perf", "record", "-q", "-o", data, "-e", "task-clock", "-c", str(10**9 // rate)]
    return {
        "bare": [],
        "clock": perf,
        "monarc": [monarc, "run", "--no-report", "-r", str(rate), "-o", os.path.join(folder, "rec")],
        "perf -g": perf + ["-g"],
        "perf dwarf": perf + ["--call-graph", "dwarf,16384"],
    }


def seconds(minutes):
    whole, rest = minutes.rstrip("s").split("m")
    return 60 * int(whole) + float(rest)


def cpu_time(before, command, folder):
    times = os.path.join(folder, "times")
    subprocess.run([*before, "bash", "-c", TIMED, "bash", *command], check=False,
                   env={**os.environ, "TIMES": times}, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(times, encoding="ascii") as lines:
        return sum(map(seconds, lines.readlines()[1].split()))


def recording_facts(monarc, folder):
    """The recorder's share of a CPU, whole stacks, and bytes a minute."""
    rec = os.path.join(folder, "rec")
    done = subprocess.run([monarc, "flat", "--json", "--limit", "1", rec], capture_output=True, check=True)
    facts = json.loads(done.stdout)["summary"]["recording"]
    length = facts["length_ns"] / 1e9
    size = os.path.getsize(os.path.join(rec, "monarc.side"))
    whole = facts["whole_stacks"]
    return 100 * facts["recorder_time"] / length, 100 * (1 if whole is None else whole), size * 60 / length


def measure(options, folder):
    chosen = {name: command for name, command in programs(folder).items()
              if shutil.which(command[0]) and options.only in (None, name)}
    ways = {name: before for name, before in recorders(options.monarc, folder, options.rate).items()
            if not before or shutil.which(before[0])}
    results = {}
    for name, command in chosen.items():
        taken = {way: [] for way in ways}
        facts = []
        for _ in range(options.rounds):
            for way, before in ways.items():
                taken[way].append(cpu_time(before, command, folder))
                if way == "monarc":
                    facts.append(recording_facts(options.monarc, folder))
        results[name] = ({way: statistics.median(t) for way, t in taken.items()},
                         [statistics.median(column) for column in zip(*facts)])
        show(name, *results[name], ways)
    return results, ways


def show(name, medians, facts, ways):
    bare = medians["bare"]
    row = "".join(f" {100 * (medians[way] / bare - 1):+9.1f} %" for way in ways if way != "bare")
    print(f"{name:10s} {bare:7.2f} s{row}   {facts[0]:6.1f} %  {facts[1]:6.2f} %  {facts[2] / 1e6:6.2f} MB",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--only")
    parser.add_argument("monarc", nargs="?", default=os.path.join(ROOT, "build/monarc"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="monarc-cost-") as folder:
        ways = [way for way in recorders("", folder, 1) if way != "bare"]
        print(f"{'program':10s} {'bare':>9s}" + "".join(f" {way:>11s}" for way in ways) +
              f"   {'monitor':>8s}  {'whole':>8s}  {'a minute':>9s}")
        results, ways = measure(options, folder)
        for way in ways:
            if way != "bare":
                added = [100 * (m[way] / m["bare"] - 1) for m, _ in results.values()]
                print(f"median of {way}: {statistics.median(added):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
