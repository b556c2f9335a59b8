// Which findings of the doctor are wrong. The panel marks each of them, and its first line counts them.

import type { Doctor } from "./bindings/Doctor";
import type { HookSettings } from "./bindings/HookSettings";
import { isLineLost } from "./settings/hooks";

export function isUnwatched(root: Doctor["roots"][number]): boolean {
  return !root.exists || root.watch === "none";
}

export function areBroken(hooks: HookSettings): boolean {
  return ["unreadable", "program_missing", "disabled"].includes(hooks.state) || isLineLost(hooks);
}

/** Hook events that could not be read, or were dropped for lack of room. */
export function areLost(hooks: NonNullable<Doctor["hooks"]>): boolean {
  return hooks.damaged > 0 || hooks.dropped > 0;
}

/** Number of marked lines in the panel. */
export function wrongIn({ roots, registry, limits, desktop, hooks }: Doctor): number {
  const settings = hooks?.settings ?? [];
  const isHeard = settings.some((file) => file.state === "installed");
  const marked = [
    ...(roots ?? []).map(isUnwatched),
    registry !== undefined && !registry.readable,
    ...(limits ?? []).map((limit) => !limit.enough),
    desktop !== undefined && !desktop.tray,
    desktop !== undefined && !desktop.notifications,
    ...settings.map(areBroken),
    hooks !== undefined && isHeard && areLost(hooks),
  ];
  return marked.filter(Boolean).length;
}
