"""Answers to the real client: each cell lets it ask, decides in one way, and checks what the client and Watchbill made of it.

A cell begins with an engine and a client of its own, and ends without a hook process.
"""

import json
import shutil
import signal
import time
from dataclasses import dataclass

from client import ENTER, Client
from desk import DONE, SETTLES, Desk, Wrong
from replies import PLAN_FILE, Step, bash, text, tool
from stage import Failed

ATTEMPTS = 3
CELLS = {}
COMMAND = "echo made > made.txt"


@dataclass(frozen=True)
class Cell:
    """One way in which a request is decided."""

    name: str
    shows: str
    play: object
    # The engine runs from the start.
    engine: bool
    # The agent that asks.
    needs: str


def cell(shows, engine=True, needs="claude"):
    """Puts a function on the list under its own name."""

    def enlist(play):
        name = play.__name__.replace("_", "-")
        CELLS[name] = Cell(name, shows, play, engine, needs)
        return play

    return enlist


def after(desk, client):
    """What holds after each decision: the client can go on, and no hook process is left."""
    desk.no_hooks(within=10)
    desk.must("no request is shown", lambda: not desk.engine.shown.get(client.session), 10)


# Answers from Watchbill.


@cell("allowed: the command runs")
def allow(desk):
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.expect(request["shown"] == COMMAND, f"the whole command is shown, but it is {request['shown']!r}")
    before = desk.now(client)
    said = desk.answer(client, "--allow")
    desk.note(f"busy {1000 * (desk.leaves(client, before) - said.began):.0f} ms after the command began")
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")
    desk.outcome(request, "allowed once", "effect")


@cell("allowed always for this session: the next edit is not asked")
def always_session(desk):
    client = desk.client()
    files = [tool("Write", file_path=str(desk.sandbox.work / name), content=name) for name in ("one.txt", "two.txt")]
    desk.prompt(client, "ask", *[Step(text("I write."), file) for file in files], DONE)
    request = desk.card(client)
    places = {rule["where"] for rule in request.get("always", [])}
    desk.expect(places == {"this session"}, f"the suggestion is for this session: {request.get('always')}")
    desk.answer(client, "--always")
    desk.finished(client, "ask", 2)
    made = [desk.made(name) for name in ("one.txt", "two.txt")]
    desk.expect(made == ["one.txt", "two.txt"], f"both files are written: {made}")
    count = sum(change[2] is not None for change in desk.engine.changes)
    desk.expect(count == 1, f"one request was shown, not {count}")


@cell("allowed always: the rule is written, and the command is not asked again")
def always(desk):
    (desk.sandbox.work / "make.py").write_text("import os\nos.mkdir('made')\n")
    client = desk.client()
    request = desk.runs(client, "ask", "python3 make.py")
    desk.expect(request.get("always"), "a rule is suggested")
    desk.answer(client, "--always")
    desk.finished(client, "ask", 1)
    desk.no_hooks()
    settings = desk.sandbox.work / ".claude/settings.local.json"
    rules = json.loads(settings.read_text())["permissions"]["allow"] if settings.exists() else []
    wanted = [rule["rule"] for rule in request["always"]]
    desk.expect(set(wanted) <= set(rules), f"{wanted} are the rules of the project, which are {rules}")
    shutil.rmtree(desk.sandbox.work / "made")
    desk.prompt(client, "again", Step(text("Once more."), bash("python3 make.py")), DONE)
    desk.finished(client, "again", 1)
    desk.expect((desk.sandbox.work / "made").is_dir(), "the second command has run")
    count = sum(change[2] is not None for change in desk.engine.changes)
    desk.expect(count == 1, f"one request was shown, not {count}")


