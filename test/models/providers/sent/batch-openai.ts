// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { ResponsesBatch } from '../wire-types.ts';

export default {
  file: {
    url: "https://api.openai.com/v1/files",
    headers: { "user-agent": "promptrun/*", accept: "application/json", authorization: "Bearer key-of-openai" },
    purpose: "batch",
    lines: [
      {
        custom_id: "row-0",
        method: "POST",
        url: "/v1/responses",
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
      },
      {
        custom_id: "row-1",
        method: "POST",
        url: "/v1/responses",
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
      },
      {
        custom_id: "row-2",
        method: "POST",
        url: "/v1/responses",
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
      },
      {
        custom_id: "row-3",
        method: "POST",
        url: "/v1/responses",
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
      },
      {
        custom_id: "row-4",
        method: "POST",
        url: "/v1/responses",
        body: {
          store: false,
          model: "gpt-5.6",
          input: [
            { role: "developer", content: "Answer with JSON." },
            { role: "user", content: [{ type: "input_text", text: "Hello" }] },
          ],
          text: { format: { type: "json_object" } },
        },
      },
      {
        custom_id: "row-5",
        method: "POST",
        url: "/v1/responses",
        body: {
          store: false,
          model: "gpt-5.6",
          input: [{ role: "user", content: [{ type: "input_text", text: "Hello in JSON" }] }],
          text: { format: { type: "json_object" } },
        },
      },
      {
        custom_id: "row-6",
        method: "POST",
        url: "/v1/responses",
        body: {
          store: false,
          model: "gpt-5.6",
          input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
        },
      },
    ],
  },
  batch: {
    url: "https://api.openai.com/v1/batches",
    headers: {
      "user-agent": "promptrun/*",
      accept: "application/json",
      authorization: "Bearer key-of-openai",
      "content-type": "application/json",
    },
    body: {
      input_file_id: "file-1",
      endpoint: "/v1/responses",
      completion_window: "24h",
      metadata: { promptrun: "key-of-the-batch" },
    },
  },
} satisfies ResponsesBatch;
