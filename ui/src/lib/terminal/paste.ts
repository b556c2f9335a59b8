// Checks text before it is pasted into a terminal.

/** One line without control characters goes at once. Anything else is shown first: its line feeds may submit. */
export function needsLook(text: string): boolean {
  return /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/.test(text) || text.length > 2000;
}

export function linesOf(text: string): number {
  return text.replace(/\r?\n$/, "").split(/\r\n|\r|\n/).length;
}
