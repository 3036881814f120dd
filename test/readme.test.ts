import { readText } from "./docs/markdown";

const readme = readText("README.md");

test("is short: what is needed first, and where everything else is", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(9_000);
});

test("what a newcomer needs comes in the order in which they ask", () => {
  const places = [
    /^\*\*Status: 0\.1\.0, not released\.\*\*/m,
    /^What it gives/m,
    /^What it costs/m,
    /!\[[^\]]+\]\(docs\/registration\.svg\)/,
    /npm ci && npm run demo/,
    /npm ci && npm test/,
    /doctor --swap -f - </,
    /kubectl .* set image/,
    /^\*\*Roll back:\*\*/m,
    /npx --yes .*--csi-address/,
    /startRegistration\(/,
    /plugins_registry\/NAME-reg\.sock/,
  ].map((pattern) => readme.search(pattern));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test("shows the demo's own picture, light and dark", () => {
  const [, path = ""] = /!\[[^\]]+\]\((docs\/[\w-]+\.svg)\)/.exec(readme) ?? [];
  const picture = readText(path);
  for (const call of ["GetPluginInfo", "GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"])
    expect(picture).toContain(`>${call}<`);
  expect(picture).toContain("prefers-color-scheme: dark");
});
