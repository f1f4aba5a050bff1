import type { Run } from '../../wire/index.ts';
import { listOf } from '../core/json-value.ts';

/** More warnings of one run are not shown. */
const MOST_WARNINGS = 50;

/** What was left out of a run's request to its model, one sentence each. */
export function warningsOf({ warnings }: Run): string[] {
  return listOf(warnings)
    .filter(warning => typeof warning === 'string')
    .slice(0, MOST_WARNINGS);
}
