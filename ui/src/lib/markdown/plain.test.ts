import { expect, test } from "vitest";

import { codeIn, plain, plainParts } from "./plain";

test.each([
  ["**Done.** All `cargo test` runs pass", "Done. All cargo test runs pass"],
  ["## What changed", "What changed"],
  ["- first *thing*, _then_ another", "first thing, then another"],
  ["> said before", "said before"],
  ["See [the page](https://example.org/a_b) and ![a plan](x.png)", "See the page and a plan"],
  ["``a ` b`` is code", "a ` b is code"],
  ["`**kwargs` and `__init__` stay", "**kwargs and __init__ stay"],
  ["***both***", "both"],
  ["a __strong__ word", "a strong word"],
])("%s loses its marks", (text, words) => expect(plain(text)).toBe(words));

test.each([
  "snake_case_name and __init__.py in src/my_file.rs",
  "2 * 3 * 4 and a*b*c",
  "-5 degrees, C++ and #12",
  "an open ` backtick and **no end",
  "[not a link] (here)",
  "",
])("%s stays as it is", (text) => expect(plain(text)).toBe(text));

test("marks across parts are dropped, and each part keeps its own text", () => {
  const parts = [{ text: "All **tes", found: false }, { text: "ts", found: true }, { text: "** pass", found: false }];
  expect(plainParts(parts)).toEqual([{ text: "All tes", found: false }, { text: "ts", found: true }, { text: " pass", found: false }]);
});

test("long text with unclosed marks takes no quadratic time", () => {
  const text = `${"**a ".repeat(20_000)}${"`".repeat(20_000)}`;
  expect(plain(text)).toBe(text);
});

test("text between backticks is code", () => {
  expect(codeIn("registry says `idle`; then")).toEqual([
    { text: "registry says ", code: false },
    { text: "idle", code: true },
    { text: "; then", code: false },
  ]);
  expect(codeIn("none")).toEqual([{ text: "none", code: false }]);
  expect(codeIn("one ` alone")).toEqual([{ text: "one ` alone", code: false }]);
});
