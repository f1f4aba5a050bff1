import type { PromptDefinition } from '../definition.ts';
import { Findings } from '../findings.ts';
import { checkName, define, type ParsedPrompt, type ParseOptions, parsePrompt } from '../parse/parse.ts';
import { explainForm, formOf } from './forms.ts';
import { readGithubPrompt } from './github-models.ts';

export interface ParseAnyOptions extends ParseOptions {
  /** True if a fault in tests that the file has is a fault of the file; default false. */
  readonly checksTests?: boolean | undefined;
}

/** Reads a prompt file of ours, or of a form that can be run as it is, with every finding. */
export function parseAnyPrompt(text: string, file: string, options: ParseAnyOptions = {}): ParsedPrompt {
  const form = formOf(file, text);
  if (form.kind === 'prompt') return parsePrompt(text, file, options);
  const findings = new Findings(file);
  if (form.kind !== 'github-models') {
    findings.fault({ line: 1, column: 1 }, explainForm(form, file));
    return { findings, definition: undefined };
  }
  checkName(file, findings);
  return { findings, definition: findings.attempt(() => defineGithub(text, file, findings, options)) };
}

/** Reads a prompt of GitHub Models as the prompt file it can be converted to. */
function defineGithub(
  text: string,
  file: string,
  findings: Findings,
  { checksTests = false }: ParseAnyOptions,
): PromptDefinition | undefined {
  const github = readGithubPrompt(text, findings, checksTests ? findings : new Findings(file));
  if (!github || findings.hasFaults) return undefined;
  const converted = new Findings(file);
  const definition = define(github.prompt, file, converted, {});
  // Its own places are those of the converted text.
  for (const { severity, message } of converted.list()) {
    if (severity === 'fault') findings.fault(github.places.output, message);
  }
  return { ...definition, places: github.places };
}
