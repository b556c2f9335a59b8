// Completion of slash commands.

/** Commands that fit what is typed, best first; none unless the text is one unfinished command. */
export function completions(text: string, commands: readonly string[], most = 8): readonly string[] {
  const typed = /^\/([^\s/]*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const fits = commands.filter((command) => command.toLowerCase().includes(typed));
  const begins = (command: string): boolean => command.toLowerCase().startsWith(typed);
  const found = [...fits.filter(begins), ...fits.filter((command) => !begins(command))];
  // A command that is typed in full needs no list.
  return found.length === 1 && found[0] === typed ? [] : found.slice(0, most);
}
