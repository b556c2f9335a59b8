"""The client's traces on disk, which the driver waits for: registry, hooks, and the time of each write.

They decide when to press the next key, and when the client first left a trace; they never decide the truth.
"""

import json
import os
import threading
import time

LOOK = 0.01


class Observer:
    """Looks a hundred times a second, on a thread of its own."""

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.traces = []
        self.events = []
        self.heard = set()
        self.sizes = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def close(self):
        """Stops looking."""
        self.over.set()
        self.thread.join()

    def look(self):
        """Looks again and again."""
        while not self.over.wait(LOOK):
            now = time.monotonic()
            if self.hear(now) | self.stat(now):
                self.traces.append(now)

    def note(self):
        """A trace that is in no file: what the screen shows, or that a process is gone."""
        self.traces.append(time.monotonic())

    def hear(self, now):
        """Reads new hook events."""
        fresh = [name for name in os.listdir(self.sandbox.log) if name not in self.heard and name[0] != "."]
        for name in fresh:
            self.heard.add(name)
            try:
                self.events.append((now, json.loads((self.sandbox.log / name).read_bytes())))
            except ValueError as error:
                raise ValueError(f"the client handed a hook no JSON: {error}") from error
        return bool(fresh)

    def stat(self, now):
        """Checks registry files and transcripts for changes."""
        seen = {}
        folders = [self.sandbox.claude / "sessions", *(self.sandbox.claude / "projects").iterdir()]
        paths = [path for folder in folders for path in folder.glob("*.json*")]
        for path in [*paths, *(path for pattern in self.sandbox.files for path in self.sandbox.home.glob(pattern))]:
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            seen[path] = (status.st_size, status.st_mtime_ns)
        changed, self.sizes = seen != self.sizes, seen
        return changed

    def hooks(self, name, session=None):
        """The events of this name so far, oldest first."""
        wanted = [payload for _, payload in list(self.events) if payload.get("hook_event_name") == name]
        return [p for p in wanted if session is None or p.get("session_id") == session]

    def registry(self, pid):
        """The registry file of a process; empty when there is none or it is half written."""
        try:
            return json.loads((self.sandbox.claude / "sessions" / f"{pid}.json").read_bytes())
        except (OSError, ValueError):
            return {}
