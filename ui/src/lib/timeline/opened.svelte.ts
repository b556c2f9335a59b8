// What somebody has opened in a timeline: it stays open when it is scrolled out of sight, or stands elsewhere.

import { SvelteSet } from "svelte/reactivity";

import type { Host } from "../host/host";
import { AgentRun } from "./agent.svelte";

export class Opened {
  /** Items, by their keys. */
  readonly items = new SvelteSet<string>();
  /** Stretches of subagents that stand among the other items, by the subagent. */
  readonly stretches = new SvelteSet<string>();
  /** Subagents that have a timeline of their own, by their ids. */
  readonly runs = new SvelteSet<string>();
  #read = new Map<string, AgentRun>();

  /** What was read of a subagent, which is kept with how far it was read. */
  run(host: Pick<Host, "agentTimeline">, sessionId: string, agentId: string): AgentRun {
    const key = `${sessionId} ${agentId}`;
    const run = this.#read.get(key) ?? new AgentRun(host, sessionId, agentId);
    this.#read.set(key, run);
    return run;
  }
}

/** Opens what is closed, and closes what is open. */
export function toggle(opened: Set<string>, key: string): void {
  if (!opened.delete(key)) opened.add(key);
}
