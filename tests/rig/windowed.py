"""Sessions of our own from the window: its keys start the real client, and its page shows what the client does."""

import os

from answers import COMMAND, cell
from deaths import host, kill, pid_of, prompts
from desk import DONE
from hosted import left, says, user
from replies import Step, bash, text
from window import Window, program


@cell("the window starts a session: prompt, live text, a card, the queue, an interrupt, an end, resume", engine=False)
def own_window(desk):
    found, stream = begin(desk)
    if found is None:
        return
    desk.stub.scripts["ask"] = [Step(text("I run it."), bash(COMMAND)), DONE]
    desk.stub.scripts["wait"] = [Step(text("I wait."), bash("cat gate")), DONE]
    os.mkfifo(desk.sandbox.work / "gate")
    window = ready(desk, found)
    try:
        session = drive(desk, window, stream)
        shell(desk, window)
    finally:
        window.close()
    desk.expect(host(desk, session), "its host outlives the window")
    desk.engine.start()
    says(desk, "stop", session)
    desk.must("no process is left", lambda: not left(desk), 10)


def begin(desk):
    """The window's program, and the answer that the model holds midway."""
    found = program(desk)
    if found is None:
        desk.note("NOT RUN: there is no window here")
    stream = Step(text("Half of it comes, and then the rest."), hold_midway=True)
    desk.stub.scripts |= {"stream": [stream], "hello": [Step(text("Hello again."))]}
    return found, stream


def ready(desk, found):
    """A window that shows the roster."""
    desk.engine.config.write_text("[answers]\nscripts = true\n[hooks]\noffer = false\n")
    window = Window(desk, found, user(desk))
    window.find("input", "Filter")
    return window


def start(desk, window, words):
    """Starts a session by keys."""
    window.press("shift+n")
    window.find("dialog", "New session")
    window.picture("new")
    window.click("dialog input[type=text]")
    window.write(str(desk.sandbox.work))
    window.click("dialog textarea")
    window.write(words)
    window.press("Return")


def drive(desk, window, stream):
    """What the user does, and what the page says."""
    window.shows("Nothing is going on")
    start(desk, window, "first window @@stream")
    window.shows("first window", "Half of it")
    window.picture("live")
    session = window.script("return document.querySelector('[data-session]').dataset.session")
    window.click("textarea", "Prompt")
    window.write("second window @@ask")
    window.press("Return")
    window.find(".chip", "second window")
    window.picture("queue")
    stream.release()
    # A card that has just come takes no keys.
    window.find("button:not([aria-disabled=true])", "Allow")
    window.picture("card")
    window.press("Escape", "a")
    desk.must("the command runs", lambda: desk.made("made.txt") == "made\n")
    window.shows("Done.")
    window.press("i")
    window.write("third window @@wait")
    window.press("Return")
    desk.must("the command runs", lambda: pid_of("cat", "gate", below=desk.sandbox.work))
    window.press("Escape", "Escape")
    desk.must("the command is stopped", lambda: not pid_of("cat", "gate", below=desk.sandbox.work))
    window.picture("interrupted")
    window.press("i")
    window.write("fourth window @@hello")
    window.press("Return")
    window.shows("Hello again.")
    for words in ("first", "second", "third", "fourth"):
        count = len(prompts(desk, session, f"{words} window"))
        desk.expect(count == 1, f"the prompt `{words}` is in the transcript {count} times")
    rows = window.script("return document.querySelectorAll('[data-session]').length")
    desk.expect(rows == 1, f"one row, not {rows}")
    window.click("button", "Stop…")
    window.click("dialog button", "Stop it")
    window.shows("You ended it")
    window.picture("ended")
    desk.must("no process is left", lambda: not left(desk), 10)
    window.click("button", "Resume")
    window.find("textarea", "Prompt")
    window.press("i")
    window.write("fifth window @@hello")
    window.press("Return")
    window.picture("resumed")
    desk.must("it goes on", lambda: prompts(desk, session, "fifth window"))
    window.find("button", "Send")
    # Its host outlives the window.
    return session


def shell(desk, window):
    """A shell in the Terminal tab."""
    window.press("Escape", "Escape", "shift+n")
    window.click("dialog label", "Shell")
    window.click("dialog input[type=text]")
    window.press("ctrl+a")
    window.write(str(desk.sandbox.work))
    window.press("Return")
    window.click("[role=tab]", "Terminal")
    window.find("[data-terminal=live]", "Terminal")
    window.click("[data-terminal=live]", "Terminal")
    window.find("[role=region]", "Terminal, it has the keys")
    window.write("echo $((6*7))-made | tee shell.txt")
    window.press("Return")
    desk.must("the command runs", lambda: desk.made("shell.txt") == "42-made\n")
    window.find(".xterm-rows > div", "42-made")
    window.picture("terminal")
    window.press("ctrl+shift+Escape")
    window.click("button", "Stop…")
    window.click("dialog button", "Stop it")
    window.shows("You ended it")


@cell("the window is killed while a session works: the session goes on, and a new window shows what came", engine=False)
def own_window_killed(desk):
    found, stream = begin(desk)
    if found is None:
        return
    window = ready(desk, found)
    try:
        start(desk, window, "first window @@stream")
        window.shows("Half of it")
        session = window.script("return document.querySelector('[data-session]').dataset.session")
        window.press("i")
        window.write("second window @@hello")
        window.press("Return")
        window.find(".chip", "second window")
        keeper = host(desk, session)
        kill(desk, pid_of(str(found)))
    finally:
        window.close()
    stream.release()
    desk.must("the queue goes on without a window", lambda: prompts(desk, session, "second window"))
    desk.expect(host(desk, session) == keeper, "the host is the same")
    window = ready(desk, found)
    try:
        window.click("[data-session]")
        window.shows("Half of it comes, and then the rest.", "Hello again.")
        said = window.script("return document.querySelector('section.detail').innerText")
        desk.expect(said.count("Hello again.") == 1, f"shown once: {said}")
        window.click("button", "Stop…")
        window.click("dialog button", "Stop it")
        window.shows("You ended it")
    finally:
        window.close()
    desk.must("no process is left", lambda: not left(desk), 10)
