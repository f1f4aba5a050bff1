import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import {
  type Exchange,
  failure,
  startScriptedServiceForTest,
  success,
} from '../../../support/scripted-service.ts';
import { creation, PROMPT, runAgainst, succeededRun, VERSION } from './run-against-service.ts';
import {
  answerCreation,
  creationOfRunningRun,
  pollOfUnknownRun,
  promptSearch,
  RUN_IT,
} from './scripted-runs.ts';

describe('an id that is not a version', () => {
  const noVersion: Exchange = answerCreation(failure(404, 'NOT_FOUND_ERROR', 'no such version'));

  it('runs the latest version of the prompt with that id', async () => {
    const service = await startScriptedServiceForTest(
      noVersion,
      {
        expect: { path: `/prompts/${PROMPT}` },
        answer: success({ promptVersionId: VERSION, promptId: PROMPT, config: {} }),
      },
      creation(succeededRun(), {
        promptVersionId: VERSION,
        inputs: { textInputs: { name: 'Ada' } },
      }),
    );
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT, '-i', 'name=Ada']);
    expect({ exitCode, stderr: stderr() }).toEqual({
      exitCode: 0,
      stderr: `note: ${PROMPT} is a prompt; running its latest version ${VERSION}\n`,
    });
  });

  it('names every missing input of the prompt, and creates nothing', async () => {
    const config = { textInputs: { name: { required: true }, place: { required: true } } };
    const service = await startScriptedServiceForTest(noVersion, {
      expect: { path: `/prompts/${PROMPT}` },
      answer: success({ promptVersionId: VERSION, promptId: PROMPT, config }),
    });
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT]);

    expect(exitCode).toBe(EXIT.usage);
    expect(stderr()).toContain('error: missing inputs: name, place (USAGE_ERROR)\n');
  });

  it('says how to find a prompt if no prompt has the id either', async () => {
    const nowhere = {
      expect: { path: `/prompts/${PROMPT}` },
      answer: failure(404, 'NOT_FOUND_ERROR', 'no'),
    };
    const service = await startScriptedServiceForTest(noVersion, nowhere);
    const { exitCode, stderr } = await runAgainst(service, ['run', PROMPT]);

    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr()).toMatch(
      /^error: no published prompt or prompt version has the id 7f1d[^\n]*\n[^\n]*prompts search/,
    );
  });

  it('does not look for a prompt if the run itself is gone', async () => {
    const service = await startScriptedServiceForTest(creationOfRunningRun, {
      ...pollOfUnknownRun,
      times: 'any',
    });
    expect((await runAgainst(service, RUN_IT)).exitCode).toBe(EXIT.notFound);
  });
});

describe('a slug', () => {
  it('runs the prompt whose slug matches exactly', async () => {
    const service = await startScriptedServiceForTest(
      promptSearch('hello-world', 'hello'),
      creation(),
    );
    expect((await runAgainst(service, ['run', 'hello'])).exitCode).toBe(0);
  });

  it('exits with 4 if no prompt has the slug', async () => {
    const service = await startScriptedServiceForTest(promptSearch('hello2', 'Hello'));
    const { exitCode, stderr } = await runAgainst(service, ['run', 'hello']);
    expect(exitCode).toBe(EXIT.notFound);
    expect(stderr()).toMatch(
      /^error: the prompt "hello" does not exist; did you mean \S+\? \(NOT_FOUND_ERROR\)\n/,
    );
  });
});
