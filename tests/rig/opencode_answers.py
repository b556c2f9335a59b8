"""Requests of opencode that are answered from here. Its dialog stays open beside the plugin; the first answer counts."""

from agents import COLOURS, OPENCODE, opencode_sessions
from answers import cell
from client import ENTER
from desk import DONE
from replies import Step, text, tool
from scenarios.agents import asking
from terminal import Terminal

WHICH, MANY, NO = ({"question": f"{words} colour?", "header": words, "options": COLOURS} for words in ("Which", "Many", "No"))
MANY["multiple"] = True
# What the screen says while a question is open.
OPEN = "esc dismiss"


def begin(desk):
    """A terminal whose plugin the user has installed; the engine runs beside it."""
    (desk.sandbox.home / OPENCODE.folder).mkdir(parents=True)
    OPENCODE.move_in(desk)
    desk.engine.start()
    for more in ([], ["--answer"]):
        said = desk.engine.say("hooks", "install", "--agent", "opencode", *more)
        desk.expect(said.code == 0, f"the plugin is installed: {said.err}")
    client = Terminal(desk, desk.programs.opencode, [], OPENCODE.environment(desk.sandbox))
    client.session = None
    client.sees(OPENCODE.ready)
    return client


def asks(desk, client, script, call, words, after=None):
    """A prompt whose call asks; the request that is shown beside the dialog in the terminal."""
    desk.stub.scripts[script] = [Step(text("I ask."), call), DONE]
    client.type(f"do it @@{script} now")
    sessions = desk.until("a session is there", lambda: opencode_sessions(desk.sandbox.home))
    client.session = client.session or sessions.pop()
    request = desk.card(client, after, dialog=False)
    desk.hook_waits()
    client.sees(words)
    return request


def over(desk, client, request, words):
    """The request is decided: its dialog has gone, and so has its hook."""
    desk.until("no dialog on the screen", lambda: not client.shows(words))
    desk.closed(client, request)
    desk.no_hooks(within=10)


@cell("opencode: a command allowed, one denied with a reason, and one without", engine=False, needs="opencode")
def opencode_requests(desk):
    client = begin(desk)
    request = asks(desk, client, "one", asking(OPENCODE, "echo one > one.txt"), OPENCODE.permission)
    desk.answer(client, "--allow")
    desk.asked("one", 1)
    desk.expect(desk.made("one.txt") == "one\n", "the command ran")
    over(desk, client, request, OPENCODE.permission)
    desk.outcome(request, "allowed once", "effect")
    denied = asks(desk, client, "two", asking(OPENCODE, "echo two > two.txt"), OPENCODE.permission, request)
    desk.answer(client, "--deny", "not in here")
    desk.expect("not in here" in desk.results("two", 1), f"the model reads the reason: {desk.results('two', 1)}")
    desk.expect(desk.made("two.txt") is None, "the command did not run")
    over(desk, client, denied, OPENCODE.permission)
    again = asks(desk, client, "three", asking(OPENCODE, "echo three > two.txt"), OPENCODE.permission, denied)
    desk.answer(client, "--deny")
    desk.asked("three", 1)
    desk.expect(desk.made("two.txt") is None, "the command did not run")
    over(desk, client, again, OPENCODE.permission)


@cell("opencode: questions answered by options and by own words, in the terminal, and declined", engine=False, needs="opencode")
def opencode_questions(desk):
    client = begin(desk)
    request = asks(desk, client, "one", tool("question", questions=[WHICH]), OPEN)
    desk.expect(request["kind"] == "question", f"a question is asked: {request}")
    desk.answer(client, "--allow", fails=True)
    desk.answer(client, "--choose", "2")
    said = desk.results("one", 1)
    desk.expect("Blue" in said and "Red" not in said, f"the model reads the choice: {said}")
    over(desk, client, request, OPEN)
    desk.outcome(request, "answered: Blue", "effect")
    several = asks(desk, client, "two", tool("question", questions=[MANY, WHICH]), OPEN, request)
    desk.answer(client, "--choose", "1,2", "--text", "Green, please")
    said = desk.results("two", 1)
    desk.expect("Green, please" in said and "Red, Blue" in said, f"the model reads both answers: {said}")
    over(desk, client, several, OPEN)
    typed = asks(desk, client, "three", tool("question", questions=[WHICH]), OPEN, several)
    client.press(ENTER)
    desk.expect("Red" in desk.results("three", 1), "the model reads the answer of the terminal")
    over(desk, client, typed, OPEN)
    declined = asks(desk, client, "four", tool("question", questions=[NO]), OPEN, typed)
    desk.answer(client, "--deny")
    over(desk, client, declined, OPEN)
    words = "waiting_for_input interrupted"
    desk.must("the turn is over", lambda: desk.engine.last.get(f"row {client.session}", "").startswith(words))
    desk.expect(desk.stub.find("four", 1) is None, "the model is not asked again")
