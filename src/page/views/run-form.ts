import { GatewayTimeoutError } from '../../client/errors.ts';
import type {
  CreateRunRequest,
  ImageInput,
  PromptConfig,
  PromptVersion,
  RunOption,
  TextInputConfig,
} from '../../wire/index.ts';
import { choice, el, labelled, same } from '../dom.ts';
import type { BrowserService, Place } from '../service.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/**
 * A form with a control for each input and run option. One submission is one creation, however often the button is
 * pressed: the same content keeps its idempotency key until the service has answered.
 *
 * @param given what an earlier run was created from, which the form then holds
 */
export function runForm(
  { service, signal, guard }: Place,
  { promptVersionId, config }: PromptVersion,
  options: readonly RunOption[],
  given?: CreateRunRequest,
): HTMLElement {
  const { textInputs = {}, imageInputs = [] } = config as Partial<PromptConfig>;
  const texts = Object.entries(textInputs).map(([key, field]) => {
    const value = given?.inputs.textInputs?.[key];
    return { key, field, control: controlOf(value === undefined ? field : { ...field, default: value }) };
  });
  const pictures = imageInputs.map(({ description }, at) => ({
    name: imageInputs.length === 1 ? 'Image' : `Image ${at + 1}`,
    description: given?.inputs.imageInputs?.[at] ? KEEPS_PICTURE : description,
    given: given?.inputs.imageInputs?.[at],
    control: el('input', {
      type: 'file',
      accept: 'image/*',
      required: given?.inputs.imageInputs?.[at] === undefined,
    }),
  }));
  const choices = options.map(({ key, options: values }) => ({
    key,
    control: choice([['', 'default'], ...same(values)], given?.runOptions?.[key] ?? ''),
  }));
  const button = el('button', { class: 'main' }, 'Run');
  const progress = el('div', { role: 'status' });
  let sent: { readonly content: string; readonly key: string } | undefined;

  const requestNow = async (): Promise<CreateRunRequest> => ({
    promptVersionId,
    inputs: {
      textInputs: valuesOf(texts),
      imageInputs: await Promise.all(pictures.map(({ control, given }) => pictureIn(control, given))),
    },
    ...(options.length > 0 && { runOptions: valuesOf(choices) }),
  });

  const submit = async (): Promise<void> => {
    if (button.disabled) return;
    button.disabled = true;
    const startedAt = Date.now();
    const tell = (): void => {
      progress.textContent = `Running · ${Math.round((Date.now() - startedAt) / 1000)} s`;
    };
    tell();
    const ticking = setInterval(tell, 1000);
    try {
      const request = await requestNow();
      const content = JSON.stringify(request);
      if (sent?.content !== content) sent = { content, key: randomId() };
      const runId = await createdRun(service, request, sent.key);
      sent = undefined;
      if (!signal.aborted) location.hash = `#/runs/${runId}`;
    } finally {
      clearInterval(ticking);
      button.disabled = false;
    }
  };

  const hintOf = ({ description, type, required }: TextInputConfig): string | undefined =>
    [description, HINTS[type], required ? undefined : 'May be left empty.'].filter(Boolean).join(' · ') ||
    undefined;
  return el(
    'form',
    {
      submit: event => {
        event.preventDefault();
        guard(submit(), progress);
      },
    },
    ...texts.map(({ key, field, control }) => labelled(key, control, hintOf(field))),
    ...pictures.map(({ name, control, description }) => labelled(name, control, description)),
    ...choices.map(({ key, control }) => labelled(key, control, 'Run option')),
    button,
    progress,
  );
}

/** The id of the one run that is made, ended or not. It is not aborted when the view is left: it may be paid for. */
async function createdRun(
  service: BrowserService,
  request: CreateRunRequest,
  idempotencyKey: string,
): Promise<string> {
  try {
    return (await service.runs.create(request, { idempotencyKey })).runId;
  } catch (error) {
    if (error instanceof GatewayTimeoutError) return error.runId;
    throw error;
  }
}

const KEEPS_PICTURE = 'The picture of the earlier run is sent, unless another one is chosen.';

const HINTS: Partial<Record<TextInputConfig['type'], string>> = {
  array: 'A list as JSON',
  object: 'An object as JSON',
  any: 'A text, or JSON',
};

function controlOf({ type, required, default: standard = '', enum: values }: TextInputConfig): Control {
  const choices = values ?? (type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices !== undefined) {
    const none = required || standard !== '' ? [] : [['', 'none'] as const];
    return choice([...none, ...same(choices)], standard, { required });
  }
  if (type === 'number' || type === 'integer') {
    return el('input', { type: 'number', step: type === 'number' ? 'any' : 1, value: standard, required });
  }
  return el('textarea', { rows: type === 'string' ? 2 : 4, required }, standard);
}

/** What is filled in, by its name. */
function valuesOf(
  fields: readonly { readonly key: string; readonly control: Control }[],
): Record<string, string> {
  const filled = fields.filter(({ control }) => control.value !== '');
  return Object.fromEntries(filled.map(({ key, control }) => [key, control.value]));
}

/** What is chosen, else what was given. */
async function pictureIn({ files }: HTMLInputElement, given: ImageInput | undefined): Promise<ImageInput> {
  if (given && files?.length === 0) return given;
  const bytes = new Uint8Array((await files?.[0]?.arrayBuffer()) ?? new ArrayBuffer(0));
  const text = Array.from(bytes, byte => String.fromCharCode(byte)).join('');
  return { type: 'base64', base64: btoa(text) };
}

/** A version 4 UUID; `crypto.randomUUID` is missing on pages that came over plain HTTP. */
function randomId(): string {
  const [first = 0, ...rest] = crypto.getRandomValues(new Uint8Array(32));
  const digit = (byte: number): string => (byte & 15).toString(16);
  const hex = rest.map(digit).join('');
  const variant = digit(8 | (first & 3));
  return hex.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/u, `$1-$2-4$3-${variant}$4-$5`);
}
