import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(__dirname, "../../src");

/** A call as the build stamps it with its line: scripts/log-lines.mjs. */
const STAMPED = /\blog\.(?:v\([^\n]*?\)\.)?(?:info|warn|error)\(/g;
const ANY = /\.(?:info|warn|error|v)\s*\(/g;

const callsIn = (text: string) => text.match(ANY)?.length ?? 0;
const unstampedIn = (text: string) => callsIn(text.replace(STAMPED, ""));

/** They write what was stamped where it was logged. */
const FORWARDING = ["logging/json-line.ts"];

test("every log call is one that the build stamps with its line", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("logging/logger.ts"))
    .map((file) => ({ file, text: readFileSync(join(SOURCES, file), "utf8") }));
  expect(files.some(({ text }) => callsIn(text) > 5)).toBe(true);
  const others = files.filter(({ file, text }) => unstampedIn(text) > 0 && !FORWARDING.includes(file));
  expect(others.map(({ file }) => file)).toEqual([]);
});
