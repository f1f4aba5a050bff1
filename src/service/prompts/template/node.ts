import type { JsonValue } from '../../files/json.ts';

/** Where a value of a template comes from. */
export type Expression =
  | { readonly kind: 'literal'; readonly value?: JsonValue }
  /** From the context `up` levels out. */
  | { readonly kind: 'path'; readonly up: number; readonly parts: readonly string[] }
  /** An `@` variable of the loop `up` levels out. */
  | { readonly kind: 'data'; readonly up: number; readonly parts: readonly string[] }
  /** A block parameter: the nth of the block that is `up` blocks with parameters out. */
  | { readonly kind: 'param'; readonly up: number; readonly nth: number; readonly parts: readonly string[] }
  | { readonly kind: 'lookup'; readonly object: Expression; readonly key: Expression }
  | { readonly kind: 'json'; readonly value: Expression; readonly indent?: Expression };

export const ROLES = ['system', 'user', 'model'] as const;
export type Role = (typeof ROLES)[number];

type Nodes = readonly TemplateNode[];

/** What decides between two branches. */
export type Test =
  /** There is a value and it is not empty; with `zero`, 0 is a value too. */
  | { readonly kind: 'filled'; readonly value: Expression; readonly zero?: boolean }
  | { readonly kind: 'equal'; readonly left: Expression; readonly right: Expression };

/** A template as a tree that is walked, never as code: a value can't become anything but text. Plain JSON. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: Expression }
  | { readonly kind: 'media'; readonly url: Expression; readonly contentType?: Expression }
  | { readonly kind: 'role'; readonly role: Role }
  | { readonly kind: 'history' }
  | { readonly kind: 'section'; readonly name: Expression }
  | { readonly kind: 'branch'; readonly test: Test; readonly yes: Nodes; readonly no: Nodes }
  | {
      readonly kind: 'each' | 'with' | 'bare';
      readonly value: Expression;
      readonly body: Nodes;
      readonly otherwise: Nodes;
      /** Whether the body takes block parameters. */
      readonly params: boolean;
    }
  | {
      readonly kind: 'partial';
      readonly name: string;
      readonly context?: Expression;
      readonly hash: readonly (readonly [string, Expression])[];
      readonly indent: string;
      /** What stands between `{{#> name}}` and its end. */
      readonly block?: Nodes;
    }
  /** `{{#*inline "name"}}`: known from here to the end of the block around it. */
  | { readonly kind: 'inline'; readonly name: string; readonly body: Nodes };

/** `{{> @partial-block}}` is what stands between `{{#> name}}` and its end. */
export const PARTIAL_BLOCK = '@partial-block';
