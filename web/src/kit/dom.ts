/** Builds elements. Text is only ever inserted as text, so markup in an item is shown as typed. */

export type Child = Node | string | null | undefined | false;

type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

function setAttribute(element: Element, name: string, value: Attributes[string]): void {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** An element with attributes (functions named "onclick" become listeners) and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** Text for screen readers only. */
export function hiddenText(text: string): HTMLElement {
  return h("span", { class: "visually-hidden" }, text);
}

/** A listener that ignores the second click of a double click: `work` must not be done twice. */
export function once(work: () => void): EventListener {
  return (event) => {
    if ((event as MouseEvent).detail < 2) work();
  };
}

/** The tree that contains an element: the page, or the shadow tree of a widget in another page. */
function treeOf(element: Node): Document | ShadowRoot {
  const tree = element.getRootNode();
  return tree instanceof ShadowRoot ? tree : document;
}

/** The focused element in the tree of `element`. */
export function focusedNear(element: Node): Element | null {
  return treeOf(element).activeElement;
}

/** Scrolls to the top of `element` if it is above the screen; otherwise nothing moves. */
export function showTop(element: Element): void {
  if (element.getBoundingClientRect().top < 0) element.scrollIntoView({ block: "start", behavior: "instant" });
}

/** Where to put a dialog that `element` opens, so that it has the same styles. */
export function layerOf(element: Node): HTMLElement | ShadowRoot {
  const tree = treeOf(element);
  return tree instanceof ShadowRoot ? tree : document.body;
}

/** The root element of the page. If it is missing, the build is broken. */
export function root(): HTMLElement {
  const element = document.getElementById("app");
  if (!element) throw new Error("the page has no element #app");
  return element;
}
