// @vitest-environment jsdom

import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeAll, expect, test } from "vitest";

import { MockHost } from "../../lib/host/mock/mock";
import { presetNamed } from "../../lib/host/mock/presets";
import { applyTheme } from "../../lib/settings/theme";
import HooksOffer from "../roster/HooksOffer.svelte";
import SettingsWindow from "./SettingsWindow.svelte";

beforeAll(() => {
  // jsdom lacks these methods.
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
  HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
    this.open = false;
  };
});
afterEach(cleanup);

async function show(preset = "") {
  const host = new MockHost(presetNamed(preset));
  render(SettingsWindow, { host });
  await waitFor(() => expect((screen.getByLabelText("A silent session is idle after") as HTMLInputElement).value).toBe("10m"));
  return host;
}

test('a change is saved at once and shows "Saved"; a wrong one stays in its field with the reason', async () => {
  const host = await show();
  const field = screen.getByLabelText<HTMLInputElement>("A silent session is idle after");
  await fireEvent.change(field, { target: { value: "30m" } });
  await waitFor(() => expect(screen.getByText("Saved")).toBeTruthy());
  expect(host.config.view().settings.find((setting) => setting.key === "timeouts.idle")).toMatchObject({ value: "30m", source: "file" });
  await fireEvent.change(field, { target: { value: "soon" } });
  const refusal = await screen.findByRole("alert");
  expect(refusal.textContent).toContain("expected a time above zero");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(field.getAttribute("aria-describedby")!)!.contains(refusal)).toBe(true);
  expect(field.value).toBe("soon");
  await fireEvent.change(field, { target: { value: "" } });
  await waitFor(() => expect(field.value).toBe("10m"));
});

test("an edit by hand shows, and a problem of the file is shown beside its setting", async () => {
  const host = await show();
  host.config.edit({ "timeouts.idle": "20m", "alerts.muted": ["scratch"] }, [
    { key: "timeouts.stale", line: 4, column: 9, message: 'expected a time above zero; found "never"' },
    { line: 7, column: 1, message: "`colour` is not known" },
  ]);
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("A silent session is idle after").value).toBe("20m"));
  expect(screen.getByText("scratch")).toBeTruthy();
  const about = document.getElementById("set-timeouts.stale-about")!;
  expect(about.textContent).toContain("Line 4: expected a time above zero");
  expect(screen.getByText("Line 7: `colour` is not known")).toBeTruthy();
  expect(screen.getByText(/2 lines of the file are not followed/)).toBeTruthy();
});

test("a setting that an option overrides says so and cannot be changed", async () => {
  const host = await show();
  host.config.fix("roots", "--claude-dir");
  await waitFor(() => expect(screen.getByText(/--claude-dir decides this/)).toBeTruthy());
  expect(screen.getByLabelText<HTMLInputElement>("Folders of Claude Code", { selector: "input" }).disabled).toBe(true);
});

test("items of a list are added and removed", async () => {
  const host = await show();
  const field = screen.getByLabelText("Muted projects", { selector: "input" });
  await fireEvent.input(field, { target: { value: "scratch" } });
  await fireEvent.keyDown(field, { key: "Enter" });
  await fireEvent.click(await screen.findByLabelText("Remove scratch"));
  await waitFor(() => expect(screen.queryByText("scratch")).toBeNull());
  expect(host.config.view().exists).toBe(false);
});

test("the archive is offered with its numbers", async () => {
  await show();
  const section = screen.getByRole("region", { name: "Archive" });
  await waitFor(() => expect(section.textContent).toContain("310 MB"));
  const text = section.textContent!.replace(/\s+/g, " ");
  for (const part of ["after 30 days", "412 transcripts", "1.9 GB", "37 within a week"]) expect(text).toContain(part);
  expect(within(section).getByLabelText<HTMLInputElement>("Keep transcripts").checked).toBe(false);
});

test("hooks are installed only after the exact change was shown", async () => {
  const host = await show("unhooked");
  const section = screen.getByRole("region", { name: "Hooks" });
  await fireEvent.click(await within(section).findByRole("button", { name: "Install…" }));
  const diff = await within(section).findByRole("region", { name: /^Change of/ });
  expect(diff.textContent).toContain('"hooks": {');
  expect(host.hooks.done).toEqual([]);
  await fireEvent.click(within(section).getByText("Install"));
  await within(section).findByText("Uninstall…");
  expect(host.hooks.done).toEqual(["install"]);
});

