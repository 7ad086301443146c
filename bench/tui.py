#!/usr/bin/env python3
"""Time from the start of `monarc tui` to its first screen, for the large benchmark program.

    tui.py [--monarc build/monarc] [--rounds 10] [CACHE]

Takes the program and its profile in CACHE (default build/bench; make_large.py and make_profile.py
make them), runs monarc on a terminal of 80x24 of its own, and prints the least and the median time
until the head of the table is drawn, beside those of `monarc flat` into a file. The budget is 0.2 s.
"""

import argparse
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import termios
import time
from pathlib import Path

HEAD = b"functions"


def first_screen(monarc, folder):
    """Seconds until the first screen."""
    start = time.monotonic()
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm-256color"
        os.execv(monarc, [monarc, "tui", "large", "large.gmon"])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    got = b""
    while HEAD not in got:
        got += os.read(screen, 65536)
    seconds = time.monotonic() - start
    os.write(screen, b"q")
    try:
        while os.read(screen, 65536):
            pass
    except OSError:
        pass  # how a terminal says that nobody writes any more
    os.close(screen)
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit(f"monarc tui ended with {os.waitstatus_to_exitcode(status)}")
    return seconds


def flat(monarc, folder):
    start = time.monotonic()
    subprocess.run([monarc, "flat", "large", "large.gmon"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--monarc", default="build/monarc")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("cache", nargs="?", default="build/bench", type=Path)
    o = parser.parse_args()
    monarc = str(Path(o.monarc).resolve())
    for name, work in (("tui, first screen", first_screen), ("flat", flat)):
        times = [work(monarc, o.cache) for _ in range(o.rounds)]
        print(f"{name:18} least {min(times):.3f} s, median {statistics.median(times):.3f} s")


main()
