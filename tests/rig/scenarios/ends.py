"""The ends of a session: by /exit, by a signal, killed; and print mode, which ends by itself."""

import signal

import truth
from replies import ASKING, Step, bash, text, waiting

from . import scenario


@scenario("/exit after a turn")
def leave(stage):
    client = stage.client("session")
    stage.hello(client)
    stage.late()
    stage.rest(1)
    stage.exit(client)


@scenario("SIGTERM while a command runs")
def sigterm(stage):
    client = stage.client("session")
    stage.gate("gate")
    stage.model(run=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("Done."))])
    stage.prompt(client, "run it @@run")
    stage.hook("PreToolUse")
    stage.rest(1)
    stage.late()
    stage.rest(1)
    stage.leave(client, lambda: client.signal(signal.SIGTERM))


@scenario("kill -9 while a permission is asked for", smoke=True)
def kill_while_asked(stage):
    client = stage.client("session")
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    stage.question(client, "ask", 0)
    stage.rest(2)
    stage.turn(client, client.signal(signal.SIGKILL), truth.KILLED, "kill -9")
    stage.rest(4)


@scenario("kill -9 while a command runs")
def kill_while_working(stage):
    client = stage.client("session")
    stage.gate("gate")
    stage.model(run=[Step(text("This takes a while."), bash(waiting("gate"))), Step(text("Done."))])
    stage.prompt(client, "run it @@run")
    stage.hook("PreToolUse")
    stage.rest(1)
    stage.late()
    stage.rest(1)
    stage.turn(client, client.signal(signal.SIGKILL), truth.KILLED, "kill -9")
    stage.rest(4)
    # The command outlives its client.
    stage.open("gate")


@scenario("print mode: what would ask is refused at once, and the client ends by itself")
def print_mode(stage):
    stage.gate("gate")
    steps = [Step(text("I run it."), bash(ASKING)), Step(text("And this."), bash(waiting("gate"))), Step(text("Done."))]
    stage.model(run=steps)
    client = stage.client("session", "-p", "run it @@run", begins=truth.STARTING, wait=False)
    stage.turn(client, stage.asked("run", 0).asked, truth.WORKING, "the model is asked")
    stage.answered("run", 1)
    stage.rest(1)
    stage.late()
    stage.rest(1.5)
    stage.open("gate")
    stage.turn(client, stage.answered("run", 2).answered, truth.ENDED_TURN, "the model's last answer")
    stage.leave(client, stage.now)
