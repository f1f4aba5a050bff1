import {
  findOwnValue,
  type JsonObject,
  type JsonValue,
  readJson,
} from '../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { formatNumber } from '../../../utils/format-number.ts';
import { BOUNDS } from '../../bounds.ts';
import { InvalidPromptFileError } from '../../findings.ts';

/** A row of an evaluation. */
export interface EvaluationRow {
  /** The line in its file, from 1. */
  readonly line: number;
  readonly fields: JsonObject;
}

/** Returns a field, or a part of one, as text; empty if it doesn't exist. */
export function getRowText({ fields }: EvaluationRow, path: readonly string[]): string {
  return toTextOrEmpty(path.reduce<JsonValue | undefined>(findOwnValue, fields));
}

/**
 * Reads rows, one JSON object per line. The fields of a row may be in its `item`.
 *
 * @throws {InvalidPromptFileError} with file and line
 */
export function readEvaluationRows({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): EvaluationRow[] {
  const lines = text.replace(/^\uFEFF/u, '').split('\n');
  const rows: EvaluationRow[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() !== '') rows.push(readEvaluationRow(line, index + 1, file));
  }

  if (rows.length === 0) throw new InvalidPromptFileError(file, 1, 'it has no rows');

  if (rows.length > BOUNDS.cases) {
    throw new InvalidPromptFileError(
      file,
      1,
      `it has more than ${formatNumber(BOUNDS.cases)} rows`,
    );
  }

  return rows;
}

function readEvaluationRow(text: string, line: number, file: string): EvaluationRow {
  const json = readJson(text);
  if ('fault' in json) throw new InvalidPromptFileError(file, line, `this row ${json.fault}`);

  const fields = findOwnValue(json.value, 'item') ?? json.value;
  if (!isJsonObject(fields)) {
    throw new InvalidPromptFileError(file, line, 'a row must be a JSON object');
  }
  return { line, fields };
}
