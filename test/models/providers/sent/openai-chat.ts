// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiChat, SentRequests } from '../wire-types.ts';

export default {
  "gpt-4o-mini: roles and a picture": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
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
                detail: "auto",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "gpt-4o-mini: every option": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: ["gpt-4o-mini does not take reasoningEffort: left out", "gpt-4o-mini does not take topK: left out"],
  },
  "gpt-4o-mini: a schema": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
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
  "gpt-4o-mini: a schema without optional properties": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
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
  "gpt-4o-mini: JSON of any form": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "gpt-4o-mini: JSON that the prompt asks for": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "gpt-4o-mini: text as it comes": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "gpt-4o-mini: two answers": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "gpt-4o-mini: everything at once, as it comes": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
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
                detail: "auto",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: ["gpt-4o-mini does not take reasoningEffort: left out", "gpt-4o-mini does not take topK: left out"],
  },
  "gpt-4o-mini: keys of its own": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "Hello" }],
      service_tier: "flex",
      user: "ada",
    },
    warnings: [],
  },
  "gpt-5.6: roles and a picture": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
      messages: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
                detail: "auto",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "gpt-5.6: every option": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
      seed: 7,
      max_completion_tokens: 100,
      reasoning_effort: "low",
      messages: [{ role: "developer", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: [
      "gpt-5.6 does not take temperature: left out",
      "gpt-5.6 does not take topP: left out",
      "gpt-5.6 does not take topK: left out",
      "gpt-5.6 does not take frequencyPenalty: left out",
      "gpt-5.6 does not take presencePenalty: left out",
      "gpt-5.6 does not take stopSequences: left out",
    ],
  },
  "gpt-5.6: a schema": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
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
  "gpt-5.6: a schema without optional properties": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
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
  "gpt-5.6: JSON of any form": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
      response_format: { type: "json_object" },
      messages: [{ role: "developer", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "gpt-5.6: JSON that the prompt asks for": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "gpt-5.6: text as it comes": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "gpt-5.6: two answers": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: { model: "gpt-5.6", messages: [{ role: "user", content: "Hello" }], n: 2 },
    warnings: [],
  },
  "gpt-5.6: everything at once, as it comes": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      model: "gpt-5.6",
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
      max_completion_tokens: 100,
      reasoning_effort: "low",
      messages: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image_url",
              image_url: {
                url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
                detail: "auto",
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
      "gpt-5.6 does not take temperature: left out",
      "gpt-5.6 does not take topP: left out",
      "gpt-5.6 does not take topK: left out",
      "gpt-5.6 does not take frequencyPenalty: left out",
      "gpt-5.6 does not take presencePenalty: left out",
      "gpt-5.6 does not take stopSequences: left out",
    ],
  },
  "gpt-5.6: keys of its own": {
    url: "https://gateway.example/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: { model: "gpt-5.6", messages: [{ role: "user", content: "Hello" }], service_tier: "flex", user: "ada" },
    warnings: [],
  },
} satisfies SentRequests<OpenAiChat>;
