import { type ChildProcess, spawn } from 'node:child_process';
import { buildCommandEnvironment } from '../environment.ts';

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; stderr: string }>;
}

/**
 * Starts a command in its own directory, to be killed; it needs no test around it, so that soaks
 * can do it too.
 */
export function startCommand(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>>,
): Started {
  const child = spawn(process.execPath, argv, {
    cwd: home,
    env: buildCommandEnvironment(home, env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });

  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ code: number | null; stderr: string }>(resolve =>
    child.on('close', code => resolve({ code, stderr })),
  );
  return { child, ended };
}
