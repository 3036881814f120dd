import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { attempt, invalidOption } from "../../base/errors";
import { plain } from "../../logging/escape";
import { foundIn, type ReadObject, type Unread, unreadAt } from "./manifest/read/objects";
import type { FilesRead } from "./manifest/report";
import { type ReadYaml, readYaml } from "./read-yaml";

const MEBIBYTE = 2 ** 20;
/** A rendered chart with its CRDs has 1 to 5 MiB. */
const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** The API server takes no request of more than 3 MiB, and etcd no object of more than 1.5 MiB. */
const MAX_DOCUMENT_LENGTH = 2 * MEBIBYTE;

/** A named pipe without a writer is silent for ever. */
const SILENT_READ_MS = 1_000;

const RENDER_IT = "render it first: helm template NAME CHART | registrar doctor -f -";

/** Reads the objects in files, directories and, for `-`, on stdin: YAML or JSON. Goes on after what it cannot read. */
export async function readFiles(names: readonly string[]): Promise<FilesRead> {
  const objects: ReadObject[] = [];
  const unread: Unread[] = [];
  const read = async <Value>(file: string, act: () => Value | Promise<Value>, place = file) => {
    try {
      return await act();
    } catch (error) {
      unread.push(unreadAt(place, error, foundIn(file)));
      return undefined;
    }
  };
  for (const name of names)
    for (const path of (await read(name, () => filesIn(name))) ?? []) {
      const file = path === "-" ? "stdin" : path;
      const documents = documentsIn((await read(file, () => textOf(path, path !== name))) ?? "");
      const templates: string[] = [];
      for (const [index, { text, line }] of documents.entries()) {
        const place = documents.length === 1 ? file : `${file}, document ${index + 1}`;
        const one = await read(file, () => parseDocument(text, line), place);
        if (one?.kind === "template") templates.push(one.where);
        else if (one !== undefined && one.object !== null) objects.push({ file, object: one.object });
      }
      const [where] = templates;
      if (where !== undefined)
        unread.push({
          place: file,
          object: foundIn(file),
          why: `it is a template: ${where}`,
          advice: RENDER_IT,
        });
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
  const tell = () =>
    process.stderr.write(
      `registrar doctor: reading the pipe ${plain(path)} until the program that writes to it closes it\n`,
    );
  using _telling = path !== "-" && (await stat(path)).isFIFO() ? setTimeout(tell, SILENT_READ_MS) : undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of path === "-" ? process.stdin : createReadStream(path)) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES)
      throw invalidOption(
        `it has more than ${MAX_FILE_BYTES / MEBIBYTE} MiB: give the file of the driver alone`,
      );
    chunks.push(Buffer.from(chunk));
  }
  const text = Buffer.concat(chunks).toString("utf8");
  // The program before the pipe has failed; an empty file in a directory is nothing to kubectl.
  if (path === "-" && text.trim() === "") throw invalidOption("empty input");
  return text;
}

/**
 * The documents, each with the number of its first line. A line that begins with `---` begins a document; a directive, with
 * `%`, belongs to the next one. kubectl reads JSON objects behind each other, too.
 */
function documentsIn(text: string) {
  let line = 1;
  const parts = text.split(/^(?=\{)/m);
  const isStream = parts.length > 1 && parts.every((part) => attempt(() => JSON.parse(part)) !== undefined);
  const all = (isStream ? parts : text.split(/^(?=---(?:\s|$))/m)).map((document) => {
    const one = { text: document, line };
    line += document.split("\n").length - 1;
    return one;
  });
  return all.filter((document) => /^(?!---\s*$)[^#%\s]/m.test(document.text));
}

async function parseDocument(text: string, line: number): Promise<ReadYaml> {
  if (text.length > MAX_DOCUMENT_LENGTH)
    throw invalidOption(`it has more than ${MAX_DOCUMENT_LENGTH / MEBIBYTE} MiB, which no API server takes`);
  const object: unknown = /^\s*\{/.test(text) ? attempt(() => JSON.parse(text)) : undefined;
  return object === undefined ? await readYaml(text, line) : { kind: "object", object };
}
