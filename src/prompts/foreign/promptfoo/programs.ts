import { nodeLoader } from '../../../files/programs/node-loader.ts';
import { PYTHON } from '../python.ts';

/**
 * Programs that call foreign code like promptfoo. They are words of a command line, so that written files work without
 * this package.
 */

/** Code that passes the prompt like promptfoo: a single user message as text, several messages as JSON. */
const NODE_PROMPT = `
const said = JSON.parse(messages).map(({ role, content }) => ({
  role: role === 'model' ? 'assistant' : role,
  content: content.map(part => part.text ?? '').join(''),
}));
const prompt = said.length === 1 && said[0].role === 'user' ? said[0].content : JSON.stringify(said, null, 2);
const { inputs: vars } = JSON.parse(require('node:fs').readFileSync(self.env.PROMPTRUN_RUN, 'utf8'));
for (const key of JSON.parse(names)) {
  try {
    vars[key] = JSON.parse(vars[key]);
  } catch {
    if (vars[key] === '') delete vars[key];
  }
}
const context = { vars, prompt: { raw: prompt, label: prompt } };
const withEnv = json => JSON.parse(json.replace(/\\{\\{\\s*env\\.(\\w+)\\s*\\}\\}/g, (tag, key) =>
  Object.hasOwn(self.env, key) ? JSON.stringify(self.env[key]).slice(1, -1) : tag));`;

/**
 * Returns code that calls \`new Provider(options).callApi(prompt, context)\` and redirects the code's output to standard
 * error. @param isKept true if it is written to a file
 */
export function nodeProvider(isKept: boolean): string {
  return `
const self = require('node:process');
const [folder, file, name, options, names, messages] = self.argv.slice(1);
self.chdir(folder);${nodeLoader({ isKept })}${NODE_PROMPT}
const write = self.stdout.write.bind(self.stdout);
self.stdout.write = self.stderr.write.bind(self.stderr);
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  const Made = name === '' ? all : (loaded[name] ?? all[name]);
  const provider = new Made(withEnv(options));
  const result = await provider.callApi(prompt, context, {});
  if (result?.error) throw new Error(String(result.error));
  write(JSON.stringify(result ?? null), () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.stack ?? error), () => self.exit(1));
});`.trim();
}

/** Asks Claude by the Agent SDK of the configuration's project, and prints promptfoo's result of it. */
export const NODE_CLAUDE_AGENT = `
const self = require('node:process');
const [folder, call, names, messages] = self.argv.slice(1);
const [fs, path, url] = ['fs', 'path', 'url'].map(name => require('node:' + name));
self.chdir(folder);${NODE_PROMPT}
const { options, folder: work, plugins, additionalDirectories } = withEnv(call);
const absolute = name => path.resolve(folder, name);
const write = self.stdout.write.bind(self.stdout);
self.stdout.write = self.stderr.write.bind(self.stderr);
(async () => {
  const { PROMPTRUN_RUN: _, ...env } = self.env;
  const cwd = work ? absolute(work) : fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'promptrun-agent-'));
  if (!work) self.on('exit', () => fs.rmSync(cwd, { recursive: true, force: true }));
  const near = require('node:module').createRequire(absolute('configuration.js'));
  const { query } = await import(url.pathToFileURL(near.resolve('@anthropic-ai/claude-agent-sdk')).href);
  if (plugins) options.plugins = plugins.map(one => ({ ...one, path: absolute(one.path) }));
  if (additionalDirectories) options.additionalDirectories = additionalDirectories.map(absolute);
  if (typeof options.settings === 'string') options.settings = absolute(options.settings);
  const calls = new Map();
  let end;
  for await (const message of query({ prompt, options: { ...options, cwd, env } })) {
    const content = Array.isArray(message.message?.content) ? message.message.content : [];
    for (const block of content) {
      if (message.type === 'assistant' && block.type === 'tool_use') {
        const { id, name, input } = block;
        calls.set(id, { id, name, input, is_error: false, parentToolUseId: message.parent_tool_use_id });
      }
      const known = block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined;
      if (known) Object.assign(known, { output: block.content, is_error: block.is_error ?? false });
    }
    const isOwn = message.type === 'result' && message.origin?.kind !== 'task-notification';
    if (isOwn || (message.type === 'result' && !end)) end = message;
  }
  if (end?.subtype !== 'success') throw new Error('Claude gave no result: ' + (end?.subtype ?? 'it ended early'));
  const toolCalls = [...calls.values()];
  const skillCalls = toolCalls.flatMap(({ name, input, is_error }) => {
    const skill = name === 'Skill' && typeof input?.skill === 'string' ? input.skill.trim() : '';
    return skill === '' ? [] : [{ name: skill, input, is_error, source: 'tool' }];
  });
  const [prompted, completed] = [end.usage?.input_tokens, end.usage?.output_tokens];
  const result = {
    output: end.structured_output === undefined ? end.result : end.structured_output,
    tokenUsage: { prompt: prompted, completion: completed },
    cost: end.total_cost_usd ?? 0,
    sessionId: end.session_id,
    metadata: {
      skillCalls,
      toolCalls,
      numTurns: end.num_turns,
      durationMs: end.duration_ms,
      durationApiMs: end.duration_api_ms,
      modelUsage: end.modelUsage,
      permissionDenials: end.permission_denials,
    },
  };
  write(JSON.stringify(result), () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.message ?? error), () => self.exit(1));
});`.trim();

