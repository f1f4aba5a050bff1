/** What a service sent for a field, as text, whatever it sent; nothing for null and what is missing. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
