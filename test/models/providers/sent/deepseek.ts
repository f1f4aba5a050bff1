// Made by `npx vitest run test/models/providers/requests.test.ts --update`.
import type { OpenAiChat, SentRequests } from '../wire-types.ts';

export default {
  "deepseek-chat: every option": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      reasoning_effort: "low",
    },
    warnings: [
      "deepseek-chat does not take topK: left out",
      "deepseek-chat does not take seed: left out",
      "deepseek-chat does not take frequencyPenalty: left out",
      "deepseek-chat does not take presencePenalty: left out",
    ],
  },
  "deepseek-chat: a schema": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Return JSON that conforms to the following schema: {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A heading\"},\"stars\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},\"kind\":{\"type\":\"string\",\"enum\":[\"book\",\"film\"]},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"maxItems\":3},\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "deepseek-chat: a schema without optional properties": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Return JSON that conforms to the following schema: {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"stars\":{\"type\":\"integer\"}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "deepseek-chat: JSON of any form": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "deepseek-chat: JSON that the prompt asks for": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      messages: [{ role: "user", content: "Hello in JSON" }],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "deepseek-chat: text as it comes": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-chat",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "deepseek-chat: two answers": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: { model: "deepseek-chat", messages: [{ role: "user", content: "Hello" }] },
    warnings: ["deepseek-chat does not take n: left out"],
  },
  "deepseek-v4-flash-vision-exp: roles and a picture": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
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
  "deepseek-v4-flash-vision-exp: every option": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      max_tokens: 100,
      stop: ["END"],
      messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }],
      reasoning_effort: "low",
    },
    warnings: [
      "deepseek-v4-flash-vision-exp does not take temperature: left out",
      "deepseek-v4-flash-vision-exp does not take topP: left out",
      "deepseek-v4-flash-vision-exp does not take topK: left out",
      "deepseek-v4-flash-vision-exp does not take seed: left out",
      "deepseek-v4-flash-vision-exp does not take frequencyPenalty: left out",
      "deepseek-v4-flash-vision-exp does not take presencePenalty: left out",
    ],
  },
  "deepseek-v4-flash-vision-exp: a schema": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Return JSON that conforms to the following schema: {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A heading\"},\"stars\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},\"kind\":{\"type\":\"string\",\"enum\":[\"book\",\"film\"]},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"maxItems\":3},\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "deepseek-v4-flash-vision-exp: a schema without optional properties": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      response_format: { type: "json_object" },
      messages: [
        {
          role: "system",
          content: "Return JSON that conforms to the following schema: {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"stars\":{\"type\":\"integer\"}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
        { role: "user", content: "Hello" },
      ],
    },
    warnings: [],
  },
  "deepseek-v4-flash-vision-exp: JSON of any form": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      messages: [{ role: "system", content: "Answer with JSON." }, { role: "user", content: "Hello" }],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "deepseek-v4-flash-vision-exp: JSON that the prompt asks for": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      messages: [{ role: "user", content: "Hello in JSON" }],
      response_format: { type: "json_object" },
    },
    warnings: [],
  },
  "deepseek-v4-flash-vision-exp: text as it comes": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [],
  },
  "deepseek-v4-flash-vision-exp: two answers": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: { model: "deepseek-v4-flash-vision-exp", messages: [{ role: "user", content: "Hello" }] },
    warnings: ["deepseek-v4-flash-vision-exp does not take n: left out"],
  },
  "deepseek-v4-flash-vision-exp: everything at once, as it comes": {
    url: "https://api.deepseek.com/v1/chat/completions",
    headers: {
      "user-agent": "promptrun/*",
      authorization: "Bearer key-of-deepseek",
      "content-type": "application/json",
    },
    body: {
      model: "deepseek-v4-flash-vision-exp",
      max_tokens: 100,
      response_format: { type: "json_object" },
      stop: ["END"],
      messages: [
        {
          role: "system",
          content: "Return JSON that conforms to the following schema: {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A heading\"},\"stars\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5},\"kind\":{\"type\":\"string\",\"enum\":[\"book\",\"film\"]},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"maxItems\":3},\"note\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"title\",\"stars\"],\"additionalProperties\":false}",
        },
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
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true },
    },
    warnings: [
      "deepseek-v4-flash-vision-exp does not take temperature: left out",
      "deepseek-v4-flash-vision-exp does not take topP: left out",
      "deepseek-v4-flash-vision-exp does not take topK: left out",
      "deepseek-v4-flash-vision-exp does not take seed: left out",
      "deepseek-v4-flash-vision-exp does not take frequencyPenalty: left out",
      "deepseek-v4-flash-vision-exp does not take presencePenalty: left out",
    ],
  },
} satisfies SentRequests<OpenAiChat>;
