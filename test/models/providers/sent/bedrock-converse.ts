// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { Converse, SentRequests } from '../wire-types.ts';

export default {
  "amazon.nova-pro-v1:0: roles and a picture": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      system: [{ text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { text: "See " },
            {
              image: {
                format: "png",
                source: {
                  bytes: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
                },
              },
            },
            { text: " this" },
          ],
        },
      ],
    },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: every option": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      system: [{ text: "Be brief." }],
      messages: [{ role: "user", content: [{ text: "Hello" }] }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
    },
    warnings: [
      "amazon.nova-pro-v1:0 does not take topK: left out",
      "amazon.nova-pro-v1:0 does not take seed: left out",
      "amazon.nova-pro-v1:0 does not take frequencyPenalty: left out",
      "amazon.nova-pro-v1:0 does not take presencePenalty: left out",
      "amazon.nova-pro-v1:0 does not take reasoningEffort: left out",
    ],
  },
  "amazon.nova-pro-v1:0: a schema": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      system: [],
      messages: [{ role: "user", content: [{ text: "Hello" }] }],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "json",
              description: "Respond with a JSON object.",
              inputSchema: {
                json: {
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
        ],
        toolChoice: { any: {} },
      },
    },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: a schema without optional properties": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      system: [],
      messages: [{ role: "user", content: [{ text: "Hello" }] }],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "json",
              description: "Respond with a JSON object.",
              inputSchema: {
                json: {
                  type: "object",
                  properties: { title: { type: "string" }, stars: { type: "integer" } },
                  required: ["title", "stars"],
                  additionalProperties: false,
                },
              },
            },
          },
        ],
        toolChoice: { any: {} },
      },
    },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: JSON of any form": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: { system: [{ text: "Answer with JSON." }], messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: JSON that the prompt asks for": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: { system: [], messages: [{ role: "user", content: [{ text: "Hello in JSON" }] }] },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: text as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: { system: [], messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "amazon.nova-pro-v1:0: two answers": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: { system: [], messages: [{ role: "user", content: [{ text: "Hello" }] }] },
    warnings: ["amazon.nova-pro-v1:0 does not take n: left out"],
  },
  "amazon.nova-pro-v1:0: everything at once, as it comes": {
    url: "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse-stream",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-bedrock",
      "content-type": "application/json",
    },
    body: {
      system: [{ text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { text: "See " },
            {
              image: {
                format: "png",
                source: {
                  bytes: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
                },
              },
            },
            { text: " this" },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "json",
              description: "Respond with a JSON object.",
              inputSchema: {
                json: {
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
        ],
        toolChoice: { any: {} },
      },
    },
    warnings: [
      "amazon.nova-pro-v1:0 does not take topK: left out",
      "amazon.nova-pro-v1:0 does not take seed: left out",
      "amazon.nova-pro-v1:0 does not take frequencyPenalty: left out",
      "amazon.nova-pro-v1:0 does not take presencePenalty: left out",
      "amazon.nova-pro-v1:0 does not take reasoningEffort: left out",
    ],
  },
} satisfies SentRequests<Converse>;