@cell("allowed always after `cd`: the rule is written where the card says")
def always_after_cd(desk):
    (desk.sandbox.work / "sub").mkdir()
    (desk.sandbox.work / "sub/make.py").write_text("import os\nos.mkdir('made')\n")
    client = desk.client()
    steps = [Step(text("I go."), bash("cd sub")), Step(text("I run it."), bash("python3 make.py")), DONE]
    desk.prompt(client, "ask", *steps)
    request = desk.card(client)
    desk.expect(request["shown"] == "python3 make.py", f"the command is asked, not {request['shown']!r}")
    desk.answer(client, "--always")
    desk.finished(client, "ask", 2)
    desk.expect((desk.sandbox.work / "sub/made").is_dir(), "the command has run below the folder")
    places = {rule["where"] for rule in request["always"]}
    written = [str(path) for path in desk.sandbox.work.rglob("settings*.json")]
    desk.expect(places == set(written), f"the card says {places}, and the client has written {written}")


@cell("denied with a reason: the model reads it, and the turn goes on")
def deny(desk):
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.answer(client, "--deny", "use the other folder")
    desk.finished(client, "ask", 1)
    said = desk.results("ask", 1)
    desk.expect("use the other folder" in said, f"the model reads the reason, but it reads {said!r}")
    desk.expect(desk.made("made.txt") is None, "the command has not run")
    desk.outcome(request, "denied: use the other folder", "effect")


@cell("denied and stopped: the turn is over")
def stop(desk):
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.answer(client, "--stop")
    desk.status(client, "idle")
    time.sleep(1.5)
    desk.expect(desk.stub.find("ask", 1) is None, "the model is not asked again")
    desk.expect(desk.made("made.txt") is None, "the command has not run")
    desk.outcome(request, "denied, and the turn stopped", "effect")


def asking(*questions):
    """A question tool call."""
    return tool("AskUserQuestion", questions=list(questions))


def one(words, header, labels, several=False):
    """One question."""
    options = [{"label": label, "description": f"This is {label}"} for label in labels]
    return {"question": words, "header": header, "multiSelect": several, "options": options}


COLOUR = one("Which colour?", "Colour", ["red", "blue", "green"])
FRUIT = one("Which fruit?", "Fruit", ["apple", "pear", "plum"], several=True)


def answered(desk, questions, words, *expected):
    """Asks, answers with these words, and looks for the answers in what the model reads."""
    client = desk.client()
    desk.prompt(client, "ask", Step(text("I ask."), asking(*questions)), DONE)
    request = desk.card(client)
    desk.expect(request["kind"] == "question", f"it is a question, not a {request['kind']}")
    desk.answer(client, *words)
    desk.finished(client, "ask", 1)
    said = desk.results("ask", 1)
    for answer in expected:
        desk.expect(answer in said, f"the model reads {answer!r}, but it reads {said!r}")
    desk.note(f"the model reads {said[:100]!r}")


@cell("a question with one answer")
def question_one(desk):
    answered(desk, [COLOUR], ["--choose", "2"], "blue")


@cell("a question with several answers")
def question_several(desk):
    answered(desk, [FRUIT], ["--choose", "1,3"], "apple, plum")


@cell("a question answered in the user's own words")
def question_text(desk):
    answered(desk, [COLOUR], ["--text", "none of them: grey"], "none of them: grey")


@cell("two questions at once")
def two_questions(desk):
    answered(desk, [COLOUR, FRUIT], ["--choose", "3", "--choose", "2,3"], "green", "pear, plum")


def in_mode(desk, client, mode):
    """The client reports this permission mode with its next turn."""
    desk.prompt(client, "hello", DONE, words="say hello")
    desk.finished(client, "hello", 0)
    found = desk.until("the hook event of the prompt", lambda: desk.mode(client, "hello"))
    desk.expect(found == mode, f"the client is in the mode {mode}, but it reports {found}")


def plan(desk, *words):
    """Lets the model show a plan and then, if it may, write a file. Answers the plan with these words."""
    client = desk.client("--permission-mode", "plan")
    written = tool("Write", file_path=PLAN_FILE, content="# Plan\n1. Write the file\n")
    file = tool("Write", file_path=str(desk.sandbox.work / "plan.txt"), content="as planned\n")
    steps = [Step(text("I plan."), written), Step(text("See."), tool("ExitPlanMode")), Step(text("I do it."), file), DONE]
    desk.prompt(client, "plan", *steps)
    request = desk.card(client)
    desk.expect(request["kind"] == "plan", f"it is a plan, not a {request['kind']} of {request['tool']}")
    desk.expect("1. Write the file" in request["shown"], f"the plan is shown, but {request['shown']!r}")
    desk.answer(client, *words)
    return client, request


