// One request of each kind of client. Nothing in this program knows of agent-rewind.
import axios from "axios";
import got from "got";
import http, { get } from "node:http";
import OpenAI from "openai";
import { fetch as undiciFetch, Pool, request } from "undici8";

const base = process.env.BASE;
const client = new OpenAI({ apiKey: "none", baseURL: `${base}/v1` });
const question = { model: "some-model", messages: [{ role: "user", content: process.env.QUESTION ?? "Hello" }] };

const textOf = async (message) => {
  let text = "";
  for await (const chunk of message) text += chunk;
  return text;
};
const received = (send) => new Promise((resolve, reject) => send(resolve).on("error", reject)).then(textOf);

console.log("openai", (await client.chat.completions.create(question)).choices[0].message.content);
let streamed = "";
for await (const chunk of await client.chat.completions.create({ ...question, stream: true }))
  streamed += chunk.choices[0].delta.content;
console.log("openai stream", streamed);
console.log("fetch", await (await fetch(`${base}/fetch`, { method: "POST", body: "a" })).text());
console.log("http.request", await received((done) => http.request(`${base}/request`, done).end()));
console.log("http.get by name", await received((done) => get(`${base}/get`, done)));
console.log("axios", (await axios.post(`${base}/axios`, { a: 1 })).data.answer);
console.log("got", await got.post(`${base}/got`, { json: { b: 2 } }).text());
console.log("undici fetch", await (await undiciFetch(`${base}/undici`)).text());
console.log("undici request", await (await request(`${base}/undici-request`)).body.text());
const pool = new Pool(base, { connections: 1 });
const pooled = [1, 2, 3].map(async (n) => (await pool.request({ path: `/pool/${n}`, method: "GET" })).body.text());
console.log("pool", await Promise.all(pooled));
await pool.close();
