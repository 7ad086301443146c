"""coverage_formats.py: what each format of `monarc cover` says, as the same facts: of lines, functions and
branches how many there are and how many were hit. A format that does not know one of them says nothing of it.

Totals that a file states are read where it states them; where it does not, its entries are counted."""

import base64
import json
import re
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

import parquet_file


def ratio(found):
    return found["hit"], found["all"] - found["unknown"]


def of_json(text):
    totals = json.loads(text)["totals"]
    return {what: ratio(totals[what]) for what in ("lines", "functions", "branches")}


def of_text(text):
    """Of the table's last row: missed lines and all of them."""
    row = re.search(r"^ *\S+ +(\d+) +(\d+) .*\[all of \d+ sources?\]$", text, re.M)
    missed, lines = map(int, row.groups())
    return {"lines": (lines - missed, lines)}


def of_lcov(text):
    """Its sums, and its records beside them."""
    sums = {key: sum(map(int, re.findall(rf"^{key}:(\d+)$", text, re.M))) for key in ("LF", "LH", "FNF", "FNH", "BRF", "BRH")}
    lines = [count for _, count in re.findall(r"^DA:(\d+),(\d+)", text, re.M)]
    branches = re.findall(r"^BRDA:\d+,\d+,\d+,(\S+)$", text, re.M)
    functions = re.findall(r"^FNDA:(\d+),", text, re.M)
    of_records = {"lines": (sum(c != "0" for c in lines), len(lines)),
                  "branches": (sum(b not in ("0", "-") for b in branches), len(branches)),
                  "functions": (sum(f != "0" for f in functions), len(functions))}
    found = {"lines": (sums["LH"], sums["LF"]), "functions": (sums["FNH"], sums["FNF"]), "branches": (sums["BRH"], sums["BRF"])}
    assert found == of_records, f"sums {found}, records {of_records}"
    return found


def of_cobertura(text):
    top = ElementTree.fromstring(text)
    lines = [line for c in top.iter("class") for line in c.find("lines")]
    stated = tuple((int(top.get(f"{what}-covered")), int(top.get(f"{what}-valid"))) for what in ("lines", "branches"))
    counted = sum(line.get("hits") != "0" for line in lines), len(lines)
    assert counted == stated[0], f"lines: states {stated[0]}, has {counted}"
    parts = [re.search(r"\((\d+)/(\d+)\)", line.get("condition-coverage")).groups() for line in lines if line.get("branch") == "true"]
    branches = tuple(sum(int(p[i]) for p in parts) for i in (0, 1))
    assert branches == stated[1], f"branches: states {stated[1]}, has {branches}"
    methods = [m.find("lines")[0].get("hits") for m in top.iter("method")]
    return {"lines": stated[0], "branches": stated[1], "functions": (sum(h != "0" for h in methods), len(methods))}


def of_jacoco(text):
    top = ElementTree.fromstring(text)
    found = {c.get("type"): (int(c.get("covered")), int(c.get("covered")) + int(c.get("missed"))) for c in top.findall("counter")}
    lines = [int(line.get("ci")) > 0 for line in top.iter("line")]
    assert (sum(lines), len(lines)) == found.get("LINE", (0, 0)), "lines and their counter"
    return {"lines": found.get("LINE", (0, 0)), "branches": found.get("BRANCH", (0, 0)), "functions": found.get("METHOD", (0, 0))}


def of_clover(text):
    m = ElementTree.fromstring(text).find("project/metrics")
    return {"lines": (int(m.get("coveredstatements")), int(m.get("statements")))}


def of_sonarqube(text):
    lines = list(ElementTree.fromstring(text).iter("lineToCover"))
    return {"lines": (sum(line.get("covered") == "true" for line in lines), len(lines)),
            "branches": tuple(sum(int(line.get(k, 0)) for line in lines) for k in ("coveredBranches", "branchesToCover"))}


def of_codecov(text):
    """Of a line that did not run it knows no branches, and of one that did not whether it had any count."""
    return {"all lines": sum(map(len, json.loads(text)["coverage"].values()))}


def of_coveralls(text):
    files = json.loads(text)["source_files"]
    counts = [c for f in files for c in f["coverage"] if c is not None]
    branches = [b for f in files for b in f.get("branches", [])[3::4]]
    return {"lines": (sum(c > 0 for c in counts), len(counts)), "branches": (sum(b > 0 for b in branches), len(branches))}


def of_gcovr(text):
    lines = [line for f in json.loads(text)["files"] for line in f["lines"] if not line.get("gcovr/noncode")]
    branches = [b for line in lines for b in line["branches"]]
    return {"lines": (sum(line["count"] > 0 for line in lines), len(lines)),
            "branches": (sum(b["count"] > 0 for b in branches), len(branches))}


def of_markdown(text):
    """Its totals, and the sums of its rows, of which there are a hundred at most."""
    found, cell = {}, r" (?:-|\S+ % \((\d+)/(\d+)\)) \|"
    rows = re.findall(rf"^\| .+? \|{cell}{cell}{cell}$", text, re.M)
    for what in ("lines", "functions", "branches"):
        row = re.search(rf"^\| {what} \| \S+ ?%? \| (\d+) \| (\d+) \|$", text, re.M)
        if row:
            found[what] = tuple(map(int, row.groups()))
    for i, what in enumerate(("lines", "functions", "branches")):
        added = tuple(sum(int(row[2 * i + k] or 0) for row in rows) for k in (0, 1))
        assert len(rows) == 100 or added == found.get(what, (0, 0)), f"{what}: totals {found.get(what)}, rows {added}"
    return found


def of_parquet(data):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        rows = parquet_file.read(data)[0]
    states = [row["state"] for row in rows if row["state"] != "unknown"]
    return {"lines": (states.count("hit"), len(states))}


def unpack(block):
    return json.loads(zlib.decompress(base64.b64decode(block), -15))


def page_blocks(text):
    return {name: unpack(block) for name, block in re.findall(r'<script type="text/plain" id="(\w+)">([^<]*)', text)}


def of_page(text):
    """Its totals, the sum of its files, and what its sources say line by line: three times the same."""
    blocks = page_blocks(text)
    data = blocks["data"]
    totals = {what: ratio(data["coverage"]["totals"][what]) for what in ("lines", "functions", "branches")}
    by_file = {}
    for what in totals:
        f = data["files"][what]
        by_file[what] = sum(f["hit"]), sum(f["all"]) - sum(f["unknown"])
    assert totals == by_file, f"totals {totals}, of all files {by_file}"
    states = [s for name, block in blocks.items() if re.fullmatch(r"s\d+", name) and block["coverage"]
              for s in block["coverage"]["state"]]
    lines = sum(s == 1 for s in states), sum(s != 2 for s in states)
    assert lines == totals["lines"], f"totals {totals['lines']}, lines of sources {lines}"
    return totals


READERS = {"json": of_json, "lcov": of_lcov, "cobertura": of_cobertura, "markdown": of_markdown, "codecov": of_codecov,
           "sonarqube": of_sonarqube, "jacoco": of_jacoco, "clover": of_clover, "coveralls": of_coveralls,
           "gcovr": of_gcovr, "gcovr@0.15": of_gcovr, "parquet": of_parquet, "text": of_text}


def read(name, data):
    return READERS[name](data if name == "parquet" else data.decode())
