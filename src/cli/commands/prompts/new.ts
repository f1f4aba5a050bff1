import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { codeOf, messageOf } from '../../../files/error-utils.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { present } from '../../outputs/present.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { plainRows } from '../../terminal/table.ts';

interface PromptsNewFlags {
  /** A prompt that makes an image instead of a text. */
  readonly image?: boolean;
  /** A `.prompt.yml` of GitHub Models to convert. */
  readonly from?: string;
}

/** Writes a prompt file to start from, and its test file; or one converted from another format. */
export async function promptsNew(
  ctx: Context,
  file: string,
  { image, from }: PromptsNewFlags,
): Promise<ExitCode> {
  const stem = stemOf(file);
  const written =
    from === undefined ? await writeStart(ctx, stem, image === true) : await writeConverted(ctx, stem, from);
  const paths = (): string => plainRows(Object.values(written).map(path => [path]));
  await present(ctx, written, { terminal: paths, plain: paths });
  ctx.io.note(`note: check it with: promptrun prompts check ${shellWord(written.prompt)}`);
  ctx.io.note(`note: run it with: promptrun run ${shellWord(written.prompt)}`);
  return EXIT.ok;
}

/** The paths of what was written, by what it is. */
type Written = { readonly prompt: string; readonly test?: string };

async function writeStart(ctx: Context, stem: string, image: boolean): Promise<Written> {
  const texts = await ctx.local.newPrompt(path.basename(stem), { image });
  const written = { prompt: `${stem}.prompt`, test: `${stem}.test.yaml` };
  await writeNew(ctx, written.prompt, texts.prompt);
  try {
    await writeNew(ctx, written.test, texts.test);
  } catch (error) {
    await rm(path.resolve(ctx.cwd, written.prompt), { force: true });
    throw error;
  }
  return written;
}

async function writeConverted(ctx: Context, stem: string, from: string): Promise<Written> {
  const source = await readFile(path.resolve(ctx.cwd, from), 'utf8');
  const { prompt, leftOut } = await ctx.local.convertPrompt(source, from);
  const written = { prompt: `${stem}.prompt` };
  await writeNew(ctx, written.prompt, prompt);
  ctx.io.note(`note: converted ${shellWord(from)} to ${shellWord(written.prompt)}`);
  if (leftOut.length > 0) ctx.io.note(`note: without ${leftOut.map(shellWord).join(', ')}`);
  return written;
}

/** The path without `.prompt`. */
function stemOf(file: string): string {
  const { ext, name } = path.parse(file);
  if (name === '' || (ext !== '' && ext !== '.prompt')) {
    throw usageError(`${JSON.stringify(file)} is not the name of a prompt file`, 'It ends in .prompt.');
  }
  return ext === '' ? file : file.slice(0, -ext.length);
}

async function writeNew({ cwd }: Context, file: string, text: string): Promise<void> {
  const target = path.resolve(cwd, file);
  try {
    makeDirectory(path.dirname(target));
    await writeFile(target, text, { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw usageError(`${file} exists already`, 'Choose another name.');
    if (codeOf(error) === undefined) throw error;
    throw usageError(`${file} can't be written: ${messageOf(error)}`);
  }
}
