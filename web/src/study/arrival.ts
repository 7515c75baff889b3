/** Who has opened a study, by its link. */

/** The participant that the link names; null if it names none, so that only the cookie can tell. */
export function arrival(search: string): Record<string, string> | null {
  const given = new URLSearchParams(search);
  const names = { PROLIFIC_PID: "prolific_pid", STUDY_ID: "study_id", SESSION_ID: "session_id", participant: "participant", signature: "signature" };
  const body: Record<string, string> = {};
  for (const [parameter, name] of Object.entries(names)) {
    const value = given.get(parameter);
    if (value) body[name] = value;
  }
  return body.prolific_pid || body.participant ? body : null;
}
