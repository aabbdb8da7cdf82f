import { relative } from "node:path";
import ts from "typescript";
import { readEntryPoints } from "./entry-points.mjs";
import { at, root } from "./paths.mjs";
import { writeGenerated } from "./generated.mjs";

const OUT = "docs/api-report";
/** Titles in their order on a page. */
const GROUPS = ["Functions", "Constants", "Classes", "Types"];

/**
 * Writes the API report: a page for each entry point with the signatures of its exports, without comments, by kind and
 * name. A change of the public API is a small diff there.
 *
 * @param {{ check: boolean }} options `check`: the committed files must already be right
 */
export function buildApiReport({ check }) {
  const entries = Object.entries(readEntryPoints().esm).filter(([name]) => !name.startsWith("cli/"));
  const { config } = ts.readConfigFile(at("tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const files = entries.map(([, source]) => at(source));
  const program = ts.createProgram(files, {
    ...options,
    noEmit: false,
    emitDeclarationOnly: true,
    removeComments: false,
  });
  const declarations = declarationsOf(program);
  const checker = program.getTypeChecker();
  // Most exports of the other entry points are also exports of the main one, which has their declarations.
  const pageOf = new Map();
  const pages = entries
    .map(([name, source]) => ({ page: name.replace(/\/index$/, ""), source }))
    .toSorted((a, b) => Number(b.page === "index") - Number(a.page === "index"));
  for (const { page, source } of pages) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(at(source)));
    const groups = Object.fromEntries(GROUPS.map((title) => [title, []]));
    for (const exported of checker.getExportsOfModule(module)) {
      const name = exported.getName();
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const home = pageOf.get(symbol);
      if (home === undefined) pageOf.set(symbol, page);
      const text = home === undefined ? signature(symbol, declarations) : `// ${name}: see ${home}.md`;
      groups[groupOf(symbol)].push({ name, text });
    }
    writeGenerated(`${OUT}/${page}.md`, pageText(page, groups), { check });
  }
}

/** The statements of each emitted declaration file, by source file and name. */
function declarationsOf(program) {
  const byFile = new Map();
  program.emit(
    undefined,
    (path, text, _mark, _error, [source] = []) => {
      if (source === undefined || !path.endsWith(".d.ts")) return;
      const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      const byName = new Map();
      const add = (name, statement) => byName.set(name, [...(byName.get(name) ?? []), { statement, file }]);
      for (const statement of file.statements) {
        if (ts.isVariableStatement(statement)) {
          for (const { name } of statement.declarationList.declarations) add(name.text, statement);
        } else if (statement.name !== undefined) add(statement.name.text, statement);
      }
      byFile.set(source.fileName, byName);
    },
    undefined,
    true,
  );
  return byFile;
}

function signature(symbol, declarations) {
  const [{ parent }] = symbol.declarations;
  const sourceFile = (parent ?? symbol.declarations[0]).getSourceFile();
  const found = declarations.get(sourceFile.fileName)?.get(symbol.getName());
  if (found === undefined) {
    throw new Error(`${symbol.getName()} of ${relative(root, sourceFile.fileName)} has no declaration to report`);
  }
  const printer = ts.createPrinter({ removeComments: true });
  return found
    .map(({ statement, file }) => printer.printNode(ts.EmitHint.Unspecified, statement, file))
    .map((text) => text.replace(/^export (?:default )?(?:declare )?/, "").replaceAll(/^\s+#private;\n/gm, ""))
    .join("\n");
}

function groupOf({ flags }) {
  if (flags & ts.SymbolFlags.Function) return "Functions";
  if (flags & ts.SymbolFlags.Class) return "Classes";
  return flags & ts.SymbolFlags.Variable ? "Constants" : "Types";
}

function pageText(page, groups) {
  const path = page === "index" ? "agent-rewind" : `agent-rewind/${page}`;
  const byName = (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name));
  const sections = Object.entries(groups)
    .filter(([, list]) => list.length > 0)
    .map(([title, list]) => {
      const texts = list.toSorted(byName).map(({ text }) => text);
      return `## ${title}\n\n\`\`\`ts\n${texts.join("\n")}\n\`\`\`\n`;
    });
  return [`# ${path}\n\nWritten by \`npm run api\`.\n`, ...sections].join("\n");
}
