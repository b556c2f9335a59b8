#!/usr/bin/env python3
"""Writes a made-up history of the agent for benchmarks: `cargo xtask bench` calls this once per size.

Sizes, record types, versions and oddities (torn last lines, resumed files that begin with a copy of another, streamed
lines that share a request) follow real histories; every word is random. The same arguments give the same bytes, so
numbers of different days can be compared. Change this generator's output only together with all recorded numbers.

usage: gen_corpus.py --out DIR --sessions N --bytes B --seed S [--jobs J] [--end ISO] [--days D]
DIR is the HOME-like root: files go to DIR/.claude/projects/<slug>/<session>.jsonl
(+ <session>/subagents/agent-*.jsonl).  Same arguments -> same bytes, for any --jobs.
"""
import argparse, base64, datetime as dt, json, math, os, random, sys, uuid
from concurrent.futures import ProcessPoolExecutor

COMMON = """the of and to a in is that for it as was with be by on not this are or from at which but have an they you were
there been one can all their has would when if so no will more about up out them then she many some these two may other into
only time new could also after use first any work now such like our over most even make well should because each how where
need check file test run error function value return type string list data path server client session user message build
change update fix add remove code line command output result config option default module import export class method field
request response token cache index parse state event handler queue worker thread async await lock read write open close
directory project branch commit merge version release deploy database query table column row schema migration transaction
let me look at now I see issue problem looks because before both between change correct current different does done each
expected fails first follow found here however instead just keep know left made might missing must next old once order own
part pass place point probably real reason same second set show since single start still sure take than those through
together try under until want way whole without yes yet render component props hook style layout button page route view
""".split()
SYL = "ba be bi bo bu ca ce ci co cu da de di do du fa fe fi fo ga ge gi go la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo za ze xi qu ter ion ent con pre pro sub tion al ic".split()
TECH = "config parser session token cache buffer stream index schema worker handler router client server request response payload record offset cursor writer reader watcher poller timer queue batch chunk event state store model view action reducer selector thunk adapter provider service factory builder context scope limit retry backoff timeout policy metric counter gauge span trace log level format".split()
TOOLS = [("Bash", 30), ("Read", 26), ("Edit", 16), ("Grep", 10), ("Write", 5), ("Glob", 3), ("TodoWrite", 5), ("Task", 2), ("WebFetch", 1), ("mcp__github__search_code", 2)]
MODELS = ["claude-sonnet-4-20250514", "claude-opus-4-20250514", "claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001", "claude-opus-4-6"]
VERSIONS = ["1.0.128", "2.0.14", "2.0.55", "2.1.19", "2.1.77", "2.1.177", "2.1.220"]
B64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

def dumps(o):
    return json.dumps(o, ensure_ascii=False, separators=(",", ":"))

