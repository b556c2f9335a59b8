// A host without an engine: replays a script of roster messages over canned rows and timelines.

import type { AnswerCall } from "../../bindings/AnswerCall";
import type { AnswerGiven } from "../../bindings/AnswerGiven";
import type { FocusAnswer } from "../../bindings/FocusAnswer";
import type { Doctor } from "../../bindings/Doctor";
import type { RosterMessage } from "../../bindings/RosterMessage";
import type { SearchQuery } from "../../bindings/SearchQuery";
import type { HooksStep } from "../../bindings/HooksStep";
import type { SettingChange } from "../../bindings/SettingChange";
import type { SettingsView } from "../../bindings/SettingsView";
import type { TrackedSession } from "../../bindings/TrackedSession";
import type { ShellMessage } from "../../bindings/ShellMessage";
import type { WorkChain } from "../../bindings/WorkChain";
import { copyText } from "../clipboard";
import type { Host } from "../host";
import { Flood } from "./flood";
import { MockHooks } from "./hooks";
import { MockMemory } from "./memory";
import { MockOwn } from "./own";
import { given, goesOn } from "./requests";
import { ENGINE_START, everydayRows, inRosterOrder, iso } from "./rows";
import { callIn, searchMock } from "./search";
import { MockSettings } from "./settings";
import { type Preset, type Step, UNWELL } from "./presets";
import { agentTimeline, type MockTimeline, singleChain, storyChain, storyTimeline } from "./timelines";
import { MockWords } from "./words";

