import path from 'node:path';
import { FileFault } from '../../files/formats/file-fault.ts';
import type { JsonValue } from '../../files/formats/json.ts';
import { toYamlValue } from '../../files/formats/yaml.ts';
import { parseYamlNode, type YamlNode } from '../../files/formats/yaml-node.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Findings } from '../findings.ts';
import { isJinja } from '../parse/jinja.ts';
import { AICHAT_ROLE, isAichatRole } from './aichat-role.ts';
import { FABRIC_PATTERN, isFabricPattern } from './fabric-pattern.ts';
import type { ForeignFormat } from './foreign-format.ts';
import { GITHUB_MODELS, isGithubPrompt } from './github-models.ts';
import { isLlmTemplate, LLM_TEMPLATE } from './llm-template.ts';
import { isMarkdownCommand, MARKDOWN_COMMAND } from './markdown-command.ts';
import { isEvaluation, OPENAI_EVALS } from './openai-evals/convert-evaluation.ts';
import { PLAIN_TEXT } from './plain-text.ts';

/** The format of a file that may be a prompt. */
export type FileFormat =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'evaluation' }
  /** `root` is the parsed document. */
  | { readonly kind: 'promptfoo'; readonly root: YamlNode | null }
  | { readonly kind: 'foreign'; readonly foreignFormat: ForeignFormat }
  /**
   * `name` includes the article, such as `a role of aichat`; `fault` is set for a YAML file that is
   * not YAML.
   */
  | { readonly kind: 'other'; readonly name: string; readonly fault?: FileFault };

const GITHUB_FILE_NAME = /\.prompt\.ya?ml$/u;
const YAML_FILE_NAME = /\.ya?ml$/iu;
const TEXT_FILE_NAME = /\.(?:md|markdown|txt)$/iu;

/** Matches a YAML key. Prompt files begin with front matter or with the template. */
const YAML_KEY = /^(?:[\w$-]+|"[^"\n]*"|'[^'\n]*')[ \t]*:(?:[ \t]|$)/mu;

