// Runs the steps of deploy/Dockerfile in a directory that stands for the image, then what the image starts. It needs no
// container engine and pulls no images, so it can't check the base image and its users. Packages that are installed here
// stand for those that `npm ci` would install there from the same lock file.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const root = path.resolve(import.meta.dirname, '..');
const image = mkdtempSync(path.join(tmpdir(), 'promptrun-image-'));
const toImagePath = file => path.join(image, file);
const usrDirectory = toImagePath('usr/local');
/** npm's other settings, such as its registry and its cache, apply here too. */
const env = {
  ...process.env,
  PATH: `${path.join(usrDirectory, 'bin')}:${process.env.PATH}`,
  npm_config_prefix: usrDirectory,
  npm_config_prefer_offline: 'true',
};

try {
  for (const directory of ['tmp', 'root', 'usr/local/lib', 'usr/local/bin']) {
    mkdirSync(toImagePath(directory), { recursive: true });
  }
  const config = { cwd: image, entry: [], command: [], health: [] };
  for (const { name, rest } of readInstructions()) runInstruction(name, rest, config);
  await checkService(config);
} finally {
  rmSync(image, { recursive: true, force: true });
}

function readInstructions() {
  const text = readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8');
  const lines = text.replace(/\\\n\s*/g, '').split('\n');
  return lines
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => ({ name: line.split(' ', 1)[0], rest: line.slice(line.indexOf(' ') + 1) }));
}

function runInstruction(name, rest, config) {
  if (name === 'WORKDIR') {
    config.cwd = toImagePath(rest);
    mkdirSync(config.cwd, { recursive: true });
  }
  if (name === 'ENV') Object.assign(env, Object.fromEntries([replaceImagePaths(rest).split('=')]));
  if (name === 'COPY') copy(rest.split(' '), config.cwd);
  if (name === 'RUN') run(replaceInstallation(replaceImagePaths(rest), config.cwd), config.cwd);
  if (name === 'ENTRYPOINT') config.entry = JSON.parse(rest);
  if (name === 'HEALTHCHECK') config.health = JSON.parse(rest.slice(rest.indexOf('[')));
  if (name === 'CMD') config.command = JSON.parse(rest);
}

/** Copies files. Both stages share one directory here, which must hold what the second takes from the first. */
function copy(words, cwd) {
  const [from, target] = words.filter(word => !word.startsWith('--'));
  if (words.some(word => word.startsWith('--from='))) {
    const [prefix, suffix] = path.basename(from).split('*');
    const packedFiles = readdirSync(path.dirname(toImagePath(from)));
    if (!packedFiles.some(file => file.startsWith(prefix) && file.endsWith(suffix ?? ''))) {
      throw new Error(`the first stage made no ${from} for ${target}`);
    }
    return;
  }
  const ignored = readFileSync(path.join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter(Boolean);
  const filter = file => !ignored.includes(path.relative(root, file));
  cpSync(path.join(root, from), path.join(cwd, target), { recursive: true, filter });
}

/** Replaces paths of the image by those below its directory, and leaves its users out. */
function replaceImagePaths(text) {
  return text
    .replace(/(?<=[ =])\/(?=tmp|root|data)/g, `${image}/`)
    .replaceAll(' -o node -g node', '');
}

/** Replaces `npm ci` by a link to what it would install. */
function replaceInstallation(command, cwd) {
  return command.replace(/^npm ci(?: --\S+)*/, () => {
    if (!existsSync(path.join(cwd, 'package-lock.json'))) {
      throw new Error('the lock file is not copied');
    }
    symlinkSync(path.join(root, 'node_modules'), path.join(cwd, 'node_modules'));
    return 'true';
  });
}

function run(command, cwd) {
  process.stdout.write(`RUN ${command}\n`);
  const { status } = spawnSync('sh', ['-c', command], { cwd, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`this step failed: ${command}`);
}

/** Starts what the image starts, asks for its health, and stops it as a container is stopped. */
async function checkService({ entry, command, health }) {
  const [program, ...args] = [...entry, ...command, '--port', '0'];
  const service = spawn(program, args, {
    cwd: image,
    env: { ...env, HOME: toImagePath('root') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  const firstEvent = await Promise.race([once(createInterface(service.stdout), 'line'), ended]);
  const [, port] = /^listening on http:.*:(\d+)\/v1$/.exec(String(firstEvent[0])) ?? [];
  if (port === undefined) throw new Error(`the service did not start: ${firstEvent[0]}`);
  const [healthProgram, ...healthArgs] = health
    .filter(word => word !== 'CMD')
    .map(word => word.replace('8787', port));
  const { status } = spawnSync(healthProgram, healthArgs, { cwd: image, env, stdio: 'inherit' });
  service.kill('SIGTERM');
  const [code] = await ended;
  process.stdout.write(
    `the service is ${status === 0 ? 'healthy' : 'not healthy'}, and ends with ${code}\n`,
  );
  if (status !== 0 || code !== 0) process.exitCode = 1;
}
