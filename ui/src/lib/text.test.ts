import { expect, test } from "vitest";

import { commandLine, oneLine, plural, revealed, tokenWords } from "./text";

test("what deceives the eye is shown by its code, and line breaks stay", () => {
  expect(revealed("a\u202eb\u061c\u001b[0m\r\n\tc\u200b")).toBe("a⟨202E⟩b⟨061C⟩⟨001B⟩[0m\n\tc⟨200B⟩");
});

test("writing that needs joiners keeps them", () => {
  const family = "👩\u200d👧";
  expect(revealed(family)).toBe(family);
  expect(oneLine(family)).toBe(family);
});

test("a title is one line without controls", () => expect(oneLine("  a\n\n b\u0000\u202e c ")).toBe("a b c"));
test("a command is one line with everything that matters", () => expect(commandLine("a \\\n  b\u0000")).toBe("a \\ b⟨0000⟩"));

test.each([
  [0, "0"],
  [999, "999"],
  [158_400, "158k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
])("%d tokens are %s", (tokens, words) => expect(tokenWords(tokens)).toBe(words));

test("one is one", () => {
  expect(plural(1, "file")).toBe("1 file");
  expect(plural(0, "process", "processes")).toBe("0 processes");
});
