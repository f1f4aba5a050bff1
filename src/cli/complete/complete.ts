import type { Context } from '../context.ts';
import type { CommandTable, CompletionSource } from '../core/command-spec.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { escapeControls, escapeNonAscii, toOneLine } from '../terminal/sanitise.ts';
import { CachedFacts } from './cached-facts.ts';
import {
  type Candidate,
  type CandidateSource,
  combineSources,
  SOURCES,
  suggestCommands,
  suggestFlags,
} from './candidate-sources.ts';
import {
  type BashLine,
  parseBashLine,
  type QuoteMark,
  type ShellLine,
  unquoteWord,
} from './shell-line.ts';
import {
  findCompletionKind,
  findFlagWithValue,
  isFlag,
  readTypedCommand,
  type TypedCommand,
} from './typed-command.ts';

/** Returns the code of `__complete <shell> -- …`, which the completion scripts call. */
export function completeFrom(table: CommandTable) {
  return async (ctx: Context, shell: string, words: readonly string[]): Promise<ExitCode> => {
    const complete = (line: ShellLine): Promise<Candidate[]> => collectCandidates(ctx, table, line);
    const lines = await buildCompletionLines(shell, words, complete).catch(() => []);
    await ctx.io.out(lines.map(line => `${line}\n`).join(''));
    return EXIT.ok;
  };
}

type CompleteLine = (line: ShellLine) => Promise<Candidate[]>;

/** Returns the lines for a shell's script; each script passes its line in its shell's own form. */
export async function buildCompletionLines(
  shell: string,
  words: readonly string[],
  complete: CompleteLine,
): Promise<string[]> {
  switch (shell) {
    case 'bash': {
      const line = parseBashLine(words[0] ?? '', words[1] ?? '');
      return formatForBash(await complete(line), line);
    }
    case 'zsh':
      return formatForZsh(await complete(toShellLine(words)));
    case 'fish':
      return formatForFish(
        await complete(
          toShellLine(
            words.map((word, index) => (index < words.length - 1 ? word : unquoteWord(word))),
          ),
        ),
      );
    case 'powershell':
      return formatForPowerShell(await complete(toShellLine(decodeWords(words[0] ?? ''))));
    default:
      return [];
  }
}

function toShellLine(words: readonly string[]): ShellLine {
  return { words: words.slice(0, -1), current: words.at(-1) ?? '' };
}

/**
 * Decodes a JSON list in Base64, because Windows PowerShell loses quotes and empty words in a
 * program's arguments.
 */
function decodeWords(text: string): string[] {
  const words: unknown = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  return Array.isArray(words) ? words.filter(word => typeof word === 'string') : [];
}

/**
 * Returns the replacements for a part of a word in bash, quoted, so that bash runs and expands
 * nothing in them. A space follows a single candidate that ends the word.
 */
function formatForBash(candidates: readonly Candidate[], line: BashLine): string[] {
  const [only, another] = candidates;
  if (only !== undefined && another === undefined && !only.isPartial && line.quote === '') {
    return [`${formatBashCandidate(only, line)} `];
  }
  return candidates.map(candidate => formatBashCandidate(candidate, line));
}

/** Returns lines with value and description, for fish, which quotes values itself. */
function formatForFish(candidates: readonly Candidate[]): string[] {
  return candidates.map(({ value, description = '' }) => `${value}\t${toOneLine(description)}`);
}

/** Returns lines as for fish, with a first field that says if a space may follow. */
function formatForZsh(candidates: readonly Candidate[]): string[] {
  return candidates.map(
    candidate => `${candidate.isPartial ? 'open' : 'done'}\t${formatForFish([candidate])[0] ?? ''}`,
  );
}

/**
 * Returns JSON lists with PowerShell's inserted text, list text and description, none of them
 * empty. They are ASCII, because PowerShell decodes the output of a program with the console's code
 * page.
 */
