"""A stub of the API that Gemini CLI asks: it answers by words in the last message."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RUN = {"name": "run_shell_command", "args": {"command": "echo hi > g.txt; cat g.txt", "description": "Write"}}
# The agent asks the model which model it should ask.
CHOICE = {"reasoning": "simple", "model_choice": "flash", "complexity_reasoning": "simple", "complexity_score": 10}
LONGEST_HOLD = 120


class GeminiStub:
    """The server."""

    def __init__(self):
        self.silent = 0
        self.gate = threading.Event()
        handler = type("BoundHandler", (Handler,), {"stub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def release(self):
        """Lets a held answer go on."""
        self.gate.set()

    def close(self):
        """Stops."""
        self.release()
        self.server.shutdown()
        self.server.server_close()

    def parts(self, body):
        """The parts of the answer."""
        wanted = body.get("generationConfig") or {}
        if wanted.get("responseJsonSchema") or wanted.get("responseMimeType") == "application/json":
            return [{"text": json.dumps(CHOICE | {"next_speaker": "user"})}]
        last = json.dumps((body.get("contents") or [{}])[-1])
        if "functionResponse" in last:
            return [{"text": "Done."}]
        if "@@silent" in last:
            self.silent += 1
            self.gate.wait(LONGEST_HOLD)
        if "@@run" in last:
            return [{"text": "Running."}, {"functionCall": RUN}]
        return [{"text": "Hello from the stub."}]


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    stub = None

    def log_message(self, *_):
        """Prints nothing."""

    def do_GET(self):
        self.send({}, "application/json")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "countTokens" in self.path:
            return self.send({"totalTokens": 100}, "application/json")
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        candidate = {"content": {"role": "model", "parts": self.stub.parts(body)}, "finishReason": "STOP", "index": 0}
        reply = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub", "responseId": "r1"}
        return self.send(reply, "text/event-stream" if "stream" in self.path else "application/json")

    def send(self, reply, kind):
        """Sends an answer in one piece."""
        words = json.dumps(reply)
        data = (f"data: {words}\r\n\r\n" if kind == "text/event-stream" else words).encode()
        try:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
