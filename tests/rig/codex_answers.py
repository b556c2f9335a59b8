"""Requests of Codex CLI that are answered from here. Its hook waits before the dialog opens in the terminal."""

import signal

from answers import cell
from codex import DIALOG, TRUST_ALL, Terminal, asking, move_in
from desk import DONE
from replies import Step, text


def begin(desk):
    """A terminal whose hooks the user has installed, and trusts; the engine runs beside it."""
    (desk.sandbox.home / ".codex/sessions").mkdir(parents=True)
    move_in(desk.sandbox)
    desk.engine.start()
    for more in ([], ["--answer"]):
        said = desk.engine.say("hooks", "install", "--agent", "codex", *more)
        desk.expect(said.code == 0, f"the hooks are installed: {said.err}")
    desk.expect("waits for trust" in desk.engine.say("hooks", "status", "--agent", "codex").out, "nobody trusts the hooks yet")
    client = Terminal(desk, review=TRUST_ALL)
    desk.expect("waits for trust" not in desk.engine.say("hooks", "status", "--agent", "codex").out, "the user trusts the hooks")
    return client


def asks(desk, client, script, command, after=None):
    """A prompt whose command asks; the request that is shown. The terminal shows no dialog yet."""
    desk.stub.scripts[script] = [Step(text("I run it."), asking(command)), DONE]
    client.type(f"do it @@{script} now")
    request = desk.card(client, after, dialog=False)
    desk.hook_waits()
    desk.expect(not client.shows(DIALOG), "Codex waits for the hook")
    return request


@cell("Codex: one request allowed, one denied with a reason, each decided once; the dialog opens when the hook ends", engine=False, needs="codex")
def codex_requests(desk):
    client = begin(desk)
    request = asks(desk, client, "one", "echo one > one.txt")
    desk.answer(client, "--allow")
    desk.asked("one", 1)
    desk.expect(desk.made("one.txt") == "one\n", "the command ran")
    desk.closed(client, request)
    desk.outcome(request, "allowed once", "effect")
    desk.answer(client, "--request", request["id"], "--deny", fails=True)
    client.sees("Worked for")
    denied = asks(desk, client, "two", "echo two > two.txt", request)
    desk.answer(client, "--deny", "not in here")
    desk.expect("not in here" in desk.results("two", 1), f"the model reads the reason: {desk.results('two', 1)}")
    desk.expect(desk.made("two.txt") is None, "the command did not run")
    desk.closed(client, denied)
    third = asks(desk, client, "three", "echo three > three.txt", denied)
    desk.engine.signal_hooks(signal.SIGTERM)
    client.sees(DIALOG)
    desk.closed(client, third)
    desk.must("the row still says that it waits", lambda: desk.engine.states.get(client.session) == "waiting_for_approval")
    client.press("y")
    desk.asked("three", 1)
    desk.expect(desk.made("three.txt") == "three\n", "the command ran")
    desk.no_hooks(within=10)
