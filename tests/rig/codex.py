"""Codex CLI's terminal program on a stage: its setup, its screen, its keys, and the truth about its session.

Turns run in a server in the background, which outlives the terminal; with `--no-daemon` they run in the program itself.
"""

import json
import time

import terminal
import truth
from client import CLEAR_INPUT, ENTER
from replies import tool
from sandbox import LOG_EVENT

# For every program of Codex: the stub is its model.
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
# For the terminal: nothing in the way of the first prompt. A model may ask questions and start other agents.
TERMINAL = """stream_max_retries = 0
[features]
default_mode_request_user_input = true
multi_agent_v2 = true
[analytics]
enabled = false
[projects."{work}"]
trust_level = "trusted"
"""
HEAD = """approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
model_context_window = 272000
"""
# What the screen says.
READY, DIALOG, REVIEW = "Ask Codex to do anything", "Would you like to run the following command?", "Hooks need review"
TRUST_ALL, NO_TRUST = "2", "3"


def asking(command):
    """A command that asks for permission."""
    return tool("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="May I run this?")


def waiting(gate):
    """A command that needs no permission and runs until the driver writes into the FIFO of this name."""
    return tool("exec_command", cmd=f"cat {gate}", yield_time_ms=60000)


def move_in(sandbox, seed=0, hooks=True):
    """The user's setup, and with `hooks` those of all watchers, which nobody has trusted yet."""
    folder = sandbox.home / ".codex"
    text = CONFIG.format(port=sandbox.port) + TERMINAL.format(work=sandbox.work)
    (folder / "config.toml").write_text(HEAD + text)
    installed = [witnesses for witnesses in sandbox.sets if witnesses.hooks == "installed"]
    if not hooks or not installed:
        return
    path = folder / "hooks.json"
    sandbox.install(path, sandbox.data(installed[0]), "--agent", "codex")
    settings = json.loads(path.read_text())
    for entries in sandbox.share(settings["hooks"], seed).values():
        entries.append({"hooks": [{"type": "command", "command": f"sh {LOG_EVENT} {sandbox.log}", "timeout": 3}]})
    path.write_text(json.dumps(settings, indent=2) + "\n")


def locks(sandbox):
    """The sessions that some process of Codex has loaded, or had when it was killed."""
    return {path.stem for path in (sandbox.home / ".codex/thread-writer-locks").glob("*-*.lock")}


def server(sandbox):
    """The pid of the server in the background."""
    return next(pid for pid, line in sandbox.processes() if "app-server --listen" in line)


class Terminal(terminal.Terminal):
    """One terminal program of Codex."""

    def __init__(self, place, *arguments, session=None, review=None):
        before = locks(place.sandbox)
        # Codex makes its sandbox in no home below the folder for temporary files.
        own = {"TMPDIR": str(place.sandbox.root / "tmp")}
        super().__init__(place, place.programs.codex, arguments, own)
        if review:
            self.choose(review)
        self.session = session or place.until("a session is loaded", lambda: locks(place.sandbox) - before).pop()
        self.sees(READY)

    def choose(self, number):
        """Chooses what becomes of hooks that are new. A fresh dialog may lose its first key, or take a second to close."""
        self.sees(REVIEW)
        pressed = 0

        def is_chosen():
            nonlocal pressed
            if time.monotonic() > pressed + 2:
                pressed = self.press(ENTER if self.shows(f"› {number}.") else number)
            return not self.shows(REVIEW)

        self.place.until(f"the choice {number}", is_chosen)
        # What the dialog did not take is in the prompt.
        self.press(CLEAR_INPUT)


class Codex(Terminal):
    """A terminal program on a stage, with the truth about its session."""

    def __init__(self, stage, label, *arguments, session=None, begins=truth.READY, review=None):
        super().__init__(stage, *arguments, session=session, review=review)
        self.stage, self.label = stage, label
        stage.truth.bind(label, self.session)
        stage.truth.turn(label, self.began, begins, "Codex starts")
        stage.rest(1)

    def decide(self, key, phase, action):
        """Presses a key on the dialog, and waits until it is gone. No file tells that it is."""
        self.stage.press(self, key, phase, action)
        self.stage.until("no dialog on the screen", lambda: not self.shows(DIALOG))
        self.stage.observer.note()

    def prompt(self, script):
        """Types a prompt that plays this script."""
        # A word behind it: a name at the end of the line opens a list of files.
        return self.stage.prompt(self, f"do it @@{script} now")

    def asks(self, script, step, phase=truth.PERMISSION, words=DIALOG):
        """Waits until the model has called a tool that needs the user, and the dialog is on the screen."""
        at = self.stage.answered(script, step).answered
        self.stage.turn(self, at, truth.ABOUT_TO_ASK, "the model calls for a tool that asks")
        self.stage.turn(self, self.sees(words), phase, f"the dialog is on the screen ({phase.name})")
        self.stage.observer.note()
        self.stage.rest(0.4)
        self.stage.late()

    def finish(self, script, step, phase=truth.ENDED_TURN):
        """Waits for the last answer of a turn."""
        self.stage.turn(self, self.stage.answered(script, step).answered, phase, "the model's last answer")
        self.sees("Worked for")
        self.stage.rest(1.2)

    def quit(self):
        """Types /quit. The session stays loaded in the server."""
        self.type("/quit")
        self.stage.until("the terminal program has ended", self.is_gone)
        self.stage.rest(1)
