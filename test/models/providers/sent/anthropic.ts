// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Messages, SentRequests } from '../wire-types.ts';

export default {
  "claude-haiku-4-5: roles and a picture": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "claude-haiku-4-5: every option": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 100,
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ["END"],
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [
      "claude-haiku-4-5 does not take topP: left out",
      "claude-haiku-4-5 does not take seed: left out",
      "claude-haiku-4-5 does not take frequencyPenalty: left out",
      "claude-haiku-4-5 does not take presencePenalty: left out",
      "claude-haiku-4-5 does not take reasoningEffort: left out",
    ],
  },
  "claude-haiku-4-5: a schema": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: {
              title: { description: "A heading\nmin length: 1.", type: "string" },
              stars: { type: "integer", description: "minimum: 1; maximum: 5." },
              kind: { enum: ["book", "film"], type: "string" },
              tags: {
                type: "array",
                items: { type: "string", description: "pattern: ^[a-z]+$." },
                description: "max items: 3.",
              },
              note: { type: ["string", "null"] },
            },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [
      "claude-haiku-4-5 does not take the schema's minLength: left out",
      "claude-haiku-4-5 does not take the schema's minimum: left out",
      "claude-haiku-4-5 does not take the schema's maximum: left out",
      "claude-haiku-4-5 does not take the schema's pattern: left out",
      "claude-haiku-4-5 does not take the schema's maxItems: left out",
    ],
  },
  "claude-haiku-4-5: a schema without optional properties": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "claude-haiku-4-5: JSON of any form": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      system: [{ type: "text", text: "Answer with JSON." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "claude-haiku-4-5: JSON that the prompt asks for": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
    },
    warnings: [],
  },
  "claude-haiku-4-5: text as it comes": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      stream: true,
    },
    warnings: [],
  },
  "claude-haiku-4-5: two answers": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: ["claude-haiku-4-5 does not take n: left out"],
  },
  "claude-haiku-4-5: everything at once, as it comes": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 100,
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ["END"],
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: {
              title: { description: "A heading\nmin length: 1.", type: "string" },
              stars: { type: "integer", description: "minimum: 1; maximum: 5." },
              kind: { enum: ["book", "film"], type: "string" },
              tags: {
                type: "array",
                items: { type: "string", description: "pattern: ^[a-z]+$." },
                description: "max items: 3.",
              },
              note: { type: ["string", "null"] },
            },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
    },
    warnings: [
      "claude-haiku-4-5 does not take topP: left out",
      "claude-haiku-4-5 does not take seed: left out",
      "claude-haiku-4-5 does not take frequencyPenalty: left out",
      "claude-haiku-4-5 does not take presencePenalty: left out",
      "claude-haiku-4-5 does not take reasoningEffort: left out",
      "claude-haiku-4-5 does not take the schema's minLength: left out",
      "claude-haiku-4-5 does not take the schema's minimum: left out",
      "claude-haiku-4-5 does not take the schema's maximum: left out",
      "claude-haiku-4-5 does not take the schema's pattern: left out",
      "claude-haiku-4-5 does not take the schema's maxItems: left out",
    ],
  },
  "claude-haiku-4-5: keys of its own": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-haiku-4-5",
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      service_tier: "standard_only",
    },
    warnings: [],
  },
  "claude-opus-4-8: roles and a picture": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "claude-opus-4-8: every option": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 100,
      stop_sequences: ["END"],
      output_config: { effort: "low" },
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [
      "claude-opus-4-8 does not take temperature: left out",
      "claude-opus-4-8 does not take topP: left out",
      "claude-opus-4-8 does not take topK: left out",
      "claude-opus-4-8 does not take seed: left out",
      "claude-opus-4-8 does not take frequencyPenalty: left out",
      "claude-opus-4-8 does not take presencePenalty: left out",
    ],
  },
  "claude-opus-4-8: a schema": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: {
              title: { description: "A heading\nmin length: 1.", type: "string" },
              stars: { type: "integer", description: "minimum: 1; maximum: 5." },
              kind: { enum: ["book", "film"], type: "string" },
              tags: {
                type: "array",
                items: { type: "string", description: "pattern: ^[a-z]+$." },
                description: "max items: 3.",
              },
              note: { type: ["string", "null"] },
            },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [
      "claude-opus-4-8 does not take the schema's minLength: left out",
      "claude-opus-4-8 does not take the schema's minimum: left out",
      "claude-opus-4-8 does not take the schema's maximum: left out",
      "claude-opus-4-8 does not take the schema's pattern: left out",
      "claude-opus-4-8 does not take the schema's maxItems: left out",
    ],
  },
  "claude-opus-4-8: a schema without optional properties": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "claude-opus-4-8: JSON of any form": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      system: [{ type: "text", text: "Answer with JSON." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "claude-opus-4-8: JSON that the prompt asks for": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
    },
    warnings: [],
  },
  "claude-opus-4-8: text as it comes": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      stream: true,
    },
    warnings: [],
  },
  "claude-opus-4-8: two answers": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: ["claude-opus-4-8 does not take n: left out"],
  },
  "claude-opus-4-8: everything at once, as it comes": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 100,
      stop_sequences: ["END"],
      output_config: {
        effort: "low",
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: {
              title: { description: "A heading\nmin length: 1.", type: "string" },
              stars: { type: "integer", description: "minimum: 1; maximum: 5." },
              kind: { enum: ["book", "film"], type: "string" },
              tags: {
                type: "array",
                items: { type: "string", description: "pattern: ^[a-z]+$." },
                description: "max items: 3.",
              },
              note: { type: ["string", "null"] },
            },
            additionalProperties: false,
            required: ["title", "stars"],
          },
        },
      },
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
    },
    warnings: [
      "claude-opus-4-8 does not take temperature: left out",
      "claude-opus-4-8 does not take topP: left out",
      "claude-opus-4-8 does not take topK: left out",
      "claude-opus-4-8 does not take seed: left out",
      "claude-opus-4-8 does not take frequencyPenalty: left out",
      "claude-opus-4-8 does not take presencePenalty: left out",
      "claude-opus-4-8 does not take the schema's minLength: left out",
      "claude-opus-4-8 does not take the schema's minimum: left out",
      "claude-opus-4-8 does not take the schema's maximum: left out",
      "claude-opus-4-8 does not take the schema's pattern: left out",
      "claude-opus-4-8 does not take the schema's maxItems: left out",
    ],
  },
  "claude-opus-4-8: keys of its own": {
    url: "https://api.anthropic.com/v1/messages",
    headers: {
      "user-agent": "promptrun/*",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      model: "claude-opus-4-8",
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      service_tier: "standard_only",
    },
    warnings: [],
  },
} satisfies SentRequests<Messages>;
