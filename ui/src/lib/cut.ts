// What is cut off shows under the pointer, as its title; what is not has none, since screen readers would say it twice.

/** Gives an element its whole text as a title for as long as that does not fit. */
export function titledWhenCut(node: HTMLElement): { destroy: () => void } {
  const look = (): void => {
    node.title = node.scrollWidth > node.clientWidth ? node.innerText : "";
  };
  node.addEventListener("pointerenter", look);
  return { destroy: () => node.removeEventListener("pointerenter", look) };
}
