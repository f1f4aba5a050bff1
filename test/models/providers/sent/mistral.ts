// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Mistral, SentRequests } from '../wire-types.ts';

export default {
  "mistral-large-latest: roles and a picture": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "mistral-large-latest: every option": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      random_seed: 7,
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [
      "mistral-large-latest does not take topK: left out",
      "mistral-large-latest does not take reasoningEffort: left out",
    ],
  },
  "mistral-large-latest: a schema": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
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
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "mistral-large-latest: a schema without optional properties": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
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
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    warnings: [],
  },
  "mistral-large-latest: JSON of any form": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [
        { role: "system", content: "Answer with JSON." },
        { role: "user", content: [{ type: "text", text: "Hello" }] },
      ],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "mistral-large-latest: JSON that the prompt asks for": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "mistral-large-latest: text as it comes": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      stream: true,
    },
    warnings: [],
  },
  "mistral-large-latest: two answers": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      n: 2,
    },
    warnings: [],
  },
  "mistral-large-latest: everything at once, as it comes": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      random_seed: 7,
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
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
    },
    warnings: [
      "mistral-large-latest does not take topK: left out",
      "mistral-large-latest does not take reasoningEffort: left out",
    ],
  },
  "mistral-large-latest: keys of its own": {
    url: "https://api.mistral.ai/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-mistral",
      "content-type": "application/json",
    },
    body: {
      model: "mistral-large-latest",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      safe_prompt: true,
    },
    warnings: [],
  },
} satisfies SentRequests<Mistral>;
