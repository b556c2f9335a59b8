import { expect, test } from "vitest";

import { decoded, isAddress, parseMarkdown } from "./parse";

test("ordinary Markdown is parsed", () => {
  expect(parseMarkdown("# a\n\n- b\n  - c\n")?.map((token) => token.type)).toEqual(["heading", "space", "list"]);
});

test.each([
  ["a word that is an address without end", "a.".repeat(1000) + "@"],
  ["quotes in quotes", ">".repeat(3000)],
  ["quotes in quotes, further down", `fine\n${"> ".repeat(300)}x`],
  ["lists in lists", "1. ".repeat(400)],
  ["more than anybody reads", "word ".repeat(20_000)],
])("%s is not parsed", (_, text) => expect(parseMarkdown(text)).toBeNull());

test.each(["http://a", "HTTPS://a.example/b?c", "mailto:a@example.com"])("%s can be copied", (href) => expect(isAddress(href)).toBe(true));
test.each(["javascript:alert(1)", " javascript:x", "data:text/html,x", "file:///etc/passwd", "//a.example", "a.html", "vbscript:x", "blob:x", "mailto:", "https://", undefined])(
  "%s cannot",
  (href) => expect(isAddress(href)).toBe(false),
);

test("entities are the characters they stand for, and never markup", () => {
  expect(decoded("&lt;b&gt; &#60; &#x3c; &copy;")).toBe("<b> < < &copy;");
});
