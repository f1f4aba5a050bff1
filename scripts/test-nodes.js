// Runs the tests on every version of Node that is supported (`npm run test:nodes`, `npm run test:nodes -- test/e2e`;
// `NODES=22,24` for some of them). The binaries come from npm's package `node`.
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';

const versions = (process.env.NODES ?? '20,22,24,26').split(',');
const failedVersions = versions.filter(version => !runTests(installNode(version)));
for (const version of failedVersions) process.stderr.write(`the tests fail on Node ${version}\n`);
process.exitCode = failedVersions.length === 0 ? 0 : 1;

function installNode(version) {
  const args = [
    'exec',
    '--yes',
    `--package=node@${version}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ];
  return execFileSync('npm', args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  }).trim();
}

function runTests(node) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  process.stdout.write(`\n== Node ${version}\n`);
  // This Node comes first on the path too, for what the tests start through a shell.
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` };
  const { status } = spawnSync(
    node,
    ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env,
    },
  );
  return status === 0;
}
