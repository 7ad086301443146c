#!/usr/bin/env python3
"""needs.py: what tests call is what ./test.sh installs: each program is in a package of the groups build, test, browser
and node of tools/setup.sh, or on every Debian; else its file asks for it and names the package to whom it is missing.

Programs are what scripts start by their names, ask shutil.which() for, or Meson's find_program(). Names that are put
together when a test runs, as `clang-{version}`, are not judged; nor are the peers' suites, which run by hand, and
what makes seeds. And installing waits while another apt is at work.
"""

import pathlib
import re
import subprocess
import tempfile

import tap

SETUP = "tools/setup.sh"
INSTALLED = ("build", "test", "browser", "node")
ALWAYS = "always"  # on every Debian, with what the groups need themselves
# package: programs
PROVIDERS = {
    ALWAYS: "bash sh localedef chroot cp diff dpkg-deb dpkg-query apt-get env flock id mkdir mount mv perl prlimit rm setarch setpriv "
            "taskset timeout umount unshare gzip ln cat sed awk grep make python3 ps kill sleep true false head tail sort",
    "autofdo": "create_gcov dump_gcov", "binutils": "addr2line ar as c++filt gprof ld nm objcopy objdump ranlib readelf size strip",
    "bolt-22": "llvm-bolt llvm-bolt-22 merge-fdata merge-fdata-22 perf2bolt perf2bolt-22",
    "cargo-web": "cargo", "chromium": "chromium", "clang": "clang clang++", "clang-format": "clang-format", "csmith": "csmith",
    "curl": "curl", "debhelper": "dh", "debootstrap": "debootstrap", "debuginfod": "debuginfod", "dpkg-dev": "dpkg-buildpackage",
    "dwz": "dwz", "fakeroot": "fakeroot", "fish": "fish", "g++": "c++ g++", "gcc": "cc gcc gcov gcov-dump gcov-tool",
    "g++-12": "g++-12", "gcc-12": "gcc-12 gcov-12", "gcc-aarch64-linux-gnu": "aarch64-linux-gnu-gcc", "gcc-arm-none-eabi": "arm-none-eabi-gcc",
    "gcovr": "gcovr", "gdb": "gdb", "gdb-multiarch": "gdb-multiarch", "gfortran": "gfortran", "git": "git", "golang-go": "go",
    "graphviz": "dot", "groff-base": "groff", "lcov": "genhtml lcov", "libc-devtools": "sprof", "libcap2-bin": "setcap",
    "libxml2-utils": "xmllint", "lintian": "lintian", "linux-perf": "perf", "lld": "ld.lld lld-link",
    "llvm": "llvm-cov llvm-profdata", "clang-14": "clang-14 clang++-14", "llvm-14": "llvm-cov-14 llvm-profdata-14",
    "mandoc": "mandoc", "meson": "meson", "mold": "ld.mold mold", "musl-tools": "musl-gcc", "ninja-build": "ninja",
    "nodejs": "node", "npm": "npm", "openmpi-bin": "mpirun", "pkgconf": "pkg-config", "procps": "pgrep",
    "protobuf-compiler": "protoc", "pyflakes3": "pyflakes3", "qemu-user": "qemu-aarch64", "rustc-web": "rustc",
    "shellcheck": "shellcheck", "strace": "strace", "tmux": "tmux", "valgrind": "callgrind_annotate valgrind", "xz-utils": "xz", "zsh": "zsh", "zstd": "zstd",
}
PACKAGE = {program: package for package, programs in PROVIDERS.items() for program in programs.split()}
NAME = r"[\"']([A-Za-z][\w.+{}-]*(?<!-))[\"']"
CALLS = re.compile(r"(?:subprocess\.(?:run|Popen|check_output|check_call|call)\(\s*[\[(]\s*f?|find_program\(\s*)" + NAME)
ASKS = re.compile(r"which\(\s*f?" + NAME)
ASKS_ALL = re.compile(r"which,\s*[\[(]([^\])]*)[\])]")
LEFT_OUT = ("checks", "corpus", "data", "golden", "peers")
OF_CI = ("cross", "embedded", "packages")  # what .ci/run alone runs has its packages


def groups(top):
    """group -> packages, of packages_of()."""
    text = (top / SETUP).read_text().replace("\\\n", " ")
    return {group: set(names.split()) for group, names in re.findall(r"^\s*(?:case \$1 in\s*)?(\w+)\) echo ([^;]*);;", text, re.M)}


def files(top):
    for path in sorted((top / "tests").rglob("*")):
        if path.name == "meson.build" or path.suffix == ".py":
            folders = path.relative_to(top / "tests").parts[:-1]
            if not set(folders) & set(LEFT_OUT) and not tap.is_built(path, top):
                yield path, folders


