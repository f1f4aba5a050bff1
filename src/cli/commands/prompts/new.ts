import { rm } from 'node:fs/promises';
import path from 'node:path';
import {
  PathFault,
  resolveContainedPath,
  toContainedPath,
} from '../../../files/writing/write-below.ts';
import { createFile, replaceFile } from '../../../files/writing/write-file.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { unwritableError, usageError } from '../../core/errors.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { present } from '../../outputs/present.ts';
import { buildExampleCommand } from '../../outputs/prompt-details.ts';
import { explainUnwritable } from '../../outputs/saving/check-writable.ts';
import { readPromptDefinition } from '../../targets/prompt-definition.ts';
import { createCommandFormatter } from '../../terminal/command-line.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { detectShell, quoteIfNeeded } from '../../terminal/shell-words.ts';
import { formatPlainRows } from '../../terminal/table.ts';
import { runFileTask } from '../../testing/cases/run-file-task.ts';
import { MAX_TEST_FILE_BYTES } from '../../testing/cases/test-case.ts';
import type { PROMPTS_NEW } from './spec.ts';

type PromptsNewFlags = FlagsOf<typeof PROMPTS_NEW.flags>;

/** The files that the command may write. */
const NEW_FILES = [
  { kind: 'prompt', extension: '.prompt' },
  { kind: 'test', extension: '.test.yaml' },
  { kind: 'models', extension: '.models.yaml' },
] as const satisfies readonly { kind: keyof NewFileTexts; extension: string }[];

/** Writes a prompt file to start from and its test file, or converts both from another format. */
export async function writeNewPrompt(
  ctx: Context,
  file: string,
  flags: PromptsNewFlags,
): Promise<void> {
  const stem = await requirePromptStem(file);
  const texts = await buildFileTexts(ctx, stem, flags);
  const newFiles = NEW_FILES.flatMap(({ kind, extension }) => {
    const text = texts[kind];
    return text === undefined ? [] : [{ kind, file: `${stem}${extension}`, text }];
  });
  await writeNewFiles(ctx, newFiles, flags);

  const files = Object.fromEntries(newFiles.map(({ kind, file }) => [kind, file]));
  await present(ctx, files, { plain: () => formatPlainRows(newFiles.map(({ file }) => [file])) });
  await noteNextSteps(ctx, `${stem}.prompt`, files['models']);
}

interface NewFileTexts {
  readonly prompt: string;
  readonly test?: string | undefined;
  readonly models?: string | undefined;
}

interface NewFile {
  readonly file: string;
  readonly text: string;
}

async function noteNextSteps(
  ctx: Context,
  file: string,
  modelsFile: string | undefined,
): Promise<void> {
  const shell = detectShell(ctx.env);
  const formatModelsFlag = (flag: string): string =>
    modelsFile === undefined ? '' : ` ${flag} ${quoteIfNeeded(modelsFile, shell)}`;
  const checkCommand = `promptrun prompts check ${quoteIfNeeded(file, shell)}${formatModelsFlag('--models-from')}`;
  ctx.io.note(`note: check it with: ${checkCommand}`);
  ctx.io.note(
    `note: run it with: ${await buildRunCommand(ctx, file)}${formatModelsFlag('--models')}`,
  );
}

/**
 * Returns a command line that runs a prompt file with its required inputs, so that it works in a
 * pipe too.
 */
async function buildRunCommand(ctx: Context, file: string): Promise<string> {
  const { toPromptConfig } = await import('../../../prompts/definition.ts');
  // `prompts check`, which the note above names, reports the faults of a file that can't be read.
  const definition = await readPromptDefinition(ctx, path.resolve(ctx.cwd, file)).catch(
    () => undefined,
  );
  const fields = definition && readInputFields(toPromptConfig(definition));
  return buildExampleCommand(
    createCommandFormatter({}, ctx.env),
    file,
    fields ?? { text: [], images: [] },
  );
}

