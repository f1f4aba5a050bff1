// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { GenerateContent, SentRequests } from '../wire-types.ts';

export default {
  "gemini-2.5-flash: roles and a picture": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
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
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
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
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
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
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
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
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Answer with JSON." }] },
    },
    warnings: [],
  },
  "gemini-2.5-flash: JSON that the prompt asks for": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: {
      generationConfig: { responseMimeType: "application/json" },
      contents: [{ role: "user", parts: [{ text: "Hello in JSON" }] }],
    },
    warnings: [],
  },
  "gemini-2.5-flash: text as it comes": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: { generationConfig: {}, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-2.5-flash: two answers": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
    body: { generationConfig: { candidateCount: 2 }, contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    warnings: [],
  },
  "gemini-2.5-flash: everything at once, as it comes": {
    url: "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    headers: { "user-agent": "promptrun/*", "content-type": "application/json", "x-goog-api-key": "key-of-vertexai" },
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
} satisfies SentRequests<GenerateContent>;
