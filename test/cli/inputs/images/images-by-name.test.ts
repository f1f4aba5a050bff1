import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { localService } from '../../../../src/main.ts';
import {
  type CommandResult,
  createTemporaryDirectory,
  runInProcess,
} from '../../../support/context.ts';
import { png } from '../../../support/png.ts';

/** Writes a wide and a tall image, and a prompt whose answer has both in their order. */
function createProject(): string {
  const home = createTemporaryDirectory();
  const outside = path.join(createTemporaryDirectory(), 'outside.png');
  writeFileSync(outside, png(1, 1));
  const prompt = '---\nmodel: echo\ninput: {schema: {front: string, back: string}}\n---\n';

  const files = {
    'two.prompt': `${prompt}front {{media url=front}} back {{media url=back}}`,
    'wide.png': png(2, 1),
    'tall.png': png(1, 2),
    'by-column.csv': 'front,back\nwide.png,tall.png\n',
    'one-of-them.csv': 'back\ntall.png\n',
    'images.jsonl': '{"imageInputs": ["back=tall.png", "wide.png"]}\n',
    'outside.csv': `front,back\n${outside},tall.png\n`,
    'named.test.yaml':
      'target: two.prompt\ncases:\n  - {inputs: {front: wide.png}, images: ["back=tall.png"], expect: [{matches: "2 × 1[^]*1 × 2"}]}\n',
    'outside.test.yaml': `target: two.prompt\ncases:\n  - {inputs: {front: ${JSON.stringify(outside)}, back: tall.png}}\n  - {inputs: {front: wide.png, back: tall.png}}\n`,
    'values.yaml': 'front: wide.png\nback: tall.png\n',
  };
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(path.join(home, name), content);
  }

  return home;
}

const runCommand = (home: string, line: string): Promise<CommandResult> =>
  runInProcess(line.split(' '), { home, local: localService });

it.each([
  'run two.prompt -i front=wide.png --image back=tall.png',
  'run two.prompt --image tall.png -i front=wide.png',
  'run two.prompt --inputs values.yaml',
  'batch two.prompt --from by-column.csv',
  'batch two.prompt --from one-of-them.csv -i front=wide.png',
  'batch two.prompt --from images.jsonl',
  'batch two.prompt --from by-column.csv -i front=wide.png',
  'compare two.prompt two.prompt --from by-column.csv --json',
  'compare two.prompt two.prompt --from one-of-them.csv --image front=wide.png --json',
  'test named.test.yaml --json',
])('puts each image in the place of its name: %s', async line => {
  const { exitCode, stdout, stderr } = await runCommand(createProject(), line);
  expect(stdout(), stderr()).toMatch(/2 × 1[^]*1 × 2/);
  expect(exitCode, stderr()).toBe(0);
});

it.each([
  'prompts render two.prompt -i front=wide.png --image back=tall.png --json',
  'prompts render two.prompt --inputs values.yaml --json',
])('renders each image in the place of its name: %s', async line => {
  const { stdout } = await runCommand(createProject(), line);
  const [front, back] = [png(2, 1), png(1, 2)].map(image => image.toString('base64'));
  expect(stdout()).toMatch(new RegExp(`front[^]*base64,${front?.replaceAll('+', '\\+')}[^]*back`));
  expect(stdout()).toContain(back);
});

it.each([
  { line: 'run two.prompt -i front=wide.png', code: EXIT.usage, message: 'missing input: back' },
  {
    line: 'run two.prompt --image side=wide.png',
    code: EXIT.usage,
    message: 'no image of the prompt is called "side"',
  },
  {
    line: 'run two.prompt -i front=wide.png --image front=tall.png',
    code: EXIT.usage,
    message: 'the image front is given twice',
  },
  { line: 'batch two.prompt --from outside.csv', code: EXIT.runFailed, message: 'lies outside' },
  {
    line: 'compare two.prompt two.prompt --from outside.csv',
    code: EXIT.usage,
    message: 'lies outside',
  },
])('refuses $line', async ({ line, code, message }) => {
  const { exitCode, stderr, stdout } = await runCommand(createProject(), line);
  expect(stderr() + stdout()).toContain(message);
  expect(exitCode).toBe(code);
});

it('reports a file that a case must not read as a fault of that case alone', async () => {
  const { exitCode, stdout } = await runCommand(createProject(), 'test outside.test.yaml');
  expect(stdout()).toContain('1 passed, 0 failed, 1 could not be run');
  expect(exitCode).toBe(EXIT.usage);

  const dryRun = await runCommand(createProject(), 'test outside.test.yaml --dry-run');
  expect(dryRun.stderr()).toContain('lies outside');
  expect(dryRun.exitCode).toBe(EXIT.usage);
  expect(dryRun.stderr()).toContain(
    'note: 2 cases checked; nothing was created\nnote: 1 creation:',
  );
});

it('replaces one image of a rerun by its name and keeps the others', async () => {
  const home = createProject();
  await runCommand(home, 'run two.prompt -i front=wide.png -i back=wide.png');
  const { exitCode, stdout, stderr } = await runCommand(
    home,
    'runs rerun --last --image back=tall.png',
  );
  expect(stdout(), stderr()).toMatch(/2 × 1[^]*1 × 2/);
  expect(exitCode, stderr()).toBe(0);
});

it.each([
  [
    '-i front=@by-column.csv',
    'error: the input "front" is an image, not text (USAGE_ERROR)\nGive the name of an image file, without @: front=picture.png',
  ],
  [
    '--image @wide.png',
    'error: image: @wide.png does not exist (USAGE_ERROR)\nGive the name of the image without @.',
  ],
])('explains how to name an image after a wrong %s', async (flags, message) => {
  const { exitCode, stderr } = await runCommand(createProject(), `run two.prompt ${flags}`);
  expect(exitCode).toBe(EXIT.usage);
  expect(stderr()).toContain(message);
});
