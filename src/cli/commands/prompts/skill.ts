import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ContainedPath, resolveContainedPath } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import type { RunOption } from '../../../wire/index.ts';
import {
  isUuid,
  MAX_QUERY_LENGTH,
  type PromptSearchRow,
  type PromptVersion,
} from '../../../wire/index.ts';
import type { Connection, Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { type CliError, usageError } from '../../core/errors.ts';
import { escapeLiteralValue } from '../../inputs/flag-values.ts';
import type { ImageField, TextField } from '../../inputs/input-fields.ts';
import { readInputFields } from '../../inputs/read-input-fields.ts';
import { present } from '../../outputs/present.ts';
import { checkDirectory } from '../../outputs/saving/check-writable.ts';
import { LOCAL_PROFILE } from '../../settings/config/profile-name.ts';
import { findVersionDefinition } from '../../targets/prompt-definition.ts';
import { findPromptFile, getTargetConnection } from '../../targets/prompt-file.ts';
import { readNamedPrompt } from '../../targets/prompt-name.ts';
import { formatServiceFlags } from '../../terminal/command-line.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { quoteIfNeeded } from '../../terminal/shell-words.ts';
import { formatPlainRows } from '../../terminal/table.ts';
import type { PROMPTS_SKILL } from './spec.ts';

type SkillFlags = FlagsOf<typeof PROMPTS_SKILL.flags>;

/** Writes a SKILL.md for each prompt, so that an agent can run it. */
export async function writeSkills(
  ctx: Context,
  prompts: readonly string[],
  { to, force = false }: SkillFlags,
): Promise<void> {
  const { folder, name } = getSkillsFolder(ctx, to);
  resolveContainedPath({ folder, name });
  checkDirectory(folder, name, '--to');

  const { skills, clashError } = await createSkills(ctx, prompts);
  const skillFiles = skills.map(({ prompt, name: skillName, text }) => ({
    prompt,
    text,
    target: { folder, name: path.join(name, skillName, 'SKILL.md') },
  }));
  for (const skillFile of skillFiles) refuseDifferingFile(skillFile, { force });
  for (const { target, text } of skillFiles) await replaceFile(target, text);

  const rows = skillFiles.map(({ prompt, target }) => {
    const file = path.join(target.folder, target.name);
    return { prompt, file: path.relative(ctx.cwd, file) || file };
  });
  await present(ctx, rows, { plain: () => formatPlainRows(rows.map(({ file }) => [file])) });
  if (clashError !== undefined) throw clashError;
}

/**
 * Returns the folder for skills: the one that the user names, or else one below the working
 * directory.
 */
function getSkillsFolder({ cwd }: Context, to: string | undefined): ContainedPath {
  return to === undefined
    ? { folder: cwd, name: path.join('.claude', 'skills') }
    : { folder: path.resolve(cwd, to), name: '.' };
}

interface Skill {
  readonly prompt: string;
  /** The name of the skill and of its folder. */
  readonly name: string;
  readonly text: string;
  /** The inputs that the skill leaves out, because `-i` can't name them. */
  readonly untypeableKeys: readonly string[];
}

/** Creates the skills of prompts, without those whose folder another one already has. */
async function createSkills(
  ctx: Context,
  prompts: readonly string[],
): Promise<{ skills: readonly Skill[]; clashError: CliError | undefined }> {
  const skills: Skill[] = [];
  let clashError: CliError | undefined;
  for (const prompt of prompts) {
    const skill = await createSkill(ctx, prompt);
    const sameNamedSkill = skills.find(({ name }) => name === skill.name);
    if (sameNamedSkill === undefined) {
      skills.push(skill);
      noteMissingInputs(ctx, skill);
    } else {
      clashError ??= usageError(
        `${sameNamedSkill.prompt} and ${prompt} would both get the folder ${skill.name}; the second was not written`,
        'Write it separately, with another --to.',
      );
    }
  }

  return { skills, clashError };
}

function noteMissingInputs({ io }: Context, { prompt, untypeableKeys }: Skill): void {
  for (const key of untypeableKeys) {
    const input = escapeControls(JSON.stringify(key));
    io.note(`note: ${prompt}: the skill lacks the input ${input}, which -i can't name`);
  }
}

async function createSkill(ctx: Context, prompt: string): Promise<Skill> {
  const connection = await getTargetConnection(ctx, prompt);
  const version = await readNamedPrompt(ctx, connection, prompt);
  const row = await findSearchRow(connection, version, ctx.signal);
  const file = findPromptFile(ctx, prompt, 'command line');
  const definition = file && (await findVersionDefinition(ctx, version.promptVersionId));

  const slug =
    file === undefined
      ? (row?.slug ?? prompt)
      : path.basename(file.path).replace(/\.prompt(?:\.ya?ml)?$/u, '');
  const name = toSkillName(isUuid(slug) ? version.title : slug);

  const models =
    row === undefined ? [] : await connection.resources.getModels({ signal: ctx.signal });
  const model = row === undefined ? undefined : models[row.model];
  const text = renderSkill({
    name,
    title: version.title,
    description: definition?.description ?? row?.description ?? '',
    config: version.config,
    options: model?.availableRunOptions ?? [],
    buildCommand: (...words) =>
      buildSharedCommand(ctx, { prompt, isFile: file !== undefined }, words),
  });
  const untypeableKeys = readInputFields(version.config)
    .text.map(({ key }) => key)
    .filter(key => !isTypeableKey(key));

  return { prompt, name, text, untypeableKeys };
}

/**
 * Returns the command line that runs a prompt. Others read it too: it is for `sh`, with `/`, on
 * Windows as well.
 */
function buildSharedCommand(
  { globals }: Context,
  { prompt, isFile }: { readonly prompt: string; readonly isFile: boolean },
  words: readonly string[],
): string {
  const target = isFile ? prompt.split(path.sep).join('/') : prompt;
  const serviceFlags = formatServiceFlags(isFile ? { profile: LOCAL_PROFILE } : globals);
  return ['promptrun', 'run', target, ...words, ...serviceFlags]
    .map(word => quoteIfNeeded(word, 'posix'))
    .join(' ');
}

/** Returns a prompt's row in the service's list or search; undefined if it has none. */
async function findSearchRow(
  { client, isEmbedded }: Connection,
  { promptId, title }: PromptVersion,
  signal: AbortSignal,
): Promise<PromptSearchRow | undefined> {
  if (!isEmbedded) {
    const words = title.slice(0, MAX_QUERY_LENGTH).trim();
    if (words === '') return undefined;
    const { rows } = await client.prompts.search(words, { signal });
    return rows.find(row => row.promptId === promptId);
  }
  for await (const row of client.prompts.all({}, { signal })) {
    if (row.promptId === promptId) return row;
  }
  return undefined;
}

/** Maximum length of a skill's name, by the specification of SKILL.md. */
const MAX_NAME_LENGTH = 64;

/** Returns the name of a skill and its folder: a–z, 0–9 and single hyphens. */
function toSkillName(slug: string): string {
  const name = slug
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-|-$/gu, '')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-$/u, '');
  return name === '' ? 'prompt' : name;
}

