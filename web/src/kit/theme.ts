/** The theme: light, dark, or that of the system. */

import { h, hiddenText } from "./dom";
import { icon, type IconName } from "./icons";
import { kept } from "./storage";

type Theme = "auto" | "light" | "dark";

const STORAGE_KEY = "tellmore.theme";
const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
const ICONS: Record<Theme, IconName> = { auto: "auto", light: "sun", dark: "moon" };
const LABELS: Record<Theme, string> = { auto: "same as the system", light: "light", dark: "dark" };

function stored(): Theme {
  const value = kept.getItem(STORAGE_KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

export function applyTheme(theme: Theme = stored()): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("tellmore:theme"));
}

/** A button that steps through the themes and remembers the choice in this browser. */
export function themeButton(): HTMLButtonElement {
  const button = h("button", { type: "button", class: "icon-button" });
  const show = (theme: Theme): void => {
    button.replaceChildren(icon(ICONS[theme]), hiddenText(`Theme: ${LABELS[theme]}`));
    button.title = `Theme: ${LABELS[theme]}`;
  };
  button.addEventListener("click", () => {
    const theme = NEXT[stored()];
    kept.setItem(STORAGE_KEY, theme);
    applyTheme(theme);
    show(theme);
  });
  show(stored());
  return button;
}
