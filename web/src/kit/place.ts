/** Where this project is served: a server of several has each under an address of its own, /p/NAME. */

/** What stands before every address of the project; empty where the server has only one. */
export const PLACE = /^\/p\/[^/]+/.exec(location.pathname)?.[0] ?? "";

/** A path of the project as an address on this server; a whole address stays what it is. */
export function at(path: string): string {
  return path.startsWith("/") ? PLACE + path : path;
}
