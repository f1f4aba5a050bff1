import { isDeepStrictEqual } from 'node:util';
import type { PromptVersion } from '../../../wire/index.ts';
import { fieldText, isObject } from '../../core/json-value.ts';
import { describeConfig } from '../../inputs/describe-config.ts';

/** Something that differs between two versions of a prompt. */
export interface Change {
  readonly what: 'title' | 'input' | 'image input' | 'config' | 'prompt';
  /** Of an input or a field of the config. */
  readonly name?: string;
  /** What it was; left out where it is new. */
  readonly before?: unknown;
  /** What it is now; left out where it is gone. */
  readonly after?: unknown;
  /** The two as lines that begin with `-` or `+`; of a file a blank for those that stay. */
  readonly lines: readonly string[];
}

/** A version, and of the local service the text of its file or template. */
type Version = PromptVersion & { readonly text: string | undefined };

/** What changed: the title, each input, other fields of the config, and the prompt's text where it is known. */
export async function changesBetween(older: Version, newer: Version): Promise<Change[]> {
  const [before, after] = [describeConfig(older.config), describeConfig(newer.config)];
  const inputs = (fields: typeof before) => new Map(fields.text.map(({ key, ...field }) => [key, field]));
  const images = (fields: typeof before) =>
    new Map(fields.images.map((image, at) => [String(at + 1), image]));
  return [
    ...changed('title', new Map([['', older.title]]), new Map([['', newer.title]])),
    ...changed('input', inputs(before), inputs(after)),
    ...changed('image input', images(before), images(after)),
    ...changed('config', otherFields(older.config), otherFields(newer.config)),
    ...(await changedFile(older.text, newer.text)),
  ];
}

/** What the config holds beside inputs, such as options. */
function otherFields(config: unknown): Map<string, unknown> {
  if (!isObject(config)) return new Map();
  const inputs = new Set(['textInputs', 'imageInputs', 'inputsJTD', 'variables', 'images']);
  return new Map(Object.entries(config).filter(([key]) => !inputs.has(key)));
}

function changed(
  what: Change['what'],
  older: ReadonlyMap<string, unknown>,
  newer: ReadonlyMap<string, unknown>,
): Change[] {
  const keys = [...new Set([...older.keys(), ...newer.keys()])];
  return keys
    .filter(key => !isDeepStrictEqual(older.get(key), newer.get(key)))
    .map(key => ({
      what,
      ...(key !== '' && { name: key }),
      ...(older.has(key) && { before: older.get(key) }),
      ...(newer.has(key) && { after: newer.get(key) }),
      lines: [
        ...(older.has(key) ? [`- ${fieldText(older.get(key))}`] : []),
        ...(newer.has(key) ? [`+ ${fieldText(newer.get(key))}`] : []),
      ],
    }));
}

async function changedFile(before: string | undefined, after: string | undefined): Promise<Change[]> {
  if (before === undefined || after === undefined || before === after) return [];
  const { diffLines } = await import('diff');
  const lines = diffLines(before, after).flatMap(({ value, added, removed }) => {
    const mark = added ? '+' : removed ? '-' : ' ';
    return value
      .replace(/\n$/u, '')
      .split('\n')
      .map(line => `${mark} ${line}`);
  });
  return [{ what: 'prompt', before, after, lines }];
}
