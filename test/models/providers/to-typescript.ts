/** Returns a value as a file of TypeScript that is checked against a type. */
export function toTypeScript(imports: readonly string[], type: string, value: object): string {
  return [
    `// Made by \`npx vitest run test/models/providers/requests.test.ts --update\`.`,
    `import type { ${imports.join(', ')} } from '../wire-types.ts';`,
    '',
    `export default ${formatLiteral(value)} satisfies ${type};`,
    '',
  ].join('\n');
}

const WIDTH = 110;

function formatLiteral(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);

  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', (value as unknown[]).map(item => ['', item] as const)]
    : [
        '{',
        '}',
        Object.entries(value).map(([key, item]) => [`${propertyName(key)}: `, item] as const),
      ];
  const short = items.map(([name, item]) => `${name}${formatLiteral(item)}`).join(', ');
  const line = open === '{' && short !== '' ? `{ ${short} }` : `${open}${short}${close}`;
  if (!line.includes('\n') && indent.length + line.length <= WIDTH) return line;

  const deeper = `${indent}  `;
  const lines = items.map(([name, item]) => `${deeper}${name}${formatLiteral(item, deeper)},\n`);
  return `${open}\n${lines.join('')}${indent}${close}`;
}

function propertyName(key: string): string {
  return /^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key);
}
