// Own sessions of the mock host: each has a log that is replayed to each view that attaches, and goes on as a host would.

import type { HostMessage } from "../../bindings/HostMessage";
import type { OwnCommand } from "../../bindings/OwnCommand";
import type { OwnResumeCall } from "../../bindings/OwnResumeCall";
import type { OwnNews } from "../../bindings/OwnNews";
import type { OwnSize } from "../../bindings/OwnSize";
import type { OwnSpec } from "../../bindings/OwnSpec";
import type { OwnWhat } from "../../bindings/OwnWhat";
import type { TrackedSession } from "../../bindings/TrackedSession";
import { fromBase64, toBase64 } from "../../base64";
import { askWith, followWith, type Replies } from "./replies";
import { ago, ENGINE_START, iso, row } from "./rows";

type Logged = { readonly n: number; readonly at: string } & OwnWhat;
type Prompt = Extract<OwnCommand, { do: "prompt" }>;

const utf8 = (text: string): string => toBase64(new TextEncoder().encode(text));

/** One made-up session with its host. */
export class MockOwnSession {
  readonly commands: OwnCommand[] = [];
  readonly log: Logged[] = [];
  /** What the terminal shows, as bytes that draw it. */
  screen = "";
  size: OwnSize = { rows: 24, cols: 80 };
  alive = true;
  #sinks = new Set<(news: OwnNews) => void>();
  #queue: Prompt[] = [];
  #held = false;
  #turn: Prompt | undefined;
  #ids = new Set<string>();

  readonly spec: OwnSpec;
  readonly since: number;
  readonly #row: (working: boolean, queued: number, ended: boolean) => void;

  constructor(spec: OwnSpec, since: number, row: (working: boolean, queued: number, ended: boolean) => void = () => undefined) {
    this.spec = spec;
    this.since = since;
    this.#row = row;
  }

  attach(sink: (news: OwnNews) => void, from: number): () => void {
    sink({ own: "begin", spec: this.spec, ...(this.alive ? { pid: 4710 } : {}) });
    if (this.spec.kind === "pty") sink({ own: "host", message: { host: "screen", bytes: utf8(this.screen), size: this.size } });
    const events = this.log.filter(({ n }) => n >= from);
    sink({ own: "host", message: { host: "events", events } });
    sink({ own: "host", message: { host: "caught_up" } });
    if (this.alive) this.#sinks.add(sink);
    else sink({ own: "over" });
    return () => this.#sinks.delete(sink);
  }

  /** Appends to the log, and tells everyone. */
  tell(...what: OwnWhat[]): void {
    const [n, at] = [this.log.length, iso(ENGINE_START + Date.now() - this.since)];
    const events = what.map((one, i) => ({ n: n + i, at, ...one }));
    this.log.push(...events);
    this.#send({ host: "events", events });
  }

  output(text: string): void {
    this.screen += text;
    this.#send({ host: "output", bytes: utf8(text) });
  }

  /** Another host runs it. */
  goOn(): void {
    this.alive = true;
  }

