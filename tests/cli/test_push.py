"""The request lines of docs/fleet.md, run as they stand there, against a server that checks what
Pyroscope, Parca and OTLP collectors check before they take a profile; and which refuses profiles that
are made wrong here, so that the checks are not idle."""

import base64
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
from pathlib import Path

from harness import ROOT, main, monarc, monarc_path
from protobuf_file import fields, packed
from run_file import FILE, Run

sys.dont_write_bytecode = True
PORTS = {"4040": "pyroscope", "4318": "otlp", "7070": "parca"}


def check(condition, why):
    if not condition:
        raise ValueError(why)


def one(message, number, default=b""):
    return message.get(number, [default])[-1]


def numbers(values):
    """A repeated number, packed or not."""
    return [n for v in values for n in ([v] if isinstance(v, int) else packed(v))]


def check_pprof(body):
    """As Parca's normalizer and Pyroscope's pprof reader: texts, ids, indices, counts of values."""
    profile = fields(gzip.decompress(body))
    texts = profile[6]
    check(texts and texts[0] == b"", "string_table[0] is not empty")
    types = profile.get(1, [])
    check(types, "no sample type")
    for kind in types:
        kind = fields(kind)
        check(one(kind, 1, 0) < len(texts) and one(kind, 2, 0) < len(texts), "sample type out of range")
    ids = {}
    for number, name in ((3, "mapping"), (4, "location"), (5, "function")):
        found = [one(fields(row), 1, 0) for row in profile.get(number, [])]
        check(found == list(range(1, len(found) + 1)), f"ids of {name}s are not 1..n in order")
        ids[name] = set(found)
    for function in map(fields, profile.get(5, [])):
        check(all(one(function, k, 0) < len(texts) for k in (2, 3, 4)), "function text out of range")
    for location in map(fields, profile.get(4, [])):
        check(one(location, 2, 0) in ids["mapping"] | {0}, "location without its mapping")
        for line in map(fields, location.get(4, [])):
            check(one(line, 1, 0) in ids["function"], "line without its function")
    check(profile.get(2), "no samples")
    for sample in map(fields, profile[2]):
        check(len(numbers(sample.get(2, []))) == len(types), "values are not as many as types")
        check(all(i in ids["location"] for i in numbers(sample.get(1, []))), "sample without its location")


def check_otlp(body):
    """As the validator of OTLP that Parca has, and Pyroscope's ingest."""
    data = fields(body)
    check(data.get(1), "no resource_profiles")
    dictionary = fields(one(data, 2))
    tables = {k: dictionary.get(k, []) for k in range(1, 8)}
    check(all(tables.values()), "a table of the dictionary is empty")
    check(all(tables[k][0] == b"" for k in (1, 2, 3, 5, 6, 7)), "entry 0 of a table is not zero")
    size = {k: len(v) for k, v in tables.items()}
    for link in map(fields, tables[4][1:]):
        check((len(one(link, 1)), len(one(link, 2))) == (16, 8), "ids of a link")
    for location in map(fields, tables[2]):
        check(one(location, 1, 0) < size[1], "mapping out of range")
        check(all(one(fields(line), 1, 0) < size[3] for line in location.get(3, [])), "function out of range")
    for function in map(fields, tables[3]):
        check(all(one(function, k, 0) < size[5] for k in (1, 2, 3)), "text out of range")
    for stack in map(fields, tables[7]):
        check(all(i < size[2] for i in numbers(stack.get(1, []))), "location out of range")
    samples = 0
    for resource in map(fields, data[1]):
        keys = [one(fields(a), 1) for a in fields(one(resource, 1)).get(1, [])]
        check(all(keys) and len(set(keys)) == len(keys), "keys of attributes empty or twice")
        for profile in (fields(p) for scope in resource.get(2, []) for p in fields(scope).get(2, [])):
            check(len(one(profile, 7)) == 16 and any(one(profile, 7)), "profile_id")
            check(one(profile, 5) and one(profile, 6, 0) >= 0, "no period")
            for sample in map(fields, profile.get(2, [])):
                values, times = numbers(sample.get(4, [])), sample.get(5, [])
                check(values or times, "a sample without values")
                check(one(sample, 1, 0) < size[7], "stack out of range")
                samples += 1
    check(samples, "no samples")


def check_parca(body):
    request = json.loads(body)
    for series in request["series"]:
        labels = [label["name"] for label in series["labels"]["labels"]]
        check("__name__" in labels and len(set(labels)) == len(labels), "labels")
        for sample in series["samples"]:
            check_pprof(base64.b64decode(sample["raw_profile"], validate=True))


