import { findOwnValue } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { findNodeOnlyName } from '../../../processes/node-only.ts';
import type { JavaScript, JavaScriptResult } from '../../checks/load-javascript.ts';
import { requireText } from '../cases/test-values.ts';
import { BrokenCheckError, type CheckedAnswer, type UnmetPart } from './expectation.ts';
import { createExpectationKind, quoteExcerpt, TEXT_SCHEMA } from './expectation-kind.ts';
import { readScript } from './read-script.ts';

/** Code that scores an answer. */
interface Scoring {
  readonly script: JavaScript;
  /** The source text in the test file. */
  readonly sourceText: string;
  /** The lowest score that passes; by default any score above 0. */
  readonly threshold: number | undefined;
  /**
   * True to treat results as promptfoo does: they need all of {pass, score, reason}, and only
   * `pass` counts.
   */
  readonly isAsPromptfoo: boolean;
  /** True for code of a configuration of promptfoo that uses what only Node has. */
  readonly needsNode: boolean;
}

/** Code that accepts an answer with true, a score, or `{pass, score, reason}`. */
export const JAVASCRIPT_KIND = createExpectationKind<Scoring>({
  schema: {
    ...TEXT_SCHEMA,
    description:
      'JavaScript that returns true, a score, or {pass, score, reason}; it sees output and context',
  },
  read: async (value, { ctx, key, threshold, config, isAsPromptfoo = false }) => ({
    script: {
      ...(await readScript(value, key, { ...ctx, isAsPromptfoo })),
      ...(config !== undefined && { config }),
    },
    sourceText: requireText(value, key),
    threshold,
    isAsPromptfoo,
    needsNode:
      isAsPromptfoo &&
      !isFileName(value) &&
      findNodeOnlyName(requireText(value, key)) !== undefined,
  }),
  formatText: quoteCode,
  findMismatch: async (scoring, answer) => {
    if (startsNode(scoring)) return await findMismatchWithNode(scoring, answer);
    const result = await answer.runJavaScript(scoring.script, answer.value);
    const message = explainRejection(result, scoring);
    return message === undefined ? undefined : { message, actual: answer.text };
  },
  deriveProperties: scoring => ({ ...(startsNode(scoring) && { runsProgram: true }) }),
});

/** Returns the beginning of code on one line, in quotes. */
function quoteCode({ sourceText }: Pick<Scoring, 'sourceText'>): string {
  return quoteExcerpt(sourceText.trim().replace(/\s+/gu, ' '));
}

function startsNode({ script, needsNode }: Scoring): boolean {
  return script.file !== undefined || needsNode;
}

function isFileName(value: YamlValue): boolean {
  return value.scalar?.startsWith('file://') === true;
}

/** Lets Node score an answer. Returns the mismatch, if there is one. */
async function findMismatchWithNode(
  { script, sourceText, threshold, isAsPromptfoo }: Scoring,
  answer: CheckedAnswer,
): Promise<UnmetPart | undefined> {
  const context = {
    ...(await answer.buildContext({ needsPrompt: true })),
    ...(script.config !== undefined && { config: script.config }),
  };
  const verdict = await answer.checkWithNode(script, {
    output: answer.value,
    context,
    isAsPromptfoo,
    threshold,
  });
  if ('fault' in verdict) {
    throw new BrokenCheckError(`${quoteExcerpt(sourceText)}: ${verdict.fault}`);
  }
  if (verdict.passes) return undefined;

  return { message: `${quoteExcerpt(sourceText)}: ${verdict.reason}`, actual: answer.text };
}

/**
 * Returns the reason that the result of code doesn't accept an answer; undefined if it does.
 *
 * @throws {BrokenCheckError} if the code failed, or its result has another form
 */
function explainRejection(
  result: JavaScriptResult,
  { sourceText, threshold, isAsPromptfoo }: Scoring,
): string | undefined {
  const code = quoteCode({ sourceText });
  if ('fault' in result) throw new BrokenCheckError(`${code}: ${result.fault}`);

  const { value } = result;
  if (typeof value === 'boolean') return value ? undefined : `${code} returns false`;
  if (typeof value === 'number') return explainLowScore(value, threshold, code);

  const pass = findOwnValue(value ?? null, 'pass');
  const score = findOwnValue(value ?? null, 'score');
  const reason = findOwnValue(value ?? null, 'reason');

  const hasAllFields = !isAsPromptfoo || (typeof score === 'number' && typeof reason === 'string');
  if (typeof pass !== 'boolean' || !hasAllFields) {
    const valueText = value === undefined ? 'nothing' : quoteExcerpt(JSON.stringify(value));
    throw new BrokenCheckError(
      `${code} returns ${valueText}: it must return true or false, a score, or {pass, score, reason}`,
    );
  }

  if (!pass) {
    if (typeof reason !== 'string' || reason === '') return `${code}: returns false`;
    return isAsPromptfoo ? reason : `${code}: ${reason}`;
  }

  const hasScore = threshold !== undefined && typeof score === 'number' && !isAsPromptfoo;
  return hasScore ? explainLowScore(score, threshold, code) : undefined;
}

/** Returns the reason that a score is too low; undefined if it passes. */
function explainLowScore(
  score: number,
  threshold: number | undefined,
  code: string,
): string | undefined {
  if (threshold !== undefined) {
    return score >= threshold ? undefined : `${code} returns ${score}, less than ${threshold}`;
  }
  return score > 0 ? undefined : `${code} returns ${score}, which is not above 0`;
}