export class MockHost implements Host {
  /** Copied texts; further below opened folders and focused terminals. All for tests. */
  readonly copied: string[] = [];
  /** The sessions that the window reported as shown, in order. */
  readonly lookedAt: (string | null)[] = [];
  #mutedUntil: string | undefined;
  readonly opened: string[] = [];
  readonly config = new MockSettings();
  readonly hooks: MockHooks;
  readonly own: MockOwn;
  readonly memory = new MockMemory((id) => this.#find(id), () => String(this.config.view().settings.find(({ key }) => key === "memory.context")?.value));
  readonly focused: string[] = [];
  readonly answers: AnswerCall[] = [];
  /** How long an answer takes until the session goes on, in milliseconds. */
  effectAfter = 300;

  #preset: Preset;
  #listeners: ((message: ShellMessage) => void)[] = [];
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

  async listen(onMessage: (message: ShellMessage) => void): Promise<void> {
    this.#listeners.push(onMessage);
    onMessage({ type: "compact", on: this.#preset.compact ?? false });
  }

  async setCompact(on: boolean): Promise<void> {
    this.tell({ type: "compact", on });
  }

  async autostart(): Promise<boolean> {
    return this.#autostart;
  }

  async setAutostart(on: boolean): Promise<boolean> {
    this.#autostart = on;
    return on;
  }

  async shortcut() {
    return { wanted: "", active: false };
  }

  async subscribe(all: boolean, onMessage: (message: RosterMessage) => void): Promise<() => void> {
    await Promise.resolve();
    if (this.#preset.fails !== undefined) throw { code: "internal", message: this.#preset.fails };
    const shown = this.#shown(all);
    this.#sinks.set(onMessage, { all, base: this.#revision, shown });
    onMessage({
      type: "snapshot",
      revision: this.#revision,
      generatedAt: this.#now(),
      sessions: shown,
      problems: [],
      reading: this.#preset.reading ?? false,
      ...this.#muted(),
    });
    return () => this.#sinks.delete(onMessage);
  }

  async why(sessionId: string) {
    const session = this.#find(sessionId);
    const { state, stateKind, stateSince, stateReason } = session;
    const kind = stateKind === undefined ? {} : { stateKind };
    return {
      sessionId,
      state,
      ...kind,
      stateSince,
      stateReason,
      evidence: [
        { source: "registry", state, ...kind, at: stateSince, pid: session.pid ?? 4711, detail: stateReason.detail, confidence: "observed", winner: true },
        { source: "process", pid: session.pid ?? 4711, detail: "the process runs since 12:14", confidence: "observed", winner: false },
        { source: "transcript", state: "working", at: stateSince, detail: "a tool was called and has no result yet", confidence: "observed", winner: false },
        { source: "timeout", state, detail: "a pending tool counts as waiting for permission after 5 s", confidence: "inferred", winner: false },
      ],
      nextCheckAt: iso(Date.parse(this.#now()) + 4000),
    };
  }

  async head(sessionId: string): Promise<TrackedSession> {
    const session = this.#find(sessionId);
    return this.#rows.find((row) => row.workChainId === session.workChainId && row.superseded !== true) ?? session;
  }

  async chain(sessionId: string): Promise<WorkChain> {
    const session = this.#find(sessionId);
    const said = this.#words.chain(session.workChainId);
    if (said) return said;
    if (this.#preset.chains) return this.#preset.chains(session);
    if (session.segmentCount > 1) return storyChain(sessionId, session.workChainId);
    return singleChain(sessionId, session.workChainId, session.createdAt ?? session.stateSince);
  }

  async renameChain(sessionId: string, name: string | null): Promise<WorkChain> {
    const chain = await this.chain(sessionId);
    this.change({ upserts: this.#words.rename(chain, name, this.#rows) });
    return this.chain(sessionId);
  }

  async joinChains(sessionId: string, withSessionId: string): Promise<WorkChain> {
    this.#words.join(await this.chain(sessionId), await this.chain(withSessionId));
    return this.chain(sessionId);
  }

  async splitChain(sessionId: string): Promise<WorkChain> {
    this.#words.split(await this.chain(sessionId), sessionId);
    return this.chain(sessionId);
  }

  async acceptLink(sessionId: string): Promise<WorkChain> {
    this.#words.accept(await this.chain(sessionId), sessionId);
    return this.chain(sessionId);
  }

  async rejectLink(sessionId: string): Promise<WorkChain> {
    return this.splitChain(sessionId);
  }

  async undoChain(sessionId: string): Promise<WorkChain> {
    this.#words.undo(await this.chain(sessionId));
    return this.chain(sessionId);
  }

  async snooze(sessionId: string, until: string | null): Promise<void> {
    this.change({ upserts: this.#words.snooze(this.#find(sessionId), until) });
  }

  async putAway(sessionId: string, away: boolean): Promise<void> {
    this.change({ upserts: this.#words.putAway(this.#find(sessionId), away) });
  }

  async timeline(sessionId: string, from: number | undefined, limit: number) {
    const session = this.#find(sessionId);
    const timeline = this.#timeline(session);
    return { sessionId, workChainId: session.workChainId, ...stretch(timeline, from ?? Math.max(0, timeline.total - limit), limit) };
  }

  /** Always counted: the mock reads no files. */
  async newestItems(sessionId: string, limit: number) {
    return { counted: true, timeline: await this.timeline(sessionId, undefined, limit) };
  }

  async agentTimeline(sessionId: string, agentId: string, from: number, limit: number) {
    const session = this.#find(sessionId);
    return { sessionId, workChainId: session.workChainId, agentId, ...stretch(agentTimeline(sessionId), from, limit) };
  }

  async timelinePlace(sessionId: string, agentId: string | undefined, offset: number) {
    if (agentId === undefined) return { index: offset, within: [] };
    return { index: callIn(this.#timeline(this.#find(sessionId))), within: [{ agentId, index: offset }] };
  }

  async search(query: SearchQuery) {
    return searchMock(this.#rows, (session) => this.#timeline(session), query);
  }

  async doctor(): Promise<Doctor> {
    return this.#preset.unwell ? UNWELL : {
      versions: { watchbill: "0.1.0", agents: ["2.1.329"] },
      roots: [{ path: "/home/dev/.claude", exists: true, watch: "native" as const, sessions: this.#rows.length, files: 48, bytes: 98_400_000 }],
      registry: { readable: true, files: 7, live: 6 },
      limits: [{ name: "fs.inotify.max_user_watches", value: 65_536, needed: 412, enough: true }],
      desktop: { tray: true, notifications: true, notificationServer: "dunst 1.9.0" },
      ...this.#muted(),
      problems: [],
    };
  }

  /** Each outcome belongs to some rows: those with a terminal, the live ones without one, the others. */
  async focusTerminal(sessionId: string): Promise<FocusAnswer> {
    this.focused.push(sessionId);
    await Promise.resolve();
    const session = this.#find(sessionId);
    const resumeCommand = await this.resumeCommand(sessionId);
    if (session.terminal !== undefined) return { sessionId, outcome: "focused", by: `${session.terminal.kind} in kitty`, resumeCommand };
    if (session.pid !== undefined) {
      return { sessionId, outcome: "windowOnly", by: "VS Code", reason: "Editors do not let another program choose one of their terminals.", resumeCommand };
    }
    return { sessionId, outcome: "notPossible", reason: "The session has ended; no terminal shows it any more.", resumeCommand };
  }

  async answer(call: AnswerCall): Promise<AnswerGiven> {
    await Promise.resolve();
    const session = this.#find(call.session);
    const answer = given(session, call);
    this.answers.push(call);
    if (session.request) this.change({ upserts: [{ ...session, request: { ...session.request, progress: "sending" } }] });
    setTimeout(() => this.change({ upserts: [goesOn(this.#find(call.session))] }), this.effectAfter);
    return answer;
  }

  async resumeCommand(sessionId: string): Promise<string> {
    const { cwd } = this.#find(sessionId);
    return `${cwd === undefined ? "" : `cd ${cwd} && `}claude --resume ${sessionId}`;
  }

  async openFolder(sessionId: string): Promise<void> {
    this.opened.push(sessionId);
  }

  async mute(until: string | null): Promise<void> {
    this.#mutedUntil = until ?? undefined;
    this.change({});
  }

  async lookingAt(sessionId: string | null): Promise<void> {
    this.lookedAt.push(sessionId);
  }

  async copy(text: string | Promise<string>): Promise<void> {
    const written = copyText(text).catch(() => undefined);
    this.copied.push(await text);
    await written;
  }

  async startDemo(): Promise<void> {
    this.change({ upserts: everydayRows() });
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

  async settings() {
    return this.config.view();
  }

  async subscribeSettings(onView: (view: SettingsView) => void): Promise<() => void> {
    return this.config.subscribe(onView);
  }

  async changeSettings(changes: readonly SettingChange[]) {
    return this.config.change(changes);
  }

  async openSettings(): Promise<void> {
    this.opened.push("settings");
  }

  async archiveOffer() {
    return { files: 412, bytes: 1_900_000_000, expected: 310_000_000, cleanupDays: 30, soon: 37, firstAt: iso(ENGINE_START + 90_000_000) };
  }

  async serviceState() {
    return this.config.service();
  }

  async hooksStatus() {
    return this.hooks.status();
  }

  async hooksPreview(_root: string, step: HooksStep) {
    return this.hooks.preview(step);
  }

  async hooksChange(_root: string, step: HooksStep, token: string): Promise<void> {
    this.hooks.change(step, token);
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
