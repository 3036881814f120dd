/** The images that the Dockerfile builds on, by the name of their argument; without a `digest` each pull may bring another. */
export function basesOf(dockerfile) {
  const found = dockerfile.matchAll(
    /^ARG (BUILD_IMAGE|RUNTIME_IMAGE)=([^\s@]+)(?:@(sha256:[0-9a-f]{64}))?$/gm,
  );
  return Object.fromEntries(Array.from(found, ([, name, image, digest]) => [name, { image, digest }]));
}

/** The images that a workflow runs: of jobs, services and actions. */
export function imagesOf(workflow) {
  const found = workflow.matchAll(
    /^[ -]*(?:(?:image|container): *|uses: *docker:\/\/)([^\s@#]+)(?:@(sha256:[0-9a-f]{64}))?/gm,
  );
  return Array.from(found, ([, image, digest]) => ({ image, digest }));
}
