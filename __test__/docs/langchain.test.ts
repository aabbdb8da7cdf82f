import { expect, it } from "vitest";

import { codeBlocks } from "../support/docs-page.js";
import { modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

/** A chat completion as it streams, or at once. */
function completion(stream: boolean, message: { content?: string; tool_calls?: object[] }): string {
  const finish = message.tool_calls === undefined ? "stop" : "tool_calls";
  // LangChain takes messages of one id for one message.
  const about = { id: `chatcmpl-${finish}`, created: 1, model: "gpt-x" };
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finish }];
    return JSON.stringify({ ...about, object: "chat.completion", choices, usage });
  }
  const { content, tool_calls } = message;
  const deltas: object[] =
    tool_calls === undefined ? Array.from(content ?? "", (text) => ({ content: text })) : [{ tool_calls }];
  const chunk = (delta: object, reason: string | null): string => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    return `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices })}\n\n`;
  };
  const all = [{ role: "assistant", content: "" }, ...deltas].map((delta) => chunk(delta, null));
  return [...all, chunk({}, finish), "data: [DONE]\n\n"].join("");
}

it(
  "the tests of docs/langchain.md replay an agent without a request, and name a changed prompt",
  { timeout: 120_000 },
  async () => {
    const [code = ""] = codeBlocks("langchain.md", "js");
    using project = vitestProject({ "advice.test.js": code });
    await using server = await modelServer(({ body }) => {
      const { messages, stream = false } = JSON.parse(body) as { messages: { role: string }[]; stream?: boolean };
      const call = {
        index: 0,
        id: "c1",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Oslo"}' },
      };
      const answered = messages.at(-1)?.role === "tool";
      const text = completion(stream, answered ? { content: "Take a coat." } : { tool_calls: [call] });
      return { body: text, headers: { "content-type": stream ? "text/event-stream" : "application/json" } };
    });
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "key" };
    expectPassed(await project.run({ env }));
    expect(server.requests).toHaveLength(4);
    expect(server.requests.filter(({ body }) => body.includes('"stream":true'))).toHaveLength(2);
    await server.stop();
    const again = await project.run({ env: { ...env, CI: "1" } });
    expectPassed(again);
    expect(again.text).not.toContain("not asked for");
    expect(server.requests).toHaveLength(4);

    project.write(
      "advice.test.js",
      code.replace("You say what", "You tell what").replace("configuration:", "maxRetries: 0, $&"),
    );
    const { text, results } = await project.run({ env });
    expect(results).toEqual({ advises: "failed", streams: "failed" });
    expect(text).toContain('(recorded "You say what to wear.", now "You tell what to wear.")');
  },
);
