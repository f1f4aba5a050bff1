// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiResponses, SentRequests } from '../wire-types.ts';

export default {
  "gpt-4o-mini: roles and a picture": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "See " },
            {
              type: "input_image",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              detail: "auto",
            },
            { type: "input_text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "gpt-4o-mini: every option": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
    },
    warnings: [
      "gpt-4o-mini does not take topK: left out",
      "gpt-4o-mini does not take seed: left out",
      "gpt-4o-mini does not take frequencyPenalty: left out",
      "gpt-4o-mini does not take presencePenalty: left out",
      "gpt-4o-mini does not take stopSequences: left out",
      "gpt-4o-mini does not take reasoningEffort: left out",
    ],
  },
  "gpt-4o-mini: a schema": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      text: {
        format: {
          type: "json_schema",
          strict: false,
          name: "output",
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
        },
      },
    },
    warnings: [],
  },
  "gpt-4o-mini: a schema without optional properties": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      text: {
        format: {
          type: "json_schema",
          strict: true,
          name: "output",
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
        },
      },
    },
    warnings: [],
  },
  "gpt-4o-mini: JSON of any form": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [
        { role: "system", content: "Answer with JSON." },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      ],
      text: { format: { type: "json_object" } },
    },
    warnings: [],
  },
  "gpt-4o-mini: JSON that the prompt asks for": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello in JSON" }] }],
      text: { format: { type: "json_object" } },
    },
    warnings: [],
  },
  "gpt-4o-mini: text as it comes": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      stream: true,
    },
    warnings: [],
  },
  "gpt-4o-mini: two answers": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
    },
    warnings: ["gpt-4o-mini does not take n: left out"],
  },
  "gpt-4o-mini: everything at once, as it comes": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "See " },
            {
              type: "input_image",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              detail: "auto",
            },
            { type: "input_text", text: " this" },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      text: {
        format: {
          type: "json_schema",
          strict: false,
          name: "output",
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
        },
      },
      stream: true,
    },
    warnings: [
      "gpt-4o-mini does not take topK: left out",
      "gpt-4o-mini does not take seed: left out",
      "gpt-4o-mini does not take frequencyPenalty: left out",
      "gpt-4o-mini does not take presencePenalty: left out",
      "gpt-4o-mini does not take stopSequences: left out",
      "gpt-4o-mini does not take reasoningEffort: left out",
    ],
  },
  "gpt-4o-mini: keys of its own": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-4o-mini",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      service_tier: "flex",
      metadata: { team: "blue" },
    },
    warnings: [],
  },
  "gpt-5.6: roles and a picture": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "See " },
            {
              type: "input_image",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              detail: "auto",
            },
            { type: "input_text", text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "gpt-5.6: every option": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      ],
      max_output_tokens: 100,
      reasoning: { effort: "low" },
    },
    warnings: [
      "gpt-5.6 does not take temperature: left out",
      "gpt-5.6 does not take topP: left out",
      "gpt-5.6 does not take topK: left out",
      "gpt-5.6 does not take seed: left out",
      "gpt-5.6 does not take frequencyPenalty: left out",
      "gpt-5.6 does not take presencePenalty: left out",
      "gpt-5.6 does not take stopSequences: left out",
    ],
  },
  "gpt-5.6: a schema": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      text: {
        format: {
          type: "json_schema",
          strict: false,
          name: "output",
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
        },
      },
    },
    warnings: [],
  },
  "gpt-5.6: a schema without optional properties": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      text: {
        format: {
          type: "json_schema",
          strict: true,
          name: "output",
          schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
        },
      },
    },
    warnings: [],
  },
  "gpt-5.6: JSON of any form": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [
        { role: "developer", content: "Answer with JSON." },
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
      ],
      text: { format: { type: "json_object" } },
    },
    warnings: [],
  },
  "gpt-5.6: JSON that the prompt asks for": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello in JSON" }] }],
      text: { format: { type: "json_object" } },
    },
    warnings: [],
  },
  "gpt-5.6: text as it comes": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      stream: true,
    },
    warnings: [],
  },
  "gpt-5.6: two answers": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
    },
    warnings: ["gpt-5.6 does not take n: left out"],
  },
  "gpt-5.6: everything at once, as it comes": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "See " },
            {
              type: "input_image",
              image_url: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              detail: "auto",
            },
            { type: "input_text", text: " this" },
          ],
        },
      ],
      max_output_tokens: 100,
      text: {
        format: {
          type: "json_schema",
          strict: false,
          name: "output",
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
        },
      },
      reasoning: { effort: "low" },
      stream: true,
    },
    warnings: [
      "gpt-5.6 does not take temperature: left out",
      "gpt-5.6 does not take topP: left out",
      "gpt-5.6 does not take topK: left out",
      "gpt-5.6 does not take seed: left out",
      "gpt-5.6 does not take frequencyPenalty: left out",
      "gpt-5.6 does not take presencePenalty: left out",
      "gpt-5.6 does not take stopSequences: left out",
    ],
  },
  "gpt-5.6: keys of its own": {
    url: "https://api.openai.com/v1/responses",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-openai", "content-type": "application/json" },
    body: {
      store: false,
      model: "gpt-5.6",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      service_tier: "flex",
      metadata: { team: "blue" },
    },
    warnings: [],
  },
} satisfies SentRequests<OpenAiResponses>;
