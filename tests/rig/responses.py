"""The stub's answers for Codex CLI, which speaks the Responses API: a script's steps as its events."""

import json
import uuid

from replies import DIRECTIVE, Step, text

TITLE = Step(text("A piece of work"))
NOTHING_MORE = Step(text("Nothing more."))


def about(headers):
    """What Codex says of a request in its headers: the session, what the thread is for, and why it asks."""
    try:
        told = json.loads(headers.get("x-codex-turn-metadata") or "{}")
    except ValueError:
        told = {}
    return told.get("thread_id", ""), told.get("thread_source", ""), told.get("request_kind", "turn")


def spoken(item):
    """The texts of one input item, if a user says it, or another agent of the session."""
    if item.get("type", "message") not in ("message", "agent_message") or item.get("role", "user") != "user":
        return []
    parts = [part for part in item.get("content", []) if isinstance(part, dict)]
    # What one agent tells another is "encrypted" by the real model alone.
    return [part.get("text") or part.get("encrypted_content", "") for part in parts]


def results(items):
    """The results of calls, as Codex gives them to the model."""
    return [str(item.get("output")) for item in items if item.get("type", "").endswith("_call_output")]


def choose(stub, headers, body):
    """The script, the number and the step: the number of results since the prompt is the number of calls."""
    _, source, kind = about(headers)
    if source == "thread_title":
        return "title", 0, TITLE
    if kind == "compaction":
        return "compaction", 0, stub.compaction
    items = body.get("input") or []
    for at in range(len(items) - 1, -1, -1):
        named = [n for t in spoken(items[at]) for n in DIRECTIVE.findall(t) if n in stub.scripts]
        if named:
            number, steps = len(results(items[at:])), stub.scripts[named[-1]]
            return named[-1], number, steps[number] if number < len(steps) else NOTHING_MORE
    return "none", 0, NOTHING_MORE


def events(step):
    """The step as server-sent events."""
    answer = "resp_stub" + uuid.uuid4().hex[:16]
    out, items = [], []
    for block in step.blocks:
        if block["type"] == "text":
            content = [{"type": "output_text", "text": block["text"], "annotations": []}]
            items.append({"type": "message", "role": "assistant", "status": "completed", "content": content})
        else:
            # A tool of a group is named with it.
            space, _, name = block["name"].rpartition(".")
            call = {"type": "function_call", "call_id": uuid.uuid4().hex, "name": name, "arguments": json.dumps(block["input"])}
            items.append(call | ({"namespace": space} if space else {}))
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}

    def event(kind, **fields):
        out.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

    event("response.created", response={"id": answer, "status": "in_progress"})
    for index, item in enumerate(items):
        item["id"] = "item_" + uuid.uuid4().hex[:10]
        event("response.output_item.added", output_index=index, item=item | ({"content": []} if "content" in item else {}))
        for part in item.get("content", []):
            event("response.output_text.delta", item_id=item["id"], output_index=index, content_index=0, delta=part["text"])
        event("response.output_item.done", output_index=index, item=item)
    event("response.completed", response={"id": answer, "status": "completed", "output": items, "usage": usage})
    return "".join(out)


def split(stream):
    """A stream of events in two, after its first text."""
    at = stream.index("event: response.output_item.done")
    return stream[:at], stream[at:]
