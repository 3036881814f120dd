import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readText } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";
import { parse } from "../support/yaml";

const { image, report } = parse(readText(".github/workflows/scan.yml")).jobs;
const steps = [...image.steps, ...report.steps] as readonly {
  readonly name?: string;
  readonly run?: string;
}[];

/**
 * Plays the steps behind the first build, with an osv-scanner that prints and ends as told: what is on the run's page, and the words
 * that open an issue, undefined where none is opened.
 */
async function scan(scanner: string, { base = "node:26", buildah = "exit 0" } = {}) {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("Dockerfile"), `ARG BUILD_IMAGE=${base}\n`);
  const gh = 'test "$2" = list && echo 0 || echo "$*" > opened.txt';
  mkdirSync(folder.at("bin"));
  for (const [program, script] of Object.entries({ buildah, gh, "bin/osv-scanner": scanner }))
    writeFileSync(folder.at(program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const [output, page] = [folder.at("output"), folder.at("page")];
  for (const file of [output, page]) writeFileSync(file, "");
  const github = { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: page, GITHUB_RUN_ID: "7" };
  const env = {
    ...process.env,
    ...github,
    ...{ GITHUB_SERVER_URL: "https://git", GITHUB_REPOSITORY: "o/r", TITLE: "It has some" },
    PATH: `${folder.path}:${process.env.PATH}`,
  };
  const play = (name: RegExp) => {
    const run = steps.find((step) => name.test(step.name ?? step.run ?? ""))?.run ?? "exit 99";
    return spawnSync("bash", ["-ec", run], { cwd: folder.path, env }).status;
  };
  const failed = play(/^scan/) !== 0;
  if (readFileSync(output, "utf8") !== "") {
    play(/^rebuild/);
    play(/^what was found/);
    play(/gh issue create/);
  }
  const opened = folder.at("opened.txt");
  const issue = existsSync(opened) ? readFileSync(opened, "utf8") : undefined;
  return { failed, found: readFileSync(page, "utf8"), issue };
}

test.each([
  ["no digests", "node:26", "exit 0", /CVE-1\n.*\n.* no digests: these are the bases as they are today\.\n$/],
  ["digests, and can be rebuilt", "node:26@sha256:1", "exit 0", /CVE-1\n.*\n {4}CVE-1\n$/],
  [
    "digests, and cannot be rebuilt",
    "node:26@sha256:1",
    "exit 1",
    /CVE-1\n.*\n.* could not be rebuilt or scanned\.\n$/,
  ],
])(
  "scan.yml opens an issue that links the run where the bases have %s",
  async (_what, base, buildah, found) =>
    expect(await scan("echo CVE-1; exit 1", { base, buildah })).toEqual({
      failed: false,
      found: expect.stringMatching(found),
      issue: "issue create --title It has some --body https://git/o/r/actions/runs/7 has them.\n",
    }),
);

test("a rebuilt image that cannot be scanned is not called free of vulnerabilities", async () => {
  const scanner = 'case "$*" in *rebuilt*) exit 127;; *) echo CVE-1; exit 1;; esac';
  const { found } = await scan(scanner, { base: "node:26@sha256:1" });
  expect(found).toMatch(/CVE-1\n.*\n.* could not be rebuilt or scanned\.\n$/);
});

test("no vulnerability, no issue", async () =>
  expect(await scan("exit 0")).toEqual({ failed: false, found: "", issue: undefined }));

// 127: it could not ask. 128: it found no packages. 137: killed.
test.each([2, 126, 127, 128, 137])(
  "a scanner that ends with %d fails the job, and opens no issue",
  async (code) =>
    expect(await scan(`echo CVE-1; exit ${code}`)).toEqual({ failed: true, found: "", issue: undefined }),
);
