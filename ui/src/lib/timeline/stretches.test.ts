import { expect, test } from "vitest";

import type { TimelineItem } from "../bindings/TimelineItem";
import { stretchAt, stretchWords } from "./stretches";

let count = 0;
const base = () => ({ index: (count += 1), key: `${count}`, sessionId: "s" });
const thought = (): TimelineItem => ({ ...base(), kind: "thinking", text: "hm" });
const answer = (): TimelineItem => ({ ...base(), kind: "response", text: "so" });
const call = (tool: string, target: string, outcome = "ok"): TimelineItem => ({ ...base(), kind: "tool", id: "t", tool, target, input: "{}", outcome });

const at = (items: readonly TimelineItem[], index: number) => stretchAt((index) => items[index], index);

test("neighbours that only read or think are one stretch, wherever one looks", () => {
  const items = [answer(), thought(), call("Read", "a"), call("Grep", "b"), answer(), thought(), answer()];
  for (const index of [1, 2, 3]) expect(at(items, index)).toEqual({ first: 1, last: 3 });
  expect([0, 4, 5, 6].map((index) => at(items, index))).toEqual([undefined, undefined, undefined, undefined]);
});

test("what failed, waits, writes, or is of a subagent stands alone", () => {
  const others = [call("Read", "a", "error"), call("Read", "a", "denied"), call("Read", "a", "pending"), call("Bash", "ls"), { ...thought(), agentId: "x" }];
  for (const other of others) {
    expect(at([thought(), other], 1)).toBeUndefined();
    expect(at([thought(), other], 0)).toBeUndefined();
  }
});

test("a stretch ends where nothing is read yet", () => {
  const items = [thought(), thought()];
  expect(stretchAt((index) => (index < 5 ? undefined : items[index - 5]), 6)).toEqual({ first: 5, last: 6 });
});

test("its words count files once, and searches and thoughts", () => {
  expect(stretchWords([call("Read", "a"), call("Read", "a"), call("Read", "b"), thought(), thought()])).toBe("read 2 files, thought twice");
  expect(stretchWords([call("Grep", "a"), call("Glob", "a"), call("LS", "b"), call("Read", "c"), thought()])).toBe("read 1 file, searched 3 times, thought once");
});
