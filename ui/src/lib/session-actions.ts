// User commands about a session and its chain: sent to the host, reported in a notice, with Undo while the notice is
// shown.

import type { WorkChain } from "./bindings/WorkChain";
import { type Host, reasonOf } from "./host/host";

/** Shows a notice, with Undo if `undo` is given. */
export type Say = (words: string, undo?: () => void) => void;

export class SessionActions {
  #host: Host;
  #session: () => string;
  #say: Say;
  #onchain: (chain: WorkChain) => void;

  constructor(host: Host, session: () => string, say: Say, onchain: (chain: WorkChain) => void) {
    this.#host = host;
    this.#session = session;
    this.#say = say;
    this.#onchain = onchain;
  }

  readonly rename = (name: string): void => {
    const notice = name === "" ? "It has its own title again" : "Renamed";
    void this.#ask(this.#host.renameChain(this.#session(), name === "" ? null : name), notice);
  };

  readonly join = (withSessionId: string): void => {
    const session = this.#session();
    void this.#ask(this.#host.joinChains(session, withSessionId), "Joined", () => this.#undo(session));
  };

  readonly accept = (sessionId: string): void => {
    const session = this.#session();
    void this.#ask(this.#host.acceptLink(sessionId), "Joined", () => this.#undo(session));
  };

  readonly reject = (sessionId: string): void => {
    void this.#ask(this.#host.rejectLink(sessionId), "Split", () => this.#undo(sessionId));
  };

  readonly split = (sessionId: string): void => {
    void this.#ask(this.#host.splitChain(sessionId), "Split", () => this.#undo(sessionId));
  };

  readonly undo = (): void => this.#undo(this.#session());

  readonly snooze = (until: string | null): void => {
    const session = this.#session();
    const back = until === null ? undefined : () => void this.#carryOut(this.#host.snooze(session, null), "");
    void this.#carryOut(this.#host.snooze(session, until), until === null ? "Snooze ended" : "Snoozed", back);
  };

  /** Resolves to whether it was done. */
  readonly putAway = (away: boolean): Promise<boolean> => {
    const session = this.#session();
    const back = away ? () => void this.#carryOut(this.#host.putAway(session, false), "") : undefined;
    return this.#carryOut(this.#host.putAway(session, away), away ? "Put away until something new happens" : "In the roster again", back);
  };

  #undo(sessionId: string): void {
    void this.#ask(this.#host.undoChain(sessionId), "Undone");
  }

  async #ask(asked: Promise<WorkChain>, notice: string, undo?: () => void): Promise<void> {
    try {
      this.#onchain(await asked);
      this.#say(notice, undo);
    } catch (error) {
      this.#say(reasonOf(error));
    }
  }

  async #carryOut(asked: Promise<void>, notice: string, undo?: () => void): Promise<boolean> {
    try {
      await asked;
      if (notice !== "") this.#say(notice, undo);
      return true;
    } catch (error) {
      this.#say(reasonOf(error));
      return false;
    }
  }
}
