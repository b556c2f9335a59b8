"""Other agents than Claude Code."""

import json
import subprocess

import truth
from codex import CONFIG
from replies import Step, text, tool
from sandbox import Ways

from . import scenario

# The process may have ended by the time at which a watcher looks.
DONE = truth.phase("done", f"waiting_for_input idle ended {truth.ABSENT}", "turn_ended", None)


@scenario("Codex CLI by a program: a turn with a command, seen in its rollout", ways=Ways(others=(".codex",)), needs="codex")
def codex_exec(stage):
    (stage.sandbox.home / ".codex/config.toml").write_text(CONFIG.format(port=stage.sandbox.port))
    stage.gate("gate")
    stage.model(run=[Step(text("I run it."), tool("exec_command", cmd="cat gate > out.txt")), Step(text("Done."))])
    stage.late()
    # Codex cannot make its own sandbox below a temporary folder; the namespace is a sandbox already.
    words = [stage.programs.codex, "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "run it @@run"]
    stage.truth.turn("codex", stage.now(), truth.STARTING, "codex exec with a prompt")
    ran = subprocess.Popen(
        [str(word) for word in words],
        cwd=stage.sandbox.work,
        env=stage.sandbox.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    started = json.loads(ran.stdout.readline())
    stage.expect(started["type"] == "thread.started", f"Codex began with {started}")
    stage.truth.bind("codex", started["thread_id"])
    stage.truth.turn("codex", stage.reached("gate"), truth.WORKING, "its command runs")
    stage.rest(2)
    stage.open("gate")
    stage.truth.turn("codex", stage.answered("run", 1).answered, DONE, "the model's last answer")
    rest, _ = ran.communicate(timeout=60)
    events = [json.loads(line)["type"] for line in rest.splitlines() if line.startswith("{")]
    stage.expect(events[-1:] == ["turn.completed"], f"Codex ended with {events[-1:]}")
    stage.expect((stage.sandbox.work / "out.txt").read_text() == "go on\n", "Codex did not run its command")
    stage.rest(2)
