"""screen.py: a program on a terminal of its own, by tmux: typing, reading the screen, resizing.

Each Screen is a tmux server with one window, in which an interactive bash runs, so that jobs can be
stopped and continued. It is told what to do through one client in control mode: a client for each
look at the screen took more time than all of monarc. Waiting polls, for as long as a busy machine may take."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import time

PROMPT = r"^\$ ?$"
PATIENCE_SECONDS = float(os.environ.get("MONARC_PATIENCE", 60))
_numbers = itertools.count()


def missing():
    """What is not here to run these tests, or None."""
    for program in ("tmux", "bash", "stty"):
        if not shutil.which(program):
            return f"{program} is not here"
    return None


class Screen:
    def __init__(self, folder, columns=80, rows=24, **environment):
        self.name = f"monarc-{os.getpid()}-{next(_numbers)}"
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ("TMUX", "NO_COLOR", "VISUAL", "EDITOR", "TERM")}
        self.environment.update({"LC_ALL": "C.UTF-8", "HISTFILE": "/dev/null", **environment})
        subprocess.run([*self.client(), "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                        "-c", str(folder), "bash --norc --noprofile"], env=self.environment, check=True)
        self.control = subprocess.Popen([*self.client(), "-C", "attach-session"], env=self.environment, text=True,
                                        encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answer()  # to the command that it was started with
        self.type("PS1='$ '; clear")
        self.press("Enter")
        self.wait(PROMPT)

    def client(self):
        return ["tmux", "-L", self.name, "-u"]

    def answer(self):
        """What the next command printed, among what tmux tells of its own accord."""
        printed, is_within = [], False
        for line in self.control.stdout:
            word = line.split(" ", 1)[0]
            if is_within and word in ("%end", "%error"):
                assert word == "%end", printed
                return "".join(printed)
            if is_within:
                printed.append(line)
            is_within = is_within or word == "%begin"
        raise AssertionError("tmux is gone")

    def tmux(self, *arguments):
        self.control.stdin.write(shlex.join(arguments) + "\n")
        self.control.stdin.flush()
        return self.answer()

    def close(self):
        if self.control.poll() is None:
            self.control.communicate("kill-server\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def text(self):
        """The screen, without blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n"))

    def rows(self):
        return self.text().split("\n")

    def ask(self, what):
        """A tmux format, such as cursor_flag."""
        return self.tmux("display-message", "-p", "#{" + what + "}").strip()

    def wait(self, pattern, is_there=True):
        """Until the regular expression is on the screen, or no more; returns the screen once it has
        settled: what is below may still be that of the view before."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if bool(re.search(pattern, self.text(), re.M)) == is_there:
                text = self.settled()
                if bool(re.search(pattern, text, re.M)) == is_there:
                    return text
            time.sleep(0.05)
        raise AssertionError(f"waited in vain for {pattern!r} in\n{self.text()}")

    def settled(self):
        """The screen once it has been the same twice: a first one is drawn in several steps."""
        end = time.monotonic() + PATIENCE_SECONDS
        before, text = None, self.text()
        while text != before and time.monotonic() < end:
            time.sleep(0.02)
            before, text = text, self.text()
        return text

    def press(self, *keys):
        """Keys by tmux's names: Enter, Down, C-z, ..., or characters."""
        for key in keys:
            self.tmux("send-keys", *(("-l", key) if len(key) == 1 else (key,)))

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, *arguments, until):
        """A command line, and what its first screen has."""
        self.type("clear; " + " ".join(shlex.quote(str(a)) for a in arguments))
        self.press("Enter")
        self.wait(until)
        return self.settled()

    def shell(self, line):
        """The output of a line that bash runs on this terminal."""
        marker = f"done-{next(_numbers)}"
        self.type(f"clear; {line}; echo {marker[:4]}''{marker[4:]}")
        self.press("Enter")
        return self.wait(f"^{marker}$").split(f"\n{marker}")[0]

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
