import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder, type TempFolder } from "../../../support/temp-folder";
import { startCommand } from "../../support/command";

const FAKE = join(__dirname, "fake-kubectl.cjs");
/** What a real API server answered: test/api-server/doctor-cluster.test.ts wrote it. */
export const RECORDED = join(__dirname, "recorded", "sick-cluster.json");

/** A folder that PATH consists of, with a kubectl that does this. */
export async function withKubectl<Seen>(
  script: string,
  use: (folder: TempFolder) => Promise<Seen>,
): Promise<Seen> {
  await using folder = await createTempFolder();
  if (script !== "") writeFileSync(folder.at("kubectl"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return await use(folder);
}

export const REPLAYING = `exec "${process.execPath}" "${FAKE}" "$@"`;

export async function doctor(folder: TempFolder, answers: string, ...words: readonly string[]) {
  const env = { PATH: folder.path, ANSWERS: answers, FORCE_COLOR: "", TMPDIR: folder.path };
  using command = startCommand(["doctor", "--cluster", ...words], env);
  const code = await command.exitCode();
  return { code, text: command.lines.join("\n"), stderr: command.stderr };
}