@cell("a plan is approved, and each edit is asked")
def plan_allow(desk):
    client, request = plan(desk, "--allow")
    desk.asked("plan", 2)
    edit = desk.card(client, after=request)
    desk.expect(edit["tool"] == "Write", f"the edit is asked, not {edit['tool']}")
    desk.expect(edit.get("mode") == "default", f"the mode of the request is default, not {edit.get('mode')}")
    desk.answer(client, "--allow")
    desk.finished(client, "plan", 3)
    desk.expect(desk.made("plan.txt") == "as planned\n", "the file is written")
    in_mode(desk, client, "default")


@cell("a plan is approved, and edits are accepted")
def plan_always(desk):
    client, _ = plan(desk, "--always")
    desk.finished(client, "plan", 3)
    desk.expect(desk.made("plan.txt") == "as planned\n", "the file is written")
    in_mode(desk, client, "acceptEdits")


@cell("a plan is refused with feedback")
def plan_deny(desk):
    client, request = plan(desk, "--deny", "tests first")
    said = desk.results("plan", 2)
    desk.expect("tests first" in said, f"the model reads the feedback, but it reads {said!r}")
    # In plan mode the client asks for each edit.
    edit = desk.card(client, after=request)
    desk.expect(edit.get("mode") == "plan", f"the mode of the next request is plan, not {edit.get('mode')}")
    desk.answer(client, "--stop")
    desk.status(client, "idle")
    in_mode(desk, client, "plan")


@cell("three writes at once are asked one after another, and each answer reaches its own")
def three_at_once(desk):
    client = desk.client()
    names = ["one.txt", "two.txt", "three.txt"]
    calls = [tool("Write", file_path=str(desk.sandbox.work / name), content=name) for name in names]
    desk.prompt(client, "ask", Step(text("Three."), *calls), DONE)
    request = None
    for name, words in zip(names, [["--allow"], ["--deny", "not the second"], ["--allow"]]):
        request = desk.card(client, after=request)
        shown = request["input"]["file_path"]
        desk.expect(shown.endswith(name), f"{name} is asked, not {shown}")
        desk.expect(not request.get("more"), "one request is open at a time")
        said = desk.answer(client, "--request", request["id"], *words)
        desk.expect(name in said.out, f"the answer says {said.out!r}")
    desk.finished(client, "ask", 1)
    results = desk.asked("ask", 1).results
    made = [desk.made(name) for name in names]
    desk.expect(made == ["one.txt", None, "three.txt"], f"the first and the third are written: {made}")
    reached = ["not the second" in result for result in results]
    desk.expect(reached == [False, True, False], f"the reason reaches the second alone: {results}")


@cell("a subagent's request is not held back: its dialog opens in the terminal")
def subagent(desk):
    """The client opens the dialog of a subagent only when the hook has ended."""
    client = desk.client()
    errand = {"description": "Write a file", "prompt": "write it @@errand", "subagent_type": "general-purpose"}
    desk.stub.scripts["errand"] = [Step(text("I write."), bash(COMMAND)), Step(text("Written."))]
    steps = [Step(text("Delegating."), tool("Agent", **errand)), Step(text("It is under way.")), DONE]
    desk.prompt(client, "parent", *steps)
    desk.status(client, "waiting")
    desk.expect(not desk.engine.shown.get(client.session), "no card is shown")
    desk.no_hooks()
    desk.yes(client)
    desk.asked("errand", 1)
    desk.finished(client, "parent", 2)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")


