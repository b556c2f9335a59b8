#!/usr/bin/env python3
"""A stand-in for Claude Code on pipes that costs next to nothing, for benchmarks: it notes when it read a prompt.

A prompt is one word and numbers. Each is noted in the file `received` of the folder, with the time of its line, before it is
looked at: milliseconds since 1970. "say N MS" then says N pieces of text, one each MS milliseconds, which hold the time of their
writing: "=1764150000000.123=". Any other prompt is answered by one word.
"""
import json, sys, time

def now():
    return time.time_ns() / 1e6

def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()

def turn(uuid, words):
    say(type="command_lifecycle", command_uuid=uuid, state="started")
    say(type="system", subtype="init", session_id=SESSION, model="stand-in", permissionMode="default", claude_code_version="0")
    text = "done"
    if words[0] == "say":
        text = ""
        say(type="stream_event", event={"type": "message_start", "message": {"id": "m-" + uuid}}, session_id=SESSION)
        for _ in range(int(words[1])):
            time.sleep(int(words[2]) / 1e3)
            piece = f"={now():.3f}= "
            text += piece
            say(type="stream_event", event={"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}, session_id=SESSION)
    say(type="assistant", message={"id": "m-" + uuid, "content": [{"type": "text", "text": text}]}, session_id=SESSION)
    say(type="result", subtype="success", is_error=False, terminal_reason="completed", user_message_uuids=[uuid])
    say(type="command_lifecycle", command_uuid=uuid, state="completed")

SESSION = sys.argv[sys.argv.index("--session-id") + 1]
for text in sys.stdin:
    at = now()
    line = json.loads(text)
    if line["type"] == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": line["request_id"], "response": {}})
    elif line["type"] == "user":
        words = "".join(block.get("text", "") for block in line["message"]["content"])
        with open("received", "a", encoding="utf-8") as file:
            file.write(f"{at:.3f} {words}\n")
        turn(line["uuid"], words.split() or [""])
