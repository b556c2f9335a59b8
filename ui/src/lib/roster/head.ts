// The line below the title: what is the case, in a person's words. The witnesses stand behind Why.

import { ageWords, timeWords } from "../age";
import type { TrackedSession } from "../bindings/TrackedSession";
import { commandLine, oneLine } from "../text";
import { outcomeWords } from "./outcome";
import { stateWords } from "./words";

export type HeadLine = {
  /** What is the case: the cause of an error before its state. */
  readonly fact: string;
  /** Since when. */
  readonly when: string;
  /** What it is about: a command, a question. */
  readonly about?: string;
  /** No witness told it. */
  readonly guessed: boolean;
};

/** States that are told by their end. */
const ENDED: ReadonlyMap<string, string> = new Map([
  ["turn_ended", "Finished"],
  ["interrupted", "Interrupted"],
  ["completed", "Completed"],
  ["blocked", "Blocked"],
  ["crashed", "Its process died"],
]);

const WAITS: ReadonlyMap<string, string> = new Map([
  ["question", "Waits for your answer"],
  ["plan", "Waits for your verdict on its plan"],
  ["dialog", "A dialog is open in its terminal"],
]);

export function headLineOf(session: TrackedSession, now: number): HeadLine {
  const { state, stateKind = "" } = session;
  const age = ageWords(now - Date.parse(session.stateSince));
  const since = `since ${timeWords(session.stateSince, now)}`;
  const guessed = session.stateReason.confidence === "inferred" && state !== "idle" && state !== "ended";
  const line = (fact: string, when: string, about = ""): HeadLine => ({ fact, when, guessed, ...(about === "" ? {} : { about }) });
  const cause = shortCause(session.error ?? "");
  if (stateKind === "limit" && session.limitResetsAt !== undefined) {
    const isOver = Date.parse(session.limitResetsAt) <= now;
    return line(cause === "" ? stateWords(session) : cause, `· ${isOver ? "was reset" : "resets"} ${timeWords(session.limitResetsAt, now)}`);
  }
  if (stateKind === "error" || stateKind === "limit") return line(cause === "" ? stateWords(session) : cause, cause === "" ? `${age} ago` : `· ${age} ago`);
  if (state === "waiting_for_approval") return line(WAITS.get(stateKind) ?? "Waits for your permission", since, targetOf(session));
  if (stateKind === "retrying") return line("Retrying", `for ${age}`, cause);
  if (state === "working") return line(stateWords(session), `for ${age}`, stateKind === "" ? targetOf(session) : "");
  const end = ENDED.get(stateKind);
  if (session.outcome !== undefined && state === "waiting_for_input") return line(end ?? "Finished", `${age} ago · ${outcomeWords(session.outcome)}`);
  if (state === "ended" || (end !== undefined && state !== "idle")) return line(end ?? "Ended", `${age} ago`);
  if (state === "idle") return line("Idle", `for ${age}`);
  return line(WAITS.get(stateKind) ?? stateWords(session), since);
}

function targetOf({ pendingTool, stateKind, request }: TrackedSession): string {
  if (stateKind === "plan" || stateKind === "dialog") return "";
  const target = commandLine(pendingTool?.target ?? "");
  return target === "" ? commandLine(request?.summary ?? pendingTool?.tool ?? "") : target;
}

/** Longest cause that the line shows. */
const LONGEST_CAUSE = 80;

/** The first sentence of a long error. */
function shortCause(error: string): string {
  const line = oneLine(error);
  if (line.length <= LONGEST_CAUSE) return line;
  const sentence = /^.{10,78}?[.!?](?=\s)/.exec(line)?.[0];
  return sentence ?? oneLine(line, LONGEST_CAUSE - 1);
}

/** The line shows only the beginning of the error: the card shows it whole. */
export function isCutInHead(error: string | undefined): boolean {
  return error !== undefined && oneLine(error).length > LONGEST_CAUSE;
}
