import { execFileSync } from "node:child_process";

import { expect, test } from "vitest";

import { quoted, resumeCommand } from "./resume";

test("the command enters the folder and resumes the session", () => {
  expect(resumeCommand({ sessionId: "3f6a1c52-0b7e", cwd: "/home/dev/api" })).toBe("cd /home/dev/api && claude --resume 3f6a1c52-0b7e");
  expect(resumeCommand({ sessionId: "3f6a1c52-0b7e" })).toBe("claude --resume 3f6a1c52-0b7e");
});

test.each(["plain", "two words", "it's", "$(touch x) `y` \\ \"z\" !", "ünï/🦀", "", "-rf", "line\nbreak", "\u001b[201~; rm -rf ~ #", "a\u0001'\\9"])(
  "a shell reads %j back as it is",
  (word) => {
    const spelled = quoted(word);
    expect(spelled).not.toMatch(/[\u0000-\u001f\u007f]/);
    expect(execFileSync("bash", ["-c", `printf %s ${spelled}`], { encoding: "utf8" })).toBe(word);
  },
);
