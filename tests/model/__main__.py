"""A real small model behind a real OpenAI-compatible server, asked by the real programs.

The model has 135 million parameters: it shows that the parts work together, and nothing about the quality of findings.
"""

import argparse
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
FILE, OTHER = "src/log.rs", "src/merge.rs"
FILES = [FILE, OTHER, ""]
SCHEMA = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "maxItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "enum": ["gotcha", "decision"]},
                    "text": {"type": "string", "maxLength": 80},
                    "file": {"type": "string", "enum": FILES},
                },
                "required": ["type", "text", "file"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


class Model:
    """The server in a process of its own."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "serve.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.base = self.process.stdout.readline().strip() + "/v1"
        assert self.base.startswith("http://127.0.0.1:"), self.base

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def job(base, question=True, tokens=160, timeout=600_000):
    """A job as a line."""
    asked = {
        "system": "Reply with JSON alone.",
        "user": f"Request: mend the log\nActivities:\na1 Edit {FILE} ok\nAnswer: Two handles share no offset.",
        "schema": SCHEMA,
        "maxTokens": tokens,
    }
    to = {"kind": "endpoint", "baseUrl": base, "name": "small", "form": "schema"}
    line = {"to": to, "timeoutMs": timeout} | ({"question": asked} if question else {})
    return json.dumps(line) + "\n"


def start(program, line):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(line)
    process.stdin.flush()
    return process


def ask(program, line):
    process = start(program, line)
    # The input stays open until the result is there.
    result = json.loads(process.stdout.readline())
    process.stdin.close()
    process.wait(20)
    return result


def cold_start(options):
    began = time.monotonic()
    model = Model()
    result = ask(options.memory, job(model.base))
    assert "error" not in result, result
    print(f"   from the start of the server to the first answer: {time.monotonic() - began:.1f} s")
    return model


def models(options, model):
    names = ask(options.memory, job(model.base, question=False))["models"]
    assert len(names) == 1, names


def schema_is_obeyed(options, model):
    result = ask(options.memory, job(model.base))
    assert result["form"] == "schema" and result["tokensOut"] <= 160, result
    memories = json.loads(result["reply"])["memories"]
    assert len(memories) <= 1, memories
    for memory in memories:
        assert set(memory) == {"type", "text", "file"} and memory["file"] in FILES, memory
    rate = result["tokensOut"] / (result["millis"] / 1000)
    print(f"   {result['tokensIn']} + {result['tokensOut']} tokens, {rate:.1f} tokens a second with the schema")


def is_busy(model):
    root = model.base.removesuffix("/v1")
    with urllib.request.urlopen(f"{root}/slots", timeout=60) as answer:
        return any(slot["is_processing"] for slot in json.load(answer))


def wait_for(what, is_so):
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.02)


def killed_in_mid_answer(options, model):
    for way in ("kill", "close"):
        process = start(options.memory, job(model.base, tokens=600))
        try:
            wait_for("the model's work", lambda: is_busy(model))
        except urllib.error.HTTPError:
            time.sleep(0.3)  # This server does not tell.
        process.kill() if way == "kill" else process.stdin.close()
        process.wait(20)
        assert not pathlib.Path(f"/proc/{process.pid}").exists()
        result = ask(options.memory, job(model.base))
        assert "error" not in result, result


def too_late(options, model):
    result = ask(options.memory, job(model.base, tokens=600, timeout=100))
    assert result["error"] == "the model took too long", result


class WithoutSchema(http.server.BaseHTTPRequestHandler):
    """Passes questions on without their schema, as servers do that ignore it."""

    base = ""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body.pop("response_format", None)
        body["max_tokens"] = min(body["max_tokens"], 120)
        request = urllib.request.Request(
            self.base + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            bytes_ = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(bytes_)))
        self.end_headers()
        self.wfile.write(bytes_)

    def log_message(self, *_):
        pass


def transcript(home, cwd):
    """One session with one turn."""
    session = "dddddddd-0000-4000-8000-000000000004"
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    lines = []

    def record(kind, part, message):
        lines.append({"type": kind, "uuid": part, "timestamp": at, "cwd": cwd, "sessionId": session, "message": message})

    def says(part, stop, content):
        record("assistant", part, {"id": part, "role": "assistant", "model": "m", "stop_reason": stop, "content": [content]})

    record("user", "p", {"role": "user", "content": "the log loses lines when two processes write"})
    for n, file in enumerate([FILE, OTHER]):
        edit = {"file_path": f"{cwd}/{file}", "old_string": "a", "new_string": "b"}
        says(f"c{n}", "tool_use", {"type": "tool_use", "id": f"t{n}", "name": "Edit", "input": edit})
        record("user", f"r{n}", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "ok"}]})
    says("a", "end_turn", {"type": "text", "text": "Two handles share no offset, so one overwrites the other."})
    path = pathlib.Path(home, "claude/projects/-work", f"{session}.jsonl")
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def trial(options, base):
    """`watchbill memory try --model` in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        cwd = pathlib.Path(home, "work").resolve()
        cwd.mkdir()
        transcript(home, str(cwd))
        config = pathlib.Path(home, "config.toml")
        config.write_text(f'[model]\nbase_url = "{base}"\nname = "small"\ntimeout = "10m"\n')
        words = ["--claude-dir", f"{home}/claude", "--data-dir", f"{home}/data", "--config", str(config)]
        command = [options.watchbill, *words, "memory", "--project", str(cwd), "try", "--model", "--json"]
        env = {"HOME": home, "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def nothing_invented(options, model):
    WithoutSchema.base = model.base
    stripped = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WithoutSchema)
    threading.Thread(target=stripped.serve_forever, daemon=True).start()
    for base in (model.base, f"http://127.0.0.1:{stripped.server_port}/v1"):
        told = trial(options, base)
        assert len(told["turns"]) == 1, told
        turn = told["turns"][0]
        assert "error" not in turn, turn
        assert all(found.get("path", "") in FILES for found in turn["found"]), turn
        found, refused = len(turn["found"]), len(turn["refused"])
        print(f"   {found} found, {refused} refused, {turn['tokensOut']} tokens, {turn['millis'] / 1000:.1f} s")
    stripped.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", required=True, help="the program watchbill-model-client")
    parser.add_argument("--watchbill", required=True, help="the program watchbill")
    options = parser.parse_args()
    print("-- cold start", flush=True)
    model = cold_start(options)
    try:
        for case in (models, schema_is_obeyed, killed_in_mid_answer, too_late, nothing_invented):
            print(f"-- {case.__name__.replace('_', ' ')}", flush=True)
            case(options, model)
    finally:
        model.stop()
    print("all cases passed")


if __name__ == "__main__":
    main()
