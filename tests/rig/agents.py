"""Other agents' terminal programs on a stage: what each needs at home, what its screen says, its keys, and its sessions."""

import json
import sqlite3
import time
from dataclasses import dataclass

import truth
from client import ESCAPE
from replies import tool
from terminal import Terminal
from versions import PINNED, modules, node

# Between two Escapes.
BETWEEN_ESCAPES = 0.3


@dataclass(frozen=True)
class Agent:
    """What the driver knows of an agent."""

    name: str
    # Its folder at home, which is there before the watchers begin, and the files that it writes, as a pattern.
    folder: str
    files: str
    # Writes its settings for a stage; the words of its start, its environment, and its sessions in that home.
    move_in: object
    words: object
    environment: object
    sessions: object
    # What the screen says.
    ready: str
    permission: str
    question: object
    # The witness sets that differ: it has no hooks, or no other witness than its files.
    sets: tuple
    # What Escape on a dialog makes of the turn; the number of Escapes that stop a turn; the words that resume a session.
    refused: truth.Phase
    escapes: int
    resume: tuple
    # What the screen says after an Escape that wants another one.
    armed: str = ""
    shell: str = "bash"
    # Its commands that compact and leave it.
    compact: str = "/compact"
    leave: str = "/exit"


def model(sandbox):
    """The address of the stub."""
    return f"http://127.0.0.1:{sandbox.port}/v1"


def write(path, value):
    """A file of JSON at a path that may not exist yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def plug_in(stage, agent):
    """Installs the plugin of the agent, for the one watcher that has hooks."""
    for witnesses in stage.sandbox.sets:
        if witnesses.hooks:
            stage.sandbox.install(None, stage.sandbox.data(witnesses), "--agent", agent)


def opencode_home(stage):
    """A model, no downloads, and a question before each command."""
    config = stage.sandbox.home / ".config/opencode"
    options = {"baseURL": model(stage.sandbox), "apiKey": "dummy"}
    models = {"stub": {"name": "Stub", "limit": {"context": 200000, "output": 8000}}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Stub", "options": options, "models": models}
    settings = {"autoupdate": False, "share": "disabled", "model": "stub/stub", "small_model": "stub/stub"}
    settings |= {"permission": {"bash": {"*": "ask", "cat *": "allow"}}, "provider": {"stub": provider}}
    write(config / "opencode.json", settings)
    # opencode fetches this package where there are plugins. Without a network its start would take more than a minute.
    package = {"dependencies": {"@opencode-ai/plugin": PINNED["opencode"]}}
    write(config / "package.json", package)
    write(config / "package-lock.json", {"lockfileVersion": 3, "packages": {"": package}})
    (config / "node_modules").symlink_to(modules(stage.programs.opencode))
    plug_in(stage, "opencode")


def opencode_sessions(home):
    """The sessions in the database that no other session has started."""
    path = home / ".local/share/opencode/opencode.db"
    if not path.exists():
        return set()
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return {name for (name,) in database.execute("SELECT id FROM session WHERE parent_id IS NULL")}
    except sqlite3.OperationalError:
        return set()
    finally:
        database.close()


OFF = "DEFAULT_PLUGINS MODELS_FETCH AUTOUPDATE LSP_DOWNLOAD SHARE"
COLOURS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
OPENCODE = Agent(
    name="opencode",
    folder=".local/share/opencode",
    files=".local/share/opencode/opencode.db*",
    move_in=opencode_home,
    words=lambda program: [program],
    environment=lambda sandbox: {f"OPENCODE_DISABLE_{name}": "1" for name in OFF.split()},
    sessions=opencode_sessions,
    ready="ctrl+p",
    permission="Permission required",
    question=tool("question", questions=[{"question": "Which colour?", "header": "Colour", "options": COLOURS}]),
    sets=("all", "no_hooks"),
    refused=truth.RESTS,
    escapes=2,
    resume=("--session", "{}"),
    armed="again to interrupt",
)


def copilot_home(stage):
    """Trust in the working folder, and the hooks."""
    work = str(stage.sandbox.work)
    write(stage.sandbox.home / ".copilot/config.json", {"trusted_folders": [work], "trustedFolders": [work], "banner": "never"})
    plug_in(stage, "copilot")


def copilot_environment(sandbox):
    """A model without an account."""
    own = {"PROVIDER_BASE_URL": model(sandbox), "PROVIDER_API_KEY": "dummy", "MODEL": "gpt-4.1"}
    own |= {"OFFLINE": "true", "AUTO_UPDATE": "false"}
    return {f"COPILOT_{name}": value for name, value in own.items()}


COLOUR = {"type": "string", "title": "Colour", "enum": ["Red", "Blue"]}
SCHEMA = {"type": "object", "properties": {"colour": COLOUR}, "required": ["colour"]}
COPILOT = Agent(
    name="copilot",
    folder=".copilot/session-state",
    files=".copilot/session-state/*/*",
    move_in=copilot_home,
    words=lambda program: [program, "--allow-tool", "shell(cat)"],
    environment=copilot_environment,
    sessions=lambda home: {path.parent.name for path in (home / ".copilot/session-state").glob("*/events.jsonl")},
    ready="/ commands",
    permission="Do you want to run this command?",
    question=tool("ask_user", message="Which colour?", requestedSchema=SCHEMA),
    sets=("all", "no_hooks"),
    refused=truth.INTERRUPTED,
    escapes=2,
    resume=("--resume", "{}"),
)

# A permission gate, as users of pi have them: pi asks for nothing by itself.
GATE = """export default (pi) => {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash" || !event.input.command.startsWith("echo")) return;
    const choice = await ctx.ui.select("Allow this command?", ["Yes", "No"]);
    if (choice !== "Yes") return { block: true, reason: "The user does not want it." };
  });
};
"""


def pi_home(stage):
    """A model, and the user's own gate."""
    home = stage.sandbox.home / ".pi/agent"
    provider = {"baseUrl": model(stage.sandbox), "api": "openai-completions", "apiKey": "dummy", "models": [{"id": "stub"}]}
    write(home / "models.json", {"providers": {"stub": provider}})
    compaction = {"keepRecentTokens": 1}
    write(home / "settings.json", {"defaultProvider": "stub", "defaultModel": "stub", "compaction": compaction})
    (home / "extensions").mkdir()
    (home / "extensions/gate.js").write_text(GATE)
    plug_in(stage, "pi")


