#!/usr/bin/env python3
"""run.py: gives the same command lines to GNU gprof and to monarc and compares what they do.

usage: run.py [--monarc build/monarc] [--gprof gprof] [--work build/oracle] [-k FILTER] [-v]
              [--stderr] [--list] [--cold] [--failures N] [-j JOBS]

Standard output and exit status must be equal byte for byte; standard error is reported, and counts
only with --stderr. MONARC_PART=quick asks some cases of programs.QUICK, =slow the others
(tests/parts.py). Both programs are started with argv[0] = "gprof", in the same folder, under
LC_ALL=C. The exit status is 0 if all is equal, 1 if not, 2 if it could not run.
It refuses to judge inputs where GNU gprof's own behaviour is undefined (scenes.py leaves them out),
keeps nothing outside the work folder, and stops a command that hangs.
"""

import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True  # the source tree stays as it is

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import cases  # noqa: E402
import deviations  # noqa: E402
import parts  # noqa: E402
import programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 600  # however busy the machine is
SUM_SPARE = slice(8, 20)  # bytes of gmon.sum that GNU gprof leaves uninitialised

Result = collections.namedtuple("Result", "status out err files")


def written_files(folder):
    """What a command left in its folder; inputs there are links."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.is_symlink():
            data = bytearray(path.read_bytes())
            if path.name == "gmon.sum":
                data[SUM_SPARE] = bytes(12)
            found[path.name] = bytes(data)
    return found


def execute(program, case, data, brief=False, is_told=False):
    """Runs one case with one program."""
    words = case.told if is_told and case.told else case.argv
    where = scratch = data / case.program
    if case.writes:
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="oracle-"))
        named = " ".join(["image", *case.argv])
        for path in where.iterdir():
            if path.name in named:
                (scratch / path.name).symlink_to(path.resolve())
    environment = {"LC_ALL": "C", "PATH": os.environ["PATH"], **case.env}
    argv = ["gprof", *(["-b"] if brief else []), *words]
    stdin = open(where / case.stdin, "rb") if case.stdin else subprocess.DEVNULL
    try:
        done = subprocess.run(argv, executable=program, cwd=scratch, env=environment, stdin=stdin,
                              capture_output=True, timeout=TIMEOUT_SECONDS, check=False,
                              close_fds=False)
        return Result(done.returncode, done.stdout, done.stderr,
                      written_files(scratch) if case.writes else {})
    except subprocess.TimeoutExpired:
        return Result("timeout", b"", b"", {})
    except OSError as error:
        return Result(f"can't run: {error}", b"", b"", {})
    finally:
        if case.stdin:
            stdin.close()
        if case.writes:
            shutil.rmtree(scratch)


class Cache:
    """What GNU gprof answered, kept in the work folder by case and by the inputs' fingerprint."""

    def __init__(self, work, gprof, cold):
        self.path = work / "gprof-answers.pickle"
        self.salt = (gprof, os.stat(gprof).st_mtime_ns,
                     (work / "manifest.json").stat().st_mtime_ns)
        self.answers = {}
        if self.path.exists() and not cold:
            salt, answers = pickle.loads(self.path.read_bytes())
            if salt == self.salt:
                self.answers = answers
        self.fresh = False

    def get(self, case, make):
        key = hashlib.sha256(case.id.encode()).digest()
        if key not in self.answers:
            self.answers[key] = zlib.compress(pickle.dumps(tuple(make())), 1)
            self.fresh = True
        return Result(*pickle.loads(zlib.decompress(self.answers[key])))

    def save(self):
        if self.fresh:
            beside = self.path.with_suffix(".new")
            beside.write_bytes(pickle.dumps((self.salt, self.answers)))
            beside.rename(self.path)


def diff(expected, actual, limit):
    """The first lines of a unified diff."""
    sides = [text.decode("utf-8", "backslashreplace").splitlines() for text in (expected, actual)]
    lines = list(difflib.unified_diff(*sides, "gprof", "monarc", lineterm="", n=1))
    more = len(lines) - limit
    return [repr(line)[1:-1] for line in lines[:limit]] + ([f"... {more} more"] if more > 0 else [])


def missing_line(brief, full):
    """The first line of the -b output that the full output lacks; table titles may differ."""
    rest = iter(full.splitlines())
    for line in brief.splitlines():
        if b"all graph" in line or b"call graph" in line or not line.strip():
            continue
        if line not in rest:  # searches on from where the last line was found
            return line
    return None


def compare(case, expected, actual, limit):
    """A list of what differs; empty if the case passes."""
    found = []
    if expected.status != actual.status:
        found.append(f"status: gprof {expected.status}, monarc {actual.status}")
    if case.check == "bytes" and expected.out != actual.out:
        found += diff(expected.out, actual.out, limit) or ["they differ in line ends alone"]
    if case.check == "blurbs":
        line = missing_line(expected.out, actual.out)
        if line is not None:
            found.append(f"this line of the -b output is missing or out of order: {line!r}")
    for name in sorted(set(expected.files) | set(actual.files)):
        if expected.files.get(name) != actual.files.get(name):
            found.append(f"{name} differs")
            if name in expected.files and name in actual.files and name != "gmon.sum":
                found += diff(expected.files[name], actual.files[name], limit)
    return found