/**
 * Refuses to replace a file that differs, unless `force`.
 *
 * @throws {CliError} USAGE_ERROR
 * @throws {LinkFault} if the path leads through a link
 */
function refuseDifferingFile(
  { target, text }: { readonly target: ContainedPath; readonly text: string },
  { force }: { readonly force: boolean },
): void {
  const file = resolveContainedPath(target);
  if (force || !existsSync(file)) return;
  if (!statSync(file).isFile() || readFileSync(file, 'utf8') !== text) {
    throw usageError(`${file} already exists and differs`, 'Add --force to replace it.');
  }
}

interface SkillSource {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly config: unknown;
  readonly options: readonly RunOption[];
  /** Returns the command line that runs the prompt, quoted for `sh`. */
  readonly buildCommand: (...words: string[]) => string;
}

/** Maximum length of a skill's description, by the specification of SKILL.md. */
const MAX_DESCRIPTION_LENGTH = 1024;

/**
 * Returns the text of a SKILL.md. Texts from the service are data in it: each is on one line, in
 * quotes, in code or without characters that mean something in Markdown.
 */
function renderSkill({
  name,
  title,
  description,
  config,
  options,
  buildCommand,
}: SkillSource): string {
  const fields = readInputFields(config);
  const inputs = fields.text.filter(({ key }) => isTypeableKey(key));
  const shownTitle = toPlainLine(title) || name;
  const purpose = toPlainLine(description) || shownTitle;
  const summary = `${purpose}. Runs the prompt "${shownTitle}" with the command line promptrun.`;
  const inputLines = [...inputs.map(renderInputLine), ...fields.images.map(renderImageLine)];
  const optionLines = options.filter(({ key }) => isTypeableKey(key)).map(renderOptionLine);

  return `---
name: ${toYamlString(name)}
description: ${JSON.stringify(cutText(summary, MAX_DESCRIPTION_LENGTH))}
---

# ${shownTitle}

Run it in a shell:

\`\`\`\`sh
${buildCommand(...listExampleWords(inputs, fields.images.length))}
\`\`\`\`
${renderSection('Inputs', inputLines)}${renderSection('Run options', optionLines)}
## What comes back

Standard output is the text, or the URL of a picture or video on its own line; add \`--save <dir>\` to write the
outputs to files, or \`--json\` for the whole answer. Notes and errors go to standard error.

Exit code 0: done. 2: an input is missing or wrong; see standard error. 3: no valid key, or no credits. 4: no such
prompt. 5: the run failed. 6: the wait timed out (\`--timeout\`). 7: rate limited; try later. 8: stopped at the cap of
\`--max-cost\` or \`--max-credits\`. 130, 143: ended by Ctrl-C or SIGTERM. 1: any other fault.
A run may cost money. Never start one again because its answer is late: \`promptrun runs wait --last\` gets it.
`;
}

