"""`watchbill watch --json` beside the client: each line gets its arrival time and becomes a timeline by session."""

import json
import subprocess
import threading
import time

from compare import Shown
from isolation import only
from truth import ABSENT


class Watcher:
    """One running watcher and its lines."""

    def __init__(self, sandbox, witnesses):
        self.witnesses = witnesses
        self.began = time.monotonic()
        self.rows = {}
        self.timelines = {}
        self.lines = []
        words = [sandbox.watchbill, "watch", "--json", "--all", "--claude-dir", sandbox.claude]
        words += ["--data-dir", sandbox.data(witnesses)]
        if not witnesses.registry:
            words = only("projects", sandbox.claude, words)
            # Without Codex's locks and its server.
            codex = sandbox.home / ".codex"
            words = only("sessions", codex, words) if (codex / "sessions").is_dir() else words
        self.process = subprocess.Popen(
            [str(word) for word in words],
            env=sandbox.environment(),
            stdout=subprocess.PIPE,
            stderr=open(sandbox.root / f"{witnesses.name}.stderr", "wb"),
            cwd=sandbox.root,
        )
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        """Reads all lines."""
        for line in self.process.stdout:
            now = time.monotonic()
            message = json.loads(line)
            self.lines.append((now, message))
            apply(self.rows, self.timelines, now, message)
            self.ready.set()

    def now(self, session):
        """The shown state of a session."""
        timeline = self.timelines.get(session)
        return timeline[-1] if timeline else Shown(float("-inf"))

    def close(self):
        """Ends the watcher; it must not have ended by itself."""
        died = self.process.poll()
        self.process.terminate()
        self.process.wait()
        self.thread.join()
        if died is not None:
            raise RuntimeError(f"the watcher `{self.witnesses.name}` ended by itself with {died}")


def apply(rows, timelines, now, message):
    """Applies one line of `watch --json`: updates the rows, and records changes of a session's state."""
    if message["event"] == "snapshot":
        for session in list(rows):
            if all(row["sessionId"] != session for row in message["sessions"]):
                drop(rows, timelines, now, session)
        for row in message["sessions"]:
            put(rows, timelines, now, row["sessionId"], row)
    elif message["event"] == "discovered":
        put(rows, timelines, now, message["session"]["sessionId"], message["session"])
    elif message["event"] == "updated":
        row = {**rows[message["sessionId"]], **message["updates"]}
        put(rows, timelines, now, message["sessionId"], {k: v for k, v in row.items() if v is not None})
    elif message["event"] == "removed":
        drop(rows, timelines, now, message["sessionId"])


def put(rows, timelines, now, session, row):
    """Sets a row."""
    rows[session] = row
    reason = row["stateReason"]
    shown = Shown(now, row["state"], row.get("stateKind"), reason["confidence"], reason["source"])
    timeline = timelines.setdefault(session, [])
    last = timeline[-1] if timeline else None
    if last is None or (last.state, last.kind, last.confidence) != (shown.state, shown.kind, shown.confidence):
        timeline.append(shown)


def drop(rows, timelines, now, session):
    """Removes a row."""
    rows.pop(session, None)
    timelines.setdefault(session, []).append(Shown(now, ABSENT))
