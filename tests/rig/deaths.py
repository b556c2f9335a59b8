"""Sessions of our own whose parts are killed: nothing goes twice, nothing is left, and the session goes on when the user says so."""

import json
import os
import signal
import threading
import time
import uuid
from pathlib import Path

from answers import COMMAND, cell
from desk import DONE, Wrong
from hosted import left, says, user
from replies import Step, bash, text
from stage import PATIENCE, Failed

HELLO = Step(text("Hello."))


def pid_of(*words, below=None):
    """The process whose command line has these words; `None` without one. `below`: a folder that it works in, or in a folder there, so
    that what another scenario left is not taken for it."""
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if all(word.encode() in line.split(b"\0") for word in words) and works_below(entry, below):
            return int(entry.name)
    return None


def works_below(process, folder):
    """Whether a process works in this folder or in one below; without a folder, each does."""
    try:
        return folder is None or (process / "cwd").readlink().is_relative_to(Path(folder).resolve())
    except OSError:
        return False


def folder(desk, session):
    """The folder of an own session."""
    return desk.engine.data / "own" / session


def host(desk, session):
    """The process id of the host of a session."""
    return desk.must("a host runs", lambda: pid_of("--keep", str(folder(desk, session))))


def wrote(desk, session, words):
    """Whether the log of the session has these words."""
    try:
        return words.encode() in (folder(desk, session) / "log").read_bytes()
    except OSError:
        return False


def prompts(desk, session, words):
    """The user's records with these words in the transcript of the session."""
    files = list((desk.sandbox.claude / "projects").glob(f"*/{session}.jsonl"))
    lines = files[0].read_text().splitlines() if files else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    return [r for r in records if r.get("type") == "user" and words in json.dumps(r.get("message"))]


def run(desk, words):
    """Starts a session with its first prompt; its id."""
    session = str(uuid.uuid4())
    says(desk, "run", "--id", session, "--cwd", str(desk.sandbox.work), "--json", words)
    return session


def reaches(desk, session, state, kind=None):
    """Waits until the row of the session says this. No session has two."""

    def is_so():
        rows = desk.engine.roster() or []
        names = [row["sessionId"] for row in rows]
        desk.expect(len(names) == len(set(names)) <= len(list((desk.engine.data / "own").glob("*-*"))), f"one row each: {names}")
        found = [row for row in rows if row["sessionId"] == session]
        return found[0] if found and (found[0]["state"], found[0].get("stateKind")) == (state, kind) else None

    try:
        return desk.must(f"the row says {state} {kind}", is_so)
    except Wrong as wrong:
        said = [(row["sessionId"], row["state"], row.get("stateKind"), row["stateReason"]) for row in desk.engine.roster() or []]
        raise Wrong(f"{wrong}; the rows say {said}") from None


def asking(desk, word):
    """A session whose first prompt, with this word, makes it ask; its id and its row."""
    desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
    desk.stub.scripts["hello"] = [HELLO]
    session = run(desk, f"first {word} @@ask")
    return session, reaches(desk, session, "waiting_for_approval", "permission")


def kill(desk, pid):
    """Kills a process as the system does without memory. What it started may end in the meantime."""
    os.kill(pid, signal.SIGKILL)
    desk.must("it is dead", lambda: not Path(f"/proc/{pid}").exists() or b") Z " in Path(f"/proc/{pid}/stat").read_bytes())


def goes_on(desk, session, killed):
    """The session is resumed and takes a prompt. What was sent before the kill is nowhere twice."""
    desk.must("no process of the client is left", lambda: not left(desk), 10)
    says(desk, "resume", session, "--json")
    # What waited is held. A prompt that was not sent goes now.
    says(desk, "queue", session, "--go-on")
    lines = says(desk, "prompt", session, "--wait", "--json", f"after {killed} @@hello").splitlines()
    last = json.loads(lines[-1])
    desk.expect((last["event"], last["reason"]) == ("turn_end", "completed"), f"after a kill {killed}: {last}")
    reaches(desk, session, "waiting_for_input", "turn_ended")
    count = len(prompts(desk, session, f"first {killed} "))
    desk.expect(count <= 1, f"the prompt is in the transcript {count} times after a kill {killed}")
    desk.expect(len(prompts(desk, session, f"after {killed} ")) == 1, f"the next prompt is there once after a kill {killed}")
    says(desk, "stop", session)
    reaches(desk, session, "ended")
    return count


# The moment of the kill: what the log has by then, and how many seconds later.
MOMENTS = {
    "start": ("\"started\"", 0.05),
    "init": ("\"initialize\"", 0),
    "sent": ("\"type\":\"user\"", 0),
    "later": ("\"type\":\"user\"", 0.05),
    "began": ("\"state\":\"started\"", 0),
    "text": ("text_delta", 0),
    "ask": ("can_use_tool", 0),
}


def host_killed(desk, *moments):
    """Kills the host of a session at each of these moments."""
    for killed in moments:
        desk.stub.scripts["hello"] = [HELLO]
        desk.stub.scripts["slow"] = [Step(text("Half of it."), hold_midway=True)]
        desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
        script = "ask" if killed == "ask" else "slow"
        session = run(desk, f"first {killed} @@{script}")
        keeper, (words, after) = host(desk, session), MOMENTS[killed]
        desk.must(f"the moment `{killed}`", lambda: wrote(desk, session, words))
        time.sleep(after)
        kill(desk, keeper)
        for step in desk.stub.scripts["slow"]:
            step.release()
        count = goes_on(desk, session, killed)
        desk.note(f"{killed}: in the transcript {count} times")
        desk.expect(desk.made("made.txt") is None, "what was not allowed has not run")


@cell("own session, the host is killed while the agent starts: the prompt goes once or not at all, resume works")
def own_host_killed_early(desk):
    host_killed(desk, "start", "init")


