import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { InvalidInputsError } from '../../../src/prompts/definition.ts';
import { convertForeign } from '../../../src/prompts/foreign/convert-foreign.ts';
import { parsePromptFile } from '../../../src/prompts/parse/parse-prompt.ts';
import { SharedTasks } from '../../../src/prompts/tasks/prompt-tasks.ts';
import { TasksClosedError } from '../../../src/prompts/tasks/task-order.ts';
import {
  TaskProcesses,
  type TaskProcessOptions,
} from '../../../src/prompts/tasks/task-processes.ts';
import { LimitExceededError } from '../../../src/utils/limit-exceeded.ts';
import { createTemporaryDirectory } from '../../support/context.ts';

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const tasks of opened.splice(0)) await tasks.close();
});

function createProcesses(options?: TaskProcessOptions): TaskProcesses {
  const tasks = new TaskProcesses(options);
  opened.push(tasks);
  return tasks;
}

function createSharedTasks(): SharedTasks {
  const tasks = new SharedTasks();
  opened.push(tasks);
  return tasks;
}

const head = '---\ninput:\n schema:\n  count: integer\n  list?: any\n---\n';
const typedPrompt = parsePromptFile(`${head}{{count}} {{list}}`, 'x.prompt');

const loops = parsePromptFile(
  `---\ninput:\n schema:\n  l(array): integer\n---\n${'{{#each @root.l}}'.repeat(7)}x${'{{/each}}'.repeat(7)}`,
  'loops.prompt',
);

const bomb = {
  definition: loops,
  textInputs: { l: JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) },
  imageDescriptions: [],
};

/** Counts how often this process did something else until `work` ended. */
async function countTurnsDuring(work: Promise<unknown>): Promise<number> {
  const during = { turns: 0, isOver: false };
  const end = (): void => {
    during.isOver = true;
  };

  work.then(end, end);

  while (!during.isOver) {
    await new Promise(resolve => setImmediate(resolve));
    during.turns += 1;
  }

  return during.turns;
}

