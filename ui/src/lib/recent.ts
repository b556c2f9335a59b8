// Recent choices in the palette. Kept in local storage, so that they outlive the window.

const KEY = "watchbill.recent";
const MOST = 5;

/** Ids of choices, the newest first. */
export function recentChoices(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function rememberChoice(id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...recentChoices().filter((other) => other !== id)].slice(0, MOST)));
  } catch {
    // Without storage no choice is remembered.
  }
}
