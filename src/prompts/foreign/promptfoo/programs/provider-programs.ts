import { nodeLoader } from '../../../../processes/node-loader.ts';
import { PYTHON_MODULE } from './python-module.ts';

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
const [program, ...args] = JSON.parse(words);
const all = [...args, prompt, options, JSON.stringify(context)];
require('node:child_process').execFile(program, all, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
  const [text, faults] = [stdout, stderr].map(printed => printed.replace(/\\x1b\\[[0-9;]*m/g, '').trim());
  const failed = error ? faults || error.message : text === '' ? faults : '';
  if (failed !== '') self.stderr.write(failed, () => self.exit(1));
  else self.stdout.write(text);
}).stdin.end();`.trim();

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
