// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { ChatBatch } from '../wire-types.ts';

export default {
  file: {
    url: "https://gateway.example/v1/files",
    headers: { "user-agent": "promptrun/*", accept: "application/json", authorization: "Bearer key-of-openai" },
    purpose: "batch",
    lines: [
      {
        custom_id: "row-0",
        method: "POST",
        url: "/v1/chat/completions",
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
      },
      {
        custom_id: "row-1",
        method: "POST",
        url: "/v1/chat/completions",
        body: {
          model: "gpt-5.6",
          seed: 7,
          max_completion_tokens: 100,
          reasoning_effort: "low",
          messages: [{ role: "developer", content: "Be brief." }, { role: "user", content: "Hello" }],
        },
      },
      {
        custom_id: "row-2",
        method: "POST",
        url: "/v1/chat/completions",
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
      },
      {
        custom_id: "row-3",
        method: "POST",
        url: "/v1/chat/completions",
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
      },
      {
        custom_id: "row-4",
        method: "POST",
        url: "/v1/chat/completions",
        body: {
          model: "gpt-5.6",
          response_format: { type: "json_object" },
          messages: [{ role: "developer", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
        },
      },
      {
        custom_id: "row-5",
        method: "POST",
        url: "/v1/chat/completions",
        body: {
          model: "gpt-5.6",
          response_format: { type: "json_object" },
          messages: [{ role: "user", content: "Hello in JSON" }],
        },
      },
      {
        custom_id: "row-6",
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "gpt-5.6", messages: [{ role: "user", content: "Hello" }], n: 2 },
      },
    ],
  },
  batch: {
    url: "https://gateway.example/v1/batches",
    headers: {
      "user-agent": "promptrun/*",
      accept: "application/json",
      authorization: "Bearer key-of-openai",
      "content-type": "application/json",
    },
    body: {
      input_file_id: "file-1",
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
      metadata: { promptrun: "key-of-the-batch" },
    },
  },
} satisfies ChatBatch;
