// Keys of the window, read one at a time. Pure: the meaning of a key depends only on the key before it.

import type { Group } from "./bindings/Group";
import { TABS, type Tab } from "./tabs";
import { isComposing } from "./composing";

export type Intent =
  | { readonly do: "move" | "extend"; readonly by: number }
  | { readonly do: "first" | "last" | "open" | "back" | "filter" | "copy" | "folder" | "focus" | "next" | "help" | "palette" | "alerts" | "settings" | "compact" | "new" | "prompt" | "mark" | "refused" | "rule" | "programs" | "by-project" | "day" | "usage" }
  | { readonly do: "tab"; readonly tab: Tab }
  | { readonly do: "group"; readonly group: Group }
  | { readonly do: "answer"; readonly key: AnswerKey };

/** A key of the card that shows a request. */
export type AnswerKey = "allow" | "always" | "deny" | "toggle" | "send" | number;
/** What the card asks for: a verdict, or choices. */
export type Asks = "verdict" | "choice";

export type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey"> & Partial<Pick<KeyboardEvent, "shiftKey" | "repeat">>;

const SINGLE: Record<string, Intent> = {
  j: { do: "move", by: 1 },
  ArrowDown: { do: "move", by: 1 },
  k: { do: "move", by: -1 },
  ArrowUp: { do: "move", by: -1 },
  v: { do: "mark" },
  Home: { do: "first" },
  End: { do: "last" },
  G: { do: "last" },
  Enter: { do: "open" },
  Escape: { do: "back" },
  "/": { do: "filter" },
  c: { do: "copy" },
  o: { do: "folder" },
  f: { do: "focus" },
  n: { do: "next" },
  m: { do: "compact" },
  N: { do: "new" },
  i: { do: "prompt" },
  x: { do: "refused" },
  r: { do: "rule" },
  p: { do: "programs" },
  l: { do: "alerts" },
  t: { do: "day" },
  u: { do: "usage" },
  "?": { do: "help" },
};

const AFTER_G: Record<string, Intent> = {
  g: { do: "first" },
  n: { do: "group", group: "needs_you" },
  w: { do: "group", group: "working" },
  t: { do: "group", group: "your_turn" },
  i: { do: "group", group: "idle" },
  p: { do: "by-project" },
};

/** This system's name of the command key. */
export const MODIFIER = typeof navigator === "object" && /Mac/.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** The same key in `aria-keyshortcuts`. */
export const COMMAND = MODIFIER === "⌘" ? "Meta" : "Control";

export class KeyReader {
  #afterG = false;

  /** `asks`: a card with a request is shown. */
  read(press: KeyPress, asks?: Asks): Intent | undefined {
    const afterG = this.#afterG;
    this.#afterG = false;
    if (press.ctrlKey || press.metaKey) {
      if (press.altKey) return undefined;
      if (press.key === ",") return { do: "settings" };
      const tab = tabOf(press.key);
      if (tab !== undefined) return tab;
      return press.key.toLowerCase() === "k" ? { do: "palette" } : undefined;
    }
    if (press.altKey) return undefined;
    if (afterG) return AFTER_G[press.key];
    const key = asks && answerKey(press, asks);
    // A key that is held down answers once, not the next card as well.
    if (key !== undefined) return press.repeat ? undefined : { do: "answer", key };
    if (press.key === "g") {
      this.#afterG = true;
      return undefined;
    }
    // Caps Lock alone does not mark.
    const intent = SINGLE[/^[JK]$/.test(press.key) ? press.key.toLowerCase() : press.key];
    if (press.shiftKey && intent?.do === "move") return { ...intent, do: "extend" };
    return intent ?? tabOf(press.key);
  }
}

function tabOf(key: string): Intent | undefined {
  const tab = TABS.find((one) => one.key === key);
  return tab && { do: "tab", tab: tab.name };
}

/** With Caps Lock, `a` alone still allows once: "always" takes Shift. */
function answerKey({ key, shiftKey }: KeyPress, asks: Asks): AnswerKey | undefined {
  if (key === "a" || key === "A") return asks === "choice" ? undefined : shiftKey && key === "A" ? "always" : "allow";
  if (key === "d" || key === "D") return "deny";
  if (asks === "verdict") return undefined;
  if (/^[1-9]$/.test(key)) return Number(key);
  return key === " " ? "toggle" : key === "Enter" ? "send" : undefined;
}

/** Whether the input method or the focused element uses the key itself. The row of the open session leaves Enter and Space to its question. */
export function isTaken(event: KeyboardEvent, asks?: Asks): boolean {
  if (isComposing(event)) return true;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (target.matches("[type=radio], [type=checkbox]")) return event.key === " " || event.key.startsWith("Arrow");
  if (target.matches("input, textarea, select")) return !(event.ctrlKey || event.metaKey);
  const scrolls = target.closest("[role=region], pre") !== null;
  if (scrolls && ["ArrowUp", "ArrowDown", "Home", "End", " "].includes(event.key)) return true;
  if (asks === "choice" && target.matches("[aria-current=true]")) return false;
  return ["Enter", " "].includes(event.key) && target.matches("button, [role=option]");
}

/** All keys, for the help. */
export const KEY_HELP: readonly (readonly [keys: string, what: string])[] = [
  ["j  k  ↓  ↑", "Move in the roster"],
  ["Enter", "Open the session"],
  ["v   J   K", "Mark the row, or all on the way (also Shift with an arrow), to act on all of them"],
  ["Esc", "Back; in the roster, unmark all, then end the filter"],
  ["n", "Next session that needs you"],
  ["g n   g w   g t   g i", "Go to Needs you, Working, Your turn, Idle"],
  ["g g   Home   G   End", "First, last session; in a timeline its beginning, its end"],
  ["/", "Filter"],
  ["f", "Focus the session's terminal"],
  [`1   2   3   4   ${MODIFIER} 1   ${MODIFIER} 2   ${MODIFIER} 3   ${MODIFIER} 4`, "Timeline, changes, terminal, memory"],
  ["i", "Write a prompt; Esc leaves the box, and a second Esc interrupts the turn"],
  ["N", "New session"],
  ["a", "Allow what the session asks, or approve its plan"],
  ["A", "Always allow it; for a plan, accept edits too"],
  ["d", "Deny it, with a reason"],
  ["1 … 9", "Choose an answer to its question"],
  ["Space", "Choose or take back the marked answer"],
  ["x", "Refused calls alone, and back"],
  ["r", "Copy the rule that would allow the last refused call"],
  ["p", "Sessions that programs started one by one, and back"],
  ["g p", "Group by project, and back"],
  ["c", "Copy the command that resumes the session, or attaches to it"],
  ["o", "Open the folder"],
  ["t   u", "The day, the usage"],
  ["l", "Past alerts, and what became of them"],
  [`${MODIFIER} K`, "Sessions, commands, and everything that was said"],
  [`${MODIFIER} ,`, "Settings"],
  ["m", "A strip above all windows, and back"],
  ["?", "This help"],
];