@cell("yes in the terminal while a subagent's dialog waits behind it: the request goes")
def terminal_yes_before_subagent(desk):
    client = desk.client()
    errand = {"description": "Write a file", "prompt": "write it @@errand", "subagent_type": "general-purpose"}
    held = Step(text("I write."), bash(COMMAND), hold=True)
    desk.stub.scripts["errand"] = [held, Step(text("Written."))]
    delegates = Step(text("Delegating."), tool("Agent", **errand))
    desk.prompt(client, "parent", delegates, Step(text("I too."), bash("echo own > own.txt")), DONE, DONE)
    request = desk.card(client)
    desk.expect("own.txt" in request["shown"], f"the session's own request is shown, not {request['shown']!r}")
    held.release()
    desk.until("the subagent's call", lambda: getattr(desk.stub.find("errand", 0), "answered", None))
    time.sleep(SETTLES)
    at = client.press(ENTER)
    desk.until("the command to run", lambda: desk.made("own.txt"))
    desk.closed(client, request, at, 5)
    desk.no_hooks(at, 5)
    desk.waits(client)
    desk.expect(desk.made("made.txt") is None, "the subagent asks on")
    time.sleep(SETTLES)
    client.press(ENTER)
    desk.until("the subagent's command to run", lambda: desk.made("made.txt"))
    desk.finished(client, "parent", 3)


# Answers in the terminal.


def in_terminal(desk, act):
    """Asks, and lets the user decide in the terminal."""
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.hook_waits()
    at = act(client)
    desk.closed(client, request, at, 5)
    desk.no_hooks(at, 5)
    said = desk.answer(client, "--deny", "too late", fails=True)
    desk.expect("asks nothing" in said.err, f"a late answer is told so, but {said.err!r}")
    desk.expect(desk.engine.stored() == [], "no answer is stored")
    return client


@cell("yes in the terminal: the request goes")
def terminal_yes(desk):
    client = in_terminal(desk, desk.yes)
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")
    desk.expect("too late" not in desk.results("ask", 1), "the late answer does not reach the model")


@cell("yes in the terminal for a command that goes on for seconds")
def terminal_yes_long(desk):
    client = desk.client()
    request = desk.runs(client, "ask", "timeout 6 tail -f /dev/null; echo made > made.txt")
    at = desk.yes(client)
    desk.closed(client, request, at, 5)
    desk.no_hooks(at, 5)
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")


@cell("no in the terminal: the request goes")
def terminal_no(desk):
    client = in_terminal(desk, desk.no)
    desk.status(client, "idle")
    desk.expect(desk.made("made.txt") is None, "the command has not run")


@cell("Escape in the terminal: the request goes")
def terminal_escape(desk):
    client = in_terminal(desk, desk.escape)
    desk.status(client, "idle")
    desk.expect(desk.made("made.txt") is None, "the command has not run")


@cell("Escape on a question: the request goes")
def terminal_escape_question(desk):
    client = desk.client()
    desk.prompt(client, "ask", Step(text("I ask."), asking(COLOUR)), DONE)
    request = desk.card(client)
    at = desk.escape(client)
    desk.closed(client, request, at, 5)
    desk.no_hooks(at, 5)


# Ends of programs.


def killed(desk, after):
    """The client is killed some time after it asked. What does not run any more asks nothing."""
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.hook_waits()
    time.sleep(after)
    at = client.signal(signal.SIGKILL)
    client.gone.wait(10)
    took = desk.closed(client, request, at, 10)
    desk.no_hooks(at, 10)
    desk.expect(took < 2, f"the request of a client that is gone goes at once, but it took {took:.1f} s")


@cell("the client is killed while it asks")
def client_killed(desk):
    killed(desk, 1.5)


@cell("the client is killed soon after it asked")
def client_killed_early(desk):
    killed(desk, 0.2)


@cell("the client is ended while it asks")
def client_ended(desk):
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    at = client.signal(signal.SIGTERM)
    desk.closed(client, request, at, 10)
    desk.no_hooks(at, 10)


def engine_ends(desk, number):
    """The engine ends while the client asks: the dialog stays, and the user answers there. A new engine shows no request."""
    client = desk.client()
    desk.runs(client, "ask", COMMAND)
    desk.hook_waits()
    at = desk.engine.end(number)
    desk.no_hooks(at, 5)
    desk.dialog_stays(client)
    desk.engine.start()
    state = lambda: desk.engine.states.get(client.session) == "waiting_for_approval"  # noqa: E731
    desk.must("the new engine shows that the session waits", state)
    desk.expect(not desk.engine.shown.get(client.session), "no request is shown without its hook process")
    desk.answer(client, "--allow", fails=True)
    desk.yes(client)
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")
    request = desk.runs(client, "next", "echo next > next.txt")
    desk.answer(client, "--allow")
    desk.finished(client, "next", 1)
    desk.expect(desk.made("next.txt") == "next\n", "the next request is answered through the new engine")
    desk.outcome(request, "allowed once", "effect")


