"""The user's surfaces beside the terminal: the real window, and the notifications of a desktop. They last for a whole race."""

import json
import os
import subprocess
import time

from deaths import pid_of
from desk import Wrong
from hosted import user
from stage import PATIENCE
from window import Window, program

# A session at rest raises no alert: it would stand in one notification with a request, which then has no buttons.
CONFIGURATION = "[answers]\nscripts = true\n[hooks]\noffer = false\n[alerts]\nfinished = false\nerror = false\n"
# The buttons of a notification count after this time.
STANDS = 0.45
# Writes down when the page shows which request: the time, and the number in its command or 0.
WATCH = """
    const cards = window.cards = [];
    const look = () => {
        const found = document.querySelector("section.request")?.textContent.match(/echo (\\d+)/);
        const number = found ? Number(found[1]) : 0;
        if (number !== cards.at(-1)?.[1]) cards.push([Date.now(), number]);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
"""
READY = """
    const card = document.querySelector("section.request");
    return card !== null && card.textContent.match(/echo (\\d+)/)?.[1] === arguments[0]
        && card.querySelector("button:not([aria-disabled=true])") !== null;
"""
# The first time at which the page did not show the request any more.
GONE = """
    const at = window.cards.findIndex(([, number]) => number === arguments[0]);
    return at < 0 ? null : window.cards[at + 1]?.[0] ?? null;
"""
SELECTED = "return document.querySelector('[data-session][aria-current=true]')?.dataset.session ?? null"
OPEN = "return document.querySelector('section.detail:not(.none)') !== null"


def found(desk):
    """The programs of the window and of the notification server; `None` where this machine cannot run them."""
    window, server = program(desk), desk.programs.watchbill.with_name("notification-server")
    return (window, server) if window and server.is_file() else None


class Surfaces:
    """A window that shows the session of the race, and the notifications of its program."""

    def __init__(self, desk, programs):
        self.desk, self.programs = desk, programs
        self.window = self.server = None
        desk.engine.config.write_text(CONFIGURATION)
        self.open()

    def open(self):
        """Opens the window, and puts a notification server on its bus."""
        window, server = self.programs
        self.window = Window(self.desk, window, user(self.desk))
        words = [str(server), self.window.environment["DBUS_SESSION_BUS_ADDRESS"]]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.server = subprocess.Popen(words, env=self.window.environment, text=True, bufsize=1, **pipes)
        self.window.find("input", "Filter")
        self.window.script(WATCH)

    def close(self):
        """Ends both."""
        if self.server:
            self.server.stdin.close()
            self.server.wait(10)
        if self.window:
            self.window.close()

    def pid(self):
        """The window's process."""
        return pid_of(str(self.programs[0]), str(self.desk.engine.data))

    def end(self, number):
        """Ends the window's process by a signal, and with it all of the desktop."""
        pid = self.pid()
        os.kill(pid, number)
        self.desk.must("the window's process ends", lambda: self.pid() != pid, 10)
        self.close()
        self.window = self.server = None

    # The window.

    def looks_at(self, session):
        """Opens a session that needs the user, unless it is open. The roster moves no row under the user, but a key finds it."""

        def opens():
            is_it = self.window.script(SELECTED) == session
            if is_it and self.window.script(OPEN):
                return True
            self.window.press("Return" if is_it else "n")
            return False

        self.desk.must("the window opens the session that needs the user", opens)

    def looks_away(self):
        """Goes back to the roster: a session that the user looks at raises no alert."""

        def away():
            if not self.window.script(OPEN):
                return True
            self.window.press("Escape")
            return False

        self.desk.must("the window goes back to the roster", away)

    def ready(self, session, number, is_late):
        """Waits until the window takes an answer to the request of that number, or the request is too late."""
        self.looks_at(session)
        shows = lambda: self.window.script(READY, str(number)) or is_late()  # noqa: E731
        try:
            self.desk.must(f"the window takes an answer to request {number}", shows)
        except Wrong as wrong:
            self.window.picture("not-ready")
            raise Wrong(f"{wrong}; it shows: {self.window.text()}") from None

    def press(self, *keys):
        """Presses keys in the window; returns the time before."""
        at = time.monotonic()
        self.window.press(*keys)
        return at

    def gone(self, number):
        """When the window's page first did not show that request any more; `None` if it never did, or does still."""
        at = self.window.script(GONE, number)
        return at and at / 1000 - time.time() + time.monotonic()

    # The notifications.

    def ask(self, **line):
        """Asks the notification server."""
        self.server.stdin.write(json.dumps(line) + "\n")
        return json.loads(self.server.stdout.readline())

    def notified(self, number):
        """Waits for the notification with buttons for the request of that number; returns its id and the actions by label."""

        def stands():
            for one in self.ask():
                actions = {label: action for action, label in one["actions"]}
                if f"echo {number} " in one["body"] and "Allow" in actions:
                    return one["id"], actions
            return None

        try:
            return self.desk.must(f"a notification of request {number}", stands, PATIENCE)
        except Wrong as wrong:
            raise Wrong(f"{wrong}; there are: {self.ask()}") from None

    def tap(self, notification, label):
        """Presses a button of a notification that has stood for long enough; returns the time before."""
        number, actions = notification
        time.sleep(STANDS)
        at = time.monotonic()
        self.ask(id=number, action=actions[label])
        return at


def holder_ends(desk, surfaces, number):
    """Ends the program that holds the store, the engine or the window, by a signal, and starts it again."""
    if surfaces and desk.engine.holder() == surfaces.pid():
        surfaces.end(number)
    else:
        desk.engine.end(number)
    desk.must("no hook process is left", lambda: not desk.engine.hooks(), 10)
    if desk.engine.process is None:
        desk.engine.start()
    desk.must("an engine answers", lambda: desk.engine.roster() is not None)
    if surfaces and surfaces.window is None:
        surfaces.open()
