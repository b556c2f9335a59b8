import { expect, test } from "vitest";

import { SessionActions } from "./session-actions";
import { MockHost } from "./host/mock/mock";
import { row } from "./host/mock/rows";

test.each(["join", "accept"] as const)("undo of a %s applies to the changed chain, even if another session is selected by then", async (did) => {
  const host = new MockHost({ rows: ["a", "b", "c"].map((sessionId) => row({ sessionId, workChainId: `chain-${sessionId}` })) });
  const asked: string[] = [];
  host.replies.command = ({ command: { session } }) => (asked.push(session), session);
  let session = "a";
  let back: (() => void) | undefined;
  const words = new SessionActions(host, () => session, (_, undo) => (back = undo), () => {});
  words[did]("c");
  await expect.poll(() => back).toBeDefined();
  session = "b";
  asked.length = 0;
  back?.();
  expect(asked).toEqual(["a"]);
});
