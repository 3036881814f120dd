import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { scripts } from "../package.json";
import { ROOT, readText } from "./docs/markdown";

interface Job {
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string; readonly with?: object }[];
}

const FOLDER = ".github/workflows";
const FILES = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);
const GIVEN = ["contents read", "contents write", "id-token write", "issues write", "security-events write"];

test("every suite that package.json has runs for a change or every week", () => {
  const ran = [".ci/run", `${FOLDER}/weekly.yml`, `${FOLDER}/upkeep.yml`].map(readText).join();
  const suites = Object.keys(scripts).filter((name) => name.startsWith("test"));
  for (const suite of suites) expect(ran).toMatch(new RegExp(`(?:npm|run|suite|tested) ${suite}\\b`));
});

describe.each(FILES)("%s", (file) => {
  const { permissions, ...rest } = parse(readText(file));
  const jobs: Readonly<Record<string, Job>> = rest.jobs;
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

  test("may read the code and no more, unless a job says so, and names no host", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(readText(file).replace(/go run \S+/g, "")).not.toMatch(
      /:\/\/|\b[a-z0-9-]+\.(?:com|dev|io|net|org)\b/,
    );
    const given = Object.values(jobs).flatMap((job) => Object.entries(job.permissions ?? {}));
    for (const [what, how] of given) expect(GIVEN).toContain(`${what} ${how}`);
  });

  test("names actions by their commit, with the release for people", () => {
    const used = Array.from(readText(file).matchAll(/^ *-? uses: (?!\.\/)(.*)$/gm), ([, text = ""]) => text);
    expect(used.length).toBe(steps.filter(({ uses }) => uses).length);
    for (const text of used) expect(text).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("leaves no token to the steps after the checkout, and puts no text of others into a shell", () => {
    for (const { uses = "", run = "", with: settings } of steps) {
      if (uses.startsWith("actions/checkout@"))
        expect(settings).toMatchObject({ "persist-credentials": false });
      expect(run).not.toMatch(/\$\{\{(?! matrix\.command \}\})/);
    }
  });

  test("ends every job of its own in time", () => {
    for (const job of Object.values(jobs))
      if (!job.uses) expect(job["timeout-minutes"]).toBeLessThanOrEqual(180);
  });
});

test("Renovate reads every file that pins something, those of tests and examples, too", () => {
  const { extends: presets, ignorePresets, ignorePaths } = JSON.parse(readText(".github/renovate.json"));
  expect(presets).toContain("config:recommended");
  // Without it config:recommended leaves out test/ and examples/.
  expect(ignorePresets).toEqual([":ignoreModulesAndTests"]);
  expect(ignorePaths).toEqual(["**/node_modules/**"]);
});

test("a release asks npm before it builds, and names nothing before npm has the package", () => {
  const { jobs } = parse(readText(`${FOLDER}/release.yml`));
  const order = ["ready", "image", "release"].flatMap(
    (job) => (jobs[job] as Job).steps?.map(({ run = "" }) => run) ?? [],
  );
  const at = (words: string) => order.findIndex((run) => run.includes(words));
  const steps = [
    "package.mjs check",
    "build.mjs",
    "try.mjs",
    "publish.mjs sign",
    "package.mjs publish",
    "publish.mjs tag",
    "gh release",
  ];
  expect(steps.map(at)).toEqual(steps.map(at).toSorted((one, other) => one - other));
  expect(at("package.mjs check")).toBeGreaterThanOrEqual(0);
  expect([jobs.image.needs, jobs.release.needs]).toEqual([["ci", "weekly"], "image"]);
});
