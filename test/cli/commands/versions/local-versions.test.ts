import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { createMachine, SUM } from '../prompts/local-machine.ts';

describe('versions diff', () => {
  it('shows the changes between the latest two versions, the older first', async () => {
    const { home, promptrun } = createMachine({ 'sum.prompt': SUM });
    await promptrun(['prompts', 'publish', 'sum.prompt']);

    expect(await promptrun(['versions', 'diff', 'sum'])).toMatchObject({ exitCode: 0, stdout: '' });

    writeFileSync(
      path.join(home, 'sum.prompt'),
      SUM.replace('who?', 'name?').replace('{{who}}', '{{name}}'),
    );
    await promptrun(['prompts', 'publish', 'sum.prompt', '--quiet']);
    const { stdout } = await promptrun(['versions', 'diff', 'sum']);

    expect(stdout).toContain('\n- {{count}} for {{who}}\n+ {{count}} for {{name}}\n');

    const json = await promptrun([
      'versions',
      'diff',
      'sum',
      '--query',
      'changes[?what==`input`].name',
    ]);
    expect(JSON.parse(json.stdout)).toEqual(['who', 'name']);
  });
});

it('versions list of a file that is not published shows how to publish it', async () => {
  const { promptrun } = createMachine({ 'sum.prompt': SUM });
  const { stderr, exitCode } = await promptrun(['versions', 'list', 'sum.prompt']);

  expect(stderr).toContain(
    'error: nothing is published under the slug of sum.prompt (NOT_FOUND_ERROR)\n' +
      'To publish the file: promptrun prompts publish sum.prompt',
  );
  expect(exitCode).toBe(EXIT.notFound);

  await promptrun(['prompts', 'publish', 'sum.prompt']);
  expect((await promptrun(['versions', 'list', 'sum.prompt'])).stdout).toMatch(/latest/u);
});
