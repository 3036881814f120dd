import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { refuse } from "../../base/errors";
import { nearWord } from "../../base/near-word";
import { wrap } from "../../base/wrap";
import { CLUSTER_CHECKS } from "./cluster/report";
import { MANIFEST_CHECKS } from "./manifest/judge/checks";
import { NODE_CHECKS } from "./node/report";

/** Reads the code of a finding, or the name of its check; the value is the code. */
export function parseCode(text: string): string {
  const checks = [...NODE_CHECKS, ...MANIFEST_CHECKS, ...CLUSTER_CHECKS];
  const known = checks.find(({ code, name }) => code === text.toUpperCase() || name === text);
  if (known !== undefined) return known.code;
  const names = checks.map(({ name }) => name);
  const near = nearWord(text, names);
  const advice = near === undefined ? "docs/doctor-codes.md lists them" : `did you mean ${near}?`;
  return refuse(`"${text}" is not a code of a finding; ${advice}`);
}

/** The code's section of docs/doctor-codes.md, of which the build puts a copy beside the CLI's parts, for a terminal. */
export async function explain(code: string, width: number): Promise<string> {
  const page = await readFile(join(__dirname, "cli", "doctor-codes.md"), "utf8");
  const section = page.split(/^##+ /m).find((one) => one.startsWith(`${code} `)) ?? "";
  const text = section.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace("**Fix.**", "Fix:");
  const paragraphs = text
    .trim()
    .split("\n\n")
    .map((one) => wrap(one.replaceAll("\n", " "), width).join("\n"));
  return `${paragraphs.join("\n\n")}\n`;
}
