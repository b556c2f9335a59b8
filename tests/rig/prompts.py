"""Prompts from `watchbill prompt` into the real client in tmux: what arrives, and where nothing may be typed."""

import json
import re
import threading
import time

from answers import COLOUR, COMMAND, asking, cell
from desk import DONE
from pane import Pane
from replies import Step, bash, text

# The client puts a long paste between two lines of its own.
MARK = re.compile(r'^</?pasted_content id="\w+">\n?', re.M)


def prompted(desk, client, words, fails=False):
    """`watchbill prompt`; what it says, as JSON where it succeeds."""
    desk.must("the session is shown", lambda: desk.engine.states.get(client.session))
    said = desk.engine.say("prompt", client.session, "--json", words)
    desk.expect((said.code != 0) == fails, f"`prompt` gives {said.code}: {said.out}{said.err}")
    return said.err if fails else json.loads(said.out)


def users(desk, client):
    """The texts of the user in the transcript, in order; no notes of the client."""
    found = []
    for record in desk.records(client):
        content = record.get("message", {}).get("content") if record.get("type") == "user" and not record.get("isMeta") else None
        if isinstance(content, list):
            content = "\n".join(block["text"] for block in content if block.get("type") == "text") or None
        if content is not None:
            found.append(content)
    return found


def arrives(desk, words, recorded=None):
    """Sends a prompt to an idle session: the client records it once, whole."""
    client = desk.client(terminal=Pane)
    sent = prompted(desk, client, words)
    desk.expect((sent["outcome"], sent.get("proof"), sent.get("whole")) == ("submitted", "transcript", True), f"{sent}")
    desk.status(client, "idle")
    found = [MARK.sub("", one).strip() for one in users(desk, client)]
    desk.expect(found == [words.rstrip() if recorded is None else recorded], f"one record of exactly the text, but {found!r}")
    desk.expect(sent["by"] == "tmux", f"by tmux, not {sent['by']}")


@cell("a prompt for an idle session: one record of exactly the text")
def prompt_idle(desk):
    arrives(desk, "say hello; then stop;")


@cell("a prompt of five lines with an empty last one: one record")
def prompt_lines(desk):
    # The client makes four spaces of a tab.
    arrives(desk, "one\ntwo\n\tthree\n\nfive\n", "one\ntwo\n    three\n\nfive")


@cell("a prompt of six thousand characters arrives whole")
def prompt_long(desk):
    arrives(desk, "\n".join(f"{number:4}. a line of a long prompt, {'x' * 30}" for number in range(100)).strip())


@cell("prompts that begin with a sign arrive as typed")
def prompt_signs(desk):
    client = desk.client(terminal=Pane)
    words = ["-x is a flag", "--no such option", "# a heading", "@ alone", "$(touch made.txt) `id`", "ends in ;", "日本語 🙂"]
    for one in words:
        sent = prompted(desk, client, one)
        desk.expect((sent["outcome"], sent.get("whole")) == ("submitted", True), f"{one!r}: {sent}")
        desk.status(client, "idle")
    found = users(desk, client)
    desk.expect(found == words, f"each is recorded as it is: {found!r}")


@cell("a command of the client's own is typed, and is known to have arrived")
def prompt_command(desk):
    client = desk.client(terminal=Pane)
    prompted(desk, client, "say hello")
    desk.status(client, "idle")
    count = len(desk.stub.exchanges)
    sent = prompted(desk, client, "!echo made > made.txt")
    desk.note(f"!echo: {sent.get('proof')}")
    desk.until("the shell command to run", lambda: desk.made("made.txt") == "made\n")
    desk.status(client, "idle")
    sent = prompted(desk, client, "/context")
    desk.note(f"/context: {sent.get('proof')}; {len(desk.stub.exchanges) - count} more requests to the model")
    desk.status(client, "idle")
    # This one opens a dialog.
    sent = prompted(desk, client, "/cost")
    desk.note(f"/cost: {sent.get('proof')}")
    desk.waits(client)
    said = prompted(desk, client, "say more", fails=True)
    desk.expect("nothing was typed" in said and "waits for you" in said, f"it is refused, but {said!r}")


