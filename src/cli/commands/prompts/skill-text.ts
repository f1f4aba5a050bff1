import type { RunOption } from '../../../wire/index.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import { literalValue } from '../../inputs/flags.ts';
import type { TextField } from '../../inputs/input-fields.ts';
import { visible } from '../../terminal/sanitise.ts';

export interface SkillSource {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly config: unknown;
  readonly options: readonly RunOption[];
  /** The command line that runs the prompt, its words quoted for a shell. */
  readonly command: (...words: string[]) => string;
}

const LONGEST_DESCRIPTION = 1024;

/** The text of a SKILL.md. What the service said of the prompt is data in it: one line each, in quotes or in code. */
export function skillText({ name, title, description, config, options, command }: SkillSource): string {
  const { text, images } = describeConfig(config);
  const inputs = text.filter(({ key }) => isTypeable(key));
  const required = inputs.filter(field => field.required);
  const words = [
    ...required.flatMap(field => ['-i', `${field.key}=${literalValue(exampleOf(field))}`]),
    ...images.flatMap((_, at) => ['--image', `image${images.length === 1 ? '' : at + 1}.png`]),
  ];
  const does = plain(description) || plain(title) || name;
  const summary = `${does}. Runs the prompt "${plain(title) || name}" with the command line promptrun.`;
  return `---
name: ${name}
description: ${JSON.stringify(summary.slice(0, LONGEST_DESCRIPTION))}
---

# ${plain(title) || name}

Run it with a shell:

\`\`\`\`sh
${command(...words)}
\`\`\`\`
${section('Inputs', [
  ...inputs.map(inputLine),
  ...images.map(
    (image, at) => `- \`--image <file or https URL>\` (required, image ${at + 1})${said(image.description)}`,
  ),
])}${section(
  'Run options',
  options
    .filter(({ key }) => isTypeable(key))
    .map(
      ({ key, options: values }) =>
        `- \`-o ${code(key)}=<value>\`: ${values.map(value => `\`${code(value)}\``).join(', ')}`,
    ),
)}
## What comes back

Standard output is the text, or the address of a picture or video on a line of its own; add \`--save <dir>\` to write the
outputs to files, \`--json\` for the whole answer. Notes and errors go to standard error.

Exit code 0: done. 2: an input is missing or wrong, see standard error. 3: no valid key, or no credits. 4: there is no such
prompt. 5: the run failed. 6: gave up waiting (\`--timeout\`). 7: rate limited, try later. 1: any other fault.
A run may cost money: never start one again because its answer is late; \`promptrun runs wait --last\` gets it.
`;
}

function section(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n## ${heading}\n\n${lines.join('\n')}\n`;
}

function inputLine(field: TextField): string {
  const { key, required, choices, description } = field;
  const facts = [
    required ? 'required' : 'optional',
    ...(choices === undefined ? [] : [`one of ${choices.map(choice => `\`${code(choice)}\``).join(', ')}`]),
    ...(field.default === undefined ? [] : [`default \`${code(field.default)}\``]),
  ];
  return `- \`-i ${code(key)}=<value>\` (${facts.join('; ')})${said(description)}`;
}

function said(description: string | undefined): string {
  return description === undefined || plain(description) === '' ? '' : `: ${plain(description)}`;
}

/** A value with which the command runs as it stands. */
function exampleOf({ default: value, choices, key }: TextField): string {
  return value ?? choices?.[0] ?? `your ${key}`;
}

/** Text of a service on one line, without what Markdown, HTML or a terminal would act on. */
function plain(text: string): string {
  return visible(text.replace(/\s+/gu, ' '))
    .replace(/[<>`[\]*_#|\\]/gu, '')
    .replace(/\.$/u, '')
    .trim();
}

/** Text of a service between backticks. */
function code(text: string): string {
  return visible(text.replace(/\s+/gu, ' ')).replaceAll('`', "'");
}

/** Whether a key can be given on a command line in a file: no control characters, no `=`. */
function isTypeable(key: string): boolean {
  return key !== '' && visible(key) === key && !/[\n\r\t=`]/u.test(key);
}
