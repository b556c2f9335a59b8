"""The stub's answers for Codex CLI, which speaks the Responses API: a script's steps as its events."""

import json
import uuid

from replies import DIRECTIVE


def spoken(item):
    """The texts of one input item, if it is a user's message."""
    if item.get("type", "message") != "message" or item.get("role") != "user":
        return []
    return [part.get("text", "") for part in item.get("content", []) if isinstance(part, dict)]


def choose(scripts, body):
    """The script, the number and the step: the number of results since the prompt is the number of calls."""
    items = body.get("input") or []
    for at in range(len(items) - 1, -1, -1):
        named = [n for t in spoken(items[at]) for n in DIRECTIVE.findall(t) if n in scripts]
        if named:
            number = sum(item.get("type") == "function_call_output" for item in items[at:])
            return named[-1], number, scripts[named[-1]][number]
    return "none", 0, None


def events(step):
    """The step as server-sent events."""
    answer = "resp_stub" + uuid.uuid4().hex[:16]
    out, items = [], []
    for block in step.blocks if step else []:
        if block["type"] == "text":
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            items.append({"type": "message", "role": "assistant", "status": "completed", "content": content})
        else:
            typed = json.dumps(block["input"])
            items.append({"type": "function_call", "call_id": uuid.uuid4().hex, "name": block["name"], "arguments": typed})
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}

    def event(kind, **fields):
        out.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

    event("response.created", response={"id": answer, "status": "in_progress"})
    for index, item in enumerate(items):
        item["id"] = "item_" + uuid.uuid4().hex[:10]
        event("response.output_item.added", output_index=index, item=item)
        event("response.output_item.done", output_index=index, item=item)
    event("response.completed", response={"id": answer, "status": "completed", "output": items, "usage": usage})
    return "".join(out)
