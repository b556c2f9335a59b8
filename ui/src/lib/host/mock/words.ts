// User commands in the mock host: chains renamed, joined and split, sessions snoozed and put away.

import type { TrackedSession } from "../../bindings/TrackedSession";
import type { WorkChain } from "../../bindings/WorkChain";

/** The rows that a command changes. */
export type Changed = readonly TrackedSession[];

/** A copy of the row without these fields: absent differs from undefined. */
function without(session: TrackedSession, ...fields: (keyof TrackedSession)[]): TrackedSession {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !fields.includes(field as keyof TrackedSession))) as TrackedSession;
}

export class MockWords {
  #chains = new Map<string, WorkChain>();
  #before: { chain: string; was: WorkChain; did: string }[] = [];
  #groups = new Map<string, TrackedSession["group"]>();

  /** The chain with the user's changes, if there are any. */
  chain(workChainId: string): WorkChain | undefined {
    const chain = this.#chains.get(workChainId);
    const last = this.#before.findLast((known) => known.chain === workChainId);
    return chain === undefined || last === undefined ? chain : { ...chain, undoable: last.did };
  }

  rename(chain: WorkChain, name: string | undefined, rows: readonly TrackedSession[]): Changed {
    const said = name?.trim() ?? "";
    const { name: _, ...rest } = chain;
    this.#chains.set(chain.workChainId, said === "" ? rest : { ...rest, name: said });
    const members = rows.filter((row) => row.workChainId === chain.workChainId);
    return members.map((row) => (said === "" ? without(row, "workChainName") : { ...row, workChainName: said }));
  }

  /** Turns the suggested link into the session into one made by the user. */
  accept(chain: WorkChain, sessionId: string): void {
    const suggested = chain.links.some((link) => link.to === sessionId && link.confidence === "suggested");
    if (!suggested) throw { code: "invalid", message: `no suggested link leads to ${sessionId}` };
    const links = chain.links.map((link) => (link.to === sessionId && link.confidence === "suggested" ? { ...link, reason: "manual", confidence: "proven" } : link));
    this.#change("join", chain, { ...chain, links });
  }

  /** Removes everything before the session from its chain. */
  split(chain: WorkChain, sessionId: string): void {
    const first = chain.segments.findIndex((segment) => segment.sessionId === sessionId);
    if (first <= 0) throw { code: "invalid", message: `${sessionId} begins its chain, so there is nothing to split it from` };
    const segments = chain.segments.slice(first).map((segment, index) => ({ ...segment, index }));
    this.#change("split", chain, { ...chain, segments, links: chain.links.filter((link) => link.to !== sessionId) });
  }

  join(chain: WorkChain, other: WorkChain): void {
    if (chain.workChainId === other.workChainId) throw { code: "invalid", message: `${chain.head} and ${other.head} are in one chain already` };
    const earlier = other.segments.map((segment) => ({ ...segment, superseded: true }));
    const segments = [...earlier, ...chain.segments].map((segment, index) => ({ ...segment, index }));
    const to = chain.segments[0]?.sessionId ?? chain.head;
    const links = [...other.links, ...chain.links, { from: other.head, to, reason: "manual", confidence: "proven" }];
    this.#change("join", chain, { ...chain, segments, links });
  }

  undo(chain: WorkChain): void {
    const at = this.#before.findLastIndex((known) => known.chain === chain.workChainId);
    const [last] = at < 0 ? [] : this.#before.splice(at, 1);
    if (last === undefined) throw { code: "invalid", message: `nothing was joined or split by hand in the chain of ${chain.head}` };
    this.#chains.set(chain.workChainId, last.was);
  }

  snooze(session: TrackedSession, until: string | undefined): Changed {
    if (until === undefined) {
      const group = this.#groups.get(session.sessionId) ?? session.group;
      return [{ ...without(session, "snoozedUntil"), group }];
    }
    if (session.snoozedUntil === undefined) this.#groups.set(session.sessionId, session.group);
    return [{ ...without(session, "needs"), snoozedUntil: until, group: "idle" }];
  }

  putAway(session: TrackedSession, away: boolean): Changed {
    return [away ? { ...session, putAway: true } : without(session, "putAway")];
  }

  #change(did: string, { undoable: _, ...was }: WorkChain, is: WorkChain): void {
    this.#before.push({ chain: was.workChainId, was, did });
    this.#chains.set(is.workChainId, is);
  }
}
