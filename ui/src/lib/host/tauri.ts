// The host inside the desktop shell: the only file that knows Tauri.

import { Channel, invoke } from "@tauri-apps/api/core";

import { copyText } from "./clipboard";
import type { Host } from "./host";

export function tauriHost(): Host {
  return {
    ask: (request, ...[fields]) => invoke("ask", { request: { ...fields, request } }),
    async subscribe(to, onMessage) {
      const channel = new Channel<Parameters<typeof onMessage>[0]>();
      let open = true;
      channel.onmessage = (message) => {
        if (open) onMessage(message);
      };
      const number = await invoke<number | null>("subscribe", { to, channel });
      return () => {
        open = false;
        if (number !== null) invoke("unsubscribe", { number }).catch(() => undefined);
      };
    },
    lookingAt: (session) => invoke("looking_at", { session }),
    copy: copyText,
  };
}
