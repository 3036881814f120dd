import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createConnection } from "node:net";
import * as fc from "fast-check";
import { parseRequestHead } from "../src/diagnostics/http/request-head";
import { fillPattern, matchPattern, parsePattern } from "../src/host-path/path-pattern";
import { readJsonLines } from "../src/kube-api/request";
import {
  driverOfSocket,
  fileNameOf,
  nextAlias,
  registrationSocketPath,
} from "../src/registrar/model/socket-name";
import { parseMountinfo } from "../src/unix/mounts";
import { propertyTest } from "./support/fuzz";

/** What readers of other programs' texts must hold to, for made-up input: each beside what wrote it, or what else reads it. */

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,6}[a-z0-9])?$/);
const driverName = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const segment = fc
  .string({ minLength: 1, maxLength: 8, unit: "grapheme" })
  .filter((text) => !/[/*]|^\.{1,2}$/.test(text));

propertyTest(
  "a mountinfo line is read back, whatever is in the names",
  {
    runs: 300,
    given: fc.array(
      fc.record({
        root: fc.array(segment).map((names) => `/${names.join("/")}`),
        mountPoint: fc.array(segment).map((names) => `/${names.join("/")}`),
        device: fc.tuple(fc.nat(), fc.nat()).map(([major, minor]) => `${major}:${minor}`),
        fileSystem: fc.constantFrom("ext4", "fuse.s3fs", "nfs4", "tmpfs"),
        optional: fc.subarray(["shared:1", "master:2", "unbindable"]),
      }),
    ),
  },
  (mounts) => {
    // Mangled as in the kernel (fs/proc_namespace.c, show_mountinfo).
    const mangled = (text: string) =>
      text.replace(/[ \t\n\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
    const lines = mounts.map(({ root, mountPoint, device, fileSystem, optional }) => {
      const mount = `36 35 ${device} ${mangled(root)} ${mangled(mountPoint)} rw,noatime`;
      return `${[mount, ...optional].join(" ")} - ${fileSystem} /dev/x rw\n`;
    });
    const told = mounts.map(({ optional: _, ...mount }) => mount);
    expect(parseMountinfo(lines.join(""))).toEqual(told);
  },
);

propertyTest(
  "a filled pattern matches its path, with the same words",
  {
    runs: 500,
    given: fc.array(fc.tuple(segment, segment, segment, fc.boolean()), { minLength: 1, maxLength: 5 }),
  },
  (parts) => {
    const text = parts.map(([head, , tail, isStar]) => `/${head}${isStar ? "*" : ""}${tail}`).join("");
    const pattern = parsePattern(text, "p");
    const words = parts.flatMap(([, word, , isStar]) => (isStar ? word : []));
    const path = fillPattern(pattern, words);
    expect(matchPattern(pattern, path)).toEqual(words);
    expect(matchPattern(pattern, `${path}/x`)).toBeUndefined();
    expect(matchPattern(pattern, path.slice(0, path.lastIndexOf("/")))).toBeUndefined();
  },
);

propertyTest(
  "a registration socket's name gives the driver's name back, under each alias",
  { runs: 100, given: fc.tuple(driverName, fc.nat(40)) },
  ([name, moves]) => {
    const plain = fileNameOf({ type: "CSIPlugin", pluginRegistrationPath: "/r" }, name);
    expect(driverOfSocket(registrationSocketPath("/registration", plain))).toBe(name);
    const aliases = [nextAlias(plain)];
    for (let move = 0; move < moves; move++) aliases.push(nextAlias(plain, aliases.at(-1)));
    for (const alias of aliases) expect(driverOfSocket(registrationSocketPath("/r", alias))).toBe(name);
    expect(new Set(aliases).size).toBe(Math.min(aliases.length, 36));
  },
);

propertyTest(
  "JSON lines are the same however a stream is cut",
  {
    runs: 300,
    given: fc.tuple(fc.array(fc.jsonValue()), fc.array(fc.nat(400)), fc.constantFrom("\n", "\r\n", "\n \n")),
  },
  async ([values, cuts, end]) => {
    const bytes = Buffer.from(values.map((value) => JSON.stringify(value) + end).join(""));
    const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
    async function* stream() {
      for (const [index, at] of places.entries()) yield bytes.subarray(at, places[index + 1] ?? at);
    }
    const read: unknown[] = [];
    for await (const value of readJsonLines(stream())) read.push(value);
    expect(JSON.stringify(read)).toBe(JSON.stringify(values));
  },
);

describe("the head of an HTTP request", () => {
  const seen: Pick<IncomingMessage, "method" | "url" | "headers">[] = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers });
    response.end();
  });
  beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
  let accepted = 0;
  afterAll(() => {
    server.close();
    expect(accepted).toBeGreaterThan(20);
  });

  const piece = fc.constantFrom("a", "?", "%2f", "/", "=", "&", "..", "~", "é", "#", '"', "<");
  const value = fc
    .array(fc.constantFrom("close", "keep-alive", "x", ",", " ", "\t", ":", "é", "\x01"))
    .map((all) => all.join(""));
  const field = fc.tuple(
    fc.constantFrom("Accept", "accept", "Connection", "X-Y", "Host", "Content-Length", "b ad"),
    value,
  );

  propertyTest(
    "that both we and Node accept means the same to both",
    {
      runs: 300,
      given: fc.record({
        method: fc.constantFrom("GET", "HEAD", "POST", "get", "G T"),
        target: fc.array(piece).map((all) => `/${all.join("")}`),
        minor: fc.constantFrom("0", "1", "2"),
        fields: fc.array(field, { maxLength: 4 }),
      }),
    },
    async ({ method, target, minor, fields }) => {
      const lines = fields.map(([name, text]) => `${name}: ${text}`);
      const head = [`${method} ${target} HTTP/1.${minor}`, "Host: node", ...lines].join("\r\n");
      const { port } = server.address() as AddressInfo;
      const socket = createConnection(port, "127.0.0.1").on("error", () => {});
      seen.length = 0;
      socket.end(`${head}\r\n\r\n`, "latin1");
      socket.resume();
      await once(socket, "close");
      const ours = parseRequestHead(Buffer.from(head, "latin1").toString("latin1"));
      const [theirs] = seen;
      if (ours === undefined || theirs === undefined) return;
      accepted += 1;
      expect([ours.method, ours.path]).toEqual([theirs.method, theirs.url?.split("?")[0]]);
      expect(ours.accept).toBe(theirs.headers.accept ?? "");
    },
  );
});
