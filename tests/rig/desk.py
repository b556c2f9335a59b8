"""The real client whose permission requests wait for an answer, with the engine beside it, and the verbs that cells use."""

import json
import re
import time
import uuid

from client import ENTER, ESCAPE, Client
from engine import Engine
from replies import Step, bash, text
from sandbox import LOG_EVENT, Sandbox, Ways
from stage import PATIENCE, Failed
from stub import Stub

# The client ignores keys in the first half second of a dialog.
SETTLES = 0.8
# A key that changed nothing by then was lost.
KEY_TAKES = 2.0
# The last choice of a dialog on the screen, with its number.
NO = re.compile(rb"(\d)\. (?:\x1b\[[0-9;]*[a-zA-Z])*No\b")
DONE = Step(text("Done."))
# The words of the refusal of a request that the user cannot have seen.
JUST_NOW = "the session asked this just now"


class Wrong(Exception):
    """Watchbill did something else than it should."""


class Desk:
    """Everything of one cell."""

    def __init__(self, programs, hooks=False, engine=True):
        self.programs = programs
        self.stub = Stub()
        self.sandbox = Sandbox(programs, self.stub.port, 0, [], Ways())
        self.engine = Engine(programs.watchbill, self.sandbox)
        self.clients = []
        self.notes = []
        self.began = time.monotonic()
        self.settings(hooks)
        if engine:
            self.engine.start()

    def settings(self, hooks):
        """The one entry that waits; with `hooks` also those that a user has beside it, from the installer."""
        path = self.sandbox.claude / "settings.json"
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(cat:*)"], "defaultMode": "default"}}))
        if hooks:
            self.sandbox.install(path, self.engine.data)
        settings = json.loads(path.read_text())
        command = f"{self.programs.watchbill} hook --answer --data-dir {self.engine.data}"
        waits = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 3600}]}
        settings.setdefault("hooks", {}).setdefault("PermissionRequest", []).append(waits)
        # For the cells that need the client's own word on its mode.
        log = {"type": "command", "command": f"sh {LOG_EVENT} {self.sandbox.log}", "async": True}
        settings["hooks"].setdefault("UserPromptSubmit", []).append({"hooks": [log]})
        path.write_text(json.dumps(settings, indent=2) + "\n")

    def add_hook(self, answer):
        """Another hook of the user's own, which answers every request at once."""
        path = self.sandbox.claude / "settings.json"
        settings = json.loads(path.read_text())
        output = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": answer}}}
        command = f"cat > /dev/null; echo '{json.dumps(output)}'"
        settings["hooks"]["PermissionRequest"].append({"hooks": [{"type": "command", "command": command}]})
        path.write_text(json.dumps(settings, indent=2) + "\n")

    def close(self):
        """Ends all parts, the clients first."""
        for client in self.clients:
            client.close()
        self.engine.close()
        self.sandbox.end()
        self.stub.close()

    def left(self):
        """The processes that run in this home."""
        return [line for _, line in self.sandbox.processes()]

    def note(self, words):
        """Something to print with the cell."""
        self.notes.append(words)

    # Waiting.

    def until(self, what, question, patience=PATIENCE, error=Failed):
        """Waits until the question has a true answer, and returns that."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            answer = question()
            if answer:
                return answer
            time.sleep(0.005)
        raise error(f"{what}: not within {patience} s")

    def must(self, what, question, patience=PATIENCE):
        """Waits for something that Watchbill has to do."""
        return self.until(what, question, patience, Wrong)

    def expect(self, holds, what):
        """Something that has to hold now."""
        if not holds:
            raise Wrong(what)

    # The client.

    def client(self, *arguments, terminal=Client):
        """Starts a client, and waits until it takes keys."""
        session = str(uuid.uuid4())
        client = terminal(self.programs.claude, self.sandbox, [*arguments, "--session-id", session])
        client.session = session
        self.clients.append(client)
        self.status(client, "idle")
        time.sleep(0.5)
        return client

    def registry(self, client):
        """The registry file of a client; empty when it is half written."""
        try:
            return json.loads((self.sandbox.claude / "sessions" / f"{client.pid}.json").read_bytes())
        except (OSError, ValueError):
            return {}

    def status(self, client, *words):
        """Waits until the registry reports one of these statuses."""
        return self.until(f"registry {words}", lambda: self.registry(client).get("status") in words)

    def now(self, client):
        """What the client waits for now: its registry entry's status and time, and the shown request."""
        entry = self.until("a whole registry file", lambda: self.registry(client))
        return entry.get("status"), entry.get("statusUpdatedAt"), (self.engine.shown.get(client.session) or {}).get("id")

    def moved(self, client, before):
        """Whether the client goes on since `before`. Between two calls of one turn the registry may say nothing."""
        entry, request = self.registry(client), self.engine.shown.get(client.session)
        is_newer = entry and (entry.get("status"), entry.get("statusUpdatedAt")) != before[:2]
        return is_newer or (request is not None and before[2] is not None and request["id"] != before[2])

    def leaves(self, client, before):
        """The time at which the client goes on."""
        self.until("the client goes on", lambda: self.moved(client, before))
        return time.monotonic()

    def waits(self, client):
        """Waits until the client has a dialog open; returns its registry entry."""
        self.status(client, "waiting")
        return self.until("a whole registry file", lambda: self.registry(client))

    def prompt(self, client, script, *steps, words="do it"):
        """Types a prompt that plays these answers of the model."""
        self.stub.scripts[script] = list(steps)
        client.type(f"{words} @@{script}")

    def runs(self, client, script, command):
        """Lets the model run a command that asks, and waits until it asks. Returns the request."""
        self.prompt(client, script, Step(text("I run it."), bash(command)), DONE)
        return self.card(client)

    def asked(self, script, step):
        """Waits for the request of that step; returns the exchange."""
        return self.until(f"the request {step} of `{script}`", lambda: self.stub.find(script, step))

    def results(self, script, step):
        """What the client says of its tool calls in the request of that step, as one text."""
        return "\n".join(self.asked(script, step).results)

    def finished(self, client, script, step):
        """Waits for the end of a turn."""
        self.asked(script, step)
        self.status(client, "idle", "shell")

    def records(self, client):
        """The transcript of a client."""
        found = list((self.sandbox.claude / "projects").glob(f"*/{client.session}.jsonl"))
        lines = found[0].read_text().splitlines() if found else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def mode(self, client, script):
        """The permission mode that the client reports with the prompt that names the script."""
        for path in self.sandbox.log.glob("*.json"):
            payload = json.loads(path.read_bytes())
            if payload["session_id"] == client.session and f"@@{script}" in payload["prompt"]:
                return payload["permission_mode"]
        return None

    # The user at the terminal.

    def decide(self, client, key, request=None):
        """Answers the open dialog by a key; a lost key is pressed again. Returns the time of the key that counted.

        With `request` the engine may not show it any more: it began after that request.
        """
        time.sleep(SETTLES)
        before = self.now(client)
        if request:
            before = (*before[:2], request["id"])
        for _ in range(3):
            at = client.press(key)
            end = time.monotonic() + KEY_TAKES
            while time.monotonic() < end:
                if self.moved(client, before):
                    return at
                time.sleep(0.005)
        raise Failed(f"the client ignores the key {key!r}")

    def yes(self, client, request=None):
        """Enter on the first choice, which is yes."""
        return self.decide(client, ENTER, request)

    def no(self, client):
        """The number of the last choice, which is no. How many choices there are depends on the request."""
        numbers = self.until("a choice `No` on the screen", lambda: NO.findall(bytes(client.screen)))
        return self.decide(client, numbers[-1].decode())

    def escape(self, client):
        """Escape on the dialog."""
        return self.decide(client, ESCAPE)

    # The engine.

    def card(self, client, after=None, dialog=True):
        """Waits until the session shows a request, another one than `after`, and the client its dialog. Returns the request."""

        def fresh():
            request = self.engine.shown.get(client.session)
            return request if request and request["id"] != (after or {}).get("id") else None

        if dialog:
            self.waits(client)
        return self.must("the request is shown", fresh)

    def answer(self, client, *words, fails=False):
        """`watchbill answer`, and nothing less than its success. A request that was asked just now is answered by its id."""
        said = self.engine.say("answer", client.session, *words)
        if not fails and said.code != 0 and JUST_NOW in said.err:
            self.expect("--request" not in words, f"a request that is named is answered at any time: {said.err}")
            request = said.err.split("--request")[1].strip()
            said = self.engine.say("answer", client.session, "--request", request, *words)
        if (said.code != 0) != fails:
            raise Wrong(f"`answer {' '.join(words)}` gives {said.code}: {said.out}{said.err}".strip())
        return said

    def closed(self, client, request, since=None, within=PATIENCE):
        """Waits until the request is not shown any more; notes the time since `since`."""
        at = self.must("the request goes", lambda: self.engine.gone(client.session, request["id"]), within)
        if since:
            self.note(f"the request went after {1000 * (at - since):.0f} ms")
        return at - since if since else None

    def no_hooks(self, since=None, within=PATIENCE):
        """Waits until no hook process is left."""
        self.must("no hook process is left", lambda: not self.engine.hooks(), within)
        if since:
            self.note(f"the hook process after {1000 * (time.monotonic() - since):.0f} ms at most")

    def hook_waits(self):
        """A hook process waits."""
        self.must("a hook process waits", lambda: self.engine.hooks(programs_only=True))

    def dialog_stays(self, client, seconds=1.5):
        """The dialog in the terminal stays open."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.registry(client).get("status", "waiting")
            self.expect(status == "waiting", f"the dialog stays, but the client is {status}")
            time.sleep(0.02)

    def outcome(self, request, decision, outcome):
        """Waits until the stored answer to the request is this one."""
        seen = []

        def stored():
            seen[:] = [(a["decision"], a["outcome"]) for a in self.engine.stored() if a["requestId"] == request["id"]]
            return seen == [(decision, outcome)]

        try:
            self.must("stored", stored, 8)
        except Wrong:
            raise Wrong(f"stored is {seen}, and not {(decision, outcome)}") from None

    def made(self, name):
        """The text of a file that a tool made; `None` without it."""
        try:
            return (self.sandbox.work / name).read_text()
        except FileNotFoundError:
            return None
