// @vitest-environment jsdom

import { cleanup, render } from "@testing-library/svelte";
import { afterEach, expect, test, vi } from "vitest";

import * as colours from "../../lib/code/colours.svelte";
import DiffView from "../timeline/DiffView.svelte";
import Markdown from "./Markdown.svelte";

vi.mock(import("../../lib/code/colours.svelte"), async (original) => {
  const real = await original();
  return { ...real, partsOf: vi.fn(real.partsOf) };
});
afterEach(cleanup);

test("while an answer grows, finished code keeps its colours without work, and code that grows is plain", async () => {
  const finished = "```rs\nlet x = 1;\n```\n\n";
  const { container, rerender } = render(Markdown, { text: finished });
  await expect.poll(() => container.querySelector(".code-word")?.textContent).toBe("let");
  const asked = vi.mocked(colours.partsOf);
  asked.mockClear();
  for (const more of ["Then", "Then\n\n```rs\nlet y", "Then\n\n```rs\nlet y = 2;"]) await rerender({ text: finished + more });
  expect(asked.mock.calls.filter(([, language]) => language !== undefined)).toEqual([]);
  expect(container.querySelectorAll(".code-word")).toHaveLength(1);
  await rerender({ text: `${finished}Then\n\n\`\`\`rs\nlet y = 2;\n\`\`\`` });
  expect(container.querySelectorAll(".code-word")).toHaveLength(2);
});

test("words that differ have no syntax colours: their ground is darker", async () => {
  const lines = [{ kind: "removed", text: "let x = 1;" }, { kind: "added", text: "const x = 1;" }] as const;
  const { container } = render(DiffView, { lines, language: "js" });
  await expect.poll(() => container.querySelectorAll(".code-number").length).toBe(2);
  expect([...container.querySelectorAll("mark")].map((mark) => mark.innerHTML)).toEqual(["let", "const"]);
});
