"""An agent's terminal program whose screen tells the driver when to go on."""

import time
from pathlib import Path

from pane import Pane


class Terminal(Pane):
    """One terminal program, in the sandbox of a stage or a desk."""

    def __init__(self, place, program, arguments, own=None):
        self.place = place
        super().__init__(program, place.sandbox, arguments, own)
        place.clients.append(self)

    def shows(self, words):
        """Whether the screen shows these words now."""
        return words in self.tmux("capture-pane", "-p", fails=True)

    def sees(self, words):
        """Waits until the screen shows these words; returns the time."""
        self.place.until(f"`{words}` on the screen", lambda: self.shows(words))
        return time.monotonic()

    def is_gone(self):
        """Whether the program has ended."""
        return not Path(f"/proc/{self.pid}").exists()
