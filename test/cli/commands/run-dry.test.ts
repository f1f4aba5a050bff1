import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/context.ts';
import { png } from '../../support/pictures.ts';
import { command, serviceOf, VERSION } from './run-support.ts';

const image = `data:image/png;base64,${png(1, 1).toString('base64')}`;
const DRY = ['run', VERSION, '--image', image, '-o', 'quality=high', '--no-validate', '--dry-run'];
const bodyWith = (name: string): object => ({
  promptVersionId: VERSION,
  inputs: {
    textInputs: { name },
    imageInputs: [{ type: 'base64', base64: png(1, 1).toString('base64') }],
  },
  runOptions: { quality: 'high' },
});

/** What a shell that is given the printed command would have curl do. */
function pasted(printed: string): { args: string[]; stdin: string } {
  const curl = `curl() { printf '%s\\0' "$@"; printf '\\0'; cat; }`;
  const script = `${curl}\n${printed}`;
  const out = execFileSync('sh', ['-c', script], {
    env: { PATH: process.env['PATH'], PROMPTRUN_API_KEY: 'k"ey' },
  });
  const [args = '', stdin = ''] = out.toString().split('\0\0');
  return { args: args.split('\0'), stdin };
}

describe('--dry-run', () => {
  it('prints the body, and on standard error a curl that sends it, and sends nothing', async () => {
    const service = await serviceOf();
    const { exitCode, stdout, stderr } = await command(service, [...DRY, '-i', 'name=Ada']);
    expect(exitCode).toBe(0);
    expect(stdout()).toBe(`${JSON.stringify(bodyWith('Ada'))}\n`);
    expect(stderr()).not.toContain('key-of-the-tests');
    const { args, stdin } = pasted(stderr());
    expect(args).toContain(`${service.baseUrl}/runs`);
    expect(args).toContain('Authorization: Bearer k"ey');
    expect(JSON.parse(stdin)).toEqual(bodyWith('Ada'));
  });

  it('prints a curl that can be pasted whatever the inputs are', async () => {
    const home = temporaryDirectory();
    const service = await serviceOf();
    const part = fc.constantFrom('END_OF_BODY', '\n', '_', "'", '$(id)', '`', '\\', '"', 'ü\u2028');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async parts => {
        const { stderr } = await command(service, [...DRY, '-i', `name=${parts.join('')}`], { home });
        expect(JSON.parse(pasted(stderr()).stdin)).toEqual(bodyWith(parts.join('')));
      }),
      { numRuns: 20 },
    );
  });

  it('is exactly the body with --json', async () => {
    const { stdout, stderr } = await command(await serviceOf(), [...DRY, '-i', 'name=Ada', '--json', '-q']);
    expect(stdout()).toBe(`${JSON.stringify(bodyWith('Ada'))}\n`);
    expect(stderr()).toBe('');
  });

  it('shows pictures by name on a terminal', async () => {
    const argv = [...DRY, '-i', 'name=Ada'];
    const { stdout, stderr } = await command(await serviceOf(), argv, { terminal: { stdout: true } });
    expect(stdout()).toContain(`"base64": "<${png(1, 1).length} bytes of the data URL>"`);
    expect(JSON.parse(pasted(stderr()).stdin)).toEqual(bodyWith('Ada'));
  });
});
