// User commands about a session and its chain: sent to the host, reported in a notice, with Undo while the notice is
// shown.

import type { TrackedSession } from "./bindings/TrackedSession";
import type { UserCommand } from "./bindings/UserCommand";
import type { WorkChain } from "./bindings/WorkChain";
import { type Host, reasonOf } from "./host/host";
import { ruleOf } from "./roster/refused";
import { linkTo } from "./shell.svelte";

/** Shows a notice, with Undo if `undo` is given. */
export type Say = (words: string, undo?: () => void) => void;

export class SessionActions {
  #host: Host;
  #selected: () => TrackedSession | undefined;
  #say: Say;
  #onchain: (chain: WorkChain) => void;

  constructor(host: Host, selected: () => TrackedSession | undefined, say: Say, onchain: (chain: WorkChain) => void) {
    this.#host = host;
    this.#selected = selected;
    this.#say = say;
    this.#onchain = onchain;
  }

  /** Copies a text, and says what was copied. */
  readonly copy = async (text: string | Promise<string>, what: string): Promise<void> => {
    try {
      await this.#host.copy(text);
      this.#say(`${what} copied`);
    } catch (error) {
      this.#say(reasonOf(error));
    }
  };

  /** The command that resumes the session, or that attaches to it. */
  readonly copyResume = (): void => {
    const session = this.#selected();
    if (session === undefined) return;
    const what = session.attachCommand === undefined ? "Resume" : "Attach";
    void this.copy(this.#host.ask("resume_command", { session: session.sessionId }), `${what} command`);
  };

  readonly copyLink = (): void => void this.copy(linkTo(this.#session()), "Link");

  readonly copyExport = (): void => void this.copy(`watchbill export ${this.#session()} --format md`, "Export command");

  readonly openFolder = (): void => {
    if (this.#selected() !== undefined) this.#host.ask("open_folder", { session: this.#session() }).catch((error: unknown) => this.#say(reasonOf(error)));
  };

  readonly rename = (name: string): void => {
    const notice = name === "" ? "It has its own title again" : "Renamed";
    void this.#change({ do: "rename", session: this.#session(), ...(name === "" ? {} : { name }) }, notice);
  };

  /** Copies the rule that would allow the last refused call, and says where it belongs. */
  readonly copyRule = (session: TrackedSession | undefined): void => {
    const { rule, words } = ruleOf(session);
    if (rule === undefined) return this.#say(words);
    this.#host.copy(rule).then(
      () => this.#say(words),
      (error: unknown) => this.#say(reasonOf(error)),
    );
  };

  readonly join = (other: string): void => {
    const session = this.#session();
    void this.#change({ do: "join", session, with: other }, "Joined", () => this.#undo(session));
  };

  readonly accept = (session: string): void => {
    const shown = this.#session();
    void this.#change({ do: "accept", session }, "Joined", () => this.#undo(shown));
  };

  /** A link that is split is never suggested again. */
  readonly reject = (session: string): void => this.split(session);

  readonly split = (session: string): void => {
    void this.#change({ do: "split", session }, "Split", () => this.#undo(session));
  };

  readonly undo = (): void => this.#undo(this.#session());

  readonly snooze = (until: string | null): void => {
    const session = this.#session();
    const back = until === null ? undefined : () => void this.#carryOut({ do: "snooze", session }, "");
    void this.#carryOut({ do: "snooze", session, ...(until === null ? {} : { until }) }, until === null ? "Snooze ended" : "Snoozed", back);
  };

  /** Resolves to whether it was done. */
  readonly putAway = (away: boolean): Promise<boolean> => {
    const session = this.#session();
    const back = away ? () => void this.#carryOut({ do: "put_away", session, away: false }, "") : undefined;
    return this.#carryOut({ do: "put_away", session, away }, away ? "Put away until something new happens" : "In the roster again", back);
  };

  #session(): string {
    return this.#selected()?.sessionId ?? "";
  }

  #undo(session: string): void {
    void this.#change({ do: "undo", session }, "Undone");
  }

  /** Carries out a command about a chain, and shows the chain that follows from it. */
  async #change(command: UserCommand, notice: string, undo?: () => void): Promise<void> {
    try {
      await this.#host.ask("command", { command });
      this.#onchain(await this.#host.ask("chain", { session: command.session }));
      this.#say(notice, undo);
    } catch (error) {
      this.#say(reasonOf(error));
    }
  }

  async #carryOut(command: UserCommand, notice: string, undo?: () => void): Promise<boolean> {
    try {
      await this.#host.ask("command", { command });
      if (notice !== "") this.#say(notice, undo);
      return true;
    } catch (error) {
      this.#say(reasonOf(error));
      return false;
    }
  }
}