/** Calls a program with the prompt, its options and promptfoo's context as arguments. */
export const NODE_EXEC = `
const self = require('node:process');
const [folder, words, options, names, messages] = self.argv.slice(1);
self.chdir(folder);${NODE_PROMPT}
const [program, ...args] = JSON.parse(words);
const all = [...args, prompt, options, JSON.stringify(context)];
require('node:child_process').execFile(program, all, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
  const [text, faults] = [stdout, stderr].map(printed => printed.replace(/\\x1b\\[[0-9;]*m/g, '').trim());
  const failed = error ? faults || error.message : text === '' ? faults : '';
  if (failed !== '') self.stderr.write(failed, () => self.exit(1));
  else self.stdout.write(text);
}).stdin.end();`.trim();

/** Reads a module from a file, with its folder first in the path; redirects its output to standard error. */
const PYTHON_MODULE = `
import asyncio, importlib.util, inspect, json, os, re, sys
out = sys.stdout
sys.stdout = sys.stderr

def load(file):
    file = os.path.abspath(file)
    if sys.path[0] != os.path.dirname(file):
        sys.path.insert(0, os.path.dirname(file))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(file))[0], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def call(function, *args):
    result = function(*args)
    return asyncio.run(result) if inspect.isawaitable(result) else result

def function_of(module, name):
    value = module
    for part in name.split('.'):
        value = getattr(value, part)
    return value
`.trim();

/** Calls \`call_api(prompt, options, context)\`. */
export const PYTHON_PROVIDER = `${PYTHON_MODULE}

folder, file, name, options, names, messages = sys.argv[1:7]
os.chdir(folder)
said = [{'role': 'assistant' if m['role'] == 'model' else m['role'], 'content': ''.join(p.get('text', '') for p in m['content'])} for m in json.loads(messages)]
prompt = said[0]['content'] if len(said) == 1 and said[0]['role'] == 'user' else json.dumps(said, ensure_ascii=False, indent=2)
with open(os.environ['PROMPTRUN_RUN'], encoding='utf-8') as run:
    variables = json.load(run)['inputs']
for key in json.loads(names):
    try:
        variables[key] = json.loads(variables[key])
    except ValueError:
        if variables[key] == '':
            del variables[key]
options = re.sub(r'\\{\\{\\s*env\\.(\\w+)\\s*\\}\\}', lambda tag: json.dumps(os.environ[tag[1]])[1:-1] if tag[1] in os.environ else tag[0], options)
result = call(function_of(load(file), name), prompt, json.loads(options), {'vars': variables, 'prompt': {'raw': prompt, 'label': prompt}})
if result.get('error'):
    sys.exit(str(result['error']))
out.write(json.dumps(result, default=str))`;

/** Calls a function that makes prompts, or the program itself, with each context, and prints each prompt as a line of JSON. */
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

