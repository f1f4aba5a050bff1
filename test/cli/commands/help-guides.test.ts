import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { GUIDES } from '../../../src/cli/commands/help/help.ts';
import { layOutGuide } from '../../../src/cli/commands/help/lay-out-guide.ts';
import { runInProcess } from '../../support/context.ts';

const docs = path.resolve(import.meta.dirname, '../../../docs');
const paint = new Chalk({ level: 1 });

async function renderGuide(markdown: string, columns: number): Promise<string> {
  const findLinkCommand = (href: string): string | undefined =>
    href === 'batch.md' ? 'promptrun help batch' : undefined;
  return layOutGuide(markdown, { columns, paint, findLinkCommand });
}

async function renderPlainGuide(markdown: string, columns: number): Promise<string> {
  return stripVTControlCharacters(await renderGuide(markdown, columns));
}

/**
 * Returns the words of a text in alphabetical order: the cells of a table stand beside each other.
 */
function sortWords(text: string): string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).toSorted();
}

describe('a guide on a terminal', () => {
  it('reflows paragraphs, and styles headings and code', async () => {
    const text = await renderGuide('# Tea\n\nPut the *water*\non the `stove` and **wait**.\n', 20);
    expect(text).toBe(
      `${paint.bold('Tea')}\n\nPut the ${paint.italic('water')} on the\n${paint.cyan('stove')} and ${paint.bold('wait')}.\n`,
    );
  });

  it('indents lists, and text that continues in them', async () => {
    const text = await renderPlainGuide(
      '- one two three\n  four\n- five\n\n1. six\n2. seven eight nine ten\n',
      16,
    );
    expect(text).toBe('- one two three\n  four\n- five\n\n1. six\n2. seven eight\n   nine ten\n');
  });

  it('puts tables in columns, and row by row if words would not fit beside each other', async () => {
    const table =
      '| what | how |\n| --- | --- |\n| `water` | hot, but not boiling |\n| leaves | dry |\n';
    expect(await renderPlainGuide(table, 80)).toBe(
      'what    how\nwater   hot, but not boiling\nleaves  dry\n',
    );
    expect(await renderPlainGuide(table, 20)).toBe(
      'what    how\nwater   hot, but not\n        boiling\n\nleaves  dry\n',
    );
    expect(await renderPlainGuide(table, 14)).toBe(
      'water\n  how: hot,\n  but not\n  boiling\n\nleaves\n  how: dry\n',
    );
  });

  it('breaks command lines so that they can be pasted', async () => {
    const text = await renderPlainGuide(
      '```sh\npromptrun run tea -i "milk=a little" -o q=high\n```\n',
      32,
    );
    expect(text).toBe('  promptrun run tea -i \\\n    "milk=a little" -o q=high\n');
  });

  it('prints the addresses of links', async () => {
    const text = await renderPlainGuide(
      '[Batches](batch.md), [a page](https://example.com/a), [code](../src).',
      200,
    );
    expect(text).toBe('Batches (promptrun help batch), a page (https://example.com/a), code.\n');
  });

  it.each(Object.entries(GUIDES))('%s keeps every word, and breaks none', async (_, file) => {
    const markdown = readFileSync(path.join(docs, file), 'utf8');
    const wide = await renderPlainGuide(markdown, 5000);

    const words = new Set(wide.split(/\s+/u));
    for (const columns of [40, 80]) {
      const text = await renderPlainGuide(markdown, columns);
      const lines = text.split('\n').filter(line => line.length > columns);

      // A line that is too long is one word, or a command with a quoted part that fits on no line.
      expect(lines.filter(line => /\S {1,2}\S/u.test(line.trim()) && !/['"]/u.test(line))).toEqual(
        [],
      );

      const brokenWords = text.split(/\s+/u).filter(word => word !== '\\' && !words.has(word));
      expect(brokenWords.filter(word => !word.endsWith(':'))).toEqual([]);
    }

    const withoutLinks = markdown.replaceAll(/\]\([^)\s]*\)/gu, ']').replaceAll(/^ *```.*$/gmu, '');
    const shown = wide.replaceAll(/ \((?:https?:[^)]*|promptrun help [\w-]+)\)/gu, '');

    expect(sortWords(shown)).toEqual(sortWords(withoutLinks));
  });

  it('is Markdown in a pipe, unless FORCE_COLOR asks for colours', async () => {
    const markdown = readFileSync(path.join(docs, 'agents.md'), 'utf8');
    expect((await runInProcess(['help', 'agents'])).stdout()).toBe(markdown);
    const coloured = await runInProcess(['help', 'agents'], { env: { FORCE_COLOR: '1' } });
    expect(coloured.stdout()).toMatch(/^\u001B\[1mAgents/u);
  });

  it('is plain with --no-color', async () => {
    const terminal = { stdout: true };
    const { stdout } = await runInProcess(['help', 'agents', '--no-color', '--no-pager'], {
      terminal,
    });
    expect(stdout()).toMatch(/^Agents\n\nAn agent can run prompts in two ways/u);
    expect(stdout()).not.toContain('\u001B');
  });
});

describe('help on a narrow terminal', () => {
  it.each([
    ['run', '--help'],
    ['test', '--help'],
    ['help', 'flags'],
    ['help', 'environment'],
    ['help', 'exit-codes'],
    ['--help'],
  ])('breaks no word: %s %s', async (...argv) => {
    const terminal = { stdout: true };
    const [narrow, wide] = await Promise.all(
      [40, 80].map(async columns =>
        (await runInProcess([...argv, '--no-pager'], { terminal, columns })).stdout(),
      ),
    );

    expect(narrow?.split('\n').filter(line => line.length > 40 && /\S \S/u.test(line))).toEqual([]);

    const splitWords = (text = ''): string[] =>
      text.split(/\s+/u).filter(word => word !== '\\' && word !== '#');
    expect(splitWords(narrow).toSorted()).toEqual(splitWords(wide).toSorted());
  });

  it('puts descriptions below their flags, and breaks command lines so that they can be pasted', async () => {
    const { stdout } = await runInProcess(['run', '--help', '--no-pager'], {
      terminal: { stdout: true },
      columns: 40,
    });
    expect(stdout()).toContain(
      '  --inputs <file>\n      inputs from a JSON or YAML file, -\n      for standard input\n',
    );
    expect(stdout()).toContain(
      '  promptrun run postcard -i \\\n    place=Lisbon --save pictures\n',
    );
  });
});
