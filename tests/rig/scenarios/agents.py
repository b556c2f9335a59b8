"""opencode, Copilot, pi and Gemini in a terminal: what each of them can do, by the same steps."""

import signal

import truth
from agents import COPILOT, GEMINI, OPENCODE, PI, Seat
from client import ENTER, ESCAPE
from replies import Step, error, text, tool
from sandbox import Ways

from . import scenario

DONE = Step(text("Done."))
QUESTION = "Which colour?"
# Some agents try again for a while.
FAILS = truth.phase("fails", "working waiting_for_input idle", None, "retrying", "error")
# Until the first prompt, no file of an agent says that it shows a session again.
RESUMED = truth.phase("resumed", f"ended waiting_for_input idle {truth.ABSENT}", None, "turn_ended", "interrupted")


def begin(stage, agent, *arguments):
    """The first terminal of this agent."""
    agent.move_in(stage)
    stage.model(
        first=[Step(text("I ask."), asking(agent, "echo one > out.txt")), DONE],
        second=[Step(text("I ask."), asking(agent, "echo two > out.txt")), DONE],
        hello=[Step(text("Hello."))],
        again=[Step(text("Hello again. " * 100))],
    )
    return Seat(stage, agent, "session", *arguments)


def asking(agent, command):
    """A command, which asks for permission unless it is `cat`."""
    return tool(agent.shell, command=command, description="Run a command")


def runs(stage, seat, script="run", gate="gate"):
    """A command that asks nothing runs until the driver releases it."""
    stage.gate(gate)
    stage.model(**{script: [Step(text("This takes a while."), asking(seat.agent, f"cat {gate}")), DONE]})
    seat.prompt(script)
    stage.reached(gate)
    stage.rest(2)


def permissions(stage, agent):
    """A permission is given, and Escape answers the next one."""
    seat = begin(stage, agent)
    seat.prompt("first")
    seat.asks("first", 0)
    stage.rest(4)
    seat.decide(ENTER, truth.WORKING, "Enter on yes")
    seat.finish("first", 1)
    seat.prompt("second")
    seat.asks("second", 0)
    seat.decide(ESCAPE, agent.refused, "Escape on the dialog")
    if agent.refused is truth.WORKING:
        seat.finish("second", 1)
    stage.rest(2.5)


def escapes(stage, agent):
    """Escape in a command, while the answer streams, and before its first word."""
    seat = begin(stage, agent)
    runs(stage, seat)
    seat.interrupt("Escape in a command")
    stage.model(slow=[Step(text("word " * 50), hold_midway=True)], held=[Step(text("word"), hold=True)])
    seat.prompt("slow")
    stage.until("half an answer", lambda: stage.stub.find("slow", 0, "midway"))
    stage.rest(2)
    seat.interrupt("Escape while the answer streams")
    seat.prompt("held")
    stage.asked("held", 0)
    stage.rest(2)
    seat.interrupt("Escape before the first word")


def question(stage, agent):
    """A question is asked and answered."""
    seat = begin(stage, agent)
    stage.model(ask=[Step(text("I ask."), agent.question), DONE])
    seat.prompt("ask")
    seat.asks("ask", 0, truth.QUESTION, QUESTION)
    stage.rest(4)
    stage.press(seat, ENTER, truth.WORKING, "Enter on the first choice")
    seat.finish("ask", 1)


def compact(stage, agent):
    """/compact."""
    seat = begin(stage, agent)
    for script in ("hello", "again"):
        seat.prompt(script)
        seat.finish(script, 0)
    stage.stub.compaction.gate = stage.stub.compaction.gate or Step(hold=True).gate
    stage.turn(seat, seat.type(agent.compact), truth.COMPACTING, "Enter on /compact")
    stage.asked("compaction", 0)
    stage.rest(2)
    stage.stub.compaction.release()
    stage.turn(seat, stage.answered("compaction", 0).answered, truth.RESTS, "the summary is there")
    stage.rest(3)


def resumed(stage, agent):
    """Left, then resumed by its id; it asks."""
    seat = begin(stage, agent)
    seat.prompt("hello")
    seat.finish("hello", 0)
    seat.quit()
    words = [word.format(seat.session) for word in agent.resume]
    again = Seat(stage, agent, "session", *words, session=seat.session, begins=RESUMED)
    again.prompt("first")
    again.asks("first", 0)
    again.decide(ENTER, truth.WORKING, "Enter on yes")
    again.finish("first", 1)



def killed(stage, agent):
    """kill -9 while a command runs."""
    seat = begin(stage, agent)
    runs(stage, seat)
    stage.turn(seat, seat.signal(signal.SIGKILL), truth.KILLED, "kill -9")
    stage.observer.note()
    stage.rest(4)


def fails(stage, agent):
    """The model refuses for good."""
    seat = begin(stage, agent)
    stage.model(broken=[Step(error=error(400, "invalid_request_error", "the stub refuses"))])
    seat.prompt("broken")
    stage.turn(seat, stage.answered("broken", 0).answered, FAILS, "the model refuses")
    stage.rest(6)



def enlist(agent, play):
    """Puts a scenario of one agent on the list."""

    def played(stage):
        play(stage, agent)

    played.__name__ = f"{agent.name}_{play.__name__}"
    ways = Ways(others=(agent.folder,), files=(agent.files,), sets=agent.sets)
    scenario(f"{agent.name}: {play.__doc__[0].lower()}{play.__doc__[1:-1]}", ways=ways, needs=agent.name)(played)


for each in (OPENCODE, COPILOT, PI, GEMINI):
    asked, compacts = [question] if each.question else [], [compact] if each.compact else []
    for step in (permissions, escapes, *asked, *compacts, resumed, killed, fails):
        enlist(each, step)