/** Calls the function that a file exports with each context, and prints each prompt as a line of JSON. */
export const NODE_PROMPT_FUNCTION = `
const self = require('node:process');
const [folder, file, name] = self.argv.slice(1);
self.chdir(folder);${nodeLoader()}
const write = self.stdout.write.bind(self.stdout);
self.stdout.write = self.stderr.write.bind(self.stderr);
(async () => {
  const contexts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  for (const context of contexts) {
    const made = await (name === '' ? all : (loaded[name] ?? all[name]))(context);
    const result = made && typeof made === 'object' && 'prompt' in made ? made.prompt : made;
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    if (text === undefined) throw new Error('it gives no prompt');
    write(JSON.stringify(text) + '\\n');
  }
  write('', () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.stack ?? error), () => self.exit(1));
});`.trim();

/** Returns the program that prints the tests which a file makes. `config` is JSON, null for none. */
export function testsProgram(
  folder: string,
  file: string,
  name: string,
  config: string,
): readonly [string, ...string[]] {
  return file.endsWith('.py')
    ? [PYTHON, '-c', PYTHON_TESTS, folder, file, name === '' ? 'generate_tests' : name, config]
    : ['node', '-e', NODE_TESTS, folder, file, name, config];
}

const NODE_TESTS = `
const self = require('node:process');
const [folder, file, name, config] = self.argv.slice(1);
self.chdir(folder);${nodeLoader()}
const write = self.stdout.write.bind(self.stdout);
self.stdout.write = self.stderr.write.bind(self.stderr);
(async () => {
  const loaded = await load(file);
  const all = loaded.default?.default ?? loaded.default ?? loaded;
  const made = name === '' ? all : (loaded[name] ?? all[name]);
  const tests = typeof made === 'function' ? await made(JSON.parse(config) ?? undefined) : made;
  write(JSON.stringify(tests), () => self.exit(0));
})().catch(error => {
  self.stderr.write(String(error?.stack ?? error), () => self.exit(1));
});`.trim();

const PYTHON_TESTS = `${PYTHON_MODULE}

folder, file, name, config = sys.argv[1:5]
os.chdir(folder)
config = json.loads(config)
result = call(function_of(load(file), name), *([] if config is None else [config]))
if not isinstance(result, list):
    sys.exit('it must give a list of tests, not ' + type(result).__name__)
out.write(json.dumps(result, default=str))`;

/** Runs a program that prints a prompt with each context as its argument, and prints each prompt as a line of JSON. */
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

/**
 * Checks an answer as the assertion \`python\` does: by an expression, by the lines of a function, or by a file's
 * function. Exits with 1 if the answer fails.
 */
export const PYTHON_CHECK = `${PYTHON_MODULE}

kind, code, name, about = sys.argv[1:5]
about = json.loads(about)
given = json.loads(sys.stdin.read())
output, context = given['output'], {**given['context'], **about['context']}
if kind == 'file':
    result = call(function_of(load(code), name or 'get_assert'), output, context)
else:
    scope = {}
    lines = code.split('\\n')
    indent = next((line[:len(line) - len(line.lstrip())] for line in lines if line.strip() and line != line.lstrip()), '    ')
    body = '\\n'.join(indent + line for line in lines) if len(lines) > 1 else '    return ' + code
    exec('import json\\n\\ndef main(output, context):\\n' + body, scope)
    result = call(scope['main'], output, context)
reason = None
if isinstance(result, str) and result.lower() in ('true', 'false'):
    result = result.lower() == 'true'
if isinstance(result, str) and result.startswith('{'):
    result = json.loads(result)
if isinstance(result, dict):
    passed, score, reason = result.get('pass', result.get('pass_')), result.get('score'), result.get('reason')
    if not isinstance(passed, bool) or not isinstance(score, (int, float)) or not isinstance(reason, str):
        sys.exit('it must give a boolean, a number, or {pass, score, reason}, not ' + json.dumps(result, default=str))
    threshold = about.get('threshold')
    if threshold is not None and score < threshold:
        passed = False
elif isinstance(result, bool):
    passed = result
else:
    score = float(result)
    passed = score > 0 if about.get('threshold') is None else score >= about['threshold']
if bool(passed) == about['inverse']:
    out.write(str(reason or 'it gives ' + json.dumps(result)))
    out.flush()
    sys.exit(1)`;
