/** A path as typed, with `~` at its start for the home directory, as a shell reads it; as it is where none is known. */
export function expandHome(typed: string, home: string | undefined): string {
  return home !== undefined && /^~(\/|$)/.test(typed) ? home + typed.slice(1) : typed;
}
