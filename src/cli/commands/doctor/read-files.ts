import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ReadObject } from "../../../doctor/read-deployments";
import { invalidOption, messageOf } from "../../../errors";

/** The objects in files, folders and, for `-`, on stdin: YAML or JSON. Throws INVALID_OPTION for what is none. */
export async function readObjects(names: readonly string[]): Promise<readonly ReadObject[]> {
  const { parseAllDocuments } = await import("yaml");
  // A synchronous read would keep signals waiting until somebody closes stdin.
  const stdin = names.includes("-") ? await text(process.stdin) : "";
  return names.flatMap(filesIn).flatMap((file) => {
    const refuse = (why: string) => invalidOption(`cannot read ${file}: ${why}`);
    let content: string;
    try {
      content = file === "-" ? stdin : readFileSync(file, "utf8");
    } catch (error) {
      throw refuse(messageOf(error));
    }
    const documents = parseAllDocuments(content);
    if (!Array.isArray(documents)) return [];
    return documents.map((document) => {
      const [error] = document.errors;
      if (error) throw refuse(error.message.split("\n", 1)[0] ?? "");
      return { file: file === "-" ? "stdin" : file, object: document.toJS() as unknown };
    });
  });
}

/** A folder stands for the YAML and JSON files in it, as it does for kubectl. */
function filesIn(name: string): readonly string[] {
  if (name === "-") return [name];
  try {
    if (!statSync(name).isDirectory()) return [name];
  } catch (error) {
    throw invalidOption(`cannot read ${name}: ${messageOf(error)}`);
  }
  return readdirSync(name)
    .filter((file) => /\.(?:ya?ml|json)$/.test(file))
    .sort()
    .map((file) => join(name, file));
}
