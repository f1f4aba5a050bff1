import type { JsonObject, JsonValue } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { shorten } from '../../../utils/shorten.ts';
import type { Context } from '../../context.ts';
import type { NamingFolder } from '../../inputs/named-file.ts';
import type { CheckedAnswer, Expectation, JudgeRank, UnmetPart } from './expectation.ts';

const MAX_EXCERPT_LENGTH = 80;

/** The context in which the value of an expectation is read. */
export interface ExpectationReading {
  readonly ctx: Context & NamingFolder;
  readonly key: string;
  /** The lowest score that passes, if the expectation has a `threshold`. */
  readonly threshold?: number | undefined;
  /** The value that code sees as `context.config`. */
  readonly config?: JsonValue | undefined;
  /** True to treat results of code as promptfoo does. */
  readonly isAsPromptfoo?: boolean | undefined;
  /** The judge that the expectation, its case or its file names. */
  readonly judge?: NamedJudge | undefined;
  /** Reads the expectations of a map, one for each key. */
  readonly readInner: (value: YamlValue) => Promise<Expectation[]>;
}

/** A model that a test file names as the judge. */
export interface NamedJudge {
  readonly model: string;
  readonly judgeRank?: JudgeRank | undefined;
  /** The config of this judge, which no other judge gets. */
  readonly judgeConfig?: JsonObject | undefined;
}

/** The properties of an expectation that come from its value. */
type DerivedProperties = Partial<
  Pick<Expectation, 'innerExpectations' | 'model' | 'judgeRank' | 'judgeConfig' | 'runsProgram'>
>;

/** An expectation without its kind and its place in the file. */
export type UnplacedExpectation = Pick<Expectation, 'text' | 'findMismatch'> & DerivedProperties;

/** The definition of a kind of expectation: what its key accepts, and how it checks an answer. */
interface KindDefinition<V> {
  /** The JSON Schema of the value, for editors. */
  readonly schema: object;
  /** Reads the value. @throws {CliError} USAGE_ERROR with file and line if it is invalid */
  readonly read: (value: YamlValue, reading: ExpectationReading) => V | Promise<V>;
  /** Formats the value as the file has it; in quotes by default. */
  readonly formatText?: (value: V) => string;
  readonly deriveProperties?: (value: V) => DerivedProperties;
  /** Returns the part that an answer does not meet; undefined if it meets all. */
  readonly findMismatch: (
    value: V,
    answer: CheckedAnswer,
  ) => UnmetPart | undefined | Promise<UnmetPart | undefined>;
}

/** A kind of expectation, whose expectations are read from test files or created from values. */
export interface ExpectationKind<V> {
  readonly schema: object;
  readonly create: (value: V) => UnplacedExpectation;
  readonly read: (value: YamlValue, reading: ExpectationReading) => Promise<UnplacedExpectation>;
}

export function createExpectationKind<V>({
  schema,
  read,
  formatText,
  deriveProperties,
  findMismatch,
}: KindDefinition<V>): ExpectationKind<V> {
  const create = (value: V): UnplacedExpectation => ({
    text: formatText?.(value) ?? quoteExcerpt(String(value)),
    findMismatch: async answer => findMismatch(value, answer),
    ...deriveProperties?.(value),
  });
  return { schema, create, read: async (value, reading) => create(await read(value, reading)) };
}

/** Returns a text in quotes, shortened if long. */
export function quoteExcerpt(text: string): string {
  return JSON.stringify(shorten(text, MAX_EXCERPT_LENGTH));
}

export const TEXT_SCHEMA = { type: 'string', minLength: 1 };
export const SCALAR_SCHEMA = { type: ['string', 'number', 'boolean'] };
