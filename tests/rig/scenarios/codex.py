"""Codex CLI in a terminal: its server in the background runs the turns, and its terminals come and go."""

import os
import signal

import truth
from client import ESCAPE
from codex import DIALOG, NO_TRUST, TRUST_ALL, Codex, asking, move_in, server, waiting
from replies import Step, text, tool
from sandbox import Ways

from . import scenario

WAYS = Ways(others=(".codex/sessions",), files=(".codex/sessions/*/*/*/*.jsonl",))
DONE = Step(text("Done."))
COLOUR = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
ASKED = {"id": "colour", "header": "Colour", "question": "Which colour?", "options": COLOUR}


def begin(stage, *arguments, label="session", review=TRUST_ALL):
    """The first terminal in a home with hooks, which the user trusts."""
    move_in(stage.sandbox)
    stage.model(
        first=[Step(text("I ask."), asking("echo one > out.txt")), DONE],
        second=[Step(text("I ask."), asking("echo two > out.txt")), DONE],
        third=[Step(text("I ask."), asking("echo three > out.txt")), DONE],
        hello=[Step(text("Hello."))],
    )
    return Codex(stage, label, *arguments, review=review)


def runs(stage, client, script="run", gate="gate"):
    """A command that asks nothing runs until the driver releases it."""
    stage.gate(gate)
    stage.model(**{script: [Step(text("This takes a while."), waiting(gate)), DONE]})
    client.prompt(script)
    stage.reached(gate)
    stage.late()
    stage.rest(2)


@scenario("Codex: a permission is given, one is refused, Escape on a third", ways=WAYS, smoke=True, needs="codex")
def codex_permissions(stage):
    client = begin(stage)
    client.prompt("first")
    client.asks("first", 0)
    stage.rest(3)
    client.decide("y", truth.WORKING, "y on the dialog")
    client.finish("first", 1)
    for script, key, name in [("second", "n", "n on the dialog"), ("third", ESCAPE, "Escape on the dialog")]:
        client.prompt(script)
        client.asks(script, 0)
        stage.rest(2)
        client.decide(key, truth.INTERRUPTED, name)
        stage.rest(2.5)


@scenario("Codex: Escape in a command, while the answer streams, and before its first word", ways=WAYS, needs="codex")
def codex_escapes(stage):
    client = begin(stage)
    runs(stage, client)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape in a command")
    stage.rest(2.5)
    stage.open("gate")
    stage.rest(1)
    stage.model(slow=[Step(text("word " * 50), hold_midway=True)], held=[Step(text("word"), hold=True)])
    client.prompt("slow")
    stage.until("half an answer", lambda: stage.stub.find("slow", 0, "midway"))
    stage.rest(2)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape while the answer streams")
    stage.rest(2.5)
    client.prompt("held")
    stage.asked("held", 0)
    stage.rest(2)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape before the first word")
    stage.rest(2.5)


@scenario("Codex: a question", ways=WAYS, needs="codex")
def codex_question(stage):
    client = begin(stage)
    stage.model(ask=[Step(text("I ask."), tool("request_user_input", questions=[ASKED])), DONE])
    client.prompt("ask")
    client.asks("ask", 0, truth.QUESTION, "Which colour?")
    stage.rest(3)
    stage.press(client, "\r", truth.WORKING, "Enter on the first choice")
    client.finish("ask", 1)


@scenario("Codex: /compact", ways=WAYS, needs="codex")
def codex_compact(stage):
    client = begin(stage)
    client.prompt("hello")
    client.finish("hello", 0)
    stage.late()
    stage.stub.compaction.gate = stage.stub.compaction.gate or Step(hold=True).gate
    stage.turn(client, client.type("/compact"), truth.COMPACTING, "Enter on /compact")
    stage.asked("compaction", 0)
    stage.rest(2)
    stage.stub.compaction.release()
    stage.turn(client, stage.answered("compaction", 0).answered, truth.RESTS, "the summary is there")
    stage.rest(3)


