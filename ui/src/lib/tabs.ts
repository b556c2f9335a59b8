// The tabs of the pane.

export type Tab = "timeline" | "changes" | "terminal" | "memory";

/** The key of a tab also counts with Ctrl, then anywhere in the window. */
export const TABS: readonly { readonly name: Tab; readonly words: string; readonly key: string }[] = [
  { name: "timeline", words: "Timeline", key: "1" },
  { name: "changes", words: "Changes", key: "2" },
  { name: "terminal", words: "Terminal", key: "3" },
  { name: "memory", words: "Memory", key: "4" },
];