PI = Agent(
    name="pi",
    folder=".pi/agent/sessions",
    files=".pi/agent/sessions/*/*.jsonl",
    move_in=pi_home,
    words=lambda program: [node(program), program],
    environment=lambda sandbox: {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
    sessions=lambda home: {path.stem.split("_")[1] for path in (home / ".pi/agent/sessions").glob("*/*.jsonl")},
    ready="(auto)",
    permission="Allow this command?",
    question=None,
    sets=("all", "no_hooks"),
    refused=truth.WORKING,
    escapes=1,
    resume=("--session", "{}"),
    leave="/quit",
)


def gemini_home(stage):
    """A key and trust. A command that only reads asks nothing (0.61.0)."""
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}}
    settings |= {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
    settings |= {"model": {"name": "gemini-2.5-flash"}}
    write(stage.sandbox.home / ".gemini/settings.json", settings)
    plug_in(stage, "gemini")


def gemini_environment(sandbox):
    """The stub in place of the service."""
    address = f"http://127.0.0.1:{sandbox.port}"
    return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": address, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


GEMINI = Agent(
    name="gemini",
    folder=".gemini/tmp",
    files=".gemini/tmp/*/chats/*.jsonl",
    move_in=gemini_home,
    words=lambda program: [node(program), program],
    environment=gemini_environment,
    # Rows have the part of the id that names the file.
    sessions=lambda home: {path.stem[-8:] for path in (home / ".gemini/tmp").glob("*/chats/session-*.jsonl")},
    ready="Type your message",
    permission="Allow execution",
    question=tool("ask_user", questions=[{"question": "Which colour?", "header": "Colour", "type": "choice", "options": COLOURS}]),
    sets=("all", "no_hooks"),
    refused=truth.INTERRUPTED,
    escapes=1,
    resume=("--resume", "latest"),
    shell="run_shell_command",
    compact="",
    leave="/quit",
)


class Seat(Terminal):
    """A terminal program of one of these agents on a stage, with the truth about its session."""

    def __init__(self, stage, agent, label, *arguments, session=None, begins=truth.READY):
        self.stage, self.agent, self.label, self.session = stage, agent, label, session
        self.known = self.sessions()
        program, *words = agent.words(getattr(stage.programs, agent.name))
        super().__init__(stage, program, [*words, *arguments], agent.environment(stage.sandbox))
        stage.truth.turn(label, self.began, begins, f"{agent.name} starts")
        self.sees(agent.ready)
        stage.rest(2)

    def sessions(self):
        """The agent's sessions now."""
        return self.agent.sessions(self.stage.sandbox.home)

    def prompt(self, script):
        """Types a prompt that plays this script. With the first one the agent makes its session."""
        self.stage.prompt(self, f"do it @@{script} now")
        if self.session is None:
            self.session = self.stage.until("a session is there", lambda: self.sessions() - self.known).pop()
            self.stage.truth.bind(self.label, self.session)

    def asks(self, script, step, phase=truth.PERMISSION, words=None):
        """Waits until the model has called a tool that needs the user, and the dialog is on the screen."""
        at = self.stage.answered(script, step).answered
        self.stage.turn(self, at, truth.ABOUT_TO_ASK, "the model calls for a tool that asks")
        words = words or self.agent.permission
        self.stage.turn(self, self.sees(words), phase, f"the dialog is on the screen ({phase.name})")
        self.stage.observer.note()
        self.stage.rest(2)

    def decide(self, key, phase, action, words=None):
        """Presses a key on the dialog, and waits until it is gone."""
        self.stage.press(self, key, phase, action)
        self.stage.until("no dialog on the screen", lambda: not self.shows(words or self.agent.permission))
        self.stage.observer.note()

    def interrupt(self, action):
        """Presses Escape as often as the agent wants it. An agent that is busy may lose one."""
        for _ in range(self.agent.escapes - 1):
            self.press(ESCAPE)
            if self.agent.armed:
                self.sees(self.agent.armed)
            time.sleep(BETWEEN_ESCAPES)
        at = self.press(ESCAPE)
        while self.agent.armed and self.shows(self.agent.armed):
            if time.monotonic() > at + 1:
                at = self.press(ESCAPE)
            time.sleep(0.01)
        self.stage.turn(self, at, truth.INTERRUPTED, action)
        self.stage.rest(2.5)

    def finish(self, script, step, phase=truth.ENDED_TURN):
        """Waits for the last answer of a turn."""
        self.stage.turn(self, self.stage.answered(script, step).answered, phase, "the model's last answer")
        self.stage.rest(2)

    def quit(self, phase=truth.ENDED):
        """Leaves the agent."""
        at = self.type(self.agent.leave)
        before = self.stage.truth.turnings[self.label][-1].phase
        states = " ".join(before.states | truth.ENDED.states)
        self.stage.turn(self, at, truth.phase("leaving", states, *before.kinds, None), "the agent is told to end")
        self.stage.until("the program has ended", self.is_gone)
        self.stage.turn(self, time.monotonic(), phase, "the process has ended")
        self.stage.observer.note()
        self.stage.rest(2)


