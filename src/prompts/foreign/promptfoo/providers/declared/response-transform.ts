/** Returns code that transforms the answer of an address as promptfoo's response parsers do. */
export function buildResponseTransform(parser: string): string {
  return `let json = null;
try { json = JSON.parse(output); } catch {}
const made = (function (json, text, output) {
${buildTransformBody(parser.trim())}
})(json, output);
const isObject = made !== null && typeof made === 'object' && !Array.isArray(made);
const response = isObject && ('output' in made || 'error' in made) ? made : { output: made };
return response.output || response;`;
}

function buildTransformBody(code: string): string {
  const isFunction = /^(?:\(.*?\)\s*=>|function\s*\(.*?\))/u.test(code);
  if (isFunction) return `return (${code.replace(/;$/u, '')})(json, text, {});`;
  return /\breturn\b/u.test(code) ? code : `return (${code.replace(/;$/u, '')});`;
}

/**
 * Returns a path such as `json.a.b[0]` as JMESPath, or an empty text for the whole answer;
 * undefined for other code.
 */
export function toJmespath(transform: string): string | undefined {
  const path = transform
    .trim()
    .replace(/^\(\s*json\s*(?:,\s*\w+\s*)*\)\s*=>\s*/u, '')
    .replace(/;$/u, '');
  if (path === 'text') return '';
  if (path === 'json') return '@';

  const { rest } =
    /^json(?<rest>(?:\??\.[A-Za-z_]\w*|(?:\?\.)?\[\d+\])+)$/u.exec(path)?.groups ?? {};
  return rest?.replaceAll('?.[', '[').replaceAll('?.', '.').replace(/^\./u, '');
}
