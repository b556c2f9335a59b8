#!/usr/bin/env python3
"""Writes a made-up history of very many short sessions for benchmarks, most of them months old.

This history shows the cost of a start per session; `gen_corpus.py` shows its cost per byte. Lines are small and alike.
Sessions differ only in the fields that tie and sort them: ids, times, folders, branches, requests, titles, `/clear`,
forks, compactions. Each transcript's modification time is the time of its last record.

usage: gen_crowd.py --out DIR --sessions N --recent N --projects N --seed S --end SECONDS
DIR/.claude/projects/<slug>/<session>.jsonl; the last --recent sessions end within the day before --end.
Same arguments -> same bytes.
"""
import argparse, datetime as dt, json, os, random, uuid

WORDS = """check the parser test and fix why it fails add a flag for the worker rename this module move the queue out of the
server look at the log explain how sessions are stored update docs bump version remove dead code split the handler""".split()
DAY = 86400

def dumps(o):
    return json.dumps(o, ensure_ascii=False, separators=(",", ":"))

def uid(r):
    return str(uuid.UUID(int=r.getrandbits(128), version=4))

def words(r, n):
    return " ".join(r.choice(WORDS) for _ in range(n))

class Session:
    def __init__(s, r, cwd, start, process=None):
        s.r, s.cwd, s.t, s.id, s.parent, s.lines = r, cwd, start, uid(r), None, []
        s.process = process or s.id
        s.branch = r.choice(["main", "main", "main", "develop", "feat/" + r.choice(WORDS)])
        s.version = r.choice(["2.1.220", "2.1.298", "2.1.329"])

    def record(s, typ, **more):
        s.t += s.r.uniform(1, 40)
        at = dt.datetime.fromtimestamp(s.t, dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{int(s.t * 1000) % 1000:03d}Z"
        own = uid(s.r)
        s.lines.append(dumps({"parentUuid": s.parent, "isSidechain": False, "userType": "external", "entrypoint": "cli", "cwd": s.cwd,
            "sessionId": s.id, "session_id": s.process, "version": s.version, "gitBranch": s.branch, "type": typ, **more, "uuid": own, "timestamp": at}))
        s.parent = own

    def assistant(s, block, stop):
        usage = {"input_tokens": s.r.randint(1, 12), "cache_creation_input_tokens": s.r.randint(100, 4000), "cache_read_input_tokens": s.r.randint(9000, 90000), "output_tokens": s.r.randint(20, 900)}
        s.record("assistant", requestId="req_011C" + uid(s.r)[:18], message={"model": "claude-opus-4-6", "id": "msg_01" + uid(s.r)[:20], "type": "message", "role": "assistant", "content": [block], "stop_reason": stop, "usage": usage})

    def turn(s):
        r = s.r
        s.record("user", message={"role": "user", "content": words(r, r.randint(4, 30))}, permissionMode="default", promptId=uid(r))
        for _ in range(r.randint(0, 2)):
            call = "toolu_01" + uid(r)[:22]
            s.assistant({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": words(r, 4)}}, "tool_use")
            out = words(r, r.randint(5, 60))
            s.record("user", message={"role": "user", "content": [{"tool_use_id": call, "type": "tool_result", "content": out}]}, toolUseResult={"stdout": out, "stderr": "", "interrupted": False})
        s.assistant({"type": "text", "text": words(r, r.randint(10, 80))}, "end_turn")

    def clear(s):
        s.record("user", message={"role": "user", "content": "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"})

    def boundary(s):
        s.record("system", subtype="compact_boundary", content="Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 160000})

    def copy(s, origin):
        for o in filter(lambda o: "uuid" in o, map(json.loads, origin.lines)):
            o["forkedFrom"] = {"sessionId": origin.id, "messageUuid": o["uuid"]}
            o["sessionId"] = s.id
            s.lines.append(dumps(o))

    def write(s, root, extra):
        if extra:
            s.lines.append(dumps({"type": "custom-title", "customTitle": words(s.r, 3), "sessionId": s.id}))
        slug = s.cwd.replace("/", "-")
        folder = os.path.join(root, slug)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, s.id + ".jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(s.lines) + "\n")
        os.utime(path, (s.t, s.t))
        return os.path.getsize(path)

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True); ap.add_argument("--sessions", type=int, default=100_000); ap.add_argument("--recent", type=int, default=300)
    ap.add_argument("--projects", type=int, default=500); ap.add_argument("--seed", default="1"); ap.add_argument("--end", type=float, required=True)
    a = ap.parse_args()
    r = random.Random(f"{a.seed}:crowd")
    root = os.path.join(a.out, ".claude", "projects")
    os.makedirs(root, exist_ok=True)
    folders = [f"/home/dev/code/{r.choice(WORDS)}-{r.choice(WORDS)}-{k}" for k in range(a.projects)]
    last, total, processes = {}, 0, []
    for n in range(a.sessions):
        recent = n >= a.sessions - a.recent
        cwd = r.choice(folders)
        start = a.end - (r.uniform(0.02, 0.85) * DAY if recent else r.uniform(2, 700) * DAY)
        before, kind = last.get(cwd), r.random()
        # `/clear` comes right after the earlier session's last record; a fork can come months later.
        if before and not recent and kind < .04:
            s = Session(r, cwd, before.t + 5, before.process); s.clear()
        elif before and kind < .05:
            s = Session(r, cwd, max(start, before.t + 5)); s.copy(before)
        else:
            s = Session(r, cwd, start)
        for k in range(r.choice([1, 1, 1, 2, 2, 3])):
            if k == 2 and r.random() < .3: s.boundary()
            s.turn()
        total += s.write(root, r.random() < .1)
        last[cwd] = s
        if n % (a.sessions // 20) == 0: processes.append(s)
    # Registry files that ended processes have left behind.
    os.makedirs(os.path.join(a.out, ".claude", "sessions"), exist_ok=True)
    for pid, s in enumerate(processes, 4_000_000):
        entry = {"pid": pid, "sessionId": s.id, "cwd": s.cwd, "startedAt": int(s.t * 1000), "procStart": "1", "version": s.version, "kind": "interactive", "entrypoint": "cli", "status": "idle", "statusUpdatedAt": int(s.t * 1000)}
        with open(os.path.join(a.out, ".claude", "sessions", f"{pid}.json"), "w", encoding="utf-8") as f:
            f.write(dumps(entry))
    print(json.dumps({"sessions": a.sessions, "bytes": total}))

if __name__ == "__main__":
    main()
