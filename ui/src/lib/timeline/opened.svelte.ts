// The open entries of a timeline. They stay open when they are scrolled out of view or move.

import { SvelteSet } from "svelte/reactivity";

import type { Host } from "../host/host";
import { AgentRun } from "./agent.svelte";

export class Opened {
  /** Items, by their keys. */
  readonly items = new SvelteSet<string>();
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

/** Opens a closed entry, and closes an open one. */
export function toggle(opened: Set<string>, key: string): void {
  if (!opened.delete(key)) opened.add(key);
}
