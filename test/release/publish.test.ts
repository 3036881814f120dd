import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fencesIn, ROOT, readText, sectionOf } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each<[string, object, string | RegExp]>([
  [
    "each image once",
    { zstd: DIGEST, gzip: DIGEST },
    `${"a".repeat(64)}  team/registrar:v1\n${"a".repeat(64)}  team/registrar:v1-gzip\n`,
  ],
  ["no digest that has another subject behind it", { zstd: DIGEST, gzip: `${DIGEST}\nb  other` }, /for gzip/],
  ["no image without a digest", { gzip: DIGEST }, /for zstd/],
])("provenance names %s", async (_what, digests, expected) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("digests.json"), JSON.stringify(digests));
  const words = [join(ROOT, "scripts/release/publish.mjs"), "subjects", folder.path, "v1", "team/registrar"];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (typeof expected === "string") return expect(stdout).toBe(expected);
  expect(stdout).toBe("");
  expect(stderr).toMatch(expected);
});

test("each command of RELEASING.md that verifies a release fails if the signature is another's", async () => {
  await using folder = await createTempFolder();
  const [commands = ""] = fencesIn(sectionOf(readText("RELEASING.md"), "Verify a release"), "sh");
  const [identity, issuer, ...verifying] = commands
    .replaceAll("\\\n", " ")
    .trim()
    .split(/(?<!&&)\n/);
  const payload = Buffer.from(JSON.stringify({ predicate: { components: [] } })).toString("base64");
  const ends = ["0", "1"].map((code) => {
    for (const name of ["cosign", "gh"])
      writeFileSync(folder.at(name), `#!/bin/sh\necho '{"payload":"${payload}"}'\nexit ${code}\n`, {
        mode: 0o755,
      });
    writeFileSync(folder.at("jq"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    return verifying.map(
      (command) =>
        spawnSync("sh", ["-c", `${identity}\n${issuer}\n${command}`], { env, cwd: folder.path }).status,
    );
  });
  expect(ends).toEqual([
    [0, 0, 0],
    [1, 1, 1],
  ]);
});
