import { expect, test } from "vitest";

import { completionsFor, queryOf, readTyped } from "./query";

const NOW = Date.parse("2026-03-14T13:00:00.000Z");
const query = (text: string) => queryOf(readTyped(text, NOW), NOW, 20);

test("words alone are words alone", () => {
  expect(query('the "exact phrase" begin*')).toEqual({ query: 'the "exact phrase" begin*', typing: true, limit: 20 });
});

test("filters are removed from the words at any position", () => {
  expect(query("project:api flaky role:Tool-Input tests tool:Bash")).toMatchObject({ query: "flaky tests", project: "api", role: "tool_input", tool: "Bash" });
  expect(query('project:"my project" x')).toMatchObject({ query: "x", project: "my project" });
});

test("since is a span, a date or a time", () => {
  expect(query("x since:7d").since).toBe("2026-03-07T13:00:00.000Z");
  expect(query("x since:90m").since).toBe("2026-03-14T11:30:00.000Z");
  expect(query("x since:2026-03-01T10:00:00Z").since).toBe("2026-03-01T10:00:00.000Z");
  expect(Date.parse(query("x since:2026-03-01").since ?? "")).toBe(new Date(2026, 2, 1).getTime());
});

test("a wrong filter is reported and does not narrow the search", () => {
  expect(readTyped("x since:soon", NOW)).toMatchObject({ words: "x", filters: [], trouble: expect.stringContaining("since:soon is not a time") });
  expect(readTyped("x role:king", NOW).trouble).toContain("role:king is none of prompt");
});

test("a filter without a value, a colon in a word and an address narrow nothing", () => {
  expect(query("x project:")).toEqual({ query: "x", typing: true, limit: 20 });
  expect(query("std::vec http://a:80 myproject:a")).toMatchObject({ query: "std::vec http://a:80 myproject:a" });
});

test("a filter's name and its values complete the last word", () => {
  expect(completionsFor("flaky pro", []).map(({ text }) => text)).toEqual(["flaky project:"]);
  expect(completionsFor("flaky", [])).toEqual([]);
  expect(completionsFor("x project:a", ["api", "shop", "api", "a b"]).map(({ text }) => text)).toEqual(["x project:api ", 'x project:"a b" ']);
  expect(completionsFor("role:t", []).map(({ shown }) => shown)).toEqual(["role:thinking", "role:tool_input", "role:tool_result", "role:title"]);
  expect(completionsFor("since:", []).length).toBe(5);
  expect(completionsFor("nothing:x", [])).toEqual([]);
});
