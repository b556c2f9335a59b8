import { expect, test } from "vitest";

import type { OwnResumeCall } from "../bindings/OwnResumeCall";
import type { Host } from "../host/host";
import { askWith } from "../host/mock/replies";
import { row } from "../host/mock/rows";
import { OwnActions } from "./own-actions.svelte";

/** A host that only resumes. */
const resuming = (resume: (call: OwnResumeCall) => Promise<string>) => ({ ask: askWith({ own_resume: ({ call }) => resume(call) }) }) as Host;

test("a resume that was refused for another reason asks for the branch again", async () => {
  const calls: boolean[] = [];
  const resume = async (call: OwnResumeCall): Promise<string> => {
    calls.push(call.anyBranch);
    throw { code: "conflict", message: "a process has it" };
  };
  const actions = new OwnActions(resuming(resume), () => undefined);
  const one = row({ sessionId: "one", state: "ended", cwd: "/srv/app" });
  await actions.resume(one, false);
  await actions.resume(one, false);
  expect(calls).toEqual([false, false]);
});

test("a resume that was refused for another branch goes on there when the user does it again", async () => {
  const calls: OwnResumeCall[] = [];
  const said: string[] = [];
  const resume = async (call: OwnResumeCall): Promise<string> => {
    calls.push(call);
    if (!call.anyBranch) throw { code: "other_branch", message: "the branch is main by now" };
    return call.sessionId;
  };
  const actions = new OwnActions(resuming(resume), (words) => said.push(words));
  const [one, other] = ["one", "other"].map((sessionId) => row({ sessionId, title: sessionId, state: "ended", cwd: "/srv/app" }));
  await actions.resume(one, false);
  await actions.resume(other, false);
  expect(said).toEqual(["the branch is main by now", "the branch is main by now"]);
  await actions.resume(other, false);
  await actions.resume(other, false);
  expect(calls.map(({ sessionId, anyBranch }) => [sessionId, anyBranch])).toEqual([
    ["one", false],
    ["other", false],
    ["other", true],
    ["other", false],
  ]);
});
