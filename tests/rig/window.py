"""The real window beside the real client: a display, a bus, and WebKit's driver, which presses the user's keys."""

import json
import os
import shutil
import subprocess
import urllib.request
from pathlib import Path

from desk import Wrong
from stage import PATIENCE

NEEDED = ("Xvfb", "WebKitWebDriver", "dbus-daemon", "openbox", "xdotool", "import")
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


def program(desk):
    """The window's program, beside the command line's; `None` where this machine cannot run it."""
    found = desk.programs.watchbill.with_name("watchbill-desktop")
    return found if found.is_file() and all(map(shutil.which, NEEDED)) else None


def line_of(words, environment):
    """Starts a program that writes one line when it is ready."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    )
    return process, process.stdout.readline().strip()


class Window:
    """A window with its page under control. `close` ends all of it."""

    def __init__(self, desk, program, environment):
        self.desk, self.processes, self.session = desk, [], None
        try:
            self.open(program, environment)
        except BaseException:
            self.close()
            raise

    def open(self, program, environment):
        """Starts all of it."""
        desk = self.desk
        root = desk.sandbox.root
        run = root / "run"
        run.mkdir(mode=0o700, exist_ok=True)
        (root / "bus.conf").write_text(BUS)
        x, number = line_of(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"], environment)
        self.processes.append(x)
        self.display = f":{number}"
        bus, address = line_of(["dbus-daemon", f"--config-file={root}/bus.conf", "--nofork", "--nopidfile", "--print-address=1"], environment)
        self.processes.append(bus)
        environment = environment | {
            "DISPLAY": self.display,
            "DBUS_SESSION_BUS_ADDRESS": address,
            "XDG_RUNTIME_DIR": str(run),
            "XDG_CACHE_HOME": str(root / "cache"),
            "GDK_BACKEND": "x11",
            "GSETTINGS_BACKEND": "memory",
            "NO_AT_BRIDGE": "1",
            "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
            "TAURI_WEBVIEW_AUTOMATION": "true",
        }
        self.environment = environment
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "env": environment}
        self.processes.append(subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL, **quiet))
        port = 20000 + os.getpid() % 20000
        errors = open(root / "serve-window.stderr", "wb")
        self.address = f"http://127.0.0.1:{port}"
        words = ["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"]
        self.processes.append(subprocess.Popen(words, stderr=errors, **quiet))
        errors.close()
        folders = ["--data-dir", desk.engine.data, "--claude-dir", desk.sandbox.claude, "--config", desk.engine.config]
        options = {"binary": str(program), "args": [str(word) for word in folders]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self.session = desk.until("the window", lambda: self.tried("POST", "/session", wanted), 60)["sessionId"]
        self.page("POST", "/window/rect", {"x": 20, "y": 20, "width": 1200, "height": 820})

    def tried(self, *call):
        """A call that may fail while the driver starts."""
        try:
            return self.call(*call)
        except OSError:
            return None

    def call(self, method, path, body=None):
        """Asks the driver."""
        body = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, body, {"content-type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["value"]

    def page(self, method, path, body=None):
        """Asks for something of the page."""
        return self.call(method, f"/session/{self.session}{path}", body)

    def script(self, text, *args):
        """What a script gives."""
        return self.page("POST", "/execute/sync", {"script": text, "args": list(args)})

    def text(self):
        """The page's text, in one line."""
        return " ".join((self.script("return document.body.innerText") or "").split())

    def shows(self, *words, within=PATIENCE):
        """Waits until the page shows each of these."""
        for word in words:
            try:
                self.desk.must(f"the window shows {word!r}", lambda word=word: word in self.text(), within)
            except Wrong as wrong:
                self.picture("missing")
                raise Wrong(f"{wrong}; it shows: {self.text()}") from None

    def find(self, css, words=""):
        """Waits for an element with this text or name."""
        found = """return [...document.querySelectorAll(arguments[0])].find((one) =>
            `${one.innerText} ${one.getAttribute('aria-label') ?? ''}`.includes(arguments[1]))"""
        try:
            return self.desk.must(f"the window has {css} {words!r}", lambda: self.script(found, css, words))
        except Wrong as wrong:
            self.picture("missing")
            raise Wrong(f"{wrong}; it shows: {self.text()}") from None

    def click(self, css, words=""):
        """Clicks an element."""
        element = next(iter(self.find(css, words).values()))
        self.page("POST", f"/element/{element}/click", {})

    def press(self, *keys):
        """Presses keys, one after the other, by their names in X."""
        subprocess.run(["xdotool", "key", "--delay", "40", *keys], env=self.environment, check=True, stdin=subprocess.DEVNULL)

    def write(self, text):
        """Types a text."""
        subprocess.run(["xdotool", "type", "--delay", "8", text], env=self.environment, check=True, stdin=subprocess.DEVNULL)
        # Keys come through the display server, clicks do not: the next click could come before the last key.
        typed = """const field = document.activeElement;
            return field.closest('[data-terminal]') !== null || field.value?.endsWith(arguments[0])"""
        self.desk.must(f"the window has {text!r}", lambda: self.script(typed, text))

    def picture(self, name):
        """Keeps a picture where the runs are kept."""
        folder = os.environ.get("WATCHBILL_PICTURES")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            words = ["import", "-display", self.display, "-window", "root", f"{folder}/{name}.png"]
            subprocess.run(words, check=False, stdin=subprocess.DEVNULL, timeout=20)

    def close(self):
        """Ends the window in order, then what it ran on."""
        try:
            if self.session:
                self.page("DELETE", "")
        except OSError:
            pass
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
