import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEntryPoints } from "./entry-points.mjs";
import { writeGenerated } from "./generated.mjs";
import { at } from "./paths.mjs";

const OUT = "docs/api";

/**
 * Writes the API reference: a Markdown file for each entry point of the package, from its doc comments.
 *
 * @param {{ check: boolean }} options `check`: the committed files must already be right
 */
export async function buildApiDocs({ check }) {
  const { Application } = await import("typedoc");
  const sources = Object.values(readEntryPoints().esm).filter((source) => !source.startsWith("ts/cli/"));
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-api-"));
  try {
    const app = await Application.bootstrapWithPlugins({
      basePath: at("ts"),
      gitRevision: "main",
      entryPoints: sources.map((source) => at(source)),

      tsconfig: at("tsconfig.json"),
      plugin: ["typedoc-plugin-markdown"],
      logLevel: "Warn",
      readme: "none",
      name: "agent-rewind",
      disableSources: true,
      excludeInternal: true,
      skipErrorChecking: true,
      validation: { notExported: false },
      treatWarningsAsErrors: true,
      outputs: [{ name: "markdown", path: folder }],
      // Of typedoc-plugin-markdown.
      outputFileStrategy: "modules",
      hideBreadcrumbs: true,
      hidePageHeader: true,
      parametersFormat: "table",
      interfacePropertiesFormat: "table",
      typeDeclarationFormat: "table",
      formatWithPrettier: false,
    });
    const project = await app.convert();
    if (project === undefined) throw new Error("the sources could not be read for the API reference");
    await app.generateOutputs(project);
    if (app.logger.hasErrors() || app.logger.hasWarnings())
      throw new Error("the API reference has faults: mend the doc comments named above");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files) {
      const path = join(parentPath, name);
      writeGenerated(`${OUT}/${path.slice(folder.length + 1)}`, readFileSync(path, "utf8"), { check });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
