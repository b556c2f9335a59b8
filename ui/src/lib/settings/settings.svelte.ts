// The settings from the engine, and the result of the last change of each. Nothing is decided here.

import type { Setting } from "../bindings/Setting";
import type { SettingKey } from "../bindings/SettingKey";
import type { SettingProblem } from "../bindings/SettingProblem";
import type { SettingsView } from "../bindings/SettingsView";
import type { SettingValue } from "../bindings/SettingValue";
import { type Host, reasonOf } from "../host/host";

type SaveResult = { readonly saved: boolean; readonly words: string };

/** How long "Saved" is shown. */
const SHOWN_FOR_MS = 2500;

export class SettingsModel {
  view = $state.raw<SettingsView | undefined>(undefined);
  /** Why the settings could not be loaded. */
  failure = $state("");
  /** The words that a shown setting has. */
  search = $state("");

  #results = $state.raw<ReadonlyMap<SettingKey, SaveResult>>(new Map());
  #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Follows the settings until the returned function is called. */
  async connect(): Promise<() => void> {
    try {
      return await this.#host.subscribe({ to: "settings" }, (view) => (this.view = view));
    } catch (error) {
      this.failure = reasonOf(error);
      return () => {};
    }
  }

  /** Whether a setting with this name, this hint and this key has all words of the search. */
  finds(...texts: readonly (string | undefined)[]): boolean {
    const text = texts.join("\n").toLocaleLowerCase();
    return this.search.toLocaleLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  setting(key: SettingKey): Setting | undefined {
    return this.view?.settings.find((setting) => setting.key === key);
  }

  text(key: SettingKey): string {
    const value = this.setting(key)?.value;
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  }

  list(key: SettingKey): readonly string[] {
    const value = this.setting(key)?.value;
    return Array.isArray(value) ? value : [];
  }

  is(key: SettingKey): boolean {
    return this.setting(key)?.value === true;
  }

  /** The problem of this setting in the file. */
  problem(key: SettingKey): SettingProblem | undefined {
    return this.view?.problems.find((problem) => problem.key === key);
  }

  /** The result of the last change: "Saved", or the error. */
  saveResult(key: SettingKey): SaveResult | undefined {
    return this.#results.get(key);
  }

  /** Saves one setting; `null` restores the default. Resolves to whether it was saved. */
  async change(key: SettingKey, value: SettingValue | null): Promise<boolean> {
    try {
      this.view = await this.#host.ask("change_settings", { changes: [{ key, value }] });
      this.#say(key, { saved: true, words: "Saved" });
      return true;
    } catch (error) {
      this.#say(key, { saved: false, words: reasonOf(error) });
      return false;
    }
  }

  #say(key: SettingKey, result: SaveResult): void {
    this.#results = new Map(this.#results).set(key, result);
    if (result.saved) setTimeout(() => this.#forget(key, result), SHOWN_FOR_MS);
  }

  #forget(key: SettingKey, result: SaveResult): void {
    if (this.#results.get(key) !== result) return;
    const rest = new Map(this.#results);
    rest.delete(key);
    this.#results = rest;
  }
}

/** A problem, with its line in the file. */
export function placed(problem: SettingProblem): string {
  return problem.line === undefined ? problem.message : `Line ${problem.line}: ${problem.message}`;
}
