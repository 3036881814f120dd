import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readText } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";
import { parse } from "../support/yaml";

const { image, report } = parse(readText(".github/workflows/scan.yml")).jobs;
const steps = [...image.steps, ...report.steps] as readonly {
  readonly name?: string;
  readonly run?: string;
}[];

test.each([
  ["no digests", "node:26", /CVE-1\n.*\n.* no digests: these are the bases as they are today\.\n$/],
  [
    "digests, and cannot be rebuilt",
    "node:26@sha256:1",
    /CVE-1\n.*\n.* could not be rebuilt or scanned\.\n$/,
  ],
])("scan.yml opens an issue where the bases have %s", async (_what, base, expected) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("Dockerfile"), `ARG BUILD_IMAGE=${base}\n`);
  writeFileSync(folder.at("findings.txt"), "CVE-1\n");
  const gh = 'test "$2" = list && echo 0 || cat issue.txt';
  for (const [program, script] of Object.entries({ buildah: "exit 1", gh }))
    writeFileSync(folder.at(program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  const play = (name: RegExp) => {
    const run = steps.find((step) => name.test(step.name ?? step.run ?? ""))?.run ?? "exit 1";
    return spawnSync("bash", ["-ec", run], { cwd: folder.path, env, encoding: "utf8" }).stdout;
  };
  play(/^rebuild/);
  play(/^the text of an issue/);
  expect(play(/gh issue create/)).toMatch(expected);
});
