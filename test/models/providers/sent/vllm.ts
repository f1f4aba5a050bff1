// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { LocalChat, SentRequests } from '../wire-types.ts';

export default {
  "qwen3-8b: roles and a picture": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
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
  "qwen3-8b: every option": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
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
  "qwen3-8b: a schema": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
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
  "qwen3-8b: a schema without optional properties": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
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
  "qwen3-8b: JSON of any form": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "qwen3-8b: JSON that the prompt asks for": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "qwen3-8b: text as it comes": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "qwen3-8b: two answers": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: { model: "qwen3-8b", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "qwen3-8b: everything at once, as it comes": {
    url: "http://127.0.0.1:8000/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "qwen3-8b",
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
} satisfies SentRequests<LocalChat>;
