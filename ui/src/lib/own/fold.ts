// Folds the events of an own session into the entries and facts that the window shows. Pure.

import type { OwnEvent } from "../bindings/OwnEvent";
import type { TimelineItem } from "../bindings/TimelineItem";
import { cut } from "../text";
import { NO_FACTS, type OwnFacts, type QueuedPrompt } from "./facts";
import { causeWords, endWords, retryWords } from "./words";

/** An entry of the live tail, in the form of the timeline's entries. */
export type LiveItem = {
  readonly item: TimelineItem;
  /** The number of its turn. */
  readonly turn: number;
  /** More of it is to come. */
  readonly growing: boolean;
  /** The id of the transcript's record that has it, where the agent names it. */
  readonly record?: string | undefined;
  /** The number of the log's record in which a text began that has no such id. */
  readonly began?: number | undefined;
};

/** As much of an input or output is shown, as in the timeline of a transcript. */
const MOST = 16_384;
/** What was said before a change of the agent, in front of the first prompt. */
const TOLD = /^<watchbill-context>[^]*?<\/watchbill-context>\s*/;
const RETRY = "retry";
const COMPACTION = "compaction";

type Said = Pick<TimelineItem, "key" | "at"> & Record<string, unknown>;

export class OwnFold {
  facts: OwnFacts = NO_FACTS;
  /** Prompts that the host has, by their ids: it was seen in an event. */
  readonly known = new Set<string>();

  #items: LiveItem[] = [];
  #at = new Map<string, number>();
  #turn = 0;
  #count = 0;
  readonly #session: string;
  readonly #keepsAll: boolean;

  /** With `keepsAll`, entries of all turns stay. Otherwise those of the last two: a transcript has the others. */
  constructor(session: string, keepsAll: boolean) {
    this.#session = session;
    this.#keepsAll = keepsAll;
  }

  /** The entries. The array is a new one after each change of it. */
  get items(): readonly LiveItem[] {
    return this.#items.slice();
  }

