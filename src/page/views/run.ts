import { waitForRun } from '../../client/wait-for-run.ts';
import {
  type CreateRunRequest,
  isOver,
  MAX_LIST_LIMIT,
  type OutputItem,
  type Run,
  type RunRow,
  type RunUsage,
} from '../../wire/index.ts';
import { formatCost } from '../../wire/money.ts';
import { findMediaUrl } from '../addresses.ts';
import { type Child, createFactList, createTimeElement, el } from '../dom.ts';
import { createStatusElement, formatRunCredits, formatRunDuration } from '../run-facts.ts';
import type { ViewContext } from '../view-context.ts';

/** Shows a run with its inputs and outputs, and follows it until it has ended. */
export async function showRun(context: ViewContext): Promise<void> {
  const {
    service,
    main,
    signal,
    setTitle,
    path: [runId = ''],
  } = context;
  const request = service.runs.request(runId, { signal }).catch(() => undefined);
  const showState = async (run: Run): Promise<void> => {
    const [row, creation] = await Promise.all([findListRow(service, runId, signal), request]);
    signal.throwIfAborted();
    setTitle(row?.runName || 'Run');
    main.replaceChildren(...(await createRunSections(context, run, row, creation)));
  };

  const run = await service.runs.get(runId, { signal });
  await showState(run);
  if (isOver(run)) return;
  await showState(await waitForRun(service, runId, { signal, delayFirst: true }));
}

/**
 * Returns the row of a run from the list: the first one after the next newer run, or the newest.
 */
async function findListRow(
  { runs }: ViewContext['service'],
  runId: string,
  signal: AbortSignal,
): Promise<RunRow | undefined> {
  const newerRuns = await runs.list({ endingBefore: runId, limit: 1 }, { signal });
  const [next] = newerRuns.rows;
  const page = next ? { startingAfter: next.runId, limit: 1 } : { limit: MAX_LIST_LIMIT };
  const { rows } = await runs.list({ ...page, usage: 'true', times: 'true' }, { signal });
  return rows.find(row => row.runId === runId);
}

async function createRunSections(
  context: ViewContext,
  run: Run,
  row: RunRow | undefined,
  request: CreateRunRequest | undefined,
): Promise<Node[]> {
  const versionId = request?.promptVersionId ?? row?.promptVersionId;
  const prompt = versionId === undefined ? undefined : await context.service.getVersion(versionId);
  const versionAddress = prompt && `#/prompts/${prompt.promptId}/${versionId}`;

  return [
    el(
      'div',
      { class: 'actions' },
      !isOver(run) && createCancelButton(context, run.runId),
      request &&
        versionAddress &&
        el('a', { class: 'button', href: `${versionAddress}/${run.runId}` }, 'Run again'),
    ),
    createRunFacts(
      context,
      run,
      row,
      versionAddress ? el('a', { href: versionAddress }, prompt.title) : versionId,
    ),
    el('h2', {}, 'Outputs'),
    ...(run.outputs.length === 0
      ? [el('p', { class: 'quiet' }, 'None yet.')]
      : run.outputs.map(createOutputElement)),
    el('h2', {}, 'Inputs'),
    ...createInputElements(request),
  ];
}

function createRunFacts(
  { signal }: ViewContext,
  run: Run,
  row: RunRow | undefined,
  prompt: Child,
): HTMLElement {
  const isEnded = isOver(run);
  return createFactList([
    [
      'Status',
      el('span', {}, createStatusElement(run), !isEnded && ' · this page updates by itself'),
    ],
    isEnded
      ? ['Took', row && formatRunDuration(row, { isOver: true })]
      : ['Elapsed', row && createElapsedTime(row, signal)],
    ['Prompt', prompt],
    ['Model', row?.usage?.model],
    ['Created', row && createTimeElement(row.createdAt)],
    ...(isEnded ? listSpendingFacts(run, row) : []),
    ['Id', el('code', {}, run.runId)],
  ]);
}

function listSpendingFacts({ tokens }: Run, row: RunRow | undefined): (readonly [string, Child])[] {
  const usage = row?.usage;
  return [
    ['Credits', row && formatRunCredits(row.credits)],
    ['Tokens', tokens],
    ['Counted', usage?.tokens ? formatTokenCount(usage.tokens) : undefined],
    ['Cost', usage && formatCost(usage.cost, { isEstimated: usage.estimated })],
  ];
}

/** Shows the elapsed time of a run, updated every second. */
function createElapsedTime(row: RunRow, signal: AbortSignal): HTMLElement {
  const timeText = el('span', {}, formatRunDuration(row, { isOver: false }));
  const timer = setInterval(() => {
    if (signal.aborted) clearInterval(timer);
    else if (timeText.isConnected) timeText.textContent = formatRunDuration(row, { isOver: false });
  }, 1000);
  return timeText;
}

/** Creates a button that cancels the run. The page follows the run, and then shows its end. */
function createCancelButton(
  { service, handleErrors, signal }: ViewContext,
  runId: string,
): HTMLElement {
  const faultElement = el('span', { role: 'status' });
  const button = el('button', { type: 'button' }, 'Cancel');
  button.addEventListener('click', () => {
    button.disabled = true;
    const cancel = async (): Promise<void> => {
      try {
        await service.runs.cancel(runId, { signal });
      } finally {
        button.disabled = false;
      }
    };
    handleErrors(cancel(), faultElement);
  });

  return el('span', {}, button, faultElement);
}

function formatTokenCount({ input, output, cached }: NonNullable<RunUsage['tokens']>): string {
  return `${input} in (${cached} cached), ${output} out`;
}

function createOutputElement({ type, data }: OutputItem, index: number): Node {
  const url = type === 'image' || type === 'video' ? findMediaUrl(data) : undefined;
  const name = `Output ${index + 1}`;
  if (type === 'image' && url !== undefined) {
    return el('a', { href: url }, el('img', { src: url, alt: name }));
  }

  if (type === 'video' && url !== undefined) {
    return el('video', { src: url, controls: true, 'aria-label': name });
  }

  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return el(
    'pre',
    { class: type === 'error' && 'fault' },
    type === 'error' ? `error: ${text}` : text,
  );
}

function createInputElements(request: CreateRunRequest | undefined): Node[] {
  if (request === undefined) return [el('p', { class: 'quiet' }, 'The inputs are no longer kept.')];

  const { textInputs = {}, imageInputs = [] } = request.inputs;
  const entries: (readonly [string, Child])[] = Object.entries(textInputs).map(([key, value]) => [
    key,
    el('pre', {}, value),
  ]);
  const images = imageInputs.map((image, index) =>
    image.type === 'base64'
      ? // The browser detects the type of an image by its bytes, and shows nothing else.
        el('img', { src: `data:image/png;base64,${image.base64}`, alt: `Image input ${index + 1}` })
      : el('p', {}, image.url),
  );

  const options = Object.entries(request.runOptions ?? {});
  const isEmpty = entries.length + images.length + options.length === 0;
  return isEmpty
    ? [el('p', { class: 'quiet' }, 'None.')]
    : [createFactList([...entries, ...options]), ...images];
}
