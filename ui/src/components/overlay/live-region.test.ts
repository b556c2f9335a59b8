// @vitest-environment jsdom

// Text for screen readers comes as a new element each time.

import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, expect, test } from "vitest";

import Notice from "./Notice.svelte";
import LiveRegion from "./LiveRegion.svelte";

afterEach(cleanup);

test("new text, and the same text once more, is a new element in the same region", async () => {
  const { rerender } = render(LiveRegion, { words: "One needs you.", time: 1 });
  const region = screen.getByRole("status");
  const first = region.firstElementChild;
  expect(first?.textContent).toBe("One needs you.");
  await rerender({ words: "One needs you.", time: 2 });
  expect(screen.getByRole("status")).toBe(region);
  expect(region.firstElementChild).not.toBe(first);
  await rerender({ words: "", time: 2 });
  expect(region.childElementCount).toBe(0);
});

test("a notice appears in a region that existed before it", async () => {
  const { rerender } = render(Notice, { words: "", undo: undefined, onundo: () => undefined });
  const region = screen.getByRole("status");
  await rerender({ words: "Renamed" });
  expect(screen.getByRole("status")).toBe(region);
  expect(region.textContent).toContain("Renamed");
});
