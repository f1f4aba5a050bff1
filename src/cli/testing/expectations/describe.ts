import { type Expectation, isTextExpectation } from './expectation.ts';

/** An expectation in the words of its file. */
export function describe(expectation: Expectation): string {
  if (isTextExpectation(expectation)) return `${expectation.kind} ${quoted(expectation.text)}`;
  switch (expectation.kind) {
    case 'json':
      return `json ${JSON.stringify(expectation.value)}`;
    case 'jmespath':
      return `jmespath ${quoted(expectation.expression)}`;
    case 'matches':
      return `matches ${shown(expectation.pattern)}`;
    case 'schema':
      return `schema ${expectation.name}`;
    case 'containsJson':
      return 'containsJson';
    case 'seconds':
    case 'tokens':
    case 'cost':
      return `${expectation.kind} ${expectation.most}`;
    case 'not':
      return `not ${describe(expectation.expectation)}`;
    case 'any':
      return `any of ${expectation.options.flat().map(describe).join(', ')}`;
    case 'llm':
      return `llm ${quoted(expectation.prompt)}`;
    case 'command':
      return `command ${commandText(expectation.argv)}`;
    case 'rubric':
      return `rubric ${quoted(expectation.text)}`;
    default:
      throw new TypeError('an expectation of an unknown kind');
  }
}

/** A command line as its file has it. */
export function commandText(argv: readonly string[]): string {
  return quoted(argv[0] === 'sh' && argv[1] === '-c' ? (argv[2] ?? '') : argv.join(' '));
}

/** A pattern between slashes. */
export function shown({ source }: RegExp): string {
  return `/${source}/`;
}

/** A text in quotes, cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
