import type { Budget } from './budget.ts';
import type { Role } from './node.ts';
import type { Picture } from './values.ts';

/** A part of a message in the form of the prompt format; `pending` marks a section to be filled. */
export type Part =
  | { readonly text: string }
  | { readonly media: { readonly url: string | Picture; readonly contentType?: string } }
  | { readonly metadata: { readonly purpose: string; readonly pending: true } };

export interface Message {
  readonly role: Role;
  readonly content: readonly Part[];
  readonly metadata?: { readonly [key: string]: unknown };
}

interface Draft extends Message {
  readonly content: Part[];
}

/** The messages of a prompt while it is rendered; what comes before any role is the user's. */
export class MessageBuilder {
  private readonly drafts: Draft[] = [{ role: 'user', content: [] }];
  private readonly text: string[] = [];
  /** Layout between two markers makes no part and no message; a value does, even of blanks alone. */
  private isBlank = true;
  private readonly indents: string[] = [];
  private isLineStart = false;

  constructor(
    private readonly history: readonly Message[],
    private readonly budget: Budget,
  ) {}

  addLayout(text: string): void {
    if (text.trim() !== '') this.isBlank = false;
    this.write(text);
  }

  addValue(text: string): void {
    if (text !== '') this.isBlank = false;
    this.write(text);
  }

  addPart(part: Part): void {
    this.indentLine();
    this.endText();
    this.drafts.at(-1)?.content.push(part);
  }

  beginRole(role: Role): void {
    this.indentLine();
    this.endText();
    this.drafts.push({ role, content: [] });
  }

  /** Earlier messages stand here; what follows is the model's until a role is named. */
  addHistory(): void {
    this.beginRole('model');
    const draft = this.drafts.pop();
    for (const { role, content, metadata } of this.history) {
      this.drafts.push({ role, content: [...content], metadata: { ...metadata, purpose: 'history' } });
    }
    if (draft) this.drafts.push(draft);
  }

  /** Every line written meanwhile begins with `indent`, as that of a partial that stands alone on its line. */
  indented(indent: string, write: () => void): void {
    if (indent === '') return write();
    this.indents.push(indent);
    this.isLineStart = true;
    write();
    this.indents.pop();
  }

  messages(): Message[] {
    this.endText();
    const written = this.drafts.filter(({ content }) => content.length > 0);
    const isPlaced = written.some(({ metadata }) => metadata?.['purpose'] === 'history');
    return isPlaced ? written : withHistory(written, this.history);
  }

  private write(text: string): void {
    if (text === '') return;
    this.budget.write(Buffer.byteLength(text));
    const indent = this.indents.join('');
    this.text.push(indent === '' ? text : this.indentLines(text, indent));
  }

  private indentLines(text: string, indent: string): string {
    this.budget.write(indent.length * text.split('\n').length);
    const begin = this.isLineStart ? indent : '';
    this.isLineStart = text.endsWith('\n');
    const body = this.isLineStart ? text.slice(0, -1) : text;
    return begin + body.replaceAll('\n', `\n${indent}`) + (this.isLineStart ? '\n' : '');
  }

  private indentLine(): void {
    if (this.isLineStart && this.indents.length > 0) this.text.push(this.indents.join(''));
    this.isLineStart = false;
  }

  private endText(): void {
    const text = this.text.join('');
    if (!this.isBlank) this.drafts.at(-1)?.content.push({ text });
    this.text.length = 0;
    this.isBlank = true;
  }
}

/** Earlier messages go before the user's last one where the template does not place them. */
function withHistory(messages: readonly Draft[], history: readonly Message[]): Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, ...history];
  return [...messages.slice(0, -1), ...history, last];
}
