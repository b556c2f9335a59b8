"""The status line of the real client: the person's own stays as it was, and the row has what the client says there.

The limits of a plan are not in it: the client knows them only from an account with a plan, and here it has a made-up key.
"""

import json

from answers import cell
from desk import DONE
from pane import Pane
from replies import Step, text

# Two lines, colours, and what the command reads of the client's word.
OWN = r"""read -r line; printf '\033[31mit'"'"'s mine\033[0m %s\nsecond line\n' "$(printf %s "$line" | grep -c total_cost_usd)" """


def row_of(desk, client):
    """The row of a client."""
    rows = desk.engine.roster() or []
    return next((row for row in rows if row["sessionId"] == client.session), None)


@cell("the status line: a person's own is drawn as before, the row has the client's word, and it can be undone")
def status_line(desk):
    path = desk.sandbox.claude / "settings.json"
    settings = json.loads(path.read_text()) | {"statusLine": {"type": "command", "command": OWN, "padding": 0}}
    path.write_text(json.dumps(settings))
    before = path.read_bytes()
    desk.sandbox.install(path, desk.engine.data, "--statusline")
    desk.expect(b"statusline" in path.read_bytes(), "it is installed")
    client = desk.client(terminal=Pane)
    desk.stub.scripts["one"] = [Step(text("One.")), DONE]
    client.type("say it @@one")
    desk.finished(client, "one", 0)

    def said():
        row = row_of(desk, client)
        return row if row and row.get("cost", {}).get("usd", 0) > 0 else None

    row = desk.must("the row has the client's word", said)
    desk.expect(row["cost"]["by"] == "client" and row.get("saidAt"), f"the client counts the cost: {row}")
    desk.expect(row["context"]["size"] > 100_000 and row["context"].get("percent") is not None, f"{row.get('context')}")
    desk.expect(row.get("effort") and row.get("model"), f"effort and model: {row.get('effort')}, {row.get('model')}")
    screen = desk.must("its own line is drawn", lambda: b"second line" in client.screen and bytes(client.screen)).decode()
    desk.expect("it's mine 1" in screen, f"it reads what the client says: {screen[-400:]}")
    words = [str(desk.programs.watchbill), "hooks", "uninstall", "--statusline", "--settings", str(path)]
    said = desk.engine.say(*words[1:])
    desk.expect(said.code == 0 and path.read_bytes() == before, f"every byte is back: {said.out}{said.err}")
