import { mount } from "svelte";

import App from "./App.svelte";
import "./theme.css";
import "./app.css";
import SettingsWindow from "./components/settings/SettingsWindow.svelte";
import { withEarlyRoster } from "./lib/host/early-roster";
import type { Host } from "./lib/host/host";
import { tauriHost } from "./lib/host/tauri";
import { followTheme } from "./lib/settings/theme";

/** In the shell, the real engine answers. A plain browser gets the mock, chosen by `?mock=NAME`. */
const inShell = "__TAURI_INTERNALS__" in window;

async function chooseHost(): Promise<Host> {
  if (inShell) return tauriHost();
  const { MockHost } = await import("./lib/host/mock/mock");
  const { presetNamed } = await import("./lib/host/mock/presets");
  const host = new MockHost(presetNamed(new URLSearchParams(location.search).get("mock") ?? ""));
  Object.assign(window, { mockHost: host });
  return host;
}

const target = document.getElementById("app");
if (target !== null) {
  const host = await chooseHost();
  // Both windows load the same page; the address says which one this is.
  const isSettings = location.hash === "#settings";
  const ahead = inShell && !isSettings ? withEarlyRoster(host) : host;
  void followTheme(host, document.documentElement);
  if (isSettings) mount(SettingsWindow, { target, props: { host } });
  else mount(App, { target, props: { host: await ahead } });
}
