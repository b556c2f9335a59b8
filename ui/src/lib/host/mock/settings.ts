// Settings without an engine: applies changes and answers as the engine would.

import type { ServiceState } from "../../bindings/ServiceState";
import type { Setting } from "../../bindings/Setting";
import type { SettingChange } from "../../bindings/SettingChange";
import type { SettingKey } from "../../bindings/SettingKey";
import type { SettingProblem } from "../../bindings/SettingProblem";
import type { SettingsView } from "../../bindings/SettingsView";
import type { SettingValue } from "../../bindings/SettingValue";

const DEFAULTS: Record<SettingKey, SettingValue> = {
  roots: ["/home/dev/.claude"],
  "timeouts.approval": "5s",
  "timeouts.stale": "1m",
  "timeouts.idle": "10m",
  "roster.recent": "24h",
  "watch.mode": "auto",
  "watch.poll_interval": "2s",
  "store.cut": 4000,
  "store.exclude": [],
  "store.skip_tools": [],
  "store.plan_folders": [],
  "archive.enabled": false,
  "archive.budget": "5GiB",
  "archive.keep": "never",
  "archive.after": "7d",
  "archive.level": 6,
  "recovery.stuck": "5m",
  "recovery.stale": "1h",
  "recovery.every": "1m",
  "alerts.approval": true,
  "alerts.question": true,
  "alerts.plan": true,
  "alerts.dialog": true,
  "alerts.error": true,
  "alerts.finished": true,
  "alerts.refused": false,
  "alerts.refused_in_a_row": true,
  "alerts.limit": 90,
  "alerts.dwell": "2s",
  "alerts.quiet_hours": [],
  "alerts.muted": [],
  "alerts.sound": false,
  "prices.own": [],
  "window.theme": "system",
  "window.always_on_top": false,
  "window.tray": "colour",
  "window.shortcut": "",
  "window.views": [],
  "hooks.offer": true,
  "answers.scripts": false,
  "memory.enabled": true,
  "memory.accept": "rules",
  "memory.context": "off",
  "memory.session_tokens": 3000,
  "model.base_url": "",
  "model.name": "",
  "model.key_file": "",
  "model.agent": false,
  "model.timeout": "3m",
  "model.daily_tokens": 200000,
  "model.daily_cents": 20,
  "service.http": false,
  "service.port": 0,
  "service.accept": false,
};

const SPAN = /^\d+\s*(ms|s|m|min|h|d)?$/;

export class MockSettings {
  #written = new Map<SettingKey, SettingValue>();
  #problems: SettingProblem[] = [];
  #fixed = new Map<SettingKey, string>();
  #listeners = new Set<(view: SettingsView) => void>();

  /** Simulates an edit of the file by hand. */
  edit(written: Partial<Record<SettingKey, SettingValue>>, problems: SettingProblem[] = []): void {
    this.#written = new Map(Object.entries(written) as [SettingKey, SettingValue][]);
    this.#problems = problems;
    this.#tell();
  }

  /** Simulates an option or an environment variable. */
  fix(key: SettingKey, by: string): void {
    this.#fixed.set(key, by);
    this.#tell();
  }

  view(): SettingsView {
    const one = (key: SettingKey): Setting => {
      const fixedBy = this.#fixed.get(key);
      const written = this.#written.get(key);
      return {
        key,
        value: written ?? DEFAULTS[key],
        default: DEFAULTS[key],
        source: fixedBy === undefined ? (written === undefined ? "default" : "file") : fixedBy.startsWith("-") ? "option" : "environment",
        ...(fixedBy === undefined ? {} : { fixedBy }),
      };
    };
    return {
      path: "/home/dev/.config/watchbill/config.toml",
      exists: this.#written.size > 0,
      dataDir: "/home/dev/.local/share/watchbill",
      settings: (Object.keys(DEFAULTS) as SettingKey[]).map(one),
      problems: this.#problems,
    };
  }

  /** As the shell serves: at a port that is taken by another program, not. */
  service(): ServiceState {
    const value = (key: SettingKey): SettingValue => this.#written.get(key) ?? DEFAULTS[key];
    if (value("service.http") !== true) return {};
    if (value("service.port") === 80) return { problem: "permission denied" };
    return { address: `http://127.0.0.1:${value("service.port") === 0 ? 40213 : String(value("service.port"))}`, token: "5f0c".repeat(16) };
  }

  change(changes: readonly SettingChange[]): SettingsView {
    for (const { key, value } of changes) {
      const isSpan = key.startsWith("timeouts.") || ["roster.recent", "alerts.dwell", "archive.after"].includes(key);
      if (isSpan && value !== null && !SPAN.test(String(value))) {
        const message = `expected a time above zero: seconds, or a number with a unit, such as "10m"; found ${JSON.stringify(value)}`;
        throw { code: "invalid", message };
      }
    }
    for (const { key, value } of changes) {
      if (value === null || JSON.stringify(value) === JSON.stringify(DEFAULTS[key])) this.#written.delete(key);
      else this.#written.set(key, value);
    }
    this.#tell();
    return this.view();
  }

  subscribe(listener: (view: SettingsView) => void): () => void {
    this.#listeners.add(listener);
    listener(this.view());
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.view());
  }
}
