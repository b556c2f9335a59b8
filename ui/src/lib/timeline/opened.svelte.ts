// The open entries of a timeline. They stay open when they are scrolled out of view or move.

import { SvelteSet } from "svelte/reactivity";

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Host } from "../host/host";
import { AgentRun } from "./agent.svelte";

export class Opened {
  /** Items that were opened, by their keys. */
  readonly items = new SvelteSet<string>();
  /** Failed calls that were closed: they stand open at first. */
  readonly closed = new SvelteSet<string>();
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
export function isOpen({ items, closed }: Opened, item: TimelineItem, key: string): boolean {
  return items.has(key) || (failed(item) && !closed.has(key));
}

/** Opens or closes an entry. */
export function setOpen({ items, closed }: Opened, item: TimelineItem, key: string, open: boolean): void {
  for (const [set, has] of [[items, open && !failed(item)], [closed, !open && failed(item)]] as const) {
    if (has) set.add(key);
    else set.delete(key);
  }
}

function failed(item: TimelineItem): boolean {
  return item.kind === "tool" && item.outcome === "error";
}

/** Adds a key that is missing, and removes one that is there. */
export function toggle(set: Set<string>, key: string): void {
  if (!set.delete(key)) set.add(key);
}
