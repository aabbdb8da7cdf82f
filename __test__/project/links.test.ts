// Every relative link of the documentation leads to a file, and its fragment to a heading of that file.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const pages = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map((name) => join(root, name)),
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(root, "docs", name)),
];

/** The text of a page outside of its code. */
function proseOf(page: string): string {
  return readFileSync(page, "utf8")
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));
}

/** The fragments that a Markdown host generates for the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, title = ""] of proseOf(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const name = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    anchors.add(count === 0 ? name : `${name}-${count}`);
  }
  return anchors;
}

function brokenLinksOf(page: string, text = proseOf(page)): string[] {
  const links = [...text.matchAll(/\]\(([^()\s]+)\)|^\[[^\]]+\]: +(\S+)$/gm)].map(
    ([, inline, reference]) => inline ?? reference ?? "",
  );
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", fragment] = link.split("#");
    const target = path === "" ? page : join(dirname(page), decodeURIComponent(path));
    if (!existsSync(target)) return true;
    return fragment !== undefined && target.endsWith(".md") && !anchorsOf(target).has(fragment);
  });
}

it.each(pages.map((page) => relative(root, page)))("the relative links of %s resolve", (page) => {
  expect(brokenLinksOf(join(root, page))).toEqual([]);
});

it("a link to a missing file or heading is reported", () => {
  const text = "[a](docs/replay.md) [b](docs/no.md) [c](#in-tests) [d](docs/replay.md#no) [e](https://example.com/no)";
  expect(brokenLinksOf(join(root, "README.md"), text)).toEqual(["docs/no.md", "docs/replay.md#no"]);
});
