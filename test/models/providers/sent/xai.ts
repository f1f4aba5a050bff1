// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiChat, SentRequests } from '../wire-types.ts';

export default {
  "grok-4: roles and a picture": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "grok-4: every option": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: [
      "grok-4 does not take topK: left out",
      "grok-4 does not take frequencyPenalty: left out",
      "grok-4 does not take presencePenalty: left out",
      "grok-4 does not take stopSequences: left out",
      "grok-4 does not take reasoningEffort: left out",
    ],
  },
  "grok-4: a schema": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: {
              title: { type: "string", minLength: 1, description: "A heading" },
              stars: { type: "integer", minimum: 1, maximum: 5 },
              kind: { type: "string", enum: ["book", "film"] },
              tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 3 },
              note: { type: ["string", "null"] },
            },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: false,
          name: "output",
        },
      },
      messages: [{ role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-4: a schema without optional properties": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: true,
          name: "output",
        },
      },
      messages: [{ role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-4: JSON of any form": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-4: JSON that the prompt asks for": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "grok-4: text as it comes": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "grok-4: two answers": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: { model: "grok-4", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "grok-4: everything at once, as it comes": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-4",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: {
              title: { type: "string", minLength: 1, description: "A heading" },
              stars: { type: "integer", minimum: 1, maximum: 5 },
              kind: { type: "string", enum: ["book", "film"] },
              tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 3 },
              note: { type: ["string", "null"] },
            },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: false,
          name: "output",
        },
      },
      seed: 7,
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [
      "grok-4 does not take topK: left out",
      "grok-4 does not take frequencyPenalty: left out",
      "grok-4 does not take presencePenalty: left out",
      "grok-4 does not take stopSequences: left out",
      "grok-4 does not take reasoningEffort: left out",
    ],
  },
  "grok-3-mini: roles and a picture": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "grok-3-mini: every option": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      reasoning_effort: "low",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: [
      "grok-3-mini does not take topK: left out",
      "grok-3-mini does not take frequencyPenalty: left out",
      "grok-3-mini does not take presencePenalty: left out",
      "grok-3-mini does not take stopSequences: left out",
    ],
  },
  "grok-3-mini: a schema": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: {
              title: { type: "string", minLength: 1, description: "A heading" },
              stars: { type: "integer", minimum: 1, maximum: 5 },
              kind: { type: "string", enum: ["book", "film"] },
              tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 3 },
              note: { type: ["string", "null"] },
            },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: false,
          name: "output",
        },
      },
      messages: [{ role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-3-mini: a schema without optional properties": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: true,
          name: "output",
        },
      },
      messages: [{ role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-3-mini: JSON of any form": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "grok-3-mini: JSON that the prompt asks for": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "grok-3-mini: text as it comes": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "grok-3-mini: two answers": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: { model: "grok-3-mini", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "grok-3-mini: everything at once, as it comes": {
    url: "https://api.x.ai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-xai", "content-type": "application/json" },
    body: {
      model: "grok-3-mini",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      response_format: {
        type: "json_schema",
        json_schema: {
          schema: {
            type: "object",
            properties: {
              title: { type: "string", minLength: 1, description: "A heading" },
              stars: { type: "integer", minimum: 1, maximum: 5 },
              kind: { type: "string", enum: ["book", "film"] },
              tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 3 },
              note: { type: ["string", "null"] },
            },
            required: ["title", "stars"],
            additionalProperties: false,
          },
          strict: false,
          name: "output",
        },
      },
      seed: 7,
      reasoning_effort: "low",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [
      "grok-3-mini does not take topK: left out",
      "grok-3-mini does not take frequencyPenalty: left out",
      "grok-3-mini does not take presencePenalty: left out",
      "grok-3-mini does not take stopSequences: left out",
    ],
  },
} satisfies SentRequests<OpenAiChat>;
