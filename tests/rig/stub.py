"""A stub of the Messages API on loopback: answers by script, and records the times of requests and answers.

Prompt-driven: `@@name` in a user prompt selects the script, the number of assistant messages after it selects the
step. So a repeated request, or one beside the conversation, cannot put the two sides out of step.
"""

import json
import re
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import completions
import generate
import replies
import responses

# A held step ends with the run; this only ends a run that failed.
LONGEST_HOLD = 120


@dataclass
class Exchange:
    """One request and its result. Times are of the monotonic clock."""

    asked: float
    session: str
    script: str
    step: int
    answered: float | None = None
    how: str = ""
    # What the client says of the tool calls before this request: the texts of the results, in the order of the calls.
    results: list = field(default_factory=list)
    # The messages of the request, as the client sent them.
    messages: list = field(default_factory=list, repr=False)


class Stub:
    """The server; `exchanges` is its log."""

    def __init__(self):
        self.scripts = {}
        self.compaction = replies.Step(replies.text("<summary>\nThe rig was tried.\n</summary>"))
        self.exchanges = []
        self.attempts = {}
        self.lock = threading.Lock()
        handler = type("BoundHandler", (Handler,), {"stub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        """Releases every held answer and stops."""
        for steps in [*self.scripts.values(), [self.compaction]]:
            for step in steps:
                step.release()
        self.server.shutdown()
        self.server.server_close()

    def find(self, script, step, how=None):
        """The newest exchange of that step, if it has reached `how`."""
        with self.lock:
            for exchange in reversed(self.exchanges):
                if (exchange.script, exchange.step) == (script, step) and (how is None or exchange.how == how):
                    return exchange
        return None

    def count(self, script, step):
        """The number of requests for that step."""
        with self.lock:
            return sum((e.script, e.step) == (script, step) for e in self.exchanges)

    def note(self, session, script, step, results=()):
        """Begins an exchange."""
        exchange = Exchange(time.monotonic(), session, script, step, results=list(results))
        with self.lock:
            self.exchanges.append(exchange)
        return exchange

    def attempt(self, script, step):
        """The number of attempts at that step, this one included."""
        with self.lock:
            self.attempts[script, step] = self.attempts.get((script, step), 0) + 1
            return self.attempts[script, step]

    def choose(self, body):
        """The script, the number and the step for a request."""
        messages = body.get("messages", [])
        last_user = next((m for m in reversed(messages) if m["role"] == "user"), None)
        if last_user and re.search(replies.COMPACTION, "\n".join(texts(last_user["content"])), re.S):
            return "compaction", 0, self.compaction
        for at in range(len(messages) - 1, -1, -1):
            if messages[at]["role"] != "user":
                continue
            spoken = [t for t in texts(messages[at]["content"]) if not t.startswith("<system-reminder>")]
            named = [n for t in spoken for n in replies.DIRECTIVE.findall(t) if n in self.scripts]
            if named:
                step = sum(m["role"] == "assistant" for m in messages[at + 1 :])
                steps = self.scripts[named[-1]]
                if step < len(steps):
                    return named[-1], step, steps[step]
                return named[-1], step, replies.Step(replies.text("Nothing more."))
        return "none", 0, replies.Step(replies.text("All right."))


def texts(content):
    """The texts of a message's content."""
    if isinstance(content, str):
        return [content]
    return [b.get("text", "") for b in content or [] if isinstance(b, dict) and b.get("type") == "text"]


def results(body):
    """The texts of the tool results after the last answer of the model."""
    found = []
    for message in reversed(body.get("messages", [])):
        if message["role"] == "assistant":
            break
        blocks = message["content"] if isinstance(message["content"], list) else []
        of_tools = [b.get("content") for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
        found = ["\n".join(texts(content)) for content in of_tools] + found
    return found


def plan_file(body):
    """The file that the client names for the plan in plan mode, or an empty text."""
    named = re.search(r"[^\s\"'`\\]+/plans/[\w-]+\.md", json.dumps(body.get("messages", []) + [body.get("system")]))
    return named[0] if named else ""


class Handler(BaseHTTPRequestHandler):
    """One connection of the client."""

    protocol_version = "HTTP/1.1"
    stub = None

    def log_message(self, *_):
        """Prints nothing."""

    def do_HEAD(self):
        self.whole(200, {})

    do_GET = do_HEAD

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "count_tokens" in self.path:
            return self.whole(200, {"input_tokens": 1000})
        if self.path.endswith("/responses"):
            return self.respond(body)
        if self.path.endswith("/chat/completions"):
            chosen, said = completions.choose(self.stub, body), completions.results(body)
            return self.play(chosen, lambda step: completions.events(body, step), completions.split, said)
        if "countTokens" in self.path:
            return self.whole(200, {"totalTokens": 100})
        if "streamGenerateContent" in self.path:
            return self.play(generate.choose(self.stub, body), generate.events, generate.split)
        if "generateContent" in self.path:
            return self.whole(200, generate.pieces(generate.choose(self.stub, body)[2])[0])
        if not self.path.split("?")[0].endswith("/messages"):
            return self.whole(404, {"type": "error", "error": {"type": "not_found_error", "message": "stub"}})
        name, number, step = self.stub.choose(body)
        session = self.headers.get("x-claude-code-session-id", "")
        exchange = self.stub.note(session, name, number, results(body))
        exchange.messages = body.get("messages", [])
        try:
            self.answer(step, exchange, events(body, step), split)
        except (BrokenPipeError, ConnectionResetError):
            exchange.how = "client gone"
            self.close_connection = True

    def answer(self, step, exchange, stream, halves):
        """Plays one step: a stream of events, which `halves` cuts in two."""
        if step.gate:
            step.gate.wait(LONGEST_HOLD)
        if step.delay:
            time.sleep(step.delay)
        if step.error and self.stub.attempt(exchange.script, exchange.step) <= step.error["times"]:
            exchange.answered, exchange.how = time.monotonic(), "error"
            reply = {"type": "error", "error": {"type": step.error["type"], "message": step.error["message"]}}
            return self.whole(step.error["status"], reply, step.error["headers"])
        first, second = halves(stream) if step.midway else ("", stream)
        self.stream()
        if step.midway:
            self.chunk(first)
            exchange.how = "midway"
            step.midway.wait(LONGEST_HOLD)
        # The time is taken before the bytes are sent: the client may act on a block before the last one is written.
        exchange.answered = time.monotonic()
        self.chunk(second)
        self.chunk("")
        exchange.how = "sent"

    def respond(self, body):
        """Plays one step for Codex CLI."""
        name, number, step = responses.choose(self.stub, self.headers, body)
        session, _, _ = responses.about(self.headers)
        exchange = self.stub.note(session, name, number, responses.results(body.get("input") or []))
        try:
            self.answer(step, exchange, responses.events(step), responses.split)
        except (BrokenPipeError, ConnectionResetError):
            exchange.how = "client gone"
            self.close_connection = True

    def play(self, chosen, events, halves, results=()):
        """Plays one step for an agent that names no session in its requests."""
        name, number, step = chosen
        exchange = self.stub.note("", name, number, results)
        try:
            self.answer(step, exchange, events(step), halves)
        except (BrokenPipeError, ConnectionResetError):
            exchange.how = "client gone"
            self.close_connection = True

    def stream(self):
        """Sends the head of an answer that comes in parts."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, content):
        """Sends a part of an answer; an empty one ends it."""
        data = content.encode()
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()

    def whole(self, status, reply, headers=None):
        """Sends an answer in one piece."""
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def split(stream):
    """A stream of events in two, in the middle of its first text."""
    at = stream.index("event: content_block_stop")
    return stream[:at], stream[at:]


def events(body, step):
    """The step as server-sent events."""
    usage = {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 15000, "output_tokens": 40}
    usage.update(step.usage)
    out = []

    def event(kind, **fields):
        out.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n")

    message = {"id": "msg_stub" + uuid.uuid4().hex[:20], "type": "message", "role": "assistant", "content": []}
    message |= {"model": body.get("model"), "stop_reason": None, "stop_sequence": None, "usage": usage}
    event("message_start", message=message)
    for index, block in enumerate(step.blocks):
        if block["type"] == "text":
            event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            event("content_block_delta", index=index, delta={"type": "text_delta", "text": block["text"]})
        else:
            begun = {**block, "id": "toolu_stub" + uuid.uuid4().hex[:20], "input": {}}
            event("content_block_start", index=index, content_block=begun)
            arguments = json.dumps(block["input"]).replace(replies.PLAN_FILE, plan_file(body))
            typed = {"type": "input_json_delta", "partial_json": arguments}
            event("content_block_delta", index=index, delta=typed)
        event("content_block_stop", index=index)
    reason = "tool_use" if step.asks_for_tools else "end_turn"
    event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
    event("message_stop")
    return "".join(out)
