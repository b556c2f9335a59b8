"""A session of your own with the real agent and the real host: started, prompted, killed in the middle, resumed, and ended with
all that it left.

Started by hand, with `python3 -B tests/rig/kept.py --claude FILE --host FILE`. It enters the namespace itself. Exit codes: 0 all as it
should be, 1 not, 77 this machine cannot run it.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import isolation
from replies import Step, bash, text
from sandbox import Sandbox, Ways
from stub import Stub

PATIENCE = 60


@dataclass(frozen=True)
class Programs:
    """The programs under test."""

    claude: Path
    watchbill: Path


class Wrong(Exception):
    """The host did something else than it should."""


def expect(holds, what):
    """Fails unless a condition holds."""
    if not holds:
        raise Wrong(what)


def is_alive(pid):
    """Whether a process lives; one that has ended and was not taken note of does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(what, question):
    """Waits until the question has a true answer, and gives that."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.02)
    raise Wrong(f"it did not come: {what}")


class Session:
    """An own session, as a reader has it."""

    def __init__(self, host, sandbox, data):
        self.host, self.sandbox, self.id = host, sandbox, str(uuid.uuid4())
        self.folder = data / "own" / self.id
        self.folder.mkdir(parents=True, mode=0o700)
        spec = {"session": self.id, "agent": "claude", "kind": "stream", "cwd": str(sandbox.work)}
        spec |= {"command": [str(sandbox.home / ".local/bin/claude")], "createdAt": "2026-01-01T00:00:00Z"}
        (self.folder / "spec.json").write_text(json.dumps(spec))
        self.start()

    def start(self):
        """Starts a host and attaches."""
        environment = self.sandbox.environment() | {"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1"}
        subprocess.run([self.host, self.folder], env=environment, check=True)
        self.events = []
        self.lines = self.connect()
        self.pid = json.loads(self.lines.readline())["pid"]
        self.lines.write(json.dumps({"id": "a", "request": "attach", "from": 0}) + "\n")
        self.lines.flush()

    def connect(self):
        """A connection to the host."""
        plug = socket.socket(socket.AF_UNIX)
        here = os.open(".", os.O_RDONLY)
        os.chdir(self.folder)
        plug.connect("host.sock")
        os.chdir(here)
        os.close(here)
        plug.settimeout(PATIENCE)
        return plug.makefile("rw")

    def do(self, what, **fields):
        """Carries a command out."""
        lines = self.connect()
        lines.readline()
        lines.write(json.dumps({"id": str(uuid.uuid4()), "request": "command", "command": {"do": what, **fields}}) + "\n")
        lines.flush()
        answer = json.loads(lines.readline())
        expect("error" not in answer, f"{what}: {answer}")

    def prompt(self, words):
        """Sends a prompt; gives its id."""
        name = str(uuid.uuid4())
        self.do("prompt", id=name, text=words, when="queue")
        return name

    def until(self, name, **fields):
        """Reads on to an event, and gives it."""
        while line := self.lines.readline():
            message = json.loads(line)["event"]
            for event in message.get("events", []):
                self.events.append(event)
            for event in message.get("events", []):
                if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                    return event
        raise Wrong(f"no {name} {fields} came, but {[json.dumps(event)[:160] for event in self.events[-6:]]}")

    def read(self):
        """Reads to the end of the connection."""
        while line := self.lines.readline():
            self.events.extend(json.loads(line)["event"].get("events", []))


def play(programs, host):
    """The whole life of a session."""
    stub = Stub()
    child = "setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > child; timeout 1000 tail -f /dev/null"
    stub.scripts.update(hello=[Step(text("Hello."))], child=[Step(bash(child)), Step(text("Done."))])
    sandbox = Sandbox(programs, stub.port, 1, [], Ways())
    settings = json.loads((sandbox.claude / "settings.json").read_text())
    settings["permissions"]["allow"] = ["Bash"]
    (sandbox.claude / "settings.json").write_text(json.dumps(settings))
    times = {}
    session = Session(host, sandbox, sandbox.root / "data")
    began = time.monotonic()
    first = session.prompt("@@hello once")
    session.until("turn_end", reason="completed")
    times["first prompt to the end of its turn"] = time.monotonic() - began
    second = session.prompt("@@hello again")
    session.until("prompt", id=second, place="done")

    # The host is killed in a turn: the agent ends too, and nothing is sent twice.
    third = session.prompt("@@child")
    session.until("tool_use")
    child_file = sandbox.work / "child"
    until("the child", lambda: child_file.exists() and child_file.read_text().strip())
    agent = [event["pid"] for event in session.events if event["event"] == "started"][-1]
    transcript = until("the transcript", lambda: list(sandbox.claude.glob(f"projects/*/{session.id}.jsonl")))[0]
    os.kill(session.pid, signal.SIGKILL)
    until("the end of the agent", lambda: not is_alive(agent))
    stray = int(child_file.read_text())
    session.start()
    until("the end of what the dead host's agent left", lambda: not is_alive(stray))
    child_file.unlink()
    session.until("prompt", id=first, place="done")
    fourth = session.prompt("@@child anew")
    until("the child", lambda: child_file.exists() and child_file.read_text().strip())
    prompts = [line for line in transcript.read_text().splitlines() if f'"uuid":"{third}"' in line and '"type":"user"' in line]
    expect(len(prompts) <= 1, "a prompt is in the transcript twice")

    # The end: interrupt, close, and what is left.
    stray, began = int(child_file.read_text()), time.monotonic()
    expect(is_alive(stray), "the child runs")
    session.do("stop")
    session.read()
    times["stop with a daemonised child"] = time.monotonic() - began
    ends = [event for event in session.events if event["event"] == "session_ended"]
    expect(ends and ends[-1]["asked"], f"it has ended as asked: {ends}")
    expect(not is_alive(stray), "the daemonised child has ended")
    until("the end of the host", lambda: not is_alive(session.pid))
    expect(not list((sandbox.claude / "sessions").glob("*.json")), "the registry is empty")
    places = {}
    for event in session.events:
        if event["event"] == "prompt":
            places.setdefault(event["id"], []).append(event["place"])
    for name, wanted in ((first, "done"), (second, "done")):
        expect(places[name][-1] == wanted, f"{places}")
    for name, list_of in places.items():
        expect(list_of.count("sent") <= 1, f"{name} was sent twice: {places}")
    expect(fourth in places, f"the last prompt is known: {places}")
    stub.close()
    for what, seconds in times.items():
        print(f"{what}: {seconds:.2f} s")


def main():
    """Enters the namespace and plays."""
    parser = argparse.ArgumentParser(prog="kept", description=__doc__)
    parser.add_argument("--claude", type=Path, required=True, help="the client's program")
    parser.add_argument("--host", type=Path, required=True, help="the program watchbill-host")
    options = parser.parse_args()
    if not isolation.is_inside():
        words, reason = isolation.way()
        if not words:
            print(reason)
            return 77
        isolation.enter(words)
    isolation.loopback_up()
    try:
        play(Programs(options.claude.resolve(), Path("/bin/true")), options.host.resolve())
    except Wrong as error:
        print(f"wrong: {error}")
        return 1
    print("all as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
