import { GatewayTimeoutError } from '../../client/errors.ts';
import type {
  CreateRunRequest,
  ImageInput,
  PromptConfig,
  PromptVersion,
  RunOption,
  TextInputConfig,
} from '../../wire/index.ts';
import type { BrowserService } from '../browser-service.ts';
import { createSelectBox, el, labelControl, toPlainOptions } from '../dom.ts';
import type { ViewContext } from '../view-context.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const KEEPS_IMAGE_HINT =
  'Choose another picture, or leave this empty to send the one of the earlier run.';

const TYPE_HINTS: Partial<Record<TextInputConfig['type'], string>> = {
  array: 'A list as JSON',
  object: 'An object as JSON',
  any: 'A text, or JSON',
};

/**
 * Creates a form with a control for each input and run option.
 *
 * @param earlierRequest the request of an earlier run, which fills the form
 */
export function createRunForm(
  { service, signal, handleErrors }: ViewContext,
  version: PromptVersion,
  options: readonly RunOption[],
  earlierRequest?: CreateRunRequest,
): HTMLElement {
  const fields = createFields(version, options, earlierRequest);
  const submission = new RunSubmission(service);

  const button = el('button', { class: 'main' }, 'Run');
  const progress = el('div', { role: 'status' });
  const submit = async (): Promise<void> => {
    if (button.disabled) return;
    button.disabled = true;

    const stopClock = showElapsed(progress);
    try {
      const runId = await submission.send(await readRequest(version, fields));
      if (!signal.aborted) location.hash = `#/runs/${runId}`;
    } finally {
      stopClock();
      button.disabled = false;
    }
  };

  const onSubmit = (event: Event): void => {
    event.preventDefault();
    handleErrors(submit(), progress);
  };

  return el('form', { submit: onSubmit }, ...createLabelledControls(fields), button, progress);
}

/**
 * Creates runs. Equal content keeps its key until the service has answered, so that repeated clicks
 * create one run.
 */
class RunSubmission {
  readonly #service: BrowserService;
  #unanswered: { readonly content: string; readonly key: string } | undefined;

  constructor(service: BrowserService) {
    this.#service = service;
  }

  /**
   * Returns the id of the run. Continues after the user leaves the view, because the run may cost
   * money.
   */
  async send(request: CreateRunRequest): Promise<string> {
    const content = JSON.stringify(request);
    if (this.#unanswered?.content !== content) {
      this.#unanswered = { content, key: createRandomId() };
    }
    const runId = await this.#create(request, this.#unanswered.key);
    this.#unanswered = undefined;
    return runId;
  }

  async #create(request: CreateRunRequest, idempotencyKey: string): Promise<string> {
    try {
      return (await this.#service.runs.create(request, { idempotencyKey })).runId;
    } catch (error) {
      if (error instanceof GatewayTimeoutError) return error.runId;
      throw error;
    }
  }
}

type RunFields = ReturnType<typeof createFields>;

function createFields(
  { config }: PromptVersion,
  options: readonly RunOption[],
  earlierRequest: CreateRunRequest | undefined,
) {
  const { textInputs = {}, imageInputs = [] } = config as Partial<PromptConfig>;
  const texts = Object.entries(textInputs).map(([key, field]) => {
    const value = earlierRequest?.inputs.textInputs?.[key];
    return {
      key,
      field,
      control: createControl(value === undefined ? field : { ...field, default: value }),
    };
  });

  const imageControls = createImageFields(imageInputs, earlierRequest?.inputs.imageInputs);
  const choices = options.map(({ key, options: values }) => ({
    key,
    control: createSelectBox(
      [['', 'default'], ...toPlainOptions(values)],
      earlierRequest?.runOptions?.[key] ?? '',
    ),
  }));
  return { texts, imageControls, choices };
}

