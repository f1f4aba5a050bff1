import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/core/exit-codes.ts';
import type { Run } from '../../src/wire/index.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

/** Seven loops in each other, over ten inputs each: ten million steps. */
const LOOPS = `${'{{#each @root}}'.repeat(7)}x${'{{/each}}'.repeat(7)}`;
const INPUT_NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const BACKTRACKING_SCHEMA = '{type: string, pattern: "^(a+)+$"}';
const BACKTRACKING_TEXT = `${'a'.repeat(60)}b`;

const LOOPING_PROMPT = {
  source: `${INPUT_NAMES.map(name => `{{${name}}}`).join('')}${LOOPS}`,
  inputs: Object.fromEntries(INPUT_NAMES.map(name => [name, 'v'])),
};

describe('a prompt that uses all that it may', () => {
  let service: TestService;
  let otherKey: string;
  beforeAll(async () => {
    service = await TestService.start();
    otherKey = await createKeyIn(service.dataDir, { user: 'ada' });
  });
  afterAll(() => service.close());

  it.each([
    {
      what: 'loops in loops',
      ...LOOPING_PROMPT,
      answer: { http: 200, data: { runStatus: 'failed' } },
    },
    {
      what: 'loops in loops, in a file as long as it may be',
      source: `${LOOPING_PROMPT.source}${'{{a}}'.repeat(20_000)}`,
      inputs: LOOPING_PROMPT.inputs,
      answer: { http: 200, data: { runStatus: 'failed' } },
    },
    {
      what: 'an input whose pattern tries every way',
      source: `---\ninput:\n schema:\n  type: object\n  properties:\n   a: ${BACKTRACKING_SCHEMA}\n---\n{{a}}`,
      inputs: { a: BACKTRACKING_TEXT },
      answer: { http: 422 },
    },
    {
      what: 'an answer whose pattern tries every way',
      source: `---\noutput:\n schema: ${BACKTRACKING_SCHEMA}\ninput:\n schema:\n  a: string\n---\n{{a}}`,
      inputs: { a: JSON.stringify(BACKTRACKING_TEXT) },
      answer: { http: 200, data: { runStatus: 'failed' } },
    },
  ])('does not keep other users waiting: $what', async ({ source, inputs, answer }) => {
    const { promptVersionId } = await service.publish('hostile', source);
    const meanwhile = { isOver: false };
    const startedAt = performance.now();
    const run = service
      .post<Run>('/runs', { promptVersionId, inputs: { textInputs: inputs } })
      .finally(() => {
        meanwhile.isOver = true;
      });

    let longestMs = 0;
    while (!meanwhile.isOver) {
      const before = process.cpuUsage();
      await service.data('/runs', { key: otherKey });
      const { user, system } = process.cpuUsage(before);
      longestMs = Math.max(longestMs, (user + system) / 1000);
    }

    expect(await run).toMatchObject(answer);

    // Only work of the service's own process can hold up the others; the machine's load doesn't
    // count.
    expect(longestMs).toBeLessThan((performance.now() - startedAt) * 0.6);
  });
});

describe('the built command', () => {
  it('fails a run of loops in loops, and names the bound', async () => {
    const directory = createTemporaryDirectory();
    writeFileSync(path.join(directory, 'loops.prompt'), LOOPING_PROMPT.source);
    const inputs = Object.entries(LOOPING_PROMPT.inputs).flatMap(([key, value]) => [
      '-i',
      `${key}=${value}`,
    ]);
    const args = ['run', path.join(directory, 'loops.prompt'), ...inputs];
    const bound = expect.stringMatching(
      /rendering the prompt takes (more than 1,000,000 steps|longer than 2 s)/,
    );
    const env = { PROMPTRUN_DATA_DIR: path.join(directory, 'data') };

    expect(await runCommand(args, { env })).toMatchObject({ code: EXIT.runFailed, stderr: bound });
  });
});
