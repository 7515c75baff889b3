/** Numbers and times as the dashboard shows them. */

export function decimal(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

export function seconds(value: number | null): string {
  return value === null ? "–" : `${value.toFixed(1)} s`;
}

/** Minutes in the largest sensible unit. */
export function duration(minutes: number): string {
  if (minutes < 1) return `${Math.round(60 * minutes)} s`;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`;
}

export function clockTime(utc: string | null): string {
  if (!utc) return "–";
  const time = new Date(utc);
  const today = time.toDateString() === new Date().toDateString();
  return today ? `today ${time.toLocaleTimeString([], { timeStyle: "short" })}` : time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