@cell("the engine is killed while the client asks")
def engine_killed(desk):
    engine_ends(desk, signal.SIGKILL)


@cell("the engine is ended while the client asks")
def engine_ended(desk):
    engine_ends(desk, signal.SIGTERM)


@cell("no engine runs: the hook prints nothing, and the dialog stays", engine=False)
def no_engine(desk):
    client = desk.client()
    desk.prompt(client, "ask", Step(text("I run it."), bash(COMMAND)), DONE)
    desk.waits(client)
    desk.no_hooks(within=5)
    desk.dialog_stays(client)
    desk.yes(client)
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")


@cell("print mode has no dialog: the hook holds nothing up, and no request is shown")
def print_mode(desk):
    desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
    desk.clients.append(Client(desk.programs.claude, desk.sandbox, ["-p", "run it @@ask"]))
    refused = desk.until("the refusal", lambda: desk.stub.find("ask", 1))
    desk.note(f"refused {1000 * (refused.asked - desk.stub.find('ask', 0).answered):.0f} ms after the model's call")
    desk.until("the end of the client", desk.clients.pop().gone.is_set)
    desk.no_hooks(within=5)
    desk.expect(desk.made("made.txt") is None, "the command has not run")
    desk.expect(not any(change[2] for change in desk.engine.changes), f"no request is shown: {desk.engine.changes}")


@cell("the engine is frozen while the user decides in the terminal")
def engine_frozen(desk):
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.hook_waits()
    desk.engine.process.send_signal(signal.SIGSTOP)
    try:
        desk.yes(client)
        desk.finished(client, "ask", 1)
        # The engine does not even take this one.
        desk.prompt(client, "next", Step(text("I run it."), bash("echo next > next.txt")), DONE)
        desk.waits(client)
        desk.yes(client)
        desk.finished(client, "next", 1)
    finally:
        desk.engine.process.send_signal(signal.SIGCONT)
    at = time.monotonic()
    desk.closed(client, request, at, 10)
    desk.no_hooks(at, 10)
    made = [desk.made("made.txt"), desk.made("next.txt")]
    desk.expect(made == ["made\n", "next\n"], f"both commands have run: {made}")


@cell("another hook of the user allows it at once: the request goes")
def other_hook(desk):
    desk.add_hook("allow")
    client = desk.client()
    steps = [Step(text("I run it."), bash(f"{COMMAND}; timeout 8 tail -f /dev/null")), DONE]
    desk.prompt(client, "ask", *steps)
    made = desk.until("the command to run", lambda: desk.made("made.txt") and time.monotonic())
    desk.must("the request goes", lambda: not desk.engine.shown.get(client.session), 10)
    desk.no_hooks(within=10)
    took = time.monotonic() - made
    desk.note(f"the request and its hook process went {1000 * took:.0f} ms after the command ran")
    desk.expect(took < 2, f"a request that is decided goes at once, but it took {took:.1f} s")
    desk.finished(client, "ask", 1)


def hook_ends(desk, number):
    """The hook process ends without an answer: the request goes, the dialog stays."""
    client = desk.client()
    request = desk.runs(client, "ask", COMMAND)
    desk.hook_waits()
    at = time.monotonic()
    desk.engine.signal_hooks(number)
    desk.closed(client, request, at, 5)
    desk.no_hooks(at, 5)
    desk.dialog_stays(client)
    desk.answer(client, "--allow", fails=True)
    desk.expect(desk.engine.states[client.session] == "waiting_for_approval", "the session is shown as waiting")
    desk.yes(client)
    desk.finished(client, "ask", 1)
    desk.expect(desk.made("made.txt") == "made\n", "the command has run")


