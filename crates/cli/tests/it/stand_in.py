"""Stands in for the client at its prompt: reads keys from its terminal, logs them, and writes the client's files.

Arguments: the client's folder, the session, a file for the keys, and a way to behave: `answers`, `silent`, `asks` (a dialog opens
when a text arrives), `halves` (the transcript gets a part of the text).
"""

import json
import os
import pathlib
import sys
import time
import tty

claude, session, keys, way = sys.argv[1:]
registry = pathlib.Path(claude) / "sessions" / f"{os.getpid()}.json"
transcript = pathlib.Path(claude) / "projects" / "-home-dev-work" / f"{session}.jsonl"
start = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]


def says(status):
    now = int(time.time() * 1000)
    entry = {"pid": os.getpid(), "sessionId": session, "cwd": "/home/dev/work", "startedAt": now - 60_000, "procStart": start,
             "version": "2.1.329", "kind": "interactive", "entrypoint": "cli", "status": status, "statusUpdatedAt": now}
    if status == "waiting":
        entry["waitingFor"] = "permission prompt"
    part = registry.with_suffix(".part")
    part.write_text(json.dumps(entry))
    part.replace(registry)


def records(text):
    transcript.parent.mkdir(parents=True, exist_ok=True)
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    record = {"type": "user", "uuid": os.urandom(8).hex(), "sessionId": session, "timestamp": at, "cwd": "/home/dev/work",
              "version": "2.1.329", "message": {"role": "user", "content": text}, "promptSource": "typed"}
    with transcript.open("a") as file:
        file.write(json.dumps(record) + "\n")


tty.setcbreak(0)
tty.setraw(0)
# The client wants pastes in brackets.
os.write(1, b"\x1b[?2004h")
registry.parent.mkdir(parents=True, exist_ok=True)
says("idle")
held = b""
while True:
    read = os.read(0, 65536)
    with open(keys, "ab") as log:
        log.write(read)
    held += read
    if way == "asks":
        says("waiting")
    if not held.endswith(b"\r") or way in ("silent", "asks"):
        continue
    text = held[:-1].replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"").decode()
    held = b""
    says("busy")
    records(text if way == "answers" else text[: len(text) // 2])
    says("idle")
