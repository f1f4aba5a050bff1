import type { TextConfig } from './text-config.ts';

/** What a question for a text knows at a moment. */
export interface TextState {
  readonly prefix: string;
  /** Lines pasted before the one that is typed, each with its line break. */
  readonly above: string;
  readonly value: string;
  /** The default, as long as it is offered. */
  readonly standard: string;
  readonly candidates: string;
  readonly error: string;
}

/** The answered question. */
export function answeredText({ prefix, value }: TextState, { message, shown, theme }: TextConfig): string {
  return `${prefix} ${theme.style.message(message)} ${theme.style.answer(shown(value))}`;
}

/** The question up to the cursor, and what stands beneath. */
export function openText(state: TextState, config: TextConfig): [string, string] {
  const { style, tip } = config.theme;
  const keys = [
    ...(config.complete ? [['tab', 'completes'] as const] : []),
    ...(config.edit ? [['ctrl+o', 'editor'] as const] : []),
  ];
  const beneath = [
    style.help(config.description),
    state.candidates,
    state.error === '' ? '' : style.error(state.error),
    tip(keys),
  ];
  return [lineOf(state, config), beneath.filter(line => line !== '').join('\n')];
}

function lineOf(
  { prefix, above, value, standard }: TextState,
  { message, shown, theme }: TextConfig,
): string {
  const { style } = theme;
  const question = `${prefix} ${style.message(message)}`;
  if (above !== '') {
    const count = above.split('\n').length - 1;
    return `${question} ${shown(above.trimEnd())} ${style.help(count === 1 ? '1 line' : `${count} lines`)}\n› ${value}`;
  }
  return value === '' && standard !== ''
    ? `${question} ${style.defaultAnswer(shown(standard))} `
    : `${question} ${value}`;
}
