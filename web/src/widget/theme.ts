/** Light or dark, like the notebook around the widget. */

const LIGHTEST = 255;

/** The first background colour that is not transparent, from the element outwards; "" if there is none. */
function ground(element: Element): string {
  for (let at: Element | null = element; at; at = at.parentElement ?? hostOf(at)) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour && colour !== "transparent" && !colour.endsWith(", 0)")) return colour;
  }
  return "";
}

function hostOf(element: Element): Element | null {
  const tree = element.getRootNode();
  return tree instanceof ShadowRoot ? tree.host : null;
}

/** Whether a computed colour is dark; null if the text is not a colour. */
export function isDark(colour: string): boolean | null {
  const parts = colour.match(/[\d.]+/g)?.slice(0, 3).map(Number);
  if (!parts || parts.length < 3) return null;
  const scale = colour.startsWith("color(") ? LIGHTEST : 1;
  const [red, green, blue] = parts.map((part) => part * scale) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < LIGHTEST / 2;
}

/** Gives the element the theme of the page around it, until the result is called. Without a background, the system's theme is used. */
export function followTheme(host: HTMLElement): () => void {
  const follow = (): void => {
    const dark = isDark(ground(host.parentElement ?? document.body));
    if (dark === null) delete host.dataset.theme;
    else host.dataset.theme = dark ? "dark" : "light";
  };
  const watching = new MutationObserver(() => requestAnimationFrame(follow));
  for (const page of [document.documentElement, document.body]) watching.observe(page, { attributes: true });
  requestAnimationFrame(follow);
  return () => watching.disconnect();
}
