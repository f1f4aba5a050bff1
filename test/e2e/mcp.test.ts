import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPENING, runCall, startAgent, startAgentProcess } from '../support/agent.ts';
import { COMMAND, type RunningCommand, startCommand } from '../support/command.ts';
import { runCommandHere } from '../support/command-here.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { hasLinks, isPosix } from '../support/system.ts';

describe('an agent on a fresh machine', () => {
  it('finds all prompts, and renders one for free', async () => {
    const { client, call } = await startAgentProcess();
    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toEqual(['search_prompts', 'run_prompt', 'get_run']);

    const prompts = (await client.listPrompts()).prompts;
    expect(prompts.find(({ name }) => name === 'postcard')?.arguments).toMatchObject([
      { name: 'place', required: true },
      { name: 'mood', required: false },
    ]);

    const rendered = await client.getPrompt({ name: 'hello', arguments: { name: 'Ada' } });
    expect(rendered.messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('Ada') as string } },
    ]);

    const { content } = await call('search_prompts', { words: 'postcard' });
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject([
      { prompt: 'postcard', inputs: [{ name: 'place' }, { name: 'mood' }] },
    ]);
  });

  it('gets the picture of a run, its id and what it cost', async () => {
    const { call } = await startAgent();
    const { content, structuredContent, isError } = await call('run_prompt', {
      prompt: 'postcard',
      inputs: { place: 'Lisbon' },
    });

    expect(isError ?? false).toBe(false);
    expect(content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
    expect(
      Buffer.from(content[0]?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');

    expect(content.at(-1)?.text).toContain(structuredContent?.runId);
    expect(structuredContent?.credits).toBe(4);
    expect(content.at(-1)?.text).toMatch(/ tokens?, \$0\.00$/);
  });

  it('learns from the tool what is wrong with a call', async () => {
    const { call } = await startAgent();
    const faultyCalls: [Record<string, unknown>, string][] = [
      [{ prompt: 'hello', inputs: { nam: 'Ada' } }, 'nam'],
      [{ prompt: 'hello' }, 'name'],
      [{ prompt: 'sandbox', input: { note: 'x' } }, 'no argument "input"; did you mean inputs?'],
      [{ prompt: 'postcard', inputs: { place: 'x' }, options: { colour: 'red' } }, 'colour'],
      [{ prompt: 'describe', images: ['/etc/hosts'] }, 'working directory'],
      [{ prompt: 'describe', images: ['../outside.png'] }, 'working directory'],
      [{ prompt: 'describe', inputs: { picture: '/etc/hosts' } }, 'working directory'],
      [{ prompt: 'no-such-prompt' }, 'no-such-prompt'],
    ];

    for (const [args, expectedText] of faultyCalls) {
      const { isError, content } = await call('run_prompt', args);
      expect([isError, content[0]?.text]).toEqual([true, expect.stringContaining(expectedText)]);
      expect(content[0]?.text).not.toMatch(/(?:^|\s)--?[a-z]|promptrun/u);
    }

    const { content } = await call('run_prompt', { prompt: 'no-such-prompt' });
    expect(content[0]?.text).toContain('Find prompts with the tool search_prompts.');
  });

  it('gets a failed run as a tool error with the text of the run', async () => {
    const { call } = await startAgent();
    const { isError, content } = await call('run_prompt', {
      prompt: 'sandbox',
      options: { outcome: 'failed' },
    });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('asked for with outcome=failed');
  });

  it('learns the id of a run from its progress, abandons the call, and waits for the run again', async () => {
    const { call, stderr } = await startAgent();
    const giveUp = new AbortController();
    let runId: string | undefined;
    const onprogress = ({ message = '' }: { message?: string | undefined }): void => {
      runId = /run ([\da-f-]{36})/u.exec(message)?.[1];
      if (runId !== undefined) giveUp.abort();
    };

    const args = { prompt: 'sandbox', options: { delaySeconds: '1' } };
    await expect(call('run_prompt', args, { signal: giveUp.signal, onprogress })).rejects.toThrow();

    const { content } = await call('get_run', { run: runId });
    expect(content[0]?.text).toBe('The rehearsal is over.');
    expect(stderr()).toContain(`promptrun runs wait ${runId}`);
  });

  it('names the command that reruns a run which the end of the session stopped', async () => {
    const { call, client, stderr } = await startAgent();
    const giveUp = new AbortController();
    const args = { prompt: 'sandbox', options: { delaySeconds: '30' } };
    const onprogress = (): void => giveUp.abort();

    await expect(call('run_prompt', args, { signal: giveUp.signal, onprogress })).rejects.toThrow();

    await client.close();
    const [, runId] = /promptrun runs wait ([\da-f-]{36})/u.exec(stderr()) ?? [];

    expect(stderr()).toContain(`run ${runId} was stopped and may have been paid for`);
    expect(stderr()).toContain(`promptrun runs rerun ${runId}`);
  });

  it('makes twenty calls at once', async () => {
    const { call } = await startAgent();
    const names = Array.from({ length: 20 }, (_, index) => `N${index}.`);
    const results = await Promise.all(
      names.map(name => call('run_prompt', { prompt: 'hello', inputs: { name } })),
    );
    expect(
      results.map(({ content }, index) => content[0]?.text?.includes(names[index] ?? '')),
    ).toEqual(names.map(() => true));
  });

  it('spends no more than --max-credits allows the session', async () => {
    const { call } = await startAgent(['--max-credits', '5']);
    const postcard = { prompt: 'postcard', inputs: { place: 'x' } };
    const { content, isError } = await call('run_prompt', postcard);

    expect([isError ?? false, content.at(-1)?.text]).toEqual([
      false,
      expect.stringMatching(/, 4 credits, \$0\.00$/),
    ]);

    const refused = await call('run_prompt', postcard);
    expect([refused.isError, refused.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('CAP_REACHED'),
    ]);
    expect(refused.content[0]?.text).not.toContain('--');

    const small = await call('run_prompt', { prompt: 'hello', inputs: { name: 'Ada' } });
    expect(small.content[0]?.text).toContain('Ada');
  });

  it('runs only what is allowed, under any name that leads to it', async () => {
    const home = createTemporaryDirectory();
    const folder = path.join(home, 'prompts');
    mkdirSync(folder);
    writeFileSync(
      path.join(folder, 'mine.prompt'),
      '---\ntitle: Mine\nmodel: echo\n---\nIt is mine.\n',
    );
    writeFileSync(path.join(folder, 'broken.prompt'), '---\nmodel: [\n---\n');
    const flags = ['--prompts', 'prompts', '--allow', 'mine', '--allow', 'hello'];
    const { client, call, stderr } = await startAgent(flags, { home });

    expect(stderr()).toContain('broken.prompt');

    // Each search reads the files again.
    await call('search_prompts', { words: 'mine' });
    await call('search_prompts', { words: 'mine' });

    expect(stderr().match(/broken\.prompt/g)).toHaveLength(1);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['mine', 'hello']);
    expect((await call('run_prompt', { prompt: 'mine' })).content[0]?.text?.trim()).toBe(
      'It is mine.',
    );

    const refused = await call('run_prompt', { prompt: 'postcard', inputs: { place: 'x' } });
    expect([refused.isError, refused.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('not allowed'),
    ]);
  });

  it('runs no git revision, whatever is allowed and also behind an alias', async () => {
    const home = createTemporaryDirectory();
    writeFileSync(path.join(home, 'a.prompt'), '---\nmodel: echo\n---\nNow.\n');
    await runCommandHere(['alias', 'set', 'old', 'a.prompt@git:HEAD'], { home });

    for (const flags of [[], ['--allow', 'a.prompt']]) {
      const { call } = await startAgent(flags, { home });
      expect((await call('run_prompt', { prompt: 'a.prompt' })).content[0]?.text?.trim()).toBe(
        'Now.',
      );
      for (const prompt of ['a.prompt@git:HEAD', 'old']) {
        const refused = await call('run_prompt', { prompt });
        expect([refused.isError, refused.content[0]?.text]).toEqual([
          true,
          expect.stringContaining('names a git revision'),
        ]);
      }
    }
  });

  it('runs an allowed alias by any name, an allowed version only as such, and an allowed label where it leads', async () => {
    const home = createTemporaryDirectory();
    const publish = async (text: string): Promise<string> => {
      writeFileSync(path.join(home, 'mine.prompt'), `---\nmodel: echo\n---\n${text}\n`);
      const query = ['--query', '[0].promptVersionId'];
      return (
        await runCommandHere(['prompts', 'publish', 'mine.prompt', ...query], { home })
      ).stdout.trim();
    };

    const first = await publish('one');
    const second = await publish('two');
    await runCommandHere(['alias', 'set', 'greet', 'hello'], { home });

    const { call } = await startAgent(['--allow', first, '--allow', 'greet'], { home });
    const run = async (prompt: string, by = call): Promise<unknown> =>
      (await by('run_prompt', { prompt, inputs: prompt === 'hello' ? { name: 'Ada' } : {} }))
        .content[0]?.text;

    expect(await run(first)).toBe('one');
    expect(await run('mine')).toContain('not allowed');
    expect(await run('hello')).toContain('Ada');

    await runCommandHere(['versions', 'label', 'mine', first, 'live'], { home });
    const labelled = await startAgent(['--allow', 'mine@live'], { home });

    expect(await run('mine@live', labelled.call)).toBe('one');
    expect(await run(second, labelled.call)).toContain('not allowed');

    await runCommandHere(['versions', 'label', 'mine', second, 'live'], { home });
    expect(await run('mine@live', labelled.call)).toBe('two');
    expect(await run('mine', labelled.call)).toBe('two');
    expect(await run(first, labelled.call)).toContain('not allowed');
  });
});

