"""A home of its own for each run: what the client finds there, and the environment it starts in."""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

KEY = "sk-ant-rig-dummy-" + "0" * 24
LOG_EVENT = Path(__file__).with_name("log_event.sh")
LOSE_SOME = Path(__file__).with_name("lose_some.sh")
# Every event that a state depends on; the rig's log and all watchers but the first hear these.
EVENTS = (
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied"
    " Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact"
).split()


@dataclass(frozen=True)
class Ways:
    """How the person has set the client up."""

    # The permission mode; `None` for the client's own choice, which is `auto`.
    mode: str | None = "default"
    # What a PermissionRequest hook of the person's own answers, if there is one.
    answer: str | None = None


class Sandbox:
    """The folders of one run."""

    def __init__(self, watchbill, port, seed, sets, ways):
        # Not under the build folder: a socket's path must be short, and nobody knows how deep that lies.
        self.root = Path(tempfile.mkdtemp(prefix="wb-rig-"))
        self.home, self.work = self.root / "home", self.root / "work"
        self.claude, self.log = self.home / ".claude", self.root / "hooks"
        self.port = port
        self.sets = sets
        self.watchbill = watchbill
        for folder in (self.work, self.claude / "projects", self.claude / "sessions", self.log, self.root / "tmp"):
            folder.mkdir(parents=True)
        for witnesses in self.sets:
            self.data(witnesses).mkdir(parents=True)
        (self.work / "readme.txt").write_text("Nothing of interest.\n")
        self.trust()
        self.settings(seed, ways)

    def data(self, witnesses):
        """The data folder of a watcher."""
        return self.root / "data" / witnesses.name

    def trust(self):
        """Answers the questions of a first start beforehand."""
        (self.home / ".claude.json").write_text(
            json.dumps(
                {
                    "hasCompletedOnboarding": True,
                    "hasSeenAutoDefaultNudge": True,
                    "projects": {str(self.work): {"hasTrustDialogAccepted": True}},
                    "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
                }
            )
        )

    def settings(self, seed, ways):
        """The client's settings: the mode, what is allowed, and hooks, ours as a person would install them."""
        commands = [["sh", LOG_EVENT, self.log]]
        for witnesses in self.sets:
            send = [self.watchbill, "hook", "--data-dir", self.data(witnesses)]
            if witnesses.hooks == "sent":
                commands.append(send)
            if witnesses.hooks == "lossy":
                commands.append(["sh", LOSE_SOME, seed, *send])
        lines = [" ".join(map(str, words)) for words in commands]
        entry = [{"hooks": [{"type": "command", "command": line, "async": True} for line in lines]}]
        settings = {"permissions": {"allow": ["Bash(cat:*)"]}, "hooks": {event: entry for event in EVENTS}}
        if ways.mode:
            settings["permissions"]["defaultMode"] = ways.mode
        if ways.answer:
            decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": ways.answer}}
            command = f"cat > /dev/null; echo '{json.dumps({'hookSpecificOutput': decision})}'"
            own = {"hooks": [{"type": "command", "command": command}]}
            settings["hooks"]["PermissionRequest"] = [*entry, own]
        path = self.claude / "settings.json"
        path.write_text(json.dumps(settings, indent=2) + "\n")
        installed = next((w for w in self.sets if w.hooks == "installed"), None)
        if installed is None:
            return
        words = ["hooks", "install", "--settings", path, "--data-dir", self.data(installed)]
        if "install" not in subprocess.run([self.watchbill, "hooks", "--help"], capture_output=True, text=True).stdout:
            own = {"type": "command", "command": f"{self.watchbill} hook --data-dir {self.data(installed)}", "async": True}
            for event in EVENTS: settings["hooks"][event] = [{"hooks": [*entry[0]["hooks"], own]}, *settings["hooks"][event][1:]]
            path.write_text(json.dumps(settings, indent=2) + "\n")
            return
        subprocess.run([self.watchbill, *map(str, words)], env=self.environment(), check=True, capture_output=True)

    def environment(self):
        """What programs in here get; nothing is inherited."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "USER": "dev",
            "LOGNAME": "dev",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}",
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            "CLAUDE_CODE_TMPDIR": str(self.root / "tmp"),
        }

    def remove(self):
        """Everything goes."""
        shutil.rmtree(self.root, ignore_errors=True)
