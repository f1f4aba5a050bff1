import { Compile } from 'typebox/schema';
import { expect } from 'vitest';

interface Description {
  readonly paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Content }> }>
  >;
  readonly components: { readonly schemas: { readonly Error: object } };
}

type Content = Record<string, { schema?: { $ref?: string } }>;

/** The description by the first service of a process: all describe the same interface. */
let described: Description | undefined;

/** Checks answers against the description that the service itself gives of its interface. */
export class InterfaceDescription {
  constructor(private readonly description: Description) {}

  static async of(baseUrl: string): Promise<InterfaceDescription> {
    described ??= (await (await fetch(new URL('/openapi.json', baseUrl))).json()) as Description;
    return new InterfaceDescription(described);
  }

  /** Fails the test where the description does not allow this status, or not this body. */
  check(method: string, path: string, status: number, body: unknown): void {
    const [, faults] = compileSchema(this.schemaOf(method.toLowerCase(), path, status)).Errors(
      body,
    );
    expect(faults, `${method} ${path} ${status} fits the description`).toEqual([]);
  }

  private schemaOf(method: string, path: string, status: number): object {
    const operation = Object.entries(this.description.paths).find(([template]) =>
      matchesTemplate(template, path),
    )?.[1][method];

    // A route that is not there is described by its absence.
    if (!operation) return this.error(status >= 400);

    const content = operation.responses[String(status)]?.content['application/json'];
    if (!content?.schema) return this.error(false);
    return content.schema.$ref ? this.error(true) : content.schema;
  }

  private error(isAllowed: boolean): object {
    expect(isAllowed, 'the description allows this status').toBe(true);
    return this.description.components.schemas.Error;
  }
}

/**
 * Compiled once for all services of a process: they are described alike, and asked thousands of
 * times.
 */
const validators = new Map<string, ReturnType<typeof Compile>>();

function compileSchema(schema: object): ReturnType<typeof Compile> {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? Compile(schema);
  validators.set(text, validator);
  return validator;
}

function matchesTemplate(template: string, path: string): boolean {
  const [templateParts, pathParts] = [template.split('/'), path.split('/')];
  return (
    templateParts.length === pathParts.length &&
    templateParts.every((step, index) =>
      step.startsWith('{') ? pathParts[index] !== '' : step === pathParts[index],
    )
  );
}
