// Texts for the events of own sessions.

import { durationWords } from "../age";
import { agentTitle } from "../agents";
import type { OwnEvent } from "../bindings/OwnEvent";
import { oneLine } from "../text";

export function agentWords(agent: string): string {
  return agent === "shell" ? "Shell" : agentTitle(agent);
}

const CAUSES: ReadonlyMap<string, string> = new Map([
  ["interrupted", "you interrupted the turn"],
  ["error", "the turn failed"],
  ["limit", "a usage limit is reached"],
  ["login", "the agent is not logged in"],
  ["max_turns", "it reached its limit of turns"],
  ["api", "the model's API failed"],
  ["start", "the agent did not start"],
  ["command", "the agent refused the command"],
  ["interrupt", ""],
  ["protocol", "the agent wrote something that Watchbill does not understand"],
]);

export function causeWords(cause: string): string {
  return CAUSES.get(cause) ?? oneLine(cause);
}

/** "Trying again in 5.0 s, 3 of 10: overloaded". */
export function retryWords({ attempt, of, waitMs, cause }: Extract<OwnEvent, { event: "retry" }>): string {
  const when = waitMs === undefined ? "" : ` in ${durationWords(waitMs)}`;
  return `Trying again${when}, ${attempt}${of === undefined ? "" : ` of ${of}`}: ${oneLine(cause)}`;
}

export function endWords({ asked, code, signal, words }: Extract<OwnEvent, { event: "session_ended" }>): string {
  if (asked) return "You ended it";
  const how = signal !== undefined ? `by signal ${signal}` : code === undefined || code === 0 ? "by itself" : `with code ${code}`;
  const last = words === undefined ? "" : oneLine(words);
  return last === "" ? `The agent ended ${how}` : `The agent ended ${how}: ${last}`;
}
