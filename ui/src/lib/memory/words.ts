// Memories in words.

import type { MemoryEntry } from "../bindings/MemoryEntry";
import type { SaidLine } from "../bindings/SaidLine";
import { localDay } from "../age";
import { plural } from "../text";

const KINDS: Readonly<Record<string, string>> = {
  fix: "Fix that worked",
  correction: "You corrected",
  refusal: "You refused",
  command: "Command that works",
  hot_file: "Errors after changes here",
  gotcha: "Trap",
  decision: "Decision",
  bug_fix: "Cause and cure",
  trade_off: "Trade-off",
  discovery: "Finding",
  plan: "Plan",
  note: "Note",
};

export const kindWords = (kind: string): string => KINDS[kind] ?? kind;

const EVENTS: Readonly<Record<string, string>> = {
  SessionStart: "at the start",
  UserPromptSubmit: "with a prompt",
  PostToolUse: "with a file",
};

/** Where a line was told, and what became of it. */
export function saidWords({ event, place, printed, lost, tokens }: SaidLine): string {
  const where = place ?? EVENTS[event] ?? event;
  const fate = !printed ? " · came too late, so the agent has not read it" : lost ? " · lost at a compaction" : "";
  return `${where} · ${plural(tokens, "token")}${fate}`;
}

/** Where a memory is from, in a few words. */
export function sourceWords({ sessions, times, lastSeen, decision }: MemoryEntry): string {
  const day = localDay(lastSeen);
  if (decision === "added") return `added by you, ${day}`;
  const shown = `${plural(times, "time")} in ${plural(sessions, "session")}, last ${day}`;
  return decision === undefined ? shown : `${decision} by you · ${shown}`;
}

export type FileGroup = { readonly path: string; readonly memories: readonly MemoryEntry[] };

/** Memories in force by file; first, without a path, those that are about none. Otherwise the order stays. */
export function byFile(memories: readonly MemoryEntry[]): readonly FileGroup[] {
  const groups = new Map<string, MemoryEntry[]>([["", []]]);
  for (const memory of memories) {
    const path = memory.path ?? "";
    const group = groups.get(path);
    if (group === undefined) groups.set(path, [memory]);
    else group.push(memory);
  }
  return [...groups].map(([path, memories]) => ({ path, memories })).filter(({ memories }) => memories.length > 0);
}
