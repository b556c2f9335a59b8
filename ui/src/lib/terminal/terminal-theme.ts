// The colours of a terminal view, from the window's own.

import type { ITheme } from "@xterm/xterm";

const LIGHT: ITheme = { black: "#1c1e20", red: "#b3321f", green: "#1d7440", yellow: "#955200", blue: "#2563c9", magenta: "#7b2f8f", cyan: "#0f6f7d", white: "#8a9095", brightBlack: "#676d73", brightRed: "#c7452f", brightGreen: "#2a8a52", brightYellow: "#a86a10", brightBlue: "#3b76da", brightMagenta: "#9145a6", brightCyan: "#1f8292", brightWhite: "#565c62" };
const DARK: ITheme = { black: "#2c2f32", red: "#f08a7e", green: "#5fc487", yellow: "#f0b354", blue: "#74a7ff", magenta: "#d3a0e6", cyan: "#6fc7d1", white: "#c8ccd0", brightBlack: "#8b9197", brightRed: "#f7a99f", brightGreen: "#8ad8a8", brightYellow: "#f6cb86", brightBlue: "#a1c4ff", brightMagenta: "#e3c0f0", brightCyan: "#9adbe2", brightWhite: "#f2f2f0" };

/** Reads what the page has now: the user may have chosen another theme than the desktop. */
export function themeOf(element: Element): ITheme {
  const style = getComputedStyle(element);
  const dark = style.colorScheme.includes("dark") && (!style.colorScheme.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches);
  return {
    ...(dark ? DARK : LIGHT),
    background: style.backgroundColor,
    foreground: style.color,
    cursor: style.color,
    cursorAccent: style.backgroundColor,
    selectionBackground: dark ? "#31465f" : "#c9dcf8",
  };
}

/** Calls back when the user or the desktop chooses another theme. Gives what ends that. */
export function onNewTheme(changed: () => void): () => void {
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const desktop = matchMedia("(prefers-color-scheme: dark)");
  desktop.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    desktop.removeEventListener("change", changed);
  };
}
