"""A home of its own for each run: the client's files in it, and the environment that it starts in."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

KEY = "sk-ant-rig-dummy-" + "0" * 24
LOG_EVENT = Path(__file__).with_name("log_event.sh")
LOSE_SOME = Path(__file__).with_name("lose_some.sh")
# The driver waits for these events.
EVENTS = (
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest PermissionDenied"
    " Notification Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact"
).split()


@dataclass(frozen=True)
class Ways:
    """The user's setup of the client."""

    # The permission mode; `None` for the client's own choice, which is `auto`.
    mode: str | None = "default"
    # The answer of the user's own PermissionRequest hook, if there is one.
    answer: str | None = None
    # Each watcher with hooks also has the entry that waits for an answer.
    waits: bool = False
    # Folders of other agents, which are there before the watchers begin, and patterns of the files that they write.
    others: tuple = ()
    files: tuple = ()
    # The only witness sets that differ for this agent; all if empty.
    sets: tuple = ()


class Sandbox:
    """The folders of one run."""

    def __init__(self, programs, port, seed, sets, ways):
        # Not under the build folder: a socket's path must be short, and the build folder may be deep.
        self.root = Path(tempfile.mkdtemp(prefix="wb-rig-"))
        self.home, self.work = self.root / "home", self.root / "work"
        self.claude, self.log = self.home / ".claude", self.root / "hooks"
        self.port = port
        self.sets = sets
        self.files = ways.files
        self.watchbill = programs.watchbill
        others = [self.home / name for name in ways.others]
        for folder in (self.work, self.claude / "projects", self.claude / "sessions", self.log, self.root / "tmp", *others):
            folder.mkdir(parents=True)
        for witnesses in self.sets:
            self.data(witnesses).mkdir(parents=True)
        (self.work / "readme.txt").write_text("Nothing of interest.\n")
        # The path of the client's own installer: `hooks install` runs it there to learn its version and its events.
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
        """The client's settings: the mode, the allowed commands, and hooks, installed as a user installs them."""
        path = self.claude / "settings.json"
        path.write_text(json.dumps({"permissions": {"allow": ["Bash(cat:*)"]}}))
        for witnesses in self.sets:
            if witnesses.hooks == "installed":
                self.install(path, self.data(witnesses))
        settings = json.loads(path.read_text())
        hooks = self.share(settings.setdefault("hooks", {}), seed)
        log = {"type": "command", "command": f"sh {LOG_EVENT} {self.log}", "async": True}
        for event in EVENTS:
            hooks.setdefault(event, []).append({"hooks": [log]})
        if ways.mode:
            settings["permissions"]["defaultMode"] = ways.mode
        for witnesses in self.sets if ways.waits else []:
            if witnesses.hooks:
                command = f"{self.watchbill} hook --answer --data-dir {self.data(witnesses)}"
                entry = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 3600}]}
                hooks["PermissionRequest"].append(entry)
        if ways.answer:
            decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": ways.answer}}
            command = f"cat > /dev/null; echo '{json.dumps({'hookSpecificOutput': decision})}'"
            hooks["PermissionRequest"].append({"hooks": [{"type": "command", "command": command}]})
        path.write_text(json.dumps(settings, indent=2) + "\n")

    def install(self, path, data, *more):
        """Installs the hooks with the user's command; without a path, where the agent looks for them."""
        words = [self.watchbill, "hooks", "install", "--data-dir", data, *(["--settings", path] if path else []), *more]
        subprocess.run([str(word) for word in words], env=self.environment(), check=True, capture_output=True)

    def share(self, hooks, seed):
        """Adds the hooks of the other watchers. The installer would take them for its own older ones and replace them."""
        for entries in hooks.values():
            entries.extend([entry for installed in list(entries) for entry in self.copies(installed, seed)])
        return hooks

    def copies(self, installed, seed):
        """Copies of the first watcher's hook entry for the other watchers."""
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
        """The environment of all programs in here; nothing is inherited."""
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

    def processes(self):
        """The processes that run in this home: their pids and command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and f"HOME={self.home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    found.append((int(entry.name), line))
            except OSError:
                continue
        return found

    def end(self):
        """Ends what programs of this home left behind."""
        for pid, _ in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def remove(self):
        """Removes all folders of the run."""
        shutil.rmtree(self.root, ignore_errors=True)
