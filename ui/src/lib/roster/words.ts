// The texts of a row: title, place, current activity, and its glyph.

import type { TrackedSession } from "../bindings/TrackedSession";
import { clockWords } from "../age";
import { plain } from "../markdown/plain";
import { isBackground } from "../terminal.svelte";
import { outcomeWords } from "./outcome";
import { commandLine, cut, oneLine, plural, shortId } from "../text";

export type Glyph =
  | "approval"
  | "question"
  | "plan"
  | "error"
  | "working"
  | "compacting"
  | "retrying"
  | "turn"
  | "interrupted"
  | "idle"
  | "snoozed"
  | "runs"
  | "ended";

export type Tone = "need" | "error" | "plain";

/** The current activity: words, and a command or path in the code font. */
export type Now = { readonly lead: string; readonly code?: string; readonly tone: Tone };

/** Stable while the work goes on. Every answer brings a new summary, so the first prompt comes before it. */
export function titleOf(session: TrackedSession): string {
  for (const candidate of [session.workChainName, session.title, session.goal]) {
    const title = candidate === undefined ? "" : oneLine(candidate);
    if (title !== "") return title;
  }
  const summary = plainLine(session.summary ?? "");
  if (summary !== "") return summary;
  return `Session ${shortId(session.sessionId)}`;
}

/** A model's text on one line, without Markdown marks. */
function plainLine(text: string): string {
  return oneLine(plain(cut(text, LONGEST_LINE)));
}

/** Far more than a line shows. */
const LONGEST_LINE = 2400;

export function placeOf(session: TrackedSession): { project: string; branch?: string; worktree?: string } {
  const folder = session.worktreeOf ?? session.repoRoot ?? session.cwd ?? session.projectId ?? "";
  const project = oneLine(folder.split(/[/\\]/).filter(Boolean).at(-1) ?? "");
  const worktree = session.worktreeOf === undefined ? {} : { worktree: oneLine(session.repoRoot ?? "") };
  return session.branch === undefined ? { project, ...worktree } : { project, branch: oneLine(session.branch), ...worktree };
}

/** Number of badges of the row, without the context bar. */
export function badgeCount(session: TrackedSession): number {
  const counts = [session.subagents?.running, session.backgroundTasks, session.queuedPrompts, isBackground(session) ? 1 : 0];
  return counts.filter((count) => (count ?? 0) > 0).length + (isChained(session) ? 1 : 0);
}

/** Its work goes on after a compaction, or in another session. */
export function isChained(session: TrackedSession): boolean {
  return session.compactionCount > 0 || session.segmentCount > 1;
}

/** It needs no answer in any state: the user has put it away, or its work goes on in another session. */
function isOver(session: TrackedSession): boolean {
  return session.group === "idle" && (session.putAway === true || session.superseded === true);
}

export function glyphOf(session: TrackedSession): Glyph {
  if (session.snoozedUntil !== undefined) return "snoozed";
  if (isOver(session)) return session.state === "ended" ? "ended" : "idle";
  switch (session.stateKind) {
    case "question":
      return "question";
    case "plan":
      return "plan";
    case "error":
    case "limit":
    case "crashed":
      return "error";
  }
  if (session.state === "waiting_for_approval" || session.group === "needs_you") return "approval";
  if (session.state === "working") {
    if (session.stateKind === "compacting" || session.stateKind === "retrying") return session.stateKind;
    return "working";
  }
  if (session.state === "ended") return "ended";
  if (session.group === "idle") return "idle";
  return session.stateKind === "interrupted" ? "interrupted" : "turn";
}

/** Its state is a failure: red, and nothing else is. */
export function isFailed({ stateKind }: TrackedSession): boolean {
  return stateKind === "error" || stateKind === "limit" || stateKind === "crashed";
}

/** The state in words, for the detail pane and screen readers. */
export function stateWords(session: Pick<TrackedSession, "state" | "stateKind">): string {
  const kind = session.stateKind === undefined ? undefined : KIND_WORDS.get(session.stateKind);
  return kind ?? STATE_WORDS.get(session.state) ?? oneLine(session.state.replaceAll("_", " "));
}

const STATE_WORDS: ReadonlyMap<string, string> = new Map([
  ["working", "Working"],
  ["waiting_for_approval", "Waiting for approval"],
  ["waiting_for_input", "Your turn"],
  ["idle", "Idle"],
  ["ended", "Ended"],
]);

const KIND_WORDS: ReadonlyMap<string, string> = new Map([
  ["permission", "Waiting for approval"],
  ["question", "Asks a question"],
  ["plan", "Waiting for a verdict on its plan"],
  ["dialog", "A dialog is open"],
  ["turn_ended", "Your turn"],
  ["interrupted", "Interrupted"],
  ["compacting", "Compacting"],
  ["retrying", "Retrying"],
  ["error", "Failed"],
  ["limit", "Usage limit reached"],
  ["background", "Background work only"],
  ["completed", "Completed"],
  ["blocked", "Blocked"],
  ["crashed", "Process died"],
]);

