// The terminal of an own session in the page: xterm.js, attached to the session's host.

import type { FitAddon } from "@xterm/addon-fit";
import type { ILink, Terminal } from "@xterm/xterm";

import { fromBase64 } from "../base64";
import type { HostMessage } from "../bindings/HostMessage";
import type { OwnNews } from "../bindings/OwnNews";
import type { OwnSize } from "../bindings/OwnSize";
import { type Host, reasonOf } from "../host/host";
import { endWords } from "../own/words";
import { Feed } from "./feed";
import { addressesIn, webAddress } from "./link";
import { onNewTheme, themeOf } from "./terminal-theme";
import { quieten } from "./suppress-replies";
import { KeyQueue } from "./key-queue";

/** A size that has not changed for so long is sent, in milliseconds. */
const SETTLED_MS = 100;
/** No record has so high a number: only the screen and what follows it are wanted. */
const NO_EVENTS = Number.MAX_SAFE_INTEGER;

/** Keys that mean something to the view itself, and not to the program. */
export type ViewKeys = { readonly takeBack: () => void; readonly copy: (selection: string) => void };

export class OwnScreen {
  state = $state<"starting" | "live" | "over" | "lost">("starting");
  /** It has the keys. */
  given = $state(false);
  /** Why it has ended. */
  said = $state("");
  failure = $state("");
  size = $state.raw<OwnSize | undefined>();
  pid = $state<number | undefined>();
  /** The address below the pointer. */
  target = $state("");

  readonly keyQueue: KeyQueue;
  #host: Pick<Host, "ask" | "subscribe">;
  #id: string;
  #term: Terminal | undefined;
  #fit: FitAddon | undefined;
  #feed: Feed | undefined;
  #attached = 0;
  #detach: (() => void) | undefined;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  #leaveTheme: (() => void) | undefined;
  #observer = new ResizeObserver(() => this.#sized());

  constructor(host: Pick<Host, "ask" | "subscribe">, id: string) {
    this.#host = host;
    this.#id = id;
    this.keyQueue = new KeyQueue(
      (command) => host.ask("own_command", { session: id, command }),
      (error) => (this.failure = `What you typed did not arrive: ${reasonOf(error)}`),
    );
  }

  /** xterm.js is loaded when the first terminal is shown, so that the window's start does not wait for it. */
  async open(paper: HTMLElement, keys: ViewKeys): Promise<void> {
    try {
      await this.#open(paper, keys);
    } catch (error) {
      [this.state, this.failure] = ["lost", reasonOf(error)];
    }
  }

