"""The stub's answers for Gemini CLI, which generates content: a script's steps as its pieces."""

import json

from gemini_stub import CHOICE
from replies import DIRECTIVE, Step, text

ELSE = Step(text("All right."))


def spoken(content):
    """The text of a content."""
    return "\n".join(part.get("text", "") for part in content.get("parts", []))


def choose(stub, body):
    """The script, the number and the step: the number of answers since the prompt that names the script."""
    wanted = body.get("generationConfig") or {}
    if wanted.get("responseJsonSchema") or wanted.get("responseMimeType") == "application/json":
        return "choice", 0, Step(text(json.dumps(CHOICE | {"next_speaker": "user"})))
    contents = body.get("contents", [])
    for at in range(len(contents) - 1, -1, -1):
        named = [name for name in DIRECTIVE.findall(spoken(contents[at])) if name in stub.scripts]
        if contents[at].get("role") == "user" and named:
            number = sum(content.get("role") == "model" for content in contents[at + 1 :])
            steps = stub.scripts[named[-1]]
            return named[-1], number, steps[number] if number < len(steps) else ELSE
    return "none", 0, ELSE


def pieces(step):
    """The step as pieces of an answer."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}

    def piece(parts, **more):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0} | more
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub", "responseId": "r1"}

    said = [{"text": block["text"]} for block in step.blocks if block["type"] == "text"]
    calls = [{"functionCall": {"name": b["name"], "args": b["input"]}} for b in step.blocks if b["type"] == "tool_use"]
    return [piece(said), piece(calls or [{"text": ""}], finishReason="STOP")]


def events(step):
    """The step as server-sent events."""
    return "".join(f"data: {json.dumps(piece)}\r\n\r\n" for piece in pieces(step))


def split(stream):
    """A stream of events in two, after its first piece."""
    at = stream.index("\r\n\r\n") + 4
    return stream[:at], stream[at:]
