"""The client asks the user: permission, question, plan; the user answers, refuses or leaves the dialog."""

import truth
from client import ESCAPE
from replies import ASKING, Step, bash, text, tool
from sandbox import Ways

from . import scenario


@scenario("a permission is asked for and given after a while", smoke=True)
def permission_approve(stage):
    client = stage.client("session")
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    stage.question(client, "ask", 0)
    stage.rest(7)
    stage.approve(client)
    stage.finish(client, "ask", 1)
    stage.exit(client)


@scenario("a permission is refused", smoke=True)
def permission_deny(stage):
    client = stage.client("session")
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    stage.question(client, "ask", 0)
    stage.rest(2)
    stage.press(client, "4", truth.INTERRUPTED, "no")
    stage.status(client, "idle")
    stage.rest(3)
    stage.hello(client)
    stage.exit(client)


@scenario("Escape on a permission dialog")
def escape_on_dialog(stage):
    client = stage.client("session")
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    stage.question(client, "ask", 0)
    stage.rest(2)
    stage.press(client, ESCAPE, truth.INTERRUPTED, "Escape on the dialog")
    stage.status(client, "idle")
    stage.rest(3)
    stage.exit(client)


@scenario("the agent asks a question")
def question(stage):
    client = stage.client("session")
    choices = [{"label": label, "description": f"The {label} one"} for label in ("red", "blue")]
    asked = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": choices}
    stage.model(ask=[Step(tool("AskUserQuestion", questions=[asked])), Step(text("Thank you."))])
    stage.prompt(client, "choose @@ask")
    stage.question(client, "ask", 0, truth.QUESTION)
    stage.rest(2.5)
    stage.approve(client)
    stage.finish(client, "ask", 1)
    stage.exit(client)


@scenario("a plan waits for a verdict")
def plan(stage):
    client = stage.client("session", "--permission-mode", "plan")
    proposal = tool("ExitPlanMode", plan="1. Do it\n2. Look at it", allowedPrompts=[])
    stage.model(plan=[Step(text("I have a plan."), proposal), Step(text("Done."))])
    stage.prompt(client, "plan it @@plan")
    stage.question(client, "plan", 0, truth.PLAN)
    stage.rest(2.5)
    stage.approve(client)
    stage.finish(client, "plan", 1)
    stage.exit(client)


@scenario("a hook of the user's own answers every question at once: the user is not needed", ways=Ways(answer="allow"))
def hook_answers(stage):
    client = stage.client("session")
    stage.gate("gate")
    calls = [Step(text("I run it."), bash(ASKING)), Step(text("And this."), bash("cat gate > copy.txt"))]
    stage.model(ask=[*calls, Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    action = "the model calls for a tool that asks"
    stage.turn(client, stage.answered("ask", 0).answered, truth.ASKED_IN_PASSING, action)
    stage.turn(client, stage.asked("ask", 1).asked, truth.WORKING, "the command has run")
    stage.turn(client, stage.answered("ask", 1).answered, truth.ASKED_IN_PASSING, action)
    stage.turn(client, stage.reached("gate"), truth.WORKING, "the command runs")
    stage.late()
    stage.rest(3)
    stage.open("gate")
    stage.finish(client, "ask", 2)
    stage.exit(client)


@scenario("a menu is open: it is no need, the user is there already")
def menu(stage):
    client = stage.client("session")
    stage.hello(client)
    dialog = truth.phase("menu", "waiting_for_input idle", "dialog", "turn_ended", None)
    stage.turn(client, client.type("/model"), dialog, "Enter on /model")
    stage.status(client, "waiting")
    stage.late()
    stage.rest(2.5)
    stage.press(client, ESCAPE, truth.ENDED_TURN, "the menu is left")
    stage.rest(1.5)
    stage.exit(client)


@scenario("two calls ask, one after the other, beside one that does not")
def parallel_tools(stage):
    client = stage.client("session")
    calls = [bash("cat gate > one.txt"), bash("echo two > two.txt"), tool("Read", file_path="./readme.txt")]
    stage.gate("gate")
    stage.model(ask=[Step(text("Three at once."), *calls), Step(text("Done."))])
    stage.prompt(client, "do both @@ask")
    stage.question(client, "ask", 0)
    stage.rest(2)
    stage.approve(client)
    stage.rest(2)
    # The client asks for the second one when the first command has ended.
    stage.turn(client, stage.open("gate"), truth.PERMISSION, "the first command ends")
    stage.hook("PermissionRequest", 2)
    stage.status(client, "waiting")
    stage.rest(2)
    stage.approve(client)
    stage.finish(client, "ask", 1)
    stage.exit(client)


@scenario("a subagent asks after its parent's turn has ended", smoke=True)
def subagent_permission(stage):
    client = stage.client("session")
    errand = {"description": "Write a file", "prompt": "write it @@errand", "subagent_type": "general-purpose"}
    stage.model(
        parent=[Step(text("Delegating."), tool("Agent", **errand)), Step(text("It is under way.")), Step(text("Done."))],
        errand=[
            Step(text("I look first."), bash("cat look")),
            Step(text("I write."), bash(ASKING)),
            Step(text("Written.")),
        ],
    )
    stage.gate("look")
    stage.prompt(client, "delegate it @@parent")
    stage.turn(client, stage.answered("parent", 1).answered, truth.DELEGATED, "the parent's turn ends")
    stage.hook("Stop")
    stage.rest(1.5)
    stage.open("look")
    stage.question(client, "errand", 1)
    stage.rest(2.5)
    stage.approve(client, truth.DELEGATED)
    stage.turn(client, stage.asked("parent", 2).asked, truth.WORKING, "the subagent's report is taken up")
    stage.finish(client, "parent", 2)
    stage.exit(client)
