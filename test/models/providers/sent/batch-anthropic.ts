// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { MessagesBatch } from '../wire-types.ts';

export default {
  batch: {
    url: "https://api.anthropic.com/v1/messages/batches",
    headers: {
      "user-agent": "promptrun/*",
      accept: "application/json",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
      "x-api-key": "key-of-anthropic",
    },
    body: {
      requests: [
        {
          custom_id: "row-0",
          params: {
            model: "claude-haiku-4-5",
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
          },
        },
        {
          custom_id: "row-1",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 100,
            temperature: 0.5,
            top_k: 40,
            stop_sequences: ["END"],
            system: [{ type: "text", text: "Be brief." }],
            messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
          },
        },
        {
          custom_id: "row-2",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 64000,
            output_config: {
              format: {
                type: "json_schema",
                schema: {
                  type: "object",
                  properties: {
                    title: { description: "A heading\nmin length: 1.", type: "string" },
                    stars: { type: "integer", description: "minimum: 1; maximum: 5." },
                    kind: { enum: ["book", "film"], type: "string" },
                    tags: {
                      type: "array",
                      items: { type: "string", description: "pattern: ^[a-z]+$." },
                      description: "max items: 3.",
                    },
                    note: { type: ["string", "null"] },
                  },
                  additionalProperties: false,
                  required: ["title", "stars"],
                },
              },
            },
            messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
          },
        },
        {
          custom_id: "row-3",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 64000,
            output_config: {
              format: {
                type: "json_schema",
                schema: {
                  type: "object",
                  properties: { title: { type: "string" }, stars: { type: "integer" } },
                  additionalProperties: false,
                  required: ["title", "stars"],
                },
              },
            },
            messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
          },
        },
        {
          custom_id: "row-4",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 64000,
            system: [{ type: "text", text: "Answer with JSON." }],
            messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
          },
        },
        {
          custom_id: "row-5",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 64000,
            messages: [{ role: "user", content: [{ type: "text", text: "Hello in JSON" }] }],
          },
        },
        {
          custom_id: "row-6",
          params: {
            model: "claude-haiku-4-5",
            max_tokens: 64000,
            messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
          },
        },
      ],
    },
  },
} satisfies MessagesBatch;
