// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { BedrockMessages, SentRequests } from '../wire-types.ts';

export default {
  "anthropic.claude-haiku-4-5-20251001-v1:0: roles and a picture": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: every option": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 100,
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ["END"],
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take topP: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take seed: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take frequencyPenalty: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take presencePenalty: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take reasoningEffort: left out",
    ],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: a schema": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
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
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: a schema without optional properties": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
        },
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: JSON of any form": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      system: [{ type: "text", text: "Answer with JSON." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: JSON that the prompt asks for": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: text as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: two answers": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 64000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: ["anthropic.claude-haiku-4-5-20251001-v1:0 does not take n: left out"],
  },
  "anthropic.claude-haiku-4-5-20251001-v1:0: everything at once, as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 100,
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ["END"],
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
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
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take topP: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take seed: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take frequencyPenalty: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take presencePenalty: left out",
      "anthropic.claude-haiku-4-5-20251001-v1:0 does not take reasoningEffort: left out",
    ],
  },
  "us.anthropic.claude-opus-4-8: roles and a picture": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: every option": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 100,
      stop_sequences: ["END"],
      output_config: { effort: "low" },
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [
      "us.anthropic.claude-opus-4-8 does not take temperature: left out",
      "us.anthropic.claude-opus-4-8 does not take topP: left out",
      "us.anthropic.claude-opus-4-8 does not take topK: left out",
      "us.anthropic.claude-opus-4-8 does not take seed: left out",
      "us.anthropic.claude-opus-4-8 does not take frequencyPenalty: left out",
      "us.anthropic.claude-opus-4-8 does not take presencePenalty: left out",
    ],
  },
  "us.anthropic.claude-opus-4-8: a schema": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
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
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: a schema without optional properties": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
            type: "object",
            properties: { title: { type: "string" }, stars: { type: "integer" } },
            required: ["title", "stars"],
            additionalProperties: false,
          },
        },
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: JSON of any form": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      system: [{ type: "text", text: "Answer with JSON." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: JSON that the prompt asks for": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: text as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke-with-response-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [],
  },
  "us.anthropic.claude-opus-4-8: two answers": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 128000,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: ["us.anthropic.claude-opus-4-8 does not take n: left out"],
  },
  "us.anthropic.claude-opus-4-8: everything at once, as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-opus-4-8/invoke-with-response-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      max_tokens: 100,
      stop_sequences: ["END"],
      output_config: { effort: "low" },
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See " },
            {
              type: "image",
              source: {
                type: "base64",
                media_type: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { type: "text", text: " this" },
          ],
        },
      ],
      tools: [
        {
          name: "json",
          description: "Respond with a JSON object.",
          input_schema: {
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
      ],
      tool_choice: { type: "any" },
      anthropic_version: "bedrock-2023-05-31",
    },
    warnings: [
      "us.anthropic.claude-opus-4-8 does not take temperature: left out",
      "us.anthropic.claude-opus-4-8 does not take topP: left out",
      "us.anthropic.claude-opus-4-8 does not take topK: left out",
      "us.anthropic.claude-opus-4-8 does not take seed: left out",
      "us.anthropic.claude-opus-4-8 does not take frequencyPenalty: left out",
      "us.anthropic.claude-opus-4-8 does not take presencePenalty: left out",
    ],
  },
} satisfies SentRequests<BedrockMessages>;
