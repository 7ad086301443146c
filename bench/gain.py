#!/usr/bin/env python3
"""What profiles gain: each program is built plain, with the compiler's own -fprofile-use, and with the
profiles that `monarc optimize` writes; all builds run in turn.

    python3 bench/gain.py [--compiler gcc|clang|gcc-16|clang-22|rustc...] [--only NAME...] [--variants NAME...] [--rounds N]
                          [--instructions] [CACHE]

    name      source (Debian's, by apt-get source)   measured on                run on
    sqlite    sqlite3, test/speedtest1.c             speedtest1 --size 5        another size
    lua       lua5.4                                 bench/gain/work.lua        more rounds
    bzip2     bzip2                                  packing and unpacking      another text
    zstd      libzstd, bench/gain/pack.c             three levels, unpacking    another text
    pugixml   pugixml, bench/gain/parse.cpp          parse, walk, ask, print    another document
    records   bench/gain/records.rs, by rustc        parsing, counting, sorting another text

    plain     -O2 -g
    use       -fprofile-generate, measured, -fprofile-use
    samples   monarc run of the plain build, monarc optimize
    counters  monarc optimize of gcc's counters (--coverage), or clang's (-fprofile-instr-generate)
    edges     monarc optimize of the edges that llvm-bolt --instrument counts in the plain build: what
              samples without any error would say
    gcda      monarc optimize --for gcda of counters of a --coverage build at -O2, -fprofile-use; of gcc
    create_gcov  perf record -b of the plain build, create_gcov; of gcc, and only where the CPU notes
              branches for perf: elsewhere the row says that it does not
    bolt      llvm-bolt of `samples`, with samples of that build

A run's time is the CPU time of the process, in user mode. Medians; the interval is that of 95 % of
2,000 resamplings of the rounds. On a busy machine times vary, so --instructions counts with valgrind
what no load changes: instructions, and mispredictions of its model of a CPU. Both leave out the layout
of code, which times have in them. GAIN_PART=4 in the environment measures and runs a quarter of the work.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MONARC = os.environ.get("MONARC") or str(ROOT / "build/monarc")
SOURCES = ("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
           "http://deb.debian.org/debian bookworm main\n")
PERF_BRANCHES = ("perf", "record", "-b", "-c", "100003", "-e", "cycles:u")
BOLT = shutil.which("llvm-bolt-22") or shutil.which("llvm-bolt")


def is_gcc(compiler):
    return compiler.startswith("gcc")


def is_rustc(compiler):
    return compiler.startswith("rustc")


def tool_of(name, compiler):
    """llvm-profdata-22 goes with clang-22, and with a rustc that says so."""
    version = compiler.partition("-")[2]
    if is_rustc(compiler):
        version = call(compiler, "-vV", out=subprocess.PIPE).decode().partition("LLVM version: ")[2].partition(".")[0]
    return f"{name}-{version}" if version else name


class CompilerBroke(Exception):
    """An error of the compiler's own, which some profiles make it run into."""


def call(*words, cwd=None, env=None, out=subprocess.DEVNULL, check=True):
    done = subprocess.run(list(map(str, words)), cwd=cwd, env={**os.environ, **(env or {})}, stdout=out,
                          stderr=subprocess.PIPE)
    if check and b"internal compiler error" in done.stderr:
        raise CompilerBroke(next(line for line in done.stderr.decode(errors="replace").splitlines()
                                 if "internal compiler error" in line))
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout


# ---- sources and inputs


def fetch(cache, package):
    """The upstream source of a Debian package, unpacked once."""
    target = cache / "src" / package
    if target.exists():
        return target
    lists = cache / "apt"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    (cache / "apt.list").write_text(SOURCES)
    apt = ["apt-get", "-o", f"Dir::Etc::sourcelist={cache}/apt.list", "-o", "Dir::Etc::sourceparts=-", "-o",
           f"Dir::State::lists={lists}"]
    if not list(lists.glob("*Sources*")):
        call(*apt, "update")
    call(*apt, "source", "--download-only", package, cwd=cache)
    tarballs = [t for t in cache.glob(f"{package}_*.orig.tar.*") if t.suffix != ".asc"]
    target.mkdir(parents=True)
    call("tar", "xf", tarballs[0], "-C", target, "--strip-components=1")
    return target


