import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the action. Reads it from the URL, because a Node that is too old lacks `import.meta.dirname`, and has to get
 * as far as the command, which reports its age.
 */
const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Returns the arguments that start the command of the action's own revision: the build in it if it is complete, else an
 * installed one.
 *
 * @param directory the step's own directory, outside of the workspace
 */
export function findCommand({ version, registry }, directory) {
  const builtCommand = path.join(root, 'bin', 'promptrun.js');
  if (version === '' && isCompleteBuild(builtCommand)) return [process.execPath, builtCommand];
  const wantedVersion = version === '' ? readOwnVersion() : version;
  if (!/^\w[\w.+-]*$/u.test(wantedVersion)) {
    throw new Error('The input version is not a version of promptrun');
  }
  return [process.execPath, installCommand(wantedVersion, toRegistryFlags(registry), directory)];
}

/** Maximum size of the captured output. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs promptrun without a shell. Captures its output, except the report of tests, which is written for this log. */
export function runPromptrun([file, ...leadingArgs], args, keyVariables) {
  const outputMode = args[0] === 'test' ? 'inherit' : 'pipe';
  const result = spawnSync(file, [...leadingArgs, ...args], {
    encoding: 'utf8',
    env: { ...pickEnvironment(name => !name.startsWith('PROMPTRUN_ACTION_')), ...keyVariables },
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', outputMode, outputMode],
  });
  if (result.error) throw new Error(`promptrun could not be started: ${result.error.message}`);
  return { code: result.status ?? 1, stdout: result.stdout ?? '', stderr: result.stderr ?? '' };
}

function readOwnVersion() {
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

/** Returns true for a build of this version that was not cut short. */
function isCompleteBuild(command) {
  if (!existsSync(path.join(root, 'dist', 'main.cjs'))) return false;
  const { status, stdout } = spawnSync(process.execPath, [command, '--version'], {
    encoding: 'utf8',
    env: pickEnvironment(isHarmlessVariable),
  });
  return status === 0 && stdout.trim() === readOwnVersion();
}

/** Installs the package in a folder of its own, with an empty configuration, and without running scripts. Returns its command. */
function installCommand(version, registryFlags, directory) {
  const folder = path.join(directory, 'command');
  const emptyConfig = path.join(folder, 'empty.npmrc');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
  writeFileSync(emptyConfig, '');
  const [file, ...leadingArgs] = getNpmCommand();
  const { status, error, stderr } = spawnSync(
    file,
    [
      ...leadingArgs,
      'install',
      `--prefix=${folder}`,
      ...registryFlags,
      `--userconfig=${emptyConfig}`,
      `--globalconfig=${path.join(folder, 'none.npmrc')}`,
      `--cache=${path.join(folder, 'cache')}`,
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      `promptrun@${version}`,
    ],
    {
      cwd: folder,
      encoding: 'utf8',
      env: pickEnvironment(isHarmlessVariable),
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const installedCommand = path.join(folder, 'node_modules', 'promptrun', 'bin', 'promptrun.js');
  if (error || status !== 0 || !existsSync(installedCommand)) {
    const reason = error?.message ?? stderr.trim().split('\n').slice(-5).join('\n');
    throw new Error(`promptrun@${version} could not be installed: ${reason}`);
  }
  return installedCommand;
}

/** Returns npm's flag for a registry; without one, npm uses the public registry. */
function toRegistryFlags(registry) {
  if (registry === '') return [];
  const url = URL.canParse(registry) ? new URL(registry) : undefined;
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
  if (!isSafe) throw new Error('The input registry must be an https URL');
  return [`--registry=${url.href}`];
}

/** Returns npm's program with its leading arguments. On Windows `npm` is a batch file, which only a shell can start. */
function getNpmCommand() {
  if (process.platform !== 'win32') return ['npm'];
  const script = path.join(
    path.dirname(process.execPath),
    'node_modules',
    'npm',
    'bin',
    'npm-cli.js',
  );
  return [process.execPath, script];
}

/** Returns true unless a variable is a key, or configures npm or Node: others may have written parts of the workflow. */
function isHarmlessVariable(name) {
  return !/^(?:PROMPTRUN_|INPUT_|npm_|NODE_OPTIONS$|.*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL))/iu.test(
    name,
  );
}

function pickEnvironment(isPicked) {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => isPicked(name)));
}
