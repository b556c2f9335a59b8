// The colours that the person has chosen, on the page as a whole.

import type { SettingsView } from "../bindings/SettingsView";
import type { Host } from "../host/host";

/** Light, dark, or as the desktop has it, now and after every change. */
export async function followTheme(host: Host, root: HTMLElement): Promise<void> {
  try {
    await host.subscribeSettings((view) => applyTheme(view, root));
  } catch {
    // Without settings it is as the desktop has it; what is wrong is said where settings are shown.
  }
}

export function applyTheme(view: SettingsView, root: HTMLElement): void {
  const theme = view.settings.find((setting) => setting.key === "window.theme")?.value;
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  else delete root.dataset["theme"];
}
