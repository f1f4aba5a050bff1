// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Cerebras, SentRequests } from '../wire-types.ts';

export default {
  "gpt-oss-120b: roles and a picture": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
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
  "gpt-oss-120b: every option": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      seed: 7,
      reasoning_effort: "low",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      max_completion_tokens: 100,
    },
    warnings: [
      "gpt-oss-120b does not take topK: left out",
      "gpt-oss-120b does not take frequencyPenalty: left out",
      "gpt-oss-120b does not take presencePenalty: left out",
    ],
  },
  "gpt-oss-120b: a schema": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
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
  "gpt-oss-120b: a schema without optional properties": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
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
  "gpt-oss-120b: JSON of any form": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "gpt-oss-120b: JSON that the prompt asks for": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "gpt-oss-120b: text as it comes": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: { model: "gpt-oss-120b", messages: [{ role: "user", content: "Hello" }], stream: true },
    warnings: [],
  },
  "gpt-oss-120b: two answers": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: { model: "gpt-oss-120b", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "gpt-oss-120b: everything at once, as it comes": {
    url: "https://api.cerebras.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-cerebras",
      "content-type": "application/json",
    },
    body: {
      model: "gpt-oss-120b",
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
      stop: ["END"],
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
      max_completion_tokens: 100,
    },
    warnings: [
      "gpt-oss-120b does not take topK: left out",
      "gpt-oss-120b does not take frequencyPenalty: left out",
      "gpt-oss-120b does not take presencePenalty: left out",
    ],
  },
} satisfies SentRequests<Cerebras>;