@cell("own session, the host is killed around the first prompt: the conversation goes on, whether it was written or not")
def own_host_killed_at_prompt(desk):
    host_killed(desk, "sent", "later", "began")


@cell("own session, the host is killed before it hears that the first turn has begun: the written conversation goes on")
def own_host_killed_deaf(desk):
    desk.stub.scripts["hello"] = [HELLO]
    desk.stub.scripts["slow"] = [Step(text("Half of it."), hold_midway=True)]
    session = str(uuid.uuid4())
    stopped = threading.Event()

    def stop():
        end = time.monotonic() + PATIENCE
        while not wrote(desk, session, '"type":"user"'):
            if time.monotonic() > end:
                return
        os.kill(pid_of("--keep", str(folder(desk, session))), signal.SIGSTOP)
        stopped.set()

    at_once = threading.Thread(target=stop)
    at_once.start()
    words = ["run", "--id", session, "--cwd", str(desk.sandbox.work), "--json", "first deaf @@slow"]
    starts = threading.Thread(target=lambda: desk.engine.say(*words, patience=60, environment=user(desk)))
    starts.start()
    desk.until("the prompt is written", stopped.is_set)
    keeper = host(desk, session)
    # Else the host was stopped between its log and the agent's input. The cell `own-host-killed-at-prompt` has that moment.
    desk.until("the client has written the prompt down", lambda: prompts(desk, session, "first deaf"))
    kill(desk, keeper)
    starts.join()
    if wrote(desk, session, '"state":"started"'):
        raise Failed("the host heard of the turn")
    for step in desk.stub.scripts["slow"]:
        step.release()
    desk.expect(goes_on(desk, session, "deaf") == 1, "the prompt stays where it was")
    desk.expect(wrote(desk, session, "already in use"), "the client said that there is such a conversation")


@cell("own session, the host is killed while text streams, and while it asks: resume works, and the request is gone")
def own_host_killed_late(desk):
    host_killed(desk, "text", "ask")


@cell("own session, its client is killed while it asks: the request goes, the row says why, resume works")
def own_client_killed(desk):
    session, row = asking(desk, "ask")
    kill(desk, row["pid"])
    row = reaches(desk, session, "ended", "crashed")
    desk.expect(not row.get("request"), f"its request is gone: {row}")
    goes_on(desk, session, "ask")
    desk.expect(desk.made("made.txt") is None, "what was not allowed has not run")


@cell("own session, its client is killed before it has written the prompt down: the conversation goes on under another id")
def own_client_killed_early(desk):
    session, row = asking(desk, "early")
    desk.must("the client has written", lambda: prompts(desk, session, "first early"))
    kill(desk, row["pid"])
    # Where the machine is slow, the client writes that it has a prompt some time before it writes the prompt. Here it is made so.
    file = next((desk.sandbox.claude / "projects").glob(f"*/{session}.jsonl"))
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"queue-operation"' in line))
    reaches(desk, session, "ended", "crashed")
    says(desk, "resume", session, "--json")
    lines = says(desk, "prompt", session, "--wait", "--json", "after early @@hello").splitlines()
    ids = {json.loads(line)["session"] for line in lines if '"init"' in line}
    desk.expect(len(ids) == 1 and session not in ids, f"another id, but {ids}")
    # The file without a prompt keeps its row, as after a `/clear`.
    expected = {ids.pop(): ("waiting_for_input", session), session: ("ended", None)}
    rows = lambda: {row["sessionId"]: (row["state"], row.get("ownId")) for row in desk.engine.roster() or []}
    desk.must("the session has the other id", lambda: rows() == expected)
    says(desk, "stop", session)
    desk.must("it ends", lambda: {state for state, _ in rows().values()} == {"ended"})


@cell("own session, the engine is killed while it works and while it asks: the session goes on, and is answered after it")
def own_engine_killed(desk):
    desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
    session = run(desk, "first ask @@ask")
    desk.engine.end(signal.SIGKILL)
    keeper = host(desk, session)
    desk.must("it asks", lambda: wrote(desk, session, "can_use_tool"))
    desk.engine.start()
    row = reaches(desk, session, "waiting_for_approval", "permission")
    desk.expect(row["request"]["answerable"] == "stream", f"answered through the host: {row['request']}")
    says(desk, "answer", session, "--request", row["request"]["id"], "--allow")
    desk.must("the command runs", lambda: desk.made("made.txt") == "made\n")
    reaches(desk, session, "waiting_for_input", "turn_ended")
    desk.expect(host(desk, session) == keeper, "the host is the same")
    desk.expect(len(prompts(desk, session, "first ask")) == 1, "one prompt")
    says(desk, "stop", session)
    reaches(desk, session, "ended")
    desk.must("no process is left", lambda: not left(desk), 10)


@cell("own session, the host is killed while it ends: nothing is left after the next start")
def own_killed_while_it_ends(desk):
    desk.stub.scripts["hello"] = [HELLO]
    desk.stub.scripts["run"] = [Step(text("I run."), bash("cat gate")), DONE]
    os.mkfifo(desk.sandbox.work / "gate")
    session = run(desk, "first end @@run")
    desk.must("the command runs", lambda: pid_of("cat", "gate", below=desk.sandbox.work))
    keeper = host(desk, session)
    words = ["stop", session]
    ends = threading.Thread(target=lambda: desk.engine.say(*words, patience=60, environment=user(desk)))
    ends.start()
    desk.must("the end begins", lambda: wrote(desk, session, '"ending"'))
    kill(desk, keeper)
    ends.join()
    desk.must("the command is gone", lambda: not pid_of("cat", "gate", below=desk.sandbox.work), 10)
    goes_on(desk, session, "end")
