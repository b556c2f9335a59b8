"""The stub's answers for agents that speak chat completions: a script's steps as their chunks."""

import json
import re
import time
import uuid

from replies import COMPACTION, DIRECTIVE, Step, text

TITLE = Step(text("A piece of work"))
ELSE = Step(text("All right."))


def spoken(message):
    """The text of a message."""
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content or []]
    return "\n".join(parts)


def results(body):
    """The results of the calls after the last answer."""
    found = []
    for message in reversed(body.get("messages", [])):
        if message["role"] == "assistant":
            break
        found = [spoken(message), *found] if message["role"] == "tool" else found
    return found


def choose(stub, body):
    """The script, the number and the step: the number of answers since the prompt that names the script."""
    messages = body.get("messages", [])
    # In a request without tools, the agent wants a title or a summary.
    is_title = "title" in spoken(messages[0])
    if not body.get("tools") and is_title:
        return "title", 0, TITLE
    if not body.get("tools") or re.search(COMPACTION, spoken(messages[-1])):
        return "compaction", 0, stub.compaction
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] != "user":
            continue
        named = [name for name in DIRECTIVE.findall(spoken(messages[at])) if name in stub.scripts]
        if named:
            number = sum(message["role"] == "assistant" for message in messages[at + 1 :])
            steps = stub.scripts[named[-1]]
            return named[-1], number, steps[number] if number < len(steps) else ELSE
    return "none", 0, ELSE


def events(body, step):
    """The step as server-sent events."""
    head = {"id": "chatcmpl-" + uuid.uuid4().hex[:12], "object": "chat.completion.chunk", "created": int(time.time())}
    head["model"] = body.get("model")

    def event(delta, **more):
        choice = {"index": 0, "delta": delta, "finish_reason": None} | more
        return f"data: {json.dumps(head | {'choices': [choice]})}\n\n"

    out = [event({"role": "assistant", "content": ""})]
    calls = [block for block in step.blocks if block["type"] == "tool_use"]
    out += [event({"content": block["text"]}) for block in step.blocks if block["type"] == "text"]
    for index, call in enumerate(calls):
        function = {"name": call["name"], "arguments": json.dumps(call["input"])}
        called = {"index": index, "id": "call_" + uuid.uuid4().hex[:12], "type": "function", "function": function}
        out.append(event({"tool_calls": [called]}))
    out.append(event({}, finish_reason="tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    out.append(f"data: {json.dumps(head | {'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n")
    return "".join(out)


def split(stream):
    """A stream of events in two, after its first text."""
    at = stream.index("\n\n", stream.index("\n\n") + 2) + 2
    return stream[:at], stream[at:]