def make_text(path, seed, size):
    """Words of a skewed distribution, with numbers in between: packs about as prose does."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 9))) for _ in range(3000)]
    with open(path, "w") as f:
        while f.tell() < size:
            line = " ".join(words[int(len(words) * rng.random() ** 3)] for _ in range(12))
            f.write(f"{line} {rng.randint(0, 99999)}.\n")


def make_document(path, seed, items):
    rng = random.Random(seed)
    with open(path, "w") as f:
        f.write("<items>\n")
        for i in range(items):
            kind = "rare" if rng.random() < 0.1 else "common"
            text = " ".join("abcdefgh"[rng.randint(0, 5):] for _ in range(rng.randint(1, 9)))
            f.write(f'<item number="{i}" kind="{kind}"><name>{text}</name><p>a &amp; b &#65;</p><empty/>'
                    "</item>\n")
        f.write("</items>\n")


def inputs(cache):
    """Two of each kind: what is measured must not be what is compared."""
    for name, seed in ("train", 1), ("bench", 2):
        text, document = cache / f"{name}.txt", cache / f"{name}.xml"
        if not text.exists():
            make_text(text, seed, 3 << 20)
        if not document.exists():
            make_document(document, seed, 20000)
    if not (cache / "short.txt").exists():  # for valgrind, under which programs take fifty times as long
        make_text(cache / "short.txt", 3, 200000)


# ---- programs: sources, options, and the command lines of measuring and comparing


def part(rounds):
    """GAIN_PART=4: a quarter of the work, where the machine is busy. It means fewer samples, too."""
    return max(1, round(rounds / float(os.environ.get("GAIN_PART", "1"))))


def sqlite(cache):
    source = fetch(cache, "sqlite3")
    if not (source / "sqlite3.c").exists():
        call("./configure", "--disable-shared", cwd=source)
        call("make", "sqlite3.c", cwd=source)
    return dict(sources=[source / "sqlite3.c", source / "test/speedtest1.c"],
                flags=[f"-I{source}", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
                libs=["-lm"], train=["--size", part(40), "--memdb"], bench=["--size", part(30), "--memdb"],
                short=["--size", "1", "--memdb"])


def lua(cache):
    source = fetch(cache, "lua5.4")
    files = [f for f in sorted((source / "src").glob("*.c")) if f.name != "luac.c"]
    script = HERE / "gain/work.lua"
    return dict(sources=files, flags=["-DLUA_USE_POSIX"], libs=["-lm"], train=[script, part(60)], bench=[script, part(50)],
                short=[script, 1])


def bzip2(cache):
    source = fetch(cache, "bzip2")
    names = "blocksort huffman crctable randtable compress decompress bzlib bzip2".split()
    line = "{0} -kc %s >packed.bz2 && {0} -dc packed.bz2"
    thrice = f"for i in {' 1' * part(3)}; do {line}; done"
    return dict(sources=[source / f"{n}.c" for n in names], flags=["-D_FILE_OFFSET_BITS=64"], libs=[],
                train=thrice % (cache / "train.txt"), bench=thrice % (cache / "bench.txt"),
                short=line % (cache / "short.txt"))


def zstd(cache):
    source = fetch(cache, "libzstd")
    folders = (source / "lib" / name for name in ("common", "compress", "decompress"))
    files = [f for folder in folders for f in sorted(folder.glob("*.c"))]
    return dict(sources=[*files, HERE / "gain/pack.c"], libs=[],
                flags=[f"-I{source}/lib", "-DZSTD_DISABLE_ASM=1"],
                train=[cache / "train.txt", part(6)], bench=[cache / "bench.txt", part(6)], short=[cache / "train.txt", 1])


def pugixml(cache):
    source = fetch(cache, "pugixml")
    return dict(sources=[source / "src/pugixml.cpp", HERE / "gain/parse.cpp"], flags=[f"-I{source}/src"],
                libs=["-lstdc++", "-lm"], train=[cache / "train.xml", part(60)], bench=[cache / "bench.xml", part(60)],
                short=[cache / "train.xml", 1])


def records(cache):
    return dict(sources=[HERE / "gain/records.rs"], flags=[], libs=[], train=[cache / "train.txt", part(60)],
                bench=[cache / "bench.txt", part(50)], short=[cache / "short.txt", 4])


PROGRAMS = {"sqlite": sqlite, "lua": lua, "bzip2": bzip2, "zstd": zstd, "pugixml": pugixml, "records": records}
OF_RUSTC = ("records",)


# ---- builds


class Build:
    """One program by one compiler: every variant in a folder of its own."""

    def __init__(self, cache, compiler, name):
        self.cache, self.compiler, self.name = cache, compiler, name
        self.what = PROGRAMS[name](cache)
        self.folder = cache / compiler / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.link = os.environ.get("GAIN_LINK", "").split()

    def compile(self, variant, flags, link=()):
        """Objects always have one name and place, as gcc takes both for part of a function's number."""
        program = self.folder / variant
        if program.exists():
            return program
        if is_rustc(self.compiler):
            # Some of the options are not stable yet.
            call(self.compiler, "--edition=2021", "-O", "-g", *flags, *(f"-Clink-arg={word}" for word in link),
                 *self.what["sources"], "-o", program, cwd=self.folder, env={"RUSTC_BOOTSTRAP": "1"})
            return program
        objects = []
        work = self.folder / "objects"
        work.mkdir(exist_ok=True)
        for source in self.what["sources"]:
            objects.append(work / (source.stem + ".o"))
            language = self.compiler
            if source.suffix == ".cpp":
                language = self.compiler.replace("gcc", "g++").replace("clang", "clang++")
            call(language, "-O2", "-g", "-w", *self.what["flags"], *flags, "-c", source, "-o", objects[-1], cwd=work)
        call(self.compiler, *self.link, *link, *objects, "-o", program, *self.what["libs"], cwd=work)
        return program

    def command(self, program, which):
        words = self.what[which]
        if isinstance(words, str):
            return ["sh", "-c", words.format(program, self.cache)]
        return [program, *words]

    def train(self, program, **env):
        call(*self.command(program, "train"), cwd=self.folder, env=env)

    # Each returns the program of a variant.

    def plain(self):
        return self.compile("plain", self.extra(), ["-Wl,-q"])

    def extra(self):
        if is_rustc(self.compiler):
            return ["-Zdebug-info-for-profiling"]
        return [] if is_gcc(self.compiler) else ["-fdebug-info-for-profiling"]

    def use(self):
        data = self.folder / "generated"
        if is_rustc(self.compiler):
            train = self.compile("generate", [f"-Cprofile-generate={data}"])
        elif is_gcc(self.compiler):
            train = self.compile("generate", [f"-fprofile-generate={data}"], ["-fprofile-generate"])
        else:
            train = self.compile("generate", [f"-fprofile-generate={data}"], [f"-fprofile-generate={data}"])
        if not data.exists():
            self.train(train)
        if not is_gcc(self.compiler) and not (self.folder / "use.profdata").exists():
            call(tool_of("llvm-profdata", self.compiler), "merge", "-o", self.folder / "use.profdata", data)
        where = data if is_gcc(self.compiler) else self.folder / "use.profdata"
        if is_rustc(self.compiler):
            return self.compile("use", [f"-Cprofile-use={where}"])
        return self.compile("use", [f"-fprofile-use={where}", "-Wno-missing-profile"])

    def optimized(self, variant, inputs, program=None):
        """The inputs as a profile, and the build with it."""
        profile = self.folder / f"{variant}.profile"
        if not profile.exists():
            call(MONARC, "optimize", "--for", "gcc" if is_gcc(self.compiler) else "clang", program or self.plain(), *inputs, "-o", profile)
        return self.compile(variant, [f"{self.option()}{profile}", *self.extra()])

    def option(self):
        if is_rustc(self.compiler):
            return "-Zprofile-sample-use="
        return "-fauto-profile=" if is_gcc(self.compiler) else "-fprofile-sample-use="

    def edges(self):
        counting, data = self.folder / "counting", self.folder / "edges.fdata"
        if not data.exists():
            call(BOLT, self.plain(), "-o", counting, "--instrument", f"--instrumentation-file={data}")
            self.train(counting)
        return self.optimized("edges", [data])

    def recorded(self, program, name):
        recording = self.folder / f"{name}.monarc"
        if not recording.exists():
            call(MONARC, "run", "--rate=10000", "--no-report", "-o", recording, *self.command(program, "train"),
                 cwd=self.folder)
        return recording

    def samples(self):
        return self.optimized("samples", [self.recorded(self.plain(), "samples")])

    def create_gcov(self):
        profile = self.folder / "create_gcov.profile"
        data = self.folder / "create_gcov.data"
        if not data.exists():
            call(*PERF_BRANCHES, "-o", data, "--", *self.command(self.plain(), "train"), cwd=self.folder)
        call("create_gcov", f"--binary={self.plain()}", f"--profile={data}", f"--gcov={profile}", "--gcov_version=2")
        return self.compile("create_gcov", [f"{self.option()}{profile}"])

    def counters(self):
        work = self.folder / "objects"
        if is_gcc(self.compiler):
            if not (self.folder / "counters.profile").exists():
                for old in (self.folder / "counted", *work.glob("*.gc*")):
                    old.unlink(missing_ok=True)
                self.train(self.compile("counted", ["--coverage", "-O1"], ["--coverage"]))
            return self.optimized("counters", sorted(work.glob("*.gcda")))
        counted = "-fprofile-instr-generate"
        program = self.compile("counted", [counted, "-fcoverage-mapping"], [counted])
        raw = self.folder / "counted-%p.profraw"
        if not list(self.folder.glob("*.profraw")):
            self.train(program, LLVM_PROFILE_FILE=str(raw))
        return self.optimized("counters", sorted(self.folder.glob("*.profraw")), program)

    def gcda(self):
        """Exact counts of branches, by way of --coverage: without the values that -fprofile-generate
        counts as well."""
        work, data = self.folder / "objects", self.folder / "gcda"
        if not data.exists():
            for old in (self.folder / "covered", *work.glob("*.gc*")):
                old.unlink(missing_ok=True)
            self.train(self.compile("covered", ["--coverage"], ["--coverage"]))
            call(MONARC, "optimize", "--for", "gcda", work, "-o", data)
        return self.compile("gcda-use", [f"-fprofile-use={data}", "-Wno-missing-profile"])

    def bolt(self):
        """On top of `samples`: linked again with relocations, and measured again."""
        self.samples()
        linked = self.compile("linked", [f"{self.option()}{self.folder}/samples.profile", "-fno-reorder-blocks-and-partition"],
                              ["-Wl,-q"])
        target, data = self.folder / "bolt", self.folder / "bolt.fdata"
        if not target.exists():
            call(MONARC, "optimize", "--for", "bolt", linked, self.recorded(linked, "bolt"), "-o", data)
            call(BOLT, linked, "-o", target, f"-data={data}", "-reorder-blocks=ext-tsp", "-reorder-functions=cdsort",
                 "-split-functions")
        return target


