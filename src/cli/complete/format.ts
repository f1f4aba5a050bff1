import { oneLine } from '../outputs/sanitise.ts';
import type { Candidate } from './candidate.ts';
import type { BashLine, Quote } from './line.ts';

/**
 * What bash puts in place of the part of the word that it replaces: quoted, so that nothing in it can be run or
 * expanded; a space follows the only candidate where the word ends with it.
 */
export function forBash(candidates: readonly Candidate[], line: BashLine): string[] {
  const [only, another] = candidates;
  if (only !== undefined && another === undefined && !only.goesOn && line.quote === '') {
    return [`${bashText(only, line)} `];
  }
  return candidates.map(candidate => bashText(candidate, line));
}

/** For shells that quote by themselves what they insert: value and description. */
export function forFish(candidates: readonly Candidate[]): string[] {
  return candidates.map(({ value, description = '' }) => `${value}\t${oneLine(description)}`);
}

/** As for fish, with a first field that tells whether a space may follow. */
export function forZsh(candidates: readonly Candidate[]): string[] {
  return candidates.map(
    candidate => `${candidate.goesOn ? 'open' : 'done'}\t${forFish([candidate])[0] ?? ''}`,
  );
}

/** What PowerShell inserts, what it lists, and what it says of it; it wants none of them empty. */
export function forPowerShell(candidates: readonly Candidate[]): string[] {
  return candidates.map(({ value, description }) =>
    [powerShellWord(value), value, oneLine(description ?? '') || value].join('\t'),
  );
}

function bashText({ value }: Candidate, { kept, quote }: BashLine): string {
  const tilde = kept === 0 && quote === '' && value.startsWith('~/') ? '~' : '';
  return tilde + bashQuoted(value.slice(kept + tilde.length), quote);
}

function bashQuoted(text: string, quote: Quote): string {
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`);
  // Nothing but other quotes keeps the history from being looked up within these.
  if (quote === '"') return text.replace(/["$`\\]/gu, String.raw`\$&`).replaceAll('!', `"'!'"`);
  return text.replace(/[^\w@%+=:,./\u0080-\u{10ffff}-]/gu, String.raw`\$&`);
}

/** PowerShell takes typographic quotes for quotes as well. */
function powerShellWord(value: string): string {
  if (/^[\w./:=+-]+$/u.test(value)) return value;
  return `'${value.replace(/['\u2018-\u201b]/gu, '$&$&')}'`;
}
