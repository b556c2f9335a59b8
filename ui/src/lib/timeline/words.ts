// The timeline's words for boundaries, links and prompts.

import { oneLine, tokenWords } from "../text";

export type Compaction = { readonly trigger: string; readonly preTokens?: number; readonly postTokens?: number };

/** "manual" and "auto" in words. */
export function triggerWords(trigger: string): string {
  if (trigger === "manual") return "by hand";
  if (trigger === "auto") return "automatically";
  return "";
}

/** "96k → 7k tokens", as far as known. */
export function tokensAcross({ preTokens, postTokens }: Compaction): string {
  if (preTokens === undefined && postTokens === undefined) return "";
  if (postTokens === undefined) return `from ${tokenWords(preTokens ?? 0)} tokens`;
  if (preTokens === undefined) return `to ${tokenWords(postTokens)} tokens`;
  return `${tokenWords(preTokens)} → ${tokenWords(postTokens)} tokens`;
}

export function compactionWords(compaction: Compaction): string {
  const how = triggerWords(compaction.trigger);
  return [how === "" ? "compacted" : `compacted ${how}`, tokensAcross(compaction)].filter(Boolean).join(" · ");
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["compact_boundary", "after a compaction"],
  ["marker", "after a compaction, by its marker"],
  ["clear", "after /clear"],
  ["forked_from", "as a fork"],
  ["process", "in the same process"],
  ["continued_in", "as its record said"],
  ["switched", "with another agent"],
  ["shared_records", "with the same records"],
  ["hook", "as a hook said"],
  ["registry", "as the registry said"],
  ["terminal", "in the same terminal"],
  ["cwd_recency", "probably, by its folder"],
  ["manual", "as you said"],
]);

export function linkWords(reason: string): string {
  return REASONS.get(reason) ?? oneLine(reason.replaceAll("_", " "));
}

const ORIGINS: ReadonlyMap<string, string> = new Map([
  ["task_notification", "background task"],
  ["peer", "another agent"],
  ["queued", "queued"],
]);

/** The origin of a prompt; empty if the user wrote it. */
export function originWords(origin: string): string {
  return ORIGINS.get(origin) ?? "";
}