test("the status line is installed and uninstalled after its change was shown", async () => {
  const host = await show();
  const section = screen.getByRole("region", { name: "Hooks" });
  await fireEvent.click(await within(section).findByRole("button", { name: "Install… (status line)" }));
  const diff = await within(section).findByRole("region", { name: /^Change of/ });
  expect(diff.textContent).toContain('"statusLine"');
  await waitFor(() => expect(section.textContent).toContain("Then it runs your own line, as it was."));
  expect(host.hooks.done).toEqual([]);
  await fireEvent.click(within(section).getByText("Install"));
  await fireEvent.click(await within(section).findByRole("button", { name: "Uninstall… (status line)" }));
  await fireEvent.click(await within(section).findByRole("button", { name: "Uninstall" }));
  await within(section).findByRole("button", { name: "Install… (status line)" });
  expect(host.hooks.done).toEqual(["install_status_line", "uninstall_status_line"]);
});

test("answering is installed and uninstalled apart from the other hooks, after its change was shown", async () => {
  const host = await show();
  const section = screen.getByRole("region", { name: "Answers" });
  await fireEvent.click(await within(section).findByText("Install…"));
  const diff = await within(section).findByRole("region", { name: /^Change of/ });
  expect(diff.textContent).toContain('"PermissionRequest"');
  expect(section.textContent).toContain("Nothing is answered without you.");
  expect(host.hooks.done).toEqual([]);
  await fireEvent.click(within(section).getByText("Install"));
  await fireEvent.click(await within(section).findByText("Uninstall…"));
  await fireEvent.click(await within(section).findByText("Uninstall"));
  await within(section).findByText("Install…");
  expect(host.hooks.done).toEqual(["install_answers", "uninstall_answers"]);
  const scripts = within(section).getByLabelText<HTMLInputElement>("Scripts may answer");
  expect(scripts.checked).toBe(false);
  await fireEvent.click(scripts);
  await waitFor(() => expect(host.config.view().settings.find((setting) => setting.key === "answers.scripts")?.value).toBe(true));
});

test("hooks are offered once, and never again", async () => {
  const host = new MockHost(presetNamed("unhooked"));
  render(HooksOffer, { host, oninstalled: () => {} });
  await fireEvent.click(await screen.findByText("Not now"));
  await waitFor(() => expect(screen.queryByLabelText("Hooks")).toBeNull());
  cleanup();
  render(HooksOffer, { host, oninstalled: () => {} });
  await Promise.resolve();
  await new Promise((done) => setTimeout(done));
  expect(screen.queryByLabelText("Hooks")).toBeNull();
  expect(host.config.view().settings.find((setting) => setting.key === "hooks.offer")?.value).toBe(false);
});

test("the page has the colours that the user chose", () => {
  const host = new MockHost(presetNamed(""));
  const root = document.createElement("html");
  applyTheme(host.config.change([{ key: "window.theme", value: "dark" }]), root);
  expect(root.dataset["theme"]).toBe("dark");
  applyTheme(host.config.change([{ key: "window.theme", value: null }]), root);
  expect(root.dataset["theme"]).toBeUndefined();
});

test("the service shows its address, its token when asked, and why it does not run", async () => {
  await show();
  const served = screen.getByLabelText<HTMLInputElement>("Serve HTTP on this machine");
  expect(screen.queryByLabelText("Port")).toBeNull();
  await fireEvent.click(served);
  await screen.findByText("http://127.0.0.1:40213");
  expect(screen.queryByText("5f0c".repeat(16))).toBeNull();
  await fireEvent.click(screen.getByText("Show the token"));
  expect(screen.getByText("5f0c".repeat(16))).toBeTruthy();
  await fireEvent.change(screen.getByLabelText("Port"), { target: { value: "80" } });
  await screen.findByText("It does not run: permission denied.");
  await fireEvent.click(served);
  await waitFor(() => expect(screen.queryByText(/It does not run/)).toBeNull());
});

test("the hook that tells agents what was learned is installed and taken out apart", async () => {
  const host = await show();
  await fireEvent.click(await screen.findByText("Tell agents what was learned…"));
  await fireEvent.click(await screen.findByRole("button", { name: "Install" }));
  await fireEvent.click(await screen.findByText("Tell agents nothing…"));
  await fireEvent.click(await screen.findByRole("button", { name: "Uninstall" }));
  await screen.findByText("Tell agents what was learned…");
  expect(host.hooks.done).toEqual(["install_context", "uninstall_context"]);
  expect(host.hooks.status()[0]?.state).toBe("installed");
});
