import type { Context } from '../context.ts';
import type { CommandTable, Completes } from '../core/command-spec.ts';
import { visible } from '../terminal/sanitise.ts';
import { Known } from './cached-facts.ts';
import { type Call, flagWithValue, isFlag, readCall } from './call.ts';
import type { Candidate } from './files.ts';
import type { Line } from './line.ts';
import { anyOf, commandNames, flagNames, SOURCES, type Source } from './sources.ts';

/** Everything the word under the cursor may become. A source that can't be read gives nothing. */
export async function candidatesFor(
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
  return (all[operands.length] ?? repeated)?.[2];
}

function sourceOf(completes: Completes | undefined): Source {
  if (completes === undefined) return () => [];
  if (typeof completes === 'string') return SOURCES[completes];
  return () => completes.map(value => ({ value }));
}

/** The context with the flags of the line that is completed, which choose the service. */
function withFlags(ctx: Context, { given }: Call): Context {
  const last = (flag: string): string | undefined => given.get(flag)?.at(-1);
  const [profile, baseUrl] = [last('--profile'), last('--base-url')];
  return {
    ...ctx,
    globals: {
      ...ctx.globals,
      ...(profile !== undefined && { profile }),
      ...(baseUrl !== undefined && { baseUrl }),
      insecureHttp: given.has('--insecure-http'),
      allowOutside: false,
    },
  };
}

/** What holds a control character can't be typed, and would break the lines the shells read. */
function isTypeable(value: string): boolean {
  return !/[\t\n]/u.test(value) && visible(value) === value;
}