/** Returns the words of a command line that give each required input and image. */
function listExampleWords(inputs: readonly TextField[], imageCount: number): string[] {
  const words: string[] = [];
  for (const field of inputs.filter(({ required }) => required)) {
    words.push('-i', `${field.key}=${escapeLiteralValue(getExampleValue(field))}`);
  }

  for (let image = 1; image <= imageCount; image += 1) {
    words.push('--image', `image${imageCount === 1 ? '' : image}.png`);
  }

  return words;
}

function renderSection(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n## ${heading}\n\n${lines.join('\n')}\n`;
}

function renderInputLine(field: TextField): string {
  const { key, required, choices, description } = field;
  const facts = [required ? 'required' : 'optional'];
  if (choices !== undefined) facts.push(`one of ${choices.map(toCodeSpan).join(', ')}`);
  if (field.default !== undefined) facts.push(`default ${toCodeSpan(field.default)}`);
  return `- ${toCodeSpan(`-i ${key}=<value>`)} (${facts.join('; ')})${formatDescriptionSuffix(description)}`;
}

function renderImageLine({ description }: ImageField, index: number): string {
  return `- \`--image <file or https URL>\` (required, image ${index + 1})${formatDescriptionSuffix(description)}`;
}

function renderOptionLine({ key, options: values }: RunOption): string {
  return `- ${toCodeSpan(`-o ${key}=<value>`)}: ${values.map(toCodeSpan).join(', ')}`;
}

function formatDescriptionSuffix(description: string | undefined): string {
  return description === undefined || toPlainLine(description) === ''
    ? ''
    : `: ${toPlainLine(description)}`;
}

/** Returns an example value that is valid for the input. */
function getExampleValue({ default: value, choices, key }: TextField): string {
  return value ?? choices?.[0] ?? `your ${key}`;
}

/** Returns a service's text on one line, without characters of Markdown, HTML and terminals. */
function toPlainLine(text: string): string {
  return escapeControls(text.replace(/\s+/gu, ' '))
    .replace(/[<>`[\]*|\\]/gu, '')
    .replace(/\.$/u, '')
    .trim();
}

/** Returns a service's text as a Markdown code span; its fence is longer than any in the text. */
function toCodeSpan(text: string): string {
  const line = escapeControls(text.replace(/\s+/gu, ' '));
  const longestRunLength = Math.max(0, ...[...line.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longestRunLength + 1);
  const padding = /^`|`$/u.test(line) ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** Returns a name as a YAML string: `123`, `1e3` and `true` need quotes. */
function toYamlString(name: string): string {
  const isOtherType = /^(?:\d.*|true|false|null|yes|no|on|off|y|n)$/u.test(name);
  return isOtherType ? JSON.stringify(name) : name;
}

/** Cuts a text to at most `maxLength` UTF-16 units, without splitting a character. */
function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(text)) {
    if (index + segment.length > maxLength) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** Returns true if a key can be typed on a command line: no control characters, no `=`. */
function isTypeableKey(key: string): boolean {
  return key !== '' && escapeControls(key) === key && !/[\n\r\t=]/u.test(key);
}
