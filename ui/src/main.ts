import { mount } from "svelte";

import App from "./App.svelte";
import "./app.css";
import type { Host } from "./lib/host/host";

/** Inside the shell the real engine answers; a plain browser gets the mock, chosen by `?mock=NAME`. */
async function chooseHost(): Promise<Host> {
  if ("__TAURI_INTERNALS__" in window) return (await import("./lib/host/tauri")).tauriHost();
  const { MockHost, presetNamed } = await import("./lib/host/mock/mock");
  const host = new MockHost(presetNamed(new URLSearchParams(location.search).get("mock") ?? ""));
  Object.assign(window, { mockHost: host });
  return host;
}

const target = document.getElementById("app");
if (target !== null) mount(App, { target, props: { host: await chooseHost() } });
