import type { Conversion } from './conversion.ts';
import { fillVars } from './fill-variables.ts';
import type { PromptText } from './prompt-text.ts';
import type { PromptfooProvider } from './providers/provider.ts';
import type { ConfiguredTests } from './tests/tests.ts';

/**
 * Reports lines such as `user: Hi`, which promptfoo reads as messages in a text for Claude. Returns true if there are
 * any.
 */
export function noteClaudeLines(
  { at, text }: PromptText,
  { asked, tests }: { readonly asked: readonly PromptfooProvider[]; readonly tests: ConfiguredTests },
  conversion: Conversion,
): boolean {
  if (!asked.some(({ model }) => CLAUDE.test(model)) || /^\s*\[/u.test(text)) return false;
  const filled = tests.all.flatMap(({ vars }) =>
    [...vars].flatMap(([name, values]) => values.map(value => fillVars(text, { [name]: value.text }))),
  );
  const isNoted = [text, ...filled].some(said => ROLE_LINE.test(said));
  if (isNoted) conversion.note(at, 'a line such as `user: …` in a text for Claude has no equivalent');
  return isNoted;
}

const CLAUDE = /^anthropic\/|^(?:bedrock|vertexai)\/.*claude/u;
const ROLE_LINE = /^[ \t]*(?:system|user|assistant|thinking):/mu;
