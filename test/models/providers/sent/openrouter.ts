// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenRouter, SentRequests } from '../wire-types.ts';

export default {
  "meta-llama/llama-3.3-70b: roles and a picture": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
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
  "meta-llama/llama-3.3-70b: every option": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      reasoning_effort: "low",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      top_k: 40,
    },
    warnings: [],
  },
  "meta-llama/llama-3.3-70b: a schema": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
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
  "meta-llama/llama-3.3-70b: a schema without optional properties": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
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
  "meta-llama/llama-3.3-70b: JSON of any form": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "meta-llama/llama-3.3-70b: JSON that the prompt asks for": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "meta-llama/llama-3.3-70b: text as it comes": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "meta-llama/llama-3.3-70b: two answers": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: { model: "meta-llama/llama-3.3-70b", messages: [{ role: "user", content: "Hello" }] },
    warnings: ["meta-llama/llama-3.3-70b does not take n: left out"],
  },
  "meta-llama/llama-3.3-70b: everything at once, as it comes": {
    url: "https://openrouter.ai/api/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-openrouter",
      "content-type": "application/json",
    },
    body: {
      model: "meta-llama/llama-3.3-70b",
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
      top_k: 40,
    },
    warnings: [],
  },
} satisfies SentRequests<OpenRouter>;
