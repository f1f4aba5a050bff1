import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';
import { chatAnswer, FakeProvider } from '../support/providers/fake-provider.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

const SKIPPED = 'Chromium is not installed: the tests of the page are skipped.\n';
if (CHROMIUM === undefined) process.stderr.write(SKIPPED);

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];

/** The longest that a busy machine may take for a step; the browser's own limit is half of it. */
const STEP_MS = 60_000;

/** The directory for pictures of the views; set `PICTURES=1` to write them. */
const PICTURES = process.env['PICTURES'] === undefined ? undefined : path.resolve('docs/pages');

describe.skipIf(CHROMIUM === undefined)('the page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    const args = [...ARGS, '--disable-sync'];
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args, timeout: STEP_MS });
  });
  afterAll(() => browser.close());

  /** Opens a tab, and returns it with its requests and complaints. */
  async function open(
    address: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ page: Page; requests: Request[]; complaints: string[] }> {
    const context = await browser.newContext({
      viewport: { width: 1000, height: 720 },
      locale: 'en-GB',
      ...options,
    });
    context.setDefaultTimeout(STEP_MS);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const requests: Request[] = [];
    const complaints: string[] = [];
    page.on('request', request => requests.push(request));
    page.on('pageerror', error => complaints.push(error.message));

    page.on('console', message => {
      if (/Content Security Policy|TypeError/u.test(message.text())) {
        complaints.push(message.text());
      }
    });

    await page.goto(address);
    return { page, requests, complaints };
  }

  const signIn = async (page: Page, key: string): Promise<void> => {
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
  };

  const start = async (options: Parameters<typeof TestService.start>[0] = {}) => {
    const service = await TestService.start(options);
    onTestFinished(() => service.close());
    return { service, root: service.service.url.replace(/v1$/u, '') };
  };

  const takePicture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(path.join(PICTURES, `page-${name}.png`), await page.screenshot());
  };

  /** Starts a provider, and returns it with a data directory whose model `priced` is its own. */
  const startPaidModel = async (): Promise<{ provider: FakeProvider; dataDir: string }> => {
    const provider = await FakeProvider.start();
    onTestFinished(() => provider.close());
    const dataDir = createTemporaryDataDir();
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(
      path.join(dataDir, 'models.yaml'),
      `providers: {corner: {baseUrl: "${provider.baseUrl}"}}
models: [{model: priced, modality: text, provider: corner, price: {input: 2, output: 8}}]`,
    );

    return { provider, dataDir };
  };

  const PAID = '---\nmodel: priced\ntitle: Paid\n---\nSay hi';

  it('signs in, runs a prompt once, shows its outputs and cost, and signs out', async () => {
    const { service, root } = await start();
    const { page, requests, complaints } = await open(root);
    await page.getByLabel('API key').fill('pr_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: /key/iu }).waitFor();
    await signIn(page, service.key);
    await page.getByText('No runs.').waitFor();

    await page.getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('link', { name: 'Postcard' }).waitFor();
    await page.getByRole('link', { name: 'Postcard' }).click();
    await page.getByLabel('place').fill('Oslo <b>harbour</b>');
    await page.getByLabel('mood').selectOption('rainy');
    await page.getByRole('button', { name: 'Run' }).dblclick();
    await page.getByRole('img', { name: 'Output 1' }).waitFor();
    const creations = requests.filter(request => request.method() === 'POST');

    expect(creations).toHaveLength(1);
    expect(creations[0]?.headers()['idempotency-key']).toMatch(/^[\da-f-]{36}$/u);

    const image = page.getByRole('img', { name: 'Output 1' });
    await expect.poll(() => getNaturalWidth(image)).toBeGreaterThan(100);

    await page.getByText('Oslo <b>harbour</b>').waitFor();
    expect(await page.locator('main').textContent()).toMatch(/Credits4/u);

    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('meter', { name: 'Postcard: 4 of 4 credits' }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('link', { name: 'Postcard' }).waitFor();
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No runs.').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();

    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.textContent('body')).not.toContain('Postcard');
    expect(complaints).toEqual([]);

    const elsewhere = requests.filter(
      request => !request.url().startsWith('data:') && !request.url().startsWith(root),
    );
    expect(elsewhere.map(request => request.url())).toEqual([]);
  });

  /**
   * Runs of every kind: texts, a picture, one that failed, one that was cancelled and one that is
   * still running.
   */
  const createRuns = async (service: TestService): Promise<{ runs: Record<string, string> }> => {
    const create = async (
      slug: string,
      textInputs: object,
      runOptions: object = {},
    ): Promise<string> => {
      const promptVersionId = await service.versionOf(slug);
      const body = { promptVersionId, inputs: { textInputs }, runOptions };
      return (await service.post<{ runId: string }>('/runs', body)).data.runId;
    };

    const summary = `---
title: Summary of a support ticket
description: Says in one sentence what a customer wants, and how urgent it is
input:
  schema:
    ticket: string, what the customer wrote
    tone?(enum, how it is to sound): [friendly, matter-of-fact]
  default: {tone: friendly}
---
{{role "user"}}Ticket: {{ticket}} ({{tone}})
`;
    const { promptId, promptVersionId } = await service.publish('summary', summary);

    expect(promptId).toBeTruthy();

    await service.call('PUT', '/prompts/summary/labels/production', { body: { promptVersionId } });
    await service.publish('summary', summary.replace('Ticket:', 'A ticket:'));
    const postcard = await create('postcard', { place: 'Oslo', mood: 'rainy' });
    const failed = await create('sandbox', {}, { outcome: 'failed' });
    const cancelled = await create('sandbox', {}, { delaySeconds: '130' });
    await service.post(`/runs/${cancelled}/cancel`, undefined);
    const going = await create('sandbox', { note: 'Tuesday' }, { delaySeconds: '130' });
    await create('summary', {
      ticket: 'The invoice of May has the wrong address, and I need it by Friday.',
    });
    const text = await create('summary', {
      ticket: 'My parcel has been in Hamburg for a week. Where is it?',
      tone: 'matter-of-fact',
    });

    return { runs: { postcard, failed, cancelled, going, text } };
  };

  const LOOKS = [
    { look: '', width: 1000, height: 720, colorScheme: 'light' },
    { look: '-dark', width: 1000, height: 720, colorScheme: 'dark' },
    { look: '-phone', width: 360, height: 720, colorScheme: 'light' },
  ] as const;

  it('fits its window in every view, wide and narrow, in light and dark colours', async () => {
    const { service, root } = await start({ syncWindowMs: 200 });
    const { runs } = await createRuns(service);
    const { promptId, promptVersionId } = await service.find('summary');

    const { page, complaints } = await open(root);
    const expectToFit = async (
      name: string,
      fits: (width: number) => Promise<boolean>,
    ): Promise<void> => {
      for (const { look, width, height, colorScheme } of LOOKS) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        expect([name, look, await fits(width)]).toEqual([name, look, true]);
        await takePicture(page, `${name}${look}`);
      }
    };

    await expectToFit('sign-in', width => fitsWidth(page, width));
    await signIn(page, service.key);

    for (const [name, hash] of [
      ['runs', 'runs'],
      ['run', `runs/${runs['postcard']}`],
      ['run-text', `runs/${runs['text']}`],
      ['run-going', `runs/${runs['going']}`],
      ['run-failed', `runs/${runs['failed']}`],
      ['prompts', 'prompts'],
      ['prompt', `prompts/${promptId}`],
      ['run-again', `prompts/${promptId}/${promptVersionId}/${runs['text']}`],
      ['usage', 'usage'],
    ] as const) {
      await page.goto(`${root}#/${hash}`);
      await page.locator('main table, main dl').first().waitFor();

      for (const image of await page.getByRole('img').all()) {
        await expect.poll(() => getNaturalWidth(image)).toBeGreaterThan(9);
      }

      await expectToFit(
        name,
        async width => (await fitsWidth(page, width)) && (await page.evaluate<boolean>(ALIGNED)),
      );
    }

    expect(complaints).toEqual([]);
  });

  it('breaks long names of inputs on a phone', async () => {
    const { service, root } = await start();
    const key = 'k'.repeat(100);
    const file = `---\nmodel: echo\ninput: {schema: {${key}: string}}\n---\n{{${key}}}`;
    const { promptId, promptVersionId } = await service.publish('long', file);
    const body = { promptVersionId, inputs: { textInputs: { [key]: 'v' } } };
    const { runId } = (await service.post<{ runId: string }>('/runs', body)).data;
    const { page } = await open(root, { viewport: { width: 360, height: 720 } });
    await signIn(page, service.key);

    for (const hash of [`prompts/${promptId}`, `runs/${runId}`]) {
      await page.goto(`${root}#/${hash}`);
      await page.getByText(key).first().waitFor();
      expect([hash, await fitsWidth(page, 360)]).toEqual([hash, true]);
    }
  });

  it('distinguishes runs of one prompt, cancels a running one, and reruns one with its inputs', async () => {
    const { service, root } = await start({ syncWindowMs: 200 });
    const { runs } = await createRuns(service);
    const { page, requests, complaints } = await open(root);
    await signIn(page, service.key);
    const findRowWith = (words: string): Locator =>
      page.getByRole('row').filter({ hasText: words });
    await findRowWith('My parcel has been in Hamburg').waitFor();
    await findRowWith('The invoice of May').waitFor();

    expect(await page.evaluate<boolean>(ON_ONE_LINE)).toBe(true);
    expect(await findRowWith('My parcel').textContent()).toMatch(/\d (?:ms|s)/u);

    await page.getByRole('link', { name: 'Sandbox' }).first().click();
    const gone = page.locator('dd').nth(1);
    const before = await gone.textContent();

    await expect.poll(() => gone.textContent()).not.toBe(before);

    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('cancelled', { exact: true }).first().waitFor();

    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);

    const { runStatus } = await service.data<{ runStatus: string }>(`/runs/${runs['going']}`);
    expect(runStatus).toBe('failed');

    await page.goto(`${root}#/runs/${runs['text']}`);
    await page.getByRole('link', { name: 'Run again' }).click();
    const ticket = page.getByLabel('ticket');
    await ticket.waitFor();

    expect(await ticket.inputValue()).toBe(
      'My parcel has been in Hamburg for a week. Where is it?',
    );

    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('A ticket: My parcel has been in Hamburg').waitFor();
    const [first, again] = await Promise.all(
      [runs['text'], page.url().split('/').at(-1)].map(id =>
        service.data<object>(`/runs/${id}/request`),
      ),
    );

    expect(again).toEqual(first);
    expect(requests.filter(request => request.method() === 'POST')).toHaveLength(2);
    expect(complaints).toEqual([]);
  });

  it('finds prompts by title, slug and description, and says how an author publishes one', async () => {
    const { service, root } = await start({ syncWindowMs: 200 });
    await createRuns(service);
    const { page } = await open(root);
    await signIn(page, service.key);
    await page.getByRole('link', { name: 'Prompts' }).click();

    const rows = page.getByRole('row');
    for (const [words, found] of [
      ['support', 'Summary of a support ticket'],
      ['summary', 'Summary of a support ticket'],
      ['URGENT says', 'Summary of a support ticket'],
      ['weather', 'Postcard'],
    ] as const) {
      await page.getByLabel('Search').fill(words);
      await expect.poll(() => rows.count()).toBe(2);
      await rows.filter({ hasText: found }).waitFor();
    }

    await page.getByLabel('Search').fill('no such words');
    await page.getByText('No prompt matches.').waitFor();
    await page.getByText('How to publish a prompt').click();
    await page.getByText(`promptrun login --base-url ${root.replace(/\/$/u, '')}\n`).waitFor();
    await page.getByLabel('Search').fill('');
    await page.getByRole('link', { name: 'Summary of a support ticket' }).click();
    await page.getByText('@production').waitFor();
  });

  it('shows the list for an address that it cannot read', async () => {
    const { service, root } = await start();
    const { page, complaints } = await open(`${root}#/x/%`);
    await signIn(page, service.key);
    await page.getByText('No runs.').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.goto(`${root}#/x/%E0%A4%A`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.goto(`${root}#/runs/%`);
    await page.getByRole('alert').waitFor();

    expect(complaints).toEqual([]);
  });

  it('takes a picture as an input, and shows it with the run', async () => {
    const { service, root } = await start();
    const { page } = await open(root);
    await signIn(page, service.key);
    await page.getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('link', { name: 'Describe a picture' }).click();
    await page
      .getByLabel('Image')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png(40, 30) });
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('img', { name: 'Image input 1' }).waitFor();
    await page.getByText(/PNG/u).waitFor();
  });

  it('follows a run that takes longer than its creation is answered', async () => {
    const { provider, dataDir } = await startPaidModel();
    const waiting: ServerResponse[] = [];
    provider.reset(response => void waiting.push(response));
    const { service, root } = await start({ dataDir, syncWindowMs: 50 });
    await service.publish('paid', PAID);
    const { page, requests } = await open(root);
    await signIn(page, service.key);
    await page.getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('link', { name: 'Paid' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('this page updates by itself').waitFor();

    await expect.poll(() => waiting.length).toBe(1);

    waiting[0]
      ?.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(chatAnswer('Hi').body));
    await page.getByText('succeeded').waitFor();

    expect(requests.filter(request => request.method() === 'POST')).toHaveLength(1);
  });

  it('shows what an old run of a paid model used, and the totals of each model', async () => {
    const { provider, dataDir } = await startPaidModel();
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    provider.reset({ body: { ...(chatAnswer('Hi').body as object), usage } });

    const { service, root } = await start({ dataDir });
    const createRun = (slug: string): Promise<{ runId: string }> =>
      service.versionOf(slug).then(async promptVersionId => {
        return (await service.post<{ runId: string }>('/runs', { promptVersionId, inputs: {} }))
          .data;
      });

    await service.publish('paid', PAID);
    const { runId } = await createRun('paid');
    for (let run = 0; run < 51; run += 1) await createRun('sandbox');

    const { page } = await open(root);
    await signIn(page, service.key);
    await page.goto(`${root}#/runs/${runId}`);
    await page.getByRole('link', { name: 'Paid' }).waitFor();

    const shown = await page.locator('main').textContent();
    for (const fact of [
      'Created',
      'Modelpriced',
      'Counted1000 in (0 cached), 100 out',
      'Cost$0.0028',
    ]) {
      expect(shown).toContain(fact);
    }

    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByLabel('Prompt').selectOption('Paid');

    await expect.poll(() => page.getByRole('row').count()).toBe(2);

    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByLabel('By').selectOption('model');
    await page.getByRole('meter', { name: 'priced: $0.0028 of $0.0028' }).waitFor();
    await page.getByRole('meter', { name: 'sandbox: $0.00 of $0.0028' }).waitFor();
    await service.publish('fresh', '---\nmodel: echo\ntitle: Published meanwhile\n---\nHi');
    await page.getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('link', { name: 'Published meanwhile' }).waitFor();
  });

  it('loads the next runs after a failed attempt', async () => {
    const { service, root } = await start();
    for (let run = 0; run < 51; run += 1) {
      const promptVersionId = await service.versionOf('sandbox');
      await service.post('/runs', { promptVersionId, inputs: {} });
    }

    const { page } = await open(root);
    await signIn(page, service.key);
    const more = page.getByRole('button', { name: 'More' });
    const countRows = (): Promise<number> => page.getByRole('row').count();
    await expect.poll(countRows).toBe(1 + 50);

    const isNextPage = (url: URL): boolean => url.searchParams.has('startingAfter');
    await page.route(isNextPage, route =>
      route.fulfill({
        status: 400,
        json: { status: 'BAD_REQUEST_ERROR', message: 'not now', data: null },
      }),
    );
    await more.click();
    await page.getByText('not now').waitFor();

    await page.unroute(isNextPage);
    await more.click();
    await expect.poll(countRows).toBe(1 + 51);
    await expect.poll(() => more.isVisible()).toBe(false);
  });

  it('leads back to signing in once the key is revoked', async () => {
    const { service, root } = await start();
    const { page } = await open(root);
    await signIn(page, service.key);
    await page.route('**/v1/**', route =>
      route.fulfill({
        status: 401,
        json: { status: 'UNAUTHORIZED_ERROR', message: 'Invalid API key', data: null },
      }),
    );

    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('The service no longer accepts this key.').waitFor();

    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('works behind a proxy that strips a path, in dark colours and on a phone, by keyboard alone', async () => {
    const base = await startStrippingProxy();
    const { service } = await start({ publicUrl: 'https://prompts.example.com/team' });
    base.leadTo(service.service.url);
    const { data } = await service.call<{ rows: { promptVersionId: string }[] }>(
      'GET',
      '/prompts/publish?q=postcard',
    );
    const promptVersionId = data.rows[0]?.promptVersionId;
    const body = { promptVersionId, inputs: { textInputs: { place: 'Rome' }, imageInputs: [] } };
    await service.call('POST', '/runs', { body });
    const { page, complaints } = await open(`${base.url}/team/`, {
      viewport: { width: 360, height: 640 },
      colorScheme: 'dark',
    });
    await signIn(page, service.key);

    const link = page.getByRole('link', { name: 'Postcard' });
    for (let steps = 0; steps < 20; steps += 1) {
      await page.keyboard.press('Tab');
      if (await isFocused(link)) break;
    }

    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
      'solid',
    );

    await page.keyboard.press('Enter');
    const image = page.getByRole('img', { name: 'Output 1' });
    await image.waitFor();

    await expect.poll(() => getNaturalWidth(image)).toBeGreaterThan(100);
    expect(await image.getAttribute('src')).toMatch(new RegExp(`^${base.url}/team/media/`, 'u'));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    expect(complaints).toEqual([]);
  });

  it('gives every control a name', async () => {
    const { service, root } = await start();
    const { page } = await open(root);
    await signIn(page, service.key);

    for (const view of ['Runs', 'Usage', 'Prompts']) {
      await page.getByRole('link', { name: view }).click();
      await page.getByRole('heading', { name: view }).waitFor();
      const names = await page.evaluate<string[]>(
        `[...document.querySelectorAll('button, input, select, textarea, meter')].map(
          node => node.labels?.[0]?.textContent || node.ariaLabel || node.textContent)`,
      );
      expect(names.filter(name => !name)).toEqual([]);
    }
  });
});

