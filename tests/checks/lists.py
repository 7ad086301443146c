#!/usr/bin/env python3
"""lists.py: docs/formats/recording.md has the records of src/profile/model/recording_lists.c, in their order, with their fields."""

import re

import tap

TABLES, PAGE = "src/profile/model/recording_lists.c", "docs/formats/recording.md"
# What a table calls a field, and the page's letter of it; what neither has is a v.
LETTERS = {"STEP": "z", "STEPS_TO": "z", "RECORDING_AS_SIGNED": "z", "RECORDING_AS_STEP": "z", "RECORDING_AS_NEAR": "z",
           "MAY_REFER_TO": "+1", "RECORDING_AS_INDEX": "+1", "TEXT": "text", "MAYBE_TEXT": "text", "RECORDING_AS_CHARACTERS": "text"}


def tables(text):
    """Of each record its fields' letters, or None where it is written by hand."""
    fields = {name: [next((LETTERS[word] for word in re.findall(r"\w+", row) if word in LETTERS), "v")
                     for row in re.split(r"\{FIELD\(\w+, \w+\)", body)[1:]]
              for name, body in re.findall(r"static const struct recording_field (\w+)\[\] = \{(.*?)\};", text, re.DOTALL)}
    records = {}
    for how, inside in re.findall(r"^    (RECORD|ALWAYS|BY_HAND)\((.*?)\)", text, re.MULTILINE):
        words = re.split(r",\s*", inside)
        records[words[0 if how == "BY_HAND" else 1]] = (
            None if how == "BY_HAND" else ["v"] * (words[0] == "SPARSE") + fields[words[3]])
    return records


def letters(payload):
    """Of each part that begins with one: `v pid, text name (as shown)`."""
    found = [re.match(r"\s*(v|z|text|[\w ]+(\+1))(?!\w)", part) for part in re.split(r"[,;\n]", re.sub(r"\([^)]*\)", "", payload))]
    return [m[2] or m[1] for m in found if m]


def lists(top):
    return list(findings(top))


def findings(top):
    records, page = tables((top / TABLES).read_text()), (top / PAGE).read_text()
    rows = dict(re.findall(r"^\| \d+ \| (\w+) \| (.*) \|$", page, re.MULTILINE))
    rows |= {name: body for name, body in re.findall(r"^## (\w+)\n.*?```\n(.*?)```", page, re.MULTILINE | re.DOTALL)}
    order = re.search(r"STRINGS first, then in monarc's order:\s(.*?), END\.", page, re.DOTALL)
    if re.split(r",\s+", order[1]) != list(records):
        yield f"{PAGE} has another order of records than {TABLES}: {', '.join(records)}"
    for name, wanted in records.items():
        payload = rows.get(name, "")
        found = letters((re.search(r"\{(.*)\}", payload) or [0, payload])[1])
        if name not in rows:
            yield f"{PAGE} has no record {name}"
        elif wanted and found != wanted:
            yield f"{name} is {' '.join(wanted)} in {TABLES}, and {' '.join(found)} in {PAGE}"


SMALL = {TABLES: """static const struct recording_field ARCS[] = {
    {FIELD(recording_arc, from_object), MAY_REFER_TO(OBJECTS)}, {FIELD(recording_arc, from), STEP},
    {FIELD(recording_arc, count), NUMBER},
};
const struct recording_record recording_records[] = {
    RECORD(ITEMS, ARCS, ARCS, ARCS),
    BY_HAND(NODES, NODES, true),
};
""", PAGE: """STRINGS first, then in monarc's order:
ARCS, NODES, END.

| 13 | ARCS | list of {object+1, z from, as a difference (to 0, say); v count} |
| 6 | NODES | list, below |
"""}
BROKEN = (
    ({PAGE: SMALL[PAGE].replace("; v count", "")}, ["ARCS is +1 z v in"]),
    ({PAGE: SMALL[PAGE].replace("z from", "v from")}, ["and +1 v v in"]),
    ({PAGE: SMALL[PAGE].replace("ARCS, NODES", "NODES, ARCS")}, ["another order"]),
    ({PAGE: SMALL[PAGE].replace("| 6 | NODES", "| 6 | NODE")}, ["no record NODES"]),
)


def main():
    t = tap.Tap()
    t.clean("nothing to be found in a tree that is right", tap.found_in(lists, SMALL))
    for changed, expected in BROKEN:
        t.found(expected[0], tap.found_in(lists, SMALL | changed), expected)
    t.clean("the page of recordings has the records and fields of the tables", lists(tap.ROOT))
    t.end()


main()
