import type { Context } from '../context.ts';
import type { CommandTable, CompletionSource } from '../core/command-spec.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { escapeControls, escapeNonAscii, toOneLine } from '../terminal/sanitise.ts';
import { CachedFacts } from './cached-facts.ts';
import {
  CANDIDATE_SOURCES,
  type Candidate,
  type CandidateSource,
  combineSources,
  type SourceRequest,
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

/** Matches an ASCII character that bash may treat specially outside quotes, such as a space or `$`. */
const BASH_SPECIAL = /[^\w@%+=:,./\u0080-\u{10ffff}-]/gu;

/** Returns the code of `__complete <shell> -- …`, which the completion scripts call. */
export function createCompleteAction(table: CommandTable) {
  return async (ctx: Context, shell: string, words: readonly string[]): Promise<ExitCode> => {
    const complete: Completer = line => collectCandidates(ctx, table, line);
    const lines = await completeForShell(shell, words, complete).catch(() => []);
    await ctx.io.out(lines.map(line => `${line}\n`).join(''));
    return EXIT.ok;
  };
}

/** Returns the candidates for the word under the cursor. */
type Completer = (line: ShellLine) => Promise<Candidate[]>;

/**
 * Completes a command line for a shell's script.
 *
 * @param words the command line, in the form of that script
 * @returns the lines that the script reads
 */
export async function completeForShell(
  shell: string,
  words: readonly string[],
  complete: Completer,
): Promise<string[]> {
  switch (shell) {
    case 'bash': {
      const line = parseBashLine(words[0] ?? '', words[1] ?? '');
      return formatForBash(await complete(line), line);
    }
    case 'zsh':
      return formatForZsh(await complete(toShellLine(words)));
    case 'fish':
      // Only the word under the cursor still has its quotes.
      return formatForFish(
        await complete(toShellLine([...words.slice(0, -1), unquoteWord(words.at(-1) ?? '')])),
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
  const values = candidates.map(candidate => formatBashCandidate(candidate, line));
  const [onlyCandidate, ...others] = candidates;
  const endsWord = others.length === 0 && onlyCandidate?.isPartial !== true && line.quote === '';
  return endsWord ? values.map(value => `${value} `) : values;
}

/** Returns lines with value and description, for fish, which quotes values itself. */
function formatForFish(candidates: readonly Candidate[]): string[] {
  return candidates.map(formatDescribedValue);
}

/** Returns lines as for fish, with a first field that says if a space may follow. */
function formatForZsh(candidates: readonly Candidate[]): string[] {
  return candidates.map(
    candidate => `${candidate.isPartial ? 'open' : 'done'}\t${formatDescribedValue(candidate)}`,
  );
}

function formatDescribedValue({ value, description = '' }: Candidate): string {
  return `${value}\t${toOneLine(description)}`;
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

function formatBashCandidate({ value }: Candidate, { keptLength, quote }: BashLine): string {
  const tilde = keptLength === 0 && quote === '' && value.startsWith('~/') ? '~' : '';
  return tilde + quoteForBash(value.slice(keptLength + tilde.length), quote);
}

function quoteForBash(text: string, quote: QuoteMark): string {
  if (quote === "'") return text.replaceAll("'", String.raw`'\''`);
  // Within double quotes, only other quotes prevent history expansion.
  if (quote === '"') return text.replace(/["$`\\]/gu, String.raw`\$&`).replaceAll('!', `"'!'"`);
  return text.replace(BASH_SPECIAL, String.raw`\$&`);
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
  const typedCommand = readTypedCommand(table, words);
  if (typedCommand === undefined) return [];

  const { source, prefix } = chooseSource(typedCommand, current);
  const typedPart = current.slice(prefix.length);
  const lineCtx = withLineFlags(ctx, typedCommand);
  const facts = new CachedFacts(lineCtx);
  const request: SourceRequest = { ctx: lineCtx, typedCommand, table, facts, typedPart };
  const candidates = await Promise.resolve(request)
    .then(source)
    .catch(() => []);

  return candidates
    .filter(({ value }) => value.startsWith(typedPart) && isTypeable(value))
    .map(candidate => ({ ...candidate, value: prefix + candidate.value }));
}

/** Returns the source of candidates, and the part of the word before them. */
function chooseSource(
  typedCommand: TypedCommand,
  currentWord: string,
): { readonly source: CandidateSource; readonly prefix: string } {
  if (typedCommand.openFlag !== undefined) {
    return { source: getCandidateSource(typedCommand.openFlag.completes), prefix: '' };
  }
  if (isFlag(currentWord) && !typedCommand.hasEndedFlags) {
    const flagWithValue = findFlagWithValue(currentWord, typedCommand.flags);
    if (flagWithValue === undefined) return { source: suggestFlags, prefix: '' };
    return {
      source: getCandidateSource(flagWithValue.flag.completes),
      prefix: flagWithValue.prefix,
    };
  }
  return {
    source: combineSources(suggestCommands, getCandidateSource(findNextArgument(typedCommand))),
    prefix: '',
  };
}

/** Returns the kind of the next argument; a repeatable last one applies to all that follow. */
function findNextArgument({ command, operands }: TypedCommand): CompletionSource | undefined {
  const argumentSpecs = command?.arguments ?? [];
  const lastSpec = argumentSpecs.at(-1);
  const isLastRepeatable = lastSpec?.[0].includes('...') === true;
  const nextSpec = argumentSpecs[operands.length] ?? (isLastRepeatable ? lastSpec : undefined);
  if (nextSpec === undefined) return undefined;

  const [usage, , traits] = nextSpec;
  return findCompletionKind(usage, traits?.completes);
}

function getCandidateSource(source: CompletionSource | undefined): CandidateSource {
  if (source === undefined) return () => [];
  if (typeof source === 'string') return CANDIDATE_SOURCES[source];
  return () => source.map(value => ({ value }));
}

/** Returns the context with the flags of the completed line, which choose the service. */
function withLineFlags(ctx: Context, { flagValues }: TypedCommand): Context {
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
