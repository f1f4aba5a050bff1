'use strict';
// Runs what people run most with a copy of the package, so that bin/code-cache.js caches what V8 compiles of it. The
// Node that runs this is the one that the executable is made of: no other accepts its compiled code.
const http = require('node:http');
const path = require('node:path');

const [packageCopy] = process.argv.slice(2);
const writeCodeCache = require(path.join(packageCopy, 'bin/code-cache.js')).useCodeCache();
const { main } = require(path.join(packageCopy, 'dist/main.cjs'));

const RUN_ID = '6a1f0f5e-2c1d-4a3b-9d70-3f1f5b1f9b11';
const COMMANDS = [
  ['--version'],
  ['--help'],
  ['run', '--help'],
  ['__complete', 'bash', '--', 'promptrun run hel'],
  ['config', 'get', 'concurrency'],
  ['run', 'hello', '-i', 'name=Ada'],
];

async function runCommands() {
  for (const argv of COMMANDS) await runSuccessfully(argv);
  const service = http.createServer((request, response) => {
    request.resume();
    const answer = {
      runId: RUN_ID,
      outputs: [{ type: 'text', data: 'x' }],
      runStatus: 'succeeded',
      tokens: 1,
    };
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ status: 'SUCCESS', data: answer }));
  });
  await new Promise(resolve => service.listen(0, '127.0.0.1', resolve));
  process.env.PROMPTRUN_BASE_URL = `http://127.0.0.1:${service.address().port}/v1`;
  process.env.PROMPTRUN_API_KEY = 'none';
  await runSuccessfully(['run', RUN_ID, '-i', 'name=Ada']);
  service.close().closeAllConnections();
  writeCodeCache();
}

async function runSuccessfully(argv) {
  const code = await main(argv);
  if (code !== 0) throw new Error(`promptrun ${argv.join(' ')} ended with ${code}`);
}

void runCommands();
