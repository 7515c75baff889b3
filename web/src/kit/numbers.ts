/** Shares as people read them; the server follows the same rules. */

/** A share in percent. Only all of it is 100 %, and only none of it is 0 %. A no-break space keeps the sign with its number. */
export function percent(share: number, digits = 0): string {
  const nearAnEnd = share > 0 && share < 1 && Math.min(share, 1 - share) < 0.01;
  const text = (100 * share).toFixed(nearAnEnd ? 1 : digits);
  if (nearAnEnd && Number(text) === 0) return "under 0.1\u00a0%";
  return nearAnEnd && Number(text) === 100 ? "over 99.9\u00a0%" : `${text}\u00a0%`;
}

/** The interval of a share. */
export function percentRange({ low, high }: { low: number; high: number }, digits = 0): string {
  return `${(100 * low).toFixed(digits)} to ${(100 * high).toFixed(digits)}\u00a0%`;
}
