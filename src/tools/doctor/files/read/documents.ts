import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { attempt } from "../../../../base/errors";
import { readBody } from "../../../../kube-api/request";
import { readYaml, secondKeyIn } from "../../../../kube-api/yaml";
import { boundText } from "../../../../logging/escape";
import { printError } from "../../../../runtime/print";
import {
  beyond,
  type Gap,
  refuseFlaw,
  type SeenList,
  startReading,
  type Unread,
  whyOf,
} from "../../findings/seen";
import { firstOf } from "../../findings/words";

export interface ReadObject {
  readonly file: string;
  readonly object: unknown;
  /** The line of the first key that one of its maps has twice. */
  readonly secondKey?: number | undefined | Unread;
}

export interface FilesRead {
  readonly files: readonly string[];
  readonly objects: SeenList<ReadObject>;
  readonly gaps: readonly Gap[];
}

const MEBIBYTE = 2 ** 20;
/** A rendered chart with its CRDs has 1 to 5 MiB. */
const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** A cluster's objects in one stream are fewer. */
const MAX_DOCUMENTS = 100_000;

/** The parser takes 40 bytes for a byte. No object of an API server has 2 MiB; a list may have more. */
const MAX_YAML_LENGTH = 4 * MEBIBYTE;

/** Reads the objects in files, directories and, for `-`, on stdin: YAML or JSON. Goes on after what it cannot read. */
export async function readFiles(names: readonly string[]): Promise<FilesRead> {
  const reading = startReading<"files">();
  const objects: ReadObject[] = [];
  const gaps: Gap<"files">[] = [];
  const templates = new Set<string>();
  const known = new Set<string>();
  const read = async <Value>(place: string, act: () => Value | Promise<Value>, file = place) => {
    try {
      return await act();
    } catch (error) {
      const why = whyOf(error);
      const isTemplate = why.kind === "flaw" && why.flaw === "template";
      // Of a template's documents one is named.
      if (!isTemplate || !templates.has(file))
        gaps.push({ part: "files", subject: isTemplate ? file : place, why });
      if (isTemplate) templates.add(file);
      return undefined;
    }
  };
  for (const name of names)
    for (const path of (await read(name, () => filesIn(name))) ?? []) {
      // A file that is named twice, or with its directory, is one.
      const whole = path === "-" ? path : resolve(path);
      if (known.has(whole)) continue;
      known.add(whole);
      const file = path === "-" ? "stdin" : path;
      const stream = async () => documentsIn(await contentOf(path, path !== name));
      const documents = await read(file, stream);
      let isEmpty = documents !== undefined && path === name;
      for (const [index, document] of documents?.entries() ?? []) {
        const place = documents?.length === 1 ? file : `${file}, document ${index + 1}`;
        const object = await read(place, () => readDocument(document), file);
        if (object !== null) isEmpty = false;
        if (object === undefined || object === null) continue;
        const secondKey = MAYBE_REGISTRAR.test(document.text)
          ? secondKeyIn(document.text, document.line)
          : UNLOOKED;
        objects.push({ file, object, secondKey });
      }
      // The program that writes it has failed; an empty file in a directory is nothing to kubectl.
      if (isEmpty) await read(file, () => refuseFlaw("empty"));
    }
  return { files: names, objects: reading.list(objects, gaps), gaps: reading.gaps() };
}

/** A directory stands for the YAML and JSON files in it, as it does for kubectl. */
async function filesIn(name: string): Promise<readonly string[]> {
  if (name === "-" || !(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { withFileTypes: true });
  const below = entries.flatMap((one) => (one.isDirectory() ? join(name, one.name) : []));
  const files = entries.flatMap((one) => (/\.(?:ya?ml|json)$/.test(one.name) ? join(name, one.name) : []));
  if (files.length === 0) refuseFlaw("no-files");
  if (below.length > 0) printError(`registrar doctor: not read, name them too: ${firstOf(below)}`);
  return files;
}

/** What the command line names is read even if it is a pipe; nothing may ever write to a pipe in a directory. */
async function contentOf(path: string, isInDirectory: boolean): Promise<string> {
  if (isInDirectory && !(await stat(path)).isFile()) refuseFlaw("pipe");
  if (path === "-" && process.stdin.isTTY) printError("registrar doctor: reads stdin, until Ctrl-D");
  const bytes = await readBody(path === "-" ? process.stdin : createReadStream(path), MAX_FILE_BYTES);
  if (bytes === undefined) return refuseFlaw("large", `${MAX_FILE_BYTES / MEBIBYTE} MiB`);
  const text = attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  if (text === undefined || text.includes("\0")) return refuseFlaw("encoding");
  return text;
}

/** Only such a document is parsed again, to look for keys that are there twice. */
const MAYBE_REGISTRAR = /registrar|registration/;
const UNLOOKED: Unread = { kind: "unread", gap: beyond("files") };

interface FileDocument {
  readonly text: string;
  /** The number of its first line. */
  readonly line: number;
}

/** The documents that are not empty. Each line that begins with `---` begins one; JSON objects may follow each other. */
export function documentsIn(text: string): readonly FileDocument[] {
  const objects = text.split(/^(?=\{)/m);
  const isStream =
    objects.length > 1 && objects.every((part) => attempt(() => JSON.parse(part)) !== undefined);
  const parts = isStream ? objects : text.split(/(?<![^\n])(?=---)/, MAX_DOCUMENTS + 1);
  if (parts.length > MAX_DOCUMENTS) refuseFlaw("large", `${MAX_DOCUMENTS.toLocaleString("en")} documents`);
  let line = 1;
  return parts
    .map((part) => {
      const document = { text: part, line };
      line += linesIn(part);
      return document;
    })
    .filter((document) => /^(?!---[^\S\n]*(?:#|$))[^\S\n]*[^#\s]/m.test(document.text));
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Throws INVALID_OPTION for what kubectl refuses, and names the first `{{ }}` in it. A document of `null` is nothing to kubectl. */
export function readDocument({ text, line }: FileDocument): unknown {
  const json: unknown = /^\s*\{/.test(text) ? attempt(() => JSON.parse(text)) : undefined;
  if (json !== undefined) return json;
  const template = /^[^#\n]*?(\{\{[^\n]*?(?:\}\}|$))/m.exec(text);
  try {
    if (text.length > MAX_YAML_LENGTH) refuseFlaw("document-size", `${MAX_YAML_LENGTH / MEBIBYTE} MiB`);
    if (/^---[^\S\n]*[^\s#]/.test(text)) refuseFlaw("dashes", `${line}`);
    if (/^(?:[^\S\n]*(?:#[^\n]*)?\n)*%/.test(text)) refuseFlaw("directive");
    const object = readYaml(text, line);
    if (Array.isArray(object) || (typeof object !== "object" && object !== undefined))
      refuseFlaw("no-object", Array.isArray(object) ? "a list" : "a word");
    return object ?? null;
  } catch (error) {
    if (template === null) throw error;
    const [whole, braces = ""] = template;
    const before = text.slice(0, template.index + whole.length - braces.length);
    return refuseFlaw("template", `${boundText(braces, 120)}, line ${line + linesIn(before)}`);
  }
}
