import { expect, test } from "vitest";

import { manyRows } from "./host/mock/rows";
import { choicesFor } from "./palette";

const commands = [{ name: "Keyboard", run: () => undefined }];

test("sessions come before commands, and at most fifty of them", () => {
  const choices = choicesFor("", manyRows(200), commands);
  expect(choices).toHaveLength(51);
  expect(choices.at(-1)?.kind).toBe("command");
});

test("all words must occur", () => {
  expect(choicesFor("fix flaky scheduler", manyRows(30), commands).map((choice) => choice.kind)).toEqual(["session"]);
  expect(choicesFor("keyb", manyRows(30), commands).map((choice) => choice.id)).toEqual(["c-Keyboard"]);
});
