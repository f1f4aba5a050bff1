#!/usr/bin/env node
'use strict';

const OLDEST_NODE = [20, 19];

/** Arguments with which the command writes nothing to disk. */
const READ_ONLY_WORDS = ['--version', '-V', '--help', '-h', 'help', 'completion', '__complete'];

async function start() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    process.stderr.write(
      `error: promptrun needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const writeCodeCache = require('./code-cache.js').useCodeCache();
  /** @type {{ start(argv: readonly string[]): Promise<void> }} */
  const command = require('../dist/main.cjs');
  const argv = process.argv.slice(2);
  await command.start(argv);
  if (argv.length > 0 && !argv.some(word => READ_ONLY_WORDS.includes(word))) writeCodeCache();
}

void start();