def judge(case, deviation, expected, actual, limit):
    found = compare(case, expected, actual, limit)
    if not deviation:
        return found
    if not found:
        return [f"deviation {deviation.id} is stale: both programs agree"]
    wrong = deviation.check(actual.out, actual.status)
    return [f"deviation {deviation.id}: {wrong}"] if wrong else []


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--monarc", default=str(ROOT / "build" / "monarc"))
    parser.add_argument("--gprof", default="gprof")
    parser.add_argument("--work", default=str(ROOT / "build" / "oracle"))
    parser.add_argument("-k", dest="filter", default="", help="cases whose id contains this")
    parser.add_argument("-v", dest="verbose", action="store_true", help="longer diffs, stderr")
    parser.add_argument("--stderr", action="store_true", help="other messages are failures")
    parser.add_argument("--list", action="store_true", help="print the ids and stop")
    parser.add_argument("--cold", action="store_true", help="forget what gprof answered before")
    parser.add_argument("--failures", type=int, default=20, help="how many to show (20)")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    return parser.parse_args()


def report(group_counts, stderr_counts, skipped, seconds):
    width = max(map(len, group_counts), default=0)
    for group, (passed, failed) in group_counts.items():
        other = stderr_counts[group]
        note = f"  ({other} with another message on stderr)" if other else ""
        print(f"{group:{width}}  {passed:5} passed  {failed:5} failed{note}")
    for name, reason in skipped.items():
        print(f"{name:{width}}  skipped: {reason}")
    passed, failed = map(sum, zip(*group_counts.values())) if group_counts else (0, 0)
    print(f"{seconds:.1f} s")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return failed


def main():
    args = parse_arguments()
    gprof, monarc = shutil.which(args.gprof), shutil.which(args.monarc)
    if not gprof or not monarc:
        print(f"run.py: no {args.monarc if gprof else args.gprof} here", file=sys.stderr)
        return 2
    gprof, monarc = os.path.abspath(gprof), os.path.abspath(monarc)
    started = time.monotonic()
    work = pathlib.Path(args.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    manifest = programs.build_all(work, gprof, lambda name: parts.PART != "quick" or name in programs.QUICK)
    every = [*cases.all_cases(manifest, work),
             *(cases.Case(**fields) for fields in deviations.EXTRA)]
    if os.path.samefile(gprof, monarc):  # GNU gprof does not find the calls it was told of
        every = [case for case in every if not case.told]
    chosen = list({case.id: case for case in every
                   if args.filter in case.id and parts.is_wanted(case.is_slow)
                   and "skip" not in manifest.get(case.program, {})}.values())
    if args.list:
        print(*(case.id for case in chosen), sep="\n")
        return 0
    cache = Cache(work, gprof, args.cold)
    data = work / "data"
    itself = os.path.samefile(gprof, monarc)  # then the harness is under test
    rows = {} if itself else {row.case: row for row in deviations.DEVIATIONS}
    if not itself:  # a build meanwhile must not disturb the run
        monarc = shutil.copy(monarc, work / "monarc-under-test")

    def both(case):
        brief = case.check == "blurbs"
        return (cache.get(case, lambda: execute(gprof, case, data, brief, is_told=True)),
                execute(monarc, case, data))

    counts, stderr_counts, shown = {}, collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, (expected, actual) in zip(chosen, pool.map(both, chosen)):
            found = judge(case, rows.get(case.id), expected, actual, 40 if args.verbose else 8)
            if expected.err != actual.err and case.check == "bytes":
                stderr_counts[case.group] += 1
                messages = [b"stderr of gprof:  " + expected.err[:300],
                            b"stderr of monarc: " + actual.err[:300]]
                messages = [m.decode("utf-8", "backslashreplace").rstrip() for m in messages]
                if args.stderr or args.verbose and found:
                    found += messages
                elif args.verbose:
                    print(f"note {case.id}", *messages, sep="\n    ")
            group = counts.setdefault(case.group, [0, 0])
            group[bool(found)] += 1
            shown += bool(found)
            if found and shown <= args.failures:
                print(f"FAIL {case.id}", *found, sep="\n    ")
    cache.save()
    skipped = {name: built["skip"] for name, built in manifest.items() if "skip" in built}
    failed = report(counts, stderr_counts, skipped, time.monotonic() - started)
    unknown = [] if args.filter or parts.PART == "quick" else [row.id for row in rows.values()
                                      if row.case not in {case.id for case in every}]
    for name in unknown:
        print(f"deviation {name} names no case")
    return 1 if failed or unknown or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