@scenario("Codex: resumed by its id, then forked; each asks", ways=WAYS, needs="codex")
def codex_resumed_and_forked(stage):
    first = begin(stage)
    first.prompt("hello")
    first.finish("hello", 0)
    first.quit()
    again = Codex(stage, "session", "resume", first.session, session=first.session, begins=truth.RESTS)
    again.prompt("first")
    again.asks("first", 0)
    stage.rest(2)
    again.decide("y", truth.WORKING, "y on the dialog")
    again.finish("first", 1)
    again.quit()
    fork = Codex(stage, "fork", "fork", first.session)
    fork.prompt("second")
    fork.asks("second", 0)
    stage.rest(2)
    fork.decide("y", truth.WORKING, "y on the dialog")
    fork.finish("second", 1)


@scenario("Codex: the terminal is left while a permission is asked for, and another one gives it", ways=WAYS, needs="codex")
def codex_left_while_asked(stage):
    client = begin(stage)
    client.prompt("first")
    client.asks("first", 0)
    stage.rest(1)
    client.close()
    stage.rest(4)
    again = Codex(stage, "session", "resume", client.session, session=client.session, begins=truth.PERMISSION)
    again.sees(DIALOG)
    again.decide("y", truth.WORKING, "y on the dialog")
    again.finish("first", 1)


@scenario("Codex: kill -9 of the terminal while a command runs, then of the server", ways=WAYS, needs="codex")
def codex_killed(stage):
    # Not every machine that gives the rig a namespace lets Codex make its own sandbox in there.
    free = ["-s", "danger-full-access"]
    client = begin(stage, *free)
    runs(stage, client)
    client.signal(signal.SIGKILL)
    stage.rest(3)
    stage.turn(client, stage.open("gate"), truth.WORKING, "the command ends")
    stage.turn(client, stage.answered("run", 1).answered, truth.ENDED_TURN, "the model's last answer")
    stage.rest(2)
    again = Codex(stage, "session", "resume", *free, client.session, session=client.session, begins=truth.RESTS)
    runs(stage, again, "more", "other")
    at = stage.now()
    os.kill(server(stage.sandbox), signal.SIGKILL)
    stage.turn(again, at, truth.KILLED, "kill -9 of the server")
    stage.observer.note()
    stage.rest(4)


@scenario("Codex without its server: a permission is given; kill -9 while a command runs", ways=WAYS, needs="codex")
def codex_alone(stage):
    client = begin(stage, "--no-daemon")
    client.prompt("first")
    client.asks("first", 0)
    stage.rest(7)
    client.decide("y", truth.WORKING, "y on the dialog")
    client.finish("first", 1)
    runs(stage, client)
    stage.turn(client, client.signal(signal.SIGKILL), truth.KILLED, "kill -9")
    stage.rest(4)


@scenario("Codex with hooks that are not trusted: its server tells alone", ways=WAYS, needs="codex")
def codex_untrusted(stage):
    client = begin(stage, review=NO_TRUST)
    client.prompt("first")
    client.asks("first", 0)
    stage.rest(3)
    stage.expect(not stage.observer.hooks("PermissionRequest"), "a hook ran that nobody trusts")
    client.decide("y", truth.WORKING, "y on the dialog")
    client.finish("first", 1)


@scenario("Codex: two terminals on one server: one asks, the other works", ways=WAYS, needs="codex")
def codex_two(stage):
    client = begin(stage, label="asks")
    other = Codex(stage, "works")
    runs(stage, other)
    client.prompt("first")
    client.asks("first", 0)
    stage.rest(6)
    client.decide("y", truth.WORKING, "y on the dialog")
    client.finish("first", 1)
    stage.turn(other, stage.open("gate"), truth.WORKING, "the command ends")
    other.finish("run", 1)


@scenario("Codex: a subagent asks, and its parent's row says so", ways=WAYS, needs="codex")
def codex_subagent(stage):
    client = begin(stage)
    spawn = tool("collaboration.spawn_agent", message="do it @@child now", task_name="helper")
    wait = tool("collaboration.wait_agent", timeout_ms=60000)
    stage.model(parent=[Step(text("A helper does it."), spawn), Step(wait), DONE])
    stage.model(child=[Step(text("I ask."), asking("echo child > out.txt")), DONE])
    client.prompt("parent")
    client.asks("child", 0)
    stage.rest(3)
    client.decide("y", truth.WORKING, "y on the dialog")
    client.finish("parent", 2)
