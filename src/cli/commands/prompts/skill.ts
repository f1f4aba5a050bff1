import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../../files/directories.ts';
import { replaceFile } from '../../../files/write-file.ts';
import { isUuid, type PromptSearchRow, type PromptVersion } from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { connectionFor, promptFileOf } from '../../inputs/prompt-file.ts';
import { askOfPrompt, readPrompt, resolvePrompt } from '../../inputs/prompt-name.ts';
import { present } from '../../outputs/present.ts';
import { plainRows } from '../../terminal/table.ts';
import { skillText } from './skill-text.ts';

interface SkillFlags {
  readonly to?: string;
  readonly force?: boolean;
}

/** Writes a SKILL.md for each prompt, with which an agent runs it. */
export async function promptsSkill(
  ctx: Context,
  prompts: readonly string[],
  { to = path.join('.claude', 'skills'), force = false }: SkillFlags,
): Promise<ExitCode> {
  const skills = [];
  for (const prompt of prompts) skills.push(await skillOf(ctx, prompt, path.resolve(ctx.cwd, to)));
  for (const { file, text } of skills) checkPlace(file, text, force);
  for (const { file, text } of skills) {
    makeDirectory(path.dirname(file));
    await replaceFile(file, text);
  }
  const rows = skills.map(({ prompt, file }) => ({ prompt, file: path.relative(ctx.cwd, file) || file }));
  const paths = (): string => plainRows(rows.map(({ file }) => [file]));
  await present(ctx, rows, { terminal: paths, plain: paths });
  return EXIT.ok;
}

interface Skill {
  readonly prompt: string;
  readonly file: string;
  readonly text: string;
}

async function skillOf(ctx: Context, prompt: string, directory: string): Promise<Skill> {
  const connection = await connectionFor(ctx, prompt);
  const named = await resolvePrompt(ctx, connection, prompt);
  const version = await askOfPrompt(connection, named, ctx.signal, of =>
    readPrompt(connection, of, ctx.signal),
  );
  const row = await rowOf(connection, version, ctx.signal);
  const file = promptFileOf(ctx, prompt);
  const slug =
    file === undefined ? (row?.slug ?? prompt) : path.basename(file.path).replace(/\.prompt.*$/u, '');
  const name = skillName(isUuid(slug) ? version.title : slug);
  const models = row === undefined ? [] : await connection.resources.models({ signal: ctx.signal });
  const text = skillText({
    name,
    title: version.title,
    description: row?.description ?? '',
    config: version.config,
    options: models[row?.model ?? -1]?.availableRunOptions ?? [],
    command: (...words) => connection.advise('run', prompt, ...words),
  });
  return { prompt, file: path.join(directory, name, 'SKILL.md'), text };
}

/** What the service's list or search says of a prompt; undefined if it says nothing. */
async function rowOf(
  { client, embedded }: Connection,
  { promptId, title }: PromptVersion,
  signal: AbortSignal,
): Promise<PromptSearchRow | undefined> {
  if (!embedded) {
    const words = title.slice(0, 200).trim();
    if (words === '') return undefined;
    const { rows } = await client.prompts.search(words, { signal });
    return rows.find(row => row.promptId === promptId);
  }
  for await (const row of client.prompts.all({}, { signal })) if (row.promptId === promptId) return row;
  return undefined;
}

/** The name of a skill and of its folder: a–z, 0–9 and single hyphens. */
function skillName(slug: string): string {
  const fitting = slug
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, 64)
    .replace(/-$/u, '');
  return fitting === '' ? 'prompt' : fitting;
}

/** @throws {CliError} USAGE_ERROR for a link, which could lead anywhere, and for a file that differs, unless `force` */
function checkPlace(file: string, text: string, force: boolean): void {
  for (const place of [path.dirname(file), file]) {
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw usageError(
        `${place} is a link, which is not written through`,
        'Remove it, or choose another --to.',
      );
    }
  }
  if (force || lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  if (readFileSync(file, 'utf8') !== text) {
    throw usageError(`${file} exists already and differs`, 'Add --force to replace it.');
  }
}
