import { expect, test } from "vitest";

import { commandLine, contextWords, cut, oneLine, outputText, plural, prose, revealed, tokenWords } from "./text";

test("deceiving characters are shown by their code, and line breaks stay", () => {
  expect(revealed("a\u202eb\u061c\u001b[0m\r\n\tc\u200b")).toBe("a⟨202E⟩b⟨061C⟩⟨001B⟩[0m\n\tc⟨200B⟩");
});

test("writing that needs joiners keeps them", () => {
  const family = "👩\u200d👧";
  expect(revealed(family)).toBe(family);
  expect(oneLine(family)).toBe(family);
});

test("a title is one line without controls", () => expect(oneLine("  a\n\n b\u0000\u202e c ")).toBe("a b c"));
test("a command is one line with everything that matters", () => expect(commandLine("a \\\n  b\u0000")).toBe("a \\ b⟨0000⟩"));

test("invisible characters are shown too: fillers, soft hyphens, tags", () => {
  expect(commandLine("a\u00adb\u3164c\u{e0041}d\u2028e")).toBe("a⟨00AD⟩b⟨3164⟩c⟨E0041⟩d⟨2028⟩e");
  expect(oneLine("a\u00adb\u3164c\u{e0041}d")).toBe("abcd");
});

test("a megabyte of title is cut before anything else is done with it", () => {
  const title = oneLine(`${" \n".repeat(500_000)}x`);
  expect(title.length).toBeLessThan(302);
  expect(oneLine("word ".repeat(300_000))).toHaveLength(301);
  expect(commandLine("echo ".repeat(300_000))).toHaveLength(601);
  expect(oneLine("x".repeat(300))).toHaveLength(300);
});

test("no character is cut in half", () => {
  expect(cut("ab🦀c", 3)).toBe("ab");
  expect(cut("ab🦀c", 4)).toBe("ab🦀");
  expect(cut("ab", 4)).toBe("ab");
});

test("running text keeps the marks that its script needs and loses those that would reverse it", () => {
  expect(prose("\u202eabc\u202c ש\u200f! \u0007")).toBe("abc ש\u200f! ");
});

test("output is shown without terminal escapes", () => {
  expect(outputText("\u001b[1;31merror\u001b[0m: x\u001b]8;;http://evil\u0007y\u001b]8;;\u0007\u202e")).toBe("error: xy⟨202E⟩");
});

test.each([
  [0, "0"],
  [999, "999"],
  [158_400, "158k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
])("%d tokens are %s", (tokens, words) => expect(tokenWords(tokens)).toBe(words));

test("a context is shown by its share if that is known, else by its tokens", () => {
  expect(contextWords({ used: 134_000, size: 167_000, percent: 80.2 })).toBe("context 80 % full: 134k of 167k tokens");
  expect(contextWords({ used: 134_000, percent: 80.2 })).toBe("context 80 % full: 134k tokens");
  expect(contextWords({ used: 134_000 })).toBe("134k tokens in the context");
});

test("a count of one is singular", () => {
  expect(plural(1, "file")).toBe("1 file");
  expect(plural(0, "process", "processes")).toBe("0 processes");
});
