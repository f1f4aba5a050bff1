import type { ConversionContext } from '../conversion-context.ts';
import { fillVariables } from '../nunjucks/fill-variables.ts';
import type { ConfiguredModels } from '../providers/configured-models.ts';
import type { ConfiguredPrompt } from './configured-prompt.ts';

/** Matches the names of Claude's models, such as `anthropic/claude-sonnet-4-5`. */
const CLAUDE_MODEL = /^anthropic\/|^(?:bedrock|vertexai)\/.*claude/u;

/** Matches a line such as `user: Hi`. */
const ROLE_LINE = /^[ \t]*(?:system|user|assistant|thinking):/mu;

/**
 * Reports lines such as `user: Hi` in a text for Claude, because promptfoo splits the text into
 * messages there. Returns true if there are any, so that the prompt is left out.
 */
export function omitClaudeLines(
  { place, text }: ConfiguredPrompt,
  { askedProviders, tests: { tests } }: Pick<ConfiguredModels, 'askedProviders' | 'tests'>,
  conversion: ConversionContext,
): boolean {
  const isClaudeAsked = askedProviders.some(({ model }) => CLAUDE_MODEL.test(model));
  const isJsonChat = /^\s*\[/u.test(text);
  if (!isClaudeAsked || isJsonChat) return false;

  const filledPrompts = tests.flatMap(({ vars }) =>
    [...vars].flatMap(([name, values]) =>
      values.map(value => fillVariables(text, { [name]: value.text })),
    ),
  );
  const hasRoleLine = [text, ...filledPrompts].some(prompt => ROLE_LINE.test(prompt));
  if (hasRoleLine) {
    conversion.reportOmission(
      place,
      'a line such as `user: …` in a text for Claude has no equivalent',
    );
  }

  return hasRoleLine;
}
