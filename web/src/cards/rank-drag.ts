/** Dragging rows: by their whole body with mouse or pen; by their handle on touch, so that the rest of a row still scrolls the page. */

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
  // Letting go of a dragged row is a click on it as well; it must not pick the row up.
  const swallow = (event: Event): void => {
    event.stopPropagation();
    event.preventDefault();
  };
  const sortable = Sortable.create(list, {
    filter: leftAlone,
    preventOnFilter: false,
    draggable: ".row",
    animation: still ? 0 : ANIMATION_MS,
    // The same code path for every device; the browser's own drag and drop knows no touch.
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
