import path from 'node:path';
import { isDirectory } from '../../../files/writing/write-below.ts';
import type { Finding } from '../../../prompts/findings.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { type CliError, usageError } from '../../core/errors.ts';
import { formatPath } from '../../core/paths.ts';
import { pluralize } from '../../core/pluralize.ts';
import { expandWildcards } from '../../core/wildcards.ts';
import { toFileFault } from '../../inputs/read-text.ts';
import { present } from '../../outputs/present.ts';
import { toJson } from '../../outputs/print-json.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { detectShell, quoteIfNeeded } from '../../terminal/shell-words.ts';
import { FRONT_MATTER_SCHEMA } from './front-matter-schema.ts';
import type { PROMPTS_CHECK } from './spec.ts';

type CheckFlags = FlagsOf<typeof PROMPTS_CHECK.flags>;

/** Reports every fault and note of prompt files. */
export async function checkPrompts(
  ctx: Context,
  names: readonly string[],
  { models = false, printSchema = false }: CheckFlags,
): Promise<void> {
  if (printSchema) {
    await ctx.io.out(`${await toJson(FRONT_MATTER_SCHEMA)}\n`);
    return;
  }

  const files = expandWildcards(names, ctx.cwd);
  if (files.length === 0) throw usageError('give prompt files, or --print-schema');

  refuseDirectories(ctx, files);
  const { findings, readFaults } = await checkFiles(ctx, files, { needsModel: models });
  const formatAllFindings = (): string => formatFindings(ctx, findings);
  await present(ctx, findings, { terminal: formatAllFindings, plain: formatAllFindings });
  const faults = findings.filter(({ severity }) => severity === 'fault');
  if (readFaults.length > 0) throw unreadableFilesError(readFaults);
  if (faults.length > 0) throw faultsError(faults);

  if (findings.length === 0) ctx.io.note(`note: no faults in ${pluralize(files.length, 'file')}`);
}

function refuseDirectories({ cwd, env }: Context, names: readonly string[]): void {
  const directory = names.find(name => isDirectory(path.resolve(cwd, name)));
  if (directory === undefined) return;
  const files = `${quoteIfNeeded(withoutTrailingSlashes(directory), detectShell(env))}/*.prompt`;
  throw usageError(
    `${directory} is a directory`,
    `Check its prompt files with: promptrun prompts check ${files}`,
  );
}

/** The result of a check. A missing file is not a finding but a usage error. */
interface CheckedFiles {
  readonly findings: readonly Finding[];
  /** The reasons that files could not be read. */
  readonly readFaults: readonly CliError[];
}

async function checkFiles(
  ctx: Context,
  files: readonly string[],
  { needsModel }: { readonly needsModel: boolean },
): Promise<CheckedFiles> {
  const [{ checkPromptFile: checkFile }, { loadModels }, { createKnownModels }] = await Promise.all(
    [
      import('../../../prompts/check/check-file.ts'),
      import('../../../models/catalogue/model-table.ts'),
      import('../../../models/catalogue/known-models.ts'),
    ],
  );

  const { allowOutside } = ctx.globals;
  const onProblem = ({ message }: Error): void => ctx.io.note(`note: ${toOneLine(message)}`);
  const { dataDir, modelsFile, env } = ctx;
  const models = createKnownModels(
    await loadModels({ dataDir, modelsFile, env, watch: false, onProblem }),
  );
  const tasks = await ctx.promptTasks();
  const options = { models, tasks, allowOutside, needsModel };

  const findings: Finding[] = [];
  const readFaults: CliError[] = [];
  for (const file of files) {
    const fileFindings = await checkFile(path.resolve(ctx.cwd, file), options).catch(
      (error: unknown) => {
        readFaults.push(toFileFault(error, file, 'prompts check'));
        return [];
      },
    );
    findings.push(
      ...fileFindings.map(finding => ({ ...finding, file: formatPath(ctx, finding.file) })),
    );
  }

  return { findings, readFaults };
}

function formatFindings({ io }: Context, findings: readonly Finding[]): string {
  const colours = { fault: io.paint.red, note: io.paint.yellow };
  return findings
    .map(({ file, line, column, severity, message }) => {
      const position = `${toOneLine(file)}:${line}:${column}:`;
      return `${position} ${colours[severity](`${severity}:`)} ${toOneLine(message)}\n`;
    })
    .join('');
}

function unreadableFilesError(readFaults: readonly CliError[]): Error {
  const [first = '', ...otherFaults] = readFaults.map(({ message }) => message);
  return usageError(first, ...otherFaults);
}

function faultsError(faults: readonly Finding[]): Error {
  const files = new Set(faults.map(({ file }) => file));
  return usageError(
    `${pluralize(faults.length, 'fault')} in ${pluralize(files.size, 'prompt file')}`,
  );
}
