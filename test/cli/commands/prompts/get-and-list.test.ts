import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { runWithScript } from '../../../support/run-with-script.ts';
import { failure, success } from '../../../support/scripted-service.ts';
import { createMachine } from './local-machine.ts';

describe('prompts without a verb', () => {
  it('lists the prompts, the simplest sample first', async () => {
    const { stdout, exitCode } = await createMachine().promptrun(['prompts']);
    expect(stdout).toMatch(/^hello\t.*\npostcard\t/);
    expect(exitCode).toBe(0);
  });

  it('prints its help if another service is configured, and sends it nothing', async () => {
    const { stdout, exitCode } = await runWithScript([], ['prompts']);
    expect(stdout).toMatch(/^Usage: promptrun prompts \[options\] \[command\]/);
    expect(exitCode).toBe(0);
  });

  it('refuses a verb that does not exist', async () => {
    const { stderr, exitCode } = await createMachine().promptrun(['prompts', 'lst']);
    expect(stderr).toMatch(/^error: unknown command 'lst'; did you mean list\?/);
    expect(exitCode).toBe(EXIT.usage);
  });
});

describe('prompts get', () => {
  it('shows how to run the prompt by the name that was given', async () => {
    const { stdout } = await createMachine().promptrun(['prompts', 'get', 'hello', '--no-color'], {
      terminal: { stdout: true },
    });
    expect(stdout).toContain("Run it: promptrun run hello -i 'name=…'\n");
  });

  it('suggests the nearest prompt for a name that does not exist, and the list of names', async () => {
    const { stderr, exitCode } = await createMachine().promptrun(['prompts', 'get', 'helo']);
    expect(stderr).toContain(
      'error: the prompt "helo" does not exist; did you mean hello? (NOT_FOUND_ERROR)\nList the prompts with: promptrun prompts list\n',
    );
    expect(exitCode).toBe(EXIT.notFound);
  });
});

describe('prompts list', () => {
  it('lists every prompt of the local service', async () => {
    const { promptrun } = createMachine();
    const { stdout, exitCode } = await promptrun(['prompts', 'list', '--query', 'sort([].slug)']);
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining(['describe', 'hello', 'postcard', 'sandbox']),
    );
    expect(exitCode).toBe(0);
  });

  it('suggests the search if a service does not list its prompts', async () => {
    const script = [
      { expect: { path: '/prompts' }, answer: failure(404, 'NOT_FOUND_ERROR', 'no such endpoint') },
    ];
    const { stderr, exitCode } = await runWithScript(script, ['prompts', 'list']);
    expect(stderr).toMatch(
      /^error: \S+ does not list its prompts \(USAGE_ERROR\)\n.*promptrun prompts search/,
    );
    expect(exitCode).toBe(EXIT.usage);
  });

  it('prints an empty list if there are no prompts', async () => {
    const script = [
      { expect: { path: '/prompts' }, answer: success({ rows: [], hasMore: false }) },
    ];
    expect(await runWithScript(script, ['prompts', 'list', '--json'])).toMatchObject({
      stdout: '[]\n',
      exitCode: 0,
    });
  });
});
