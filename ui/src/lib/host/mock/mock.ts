// A host without an engine: replays a script of roster messages over canned rows and timelines.

import type { AnswerCall } from "../../bindings/AnswerCall";
import type { AnswerGiven } from "../../bindings/AnswerGiven";
import type { FocusAnswer } from "../../bindings/FocusAnswer";
import type { ForgetReport } from "../../bindings/ForgetReport";
import type { Doctor } from "../../bindings/Doctor";
import type { RosterMessage } from "../../bindings/RosterMessage";
import type { RosterSnapshot } from "../../bindings/RosterSnapshot";
import type { TrackedSession } from "../../bindings/TrackedSession";
import type { ShellMessage } from "../../bindings/ShellMessage";
import type { UserCommand } from "../../bindings/UserCommand";
import type { Why } from "../../bindings/Why";
import { copyText } from "../clipboard";
import type { Host } from "../host";
import { emptyDay, everydayDay, pastAlerts } from "./day";
import { Flood } from "./flood";
import { MockHooks } from "./hooks";
import { MockMemory } from "./memory";
import { MockOwn } from "./own";
import { askWith, followWith, type Replies } from "./replies";
import { given, goesOn } from "./requests";
import { ENGINE_START, everydayRows, inRosterOrder, iso } from "./rows";
import { callIn, searchMock } from "./search";
import { MockSettings } from "./settings";
import { type Preset, type Step, UNWELL } from "./presets";
import { agentTimeline, type MockTimeline, singleChain, storyChain, storyTimeline } from "./timelines";
import { everydayChanges } from "./changes";
import { everydayUsage, limitUse, noUsage } from "./usage";
import { MockWords } from "./words";

