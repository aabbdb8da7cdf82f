// A replacement for a language model. It looks only at the request and always answers the same request in the same way.
import { createHash } from "node:crypto";

const STOP_WORDS = new Set("does each have many much that they this what when where which with without".split(" "));
const MAX_SEARCHES = 6;
const MAX_FACTS = 4;

/**
 * @param {object} request The body of a chat-completions request.
 * @returns {{ toolCalls: { id: string, name: string, arguments: string }[] } | { content: string }}
 * @throws {Error} If the request is not one of those it knows.
 */
export function decide(request) {
  const wanted = request.response_format?.json_schema?.schema?.properties ?? {};
  const prompt = readPrompt(request.messages);
  if ("lookFor" in wanted) return planSearch(request, prompt);
  if ("facts" in wanted) return extractFacts(request, prompt);
  if ("answer" in wanted) return answer(request, prompt);
  throw new Error(`The scripted model knows no answer with the properties "${Object.keys(wanted).join(", ")}".`);
}

/** First searches the folder for the words of the question, then returns the words that were found. */
function planSearch(request, { text, results }) {
  const words = keywords(field(text, "Question"));
  if (results.length === 0)
    return callTools(
      request,
      "search_files",
      words.map((word) => ({ text: word })),
    );
  return json({
    lookFor: results.filter(({ output }) => output.total > 0).map(({ input }) => input.text),
  });
}

/** First reads the file to its end, then returns the lines about the requested topics. */
function extractFacts(request, { text, results }) {
  const last = results.at(-1);
  if (!last || last.output.nextLine) {
    return callTools(request, "read_file", [{ path: field(text, "File"), fromLine: last?.output.nextLine ?? 1 }]);
  }
  const terms = field(text, "Look for").split(", ");
  const facts = results
    .flatMap(({ output }) => output.text.split("\n"))
    .map((row) => /^(\d+): (.*)$/.exec(row))
    .filter((row) => row && !row[2].startsWith("#"))
    .map(([, line, quote]) => ({ line: Number(line), quote, score: countTerms(quote, terms) }))
    .filter(({ score }) => score >= 2)
    .slice(0, MAX_FACTS);
  return json({
    facts: facts.map(({ line, quote }) => ({
      kind: daysOf(quote) === null ? "background" : "direct",
      line,
      quote,
    })),
  });
}

/** First looks up every finding in its file, then answers from those that are there. */
function answer(request, { text, results }) {
  const findings = JSON.parse(text.slice(text.indexOf("Findings:") + "Findings:".length));
  const leads = findings.map(({ file, lead: { line, quote } }) => ({ file, line, quote }));
  if (results.length === 0)
    return callTools(
      request,
      "search_files",
      leads.map(({ quote }) => ({ text: quote })),
    );

  const found = results.flatMap(({ output }) => output.matches);
  const sources = leads
    .filter(({ file, line }) => found.some((match) => match.path === file && match.line === line))
    .toSorted((a, b) => (daysOf(a.quote) ?? Infinity) - (daysOf(b.quote) ?? Infinity));
  const [first, ...others] = sources.map(({ file, quote }) => `${quote} (${file})`);
  return json({
    answer: first ? `${first} The others: ${others.join(" ") || "none."}` : "The files do not say.",
    sources: sources.map(({ file, line, quote }) => ({ file, line, quote })),
  });
}

/** The text of the user, and the tool results since then, each with the input of its call. */
function readPrompt(messages) {
  const text = messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : content))
    .join("\n");
  const calls = new Map(
    messages.flatMap(({ tool_calls: toolCalls = [] }) => toolCalls.map((call) => [call.id, call.function])),
  );
  const results = messages
    .filter(({ role }) => role === "tool")
    .map(({ content, tool_call_id: id }) => {
      const output = JSON.parse(content);
      if (output.error) throw new Error(`The scripted model expects no tool to fail, but: ${output.message}`);
      return { input: JSON.parse(calls.get(id).arguments), output };
    });
  return { text, results };
}

/** The rest of the line that begins with `name: `. */
function field(text, name) {
  const match = new RegExp(`^${name}: (.*)$`, "m").exec(text);
  if (!match) throw new Error(`The scripted model expects a line "${name}: …" in the prompt.`);
  return match[1];
}

/** The words of the question that are worth a search, without the s of a plural or a verb. */
function keywords(question) {
  const words = question.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
  const stems = words.filter((word) => !STOP_WORDS.has(word)).map((word) => word.replace(/s$/, ""));
  return [...new Set(stems)].slice(0, MAX_SEARCHES);
}

function countTerms(line, terms) {
  const words = line.toLowerCase().match(/\p{L}+/gu) ?? [];
  return terms.filter((term) => words.some((word) => word.startsWith(term))).length;
}

/** The number of days that the line states for something, or null. */
function daysOf(line) {
  const match = /\blasts? (?:for )?(\d+) days\b/.exec(line);
  return match ? Number(match[1]) : null;
}

function json(value) {
  return { content: JSON.stringify(value) };
}

/** The ids are derived from the request, so that the same request gets the same ids. */
function callTools(request, name, inputs) {
  const digest = createHash("sha256").update(JSON.stringify(request.messages)).digest("hex").slice(0, 12);
  return {
    toolCalls: inputs.map((input, index) => ({
      id: `call_${digest}_${index}`,
      name,
      arguments: JSON.stringify(input),
    })),
  };
}
