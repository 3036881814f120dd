// node scripts/release/publish.mjs sign FOLDER REPOSITORY... [-- FLAG...]: signs what build.mjs pushed, and attests what is in it and
// how it was built. The flags are cosign's.
// node scripts/release/publish.mjs tag FOLDER TAG REPOSITORY...: TAG has layers compressed with zstd, TAG-gzip with gzip.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readWords, run } from "./command.mjs";
import { provenance } from "./provenance.mjs";

const { words, flags } = readWords();
const [verb, folder, ...others] = words;
const digests = JSON.parse(readFileSync(join(folder, "digests.json"), "utf8"));
if (verb === "sign") sign(others);
else if (verb === "tag") tag(...others);
else throw new Error(`there is no ${verb}: write sign or tag`);

function sign(repositories) {
  if (repositories.length === 0) throw new Error("name a repository");
  const temporary = mkdtempSync(join(tmpdir(), "publish-"));
  try {
    const predicates = {
      cyclonedx: join(folder, "sbom.cdx.json"),
      slsaprovenance1: join(temporary, "provenance.json"),
    };
    writeFileSync(predicates.slsaprovenance1, provenance());
    for (const repository of repositories)
      for (const digest of Object.values(digests)) {
        const image = `${repository}@${digest}`;
        run("cosign", "sign", "--yes", "--recursive", ...flags, image);
        for (const [type, predicate] of Object.entries(predicates))
          run("cosign", "attest", "--yes", `--type=${type}`, `--predicate=${predicate}`, ...flags, image);
      }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function tag(name, ...repositories) {
  if (repositories.length === 0) throw new Error("name a tag and a repository");
  const tags = { zstd: name, gzip: `${name}-gzip` };
  for (const repository of repositories)
    for (const [compression, digest] of Object.entries(digests)) {
      const [from, to] = [`${repository}@${digest}`, `${repository}:${tags[compression]}`];
      run("skopeo", "copy", "--quiet", "--all", "--preserve-digests", `docker://${from}`, `docker://${to}`);
    }
}
