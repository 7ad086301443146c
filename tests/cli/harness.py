"""What the tests of the commands share: running monarc, making profiles, checking schemas."""

import errno
import functools
import json
import os
import resource
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # parts.py
PROGRAMS = ROOT / "tests/golden/programs"
DEMO = PROGRAMS / "demo"
SKIPPED = 77
NM = "nm", "--target=elf64-little"  # not told, it loads the compilers' plugins to ask what a file is


def monarc_path():
    return os.environ.get("MONARC") or str(ROOT / "build/monarc")


@functools.cache
def is_sanitized():
    """It needs terabytes of addresses, memory of its own, and time."""
    return b"__asan_init" in Path(monarc_path()).read_bytes()


def monarc(*arguments, cwd=PROGRAMS, **more):
    environment = {**os.environ, "LC_ALL": "C", "COLUMNS": "80", **more.pop("env", {})}
    return subprocess.run([monarc_path(), *map(str, arguments)], cwd=cwd, env=environment,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})


@functools.cache
def lcov_branches():
    """The setting by which lcov takes branches in; lcov 2 renamed it, and from 2.3 on refuses the old name."""
    version = subprocess.run(["lcov", "--version"], capture_output=True, text=True).stdout.split()[-1:]
    return "lcov_branch_coverage=1" if version and version[0].startswith("1.") else "branch_coverage=1"


def monarc_limited(*arguments, cwd, megabytes=1024, seconds=20, **more):
    """A run that may take neither the machine's memory, address space of threads included, nor the
    night: CPU time is limited, as a busy machine may take ten times as long."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    return monarc(*arguments, cwd=cwd, timeout=600, preexec_fn=None if is_sanitized() else limit, **more)


def wait_for(condition, what):
    """Until it holds, however busy the machine is; ten minutes are a hang."""
    end = time.monotonic() + 600
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.01)


def cpu_seconds(pid):
    """Of a process and of its children's children, as far as they live; 0: it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, children))


def is_running(pid, name):
    """Whether a process has become the program of that name: a child is its parent's copy at first."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == name[:15]
    except OSError:
        return False


def monarc_json(*arguments, **more):
    return json.loads(monarc(*arguments, "--json", **more).stdout)


def sure(value, error, most):
    """The digits that text prints of a figure that is off by `error` at most (reports.md, "Digits")."""
    decimals = 0
    while decimals < most and (error < 3.55 if error > 0 else True):
        decimals, error = decimals + 1, 10 * error
    return f"{value:.{decimals}f}"


def sure_share(share, error):
    return sure(100 * share, 0 if share > 1 - 1e-6 else min(100 * error, 3.5), 2)


def rounded(value, shown):
    """The value with as many digits as are shown, where nothing says how sure it is."""
    return f"{value:.{len(shown.rstrip('*').partition('.')[2])}f}"


def gmon(histograms=(), arcs=(), word=8, order="<"):
    """A gmon.out. A histogram is (low, high, counters[, rate[, dimension]]), an arc
    (from, self, count)."""
    address = {4: "I", 8: "Q"}[word]
    data = b"gmon" + struct.pack(order + "I12x", 1)
    for low, high, bins, *unit in histograms:
        rate, dimension, *_ = *unit, *(100, b"seconds")[len(unit):]
        data += struct.pack(order + "B2" + address + "II15sc", 0, low, high, len(bins),
                            rate, dimension, dimension[:1])
        data += struct.pack(f"{order}{len(bins)}H", *bins)
    for arc in arcs:
        data += struct.pack(order + "B2" + address + "I", 1, *arc)
    return data


def validate(value, schema, where="$"):
    """The part of JSON Schema that docs/schema uses; returns a list of complaints."""
    wrong = []
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
             "integer": int, "number": (int, float)}
    allowed = schema.get("type", [])
    allowed = [allowed] if isinstance(allowed, str) else allowed
    if allowed and not any(isinstance(value, types[t]) and
                           (t == "boolean" or not isinstance(value, bool)) for t in allowed):
        return [f"{where}: {value!r} is not {allowed}"]
    known = {"$schema", "$id", "title", "description", "type", "properties", "required", "items",
             "enum", "const", "pattern", "minimum", "maximum", "maxLength", "minItems", "oneOf"}
    wrong += [f"{where}: the schema uses {k}" for k in schema.keys() - known]
    if "const" in schema and value != schema["const"]:
        wrong.append(f"{where}: {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{where}: {value!r} is none of {schema['enum']}")
    if isinstance(value, str) and "pattern" in schema:
        import re
        if not re.search(schema["pattern"], value):
            wrong.append(f"{where}: {value!r}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            wrong.append(f"{where}: {value!r} is out of range")
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                wrong.append(f"{where}: has no {name}")
        for name, item in value.items():
            if name in schema.get("properties", {}):
                wrong += validate(item, schema["properties"][name], f"{where}.{name}")
            elif "properties" in schema:
                wrong.append(f"{where}: the schema does not know {name}")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            wrong.append(f"{where}: too short")
        for i, item in enumerate(value):
            wrong += validate(item, schema.get("items", {}), f"{where}[{i}]")
    if "oneOf" in schema and sum(not validate(value, s, where) for s in schema["oneOf"]) != 1:
        wrong.append(f"{where}: not exactly one of the alternatives")
    return wrong


def schema(name):
    return json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text())


def can_run(program):
    """False where the kernel was built without what a program of 32 bits needs."""
    try:
        subprocess.run([program], capture_output=True, env={**os.environ, "LLVM_PROFILE_FILE": "/dev/null"})
    except OSError as why:
        if why.errno != errno.ENOEXEC:
            raise
        return False
    return True


def check_schema(test, name, value):
    test.assertEqual(validate(value, schema(name)), [])
    check_schema_by_library(name, value)


def check_schema_by_library(name, value):
    """For schemas that use more than validate() knows; hardly a test where the library is missing."""
    try:
        import jsonschema
    except ImportError:
        return
    # Debian 11's has no later draft than 7, which is the same as far as these schemas go.
    newest = getattr(jsonschema, "Draft202012Validator", None) or jsonschema.Draft7Validator
    newest(schema(name)).validate(value)


def main():
    unittest.main(argv=[sys.argv[0]], verbosity=2)
