import { findFirstText, toTextOrEmpty } from '../../files/formats/json-fields.ts';
import type { PromptVersion } from '../../wire/index.ts';
import type { Connection, Context } from '../context.ts';
import { formatIsoAge } from '../core/durations.ts';
import type { FormatCommand } from '../core/failure.ts';
import type { InputFields, TextField } from '../inputs/input-fields.ts';
import { readInputFields } from '../inputs/read-input-fields.ts';
import { escapeControls, toOneLine } from '../terminal/sanitise.ts';
import { formatPlainRows, renderTerminalTable, type TableColumn } from '../terminal/table.ts';
import { present } from './present.ts';

const INPUT_COLUMNS: readonly TableColumn[] = [
  { title: 'INPUT', minWidth: 8 },
  { title: 'NEEDED', dropOrder: 2 },
  { title: 'DEFAULT', minWidth: 8, dropOrder: 1 },
  { title: 'CHOICES', minWidth: 10, dropOrder: 3 },
  { title: 'DESCRIPTION', minWidth: 16 },
];

/**
 * Shows a version of a prompt, its inputs, how to run it and, on a local service, its template.
 *
 * @param target the target for `run`; default: the version's id
 */
export function presentPromptVersion(
  ctx: Context,
  version: PromptVersion,
  { formatCommand }: Pick<Connection, 'formatCommand'>,
  target = toTextOrEmpty(version.promptVersionId),
): Promise<void> {
  const fields = readInputFields(version.config);
  const template = findFirstText(version, 'template')?.trim() ?? '';
  return present(ctx, version, {
    terminal: async () => {
      const example = buildExampleCommand(formatCommand, target, fields);
      const details = await formatPromptDetails(ctx, version, example, fields);
      return details + formatTemplate(ctx, template);
    },
    plain: () =>
      formatPlainRows([
        ...toVersionRows(version),
        ...toInputRows(fields).map(row => ['input', ...row]),
        ...toTemplateRows(template),
      ]),
    paged: true,
  });
}

/**
 * Returns a command line that runs a prompt with its required inputs, quoted so that it is safe to
 * paste.
 */
export function buildExampleCommand(
  formatCommand: FormatCommand,
  target: string,
  fields: Pick<InputFields, 'text' | 'images'>,
): string {
  const texts = fields.text
    .filter(field => field.required)
    .flatMap(field => ['-i', `${field.key}=${field.choices?.[0] ?? '…'}`]);
  const images = fields.images.flatMap(() => ['--image', 'photo.png']);
  return formatCommand('run', target, ...texts, ...images);
}

async function formatPromptDetails(
  ctx: Context,
  version: PromptVersion,
  example: string,
  fields: InputFields,
): Promise<string> {
  const { paint } = ctx.io;
  return [
    paint.bold(toOneLine(toTextOrEmpty(version.title))),
    '',
    `Prompt     ${toOneLine(toTextOrEmpty(version.promptId))}`,
    `Version    ${toOneLine(toTextOrEmpty(version.promptVersionId))}`,
    `Published  ${toOneLine(formatIsoAge(toTextOrEmpty(version.publishedAt), ctx.clock.now()))}`,
    '',
    await formatInputs(ctx, fields),
    `Run it: ${paint.cyan(example)}`,
    '',
  ].join('\n');
}

function formatTemplate({ io: { paint } }: Context, template: string): string {
  return template === '' ? '' : `\n${paint.bold('Template')}\n\n${escapeControls(template)}\n`;
}

function toTemplateRows(template: string): string[][] {
  return template === '' ? [] : template.split('\n').map(line => ['template', line]);
}

async function formatInputs(ctx: Context, fields: InputFields): Promise<string> {
  if (!fields.isKnown) {
    return 'Its inputs are not described in a known form; --json shows them unchanged.\n';
  }
  const rows = toInputRows(fields);
  return rows.length === 0
    ? 'It takes no inputs.\n'
    : renderTerminalTable(ctx.io, INPUT_COLUMNS, rows);
}

/** Returns a row for each input: name, required or not, default, choices, description. */
function toInputRows({ text, images }: InputFields): string[][] {
  return [
    ...text.map(field => [
      field.key,
      field.required ? 'required' : 'optional',
      field.default ?? '',
      formatOptionChoices(field),
      field.description ?? '',
    ]),
    ...images.map((image, index) => [
      `image ${index + 1}`,
      'required',
      '',
      '',
      image.description ?? '',
    ]),
  ];
}

function formatOptionChoices({ choices = [], multiple }: TextField): string {
  if (choices.length === 0) return '';
  return `${choices.join(', ')}${multiple === undefined ? '' : ' (several)'}`;
}

function toVersionRows(version: PromptVersion): string[][] {
  return (['promptId', 'promptVersionId', 'title', 'publishedAt'] as const).map(name => [
    name,
    toTextOrEmpty(version[name]),
  ]);
}