# ---- measuring


def user_seconds(words, cwd):
    """CPU time in user mode of a command and its children."""
    with open(os.devnull, "w") as null:
        child = subprocess.Popen(list(map(str, words)), stdout=null, cwd=cwd)
        _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {words}")
    return used.ru_utime


def stripped(program):
    """A copy without debug information, as valgrind 3.19 gives up on some of clang 22's. Code stays as it is;
    that of BOLT is left alone."""
    if program.name == "bolt":
        return program
    folder = program.parent / "stripped"
    folder.mkdir(exist_ok=True)
    call("strip", "-g", "-o", folder / program.name, program)
    return folder / program.name


def instructions(words, cwd):
    """Instructions and mispredicted branches, by valgrind."""
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes",
                           "--cachegrind-out-file=/dev/null", "--trace-children=yes", *map(str, words)],
                          capture_output=True, text=True, errors="replace", cwd=cwd)
    if done.returncode:
        sys.exit(f"under valgrind: {' '.join(map(str, words))}\n{done.stderr[-500:]}")
    counts = {"refs": 0, "Mispredicts": 0}
    for line in done.stderr.splitlines():
        if "I   refs" in line or "I refs" in line:
            counts["refs"] += int(line.split(":")[1].split()[0].replace(",", ""))
        elif "Mispredicts:" in line:
            counts["Mispredicts"] += int(line.split(":")[1].split()[0].replace(",", ""))
    return counts["refs"], counts["Mispredicts"]


