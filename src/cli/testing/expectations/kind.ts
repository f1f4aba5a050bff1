import type { YamlValue } from '../../../files/yaml.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import type { Answer, Expectation, JudgeRank, Unmet } from './expectation.ts';

/** What reading an expectation needs besides its value. */
export interface Reading {
  readonly ctx: Context & NamingFolder;
  /** The key that the value stands under. */
  readonly key: string;
  /** The least score that passes, if one is written beside the expectation. */
  readonly threshold?: number | undefined;
  /** True to judge results of code as promptfoo does. */
  readonly isAsPromptfoo?: boolean | undefined;
  /** The model that judges it, if one is written beside the expectation, or for all of its case or file. */
  readonly judge?: NamedJudge | undefined;
  /** The expectations of a map; several if it has several keys. */
  readonly inner: (value: YamlValue) => Promise<Expectation[]>;
}

/** A model that a test file names as the judge. */
export interface NamedJudge {
  readonly model: string;
  readonly rank?: JudgeRank | undefined;
}

type Unplaced = Pick<Expectation, 'text' | 'unmet' | 'parts' | 'model' | 'rank' | 'isProgram'>;
/** What is in a value besides what is checked. */
type Held = Partial<Pick<Expectation, 'parts' | 'model' | 'rank' | 'isProgram'>>;

/** A kind of expectation: what may stand under its key, and when an answer meets it. */
interface KindParts<V> {
  /** As JSON Schema, for editors. */
  readonly schema: object;
  /** @throws {CliError} USAGE_ERROR with file and line for what is wrong in it */
  readonly read: (value: YamlValue, reading: Reading) => V | Promise<V>;
  /** The value in the words of its file; in quotes by default. */
  readonly text?: (value: V) => string;
  readonly held?: (value: V) => Held;
  /** What of it an answer does not meet; undefined if it meets all. */
  readonly unmet: (value: V, answer: Answer) => Unmet | undefined | Promise<Unmet | undefined>;
}

export interface Kind<V> {
  readonly schema: object;
  readonly of: (value: V) => Unplaced;
  readonly read: (value: YamlValue, reading: Reading) => Promise<Unplaced>;
}

export function kind<V>({ schema, read, text, held, unmet }: KindParts<V>): Kind<V> {
  const of = (value: V): Unplaced => ({
    text: text?.(value) ?? quoted(String(value)),
    unmet: async answer => unmet(value, answer),
    ...held?.(value),
  });
  return { schema, of, read: async (value, reading) => of(await read(value, reading)) };
}

/** A text in quotes, cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}

export const TEXT = { type: 'string', minLength: 1 };
export const WORD = { type: ['string', 'number', 'boolean'] };
