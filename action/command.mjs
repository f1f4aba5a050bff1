import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** By the URL, so that a Node that is too old gets as far as the command, which says so. */
const root = fileURLToPath(new URL('..', import.meta.url));
const OWN = path.join(root, 'bin', 'promptrun.js');

/** Runs promptrun without a shell; what it prints is held, except the report of tests, which is made for this log. */
export function promptrun(args, { version, baseUrl, apiKey }) {
  const [file, ...before] = starter(version);
  const report = args[0] === 'test';
  const result = spawnSync(file, [...before, ...args], {
    encoding: 'utf8',
    env: environment(baseUrl, apiKey),
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', report ? 'inherit' : 'pipe', report ? 'inherit' : 'pipe'],
  });
  if (result.error) throw new Error(`promptrun could not be started: ${result.error.message}`);
  return { code: result.status ?? 1, stdout: result.stdout ?? '', stderr: result.stderr ?? '' };
}

/** The checkout's own command where it is built and no other version is asked for; else the package. */
function starter(version) {
  if (version === '' && existsSync(path.join(root, 'dist', 'main.cjs'))) return [process.execPath, OWN];
  const wanted = version === '' ? ownVersion() : version;
  if (!/^[\w.][\w.+-]*$/u.test(wanted)) throw new Error('The input version is not a version of promptrun');
  return [...npx(), '--yes', `promptrun@${wanted}`];
}

function ownVersion() {
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

/** On Windows `npx` is a batch file, which only a shell can start; what it starts is not. */
function npx() {
  if (process.platform !== 'win32') return ['npx'];
  return [
    process.execPath,
    path.join(path.dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npx-cli.js'),
  ];
}

function environment(baseUrl, apiKey) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PROMPTRUN_ACTION_'));
  return {
    ...Object.fromEntries(inherited),
    ...(baseUrl !== '' && { PROMPTRUN_BASE_URL: baseUrl }),
    ...(apiKey !== '' && { PROMPTRUN_API_KEY: apiKey }),
  };
}