class Pools:
    def __init__(self, seed):
        r = random.Random(f"{seed}:pool")
        rare = ["".join(r.choice(SYL) for _ in range(r.randint(2, 5))) for _ in range(30000)]
        self.rare = rare
        idents = []
        for _ in range(12000):
            k = [r.choice(TECH) for _ in range(r.randint(1, 3))]
            if r.random() < .3: k.append(r.choice(rare))
            s = r.random()
            idents.append("_".join(k) if s < .45 else (k[0] + "".join(w.title() for w in k[1:])) if s < .85 else "".join(w.title() for w in k))
        self.idents = idents
        def word():
            x = r.random()
            if x < .72: return COMMON[min(int(r.paretovariate(.55)) - 1, 10**9) % len(COMMON)]
            if x < .90: return rare[min(int(r.paretovariate(.7)) * 3, 10**9) % len(rare)]
            if x < .97: return "`" + r.choice(idents) + "`"
            return str(r.randint(0, 99999))
        prose = []
        for i in range(24000):
            n = max(3, int(r.gauss(17, 8)))
            s = " ".join(word() for _ in range(n)).capitalize() + r.choice([".", ".", ".", ":", "?", " →", "…"])
            p = r.random()
            if p < .18: s = "- " + s
            elif p < .22: s = "## " + s[:60]
            elif p < .26: s = "**" + s[:30] + "** " + s
            elif p < .30: s = ""
            elif p < .31: s = "修正：" + s + " ✓ café"
            elif p < .33: s = '"' + s + '" \\ "quoted"'
            prose.append(s)
        self.prose = prose
        code = []
        for i in range(60000):
            ind = ("    " if r.random() < .6 else "\t") * r.choice([0, 0, 1, 1, 1, 2, 2, 3])
            a, b, c = r.choice(idents), r.choice(idents), r.choice(idents)
            code.append(ind + r.choice([
                f"let {a} = {b}.{c}(&self.{a})?;", f"if {a}.is_empty() {{", "}", "", "", f"return {a}({b}, {c});", f"def {a}(self, {b}: str, {c}: int = {r.randint(0,99)}) -> None:",
                f"const {a} = await {b}({{ {c}: \"{r.choice(rare)}\" }});", f"import {{ {a}, {b} }} from \"./{c}\";", f"// {' '.join(r.choice(COMMON) for _ in range(8))}",
                f"pub fn {a}(&mut self, {b}: &str) -> Result<{c}> {{", f"{a}: {b} => {c},", f"logger.info(\"{a} %s\", {b})", f"for {a} in {b}.iter() {{", f"assert_eq!({a}, {b}.{c}());",
                f"<{a} className=\"flex gap-2\" onClick={{() => {b}({c})}}>", f"SELECT {a}, {b} FROM {c} WHERE {a} = ?1;", f"# {' '.join(r.choice(COMMON) for _ in range(6))}"]))
        self.code = code
        log = []
        for i in range(30000):
            a, b = r.choice(idents), r.choice(idents)
            log.append(r.choice([
                f"test {a}::{b} ... ok", f"test {a}::{b} ... ok", f"   Compiling {a.lower()} v{r.randint(0,9)}.{r.randint(0,30)}.{r.randint(0,9)}", f"src/{a}/{b}.rs:{r.randint(1,900)}:{r.randint(1,90)}: error[E0{r.randint(100,700)}]: {' '.join(r.choice(COMMON) for _ in range(9))}",
                f"\u001b[32m✓\u001b[39m {a} {b} \u001b[2m({r.randint(1,900)}ms)\u001b[22m", f"{r.getrandbits(160):040x} {b} {' '.join(r.choice(COMMON) for _ in range(5))}", f"-rw-r--r--  1 dev  staff  {r.randint(10,99999)} Oct {r.randint(1,30)} 12:{r.randint(10,59)} {a}.ts",
                f"[2026-0{r.randint(1,9)}-1{r.randint(0,9)}T0{r.randint(0,9)}:{r.randint(10,59)}:{r.randint(10,59)}Z] INFO {a}: {b}={r.randint(0,10**6)}", f"\tat {a}.{b} (/Users/dev/code/app/node_modules/{a}/dist/index.js:{r.randint(1,4000)}:{r.randint(1,80)})",
                f"{{\"{a}\":{r.randint(0,999)},\"{b}\":\"{r.choice(rare)}\"}}", f"packages/{a}/src/{b}.tsx:{r.randint(1,700)}:  const {b} = use{a}();"]))
        self.log = log

    def take(self, r, pool, nbytes):
        lines = getattr(self, pool)
        avg = {"prose": 95, "code": 48, "log": 80}[pool]
        n = max(1, int(nbytes / avg))
        i = r.randrange(len(lines))
        out = []
        while n > 0:
            part = lines[i:i + n]
            out.extend(part); n -= len(part); i = r.randrange(len(lines))
        s = "\n".join(out)
        return s[:max(8, int(nbytes))]

P = None
def pools(seed):
    global P
    if P is None: P = Pools(seed)
    return P

def ln(r, median, sigma, lo, hi):
    return min(hi, max(lo, median * math.exp(r.gauss(0, sigma))))

def uid(r): return str(uuid.UUID(int=r.getrandbits(128), version=4))
def rid(r, n=24): return "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789") for _ in range(n))
def b64(r, n): return base64.b64encode(r.randbytes(int(n * 3 / 4))).decode()

