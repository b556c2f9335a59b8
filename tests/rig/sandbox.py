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
# What the driver keeps step by.
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

    def __init__(self, programs, port, seed, sets, ways):
        # Not under the build folder: a socket's path must be short, and nobody knows how deep that lies.
        self.root = Path(tempfile.mkdtemp(prefix="wb-rig-"))
        self.home, self.work = self.root / "home", self.root / "work"
        self.claude, self.log = self.home / ".claude", self.root / "hooks"
        self.port = port
        self.sets = sets
        self.watchbill = programs.watchbill
        for folder in (self.work, self.claude / "projects", self.claude / "sessions", self.log, self.root / "tmp"):
            folder.mkdir(parents=True)
        for witnesses in self.sets:
            self.data(witnesses).mkdir(parents=True)
        (self.work / "readme.txt").write_text("Nothing of interest.\n")
        # Where the client's own installer puts it: `hooks install` asks it for its version, and so for its events.
        own = self.home / ".local/bin/claude"
        own.parent.mkdir(parents=True)
        own.symlink_to(programs.claude)
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
        path = self.claude / "settings.json"
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(cat:*)"]}}))
        for witnesses in self.sets:
            if witnesses.hooks == "installed":
                self.install(path, self.data(witnesses))
        settings = json.loads(path.read_text())
        hooks = settings.setdefault("hooks", {})
        # The others' are added afterwards: the installer takes them for older ones of its own and would replace them.
        for entries in hooks.values():
            entries.extend([entry for installed in list(entries) for entry in self.copies(installed, seed)])
        log = {"type": "command", "command": f"sh {LOG_EVENT} {self.log}", "async": True}
        for event in EVENTS:
            hooks.setdefault(event, []).append({"hooks": [log]})
        if ways.mode:
            settings["permissions"]["defaultMode"] = ways.mode
        if ways.answer:
            decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": ways.answer}}
            command = f"cat > /dev/null; echo '{json.dumps({'hookSpecificOutput': decision})}'"
            hooks["PermissionRequest"].append({"hooks": [{"type": "command", "command": command}]})
        path.write_text(json.dumps(settings, indent=2) + "\n")

    def install(self, path, data):
        """What a person would type."""
        words = [self.watchbill, "hooks", "install", "--settings", path, "--data-dir", data]
        subprocess.run([str(word) for word in words], env=self.environment(), check=True, capture_output=True)

    def copies(self, installed, seed):
        """What was installed for the first watcher, as it would be for the others."""
        text = json.dumps(installed)
        first = next(str(self.data(w)) for w in self.sets if w.hooks == "installed")
        for witnesses in self.sets:
            if witnesses.hooks in ("sent", "lossy"):
                entry = json.loads(text.replace(first, str(self.data(witnesses))))
                if witnesses.hooks == "lossy":
                    for hook in entry["hooks"]:
                        hook["command"] = f"sh {LOSE_SOME} {seed} {hook['command']}"
                yield entry

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
