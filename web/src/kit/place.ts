/** Where this project is served: a server of several projects has each at its own address, /p/NAME. */

/** The prefix of every address of the project; empty if the server has only one project. */
export const PLACE = /^\/p\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** The address of one of the project's paths on this server; a full address is returned unchanged. */
export function at(path: string): string {
  return path.startsWith("/") ? PLACE + path : path;
}
