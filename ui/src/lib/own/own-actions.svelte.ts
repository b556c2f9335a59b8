// The user's actions on own sessions in the window: start, resume, fork.

import type { OwnAgent } from "../bindings/OwnAgent";
import type { TrackedSession } from "../bindings/TrackedSession";
import { codeOf, type Host, reasonOf } from "../host/host";
import { canResume, ownKind } from "./own";

export class OwnActions {
  /** A session that was just started. The window opens it as soon as the roster has it. */
  awaited = $state<string | undefined>();

  /** The session whose folder has another branch. The user knows it by now, and may do it again. */
  #otherBranch: string | undefined;
  #host: Pick<Host, "ask" | "subscribe">;
  #say: (words: string) => void;

  constructor(host: Pick<Host, "ask" | "subscribe">, say: (words: string) => void) {
    this.#host = host;
    this.#say = say;
  }

  async resume(from: TrackedSession | undefined, fork: boolean): Promise<void> {
    if (from === undefined || !canResume(from)) return;
    const id = crypto.randomUUID();
    try {
      this.awaited = await this.#host.ask("own_resume", { call: { id, sessionId: from.sessionId, agent: from.agent as OwnAgent, kind: ownKind(from) ?? "stream", fork, anyBranch: this.#otherBranch === from.sessionId } });
      this.#otherBranch = undefined;
      this.#say(fork ? "A copy goes on in a new session" : "The session goes on here");
    } catch (error) {
      if (codeOf(error) === "other_branch") this.#otherBranch = from.sessionId;
      this.#say(reasonOf(error));
    }
  }
}
