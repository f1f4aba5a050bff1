/** Where a value of a template comes from. Everything but `literal` is only known when the prompt is rendered. */
export type TemplateValue =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'field'; readonly key: string }
  /** Of the loop `up` levels out, 0 being the nearest. */
  | { readonly kind: 'loop'; readonly part: LoopPart; readonly up: number }
  | { readonly kind: 'json'; readonly value: TemplateValue };

export type LoopPart = 'value' | 'key' | 'index' | 'first' | 'last';

export const ROLES = ['system', 'user', 'model'] as const;
export type Role = (typeof ROLES)[number];

/** What decides between two branches. */
export type TemplateTest =
  /** There is a value and it is not empty. */
  | { readonly kind: 'filled'; readonly value: TemplateValue }
  /** There is a value. */
  | { readonly kind: 'given'; readonly value: TemplateValue }
  | { readonly kind: 'equal'; readonly left: TemplateValue; readonly right: TemplateValue };

/** A template as a tree that is walked, never as code: a value can't become anything but text. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: TemplateValue }
  | { readonly kind: 'image'; readonly key: string }
  | { readonly kind: 'role'; readonly role: Role }
  | {
      readonly kind: 'branch';
      readonly test: TemplateTest;
      readonly yes: readonly TemplateNode[];
      readonly no: readonly TemplateNode[];
    }
  /** Once for each text input that has a value. */
  | {
      readonly kind: 'loop';
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    };
