import { expect, test } from "vitest";

import { storyChain } from "./host/mock/timelines";
import { ENGINE_START } from "./host/mock/rows";
import { branchesOf, stripOf } from "./chain";

test("segments are as wide as their duration, and the last one is the current one", () => {
  const parts = stripOf(storyChain("s", "w"), ENGINE_START);
  expect(parts.map((part) => Number(part.grow.toFixed(2)))).toEqual([0.48, 0.28, 0.24]);
  expect(parts.map((part) => part.current)).toEqual([false, false, true]);
  expect(parts.map((part) => part.boundary?.trigger)).toEqual([undefined, "manual", "auto"]);
});

test("a link is shown where another session begins, not inside one file", () => {
  expect(stripOf(storyChain("s", "w"), ENGINE_START).map((part) => part.link?.confidence)).toEqual([undefined, "suggested", undefined]);
});

test("forks to sessions outside branch off where their segment is", () => {
  const chain = storyChain("s", "w");
  const branches = (): unknown => branchesOf(chain, stripOf(chain, ENGINE_START)).map((branch) => ({ ...branch, at: Number(branch.at.toFixed(2)) }));
  // The last of the two segments that `s` has in the strip goes from 0.76 to 1.
  expect(branches()).toEqual([{ sessionId: "9e8d7c6b-branch", into: true, at: 0.88 }]);
  chain.links.push({ from: "before", to: chain.segments[0]?.sessionId ?? "", reason: "forked_from", confidence: "proven" });
  chain.links.push({ from: "elsewhere", to: "nowhere", reason: "forked_from", confidence: "proven" });
  expect(branches()).toEqual([
    { sessionId: "before", into: false, at: 0 },
    { sessionId: "9e8d7c6b-branch", into: true, at: 0.88 },
  ]);
});

test("missing or impossible times still give a strip", () => {
  const chain = storyChain("s", "w");
  chain.segments = [
    { sessionId: "s", index: 0, transcriptPath: "", superseded: true, endedAt: "never" },
    { sessionId: "s", index: 1, transcriptPath: "", superseded: false, startedAt: "2099-01-01T00:00:00Z", endedAt: "2000-01-01T00:00:00Z" },
  ];
  for (const part of stripOf(chain, ENGINE_START)) expect(part.grow).toBeGreaterThan(0);
});
