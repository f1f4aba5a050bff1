import type { LoadedImage } from '../images/loaded-image.ts';
import type { Role } from './template/node.ts';

export type MessagePart = { readonly text: string } | { readonly image: LoadedImage };

export interface Message {
  readonly role: Role;
  readonly parts: readonly MessagePart[];
}

/** A prompt with its inputs in place, for an engine. */
export interface RenderedPrompt {
  readonly messages: readonly Message[];
  /** The messages as one text, pictures described. */
  readonly text: string;
}
