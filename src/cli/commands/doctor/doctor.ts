import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { withSpinner } from '../../terminal/spinner.ts';
import { plainRows } from '../../terminal/table.ts';
import { type Check, checkConfiguration, checkModels, checkService, passed, skipped } from './checks.ts';

/** Checks configuration, reachability, key, cache and terminal; fails if one of them does. */
export async function doctor(ctx: Context): Promise<ExitCode> {
  const checks = [...(await checksBeyondTerminal(ctx)), checkTerminal(ctx)];
  const failed = checks.find(({ ok }) => ok === false);
  const shown = checks.map(({ name, ok, detail, hints }) => ({ name, ok, detail, hints }));
  await present(
    ctx,
    { ok: failed === undefined, checks: shown },
    {
      terminal: () => checks.flatMap(check => linesOf(ctx, check)).join('\n'),
      plain: () => plainRows(checks.map(({ name, ok, detail }) => [name, wordFor(ok), detail])),
    },
  );
  if (!ctx.io.stdout.isTerminal) for (const hint of failed?.hints ?? []) ctx.io.note(oneLine(hint));
  return failed?.exitCode ?? EXIT.ok;
}

async function checksBeyondTerminal(ctx: Context): Promise<readonly Check[]> {
  const { check, connection } = await checkConfiguration(ctx);
  if (connection !== undefined) {
    const service = await withSpinner(ctx, 'asking the service', checkService(ctx, connection));
    if (!connection.embedded) return [check, ...service];
    return [check, ...service, ...(await withSpinner(ctx, 'asking the providers', checkModels(ctx)))];
  }
  return [check, skipped('reachability'), skipped('key'), skipped('cache')];
}

function checkTerminal({ io, interactive }: Context): Check {
  const { isTerminal, columns } = io.stdout;
  const colours = io.paint.level > 0 ? 'colours' : 'no colours';
  const questions = interactive ? 'questions are asked' : 'nothing is asked';
  return passed(
    'terminal',
    `${isTerminal ? `a terminal, ${columns} columns` : 'no terminal'}, ${colours}, ${questions}`,
  );
}

function linesOf({ io: { paint } }: Context, { name, ok, detail, hints }: Check): string[] {
  const colour = ok === null ? paint.dim : ok ? paint.green : paint.red;
  const line = `${colour(wordFor(ok).padEnd(8))}${name.padEnd(14)}${oneLine(detail)}`;
  return [line, ...hints.map(hint => `${' '.repeat(22)}${oneLine(hint)}`)];
}

function wordFor(ok: boolean | null): string {
  if (ok === null) return 'skipped';
  return ok ? 'ok' : 'failed';
}
