"""Other agents beside the client: sessions that Watchbill does not read yet must not be shown."""

import json
import subprocess

from replies import Step, text, tool

from . import scenario

CONFIG = """
model = "stub"
model_provider = "stub"
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "ANTHROPIC_API_KEY"
request_max_retries = 0
"""


@scenario("Codex CLI at work: it has no row yet, and nothing is shown in its place", needs="codex")
def codex_exec(stage):
    folder = stage.sandbox.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG.format(port=stage.sandbox.port))
    stage.model(run=[Step(text("I run it."), tool("exec_command", cmd="echo hi > out.txt")), Step(text("Done."))])
    stage.late()
    # Codex cannot make its own sandbox below a temporary folder; the namespace is a sandbox already.
    words = [stage.programs.codex, "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "run it @@run"]
    ran = subprocess.run(
        [str(word) for word in words],
        cwd=stage.sandbox.work,
        env=stage.sandbox.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    events = [json.loads(line)["type"] for line in ran.stdout.splitlines() if line.startswith("{")]
    stage.expect(events[-1:] == ["turn.completed"], f"Codex ended with {events[-1:]}: {ran.stderr[-300:]}")
    stage.expect((stage.sandbox.work / "out.txt").read_text() == "hi\n", "Codex did not run its command")
    stage.rest(2)
