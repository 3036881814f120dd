import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fencesIn, linksIn, ROOT, readText } from "./docs/markdown";

const readme = readText("README.md");
const local = linksIn(readme)
  .filter((link) => !link.startsWith("http"))
  .map((link) => link.split("#")[0] ?? "");

test("is short: what is needed first, and where everything else is", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(10_000);
});

test("begins with what it is, then the commands, the image, a node, the library, the comparison", () => {
  const headings = Array.from(readme.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
  expect(headings).toEqual([
    "The two sockets",
    "Try it",
    "Swap the image in a DaemonSet",
    "On a development node",
    "As a library",
    "Compared with the official registrar",
    "Everything else",
  ]);
});

test("shows the demo's own picture, light and dark", () => {
  const [, path = ""] = /!\[[^\]]+\]\((docs\/[\w-]+\.svg)\)/.exec(readme) ?? [];
  const picture = readText(path);
  for (const call of ["GetPluginInfo", "GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"])
    expect(picture).toContain(`>${call}<`);
  expect(picture).toContain("prefers-color-scheme: dark");
});

test.each([...new Set(local)])("the link to %s leads somewhere", (path) => {
  expect(readdirSync(join(ROOT, path, ".."))).toContain(path.split("/").at(-1));
});

test.each(Array.from(readme.matchAll(/npm run ([\w:]+)|npm (test)/g), ([, script, test]) => script ?? test))(
  "npm run %s is there",
  (script) => {
    const { scripts } = JSON.parse(readText("package.json"));
    expect(scripts).toHaveProperty([script as string]);
  },
);

test("every command to copy is said to be one", () => {
  expect(fencesIn(readme, "")).toEqual([]);
});
