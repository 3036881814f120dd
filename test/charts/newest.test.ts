import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { spawnProcess } from "../support/child-process";
import { createTempFolder } from "../support/temp-folder";

const ROW = { date: "2026-05-01", image: "image" };
const raw = (version: string) => `apiVersion: v2\nversion: "${version}" # of the chart\n`;
const commit = (date: string) => [
  { sha: "0123456789", commit: { committer: { date: `${date}T10:00:00Z` } } },
];
const folders = (...names: readonly string[]) => names.map((name) => ({ name }));

/** What a row has, what the API answers below /repos/, and what is said of it. */
const ROWS: readonly (readonly [version: string, source: string, answers: object, said: string])[] = [
  ["1.2.0", "a/same charts/x", { "a/same/contents/charts/x/Chart.yaml": raw("1.2.0") }, ""],
  ["1.2.0", "a/newer charts/x", { "a/newer/contents/charts/x/Chart.yaml": raw("1.10.0") }, "1.10.0 is there"],
  [
    "1.9.0",
    "a/folders charts/v1.9.0/x",
    { "a/folders/contents/charts": folders("latest", "v1.10.0", "v1.9.0", "v1.11.0-rc1") },
    "1.10.0 is there",
  ],
  ["commit abc", "a/old deploy", { "a/old/commits?path=deploy&per_page=1": commit("2026-05-01") }, ""],
  [
    "commit abc",
    "a/changed deploy",
    { "a/changed/commits?path=deploy&per_page=1": commit("2026-06-01") },
    "deploy changed on 2026-06-01, in 0123456",
  ],
  ["commit abc", "a/gone deploy", { "a/gone/commits?path=deploy&per_page=1": [] }, "deploy is gone"],
  ["1.0.0", "a/kept x", { "a/kept": { archived: true } }, "its project is archived: remove the row"],
  ["1.0.0", "a/moved x", { "a/moved": { full_name: "b/moved" } }, "its project is b/moved now"],
  ["1.0.0", "a/refused x", {}, "not compared: 404 for http"],
];

async function compare(rows: typeof ROWS) {
  const answers: Readonly<Record<string, unknown>> = Object.assign({}, ...rows.map(([, , one]) => one));
  await using folder = await createTempFolder();
  const named = rows.map(([version, source]) => ({ ...ROW, chart: source.split(" ")[0], version, source }));
  writeFileSync(folder.at("charts.json"), JSON.stringify(named));
  const tokens = new Set<string | undefined>();
  const server = createServer(({ url = "", headers }, response) => {
    tokens.add(headers.authorization);
    const path = url.replace("/repos/", "");
    const answer = answers[path] ?? (/^\w+\/\w+$/.test(path) ? { full_name: path } : undefined);
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { readonly port: number };
  const env = { GITHUB_API_URL: `http://127.0.0.1:${port}`, GITHUB_TOKEN: "secret" };
  const words = ["scripts/charts.mjs", "--newest", folder.at("charts.json")];
  const child = spawnProcess(process.execPath, words, { env });
  const { code } = await child.exited;
  server.close();
  return { code, lines: child.stdout.all(), tokens: [...tokens] };
}

test("npm run charts -- --newest says which rows are not of the newest chart", async () => {
  const { code, lines, tokens } = await compare(ROWS);
  for (const [version, source, , said] of ROWS) {
    const line = lines.find((one) => one.startsWith(`${source.split(" ")[0]} ${version} of 2026-05-01: `));
    if (said === "") expect(line).toBeUndefined();
    else expect(line).toContain(`: ${said}`);
  }
  expect(lines.at(-1)).toBe("9 rows: 6 to verify again, 1 not compared");
  expect([code, tokens]).toEqual([3, ["Bearer secret"]]);
});

test("the exit code is 1 where a row is old, and 0 where none is", async () => {
  expect((await compare(ROWS.slice(0, 2))).code).toBe(1);
  expect((await compare(ROWS.slice(0, 1))).code).toBe(0);
});
