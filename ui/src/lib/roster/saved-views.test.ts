import { expect, test } from "vitest";

import { MockHost } from "../host/mock/mock";
import { SavedViews } from "./saved-views.svelte";

test("a view is saved from the filter, chosen by its name and removed again", async () => {
  const host = new MockHost({ rows: [] });
  await host.ask("change_settings", { changes: [{ key: "window.views", value: ["Shop = project:shop state:approval", ""] }] });
  const said: string[] = [];
  const views = new SavedViews(host, (words) => said.push(words));
  let shown = "";
  const commands = (typed = "") => views.commands(typed, (filter) => (shown = filter));
  const run = (name: string, typed = "") => commands(typed).find((command) => command.name === name)?.run();
  await expect.poll(() => commands().map(({ name }) => name)).toEqual(["View: Shop"]);
  run("View: Shop");
  expect(shown).toBe("project:shop state:approval");
  await host.ask("change_settings", { changes: [{ key: "window.views", value: ["Shop = project:shop state:approval", "state:limit"] }] });
  run("Save the view: agent:codex", " agent:codex");
  await expect.poll(() => commands().map(({ name }) => name), { message: "what was written elsewhere meanwhile stays" }).toEqual(["View: Shop", "View: state:limit", "View: agent:codex"]);
  run("Remove the view: Shop", shown);
  await expect.poll(() => commands().map(({ name }) => name)).toEqual(["View: state:limit", "View: agent:codex"]);
  run("Save the view: a = b = c", "a = b = c");
  await expect.poll(() => commands().map(({ name }) => name)).toEqual(["View: state:limit", "View: agent:codex", "View: a  b  c"]);
  run("View: a  b  c");
  expect(shown).toBe("a = b = c");
  run("Remove the view: a  b  c", shown);
  await expect.poll(() => commands().map(({ name }) => name)).toEqual(["View: state:limit", "View: agent:codex"]);
  expect(said.slice(0, 2)).toEqual(["Saved. The settings can name it: Mine = agent:codex", "The view was removed"]);
});
