/** Dragging rows by their handle, for mouse, pen and touch alike; the rest of a row still scrolls the page. */

import Sortable from "sortablejs";

const ANIMATION_MS = 120;

export function makeDraggable(list: HTMLElement, onDrop: (from: number, to: number) => void): () => void {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const sortable = Sortable.create(list, {
    handle: ".handle",
    draggable: ".row",
    animation: still ? 0 : ANIMATION_MS,
    // The same code path for every device; the browser's own drag and drop knows no touch.
    forceFallback: true,
    fallbackTolerance: 3,
    ghostClass: "ghost",
    fallbackClass: "dragged",
    onEnd: ({ oldDraggableIndex: from, newDraggableIndex: to }) => {
      if (from !== undefined && to !== undefined && from !== to) onDrop(from, to);
    },
  });
  return () => sortable.destroy();
}
