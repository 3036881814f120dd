// The package that the job `build` made, whose compilers are packages of npm. npm takes more from a tarball than files: it obeys
// `publishConfig`, which may name a proxy and turn off TLS, and users' npm obeys scripts, `npm-shrinkwrap.json` and bundled packages.
// So everything in it but `dist/` must be the checkout's, byte for byte, as scripts/pack.mjs makes it.
import { lstatSync, readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { packedManifest, packedPage } from "./packed.mjs";

/** Throws unless the package of this tarball is what the checkout in the working directory packs. */
export function checkTarball(tarball) {
  const files = filesIn(readFileSync(tarball));
  if (!files.has("package.json")) throw new Error(`${tarball} has no package.json`);
  for (const [path, bytes] of files) {
    if (path.startsWith("dist/")) continue;
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile())
      throw new Error(`${tarball} has ${path}, which is no file of the checkout`);
    if (!bytes.equals(Buffer.from(packed(path, (target) => files.has(target)))))
      throw new Error(`${tarball} has another ${path} than the checkout packs`);
  }
}

/** A file of the checkout as the package has it. */
function packed(path, isPacked) {
  const bytes = readFileSync(path);
  if (path === "package.json") return packedManifest(bytes);
  if (!path.endsWith(".md")) return bytes;
  const { homepage, version } = JSON.parse(readFileSync("package.json", "utf8"));
  return packedPage(path, bytes.toString(), { isPacked, homepage, version });
}

const BLOCK = 512;
/** A header of ustar as `npm pack` writes it: any other may mean another file to another reader. */
const HEADER = new RegExp(
  [
    String.raw`^package/(?<path>[\w@.-]+(?:/[\w@.-]+)*)\x00*(?<=^.{100})`,
    String.raw`000(?:644|755) \x00\x00{16}`, // mode; no user and group
    String.raw`(?<size>[0-7]{10}) \x00[0-7]{10} \x00[0-7]{6} \x00`, // size, time, checksum
    String.raw`0\x00{100}ustar\x0000\x00{64}000000 \x00000000 \x00\x00{167}$`, // a regular file: no target of a link, no more of a name
  ].join(""),
  "s",
);

/** The files of a tarball by their path in the package. */
export function filesIn(tarball) {
  const bytes = inflate(tarball);
  const files = new Map();
  let at = 0;
  while (at < bytes.length && bytes[at] !== 0) {
    const header = bytes.subarray(at, at + BLOCK);
    const { path, size } = header.toString("latin1").match(HEADER)?.groups ?? {};
    const isWhole = header.length === BLOCK && checksumIn(header) === checksumOf(header);
    if (path === undefined || !isWhole || /(?:^|\/)\.\.?(?:\/|$)/.test(path))
      throw new Error(
        `the tarball has another header at ${at} than npm pack writes: ${header.subarray(0, 100)}`,
      );
    const end = at + BLOCK + Number.parseInt(size, 8);
    const known = [...files.keys()].find((one) => one.toLowerCase() === path.toLowerCase());
    if (known !== undefined) throw new Error(`the tarball has ${known} and then ${path}`);
    files.set(path, bytes.subarray(at + BLOCK, end));
    at = Math.ceil(end / BLOCK) * BLOCK;
    if (at > bytes.length || bytes.subarray(end, at).some((byte) => byte !== 0))
      throw new Error(`the tarball ends in ${path}, or has something behind it`);
  }
  if (
    bytes.length % BLOCK !== 0 ||
    bytes.length < at + 2 * BLOCK ||
    bytes.subarray(at).some((byte) => byte !== 0)
  )
    throw new Error("the tarball does not end with empty blocks");
  return files;
}

/** The content of one gzip stream, with nothing behind it and no field in its header. */
function inflate(tarball) {
  const [START, END] = [10, 8];
  if (tarball.subarray(0, 4).toString("hex") !== "1f8b0800")
    throw new Error("the tarball is no gzip stream as npm pack writes it");
  const { buffer, engine } = inflateRawSync(tarball.subarray(START), { info: true });
  if (START + engine.bytesWritten + END !== tarball.length)
    throw new Error("the tarball has something behind its gzip stream");
  return buffer;
}

const CHECKSUM = [148, 156];
const checksumIn = (header) => Number.parseInt(header.subarray(...CHECKSUM).toString("latin1"), 8);
const checksumOf = (header) =>
  header.reduce((sum, byte, at) => sum + (at >= CHECKSUM[0] && at < CHECKSUM[1] ? 32 : byte), 0);
