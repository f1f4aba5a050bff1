import type { LoadedImage } from '../images/loaded-image.ts';
import type { Message, MessagePart } from './rendered.ts';
import type { Role } from './template-node.ts';

interface Draft {
  readonly role: Role;
  readonly parts: MessagePart[];
  /** Layout between two role markers makes no message. */
  blank: boolean;
}

/** The messages of a prompt while it is rendered; what comes before any role is the user's. */
export class MessageDrafts {
  private draft: Draft = { role: 'user', parts: [], blank: true };
  private readonly drafts = [this.draft];

  begin(role: Role): void {
    this.draft = { role, parts: [], blank: true };
    this.drafts.push(this.draft);
  }

  addLayout(text: string): void {
    this.add(text, text.trim() === '');
  }

  addValue(text: string): void {
    this.add(text, false);
  }

  addImage(image: LoadedImage): void {
    this.draft.blank = false;
    this.draft.parts.push({ image });
  }

  messages(): Message[] {
    return this.drafts.filter(({ blank }) => !blank).map(({ role, parts }) => ({ role, parts }));
  }

  private add(text: string, blank: boolean): void {
    const { parts } = this.draft;
    this.draft.blank &&= blank;
    const last = parts.at(-1);
    if (last && 'text' in last) parts[parts.length - 1] = { text: last.text + text };
    else parts.push({ text });
  }
}
