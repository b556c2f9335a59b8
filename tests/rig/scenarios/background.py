"""Work that continues beside or after the turn: subagents and shell commands in the background."""

import truth
from replies import Step, bash, text, tool

from . import scenario

# The command has ended, or the subagent: the client collects the report and begins a turn for it.
REPORTING = truth.phase("reporting", "working waiting_for_input idle", None, "background", "turn_ended")


@scenario("two subagents, and the parent's turn ends before theirs")
def subagents(stage):
    client = stage.client("session")
    one, two = (
        tool("Agent", description=f"Look {n}", prompt=f"look @@{n}", subagent_type="general-purpose") for n in ("one", "two")
    )
    stage.model(
        parent=[Step(text("Delegating."), one, two), Step(text("They are under way.")), *[Step(text("Heard."))] * 3],
        one=[Step(text("I read."), bash("cat first")), Step(text("Read."))],
        two=[Step(text("I read."), bash("cat second")), Step(text("Read."))],
    )
    stage.gate("first")
    stage.gate("second")
    stage.prompt(client, "delegate it @@parent")
    stage.turn(client, stage.answered("parent", 1).answered, truth.DELEGATED, "the parent's turn ends")
    stage.hook("Stop")
    stage.rest(1.5)
    stage.late()
    stage.rest(5)
    stage.open("first")
    # The first report is a turn of its own; after it the second subagent still works.
    stage.turn(client, stage.answered("parent", 2).answered, truth.DELEGATED, "the first report was heard")
    stage.rest(2)
    stage.open("second")
    stage.turn(client, stage.asked("parent", 3).asked, truth.WORKING, "the second report is taken up")
    stage.finish(client, "parent", 3)
    stage.exit(client)


@scenario("a shell command goes on in the background")
def background_shell(stage):
    client = stage.client("session")
    stage.gate("gate")
    call = bash("cat gate", run_in_background=True)
    stage.model(run=[Step(text("I start it."), call), Step(text("It runs.")), Step(text("It has ended."))])
    stage.prompt(client, "run it @@run")
    stage.finish(client, "run", 1, truth.BACKGROUND)
    stage.late()
    stage.rest(4)
    stage.turn(client, stage.open("gate"), REPORTING, "the command ends")
    stage.turn(client, stage.asked("run", 2).asked, truth.WORKING, "its report is taken up")
    stage.finish(client, "run", 2)
    stage.exit(client)
