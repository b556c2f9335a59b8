"""Sessions of our own with the real client: the host runs it over pipes, and every witness tells of one session."""

import json
import uuid
from types import SimpleNamespace

from answers import COMMAND, cell
from desk import DONE
from replies import Step, bash, text


def user(desk):
    """The environment of the user's terminal, in which the client is installed."""
    environment = desk.sandbox.environment()
    return {**environment, "PATH": f"{desk.sandbox.home}/.local/bin:{environment['PATH']}"}


def says(desk, *words):
    """A command that has to succeed."""
    said = desk.engine.say(*words, environment=user(desk))
    desk.expect(said.code == 0, f"`{' '.join(words)}` gives {said.code}: {said.out}{said.err}")
    return said.out


def only_row(desk):
    """The one row that there is."""
    rows = desk.engine.roster() or []
    desk.expect(len(rows) == 1, f"one row, but {[row['sessionId'] for row in rows]}")
    return rows[0]


def reaches(desk, state, kind=None):
    """Waits until the row says this; there is one row all the time."""

    def is_so():
        row = only_row(desk)
        return row if row["state"] == state and row.get("stateKind") == kind else None

    return desk.must(f"the row says {state} {kind}", is_so)


def left(desk):
    """The processes of the client in this home."""
    return [line for line in desk.left() if "claude" in line and "watchbill" not in line]


@cell("a session of your own: one row, an answer, another prompt, one end, nothing left")
def own_session(desk):
    session = str(uuid.uuid4())
    desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
    folder = str(desk.sandbox.work)
    row = json.loads(says(desk, "run", "--id", session, "--cwd", folder, "--json", "do it @@ask"))
    desk.expect((row["sessionId"], row["own"], row["source"]) == (session, "stream", "stream"), f"{row}")
    row = reaches(desk, "waiting_for_approval", "permission")
    desk.expect(row["request"]["answerable"] == "stream", f"one card, answered through the host: {row['request']}")
    desk.no_hooks()
    desk.answer(SimpleNamespace(session=session), "--allow")
    desk.must("the command runs", lambda: desk.made("made.txt") == "made\n")
    row = reaches(desk, "waiting_for_input", "turn_ended")
    desk.expect(row.get("pid") and row.get("transcriptPath"), f"registry and transcript tell of the same session: {row}")
    desk.outcome({"id": f"{row['ownId']}/" + json.loads(says(desk, "answers", "--json"))[0]["requestId"].split("/")[1]},
                 "allowed once", "effect")
    lines = says(desk, "prompt", session, "--wait", "--json", "say hello").splitlines()
    desk.expect(json.loads(lines[-1])["event"] == "turn_end", f"{lines[-1]}")
    says(desk, "stop", session)
    row = reaches(desk, "ended")
    desk.expect(row["stateReason"]["detail"] == "the user ended the session", f"{row['stateReason']}")
    events = [json.loads(line)["event"] for line in says(desk, "attach", session, "--json").splitlines()]
    desk.expect(events.count("session_ended") == 1, f"one end, but {events}")
    desk.must("no process is left", lambda: not left(desk), 10)
