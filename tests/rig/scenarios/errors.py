"""The API fails: for a while, for good, by a limit."""

import truth
from replies import Step, error, text

from . import scenario

# The API sends this beside the status: do not try again.
FINAL = {"x_should_retry": "false"}


@scenario("the API is overloaded for a while: tried again, then well")
def error_then_well(stage):
    client = stage.client("session")
    failing = error(429, "rate_limit_error", "This request would exceed your rate limit", times=2, retry_after="2")
    stage.model(fail=[Step(text("Recovered."), error=failing)])
    stage.prompt(client, "try @@fail")
    stage.turn(client, stage.answered("fail", 0).answered, truth.RETRYING, "the API refuses")
    stage.late()
    stage.until("a third attempt", lambda: stage.stub.count("fail", 0) == 3)
    stage.finish(client, "fail", 0)
    stage.exit(client)


@scenario("the API refuses for good")
def error_for_good(stage):
    client = stage.client("session")
    stage.model(fail=[Step(error=error(400, "invalid_request_error", "stub: bad request"))])
    stage.prompt(client, "try @@fail")
    stage.finish(client, "fail", 0, truth.FAILED)
    stage.late()
    stage.rest(2)
    stage.hello(client)
    stage.exit(client)


@scenario("the API refuses for good, because requests come too fast")
def too_many_requests(stage):
    refuse(stage, "This request would exceed your rate limit", truth.FAILED)


@scenario("the API says that the account's limit is reached")
def limit(stage):
    refuse(stage, "You have reached your usage limit; it resets at 5pm", truth.LIMITED)


def refuse(stage, message, phase):
    """A prompt that the API answers with 429 and this message."""
    client = stage.client("session")
    stage.model(fail=[Step(error=error(429, "rate_limit_error", message, **FINAL))])
    stage.prompt(client, "try @@fail")
    stage.finish(client, "fail", 0, phase)
    stage.late()
    stage.rest(2)
    stage.exit(client)
