// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiChat, SentRequests } from '../wire-types.ts';

export default {
  "gemini-2.5-flash: roles and a picture": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
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
  "gemini-2.5-flash: every option": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      reasoning_effort: "low",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: [
      "gemini-2.5-flash does not take topK: left out",
      "gemini-2.5-flash does not take seed: left out",
      "gemini-2.5-flash does not take frequencyPenalty: left out",
      "gemini-2.5-flash does not take presencePenalty: left out",
    ],
  },
  "gemini-2.5-flash: a schema": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
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
  "gemini-2.5-flash: a schema without optional properties": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
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
  "gemini-2.5-flash: JSON of any form": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "gemini-2.5-flash: JSON that the prompt asks for": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "gemini-2.5-flash: text as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "gemini-2.5-flash: two answers": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: { model: "gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "gemini-2.5-flash: everything at once, as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-googleai",
      "content-type": "application/json",
    },
    body: {
      model: "gemini-2.5-flash",
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
      stop: ["END"],
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
      "gemini-2.5-flash does not take topK: left out",
      "gemini-2.5-flash does not take seed: left out",
      "gemini-2.5-flash does not take frequencyPenalty: left out",
      "gemini-2.5-flash does not take presencePenalty: left out",
    ],
  },
} satisfies SentRequests<OpenAiChat>;
