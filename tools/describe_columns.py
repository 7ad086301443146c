#!/usr/bin/env python3
"""describe_columns.py MONARC: writes what columns mean into the schemas of docs/schema.

The meanings stand in the tables of src/profile/report and src/verdict; `monarc --generate columns`
prints them. A test fails while a schema says something else.
"""

import json
import subprocess
import sys
from pathlib import Path


def row_properties(node, rows):
    """The properties of a row in every array called `rows`, at any depth."""
    if isinstance(node, list):
        for item in node:
            yield from row_properties(item, rows)
    if not isinstance(node, dict):
        return
    for name, value in node.items():
        if name == rows and isinstance(value, dict) and "properties" in value.get("items", {}):
            yield value["items"]["properties"]
        yield from row_properties(value, rows)


def main():
    schemas = {}
    listing = subprocess.run([sys.argv[1], "--generate", "columns"], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.splitlines():
        _, schema, rows, name, _, meaning = line.split("\t")
        path = Path(__file__).parents[1] / f"docs/schema/{schema}.schema.json"
        schemas.setdefault(path, json.loads(path.read_text()))
        for properties in row_properties(schemas[path], rows):
            if name in properties:
                properties[name]["description"] = meaning
    for path, schema in schemas.items():
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
