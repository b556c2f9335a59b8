// Brings the selected session's terminal to the front, and says what leads there.

import type { FocusAnswer } from "./bindings/FocusAnswer";
import type { TrackedSession } from "./bindings/TrackedSession";
import { type Host, reasonOf } from "./host/host";

/** The text beside the button. `command` is a shell command that helps if the terminal cannot be shown. */
export type FocusResult = { readonly words: string; readonly command?: string; readonly commandIs?: "attach" | "resume" };

export class Terminal {
  #host: Host;
  #result = $state<{ sessionId: string; result: FocusResult }>();
  /** The session of a pending request: a slow terminal must not be asked twice. */
  #asked = $state<string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The result of the last request, if it was about this session. */
  result(sessionId: string): FocusResult | undefined {
    return this.#result?.sessionId === sessionId ? this.#result.result : undefined;
  }

  isAsked(sessionId: string): boolean {
    return this.#asked === sessionId;
  }

  async focus(sessionId: string): Promise<void> {
    if (this.#asked === sessionId) return;
    this.#asked = sessionId;
    this.#result = undefined;
    let result: FocusResult;
    try {
      result = focusResultOf(await this.#host.ask("focus_terminal", { session: sessionId }));
    } catch (error) {
      result = { words: reasonOf(error) };
    }
    // A later request has replaced this one, so its answer is dropped.
    if (this.#asked !== sessionId) return;
    this.#asked = undefined;
    this.#result = { sessionId, result };
  }
}

export function focusResultOf(answer: FocusAnswer): FocusResult {
  const by = answer.by ?? "the terminal";
  if (answer.outcome === "focused") return { words: `Brought to the front by ${by}` };
  const reason = answer.reason ?? "";
  if (answer.outcome === "windowOnly") return { words: `Its window is in front, by ${by}. ${reason}` };
  if (answer.attachCommand !== undefined) return { words: reason, command: answer.attachCommand, commandIs: "attach" };
  if (answer.resumeCommand !== undefined) return { words: reason, command: answer.resumeCommand, commandIs: "resume" };
  return { words: reason };
}

/** It runs without a terminal, in the background of its agent; a command shows it in one. */
export function isBackground(session: TrackedSession): boolean {
  return session.attachCommand !== undefined && session.terminal === undefined;
}

/** The button that leads to where a session is answered, and what else it says where there is room. */
export function toTerminal(session: TrackedSession): [short: string, rest: string] {
  return isBackground(session) ? ["Copy attach", " command"] : ["Focus", " terminal"];
}
