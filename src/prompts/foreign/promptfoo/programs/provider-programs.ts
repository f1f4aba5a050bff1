import { ANSWER_LINES_CODE, RESERVE_STDOUT_CODE } from '../../../../processes/answer-lines.ts';
import { buildNodeLoader } from '../../../../processes/node-loader.ts';
import { PYTHON_MODULE } from './python-module.ts';

/**
 * Code that hands a prompt over like promptfoo: a single user message as text, several messages as
 * JSON. The function takes the messages, and the names of inputs that hold JSON.
 */
const NODE_PROMPT = `
const call = (messages, names) => {
  const said = messages.map(({ role, content }) => ({
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
  return { prompt, context: { vars, prompt: { raw: prompt, label: prompt } } };
};
const withEnv = json => JSON.parse(json.replace(/\\{\\{\\s*env\\.(\\w+)\\s*\\}\\}/g, (tag, key) =>
  Object.hasOwn(self.env, key) ? JSON.stringify(self.env[key]).slice(1, -1) : tag));`;

/**
 * Returns code that calls `new Provider(options).callApi(prompt, context)` and redirects the output
 * of other code to standard error. `isPortable` is true if it may be written to a file.
 */
const buildNodeProvider = (options: { readonly isPortable: boolean }): string => `
const self = require('node:process');
const [folder, file, name, options, names, written] = self.argv.slice(1);
self.chdir(folder);${buildNodeLoader(options)}${NODE_PROMPT}${RESERVE_STDOUT_CODE}
const textOf = error => String(error?.stack ?? error);
let provider;
const ask = async messages => {
  const { prompt, context } = call(messages, names);
  if (!provider) {
    const loaded = await load(file);
    const all = loaded.default?.default ?? loaded.default ?? loaded;
    const Made = name === '' ? all : (loaded[name] ?? all[name]);
    provider = new Made(withEnv(options));
  }
  const result = await provider.callApi(prompt, context, {});
  if (result?.error) throw new Error(String(result.error));
  return JSON.stringify(result ?? null);
};`;

/**
 * Calls the provider of a file for one run, whose messages are the last argument. It may be written
 * to a file.
 */
export const NODE_PROVIDER = `${buildNodeProvider({ isPortable: true })}
ask(JSON.parse(written)).then(
  text => write(text, () => self.exit(0)),
  error => self.stderr.write(textOf(error), () => self.exit(1)),
);`.trim();

/**
 * Calls the provider of a file for run after run: each is a line of its input, answered by a line.
 */
export const KEPT_NODE_PROVIDER = `${buildNodeProvider({ isPortable: false })}${ANSWER_LINES_CODE}
answerLines(({ messages, traceparent }) => {
  if (traceparent) Object.assign(self.env, { TRACEPARENT: traceparent });
  return ask(messages).then(
    text => 'answer ' + text,
    error => 'fault ' + JSON.stringify(textOf(error)),
  );
});`.trim();

/** Asks Claude by the Agent SDK of the configuration's project, and prints promptfoo's result. */
export const NODE_CLAUDE_AGENT = `
const self = require('node:process');
const [folder, settings, names, messages] = self.argv.slice(1);
const [fs, path, url] = ['fs', 'path', 'url'].map(name => require('node:' + name));
self.chdir(folder);${NODE_PROMPT}
const { prompt } = call(JSON.parse(messages), names);
const { options, folder: work, plugins, additionalDirectories } = withEnv(settings);
const absolute = name => path.resolve(folder, name);${RESERVE_STDOUT_CODE}
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
  if (end?.subtype !== 'success') throw new Error('Claude returned no result: ' + (end?.subtype ?? 'it ended early'));
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
const { prompt, context } = call(JSON.parse(messages), names);
const [program, ...args] = JSON.parse(words);
const all = [...args, prompt, options, JSON.stringify(context)];
require('node:child_process').execFile(program, all, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
  const [text, faults] = [stdout, stderr].map(printed => printed.replace(/\\x1b\\[[0-9;]*m/g, '').trim());
  const failed = error ? faults || error.message : text === '' ? faults : '';
  if (failed !== '') self.stderr.write(failed, () => self.exit(1));
  else self.stdout.write(text);
}).stdin.end();`.trim();

/**
 * Code that calls `call_api(prompt, options, context)`. Programs may have more arguments than the
 * five that it reads.
 */
const PYTHON_ASK = `${PYTHON_MODULE}

folder, file, name, options, names = sys.argv[1:6]
os.chdir(folder)
options = re.sub(r'\\{\\{\\s*env\\.(\\w+)\\s*\\}\\}', lambda tag: json.dumps(os.environ[tag[1]])[1:-1] if tag[1] in os.environ else tag[0], options)
provider = None

def ask(messages):
    global provider
    said = [{'role': 'assistant' if m['role'] == 'model' else m['role'], 'content': ''.join(p.get('text', '') for p in m['content'])} for m in messages]
    prompt = said[0]['content'] if len(said) == 1 and said[0]['role'] == 'user' else json.dumps(said, ensure_ascii=False, indent=2)
    with open(os.environ['PROMPTRUN_RUN'], encoding='utf-8') as run:
        variables = json.load(run)['inputs']
    for key in json.loads(names):
        try:
            variables[key] = json.loads(variables[key])
        except ValueError:
            if variables[key] == '':
                del variables[key]
    if provider is None:
        provider = function_of(load(file), name)
    return call(provider, prompt, json.loads(options), {'vars': variables, 'prompt': {'raw': prompt, 'label': prompt}})`;

/** Calls the provider of a file for one run, whose messages are the last argument. */
export const PYTHON_PROVIDER = `${PYTHON_ASK}

result = ask(json.loads(sys.argv[6]))
if result.get('error'):
    sys.exit(str(result['error']))
out.write(json.dumps(result, default=str))`;

/**
 * Calls the provider of a file for run after run: each is a line of its input, answered by a line.
 */
export const KEPT_PYTHON_PROVIDER = `${PYTHON_ASK}

import traceback
runs, sys.stdin = sys.stdin.buffer, open(os.devnull)
for line in runs:
    run = json.loads(line)
    if run.get('traceparent'):
        os.environ['TRACEPARENT'] = run['traceparent']
    try:
        result = ask(run['messages'])
        reply = 'fault ' + json.dumps(str(result['error'])) if result.get('error') else 'answer ' + json.dumps(result, default=str)
    except Exception:
        reply = 'fault ' + json.dumps(traceback.format_exc())
    # Begins a new line, whatever a program has printed meanwhile.
    out.write('\\n' + run['id'] + ' ' + reply + '\\n')
    out.flush()`;
