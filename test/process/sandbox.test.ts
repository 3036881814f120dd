import { mkdirSync } from "node:fs";
import { allTests } from "../support/each-test";
import { describeSandbox } from "../support/sandbox/describe-sandbox";
import { createImageRoot } from "../support/sandbox/image-root";
import { describeWithNamespaces, makeMountPoints } from "../support/sandbox/sandbox";

describeWithNamespaces("as examples/daemonset.yaml confines it, in a root of Node and the CLI", () => {
  const root = allTests(createImageRoot);
  beforeAll(() => {
    makeMountPoints(root.path);
    // Where programs like to write.
    for (const folder of ["tmp", "root", "dev/shm"]) mkdirSync(root.at(folder));
  });

  describeSandbox(() => root.path);
});
