import { describeImage } from '../images/describe.ts';
import type { LoadedImage } from '../images/loaded-image.ts';
import type { PromptDefinition } from './definition.ts';
import { MessageDrafts } from './message-drafts.ts';
import type { Message, MessagePart, RenderedPrompt } from './rendered.ts';
import type { LoopPart, TemplateNode, TemplateTest, TemplateValue } from './template-node.ts';

export interface RenderInputs {
  /** Keys the prompt does not know are ignored; missing ones take their default. */
  readonly textInputs: Readonly<Record<string, string>>;
  /** In the order of the prompt's `imageInputs`. */
  readonly images: readonly LoadedImage[];
}

/** Puts inputs into a prompt. A value only ever becomes text: roles and pictures come from the template's own tree. */
export function renderPrompt(definition: PromptDefinition, inputs: RenderInputs): RenderedPrompt {
  const renderer = new Renderer(textValues(definition, inputs), imageValues(definition, inputs));
  renderer.render(definition.body);
  const messages = renderer.messages();
  return { messages, text: messages.map(({ parts }) => parts.map(asText).join('')).join('\n\n') };
}

function textValues({ textInputs }: PromptDefinition, inputs: RenderInputs): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, default: otherwise } of textInputs) {
    const value = Object.hasOwn(inputs.textInputs, key) ? inputs.textInputs[key] : otherwise;
    if (value !== undefined) values.set(key, value);
  }
  return values;
}

function imageValues({ imageInputs }: PromptDefinition, inputs: RenderInputs): Map<string, LoadedImage> {
  const images = new Map<string, LoadedImage>();
  imageInputs.forEach(({ key }, index) => {
    const image = inputs.images[index];
    if (image) images.set(key, image);
  });
  return images;
}

function asText(part: MessagePart): string {
  return 'text' in part ? part.text : describeImage(part.image);
}

type Loop = Readonly<Record<LoopPart, string>>;

class Renderer {
  private readonly drafts = new MessageDrafts();
  private readonly loops: Loop[] = [];

  constructor(
    private readonly texts: ReadonlyMap<string, string>,
    private readonly images: ReadonlyMap<string, LoadedImage>,
  ) {}

  render(nodes: readonly TemplateNode[]): void {
    for (const node of nodes) this.renderNode(node);
  }

  messages(): Message[] {
    return this.drafts.messages();
  }

  private renderNode(node: TemplateNode): void {
    switch (node.kind) {
      case 'text':
        return this.drafts.addLayout(node.text);
      case 'value':
        return this.drafts.addValue(this.valueOf(node.value) ?? '');
      case 'image':
        return this.renderImage(node.key);
      case 'role':
        return this.drafts.begin(node.role);
      case 'branch':
        return this.render(this.holds(node.test) ? node.yes : node.no);
      case 'loop':
        return this.renderLoop(node.body, node.otherwise);
    }
  }

  private renderImage(key: string): void {
    const image = this.images.get(key);
    if (image) this.drafts.addImage(image);
  }

  private renderLoop(body: readonly TemplateNode[], otherwise: readonly TemplateNode[]): void {
    const entries = [...this.texts];
    if (entries.length === 0) return this.render(otherwise);
    entries.forEach(([key, value], index) => {
      const first = String(index === 0);
      this.loops.push({
        key,
        value,
        index: String(index),
        first,
        last: String(index === entries.length - 1),
      });
      this.render(body);
      this.loops.pop();
    });
  }

  private holds(test: TemplateTest): boolean {
    if (test.kind === 'equal') return this.valueOf(test.left) === this.valueOf(test.right);
    return test.kind === 'filled' ? this.isFilled(test.value) : this.isGiven(test.value);
  }

  private isGiven(value: TemplateValue): boolean {
    return (value.kind === 'field' && this.images.has(value.key)) || this.valueOf(value) !== undefined;
  }

  private isFilled(value: TemplateValue): boolean {
    if (value.kind === 'field' && this.images.has(value.key)) return true;
    const text = this.valueOf(value);
    const isFlag = value.kind === 'loop' && (value.part === 'first' || value.part === 'last');
    return isFlag ? text === 'true' : text !== undefined && text !== '';
  }

  private valueOf(value: TemplateValue): string | undefined {
    if (value.kind === 'literal') return value.text;
    if (value.kind === 'field') return this.texts.get(value.key);
    if (value.kind === 'loop') return this.loops.at(-1 - value.up)?.[value.part];
    return JSON.stringify(this.valueOf(value.value) ?? null);
  }
}