function createLabelledControls({ texts, imageControls, choices }: RunFields): HTMLElement[] {
  return [
    ...texts.map(({ key, field, control }) => labelControl(key, control, describeField(field))),
    ...imageControls.map(({ name, control, description }) =>
      labelControl(name, control, description),
    ),
    ...choices.map(({ key, control }) => labelControl(key, control, 'Run option')),
  ];
}

/** Returns the request that the controls hold now. */
async function readRequest(
  { promptVersionId }: PromptVersion,
  { texts, imageControls, choices }: RunFields,
): Promise<CreateRunRequest> {
  const images = imageControls.map(({ control, earlierImage }) =>
    readChosenImage(control, earlierImage),
  );
  return {
    promptVersionId,
    inputs: { textInputs: collectValues(texts), imageInputs: await Promise.all(images) },
    ...(choices.length > 0 && { runOptions: collectValues(choices) }),
  };
}

function describeField({ description, type, required }: TextInputConfig): string | undefined {
  const parts = [description, TYPE_HINTS[type], required ? undefined : 'Optional.'];
  return parts.filter(Boolean).join(' · ') || undefined;
}

/**
 * Creates a file control for each image input; one that has an image of an earlier run may stay
 * empty.
 */
function createImageFields(
  inputs: PromptConfig['imageInputs'],
  earlierImages: readonly ImageInput[] = [],
) {
  return inputs.map(({ description }, index) => {
    const earlierImage = earlierImages[index];
    return {
      name: inputs.length === 1 ? 'Image' : `Image ${index + 1}`,
      description: earlierImage ? KEEPS_IMAGE_HINT : description,
      earlierImage,
      control: el('input', {
        type: 'file',
        accept: 'image/*',
        required: earlierImage === undefined,
      }),
    };
  });
}

/** Shows how long a run takes, each second. Returns a function that ends it. */
function showElapsed(progress: HTMLElement): () => void {
  const startedAt = Date.now();
  const show = (): void => {
    progress.textContent = `Running · ${Math.round((Date.now() - startedAt) / 1000)} s`;
  };
  show();
  const timer = setInterval(show, 1000);
  return () => clearInterval(timer);
}

function createControl({
  type,
  required,
  default: defaultText = '',
  enum: values,
}: TextInputConfig): Control {
  const choices = values ?? (type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices !== undefined) {
    const none = required || defaultText !== '' ? [] : [['', 'none'] as const];
    return createSelectBox([...none, ...toPlainOptions(choices)], defaultText, { required });
  }

  if (type === 'number' || type === 'integer') {
    return el('input', {
      type: 'number',
      step: type === 'number' ? 'any' : 1,
      value: defaultText,
      required,
    });
  }

  return el('textarea', { rows: type === 'string' ? 2 : 4, required }, defaultText);
}

function collectValues(
  fields: readonly { readonly key: string; readonly control: Control }[],
): Record<string, string> {
  const filled = fields.filter(({ control }) => control.value !== '');
  return Object.fromEntries(filled.map(({ key, control }) => [key, control.value]));
}

/** Returns the chosen image, or else that of the earlier run. */
async function readChosenImage(
  { files }: HTMLInputElement,
  earlierImage: ImageInput | undefined,
): Promise<ImageInput> {
  if (earlierImage && files?.length === 0) return earlierImage;
  const bytes = new Uint8Array((await files?.[0]?.arrayBuffer()) ?? new ArrayBuffer(0));
  const text = Array.from(bytes, byte => String.fromCharCode(byte)).join('');
  return { type: 'base64', base64: btoa(text) };
}

/** Returns a version 4 UUID. `crypto.randomUUID` is missing on pages served over plain HTTP. */
function createRandomId(): string {
  const [first = 0, ...rest] = crypto.getRandomValues(new Uint8Array(32));
  const formatDigit = (byte: number): string => (byte & 15).toString(16);
  const hex = rest.map(formatDigit).join('');
  const variant = formatDigit(8 | (first & 3));
  return hex.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/u, `$1-$2-4$3-${variant}$4-$5`);
}
