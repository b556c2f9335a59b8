import { expect, test } from "vitest";

import { MockHost } from "./host/mock/mock";
import { linkTo, ShellModel } from "./shell.svelte";

async function model() {
  const host = new MockHost({ rows: [] });
  const heard: string[] = [];
  const shell = new ShellModel(host, { says: (text) => heard.push(text) });
  await shell.connect();
  return { host, shell, heard };
}

test("the window becomes a strip when the shell has made it one", async () => {
  const { shell } = await model();
  expect(shell.compact).toBe(false);
  await shell.setCompact(true);
  expect(shell.compact).toBe(true);
  await shell.setCompact(false);
  expect(shell.compact).toBe(false);
});

test("messages of the shell are shown", async () => {
  const { host, heard } = await model();
  host.tell({ type: "says", text: "This link leads nowhere." });
  expect(heard).toEqual(["This link leads nowhere."]);
});

test("the start with the desktop is off until it is turned on", async () => {
  const { shell, heard } = await model();
  expect(shell.autostart).toBe(false);
  await shell.toggleAutostart();
  expect(shell.autostart).toBe(true);
  await shell.toggleAutostart();
  expect(shell.autostart).toBe(false);
  expect(heard).toHaveLength(2);
});

test("a refusal of the shell is shown, and the state stays", async () => {
  const { host, shell, heard } = await model();
  host.replies.set_autostart = () => Promise.reject({ code: "unsupported", message: "The folder cannot be written to." });
  await shell.toggleAutostart();
  expect(shell.autostart).toBe(false);
  expect(heard).toEqual(["The folder cannot be written to."]);
});

test("a link holds the id alone", () => {
  expect(linkTo("09c2f561-3530-4e1a-b026-e91495aac3dd")).toBe("watchbill://session/09c2f561-3530-4e1a-b026-e91495aac3dd");
  expect(linkTo("a/b?c#d e")).toBe("watchbill://session/a%2Fb%3Fc%23d%20e");
});
