"""Turns without questions: long tools, Escape, compaction, modes that never ask, queued prompts, two at once."""

import truth
from client import CLEAR_INPUT, ESCAPE
from replies import ASKING, Step, bash, text, waiting
from sandbox import Ways

from . import scenario


@scenario("an allowed command runs for long")
def long_command(stage):
    client = stage.client("session")
    stage.gate("gate")
    stage.model(run=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("Done."))])
    stage.prompt(client, "run it @@run")
    stage.hook("PreToolUse")
    stage.rest(2)
    stage.late()
    stage.rest(6)
    stage.open("gate")
    stage.finish(client, "run", 1)
    stage.exit(client)


@scenario("auto mode: the user is not asked, and a command runs for long", ways=Ways(mode=None), smoke=True)
def auto_mode(stage):
    client = stage.client("session")
    stage.gate("gate")
    calls = [Step(text("I run it."), bash(ASKING)), Step(text("And this."), bash(waiting("gate"))), Step(text("Done."))]
    stage.model(run=calls)
    stage.prompt(client, "run it @@run")
    stage.answered("run", 1)
    stage.rest(2)
    stage.late()
    stage.rest(6)
    stage.open("gate")
    stage.finish(client, "run", 2)
    stage.exit(client)


@scenario("Escape before the first token", smoke=True)
def escape_before_first_token(stage):
    client = stage.client("session")
    stage.hello(client)
    stage.model(slow=[Step(text("Too late."), hold=True)])
    stage.prompt(client, "think long @@slow")
    stage.asked("slow", 0)
    stage.rest(1)
    stage.late()
    stage.rest(1)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape before the first token")
    stage.status(client, "idle")
    stage.rest(4)
    # The client has put the prompt back into the input.
    client.press(CLEAR_INPUT)
    stage.exit(client)


@scenario("Escape while the answer streams")
def escape_while_streaming(stage):
    client = stage.client("session")
    stage.model(slow=[Step(text("word " * 50), hold_midway=True)])
    stage.prompt(client, "talk @@slow")
    stage.until("half an answer", lambda: stage.stub.find("slow", 0, "midway"))
    stage.rest(1)
    stage.late()
    stage.rest(1)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape while the answer streams")
    stage.status(client, "idle")
    stage.rest(4)
    stage.exit(client)


@scenario("Escape while a command runs")
def escape_while_tool_runs(stage):
    client = stage.client("session")
    stage.gate("gate")
    stage.model(run=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("Done."))])
    stage.prompt(client, "run it @@run")
    stage.hook("PreToolUse")
    stage.rest(1)
    stage.late()
    stage.rest(1)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape while a command runs")
    stage.status(client, "idle")
    stage.rest(4)
    stage.exit(client)


@scenario("the user compacts")
def compact_by_hand(stage):
    client = stage.client("session")
    stage.hello(client, "first")
    stage.hello(client, "second")
    stage.stub.compaction.delay = 3
    stage.turn(client, client.type("/compact"), truth.COMPACTING, "Enter on /compact")
    stage.asked("compaction", 0)
    stage.late()
    done = stage.answered("compaction", 0).answered
    stage.turn(client, done, truth.phase("compacted", "waiting_for_input idle", None, "turn_ended"), "the summary is there")
    stage.status(client, "idle")
    stage.rest(2)
    stage.hello(client, "third")
    stage.exit(client)


@scenario("the client compacts in mid-turn")
def compact_by_itself(stage):
    client = stage.client("session", "--autocompact", "100000")
    stage.hello(client)
    full = {"input_tokens": 20, "cache_read_input_tokens": 188000, "cache_creation_input_tokens": 500}
    stage.model(full=[Step(text("Much to read."), bash("cat readme.txt"), usage=full), Step(text("Done."))])
    stage.stub.compaction.delay = 3
    stage.prompt(client, "read @@full")
    stage.turn(client, stage.asked("compaction", 0).asked, truth.COMPACTING, "a summary is asked for")
    stage.late()
    stage.turn(client, stage.answered("compaction", 0).answered, truth.WORKING, "the summary is there")
    last = stage.until("the answer after it", lambda: after(stage, "compaction"))
    stage.turn(client, last.answered, truth.ENDED_TURN, "the model's last answer")
    stage.status(client, "idle")
    stage.rest(1.5)
    stage.exit(client)


def after(stage, script):
    """The newest answered exchange, if it came after that script's exchange."""
    newest = stage.stub.exchanges[-1]
    return newest if newest.script != script and newest.answered else None


@scenario("nothing happens for a minute after a turn, and the client reminds the user")
def idle_minute(stage):
    client = stage.client("session")
    stage.hello(client)
    stage.late()
    stage.until("the reminder", lambda: stage.observer.hooks("Notification"), patience=75)
    stage.rest(3)
    stage.exit(client)


@scenario("a second prompt is queued while the first is worked on")
def queued_prompt(stage):
    client = stage.client("session")
    stage.gate("gate")
    stage.model(
        first=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("First done."))],
        second=[Step(text("Second done."), delay=1.5)],
    )
    stage.prompt(client, "run it @@first")
    stage.hook("PreToolUse")
    stage.late()
    stage.rest(1)
    client.type("and then this @@second")
    stage.rest(2)
    stage.open("gate")
    stage.finish(client, "second", 0)
    stage.exit(client)


@scenario("two sessions in one folder: one asks, the other works")
def two_in_one_folder(stage):
    asking, busy = stage.client("asking"), stage.client("busy")
    stage.gate("gate")
    stage.model(
        ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))],
        run=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("Done."))],
    )
    stage.prompt(busy, "run it @@run")
    stage.hook("PreToolUse")
    stage.prompt(asking, "run it @@ask")
    stage.question(asking, "ask", 0)
    stage.rest(2.5)
    stage.approve(asking)
    stage.finish(asking, "ask", 1)
    stage.open("gate")
    stage.finish(busy, "run", 1)
    stage.exit(asking)
    stage.exit(busy)
