/** Builds elements. Text only ever enters the page as text, so markup in an item stays visible as typed. */

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

/** The tree that an element is in: the page, or that of a widget inside somebody else's page. */
function treeOf(element: Node): Document | ShadowRoot {
  const tree = element.getRootNode();
  return tree instanceof ShadowRoot ? tree : document;
}

/** What has the focus, seen from where `element` is. */
export function focusedBeside(element: Node): Element | null {
  return treeOf(element).activeElement;
}

/** Where a dialog belongs that `element` opens, so that it has the same styles. */
export function layerOf(element: Node): HTMLElement | ShadowRoot {
  const tree = treeOf(element);
  return tree instanceof ShadowRoot ? tree : document.body;
}

/** The page's root; a page without one is a broken build. */
export function root(): HTMLElement {
  const element = document.getElementById("app");
  if (!element) throw new Error("the page has no element #app");
  return element;
}
