// The clients and frameworks of the matrix. A program exports `ask(prompt)`, which resolves to a text, and
// `stream(prompt)`, which yields its pieces. The programs of documented frameworks are the code on their pages.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const own = (title, packages, page) => ({ title, packages, page, own: true });
const page = (title, packages, name, file = "program.mjs") => ({ title, packages, page: `clients/${name}.md`, file });

export const SUBJECTS = {
  openai: own("OpenAI", ["openai"], "fetch.md"),
  anthropic: own("Anthropic", ["@anthropic-ai/sdk"], "fetch.md"),
  "google-genai": own("Google Gen AI", ["@google/genai"], "fetch.md"),
  mistral: page("Mistral", ["@mistralai/mistralai"], "mistral-cohere", "mistral.mjs"),
  cohere: page("Cohere", ["cohere-ai"], "mistral-cohere", "cohere.mjs"),
  ollama: own("Ollama", ["ollama"], "fetch.md"),
  bedrock: page("Amazon Bedrock", ["@aws-sdk/client-bedrock-runtime"], "bedrock"),
  axios: page("axios", ["axios"], "axios"),
  "ai-sdk": own("AI SDK", ["ai", "@ai-sdk/openai"], "ai-sdk.md"),
  langchain: own("LangChain", ["langchain", "@langchain/openai"], "langchain.md"),
  langgraph: own("LangGraph", ["@langchain/langgraph"], "langchain.md"),
  "openai-agents": page("OpenAI Agents", ["@openai/agents"], "openai-agents"),
  mastra: page("Mastra", ["@mastra/core"], "mastra"),
  llamaindex: page("LlamaIndex", ["llamaindex", "@llamaindex/openai"], "llamaindex"),
  genkit: page("Genkit", ["genkit", "@genkit-ai/compat-oai"], "genkit"),
};

const at = (path) => new URL(path, import.meta.url);

/** Writes the code of the pages to files, from where it can import the installed packages. */
export function writePrograms() {
  mkdirSync(at(".programs/"), { recursive: true });
  for (const [name, { page: from, file }] of Object.entries(SUBJECTS)) {
    if (file === undefined) continue;
    const text = readFileSync(at(`../../docs/${from}`), "utf8");
    const [, code] = text.split(`\`\`\`js\n// ${file}\n`);
    if (code === undefined) throw new Error(`docs/${from} has no program ${file}`);
    writeFileSync(at(`.programs/${name}.mjs`), code.slice(0, code.indexOf("```")));
  }
}

/** @returns {Promise<{ ask(prompt: string): Promise<string>, stream(prompt: string): AsyncIterable<string> }>} */
export function loadProgram(name) {
  return import(at(`${SUBJECTS[name].own ? "programs" : ".programs"}/${name}.mjs`).href);
}

/** Sends the requests of all providers to a local server. Without one, `url()` returns undefined. */
export function redirectFetch(url) {
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const from = new URL(input instanceof Request ? input.url : input);
    const base = url();
    if (base === undefined) return Promise.reject(new Error(`a request left the program: ${from}`));
    const to = new URL(from.pathname + from.search, base);
    return input instanceof Request ? fetch(new Request(to, input), init) : fetch(to, init);
  };
}
