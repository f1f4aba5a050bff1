import { configError } from '../errors.ts';

/**
 * A key that can be sent in a header.
 *
 * @param source what gave it, named in errors; the key itself never is
 * @throws {CliError} CONFIG_ERROR
 */
export function checkedKey(key: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  throw configError(
    `${source}: the key holds ${strangeness(key)}`,
    'Copy it again, without anything around it.',
  );
}

function strangeness(key: string): string {
  if (key === '') return 'nothing';
  if (/[\r\n]/.test(key)) return 'a line break';
  return /\s/.test(key) ? 'a space' : 'characters that no key is made of';
}
