import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import { newVersionOf } from './publish.ts';

/** A prompt that comes with the service. */
export interface Sample {
  readonly slug: string;
  readonly source: string;
}

/** The prompts a fresh service starts with. */
export function samples(): readonly Sample[] {
  return [
    { slug: 'hello', source: HELLO },
    { slug: 'postcard', source: POSTCARD },
    { slug: 'describe', source: DESCRIBE },
    { slug: 'sandbox', source: SANDBOX },
  ];
}

const SEEDED = 'samplesSeeded';

/** Publishes the samples into a fresh store; never again, so that what a user withdrew stays withdrawn. */
export async function seedSamples(store: Store, clock: Clock): Promise<void> {
  if ((await store.settings.get(SEEDED)) !== undefined) return;
  const { parsePromptFile } = await import('./parse.ts');
  // Lists show the newest first: the simplest is published last.
  for (const { slug, source } of samples().toReversed()) {
    const definition = parsePromptFile(source, `${slug}.prompt`);
    await store.prompts.publish(newVersionOf(definition), clock.now());
  }
  await store.settings.once(SEEDED, () => 'yes');
}

const HELLO = `---
title: Hello
description: Greets somebody by name; a first prompt to try
model: echo
input:
  schema:
    name: string, who is greeted
---
Hello, {{name}}! A pleasant day to you.
`;

const POSTCARD = `---
title: Postcard
description: Draws a postcard from a place of your choice, in the weather of your choice
model: card
input:
  schema:
    place: string, where the postcard comes from
    mood?(enum, the weather there): [sunny, rainy, snowy]
  default:
    mood: sunny
---
Greetings from {{place}}!

{{#ifEquals mood "sunny"}}
The sun is shining, and the ice cream melts faster than I can eat it.
{{/ifEquals}}
{{#ifEquals mood "rainy"}}
It rains and rains, and the cafés are the nicer for it.
{{/ifEquals}}
{{#ifEquals mood "snowy"}}
Everything is white and quiet, and the cocoa is hot.
{{/ifEquals}}

Wish you were here.
`;

const DESCRIBE = `---
title: Describe a picture
description: Says what is known of a picture, its format and its size
model: echo
input:
  schema:
    picture: string, the picture to describe
---
This is what you sent: {{media url=picture}}.
`;

const SANDBOX = `---
title: Sandbox
description: Rehearses slow, failing and half-successful runs, by the run options delaySeconds and outcome
model: sandbox
input:
  schema:
    note?: string, comes back in the output
---
The rehearsal is over.{{#if note}} You noted: {{note}}{{/if}}
`;