class Sess:
    def __init__(s, seed, i, cfg, proj, slug, start, target):
        s.r = random.Random(f"{seed}:s:{i}"); s.p = pools(seed); r = s.r
        s.i, s.target, s.proj, s.slug = i, target, proj, slug
        s.sid = uid(r); s.version = r.choices(VERSIONS, [4, 6, 14, 18, 20, 22, 16])[0]
        s.vt = tuple(int(x) for x in s.version.split(".")); s.model = r.choice(MODELS)
        s.branch = r.choice(["main", "main", "develop", "feat/" + r.choice(TECH), "fix/" + r.choice(TECH)])
        s.t = start; s.parent = None; s.out = []; s.bytes = 0; s.ctx = r.randint(12000, 22000); s.since_compact = 0
        s.sub = []; s.slugname = "-".join(r.choice(TECH) for _ in range(3)); s.agent = None; s.files = [f"{proj}/src/{r.choice(s.p.idents)}.{r.choice(['rs','ts','tsx','py','go'])}" for _ in range(25)]
        s.prompt_id = uid(r)

    def ts(s, lo=.2, hi=12):
        s.t += s.r.uniform(lo, hi)
        return dt.datetime.utcfromtimestamp(s.t).strftime("%Y-%m-%dT%H:%M:%S.") + f"{int(s.t * 1000) % 1000:03d}Z"

    def emit(s, o):
        line = dumps(o); s.out.append(line); n = len(line.encode("utf-8", "surrogatepass")) + 1
        s.bytes += n; s.since_compact += n

    def base(s, typ, **kw):
        u = uid(s.r)
        o = {"parentUuid": s.parent, "isSidechain": s.agent is not None, "userType": "external"}
        if s.vt >= (2, 1, 100): o["entrypoint"] = "cli"
        o.update({"cwd": s.proj, "sessionId": s.sid, "version": s.version, "gitBranch": s.branch})
        if s.agent: o["agentId"] = s.agent
        if s.vt >= (2, 1, 0): o["slug"] = s.slugname
        o["type"] = typ
        o.update(kw); o["uuid"] = u; o["timestamp"] = s.ts()
        s.parent = u
        return o

    def user_prompt(s, text, **kw):
        o = s.base("user", message={"role": "user", "content": text}, **kw)
        if s.vt >= (2, 1, 50): o["promptId"] = s.prompt_id = uid(s.r); o["permissionMode"] = s.r.choice(["default", "acceptEdits", "plan", "bypassPermissions"])
        elif s.vt >= (2, 0, 0): o["thinkingMetadata"] = {"level": "high", "disabled": False, "triggers": []}; o["todos"] = []
        s.emit(o)
        return o["uuid"]

    def usage(s, out):
        r = s.r; add = r.randint(150, 4000); s.ctx = min(s.ctx + add, 190000)
        u = {"input_tokens": r.randint(1, 12), "cache_creation_input_tokens": add, "cache_read_input_tokens": s.ctx, "cache_creation": {"ephemeral_5m_input_tokens": add, "ephemeral_1h_input_tokens": 0}, "output_tokens": out, "service_tier": "standard"}
        if s.vt >= (2, 1, 70): u["inference_geo"] = "not_available"; u["server_tool_use"] = {"web_search_requests": 0, "web_fetch_requests": 0}; u["iterations"] = [{"type": "message", "input_tokens": u["input_tokens"], "output_tokens": out}]
        return u

    def assistant(s, blocks, stop):
        r = s.r; mid = "msg_01" + rid(r, 22); req = "req_011C" + rid(r, 20); out = r.randint(40, 1800); us = s.usage(out)
        for k, b in enumerate(blocks):
            last = k == len(blocks) - 1
            u = dict(us) if last else dict(us, output_tokens=min(out, r.randint(1, 8)))
            m = {"model": s.model, "id": mid, "type": "message", "role": "assistant", "content": [b], "stop_reason": stop if last else None, "stop_sequence": None, "usage": u}
            o = s.base("assistant", message=m, requestId=req); s.emit(o)
        return s.parent

    def file_text(s, nbytes): return s.p.take(s.r, "code", nbytes)

    def tool(s):
        r = s.r; p = s.p
        names, w = zip(*TOOLS); name = r.choices(names, w)[0]
        if s.agent and name == "Task": name = "Read"
        tid = "toolu_01" + rid(r, 22); fp = r.choice(s.files); err = r.random() < .05; extra = []
        if name == "Bash":
            inp = {"command": r.choice(["cargo test -p ", "npm run build -- ", "git log --oneline -n 20 ", "rg -n ", "ls -la ", "pytest -q "]) + r.choice(p.idents), "description": " ".join(r.choice(COMMON) for _ in range(6))}
            so = p.take(r, "log", ln(r, 900, 1.5, 20, 30000)); se = p.take(r, "log", 200) if r.random() < .1 else ""
            content = so + ("\n" + se if se else ""); tur = {"stdout": so, "stderr": se, "interrupted": False, "isImage": False}
            if s.vt >= (2, 1, 0): tur["noOutputExpected"] = False
        elif name == "Read":
            inp = {"file_path": fp}
            if r.random() < .02:
                img = b64(r, ln(r, 60000, .8, 4000, 200000)); content = [{"type": "image", "source": {"type": "base64", "data": img, "media_type": "image/png"}}]
                tur = {"type": "image", "file": {"base64": img, "type": "image/png", "originalSize": len(img)}}
            else:
                t = s.file_text(ln(r, 3800, 1.2, 100, 90000)); ls = t.split("\n")
                content = "\n".join(f"{k + 1:6d}→{l}" for k, l in enumerate(ls))
                tur = {"type": "text", "file": {"filePath": fp, "content": t, "numLines": len(ls), "startLine": 1, "totalLines": len(ls)}}
        elif name == "Edit":
            old = s.file_text(ln(r, 250, .9, 20, 4000)); new = s.file_text(ln(r, 380, .9, 20, 6000)); orig = s.file_text(ln(r, 7000, 1.2, 1000, 200000))
            inp = {"replace_all": False, "file_path": fp, "old_string": old, "new_string": new}
            content = f"The file {fp} has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n" + "\n".join(f"{k + 40:6d}→{l}" for k, l in enumerate(new.split("\n")))
            tur = {"filePath": fp, "oldString": old, "newString": new, "originalFile": orig, "structuredPatch": [{"oldStart": 40, "oldLines": old.count("\n") + 1, "newStart": 40, "newLines": new.count("\n") + 1, "lines": ["-" + l for l in old.split("\n")] + ["+" + l for l in new.split("\n")]}], "userModified": False, "replaceAll": False}
        elif name == "Write":
            t = s.file_text(ln(r, 3000, 1.1, 100, 60000)); inp = {"file_path": fp, "content": t}
            content = f"File created successfully at: {fp}"; tur = {"type": "create", "filePath": fp, "content": t, "structuredPatch": [], "originalFile": None}
        elif name == "Grep":
            c = p.take(r, "log", ln(r, 900, 1.2, 30, 20000)); inp = {"pattern": r.choice(p.idents), "path": s.proj + "/src", "output_mode": "content", "-n": True}
            content = c; tur = {"mode": "content", "numFiles": 0, "filenames": [], "content": c, "numLines": c.count("\n") + 1}
        elif name == "Glob":
            fs = [r.choice(s.files) for _ in range(r.randint(1, 60))]; inp = {"pattern": "**/*.ts"}; content = "\n".join(fs); tur = {"filenames": fs, "durationMs": r.randint(3, 400), "numFiles": len(fs), "truncated": False}
        elif name == "TodoWrite":
            td = [{"content": " ".join(r.choice(COMMON) for _ in range(6)), "status": r.choice(["pending", "in_progress", "completed"]), "activeForm": " ".join(r.choice(COMMON) for _ in range(4))} for _ in range(r.randint(2, 8))]
            inp = {"todos": td}; content = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."; tur = {"oldTodos": td[:-1], "newTodos": td}
        elif name == "Task":
            aid = f"{r.getrandbits(28):07x}" if s.vt < (2, 1, 50) else f"a{r.getrandbits(64):016x}"
            pr = p.take(r, "prose", ln(r, 1500, .8, 200, 9000)); inp = {"description": " ".join(r.choice(COMMON) for _ in range(4)), "prompt": pr, "subagent_type": r.choice(["Explore", "general-purpose", "Plan", "code-reviewer"])}
            res = p.take(r, "prose", ln(r, 3000, .8, 300, 20000)); content = [{"type": "text", "text": res}]
            tur = {"status": "completed", "prompt": pr, "agentId": aid, "content": content, "totalDurationMs": r.randint(5000, 400000), "totalTokens": r.randint(9000, 120000), "totalToolUseCount": r.randint(2, 60), "usage": s.usage(900)}
            s.sub.append((aid, pr, min(ln(r, 70000, 1.2, 6000, 3_000_000), max(6000, (s.target - s.bytes) * .6))))
        elif name == "WebFetch":
            c = p.take(r, "prose", ln(r, 2500, .8, 200, 30000)); inp = {"url": f"https://example.test/{r.choice(p.rare)}", "prompt": "summarise"}; content = c; tur = {"bytes": len(c), "code": 200, "codeText": "OK", "result": c, "durationMs": 900, "url": inp["url"]}
        else:
            c = dumps([{"path": r.choice(s.files), "sha": f"{r.getrandbits(160):040x}", "text": p.take(r, "code", 300)} for _ in range(r.randint(1, 20))]); inp = {"query": r.choice(p.idents)}; content = [{"type": "text", "text": c}]; tur = content
        if err: content = "Error: " + p.take(r, "log", 200); tur = content
        return tid, name, inp, content, tur, err

    def turn(s):
        r, p = s.r, s.p
        if s.vt >= (2, 0, 0) and not s.agent: s.emit({"type": "file-history-snapshot", "messageId": uid(r), "snapshot": {"messageId": uid(r), "trackedFileBackups": {f: {"backupFileName": f"{r.getrandbits(64):016x}@v{r.randint(1,9)}", "version": r.randint(1, 9), "backupTime": s.ts(0, 0)} for f in s.files[:r.randint(0, 12)]}, "timestamp": s.ts(0, 0)}, "isSnapshotUpdate": r.random() < .4})
        if not s.agent:
            s.t += r.choice([20, 60, 200, 900, 4000]) * r.random()
            x = r.random()
            if x < .07: s.user_prompt(f"<command-name>/{r.choice(['clear','model','cost','review','compact'])}</command-name>\n            <command-message>x</command-message>\n            <command-args></command-args>")
            elif x < .10: s.emit(s.base("user", isMeta=True, message={"role": "user", "content": "Caveat: The messages below were generated by the user while running local commands. DO NOT respond to these messages."}))
            s.user_prompt(p.take(r, "prose", ln(r, 180, 1.3, 5, 20000)))
            if s.vt >= (2, 1, 150):
                for _ in range(r.randint(0, 2)): s.emit(s.base("attachment", attachment=r.choice([{"type": "hook_success", "hookName": "UserPromptSubmit", "toolUseID": uid(r), "hookEvent": "UserPromptSubmit", "content": "", "stdout": p.take(r, "log", 200), "stderr": "", "exitCode": 0, "command": "hook.sh", "durationMs": 40}, {"type": "edited_text_file", "filename": r.choice(s.files), "snippet": s.file_text(ln(r, 900, .9, 60, 9000))}, {"type": "todo_reminder", "content": [], "itemCount": 0}])))
        n = max(1, int(ln(r, 7, .9, 1, 80)))
        for k in range(n):
            if s.bytes >= s.target: break
            blocks = []
            if r.random() < .35: blocks.append({"type": "thinking", "thinking": p.take(r, "prose", ln(r, 700, 1, 40, 12000)), "signature": b64(r, ln(r, 700, .7, 200, 6000))})
            if r.random() < .4: blocks.append({"type": "text", "text": p.take(r, "prose", ln(r, 250, .9, 15, 5000))})
            calls = [s.tool() for _ in range(1 if r.random() < .85 else r.randint(2, 4))]
            blocks += [{"type": "tool_use", "id": c[0], "name": c[1], "input": c[2]} for c in calls]
            au = s.assistant(blocks, "tool_use")
            for tid, name, inp, content, tur, err in calls:
                if (2, 1, 0) <= s.vt < (2, 1, 100) and not s.agent:
                    if name == "Bash":
                        for q in range(r.choice([0, 0, 1, 1, 3, 12])): s.emit(s.base("progress", data={"type": "bash_progress", "output": "", "fullOutput": p.take(r, "log", 300), "elapsedTimeSeconds": q + 2, "totalLines": q * 3, "taskId": "b" + rid(r, 8)}, toolUseID=f"bash-progress-{q}", parentToolUseID=tid))
                    elif name in ("Edit", "Read"): s.emit(s.base("progress", data={"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": f"PostToolUse:{name}", "command": "callback"}, parentToolUseID=tid, toolUseID=tid))
                s.t += r.choice([.3, 2, 10, 60]) * r.random()
                blk = {"tool_use_id": tid, "type": "tool_result", "content": content}
                if err or name == "Bash": blk["is_error"] = err
                o = s.base("user", message={"role": "user", "content": [blk]})
                o["toolUseResult"] = tur; o["sourceToolAssistantUUID"] = au
                s.emit(o)
            if not s.agent and r.random() < .03:
                t = s.ts(); s.emit({"type": "queue-operation", "operation": "enqueue", "timestamp": t, "sessionId": s.sid, "content": p.take(r, "prose", 120)}); s.emit({"type": "queue-operation", "operation": r.choice(["dequeue", "remove"]), "timestamp": s.ts(), "sessionId": s.sid})
            if r.random() < .01: s.emit(s.base("system", subtype="api_error", level="error", error={"status": 529}, retryInMs=600.5, retryAttempt=1, maxRetries=10))
            if s.since_compact > s.cap and not s.agent: s.compact()
        s.assistant(([{"type": "thinking", "thinking": p.take(r, "prose", 600), "signature": b64(r, 600)}] if r.random() < .3 else []) + [{"type": "text", "text": p.take(r, "prose", ln(r, 1100, .8, 60, 9000))}], "end_turn")
        if not s.agent:
            if s.vt >= (2, 0, 50) and r.random() < .5: s.emit(s.base("system", subtype="stop_hook_summary", hookCount=1, hookInfos=[{"command": "notify.sh", "durationMs": 30}], hookErrors=[], preventedContinuation=False, stopReason="", hasOutput=False, level="suggestion", toolUseID=uid(r)))
            if s.vt >= (2, 0, 50): s.emit(s.base("system", subtype="turn_duration", durationMs=r.randint(4000, 900000), isMeta=False))
            if s.vt >= (2, 1, 60): s.emit({"type": "last-prompt", "lastPrompt": p.take(r, "prose", 90), "sessionId": s.sid})

    def compact(s):
        r = s.r; last = s.parent; s.parent = None
        o = s.base("system", subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info", compactMetadata={"trigger": r.choice(["auto", "auto", "manual"]), "preTokens": s.ctx}); o["logicalParentUuid"] = last; s.emit(o)
        s.user_prompt("This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n" + s.p.take(r, "prose", ln(r, 9000, .4, 2000, 30000)), isVisibleInTranscriptOnly=True, isCompactSummary=True)
        s.ctx = r.randint(20000, 40000); s.since_compact = 0; s.cap = ln(r, 2_200_000, .35, 700_000, 6_000_000)

    def run(s):
        r = s.r; s.cap = ln(r, 2_200_000, .35, 700_000, 6_000_000)
        if s.vt < (2, 0, 30):
            for _ in range(r.choice([0, 0, 1, 3])): s.emit({"type": "summary", "summary": s.p.take(r, "prose", 60), "leafUuid": uid(r)})
        if s.vt >= (2, 1, 150):
            s.emit({"type": "mode", "mode": "normal", "sessionId": s.sid}); s.emit({"type": "permission-mode", "permissionMode": "default", "sessionId": s.sid})
        while s.bytes < s.target: s.turn()
        if s.vt >= (2, 1, 60) and r.random() < .5: s.emit({"type": r.choice(["ai-title", "custom-title"]), "aiTitle": s.p.take(r, "prose", 50), "customTitle": s.p.take(r, "prose", 50), "sessionId": s.sid})
        if r.random() < .02: s.out[-1] = s.out[-1][:max(1, len(s.out[-1]) // 2)]  # torn final line

def write(path, lines, t, torn_ok=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as f:
        f.write("\n".join(lines) + "\n")
    os.utime(path, (t, t))
    return os.path.getsize(path)

def one(a):
    seed, i, proj, slug, start, target, root, prev = a
    s = Sess(seed, i, None, proj, slug, start, target)
    if prev:  # older resume style: the new file begins with a copy of an earlier session's records
        q = Sess(seed, prev[0], None, prev[1], prev[2], prev[3], min(prev[4], target * .4)); q.run()
        for l in q.out:
            l2 = l.replace(q.sid, s.sid); s.out.append(l2); s.bytes += len(l2.encode()) + 1
        s.parent = q.parent; s.t = max(s.t, q.t + 60)
    subs_left = lambda: 0
    s.run()
    n = write(f"{root}/{slug}/{s.sid}.jsonl", s.out, s.t); files = 1; recs = len(s.out)
    for k, (aid, pr, tgt) in enumerate(s.sub):
        b = Sess(seed, f"{i}.{k}", None, proj, slug, s.t - 300, tgt); b.sid, b.version, b.vt, b.branch, b.agent, b.model = s.sid, s.version, s.vt, s.branch, aid, s.r.choice(MODELS[2:5]); b.cap = 1e18
        b.user_prompt(pr)
        while b.bytes < b.target: b.turn()
        d = f"{root}/{slug}/{s.sid}/subagents/agent-{aid}.jsonl" if s.vt >= (2, 1, 0) else f"{root}/{slug}/agent-{aid}.jsonl"
        n += write(d, b.out, s.t); files += 1; recs += len(b.out)
    return n, files, recs

def main():
    ap = argparse.ArgumentParser(); ap.add_argument("--out", required=True); ap.add_argument("--sessions", type=int, default=2000); ap.add_argument("--bytes", type=float, default=1e9)
    ap.add_argument("--seed", default="1"); ap.add_argument("--jobs", type=int, default=os.cpu_count()); ap.add_argument("--end", default="2026-11-15T18:00:00"); ap.add_argument("--days", type=int, default=180); ap.add_argument("--sigma", type=float, default=1.6)
    a = ap.parse_args(); r = random.Random(f"{a.seed}:plan")
    end = dt.datetime.fromisoformat(a.end).replace(tzinfo=dt.timezone.utc).timestamp()
    nproj = max(2, a.sessions // 35); pj = [f"/Users/dev/code/{r.choice(TECH)}-{r.choice(SYL)}{r.choice(SYL)}{k}" for k in range(nproj)]
    w = [1 / (k + 1) for k in range(nproj)]
    raw = [math.exp(r.gauss(0, a.sigma)) for _ in range(a.sessions)]
    k = a.bytes / sum(raw) / a.__dict__.get("fudge", 1)
    root = os.path.join(a.out, ".claude", "projects"); os.makedirs(root, exist_ok=True); jobs = []; meta = []
    for i in range(a.sessions):
        p = r.choices(pj, w)[0]; slug = p.replace("/", "-").replace(".", "-"); start = end - r.random() * a.days * 86400; tgt = max(600, raw[i] * k)
        prev = meta[r.randrange(len(meta))] if meta and r.random() < .03 else None
        meta.append((i, p, slug, start, tgt)); jobs.append([a.seed, i, p, slug, start, tgt, root, prev])
    # Subagent files add bytes on top. A pilot measures their share; one scale factor corrects for it.
    pilot = [one_dry(j) for j in jobs[:: max(1, a.sessions // 60)]]
    f = sum(x[0] for x in pilot) / max(1, sum(x[1] for x in pilot))
    for j in jobs: j[5] /= f
    for j in jobs:
        if j[7]: j[7] = tuple(list(j[7][:4]) + [j[7][4] / f])
    tot = files = recs = 0
    with ProcessPoolExecutor(a.jobs) as ex:
        for n, c, q in ex.map(one, sorted(jobs, key=lambda j: -j[5]), chunksize=4): tot += n; files += c; recs += q
    with open(os.path.join(a.out, ".claude", "settings.json"), "w") as fh: json.dump({"model": "opus", "hooks": {}}, fh)
    with open(os.path.join(a.out, ".claude.json"), "w") as fh: json.dump({"projects": {p: {} for p in pj}}, fh)
    print(json.dumps({"files": files, "sessions": a.sessions, "records": recs, "bytes": tot}))

def one_dry(j):
    seed, i, proj, slug, start, target, root, prev = j
    s = Sess(seed, i, None, proj, slug, start, target); s.run(); return s.bytes + sum(x[2] for x in s.sub), target

if __name__ == "__main__": main()
