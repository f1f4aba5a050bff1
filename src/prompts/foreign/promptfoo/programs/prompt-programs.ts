import { RESERVE_STDOUT_CODE } from '../../../../processes/answer-lines.ts';
import { buildNodeLoader } from '../../../../processes/node-loader.ts';
import { PYTHON_MODULE } from './python-module.ts';

/**
 * Calls a function that makes prompts, or the program itself, with each context, and prints each
 * prompt as a line of JSON.
 */
export const PYTHON_PROMPT = `${PYTHON_MODULE}
import subprocess

folder, file, name = sys.argv[1:4]
os.chdir(folder)
for context in json.loads(sys.stdin.read()):
    if name == '':
        result = subprocess.run([sys.executable, file, json.dumps(context)], check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip('\\n')
    else:
        result = call(function_of(load(file), name), context)
    if isinstance(result, dict) and 'prompt' in result:
        result = result['prompt']
    out.write(json.dumps(result if isinstance(result, str) else json.dumps(result)) + '\\n')
    out.flush()`;

/**
 * Calls the function that a file exports with each context, and prints each prompt as a line of
 * JSON.
 */
export const NODE_PROMPT_FUNCTION = `
const self = require('node:process');
const [folder, file, name] = self.argv.slice(1);
self.chdir(folder);${buildNodeLoader()}${RESERVE_STDOUT_CODE}
(async () => {
  const contexts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  for (const context of contexts) {
    const made = await (name === '' ? all : (loaded[name] ?? all[name]))(context);
    const result = made && typeof made === 'object' && 'prompt' in made ? made.prompt : made;
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    if (text === undefined) throw new Error('it returns no prompt');
    write(JSON.stringify(text) + '\\n');
  }
  write('', () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.stack ?? error), () => self.exit(1));
});`.trim();

/**
 * Runs a program that prints a prompt with each context as its argument, and prints each prompt as
 * a line of JSON.
 */
export const NODE_PROMPT_PROGRAM = `
const self = require('node:process');
const [folder, program, ...args] = self.argv.slice(1);
self.chdir(folder);
const run = require('node:util').promisify(require('node:child_process').execFile);
(async () => {
  for (const context of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {
    const { stdout } = await run(program, [...args, JSON.stringify(context)]);
    self.stdout.write(JSON.stringify(stdout.trim()) + '\\n');
  }
})().catch(error => {
  self.stderr.write(error.stderr || error.message, () => self.exit(1));
});`.trim();
