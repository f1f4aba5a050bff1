// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { LocalChat, SentRequests } from '../wire-types.ts';

export default {
  "llama3.2: roles and a picture": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
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
  "llama3.2: every option": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
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
  "llama3.2: a schema": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
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
  "llama3.2: a schema without optional properties": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
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
  "llama3.2: JSON of any form": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "llama3.2: JSON that the prompt asks for": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "llama3.2: text as it comes": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "llama3.2: two answers": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: { model: "llama3.2", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "llama3.2: everything at once, as it comes": {
    url: "http://127.0.0.1:11434/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json" },
    body: {
      model: "llama3.2",
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
