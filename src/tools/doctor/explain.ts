import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { refuse } from "../../base/errors";
import { nearWord } from "../../base/near-word";
import { wrap } from "../../base/wrap";
import { textFlag } from "../../flags/kinds";
import { print } from "../../runtime/print";
import { createMode, EXIT_CODES, terminalWidth } from "./mode";

export const explainMode = createMode(
  {
    chosenBy: ["explain", "--explain"],
    describe: "Prints why a finding matters and how to fix it. It inspects nothing.",
    flags: { explain: textFlag("the finding's code, or the name of its check") },
    check: async ({ explain = "" }) => void (await knownCode(explain)),
    examples: ["doctor --explain=CSI105"],
    notes: [EXIT_CODES],
  },
  async ({ explain = "" }) => print(await sectionOf(await knownCode(explain), terminalWidth())),
);

/** The code of a finding that is given by its code or its check's name. Rejects for another text. */
async function knownCode(text: string): Promise<string> {
  const [{ NODE_CHECKS }, { MANIFEST_CHECKS }, { CLUSTER_CHECKS }] = await Promise.all([
    import("./node/report"),
    import("./manifest/judge/checks"),
    import("./cluster/report"),
  ]);
  const checks = [...NODE_CHECKS, ...MANIFEST_CHECKS, ...CLUSTER_CHECKS];
  const known = checks.find(({ code, name }) => code === text.toUpperCase() || name === text);
  if (known !== undefined) return known.code;
  const names = checks.map(({ name }) => name);
  const near = nearWord(text, names);
  const advice = near === undefined ? "docs/doctor-codes.md lists them" : `did you mean ${near}?`;
  return refuse(`--explain: no finding has the code or name "${text}"; ${advice}`);
}

/** The code's section of docs/doctor-codes.md, of which the build puts a copy beside the CLI's parts, for a terminal. */
async function sectionOf(code: string, width: number): Promise<string> {
  const page = await readFile(join(__dirname, "cli", "doctor-codes.md"), "utf8");
  const section = page.split(/^##+ /m).find((one) => one.startsWith(`${code} `)) ?? "";
  const text = section.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace("**Fix.**", "Fix:");
  const paragraphs = text
    .trim()
    .split("\n\n")
    .map((one) => wrap(one.replaceAll("\n", " "), width).join("\n"));
  return `${paragraphs.join("\n\n")}\n`;
}
