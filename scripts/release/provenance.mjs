// How an image was built, as a predicate of SLSA (https://slsa.dev/spec/v1.0/provenance): the commit, the workflow and the bases.
import { readFileSync } from "node:fs";

/** Reads GitHub's variables of a run; the signature is what proves them. */
export function provenance(env = process.env) {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_REF, GITHUB_SHA, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT } =
    env;
  const repository = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
  const bases = readFileSync("Dockerfile", "utf8").matchAll(
    /^ARG (?:BUILD|RUNTIME)_IMAGE=(\S+?)(?:@sha256:(\S+))?$/gm,
  );
  const source = { uri: `git+${repository}@${GITHUB_REF}`, digest: { gitCommit: GITHUB_SHA } };
  const predicate = {
    buildDefinition: {
      buildType: "https://slsa-framework.github.io/github-actions-buildtypes/workflow/v1",
      externalParameters: {
        workflow: { ref: GITHUB_REF, repository, path: ".github/workflows/release.yml" },
      },
      resolvedDependencies: [
        source,
        ...Array.from(bases, ([, name, sha256]) => ({
          uri: `docker://${name}`,
          ...(sha256 && { digest: { sha256 } }),
        })),
      ],
    },
    runDetails: {
      builder: { id: `${repository}/.github/workflows/release.yml@${GITHUB_REF}` },
      metadata: {
        invocationId: `${repository}/actions/runs/${GITHUB_RUN_ID}/attempts/${GITHUB_RUN_ATTEMPT}`,
      },
    },
  };
  return `${JSON.stringify(predicate, null, 2)}\n`;
}
