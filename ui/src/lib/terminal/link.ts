// Web addresses in a terminal.

/** The address as it would be opened; undefined if it is no web address. */
export function webAddress(text: string): string | undefined {
  try {
    const url = new URL(text);
    return (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

const ADDRESS = /https?:\/\/[^\s"'<>`\u0000-\u001f]+/g;

/** Where web addresses stand in a line, without the punctuation behind them. */
export function addressesIn(line: string): readonly { readonly at: number; readonly text: string }[] {
  return [...line.matchAll(ADDRESS)].flatMap((found) => {
    const text = found[0].replace(/[.,;:!?)\]}]+$/, "");
    return webAddress(text) === undefined ? [] : [{ at: found.index, text }];
  });
}
