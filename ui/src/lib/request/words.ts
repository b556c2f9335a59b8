// The words of a request: its heading, its announcement, and its outcome.

import type { Request } from "../bindings/Request";
import type { RequestDecision } from "../bindings/RequestDecision";
import { visible, visibleLine } from "../visible";

const WANTS: ReadonlyMap<string, string> = new Map([
  ["Bash", "wants to run"],
  ["PowerShell", "wants to run"],
  ["Edit", "wants to edit"],
  ["MultiEdit", "wants to edit"],
  ["NotebookEdit", "wants to edit"],
  ["Write", "wants to write"],
  ["Read", "wants to read"],
  ["WebFetch", "wants to fetch"],
  ["WebSearch", "wants to search"],
]);

function wants(request: Request): string {
  return WANTS.get(request.tool) ?? `wants to use ${visibleLine(request.tool, 80)}`;
}

/** The heading of a request: what it asks, and which subagent asks it. */
export function headingOf(request: Request): string {
  const words = request.kind === "plan" ? "wants a verdict on its plan" : request.kind === "question" ? "asks a question" : wants(request);
  if (request.subagent !== undefined) return `Subagent ${visibleLine(request.subagent, 80)} ${words}`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A hook that waits, or the host of an own session, takes the answer. */
const ANSWERABLE: ReadonlySet<string> = new Set(["hook", "stream"]);

/** Why the card has no answers; undefined if it has some. */
export function whyNot(request: Request): string | undefined {
  if (!ANSWERABLE.has(request.answerable)) return visible(request.why ?? "") || "This request cannot be answered from here.";
  if (isKnown(request)) return undefined;
  return visible(request.why ?? "") || "This version of Watchbill does not know this kind of request.";
}

function isKnown({ kind, questions }: Request): boolean {
  return kind === "permission" || kind === "plan" || (kind === "question" && (questions ?? []).length > 0);
}

/** The announcement of a new card. */
export function cardWords(title: string, request: Request): string {
  const told = request.summary.startsWith(`${request.tool}: `) ? `${wants(request)} ${request.summary.slice(request.tool.length + 2)}` : wants(request);
  const words = request.kind === "permission" || request.kind === "unknown" ? told : request.summary;
  return `${title} ${words}, ${keyWords(request)}.`;
}

function keyWords(request: Request): string {
  if (whyNot(request) !== undefined) return "answer in its terminal";
  if (request.kind === "plan") return "a approves, d rejects";
  if (request.kind === "question") return "numbers choose, Enter answers, d declines";
  return "a allows, d denies";
}

/** A decision that was sent, in words. */
export function sentWords(decision: RequestDecision, kind: string): string {
  const isPlan = kind === "plan";
  switch (decision.do) {
    case "allow":
      return isPlan ? "Approved, asks before edits" : "Allowed";
    case "allow_always":
      return isPlan ? "Approved, accepts edits" : "Always allowed";
    case "deny":
      return isPlan ? "Rejected" : kind === "question" ? "Declined" : "Denied";
    case "deny_and_stop":
      return "Denied and stopped";
    case "choose":
      return "Answered";
  }
}

export const FAILED = "No effect after 5 seconds";
export const STILL_ASKS = "The session still asks. Answer in its terminal.";
export const NO_EFFECT = `${FAILED}. Answer in its terminal.`;
export const NOT_DELIVERED = "Not delivered after 5 seconds. Answer in its terminal.";
export const ELSEWHERE = "Answered in its terminal";

/** A failure as a sentence. */
export function notSent(reason: string): string {
  return `Not sent: ${visibleLine(reason, 300).replace(/[.\s]+$/, "")}. Try again, or answer in its terminal.`;
}

/** 2nd, 3rd, 4th, 11th, 21st. */
export function ordinal(count: number): string {
  const tens = count % 100;
  const end = tens >= 11 && tens <= 13 ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${count}${end}`;
}