describe('the end of a session', () => {
  /** Starts a session without a client, which would end it in its own way. */
  function startSession(...messages: object[]): RunningCommand {
    const started = startCommand(['mcp'], { stdin: { open: true } });
    for (const message of [OPENING, ...messages]) {
      started.child.stdin.write(`${JSON.stringify(message)}\n`);
    }
    return started;
  }

  it('comes once the input has ended and quick requests are answered, with exit 0', async () => {
    const { child, ended } = startSession({ jsonrpc: '2.0', id: 2, method: 'prompts/list' });
    child.stdin.end();
    const { code, stdout } = await ended;
    const answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { id: number });

    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2]);
    expect(code).toBe(0);
  });

  it('comes once standard output is closed', async () => {
    const { child, ended, untilStdout } = startSession(
      runCall(2, { prompt: 'sandbox', options: { delaySeconds: '130' } }),
    );
    await untilStdout(/run [\da-f-]{36} is running/u);
    child.stdout.destroy();
    expect((await ended).code).toBe(0);
  });

  // On Windows only a write reveals that the reader has closed a pipe.
  it.runIf(isPosix)(
    'comes once standard output is closed, even if nothing is written',
    async () => {
      const { child, ended, untilStdout } = startSession();
      await untilStdout(/"id":1/u);
      child.stdout.destroy();
      expect(await ended).toMatchObject({ code: 0, stderr: '' });
    },
  );

  it.each([
    // Windows has no signals: it ends the process at once.
    ...(isPosix ? [['SIGTERM', 143] as const] : []),
    ['the end of the input', 0] as const,
  ])('stops the runs in progress, which have then failed: %s', async (end, expectedCode) => {
    const { child, ended, untilStdout, home } = startSession(
      runCall(2, { prompt: 'sandbox', options: { delaySeconds: '130' } }),
    );
    await untilStdout(/run [\da-f-]{36} is running/u);

    if (end === 'SIGTERM') {
      child.kill('SIGTERM');
    } else {
      child.stdin.end();
    }

    const { code, stderr } = await ended;
    expect(code).toBe(expectedCode);
    expect(stderr).not.toContain('continues');

    const { stdout } = await runCommandHere(['runs', 'list', '--query', '[].runStatus'], { home });
    expect(JSON.parse(stdout)).toEqual(['failed']);
  });
});