async function buildFileTexts(
  ctx: Context,
  stem: string,
  { from, image = false, items, prompt }: PromptsNewFlags,
): Promise<NewFileTexts> {
  if (from === undefined && items !== undefined) {
    throw usageError('--items needs --from, which names the evaluation of its rows');
  }

  if (from === undefined) {
    const { buildStarterPrompt } = await import('../../../prompts/built-in/built-in-texts.ts');
    return buildStarterPrompt(path.basename(stem), { image });
  }

  const source = await readTextFile(from, ctx.cwd, 'prompts new');
  const { PROVIDER_SETTINGS } = await import('../../../models/model-entry.ts');
  const options = {
    settingNames: [...PROVIDER_SETTINGS],
    directory: path.dirname(path.resolve(ctx.cwd, from)),
    promptNumber: prompt === undefined ? undefined : parsePromptNumber(prompt),
    allowOutside: ctx.globals.allowOutside,
    ...(items !== undefined && {
      rowsFile: {
        file: items,
        text: await readTextFile(items, ctx.cwd, '--items', MAX_TEST_FILE_BYTES),
      },
    }),
  };

  const conversion = await runFileTask(ctx, 'convert', { text: source, file: from, options });
  for (const { file, line, message } of conversion.notes) {
    ctx.io.note(`note: ${toOneLine(file)}:${line}: ${toOneLine(message)}`);
  }

  const { promptText, testContent, modelsText } = conversion;
  const { formatTestFile } = await import('../../../prompts/foreign/file-texts.ts');
  return {
    prompt: promptText,
    test: testContent && formatTestFile(testContent),
    models: modelsText,
  };
}

function parsePromptNumber(text: string): number {
  const promptNumber = Number(text);
  if (Number.isInteger(promptNumber) && promptNumber >= 1) return promptNumber;
  throw usageError('--prompt takes the number of a prompt, from 1');
}

/** Returns the path of a prompt file without `.prompt`. @throws {CliError} if it is not one */
async function requirePromptStem(file: string): Promise<string> {
  const { ext, name } = path.parse(file);
  if (name === '' || (ext !== '' && ext !== '.prompt')) {
    throw usageError(
      `${JSON.stringify(file)} is not the name of a prompt file`,
      'Its name must end in .prompt.',
    );
  }

  const { findSlugFault } = await import('../../../prompts/slug.ts');
  const fault = findSlugFault(name);
  if (fault !== undefined) throw usageError(`${JSON.stringify(file)}: ${fault}`);
  return ext === '' ? file : file.slice(0, -ext.length);
}

/** Writes the files. Without `--force`, it is all of them or none. */
async function writeNewFiles(
  { cwd }: Context,
  files: readonly NewFile[],
  { force = false }: PromptsNewFlags,
): Promise<void> {
  for (const { file } of files) resolveContainedPath(toContainedPath(path.resolve(cwd, file)));

  const writtenFiles: string[] = [];
  try {
    for (const { file, text } of files) {
      const containedPath = toContainedPath(path.resolve(cwd, file));
      if (force) {
        await replaceFile(containedPath, text);
      } else if (!(await createFile(containedPath, text))) {
        throw usageError(`${file} already exists`, 'Choose another name, or add --force.');
      }
      writtenFiles.push(path.resolve(cwd, file));
    }
  } catch (error) {
    if (!force) await Promise.all(writtenFiles.map(file => rm(file, { force: true })));

    const errorCode = getErrorCode(error);
    if (errorCode === undefined || error instanceof PathFault) throw error;

    const isBlocked = ['EEXIST', 'ENOTDIR'].includes(errorCode);
    const reason = isBlocked
      ? 'a part of its path is not a directory'
      : explainUnwritable(errorCode);
    const failedFile = files[writtenFiles.length]?.file ?? '';
    throw unwritableError(error, usageError(`${failedFile} can't be written: ${reason}`));
  }
}
