#!/usr/bin/env python3
"""llvm_profiles.py [--files N] [--functions N] [--monarc PATH] [--llvm V] [FOLDER]: CPU time of monarc against
llvm-profdata merge and llvm-cov export, for many raw profiles of one program.

A program of so many functions of seven lines is compiled by clang and run once; the other profiles are those that it left
with the counters of each function multiplied, a third of them by 0, in 500 ways. Both must come to the sum that is known
from writing them. Peak memory and CPU time are those that the kernel counted for each command. llvm-profdata reads its list
of files from a file, as no command line holds 100,000 long names; monarc is given the folder. The row "the files alone" is a
program that opens, reads and closes each of them and does nothing else: what no reader can do without.
"""

import argparse
import array
import os
import random
import re
import resource
import struct
import subprocess
import tempfile
from pathlib import Path


FILES_ALONE = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static char room[1 << 26];
int main(int argc, char **argv)
{
    char name[64];
    for (int i = 0; i < %d; i++) {
        snprintf(name, sizeof name, "%%d.profraw", i);
        int fd = open(name, O_RDONLY);
        if (fd < 0 || read(fd, room, sizeof room) <= 0)
            return 1;
        close(fd);
    }
    return 0;
}
"""


def make_program(folder, functions, llvm):
    """One source of 500 functions each; returns the number of lines."""
    names, lines = [], 0
    for first in range(0, functions, 500):
        code = "".join(f"int f{i}(int a)\n{{\n    if (a % {i % 7 + 2})\n        return a + {i};\n    for (int k = 0; k < 3; k++)\n"
                       f"        a += k;\n    return a;\n}}\n" for i in range(first, min(first + 500, functions)))
        path = folder / f"u{first}.c"
        path.write_text(code)
        lines += code.count("\n")
        names.append(path)
    calls = "".join(f"    n += f{i}(n);\n" for i in range(0, functions, 2))
    prototypes = "".join(f"int f{i}(int);\n" for i in range(0, functions, 2))
    (folder / "main.c").write_text(f"{prototypes}int main(void)\n{{\n    unsigned n = 1;\n{calls}    return n == 7;\n}}\n")
    flags = ["-w", "-fprofile-instr-generate", "-fcoverage-mapping"]
    objects = []
    for path in [*names, folder / "main.c"]:
        objects.append(path.with_suffix(".o"))
        subprocess.run([f"clang-{llvm}", *flags, "-c", path, "-o", objects[-1]], check=True)
    subprocess.run([f"clang-{llvm}", *flags, *objects, "-o", folder / "program"], check=True)
    return lines


def vary(first, folder, files):
    """Profiles 1 to files - 1 with other counters; the sum of all counters of all files."""
    bytes_of = bytearray(first.read_bytes())
    version = struct.unpack_from("<Q", bytes_of, 8)[0]
    assert version == 10, "the layout is that of LLVM 19 to 22"
    ids, records, before, counters = struct.unpack_from("<4Q", bytes_of, 16)
    at = 128 + ids + records * 64 + before
    own = struct.unpack_from(f"<{counters}Q", bytes_of, at)
    total, numbers, variants = sum(own), random.Random(24), []
    for _ in range(min(files, 500)):
        counts, next_counter = array.array("Q"), 0
        for record in range(records):  # what a function counted fits together: all of it is multiplied
            number = struct.unpack_from("<I", bytes_of, 128 + ids + 64 * record + 48)[0]
            times = numbers.randrange(1 << numbers.randrange(1, 20)) if numbers.random() < 2 / 3 else 0
            counts.extend(times * count for count in own[next_counter:next_counter + number])
            next_counter += number
        variants.append((counts.tobytes(), sum(counts)))
    for i in range(1, files):
        data, added = variants[numbers.randrange(len(variants))]
        bytes_of[at:at + 8 * counters] = data
        total += added
        (folder / f"{i}.profraw").write_bytes(bytes_of)
    return total


def measure(command, **more):
    """(CPU seconds, peak MB) of a child."""
    pid = os.posix_spawnp(command[0], [str(c) for c in command], os.environ, **more)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{command[0]}: status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--functions", type=int, default=2000)
    parser.add_argument("--monarc", default=str(Path(__file__).resolve().parents[1] / "build/monarc"))
    parser.add_argument("--llvm", default="22")
    parser.add_argument("folder", nargs="?")
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)  # a quarter of it is room for the names
    resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, hard))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        lines = make_program(folder, arguments.functions, arguments.llvm)
        runs = folder / "runs"
        first = runs / "0.profraw"
        subprocess.run([folder / "program"], env={"LLVM_PROFILE_FILE": str(first)}, check=True)
        total = vary(first, runs, arguments.files)
        (folder / "list").write_text("".join(f"{runs}/{i}.profraw\n" for i in range(arguments.files)))
        print(f"{arguments.files} files of {first.stat().st_size / 1024:.1f} KB, {arguments.functions} functions, {lines} lines")
        quiet = {"file_actions": [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]}
        profdata = f"llvm-profdata-{arguments.llvm}"
        (folder / "alone.c").write_text(FILES_ALONE % arguments.files)
        subprocess.run([f"clang-{arguments.llvm}", "-O2", folder / "alone.c", "-o", folder / "alone"], check=True)
        rows = {"the files alone": measure(["env", "-C", runs, folder / "alone"]),
                "llvm-profdata merge": measure([profdata, "merge", "-o", folder / "all.profdata", "-f", folder / "list"]),
                "llvm-cov export": measure([f"llvm-cov-{arguments.llvm}", "export", "-format=lcov", "-instr-profile",
                                            folder / "all.profdata", folder / "program"], **quiet),
                "monarc cover --lcov": measure([arguments.monarc, "cover", "--quiet", "--lcov", folder / "ours.info",
                                                folder / "program", folder / "runs"], **quiet),
                "monarc merge": measure([arguments.monarc, "merge", "-o", folder / "ours.profdata", "--to", "profdata", runs])}
        for what, (seconds, peak) in rows.items():
            print(f"{what:22} {seconds:8.2f} s CPU  {peak:6} MB")
        for made in "all.profdata", "ours.profdata":
            shown = subprocess.run([profdata, "show", folder / made], capture_output=True, text=True, check=True).stdout
            found = int(re.search(r"Total count: (\d+)", shown)[1])
            print(f"{made}: total count {found}, {'right' if found == total else f'wrong: {total}'}")
        peer = rows["llvm-profdata merge"][0] + rows["llvm-cov export"][0]
        print(f"monarc cover takes 1/{peer / rows['monarc cover --lcov'][0]:.1f} of llvm-profdata and llvm-cov")


if __name__ == "__main__":
    main()
