"""Sessions that continue: cleared, continued, resumed, forked."""

import uuid

import truth
from replies import ASKING, Step, bash, text

from . import scenario

# Between the start of a client that resumes a session and the moment when it takes keys.
RETURNING = truth.phase("returning", "ended waiting_for_input idle absent", None, "turn_ended")


@scenario("/clear: a new session takes the place of the old one")
def clear(stage):
    client = stage.client("before")
    stage.hello(client)
    at = client.type("/clear")
    stage.turn(client, at, truth.phase("leaving", "waiting_for_input idle ended absent", None, "turn_ended"), "/clear")
    old = client.session
    stage.until("a new id", lambda: stage.observer.registry(client.pid).get("sessionId", old) != old)
    stage.turn(client, at + 1.5, truth.ENDED, "no process is in it any more")
    client.label, client.session = "after", stage.observer.registry(client.pid)["sessionId"]
    stage.truth.bind(client.label, client.session)
    # The client counts the command itself as work.
    stage.turn(client, at, truth.STARTING, "/clear")
    stage.turn(client, at + 0.5, truth.READY, "the command has been done")
    stage.rest(2)
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(client, "run it @@ask")
    stage.question(client, "ask", 0)
    stage.rest(2)
    stage.approve(client)
    stage.finish(client, "ask", 1)
    stage.exit(client)


@scenario("--continue: the newest session of the folder goes on")
def continued(stage):
    go_on(stage, lambda session: ["--continue"])


@scenario("--resume: a session by its id goes on")
def resumed(stage):
    go_on(stage, lambda session: ["--resume", session])


def go_on(stage, arguments):
    """Ends a session and resumes it; then a permission is asked for in it."""
    first = stage.client("session")
    stage.hello(first)
    stage.exit(first)
    again = stage.client("session", *arguments(first.session), session=first.session, begins=RETURNING)
    stage.until("the old id", lambda: stage.observer.registry(again.pid).get("sessionId") == first.session)
    stage.rest(0.5)
    stage.turn(again, stage.now(), truth.phase("ready", "waiting_for_input idle", None, "turn_ended"), "it takes keys")
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(again, "run it @@ask")
    stage.question(again, "ask", 0)
    stage.rest(2)
    stage.approve(again)
    stage.finish(again, "ask", 1)
    stage.exit(again)


@scenario("--fork-session: a copy goes on, the original rests")
def forked(stage):
    first = stage.client("original")
    stage.hello(first)
    stage.exit(first)
    fork = str(uuid.uuid4())
    words = ["--resume", first.session, "--fork-session", "--session-id", fork]
    again = stage.client("fork", *words, session=fork)
    stage.model(ask=[Step(text("I will run it."), bash(ASKING)), Step(text("Done."))])
    stage.prompt(again, "run it @@ask")
    stage.question(again, "ask", 0)
    stage.rest(2)
    stage.approve(again)
    stage.finish(again, "ask", 1)
    stage.exit(again)
