/**
 * A JSON Schema as plain data, with the type of matching values. Uses only the keywords that
 * `findValueFault` knows: the same data checks requests, describes the interface, and types the
 * handlers.
 */
export interface Schema<T = unknown> {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly discriminator?: { readonly propertyName: string };
  readonly oneOf?: readonly Schema[];
  /** Carries the type of matching values; never set. */
  readonly valueType?: T | undefined;
}

/** The type of values that match a schema. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

type SchemaFields = Readonly<Record<string, Schema>>;
type InferFields<F extends SchemaFields> = { [K in keyof F]: Infer<F[K]> };
type Description = Pick<Schema, 'description'>;

/** Matches what `isUuid` accepts, in either case. */
const UUID_REGEX_SOURCE =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const uuid: Schema<string> = { type: 'string', format: 'uuid', pattern: UUID_REGEX_SOURCE };

export const dateTime: Schema<string> = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601',
};

export const boolean: Schema<boolean> = { type: 'boolean' };
export const anything: Schema = {};
export const nothing: Schema<null> = { type: 'null' };

/** The schema of a map with any keys and text values. */
export const textMap: Schema<Record<string, string>> = {
  type: 'object',
  additionalProperties: { type: 'string' },
};

export function text(keywords: Description = {}): Schema<string> {
  return { type: 'string', ...keywords };
}

export function number(keywords: Description = {}): Schema<number> {
  return { type: 'number', ...keywords };
}

export function integer(
  keywords: Description & Pick<Schema, 'minimum' | 'maximum' | 'default'> = {},
): Schema<number> {
  return { type: 'integer', ...keywords };
}

/** Returns a schema that also admits null. The given one must be neither `literal` nor `tagged`. */
export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  const { type, enum: allowedValues } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(allowedValues && { enum: [...allowedValues, null] }),
  };
}

export function literal<const T extends string | boolean>(value: T): Schema<T> {
  return { type: typeof value, const: value };
}

export function enumeration<const T extends string>(values: readonly T[]): Schema<T> {
  return { type: 'string', enum: values };
}

export function list<T>(items: Schema<T>): Schema<T[]> {
  return { type: 'array', items };
}

/** Returns the schema of an object with these fields; further fields are ignored. */
export function object<const R extends SchemaFields>(required: R): Schema<InferFields<R>>;
export function object<const R extends SchemaFields, const O extends SchemaFields>(
  required: R,
  optional: O,
): Schema<InferFields<R> & Partial<InferFields<O>>>;
export function object(required: SchemaFields, optional: SchemaFields = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

/** Returns the schema of objects whose variant is named by one field. */
export function tagged<T>(propertyName: string, variants: readonly Schema<T>[]): Schema<T> {
  return {
    type: 'object',
    required: [propertyName],
    discriminator: { propertyName },
    oneOf: variants,
  };
}
