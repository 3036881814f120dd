import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "../docs/markdown";
import { describeSandbox, ENTRY, NODE } from "../support/sandbox/describe-sandbox";
import { copyProgram } from "../support/sandbox/program-files";
import { makeMountPoints, whyNoSandbox } from "../support/sandbox/sandbox";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

const dist = join(__dirname, "..", "..", "dist");
const refusal = whyNoSandbox();

if (refusal === undefined)
  describe("as examples/daemonset.yaml confines it, in a root of Node and the CLI", () => {
    let root: TempFolder;
    beforeAll(async () => {
      root = await createTempFolder();
      copyProgram(process.execPath, root.path, NODE);
      // Laid out as in the image, with the image's first line.
      for (const name of ["cli.js", "cli"])
        cpSync(join(dist, name), root.at("registrar", name), { recursive: true });
      const main = root.at("registrar", "cli.js");
      const [, flags] = /\|#!\$\{NODE_BINARY\}([^|]*)\|/.exec(readText("Dockerfile")) ?? [];
      await writeFile(main, (await readFile(main, "utf8")).replace(/^#!.*/, `#!${NODE}${flags}`));
      symlinkSync("registrar/cli.js", root.at(ENTRY));
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
