import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { readText } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";

const STEPS: { name?: string; run: string }[] = parse(readText(".github/workflows/scan.yml")).jobs.image
  .steps;

test.each([
  ["no digests", "node:26", /no digests: these are the bases as they are today\.$/],
  ["digests, and cannot be rebuilt", "node:26@sha256:1", /could not be rebuilt or scanned\.$/],
])("the issue of scan.yml is opened where the bases have %s", async (_what, base, expected) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("Dockerfile"), `ARG BUILD_IMAGE=${base}\n`);
  writeFileSync(folder.at("findings.txt"), "CVE-1\n");
  writeFileSync(folder.at("buildah"), "#!/bin/sh\nexit 1\n");
  writeFileSync(folder.at("gh"), '#!/bin/sh\ntest "$2" = list && echo 0 || cat issue.txt\n');
  for (const program of ["buildah", "gh"]) chmodSync(folder.at(program), 0o755);
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  const play = (name: string) => {
    const { run = "exit 9" } = STEPS.find((step) => step.name?.startsWith(name)) ?? {};
    return spawnSync("bash", ["-ec", run], { cwd: folder.path, env, encoding: "utf8" }).stdout;
  };
  play("rebuild");
  const issue = play("open an issue").trim();
  expect(issue).toMatch(expected);
  expect(issue).toContain("CVE-1");
});