def interval(plain, other, rng):
    """The gain, as a part of the plain time, and 95 % of what it is when rounds are drawn again."""
    gain = 1 - statistics.median(other) / statistics.median(plain)
    drawn = []
    for _ in range(2000):
        rounds = rng.choices(range(len(plain)), k=len(plain))
        drawn.append(1 - statistics.median(other[i] for i in rounds) /
                     statistics.median(plain[i] for i in rounds))
    drawn.sort()
    return gain, drawn[50], drawn[1949]


def notes_branches(folder):
    """Few virtual machines let perf have what the CPU notes of branches."""
    words = [*PERF_BRANCHES, "-o", str(folder / "tried.data"), "--", "true"]
    tools = shutil.which("perf") and shutil.which("create_gcov")
    return bool(tools) and subprocess.run(words, capture_output=True, check=False).returncode == 0


def measure(build, variants, rounds, counts):
    if "create_gcov" in variants and not notes_branches(build.folder):
        print(f"{build.compiler:6} {build.name:8} create_gcov: left out, as perf records no branches here")
        variants = [v for v in variants if v != "create_gcov"]
    programs = {}
    for v in variants:
        try:
            programs[v] = getattr(build, v)()
        except CompilerBroke as error:
            print(f"{build.compiler:6} {build.name:8} {v}: left out: {error}")
    variants = list(programs)
    times = {v: [] for v in variants}
    for i in range(rounds):
        for v in variants if i % 2 else reversed(variants):
            times[v].append(user_seconds(build.command(programs[v], "bench"), build.folder))
    rng = random.Random(1)
    by_use = 1 - statistics.median(times["use"]) / statistics.median(times["plain"]) if "use" in times else 0
    first = None
    for v in variants:
        gain, low, high = interval(times["plain"], times[v], rng)
        row = (f"{build.compiler:6} {build.name:8} {v:9} {statistics.median(times[v]):7.3f} s  "
               f"gain {100 * gain:5.1f} % ({100 * low:.1f} to {100 * high:.1f})")
        if v not in ("plain", "use") and by_use > 0:
            row += f"  {100 * gain / by_use:4.0f} % of use's"
        if counts:
            refs, wrong = instructions(build.command(stripped(programs[v]), "short"), build.folder)
            first = first or (refs, wrong)
            row += f"  instructions {100 * refs / first[0]:.1f} %, mispredicted {100 * wrong / first[1]:.1f} %"
        print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", nargs="?", default="/tmp/monarc-gain", type=Path)
    parser.add_argument("--compiler", action="append", help="gcc, clang, rustc, or one of a version: clang-22")
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--variants", nargs="+", default=["plain", "use", "samples", "counters"])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    options.cache = options.cache.resolve()
    inputs(options.cache)
    for compiler in options.compiler or ["gcc", "clang"]:
        for name in options.only:
            if (name in OF_RUSTC) != is_rustc(compiler):
                continue
            # rustc's coverage was not tried as a profile.
            of_gcc, not_of_rustc = ("gcda", "create_gcov"), ("counters", "bolt")
            variants = [v for v in options.variants if (is_gcc(compiler) or v not in of_gcc) and
                        (not is_rustc(compiler) or v not in not_of_rustc)]
            measure(Build(options.cache, compiler, name), variants, options.rounds, options.instructions)


if __name__ == "__main__":
    main()
