import type { JsonObject } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import type { EvaluationRow } from './evaluation-rows.ts';

/** A criterion of an evaluation, as an expectation for each row. */
export interface Criterion {
  /** The fields that its expectation sees, by the name of their placeholder. */
  readonly placeholders: ReadonlyMap<string, readonly string[]>;
  /** Returns the expectation for a row; undefined if it would check nothing. */
  readonly buildExpectation: (row: EvaluationRow) => JsonObject | undefined;
}

/** The fields of a criterion, by key. */
export type CriterionEntries = ReadonlyMap<string, YamlValue>;

/** Adds a note on a criterion. Its message is a predicate that follows the criterion's name. */
export type AddCriterionNote = (message: string) => void;

/** For a criterion whose expectation has the fields of the row in it. */
export const NO_PLACEHOLDERS: ReadonlyMap<string, readonly string[]> = new Map();
