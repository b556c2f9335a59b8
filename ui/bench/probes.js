// Measurements inside the page, and their output. Each probe is self-contained: its source text is sent to the page.

const nearest = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const shown = (values) => `median ${nearest(values, 0.5).toFixed(1)}, 95 of 100 ${nearest(values, 0.95).toFixed(1)}, 99 of 100 ${nearest(values, 0.99).toFixed(1)}, most ${Math.max(...values).toFixed(1)} ms (${values.length})`;

export const say = (what, words) => process.stdout.write(`${what.padEnd(58)} ${words}\n`);

/** Scrolls an element by this many pixels a frame, up and down. Resolves to the times between frames. */
export const scrolling = ({ selector, by, frames }) =>
  new Promise((done) => {
    const view = document.querySelector(selector);
    const gaps = [];
    const began = performance.now();
    let last = began;
    let way = by;
    const step = (now) => {
      if (gaps.length > 0 || now > began) gaps.push(now - last);
      last = now;
      if (gaps.length > frames) return done(gaps.slice(1));
      if (view.scrollTop + way < 0 || view.scrollTop + way > view.scrollHeight - view.clientHeight) way = -way;
      view.scrollTop += way;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

/** Time from a key press to the frame after the one that shows its effect. */
export const keys = ({ key, times }) =>
  (async () => {
    const spans = [];
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let i = 0; i < times; i += 1) {
      // Key presses come at any moment of a frame.
      await new Promise((done) => setTimeout(done, 20 + ((i * 7) % 16)));
      const began = performance.now();
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      await frame();
      await new Promise((done) => setTimeout(done));
      spans.push(performance.now() - began);
    }
    return spans;
  })();

/** Time from the click on the first row to the frame that draws the newest of this many items at its index. */
export const opening = async (items) => {
  const began = performance.now();
  document.querySelector("[data-session]").click();
  while (!document.querySelector(`[data-index='${items - 1}'] .entry`)) await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - began;
};

/**
 * The same for a transcript that is not counted yet: its newest item is drawn before its index is known. Gives both
 * times.
 */
export const openingFirst = async (items) => {
  const began = performance.now();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const isNewest = (entry) => entry.textContent.trim().startsWith(`Item ${items - 1}.`);
  document.querySelector("[data-session]").click();
  while (![...document.querySelectorAll("[data-index] .what p")].some(isNewest)) await frame();
  const drawn = performance.now() - began;
  while (!document.querySelector(`[data-index='${items - 1}'] .entry`)) await frame();
  return [drawn, performance.now() - began];
};
