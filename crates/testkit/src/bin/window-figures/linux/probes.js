// Measurements inside the page. Each probe is self-contained: its source text is sent to the page.

/** Scrolls an element by this many pixels a frame, up and down. Resolves to the times between frames. */
const scrolling = ({ selector, by, frames }) =>
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
const keys = ({ key, times }) =>
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
const opening = async (items) => {
  const began = performance.now();
  document.querySelector("[data-session]").click();
  while (!document.querySelector(`[data-index='${items - 1}'] .entry`)) await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - began;
};

/**
 * The same for a transcript that is not counted yet: its newest item is drawn before its index is known. Gives both
 * times.
 */
const openingFirst = async (items) => {
  const began = performance.now();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const isNewest = (entry) => entry.textContent.trim().startsWith(`Item ${items - 1}.`);
  document.querySelector("[data-session]").click();
  while (![...document.querySelectorAll("[data-index] .what p")].some(isNewest)) await frame();
  const drawn = performance.now() - began;
  while (!document.querySelector(`[data-index='${items - 1}'] .entry`)) await frame();
  return [drawn, performance.now() - began];
};

/** Runs something right after the frame that is being drawn. */
const afterFrame = (act) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => act();
  channel.port2.postMessage(0);
};

/**
 * Watches an element, and calls `changed` with its text at each change. What that gives is called after the frame that draws the
 * change: a change inside of a frame is drawn by that frame, any other by the next one. Returns what ends it.
 */
const watchDrawn = (element, afterFrame, changed) => {
  let framing = false;
  let over = false;
  const observer = new MutationObserver(() => {
    const drawn = changed(element.textContent);
    if (drawn === undefined) return;
    if (framing) afterFrame(drawn);
    else requestAnimationFrame(() => afterFrame(drawn));
  });
  observer.observe(element, { childList: true, subtree: true, characterData: true });
  // Asked for during the frame before, so it is the first of each frame.
  const frame = () => {
    if (over) return;
    requestAnimationFrame(frame);
    framing = true;
    afterFrame(() => (framing = false));
  };
  requestAnimationFrame(frame);
  return () => {
    over = true;
    observer.disconnect();
  };
};

/** Times from the writing of stamps ("=milliseconds since 1970=") to the end of the frame that draws them, at the end of an element's text. */
const stamped = ({ selector, count }) =>
  new Promise((done) => {
    const spans = [];
    let newest = performance.timeOrigin + performance.now();
    const end = watchDrawn(document.querySelector(selector), afterFrame, (text) => {
      const found = [...text.slice(-400).matchAll(/=(\d+\.\d+)=/g)].map(([, at]) => Number(at)).filter((at) => at > newest);
      if (found.length === 0) return undefined;
      newest = Math.max(...found);
      return () => {
        const now = performance.timeOrigin + performance.now();
        spans.push(...found.map((at) => now - at));
        if (spans.length < count) return;
        end();
        done(spans);
      };
    });
  });

/** Lets time pass. Gives the times between frames, and how often an element changed a second. */
const steady = ({ selector, seconds }) =>
  new Promise((done) => {
    const gaps = [];
    let changes = 0;
    const observer = new MutationObserver(() => (changes += 1));
    observer.observe(document.querySelector(selector), { childList: true, subtree: true, characterData: true });
    const began = performance.now();
    let last = began;
    const frame = (now) => {
      gaps.push(now - last);
      last = now;
      if (now - began < seconds * 1000) return requestAnimationFrame(frame);
      observer.disconnect();
      done([changes / seconds, ...gaps.slice(1)]);
    };
    requestAnimationFrame(frame);
  });

/** Sends prompts from the box, with Enter. Gives the times of the key presses, in milliseconds since 1970. */
const prompting = ({ words, times }) =>
  (async () => {
    const pressed = [];
    const field = document.querySelector("textarea[aria-label=Prompt]");
    const put = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
    for (let i = 0; i < times; i += 1) {
      // The turn before is over by then.
      await new Promise((done) => setTimeout(done, 150 + ((i * 7) % 16)));
      put.call(field, `${words} ${i}`);
      field.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((done) => setTimeout(done, 50));
      pressed.push(performance.timeOrigin + performance.now());
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    }
    return pressed;
  })();

/** Times from the click on the tab of the terminal to the end of the frame that draws this text in it. */
const attaching = async ({ text, times }) => {
  const spans = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const tab = (name) => [...document.querySelectorAll("[role=tab]")].find((one) => one.textContent.includes(name)).click();
  for (let i = 0; i < times; i += 1) {
    tab("Timeline");
    while (document.querySelector(".xterm-rows")) await frame();
    await new Promise((done) => setTimeout(done, 300));
    const began = performance.now();
    tab("Terminal");
    while (!document.querySelector(".xterm-rows")?.textContent.includes(text)) await frame();
    await new Promise((done) => afterFrame(done));
    spans.push(performance.now() - began);
  }
  return spans;
};
