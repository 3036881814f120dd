import { mkdirSync } from "node:fs";
import { describeSandbox } from "../support/sandbox/describe-sandbox";
import { createImageRoot } from "../support/sandbox/image-root";
import { makeMountPoints, whyNoSandbox } from "../support/sandbox/sandbox";
import type { TempFolder } from "../support/temp-folder";

const refusal = whyNoSandbox();

if (refusal === undefined)
  describe("as examples/daemonset.yaml confines it, in a root of Node and the CLI", () => {
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
else
  test(`the sandbox is NOT shown here, this machine refuses namespaces: ${refusal}`, () => {
    // Anything else is a fault of the sandbox and not of the machine.
    expect(refusal).toMatch(/not permitted|denied|not implemented|No space left|not in PATH|are Linux's/);
  });
