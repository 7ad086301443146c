"""archive.py: what a static library defines for the whole program."""
import subprocess


def hidden_names(path, prefix):
    """The library's own names, without the prefix that keeps them apart from the program's."""
    listed = subprocess.run(["nm", "-g", "--defined-only", "--format=posix", path], check=True,
                            capture_output=True, text=True).stdout
    names = {line.split()[0] for line in listed.splitlines() if " " in line}
    return sorted(name[len(prefix):] for name in names if name.startswith(prefix))