function formatForPowerShell(candidates: readonly Candidate[]): string[] {
  return candidates.map(({ value, description }) =>
    escapeNonAscii(
      JSON.stringify([quoteForPowerShell(value), value, toOneLine(description ?? '') || value]),
    ),
  );
}

function formatBashCandidate({ value }: Candidate, { kept, quote }: BashLine): string {
  const tilde = kept === 0 && quote === '' && value.startsWith('~/') ? '~' : '';
  return tilde + quoteForBash(value.slice(kept + tilde.length), quote);
}

function quoteForBash(text: string, quote: QuoteMark): string {
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`);
  // Within double quotes, only other quotes prevent history expansion.
  if (quote === '"') return text.replace(/["$`\\]/gu, String.raw`\$&`).replaceAll('!', `"'!'"`);
  return text.replace(/[^\w@%+=:,./\u0080-\u{10ffff}-]/gu, String.raw`\$&`);
}

/** Quotes a word for PowerShell, which also accepts typographic quotes as quotes. */
function quoteForPowerShell(value: string): string {
  if (/^[\w./\\:=+-]+$/u.test(value)) return value;
  return `'${value.replace(/['\u2018-\u201b]/gu, '$&$&')}'`;
}

/**
 * Returns all completions of the word under the cursor. A source that can't be read contributes
 * nothing.
 */
async function collectCandidates(
  ctx: Context,
  table: CommandTable,
  { words, current }: ShellLine,
): Promise<Candidate[]> {
  const call = readTypedCommand(table, words);
  if (call === undefined) return [];

  const { source, prefix } = chooseSource(call, current);
  const typedPart = current.slice(prefix.length);
  const lineCtx = withFlags(ctx, call);
  const candidates = await Promise.resolve({
    ctx: lineCtx,
    call,
    table,
    known: new CachedFacts(lineCtx),
    typed: typedPart,
  })
    .then(source)
    .catch(() => []);

  return candidates
    .filter(({ value }) => value.startsWith(typedPart) && isTypeable(value))
    .map(candidate => ({ ...candidate, value: prefix + candidate.value }));
}

/** Returns the source of candidates, and the part of the word before them. */
function chooseSource(
  call: TypedCommand,
  currentWord: string,
): { readonly source: CandidateSource; readonly prefix: string } {
  if (call.open !== undefined) {
    return { source: getCandidateSource(call.open.completes), prefix: '' };
  }
  if (isFlag(currentWord) && !call.onlyOperands) {
    const carried = findFlagWithValue(currentWord, call.flags);
    if (carried === undefined) return { source: suggestFlags, prefix: '' };
    return { source: getCandidateSource(carried.flag.completes), prefix: carried.prefix };
  }
  return {
    source: combineSources(suggestCommands, getCandidateSource(findNextArgument(call))),
    prefix: '',
  };
}

/** Returns the kind of the next argument; a repeatable last one applies to all that follow. */
function findNextArgument({ command, operands }: TypedCommand): CompletionSource | undefined {
  const all = command?.arguments ?? [];
  const last = all.at(-1);
  const repeated = last?.[0].includes('...') === true ? last : undefined;
  const [usage = '', , completes] = all[operands.length] ?? repeated ?? [];
  return findCompletionKind(usage, completes);
}

function getCandidateSource(completes: CompletionSource | undefined): CandidateSource {
  if (completes === undefined) return () => [];
  if (typeof completes === 'string') return SOURCES[completes];
  return () => completes.map(value => ({ value }));
}

/** Returns the context with the flags of the completed line, which choose the service. */
function withFlags(ctx: Context, { flagValues }: TypedCommand): Context {
  const findLastValue = (flag: string): string | undefined => flagValues.get(flag)?.at(-1);
  const [profile, baseUrl] = [findLastValue('--profile'), findLastValue('--base-url')];
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

/**
 * Returns false for values with control characters: they can't be typed, and would break the lines
 * for the shells.
 */
function isTypeable(value: string): boolean {
  return !/[\t\n]/u.test(value) && escapeControls(value) === value;
}
