import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "../support/temp-folder";

const ROOT = join(__dirname, "../..");

test("the code generated from proto/ is current; if not, run npm run contracts", async () => {
  await using folder = await createTempFolder();
  const write = `import("./scripts/contracts.mjs").then(({ writeContracts }) => writeContracts(process.argv[1]))`;
  execFileSync(process.execPath, ["-e", write, folder.path], { cwd: ROOT });
  const current = readFileSync(join(ROOT, "src/grpc/protos.ts"), "utf8");
  expect(current).toBe(readFileSync(folder.at("protos.ts"), "utf8"));
});
