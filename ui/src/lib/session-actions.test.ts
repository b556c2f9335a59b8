import { expect, test } from "vitest";

import { SessionActions } from "./session-actions";
import { MockHost } from "./host/mock/mock";
import { refusedRows } from "./host/mock/programs";
import { row } from "./host/mock/rows";

test.each(["join", "accept"] as const)("undo of a %s applies to the changed chain, even if another session is selected by then", async (did) => {
  const host = new MockHost({ rows: ["a", "b", "c"].map((sessionId) => row({ sessionId, workChainId: `chain-${sessionId}` })) });
  const asked: string[] = [];
  host.replies.command = ({ command: { session } }) => (asked.push(session), session);
  let session = "a";
  let back: (() => void) | undefined;
  const words = new SessionActions(host, () => row({ sessionId: session }), (_, undo) => (back = undo), () => {});
  words[did]("c");
  await expect.poll(() => back).toBeDefined();
  session = "b";
  asked.length = 0;
  back?.();
  expect(asked).toEqual(["a"]);
});

test("the rule that would allow a refused call is copied, and the notice says where it belongs", async () => {
  const host = new MockHost({ rows: [] });
  const copied: string[] = [];
  host.copy = async (text) => void copied.push(await text);
  const said: string[] = [];
  const words = new SessionActions(host, () => row({ sessionId: "a" }), (notice) => said.push(notice), () => {});
  const [stuck, goesOn] = refusedRows();
  words.copyRule(stuck);
  await expect.poll(() => said).toHaveLength(1);
  words.copyRule(goesOn);
  words.copyRule(row({ sessionId: "a" }));
  expect(copied).toEqual(["Bash(git push origin main)"]);
  expect(said[0]).toMatch(/^Copied: Bash\(git push origin main\)\. It belongs in permissions\.allow in /);
  expect(said.slice(1)).toEqual(["No narrow rule would allow this call: it is a pattern or has several parts", "No call of this session was refused"]);
});