export class MockHost implements Host {
  /** Copied texts; further below opened folders and focused terminals. All for tests. */
  readonly copied: string[] = [];
  /** The sessions that the window reported as shown, in order. */
  readonly lookedAt: (string | null)[] = [];
  #mutedUntil: string | undefined;
  readonly opened: string[] = [];
  readonly forgotten: string[] = [];
  readonly config = new MockSettings();
  readonly hooks: MockHooks;
  readonly own: MockOwn;
  readonly memory = new MockMemory((id) => this.#find(id), () => String(this.config.view().settings.find(({ key }) => key === "memory.context")?.value));
  readonly focused: string[] = [];
  readonly answers: AnswerCall[] = [];
  /** How long an answer takes until the session goes on, in milliseconds. */
  effectAfter = 300;

  /** The answers to the window's requests. A test puts its own in their place. */
  readonly replies: Replies = {
    roster: ({ all }) => this.#snapshot(all),
    why: ({ session }) => this.#why(this.#find(session)),
    chain: ({ session: id }) => {
      const session = this.#find(id);
      const said = this.#words.chain(session.workChainId);
      if (said) return said;
      if (this.#preset.chains) return this.#preset.chains(session);
      if (session.segmentCount > 1) return storyChain(id, session.workChainId);
      return singleChain(id, session.workChainId, session.createdAt ?? session.stateSince);
    },
    timeline: ({ session: id, from, limit }) => {
      const session = this.#find(id);
      const timeline = this.#timeline(session);
      return { sessionId: id, workChainId: session.workChainId, ...stretch(timeline, from ?? Math.max(0, timeline.total - limit), limit) };
    },
    search: ({ query }) => searchMock(this.#rows, (session) => this.#timeline(session), query),
    head: ({ session: id }) => {
      const session = this.#find(id);
      return this.#rows.find((row) => row.workChainId === session.workChainId && row.superseded !== true) ?? session;
    },
    // Always counted: the mock reads no files.
    newest_items: async ({ session, limit }) => ({ counted: true, timeline: await this.ask("timeline", { session, limit }) }),
    agent_timeline: ({ session, agent, from, limit }) => ({ sessionId: session, workChainId: this.#find(session).workChainId, agentId: agent, ...stretch(agentTimeline(session), from, limit) }),
    timeline_place: ({ session, agent, offset }) =>
      agent === undefined ? { index: offset, within: [] } : { index: callIn(this.#timeline(this.#find(session))), within: [{ agentId: agent, index: offset }] },
    changes: () => this.#preset.changes ?? everydayChanges,
    day: ({ date }) => (date !== undefined && date !== "2026-03-14" ? emptyDay(date) : (this.#preset.day ?? everydayDay)()),
    // The tokens of today are known where limits are.
    usage: ({ days }) => (this.#preset.rows.length === 0 || (days === 1 && this.#preset.limits === undefined) ? noUsage : everydayUsage)(days),
    alerts: () => (this.#preset.rows.length === 0 ? [] : pastAlerts()),
    limit_use: () => limitUse(this.#preset.limits ?? []),
    byte_at: () => 3,
    resume_command: ({ session }) => {
      const { cwd, attachCommand } = this.#find(session);
      return attachCommand ?? `${cwd === undefined ? "" : `cd ${cwd} && `}claude --resume ${session}`;
    },
    focus_terminal: ({ session }) => this.#focus(session),
    mute: ({ until }) => {
      this.#mutedUntil = until;
      this.change({});
    },
    memory_page: ({ session }) => this.memory.page(session),
    work_summary: ({ session }) => this.memory.summary(session),
    memory_detail: ({ id }) => this.memory.detail(id),
    memory_preview: () => this.memory.preview(),
    memory: ({ change }) => this.memory.change(change),
    doctor: () => this.#doctor(),
    settings: () => this.config.view(),
    change_settings: ({ changes }) => this.config.change(changes),
    hooks_status: () => this.hooks.status(),
    hooks_preview: ({ step }) => this.hooks.preview(step),
    hooks_change: ({ step, token }) => this.hooks.change(step, token),
    archive_offer: () => ({ files: 412, bytes: 1_900_000_000, expected: 310_000_000, cleanupDays: 30, soon: 37, firstAt: iso(ENGINE_START + 90_000_000) }),
    open_folder: ({ session }) => void this.opened.push(session),
    forget_preview: ({ named }) => this.#forgets(named),
    forget: ({ sessions }) => {
      this.forgotten.push(...sessions);
      return { ...this.#forgets(""), sessions, dryRun: false };
    },
    start_demo: () => (this.change({ upserts: everydayRows() }), this.tell({ type: "demo", on: true })),
    leave_demo: () => (this.change({ removals: this.#rows.map((row) => row.sessionId) }), this.tell({ type: "demo", on: false })),
    set_compact: ({ on }) => this.tell({ type: "compact", on }),
    open_settings: () => void this.opened.push("settings"),
    autostart: () => this.#autostart,
    set_autostart: ({ on }) => (this.#autostart = on),
    shortcut: () => ({ wanted: "", active: false }),
    service_state: () => this.config.service(),
    command: ({ command }) => this.#carryOut(command),
    answer: (call) => this.#answer(call),
    own_choices: (call) => this.own.replies.own_choices(call),
    own_start: (call) => this.own.replies.own_start(call),
    own_resume: (call) => this.own.replies.own_resume(call),
    own_switch: (call) => this.own.replies.own_switch(call),
    own_command: (call) => this.own.replies.own_command(call),
    open_link: (call) => this.own.replies.open_link(call),
  };

  readonly ask = askWith(this.replies);

  readonly subscribe = followWith({
    roster: ({ all }, sink) => this.#follow(all, sink),
    settings: (_, sink) => this.config.subscribe(sink),
    own: ({ session, from }, sink) => this.own.attach(session, from, sink),
    shell: (_, sink) => {
      this.#listeners.add(sink);
      sink({ type: "compact", on: this.#preset.compact ?? false });
      return () => this.#listeners.delete(sink);
    },
  });

  #preset: Preset;
  #listeners = new Set<(message: ShellMessage) => void>();
  #autostart = false;
  #words = new MockWords();
  #rows: TrackedSession[];
  #revision = 1;
  #grown = 0;
  #started = Date.now();
  #sinks = new Map<(message: RosterMessage) => void, { all: boolean; base: number; shown: TrackedSession[] }>();

  constructor(preset: Preset) {
    this.#preset = preset;
    this.hooks = new MockHooks(preset.hooks ?? true);
    this.#rows = inRosterOrder(preset.rows);
    this.own = new MockOwn(preset.rows, (id) => this.#rows.find(({ sessionId }) => sessionId === id), (row) => this.change({ upserts: [row] }));
    for (const step of preset.script ?? []) setTimeout(() => this.change(step), step.afterMs);
    if (preset.flood) this.#run(preset.flood.sessions, preset.flood.perSecond);
  }

  #forgets(chain: string): ForgetReport {
    const sessions = this.#rows.filter((row) => row.workChainId === chain).map((row) => row.sessionId);
    return { sessions, files: 1, prompts: 4, toolCalls: 31, texts: 70, archived: 0, freedBytes: 0, wipedLater: false, dryRun: true };
  }

  /** Number of the newest change, for tests that count them. */
  get revision(): number {
    return this.#revision;
  }

  /** The rows as the engine would have them now. */
  get rows(): readonly TrackedSession[] {
    return this.#rows;
  }

  #run(sessions: number, perSecond: number): void {
    const flood = new Flood(sessions);
    this.#rows = [...flood.rows];
    const begun = performance.now();
    let sent = 0;
    // A browser's timer is coarse under load: overdue changes go out as separate deltas, one after the other.
    const pour = (): void => {
      const due = ((performance.now() - begun) / 1000) * perSecond;
      for (; sent < due; sent += 1) this.#pour(flood);
      setTimeout(pour, 1000 / perSecond);
    };
    pour();
  }

  #pour(flood: Flood): void {
    const upsert = flood.nudge();
    this.#rows = flood.rows as TrackedSession[];
    this.#revision += 1;
    for (const [sink, subscriber] of this.#sinks) {
      const { base } = subscriber;
      subscriber.base = this.#revision;
      sink({ type: "delta", base, revision: this.#revision, generatedAt: this.#now(), upserts: [upsert], removals: [], reading: false });
    }
  }

  /** Applies a change as the engine would: first the order, then the difference for every subscriber. */
  change(step: Omit<Step, "afterMs">): void {
    const gone = new Set([...(step.removals ?? []), ...(step.upserts ?? []).map((session) => session.sessionId)]);
    this.#rows = inRosterOrder([...this.#rows.filter((session) => !gone.has(session.sessionId)), ...(step.upserts ?? [])]);
    this.#revision += 1;
    for (const [sink, subscriber] of this.#sinks) {
      const shown = this.#shown(subscriber.all);
      const ids = new Set(shown.map((session) => session.sessionId));
      const base = subscriber.base;
      const removals = subscriber.shown.filter((session) => !ids.has(session.sessionId)).map((session) => session.sessionId);
      const upserts = shown.flatMap((session, index) => (gone.has(session.sessionId) ? [{ index, session }] : []));
      Object.assign(subscriber, { base: this.#revision, shown });
      sink({ type: "delta", base, revision: this.#revision, generatedAt: this.#now(), upserts, removals, reading: false, ...this.#muted() });
    }
  }

  /** Adds this many items to every timeline. As with the engine, the rows change too. */
  grow(items: number): void {
    this.#grown += items;
    this.change({ upserts: this.#rows.slice(0, 5).map((session) => ({ ...session })) });
  }

  /** Sends any message unchanged, for tests of wrong messages. */
  send(message: RosterMessage): void {
    for (const sink of this.#sinks.keys()) sink(message);
  }

  /** Sends a message as the shell would. */
  tell(message: ShellMessage): void {
    for (const listener of this.#listeners) listener(message);
  }

  #follow(all: boolean, onMessage: (message: RosterMessage) => void): () => void {
    if (this.#preset.fails !== undefined) throw { code: "internal", message: this.#preset.fails };
    const snapshot = this.#snapshot(all);
    this.#sinks.set(onMessage, { all, base: this.#revision, shown: snapshot.sessions });
    onMessage({ type: "snapshot", ...snapshot });
    return () => this.#sinks.delete(onMessage);
  }

  #snapshot(all: boolean): RosterSnapshot {
    return { revision: this.#revision, generatedAt: this.#now(), sessions: this.#shown(all), problems: [], limits: [...(this.#preset.limits ?? [])], reading: this.#preset.reading ?? false, ...this.#muted() };
  }

  #why({ sessionId, pid = 4711, ...session }: TrackedSession): Why {
    const { state, stateKind, stateSince, stateReason } = session;
    const kind = stateKind === undefined ? {} : { stateKind };
    return {
      sessionId,
      state,
      ...kind,
      stateSince,
      stateReason,
      evidence: [
        { source: "registry", state, ...kind, at: stateSince, pid, detail: stateReason.detail, confidence: "observed", winner: true },
        { source: "process", pid, detail: "the process runs since 12:14", confidence: "observed", winner: false },
        { source: "transcript", state: "working", at: stateSince, detail: "a tool was called and has no result yet", confidence: "observed", winner: false },
        { source: "timeout", state, detail: "a pending tool counts as waiting for permission after 5 s", confidence: "inferred", winner: false },
      ],
      nextCheckAt: iso(Date.parse(this.#now()) + 4000),
    };
  }

  #doctor(): Doctor {
    return this.#preset.unwell ? UNWELL : {
      versions: { watchbill: "0.1.0", agents: ["2.1.329"] },
      roots: [{ agent: "claude", path: "/home/dev/.claude", exists: true, watch: "native" as const, sessions: this.#rows.length, files: 48, bytes: 98_400_000 }],
      registry: { readable: true, files: 7, live: 6 },
      limits: [{ name: "fs.inotify.max_user_watches", value: 65_536, needed: 412, enough: true }],
      desktop: { tray: true, notifications: true, notificationServer: "dunst 1.9.0" },
      ...this.#muted(),
      problems: [],
    };
  }

  /** Each outcome belongs to some rows: those with a terminal, the live ones without one, the others. */
  async #focus(sessionId: string): Promise<FocusAnswer> {
    this.focused.push(sessionId);
    await Promise.resolve();
    const session = this.#find(sessionId);
    const resumeCommand = await this.ask("resume_command", { session: sessionId });
    if (session.terminal !== undefined) return { sessionId, outcome: "focused", by: `${session.terminal.kind} in kitty`, resumeCommand };
    if (session.pid !== undefined) {
      return { sessionId, outcome: "windowOnly", by: "VS Code", reason: "Editors do not let another program choose one of their terminals.", resumeCommand };
    }
    return { sessionId, outcome: "notPossible", reason: "The session has ended; no terminal shows it any more.", resumeCommand };
  }

  async #answer(call: AnswerCall): Promise<AnswerGiven> {
    await Promise.resolve();
    const session = this.#find(call.session);
    const answer = given(session, call);
    this.answers.push(call);
    if (session.request) this.change({ upserts: [{ ...session, request: { ...session.request, progress: "sending" } }] });
    setTimeout(() => this.change({ upserts: [goesOn(this.#find(call.session))] }), this.effectAfter);
    return answer;
  }

  async #carryOut(command: UserCommand): Promise<string> {
    const { session } = command;
    const chain = await this.ask("chain", { session });
    switch (command.do) {
      case "rename":
        this.change({ upserts: this.#words.rename(chain, command.name, this.#rows) });
        break;
      case "join":
        this.#words.join(chain, await this.ask("chain", { session: command.with }));
        break;
      case "accept":
      case "split":
        this.#words[command.do](chain, session);
        break;
      case "undo":
        this.#words.undo(chain);
        break;
      case "snooze":
        this.change({ upserts: this.#words.snooze(this.#find(session), command.until) });
        break;
      case "put_away":
        this.change({ upserts: this.#words.putAway(this.#find(session), command.away) });
        break;
    }
    return session;
  }

  async lookingAt(sessionId: string | null): Promise<void> {
    this.lookedAt.push(sessionId);
  }

  async copy(text: string | Promise<string>): Promise<void> {
    const written = copyText(text).catch(() => undefined);
    this.copied.push(await text);
    await written;
  }

  #muted(): { mutedUntil?: string } {
    return this.#mutedUntil === undefined ? {} : { mutedUntil: this.#mutedUntil };
  }

  #timeline(session: TrackedSession): MockTimeline {
    const timeline = (this.#preset.timelines ?? ((found) => storyTimeline(found.sessionId, found.segmentCount > 1)))(session);
    if (this.#grown === 0) return timeline;
    const more = (index: number) => ({ index, key: `${index}`, sessionId: session.sessionId, kind: "note" as const, text: `Note ${index}` });
    return { total: timeline.total + this.#grown, at: (index) => (index < timeline.total ? timeline.at(index) : more(index)) };
  }

  #find(sessionId: string): TrackedSession {
    const session = this.#rows.find((candidate) => candidate.sessionId === sessionId);
    if (session === undefined) throw { code: "not_found", message: `No session has the id ${sessionId}.` };
    return session;
  }

  #shown(all: boolean): TrackedSession[] {
    return all ? this.#rows : this.#rows.filter((session) => !session.superseded && !session.putAway);
  }

  #now(): string {
    return iso(ENGINE_START + Date.now() - this.#started);
  }
}

function stretch({ total, at }: MockTimeline, from: number, limit: number) {
  const end = Math.min(total, from + limit);
  const items = Array.from({ length: Math.max(0, end - from) }, (_, i) => at(from + i));
  return { from, total, items };
}