  async #open(paper: HTMLElement, keys: ViewKeys): Promise<void> {
    const [{ Terminal }, { FitAddon }, { Unicode11Addon }] = await Promise.all([import("@xterm/xterm"), import("@xterm/addon-fit"), import("@xterm/addon-unicode11"), import("@xterm/xterm/css/xterm.css")]);
    if (this.#closed) return;
    // Its DOM renderer: the WebGL one shows typed text late in WebKitGTK.
    const term = new Terminal({
      fontFamily: getComputedStyle(paper).fontFamily,
      fontSize: 12.5,
      lineHeight: 1.2,
      scrollback: 10_000,
      theme: themeOf(paper),
      minimumContrastRatio: 4.5,
      disableStdin: true,
      // For the widths of characters.
      allowProposedApi: true,
      linkHandler: { activate: (event, text) => this.#follow(event, text), hover: (_, text) => (this.target = text), leave: () => (this.target = "") },
    });
    this.#term = term;
    this.#fit = new FitAddon();
    term.loadAddon(this.#fit);
    // Emoji take two cells, as in the host's grid.
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = "11";
    quieten(term.parser);
    term.attachCustomKeyEventHandler((event) => onViewKey(event, term, keys));
    term.onData((text) => this.#typed(() => this.keyQueue.type(text)));
    term.onBinary((text) => this.#typed(() => this.keyQueue.bytes(Uint8Array.from(text, (character) => character.charCodeAt(0)))));
    term.registerLinkProvider({ provideLinks: (line, found) => found(this.#links(line)) });
    term.open(paper);
    // Its lines are text. A screen reader reads them; xterm.js itself would copy all output for it, and announce it.
    paper.querySelector(".xterm-rows")?.removeAttribute("aria-hidden");
    // Tab stops at the frame around it, which says how to give it the keys.
    if (term.textarea) term.textarea.tabIndex = -1;
    term.textarea?.addEventListener("blur", () => this.lock());
    this.#feed = new Feed(term, () => void this.attach());
    this.#observer.observe(paper);
    this.#leaveTheme = onNewTheme(() => (term.options.theme = themeOf(paper)));
    await this.attach();
  }

  /** The host draws the screen anew for each attachment. */
  async attach(): Promise<void> {
    this.detach();
    const attached = this.#attached;
    if (this.#term === undefined) return;
    try {
      const detach = await this.#host.subscribe({ to: "own", session: this.#id, from: NO_EVENTS }, (news) => {
        if (attached === this.#attached) this.#take(news);
      });
      if (attached === this.#attached) this.#detach = detach;
      else detach();
    } catch (error) {
      if (attached === this.#attached) [this.state, this.failure] = ["lost", reasonOf(error)];
    }
  }

  detach(): void {
    this.#attached += 1;
    this.#detach?.();
    this.#detach = undefined;
  }

  close(): void {
    this.#closed = true;
    this.lock();
    this.detach();
    clearTimeout(this.#settling);
    this.#observer.disconnect();
    this.#leaveTheme?.();
    this.#term?.dispose();
  }

  /** Gives it the keys. */
  give(): void {
    if (this.state !== "live" || this.#term === undefined) return;
    this.given = true;
    this.failure = "";
    this.#term.options.disableStdin = false;
    this.#term.focus();
  }

  lock(): void {
    this.given = false;
    if (this.#term) this.#term.options.disableStdin = true;
  }

  #take(news: OwnNews): void {
    if (news.own === "host") return this.#show(news.message);
    if (news.own === "begin") [this.state, this.failure] = [news.pid === undefined ? "over" : "live", ""];
    else [this.state, this.failure] = news.failure === undefined ? ["over", ""] : ["lost", news.failure];
    if (this.state !== "live") this.lock();
  }

  #show(message: HostMessage): void {
    switch (message.host) {
      case "screen":
        this.size = message.size;
        return this.#feed?.screen(fromBase64(message.bytes), message.size, () => this.#sized());
      case "output":
        return this.#feed?.output(fromBase64(message.bytes));
      case "events":
        for (const event of message.events) {
          if (event.event === "started") this.pid = event.pid;
          if (event.event !== "session_ended") continue;
          [this.state, this.said] = ["over", endWords(event)];
          this.lock();
        }
    }
  }

  /** Tells the program its new size once it has settled. Never the same size twice, and never while it is not seen. */
  #sized(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      const wanted = this.#fit?.proposeDimensions();
      if (wanted === undefined || this.size === undefined || this.state !== "live" || document.hidden) return;
      const size = { rows: wanted.rows, cols: wanted.cols };
      if (!(size.cols >= 2 && size.rows >= 2) || (size.cols === this.size.cols && size.rows === this.size.rows)) return;
      this.size = size;
      this.#term?.resize(size.cols, size.rows);
      this.#host.ask("own_command", { session: this.#id, command: { do: "resize", size } }).catch((error: unknown) => (this.failure = reasonOf(error)));
    }, SETTLED_MS);
  }

  /** Only the user types, and only while the terminal has the keys. */
  #typed(send: () => void): void {
    if (this.given && this.state === "live" && this.#feed?.muted === false) send();
  }

  #links(line: number): ILink[] {
    const text = this.#term?.buffer.active.getLine(line - 1)?.translateToString(true) ?? "";
    return addressesIn(text).map(({ at, text: address }) => ({
      range: { start: { x: at + 1, y: line }, end: { x: at + address.length, y: line } },
      text: address,
      activate: (event, found) => this.#follow(event, found),
      hover: () => (this.target = address),
      leave: () => (this.target = ""),
    }));
  }

  #follow(event: MouseEvent, text: string): void {
    if (!event.ctrlKey && !event.metaKey) return;
    const address = webAddress(text);
    if (address === undefined) this.failure = "That link is no web address, so it is not opened.";
    else this.#host.ask("open_link", { address }).catch((error: unknown) => (this.failure = reasonOf(error)));
  }
}

function onViewKey(event: KeyboardEvent, term: Terminal, { takeBack, copy }: ViewKeys): boolean {
  if (!event.ctrlKey || !event.shiftKey) return true;
  // The browser pastes then.
  if (event.key.toUpperCase() === "V") return false;
  const act = event.key === "Escape" ? takeBack : event.key.toUpperCase() === "C" ? () => term.hasSelection() && copy(term.getSelection()) : undefined;
  if (act === undefined) return true;
  event.preventDefault();
  if (event.type === "keydown") act();
  return false;
}
