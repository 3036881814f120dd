import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { attempt, invalidOption } from "../../../../base/errors";
import { readBody } from "../../../../kube-api/request";
import { type FilesRead, type ReadObject, type Unread, unreadAt } from "./objects";
import { createYamlReader, GIVE_JSON, type ReadYaml, type YamlReader } from "./yaml";

const MEBIBYTE = 2 ** 20;
/** A rendered chart with its CRDs has 1 to 5 MiB. */
const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** The API server takes no request of more than 3 MiB, and etcd no object of more than 1.5 MiB. */
const MAX_DOCUMENT_LENGTH = 2 * MEBIBYTE;

const RENDER_IT = "render it first: helm template NAME CHART | registrar doctor -f -";

/** Reads the objects in files, directories and, for `-`, on stdin: YAML or JSON. Goes on after what it cannot read. */
export async function readFiles(names: readonly string[]): Promise<FilesRead> {
  const objects: ReadObject[] = [];
  const unread: Unread[] = [];
  const readYaml = await createYamlReader();
  const read = async <Value>(file: string, act: () => Value | Promise<Value>, place = file) => {
    try {
      return await act();
    } catch (error) {
      unread.push(unreadAt(place, error));
      return undefined;
    }
  };
  for (const name of names)
    for (const path of (await read(name, () => filesIn(name))) ?? []) {
      const file = path === "-" ? "stdin" : path;
      const documents = documentsIn((await read(file, () => textOf(path, path !== name))) ?? "");
      let template: string | undefined;
      for (const [index, document] of documents.entries()) {
        const place = documents.length === 1 ? file : `${file}, document ${index + 1}`;
        const one = await read(file, () => parseDocument(document, readYaml), place);
        if (one?.kind === "template") template ??= one.where;
        else if (one !== undefined && one.object !== null) objects.push({ file, object: one.object });
      }
      const why = `it is a template: ${template}`;
      if (template !== undefined) unread.push({ place: file, why, advice: RENDER_IT });
    }
  return { files: names, objects, unread };
}

/** A directory stands for the YAML and JSON files in it, as it does for kubectl. */
async function filesIn(name: string): Promise<readonly string[]> {
  if (name === "-" || !(await stat(name)).isDirectory()) return [name];
  const files = (await readdir(name)).filter((file) => /\.(?:ya?ml|json)$/.test(file));
  if (files.length === 0)
    throw invalidOption("it has no .yaml, .yml or .json file, and the directories below it are not read");
  return files.sort().map((file) => join(name, file));
}

/** What the command line names is read even if it is a pipe; nothing may ever write to a pipe in a directory. */
async function textOf(path: string, isInDirectory: boolean): Promise<string> {
  if (isInDirectory && !(await stat(path)).isFile()) throw invalidOption("it is not a regular file");
  const bytes = await readBody(path === "-" ? process.stdin : createReadStream(path), MAX_FILE_BYTES);
  if (bytes === undefined)
    throw invalidOption(
      `it has more than ${MAX_FILE_BYTES / MEBIBYTE} MiB: give the file of the driver alone`,
    );
  const text = bytes.toString("utf8").replace(/^\ufeff/, "");
  // The program before the pipe has failed; an empty file in a directory is nothing to kubectl.
  if (path === "-" && text.trim() === "") throw invalidOption("empty input");
  return text;
}

interface FileDocument {
  readonly text: string;
  /** The number of its first line. */
  readonly line: number;
}

/**
 * The documents, each with the number of its first line. A line that begins with `---` begins a document; a directive, with
 * `%`, belongs to the next one. kubectl reads JSON objects behind each other, too.
 */
function documentsIn(text: string): readonly FileDocument[] {
  const parts = text.split(/^(?=\{)/m);
  const isStream = parts.length > 1 && parts.every((part) => attempt(() => JSON.parse(part)) !== undefined);
  let line = 1;
  return (isStream ? parts : text.split(/^(?=---(?:\s|$))/m))
    .map((part) => {
      const document = { text: part, line };
      line += part.split("\n").length - 1;
      return document;
    })
    .filter((document) => /^(?!---\s*$)[^#%\s]/m.test(document.text));
}

function parseDocument({ text, line }: FileDocument, readYaml: YamlReader): ReadYaml {
  const json: unknown = /^\s*\{/.test(text) ? attempt(() => JSON.parse(text)) : undefined;
  if (json !== undefined) return { kind: "object", object: json };
  if (text.length <= MAX_DOCUMENT_LENGTH) return readYaml(text, line);
  throw invalidOption(
    `it has more than ${MAX_DOCUMENT_LENGTH / MEBIBYTE} MiB in one YAML document: ${GIVE_JSON}`,
  );
}