  /** The host is gone without a word. */
  die(failure?: string): void {
    this.alive = false;
    for (const sink of this.#sinks) sink({ own: "over", ...(failure === undefined ? {} : { failure }) });
    this.#sinks.clear();
  }

  take(command: OwnCommand): void {
    if (!this.alive) throw { code: "not_found", message: "The session has no host any more." };
    this.commands.push(command);
    switch (command.do) {
      case "prompt":
        return this.#prompt(command);
      case "unqueue":
        return this.#unqueue(command.id);
      case "go_on_at":
        this.#held = true;
        if (command.text !== "") this.#prompt({ do: "prompt", id: command.id, text: command.text, images: [], when: "queue" });
        return this.tell({ event: "queue_held", held: true, cause: "time", until: command.until });
      case "release_queue":
        this.#held = false;
        this.tell({ event: "queue_held", held: false });
        return this.#next();
      case "interrupt":
        return this.#interrupt(true);
      case "set_mode":
        return this.tell({ event: "changed", mode: command.mode });
      case "set_model":
        return this.tell({ event: "changed", model: command.model });
      case "type":
        // The terminal's own echo, as a shell's.
        return this.output(new TextDecoder().decode(fromBase64(command.bytes)).replaceAll("\r", "\r\n"));
      case "paste":
        return this.output(command.text.replaceAll("\n", "\r\n"));
      case "resize":
        this.size = command.size;
        return;
      case "stop":
        return this.stop();
    }
  }

  stop(): void {
    this.tell({ event: "ending", left: [{ pid: 4711, command: "claude -p" }] }, { event: "session_ended", code: 0, asked: true });
    this.#row(false, 0, true);
    this.die();
  }

  #prompt(prompt: Prompt): void {
    if (this.#ids.has(prompt.id)) return;
    this.#ids.add(prompt.id);
    if (prompt.when === "steer" && this.#turn) return this.tell(placed(prompt, "sent"));
    if (prompt.when === "now") {
      this.#queue.unshift(prompt);
      if (this.#turn) this.#interrupt(false);
      return this.#next();
    }
    this.#queue.push(prompt);
    this.tell(placed(prompt, "queued"));
    this.#changed();
    this.#next();
  }

  #unqueue(id: string): void {
    const prompt = this.#queue.find((queued) => queued.id === id);
    if (prompt === undefined) return;
    this.#queue = this.#queue.filter((queued) => queued !== prompt);
    this.tell(placed(prompt, "dropped"));
    this.#changed();
  }

  #interrupt(holds: boolean): void {
    const prompt = this.#turn;
    if (prompt === undefined) return;
    this.#turn = undefined;
    this.tell({ event: "turn_end", reason: "interrupted" }, placed(prompt, "done"));
    if (holds && this.#queue.length > 0) this.tell({ event: "queue_held", held: true, cause: "interrupted" });
    this.#changed();
  }

  #next(): void {
    if (this.#turn !== undefined || this.#held) return;
    this.#turn = this.#queue.shift();
    this.#changed();
    if (this.#turn) this.tell(placed(this.#turn, "sent"), placed(this.#turn, "started"), { event: "turn_start" });
  }

  /** The agent says a piece of text. */
  say(block: string, delta: string): void {
    this.tell({ event: "text", block, delta });
  }

  /** The running turn ends by itself, and the next prompt goes. */
  endTurn(): void {
    const prompt = this.#turn;
    this.#turn = undefined;
    this.tell({ event: "turn_end", reason: "completed" }, ...(prompt ? [placed(prompt, "done")] : []));
    this.#changed();
    this.#next();
  }

  #changed(): void {
    this.#row(this.#turn !== undefined, this.#queue.length, false);
  }

  #send(message: HostMessage): void {
    for (const sink of this.#sinks) sink({ own: "host", message });
  }
}

function placed({ id, text, images }: Prompt, place: "queued" | "sent" | "started" | "done" | "dropped"): OwnWhat {
  return { event: "prompt", id, text, place, ...(images ? { images: images.length } : {}) };
}

type OwnReplies = Pick<Replies, "own_choices" | "own_start" | "own_resume" | "own_switch" | "own_command" | "open_link">;

/** Answers the requests about own sessions. */
export class MockOwn {
  readonly sessions = new Map<string, MockOwnSession>();
  readonly started: OwnSpec[] = [];
  readonly resumed: OwnResumeCall[] = [];
  readonly links: string[] = [];
  /** The next calls fail with this reason, for tests. */
  refuses: string | undefined;
  #since = Date.now();
  #change: (row: TrackedSession) => void;
  #row: (id: string) => TrackedSession | undefined;

  constructor(rows: readonly TrackedSession[], row: (id: string) => TrackedSession | undefined, change: (row: TrackedSession) => void) {
    this.#row = row;
    this.#change = change;
    for (const own of rows.filter(({ source }) => source !== "watcher")) this.#open(specOf(own));
    play(this.sessions);
  }

  readonly replies: OwnReplies = {
    own_choices: () => ({ agents: ["claude" as const, "codex" as const, "shell" as const], folders: ["/home/dev/api-server", "/home/dev/shop", "/home/dev/scheduler"] }),
    own_start: ({ spec }) => this.#start(spec),
    own_resume: ({ call }) => this.#resume(call),
    own_switch: ({ call }) => {
      this.#refuse();
      const { id: session, sessionId, agent, fork } = call;
      const spec = { session, agent, kind: "stream" as const, cwd: this.#row(sessionId)?.cwd ?? "/", createdAt: iso(ENGINE_START), switched: { session: sessionId, fork } };
      return { spec, context: "<watchbill-context>\nUser:\n  Explain the billing webhook\nAssistant:\n  It retries five times.\n</watchbill-context>" };
    },
    own_command: async ({ session, command }) => {
      await Promise.resolve();
      this.#refuse();
      this.#find(session).take(command);
    },
    open_link: ({ address }) => void this.links.push(address),
  };

  readonly ask = askWith(this.replies);

  readonly subscribe = followWith({ own: ({ session, from }, sink) => this.attach(session, from, sink) });

  async #start(spec: OwnSpec): Promise<void> {
    await Promise.resolve();
    this.#refuse();
    if (this.sessions.has(spec.session)) return;
    this.started.push(spec);
    const before = spec.switched && this.#row(spec.switched.session);
    if (before) {
      const own = this.sessions.get(before.sessionId);
      if (own?.alive) own.stop();
      this.#change({ ...(this.#row(before.sessionId) ?? before), superseded: true, supersededBy: spec.session });
    }
    this.#open({ ...spec, createdAt: iso(ENGINE_START) });
    this.#change(row({ sessionId: spec.session, source: spec.kind, agent: spec.agent, cwd: spec.cwd, title: "New session", state: "waiting_for_input", stateSince: iso(ENGINE_START), stateReason: { source: spec.kind, detail: "it was started", confidence: "observed" }, pid: 4711 }));
  }

  async #resume(call: OwnResumeCall): Promise<string> {
    this.#refuse();
    this.resumed.push(call);
    const before = this.#row(call.sessionId);
    if (!call.fork && before) {
      // The row stays, and has a host again.
      const { own, session } = { own: this.sessions.get(call.sessionId), session: { ...before, source: call.kind, own: call.kind, ownId: before.ownId ?? call.id, state: "waiting_for_input", group: "your_turn" as const, pid: 4712 } };
      if (own) own.goOn();
      else this.#open(specOf(session));
      this.#change(session);
      return call.sessionId;
    }
    await this.#start({ createdAt: iso(ENGINE_START), session: call.id, agent: call.agent, kind: call.kind, cwd: this.#row(call.sessionId)?.cwd ?? "/", resume: { session: call.sessionId, fork: call.fork } });
    return call.id;
  }

  attach(session: string, from: number, sink: (news: OwnNews) => void): () => void {
    return this.#find(session).attach(sink, from);
  }

  #refuse(): void {
    if (this.refuses !== undefined) throw { code: "invalid", message: this.refuses };
  }

