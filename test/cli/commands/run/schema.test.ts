import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { type CommandResult, createTemporaryDirectory } from '../../../support/context.ts';
import { startScriptedServiceForTest } from '../../../support/scripted-service.ts';
import {
  creation,
  RUN,
  runAgainst,
  succeededRun,
  textOutput,
  VERSION,
} from './run-against-service.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
  },
  required: ['items'],
};

function writeSchemaFile(schema: unknown): string {
  const file = path.join(createTemporaryDirectory(), 'schema.json');
  writeFileSync(file, typeof schema === 'string' ? schema : JSON.stringify(schema));
  return file;
}

async function runWithSchema(
  data: string,
  schema: unknown,
  ...more: string[]
): Promise<CommandResult> {
  const service = await startScriptedServiceForTest(
    creation(succeededRun({ outputs: [textOutput(data)] })),
  );
  return runAgainst(service, ['run', VERSION, '--schema', writeSchemaFile(schema), ...more]);
}

describe('--schema', () => {
  it('accepts an output that matches', async () => {
    const { exitCode, stdout, stderr } = await runWithSchema('{"items":[{"price":1}]}', SCHEMA);
    expect(stdout()).toBe('{"items":[{"price":1}]}\n');
    expect(stderr()).toBe('');
    expect(exitCode).toBe(0);
  });

  it('names the first mismatch, prints the output, and exits with 5', async () => {
    const { exitCode, stdout, stderr } = await runWithSchema(
      '{"items":[{"price":1},{"price":"2"}]}',
      SCHEMA,
    );
    expect(exitCode).toBe(EXIT.runFailed);
    expect(stdout()).toBe('{"items":[{"price":1},{"price":"2"}]}\n');
    expect(stderr()).toBe(
      'error: the output does not match the schema at "/items/1/price": must be number (PROTOCOL_ERROR)\n',
    );
  });

  it('says that an answer is nested too deeply to be checked', async () => {
    const data = '['.repeat(10_000) + ']'.repeat(10_000);
    const { exitCode, stderr } = await runWithSchema(data, true);
    expect(stderr()).toContain('it has more than 500 levels');
    expect(exitCode).toBe(EXIT.runFailed);
  });

  it.each(['Here it is: {}', '```json\n{"items":[]}\n```', ''])(
    'says that %j is not JSON',
    async data => {
      const { exitCode, stderr } = await runWithSchema(data, SCHEMA);
      expect(exitCode).toBe(EXIT.runFailed);
      expect(stderr()).toContain('does not match the schema at "": it is not JSON');
    },
  );

  it('reports the mismatch in one JSON line with --json', async () => {
    const { exitCode, stdout, stderr } = await runWithSchema('{}', SCHEMA, '--json');
    expect(exitCode).toBe(EXIT.runFailed);
    expect(JSON.parse(stdout())).toMatchObject({ runId: RUN });
    expect(JSON.parse(stderr())).toMatchObject({
      status: 'PROTOCOL_ERROR',
      data: { runId: RUN, pointer: '/items' },
      exitCode: EXIT.runFailed,
    });
  });

  it.each([
    ['{', /is not JSON/],
    ['[]', /is not a JSON Schema/],
    [{ type: 'nonsense' }, /is not a JSON Schema that can be used: [^\n]+\n$/],
    [
      { $ref: 'https://example.com/schema.json' },
      /is not a JSON Schema that can be used: .+\nRemote references are not fetched/,
    ],
  ])('refuses the schema %j before anything is sent', async (schema, message) => {
    const { exitCode, stderr } = await runAgainst(await startScriptedServiceForTest(), [
      'run',
      VERSION,
      '--schema',
      writeSchemaFile(schema),
    ]);
    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toMatch(message);
  });

  it('accepts schemas of draft-07 and of 2020-12', async () => {
    const tuple = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
    };
    expect((await runWithSchema('[1]', tuple)).exitCode).toBe(EXIT.runFailed);
    expect((await runWithSchema('[1]', { prefixItems: [{ type: 'string' }] })).exitCode).toBe(
      EXIT.runFailed,
    );
  });
});
