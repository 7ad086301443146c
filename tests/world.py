"""world.py: what differs from machine to machine and from run to run differs on purpose, by the seed.

run_all.py gives each program a world of its own, drawn from the seed and the program's name, so that --again
repeats it: the length and the characters of the temporary folder's path, locale, umask, where memory is placed,
how large the environment is (and so where in a page stacks end), numbers of processes that begin anew from the
largest, build-ids of what is linked, and at which part of a second it begins. What cannot be had on a machine is
left out. MONARC_WORLD=plain leaves the world as it is; the names of parts, as in MONARC_WORLD=umask,locale, vary
these alone.
"""

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import seeds

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("folder", "locale", "umask", "layout", "environment", "processes", "build-ids", "clock")
VARIABLE = "MONARC_WORLD"
# Which decimal commas, where the package `locales` has what they are made of.
LOCALE = ("de_DE", "UTF-8")

# What of the world a program cannot do without, by the part and the beginning of its name.
EXCEPTIONS = {
}


@dataclasses.dataclass
class World:
    """One program's. `environment`, `umask` and `prefix` (words before its command) are to be used; `words` say it."""
    environment: dict = dataclasses.field(default_factory=dict)
    umask: int = -1
    prefix: list = dataclasses.field(default_factory=list)
    words: list = dataclasses.field(default_factory=list)
    folder: str = ""  # to be removed
    begins_at: float = -1  # part of a second

    def __str__(self):
        return ", ".join(self.words)

    def wait(self):
        """Until it is time to begin."""
        if self.begins_at >= 0:
            time.sleep((self.begins_at - time.time()) % 1)

    def end(self):
        if self.folder in _folders:
            _folders.remove(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)


_folders = []  # that are there now


def made_folder(prefix):
    _folders.append(tempfile.mkdtemp(prefix=prefix))
    os.chmod(_folders[-1], 0o755)
    return _folders[-1]


def end_all():
    """Removes what is left of all worlds."""
    while _folders:
        shutil.rmtree(_folders.pop(), ignore_errors=True)


def parts_wanted():
    text = os.environ.get(VARIABLE, "")
    if text == "plain":
        return ()
    return tuple(text.split(",")) if text and text != "all" else PARTS if text else ()


def is_exception(part, name):
    return any(name.startswith(beginning) for beginning in EXCEPTIONS.get(part, {}))


@functools.cache
def comma_locale():
    """The folder of a locale with decimal commas, made once a run; "" if it cannot be made."""
    folder = made_folder("monarc-locale-")
    done = subprocess.run(["localedef", "--no-archive", "-i", LOCALE[0], "-f", LOCALE[1], f"{folder}/{'.'.join(LOCALE)}"],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False) if shutil.which("localedef") else None
    if done and done.returncode == 0:
        return folder
    return ""


@functools.cache
def can_run(*words):
    try:
        return subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def folder_part(world, draw):
    """Paths of temporary files are in debug information, and so in the hash that is a build-id."""
    world.folder = top = made_folder("m")
    name = draw.choice(["", "", "d", "d" * draw.randrange(1, 60), "with space", "f\u00fcr_\u00e4lles"])
    path = pathlib.Path(top, name)
    path.mkdir(exist_ok=True)
    path.chmod(0o1777)
    world.environment["TMPDIR"] = str(path)
    world.words.append(f"TMPDIR={path}")


def locale_part(world, draw):
    name = draw.choice(["C", "C.UTF-8", "POSIX", ".".join(LOCALE)])
    if name == ".".join(LOCALE):
        if not comma_locale():
            return
        world.environment["LOCPATH"] = comma_locale()
    world.environment.update({draw.choice(["LC_ALL", "LANG"]): name})
    world.words.append(f"locale {name}")


def umask_part(world, draw):
    world.umask = draw.choice([0o022, 0o077, 0o027, 0o002])
    world.words.append(f"umask {world.umask:03o}")


def layout_part(world, draw):
    if draw.random() < 0.25 and can_run("setarch", "-R"):
        world.prefix += ["setarch", "-R"]
        world.words.append("setarch -R")


def environment_part(world, draw):
    size = draw.randrange(2 * os.sysconf("SC_PAGESIZE"))
    world.environment["MONARC_TEST_PADDING"] = "x" * size
    world.words.append(f"{size} bytes more in the environment")


# In a namespace of its own, as its init: what it starts has the last numbers, then the first ones.
LAST_NUMBERS = """
echo $(($(cat /proc/sys/kernel/pid_max) - $0)) >/proc/sys/kernel/ns_last_pid
"$@"
status=$?
exit $status
"""
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def processes_part(world, draw):
    if draw.random() < 0.25 and os.geteuid() == 0 and can_run(*NAMESPACE):
        left = draw.randrange(3, 300)
        world.prefix = [*NAMESPACE, "sh", "-c", LAST_NUMBERS, str(left), *world.prefix]
        world.words.append(f"{left} numbers of processes before the first ones")


def build_ids_part(world, draw):
    """A linker before the usual one, which gcc and clang find by COMPILER_PATH."""
    kind = draw.choice(["", "8", "16", "20", "32", "none"])
    if kind:
        world.environment.update(COMPILER_PATH=str(HERE / "world"), MONARC_BUILD_ID=kind)
        world.words.append(f"build-ids: {kind}" + (" bytes, the last is 00" if kind != "none" else ""))


def clock_part(world, draw):
    if draw.random() < 0.125:
        world.begins_at = draw.uniform(0.95, 1)
        world.words.append("just before a second ends")


def of(name, seed):
    """The world of the program of that name."""
    world, wanted = World(), parts_wanted()
    for part in PARTS:
        draw = seeds.generator(f"world {part} {name}", seed)
        if part in wanted and not is_exception(part, name):
            globals()[part.replace("-", "_") + "_part"](world, draw)
    return world
