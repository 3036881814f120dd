import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { attempt, invalidOption } from "../../../../base/errors";
import { plain } from "../../../../logging/escape";
import { type FilesRead, foundIn, type ReadObject, type Unread, unreadAt } from "./objects";
import { createYamlReader, type ReadYaml, type YamlReader } from "./yaml";

const MEBIBYTE = 2 ** 20;
/** A rendered chart with its CRDs has 1 to 5 MiB. */
const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** Longer Lists are parsed item by item, which takes less memory. */
const MAX_ITEM_LENGTH = 2 ** 16;
/** The API server takes no request of more than 3 MiB, and etcd no object of more than 1.5 MiB. Of a List each item counts. */
const MAX_DOCUMENT_LENGTH = 2 * MEBIBYTE;

/** A named pipe without a writer is silent for ever. */
const SILENT_READ_MS = 1_000;

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
      unread.push(unreadAt(place, error, foundIn(file)));
      return undefined;
    }
  };
  for (const name of names)
    for (const path of (await read(name, () => filesIn(name))) ?? []) {
      const file = path === "-" ? "stdin" : path;
      const documents = documentsIn((await read(file, () => textOf(path, path !== name))) ?? "");
      let template: string | undefined;
      for (const [index, document] of documents.entries()) {
        const place =
          documents.length === 1
            ? file
            : `${file}, ${document.listKind === undefined ? "document" : "item"} ${index + 1}`;
        const one = await read(file, () => parseDocument(document, readYaml), place);
        if (one?.kind === "template") template ??= one.where;
        else if (one !== undefined && one.object !== null) objects.push({ file, object: one.object });
      }
      const why = `it is a template: ${template}`;
      if (template !== undefined) unread.push({ place: file, object: foundIn(file), why, advice: RENDER_IT });
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
  const text = decoded(Buffer.concat(chunks));
  // The program before the pipe has failed; an empty file in a directory is nothing to kubectl.
  if (path === "-" && text.trim() === "") throw invalidOption("empty input");
  return text;
}

/** Text by its byte order mark, as editors on Windows write it; without one UTF-8. */
function decoded(bytes: Buffer): string {
  const mark = bytes.toString("latin1", 0, 2);
  const encoding = { "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be" }[mark] ?? "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

interface FileDocument {
  readonly text: string;
  /** The number of its first line. */
  readonly line: number;
  /** The List that it is an item of. */
  readonly listKind?: string;
}

/**
 * The documents, each with the number of its first line. A line that begins with `---` begins a document; a directive, with
 * `%`, belongs to the next one. kubectl reads JSON objects behind each other, too.
 */
function documentsIn(text: string): readonly FileDocument[] {
  const parts = text.split(/^(?=\{)/m);
  const isStream = parts.length > 1 && parts.every((part) => attempt(() => JSON.parse(part)) !== undefined);
  const all = documentsOf(isStream ? parts : text.split(/^(?=---(?:\s|$))/m), 1);
  return all.filter((document) => /^(?!---\s*$)[^#%\s]/m.test(document.text)).flatMap(itemsOf);
}

const ANCHORED = /(?:^|[\s[{,])[&*][\w-]/m;

/** The items of a long List as kubectl writes it, so that each is parsed by itself; any other document is its own only one. */
function itemsOf(document: FileDocument): readonly FileDocument[] {
  const { text, line } = document;
  const isLong = text.length > MAX_ITEM_LENGTH && !ANCHORED.test(text);
  const [, listKind] = (isLong && /^kind: ?"?(\w*List)"?\s*$/m.exec(text)) || [];
  const begin = /^items:[ \t]*\n/m.exec(text);
  if (listKind === undefined || begin === null) return [document];
  const from = begin.index + begin[0].length;
  const behind = text.slice(from).search(/^[^\s#-]/m);
  const body = text.slice(from, behind < 0 ? undefined : from + behind);
  const [, indent = ""] = /^( *)- /.exec(body) ?? [];
  const before = line + text.slice(0, from).split("\n").length - 1;
  return documentsOf(body.split(new RegExp(`^(?=${indent}- )`, "m")), before).map((item) => ({
    ...item,
    text: item.text.replace("-", " "),
    listKind,
  }));
}

/** Texts behind each other, each with the number of its first line. */
function documentsOf(parts: readonly string[], first: number): readonly FileDocument[] {
  let line = first;
  return parts.map((text) => {
    const one = { text, line };
    line += text.split("\n").length - 1;
    return one;
  });
}

function parseDocument({ text, line, listKind }: FileDocument, readYaml: YamlReader): ReadYaml {
  const json: unknown = /^\s*\{/.test(text) ? attempt(() => JSON.parse(text)) : undefined;
  if (json !== undefined) return { kind: "object", object: json };
  if (text.length > MAX_DOCUMENT_LENGTH)
    throw invalidOption(
      `it has more than ${MAX_DOCUMENT_LENGTH / MEBIBYTE} MiB in one object, which no API server takes`,
    );
  const read = readYaml(text, line);
  return listKind === undefined || read.kind !== "object"
    ? read
    : { kind: "object", object: { kind: listKind, items: [read.object] } };
}