describe('the files of the page', () => {
  it('come with a strict policy, and not at all with --no-page', async () => {
    const service = await TestService.start();
    onTestFinished(() => service.close());
    const root = service.service.url.replace(/v1$/u, '');
    const answer = await fetch(root);

    expect(answer.status).toBe(200);

    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
    ]) {
      expect(policy.split('; ')).toContain(rule);
    }

    const html = await answer.text();
    expect(html).not.toMatch(/style=|<style|<script>|(?:src|href)="(?:https?:|\/)/u);

    const without = await TestService.start({ servePage: false });
    onTestFinished(() => without.close());

    expect((await fetch(without.service.url.replace(/v1$/u, ''))).status).toBe(404);
  });
});

/** Returns true if neither the page nor a part of it scrolls sideways. */
function fitsWidth(page: Page, width: number): Promise<boolean> {
  return page.evaluate<boolean>(
    `document.documentElement.scrollWidth <= ${width} &&
      [...document.querySelectorAll('main *')].every(node => node.getBoundingClientRect().right <= ${width})`,
  );
}

/** Evaluates to true if the header begins and ends where the content does. */
const ALIGNED = `(() => {
  const [first, last] = [document.querySelector('header strong'), document.querySelector('header button')];
  const main = document.querySelector('main');
  const { left, right } = main.getBoundingClientRect();
  const { paddingLeft, paddingRight } = getComputedStyle(main);
  return Math.abs(first.getBoundingClientRect().left - left - parseFloat(paddingLeft)) < 1 &&
    Math.abs(last.getBoundingClientRect().right - right + parseFloat(paddingRight)) < 1;
})()`;

/** Evaluates to true if each time is as high as one line. */
const ON_ONE_LINE = `[...document.querySelectorAll('td time')].every(node => node.getClientRects().length === 1)`;

/** Returns the width of the picture that the browser has read; 0 if it has none. */
function getNaturalWidth(image: Locator): Promise<number> {
  return image.evaluate((node: object) => Reflect.get(node, 'naturalWidth') as number);
}

async function isFocused(control: Locator): Promise<boolean> {
  return (await control.and(control.page().locator(':focus')).count()) === 1;
}

/** Starts a proxy that strips `/team` from paths, and hands everything else on. */
async function startStrippingProxy(): Promise<{ url: string; leadTo: (service: string) => void }> {
  let target = new URL('http://127.0.0.1/');
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const [host, port] = [target.hostname, target.port];
    const sent = httpRequest(
      { method, headers, host, port, path: url.replace(/^\/team/u, '') },
      answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(sent);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  return { url: `http://127.0.0.1:${port}`, leadTo: service => (target = new URL(service)) };
}