describe('a task of a prompt in a separate process', () => {
  it('returns the same as in this process, and errors with their class and fields', async () => {
    const tasks = createProcesses();
    const readTexts = (texts: Record<string, string>): Promise<unknown> =>
      tasks.perform({ name: 'readTexts', work: { definition: typedPrompt, texts } });

    expect(await readTexts({ count: '3', list: '[1]' })).toEqual({ count: 3, list: [1] });

    const refused = await readTexts({ count: '1.5' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidInputsError);
    expect(refused).toMatchObject({ faults: ['the input count must be a whole number'] });

    const work = { text: '{{> a}}', file: '/x.prompt', partials: { a: '{{/if}}' } };
    expect(await tasks.perform({ name: 'parse', work })).toMatchObject({
      findings: [{ severity: 'fault', file: '_a.prompt', line: 1 }],
    });
  });

  it.each([
    [true, 1],
    [false, 2],
  ])('follows another in the same process only for one user: %j', async (isForOneUser, count) => {
    const tasks = createProcesses({ isForOneUser });
    const started: unknown[] = [];
    const onStart = (child: unknown): unknown => started.push(child);
    subscribe('child_process', onStart);

    try {
      for (const list of ['[1]', '[2]']) {
        const work = { definition: typedPrompt, texts: { count: '3', list } };
        expect(await tasks.perform({ name: 'readTexts', work })).toEqual({
          count: 3,
          list: JSON.parse(list),
        });
      }
    } finally {
      unsubscribe('child_process', onStart);
    }

    expect(started).toHaveLength(count);
  });

  it('is ended when its time is over, and the next one is done', async () => {
    const tasks = createProcesses();
    const yaml = '- 1\n'.repeat(20_000);
    const names = Array.from({ length: 40 }, (_, n) => `f${n}`);
    const definition = parsePromptFile(
      `---\ninput:\n schema:\n${names.map(name => `  ${name}(array): integer\n`).join('')}---\nx`,
      'x.prompt',
    );
    const work = { definition, texts: Object.fromEntries(names.map(name => [name, yaml])) };

    await expect(tasks.perform({ name: 'readTexts', work })).rejects.toThrow(
      'checking the inputs takes longer than 1 s',
    );

    const small = { definition: typedPrompt, texts: { count: '1' } };
    expect(await tasks.perform({ name: 'readTexts', work: small })).toEqual({ count: 1 });
  });

  it('is ended when it takes more memory than it may, and harms nothing else', async () => {
    const tasks = createProcesses({ memoryMiB: 24 });
    const work = { text: `---\nconfig: [${'1,'.repeat(60_000)}1]\n---\n`, file: '/x.prompt' };
    await expect(tasks.perform({ name: 'parse', work })).rejects.toThrow(
      new LimitExceededError('reading the prompt file takes more than 48 MiB of memory'),
    );
    const small = { definition: typedPrompt, texts: { count: '1' } };
    expect(await tasks.perform({ name: 'readTexts', work: small })).toEqual({ count: 1 });
  });

  it('waits for no more than one of each other user', async () => {
    const tasks = createProcesses();
    const ended: string[] = [];
    const perform = async (user: number): Promise<void> => {
      const textInputs = { l: '[1, 2]' };
      await tasks.perform({ name: 'render', work: { ...bomb, textInputs } }, { userId: user });
      ended.push(`user ${user}`);
    };

    await Promise.all([...Array.from({ length: 8 }, () => perform(1)), perform(2)]);
    expect(ended.indexOf('user 2')).toBeLessThan(7);
  });

  it('ends when its run is cancelled, and when all tasks are closed', async () => {
    const tasks = createProcesses();
    const stop = new AbortController();
    const rendering = tasks.perform({ name: 'render', work: bomb }, { signal: stop.signal });
    const renderings = Array.from({ length: 8 }, () =>
      tasks.perform({ name: 'render', work: bomb }),
    );
    const all = Promise.allSettled([rendering, ...renderings]);
    stop.abort(new Error('the run is stopped'));

    await expect(rendering).rejects.toThrow('the run is stopped');

    await tasks.close();
    const last = (await all).at(-1);

    expect(last).toMatchObject({ status: 'rejected', reason: expect.any(TasksClosedError) });
  });
});

describe('what a prompt may take', () => {
  it.each([
    ['loops in loops', 'render', bomb, /1,000,000 steps|longer than 2 s/],
    [
      'a pattern that tries every way',
      'readTexts',
      {
        definition: parsePromptFile(
          '---\ninput:\n schema:\n  type: object\n  properties:\n   a: {type: string, pattern: "^(a+)+$"}\n---\n{{a}}',
          'x.prompt',
        ),
        texts: { a: `${'a'.repeat(60)}b` },
      },
      /takes longer than 1 s$/,
    ],
    [
      'a list without end',
      'readTexts',
      { definition: typedPrompt, texts: { count: '1', list: `[${'[],'.repeat(15_000_000)}[]]` } },
      /^the input list holds more than 1,000,000 values$|longer than 1 s$/,
    ],
    [
      'an answer without end',
      'checkOutput',
      { output: { format: 'json' }, text: `[${'{},'.repeat(1_000_000)}{}]` },
      /^the output holds more than 1,000,000 values$|longer than 1 s$/,
    ],
  ] as const)('%s: is found out without keeping this process', async (_, name, work, bound) => {
    const tasks = createSharedTasks();
    const done = tasks.run(name, work);
    const [turns] = await Promise.all([
      countTurnsDuring(done),
      expect(done).rejects.toThrow(bound),
    ]);
    expect(turns).toBeGreaterThan(50);
  });
});

describe('renders of one template', () => {
  it('follow the inputs that each prompt declares, and take over no value', async () => {
    const tasks = createSharedTasks();
    const render = async (fields: string, textInputs: Record<string, string>): Promise<unknown> => {
      const head = `---\ninput:\n schema:\n  name: string\n${fields}---\n`;
      const definition = parsePromptFile(`${head}{{name}} {{history}}`, 'x.prompt');
      const messages = await tasks.run('render', { definition, textInputs, imageDescriptions: [] });
      return messages.flatMap(({ content }) => content);
    };

    const history = '  history: string\n';
    expect(await render('', { name: 'Ada' })).toEqual([{ text: 'Ada ' }]);
    expect(await render(history, { name: 'Ada', history: 'wrote' })).toEqual([
      { text: 'Ada wrote' },
    ]);
    expect(await render('', { name: 'Bob' })).toEqual([{ text: 'Bob ' }]);
    expect(await render(history, { name: 'Bob', history: 'reads' })).toEqual([
      { text: 'Bob reads' },
    ]);
  });
});

describe('a conversion of a promptfoo configuration', () => {
  const smallLimits = { maxFileBytes: 1000, maxOwnTimeMs: 500, getOwnTimeMs: () => 0 };
  const createConfiguration = (tests: string): string =>
    `prompts: ["Say {{a}}"]\nproviders: [openai:gpt-4o]\ntests: ${tests}\n`;

  const options = { settingNames: [], directory: '/', isForTest: true };

  it('is done in this process if it is short, and in another if it names a large file', async () => {
    const directory = createTemporaryDirectory();
    const rows = Array.from({ length: 3000 }, (_, row) => `${row} ${'a'.repeat(100)}\n`).join('');
    await writeFile(path.join(directory, 'rows.csv'), `a\n${rows}`);

    const tasks = createSharedTasks();
    const convert = (tests: string) =>
      tasks.run('convert', {
        text: createConfiguration(tests),
        file: 'c.yaml',
        options: { ...options, directory },
      });

    // Loads the modules.
    await convert('[{vars: {a: x}}]');
    const short = convert('[{vars: {a: x}}]');

    expect(await countTurnsDuring(short)).toBeLessThan(50);
    expect((await short).cases).toHaveLength(1);

    const long = convert('rows.csv');
    expect(await countTurnsDuring(long)).toBeGreaterThan(50);
    expect((await long).cases).toHaveLength(3000);
  });

  it('stops within its limits: of time, of files, and if it searches for files', async () => {
    const directory = createTemporaryDirectory();
    await writeFile(path.join(directory, 'a.yaml'), `- vars: {a: ${'x'.repeat(1000)}}`);
    const convert = (tests: string, limits: typeof smallLimits) =>
      convertForeign(createConfiguration(tests), 'c.yaml', { ...options, directory }, limits);

    await expect(convert('[file://a.yaml]', smallLimits)).rejects.toThrow(LimitExceededError);
    await expect(convert('"*.yaml"', smallLimits)).rejects.toThrow(LimitExceededError);

    let now = 0;
    const slow = { ...smallLimits, getOwnTimeMs: () => (now += 600) };

    await expect(convert('[{vars: {a: 1}}]', slow)).rejects.toThrow(LimitExceededError);
    expect((await convert('[{vars: {a: 1}}]', smallLimits)).cases).toHaveLength(1);
  });
});
