import { firstText, textOrNothing } from '../../files/formats/json-fields.ts';
import type { PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { ageText } from '../core/durations.ts';
import type { Advise } from '../core/failure.ts';
import { describeConfig } from '../inputs/describe-config.ts';
import type { InputFields, TextField } from '../inputs/input-fields.ts';
import { escapeControls, oneLine } from '../terminal/sanitise.ts';
import { plainRows, type TableColumn, terminalTable } from '../terminal/table.ts';
import { present } from './present.ts';

const INPUT_COLUMNS: readonly TableColumn[] = [
  { title: 'INPUT', min: 8 },
  { title: 'NEEDED', dropOrder: 2 },
  { title: 'DEFAULT', min: 8, dropOrder: 1 },
  { title: 'CHOICES', min: 10, dropOrder: 3 },
  { title: 'DESCRIPTION', min: 16 },
];

/**
 * Shows a version of a prompt, its inputs, how to run it and, on a local service, its template.
 *
 * @param target the target for `run`; default: the version's id
 */
export function presentPromptVersion(
  ctx: Context,
  version: PromptVersion,
  { advise }: Pick<Connection, 'advise'>,
  target = textOrNothing(version.promptVersionId),
): Promise<void> {
  const fields = describeConfig(version.config);
  const template = firstText(version, 'template')?.trim() ?? '';
  return present(ctx, version, {
    terminal: async () =>
      (await promptPage(ctx, version, exampleCommand(advise, target, fields), fields)) +
      templatePart(ctx, template),
    plain: () =>
      plainRows([
        ...versionRows(version),
        ...inputRows(fields).map(row => ['input', ...row]),
        ...templateRows(template),
      ]),
    paged: true,
  });
}

/** Returns a command line that runs a prompt with its required inputs, quoted so that it is safe to paste. */
export function exampleCommand(
  advise: Advise,
  target: string,
  fields: Pick<InputFields, 'text' | 'images'>,
): string {
  const texts = fields.text
    .filter(field => field.required)
    .flatMap(field => ['-i', `${field.key}=${field.choices?.[0] ?? '…'}`]);
  const images = fields.images.flatMap(() => ['--image', 'photo.png']);
  return advise('run', target, ...texts, ...images);
}

async function promptPage(
  ctx: Context,
  version: PromptVersion,
  example: string,
  fields: InputFields,
): Promise<string> {
  const { paint } = ctx.io;
  return [
    paint.bold(oneLine(textOrNothing(version.title))),
    '',
    `Prompt     ${oneLine(textOrNothing(version.promptId))}`,
    `Version    ${oneLine(textOrNothing(version.promptVersionId))}`,
    `Published  ${oneLine(ageText(textOrNothing(version.publishedAt), ctx.clock.now()))}`,
    '',
    await inputsPart(ctx, fields),
    `Run it: ${paint.cyan(example)}`,
    '',
  ].join('\n');
}

function templatePart({ io: { paint } }: Context, template: string): string {
  return template === '' ? '' : `\n${paint.bold('Template')}\n\n${escapeControls(template)}\n`;
}

function templateRows(template: string): string[][] {
  return template === '' ? [] : template.split('\n').map(line => ['template', line]);
}

async function inputsPart(ctx: Context, fields: InputFields): Promise<string> {
  if (!fields.isKnown) return 'Its inputs are not described in a known form; --json shows them unchanged.\n';
  const rows = inputRows(fields);
  return rows.length === 0 ? 'It takes no inputs.\n' : terminalTable(ctx.io, INPUT_COLUMNS, rows);
}

/** Returns a row for each input: name, required or not, default, choices, description. */
function inputRows({ text, images }: InputFields): string[][] {
  return [
    ...text.map(field => [
      field.key,
      field.required ? 'required' : 'optional',
      field.default ?? '',
      choicesText(field),
      field.description ?? '',
    ]),
    ...images.map((image, index) => [`image ${index + 1}`, 'required', '', '', image.description ?? '']),
  ];
}

function choicesText({ choices = [], multiple }: TextField): string {
  const several = multiple === undefined ? '' : ' (several)';
  return choices.length === 0 ? '' : `${choices.join(', ')}${several}`;
}

function versionRows(version: PromptVersion): string[][] {
  return (['promptId', 'promptVersionId', 'title', 'publishedAt'] as const).map(name => [
    name,
    textOrNothing(version[name]),
  ]);
}
