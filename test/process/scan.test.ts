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

/** Plays the steps behind the first build, with an osv-scanner that prints and ends as told; undefined where no issue is opened. */
async function scan(scanner: string, { base = "node:26", buildah = "exit 0" } = {}) {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("Dockerfile"), `ARG BUILD_IMAGE=${base}\n`);
  const gh = 'test "$2" = list && echo 0 || cp issue.txt opened.txt';
  mkdirSync(folder.at("bin"));
  for (const [program, script] of Object.entries({ buildah, gh, "bin/osv-scanner": scanner }))
    writeFileSync(folder.at(program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const output = folder.at("output");
  writeFileSync(output, "");
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}`, GITHUB_OUTPUT: output };
  const play = (name: RegExp) => {
    const run = steps.find((step) => name.test(step.name ?? step.run ?? ""))?.run ?? "exit 99";
    return spawnSync("bash", ["-ec", run], { cwd: folder.path, env }).status;
  };
  const failed = play(/^scan/) !== 0;
  if (readFileSync(output, "utf8") !== "") {
    play(/^rebuild/);
    play(/^the text of an issue/);
    play(/gh issue create/);
  }
  const opened = folder.at("opened.txt");
  return { failed, issue: existsSync(opened) ? readFileSync(opened, "utf8") : undefined };
}

test.each([
  ["no digests", "node:26", "exit 0", /CVE-1\n.*\n.* no digests: these are the bases as they are today\.\n$/],
  ["digests, and can be rebuilt", "node:26@sha256:1", "exit 0", /CVE-1\n.*\nCVE-1\n$/],
  [
    "digests, and cannot be rebuilt",
    "node:26@sha256:1",
    "exit 1",
    /CVE-1\n.*\n.* could not be rebuilt or scanned\.\n$/,
  ],
])("scan.yml opens an issue where the bases have %s", async (_what, base, buildah, issue) =>
  expect(await scan("echo CVE-1; exit 1", { base, buildah })).toEqual({
    failed: false,
    issue: expect.stringMatching(issue),
  }),
);

test("a rebuilt image that cannot be scanned is not called free of vulnerabilities", async () => {
  const scanner = 'case "$*" in *rebuilt*) exit 127;; *) echo CVE-1; exit 1;; esac';
  const { issue } = await scan(scanner, { base: "node:26@sha256:1" });
  expect(issue).toMatch(/CVE-1\n.*\n.* could not be rebuilt or scanned\.\n$/);
});

test("no vulnerability, no issue", async () =>
  expect(await scan("exit 0")).toEqual({ failed: false, issue: undefined }));

// 127: it could not ask. 128: it found no packages. 137: killed.
test.each([2, 126, 127, 128, 137])(
  "a scanner that ends with %d fails the job, and opens no issue",
  async (code) => expect(await scan(`echo CVE-1; exit ${code}`)).toEqual({ failed: true, issue: undefined }),
);
