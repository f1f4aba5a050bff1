import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { png } from '../../../support/png.ts';
import { createMachine, SUM } from './local-machine.ts';

describe('prompts render', () => {
  it('shows the messages for the model, and publishes nothing', async () => {
    const { promptrun } = createMachine({
      'sum.prompt': SUM,
      'in.yaml': 'count: 3\nwho: [Ada, 1.50]\n',
    });
    const { stdout } = await promptrun([
      'prompts',
      'render',
      'sum.prompt',
      '--inputs',
      'in.yaml',
      '-i',
      'who=Ada',
    ]);
    expect(stdout).toBe('user:\n3 for Ada\n');
    expect((await promptrun(['prompts', 'get', 'sum'])).exitCode).toBe(EXIT.notFound);
  });

  it('prints the form of the dotprompt specification with --json', async () => {
    const { promptrun } = createMachine();
    const { stdout } = await promptrun(['prompts', 'render', 'hello', '-i', 'name=Ada', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      messages: [
        { role: 'user', content: [{ text: expect.stringContaining('Hello, Ada!') as string }] },
      ],
      input: { schema: expect.objectContaining({ type: 'object' }) as object },
      config: {},
      model: 'echo',
      ext: {},
    });
  });

  it('accepts images from files, and from URLs that it does not fetch', async () => {
    const { promptrun } = createMachine({ 'a.png': png(1, 1) });
    const renderImageUrl = async (source: string): Promise<unknown> =>
      JSON.parse(
        (
          await promptrun([
            'prompts',
            'render',
            'describe',
            '--image',
            source,
            '--json',
            '--query',
            'messages[0].content[?media].media.url | [0]',
          ])
        ).stdout.replace(/^(.*)\n$/, '"$1"'),
      );

    expect(await renderImageUrl('a.png')).toBe(
      `data:image/png;base64,${png(1, 1).toString('base64')}`,
    );
    expect(await renderImageUrl('https://nowhere.invalid/b.png')).toBe(
      'https://nowhere.invalid/b.png',
    );
  });

  it('converts the texts of -i to the types of the schema, as a run does', async () => {
    const { promptrun } = createMachine({
      'sum.prompt': SUM.replace('{{count}}', '{{json count}}'),
    });
    const converted = await promptrun(['prompts', 'render', 'sum.prompt', '-i', 'count=3']);
    expect(converted.stdout).toBe('user:\n3 for\n');
    const refused = await promptrun(['prompts', 'render', 'sum.prompt', '-i', 'count=three']);
    expect(refused.stderr).toContain('count');
    expect(refused.exitCode).toBe(EXIT.usage);
  });

  it('refuses missing and unknown inputs with the messages of a run', async () => {
    const { promptrun } = createMachine({
      'sum.prompt': SUM,
      'in.json': '{"count": 3, "extra": 1}',
    });
    const render = (...flags: string[]): Promise<{ stderr: string; exitCode: number }> =>
      promptrun(['prompts', 'render', 'sum.prompt', ...flags]);
    const missing = await render();

    expect(missing.stderr).toBe(
      'error: missing input: count (USAGE_ERROR)\nGive it with -i count=…\n',
    );
    expect(missing.exitCode).toBe(EXIT.usage);
    expect((await render('-i', 'cuont=3')).stderr).toMatch(
      /^error: the prompt has no input "cuont"; did you mean count\?/u,
    );
    expect((await render('--inputs', 'in.json')).exitCode).toBe(0);
  });
});
