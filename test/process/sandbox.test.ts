import { mkdirSync } from "node:fs";
import { describeSandbox } from "../support/sandbox/describe-sandbox";
import { describeWithNamespaces } from "../support/sandbox/describe-with-namespaces";
import { createImageRoot } from "../support/sandbox/image-root";
import { makeMountPoints } from "../support/sandbox/sandbox";
import type { TempFolder } from "../support/temp-folder";

describeWithNamespaces("as examples/daemonset.yaml confines it, in a root of Node and the CLI", () => {
  let root: TempFolder;
  beforeAll(async () => {
    root = await createImageRoot();
    makeMountPoints(root.path);
    // Where programs like to write.
    for (const folder of ["tmp", "root", "dev/shm"]) mkdirSync(root.at(folder));
  });
  afterAll(() => root[Symbol.asyncDispose]());

  describeSandbox(() => root.path);
});
