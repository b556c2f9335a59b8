// Which sessions are our own, and which actions they allow.

import type { OwnAgent } from "../bindings/OwnAgent";
import type { OwnKind } from "../bindings/OwnKind";
import type { TrackedSession } from "../bindings/TrackedSession";
import type { WorkChain } from "../bindings/WorkChain";

/** The kind of an own session; undefined for a session that was started elsewhere. */
export function ownKind(session: TrackedSession): OwnKind | undefined {
  return session.own === "stream" || session.own === "pty" ? session.own : undefined;
}

/** The id by which the host of an own session is reached. */
export function ownId(session: TrackedSession): string {
  return session.ownId ?? session.sessionId;
}

/** The agent writes a transcript that the timeline shows. */
export function hasTranscript(session: TrackedSession): boolean {
  return session.agent === "claude";
}

/** It can go on in an own session. */
export function canResume(session: TrackedSession): boolean {
  return canFork(session) || (ownKind(session) !== undefined && session.agent !== "shell");
}

/** A copy of it can. Other agents name their sessions themselves, so only their own hosts go on with them. */
export function canFork(session: TrackedSession): boolean {
  return session.cwd !== undefined && session.agent === "claude";
}

/** Another agent can go on with its work. One that runs elsewhere has to be ended there first. */
export function canSwitch(session: TrackedSession): boolean {
  return session.cwd !== undefined && session.agent !== "shell" && session.superseded !== true && (isOver(session) || ownKind(session) !== undefined);
}

/** Its process has ended, so a resume takes it from no other program. */
export function isOver(session: TrackedSession): boolean {
  return session.state === "ended" || session.pid === undefined;
}

export const AGENTS: readonly OwnAgent[] = ["claude", "codex", "gemini", "shell"];

/** The permission modes of an agent before it has named its own. Claude Code 2.1.329, Codex 0.169.0, Gemini 0.61.0. */
export const MODES: Readonly<Record<OwnAgent, readonly string[]>> = {
  claude: ["default", "acceptEdits", "plan", "auto", "dontAsk"],
  codex: ["untrusted", "on-request", "never"],
  gemini: ["default", "autoEdit", "plan", "yolo"],
  shell: [],
};

/** Whether the session's host alone has what was said in its work chain. */
export function isUnwritten(session: TrackedSession, chain: WorkChain | undefined): boolean {
  const alone = chain?.segments.every((segment) => segment.sessionId === session.sessionId) ?? true;
  return alone && !hasTranscript(session);
}
