// An agent that answers a question about a folder of files.
//
//   files-agent            lists the files, combines the findings, answers
//   ├── planner            searches for the words that matter
//   └── file-reader × n    one per file, in parallel: reads it, extracts facts
import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  promptAgent,
} from "agent-rewind";
import { z } from "zod";
import { createTools } from "./tools.mjs";

const Plan = z.object({
  lookFor: z.array(z.string()).describe("Words that lines with an answer are likely to contain."),
});

const Facts = z.object({
  facts: z.array(
    z.object({
      kind: z.enum(["direct", "background"]).describe("direct: answers the question, or a part of it."),
      line: z.number().int(),
      quote: z.string().describe("The line as it stands in the file, without its number."),
    }),
  ),
});

const Answer = z.object({
  answer: z.string(),
  sources: z.array(z.object({ file: z.string(), line: z.number().int(), quote: z.string() })),
});

/**
 * @param {object} options
 * @param {string} options.root The folder.
 * @param {{ add(key: string): void }} options.calls Receives every executed tool call.
 * @param {boolean} [options.buggy] Combines the findings as the first version did, which fails.
 */
export function createFilesAgent({ root, calls, buggy = false }) {
  const combine = buggy ? combineWithBug : combineFindings;
  const planner = createPlanner({ root, calls });
  const fileReader = createFileReader({ root, calls });
  const { listFiles, searchFiles } = createTools({ root, agentId: "files-agent", calls });

  return createAgent({
    id: "files-agent",
    async handler({ question }) {
      const files = await callTool(listFiles, {});
      const { lookFor } = await planner({ question, files });

      // The notebook fills as the readers finish. A dump in between contains the facts found by then.
      const [, note] = equipMemory("notebook", {});
      await Promise.all(
        files.map(async (file) => {
          const { facts } = await fileReader({ question, file, lookFor });
          note((notebook) => ({ ...notebook, [file]: facts }));
        }),
      );
      const [notebook] = equipMemory("notebook", {});
      const findings = combine(notebook);

      equipSystem(
        "You answer a question from findings about files. " +
          "First check with search_files that every lead stands in its file as it is quoted. Use only those that do.",
      );
      equipTool(searchFiles);
      equipInstruction(`Question: ${question}\nFindings: ${JSON.stringify(findings, null, 2)}`);
      return promptAgent(Answer);
    },
  });
}

function createPlanner({ root, calls }) {
  const { searchFiles } = createTools({ root, agentId: "planner", calls });
  return createAgent({
    id: "planner",
    async handler({ question, files }) {
      equipSystem("You prepare the search for an answer in files. Try words with search_files before you decide.");
      equipTool(searchFiles);
      equipInstruction(`Question: ${question}\nFiles: ${files.join(", ")}`);
      return promptAgent(Plan);
    },
  });
}

function createFileReader({ root, calls }) {
  const { readPage } = createTools({ root, agentId: "file-reader", calls });
  return createAgent({
    id: "file-reader",
    async handler({ question, file, lookFor }) {
      equipSystem(
        "You read one file to its end with read_file, page by page, and quote the lines that help to answer a question. " +
          "If none does, give no facts.",
      );
      equipTool(readPage);
      equipInstruction(`Question: ${question}\nFile: ${file}\nLook for: ${lookFor.join(", ")}`);
      return promptAgent(Facts);
    },
  });
}

/** For each file with a direct fact: that fact as the lead, and the quotes of the others. */
function combineFindings(notebook) {
  return filesOf(notebook).flatMap((file) => {
    const lead = notebook[file].find(({ kind }) => kind === "direct");
    if (!lead) return [];
    return [toFinding(file, lead, notebook[file])];
  });
}

/** The bug: assumes that every file has a direct fact. */
function combineWithBug(notebook) {
  return filesOf(notebook).map((file) => {
    const lead = notebook[file].find(({ kind }) => kind === "direct");
    return toFinding(file, lead, notebook[file]);
  });
}

function toFinding(file, lead, facts) {
  const also = facts.filter((fact) => fact !== lead).map(({ quote }) => quote);
  return { file, lead: { line: lead.line, quote: lead.quote }, also };
}

/** Sorted, because the readers finish in any order and the prompt must not depend on it. */
function filesOf(notebook) {
  return Object.keys(notebook).toSorted();
}