  #find(session: string): MockOwnSession {
    const own = this.sessions.get(session);
    if (own === undefined) throw { code: "not_found", message: "The session has no host any more." };
    return own;
  }

  #open(spec: OwnSpec): void {
    const changed = (working: boolean, queued: number, ended: boolean): void => {
      const before = this.#row(spec.session);
      if (before === undefined) return;
      const { pid: _, queuedPrompts: __, needs: ___, request: ____, ...rest } = before;
      const state = ended ? "ended" : working ? "working" : "waiting_for_input";
      this.#change({ ...rest, ...(ended ? {} : { pid: 4711 }), state, group: ended ? "idle" : working ? "working" : "your_turn", status: working ? "working" : "idle", hasPendingToolUse: false, ...(queued > 0 ? { queuedPrompts: queued } : {}) });
    };
    this.sessions.set(spec.session, new MockOwnSession(spec, this.#since, changed));
  }
}

function specOf(own: TrackedSession): OwnSpec {
  return { session: own.sessionId, agent: own.agent as OwnSpec["agent"], kind: own.source as OwnSpec["kind"], cwd: own.cwd ?? "/", createdAt: ago(3600) };
}

/** Own sessions of each kind: at work, with a queue that is held, of an agent without a transcript, in a terminal, ended. */
export function ownRows(): TrackedSession[] {
  const stream = { source: "stream" as const, detail: "the agent says so", confidence: "observed" as const };
  const base = { branch: "main", stateReason: stream, pid: 4711 };
  return [
    row({ ...base, sessionId: "own-works", source: "stream", title: "Prepare the release", cwd: "/home/dev/api-server", branch: "release/2.4", state: "working", stateSince: ago(12), pendingTool: { tool: "Bash", target: "npm test -- --ci" }, model: "claude-opus-4-1", context: { used: 172_000, size: 200_000, percent: 86 }, queuedPrompts: 2 }),
    row({ ...base, sessionId: "own-held", source: "stream", title: "Write the announcement", cwd: "/home/dev/site", state: "waiting_for_input", stateKind: "interrupted", stateSince: ago(120), queuedPrompts: 1 }),
    row({ ...base, sessionId: "own-codex", source: "stream", agent: "codex", title: "Port the parser", cwd: "/home/dev/parser", state: "waiting_for_input", stateSince: ago(240) }),
    row({ ...base, sessionId: "own-pty", source: "pty", title: "Migrate sessions to Redis", cwd: "/home/dev/shop", state: "working", stateSince: ago(31), stateReason: { ...stream, source: "registry" } }),
    row({ sessionId: "own-ended", source: "stream", title: "Explain the webhook", cwd: "/home/dev/billing", state: "ended", stateSince: ago(3600), stateReason: stream }),
  ];
}

