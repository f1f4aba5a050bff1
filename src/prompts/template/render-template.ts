import Handlebars from 'handlebars';
import type { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { CompiledTemplates, type Template } from './compiled-templates.ts';
import type { AddedHelpers } from './instrument.ts';
import {
  createDepthError,
  RENDER_LIMITS,
  RenderBudget,
  type RenderLimits,
} from './render-budget.ts';
import { splitShellWords } from './shell-words.ts';
import { findRole } from './syntax.ts';
import { Marks, type TemplateMessage } from './template-messages.ts';
import {
  encodeJson,
  formatTemplateValue,
  getOwnField,
  InputImage,
  isTruthyValue,
  type TemplateValue,
} from './template-values.ts';

export interface TemplateInputs {
  readonly inputs: { readonly [key: string]: TemplateValue };
  /** `@` variables other than those of loops. */
  readonly variables?: { readonly [name: string]: TemplateValue };
  /** Earlier messages, for `{{history}}`. */
  readonly history?: readonly TemplateMessage[];
}

/**
 * Renders a template that was read without a fault. A value only ever becomes text, because the
 * markers of roles, images and sections can't be guessed.
 *
 * @param templates where the compiled template is cached; nowhere by default
 * @throws {LimitExceededError} if a limit is exceeded; the message names it
 */
export function renderTemplate(
  template: Template,
  { inputs, variables = {}, history = [] }: TemplateInputs,
  limits: RenderLimits = RENDER_LIMITS,
  templates: CompiledTemplates = new CompiledTemplates(),
): TemplateMessage[] {
  const { render, helpers } = templates.get(template);
  const budget = new RenderBudget(limits);
  const marks = new Marks();
  try {
    const text = render(inputs, {
      data: { ...variables, root: inputs, 'partial-block': () => '' },
      helpers: {
        ...createLanguageHelpers(budget, marks),
        ...createCountingHelpers(helpers, budget, marks),
      },
      allowProtoMethodsByDefault: false,
      allowProtoPropertiesByDefault: false,
    });
    return marks.splitMessages(text, history);
  } catch (error) {
    throw error instanceof RangeError ? toLimitExceeded(error, budget) : error;
  }
}

/** Number of characters that are written in about the time of one step. */
const CHARACTERS_PER_STEP = 64;

type Block = Handlebars.HelperOptions;
type Helpers = Record<string, Handlebars.HelperDelegate>;

/** Returns the helpers of the language except Handlebars' own `if`, `unless`, `each` and `with`. */
function createLanguageHelpers(budget: RenderBudget, marks: Marks): Helpers {
  const writeValue = (value: TemplateValue): string => stringifyValue(value, budget);
  return {
    ifEquals(this: unknown, a: TemplateValue, b: TemplateValue, { fn, inverse }: Block): string {
      return a === b ? fn(this) : inverse(this);
    },
    unlessEquals(
      this: unknown,
      a: TemplateValue,
      b: TemplateValue,
      { fn, inverse }: Block,
    ): string {
      return a === b ? inverse(this) : fn(this);
    },
    lookup: (object: TemplateValue, key: TemplateValue) =>
      object ? getOwnField(object, writeValue(key)) : object,
    word: (text: TemplateValue, number: TemplateValue) =>
      splitShellWords(chargeText(formatTemplateValue(text), budget))[Number(number)] ?? '',
    json(value: TemplateValue, { hash }: Block): string {
      const { indent } = hash as { indent?: TemplateValue };
      return chargeText(encodeJson(value, indent), budget);
    },
    role(name: string): string {
      const role = findRole(name);
      return role ? marks.add({ role }) : '';
    },
    media({ hash }: Block): string {
      const { url, contentType } = hash as { url: TemplateValue; contentType?: TemplateValue };
      if (!isTruthyValue(url)) return '';
      const type = writeValue(contentType);
      const inputImage = url instanceof InputImage && { imageIndex: url.index };
      const media = {
        url: writeValue(url),
        ...inputImage,
        ...(type !== '' && { contentType: type }),
      };
      return marks.add({ part: { media } });
    },
    section: (name: TemplateValue) =>
      marks.add({ part: { metadata: { purpose: writeValue(name), pending: true } } }),
    history: () => marks.add('history'),
    log: () => '',
  };
}

function createCountingHelpers(names: AddedHelpers, budget: RenderBudget, marks: Marks): Helpers {
  return {
    [names.count](steps: number, bytes: number): string {
      budget.countSteps(steps);
      budget.countBytes(bytes);
      return '';
    },
    [names.value](value: TemplateValue): string {
      const text = stringifyValue(value, budget);
      budget.countBytes(Buffer.byteLength(text));
      return text !== '' && text.trim() === '' ? marks.add('value') + text : text;
    },
    [names.block](this: unknown, value: TemplateValue, options: Block): string {
      const { blockHelperMissing } = Handlebars.helpers;
      return String(blockHelperMissing?.call(this, value, options));
    },
    [names.partial](
      this: unknown,
      indent: string,
      copiedContext: TemplateValue,
      { fn }: Block,
    ): string {
      budget.countSteps(
        typeof copiedContext === 'object' && copiedContext !== null
          ? Object.keys(copiedContext).length
          : 1,
      );
      const text = budget.renderDeeper(() => fn(this));
      return indent === '' ? text : indentPartial(text, indent, budget);
    },
  };
}

function stringifyValue(value: TemplateValue, budget: RenderBudget): string {
  return typeof value === 'object'
    ? chargeText(formatTemplateValue(value), budget)
    : formatTemplateValue(value);
}

/** Counts the size of a text, because writing a large value takes time even if it is not shown. */
function chargeText(text: string, budget: RenderBudget): string {
  budget.countSteps(Math.ceil(text.length / CHARACTERS_PER_STEP));
  return text;
}

/** Indents every line of a partial that is alone on its line. */
function indentPartial(text: string, indent: string, budget: RenderBudget): string {
  const lines = text.split('\n');
  budget.countBytes(lines.length * indent.length);
  return lines
    .map((line, index) => (line === '' && index === lines.length - 1 ? '' : indent + line))
    .join('\n');
}

/** Converts V8's own errors for text length and call depth to LimitExceededError. */
function toLimitExceeded({ message }: RangeError, budget: RenderBudget): LimitExceededError {
  if (message.includes('string length')) budget.countBytes(Number.POSITIVE_INFINITY);
  return createDepthError();
}
