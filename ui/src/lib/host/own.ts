// The window's way to own sessions and their hosts.

import type { OwnAgent } from "../bindings/OwnAgent";
import type { OwnChoices } from "../bindings/OwnChoices";
import type { OwnCommand } from "../bindings/OwnCommand";
import type { OwnKind } from "../bindings/OwnKind";
import type { OwnNews } from "../bindings/OwnNews";
import type { OwnSpec } from "../bindings/OwnSpec";

/** A new session as the user asked for it. The shell adds the time. */
export type NewSpec = Omit<OwnSpec, "createdAt">;

/** A session that goes on in an own one. */
export type ResumeCall = {
  /** The id of the new own session, a UUID that was made at the click. */
  readonly id: string;
  readonly sessionId: string;
  readonly agent: OwnAgent;
  readonly kind: OwnKind;
  /** Goes on in a copy. */
  readonly fork: boolean;
  /** Goes on although the folder has another branch by now. */
  readonly anyBranch: boolean;
};

export interface OwnHost {
  /** Agents that can be started, and recent folders. */
  choices(): Promise<OwnChoices>;
  /** Starts a session, or does nothing if one with this id was started. Rejects if it does not run. */
  start(spec: NewSpec): Promise<void>;
  /**
   * Resumes or forks a session. Resolves to the session where it goes on. Rejects if another process has the session, or
   * with `conflict` if the folder has another branch; the reason names it.
   */
  resume(call: ResumeCall): Promise<string>;
  /** Sends what the session tells from this record of its log on, until the returned function is called. */
  attach(session: string, from: number, sink: (news: OwnNews) => void): Promise<() => void>;
  /** Resolves when the host has the command in its log. */
  command(session: string, command: OwnCommand): Promise<void>;
  /** Opens a web address in the user's browser. */
  openLink(address: string): Promise<void>;
}
