// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Fireworks, SentRequests } from '../wire-types.ts';

export default {
  "accounts/fireworks/models/deepseek-v3: roles and a picture": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
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
  "accounts/fireworks/models/deepseek-v3: every option": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      reasoning_effort: "low",
      top_k: 40,
    },
    warnings: [],
  },
  "accounts/fireworks/models/deepseek-v3: a schema": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
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
  "accounts/fireworks/models/deepseek-v3: a schema without optional properties": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
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
  "accounts/fireworks/models/deepseek-v3: JSON of any form": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "accounts/fireworks/models/deepseek-v3: JSON that the prompt asks for": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "accounts/fireworks/models/deepseek-v3: text as it comes": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "accounts/fireworks/models/deepseek-v3: two answers": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: { model: "accounts/fireworks/models/deepseek-v3", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "accounts/fireworks/models/deepseek-v3: everything at once, as it comes": {
    url: "https://api.fireworks.ai/inference/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-fireworks",
      "content-type": "application/json",
    },
    body: {
      model: "accounts/fireworks/models/deepseek-v3",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
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
      reasoning_effort: "low",
      top_k: 40,
    },
    warnings: [],
  },
} satisfies SentRequests<Fireworks>;
