import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProgramEngine } from '../../../src/models/programs/program-engine.ts';
import { createTemporaryDirectory } from '../../support/context.ts';
import { createJob, type JobOptions } from '../job.ts';
import { parseDeclaredModel } from './parse-declared-model.ts';

let dataDir: string;
let engine: ReturnType<typeof createProgramEngine>;

beforeEach(() => {
  const directory = createTemporaryDirectory();
  dataDir = path.join(directory, 'data');
  mkdirSync(dataDir);
  engine = createProgramEngine({ env: { PATH: process.env['PATH'] }, dataDir, directory });
});

afterEach(async () => {
  await engine.endPersistentPrograms?.();
});

/** Answers each line of its input by code that gets the text of the prompt, and `say`. */
function program(answer: string): string[] {
  const script = `
let count = 0;
const say = text => process.stdout.write(text);
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, messages } = JSON.parse(line);
  const text = messages[0].content[0].text;
  count += 1;
  ${answer}
});`;
  return [process.execPath, '-e', script, '--'];
}

async function ask(script: string, text: string, job: JobOptions = {}, entry: object = {}) {
  const model = parseDeclaredModel({ program: program(script), ...entry });
  if (model.declaration?.kind !== 'program') throw new Error('not a program');

  const options = {
    template: text,
    ...job,
    model: { ...model, declaration: { ...model.declaration, isPersistent: true } },
  };
  const { outputs } = await engine.run(createJob(options));
  const [output] = outputs;
  if (output?.type === 'text') return output.text;

  return output?.type === 'error' ? output.message : '';
}

const ANSWER = "say(id + ' answer ' + text + ' ' + count + '\\n');";

function countPrograms(): number {
  return readdirSync(path.join(dataDir, 'programs')).filter(name => name.endsWith('.json')).length;
}

it('a persistent program answers run after run, and is ended at the end', async () => {
  expect(await ask(ANSWER, 'a')).toBe('a 1');
  expect(await ask(ANSWER, 'b')).toBe('b 2');
  expect(countPrograms()).toBe(1);
  await engine.endPersistentPrograms?.();
  expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
  expect(await ask(ANSWER, 'c')).toBe('c 1');
});

it('a second persistent program is started while the first takes long to answer', async () => {
  const askedFile = path.join(path.dirname(dataDir), 'asked');
  const script = `
const fs = require('node:fs');
const answer = () => { ${ANSWER} };
if (text === 'b') {
  fs.writeFileSync(${JSON.stringify(askedFile)}, '');
  answer();
} else {
  const timer = setInterval(() => fs.existsSync(${JSON.stringify(askedFile)}) && (clearInterval(timer), answer()), 5);
}`;
  expect(await Promise.all([ask(script, 'a'), ask(script, 'b')])).toEqual(['a 1', 'b 1']);
  expect(countPrograms()).toBe(2);
});

it('a persistent program answers by the line with the id of the question, whatever else it prints', async () => {
  const noisy = `
if (count > 1) say(globalThis.last + ' answer of the one before\\n');
globalThis.last = id;
say('run answer no\\nnoise');
say('\\n' + id + ' answer ' + text + '\\nmore');`;
  expect(await ask(noisy, 'a')).toBe('a');
  expect(await ask(noisy, 'b')).toBe('b');
  expect(await ask(noisy, 'c')).toBe('c');
});

it('a persistent program fails a run with the fault that it reports, and continues', async () => {
  const script = `say(id + (text === 'bad' ? ' fault "it is bad"' : ' answer ' + text + count) + '\\n');`;
  expect(await ask(script, 'bad')).toBe('declared-model failed: it is bad');
  expect(await ask(script, 'good')).toBe('good2');
});

it('a persistent program that ends, takes too long or prints too much fails its run, and is started again', async () => {
  const script = `
if (text === 'end') { process.stderr.write('out of luck'); process.exitCode = 3; process.stdin.destroy(); }
else if (text === 'much') setInterval(() => say('x'.repeat(1e6)), 1);
else if (text !== 'late') ${ANSWER}`;
  const one = (text: string, entry: object = {}) => ask(script, text, {}, entry);

  expect(await one('a')).toBe('a 1');
  expect(await one('end')).toBe('declared-model ended with exit code 3: out of luck');
  expect(await one('b')).toBe('b 1');
  expect(await one('late', { timeout: '200ms' })).toBe('declared-model took longer than 0.2 s');
  expect(await one('c')).toBe('c 1');
  expect(await one('much')).toBe('declared-model printed more than 8 MiB');
  expect(await one('d')).toBe('d 1');
});

it('a persistent program may end with its answer, but fails a run if it ends without one, whatever it has printed', async () => {
  const last = `say(id + ' answer ' + text + '\\n'); process.exit(0);`;
  expect(await ask(last, 'a')).toBe('a');
  expect(await ask(`say('not an answer'); process.exit(0);`, 'a')).toBe(
    'declared-model ended with exit code 0: not an answer',
  );
});

it('a persistent program that has printed too much between two runs fails the next, and is started again', async () => {
  const flag = path.join(path.dirname(dataDir), 'printed');
  const script = `
${ANSWER}
if (text === 'a') process.stdout.write('x'.repeat(9e6), () => require('node:fs').writeFileSync(${JSON.stringify(flag)}, ''));`;

  expect(await ask(script, 'a')).toBe('a 1');
  await expect.poll(() => existsSync(flag)).toBe(true);
  expect(await ask(script, 'b')).toBe('declared-model printed more than 8 MiB');
  expect(await ask(script, 'c')).toBe('c 1');
});

it('a persistent program is not asked for a run that is cancelled already', async () => {
  const askedFile = path.join(path.dirname(dataDir), 'asked');
  const script = `require('node:fs').appendFileSync(${JSON.stringify(askedFile)}, text); ${ANSWER}`;

  expect(await ask(script, 'a')).toBe('a 1');
  await expect(
    ask(script, 'b', { signal: AbortSignal.abort(new Error('no more')) }),
  ).rejects.toThrow('no more');
  expect(await ask(script, 'c')).toBe('c 1');
  expect(readFileSync(askedFile, 'utf8')).toBe('ac');
});

it('a persistent program ends with the run that is cancelled', async () => {
  const started = path.join(path.dirname(dataDir), 'started');
  const script = `require('node:fs').writeFileSync(${JSON.stringify(started)}, '')`;
  const stop = new AbortController();
  const answer = ask(script, 'a', { signal: stop.signal });

  await expect.poll(() => existsSync(started)).toBe(true);

  stop.abort(new Error('no more'));
  await expect(answer).rejects.toThrow('no more');
  expect(readdirSync(path.join(dataDir, 'programs'))).toEqual([]);
});
