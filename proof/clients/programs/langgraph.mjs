import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { rewindFetch } from "agent-rewind/fetch";

const model = new ChatOpenAI({
  model: "gpt-5-mini",
  apiKey: "none",
  maxRetries: 0,
  configuration: { fetch: rewindFetch() },
});
const State = Annotation.Root({ prompt: Annotation, draft: Annotation, text: Annotation });
const graph = new StateGraph(State)
  .addNode("writer", async ({ prompt }) => ({ draft: (await model.invoke(prompt)).text }))
  .addNode("editor", async ({ draft }) => ({ text: (await model.invoke(["Edit:", draft].join(" "))).text }))
  .addEdge(START, "writer")
  .addEdge("writer", "editor")
  .addEdge("editor", END)
  .compile();

export async function ask(prompt) {
  return (await graph.invoke({ prompt })).text;
}

export async function* stream(prompt) {
  for await (const [message] of await graph.stream({ prompt }, { streamMode: "messages" })) {
    if (message.text !== "") yield message.text;
  }
}
