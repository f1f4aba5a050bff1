import { randomUUID } from 'node:crypto';
import type { Role } from './syntax.ts';

/** A part of a message in the form of the prompt format; `pending` marks a section to be filled. */
export type Part =
  | { readonly text: string }
  | {
      readonly media: {
        /** For a picture that is an input of its own its description. */
        readonly url: string;
        readonly contentType?: string;
        /** Such a picture's place among the inputs, from 0. */
        readonly picture?: number;
      };
    }
  | { readonly metadata: { readonly purpose: string; readonly pending: true } };

export interface Message {
  readonly role: Role;
  readonly content: readonly Part[];
  readonly metadata?: { readonly [key: string]: unknown };
}

interface Draft extends Message {
  readonly content: Part[];
}

/** What stands at a place of a rendered text; `value` says that the blanks after it are a value, not layout. */
type Mark = { readonly role: Role } | { readonly part: Part } | 'history' | 'value';

/** Marks places of a text while it is rendered, with a word that is new for each render: no input can hold it. */
export class Marks {
  readonly #nonce = randomUUID();
  readonly #marks: Mark[] = [];

  /** The text that stands for a mark. */
  mark(mark: Mark): string {
    return `${this.#nonce}:${this.#marks.push(mark) - 1};`;
  }

  /** The messages of a rendered text. What comes before any role is the user's. */
  messages(rendered: string, history: readonly Message[]): Message[] {
    const drafts: Draft[] = [{ role: 'user', content: [] }];
    let text = '';
    let isValue = false;
    const endText = (): void => {
      // Layout between two markers makes no part and no message; a value does, even of blanks alone.
      if (isValue || text.trim() !== '') drafts.at(-1)?.content.push({ text });
      text = '';
      isValue = false;
    };
    for (const [at, piece] of rendered.split(new RegExp(`${this.#nonce}:(\\d+);`, 'u')).entries()) {
      const mark = at % 2 === 1 ? this.#marks[Number(piece)] : undefined;
      if (mark === undefined || mark === 'value') {
        text += mark === undefined ? piece : '';
        isValue ||= mark === 'value';
        continue;
      }
      endText();
      if (mark === 'history') drafts.push(...asHistory(history), { role: 'model', content: [] });
      else if ('role' in mark) drafts.push({ role: mark.role, content: [] });
      else drafts.at(-1)?.content.push(mark.part);
    }
    endText();
    const written = drafts.filter(({ content }) => content.length > 0);
    const isPlaced = written.some(({ metadata }) => metadata?.['purpose'] === 'history');
    return isPlaced ? written : withHistory(written, history);
  }
}

function asHistory(history: readonly Message[]): Draft[] {
  return history.map(({ role, content, metadata }) => ({
    role,
    content: [...content],
    metadata: { ...metadata, purpose: 'history' },
  }));
}

/** Earlier messages go before the user's last one if the template does not place them. */
function withHistory(messages: readonly Draft[], history: readonly Message[]): Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, ...history];
  return [...messages.slice(0, -1), ...history, last];
}
