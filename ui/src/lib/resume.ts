// The command that takes a session up again in a terminal.

import type { TrackedSession } from "./bindings/TrackedSession";

export function resumeCommand(session: Pick<TrackedSession, "sessionId" | "cwd">): string {
  const resume = `claude --resume ${quoted(session.sessionId)}`;
  return session.cwd === undefined ? resume : `cd ${quoted(session.cwd)} && ${resume}`;
}

/**
 * Quoted for a POSIX shell. Control characters are spelled out: pasted raw, one of them could end
 * the terminal's paste mode and run what follows.
 */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.startsWith("-")) return word;
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  // Three octal digits, since a hexadecimal escape would swallow a digit after it in some shells.
  const spelled = Array.from(new TextEncoder().encode(word), (byte) => {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c;
    return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `$'${spelled.join("")}'`;
}
