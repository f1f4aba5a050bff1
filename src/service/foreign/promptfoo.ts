import { isJsonObject, type JsonValue } from '../files/json.ts';

/** Whether a file is a configuration of promptfoo. */
export function isPromptfooConfig(whole: JsonValue): boolean {
  if (!isJsonObject(whole)) return false;
  const has = (name: string): boolean => Object.hasOwn(whole, name);
  const isRun = has('providers') || has('targets') || has('tests') || has('scenarios');
  return (has('prompts') && isRun) || (has('providers') && has('tests'));
}
