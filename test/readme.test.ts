import { readText } from "./docs/markdown";

const readme = readText("README.md");

test("is short: what is needed first, and where everything else is", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(9_000);
});

test("shows the demo's own picture, light and dark", () => {
  const [, path = ""] = /!\[[^\]]+\]\((docs\/[\w-]+\.svg)\)/.exec(readme) ?? [];
  const picture = readText(path);
  for (const call of ["GetPluginInfo", "GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"])
    expect(picture).toContain(`>${call}<`);
  expect(picture).toContain("prefers-color-scheme: dark");
});
