import { createReadStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "yaml";
import { attempt, invalidOption } from "../../../base/errors";
import { type ReadObject, type Unread, unreadAt } from "../../../doctor/manifest/deployment";

const MEBIBYTE = 2 ** 20;
/** A rendered chart with its CRDs has 1 to 5 MiB. */
const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** The API server takes no request of more than 3 MiB, and etcd no object of more than 1.5 MiB. */
const MAX_DOCUMENT_LENGTH = 2 * MEBIBYTE;

/** Reads the objects in files, folders and, for `-`, on stdin: YAML or JSON. Goes on after what it cannot read. */
export async function readFiles(names: readonly string[]) {
  const objects: ReadObject[] = [];
  const unread: Unread[] = [];
  const read = async <Value>(place: string, act: () => Value | Promise<Value>) => {
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
      const documents = documentsIn((await read(file, () => textOf(path))) ?? "");
      for (const [index, document] of documents.entries()) {
        const place = documents.length === 1 ? file : `${file}, document ${index + 1}`;
        const object = await read(place, () => parseObject(document));
        if (object !== undefined && object !== null) objects.push({ file, object });
      }
    }
  return { objects, unread };
}

/** A folder stands for the YAML and JSON files in it, as it does for kubectl. */
function filesIn(name: string): readonly string[] {
  if (name === "-" || !statSync(name).isDirectory()) return [name];
  return readdirSync(name)
    .filter((file) => /\.(?:ya?ml|json)$/.test(file))
    .sort()
    .map((file) => join(name, file));
}

async function textOf(path: string): Promise<string> {
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
  return Buffer.concat(chunks).toString("utf8");
}

/** A line that begins with `---` begins a document; a directive, with `%`, belongs to the next one. */
function documentsIn(text: string): readonly string[] {
  return text.split(/^(?=---(?:\s|$))/m).filter((document) => /^(?!---\s*$)[^#%\s]/m.test(document));
}

async function parseObject(text: string): Promise<unknown> {
  if (text.length > MAX_DOCUMENT_LENGTH)
    throw invalidOption(`it has more than ${MAX_DOCUMENT_LENGTH / MEBIBYTE} MiB, which no API server takes`);
  if (/^\s*\{/.test(text)) {
    const object: unknown = attempt(() => JSON.parse(text));
    if (object !== undefined) return object;
  }
  const { parseDocument, visit } = await import("yaml");
  // The parser's own check of keys, and its pictures of where a mistake is, take minutes for some megabytes.
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw invalidOption(`${error.message.split("\n", 1)[0]}, ${lineOf(text, error.pos[0])}`);
  refuseTwins(document, text, visit);
  return document.toJS();
}

function refuseTwins(document: Document, text: string, visit: typeof import("yaml").visit): void {
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        const name = String(key);
        if (keys.has(name) && name !== "<<") {
          const [start = 0] = Object(key).range ?? [];
          throw invalidOption(`the key ${name} is there twice, ${lineOf(text, start)}`);
        }
        keys.add(name);
      }
    },
  });
}

function lineOf(text: string, position: number): string {
  return `line ${text.slice(0, position).split("\n").length}`;
}
