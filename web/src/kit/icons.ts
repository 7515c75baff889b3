/** Line icons, included here so that no file has to be fetched before a card is shown. */

const PATHS = {
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  updown: "M8 9l4-4 4 4M8 15l4 4 4-4",
  backspace: "M21 5H9l-6 7 6 7h12zM12 9.5l5 5M17 9.5l-5 5",
  undo: "M9 14l-5-5 5-5M4 9h9a6 6 0 0 1 0 12h-3",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cloud: "M4 4l16 16M9.5 6.2A6 6 0 0 1 18 10.5a4 4 0 0 1 2.2 6.8M16.5 19H7a4.5 4.5 0 0 1-.8-8.9",
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M6 6L4.6 4.6M19.4 19.4L18 18M18 6l1.4-1.4M4.6 19.4L6 18M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  help: "M9.2 9.2a3 3 0 1 1 4.3 2.7c-.9.5-1.5 1.1-1.5 2.1M12 17.5v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  level: "M6 9h12M6 15h12",
  grip: "M9 6v.01M15 6v.01M9 12v.01M15 12v.01M9 18v.01M15 18v.01",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  chart: "M4 20V4M4 20h16M8 16l4-5 3 3 5-7",
  card: "M5 5h14v14H5zM9 10h6M9 14h4",
  wait: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  zoom: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5M8.5 11h5M11 8.5v5",
  close: "M6 6l12 12M18 6L6 18",
  comment: "M4 5h16v11H10l-4 4v-4H4z",
  flag: "M6 21V4M6 4h11l-2 4 2 4H6",
  alert: "M12 8v5M12 16.5v.01M12 3.5L2.5 20h19z",
} as const;

export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";

/** A decorative icon; the control around it has the text. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
