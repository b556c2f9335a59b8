"""The real client on a pseudo-terminal: keys in, exit out. The screen is drained and kept for failures, but never evaluated."""

import fcntl
import os
import pty
import signal
import struct
import termios
import threading
import time

ESCAPE, ENTER, CLEAR_INPUT = "\x1b", "\r", "\x15"
# The client takes the bytes of one read for pasted text, an Enter among them included.
BETWEEN_KEYS = 0.25


class Client:
    """One process of the client."""

    def __init__(self, program, sandbox, arguments):
        self.began = time.monotonic()
        self.screen = bytearray()
        self.ended = None
        self.status = None
        self.gone = threading.Event()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(sandbox.work)
            os.execve(program, [str(program), *arguments], sandbox.environment())
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 140, 0, 0))
        threading.Thread(target=self.drain, daemon=True).start()
        threading.Thread(target=self.wait, daemon=True).start()

    def drain(self):
        """Reads the terminal: without a reader the client would stop."""
        while True:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return
            if not data:
                return
            self.screen += data
            del self.screen[:-65536]

    def wait(self):
        """Records the end at once."""
        _, self.status = os.waitpid(self.pid, 0)
        self.ended = time.monotonic()
        self.gone.set()

    def press(self, key):
        """Presses one key; returns the time."""
        now = time.monotonic()
        os.write(self.terminal, key.encode())
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
        """Ends the client if it runs, and closes the terminal."""
        if not self.gone.is_set():
            self.signal(signal.SIGKILL)
            self.gone.wait(10)
        os.close(self.terminal)
