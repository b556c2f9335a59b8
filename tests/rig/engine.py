"""`watchbill serve` beside the client: the engine, the requests that it shows, the hook processes, and `watchbill answer`.

The engine's local socket is asked a hundred times a second, so the time at which a request appears or goes is known.
"""

import itertools
import json
import os
import shlex
import signal
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

LOOK = 0.01
CONFIGURATION = "[answers]\nscripts = true\n"
# The shell stays above the program, and writes the exit code when everything else is written.
SCRIPT = """
    cd {root}; env -i {words} >{folder}/out 2>{folder}/err </dev/null
    echo $? >{folder}/part; mv {folder}/part {folder}/code
"""
# The system counts the starts of processes in ticks of 10 ms.
TICK = 0.02


@dataclass(frozen=True)
class Said:
    """What a command of the user said."""

    code: int
    out: str
    err: str
    began: float
    ended: float


class Engine:
    """The program that holds the store. It may be ended and started again."""

    def __init__(self, program, sandbox):
        self.program, self.sandbox = program, sandbox
        self.data = sandbox.root / "data"
        self.data.mkdir(exist_ok=True)
        self.config = sandbox.root / "config.toml"
        self.config.write_text(CONFIGURATION)
        self.process = None
        self.numbers = itertools.count()
        # The shown request of each session, and when it changed: (time, session, request or `None`).
        self.shown, self.changes, self.states = {}, [], {}
        # What the client and the engine said, for the record of a failure: (time, who, what).
        self.said = []
        self.last = {}
        self.shell = self.begin()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def begin(self):
        """The user's shell, which no agent started: its parent has ended, and it is older than the clients. Gives its input."""
        pipe = self.sandbox.root / "lines"
        os.mkfifo(pipe)
        command = ["setsid", "--fork", "/bin/sh", "-c", 'exec /bin/sh <"$0"', str(pipe)]
        subprocess.run(command, env=self.environment(), cwd=self.sandbox.root, check=True, stdin=subprocess.DEVNULL)
        lines = open(pipe, "w", buffering=1, encoding="utf-8")
        time.sleep(TICK)
        return lines

    def words(self, *words):
        """A command line of Watchbill in this sandbox."""
        folders = ["--data-dir", self.data, "--claude-dir", self.sandbox.claude, "--config", self.config]
        return [str(word) for word in [self.program, *words, *folders]]

    def environment(self):
        """The environment of the user's commands. No agent's variable is in it."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.sandbox.home), "LANG": "C.UTF-8", "RUST_LOG": "debug"}

    def start(self):
        """Starts it, and waits until it knows the sessions."""
        errors = open(self.sandbox.root / f"serve-{next(self.numbers)}.stderr", "wb")
        words = self.words("serve")
        self.process = subprocess.Popen(
            words, env=self.environment(), stdout=subprocess.DEVNULL, stderr=errors, cwd=self.sandbox.root
        )
        errors.close()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self.roster() is not None:
                return
            time.sleep(LOOK)
        raise RuntimeError("the engine does not answer within 20 s")

    def end(self, number=signal.SIGTERM):
        """Ends it by a signal; returns the time of the signal."""
        now = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(20)
        self.process = None
        return now

    def close(self):
        """Ends everything."""
        self.over.set()
        self.thread.join()
        self.shell.close()
        if self.process:
            self.end(signal.SIGKILL)
        # A host ends its session in order. Only a cell that failed has one.
        for pid in self.hosts():
            os.kill(pid, signal.SIGTERM)

    # The socket.

    def connect(self):
        """A connection, as a file; `None` when nothing listens."""
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(10)
        try:
            stream.connect(str(self.data / "run/engine.sock"))
            lines = stream.makefile("rw")
            lines.readline()
            return lines
        except OSError:
            return None
        finally:
            stream.close()

    def holder(self):
        """The process that answers the socket; `None` without one."""
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(str(self.data / "run/engine.sock"))
            return struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            return None
        finally:
            stream.close()

    def roster(self, lines=None):
        """The rows; `None` when the engine does not answer or has not looked yet."""
        lines = lines or self.connect()
        try:
            lines.write('{"id":"1","request":"roster","all":true}\n')
            lines.flush()
            return json.loads(lines.readline())["reply"]["sessions"]
        except (AttributeError, OSError, ValueError, KeyError):
            return None

    def look(self):
        """Follows the shown requests."""
        lines = None
        while not self.over.wait(LOOK):
            lines = lines or self.connect()
            rows = self.roster(lines) if lines else None
            if rows is None:
                lines = None
            now = time.monotonic()
            self.record(now)
            rows = {row["sessionId"]: row for row in rows or []}
            for session in [*self.shown, *(s for s in rows if s not in self.shown)]:
                self.note(now, session, rows.get(session, {}))

    def note(self, now, session, row):
        """Records a change of one row."""
        request, before = row.get("request"), self.shown.get(session)
        self.states[session] = row.get("state")
        reason = row.get("stateReason", {})
        self.tell(now, f"row {session}", f"{row.get('state')} {row.get('stateKind')} by {reason.get('source')}")
        if (request or {}).get("id") != (before or {}).get("id"):
            self.changes.append((now, session, request))
        self.shown[session] = request

    def record(self, now):
        """Records what the registry says."""
        for path in (self.sandbox.claude / "sessions").glob("*.json"):
            try:
                entry = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue
            self.tell(now, f"registry {path.stem}", f"{entry.get('status')} {entry.get('waitingFor')}")

    def tell(self, now, who, what):
        """Records something if it is new."""
        if self.last.get(who) != what:
            self.last[who] = what
            self.said.append((now, who, what))

    def went_on(self, pid, after):
        """When the registry first said, after that time, that a client does not wait; `None` if it did not."""
        said = [(at, what) for at, who, what in list(self.said) if who == f"registry {pid}" and at >= after]
        return next((at for at, what in said if not what.startswith("waiting")), None)

    def requests(self, session):
        """The requests that a session has shown, in their order."""
        return [request for _, of, request in list(self.changes) if of == session and request]

    def is_waiting(self, pid):
        """Whether the registry last said that a client waits."""
        return self.last.get(f"registry {pid}", "").startswith("waiting")

    def waited(self, pid):
        """When the registry last said anew that a client waits."""
        said = [at for at, who, what in list(self.said) if who == f"registry {pid}" and what.startswith("waiting")]
        return said[-1] if said else 0

    def gone(self, session, request):
        """When that request was first not shown any more; `None` while it is shown."""
        seen = None
        for at, of, shown in list(self.changes):
            if of == session:
                is_it = shown is not None and shown["id"] == request
                if seen and not is_it:
                    return at
                seen = seen or is_it
        return None

    # The user's commands.

    def say(self, *words, patience=30, environment=None):
        """Runs `watchbill` in the user's shell, with an environment of its own."""
        folder = self.sandbox.root / f"said-{next(self.numbers)}"
        folder.mkdir()
        variables = [f"{name}={value}" for name, value in (environment or self.environment()).items()]
        words = shlex.join([*variables, *self.words(*words)])
        root = shlex.quote(str(self.sandbox.root))
        (folder / "script").write_text(SCRIPT.format(root=root, words=words, folder=shlex.quote(str(folder))))
        began = time.monotonic()
        os.write(self.shell.fileno(), f"/bin/sh {shlex.quote(str(folder / 'script'))} &\n".encode())
        while not (folder / "code").exists():
            if time.monotonic() > began + patience:
                raise RuntimeError(f"`watchbill {' '.join(map(str, words))}` does not end within {patience} s")
            time.sleep(0.002)
        texts = [(folder / name).read_text() for name in ("code", "out", "err")]
        return Said(int(texts[0]), texts[1], texts[2], began, time.monotonic())

    def stored(self):
        """The answers as the store has them."""
        return json.loads(self.say("answers", "--json").out)

    # The hook processes.

    def hosts(self):
        """The pids of the hosts of own sessions in this data folder."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if b"--keep" in words and any(word.startswith(bytes(self.data)) for word in words):
                found.append(int(entry.name))
        return found

    def hooks(self, programs_only=False):
        """The pids of the hook processes for this data folder, their shells included."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                line = (entry / "cmdline").read_bytes()
                if b"--answer" in line and str(self.data).encode() in line:
                    is_program = line.startswith(str(self.program).encode() + b"\0")
                    found += [int(entry.name)] if is_program or not programs_only else []
            except OSError:
                continue
        return found

    def signal_hooks(self, number):
        """Sends a signal to each waiting hook program."""
        for pid in self.hooks(programs_only=True):
            os.kill(pid, number)
