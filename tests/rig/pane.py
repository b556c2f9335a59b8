"""The real client in a pane of a private tmux server, as a user runs it there. The screen is read for failures only."""

import os
import subprocess
import threading
import time

from client import BETWEEN_KEYS, ENTER


class Pane:
    """One process of the client, with the verbs of `client.Client`."""

    def __init__(self, program, sandbox, arguments, own=None):
        self.began = time.monotonic()
        self.socket = str(sandbox.root / f"tmux-{time.monotonic_ns()}")
        self.environment = sandbox.environment() | (own or {})
        self.last = None
        self.gone = threading.Event()
        words = ["-f", "/dev/null", "new-session", "-d", "-s", "work", "-x", "140", "-y", "45", "-c", str(sandbox.work)]
        # Exec'ed without a shell, so the pane's process is the client.
        self.tmux(*words, "--", str(program), *map(str, arguments))
        self.pid = int(self.tmux("list-panes", "-a", "-F", "#{pane_pid}"))

    def tmux(self, *words, text=None, fails=False):
        """A command of tmux; its output."""
        done = subprocess.run(
            ["tmux", "-S", self.socket, *words], env=self.environment, input=text, capture_output=True, text=True, check=not fails
        )
        return done.stdout.strip()

    @property
    def screen(self):
        """What the pane shows, and its history; after the end, the last of it."""
        return self.last or self.tmux("capture-pane", "-p", "-S", "-300", fails=True).encode()

    def press(self, key):
        """Presses one key; returns the time."""
        now = time.monotonic()
        self.tmux("load-buffer", "-b", "user", "-", text=key)
        self.tmux("paste-buffer", "-r", "-d", "-b", "user")
        return now

    def type(self, line):
        """Types a line and Enter; returns the time of Enter."""
        self.press(line)
        time.sleep(BETWEEN_KEYS)
        return self.press(ENTER)

    def signal(self, number):
        """Sends a signal; returns the time."""
        now = time.monotonic()
        os.kill(self.pid, number)
        return now

    def close(self):
        """Ends the client and its terminal."""
        self.last = self.screen
        self.tmux("kill-server", fails=True)
        self.gone.set()
