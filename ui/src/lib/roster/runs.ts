// Sessions that programs start: one row for all of one starter.

import type { TrackedSession } from "../bindings/TrackedSession";
import { oneLine, plural } from "../text";

/** The runs of one starter in one group. */
export type Runs = { readonly count: number; readonly failed: number; readonly entrypoint: string };

/** Sessions with the same folder and entrypoint have one starter. Undefined for a session that a person started. */
export function starterOf({ startedBy, group }: TrackedSession): string | undefined {
  return startedBy && [group, startedBy.entrypoint, startedBy.folder ?? ""].join("\n");
}

/** The runs of each starter with several, by the id of the session that stands for them: the first in the engine's order. */
export function runsOf(sessions: readonly TrackedSession[]): ReadonlyMap<string, Runs> {
  const all = new Map<string, { first: string; runs: Runs }>();
  for (const session of sessions) {
    const starter = starterOf(session);
    if (starter === undefined || session.startedBy === undefined) continue;
    const { first, runs } = all.get(starter) ?? { first: session.sessionId, runs: { count: 0, failed: 0, entrypoint: session.startedBy.entrypoint } };
    all.set(starter, { first, runs: { ...runs, count: runs.count + 1, failed: runs.failed + (session.startedBy.failed ? 1 : 0) } });
  }
  return new Map([...all.values()].flatMap(({ first, runs }) => (runs.count > 1 ? [[first, runs] as const] : [])));
}

/** "14 runs, 2 failed · sdk-cli" */
export function runsWords({ count, failed, entrypoint }: Runs): string {
  return `${plural(count, "run")}${failed === 0 ? "" : `, ${failed} failed`} · ${oneLine(entrypoint)}`;
}
