// Views that the user saved: a name and the text of the filter, in the settings (`window.views`).

import type { SettingsView } from "../bindings/SettingsView";
import { type Host, reasonOf } from "../host/host";
import type { Command } from "../palette";
import type { Say } from "../session-actions";

const KEY = "window.views";

export class SavedViews {
  #host: Host;
  #say: Say;
  /** `NAME = FILTER`, split at the first ` = `; the filter alone is its own name. */
  #lines = $state.raw<readonly string[]>([]);

  constructor(host: Host, say: Say) {
    this.#host = host;
    this.#say = say;
    this.load();
  }

  /** Reads them anew: the settings window or the file may have changed them. */
  readonly load = (): void => void this.#host.ask("settings").then((view) => this.#take(view), () => undefined);

  /** One command for each view, and what can be done with the filter that is typed now. */
  commands(typed: string, show: (filter: string) => void): Command[] {
    const text = typed.trim();
    const views = this.#lines.map(viewOf).filter(({ name }) => name !== "");
    const shown = views.findIndex(({ filter }) => filter === text);
    // A filter that could be read as a name and a filter needs a name.
    const line = viewOf(text).filter === text ? text : `${text.replaceAll("=", "")} = ${text}`;
    const save: Command = { name: `Save the view: ${text}`, run: () => void this.#change((lines) => [...lines, line], `Saved. The settings can name it: Mine = ${text}`) };
    const remove: Command = { name: `Remove the view: ${views[shown]?.name}`, run: () => void this.#change((lines) => lines.filter((line) => viewOf(line).filter !== text), "The view was removed") };
    return [...views.map(({ name, filter }) => ({ name: `View: ${name}`, run: () => show(filter) })), ...(text === "" ? [] : [shown === -1 ? save : remove])];
  }

  #take({ settings }: SettingsView): void {
    const value = settings.find(({ key }) => key === KEY)?.value;
    this.#lines = Array.isArray(value) ? value : [];
  }

  /** Reads the setting anew first: what was written elsewhere meanwhile stays. */
  async #change(edit: (lines: readonly string[]) => string[], done: string): Promise<void> {
    try {
      this.#take(await this.#host.ask("settings"));
      this.#take(await this.#host.ask("change_settings", { changes: [{ key: KEY, value: edit(this.#lines) }] }));
      this.#say(done);
    } catch (error) {
      this.#say(reasonOf(error));
    }
  }
}

function viewOf(line: string): { readonly name: string; readonly filter: string } {
  const at = line.indexOf(" = ");
  return at < 1 ? { name: line.trim(), filter: line.trim() } : { name: line.slice(0, at).trim(), filter: line.slice(at + 3).trim() };
}