def check_pyroscope(body, query):
    name = re.fullmatch(r"[\w.-]+(\{(\w+=[^{},]*,?)*\})?", query["name"][0])
    check(name, "name is not app{label=value,...}")
    check(int(query["from"][0]) < int(query["until"][0]), "from is not before until")
    check(query["format"] == ["pprof"], "format")
    check_pprof(body)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        url = urllib.parse.urlparse(self.path)
        kind = self.headers["Content-Type"]
        try:
            if url.path == "/ingest":
                check_pyroscope(body, urllib.parse.parse_qs(url.query, strict_parsing=True))
            elif url.path == "/v1development/profiles":
                check(kind == "application/x-protobuf", "Content-Type")
                check_otlp(body)
            elif url.path == "/profiles/writeraw":
                check(kind == "application/json", "Content-Type")
                check_parca(body)
            else:
                raise ValueError("no such path")
            self.server.taken.append(url.path)
            self.answer(200, "")
        except (ValueError, KeyError, IndexError, EOFError, OSError, AssertionError) as e:
            self.server.refused.append(str(e))
            self.answer(400, str(e))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


@unittest.skipUnless(shutil.which("curl"), "no curl")
class Push(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.taken, self.server.refused = [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        run = Run("search")
        program = run.object(FILE, "/bin/search", b"\xab" * 20, bits=4)
        run.process(100, 1, program, "search")
        run.thread(0, 200, "search")
        run.symbols = [(program, 4096 * (i + 1), 4096, f) for i, f in enumerate(("main", "parse", "a;\"b"))]
        run.sample([(program, 4100), (program, 8200)], 70)
        run.sample([(program, 4100), (program, 8200), (program, 12300)], 30, slice=9)
        run.write(self.dir / "search.monarc")

    def lines(self):
        text = (ROOT / "docs/fleet.md").read_text().split("## Sending recordings")[1]
        found = re.findall(r"```sh\n(.*?)```", text, re.S)
        return {PORTS[re.search(r"localhost:(\d+)", block)[1]]: block for block in found}

    def send(self, line):
        tools = self.dir / "bin"
        tools.mkdir(exist_ok=True)
        if not (tools / "monarc").exists():
            (tools / "monarc").symlink_to(Path(monarc_path()).resolve())
        line = re.sub(r"localhost:\d+", "127.0.0.1:%d" % self.server.server_address[1], line)
        return subprocess.run(["sh", "-e", "-c", line], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "no_proxy": "*"})

    def test_lines_of_the_page(self):
        lines = self.lines()
        self.assertEqual(set(lines), set(PORTS.values()))
        for store, line in lines.items():
            with self.subTest(store=store):
                done = self.send(line)
                self.assertEqual((done.returncode, self.server.refused), (0, []), done.stderr)
        self.assertEqual(len(self.server.taken), 3)

    def test_wrong_profiles_are_refused(self):
        """Bytes changed or left out in what monarc wrote: none of them is taken."""
        lines = {store: line[line.index("printf" if store == "parca" else "curl"):]
                 for store, line in self.lines().items()}
        monarc("export", "--format", "pprof", "-o", "search.pb.gz", "search.monarc", cwd=self.dir)
        monarc("export", "--format", "otlp", "-o", "search.otlp", "search.monarc", cwd=self.dir)
        pprof = gzip.decompress((self.dir / "search.pb.gz").read_bytes())
        otlp = (self.dir / "search.otlp").read_bytes()
        (self.dir / "search.pb.gz").write_bytes(gzip.compress(pprof[:len(pprof) // 2]))
        (self.dir / "search.otlp").write_bytes(otlp[:len(otlp) // 2])
        for store, line in lines.items():
            self.assertNotEqual(self.send(line).returncode, 0, store)
        without_samples = b"".join(self.pprof_without(pprof, 2))
        (self.dir / "search.pb.gz").write_bytes(gzip.compress(without_samples))
        self.assertNotEqual(self.send(lines["pyroscope"]).returncode, 0)
        self.assertIn("no samples", self.server.refused)
        self.assertEqual(self.server.taken, [])

    def pprof_without(self, data, left_out):
        """Fields of a message, but for those of one number."""
        at = 0
        while at < len(data):
            start, tag, shift = at, 0, 0
            while True:
                tag |= (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
            size, shift = 0, 0
            while True:
                size |= (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
            at += size if tag & 7 == 2 else 0
            if tag >> 3 != left_out:
                yield data[start:at]


if __name__ == "__main__":
    main()