function play(sessions: ReadonlyMap<string, MockOwnSession>): void {
  const init: OwnWhat = { event: "init", session: "s", model: "claude-opus-4-1", mode: "default", models: ["claude-opus-4-1", "claude-sonnet-4-5"], modes: ["default", "acceptEdits", "plan"], commands: ["clear", "compact", "context", "cost", "review"] };
  const works = sessions.get("own-works");
  works?.tell(init, { event: "context", used: 172_000, size: 200_000 });
  works?.take({ do: "prompt", id: "11111111-0000-4000-8000-000000000001", text: "Go on: run the checks, and then publish.", when: "queue" });
  works?.tell(
    { event: "thinking", block: "m1.0", delta: "The snapshot test failed before; only the version string changed." },
    { event: "block", block: "m1.0", text: "The snapshot test failed before; only the version string changed.", thinking: true },
    { event: "tool_use", id: "call-1", tool: "Read", input: { file_path: "CHANGELOG.md" }, target: "CHANGELOG.md" },
    { event: "tool_result", id: "call-1", text: "## 2.4.0" },
    { event: "retry", attempt: 1, of: 10, waitMs: 1200, cause: "529 overloaded" },
    { event: "text", block: "m2.0", delta: "The changelog is ready. I run the **release checks** now, and read what" },
    { event: "tool_use", id: "call-2", tool: "Bash", input: { command: "npm test -- --ci" }, target: "npm test -- --ci" },
  );
  works?.take({ do: "prompt", id: "11111111-0000-4000-8000-000000000002", text: "Then tag it, and push the tag", when: "queue" });
  works?.take({ do: "prompt", id: "11111111-0000-4000-8000-000000000003", text: "Write the announcement, two paragraphs", when: "queue" });
  const held = sessions.get("own-held");
  held?.tell(init, { event: "context", used: 41_000, size: 200_000 });
  held?.take({ do: "prompt", id: "22222222-0000-4000-8000-000000000001", text: "Draft it", when: "queue" });
  held?.take({ do: "prompt", id: "22222222-0000-4000-8000-000000000002", text: "Now in German", when: "queue" });
  held?.take({ do: "interrupt" });
  const codex = sessions.get("own-codex");
  codex?.tell({ ...init, model: "gpt-5-codex", mode: "on-request", models: [], modes: [], commands: [] });
  for (let turn = 0; turn < 3; turn += 1) {
    codex?.take({ do: "prompt", id: `33333333-0000-4000-8000-00000000000${turn}`, text: `Port part ${turn + 1} of the parser`, when: "queue" });
    codex?.tell({ event: "tool_use", id: `c${turn}`, tool: "Bash", input: { command: "cargo test" }, target: "cargo test" }, { event: "tool_result", id: `c${turn}`, text: "ok", failed: turn === 1 }, { event: "block", block: `b${turn}`, text: `Part ${turn + 1} is ported.` });
    codex?.endTurn();
  }
  const pty = sessions.get("own-pty");
  if (pty) pty.screen = SCREEN;
  const ended = sessions.get("own-ended");
  ended?.tell(init);
  ended?.take({ do: "prompt", id: "44444444-0000-4000-8000-000000000001", text: "Explain the billing webhook", when: "queue" });
  ended?.tell({ event: "block", block: "e", text: "It retries five times." });
  ended?.endTurn();
  ended?.stop();
}

const SCREEN = [
  "\x1b[90m●\x1b[0m Bash(npm test -- --ci)",
  "  \x1b[90m└  412 passed, 0 failed (51 s)\x1b[0m",
  "",
  "\x1b[90m>\x1b[0m Go on, see https://example.com/releases for the last one.",
  "",
  "╭──────────────────────────────────────────────────────╮",
  "│ \x1b[1mBash command\x1b[0m                                         │",
  "│   npm publish --tag latest --access public           │",
  "│ \x1b[34m❯ 1. Yes\x1b[0m                                             │",
  "│   2. No, and tell Claude what to do differently      │",
  "╰──────────────────────────────────────────────────────╯",
  "",
].join("\r\n");