def asked(text):
    return set(ASKS.findall(text)) | {name for some in ASKS_ALL.findall(text) for name in re.findall(NAME, some)}


def needs(top):
    of = groups(top)
    installed = {ALWAYS}.union(*(of.get(group, ()) for group in INSTALLED))
    findings = [f"{SETUP} has no group {group}" for group in INSTALLED if group not in of]
    for path, folders in files(top):
        text, name = path.read_text(), path.relative_to(top)
        asks = asked(text)
        for program in sorted(set(CALLS.findall(text)) | asks):
            package = PACKAGE.get(program)
            if "{" in program or package in installed or (set(folders) & set(OF_CI) and package in of.get("ci", ())):
                continue
            if not package:
                findings.append(f"{name}: {program} is in no package that this check knows")
            elif program not in asks:
                findings.append(f"{name}: {program} is in {package}, which ./test.sh does not install, and is called unasked")
            elif not re.search(rf"[Pp]ackage[^\n]*\b{re.escape(package)}(?![\w-])", text):
                findings.append(f"{name}: to whom {program} is missing, no skip says `package {package}`")
    return findings


SMALL = {SETUP: "packages_of() {\n    case $1 in\n    build) echo gcc ;;\n    test) echo binutils \\\n        curl ;;\n"
                "    browser) echo chromium ;;\n    node) echo nodejs ;;\n    ci) echo golang-go qemu-user ;;\n    esac\n}\n",
         "tests/cli/test_a.py": 'subprocess.run(["gcc", "-v"])\nsubprocess.run(["sh"])\nif not shutil.which("go"):\n'
                                '    self.skipTest("no Go (package golang-go)")\nsubprocess.run(["go"])\n'
                                'subprocess.run([f"clang-{v}"])\n',
         "tests/cross/run.py": 'shutil.which("qemu-aarch64")\n'}
BROKEN = (
    ({"tests/cli/test_b.py": 'subprocess.run(["go", "x"])'}, ["test_b.py: go is in golang-go, which"]),
    ({"tests/cli/test_b.py": 'if shutil.which("go"):\n    skip("no Go")'}, ["no skip says `package golang-go`"]),
    ({"tests/cli/test_b.py": 'all(map(shutil.which, ("gcc", "odd")))'}, ["odd is in no package"]),
    ({"tests/cli/test_b.py": 'subprocess.Popen(\n    ("strace", "-f"))'}, ["strace is in strace, which"]),
    ({"tests/meson.build": "find_program('fish')"}, ["fish is in fish, which"]),
    ({"tests/cli/test_b.py": 'shutil.which("qemu-aarch64")'}, ["no skip says `package qemu-user`"]),
    ({SETUP: SMALL[SETUP].replace("echo gcc ", "echo tcc ")}, ["test_a.py: gcc is in gcc, which"]),
)


def setup_with(messages):
    """What need_packages prints where apt-get fails with one message of `messages` after the other, and then works."""
    with tempfile.TemporaryDirectory() as folder:
        tools = {"apt-get": f"read -r why <{folder}/why || exit 0\nsed -i 1d {folder}/why\necho \"$why\" >&2\nexit 100",
                 "dpkg-query": ":", "sleep": ":", "id": "echo 0"}
        for name, script in tools.items():
            path = pathlib.Path(folder, name)
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        pathlib.Path(folder, "why").write_text("".join(f"{why}\n" for why in messages))
        done = subprocess.run(["sh", "-c", ". tools/setup.sh; need_packages build && echo here"], cwd=tap.ROOT, capture_output=True,
                              text=True, check=False, env={"PATH": f"{folder}:/usr/bin:/bin"})
        return done.stdout + done.stderr


def impatient():
    """A machine that has just started has an apt of its own at work, which is waited for; other failures end it."""
    locked = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 9"
    dpkg = "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?"
    gone = "E: Unable to locate package gcc"
    cases = (([], "here"), ([locked, dpkg, locked], "here"), ([locked] * 130, "could not install"), ([gone], "could not install"))
    return [f"apt fails {len(messages)} times: {said}" for messages, expected in cases if expected not in (said := setup_with(messages))]


def main():
    t = tap.Tap()
    t.clean("nothing to be found in a tree that is right", tap.found_in(needs, SMALL))
    for changed, expected in BROKEN:
        t.found(expected[0], tap.found_in(needs, SMALL | changed), expected)
    t.clean("what tests call, ./test.sh installs, or a skip names its package", needs(tap.ROOT))
    t.clean("setup waits for another apt", impatient())
    t.end()


main()
