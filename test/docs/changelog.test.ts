import { readText } from "./markdown";

const text = readText("CHANGELOG.md");
const { version } = JSON.parse(readText("package.json")) as { readonly version: string };

/** The releases in the order of the page. */
const releases = text
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = "", ...rest] = section.split("\n");
    return { title, opening: rest.join("\n") };
  });
const [unreleased, ...released] = releases;

test("names the package's version: as the newest release, or as what the next one will be", () => {
  const newest = released[0]?.title.startsWith(`[${version}] - `);
  expect(newest || unreleased?.opening.includes(`To become ${version}.`)).toBe(true);
});