/** Matches the line `---` at the top of a file, and the comments before it. */
const FRONT_MATTER_START = /^\uFEFF?(?:\s*#[^\n]*\n)*\s*---[ \t]*\r?\n/u;

/** Returns the format of a file, which its name or its content shows. */
export function detectFormat(file: string, text: string): FileFormat {
  if (GITHUB_FILE_NAME.test(file)) return { kind: 'foreign', foreignFormat: GITHUB_MODELS };

  const hasPromptExtension = file.endsWith('.prompt');
  if (hasPromptExtension && (FRONT_MATTER_START.test(text) || !YAML_KEY.test(text))) {
    return { kind: 'prompt' };
  }

  const parsedYaml = parseYamlOrFault(text);
  const { root, document } =
    parsedYaml instanceof FileFault ? { root: null, document: undefined } : parsedYaml;
  if (document !== undefined && isGithubPrompt(document)) {
    return { kind: 'foreign', foreignFormat: GITHUB_MODELS };
  }
  if (document !== undefined && isPromptfooConfig(document, file)) {
    return { kind: 'promptfoo', root };
  }
  if (document !== undefined && isEvaluation(document)) return { kind: 'evaluation' };

  if (isJsonObject(document) && isLlmTemplate(document)) {
    if (YAML_FILE_NAME.test(file)) return { kind: 'foreign', foreignFormat: LLM_TEMPLATE };
    return { kind: 'other', name: `${LLM_TEMPLATE.name}, which ends in .yaml` };
  }

  if (hasPromptExtension) return { kind: 'prompt' };
  if (TEXT_FILE_NAME.test(file)) {
    return { kind: 'foreign', foreignFormat: detectTextFormat(file, text) };
  }

  const name = isJsonObject(document) ? describeMap(document) : undefined;
  const faultField =
    parsedYaml instanceof FileFault && YAML_FILE_NAME.test(file) ? { fault: parsedYaml } : {};
  return { kind: 'other', name: name ?? describeByEnding(file, text), ...faultField };
}

/** The formats of Markdown and text files; the first match counts. */
const TEXT_FORMATS: readonly {
  readonly foreignFormat: ForeignFormat;
  readonly matches: (file: string, text: string) => boolean;
}[] = [
  { foreignFormat: FABRIC_PATTERN, matches: isFabricPattern },
  { foreignFormat: AICHAT_ROLE, matches: isAichatRole },
  { foreignFormat: MARKDOWN_COMMAND, matches: isMarkdownCommand },
];

function detectTextFormat(file: string, text: string): ForeignFormat {
  return TEXT_FORMATS.find(({ matches }) => matches(file, text))?.foreignFormat ?? PLAIN_TEXT;
}

/** Reports the format of a file that is not a prompt, and what to do with it. */
export function reportFormat(format: FileFormat, file: string, findings: Findings): void {
  if (format.kind === 'other' && format.fault) {
    findings.addFault(format.fault, format.fault.problem);
  } else {
    findings.addFault({ line: 1, column: 1 }, explainFormat(format, file));
  }
}

function explainFormat(format: FileFormat, file: string): string {
  if (format.kind === 'prompt') return 'this is a prompt file already: it runs as it is';

  if (format.kind === 'promptfoo' || format.kind === 'evaluation') {
    const name = format.kind === 'promptfoo' ? 'a configuration of promptfoo' : OPENAI_EVALS;
    const itemsFlag = format.kind === 'promptfoo' ? '' : ' --items <rows>.jsonl';
    const command = `promptrun prompts new <name>.prompt --from ${path.basename(file)}${itemsFlag}`;
    return `this is ${name}, not a prompt file: convert it with \`${command}\``;
  }

  const name = format.kind === 'other' ? format.name : format.foreignFormat.name;
  return `this is ${name}, not a prompt file`;
}

function isPromptfooConfig(document: JsonValue, file: string): boolean {
  if (!isJsonObject(document)) return false;

  const has = (name: string): boolean => Object.hasOwn(document, name);
  const hasModels = has('providers') || has('targets');
  const hasTests = has('tests') || has('scenarios');

  // promptfoo has its own prompt for a configuration without one.
  if (hasModels && path.basename(file).includes('promptfooconfig')) return true;
  return has('prompts') ? hasModels || hasTests : hasModels && hasTests;
}

/** Returns what a map in YAML or JSON is, with its article; undefined if it is unknown. */
function describeMap(map: { readonly [key: string]: JsonValue }): string | undefined {
  const hasAny = (...keys: readonly string[]): boolean => keys.some(key => Object.hasOwn(map, key));
  if (hasAny('_type') && hasAny('template', 'messages', 'prompt')) return 'a prompt of LangChain';
  // promptfoo has to generate the tests of a red team first.
  if (hasAny('redteam') && hasAny('targets', 'providers')) {
    return 'a red team of promptfoo without tests';
  }

  if (Array.isArray(map['models'])) {
    return 'a models file (prompts check reads it with --models-from)';
  }

  return hasAny('cases') ? 'a test file of promptrun' : undefined;
}

/** Names of other formats, with their article, by the ending of a file. */
const FORMATS_BY_ENDING: readonly (readonly [ending: RegExp, name: string])[] = [
  [/\.(?:j2|jinja2?|njk)$/iu, 'a template of Jinja'],
  [/\.prompty$/iu, 'a file of Prompty'],
  [/\.poml$/iu, 'a file of POML'],
  [/\.mdx$/iu, 'Markdown with JSX'],
  [/\.jsonl$/iu, 'a list of JSON values (JSONL)'],
  [/\.json$/iu, 'JSON'],
  [/\.csv$/iu, 'a table (CSV)'],
  [/\.toml$/iu, 'TOML'],
  [YAML_FILE_NAME, 'YAML of an unknown form'],
  [/\.(?:[cm]?[jt]sx?|py|sh|rb|go)$/iu, 'a program'],
];

function describeByEnding(file: string, text: string): string {
  const [, name] = FORMATS_BY_ENDING.find(([ending]) => ending.test(file)) ?? [];
  if (name !== undefined) return name;
  return isJinja(text) ? 'a template of Jinja' : 'a file of an unknown form';
}

function parseYamlOrFault(
  text: string,
): { root: YamlNode | null; document: JsonValue } | FileFault {
  try {
    const root = parseYamlNode(text);
    return { root, document: toYamlValue(root).toJson() };
  } catch (error) {
    if (error instanceof FileFault) return error;
    throw error;
  }
}
