/** A prompt file to start from, and its tests. */
export interface NewPrompt {
  readonly prompt: string;
  readonly test: string;
}

/** The texts of a prompt file and of the test file beside it; `name` is what both are called. */
export function newPrompt(name: string, { image = false }: { image?: boolean } = {}): NewPrompt {
  const title = titleOf(name);
  return image
    ? { prompt: imagePrompt(title), test: IMAGE_TEST }
    : { prompt: textPrompt(title), test: TEXT_TEST };
}

/** `write-mail` → `Write mail`, as YAML writes it whatever is in it. */
function titleOf(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

function textPrompt(title: string): string {
  return `---
title: ${title}
description: Explains something in a few words
# The models there are: promptrun models
model: echo
input:
  schema:
    topic: string, what to explain
    audience?(enum, who reads it): [children, beginners, experts]
  default:
    audience: beginners
---
{{role "system"}}
You explain things to {{audience}}, in three sentences at most.
{{role "user"}}
Explain {{topic}}.
`;
}

const TEXT_TEST = `cases:
  - name: names the topic
    inputs: { topic: tides }
    expect:
      - contains: tides
  - name: speaks to whom it is told to
    inputs: { topic: tides, audience: children }
    expect:
      - contains: children
`;

function imagePrompt(title: string): string {
  return `---
title: ${title}
description: Draws a place as a postcard
# The models there are: promptrun models --modality image
model: card
input:
  schema:
    place: string, what the picture shows
    style?: string, how it is drawn
---
A postcard of {{place}}{{#if style}}, drawn as {{style}}{{/if}}.
`;
}

const IMAGE_TEST = `cases:
  - name: draws a picture in time
    inputs: { place: Oslo }
    expect:
      - seconds: 60
`;