@cell("the hook process is killed")
def hook_killed(desk):
    hook_ends(desk, signal.SIGKILL)


@cell("the hook process is ended")
def hook_ended(desk):
    hook_ends(desk, signal.SIGTERM)


# Agents.


@cell("an agent's own command may not answer another session")
def agent_refused(desk):
    asks = desk.client()
    request = desk.runs(asks, "ask", COMMAND)
    other = desk.client()
    words = " ".join(desk.engine.words("answer", asks.session, "--allow"))
    desk.prompt(other, "other", Step(text("I answer."), bash(f"{words} > said.txt 2>&1; echo $? >> said.txt")), DONE)
    desk.card(other)
    desk.answer(other, "--allow")
    desk.finished(other, "other", 1)
    said = desk.made("said.txt") or ""
    desk.expect("an agent may not answer" in said and said.endswith("1\n"), f"it is refused, but {said!r}")
    desk.expect(desk.engine.shown.get(asks.session, {}).get("id") == request["id"], "the request is still open")
    desk.answer(asks, "--allow")
    desk.finished(asks, "ask", 1)


def play(one, programs, kept, hooks=False):
    """Plays one cell; gives its complaint, or `None`, and its notes. A run in which the client did something else is repeated."""
    for attempt in range(1, ATTEMPTS + 1):
        desk = Desk(programs, hooks, one.engine)
        try:
            one.play(desk)
            for client in desk.clients:
                after(desk, client)
            return None, desk.notes
        except Wrong as error:
            keep(desk, kept, one.name, error)
            return str(error), desk.notes
        except Failed as error:
            keep(desk, kept, f"{one.name}-{attempt}", error)
            print(f"  {one.name}, attempt {attempt}: the client did something else: {error}", flush=True)
        finally:
            desk.close()
            desk.sandbox.remove()
    return "the client never did what the cell needs", []


def keep(desk, kept, name, failure):
    """Keeps what is needed to understand a failure."""
    if kept is None:
        return
    folder = kept / f"answers-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "failure.txt").write_text(f"{failure}\nhook processes: {desk.engine.hooks()}\n")
    origin = desk.began
    changes = [f"{at - origin:8.3f} {session} {json.dumps(request)}" for at, session, request in desk.engine.changes]
    (folder / "requests.txt").write_text("\n".join(changes) + "\n")
    said = [f"{at - origin:8.3f} {who}: {what}" for at, who, what in desk.engine.said]
    (folder / "states.txt").write_text("\n".join(said) + "\n")
    asked = [f"{e.asked - origin:8.3f} {(e.answered or origin) - origin:8.3f} {e}" for e in desk.stub.exchanges]
    (folder / "model.txt").write_text("\n".join(asked) + "\n")
    for number, client in enumerate(desk.clients):
        (folder / f"screen-{number}.raw").write_bytes(bytes(client.screen))
        (folder / f"registry-{number}.json").write_text(json.dumps(desk.registry(client)))
        lines = [json.dumps(record) for record in desk.records(client)]
        (folder / f"transcript-{number}.jsonl").write_text("\n".join(lines) + "\n")
    for errors in desk.sandbox.root.glob("serve-*.stderr"):
        shutil.copy(errors, folder)
    for log in desk.engine.data.rglob("*.log*"):
        shutil.copy(log, folder)


def run(programs, kept, names=(), hooks=False):
    """Plays the cells; gives the complaints."""
    complaints = [f"there is no cell {name}" for name in names if name not in CELLS and name != "race"]
    for one in CELLS.values():
        if names and one.name not in names:
            continue
        if getattr(programs, one.needs) is None:
            print(f"NOT RUN: {one.name}, since there is no {one.needs} here", flush=True)
            continue
        began = time.monotonic()
        complaint, notes = play(one, programs, kept, hooks)
        seconds = time.monotonic() - began
        print(f"  {one.name:<26} {'FAILED' if complaint else 'passed'} {seconds:5.1f} s {'; '.join(notes)}", flush=True)
        if complaint:
            print(f"    {complaint}", flush=True)
            complaints.append(f"answers, {one.name}: {complaint}")
    return complaints
