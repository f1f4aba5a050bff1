import { randomUUID } from 'node:crypto';
import type { Role } from './syntax.ts';

/** A part of a message in dotprompt's form; `pending` marks a section to be filled. */
export type TemplatePart =
  | { readonly text: string }
  | {
      readonly media: {
        /** The description, for an image that is an input. */
        readonly url: string;
        readonly contentType?: string;
        /** The index of that image among the image inputs, from 0. */
        readonly imageIndex?: number;
      };
    }
  | { readonly metadata: { readonly purpose: string; readonly pending: true } };

export interface TemplateMessage {
  readonly role: Role;
  readonly content: readonly TemplatePart[];
  readonly metadata?: { readonly [key: string]: unknown };
}

interface MessageDraft extends TemplateMessage {
  readonly content: TemplatePart[];
}

/** A marker in a rendered text; `value` means that the blanks after it are a value, not layout. */
type Mark = { readonly role: Role } | { readonly part: TemplatePart } | 'history' | 'value';

/**
 * Marks places in a text while it is rendered, with a word that is random for each render, so that
 * no input can forge it.
 */
export class Marks {
  readonly #nonce = randomUUID();
  readonly #marks: Mark[] = [];

  /** Returns the text of a new marker. */
  add(mark: Mark): string {
    return `${this.#nonce}:${this.#marks.push(mark) - 1};`;
  }

  /** Splits a rendered text into messages. Text before the first role belongs to the user. */
  splitMessages(renderedText: string, history: readonly TemplateMessage[]): TemplateMessage[] {
    const drafts: MessageDraft[] = [{ role: 'user', content: [] }];
    let text = '';
    let isValue = false;
    const pushText = (): void => {
      // Blanks between two markers are layout and are dropped, unless they are a value.
      if (isValue || text.trim() !== '') drafts.at(-1)?.content.push({ text });
      text = '';
      isValue = false;
    };

    for (const [index, piece] of this.#splitPieces(renderedText).entries()) {
      const mark = index % 2 === 1 ? this.#marks[Number(piece)] : undefined;
      if (mark === undefined || mark === 'value') {
        text += mark === undefined ? piece : '';
        isValue ||= mark === 'value';
        continue;
      }

      pushText();

      if (mark === 'history') {
        drafts.push(...toHistoryDrafts(history), { role: 'model', content: [] });
      } else if ('role' in mark) {
        drafts.push({ role: mark.role, content: [] });
      } else {
        drafts.at(-1)?.content.push(mark.part);
      }
    }

    pushText();
    const filledDrafts = drafts.filter(({ content }) => content.length > 0);
    const placesHistory = filledDrafts.some(({ metadata }) => metadata?.['purpose'] === 'history');
    return placesHistory ? filledDrafts : withHistory(filledDrafts, history);
  }

  /**
   * Returns texts and, between them, the indices of marks. A regular expression with the random word
   * would be compiled each time.
   */
  #splitPieces(rendered: string): string[] {
    const [first = '', ...otherParts] = rendered.split(`${this.#nonce}:`);
    const pieces = [first];
    for (const otherPart of otherParts) {
      const [index] = /^\d+(?=;)/u.exec(otherPart) ?? [];
      if (index === undefined) {
        pieces.push(`${pieces.pop()}${this.#nonce}:${otherPart}`);
      } else {
        pieces.push(index, otherPart.slice(index.length + 1));
      }
    }

    return pieces;
  }
}

function toHistoryDrafts(history: readonly TemplateMessage[]): MessageDraft[] {
  return history.map(({ role, content, metadata }) => ({
    role,
    content: [...content],
    metadata: { ...metadata, purpose: 'history' },
  }));
}

/** Inserts earlier messages before the user's last one if the template does not place them. */
function withHistory(
  messages: readonly MessageDraft[],
  history: readonly TemplateMessage[],
): TemplateMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, ...history];
  return [...messages.slice(0, -1), ...history, last];
}
