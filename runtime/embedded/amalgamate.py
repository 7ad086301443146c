#!/usr/bin/env python3
"""amalgamate.py: the embedded recorder as two files, for programs that take no folder.

usage: amalgamate.py INCLUDE_FOLDER OUTPUT_C OUTPUT_H SOURCE...

The header is include/monarc/embedded.h; the source is everything else, one behind the other, each
included once, eCos's interface only where MONARC_ECOS is defined. It refuses an #include that is neither ours nor the compiler's own, nor eCos's.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include ([<"])([^">]+)[">]\n', re.M)
COMPILERS = {"stdint.h", "stdbool.h", "stddef.h"}
ECOS = "cyg/infra/cyg_type.h"  # asked for by gmon_out.h, where it is there


def main():
    include, to_c, to_h, *sources = map(pathlib.Path, sys.argv[1:])
    folder = sources[0].parent
    header = (include / "monarc/embedded.h").read_text()
    seen, system = set(), set()

    def expand(path):
        def replace(match):
            name = match[2]
            if match[1] == "<" and name in COMPILERS:
                system.add(name)
                return ""
            if name == ECOS:
                return match[0]
            if name == "monarc/embedded.h" or name in seen:
                return ""
            seen.add(name)
            found = folder / name if match[1] == '"' else include / name
            if not found.is_file():
                sys.exit(f"{path}: what is {name}?")
            return expand(found)
        text = INCLUDE.sub(replace, path.read_text())
        if path.name == "ecos.c":
            text = f"#ifdef MONARC_ECOS\n{text}#endif\n"
        return f"\n/* ---- {path.name} */\n\n" + text

    body = "".join(expand(path) for path in sources)
    head = ("/* The embedded recorder in one file, made of runtime/embedded; monarc_embedded.h belongs to"
            "\n * it, and docs/embedded.md says what to do with them. */\n")
    to_c.write_text(head + '#include "monarc_embedded.h"\n\n' +
                    "".join(f"#include <{name}>\n" for name in sorted(system)) + body)
    to_h.write_text(header)


main()
