// The host inside the desktop shell: the only file that knows Tauri.

import { Channel, invoke } from "@tauri-apps/api/core";

import type { OwnNews } from "../bindings/OwnNews";
import type { RosterMessage } from "../bindings/RosterMessage";
import type { SettingsView } from "../bindings/SettingsView";
import type { ShellMessage } from "../bindings/ShellMessage";
import { copyText } from "./clipboard";
import type { Host } from "./host";

export function tauriHost(): Host {
  return {
    async subscribe(all, onMessage) {
      const channel = new Channel<RosterMessage>();
      let open = true;
      channel.onmessage = (message) => {
        if (open) onMessage(message);
      };
      await invoke("roster_subscribe", { channel, all });
      return () => {
        open = false;
      };
    },
    why: (sessionId) => invoke("session_why", { sessionId }),
    head: (sessionId) => invoke("session_head", { sessionId }),
    chain: (sessionId) => invoke("session_chain", { sessionId }),
    timeline: (sessionId, from, limit) => invoke("session_timeline", { sessionId, from, limit }),
    newestItems: (sessionId, limit) => invoke("newest_items", { sessionId, limit }),
    agentTimeline: (sessionId, agentId, from, limit) => invoke("agent_timeline", { sessionId, agentId, from, limit }),
    timelinePlace: (sessionId, agentId, offset) => invoke("timeline_place", { sessionId, agentId, offset }),
    search: (query) => invoke("search", { query }),
    renameChain: (sessionId, name) => invoke("rename_chain", { sessionId, name }),
    joinChains: (sessionId, withSessionId) => invoke("join_chains", { sessionId, withSessionId }),
    splitChain: (sessionId) => invoke("split_chain", { sessionId }),
    acceptLink: (sessionId) => invoke("accept_link", { sessionId }),
    rejectLink: (sessionId) => invoke("reject_link", { sessionId }),
    undoChain: (sessionId) => invoke("undo_chain", { sessionId }),
    snooze: (sessionId, until) => invoke("snooze", { sessionId, until }),
    putAway: (sessionId, away) => invoke("put_away", { sessionId, away }),
    doctor: () => invoke("doctor"),
    focusTerminal: (sessionId) => invoke("focus_terminal", { sessionId }),
    answer: (call) => invoke("answer_request", { call }),
    resumeCommand: (sessionId) => invoke("resume_command", { sessionId }),
    openFolder: (sessionId) => invoke("open_folder", { sessionId }),
    mute: (until) => invoke("mute", { until }),
    lookingAt: (sessionId) => invoke("looking_at", { sessionId }),
    copy: copyText,
    startDemo: () => invoke("start_demo"),
    settings: () => invoke("settings"),
    async subscribeSettings(onView) {
      const channel = new Channel<SettingsView>();
      let open = true;
      channel.onmessage = (view) => {
        if (open) onView(view);
      };
      await invoke("settings_subscribe", { channel });
      return () => {
        open = false;
      };
    },
    changeSettings: (changes) => invoke("change_settings", { changes }),
    openSettings: () => invoke("open_settings"),
    archiveOffer: () => invoke("archive_offer"),
    serviceState: () => invoke("service_state"),
    hooksStatus: () => invoke("hooks_status"),
    hooksPreview: (root, step) => invoke("hooks_preview", { root, step }),
    hooksChange: (root, step, token) => invoke("hooks_change", { root, step, token }),
    async listen(onMessage) {
      const channel = new Channel<ShellMessage>();
      channel.onmessage = onMessage;
      await invoke("shell_subscribe", { channel });
    },
    setCompact: (on) => invoke("set_compact", { on }),
    autostart: () => invoke("autostart"),
    setAutostart: (on) => invoke("set_autostart", { on }),
    shortcut: () => invoke("shortcut"),
    memory: {
      page: (sessionId) => invoke("memory_page", { sessionId }),
      summary: (sessionId) => invoke("work_summary", { sessionId }),
      detail: (id) => invoke("memory_detail", { id }),
      preview: (cwd, sessionId) => invoke("memory_preview", { cwd, sessionId }),
      change: (change) => invoke("memory_change", { change }),
    },
    own: {
      choices: () => invoke("own_choices"),
      start: (spec) => invoke("own_start", { spec: { ...spec, createdAt: new Date().toISOString() } }),
      resume: (call) => invoke("own_resume", { call }),
      async attach(session, from, sink) {
        const channel = new Channel<OwnNews>();
        let open = true;
        channel.onmessage = (news) => {
          if (open) sink(news);
        };
        const attachment = await invoke<number>("own_attach", { session, from, channel });
        return () => {
          open = false;
          invoke("own_detach", { attachment }).catch(() => undefined);
        };
      },
      command: (session, command) => invoke("own_command", { session, id: crypto.randomUUID(), command }),
      openLink: (address) => invoke("open_link", { address }),
    },
  };
}
