"""Sessions of our own with the real agents: each cell speaks to one through its driver, and checks the events.

The program `drive` (crates/drive/examples) is the agent with its driver on pipes. A cell ends with a replay of all records, which
has to give the same events.
"""

import json
import os
import queue
import shutil
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass
from types import SimpleNamespace

from codex import CONFIG
from gemini_stub import GeminiStub
from replies import PLAN_FILE, Step, bash, error, text, tool
from sandbox import Sandbox, Ways
from stub import Stub

PATIENCE = 90
CELLS = {}
DONE = Step(text("Done."))
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Wrong(Exception):
    """The driver or the agent did something else than it should."""


@dataclass(frozen=True)
class Cell:
    """One part of the talk."""

    name: str
    shows: str
    play: object
    # The field of the programs: `claude`, `codex` or `gemini`.
    agent: str


def cell(shows, agent="claude"):
    """Puts a function on the list under its own name."""

    def enlist(play):
        name = play.__name__.replace("_", "-")
        CELLS[name] = Cell(name, shows, play, agent)
        return play

    return enlist


class Talk:
    """One process of an agent with its driver."""

    def __init__(self, place, **spec):
        self.events, self.at, self.lines = [], 0, queue.Queue()
        self.session = str(uuid.uuid4())
        words = {"session": self.session, "agent": place.agent, "kind": "stream", "cwd": str(place.sandbox.work)}
        words |= {"command": place.command, "createdAt": "2026-01-01T00:00:00Z"} | spec
        self.errors = open(place.sandbox.root / f"drive-{self.session}.err", "w+")
        self.process = subprocess.Popen(
            [place.drive],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=place.sandbox.work,
            env=place.environment(),
            text=True,
        )
        threading.Thread(target=self.read, daemon=True).start()
        self.say(words)

    def read(self):
        """Takes events in."""
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def say(self, value):
        """Writes a line."""
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def do(self, what, **fields):
        """Gives a command."""
        self.say({"do": what, **fields})

    def next(self, within=PATIENCE):
        """The next event; `None` at the end of the agent."""
        if self.at == len(self.events):
            try:
                self.events.append(self.lines.get(timeout=within))
            except queue.Empty:
                last = [json.dumps(event)[:200] for event in self.events[-8:]]
                raise Wrong("no event came; the last ones: " + "\n    ".join(last)) from None
        event = self.events[self.at]
        if event is not None:
            self.at += 1
        return event

    def until(self, name, **fields):
        """The next event of that name with these fields. Others before it are passed over."""
        deadline = time.monotonic() + PATIENCE
        began = self.at
        while time.monotonic() < deadline:
            event = self.next()
            if event is None:
                break
            if event.get("event") == name and all(event.get(key) == value for key, value in fields.items()):
                return event
        passed = [json.dumps(event)[:200] for event in self.events[began:]][-12:]
        raise Wrong(f"no {name} {fields} came, but\n    " + "\n    ".join(passed))

    def since(self, at):
        """The events from a place on."""
        return [event for event in self.events[at : self.at] if event]

    def prompt(self, words, when="queue", **fields):
        """Gives a prompt; its id."""
        name = str(uuid.uuid4())
        self.do("prompt", id=name, text=words, when=when, **fields)
        return name

    def turn(self, words, reason="completed", **fields):
        """A prompt and its whole turn: the end, and the events until then."""
        at = self.at
        name = self.prompt(words, **fields)
        end = self.until("turn_end")
        expect(end["reason"] == reason, f"`{words}` ends with {reason}, but it is {end}")
        expect(name in end.get("prompts", []), f"the end names its prompt: {end}")
        return end, self.since(at)

    def request(self):
        """The request that comes next."""
        request = self.until("request")["request"]
        expect(request["answerable"] == "stream", f"it can be answered: {request}")
        return request

    def answer(self, request, what, **fields):
        """Answers a request."""
        self.do("answer", request=request["id"], decision={"do": what, **fields})
        self.until("request_closed", request=request["id"], by="answered")

    def end(self):
        """Closes standard input, and checks that a replay gives the same."""
        self.process.stdin.close()
        while (event := self.next()) is not None and "ended" not in event:
            pass
        expect(event is not None, "the program ended by itself: " + self.said())
        expect(event["replayed"], "a replay of the records gives the same events")
        return event

    def said(self):
        """What the program wrote on standard error."""
        self.errors.seek(0)
        return self.errors.read()[-400:]

    def kill(self):
        """Ends what still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self.errors.close()


class Place:
    """The folders, the stub and the programs of one cell."""

    def __init__(self, programs, agent):
        self.agent, self.drive = agent, str(programs.drive)
        self.stub = GeminiStub() if agent == "gemini" else Stub()
        self.sandbox = Sandbox(SimpleNamespace(claude=programs.claude, watchbill=None), self.stub.port, 0, [], Ways())
        settings = {"permissions": {"allow": ["Bash(cat:*)"], "defaultMode": "default"}}
        (self.sandbox.claude / "settings.json").write_text(json.dumps(settings))
        program = getattr(programs, agent)
        # The environment of the agents has another PATH than the rig, which may have a newer Node.
        self.command = [shutil.which("node") or "node", str(program)] if agent == "gemini" else [str(program)]
        self.talks = []
        if agent == "codex":
            (self.sandbox.home / ".codex").mkdir()
            (self.sandbox.home / ".codex/config.toml").write_text(CONFIG.format(port=self.stub.port))
        if agent == "gemini":
            (self.sandbox.home / ".gemini").mkdir()
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}}
            (self.sandbox.home / ".gemini/settings.json").write_text(json.dumps(auth))

    def environment(self):
        """The environment of the agent."""
        own = {"CLAUDE_CODE_MAX_RETRIES": "1", "GEMINI_API_KEY": "dummy"}
        own |= {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{self.stub.port}"} if self.agent == "gemini" else {}
        return self.sandbox.environment() | own

    def talk(self, **spec):
        """Starts the agent."""
        talk = Talk(self, **spec)
        self.talks.append(talk)
        return talk

    def script(self, **scripts):
        """What the model answers."""
        self.stub.scripts |= {name: steps if isinstance(steps, list) else [steps] for name, steps in scripts.items()}

    def must(self, what, holds, within=PATIENCE):
        """Waits for a fact."""
        deadline = time.monotonic() + within
        while not holds():
            if time.monotonic() > deadline:
                raise Wrong(f"after {within} s it is not so that {what}")
            time.sleep(0.02)

    def made(self, name):
        """The text of a file in the working folder; `None` without one."""
        path = self.sandbox.work / name
        return path.read_text() if path.exists() else None


def expect(holds, what):
    """Says what should have been."""
    if not holds:
        raise Wrong(what)


def whole(events):
    """The whole texts of the agent."""
    return [event["text"] for event in events if event.get("event") == "block" and not event.get("thinking")]


def only(events, name):
    """The events of that name."""
    return [event for event in events if event.get("event") == name]


@cell("a start, two prompts, a picture, and the same session again")
def life(place):
    place.script(hello=Step(text("Hello.")))
    talk = place.talk()
    init = talk.until("init")
    expect(init["session"] == talk.session, f"the session has our id: {init}")
    expect(init["version"] == place.version, f"the version is told: {init}")
    for words, images in (("one @@hello", []), ("two @@hello", [{"media": "image/png", "data": PICTURE}])):
        end, events = talk.turn(words, images=images)
        expect(whole(events) == ["Hello."], f"one block: {whole(events)}")
        expect("".join(event["delta"] for event in only(events, "text")) == "Hello.", "the deltas are the block")
        places = [event["place"] for event in only(events, "prompt")]
        expect(places == ["sent", "started", "done"], f"the places of a prompt: {places}")
        expect(len(only(events, "turn_start")) == 1, "one turn")
        expect(end["tokens"]["output"] == 40, f"tokens: {end}")
        context = talk.until("context")
        expect(0 < context["used"] < context["size"], f"the context: {context}")
    talk.end()
    again = place.talk(resume={"session": talk.session, "fork": False})
    again.turn("three @@hello")
    expect(not only(again.events, "moved"), "the session is the same")
    again.end()
    fork = place.talk(resume={"session": talk.session, "fork": True})
    fork.turn("four @@hello")
    expect(only(fork.events, "init")[-1]["session"] == fork.session, "the copy has our id")
    fork.end()


@cell("an interrupt while text streams, before the first word, while a command runs, while a request is open")
def interrupts(place):
    os.mkfifo(place.sandbox.work / "gate")
    stream, silent = Step(text("Half of it."), hold_midway=True), Step(text("Never."), hold=True)
    place.script(hello=Step(text("Hello.")), stream=stream, silent=silent)
    place.script(runs=[Step(text("I run."), bash("cat gate")), DONE], asks=[Step(bash("echo x > x.txt")), DONE])
    talk = place.talk()
    talk.until("init")
    talk.do("interrupt")
    expect("refused" in talk.next(), "nothing runs")

    def stopped(words, ready):
        at = talk.at
        name = talk.prompt(words)
        ready()
        talk.do("interrupt")
        end = talk.until("turn_end")
        expect(end["reason"] == "interrupted" and end["prompts"] == [name], f"{words}: {end}")
        expect(not only(talk.since(at), "error"), f"{words}: an interrupt is no error")
        talk.turn("next @@hello")
        return talk.since(at)

    stopped("@@stream", lambda: talk.until("text"))
    stopped("@@silent", lambda: place.must("the model is asked", lambda: place.stub.count("silent", 0)))
    events = stopped("@@runs", lambda: talk.until("tool_use", tool="Bash"))
    expect(only(events, "tool_result")[0].get("failed"), "the command was stopped")
    events = stopped("@@asks", talk.request)
    expect([event["by"] for event in only(events, "request_closed")] == ["withdrawn"], "the request is withdrawn")
    expect(place.made("x.txt") is None, "the command has not run")
    talk.end()


@cell("allowed, allowed always, denied with a reason, denied and stopped")
def permissions(place):
    place.script(
        allow=[Step(bash("echo a > a.txt")), DONE],
        always=[Step(bash("python3 make.py")), DONE],
        again=[Step(bash("python3 make.py")), DONE],
        deny=[Step(bash("echo b > b.txt")), DONE],
        stop=[Step(bash("echo c > c.txt")), DONE],
    )
    (place.sandbox.work / "make.py").write_text("open('made.txt', 'a').write('x')\n")
    talk = place.talk()
    talk.until("init")

    def asked(words, what, **fields):
        at = talk.at
        talk.prompt(words)
        request = talk.request()
        talk.answer(request, what, **fields)
        return request, talk.until("turn_end"), talk.since(at)

    request, _, _ = asked("@@allow", "allow")
    expect(request["shown"] == "echo a > a.txt" and place.made("a.txt") == "a\n", f"the command has run: {request}")
    request, _, _ = asked("@@always", "allow_always")
    rules = json.loads((place.sandbox.work / ".claude/settings.local.json").read_text())["permissions"]["allow"]
    expect({rule["rule"] for rule in request["always"]} <= set(rules), f"the rule is kept: {request['always']} {rules}")
    _, events = talk.turn("@@again")
    expect(not only(events, "request") and place.made("made.txt") == "xx", "the command is not asked again")
    _, end, events = asked("@@deny", "deny", reason="Use the other folder.")
    results = only(events, "tool_result")
    expect(end["reason"] == "completed" and "other folder" in results[0]["text"], f"the model reads why: {results}")
    _, end, _ = asked("@@stop", "deny_and_stop")
    expect(end["reason"] == "interrupted", f"the turn is over: {end}")
    expect(place.made("b.txt") is None and place.made("c.txt") is None, "nothing denied has run")
    talk.do("answer", request=request["id"], decision={"do": "allow"})
    # An event of the turn that has just ended may come first.
    event = talk.next()
    while event is not None and "refused" not in event:
        event = talk.next()
    expect(event is not None, "an answer counts once")
    talk.end()


@cell("a question with a choice, a question with words, a plan sent back and a plan approved")
def questions(place):
    options = [{"label": "red", "description": "r"}, {"label": "blue", "description": "b"}]
    colour = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}
    size = {"question": "Which size?", "header": "Size", "multiSelect": False, "options": options}
    plan = [Step(tool("Write", file_path=PLAN_FILE, content="1. Go\n")), Step(tool("ExitPlanMode")), DONE]
    place.script(ask=[Step(tool("AskUserQuestion", questions=[colour, size])), DONE], plan=plan, replan=plan)
    talk = place.talk()
    talk.until("init")
    talk.prompt("@@ask")
    request = talk.request()
    expect(request["kind"] == "question" and len(request["questions"]) == 2, f"two questions: {request}")
    talk.answer(request, "choose", answers=[{"options": [1]}, {"text": "as large as can be"}])
    said = talk.until("tool_result")["text"]
    expect("blue" in said and "as large as can be" in said, f"the answers reach the model: {said}")
    talk.until("turn_end")
    talk.do("set_mode", mode="plan")
    talk.until("changed", mode="plan")
    talk.prompt("@@plan")
    request = talk.request()
    expect(request["kind"] == "plan" and "1. Go" in request["shown"], f"the plan is shown: {request}")
    talk.answer(request, "deny", reason="Add tests.")
    talk.until("turn_end", reason="completed")
    talk.prompt("@@replan")
    talk.answer(talk.request(), "allow_always")
    talk.until("changed", mode="acceptEdits")
    talk.until("turn_end", reason="completed")
    talk.do("set_mode", mode="bypassPermissions")
    expect(talk.until("error")["cause"] == "command", "more power than at the start is refused")
    talk.end()


@cell("a prompt while text streams, a prompt while a tool runs, and both taken back")
def queue_of_the_agent(place):
    os.mkfifo(place.sandbox.work / "gate")
    place.script(hello=Step(text("Hello.")), stream=Step(text("Half of it."), hold_midway=True))
    place.script(runs=[Step(text("I run."), bash("cat gate")), DONE])
    talk = place.talk()
    talk.until("init")
    first = talk.prompt("@@stream")
    talk.until("text")
    second = talk.prompt("@@hello", when="steer")
    talk.until("prompt", id=second, place="sent")
    place.stub.scripts["stream"][0].release()
    expect(talk.until("turn_end")["prompts"] == [first], "the first turn answers the first prompt")
    expect(talk.until("turn_end")["prompts"] == [second], "the second has a turn of its own")
    first = talk.prompt("@@runs")
    talk.until("tool_use")
    second = talk.prompt("and this", when="steer")
    talk.until("prompt", id=second, place="sent")
    (place.sandbox.work / "gate").write_text("go on\n")
    end = talk.until("turn_end")
    expect(set(end["prompts"]) == {first, second}, f"one turn answers both: {end}")
    place.script(stream=Step(text("Half of it."), hold_midway=True))
    first = talk.prompt("@@stream")
    talk.until("text")
    taken, cancelled = talk.prompt("one", when="steer"), talk.prompt("two", when="steer")
    talk.until("prompt", id=cancelled, place="sent")
    talk.do("unqueue", id=taken)
    talk.until("prompt", id=taken, place="dropped")
    at = talk.at
    talk.do("interrupt")
    end = talk.until("turn_end")
    expect(end["reason"] == "interrupted" and end["prompts"] == [first], f"the first prompt ends: {end}")
    dropped = [event["id"] for event in only(talk.since(at), "prompt") if event["place"] == "dropped"]
    expect(dropped == [cancelled], "what the agent had queued is dropped")
    talk.turn("@@hello")
    talk.end()


@cell("slash commands: /cost answers by itself, /clear begins another session")
def commands(place):
    place.script(hello=Step(text("Hello.")))
    talk = place.talk()
    talk.until("init")
    talk.turn("@@hello")
    _, events = talk.turn("/cost")
    expect(whole(events), "the answer of a command is a block")
    talk.turn("/clear")
    moved = only(talk.events, "moved")
    expect(len(moved) == 1 and moved[0]["session"] != talk.session, f"another session: {moved}")
    talk.do("set_model", model="sonnet")
    expect("sonnet" in talk.until("changed")["model"], "another model")
    talk.turn("@@hello")
    expect(len(only(talk.events, "moved")) == 1, "it moved once")
    talk.end()


@cell("errors of the API: a bad request, a wrong key, a limit, and a prompt after each")
def errors(place):
    place.script(
        hello=Step(text("Hello.")),
        bad=Step(error=error(400, "invalid_request_error", "stub: bad")),
        key=Step(error=error(401, "authentication_error", "stub: key")),
        limit=Step(error=error(429, "rate_limit_error", "stub: limit", retry_after="1")),
        late=Step(text("At last."), error=error(500, "api_error", "stub: late", times=1)),
    )
    talk = place.talk()
    talk.until("init")
    for name, reason, cause in (("bad", "error", "api"), ("key", "login", "login"), ("limit", "limit", "limit")):
        _, events = talk.turn(f"@@{name}", reason=reason)
        causes = [event["cause"] for event in only(events, "error")]
        expect(causes == [cause], f"{name}: one error with the cause {cause}, not {causes}")
        expect(not whole(events), f"{name}: the text of an error is no answer")
        talk.turn("@@hello")
    _, events = talk.turn("@@late")
    expect(only(events, "retry") and whole(events) == ["At last."], f"it tries again: {events}")
    talk.end()
    unknown = place.talk(resume={"session": str(uuid.uuid4()), "fork": False})
    ended = unknown.end()
    expect(ended["ended"] == 1, f"an unknown session is no start: {ended}")


@cell("Codex: a prompt, an approval allowed and one denied, an interrupt, a resume, and one writer", agent="codex")
def codex(place):
    command = lambda line: tool("exec_command", cmd=line)  # noqa: E731
    place.script(
        hello=Step(text("Hello.")),
        allow=[Step(text("I run."), command("echo a > a.txt")), DONE],
        deny=[Step(text("I run."), command("echo b > b.txt")), DONE],
        wait=[Step(text("I run."), command("echo c > c.txt")), DONE],
    )
    talk = place.talk(mode="untrusted/danger-full-access")
    init = talk.until("init")
    expect(init["version"] == place.version, f"the version: {init}")
    _, events = talk.turn("@@hello")
    expect(whole(events) == ["Hello."], f"one block: {events}")
    expect(only(events, "context"), "the context is told")
    for name, what, fields in (("allow", "allow", {}), ("deny", "deny", {"reason": "Use another."})):
        at = talk.at
        prompt = talk.prompt(f"@@{name}")
        talk.answer(talk.request(), what, **fields)
        end = talk.until("turn_end")
        expect(end["reason"] == "completed" and end["prompts"] == [prompt], f"{name}: {end}")
        expect(only(talk.since(at), "tool_result"), f"{name}: the tool has a result")
    expect(place.made("a.txt") == "a\n" and place.made("b.txt") is None, "only what was allowed has run")
    talk.prompt("@@wait")
    request = talk.request()
    talk.do("interrupt")
    talk.until("turn_end", reason="interrupted")
    talk.until("request_closed", request=request["id"], by="withdrawn")
    talk.turn("@@hello")
    second = place.talk(resume={"session": init["session"], "fork": False})
    refused = second.until("error")
    expect(refused["cause"] == "start" and "another process" in refused["text"], f"one writer: {refused}")
    second.end()
    talk.end()
    again = place.talk(resume={"session": init["session"], "fork": False}, mode="untrusted/read-only")
    told = again.until("init")
    expect(told["session"] == init["session"], f"the same thread: {told}")
    expect(told["mode"] == "untrusted/read-only", f"a resume has the powers that were asked for: {told}")
    again.turn("@@hello")
    again.end()


@cell("Gemini: a prompt, a permission allowed and one denied, a cancel in each state, another mode", agent="gemini")
def gemini(place):
    talk = place.talk()
    init = talk.until("init")
    expect(init["version"] == place.version and "plan" in init["modes"], f"what it is: {init}")
    _, events = talk.turn("hello")
    expect(whole(events) == ["Hello from the stub."], f"one block: {events}")
    talk.prompt("@@run")
    talk.answer(talk.request(), "allow")
    talk.until("tool_result")
    talk.until("turn_end", reason="completed")
    expect(place.made("g.txt") == "hi\n", "the command has run")
    (place.sandbox.work / "g.txt").unlink()
    talk.prompt("@@run")
    talk.answer(talk.request(), "deny")
    talk.until("turn_end")
    expect(place.made("g.txt") is None, "the command has not run")
    talk.prompt("@@run")
    request = talk.request()
    talk.do("interrupt")
    talk.until("request_closed", request=request["id"])
    talk.until("turn_end", reason="interrupted")
    talk.prompt("@@silent")
    place.must("the model is asked", lambda: place.stub.silent)
    talk.do("interrupt")
    talk.until("turn_end", reason="interrupted")
    place.stub.release()
    talk.do("set_mode", mode="autoEdit")
    talk.until("changed", mode="autoEdit")
    talk.turn("hello")
    talk.end()


def run(programs, names, versions):
    """Plays the cells; the complaints."""
    complaints = []
    for played in CELLS.values():
        if names and played.name not in names:
            continue
        if getattr(programs, played.agent) is None:
            print(f"NOT RUN: own {played.name}, since there is no {played.agent} here", flush=True)
            continue
        began = time.monotonic()
        place = Place(programs, played.agent)
        place.version = versions[played.agent]
        try:
            played.play(place)
            print(f"  own {played.name:<20} {time.monotonic() - began:5.1f} s  {played.shows}", flush=True)
        except Wrong as wrong:
            complaints.append(f"own {played.name}: {wrong}")
        except (OSError, KeyError, ValueError) as broken:
            said = " ".join(talk.said() for talk in place.talks)
            complaints.append(f"own {played.name}: {type(broken).__name__} {broken}; {said}")
        finally:
            place.stub.close()
            for talk in place.talks:
                talk.kill()
            place.sandbox.remove()
    return complaints
