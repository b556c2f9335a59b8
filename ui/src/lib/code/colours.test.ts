import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { cutParts, languageOf, partsOf } from "./colours.svelte";

const kinds = (text: string, language: string) => partsOf(text, language).flatMap(({ text: piece, kind }) => (kind === undefined ? [] : [[kind, piece]]));

test("code is plain until the library is there, and keeps every letter", async () => {
  const code = 'let x = "a\\n"; // why\nfn main() { 42 }';
  expect(partsOf(code, "rs")).toEqual([{ text: code }]);
  await expect.poll(() => partsOf(code, "rs").length).toBeGreaterThan(1);
  expect(partsOf(code, "rust").map(({ text }) => text).join("")).toBe(code);
  expect(kinds(code, "rs")).toEqual(expect.arrayContaining([["word", "let"], ["note", "// why"], ["number", "42"], ["name", "main"]]));
  expect(partsOf("<b>", "no-such-language")).toEqual([{ text: "<b>" }]);
  expect(partsOf("let x;\n".repeat(1_500), "rs")).toHaveLength(1);
});

test("no code freezes the window or fails in it", () => {
  const hostile = [["md", "[a](\n".repeat(1_900)], ["md", "[a](".repeat(200)], ["js", `let a = "${"QUJD".repeat(4_800)}";`], ["rust", "/*".repeat(400)], ["rust", "/*\n".repeat(3_300)]] as const;
  for (const [language, text] of hostile) expect(partsOf(text, language).map((part) => part.text).join("")).toBe(text);
  expect([partsOf(`let a = 1;${"x".repeat(1_000)}`, "js").length, partsOf("# A", "markdown").length, partsOf("/*\n".repeat(3_300), "rust").length]).toEqual([1, 1, 1]);
});

test("a part of the pieces has the same letters and colours", () => {
  const parts = [{ text: "let", kind: "word" }, { text: " x = " }, { text: "1", kind: "number" }];
  expect(cutParts(parts, 1, 6)).toEqual([{ text: "et", kind: "word" }, { text: " x " }]);
  for (let at = 0; at <= 9; at += 1) expect([...cutParts(parts, 0, at), ...cutParts(parts, at, 9)].map(({ text }) => text).join("")).toBe("let x = 1");
});

test("the ending of a file's name says its language", () => {
  expect(["/w/a.rs", "C:\\a\\App.svelte", "Cargo.toml", "Makefile", undefined].map(languageOf)).toEqual(["rs", "xml", "ini", undefined, undefined]);
});

test("each colour has 4.5:1 on code, and on added and removed lines, in both schemes", () => {
  const css = readFileSync(new URL("../../theme.css", import.meta.url), "utf8");
  const colours = new Map([...css.matchAll(/--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)/g)].map(([, name, ...pair]) => [name!, pair]));
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const words = [...colours.keys()].filter((name) => name.startsWith("code-"));
  expect(words).toHaveLength(5);
  for (const word of words)
    for (const ground of ["code", "added", "removed", "pane"])
      for (const scheme of [0, 1]) {
        const [a, b] = [light(colours.get(word)![scheme]!), light(colours.get(ground)![scheme]!)];
        expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${word} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
});
