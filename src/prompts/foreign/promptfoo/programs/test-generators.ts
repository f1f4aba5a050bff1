import { RESERVE_STDOUT_CODE } from '../../../../processes/answer-lines.ts';
import { buildNodeLoader } from '../../../../processes/node-loader.ts';
import { PYTHON_COMMAND } from '../../python-command.ts';
import { PYTHON_MODULE } from './python-module.ts';

/** Prints the tests that a file of JavaScript or TypeScript exports, or that its function makes. */
const NODE_TESTS = `
const self = require('node:process');
const [folder, file, name, config] = self.argv.slice(1);
self.chdir(folder);${buildNodeLoader()}${RESERVE_STDOUT_CODE}
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  const made = name === '' ? all : (loaded[name] ?? all[name]);
  const tests = typeof made === 'function' ? await made(JSON.parse(config) ?? undefined) : made;
  write(JSON.stringify(tests), () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.stack ?? error), () => self.exit(1));
});`.trim();

/** Prints the tests that a function of a Python file makes. */
const PYTHON_TESTS = `${PYTHON_MODULE}

folder, file, name, config = sys.argv[1:5]
os.chdir(folder)
config = json.loads(config)
result = call(function_of(load(file), name), *([] if config is None else [config]))
if not isinstance(result, list):
    sys.exit('it must return a list of tests, not ' + type(result).__name__)
out.write(json.dumps(result, default=str))`;

/** The function that makes tests, and the JSON that it gets. */
interface TestGenerator {
  readonly folder: string;
  readonly file: string;
  /** The name of the function; empty for the default one. */
  readonly exportName: string;
  /** JSON; `null` for none. */
  readonly config: string;
}

/** Returns the program that prints the tests which a file makes. */
export function buildTestGenerator({
  folder,
  file,
  exportName,
  config,
}: TestGenerator): readonly [string, ...string[]] {
  if (!file.endsWith('.py')) return ['node', '-e', NODE_TESTS, folder, file, exportName, config];
  const functionName = exportName === '' ? 'generate_tests' : exportName;
  return [PYTHON_COMMAND, '-c', PYTHON_TESTS, folder, file, functionName, config];
}
