import { readText } from "./markdown";

const text = readText("CHANGELOG.md");
const { version } = JSON.parse(readText("package.json")) as { readonly version: string };

/** The releases in the order of the page, each with its kinds of change. */
const releases = text
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = "", ...rest] = section.split("\n");
    const [opening = "", ...kinds] = rest.join("\n").split(/^### /m);
    return { title, opening, kinds: kinds.map((kind) => kind.split("\n")) };
  });
const [unreleased, ...released] = releases;

const RELEASE = /^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/;
const KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

test("begins with the unreleased changes, followed by each release with its day", () => {
  expect(text).toMatch(/^# Changelog\n/);
  expect(unreleased?.title).toBe("[Unreleased]");
  for (const { title } of released) expect(title).toMatch(RELEASE);
});

test("names the package's version: as the newest release, or as what the next one will be", () => {
  const newest = released[0]?.title.startsWith(`[${version}] - `);
  expect(newest || unreleased?.opening.includes(`To become ${version}.`)).toBe(true);
});

test.each(releases)("$title has changes by kind, each kind once and none of them empty", ({ kinds }) => {
  const names = kinds.map(([name]) => name);
  expect(KINDS).toEqual(expect.arrayContaining(names));
  expect(names).toEqual([...new Set(names)]);
  for (const [, ...lines] of kinds) {
    const entries = lines.filter((line) => line !== "");
    expect(entries.length).toBeGreaterThan(0);
    for (const line of entries) expect(line).toMatch(/^(?:- | {2})\S/);
  }
});
