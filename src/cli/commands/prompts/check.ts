import path from 'node:path';
import type { Finding } from '../../../prompts/findings.ts';
import type { LocalStore } from '../../../service/local-store.ts';
import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { usageError } from '../../errors.ts';
import { shownPath, withLocalStore } from '../../inputs/prompt-file.ts';
import { fileFault } from '../../inputs/read-text.ts';
import { toJson } from '../../outputs/json.ts';
import { present } from '../../outputs/present.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import { FRONT_MATTER_SCHEMA } from './front-matter-schema.ts';

interface CheckFlags {
  readonly models?: boolean;
  readonly printSchema?: boolean;
}

/** Shows every fault and every note of prompt files. */
export async function promptsCheck(
  ctx: Context,
  files: readonly string[],
  { models = false, printSchema = false }: CheckFlags,
): Promise<void> {
  if (printSchema) {
    await ctx.io.out(`${toJson(FRONT_MATTER_SCHEMA, false)}\n`);
    return;
  }
  if (files.length === 0) throw usageError('give prompt files, or --print-schema');
  const findings = await findingsOf(ctx, files, models);
  await present(ctx, findings, { plain: () => lines(ctx, findings) });
  const faults = findings.filter(({ severity }) => severity === 'fault');
  if (faults.length > 0) throw faulty(faults);
  if (findings.length === 0) ctx.io.note(`note: no fault in ${counted(files.length, 'file')}`);
}

/** What is in a file is a finding; a file that is not there is a mistake of the command line. */
function findingsOf(ctx: Context, files: readonly string[], needsModel: boolean): Promise<Finding[]> {
  const { allowOutside } = ctx.globals;
  const check = async (store: LocalStore): Promise<Finding[]> => {
    const findings: Finding[] = [];
    for (const file of files) {
      const ofFile = await store
        .check(path.resolve(ctx.cwd, file), { allowOutside, needsModel })
        .catch((error: unknown) => {
          throw fileFault(error, file, 'prompts check');
        });
      findings.push(...ofFile.map(finding => ({ ...finding, file: shownPath(ctx, finding.file) })));
    }
    return findings;
  };
  return withLocalStore(ctx, check, line => ctx.io.note(`note: ${oneLine(line)}`));
}

function lines({ io }: Context, findings: readonly Finding[]): string {
  const colours = { fault: io.paint.red, note: io.paint.yellow };
  return findings
    .map(({ file, line, column, severity, message }) => {
      const place = `${oneLine(file)}:${line}:${column}:`;
      return `${place} ${colours[severity](`${severity}:`)} ${oneLine(message)}\n`;
    })
    .join('');
}

function faulty(faults: readonly Finding[]): Error {
  const files = new Set(faults.map(({ file }) => file));
  return usageError(`${counted(faults.length, 'fault')} in ${counted(files.size, 'prompt file')}`);
}
