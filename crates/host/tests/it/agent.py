"""A stand-in for Claude Code on pipes: it speaks the lines of client 2.1.329 as far as a host needs them.

Beside what it says, it writes each start to `starts`, its folder to `roots` and each prompt to `received` in its folder. The first word of a prompt says what
it does.
"""

import datetime
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading

CHANGED = threading.Condition()
STATE = {"interrupted": False, "answer": None, "answers": [], "prompts": [], "over": False}


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def note(name, text):
    with open(name, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def is_known(session, name="transcripts"):
    """Whether a turn of this session has begun in this folder."""
    try:
        with open(name, encoding="utf-8") as file:
            return session in file.read().split()
    except FileNotFoundError:
        return False


def listen():
    for text in sys.stdin:
        line = json.loads(text)
        with CHANGED:
            if line["type"] == "user":
                words = "".join(block.get("text", "") for block in line["message"]["content"])
                note("received", line["uuid"] + " " + words[:40])
                for block in line["message"]["content"]:
                    if block["type"] == "image":
                        note("pictures", hashlib.sha256(block["source"]["data"].encode()).hexdigest())
                        # The real client repeats each prompt, its pictures too.
                        say(type="user", isReplay=True, uuid=line["uuid"], message=line["message"])
                if words.startswith("keep"):
                    # The real client writes the transcript before it says that the turn begins.
                    note("transcripts", SESSION)
                if words.startswith("half"):
                    # The real client writes that it has a prompt before it writes the prompt.
                    note("files", SESSION)
                if words.startswith(("vanish", "keep", "half")):
                    os.kill(os.getpid(), signal.SIGKILL)
                if words.startswith("forget"):
                    # It says that the turn begins, and dies before it writes.
                    say(type="command_lifecycle", command_uuid=line["uuid"], state="started")
                    os.kill(os.getpid(), signal.SIGKILL)
                say(type="command_lifecycle", command_uuid=line["uuid"], state="queued")
                STATE["prompts"].append((line["uuid"], words))
            elif line["type"] == "control_request":
                request = line["request"]["subtype"]
                say(type="control_response", response={"subtype": "success", "request_id": line["request_id"], "response": {}})
                if request == "interrupt":
                    STATE["interrupted"] = True
            elif line["type"] == "control_response":
                STATE["answer"] = line["response"]["response"]
                STATE["answers"].append(line["response"]["request_id"])
            CHANGED.notify_all()
    with CHANGED:
        STATE["over"] = True
        CHANGED.notify_all()


def until(is_so):
    """Waits until something is so, the turn is interrupted, or the input ends."""
    with CHANGED:
        CHANGED.wait_for(lambda: is_so() or STATE["interrupted"] or STATE["over"])


def raw(kind, number, text):
    """A line of a client that has gone wrong, or of a large answer. `text` is what is long in it."""
    name = f"{number}{text}"
    if kind == "words":
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    elif kind == "lists":
        say(type="assistant", values=[[]] * (len(text) // 4))
    elif kind == "objects":
        say(type="assistant", values=[{"": 0}] * (len(text) // 9))
    elif kind == "sessions":
        say(type="system", subtype="init", session_id=name, model=name, permissionMode=name)
    elif kind == "calls":
        say(type="assistant", message={"id": "m", "content": [{"type": "tool_use", "id": name, "name": name, "input": {}}]})
    elif kind == "subagents":
        say(type="user", agent_id=name, subagent_type=name, message={})
    elif kind == "blocks":
        say(type="stream_event", event={"type": "content_block_delta", "index": number, "delta": {"type": "text_delta", "text": text}})
    elif kind == "requests":
        say(type="control_request", request_id=name, request={"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": name}})
    elif kind == "picture":
        say(type="assistant", message={"id": "m", "content": [{"type": "tool_use", "id": "call", "name": "Read", "input": {}}]})
        source = {"type": "base64", "media_type": "image/png", "data": text}
        content = [{"type": "image", "source": source}, {"type": "text", "text": "seen"}]
        say(type="user", message={"content": [{"type": "tool_result", "content": content, "tool_use_id": "call"}]})


def cut(uuid, message, words):
    """Says an answer of several blocks, and is killed after so many bytes of it. Arguments: the bytes, a word that the answer repeats,
    and how many blocks of the answer its transcript gets: none is without a transcript."""
    _, count, name, kept = words.split(" ")[:4]
    lines, records = [], []
    if kept != "none":
        records.append({"type": "user", "uuid": uuid, "promptId": "prompt-" + name, "message": {"role": "user", "content": words}})
    for part in range(3):
        stream = {"type": "stream_event", "session_id": SESSION}
        text = "".join(f"{name}part{part}word{number} " for number in range(6))
        block = {"type": "text", "text": text} if part != 1 else {"type": "tool_use", "id": f"t-{name}", "name": "Bash", "input": {"command": text}}
        begun = {"type": "message_start", "message": {"id": f"{message}-{part}"}}
        lines.append(stream | {"event": begun})
        for piece in text.split(" ")[:-1] if part != 1 else []:
            lines.append(stream | {"event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece + " "}}})
        answer = {"type": "assistant", "message": {"id": f"{message}-{part}", "role": "assistant", "content": [block]}}
        lines.append(answer)
        if kept != "none" and part < int(kept):
            records.append(answer | {"uuid": f"eeeeeee{part}{uuid[8:]}"})
    if kept != "none":
        folder = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR", os.path.join(os.environ["HOME"], ".claude")), "projects", "-work")
        os.makedirs(folder, exist_ok=True)
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        with open(os.path.join(folder, SESSION + ".jsonl"), "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps({"sessionId": SESSION, "cwd": os.getcwd(), "timestamp": now} | record) + "\n")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    sys.stdout.write(text[: int(count)])
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def turn(uuid, words):
    global SESSION
    if words.startswith("clear"):
        # As after the command of that name: another conversation begins.
        SESSION = words.split(" ")[1]
    note("transcripts", SESSION)
    say(type="command_lifecycle", command_uuid=uuid, state="started")
    say(type="system", subtype="init", session_id=SESSION, model="stand-in", permissionMode="default", claude_code_version="0")
    STATE["interrupted"] = False
    word = words.split(" ")[0]
    message = "msg-" + uuid
    if word == "slow":
        until(lambda: False)
    elif word == "child":
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        # Two levels: the process in the middle ends, and the child has no parent of ours.
        subprocess.run("setsid sleep 1000 & echo $! > child", shell=True, check=True, **quiet)
        say(type="assistant", message={"id": message, "content": [{"type": "text", "text": "started"}]})
        until(lambda: False)
    elif word == "deaf":
        for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(name, signal.SIG_IGN)
        say(type="assistant", message={"id": message, "content": [{"type": "text", "text": "deaf"}]})
        while True:
            signal.pause()
    elif word == "die":
        sys.stderr.write("the last words\n")
        sys.stderr.flush()
        os._exit(3)
    elif word == "many":
        for number in range(int(words.split(" ")[1])):
            delta = {"type": "text_delta", "text": f"{number} "}
            event = {"type": "content_block_delta", "index": 0, "delta": delta}
            say(type="stream_event", event=event, session_id=SESSION)
    elif word == "grows":
        delta = {"type": "text_delta", "text": "the first words"}
        say(type="stream_event", event={"type": "content_block_delta", "index": 0, "delta": delta}, session_id=SESSION)
        until(lambda: False)
    elif word == "cut":
        cut(uuid, message, words)
    elif word == "long":
        say(type="assistant", message={"id": message, "content": [{"type": "text", "text": "x" * int(words.split(" ")[1])}]})
    elif word == "huge":
        for _ in range(int(words.split(" ")[1])):
            say(type="assistant", message={"id": message, "content": [{"type": "text", "text": "x" * int(words.split(" ")[2])}]})
    elif word == "raw":
        _, kind, count, size = words.split(" ")
        for number in range(int(count)):
            raw(kind, number, "x" * int(size))
    elif word == "errors":
        sys.stderr.write("x" * int(words.split(" ")[1]) + "\n")
        sys.stderr.flush()
    elif word == "broken":
        sys.stdout.write('{"type": \udcff' + "\n")
        sys.stdout.flush()
    elif word in ("asks", "again"):
        # Many requests at once, or one id for each of many, one after another.
        STATE["answers"] = []
        for number in range(int(words.split(" ")[1])):
            name = "r" if word == "again" else f"r{number}"
            request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": f"echo {number}"}, "tool_use_id": f"t{number}"}
            say(type="control_request", request_id=name, request=request)
            if word == "again":
                until(lambda: len(STATE["answers"]) > number)
        until(lambda: len(STATE["answers"]) == int(words.split(" ")[1]))
        note("answers", json.dumps(STATE["answers"]))
    elif word == "ask":
        STATE["answer"] = None
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "true"}, "tool_use_id": "t-" + uuid}
        say(type="control_request", request_id="r-" + uuid, request=request)
        until(lambda: STATE["answer"] is not None)
        note("answers", json.dumps(STATE["answer"]))
    interrupted = STATE["interrupted"]
    if not interrupted:
        say(type="assistant", message={"id": message, "content": [{"type": "text", "text": "echo " + words[:100]}]})
    say(
        type="result",
        subtype="error_during_execution" if interrupted else "success",
        is_error=interrupted,
        terminal_reason="aborted_streaming" if interrupted else "completed",
        user_message_uuids=[uuid],
    )
    say(type="command_lifecycle", command_uuid=uuid, state="completed")


ARGS = sys.argv[1:]
# A fork names both: the session that it copies, and its own.
SESSION = next(ARGS[ARGS.index(word) + 1] for word in ("--session-id", "--resume") if word in ARGS)
note("starts", " ".join(ARGS))
note("roots", os.environ.get("CLAUDE_CONFIG_DIR", "none"))
if "--session-id" in ARGS and (is_known(SESSION) or is_known(SESSION, "files")):
    sys.exit(f"Error: Session ID {SESSION} is already in use.")
if "--resume" in ARGS and not is_known(ARGS[ARGS.index("--resume") + 1]):
    say(type="result", subtype="error_during_execution", is_error=True, errors=["No conversation found with session ID: …"])
    sys.exit(1)
note("environment", "\n".join(sorted(os.environ)))
threading.Thread(target=listen, daemon=True).start()
while True:
    with CHANGED:
        CHANGED.wait_for(lambda: STATE["prompts"] or STATE["over"])
        if not STATE["prompts"]:
            break
        NEXT = STATE["prompts"].pop(0)
    turn(*NEXT)
