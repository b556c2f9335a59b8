// Applies the chosen theme to the whole page.

import type { SettingsView } from "../bindings/SettingsView";
import type { Host } from "../host/host";

/** Applies light, dark or the desktop's theme, now and after every change. */
export async function followTheme(host: Host, root: HTMLElement): Promise<void> {
  try {
    await host.subscribe({ to: "settings" }, (view) => applyTheme(view, root));
  } catch {
    // Without settings the desktop's theme applies. The settings window shows the error.
  }
}

export function applyTheme(view: SettingsView, root: HTMLElement): void {
  const theme = view.settings.find((setting) => setting.key === "window.theme")?.value;
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  else delete root.dataset["theme"];
}
