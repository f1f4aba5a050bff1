// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Groq, SentRequests } from '../wire-types.ts';

export default {
  "llama-3.3-70b-versatile: roles and a picture": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
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
  "llama-3.3-70b-versatile: every option": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: [
      "llama-3.3-70b-versatile does not take topK: left out",
      "llama-3.3-70b-versatile does not take reasoningEffort: left out",
    ],
  },
  "llama-3.3-70b-versatile: a schema": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Answer with JSON that matches this JSON Schema, and with nothing else:\n{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A heading\"},\"stars\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},\"kind\":{\"type\":\"string\",\"enum\":[\"book\",\"film\"]},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"maxItems\":3},\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "llama-3.3-70b-versatile: a schema without optional properties": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Answer with JSON that matches this JSON Schema, and with nothing else:\n{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"stars\":{\"type\":\"integer\"}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "llama-3.3-70b-versatile: JSON of any form": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "llama-3.3-70b-versatile: JSON that the prompt asks for": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "llama-3.3-70b-versatile: text as it comes": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "llama-3.3-70b-versatile", messages: [{ role: "user", content: "Hello" }], stream: true },
    warnings: [],
  },
  "llama-3.3-70b-versatile: two answers": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "llama-3.3-70b-versatile", messages: [{ role: "user", content: "Hello" }] },
    warnings: ["llama-3.3-70b-versatile does not take n: left out"],
  },
  "llama-3.3-70b-versatile: everything at once, as it comes": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "llama-3.3-70b-versatile",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Be brief.\n\nAnswer with JSON that matches this JSON Schema, and with nothing else:\n{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A heading\"},\"stars\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},\"kind\":{\"type\":\"string\",\"enum\":[\"book\",\"film\"]},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"maxItems\":3},\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
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
    },
    warnings: [
      "llama-3.3-70b-versatile does not take topK: left out",
      "llama-3.3-70b-versatile does not take reasoningEffort: left out",
    ],
  },
  "llama-3.3-70b-versatile: keys of its own": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "llama-3.3-70b-versatile", messages: [{ role: "user", content: "Hello" }], service_tier: "flex" },
    warnings: [],
  },
  "openai/gpt-oss-120b: roles and a picture": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
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
  "openai/gpt-oss-120b: every option": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
      reasoning_effort: "low",
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
    },
    warnings: ["openai/gpt-oss-120b does not take topK: left out"],
  },
  "openai/gpt-oss-120b: a schema": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
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
  "openai/gpt-oss-120b: a schema without optional properties": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
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
  "openai/gpt-oss-120b: JSON of any form": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
      response_format: { type: "json_object" },
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
    },
    warnings: [],
  },
  "openai/gpt-oss-120b: JSON that the prompt asks for": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
      response_format: { type: "json_object" },
      messages: [{ role: "user", content: "Hello in JSON" }],
    },
    warnings: [],
  },
  "openai/gpt-oss-120b: text as it comes": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "openai/gpt-oss-120b", messages: [{ role: "user", content: "Hello" }], stream: true },
    warnings: [],
  },
  "openai/gpt-oss-120b: two answers": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "openai/gpt-oss-120b", messages: [{ role: "user", content: "Hello" }] },
    warnings: ["openai/gpt-oss-120b does not take n: left out"],
  },
  "openai/gpt-oss-120b: everything at once, as it comes": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: {
      model: "openai/gpt-oss-120b",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["END"],
      seed: 7,
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
    },
    warnings: ["openai/gpt-oss-120b does not take topK: left out"],
  },
  "openai/gpt-oss-120b: keys of its own": {
    url: "https://api.groq.com/openai/v1/chat/completions",
    headers: { "user-agent": "promptrun/*", authorization: "Bearer key-of-groq", "content-type": "application/json" },
    body: { model: "openai/gpt-oss-120b", messages: [{ role: "user", content: "Hello" }], service_tier: "flex" },
    warnings: [],
  },
} satisfies SentRequests<Groq>;
