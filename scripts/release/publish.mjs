// node scripts/release/publish.mjs FOLDER TAG REPOSITORY... [-- FLAG...]: signs what build.mjs pushed, attests what is in it and how
// it was built, and only then tags it: TAG has layers compressed with zstd, TAG-gzip with gzip. The flags are cosign's.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readWords, run } from "./command.mjs";
import { provenance } from "./provenance.mjs";

const { words, flags } = readWords();
const [folder, tag, ...repositories] = words;
if (tag === undefined || repositories.length === 0) throw new Error("name a folder, a tag and a repository");
const digests = JSON.parse(readFileSync(join(folder, "digests.json"), "utf8"));

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
const tags = { zstd: tag, gzip: `${tag}-gzip` };
for (const repository of repositories)
  for (const [compression, digest] of Object.entries(digests)) {
    const [from, to] = [`${repository}@${digest}`, `${repository}:${tags[compression]}`];
    run("skopeo", "copy", "--quiet", "--all", "--preserve-digests", `docker://${from}`, `docker://${to}`);
  }
