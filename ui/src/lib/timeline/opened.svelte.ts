// The open entries of a timeline. They stay open when they are scrolled out of view or move.

import { SvelteSet } from "svelte/reactivity";

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Host } from "../host/host";
import { AgentRun } from "./agent.svelte";

export class Opened {
  /** Items, by their keys: those that were opened, and the failed calls that were closed. */
  readonly items = new SvelteSet<string>();
  /** Stretches of what only read, by the key of their first item. */
  readonly reading = new SvelteSet<string>();
  /** Runs of subagent entries among the other items, by the subagent's id. */
  readonly stretches = new SvelteSet<string>();
  /** Subagents with a timeline of their own, by their ids. */
  readonly runs = new SvelteSet<string>();
  #read = new Map<string, AgentRun>();

  /** The fetched entries of a subagent. They are kept, with the range that was read. */
  run(host: Pick<Host, "ask">, sessionId: string, agentId: string): AgentRun {
    const key = `${sessionId} ${agentId}`;
    const run = this.#read.get(key) ?? new AgentRun(host, sessionId, agentId);
    this.#read.set(key, run);
    return run;
  }
}

/** Whether an entry shows all of itself. A failed call does, until it is closed. */
export function isOpen(opened: ReadonlySet<string>, item: TimelineItem, key: string): boolean {
  return opened.has(key) !== failed(item);
}

/** Opens an entry, open or not. */
export function openItem(opened: Set<string>, item: TimelineItem, key: string): void {
  if (failed(item)) opened.delete(key);
  else opened.add(key);
}

function failed(item: TimelineItem): boolean {
  return item.kind === "tool" && item.outcome === "error";
}

/** Opens a closed entry, and closes an open one. */
export function toggle(opened: Set<string>, key: string): void {
  if (!opened.delete(key)) opened.add(key);
}