it.runIf(hasLinks)(
  'leaves out files of --prompts that lead out of the folder, or are not files, and says so once',
  async () => {
    const home = createTemporaryDirectory();
    mkdirSync(path.join(home, 'prompts'));

    for (const name of ['secret.prompt', 'prompts/mine.prompt']) {
      writeFileSync(path.join(home, name), 'Hello');
    }

    symlinkSync('../secret.prompt', path.join(home, 'prompts/linked.prompt'));
    symlinkSync('mine.prompt', path.join(home, 'prompts/twin.prompt'));
    symlinkSync('nowhere', path.join(home, 'prompts/dangling.prompt'));

    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [path.join(home, 'prompts/pipe.prompt')]);
    }

    const { client, call, stderr } = await startAgent(['--prompts', 'prompts'], { home });
    const names = (await client.listPrompts()).prompts.map(({ name }) => name);

    expect(names).toEqual(expect.arrayContaining(['mine', 'twin']));

    for (const name of ['linked', 'dangling', 'pipe']) expect(names).not.toContain(name);
    expect(stderr().match(/linked\.prompt is left out: it leads out of/gu)).toHaveLength(1);
    expect(stderr()).toContain('dangling.prompt is left out: it is a link to nothing');

    const { isError } = await call('run_prompt', { prompt: 'linked' });
    expect(isError).toBe(true);
  },
);

it.runIf(isPosix)('writes skills whose command lines run as they stand', async () => {
  const { home } = await runCommandHere(['prompts', 'skill', 'hello', 'postcard', 'sandbox']);
  symlinkSync(COMMAND, path.join(home, 'promptrun'));
  const PATH = `${home}${path.delimiter}${process.env['PATH'] ?? ''}`;
  const printed = ['hello', 'postcard', 'sandbox'].map(name => {
    const text = readFileSync(path.join(home, `.claude/skills/${name}/SKILL.md`), 'utf8');
    const [, line = 'false'] = /^````sh\n(.*)\n````$/mu.exec(text) ?? [];
    return execFileSync('sh', ['-c', line], {
      cwd: home,
      env: buildCommandEnvironment(home, { PATH }),
    }).toString();
  });

  expect(printed).toEqual([
    'Hello, your name! A pleasant day to you.\n',
    expect.stringMatching(/^file:.*\.png\n$/u),
    'The rehearsal is over.\n',
  ]);
});
