/** Dragging rows: anywhere on the row with a mouse or pen; by the handle on touch screens, so that the rest of the row still scrolls the page. */

import Sortable from "sortablejs";

const ANIMATION_MS = 120;
const OWN_CLICKS = ".step, .level, .zoom";

/** Whether a press at `event` is not the start of a drag. */
export function leftAlone(event: Event): boolean {
  const target = event.target instanceof Element ? event.target : null;
  const touch = "touches" in event || (event as PointerEvent).pointerType === "touch";
  return touch ? !target?.closest(".handle") : Boolean(target?.closest(OWN_CLICKS));
}

export function makeDraggable(list: HTMLElement, onDrop: (from: number, to: number) => void): () => void {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  // Releasing a dragged row also fires a click on it, which must not pick the row up.
  const swallow = (event: Event): void => {
    event.stopPropagation();
    event.preventDefault();
  };
  const sortable = Sortable.create(list, {
    filter: leftAlone,
    preventOnFilter: false,
    draggable: ".row",
    animation: still ? 0 : ANIMATION_MS,
    // Use the same code for every device: the browser's own drag and drop does not support touch.
    forceFallback: true,
    fallbackTolerance: 3,
    ghostClass: "ghost",
    fallbackClass: "dragged",
    onStart: () => list.addEventListener("click", swallow, { capture: true }),
    onEnd: ({ oldDraggableIndex: from, newDraggableIndex: to }) => {
      setTimeout(() => list.removeEventListener("click", swallow, { capture: true }));
      if (from !== undefined && to !== undefined && from !== to) onDrop(from, to);
    },
  });
  return () => sortable.destroy();
}
