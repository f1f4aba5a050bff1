// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { GenerateContent, SentRequests } from '../wire-types.ts';

export default {
  "gemini-2.5-flash: roles and a picture": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {},
      contents: [
        {
          role: "user",
          parts: [
            { text: "See " },
            {
              inlineData: {
                mimeType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { text: " this" },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [],
  },
  "gemini-2.5-flash: every option": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 40,
        topP: 0.9,
        stopSequences: ["END"],
        seed: 7,
        thinkingConfig: { thinkingBudget: 6554 },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [
      "gemini-2.5-flash does not take frequencyPenalty: left out",
      "gemini-2.5-flash does not take presencePenalty: left out",
    ],
  },
  "gemini-2.5-flash: a schema": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: {
            title: { type: "string", description: "A heading" },
            stars: { type: "integer", minimum: 1, maximum: 5 },
            kind: { type: "string", enum: ["book", "film"] },
            tags: { type: "array", maxItems: 3, items: { type: "string" } },
            note: { type: ["string", "null"] },
          },
          additionalProperties: false,
        },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    },
    warnings: [
      "gemini-2.5-flash does not take the schema's minLength: left out",
      "gemini-2.5-flash does not take the schema's pattern: left out",
    ],
  },
  "gemini-2.5-flash: a schema without optional properties": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: { title: { type: "string" }, stars: { type: "integer" } },
          additionalProperties: false,
        },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    },
    warnings: [],
  },
  "gemini-2.5-flash: JSON of any form": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Answer with JSON." }] },
    },
    warnings: [],
  },
  "gemini-2.5-flash: JSON that the prompt asks for": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello in JSON" }] }],
    },
    warnings: [],
  },
  "gemini-2.5-flash: text as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: { generationConfig: {}, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-2.5-flash: two answers": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: { generationConfig: { candidateCount: 2 }, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-2.5-flash: everything at once, as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 40,
        topP: 0.9,
        stopSequences: ["END"],
        seed: 7,
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: {
            title: { type: "string", description: "A heading" },
            stars: { type: "integer", minimum: 1, maximum: 5 },
            kind: { type: "string", enum: ["book", "film"] },
            tags: { type: "array", maxItems: 3, items: { type: "string" } },
            note: { type: ["string", "null"] },
          },
          additionalProperties: false,
        },
        thinkingConfig: { thinkingBudget: 6554 },
      },
      contents: [
        {
          role: "user",
          parts: [
            { text: "See " },
            {
              inlineData: {
                mimeType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { text: " this" },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [
      "gemini-2.5-flash does not take frequencyPenalty: left out",
      "gemini-2.5-flash does not take presencePenalty: left out",
      "gemini-2.5-flash does not take the schema's minLength: left out",
      "gemini-2.5-flash does not take the schema's pattern: left out",
    ],
  },
  "gemini-2.5-flash: keys of its own": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {},
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    },
    warnings: [],
  },
  "gemini-3-pro-preview: roles and a picture": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {},
      contents: [
        {
          role: "user",
          parts: [
            { text: "See " },
            {
              inlineData: {
                mimeType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { text: " this" },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [],
  },
  "gemini-3-pro-preview: every option": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 40,
        topP: 0.9,
        stopSequences: ["END"],
        seed: 7,
        thinkingConfig: { thinkingLevel: "low" },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [
      "gemini-3-pro-preview does not take frequencyPenalty: left out",
      "gemini-3-pro-preview does not take presencePenalty: left out",
    ],
  },
  "gemini-3-pro-preview: a schema": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: {
            title: { type: "string", description: "A heading" },
            stars: { type: "integer", minimum: 1, maximum: 5 },
            kind: { type: "string", enum: ["book", "film"] },
            tags: { type: "array", maxItems: 3, items: { type: "string" } },
            note: { type: ["string", "null"] },
          },
          additionalProperties: false,
        },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    },
    warnings: [
      "gemini-3-pro-preview does not take the schema's minLength: left out",
      "gemini-3-pro-preview does not take the schema's pattern: left out",
    ],
  },
  "gemini-3-pro-preview: a schema without optional properties": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: { title: { type: "string" }, stars: { type: "integer" } },
          additionalProperties: false,
        },
      },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    },
    warnings: [],
  },
  "gemini-3-pro-preview: JSON of any form": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Answer with JSON." }] },
    },
    warnings: [],
  },
  "gemini-3-pro-preview: JSON that the prompt asks for": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello in JSON" }] }],
    },
    warnings: [],
  },
  "gemini-3-pro-preview: text as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: { generationConfig: {}, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-3-pro-preview: two answers": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: { generationConfig: { candidateCount: 2 }, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-3-pro-preview: everything at once, as it comes": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topK: 40,
        topP: 0.9,
        stopSequences: ["END"],
        seed: 7,
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          required: ["title", "stars"],
          properties: {
            title: { type: "string", description: "A heading" },
            stars: { type: "integer", minimum: 1, maximum: 5 },
            kind: { type: "string", enum: ["book", "film"] },
            tags: { type: "array", maxItems: 3, items: { type: "string" } },
            note: { type: ["string", "null"] },
          },
          additionalProperties: false,
        },
        thinkingConfig: { thinkingLevel: "low" },
      },
      contents: [
        {
          role: "user",
          parts: [
            { text: "See " },
            {
              inlineData: {
                mimeType: "image/png",
                data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
              },
            },
            { text: " this" },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: "Be brief." }] },
    },
    warnings: [
      "gemini-3-pro-preview does not take frequencyPenalty: left out",
      "gemini-3-pro-preview does not take presencePenalty: left out",
      "gemini-3-pro-preview does not take the schema's minLength: left out",
      "gemini-3-pro-preview does not take the schema's pattern: left out",
    ],
  },
  "gemini-3-pro-preview: keys of its own": {
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro-preview:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-googleai" },
    body: {
      generationConfig: {},
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    },
    warnings: [],
  },
} satisfies SentRequests<GenerateContent>;
