"""Paths out of files that `monarc export` writes, read by hand: [(path, outermost first; weight)]."""

import collections
import gzip
import json
import xml.etree.ElementTree as xml

from protobuf_file import fields, packed

SVG = "{http://www.w3.org/2000/svg}"


def cpuprofile_paths(page):
    """[(path, nanoseconds)]: what a sample lasts is the next one's delta; the last one is idle. All
    last equally long, for readers that count them."""
    nodes = {node["id"]: node for node in page["nodes"]}
    above = {child: node["id"] for node in page["nodes"] for child in node["children"]}
    assert len(nodes) == len(page["nodes"]) and set(nodes) - set(above) == {1}

    def path(node):
        names = []
        while node != 1:
            names.insert(0, nodes[node]["callFrame"]["functionName"])
            node = above[node]
        return names

    *samples, end = page["samples"]
    first, *deltas = page["timeDeltas"]
    assert path(end) == ["(idle)"]
    assert len({first, *deltas}) == 1, {first, *deltas}
    found = []
    assert len(samples) == len(deltas)
    for node, delta in zip(samples, deltas):
        if not found or found[-1][0] != path(node):
            found.append((path(node), 0))
        found[-1] = (path(node), found[-1][1] + round(1000 * delta))
    return found


class Otlp:
    """Self times by path out of OpenTelemetry's profiles."""

    def __init__(self, data):
        top = fields(data)
        dictionary = fields(top[2][0])
        texts = [t.decode() for t in dictionary[5]]
        assert texts[0] == ""
        names = [texts[fields(f)[1][0]] if f else None for f in dictionary[3]]
        # Lines of a location are as pprof's: what was inlined first.
        locations = [[names[fields(line)[1][0]] for line in fields(l)[3]][::-1] if l else None for l in dictionary[2]]
        stacks = [[name for i in packed(fields(s)[1][0])[::-1] for name in locations[i]] if s else []
                  for s in dictionary[7]]
        assert dictionary[1][0] == dictionary[6][0] == b"" and not stacks[0]
        scope = fields(fields(top[1][0])[2][0])
        profile = fields(scope[2][0])
        self.kind = tuple(texts[fields(profile[1][0])[k][0]] for k in (1, 2))
        self.id = profile[7][0]
        samples = [fields(s) for s in profile[2]]
        self.paths = [(stacks[s[1][0]], packed(s[4][0])[0]) for s in samples]
        self.estimates = sum(bool(s[2]) for s in samples)


def folded_paths(text):
    return [(stack.split(";"), int(weight)) for stack, weight in (line.rsplit(" ", 1) for line in text.splitlines())]


def speedscope_paths(page):
    """Of all its profiles; stretches without a stack are left out."""
    names = [f["name"] for f in page["shared"]["frames"]]
    return [([names[i] for i in stack], weight) for profile in page["profiles"]
            for stack, weight in zip(profile["samples"], profile["weights"]) if stack]


def firefox_stacks(thread):
    """The path of each stack of a thread."""
    texts, stacks = thread["stringArray"], thread["stackTable"]
    functions = [texts[i] for i in thread["funcTable"]["name"]]
    paths = []
    for i, (prefix, frame) in enumerate(zip(stacks["prefix"], stacks["frame"])):
        assert prefix is None or prefix < i
        paths.append(([] if prefix is None else paths[prefix]) + [functions[thread["frameTable"]["func"][frame]]])
    return paths


def firefox_paths(page):
    """Of all threads, in milliseconds."""
    return [(paths[stack], weight) for thread in page["threads"] for paths in [firefox_stacks(thread)]
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]) if stack is not None]


def pprof_files(data):
    """{function: (file, first line)}, the last of those with one name."""
    top = fields(gzip.decompress(data))
    texts = [t.decode() for t in top[6]]
    return {texts[f[2][0]]: (texts[f[4][0]] if f[4] else "", f[5][0] if f[5] else 0) for f in map(fields, top[5])}


def pprof_lines(data):
    """Stacks with their first value: pairs of function and line, innermost first."""
    top = fields(gzip.decompress(data))
    texts = [t.decode() for t in top[6]]
    names = {fields(f)[1][0]: texts[fields(f)[2][0]] for f in top[5]}
    places = {}
    for location in map(fields, top[4]):
        line = fields(location[4][0])
        places[location[1][0]] = names[line[1][0]], line[2][0] if line[2] else 0
    return [([places[i] for i in packed(s[1][0])], packed(s[2][0])[0]) for s in map(fields, top[2])]


def otlp_lines(data):
    top = fields(data)
    dictionary = fields(top[2][0])
    texts = [t.decode() for t in dictionary[5]]
    names = [texts[fields(f)[1][0]] if f else None for f in dictionary[3]]
    lines = [fields(fields(l)[3][0]) if l else None for l in dictionary[2]]
    stacks = [[(names[lines[i][1][0]], lines[i][2][0] if lines[i][2] else 0) for i in packed(fields(s)[1][0])] if s else []
              for s in dictionary[7]]
    profile = fields(fields(fields(top[1][0])[2][0])[2][0])
    return [(stacks[s[1][0]], packed(s[4][0])[0]) for s in map(fields, profile[2])]


def firefox_lines(data):
    """A frame without a line is where its function begins."""
    stacks = []
    for thread in json.loads(data)["threads"]:
        texts, frame, func, table = (thread[k] for k in ("stringArray", "frameTable", "funcTable", "stackTable"))
        paths = []
        for prefix, number in zip(table["prefix"], table["frame"]):
            of, line = frame["func"][number], frame["line"][number]
            place = texts[func["name"][of]], line or func["lineNumber"][of] or 0
            paths.append([place] + ([] if prefix is None else paths[prefix]))
        samples = thread["samples"]
        stacks += [(paths[s], round(w * 1e6)) for s, w in zip(samples["stack"], samples["weight"]) if s is not None]
    return stacks


def callgrind_own(text):
    """{(function, line): what it has itself}, of names in which numbers stand for what was written before."""
    names, own, function, is_call = {}, collections.Counter(), None, False
    for line in text.split("\nevents:")[1].split("\n\ntotals:")[0].splitlines()[1:]:
        key, _, value = line.partition("=")
        if key in ("fn", "cfn"):
            number, _, name = value.partition(" ")
            names[number] = name.removesuffix(" [inlined]") or names.get(number)
            function = names[number] if key == "fn" else function
        elif key == "calls":
            is_call = True
        elif line[:1].isdigit():
            own[function, int(line.split()[0])] += 0 if is_call else int(line.split()[1])
            is_call = False
    return own


LINES = {"pprof": pprof_lines, "otlp": otlp_lines, "firefox": firefox_lines}


class Frame:
    """A box of a picture of `monarc flame`."""

    def __init__(self, g):
        box = g.find(SVG + "rect")
        self.tip = g.find(SVG + "title").text
        self.name = self.tip.split("\n")[0]
        self.label = g.find(SVG + "text").text or ""
        self.total, self.self = float(g.get("data-total")), float(g.get("data-self"))
        self.x, self.y, self.width = (float(box.get(k)) for k in ("x", "y", "width"))
        self.fill = box.get("fill")
        self.is_hatched = len(g.findall(SVG + "rect")) == 2
        self.is_inlined = "i" in g.get("class").split()


def frames(text):
    return [Frame(g) for g in xml.fromstring(text).iter(SVG + "g")]