  apply(event: OwnEvent): void {
    this.#learn({ at: event.at });
    switch (event.event) {
      case "init":
        return this.#learn({
          model: event.model ?? this.facts.model,
          mode: event.mode ?? this.facts.mode,
          models: event.models ?? this.facts.models,
          modes: event.modes ?? this.facts.modes,
          commands: event.commands ?? this.facts.commands,
          pid: event.pid ?? this.facts.pid,
        });
      case "started":
        return this.#learn({ pid: event.pid, asks: [], ended: undefined, ending: undefined });
      case "changed":
        return this.#learn({ model: event.model ?? this.facts.model, mode: event.mode ?? this.facts.mode });
      case "context":
        return this.#learn({ context: event.size === undefined ? { used: event.used } : { used: event.used, size: event.size } });
      case "prompt":
        return this.#prompt(event);
      case "request":
        return this.#learn({ asks: [...this.facts.asks, event.request.id] });
      case "request_closed":
        return this.#learn({ asks: this.facts.asks.filter((id) => id !== event.request) });
      case "queue_held":
        return this.#learn({ held: event.held ? (event.cause ?? "") : undefined, heldUntil: event.until });
      case "ending":
        return this.#learn({ ending: event.left });
      case "session_ended":
        this.#settle();
        // What waits is in the log, and waits again if the session goes on.
        return this.#learn({ working: false, asks: [], ending: undefined, ended: { at: event.at, asked: event.asked, words: endWords(event) } });
      default:
        return this.#turnEvent(event);
    }
  }

  /** A host has the session, even if the last event is an end. */
  goesOn(): void {
    if (this.facts.ended !== undefined) this.#learn({ ended: undefined });
  }

  #turnEvent(event: OwnEvent): void {
    switch (event.event) {
      case "turn_start":
        this.#turn += 1;
        if (!this.#keepsAll) this.#drop((live) => live.turn >= this.#turn - 1);
        return this.#learn({ working: true });
      case "text":
      case "thinking":
        return this.#grow(event.block, event.event === "text" ? "response" : "thinking", event.delta, event);
      case "block":
        return this.#whole(event);
      case "tool_use":
        return this.#put(`tool ${event.id}`, true, {
          key: "",
          at: event.at,
          kind: "tool",
          id: event.id,
          tool: event.tool,
          target: event.target,
          input: cut(JSON.stringify(event.input ?? null), MOST),
          outcome: "pending",
          ...(event.parent === undefined ? {} : { agentId: event.parent }),
        });
      case "tool_result":
        return this.#result(event);
      case "retry":
        return this.#put(RETRY, true, { key: "", at: event.at, kind: "error", text: retryWords(event) });
      case "compaction":
        if (!event.done) return this.#put(COMPACTION, true, { key: "", at: event.at, kind: "note", text: "Compacting the conversation…" });
        this.#remove(COMPACTION);
        return this.#put("", false, { key: "", at: event.at, kind: "boundary", trigger: event.trigger ?? "", ...(event.before === undefined ? {} : { preTokens: event.before }) });
      case "error":
        return this.#put("", false, { key: "", at: event.at, kind: "error", text: [causeWords(event.cause), event.text].filter(Boolean).join(": ") }, event.record);
      case "moved":
        return this.#put("", false, { key: "", at: event.at, kind: "continued", to: event.session, reason: "clear" });
      case "turn_end":
        return this.#turnEnd(event);
    }
  }

  #turnEnd(event: Extract<OwnEvent, { event: "turn_end" }>): void {
    this.#remove(RETRY);
    this.#settle();
    if (event.reason === "interrupted") this.#put("", false, { key: "", at: event.at, kind: "interrupted" });
    else if (event.reason !== "completed" && event.reason !== "error" && this.#items.at(-1)?.item.kind !== "error") this.#put("", false, { key: "", at: event.at, kind: "error", text: `The turn ended: ${causeWords(event.reason)}` });
    this.#learn({ working: false, asks: [] });
  }

  #prompt(event: Extract<OwnEvent, { event: "prompt" }>): void {
    const { id, text, place, images = 0 } = event;
    this.known.add(id);
    const others = this.facts.queue.filter((queued) => queued.id !== id);
    const unsure = this.facts.lost.filter((queued) => queued.id !== id);
    const here: QueuedPrompt = { id, text, images };
    if (place === "queued") {
      // An edit keeps its place.
      const queue = others.length === this.facts.queue.length ? [...others, here] : this.facts.queue.map((queued) => (queued.id === id ? here : queued));
      return this.#learn({ queue });
    }
    this.#learn({ queue: others, lost: place === "unknown" ? [...unsure, here] : unsure });
    const key = `prompt ${id}`;
    if (place === "dropped" || place === "unknown") return this.#remove(key);
    const words = text.replace(TOLD, "");
    if (!this.#at.has(key)) this.#put(key, false, { key: "", at: event.at, kind: "prompt", text: images === 0 ? words : `${words}\n[${images === 1 ? "a picture" : `${images} pictures`}]`.trim(), origin: "human" });
  }

  #grow(block: string, kind: "response" | "thinking", delta: string, { at, n }: OwnEvent): void {
    this.#remove(RETRY);
    const before = this.#item(block);
    const text = before !== undefined && "text" in before.item ? before.item.text : "";
    this.#put(block, true, { key: "", at: before?.item.at ?? at, kind, text: text + delta }, undefined, before?.began ?? n);
  }

  #whole({ block, text, thinking, record, at }: Extract<OwnEvent, { event: "block" }>): void {
    if (text === "") return this.#remove(block);
    this.#remove(RETRY);
    this.#put(block, false, { key: "", at: this.#item(block)?.item.at ?? at, kind: thinking === true ? "thinking" : "response", text }, record);
  }

  #result({ id, text, failed, at }: Extract<OwnEvent, { event: "tool_result" }>): void {
    const call = this.#item(`tool ${id}`)?.item;
    if (call === undefined || call.kind !== "tool") return;
    const took = Date.parse(at) - Date.parse(call.at ?? "");
    const output = text.length > MOST ? { output: cut(text, MOST), outputCut: true } : { output: text };
    this.#put(`tool ${id}`, false, { ...call, ...output, outcome: failed === true ? "error" : "ok", ...(took >= 0 ? { durationMs: took } : {}) });
  }

  #item(name: string): LiveItem | undefined {
    const index = this.#at.get(name);
    return index === undefined ? undefined : this.#items[index];
  }

  /** Replaces the entry of that name, or adds one. An entry without a name is never replaced. */
  #put(name: string, growing: boolean, said: Said, record?: string, began?: number): void {
    const index = name === "" ? undefined : this.#at.get(name);
    const key = name === "" ? `live ${(this.#count += 1)}` : `live ${name}`;
    const at = index ?? this.#items.length;
    // What comes between two turns belongs to the next one.
    const comes = this.facts.working ? this.#turn : this.#turn + 1;
    const item = { ...said, key, index: at, sessionId: this.#session } as unknown as TimelineItem;
    this.#items[at] = { item, turn: this.#items[at]?.turn ?? comes, growing, record, began };
    if (name !== "") this.#at.set(name, at);
  }

  #remove(name: string): void {
    const index = this.#at.get(name);
    if (index !== undefined) this.#drop((_, i) => i !== index);
  }

  #drop(stays: (live: LiveItem, index: number) => boolean): void {
    const names = new Map([...this.#at].map(([name, index]) => [index, name]));
    const kept = this.#items.flatMap((live, index) => (stays(live, index) ? [{ live, name: names.get(index) }] : []));
    this.#items = kept.map(({ live }) => live);
    this.#at = new Map(kept.flatMap(({ name }, index) => (name === undefined ? [] : [[name, index] as const])));
  }

  /** No entry grows any more. */
  #settle(): void {
    this.#items = this.#items.map((live) => (live.growing ? { ...live, growing: false } : live));
  }

  #learn(facts: Partial<OwnFacts>): void {
    this.facts = { ...this.facts, ...facts };
  }
}
