import type { Context } from '../context.ts';
import type { CommandTable, Completes } from '../core/command-spec.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { oneLine, visible } from '../terminal/sanitise.ts';
import { Known } from './cached-facts.ts';
import { type Call, completesOf, flagWithValue, isFlag, readCall } from './call.ts';
import { type BashLine, type Line, parseBashLine, type Quote, unquoted } from './line.ts';
import { anyOf, type Candidate, commandNames, flagNames, SOURCES, type Source } from './sources.ts';

/** What the completion scripts call: `__complete <shell> -- …`. */
export function completeFrom(table: CommandTable) {
  return async (ctx: Context, shell: string, words: readonly string[]): Promise<ExitCode> => {
    const complete = (line: Line): Promise<Candidate[]> => candidatesFor(ctx, table, line);
    const lines = await completionLines(shell, words, complete).catch(() => []);
    await ctx.io.out(lines.map(line => `${line}\n`).join(''));
    return EXIT.ok;
  };
}

type Complete = (line: Line) => Promise<Candidate[]>;

/** What a shell's script gets; each script hands over its line in the way its shell has it. */
export async function completionLines(
  shell: string,
  words: readonly string[],
  complete: Complete,
): Promise<string[]> {
  switch (shell) {
    case 'bash': {
      const line = parseBashLine(words[0] ?? '', words[1] ?? '');
      return forBash(await complete(line), line);
    }
    case 'zsh':
      return forZsh(await complete(lastIsCurrent(words)));
    case 'fish':
      return forFish(
        await complete(
          lastIsCurrent(words.map((word, at) => (at < words.length - 1 ? word : unquoted(word)))),
        ),
      );
    case 'powershell':
      return forPowerShell(await complete(lastIsCurrent(decoded(words[0] ?? ''))));
    default:
      return [];
  }
}

function lastIsCurrent(words: readonly string[]): Line {
  return { words: words.slice(0, -1), current: words.at(-1) ?? '' };
}

/** Base64 of a JSON list: Windows PowerShell loses quotes and empty words among a program's arguments. */
function decoded(text: string): string[] {
  const words: unknown = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  return Array.isArray(words) ? words.filter(word => typeof word === 'string') : [];
}

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

/** As for fish, with a first field that says whether a space may follow. */
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

/** Everything the word under the cursor may become. A source that can't be read gives nothing. */
async function candidatesFor(
  ctx: Context,
  table: CommandTable,
  { words, current }: Line,
): Promise<Candidate[]> {
  const call = readCall(table, words);
  if (call === undefined) return [];
  const { source, prefix } = sourceFor(call, current);
  const typed = current.slice(prefix.length);
  const lineCtx = withFlags(ctx, call);
  const candidates = await Promise.resolve({ ctx: lineCtx, call, table, known: new Known(lineCtx), typed })
    .then(source)
    .catch(() => []);
  return candidates
    .filter(({ value }) => value.startsWith(typed) && isTypeable(value))
    .map(candidate => ({ ...candidate, value: prefix + candidate.value }));
}

/** Where candidates come from, and what of the word stands before them. */
function sourceFor(call: Call, current: string): { readonly source: Source; readonly prefix: string } {
  if (call.open !== undefined) return { source: sourceOf(call.open.completes), prefix: '' };
  if (isFlag(current) && !call.onlyOperands) {
    const carried = flagWithValue(current, call.flags);
    if (carried === undefined) return { source: flagNames, prefix: '' };
    return { source: sourceOf(carried.flag.completes), prefix: carried.prefix };
  }
  return { source: anyOf(commandNames, sourceOf(argumentOf(call))), prefix: '' };
}

/** What the next argument may be; the last one goes for all that follow if it repeats. */
function argumentOf({ command, operands }: Call): Completes | undefined {
  const all = command?.arguments ?? [];
  const last = all.at(-1);
  const repeated = last?.[0].includes('...') === true ? last : undefined;
  const [usage = '', , completes] = all[operands.length] ?? repeated ?? [];
  return completesOf(usage, completes);
}

function sourceOf(completes: Completes | undefined): Source {
  if (completes === undefined) return () => [];
  if (typeof completes === 'string') return SOURCES[completes];
  return () => completes.map(value => ({ value }));
}

/** The context with the flags of the line that is completed, which choose the service. */
function withFlags(ctx: Context, { flagValues }: Call): Context {
  const last = (flag: string): string | undefined => flagValues.get(flag)?.at(-1);
  const [profile, baseUrl] = [last('--profile'), last('--base-url')];
  return {
    ...ctx,
    globals: {
      ...ctx.globals,
      ...(profile !== undefined && { profile }),
      ...(baseUrl !== undefined && { baseUrl }),
      insecureHttp: flagValues.has('--insecure-http'),
      allowOutside: false,
      allowPrivate: false,
    },
  };
}

/** What holds a control character can't be typed, and would break the lines the shells read. */
function isTypeable(value: string): boolean {
  return !/[\t\n]/u.test(value) && visible(value) === value;
}
