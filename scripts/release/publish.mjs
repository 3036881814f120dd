// What publishes the image that build.mjs made in FOLDER. The flags behind `--` are cosign's. Runs skopeo and cosign, and no package.
//   node scripts/release/publish.mjs push FOLDER REPOSITORY...: by digest, without a tag
//   node scripts/release/publish.mjs sign FOLDER REPOSITORY... [-- FLAG...]: and attests what is in it
//   node scripts/release/publish.mjs subjects FOLDER TAG REPOSITORY...: prints digest and name of each, as sha256sum does
//   node scripts/release/publish.mjs tag FOLDER TAG REPOSITORY...: TAG has layers compressed with zstd, TAG-gzip with gzip
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readWords, run } from "./command.mjs";

const { words, flags } = readWords();
const [verb, folder, ...others] = words;
const digests = JSON.parse(readFileSync(join(folder, "digests.json"), "utf8"));
const COPY = ["copy", "--quiet", "--all", "--preserve-digests"];
const VERBS = { push, sign, subjects, tag };
if (!Object.hasOwn(VERBS, verb))
  throw new Error(`there is no ${verb}: write ${Object.keys(VERBS).join(", ")}`);
VERBS[verb](...others);

/** Each image by its place in the registry, and what it is tagged with. */
function imagesIn(repositories, name = "") {
  if (repositories.length === 0) throw new Error("name a repository");
  const tags = Object.entries({ zstd: name, gzip: `${name}-gzip` });
  const wrong = tags.find(([compression]) => !/^sha256:[0-9a-f]{64}$/.test(digests[compression]));
  if (wrong) throw new Error(`digests.json has ${JSON.stringify(digests[wrong[0]])} for ${wrong[0]}`);
  return repositories.flatMap((repository) =>
    tags.map(([compression, tag]) => ({
      ...{ compression, digest: digests[compression] },
      ...{ reference: `${repository}@${digests[compression]}`, tagged: `${repository}:${tag}` },
    })),
  );
}

function push(...repositories) {
  for (const { compression, reference } of imagesIn(repositories))
    run("skopeo", ...COPY, `oci:${join(folder, compression)}`, `docker://${reference}`);
}

function sign(...repositories) {
  for (const { reference } of imagesIn(repositories)) {
    run("cosign", "sign", "--yes", "--recursive", ...flags, reference);
    const contents = ["--type=cyclonedx", `--predicate=${join(folder, "sbom.cdx.json")}`];
    run("cosign", "attest", "--yes", ...contents, ...flags, reference);
  }
}

function subjects(name, ...repositories) {
  for (const { digest, tagged } of imagesIn(repositories, name))
    process.stdout.write(`${digest.replace("sha256:", "")}  ${tagged}\n`);
}

function tag(name, ...repositories) {
  for (const { reference, tagged } of imagesIn(repositories, name))
    run("skopeo", ...COPY, `docker://${reference}`, `docker://${tagged}`);
}
