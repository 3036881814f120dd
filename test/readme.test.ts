import { readText } from "./docs/markdown";

const readme = readText("README.md");
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
