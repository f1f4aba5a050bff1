import type { YamlEntries } from '../../../files/formats/yaml.ts';
import { type ExpectationsContext, readJudge } from '../expectations/read-expectations.ts';
import { readScript } from '../expectations/read-script.ts';
import { readPassRule } from './pass-rule.ts';
import type { TestCase } from './test-case.ts';

/** Reads the `transform` of a file, a model or a case. */
export async function readTransform(
  ctx: ExpectationsContext,
  fields: YamlEntries,
): Promise<Pick<TestCase, 'transform'>> {
  const value = fields.get('transform')?.value;
  return value ? { transform: await readScript(value, 'transform', ctx) } : {};
}

/** Returns the judge that a file or case names, or else the inherited one. */
export function chooseJudge(
  fields: YamlEntries,
  ctx: ExpectationsContext,
): ExpectationsContext['judge'] {
  const judge = fields.get('judge');
  return judge ? readJudge(judge.value, ctx) : ctx.judge;
}

/** Reads the `pass` of a file or a case; undefined if it has none. */
export function readPass(
  fields: YamlEntries,
): Pick<TestCase, 'passRule' | 'passRulePlace'> | undefined {
  const entry = fields.get('pass');
  return entry && { passRule: readPassRule(entry.value), passRulePlace: entry.value };
}