const WANTS: ReadonlyMap<string, string> = new Map([
  ["Bash", "wants to run:"],
  ["PowerShell", "wants to run:"],
  ["Edit", "wants to edit:"],
  ["MultiEdit", "wants to edit:"],
  ["NotebookEdit", "wants to edit:"],
  ["Write", "wants to write:"],
  ["Read", "wants to read:"],
  ["WebFetch", "wants to fetch:"],
  ["WebSearch", "wants to search:"],
]);

export function nowOf(session: TrackedSession): Now {
  // While it is snoozed, the user does not want the rest.
  if (session.snoozedUntil !== undefined) return { lead: `until ${clockWords(session.snoozedUntil)}`, tone: "plain" };
  if (session.superseded === true) return { lead: "continued in another session", tone: "plain" };
  if (session.putAway === true) return { lead: "put away", tone: "plain" };
  switch (session.state) {
    case "waiting_for_approval":
      return asking(session);
    case "working":
      return working(session);
    default:
      return resting(session);
  }
}

function asking(session: TrackedSession): Now {
  const pending = session.pendingTool;
  const target = pending === undefined ? "" : commandLine(pending.target ?? "");
  if (session.stateKind === "plan") return { lead: "wants a verdict on its plan", tone: "need" };
  if (session.stateKind === "dialog") return { lead: "a dialog is open in its terminal", tone: "need" };
  if (pending === undefined && session.request !== undefined) return { lead: session.request.summary, tone: "need" };
  if (session.stateKind === "question") {
    return { lead: target === "" ? "asks a question" : `asks: ${target}`, tone: "need" };
  }
  if (pending === undefined) return { lead: "waits for approval", tone: "need" };
  const wants = WANTS.get(pending.tool);
  if (wants !== undefined && target !== "") return { lead: wants, code: target, tone: "need" };
  const lead = `wants to use ${commandLine(pending.tool)}`;
  return target === "" ? { lead, tone: "need" } : { lead: `${lead}:`, code: target, tone: "need" };
}

function working(session: TrackedSession): Now {
  if (session.stateKind === "compacting") return { lead: "compacting", tone: "plain" };
  if (session.stateKind === "retrying") {
    const cause = oneLine(session.error ?? "");
    return { lead: cause === "" ? "retrying" : /retry/i.test(cause) ? cause : `retrying: ${cause}`, tone: "error" };
  }
  const pending = session.pendingTool;
  if (pending !== undefined) {
    const target = commandLine(pending.target ?? "");
    const tool = commandLine(pending.tool);
    return target === "" ? { lead: tool, tone: "plain" } : { lead: `${tool}:`, code: target, tone: "plain" };
  }
  if (session.stateKind === "background") return { lead: backgroundWords(session), tone: "plain" };
  return { lead: "thinking", tone: "plain" };
}

function resting(session: TrackedSession): Now {
  switch (session.stateKind) {
    case "error":
      return { lead: causeOf(session) || "failed", tone: "error" };
    case "limit":
      return { lead: causeOf(session) || "usage limit reached", tone: "error" };
    case "crashed":
      return { lead: "the process died", tone: "error" };
    case "interrupted":
      return { lead: "interrupted", tone: "plain" };
    case "dialog":
      return { lead: "a dialog is open in its terminal", tone: "plain" };
    case "background":
      return { lead: backgroundWords(session), tone: "plain" };
  }
  if (session.state === "ended") return { lead: "ended", tone: "plain" };
  if ((session.backgroundTasks ?? 0) > 0) return { lead: backgroundWords(session), tone: "plain" };
  const summary = session.summary === undefined ? "" : plainLine(session.summary);
  if (session.stateKind === "blocked") return { lead: summary === "" ? "blocked" : `blocked: ${summary}`, tone: "need" };
  if (session.outcome !== undefined) return { lead: outcomeWords(session.outcome), tone: "plain" };
  if (summary !== "" && summary !== titleOf(session)) return { lead: summary, tone: "plain" };
  if (session.stateKind === "completed") return { lead: "completed", tone: "plain" };
  return { lead: session.state === "idle" ? "idle" : "done", tone: "plain" };
}

function backgroundWords(session: TrackedSession): string {
  const tasks = session.backgroundTasks ?? 0;
  return tasks === 0 ? "only background work goes on" : `${plural(tasks, "background task")} running`;
}

/** The error on one line; empty if it is not known. */
function causeOf(session: TrackedSession): string {
  return plainLine(session.error ?? "");
}

/** The name of a witness. */
export function witnessWords(source: string): string {
  return SOURCE_WORDS.get(source) ?? oneLine(source.replaceAll("_", " "));
}

const SOURCE_WORDS: ReadonlyMap<string, string> = new Map([
  ["registry", "Registry"],
  ["hook", "Hook"],
  ["transcript", "Transcript"],
  ["status_file", "Status file"],
  ["process", "Process"],
  ["pty", "Terminal"],
  ["timeout", "Timeout"],
]);

/** The announcement for screen readers when sessions begin to need the user; undefined if none does. */
export function announcementOf(sessions: readonly TrackedSession[]): string | undefined {
  const [first] = sessions;
  if (first === undefined) return undefined;
  if (sessions.length > 1) return `${sessions.length} sessions need you.`;
  const now = nowOf(first);
  return `${titleOf(first)} needs you: ${[now.lead, now.code].filter(Boolean).join(" ")}.`;
}
