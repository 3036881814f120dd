import { gzipSync } from "node:zlib";

export interface TarEntry {
  readonly path: string;
  readonly content: string;
  /** ustar's letter of it, by default that of a regular file. */
  readonly type?: string;
}

/** A tarball as `npm pack` writes it, of any entries. */
export const npmTarball = (entries: readonly TarEntry[]): Buffer => gzipSync(npmTar(entries));

export function npmTar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content, type = "0" }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100, "latin1");
    header.write("000644 ", 100);
    header.write(`${bytes.length.toString(8).padStart(10, "0")} `, 124);
    header.write("3560116604 ", 136);
    header.write(type, 156);
    header.write("ustar\x0000", 257);
    header.write("000000 \x00000000 ", 329);
    header.fill(" ", 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")} \x00`, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