@cell("what stood in the input already is told")
def prompt_after_draft(desk):
    client = desk.client(terminal=Pane)
    client.press("half a thought ")
    time.sleep(0.5)
    sent = prompted(desk, client, "say hello")
    desk.expect((sent["outcome"], sent.get("whole")) == ("submitted", False), f"{sent}")


def refused(desk, client, why):
    """A prompt is refused, and nothing of it comes to the screen."""
    said = prompted(desk, client, "1 and unheard words", fails=True)
    desk.expect("nothing was typed" in said and why in said, f"it is refused, but {said!r}")
    time.sleep(1)
    desk.expect(desk.registry(client).get("status", "waiting") == "waiting", "the dialog stays")
    desk.expect(b"unheard" not in client.screen, "the words are nowhere on the screen")


@cell("a session at a permission dialog gets no key")
def prompt_at_permission(desk):
    client = desk.client(terminal=Pane)
    desk.runs(client, "ask", COMMAND)
    refused(desk, client, "waits for you")
    desk.expect(desk.made("made.txt") is None, "the command has not run")
    desk.answer(client, "--allow")
    desk.finished(client, "ask", 1)


@cell("a session at a dialog that the registry alone knows gets no key", engine=False)
def prompt_without_hook(desk):
    """The dialog is open before the engine starts, so no hook speaks of it."""
    client = desk.client(terminal=Pane)
    desk.prompt(client, "ask", Step(text("I run it."), bash(COMMAND)), DONE)
    desk.waits(client)
    desk.engine.start()
    refused(desk, client, "waits for you")
    desk.yes(client)
    desk.finished(client, "ask", 1)


@cell("a session at a question gets no key; the words go by `answer --text`")
def prompt_at_question(desk):
    client = desk.client(terminal=Pane)
    desk.prompt(client, "ask", Step(text("I ask."), asking(COLOUR)), DONE)
    desk.card(client)
    refused(desk, client, "waits for you")
    desk.answer(client, "--text", "none of them")
    desk.finished(client, "ask", 1)
    desk.expect("none of them" in desk.results("ask", 1), "the model reads the words")


@cell("a session that works gets no key")
def prompt_while_busy(desk):
    client = desk.client(terminal=Pane)
    desk.prompt(client, "ask", Step(text("I think."), hold=True))
    desk.status(client, "busy")
    said = prompted(desk, client, "say hello", fails=True)
    desk.expect("nothing was typed" in said and "works" in said, f"it is refused, but {said!r}")
    desk.stub.scripts["ask"][0].release()
    desk.status(client, "idle")
    found = [one for one in users(desk, client) if "hello" in one]
    desk.expect(not found, f"the prompt is nowhere: {found}")


@cell("a session outside of tmux is refused with a reason")
def prompt_no_way(desk):
    client = desk.client()
    said = prompted(desk, client, "say hello", fails=True)
    desk.expect("nothing was typed" in said, f"it is refused, but {said!r}")
    desk.note(said.strip().removeprefix("watchbill: nothing was typed: "))


@cell("four prompts at once reach four sessions, each its own")
def prompt_four(desk):
    clients = [desk.client(terminal=Pane) for _ in range(4)]
    for client in clients:
        desk.must("the session is shown", lambda client=client: desk.engine.states.get(client.session))
    sent = {}

    def send(number):
        sent[number] = desk.engine.say("prompt", clients[number].session, "--json", f"this is for {number}")

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for number, client in enumerate(clients):
        desk.expect(sent[number].code == 0, f"{sent[number]}")
        desk.status(client, "idle")
        found = users(desk, client)
        desk.expect(found == [f"this is for {number}"], f"client {number} has {found}")


@cell("an agent's own command may not send a prompt to another session")
def prompt_by_agent(desk):
    target = desk.client(terminal=Pane)
    other = desk.client()
    words = " ".join(desk.engine.words("prompt", target.session, "hello"))
    desk.prompt(other, "other", Step(text("I prompt."), bash(f"{words} > said.txt 2>&1; echo $? >> said.txt")), DONE)
    desk.card(other)
    desk.answer(other, "--allow")
    desk.finished(other, "other", 1)
    said = desk.made("said.txt") or ""
    desk.expect("an agent may not" in said and said.endswith("1\n"), f"it is refused, but {said!r}")
    desk.expect(not users(desk, target), "nothing was typed")
