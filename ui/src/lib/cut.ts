// A tooltip for text that is cut off. Other text has none, because screen readers would read it twice.

/** Gives an element its whole text as its title, but only while the text does not fit. */
export function titledWhenCut(node: HTMLElement): { destroy: () => void } {
  const look = (): void => {
    node.title = node.scrollWidth > node.clientWidth ? node.innerText : "";
  };
  node.addEventListener("pointerenter", look);
  return { destroy: () => node.removeEventListener("pointerenter", look) };
}
