import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder, type TempFolder } from "../../../support/temp-folder";
import { startCommand } from "../../support/command";

const FAKE = join(__dirname, "fake-kubectl.cjs");
/** What a real API server answered: test/api-server/doctor-cluster.test.ts wrote it. */
export const RECORDED = join(__dirname, "recorded", "sick-cluster.json");

/** What doctor says of the recorded cluster when it answers otherwise to the URLs with this part. */
export const withAnswer = (part: string, status: number, body: object, ...words: readonly string[]) =>
  withKubectl(REPLAYING, async (folder) => {
    const { date, answers } = JSON.parse(readFileSync(RECORDED, "utf8"));
    for (const url of Object.keys(answers)) if (url.includes(part)) answers[url] = { status, body };
    writeFileSync(folder.at("answers.json"), JSON.stringify({ date, answers }));
    return await doctor(folder, folder.at("answers.json"), ...words);
  });

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
