// The tools of the agent. They use the real file system but cannot leave one folder.
import { readFile, readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { z } from "zod";

const PAGE_LINES = 40;
const MAX_MATCHES = 20;
const MAX_LINE_LENGTH = 400;

/**
 * Creates the three tools for one agent.
 *
 * @param {object} options
 * @param {string} options.root The folder that the tools may see.
 * @param {string} options.agentId The agent that uses the tools, only for the log.
 * @param {{ add(key: string): void }} options.calls Receives every execution, by agent, tool and input.
 */
export function createTools({ root, agentId, calls }) {
  const counted = (name, run) => async (input) => {
    calls.add(`${agentId} ${name} ${JSON.stringify(input)}`);
    return run(input);
  };

  const listFiles = {
    name: "list_files",
    description: "Lists the files of the folder, in alphabetical order.",
    parameters: z.object({}),
    handler: counted("list_files", () => filesOf(root)),
  };

  const readPage = {
    name: "read_file",
    description: `Reads ${PAGE_LINES} numbered lines of a file. Read on at nextLine until it is null.`,
    parameters: z.object({
      path: z.string().describe("Path as list_files gives it."),
      fromLine: z.number().int().describe("First line to read; 1 is the first line of the file."),
    }),
    handler: counted("read_file", async ({ path, fromLine }) => {
      const lines = await linesOf(await pathInside(root, path));
      const start = Math.max(1, fromLine) - 1;
      const page = lines.slice(start, start + PAGE_LINES);
      const end = start + page.length;
      return {
        path,
        text: page.map((line, index) => `${start + index + 1}: ${line}`).join("\n"),
        nextLine: end < lines.length ? end + 1 : null,
      };
    }),
  };

  const searchFiles = {
    name: "search_files",
    description: `Finds the lines of all files that contain a text, ignoring case. At most ${MAX_MATCHES} are given.`,
    parameters: z.object({ text: z.string().describe("Text to look for. Not a pattern.") }),
    handler: counted("search_files", async ({ text }) => {
      const matches = [];
      let total = 0;
      for (const path of await filesOf(root)) {
        const lines = await linesOf(await pathInside(root, path));
        for (const [index, line] of lines.entries()) {
          if (!line.toLowerCase().includes(text.toLowerCase())) continue;
          total += 1;
          if (matches.length < MAX_MATCHES) {
            matches.push({ path, line: index + 1, text: line.slice(0, MAX_LINE_LENGTH) });
          }
        }
      }
      return { total, matches };
    }),
  };

  return { listFiles, readPage, searchFiles };
}

/** The relative paths of the plain files below `root`, with "/", sorted: the same in every run. */
async function filesOf(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
}

async function linesOf(path) {
  const text = await readFile(path, "utf8");
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The real path of a file. Throws if it is outside the folder, also by way of a link. */
async function pathInside(root, path) {
  const base = await realpath(root);
  const refuse = () => new Error(`"${path}" is outside the folder. Give a path as list_files gives it.`);
  const inside = (target) => {
    const way = relative(base, target);
    return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };

  // Checked before the file system is used, so that an answer never reveals what exists outside.
  const target = resolve(base, path);
  if (!inside(target)) throw refuse();
  let real;
  try {
    real = await realpath(target);
  } catch (cause) {
    throw new Error(`There is no file "${path}". list_files gives the names.`, { cause });
  }
  if (!inside(real)) throw refuse();
  return real;
}
