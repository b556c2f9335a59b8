"""What was learned, with the real client: the text stands where it should, once, and later requests begin with earlier ones."""

import json
import subprocess

from answers import cell
from desk import DONE
from replies import Step, text, tool

FACT = "the proxy holds port 8080"
OF_FILE = "the readme is generated, never edit it"


def context_hook(desk):
    """Installs the hook as a user does. On a busy machine it may wait longer than for a user."""
    path = desk.sandbox.claude / "settings.json"
    words = [desk.programs.watchbill, "hooks", "install", "--context", "--settings", path, "--data-dir", desk.engine.data]
    subprocess.run([str(w) for w in words], env=desk.sandbox.environment(), check=True, capture_output=True)
    settings = path.read_text()
    desk.expect('"timeout": 1 }' in settings, "the client gives the hook a second")
    settings = settings.replace(" --context", " --context --within 30000").replace('"timeout": 1 }', '"timeout": 60 }')
    path.write_text(settings)


def plain(message):
    """A message without the marks for the cache, which move from request to request.

    A mark needs a block to stand in, so the client writes a lone text with a mark as a block and without one as a string.
    """
    if isinstance(message, dict):
        return {key: plain(value) for key, value in message.items() if key != "cache_control"}
    if isinstance(message, list):
        parts = [plain(part) for part in message]
        is_text = len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) == {"type", "text"}
        return parts[0]["text"] if is_text else parts
    return message


@cell("what was learned stands once in the request, and later requests begin with it", engine=False)
def told(desk):
    desk.engine.config.write_text('[memory]\ncontext = "all"\n')
    context_hook(desk)
    desk.engine.start()
    work = str(desk.sandbox.work)
    for words in ([FACT], [OF_FILE, "--file", f"{work}/readme.txt"]):
        said = desk.engine.say("memory", "add", *words, "--project", work)
        desk.expect(said.code == 0, f"a memory is added: {said.err}")
    client = desk.client()
    read = tool("Read", file_path=f"{work}/readme.txt")
    desk.prompt(client, "one", Step(text("I read it."), read), DONE, words="please look at the readme once")
    desk.finished(client, "one", 1)
    desk.prompt(client, "two", DONE, words="which port does the proxy hold")
    desk.finished(client, "two", 0)
    requests = [plain(desk.asked(*which).messages) for which in (("one", 0), ("one", 1), ("two", 0))]
    for earlier, later in zip(requests, requests[1:]):
        desk.expect(later[: len(earlier)] == earlier, "a request begins with the one before")
    texts = [json.dumps(request) for request in requests]
    counts = [(t.count(FACT), t.count(OF_FILE)) for t in texts]
    desk.expect(counts == [(1, 0), (1, 1), (1, 1)], f"each line stands once, from its place on: {counts}")
    last = next(m for m in requests[1] if OF_FILE in json.dumps(m))
    desk.expect(last["role"] == "system", f"the client passes it as a system message, not as {last['role']}")
    lines = json.loads(desk.engine.say("memory", "said", client.session, "--json").out)["lines"]
    desk.expect([line["printed"] for line in lines] == [True, True], f"what was said is noted: {lines}")
    desk.note(f"{sum(line['tokens'] for line in lines)} tokens in {len(lines)} lines")
